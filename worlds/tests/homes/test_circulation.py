"""Homes have halls of many shapes: a straight corridor is one of them."""

from __future__ import annotations

from collections import Counter

import pytest

from navloom_worlds.homes.floorplan import Doorway, Floorplan, PlannedRoom, Spot
from navloom_worlds.homes.home_names import HomeSpec
from navloom_worlds.homes.plan_generator import plan_home
from navloom_worlds.homes.rng import Rng
from worlds.tests.homes.circulation import Circulation, circulation, has_open_kitchen
from worlds.tests.homes.small_plans import box


def _plan(kind: str, outline: tuple[Spot, ...], *doors: tuple[Spot, Spot]) -> Floorplan:
    """A plan with a room of this outline, and doors in its walls."""
    rooms = (PlannedRoom(1, kind, "circulation", 1, outline, 0),)
    ways = tuple(Doorway(1, 2, None, jambs, 100) for jambs in doors)
    return Floorplan((), rooms, ways, (), (), ())


NORTH, SOUTH = ((500, -50), (1400, -50)), ((500, 1250), (1400, 1250))
WEST, FAR_SOUTH = ((-50, 200), (-50, 1100)), ((500, 3050), (1400, 3050))
BENT = ((0, 0), (5000, 0), (5000, 4000), (3800, 4000), (3800, 1200), (0, 1200))
U_SHAPED = (
    (0, 0), (5000, 0), (5000, 4000), (3800, 4000), (3800, 1200), (1200, 1200), (1200, 4000),
    (0, 4000),
)  # fmt: skip
Z_SHAPED = (
    (0, 0), (3000, 0), (3000, 2800), (6000, 2800), (6000, 4000), (1800, 4000), (1800, 1200),
    (0, 1200),
)  # fmt: skip
WITH_CORRIDOR = ((0, 0), (9000, 0), (9000, 6000), (5000, 6000), (5000, 1200), (0, 1200))


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        (_plan("hallway", box(0, 0, 5000, 1200), NORTH, SOUTH), "straight corridor"),
        (_plan("hallway", box(0, 0, 5000, 1200), NORTH, WEST), "one-sided corridor"),
        (_plan("hallway", box(0, 0, 3500, 3000), NORTH, FAR_SOUTH, WEST), "central"),
        (_plan("hallway", box(0, 0, 3500, 3000), NORTH, WEST), "other"),
        (_plan("hallway", BENT, NORTH), "bent"),
        (_plan("hallway", U_SHAPED, NORTH), "U"),
        (_plan("hallway", Z_SHAPED, NORTH), "other"),
        (_plan("living room", box(0, 0, 5000, 4000), NORTH), "open"),
        (_plan("living room", WITH_CORRIDOR, NORTH), "open"),
        (_plan("living room", WITH_CORRIDOR, NORTH, SOUTH), "straight corridor"),
    ],
)
def test_circulation_of_a_hall(plan: Floorplan, expected: Circulation) -> None:
    assert circulation(plan) == expected


@pytest.mark.slow
def test_at_most_a_third_of_homes_are_a_straight_corridor() -> None:
    plans = [plan_home(Rng("circulation", seed), HomeSpec()) for seed in range(60)]
    found = Counter(circulation(plan) for plan in plans)
    assert found["straight corridor"] <= 20
    assert all(found[kind] >= 3 for kind in ("straight corridor", "bent", "U", "central", "open"))
    open_plans = [plan for plan in plans if circulation(plan) == "open"]
    assert sum(map(has_open_kitchen, open_plans)) >= len(open_plans) // 2
    assert any(circulation(plan) == "central" and len(plan.storeys) > 1 for plan in plans)
