"""What a model answers to a CapNav question, read tolerantly and bounded strictly.

Asked for is a JSON array of ``{question, agent, result: {answer: yes|no, path, reason}}``
(CapNav, supplementary B.1). Models wrap it in thoughts and fences, give the object bare, answer
several questions at once, or write the older line ``Answer: (A) True | Path: a -> b | Reason:
...``. Prose is no answer. Nothing is guessed, repaired or evaluated; every scan is linear in the
text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from navloom.models.answer import MOST_CHARACTERS, AnswerError, json_values

MOST_PATH = 200
"""Nodes of a path that are read: no scene of the benchmark has half as many."""
_MOST_NAME = 300
_MOST_REASON = 4_000
_MOST_ITEMS = 200
_DEEPEST = 3
_OPEN = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_CLOSE = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_LINE = re.compile(
    r"Answer:[*_]{0,3}\s*(?:\(?[AB]\)?[\s.:]*)?(True|False|Yes|No)\b\s*\|\s*Path:([^\n]*)",
    re.IGNORECASE,
)
_TAIL = re.compile(r"\|\s*(?:fail|reason)\s*:", re.IGNORECASE)
_ARROW = re.compile(r"->|→|=>|⇒")
_YES = frozenset({"yes", "true", "a"})
_NO = frozenset({"no", "false", "b"})
_FIRST_WORD = re.compile(r"[\W_]*([A-Za-z]{1,8})\b")

Form = Literal["array", "object", "line"]


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer, as the model gave it.

    Attributes:
        answer: whether the body can get there.
        path: nodes as the model wrote them, ids or names, none of them looked up.
        reason: why not, in the model's words; untrusted, often empty.
        form: how it was written.
    """

    answer: Literal["yes", "no"]
    path: tuple[str, ...] = ()
    reason: str = ""
    form: Form = "array"

    def record(self) -> dict[str, Any]:
        """As JSON: the ``result`` of an answer row."""
        return {"answer": self.answer, "path": list(self.path), "reason": self.reason}


def parse_answer(text: str, *, question: str = "", agent: str = "") -> Answer:
    """Read a model's reply.

    Args:
        text: the whole reply.
        question: which of several answers is meant; the first where none says so.
        agent: likewise, the body's name.

    Raises:
        AnswerError: there is no answer, or one that cannot be used; the message is one line that a
            model can act on.
    """
    if len(text) > MOST_CHARACTERS:
        raise AnswerError(
            f"The answer is {len(text)} characters long; at most {MOST_CHARACTERS} are read."
        )
    said, thoughts = without_thoughts(text)
    # A thought that never ends may well end in the answer; it is read only where nothing else is.
    for part in (said, thoughts):
        found = _in_json(part, question, agent) or _in_line(part)
        if found is not None:
            return found
    raise AnswerError(
        'The answer holds no JSON with "result": {"answer": "yes" or "no", "path":'
        ' [...], "reason": "..."}. Answer with the JSON array alone.'
    )


def without_thoughts(text: str) -> tuple[str, str]:
    """A reply without its thinking, and the thought at its end that was never closed.

    A closing tag without an opening one ends a thought that began before the reply.
    """
    kept: list[str] = []
    at = 0
    while (opened := _OPEN.search(text, at)) is not None:
        kept.append(text[at : opened.start()])
        closed = _CLOSE.search(text, opened.end())
        if closed is None:
            return _after_close("".join(kept)), text[opened.end() :]
        at = closed.end()
    kept.append(text[at:])
    return _after_close("".join(kept)), ""


def _after_close(text: str) -> str:
    end = 0
    for closed in _CLOSE.finditer(text):
        end = closed.end()
    return text[end:]


def _in_json(text: str, question: str, agent: str) -> Answer | None:
    """The answer in the last JSON value that holds one."""
    last: tuple[list[Mapping[str, Any]], Form] | None = None
    for value in json_values(text):
        form: Form = "array" if isinstance(value, list) else "object"
        if items := _items(value):
            last = items, form
    if last is None:
        return None
    return _read(_chosen(last[0], question, agent), last[1])


def _items(value: Any, depth: int = 0) -> list[Mapping[str, Any]]:
    """The answers in a JSON value: an array's, a bare one, or those under another key."""
    if depth > _DEEPEST:
        return []
    if isinstance(value, Mapping):
        if _result(value) is not None:
            return [value]
        return [item for part in list(value.values())[:20] for item in _items(part, depth + 1)]
    if isinstance(value, list):
        return [item for part in value[:_MOST_ITEMS] for item in _items(part, depth + 1)]
    return []


def _result(item: Mapping[str, Any]) -> Mapping[str, Any] | None:
    inner = item.get("result")
    if isinstance(inner, list) and inner:
        inner = inner[0]
    for each in (inner, item):
        if isinstance(each, Mapping) and "answer" in each:
            return each
    return None


def _chosen(items: Sequence[Mapping[str, Any]], question: str, agent: str) -> Mapping[str, Any]:
    """The item about this question and body; else about the question, the body, any."""

    def fit(item: Mapping[str, Any]) -> int:
        asked = bool(question) and _plain(item.get("question")) == _plain(question)
        meant = bool(agent) and _plain(item.get("agent")) == _plain(agent)
        return 2 * asked + meant

    return max(items, key=fit)


def _plain(text: object) -> str:
    words = re.sub(r"[^0-9a-z]+", " ", text[:2_000].casefold()) if isinstance(text, str) else ""
    return " ".join(words.split())


def _read(item: Mapping[str, Any], form: Form) -> Answer:
    result = _result(item) or {}
    reason = result.get("reason") or item.get("reason") or ""
    return _checked(
        _yes_or_no(result.get("answer")),
        _path(result.get("path", item.get("path"))),
        " ".join(reason.split())[:_MOST_REASON] if isinstance(reason, str) else "",
        form,
    )


def _checked(
    answer: Literal["yes", "no"], path: tuple[str, ...], reason: str, form: Form
) -> Answer:
    if answer == "yes" and len(path) < 2:
        raise AnswerError(
            'The answer is "yes" without a path: give "path" as a list of nodes, from the start'
            " to the end."
        )
    return Answer(answer, path, reason, form)


def _yes_or_no(value: Any) -> Literal["yes", "no"]:
    if isinstance(value, bool):
        return "yes" if value else "no"
    found = _FIRST_WORD.match(value[:100]) if isinstance(value, str) else None
    word = found[1].casefold() if found else ""
    if word in _YES:
        return "yes"
    if word in _NO:
        return "no"
    raise AnswerError(f'"answer" is {str(value)[:40]!r}: expected "yes" or "no".')


def _path(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        value = _split(value)
    if value is None:
        return ()
    if not isinstance(value, list):
        raise AnswerError('"path" is no list: give the ids of its nodes in order.')
    if len(value) > MOST_PATH:
        raise AnswerError(f'"path" has {len(value)} nodes; at most {MOST_PATH} are read.')
    return tuple(text for each in value if (text := _node(each)))


def _split(text: str) -> list[str]:
    parts = _ARROW.split(text)
    return parts if len(parts) > 1 else text.split(",")


def _node(value: Any) -> str:
    if isinstance(value, Mapping):
        value = value.get("id") or value.get("node") or value.get("name")
    # What is no text stays in the path as what it is: dropped, it could make a wrong path right.
    return " ".join(str(value)[:_MOST_NAME].split())


def _in_line(text: str) -> Answer | None:
    """The last ``Answer: (A) True | Path: a -> b | Reason: ...`` of a text."""
    last: re.Match[str] | None = None
    for found in _LINE.finditer(text):
        last = found
    if last is None:
        return None
    rest = last[2]
    tail = _TAIL.search(rest)
    path, reason = (rest, "") if tail is None else (rest[: tail.start()], rest[tail.end() :])
    return _checked(
        _yes_or_no(last[1]),
        _path(path.strip(" *_|") or None),
        " ".join(reason.split())[:_MOST_REASON],
        "line",
    )
