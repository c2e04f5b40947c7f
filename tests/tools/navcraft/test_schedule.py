"""Relays in time, on the golden relay of test_relay: seconds are metres at 1 m/s.

A1: robot_2 reaches the cup at 9, is back on its viewpoint at 10, at the Living room's at 14, and
puts the cup on the coffee table at 16. Robot_1 is on the table's spur from 8, there at 10, waits 6,
and delivers at 16 + 9 = 25. They are on the spur together from 14 to 16.

A2: robot_1 walks Living room -> Study from 8 to 12 while robot_2 comes the other way, from 8 to 12,
through the same door. Robot_2 is at the table at 14, waits 6; robot_1 brings the cup along the spur
from 18 to 20; robot_2 delivers at 29.
"""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from navloom.errors import UsageError
from navloom.scenes.scene import Edge, Link, Scene, Viewpoint
from navloom.tools.navcraft.relay import check_collab_path_efficient
from navloom.tools.navcraft.relay_optimum import RelayTable, all_relays
from navloom.tools.navcraft.relay_schedule import HandoffWait, schedule_relay, schedule_solo
from navloom.tools.navcraft.relay_task import RelayTask
from navloom.tools.navcraft.schedule import (
    Overlap,
    RobotStop,
    Speeds,
    Timetable,
    _covered,
    find_overlaps,
    travel_time,
)
from tests.tools.navcraft.test_relay import RELAY, cut_off, row_task
from tests.tools.navcraft.worlds import item, near, row_house, scenes


def test_golden_schedule_a1() -> None:
    schedule = schedule_relay(row_task(), *RELAY, "Type-A1")
    assert schedule.makespan_s == near(25)
    assert schedule.wait == HandoffWait("robot_1", "Living_room_3", "coffee_table", near(6))
    assert schedule.waits == {"robot": "robot_1", "seconds": near(6)}
    assert schedule.object_rests_s == 0
    assert [(o.kind, o.seconds) for o in schedule.overlaps] == [("handoff", near(2))]
    assert schedule.overlap_s == near(2)
    fetch, deliver = schedule.routes["robot_2"], schedule.routes["robot_1"]
    assert [stop.node for stop in fetch] == [
        "vAttic_6",
        "vPantry_5",
        "vStudy_4",
        "item cup",
        "vStudy_4",
        "vLiving_room_3",
        "item coffee-table",
    ]
    assert [stop.arrive for stop in fetch] == near([0, 4, 8, 9, 10, 14, 16])
    assert [stop.leave for stop in deliver] == near([0, 4, 8, 16, 18, 22, 25])


def test_golden_schedule_a2() -> None:
    schedule = schedule_relay(row_task(), *RELAY, "Type-A2")
    assert schedule.makespan_s == near(29)
    assert schedule.waits == {"robot": "robot_2", "seconds": near(6)}
    assert schedule.overlaps == (
        Overlap("doorway", ("Living_room_3", "Study_4"), near(4)),
        Overlap("edge", ("vLiving_room_3", "vStudy_4"), near(4)),
        Overlap("handoff", ("item coffee-table", "vLiving_room_3"), near(2)),
    )
    assert schedule.overlap_s == near(6)  # the doorway and its edge at once, then the spur


def test_a_slow_receiver_waits_for_nothing_and_the_object_rests() -> None:
    # At 0.5 m/s robot_1 is at the table at second 20, four after the cup.
    schedule = schedule_relay(row_task(), *RELAY, "Type-A1", speeds=Speeds(robot_1=0.5))
    assert schedule.wait is None
    assert schedule.waits == {"robot": None, "seconds": 0.0}
    assert schedule.object_rests_s == near(4)
    assert schedule.makespan_s == near(20 + 18)
    assert schedule.overlap_s == 0  # robot_2 is done before robot_1 comes to the table


def test_a_fast_helper_shortens_only_its_own_part() -> None:
    schedule = schedule_relay(row_task(), *RELAY, "Type-A1", speeds=Speeds(robot_2=2.0))
    assert schedule.object_rests_s == near(2)
    assert schedule.makespan_s == near(10 + 9)


def test_alone() -> None:
    stops = schedule_solo(row_task(), speed=2.0)
    assert stops[-1].node == "item kitchen-counter"
    assert stops[-1].arrive == near(12.5)
    assert travel_time(25, 2.0) == 12.5


@pytest.mark.parametrize("speed", [0.0, -1.0, math.nan, math.inf])
def test_a_speed_must_be_a_positive_number(speed: float) -> None:
    with pytest.raises(UsageError, match="above 0 metres a second"):
        Speeds(robot_2=speed)
    with pytest.raises(UsageError):
        travel_time(1.0, speed)


@pytest.mark.parametrize(
    ("relay", "said"),
    [
        (("Atic_6", *RELAY[1:], "Type-A1"), "Did you mean 'Attic_6'"),
        (("Attic_6", "Living_3", "coffee_table", "Type-A1"), "transfer_region 'Living_3'"),
        (("Attic_6", "Living_room_3", "sofa", "Type-A1"), "no asset 'sofa'"),
        ((*RELAY, "A1"), "use 'Type-A1' or 'Type-A2'"),
    ],
)
def test_a_relay_with_a_wrong_name_is_refused(relay: tuple[str, str, str, str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        schedule_relay(row_task(), *relay)


def test_a_relay_that_cannot_be_walked_is_refused() -> None:
    task = row_task(scene=cut_off("vPantry_5-vAttic_6"))
    with pytest.raises(UsageError, match="cannot be walked"):
        schedule_relay(task, *RELAY, "Type-A1")


def two_doors() -> Scene:
    """The row house with a second door, edge and pair of viewpoints between the first rooms."""
    scene = row_house()
    return scene.replace(
        viewpoints=(
            *scene.viewpoints,
            Viewpoint(id="south1", position=(2, 0, 9), region="Bedroom_1"),
            Viewpoint(id="south2", position=(6, 0, 9), region="Hall_2"),
        ),
        edges=(*scene.edges, Edge(a="south1", b="south2")),
        links=(
            Link(a="Bedroom_1", b="Hall_2", point=(4, 0, 0)),
            Link(a="Bedroom_1", b="Hall_2", point=(4, 0, 9)),
            *scene.links[1:],
        ),
    )


def crossing(*nodes: str, scene: Scene) -> tuple[RobotStop, ...]:
    places = [scene.viewpoint_by_id[node] for node in nodes]
    return tuple(
        RobotStop(place.id, place.position, place.region, 4.0 * i, 4.0 * i)
        for i, place in enumerate(places)
    )


def test_two_doors_between_the_same_rooms_are_two_places() -> None:
    scene = two_doors()
    north = crossing("vBedroom_1", "vHall_2", scene=scene)
    south = crossing("south2", "south1", scene=scene)
    assert find_overlaps(scene, north, south) == ((), 0.0)
    back = crossing("vHall_2", "vBedroom_1", scene=scene)
    met, seconds = find_overlaps(scene, north, back)
    assert [o.kind for o in met] == ["doorway", "edge"]
    assert seconds == near(4)


def test_two_edges_through_one_door_share_the_door_alone() -> None:
    scene = two_doors()
    scene = scene.replace(links=scene.links[:1] + scene.links[2:])
    north = crossing("vBedroom_1", "vHall_2", scene=scene)
    south = crossing("south2", "south1", scene=scene)
    met, seconds = find_overlaps(scene, north, south)
    assert met == (Overlap("doorway", ("Bedroom_1", "Hall_2"), near(4)),)
    assert seconds == near(4)


def test_the_same_edge_at_another_time_is_no_overlap() -> None:
    scene = row_house()
    there = crossing("vBedroom_1", "vHall_2", "vLiving_room_3", scene=scene)
    after = crossing("vLiving_room_3", "vHall_2", "vBedroom_1", scene=scene)
    assert find_overlaps(scene, there, after) == ((), 0.0)


@given(scenes(), st.randoms(use_true_random=False), st.floats(0.2, 3), st.floats(0.2, 3))
def test_schedules_agree_with_the_costs(
    scene: Scene, random: Any, fast: float, slow: float
) -> None:
    relays = some_relays(scene, random)
    if relays is None:
        return
    task = relays.task
    even = relays.relay(random.randrange(len(relays)))
    names = (even.robot_2_start_region, even.transfer_region, even.transfer_asset, even.collab_type)
    info = check_collab_path_efficient(task, *names)["path_info"]
    schedule = schedule_relay(task, *names)
    assert schedule.makespan_s == near(info["parallel_leg"] + info["transfer_to_end"])
    come = info["r1_to_transfer" if even.collab_type == "Type-A1" else "r2_to_transfer"]
    first = info["robot2_first_leg" if even.collab_type == "Type-A1" else "robot1_first_leg"]
    assert schedule.waits["seconds"] == near(max(0, first - come), abs=1e-6)
    assert schedule.object_rests_s == near(max(0, come - first), abs=1e-6)
    assert schedule.overlap_s <= schedule.makespan_s + 1e-9
    assert schedule.overlap_s <= sum(o.seconds for o in schedule.overlaps) + 1e-9
    speeds = Speeds(fast, slow)
    uneven = all_relays(task, speeds=speeds)
    i = random.randrange(len(uneven))
    relay = uneven.relay(i)
    timed = schedule_relay(
        task,
        relay.robot_2_start_region,
        relay.transfer_region,
        relay.transfer_asset,
        relay.collab_type,
        speeds=speeds,
    )
    assert timed.makespan_s == near(relay.makespan_s)


def some_relays(scene: Scene, random: Any) -> RelayTable | None:
    """All relays of some task of a random scene, or None where there is none."""
    objects = [i for i in scene.items if i.kind == "object"]
    assets = [i for i in scene.items if i.kind == "asset"]
    if not objects or not assets:
        return None
    thing, end = random.choice(objects), random.choice(assets)
    start = random.choice(scene.regions).id
    task = RelayTask(scene, start, thing.region, thing.name, end.region, end.name)
    relays = all_relays(task)
    return relays if len(relays) else None


def test_an_item_may_have_the_id_of_a_viewpoint() -> None:
    task = row_task(item("cup", "object", "Study_4", 14, 0, id="vHall_2"))
    stops = schedule_solo(task)
    assert stops[-1].arrive == near(task.solo_metres)
    assert "item vHall_2" in [stop.node for stop in stops]


def test_a_timetable_without_legs_ends_at_once() -> None:
    assert Timetable((), {}).makespan_s == 0


def test_metres_take_as_many_seconds_where_no_speed_is_said() -> None:
    assert (travel_time(3.0), travel_time(3.0, 2.0)) == (3.0, 1.5)


def stop(node: str, arrive: float, leave: float, region: str | None = None) -> RobotStop:
    return RobotStop(node, (0.0, 0.0, 0.0), region, arrive, leave)


def test_robots_that_meet_for_an_instant_do_not_overlap() -> None:
    home = row_house()
    a, b = ("vHall_2", "Hall_2"), ("vLiving_room_3", "Living_room_3")
    first = (stop(a[0], 0, 1, a[1]), stop(b[0], 5, 5, b[1]))
    late = (stop(b[0], 0, 5, b[1]), stop(a[0], 9, 9, a[1]))
    assert find_overlaps(home, first, late) == ((), 0)
    # A second of both on the edge, and in the doorway that it leads through.
    met, seconds = find_overlaps(home, first, (stop(b[0], 0, 4, b[1]), stop(a[0], 8, 8, a[1])))
    assert sorted((each.kind, each.seconds) for each in met) == [("doorway", 1), ("edge", 1)]
    assert seconds == 1
    # Who stays where it has come to is in the way there, too.
    waits = (stop(a[0], 0, 0, a[1]), stop(b[0], 2, 7, b[1]))
    met, seconds = find_overlaps(home, waits, (stop(b[0], 0, 4, b[1]), stop(a[0], 8, 8, a[1])))
    assert sorted((each.kind, each.seconds) for each in met) == [("doorway", 3), ("edge", 3)]
    assert seconds == 3


def test_an_edge_into_no_room_leads_through_no_doorway() -> None:
    home = row_house()
    first = (stop("vHall_2", 0, 0, None), stop("vLiving_room_3", 4, 4, "Living_room_3"))
    met, _ = find_overlaps(home, first, first)
    assert [each.kind for each in met] == ["edge"]
    back = (stop("vLiving_room_3", 0, 0, "Living_room_3"), stop("vHall_2", 4, 4, None))
    assert [each.kind for each in find_overlaps(home, back, back)[0]] == ["edge"]


@pytest.mark.parametrize(
    ("spells", "seconds"),
    [
        ([], 0.0),
        ([(2.0, 5.0)], 3.0),
        ([(3.0, 4.0), (0.0, 1.0)], 2.0),
        ([(0.0, 2.0), (1.0, 4.0)], 4.0),
        ([(0.0, 10.0), (2.0, 9.5)], 10.0),
        ([(0.0, 10.0), (2.0, 3.0), (9.0, 12.0)], 12.0),
    ],
)
def test_a_second_that_two_spells_cover_counts_once(
    spells: list[tuple[float, float]], seconds: float
) -> None:
    assert _covered(spells) == seconds
