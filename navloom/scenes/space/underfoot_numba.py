"""Which places are near which, as numba compiles it; imported where numba is installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit


def _near(cell: Any, height: Any, those: Any, first: Any) -> Any:  # pragma: no cover - compiled
    """What :meth:`navloom.scenes.space.underfoot._Places.near` does.

    Args:
        cell: (n,) where each looks, -1 for nowhere.
        height: (n,) of each.
        those: (m,) among which, by cell and from above down.
        first: (cells + 1,) the first of these in each cell, or more.
    """
    best, off = np.full(len(cell), -1), np.full(len(cell), np.inf)
    for k in range(len(cell)):
        if cell[k] < 0:
            continue
        for n in range(first[cell[k]], first[cell[k] + 1]):
            away = abs(height[those[n]] - height[k])
            if away < off[k]:
                best[k], off[k] = those[n], away
    return best, off


near: Callable[..., Any] = njit(cache=True, nogil=True, error_model="numpy")(_near)
