"""What an answer to a CapNav question is worth (CapNav; supplementary B and C).

- Feasibility: "yes" or "no" against the truth, "yes" being the positive class. A reply that cannot
  be read counts against the answerer: a false negative or a false positive. A pair whose truth
  hangs on an unlabelled passage is left out of this one and counted.
- PV, path validity, of every answer that could be read: a simple path from the question's start to
  its end, along passages that are there.
- RTA, route traversability, of a "yes" with a valid path: the share of its passages the body can
  use. Passages that nobody labelled are left out.
- RV, reasoning validity, of a "no": the judge's verdict on its reason against what holds along the
  path it names; 0 where fewer than two nodes of the path are known, or no reason is given. Without
  a judge, or where the judge's reply is no verdict, it is unscored, never 0.

Start and end are those of ``nodes_involved``. :mod:`navloom.evals.capnav.official` has the public
scorer's own rules, :mod:`navloom.evals.capnav.scores` adds scores up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Literal, Self

from navloom.evals.capnav.data import Benchmark, Question
from navloom.scenes.bodies import Embodiment
from navloom.tools.capnav.answers import Answer
from navloom.tools.capnav.feasible import kinds_of

Bucket = Literal["TP", "FP", "FN", "TN"]
TRUTH = {True: "yes", False: "no", None: "unknown"}
"""Whether a body gets there, in words."""
NO_ROUTE = "no route"
"""The kind of barrier of two places that nothing joins."""


class Score:
    """What is kept of an answer's worth, by whichever rules."""

    def record(self) -> dict[str, Any]:
        """As JSON."""
        said = asdict(self)  # type: ignore[call-overload]
        return {key: list(v) if isinstance(v, tuple) else v for key, v in said.items()}

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> Self:
        """The score that :meth:`record` wrote."""
        return cls(**{key: tuple(v) if isinstance(v, list) else v for key, v in record.items()})


@dataclass(frozen=True, slots=True)
class AnswerScore(Score):
    """What one answer is worth.

    Attributes:
        question_id: of the question.
        scene: its scene's id.
        body: whose question it is.
        answer: ``yes`` or ``no``; None where the reply could not be read.
        truth: None where it hangs on an unlabelled passage.
        valid: whether the path is one; None where the reply could not be read.
        faults: why it is none.
        traversable: RTA; None where it does not apply.
        reason_valid: RV; None where it does not apply, or is unscored.
        barriers: the kinds of what is in the way, where the truth is no.
        hops: passages of the shortest route, whatever body; None where there is none.
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
        """Where it stands among right and wrong; None where the truth is not known."""
        if self.truth is None:
            return None
        if self.answer is None:
            return "FN" if self.truth else "FP"
        if self.answer == "yes":
            return "TP" if self.truth else "FP"
        return "FN" if self.truth else "TN"

    @property
    def right(self) -> bool | None:
        """Whether the answer is the truth; None where that is not known."""
        return None if self.truth is None else self.bucket in ("TP", "TN")


class Scorer:
    """Scores answers of one benchmark; what does not depend on the answer is worked out once."""

    def __init__(self, benchmark: Benchmark) -> None:
        self.benchmark = benchmark
        self._edges: dict[str, frozenset[tuple[str, str]]] = {}
        self._asked: dict[tuple[str, str], tuple[bool | None, tuple[str, ...], int | None]] = {}
        self._resolved: dict[tuple[str, str], str | None] = {}

    def score(
        self,
        question: Question,
        body: Embodiment | str,
        answer: Answer | None,
        verdict: Mapping[str, Any] | None = None,
        *,
        partial: bool = False,
    ) -> AnswerScore:
        """Score one answer.

        Args:
            question: that was asked.
            body: of whom.
            answer: None where the reply could not be read.
            verdict: the judge's, with ``correct`` (True, False or None) and ``partial``.
            partial: credit a reason for the share of the barriers that it names.

        Raises:
            DataError: the question's nodes are not there, or nobody said anything of the body.
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
        """The nodes of a path as a model wrote it; None for each that is unknown."""
        found = []
        for text in said:
            if (scene, text) not in self._resolved:
                self._resolved[scene, text] = self.benchmark.nodes(scene).resolve(text).node
            found.append(self._resolved[scene, text])
        return tuple(found)

    def _facts(
        self, question: Question, body: str
    ) -> tuple[bool | None, tuple[str, ...], int | None]:
        key = (question.id, body)
        if key not in self._asked:
            truth = self.benchmark.feasible(question, body)
            kinds: tuple[str, ...] = ()
            if truth is False:
                why = self.benchmark.truth(question, body)
                kinds = kinds_of(why.blocking) if why.connected else (NO_ROUTE,)
            self._asked[key] = truth, kinds, self.benchmark.hops(question)
        return self._asked[key]

    def _faults(self, question: Question, path: Sequence[str | None]) -> tuple[str, ...]:
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
    """Why a path is none; () where it is one.

    Args:
        path: nodes, None for each that is unknown.
        start: where it has to begin.
        end: where it has to end.
        edges: the passages there are, in both directions.
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
