"""Messages: how a conversation begins, its tool calls, the text, JSON and images in a message.

Models wrap their JSON in thoughts, fences and courtesies. One JSON object is looked for, found
tolerantly and bounded strictly; nothing is repaired, evaluated or guessed. An image is data: it
travels in the request, never by a link, and every provider's client turns the block that
`image_block` makes into its own form. `EndedCall` is told to listeners once a call has ended
(`CallSettings.on_call`).

A reply is made sane before anything of it is kept (`sane`): it goes into checkpoints, is counted,
and is sent back to its server with every turn. What is beyond reason is cut, counts that are none
are unknown, every call has an id of its own, and no more calls are kept than will be answered: a
provider rejects a conversation in which one is not.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from navloom.errors import ModelError

if TYPE_CHECKING:  # a page that shows a run reads answers, and loads no framework of agents
    from langchain_core.messages import (
        AIMessage,
        AnyMessage,
        BaseMessage,
        HumanMessage,
        InvalidToolCall,
        ToolCall,
        ToolMessage,
    )


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
    from langchain_core.runnables.config import var_child_runnable_config

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


_Message = TypeVar("_Message", bound="BaseMessage")


def opening(
    prompt: tuple[str, str] | tuple[str, str, Sequence[tuple[str, str]]],
) -> list[AnyMessage]:
    """The messages that a conversation begins with, of a prompt's texts.

    Args:
        prompt: its system and its human text, and the worked turns that stand between them.
    """
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

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
    from langchain_core.messages import AIMessage, ToolMessage

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
    from langchain_core.messages import HumanMessage

    at = next(i for i, message in enumerate(messages) if isinstance(message, HumanMessage))
    text = {"type": "text", "text": message_text(messages[at].content)}
    shown = HumanMessage([text, *map(image_block, pictures)])
    return [*messages[:at], shown, *messages[at + 1 :]]


MOST_CALLS = 8
"""Tool calls of one reply that are kept and answered."""
CUT = "navloom_calls_cut"
"""The key of a reply's ``response_metadata`` that says how many calls were cut."""
_MOST_TOKENS = 1_000_000_000
_COUNTS = ("input_tokens", "output_tokens", "total_tokens")
_DETAILS = ("input_token_details", "output_token_details")
_MOST_DETAILS, _MOST_DETAIL = 20, 40
_MOST_BESIDE = 20_000
"""Characters of what a server says beside its reply."""
_MOST_ID = 200


def sane(message: AIMessage) -> AIMessage:
    """What a model said, without what is beyond reason or would break what comes after.

    Args:
        message: as a client read it.

    Returns:
        The message itself where nothing is wrong with it.
    """
    change: dict[str, Any] = {}
    content = _blocks(_utf8(message.content))
    if (size := _size(content)) > MOST_CHARACTERS:
        content = f"[This reply was cut: it had {size} characters, and {MOST_CHARACTERS} are read.]"
    if content != message.content:
        change["content"] = content
    if message.usage_metadata is not None:
        counted = _counted(message.usage_metadata)
        if counted != message.usage_metadata:
            change["usage_metadata"] = counted
    beside = _utf8(message.response_metadata)
    if _size(beside) > _MOST_BESIDE:
        beside = {k: v for k, v in beside.items() if _size(v) <= _MOST_BESIDE // 10}
    calls, broken, cut = _calls(message)
    if cut:
        beside = {**beside, CUT: cut}
    if beside != message.response_metadata:
        change["response_metadata"] = beside
    if calls != message.tool_calls or broken != message.invalid_tool_calls:
        change |= {"tool_calls": calls, "invalid_tool_calls": broken}
    extra = _utf8(message.additional_kwargs)
    if calls != message.tool_calls or cut or broken != message.invalid_tool_calls:
        # Some clients keep the calls here a second time, as they came.
        extra = {k: v for k, v in extra.items() if k != "tool_calls"}
        change["content"] = _without_calls(content)
    if extra != message.additional_kwargs:
        change["additional_kwargs"] = extra
    return message.model_copy(update=change) if change else message


def _blocks(content: Any) -> Any:
    """Content whose blocks are what clients take back: texts, and objects of a kind."""
    if not isinstance(content, list):
        return content
    kept: list[Any] = []
    for block in content:
        if isinstance(block, str):
            kept.append(block)
        elif isinstance(block, dict) and isinstance(block.get("type"), str):
            text = block.get("text", "")
            kept.append(block if isinstance(text, str) else {**block, "text": json.dumps(text)})
    return kept


def left_out(message: AIMessage) -> str | None:
    """What to tell the model of calls that were cut; None where none was."""
    cut = (message.response_metadata or {}).get(CUT)
    if not cut:
        return None
    return (
        f"Only {MOST_CALLS} calls are answered at a time: {cut} more of your last message were left"
        " out. Call again later."
    )


def _calls(message: AIMessage) -> tuple[list[ToolCall], list[InvalidToolCall], int]:
    """The calls that are kept, those whose arguments are no JSON, and how many were cut."""
    from langchain_core.messages import InvalidToolCall, ToolCall

    taken: set[str] = set()
    calls: list[ToolCall] = []
    for place, call in enumerate(message.tool_calls[:MOST_CALLS]):
        args, name = _utf8(call["args"]), _utf8(call["name"])[:_MOST_ID]
        if (size := _size(args)) > MOST_CHARACTERS:
            args = {"characters_cut": size}
        kept = {"name": name, "args": args, "id": _own_id(call.get("id"), place, taken)}
        calls.append(call if all(call[k] == kept[k] for k in kept) else ToolCall(**kept))  # type: ignore[literal-required, typeddict-item]
    broken: list[InvalidToolCall] = []
    for place, each in enumerate(message.invalid_tool_calls[: MOST_CALLS - len(calls)], len(calls)):
        text = _utf8(str(each.get("args") or ""))
        text = text if len(text) <= MOST_CHARACTERS else text[:100]
        own = _own_id(each.get("id"), place, taken)
        same = each.get("id") == own and (each.get("args") or "") == text
        broken.append(each if same else InvalidToolCall(**{**each, "args": text, "id": own}))
    asked = len(message.tool_calls) + len(message.invalid_tool_calls)
    return calls, broken, asked - len(calls) - len(broken)


def _own_id(given: Any, place: int, taken: set[str]) -> str:
    """An id that no other call of the reply bears."""
    name = _utf8(given)[:_MOST_ID] if isinstance(given, str) else ""
    if not name or name in taken:
        name = f"{name or 'call'}_{place}"
    taken.add(name)
    return name


def _without_calls(content: Any) -> Any:
    """Content without the blocks in which some clients keep calls again, as they came."""
    if not isinstance(content, list):
        return content
    kinds = ("tool_use", "tool_call", "function_call")
    return [b for b in content if not (isinstance(b, dict) and b.get("type") in kinds)]


def _counted(usage: Any) -> dict[str, Any] | None:
    """The counts of a reply; None where one is none, and nothing beside them is kept."""

    def is_count(value: Any) -> bool:
        return isinstance(value, int) and 0 <= value <= _MOST_TOKENS

    if not all(is_count(usage.get(name)) for name in _COUNTS):
        return None
    kept = {name: usage[name] for name in _COUNTS}
    for name in _DETAILS:
        said = usage.get(name) or {}
        if not all(value is None or is_count(value) for value in said.values()):
            return None
        if name in usage:
            # Servers name kinds of tokens of their own.
            short = ((key, value) for key, value in said.items() if len(key) <= _MOST_DETAIL)
            kept[name] = dict(islice(short, _MOST_DETAILS))
    return kept


def _utf8(value: Any) -> Any:
    """The value with every half of a surrogate pair replaced: no file and no request takes one."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_utf8(key): _utf8(each) for key, each in value.items()}
    return [_utf8(each) for each in value] if isinstance(value, list) else value


def _size(value: Any) -> int:
    return len(value if isinstance(value, str) else json.dumps(value, default=str))
