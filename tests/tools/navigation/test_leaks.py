"""A corpus of answers that give something away, and of those that do not."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from navloom.scenes.scene import Scene, Viewpoint
from navloom.scenes.scene_uri import load_scene
from navloom.tools.navigation.leaks import (
    WITHHELD,
    Leak,
    _in_digits,
    find_leaks,
    merge_leaks,
    redact_leaks,
)
from tests.tools.navcraft.rooms_in_a_row import HALL, home

SCENE = home()

IDS = [
    f"Go to {HALL}.",
    f"Go to {HALL.upper()}!",
    f"It starts with {HALL[:8]}",
    f"It ends with {HALL[-6:]}.",
    "aa 11 bb 22 cc 33",
    "a-a-1-1-b-b-2-2",
    "Walk to node_3 and stop.",
    "The goal is in Kitchen_4.",
    "place_12 is right",
    "Head for Living_room_2 next.",
    "Go to ａａ１１ｂｂ２２ｃｃ３３ｄｄ４４",
    "Go to a a one one b b two two c c three three",
    "Go to node underscore three",
    "Go to node _ 3",
    "Go to one underscore zero.",
]
OPTIONS = [
    "Choose option 3.",
    "Take option three, please.",
    "Option #2 is right.",
    "Take 3.",
    "Pick 12!",
    "choose (4)",
    "3",
    "**3.**",
    "the third option",
    "It is the 2nd viewpoint on your list",
    "node 7",
    "Go to place 5.",
    "Candidates 1 and 2 are wrong.",
    "Use number 4.",
    "viewpoint: 9",
    "marker '2'",
    "Action 2",
    "Choice no. 3",
    "select option(3)",
    "Move to #5 now.",
    "option twelve",
    "Option number twenty-one.",
    "The last one.",
    "Take the second.",
    "option the third",
    "the last of your options",
    "the third one on the list",
    "None of the first two options: the last one.",
    "Number 4 on the list",
    "option B",
    "option (c)",
    "ｏｐｔｉｏｎ ３",
]
COORDINATES = [
    "The goal is at (3.2, -1.5).",
    "[3, 0, -4]",
    "Walk to 1.25, 0.00, -3.50 in the map.",
    "x = 4.5",
    "It is at x: 3",
    "at <2,4>",
    "at (3,2; -1,5)",
    "3,2 / -1,5",
    "It lies at three point two by minus one point five.",
    "coordinates 3 and 4",
    "x equals 3",
    "x three point two",
    "at [3 0 -4]",
    "3.2 east and 1.5 north",
]
CLEAN = [
    "Go left, about 80 degrees to the left, towards the kitchen; about 7 meters to go.",
    "Turn around and walk 3 m to the door.",
    "Take 3 steps and turn right.",
    "Go up the stairs to the second floor.",
    "Choose the door on the left.",
    "Take the first door on the right, then the second.",
    "Pass two chairs and three tables; the sofa is 1.5 m ahead.",
    "You have arrived: stop here.",
    "That option is wrong; the other option leads out.",
    "There are 2 bedrooms, 1 kitchen and 3 doors.",
    "Wait at the place 2 meters past the sink.",
    "Turn 90 degrees, then 45 degrees.",
    "The last room on the floor is the goal.",
    "A faded, beaded, decayed facade feeds a cafe.",
    "Walk about 2.5, perhaps 3 meters.",
    "",
    "Vaya a la izquierda y suba la escalera.",
    "Take 3.5 m along the hall.",
    "Go past two doors and take the last one.",
    "Two rooms lie ahead. It is the second one, on the left.",
    "Of the three chairs choose the third.",
    "Walk between 2.5 and 3.5 meters, up to the one white chair.",
    "Geh 2,5 m geradeaus, dann etwa 3,5 m nach links.",
    "One door is open, one is not: use the open one.",
    "Twenty steps up, then twelve meters along the hall; no turn.",
    "Your only option is the stairs: the other options lead out.",
    "Choose the door by the bed; option or not, the window is no way out.",
    "At the second landing go on up, to the third floor, and take the first door.",
    "Neither one: turn around, the hall you came from is 4 m behind you.",
    "The room is 3 by 4 meters, and the sofa stands 1.5 m from its far wall.",
    "Eleven chairs stand around it. Pass them on the right, about one meter off.",
    "No. 3 more meters and you are there.",
    "Go east 3 meters and then 2 meters north, at an angle of 45 degrees.",
    "It is not the first bedroom but the last one.",
    "Take two steps back, then look to your right: a red rug, four stools, a lamp.",
    "At the end of the hall, 10 m on, is a bath; the one after it is what you look for.",
]


@pytest.mark.parametrize("text", IDS)
def test_ids(text: str) -> None:
    assert {leak.kind for leak in find_leaks(text, SCENE)} == {"id"}


@pytest.mark.parametrize(
    ("text", "given"),
    [
        (f"It starts with {HALL[:6]}, so.", HALL[:6]),
        (f"It starts with {HALL[:8]}", HALL[:8]),
        (f"It ends with {HALL[-6:]}.", HALL[-6:]),
        (f"({HALL})", HALL),
        ("Walk to node_3: stop.", "node_3"),
    ],
)
def test_an_id_or_a_part_of_one_is_found_to_the_letter(text: str, given: str) -> None:
    assert [leak.text for leak in find_leaks(text, SCENE)] == [given]
    assert redact_leaks(text, find_leaks(text, SCENE)) == text.replace(given, WITHHELD)
    assert find_leaks(text.replace(given, HALL[:5]), SCENE) == []


@pytest.mark.parametrize("text", OPTIONS)
def test_options(text: str) -> None:
    assert {leak.kind for leak in find_leaks(text, SCENE)} == {"option"}


@pytest.mark.parametrize("text", COORDINATES)
def test_coordinates(text: str) -> None:
    assert {leak.kind for leak in find_leaks(text, SCENE)} == {"coordinates"}


@pytest.mark.parametrize("text", CLEAN)
def test_what_gives_nothing_away(text: str) -> None:
    assert find_leaks(text, SCENE) == []


@pytest.mark.parametrize("text", [*IDS, *OPTIONS, *COORDINATES])
def test_a_redacted_answer_gives_nothing_away(text: str) -> None:
    redacted = redact_leaks(text, find_leaks(text, SCENE))
    assert WITHHELD in redacted
    assert find_leaks(redacted, SCENE) == []


def test_short_ids_of_a_demo_home() -> None:
    scene = load_scene("demo:flat")
    assert [leak.text for leak in find_leaks("Go to 1_0, then to 5_0.", scene)] == ["1_0", "5_0"]
    assert find_leaks("Walk 10 m, past 15 chairs.", scene) == []


def test_ids_that_are_words_or_numbers_are_only_found_beside_a_word_for_places() -> None:
    places = SCENE.viewpoints[:2]
    named = {places[0].id: "lamp", places[1].id: "12"}
    scene = Scene(
        **{
            **{name: getattr(SCENE, name) for name in Scene.model_fields},
            "viewpoints": tuple(v.model_copy(update={"id": named[v.id]}) for v in places),
            "edges": (),
        }
    )
    assert find_leaks("Go past the lamp, 12 m.", scene) == []
    assert find_leaks("Go to node 12.", scene) != []


@given(st.text(max_size=400) | st.sampled_from([*IDS, *OPTIONS, *COORDINATES]))
def test_any_text_is_read_and_redacted(text: str) -> None:
    leaks = find_leaks(text, SCENE)
    assert all(text[leak.start : leak.end] == leak.text for leak in leaks)
    assert isinstance(redact_leaks(text, leaks), str)


@pytest.mark.parametrize(
    "piece",
    [
        *("a_", "# "),
        *(
            pytest.param(piece, marks=pytest.mark.slow)
            for piece in ("option ", "(1,", "1.", "take (", "number ", "-1.1,")
        ),
    ],
)
def test_a_huge_text_is_read_in_one_pass(piece: str) -> None:
    # Quadratic, this would be a day.
    find_leaks(piece * (500_000 // len(piece)), SCENE)


LONG = "q1w2e3r4t5y6"  # twelve characters: a code
SHORT = "q1w2e3r4t5y"


def kinds_of(text: str, *ids: str) -> list[tuple[str, str]]:
    scene = SCENE.replace(
        viewpoints=tuple(
            Viewpoint(id=name, position=(float(k), 0.0, 0.0)) for k, name in enumerate(ids)
        ),
        edges=(),
    )
    return [(leak.kind, leak.text) for leak in find_leaks(text, scene)]


def test_six_characters_of_an_id_of_twelve_give_it_away() -> None:
    for at in range(7):
        part = LONG[at : at + 6]
        assert kinds_of(f"Say {part} now.", LONG) == [("id", part)]
    assert kinds_of(f"Say {LONG[:5]} now.", LONG) == []
    assert kinds_of(f"Say {SHORT[:6]} now.", SHORT) == []
    assert kinds_of(f"Say {SHORT} now.", SHORT) == [("id", SHORT)]
    # Six letters without a digit are a word.
    assert kinds_of("the garden gate", "garden123456") == []
    assert kinds_of("rden12", "garden123456") == [("id", "rden12")]


def test_an_underscore_and_a_digit_make_an_id_of_a_word() -> None:
    assert kinds_of("to a_b then c3 and d_4.", "x") == [("id", "d_4")]
    assert kinds_of("x-room_7-b", "x") == [("id", "room_7")]


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("Go to node twenty one.", True),
        ("Take twenty zero.", True),
        ("oh take the null", False),
        ("take oh", False),
        ("one door, then another", False),
        ("Pick seven.", True),
    ],
)
def test_numbers_in_words(said: str, found: bool) -> None:
    assert bool(kinds_of(said, "x")) == found


def test_tens_and_units_in_words_are_one_number() -> None:
    assert kinds_of("go to room underscore twenty one", "room_21") == [
        ("id", "room underscore twenty one")
    ]
    assert kinds_of("go to room underscore two zero", "room_20") != []
    assert kinds_of("go to room underscore twenty zero", "room_200") != []


def test_leaks_that_overlap_are_one_and_others_stay_apart() -> None:
    def leak(kind: Any, start: int, end: int) -> Leak:
        return Leak(kind, start, end, "abcdefgh"[start:end])

    text = "abcdefgh"
    assert merge_leaks(text, [leak("id", 3, 5), leak("option", 0, 3)]) == [
        leak("option", 0, 3),
        leak("id", 3, 5),
    ]
    assert merge_leaks(text, [leak("id", 2, 5), leak("option", 0, 3)]) == [leak("option", 0, 5)]
    assert merge_leaks(text, [leak("id", 1, 2), leak("option", 0, 6), leak("id", 5, 7)]) == [
        leak("option", 0, 7)
    ]


@pytest.mark.parametrize(
    ("words", "digits"),
    [
        ("twenty-one", "21"),
        ("Thirty three", "33"),
        ("twenty twelve", "2012"),
        ("thirty zero", "300"),
        ("five six", "56"),
    ],
)
def test_a_digit_fills_the_place_that_tens_leave(words: str, digits: str) -> None:
    match = re.fullmatch(".*", words)
    assert match is not None
    assert _in_digits(match) == digits
