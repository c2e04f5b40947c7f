"""What tasks are worth as a set, by hand, and generators compared by it on the homes that ship."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from navloom.errors import UsageError
from navloom.evals.navcraft.request import SynthRequest
from navloom.evals.navcraft.scores import (
    MOST_COMPARED,
    entropy,
    measure_quality,
    score_samples,
    self_bleu,
)
from navloom.evals.navcraft.studies import CONTROLS, compare_to_blind, study_arms, study_quality
from navloom.evals.report.report_files import read_report
from navloom.evals.run_folder import read_samples


def result(thing: str, end: str, asset: str = "desk", **worth: Any) -> dict[str, Any]:
    said = f"Take the {thing} from Kitchen_4 to the {asset} in {end}."
    told = {"plausible": 0.5, "unambiguous": True, "doors": None, "storeys": 1, "namesakes": 0}
    return {
        "phase_1": {
            "Target object": thing,
            "Task instruction": said,
            "Single robot end region": {"robot_1": end},
            "Single robot travel path": {"robot_1": ["a -> b", "b -> c"]},
        },
        "phase_2": {"Collaborative type": "Type-A1"},
        "navloom": {"solo_metres": 10.0, "worth": {**told, **worth}},
    }


def test_merits_by_hand() -> None:
    rows = [
        result("cup", "Office_1", plausible=0.9),
        result("cup", "Office_2", plausible=0.3, unambiguous=False, doors=2),
    ]
    found = measure_quality(rows)
    assert found.plausible.mean == pytest.approx(0.6)
    assert (found.sensible.hits, found.sensible.of) == (1, 2)
    assert (found.unambiguous.hits, found.unambiguous.of) == (1, 2)
    assert found.doors.values == (2.0,)
    assert found.hops.values == (2.0, 2.0)
    # Rooms' numbers are no variety: both sentences are the same ten words, nine pairs of them.
    assert found.sentences[0] == found.sentences[1]
    assert found.distinct_2 == pytest.approx(9 / 18)
    assert found.self_bleu == pytest.approx(1.0)
    assert (found.rooms, found.objects, found.types) == (0, 0, 0)


@pytest.mark.parametrize(("plausible", "sensible"), [(0.59, 0), (0.6, 1), (1.0, 1)])
def test_a_task_is_sensible_from_six_tenths_on(plausible: float, sensible: int) -> None:
    found = measure_quality([result("cup", "Office_1", plausible=plausible)]).sensible
    assert (found.hits, found.of) == (sensible, 1)


def test_what_is_said_otherwise_is_more_varied() -> None:
    same = measure_quality([result("cup", "Office_1"), result("cup", "Office_1")])
    other = measure_quality([result("cup", "Office_1"), result("towel", "Bathroom_1", "shelf")])
    assert same.self_bleu is not None
    assert other.self_bleu is not None
    assert other.self_bleu < same.self_bleu
    assert other.objects == 1.0


def test_runs_without_worth_and_without_tasks() -> None:
    old = result("cup", "Office_1")
    del old["navloom"]["worth"]
    assert measure_quality([old]).plausible.mean is None
    assert measure_quality([]).self_bleu is None
    assert json.dumps(measure_quality([]).record())


def test_entropy_of_equal_shares() -> None:
    assert entropy("abcd") == pytest.approx(2.0)
    assert entropy("aabc") == pytest.approx(1.5)
    assert entropy("") == 0


@pytest.mark.slow
def test_of_many_sentences_an_even_share_is_compared() -> None:
    many = measure_quality([result("cup", "Office_1"), result("hat", "Hall_1")] * MOST_COMPARED)
    few = self_bleu(many.sentences[::2])
    assert many.self_bleu == pytest.approx(few)


def test_each_model_is_held_against_the_arm_that_reads_its_list() -> None:
    arms = study_arms(["a/b"], whole=True)
    assert [*arms][len(CONTROLS) :] == ["a/b, blind", "a/b, ranked", "a/b, whole"]
    assert arms["a/b, whole"] == {"model": "a/b"}


def test_an_unknown_arm_is_refused_before_any_run(tmp_path: Path) -> None:
    request = SynthRequest(kind="collab", spec="demo:", n=2)
    with pytest.raises(UsageError, match=r"no arm 'blind pick'.*mean 'blind picks'"):
        study_quality(request, [], tmp_path / "study", only=["blind pick"])
    assert not (tmp_path / "study").exists()


@pytest.mark.slow
def test_the_study_on_the_homes_that_ship(tmp_path: Path) -> None:
    """A builtin in a model's place: it reads the blind list as the blind picks do."""
    request = SynthRequest(kind="collab", spec="demo:", n=6, seed=3)
    only = ["blind picks", "always first", "builtin/random, blind", "builtin/first, ranked"]
    models = ["builtin/random", "builtin/first"]
    tables = study_quality(request, models, tmp_path, only=only)
    titles = [table.title for table in tables]
    assert titles == [
        *("Table 4", "Worth", "Variety", "Validity and regret"),
        "Against the arm that knows nothing",
    ]
    record = json.loads((tmp_path / "worth.json").read_bytes())
    assert set(record["scores"]) == set(only)
    differences = {(d["arm"], d["measure"]): d for d in record["differences"]}
    # The first of the list against itself: no difference, and no interval around it.
    same = differences["builtin/first, ranked", "plausible"]
    assert (same["difference"], same["low"], same["high"]) == (0, 0, 0)
    assert same["pairs"] == 6
    blind = differences["builtin/random, blind", "plausible"]
    ours = {r["id"]: r for r in read_samples(tmp_path / "builtin-random--blind")}
    theirs = {r["id"]: r for r in read_samples(tmp_path / "blind-picks")}

    def plausible(row: Any) -> float:
        value: float = row["result"]["navloom"]["worth"]["plausible"]
        return value

    both = [i for i in ours if ours[i]["result"] and theirs[i]["result"]]
    by_hand = math.fsum(plausible(ours[i]) - plausible(theirs[i]) for i in both) / len(both)
    assert blind["difference"] == pytest.approx(by_hand)
    shown = [getattr(each, "table", None) for each in read_report(tmp_path).blocks]
    assert {*titles} <= {table.title for table in shown if table is not None}


@pytest.mark.slow
def test_a_study_without_models_has_no_differences(tmp_path: Path) -> None:
    request = SynthRequest(kind="collab", spec="demo:flat", n=2)
    tables = study_quality(request, [], tmp_path, only=["always first"])
    assert len(tables) == 4
    assert compare_to_blind({"always first": tmp_path / "always-first"}) == []


def sample(name: str = "a", status: str = "ok", **more: Any) -> dict[str, Any]:
    """A finished sample of a run of relays: two valid, of which one keeps its relay."""
    phase_1 = {
        "Single robot end region": {"robot_1": "Kitchen_3"},
        "Single robot travel path": {"robot_1": ["A_1 -> B_2"]},
        "Target object": "cup",
        "Single robot start region": {"robot_1": "A_1"},
        "Single robot target object region": {"robot_1": "B_2"},
        "Task instruction": "Take the cup.",
    }
    navloom = {"solo_metres": 9.0, "gain_alpha": 0.25, "best_alone": 0.75, "gain_g": 0.5}
    result = {"phase_1": phase_1, "phase_2": None, "navloom": navloom}
    return {
        "id": name, "scene": "s", "status": status, "result": result, "seconds": 2.0,
        "cost_usd": 0.25, "usage": {"input_tokens": 3, "output_tokens": 2}, **more,
    }  # fmt: skip


def relay(name: str, **more: Any) -> dict[str, Any]:
    made = sample(name, **more)
    made["result"]["phase_2"] = {"Collaborative type": "Type-A1"}
    return made


def declined(name: str, by: str) -> dict[str, Any]:
    made = sample(name)
    made["result"]["navloom"]["decided_by"] = by
    return made


LOST = {"id": "lost", "scene": "s", "status": "failed", "reason": "late", "result": None}


def test_a_run_of_relays_is_counted_by_hand() -> None:
    samples = [relay("a"), declined("b", "model"), declined("c", "rule"), declined("d", "rule"),
               {**LOST, "cost_usd": 0.5}]  # fmt: skip
    errors = [
        {"id": "e", "message": "x" * 201, "cost_usd": 0.25, "usage": {"input_tokens": 4}},
        {"id": "a", "message": "gone"},
    ]
    found = score_samples({"kind": "collab", "request": {"model": "m", "n": 9}}, samples, errors)
    assert (found.single.hits, found.single.of) == (4, 5)
    assert (found.relays.hits, found.relays.of) == (1, 4)
    assert (found.relays_per_attempt.hits, found.attempts) == (1, 5)
    assert (found.declined, found.not_worth_it, found.errors) == (1, 2, 1)
    assert (found.gain_alpha.values, found.gain_alone.values) == ((0.25,), (0.25,))
    assert found.regret_g.values == ()
    assert (found.cost_usd, found.tokens) == (0.25 * 4 + 0.5 + 0.25, (16, 8))
    assert (found.seconds.values, found.left) == ((2.0,) * 4 + (0.0,), 3)
    assert (found.reasons, found.error_messages) == ((("late", 1),), (("x" * 200, 1),))
    assert (found.merits.tasks, found.diversity[0].relays, found.diversity[0].type_a1) == (1, 1, 1)
    assert (found.scenes, found.scenes_used, found.scenes_skipped) == ({"s"}, None, ())
    assert not found.is_baseline


def test_a_run_of_single_tasks_has_no_relays_to_decline() -> None:
    samples = [declined("b", "model"), sample("c"), LOST]
    found = score_samples({"kind": "single", "request": {"model": "builtin/random"}}, samples)
    assert (found.single.hits, found.single.of, found.relays.of) == (2, 3, 0)
    assert (found.declined, found.not_worth_it, found.merits.tasks) == (0, 0, 2)
    assert (found.cost_usd, found.left, found.is_baseline) == (None, None, True)


@pytest.mark.parametrize(
    ("request_", "left"),
    [({"n": 3}, 1), ({"n": 1}, 0), ({"n": "3"}, None), ({"n": 3, "source": "run"}, None)],
)
def test_what_is_left_of_a_run_is_what_was_planned(
    request_: dict[str, Any], left: int | None
) -> None:
    found = score_samples({"kind": "single", "request": request_}, [sample("a"), sample("b")])
    assert found.left == left
    assert (found.single is None) == ("source" in request_)


def test_reasons_are_ranked_by_number_and_then_by_name() -> None:
    lost = [{**LOST, "id": f"{k}", "reason": reason} for k, reason in enumerate("bacab")]
    found = score_samples({"kind": "single"}, lost)
    assert found.reasons == (("a", 2), ("b", 2), ("c", 1))
    assert found.model == "unknown"


def test_profiles_are_told_apart_where_there_are_several() -> None:
    young = {"Age": 20, "Occupation": "Student"}
    samples = [sample("a", profile=young), sample("b", profile=None), sample("c", profile=young)]
    found = score_samples({"kind": "single"}, samples).diversity
    assert [(each.profile, each.tasks) for each in found] == [
        ("all", 3), ("20, Student", 2), ("none", 1),
    ]  # fmt: skip
    assert (found[0].objects, found[0].instructions, found[0].pairs) == (1, 1, 1)
    (only,) = score_samples({"kind": "single"}, samples[:1]).diversity
    assert only.profile == "all"


def test_two_sentences_have_a_self_bleu_and_one_has_none() -> None:
    assert self_bleu(["take the cup"]) is None
    assert self_bleu(["take the cup to bed"] * 2) == pytest.approx(1)
    assert self_bleu(["take the cup", "bring a plate"]) == pytest.approx(0, abs=0.01)
