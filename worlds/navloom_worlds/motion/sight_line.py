"""Straight ways over the places of a field: along every cell that a line crosses.

Plain code over numbers alone, so that numba can compile it as it stands
(:mod:`navloom_worlds.motion.marching_numba`).
"""

from __future__ import annotations

import math
from typing import Any

_SAME = 1e-9


def sight_line(
    start: int,
    x: float,
    z: float,
    end: int,
    u: float,
    w: float,
    along: Any,
    across: Any,
    lift: Any,
    ways: Any,
) -> float:
    """How long the straight way over places is; -1 where something is between.

    Args:
        start: the place that it begins on.
        x: where on it, in cells from the first cell's middle.
        z: the same.
        end: the place that it ends on.
        u: where on it.
        w: the same.
        along: (n,) int32, the column of each place.
        across: (n,) int32, its row.
        lift: (n,) float64, the height of each place in cells, steps made a slope.
        ways: (n + 1, 4) uint32, the place one comes to by going +x, +z, -x, -z; n for none. Beyond
            n, none as well. Unsigned: compiled code need not ask whether an index is negative.

    Returns:
        Its length in cells, slopes counted.
    """
    dx, dz = u - x, w - z
    flat = math.sqrt(dx * dx + dz * dz)
    i, j = along[start], across[start]
    right, down = dx > 0, dz > 0
    left_x, left_z = abs(along[end] - i), abs(across[end] - j)
    # Shares of the way at which it comes to the next column, and to the next row.
    next_x = ((i + 0.5 if right else i - 0.5) - x) / dx if left_x else 2.0
    next_z = ((j + 0.5 if down else j - 0.5) - z) / dz if left_z else 2.0
    step_x = 1.0 / abs(dx) if left_x else 0.0
    step_z = 1.0 / abs(dz) if left_z else 0.0
    side_x, side_z = 0 if right else 2, 1 if down else 3
    at, entered, middle, more = start, 0.0, 0.0, 0.0
    none, low = len(ways) - 1, lift[start]
    while left_x + left_z > 0:
        if left_x and left_z and abs(next_x - next_z) < _SAME:
            there = ways[ways[at, side_x], side_z]
            if there == none:
                there = ways[ways[at, side_z], side_x]
            entered = next_x
            next_x, next_z = next_x + step_x, next_z + step_z
            left_x, left_z = left_x - 1, left_z - 1
        elif left_x and (next_x < next_z or not left_z):
            there = ways[at, side_x]
            entered, next_x, left_x = next_x, next_x + step_x, left_x - 1
        else:
            there = ways[at, side_z]
            entered, next_z, left_z = next_z, next_z + step_z, left_z - 1
        if there == none:
            return -1.0
        leaves = min(next_x if left_x else 1.0, next_z if left_z else 1.0)
        here, high = (entered + leaves) / 2, lift[there]
        if high != low:
            run, rise = (here - middle) * flat, high - low
            more += math.sqrt(run * run + rise * rise) - run
            low = high
        middle, at = here, there
    return flat + more if at == end else -1.0
