"""A model's tool calls in the chat: one at a time, each answered once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, ToolCall, ToolMessage
from langgraph.prebuilt import ToolNode

from navloom.models.answer import message_text
from navloom.tools.chat.tools import MOVING, chat_tools
from navloom.tools.chat.ways import Now

__all__ = ["answer_call", "closed", "next_call", "open_calls", "tool_message"]

MOST_CALLS = 8
"""Tool calls answered in one message; further ones are told to wait."""
_MOST_ARGUMENTS = 2_000
_LATER = f"Only {MOST_CALLS} calls are answered at a time. Call again later."
_NOT_DONE = "Not done, since the call before it failed."
_NO_JSON = "The arguments are not valid JSON. Call again with a JSON object."
_TOO_LONG = f"The arguments are over {_MOST_ARGUMENTS} characters long. Pass plain words."
_BROKEN = "broken"


def tool_message(call: Mapping[str, Any], answer: Mapping[str, Any]) -> ToolMessage:
    """The answer to a call, as JSON."""
    text = json.dumps(answer, ensure_ascii=False)
    status: Any = "error" if "error" in answer else "success"
    return ToolMessage(text, tool_call_id=call["id"] or "", name=call["name"], status=status)


def _last(messages: Sequence[AnyMessage]) -> tuple[list[ToolCall], list[ToolMessage]]:
    """The calls of the model's last message, broken ones too, and their answers so far."""
    answers: list[ToolMessage] = []
    for message in reversed(messages):
        if isinstance(message, ToolMessage):
            answers.insert(0, message)
            continue
        if isinstance(message, AIMessage):
            broken = [
                ToolCall(name=each.get("name") or _BROKEN, args={_BROKEN: True}, id=each.get("id"))
                for each in message.invalid_tool_calls
            ]
            return [*message.tool_calls, *broken], answers
        break
    return [], []


def open_calls(messages: Sequence[AnyMessage]) -> list[ToolCall]:
    """The calls of the last message that are not answered, in their order."""
    calls, answers = _last(messages)
    # Some servers give several calls one id: answers are counted, not matched.
    return calls[len(answers) :]


def next_call(messages: Sequence[AnyMessage]) -> tuple[ToolCall, list[ToolMessage]]:
    """The first open call, and the answers of those before it."""
    return open_calls(messages)[0], _last(messages)[1]


async def answer_call(
    call: ToolCall, earlier: Sequence[ToolMessage], now: Now
) -> tuple[ToolMessage, dict[str, Any]]:
    """Run a tool.

    Args:
        call: the call.
        earlier: the answers to earlier calls of its message.
        now: the robot.

    Returns:
        The answer, and what the robot has to do (:mod:`navloom.tools.chat.tools`).
    """
    refusal = _refusal(call, earlier)
    if refusal is not None:
        return tool_message(call, {"error": refusal}), {}
    node = ToolNode(chat_tools(now), handle_tool_errors=True)
    found = await node.ainvoke({"messages": [AIMessage("", tool_calls=[call])]})
    message: ToolMessage = found["messages"][0]
    todo = message.artifact or {}
    return message.model_copy(update={"artifact": None}), todo


def _refusal(call: ToolCall, earlier: Sequence[ToolMessage]) -> str | None:
    if call["args"].get(_BROKEN):
        return _NO_JSON
    if len(earlier) >= MOST_CALLS:
        return _LATER
    if len(json.dumps(call["args"], default=str)) > _MOST_ARGUMENTS:
        return _TOO_LONG
    failed = any(_failed(answer) for answer in earlier)
    return _NOT_DONE if failed and call["name"] in MOVING else None


def _failed(answer: ToolMessage) -> bool:
    if answer.status == "error":
        return True
    try:
        told = json.loads(message_text(answer.content))
    except ValueError:
        return True
    return isinstance(told, dict) and bool({"error", "which"} & set(told))


def closed(
    calls: Sequence[ToolCall], walking: Mapping[str, Any] | None, where: str
) -> list[ToolMessage]:
    """Answers to calls that will not be carried out: the person spoke, or turns are used up.

    Args:
        calls: the open calls; the first is the one under way.
        walking: the walk under way, if there is one.
        where: the room it has come to.
    """
    answers = [tool_message(call, {"error": "Not done: the person spoke."}) for call in calls]
    if walking and calls:
        told = {
            "arrived": False,
            "stopped": "by the person",
            "place": walking["place"]["name"],
            "room": where,
            "metres": walking["walked"],
        }
        if walking["place"]["kind"] == "room":
            told["id"] = walking["place"]["id"]
        answers[0] = tool_message(calls[0], told)
    return answers
