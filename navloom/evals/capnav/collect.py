"""The questions of a run: taken from its samples, each once, as many as were asked for; balanced.

Samples of one scene run at the same time and do not know of each other, so that what repeats an
earlier sample's question is dropped here, in the order of the samples' ids. Written are

    qa/ID_QA.json        the benchmark's own form, one file a scene
    truth/ID_truth.json  of each question what could be found out, and what is true for each body
    balance.json         what they add up to, and what is missing

A question counts by what is true of it: for each body whether it can be done, how many passages its
shortest route has, and what kinds of barrier stand in the way of those who cannot. A set is
balanced where each body can do half of its questions; which routes to ask for next is chosen here.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any

import networkx as nx

from navloom.errors import RunError
from navloom.files import make_folder, write_whole
from navloom.scenes.traverse_table import Traversability
from navloom.tools.capnav.feasible import KINDS, feasible, kinds_of, reach, route
from navloom.tools.capnav.grounding import duplicate_of
from navloom.tools.capnav.named_places import Places

BALANCE = "balance.json"
_ENDS = ("start_detail", "end_detail")


@dataclass(frozen=True)
class Kept:
    """One question of the dataset.

    Attributes:
        question: in the benchmark's form.
        grounding: what could be found out about its details.
        sample: the sample that made it.
        truth: what is true of it; see :func:`navloom.evals.capnav.collect.truth_record`.
    """

    question: dict[str, Any]
    grounding: dict[str, Any]
    sample: str
    truth: dict[str, Any]

    @property
    def facts(self) -> RouteFacts:
        """What it counts as."""
        ends = self.question["nodes_involved"]
        return facts_of(self.truth, ends["start"], ends["end"])


@dataclass
class Collected:
    """What the samples of a run hold.

    Attributes:
        by_scene: the questions kept, by the scene's portable name, at most its quota and what
            fills another scene's gap.
        spare: accepted questions beyond that.
        duplicates: accepted questions that repeat an earlier sample's.
        rejected: how often each rule was broken.
    """

    by_scene: dict[str, list[Kept]] = field(default_factory=dict)
    spare: int = 0
    duplicates: int = 0
    rejected: Counter[str] = field(default_factory=Counter)

    @property
    def count(self) -> int:
        """Questions kept."""
        return sum(len(kept) for kept in self.by_scene.values())

    def missing(self, quotas: Mapping[str, int], n: int) -> dict[str, int]:
        """How many each scene is to be asked for yet, so that there are ``n``."""
        left, wanted = n - self.count, {}
        for name, quota in quotas.items():
            lacking = min(left, quota - len(self.by_scene.get(name, ())))
            if lacking > 0:
                wanted[name] = lacking
                left -= lacking
        return wanted

    def facts(self) -> list[RouteFacts]:
        """What all of them count as."""
        return [kept.facts for name in sorted(self.by_scene) for kept in self.by_scene[name]]

    def details(self) -> dict[str, int]:
        """How many details are verified and unverifiable, and how many can mean one thing alone."""
        found = [
            kept.grounding[key] for many in self.by_scene.values() for kept in many for key in _ENDS
        ]
        counted = Counter(each["status"] for each in found)
        statuses = {status: counted[status] for status in ("verified", "unverifiable")}
        return {**statuses, "told_apart": sum(each.get("fits") == 1 for each in found)}

    def record(self, quotas: Mapping[str, int], n: int) -> dict[str, Any]:
        """As JSON: what ``balance.json`` holds."""
        short = {
            name: quota - len(self.by_scene.get(name, ()))
            for name, quota in quotas.items()
            if quota > len(self.by_scene.get(name, ()))
        }
        return {
            "asked": n,
            "accepted": self.count,
            "short": n - self.count,
            "short_by_scene": short if self.count < n else {},
            "spare": self.spare,
            "duplicates_dropped": self.duplicates,
            "rules_broken": dict(sorted(self.rejected.items())),
            "details": self.details(),
            "balance": Balance.of(self.facts()).record(),
        }


def collect(
    rows: Iterable[Mapping[str, Any]],
    quotas: Mapping[str, int],
    n: int,
    places_of: Callable[[str], Places],
) -> Collected:
    """The questions of finished samples.

    Args:
        rows: lines of ``samples.jsonl``; their order does not matter.
        quotas: how many of each scene.
        n: how many in all.
        places_of: the places of a scene, by its name.
    """
    found = Collected()
    extra: dict[str, list[Kept]] = {}
    for row in sorted(rows, key=lambda each: (each["scene"], each["attempt"])):
        name, result = row["scene"], row.get("result") or {}
        found.rejected.update(
            fault["code"] for each in result.get("rejected", []) for fault in each["violations"]
        )
        kept = found.by_scene.setdefault(name, [])
        over = extra.setdefault(name, [])
        for question, grounding in zip(
            result.get("questions", []), result.get("grounding", []), strict=True
        ):
            there = [each.question for each in (*kept, *over)]
            if duplicate_of(question, there) is not None:
                found.duplicates += 1
                continue
            room = kept if len(kept) < quotas.get(name, 0) else over
            ends = question["nodes_involved"]
            truth = truth_record(places_of(name).truth, ends["start"], ends["end"])
            room.append(Kept(question, grounding, row["id"], truth))
    # One scene's spare questions stand in for what another lacks, one scene after another.
    while found.count < n and any(extra.values()):
        for name in sorted(extra):
            if extra[name] and found.count < n:
                found.by_scene[name].append(extra[name].pop(0))
    found.spare = sum(len(many) for many in extra.values())
    return found


def write_questions(
    run: Path, collected: Collected, ids: Mapping[str, str], *, qa: Path | None = None
) -> Path:
    """Write the dataset's files, each whole or not at all.

    Args:
        run: the run's folder.
        collected: what to write.
        ids: the id of each scene, by its portable name.
        qa: where the benchmark's files go; ``qa`` in the run's folder unless given.

    Returns:
        The folder of the benchmark's files.

    Raises:
        RunError: a file cannot be written.
    """
    folder, beside = qa or run / "qa", run / "truth"
    make_folder(folder)
    make_folder(beside)
    for name, many in collected.by_scene.items():
        if many:
            _write(folder / f"{ids[name]}_QA.json", [kept.question for kept in many])
            truths = [
                {
                    "question_id": f"{ids[name]}_q{number:02d}",
                    "question": kept.question["question"],
                    "start": kept.question["nodes_involved"]["start"],
                    "end": kept.question["nodes_involved"]["end"],
                    "sample": kept.sample,
                    "grounding": kept.grounding,
                    **kept.truth,
                }
                for number, kept in enumerate(many, 1)
            ]
            _write(beside / f"{ids[name]}_truth.json", truths)
    return folder


def read_balance(run: Path) -> dict[str, Any]:
    """What a run's ``balance.json`` says.

    Raises:
        RunError: it is not there, or broken.
    """
    file = run / BALANCE
    try:
        record = json.loads(file.read_bytes())
        if not {"asked", "accepted", "balance"} <= set(record):
            raise ValueError
    except OSError as error:
        raise RunError(f"cannot read {file}: {error.strerror}; a session writes it") from error
    except (ValueError, TypeError, RecursionError):
        raise RunError(f"{file} is broken: the run's own command writes it anew") from None
    return dict(record)


def _write(path: Path, value: Any) -> None:
    write_whole(path, (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode())


LENGTHS = ("1", "2", "3", "4", "5", "6+")
"""Passages of the shortest route, as tables group them."""
_MOST_CANDIDATES = 1_500
_VAGUE = frozenset({"other", "no note"})
_LENGTH_WEIGHT = _KIND_WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class RouteFacts:
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


def facts_of(record: Mapping[str, Any], start: str, end: str) -> RouteFacts:
    """The facts in a ground truth that `truth_record` made."""
    bodies = record["bodies"]
    return RouteFacts(
        start,
        end,
        max(1, record["length"]),
        {body: said["answer"] for body, said in bodies.items()},
        {body: tuple(said["kinds"]) for body, said in bodies.items() if said["answer"] is False},
    )


def candidates(places: Places, seed: int) -> list[RouteFacts]:
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
        kinds = {
            body: kinds_of(
                passage
                for a, b in pairwise(path)
                if (passage := truth.passage(body, a, b)).traversable is False
            )
            for body in stopped
        }
        found.append(RouteFacts(start, end, len(path) - 1, answers, kinds))
    return found


def _pairs(places: Places, seed: int) -> list[tuple[str, str]]:
    named = [place for place in places.ids if places.called(place)]
    if len(named) * (len(named) - 1) <= _MOST_CANDIDATES:
        return list(permutations(named, 2))
    dice = random.Random(f"pairs:{seed}")
    drawn = {tuple(dice.sample(named, 2)): None for _ in range(_MOST_CANDIDATES)}
    return [(a, b) for a, b in drawn]


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

    def add(self, facts: RouteFacts) -> None:
        """Count one question."""
        self.questions += 1
        self.lengths[facts.bin] += 1
        for body, answer in facts.answers.items():
            self.bodies.setdefault(body, Counter())[_WORD[answer]] += 1
        for kinds in facts.kinds.values():
            self.kinds.update(kinds)

    @classmethod
    def of(cls, many: Iterable[RouteFacts]) -> Balance:
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

    def __init__(self, before: Iterable[RouteFacts] = ()) -> None:
        self._balance = Balance.of(before)

    def pick(
        self, among: Sequence[RouteFacts], taken: set[tuple[str, str]], seed: int
    ) -> RouteFacts | None:
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

    def _worth(self, facts: RouteFacts) -> float:
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
