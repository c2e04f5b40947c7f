"""Questions collected from a run's samples: deduplicated, capped by quotas and balanced.

Samples of one scene run in parallel without knowing each other's questions. So questions that
repeat one of an earlier sample are dropped here, in the order of the samples. The files are

    qa/ID_QA.json        the benchmark's own format, one file for each scene
    truth/ID_truth.json  grounding of each question's details, and its truth for each body
    balance.json         counts over all questions, and what is missing

A question counts by its ground truth: feasibility for each body, number of passages of the shortest
route, and kinds of barrier that block a body. A set is balanced if each body can do half of its
questions. This module also chooses which routes to ask for next.
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
from navloom.files import make_folder, write_run_file
from navloom.scenes.traversability_table import Traversability
from navloom.tools.capnav import feasibility
from navloom.tools.capnav.named_places import NamedPlaces
from navloom.tools.capnav.question_grounding import find_duplicate

BALANCE = "balance.json"
_ENDS = ("start_detail", "end_detail")


@dataclass(frozen=True)
class CollectedQuestion:
    """One accepted question of the dataset.

    Attributes:
        question: the question in the benchmark's format.
        grounding: verification of its details.
        sample: id of the sample that made it.
        truth: its ground truth; see :func:`navloom.evals.capnav.question_set.truth_record`.
    """

    question: dict[str, Any]
    grounding: dict[str, Any]
    sample: str
    truth: dict[str, Any]

    @property
    def facts(self) -> RouteFacts:
        """Route facts that the balance counts: length, feasibility by body, barrier kinds."""
        ends = self.question["nodes_involved"]
        return read_route_facts(self.truth, ends["start"], ends["end"])


@dataclass
class QuestionSet:
    """The questions collected from the samples of a run.

    Attributes:
        by_scene: accepted questions by the scene's portable name, up to its quota and the gaps of
            other scenes.
        spare: number of accepted questions beyond that.
        duplicates: number of dropped questions that repeat an earlier one.
        rejected: number of violations of each rule.
    """

    by_scene: dict[str, list[CollectedQuestion]] = field(default_factory=dict)
    spare: int = 0
    duplicates: int = 0
    rejected: Counter[str] = field(default_factory=Counter)

    @property
    def count(self) -> int:
        """The number of accepted questions."""
        return sum(len(kept) for kept in self.by_scene.values())

    def missing(self, quotas: Mapping[str, int], n: int) -> dict[str, int]:
        """Return the number of questions that each scene still lacks for a total of ``n``."""
        left, wanted = n - self.count, {}
        for name, quota in quotas.items():
            lacking = min(left, quota - len(self.by_scene.get(name, ())))
            if lacking > 0:
                wanted[name] = lacking
                left -= lacking
        return wanted

    def facts(self) -> list[RouteFacts]:
        """Return the route facts of all questions, by scene."""
        return [kept.facts for name in sorted(self.by_scene) for kept in self.by_scene[name]]

    def details(self) -> dict[str, int]:
        """Count verified and unverifiable details, and those that fit exactly one object."""
        found = [q.grounding[end] for kept in self.by_scene.values() for q in kept for end in _ENDS]
        counted = Counter(each["status"] for each in found)
        statuses = {status: counted[status] for status in ("verified", "unverifiable")}
        return {**statuses, "told_apart": sum(each.get("fits") == 1 for each in found)}

    def record(self, quotas: Mapping[str, int], n: int) -> dict[str, Any]:
        """Return the content of ``balance.json``."""
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
            "balance": BalanceCounts.of(self.facts()).record(),
        }


def collect_questions(
    rows: Iterable[Mapping[str, Any]],
    quotas: Mapping[str, int],
    n: int,
    places_of: Callable[[str], NamedPlaces],
) -> QuestionSet:
    """Collect the questions of finished samples.

    Args:
        rows: lines of ``samples.jsonl``; their order does not matter.
        quotas: number of questions wanted of each scene.
        n: number of questions wanted in all.
        places_of: scene name -> its places.
    """
    found = QuestionSet()
    extra: dict[str, list[CollectedQuestion]] = {}
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
            if find_duplicate(question, there) is not None:
                found.duplicates += 1
                continue
            room = kept if len(kept) < quotas.get(name, 0) else over
            ends = question["nodes_involved"]
            truth = truth_record(places_of(name).truth, ends["start"], ends["end"])
            room.append(CollectedQuestion(question, grounding, row["id"], truth))
    # Spare questions of some scenes fill the gaps of others, taken from scenes in turn.
    while found.count < n and any(extra.values()):
        for name in sorted(extra):
            if extra[name] and found.count < n:
                found.by_scene[name].append(extra[name].pop(0))
    found.spare = sum(len(many) for many in extra.values())
    return found


def write_questions(
    run: Path, collected: QuestionSet, ids: Mapping[str, str], *, qa: Path | None = None
) -> Path:
    """Write the dataset's files, each atomically.

    Args:
        run: the run's folder.
        collected: the questions.
        ids: the id of each scene, by its portable name.
        qa: folder of the benchmark's files; default: ``qa`` in the run's folder.

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
    """Read a run's ``balance.json``.

    Raises:
        RunError: it is missing or broken.
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
    write_run_file(path, (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode())


LENGTHS = ("1", "2", "3", "4", "5", "6+")
"""Length classes: number of passages of the shortest route."""
_MOST_CANDIDATES = 1_500
_VAGUE = frozenset({"other", "no note"})
_LENGTH_WEIGHT = _KIND_WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class RouteFacts:
    """Ground-truth facts of a route between two places.

    Attributes:
        start: the place it starts from.
        end: the place it goes to.
        length: number of passages of the shortest route for any body.
        answers: feasibility for each body; None if it depends on an unlabelled passage.
        kinds: kinds of barrier that block each body that cannot do it.
    """

    start: str
    end: str
    length: int
    answers: Mapping[str, bool | None]
    kinds: Mapping[str, tuple[str, ...]]

    @property
    def bin(self) -> str:
        """The length class of the route, as tables group it."""
        return LENGTHS[min(self.length, len(LENGTHS)) - 1]


def truth_record(truth: Traversability, start: str, end: str) -> dict[str, Any]:
    """Return the ground truth of one question for every body, as JSON.

    Returns:
        ``route`` and ``length`` for any body, and ``bodies``: for each ``answer``, ``path``,
        ``blocking`` (a minimum cut, with notes), ``unlabelled``, and ``kinds`` of barrier.
    """
    path = feasibility.path_any_body(truth, start, end)
    bodies: dict[str, Any] = {}
    for body in truth.bodies:
        found = feasibility.check_feasibility(truth, body, start, end)
        bodies[body] = {
            "answer": found.answer,
            "path": list(found.path),
            "blocking": [passage.record() for passage in found.blocking],
            "unlabelled": [passage.record() for passage in found.unlabelled],
            "kinds": list(feasibility.blocking_kinds(found.blocking)),
        }
    return {"route": list(path), "length": max(0, len(path) - 1), "bodies": bodies}


def read_route_facts(record: Mapping[str, Any], start: str, end: str) -> RouteFacts:
    """Return the route facts from a record of `truth_record`."""
    bodies = record["bodies"]
    return RouteFacts(
        start,
        end,
        max(1, record["length"]),
        {body: said["answer"] for body, said in bodies.items()},
        {body: tuple(said["kinds"]) for body, said in bodies.items() if said["answer"] is False},
    )


def candidate_routes(places: NamedPlaces, seed: int) -> list[RouteFacts]:
    """Return routes of a scene that questions can ask about, with their facts.

    Barriers are those on the shortest route, which is fast to compute; a minimum cut may differ.

    Args:
        places: places of the scene.
        seed: seed of the sample of pairs in a scene with very many pairs.
    """
    truth, index = places.truth, {place: i for i, place in enumerate(places.ids)}
    tables = feasibility.reach_matrices(truth)
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
            body: feasibility.blocking_kinds(
                passage
                for a, b in pairwise(path)
                if (passage := truth.passage(body, a, b)).traversable is False
            )
            for body in stopped
        }
        found.append(RouteFacts(start, end, len(path) - 1, answers, kinds))
    return found


def _pairs(places: NamedPlaces, seed: int) -> list[tuple[str, str]]:
    named = [place for place in places.ids if places.called(place)]
    if len(named) * (len(named) - 1) <= _MOST_CANDIDATES:
        return list(permutations(named, 2))
    dice = random.Random(f"pairs:{seed}")
    drawn = {tuple(dice.sample(named, 2)): None for _ in range(_MOST_CANDIDATES)}
    return [(a, b) for a, b in drawn]


@dataclass
class BalanceCounts:
    """Counts over a set of questions: feasibility by body, lengths, barriers.

    Attributes:
        questions: number of questions.
        bodies: body -> ``feasible``, ``infeasible`` and ``unknown`` -> number of questions.
        lengths: length class of the shortest route -> number of questions.
        kinds: kind of barrier -> number of pairs of question and body that it blocks.
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
    def of(cls, many: Iterable[RouteFacts]) -> BalanceCounts:
        """Make the balance of several questions."""
        made = cls()
        for each in many:
            made.add(each)
        return made

    @property
    def imbalance(self) -> float | None:
        """The imbalance: 0 if each body can do half of the known questions, 1 if all or none.

        It is the mean over bodies of ``|feasible - infeasible| / (feasible + infeasible)``; None if
        nothing is known.
        """
        shares = [
            abs(said["feasible"] - said["infeasible"]) / known
            for said in self.bodies.values()
            if (known := said["feasible"] + said["infeasible"])
        ]
        return sum(shares) / len(shares) if shares else None

    def record(self) -> dict[str, Any]:
        """Return all counts as JSON, in the order of tables."""
        return {
            "questions": self.questions,
            "bodies": {
                body: {word: said[word] for word in _WORD.values()}
                for body, said in self.bodies.items()
            },
            "lengths": {length: self.lengths[length] for length in LENGTHS},
            "kinds": {kind: self.kinds[kind] for kind in feasibility.KINDS if self.kinds[kind]},
            "imbalance": None if self.imbalance is None else round(self.imbalance, 4),
        }


_WORD = {True: "feasible", False: "infeasible", None: "unknown"}


class RouteBalancer:
    """Chooses routes whose facts are rare among the questions so far.

    Its choices depend only on the sequence of calls, so that a plan made twice is the same plan.
    """

    def __init__(self, before: Iterable[RouteFacts] = ()) -> None:
        self._balance = BalanceCounts.of(before)

    def pick(
        self, among: Sequence[RouteFacts], taken: set[tuple[str, str]], seed: int
    ) -> RouteFacts | None:
        """Choose the most wanted route that is not taken; None if all are taken.

        The route counts as chosen from then on. The seed breaks ties.
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
        """Return how much rarer this answer is for the body than the opposite one, -1 to 1."""
        if answer is None:
            return -1.0
        said = self._balance.bodies.get(body, Counter())
        mine, other = said[_WORD[answer]], said[_WORD[not answer]]
        return (other - mine) / (1 + mine + other)
