"""What lines take from a grid as numba compiles it; imported where numba is installed.

The arithmetic is that of :mod:`navloom_worlds.motion.lattice`, in its order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

_THIN = 1e-9
"""As :mod:`navloom_worlds.motion.lattice` has it."""


def _mark(
    taken: Any, row: int, low: float, high: float, cell: float
) -> None:  # pragma: no cover - compiled
    """Count an interval of a row."""
    first = max(math.ceil(low / cell), 0)
    last = min(math.floor(high / cell), taken.shape[1] - 2) + 1
    if first < last:
        taken[row, first] += 1
        taken[row, last] -= 1


_marked: Any = njit(inline="always", error_model="numpy")(_mark)


def _disc(
    lines: Any, radius: float, wide: int, deep: int, cell: float
) -> Any:  # pragma: no cover - compiled
    """(wide, deep) where a disc meets no line of (n, 4) along the grid's axes."""
    taken = np.zeros((wide, deep + 1), np.int32)
    for k in range(len(lines)):
        for end in range(0, 4, 2):
            x, y = lines[k, end], lines[k, end + 1]
            begin = min(max(math.ceil((x - radius) / cell), 0), wide)
            for row in range(begin, min(math.floor((x + radius) / cell), wide - 1) + 1):
                off = row * cell - x
                half = math.sqrt(max(radius * radius - off * off, 0.0))
                _marked(taken, row, y - half, y + half, cell)
        a, b = (lines[k, 2] - lines[k, 0]) / 2, (lines[k, 3] - lines[k, 1]) / 2
        far = max(math.hypot(a, b), _THIN)
        u, w = -b / far * radius, a / far * radius
        if a < 0:
            a, b = -a, -b
        if u < 0:
            u, w = -u, -w
        a, u = max(a, _THIN), max(u, _THIN)
        x, reach = (lines[k, 0] + lines[k, 2]) / 2, a + u
        base = (lines[k, 1] + lines[k, 3]) / 2 - (b + w)
        # Of its two kinds of sides the steeper comes first above, and last below.
        along, aside = b / a, w / u
        there, here = (aside - along) * (2 * u), (along - aside) * (2 * a)
        above, below = base + max(there, 0.0), base + min(there, 0.0)
        over, under = base + max(here, 0.0), base + min(here, 0.0)
        begin = min(max(math.ceil((x - reach) / cell), 0), wide)
        for row in range(begin, min(math.floor((x + reach) / cell), wide - 1) + 1):
            spent = row * cell - (x - reach)
            one, two = along * spent, aside * spent
            _marked(taken, row, max(one + below, two + under), min(one + above, two + over), cell)
    free = np.empty((wide, deep), np.bool_)
    for row in range(wide):
        count = 0
        for column in range(deep):
            count += taken[row, column]
            free[row, column] = count == 0
    return free


disc: Callable[..., Any] = njit(cache=True, nogil=True, error_model="numpy")(_disc)


def _drawn(lines: Any, k: int, fine: float, pad: int) -> Any:  # pragma: no cover - compiled
    """Where a line begins on a finer grid with a border, how it goes on, and in how many points."""
    x, y = lines[k, 0] / fine + pad, lines[k, 1] / fine + pad
    u, w = lines[k, 2] / fine + pad - x, lines[k, 3] / fine + pad - y
    return x, y, u, w, math.ceil(max(abs(u), abs(w)) * 1.5) + 1


_drawn_at: Any = njit(inline="always", error_model="numpy")(_drawn)


def _cleared(
    lines: Any, fine: float, pad: int, wide: int, deep: int
) -> Any:  # pragma: no cover - compiled
    """(wide, deep) the places of a finer grid with a border that no line goes over."""
    clear = np.ones((wide, deep), np.bool_)
    for k in range(len(lines)):
        x, y, u, w, count = _drawn_at(lines, k, fine, pad)
        for n in range(count):
            share = n / max(count - 1, 1)
            i, j = int(np.rint(x + share * u)), int(np.rint(y + share * w))
            if 0 <= i < wide and 0 <= j < deep:
                clear[i, j] = False
    return clear


cleared: Callable[..., Any] = njit(cache=True, nogil=True, error_model="numpy")(_cleared)


def _beside(lines: Any, fine: float, pad: int, seen: Any) -> Any:  # pragma: no cover - compiled
    """(n,) which lines go over a place of such a grid that is beside one that is seen."""
    wide, deep = seen.shape
    found = np.zeros(len(lines), np.bool_)
    for k in range(len(lines)):
        x, y, u, w, count = _drawn_at(lines, k, fine, pad)
        for n in range(count):
            share = n / max(count - 1, 1)
            i, j = int(np.rint(x + share * u)), int(np.rint(y + share * w))
            if not (0 <= i < wide and 0 <= j < deep):
                continue
            for p in range(max(i - 1, 0), min(i + 2, wide)):
                for q in range(max(j - 1, 0), min(j + 2, deep)):
                    found[k] |= seen[p, q]
            if found[k]:
                break
    return found


beside: Callable[..., Any] = njit(cache=True, nogil=True, error_model="numpy")(_beside)
