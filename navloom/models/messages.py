"""Messages: how a conversation begins, its tool calls, the text, JSON and images in a message.

Models wrap their JSON in thoughts, fences and courtesies. One JSON object is looked for, found
tolerantly and bounded strictly; nothing is repaired, evaluated or guessed. An image is data: it
travels in the request, never by a link, and every provider's client turns the block that
`image_block` makes into its own form. `EndedCall` is told to listeners once a call has ended
(`CallSettings.on_call`).
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolCall,
    ToolMessage,
)
from langchain_core.runnables.config import var_child_runnable_config

from navloom.errors import ModelError


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedCall:
    """One call that has ended: well, from the cache, or with an error.

    Attributes:
        model: ``provider/name``.
        role: what it was used for.
        node: the graph's node that asked, ``outer/inner`` for a graph within a graph; empty where
            no graph did.
        step: which step of that graph it was, as LangGraph counts; None where no graph asked.
        messages: the conversation that was sent.
        bound: tools, schema and whatever else was bound to the model, as it was sent.
        reply: with its stamp (`navloom.models.usage`); None where there was an error.
        error: what the last attempt raised, without secrets; None where there is a reply.
        began: when, in seconds since the epoch.
        seconds: how long, waits between attempts included.
        retries: attempts that failed and were made again.
        cached: whether the reply came from the cache.
    """

    model: str
    role: str
    node: str
    step: int | None
    messages: Sequence[BaseMessage]
    bound: Mapping[str, Any]
    reply: AIMessage | None
    error: BaseException | None
    began: float
    seconds: float
    retries: int
    cached: bool

    @property
    def tools(self) -> Any:
        """The tools as the model's server is sent them; None where there are none."""
        return self.bound.get("tools") or None

    @property
    def schema(self) -> Any:
        """The form of the reply as the model's server is sent it; None where it is left free."""
        beside = self.bound.get("extra_body") or {}
        config = self.bound.get("output_config") or {}
        asked = self.bound.get("response_format") or beside.get("response_format")
        return asked or config.get("format") or None


def asking_node() -> tuple[str, int | None]:
    """The node of a graph that asks here and now, and its step; "" and None where none does.

    LangGraph puts them into the metadata of what langchain-core keeps in a context variable, with
    the names of the nodes around it: ``outer:TASK|inner:TASK``, where a task that calls a graph
    more than once has numbers between.
    """
    said: Mapping[str, Any] = (var_child_runnable_config.get() or {}).get("metadata") or {}
    around = str(said.get("langgraph_checkpoint_ns") or "").split("|")
    names = [each.partition(":")[0] for each in around]
    step = said.get("langgraph_step")
    return "/".join(n for n in names if not n.isdigit()), step if isinstance(step, int) else None


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


MOST_IMAGE_BYTES = 5_000_000
"""Anthropic's bound on one image is the smallest of the three: 5 MB."""

_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


def image_block(data: bytes) -> dict[str, Any]:
    """Make the content block of a message that shows an image.

        HumanMessage([{"type": "text", "text": "What is it?"}, image_block(png)])

    Args:
        data: the bytes of a PNG, JPEG, GIF or WebP file.

    Raises:
        ModelError: where the bytes are none of these, or too many for a provider.
    """
    kind = next((kind for magic, kind in _MAGIC if data.startswith(magic)), None)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        kind = "image/webp"
    if kind is None:
        raise ModelError(f"The image begins with {data[:8]!r}: expected PNG, JPEG, GIF or WebP.")
    if len(data) > MOST_IMAGE_BYTES:
        raise ModelError(
            f"The image has {len(data):,} bytes, and a model takes {MOST_IMAGE_BYTES:,}: "
            "make it smaller."
        )
    return {"type": "image", "base64": base64.b64encode(data).decode(), "mime_type": kind}


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
