"""What an oracle must not say: ids of viewpoints, numbers of options, coordinates.

VLNVerse 5.4's oracle answers from the map; a navigator that is handed a node's id or an option's
number has been carried, not guided. What is looked for, in this order:

- ``id``: a viewpoint's id, or six of its characters in a row where ids are long codes, also spaced
  out or in the other case; a name of the shape ``node_3`` or ``Kitchen_4``;
- ``option``: a number beside a word such as option, choice, place, node, marker or viewpoint, or
  after take, choose, pick or select; a reply that is nothing but a number;
- ``coordinates``: two or three numbers in brackets, or ``x = 1.5``.

Distances, angles, floors and counts ("3 meters", "90 degrees", "two doors") are no leaks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from navloom.scenes.distances import per_scene
from navloom.scenes.scene import Scene

Kind = Literal["id", "option", "coordinates"]
WITHHELD = "(withheld)"
"""What stands in a redacted answer where a leak was."""
_GRAM = 6
_LONG = 12
"""From so many characters on an id is a code, and a part of it gives it away."""
_UNIT = r"(?!\s{0,2}(?:m\b|cm\b|met|feet|foot|ft\b|step|stair|room|door|deg|°|%|o'clock|more\b))"
_NUMBER = r"(?:\d{1,6}(?![\d.]*\d)|one|two|three|four|five|six|seven|eight|nine|ten)\b"
_ORDINAL = r"(?:\d{1,3}(?:st|nd|rd|th)|first|second|third|fourth|fifth|sixth|seventh|last)"
_PLACE = r"(?:options?|choices?|candidates?|nodes?|viewpoints?|waypoints?|markers?|ids?)"
_PATTERNS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("id", re.compile(r"\b[A-Za-z]\w{0,80}_\d{1,9}\b")),
    (
        "option",
        re.compile(
            rf"\b(?:{_PLACE}|places?|actions?)\s{{0,2}}(?:numbers?|nr\.?|no\.|id)?\s{{0,2}}"
            rf"[#:=(\[\"'-]{{0,3}}\s?{_NUMBER}{_UNIT}",
            re.IGNORECASE,
        ),
    ),
    ("option", re.compile(rf"\b{_ORDINAL}\s{{1,2}}{_PLACE}\b", re.IGNORECASE)),
    ("option", re.compile(r"(?<!\w)(?:#|№)\s?\d{1,6}\b")),
    ("option", re.compile(rf"\bnumber\s{{1,2}}{_NUMBER}{_UNIT}", re.IGNORECASE)),
    (
        "option",
        re.compile(
            r"\b(?:take|choose|pick|select|use|answer)\s{1,2}\(?\d{1,3}\b(?=\s?(?:[.,;!?)]|$))(?!\.\d)",
            re.IGNORECASE,
        ),
    ),
    ("option", re.compile(r"^\W{0,5}\d{1,3}\W{0,5}$")),
    (
        "coordinates",
        re.compile(
            r"[(\[<]\s?-?\d{1,6}(?:\.\d{1,9})?\s?[,;]\s?-?\d{1,6}(?:\.\d{1,9})?"
            r"(?:\s?[,;]\s?-?\d{1,6}(?:\.\d{1,9})?)?\s?[)\]>]"
        ),
    ),
    (
        "coordinates",
        re.compile(
            r"-?\d{1,6}\.\d{1,9}\s?[,;]\s?-?\d{1,6}\.\d{1,9}(?:\s?[,;]\s?-?\d{1,6}\.\d{1,9})?"
        ),
    ),
    ("coordinates", re.compile(r"\b[xyz]\s?[=:]\s?-?\d{1,6}(?:\.\d{1,9})?", re.IGNORECASE)),
)
_TOKEN = re.compile(r"[\w.:-]+")


@dataclass(frozen=True, slots=True)
class Leak:
    """One thing that an answer gives away.

    Attributes:
        kind: what it is.
        start: where in the text it begins.
        end: where it ends.
        text: the words themselves.
    """

    kind: Kind
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class _Codes:
    """A scene's viewpoint ids, ready to be looked for."""

    whole: frozenset[str]
    grams: frozenset[str]


def find_leaks(text: str, scene: Scene) -> list[Leak]:
    """What an answer gives away, in the order it stands there; overlapping finds are joined.

    Args:
        text: the answer.
        scene: whose viewpoints must not be named. An id without a digit, or of digits alone, is
            only found beside a word such as node: by itself it is an ordinary word or number.
    """
    codes = per_scene(scene, "leak_codes", lambda: _codes([v.id for v in scene.viewpoints]))
    found = [
        Leak(kind, match.start(), match.end(), match.group())
        for kind, pattern in _PATTERNS
        for match in pattern.finditer(text)
    ]
    found += _whole_ids(text, codes) + _parts(text, codes)
    return _joined(text, found)


def without_leaks(text: str, leaks: Sequence[Leak]) -> str:
    """The text with each leak withheld."""
    for leak in sorted(leaks, key=lambda leak: -leak.start):
        text = f"{text[: leak.start]}{WITHHELD}{text[leak.end :]}"
    return text


def _codes(ids: Sequence[str]) -> _Codes:
    folded = [name.casefold() for name in ids]
    plain = ["".join(filter(str.isalnum, name)) for name in folded]
    return _Codes(
        frozenset(n for n in folded if any(map(str.isdigit, n)) and not n.isdigit()),
        frozenset(
            gram
            for name in plain
            if len(name) >= _LONG
            for at in range(len(name) - _GRAM + 1)
            if any(map(str.isdigit, gram := name[at : at + _GRAM]))
        ),
    )


def _whole_ids(text: str, codes: _Codes) -> list[Leak]:
    found = []
    for match in _TOKEN.finditer(text):
        bare = match.group().rstrip(".:-")
        if bare.casefold() in codes.whole:
            found.append(Leak("id", match.start(), match.start() + len(bare), bare))
    return found


def _parts(text: str, codes: _Codes) -> list[Leak]:
    """Parts of long ids, looked for in the letters and digits alone."""
    if not codes.grams:
        return []
    places = [at for at, character in enumerate(text) if character.isalnum()]
    plain = [text[at].casefold()[:1] for at in places]
    return [
        Leak(
            "id", places[k], places[k + _GRAM - 1] + 1, text[places[k] : places[k + _GRAM - 1] + 1]
        )
        for k in range(len(plain) - _GRAM + 1)
        if "".join(plain[k : k + _GRAM]) in codes.grams
    ]


def _joined(text: str, found: Sequence[Leak]) -> list[Leak]:
    joined: list[Leak] = []
    for leak in sorted(found, key=lambda leak: (leak.start, -leak.end)):
        if joined and leak.start < joined[-1].end:
            first = joined.pop()
            end = max(first.end, leak.end)
            leak = Leak(first.kind, first.start, end, text[first.start : end])
        joined.append(leak)
    return joined
