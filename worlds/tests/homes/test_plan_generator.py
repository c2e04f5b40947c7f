"""Every plan that is handed out can be built and lived in, whatever the seed and the wishes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navloom.errors import SceneError
from navloom_worlds.homes.home_names import HomeSpec
from navloom_worlds.homes.plan_checks import plan_faults
from navloom_worlds.homes.plan_generator import floor_area, plan_home
from navloom_worlds.homes.rng import Rng


@pytest.mark.slow
@settings(max_examples=settings.default.max_examples // 2, deadline=None)
@given(seed=st.integers(0, 10**9))
def test_a_plan_of_any_seed_is_without_fault_and_the_same_again(seed: int) -> None:
    plan = plan_home(Rng("home", seed), HomeSpec())
    assert plan_faults(plan) == []
    assert 4 <= len(plan.rooms) <= 30
    assert 35 <= floor_area(plan) <= 350
    assert plan == plan_home(Rng("home", seed), HomeSpec())


@settings(max_examples=settings.default.max_examples // 2, deadline=None)
@given(seed=st.integers(0, 10**9), rooms=st.integers(4, 20))
def test_as_many_rooms_as_one_wishes(seed: int, rooms: int) -> None:
    plan = plan_home(Rng("home", seed), HomeSpec(rooms=rooms))
    assert len(plan.rooms) == rooms


@pytest.mark.parametrize("floors", [1, 2, 3])
def test_as_many_floors_as_one_wishes(floors: int) -> None:
    plan = plan_home(Rng("home", 3), HomeSpec(floors=floors))
    assert len(plan.storeys) == floors
    assert len([f for f in plan.flights if f.kind == "stairs"]) == floors - 1


@pytest.mark.parametrize("area", [35, 80, 160, 300, 350])
def test_about_as_large_as_one_wishes(area: int) -> None:
    plan = plan_home(Rng("home", 5), HomeSpec(area=area))
    assert floor_area(plan) == pytest.approx(area, rel=0.1)


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        (HomeSpec(rooms=30, area=35), "area=35 is too small: 30 rooms on 1 floors"),
        (HomeSpec(rooms=4, floors=3), "rooms=4 with floors=3: a home of 3 floors has at least"),
        (HomeSpec(rooms=4, area=350), "area=350 is too large for rooms=4"),
        (HomeSpec(floors=3, area=40), "area=40 is too small: 3 floors"),
    ],
)
def test_impossible_wishes_are_refused_with_the_reason(spec: HomeSpec, reason: str) -> None:
    with pytest.raises(SceneError, match=reason):
        plan_home(Rng("home", 1), spec)
