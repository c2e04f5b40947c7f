"""What is wrong with an answer, said so that a model can mend it.

One :class:`Violation` is one broken rule: a short code to count by and one plain sentence that
names what was said, where, and what would do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ValidationError

__all__ = ["Violation", "form_violations", "listed", "unknown_region"]

_MOST_LISTED = 12
_MOST_QUOTED = 120


@dataclass(frozen=True)
class Violation:
    """One broken rule.

    Attributes:
        code: what to count it under, for example ``"object_not_there"``.
        message: one plain sentence for the model.
    """

    code: str
    message: str


def quoted(value: Any) -> str:
    """A model's own words, shortened and on one line, for use inside a message."""
    text = " ".join(str(value).split())
    return f"'{text[:_MOST_QUOTED]}{'...' if len(text) > _MOST_QUOTED else ''}'"


def listed(names: Sequence[str], *, near: str | None = None) -> str:
    """Names in a sentence, at most a dozen, those most like ``near`` first."""
    if near is not None:
        close = get_close_matches(near, names, n=_MOST_LISTED, cutoff=0.4)
        names = [*close, *(n for n in names if n not in close)]
    shown = ", ".join(names[:_MOST_LISTED])
    more = len(names) - _MOST_LISTED
    return f"{shown} and {more} more" if more > 0 else (shown or "none")


def unknown_region(where: str, name: str, regions: Iterable[str]) -> Violation:
    """The violation of naming a region that is not in the scene."""
    near = get_close_matches(name, list(regions), n=3, cutoff=0.4)
    hint = f" Did you mean {listed(near)}?" if near else " Copy a region id from the scene graph."
    return Violation("unknown_region", f"{where}: {quoted(name)} is not a region.{hint}")


def form_violations(
    error: ValidationError, form: type[BaseModel], *, where: str
) -> list[Violation]:
    """Say each fault of form in one sentence.

    Args:
        error: what pydantic found.
        form: the model the answer was checked against, for its top-level keys.
        where: the key the whole stands under, for example ``phase_1``.
    """
    keys = listed([f'"{field.alias}"' for field in form.model_fields.values() if field.alias])
    found = []
    for each in error.errors(include_url=False, include_context=False)[:_MOST_LISTED]:
        path = " > ".join(f'"{part}"' for part in (where, *each["loc"]))
        match each["type"]:
            case "missing":
                fault = f"{path} is missing."
            case "extra_forbidden":
                fault = f"{path} does not belong there; the keys of {where} are {keys}."
            case _:
                fault = f"{path}: {each['msg']}; found {quoted(each['input'])}."
        found.append(Violation("wrong_form", fault))
    return found
