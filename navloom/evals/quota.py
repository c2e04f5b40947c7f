"""Integer quotas: equal or proportional shares of groups.

``proportional_shares`` rounds a table of shares so that every cell, row and column and the total
are their exact share rounded down or up (controlled rounding). Such a table always exists, since
the constraints are those of a flow. ``balanced`` gives groups equal numbers, up to their sizes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

_NEARLY = 1e-9


def equal_shares(n: int, sizes: Sequence[int]) -> list[int]:
    """Return equal shares, capped by the size of each group.

    Args:
        n: number to take, capped at ``sum(sizes)``.
        sizes: size of each group.

    Returns:
        A share for each group. Shares below their group's size differ by at most 1, larger first.

    >>> equal_shares(10, [2, 9, 9])
    [2, 4, 4]
    """
    shares = [0] * len(sizes)
    left = min(n, sum(sizes))
    while left:
        open_groups = [i for i, size in enumerate(sizes) if shares[i] < size]
        each = max(1, left // len(open_groups))
        for i in open_groups:
            more = min(each, sizes[i] - shares[i], left)
            shares[i] += more
            left -= more
    return shares


def proportional_shares(
    n: int, sizes: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return integer shares of a table that are proportional to its cells.

    Args:
        n: number to take, at most ``sizes.sum()``.
        sizes: (rows, columns) size of each cell.
        rng: breaks ties between shares.

    Returns:
        (rows, columns) integer shares, none above its cell. Cells, rows and columns are each within
        1 of their exact share, and the total is n. Cells with a larger remainder are preferred.
    """
    exact = sizes * (n / max(1, sizes.sum()))
    low = np.floor(exact + _NEARLY)
    rows, columns = sizes.shape
    held = [np.kron(np.eye(rows), np.ones(columns)), np.kron(np.ones(rows), np.eye(columns))]
    margins = np.vstack([*held, np.ones((1, rows * columns))])
    target = margins @ exact.ravel()
    remainder = (exact - low).ravel()
    found = milp(
        -(remainder + 1e-3 * rng.random(remainder.size)),
        integrality=np.ones(remainder.size),
        bounds=Bounds(low.ravel(), np.ceil(exact - _NEARLY).ravel()),
        constraints=LinearConstraint(
            margins, np.floor(target + _NEARLY), np.ceil(target - _NEARLY)
        ),
    )
    shares: NDArray[np.int64] = np.rint(np.asarray(found.x)).astype(np.int64)
    return shares.reshape(sizes.shape)
