"""What was said, as OpenTelemetry's conventions write it down, within bounds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from navloom.models.answer import message_text

MOST = 64_000
"""Characters of one attribute; the last messages go before the first."""
_ROLES = {"human": "user", "ai": "assistant"}


def text_said(content: Any, most: int = MOST) -> str:
    """The text of a message's content, cut where it is too long; of pictures nothing."""
    text = content if isinstance(content, str) else message_text(content)
    return text if len(text) <= most else f"{text[:most]}… [{len(text) - most} characters more]"


def messages_said(messages: Sequence[BaseMessage], *, finish: str | None = None) -> str:
    """Messages in the form of ``gen_ai.input.messages`` and ``gen_ai.output.messages``, as JSON.

    Args:
        messages: a conversation.
        finish: why the last one ended there.
    """
    left, said = MOST, list[dict[str, Any]]()
    for message in reversed(messages):
        parts = _parts(message, left)
        left -= len(json.dumps(parts, ensure_ascii=False, default=str))
        said.append({"role": _ROLES.get(message.type, message.type), "parts": parts})
        if left <= 0:
            break
    said.reverse()
    if finish is not None:
        said[-1]["finish_reason"] = finish
    if missing := len(messages) - len(said):
        note = {"type": "text", "content": f"[{missing} earlier messages are left out]"}
        said.insert(0, {"role": "system", "parts": [note]})
    return json.dumps(said, ensure_ascii=False, default=str)


def _parts(message: BaseMessage, most: int) -> list[dict[str, Any]]:
    text = text_said(message.content, most)
    if isinstance(message, ToolMessage):
        return [{"type": "tool_call_response", "id": message.tool_call_id, "response": text}]
    parts: list[dict[str, Any]] = [{"type": "text", "content": text}] if text else []
    if isinstance(message, AIMessage):
        for call in message.tool_calls:
            args = json.dumps(call["args"], ensure_ascii=False, default=str)
            given = call["args"] if len(args) <= most else text_said(args, most)
            about = {"id": call["id"], "name": call["name"], "arguments": given}
            parts.append({"type": "tool_call", **about})
    return parts
