"""A team's plan in small choices: what is offered, what is sent back, what it comes to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from navloom.models.scripted import ScriptedChatModel
from navloom.scenes.scene_uri import load_scene
from navloom_worlds.teams import team_planner
from navloom_worlds.teams.team_optimum import TeamMeasure
from navloom_worlds.teams.team_planner import MOST_WAYS, AssignmentOffer, Context, sample_team_task
from navloom_worlds.teams.team_task import Assignment, TeamTask, assigned_legs, check_team_plan
from tests.graphs.states import run

HOME = load_scene("demo:house")
SEED = 3


def task(**asked: Any) -> TeamTask:
    return sample_team_task(HOME, SEED, **{"robots": 3, "errands": 2, **asked})


def best(asked: TeamTask) -> float:
    assert asked.best is not None
    return asked.best.value


def plan(script: list[Any], **context: Any) -> tuple[dict[str, Any], ScriptedChatModel]:
    with ScriptedChatModel(script) as model:
        given = Context(model=model, scene=HOME, compact=True, **context)
        end = run(team_planner.graph, {"seed": SEED}, context=given)
    return end, model


def carriers(end: dict[str, Any]) -> list[list[str]]:
    legs = end["result"]["team"]["legs"]
    things = dict.fromkeys(leg["object"] for leg in legs)
    return [[leg["robot"] for leg in legs if leg["object"] == thing] for thing in things]


def test_a_way_for_each_errand_becomes_a_plan() -> None:
    end, model = plan([{"way": 1}, {"way": 2}])
    offer = AssignmentOffer(task(), (), "ranked", SEED)
    first = offer.ways["1"].way
    second = AssignmentOffer(task(), (first,), "ranked", SEED).ways["2"]
    assert carriers(end) == [[*first.robots], [*second.way.robots]]
    kept = end["result"]["navloom"]
    assert (kept["choices"], kept["tools"], kept["turns"]) == ("ranked", "none", 2)
    assert kept["prompt"]["name"] == "navcraft_team_choices"
    # What was said of the last way is what the plan comes to.
    assert kept["makespan_s"] == pytest.approx(second.value)
    # Each question stands by itself, without tools, and its numbers are held.
    assert [len(call.messages) for call in model.calls] == [2, 2]
    assert not any(call.tools for call in model.calls)
    many = len(offer.ways)
    held = model.calls[0].response_format["properties"]["way"]
    assert held == {"type": "integer", "enum": [*range(1, many + 1)]}
    for call, errand in zip(model.calls, task().told()["errands"], strict=True):
        told = str(call.messages[1].content)
        assert f"brings the {errand['object']} to the {errand['to']}." in told
        assert "when all is done then:\n1: " in told
        assert "robot_1" not in told


def test_ranked_ways_are_the_best_of_all_the_least_first() -> None:
    asked = task()
    offer = AssignmentOffer(asked, (), "ranked", SEED)
    shown = [each.value for each in offer.ways.values()]
    assert shown == sorted(shown)
    assert len(shown) == MOST_WAYS
    assert offer.ways["1"].value == pytest.approx(best(replace(asked, errands=asked.errands[:1])))
    # A pair is shown over the best of its places.
    one, told = replace(asked, errands=asked.errands[:1]), asked.told()["errands"][:1]
    places = [name for name in one.places if name not in told[0].values()]
    pairs = [each for each in offer.ways.values() if each.way.over is not None]
    assert pairs
    for each in pairs:
        found = (
            check_team_plan(one, assigned_legs(told, [Assignment(each.way.robots, place)]))
            for place in places
        )
        values = [made["value"] for made in found if made["valid"]]
        assert each.value == pytest.approx(min(values))


def test_a_blind_list_is_the_seeds_and_is_answered_in_words() -> None:
    offer = AssignmentOffer(task(), (), "blind", SEED)
    words = [*offer.ways]
    assert len(words) == MOST_WAYS
    assert words != [*AssignmentOffer(task(), (), "blind", SEED + 1).ways]
    over = next(word for word in words if " over " in word)
    first, then = over.partition(" over ")[0].split(", then ")
    way = Assignment((first, then), over.partition(" over ")[2])
    second = next(iter(AssignmentOffer(task(), (way,), "blind", SEED).ways))
    end, model = plan([{"way": over}, {"way": second}], choices="blind")
    assert carriers(end)[0] == [first, then]
    assert model.calls[0].response_format["properties"]["way"]["enum"] == words
    assert f"\n{over}: " in str(model.calls[0].messages[1].content)


@pytest.mark.parametrize("wrong", [7, 0, "robot_1", None])
def test_a_way_that_is_not_there_is_told(wrong: Any) -> None:
    end, model = plan([{"way": wrong}, {"way": 1}, {"way": 1}], constrain=False)
    assert (end["status"], end["violations"]) == ("ok", ["way_not_there"])
    assert f"There is no way '{wrong}'." in str(model.calls[1].messages[-1].content)
    end, _ = plan([{"way": wrong}], max_reasks=0)
    assert (end["status"], end["reason"]) == ("failed", "way_not_there")


def test_a_way_after_which_nobody_can_go_on_is_sent_back_and_not_offered_again() -> None:
    cap = best(task(by="longest")) + 0.01
    asked = task(max_metres=cap)
    offer = AssignmentOffer(asked, (), "ranked", SEED)
    dead, good = (
        [
            number
            for number, each in offer.ways.items()
            if bool(AssignmentOffer(asked, (each.way,), "ranked", SEED).ways) == goes_on
        ]
        for goes_on in (False, True)
    )
    left = AssignmentOffer(asked, (), "ranked", SEED, (offer.key(offer.ways[dead[0]].way),))
    assert offer.ways[dead[0]].way not in [each.way for each in left.ways.values()]
    again = next(n for n, each in left.ways.items() if each.way == offer.ways[good[0]].way)
    script = [{"way": int(dead[0])}, {"way": int(again)}, {"way": 1}]
    end, model = plan(script, max_metres=cap)
    assert (end["status"], end["violations"]) == ("ok", ["no_way_on"])
    thing = asked.told()["errands"][1]["object"]
    assert f"After that nobody can bring the {thing}" in str(model.calls[1].messages[-1].content)
    assert max(end["result"]["navloom"]["metres"].values()) <= cap


def test_robot_1_has_to_carry_something_where_its_way_is_what_counts() -> None:
    asked = task(by="alpha")
    others = AssignmentOffer(asked, (), "ranked", SEED).ways["1"].way
    assert "robot_1" not in others.robots
    for each in AssignmentOffer(asked, (others,), "ranked", SEED).ways.values():
        assert "robot_1" in each.way.robots


@pytest.mark.parametrize("by", ["makespan", "alpha", "metres", "longest"])
@pytest.mark.parametrize("choices", ["ranked", "blind"])
def test_baselines_choose_too(choices: Any, by: TeamMeasure) -> None:
    regret = {}
    for model in ("builtin/heuristic", "builtin/random", "builtin/first"):
        context = Context(scene=HOME, model=model, compact=True, choices=choices, by=by)
        end = run(team_planner.graph, {"seed": SEED}, context=context)
        assert end["status"] == "ok", end["message"]
        regret[model] = end["result"]["navloom"]["regret"]
    if choices == "ranked":
        assert regret["builtin/heuristic"] == regret["builtin/first"]
        assert regret["builtin/heuristic"] <= regret["builtin/random"]
    else:
        assert regret["builtin/heuristic"] <= regret["builtin/first"]
