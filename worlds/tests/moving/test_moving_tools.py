"""The tools over a simulator, as functions and as a graph's model calls them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.messages import AnyMessage, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from navloom.errors import SimulatorError
from navloom.models.scripted import ScriptedChatModel
from navloom.scenes.bodies import DEFAULT_BODY
from navloom.sim.protocol import Pose, Simulator
from navloom.sim.registry import get_simulator
from navloom_worlds.moving import driving, surroundings
from navloom_worlds.moving.moving_tools import clearance, moving_tools

BEGIN, END = "Kitchen_3", "Study_6"


def standing(backend: str = "graph", **options: Any) -> Simulator:
    simulator = get_simulator(backend, "demo:flat", **options)
    (start, *_) = surroundings.goal_places(simulator.scene, BEGIN)
    simulator.reset({"robot": (Pose((0, 0, 0), viewpoint=str(start)), DEFAULT_BODY)})
    return simulator


@pytest.fixture
def simulator() -> Simulator:
    return standing()


def test_what_is_around(simulator: Simulator) -> None:
    seen = surroundings.look_around(simulator)
    assert (seen["region"], seen["contacts"]) == (BEGIN, [])
    ways = surroundings.candidates(simulator)["candidates"]
    known = {each.viewpoint for each in simulator.step({})["robot"].candidates}
    assert {way["viewpoint"] for way in ways} == known != set()


def test_going_is_as_long_as_was_planned(simulator: Simulator) -> None:
    far = surroundings.geodesic(simulator, BEGIN, END)
    assert far["regions"] == [BEGIN, "Living_room_2", "Bedroom_4", END]
    drive = driving.move_to(simulator, END)
    assert drive.arrived
    assert drive.planned == pytest.approx(far["metres"], abs=0.01)
    assert drive.driven == pytest.approx(far["metres"], abs=0.01)
    assert surroundings.look_around(simulator)["region"] == END


def test_through_a_link(simulator: Simulator) -> None:
    told = driving.drive_link(simulator, "Living_room_2", "Bedroom_4")
    assert (told["through"], told["region"], told["contacts"]) == (True, "Bedroom_4", [])


def test_a_scene_without_geometry_says_that_nobody_knows_the_room() -> None:
    bare = standing().scene.replace(walls=(), items=(), stairs=(), openings=())
    told = clearance(bare, BEGIN)
    assert told["clearance"] is None
    assert "without geometry" in told["reason"]


def test_names_are_enumerated_and_points_are_points(simulator: Simulator) -> None:
    tools = {tool.name: tool for tool in moving_tools(simulator)}
    assert list(tools) == [
        "look", "candidates", "move_to", "geodesic", "clearance", "drive_link",
    ]  # fmt: skip
    asked = convert_to_openai_tool(tools["move_to"])["function"]["parameters"]["properties"]
    viewpoints = [each.id for each in simulator.scene.viewpoints]
    assert asked["place"]["enum"] == [*simulator.scene.region_by_id, *viewpoints]
    assert json.dumps(tools["geodesic"].invoke({"place": END}))
    free = moving_tools(simulator, constrain=False)
    asked = convert_to_openai_tool(free[2])["function"]["parameters"]["properties"]
    assert "enum" not in asked["place"]


@pytest.mark.parametrize(
    ("name", "args", "said"),
    [
        ("move_to", {"place": "Kitchn_3"}, "Did you mean 'Kitchen_3'?"),
        ("move_to", {}, "No place was named"),
        ("move_to", {"place": END, "point": [0, 0, 0]}, "name one of them"),
        ("move_to", {"point": [0, float("nan"), 0]}, "three finite numbers"),
        ("geodesic", {"point": [1, 2]}, "three finite numbers"),
        ("drive_link", {"a": BEGIN, "b": END}, "No link leads from"),
        ("drive_link", {"a": BEGIN, "b": "Studi_6"}, "Did you mean 'Study_6'?"),
    ],
)
def test_a_mistake_is_answered_in_one_line(
    simulator: Simulator, name: str, args: dict[str, Any], said: str
) -> None:
    tools = {tool.name: tool for tool in moving_tools(simulator)}
    before = simulator.step({})["robot"].pose
    told = tools[name].invoke(args)["error"]
    assert said in told
    assert "\n" not in told
    assert simulator.step({})["robot"].pose == before


def test_nobody_of_that_name(simulator: Simulator) -> None:
    with pytest.raises(SimulatorError, match=r"no agent 'robbot'.*Did you mean 'robot'"):
        surroundings.look_around(simulator, "robbot")


def test_a_model_in_a_graph_calls_them_all(simulator: Simulator) -> None:
    """An agent of ToolNode alone, its model a script: look, weigh, go, drive, tell."""
    script = [
        [{"name": "look", "args": {}}, {"name": "candidates", "args": {}}],
        [{"name": "geodesic", "args": {"place": END}}, {"name": "clearance", "args": {}}],
        {"name": "move_to", "args": {"place": "Bedroom_4"}},
        {"name": "drive_link", "args": {"a": "Bedroom_4", "b": END}},
        {"name": "move_to", "args": {"place": 7}},
        "I am in the study.",
    ]
    with ScriptedChatModel(script) as model:
        tools = moving_tools(simulator)
        bound = model.bind_tools(tools)
        builder = StateGraph(MessagesState)
        builder.add_node("agent", lambda state: {"messages": [bound.invoke(state["messages"])]})
        builder.add_node("tools", ToolNode(tools, handle_tool_errors=True))
        builder.add_edge(START, "agent")
        builder.add_conditional_edges("agent", tools_condition)
        builder.add_edge("tools", "agent")
        final = builder.compile().invoke({"messages": [("user", "go")]})
    said: list[AnyMessage] = final["messages"]
    answers = [each for each in said if isinstance(each, ToolMessage)]
    assert [each.name for each in answers] == [
        "look", "candidates", "geodesic", "clearance", "move_to", "drive_link", "move_to",
    ]  # fmt: skip
    assert [each.status for each in answers] == ["success"] * 6 + ["error"]
    assert json.loads(str(answers[5].content))["through"] is True
    assert surroundings.look_around(simulator)["region"] == END
