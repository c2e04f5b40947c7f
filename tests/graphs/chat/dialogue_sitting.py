"""Run one written dialogue as the command line does, and record the result of each turn."""

from __future__ import annotations

import math
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from navloom.cli.chat.slash_commands import run_command
from navloom.graphs.chat.chat_driver import ChatDisplay, ChatDriver
from navloom.scenes.scene import Scene
from tests.graphs.chat.dialogue_file import Turn

__all__ = ["SAME", "After", "Sitting", "View"]

SAME = 0.35
"""Tolerance in radians for two headings to count as equal."""


@dataclass
class View(ChatDisplay):
    """A display that keeps what it shows."""

    lines: list[tuple[str, str]] = field(default_factory=list)
    at: str = ""
    hops_left: int = 0
    then: Callable[[], None] | None = None

    def said(self, who: str, text: str) -> None:
        self.lines.append((who, text))

    def moved(self, pose: Mapping[str, Any]) -> None:
        hopped, self.at = pose["viewpoint"] != self.at, pose["viewpoint"]
        self.hops_left -= hopped
        if hopped and self.hops_left == 0 and self.then is not None:
            self.then()

    def show_map(self, trail: Sequence[Sequence[Any]]) -> None:
        self.lines.append(("note", f"map of {len(trail)} poses"))

    def play(self, trail: Sequence[Sequence[Any]]) -> None:
        """Do nothing; there is no viewer."""

    def redraw(self) -> None:
        """Do nothing; old lines are not repeated."""


@dataclass(frozen=True)
class _Stand:
    """State of a conversation: the pose, and every line so far."""

    viewpoint: str
    heading: float
    lines: tuple[tuple[str, str], ...]
    asked: bool

    def is_like(self, other: _Stand) -> bool:
        turn = math.remainder(self.heading - other.heading, math.tau)
        same = (self.viewpoint, self.lines, self.asked) == (
            other.viewpoint,
            other.lines,
            other.asked,
        )
        return same and abs(turn) < SAME


@dataclass(frozen=True)
class After:
    """Result of a turn: state before and after, answer, path, undo and end."""

    scene: Scene
    before: _Stand
    now: _Stand
    reply: str
    way: tuple[str, ...]
    undone: bool
    ended: bool

    @property
    def room(self) -> str | None:
        """Region that the robot stands in."""
        return self.scene.viewpoint_by_id[self.now.viewpoint].region


class Sitting:
    """One dialogue in progress, with the calls that the command line makes."""

    def __init__(self, talk: ChatDriver, view: View) -> None:
        self.talk, self.view, self.ended = talk, view, False
        self._earlier: list[tuple[_Stand, bool]] = []

    async def take(self, turn: Turn, cut: Turn | None) -> tuple[After, str]:
        """Take a turn, and one that cuts in on it; return the result and an error message."""
        before, poses, first = self._stand(), len(self.talk.trail), len(self.view.lines)
        stopped: list[Coroutine[Any, Any, None]] = []
        hops = cut.cuts_in_after_hops if cut else turn.interrupt_after_hops

        def interrupt() -> None:
            nonlocal first
            first = len(self.view.lines)
            if self.talk.goal is not None:
                self.talk.stop_current()
                stopped.append(self._type(cut.say if cut else None, walking=True))

        self.view.at, self.view.hops_left = before.viewpoint, hops or 0
        self.view.then = interrupt if hops else None
        await self._type(turn.say)
        for each in stopped:
            await each
        fault = "the walk was over before it could be stopped" if hops and not stopped else ""
        reply = " ".join(text for who, text in self.view.lines[first:] if who != "person")
        after, way = self._stand(), tuple(pose[0] for pose in self.talk.trail[poses:])
        undone = self._went_back(after) if (cut or turn).say.startswith("/undo") else False
        return After(self.talk.scene, before, after, reply, way, undone, self.ended), fault

    async def _type(self, words: str | None, *, walking: bool = False) -> None:
        command = words is not None and words.lstrip().startswith("/")
        if walking and (command or words is None):
            await self.talk.hear(None)
        if words is None:
            return
        if command:
            self.ended = await run_command(words, self.talk, self.view)
            return
        stand = self._stand()
        self._earlier.append((stand, stand.asked or walking))
        await self.talk.hear(words)
        self.ended = bool(self.talk.state.get("over"))

    def _stand(self) -> _Stand:
        state = self.talk.state
        lines = tuple((line["who"], line["text"]) for line in self.talk.transcript)
        pose = state["pose"]
        return _Stand(pose["viewpoint"], pose["heading"], lines, bool(state.get("question")))

    def _went_back(self, now: _Stand) -> bool:
        """Check that the state equals an earlier one that ``/undo`` may return to.

        That is the state before the last instruction, or before the one that it belongs to. An
        answer belongs to its question, and words that stopped a walk belong to that walk.
        """
        while self._earlier:
            then, belongs = self._earlier.pop()
            if then.is_like(now):
                return True
            if not belongs:
                break
        return False
