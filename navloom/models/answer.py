"""What a model said: its text, the JSON in it, and which tool call got which answer.

Models wrap their JSON in thoughts, fences and courtesies. What is looked for is one JSON object,
found tolerantly and bounded strictly; nothing is repaired, evaluated or guessed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolCall, ToolMessage

__all__ = [
    "MOST_CHARACTERS",
    "AnswerError",
    "answered_calls",
    "bounded",
    "json_values",
    "message_text",
    "read_json_object",
]

MOST_CHARACTERS = 200_000
"""A longer answer is refused unread."""
_MOST_STARTS = 200
_THOUGHT = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)


class AnswerError(ValueError):
    """What a model said holds no JSON object; the message is one line that a model can act on."""


def message_text(content: Any) -> str:
    """The text of a message's content: a string, or the text blocks of a list of blocks."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    parts = [b if isinstance(b, str) else b.get("text", "") for b in blocks if b]
    return "".join(part for part in parts if isinstance(part, str))


def bounded(message: AIMessage) -> AIMessage:
    """A model's message without what is beyond reason, which nobody will read.

    It would else be kept in every checkpoint and sent back to the model with every turn.

    Args:
        message: what the model said.

    Returns:
        The message itself where it is of a reasonable size.
    """
    change: dict[str, Any] = {}
    size = _size(message.content)
    if size > MOST_CHARACTERS:
        said = f"[This reply was cut: it had {size} characters, and {MOST_CHARACTERS} are read.]"
        change["content"] = said
    calls = [*message.tool_calls, *message.invalid_tool_calls]
    if any(_size(call["args"]) > MOST_CHARACTERS for call in calls):
        change["tool_calls"] = [_short_call(call) for call in message.tool_calls]
        change["invalid_tool_calls"] = [
            {**call, "args": str(call["args"])[:100]} for call in message.invalid_tool_calls
        ]
        # Some clients keep the calls here a second time, as they came.
        extra = message.additional_kwargs
        change["additional_kwargs"] = {k: v for k, v in extra.items() if k != "tool_calls"}
    return message.model_copy(update=change) if change else message


def _short_call(call: ToolCall) -> ToolCall:
    size = _size(call["args"])
    if size <= MOST_CHARACTERS:
        return call
    return ToolCall(name=call["name"], args={"characters_cut": size}, id=call["id"])


def _size(value: Any) -> int:
    return len(value if isinstance(value, str) else json.dumps(value, default=str))


def answered_calls(messages: Sequence[BaseMessage]) -> Iterator[tuple[ToolCall, ToolMessage]]:
    """Each tool call of a conversation with its answer, in the order of the answers."""
    asked: dict[str | None, ToolCall] = {}
    for message in messages:
        if isinstance(message, AIMessage):
            # Some servers number the calls of every turn from zero: an id holds for one turn.
            asked = {call["id"]: call for call in message.tool_calls}
        elif isinstance(message, ToolMessage) and message.tool_call_id in asked:
            yield asked[message.tool_call_id], message


def read_json_object(text: str) -> dict[str, Any]:
    """The last whole JSON object that stands in a text, outside thoughts.

    Args:
        text: what a model said.

    Raises:
        AnswerError: where there is none, or the text is over ``MOST_CHARACTERS`` long.
    """
    if len(text) > MOST_CHARACTERS:
        raise AnswerError(
            f"The answer is {len(text)} characters long; at most {MOST_CHARACTERS} are read."
        )
    found = list(json_values(_THOUGHT.sub(" ", text), "{", most=_MOST_STARTS))
    if not found:
        raise AnswerError("The answer holds no JSON object. Answer with the JSON object alone.")
    return dict(found[-1])


def json_values(text: str, opens: str = "[{", *, most: int = 2_000) -> Iterator[Any]:
    """Every whole JSON value that stands in a text, outermost first.

    Args:
        text: what a model said, without what is not to be read.
        opens: what a value that is looked for begins with: arrays, objects or both.
        most: places that are tried.
    """
    decoder, start = json.JSONDecoder(), re.compile(f"[{re.escape(opens)}]")
    found = start.search(text)
    for _ in range(most):
        if found is None:
            return
        try:
            value, end = decoder.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            end = found.start() + 1
        else:
            yield value
        found = start.search(text, end)
