"""A corpus of answers that give something away, and of those that do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from navloom.scenes.scene import Scene
from navloom.scenes.uri import load_scene
from navloom.tools.navigation.leaks import WITHHELD, find_leaks, without_leaks
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
]
COORDINATES = [
    "The goal is at (3.2, -1.5).",
    "[3, 0, -4]",
    "Walk to 1.25, 0.00, -3.50 in the map.",
    "x = 4.5",
    "It is at x: 3",
    "at <2,4>",
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
    assert without_leaks(text, find_leaks(text, SCENE)) == text.replace(given, WITHHELD)
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
    redacted = without_leaks(text, find_leaks(text, SCENE))
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
    assert isinstance(without_leaks(text, leaks), str)


@pytest.mark.parametrize(
    "piece", ["option ", "(1,", "# ", "1.", "take (", "number ", "a_", "-1.1,"]
)
def test_a_huge_text_is_read_in_one_pass(piece: str) -> None:
    # Quadratic, this would be a day.
    find_leaks(piece * (500_000 // len(piece)), SCENE)
