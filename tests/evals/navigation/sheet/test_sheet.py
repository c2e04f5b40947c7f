"""The sheet: what is kept of a walk, what a reader is told, and how agreement is counted."""

import json
from collections import Counter

import pytest

from navloom.evals.navigation.failure_analysis import analyse
from navloom.evals.navigation.failure_cause import CAUSES
from navloom.evals.navigation.failure_narrative import describe_rollout
from navloom.tools.navigation.step_records import Trajectory
from tests.evals.navigation.sheet.agreement import Label, compared, one_cause, read_labels, rules
from tests.evals.navigation.sheet.walks import (
    HALVES,
    HERE,
    SHARES,
    Kept,
    account_of,
    episodes,
    failed,
    read_walks,
    result_of,
)
from tests.evals.navigation.walks import PATH, episode, result, scene


def test_a_hundred_walks_are_kept_and_nothing_but_ids():
    kept = read_walks()
    assert [each.id for each in kept] == [f"s{number:03}" for number in range(1, 101)]
    assert Counter(each.by for each in kept) == SHARES
    assert Counter(each.half for each in kept) == dict.fromkeys(HALVES, 50)
    assert len({each.episode.partition("_")[0] for each in kept}) == 100
    allowed = {"id", "episode", "by", "half", "end", "walk"}
    for line in (HERE / "walks.jsonl").read_text(encoding="utf-8").splitlines():
        assert set(json.loads(line)) == allowed
        assert " " not in "".join(map(str, json.loads(line).values())).replace("', '", "")


def told(*walk, **other):
    return describe_rollout(Trajectory.read(result(*walk, **other)), episode(), scene())


def test_an_account_tells_both_ways_and_marks_where_they_part():
    text = told("1_0", "2_0", "2_6", "2_3", "2_4")
    lines = text.splitlines()
    assert lines[0] == f"Instruction: {episode().instruction}"
    assert "Right way (6 hops):" in text
    mark = lines.index("    THE WALK LEAVES THE RIGHT WAY HERE")
    assert lines[mark - 1].startswith("  step 3, ")
    after = lines[mark : next(k for k in range(mark, len(lines)) if "step 4" in lines[k])]
    assert sum("- CHOSEN: " in line for line in after) == 1
    assert sum("- right: " in line for line in after) == 1
    before = [line for line in lines[:mark] if line.startswith("    - ")]
    assert all(line.startswith("    - CHOSEN and right: ") for line in before)
    assert lines[-2] == "    - CHOSEN: stop"
    assert lines[-1].startswith("Ended ")
    out = told("1_0", "2_0", end="max_steps")
    assert "    - CHOSEN: nothing: the walk was ended" in out


def test_an_account_says_where_stopping_was_right_and_goes_on():
    text = told(*PATH, "4_1", "4_0")
    assert "    - right: stop here" in text
    assert "THE WALK LEAVES" in text.split("step 7", 1)[1]


def test_an_account_says_nothing_of_the_verdict():
    seen = analyse(result("1_0", "2_0", "2_6", "2_3"), episode(), scene())
    text = told("1_0", "2_0", "2_6", "2_3").casefold()
    assert seen.cause in CAUSES
    assert "cause" not in text
    for name in ("premature", "mismatch", "ambiguous", "vertical", "unknown_cause", "early turn"):
        assert name not in text


def test_an_account_of_a_walk_that_the_scene_does_not_know_is_told_as_far_as_it_goes():
    text = describe_rollout(
        Trajectory.read({"trajectory": ["nowhere"], "end": "stop"}), episode(), scene()
    )
    assert "Walk (0 hops)" in text


KEPT = [Kept(f"s{k}", "1_0", "x", HALVES[k % 2], "stop", ()) for k in range(4)]


def reading(*causes):
    return {k.id: Label(cause) for k, cause in zip(KEPT, causes, strict=True)}


def test_kappa_over_all_and_by_cause_by_hand():
    a = reading("region", "region", "object", "object")
    b = reading("region", "object", "object", "object")
    overall, whole, *halves = compared({"a": a, "b": b}, KEPT)
    # 3 of 4 agree, 1/2 by chance: (3/4 - 1/2) / (1 - 1/2).
    assert overall.rows[0][:5] == ("all", "a with b", "4", "3", "0.50")
    assert overall.rows[1][:4] == ("tuning", "a with b", "2", "2")
    rows = {row[0]: row for row in whole.rows}
    assert rows["region"] == ("region", "2", "1", "0.50")
    assert rows["vertical"][1:3] == ("0", "0")
    assert len(halves) == 2
    assert one_cause(["object"] * 2, ["object", "region"], "object") == 0.0


def test_a_second_cause_counts_in_the_last_column_alone():
    a = reading("region", "region", "object", "object")
    b = {**a, "s0": Label("vertical", "region")}
    overall, *_ = compared({"a": a, "b": b}, KEPT)
    assert (overall.rows[0][3], overall.rows[0][6]) == ("3", "4")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (['{"id": "s0", "cause": "region"}'], "no label of s1"),
        (['{"id": "s0", "cause": "sloth"}'], "line 1: expected causes of"),
        (['{"id": "s0", "cause": "none"}'], "line 1: expected causes of"),
        (['{"id": "s0", "cause": "object", "second": "sloth"}'], "line 1: expected causes"),
        (['{"id": "s9", "cause": "object"}'], "line 1: s9 is not on the sheet"),
        (['{"id": "s0", "cause": "object"}'] * 2, "line 2: s0 is not on the sheet, or is there"),
    ],
)
def test_labels_that_cannot_be_used_are_refused(tmp_path, lines, said):
    file = tmp_path / "reading.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(ValueError, match=said):
        read_labels(file, ["s0", "s1"])


def test_labels_are_read(tmp_path):
    file = tmp_path / "reading.jsonl"
    file.write_text('{"id": "s0", "cause": "object", "second": null, "sure": true}\n')
    assert read_labels(file, ["s0"]) == {"s0": Label("object", None, True)}


def test_a_model_that_gave_no_label_agrees_with_nobody(tmp_path):
    file = tmp_path / "labels.jsonl"
    file.write_text('{"id": "s0", "cause": null, "second": null, "sure": false}\n')
    found = read_labels(file, ["s0"])
    assert found == {"s0": Label("unscored", None, False)}
    people, model = reading(*["object"] * 4), reading(*["object"] * 3, "unscored")
    overall, whole, *_ = compared({"m": model, "r": people}, KEPT)
    assert overall.rows[0][3] == overall.rows[0][6] == "3"
    assert whole.rows[-1][:3] == ("unscored", "1", "0")
    _, never, *_ = compared({"m": people, "r": people}, KEPT)
    assert never.rows[-1][0] == "unknown"


def test_the_two_readings_beside_the_sheet_can_be_compared():
    ids = [each.id for each in read_walks()]
    for name in "ab":
        file = HERE / f"reading_{name}.jsonl"
        assert len(read_labels(file, ids)) == 100
        for line in file.read_text(encoding="utf-8").splitlines():
            assert set(json.loads(line)) == {"id", "cause", "second", "sure"}


@pytest.mark.realdata
@pytest.mark.slow
def test_every_walk_of_the_sheet_is_a_failure_that_can_be_told_again():
    kept = read_walks()
    found = rules(kept)
    for each in kept:
        home = episodes()[each.episode]
        assert failed(each.walk, home)
        assert "invalid_hop" not in result_of(each, home)
        assert "CHOSEN" in account_of(each, home)
        assert found[each.id].cause != "none"
