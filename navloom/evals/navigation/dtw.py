"""Dynamic time warping of many pairs of paths at once (Magalhaes et al. 2019, section 3).

The table of sums is walked a position of the paths at a time; only its last row is held, for all
pairs side by side, so that no loop runs over pairs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["first_row", "next_row", "warp"]

Floats = NDArray[np.float64]


def first_row(cost: Floats) -> Floats:
    """The sums at the first position of the paths, (R, B), from its costs, (R, B)."""
    return np.cumsum(cost, axis=0)


def next_row(row: Floats, cost: Floats) -> None:
    """Turn the sums at one position of the paths into those at the next.

    Args:
        row: (R, B), changed in place: the least sum up to each position of the references.
        cost: (R, B) costs at the next position of the paths.
    """
    straight = np.minimum(row[1:], row[:-1])
    row[0] += cost[0]
    for r in range(1, len(row)):
        np.minimum(straight[r - 1], row[r - 1], out=row[r])
        row[r] += cost[r]


def warp(cost: Floats) -> float:
    """The least cost of walking along a path and its reference side by side.

    A step goes forward on either or on both; each pair of positions that is passed costs once.

    Args:
        cost: (P, R) cost of each position of the path beside each of the reference.
    """
    row = first_row(cost[0][:, None])
    for step in cost[1:]:
        next_row(row, step[:, None])
    return float(row[-1, 0])
