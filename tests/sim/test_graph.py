"""The graph backend: where one stands, where one can go, how far it is."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings

from navloom.errors import SimulatorError
from navloom.scenes import load_scene
from navloom.scenes.bodies import DEFAULT_BODY
from navloom.scenes.distances import metre_table
from navloom.scenes.scene import Scene
from navloom.sim import Forward, Hop, Look, Pose, Simulator, Stop, Turn, Velocity, get_simulator
from navloom.sim.conformance.testbed import EYE_M, make_test_scene
from navloom.sim.graph import GraphSimulator
from tests.tools.navcraft.worlds import scenes


def on(viewpoint: str | None, heading: float = 0.0) -> tuple[Pose, object]:
    return Pose((0.0, 0.0, 0.0), heading, 0.0, viewpoint), DEFAULT_BODY


@pytest.fixture
def simulator() -> GraphSimulator:
    return GraphSimulator(make_test_scene())


def test_it_is_a_simulator(simulator: GraphSimulator) -> None:
    assert isinstance(simulator, Simulator)
    assert simulator.capabilities == {"hop", "discrete", "captions", "change", "restore"}


def test_a_pose_is_on_the_floor_and_candidates_go_round_the_compass(
    simulator: GraphSimulator,
) -> None:
    seen = simulator.reset({"a": on("hub", 7.0)})["a"]
    assert seen.pose == Pose((0.0, 0.0, 0.0), 7.0 - 2 * math.pi, 0.0, "hub")
    ways = [(c.viewpoint, round(math.degrees(c.heading)), c.distance) for c in seen.candidates]
    assert ways == [("north", 0, 2.0), ("east", 90, 3.0), ("south", 180, 4.0), ("west", 270, 1.5)]
    assert [c.region for c in seen.candidates] == ["Hall_1"] * 4
    assert seen.images == {}
    assert seen.contacts == ()


def test_a_hop_ends_looking_the_way_one_went(simulator: GraphSimulator) -> None:
    simulator.reset({"a": on("hub")})
    simulator.step({"a": Hop("east")})
    pose = simulator.step({"a": Hop("upper")})["a"].pose
    assert pose.position == (3.0, 1.5, -2.0)
    assert pose.heading == 0.0
    assert math.degrees(pose.elevation) == pytest.approx(36.87, abs=0.01)
    assert simulator.step({"a": Hop("east")})["a"].pose.heading == pytest.approx(math.pi)


def test_turning_looking_and_stopping(simulator: GraphSimulator) -> None:
    simulator.reset({"a": on("hub")})
    assert math.degrees(simulator.step({"a": Turn()})["a"].pose.heading) == pytest.approx(30)
    left = simulator.step({"a": Turn(-math.pi / 2)})["a"].pose
    assert math.degrees(left.heading) == pytest.approx(300)
    up = simulator.step({"a": Look(9.0)})["a"].pose
    assert up.elevation == math.pi / 2, "nobody looks over backwards"
    stopped = simulator.step({"a": Stop()})["a"].pose
    assert simulator.step({"a": Hop("north")})["a"].pose == stopped == up
    assert simulator.reset({"a": on("hub")})["a"].pose.viewpoint == "hub"
    assert simulator.step({"a": Hop("north")})["a"].pose.viewpoint == "north"


def test_geodesics(simulator: GraphSimulator) -> None:
    way = simulator.geodesic("hub", ["upper", "shed"], DEFAULT_BODY)
    assert way is not None
    assert way.metres == pytest.approx(5.5)
    assert way.viewpoints == ("hub", "east", "upper")
    assert way.points[-1] == (3.0, 1.5, -2.0)
    assert simulator.geodesic("hub", ["shed"], DEFAULT_BODY) is None
    near = simulator.geodesic(on("hub")[0], ["south", on("north")[0]], DEFAULT_BODY)
    assert near is not None
    assert near.viewpoints == ("hub", "north")
    here = simulator.geodesic("hub", ["hub"], DEFAULT_BODY)
    assert here is not None
    assert (here.metres, here.viewpoints) == (0.0, ("hub",))


def test_a_pose_without_a_viewpoint_stands_on_the_one_it_is_at(simulator: GraphSimulator) -> None:
    pose = Pose((3.0, 0.05, 0.0))
    assert simulator.reset({"a": (pose, DEFAULT_BODY)})["a"].pose.viewpoint == "east"
    with pytest.raises(SimulatorError, match="nearest, east"):
        simulator.reset({"a": (Pose((3.0, EYE_M, 0.0)), DEFAULT_BODY)})


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (Hop("upper"), "No edge leads from hub to upper: expected one of north, east"),
        (Hop("nroth"), r"no viewpoint 'nroth' \(of 8\)\. Did you mean 'north'"),
        (Forward(), "no Forward: expected Hop, Turn, Look or Stop"),
        (Velocity(1, 0, 1), "no Velocity"),
        (Turn(math.nan), "Turn of nan"),
        (Look(math.inf), "Look of inf"),
        ("north", "no str"),
    ],
)
def test_refused_actions_move_nobody(
    simulator: GraphSimulator, action: object, message: str
) -> None:
    simulator.reset({"a": on("hub"), "b": on("hub")})
    with pytest.raises(SimulatorError, match=message):
        simulator.step({"a": Hop("north"), "b": action})  # type: ignore[dict-item]
    assert {o.pose.viewpoint for o in simulator.step({}).values()} == {"hub"}


def test_mistakes_are_named(simulator: GraphSimulator) -> None:
    with pytest.raises(SimulatorError, match=r"call reset\(\)"):
        simulator.step({})
    with pytest.raises(SimulatorError, match="No agent"):
        simulator.reset({})
    with pytest.raises(SimulatorError, match="no viewpoint"):
        simulator.reset({"a": on("hbu")})
    with pytest.raises(SimulatorError, match="A heading of inf"):
        simulator.reset({"a": on("hub", math.inf)})
    simulator.reset({"robot_1": on("hub")})
    with pytest.raises(SimulatorError, match="Did you mean 'robot_1'"):
        simulator.step({"robot_2": Stop()})
    with pytest.raises(SimulatorError, match="No goal"):
        simulator.geodesic("hub", [], DEFAULT_BODY)
    simulator.close()
    with pytest.raises(SimulatorError, match="reset"):
        simulator.step({})


def test_a_failed_reset_leaves_those_that_were_there(simulator: GraphSimulator) -> None:
    simulator.reset({"a": on("north")})
    with pytest.raises(SimulatorError):
        simulator.reset({"a": on("hub"), "b": on("nowhere")})
    assert simulator.step({})["a"].pose.viewpoint == "north"


def test_a_scene_without_viewpoints_is_refused() -> None:
    bare = make_test_scene().replace(viewpoints=(), edges=())
    with pytest.raises(SimulatorError, match="no navigation graph"):
        GraphSimulator(bare)


def test_a_way_straight_up_has_heading_0() -> None:
    scene = make_test_scene()
    hub = scene.viewpoint_by_id["hub"]
    above = hub.model_copy(update={"id": "above", "position": (0.0, 4.0, 0.0)})
    edge = scene.edges[0].model_copy(update={"a": "above", "b": "hub"})
    tower = scene.replace(viewpoints=(*scene.viewpoints, above), edges=(*scene.edges, edge))
    down = GraphSimulator(tower).reset({"a": on("above")})["a"].candidates[0]
    assert (down.heading, down.elevation) == (0.0, -math.pi / 2)


@settings(max_examples=settings.default.max_examples // 2)
@given(scenes())
def test_any_scene_agrees_with_its_tables(scene: Scene) -> None:
    if not scene.viewpoints:
        with pytest.raises(SimulatorError):
            GraphSimulator(scene)
        return
    simulator, table = GraphSimulator(scene), metre_table(scene, "3d")
    names = list(scene.viewpoint_by_id)
    for name in names:
        seen = simulator.reset({"a": on(name)})["a"]
        headings = [c.heading for c in seen.candidates]
        assert headings == sorted(headings)
        assert {c.viewpoint for c in seen.candidates} == set(scene.navigation_graph()[name]) - {
            name
        }
        way = simulator.geodesic(name, names[:1], DEFAULT_BODY)
        metres = table.distance(name, names[0])
        assert (way is None) == math.isinf(metres)
        assert way is None or way.metres == metres


def test_two_of_one_scene_share_what_they_can() -> None:
    scene = load_scene("demo:flat")
    one, two = get_simulator("graph", scene), get_simulator("graph", scene)
    name = scene.viewpoints[0].id
    a, b = one.reset({"a": on(name)})["a"], two.reset({"a": on(name)})["a"]  # type: ignore[dict-item]
    assert a == b
    assert a.captions is b.captions
