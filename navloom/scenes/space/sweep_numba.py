"""The sweep of :mod:`navloom.scenes.space.sweep` line by line, as numba compiles it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from numba import njit

_TINY = 1e-12
_SKIN = 0.0005
_OVERLAP = 0.001
_BLOCKED = _SKIN - 1e-7
_ROUNDING = 1e-9
_NEVER = 2.0
_TURN = 2 * math.pi
_FREE, _MET, _TOUCHED, _INSIDE = 0, 1, 2, 3


@njit(cache=True)
def _gap(ax: Any, az: Any, bx: Any, bz: Any, body: Any) -> Any:  # pragma: no cover - compiled
    disc, ahead, aside, x, z, ux, uz = body[0], body[1], body[2], body[3], body[4], body[5], body[6]
    ax, az, bx, bz = ax - x, az - z, bx - x, bz - z
    if disc > 0:
        ex, ez = bx - ax, bz - az
        t = -(ax * ex + az * ez) / max(ex * ex + ez * ez, _TINY)
        t = min(max(t, 0.0), 1.0)
        return math.hypot(ax + t * ex, az + t * ez) - ahead
    au, aw, bu, bw = ax * ux + az * uz, az * ux - ax * uz, bx * ux + bz * uz, bz * ux - bx * uz
    one = max(min(au, bu), -max(au, bu)) - ahead
    two = max(min(aw, bw), -max(aw, bw)) - aside
    nu, nw, off = _normal(au, aw, bu, bw)
    three = abs(off) - ahead * abs(nu) - aside * abs(nw)
    return max(max(one, two), three / (abs(nu) + abs(nw)))


@njit(cache=True)
def _normal(au: Any, aw: Any, bu: Any, bw: Any) -> Any:  # pragma: no cover - compiled
    nu, nw = aw - bw, bu - au
    long = math.sqrt(nu * nu + nw * nw)
    if long < _TINY:
        return 1.0, 0.0, au
    nu, nw = nu / long, nw / long
    return nu, nw, au * nu + aw * nw


@njit(cache=True)
def _disc_straight(
    ax: Any, az: Any, bx: Any, bz: Any, radius: Any, dx: Any, dz: Any
) -> Any:  # pragma: no cover - compiled
    """When; the disc's middle is the origin."""
    px, pz, ex, ez = -ax, -az, bx - ax, bz - az
    long = max(math.sqrt(ex * ex + ez * ez), _TINY)
    nx, nz = -ez / long, ex / long
    off, toward = px * nx + pz * nz, dx * nx + dz * nz
    if off > 0:
        toward = -toward
    best = _NEVER
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


@njit(cache=True)
def _span(low: Any, high: Any, half: Any, speed: Any) -> Any:  # pragma: no cover - compiled
    if abs(speed) < _TINY:
        return (-math.inf, math.inf) if low < half and high > -half else (math.inf, -math.inf)
    one, two = (low - half) / speed, (high + half) / speed
    return min(one, two), max(one, two)


@njit(cache=True)
def _box_straight(
    au: Any, aw: Any, bu: Any, bw: Any, ahead: Any, aside: Any, mu: Any, mw: Any
) -> Any:  # pragma: no cover - compiled
    nu, nw, off = _normal(au, aw, bu, bw)
    one = _span(min(au, bu), max(au, bu), ahead, mu)
    two = _span(min(aw, bw), max(aw, bw), aside, mw)
    three = _span(off, off, ahead * abs(nu) + aside * abs(nw), mu * nu + mw * nw)
    into = max(max(one[0], two[0]), three[0])
    out = min(min(one[1], two[1]), three[1])
    return into if into < out and into >= 0 else _NEVER


@njit(cache=True)
def _after(target: Any, start: Any, sign: Any) -> Any:  # pragma: no cover - compiled
    return (sign * (target - start)) % _TURN


@njit(cache=True)
def _disc_round(
    ax: Any, az: Any, bx: Any, bz: Any, radius: Any, x: Any, z: Any, sign: Any
) -> Any:  # pragma: no cover - compiled
    """When; the point about which it turns is the origin."""
    far, start, best = math.hypot(x, z), math.atan2(z, x), math.inf
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


@njit(cache=True)
def _box_round(
    au: Any, aw: Any, bu: Any, bw: Any,
    left: Any, right: Any, near: Any, far: Any, sign: Any,
) -> Any:  # pragma: no cover - compiled  # fmt: skip
    """When; the point about which it turns is the origin, and the axes are the box's own."""
    best = math.inf
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
        away = max(math.sqrt(pu * pu + pw * pw), _TINY)
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
                    best = min(best, _after(angle, math.atan2(pw, pu), -sign))
    return best


@njit(cache=True)
def _when(
    ax: Any, az: Any, bx: Any, bz: Any, room: Any, body: Any
) -> Any:  # pragma: no cover - compiled
    ahead, aside, x, z, ux, uz = body[1] + room, body[2] + room, body[3], body[4], body[5], body[6]
    wx, wz, angle = body[7], body[8], body[9]
    if body[10] == 0:
        ax, az, bx, bz = ax - x, az - z, bx - x, bz - z
        if body[0] > 0:
            return _disc_straight(ax, az, bx, bz, ahead, wx, wz)
        au, aw, bu, bw = ax * ux + az * uz, az * ux - ax * uz, bx * ux + bz * uz, bz * ux - bx * uz
        mu, mw = wx * ux + wz * uz, wz * ux - wx * uz
        return _box_straight(au, aw, bu, bw, ahead, aside, mu, mw)
    sign = 1.0 if angle > 0 else -1.0
    ax, az, bx, bz, x, z = ax - wx, az - wz, bx - wx, bz - wz, x - wx, z - wz
    if body[0] > 0:
        return _disc_round(ax, az, bx, bz, ahead, x, z, sign) / abs(angle)
    au, aw, bu, bw = ax * ux + az * uz, az * ux - ax * uz, bx * ux + bz * uz, bz * ux - bx * uz
    mu, mw = x * ux + z * uz, z * ux - x * uz
    sides = mu - ahead, mu + ahead, mw - aside, mw + aside
    return _box_round(au, aw, bu, bw, *sides, sign) / abs(angle)


@njit(cache=True)
def _meet(lines: Any, body: Any) -> Any:  # pragma: no cover - compiled
    x0, z0, x1, z1 = body[11], body[12], body[13], body[14]
    best, first, least, inside, between = _NEVER, -1, math.inf, -1, 0.0
    for k in range(len(lines)):
        ax, az, bx, bz = lines[k, 0], lines[k, 1], lines[k, 2], lines[k, 3]
        if max(ax, bx) < x0 or max(az, bz) < z0 or min(ax, bx) > x1 or min(az, bz) > z1:
            continue
        gap = _gap(ax, az, bx, bz, body)
        if gap < least:
            least, inside = gap, k
        room = _BLOCKED if gap > _BLOCKED + _ROUNDING else gap - _ROUNDING
        share = _when(ax, az, bx, bz, room, body)
        if share <= 1 and share < best:
            best, first, between = share, k, gap
    if least < -_OVERLAP:
        return 0.0, inside, _INSIDE
    if first < 0:
        return 1.0, -1, _FREE
    if between <= _SKIN + _ROUNDING:
        return best, first, _TOUCHED
    ax, az, bx, bz = lines[first, 0], lines[first, 1], lines[first, 2], lines[first, 3]
    share = _when(ax, az, bx, bz, _SKIN, body)
    return min(best, share), first, _MET


compiled: Callable[..., tuple[float, int, int]] = _meet
