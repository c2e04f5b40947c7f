"""What the rule-based robot understands: thirty wordings, follow-ups, and one line for the rest."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from navloom.graphs.chat.intent_parser import Intent, PreviousTurn, parse_intents
from tests.graphs.chat.chat_home import Chat

LOST = "I did not understand that."


@pytest.mark.parametrize(
    ("words", "calls"),
    [
        ("Go to the kitchen.", [("go_to", {"place": "the kitchen"})]),
        ("take me to the sofa, please", [("go_to", {"place": "the sofa"})]),
        ("Could you please walk to the bathroom?", [("go_to", {"place": "the bathroom"})]),
        ("I want to see the study", [("go_to", {"place": "the study"})]),
        ("kitchen", [("go_to", {"place": "kitchen"})]),
        ("the bathroom upstairs", [("go_to", {"place": "the bathroom upstairs"})]),
        ("the room next to the kitchen", [("go_to", {"place": "the room next to the kitchen"})]),
        ("no, the other bedroom", [("go_to", {"place": "the other bedroom"})]),
        ("Not there!", [("go_to", {"place": "the other one"})]),
        ("no, I meant the study", [("go_to", {"place": "the study"})]),
        ("no wait, the study", [("go_to", {"place": "the study"})]),
        ("not the sofa, the fridge", [("go_to", {"place": "the fridge"})]),
        ("the study instead", [("go_to", {"place": "the study"})]),
        ("go to the study instead of the kitchen", [("go_to", {"place": "the study"})]),
        ("go to the kitchen. Actually no, the study", [("go_to", {"place": "the study"})]),
        ("go to the bath, no sorry, the study", [("go_to", {"place": "the study"})]),
        ("don't go to the kitchen, go to the study", [("go_to", {"place": "the study"})]),
        ("don't go there", [("stop", {"give_up": True})]),
        ("never mind", [("stop", {"give_up": True})]),
        ("no, stop", [("stop", {})]),
        ("STOP", [("stop", {})]),
        ("wait", [("stop", {})]),
        ("keep going", [("go_on", {})]),
        ("ok continue", [("go_on", {})]),
        ("come back", [("go_back", {})]),
        ("go back to where we started", [("go_to", {"place": "where we started"})]),
        ("turn left", [("turn", {"direction": "left", "degrees": 90.0})]),
        ("turn right by 45 degrees", [("turn", {"direction": "right", "degrees": 45.0})]),
        ("turn a little to the right", [("turn", {"direction": "right", "degrees": 30.0})]),
        ("turn around", [("turn", {"direction": "around", "degrees": 90.0})]),
        ("look at the window", [("turn", {"towards": "the window"})]),
        ("go upstairs", [("go", {"direction": "upstairs"})]),
        ("down the stairs", [("go", {"direction": "downstairs"})]),
        ("go forward 3 meters", [("go", {"direction": "ahead", "metres": 3.0})]),
        ("back up a little", [("go", {"direction": "behind", "metres": 0.5})]),
        ("go left", [("go", {"direction": "left"})]),
        (
            "go through the door on your right",
            [("go", {"direction": "right", "through_door": True})],
        ),
        ("go through the door", [("go", {"direction": "", "through_door": True})]),
        ("what do you see?", [("look", {})]),
        ("where are you", [("where", {})]),
        ("what did you just do?", [("recall", {})]),
        ("is there a fridge near?", [("find", {"thing": "fridge"})]),
        ("where is my blanket?", [("find", {"thing": "blanket"})]),
        ("how far is it to the study", [("find", {"thing": "study"})]),
        ("how many bedrooms are there?", [("find", {"thing": "bedrooms"})]),
        ("what's in the study?", [("describe", {"place": "the study"})]),
        ("what is here", [("describe", {})]),
        ("which rooms are there", [("rooms", {})]),
        (
            "go to the hall, then turn around and tell me what you see",
            [
                ("go_to", {"place": "the hall"}),
                ("turn", {"direction": "around", "degrees": 90.0}),
                ("look", {}),
            ],
        ),
        ("stop, where are you", [("stop", {}), ("where", {})]),
    ],
)
def test_wordings(words: str, calls: list[tuple[str | None, dict[str, Any]]]) -> None:
    assert [(intent.tool, intent.args) for intent in parse_intents(words)] == calls


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("hello", "Hello. Where shall I go"),
        ("thanks", "Good. What next?"),
        ("yes", "Good. What next?"),
        ("help", LOST),
        ("why is the sky blue", LOST),
        ("i have to charge my laptop in the study", LOST),
        ("厨房在哪里", LOST),
        ("", LOST),
    ],
)
def test_ready_answers(words: str, said: str) -> None:
    (intent,) = parse_intents(words)
    assert intent.tool is None
    assert intent.words.startswith(said)


def test_words_that_are_not_understood_are_told_what_is_and_how_to_choose_a_model() -> None:
    chat = Chat()
    for words in ("the weather is lovely", "lovely weather", "fnord blah is what"):
        said = chat.say(words)
        assert said.startswith(LOST), words
        assert '"go to the kitchen"' in said
        assert "--model provider/name, or /model provider/name." in said
    assert chat.at == "c2"


def test_words_are_read_with_what_was_asked_last() -> None:
    asked = PreviousTurn([("find", {"thing": "piano"})])
    assert parse_intents("and my keys", asked) == [Intent("find", {"thing": "keys"})]
    assert parse_intents("and my keys")[0].tool == "go_to"
    assert parse_intents("and the bedroom?")[0] == Intent("find", {"thing": "bedroom"})
    far = PreviousTurn([("find", {"thing": "study"})], how="far")
    assert parse_intents("what about the bath?", far) == [Intent("find", {"thing": "bath"}, "far")]
    described = PreviousTurn([("describe", {"place": "the study"})])
    assert parse_intents("and the hall?", described) == [Intent("describe", {"place": "the hall"})]
    within = PreviousTurn([("find", {"thing": "book in the hall"})])
    assert parse_intents("and in the attic?", within)[0].args == {"thing": "book in the attic"}
    offered = PreviousTurn([("go_to", {"place": "harp"})], offers=True)
    assert parse_intents("yes please", offered) == [Intent("go_to", {"place": "there"})]


def test_follow_ups_in_a_conversation() -> None:
    chat = Chat()
    assert "6 m" in chat.say("how far is the bedroom 2?")
    assert "8 m" in chat.say("and the bedroom 3?")
    assert "refrigerator" in chat.say("where is the fridge?")
    chat.say("go there")
    assert chat.at == "k"
    assert "What is like it: a refrigerator" in chat.say("go to the freezer")
    chat.say("go to the attic, then to the kitchen")
    assert chat.at == "k"
    chat.say("go to the bedroom")
    assert "Which one? 1:" in chat.say("purple haze")
    chat.say("the one with the desk")
    assert chat.at == "d"


@given(st.text(max_size=300))
def test_any_words_have_an_answer(words: str) -> None:
    assert parse_intents(words)


@pytest.mark.parametrize("piece", ["no ", "not there ", "please ", "go to the ", "next to ", ", "])
def test_long_words_take_no_long_time(piece: str) -> None:
    began = time.process_time()
    parse_intents(piece * 50_000)
    assert time.process_time() - began < 20  # far from any honest time; a blow-up takes for ever
