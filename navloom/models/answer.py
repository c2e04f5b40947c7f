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
    text = _THOUGHT.sub(" ", text)
    decoder = json.JSONDecoder()
    found: dict[str, Any] | None = None
    at, starts = text.find("{"), 0
    while at != -1 and starts < _MOST_STARTS:
        starts += 1
        try:
            value, end = decoder.raw_decode(text, at)
        except (json.JSONDecodeError, RecursionError):
            end = at + 1
        else:
            found = value
        at = text.find("{", end)
    if found is None:
        raise AnswerError("The answer holds no JSON object. Answer with the JSON object alone.")
    return found
