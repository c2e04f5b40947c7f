"""What an answer about a viewpoint must look like, and what is wrong with one that does not.

Two forms: marker captions, ``{"1": "...", "2": "..."}`` with every number there is, and a summary,
``{"summary": "..."}``. Both are held to a JSON schema, and every text is made one bounded line.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from navloom.models.answer import AnswerError, read_json_object
from navloom.sim.protocol import MOST_DESCRIPTION, MOST_SUMMARY
from navloom.tools.forms import closed_object
from navloom.tools.untrusted import paragraph

__all__ = ["marker_schema", "read_markers", "read_summary", "summary_schema"]

_SLACK = 2
"""A model cannot count characters: up to twice the bound is cut, more is sent back."""
_MOST_FAULTS = 4


def marker_schema(count: int) -> dict[str, Any]:
    """The JSON schema of marker captions.

    Args:
        count: how many markers there are, from 1.
    """
    caption = {"type": "string", "minLength": 2, "maxLength": _SLACK * MOST_DESCRIPTION}
    return {
        "title": "marker_captions",
        "description": "One caption for every numbered marker.",
        **closed_object({str(number): caption for number in range(1, count + 1)}),
    }


def summary_schema() -> dict[str, Any]:
    """The JSON schema of a viewpoint's summary."""
    text = {"type": "string", "minLength": 2, "maxLength": _SLACK * MOST_SUMMARY}
    return {
        "title": "viewpoint_summary",
        "description": "One sentence about a place.",
        **closed_object({"summary": text}),
    }


def read_markers(text: str, count: int) -> dict[str, str]:
    """The caption of every marker in a model's answer, by number.

    Raises:
        AnswerError: each fault, for the model.
    """
    answer = _checked(text, marker_schema(count))
    return {number: _plain(answer[number], MOST_DESCRIPTION, number) for number in answer}


def read_summary(text: str) -> str:
    """The sentence in a model's answer.

    Raises:
        AnswerError: each fault, for the model.
    """
    answer = _checked(text, summary_schema())
    return _plain(answer["summary"], MOST_SUMMARY, "summary")


def _plain(said: str, most: int, key: str) -> str:
    words = paragraph(said, most)
    if not any(map(str.isalpha, words)):
        raise AnswerError(f'"{key}" holds no words. Answer again with words for it.')
    return words


def _checked(text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    answer = read_json_object(text)
    errors = sorted(Draft202012Validator(schema).iter_errors(answer), key=_place)
    if errors:
        faults = " ".join(dict.fromkeys(_fault(e, schema) for e in errors[:_MOST_FAULTS]))
        raise AnswerError(f"{faults} Answer again with the whole JSON object.")
    return answer


def _place(error: ValidationError) -> tuple[str, str]:
    return "/".join(map(str, error.absolute_path)), str(error.validator)


def _fault(error: ValidationError, schema: Mapping[str, Any]) -> str:
    """One fault as a sentence that repeats little of what was said."""
    keys, found = list(schema["properties"]), cast(Any, error.instance)
    named = f'"{error.absolute_path[0]}"' if error.absolute_path else "The answer"
    match error.validator:
        case "required":
            missing = [key for key in keys if key not in found]
            return f"Missing: {', '.join(missing[:20])}."
        case "additionalProperties":
            strange = [str(key)[:20] for key in found if key not in keys]
            return f"Not asked for: {', '.join(strange[:5])}; the keys are {', '.join(keys[:40])}."
        case "maxLength":
            size = len(found)
            return f"{named} has {size} characters, at most {error.validator_value} are read."
        case "minLength":
            return f"{named} is empty."
    return f"{named} is a {type(found).__name__}, expected a text."
