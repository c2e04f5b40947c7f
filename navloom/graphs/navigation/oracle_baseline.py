"""Baselines for the job ``oracle``: they put the prompt's facts into one or two sentences.

The heuristic says what the ``Facts:`` say and never names an id, since the facts hold none; the
random one knows nothing and names any direction. Neither is a language model.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from typing import Any

from langchain_core.messages import AIMessage

from navloom.errors import ModelError
from navloom.models.builtin import Request

_MOVES = {
    "Left": "Go left",
    "Front": "Go straight on",
    "Right": "Go right",
    "Back": "Turn around and go back",
}
_MOST_WORDS = 14
_MOST_ROOMS = 3
_ARRIVED = "You have arrived: stop here."
_LOST = "I know no way to the goal from here."
_QUESTION = re.compile(r"^Question:[ \t]*(.{0,500})", re.MULTILINE)
_ASKS_FAR = re.compile(r"\b(?:how far|distance|how many)\b")
_ASKS_END = re.compile(r"\b(?:arrived|stop|goal|destination|reached|there yet|right place)\b")
_ASKS_ROOM = re.compile(r"\b(?:where am i|which room|what room|this room)\b")
_ASKS_FLOOR = re.compile(r"\b(?:floor|storey|level|stairs|upstairs|downstairs)\b")


def heuristic_oracle(request: Request) -> AIMessage:
    """Say where the next step lies and what comes then; a question is answered first.

    Raises:
        ModelError: where the prompt holds no facts.
    """
    facts = _Facts(request)
    if facts.is_true("at_goal"):
        return AIMessage(_ARRIVED)
    if facts.text("direction") not in _MOVES:
        return AIMessage(_LOST)
    # What was sent back gave something away: a name, since nothing else is quoted.
    plain = request.rejected
    said = [_answer(request, facts), _next(facts, plain=plain), "" if plain else _later(facts)]
    return AIMessage(" ".join(part for part in said if part))


def random_oracle(request: Request) -> AIMessage:
    """Name any direction: what an oracle is worth that knows nothing."""
    rng = random.Random(f"{request.seed}:{len(request.messages)}:{request.first_human}")
    return AIMessage(f"{rng.choice(list(_MOVES.values()))}.")


class _Facts:
    """The facts of a prompt; what has another type than expected counts as unknown."""

    def __init__(self, request: Request) -> None:
        read = request.json_block("Facts:")
        if not isinstance(read, Mapping):
            raise ModelError("A builtin oracle needs a JSON object after 'Facts:' in its prompt.")
        self._read: Mapping[str, Any] = read

    def is_true(self, key: str) -> bool:
        return self._read.get(key) is True

    def text(self, key: str) -> str:
        """A fact in words, without the number of a region's id; "" where it is unknown."""
        value = self._read.get(key)
        return _named(value) if isinstance(value, str) else ""

    def metres(self, key: str) -> int | None:
        value = self._read.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e6:
            return None
        return max(1, round(value))

    def texts(self, key: str) -> list[str]:
        value = self._read.get(key)
        named = (
            [_named(each) for each in value if isinstance(each, str)]
            if isinstance(value, list)
            else []
        )
        return [each for each in named if each]


def _named(value: str) -> str:
    words = re.sub(r"_\d{1,9}\b", "", value[:400]).replace("_", " ").split()
    return " ".join(words[:_MOST_WORDS]).rstrip(" .,;")


def _answer(request: Request, facts: _Facts) -> str:
    found = _QUESTION.search(request.first_human)
    question = found.group(1).strip().strip('"').casefold() if found else ""
    if question in ("", "null", "none"):
        return ""
    far, here = facts.metres("distance_m"), facts.text("here")
    if _ASKS_FAR.search(question) and far is not None:
        return f"It is about {far} m."
    if _ASKS_ROOM.search(question) and here:
        return f"You are in the {here}."
    if _ASKS_END.search(question):
        return "No, not yet."
    if _ASKS_FLOOR.search(question):
        level = facts.text("goal_up_down")
        return {"up": "It is further up.", "down": "It is further down."}.get(level, "")
    return ""


def _next(facts: _Facts, *, plain: bool) -> str:
    said = _MOVES[facts.text("direction")]
    level = facts.text("up_down")
    if level in ("up", "down"):
        said += f", {level}"
    goal = facts.text("landmark") or facts.text("next_region")
    towards = facts.text("towards").split("; ")[0] or goal
    return said + (f", towards: {towards}." if towards and not plain else ".")


def _later(facts: _Facts) -> str:
    rooms = list(dict.fromkeys(facts.texts("regions_ahead")))[:_MOST_ROOMS]
    parts = [f"through the {', then the '.join(rooms)}"] if rooms else []
    far = facts.metres("distance_m")
    if far is not None:
        end = facts.text("goal_landmark")
        parts.append(f"about {far} m to go" + (f", to the {end}" if end else ""))
    return f"Then {'; '.join(parts)}." if parts else ""
