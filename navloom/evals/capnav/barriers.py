"""What kind of barrier an annotator's note speaks of.

The benchmark's notes are free text, often misspelt, and may name several barriers at once. A note
is one or more of the kinds below; what none of them covers is ``other``, and a barrier that nobody
explained is ``no note``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from navloom.scenes.traverse import Passage

KINDS = (
    "stairs",
    "door width",
    "narrow passage",
    "sill or height",
    "elevator",
    "closed door",
    "turning space",
    "clutter",
    "surface",
    "other",
    "no note",
)
"""Every kind, in the order of tables."""
_MOST = 500
_PARTS = re.compile(r"[;.]")
_TINY_STEP = re.compile(r"\btiny step\b")
_HEIGHT = re.compile(r"\bsills?\b|\bheight\b|\bthreshold\b|\btoo high\b|\brise of\b|\bget onto\b")
_TURN = re.compile(r"\bturn")
_ELEVATOR = re.compile(r"\b(?:elevator|lift)\b")
_STAIRS = re.compile(r"\bstairs?\b|\bstaircase\b|\bsteps\b")
_LANDING = re.compile(r"\bstairs?[ -](?:landing|side)\b|\b(?:next to|between) (?:the )?stairs?\b")
_CLOSED = re.compile(r"\bcannot open\b|\blocked\b|\bdoor is closed\b")
_DOOR = re.compile(r"\b(?:doors?|dooe|foor|doorway|gate)\b")
_NARROW = re.compile(r"\bnar+ow\b")
_TIGHT = re.compile(
    r"\bnar+ow\b|\bspace\b[^;.]{0,80}\b(?:small|enough)\b|\b(?:no|not) enough (?:space|room)\b"
)
_CLUTTER = re.compile(
    r"\bclutter|\bblocks?\b|\bin the way\b|\bbench\b|\bfurnitur|\biron board\b|\bstop th\b"
)
_SURFACE = re.compile(r"\brugs?\b|\bterrain\b|\bsteep\b|\bgrass\b|\bgravel\b")


def barrier_kinds(note: str) -> tuple[str, ...]:
    """The kinds of barrier that a note names.

    Args:
        note: an annotator's words or ours; untrusted.

    Returns:
        One kind at least, in the order of ``KINDS``.
    """
    text = " ".join(note.casefold()[:_MOST].split())
    if not text:
        return ("no note",)
    found = {kind for part in _PARTS.split(text) for kind in _of_part(part.strip())}
    return tuple(kind for kind in KINDS if kind in found) or ("other",)


def kinds_of(passages: Iterable[Passage]) -> tuple[str, ...]:
    """The kinds of several blocked passages, each once, in the order of ``KINDS``."""
    found = {kind for each in passages for kind in barrier_kinds(each.note)}
    return tuple(kind for kind in KINDS if kind in found)


def _of_part(text: str) -> set[str]:
    found = set()
    if _HEIGHT.search(text) or _TINY_STEP.search(text):
        found.add("sill or height")
    if _ELEVATOR.search(text):
        found.add("elevator")
    if _STAIRS.search(_LANDING.sub(" ", text)):
        found.add("stairs")
    if _CLOSED.search(text):
        found.add("closed door")
    if _TURN.search(text):
        found.add("turning space")
    elif _DOOR.search(text) and _NARROW.search(text):
        found.add("door width")
    elif _TIGHT.search(text):
        found.add("narrow passage")
    if _CLUTTER.search(text):
        found.add("clutter")
    if _SURFACE.search(text):
        found.add("surface")
    return found
