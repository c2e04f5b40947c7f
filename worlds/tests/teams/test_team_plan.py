"""Plans of teams: what is one, what is none, and the two-robot relays among them."""

from __future__ import annotations

import pytest

from navloom.errors import NavloomError, UsageError
from navloom.scenes.bodies import FETCH
from navloom.tools.navcraft.relay import RelayChoice
from navloom.tools.navcraft.relay_optimum import all_relays
from navloom.tools.navcraft.relay_task import RelayTask
from navloom.tools.navcraft.schedule import CarryLeg
from navloom.tools.navcraft.task_paths import metric_graph, resolve_node
from navloom_worlds.teams.robots import Robot
from navloom_worlds.teams.team_plan import (
    TeamPlan,
    make_robot,
    relay_choice,
    relay_plan,
    resolve_place,
)
from tests.tools.navcraft.worlds import ROW, item, row_house

HOUSE = row_house(item("desk", "asset", "Attic_6", 22, 1), item("book", "object", "Hall_2", 6, 1))


def place(name: str):
    return resolve_place(HOUSE, name)


def robots(*starts: str) -> tuple[Robot, ...]:
    return tuple(make_robot(HOUSE, f"robot_{i}", start) for i, start in enumerate(starts, 1))


def leg(robot: int, thing: str, origin: str, to: str) -> CarryLeg:
    return CarryLeg(f"robot_{robot}", thing, place(origin), place(to))


def test_a_chain_is_read_in_the_order_the_object_is_carried() -> None:
    second, first = leg(2, "cup", "coffee-table", "desk"), leg(1, "cup", "cup", "coffee-table")
    plan = TeamPlan(robots(ROW[0], ROW[5]), (second, first))
    assert plan.ways == {"cup": (first, second)}
    assert plan.handoffs == ((first, second),)
    assert plan.order == (first, second)
    (errand,) = plan.errands
    assert (errand.origin, errand.end) == (place("cup"), place("desk"))


def test_an_object_may_come_by_a_place_twice_where_its_legs_follow_on() -> None:
    legs = (
        leg(1, "cup", "cup", "coffee-table"),
        leg(2, "cup", "coffee-table", "kitchen-counter"),
        leg(3, "cup", "kitchen-counter", "coffee-table"),
        leg(4, "cup", "coffee-table", "desk"),
    )
    plan = TeamPlan(robots(*ROW[:4]), legs)
    assert plan.order == legs
    first, _, third, last = plan.schedule(HOUSE).legs
    assert last.brought == third.ends > first.ends
    with pytest.raises(UsageError, match="'cup' is taken from 'item coffee-table' twice"):
        TeamPlan(robots(*ROW[:4]), (*legs[1:], legs[0]))


@pytest.mark.parametrize(
    ("legs", "said"),
    [
        ((), "1 to 100 legs, not 0"),
        ((leg(3, "cup", "cup", "desk"),), "Leg 1 is of 'robot_3', who is not in the team"),
        ((leg(1, "cup", "cup", "cup"),), "Leg 1 takes 'cup' nowhere"),
        (
            (leg(1, "cup", "cup", "desk"), leg(2, "cup", "cup", "coffee-table")),
            "'cup' is taken from 'item cup' twice",
        ),
        (
            (leg(1, "cup", "cup", "desk"), leg(2, "cup", "coffee-table", "desk")),
            "'cup' is brought to 'item desk' twice",
        ),
        (
            (leg(1, "cup", "cup", "desk"), leg(2, "cup", "desk", "cup")),
            "'cup' goes in a circle: each of its legs waits for another",
        ),
        (
            (leg(1, "cup", "cup", "desk"), leg(2, "cup", "coffee-table", "kitchen-counter")),
            "'cup' is never brought to 'item coffee-table'",
        ),
        (
            (
                leg(1, "cup", "coffee-table", "desk"),
                leg(1, "book", "book", "coffee-table"),
                leg(2, "book", "coffee-table", "desk"),
                leg(2, "cup", "cup", "coffee-table"),
            ),
            "The plan waits for itself: robot_1 for the 'cup' from robot_2 and robot_2 for the "
            "'book' from robot_1",
        ),
    ],
)
def test_what_is_no_plan_is_said_in_one_line(legs: tuple[CarryLeg, ...], said: str) -> None:
    with pytest.raises(UsageError) as error:
        TeamPlan(robots(ROW[0], ROW[5]), legs)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("many", [0, 13, 40])
def test_a_team_has_one_to_twelve_robots(many: int) -> None:
    with pytest.raises(UsageError, match=f"1 to 12 robots, not {many}"):
        TeamPlan(robots(*[ROW[0]] * many), (leg(1, "cup", "cup", "desk"),))


def test_two_robots_of_one_name_are_refused() -> None:
    (one,) = robots(ROW[0])
    with pytest.raises(UsageError, match="Two robots are called 'robot_1'"):
        TeamPlan((one, one), (leg(1, "cup", "cup", "desk"),))


@pytest.mark.parametrize(
    ("start", "body", "said"),
    [
        ("Bedrom_1", None, "Did you mean 'Bedroom_1'"),
        (ROW[0], "FETHC", "no body 'FETHC'"),
        (ROW[0], FETCH.model_copy(update={"speed": 0.0}), "does not drive by itself"),
    ],
)
def test_a_robot_by_wrong_names_is_refused_in_one_line(start, body, said: str) -> None:
    with pytest.raises(NavloomError) as error:
        make_robot(HOUSE, "robot_1", start, body)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_any_point_is_a_place() -> None:
    point = (7.25, 0.0, 0.1)
    anchor = resolve_place(HOUSE, point)
    found = resolve_node(HOUSE, anchor.node)
    assert found.position == point
    assert found.region == "Hall_2"
    assert metric_graph(HOUSE).distance(anchor, place(ROW[2])) == pytest.approx(4 + anchor.spur)
    assert resolve_place(HOUSE, point) == anchor
    assert resolve_place(HOUSE, anchor) is anchor


def test_every_relay_is_a_plan_and_back() -> None:
    task = RelayTask(HOUSE, ROW[0], ROW[3], "cup", ROW[5], "desk")
    relays = all_relays(task)
    assert len(relays)
    for i in range(len(relays)):
        relay = relays.relay(i)
        choice = RelayChoice(
            relay.robot_2_start_region,
            relay.transfer_region,
            relay.transfer_asset,
            relay.collab_type,
        )
        assert relay_choice(relay_plan(task, choice), task) == choice
    alone = relay_plan(task, None)
    assert len(alone.legs) == 1
    assert relay_choice(alone, task) is None
    assert relay_choice(relay_plan(task, choice, bodies=(FETCH, None)), task) is None
