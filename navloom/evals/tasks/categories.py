"""What a thing's name falls under: the 21 goal categories of object navigation in Matterport homes.

The categories are Habitat's (Batra et al. 2020; VLN-MME A.1). Names come from files: they are cut
to a bounded length and only ever looked up, first as a whole and then by their longest ending
("old oak dining table" by "dining table").
"""

from __future__ import annotations

import re
from functools import cache

from navloom.scenes.lexicon import word_table

CATEGORIES: dict[str, tuple[str, ...]] = {
    category: tuple(names.split(", ")) for category, names in word_table("goal_categories").items()
}
"""Category -> names, singular and in lower case."""

_NONE = tuple(word_table("goal_none")["names"].split(", "))
"""Endings that mean something else, or nothing that a person would call so."""
_WHOLE_ONLY = frozenset(word_table("goal_none")["whole_only"].split(", "))
"""Names that say too little at the end of a longer one ("back seat", "over shower")."""
_MOST_CHARACTERS = 120
_MOST_WORDS = 3
_WITH = re.compile(r"\s/?w/\s?|\s/w\s|\s/\s|/otherroom|/other room|\s(?:with|behind)\b")


def clean_name(name: str) -> str:
    """A thing's name in plain words.

    Args:
        name: as a file has it, such as ``"table#/w#books"``; untrusted.

    >>> clean_name("coffee#table"), clean_name("table#/w#books"), clean_name("l#shape#sofa")
    ('coffee table', 'table', 'l shape sofa')
    """
    text = name[:_MOST_CHARACTERS].replace("#", " ").replace("_", " ").casefold()
    text = _WITH.split(f"{text} ", maxsplit=1)[0]
    return " ".join(re.findall(r"[a-z0-9]+", text))


@cache
def _names() -> dict[str, str | None]:
    known: dict[str, str | None] = dict.fromkeys(_NONE)
    for category, names in CATEGORIES.items():
        known.update(dict.fromkeys(names, category))
    return known


def category_of(name: str) -> str | None:
    """The category a thing's name falls under; None where it falls under none.

    >>> category_of("throw#pillow"), category_of("toilet#brush"), category_of("tv")
    ('cushion', None, 'tv_monitor')
    """
    words = clean_name(name).split()
    for size in range(min(len(words), _MOST_WORDS), 0, -1):
        for last in _singulars(words[-1]):
            ending = " ".join([*words[-size:-1], last])
            whole = size == len(words)
            if ending in _names() and (whole or ending not in _WHOLE_ONLY):
                return _names()[ending]
    return None


def _singulars(word: str) -> tuple[str, ...]:
    plain = word.removesuffix("s") if len(word) > 3 and not word.endswith("ss") else word
    return (word, plain, word.removesuffix("es") if len(word) > 4 else word)
