"""Parsing and validation of what models write for CapNav: answers and questions.

An answer is a JSON array of ``{question, agent, result: {answer: yes|no, path, reason}}`` (CapNav,
supplementary B.1). Models wrap it in thoughts and fences, give the object bare, answer several
questions at once, or write the older line ``Answer: (A) True | Path: a -> b | Reason: ...``. All of
these are parsed. Prose is no answer. Nothing is guessed, repaired or evaluated. Every scan is
linear in the text.

The schema of a question is ``questions.schema.json`` beside this file, in JSON Schema 2020-12: the
form of the benchmark's ``qa/ID_QA.json``. Strict backends take no array at the root, so a designer
is asked for an object whose only key ``questions`` holds the array. A bare array, a single question
and a truncated reply are parsed too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from jsonschema import Draft202012Validator

from navloom.models.messages import MOST_CHARACTERS, AnswerError, json_values
from navloom.scenes.lexicon import normalize_words
from navloom.tools.model_output import Violation, object_schema, quote

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
class CapnavAnswer:
    """One parsed answer, as the model gave it.

    Attributes:
        answer: whether the body can get there.
        path: nodes as the model wrote them, ids or names, not looked up.
        reason: why not, in the model's words; untrusted, often empty.
        form: which of the accepted forms it was written in.
    """

    answer: Literal["yes", "no"]
    path: tuple[str, ...] = ()
    reason: str = ""
    form: Form = "array"

    def record(self) -> dict[str, Any]:
        """Return the answer as JSON: the ``result`` of an answer row."""
        return {"answer": self.answer, "path": list(self.path), "reason": self.reason}


def parse_answer(text: str, *, question: str = "", agent: str = "") -> CapnavAnswer:
    """Parse a model's reply into an answer.

    Args:
        text: the whole reply.
        question: selects one of several answers; the first if none states its question.
        agent: likewise, the body's name.

    Raises:
        AnswerError: there is no answer, or one that cannot be used; the message is one line that a
            model can act on.
    """
    if len(text) > MOST_CHARACTERS:
        raise AnswerError(
            f"The answer is {len(text)} characters long; at most {MOST_CHARACTERS} are read."
        )
    said, thoughts = split_thoughts(text)
    # An unclosed thought may contain the answer, so it is read only if the rest holds none.
    for part in (said, thoughts):
        found = _in_json(part, question, agent) or _in_line(part)
        if found is not None:
            return found
    raise AnswerError(
        'The answer holds no JSON with "result": {"answer": "yes" or "no", "path":'
        ' [...], "reason": "..."}. Answer with the JSON array alone.'
    )


def split_thoughts(text: str) -> tuple[str, str]:
    """Split a reply into its text without thoughts and an unclosed thought at its end.

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


def _in_json(text: str, question: str, agent: str) -> CapnavAnswer | None:
    """Return the answer in the last JSON value that holds one."""
    last: tuple[list[Mapping[str, Any]], Form] | None = None
    for value in json_values(text):
        form: Form = "array" if isinstance(value, list) else "object"
        if items := _items(value):
            last = items, form
    if last is None:
        return None
    return _read(_chosen(last[0], question, agent), last[1])


def _items(value: Any, depth: int = 0) -> list[Mapping[str, Any]]:
    """Collect the answers in a JSON value: bare, in an array, or under another key."""
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
    """Return the item about this question and body, else about the question, the body, or any."""

    def fit(item: Mapping[str, Any]) -> int:
        asked = bool(question) and _plain(item.get("question")) == _plain(question)
        meant = bool(agent) and _plain(item.get("agent")) == _plain(agent)
        return 2 * asked + meant

    return max(items, key=fit)


def _plain(text: object) -> str:
    return normalize_words(text[:2_000]) if isinstance(text, str) else ""


def _read(item: Mapping[str, Any], form: Form) -> CapnavAnswer:
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
) -> CapnavAnswer:
    if answer == "yes" and len(path) < 2:
        raise AnswerError(
            'The answer is "yes" without a path: give "path" as a list of nodes, from the start'
            " to the end."
        )
    return CapnavAnswer(answer, path, reason, form)


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
        parts = _ARROW.split(value)
        value = parts if len(parts) > 1 else value.split(",")
    if value is None:
        return ()
    if not isinstance(value, list):
        raise AnswerError('"path" is no list: give the ids of its nodes in order.')
    if len(value) > MOST_PATH:
        raise AnswerError(f'"path" has {len(value)} nodes; at most {MOST_PATH} are read.')
    return tuple(text for each in value if (text := _node(each)))


def _node(value: Any) -> str:
    if isinstance(value, Mapping):
        value = value.get("id") or value.get("node") or value.get("name")
    # A value that is no text stays in the path: dropping it could make a wrong path right.
    return " ".join(str(value)[:_MOST_NAME].split())


def _in_line(text: str) -> CapnavAnswer | None:
    """Parse the last ``Answer: (A) True | Path: a -> b | Reason: ...`` line of a text."""
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


TITLE, COMPACT_TITLE = "capnav_tasks", "capnav_task_choice"
"""The titles of the two response schemas, by which builtin models know their job."""
MOST_QUESTIONS = 50
"""Questions of one answer that are read."""
_MOST_FAULTS = 4
_KEYS = ("scene_type", "question", "reason", "nodes_involved")
_ANY_OF = {"question", "nodes_involved", "start"}
_INVOLVED = ("start", "start_detail", "intermediate", "end", "end_detail")


@cache
def question_list_schema() -> dict[str, Any]:
    """Return the JSON schema of a list of questions written by a model (cached, read only)."""
    text = files("navloom.tools.capnav").joinpath("questions.schema.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


@cache
def _validator() -> Draft202012Validator:
    return Draft202012Validator(question_list_schema()["items"])


def response_schema(ids: Sequence[str], *, constrain: bool, least: int) -> dict[str, Any]:
    """Return the JSON schema of a designer's response: an object with the questions.

    Args:
        ids: the node ids of the scene.
        constrain: restrict nodes to ``ids`` by enumeration.
        least: how many questions are asked for.
    """
    item = json.loads(json.dumps(question_list_schema()["items"]))
    if constrain:
        involved = item["properties"]["nodes_involved"]["properties"]
        for node in (involved["start"], involved["end"], involved["intermediate"]["items"]):
            node["enum"] = list(ids)
    asked = {"type": "array", "items": item, "maxItems": max(1, min(MOST_QUESTIONS, 2 * least))}
    return object_schema({"questions": asked}, TITLE, "Navigation questions about one scene.")


def compact_schema(
    route: Sequence[str], things: Sequence[Sequence[str]], *, constrain: bool
) -> dict[str, Any]:
    """Return the schema of one question about a given route: a detail for each end.

    Args:
        route: start and end, which are fixed.
        things: the items listed for each end; a place without a list takes free text.
        constrain: restrict all values by enumeration.
    """
    whole = question_list_schema()["items"]["properties"]
    involved = whole["nodes_involved"]["properties"]
    keys = ("start", "start_detail", "end", "end_detail")
    made = {key: dict(involved[key]) for key in keys}
    made["scene_type"] = dict(whole["scene_type"])
    for key, place, listed in zip(("start", "end"), route, things, strict=True):
        if constrain:
            made[key]["enum"] = [place]
        if constrain and listed:
            made[f"{key}_detail"]["enum"] = list(listed)
    about = "One route: two places, and a thing in each."
    return object_schema(made, COMPACT_TITLE, about)


def read_questions(text: str) -> list[dict[str, Any]]:
    """Parse the questions in a model's reply, as it gave them.

    Args:
        text: the whole reply.

    Returns:
        At most ``MOST_QUESTIONS``: those of the last JSON value that holds several, else every
        question that stands alone.

    Raises:
        AnswerError: there is none; the message is one line that a model can act on.
    """
    if len(text) > MOST_CHARACTERS:
        raise AnswerError(
            f"The answer is {len(text)} characters long; at most {MOST_CHARACTERS} are read."
        )
    said, thoughts = split_thoughts(text)
    for part in (said, thoughts):
        lists, alone = [], []
        for value in json_values(part):
            found = _several(value)
            if found is None and isinstance(value, Mapping) and value.keys() & _ANY_OF:
                alone.append(dict(value))
            elif found:
                lists.append(found)
        if questions := (lists[-1] if lists else alone):
            return questions[:MOST_QUESTIONS]
    raise AnswerError(
        'The answer holds no JSON with questions. Answer with {"questions": [...]} alone.'
    )


def _several(value: Any) -> list[dict[str, Any]] | None:
    if isinstance(value, Mapping):
        value = value.get("questions")
    if not isinstance(value, list):
        return None
    return [dict(each) for each in value if isinstance(each, Mapping)]


def schema_violations(question: Mapping[str, Any]) -> list[Violation]:
    """Return the first few violations of the question schema, sorted by key."""
    faults = sorted(_validator().iter_errors(dict(question)), key=lambda e: str(e.json_path))
    return [Violation("schema", _said(fault)) for fault in faults[:_MOST_FAULTS]]


def _said(fault: Any) -> str:
    where = ".".join(str(part) for part in fault.absolute_path) or "the question"
    wanted = fault.validator_value
    match fault.validator:
        case "required":
            lacking = [key for key in wanted if key not in fault.instance]
            return f"{where} lacks {', '.join(lacking)}"
        case "type":
            return f"{where} is {quote(fault.instance)}: expected {wanted}"
        case "enum":
            return f"{where} is {quote(fault.instance)}: expected {', '.join(map(str, wanted))}"
        case "minLength" | "maxLength":
            word = "at least" if fault.validator == "minLength" else "at most"
            return f"{where} has {len(fault.instance)} characters: expected {word} {wanted}"
        case "maxItems":
            return f"{where} has {len(fault.instance)} entries: expected at most {wanted}"
    return f"{where} breaks the rule {fault.validator} of the schema"


def normalize_question(question: Mapping[str, Any]) -> dict[str, Any]:
    """Return a question with the benchmark's keys only and whitespace collapsed."""
    kept = {key: question[key] for key in _KEYS}
    involved = {key: question["nodes_involved"][key] for key in _INVOLVED}
    return _collapsed({**kept, "nodes_involved": involved})  # type: ignore[no-any-return]


def _collapsed(value: Any) -> Any:
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, Mapping):
        return {key: _collapsed(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_collapsed(part) for part in value]
    return value
