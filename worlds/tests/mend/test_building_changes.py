"""Doorways widened, sills taken away, ramps laid: what is left of walls, and what is refused."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from navloom.errors import SceneError
from navloom.scenes import Scene, load_scene
from navloom_worlds.geometry.building import building_of
from navloom_worlds.mend.building_changes import max_door_width, plan_ramp, widen_doorway
from navloom_worlds.mend.scene_edits import edit_scene


@pytest.fixture(scope="module")
def home() -> Scene:
    return load_scene("home:3")


def _metres(scene: Scene) -> float:
    """Of all walls that reach from the floor up."""
    return sum(math.dist(w.a, w.b) for w in scene.walls if w.bottom < 0.1)


def test_a_wider_doorway_takes_its_wall_and_no_more(home: Scene) -> None:
    before = next(each for each in home.links if {"Hallway_1", "Toilet_8"} == {each.a, each.b})
    made = edit_scene(home, "wide", widen=["Hallway_1<->Toilet_8@1.1"])
    after = made.links[home.links.index(before)]
    assert after.width == 1.1
    assert after.jambs is not None
    assert math.dist(*after.jambs) == pytest.approx(1.1, abs=1e-3)
    assert _metres(home) - _metres(made) == pytest.approx(1.1 - (before.width or 0), abs=1e-3)
    way = next(w for w in building_of(made).ways if set(w.rooms) == {"Hallway_1", "Toilet_8"})
    assert way.width == pytest.approx(1.1, abs=1e-3)
    lintels = [math.dist(w.a, w.b) for w in made.walls if set(after.jambs) == {w.a, w.b}]
    assert lintels == [pytest.approx(1.1, abs=1e-3)]


def test_no_doorway_is_wider_than_its_wall(home: Scene) -> None:
    link = next(each for each in home.links if each.jambs)
    most = max_door_width(home, link)
    assert widen_doorway(home, link, most).links
    with pytest.raises(SceneError, match="its wall has room for"):
        widen_doorway(home, link, most + 0.1)
    with pytest.raises(SceneError, match="no widening"):
        edit_scene(home, "x", widen=["Hallway_1<->Toilet_8@nan"])


def test_a_sill_goes_and_what_has_none_keeps_none(home: Scene) -> None:
    made = edit_scene(home, "flat", level=["Hallway_1<->Toilet_8"])
    assert next(each for each in made.links if "Toilet_8" in (each.a, each.b)).threshold == 0
    with pytest.raises(SceneError, match="has no sill"):
        edit_scene(made, "flatter", level=["Hallway_1<->Toilet_8"])


def test_a_ramp_leads_from_the_lower_floor_to_the_upper() -> None:
    home = load_scene("home:39")
    link = next(each for each in home.links if {"Living_room_7", "Patio_8"} == {each.a, each.b})
    ramp = plan_ramp(home, link)
    assert (ramp.low, ramp.rise) == ("Patio_8", 0.15)
    assert [ramp.flight.line[k][1] for k in (0, 1)] == [-0.15, 0.0]
    tops = [each.top for each in ramp.flight.treads]
    assert max(b - a for a, b in pairwise(tops)) < 0.013
    level = next(each for each in home.links if each.jambs and not each.step)
    with pytest.raises(SceneError, match="no step"):
        plan_ramp(home, level)
