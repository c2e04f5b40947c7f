"""What is under a body and beside a place, as numba compiles it; imported where numba is installed.

The same is in :mod:`navloom_worlds.motion.underfoot`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit


def _near(cell: Any, height: Any, those: Any, first: Any) -> Any:  # pragma: no cover - compiled
    """What :meth:`navloom_worlds.motion.underfoot._Places.near` does.

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

_EPS = 1e-3


def _lifted(
    round_: bool,
    ahead: float,
    aside: float,
    steps: Any,
    x: float,
    z: float,
    ux: float,
    uz: float,
    y: float,
    step: float,
    stair: float,
) -> Any:  # pragma: no cover - compiled
    """How high a body stands among steps (4, n), and whether on stairs."""
    under, on_stairs = np.zeros(steps.shape[1], np.bool_), False
    for k in range(steps.shape[1]):
        dx, dz = steps[0, k] - x, steps[1, k] - z
        if round_:
            under[k] = dx * dx + dz * dz <= ahead * ahead
        else:
            under[k] = abs(dx * ux + dz * uz) <= ahead and abs(dz * ux - dx * uz) <= aside
        on_stairs |= under[k] and steps[3, k] > 0 and steps[2, k] <= y + stair + _EPS
    climb = stair if on_stairs else step
    while True:
        # From each height to the next above it, if that is not too high.
        next_ = np.inf
        for k in range(steps.shape[1]):
            if under[k] and steps[2, k] > y and steps[2, k] < next_:
                next_ = steps[2, k]
        if not next_ <= y + climb + _EPS:
            return y, on_stairs
        y = next_


lifted: Callable[..., Any] = njit(cache=True, nogil=True, error_model="numpy")(_lifted)
