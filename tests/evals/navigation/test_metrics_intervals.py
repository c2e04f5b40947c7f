"""Intervals by bootstrap: seeded, true to the closed form, wider where tries hang together."""

from __future__ import annotations

import math

import numpy as np
import pytest

from navloom.evals.navigation.metrics import summarise
from navloom.evals.report import intervals as bootstrap
from navloom.evals.report.intervals import intervals


def record(
    value: float | None, cluster: str | None = None, **more: float | None
) -> dict[str, object]:
    return {"SR": value, "cluster": cluster, **more}


def test_near_the_normal_interval() -> None:
    draw = np.random.default_rng(3)
    values = (draw.random((2000, 1)) < 0.3).astype(float)
    mean, low, high = (float(each[0]) for each in intervals(values))
    half = 1.96 * math.sqrt(mean * (1 - mean) / 2000)
    assert mean == values.mean()
    assert low == pytest.approx(mean - half, abs=0.003)
    assert high == pytest.approx(mean + half, abs=0.003)


def test_seeded() -> None:
    values = np.random.default_rng(1).random((50, 2))
    once, again, other = intervals(values), intervals(values), intervals(values, seed=1)
    assert [e.tolist() for e in once] == [e.tolist() for e in again]
    assert once[1].tolist() != other[1].tolist()


def test_three_copies_of_a_path_are_one_try() -> None:
    values = (np.random.default_rng(2).random(300) < 0.5).astype(float)
    once = intervals(values[:, None])
    copied = np.repeat(values, 3)[:, None]
    paths = [k // 3 for k in range(900)]
    clustered, alone = intervals(copied, paths), intervals(copied)

    def width(found: tuple[np.ndarray, np.ndarray, np.ndarray]) -> float:
        return float(found[2][0] - found[1][0])

    assert width(clustered) == pytest.approx(width(once))
    assert width(alone) == pytest.approx(width(once) / math.sqrt(3), rel=0.15)


def test_parts_give_what_the_whole_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(4).random((40, 3))
    whole = intervals(values, list(range(40)))
    monkeypatch.setattr(bootstrap, "_MOST_CELLS", 1000)
    for mine, theirs in zip(intervals(values, list(range(40))), whole, strict=True):
        assert mine == pytest.approx(theirs, abs=0.02)


def test_undefined_values_are_left_out() -> None:
    rows = summarise([record(1, NE=None), record(0, NE=4.0), record(None, NE=2.0)])
    assert [(row.metric, row.mean, row.n) for row in rows] == [("NE", 3.0, 2), ("SR", 0.5, 2)]
    assert all(row.low is not None and row.low <= row.mean <= row.high for row in rows)  # type: ignore[operator]


def test_nothing_to_draw_from_gives_no_interval() -> None:
    (row,) = summarise([record(1, "p"), record(0, "p")], ["SR"])
    assert (row.mean, row.interval, row.n) == (0.5, None, 2)
    (row,) = summarise([record(1, "p"), record(0, "p")], ["SR"], by="episode")
    assert row.interval is not None
    (row,) = summarise([], ["SR"])
    assert (row.mean, row.interval, row.n) == (None, None, 0)
    assert row.record() == {"metric": "SR", "mean": None, "low": None, "high": None, "n": 0}


def test_what_is_no_number_is_undefined() -> None:
    (row,) = summarise([{"SR": "1"}, {"SR": math.inf}, {"SR": 1}], ["SR"])
    assert (row.mean, row.n) == (1, 1)


def test_percentiles_leave_two_and_a_half_per_cent_out_at_either_end() -> None:
    assert bootstrap.percentiles(np.arange(1001.0)) == (25.0, 975.0)
