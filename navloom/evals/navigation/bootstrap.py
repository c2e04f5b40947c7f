"""Intervals by bootstrap: how far a mean may be from where it would be on other episodes.

Percentile bootstrap, seeded and vectorised. The three instructions of an R2R path share start,
goal and path, and an agent that gets lost on one tends to get lost on all three: drawn one by one
they would count as three independent tries and make intervals too narrow. So what is drawn is
*clusters* (the instructions of a path), with all their episodes. Where each episode is a cluster of
its own this is the ordinary bootstrap.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2_000
LEVEL = 0.95
_MOST_CELLS = 4_000_000
"""Draws held at once."""

Floats = NDArray[np.float64]
By = Literal["path", "episode"]


@dataclass(frozen=True)
class Row:
    """One metric over some episodes.

    Attributes:
        metric: its name.
        mean: over the episodes where it is defined; None where there are none.
        low: lower end of the interval; None where fewer than two clusters leave none.
        high: upper end.
        n: episodes where it is defined.
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
        """As JSON."""
        return asdict(self)


def intervals(
    values: Floats,
    clusters: Sequence[Hashable] | None = None,
    *,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    seed: int = 0,
) -> tuple[Floats, Floats, Floats]:
    """Means of columns, and the ends of their percentile intervals.

    All columns see the same draws, so rows of a table hang together.

    Args:
        values: (N, M), NaN where undefined; a mean is over what is defined.
        clusters: (N,) what each row belongs to; each row is its own unless given.
        resamples: how many times clusters are drawn with replacement.
        level: the share of means within an interval.
        seed: of the draws.

    Returns:
        Means, low and high ends, each (M,); NaN where nothing is defined, and ends also where
        there are fewer than two clusters with a value.
    """
    defined = ~np.isnan(values)
    sums, counts = _by_cluster(np.where(defined, values, 0.0), defined, clusters)
    with np.errstate(invalid="ignore"):  # 0 / 0: nothing is defined
        means = sums.sum(axis=0) / counts.sum(axis=0)
        drawn = _resampled(sums, counts, resamples, seed)
    tail = (1 - level) / 2 * 100
    low, high = np.full(len(means), np.nan), np.full(len(means), np.nan)
    for column in np.flatnonzero((counts > 0).sum(axis=0) > 1):
        each = drawn[:, column]
        low[column], high[column] = np.percentile(each[~np.isnan(each)], [tail, 100 - tail])
    return means, low, high


def summarise(
    records: Sequence[Mapping[str, Any]],
    metrics: Sequence[str] | None = None,
    *,
    by: By = "path",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[Row]:
    """The mean of each metric over episodes, with its 95 % interval.

    Args:
        records: as ``EpisodeScore.record()`` gives them; a value that is None or missing is left
            out of that metric's mean, and ``n`` says so.
        metrics: which, in order; every metric of ``METRICS`` that any record has unless given.
        by: draw whole paths (records' ``cluster``), or single episodes.
        resamples: of the bootstrap.
        seed: of the bootstrap.
    """
    from navloom.evals.navigation.metrics import METRICS

    names = [
        name
        for name in (METRICS if metrics is None else metrics)
        if metrics is not None or any(record.get(name) is not None for record in records)
    ]
    clusters = clusters_of(records) if by == "path" else None
    return rows_of(names, columns_of(records, names), clusters, resamples=resamples, seed=seed)


def rows_of(
    names: Sequence[str],
    table: Floats,
    clusters: Sequence[Hashable] | None,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[Row]:
    """A row for each column of a table (N, M); arguments as :func:`intervals` has them."""
    means, low, high = intervals(table, clusters, resamples=resamples, seed=seed)
    counts = (~np.isnan(table)).sum(axis=0)
    return [
        Row(name, _or_none(means[k]), _or_none(low[k]), _or_none(high[k]), int(counts[k]))
        for k, name in enumerate(names)
    ]


def columns_of(records: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Floats:
    """Records as a table (N, M); NaN where a value is missing or no finite number."""
    table = np.full((len(records), len(names)), np.nan)
    for n, record in enumerate(records):
        for m, name in enumerate(names):
            value = record.get(name)
            if isinstance(value, int | float) and math.isfinite(value):
                table[n, m] = value
    return table


def clusters_of(records: Sequence[Mapping[str, Any]]) -> list[Hashable]:
    """What each record belongs to; one that does not say is a cluster of its own."""
    return [str(r["cluster"]) if r.get("cluster") is not None else k for k, r in enumerate(records)]


def _by_cluster(
    values: Floats, defined: NDArray[np.bool_], clusters: Sequence[Hashable] | None
) -> tuple[Floats, Floats]:
    """Sums and counts of each cluster, (C, M)."""
    if clusters is None:
        return values, defined.astype(np.float64)
    numbers: dict[Hashable, int] = {}
    of = np.array([numbers.setdefault(name, len(numbers)) for name in clusters], np.int64)
    sums, counts = np.zeros((2, len(numbers), values.shape[1]))
    np.add.at(sums, of, values)
    np.add.at(counts, of, defined)
    return sums, counts


def _resampled(sums: Floats, counts: Floats, resamples: int, seed: int) -> Floats:
    """The mean of every resample and column, (resamples, M)."""
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
