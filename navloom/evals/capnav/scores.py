"""What a CapNav run's finished samples add up to: read line by line, by both sets of rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from navloom.evals.capnav.barriers import KINDS
from navloom.evals.capnav.official import OfficialScore
from navloom.evals.capnav.rules import AnswerScore
from navloom.evals.capnav.totals import Totals, official_totals, totals
from navloom.evals.run_folder import fold_samples, read_run
from navloom.scenes.bodies import body_names

__all__ = ["GROUPS", "CapnavScores", "read_capnav"]

_FAR = 5
"""Routes of so many passages and more stand together."""
_NO_ROUTE = "no route"
Grouper = Callable[[AnswerScore], tuple[str, ...]]


def _hops(score: AnswerScore) -> tuple[str, ...]:
    if score.hops is None:
        return (_NO_ROUTE,)
    return (f"{_FAR} or more",) if score.hops >= _FAR else (str(score.hops),)


GROUPS: dict[str, Grouper] = {
    "body": lambda score: (score.body,),
    "barrier": lambda score: score.barriers,
    "passages": _hops,
}
"""What answers are told apart by; an answer may stand in several groups of one kind."""


@dataclass
class CapnavScores:
    """What a run adds up to.

    Attributes:
        model: that answered.
        judge: that graded reasons; None where none did.
        scores: of every finished sample, by our rules.
        official: by the public scorer's; each with its question.
        faults: how often which fault of a path was found.
        asks: calls of the answerer.
        tokens: in and out.
        seconds: of samples, added up.
        cost_usd: None where a price is not known.
        texts_only: answers that were given without any picture.
    """

    model: str
    judge: str | None
    scores: list[AnswerScore] = field(default_factory=list)
    official: list[tuple[str, OfficialScore]] = field(default_factory=list)
    faults: dict[str, int] = field(default_factory=dict)
    asks: int = 0
    tokens: tuple[int, int] = (0, 0)
    seconds: float = 0.0
    cost_usd: float | None = 0.0
    texts_only: int = 0

    def add(self, line: Mapping[str, Any]) -> None:
        """Add a finished sample's line."""
        result, usage = line["result"], line.get("usage") or {}
        score = AnswerScore.read(result["score"])
        self.scores.append(score)
        for each in result["official"]:
            read = OfficialScore.read(each) if len(each) > 1 else OfficialScore(each["error"])
            self.official.append((score.question_id, read))
        for fault in score.faults:
            self.faults[fault] = self.faults.get(fault, 0) + 1
        self.asks += result["asks"]
        self.texts_only += result["frames"] == 0
        self.tokens = (
            self.tokens[0] + usage.get("input_tokens", 0),
            self.tokens[1] + usage.get("output_tokens", 0),
        )
        self.seconds += line.get("seconds") or 0.0
        cost = line.get("cost_usd")
        self.cost_usd = None if cost is None or self.cost_usd is None else self.cost_usd + cost

    @property
    def judged(self) -> bool:
        """Whether reasons were graded."""
        return self.judge is not None

    def totals(self) -> Totals:
        """All of them, by our rules."""
        return totals(self.scores, judged=self.judged)

    def official_totals(self) -> Totals:
        """All of them, by the public scorer's rules."""
        return official_totals(self.official, judged=self.judged)

    def by(self, kind: str) -> Iterator[tuple[str, Totals]]:
        """Each group of a kind of ``GROUPS``, in the order of tables."""
        of: dict[str, list[AnswerScore]] = {}
        for score in self.scores:
            for name in GROUPS[kind](score):
                of.setdefault(name, []).append(score)
        known = {"barrier": (*KINDS, _NO_ROUTE), "body": body_names()}.get(kind, ())
        for name in (*known, *sorted(of.keys() - set(known))):
            if name in of:
                yield name, totals(of[name], judged=self.judged)

    def record(self) -> dict[str, Any]:
        """As ``summary.json`` keeps it."""
        return {
            "model": self.model,
            "judge": self.judge,
            "answers": len(self.scores),
            "asks": self.asks,
            "text_only": self.texts_only,
            "ours": self.totals().record(),
            "official": self.official_totals().record(),
            "path_faults": dict(sorted(self.faults.items())),
            **{f"by_{k}": {name: t.record() for name, t in self.by(k)} for k in GROUPS},
        }


def read_capnav(run: Path | str) -> CapnavScores:
    """What the finished samples of a run add up to.

    Raises:
        RunError: the folder is no run of this evaluation, or is broken.
    """
    request = read_run(run)["request"]
    found = CapnavScores(str(request.get("model")), request.get("judge_model"))
    fold_samples(run, found.add, "an answer")
    # Lines stand as samples ended, which differs between two runs of one request.
    found.scores.sort(key=lambda score: (score.question_id, score.body))
    found.official.sort(key=lambda pair: (pair[0], repr(pair[1])))
    return found
