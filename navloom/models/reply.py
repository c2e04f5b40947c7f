"""A reply made sane, before anything of it is kept: sizes, counts, calls and their ids.

What a server sends goes into checkpoints, is counted, and is sent back to it with every turn. So
what is beyond reason is cut, counts that are none are unknown, every call has an id of its own, and
no more calls are kept than will be answered: a provider rejects a conversation in which one is not.
"""

from __future__ import annotations

import json
from itertools import islice
from typing import Any

from langchain_core.messages import AIMessage, InvalidToolCall, ToolCall

from navloom.models.messages import MOST_CHARACTERS

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
