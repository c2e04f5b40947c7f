"""What people's words mean: to the rule-based robot, and to the tools that look for places."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from navloom.graphs.chat.asked import Before, Intent
from navloom.graphs.chat.exchange import pose_at
from navloom.graphs.chat.intents import intents_of
from navloom.graphs.chat.wordings import plain
from navloom.scenes.bodies import DEFAULT_BODY
from navloom.scenes.uri import load_scene
from navloom.sim.graph import GraphSimulator
from navloom.tools.chat.alike import respelled
from navloom.tools.chat.meant import resolve
from navloom.tools.chat.places import Place
from navloom.tools.chat.robot import Now
from navloom.tools.chat.slips import respell
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


_FAMILIES = {
    ("go_to", "the study"): [
        "goto the study pls", "plese go to the study", "taek me to the study", "to the study!!",
        "no wait, the study", "i meant the study", "go to the kitchen, sorry, the study",
        "go to the kitchen. actually no, the study", "change of plan: the study",
        "not the kitchen but the study", "go to the study instead of the kitchen",
        "instead of the kitchen go to the study", "don't go to the kitchen, go to the study",
        "I was wondering whether you could show me the study", "would you mind going to the study",
        "could you please be so kind as to take me to the study?", "keep going to the study",
        "thanks, now the study", "in english: the study", "i want to see the study",
    ],
    ("go_to", "where we started"): [
        "go back to where we started", "take me back to where you began", "back to square one",
        "return to the starting point", "go home", "and back to the beginning please",
    ],
    ("go_back", ""): [
        "come back", "go back again", "back please", "take me back", "go back the way you came",
        "go back to where you were before", "return to the previous room", "let's go back",
    ],
    ("go_on", ""): [
        "keep going", "ok continue", "nice, carry on", "go on then", "don't stop", "resume",
        "finish what you started", "never mind, carry on", "carry on where you left off",
    ],
    ("stop", ""): ["STOP!", "no no stop", "wait", "hold on a second", "stay here", "dont move yet"],
    ("recall", ""): [
        "what did you just do", "which way did you come?", "where have you been so far",
        "how did you get here", "where were you going", "what did i say", "how far was that",
        "where did we start", "what was the last thing you did", "which room did you visit first",
        "how much further is it", "remind me where you were",
    ],
    ("find", "keys"): [
        "where are my keys", "i can't find my keys", "i lost my keys", "have you seen my keys?",
        "any idea where my keys are?", "are my keys there as well?", "help me find my keys",
        "where did i leave my keys", "which room has the keys", "do you see my keys", "any keys?",
        "how many keys are there in this house", "how far is it to the keys",
    ],
    ("describe", ""): ["what is here", "whats in heer?", "what furniture is here", "describe it"],
    ("describe", "the kitchen"): [
        "what's in the kitchen", "what is next to the kitchen?", "tell me about the kitchen",
        "which rooms are next to the kitchen", "how big is the kitchen", "describe the kitchen",
    ],
    (None, "Goodbye"): ["thanks bye", "ok bye", "good night", "see you later", "bye bye"],
    (None, "Good."): ["thx", "cheers mate", "thats it thanks", "well done", "great", "thank you"],
    (None, "I am a robot"): ["who are you", "are you an ai?", "what's your name"],
    (None, "That I cannot do"): ["make me a coffee", "open the door", "what time is it"],
    (None, "That looks like German"): ["geh bitte in die Küche", "wo ist das Bad?", "danke"],
    (None, "That looks like Japanese"): ["台所に行ってください"],
    (None, "That looks like another language"): ["mene keittiöön"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("meant", "words"), [(meant, each) for meant, words in _FAMILIES.items() for each in words]
)
def test_families_of_wordings(meant: tuple[str | None, str], words: str) -> None:
    (intent,) = intents_of(words)
    tool, named = meant
    assert intent.tool == tool
    if tool is None:
        assert intent.words.startswith(named)
    elif named:
        assert next(iter(intent.args.values())) == named


@pytest.mark.parametrize(
    ("words", "calls"),
    [
        ("go to the kitchen and then the bedroom", ["the kitchen", "the bedroom"]),
        ("first the kitchen, then the study", ["the kitchen", "the study"]),
        ("go to the kitchen, the study and the hall", ["the kitchen", "the study", "the hall"]),
        ("the room between the hall and the study", ["the room between the hall and the study"]),
        ("to the study, the one with the desk", ["the study the one with the desk"]),
        ("go to the study but first to the hall", ["the hall", "the study"]),
        ("before going to the study, go to the hall", ["the hall", "the study"]),
        ("go to the kitchen via the hall", ["the hall", "the kitchen"]),
        ("find the tv and go there", ["tv", "there"]),
        ("where is the piano and where is the violin", ["piano", "violin"]),
        ("which is closer, the bath or the study?", ["bath", "study"]),
        ("go to the hall and then come back here", ["the hall"]),
    ],
)
def test_several_things_in_one_line(words: str, calls: list[str]) -> None:
    named = [next(iter(intent.args.values()), None) for intent in intents_of(words)]
    assert [name for name in named if isinstance(name, str)] == calls


def test_who_is_sent_to_fetch_something_goes_there() -> None:
    for words in ("go get them", "go and fetch the keys", "bring me my keys"):
        (intent,) = intents_of(words)
        assert (intent.tool, intent.words) == ("go_to", "fetch"), words


def test_words_are_read_with_what_was_asked_last() -> None:
    asked = Before([("find", {"thing": "piano"}), ("find", {"thing": "violin"})], "In the hall.")
    assert intents_of("and my keys", asked) == [Intent("find", {"thing": "keys"})]
    assert intents_of("and my keys")[0].tool == "go_to"
    assert [each.args["place"] for each in intents_of("go to both", asked)] == ["piano", "violin"]
    assert intents_of("say that again", asked)[0].words == "In the hall."
    offered = Before([("go_to", {"place": "harp"})], "There is no harp.", offers=True)
    assert intents_of("yes please", offered) == [Intent("go_to", {"place": "there"})]
    walked = Before([("turn", {"direction": "left"})])
    assert intents_of("again", walked) == [Intent("turn", {"direction": "left"})]


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
    ],
)
def test_places(words: str, end: str) -> None:
    found = resolve(standing("c2"), words)
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
    found = resolve(standing("c2"), words)
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
    found = resolve(standing("c2"), words)
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
        found = resolve(standing("c2", past), words)
        assert isinstance(found, Place), words
        assert found.id == end, words


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


@pytest.mark.parametrize(
    ("words", "calls"),
    [
        ("turn around please", [("turn", {"direction": "around", "degrees": 90.0})]),
        ("no more walking please", [("stop", {})]),
        ("hold on a sec", [("stop", {})]),
        ("go to the piano real quick", [("go_to", {"place": "the piano"})]),
        (
            "go to the kitchen and tell me if there is bread",
            [("go_to", {"place": "the kitchen"}), ("find", {"thing": "bread"})],
        ),
        ("My keys! Where are they?", [("find", {"thing": "keys"}), ("find", {"thing": "they"})]),
        ("i have to charge my laptop", [("find", {"thing": "laptop"})]),
        ("that's better, now upstairs", [("go", {"direction": "upstairs"})]),
        ("nah forget the game, go to the printer", [("go_to", {"place": "the printer"})]),
        ("which rooms have a bed", [("find", {"thing": "bed"})]),
        ("have you been in the bathroom yet?", [("recall", {})]),
        ("have you seen the teddy bear", [("find", {"thing": "teddy bear"})]),
        ("take me to where the wine is", [("go_to", {"place": "the wine"})]),
    ],
)
def test_what_strangers_typed(words: str, calls: list[tuple[str, dict[str, Any]]]) -> None:
    assert [(intent.tool, intent.args) for intent in intents_of(words)] == calls


@pytest.mark.parametrize("word", ["walking", "nice", "sweet", "possibly", "dark", "bunch"])
def test_a_word_of_english_is_no_slip(word: str) -> None:
    assert plain(word) == word
    assert respelled(home(), word) is None


@pytest.mark.parametrize(
    ("said", "meant"), [("terase", "terrace"), ("bedrm", "bedroom"), ("batroom", "bathroom")]
)
def test_two_letters_of_a_short_word_may_be_wrong(said: str, meant: str) -> None:
    assert respell(said, ["terrace", "bedroom", "bathroom", "bed", "tray"]) == meant


def test_ordinals_count_what_was_told() -> None:
    past = [
        {"kind": "room", "id": each, "name": "bedroom", "turn": 1}
        for each in ("Bedroom_3", "Bedroom_2")
    ]
    found = resolve(standing("k", past), "the second one")
    assert isinstance(found, Place)
    assert found.id == "Bedroom_2"
    assert "error" in resolve(standing("k", past), "the third one")


@pytest.mark.parametrize(
    ("words", "calls"),
    [
        ("any piano? where is it", [("find", {"thing": "piano"}), ("find", {"thing": "it"})]),
        ("can you cook?", [(None, {})]),
        ("can you go outside", [("go_to", {"place": "outside"})]),
        ("did i leave my glasses in the bedroom", [("find", {"thing": "glasses in the bedroom"})]),
        ("if there is a vase in the hall go there", [("go_to", {"place": "a vase in the hall"})]),
        ("visit all of these: hall, attic", [("go_to", {"place": p}) for p in ("hall", "attic")]),
        ("take me somewhere quiet to read", [("go_to", {"place": "the nearest bookshelf"})]),
        ("what's between a and b", [("find", {"thing": "room between a and b"})]),
        ("go grab it", [("go_to", {"place": "it"})]),
        ("stop, where are you", [("stop", {}), ("where", {})]),
        ("oops i meant balcony", [("go_to", {"place": "balcony"})]),
        ("ok english. kitchen", [("go_to", {"place": "kitchen"})]),
        ("up we go", [("go", {"direction": "upstairs"})]),
    ],
)  # fmt: skip
def test_what_more_strangers_typed(words: str, calls: list[tuple[str, dict[str, Any]]]) -> None:
    assert [(intent.tool, intent.args) for intent in intents_of(words)] == calls


def test_a_question_about_the_same_elsewhere() -> None:
    before = Before([("find", {"thing": "book in the hall"})])
    assert intents_of("and in the attic?", before)[0].args == {"thing": "book in the attic"}
    assert intents_of("how many of them", before)[0].args == {"thing": "book in the hall"}


def test_words_that_name_nothing_do_not_hide_a_name() -> None:
    found = resolve(standing("k"), "the bunch attic")
    assert isinstance(found, Place)
    assert found.id == "Attic_5"
    assert "error" in resolve(standing("k"), "the garage attic")


@pytest.mark.parametrize(
    ("words", "calls"),
    [
        ("swing by the hall", [("go_to", {"place": "the hall"})]),
        ("sory i ment the hall", [("go_to", {"place": "the hall"})]),
        ("take the long way to the hall", [("go_to", {"place": "the hall"})]),
        ("take a look in the hall", [("go_to", {"place": "the hall"})]),
        ("give me directions to the hall", [("find", {"thing": "hall"})]),
        ("is there a shorter way?", [(None, {})]),
        ("other way around", [("turn", {"direction": "around", "degrees": 90.0})]),
        ("anything on it", [("describe", {"place": "it"})]),
    ],
)
def test_what_strangers_typed_last(words: str, calls: list[tuple[str, dict[str, Any]]]) -> None:
    assert [(intent.tool, intent.args) for intent in intents_of(words)] == calls


def test_sorry_alone_takes_nothing_back() -> None:
    walked = Before([("go_to", {"place": "the hall"})])
    assert intents_of("lol sorry", walked)[0].tool is None
    assert intents_of("sorry, wrong room", walked)[0].args == {"place": "the other one"}


def test_a_thing_is_named_by_its_room() -> None:
    simulator = GraphSimulator(load_scene("demo:house"))
    scene = simulator.scene
    body = (pose_at(scene, scene.viewpoints[0].id, 0.0), DEFAULT_BODY)
    now = Now(scene, simulator.reset({"robot": body})["robot"])
    found = resolve(now, "the kids' bed")
    assert isinstance(found, Place)
    assert found.region == "Kids_room_10"
