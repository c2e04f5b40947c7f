"""The chat in Chromium: orders, stop, undo, reload, kill, the terminal; keys, axe, words."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from navloom.models.model_registry import get_model
from navloom.testing import Cut, ModelServer
from tests.cli.pseudo_terminal import Terminal
from tests.web.browsing import Watched, browser, needs_browser, page_of
from tests.web.chatting import Chatting, chatting
from tests.web.conftest import TOKEN, Served

pytestmark = [pytest.mark.browser, pytest.mark.slow, needs_browser, pytest.mark.timeout(300)]
FIELD, CHOICE = ".chat-field textarea", ".chat-choices button"


class Person:
    """Somebody in front of the page."""

    def __init__(self, watched: Watched) -> None:
        self.watched, self.page = watched, watched.page

    def open(self, served: Served, thread: str = "evening") -> Person:
        self.watched.open(served.address(f"/chat/{thread}"))
        self.does("listening", "asking")
        return self

    def says(self, words: str) -> None:
        self.page.fill(FIELD, words)
        self.page.press(FIELD, "Enter")

    def does(self, *what: str) -> None:
        """Wait until the robot does one of these."""
        self.page.wait_for_function(
            "(what) => what.includes((document.querySelector('.doing') || {dataset: {}})"
            ".dataset.doing)",
            arg=list(what),
        )

    def hears(self, words: str) -> None:
        """Wait for a line that says so."""
        self.page.wait_for_function(
            "(words) => [...document.querySelectorAll('.chat-line:not(.writing) p')]"
            ".some((line) => line.textContent.includes(words))",
            arg=words,
        )

    def lines(self) -> list[str]:
        found = self.page.query_selector_all(".chat-line:not(.writing) p")
        return [each.text_content() for each in found]


@pytest.fixture(scope="module")
def opened() -> Iterator[Any]:
    with browser() as made:
        yield made


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[Chatting]:
    with chatting(tmp_path / "threads", pace=0.05) as made:
        yield made


@pytest.fixture
def person(opened: Any, chat: Chatting) -> Iterator[Person]:
    with page_of(opened, chat.served.origin) as watched:
        yield Person(watched).open(chat.served)
        # Chromium tells of every refusal, also of those that were asked for.
        assert [each for each in watched.wrong if "status of 422" not in each] == []


def test_order_question_stop_undo_and_taking_up_again(person: Person, chat: Chatting) -> None:
    page = person.page
    person.says("go to the kitchen")
    person.hears("I am in the kitchen now.")
    assert "kitchen" in page.inner_text(".chat-map .where").lower()
    page.click(".chat-calls summary")
    assert "go_to(place: the kitchen)" in page.inner_text(".chat-calls")
    chat.sitting("evening").talk.pace = 30
    person.says("go to the bedroom")
    person.does("walking")
    page.keyboard.press("Escape")
    person.hears("I have stopped in the")
    chat.sitting("evening").talk.pace = 0
    person.says("keep going")
    person.hears("I am in the bedroom now.")
    page.hover(".of-person >> nth=1")
    page.click(".undo >> nth=1")
    page.wait_for_function("() => document.querySelectorAll('.of-person').length === 1")
    assert person.lines() == ["go to the kitchen", "I am in the kitchen now."]
    assert page.input_value(FIELD) == "go to the bedroom"
    page.fill(FIELD, "")
    page.focus(".chat-lines")
    page.keyboard.press("u")
    page.wait_for_function("() => !document.querySelector('.of-person')")
    assert len(chat.open("evening")["poses"]) == 1


def test_a_question_is_answered_by_a_button_and_by_its_number(opened: Any, tmp_path: Path) -> None:
    with chatting(tmp_path, "home:12") as chat, page_of(opened, chat.served.origin) as watched:
        person = Person(watched).open(chat.served)
        for answer in ("click", "key"):
            person.says("go to the bedroom")
            person.does("asking")
            choices = [each.inner_text() for each in watched.page.query_selector_all(CHOICE)]
            assert len(choices) > 1
            assert choices[0].startswith("1")
            assert watched.violations() == []
            if answer == "click":
                watched.page.click(f"{CHOICE} >> nth=1")
            else:
                watched.page.keyboard.press("2")
            person.hears("I am in the bedroom")
            person.does("listening")
            assert not watched.page.query_selector(CHOICE)
            watched.page.press(FIELD, "Escape")
            watched.page.keyboard.press("u")
            watched.page.wait_for_function("() => !document.querySelector('.of-person')")
            assert watched.page.input_value(FIELD) == "go to the bedroom"
        assert watched.wrong == []


def test_new_words_end_a_walk_and_a_reload_finds_it_under_way(
    person: Person, chat: Chatting, opened: Any
) -> None:
    chat.sitting("evening").talk.pace = 30
    person.says("go to the kitchen")
    person.does("walking")
    person.page.reload()
    person.does("walking")
    assert person.lines() == ["go to the kitchen"]
    with page_of(opened, chat.served.origin) as other:
        second = Person(other)
        other.open(chat.served.address("/chat/evening"))
        second.does("walking")
        second.says("where are you?")
        chat.sitting("evening").talk.pace = 0
        for each in (person, second):
            each.hears("I am in the living room.")
            each.does("listening")
        assert second.lines() == person.lines()


def test_a_click_on_the_plan_writes_a_name_and_says_nothing(person: Person, chat: Chatting) -> None:
    page = person.page
    page.locator('svg.plan [data-layer="rooms"] [data-id="Kitchen_4"]').dispatch_event("click")
    page.wait_for_function(
        "() => document.querySelector('.chat-field textarea').value === 'the kitchen'"
    )
    assert person.lines() == []
    page.fill(FIELD, "go to the")
    page.focus(".names > summary")
    page.keyboard.press("Enter")
    page.click(".names details >> nth=1")
    page.click(".names details[open] button >> nth=0")
    page.wait_for_function(
        "() => document.querySelector('.chat-field textarea').value === 'go to the living room'"
    )


def test_threads_are_made_switched_renamed_and_deleted(person: Person, chat: Chatting) -> None:
    page = person.page
    person.says("go to the kitchen")
    person.hears("I am in the kitchen now.")
    page.click(".chat-threads .new")
    page.wait_for_function("() => location.hash === '#/chat/demo-house'")
    person.does("listening")
    person.says("turn left")
    person.hears("turn")
    page.click("[aria-label='rename demo-house']")
    page.fill("dialog input", "evening")
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog .bad:not(:empty)")
    page.fill("dialog input", "night")
    page.keyboard.press("Enter")
    page.wait_for_function("() => location.hash === '#/chat/night'")
    person.hears("turn left")
    page.click(".chat-threads a >> text=evening")
    person.hears("I am in the kitchen now.")
    page.hover(".chat-threads li:has-text('night')")
    page.click("[aria-label='delete night']")
    page.click("dialog .danger")
    page.wait_for_selector("dialog", state="detached")
    assert [each["name"] for each in chat.ask("threads")["threads"]] == ["evening"]


def test_saved_replayed_and_what_is_no_saved_file(
    person: Person, chat: Chatting, tmp_path: Path
) -> None:
    page = person.page
    person.says("go to the kitchen")
    person.hears("I am in the kitchen now.")
    page.click(".chat-now .menu summary")
    with page.expect_download() as given:
        page.click("text=Save the conversation")
    given.value.save_as(tmp_path / "walk.json")
    saved = json.loads((tmp_path / "walk.json").read_text())
    assert saved["transcript"][0]["text"] == "go to the kitchen"
    person.says("go to the study")
    person.hears("I am in the study now.")
    page.set_input_files(".chat-foot input[type=file]", tmp_path / "walk.json")
    page.wait_for_selector("text=End of the replay of walk.json: 2 lines")
    assert person.lines() == ["go to the kitchen", "I am in the kitchen now."]
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.wait_for_selector(".chat-replay", state="hidden")
    assert len(person.lines()) == 4
    (tmp_path / "none.json").write_text('{"format": "other"}')
    page.set_input_files(".chat-foot input[type=file]", tmp_path / "none.json")
    page.wait_for_selector(".chat-problem:has-text('none.json: format')")
    person.says("x" * 1_000_000)
    page.wait_for_selector(".chat-problem:has-text('1,000,000 characters')")
    assert len(page.input_value(FIELD)) == 1_000_000
    person.says("/model nope/x")
    page.wait_for_selector(".chat-problem:has-text(\"No model provider 'nope'\")")


@pytest.mark.parametrize(
    ("width", "scheme"), [(1280, "light"), (1280, "dark"), (360, "light"), (360, "dark")]
)
def test_without_a_complaint(opened: Any, chat: Chatting, width: int, scheme: str) -> None:
    chat.open("evening")
    with page_of(opened, chat.served.origin, width=width, scheme=scheme) as watched:
        person = Person(watched).open(chat.served)
        assert watched.violations() == []
        person.says("go to the kitchen")
        person.hears("I am in the kitchen now.")
        watched.page.evaluate("document.querySelector('.chat-calls').open = true")
        assert watched.violations() == []
        assert watched.page.evaluate("document.documentElement.scrollWidth") <= width
        assert watched.page.evaluate("document.documentElement.scrollHeight") <= 800
        assert watched.wrong == []


def test_all_is_reached_by_keys(person: Person, chat: Chatting) -> None:
    keys = person.page.keyboard
    person.page.focus(FIELD)
    keys.type("go to the kitchen")
    keys.press("Enter")
    person.hears("I am in the kitchen now.")
    keys.press("Escape")
    keys.press("n")
    person.page.wait_for_function("() => location.hash === '#/chat/demo-house'")
    keys.press("Escape")
    keys.press("t")
    assert person.page.evaluate("!!document.activeElement.closest('.chat-threads')")
    keys.press("Escape")
    keys.press("?")
    assert "take back the last instruction" in person.page.inner_text("dialog")
    keys.press("Escape")
    keys.press("i")
    keys.type("turn left")
    keys.press("Enter")
    person.hears("turn")
    reached = set()
    for _ in range(40):
        keys.press("Tab")
        reached.add(
            person.page.evaluate(
                "document.activeElement.closest('.chat-threads, .chat-talk, .chat-map')?.className"
            )
        )
    assert {"chat-threads", "chat-talk", "map chat-map"} <= reached


def started(folder: Path, *more: str) -> tuple[subprocess.Popen[str], int]:
    """The command in a process of its own, and its port."""
    command = [
        sys.executable,
        "-m",
        "navloom",
        "chat",
        "demo:house",
        "--display",
        "web",
        "--thread",
    ]
    command += ["evening", "--no-open", "--port", "0", "--token", TOKEN, *more]
    home = {"XDG_DATA_HOME": str(folder), "XDG_CACHE_HOME": str(folder)}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, **home}
    )
    line = process.stdout.readline()  # type: ignore[union-attr]
    return process, int(line.split("127.0.0.1:")[1].split("/")[0])


def test_killed_in_mid_walk_resumed_in_the_terminal_and_back(opened: Any, tmp_path: Path) -> None:
    first, port = started(tmp_path, "--pace", "1")
    with page_of(opened, f"http://127.0.0.1:{port}") as watched:
        person = Person(watched).open(Served(port))
        person.says("go to the kitchen")
        person.does("walking")
        person.page.wait_for_function(
            "() => /living/i.test(document.querySelector('.where').textContent)"
        )
        first.kill()
        first.wait()
        person.page.wait_for_selector(".chat-problem:has-text('The server does not answer')")
    environment = {"XDG_DATA_HOME": str(tmp_path), "NAVLOOM_PACE": "0"}
    command = ("chat", "demo:house", "--display", "plain", "--thread", "evening")
    with Terminal(*command, environment=environment) as typed:
        typed.wait_for("The robot is in the living room", "you: go to the kitchen", "you> ")
        typed.type("keep going")
        typed.wait_for("robot: I am in the kitchen now.", "you> ")
        # The terminal holds the thread: a browser is told so, and may ask again.
        second, port = started(tmp_path)
        try:
            with page_of(opened, f"http://127.0.0.1:{port}") as watched:
                person = Person(watched)
                watched.page.goto(Served(port).address("/chat/evening"))
                watched.page.wait_for_selector(".chat-problem:has-text('is in use')")
                typed.type("/quit")
                assert typed.end() == 0
                watched.page.click("text=Try again")
                person.hears("I am in the kitchen now.")
                person.says("where are you?")
                person.hears("I am in the kitchen. From here")
        finally:
            second.send_signal(signal.SIGINT)
            assert second.wait(20) == 0


GO = AIMessage("", tool_calls=[{"name": "go_to", "args": {"place": "kitchen"}, "id": "c"}])
SAID = "I am in the kitchen now. There is a fridge, and a long table by the window, and more."


@dataclass(frozen=True)
class Slowly(Cut):
    """A reply whose pieces come one by one, whole or cut off."""

    whole: bool = False

    def pieces(self, exchange: Any, pieces: Sequence[bytes]) -> Iterator[bytes]:
        sent = pieces if self.whole else super().pieces(exchange, pieces)
        for each in sent:
            time.sleep(0.05)
            yield each


WRITTEN = """() => { window.told = []; window.most = 0;
    new MutationObserver(() => {
      const now = document.querySelector('.writing:not(.waits) p');
      window.told.push(now ? now.textContent : '');
      const all = document.querySelector('.chat-lines').textContent;
      window.most = Math.max(window.most, all.split('I am in the').length - 1);
    }).observe(document.querySelector('.chat-lines'),
      {subtree: true, childList: true, characterData: true});
}"""


@pytest.mark.parametrize("fault", [Slowly(whole=True), Slowly(), Slowly(politely=True)])
def test_words_as_they_come_none_twice_and_no_half_reply(
    opened: Any, tmp_path: Path, fault: Slowly
) -> None:
    said = [GO, SAID] if fault.whole else [GO, SAID, SAID]
    with ModelServer(said, faults=[None, fault, Slowly(whole=True)]) as server:
        model = get_model("openai/gpt-4o", base_url=server.openai_url, api_key="test")
        with (
            chatting(tmp_path, model=model) as chat,
            page_of(opened, chat.served.origin) as watched,
        ):
            person = Person(watched).open(chat.served)
            watched.page.evaluate(WRITTEN)
            person.says("go to the kitchen")
            person.hears(SAID)
            person.does("listening")
            assert person.lines() == ["go to the kitchen", SAID]
            assert watched.page.query_selector(".writing") is None
            written = [each for each in watched.page.evaluate("window.told") if each]
            assert watched.page.evaluate("window.most") == 1
            person.page.reload()
            person.hears(SAID)
            assert person.lines() == ["go to the kitchen", SAID]
            assert watched.wrong == []
        assert len(server.calls) == len(said)
    grown = list(dict.fromkeys(written))
    assert len(grown) > 3
    assert all(SAID.startswith(each) for each in grown)
    # Of two attempts the second begins anew: its words are shorter than what was there.
    shorter = [len(now) < len(before) for before, now in pairwise(written)]
    assert any(shorter) is not fault.whole


def test_a_browser_that_goes_in_mid_walk_stops_nothing(opened: Any, tmp_path: Path) -> None:
    with chatting(tmp_path, pace=0.05) as chat:
        with page_of(opened, chat.served.origin) as watched:
            person = Person(watched).open(chat.served)
            person.says("go to the kitchen")
            person.does("walking")
        time.sleep(0.1)
        assert chat.settled("evening")["transcript"][-1]["text"] == "I am in the kitchen now."
