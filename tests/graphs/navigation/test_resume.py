"""A walk that broke goes on from its last step, in another simulator, without a call made twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from navloom.graphs.agent_graph import open_checkpoints
from navloom.graphs.navigation import navigator
from navloom.graphs.navigation.navigator import Context
from navloom.models.scripted import ScriptedChatModel
from navloom.sim.graph import GraphSimulator
from tests.graphs.navigation.walks import GIVEN, PictureSimulator
from tests.tools.navcraft.rooms_in_a_row import CORNER, HALL, KITCHEN, SINK, home

SCRIPT: list[Any] = [
    "Action: 1",
    "I would go on.",
    "Action: 1\nFinal Decision: revise",
    "Action: 1\nFinal Decision: keep",
    "Action: 1",
    "Action: Stop",
]


def settings(model: Any, simulator: Any) -> Context:
    return Context(simulator=simulator, model=model, memory="map", reflect=True, plan=True)


@pytest.mark.parametrize("broken", range(len(SCRIPT)))
async def test_each_call_is_made_once_and_the_simulator_is_put_back(
    broken: int, tmp_path: Path
) -> None:
    script = [*SCRIPT[:broken], RuntimeError("power cut"), *SCRIPT[broken:]]
    config: Any = {"configurable": {"thread_id": "a"}}
    with ScriptedChatModel(script) as model:
        async with open_checkpoints(tmp_path / "c.sqlite") as saver:
            with pytest.raises(RuntimeError, match="power cut"):
                await navigator.build_graph(saver).ainvoke(
                    GIVEN,
                    config,
                    context=settings(model, GraphSimulator(home())),
                    durability="sync",
                )
        # Another process: another connection, another graph, a simulator that nobody stands in.
        async with open_checkpoints(tmp_path / "c.sqlite") as saver:
            again = settings(model, PictureSimulator(home()))
            graph = navigator.build_graph(saver)
            await graph.ainvoke(None, config, context=again)
            end = (await graph.aget_state(config)).values
        sent = [str(call.messages[1].content)[:60] for call in model.calls]
    assert [pose[0] for pose in end["trajectory"]] == [HALL, CORNER, KITCHEN, SINK]
    assert [step["step"] for step in end["steps"]] == [1, 2, 3, 4]
    assert len(end["usage"]) == len(SCRIPT)
    assert end["result"]["counts"]["reprompts"] == 1
    assert end["result"]["counts"]["revisions"] == 1
    assert len(sent) == len(script)


async def test_a_simulator_that_others_used_meanwhile_is_put_back() -> None:
    shared = GraphSimulator(home())
    ends = []
    for start in (HALL, SINK):
        with ScriptedChatModel(["Action: 1", "Action: 1", "Action: Stop"]) as model:
            context = settings(model, shared)
            graph = navigator.build_graph(InMemorySaver())
            config: Any = {"configurable": {"thread_id": start}}
            given = {**GIVEN, "start": start}
            # Node by node, with another walk in between each two.
            async for _ in graph.astream(given, config, context=context):
                elsewhere = Context(
                    simulator=shared, model=ScriptedChatModel(lambda _: "Action: 2")
                )
                await navigator.graph.ainvoke({**GIVEN, "start": KITCHEN}, context=elsewhere)
            ends.append([pose[0] for pose in (await graph.aget_state(config)).values["trajectory"]])
    assert ends == [[HALL, CORNER, KITCHEN], [SINK, KITCHEN, SINK]]


async def test_two_walks_in_one_simulator_at_once_stay_apart() -> None:
    import asyncio

    shared = GraphSimulator(home())

    async def one(start: str) -> list[str]:
        model = ScriptedChatModel(["Action: 1", "Action: 1", "Action: Stop"])
        state = await navigator.graph.ainvoke(
            {**GIVEN, "start": start}, context=Context(simulator=shared, model=model)
        )
        return [pose[0] for pose in state["result"]["trajectory"]]

    walks = await asyncio.gather(*(one(start) for start in (HALL, SINK, HALL, KITCHEN)))
    assert walks == [
        [HALL, CORNER, KITCHEN], [SINK, KITCHEN, SINK], [HALL, CORNER, KITCHEN],
        [KITCHEN, SINK, KITCHEN],
    ]  # fmt: skip


async def test_a_simulator_that_cannot_be_remembered_works_too() -> None:
    class Unhashable(GraphSimulator):
        __hash__ = None  # type: ignore[assignment]

    with ScriptedChatModel(["Action: 1", "Action: Stop"]) as model:
        context = Context(simulator=Unhashable(home()), model=model)
        state = await navigator.graph.ainvoke(GIVEN, context=context)
    assert [pose[0] for pose in state["result"]["trajectory"]] == [HALL, CORNER]


async def test_the_state_holds_ids_and_texts_only() -> None:
    """What a strict checkpoint cannot read back would be lost without a word."""
    import json

    with ScriptedChatModel(SCRIPT) as model:
        context = settings(model, PictureSimulator(home()))
        channels = navigator.graph.stream_channels_list
        state = await navigator.graph.ainvoke(GIVEN, context=context, output_keys=channels)
    json.dumps({k: v for k, v in state.items() if k != "messages"})


@pytest.mark.slow
async def test_a_checkpoint_holds_a_step_and_not_all_before_it(tmp_path: Path) -> None:
    import sqlite3

    model = ScriptedChatModel(lambda _: "Action: 1")
    context = Context(scene="demo:house", model=model, memory="map", max_steps=60)
    config: Any = {"configurable": {"thread_id": "a"}}
    async with open_checkpoints(tmp_path / "c.sqlite") as saver:
        given: Any = {"instruction": "Walk.", "start": "1_0"}
        await navigator.build_graph(saver).ainvoke(
            given, config, context=context, durability="sync"
        )
    with sqlite3.connect(tmp_path / "c.sqlite") as kept:
        rows = kept.execute("SELECT length(checkpoint) FROM checkpoints ORDER BY checkpoint_id")
        sizes = [size for (size,) in rows]
    early, late = sorted(sizes[20:60]), sorted(sizes[-60:-20])
    assert late[len(late) // 2] < 1.5 * early[len(early) // 2]
