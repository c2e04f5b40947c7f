"""A finished episode's line, what the lines of a run add up to, and how numbers are printed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from navloom.errors import RunError
from navloom.evals.navigation.scores import (
    OracleScores,
    RunScores,
    empty_oracle_scores,
    empty_run_scores,
    format_metric,
    read_effort,
    read_finished,
    score_sample,
)
from tests.evals.navigation.test_metrics import ROW, episode, scene_with
from tests.evals.navigation.test_rescore import line, run_with

# As ROW, and d is a long way off.
FAR = scene_with({"a": (0, 0, 0), "b": (2, 0, 0), "z": (0, 90, 0)}, ["a b"])


def ended(walk: str, end: str = "stop", **result: Any) -> dict[str, Any]:
    """A navigator's final state."""
    trajectory = [[viewpoint, 0.0, 0.0] for viewpoint in walk]
    return {"result": {"trajectory": trajectory, "end": end, "steps": [], **result}}


@pytest.mark.parametrize(
    ("walk", "end", "status", "reason", "message"),
    [
        ("abcd", "stop", "ok", None, None),
        ("ab", "stop", "failed", "stopped_away", "stopped, 4.00 m from the goal"),
        ("ab", "max_steps", "failed", "max_steps", "the steps ran out, 4.00 m from the goal"),
        ("ab", "unparsed", "failed", "unparsed", "unparsed, 4.00 m from the goal"),
        (
            "ad",
            "stop",
            "failed",
            "invalid",
            "hop 1, from a to d, is along no edge of the navigation graph",
        ),
    ],
)
def test_a_line_says_why_its_episode_failed(
    walk: str, end: str, status: str, reason: str | None, message: str | None
) -> None:
    found = score_sample(episode(), ended(walk, end), ROW)
    assert (found["status"], found["reason"], found["message"]) == (status, reason, message)
    assert found["result"]["scores"]["SR"] == float(status == "ok")


def test_a_goal_out_of_reach_and_words_of_the_navigator_are_in_the_message() -> None:
    found = score_sample(episode("ab", goals=("z",)), ended("ab"), FAR)
    assert found["message"] == "stopped, where no way leads to the goal"
    state = {**ended("ab", "collision"), "message": "it hit a chair"}
    assert score_sample(episode(), state, ROW)["message"] == "it hit a chair, 4.00 m from the goal"


def test_contacts_are_scored_where_the_simulator_reports_them() -> None:
    state = ended("abcd", contacts=[{"displacement": 0.3, "point": [0, 0, 0]}])
    assert "collision_rate" not in score_sample(episode(), state, ROW)["result"]["scores"]
    values = score_sample(episode(), state, ROW, touches=True)["result"]["scores"]
    # One contact in three hops.
    assert values["collision_rate"] == pytest.approx(1 / 3)
    assert (values["actions"], values["SR_strict"]) == (3, 0)
    lenient = score_sample(episode(), state, ROW, touches=True, noticeable=0.5)["result"]["scores"]
    assert lenient["SR_strict"] == 1


def test_an_empty_trajectory_has_no_actions() -> None:
    values = score_sample(episode(), ended("", "dead_end"), ROW, touches=True)["result"]["scores"]
    assert values["invalid"]["reason"] == "empty"
    assert values["actions"] == 0


def test_the_position_beside_a_viewpoint_is_what_is_scored() -> None:
    state = ended("abc")
    state["result"]["trajectory"][-1] += [5.0, 0.0, 0.0]
    values = score_sample(episode(), state, ROW)["result"]["scores"]
    assert (values["TL"], values["NE"]) == (5, 1)


def test_the_object_that_was_named_is_scored() -> None:
    asked = episode(visible_from=("d",), columns={"object": 7})
    assert score_sample(asked, ended("abcd", pointed={"object": "7"}), ROW)["result"]["scores"][
        "RGS"
    ]
    assert "RGS" not in score_sample(asked, ended("abcd"), ROW)["result"]["scores"]


def finished(**more: Any) -> dict[str, Any]:
    """A sample's line with what a run's sums are of."""
    result = {
        "scores": {"SR": 1.0, "cluster": "a", "invalid": None},
        "counts": {"steps": 3, "reprompts": 1},
        "end": "stop",
        "tags": {"behaviour": ["detour"]},
        "steps": [],
    }
    usage = {"input_tokens": 10, "output_tokens": 4}
    return {"result": result, "usage": usage, "cost_usd": 0.25, "seconds": 1.25, **more}


def test_a_run_has_means_of_its_episodes() -> None:
    run = RunScores("r2r", "agent", "model")
    run.add(finished())
    run.add(finished())
    lost = finished(usage=None, seconds=None, cost_usd=0.5)
    lost["result"]["scores"]["invalid"] = {"reason": "missing"}
    lost["result"]["counts"] = {"steps": 4}
    run.add(lost)
    told = run.record()
    assert (told["episodes"], told["invalid"], told["cost_usd"]) == (3, 1, 1.0)
    assert (told["ends"], told["behaviours"]) == ({"stop": 3}, {"detour": 3})
    mean = told["an_episode"]
    assert (mean["steps"], mean["reprompts"], mean["leaks"]) == (3.3333, 0.6667, 0)
    assert (mean["input_tokens"], mean["output_tokens"], mean["seconds"]) == (6.7, 2.7, 0.8333)
    assert told["oracle"] is None


def test_means_of_one_episode_are_its_own() -> None:
    run = RunScores(oracle=OracleScores("map"))
    said = finished()
    said["result"]["steps"] = [
        {"asked": {"told": ["text"]}, "oracle": None},
        {"asked": {"answer": "Go on."}, "oracle": {"told": []}},
        {"asked": None},
    ]
    run.add(said)
    told = run.record()
    assert (told["an_episode"]["steps"], told["an_episode"]["seconds"]) == (3, 1.25)
    assert (told["oracle"]["answers"], told["oracle"]["told"]["text"]) == (2, 0.5)
    assert OracleScores("map").record()["answers"] == 0


@pytest.mark.parametrize("costs", [(None, 0.5), (0.5, None)])
def test_the_cost_of_a_run_is_not_known_where_one_episodes_is_not(
    costs: tuple[float | None, ...],
) -> None:
    run = RunScores()
    for cost in costs:
        run.add(finished(cost_usd=cost))
    assert run.record()["cost_usd"] is None


def test_a_run_without_episodes_has_nothing_an_episode() -> None:
    told = RunScores().record()
    assert (told["episodes"], told["cost_usd"], told["metrics"]) == (0, 0, {})
    assert (told["invalid"], told["rooms_named"]) == (0, 0)
    assert set(told["an_episode"].values()) == {0}


def test_shares_of_answers_have_four_decimals() -> None:
    oracle = OracleScores("map", answers=3)
    oracle.told["text"] = 1
    assert oracle.record()["told"]["text"] == 0.3333


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ({"dialogue": True}, ("path", True, 0)),
        ({"oracle": "path"}, ("path", True, 0)),
        ({"dialogue": True, "oracle_arrival": False, "ask_cost": 2}, ("path", False, 2)),
        ({"dialogue": True, "model": "builtin/random"}, ("nothing", True, 0)),
        (
            {"dialogue": True, "model": "builtin/random", "oracle_model": "openai/m"},
            ("path", True, 0),
        ),
        ({"oracle": "bound"}, ("bound", True, 0)),
    ],
)
def test_the_oracle_of_a_request(request_: dict[str, Any], expected: tuple[str, bool, int]) -> None:
    found = empty_oracle_scores(request_)
    assert found is not None
    assert (found.knows, found.arrival, found.ask_cost) == expected


@pytest.mark.parametrize(
    ("scenes", "named"), [({"rooms_named": 3}, 3), ({"rooms_named": "3"}, 0), (["x"], 0), (None, 0)]
)
def test_a_request_says_how_many_scenes_have_named_rooms(scenes: Any, named: int) -> None:
    assert empty_run_scores({"task": "scene", "scenes": scenes}).rooms_named == named


@pytest.mark.parametrize(
    ("name", "value", "sign", "expected"),
    [
        ("SR", 0.25, "", "25.0%"),
        ("SR", 0.25, "+", "+25.0"),
        ("NE", 3.456, "", "3.46"),
        ("NE", 3.456, "+", "+3.46"),
        ("NE", -1000.0, "+", "-1,000"),
        ("NE", 999.999, "", "1000.00"),
        ("NE", 1000.0, "", "1,000"),
        ("steps", 3.0, "", "3"),
    ],
)
def test_numbers_are_printed_by_what_they_are(
    name: str, value: float, sign: str, expected: str
) -> None:
    assert format_metric(name, value, sign) == expected


def test_effort_is_what_a_line_says_in_numbers() -> None:
    assert read_effort({}) == dict.fromkeys(
        ("steps", "input_tokens", "output_tokens", "cost_usd", "seconds")
    )
    said = read_effort(
        {"usage": {"input_tokens": 7}, "result": {"counts": {"steps": 3}}, "seconds": "2"}
    )
    assert (said["steps"], said["input_tokens"], said["seconds"]) == (3, 7, None)


def test_trials_of_a_run_have_their_contacts(tmp_path: Path) -> None:
    touched = [{"displacement": 0.3}]
    lines = [
        line("1", "abcd", episode(), contacts=touched, pointed={"object": "7"}),
        line("2", "abcd", episode(), scores={"SR_telhop": 1}),
        line("3", "abcd", episode(), pointed="7"),
        line("4", "", episode(), contacts=touched, end=None),
    ]
    first, second, third, fourth = read_finished(run_with(tmp_path, lines, collision_threshold=1))
    assert first.contacts is not None
    assert (first.contacts.actions, first.contacts.displacements) == (3, (0.3,))
    assert first.contacts.noticeable == 1
    assert second.contacts is not None
    assert second.contacts.displacements == ()
    assert third.contacts is None
    assert (first.pointed, third.pointed) == ({"1": "7"}, {})
    assert (first.end, fourth.end) == ("stop", "")


def test_a_line_that_is_no_episode_is_named(tmp_path: Path) -> None:
    broken = line("1", "ab", episode())
    del broken["result"]["episode"]
    with pytest.raises(RunError, match="the sample '1' has not the form of a navigated episode"):
        list(read_finished(run_with(tmp_path, [broken])))
