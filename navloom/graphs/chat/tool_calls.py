"""The tool calls of a conversation, as a display is told of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from navloom.graphs.chat.exchange import told_by
from navloom.models.answer import message_text

_MOST_SHOWN = 2_000


def calls_of(messages: Sequence[AnyMessage]) -> list[dict[str, Any]]:
    """Every tool call that a model made.

    Args:
        messages: the conversation as the model reads it.

    Returns:
        In their order: ``id``, the call's number in the conversation; ``turn``, how often the
        person had spoken; ``name``; ``args``, an object, or text where it is too long or broken;
        ``answer``: an object, text where it is no JSON, or None while it is not there.
    """
    found: list[dict[str, Any]] = []
    turn = waiting = 0
    for message in messages:
        turn += isinstance(message, HumanMessage)
        if isinstance(message, AIMessage):
            waiting = len(found)
            calls = [*message.tool_calls, *message.invalid_tool_calls]
            for call in calls:
                told = {"turn": turn, "name": str(call.get("name") or ""), "args": _args(call)}
                found.append({"id": len(found), **told, "answer": None})
        elif isinstance(message, ToolMessage) and waiting < len(found):
            # Some servers give several calls one id: answers are counted, not matched.
            text = message_text(message.content)
            found[waiting]["answer"] = told_by(message) or text[:_MOST_SHOWN]
            waiting += 1
    return found


def _args(call: Any) -> dict[str, Any] | str:
    args = call.get("args")
    if not isinstance(args, dict):
        return str(args or "")[:_MOST_SHOWN]
    text = json.dumps(args, default=str, ensure_ascii=False)
    return args if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN]
