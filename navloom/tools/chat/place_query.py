"""Parse a person's description of a place, before it is looked up in the scene.

    the other bedroom                         head "bedroom", other
    the table next to the window              head "table", beside "window"
    the room between the kitchen and the hall head "room", beside "kitchen" and "hall"
    the room where the piano is               head "room", beside "piano"
    the bathroom upstairs                     head "bathroom", storey "up"

The text is untrusted: it is cut, reduced to plain letters and digits, and only ever compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from navloom.scenes.lexicon import canonical_words, word_table

MOST_READ = 200
"""Characters of a description that are read."""
_WORD = re.compile(r"[0-9a-z]+")
_EMPTY = frozenset(word_table("idle")["chat"].split())
_CANON = canonical_words("chat_synonyms")
_OTHER = frozenset(["other", "another", "different", "else"])
_NEAREST = frozenset(["nearest", "closest", "nearer", "closer"])
_FARTHEST = frozenset(["farthest", "furthest", "farther", "further"])
_SIZES: dict[str, Literal["large", "small"]] = {
    "largest": "large", "biggest": "large", "smallest": "small", "tiniest": "small",
}  # fmt: skip
_STOREYS: dict[str, Literal["up", "down"]] = {
    "upstairs": "up", "upper": "up", "above": "up",
    "downstairs": "down", "lower": "down", "below": "down",
}  # fmt: skip
_BESIDE = frozenset(word_table("idle")["beside"].split())
_NEAR = frozenset(["near", "close", "closest", "nearest", "by"])
_TO = frozenset(["next", "close", "adjacent", "attached", "connected", "closest", "nearest"])
_INSIDE = frozenset(["in", "inside", "of", "on", "from", "within"])
_SIDES = frozenset(["left", "right", "ahead"])
_ORDINALS = {"ground": 1, "first": 1, "second": 2, "third": 3, "fourth": 4}
NUMBERS = {
    "first": 0, "1st": 0, "former": 0, "second": 1, "2nd": 1, "latter": -1, "third": 2, "3rd": 2,
    "fourth": 3, "4th": 3, "fifth": 4, "5th": 4, "last": -1,
}  # fmt: skip
"""Ordinals as indices into a list, from 0."""
_PART = frozenset(["end", "side", "middle", "centre", "center", "corner", "front", "top", "foot"])
_ANY = frozenset(["room", "place", "one", "somewhere", "anywhere", "part"])
"""Heads that name no particular type of room."""
_IT = frozenset(["it", "there", "that", "this", "ones", "one"]) | frozenset(
    ["them", "they", "those", "these", "him", "her"]
)
_PLAIN = frozenset().union(
    *(
        _EMPTY,
        _OTHER,
        _NEAREST,
        _FARTHEST,
        _STOREYS,
        _SIZES,
        _BESIDE,
        _TO,
        _INSIDE,
        _SIDES,
        _ORDINALS,
    ),
    *(_PART, _ANY, _IT, ["where", "and", "or", "not", "floor", "storey", "level"]),
)


@dataclass(frozen=True, slots=True)
class PlaceQuery:
    """A parsed description of a place.

    Attributes:
        head: the kind of room or item, in plain words without articles; empty for "the other one".
        beside: names of what it is next to, or contains; all of them must hold.
        inside: the room that an item is in, or the furniture that it stands on.
        other: exclude the place talked of last.
        nearest: take the nearest that fits.
        farthest: take the farthest that fits.
        size: take the largest or the smallest.
        storey: on a floor above or below.
        floor: on this floor number.
        near: it need only be near ``beside``, not adjacent.
        beyond: the path there leads through ``beside``.
        said: a pronoun such as "it" or "there": the place talked of last.
        opposite: it lies across from ``beside``.
    """

    head: tuple[str, ...]
    beside: tuple[tuple[str, ...], ...] = ()
    inside: tuple[str, ...] = ()
    other: bool = False
    nearest: bool = False
    farthest: bool = False
    size: Literal["large", "small", ""] = ""
    storey: Literal["up", "down", ""] = ""
    floor: int | None = None
    near: bool = False
    beyond: bool = False
    said: bool = False
    opposite: bool = False

    @property
    def any_room(self) -> bool:
        """True if the head names no kind of place, as in "room" or "somewhere"."""
        return bool(self.head) and set(self.head) <= _ANY


def split_words(text: str) -> tuple[str, ...]:
    """Return the plain words of a text, cut at ``MOST_READ`` characters.

    >>> split_words("Kids_room_10, please!")
    ('kids', 'room', '10', 'please')
    """
    return tuple(_WORD.findall(text[:MOST_READ].casefold()))


@lru_cache(maxsize=4096)
def lemma_of(word: str) -> str:
    """Return a word in the singular, replaced by the canonical one of its synonyms.

    >>> lemma_of("sofas"), lemma_of("glass"), lemma_of("shelves")
    ('couch', 'glass', 'shelf')
    """
    if word in _CANON:
        return _CANON[word]
    if word.endswith("ves") and len(word) > 4:
        word = f"{word[:-3]}f"
    elif word.endswith(("ches", "shes", "xes", "sses")):
        word = word[:-2]
    elif len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    return _CANON.get(word, word)


def is_stop_word(word: str) -> bool:
    """Check whether a word cannot name a place: a preposition, ordinal, filler or number."""
    return word in _PLAIN or word.isdigit()


def lemmas_of(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the canonical form of each word."""
    return tuple(lemma_of(word) for word in words)


def parse_query(text: str) -> PlaceQuery:
    """Parse a description of a place.

    >>> parse_query("the room between the kitchen and the hall").beside
    (('kitchen',), ('hall',))
    >>> wish = parse_query("the other bedroom")
    >>> wish.head, wish.other
    (('bedroom',), True)
    """
    words, floor = _floor(split_words(text))
    head, beside, inside = _parts(words)
    if not head and not {"one", "ones"} & set(words):
        # "in front of the sofa" is a place by the sofa; "the one in the hall" is something else.
        if inside:
            head, inside = inside, []
        elif beside:
            head, *beside = beside
    asked = {*head, *inside}
    told = _OTHER | _NEAREST | _FARTHEST | set(_STOREYS) | set(_SIZES)
    storey = next((_STOREYS[word] for word in words if word in _STOREYS), "")
    named = tuple(word for word in head if word not in told)
    return PlaceQuery(
        head=named,
        beside=tuple(part for each in beside if (part := tuple(w for w in each if w not in told))),
        inside=tuple(word for word in inside if word not in told),
        other=bool(asked & _OTHER),
        nearest=bool(asked & _NEAREST),
        farthest=bool(asked & _FARTHEST),
        size=next((_SIZES[word] for word in words if word in _SIZES), ""),
        storey=storey,  # type: ignore[arg-type]
        floor=floor,
        beyond=bool(beside and {"behind", "beyond", "past", "after"} & set(words)),
        opposite=bool(beside and {"opposite", "across"} & set(words)),
        near=bool(beside and (_NEAR | _NEAREST) & set(words)),
        said=not (named or beside or inside or asked & told or storey or floor)
        and bool(_IT & set(words)),
    )


def _parts(words: tuple[str, ...]) -> tuple[list[str], list[list[str]], list[str]]:
    """Split words into the head, the names beside it (one list each), and what it is in."""
    head: list[str] = []
    inside: list[str] = []
    beside: list[list[str]] = []
    part = head
    for place, word in enumerate(words):
        following = words[place + 1] if place + 1 < len(words) else ""
        if word in _BESIDE or (word in _TO and following == "to"):
            if word in _NEAREST:
                head.append(word)
            beside.append(part := [])
        elif (word == "where" and head) or (word == "to" and _NEAREST & set(head)):
            # "the room where the piano is", "the nearest bathroom to the study"
            beside.append(part := [])
        elif word == "and" and beside and part is beside[-1]:
            beside.append(part := [])
        elif word in _PART and following == "of":
            continue
        elif word == "on" and _SIDES & set(words[place + 1 : place + 4]):
            break
        elif word in _INSIDE:
            part = inside
        elif word not in _EMPTY:
            part.append(word)
    return head, beside, inside


def _floor(words: tuple[str, ...]) -> tuple[tuple[str, ...], int | None]:
    """Return the words without "on floor 2" or "on the second floor", and that floor."""
    for place, word in enumerate(words):
        if word not in ("floor", "storey", "level"):
            continue
        before = words[place - 1] if place else ""
        after = words[place + 1] if place + 1 < len(words) else ""
        if before in _ORDINALS:
            return _without_on(words[: place - 1]) + words[place + 1 :], _ORDINALS[before]
        if after.isdigit() and len(after) < 3:
            return _without_on(words[:place]) + words[place + 2 :], int(after)
    return words, None


def _without_on(words: tuple[str, ...]) -> tuple[str, ...]:
    while words and words[-1] in ("on", "the", "of", "in"):
        words = words[:-1]
    return words


_LONG = 6
"""From this many letters two slips are allowed; with one letter less, two left-out letters."""


def edit_distance(said: str, meant: str, most: int = 2) -> int:
    """Return the edit distance of two words, with transpositions; at most ``most + 1``.

    >>> edit_distance("teh", "the"), edit_distance("a", "table")
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


def correct_word(said: str, words: Iterable[str], *, preferred: Iterable[str] = ()) -> str | None:
    """Return the nearest known word to a misspelled one: one wrong letter, or two in a long word.

    Args:
        said: a word of letters that is no known word.
        words: the known words.
        preferred: known words that win where several are equally near.

    Returns:
        None where none is near enough.

    >>> correct_word("bedrom", ["bathroom", "bedroom", "bed"]), correct_word("again", ["magazine"])
    ('bedroom', None)
    """
    first = frozenset(preferred)
    near = []
    for word in words:
        left_out = len(said) == _LONG - 1 and len(word) == len(said) + 2
        most = 2 if len(said) >= _LONG or left_out else 1
        wrong = edit_distance(said, word, most)
        # A short word must keep its letters but for one left out or doubled: a cat is no can.
        short = min(len(said), len(word)) <= 3
        far = wrong > most or (wrong > 1 and word[0] != said[0])
        if far or (short and not _is_close(said, word)):
            continue
        # Typing swaps letters more often than it replaces one, and rarely affects the first one.
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


_COMMON, _COMMON_LONG = 1000, 250
"""Least count in the word list's sources, and that for words of five letters or more. Rarer words
are as likely to be misspellings."""


def is_english(word: str) -> bool:
    """Check whether a lower-case word is a common English word.

    >>> is_english("walking"), is_english("terase")
    (True, False)
    """
    return word in _common_words()


@cache
def _common_words() -> frozenset[str]:
    # Imported on first use: loading the word list takes 0.1 s.
    from spellchecker import SpellChecker

    counts = SpellChecker(language="en").word_frequency.dictionary
    return frozenset(
        word
        for word, count in counts.items()
        if count >= (_COMMON if len(word) < 5 else _COMMON_LONG)
    )
