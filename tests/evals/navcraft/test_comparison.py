"""What tasks are worth as a set, by hand, and generators compared by it on the homes that ship."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from navloom.errors import UsageError
from navloom.evals.navcraft.request import SynthRequest
from navloom.evals.navcraft.scores import MOST_COMPARED, entropy, merits, self_bleu
from navloom.evals.navcraft.studies import CONTROLS, against_blind, arms_of, study_worth
from navloom.evals.report.writers import read_report
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
    found = merits(rows)
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


def test_what_is_said_otherwise_is_more_varied() -> None:
    same = merits([result("cup", "Office_1"), result("cup", "Office_1")])
    other = merits([result("cup", "Office_1"), result("towel", "Bathroom_1", "shelf")])
    assert same.self_bleu is not None
    assert other.self_bleu is not None
    assert other.self_bleu < same.self_bleu
    assert other.objects == 1.0


def test_runs_without_worth_and_without_tasks() -> None:
    old = result("cup", "Office_1")
    del old["navloom"]["worth"]
    assert merits([old]).plausible.mean is None
    assert merits([]).self_bleu is None
    assert json.dumps(merits([]).record())


def test_entropy_of_equal_shares() -> None:
    assert entropy("abcd") == pytest.approx(2.0)
    assert entropy("aabc") == pytest.approx(1.5)
    assert entropy("") == 0


@pytest.mark.slow
def test_of_many_sentences_an_even_share_is_compared() -> None:
    many = merits([result("cup", "Office_1"), result("hat", "Hall_1")] * MOST_COMPARED)
    few = self_bleu(many.sentences[::2])
    assert many.self_bleu == pytest.approx(few)


def test_each_model_is_held_against_the_arm_that_reads_its_list() -> None:
    arms = arms_of(["a/b"], whole=True)
    assert [*arms][len(CONTROLS) :] == ["a/b, blind", "a/b, ranked", "a/b, whole"]
    assert arms["a/b, whole"] == {"model": "a/b"}


def test_an_unknown_arm_is_refused_before_any_run(tmp_path: Path) -> None:
    request = SynthRequest(kind="collab", spec="demo:", n=2)
    with pytest.raises(UsageError, match=r"no arm 'blind pick'.*mean 'blind picks'"):
        study_worth(request, [], tmp_path / "study", only=["blind pick"])
    assert not (tmp_path / "study").exists()


@pytest.mark.slow
def test_the_study_on_the_homes_that_ship(tmp_path: Path) -> None:
    """A builtin in a model's place: it reads the blind list as the blind picks do."""
    request = SynthRequest(kind="collab", spec="demo:", n=6, seed=3)
    only = ["blind picks", "always first", "builtin/random, blind", "builtin/first, ranked"]
    models = ["builtin/random", "builtin/first"]
    tables = study_worth(request, models, tmp_path, only=only)
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
    tables = study_worth(request, [], tmp_path, only=["always first"])
    assert len(tables) == 4
    assert against_blind({"always first": tmp_path / "always-first"}) == []
