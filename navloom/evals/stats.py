"""Shares and means of what a run counted, each with its 95 % interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Interval", "Rate", "Spread", "bootstrap_mean", "wilson"]

Interval = tuple[float, float]
_Z95 = 1.959963984540054
_RESAMPLES = 2000


def wilson(hits: int, of: int) -> Interval | None:
    """Wilson's 95 % interval of a share; None where nothing was tried."""
    if of == 0:
        return None
    share, z2 = hits / of, _Z95 * _Z95
    middle = (share + z2 / (2 * of)) / (1 + z2 / of)
    half = _Z95 / (1 + z2 / of) * math.sqrt(share * (1 - share) / of + z2 / (4 * of * of))
    # At the ends the two terms cancel but for their last bits.
    return min(share, max(0.0, middle - half)), max(share, min(1.0, middle + half))


def bootstrap_mean(values: Sequence[float]) -> Interval | None:
    """A mean's 95 % percentile interval, resampled with a fixed seed; None below two values."""
    if len(values) < 2:
        return None
    given = np.asarray(values, dtype=np.float64)
    rng = np.random.default_rng(0)
    means = [given[rng.integers(0, len(given), len(given))].mean() for _ in range(_RESAMPLES)]
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


@dataclass(frozen=True)
class Rate:
    """A share of things that went well."""

    hits: int
    of: int

    @property
    def share(self) -> float | None:
        """``hits / of``; None where nothing was tried."""
        return self.hits / self.of if self.of else None

    @property
    def interval(self) -> Interval | None:
        """Wilson's 95 % interval."""
        return wilson(self.hits, self.of)


@dataclass(frozen=True)
class Spread:
    """How some numbers are spread; the numbers themselves are kept for pictures."""

    values: tuple[float, ...]

    def _of(self, function: Any) -> float | None:
        return float(function(self.values)) if self.values else None

    @property
    def mean(self) -> float | None:
        """Their mean."""
        return self._of(np.mean)

    @property
    def median(self) -> float | None:
        """Their median."""
        return self._of(np.median)

    @property
    def p90(self) -> float | None:
        """Nine in ten are no larger."""
        return self._of(lambda values: np.percentile(values, 90))

    @property
    def max(self) -> float | None:
        """The largest."""
        return self._of(np.max)

    @property
    def interval(self) -> Interval | None:
        """A 95 % bootstrap interval of the mean."""
        return bootstrap_mean(self.values)
