"""Words about places: untrusted ones made plain and short, lists and articles, names of rooms."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from navloom.scenes.scene import UNKNOWN, Region

_OPENERS = re.compile(
    r"(?:(?:the|this|a) )?(?:scene|image|picture|photo|video)s? "
    r"(?:depicts|depicting|shows|showing|features|featuring|includes|including|consists of|contains"
    r"|containing|is of|of|with) "
    r"|there (?:is|are) |(?:a|the) (?:close-up )?view of |(?:a )?series of "
)
_VOWELS = "aeio"
_NAMELESS = (UNKNOWN.casefold(), "other", "other room")


def one_line(text: str, most: int) -> str:
    """An untrusted text on one line without control characters, cut at a word where it is long.

    Args:
        text: what somebody wrote.
        most: the most characters it may have, at least 4.
    """
    # Far more is dropped before the words are looked at, so that enormous texts cost nothing.
    words = "".join(c if c.isprintable() else " " for c in text[: most * 4]).split()
    plain = " ".join(words)
    if len(plain) <= most:
        return plain
    cut = plain[: most - 3]
    return (cut.rsplit(" ", 1)[0] if " " in cut else cut).rstrip(" ,;:.-") + "..."


def briefly(caption: str, most: int) -> str:
    """A caption as an option shows it: without "The scene depicts", and no longer than ``most``.

    It is cut at the last comma that leaves at least half of it, else at a word.

    >>> briefly("The scene depicts a bathroom with a tub, a sink, and a mirror.", 40)
    'Bathroom with a tub, a sink'
    """
    text = one_line(caption, most * 4).rstrip(". ")
    folded = text.casefold()
    # Case folding may change a text's length ('ß'); then its opener is left alone.
    opener = _OPENERS.match(folded) if len(folded) == len(text) else None
    text = text[opener.end() :] if opener else text
    text = re.sub(r"^(?:an?|the) ", "", text, flags=re.IGNORECASE)
    if len(text) > most:
        head, comma, _ = text[: most + 1].rpartition(",")
        text = head if comma and len(head) >= most // 2 else one_line(text, most)
    return text[:1].upper() + text[1:]


def unique(words: Iterable[str], most: int) -> list[str]:
    """The first ``most`` different words, in their order."""
    return list(dict.fromkeys(words))[:most]


def enumerated(words: Sequence[str]) -> str:
    """Words in a row as one writes them: ``a, b and c``."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def with_article(noun: str) -> str:
    """``an oven``, ``a table``; what looks like a plural stays as it is."""
    if noun.endswith("s") and not noun.endswith("ss"):
        return noun
    return f"{'an' if noun[:1].lower() in _VOWELS else 'a'} {noun}"


def label_words(region: Region) -> str:
    """A region's type as words in a sentence: lower case, letters and digits, ``/`` kept.

    >>> label_words(Region(id="Kitchen_1", label="Kitchen/Living_Room", center=(0, 0, 0)))
    'kitchen/living room'
    """
    if region.label.casefold() in _NAMELESS:
        return "room"
    return re.sub(r"[^0-9a-z/]+", " ", region.label.casefold())[:60].strip(" /") or "room"
