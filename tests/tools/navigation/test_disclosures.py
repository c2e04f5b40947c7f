"""What an oracle's words give away, by kind; and what is a question, or a word, of arrival."""

from __future__ import annotations

import pytest

from navloom.tools.navigation.disclosures import KINDS, asks_arrival, disclosed_kinds, find_arrival
from navloom.tools.navigation.leaks import redact_leaks
from navloom.tools.navigation.step_options import MoveOption
from tests.tools.navcraft.rooms_in_a_row import KITCHEN, home

OPTIONS = [
    MoveOption(1, "a", "Left", "leads to the entryway; coat rack"),
    MoveOption(2, "b", "Right", "a hallway with a couch and a lamp (the left one of 2 alike)"),
    MoveOption(3, "c", "Back", "a hallway with a couch and a rug (node_4, visited)"),
    MoveOption(4, "d", "Front", "a bedroom"),
]


@pytest.mark.parametrize(
    ("words", "kinds"),
    [
        # What the rule-based oracle says of the path: the option's own words, and a direction.
        ("Go left, towards: leads to the entryway. About 3 m to go.", ["text", "direction"]),
        ("Go to the entryway.", []),
        ("Find the hallway with a couch and a lamp.", ["text"]),
        ("You will see a bedroom.", ["text"]),
        ("You will see the bedroom.", []),
        ("Take option 3.", ["option"]),
        ("The second option on the right.", ["option", "direction"]),
        (f"Walk to {KITCHEN}.", ["id"]),
        ("It is at (1.5, 2.0).", ["coordinates"]),
        ("Turn about 90 degrees to the right.", ["direction"]),
        ("The goal is further up.", ["direction"]),
        ("The sofa is right here.", []),
        ("No, not yet.", ["arrival"]),
        ("You have arrived: stop here.", ["arrival"]),
        ("You should stop at the sink.", ["arrival"]),
        ("This is not the goal.", ["arrival"]),
        ("Walk until you see the bed.", []),
        ("You are in the hallway.", []),
        ("", []),
    ],
)
def test_kinds_of_what_is_given_away(words: str, kinds: list[str]) -> None:
    assert disclosed_kinds(words, OPTIONS, home()) == kinds


def test_words_that_every_option_has_tell_none() -> None:
    alike = [MoveOption(n, "v", "Left", "a hallway with a couch") for n in (1, 2)]
    assert disclosed_kinds("Go to a hallway with a couch.", alike, home()) == []
    assert disclosed_kinds("Go to a hallway with a couch.", alike[:1], home()) == ["text"]
    assert disclosed_kinds("Go to a hallway with a couch.", [], home()) == []
    assert len(KINDS) == 6


@pytest.mark.parametrize("words", ["bedroom", ""])
def test_a_word_alone_or_none_is_no_option_quoted(words: str) -> None:
    options = [MoveOption(1, "v", "Left", words), OPTIONS[1]]
    assert disclosed_kinds("You will see the bedroom.", options, home()) == []


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Have I arrived, and if not, which way is it?", True),
        ("Am I there yet?", True),
        ("Is this the goal?", True),
        ("Should I stop?", True),
        ("Am I in the right place?", True),
        ("Did I reach the bedroom?", True),
        ("Is this the kitchen where I should stop?", True),
        ("Which way is it from here?", False),
        ("Which way is the goal?", False),
        ("Which room am I in?", False),
        ("Is the sink on the right?", False),
        ("How far is it?", False),
        ("Is this the bathroom?", False),
    ],
)
def test_questions_of_arrival(question: str, asked: bool) -> None:
    assert asks_arrival(question) is asked


def test_a_sentence_of_arrival_is_withheld_whole() -> None:
    said = "Go left. You have arrived there. Then 3.5 m on."
    assert redact_leaks(said, list(find_arrival(said))) == "Go left. (withheld) Then 3.5 m on."
    assert list(find_arrival("Go left, through the door.")) == []
