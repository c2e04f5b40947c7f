"""Causes at crossings made by hand: when each holds, and when it does not."""

import math
from pathlib import Path

import pytest

import navloom
from navloom.evals.navigation.failure_cause import (
    CAUSES,
    MEANS,
    PathFork,
    directions_at,
    find_causes,
    find_ordinal,
    mentions_leaving,
)
from navloom.scenes.scene import Floor, Region, Scene, Viewpoint

HALL, ROOM = "Hall_1", "Room_2"


def stand(name, x, z, region=HALL):
    return Viewpoint(id=name, position=(x, 0.0, z), region=region, eye_height=0.0)


AT = stand("at", 0, 0)
AHEAD, LEFT, RIGHT, BACK = stand("n", 0, -5), stand("w", -5, 0), stand("e", 5, 0), stand("s", 0, 5)
PLACE = Scene(
    id="crossing",
    floors=(Floor(id=1, height=0),),
    regions=tuple(Region(id=name, label="Unknown", center=(0, 0, 0)) for name in (HALL, ROOM)),
    viewpoints=(AT, AHEAD, LEFT, RIGHT, BACK),
)


def causes(right, chosen, said, **other):
    given = {
        "at": AT, "heading": 0.0, "progress": 0.0, "end": None, "goal": None, "options": {},
    }  # fmt: skip
    fork = PathFork(right=tuple(right), chosen=tuple(chosen), **{**given, **other})
    return find_causes(fork, said, PLACE)


def cause(*given, **other):
    return next(iter(causes(*given, **other)))


@pytest.mark.parametrize(
    ("metres", "stopped", "expected"),
    [(3.0, True, "premature_stop"), (2.99, True, "unknown"), (3.0, False, "unknown")],
)
def test_a_stop_on_the_right_way_is_premature_from_three_metres_on(metres, stopped, expected):
    ended = {"stopped": stopped, "left": metres}
    assert cause([AHEAD], [], "Walk on.", **ended) == expected
    assert cause([], [], "Walk on.", **ended) == "unknown"
    # Who came back to the right way, further on, mended all but the stop.
    assert cause([AHEAD, RIGHT], [LEFT, RIGHT], "Walk on.", end=RIGHT, **ended) == expected
    assert cause([AHEAD, RIGHT], [LEFT, AT], "Walk on.", end=AT, **ended) == "unknown"


def test_walking_on_within_three_metres_of_the_end_is_a_late_stop():
    assert causes([], [AHEAD], "Turn left.", to_goal=2.991) == {
        "late_stop": {"metres_to_goal": 2.99}
    }
    assert cause([AHEAD], [BACK], "Turn left.", to_goal=2.99) == "late_stop"
    assert cause([], [AHEAD], "Turn left.", to_goal=3.0) == "unknown"
    assert cause([], [], "Turn left.", to_goal=0.0) == "unknown"


def test_who_never_leaves_the_room_it_was_told_to_leave_failed_to_exit():
    door = stand("door", 5, -5, ROOM)
    said = "Exit the bathroom. Walk to the bed."
    found = causes([AHEAD, door], [LEFT, BACK], said)
    assert found == {"failed_exit": {"room": HALL, "right_leaves_after_hops": 2}}
    assert cause([AHEAD, door], [LEFT, door], said) == "unknown"
    assert cause([AHEAD, RIGHT], [LEFT, BACK], said) == "unknown"
    assert cause([AHEAD, door], [LEFT, BACK], "Walk to the bed.") == "unknown"
    off_the_map = stand("at", 0, 0, None)
    assert cause([AHEAD, door], [stand("w", -5, 0, None)], said, at=off_the_map) == "unknown"
    # The room was left long ago by the time that the words are done.
    late = causes([AHEAD, door], [LEFT], said + " Go on. Wait.", progress=1.0)
    assert "failed_exit" not in late


@pytest.mark.parametrize(
    ("text", "leaves"),
    [
        ("Leave the room", True), ("go straight out of the door", True), ("walk out", True),
        ("walk through the doorway", True), ("walk past the bed", False), ("go outwards", False),
    ],
)  # fmt: skip
def test_words_of_leaving(text, leaves):
    assert mentions_leaving(text, 0.0) is leaves


def test_a_turn_that_the_right_way_takes_later_was_taken_too_soon():
    corner = [AHEAD, stand("nw", -5, -5)]
    said = "Walk on. Turn left."
    found = causes(corner, [LEFT], said)
    assert found["early_turn"] == {"said": "left", "hops_too_soon": 1}
    assert next(iter(found)) == "early_turn"
    assert "early_turn" not in causes(corner, [LEFT], "Walk on.")
    assert "early_turn" not in causes(corner, [RIGHT], "Walk on. Turn right.")
    assert "early_turn" not in causes([AHEAD, stand("nn", 0, -9)], [LEFT], said)
    # 30 degrees are a turn, 29 are none; three hops on it is another turn.
    for degrees, early in ((31, True), (29, False)):
        turn = math.radians(degrees)
        bend = stand("bend", -5 * math.sin(turn), -5 - 5 * math.cos(turn))
        assert ("early_turn" in causes([AHEAD, bend], [LEFT], said)) is early
    straight = [stand(f"n{k}", 0, -k) for k in (1, 2)]
    assert "early_turn" in causes([*straight, stand("far", -5, -2)], [LEFT], said)
    late = [*straight, stand("n3", 0, -3), stand("far", -5, -3)]
    assert "early_turn" not in causes(late, [LEFT], said)


def test_of_two_on_the_same_side_the_words_say_which():
    other = stand("w2", -5, -1)
    found = causes([other], [LEFT], "Take the second door on the left.")
    assert found == {"early_turn": {"which": "second door"}}
    assert cause([other], [LEFT], "Take the door on the left.") == "unknown"
    assert find_ordinal("Go on. Wait. Take the next hallway.") is None
    assert find_ordinal("Enter the 2nd small room") == "2nd small room"


def test_a_thing_shown_the_other_way_alone_leads_astray():
    shown = {"n": "a hallway", "w": "a bed and a chair"}
    found = causes([AHEAD], [LEFT], "Go to the bed.", options=shown)
    assert found == {"early_turn": {"named": ["bed"], "within": 1}}
    both = {"n": "a bed", "w": "a bed"}
    assert "early_turn" not in causes([AHEAD], [LEFT], "Go to the bed.", options=both)
    # What lies behind one draws nobody on.
    passed = causes([AHEAD], [LEFT], "Leave the bed. Wait.", options=shown, progress=0.6)
    assert "early_turn" not in passed


def test_words_that_say_what_the_right_way_does_not_do_are_a_mismatch():
    assert causes([RIGHT], [LEFT], "Turn left.")["mismatch"] == {"said": "left", "right": "right"}
    assert "mismatch" not in causes([RIGHT], [LEFT], "Turn right.")
    assert "mismatch" not in causes([RIGHT], [AHEAD], "Turn left.")
    assert "mismatch" not in causes([AHEAD], [LEFT], "Turn left.")
    # The right way does turn left, soon after.
    back_left = [RIGHT, stand("ne", 5, -5)]
    assert "mismatch" not in causes(back_left, [LEFT], "Turn left.")


def test_straight_on_is_a_mismatch_where_this_very_place_says_so():
    found = causes([RIGHT], [AHEAD], "Walk straight. Wait.")
    assert found["mismatch"] == {"said": "straight", "right": "right"}
    assert "mismatch" not in causes([RIGHT], [AHEAD], "Pass the bed. Walk straight.")
    assert "mismatch" not in causes([RIGHT], [AHEAD], "Walk straight. Turn right.")
    assert "mismatch" not in causes([RIGHT], [AHEAD], "Walk on. Wait.")


@pytest.mark.parametrize(
    ("text", "ways"),
    [
        ("walk to the left of the clock", ()),
        ("go to the right of it", ()),
        ("walk to the left", ("left",)),
        ("turn right", ("right",)),
    ],
)
def test_beside_a_thing_is_no_turn(text, ways):
    assert directions_at(text, 0.0) == ways


def test_where_no_turn_is_said_one_goes_straight_on():
    assert causes([AHEAD], [LEFT], "Walk on.", progress=0.5) == {
        "direction": {"chosen": "left", "within": 1}
    }
    assert cause([AHEAD], [LEFT], "Walk on.", progress=0.0) == "unknown"
    assert cause([RIGHT], [LEFT], "Walk on.", progress=0.5) == "unknown"
    assert cause([AHEAD], [stand("n2", 1, -5)], "Walk on.", progress=0.5) == "unknown"


NEAR = stand("n2", 2, -5)


@pytest.mark.parametrize(
    ("right", "chosen", "chosen_place", "expected"),
    [
        ("a door (the left one of 2 alike)", "a door (the right one of 2 alike)", LEFT, "words"),
        ("a door (node_4, visited)", "a door (node_5)", LEFT, "words"),
        ("a bed", "a bed and a lamp", LEFT, "names"),
        ("a door", "a wall", NEAR, "direction"),
        ("a door", "a wall", LEFT, "neither is named"),
        ("a door", "a bed", LEFT, None),
    ],
)
def test_options_that_nothing_tells_apart_are_ambiguous(right, chosen, chosen_place, expected):
    shown = {"n": right, chosen_place.id: chosen}
    found = causes([AHEAD], [chosen_place], "Go to the bed.", options=shown)
    if expected is None:
        assert "ambiguous" not in found
    else:
        assert found == {"ambiguous": {"alike": expected, "within": 1}}


def test_twins_come_before_what_tells_the_ways_apart_later_and_after_what_does_so_now():
    shown = {"n": "a door (the left one of 2 alike)", "n2": "a door (the right one of 2 alike)"}
    on = [AHEAD, LEFT]
    assert cause(on, [NEAR, RIGHT], "Go left.", options=shown) == "ambiguous"
    assert cause(on, [NEAR, RIGHT], "Go left.", options={}) == "direction"
    assert (
        cause([AHEAD], [LEFT], "Go straight.", options={**shown, "w": shown["n2"]}) == "direction"
    )


def test_what_speaks_for_the_right_option_alone_is_no_ambiguity():
    shown = {"n": "a bed", "n2": "a wall"}
    assert "ambiguous" not in causes([AHEAD], [NEAR], "Go to the bed.", options=shown)


def test_every_cause_says_what_it_means():
    assert [*MEANS] == [each for each in CAUSES if each != "none"]
    page = Path(navloom.__file__).parents[1] / "docs" / "errors.md"
    table = [line for line in page.read_text(encoding="utf-8").splitlines() if line[:2] == "| "]
    for name, text in MEANS.items():
        assert f"| {name.replace('_', ' ')} | {text} |" in table


def test_within_a_room_whose_type_nobody_knows_the_words_say_what_is_there():
    shown = {"n": "a hallway", "w": "a kitchen"}
    found = causes([AHEAD], [LEFT], "Go down the hallway.", options=shown)
    named = {"named": ["Hallway / Corridor"], "by": "description", "within": 1}
    assert found["region"] == named
    both = {"n": "a hallway", "w": "a hallway with a lamp"}
    assert "region" not in causes([AHEAD], [LEFT], "Go down the hallway.", options=both)


def test_a_thing_counts_where_the_words_about_there_name_it():
    said = "Walk on. Go on. Turn. Walk on. Go to the desk."
    shown = {"n": "a desk", "w": "a wall"}
    there = causes([AHEAD], [LEFT], said, options=shown, progress=0.9)
    assert there["object"] == {"named": ["desk"], "within": 1}
    assert "object" in causes([AHEAD], [LEFT], said, options=shown, progress=0.4)
    assert "object" not in causes([AHEAD], [LEFT], said, options=shown, progress=0.3)
