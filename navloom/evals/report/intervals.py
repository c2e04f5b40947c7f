"""Shares and means of what a run counted, each with its 95 % interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Interval = tuple[float, float]
Floats = NDArray[np.float64]
RESAMPLES = 2_000


def wilson(hits: int, of: int) -> Interval | None:
    """Wilson's 95 % interval of a share; None where nothing was tried."""
    from scipy.stats import binomtest

    if of == 0:
        return None
    ends = binomtest(hits, of).proportion_ci(method="wilson")
    return float(ends.low), float(ends.high)


def bootstrap_mean(values: Sequence[float]) -> Interval | None:
    """A mean's 95 % percentile interval, resampled with a fixed seed; None below two values."""
    from scipy.stats import bootstrap

    if len(values) < 2:
        return None
    if len(set(values)) == 1:
        return float(values[0]), float(values[0])
    found = bootstrap(
        (np.asarray(values, dtype=np.float64),),
        np.mean,
        n_resamples=RESAMPLES,
        method="percentile",
        rng=np.random.default_rng(0),
    )
    return float(found.confidence_interval.low), float(found.confidence_interval.high)


def resampled(clusters: Floats, resamples: int, seed: int) -> Floats:
    """Sums of as many clusters as there are, drawn with replacement; none where there is none.

    What is drawn hangs together: the bodies of a question, the items of a scene.

    Args:
        clusters: (C, ...) counts or sums of each cluster.
        resamples: how many draws.
        seed: of the draws.

    Returns:
        (resamples, ...), or the clusters themselves where there are none.
    """
    many = len(clusters)
    if not many:
        return clusters
    times = np.random.default_rng(seed).multinomial(many, np.full(many, 1 / many), resamples)
    result: Floats = np.tensordot(times.astype(np.float64), clusters, axes=1)
    return result


def percentiles(draws: Floats) -> Interval:
    """The ends between which 95 % of the draws lie."""
    low, high = np.percentile(draws, [2.5, 97.5])
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
