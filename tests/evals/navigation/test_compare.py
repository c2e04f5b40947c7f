"""Two runs side by side: pairs by id, differences by hand, who succeeded where."""

from __future__ import annotations

import json
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from navloom.errors import RunError
from navloom.evals.navigation.scores import format_metric
from navloom.evals.report.run_comparison import compare_runs, count_discordant
from tests.evals.navigation.test_metrics import episode
from tests.evals.navigation.test_rescore import line, run_with


def run_of(folder: Path, successes: dict[str, float], **more: Any) -> Path:
    lines = []
    for name, value in successes.items():
        own = episode(name="e", columns={"path_id": name[0]})
        scores = {"SR": value, "NE": 9 - 9 * value, "cluster": f"made/{name[0]}", **more}
        lines.append(line(name, "ab", own, scores=scores))
    return run_with(folder, lines)


def test_differences_by_hand(tmp_path: Path) -> None:
    a = run_of(tmp_path / "a", {"1_0": 0, "1_1": 0, "2_0": 1, "2_1": 0, "3_0": 1, "9_0": 1})
    b = run_of(
        tmp_path / "b", {"1_0": 1, "1_1": 1, "2_0": 1, "2_1": 0, "3_0": 0, "8_0": 0, "7_0": 0}
    )
    found = compare_runs(a, b)
    assert (found.pairs, found.unpaired_a, found.unpaired_b) == (5, 1, 2)
    success = {each.metric: each for each in found.metrics}["SR"]
    assert (success.a, success.b, success.difference.n) == (0.4, 0.6, 5)
    assert success.difference.mean == pytest.approx(0.2)
    assert success.difference.low is not None
    assert success.difference.low < 0 < success.difference.high  # type: ignore[operator]
    assert success.better is None
    (counts,) = found.discordant
    assert (counts.both, counts.only_a, counts.only_b, counts.neither) == (1, 1, 2, 1)
    assert counts.p == 1
    said = found.record()
    assert said["unpaired"] == {"a": 1, "b": 2}
    json.dumps(said, allow_nan=False)
    text = "\n".join(table.markdown() for table in found.tables())
    assert "unpaired: 1 of A, 2 of B" in text
    assert "| SR | 40.0% | 60.0% | +20.0 |" in text


def test_which_side_is_better(tmp_path: Path) -> None:
    names = [f"{k}_0" for k in range(1, 9)]
    bad, good = (run_of(tmp_path / str(v), dict.fromkeys(names, v)) for v in (0.0, 1.0))
    better = {each.metric: each.better for each in compare_runs(bad, good).metrics}
    assert (better["SR"], better["NE"], better["seconds"]) == ("B", "B", None)
    better = {each.metric: each.better for each in compare_runs(good, bad).metrics}
    assert (better["SR"], better["NE"]) == ("A", "A")


def test_a_few_lucky_pairs_show_no_difference(tmp_path: Path) -> None:
    names = [f"{k}_0" for k in range(1, 31)]
    lucky = {name: float(name in names[:3]) for name in names}
    a = run_of(tmp_path / "a", dict.fromkeys(names, 0.0))
    found = compare_runs(a, run_of(tmp_path / "b", lucky))
    success = {each.metric: each for each in found.metrics}["SR"]
    assert found.discordant[0].p == success.p == 0.25
    assert (success.shown, success.better) == (False, None)
    (row,) = [r for table in found.tables() for r in table.rows if r[0] == "SR" and len(r) == 8]
    assert row[-1] == "no difference shown"


def test_instructions_of_one_path_are_flipped_together(tmp_path: Path) -> None:
    names = [f"{path}_{k}" for path in (1, 2, 3) for k in (0, 1, 2)]
    bad, good = (run_of(tmp_path / str(v), dict.fromkeys(names, v)) for v in (0.0, 1.0))
    by_path, one_by_one = (
        {each.metric: each.p for each in compare_runs(bad, good, by=by).metrics}["SR"]
        for by in ("path", "episode")
    )
    assert (by_path, one_by_one) == (0.25, 2 / 2**9)


def test_a_run_is_itself(tmp_path: Path) -> None:
    run = run_of(tmp_path / "a", {"1_0": 0, "2_0": 1})
    for each in compare_runs(run, run).metrics:
        assert (each.difference.mean, each.difference.interval) == (0, [0, 0])


def test_a_metric_of_one_run_alone_is_left_out(tmp_path: Path) -> None:
    a = run_of(tmp_path / "a", {"1_0": 0, "2_0": 1}, nDTW=0.5, CLS=None)
    b = run_of(tmp_path / "b", {"1_0": 0, "2_0": 1}, CLS=0.5)
    assert not {"nDTW", "CLS"} & {each.metric for each in compare_runs(a, b).metrics}


def test_runs_that_share_nothing(tmp_path: Path) -> None:
    a, b = run_of(tmp_path / "a", {"1_0": 0}), run_of(tmp_path / "b", {"2_0": 0})
    with pytest.raises(RunError, match=r"share no finished sample \(1 and 1\)"):
        compare_runs(a, b)


def test_one_name_for_two_episodes(tmp_path: Path) -> None:
    a = run_of(tmp_path / "a", {"1_0": 0})
    other = line("1_0", "ab", episode("abc"), scores={"SR": 1})
    with pytest.raises(RunError, match="'1_0' is another episode"):
        compare_runs(a, run_with(tmp_path / "b", [other]))


def test_runs_of_another_kind(tmp_path: Path) -> None:
    a = run_of(tmp_path / "a", {"1_0": 0})
    with pytest.raises(RunError, match="has no episode and scores"):
        compare_runs(a, run_with(tmp_path / "b", [{"id": "1_0", "result": {"phase_1": {}}}]))
    with pytest.raises(RunError, match="is not a run"):
        compare_runs(a, tmp_path / "none")


@given(st.integers(0, 60), st.integers(0, 60))
def test_the_coin_is_fair(heads: int, tails: int) -> None:
    count, least = heads + tails, min(heads, tails)
    exact = min(1.0, 2 * sum(comb(count, k) for k in range(least + 1)) / 2**count)
    before, after = np.array([1.0] * heads + [0.0] * tails + [1.0]), np.zeros(heads + tails + 1)
    after[heads:] = 1.0
    found = count_discordant("SR", before, after)
    assert found is not None
    assert (found.only_a, found.only_b, found.both) == (heads, tails, 1)
    assert found.p == pytest.approx(exact)


@pytest.mark.parametrize(
    ("name", "value", "sign", "said"),
    [
        ("SR", 1 / 6, "", "16.7%"),
        ("SPL", -0.031, "+", "-3.1"),
        ("NE", 3.14159, "", "3.14"),
        ("collision_rate", 0.05, "", "0.05"),
        ("input_tokens", 17684.25, "", "17,684"),
        ("output_tokens", 544.67, "+", "+545"),
        ("steps", 7.0, "", "7"),
        ("steps", 14.3333, "", "14.33"),
        ("cost_usd", 0.00043, "", "0.00043"),
        ("nDTW", None, "", "–"),
    ],
)
def test_every_table_says_a_number_alike(
    name: str, value: float | None, sign: str, said: str
) -> None:
    assert format_metric(name, value, sign) == said
