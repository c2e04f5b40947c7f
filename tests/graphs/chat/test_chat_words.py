"""What people's words mean to the tools that look for places."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from navloom.graphs.chat.chat_turn import start_pose
from navloom.scenes.bodies import DEFAULT_BODY
from navloom.scenes.scene_uri import load_scene
from navloom.sim.graph import GraphSimulator
from navloom.tools.chat.place_query import correct_word, parse_query
from navloom.tools.chat.place_resolver import correct_spelling, resolve_place
from navloom.tools.chat.places import Place, RobotContext, rooms_opposite
from tests.graphs.chat.chat_home import home, standing


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
        ("the room next to the kitchen", "Hallway_1"),
        ("the room with the desk", "Bedroom_3"),
        ("the room where the refrigerator is", "Kitchen_4"),
        ("the room between the kitchen and the attic", "Hallway_1"),
        ("the bedroom nearest to the kitchen", "Bedroom_2"),
        ("bed room 3", "Bedroom_3"),
        ("the second floor", "Attic_5"),
        ("the top of the stairs", "Hallway_1-Attic_5"),
        ("a room not seen", "Kitchen_4"),
    ],
)
def test_places(words: str, end: str) -> None:
    found = resolve_place(standing("c2"), words)
    assert isinstance(found, Place)
    assert found.id == end


@pytest.mark.parametrize(
    ("words", "which"),
    [
        ("the ktichen", ["Kitchen_4"]),
        ("kichen", ["Kitchen_4"]),
        ("the refridgerator", ["i3"]),
        ("the bedrom", ["Bedroom_2", "Bedroom_3"]),
        ("the room next to the atttic", ["Hallway_1"]),
    ],
)
def test_a_name_with_a_slip_is_asked_about(words: str, which: list[str]) -> None:
    found = resolve_place(standing("c2"), words)
    assert isinstance(found, dict)
    assert [each["place"] for each in found["which"]] == which


@pytest.mark.parametrize(
    ("words", "alike"),
    [
        ("bunk bed in the kitchen", "bunk bed"),
        ("the table", "desk"),
        ("the freezer", "refrigerator"),
    ],
)
def test_what_is_missing_is_answered_with_what_is_like_it(words: str, alike: str) -> None:
    found = resolve_place(standing("c2"), words)
    assert isinstance(found, dict)
    assert [each["name"] for each in found["alike"]] == [alike]
    assert "hallway" not in found["error"] or alike == "bunk bed"


def test_what_is_talked_of_is_there() -> None:
    past = [
        {"kind": "thing", "id": "i1", "name": "double bed", "turn": 1, "main": False},
        {"kind": "thing", "id": "i2", "name": "bunk bed", "turn": 1, "main": True},
    ]
    said = {
        "there": "i2",
        "it": "i2",
        "the one in the bedroom 2": "i1",
        "the nearest": "i1",
        "that room": "Bedroom_3",
        "the room next to that room": "Hallway_1",
    }
    for words, end in said.items():
        found = resolve_place(standing("c2", past), words)
        assert isinstance(found, Place), words
        assert found.id == end, words


def test_the_other_one_leaves_out_all_that_were_refused_in_a_row() -> None:
    past = [{"kind": "room", "id": each, "name": "bedroom"} for each in ("Kitchen_4", "Bedroom_3")]
    found = resolve_place(standing("c2", past), "the other one")
    assert isinstance(found, Place)
    assert found.id == "Bedroom_2"


def test_an_attic_on_the_first_floor_is_none() -> None:
    found = resolve_place(standing("c2"), "the attic on floor 1")
    assert isinstance(found, dict)
    assert found["error"].startswith("There is no such attic; there is one upstairs")


@given(st.text(max_size=300))
def test_any_words_have_an_answer(words: str) -> None:
    scene = home()
    past = [{"kind": "room", "id": "Bedroom_2", "name": "bedroom"}]
    found = resolve_place(standing("c0", past), words)
    if isinstance(found, dict):
        line = found.get("error") or found["question"]
        assert "\n" not in line
        assert len(line) < 500
    else:
        assert found.viewpoint in scene.viewpoint_by_id
    parse_query(words)


@pytest.mark.parametrize("word", ["walking", "nice", "sweet", "possibly", "dark", "bunch"])
def test_a_word_of_english_is_no_slip(word: str) -> None:
    assert correct_spelling(home(), word) is None


@pytest.mark.parametrize(
    ("said", "meant"), [("terase", "terrace"), ("bedrm", "bedroom"), ("batroom", "bathroom")]
)
def test_two_letters_of_a_short_word_may_be_wrong(said: str, meant: str) -> None:
    assert correct_word(said, ["terrace", "bedroom", "bathroom", "bed", "tray"]) == meant


def test_ordinals_count_what_was_told() -> None:
    past = [
        {"kind": "room", "id": each, "name": "bedroom", "turn": 1}
        for each in ("Bedroom_3", "Bedroom_2")
    ]
    found = resolve_place(standing("k", past), "the second one")
    assert isinstance(found, Place)
    assert found.id == "Bedroom_2"
    assert "error" in resolve_place(standing("k", past), "the third one")


def test_words_that_name_nothing_do_not_hide_a_name() -> None:
    found = resolve_place(standing("k"), "the bunch attic")
    assert isinstance(found, Place)
    assert found.id == "Attic_5"
    assert "error" in resolve_place(standing("k"), "the garage attic")


def test_a_thing_is_named_by_its_room() -> None:
    simulator = GraphSimulator(load_scene("demo:house"))
    scene = simulator.scene
    body = (start_pose(scene, scene.viewpoints[0].id, 0.0), DEFAULT_BODY)
    now = RobotContext(scene, simulator.reset({"robot": body})["robot"])
    found = resolve_place(now, "the kids' bed")
    assert isinstance(found, Place)
    assert found.region == "Kids_room_10"


def test_a_room_lies_opposite_across_a_passage() -> None:
    villa, house = load_scene("demo:villa"), load_scene("demo:house")
    assert rooms_opposite(house, "Kids_room_10") == ["Bedroom_8"]
    assert not set(rooms_opposite(villa, "Gym_15")) & {"Hallway_9", "Gym_15"}
    assert rooms_opposite(house, "Laundry_room_5") in ([], ["Dining_room_3"])
