"""Stretches of rails as numba compiles them; imported where numba is installed.

What thousands of lines take from a rail overlaps many times over. So each stretch is put, as it is
found, with those that begin in the same cell of its rail and go beyond it, and is kept nowhere. The
arithmetic is that of numpy's way, in its order, so that what is left free is the same to the bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit


def _covered(
    middles: Any, halves: Any, only: Any, cell: float, first: float, many: int, cells: float
) -> Any:  # pragma: no cover - compiled
    """What sums of segments around points cover of rows of a grid.

    Args:
        middles: (n, 2) the points, along the grid's axes.
        halves: (m, n, 2) half of each segment; m is 2 or 3.
        only: (rows,) which rows matter.
        cell: metres between rows.
        first: where on a row cells begin, metres; nothing begins before.
        many: cells of a row.
        cells: of a metre of a row.

    Returns:
        Rows, and from where to where on each: few stretches, some of which overlap.
    """
    sides, rows = halves.shape[0], len(only)
    three = sides == 3
    low, high = np.full((rows, many), np.inf), np.full((rows, many), -np.inf)
    short_row = np.empty(1024, np.int64)
    short_low, short_high = np.empty(1024), np.empty(1024)
    shorts = 0
    over, up, rise = np.empty(3), np.empty(3), np.empty(3)
    above, below = np.empty(3), np.empty(3)
    for k in range(len(middles)):
        wide = tall = 0.0
        for s in range(sides):
            a, b = halves[s, k, 0], halves[s, k, 1]
            if a < 0:
                a, b = -a, -b
            over[s], up[s] = max(a, 1e-9), b
            rise[s] = up[s] / over[s]
            wide += over[s]
            tall += up[s]
        x = middles[k, 0]
        begin = int(min(max(math.ceil((x - wide) / cell), 0.0), float(rows)))
        end = int(min(max(math.floor((x + wide) / cell), -1.0), float(rows - 1)))
        base, left = middles[k, 1] - tall, x - wide
        for s in range(sides):
            most = least = 0.0
            for t in range(sides):
                steeper = (rise[t] - rise[s]) * (2 * over[t])
                most += max(steeper, 0.0)
                least += min(steeper, 0.0)
            above[s], below[s] = base + most, base + least
        for row in range(begin, end + 1):
            if not only[row]:
                continue
            spent = row * cell - left
            upper, lower = rise[0] * spent + above[0], rise[0] * spent + below[0]
            along = rise[1] * spent
            upper, lower = min(upper, along + above[1]), max(lower, along + below[1])
            if three:
                along = rise[2] * spent
                upper, lower = min(upper, along + above[2]), max(lower, along + below[2])
            if upper < lower:
                continue
            i = min(max(int((lower - first) * cells), 0), many - 1)
            if (upper - first) * cells >= i + 1:
                low[row, i] = min(low[row, i], lower)
                high[row, i] = max(high[row, i], upper)
                continue
            if shorts == len(short_row):
                short_row = np.append(short_row, np.empty_like(short_row))
                short_low = np.append(short_low, np.empty_like(short_low))
                short_high = np.append(short_high, np.empty_like(short_high))
            short_row[shorts], short_low[shorts], short_high[shorts] = row, lower, upper
            shorts += 1
    # Those of one row, in order already, are merged in place: what is left stands in front.
    held = np.zeros(rows + 1, np.int64)
    for row in range(rows):
        n = 0
        for i in range(many):
            if low[row, i] == np.inf:
                continue
            if n and low[row, i] <= high[row, n - 1]:
                high[row, n - 1] = max(high[row, n - 1], high[row, i])
            else:
                low[row, n], high[row, n] = low[row, i], high[row, i]
                n += 1
        held[row + 1] = held[row] + n
    count = 0
    for k in range(shorts):
        row, inside = short_row[k], False
        for i in range(held[row + 1] - held[row]):
            inside |= low[row, i] <= short_low[k] and short_high[k] <= high[row, i]
        if not inside:
            short_row[count] = row
            short_low[count], short_high[count] = short_low[k], short_high[k]
            count += 1
    row_of = np.empty(held[rows] + count, np.int64)
    begins, ends = np.empty(len(row_of)), np.empty(len(row_of))
    for row in range(rows):
        for i in range(held[row + 1] - held[row]):
            at = held[row] + i
            row_of[at], begins[at], ends[at] = row, low[row, i], high[row, i]
    row_of[held[rows] :] = short_row[:count]
    begins[held[rows] :], ends[held[rows] :] = short_low[:count], short_high[:count]
    return row_of, begins, ends


covered: Callable[..., Any] = njit(cache=True, nogil=True, error_model="numpy")(_covered)
