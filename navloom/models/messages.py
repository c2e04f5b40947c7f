"""Conversations: how one begins, which tool calls were answered in it, pictures in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolCall,
    ToolMessage,
)

from navloom.models.answer import image_block, message_text

_Message = TypeVar("_Message", bound=BaseMessage)


def opening(
    prompt: tuple[str, str] | tuple[str, str, Sequence[tuple[str, str]]],
) -> list[AnyMessage]:
    """The messages that a conversation begins with, of a prompt's texts.

    Args:
        prompt: its system and its human text, and the worked turns that stand between them.
    """
    system, human, turns = prompt if len(prompt) == 3 else (*prompt, ())
    worked: list[AnyMessage] = []
    for question, answer in turns:
        worked += [HumanMessage(question), AIMessage(answer)]
    return [SystemMessage(system), *worked, HumanMessage(human)]


def answered_calls(messages: Sequence[BaseMessage]) -> list[tuple[ToolCall, ToolMessage]]:
    """Each tool call of a conversation with its answer, in the order of the answers."""
    return [pair for turn in answered_turns(messages) for pair in turn]


def answered_turns(messages: Sequence[BaseMessage]) -> list[list[tuple[ToolCall, ToolMessage]]]:
    """The same, those of each reply together."""
    turns: list[list[tuple[ToolCall, ToolMessage]]] = []
    asked: dict[str | None, ToolCall] = {}
    for message in messages:
        if isinstance(message, AIMessage):
            # Some servers number the calls of every turn from zero: an id holds for one turn.
            asked = {call["id"]: call for call in message.tool_calls}
            turns.append([])
        elif isinstance(message, ToolMessage) and message.tool_call_id in asked:
            turns[-1].append((asked[message.tool_call_id], message))
    return turns


def with_pictures(
    messages: Sequence[_Message], pictures: Sequence[bytes]
) -> list[_Message | HumanMessage]:
    """A conversation with pictures at the end of its first human message.

    Raises:
        ModelError: one of them is no picture, or too large for a provider.
    """
    if not pictures:
        return list(messages)
    at = next(i for i, message in enumerate(messages) if isinstance(message, HumanMessage))
    text = {"type": "text", "text": message_text(messages[at].content)}
    shown = HumanMessage([text, *map(image_block, pictures)])
    return [*messages[:at], shown, *messages[at + 1 :]]
