"""What people's words mean: to the rule-based robot, and to the tools that look for places."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from navloom.graphs.chat.intents import intents_of
from navloom.tools.chat.meant import resolve
from navloom.tools.chat.places import Place
from navloom.tools.chat.wishes import read_wish
from tests.graphs.chat.chat_home import home, standing


@pytest.mark.parametrize(
    ("words", "calls"),
    [
        ("Go to the kitchen.", [("go_to", {"place": "the kitchen"})]),
        ("take me to the sofa, please", [("go_to", {"place": "the sofa"})]),
        ("Could you please walk to the bathroom?", [("go_to", {"place": "the bathroom"})]),
        ("kitchen", [("go_to", {"place": "kitchen"})]),
        ("no, the other bedroom", [("go_to", {"place": "the other bedroom"})]),
        ("Not there!", [("go_to", {"place": "the other one"})]),
        ("no, I meant the study", [("go_to", {"place": "the study"})]),
        ("no, stop", [("stop", {})]),
        ("turn left", [("turn", {"direction": "left", "degrees": 90.0})]),
        ("turn right by 45 degrees", [("turn", {"direction": "right", "degrees": 45.0})]),
        ("look at the window", [("turn", {"towards": "the window"})]),
        ("go upstairs", [("go", {"direction": "upstairs"})]),
        ("up the stairs", [("go", {"direction": "upstairs"})]),
        ("go forward 3 meters", [("go", {"direction": "ahead", "metres": 3.0})]),
        ("go left", [("go", {"direction": "left"})]),
        (
            "go through the door on your right",
            [("go", {"direction": "right", "through_door": True})],
        ),
        ("leave through the door", [("go", {"direction": "", "through_door": True})]),
        ("come back", [("go_back", {})]),
        ("STOP", [("stop", {})]),
        ("what do you see?", [("look", {})]),
        ("What's on your left?", [("look", {})]),
        ("where are you", [("where", {})]),
        ("is there a fridge near?", [("find", {"thing": "fridge"})]),
        ("where is the bathroom?", [("find", {"thing": "bathroom"})]),
        ("how far is it to the study", [("find", {"thing": "study"})]),
        ("which rooms are there", [("rooms", {})]),
        (
            "go to the hall, then turn around and tell me what you see",
            [
                ("go_to", {"place": "the hall"}),
                ("turn", {"direction": "around", "degrees": 90.0}),
                ("look", {}),
            ],
        ),
        ("thanks", [(None, {})]),
        ("hello", [(None, {})]),
        ("why is the sky blue", [(None, {})]),
        ("厨房在哪里", [(None, {})]),
        ("", [(None, {})]),
    ],
)
def test_intents(words: str, calls: list[tuple[str | None, dict[str, Any]]]) -> None:
    assert [(intent.tool, intent.args) for intent in intents_of(words)] == calls


@pytest.mark.parametrize(
    ("words", "end"),
    [
        ("the kitchen", "Kitchen_4"),
        ("Kitchens", "Kitchen_4"),
        ("corridor", "Hallway_1"),
        ("bedroom 3", "Bedroom_3"),
        ("the nearest bedroom", "Bedroom_2"),
        ("the farthest bedroom", "Bedroom_3"),
        ("the bedroom with the desk", "Bedroom_3"),
        ("the room upstairs called attic", "Attic_5"),
        ("attic on the second floor", "Attic_5"),
        ("fridge", "i3"),
        ("bed in the bedroom 3", "i2"),
        ("stairs", "Hallway_1-Attic_5"),
    ],
)
def test_places(words: str, end: str) -> None:
    found = resolve(standing("c2"), words)
    assert isinstance(found, Place)
    assert found.id == end


def test_the_other_one_leaves_out_all_that_were_refused_in_a_row() -> None:
    past = [{"kind": "room", "id": each, "name": "bedroom"} for each in ("Kitchen_4", "Bedroom_3")]
    found = resolve(standing("c2", past), "the other one")
    assert isinstance(found, Place)
    assert found.id == "Bedroom_2"


def test_an_attic_on_the_first_floor_is_none() -> None:
    found = resolve(standing("c2"), "the attic on floor 1")
    assert isinstance(found, dict)
    assert found["error"].startswith("There is no such attic; there is one upstairs")


@given(st.text(max_size=300))
def test_any_words_have_an_answer(words: str) -> None:
    scene = home()
    past = [{"kind": "room", "id": "Bedroom_2", "name": "bedroom"}]
    found = resolve(standing("c0", past), words)
    if isinstance(found, dict):
        line = found.get("error") or found["question"]
        assert "\n" not in line
        assert len(line) < 500
    else:
        assert found.viewpoint in scene.viewpoint_by_id
    assert intents_of(words)
    read_wish(words)


@pytest.mark.parametrize("piece", ["no ", "not there ", "please ", "go to the ", "next to ", ", "])
def test_long_words_take_no_long_time(piece: str) -> None:
    began = time.process_time()
    intents_of(piece * 50_000)
    read_wish(piece * 50_000)
    assert time.process_time() - began < 20  # far from any honest time; a blow-up takes for ever
