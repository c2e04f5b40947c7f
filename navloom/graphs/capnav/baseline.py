"""Baselines for the job ``capnav_answer``: rules over the question, the profile and the names.

None of them knows which places are joined, and none sees the frames. The heuristic looks for names
of storeys, stairs, elevators and places behind narrow doors. It compares them with the profile and
with the usual size of interior doors. Its path is a guess: start, likely places between, end. The
others answer blindly: at random, always yes, always no. They are the floor that a model has to
exceed, and no language models.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from langchain_core.messages import AIMessage

from navloom.errors import ModelError
from navloom.models.builtin import PolicyRequest
from navloom.scenes.lexicon import normalize_words

NARROW_DOOR, USUAL_DOOR = 0.66, 0.80
"""Common clear widths in metres of doors of bathrooms and closets, and of other interior doors."""
SILL = 0.02
"""Common height of a door sill, in metres."""

_PLACE = re.compile(r"^([A-Za-z0-9_]{1,80}) - (.{0,600})$", re.MULTILINE)
_QUESTION = re.compile(r"^[ \t]*Question:[ \t]*(.{0,1000})", re.MULTILINE)
_STOREYS = {
    "below": ("basement", "cellar", "underground", "downstairs"),
    "ground": ("ground floor", "first floor", "main floor", "entrance", "lobby", "garage"),
    "second": ("second floor", "2nd floor", "upstairs", "upper", "mezzanine"),
    "third": ("third floor", "3rd floor", "top floor", "attic", "loft", "rooftop"),
}
_STAIRS = ("stair", "steps", "staircase")
_ELEVATOR = ("elevator", "lift")
_BEHIND_NARROW = ("bathroom", "toilet", "restroom", "closet", "laundry", "sauna", "storage", "wc")
_BEHIND_SILLS = ("balcony", "terrace", "patio", "shower", "yard", "garden", "porch", "sauna")
_BETWEEN = ("hallway", "corridor", "landing", "foyer", "entry", "lobby", "hall", "living")
_MOST_BETWEEN = 2


@dataclass(frozen=True)
class _PromptQuestion:
    """One question, as parsed from the prompt."""

    request: PolicyRequest

    @cached_property
    def question(self) -> str:
        found = _QUESTION.search(self.request.first_human)
        return found[1].strip() if found else ""

    @cached_property
    def places(self) -> dict[str, str]:
        """Name and description by id."""
        text = self.request.first_human
        begin = text.find("Places:")
        found = dict(_PLACE.findall(text[max(0, begin) :]))
        if not found:
            raise ModelError("A builtin model needs the lines after 'Places:' in its prompt.")
        return found

    @cached_property
    def agent(self) -> str:
        return self._said("Agent name") or "AGENT"

    @cached_property
    def ends(self) -> tuple[str, str]:
        """The places that are most likely the start and the goal of the question."""
        asked = normalize_words(self.question)
        split = asked.rfind(" to the ") if " to the " in asked else asked.rfind(" to ")
        before, after = (asked[:split], asked[split:]) if split > 0 else (asked, asked)
        start = self._named(before, None)
        return start, self._named(after, start)

    def _named(self, words: str, other: str | None) -> str:
        """Return the place whose name matches the words best; ties go to the longer name."""
        said = set(words.split())

        def fit(place: str) -> tuple[bool, float, int]:
            name = normalize_words(self.places[place].partition(" (")[0])
            parts = name.split()
            share = sum(part in said for part in parts) / max(1, len(parts))
            return f" {name} " in f" {words} ", share, len(name)

        return max((place for place in self.places if place != other), key=fit, default="")

    def number(self, key: str) -> float | None:
        """Return a number of the profile, or None."""
        try:
            return float(self._said(key))
        except ValueError:
            return None

    def can(self, key: str) -> bool:
        """Return an ability of the profile; True where it is not stated."""
        return self._said(key) != "False"

    def _said(self, key: str) -> str:
        found = re.search(rf"^[ \t]*{re.escape(key)}:(.{{0,300}})$", self.request.first_human, re.M)
        return found[1].strip() if found else ""

    @cached_property
    def path(self) -> list[str]:
        """A guessed path: the ends, and likely places between them by storey and name."""
        start, end = self.ends
        hubs = [p for p in self.places if p not in (start, end) and self._has(p, _BETWEEN)]
        between = [p for p in hubs if self._has(p, _STAIRS)] if self.changes_storey else hubs
        near = sorted(between, key=lambda p: -self._alike(p, start) - self._alike(p, end))
        return [start, *near[: min(_MOST_BETWEEN, len(near), 1 + self.changes_storey)], end]

    def _alike(self, place: str, other: str) -> int:
        mine, its = (set(normalize_words(self.places[p]).split()) for p in (place, other))
        return len(mine & its)

    def _has(self, place: str, words: tuple[str, ...]) -> bool:
        name = f" {normalize_words(self.places.get(place, ''))}"
        return any(f" {word}" in name for word in words)

    @cached_property
    def changes_storey(self) -> bool:
        """True if the ends lie on different storeys, judging by their names."""
        start, end = (
            next((name for name, words in _STOREYS.items() if self._has(place, words)), None)
            for place in self.ends
        )
        return start is not None and end is not None and start != end

    def touches(self, words: tuple[str, ...]) -> bool:
        """Check whether the name of an end contains one of these words."""
        return any(self._has(place, words) for place in self.ends)


def heuristic_answer(request: PolicyRequest) -> AIMessage:
    """Return an answer by rules over the names and the profile."""
    asked = _PromptQuestion(request)
    why_not = _obstacle(asked)
    return _say(asked, why_not is None, asked.path, why_not or "")


def random_answer(request: PolicyRequest) -> AIMessage:
    """Sample the answer and the places between the question's ends at random."""
    asked = _PromptQuestion(request)
    rng = random.Random(f"{request.seed}:{asked.agent}:{asked.question}")
    start, end = asked.ends
    others = [place for place in asked.places if place not in (start, end)]
    between = rng.sample(others, min(len(others), rng.randint(0, 3)))
    yes = rng.random() < 0.5
    return _say(asked, yes, [start, *between, end], "" if yes else rng.choice(_REASONS))


def always_yes(request: PolicyRequest) -> AIMessage:
    """Return the answer yes, with the heuristic's path."""
    asked = _PromptQuestion(request)
    return _say(asked, True, asked.path, "")


def always_no(request: PolicyRequest) -> AIMessage:
    """Return the answer no, with the heuristic's path and an empty reason."""
    asked = _PromptQuestion(request)
    return _say(asked, False, asked.path, "It cannot get there.")


_REASONS = (
    "There are stairs in the way.",
    "A door is too narrow.",
    "A sill is too high.",
    "There is no room to turn.",
    "Furniture blocks the way.",
)


def _obstacle(asked: _PromptQuestion) -> str | None:
    """Return why the body cannot get there, by the first rule that matches, or None."""
    width = asked.number("Width (m)") or 0.0
    step = asked.number("Highest step it can cross (m)")
    rules: list[tuple[Callable[[], bool], str]] = [
        (
            lambda: (
                not asked.can("Can go up or down stairs")
                and (asked.changes_storey or asked.touches(_STAIRS))
            ),
            "stairs",
        ),
        (
            lambda: not asked.can("Can operate elevator") and asked.touches(_ELEVATOR),
            "the elevator, which it cannot operate",
        ),
        (lambda: width >= USUAL_DOOR, "a door that is too narrow for it"),
        (
            lambda: width > NARROW_DOOR and asked.touches(_BEHIND_NARROW),
            "a door that is too narrow for it",
        ),
        (
            lambda: step is not None and step <= SILL and asked.touches(_BEHIND_SILLS),
            "a door sill that is too high for it",
        ),
    ]
    found = next((words for holds, words in rules if holds()), None)
    if found is None:
        return None
    first, second = asked.path[-2:]
    return (
        f"Between {asked.places.get(first, first)} and {asked.places.get(second, second)}: {found}."
    )


def _say(asked: _PromptQuestion, yes: bool, path: list[str], reason: str) -> AIMessage:
    result = {"answer": "yes" if yes else "no", "path": path, "reason": reason}
    item = {"question": asked.question, "agent": asked.agent, "result": result}
    return AIMessage(content=json.dumps([item], ensure_ascii=False))
