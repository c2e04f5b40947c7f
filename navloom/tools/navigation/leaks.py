"""Leaks in an oracle's answer: ids of viewpoints, numbers of options, coordinates.

VLNVerse 5.4's oracle answers from the map. A navigator that is given a node's id or an option's
number has been handed the action instead of guidance. Leaks are searched in this order:

- ``id``: a viewpoint's id, or six consecutive characters of it if ids are long codes; anything of
  the shape of an identifier, such as ``node_3``, ``Kitchen_4`` or ``1_0``;
- ``option``: a number or an ordinal beside a word such as option, choice, list, node, marker or
  viewpoint, or after take, choose, pick or select; "the last one" if no door, room or item was
  mentioned before; a reply that is nothing but a number;
- ``coordinates``: two or three numbers in brackets, two with decimals side by side, ``x = 1.5``,
  "coordinates 3 and 4"; with a decimal comma, too.

The search reads the text as it is, with look-alike letters replaced by Latin ones, and with number
words replaced by digits. A text in code, backwards or in another alphabet is not decoded.

Distances, angles, floors and counts ("3 meters", "90 degrees", "two doors", "the last door") are no
leaks. A riddle ("one more than two") is not detected.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from navloom.scenes.distances import scene_cached
from navloom.scenes.scene import Scene
from navloom.tools.model_output import fold_lookalikes

Kind = Literal["id", "option", "coordinates", "arrival"]
Rules: TypeAlias = tuple[tuple[Kind, re.Pattern[str]], ...]
WITHHELD = "(withheld)"
"""Replacement of a leak in a redacted answer."""
_GRAM = 6
_LONG = 12
"""Length from which an id is a code, so that a part of it discloses it."""
_UNIT = (
    r"(?!\s{0,2}(?:k?m\b|cm\b|met|feet|foot|ft\b|step|stair|flight|room|door|chair|table|deg|°|%|"
    r"o'clock|more\b|of\b))"
)
_TEENS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_DIGITS = {word: str(n) for n, word in enumerate(_TEENS.split())}
_DIGITS |= {word: str(10 * n) for n, word in enumerate(_TENS.split(), 2)}
_DIGITS |= {"oh": "0", "nought": "0", "null": "0", "minus": "-", "negative": "-"}
_DIGITS |= {"point": ".", "dot": ".", "comma": ".", "underscore": "_", "dash": "-"}
_A_NUMBER = "|".join(w for w, sign in _DIGITS.items() if sign.isdigit() and w not in ("oh", "null"))
_NUMBER = rf"(?:\d{{1,6}}(?![\d.]*\d)|{_A_NUMBER})\b"
_ORDINAL = (
    r"(?:\d{1,3}(?:st|nd|rd|th)|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|"
    r"eleventh|twelfth|last|penultimate)"
)
_PLACE = r"(?:options?|choices?|candidates?|nodes?|viewpoints?|waypoints?|markers?|ids?)"
_LIST = r"(?:list(?:ed)?|menu|options?|choices?|candidates?|alternatives?|enumeration)"


def _rules(kind: Kind, *patterns: str) -> Rules:
    return tuple((kind, re.compile(pattern, re.IGNORECASE)) for pattern in patterns)


_REAL = r"-?\d{1,6}[.,]\d{1,9}"
_ANY = r"-?\d{1,6}(?:[.,]\d{1,9})?"
_NEXT = r"(?:\s?[,;/|]\s?|\s)"
_TWO = r"-?\d{1,6}\.\d{1,9}\s?[,;]\s?-?\d{1,6}\.\d{1,9}"
_RULES: Rules = _rules(
    "option",
    rf"\b(?:{_PLACE}|places?|actions?)\s{{0,2}}(?:numbers?|nr\.?|no\.|id|is)?\s{{0,2}}"
    rf"[#:=(\[\"'-]{{0,3}}\s?{_NUMBER}{_UNIT}",
    rf"\b{_ORDINAL}\s{{1,2}}(?:(?:available|listed|possible|given|of)\s{{1,2}}"
    rf"(?:the\s|your\s)?)?(?:{_PLACE}|alternatives?|listed)\b",
    rf"\b{_PLACE}\s{{1,2}}(?:the\s)?{_ORDINAL}\b",
    rf"\b(?:{_ORDINAL}|numbers?\s{{1,2}}{_NUMBER})(?:\s{{1,2}}(?:one|entry|item|line))?"
    rf"\s{{1,2}}(?:of|in|on|from|among)\s{{1,2}}(?:\w{{1,8}}\s{{1,2}}){{0,2}}{_LIST}\b",
    r"\b(?:options?|choices?|candidates?)\s{1,2}(?:[\"'(](?:[a-h]|[ivx]{1,4})[\"')]|"
    r"(?:[b-h]|ii|iii|iv|vi{0,3}|ix)\b(?!['-]))",
    rf"\bnumber\s{{1,2}}{_NUMBER}{_UNIT}",
    rf"\b(?:top|bottom|middle|upper|lower)\s{{1,2}}{_PLACE}\b",
    r"(?<!\w)(?:#|№|n°)\s?\d{1,6}\b",
    rf"\b(?:no|nr|num)\.\s?\d{{1,3}}\b(?![.,]\d){_UNIT}",
    r"\b(?:take|choose|pick|select|use|answer|move|go (?:for|with))[\s:=(]{1,3}\d{1,3}\b"
    r"(?=\s?(?:[.,;!?)]|$))(?!\.\d)",
    r"^\W{0,5}\d{1,3}\W{0,5}$",
) + _rules(
    "coordinates",
    rf"[(\[<{{]\s?{_ANY}{_NEXT}{_ANY}(?:{_NEXT}{_ANY})?\s?[)\]>}}]",
    rf"{_TWO}(?:\s?[,;]\s?-?\d{{1,6}}\.\d{{1,9}})?",
    rf"(?<![\d.,]){_REAL}\s?(?:[;/|\s]|,\s|\bby\b|\band\b)\s?{_REAL}(?![\d.,]*\d){_UNIT}",
    r"\b[xyz](?:\s?(?:coordinate|axis|value))?\s?(?:[=:]|\b(?:is|equals|of|at)\b)\s?" + _ANY,
    rf"\b[xyz]\s?(?:{_ANY}[\s,;]{{1,3}}(?:and\s)?[xyz]\s?{_ANY}|{_REAL})",
    rf"\b(?:co-?ordinates?|coords?|lat(?:itude)?|lon(?:gitude)?)\b[^.!?\d]{{0,24}}?{_ANY}",
    rf"{_ANY}\s(?:north|south|east|west)\w{{0,5}},?\s(?:and\s|by\s)?{_ANY}\s"
    r"(?:north|south|east|west)",
)
_ONE_OF = re.compile(
    rf"\b(?:the|your)\s{{1,2}}{_ORDINAL}(?:\s{{1,2}}one\b|(?=\s?(?:[.,;!?]|$)))", re.IGNORECASE
)
_SPOKEN_OF = re.compile(
    rf"\b(?:(?P<list>{_LIST}|{_PLACE})|(?:two|three|four|five|six|several|both|few|\d)\s(?!{_PLACE})\w+|"
    r"(?:door\w{0,4}|room|bedroom|bathroom|hall\w{0,4}|corridor|passage\w{0,3}|opening|arch\w{0,3}|"
    r"entr\w{1,8}|exit|steps?|stair\w{0,5}|flight|turn|corner|window|bed|chair|table|sofa|couch|"
    r"picture|painting|pillar|column|cabinet|closet|floor|level|landing|rug|lamp|plant|sink|desk|"
    r"stool|seat|counter|shel\w{1,3}|wall|way|path|gate|row|pair|set|mirror|bench|car|light)(?:e?s)?)\b",
    re.IGNORECASE,
)
"""Words that an ordinal may count; the group ``list`` has those it must not."""
_SPELLED = re.compile(
    rf"\b(?:{'|'.join(_DIGITS)})\b(?:[\s-]{{1,3}}(?:(?:{'|'.join(_DIGITS)})\b|[a-z0-9]\b))*",
    re.IGNORECASE,
)
_LOW = re.compile(r"\s*_\s*")
_TOKEN = re.compile(r"[\w.:-]+")


@dataclass(frozen=True, slots=True)
class Leak:
    """One leak in an answer.

    Attributes:
        kind: the kind of leak.
        start: index in the text where it begins.
        end: index where it ends.
        text: the leaking words.
    """

    kind: Kind
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class _Codes:
    """Index of a scene's viewpoint ids for the search."""

    whole: frozenset[str]
    grams: frozenset[str]


def find_leaks(text: str, scene: Scene) -> list[Leak]:
    """Return the leaks in an answer, in order; overlapping ones are merged.

    Args:
        text: the answer.
        scene: the scene whose viewpoints must not be named. An id without a digit, or of digits
            alone, is only found beside a word such as node: by itself it is an ordinary word or
            number.
    """
    codes = scene_cached(scene, "leak_codes", lambda: _codes([v.id for v in scene.viewpoints]))
    found = [Leak(kind, start, end, text[start:end]) for kind, start, end in _found(text, codes)]
    return merge_leaks(text, found)


def redact_leaks(text: str, leaks: Sequence[Leak]) -> str:
    """Return the text with each leak replaced by ``(withheld)``."""
    for leak in sorted(leaks, key=lambda leak: -leak.start):
        text = f"{text[: leak.start]}{WITHHELD}{text[leak.end :]}"
    return text


@dataclass(frozen=True, slots=True)
class _View:
    """A normalized reading of a text, with each character's position in the original.

    Attributes:
        text: the normalized text.
        starts: for each character, where the original text it stands for begins.
        ends: for each character, where that text ends.
    """

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the original positions of the view's characters ``start`` to before ``end``."""
        return self.starts[start], self.ends[end - 1]

    def replaced(self, what: re.Pattern[str], by: Callable[[re.Match[str]], str]) -> _View:
        """Replace matches; each new character stands for the whole match."""
        pieces, starts, ends, done = [], list[int](), list[int](), 0
        for match in what.finditer(self.text):
            new, (start, end) = by(match), self.span(match.start(), match.end())
            pieces += [self.text[done : match.start()], new]
            starts += [*self.starts[done : match.start()], *[start] * len(new)]
            ends += [*self.ends[done : match.start()], *[end] * len(new)]
            done = match.end()
        pieces.append(self.text[done:])
        return _View("".join(pieces), [*starts, *self.starts[done:]], [*ends, *self.ends[done:]])


Found: TypeAlias = tuple[Kind, int, int]


def _found(text: str, codes: _Codes) -> Iterator[Found]:
    """Yield the leaks in every reading of a text, as positions in the original."""
    raw = _View(text, range(len(text)), range(1, len(text) + 1))
    plain = raw
    if not text.isascii():
        read = fold_lookalikes(text)
        places = [at for at, letters in enumerate(read) for _ in letters]
        plain = _View("".join(read), places, [at + 1 for at in places])
    digits = plain.replaced(_SPELLED, _in_digits).replaced(_LOW, lambda _: "_")
    for view in {view.text: view for view in (raw, plain, digits)}.values():
        yield from _said(view, codes)
        yield from _nameless(view)


def _said(view: _View, codes: _Codes) -> Iterator[Found]:
    for kind, rule in _RULES:
        for match in rule.finditer(view.text):
            yield kind, *view.span(*match.span())
    for start, end in (*_whole_ids(view.text, codes), *_parts(view.text, codes)):
        yield "id", *view.span(start, end)


def _nameless(view: _View) -> Iterator[Found]:
    """Yield ordinals that mean an option: no door, room or item was mentioned just before.

    "Two doors: take the last one" is a direction. "The last one" without a noun before is an
    option.
    """
    spoken_of = [(m.start(), m["list"] is None) for m in _SPOKEN_OF.finditer(view.text)]
    for match in _ONE_OF.finditer(view.text):
        before = bisect_left(spoken_of, (match.start(), False))
        if before == 0 or not spoken_of[before - 1][1]:
            yield "option", *view.span(*match.span())


def _in_digits(words: re.Match[str]) -> str:
    """Convert number words to digits: "twenty-one", "three point two", "one underscore zero"."""
    parts = re.findall(r"\w+", words[0].lower())
    if len(parts) == 1:
        # "One" alone is mostly a pronoun, and "point" alone a noun.
        alone = _DIGITS[parts[0]]
        return alone if alone.isdigit() and parts[0] not in ("one", "oh", "null") else words[0]
    said = ""
    for part in parts:
        sign = _DIGITS.get(part, part)
        tens = len(sign) == 1 and sign.isdigit() and re.search(r"(?<!\d)[2-9]0$", said)
        said = said[:-1] + sign if tens and part != "zero" else said + sign
    return said


def _codes(ids: Sequence[str]) -> _Codes:
    folded_ids = [name.casefold() for name in ids]
    plain = ["".join(filter(str.isalnum, name)) for name in folded_ids]
    return _Codes(
        frozenset(n for n in folded_ids if any(map(str.isdigit, n)) and not n.isdigit()),
        frozenset(
            gram
            for name in plain
            if len(name) >= _LONG
            for at in range(len(name) - _GRAM + 1)
            if any(map(str.isdigit, gram := name[at : at + _GRAM]))
        ),
    )


def _whole_ids(text: str, codes: _Codes) -> Iterator[tuple[int, int]]:
    """Yield ids of the scene, and words shaped like ids: with a digit and an underscore."""
    for match in _TOKEN.finditer(text):
        bare = match[0].rstrip(".:-")
        if bare.casefold() in codes.whole:
            yield match.start(), match.start() + len(bare)
        elif "_" in bare:
            for word in re.finditer(r"\w+", bare):
                if "_" in word[0].strip("_") and any(map(str.isdigit, word[0])):
                    yield match.start() + word.start(), match.start() + word.end()


def _parts(text: str, codes: _Codes) -> Iterator[tuple[int, int]]:
    """Yield parts of long ids, searched in the letters and digits alone."""
    if not codes.grams:
        return
    places = [at for at, character in enumerate(text) if character.isalnum()]
    plain = "".join([text[at].casefold()[:1] for at in places])
    for k in range(len(plain) - _GRAM + 1):
        if plain[k : k + _GRAM] in codes.grams:
            yield places[k], places[k + _GRAM - 1] + 1


def merge_leaks(text: str, found: Sequence[Leak]) -> list[Leak]:
    """Return leaks sorted by position, with overlapping leaks merged."""
    whole: list[Leak] = []
    for leak in sorted(found, key=lambda leak: (leak.start, -leak.end)):
        if whole and leak.start < whole[-1].end:
            first = whole.pop()
            end = max(first.end, leak.end)
            leak = Leak(first.kind, first.start, end, text[first.start : end])
        whole.append(leak)
    return whole
