"""When an oracle speaks: each trigger where it should, and not beside it."""

from __future__ import annotations

import pytest

from navloom.errors import UsageError
from navloom.scenes.distances import metre_table
from navloom.scenes.scene import Edge, Floor, Region, Scene, Viewpoint
from navloom.scenes.scene_uri import load_scene
from navloom.tools.navigation.oracle_facts import path_to_goal
from navloom.tools.navigation.oracle_triggers import detect_struggle, is_early_stop
from tests.tools.navcraft.rooms_in_a_row import (
    CORNER,
    HALL,
    ISLAND,
    KITCHEN,
    SINK,
    STAIRS,
    STUDY,
    home,
)

GOAL = [SINK]


@pytest.mark.parametrize(
    "walked",
    [
        [HALL],
        [HALL, CORNER],
        [HALL, CORNER, KITCHEN, SINK],
        # One step back and forth again is no loop.
        [CORNER, HALL, CORNER],
        # Turning on the spot repeats a viewpoint.
        [HALL, HALL, HALL, HALL, CORNER, CORNER],
    ],
)
def test_all_is_well(walked: list[str]) -> None:
    assert detect_struggle(home(), walked, GOAL) is None


@pytest.mark.parametrize(
    "walked",
    [
        [HALL, CORNER, HALL, CORNER],
        [STAIRS, HALL, STAIRS, HALL, CORNER, HALL],
        [HALL, STAIRS, HALL, CORNER, HALL],
    ],
)
def test_loops_by_cycles_and_by_visits(walked: list[str]) -> None:
    assert detect_struggle(home(), walked, GOAL) == "loop"
    assert detect_struggle(home(), walked, GOAL, since=len(walked) - 1) is None


@pytest.mark.parametrize(("ring", "loop"), [(2, True), (3, True), (4, True), (5, False)])
def test_a_cycle_of_two_to_four_viewpoints_gone_through_twice_is_a_loop(
    ring: int, loop: bool
) -> None:
    walked = [HALL, CORNER, KITCHEN, SINK, STAIRS][:ring] * 2
    assert (detect_struggle(home(), [STUDY, *walked], GOAL) == "loop") is loop
    assert detect_struggle(home(), [STUDY, *walked[:-1]], GOAL) != "loop"


def test_visits_are_counted_as_asked() -> None:
    walked = [HALL, STAIRS, HALL, CORNER, HALL]
    assert detect_struggle(home(), walked, GOAL, visits=4, worse_m=9.0) is None
    assert detect_struggle(home(), walked[:3], GOAL, visits=2) == "loop"


def test_off_course_by_distance_to_the_goal() -> None:
    walked = [CORNER, HALL]
    assert detect_struggle(home(), walked, GOAL) == "off_course"
    assert detect_struggle(home(), walked, GOAL, worse_m=4.0) is None
    # Reported once: what lies before the advice is passed over.
    assert detect_struggle(home(), walked, GOAL, since=1) is None


def test_off_course_by_distance_to_the_route() -> None:
    # From the stairs up to the study: 3.6 m from the stairs, which the reference path touches not.
    walked = [HALL, STAIRS, STUDY]
    kept = {"worse_m": 100.0, "away_m": 5.8}
    assert (
        detect_struggle(home(), walked, GOAL, [HALL, CORNER, KITCHEN, SINK], **kept) == "off_course"
    )
    kept = {"worse_m": 100.0, "away_m": 5.9}
    far = detect_struggle(home(), walked, GOAL, [HALL, CORNER, KITCHEN, SINK], **kept)
    assert far == "wrong_region"


@pytest.mark.parametrize("goals", [[SINK, STUDY], [STUDY, SINK]])
def test_of_several_goals_the_route_leads_to_the_nearest(goals: list[str]) -> None:
    # From the stairs the study is 4.2 m away and the sink 12 m, by way of the hall.
    only = {"worse_m": 100.0, "away_m": 1.9}
    assert detect_struggle(home(), [STAIRS, HALL], goals, **only) == "off_course"
    assert detect_struggle(home(), [STAIRS, HALL], goals, worse_m=100.0, away_m=2.0) is None
    # From the corner it is the other way round: the route goes east and not by the stairs.
    assert (
        detect_struggle(home(), [CORNER, HALL, STAIRS], goals, [], worse_m=100.0, away_m=5.9)
        is None
    )
    assert detect_struggle(home(), [CORNER, HALL], goals, **only) == "off_course"


def test_a_step_towards_the_goal_is_never_off_course() -> None:
    back = [HALL, STAIRS, STUDY, STAIRS]
    assert detect_struggle(home(), back, GOAL, worse_m=1.0) is None
    assert detect_struggle(home(), back[:3], GOAL, worse_m=1.0) == "off_course"


def test_wrong_region_only_on_entering_it() -> None:
    far = {"worse_m": 100.0, "away_m": 100.0}
    assert detect_struggle(home(), [STAIRS, STUDY], GOAL, **far) == "wrong_region"
    assert detect_struggle(home(), [HALL, STAIRS], GOAL, **far) is None


def test_a_room_that_is_behind_on_the_route_is_wrong() -> None:
    far = {"worse_m": 100.0, "away_m": 100.0}
    walked = [HALL, CORNER, KITCHEN, CORNER]
    assert detect_struggle(home(), walked, GOAL, **far) == "wrong_region"


def test_nobody_can_be_off_course_where_no_way_leads() -> None:
    assert detect_struggle(home(), [HALL, STAIRS, STUDY], [ISLAND]) is None


def test_bad_input_is_named() -> None:
    with pytest.raises(UsageError, match="at least one goal"):
        detect_struggle(home(), [HALL], [])
    with pytest.raises(UsageError, match="no viewpoint 'nowhere'"):
        detect_struggle(home(), ["nowhere"], GOAL)
    assert detect_struggle(home(), [], GOAL) is None


def test_a_shortest_walk_through_a_home_is_never_a_struggle() -> None:
    scene = load_scene("demo:house")
    places = [v.id for v in scene.viewpoints]
    for goal in places[::7]:
        way = path_to_goal(scene, places[0], [goal])
        for end in range(1, len(way) + 1):
            assert detect_struggle(scene, way[:end], [goal], way) is None


def test_a_stop_is_early_where_no_goal_is_within_the_radius() -> None:
    table = metre_table(home(), "3d")
    left = table.distance(KITCHEN, SINK)
    assert not is_early_stop(home(), SINK, GOAL)
    assert is_early_stop(home(), HALL, GOAL)
    # Strictly nearer, as success is; any goal counts, and no way to it is far.
    assert is_early_stop(home(), KITCHEN, GOAL, radius_m=left)
    assert not is_early_stop(home(), KITCHEN, GOAL, radius_m=left + 0.01)
    assert not is_early_stop(home(), HALL, [SINK, HALL])
    assert is_early_stop(home(), HALL, [ISLAND])
    with pytest.raises(UsageError, match="at least one goal"):
        is_early_stop(home(), HALL, [])


def line(*regions: str | None, step: float = 1.0) -> Scene:
    """Viewpoints v0, v1, ... in a row, each with the room it is in."""
    rooms = dict.fromkeys(room for room in regions if room)
    return Scene(
        id="line",
        source="test",
        floors=(Floor(id=1, height=0.0),),
        regions=tuple(Region(id=room, center=(0, 0, 0)) for room in rooms),
        viewpoints=tuple(
            Viewpoint(id=f"v{k}", position=(step * k, 0.0, 0.0), region=room)
            for k, room in enumerate(regions)
        ),
        edges=tuple(Edge(a=f"v{k}", b=f"v{k + 1}") for k in range(len(regions) - 1)),
    )


def places(*numbers: int) -> list[str]:
    return [f"v{number}" for number in numbers]


@pytest.mark.parametrize(
    ("back", "options", "found"),
    [
        # From v5, 3 m from the goal, three hops back are 3 m worse: not more than is allowed.
        ((5, 4, 3, 2), {}, None),
        ((5, 4, 3, 2, 1), {}, "off_course"),
        ((5, 4), {"worse_m": 0.5}, "off_course"),
        ((5, 4), {"worse_m": 1.0}, None),
    ],
)
def test_off_course_is_more_than_three_metres_worse(
    back: tuple[int, ...], options: dict[str, float], found: str | None
) -> None:
    scene = line(*["Hall_1"] * 9)
    assert detect_struggle(scene, places(*back), places(8), places(*range(9)), **options) == found


@pytest.mark.parametrize(("hops", "found"), [(5, None), (6, "off_course")])
def test_off_course_is_more_than_five_metres_from_the_route(hops: int, found: str | None) -> None:
    scene = line(*["Hall_1"] * 12)
    # The path goes on from v6; who walks away from it is held against its first place.
    walked = places(*range(6, 5 - hops, -1))
    options = {"worse_m": 100.0}
    assert detect_struggle(scene, walked, places(11), places(*range(6, 12)), **options) == found


def test_a_room_beside_the_route_is_wrong_and_one_further_on_is_not() -> None:
    scene = line("Bath_2", "Hall_1", "Hall_1", "Kitchen_3", "Study_4")
    goal, route = places(4), places(1, 2, 3, 4)
    assert detect_struggle(scene, places(1, 0), goal, route) == "wrong_region"
    # Back into the hall from the kitchen: it is behind.
    assert detect_struggle(scene, places(1, 2, 3, 2), goal, route) == "wrong_region"
    assert detect_struggle(scene, places(2, 1), goal, route) is None
    # Nothing is known of a place without a room.
    bare = line(None, "Hall_1", "Hall_1", "Kitchen_3", "Study_4")
    assert detect_struggle(bare, places(1, 0), goal, route) is None
    # Who was never on the route has all of it ahead.
    aside = line("Bath_2", "Hall_1", "Hall_1", "Kitchen_3", "Study_4")
    assert detect_struggle(aside, places(1, 0), goal, places(2, 3, 4)) == "wrong_region"


@pytest.mark.parametrize(
    ("since", "found"), [(0, "loop"), (1, "loop"), (2, None), (4, None), (9, None)]
)
def test_what_was_told_before_is_passed_over(since: int, found: str | None) -> None:
    scene = line(*["Hall_1"] * 4)
    assert detect_struggle(scene, places(1, 2, 1, 2, 1), places(3), since=since) == found


@pytest.mark.parametrize(("visits", "found"), [(1, "loop"), (2, "loop"), (3, None)])
def test_two_visits_are_the_fewest_that_make_a_loop(visits: int, found: str | None) -> None:
    scene = line(*["Hall_1"] * 4)
    assert detect_struggle(scene, places(1, 2, 1), places(3), visits=visits) == found
    assert detect_struggle(scene, places(1, 2), places(3), visits=visits) is None


@pytest.mark.parametrize(("hops", "early"), [(2, False), (3, True), (4, True)])
def test_a_stop_is_early_from_three_metres_on(hops: int, early: bool) -> None:
    scene = line(*["Hall_1"] * 9)
    assert is_early_stop(scene, f"v{hops}", places(0)) == early
    assert is_early_stop(scene, f"v{hops}", places(8, 0)) == early
