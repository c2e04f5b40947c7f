"""Where two routes meet, against a simulation in small steps of time."""

from __future__ import annotations

import math
import os
import random
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pytest

from navloom.errors import UsageError
from navloom.scenes.bodies import FETCH, Embodiment
from navloom.scenes.scene import Link, Scene
from navloom.scenes.scene_uri import iter_scenes, load_scene
from navloom.tools.navcraft.relay_schedule import schedule_relay
from navloom.tools.navcraft.schedule import RobotStop
from navloom.tools.navcraft.task_paths import crossed_link
from navloom_worlds.teams.efficiency_library import Encounter, find_interference, find_place
from navloom_worlds.teams.revise_route import revise_route
from navloom_worlds.teams.robots import Robot
from tests.tools.navcraft.test_relay import row_task
from tests.tools.navcraft.worlds import row_house

STEP = 0.02
"""Seconds of a step of the simulation."""


def way(scene: Scene, start: str, goal: str, depart: float = 0.0, speed: float = 1.0):
    ends = find_place(scene, start), find_place(scene, goal)
    robot = Robot("robot_1", ends[0], speed=speed)
    return revise_route(scene, robot, *ends, depart_s=depart).stops


def in_steps(scene: Scene, first: tuple[RobotStop, ...], second: tuple[RobotStop, ...]):
    """(kind, where, how) -> the seconds both are in a place, counted step by step."""
    seconds = defaultdict[tuple[str, tuple[str, ...], str], float](float)
    last = min(first[-1].leave, second[-1].leave)
    for k in range(math.floor(last / STEP)):
        now = (k + 0.5) * STEP
        for kind, where, going in _walks(scene, first, now):
            for other, there, comes in _walks(scene, second, now):
                if (kind, where) == (other, there):
                    how = "following" if going == comes else "head-on"
                    seconds[kind, where, how] += STEP
    return seconds


def _walks(scene: Scene, route: tuple[RobotStop, ...], now: float):
    """The places in which a robot that walks is at one moment, and which end it walks to."""
    for here, there in pairwise(route):
        if not here.leave <= now < there.arrive:
            continue
        ends = [scene.viewpoint_by_id.get(stop.node) for stop in (here, there)]
        where = tuple(sorted((here.node, there.node)))
        if None in ends:
            yield "handoff", where, there.node
        elif (
            here.region
            and there.region
            and here.region != there.region
            and crossed_link(scene, *ends) is not None
        ):
            yield "doorway", tuple(sorted((here.region, there.region))), there.region
        else:
            yield "edge", where, there.node


def assert_alike(scene: Scene, first, second) -> list[Encounter]:
    met = find_interference(scene, first, second)
    ours = defaultdict[tuple[str, tuple[str, ...], str], float](float)
    for each in met:
        if each.how != "standing" and each.kind != "viewpoint":
            ours[each.kind, each.where, each.how] += each.to_s - each.from_s
    counted = in_steps(scene, first, second)
    for key in ours.keys() | counted.keys():
        spells = sum((each.kind, each.where, each.how) == key for each in met)
        assert ours[key] == pytest.approx(counted[key], abs=STEP * (spells + 1)), key
    return met


def homes() -> list[Scene]:
    folder = os.environ.get("NAVLOOM_DATA")
    real = [*iter_scenes(f"hm3d:{folder}/hm3d")][:4] if folder and Path(folder).is_dir() else []
    return [load_scene("home:8"), load_scene("demo:house"), *real]


@pytest.mark.slow
@pytest.mark.parametrize("speed", [1.0, 1.6])
def test_meetings_are_those_of_a_simulation_in_small_steps(speed: float) -> None:
    draw, met = random.Random(5), list[Encounter]()
    for scene in homes():
        rooms = [r.id for r in scene.regions if scene.viewpoints_by_region[r.id]]
        for _ in range(12):
            a, b, c, d = (draw.choice(rooms) for _ in range(4))
            try:
                one = way(scene, a, b)
                two = way(scene, c, d, draw.uniform(0, 4), speed)
            except UsageError:  # a home in parts
                continue
            met += assert_alike(scene, one, two)
    assert {each.how for each in met} >= {"head-on", "following"}
    assert {each.kind for each in met} >= {"doorway", "edge"}


def test_two_who_swap_rooms_meet_head_on_in_the_doorway_between() -> None:
    scene = row_house()
    wide = scene.replace(links=tuple(Link(a=k.a, b=k.b, width=0.9) for k in scene.links))
    first, second = way(wide, "Bedroom_1", "Living_room_3"), way(wide, "Living_room_3", "Bedroom_1")
    slim, broad = Embodiment(name="SLIM", width=0.3), Embodiment(name="BROAD", width=0.7)
    met = find_interference(wide, first, second, (slim, broad))
    assert [(each.where, each.how) for each in met if each.kind == "doorway"] == []
    # Both are in the hall at second 4: nobody stands, and each is in a doorway of its own.
    later = way(wide, "Living_room_3", "Bedroom_1", depart=2.0)
    doors = [e for e in find_interference(wide, first, later, (slim, broad)) if e.kind == "doorway"]
    assert [(e.where, e.how, e.from_s, e.to_s, e.width, e.fits) for e in doors] == [
        (("Hall_2", "Living_room_3"), "head-on", 4.0, 6.0, 0.9, False)
    ]
    doors = [e for e in find_interference(wide, first, later, (slim, slim)) if e.kind == "doorway"]
    assert [e.fits for e in doors] == [True]
    assert [e.fits for e in find_interference(wide, first, later, (slim, None))] == [None]
    assert [e.fits for e in find_interference(scene, first, later, (slim, slim))] == [None]


def test_who_waits_is_met_where_it_stands() -> None:
    scene = row_house()
    at = {v.region: v for v in scene.viewpoints}
    stand = tuple(
        RobotStop(at[r].id, at[r].position, r, arrive, leave)
        for r, arrive, leave in (("Bedroom_1", 0, 0), ("Hall_2", 4, 20), ("Bedroom_1", 24, 24))
    )
    passing = way(scene, "Study_4", "Hall_2", depart=1.0)
    (met,) = find_interference(scene, stand, passing)
    assert (met.kind, met.where, met.how) == ("viewpoint", ("vHall_2",), "standing")
    assert (met.from_s, met.to_s) == (9.0, 9.0)


def test_a_handoff_is_told_as_one() -> None:
    task = row_task()
    schedule = schedule_relay(task, "Attic_6", "Living_room_3", "coffee_table", "Type-A1")
    met = find_interference(task.scene, schedule.routes["robot_1"], schedule.routes["robot_2"])
    together = [each for each in met if each.kind == "handoff"]
    assert {each.how for each in together} == {"standing"}
    told = {o.kind: o.seconds for o in schedule.overlaps}
    assert sum(e.to_s - e.from_s for e in together) == pytest.approx(told["handoff"])


def test_a_robot_of_its_own_speed_on_a_home_of_rooms_with_widths() -> None:
    scene = load_scene("home:8")
    rooms = [r.id for r in scene.regions if scene.viewpoints_by_region[r.id]]
    found = []
    for a in rooms:
        for b in rooms:
            if a != b:
                one, two = way(scene, a, b), way(scene, b, a)
                found += find_interference(scene, one, two, (FETCH, FETCH))
    doors = [each for each in found if each.kind == "doorway"]
    assert doors
    for each in doors:
        assert each.fits == (each.width is not None and each.width >= 2 * FETCH.width)
