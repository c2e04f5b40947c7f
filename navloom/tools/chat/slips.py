"""Slips of a pen: the word that was meant, by the fewest letters that are wrong.

A letter left out, put in, or put in place of another counts one, and so do two that changed places
(the restricted Damerau-Levenshtein distance).
"""

from __future__ import annotations

from collections.abc import Iterable

_LONG = 6
"""Letters from which a word may have two slips in it; with one less, two that were left out."""


def wrong_letters(said: str, meant: str, most: int = 2) -> int:
    """How many letters are wrong; ``most + 1`` where there are more.

    >>> wrong_letters("teh", "the"), wrong_letters("a", "table")
    (1, 3)
    """
    if abs(len(said) - len(meant)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(meant) + 1))
    for i, letter in enumerate(said, 1):
        last, before, row = before, row, [i]
        for j, other in enumerate(meant, 1):
            cost = min(before[j] + 1, row[-1] + 1, before[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == meant[j - 2] and said[i - 2] == other:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1]


def respell(said: str, words: Iterable[str], *, preferred: Iterable[str] = ()) -> str | None:
    """The word that was meant: the nearest one, at one wrong letter, or two of a long word.

    Args:
        said: a word of letters that is no known word.
        words: those that it may be.
        preferred: those of them that come first where several are as near.

    Returns:
        None where none is near enough.

    >>> respell("bedrom", ["bathroom", "bedroom", "bed"]), respell("again", ["magazine"])
    ('bedroom', None)
    """
    first = frozenset(preferred)
    near = []
    for word in words:
        left_out = len(said) == _LONG - 1 and len(word) == len(said) + 2
        most = 2 if len(said) >= _LONG or left_out else 1
        wrong = wrong_letters(said, word, most)
        # Of short words only those with the same letters, one left out or doubled: a cat is no can.
        short = min(len(said), len(word)) <= 3
        far = wrong > most or (wrong > 1 and word[0] != said[0])
        if far or (short and not _is_close(said, word)):
            continue
        # Who mistypes a word swaps letters more often than one is wrong, and rarely the first one.
        near.append(
            (
                wrong,
                word not in first,
                sorted(word) != sorted(said),
                word[0] != said[0],
                abs(len(word) - len(said)),
                word,
            )
        )
    return min(near)[-1] if near else None


def _is_close(said: str, word: str) -> bool:
    doubled = any(
        said[i] == said[i - 1] and said[:i] + said[i + 1 :] == word for i in range(1, len(said))
    )
    if doubled or sorted(said) == sorted(word):
        return True
    left = iter(word)
    return word[0] == said[0] and len(word) > len(said) and all(each in left for each in said)
