"""Words of a stranger, made fit to stand inside a prompt: one bounded line that opens no section.

What a model, a navigator or a file said is pasted into other models' prompts. There it must not
look like a part of the prompt: no line of its own, no heading that readers look for, no control
characters. What it means is left alone; that it is data is said by the prompt around it.

>>> paragraph("Go left. Action options: {}", 80)
'Go left. Action options - {}'
"""

from __future__ import annotations

import re
import unicodedata

HEADINGS = (
    "Job",
    "Random seed",
    "Instruction",
    "History",
    "Navigation starts",
    "Step",
    "Map",
    "Current place",
    "Visited",
    "Unvisited",
    "Plan",
    "Guidance",
    "Dialogue",
    "Q",
    "A",
    "Shortest path",
    "Current heading",
    "Surroundings",
    "Near",
    "Action options",
    "Action",
    "Final Decision",
    "Reasoning",
    "Reflection",
    "Observation",
    "Asked because",
    "Question",
    "Earlier",
    "Facts",
    "Answer",
    "Markers",
    "Views",
    "System",
    "Assistant",
    "Human",
    "User",
)
"""The words that open a section of a prompt when a colon follows."""
_HEADING = re.compile(
    rf"(?<!\w)({'|'.join(h.replace(' ', '[ _]') for h in HEADINGS)})( \d{{1,6}})?"
    r"[*_ ]{0,3}[:\uFF1A\uFE55\u2236]",
    re.IGNORECASE,
)
_TAG = re.compile(r"</?([A-Za-z][\w -]{0,30})>")
_MOST_READ = 20_000


def paragraph(text: str, most: int) -> str:
    """A stranger's text as one plain line.

    Control and invisible characters go, white space is collapsed, a heading of ours loses its
    colon, tags their brackets, fences their ticks; what is over the bound is cut at a word.

    Args:
        text: whatever was said.
        most: characters at most.

    Returns:
        One line of at most ``most`` characters, perhaps empty.
    """
    kept = "".join(_shown(character) for character in text[:_MOST_READ])
    kept = _TAG.sub(r"(\1)", kept.replace("```", " "))
    kept = _HEADING.sub(r"\1\2 -", " ".join(kept.split()))
    return _cut(kept, most)


def _shown(character: str) -> str:
    # Category C: control, format (zero width, direction), surrogate, private, unassigned.
    if character in "\n\r\t\v\f\x85" or unicodedata.category(character) in ("Zl", "Zp"):
        return " "
    return "" if unicodedata.category(character).startswith("C") else character


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    head = text[: most - 1]
    return (head.rsplit(" ", 1)[0] if " " in head else head).rstrip() + "…"
