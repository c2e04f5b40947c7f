"""What a person asks for, and what was asked before it, as the rules read them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

_COUNTED_AT = re.compile(
    r"(?: (?:are|is|there|do you see|can you see|do we have|stand))*"
    r" (?:(?:at|around|by|in|on) (?:it|that|there|that (?:room|table|one))"
    r"|(?P<here>(?:in |at |out )?here|in this (?:room|place)))$"
)
"""In this room, or in that of what was talked of; "there" alone may be the whole home."""


@dataclass(frozen=True)
class Intent:
    """One thing that was asked for: a tool and its arguments, or words to answer with.

    Attributes:
        tool: its name; None for a ready answer.
        args: its arguments.
        words: the ready answer, or what of the tool's answer was asked for.
    """

    tool: str | None
    args: dict[str, Any] = field(default_factory=dict)
    words: str = ""


@dataclass(frozen=True)
class Before:
    """What was asked last.

    Attributes:
        calls: the calls that the last words led to: tool and arguments.
        said: the robot's last words.
        offers: whether they offered something that is like what is not there.
        how: what was asked of the places last: how many, how far.
    """

    calls: Sequence[tuple[str, Mapping[str, Any]]] = ()
    said: str = ""
    offers: bool = False
    how: str = ""

    @property
    def thing(self) -> str:
        """What was looked up last; empty where nothing was."""
        tool, args = self.calls[-1] if self.calls else ("", {})
        return str(args.get("thing", "")) if tool == "find" else ""

    @property
    def asked(self) -> str:
        """The last question's tool; empty where the last thing was an order."""
        tool = self.calls[-1][0] if self.calls else ""
        return tool if tool in ("find", "describe") else ""


def counted_within(text: str, thing: str) -> tuple[str, str]:
    """A thing that is counted, and where: ``this room``, ``it``, or empty for the whole home.

    Args:
        text: the clause.
        thing: what is counted, in its words.
    """
    at = _COUNTED_AT.search(text)
    return (_COUNTED_AT.sub("", thing), "this room" if at["here"] else "it") if at else (thing, "")
