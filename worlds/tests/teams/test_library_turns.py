"""The efficiency library in the relay's conversation, by messages alone."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.messages import ToolMessage

from navloom.errors import UsageError
from navloom.evals.navcraft.request import SynthRequest
from navloom.evals.navcraft.task_results import pairing
from navloom.graphs.navcraft import collab as navcraft_collab
from navloom.graphs.navcraft.collab import LIBRARY
from navloom.models.scripted import ScriptedChatModel
from tests.graphs.navcraft.errands import CHECK_RELAY, RELAY, phase_1, phase_2
from tests.graphs.states import run
from tests.tools.navcraft.worlds import row_house

WALK = {"robot": "robot_2", "start": "Bedroom_1", "goal": "coffee_table in Living_room_3"}
CALLS = [
    {"name": "recommend", "args": {"k": 2}},
    {"name": "reach", "args": {"body": "robot_2", "place": "Bedroom_1"}},
    {"name": "travel_time", "args": WALK},
    {"name": "rendezvous", "args": RELAY},
    {"name": "interference", "args": RELAY},
    {"name": "revise_route", "args": {**WALK, "depart_s": 6}},
]


def lift(model: Any, **context: Any) -> dict[str, Any]:
    given = {"scene": row_house(), "tools": "library", **context}
    return run(
        navcraft_collab.graph,
        {"seed": 7, "phase_1": phase_1()["phase_1"], "wish": {"type": "Type-A2"}},
        context=navcraft_collab.Context(model=model, **given),
    )


def test_a_model_asks_each_tool_and_the_relay_is_still_confirmed() -> None:
    with ScriptedChatModel([*CALLS, CHECK_RELAY, phase_2()]) as model:
        end = lift(model)
    assert end["status"] == "ok", end.get("message")
    record = end["result"]["navloom"]
    assert record["library_calls"] == dict.fromkeys(sorted(LIBRARY), 1)
    assert record["tool_calls"] == 7
    assert record["prompt_collab"]["name"] == "navcraft_collab"
    assert record["prompt_library"]["name"] == "navcraft_collab_library"
    answers = [json.loads(m.text) for m in end["messages"] if isinstance(m, ToolMessage)]
    assert [each for each in answers if "error" in each] == []
    best, reached, walked, met, _, route, checked = answers
    assert best["recommended"][0]["alpha"] == round(record["best_alpha"], 3)
    assert (reached["reached"], walked["metres"]) == (6, 10.0)
    # robot_2 is at the table after 10 s, the cup after 16 s: it may stay with its guest for 6.
    assert met["latest_departure_s"] == {"robot_1": 0.0, "robot_2": pytest.approx(6)}
    assert met["makespan_s"] == pytest.approx(record["makespan_s"])
    assert route["arrive_s"] == pytest.approx(met["handoff_s"])
    assert checked["efficient"] is True
    said = str(model.calls[0].messages[0].content)
    assert "recommend(k)" in said
    assert [*model.calls[0].tools] != []


def test_what_is_only_recommended_is_not_accepted() -> None:
    with ScriptedChatModel([CALLS[0], phase_2(), CHECK_RELAY, phase_2()]) as model:
        end = lift(model)
    assert end["violations"] == ["not_confirmed"]
    assert end["status"] == "ok"


def test_a_call_of_the_library_that_fails_again_and_again_ends_the_attempt() -> None:
    wrong = {"name": "reach", "args": {"body": "robot_2", "place": "Cellar_9"}}
    with ScriptedChatModel([wrong, wrong, wrong]) as model:
        end = lift(model)
    assert (end["status"], end["reason"]) == ("failed", "repeated_call")
    second = [m.text for m in end["messages"] if isinstance(m, ToolMessage)][1]
    assert second.startswith("This call failed before and fails again. There is no place")


def test_the_prompt_of_the_paper_stays_word_for_word() -> None:
    asked = []
    for tools in ("check", "library"):
        with ScriptedChatModel([{"phase_2": None}]) as model:
            lift(model, tools=tools)
        asked.append([str(m.content) for m in model.calls[0].messages])
    plain, library = asked
    assert library[0].startswith(plain[0])
    assert library[1] == plain[1]


def test_the_heuristic_takes_what_is_recommended() -> None:
    end = lift("builtin/heuristic")
    record = end["result"]["navloom"]
    assert record["library_calls"] == {"recommend": 1}
    assert record["tool_calls"] == 2
    assert record["regret_asked"] == pytest.approx(0)


def test_bodies_are_the_libraries_where_relays_are_driven() -> None:
    context = navcraft_collab.Context(
        scene=row_house(), tools="library", verify_sim=True, robot_1="SPOT", robot_2="FETCH"
    )
    state = {"seed": 7, "phase_1": phase_1()["phase_1"], "asked": {"type": "Type-A2"}}
    tools = {tool.name: tool for tool in navcraft_collab.tools(state, context)}  # type: ignore[arg-type]
    seconds = [
        tools["travel_time"].invoke({**WALK, "robot": robot})["seconds"]
        for robot in ("robot_1", "robot_2")
    ]
    assert seconds == [pytest.approx(10 / 1.6), pytest.approx(10)]


def test_a_request_with_the_tool_alone_is_what_it_was() -> None:
    asked = SynthRequest(kind="collab", spec="demo:").record()
    assert "tools" not in asked
    assert [each["name"] for each in asked["prompts"]] == ["navcraft_single", "navcraft_collab"]
    library = SynthRequest(kind="collab", spec="demo:", tools="library").record()
    assert library["tools"] == "library"
    assert library["prompts"][-1]["name"] == "navcraft_collab_library"
    for wrong in ({"kind": "single"}, {"kind": "collab", "compact": True}):
        with pytest.raises(UsageError, match="--tools library goes with collab"):
            SynthRequest(spec="demo:", tools="library", **wrong)


def test_two_arms_are_compared_by_regret_calls_and_tokens() -> None:
    pairs = pairing()
    line = {
        "status": "ok",
        "usage": {"calls": 5, "input_tokens": 700, "output_tokens": 30},
        "result": {**phase_1(), **phase_2(), "navloom": {"tool_calls": 3, "regret_asked": 0.1}},
    }
    scores = pairs.scores(line)
    shown = {name: scores[name] for name in ("regret_asked", "tool_calls", "model_calls", "tokens")}
    assert shown == {"regret_asked": 0.1, "tool_calls": 3, "model_calls": 5, "tokens": 730}
    assert shown.keys() <= pairs.less
    assert pairs.effort == {"tool_calls", "model_calls", "tokens"}
    assert pairs.scores({"status": "failed"})["tokens"] is None
