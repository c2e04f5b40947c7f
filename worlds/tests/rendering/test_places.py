"""What is seen from a place that a person names, and of one floor from above."""

from __future__ import annotations

import math
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from navloom.errors import SimulatorError
from navloom.scenes import load_scene
from navloom.scenes.plan import draw_plan
from navloom.sim.views import cut_strip
from navloom_worlds.geometry import scene_mesh
from navloom_worlds.geometry.owners import STAIRS
from navloom_worlds.rendering.embedded import look_from, outlook, panorama_at
from navloom_worlds.rendering.from_above import _below, floors_from_above

FLAT = load_scene("demo:flat")


def test_a_place_without_a_heading_is_looked_at_where_there_is_most_to_see() -> None:
    viewpoint = FLAT.viewpoints[0]
    metres, heading = outlook(FLAT, viewpoint)
    seen = look_from(FLAT, viewpoint.id, light="flat")
    assert seen == panorama_at(FLAT, viewpoint.id, heading, light="flat")
    front = cut_strip(Image.open(BytesIO(seen)))[1]
    due = look_from(FLAT, f"{viewpoint.id},{math.degrees(heading)}", light="flat")
    assert cut_strip(Image.open(BytesIO(due)))[1].tobytes() == front.tobytes()
    x, y, z = viewpoint.position
    away = np.array([(math.sin(a), 0, -math.cos(a)) for a in (0, 1.57, 3.14, 4.71)], np.float32)
    far = scene_mesh(FLAT).caster.cast(np.array([x, y + 1.5, z], np.float32), away).distance
    assert far.min() <= metres <= far.max()


def test_a_room_is_seen_from_its_viewpoint_with_the_widest_view() -> None:
    room = FLAT.regions[0].id
    inside = [each for each in FLAT.viewpoints if each.region == room]
    best = max(inside, key=lambda each: outlook(FLAT, each)[0])
    assert look_from(FLAT, room, light="flat") == look_from(FLAT, best.id, light="flat")
    with pytest.raises(SimulatorError, match="There is no light 'bakd': expected baked or flat"):
        look_from(FLAT, room, light="bakd")


def test_a_floor_from_above_shows_its_stairs_and_nothing_of_the_floor_below() -> None:
    home = load_scene("home:8228?rooms=7&floors=2")
    mesh, upper = scene_mesh(home), max(home.floors, key=lambda each: each.height)
    left = mesh.without(_below(home, mesh, upper.id))
    highest = left.vertices[left.faces][:, :, 1].max(axis=1)
    others = highest[left.owners != STAIRS]
    assert others.min() > upper.height - 0.1
    assert (highest[left.owners == STAIRS] < upper.height - 1).any(), "the flight that comes up"
    above = floors_from_above(home, a_metre=10)
    drawn = draw_plan(home, above=above).svg
    assert drawn.count('data-layer="above"') == drawn.count('data-layer="stairs"') == 2
