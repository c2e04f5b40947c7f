"""What an instruction speaks of: ways, stairs, rooms and things, by plain word lists, no model.

Texts come from datasets, captions and people: they are cut to a bounded length and every pattern
runs in linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from navloom.scenes.lexicon import classify, room_types

Way = Literal["left", "right", "straight", "around"]

_MOST_CHARACTERS = 4000
_ROOM_WORDS = 3
"""Words in the longest name of a room."""
_WORD = re.compile(r"[a-z]+")
_NOT_A_ROOM = frozenset(
    _WORD.findall(
        "bar bath game garden outdoor passage rec stairs staircase stairwell storage toilet tv"
        " wardrobe workout"
    )
)
"""Labels of rooms that in a sentence mean a thing, a way or a deed more often than a room."""
_NOT_A_THING = frozenset(
    _WORD.findall(
        "bath can case closet drawer glass letter light range rest scale seat shower stand step"
        " throw top weight wine"
    )
)
"""Names of things that in an instruction are mostly verbs, rooms or matter."""

_BREAK = re.compile(r"[.,;:!?\n]|\b(?:and|then)\b")
_STAIRS = re.compile(
    r"\b(?:stairs?|staircases?|stairways?|stairwells?|steps|upstairs|downstairs|escalators?"
    r"|elevators?|ladders?|(?:first|second|third|top|bottom|ground|upper|lower) (?:floor|level))\b"
)
_LEAVE = re.compile(
    r"\b(?:exit|leave|leaving|exiting"
    r"|(?:walk|go|get|come|step|head|move)(?:\s+\w+)?\s+out(?:side)?\b(?!\s+to the)"
    r"|out (?:of|the|through)|through the (?:door|doorway)|outside)\b"
)
_ORDINAL = re.compile(
    r"\b(?:first|second|third|fourth|next|last|other|farthest|furthest|closest|nearest|1st|2nd|3rd)"
    r"(?:\s+\w+){0,2}?\s+"
    r"(?:doors?|doorways?|left|right|rooms?|openings?|hallways?|halls?|entrances?|archways?|arch)\b"
)
_VERB = (
    r"\b(?:turn|turning|take|make|go|head|veer|bear|walk|hang|move|exit|step|enter|face|continue)"
)
_FILL = (
    r"(?:\s+(?:a|an|the|to|your|slight|slightly|sharp|hard|quick|immediate|immediately|first"
    r"|second|next|toward|towards)){0,4}"
)
_WAYS: tuple[tuple[Way, re.Pattern[str]], ...] = (
    ("left", re.compile(_VERB + _FILL + r"\s+left\b(?!\s+of\b)")),
    ("right", re.compile(_VERB + _FILL + r"\s+right\b(?!\s+of\b)")),
    (
        "around",
        re.compile(
            r"\bturn(?:ing)?\s+(?:all the way\s+|completely\s+)?(?:around|back)\b|\bu-?turn"
        ),
    ),
    ("straight", re.compile(r"\b(?:straight|forward|ahead)\b")),
)


@dataclass(frozen=True)
class Clause:
    """A part of an instruction between two breaks.

    Attributes:
        text: its words, in lower case.
        ways: which ways it says to go, each at most once.
    """

    text: str
    ways: tuple[Way, ...]


@lru_cache(maxsize=4096)
def clauses(instruction: str) -> tuple[Clause, ...]:
    """The parts of an instruction, in order.

    >>> [(c.text, c.ways) for c in clauses("Turn left, then walk past the bed.")]
    [('turn left', ('left',)), ('walk past the bed', ())]
    """
    parts = [part.strip() for part in _BREAK.split(_folded(instruction))]
    return tuple(
        Clause(part, tuple(way for way, says in _WAYS if says.search(part)))
        for part in parts
        if part
    )


def ways_at(instruction: str, progress: float, around: int = 1) -> tuple[Way, ...]:
    """Which ways an instruction says to go about some point of the way.

    Args:
        instruction: the whole of it.
        progress: the part of the way that is done, 0 to 1.
        around: how many clauses on either side of the one at that point count, too.

    Returns:
        The ways of these clauses, in order.
    """
    return _ways(_around(instruction, progress, around, around))


def later_part(instruction: str, progress: float) -> str:
    """What an instruction says from about some point of the way on."""
    return ". ".join(part.text for part in _around(instruction, progress, 0, len(instruction)))


def near_part(instruction: str, progress: float) -> str:
    """What an instruction says about some point of the way."""
    return ". ".join(part.text for part in _around(instruction, progress, 1, 2))


def one_of_several(instruction: str) -> str | None:
    """The words by which an instruction says which of several ways its first clauses mean.

    >>> one_of_several("Take the second door on the left.")
    'second door'
    """
    said = _ORDINAL.search(". ".join(part.text for part in clauses(instruction)[:2]))
    return said.group() if said else None


def _around(instruction: str, progress: float, before: int, after: int) -> Sequence[Clause]:
    """The clause at a point of the way, with so many before and after it."""
    parts = clauses(instruction)
    here = min(int(progress * len(parts)), len(parts) - 1)
    return parts[max(0, here - before) : here + after + 1] if parts else ()


def _ways(parts: Sequence[Clause]) -> tuple[Way, ...]:
    return tuple(dict.fromkeys(way for part in parts for way in part.ways))


def speaks_of_leaving(instruction: str, progress: float) -> bool:
    """Whether about some point of the way an instruction says to leave where one is.

    >>> speaks_of_leaving("Exit the bedroom. Turn left.", 0.0)
    True
    """
    return any(_LEAVE.search(part.text) for part in _around(instruction, progress, 1, 1))


def speaks_of_stairs(instruction: str) -> bool:
    """Whether an instruction speaks of stairs or of another storey."""
    return _STAIRS.search(_folded(instruction)) is not None


@lru_cache(maxsize=16_384)
def rooms(text: str) -> frozenset[str]:
    """The room types a text names, as :func:`navloom.scenes.lexicon.room_types` has them.

    >>> sorted(rooms("Leave the bedroom by the living room, wait on the stairs"))
    ['Bedroom', 'Living Room']
    """
    return frozenset(kind for name in _room_names(_words(text)) for kind in room_types(name))


def _room_names(words: Sequence[str]) -> Iterator[str]:
    at = 0
    while at < len(words):
        for size in range(_ROOM_WORDS, 0, -1):
            name = " ".join(words[at : at + size])
            if name not in _NOT_A_ROOM and room_types(name):
                yield name
                at += size - 1
                break
        at += 1


@lru_cache(maxsize=16_384)
def things(text: str) -> frozenset[str]:
    """The assets and objects a text names, each by one word in the singular.

    >>> sorted(things("Stand between the two couches and the coffee table"))
    ['couch', 'table']
    """
    return frozenset(
        one
        for word in _words(text)
        if (one := _singular(word)) not in _NOT_A_THING and classify(one) in ("asset", "object")
    )


def _words(text: str) -> list[str]:
    return _WORD.findall(_folded(text))


def _folded(text: str) -> str:
    return text[:_MOST_CHARACTERS].casefold()


def _singular(word: str) -> str:
    for ending, instead in (("ves", "f"), ("ies", "y"), ("es", ""), ("s", "")):
        one = word.removesuffix(ending) + instead
        if word.endswith(ending) and len(one) > 1 and classify(one) is not None:
            return one
    return word
