"""Intervals by bootstrap: seeded, true to the closed form, wider where tries hang together."""

from __future__ import annotations

import math

import numpy as np
import pytest

from navloom.evals.navigation.metrics import mean_metrics
from navloom.evals.report import intervals as bootstrap
from navloom.evals.report.intervals import (
    MetricEstimate,
    Rate,
    ValueDistribution,
    bootstrap_intervals,
    bootstrap_mean,
    cluster_labels,
    estimate_metrics,
    percentile_interval,
    record_matrix,
    resample_sums,
    wilson_interval,
)


def record(
    value: float | None, cluster: str | None = None, **more: float | None
) -> dict[str, object]:
    return {"SR": value, "cluster": cluster, **more}


def test_near_the_normal_interval() -> None:
    draw = np.random.default_rng(3)
    values = (draw.random((2000, 1)) < 0.3).astype(float)
    mean, low, high = (float(each[0]) for each in bootstrap_intervals(values))
    half = 1.96 * math.sqrt(mean * (1 - mean) / 2000)
    assert mean == values.mean()
    assert low == pytest.approx(mean - half, abs=0.003)
    assert high == pytest.approx(mean + half, abs=0.003)


def test_seeded() -> None:
    values = np.random.default_rng(1).random((50, 2))
    once, again, other = (
        bootstrap_intervals(values),
        bootstrap_intervals(values),
        bootstrap_intervals(values, seed=1),
    )
    assert [e.tolist() for e in once] == [e.tolist() for e in again]
    assert once[1].tolist() != other[1].tolist()


def test_three_copies_of_a_path_are_one_try() -> None:
    values = (np.random.default_rng(2).random(300) < 0.5).astype(float)
    once = bootstrap_intervals(values[:, None])
    copied = np.repeat(values, 3)[:, None]
    paths = [k // 3 for k in range(900)]
    clustered, alone = bootstrap_intervals(copied, paths), bootstrap_intervals(copied)

    def width(found: tuple[np.ndarray, np.ndarray, np.ndarray]) -> float:
        return float(found[2][0] - found[1][0])

    assert width(clustered) == pytest.approx(width(once))
    assert width(alone) == pytest.approx(width(once) / math.sqrt(3), rel=0.15)


def test_parts_give_what_the_whole_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(4).random((40, 3))
    whole = bootstrap_intervals(values, list(range(40)))
    monkeypatch.setattr(bootstrap, "_MOST_CELLS", 1000)
    for mine, theirs in zip(bootstrap_intervals(values, list(range(40))), whole, strict=True):
        assert mine == pytest.approx(theirs, abs=0.02)


def test_undefined_values_are_left_out() -> None:
    rows = mean_metrics([record(1, NE=None), record(0, NE=4.0), record(None, NE=2.0)])
    assert [(row.metric, row.mean, row.n) for row in rows] == [("NE", 3.0, 2), ("SR", 0.5, 2)]
    assert all(row.low is not None and row.low <= row.mean <= row.high for row in rows)  # type: ignore[operator]


def test_nothing_to_draw_from_gives_no_interval() -> None:
    (row,) = mean_metrics([record(1, "p"), record(0, "p")], ["SR"])
    assert (row.mean, row.interval, row.n) == (0.5, None, 2)
    (row,) = mean_metrics([record(1, "p"), record(0, "p")], ["SR"], by="episode")
    assert row.interval is not None
    (row,) = mean_metrics([], ["SR"])
    assert (row.mean, row.interval, row.n) == (None, None, 0)
    assert row.record() == {"metric": "SR", "mean": None, "low": None, "high": None, "n": 0}


def test_what_is_no_number_is_undefined() -> None:
    (row,) = mean_metrics([{"SR": "1"}, {"SR": math.inf}, {"SR": 1}], ["SR"])
    assert (row.mean, row.n) == (1, 1)


def test_percentiles_leave_two_and_a_half_per_cent_out_at_either_end() -> None:
    assert bootstrap.percentile_interval(np.arange(1001.0)) == (25.0, 975.0)


def test_wilsons_interval_by_hand() -> None:
    # z = 1.96: (p + z^2/2n -+ z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n) of 8 in 10.
    assert wilson_interval(8, 10) == (
        pytest.approx(0.490, abs=1e-3),
        pytest.approx(0.943, abs=1e-3),
    )
    assert wilson_interval(0, 1) == (0, pytest.approx(0.793, abs=1e-3))
    assert wilson_interval(0, 0) is None


@pytest.mark.parametrize(
    ("values", "interval"), [((), None), ((1.0,), None), ((2.0, 2.0), (2.0, 2.0))]
)
def test_a_mean_needs_two_values_for_an_interval(
    values: tuple[float, ...], interval: tuple[float, float] | None
) -> None:
    assert bootstrap_mean(values) == interval
    assert ValueDistribution.of(values).interval == interval


def test_the_interval_of_a_mean_is_of_95_percent() -> None:
    values = [0.0, 1.0] * 200
    low, high = bootstrap_mean(values) or (math.nan, math.nan)
    assert low == pytest.approx(0.5 - 1.96 * 0.5 / 20, abs=0.006)
    assert high == pytest.approx(0.5 + 1.96 * 0.5 / 20, abs=0.006)


def test_the_ends_of_draws_hold_95_percent_of_them() -> None:
    assert percentile_interval(np.arange(1001.0)) == (25.0, 975.0)


def test_draws_have_as_many_clusters_as_there_are() -> None:
    draws = resample_sums(np.ones((5, 2)), 7, 0)
    assert draws.tolist() == [[5, 5]] * 7
    assert resample_sums(np.ones((0, 2)), 7, 0).shape == (0, 2)
    other = resample_sums(np.arange(5.0)[:, None], 400, 1)
    assert other.mean() == pytest.approx(10, abs=0.5)
    assert other.std() == pytest.approx(math.sqrt(10), abs=0.4)


def test_a_rate_and_a_spread_by_hand() -> None:
    rate = Rate.among([1, 0, "", "x"])
    assert (rate.hits, rate.of, rate.share) == (2, 4, 0.5)
    assert (Rate(0, 0).share, Rate(0, 0).interval) == (None, None)
    assert Rate(0, 4).share == 0
    spread = ValueDistribution.of([1, None, 2, 3, 4, 10])
    assert (spread.mean, spread.median, spread.max) == (4, 3, 10)
    assert ValueDistribution.of(range(11)).p90 == 9
    empty = ValueDistribution.of([None])
    assert (empty.mean, empty.median, empty.p90, empty.max) == (None, None, None, None)


@pytest.mark.parametrize(
    ("low", "high", "interval"), [(0.1, 0.2, [0.1, 0.2]), (None, 0.2, None), (0.1, None, None)]
)
def test_a_row_has_an_interval_where_it_has_both_ends(
    low: float | None, high: float | None, interval: list[float] | None
) -> None:
    assert MetricEstimate("SR", 0.15, low, high, 3).interval == interval


def test_means_are_weighted_and_need_two_clusters_for_ends() -> None:
    values = np.array([[1.0, math.nan], [0.0, math.nan], [0.5, 2.0]])
    means, low, high = bootstrap_intervals(values, weights=np.array([[1.0, 1], [3, 1], [0, 1]]))
    assert means.tolist() == [0.25, 2.0]
    assert (low[0], high[0]) == (0, 1)
    assert np.isnan([low[1], high[1]]).all()
    _, together, _ = bootstrap_intervals(values, ["a", "a", "a"])
    assert np.isnan(together).all()
    none, _, _ = bootstrap_intervals(np.full((2, 1), math.nan))
    assert np.isnan(none).all()


def test_records_as_a_table_have_finite_numbers_alone() -> None:
    records = [{"a": 1, "b": True}, {"a": math.inf}, {"a": "1", "b": None}]
    table = record_matrix(records, ["a", "b"])
    assert np.isnan(table).tolist() == [[False, False], [True, True], [True, True]]
    assert table[0].tolist() == [1, 1]
    rows = estimate_metrics(["a", "b"], table, None)
    assert [(row.mean, row.n, row.interval) for row in rows] == [(1, 1, None), (1, 1, None)]


def test_a_record_without_a_cluster_is_one_of_its_own() -> None:
    assert cluster_labels([{"cluster": "p"}, {}, {"cluster": None}, {"cluster": "p"}]) == [
        "p", 1, 2, "p",
    ]  # fmt: skip


def test_parts_of_draws_are_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(0).random((30, 2))
    whole = [each.tolist() for each in bootstrap_intervals(values, resamples=100)]
    monkeypatch.setattr(bootstrap, "_MOST_CELLS", 70)
    assert [each.tolist() for each in bootstrap_intervals(values, resamples=100)] == whole
