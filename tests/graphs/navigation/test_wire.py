"""Navigators through OpenAI's and Anthropic's clients, over loopback: the bytes of a step."""

from __future__ import annotations

import base64
import io
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from PIL import Image

from navloom.graphs.navigation import navigator
from navloom.graphs.navigation.navigator import Context
from navloom.models import get_model
from navloom.models.scripted import ScriptedChatModel
from navloom.scenes.distances import turn_between
from navloom.scenes.scene_uri import load_scene
from navloom.sim.graph import GraphSimulator, candidates_of
from navloom.sim.media_store import FolderMedia, MemoryMedia
from navloom.sim.protocol import Observation, Pose
from navloom.testing import ModelServer
from navloom.tools.navigation.step_options import direction_of
from tests.graphs.navigation.walks import GIVEN, PictureSimulator, walk
from tests.graphs.states import run
from tests.tools.navcraft.rooms_in_a_row import CORNER, HALL, home

PROVIDERS = ("openai", "anthropic")


def client(provider: str, server: ModelServer) -> Any:
    base = server.url if provider == "anthropic" else server.openai_url
    return get_model(f"{provider}/any", base_url=base, api_key="not-a-real-key-000")


def pictures(provider: str, message: dict[str, Any]) -> list[bytes]:
    """The pictures of a message, as a server decodes them."""
    parts = message["content"]
    if isinstance(parts, str):
        return []
    if provider == "anthropic":
        sources = [part["source"] for part in parts if part["type"] == "image"]
        assert all(s["media_type"] == "image/png" and s["type"] == "base64" for s in sources)
        return [base64.b64decode(source["data"], validate=True) for source in sources]
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    assert all(url.startswith("data:image/png;base64,") for url in urls)
    return [base64.b64decode(url.partition(",")[2], validate=True) for url in urls]


def text_of(message: dict[str, Any]) -> str:
    parts = message["content"]
    if isinstance(parts, str):
        return parts
    return "".join(part["text"] for part in parts if part["type"] == "text")


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(("views", "count"), [(4, 1), (12, 12), (24, 24), (36, 36), (0, 0)])
def test_the_pictures_of_a_step_arrive_byte_for_byte(
    provider: str, views: Any, count: int, tmp_path: Path
) -> None:
    media = FolderMedia(tmp_path)
    with ModelServer(["Action: 1", "hm", "Action: Stop."]) as server:
        context = Context(
            simulator=PictureSimulator(home()),
            model=client(provider, server),
            views=views,
            media=media,
        )
        state = run(navigator.graph, GIVEN, context=context)
        bodies = [call.body for call in server.calls]
    assert not server.errors
    assert state["status"] == "ok"
    names = [step["media"] for step in state["steps"]]
    assert [len(each) for each in names] == [count, count]
    # The second step was asked twice: its pictures go with the first human message, both times.
    for body, step in zip(bodies, (0, 1, 1), strict=True):
        said = [m for m in body["messages"] if m["role"] == "user"]
        sent = pictures(provider, said[0])
        assert sent == [media.get(name) for name in names[step]]
        assert all(Image.open(io.BytesIO(each)).format == "PNG" for each in sent)
        assert not any(pictures(provider, message) for message in said[1:])
        assert text_of(said[0]).startswith("Instruction: ")
        assert ("\nPictures: " in text_of(said[0])) == bool(count)
    assert names[0] != names[1] or not count


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_step_as_a_tool_call_holds_the_options_on_the_wire(provider: str) -> None:
    replies = [
        AIMessage("", tool_calls=[{"name": "move", "args": {"option": 9}, "id": "a"}]),
        AIMessage("", tool_calls=[{"name": "move", "args": {"option": 1}, "id": "b"}]),
        AIMessage("", tool_calls=[{"name": "stop", "args": {}, "id": "c"}]),
    ]
    with ModelServer(replies) as server:
        context = Context(
            simulator=PictureSimulator(home()), model=client(provider, server), act="tool"
        )
        state = run(navigator.graph, GIVEN, context=context)
        bodies = [call.body for call in server.calls]
    assert not server.errors
    assert [pose[0] for pose in state["trajectory"]] == [HALL, CORNER]
    tool = bodies[0]["tools"][0]
    schema = tool["input_schema"] if provider == "anthropic" else tool["function"]["parameters"]
    assert schema["properties"]["option"]["enum"] == [1, 2]
    # The refused call is answered under its own id before the fault is told.
    assert '"a"' in str(bodies[1]).replace("'", '"')
    assert "Option 9 is not there" in str(bodies[1])


def test_pictures_are_kept_by_name_and_never_in_the_state() -> None:
    media = MemoryMedia()
    state, model = walk(
        ["Action: 1", "Action: Stop"], simulator=PictureSimulator(home()), media=media
    )
    assert all(len(name) == 68 for step in state["steps"] for name in step["media"])
    assert "base64" not in str(state)
    block = model.calls[0].messages[1].content[1]
    assert isinstance(block, dict)
    assert base64.b64decode(block["base64"]) == media.get(state["steps"][0]["media"][0])


def test_without_a_store_the_pictures_are_shown_all_the_same() -> None:
    simulator = PictureSimulator(home())
    state, model = walk(["hm", "Action: Stop"], simulator=simulator)
    assert state["steps"][0]["media"] == []
    shown = [call.messages[1].content[1] for call in model.calls]
    assert shown[0] == shown[1]
    # Looking again costs no second picture of the same place.
    assert simulator.taken == 2


def test_a_store_that_lost_a_picture_has_it_taken_again() -> None:
    kept = MemoryMedia()

    class Forgetful:
        def put(self, data: bytes) -> str:
            return kept.put(data)

        def get(self, name: str) -> bytes:
            return MemoryMedia().get(name)

    _, model = walk(["Action: Stop"], simulator=PictureSimulator(home()), media=Forgetful())
    (block,) = [b for b in model.calls[0].messages[1].content if isinstance(b, dict)][1:]
    assert base64.b64decode(block["base64"])[:4] == b"\x89PNG"


def test_directions_are_those_of_the_strip() -> None:
    scene = load_scene("demo:flat")
    heading = math.radians(40)
    given = {**GIVEN, "start": "2_0", "heading": heading, "goals": [], "path": []}

    def directions(simulator: GraphSimulator) -> list[str]:
        with ScriptedChatModel(["Action: Stop"]) as model:
            state = run(navigator.graph, given, context=Context(simulator=simulator, model=model))
        options = {o["viewpoint"]: o["direction"] for o in state["steps"][0]["options"]}
        return [options[way.viewpoint] for way in candidates_of(scene)["2_0"]]

    ways = [way.heading for way in candidates_of(scene)["2_0"]]
    in_words = [direction_of(turn_between(heading, way)) for way in ways]
    # 40 degrees belong to the quarter of 0: that is where the strip's Front looks.
    in_pictures = [direction_of(turn_between(0.0, way)) for way in ways]
    assert in_words != in_pictures
    assert directions(GraphSimulator(scene)) == in_words
    assert directions(PictureSimulator(scene)) == in_pictures


def test_the_marks_in_the_pictures_are_the_options_whatever_order_a_simulator_gives() -> None:
    class Shuffled(PictureSimulator):
        def _observe(self, pose: Pose) -> Observation:
            seen = super()._observe(pose)
            return replace(seen, candidates=seen.candidates[::-1])

    media = MemoryMedia()
    names = [
        walk(["Action: Stop"], simulator=kind(home()), media=media)[0]["steps"][0]["media"]
        for kind in (PictureSimulator, Shuffled)
    ]
    assert names[0] == names[1]


def test_a_model_that_takes_no_images_reads_what_it_would_without_a_camera() -> None:
    class Blind(ScriptedChatModel):
        profile: Any = None

    said = []
    for simulator in (PictureSimulator(home()), GraphSimulator(home())):
        blind = Blind(["Action: Stop."])
        blind.profile = {"image_inputs": False}
        run(navigator.graph, GIVEN, context=Context(simulator=simulator, model=blind))
        said.append([message.content for call in blind.calls for message in call.messages])
    assert said[0] == said[1]
    assert all(isinstance(text, str) for text in said[0])
