"""How many to take from where: fair shares in whole numbers.

``proportional`` rounds a table of shares so that every cell, every row, every column and the total
are each the number just below or just above their exact share (controlled rounding; such a table
always exists, since the constraints are those of a flow). ``balanced`` gives groups equal numbers,
as far as each has as many.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

_NEARLY = 1e-9


def balanced(n: int, sizes: Sequence[int]) -> list[int]:
    """Shares that are equal, but for groups that have fewer, which give all they have.

    Args:
        n: how many to take; at most ``sum(sizes)`` are.
        sizes: how many each group has.

    Returns:
        A share a group; two groups that are not emptied differ by 1 at most, earlier ones first.

    >>> balanced(10, [2, 9, 9])
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


def proportional(n: int, sizes: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Shares of a table that are proportional to its cells.

    Args:
        n: how many to take, at most ``sizes.sum()``.
        sizes: (rows, columns) how many each cell has.
        rng: decides between shares that are equally near.

    Returns:
        (rows, columns) whole shares, none above its cell; cells, rows and columns are each within 1
        of their exact share, and the total is n. Among such tables one is taken that favours cells
        with the larger remainder.
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
