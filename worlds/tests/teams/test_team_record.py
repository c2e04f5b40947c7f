"""Plans as JSON: there and back, and strangers' in one line."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from navloom.errors import NavloomError
from navloom.scenes.bodies import FETCH, SPOT
from navloom.scenes.scene import Link
from navloom.tools.navcraft.schedule import CarryLeg
from navloom.tools.navcraft.task_paths import metric_graph
from navloom_worlds.teams.team_plan import (
    TeamPlan,
    make_robot,
    plan_violations,
    read_team,
    resolve_place,
    team_record,
)
from tests.tools.navcraft.worlds import ROW, item, row_house
from worlds.tests.teams.random_plans import random_plan, random_scene

HOUSE = row_house(item("desk", "asset", "Attic_6", 22, 1))


def test_plans_go_into_json_and_back() -> None:
    dice = random.Random(1)
    for _ in range(100):
        scene = random_scene(dice)
        plan = random_plan(dice, scene)
        record = json.loads(json.dumps(team_record(scene, plan)))
        assert read_team(scene, record) == plan
        assert plan_violations(scene, plan) == []


def test_bodies_of_the_package_are_names() -> None:
    robots = (
        make_robot(HOUSE, "robot_1", ROW[0], FETCH),
        make_robot(HOUSE, "robot_2", ROW[1], SPOT),
    )
    leg = CarryLeg("robot_1", "cup", resolve_place(HOUSE, "cup"), resolve_place(HOUSE, "desk"))
    record = team_record(HOUSE, TeamPlan(robots, (leg,)))
    assert [each["body"] for each in record["robots"]] == ["FETCH", "SPOT"]
    assert record["robots"][0]["start"] == {"region": ROW[0]}
    assert record["legs"][0] == {
        "robot": "robot_1",
        "object": "cup",
        "from": {"item": "cup"},
        "to": {"item": "desk"},
    }


def good() -> dict[str, Any]:
    return {
        "robots": [{"name": "robot_1", "start": {"region": ROW[0]}, "body": None, "speed": 1.0}],
        "legs": [
            {"robot": "robot_1", "object": "cup", "from": {"item": "cup"}, "to": {"item": "desk"}}
        ],
    }


@pytest.mark.parametrize(
    ("where", "value", "said"),
    [
        (("robots", 0, "start"), {"region": "Attic_9"}, "'Attic_9' is not a region"),
        (("robots", 0, "start"), {}, "A place has one of region, item, viewpoint and point"),
        (("robots", 0, "start"), {"viewpoint": "x"}, "'x' is not a viewpoint"),
        (("robots", 0, "body"), "FETHC", "no body 'FETHC'"),
        (("robots", 0, "speed"), 0, '"team" > "robots" > "0" > "speed"'),
        (("legs", 0, "to"), {"item": "dask"}, "'dask' is not the id of an item"),
        (("legs", 0, "robot"), "robot_2", "Leg 1 is of 'robot_2'"),
        (("legs",), [], "1 to 100 legs, not 0"),
        (("robots",), good()["robots"] * 2, "Two robots are called 'robot_1'"),
        (("robots",), [], "1 to 12 robots, not 0"),
        (("robots",), good()["robots"] * 40, "1 to 12 robots, not 40"),
        ((), "a plan", 'no object under the key "team"'),
    ],
)
def test_what_a_stranger_wrote_is_refused_in_one_line(where, value, said: str) -> None:
    record: Any = good()
    assert read_team(HOUSE, record).legs
    if where:
        part = record
        for key in where[:-1]:
            part = part[key]
        part[where[-1]] = value
    else:
        record = value
    with pytest.raises(NavloomError) as error:
        read_team(HOUSE, record)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_handoff_out_of_reach_is_said_first() -> None:
    sills = [
        Link(a=x.a, b=x.b, kind="door", threshold=0.1) if x.a == ROW[1] else x for x in HOUSE.links
    ]
    house = HOUSE.replace(links=tuple(sills))
    at = metric_graph(house).items
    robots = (make_robot(house, "robot_1", ROW[0], FETCH), make_robot(house, "robot_2", ROW[3]))
    plan = TeamPlan(
        robots,
        (
            CarryLeg("robot_2", "desk", at["desk"], at["coffee-table"]),
            CarryLeg("robot_1", "desk", at["coffee-table"], at["kitchen-counter"]),
        ),
    )
    first, second = plan_violations(house, plan)
    assert first.code == "out_of_reach"
    assert (
        "robot_1 (FETCH) does not get from 'vBedroom_1' in Bedroom_1 to 'coffee-table'"
        in first.message
    )
    assert "between Hall_2 and Living_room_3, a sill of 0.100 m" in first.message
    assert second.code == "object_not_there"
    assert len(plan_violations(house, TeamPlan(robots[1:], plan.legs[:1]))) == 1
