"""Plans in time are what a simulation of events comes to."""

from __future__ import annotations

import random

import pytest

from worlds.tests.teams.random_plans import random_plan, random_scene, simulated

PLANS = 5_000


def same_as_simulated(seed: int, many: int) -> int:
    dice = random.Random(seed)
    handed, waited = 0, 0
    scene = random_scene(dice)
    for number in range(many):
        if number % 50 == 0:
            scene = random_scene(dice)
        plan = random_plan(dice, scene)
        makespan, seen = simulated(scene, plan)
        made = plan.schedule(scene)
        assert made.makespan_s == pytest.approx(makespan, abs=1e-9)
        for timed in made.legs:
            assert (timed.takes, timed.ends) == pytest.approx(seen[timed.leg], abs=1e-9)
        handed += len(plan.handoffs)
        waited += sum(timed.waits > 0 for timed in made.legs)
    assert handed > many / 2
    assert waited > many / 10
    return handed


def test_schedules_are_what_a_simulation_of_events_comes_to() -> None:
    same_as_simulated(7, 300)


@pytest.mark.slow
def test_five_thousand_schedules_are_what_a_simulation_of_events_comes_to() -> None:
    same_as_simulated(11, PLANS)
