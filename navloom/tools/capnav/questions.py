"""Questions as a model writes them: the schema, a tolerant reader, and what breaks the schema.

The schema of a question is ``capnav_questions.schema.json`` beside this file, in JSON Schema
2020-12: the form of the benchmark's ``qa/ID_QA.json``. Strict backends take no array at the root,
so that a model is asked for an object whose one key ``questions`` holds the array; an array alone,
a question alone and an answer that was cut short are read as well. Nothing is repaired or guessed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from jsonschema import Draft202012Validator

from navloom.models.answer import MOST_CHARACTERS, AnswerError, json_values
from navloom.tools.capnav.answers import without_thoughts
from navloom.tools.forms import Violation, quoted

TITLE, COMPACT_TITLE = "capnav_tasks", "capnav_task_choice"
"""The titles of the two response schemas, by which builtin models know their job."""
MOST_QUESTIONS = 50
"""Questions of one answer that are read."""
_MOST_FAULTS = 4
_KEYS = ("scene_type", "question", "reason", "nodes_involved")
_INVOLVED = ("start", "start_detail", "intermediate", "end", "end_detail")


@cache
def question_schema() -> dict[str, Any]:
    """The schema of a list of questions; read once, not to be changed."""
    text = files("navloom.tools.capnav").joinpath("questions.schema.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


@cache
def _validator() -> Draft202012Validator:
    return Draft202012Validator(question_schema()["items"])


def response_schema(ids: Sequence[str], *, constrain: bool, least: int) -> dict[str, Any]:
    """What a model is held to: an object with the questions.

    Args:
        ids: the places there are.
        constrain: enumerate them.
        least: how many questions are asked for.
    """
    item = json.loads(json.dumps(question_schema()["items"]))
    if constrain:
        involved = item["properties"]["nodes_involved"]["properties"]
        for node in (involved["start"], involved["end"], involved["intermediate"]["items"]):
            node["enum"] = list(ids)
    asked = {"type": "array", "items": item, "maxItems": max(1, min(MOST_QUESTIONS, 2 * least))}
    return {
        "title": TITLE,
        "description": "Navigation questions about one scene.",
        "type": "object",
        "properties": {"questions": asked},
        "required": ["questions"],
        "additionalProperties": False,
    }


def compact_schema(
    route: Sequence[str], things: Sequence[Sequence[str]], *, constrain: bool
) -> dict[str, Any]:
    """The schema of one question in small choices: a thing in each of two places.

    Args:
        route: start and end, which are settled.
        things: what is listed in each; a place without a list takes any words.
        constrain: enumerate all of it.
    """
    whole = question_schema()["items"]["properties"]
    involved = whole["nodes_involved"]["properties"]
    keys = ("start", "start_detail", "end", "end_detail")
    made = {key: dict(involved[key]) for key in keys}
    made["scene_type"] = dict(whole["scene_type"])
    for key, place, listed in zip(("start", "end"), route, things, strict=True):
        if constrain:
            made[key]["enum"] = [place]
        if constrain and listed:
            made[f"{key}_detail"]["enum"] = list(listed)
    return {
        "title": COMPACT_TITLE,
        "description": "One route: two places, and a thing in each.",
        "type": "object",
        "properties": made,
        "required": list(made),
        "additionalProperties": False,
    }


def read_questions(text: str) -> list[dict[str, Any]]:
    """The questions in a model's answer, as it gave them.

    Args:
        text: the whole answer.

    Returns:
        At most ``MOST_QUESTIONS``: those of the last JSON value that holds several, else every one
        that stands alone.

    Raises:
        AnswerError: there is none; the message is one line that a model can act on.
    """
    if len(text) > MOST_CHARACTERS:
        raise AnswerError(
            f"The answer is {len(text)} characters long; at most {MOST_CHARACTERS} are read."
        )
    said, thoughts = without_thoughts(text)
    for part in (said, thoughts):
        lists, alone = [], []
        for value in json_values(part):
            found = _several(value)
            if found is None and isinstance(value, Mapping) and _is_question(value):
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


def _is_question(value: Mapping[str, Any]) -> bool:
    return "question" in value or "nodes_involved" in value or "start" in value


def schema_faults(question: Mapping[str, Any]) -> list[Violation]:
    """What of a question breaks the schema, at most a few, the first keys first."""
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
            return f"{where} is {quoted(fault.instance)}: expected {wanted}"
        case "enum":
            return f"{where} is {quoted(fault.instance)}: expected {', '.join(map(str, wanted))}"
        case "minLength" | "maxLength":
            word = "at least" if fault.validator == "minLength" else "at most"
            return f"{where} has {len(fault.instance)} characters: expected {word} {wanted}"
        case "maxItems":
            return f"{where} has {len(fault.instance)} entries: expected at most {wanted}"
    return f"{where} breaks the rule {fault.validator} of the schema"


def trimmed(question: Mapping[str, Any]) -> dict[str, Any]:
    """A question that fits the schema with the benchmark's keys alone, white space collapsed."""
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
