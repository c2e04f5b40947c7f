"""Words that the grounding checks of CapNav questions go by: data, in ``capnav_words.yaml``.

Texts come from models and from scene files, so they are untrusted: they are cut to a bounded
length and only ever looked up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.resources import as_file, files
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from navloom.scenes.bodies import ALIASES, body_names
from navloom.scenes.checked_files import read_yaml

_MOST_BYTES = 100_000
_MOST_TEXT = 4_000
_NOT_PLAIN = re.compile(r"[^0-9a-z]+")
_Phrases = Annotated[
    list[Annotated[str, Field(pattern=r"^[0-9a-z]+( [0-9a-z]+)*$", max_length=60)]],
    Field(min_length=1, max_length=1_000),
]


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1]
    capability: _Phrases
    exempt: _Phrases
    filler: _Phrases
    building: _Phrases
    attribute: _Phrases
    injection: _Phrases


class Words:
    """The content of ``capnav_words.yaml``, as its own comments say, in stems.

    Attributes:
        capability: phrases that a capability-neutral question has none of.
        exempt: names of things in which such a phrase means no body.
        filler: words that name no thing.
        building: parts of a building that every place may have.
        attribute: what a thing is said to be like.
        injection: phrases of one who talks to a model.
    """

    def __init__(self, read: _File) -> None:
        bodies = [plain(name) for name in (*body_names(), *ALIASES)]
        self.capability = _stems([*read.capability, *bodies])
        self.exempt = _stems(read.exempt)
        self.filler = frozenset(_stems(read.filler))
        self.building = frozenset(_stems(read.building))
        self.attribute = frozenset(_stems(read.attribute))
        self.injection = _stems(read.injection)


@cache
def load_words() -> Words:
    """The words that ship with Navloom, read once."""
    with as_file(files("navloom.tools.capnav").joinpath("lexis.yaml")) as path:
        return Words(read_yaml(path, TypeAdapter(_File), most=_MOST_BYTES))


@lru_cache(maxsize=4096)
def plain(text: str) -> str:
    """A text in lower case, as letters and digits with single spaces between words.

    >>> plain("The  L-shaped sofa!")
    'the l shaped sofa'
    """
    return " ".join(_NOT_PLAIN.sub(" ", text[:_MOST_TEXT].casefold()).split())


@lru_cache(maxsize=4096)
def stem(text: str) -> str:
    """A plain text with every word in the singular, roughly, so that plurals meet.

    >>> stem("glass doors")
    'glass door'
    """
    return " ".join(_one(word) for word in text.split())


def _one(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and word[-2] not in "su" else word


def _stems(phrases: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(stem(phrase) for phrase in phrases))


def found_in(text: str, phrases: Iterable[str]) -> list[str]:
    """The phrases that stand in a text as whole words; both are stems of plain texts."""
    padded = f" {text} "
    return [phrase for phrase in phrases if f" {phrase} " in padded]


def found_outside(text: str, phrases: Iterable[str], names: Iterable[str]) -> list[str]:
    """The phrases that stand in a text other than within a name; all are stems of plain texts.

    >>> found_outside("walk to the walk in closet", ["walk"], ["walk in closet"])
    ['walk']
    >>> found_outside("the walk in closet", ["walk"], ["walk in closet"])
    []
    """
    padded = f" {text} "
    named = [span for name in names if name for span in _spans(padded, name)]
    return [
        phrase
        for phrase in phrases
        if any(
            not any(a <= begin and end <= b for a, b in named)
            for begin, end in _spans(padded, phrase)
        )
    ]


def _spans(padded: str, phrase: str) -> list[tuple[int, int]]:
    found, wanted = [], f" {phrase} "
    at = padded.find(wanted)
    while at != -1:
        found.append((at, at + len(wanted)))
        at = padded.find(wanted, at + 1)
    return found
