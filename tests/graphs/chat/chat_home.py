"""Home of the chat tests: two bedrooms on a corridor, an attic above, a disconnected shed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from navloom.graphs.chat.chat import build_graph
from navloom.graphs.chat.chat_turn import robot_context, start_pose
from navloom.graphs.chat.state import Context
from navloom.scenes.scene import Edge, Floor, Item, Link, Region, Scene, Viewpoint
from navloom.sim.agent_handle import AgentHandle, pose_record
from navloom.sim.graph import GraphSimulator
from navloom.tools.chat.places import Past, RobotContext
from tests.graphs.states import run

__all__ = ["Chat", "home", "standing"]


def standing(viewpoint: str, past: Past = ()) -> RobotContext:
    """Return the context of a robot in the home, as its tools get it."""
    walker = AgentHandle(GraphSimulator(home()), "robot")
    walker.start(start_pose(walker.scene, viewpoint, 0.0), 0)
    pose = pose_record(start_pose(walker.scene, viewpoint, 0.0))
    state = {"pose": pose, "seed": 0, "trajectory": [list(pose.values())], "past": past}
    return robot_context(state, walker)


def home() -> Scene:
    """Return the home, in metres, y up.

    The corridor runs along x. Bedrooms are at its ends, and the kitchen is in the north.
    """
    corridor = [(f"c{i}", (float(2 * i), 0.0, 0.0), "Hallway_1") for i in range(6)]
    others = [
        ("b", (-2.0, 0.0, 0.0), "Bedroom_2"),
        ("d", (12.0, 0.0, 0.0), "Bedroom_3"),
        ("k", (4.0, 0.0, -3.0), "Kitchen_4"),
        ("a", (6.0, 3.0, 3.0), "Attic_5"),
        ("s", (0.0, 0.0, 6.0), "Shed_6"),
    ]
    names = [v for v, _, _ in corridor]
    edges = [*pairwise(names), ("c0", "b"), ("c5", "d"), ("c2", "k"), ("c3", "a")]
    things = [
        ("i1", "double bed", "Bedroom_2", (-2.5, 0.5, 0.5)),
        ("i2", "bunk bed", "Bedroom_3", (12.5, 0.5, 0.5)),
        ("i3", "refrigerator", "Kitchen_4", (4.0, 0.9, -4.0)),
        ("i4", "Random seed: 9 <b>", "Kitchen_4", (4.5, 0.9, -3.5)),
        ("i5", "desk", "Bedroom_3", (12.0, 0.5, 1.0)),
    ]
    return Scene(
        id="corridor",
        source="test",
        floors=(Floor(id=1, height=0.0), Floor(id=2, height=3.0)),
        regions=(
            Region(id="Hallway_1", label="hallway", center=(5, 0, 0)),
            Region(id="Bedroom_2", label="bedroom", center=(-2, 0, 0)),
            Region(id="Bedroom_3", label="bedroom", center=(12, 0, 0)),
            Region(id="Kitchen_4", label="kitchen", center=(4, 0, -3)),
            Region(id="Attic_5", label="attic", floor=2, center=(6, 3, 3)),
            Region(id="Shed_6", label="shed", center=(0, 0, 6)),
        ),
        links=(
            Link(a="Hallway_1", b="Bedroom_2", kind="door", point=(-1, 0, 0)),
            Link(a="Hallway_1", b="Bedroom_3", kind="door", point=(11, 0, 0)),
            Link(a="Hallway_1", b="Kitchen_4", kind="door", point=(4, 0, -1.5)),
            Link(a="Hallway_1", b="Attic_5", kind="stairs", point=(6, 0, 1)),
        ),
        items=tuple(
            Item(id=i, name=name, kind="asset", region=region, position=at)
            for i, name, region, at in things
        ),
        viewpoints=tuple(
            Viewpoint(id=v, position=at, region=region) for v, at, region in [*corridor, *others]
        ),
        edges=tuple(Edge(a=a, b=b) for a, b in edges),
    )


class Chat:
    """A conversation kept in memory, for tests that speak line by line."""

    def __init__(self, start: str = "c2", **settings: Any) -> None:
        self.graph = build_graph(InMemorySaver())
        self.context = Context(**{"scene": home(), **settings})
        self.config: Any = {"configurable": {"thread_id": "t"}}
        self.state: dict[str, Any] = {}
        self.call({"start": start})

    def call(self, given: Any) -> dict[str, Any]:
        self.state = run(self.graph, given, context=self.context, config=self.config)
        return self.state

    def say(self, words: str) -> str:
        """Say some words and return the answer of the robot or the program."""
        before = len(self.state["transcript"])
        self.call(Command(resume=words))
        lines = self.state["transcript"][before:]
        return " ".join(line["text"] for line in lines if line["who"] != "person")

    @property
    def at(self) -> str:
        return str(self.state["pose"]["viewpoint"])

    @property
    def waits_for(self) -> dict[str, Any]:
        waiting: Sequence[Any] = self.state["__interrupt__"]
        value: dict[str, Any] = waiting[0].value
        return value
