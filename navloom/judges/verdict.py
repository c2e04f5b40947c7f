"""Parser of a judge's reply: its last verdict, checked against the allowed values.

A reply may hold reasoning, drafts and quotations. The last JSON object with a verdict counts. An
invalid verdict is asked for again with the exact fault. After that the item is unscored, which is
neither right nor wrong.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage

from navloom.models.messages import AnswerError, json_values, message_text
from navloom.prompts.prompt_loader import load_prompt
from navloom.tools.model_output import object_schema
from navloom.tools.navigation.step_options import strip_thoughts

_MOST_READ = 60_000
_MOST_STARTS = 500
_FLAGS = {"true": True, "yes": True, "false": False, "no": False}
_MOST_SAID = 600
_MOST_REPLY = 4_000
_MOST_FALSE = 8


@dataclass(frozen=True)
class Verdict:
    """A judge's verdict on one explanation.

    Attributes:
        correct: None where it is unscored.
        explanation: the judge's reason, bounded; of an unscored one, the fault of the last reply.
        partial: the share of the path's barriers that were named rightly; None where it is not
            known: unscored, a path without barriers, or a judge that calls an explanation correct
            and names nothing in it.
        named: the barriers named rightly, as ``node_1->node_2``.
        false: claimed barriers that are none, in the judge's words.
        faults: faults of the replies, in order.
        prompt: the system and the first human text.
        replies: the judge's replies, in order.
        usage: usage of the judge's calls (:class:`navloom.models.usage.ModelUsage`).
    """

    correct: bool | None
    explanation: str = ""
    partial: float | None = None
    named: tuple[str, ...] = ()
    false: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    prompt: tuple[str, ...] = ()
    replies: tuple[str, ...] = ()
    usage: tuple[dict[str, Any], ...] = ()

    @classmethod
    def of(cls, record: Mapping[str, Any], usage: Sequence[dict[str, Any]] = ()) -> Verdict:
        """Build a verdict from a record; unknown keys are ignored."""
        known: dict[str, Any] = {
            key: tuple(record[key]) if isinstance(record[key], list) else record[key]
            for key in cls.__dataclass_fields__
            if key in record
        }
        return cls(**{**known, "usage": tuple(usage)})

    def record(self) -> dict[str, Any]:
        """Return the verdict as JSON-ready data, without usage."""
        said = {name: getattr(self, name) for name in self.__dataclass_fields__}
        del said["usage"]
        return {k: list(v) if isinstance(v, tuple) else v for k, v in said.items()}


def judge_replies(messages: Sequence[Any]) -> tuple[str, ...]:
    """Return a judge's replies in a conversation, each cut to a limit."""
    said = (message for message in messages if isinstance(message, AIMessage))
    return tuple(message_text(message.content)[:_MOST_REPLY] for message in said)


def finish_judging(
    state: Mapping[str, Any],
    prompt: str,
    result: Mapping[str, Any],
    fault: str | None = None,
    *,
    scored: bool | None = None,
    **asked_with: Any,
) -> dict[str, Any]:
    """Return the update that ends a judging run; without a grade it is ``failed`` as ``unscored``.

    Args:
        state: the graph's: its messages, and the earlier replies' faults.
        prompt: the prompt's name.
        result: the grades; ``faults``, ``prompt``, ``replies`` and ``asked_with`` are added.
        fault: the last reply's fault.
        scored: whether there is a grade; by default, if there is no fault.
        asked_with: further fields on the prompt for the result.
    """
    scored = fault is None if scored is None else scored
    messages, faults = state.get("messages", ()), [] if fault is None else [fault]
    return {
        "status": "ok" if scored else "failed",
        "reason": None if scored else "unscored",
        "message": None if scored else fault,
        "faults": faults,
        "result": {
            **result,
            "faults": [*state.get("faults", ()), *faults],
            "prompt": [message_text(message.content) for message in messages[:2]],
            "replies": list(judge_replies(messages)),
            "asked_with": {**load_prompt(prompt).record, **asked_with},
        },
    }


def reasoning_schema(barriers: int) -> dict[str, Any]:
    """Return the schema of a verdict; reasons come before the grade, so that they may decide it.

    Args:
        barriers: how many numbered barriers the judge is shown.
    """
    numbers: dict[str, Any] = {"type": "integer"}
    if barriers:
        numbers["enum"] = list(range(1, barriers + 1))
    return object_schema(
        {
            "explanation": {"type": "string", "description": "One sentence.", "maxLength": 300},
            "named": {"type": "array", "items": numbers, "maxItems": max(barriers, 1)},
            "false": {"type": "array", "items": {"type": "string", "maxLength": 80}, "maxItems": 3},
            "correct": {"type": "boolean"},
        },
        "judge_reasoning",
        "Whether an explanation names what really blocks a path.",
    )


def read_verdict(text: str, barriers: Sequence[str], *, strict: bool = True) -> Verdict:
    """Parse a judge's verdict on whether an explanation is correct.

    Args:
        text: the judge's reply.
        barriers: names of the path's barriers that the judge was shown, in the order of their
            numbers.
        strict: raise AnswerError if ``named``, the list of barrier numbers, is invalid. If False,
            the verdict is kept without named barriers and ``partial`` is None.

    Raises:
        AnswerError: there is no verdict, or it is invalid; the message is for the model.
    """
    said = last_object(text, "correct")
    correct = read_flag(said["correct"], "correct")
    try:
        named: tuple[str, ...] | None = _named(said.get("named"), barriers)
    except AnswerError:
        if strict:
            raise
        named = None
    claims = said.get("false")
    claimed = [_line(each) for each in claims if each] if isinstance(claims, list) else []
    return Verdict(
        correct,
        _line(said.get("explanation") or ""),
        _share(correct, named, len(barriers)),
        named or (),
        tuple(claimed[:_MOST_FALSE]),
    )


def _share(correct: bool, named: Sequence[str] | None, of: int) -> float | None:
    if not of or named is None or (correct and not named):
        return None
    return len(named) / of


def _named(value: Any, barriers: Sequence[str]) -> tuple[str, ...]:
    given = [] if value is None else value
    if not isinstance(given, list):
        raise AnswerError('"named" must be a list of numbers, empty where none is named.')
    numbers: set[int] = set()
    for each in given:
        number = int(each) if isinstance(each, str) and re.fullmatch(r"\d{1,4}", each) else each
        if type(number) is not int or not 1 <= number <= len(barriers):
            menu = f"from 1 to {len(barriers)}" if barriers else "none, since there are no barriers"
            raise AnswerError(
                f'"named" holds {_line(each)[:40]!r}; the numbers to name are {menu}.'
            )
        numbers.add(number)
    return tuple(barriers[number - 1] for number in sorted(numbers))


def read_flag(value: Any, key: str) -> bool:
    """Parse a boolean, given as JSON or as a word.

    Raises:
        AnswerError: it is neither; the message is for the model.
    """
    if isinstance(value, bool):
        return value
    word = value.strip().casefold() if isinstance(value, str) else ""
    if word in _FLAGS:
        return _FLAGS[word]
    raise AnswerError(f'"{key}" is {_line(value)[:40]!r}; it must be true or false.')


def last_object(text: str, key: str) -> dict[str, Any]:
    """Return the last JSON object with a key in a reply, outside its reasoning.

    Raises:
        AnswerError: there is none; the message is for the model.
    """
    text = strip_thoughts(text[-_MOST_READ:])
    found = [each for each in json_values(text, "{", most=_MOST_STARTS) if key in each]
    if not found:
        raise AnswerError(
            f'The reply holds no JSON object with "{key}". Answer with the JSON object alone.'
        )
    return dict(found[-1])


def _line(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str)[:_MOST_SAID]
    return " ".join(text[: 4 * _MOST_SAID].split())[:_MOST_SAID]
