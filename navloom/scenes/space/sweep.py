"""When a disc or a rectangle that moves first meets a line: exact, straight and round.

Lines are rows (x0, z0, x1, z1). A motion is asked about with the room that each line is given (how
far the shape is blown up towards it), which is never more than what lies between them at the start;
so every motion starts apart from all lines, and what comes first is the first crossing.

A shape's own axes are u (ahead) and w (to its right), unit vectors on the ground plane.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from navloom.scenes.space.shapes import Shape

Floats = NDArray[np.float64]
NEVER = 2.0
"""Of the motion: no contact within it."""
_TURN = 2 * math.pi
_TINY = 1e-12


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


def straight(
    shape: Shape,
    lines: Floats,
    room: Floats,
    at: tuple[float, float, float, float],
    move: tuple[float, float],
) -> tuple[float, int]:
    """When a shape that moves straight first meets a line.

    Args:
        shape: the footprint.
        lines: (n, 4).
        room: (n,) how far it is blown up towards each; less than :func:`gaps`.
        at: x and z of its middle, and its direction ahead.
        move: how far it goes, (x, z) in metres.

    Returns:
        The share of the motion after which it meets one, and which; ``NEVER`` and -1 for none.
    """
    times = (
        _disc_straight(shape.ahead + room, lines, at, move)
        if shape.round
        else _box_straight(shape, lines, room, at, move)
    )
    return _first(times)


def _first(times: Floats) -> tuple[float, int]:
    if not len(times):
        return NEVER, -1
    k = int(np.argmin(times))
    return (float(times[k]), k) if times[k] <= 1.0 else (NEVER, -1)


def _disc_straight(
    radius: Floats, lines: Floats, at: tuple[float, float, float, float], move: tuple[float, float]
) -> Floats:
    dx, dz = move
    px, pz = at[0] - lines[:, 0], at[1] - lines[:, 1]
    ex, ez = lines[:, 2] - lines[:, 0], lines[:, 3] - lines[:, 1]
    long = np.maximum(np.sqrt(ex * ex + ez * ez), _TINY)
    nx, nz = -ez / long, ex / long
    off, toward = px * nx + pz * nz, dx * nx + dz * nz
    toward = np.where(off > 0, -toward, toward)
    going = toward > _TINY
    t = (np.abs(off) - radius) / np.where(going, toward, 1.0)
    along = ((px + t * dx) * ex + (pz + t * dz) * ez) / long
    good = going & (t >= 0) & (along >= 0) & (along <= long)
    times = np.where(good, t, NEVER)
    d2 = dx * dx + dz * dz
    for qx, qz in ((px, pz), (px - ex, pz - ez)):
        b = qx * dx + qz * dz
        c = qx * qx + qz * qz - radius * radius
        root = b * b - d2 * c
        t = (-b - np.sqrt(np.maximum(root, 0.0))) / d2
        times = np.minimum(times, np.where((root > 0) & (b < 0) & (t >= 0), t, NEVER))
    return times


def _box_straight(
    shape: Shape,
    lines: Floats,
    room: Floats,
    at: tuple[float, float, float, float],
    move: tuple[float, float],
) -> Floats:
    x, z, ux, uz = at
    mu, mw = move[0] * ux + move[1] * uz, move[1] * ux - move[0] * uz
    au, aw, bu, bw = _own(lines, x, z, ux, uz)
    nu, nw, off = _normals(au, aw, bu, bw)
    into, out = np.full(len(lines), -np.inf), np.full(len(lines), np.inf)
    ahead, aside = shape.ahead + room, shape.aside + room
    for low, high, half, speed in (
        (np.minimum(au, bu), np.maximum(au, bu), ahead, np.full(len(lines), mu)),
        (np.minimum(aw, bw), np.maximum(aw, bw), aside, np.full(len(lines), mw)),
        (off, off, ahead * np.abs(nu) + aside * np.abs(nw), mu * nu + mw * nw),
    ):
        still = np.abs(speed) < _TINY
        over = (low < half) & (high > -half)
        by = np.where(still, 1.0, speed)
        one, two = (low - half) / by, (high + half) / by
        first = np.where(still, np.where(over, -np.inf, np.inf), np.minimum(one, two))
        last = np.where(still, np.where(over, np.inf, -np.inf), np.maximum(one, two))
        into, out = np.maximum(into, first), np.minimum(out, last)
    return np.where((into < out) & (into >= 0), into, NEVER)


def round_about(
    shape: Shape,
    lines: Floats,
    room: Floats,
    at: tuple[float, float, float, float],
    pivot: tuple[float, float],
    angle: float,
) -> tuple[float, int]:
    """When a shape that turns about a point first meets a line.

    Args:
        shape: the footprint.
        lines: (n, 4).
        room: (n,) as :func:`straight` takes it.
        at: x and z of its middle, and its direction ahead.
        pivot: (x, z) of the point.
        angle: how far it turns, in radians; clockwise seen from above is positive.

    Returns:
        As :func:`straight`.
    """
    if not len(lines):
        return NEVER, -1
    turn = _disc_round if shape.round else _box_round
    met = turn(shape, lines, room, at, pivot, 1.0 if angle > 0 else -1.0)
    return _first(met / abs(angle))


def _after(target: Floats, start: Floats, sign: float) -> Floats:
    """The turn from one direction to another, from 0 up to a whole one."""
    return np.asarray((sign * (target - start)) % _TURN)


def _disc_round(
    shape: Shape,
    lines: Floats,
    room: Floats,
    at: tuple[float, float, float, float],
    pivot: tuple[float, float],
    sign: float,
) -> Floats:
    x, z = at[0] - pivot[0], at[1] - pivot[1]
    far, start = math.hypot(x, z), np.array(math.atan2(z, x))
    best = np.full(len(lines), np.inf)
    if far < _TINY:
        return best
    radius = shape.ahead + room
    ax, az = lines[:, 0] - pivot[0], lines[:, 1] - pivot[1]
    bx, bz = lines[:, 2] - pivot[0], lines[:, 3] - pivot[1]
    ex, ez = bx - ax, bz - az
    long = np.maximum(np.sqrt(ex * ex + ez * ez), _TINY)
    nx, nz = -ez / long, ex / long
    normal, off = np.arctan2(nz, nx), ax * nx + az * nz
    for side in (-1.0, 1.0):
        share = (off + side * radius) / far
        met = np.abs(share) <= 1
        half = np.arccos(np.clip(share, -1, 1))
        for way in (-half, half):
            angle = normal + way
            along = (far * np.cos(angle) - ax) * ex + (far * np.sin(angle) - az) * ez
            good = met & (along >= 0) & (along <= long * long)
            best = np.where(good, np.minimum(best, _after(angle, start, sign)), best)
    for cx, cz in ((ax, az), (bx, bz)):
        away = np.sqrt(cx * cx + cz * cz)
        share = (far * far + away * away - radius * radius) / np.maximum(2 * far * away, _TINY)
        half = np.arccos(np.clip(share, -1, 1))
        middle = np.arctan2(cz, cx)
        for way in (-half, half):
            turned = _after(middle + way, start, sign)
            best = np.where(np.abs(share) <= 1, np.minimum(best, turned), best)
    return best


def _box_round(
    shape: Shape,
    lines: Floats,
    room: Floats,
    at: tuple[float, float, float, float],
    pivot: tuple[float, float],
    sign: float,
) -> Floats:
    x, z, ux, uz = at
    au, aw, bu, bw = _own(lines, pivot[0], pivot[1], ux, uz)
    mu, mw = (x - pivot[0]) * ux + (z - pivot[1]) * uz, (z - pivot[1]) * ux - (x - pivot[0]) * uz
    left, right = mu - shape.ahead - room, mu + shape.ahead + room
    near, far = mw - shape.aside - room, mw + shape.aside + room
    best = np.full(len(lines), np.inf)
    # Its corners come to the lines.
    nu, nw, off = _normals(au, aw, bu, bw)
    eu, ew = bu - au, bw - aw
    normal, long = np.arctan2(nw, nu), eu * eu + ew * ew
    for cu, cw in ((left, near), (left, far), (right, near), (right, far)):
        away = np.maximum(np.sqrt(cu * cu + cw * cw), _TINY)
        start = np.arctan2(cw, cu)
        share = off / away
        half = np.arccos(np.clip(share, -1, 1))
        for way in (-half, half):
            angle = normal + way
            along = (away * np.cos(angle) - au) * eu + (away * np.sin(angle) - aw) * ew
            good = (np.abs(share) <= 1) & (along >= 0) & (along <= long)
            best = np.where(good, np.minimum(best, _after(angle, start, sign)), best)
    # The lines' ends come to its sides, the other way round.
    for pu, pw in ((au, aw), (bu, bw)):
        away = np.maximum(np.sqrt(pu * pu + pw * pw), _TINY)
        start = np.arctan2(pw, pu)
        for edge, least, most, axis in (
            (left, near, far, 0.0),
            (right, near, far, 0.0),
            (near, left, right, math.pi / 2),
            (far, left, right, math.pi / 2),
        ):
            share = edge / away
            half = np.arccos(np.clip(share, -1, 1))
            for way in (-half, half):
                angle = axis + way
                other = away * (np.sin(angle) if axis == 0.0 else np.cos(angle))
                good = (np.abs(share) <= 1) & (other >= least) & (other <= most)
                turned = _after(angle, start, -sign)
                best = np.where(good, np.minimum(best, turned), best)
    return best


def touch(
    shape: Shape, line: Floats, at: tuple[float, float, float, float]
) -> tuple[float, float, float, float]:
    """Where a shape that stands close to a line touches it.

    Args:
        shape: the footprint.
        line: (4,).
        at: x and z of its middle, and its direction ahead.

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
    _, nu, nw = max(found)
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
