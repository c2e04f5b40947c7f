"""The plan that the rule reads: what takes floor from a body, and ways through narrow places."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from shapely import Polygon

from navloom.scenes.bodies import get_body
from navloom_worlds.geometry.solids import Surface, beam
from navloom_worlds.geometry.wall_holes import WallHole
from navloom_worlds.motion.box_places import Shape
from navloom_worlds.motion.passing import EVERY, FEW, fits, straight
from navloom_worlds.motion.rule_floor import _of_parts, strip

pytestmark = pytest.mark.slow


def test_what_leans_takes_what_it_takes_at_the_heights_of_a_body() -> None:
    # A tube that rises by a metre over a metre along x, from 0.2 m over a floor at 2 m.
    tube = beam((0.0, 2.2, 0.0), (1.0, 3.2, 0.0), 0.02, Surface())
    (found,) = _of_parts("telescope", [tube], 2.0)
    for name, first, last in (("QUADRUPEDAL", 0.1, 0.5), ("HUMAN", 0.1, 1.0)):
        x0, _, x1, _ = found.taken(get_body(name)).bounds
        assert (x0, x1) == pytest.approx((first, last), abs=0.025)
    post = beam((0.0, 2.0, 0.0), (0.0, 3.0, 0.0), 0.02, Surface())
    assert [each.edges for each in _of_parts("post", [post], 2.0)] == [None]


def test_a_closed_leaf_lies_against_strips_not_against_the_whole_jamb() -> None:
    swing = ((0.0, 0.05), (0.8, 0.05), (0.8, 0.85), (0.0, 0.85))
    way = WallHole(
        owner=-1, a=(0.0, 0.0), b=(0.8, 0.0), low=0.0, head=2.0, thick=0.1, kind="door",
        leaf="hinged", state="open", swing=swing, sill=0.0, rooms=("A", "B"),
    )  # fmt: skip
    rooms = [Polygon([(-1, z), (2, z), (2, 3 * z), (-1, 3 * z)]) for z in (-0.05, 0.05)]
    floor = strip(way, *rooms)
    wide = [
        floor.intersection(shapely.LineString([(-1, z), (2, z)])).length
        for z in (-0.04, -0.01, 0.04)
    ]
    assert wide == pytest.approx([0.8, 0.776, 0.8])


@pytest.mark.parametrize(("neck", "passes"), [(0.503, True), (0.5015, False)])
def test_a_neck_is_passed_however_little_longer_lines_lie_apart(neck: float, passes: bool) -> None:
    rooms = [shapely.box(x, 0.0, x + 3.0, 3.0) for x in (0.0, 3.2)]
    floor = shapely.union_all([*rooms, shapely.box(2.9, 1.377, 3.3, 1.377 + neck)])
    found = straight(floor, Shape(0.5, 1.1), 0.0, None)
    ends = [
        {
            int(part)
            for part, line in zip(found.part, found.patch, strict=True)
            if line.intersects(room)
        }
        for room in (shapely.box(0.5, 0.5, 2.0, 2.5), shapely.box(4.2, 0.5, 5.7, 2.5))
    ]
    assert bool(ends[0] & ends[1]) == passes


def test_more_headings_join_what_fewer_leave_apart() -> None:
    # It gets aside in a hall by leaning less than the twelve degrees between the first.
    hall = shapely.box(0.0, 0.0, 6.0, 0.82)
    few, every = (
        len(np.unique(fits(hall, Shape(0.7, 1.0), 0.0, turns=turns).main().part))
        for turns in (FEW, EVERY)
    )
    assert every < few
