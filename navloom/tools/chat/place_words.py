"""What a person's words for a place ask for: a head noun, and what narrows it down.

    the other bedroom               head "bedroom", other
    the table next to the window    head "table", beside "window"
    the bathroom upstairs           head "bathroom", storey "up"

Words are a stranger's: they are cut, brought to plain letters and digits, and only ever compared.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

__all__ = ["Wish", "canon", "read_wish", "words_of"]

MOST_READ = 200
"""Characters of a description that are read."""
_WORD = re.compile(r"[0-9a-z]+")
_ARTICLES = """
the a an my your our his her their this that these those to into please robot there here one ones
any some large small
"""
_EMPTY = frozenset(_ARTICLES.split())
_SAME = """
couch: sofa settee loveseat
fridge: refrigerator
tv: television telly
bathtub: tub
stove: cooker hob cooktop
picture: painting
rug: carpet
bookshelf: bookcase
sink: basin washbasin
phone: telephone mobile
toilet: lavatory wc
bin: trashcan
nightstand: bedside
cupboard: cabinet
"""
_CANON = {
    word: line.split(":")[0]
    for line in _SAME.strip().splitlines()
    for word in line.split(":")[1].split()
}
_OTHER = frozenset(["other", "another", "different", "else"])
_NEAREST = frozenset(["nearest", "closest", "nearer", "closer"])
_FARTHEST = frozenset(["farthest", "furthest", "farther", "further"])
_STOREYS: dict[str, Literal["up", "down"]] = {
    "upstairs": "up", "upper": "up", "above": "up",
    "downstairs": "down", "lower": "down", "below": "down",
}  # fmt: skip
_BESIDE = frozenset(["beside", "by", "near", "with", "opposite", "behind"])
_INSIDE = frozenset(["in", "inside", "of"])
_SIDES = frozenset(["left", "right", "ahead"])


@dataclass(frozen=True, slots=True)
class Wish:
    """A description of a place, read.

    Attributes:
        head: what it is, in plain words without articles; empty for "the other one".
        beside: what it is next to, or has in it; empty where nothing was said.
        inside: the room a thing is in.
        other: not the last one.
        nearest: any will do, the nearest at best.
        farthest: the one furthest away.
        storey: on a floor above or below.
        floor: on this floor.
    """

    head: tuple[str, ...]
    beside: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()
    other: bool = False
    nearest: bool = False
    farthest: bool = False
    storey: Literal["up", "down", ""] = ""
    floor: int | None = None


def words_of(text: str) -> tuple[str, ...]:
    """The plain words of a text, cut at ``MOST_READ`` characters.

    >>> words_of("Kids_room_10, please!")
    ('kids', 'room', '10', 'please')
    """
    return tuple(_WORD.findall(text[:MOST_READ].casefold()))


@lru_cache(maxsize=4096)
def canon(word: str) -> str:
    """A word without its plural, and the name we use for what it means.

    >>> canon("sofas"), canon("glass"), canon("shelves")
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


def read_wish(text: str) -> Wish:
    """Read a description of a place.

    >>> read_wish("the other bedroom")
    Wish(head=('bedroom',), beside=(), inside=(), other=True, nearest=False, farthest=False, \
storey='', floor=None)
    """
    words, floor = _floor(words_of(text))
    parts: dict[str, list[str]] = {"head": [], "beside": [], "inside": []}
    part = "head"
    for place, word in enumerate(words):
        following = words[place + 1] if place + 1 < len(words) else ""
        if word in _BESIDE or (word in ("next", "close", "adjacent") and following == "to"):
            part = "beside"
        elif word in _INSIDE:
            part = "inside"
        elif word == "on" and _SIDES & set(words[place + 1 : place + 4]):
            break
        elif word not in _EMPTY:
            parts[part].append(word)
    said = set(parts["head"]) | set(parts["inside"])
    told = _OTHER | _NEAREST | _FARTHEST | set(_STOREYS)
    storey = next((_STOREYS[word] for word in words if word in _STOREYS), "")
    return Wish(
        head=tuple(word for word in parts["head"] if word not in told),
        beside=tuple(word for word in parts["beside"] if word not in told),
        inside=tuple(word for word in parts["inside"] if word not in told),
        other=bool(said & _OTHER),
        nearest=bool(said & _NEAREST),
        farthest=bool(said & _FARTHEST),
        storey=storey,  # type: ignore[arg-type]
        floor=floor,
    )


_ORDINALS = {"ground": 1, "first": 1, "second": 2, "third": 3, "fourth": 4}


def _floor(words: tuple[str, ...]) -> tuple[tuple[str, ...], int | None]:
    """The words without "on floor 2" or "on the second floor", and that floor."""
    for place, word in enumerate(words):
        if word != "floor":
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
