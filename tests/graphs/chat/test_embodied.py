"""A chat whose robot's body drives: off the graph and back, undone and restored exactly."""

from __future__ import annotations

from typing import Any

import pytest

from navloom.graphs.chat.chat_turn import observe_robot
from navloom.graphs.chat.intent_parser import normalize
from navloom.models import get_model
from navloom.scenes.bodies import DEFAULT_BODY, Embodiment
from navloom.scenes.scene_uri import load_scene
from navloom.sim.agent_handle import AgentHandle
from navloom.sim.registry import get_simulator
from navloom.testing import ModelServer, Status, reply_with
from navloom_worlds.motion.body_simulator import BodySimulator
from tests.graphs.chat.chat_home import Chat


def driving() -> Any:
    return get_simulator("embedded", "demo:flat", physics="slide")


def chat(**settings: Any) -> Chat:
    start = load_scene("demo:flat").viewpoints_by_region["Living_room_2"][0].id
    return Chat(start, scene="demo:flat", simulator=driving(), **settings)


@pytest.mark.slow
def test_it_drives_off_the_graph_and_back_and_undo_is_exact() -> None:
    talk = chat()
    begun = dict(talk.state["pose"])
    assert "back; I am in the living room" in talk.say("back up 30 cm")
    pose = dict(talk.state["pose"])
    assert pose["beside"] is True
    assert pose["heading"] == begun["heading"]
    assert 0.2 < abs(pose["position"][2] - begun["position"][2]) < 0.31
    assert talk.say("turn left 30 degrees").startswith("I turned left.")
    talk.call({"undo": True})
    assert talk.state["pose"] == pose
    other = AgentHandle(driving(), "robot")
    assert isinstance(other.simulator, BodySimulator)
    assert observe_robot(talk.state, other).pose.position == tuple(pose["position"])
    assert talk.say("go to the kitchen").startswith("I am in the kitchen now.")
    assert "beside" not in talk.state["pose"]
    talk.call({"undo": True})
    talk.call({"undo": True})
    assert talk.state["pose"] == begun


@pytest.mark.slow
def test_what_is_in_the_way_stops_it_and_is_told() -> None:
    said = chat().say("go forward 20 metres")
    assert "The way was barred by" in said


@pytest.mark.slow
def test_a_thread_stays_in_its_body() -> None:
    talk = chat()
    talk.context = type(talk.context)(
        scene="demo:flat", simulator=driving(), embodiment=Embodiment(name="OTHER")
    )
    with pytest.raises(Exception, match=f"has the body {DEFAULT_BODY.name}, not OTHER"):
        talk.call({"said": "hello"})


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("go forward one metre", "go forward 1 metres"),
        ("go 1.5 m on", "go 1.5 metres on"),
        ("two and a half meters", "2.5 metres"),
        ("drive 50 cm to the left", "drive 0.5 metres to the left"),
        ("turn thirty degrees", "turn 30 degrees"),
        ("room 5 and a mat", "room 5 and a mat"),
    ],
)
def test_metres_are_made_plain(said: str, meant: str) -> None:
    assert normalize(said) == meant


@pytest.mark.slow
def test_the_words_of_the_documents_drive_a_body() -> None:
    talk = chat()
    for words in ("go forward one metre", "drive 50 cm to the left", "go back 2 metres"):
        assert "I went" in talk.say(words), words
    for words in ("back up a little", "turn left 30 degrees", "turn a little to the right"):
        assert "not understand" not in talk.say(words), words


@pytest.mark.slow
def test_who_takes_no_pictures_is_told_in_words_and_shown_none_again() -> None:
    refusal = Status(500, text="image input is not supported - hint: provide the mmproj")
    with ModelServer(reply_with(get_model("builtin/heuristic")), faults=[refusal]) as server:
        talk = chat(model=get_model("vllm/any", base_url=server.openai_url))
        assert talk.say("where are you?")
        assert talk.say("what do you see?")
    notes = [line["text"] for line in talk.state["transcript"] if line["who"] == "note"]
    assert notes == ["vllm/any takes no images: it is told in words what there is."]
    shown = ["image_url" in str(call.body) for call in server.calls]
    assert shown == [True, *[False] * (len(shown) - 1)]
    assert len(shown) > 2
