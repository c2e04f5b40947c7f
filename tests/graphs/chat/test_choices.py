"""The robot's questions with their answers; rooms and things by names that nothing else has."""

from __future__ import annotations

import pytest

from navloom.errors import UsageError
from navloom.graphs.chat.baseline import choose_place
from navloom.graphs.chat.chat_turn import answer_choices
from navloom.graphs.chat.intent_parser import parse_intents
from navloom.scenes.scene_uri import load_scene
from navloom.tools.chat.place_resolver import resolve_place
from navloom.tools.chat.places import Place, restore_place, unique_name
from tests.graphs.chat.chat_home import Chat, home, standing


def asked(chat: Chat) -> list[str]:
    choices: list[str] = chat.state["question"]["choices"]
    assert chat.waits_for["choices"] == choices
    return choices


def test_each_choice_leads_where_it_says() -> None:
    for number, at in enumerate(["b", "d"]):
        chat = Chat()
        chat.say("go to the bedroom")
        choices = asked(chat)
        assert choices == [
            "next to the hallway, 6 m away, with a double bed (Bedroom 2)",
            "next to the hallway, 8 m away, with a bunk bed (Bedroom 3)",
        ]
        assert chat.say(choices[number]) == "I am in the bedroom now."
        assert chat.at == at
        assert chat.state["question"] is None


@pytest.mark.slow
def test_in_a_large_home_too() -> None:
    scene = load_scene("home:2")
    chat, tried = Chat(scene=scene, start=""), 0
    for room in ("bedroom", "bathroom"):
        chat.say(f"go to the {room}")
        if not (question := chat.state["question"]):
            continue
        which = question["choices"]
        chat.call({"undo": True})
        assert len(set(which)) == len(which) > 1
        for choice in which:
            chat.say(f"go to the {room}")
            assert chat.say(choice) == f"I am in the {room} now.", choice
            at = scene.viewpoint_by_id[chat.at].region
            assert choice.endswith(f"({str(at).replace('_', ' ')})"), choice
            chat.call({"undo": True})
            tried += 1
    assert tried > 3


@pytest.mark.parametrize(("answer", "at"), [("yes", "k"), ("no", "c2")])
def test_a_slip_is_answered_by_yes_or_no(answer: str, at: str) -> None:
    chat = Chat()
    chat.say("go to the ktichen")
    assert asked(chat) == ["yes", "no"]
    chat.say(answer)
    assert chat.at == at


@pytest.mark.parametrize(
    ("question", "choices"),
    [
        ("I see two lamps. Do you mean the red one?", ["yes", "no"]),
        ("Shall I wait, or go on?", []),
        ("Where is your phone?", []),
        ("", []),
    ],
)
def test_other_questions_have_those_that_their_form_has(question: str, choices: list[str]) -> None:
    assert answer_choices(question, []) == choices


def test_a_number_is_no_distance_and_no_room() -> None:
    which = [
        {"place": f"Bedroom_{9 - n}", "name": "bedroom", "about": f"upstairs, {6 - n} m away"}
        for n in range(6)
    ]
    for answer in ("number {}", "{}", "the {}", "option {}, please"):
        for number in range(1, 7):
            chosen = choose_place(answer.format(number), which)
            assert chosen == which[number - 1]["place"], answer.format(number)
    assert choose_place("bedroom 4", which) == "Bedroom_4"


def leads_to(scene_place: str, words: str, here: str) -> bool:
    intents = [each for each in parse_intents(f"go to {words}") if each.tool]
    assert [each.tool for each in intents] == ["go_to"], words
    found = resolve_place(standing(here), intents[0].args["place"])
    return isinstance(found, Place) and found.id == scene_place


def test_a_name_means_one_room_or_thing() -> None:
    scene = home()
    names = {id_: unique_name(scene, id_) for id_ in ("Kitchen_4", "Bedroom_3", "i3", "i5")}
    assert names == {
        "Kitchen_4": "the kitchen",
        "Bedroom_3": "Bedroom 3",
        "i3": "the refrigerator",
        "i5": "the desk",
    }
    for id_, name in names.items():
        for here in ("c0", "k", "d", "a"):
            assert leads_to(id_, name, here), (name, here)
    with pytest.raises(UsageError, match="has no room or thing 'Kitchen_9'"):
        unique_name(scene, "Kitchen_9")


@pytest.mark.slow
def test_every_room_and_thing_of_a_home_is_reached_by_its_name() -> None:
    scene = load_scene("home:0")
    chat = Chat(scene=scene, start="")
    here = chat.at
    things = [each.id for each in scene.items if "chair" in each.id or "picture" in each.id]
    assert len(things) > 5
    for id_ in [*(region.id for region in scene.regions), *things]:
        place = restore_place(scene, here, {"kind": "thing", "id": id_, "name": id_})
        if place is None or place.viewpoint is None:
            continue
        name = unique_name(scene, id_)
        chat.say(f"go to {name}")
        room = scene.viewpoint_by_id[chat.at].region
        assert room == place.region if id_ in scene.region_by_id else chat.at == place.viewpoint
        chat.call({"undo": True})
