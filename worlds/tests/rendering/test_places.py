"""What is seen from a place that a person names, and of one floor from above."""

from __future__ import annotations

import math

import numpy as np
import pytest

from navloom.errors import SimulatorError
from navloom.scenes import load_scene
from navloom.scenes.plan_sheet import draw_plan
from navloom.sim import get_simulator
from navloom.sim.conformance.testbed import reset_at
from navloom_worlds.geometry import scene_mesh
from navloom_worlds.geometry.semantic_ids import STAIRS
from navloom_worlds.rendering import Sensor
from navloom_worlds.rendering.embedded import best_outlook, panorama_at, render_views
from navloom_worlds.rendering.top_view import _below, render_floors

FLAT = load_scene("demo:flat")


def test_a_place_without_a_heading_is_looked_at_where_there_is_most_to_see() -> None:
    viewpoint = FLAT.viewpoints[0].id
    worth, heading = best_outlook(FLAT, viewpoint)
    seen = render_views(FLAT, viewpoint, light="flat")
    assert seen == panorama_at(FLAT, viewpoint, heading, light="flat")
    # In frames of ids no other quarter has more pixels of things, none of which fills a picture.
    rig = tuple(Sensor("ids", heading=k * math.pi / 2, follows="compass") for k in range(4))
    frames = reset_at(get_simulator("embedded", FLAT, rig=rig, light="flat"), viewpoint).images[
        "ids"
    ]
    shown = [np.bincount(f.image[f.image > 0], minlength=1).clip(max=5_000).sum() for f in frames]
    assert shown[round(heading / (math.pi / 2))] >= 0.9 * max(shown)
    assert worth > 0


def test_a_room_is_seen_from_its_viewpoint_with_the_widest_view() -> None:
    room = FLAT.regions[0].id
    inside = [each for each in FLAT.viewpoints if each.region == room]
    best = max(inside, key=lambda each: best_outlook(FLAT, each.id)[0])
    assert render_views(FLAT, room, light="flat") == render_views(FLAT, best.id, light="flat")
    with pytest.raises(SimulatorError, match="There is no light 'bakd': expected baked or flat"):
        render_views(FLAT, room, light="bakd")


def test_a_floor_from_above_shows_its_stairs_and_nothing_of_the_floor_below() -> None:
    home = load_scene("home:8228?rooms=7&floors=2")
    mesh, upper = scene_mesh(home), max(home.floors, key=lambda each: each.height)
    left = mesh.without(_below(home, mesh, upper.id))
    highest = left.vertices[left.faces][:, :, 1].max(axis=1)
    others = highest[left.owners != STAIRS]
    assert others.min() > upper.height - 0.1
    assert (highest[left.owners == STAIRS] < upper.height - 1).any(), "the flight that comes up"
    above = render_floors(home, a_metre=10)
    drawn = draw_plan(home, above=above).svg
    assert drawn.count('data-layer="above"') == drawn.count('data-layer="stairs"') == 2
