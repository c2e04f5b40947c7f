"""Messages of a conversation: its start, tool calls, and text, JSON and images in a message.

Models wrap their JSON in thoughts, fences and courtesies. One JSON object is extracted, with
tolerance and strict bounds; nothing is repaired, evaluated or guessed. An image is sent as data in
the request, never as a link, and every provider's client converts the block of `image_block` into
its own form. Listeners receive an `CallRecord` for each finished call (`CallSettings.on_call`).

A reply is sanitized before any use (`sanitize_reply`), since it goes into checkpoints, is counted,
and is sent back to its server with every turn. Excessive parts are cut, invalid counts become
unknown, every call gets a unique id, and no more calls are kept than will be answered: a provider
rejects a conversation with an unanswered call.
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

if TYPE_CHECKING:  # a page that shows a run parses answers and must not load an agent framework
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
class CallRecord:
    """Record of one finished call: successful, from the cache, or failed.

    Attributes:
        model: ``provider/name``.
        role: the model's role.
        node: the graph node that called, ``outer/inner`` for nested graphs; empty outside graphs.
        step: the step of that graph, as LangGraph counts; None outside graphs.
        messages: the conversation that was sent.
        bound: tools, schema and whatever else was bound to the model, as it was sent.
        reply: with its stamp (`navloom.models.usage`); None if there was an error.
        error: exception of the last attempt, without secrets; None if there is a reply.
        began: start, in seconds since the epoch.
        seconds: duration, waits between attempts included.
        retries: failed attempts that were repeated.
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
        """Tools as they were sent to the model's server; None if there are none."""
        return self.bound.get("tools") or None

    @property
    def schema(self) -> Any:
        """Response format as it was sent to the model's server; None if the format was free."""
        beside = self.bound.get("extra_body") or {}
        config = self.bound.get("output_config") or {}
        asked = self.bound.get("response_format") or beside.get("response_format")
        return asked or config.get("format") or None


def current_node() -> tuple[str, int | None]:
    """Return the graph node of the current context and its step; "" and None outside graphs.

    LangGraph puts them into the metadata of langchain-core's context variable, with the names of
    the enclosing nodes: ``outer:TASK|inner:TASK``. If a task calls a graph more than once, there
    are numbers in between.
    """
    from langchain_core.runnables.config import var_child_runnable_config

    said: Mapping[str, Any] = (var_child_runnable_config.get() or {}).get("metadata") or {}
    around = str(said.get("langgraph_checkpoint_ns") or "").split("|")
    names = [each.partition(":")[0] for each in around]
    step = said.get("langgraph_step")
    return "/".join(n for n in names if not n.isdigit()), step if isinstance(step, int) else None


MOST_CHARACTERS = 200_000
"""Maximum characters of an answer; a longer one is refused unread."""
_MOST_STARTS = 200
_THOUGHT = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)


class AnswerError(ValueError):
    """Raised for a reply without a JSON object; the message is one line for the model."""


def message_text(content: Any) -> str:
    """Return the text of a message's content: a string, or the text of its blocks."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    parts = [b if isinstance(b, str) else b.get("text", "") for b in blocks if b]
    return "".join(part for part in parts if isinstance(part, str))


def tool_answer(message: ToolMessage) -> dict[str, Any] | None:
    """Return the JSON object in a tool's answer; None if the answer holds no object."""
    try:
        told = json.loads(message_text(message.content))
    except ValueError:
        return None
    return told if isinstance(told, dict) else None


def read_json_object(text: str) -> dict[str, Any]:
    """Return the last complete JSON object in a text, outside thoughts.

    Args:
        text: a model's reply.

    Raises:
        AnswerError: there is none, or the text is longer than ``MOST_CHARACTERS``.
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
    """Yield every complete JSON value in a text, outermost first.

    Args:
        text: a model's reply, without parts that must not be read.
        opens: the opening characters to search: of arrays, objects or both.
        most: maximum number of positions that are tried.
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
"""Maximum bytes of an image: Anthropic's bound, the smallest of the three providers."""

_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


def image_block(data: bytes) -> dict[str, Any]:
    """Return the content block of a message that shows an image.

        HumanMessage([{"type": "text", "text": "What is it?"}, image_block(png)])

    Args:
        data: the bytes of a PNG, JPEG, GIF or WebP file.

    Raises:
        ModelError: the bytes are none of these, or too many for a provider.
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


def opening_messages(
    prompt: tuple[str, str] | tuple[str, str, Sequence[tuple[str, str]]],
) -> list[AnyMessage]:
    """Return the initial messages of a conversation, from a prompt's texts.

    Args:
        prompt: its system and human texts, and optionally example turns between them.
    """
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

    system, human, turns = prompt if len(prompt) == 3 else (*prompt, ())
    worked: list[AnyMessage] = []
    for question, answer in turns:
        worked += [HumanMessage(question), AIMessage(answer)]
    return [SystemMessage(system), *worked, HumanMessage(human)]


def answered_calls(messages: Sequence[BaseMessage]) -> list[tuple[ToolCall, ToolMessage]]:
    """Return each tool call of a conversation with its answer, in the order of the answers."""
    return [pair for turn in answered_turns(messages) for pair in turn]


def answered_turns(messages: Sequence[BaseMessage]) -> list[list[tuple[ToolCall, ToolMessage]]]:
    """Return each tool call with its answer, grouped by reply."""
    from langchain_core.messages import AIMessage, ToolMessage

    turns: list[list[tuple[ToolCall, ToolMessage]]] = []
    asked: dict[str | None, ToolCall] = {}
    for message in messages:
        if isinstance(message, AIMessage):
            # Some servers number the calls of every turn from zero, so an id is valid for one turn.
            asked = {call["id"]: call for call in message.tool_calls}
            turns.append([])
        elif isinstance(message, ToolMessage) and message.tool_call_id in asked:
            turns[-1].append((asked[message.tool_call_id], message))
    return turns


def with_images(
    messages: Sequence[_Message], pictures: Sequence[bytes]
) -> list[_Message | HumanMessage]:
    """Return a conversation with images at the end of its first human message.

    Raises:
        ModelError: one of them is no image, or too large for a provider.
    """
    if not pictures:
        return list(messages)
    from langchain_core.messages import HumanMessage

    at = next(i for i, message in enumerate(messages) if isinstance(message, HumanMessage))
    text = {"type": "text", "text": message_text(messages[at].content)}
    shown = HumanMessage([text, *map(image_block, pictures)])
    return [*messages[:at], shown, *messages[at + 1 :]]


MOST_CALLS = 8
"""Maximum number of tool calls of one reply that are kept and answered."""
CUT = "navloom_calls_cut"
"""Key of a reply's ``response_metadata`` with the number of calls that were cut."""
_MOST_TOKENS = 1_000_000_000
_COUNTS = ("input_tokens", "output_tokens", "total_tokens")
_DETAILS = ("input_token_details", "output_token_details")
_MOST_DETAILS, _MOST_DETAIL = 20, 40
_MOST_BESIDE = 20_000
"""Maximum characters of a server's metadata beside its reply."""
_MOST_ID = 200


def sanitize_reply(message: AIMessage) -> AIMessage:
    """Sanitize a reply: cut excessive parts and replace what would break later steps.

    Args:
        message: the reply as a client parsed it.

    Returns:
        The message itself if nothing is wrong with it.
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
        # Some clients keep a raw copy of the calls here.
        extra = {k: v for k, v in extra.items() if k != "tool_calls"}
        change["content"] = _without_calls(content)
    if extra != message.additional_kwargs:
        change["additional_kwargs"] = extra
    return message.model_copy(update=change) if change else message


def _blocks(content: Any) -> Any:
    """Return content with valid blocks only: texts, and objects with a type."""
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


def cut_calls_notice(message: AIMessage) -> str | None:
    """Return the notice for the model about calls that were cut; None if none was."""
    cut = (message.response_metadata or {}).get(CUT)
    if not cut:
        return None
    return (
        f"Only {MOST_CALLS} calls are answered at a time: {cut} more of your last message were left"
        " out. Call again later."
    )


def _calls(message: AIMessage) -> tuple[list[ToolCall], list[InvalidToolCall], int]:
    """Return the kept calls, those with invalid arguments, and the number of cut ones."""
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
    """Return an id that no other call of the reply has."""
    name = _utf8(given)[:_MOST_ID] if isinstance(given, str) else ""
    if not name or name in taken:
        name = f"{name or 'call'}_{place}"
    taken.add(name)
    return name


def _without_calls(content: Any) -> Any:
    """Return content without the blocks in which some clients keep a raw copy of calls."""
    if not isinstance(content, list):
        return content
    kinds = ("tool_use", "tool_call", "function_call")
    return [b for b in content if not (isinstance(b, dict) and b.get("type") in kinds)]


def _counted(usage: Any) -> dict[str, Any] | None:
    """Return the token counts of a reply; None if one is invalid."""

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
            # Servers add their own kinds of tokens.
            short = ((key, value) for key, value in said.items() if len(key) <= _MOST_DETAIL)
            kept[name] = dict(islice(short, _MOST_DETAILS))
    return kept


def _utf8(value: Any) -> Any:
    """Replace every unpaired surrogate in a value, since files and requests reject them."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_utf8(key): _utf8(each) for key, each in value.items()}
    return [_utf8(each) for each in value] if isinstance(value, list) else value


def _size(value: Any) -> int:
    return len(value if isinstance(value, str) else json.dumps(value, default=str))
