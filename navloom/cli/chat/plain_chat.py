"""The chat as plain lines, for pipes, simple terminals and tests."""

from __future__ import annotations

import asyncio
import codecs
import os
import signal
import sys
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import Any

from navloom.cli.chat.slash_commands import run_command
from navloom.cli.chat.terminal_map import map_lines
from navloom.graphs.chat.chat_driver import ChatDisplay, ChatDriver
from navloom.models.redaction import print_out
from navloom.tools.chat.places import room_name

_PROMPT = "you> "
_SHOWN_AGAIN = 6
"""Lines of an old conversation that are shown when it is resumed."""
INTERRUPTED = 130
_MOST_READ = 1_000_000


class PlainChat(ChatDisplay):
    """Chat that reads and prints lines.

    On a terminal a new line stops a walk; from a pipe lines are processed one after another.

    Args:
        quiet: print only the robot's words.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self.talk: ChatDriver | None = None
        self._quiet = quiet
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._room: str | None = None
        self._replaying = False
        self._rest = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    @property
    def _open(self) -> ChatDriver:
        assert self.talk is not None  # noqa: S101  run() sets it
        return self.talk

    def said(self, who: str, text: str) -> None:
        """Print a line, except the user's own, which are visible already."""
        if (who == "person" and not self._replaying) or (self._quiet and who == "note"):
            return
        heads = {"robot": "robot: ", "person": "you: ", "error": "! "}
        print_out(f"{heads.get(who, '')}{text}")

    def moved(self, pose: Mapping[str, Any]) -> None:
        """Print the robot's room if the room has changed."""
        scene = self._open.scene
        room = room_name(scene, scene.viewpoint_by_id[pose["viewpoint"]].region)
        if room != self._room and not self._quiet:
            print_out(f"  · {room}")
        self._room = room

    def show_map(self, trail: Sequence[Sequence[Any]]) -> None:
        """Print the map."""
        print_out("\n".join(map_lines(self._open.scene, trail, goal=self._open.goal)))

    def play(self, trail: Sequence[Sequence[Any]]) -> None:
        """Do nothing: printed lines cannot be animated."""

    def redraw(self) -> None:
        """Print the last lines of the conversation."""
        self._replaying = True
        for line in self._open.transcript[-_SHOWN_AGAIN:]:
            self.said(line["who"], line["text"])
        self._replaying = False

    async def run(self, talk: ChatDriver, *, again: bool) -> int:
        """Run the chat until the user leaves.

        Args:
            talk: the conversation, open.
            again: whether it is a resumed one.

        Returns:
            The exit code.
        """
        self.talk = talk
        self._room = room_name(talk.scene, talk.scene.viewpoint_by_id[talk.trail[-1][0]].region)
        where = f"in the {self._room} of {talk.scene.uri}"
        self.said("note", f"{talk.model} thinks. The robot is {where}. /help says more.")
        if again:
            self.said("note", f"You come back to '{talk.thread}'.")
            self.redraw()
        self._begin_reading()
        try:
            return await self._converse()
        finally:
            with suppress(OSError, ValueError, NotImplementedError):
                asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
            await talk.close()

    async def _converse(self) -> int:
        while True:
            if sys.stdin.isatty():
                print_out(_PROMPT, end="")
            line = await self._lines.get()
            if line is None:
                return 0
            if line is _HALT:
                print_out()
                return INTERRUPTED
            if line.lstrip().startswith("/"):
                self._replaying = line.lstrip().startswith("/replay")
                leave = await run_command(line, self._open, self)
                self._replaying = False
                if leave:
                    return 0
                continue
            await self._exchange(line)

    async def _exchange(self, line: str) -> None:
        """Process a line, and on a terminal the lines that come meanwhile."""
        under_way = asyncio.create_task(self._open.hear(line))
        if not sys.stdin.isatty():
            await under_way
            return
        while not under_way.done():
            typed = asyncio.create_task(self._lines.get())
            await asyncio.wait({under_way, typed}, return_when=asyncio.FIRST_COMPLETED)
            if not typed.done():
                typed.cancel()
                # A line that arrives at this moment must not be lost.
                with suppress(asyncio.CancelledError):
                    self._lines.put_nowait(await typed)
                break
            said = typed.result()
            if said is None or (said is not _HALT and said.lstrip().startswith("/")):
                self._open.stop_current()
                await under_way
                await self._open.hear(None)
                self._lines.put_nowait(said)
                return
            follow = self._open.hear(None if said is _HALT else said)
            under_way = asyncio.create_task(_both(under_way, follow))
        await under_way

    def _begin_reading(self) -> None:
        """Start to read lines and Ctrl-C while the robot walks."""
        loop = asyncio.get_running_loop()
        with suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(signal.SIGINT, self._lines.put_nowait, _HALT)
        try:
            file = sys.stdin.fileno()
            loop.add_reader(file, self._read_some, file)
        except (OSError, ValueError, NotImplementedError):
            # A plain file, or no file at all, cannot be polled.
            for line in [*_all_lines(), None]:
                self._lines.put_nowait(line)

    def _read_some(self, file: int) -> None:
        data = os.read(file, 65_536)
        *lines, self._rest = (self._rest + self._decoder.decode(data)).split("\n")
        for line in lines:
            self._lines.put_nowait(line)
        if not data or len(self._rest) > _MOST_READ:
            asyncio.get_running_loop().remove_reader(file)
            if self._rest:
                self._lines.put_nowait(self._rest)
            self._lines.put_nowait(None)


def _all_lines() -> list[str]:
    try:
        return sys.stdin.read(_MOST_READ).splitlines()
    except (OSError, ValueError):
        return []


_HALT = "\x03"
"""Object that Ctrl-C puts into the queue of lines; compared by identity."""


async def _both(first: asyncio.Task[None], second: Coroutine[Any, Any, None]) -> None:
    await asyncio.gather(first, second)
