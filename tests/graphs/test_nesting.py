"""Graphs of ours in somebody else's: contexts that differ, streams, resuming, what was paid."""

from __future__ import annotations

from operator import add
from typing import Annotated, Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Overwrite
from typing_extensions import TypedDict

from navloom import as_node
from navloom.errors import UsageError
from navloom.graphs.capnav import answerer
from navloom.graphs.invocation import usage_so_far
from navloom.graphs.navcraft import collab, single
from navloom.graphs.navigation import navigator
from navloom.graphs.navigation.context import Context as Walker
from navloom.models.scripted import ScriptedChatModel
from tests.graphs.navcraft.errands import CHECK, phase_1
from tests.graphs.navigation.walks import GIVEN
from tests.graphs.test_langgraph_json import LISTED
from tests.tools.navcraft.rooms_in_a_row import home
from tests.tools.navcraft.worlds import row_house


class Theirs(TypedDict, total=False):
    seed: int
    errand: dict[str, Any]
    walk: dict[str, Any]
    usage: Annotated[list[dict[str, Any]], add]


def both(craft: Any, walk: Any, checkpointer: Any = None) -> Any:
    """An errand is crafted in one home, then somebody walks in another."""
    builder = StateGraph(Theirs)
    builder.add_node(
        "craft",
        as_node(
            single.graph,
            context=single.Context(scene=row_house(), model=craft),
            output=lambda made, _: {"errand": made["result"], "usage": made["usage"]},
        ),
    )
    builder.add_node(
        "walk",
        as_node(
            navigator.graph,
            context=Walker(scene=home(), model=walk),
            input=lambda *_: GIVEN,
            output=lambda done, _: {"walk": done["result"], "usage": done["usage"]},
        ),
    )
    builder.add_edge(START, "craft")
    builder.add_edge("craft", "walk")
    builder.add_edge("walk", END)
    return builder.compile(checkpointer=checkpointer)


async def test_two_of_ours_are_nodes_of_theirs_and_stream_their_steps() -> None:
    seen: list[tuple[str, str]] = []
    with (
        ScriptedChatModel([CHECK, phase_1()]) as craft,
        ScriptedChatModel(["Action: 1", "Action: Stop"]) as walk,
    ):
        stream = both(craft, walk).astream({"seed": 1}, stream_mode="updates", subgraphs=True)
        async for namespace, update in stream:
            seen += [(namespace[0].partition(":")[0] if namespace else "", node) for node in update]
    assert seen[:3] == [("craft", "propose"), ("craft", "consult"), ("craft", "propose")]
    assert ("walk", "think") in seen
    assert [node for where, node in seen if not where] == ["craft", "walk"]


@pytest.mark.parametrize("broken", range(4))
async def test_it_goes_on_from_within_and_nothing_is_paid_or_counted_twice(broken: int) -> None:
    steps: list[Any] = [CHECK, phase_1(), "Action: 1", "Action: Stop"]
    steps.insert(broken, RuntimeError("power cut"))
    half = 2 + (broken < 2)
    config: Any = {"configurable": {"thread_id": "t"}}
    with ScriptedChatModel(steps[:half]) as craft, ScriptedChatModel(steps[half:]) as walk:
        graph = both(craft, walk, InMemorySaver())
        with pytest.raises(RuntimeError, match="power cut"):
            await graph.ainvoke({"seed": 1}, config)
        assert len(usage_so_far(await graph.aget_state(config, subgraphs=True))) == broken
        done = await graph.ainvoke(None, config)
    assert [paid["role"] for paid in done["usage"]] == ["generator"] * 2 + ["navigator"] * 2
    assert done["walk"]["stopped"] is True


class _CutBetween(InMemorySaver):
    """A store that keeps what the first node gave, and fails before its step is over."""

    async def aput(self, config: Any, checkpoint: Any, metadata: Any, *rest: Any) -> Any:
        if metadata["step"] > 0:
            raise OSError("power cut")
        return await super().aput(config, checkpoint, metadata, *rest)


async def test_what_was_paid_is_known_while_the_first_node_has_ended_and_its_step_has_not() -> None:
    config: Any = {"configurable": {"thread_id": "t"}}
    graph = navigator.build_graph(_CutBetween())
    with ScriptedChatModel([]) as walk, pytest.raises(OSError, match="power cut"):
        await graph.ainvoke(
            GIVEN, config, context=Walker(scene=home(), model=walk), durability="sync"
        )
    there = await graph.aget_state(config, subgraphs=True)
    assert isinstance(there.tasks[0].result["usage"], Overwrite)
    assert usage_so_far(there) == []


async def test_a_graph_put_in_directly_says_how_it_is_put_in() -> None:
    builder = StateGraph(Theirs)
    builder.add_node("craft", single.graph)
    builder.add_edge(START, "craft")
    with pytest.raises(UsageError, match=r"navcraft_single was given no context: .* as_node\("):
        await builder.compile().ainvoke({"seed": 1})
    foreign: Any = Walker(scene="demo:flat")
    with pytest.raises(
        UsageError, match=r"given a navloom\.graphs\.navigation\.context\.Context: give"
    ):
        await single.graph.ainvoke({"seed": 1}, context=foreign)


@pytest.mark.parametrize("name", LISTED)
async def test_every_graph_gives_an_outcome_and_asks_for_its_context_in_one_line(name: str) -> None:
    from importlib import import_module

    graph = import_module(LISTED[name].partition(":")[0]).graph
    keys = {"result", "status", "reason", "message", "usage"}
    assert set(graph.get_output_jsonschema()["properties"]) == keys
    assert "usage" not in graph.get_input_jsonschema()["properties"]
    context = graph.get_context_jsonschema()["properties"]
    assert context["model"]["type"] == "string"
    assert all(each.get("description") for each in context.values())
    drawn = graph.get_graph()
    assert any(edge.target == "__end__" for edge in drawn.edges)
    with pytest.raises(UsageError, match=f"^{name} was given no context: give context="):
        await graph.ainvoke({"seed": 1})


async def test_wrong_input_is_one_line() -> None:
    context = single.Context(scene="demo:flat")
    for given, said in (
        ({}, "navcraft_single's input: seed: Field required"),
        ({"seed": "one"}, "navcraft_single's input: seed: .* integer, found 'one'"),
    ):
        with pytest.raises(UsageError, match=said):
            await single.graph.ainvoke(given, context=context)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="phase_1 is not a valid single-robot task"):
        await collab.graph.ainvoke(
            {"seed": 1, "phase_1": {"x": 1}}, context=collab.Context(scene="demo:flat")
        )
    with pytest.raises(UsageError, match="question: Field required"):
        await answerer.graph.ainvoke({}, context=answerer.Context(scene="demo:flat"))  # type: ignore[arg-type]
