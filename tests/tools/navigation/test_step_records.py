"""Steps and walks as files have them: what is read, counted, bumped into and jumped back to."""

from __future__ import annotations

import math
from typing import Any

import pytest

from navloom.sim.protocol import Contact
from navloom.tools.navigation.action_parser import ParsedAction
from navloom.tools.navigation.step_options import MoveOption
from navloom.tools.navigation.step_records import (
    NavStep,
    Trajectory,
    contact_message,
    contact_names,
    count_steps,
    episode_result,
    floor_points,
    jump_options,
    jump_path,
)
from tests.tools.navcraft.worlds import item, row_house


def touch(what: str, metres: float) -> Contact:
    return Contact(what=what, point=(0.0, 0.0, 0.0), displacement=metres)


def test_what_was_bumped_into_is_named_once_the_worst_first() -> None:
    home = row_house(item("x" * 61, "asset", "Hall_2", 6, 0, id="long"))
    found = [touch("wall", 0.1), touch("cup", 0.4), touch("wall", 0.2), touch("step", 0.0)]
    assert contact_names(found, home) == "the cup, a wall"
    assert contact_names([touch("ghost", 0.1)], home) == "ghost"
    assert contact_names([], home) == ""
    four = [touch(what, 0.4 - k / 10) for k, what in enumerate(("cup", "wall", "edge", "step"))]
    assert contact_names(four[:3], home) == "the cup, a wall, the edge of the floor"
    four[3] = touch("step", 0.05)
    assert contact_names(four, home) == "the cup, a wall, the edge of the floor and 1 more"
    # A name has sixty characters at most.
    assert len(contact_names([touch("x" * 61, 0.1)], home)) == 60
    assert len(contact_names([touch("long", 0.1)], home)) == len("the ") + 60


@pytest.mark.parametrize(
    ("bumped", "missed", "said"),
    [
        ("a wall", False, "You bumped into a wall"),
        ("a wall", True, "You did not get there: you bumped into a wall"),
        ("", True, "You did not get there"),
    ],
)
def test_an_agent_is_told_what_it_bumped_into(bumped: str, missed: bool, said: str) -> None:
    assert contact_message(bumped, missed=missed) == said


def step(here: str, to: str | None = None, *near: str | MoveOption, **more: Any) -> NavStep:
    """A step from a place to another, or without a move; every place near is an option."""
    options = [
        each if isinstance(each, MoveOption) else MoveOption(k, each, "Front", each, distance=2.0)
        for k, each in enumerate(near or ([to] if to else []), 1)
    ]
    number = next((option.id for option in options if option.viewpoint == to), None)
    action = ParsedAction("move", number, to) if to else ParsedAction("stop")
    return NavStep(viewpoint=here, options=options, action=action, **more)


def walk(places: str, *steps: NavStep) -> Trajectory:
    return Trajectory(tuple((place, None) for place in places), steps, False, "")


def test_a_step_moves_or_stops_or_jumps() -> None:
    far = MoveOption(7, "c", "Back", "back to c", hops=2)
    near = MoveOption(7, "c", "Back", "c", hops=1)
    assert (step("a", "b").move_target, step("a").move_target) == ("b", None)
    assert not step("a", "b").jumped
    assert step("a", "c", far).jumped
    assert not step("a", "c", near).jumped
    assert not step("a", "c", far).copy_with(action=ParsedAction("stop", 7, "c")).jumped
    assert not step("a", "b").copy_with(options=[]).jumped


def test_a_record_has_no_keys_of_a_body_that_bumps_into_nothing() -> None:
    assert not {"bumped", "missed"} & step("a", "b").record().keys()
    told = step("a", "b", bumped="a wall", missed=True).record()
    assert (told["bumped"], told["missed"]) == ("a wall", True)
    assert {"faults", "plan"} <= told.keys()


def test_a_step_of_an_old_file_has_nothing_but_defaults() -> None:
    assert (NavStep().step, NavStep().revised, NavStep().missed, NavStep().move_target) == (
        0,
        0,
        False,
        None,
    )


def test_a_hop_belongs_to_the_step_that_made_it() -> None:
    turn = step("a")
    assert walk("abc", step("a", "b"), step("b", "c")).hop_steps == (0, 1)
    assert walk("abc", turn, step("a", "b"), turn, step("b", "c")).hop_steps == (1, 3)
    # What did not get there made no hop.
    missed = step("a", "b", missed=True)
    assert walk("ab", missed, step("a", "b")).hop_steps == (1,)
    # The same place twice: each hop has a step of its own.
    assert walk("abab", step("a", "b"), step("b", "a"), step("a", "b")).hop_steps == (0, 1, 2)
    # Steps that do not fit: the number of the hop.
    assert walk("abc", step("a", "b")).hop_steps == (0, 1)
    assert walk("abc", step("a", "c")).hop_steps == (0, 1)
    assert walk("a").hop_steps == walk("").hop_steps == ()


def test_a_jump_is_one_step_of_several_hops() -> None:
    far = MoveOption(1, "a", "Back", "back to a", hops=2)
    found = walk("abcbad", step("a", "b"), step("b", "c"), step("c", "a", far), step("a", "d"))
    assert found.hop_steps == (0, 1, 2, 2, 3)
    assert [found.step_at(hop) for hop in range(6)] == [0, 1, 2, 2, 3, 3]
    assert found.last_step == 3
    assert (walk("abc").last_step, walk("").last_step) == (1, 0)
    assert walk("", step("a"), step("a")).last_step == 1
    assert walk("").step_at(0) == 0


def test_faults_are_told_with_their_step_and_kind() -> None:
    said = ["unparsed: nothing", "Invalid option: 9", "refusal", "strange", " " * 80 + "refusal"]
    found = walk("a", step("a"), step("a", faults=said)).faults
    assert [(fault.step, fault.kind) for fault in found] == [
        (1, kind) for kind in ("unparsed", "invalid_option", "refusal", "other", "other")
    ]


def test_a_walk_is_read_from_what_a_file_has() -> None:
    trajectory = ["a", ["b", math.pi, 0.0], ["c", 7.0, 0, 1, 2.5, 3], ["d"], [], [3, 4], 5, None]
    contacts = [
        {"point": [1, 2, 3], "displacement": 0.5},
        {"point": [9, 9, 9], "displacement": 0},
        {"point": [1, 2], "displacement": 0.25},
        {"point": "x", "displacement": "x"},
        7,
    ]
    found = Trajectory.read(
        {"trajectory": trajectory, "contacts": contacts, "stopped": 1, "end": 7}
    )
    assert found.poses == (
        ("a", None),
        ("b", math.pi),
        ("c", pytest.approx(7.0 - 2 * math.pi)),
        ("d", None),
    )
    assert found.points == (None, None, (1.0, 2.5, 3.0), None)
    assert (found.touched, found.bumps) == ((0.5, 0, 0.25), ((1.0, 2.0, 3.0),))
    assert (found.stopped, found.end, found.steps) == (False, "", ())
    assert Trajectory.read({"stopped": True}).stopped
    assert Trajectory.read("nothing").poses == ()


@pytest.mark.parametrize(
    ("numbers", "read"),
    [
        ([1, 2, 3], True),
        ([1, 2], False),
        ([1, 2, 3, 4], True),
        ([1, 2, None], False),
        ([True, 2, 3], False),
        ([999_999, -999_999, 0], True),
        ([1e6, 0, 0], False),
        ([-1e6, 0, 0], False),
        ([float("nan"), 0, 0], False),
        (["1", 2, 3], False),
    ],
)
def test_a_point_is_three_numbers_within_a_thousand_kilometres(
    numbers: list[Any], read: bool
) -> None:
    (found,) = floor_points([["a", 0, 0, *numbers]])
    assert (found is not None) == read
    assert found is None or found == tuple(numbers[:3])


@pytest.mark.parametrize(
    ("angle", "read"),
    [(0, 0.0), (-0.5, 2 * math.pi - 0.5), (7, 7 - 2 * math.pi), (math.inf, None), ("1", None),
     (True, None), (10**400, None)],
)  # fmt: skip
def test_a_heading_is_within_a_turn(angle: Any, read: float | None) -> None:
    ((_, heading),) = Trajectory.read({"trajectory": [["a", angle]]}).poses
    assert heading == (None if read is None else pytest.approx(read))


def test_ten_thousand_poses_are_read() -> None:
    assert len(Trajectory.read({"trajectory": ["a"] * 10_001}).poses) == 10_000
    assert len(floor_points(["a"] * 10_001)) == 10_000


def test_a_turn_on_the_spot_keeps_the_last_heading() -> None:
    found = Trajectory.read({"trajectory": [["a", 0.0], ["a", 1.0], ["b", 2.0], ["a", 3.0]]})
    assert (found.viewpoints, found.headings) == (("a", "b", "a"), (1.0, 2.0, 3.0))


def test_a_question_costs_what_it_costs() -> None:
    kinds = ["move", "ask", "move", "ask", "stop"]
    steps = [{"action": {"kind": kind}} for kind in kinds]
    assert [count_steps(steps, cost) for cost in (0, 1, 3)] == [3, 5, 9]
    assert count_steps(steps) == 3


@pytest.mark.parametrize(("ending", "reprompts"), [("stop", 3), ("unparsed", 2)])
def test_a_result_counts_what_was_said(ending: str, reprompts: int) -> None:
    plain = step("a", "b").record()
    oracle = {"answer": "Left.", "leaked": True}
    steps = [
        plain | {"faults": ["unparsed: x", "refusal: y"], "revised": 2},
        plain | {"faults": ["invalid_option"], "asked": {"question": "?", **oracle}},
        plain | {"oracle": oracle | {"leaked": False}},
        plain | {"oracle": oracle},
        plain | {"action": {"kind": "ask"}},
    ]
    state = {"trajectory": [["a", 0, 0]], "ending": ending, "steps": steps, "contacts": [1, 2]}
    found = episode_result(state, {"name": "p"})
    assert (found["stopped"], found["end"]) == (ending == "stop", ending)
    assert found["counts"] == {
        "steps": 4,
        "reprompts": reprompts,
        "unparsed": 1,
        "invalid_option": 1,
        "refusal": 1,
        "revisions": 2,
        "questions": 1,
        "oracle_calls": 2,
        "leaks": 2,
        "contacts": 2,
    }
    bare = episode_result({"trajectory": [], "ending": "dead_end"}, {})
    assert (bare["steps"], bare["contacts"], bare["counts"]["steps"]) == ([], [], 0)


def test_places_to_jump_back_to_are_the_latest_first() -> None:
    # a - b - c - d, and from d a stub e beside it; distances are 2 m a hop.
    made = [step("a", "b"), step("b", "c", "a", "c"), step("c", "d", "b", "d")]
    now = step("d", None, "c", "e")
    found = jump_options(made, now)
    assert [(o.id, o.viewpoint, o.hops, o.direction) for o in found] == [
        (3, "b", 2, "Back"),
        (4, "a", 3, "Back"),
    ]
    assert [o.description for o in found] == [
        "back to where step 1 led, 2 moves and 4.0 m from here",
        "back to where you started, 3 moves and 6.0 m from here",
    ]
    assert jump_path(made, now, "a") == ["c", "b", "a"]


def test_a_place_that_was_come_to_again_is_told_by_its_last_step() -> None:
    made = [step("a", "b"), step("b", "a"), step("a", "c", "b", "c")]
    first, second = jump_options(made, step("c", None, "d"))
    assert (first.viewpoint, second.viewpoint) == ("a", "b")
    assert first.description.startswith("back to where step 2 led, 1 moves")
    assert second.description.startswith("back to where step 1 led")


def test_a_step_without_a_move_leads_nowhere() -> None:
    made = [step("a"), step("a", "b"), step("b", "c")]
    found = jump_options(made, step("c", None, "d"))
    assert [o.description.split(",")[0] for o in found] == [
        "back to where step 1 led",
        "back to where you started",
    ]
    # Where nothing leads back nothing is offered.
    assert jump_options([step("a", "b")], step("z", None, "y")) == []


def test_hops_of_a_jump_are_no_edges_and_unsaid_metres_are_one() -> None:
    far = MoveOption(1, "a", "Back", "back to a", hops=2, distance=9.0)
    unsaid = MoveOption(1, "b", "Front", "b")
    made = [step("a", "b", unsaid), step("b", "c", MoveOption(1, "c", "Front", "c"))]
    # What is an option already is not offered again.
    assert "a" not in [o.viewpoint for o in jump_options(made, step("c", None, far, "b"))]
    (plain,) = (o for o in jump_options(made, step("c", None, "x")) if o.viewpoint == "a")
    assert plain.description.endswith("2 moves and 2.0 m from here")
    assert jump_path(made, step("c", None, far), "a") == ["b", "a"]


def test_twenty_places_are_offered() -> None:
    made = [step(f"v{k}", f"v{k + 1}") for k in range(30)]
    found = jump_options(made, step("v30", None, "x"))
    assert [o.viewpoint for o in found] == [f"v{k}" for k in range(29, 9, -1)]
    assert [o.id for o in found] == list(range(2, 22))
