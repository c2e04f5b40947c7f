"""Replies as the public scorer reads them: the older line, and JSON answers rewritten as one.

Source: makeabilitylab/CapNav, ``scripts/capnav_score.py`` and the runners beside it, read and run
beside this and written anew. Scans are linear in the text.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from navloom.models.answer import MOST_CHARACTERS

_ANSWER = re.compile(r"answer:\s*\([ab]\)\s*(true|false)\s*\|\s*path:\s*(.+)", re.IGNORECASE)
_TAIL = re.compile(r"\|\s*(?:fail|reason)\s*:", flags=re.IGNORECASE)
_ARROW = re.compile(r"->|→")
_YES = frozenset({"yes", "true", "a", "(a)"})


class Line(NamedTuple):
    """A reply as the scorer reads it."""

    error: str | None
    answer: str | None = None
    names: tuple[str, ...] = ()
    text: str = ""


def read_output(text: str) -> Line:
    """Read a reply in the older form."""
    if not text.strip():
        return Line("empty_output")
    if len(text) > MOST_CHARACTERS:
        return Line("cannot_parse_answer_path")
    cleaned = _unthought(text).strip()
    found = _ANSWER.search(cleaned)
    if found is None:
        return Line("cannot_parse_answer_path")
    answer, path = "yes" if found[1].lower() == "true" else "no", found[2]
    tail = _TAIL.search(path)
    path = path if tail is None else path[: tail.start()]
    names = tuple(name for part in _ARROW.split(path) if (name := part.strip()))
    if answer == "yes" and len(names) < 2:
        return Line("yes_without_path")
    return Line(None, answer, names, cleaned)


def _unthought(text: str) -> str:
    """Without ``<think>...</think>``, as written; one that is not closed stays."""
    kept, at = [], 0
    while (opened := text.find("<think>", at)) >= 0:
        closed = text.find("</think>", opened)
        if closed < 0:
            break
        kept.append(text[at:opened])
        at = closed + len("</think>")
    return "".join([*kept, text[at:]])


def reason_of(text: str) -> str:
    """What stands after the first ``| Fail:`` or ``| Reason:`` from which no line ends any more."""
    line = text.rfind("\n")
    last = len(text[: line + 1].rstrip())
    for found in _TAIL.finditer(text):
        # Nothing but white space may stand before the last line.
        if found.end() >= last and (said := text[found.end() :].strip()):
            return said
    return ""


def output_of(answer: Any, path: Any) -> str:
    """A JSON answer as the older line: the reason is lost, and all but a few words are a no."""
    names = [str(each) for each in path] if isinstance(path, list) else []
    yes = str(answer or "").strip().lower() in _YES
    return f"Answer: ({'A' if yes else 'B'}) {yes} | Path: {' -> '.join(names)}"


def items_of(value: Any) -> list[dict[str, Any]] | str:
    """The answers in what a model's JSON says, or why nothing of it is counted."""
    if value is None:
        return "missing_result"
    if not isinstance(value, list):
        return "result_not_list"
    items = [item for item in value if isinstance(item, dict)]
    return items or "empty_result_items_or_missing_fields"


def outputs_of(text: str) -> list[tuple[str | None, str | None, str]] | str:
    """A model's reply as replies in the older form: question, body and text of each.

    A JSON array is taken answer by answer. What is no JSON is one reply, its question and body None
    (the public runner drops it there; as a reply that cannot be read it counts against the model).
    """
    value = _json(text)
    if isinstance(value, _NoJson):
        return [(None, None, text)]
    items = items_of(value)
    if isinstance(items, str):
        return items
    return [(item.get("question"), item.get("agent"), _output(item)) for item in items]


def _output(item: dict[str, Any]) -> str:
    inner = item.get("result") or {}
    inner = inner if isinstance(inner, dict) else {}
    return output_of(inner.get("answer"), inner.get("path") or [])


class _NoJson:
    pass


def _json(text: str) -> Any:
    """What the reply's outermost brackets hold, as the public runner takes it."""
    if len(text) > MOST_CHARACTERS:
        return _NoJson()
    said = _unthought(text).strip()
    if said.startswith("```"):
        said = said.strip("`").strip()
        said = said[4:].strip() if said.lower().startswith("json") else said
    begin, end = said.find("["), said.rfind("]")
    brace = said.find("{")
    if 0 <= begin < end:
        said = said[begin : end + 1]
    elif brace >= 0:
        said = said[brace:]
    try:
        return json.loads(said)
    except (ValueError, RecursionError):
        return _NoJson()
