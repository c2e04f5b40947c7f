"""Triangles cut to a band as numba compiles it; imported where numba is installed.

The arithmetic is that of :mod:`navloom_worlds.motion.obstacles`, and so is the order of what is
found.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

_LEVEL = 1e-12
_SAME, _SHORT = 1e4, 1e-5
"""As :mod:`navloom_worlds.motion.obstacles` has them."""
_A, _B, _C, _D = (
    np.uint64(each)
    for each in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x27D4EB2F165667C5)
)


def _cut(corners: Any, faces: Any, low: Any, high: float) -> Any:  # pragma: no cover - compiled
    """Sides of what is left of triangles between two heights, seen from above.

    Args:
        corners: (m, 3, 3) of all triangles.
        faces: (n,) which are cut.
        low: (n,) from what y each is kept.
        high: up to what y.

    Returns:
        The ends (k, 4) of lines, and of which of ``faces`` each is.
    """
    ends, of = np.empty((9 * len(faces), 4)), np.empty(9 * len(faces), np.int64)
    found, met = 0, np.empty((2, 2))
    for side in range(3):
        for n in range(len(faces)):
            p, q = corners[faces[n], side], corners[faces[n], (side + 1) % 3]
            rise = q[1] - p[1]
            first, last = 0.0, 1.0
            if abs(rise) < _LEVEL:
                if not (p[1] >= low[n] and p[1] <= high):
                    continue
            else:
                first, last = (low[n] - p[1]) / rise, (high - p[1]) / rise
                if rise < 0:
                    first, last = last, first
                first, last = max(first, 0.0), min(last, 1.0)
                if first > last:
                    continue
            dx, dz = q[0] - p[0], q[2] - p[2]
            ends[found, 0], ends[found, 1] = p[0] + first * dx, p[2] + first * dz
            ends[found, 2], ends[found, 3] = p[0] + last * dx, p[2] + last * dz
            of[found] = n
            found += 1
    for top in range(2):
        for side in range(3):
            for n in range(len(faces)):
                level, crossed = high if top else low[n], True
                for k in range(2):
                    a = corners[faces[n], (side + k) % 3]
                    b = corners[faces[n], (side + k + 1) % 3]
                    rise = b[1] - a[1]
                    share = (level - a[1]) / rise if abs(rise) >= _LEVEL else -1.0
                    crossed &= share >= 0 and share <= 1
                    met[k, 0] = a[0] + share * (b[0] - a[0])
                    met[k, 1] = a[2] + share * (b[2] - a[2])
                if crossed:
                    ends[found, 0], ends[found, 1] = met[0, 0], met[0, 1]
                    ends[found, 2], ends[found, 3] = met[1, 0], met[1, 1]
                    of[found] = n
                    found += 1
    return ends[:found], of[:found]


cut: Callable[..., Any] = njit(cache=True, nogil=True, error_model="numpy")(_cut)


def _distinct(ends: Any) -> Any:  # pragma: no cover - compiled
    """Which lines (n, 4) are no points, and no line that was there before."""
    size = 64
    while size < 2 * len(ends):
        size *= 2
    table, used = np.empty(size, np.uint64), np.zeros(size, np.bool_)
    kept, count = np.empty(len(ends), np.int64), 0
    for k in range(len(ends)):
        a, b = np.int64(np.rint(ends[k, 0] * _SAME)), np.int64(np.rint(ends[k, 1] * _SAME))
        c, d = np.int64(np.rint(ends[k, 2] * _SAME)), np.int64(np.rint(ends[k, 3] * _SAME))
        if a > c or (a == c and b > d):
            a, b, c, d = c, d, a, b
        key = np.uint64(a) * _A + np.uint64(b) * _B + np.uint64(c) * _C + np.uint64(d) * _D
        key ^= key >> np.uint64(29)
        at = np.int64(key & np.uint64(size - 1))
        while used[at] and table[at] != key:
            at = (at + 1) & (size - 1)
        if used[at]:
            continue
        used[at], table[at] = True, key
        if math.hypot(ends[k, 2] - ends[k, 0], ends[k, 3] - ends[k, 1]) > _SHORT:
            kept[count] = k
            count += 1
    return kept[:count]


distinct: Callable[..., Any] = njit(cache=True, nogil=True, error_model="numpy")(_distinct)
