"""What kind of barrier a note speaks of: the kinds that calibration and its tables count by.

The notes are annotators' words ("door sill", "dooe too narrow", "sofa block thw way") or those of
:func:`navloom.scenes.traverse.from_geometry`. A note may speak of several; one that speaks of none
known here ("invalid node") has no kind, and calibration leaves its passages alone.
"""

from __future__ import annotations

import re

from navloom.judges.traversability import NO_EDGE

__all__ = ["CAUSES", "causes_of"]

_PATTERNS = {
    "narrow": r"narrow|\bno\w? enough space|enough space|space between|not fit",
    "stairs": r"\bstairs?\b(?!-side| landing)",
    "door": r"open the door|open door|cannot open|door is locked|locked door",
    "rise": r"\bsills?\b|height|tiny step|\brise of\b|tatami|threshold|too thick|think fur|step\b",
    "elevator": r"elevator|\blift\b",
    "turn": r"\bturn(?:ing)?\b",
    "clutter": r"clutter|\bblock(?:s|ed)?\b|in the way|\bbench\b|prevents entering",
    "terrain": r"terrain|steep|sewage|gravel|grass",
    "missing": re.escape(NO_EDGE),
}
CAUSES = tuple(_PATTERNS)
"""All kinds, in the order of tables."""
_COMPILED = {cause: re.compile(pattern, re.IGNORECASE) for cause, pattern in _PATTERNS.items()}
_ASIDE = re.compile(
    r"next to the stairs?|between (?:the )?stairs?\b|stair[- ]side|to stair|at the stair",
    re.IGNORECASE,
)
"""Stairs that a note names as a place, not as what is in the way."""


def causes_of(note: str) -> frozenset[str]:
    """The kinds of barrier in a note; empty where it speaks of none that is known.

    >>> sorted(causes_of("cannot go up/down stairs; door too narrow"))
    ['narrow', 'stairs']
    """
    text = _ASIDE.sub(" ", note[:4_000])
    return frozenset(cause for cause, pattern in _COMPILED.items() if pattern.search(text))
