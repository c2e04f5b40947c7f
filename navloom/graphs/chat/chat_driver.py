"""Driver of the chat graph: takes the person's words, reports events hop by hop, stops and undoes.

A display receives every event through `ChatDisplay` and never looks into the graph. Only one
activity is under way at a time: new words stop a walk at the next viewpoint, and cancel a model's
call.

A conversation is kept in a file (:mod:`navloom.graphs.chat.threads`), or in memory until the
process ends.
"""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from langgraph.errors import GraphDrained
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import RunControl
from langgraph.types import Command, Overwrite

from navloom.errors import NavloomError, UsageError
from navloom.graphs.chat.chat import build_graph
from navloom.graphs.chat.chat_turn import clean_text, instruction_lines, list_tool_calls
from navloom.graphs.chat.state import Context
from navloom.graphs.chat.threads import BrokenThreadError, threads_folder
from navloom.models.model_call import call_settings, current_settings, model_name
from navloom.models.model_registry import get_model
from navloom.models.redaction import redact
from navloom.models.usage import Budget
from navloom.scenes.scene import Scene
from navloom.sim.protocol import Simulator


class ChatDisplay(Protocol):
    """Display of a conversation; events that a display does not show keep these defaults."""

    def said(self, who: str, text: str) -> None:
        """Show a line of the ``person`` or ``robot``, or the program's ``note`` or ``error``."""
        ...

    def moved(self, pose: Mapping[str, Any]) -> None:
        """Show the robot's new pose."""
        ...

    def writing(self, text: str) -> None:  # noqa: ARG002
        """Show the text of the streamed reply so far.

        Empty text removes it: the call is retried, it was no line for the person, or `said`
        follows.
        """
        return

    def called(self, call: Mapping[str, Any]) -> None:  # noqa: ARG002
        """Show a tool call that the model made, and again when it is answered.

        Args:
            call: ``id`` (of this conversation's calls), ``turn``, ``name``, ``args`` (an object, or
                the text of invalid arguments) and ``answer``: None until it is there.
        """
        return


class ChatDriver:
    """One conversation, driven through the chat graph.

    Args:
        context: the chat graph's; its simulator must be an instance.
        checkpointer: keeps the conversation.
        listener: the display that receives its events.
        thread: its name.
        folder: the folder of other conversations; None means the user's own.
        pace: seconds that a hop is shown before the next.
        seed: of a new conversation.
    """

    def __init__(
        self,
        context: Context,
        checkpointer: Any,
        listener: ChatDisplay,
        *,
        thread: str = "chat",
        folder: Path | None = None,
        pace: float = 0.0,
        seed: int = 0,
    ) -> None:
        self.graph: CompiledStateGraph[Any, Context, Any, Any] = build_graph(checkpointer)
        self.context = replace(context, before_hop=self._pause)
        self.listener = listener
        self.thread, self.pace, self.seed = thread, pace, seed
        self.folder = threads_folder(folder)
        self.state: dict[str, Any] = {}
        self.walking = self.busy = False
        self._config: Any = {"configurable": {"thread_id": thread}}
        self._control: RunControl | None = None
        self._run: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()
        self._heard = 0
        self._writing = PartialReply(lambda text: self.listener.writing(text))

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
        """Every pose so far; the last one is the robot's present pose."""
        return list(self.state.get("trajectory", []))

    @property
    def transcript(self) -> list[dict[str, Any]]:
        """Every line so far."""
        return list(self.state.get("transcript", []))

    @property
    def calls(self) -> list[dict[str, Any]]:
        """Every tool call so far, as `ChatDisplay.called` receives them."""
        return list_tool_calls(self.state.get("messages", []))

    @property
    def tokens(self) -> int:
        """Tokens of all model calls, in and out; rule-based models use none."""
        used = (each for each in self.state.get("usage", ()) if not _is_rule(each["model"]))
        return sum(each["input_tokens"] + each["output_tokens"] for each in used)

    @property
    def goal(self) -> str | None:
        """The viewpoint that the robot is walking to, or None."""
        walk = self.state.get("walk")
        return walk["way"][-1] if walk and walk["way"] else None

    async def open(self, **start: Any) -> bool:
        """Begin the conversation, or resume it.

        Args:
            start: the chat graph's input, for a new one.

        Returns:
            True if the conversation existed before.

        Raises:
            UsageError: it belongs to another home, or its stored state cannot be read.
        """
        try:
            before = await self.graph.aget_state(self._config)
        except (sqlite3.Error, NavloomError):
            raise
        except Exception as error:
            # A damaged file can make its readers raise any exception.
            raise BrokenThreadError(
                f"The conversation '{self.thread}' is broken, so that it cannot be gone on with"
                f" ({type(error).__name__}: {str(error)[:100]})."
            ) from error
        known = bool(before.values)
        if not known and before.created_at is None:
            await self._is_new()
        waits = bool(before.interrupts) and self.scene.uri == before.values.get("home")
        if not waits:
            given = {"back": bool(before.next)} if known else {"seed": self.seed, **start}
            await self.graph.ainvoke(given, self._config, context=self.context, durability="sync")
        await self._refresh()
        if not self.trail:
            raise BrokenThreadError(f"The conversation '{self.thread}' is broken: it is nowhere.")
        return known

    async def _is_new(self) -> None:
        """Check that a file without this conversation holds no other.

        Raises:
            UsageError: it does.
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
        """Return the question that waits for an answer, if any."""
        waiting = self.state.get("question")
        return str(waiting["text"]) if waiting else None

    @property
    def choices(self) -> list[str]:
        """Suggested answers to the waiting question, each a text for `hear`."""
        return [str(each) for each in (self.state.get("question") or {}).get("choices", [])]

    async def hear(self, words: str | None) -> None:
        """Take the person's words, stopping what is under way; None only stops.

        Errors of models and simulators go to the listener; the conversation goes on.
        """
        # An API key typed by mistake must not reach a checkpoint, file or image.
        words = words if words is None else redact(words)
        self._heard += 1
        number = self._heard
        self.stop_current()
        async with self._lock:
            waits = bool((await self.graph.aget_state(self._config)).interrupts)
            if words is None and waits:
                return
            given: Any = {"halt": True} if words is None else {"said": words, "halt": False}
            await self._go(Command(resume=words) if waits else given, number)

    def stop_current(self) -> None:
        """Stop a walk at the next viewpoint, or cancel a model's call at once."""
        if self._control is not None:
            self._control.request_drain("the person spoke")
        if self._run is not None and not self.walking:
            self._run.cancel()

    async def _go(self, given: Any, number: int) -> None:
        self.busy, self._control = True, RunControl()
        if self._heard > number:
            # The person has spoken again in the meantime.
            self._control.request_drain("the person spoke")
        with call_settings(on_words=self._writing.take):
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
            self._writing.forget()
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
        """Show a hop for a while, unless the person speaks."""
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
        self.state["usage"] = [*self.state.get("usage", ()), *change.get("usage", ())]
        self._take_messages(change.get("messages", ()))
        for line in change.get("transcript", ()):
            self.state["transcript"] = [*self.transcript, line]
            self._writing.forget()
            self.listener.said(line["who"], line["text"])

    def _take_messages(self, more: Any) -> None:
        """Report new tool calls and new answers to the listener."""
        if not more or isinstance(more, Overwrite):
            return
        before = self.calls
        self.state["messages"] = [*self.state.get("messages", ()), *more]
        after = self.calls
        if len(after) > len(before):
            self._writing.forget()
        for number, call in enumerate(after):
            if number >= len(before) or call != before[number]:
                self.listener.called(call)

    @property
    def instructions(self) -> list[int]:
        """The transcript line with which each instruction begins, in order."""
        return instruction_lines(self.state)

    async def undo(self, to: int | None = None) -> str | None:
        """Undo an instruction (:mod:`navloom.graphs.chat.chat_turn`).

        Args:
            to: a line of the transcript, from 0, that belongs to it; None means the last one.

        Returns:
            That instruction, or None where there is none.

        Raises:
            UsageError: there is no such line.
        """
        self.stop_current()
        async with self._lock:
            await self._refresh()
            before = self.transcript
            if to is not None and not 0 <= to < len(before):
                raise UsageError(f"There is no line {to} to go back to, of {len(before)}.")
            if not [line for line in self.instructions if to is None or line <= to]:
                return None
            undo = {"undo": True, "undo_to": to}
            await self.graph.ainvoke(undo, self._config, context=self.context, durability="sync")
            await self._refresh()
            gone = before[len(self.transcript) :]
            return next((str(each["text"]) for each in gone if each["who"] == "person"), "")

    def use_model(self, name: str) -> None:
        """Switch to another model from now on.

        Raises:
            ModelError: there is no such model.
            UsageError: a cost limit could not be enforced with it.
        """
        model = get_model(name)
        gate = current_settings().gate
        if isinstance(gate, Budget):
            gate.limits.check_price(name)
        self.context = replace(self.context, model=model)

    async def close(self) -> None:
        """Stop what is under way and close the simulator."""
        self.stop_current()
        with suppress(asyncio.CancelledError):
            async with self._lock:
                pass
        if isinstance(self.context.simulator, Simulator):
            self.context.simulator.close()


def _is_rule(model: str) -> bool:
    return model.startswith("builtin/")


_UNFINISHED = re.compile(r"[!-~]+\Z")


class PartialReply:
    """Streamed text of the reply that a model is writing, as it is shown.

    Args:
        tell: called with the text so far whenever it grows, and with "" to remove it.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._told = ""

    def take(self, text: str) -> None:
        """Take all the text so far; empty after a failed attempt."""
        # An unfinished word may turn out to be an API key, so it is held back.
        now = clean_text(_UNFINISHED.sub("", text))
        if now != self._told:
            self._told = now
            self._tell(now)

    def forget(self) -> None:
        """Remove the text: it was no line for the person, or is now in the transcript."""
        self.take("")
