"""The written dialogues go the same ways in the browser's room as at the terminal, pose by pose.

All go through the addresses that the page uses, on a real server; some are typed into the page
itself. Where words cut in on a walk both are told so in the pause before the same hop.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from navloom.graphs.chat.chat_driver import ChatDisplay, ChatDriver
from navloom.graphs.chat.state import Context
from navloom.graphs.chat.threads import open_thread
from navloom.models.model_registry import get_model
from navloom.sim.registry import get_simulator
from tests.graphs.chat.dialogue_file import Dialogue, Turn, read_dialogues
from tests.web.browsing import browser, needs_browser, page_of
from tests.web.chatting import Chatting, chatting, until
from tests.web.test_chat_browser import FIELD, Person

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
WRITTEN = Path(__file__).parents[1] / "graphs" / "chat" / "dialogues.yaml"
LONG = 60.0
"""Seconds of a pause that only words end."""
Turns = Iterator[tuple[Turn, Turn | None]]


class Hops:
    """Counts the hops of a walk, and holds the robot before the one after so many."""

    def __init__(self, talk: ChatDriver) -> None:
        self.talk, self.left, self.at, self._due = talk, 0, "", False
        self.held = threading.Event()
        talk.context = replace(talk.context, before_hop=self._before_hop)

    def begin(self, hops: int) -> None:
        self.left, self.at, self._due = hops, self.talk.trail[-1][0], False
        self.held.clear()

    def moved(self, pose: Mapping[str, Any]) -> None:
        hopped, self.at = pose["viewpoint"] != self.at, pose["viewpoint"]
        self.left -= hopped
        if hopped and self.left == 0 and self.talk.goal is not None:
            self._due = True

    async def _before_hop(self) -> None:
        # Whoever speaks waits until it is held: words then always come in this very pause.
        if self._due:
            self._due, self.talk.pace = False, LONG
            self.held.set()
            await self.talk._pause()
            self.talk.pace = 0.0


def turns_of(dialogue: Dialogue) -> Turns:
    """Each turn with the one that cuts in on it."""
    for turn, later in zip(dialogue.turns, (*dialogue.turns[1:], None), strict=True):
        if not turn.cuts_in_after_hops:
            yield turn, later if later is not None and later.cuts_in_after_hops else None


def hops_of(turn: Turn, cut: Turn | None) -> int:
    return (cut.cuts_in_after_hops if cut else turn.interrupt_after_hops) or 0


class _Display(ChatDisplay):
    def __init__(self) -> None:
        self.hops: Hops | None = None

    def said(self, who: str, text: str) -> None:
        """Nobody reads it."""

    def moved(self, pose: Mapping[str, Any]) -> None:
        if self.hops is not None:
            self.hops.moved(pose)


async def at_the_terminal(dialogue: Dialogue) -> Any:
    """Poses and lines of a dialogue, taken as a terminal takes them."""
    shown = _Display()
    simulator = get_simulator("graph", dialogue.home)
    async with open_thread(None) as saver:
        context = Context(model=get_model("builtin/heuristic"), simulator=simulator)
        talk = ChatDriver(context, saver, shown)
        await talk.open(**({"start": dialogue.start} if dialogue.start else {}))
        shown.hops = hops = Hops(talk)
        for turn, cut in turns_of(dialogue):
            if turn.say == "/undo":
                await talk.undo()
            if turn.say.startswith("/"):
                continue
            hops.begin(hops_of(turn, cut))
            under_way = asyncio.create_task(talk.hear(turn.say))
            while not under_way.done() and not hops.held.is_set():
                await asyncio.sleep(0)
            if hops.held.is_set():
                await talk.hear(cut.say if cut and not cut.say.startswith("/") else None)
            await under_way
            if cut and cut.say == "/undo":
                await talk.undo()
            if talk.state.get("over"):
                break
        await talk.close()
    return [pose[:3] for pose in talk.trail], [line["text"] for line in talk.transcript]


def in_the_room(chat: Chatting, dialogue: Dialogue, say: Callable[[str], None]) -> Any:
    """The same through the room; ``say`` takes a line, a command or Esc."""
    thread = dialogue.id
    talk = chat.sitting(thread).talk
    hops = Hops(talk)
    sitting, told = chat.sitting(thread), chat.sitting(thread).moved

    def moved(pose: Mapping[str, Any]) -> None:
        told(pose)
        hops.moved(pose)

    sitting.moved = moved  # type: ignore[method-assign]
    for turn, cut in turns_of(dialogue):
        if turn.say.startswith("/") and turn.say != "/undo":
            continue
        hops.begin(hops_of(turn, cut))
        before = len(talk.transcript)
        say(turn.say)
        until(lambda n=before: len(talk.transcript) != n or not sitting.busy)
        until(lambda: hops.held.is_set() or not sitting.busy)
        if hops.held.is_set():
            plain = cut and (cut.say == "/undo" or not cut.say.startswith("/"))
            say(cut.say if cut and plain else "Esc")
            until(lambda: not sitting.busy)
        if talk.state.get("over"):
            break
    saved = chat.ask(f"save/{thread}")
    return saved["trajectory"], [line["text"] for line in saved["transcript"]]


def over_http(chat: Chatting, thread: str) -> Callable[[str], None]:
    def say(words: str) -> None:
        if words == "/undo":
            assert "words" in chat.tell("undo", thread=thread)
        elif words == "Esc":
            assert chat.tell("stop", thread=thread) == {}
        else:
            assert chat.tell("say", thread=thread, words=words) == {}

    return say


def by_place(dialogues: list[Dialogue]) -> Iterator[tuple[str, dict[str, str], list[Dialogue]]]:
    def place(each: Dialogue) -> tuple[str, str]:
        return each.home, each.start or ""

    for (home, start), those in groupby(sorted(dialogues, key=place), place):
        yield home, {"start": start} if start else {}, list(those)


def test_the_same_walks_as_at_the_terminal(tmp_path: Path) -> None:
    dialogues = read_dialogues(WRITTEN)
    differ, moved = [], 0
    for home, start, those in by_place(dialogues):
        with chatting(tmp_path, home, start=start) as chat:
            for each in those:
                chat.open(each.id)
                came = in_the_room(chat, each, over_http(chat, each.id))
                wanted = asyncio.run(at_the_terminal(each))
                moved += len(wanted[0]) > 1
                if came != (wanted[0], wanted[1]):
                    differ.append(f"{each.id}: {came} != {wanted}")
    assert differ == []
    assert len(dialogues) >= 16
    assert moved >= 10


@pytest.mark.browser
@needs_browser
def test_ten_are_typed_into_the_page(tmp_path: Path) -> None:
    every = read_dialogues(WRITTEN)
    cuts = [each for each in every if any(hops_of(*both) for both in turns_of(each))]
    chosen = {each.id: each for each in (*every[:9], *cuts)}
    assert len(chosen) >= 10
    # Playwright's own loop runs in this thread from here on.
    wanted = {each.id: asyncio.run(at_the_terminal(each)) for each in chosen.values()}
    with browser() as opened:
        for home, start, those in by_place(list(chosen.values())):
            with (
                chatting(tmp_path, home, start=start) as chat,
                page_of(opened, chat.served.origin) as watched,
            ):
                for each in those:
                    person = Person(watched).open(chat.served, each.id)
                    came = in_the_room(chat, each, _typed(person))
                    assert came == wanted[each.id], each.id
                assert watched.wrong == []


def _typed(person: Person) -> Callable[[str], None]:
    def say(words: str) -> None:
        if words == "Esc":
            person.does("walking")
        with person.page.expect_response(lambda told: told.request.method == "POST"):
            if words == "Esc":
                person.page.press(FIELD, "Escape")
            else:
                person.says(words)

    return say
