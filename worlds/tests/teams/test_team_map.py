"""A team's plan on its map: whose each way is, and which thing is meant."""

from __future__ import annotations

from navloom.scenes.plan_style import MARKS, ROUTES
from navloom.scenes.scene_uri import load_scene
from navloom.tools.navcraft.schedule import CarryLeg
from navloom_worlds.teams.team_plan import MOST_ROBOTS, TeamPlan, make_robot
from navloom_worlds.teams.team_planner import sample_team_task
from navloom_worlds.teams.team_results import team_map


def test_robots_are_told_apart_and_things_of_one_name_too() -> None:
    home = load_scene("home:1")
    task = sample_team_task(home, 13, robots=2, errands=2)
    starts = [robot.start for robot in task.robots] * 2
    robots = tuple(make_robot(home, f"robot_{n}", at) for n, at in enumerate(starts, 1))
    assert len({name.partition(" in ")[0] for name in task.things}) == 1
    legs = [
        CarryLeg(robot.name, errand.object, errand.origin, errand.end)
        for robot, errand in zip(robots[2:], task.errands, strict=True)
    ]
    shown = team_map(home, TeamPlan(robots, tuple(legs)))
    names = ["robot_1", "robot_2", "robot_3", "robot_4"]
    assert [lane.style for lane in shown.lanes[:4]] == names
    assert [(route.name, route.style) for route in shown.routes] == [(x, x) for x in names[2:]]
    marks = [mark.kind for mark in shown.marks if mark.kind.startswith("start")]
    assert marks == ["start_1", "start_2", "start_3", "start_4"]
    things = [lane.name for lane in shown.lanes[4:]]
    assert len(set(things)) == 2
    assert all(" of " in thing for thing in things)
    words = [span.words for lane in shown.lanes for span in lane.spans]
    assert f"to the {things[0]}" in words


def test_every_robot_of_the_largest_team_has_a_look() -> None:
    for number in range(1, MOST_ROBOTS + 1):
        assert MARKS[f"start_{number}"].colour == ROUTES[f"robot_{number}"].colour  # type: ignore[index]
    looks = [ROUTES[f"robot_{number}"] for number in range(1, 7)]
    assert len({look.colour for look in looks}) == len({look.dash for look in looks}) == 6
