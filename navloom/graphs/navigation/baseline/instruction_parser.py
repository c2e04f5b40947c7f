"""Instruction parser and word matching of the rule-based follower.

It has base forms, synonyms, and clues that a room is near, and splits an instruction into clauses
in order. The word lists are written by hand from common knowledge of homes; none is counted from a
dataset.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from navloom.scenes.lexicon import canonical_words, word_table

MOST_CHARACTERS = 4_000
"""Only this many characters of a text are read."""
_WORD = re.compile(r"[a-z]+")

_NEARLY_NOTHING = frozenset(word_table("idle")["navigator"].split())
_COMMON_WORDS = "door window picture table chair white rug mirror lamp arch glass wall"
_COMMON = frozenset(_COMMON_WORDS.split())
ROOMS = frozenset(word_table("rooms")["navigator"].split())
"""Words that name a type of room."""
_CANON = canonical_words("navigator_synonyms")
_CLUES = {word: frozenset(clues.split()) for word, clues in word_table("shown_by").items()}
_HALF = 0.45
"""Weight of a clue for an object, relative to the object itself."""


@lru_cache(maxsize=4096)
def base_form(word: str) -> str:
    """Return a lower-case word's base form: singular, and the head of its group of synonyms."""
    if word in _CANON:
        return _CANON[word]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    return _CANON.get(word, word)


@lru_cache(maxsize=8192)
def word_set(text: str) -> frozenset[str]:
    """Return a text's informative words, in base form."""
    words = _WORD.findall(text[:MOST_CHARACTERS].lower())
    kept = (base_form(w) for w in words if w not in _NEARLY_NOTHING or w in _CANON)
    return frozenset(w for w in kept if len(w) > 1)


def word_weight(word: str) -> float:
    """Return how informative a word is; words such as "door" count less."""
    return 0.4 if word in _COMMON else 1.0


def shared_weight(wanted: frozenset[str], seen: frozenset[str]) -> float:
    """Return the total weight of the words that two places or texts share."""
    return sum(word_weight(word) for word in wanted & seen)


def match_score(wanted: frozenset[str], seen: frozenset[str]) -> float:
    """Return how well ``seen`` matches the words ``wanted``, from 0 to 1; 0 without any."""
    if not wanted:
        return 0.0
    total = found = 0.0
    for word in wanted:
        heavy = word_weight(word)
        total += heavy
        if word in seen:
            found += heavy
        elif not seen.isdisjoint(_CLUES.get(word, ())):
            found += heavy * _HALF
    return found / total


_MOST_CLAUSES = 24
_SPLIT = re.compile(r"[.;,!?\n]+|\b(?:and|then|until|once|when|after|before|while|as)\b")
_MOVE_WORDS = """
walk go turn stop wait stand take make enter leave exit continue head proceed move pass keep get
reach come follow face veer bear climb descend ascend travel cross step stay hang walking going
turning passing entering exiting leaving reaching facing find bring look search locate clean wash
pick open close fetch
"""
_GUIDE_WORDS = "turn take make veer bear go hang hard slight sharp immediate head turning"
_MOVES = frozenset(_MOVE_WORDS.split())
_GUIDES = frozenset(_GUIDE_WORDS.split())
_LEAVES = frozenset({"leave", "exit", "leaving", "exiting"})
_SIDE = {"left": "Left", "leftmost": "Left", "right": "Right", "rightmost": "Right"}
_AHEAD = frozenset({"straight", "forward", "ahead", "continue", "continuing", "forwards"})
_UP = frozenset({"up", "upstairs", "climb", "ascend", "upward"})
_DOWN = frozenset({"down", "downstairs", "descend", "downward"})


@dataclass(frozen=True, slots=True)
class InstructionClause:
    """One clause of an instruction.

    Attributes:
        turn: Left, Right, Back or Front where it says so, else None.
        sure: confidence that ``turn`` is a turn and not an object's location, 0 to 1.
        climb: "up", "down" or None, of stairs.
        words: the words to look for, in base form.
        leaves: whether the words name what to leave.
    """

    turn: str | None
    sure: float
    climb: str | None
    words: frozenset[str]
    leaves: bool


@dataclass(frozen=True, slots=True)
class ParsedInstruction:
    """A parsed instruction.

    Attributes:
        clauses: in order, at least one.
        goals: words of its end, room and objects; several where it says "or".
        words: every informative word.
    """

    clauses: tuple[InstructionClause, ...]
    goals: tuple[frozenset[str], ...]
    words: frozenset[str]


@lru_cache(maxsize=512)
def parse_instruction(instruction: str) -> ParsedInstruction:
    """Split an instruction into clauses, at most ``_MOST_CLAUSES``."""
    parts = _parts(instruction[:MOST_CHARACTERS].lower())
    parts = parts[:_MOST_CLAUSES]
    clauses = tuple(map(_clause, parts))
    words = frozenset().union(*(c.words for c in clauses)) if clauses else frozenset[str]()
    nothing = InstructionClause("Front", 0.5, None, frozenset(), leaves=False)
    return ParsedInstruction(clauses or (nothing,), _goals(clauses, parts), words)


def _parts(text: str) -> list[str]:
    """Split text into pieces that begin with a verb of motion; others join the piece before."""
    merged: list[str] = []
    for piece in _SPLIT.split(text):
        words = _WORD.findall(piece)
        if not words:
            continue
        if merged and _MOVES.isdisjoint(words[:3]):
            merged[-1] += " " + piece
        else:
            merged.append(piece)
    return merged


def _clause(part: str) -> InstructionClause:
    words = _WORD.findall(part)
    turn, sure = _turn(words)
    seen = word_set(part)
    stairs = "stairs" in seen
    climb = None
    if not _UP.isdisjoint(words) and (stairs or "upstairs" in words or "climb" in words):
        climb = "up"
    elif not _DOWN.isdisjoint(words) and (stairs or "downstairs" in words or "descend" in words):
        climb = "down"
    leaves = not _LEAVES.isdisjoint(words) or "out of" in part
    return InstructionClause(turn, sure, climb, seen, leaves)


def _turn(words: list[str]) -> tuple[str | None, float]:
    for i, word in enumerate(words):
        before, two = words[max(0, i - 1) : i], words[max(0, i - 3) : i]
        if word == "around" and "turn" in words[:i]:
            return "Back", 1.0
        if word in _SIDE:
            if words[i + 1 : i + 2] == ["of"]:
                continue
            if "on" in two or ("to" in two and "turn" not in words[:i]):
                return _SIDE[word], 0.4
            if before and (before[0] in _GUIDES or before[0] in ("a", "the", "your", "then")):
                return _SIDE[word], 1.0
            return _SIDE[word], 0.7
    if not _AHEAD.isdisjoint(words):
        return "Front", 0.6
    return None, 0.0


def _goals(clauses: tuple[InstructionClause, ...], parts: list[str]) -> tuple[frozenset[str], ...]:
    ends = [i for i, c in enumerate(clauses) if c.words and not c.leaves]
    if not ends:
        return (frozenset(),)
    last = clauses[ends[-1]].words
    if " or " in parts[ends[-1]] and len(ends) == 1:
        either = tuple(filter(None, map(word_set, parts[ends[-1]].split(" or ")[:8])))
        return either or (last,)
    rooms = (clauses[i].words & ROOMS for i in reversed(ends))
    return (last | next((room for room in rooms if room), frozenset()),)
