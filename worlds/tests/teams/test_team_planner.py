"""A team's plan: what the agent is told, what is sent back, what is found before it is asked."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.utils.function_calling import convert_to_openai_tool

from navloom.errors import UsageError
from navloom.models.scripted import ScriptedChatModel
from navloom.scenes.scene_uri import load_scene
from navloom_worlds.teams import team_planner
from navloom_worlds.teams.team_planner import Context, sample_team_task, team_tools
from navloom_worlds.teams.team_task import TeamTask, check_team_plan
from tests.graphs.states import run

HOME = load_scene("demo:house")
SEED = 3


def task(**asked: Any) -> TeamTask:
    return sample_team_task(HOME, SEED, **{"robots": 3, "errands": 2, **asked})


def alone(robot: str = "robot_1", **asked: Any) -> list[dict[str, str]]:
    told = task(**asked).told()
    return [
        {"robot": robot, "object": each["object"], "from": each["object"], "to": each["to"]}
        for each in told["errands"]
    ]


def over(place: str) -> list[dict[str, str]]:
    """The first errand over a handoff, by robot_2 and robot_1."""
    first, *others = alone()
    return [{**first, "robot": "robot_2", "to": place}, {**first, "from": place}, *others]


def plan(script: list[Any], **context: Any) -> tuple[dict[str, Any], ScriptedChatModel]:
    with ScriptedChatModel(script) as model:
        given = Context(model=model, scene=HOME, **context)
        end = run(team_planner.graph, {"seed": SEED}, context=given)
    return end, model


def test_a_plan_is_checked_and_answered() -> None:
    legs = alone()
    end, model = plan([{"name": "check_team_plan", "args": {"legs": legs}}, {"legs": legs}])
    assert (end["status"], end["reason"]) == ("ok", None)
    (tool,) = model.calls[0].tools
    assert tool["function"]["name"] == "check_team_plan"
    system, human = (message.content for message in model.calls[0].messages[:2])
    assert "check_team_plan(legs)" in system
    assert "travel_time" not in system
    assert '"starts in"' in human
    result, kept = end["result"], end["result"]["navloom"]
    assert result["verdict"] == "plan"
    assert [leg["robot"] for leg in result["team"]["legs"]] == ["robot_1", "robot_1"]
    assert kept["value"] == kept["makespan_s"] == pytest.approx(kept["metres"]["robot_1"])
    assert kept["best"] <= kept["value"]
    assert kept["regret"] == pytest.approx(kept["value"] / kept["best"] - 1)
    assert (kept["exact"], kept["tool_calls"], kept["turns"]) == (True, 1, 2)
    assert result["phase_1"]["Single robot start region"]["robot_1"] == task().regions[0]


def test_the_library_is_asked_beside_it() -> None:
    legs = alone()
    asked = {"robot": "robot_2", "start": task().regions[1], "goal": legs[0]["to"]}
    script = [
        [
            {"name": "reach", "args": {"robot": "robot_1"}},
            {"name": "travel_time", "args": asked},
            {"name": "travel_time", "args": {**asked, "robot": "robot_9"}},
        ],
        {"legs": legs},
    ]
    end, model = plan(script, tools="library")
    assert end["status"] == "ok"
    assert len(model.calls[0].tools) == 3
    told = [message.content for message in model.calls[1].messages[-3:]]
    assert '"reached"' in told[0]
    assert '"seconds"' in told[1]
    assert "There is no robot_9 in the team" in told[2]


def test_what_is_wrong_is_told_back_and_given_up() -> None:
    legs = alone()
    end, model = plan([{"legs": legs[:1]}, {"legs": None}, {"legs": legs}], tools="none")
    assert end["status"] == "ok"
    assert end["result"]["navloom"]["violations_mended"] == ["no_plan", "plan_exists"]
    assert f"Nobody carries the {legs[1]['object']}" in model.calls[1].messages[-1].content
    assert "A plan does all errands" in model.calls[2].messages[-1].content
    # What was not believed is not asked for again.
    held = [call.response_format["properties"]["legs"] for call in model.calls]
    assert ["anyOf" in each for each in held] == [True, True, False]
    end, _ = plan([{"legs": legs[:1]}] * 2, tools="none", max_reasks=1)
    assert (end["status"], end["reason"]) == ("failed", "no_plan")
    assert not end.get("result")


def test_that_no_plan_does_it_is_found_before_anyone_is_asked() -> None:
    end, model = plan([], max_metres=1.0)
    assert (end["status"], model.calls, end["usage"]) == ("ok", [], [])
    kept = end["result"]["navloom"]
    assert (end["result"]["verdict"], kept["decided_by"]) == ("no plan", "survey")
    assert "the least cap that one keeps is" in kept["why"]


@pytest.mark.parametrize("model", ["builtin/heuristic", "builtin/random"])
@pytest.mark.parametrize(
    "context", [{}, {"tools": "none"}, {"robots": 1}, {"errands": 3}, {"by": "alpha"}]
)
def test_baselines_plan_for_teams(model: str, context: dict[str, Any]) -> None:
    given = Context(model=model, scene=HOME, **context)
    end = run(team_planner.graph, {"seed": SEED}, context=given)
    assert end["status"] == "ok", end["message"]
    assert end["result"]["navloom"]["regret"] >= 0


@pytest.mark.slow
def test_the_heuristic_learns_who_does_not_get_where() -> None:
    home, bodies = load_scene("home:0"), ("FETCH", "SPOT", "FETCH")
    ended = {"ok": 0, "failed": 0}
    for seed in range(12):
        given = Context(scene=home, bodies=bodies)
        end = run(team_planner.graph, {"seed": seed}, context=given)
        ended[end["status"]] += (end.get("result") or {}).get("verdict") != "no plan"
    assert ended["ok"] > ended["failed"]


WRONG = [
    ([], "legs must be a list"),
    (None, "legs must be a list"),
    ([{"robot": "robot_1"}], "must have the keys robot, object, from, to"),
    ([{**alone()[0], "robot": "robot_7"}], "'robot_7', who is not in the team"),
    ([{**alone()[0], "object": "moon"}], "'moon' is not to be carried"),
    ([{**alone()[0], "to": "nowhere in Attic_9"}], "is no place of this task"),
    (alone()[:1], "Nobody carries the"),
    (
        [{**alone()[0], "from": alone()[0]["to"]}, alone()[1]],
        f"Leg 1 takes the {alone()[0]['object']} nowhere",
    ),
    ([*alone(), alone()[0]], "twice"),
]


@pytest.mark.parametrize(("legs", "said"), WRONG)
def test_a_wrong_plan_is_told_in_one_line(legs: Any, said: str) -> None:
    found = check_team_plan(task(), legs)
    assert found["valid"] is False
    assert said in found["error"]
    assert "\n" not in found["error"]


def test_a_handoff_is_where_things_may_be_handed_over() -> None:
    asked = task()
    place = asked.told()["handoff places"][0]
    found = check_team_plan(asked, over(place))
    assert found["valid"], found
    assert {leg["robot"] for leg in found["legs"]} == {"robot_1", "robot_2"}
    where = alone()[0]["object"].partition(" in ")[2]
    near = [each for each in asked.told()["handoff places"] if each.endswith(f" in {where}")]
    found = check_team_plan(asked, over(near[0]))
    assert "cannot be handed over on the" in found["error"]


@pytest.mark.slow
def test_a_leg_out_of_reach_is_said_first_with_whose_it_is() -> None:
    home = load_scene("home:2")
    for seed in range(20):
        asked = sample_team_task(home, seed, robots=2, errands=1, bodies=("FETCH",))
        name, errand = next(iter(asked.things.items()))
        end = asked.told()["errands"][0]["to"]
        leg = {"robot": "robot_1", "object": name, "from": name, "to": end}
        handed = [{**leg, "to": next(iter(asked.places))}]
        found = check_team_plan(asked, [leg])
        if not found["valid"]:
            assert "robot_1 (FETCH) does not get from" in found["error"]
            assert found["robot"] == "robot_1"
            assert found["place"] in asked.places
            assert errand.object
            assert handed
            return
    raise AssertionError("FETCH got everywhere")


def test_over_the_cap_says_who() -> None:
    found = check_team_plan(task(max_metres=20.0), alone())
    assert (found["valid"], found["robot"]) == (False, "robot_1")
    assert "may walk 20 m at most" in found["error"]


@pytest.mark.parametrize("context", [{"robots": 0}, {"robots": 40}, {"errands": 0}])
def test_no_team_is_refused(context: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="A team has 1 to 12"):
        Context(scene=HOME, **context)
    with pytest.raises(UsageError, match="take fewer --robots or --errands"):
        sample_team_task(load_scene("demo:flat"), 0, robots=12, errands=1)


def test_tools_hold_names_where_they_are_asked_to() -> None:
    held, free = (team_tools(task(), constrain=each) for each in (True, False))
    told = [json.dumps(convert_to_openai_tool(each[0])) for each in (held, free)]
    assert '"enum": ["robot_1", "robot_2", "robot_3"]' in told[0]
    assert '"enum"' not in told[1]
