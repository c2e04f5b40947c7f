"""Checkpoint files of earlier versions are read under today's names."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypedDict

from langgraph.graph import START, StateGraph

from navloom.graphs.agent_graph import Growing, open_saver


def counting_graph(key: str, saver: Any) -> Any:
    """A graph of two steps that each add a record to a growing key; it stops before the second."""
    graph = StateGraph(TypedDict("Kept", {key: Growing[dict[str, Any]], "n": int}))  # type: ignore[misc]
    for name in ("one", "two"):
        graph.add_node(name, lambda state: {key: [{"calls": state["n"]}], "n": state["n"] + 1})
    graph.add_edge(START, "one")
    graph.add_edge("one", "two")
    return graph.compile(checkpointer=saver, interrupt_before=["two"])


async def test_usage_of_an_earlier_version_is_resumed(tmp_path: Path) -> None:
    config: Any = {"configurable": {"thread_id": "t"}}
    async with open_saver(tmp_path / "t.sqlite") as saver:
        await counting_graph("paid", saver).ainvoke({"n": 1}, config)
    async with open_saver(tmp_path / "t.sqlite") as saver:
        end = await counting_graph("usage", saver).ainvoke(None, config)
    assert end == {"usage": [{"calls": 1}, {"calls": 2}], "n": 3}
