"""Scripted chat model for tests: it replies from a given list.

An unexpected call fails, and so does a reply that is left over. A passing test has therefore made
exactly the expected calls.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self, TypeAlias

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from pydantic import PrivateAttr

from navloom.errors import ModelError, ScriptError, did_you_mean
from navloom.models.builtin import InProcessModel, add_usage
from navloom.models.messages import message_text
from navloom.models.model_spec import ModelOptions

Said: TypeAlias = AIMessage | str | Mapping[str, Any] | Sequence[Mapping[str, Any]]
Replier: TypeAlias = Callable[[list[BaseMessage]], "Said | BaseException"]
Reply: TypeAlias = Said | BaseException | Replier


@dataclass(frozen=True, slots=True)
class ScriptedCall:
    """One call that a scripted model received: messages and bound or passed arguments."""

    messages: list[BaseMessage]
    tools: list[dict[str, Any]] = field(default_factory=list)
    response_format: Any = None
    kwargs: dict[str, Any] = field(default_factory=dict)


def as_message(said: Said) -> AIMessage:
    """Convert a reply to a message.

    A string is its content. A mapping with the keys ``name`` and ``args`` is a tool call, a list of
    such mappings several; any other mapping is a JSON answer.

    Raises:
        ModelError: the reply is anything else.
    """
    if isinstance(said, AIMessage):
        return said
    if isinstance(said, str):
        return AIMessage(content=said)
    if isinstance(said, Mapping) and not _is_call(said):
        return AIMessage(content=json.dumps(said, ensure_ascii=False))
    calls = [said] if isinstance(said, Mapping) else list(said)
    if not all(_is_call(call) for call in calls):
        raise ModelError(f"A reply is a text, a message, a tool call or JSON; got {said!r}"[:300])
    return AIMessage(
        content="",
        tool_calls=[
            {"name": c["name"], "args": dict(c["args"]), "id": c.get("id", f"call_{n}")}
            for n, c in enumerate(calls, 1)
        ],
    )


def _is_call(part: Any) -> bool:
    return isinstance(part, Mapping) and {"name", "args"} <= set(part) <= {"name", "args", "id"}


class ScriptedChatModel(InProcessModel):
    """Chat model that replies from a script.

        with ScriptedChatModel([{"name": "look", "args": {}}, "done"]) as model:
            ...  # leaving fails if a reply is left over

    Safe to call from several threads and tasks; each call takes the next reply.
    """

    script_name: str = "script"
    """Name of the script in errors."""

    # Private, since pydantic fields are copied, compared and traced.
    _replies: list[Reply] = PrivateAttr(default_factory=list)
    _always: Replier | None = PrivateAttr(default=None)
    _calls: list[ScriptedCall] = PrivateAttr(default_factory=list)
    _lock: threading.Lock = PrivateAttr(default_factory=threading.Lock)

    def __init__(self, replies: Sequence[Reply] | Replier, *, name: str = "script") -> None:
        """Set the script.

        Args:
            replies: one entry a call: a value for `as_message`, an exception to raise, or a
                function from the messages to either. A function instead of the list answers every
                call.
            name: the script's name in errors.
        """
        super().__init__(script_name=name)
        if callable(replies):
            self._always = replies
        else:
            self._replies = list(replies)

    @property
    def calls(self) -> list[ScriptedCall]:
        """Calls so far, in order."""
        with self._lock:
            return list(self._calls)

    def assert_done(self) -> None:
        """Fail if a reply is left over.

        Raises:
            ScriptError: with the number of replies left, and the next one.
        """
        left = self._replies[len(self._calls) :] if self._always is None else []
        if left:
            raise ScriptError(
                f"scripted/{self.script_name}: {len(left)} of {len(self._replies)} replies were "
                f"not asked for; the next was {str(left[0])[:120]!r}."
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.assert_done()

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def said(self, messages: list[BaseMessage], bound: Mapping[str, Any]) -> AIMessage:
        """Return the script's next reply."""
        rest = dict(bound)
        call = ScriptedCall(
            list(messages), rest.pop("tools", []), rest.pop("response_format", None), rest
        )
        with self._lock:
            number = len(self._calls)
            if self._always is None and number >= len(self._replies):
                asked = message_text(messages[-1].content) if messages else ""
                raise ScriptError(
                    f"scripted/{self.script_name}: call {number + 1} was not expected, the script "
                    f"has {len(self._replies)} replies; it was asked {asked[:120]!r}."
                )
            self._calls.append(call)
            reply = self._always if self._always is not None else self._replies[number]
        if callable(reply):
            reply = reply(messages)
        if isinstance(reply, BaseException):
            raise reply
        # A copy, since LangChain writes the run's id into the message it is given.
        return add_usage(as_message(reply).model_copy(), messages, self.script_name)


_SCRIPTS: dict[str, ScriptedChatModel] = {}


def register(name: str, replies: Sequence[Reply] | Replier) -> ScriptedChatModel:
    """Register a script as the model ``scripted/NAME``, and return that model."""
    model = ScriptedChatModel(replies, name=name)
    _SCRIPTS[name] = model
    return model


def unregister(name: str) -> None:
    """Remove a registered script."""
    _SCRIPTS.pop(name, None)


def make(name: str, options: ModelOptions) -> BaseChatModel:  # noqa: ARG001
    """Return the registered scripted model of this name.

    Raises:
        ModelError: no script has the name.
    """
    if name not in _SCRIPTS:
        raise ModelError(
            f"No script 'scripted/{name}'.{did_you_mean(name, _SCRIPTS)} Register one in the same "
            "process: navloom.models.scripted.register(name, replies)."
        )
    return _SCRIPTS[name]
