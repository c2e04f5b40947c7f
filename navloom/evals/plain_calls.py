"""A call as it is kept: of a model's messages their words, as JSON without keys and pictures.

A process that keeps calls makes them of its own, and is told of them by its workers.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from langchain_core.messages import BaseMessage

from navloom.models.called import Call
from navloom.models.secrets import one_line, redacted
from navloom.models.usage import paid_for

_SAID = ("name", "tool_calls", "invalid_tool_calls", "tool_call_id")
_ENDED = ("finish_reason", "stop_reason", "status")


@dataclass(frozen=True, eq=False, slots=True)
class Text:
    """What was said, by whom, as JSON without keys: as it is kept."""

    type: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainCall:
    """One call that has ended.

    Attributes:
        messages: the conversation; each a message of LangChain's, or already a text.
        tools: as they were sent: JSON, or already a text. Likewise ``schema`` and ``reply``.
        usd: what it cost; None where no price is known.
        error: one line; None where there is a reply.
    """

    model: str
    role: str
    node: str
    step: int | None
    began: float
    seconds: float
    retries: int
    cached: bool
    finish: str | None
    input_tokens: int
    output_tokens: int
    usd: float | None
    error: str | None
    messages: Sequence[BaseMessage | Text]
    tools: Any
    schema: Any
    reply: BaseMessage | Text | None

    @classmethod
    def of(cls, call: Call) -> PlainCall:
        """A call of this process; its words are made to texts when they are asked for."""
        reply = call.reply
        told = reply.response_metadata if reply is not None else {}
        counted: Mapping[str, Any] = (reply.usage_metadata if reply is not None else None) or {}
        return cls(
            model=call.model,
            role=call.role,
            node=call.node,
            step=call.step,
            began=call.began,
            seconds=call.seconds,
            retries=call.retries,
            cached=call.cached,
            finish=next((str(told[key]) for key in _ENDED if told.get(key)), None),
            input_tokens=counted.get("input_tokens", 0),
            output_tokens=counted.get("output_tokens", 0),
            usd=0.0 if reply is None else paid_for(reply)["cost_usd"],
            error=None if call.error is None else one_line(call.error),
            messages=call.messages,
            tools=call.tools,
            schema=call.schema,
            reply=reply,
        )


def plain(value: Any) -> Any:
    """What is kept of a message, or of tools and a schema, as JSON; keys are still in it."""
    return _plain_message(value) if isinstance(value, BaseMessage) else value


def text_of(value: Any) -> Text:
    """The same without keys."""
    said = redacted(plain(value))
    return Text(value.type if isinstance(value, BaseMessage) else "", json_bytes(said))


def json_bytes(value: Any) -> bytes:
    """JSON as it is kept; what is none stands there as words."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return text.encode(errors="backslashreplace")


def _plain_message(message: BaseMessage) -> dict[str, Any]:
    said: dict[str, Any] = {"role": message.type, "content": _without_pictures(message.content)}
    said |= {name: value for name in _SAID if (value := getattr(message, name, None))}
    if getattr(message, "status", None) == "error":
        said["status"] = "error"
    beside = {k: v for k, v in message.additional_kwargs.items() if k != "tool_calls"}
    return said | ({"beside": beside} if beside else {})


def _without_pictures(content: str | Sequence[Any]) -> Any:
    if isinstance(content, str):
        return content
    return [_told_of(each) if isinstance(each, dict) else each for each in content]


def _told_of(block: Mapping[str, Any]) -> Mapping[str, Any]:
    """A block of content; a picture's size and hash in place of the picture."""
    data = block.get("base64")
    if not isinstance(data, str):
        return block
    picture = base64.b64decode(data)
    left = {key: value for key, value in block.items() if key != "base64"}
    return {**left, "bytes": len(picture), "sha256": sha256(picture).hexdigest()}
