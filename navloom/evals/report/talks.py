"""What a model and its checks said to each other in a sample, where a run keeps its calls."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from navloom.errors import NavloomError
from navloom.evals.calls import calls_of
from navloom.evals.report.blocks import Said, Tone

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
