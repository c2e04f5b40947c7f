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

from navloom.scenes.space import compiled_sweep
from navloom.scenes.space.shapes import Shape

Floats = NDArray[np.float64]
NEVER = 2.0
"""Of the motion: no contact within it."""
SKIN = 0.0005
"""Metres that a body keeps from what it meets."""
OVERLAP = 0.001
"""Metres that a body may be in a thing by rounding; more is inside it."""
_BLOCKED = SKIN - 1e-7
"""Metres: nearer than this it is not let."""
_ROUNDING = 1e-9
FREE, MET, TOUCHED, INSIDE = range(4)
"""What comes of a motion: nothing is met; a thing is, was touched, was overlapped."""
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
    # Its corners come to the lines: (4 corners, 2 roots, n).
    nu, nw, off = _normals(au, aw, bu, bw)
    eu, ew = bu - au, bw - aw
    cu, cw = np.stack([left, left, right, right]), np.stack([near, far, near, far])
    away = np.maximum(np.sqrt(cu * cu + cw * cw), _TINY)
    angle = np.arctan2(nw, nu) + _both(off / away)
    along = (away * np.cos(angle) - au) * eu + (away * np.sin(angle) - aw) * ew
    good = (np.abs(off) <= away) & (along >= 0) & (along <= eu * eu + ew * ew)
    turned = _after(angle, np.arctan2(cw, cu), sign)
    best = np.where(good, turned, np.inf).min(axis=(0, 1))
    # The lines' ends come to its sides, the other way round: (2 roots, 2 ends, 4 sides, n).
    pu, pw = np.stack([au, bu])[:, None], np.stack([aw, bw])[:, None]
    away = np.maximum(np.sqrt(pu * pu + pw * pw), _TINY)
    start = np.arctan2(pw, pu)
    edge = np.stack([left, right, near, far])
    least, most = np.stack([near, near, left, left]), np.stack([far, far, right, right])
    angle = _QUARTERS + _both(edge / away)
    other = away * np.where(_QUARTERS == 0, np.sin(angle), np.cos(angle))
    good = (np.abs(edge) <= away) & (other >= least) & (other <= most)
    turned = np.where(good, _after(angle, start, -sign), np.inf)
    return np.asarray(np.minimum(best, turned.min(axis=(0, 1, 2))))


_QUARTERS = np.array([0.0, 0.0, math.pi / 2, math.pi / 2])[:, None]


def _both(share: Floats) -> Floats:
    """The two angles of a cosine, one after the other along a new first axis."""
    half = np.arccos(np.clip(share, -1, 1))
    return np.stack([-half, half])


Meeting = tuple[float, int, int]
"""The share of a motion that is gone, what ends it (-1: nothing), and how: ``FREE`` and so on."""


def meet(
    shape: Shape,
    lines: Floats,
    at: tuple[float, float, float, float],
    way: tuple[float, float],
    angle: float | None,
) -> Meeting:
    """How far a body gets that keeps a skin from everything.

    It stops where a skin is left, and is stopped where a little less is: so what it may pass along
    it may pass back along, whatever rounding says of the last bits.

    Args:
        shape: the footprint.
        lines: (n, 4).
        at: x and z of its middle, and its direction ahead.
        way: how far it goes; or the point about which it turns.
        angle: how far it turns, in radians; None where it goes straight.
    """
    box = _swept(shape, at, way, angle)
    if (compiled := compiled_sweep.compiled_sweep()) is not None:
        given = (shape.round, shape.ahead, shape.aside, *at, *way, angle or 0.0, angle is not None)
        found: Meeting = compiled(lines, np.array([*given, *box], dtype=np.float64))
        return found
    held = np.flatnonzero(
        (np.maximum(lines[:, 0], lines[:, 2]) >= box[0])
        & (np.maximum(lines[:, 1], lines[:, 3]) >= box[1])
        & (np.minimum(lines[:, 0], lines[:, 2]) <= box[2])
        & (np.minimum(lines[:, 1], lines[:, 3]) <= box[3])
    )
    if not len(held):
        return 1.0, -1, FREE
    near = lines[held]
    between = gaps(shape, near, *at)
    k = int(np.argmin(between))
    if between[k] < -OVERLAP:
        return 0.0, int(held[k]), INSIDE
    room = np.where(between > _BLOCKED + _ROUNDING, _BLOCKED, between - _ROUNDING)
    share, k = _asked(shape, near, room, at, way, angle)
    if k < 0:
        return 1.0, -1, FREE
    if between[k] <= SKIN + _ROUNDING:
        return share, int(held[k]), TOUCHED
    first, _ = _asked(shape, near[k : k + 1], np.array([SKIN]), at, way, angle)
    return min(share, first), int(held[k]), MET


def _asked(
    shape: Shape,
    lines: Floats,
    room: Floats,
    at: tuple[float, float, float, float],
    way: tuple[float, float],
    angle: float | None,
) -> tuple[float, int]:
    if angle is None:
        return straight(shape, lines, room, at, way)
    return round_about(shape, lines, room, at, way, angle)


def _swept(
    shape: Shape,
    at: tuple[float, float, float, float],
    way: tuple[float, float],
    angle: float | None,
) -> tuple[float, float, float, float]:
    """The least and greatest x and z, as (x, z, x, z), that a motion comes to."""
    x, z, pad = at[0], at[1], shape.outer + 2 * SKIN
    if angle is None:
        dx, dz = way
        return (
            min(x, x + dx) - pad,
            min(z, z + dz) - pad,
            max(x, x + dx) + pad,
            max(z, z + dz) + pad,
        )
    # The middle is never farther from where it began than the chord, nor than a whole diameter.
    far = 2 * math.hypot(x - way[0], z - way[1]) * math.sin(min(abs(angle), math.pi) / 2) + pad
    return x - far, z - far, x + far, z + far


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
