"""The best plan for one errand is what trying everything comes to; and what no plan can gain."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise, permutations, product

import pytest

from navloom.errors import UsageError
from navloom.scenes.scene import Scene
from navloom.tools.navcraft.relay_optimum import all_relays
from navloom.tools.navcraft.relay_task import RelayTask
from navloom.tools.navcraft.schedule import CarryLeg
from navloom.tools.navcraft.task_paths import Anchor, metric_graph
from navloom_worlds.teams.robots import Robot
from navloom_worlds.teams.team_optimum import TeamMeasure, best_plan, best_starts, handoff_places
from navloom_worlds.teams.team_plan import TeamErrand, TeamPlan, relay_plan, resolve_place
from tests.tools.navcraft.worlds import ROW, item, row_house
from worlds.tests.teams.random_plans import random_robots, random_scene, simulated, walked

MEASURES: tuple[TeamMeasure, ...] = ("makespan", "alpha", "metres", "longest")


def every_plan(
    robots: tuple[Robot, ...], errand: TeamErrand, places: list[Anchor]
) -> Iterator[TeamPlan]:
    for many in range(1, len(robots) + 1):
        for team in permutations(robots, many):
            for handoffs in permutations(places, many - 1):
                way = pairwise([errand.origin, *handoffs, errand.end])
                legs = [
                    CarryLeg(r.name, errand.object, a, b)
                    for r, (a, b) in zip(team, way, strict=True)
                ]
                yield TeamPlan(robots, tuple(legs))


def gone(scene: Scene, plan: TeamPlan) -> list[float]:
    """Metres that each robot walks."""
    metres = []
    for robot in plan.robots:
        at, total = robot.start, 0.0
        for leg in (each for each in plan.order if each.robot == robot.name):
            total += walked(scene, robot, at, leg.origin) + walked(scene, robot, leg.origin, leg.to)
            at = leg.to
        metres.append(total)
    return metres


def worth(scene: Scene, plan: TeamPlan, by: TeamMeasure, solo: float) -> float:
    metres = gone(scene, plan)
    if not all(map(math.isfinite, metres)):
        return math.inf
    if by == "alpha":
        first = plan.robots[0].name
        return metres[0] / solo if any(leg.robot == first for leg in plan.legs) else math.inf
    return {"metres": sum(metres), "longest": max(metres)}.get(by) or simulated(scene, plan)[0]


def small_team(dice: random.Random) -> tuple[Scene, tuple[Robot, ...], TeamErrand, list[Anchor]]:
    scene = random_scene(dice, rooms=5, things=3)
    robots = random_robots(dice, scene, dice.choice([1, 2, 2, 3, 3]))
    things = [each for each in scene.items if each.kind == "object"]
    thing, end = dice.sample(things, 2)
    anchors = metric_graph(scene).items
    errand = TeamErrand(thing.id, anchors[thing.id], anchors[end.id])
    assets = [anchors[each.id] for each in scene.items if each.kind == "asset"]
    return scene, robots, errand, dice.sample(assets, 4)


def same_as_trying(seed: int, many: int) -> None:
    dice = random.Random(seed)
    relayed = 0
    for _ in range(many):
        scene, robots, errand, places = small_team(dice)
        free = replace(robots[0], body=None)
        solo = walked(scene, free, free.start, errand.origin) + walked(
            scene, free, errand.origin, errand.end
        )
        plans = list(every_plan(robots, errand, places))
        for by in MEASURES:
            values = [worth(scene, plan, by, solo) for plan in plans]
            best = best_plan(scene, robots, errand, places, by=by)
            assert best.exact
            assert best.value == pytest.approx(min(values), abs=1e-6)
            assert worth(scene, best.plan, by, solo) == pytest.approx(best.value, abs=1e-6)
            relayed += len(best.plan.legs) > 1
        least = min(worth(scene, plan, "longest", solo) for plan in plans)
        cap = least * dice.choice([1.0, 1.2])
        kept = [plan for plan in plans if max(gone(scene, plan)) <= cap + 1e-9]
        capped = best_plan(scene, robots, errand, places, cap=cap + 1e-9)
        assert capped.value == pytest.approx(
            min(worth(scene, plan, "makespan", solo) for plan in kept), abs=1e-6
        )
        with pytest.raises(UsageError, match="the least cap that one keeps is") as error:
            best_plan(scene, robots, errand, places, cap=least * 0.99)
        said = float(str(error.value).rsplit(" ", 2)[1])
        assert least - 1e-6 <= said <= least + 0.01 + 1e-6
    assert relayed > many / 2


def test_the_best_is_what_trying_everything_comes_to() -> None:
    same_as_trying(3, 12)


@pytest.mark.slow
def test_the_best_of_five_hundred_teams_is_what_trying_everything_comes_to() -> None:
    same_as_trying(5, 500)


def test_of_two_robots_it_is_the_best_of_all_relays_or_one_alone() -> None:
    house = row_house(
        item("desk", "asset", "Attic_6", 22, 1), item("shelf", "asset", ROW[4], 18, 1)
    )
    task = RelayTask(house, ROW[0], ROW[3], "cup", ROW[5], "desk")
    relays = all_relays(task)
    errand = relay_plan(task, None).errands[0]
    places = handoff_places(house, errand)
    assert {x.item.id for x in task.fit_transfers.values()} == {
        each.node.removeprefix("item ") for each in places
    }
    starts = [helper.anchor for helper in task.fit_helpers.values() if helper.anchor]
    robots = (
        Robot("robot_1", resolve_place(house, ROW[0])),
        Robot("robot_2", resolve_place(house, ROW[5])),
    )
    best = best_starts(house, robots, starts, errand, places, by="alpha")
    assert best.exact
    assert best.value == pytest.approx(float(relays.alpha.min()))


@pytest.mark.slow
def test_the_best_starts_are_what_trying_every_start_comes_to() -> None:
    dice = random.Random(2)
    clashed = 0
    for _ in range(25):
        scene, _, errand, places = small_team(dice)
        robots = random_robots(dice, scene, 3)
        starts = list(metric_graph(scene).starts.values())[: dice.choice([2, 3, 5])]
        for by in MEASURES:
            values = []
            for placed in product(starts, repeat=2):
                if placed[0] != placed[1]:
                    pairs = zip(robots[1:], placed, strict=True)
                    team = (robots[0], *(replace(robot, start=at) for robot, at in pairs))
                    values.append(best_plan(scene, team, errand, places, by=by).value)
            best = best_starts(scene, robots, starts, errand, places, by=by)
            assert best.exact
            assert best.value == pytest.approx(min(values), abs=1e-6)
            placed = [robot.start for robot in best.plan.robots[1:]]
            assert len(set(placed)) == 2
            assert set(placed) <= set(starts)
            freed = min(
                best_plan(
                    scene,
                    (
                        robots[0],
                        *(replace(r, start=s) for r, s in zip(robots[1:], both, strict=True)),
                    ),
                    errand,
                    places,
                    by=by,
                ).value
                for both in product(starts, repeat=2)
            )
            clashed += freed < best.value - 1e-6
    assert clashed > 0


def test_more_starts_than_three_robots_have_a_bound() -> None:
    dice = random.Random(4)
    scene, _, errand, places = small_team(dice)
    robots = random_robots(dice, scene, 5)
    starts = list(metric_graph(scene).starts.values())
    best = best_starts(scene, robots, starts, errand, places)
    assert best.bound <= best.value + 1e-9
    assert best.plan.schedule(scene).makespan_s == pytest.approx(best.value)


@pytest.mark.parametrize("seed", range(8))
def test_at_one_speed_no_handoff_ends_sooner(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(40):
        scene, robots, errand, places = small_team(dice)
        robots = tuple(replace(robot, body=None, speed=1.3) for robot in robots)
        alone = {
            robot.name: TeamPlan(
                robots, (CarryLeg(robot.name, errand.object, errand.origin, errand.end),)
            )
            .schedule(scene)
            .makespan_s
            for robot in robots
        }
        assert best_plan(scene, robots, errand, places).value == pytest.approx(min(alone.values()))
        team = dice.sample(robots, len(robots))
        handoffs = dice.sample(places, len(team) - 1)
        way = list(pairwise([errand.origin, *handoffs, errand.end]))
        legs = [CarryLeg(r.name, errand.object, a, b) for r, (a, b) in zip(team, way, strict=True)]
        ends = TeamPlan(robots, tuple(legs)).schedule(scene).makespan_s
        assert ends >= alone[team[0].name] - 1e-9
        for k in range(len(legs) - 1):
            fewer = [*legs[:k], replace(legs[k], to=legs[k + 1].to), *legs[k + 2 :]]
            assert TeamPlan(robots, tuple(fewer)).schedule(scene).makespan_s <= ends + 1e-9


def test_where_no_body_gets_all_the_way_it_is_said() -> None:
    house = row_house(item("desk", "asset", "Attic_6", 22, 1))
    cut = house.replace(edges=house.edges[:-1])
    errand = TeamErrand("cup", resolve_place(cut, "cup"), resolve_place(cut, "desk"))
    with pytest.raises(UsageError, match="No plan of robot_1 brings 'cup'"):
        best_plan(cut, [Robot("robot_1", resolve_place(cut, ROW[0]))], errand, [])
