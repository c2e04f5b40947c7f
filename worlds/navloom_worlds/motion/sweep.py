"""Exact first contact of a moving disc or rectangle with lines, for straight and circular motions.

Lines are rows (x0, z0, x1, z1). A motion is computed with a margin for each line, by which the
shape is grown. The margin is never more than the gap at the start. So every motion starts clear of
all lines, and the first crossing is the first contact.

A shape's own axes are u (ahead) and w (to its right), unit vectors on the ground plane.

The functions of `_COMPILED` are written for both numba and plain Python, and are compiled if numba
is installed (extra ``fast``). For them a motion is a row of numbers: whether the shape is a disc,
its ahead and aside; x and z of its middle and its direction ahead; the displacement (x, z), or the
point that it turns about; the angle, and whether it turns.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from types import FunctionType
from typing import Any

import numpy as np

from navloom.scenes.bodies import Footprint
from navloom_worlds.geometry.arrays import F64, Bools
from navloom_worlds.motion.obstacles import ObstacleLines

At = tuple[float, float, float, float]
"""Position of a body's middle, x and z, and its direction ahead, x and z."""
_TINY = 1e-12
_TIED = 1e-6
"""Metres within which two separating directions count as equal."""
SKIN = 0.0005
"""Metres that a body keeps from obstacles."""
OVERLAP = 0.001
"""Overlap in metres that may be rounding; more is a true overlap."""
NEVER = 2.0
"""Share of the motion that means no contact."""
FREE, MET, TOUCHED, INSIDE = 0, 1, 2, 3
"""Results of a motion: no contact; contact; touching at the start; overlapping at the start."""
_BLOCKED = SKIN - 1.1e-6
"""Gap in metres below which a body is stopped. A mesh's corners are rounded to 0.9 micrometres, so
the skin that another body leaves beside it is exact to within that."""
_ROUNDING = 1e-9
_TURN = 2 * math.pi


def first_contact(lines: Any, motion: Any) -> Any:
    """Return the first contact of a body that keeps a skin from everything.

    It stops with a full skin left, and is blocked only where a little less is left. So it may also
    take every path back, whatever the rounding of the last bits.

    Args:
        lines: n rows of x0, z0, x1, z1.
        motion: 11 numbers.

    Returns:
        The share of the motion completed, the index of the line that ends it (-1: none), and how.
    """
    return first_contact_in(lines, motion, motion_bounds(motion))


def first_contact_in(lines: Any, motion: Any, within: Any) -> Any:
    """Return the first contact, with the bounds of the motion as from :func:`motion_bounds`."""
    x0, z0, x1, z1, reach = within
    best, first, least, inside, between = NEVER, -1, math.inf, -1, 0.0
    for k in range(len(lines)):
        line = lines[k]
        ax, az, bx, bz = line[0], line[1], line[2], line[3]
        if (ax < x0 and bx < x0) or (az < z0 and bz < z0):
            continue
        if (ax > x1 and bx > x1) or (az > z1 and bz > z1):
            continue
        # A gap larger than the motion cannot be closed.
        near = SKIN + reach * min(best, 1.0)
        gap = _gap(ax, az, bx, bz, motion, near)
        if gap < least:
            least, inside = gap, k
        if gap > near:
            continue
        room = _BLOCKED if gap > _BLOCKED + _ROUNDING else gap - _ROUNDING
        share = _when(ax, az, bx, bz, room, motion)
        if share <= 1 and share < best:
            best, first, between = share, k, gap
    if least < -OVERLAP:
        return 0.0, inside, INSIDE
    if first < 0:
        return 1.0, -1, FREE
    if between <= SKIN + _ROUNDING:
        return best, first, TOUCHED
    line = lines[first]
    share = _when(line[0], line[1], line[2], line[3], SKIN, motion)
    return min(best, share), first, MET


def motion_bounds(motion: Any) -> Any:
    """Return the bounds (least x, z, greatest x, z) of a motion, and the motion's length.

    The length is that of the points that move farthest.
    """
    x, z, wx, wz, angle = motion[3], motion[4], motion[7], motion[8], motion[9]
    pad = motion[1] + 2 * SKIN
    if motion[0] == 0:
        pad = math.sqrt(motion[1] * motion[1] + motion[2] * motion[2]) + 2 * SKIN
    if motion[10] == 0:
        far = math.sqrt(wx * wx + wz * wz)
        x0, z0 = min(x, x + wx) - pad, min(z, z + wz) - pad
        return x0, z0, max(x, x + wx) + pad, max(z, z + wz) + pad, far
    away = math.sqrt((x - wx) * (x - wx) + (z - wz) * (z - wz))
    # The middle is never farther from its start than the chord, nor than a full diameter.
    far = 2 * away * math.sin(min(abs(angle), math.pi) / 2) + pad
    return x - far, z - far, x + far, z + far, (away + pad) * abs(angle)


def _gap(ax: Any, az: Any, bx: Any, bz: Any, motion: Any, near: Any) -> Any:
    """Return by how much the shape can grow before it touches a line; below 0 for an overlap.

    If that is more than ``near``, any value above ``near`` may be returned.
    """
    x, z, ux, uz = motion[3], motion[4], motion[5], motion[6]
    ahead, aside = motion[1], motion[2]
    ax, az, bx, bz = ax - x, az - z, bx - x, bz - z
    if motion[0] > 0:
        ex, ez = bx - ax, bz - az
        t = -(ax * ex + az * ez) / max(ex * ex + ez * ez, _TINY)
        t = min(max(t, 0.0), 1.0)
        x, z = ax + t * ex, az + t * ez
        return math.sqrt(x * x + z * z) - ahead
    au, aw, bu, bw = ax * ux + az * uz, az * ux - ax * uz, bx * ux + bz * uz, bz * ux - bx * uz
    one = max(min(au, bu), -max(au, bu)) - ahead
    two = max(min(aw, bw), -max(aw, bw)) - aside
    if max(one, two) > near:
        return max(one, two)
    nu, nw, off = _normal(au, aw, bu, bw)
    three = abs(off) - ahead * abs(nu) - aside * abs(nw)
    return max(max(one, two), three / (abs(nu) + abs(nw)))


def _normal(au: Any, aw: Any, bu: Any, bw: Any) -> Any:
    """Return a line's unit normal, and the line's offset along it."""
    nu, nw = aw - bw, bu - au
    long = math.sqrt(nu * nu + nw * nw)
    if long < _TINY:
        return 1.0, 0.0, au
    nu, nw = nu / long, nw / long
    return nu, nw, au * nu + aw * nw


def _when(ax: Any, az: Any, bx: Any, bz: Any, room: Any, motion: Any) -> Any:
    """Return the share of a motion after which the shape, grown by ``room``, meets a line."""
    ahead, aside = motion[1] + room, motion[2] + room
    x, z, ux, uz = motion[3], motion[4], motion[5], motion[6]
    wx, wz, angle = motion[7], motion[8], motion[9]
    if motion[10] == 0:
        ax, az, bx, bz = ax - x, az - z, bx - x, bz - z
        if motion[0] > 0:
            return _disc_straight(ax, az, bx, bz, ahead, wx, wz)
        au, aw, bu, bw = ax * ux + az * uz, az * ux - ax * uz, bx * ux + bz * uz, bz * ux - bx * uz
        mu, mw = wx * ux + wz * uz, wz * ux - wx * uz
        return _box_straight(au, aw, bu, bw, ahead, aside, mu, mw)
    sign = 1.0 if angle > 0 else -1.0
    ax, az, bx, bz, x, z = ax - wx, az - wz, bx - wx, bz - wz, x - wx, z - wz
    if motion[0] > 0:
        return _disc_round(ax, az, bx, bz, ahead, x, z, sign) / abs(angle)
    au, aw, bu, bw = ax * ux + az * uz, az * ux - ax * uz, bx * ux + bz * uz, bz * ux - bx * uz
    mu, mw = x * ux + z * uz, z * ux - x * uz
    sides = mu - ahead, mu + ahead, mw - aside, mw + aside
    return _box_round(au, aw, bu, bw, sides, sign) / abs(angle)


def _disc_straight(ax: Any, az: Any, bx: Any, bz: Any, radius: Any, dx: Any, dz: Any) -> Any:
    """Return the share of a straight motion at contact; the disc's middle is the origin."""
    px, pz, ex, ez = -ax, -az, bx - ax, bz - az
    long = max(math.sqrt(ex * ex + ez * ez), _TINY)
    nx, nz = -ez / long, ex / long
    off, toward = px * nx + pz * nz, dx * nx + dz * nz
    if off > 0:
        toward = -toward
    best = NEVER
    if toward > _TINY:
        t = (abs(off) - radius) / toward
        along = ((px + t * dx) * ex + (pz + t * dz) * ez) / long
        if t >= 0 and 0 <= along <= long:
            best = t
    d2 = dx * dx + dz * dz
    for end in range(2):
        qx, qz = (px, pz) if end == 0 else (px - ex, pz - ez)
        b = qx * dx + qz * dz
        root = b * b - d2 * (qx * qx + qz * qz - radius * radius)
        if root > 0 and b < 0:
            t = (-b - math.sqrt(root)) / d2
            if t >= 0:
                best = min(best, t)
    return best


def _box_straight(
    au: Any, aw: Any, bu: Any, bw: Any, ahead: Any, aside: Any, mu: Any, mw: Any
) -> Any:
    """Return the share of a straight motion at contact, in the box's own frame."""
    nu, nw, off = _normal(au, aw, bu, bw)
    one = _span(min(au, bu), max(au, bu), ahead, mu)
    two = _span(min(aw, bw), max(aw, bw), aside, mw)
    three = _span(off, off, ahead * abs(nu) + aside * abs(nw), mu * nu + mw * nw)
    into = max(max(one[0], two[0]), three[0])
    out = min(min(one[1], two[1]), three[1])
    return into if into < out and into >= 0 else NEVER


def _span(low: Any, high: Any, half: Any, speed: Any) -> Any:
    """Return the times at which an interval of an axis begins and ends to overlap the shape."""
    if abs(speed) < _TINY:
        return (-math.inf, math.inf) if low < half and high > -half else (math.inf, -math.inf)
    one, two = (low - half) / speed, (high + half) / speed
    return min(one, two), max(one, two)


def _after(target: Any, start: Any, sign: Any) -> Any:
    """Return the turn from one direction to another, from 0 up to a full turn."""
    return (sign * (target - start)) % _TURN


def _disc_round(ax: Any, az: Any, bx: Any, bz: Any, radius: Any, x: Any, z: Any, sign: Any) -> Any:
    """Return the angle of a turn at contact; the pivot is the origin."""
    far, start, best = math.sqrt(x * x + z * z), math.atan2(z, x), math.inf
    if far < _TINY:
        return best
    ex, ez = bx - ax, bz - az
    long = max(math.sqrt(ex * ex + ez * ez), _TINY)
    nx, nz = -ez / long, ex / long
    normal, off = math.atan2(nz, nx), ax * nx + az * nz
    for side in (-1.0, 1.0):
        share = (off + side * radius) / far
        if abs(share) <= 1:
            half = math.acos(share)
            for way in (-half, half):
                angle = normal + way
                along = (far * math.cos(angle) - ax) * ex + (far * math.sin(angle) - az) * ez
                if 0 <= along <= long * long:
                    best = min(best, _after(angle, start, sign))
    for end in range(2):
        cx, cz = (ax, az) if end == 0 else (bx, bz)
        away = math.sqrt(cx * cx + cz * cz)
        share = (far * far + away * away - radius * radius) / max(2 * far * away, _TINY)
        if abs(share) <= 1:
            half, middle = math.acos(share), math.atan2(cz, cx)
            for way in (-half, half):
                best = min(best, _after(middle + way, start, sign))
    return best


def _box_round(au: Any, aw: Any, bu: Any, bw: Any, sides: Any, sign: Any) -> Any:
    """Return the angle of a turn at contact; the pivot is the origin, the axes are the box's own.

    The box's corners reach the line, or, in the opposite sense, the line's ends reach its sides.
    """
    best = math.inf
    left, right, near, far = sides
    nu, nw, off = _normal(au, aw, bu, bw)
    eu, ew = bu - au, bw - aw
    normal, long = math.atan2(nw, nu), eu * eu + ew * ew
    for corner in range(4):
        cu, cw = left if corner < 2 else right, near if corner % 2 == 0 else far
        away = max(math.sqrt(cu * cu + cw * cw), _TINY)
        if abs(off) <= away:
            half = math.acos(off / away)
            for way in (-half, half):
                angle = normal + way
                along = (away * math.cos(angle) - au) * eu + (away * math.sin(angle) - aw) * ew
                if 0 <= along <= long:
                    best = min(best, _after(angle, math.atan2(cw, cu), sign))
    for end in range(2):
        pu, pw = (au, aw) if end == 0 else (bu, bw)
        best = min(best, _to_sides(pu, pw, sides, sign))
    return best


def _to_sides(pu: Any, pw: Any, sides: Any, sign: Any) -> Any:
    """Return the angle after which a box's sides reach a point."""
    best = math.inf
    left, right, near, far = sides
    away = max(math.sqrt(pu * pu + pw * pw), _TINY)
    start = math.atan2(pw, pu)
    # Nearer to the point than all sides, or farther than all corners, it meets none.
    for side in range(4):
        edge = left if side == 0 else right if side == 1 else near if side == 2 else far
        if abs(edge) > away:
            continue
        half = math.acos(edge / away)
        for way in (-half, half):
            angle = way if side < 2 else math.pi / 2 + way
            other = away * (math.sin(angle) if side < 2 else math.cos(angle))
            least, most = (near, far) if side < 2 else (left, right)
            if least <= other <= most:
                best = min(best, _after(angle, start, -sign))
    return best


def clearances(shape: Footprint, lines: F64, x: float, z: float, ux: float, uz: float) -> F64:
    """Return by how much a shape can grow before it touches each line; below 0 for an overlap.

    Args:
        shape: the footprint.
        lines: (n, 4).
        x: x of its middle.
        z: z of its middle.
        ux: x of its direction ahead.
        uz: z of its direction ahead.

    Returns:
        (n,) metres: the distance for a disc; how far the sides can move out for a rectangle.
    """
    if shape.round:
        ax, az = lines[:, 0] - x, lines[:, 1] - z
        ex, ez = lines[:, 2] - lines[:, 0], lines[:, 3] - lines[:, 1]
        t = -(ax * ex + az * ez) / np.maximum(ex * ex + ez * ez, _TINY)
        t = np.minimum(np.maximum(t, 0.0), 1.0)
        near: F64 = np.hypot(ax + t * ex, az + t * ez) - shape.ahead
        return near
    au, aw, bu, bw = _own(lines, x, z, ux, uz)
    ahead = np.maximum(np.minimum(au, bu), -np.maximum(au, bu)) - shape.ahead
    aside = np.maximum(np.minimum(aw, bw), -np.maximum(aw, bw)) - shape.aside
    nu, nw, off = _normals(au, aw, bu, bw)
    across = np.abs(off) - shape.ahead * np.abs(nu) - shape.aside * np.abs(nw)
    across = across / (np.abs(nu) + np.abs(nw))
    best: F64 = np.maximum(np.maximum(ahead, aside), across)
    return best


def _own(lines: F64, x: float, z: float, ux: float, uz: float) -> tuple[F64, F64, F64, F64]:
    """Return both ends of lines along a shape's own axes."""
    ax, az = lines[:, 0] - x, lines[:, 1] - z
    bx, bz = lines[:, 2] - x, lines[:, 3] - z
    return ax * ux + az * uz, az * ux - ax * uz, bx * ux + bz * uz, bz * ux - bx * uz


def _normals(au: F64, aw: F64, bu: F64, bw: F64) -> tuple[F64, F64, F64]:
    """Return unit normals of lines, and the lines' offsets along them."""
    nu, nw = aw - bw, bu - au
    long = np.sqrt(nu * nu + nw * nw)
    short = long < _TINY
    long = np.where(short, 1.0, long)
    nu, nw = np.where(short, 1.0, nu / long), np.where(short, 0.0, nw / long)
    return nu, nw, au * nu + aw * nw


_COMPILED = (
    first_contact,
    first_contact_in,
    motion_bounds,
    _gap,
    _normal,
    _when,
    _disc_straight,
    _box_straight,
    _span,
    _after,
    _disc_round,
    _box_round,
    _to_sides,
)


@lru_cache(maxsize=1)
def compiled_sweep() -> Callable[..., Any] | None:
    """Return `first_contact` compiled by numba and cached on disk; None without numba."""
    if find_spec("numba") is None:
        return None
    from numba import njit

    # Copies that call one another's compiled versions; the module's own functions stay plain.
    known = dict(globals())
    for each in _COMPILED:
        code = FunctionType(each.__code__, known, each.__name__)
        known[each.__name__] = njit(cache=True)(code)
    compiled: Callable[..., Any] = known["first_contact"]
    return compiled


Meeting = tuple[float, int, int]
"""Share of a motion completed, index of the line that ends it (-1: none), and how: ``FREE`` etc."""


def limit_motion(
    shape: Footprint, lines: ObstacleLines, at: At, way: tuple[float, float], angle: float | None
) -> Meeting:
    """Return how far a body gets that keeps a skin from everything.

    Args:
        shape: the footprint.
        lines: obstacle lines.
        at: x and z of its middle, and its direction ahead.
        way: displacement (x, z), or the point about which it turns.
        angle: angle of the turn in radians; None for a straight motion.
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
    x0, z0, x1, z1, _ = reached = motion_bounds(motion)
    held = np.flatnonzero((high[0] >= x0) & (high[1] >= z0) & (low[0] <= x1) & (low[1] <= z1))
    if len(held):
        held = held[_within(shape, lines.ends[held], at, way, angle)]
    if not len(held):
        return 1.0, -1, FREE
    share, k, how = first_contact_in(lines.ends[held].tolist(), motion, reached)
    return share, int(held[k]) if k >= 0 else -1, how


def _within(
    shape: Footprint, ends: F64, at: At, way: tuple[float, float], angle: float | None
) -> Bools:
    """Return (n,) whether a motion may come near to each line."""
    if angle is not None:
        spot = Footprint(True, math.hypot(at[0] - way[0], at[1] - way[1]) + shape.outer, 0.0)
        return np.asarray(clearances(spot, ends, *way, 0.0, -1.0) <= 2 * SKIN)
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


def touch_point(
    shape: Footprint, line: F64, at: At, way: tuple[float, float] = (0.0, 0.0)
) -> tuple[float, float, float, float]:
    """Return normal and point at which a shape close to a line touches it.

    Args:
        shape: the footprint.
        line: (4,).
        at: x and z of its middle, and its direction ahead.
        way: intended direction, (x, z). Of equal normals the one that opposes it least is taken.

    Returns:
        The unit normal from the line to the shape, and the point (x, z).
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
        # The side is parallel to the line: take the middle of the overlap.
        corners = [
            ((i - au) * lu + (j - aw) * lw) / max(lu * lu + lw * lw, _TINY)
            for i in ((-ahead, ahead) if abs(nu) < 1e-6 else (-math.copysign(ahead, nu),))
            for j in ((-aside, aside) if abs(nw) < 1e-6 else (-math.copysign(aside, nw),))
        ]
        t = sum(min(max(each, 0.0), 1.0) for each in corners) / len(corners)
    pu, pw = au + t * lu, aw + t * lw
    return nu * ux - nw * uz, nu * uz + nw * ux, x + pu * ux - pw * uz, z + pu * uz + pw * ux
