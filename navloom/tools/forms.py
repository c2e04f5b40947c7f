"""The form of an answer: strict models, the schema a backend is held to, and what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from navloom.tools.violations import MOST_LISTED, Violation, listed, quoted

__all__ = ["Form", "closed_object", "read_form"]


class Form(BaseModel):
    """A part of an answer: its keys are the aliases, all of them and no others."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


F = TypeVar("F", bound=Form)


def closed_object(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def read_form(
    answer: Mapping[str, Any], key: str, form: type[F]
) -> tuple[F | None, list[Violation]]:
    """Read the part of an answer that stands under a key.

    Args:
        answer: what the model said.
        key: the key, for example ``phase_1``.
        form: what is expected under it.

    Returns:
        The part and no faults, or None and each fault of its form in one sentence.
    """
    if not isinstance(answer.get(key), dict):
        return None, [Violation("wrong_form", f'The answer has no object under the key "{key}".')]
    try:
        return form.model_validate(answer[key]), []
    except ValidationError as error:
        return None, _faults(error, form, key)


def _faults(error: ValidationError, form: type[Form], key: str) -> list[Violation]:
    keys = listed([f'"{field.alias}"' for field in form.model_fields.values() if field.alias])
    found = []
    for each in error.errors(include_url=False, include_context=False)[:MOST_LISTED]:
        path = " > ".join(f'"{part}"' for part in (key, *each["loc"]))
        match each["type"]:
            case "missing":
                fault = f"{path} is missing."
            case "extra_forbidden":
                fault = f"{path} does not belong there; the keys of {key} are {keys}."
            case _:
                fault = f"{path}: {each['msg']}; found {quoted(each['input'])}."
        found.append(Violation("wrong_form", fault))
    return found
