"""What people say, as the table ``wordings.yaml`` has it: words made plain, and clauses told apart.

The table's own comments say what each part is. Everything here is about English words alone; what
they ask of the robot is for :mod:`navloom.graphs.chat.intents`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import TypeAlias

from pydantic import BaseModel, ConfigDict, TypeAdapter

from navloom.scenes.checked_files import read_yaml
from navloom.scenes.lexicon import classify, known_words, room_types
from navloom.tools.chat.english import is_english
from navloom.tools.chat.slips import respell, wrong_letters
from navloom.tools.chat.wishes import canon, is_plain

MOST_READ = 400
"""Characters of what was said that are read."""
_MOST_CLAUSE = 160
_SHORT = 3
"""Letters of a word that may be one of the frequent ones with a slip in it, and no other."""
_TOKEN = re.compile(r"[a-z0-9]+(?:['_][a-z0-9]+)*|[.,!?;]")
_MARKED = re.compile(r"(?<!\?P)<(\w+)>")
_GROUP = re.compile(r"\((?!\?)")
_LETTERS = re.compile(r"(?<![\\<])\b[a-z]{2,}\b(?!>)")
_SLOT = re.compile(r"\{(\w+)\}")
Table: TypeAlias = Mapping[str, re.Pattern[str]]


class _Act(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    act: str
    said: tuple[str, ...]


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    spelled: dict[str, str]
    frequent: str
    parts: dict[str, str]
    openers: tuple[str, ...]
    corrects: tuple[str, ...]
    closers: tuple[str, ...]
    then: str
    and_: str
    corrected: str
    acts: tuple[_Act, ...]
    languages: dict[str, str]
    scripts: dict[str, str]
    answers: dict[str, str]
    purposes: dict[str, str]


@dataclass(frozen=True)
class Said:
    """A clause that was told apart.

    Attributes:
        act: its act in the table.
        slots: what stood in its slots.
    """

    act: str
    slots: Mapping[str, str]


@dataclass(frozen=True)
class Wordings:
    """The table, ready for use; each pattern stands for a whole clause or what is between two."""

    spelled: Mapping[str, str]
    frequent: tuple[str, ...]
    opener: re.Pattern[str]
    corrects: re.Pattern[str]
    closer: re.Pattern[str]
    then: re.Pattern[str]
    and_: re.Pattern[str]
    corrected: re.Pattern[str]
    acts: tuple[tuple[str, re.Pattern[str]], ...]
    languages: Mapping[str, frozenset[str]]
    scripts: Table
    answers: Mapping[str, str]
    purposes: Table
    words: frozenset[str]


@cache
def wordings() -> Wordings:
    """The table, read once."""
    path = Path(str(files("navloom.graphs.chat").joinpath("wordings.yaml")))
    table = read_yaml(path, TypeAdapter(_File), most=200_000)

    def compiled(text: str) -> re.Pattern[str]:
        text = _MARKED.sub(lambda part: table.parts.get(part[1], part[0]), text)
        # A part may hold another; a slot takes as little as it can.
        text = _MARKED.sub(lambda part: table.parts.get(part[1], part[0]), text)
        text = _SLOT.sub(r"(?P<\1>\\S.*?)", text)
        return re.compile(_GROUP.sub("(?:", text))

    led = [*table.openers, *table.corrects, *table.closers]
    every = [*led, *table.spelled, *(wording for each in table.acts for wording in each.said)]
    every += table.purposes.values()
    return Wordings(
        spelled={word: meant for meant, words in table.spelled.items() for word in words.split()},
        frequent=tuple(table.frequent.split()),
        opener=compiled(rf"(?:{'|'.join(table.openers)})(?:$| ?,? )"),
        corrects=compiled(rf"(?:{'|'.join(table.corrects)})(?:$| ?,? )"),
        closer=compiled(rf"(?:^| ?,? )(?:{'|'.join(table.closers)})$"),
        then=compiled(table.then),
        and_=compiled(table.and_),
        corrected=compiled(table.corrected),
        acts=tuple((each.act, compiled(said)) for each in table.acts for said in each.said),
        languages={name: frozenset(words.split()) for name, words in table.languages.items()},
        scripts={name: re.compile(f"[{range_}]") for name, range_ in table.scripts.items()},
        answers=table.answers,
        purposes={name: re.compile(said) for name, said in table.purposes.items()},
        words=frozenset(_LETTERS.findall(" ".join([*every, *table.parts.values()]))),
    )


def plain(said: str) -> str:
    """Words in lower case, written out, slips of single letters mended; stops are kept.

    >>> plain("Whats in heer?"), plain("don't go")
    ('what is in here?', 'do not go')
    """
    table = wordings()
    text = (
        said[:MOST_READ]
        .casefold()
        .replace("’", "'")
        .replace("->", " then ")
        .replace("&", " and ")
        .replace("+", " and ")
        .replace(" plus ", " and ")
        .replace(" - ", ", ")
        .replace("-", " ")
        .replace(":", ",")
    )
    tokens = _TOKEN.findall(text)
    words = [table.spelled.get(mended := _mended(token), mended) for token in tokens]
    plain = re.sub(r" (?=[.,!?;:])", "", " ".join(words)).replace("'", "")
    return "yes" if plain == "you" else plain  # "Ya", alone.


@lru_cache(maxsize=4096)
def _mended(token: str) -> str:
    """A word with a slip in it, as the word of the table that it nearly is."""
    table = wordings()
    known = token in table.words or token in table.spelled or is_plain(token)
    # Of short words too many are some English word: "rom" is a room.
    known |= len(token) > _SHORT and is_english(token)
    # A thing with two letters swapped is left for those who know whether the home has one.
    known |= (
        len(token) > _SHORT
        and _is_swapped(token, known_words())
        and not _is_swapped(token, (*table.frequent, *table.words))
    )
    if known or not token.isalpha() or {token, canon(token)} & known_words():
        return token
    frequent = table.frequent
    if len(token) <= _SHORT:
        return respell(token, frequent) or token
    # A name of a thing with a slip in it is left for those who know the home.
    words = [word for word in (*table.words, *known_words()) if len(word) >= _SHORT]
    meant = respell(token, words, preferred=frequent)
    if meant is None or meant not in table.words:
        return token
    thing = respell(token, known_words())
    if meant in frequent or thing in (None, meant):
        return meant
    # "Stdy" is as near to "stay" as to a study.
    return meant if wrong_letters(token, meant) < wrong_letters(token, str(thing)) else token


def _is_swapped(token: str, words: Iterable[str]) -> bool:
    """Whether two letters side by side changed places in one of the words."""
    letters = sorted(token)
    near = (word for word in words if len(word) == len(token) and sorted(word) == letters)
    return any(wrong_letters(token, word) == 1 for word in near)


def told_apart(clause: str) -> Said | None:
    """The act of a clause; None where it is none of the table's."""
    for act, pattern in wordings().acts:
        found = pattern.fullmatch(clause[:_MOST_CLAUSE])
        if found:
            return Said(act, {k: v for k, v in found.groupdict().items() if v})
    return None


def opened(clause: str) -> tuple[str, bool]:
    """A clause without what leads in, and whether that said that something was wrong."""
    table, corrects = wordings(), False
    for _ in range(8):
        wrong = table.corrects.match(clause)
        found = wrong or table.opener.match(clause)
        if found is None or not found.end():
            break
        corrects |= bool(wrong)
        clause = clause[found.end() :].lstrip(" ,")
    return clause, corrects


def closed_off(clause: str) -> str:
    """A clause without what leads out."""
    for _ in range(6):
        found = wordings().closer.search(clause)
        if found is None:
            break
        clause = clause[: found.start()].rstrip(" ,")
    return clause


def language_of(said: str) -> str | None:
    """The language that words are in, where it is not English and can be told: a guess.

    >>> language_of("geh bitte in die Küche"), language_of("go to the kitchen")
    ('German', None)
    """
    table, text = wordings(), said[:MOST_READ].casefold()
    for name, letters in table.scripts.items():
        if letters.search(text):
            return name
    words = set(re.findall(r"[^\W\d_]+(?:['’-][^\W\d_]+)*", text))
    if not words:
        return None
    english = sum(word in table.words or word in known_words() for word in words)
    counts = {name: len(words & known) for name, known in table.languages.items()}
    best = max(counts, key=lambda name: counts[name])
    if not english and any(not letter.isascii() for word in words for letter in word):
        return best if counts[best] else "another language"
    return best if counts[best] * 2 >= len(words) and counts[best] > english else None


def mentioned(clause: str) -> str | None:
    """The one room or thing that a clause names among other words; None where it names more.

    >>> mentioned("i fancy being in the living room"), mentioned("a piano and a violin")
    ('living room', None)
    """
    words, found = clause.split()[:40], []
    while words:
        for size in (3, 2, 1):
            phrase = " ".join(words[:size])
            # "Can", "watch" and "play" are things, but more often not.
            # A "play the violin" is no name.
            common = any(is_plain(word) for word in words[:size])
            common |= words[0] in wordings().words and (size == 1 or words[0] not in known_words())
            if room_types(phrase) or (not common and classify(phrase) in ("asset", "object")):
                found.append(phrase)
                break
        words = words[size:]
    return found[0] if len(set(found)) == 1 else None
