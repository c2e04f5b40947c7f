"""Driving the chat graph: words go in, what happens comes out hop by hop; stop, undo, come back.

A display is told of everything through `Listener` and never looks into the graph. Only one thing is
under way at a time: new words stop a walk at the next viewpoint, and break off a model's thinking.

A conversation is kept in a SQLite file (`navloom.graphs.checkpoints`); one that was touched is
said and kept aside. Without a file it is kept in memory and ends with the process.
"""

from __future__ import annotations

import asyncio
import os
import re
import sqlite3
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from langgraph.errors import GraphDrained
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import RunControl
from langgraph.types import Command

from navloom.errors import NavloomError, UsageError
from navloom.graphs.chat.chat import build_graph
from navloom.graphs.chat.state import Context
from navloom.graphs.checkpoints import Plain, is_damage, open_saver, set_aside, what_is_wrong
from navloom.models.call import current_settings, model_name
from navloom.models.registry import get_model
from navloom.models.secrets import redact
from navloom.models.usage import Budget
from navloom.scenes.scene import Scene
from navloom.sim.protocol import Simulator

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class BrokenThreadError(UsageError):
    """What was kept of a conversation cannot be gone on with."""


class Listener(Protocol):
    """Who shows a conversation."""

    def said(self, who: str, text: str) -> None:
        """A line: of the ``person``, the ``robot``, or a ``note`` or ``error`` of the program."""
        ...

    def moved(self, pose: Mapping[str, Any]) -> None:
        """The robot stands somewhere else, or looks elsewhere."""
        ...


class Talk:
    """One conversation.

    Args:
        context: the chat graph's; its simulator must be there.
        checkpointer: where the conversation is kept.
        listener: who is told.
        thread: its name.
        pace: seconds that a hop is shown before the next.
        seed: of a new conversation.
    """

    def __init__(
        self,
        context: Context,
        checkpointer: Any,
        listener: Listener,
        *,
        thread: str = "chat",
        pace: float = 0.0,
        seed: int = 0,
    ) -> None:
        self.graph: CompiledStateGraph[Any, Context, Any, Any] = build_graph(checkpointer)
        self.context = replace(context, before_hop=self._pause)
        self.listener = listener
        self.thread, self.pace, self.seed = thread, pace, seed
        self.state: dict[str, Any] = {}
        self.walking = self.busy = False
        self._config: Any = {"configurable": {"thread_id": thread}}
        self._control: RunControl | None = None
        self._run: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()
        self._heard = 0

    @property
    def scene(self) -> Scene:
        """The home."""
        simulator = self.context.simulator
        assert isinstance(simulator, Simulator)  # noqa: S101  the command makes one
        return simulator.scene

    @property
    def model(self) -> str:
        """The model's name."""
        model = self.context.model
        return model if isinstance(model, str) else model_name(model)

    @property
    def trail(self) -> list[list[Any]]:
        """Every pose so far; the last one is where the robot is."""
        return list(self.state.get("trajectory", []))

    @property
    def transcript(self) -> list[dict[str, Any]]:
        """Every line so far."""
        return list(self.state.get("transcript", []))

    @property
    def tokens(self) -> int:
        """Tokens of every model call, in and out; rules have none."""
        used = (each for each in self.state.get("paid", ()) if not _is_rule(each["model"]))
        return sum(each["input_tokens"] + each["output_tokens"] for each in used)

    @property
    def goal(self) -> str | None:
        """The viewpoint it is walking to."""
        walk = self.state.get("walk")
        return walk["way"][-1] if walk and walk["way"] else None

    async def open(self, **start: Any) -> bool:
        """Begin the conversation, or come back to it.

        Args:
            start: the chat graph's input, for a new one.

        Returns:
            Whether there was one before.

        Raises:
            UsageError: it is in another home, or what was kept of it cannot be read.
        """
        try:
            before = await self.graph.aget_state(self._config)
        except (sqlite3.Error, NavloomError):
            raise
        except Exception as error:
            # Anything may stand in a file; what reads it raises whatever it stumbles over.
            raise BrokenThreadError(
                f"The conversation '{self.thread}' is broken, so that it cannot be gone on with"
                f" ({type(error).__name__}: {str(error)[:100]})."
            ) from error
        known = bool(before.values)
        if not known and before.created_at is None:
            await self._is_new()
        waits = bool(before.interrupts) and self.scene.uri == before.values.get("home")
        if not waits:
            given = {} if known else {"seed": self.seed, **start}
            await self.graph.ainvoke(given, self._config, context=self.context, durability="sync")
        await self._refresh()
        if not self.trail:
            raise BrokenThreadError(f"The conversation '{self.thread}' is broken: it is nowhere.")
        return known

    async def _is_new(self) -> None:
        """See to it that a file without this conversation has no other.

        Raises:
            UsageError: it has.
        """
        rows = self.graph.checkpointer.alist(None, limit=1)  # type: ignore[union-attr]
        async for each in rows:
            other = str(each.config["configurable"]["thread_id"])[:80]
            raise UsageError(
                f"The file of the conversation '{self.thread}' holds one named {other!r}: its file"
                " was renamed or changed. Rename it back, or give another --thread."
            )

    async def _refresh(self) -> None:
        self.state = dict((await self.graph.aget_state(self._config)).values)

    async def question(self) -> str | None:
        """The question that waits for an answer, if one does."""
        waiting = self.state.get("question")
        return str(waiting["text"]) if waiting else None

    async def hear(self, words: str | None) -> None:
        """Take the person's words, stopping what is under way; None: stop, and say nothing else.

        Errors of models and simulators are told to the listener; the conversation goes on.
        """
        # A key that slipped into the words is in no checkpoint, file or picture.
        words = words if words is None else redact(words)
        self._heard += 1
        number = self._heard
        self.break_off()
        async with self._lock:
            waits = bool((await self.graph.aget_state(self._config)).interrupts)
            if words is None and waits:
                return
            given: Any = {"halt": True} if words is None else {"said": words, "halt": False}
            await self._go(Command(resume=words) if waits else given, number)

    def break_off(self) -> None:
        """Stop a walk at the next viewpoint, or a model's thinking at once."""
        if self._control is not None:
            self._control.request_drain("the person spoke")
        if self._run is not None and not self.walking:
            self._run.cancel()

    async def _go(self, given: Any, number: int) -> None:
        self.busy, self._control = True, RunControl()
        if self._heard > number:
            # The person has spoken again meanwhile.
            self._control.request_drain("the person spoke")
        self._run = asyncio.create_task(self._stream(given, self._control))
        try:
            await self._run
        except (GraphDrained, asyncio.CancelledError):
            if (task := asyncio.current_task()) is not None and task.cancelling():
                raise
        except NavloomError as error:
            self.listener.said("error", " ".join(redact(str(error)).split()))
        except TimeoutError:
            self.listener.said("error", f"{self.model} gave no answer in time.")
        finally:
            self.busy = self.walking = False
            self._control = self._run = None
            await self._refresh()

    async def _stream(self, given: Any, control: RunControl) -> None:
        stream = self.graph.astream(
            given,
            self._config,
            context=self.context,
            stream_mode="updates",
            durability="sync",
            control=control,
        )
        async for update in stream:
            for node, change in update.items():
                if isinstance(change, Mapping):
                    self._take(node, change)

    async def _pause(self) -> None:
        """Take some time over a hop, unless the person speaks."""
        control, clock = self._control, asyncio.get_running_loop().time
        until = clock() + self.pace
        while clock() < until and control is not None and not control.drain_requested:
            await asyncio.sleep(min(0.05, self.pace))

    def _take(self, node: str, change: Mapping[str, Any]) -> None:
        if "walk" in change:
            self.walking = change["walk"] is not None
            self.state["walk"] = change["walk"]
        if node != "begin" and "trajectory" in change:
            self.state["trajectory"] = [*self.trail, *change["trajectory"]]
        if node != "begin" and "pose" in change:
            self.state["pose"] = change["pose"]
        if node != "begin" and ("pose" in change or "walk" in change):
            self.listener.moved(self.state["pose"])
        self.state["paid"] = [*self.state.get("paid", ()), *change.get("paid", ())]
        for line in change.get("transcript", ()):
            self.state["transcript"] = [*self.transcript, line]
            self.listener.said(line["who"], line["text"])

    async def undo(self) -> str | None:
        """Go back to before the last instruction (:mod:`navloom.graphs.chat.undo`).

        Returns:
            That instruction, or None where there is none.
        """
        self.break_off()
        async with self._lock:
            await self._refresh()
            if not self.state.get("marks"):
                return None
            before = self.transcript
            undo = {"undo": True}
            await self.graph.ainvoke(undo, self._config, context=self.context, durability="sync")
            await self._refresh()
            gone = before[len(self.transcript) :]
            return next((str(each["text"]) for each in gone if each["who"] == "person"), "")

    def use_model(self, name: str) -> None:
        """Let another model think from now on.

        Raises:
            ModelError: there is no such model.
            UsageError: a limit of cost could not be kept with it.
        """
        model = get_model(name)
        gate = current_settings().gate
        if isinstance(gate, Budget):
            gate.limits.check_price(name)
        self.context = replace(self.context, model=model)

    async def close(self) -> None:
        """Stop what is under way and let go of the simulator."""
        self.break_off()
        with suppress(asyncio.CancelledError):
            async with self._lock:
                pass
        if isinstance(self.context.simulator, Simulator):
            self.context.simulator.close()


def _is_rule(model: str) -> bool:
    return model.startswith("builtin/")


def threads_folder(given: Path | None = None) -> Path:
    """Where threads are kept: ``given``, else the user's folder for data of programs."""
    if given is not None:
        return given.expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "navloom" / "threads"
    base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "navloom" / "threads"


def thread_file(name: str, folder: Path) -> Path:
    """The file of a thread.

    Raises:
        UsageError: a name that is no plain file name.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"--thread {name[:80]!r}: expected a plain name of letters, digits, '.', '_' and '-',"
            " at most 64 of them, such as 'tuesday'."
        )
    return folder / f"{name}.sqlite"


@asynccontextmanager
async def open_thread(path: Path | None) -> AsyncIterator[Any]:
    """A checkpointer for one conversation, as long as the block lasts.

    Args:
        path: its file, made where it is not there; None keeps it in memory.

    Raises:
        UsageError: the file is broken, in use by another chat, or cannot be written.
        RunError: it is broken and cannot be put aside.
    """
    if path is None:
        from langgraph.checkpoint.memory import InMemorySaver

        yield InMemorySaver(serde=Plain())
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{path.parent}: {error.strerror}: choose another --threads.") from error
    try:
        if wrong := what_is_wrong(path):
            raise BrokenThreadError(f"{path} is broken: {wrong}.")
        # Kept to this process until the end: two chats in one thread would mix their words.
        async with open_saver(path, alone=True) as saver:
            yield saver
    except BrokenThreadError as error:
        raise _kept_aside(path, str(error)) from error
    except sqlite3.Error as error:
        if is_damage(error):
            raise _kept_aside(path, f"{path} is broken: {error}.") from error
        said = f"{path} cannot be used: {error}. Choose another --threads folder."
        if "locked" in str(error):
            said = f"{path} is in use: leave the other chat, or give another --thread."
        raise UsageError(said) from error


def _kept_aside(path: Path, said: str) -> UsageError:
    """Say what is wrong with a thread whose file was touched, and where that is from now on."""
    return UsageError(
        f"{said} It is kept as {set_aside(path)}, and nothing was begun in its place: the same"
        " command once more begins a new conversation."
    )
