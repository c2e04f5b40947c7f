"""Words of homes, for rule-based policies: stems, synonyms, and what shows that a room is near.

The words are data, in ``navloom/scenes/words.yaml``: written by hand, none counted from a dataset.
"""

from __future__ import annotations

import re
from functools import lru_cache

from navloom.scenes.lexicon import canons, word_table

__all__ = ["MOST_CHARACTERS", "ROOMS", "bag", "common", "likeness", "plain"]

MOST_CHARACTERS = 4_000
"""Of a longer text only so much is read."""
_WORD = re.compile(r"[a-z]+")

_NEARLY_NOTHING = frozenset(word_table("idle")["navigator"].split())
_COMMON_WORDS = "door window picture table chair white rug mirror lamp arch glass wall"
_COMMON = frozenset(_COMMON_WORDS.split())
ROOMS = frozenset(word_table("rooms")["navigator"].split())
"""Words that say which room it is."""
_CANON = canons("navigator_synonyms")
_CLUES = {word: frozenset(clues.split()) for word, clues in word_table("shown_by").items()}
_HALF = 0.45
"""What a clue of a thing is worth beside the thing itself."""


@lru_cache(maxsize=4096)
def plain(word: str) -> str:
    """A lower-case word's plain form: the synonym that stands for its group, without a plural."""
    if word in _CANON:
        return _CANON[word]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    return _CANON.get(word, word)


@lru_cache(maxsize=8192)
def bag(text: str) -> frozenset[str]:
    """The words of a text that say something about a place, in their plain form."""
    words = _WORD.findall(text[:MOST_CHARACTERS].lower())
    kept = (plain(w) for w in words if w not in _NEARLY_NOTHING or w in _CANON)
    return frozenset(w for w in kept if len(w) > 1)


def weight(word: str) -> float:
    """How much a word tells: nearly every place has a door."""
    return 0.4 if word in _COMMON else 1.0


def common(wanted: frozenset[str], seen: frozenset[str]) -> float:
    """How much of what tells something two places or texts share."""
    return sum(weight(word) for word in wanted & seen)


def likeness(wanted: frozenset[str], seen: frozenset[str]) -> float:
    """How well a place that shows ``seen`` fits the words ``wanted``, from 0 to 1; 0 for none."""
    if not wanted:
        return 0.0
    total = found = 0.0
    for word in wanted:
        heavy = weight(word)
        total += heavy
        if word in seen:
            found += heavy
        elif not seen.isdisjoint(_CLUES.get(word, ())):
            found += heavy * _HALF
    return found / total
