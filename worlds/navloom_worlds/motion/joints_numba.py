"""Which stretches of rails are joined, as numba compiles it; imported where numba is installed.

The arithmetic is that of :mod:`navloom_worlds.motion.rails`, in its order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

_FAR, _STAIR = 4096.0, 0.01
"""As numpy's way has them."""


def _held(
    row: int, along: float, start: Any, low: Any, high: Any
) -> int:  # pragma: no cover - compiled
    """The stretch of a heading that holds a place on a row, -1 for none; start: of each row."""
    if row < 0 or row >= len(start) - 1:
        return -1
    first, past, key = start[row], start[row + 1], row * _FAR + along
    while first < past:
        middle = (first + past) // 2
        if row * _FAR + low[middle] <= key:
            first = middle + 1
        else:
            past = middle
    return int(first - 1) if first > start[row] and along <= high[first - 1] else -1


_holding: Any = njit(inline="always", error_model="numpy")(_held)


def _starts(first: Any, row: Any, rows: int) -> Any:  # pragma: no cover - compiled
    """(headings, rows + 1) the first stretch of each row of each heading."""
    starts = np.empty((len(first) - 1, rows + 1), np.int64)
    for k in range(len(starts)):
        n = first[k]
        for i in range(rows + 1):
            while n < first[k + 1] and row[n] < i:
                n += 1
            starts[k, i] = n
    return starts


_starts_of: Any = njit(cache=True, nogil=True, error_model="numpy")(_starts)


def _joints(
    first: Any,
    row: Any,
    low: Any,
    high: Any,
    turning: Any,
    where: Any,
    begins: Any,
    ends: Any,
    half: int,
    apart: float,
    turn: float,
    loosely: bool,
) -> Any:  # pragma: no cover - compiled
    """Pairs of stretches that a box gets between, some of them several times.

    Args:
        first: (headings + 1,) the first stretch of each heading.
        row: (n,) the row of each; low and high likewise.
        low: from where it is free.
        high: to where.
        turning: (headings + 1,) the first of the stretches of each where the box may turn.
        where: (m,) the row of each of these; begins and ends likewise.
        begins: from where it may turn.
        ends: to where.
        half: the row in the middle.
        apart: metres between rows.
        turn: radians between headings.
        loosely: as :class:`navloom_worlds.motion.rails.Rails` takes it.

    Returns:
        One stretch, the other, and from where to where on the first.
    """
    headings, cos, sin = len(first) - 1, math.cos(turn), math.sin(turn)
    starts = _starts_of(first, row, 2 * half + 1)
    turns = _starts_of(turning, where, 2 * half + 1)
    one, other, from_, to = (
        np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0), np.empty(0),
    )  # fmt: skip
    for again in range(2):
        n = 0
        for k in range(headings):
            next_ = (k + 1) % headings
            for t in range(turning[k], turning[k + 1]):
                aside = (where[t] - half) * apart
                low_, high_ = (
                    (aside * cos + begins[t] * sin) / apart, (aside * cos + ends[t] * sin) / apart
                )  # fmt: skip
                i = math.floor(low_) if loosely else math.ceil(low_)
                j = math.ceil(high_) if loosely else math.floor(high_)
                for cross in range(i, j + 1):
                    along = (cross * apart - aside * cos) / sin
                    along = min(max(along, begins[t]), ends[t])
                    there, line = along * cos - aside * sin, cross
                    if not next_:
                        there, line = -there, -cross
                    a = _holding(where[t], along, starts[k], low, high)
                    if a < 0:
                        continue
                    b = _holding(line + half, there, starts[next_], low, high)
                    if b < 0:
                        continue
                    if again:
                        one[n], other[n], from_[n], to[n] = a, b, along, along
                    n += 1
            for t in range(turning[k], turning[k + 1]):
                if where[t] == 2 * half:
                    continue
                for s in range(turns[k, where[t] + 1], turns[k, where[t] + 2]):
                    low_, high_ = max(begins[t], begins[s]), min(ends[t], ends[s])
                    if not high_ - low_ > _STAIR:
                        continue
                    middle = (low_ + high_) / 2
                    a = _holding(where[t], middle, starts[k], low, high)
                    b = _holding(where[s], middle, starts[k], low, high)
                    if a < 0 or b < 0:
                        continue
                    if again:
                        one[n], other[n], from_[n], to[n] = a, b, low_, high_
                    n += 1
        if not again:
            one, other = np.empty(n, np.int64), np.empty(n, np.int64)
            from_, to = np.empty(n), np.empty(n)
    return one, other, from_, to


joints: Callable[..., Any] = njit(cache=True, nogil=True, error_model="numpy")(_joints)
