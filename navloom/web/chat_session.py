"""One open conversation of the web chat: its events are numbered and streamed to all its pages.

A page that reconnects sends the number of its last event and receives the events after it. A page
without a number, or with one that is too old, receives the whole state. All pages receive the same
events.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from contextvars import Context as Settings
from pathlib import Path
from secrets import token_hex
from typing import Any

from navloom.errors import NavloomError
from navloom.graphs.chat.chat_driver import ChatDisplay, ChatDriver
from navloom.graphs.chat.state import Context
from navloom.graphs.chat.threads import open_thread
from navloom.models.model_call import current_settings
from navloom.models.redaction import error_line, redact
from navloom.models.usage import Budget, ModelUsage, total_cost
from navloom.scenes.scene import Scene
from navloom.tools.chat.places import room_name

_KEPT = 2_000
"""Number of past events that a page can still catch up on one by one."""
_BEAT_S, _BREATH_S = 10.0, 0.03
"""Seconds between two beats of an idle stream, and between two events."""
_LATEST = ("writing", "now", "threads")
"""Kinds of events of which only the latest matters."""


class LiveChat(ChatDisplay):
    """An open thread of the chat, and the pages that watch it.

    Args:
        name: the thread's name.
        settings: context of model calls: limits, keys, retries.
        changed: called when the list of threads has changed.
    """

    def __init__(self, name: str, settings: Settings, changed: Callable[[], None]) -> None:
        self.name = name
        self.epoch = token_hex(4)
        self.watchers = 0
        self.talk: ChatDriver
        self.gone: dict[str, Any] | None = None
        self.view: tuple[Any, bytes] = (None, b"")
        self._settings, self._on_change = settings, changed
        self._stack = AsyncExitStack()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._log: deque[tuple[int, str, Any]] = deque()
        self._number = self._lost = 0
        self._changed = asyncio.Event()
        self._lines: list[dict[str, Any]] = []
        self._written = ""
        self._shown = 0
        self._now: dict[str, Any] = {}

    async def open(
        self, file: Path, make: Callable[[], Context], start: Mapping[str, Any], **how: Any
    ) -> None:
        """Begin the conversation, or resume it.

        Args:
            file: the thread's file.
            make: makes its context, with a simulator of its own.
            start: the chat graph's input for a new conversation.
            how: pace and seed.

        Raises:
            UsageError: another process has it open, or it cannot be resumed.
        """
        async with AsyncExitStack() as stack:
            saver = await stack.enter_async_context(open_thread(file))
            context = await asyncio.to_thread(make)
            self.talk = ChatDriver(context, saver, self, thread=self.name, **how)
            await self.talk.open(**start)
            self._stack = stack.pop_all()
        self._anew()

    async def close(self, why: Mapping[str, Any]) -> bool:
        """Stop and save what is in progress, and close the thread's file.

        Args:
            why: sent to the pages that still watch.

        Returns:
            True if the conversation has any lines.
        """
        self.gone = dict(why)
        while self._tasks:
            # The next waiting task starts when this one is broken off; break it off as well.
            self.talk.stop_current()
            await asyncio.wait(self._tasks, timeout=_BREATH_S)
        await self.talk.close()
        await self._stack.aclose()
        self._wake()
        return bool(self.talk.transcript)

    @property
    def busy(self) -> bool:
        """True while the robot is working on something."""
        return self.talk.busy or bool(self._tasks)

    # Input from pages.

    def run_task(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Return a task that runs a coroutine, whether or not the page that asked for it waits."""
        task = asyncio.create_task(self._done(work), context=self._settings.copy())
        self._tasks.add(task)
        task.add_done_callback(self._over)
        return task

    def _over(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        self._wake()

    async def _done(self, work: Coroutine[Any, Any, Any]) -> Any:
        try:
            return await work
        except (NavloomError, sqlite3.Error) as error:
            self.said("error", error_line(error))
        except Exception as error:
            # The conversation can go on.
            logging.getLogger("navloom").exception("a defect of Navloom")
            self.said("error", f"a defect of Navloom: {error_line(error)}")
        finally:
            self.send_state()

    def hear(self, words: str | None) -> None:
        """Process the user's words; None stops the robot."""
        first = not self.talk.transcript
        self.run_task(self.talk.hear(words))
        if first:
            self._on_change()

    async def undo(self, to: int | None) -> str | None:
        """Go back to before a line of the user's, by its place in the transcript.

        Returns:
            The words of that line; None if there is nothing to undo.
        """
        words: str | None = await self.run_task(self._undone(to))
        return words

    async def _undone(self, to: int | None) -> str | None:
        words = await self.talk.undo(to)
        if words is not None:
            self._anew()
        return words

    def use_model(self, name: str) -> None:
        """Use another model from now on.

        Raises:
            NavloomError: there is no such model, or a limit cannot be enforced with it.
        """
        self._settings.copy().run(self.talk.use_model, name)
        self.send_state()

    # Events to pages.

    def said(self, who: str, text: str) -> None:
        """Add a new line of the conversation and send it to the pages."""
        line = {"who": who, "text": redact(text), "line": None, "at": len(self.talk.trail)}
        if who != "error":
            line |= _line(len(self.talk.transcript) - 1, self.talk.transcript[-1])
        self._lines.append(line)
        self._tell("line", line)
        self.send_state()

    def writing(self, text: str) -> None:
        """Send the part of a line that the model has written so far."""
        self._written = redact(text)
        self._tell("writing", self._written)

    def called(self, call: Mapping[str, Any]) -> None:
        """Send a tool call, or its result."""
        self._tell("call", dict(call))

    def moved(self, pose: Mapping[str, Any]) -> None:  # noqa: ARG002  the trail has it
        """Send the robot's new poses."""
        trail = self.talk.trail
        if len(trail) > self._shown:
            self._tell("poses", self.poses(trail[self._shown :]))
            self._shown = len(trail)
        self.send_state()

    def tell_threads(self) -> None:
        """Tell the pages that the list of threads has changed."""
        self._tell("threads", None)

    def send_state(self) -> None:
        """Send the conversation's current state if the state has changed."""
        now = self.now()
        if now != self._now:
            self._now = now
            self._tell("now", now)

    def _anew(self) -> None:
        """Reset the state after an undo or a resume, and send all of it."""
        self._lines = [_line(n, each) for n, each in enumerate(self.talk.transcript)]
        self._shown, self._now, self._written = len(self.talk.trail), self.now(), ""
        self._tell("whole", None)

    def _tell(self, kind: str, what: Any) -> None:
        if kind in _LATEST and self._log and self._log[-1][1] == kind:
            self._log.pop()
        self._number += 1
        self._log.append((self._number, kind, what))
        while len(self._log) > _KEPT:
            self._lost = self._log.popleft()[0]
        self._wake()

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def events(self, after: str) -> AsyncIterator[str]:
        """Yield the conversation's events from now on, as server-sent events.

        Args:
            after: the last event that the page has, ``EPOCH-NUMBER``; empty: none.
        """
        seen = self._known(after)
        if seen is None:
            seen = self._number
            yield self._event(seen, "whole", self.whole())
        self.watchers += 1
        try:
            while True:
                changed = self._changed
                for number, kind, what in [each for each in self._log if each[0] > seen]:
                    seen = number
                    if kind == "whole":
                        # It includes all later events.
                        what, seen = self.whole(), self._number
                    yield self._event(seen, kind, what)
                    if kind == "whole":
                        break
                if self.gone is not None:
                    yield self._event(seen, "gone", self.gone)
                    return
                if seen == self._number and not await _within(changed, _BEAT_S):
                    yield ": beat\n\n"
                # A model writes faster than a person reads.
                await asyncio.sleep(_BREATH_S)
        finally:
            self.watchers -= 1

    def _known(self, after: str) -> int | None:
        epoch, _, number = after.partition("-")
        if epoch != self.epoch or not (number.isascii() and number.isdigit() and len(number) < 12):
            return None
        return int(number) if self._lost <= int(number) <= self._number else None

    def _event(self, number: int, kind: str, what: Any) -> str:
        told = json.dumps({"kind": kind, "what": what}, ensure_ascii=False, default=str)
        return f"id: {self.epoch}-{number}\ndata: {told}\n\n"

    # State.

    def whole(self) -> dict[str, Any]:
        """Return the whole state that a page shows."""
        return {
            "thread": self.name,
            "scene": self.scene.uri,
            "lines": self._lines,
            "calls": self.talk.calls,
            "poses": self.poses(self.talk.trail),
            "writing": self._written,
            "now": self.now(),
        }

    @property
    def scene(self) -> Scene:
        """The home of the conversation."""
        return self.talk.scene

    def poses(self, trail: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """Return poses as a page draws them: floor, x, z, heading, and the room's name."""
        return [page_pose(self.scene, pose) for pose in trail]

    def now(self) -> dict[str, Any]:
        """Return the current state: activity, destination, question, model, usage, limits."""
        talk = self.talk
        question = None if talk.busy else talk.state.get("question")
        doing = "listening"
        if talk.walking:
            doing = "walking"
        elif talk.busy:
            doing = "thinking"
        elif question:
            doing = "asking"
        walk = talk.state.get("walk") or {}
        ahead = [page_pose(self.scene, [each, 0.0])[:3] for each in walk.get("way", ())]
        return {
            "doing": doing,
            "to": str((walk.get("place") or {}).get("name") or ""),
            "ahead": ahead,
            "question": str(question["text"]) if question else "",
            "choices": talk.choices if question else [],
            "model": talk.model,
            "tokens": talk.tokens,
            "cost": total_cost(ModelUsage.read(each) for each in talk.state.get("usage", ())),
            "limits": self._settings.copy().run(_limits),
        }


def _line(number: int, said: Mapping[str, Any]) -> dict[str, Any]:
    return {"who": said["who"], "text": said["text"], "line": number, "at": said.get("at", 0),
            "turn": said.get("turn", 0)}  # fmt: skip


def page_pose(scene: Scene, pose: Sequence[Any]) -> list[Any]:
    """Return a pose of a trail as a page draws it: floor, x, z, heading, room name."""
    stands = scene.viewpoint_by_id[pose[0]]
    x, _, z = pose[3:6] if len(pose) >= 6 else stands.position
    where = scene.floor_of(stands), round(x, 3), round(z, 3), round(pose[1], 4)
    return [*where, room_name(scene, stands.region)]


def _limits() -> list[str]:
    """Return one line for each limit of this session with its current usage."""
    gate = current_settings().gate
    if not isinstance(gate, Budget):
        return []
    most, told = gate.limits, list[str]()
    if most.token_limit is not None:
        told.append(f"{gate.tokens:,} of {most.token_limit:,} tokens of this sitting")
    if most.cost_limit is not None:
        told.append(f"${gate.cost:.4f} of ${most.cost_limit:g} of this sitting")
    return told


async def _within(event: asyncio.Event, seconds: float) -> bool:
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return False
    return True
