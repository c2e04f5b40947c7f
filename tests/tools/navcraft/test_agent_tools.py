"""The tools as a model is given them."""

from __future__ import annotations

import json
from typing import Any

from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

from navloom.graphs.navcraft.single import path_tools, relay_tools
from navloom.tools.navcraft.task_paths import check_two_path_and_adjacency
from tests.tools.navcraft.test_relay import row_task
from tests.tools.navcraft.worlds import ROW, row_house

TRIPLE = {"start_region": "Bedroom_1", "target_region": "Study_4", "end_region": "Hall_2"}
RELAY = {
    "robot_2_start_region": "Attic_6",
    "transfer_region": "Living_room_3",
    "transfer_asset": "coffee_table",
    "collab_type": "Type-A1",
}


def by_name(tools: list[BaseTool]) -> dict[str, BaseTool]:
    return {tool.name: tool for tool in tools}


def schema(tool: BaseTool) -> dict[str, Any]:
    function: dict[str, Any] = convert_to_openai_tool(tool)["function"]
    properties: dict[str, Any] = function["parameters"]["properties"]
    return properties


def test_tools_have_the_papers_names_and_arguments() -> None:
    tools = by_name([*path_tools(row_house()), *relay_tools(row_task())])
    assert {name: list(schema(tool)) for name, tool in tools.items()} == {
        "check_two_path_and_adjacency": ["start_region", "target_region", "end_region"],
        "check_path_and_adjacency": ["region_a", "region_b"],
        "check_collab_path_efficient": [
            "robot_2_start_region",
            "transfer_region",
            "transfer_asset",
            "collab_type",
        ],
    }
    assert all(tool.description for tool in tools.values())


def test_names_are_enumerated_only_when_asked() -> None:
    held = by_name([*path_tools(row_house()), *relay_tools(row_task())])
    assert schema(held["check_path_and_adjacency"])["region_a"]["enum"] == [*ROW]
    relay = schema(held["check_collab_path_efficient"])
    assert relay["transfer_asset"]["enum"] == ["kitchen_counter", "coffee_table"]
    free = by_name(
        [*path_tools(row_house(), constrain=False), *relay_tools(row_task(), constrain=False)]
    )
    assert "enum" not in schema(free["check_path_and_adjacency"])["region_a"]
    relay = schema(free["check_collab_path_efficient"])
    assert "enum" not in relay["transfer_asset"]
    assert relay["collab_type"]["enum"] == ["Type-A1", "Type-A2"]


def test_tau_reaches_the_answer_and_the_description() -> None:
    tool = by_name(path_tools(row_house(), tau=3))["check_two_path_and_adjacency"]
    assert tool.invoke(TRIPLE)["t2e_valid"] is False
    assert "at least 3 links" in tool.description


def test_the_answer_is_the_functions() -> None:
    tool = by_name(path_tools(row_house()))["check_two_path_and_adjacency"]
    assert tool.invoke(TRIPLE) == check_two_path_and_adjacency(
        row_house(), "Bedroom_1", "Study_4", "Hall_2"
    )


def test_strict_reaches_the_relay_tool() -> None:
    relay = {**RELAY, "robot_2_start_region": "Pantry_5"}
    (free,), (strict,) = relay_tools(row_task()), relay_tools(row_task(), strict=True)
    assert free.invoke(relay)["efficient"] is True
    assert "next to the target region" in strict.invoke(relay)["error"]


async def test_a_graph_answers_a_name_outside_the_enumeration_with_near_matches() -> None:
    tools = [*path_tools(row_house()), *relay_tools(row_task())]
    builder = StateGraph(MessagesState)
    builder.add_node("tools", ToolNode(tools, handle_tool_errors=True))
    builder.add_edge(START, "tools")
    builder.add_edge("tools", END)
    calls = [
        {"name": "check_two_path_and_adjacency", "args": {**TRIPLE, "end_region": "Hall"}},
        {"name": "check_collab_path_efficient", "args": RELAY},
    ]
    message = AIMessage("", tool_calls=[{**call, "id": str(i)} for i, call in enumerate(calls)])
    state = await builder.compile().ainvoke({"messages": [message]})
    answers = [json.loads(m.text) for m in state["messages"] if isinstance(m, ToolMessage)]
    assert answers[0]["error"].endswith("Did you mean 'Hall_2'?")
    assert answers[1]["efficient"] is True
