"""Links driven: what a body passes, what stops it, and that nothing it is told of a link counts."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import shapely
import shapely.affinity

from navloom.scenes.bodies import Footprint, get_body
from navloom.scenes.passability import link_faults
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import load_scene
from navloom_worlds.motion.link_driving import LinkResult, drive_link
from navloom_worlds.motion.planar_obstacles import (
    GridFrame,
    Stretches,
    minkowski_box,
    minkowski_corners,
    row_intervals,
)
from navloom_worlds.motion.se2_lines import LineSpacing, SE2Lines

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def home() -> Scene:
    return load_scene("home:7")


def between(scene: Scene, a: str, b: str) -> int:
    return next(k for k, link in enumerate(scene.links) if {link.a, link.b} == {a, b})


def drive(scene: Scene, body: str, a: str, b: str) -> LinkResult:
    found = drive_link(scene, get_body(body), between(scene, a, b))
    assert found is not None
    return found


def test_a_way_is_driven_from_region_to_region(home: Scene) -> None:
    found = drive(home, "SWEEPER", "Living_room_1", "Kitchen_8")
    assert found.result == "passed"
    assert found.metres > 0.3
    first, last = found.path[0].position[2], found.path[-1].position[2]
    assert first > -8.0 > last


def test_what_a_link_says_of_itself_counts_for_nothing(home: Scene) -> None:
    number = between(home, "Living_room_1", "Kitchen_8")
    links = list(home.links)
    links[number] = links[number].model_copy(update={"width": 0.1, "threshold": 0.5, "step": 2.0})
    body = get_body("SWEEPER")
    assert link_faults(links[number], body)
    # Its sill is built, so that alone is a true barrier; the width that it says is none.
    links[number] = links[number].model_copy(update={"threshold": 0.0})
    told = home.replace(links=tuple(links))
    again = drive_link(told, body, number)
    assert again is not None
    assert again.result == "passed"


def test_stairs_are_climbed_by_who_can(home: Scene) -> None:
    assert drive(home, "HUMAN", "Stairwell_3", "Hallway_9").result == "passed"
    wheels = drive(home, "WHEELCHAIR", "Stairwell_3", "Hallway_9")
    assert (wheels.result, wheels.path) != ("passed", ())
    assert wheels.result == "blocked"


def test_an_elevator_is_ridden_by_who_can_operate_it(home: Scene) -> None:
    assert drive(home, "WHEELCHAIR", "Elevator_2", "Elevator_10").result == "passed"
    dog = drive(home, "QUADRUPEDAL", "Elevator_2", "Elevator_10")
    assert (dog.result, dog.stopped_by) == ("blocked", "cannot operate the elevator")


def test_a_thing_before_a_door_blocks(home: Scene) -> None:
    number = between(home, "Hallway_9", "Elevator_10")
    x, y, z = home.links[number].point or (0.0, 0.0, 0.0)
    wardrobe = next(item for item in home.items if item.name == "wardrobe" or item.size is not None)
    thing = wardrobe.model_copy(
        update={
            "id": "crate_1",
            "name": "crate",
            "shape": "box",
            "region": "Hallway_9",
            "on": None,
            "position": (x, y + 0.6, z + 0.5),
            "size": (1.2, 1.2, 0.5),
            "yaw": 0.0,
        }
    )
    changed = home.replace(items=(*home.items, thing))
    body = get_body("WHEELCHAIR")
    assert link_faults(changed.links[number], body) == ()
    driven = drive_link(changed, body, number)
    assert driven is not None
    assert (driven.result, driven.stopped_by) == ("blocked", "crate_1")


def test_walls_count_where_outlines_lie_on_their_middle_lines() -> None:
    villa = load_scene("demo:villa")
    assert drive(villa, "HUMANOID", "Hallway_9", "Kids_room_13").result == "blocked"


def test_stairs_that_nobody_built_are_not_driven() -> None:
    villa = load_scene("demo:villa")
    assert drive(villa, "HUMAN", "Hallway_2", "Hallway_9").result == "gave up"


CAR = get_body("QUADRUPEDAL").model_copy(update={"name": "CAR", "doors": True, "width": 0.5})


@pytest.mark.parametrize(
    ("changes", "to", "passes"),
    [
        ({}, "Toilet_5", True),
        ({"turning_radius": 0.6}, "Toilet_5", False),
        ({"turning_radius": 0.6}, "Kitchen_8", True),
        ({"turning_radius": 0.6, "shape": "cylinder"}, "Kitchen_8", True),
    ],
)
def test_who_turns_on_an_arc_needs_room_for_it(
    home: Scene, changes: dict[str, Any], to: str, passes: bool
) -> None:
    car, number = CAR.model_copy(update=changes), between(home, "Living_room_1", to)
    found = drive_link(home, car, number)
    assert found is not None
    assert (found.result == "passed") == passes
    if car.turning_radius:
        assert len({round(stand.heading, 6) for stand in found.path}) <= 1


def test_a_ramp_is_driven_up_and_is_in_nobodys_way() -> None:
    scene = load_scene("home:210")
    up = next(k for k, link in enumerate(scene.links) if link.kind == "ramp")
    for body in (get_body("SWEEPER"), get_body("WHEELCHAIR")):
        found = drive_link(scene, body, up)
        assert found is not None
        assert (found.result, link_faults(scene.links[up], body)) == ("passed", ())


def test_corners_of_a_box_do_not_swing_over_corners_of_things() -> None:
    box = Footprint(False, 0.5, 0.5)
    # A thin wall that ends just inside the circle of its corners, half way between two headings.
    at = 0.7 * np.array([math.cos(math.radians(70)), math.sin(math.radians(70))])
    post = np.array([[*at, *(2 * at)]])
    frame = GridFrame((0.0, 0.0), (1.0, 0.0), 1, 1)
    angles = [0.0, math.atan2(1, 6), math.pi / 4]
    fits = [
        free(row_intervals(minkowski_box(post, box, (math.cos(angle), math.sin(angle))), frame))
        for angle in angles
    ]
    turns = [
        free(row_intervals(minkowski_corners(post, box, *pair), frame)) for pair in pairwise(angles)
    ]
    assert (fits, turns) == ([True, True, True], [True, False])


def free(taken: Stretches) -> bool:
    """Whether the first place of a grid is in none of some stretches."""
    return not any(row == 0 and low <= 0 <= high for row, low, high in zip(*taken, strict=True))


@pytest.mark.parametrize(
    ("wide", "turns", "passes"), [(1.02, True, True), (1.02, False, False), (0.905, True, False)]
)
def test_a_box_gets_aside_by_small_turns(wide: float, turns: bool, passes: bool) -> None:
    # Across a corridor in which it cannot turn round, from one end to the other.
    floor = shapely.box(0.0, 0.0, 3.0, wide)
    walls = np.array([[0, 0, 3, 0], [3, 0, 3, wide], [3, wide, 0, wide], [0, wide, 0, 0]], float)
    rails = SE2Lines(
        walls, Footprint(False, 0.45, 0.45), floor, (0.0, 1.0), LineSpacing(0.01, 36), turns=turns
    )
    ends = [rails.held(0, np.array([[x, wide / 2]])) for x in (0.6, 2.4)]
    way = rails.way(*(numbers for numbers, _ in ends))
    assert bool(way) == passes
    if way:
        driven = rails.motions(way, float(ends[0][1][0]), ends[1][1])
        assert (driven[0].x, driven[-1].x) == pytest.approx((0.6, 2.4), abs=0.01)
        for motion in driven:
            angle = motion.heading - math.pi / 2
            box = shapely.affinity.rotate(
                shapely.box(-0.45, -0.45, 0.45, 0.45), angle, use_radians=True
            )
            assert floor.contains(shapely.affinity.translate(box, motion.x, motion.z))
        for before, after in pairwise(driven):
            far = math.hypot(after.x - before.x, after.z - before.z)
            aside = (after.x - before.x) * math.cos(before.heading) + (
                after.z - before.z
            ) * math.sin(before.heading)
            assert abs(aside) < 1e-6
            assert far < 1e-6 or after.heading == before.heading
