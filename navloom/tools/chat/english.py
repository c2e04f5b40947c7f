"""Which words are plain English ones, and so no slips of a pen: pyspellchecker's list (MIT)."""

from __future__ import annotations

from functools import cache

_COMMON, _COMMON_LONG = 1000, 250
"""How often a word stands in the list's sources at least, and one of five letters or more; rarer
ones are as likely slips."""


def is_english(word: str) -> bool:
    """Whether a word of small letters is a common one of English.

    >>> is_english("walking"), is_english("terase")
    (True, False)
    """
    return word in _common_words()


@cache
def _common_words() -> frozenset[str]:
    # Read where a word is looked up for the first time: a tenth of a second.
    from spellchecker import SpellChecker

    counts = SpellChecker(language="en").word_frequency.dictionary
    return frozenset(
        word
        for word, count in counts.items()
        if count >= (_COMMON if len(word) < 5 else _COMMON_LONG)
    )
