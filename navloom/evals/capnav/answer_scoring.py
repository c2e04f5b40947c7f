"""Scoring of an answer to a CapNav question by our rules (CapNav; supplementary B and C).

- Feasibility: "yes" or "no" against the truth; "yes" is the positive class. A reply that cannot be
  parsed counts as a false negative or a false positive. A pair whose truth depends on an unlabelled
  passage is excluded here and counted separately.
- PV, path validity, of every parsed answer: a simple path from the question's start to its end,
  along existing passages.
- RTA, route traversability, of a "yes" with a valid path: the share of its passages that the body
  can use. Unlabelled passages are left out.
- RV, reasoning validity, of a "no": the judge's verdict on its reason, against the truth along the
  path that it names. It is 0 if fewer than two nodes of the path are known, or without a reason.
  Without a judge, or without a verdict in the judge's reply, it is unscored, never 0.

Start and end are those of ``nodes_involved``. :mod:`navloom.evals.capnav.official_scorer` has the
public scorer's rules; :mod:`navloom.evals.capnav.scores` aggregates scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Literal, Self

from navloom.evals.capnav.benchmark_data import CapnavBenchmark, CapnavQuestion
from navloom.scenes.bodies import Embodiment
from navloom.tools.capnav.answer_parser import CapnavAnswer
from navloom.tools.capnav.feasibility import blocking_kinds

Bucket = Literal["TP", "FP", "FN", "TN"]
TRUTH = {True: "yes", False: "no", None: "unknown"}
"""Feasibility in words."""
NO_ROUTE = "no route"
"""Kind of barrier between two places without any route."""


class ScoreRecord:
    """Base of scores that are stored as JSON."""

    def record(self) -> dict[str, Any]:
        """Return all fields as JSON."""
        said = asdict(self)  # type: ignore[call-overload]
        return {key: list(v) if isinstance(v, tuple) else v for key, v in said.items()}

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> Self:
        """Read the score that :meth:`record` wrote."""
        return cls(**{key: tuple(v) if isinstance(v, list) else v for key, v in record.items()})


@dataclass(frozen=True, slots=True)
class AnswerScore(ScoreRecord):
    """Score of one answer by our rules.

    Attributes:
        question_id: id of the question.
        scene: its scene's id.
        body: name of the body.
        answer: ``yes`` or ``no``; None if the reply could not be parsed.
        truth: feasibility; None if it depends on an unlabelled passage.
        valid: whether the path is valid; None if the reply could not be parsed.
        faults: faults of the path.
        traversable: RTA; None where it does not apply.
        reason_valid: RV; None where it does not apply, or is unscored.
        barriers: kinds of the blocking barriers, where the truth is no.
        hops: passages of the shortest route for any body; None for no route.
    """

    question_id: str
    scene: str
    body: str
    answer: Literal["yes", "no"] | None
    truth: bool | None
    valid: bool | None = None
    faults: tuple[str, ...] = ()
    traversable: float | None = None
    reason_valid: float | None = None
    barriers: tuple[str, ...] = ()
    hops: int | None = None

    @property
    def bucket(self) -> Bucket | None:
        """TP, FP, FN or TN; None if the truth is unknown."""
        if self.truth is None:
            return None
        if self.answer is None:
            return "FN" if self.truth else "FP"
        if self.answer == "yes":
            return "TP" if self.truth else "FP"
        return "FN" if self.truth else "TN"

    @property
    def right(self) -> bool | None:
        """True if the answer equals the truth; None if the truth is unknown."""
        return None if self.truth is None else self.bucket in ("TP", "TN")


class AnswerScorer:
    """Scorer of the answers of one benchmark; caches what does not depend on the answer."""

    def __init__(self, benchmark: CapnavBenchmark) -> None:
        self.benchmark = benchmark
        self._edges: dict[str, frozenset[tuple[str, str]]] = {}
        self._asked: dict[tuple[str, str], tuple[bool | None, tuple[str, ...], int | None]] = {}
        self._resolved: dict[tuple[str, str], str | None] = {}

    def score(
        self,
        question: CapnavQuestion,
        body: Embodiment | str,
        answer: CapnavAnswer | None,
        verdict: Mapping[str, Any] | None = None,
        *,
        partial: bool = False,
    ) -> AnswerScore:
        """Score one answer.

        Args:
            question: the question.
            body: the body.
            answer: the answer; None if the reply could not be parsed.
            verdict: the judge's verdict, with ``correct`` (True, False or None) and ``partial``.
            partial: credit a reason for the share of the barriers that it names.

        Raises:
            DataError: the question is unresolved, or the body is not annotated.
        """
        name = body if isinstance(body, str) else body.name
        truth, barriers, hops = self._facts(question, name)
        about = (question.id, question.scene, name)
        if answer is None:
            return AnswerScore(*about, None, truth, barriers=barriers, hops=hops)
        path = self.path(question.scene, answer.path)
        faults = self._faults(question, path)
        known = [node for node in path if node is not None]
        yes = answer.answer == "yes"
        return AnswerScore(
            *about,
            answer.answer,
            truth,
            valid=not faults,
            faults=faults,
            traversable=self._share(question.scene, name, known) if yes and not faults else None,
            reason_valid=None if yes else _reason_valid(known, answer.reason, verdict, partial),
            barriers=barriers,
            hops=hops,
        )

    def path(self, scene: str, said: Sequence[str]) -> tuple[str | None, ...]:
        """Return the node of each name of a path; None for an unknown name."""
        found = []
        for text in said:
            if (scene, text) not in self._resolved:
                self._resolved[scene, text] = self.benchmark.nodes(scene).resolve(text).node
            found.append(self._resolved[scene, text])
        return tuple(found)

    def _facts(
        self, question: CapnavQuestion, body: str
    ) -> tuple[bool | None, tuple[str, ...], int | None]:
        key = (question.id, body)
        if key not in self._asked:
            truth = self.benchmark.feasible(question, body)
            kinds: tuple[str, ...] = ()
            if truth is False:
                why = self.benchmark.truth(question, body)
                kinds = blocking_kinds(why.blocking) if why.connected else (NO_ROUTE,)
            self._asked[key] = truth, kinds, self.benchmark.hops(question)
        return self._asked[key]

    def _faults(self, question: CapnavQuestion, path: Sequence[str | None]) -> tuple[str, ...]:
        scene = question.scene
        if scene not in self._edges:
            edges = self.benchmark.traversability[scene].edges
            self._edges[scene] = frozenset((*edges, *((b, a) for a, b in edges)))
        return path_faults(path, question.start, question.end, self._edges[scene])

    def _share(self, scene: str, body: str, path: Sequence[str]) -> float | None:
        table = self.benchmark.traversability[scene]
        said = [table.passage(body, a, b).traversable for a, b in pairwise(path)]
        labelled = [each for each in said if each is not None]
        return sum(labelled) / len(labelled) if labelled else None


def path_faults(
    path: Sequence[str | None],
    start: str | None,
    end: str | None,
    edges: frozenset[tuple[str, str]],
) -> tuple[str, ...]:
    """Return the faults of a path; () for a valid path.

    Args:
        path: nodes, None for unknown ones.
        start: required first node.
        end: required last node.
        edges: existing passages, in both directions.
    """
    if not path:
        return ("empty_path",)
    found = []
    known = [node for node in path if node is not None]
    if len(known) < len(path):
        found.append("unknown_node")
    if path[0] != start:
        found.append("wrong_start")
    if path[-1] != end:
        found.append("wrong_end")
    if len(set(known)) < len(known):
        found.append("repeated_node")
    if any(a and b and (a, b) not in edges for a, b in pairwise(path)):
        found.append("missing_edge")
    return tuple(found)


def _reason_valid(
    known: Sequence[str], reason: str, verdict: Mapping[str, Any] | None, partial: bool
) -> float | None:
    if len(known) < 2 or not reason.strip():
        return 0.0
    if verdict is None or verdict.get("correct") is None:
        return None
    if partial and verdict.get("partial") is not None:
        return float(verdict["partial"])
    return 1.0 if verdict["correct"] else 0.0
