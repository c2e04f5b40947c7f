"""Several errands: what trying everything comes to, and bounds that are some."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import permutations, product

import pytest

from navloom.errors import UsageError
from navloom.scenes.scene import Scene
from navloom.tools.navcraft.schedule import CarryLeg
from navloom.tools.navcraft.task_paths import Anchor, metric_graph
from navloom_worlds.teams.multi_errand_optimum import best_team_plan
from navloom_worlds.teams.robots import Robot
from navloom_worlds.teams.team_plan import TeamErrand, TeamPlan
from worlds.tests.teams.random_plans import random_robots, random_scene, walked
from worlds.tests.teams.test_team_optimum import MEASURES, gone, worth

Places = list[list[Anchor]]


def every_plan(
    robots: Sequence[Robot], errands: Sequence[TeamErrand], places: Places
) -> Iterator[TeamPlan]:
    """Every plan with one handoff an errand at most, in every order that can be done."""
    choices = []
    for errand, mine in zip(errands, places, strict=True):
        alone = [[CarryLeg(r.name, errand.object, errand.origin, errand.end)] for r in robots]
        handed = [
            [
                CarryLeg(a.name, errand.object, errand.origin, x),
                CarryLeg(b.name, errand.object, x, errand.end),
            ]
            for a, b in permutations(robots, 2)
            for x in mine
        ]
        choices.append(alone + handed)
    for chosen in product(*choices):
        legs = [leg for each in chosen for leg in each]
        seen = set()
        for order in permutations(legs):
            key = tuple(tuple(leg for leg in order if leg.robot == r.name) for r in robots)
            if key in seen:
                continue
            seen.add(key)
            with suppress(UsageError):  # Those in which robots wait for each other in a circle.
                yield TeamPlan(tuple(robots), order)


def small(
    dice: random.Random, many: int, robots: int, sites: int
) -> tuple[Scene, tuple[Robot, ...], list[TeamErrand], Places]:
    scene = random_scene(dice, rooms=6, things=3)
    things = dice.sample([each.id for each in scene.items if each.kind == "object"], many)
    assets = [each.id for each in scene.items if each.kind == "asset"]
    at = metric_graph(scene).items
    errands = [TeamErrand(thing, at[thing], at[dice.choice(assets)]) for thing in things]
    places = [
        dice.sample([at[x] for x in assets if at[x] != errand.end], sites) for errand in errands
    ]
    return scene, random_robots(dice, scene, robots), errands, places


def whole(scene: Scene, robot: Robot, errands: Sequence[TeamErrand]) -> float:
    robot, at, metres = replace(robot, body=None), robot.start, 0.0
    for errand in errands:
        metres += walked(scene, robot, at, errand.origin)
        metres += walked(scene, robot, errand.origin, errand.end)
        at = errand.end
    return metres


def same_as_trying(dice: random.Random, many: int, robots: int, sites: int) -> int:
    scene, team, errands, places = small(dice, many, robots, sites)
    solo = whole(scene, team[0], errands)
    plans = list(every_plan(team, errands, places))
    handed = 0
    for by in MEASURES:
        best = best_team_plan(scene, team, errands, places, by=by, seconds=600)
        assert best.exact
        assert worth(scene, best.plan, by, solo) == pytest.approx(best.value, abs=1e-6)
        assert best.value == pytest.approx(
            min(worth(scene, plan, by, solo) for plan in plans), abs=1e-6
        )
        handed += len(best.plan.handoffs)
    least = min(worth(scene, plan, "longest", solo) for plan in plans)
    capped = best_team_plan(scene, team, errands, places, cap=least * 1.1)
    kept = [plan for plan in plans if max(gone(scene, plan)) <= least * 1.1]
    assert capped.value == pytest.approx(
        min(worth(scene, plan, "makespan", solo) for plan in kept), abs=1e-6
    )
    with pytest.raises(UsageError, match="the least cap that one keeps is") as error:
        best_team_plan(scene, team, errands, places, cap=least * 0.98)
    said = float(str(error.value).rsplit(" ", 2)[1])
    assert least - 1e-6 <= said <= least + 0.01 + 1e-6
    return handed


@pytest.mark.slow
def test_two_errands_are_what_trying_everything_comes_to() -> None:
    dice = random.Random(1)
    assert sum(same_as_trying(dice, 2, 2, 2) for _ in range(6)) > 0


@pytest.mark.slow
def test_three_errands_are_what_trying_everything_comes_to() -> None:
    same_as_trying(random.Random(2), 3, 2, 1)


@pytest.mark.slow
def test_many_are_what_trying_everything_comes_to() -> None:
    dice = random.Random(3)
    assert sum(same_as_trying(dice, 2, 3, 2) for _ in range(12)) > 0
    assert sum(same_as_trying(dice, 2, 2, 4) for _ in range(40)) > 0
    for _ in range(6):
        same_as_trying(dice, 3, 2, 1)


@pytest.mark.slow
def test_four_errands_are_no_worse_than_any_plan_that_is_drawn() -> None:
    dice = random.Random(12)
    for _ in range(10):
        scene, team, errands, places = small(dice, 4, 3, 2)
        best = best_team_plan(scene, team, errands, places, seconds=600)
        assert best.exact
        at_all = 0
        for _ in range(2_000):
            legs = []
            for errand, mine in zip(errands, places, strict=True):
                a, b = dice.sample(team, 2)
                stops = [errand.origin, *([dice.choice(mine)] if dice.random() < 0.5 else [])]
                way = zip((a.name, b.name), stops, [*stops[1:], errand.end], strict=False)
                legs += [CarryLeg(name, errand.object, x, y) for name, x, y in way]
            dice.shuffle(legs)
            with suppress(UsageError):
                made = TeamPlan(team, tuple(legs)).schedule(scene).makespan_s
                assert made >= best.value - 1e-9
                at_all += 1
        assert at_all > 500


def test_without_time_three_errands_have_a_gap_that_holds() -> None:
    dice = random.Random(5)
    for _ in range(10):
        scene, team, errands, places = small(dice, 3, 3, 4)
        best = best_team_plan(scene, team, errands, places, seconds=600)
        quick = best_team_plan(scene, team, errands, places, seconds=0)
        assert best.exact
        assert quick.bound <= best.value + 1e-9 <= quick.value + 2e-9
        assert quick.plan.schedule(scene).makespan_s == pytest.approx(quick.value)


def test_more_errands_stand_beside_a_bound() -> None:
    dice = random.Random(6)
    for many in (5, 6):
        scene, team, errands, places = small(dice, many, 4, 4)
        best = best_team_plan(scene, team, errands, places)
        assert best.bound <= best.value
        assert best.plan.schedule(scene).makespan_s == pytest.approx(best.value)
        assert {each.object for each in best.plan.errands} == {each.object for each in errands}


def test_two_errands_gain_by_a_second_robot_at_one_speed() -> None:
    dice = random.Random(8)
    scene, team, errands, places = small(dice, 2, 2, 4)
    team = tuple(replace(robot, body=None, speed=1.0) for robot in team)
    alone = best_team_plan(scene, team[:1], errands, places)
    assert best_team_plan(scene, team, errands, places).value < alone.value


@pytest.mark.parametrize(("many", "said"), [(0, "1 to 12 errands, not 0"), (13, "not 13")])
def test_a_team_has_one_to_twelve_errands(many: int, said: str) -> None:
    scene, team, errands, _ = small(random.Random(0), 2, 2, 1)
    with pytest.raises(UsageError, match=said):
        best_team_plan(scene, team, (errands * 7)[:many])


def test_errands_that_cannot_be_done_beside_each_other_are_refused() -> None:
    scene, team, (one, other), _ = small(random.Random(0), 2, 2, 1)
    with pytest.raises(UsageError, match="Two errands are about"):
        best_team_plan(scene, team, [one, replace(other, object=one.object)])
    with pytest.raises(UsageError, match="is carried away, so nothing can be put on it"):
        best_team_plan(scene, team, [one, replace(other, end=one.origin)])
