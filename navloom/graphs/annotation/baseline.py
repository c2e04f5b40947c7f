"""Baselines for the job ``room_type``: name a room from its objects and its neighbours.

Both read only the words of the question (see ``navloom/prompts/annotation/room_typing.yaml``), such
as ``Adjacent rooms: 2 in all: 2 x kitchen`` and ``Objects: 77 in all, 30 kinds: 22 x photo, 2 x
bed``, and answer in the JSON a language model is asked for. They are baselines, not language
models.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict

from langchain_core.messages import AIMessage

from navloom.models.builtin import Request
from navloom.scenes.lexicon import word_table

_KEY = "Unknown room type"


def _parsed(clues: str) -> dict[str, float]:
    words = [clue.rsplit(" ", 1) for clue in clues.split(", ")]
    return {name: float(loud) for name, loud in words}


_CLUES = {kind: _parsed(clues) for kind, clues in word_table("room_clues").items()}
"""Type of A.12, in its order -> names of things that speak for it, each with how loudly."""
_BESIDE = {word: _parsed(types) for word, types in word_table("rooms_beside").items()}
_MANY_DOORS = 3
"""A room that leads to so many others is one that people walk through."""
_FEW_THINGS = 15
_COUNTED = re.compile(r"(\d{1,6}) x ([a-z0-9 ]{1,100})")


def heuristic_room(request: Request) -> AIMessage:
    """Name the type whose clues stand in the room; neighbours decide where few do."""
    question = request.first_human
    scores: defaultdict[str, float] = defaultdict(float)
    for name, count in _counts(question, "Objects"):
        for kind, loud in _spoken_for(name).items():
            # A second and third bed say little more than the first.
            scores[kind] += loud * (1 + 0.2 * min(count - 1, 5))
    rooms = _counts(question, "Adjacent rooms")
    for name, count in rooms:
        for word in name.split():
            for kind, share in _BESIDE.get(word, {}).items():
                scores[kind] += share * count
    if sum(count for _, count in rooms) >= _MANY_DOORS:
        # Where one only walks through, little stands about.
        scores["Hallway / Corridor"] += 3 if _total(question, "Objects") < _FEW_THINGS else 1
    types = _types(request)
    return request.answer({_KEY: max(types, key=lambda kind: scores[kind])})


def random_room(request: Request) -> AIMessage:
    """Name any type, each as likely, fixed by the question's random seed and region."""
    seed = f"{request.seed}/{_line(request.first_human, 'Region')}"
    return request.answer({_KEY: random.Random(seed).choice(_types(request))})


def _types(request: Request) -> tuple[str, ...]:
    properties = (request.schema or {}).get("properties", {})
    listed = properties.get(_KEY, {}).get("enum", ())
    return tuple(listed) or tuple(_CLUES)


def _line(question: str, head: str) -> str:
    found = re.search(rf"^{head}: (.*)$", question, re.MULTILINE)
    return found.group(1).strip() if found else ""


def _total(question: str, head: str) -> int:
    found = re.match(r"(\d{1,6}) in all", _line(question, head))
    return int(found.group(1)) if found else 0


def _counts(question: str, head: str) -> list[tuple[str, int]]:
    return [(name.strip(), int(count)) for count, name in _COUNTED.findall(_line(question, head))]


def _spoken_for(name: str) -> dict[str, float]:
    """What one object's name says for each type: the longest clue in it that a type knows."""
    said: dict[str, float] = {}
    for kind, clues in _CLUES.items():
        fitting = [clue for clue in clues if f" {clue} " in f" {name} "]
        if fitting:
            said[kind] = clues[max(fitting, key=len)]
    return said
