"""Walkers: where the state says, together in one simulator, in one that is leased."""

from __future__ import annotations

import gc
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from navloom.errors import SimulatorError
from navloom.scenes import load_scene
from navloom.sim import agent_handle as walking
from navloom.sim.agent_handle import (
    AgentHandle,
    SimulatorLeases,
    pose_record,
    read_pose,
    reset_agents,
)
from navloom.sim.conformance import make_test_scene
from navloom.sim.graph import GraphSimulator
from navloom.sim.protocol import Action, Observation, Pose, Turn

SCENE = make_test_scene()


def standing(viewpoint: str, *before: str, heading: float = 0.0) -> dict[str, Any]:
    """A state as graphs hold one."""
    pose = {"viewpoint": viewpoint, "heading": heading, "elevation": 0.0}
    return {"pose": pose, "seed": 1, "trajectory": [*([v, 0.0, 0.0] for v in before), None]}


def on(viewpoint: str, heading: float = 0.0) -> Pose:
    return Pose((0.0, 0.0, 0.0), heading, 0.0, viewpoint)


def test_it_looks_hops_and_acts_where_the_state_says() -> None:
    one = AgentHandle(GraphSimulator(SCENE), "one")
    assert one.look(standing("hub")).pose.viewpoint == "hub"
    assert one.hop(standing("hub"), "east").pose.viewpoint == "east"
    # A state of another place, as after a checkpoint.
    assert one.hop(standing("west"), "hub").pose.viewpoint == "hub"
    assert one.step(standing("hub", heading=1.0), Turn(0.5)).pose.heading == pytest.approx(1.5)
    with pytest.raises(SimulatorError, match="No edge leads from hub to upper"):
        one.hop(standing("hub"), "upper")


def test_placing_goes_on_with_the_trajectory() -> None:
    simulator = GraphSimulator(SCENE)
    one = AgentHandle(simulator, "one")
    seen = one.place(standing("hub"), on("north", 2.0))
    after = {**standing("north", "hub"), "pose": pose_record(seen.pose)}
    simulator.reset = None  # type: ignore[assignment, method-assign]  # nobody is put back
    assert one.look(after) == seen
    assert one.hop(after, "hub").pose.viewpoint == "hub"


def test_two_walk_in_one_simulator_and_neither_moves_the_other() -> None:
    simulator = GraphSimulator(SCENE)
    one, two = AgentHandle(simulator, "one"), AgentHandle(simulator, "two")
    seen = reset_agents([(one, on("hub")), (two, on("south"))], seed=1)
    assert [each.pose.viewpoint for each in seen] == ["hub", "south"]
    one.hop({**standing("hub"), "pose": pose_record(seen[0].pose)}, "east")
    # Put back where its state says, it is placed: the other stays where it went.
    assert two.look(standing("north")).pose.viewpoint == "north"
    poses = {name: each.pose.viewpoint for name, each in simulator.step({}).items()}
    assert poses == {"one": "east", "two": "north"}
    with pytest.raises(SimulatorError, match="at least one"):
        reset_agents([], seed=1)


def test_a_state_holds_any_pose() -> None:
    at = SCENE.viewpoint_by_id["east"]
    on_graph = Pose(at.position, 1.0, 0.5, "east")
    assert pose_record(on_graph) == {"viewpoint": "east", "heading": 1.0, "elevation": 0.5}
    assert read_pose(pose_record(on_graph), SCENE) == on_graph
    off = Pose((1.0, 0.0, 2.0), 1.0, 0.5)
    assert pose_record(off)["position"] == [1.0, 0.0, 2.0]
    assert read_pose(pose_record(off), SCENE) == off
    with pytest.raises(SimulatorError, match="no viewpoint 'nowhere'"):
        read_pose({"viewpoint": "nowhere", "heading": 0.0, "elevation": 0.0}, SCENE)
    # One that stands over a viewpoint is found there by a backend on the graph.
    state = standing("hub") | {"pose": pose_record(Pose((3.0, 0.0, 0.0)))}
    assert AgentHandle(GraphSimulator(SCENE), "one").look(state).pose.viewpoint == "east"


class Counted(GraphSimulator):
    closed = 0

    def close(self) -> None:
        self.closed += 1


def test_a_context_has_a_simulator_for_each_thread() -> None:
    scene, leases, others = load_scene("demo:flat"), SimulatorLeases(), SimulatorLeases()
    made: list[Counted] = []

    def make() -> Counted:
        made.append(Counted(scene))
        return made[-1]

    first = leases.get("a", make)
    assert leases.get("a", make) is first
    assert others.get("a", make) is not first
    assert leases.get("b", make) is not first
    assert [each.closed for each in made] == [0, 0, 0]
    del others
    gc.collect()
    assert [each.closed for each in made] == [0, 1, 0]


def test_no_more_are_held_than_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walking, "MOST_LEASED", 2)
    leases, scene = SimulatorLeases(), load_scene("demo:flat")
    held = [leases.get(name, lambda: Counted(scene)) for name in ("a", "b")]
    leases.get("a", lambda: Counted(scene))
    leases.get("c", lambda: Counted(scene))
    # The one used longest ago.
    assert [each.closed for each in held] == [0, 1]  # type: ignore[attr-defined]
    assert leases.get("b", lambda: Counted(scene)) is not held[1]


def test_one_simulator_is_used_by_one_thread_at_a_time() -> None:
    inside: list[str] = []
    crowded: list[list[str]] = []

    class Slow(GraphSimulator):
        def step(self, actions: Mapping[str, Action]) -> Mapping[str, Observation]:
            inside.extend(actions)
            time.sleep(0.01)
            crowded.append(list(inside))
            inside.clear()
            return super().step(actions)

    simulator = Slow(SCENE)
    walkers = [AgentHandle(simulator, name) for name in ("one", "two")]
    reset_agents([(each, on("hub")) for each in walkers], seed=1)
    with ThreadPoolExecutor(2) as pool:
        ends = list(pool.map(lambda w: w.hop(standing("hub"), "east").pose.viewpoint, walkers))
    assert ends == ["east", "east"]
    assert sorted(crowded) == [["one"], ["two"]]
