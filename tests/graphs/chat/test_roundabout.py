"""Roundabout words: brought to plain ones, asked about where they may be no order."""

from __future__ import annotations

import pytest

from navloom.graphs.chat.intents import intents_of
from navloom.graphs.chat.rewordings import reworded
from navloom.scenes.uri import load_scene
from navloom.tools.chat.opposite import rooms_opposite
from tests.graphs.chat.chat_home import Chat


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("go to the room that comes after the kitchen", "go to the room after the kitchen"),
        ("the room across the hall from the study", "the room opposite the study"),
        ("the other bed, the one in the study", "the bed in the study"),
        ("what can i use in here", "what is in here"),
        ("what is over there by the bed", "what is by the bed"),
        ("anywhere but the kitchen", "elsewhere than the kitchen"),
        ("you did not go into the study", "did you go into the study"),
        ("which rooms have you not seen yet", "which rooms are not seen"),
        ("do go there", "go there"),
        ("go to the kitchen", "go to the kitchen"),
    ],
)
def test_roundabout_words_are_brought_to_plain_ones(said: str, meant: str) -> None:
    assert reworded(said) == meant


@pytest.mark.parametrize(
    "words",
    [
        "you didn't go into the kitchen, right?", "you went through the kitchen, didn't you?",
        "i thought you went to the kitchen", "i was in the kitchen yesterday",
        "have you seen the kitchen yet?", "so you have been in the kitchen",
        "weren't you in the kitchen?", "this is the kitchen, right?",
        "you never went upstairs, no?",
    ],
)  # fmt: skip
def test_what_is_said_of_the_past_moves_nothing(words: str) -> None:
    moving = {"go_to", "go", "go_back", "go_on", "turn"}
    assert not moving & {intent.tool for intent in intents_of(words)}


@pytest.mark.parametrize(
    "words",
    [
        "can you do several rooms in one go?", "are you able to visit more than one room?",
        "can you carry things?", "can you see?", "what else can you do", "can you climb stairs?",
        "I'm a bit tired today", "i am so hungry", "nice place", "it's cold here", "what a day",
        "my feet hurt", "the weather is lovely today", "don't turn, just stay like that",
        "don't go to the kitchen, just tell me what is in it",
    ],
)  # fmt: skip
def test_what_tells_nothing_to_do_never_walks(words: str) -> None:
    chat = Chat("c5")
    assert "not understand" not in chat.say(words)
    assert chat.at == "c5"


def test_a_place_is_meant_by_the_order_it_was_named_in_and_by_the_end_of_stairs() -> None:
    chat = Chat("c5")
    chat.say("go to the kitchen")
    chat.say("go to the top of the stairs")
    assert chat.at == "a"
    chat.say("go to the foot of the stairs")
    assert chat.at == "c3"
    chat.say("go back to the first place i sent you")
    assert chat.at == "k"
    chat.say("which is nearer, the attic or the hallway?")
    chat.say("take me to that one")
    assert chat.at.startswith("c")


def test_words_that_may_be_no_order_are_asked_about() -> None:
    chat = Chat()
    assert chat.say("i have my breakfast in the kitchen") == "Shall I go to the kitchen?"
    chat.say("yes please")
    assert chat.at == "k"
    assert chat.say("my friend lives in the hallway") == "Shall I go to the hallway?"
    chat.say("no")
    assert chat.at == "k"


def test_a_room_is_picked_by_row_by_door_and_by_what_was_seen() -> None:
    chat = Chat("k")
    chat.say("which rooms are there?")
    chat.say("go to the second one")
    assert chat.at == "b"
    chat.say("go to the attic or the hallway, whichever is closer")
    assert chat.at.startswith("c")
    chat.say("go to a room you haven't seen yet")
    assert chat.at in ("a", "d")
    chat.say("anywhere but here")
    assert chat.at not in ("a", "d")


def test_a_room_lies_opposite_across_a_passage() -> None:
    villa, house = load_scene("demo:villa"), load_scene("demo:house")
    assert rooms_opposite(house, "Kids_room_10") == ["Bedroom_8"]
    assert not set(rooms_opposite(villa, "Gym_15")) & {"Hallway_9", "Gym_15"}
    assert rooms_opposite(house, "Laundry_room_5") in ([], ["Dining_room_3"])
