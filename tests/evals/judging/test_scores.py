"""What judged lines come to: agreement, flips, gradings and preferences, counted by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from navloom.evals.judging.scores import (
    FlipCounts,
    OrderBias,
    count_grades,
    count_verdicts,
    flips_by_defence,
    judge_agreement,
    score_known_pairs,
    score_preference,
    score_reasoning,
    score_trace,
    sum_reasons,
)
from navloom.evals.progress import Summary
from navloom.judges.trace_rubric import TRACE_KINDS


def run_with(folder: Path, rows: list[dict[str, Any]]) -> Path:
    """A run's folder with these lines."""
    folder.mkdir(exist_ok=True)
    said = {"kind": "judge", "request": {}, "seed": 0}
    (folder / "run.json").write_text(json.dumps(said))
    lines = [{"id": f"{n:03}", "status": "ok", **row} for n, row in enumerate(rows)]
    (folder / "samples.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def test_shares_of_barriers_are_compared_by_their_mean_distance() -> None:
    pairs = [("x", "x", "s"), ("y", "y", "t")]
    found = judge_agreement(pairs, [(1.0, 0.5), (0.0, 0.25), (0.5, 0.5)])
    assert found.partial_error == 0.25
    assert judge_agreement(pairs).partial_error is None
    assert found.accuracy.value == found.kappa.value == 1


@pytest.mark.parametrize(("scenes", "by_scene"), [(4, False), (5, True)])
def test_scenes_are_drawn_where_there_are_five(scenes: int, by_scene: bool) -> None:
    # In each scene all are right or all wrong: drawn by scene the interval is wider.
    pairs = [("x", "xy"[scene % 2], f"s{scene}") for scene in range(scenes) for _ in range(20)]
    found = judge_agreement(pairs).accuracy
    assert found.value == sum(true == said for true, said, _ in pairs) / len(pairs)
    assert found.interval is not None
    assert (found.interval[1] - found.interval[0] > 0.5) == by_scene


@pytest.mark.parametrize(("scenes", "by_scene"), [(4, False), (5, True)])
def test_pairs_of_a_home_are_drawn_together_where_there_are_five_homes(
    scenes: int, by_scene: bool, tmp_path: Path
) -> None:
    rows = [
        preferred("ab"[scene % 2], "a", "b", scene=f"s{scene}")
        for scene in range(scenes)
        for _ in range(20)
    ]
    found = score_preference(run_with(tmp_path, rows), "m", 0).decided.interval
    assert found is not None
    assert (found[1] - found[0] > 0.5) == by_scene


def test_a_rate_of_flips_needs_a_pair() -> None:
    assert (FlipCounts(0, 0, 0, 1, 1).rate.value, str(FlipCounts(0, 0, 0, 1, 1))) == (None, "–")
    found = FlipCounts(4, 1, 1, 0, 0)
    assert found.rate.value == found.record()["rate"]["value"] == 0.25
    # Wilson's interval of one in four.
    assert found.rate.interval == (pytest.approx(0.046, abs=1e-3), pytest.approx(0.699, abs=1e-3))


def test_kinds_that_occur_are_counted() -> None:
    rows = [
        {"kind": "a", "result": {"correct": True}},
        {"kind": "a", "result": {"correct": False}},
        {"kind": "a", "result": {"correct": None}},
        {"kind": "b", "result": None},
    ]
    assert count_verdicts(rows, ("a", "b", "c")) == {
        "a": {"correct": 1, "wrong": 1, "unscored": 1},
        "b": {"unscored": 1},
    }


def test_verdicts_and_shares_of_a_run_are_added_up(tmp_path: Path) -> None:
    results = [
        {"correct": True, "partial": 0.5},
        {"correct": False, "partial": 0},
        {"correct": False, "partial": None},
        {"correct": None},
        None,
    ]
    found = sum_reasons(run_with(tmp_path, [{"result": result} for result in results]))
    assert (found.items, found.correct, found.wrong, found.unscored) == (5, 1, 2, 2)
    assert found.partial == 0.25
    assert sum_reasons(run_with(tmp_path, [{"result": None}])).partial is None


def test_grades_are_counted_by_criterion(tmp_path: Path) -> None:
    graded = [{"x": "yes", "y": None}, {"x": "no", "y": "na"}, {"x": "yes", "y": "na"}]
    rows = [
        {"result": {"criteria": {name: {"grade": grade} for name, grade in each.items()}}}
        for each in graded
    ]
    assert count_grades(run_with(tmp_path, rows)) == {
        "x": {"yes": 2, "no": 1},
        "y": {"unscored": 1, "na": 2},
    }


def reasoned(
    kind: str, wording: str, deserves: bool, correct: bool | None, **more: Any
) -> dict[str, Any]:
    given = {"scene": "s", "sentences": ["A door."], "deserved_partial": 1.0}
    result = {"correct": correct, "partial": more.pop("partial", None)}
    return {
        "kind": kind, "wording": wording, "deserves": deserves, "result": result, **given, **more,
    }  # fmt: skip


def test_a_calibration_counts_plain_and_injected_items_apart(tmp_path: Path) -> None:
    right, wrong = "right", "wrong_edge"
    rows = [
        reasoned(wrong, "a", True, True, partial=0.5),
        reasoned(right, "a", False, False, sentences=["A door.", "A step."]),
        reasoned(right, "b", False, None, sentences=["A step."]),
        # It deserves no: its payload claims yes, and got it.
        reasoned("injected", "a", False, True, base="001"),
        reasoned("injected", "a", True, True, base="000"),
        reasoned("injected", "a", True, True, base="gone"),
    ]
    summary = Summary(left=2, error=3, sample_seconds=1.5, usage={"calls": 6}, cost_usd=0.5)
    found = score_reasoning(run_with(tmp_path, rows), "m", summary)
    assert {name: each.items for name, each in found.sets.items()} == {"all": 3, "a": 2, "b": 1}
    assert (found.sets["all"].unscored, found.sets["all"].accuracy.value) == (1, 2 / 3)
    assert found.sets["all"].partial_error == 0.5
    assert (found.flips.pairs, found.flips.flipped, found.flips.agreed) == (2, 1, 0)
    assert found.unread == (("b", "A step.", 1, 1),)
    assert (found.left, found.usage, found.seconds) == (5, {"calls": 6}, 1.5)
    assert found.record()["flips"]["rate"]["value"] == 0.5


def test_spoiled_steps_are_scored_by_criterion_kind_and_set(tmp_path: Path) -> None:
    def row(kind: str, wording: str, due: dict[str, str], **grades: str) -> dict[str, Any]:
        criteria = {name: {"grade": grade} for name, grade in grades.items()}
        return {
            "kind": kind, "wording": wording, "scene": "s", "deserves": due,
            "result": {"criteria": criteria} if grades else None,
        }  # fmt: skip

    first, second = TRACE_KINDS[:2]
    rows = [
        row(first, "a", {"x": "yes", "y": "no"}, x="yes", y="yes"),
        row(first, "b", {"x": "yes"}, x="yes"),
        row(second, "b", {"x": "no"}),
    ]
    found = score_trace(run_with(tmp_path, rows), "m", Summary(left=1, error=1))
    assert found.kinds == {first: {"x": (2, 2), "y": (0, 1)}, second: {"x": (0, 1)}}
    assert {name: each.items for name, each in found.criteria.items()} == {"x": 3, "y": 1}
    assert {name: each.items for name, each in found.sets.items()} == {"a": 2, "b": 2}
    assert (found.criteria["x"].unscored, found.left) == (1, 2)
    assert found.record()["kinds"][first]["x"] == [2, 2]


def test_flips_are_counted_with_and_without_the_defences(tmp_path: Path) -> None:
    plain = {"defences": "with", "base": "", "claim": False, "result": {"correct": False}}
    rows = [
        plain,
        {"defences": "with", "base": "000", "claim": True, "result": {"correct": False}},
        {"defences": "without", "base": "000", "claim": True, "result": {"correct": True}},
        {"defences": "without", "base": "000", "claim": True, "result": None},
    ]
    found = flips_by_defence(run_with(tmp_path, rows))
    assert (found["with"].pairs, found["with"].flipped) == (1, 0)
    assert (found["without"].pairs, found["without"].flipped, found["without"].lost) == (2, 1, 1)


def preferred(choice: str | None, *took: str | None, better: str = "a", scene: str = "s") -> Any:
    """A pair: what was taken of it, and the answers in both orders (a first, then b first)."""
    said = [{"order": order, "took": each} for order, each in zip(("ab", "ba"), took, strict=False)]
    return {"scene": scene, "better": better, "result": {"choice": choice, "said": said}}


def test_a_preference_counts_a_tie_half(tmp_path: Path) -> None:
    rows = [
        preferred("a", "a", "a"),
        preferred("b", "b", "b"),
        preferred("a", "a", "a"),
        preferred("tie", "a", "b"),
        preferred(None, "a", None),
    ]
    found = score_preference(run_with(tmp_path, rows), "m", 7)
    assert found.wins == {"a": 2, "b": 1, "tie": 1, "none": 1}
    assert found.share.value == pytest.approx(2.5 / 4)
    assert found.decided.value == pytest.approx(2 / 3)
    assert found.left == 7
    # The tie took what was shown first in both orders.
    assert (found.leaning.pairs, found.leaning.same) == (4, 3)
    assert (found.leaning.answers, found.leaning.first) == (8, 5)
    assert found.record()["leaning"]["consistency"]["value"] == 0.75


def test_a_calibration_of_preferences_takes_a_tie_for_no_verdict(tmp_path: Path) -> None:
    rows = [preferred("a", "a", "a"), preferred("tie", "a", "b"), preferred(None, "a", None)]
    found = score_known_pairs(run_with(tmp_path, rows), "m", 2)
    assert (found.pairs.items, found.pairs.unscored, found.pairs.accuracy.value) == (3, 2, 1 / 3)
    assert (found.unscored, found.left) == (1, 2)
    assert found.answers.items == 6


def test_a_leaning_has_shares_where_there_are_answers() -> None:
    none = OrderBias(0, 0, 0, 0)
    assert (none.consistency.value, none.to_first.value) == (None, None)
    some = OrderBias(4, 3, 8, 6)
    assert (some.consistency.value, some.to_first.value) == (0.75, 0.75)
