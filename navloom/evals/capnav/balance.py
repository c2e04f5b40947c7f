"""How balanced a set of CapNav questions is, and which routes to ask for next.

A question counts by what is true of it: for each body whether it can be done, how many passages its
shortest route has, and what kinds of barrier stand in the way of those who cannot. A set is
balanced where each body can do half of its questions.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, permutations
from typing import Any

import networkx as nx

from navloom.scenes.traverse import Traversability
from navloom.tools.capnav.feasible import KINDS, feasible, kinds_of, reach, route
from navloom.tools.capnav.named_places import Places

LENGTHS = ("1", "2", "3", "4", "5", "6+")
"""Passages of the shortest route, as tables group them."""
_MOST_CANDIDATES = 1_500
_VAGUE = frozenset({"other", "no note"})
_LENGTH_WEIGHT = _KIND_WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class Facts:
    """What is true of a route from one place to another.

    Attributes:
        start: the place it starts from.
        end: the place it goes to.
        length: passages of the shortest route, whatever body.
        answers: whether each body can do it; None where that hangs on an unlabelled passage.
        kinds: for each body that cannot, the kinds of barrier in its way.
    """

    start: str
    end: str
    length: int
    answers: Mapping[str, bool | None]
    kinds: Mapping[str, tuple[str, ...]]

    @property
    def bin(self) -> str:
        """Its length, as tables group it."""
        return LENGTHS[min(self.length, len(LENGTHS)) - 1]

    def record(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "length": self.length,
            "answers": dict(self.answers),
            "kinds": {body: list(kinds) for body, kinds in self.kinds.items()},
        }


def truth_record(truth: Traversability, start: str, end: str) -> dict[str, Any]:
    """The ground truth of one question, for every body, as JSON.

    Returns:
        ``route`` and ``length`` whatever body, and ``bodies``: of each ``answer``, ``path``,
        ``blocking`` (a minimum cut, with notes), ``unlabelled``, and ``kinds`` of barrier.
    """
    path = route(truth, start, end)
    bodies: dict[str, Any] = {}
    for body in truth.bodies:
        found = feasible(truth, body, start, end)
        bodies[body] = {
            "answer": found.answer,
            "path": list(found.path),
            "blocking": [passage.record() for passage in found.blocking],
            "unlabelled": [passage.record() for passage in found.unlabelled],
            "kinds": list(kinds_of(found.blocking)),
        }
    return {"route": list(path), "length": max(0, len(path) - 1), "bodies": bodies}


def facts_of(record: Mapping[str, Any], start: str, end: str) -> Facts:
    """The facts in a ground truth that `truth_record` made."""
    bodies = record["bodies"]
    return Facts(
        start,
        end,
        max(1, record["length"]),
        {body: said["answer"] for body, said in bodies.items()},
        {body: tuple(said["kinds"]) for body, said in bodies.items() if said["answer"] is False},
    )


def candidates(places: Places, seed: int) -> list[Facts]:
    """Routes of a scene that can be asked about, with what is true of each.

    Barriers are those on the shortest route, which is fast to know; a minimum cut may name others.

    Args:
        places: the scene.
        seed: of a scene with very many pairs, which are looked at.
    """
    truth, index = places.truth, {place: i for i, place in enumerate(places.ids)}
    tables = reach(truth)
    pairs = _pairs(places, seed)
    paths = {start: nx.single_source_shortest_path(places.graph, start) for start, _ in pairs}
    found = []
    for start, end in pairs:
        path = paths[start].get(end)
        if path is None:
            continue
        row, column = index[start], index[end]
        said = {body: int(tables[body][row, column]) for body in truth.bodies}
        answers = {body: None if code < 0 else code == 1 for body, code in said.items()}
        stopped = [body for body, answer in answers.items() if answer is False]
        kinds = {body: _on_path(truth, body, path) for body in stopped}
        found.append(Facts(start, end, len(path) - 1, answers, kinds))
    return found


def _pairs(places: Places, seed: int) -> list[tuple[str, str]]:
    named = [place for place in places.ids if places.called(place)]
    if len(named) * (len(named) - 1) <= _MOST_CANDIDATES:
        return list(permutations(named, 2))
    dice = random.Random(f"pairs:{seed}")
    drawn = {tuple(dice.sample(named, 2)): None for _ in range(_MOST_CANDIDATES)}
    return [(a, b) for a, b in drawn]


def _on_path(truth: Traversability, body: str, path: Sequence[str]) -> tuple[str, ...]:
    passages = (truth.passage(body, a, b) for a, b in pairwise(path))
    return kinds_of(passage for passage in passages if passage.traversable is False)


@dataclass
class Balance:
    """What a set of questions adds up to.

    Attributes:
        questions: how many.
        bodies: body -> ``feasible``, ``infeasible`` and ``unknown`` -> how many.
        lengths: passages of the shortest route -> how many.
        kinds: kind of barrier -> how many pairs of question and body it stops.
    """

    questions: int = 0
    bodies: dict[str, Counter[str]] = field(default_factory=dict)
    lengths: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)

    def add(self, facts: Facts) -> None:
        """Count one question."""
        self.questions += 1
        self.lengths[facts.bin] += 1
        for body, answer in facts.answers.items():
            self.bodies.setdefault(body, Counter())[_WORD[answer]] += 1
        for kinds in facts.kinds.values():
            self.kinds.update(kinds)

    @classmethod
    def of(cls, many: Iterable[Facts]) -> Balance:
        """The balance of several questions."""
        made = cls()
        for each in many:
            made.add(each)
        return made

    @property
    def imbalance(self) -> float | None:
        """0 where each body can do half of what is known, 1 where each can do all or nothing.

        The mean over bodies of ``|feasible - infeasible| / (feasible + infeasible)``; None where
        nothing is known.
        """
        shares = [
            abs(said["feasible"] - said["infeasible"]) / known
            for said in self.bodies.values()
            if (known := said["feasible"] + said["infeasible"])
        ]
        return sum(shares) / len(shares) if shares else None

    def record(self) -> dict[str, Any]:
        """As JSON, in the order of tables."""
        return {
            "questions": self.questions,
            "bodies": {
                body: {word: said[word] for word in _WORD.values()}
                for body, said in self.bodies.items()
            },
            "lengths": {length: self.lengths[length] for length in LENGTHS},
            "kinds": {kind: self.kinds[kind] for kind in KINDS if self.kinds[kind]},
            "imbalance": None if self.imbalance is None else round(self.imbalance, 4),
        }


_WORD = {True: "feasible", False: "infeasible", None: "unknown"}


class Steer:
    """Chooses routes whose truth is rare in what was chosen before.

    It goes by the order in which it is asked and by nothing else, so that a plan made twice is the
    same plan.
    """

    def __init__(self, before: Iterable[Facts] = ()) -> None:
        self._balance = Balance.of(before)

    def pick(self, among: Sequence[Facts], taken: set[tuple[str, str]], seed: int) -> Facts | None:
        """The route that is wanted most, of those that are not taken; ties are drawn by the seed.

        It counts as chosen from then on. None where all are taken.
        """
        free = [each for each in among if (each.start, each.end) not in taken]
        if not free:
            return None
        dice = random.Random(f"steer:{seed}")
        best = max(free, key=lambda each: (round(self._worth(each), 9), dice.random()))
        self._balance.add(best)
        return best

    def _worth(self, facts: Facts) -> float:
        bodies = [self._lack(body, answer) for body, answer in facts.answers.items()]
        kinds = {k for said in facts.kinds.values() for k in said} - _VAGUE
        rare = [1 / (1 + self._balance.kinds[kind]) for kind in kinds]
        return (
            sum(bodies) / max(1, len(bodies))
            + _LENGTH_WEIGHT / (1 + self._balance.lengths[facts.bin])
            + _KIND_WEIGHT * max(rare, default=0.0)
        )

    def _lack(self, body: str, answer: bool | None) -> float:
        """How much rarer this answer is for the body than the other one: -1 to 1."""
        if answer is None:
            return -1.0
        said = self._balance.bodies.get(body, Counter())
        mine, other = said[_WORD[answer]], said[_WORD[not answer]]
        return (other - mine) / (1 + mine + other)
