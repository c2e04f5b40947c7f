"""When a disc or a rectangle that moves first meets a line, one line after the other.

Written for numba and for plain Python alike: :mod:`navloom_worlds.motion.sweep` compiles these
functions where numba is installed (extra ``fast``).

A motion is a row of numbers: whether it is a disc, ahead and aside of the shape; x and z of its
middle and its direction ahead; how far it goes (x, z), or the point that it turns about; the angle,
and whether it turns.
"""

from __future__ import annotations

import math
from typing import Any

SKIN = 0.0005
"""Metres that a body keeps from what it meets."""
OVERLAP = 0.001
"""Metres that a body may be in a thing by rounding; more is inside it."""
NEVER = 2.0
"""Of the motion: no contact within it."""
FREE, MET, TOUCHED, INSIDE = 0, 1, 2, 3
"""What comes of a motion: nothing is met; a thing is, was touched, was overlapped."""
_BLOCKED = SKIN - 1.1e-6
"""Metres: nearer than this it is not let. A mesh's corners are rounded to 0.9 of a thousandth of a
millimetre; what another body that came beside it leaves is a skin to within one of them."""
_ROUNDING = 1e-9
_TURN = 2 * math.pi
_TINY = 1e-12


def first_contact(lines: Any, motion: Any) -> Any:
    """What a body meets first that keeps a skin from everything.

    It stops where a skin is left, and is stopped where a little less is: so what it may pass along
    it may pass back along, whatever rounding says of the last bits.

    Args:
        lines: n rows of x0, z0, x1, z1.
        motion: 11 numbers.

    Returns:
        The share of the motion that is gone, what ends it (-1: nothing), and how.
    """
    return first_among(lines, motion, swept(motion))


def first_among(lines: Any, motion: Any, within: Any) -> Any:
    """The same, where it is known what the motion comes to, as :func:`swept` says it."""
    x0, z0, x1, z1, reach = within
    best, first, least, inside, between = NEVER, -1, math.inf, -1, 0.0
    for k in range(len(lines)):
        line = lines[k]
        ax, az, bx, bz = line[0], line[1], line[2], line[3]
        if (ax < x0 and bx < x0) or (az < z0 and bz < z0):
            continue
        if (ax > x1 and bx > x1) or (az > z1 and bz > z1):
            continue
        # Nobody comes farther into a gap than they go.
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


def swept(motion: Any) -> Any:
    """The least and greatest x and z, as (x, z, x, z), that a motion comes to, and how far it goes.

    That is how far those points go which go farthest.
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
    # The middle is never farther from where it began than the chord, nor than a whole diameter.
    far = 2 * away * math.sin(min(abs(angle), math.pi) / 2) + pad
    return x - far, z - far, x + far, z + far, (away + pad) * abs(angle)


def _gap(ax: Any, az: Any, bx: Any, bz: Any, motion: Any, near: Any) -> Any:
    """How far the shape can be blown up before it touches; below 0 where it overlaps.

    Where that is farther than ``near`` anything farther than that will do.
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
    """A line's unit normal, and how far along it the line lies."""
    nu, nw = aw - bw, bu - au
    long = math.sqrt(nu * nu + nw * nw)
    if long < _TINY:
        return 1.0, 0.0, au
    nu, nw = nu / long, nw / long
    return nu, nw, au * nu + aw * nw


def _when(ax: Any, az: Any, bx: Any, bz: Any, room: Any, motion: Any) -> Any:
    """The share of a motion after which the shape, blown up by a room, meets a line."""
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
    """When; the disc's middle is the origin."""
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
    """When; the box's middle is the origin, and the axes are its own."""
    nu, nw, off = _normal(au, aw, bu, bw)
    one = _span(min(au, bu), max(au, bu), ahead, mu)
    two = _span(min(aw, bw), max(aw, bw), aside, mw)
    three = _span(off, off, ahead * abs(nu) + aside * abs(nw), mu * nu + mw * nw)
    into = max(max(one[0], two[0]), three[0])
    out = min(min(one[1], two[1]), three[1])
    return into if into < out and into >= 0 else NEVER


def _span(low: Any, high: Any, half: Any, speed: Any) -> Any:
    """From when to when what lies from low to high along an axis is over the shape."""
    if abs(speed) < _TINY:
        return (-math.inf, math.inf) if low < half and high > -half else (math.inf, -math.inf)
    one, two = (low - half) / speed, (high + half) / speed
    return min(one, two), max(one, two)


def _after(target: Any, start: Any, sign: Any) -> Any:
    """The turn from one direction to another, from 0 up to a whole one."""
    return (sign * (target - start)) % _TURN


def _disc_round(ax: Any, az: Any, bx: Any, bz: Any, radius: Any, x: Any, z: Any, sign: Any) -> Any:
    """After what angle; the point about which it turns is the origin."""
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
    """After what angle; the point about which it turns is the origin, the axes are the box's own.

    The box's corners come to the line, and the line's ends to its sides, the other way round.
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
    """After what angle a box's sides come to a point."""
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
