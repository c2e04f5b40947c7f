"""Tours: every region that can be reached, at speeds people can follow, second by second."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from navloom.errors import SimulatorError
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import load_scene
from navloom_worlds.exporting.capnav_release import first_shown
from navloom_worlds.rendering.tour import LOOK, TURN, WALK, plan_tour


@pytest.mark.slow
@pytest.mark.parametrize("uri", ["home:7", "home:3", "demo:house"])
def test_every_region_is_visited_and_looked_about_in(uri: str) -> None:
    scene = load_scene(uri)
    tour = plan_tour(scene)
    turned: dict[str, float] = {}
    moments = list(tour.moments(20))
    for before, after in pairwise(moments):
        if before.pose.position == after.pose.position and before.region:
            turn = (after.pose.heading - before.pose.heading) % (2 * math.pi)
            turned[before.region] = turned.get(before.region, 0.0) + min(turn, 2 * math.pi - turn)
    regions = {region.id for region in scene.regions}
    assert regions - set(tour.left_out) == set(turned)
    assert min(turned.values()) > math.radians(330)


@pytest.mark.slow
def test_nobody_jumps_and_no_wall_is_crossed() -> None:
    scene = load_scene("home:7")
    moments = list(plan_tour(scene).moments(10))
    for before, after in pairwise(moments):
        assert math.dist(before.pose.position, after.pose.position) <= WALK / 10 + 1e-6
        turn = (after.pose.heading - before.pose.heading) % (2 * math.pi)
        assert min(turn, 2 * math.pi - turn) <= max(TURN, LOOK) / 10 + 1e-6
    reached = [moment.pose.viewpoint for moment in moments]
    edges = {frozenset((edge.a, edge.b)) for edge in scene.edges}
    hops = [frozenset(pair) for pair in pairwise(reached) if pair[0] != pair[1]]
    assert hops
    assert all(hop in edges for hop in hops)


@pytest.mark.slow
def test_one_a_second_is_the_same_tour() -> None:
    tour = plan_tour(load_scene("demo:flat"))
    slow, fast = list(tour.moments(1)), list(tour.moments(10))
    assert [each.pose for each in slow] == [each.pose for each in fast[::10]]
    assert len(slow) == math.ceil(tour.seconds)


def test_regions_without_a_way_are_named() -> None:
    scene = load_scene("demo:flat")
    alone = scene.viewpoints_by_region[scene.regions[-1].id]
    names = {each.id for each in alone}
    cut = [edge for edge in scene.edges if not {edge.a, edge.b} & names]
    assert plan_tour(scene.replace(edges=tuple(cut))).left_out == (scene.regions[-1].id,)


def test_a_scene_without_a_graph_is_refused() -> None:
    scene: Scene = load_scene("demo:flat")
    with pytest.raises(SimulatorError, match="no navigation graph"):
        plan_tour(scene.replace(viewpoints=(), edges=()))


def test_each_region_is_known_by_the_second_that_first_shows_it() -> None:
    tour = plan_tour(load_scene("demo:flat"))
    first: dict[str, int] = {}
    for moment in tour.moments(1):
        if moment.region is not None:
            first.setdefault(moment.region, round(moment.second))
    assert max(first.values()) > 60
    assert first_shown(tour) == {r: f"{s // 60:02}:{s % 60:02}" for r, s in first.items()}
