"""The navigation graph of a body: viewpoints kept, moved, gone and added."""

from __future__ import annotations

from collections.abc import Callable

import networkx as nx
import pytest

from navloom.errors import SceneError
from navloom.scenes import load_scene
from navloom.scenes.bodies import DEFAULT_BODY, Embodiment, get_body
from navloom.scenes.scene import Scene, distance_2d
from navloom.sim import get_simulator
from navloom.sim.protocol import Hop, Pose
from navloom_worlds.motion.body_field import body_field
from navloom_worlds.motion.body_graph import body_graph
from navloom_worlds.motion.collision_motion import mover_of

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def home() -> Scene:
    return load_scene("demo:flat")


def test_a_slim_body_keeps_the_graph(home: Scene) -> None:
    graph = body_graph(home, DEFAULT_BODY)
    kept = [v for v in graph.viewpoints if v.id in home.viewpoint_by_id]
    assert len(kept) >= 0.95 * len(home.viewpoints)
    whole = max(nx.connected_components(graph.navigation_graph()), key=len)
    assert len(whole) >= 0.9 * len(graph.viewpoints)


@pytest.mark.parametrize("name", ["HUMAN", "WHEELCHAIR"])
def test_edges_are_passed_both_ways_and_ids_stay(home: Scene, name: str) -> None:
    body = get_body(name)
    graph, mover = body_graph(home, body), mover_of(home, body)
    assert graph.edges
    for edge in graph.edges:
        a, b = (graph.viewpoint_by_id[end] for end in (edge.a, edge.b))
        ends = [(x, y - v.eye_height, z) for v in (a, b) for x, y, z in [v.position]]
        assert mover.passes(ends[0], ends[1])
        assert mover.passes(ends[1], ends[0])
    for each in graph.viewpoints:
        old = home.viewpoint_by_id.get(each.id)
        assert old is not None or "_p" in each.id
        if old is not None:
            assert distance_2d(old.position, each.position) <= 0.5
            assert old.region == each.region
    assert body_graph(load_scene("demo:flat"), body) == graph


def test_a_body_that_fits_nowhere_is_refused_in_a_line(home: Scene) -> None:
    with pytest.raises(SceneError, match="stand and turn nowhere") as refused:
        body_graph(home, Embodiment(name="WHALE", width=9.0, height=3.0))
    assert "\n" not in str(refused.value)


def test_a_body_wider_than_rooms_is_refused_before_its_places_are_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("navloom_worlds.motion.inflation._bands", None)
    with pytest.raises(SceneError, match=r"RAFT \(8\.00 m wide.* nowhere in home:7"):
        body_graph(load_scene("home:7"), Embodiment(name="RAFT", width=8.0, height=1.5))


@pytest.mark.parametrize("maker", [body_field, body_graph, mover_of])
def test_a_body_broader_than_a_scene_is_refused_before_anything_is_made_for_it(
    home: Scene, maker: Callable[[Scene, Embodiment], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("navloom_worlds.motion.body_field.inflate_obstacles", None)
    monkeypatch.setattr("navloom_worlds.motion.local_obstacles.CollisionWorld.tile", None)
    with pytest.raises(SceneError, match=r"BARGE \(50\.00 m wide.* nowhere in .*, whose floors"):
        maker(home, Embodiment(name="BARGE", width=50.0, height=1.5))


def test_a_wheelchair_changes_storey_by_lift_and_a_sweeper_does_not() -> None:
    home = load_scene("home:11?floors=2")
    own = {name: body_graph(home, get_body(name)) for name in ("WHEELCHAIR", "SWEEPER")}
    ways = {
        name: nx.Graph([(edge.a, edge.b) for edge in graph.edges]) for name, graph in own.items()
    }
    halls = [own["WHEELCHAIR"].viewpoints_by_region[each] for each in ("Hallway_1", "Hallway_9")]
    assert halls[1][0].position[1] - halls[0][0].position[1] > 2
    joined = [nx.has_path(ways["WHEELCHAIR"], a.id, b.id) for a in halls[0] for b in halls[1]]
    assert any(joined)
    assert ways["WHEELCHAIR"].has_edge("2_1", "10_1")
    assert not ways["SWEEPER"].has_edge("2_1", "10_1")
    floor = own["WHEELCHAIR"].viewpoint_by_id["10_1"].ground
    for physics in ("slide", "strict", "telhop"):
        cabin = get_simulator("embedded", own["WHEELCHAIR"], physics=physics)
        cabin.reset({"robot": (Pose((0, 0, 0), viewpoint="2_1"), get_body("WHEELCHAIR"))})
        seen = cabin.step({"robot": Hop("10_1")})["robot"]
        assert (seen.pose.viewpoint, seen.pose.position, seen.contacts) == ("10_1", floor, ())
    shut = get_simulator("embedded", home, physics="slide")
    shut.reset({"robot": (Pose((0, 0, 0), viewpoint="2_1"), get_body("SWEEPER"))})
    assert shut.step({"robot": Hop("10_1")})["robot"].pose.viewpoint == "2_1"
