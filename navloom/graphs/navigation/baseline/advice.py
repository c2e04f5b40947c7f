"""What somebody who knows the way has said, as a rule-based navigator takes it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from navloom.graphs.navigation.baseline.clauses import read_route
from navloom.graphs.navigation.baseline.prompt_view import WalkView

__all__ = ["NOTHING", "Advice", "read_advice"]

_ARRIVED = re.compile(r"\byou(?: have|'ve| are|'re)? (?:arrived|there\b|at the goal)|\bstop here\b")
_NOT_YET = re.compile(
    r"\bnot yet\b|\bhave not arrived\b|\bhaven't arrived\b|\bdo(?: not|n't) stop\b"
)
_OPTION = re.compile(r"\boption (\d{1,4})\b")
_STALE = re.compile(r"\(said \d{1,4} moves? ago\)$")
_SENTENCE = re.compile(r"[.;!?](?:\s|$)")


@dataclass(frozen=True, slots=True)
class Advice:
    """Words of an oracle about the place one stands on.

    Attributes:
        fresh: whether there is any that was given here.
        option: the way on that it names, where it may.
        arrived: whether it says that this is the goal; None where it does not say.
        turn: Left, Front, Right or Back; None where it names no direction.
        climb: "up" or "down" where it says so.
        words: what it says to walk towards, in plain form.
    """

    fresh: bool = False
    option: int | None = None
    arrived: bool | None = None
    turn: str | None = None
    climb: str | None = None
    words: frozenset[str] = frozenset()


NOTHING = Advice()


def read_advice(view: WalkView) -> Advice:
    """The newest advice, if it was given on this place: directions do not outlast a move."""
    answers = [answer for question, answer in view.told if not _STALE.search(question.rstrip())]
    if answers:
        return _read(answers[-1])
    said = view.guidance.rstrip()
    return _read(said) if said and not _STALE.search(said) else NOTHING


def _read(text: str) -> Advice:
    said = text.casefold()
    option = _OPTION.search(said)
    not_yet = _NOT_YET.search(said) is not None
    arrived = not not_yet and _ARRIVED.search(said) is not None
    way = next((part for part in _SENTENCE.split(said) if read_route(part).clauses[0].turn), said)
    first = read_route(way).clauses[0]
    climb = "up" if ", up" in way else "down" if ", down" in way else first.climb
    return Advice(
        fresh=True,
        option=int(option.group(1)) if option else None,
        arrived=True if arrived else False if not_yet or first.turn else None,
        turn=first.turn,
        climb=climb,
        words=read_route(way).words,
    )
