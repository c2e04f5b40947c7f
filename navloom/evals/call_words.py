"""Calls in words and as blocks: one call for a person, and what was said in turn in a sample."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from navloom.errors import NavloomError
from navloom.evals.calls import KeptCall, calls_of
from navloom.evals.report.blocks import Block, Prose, Said, Tone, Transcript

_MOST_TEXT = 3_000
_MOST_SAID = 200
_WHO = {"ai": "the model", "tool": "the tool", "human": "the checks"}

Message = Mapping[str, Any]


def talk_of(run: Path | str, sample: str) -> tuple[Said, ...]:
    """The turns of a sample's conversations, without the prompts that begin them.

    Args:
        run: the run's folder.
        sample: the sample's id.

    Returns:
        What the model said and called, what tools answered, what was sent back; empty where the
        run keeps no calls, or they cannot be read.
    """
    try:
        calls = calls_of(run, sample)
    except NavloomError:
        return ()
    tried = max((call.tried for call in calls), default=0)
    told: dict[str, list[tuple[str, str]]] = {}
    said: list[Said] = []
    for call in calls:
        if call.tried != tried:
            continue
        before, now = told.get(call.node), [_key(each) for each in call.messages]
        if before is not None:
            grown = now[: len(before)] == before
            said += _lines(call.messages[len(before) :] if grown else call.messages[-1:])
        reply: Message = call.reply or {"role": "ai", "content": call.error}
        said += _lines([reply])
        told[call.node] = [*now, _key(reply)]
    return tuple(said[:_MOST_SAID])


def _key(message: Message) -> tuple[str, str]:
    return str(message.get("role")), str(message.get("content"))


def _lines(messages: Sequence[Message]) -> list[Said]:
    found = []
    for message in messages:
        role, content = _key(message)
        called = [
            f"{each.get('name')}({json.dumps(each.get('args'), ensure_ascii=False)})"
            for each in message.get("tool_calls") or ()
        ]
        text = "\n".join(filter(None, [content, *called]))
        short = text if len(text) <= _MOST_TEXT else f"{text[: _MOST_TEXT - 1]}…"
        tone: Tone = "bad" if role == "human" else "plain"
        found.append(Said(who=_WHO.get(role, role), text=short, tone=tone))
    return found


_NAMED = 120
"""Characters from which on a message that an earlier call had, too, is named and not repeated."""


def call_blocks(found: Sequence[KeptCall]) -> list[Block]:
    """A sample's calls for a page: each text whole, and once.

    Args:
        found: of :func:`navloom.evals.calls.calls_of`.
    """
    first: dict[str, int] = {}
    return [block for call in found for block in _blocks(call, len(found), first)]


def _blocks(call: KeptCall, of: int, first: dict[str, int]) -> Iterator[Block]:
    said = [_said(str(m.get("role")), text_of(m), call.number, first) for m in call.messages]
    if call.reply is not None:
        text = text_of(call.reply)
        first.setdefault(text, call.number)
        said.append(Said(who="reply", text=text, tone="good"))
    if call.error:
        said.append(Said(who="error", text=call.error, tone="bad"))
    head = f"Call {call.number} of {of}: {', '.join(about(call))}"
    yield Transcript(title=head, said=tuple(said), private=True, folded=head)
    for name, form in (("tools", call.tools), ("schema", call.schema)):
        if form is None:
            continue
        text = json.dumps(form, ensure_ascii=False, indent=1)
        known = first.setdefault(f"{name} {text}", call.number)
        if known == call.number:
            words = ", ".join(names_in(form)) or "without a name"
            folded = f"Call {call.number}: {name} ({words})"
            yield Prose(text=text, exact=True, private=True, folded=folded)


def _said(who: str, text: str, number: int, first: dict[str, int]) -> Said:
    known = first.setdefault(text, number)
    if known != number and len(text) > _NAMED:
        words = f"as in call {known}: {len(text):,} characters"
        return Said(who=who, text=words, tone="quiet")
    return Said(who=who, text=text)


def dollars(cost: float | None) -> str:
    """A cost as people read it."""
    return "unknown" if cost is None else f"{cost:.4g}"


def about(call: KeptCall) -> Iterator[str]:
    """What is said of a call beside its texts: who, where, tokens, $, seconds."""
    yield from (call.role, call.model)
    if call.node:
        yield f"{call.node} at step {call.step}"
    yield f"{call.usage['input_tokens']:,} tokens in, {call.usage['output_tokens']:,} out"
    yield "cost unknown" if call.usd is None else f"${dollars(call.usd)}"
    yield f"{call.seconds:.2f} s"
    if call.cached:
        yield "from the cache"
    if call.retries:
        yield f"{call.retries} retries" if call.retries > 1 else "1 retry"
    if call.finish:
        yield f"ended: {call.finish}"
    if call.tried:
        yield f"try {call.tried + 1}"
    if call.session > 1:
        yield f"session {call.session}"
    if call.epoch:
        yield f"epoch {call.epoch}"


def text_of(message: dict[str, Any]) -> str:
    """A message's content, and beneath it the tools that it calls and what else it has."""
    content = message.get("content")
    blocks = [content] if isinstance(content, str) else content or []
    parts = [each if isinstance(each, str) else _block(each) for each in blocks]
    for each in message.get("tool_calls") or []:
        parts.append(f"-> {each.get('name')}({as_json_text(each.get('args'))})")
    left = {k: v for k, v in message.items() if k not in ("role", "content", "tool_calls")}
    parts += [f"{key}: {as_json_text(value)}" for key, value in left.items()]
    return "\n".join(part for part in parts if part)


def _block(block: Any) -> str:
    text = block.get("text") if isinstance(block, dict) else None
    return text if isinstance(text, str) else as_json_text(block)


def as_json_text(value: Any) -> str:
    """A value as one line of JSON."""
    return json.dumps(value, ensure_ascii=False)


def names_in(form: Any) -> list[str]:
    """The names of tools, or a schema's title, wherever a provider has them."""
    if isinstance(form, list):
        return [name for each in form for name in names_in(each)]
    if not isinstance(form, dict):
        return []
    own = form.get("name") or form.get("title")
    inner = [form.get(key) for key in ("function", "json_schema", "schema")]
    return [str(own)] if own else [name for each in inner for name in names_in(each)]
