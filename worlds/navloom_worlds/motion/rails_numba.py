"""Stretches of rails as numba compiles them; imported where numba is installed.

This is what :func:`navloom_worlds.motion.rails.in_numpy` does, without keeping what
lines take from a rail, which overlaps many times over. The arithmetic is that of numpy's way, in
its order, so that what is left free is the same to the bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

_FAR, _SHORT, _THIN = 4096.0, 1e-4, 1e-9
"""As numpy's way has them."""
_BLOCK, _CELLS = 8, 20.0
"""Rails that are looked at together, and cells of a metre of them, for what is free at all."""


def _inside(lines: Any, at: Any) -> Any:  # pragma: no cover - compiled
    """Lines (n, 4) along a grid's axes; at is x and z of its first place, and its first axis."""
    own = np.empty((len(lines), 4))
    for k in range(len(lines)):
        for end in range(0, 4, 2):
            x, z = lines[k, end] - at[0], lines[k, end + 1] - at[1]
            own[k, end], own[k, end + 1] = x * at[2] + z * at[3], x * -at[3] + z * at[2]
    return own


_own: Any = njit(cache=True, nogil=True, error_model="numpy")(_inside)


def _floor(own: Any, rows: int, cell: float) -> Any:  # pragma: no cover - compiled
    """Where rows meet the edges of a floor: the first of each row, and where they are, in order."""
    first = np.zeros(rows + 2, np.int64)
    begins, met = first, np.empty(0)
    for again in range(2):
        for k in range(len(own)):
            begin, end = own[k, 0], own[k, 2]
            low = max(math.floor(min(begin, end) / cell), 0)
            high = min(math.ceil(max(begin, end) / cell) + 1, rows)
            for row in range(low, high):
                x = row * cell
                if (begin <= x) == (end <= x):
                    continue
                if not again:
                    first[row + 2] += 1
                    continue
                along = own[k, 1] + (x - begin) / (end - begin) * (own[k, 3] - own[k, 1])
                along, i = (row * _FAR + along) - row * _FAR, first[row + 1]
                first[row + 1] += 1
                while i > begins[row] and met[i - 1] > along:
                    met[i] = met[i - 1]
                    i -= 1
                met[i] = along
        if not again:
            first = np.cumsum(first)
            begins, met = first[1:].copy(), np.empty(first[rows + 1])
    return first, met


_floor_of: Any = njit(cache=True, nogil=True, error_model="numpy")(_floor)


def _straight(
    own: Any, first: Any, met: Any, ahead: float, aside: float, rows: int, cell: float
) -> Any:  # pragma: no cover - compiled
    """What of each row is free to a box that looks along it.

    A stretch is taken from ahead before a line to ahead behind it: those that begin in one cell of
    that length overlap, and are put together as they come.

    Returns:
        Rows, and from where to where on each, in order.
    """
    base, most = math.inf, -math.inf
    for k in range(len(own)):
        base = min(base, min(own[k, 1], own[k, 3]))
        most = max(most, max(own[k, 1], own[k, 3]))
    base -= ahead
    many = int((most - ahead - base) / ahead) + 2 if len(own) else 1
    low, high = np.full((many, rows), np.inf), np.full((many, rows), -np.inf)
    for k in range(len(own)):
        x0, y0, x1, y1 = own[k, 0], own[k, 1], own[k, 2], own[k, 3]
        if x0 > x1:
            x0, y0, x1, y1 = x1, y1, x0, y0
        rise = (y1 - y0) / max(x1 - x0, _THIN)
        least, greatest = min(y0, y1), max(y0, y1)
        begin = max(math.ceil((x0 - aside) / cell) - 1, 0)
        end = min(math.floor((x1 + aside) / cell) + 2, rows)
        # Between the rows that its ends are to the sides of, all of it is before the box.
        whole = max(math.ceil((x1 - aside) / cell) + 1, begin)
        past = max(min(math.floor((x0 + aside) / cell), end), whole)
        i = int((least - ahead - base) / ahead)
        bottom, top = least - ahead, greatest + ahead
        lows, highs = low[i, whole:past], high[i, whole:past]
        for row in range(len(lows)):
            lows[row] = bottom if bottom < lows[row] else lows[row]
            highs[row] = top if top > highs[row] else highs[row]
        row = begin
        while row < end:
            if row == whole and past > whole:
                row = past
                continue
            left, right = row * cell - aside, row * cell + aside
            if x0 <= right and x1 >= left:
                one = y0 if x0 >= left else min(max(y0 + (left - x0) * rise, least), greatest)
                two = y1 if x1 <= right else min(max(y0 + (right - x0) * rise, least), greatest)
                bottom, top = min(one, two) - ahead, max(one, two) + ahead
                i = int((bottom - base) / ahead)
                low[i, row] = min(low[i, row], bottom)
                high[i, row] = max(high[i, row], top)
            row += 1
    size, count = (many + 1) * len(met), 0
    free_row, free_low, free_high = np.empty(size, np.int64), np.empty(size), np.empty(size)
    for row in range(rows):
        far = row * _FAR
        for k in range(first[row], first[row + 1] - 1, 2):
            here, last = met[k], met[k + 1]
            if last - here <= _SHORT:
                continue
            for i in range(many + 1):
                there = (far + low[i, row]) - far if i < many else last
                if there == np.inf:
                    continue
                there = min(there, last)
                if there - here > _SHORT:
                    free_row[count], free_low[count], free_high[count] = row, here, there
                    count += 1
                if i < many:
                    here = max(here, (far + high[i, row]) - far)
                if here >= last:
                    break
    return free_row[:count].copy(), free_low[:count].copy(), free_high[:count].copy()


_straight_on: Any = njit(cache=True, nogil=True, error_model="numpy")(_straight)


def _looked(
    start: Any, low: Any, high: Any, first: float, many: int
) -> Any:  # pragma: no cover - compiled
    """(blocks of rows, cells + 1) how many cells before each hold something free."""
    rows = len(start) - 1
    held = np.zeros(((rows + _BLOCK - 1) // _BLOCK, many + 2), np.int32)
    for row in range(rows):
        for p in range(start[row], start[row + 1]):
            if low[p] < high[p]:
                held[row // _BLOCK, int((low[p] - first) * _CELLS) + 1] += 1
                held[row // _BLOCK, int((high[p] - first) * _CELLS) + 2] -= 1
    for block in held:
        open_ = before = 0
        for i in range(1, many + 2):
            open_ += block[i]
            before += open_ > 0
            block[i] = before
    return held


_free_in: Any = njit(cache=True, nogil=True, error_model="numpy")(_looked)


def _cut(
    own: Any, shifts: Any, others: Any, cell: float, start: Any, low: Any, high: Any, spared: Any
) -> Any:  # pragma: no cover - compiled
    """Take sums of lines and segments from stretches: ends at once; what is amid one is told.

    Args:
        own: (n, 4) lines along the grid's axes.
        shifts: (m, 2) twice how far each sum is shifted back.
        others: (m, 1 or 2, 2) half of the segments that each line is added up with.
        cell: metres between rows.
        start: (rows + 1,) the first stretch of each row.
        low: (n,) from where each stretch is free; high likewise to where. Both are changed.
        high: see low.
        spared: (n, 3) what was told before.

    Returns:
        ``spared`` and more: rows, and from where to where on each.
    """
    rows, sides, count = len(start) - 1, others.shape[1] + 1, len(spared)
    first, last = low.min(), high.max()
    many = int(max(last - first, 0.0) * _CELLS) + 1
    held, blocks = _free_in(start, low, high, first, many), 1 / (cell * _BLOCK)
    over, up, rise = np.empty(3), np.empty(3), np.empty(3)
    above, below = np.empty(3), np.empty(3)
    for m in range(len(shifts)):
        for s in range(1, sides):
            a, b = others[m, s - 1, 0], others[m, s - 1, 1]
            if a < 0:
                a, b = -a, -b
            over[s], up[s] = max(a, _THIN), b
            rise[s] = up[s] / over[s]
        for k in range(len(own)):
            a, b = (own[k, 2] - own[k, 0]) / 2, (own[k, 3] - own[k, 1]) / 2
            if a < 0:
                a, b = -a, -b
            over[0], up[0] = max(a, _THIN), b
            wide, tall, room = 0.0, 0.0, 1e-6
            for s in range(sides):
                wide += over[s]
                tall += up[s]
                room += abs(up[s])
            x = (own[k, 0] + own[k, 2] - shifts[m, 0]) / 2
            y = (own[k, 1] + own[k, 3] - shifts[m, 1]) / 2
            i = int(min(max((y - room - first) * _CELLS, 0.0), float(many)))
            j = int(min(max((y + room - first) * _CELLS + 1, 0.0), float(many))) + 1
            begin = end = -1
            low_block = int(max((x - wide) * blocks - 1e-6, 0.0))
            past_block = min(int(max((x + wide) * blocks + 1e-6, -1.0) + 1), len(held))
            for block in range(low_block, past_block):
                if held[block, j] == held[block, i]:
                    continue
                if begin < 0:
                    begin = int(min(max(math.ceil((x - wide) / cell), 0.0), float(rows)))
                    end = int(min(max(math.floor((x + wide) / cell), -1.0), float(rows - 1))) + 1
                    rise[0] = up[0] / over[0]
                    base, left = y - tall, x - wide
                    for s in range(sides):
                        most = least = 0.0
                        for t in range(sides):
                            steeper = (rise[t] - rise[s]) * (2 * over[t])
                            most += max(steeper, 0.0)
                            least += min(steeper, 0.0)
                        above[s], below[s] = base + most, base + least
                for row in range(max(begin, block * _BLOCK), min(end, (block + 1) * _BLOCK)):
                    spent, far = row * cell - left, row * _FAR
                    upper, lower = math.inf, -math.inf
                    for s in range(sides):
                        along = rise[s] * spent
                        upper, lower = min(upper, along + above[s]), max(lower, along + below[s])
                    if upper < lower:
                        continue
                    upper, lower = (far + upper) - far, (far + lower) - far
                    for p in range(start[row], start[row + 1]):
                        if lower >= high[p] or upper <= low[p]:
                            continue
                        if lower <= low[p]:
                            low[p] = upper
                        elif upper >= high[p]:
                            high[p] = lower
                        else:
                            if count == len(spared):
                                more = np.empty((2 * count + 256, 3))
                                more[:count] = spared
                                spared = more
                            note = spared[count]
                            note[0], note[1], note[2] = row, lower, upper
                            count += 1
    return spared[:count]


_cut_from: Any = njit(cache=True, nogil=True, error_model="numpy")(_cut)


def _left(start: Any, low: Any, high: Any, spared: Any) -> Any:  # pragma: no cover - compiled
    """Stretches less what is amid them: rows, and from where to where on each, in order."""
    rows = len(start) - 1
    first, held = np.zeros(rows + 1, np.int64), np.zeros(rows, np.int64)
    for k in range(len(spared)):
        first[int(spared[k, 0]) + 1] += 1
    first = np.cumsum(first)
    begins, ends = np.empty(len(spared)), np.empty(len(spared))
    for k in range(len(spared)):
        row = int(spared[k, 0])
        i = first[row] + held[row]
        held[row] += 1
        while i > first[row] and begins[i - 1] > spared[k, 1]:
            begins[i], ends[i] = begins[i - 1], ends[i - 1]
            i -= 1
        begins[i], ends[i] = spared[k, 1], spared[k, 2]
    size = len(low) + len(spared)
    left_row, left_low, left_high = np.empty(size, np.int64), np.empty(size), np.empty(size)
    count = 0
    for row in range(rows):
        for p in range(start[row], start[row + 1]):
            here = low[p]
            for i in range(first[row], first[row + 1] + 1):
                there = min(begins[i], high[p]) if i < first[row + 1] else high[p]
                if there - here > _SHORT:
                    left_row[count], left_low[count], left_high[count] = row, here, there
                    count += 1
                if i < first[row + 1]:
                    here = max(here, ends[i])
    return left_row[:count], left_low[:count], left_high[:count]


_left_of: Any = njit(cache=True, nogil=True, error_model="numpy")(_left)


def _compiled(
    lines: Any,
    edges: Any,
    at: Any,
    rows: int,
    cell: float,
    half: Any,
    turned: Any,
    chords: Any,
    swing: Any,
    turns: bool,
) -> Any:  # pragma: no cover - compiled
    """The same as :func:`navloom_worlds.motion.rails.in_numpy`, as numbers.

    Args:
        lines: (n, 4) that the box may not meet.
        edges: (n, 4) of the floor.
        at: x and z of the first place of the rails' grid, and its first axis.
        rows: how many rails.
        cell: metres between them.
        half: half the box's length and width.
        turned: (1, 2, 2) the same as segments when it is turned to the next heading.
        chords: (4, 1, 2) half of what its corners swing along.
        swing: (4, 2) twice where the middles of those are.
        turns: whether it turns.

    Returns:
        Free stretches, and those where it may turn.
    """
    own = _own(lines, at)
    first, met = _floor_of(_own(edges, at), rows, cell)
    row, low, high = _straight_on(own, first, met, half[0], half[1], rows, cell)
    if not turns or not len(row):
        return row, low, high, row[:0], low[:0], high[:0]
    start = np.searchsorted(row, np.arange(rows + 1))
    begins, ends = low.copy(), high.copy()
    spared = _cut_from(own, np.zeros((1, 2)), turned, cell, start, begins, ends, np.empty((0, 3)))
    spared = _cut_from(own, swing, chords, cell, start, begins, ends, spared)
    return row, low, high, *_left_of(start, begins, ends, spared)


compiled: Callable[..., Any] = njit(cache=True, nogil=True, error_model="numpy")(_compiled)
