"""The chat's panes, driven by textual's pilot."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pytest

pytest.importorskip("textual")

from textual.pilot import Pilot
from textual.widgets import Input, RichLog, Static

from navloom.cli.chat.tui import ChatApp, MapPane
from navloom.graphs.chat.chat_driver import ChatDriver
from navloom.graphs.chat.state import Context
from navloom.graphs.chat.threads import open_thread
from navloom.sim.graph import GraphSimulator
from tests.graphs.chat.chat_home import home

Shown: TypeAlias = tuple[ChatApp, Pilot[Any]]


@asynccontextmanager
async def panes(
    file: Path | None = None, pace: float = 0.0
) -> AsyncIterator[tuple[ChatApp, Pilot[Any]]]:
    app = ChatApp()
    async with open_thread(file) as saver:
        context = Context(simulator=GraphSimulator(home()))
        talk = ChatDriver(context, saver, app, pace=pace)
        app.prepare(talk, again=await talk.open(start="c0"))
        async with app.run_test(size=(120, 40)) as pilot:
            yield app, pilot


async def until(pilot: Pilot[Any], true: Callable[[], bool]) -> None:
    for _ in range(600):
        await pilot.pause(0.02)
        if true():
            return
    pytest.fail("it never came to be")


async def say(app: ChatApp, pilot: Pilot[Any], words: str) -> None:
    app.query_one(Input).value = words
    await pilot.press("enter")


def shown(app: ChatApp) -> str:
    return "\n".join(strip.text for strip in app.query_one(RichLog).lines)


def drawn(app: ChatApp) -> str:
    return str(app.query_one(MapPane).render())


def now(app: ChatApp) -> str:
    return str(app.query_one("#now", Static).render())


async def test_words_under_way_stand_below_and_go_when_the_line_is_there() -> None:
    async with panes() as (app, pilot):
        pane = app.query_one("#writing", Static)
        await pilot.pause()
        before = app.query_one(MapPane).size
        assert not pane.display
        for text in ("I am", "I am in the\x1b[2J [red]hall[/red]"):
            app.writing(text)
            await pilot.pause()
            assert pane.display
        assert str(pane.render()) == "robot  I am in the\ufffd[2J [red]hall[/red]"
        assert app.query_one(MapPane).size == before
        app.writing("")
        await pilot.pause()
        assert not pane.display


async def test_a_conversation_with_a_map() -> None:
    async with panes() as (app, pilot):
        await pilot.pause()
        assert "hallway" in drawn(app)
        assert "hallway, floor 1  ·  listening" in now(app)
        before = drawn(app)
        await say(app, pilot, "go to the kitchen")
        await until(pilot, lambda: "I am in the kitchen now." in shown(app))
        assert "kitchen, floor 1" in now(app)
        assert drawn(app) != before
        assert "you  go to the kitchen" in shown(app)
        await say(app, pilot, "go to the bedroom")
        await until(pilot, lambda: "Which one?" in shown(app))
        await say(app, pilot, "the second")
        await until(pilot, lambda: "I am in the bedroom now." in shown(app))
        await say(app, pilot, "go upstairs")
        await until(pilot, lambda: "attic, floor 2" in now(app))
        await say(app, pilot, "/undo")
        await until(pilot, lambda: "Undone: go upstairs" in shown(app))
        assert "you  go upstairs" not in shown(app)
        assert "bedroom, floor 1" in now(app)
        await say(app, pilot, "/replay")
        await until(pilot, lambda: "End of the replay." in shown(app))
        await say(app, pilot, "/quit")
        await until(pilot, lambda: not app.is_running)
        assert app.return_value == 0


async def test_a_new_line_and_ctrl_c_stop_a_walk() -> None:
    async with panes(pace=30) as (app, pilot):
        talk = app.talk
        assert talk is not None
        await say(app, pilot, "go to the bedroom 3")
        await until(pilot, lambda: talk.walking)
        assert "walking" in now(app)
        assert "◆" in drawn(app)
        await say(app, pilot, "where are you?")
        await until(pilot, lambda: "I am in the hallway, on floor 1." in shown(app))
        assert talk.trail[-1][0] == "c1"
        await say(app, pilot, "keep going")
        await until(pilot, lambda: talk.walking)
        await pilot.press("ctrl+c")
        await until(pilot, lambda: "I have stopped in the hallway." in shown(app))
        await until(pilot, lambda: not talk.busy)
        await pilot.press("ctrl+c")
        await until(pilot, lambda: "Nothing is under way." in shown(app))


async def test_what_was_said_before_is_shown_again(tmp_path: Path) -> None:
    async with panes(tmp_path / "t.sqlite") as (app, pilot):
        await say(app, pilot, "go to the kitchen")
        await until(pilot, lambda: "I am in the kitchen now." in shown(app))
    async with panes(tmp_path / "t.sqlite") as (app, pilot):
        await until(pilot, lambda: "I am in the kitchen now." in shown(app))
        whole = drawn(app)
        await pilot.resize_terminal(60, 20)
        await until(pilot, lambda: drawn(app) != whole and "┌" in drawn(app))


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 20), (48, 40), (40, 18)])
async def test_nothing_is_cut_at_any_size(size: tuple[int, int]) -> None:
    async with panes() as (app, pilot):
        await say(app, pilot, "what do you see?")
        await until(pilot, lambda: "hallway" in shown(app))
        whole = "".join(shown(app).split())
        await pilot.resize_terminal(*size)
        log = app.query_one(RichLog)
        await until(pilot, lambda: tuple(app.size) == size)
        await pilot.pause(0.2)
        assert "".join(shown(app).split()) == whole
        assert max(strip.cell_length for strip in log.lines) <= log.scrollable_content_region.width
        legend = app.query_one("#legend", Static)
        assert len(str(legend.render())) <= legend.size.width * legend.size.height
        line = app.query_one("#now", Static)
        assert len(now(app)) <= line.size.width * line.size.height


async def test_mistakes_stand_in_the_conversation() -> None:
    async with panes() as (app, pilot):
        await say(app, pilot, "/model nope/x")
        await until(pilot, lambda: "No model provider 'nope'" in shown(app))
        await say(app, pilot, "/mop")
        await until(pilot, lambda: "There is no command /mop." in shown(app))
        await say(app, pilot, "[bold]hello[/nothing] \x1b[31m")
        await until(pilot, lambda: "[bold]hello[/nothing]" in shown(app))
        await asyncio.sleep(0)
