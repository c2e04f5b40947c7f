"""Shares, means and cluster bootstraps with 95 % intervals.

Percentile bootstraps are seeded and vectorised. The three instructions of an R2R path share start,
goal and path, and an agent that fails on one tends to fail on all three. Drawn one by one, they
would count as independent trials and make intervals too narrow. So the bootstrap draws *clusters*
(all episodes of a path). With one episode in each cluster this is the ordinary bootstrap. scipy's
bootstrap serves single means: it supports neither clusters nor undefined values.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Interval = tuple[float, float]
Floats = NDArray[np.float64]
RESAMPLES = 2_000


def wilson_interval(hits: int, of: int) -> Interval | None:
    """Return Wilson's 95 % interval of a share; None without trials."""
    from scipy.stats import binomtest

    if of == 0:
        return None
    ends = binomtest(hits, of).proportion_ci(method="wilson")
    return float(ends.low), float(ends.high)


def bootstrap_mean(values: Sequence[float]) -> Interval | None:
    """Return the 95 % percentile interval of a mean, with a fixed seed; None below two values."""
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


def resample_sums(clusters: Floats, resamples: int, seed: int) -> Floats:
    """Return sums of clusters drawn with replacement, as many as there are.

    A cluster is a group of dependent values: the bodies of a question, the items of a scene.

    Args:
        clusters: (C, ...) counts or sums of each cluster.
        resamples: number of draws.
        seed: seed of the draws.

    Returns:
        (resamples, ...), or the empty input if there are no clusters.
    """
    many = len(clusters)
    if not many:
        return clusters
    times = np.random.default_rng(seed).multinomial(many, np.full(many, 1 / many), resamples)
    result: Floats = np.tensordot(times.astype(np.float64), clusters, axes=1)
    return result


def percentile_interval(draws: Floats) -> Interval:
    """Return the interval that holds the middle 95 % of the draws."""
    low, high = np.percentile(draws, [2.5, 97.5])
    return float(low), float(high)


@dataclass(frozen=True)
class Rate:
    """A share of successes."""

    hits: int
    of: int

    @classmethod
    def among(cls, flags: Iterable[Any]) -> Rate:
        """Make a rate from success flags."""
        told = [bool(flag) for flag in flags]
        return cls(sum(told), len(told))

    @property
    def share(self) -> float | None:
        """``hits / of``; None without trials."""
        return self.hits / self.of if self.of else None

    @property
    def interval(self) -> Interval | None:
        """Wilson's 95 % interval."""
        return wilson_interval(self.hits, self.of)


@dataclass(frozen=True)
class ValueDistribution:
    """Distribution of numbers; keeps the numbers for charts."""

    values: tuple[float, ...]

    @classmethod
    def of(cls, values: Iterable[Any]) -> ValueDistribution:
        """Make a distribution, skipping None."""
        return cls(tuple(float(value) for value in values if value is not None))

    def _of(self, function: Any) -> float | None:
        return float(function(self.values)) if self.values else None

    @property
    def mean(self) -> float | None:
        """The mean; None without values."""
        return self._of(np.mean)

    @property
    def median(self) -> float | None:
        """The median; None without values."""
        return self._of(np.median)

    @property
    def p90(self) -> float | None:
        """The 90th percentile; None without values."""
        return self._of(lambda values: np.percentile(values, 90))

    @property
    def max(self) -> float | None:
        """The maximum; None without values."""
        return self._of(np.max)

    @property
    def interval(self) -> Interval | None:
        """The 95 % bootstrap interval of the mean."""
        return bootstrap_mean(self.values)


LEVEL = 0.95
_MOST_CELLS = 4_000_000
"""Maximum number of draws in memory at once."""

By = Literal["path", "episode"]


@dataclass(frozen=True)
class MetricEstimate:
    """Mean of one metric over episodes, with its interval.

    Attributes:
        metric: its name.
        mean: mean over the episodes where it is defined; None without any.
        low: lower end of the interval; None with fewer than two clusters.
        high: upper end.
        n: number of episodes where it is defined.
    """

    metric: str
    mean: float | None
    low: float | None
    high: float | None
    n: int

    @property
    def interval(self) -> list[float] | None:
        """Both ends, or None."""
        return None if self.low is None or self.high is None else [self.low, self.high]

    def record(self) -> dict[str, Any]:
        """Return all fields as JSON."""
        return asdict(self)


def bootstrap_intervals(
    values: Floats,
    clusters: Sequence[Hashable] | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    weights: Floats | None = None,
) -> tuple[Floats, Floats, Floats]:
    """Return means of columns, and the ends of their percentile intervals.

    All columns use the same draws, so their estimates are comparable.

    Args:
        values: (N, M), NaN where undefined; means are over defined values.
        clusters: (N,) cluster of each row; default: each row is its own.
        resamples: number of bootstrap resamples.
        seed: seed of the draws.
        weights: (N, M) weight of each value, 0 or more; default: equal weights. The mean of rates
            weighted by their denominators is the ratio of totals.

    Returns:
        Means, low and high ends, each (M,); NaN where nothing is defined. Ends are also NaN with
        fewer than two clusters that have a value.
    """
    defined = ~np.isnan(values)
    heavy = defined if weights is None else np.where(defined, weights, 0.0)
    sums, counts = _by_cluster(np.where(defined, values, 0.0) * heavy, heavy, clusters)
    with np.errstate(invalid="ignore"):  # 0 / 0: nothing is defined
        means = sums.sum(axis=0) / counts.sum(axis=0)
        drawn = _resampled(sums, counts, resamples, seed)
    tail = (1 - LEVEL) / 2 * 100
    low, high = np.full(len(means), np.nan), np.full(len(means), np.nan)
    for column in np.flatnonzero((counts > 0).sum(axis=0) > 1):
        each = drawn[:, column]
        low[column], high[column] = np.percentile(each[~np.isnan(each)], [tail, 100 - tail])
    return means, low, high


def estimate_metrics(
    names: Sequence[str],
    table: Floats,
    clusters: Sequence[Hashable] | None,
    *,
    seed: int = 0,
    weights: Floats | None = None,
) -> list[MetricEstimate]:
    """Return a row for each column of a table (N, M); arguments as :func:`bootstrap_intervals`."""
    means, low, high = bootstrap_intervals(table, clusters, seed=seed, weights=weights)
    counts = (~np.isnan(table)).sum(axis=0)
    return [
        MetricEstimate(
            name, _or_none(means[k]), _or_none(low[k]), _or_none(high[k]), int(counts[k])
        )
        for k, name in enumerate(names)
    ]


def record_matrix(records: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Floats:
    """Return records as a table (N, M); NaN where a value is missing or not finite."""
    table = np.full((len(records), len(names)), np.nan)
    for n, record in enumerate(records):
        for m, name in enumerate(names):
            value = record.get(name)
            if isinstance(value, int | float) and math.isfinite(value):
                table[n, m] = value
    return table


def cluster_labels(records: Sequence[Mapping[str, Any]]) -> list[Hashable]:
    """Return the cluster of each record; a record without one is its own cluster."""
    return [str(r["cluster"]) if r.get("cluster") is not None else k for k, r in enumerate(records)]


def _by_cluster(
    values: Floats, heavy: NDArray[Any], clusters: Sequence[Hashable] | None
) -> tuple[Floats, Floats]:
    """Return sums and counts (or weights) of each cluster, (C, M)."""
    if clusters is None:
        return values, heavy.astype(np.float64)
    numbers: dict[Hashable, int] = {}
    of = np.array([numbers.setdefault(name, len(numbers)) for name in clusters], np.int64)
    sums, counts = np.zeros((2, len(numbers), values.shape[1]))
    np.add.at(sums, of, values)
    np.add.at(counts, of, heavy)
    return sums, counts


def _resampled(sums: Floats, counts: Floats, resamples: int, seed: int) -> Floats:
    """Return the mean of every resample and column, (resamples, M)."""
    many, draw = len(sums), np.random.default_rng(seed)
    means = np.full((resamples, sums.shape[1]), np.nan)
    both = np.hstack([sums, counts])
    step = max(1, _MOST_CELLS // max(1, many))
    for begin in range(0, resamples if many else 0, step):
        rows = min(step, resamples - begin)
        picked = draw.integers(0, many, (rows, many)) + np.arange(rows)[:, None] * many
        times = np.bincount(picked.ravel(), minlength=rows * many).reshape(rows, many)
        totals = times.astype(np.float64) @ both
        means[begin : begin + rows] = np.divide(*np.hsplit(totals, 2))
    return means


def _or_none(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
