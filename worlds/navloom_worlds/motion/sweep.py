"""What a body meets that moves: the first contact, exact, straight and round.

Lines are rows (x0, z0, x1, z1). A motion is asked about with the room that each line is given (how
far the shape is blown up towards it), which is never more than what lies between them at the start;
so every motion starts apart from all lines, and what comes first is the first crossing.

A shape's own axes are u (ahead) and w (to its right), unit vectors on the ground plane.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from navloom.scenes.bodies import Shape
from navloom_worlds.motion import first_contact
from navloom_worlds.motion.first_contact import (
    FREE,
    INSIDE,
    MET,
    OVERLAP,
    SKIN,
    TOUCHED,
    first_among,
    swept,
)
from navloom_worlds.motion.obstacles import Lines

__all__ = ["FREE", "INSIDE", "MET", "OVERLAP", "SKIN", "TOUCHED", "gaps", "meet", "touch"]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
At = tuple[float, float, float, float]
"""Where a body's middle is, x and z, and its direction ahead, x and z."""
_TINY = 1e-12
_TIED = 1e-6
"""Metres: two directions in which a thing is no farther apart are as good."""


def gaps(shape: Shape, lines: Floats, x: float, z: float, ux: float, uz: float) -> Floats:
    """How far a shape can be blown up before it touches each line; below 0 where it overlaps it.

    Args:
        shape: the footprint.
        lines: (n, 4).
        x: of its middle; z likewise.
        z: see x.
        ux: its direction ahead.
        uz: see ux.

    Returns:
        (n,) metres: of a disc the distance; of a rectangle how far its sides can be moved out.
    """
    if shape.round:
        ax, az = lines[:, 0] - x, lines[:, 1] - z
        ex, ez = lines[:, 2] - lines[:, 0], lines[:, 3] - lines[:, 1]
        t = -(ax * ex + az * ez) / np.maximum(ex * ex + ez * ez, _TINY)
        t = np.minimum(np.maximum(t, 0.0), 1.0)
        near: Floats = np.hypot(ax + t * ex, az + t * ez) - shape.ahead
        return near
    au, aw, bu, bw = _own(lines, x, z, ux, uz)
    ahead = np.maximum(np.minimum(au, bu), -np.maximum(au, bu)) - shape.ahead
    aside = np.maximum(np.minimum(aw, bw), -np.maximum(aw, bw)) - shape.aside
    nu, nw, off = _normals(au, aw, bu, bw)
    across = np.abs(off) - shape.ahead * np.abs(nu) - shape.aside * np.abs(nw)
    across = across / (np.abs(nu) + np.abs(nw))
    best: Floats = np.maximum(np.maximum(ahead, aside), across)
    return best


def _own(
    lines: Floats, x: float, z: float, ux: float, uz: float
) -> tuple[Floats, Floats, Floats, Floats]:
    """Both ends of lines along a shape's own axes."""
    ax, az = lines[:, 0] - x, lines[:, 1] - z
    bx, bz = lines[:, 2] - x, lines[:, 3] - z
    return ax * ux + az * uz, az * ux - ax * uz, bx * ux + bz * uz, bz * ux - bx * uz


def _normals(au: Floats, aw: Floats, bu: Floats, bw: Floats) -> tuple[Floats, Floats, Floats]:
    """Unit normals of lines, and how far along them they lie."""
    nu, nw = aw - bw, bu - au
    long = np.sqrt(nu * nu + nw * nw)
    short = long < _TINY
    long = np.where(short, 1.0, long)
    nu, nw = np.where(short, 1.0, nu / long), np.where(short, 0.0, nw / long)
    return nu, nw, au * nu + aw * nw


@lru_cache(maxsize=1)
def compiled_sweep() -> Callable[..., Any] | None:
    """The first contact, compiled once and kept on disk by numba; None without numba."""
    if find_spec("numba") is None:
        return None
    from numba import njit

    # Copies that know one another as compiled; those of the module itself stay as they are.
    known = dict(vars(first_contact))
    for name, each in vars(first_contact).items():
        if isinstance(each, FunctionType):
            known[name] = njit(cache=True)(FunctionType(each.__code__, known, name))
    compiled: Callable[..., Any] = known["first_contact"]
    return compiled


Meeting = tuple[float, int, int]
"""The share of a motion that is gone, what ends it (-1: nothing), and how: ``FREE`` and so on."""


def meet(
    shape: Shape, lines: Lines, at: At, way: tuple[float, float], angle: float | None
) -> Meeting:
    """How far a body gets that keeps a skin from everything.

    Args:
        shape: the footprint.
        lines: what stands in the way.
        at: x and z of its middle, and its direction ahead.
        way: how far it goes; or the point about which it turns.
        angle: how far it turns, in radians; None where it goes straight.
    """
    motion = (
        *(float(shape.round), shape.ahead, shape.aside, *at, *way),
        *(0.0 if angle is None else angle, 0.0 if angle is None else 1.0),
    )
    found: Meeting
    if (compiled := compiled_sweep()) is not None:
        found = compiled(lines.ends, np.array(motion))
        return found
    low, high = lines.low, lines.high
    x0, z0, x1, z1, _ = reached = swept(motion)
    held = np.flatnonzero((high[0] >= x0) & (high[1] >= z0) & (low[0] <= x1) & (low[1] <= z1))
    if len(held):
        held = held[_within(shape, lines.ends[held], at, way, angle)]
    if not len(held):
        return 1.0, -1, FREE
    share, k, how = first_among(lines.ends[held].tolist(), motion, reached)
    return share, int(held[k]) if k >= 0 else -1, how


def _within(
    shape: Shape, ends: Floats, at: At, way: tuple[float, float], angle: float | None
) -> Bools:
    """(n,) which lines a motion may come near to."""
    if angle is not None:
        spot = Shape(True, math.hypot(at[0] - way[0], at[1] - way[1]) + shape.outer, 0.0)
        return np.asarray(gaps(spot, ends, *way, 0.0, -1.0) <= 2 * SKIN)
    ux, uz = at[2:]
    far = math.hypot(*way)
    if shape.round and far > 0:
        ux, uz = way[0] / far, way[1] / far
    mu, mw = way[0] * ux + way[1] * uz, way[1] * ux - way[0] * uz
    au, aw, bu, bw = _own(ends, at[0], at[1], ux, uz)
    ahead, aside = shape.ahead + 2 * SKIN, shape.aside + 2 * SKIN
    return np.asarray(
        (np.minimum(au, bu) <= max(mu, 0.0) + ahead)
        & (np.maximum(au, bu) >= min(mu, 0.0) - ahead)
        & (np.minimum(aw, bw) <= max(mw, 0.0) + aside)
        & (np.maximum(aw, bw) >= min(mw, 0.0) - aside)
    )


def touch(
    shape: Shape, line: Floats, at: At, way: tuple[float, float] = (0.0, 0.0)
) -> tuple[float, float, float, float]:
    """Where a shape that stands close to a line touches it.

    Args:
        shape: the footprint.
        line: (4,).
        at: x and z of its middle, and its direction ahead.
        way: where it would go, (x, z). Where corner meets corner, what bars that least counts.

    Returns:
        The unit normal that leads from the line to the shape, and the point (x, z).
    """
    x, z, ux, uz = at
    x0, z0, x1, z1 = (float(each) for each in line)
    if shape.round:
        ex, ez = x1 - x0, z1 - z0
        t = ((x - x0) * ex + (z - z0) * ez) / max(ex * ex + ez * ez, _TINY)
        t = min(max(t, 0.0), 1.0)
        px, pz = x0 + t * ex, z0 + t * ez
        away = math.hypot(x - px, z - pz) or 1.0
        return (x - px) / away, (z - pz) / away, px, pz
    au, aw = (x0 - x) * ux + (z0 - z) * uz, (z0 - z) * ux - (x0 - x) * uz
    bu, bw = (x1 - x) * ux + (z1 - z) * uz, (z1 - z) * ux - (x1 - x) * uz
    nu, nw = aw - bw, bu - au
    long = math.hypot(nu, nw)
    nu, nw = (nu / long, nw / long) if long > _TINY else (1.0, 0.0)
    off = au * nu + aw * nw
    if off > 0:
        nu, nw, off = -nu, -nw, -off
    ahead, aside = shape.ahead, shape.aside
    wide = abs(nu) + abs(nw)
    found = (
        (min(au, bu) - ahead, -1.0, 0.0),
        (-max(au, bu) - ahead, 1.0, 0.0),
        (min(aw, bw) - aside, 0.0, -1.0),
        (-max(aw, bw) - aside, 0.0, 1.0),
        ((-off - ahead * abs(nu) - aside * abs(nw)) / wide - 1e-9, nu, nw),
    )
    gu, gw = way[0] * ux + way[1] * uz, way[1] * ux - way[0] * uz
    near = max(found)[0] - _TIED
    _, _, nu, nw = max((nu * gu + nw * gw, gap, nu, nw) for gap, nu, nw in found if gap >= near)
    lu, lw = bu - au, bw - aw
    toward = lu * nu + lw * nw
    if abs(toward) > 1e-6:
        t = 1.0 if toward > 0 else 0.0
    else:
        # It lies along the line: before the corner that is nearest to it, or the middle of a side.
        corners = [
            ((i - au) * lu + (j - aw) * lw) / max(lu * lu + lw * lw, _TINY)
            for i in ((-ahead, ahead) if abs(nu) < 1e-6 else (-math.copysign(ahead, nu),))
            for j in ((-aside, aside) if abs(nw) < 1e-6 else (-math.copysign(aside, nw),))
        ]
        t = sum(min(max(each, 0.0), 1.0) for each in corners) / len(corners)
    pu, pw = au + t * lu, aw + t * lw
    return nu * ux - nw * uz, nu * uz + nw * ux, x + pu * ux - pw * uz, z + pu * uz + pw * ux
