"""Bodies in pictures: as large as what collides, before and behind things, and nobody for free."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from navloom.scenes.bodies import (
    FETCH,
    SPOT,
    VLNVERSE,
    Embodiment,
    FloorPose,
    builtin_bodies,
    get_body,
)
from navloom.scenes.distances import heading_to
from navloom.scenes.scene_uri import load_scene
from navloom.sim.protocol import Pose
from navloom.sim.registry import get_simulator
from navloom_worlds.geometry.embodiment_meshes import body_parts
from navloom_worlds.geometry.mesh import merge_parts
from navloom_worlds.geometry.semantic_ids import WALL, agent_owner, owner_name
from navloom_worlds.geometry.solids import Surface, box, parts_bounds
from navloom_worlds.rendering.camera import Camera
from navloom_worlds.rendering.other_agents import add_bodies, visible_bodies
from navloom_worlds.rendering.renderer import Renderer
from navloom_worlds.rendering.sensors import Sensor, resolve_rig

CART = Embodiment(name="cart", shape="box", width=0.6, depth=1.0, height=0.9)


@pytest.fixture(scope="module")
def room() -> Renderer:
    """A wall 3 m ahead of the origin, a floor, and a ceiling at 2.5 m."""
    plain = Surface()
    wall = (WALL, box((-3, 0, -3.2), (3, 2.5, -3), plain))
    floor, ceiling = (
        (-2, box((-3, -0.1, -3), (3, 0, 3), plain)),
        (-3, box((-3, 2.5, -3), (3, 2.6, 3), plain)),
    )
    return Renderer(merge_parts([wall, floor, ceiling]), light="flat")


@pytest.mark.parametrize(
    "body", [*builtin_bodies(), FETCH, SPOT, VLNVERSE, CART], ids=lambda b: b.name
)
def test_a_body_is_as_large_as_it_is(body: Embodiment) -> None:
    low, high = parts_bounds(body_parts(body))
    deep = body.depth or body.width
    np.testing.assert_allclose(high - low, (body.width, body.height, deep), atol=1e-4)
    np.testing.assert_allclose((high + low)[::2] / 2, 0, atol=1e-4)
    assert low[1] == pytest.approx(0, abs=1e-4)


def test_bodies_are_seen_where_they_stand(room: Renderer) -> None:
    camera = Camera((0, 0.5, 0), width=64, height=64)
    there = add_bodies(room, {2: (CART, FloorPose((0, 0, -2), np.pi))}).frame(camera)
    behind = add_bodies(room, {2: (CART, FloorPose((0, 0, -4), np.pi))}).frame(camera)
    alone = room.frame(camera)
    # Its visor is half a metre before its middle.
    assert there.depth[32, 32] == pytest.approx(1.5, abs=0.05)
    assert there.ids[32, 32] == agent_owner(2)
    assert owner_name(load_scene("demo:flat"), agent_owner(2)) == "agent 2"
    assert not (there.rgb[32, 32] == alone.rgb[32, 32]).all()
    assert np.array_equal(behind.rgb, alone.rgb)
    assert np.array_equal(behind.depth, alone.depth)
    far_off = there.ids[:, :8]
    assert np.array_equal(far_off, alone.ids[:, :8])


def test_nobody_costs_nothing(room: Renderer) -> None:
    assert add_bodies(room, {}) is room
    inside = {
        0: (get_body("HUMAN"), FloorPose((0.1, 0, 0), 0)),
        1: (CART, FloorPose((0.0, 0, 0.6), 0)),
    }
    assert list(visible_bodies(Camera((0, 1.5, 0)), inside)) == [1]
    assert list(visible_bodies(Camera((0, 0.5, 0.2)), inside)) == []


def test_a_cut_scene_is_seen_from_above(room: Renderer) -> None:
    above = Camera((0, 5, 0), elevation=-np.pi / 2, width=32, height=32)
    tall = {0: (VLNVERSE, FloorPose((0, 0, 0), 0))}
    assert room.frame(above).ids[16, 16] == -3
    cut = add_bodies(room, tall, cut=1.0).frame(above)
    assert cut.ids[16, 16] == agent_owner(0)
    assert cut.depth[16, 16] == pytest.approx(3.5, abs=0.04)
    assert cut.ids[16, 8] == -2
    assert cut.depth[16, 8] == pytest.approx(5.0, abs=0.02)


@pytest.mark.slow
def test_agents_see_one_another() -> None:
    scene = load_scene("demo:flat")
    rig = resolve_rig((Sensor("ids"), Sensor("rgb"), Sensor("lidar", projection="lidar", fov=6.28)))
    edge = scene.edges[0]
    places = {each.id: each.position for each in scene.viewpoints}
    facing = heading_to(places[edge.a], places[edge.b])
    simulator = get_simulator("embedded", scene, rig=rig, light="flat")
    one = Pose((0, 0, 0), facing, 0.0, edge.a)
    alone = simulator.reset({"b": (one, VLNVERSE)})["b"]
    both = simulator.reset({"b": (one, VLNVERSE), "a": (replace(one, viewpoint=edge.b), VLNVERSE)})[
        "b"
    ]
    assert agent_owner(0) not in alone.images["ids"][0].image
    assert agent_owner(0) in both.images["ids"][0].image
    assert not np.array_equal(alone.images["rgb"][0].image, both.images["rgb"][0].image)
    assert (alone.images["lidar"][0].image > both.images["lidar"][0].image).any()
