"""The room of conversations over HTTP: events, their numbers, threads, files, what is refused."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from navloom.graphs.chat.state import Context
from navloom.models.model_call import call_settings
from navloom.models.model_registry import get_model
from navloom.models.usage import Budget, UsageLimits
from navloom.scenes.scene_uri import get_scene
from navloom.sim.registry import get_simulator
from navloom.web.chat_service import ChatService
from navloom.web.documents import Documents
from tests.web.chatting import HOME, Chatting, chatting, until
from tests.web.conftest import serving


@pytest.fixture
def chat(tmp_path: Path) -> Any:
    with chatting(tmp_path / "threads") as made:
        yield made


def test_an_order_is_walked_and_told_hop_by_hop(chat: Chatting) -> None:
    first = chat.ask("threads")["first"]
    assert (first, chat.open(first)["now"]["doing"]) == ("demo-house", "listening")
    saved = chat.said(first, "go to the kitchen")
    whole = chat.open(first)
    assert [line["text"] for line in whole["lines"]] == [
        "go to the kitchen",
        "I am in the kitchen now.",
    ]
    assert [call["name"] for call in whole["calls"]] == ["go_to"]
    assert len(whole["poses"]) == len(saved["trajectory"]) > 3
    assert whole["poses"][-1][-1] == "kitchen"


def test_a_page_that_comes_back_is_told_what_it_missed(chat: Chatting) -> None:
    start = next(chat.events("one"))
    chat.said("one", "go to the kitchen")
    missed = list(islice(chat.events("one", start["id"]), 8))
    kinds = [each["kind"] for each in missed]
    assert "whole" not in kinds
    assert {"line", "call", "poses", "now"} <= set(kinds)
    numbers = [int(each["id"].partition("-")[2]) for each in missed]
    assert numbers == sorted(set(numbers))
    for old in ("ffffffff-1", start["id"].partition("-")[0] + "-999999", "-", "x" * 50):
        assert next(chat.events("one", old))["kind"] == "whole"


def test_undo_to_any_line_and_save_and_replay(chat: Chatting) -> None:
    start = chat.open("one")["poses"]
    chat.said("one", "go to the kitchen")
    saved = chat.said("one", "go to the study")
    assert chat.tell("undo", thread="one", to=2) == {"words": "go to the study"}
    assert [line["text"] for line in chat.open("one")["lines"]][-1] == "I am in the kitchen now."
    assert chat.tell("undo", thread="one", to=0) == {"words": "go to the kitchen"}
    assert (chat.open("one")["poses"], chat.open("one")["lines"]) == (start, [])
    assert chat.tell("undo", thread="one") == {"words": None}
    played = chat.tell("replay", name="a.json", text=json.dumps(saved))
    assert len(played["poses"]) == len(saved["trajectory"])
    assert chat.http.get("/chat/map/one").content.startswith(b"\x89PNG")
    assert chat.http.get("/chat/view/one").content.startswith(b"\x89PNG")


def test_threads_are_listed_renamed_and_deleted(chat: Chatting) -> None:
    chat.said("one", "go to the kitchen")
    chat.open("two")
    assert [each["name"] for each in chat.ask("threads")["threads"] if each["lines"]] == ["one"]
    assert chat.tell("rename", thread="one", name="evening") == {"thread": "evening"}
    assert chat.open("evening")["lines"][0]["text"] == "go to the kitchen"
    assert "already" in chat.tell("rename", thread="evening", name="two")["error"]
    assert "plain name" in chat.tell("rename", thread="evening", name="../x")["error"]
    assert chat.open("evening")["lines"]
    assert chat.tell("delete", thread="evening") == {}
    for late in ("delete", "stop", "undo"):
        assert "no conversation 'evening'" in chat.tell(late, thread="evening")["error"]
    assert chat.http.get("/chat/view/evening").status_code == 422


@pytest.mark.parametrize(
    ("what", "body", "line"),
    [
        ("say", {"thread": "one", "words": "x" * 3_000}, "3,000 characters; say it in at most"),
        ("say", {"thread": "one", "words": " \n"}, "Nothing was said"),
        ("say", {"thread": "../x", "words": "hi"}, "expected a plain name"),
        ("say", {"thread": "one"}, "words"),
        ("say", {"thread": "one", "words": "x" * 1_000_000}, "at most 256 kB"),
        ("model", {"thread": "one", "name": "nope/x"}, "No model provider 'nope'"),
        ("model", {"thread": "two", "name": "nope/x"}, "There is no conversation 'two'"),
        ("replay", {"name": "walk.json", "text": "{"}, "walk.json: line 1, column 2"),
        ("replay", {"name": "walk.json", "text": "{}"}, "walk.json: format: Field required"),
        ("undo", {"thread": "one", "to": -1}, "to"),
    ],
)
def test_what_cannot_be_taken_is_one_line(
    chat: Chatting, what: str, body: dict[str, Any], line: str
) -> None:
    chat.open("one")
    error = chat.tell(what, **body)["error"]
    assert line in error
    assert "\n" not in error


@pytest.mark.slow
def test_a_thread_that_another_room_holds_is_said_and_offered_again(tmp_path: Path) -> None:
    folder = tmp_path / "threads"
    with chatting(folder) as one, chatting(folder) as other:
        one.said("evening", "go to the kitchen")
        with pytest.raises(AssertionError, match="is in use: leave the other chat"):
            other.open("evening")
        # One process holds both here, and calls what it holds its own.
        one.tell("rename", thread="evening", name="night")
        assert other.open("night")["poses"][-1][-1] == "kitchen"


def test_the_end_in_mid_walk_loses_no_hop(tmp_path: Path) -> None:
    with chatting(tmp_path, pace=0.2) as chat:
        chat.tell("say", thread="one", words="go to the kitchen")
        until(lambda: len(chat.open("one")["poses"]) > 2)
        whole = chat.open("one")["poses"]
    with chatting(tmp_path) as chat:
        again = chat.open("one")
        assert again["poses"][: len(whole)] == whole
        assert again["now"]["doing"] == "listening"
        assert (
            chat.said("one", "keep going")["transcript"][-1]["text"] == "I am in the kitchen now."
        )


def test_what_nobody_said_anything_in_is_not_kept(tmp_path: Path) -> None:
    with chatting(tmp_path) as chat:
        chat.open("one")
        assert (tmp_path / "one.sqlite").exists()
    assert not list(tmp_path.iterdir())


def test_threads_of_other_homes_come_with_the_command(tmp_path: Path) -> None:
    with chatting(tmp_path, "demo:flat") as chat:
        chat.said("flat", "turn left")
    with chatting(tmp_path) as chat:
        chat.said("mine", "turn left")
        mine, flat = chat.ask("threads")["threads"]
        assert (mine["name"], mine["here"], flat["here"]) == ("mine", True, False)
        assert flat["command"] == "navloom chat demo:flat --display web --thread flat"
        with pytest.raises(AssertionError, match=f"is in demo:flat, not in {HOME}"):
            chat.open("flat")


def test_a_limit_that_is_reached_is_a_line_and_loses_nothing(tmp_path: Path) -> None:
    with call_settings(gate=Budget(UsageLimits(token_limit=10))), chatting(tmp_path) as chat:
        chat.said("one", "turn left")
        chat.said("one", "turn right")
        whole = chat.open("one")
        assert [line["who"] for line in whole["lines"][-2:]] == ["person", "error"]
        assert "--token-limit 10 is reached" in whole["lines"][-1]["text"]
        assert whole["now"]["limits"][0].endswith("of 10 tokens of this sitting")


@pytest.mark.slow
def test_pictures_of_a_backend_that_has_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make() -> Context:
        simulator = get_simulator("embedded", get_scene("demo:flat"))
        return Context(model=get_model("builtin/heuristic"), simulator=simulator)

    monkeypatch.setattr("navloom.web.chat_service.can_render", lambda _: False)
    room = ChatService(make, tmp_path, pace=0.0)
    with serving(Documents([]), [room]) as served:
        chat = Chatting(served, room)
        assert chat.ask("home")["sees"] is True
        chat.open("one")
        first = chat.http.get("/chat/view/one").content
        assert first.startswith(b"\x89PNG")
        chat.said("one", "turn left")
        assert chat.http.get("/chat/view/one").content != first
        chat.http.close()
