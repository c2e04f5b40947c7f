"""What is wrong with an answer, said so that a model can mend it.

One :class:`Violation` is one broken rule: a short code to count by and one plain sentence that
names what was said, where, and what would do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

__all__ = ["MOST_LISTED", "Violation", "listed", "quoted"]

MOST_LISTED = 12
"""How many names or faults a message lists."""
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
        close = get_close_matches(near, names, n=MOST_LISTED, cutoff=0.4)
        names = [*close, *(n for n in names if n not in close)]
    shown = ", ".join(names[:MOST_LISTED])
    more = len(names) - MOST_LISTED
    return f"{shown} and {more} more" if more > 0 else (shown or "none")
