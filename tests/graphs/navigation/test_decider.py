"""The half that decides, alone: whoever moves the body himself arrives where the navigator does."""

from __future__ import annotations

from typing import Any

import pytest

from navloom.graphs.navigation import navigator
from navloom.graphs.navigation.navigator import Context, build_decider
from navloom.graphs.navigation.prompt_text import get_memory
from navloom.models.scripted import ScriptedChatModel
from navloom.sim.agent_handle import AgentHandle, pose_record
from navloom.sim.graph import GraphSimulator
from navloom.tools.navigation.step_records import NavStep
from tests.graphs.navigation.walks import GIVEN
from tests.tools.navcraft.rooms_in_a_row import home

REVISED = (
    "Action: 2\n<Reflection>Not there.</Reflection>\nFinal Decision: revise",
    "I go on.",
    "<Reasoning>The hall.</Reasoning>\nAction: 1\nFinal Decision: keep",
)
SCRIPT = (*REVISED, "Action: 1", "Action: 1", "Action: Stop.")


async def decided(simulator: GraphSimulator, context: Context) -> dict[str, Any]:
    """A walk whose moves are made here, each told to the decider in its next state."""
    decider, walker = build_decider(), AgentHandle(simulator, "navigator")
    memory = get_memory(context.memory)
    state: dict[str, Any] = dict(GIVEN)
    while True:
        state = await decider.ainvoke(state, context=context)
        if state["ending"]:
            return state
        step = NavStep.read(state["draft"])
        state["steps"] = [*state["steps"], state["draft"]]
        if step.action.kind == "stop":
            return {**state, "ending": "stop"}
        before, there = walker.look(state), step.action.viewpoint or ""
        (way,) = (each for each in before.candidates if each.viewpoint == there)
        after = walker.hop(state, there)
        hops = len(state["trajectory"])
        line = memory.step(hops, before.pose, after.pose, way, state["seen"])
        pose = pose_record(after.pose)
        state = {
            **state,
            "pose": pose,
            "trajectory": [*state["trajectory"], list(pose.values())],
            "history": [*state["history"], line],
        }


@pytest.mark.parametrize("memory", ["history", "map"])
async def test_a_loop_of_ones_own_walks_as_the_navigator_does(memory: Any) -> None:
    settings: dict[str, Any] = {"memory": memory, "reflect": True, "oracle": "assistant"}
    ends, asked = [], []
    for alone in (True, False):
        simulator = GraphSimulator(home())
        with ScriptedChatModel(SCRIPT) as model:
            context = Context(
                simulator=simulator, model=model, oracle_model="builtin/heuristic", **settings
            )
            if alone:
                state = await decided(simulator, context)
            else:
                channels = navigator.graph.stream_channels_list
                state = await navigator.graph.ainvoke(GIVEN, context=context, output_keys=channels)
        ends.append(
            {key: state[key] for key in ("trajectory", "steps", "history", "ending", "seen")}
        )
        asked.append([[m.content for m in call.messages] for call in model.calls])
    assert ends[0] == ends[1]
    assert asked[0] == asked[1]
    assert ends[0]["steps"][0]["revised"] == 1
    assert len(ends[0]["trajectory"]) == 4


async def test_what_is_decided_moves_nobody() -> None:
    simulator = GraphSimulator(home())
    with ScriptedChatModel(["Action: 1"]) as model:
        context = Context(simulator=simulator, model=model)
        state = await build_decider().ainvoke(GIVEN, context=context)
    assert state["draft"]["action"]["kind"] == "move"
    assert state["ending"] is None
    assert [pose[0] for pose in state["trajectory"]] == [GIVEN["start"]]
    (seen,) = simulator.step({}).values()
    assert seen.pose.viewpoint == GIVEN["start"]


async def test_a_question_is_the_callers_to_answer() -> None:
    with ScriptedChatModel(["Action: Ask: Which way is the sink?"]) as model:
        context = Context(simulator=GraphSimulator(home()), model=model, dialogue=True)
        state = await build_decider().ainvoke(GIVEN, context=context)
    action = state["draft"]["action"]
    assert (action["kind"], action["question"]) == ("ask", "Which way is the sink?")
    assert state["dialogue"] == []


async def test_no_action_to_be_had_ends_it() -> None:
    with ScriptedChatModel(["Hm."] * 3) as model:
        context = Context(simulator=GraphSimulator(home()), model=model)
        state = await build_decider().ainvoke(GIVEN, context=context)
    assert (state["ending"], len(state["steps"])) == ("unparsed", 1)


async def test_the_oracle_speaks_before_a_stop_that_is_too_early_is_decided() -> None:
    with ScriptedChatModel(["Action: Stop", "Action: 1"]) as model:
        context = Context(
            simulator=GraphSimulator(home()),
            model=model,
            oracle="assistant",
            oracle_model="builtin/heuristic",
        )
        state = await build_decider().ainvoke(GIVEN, context=context)
    assert state["draft"]["oracle"]["trigger"] == "early_stop"
    assert (state["draft"]["action"]["kind"], state["ending"]) == ("move", None)
