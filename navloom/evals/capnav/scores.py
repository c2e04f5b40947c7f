"""Aggregated scores of a CapNav run: rates with intervals, and the composite.

Intervals are percentiles of a seeded bootstrap over questions, with all their bodies, since the
answers to one question are dependent. The composite is (F1 + PV + RTA + RV) / 4. A part without any
case (no "yes" with a valid path, no "no") is 0 in it, as in the public scorer. Without a judge RV
is unscored, and the mean is over the other three, as ``over`` states. ``balanced`` is the mean of
the shares of feasible and infeasible pairs answered correctly: 0.5 for a constant answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from navloom.evals.agreement import Estimate
from navloom.evals.capnav.answer_scoring import AnswerScore
from navloom.evals.capnav.official_scorer import OfficialScore
from navloom.evals.report.intervals import RESAMPLES, Floats, percentile_interval, resample_sums
from navloom.evals.run_folder import for_each_sample
from navloom.evals.run_kinds import read_run_of_kind
from navloom.files import check_format
from navloom.scenes.bodies import body_names
from navloom.tools.capnav.feasibility import KINDS

METRICS = ("precision", "recall", "F1", "accuracy", "balanced", "PV", "RTA", "RV", "composite")

_COUNTS = ("TP", "FP", "FN", "TN", "pv", "pv_n", "rta", "rta_n", "rv", "rv_n")


@dataclass(frozen=True)
class RateEstimate(Estimate):
    """One rate with its interval; no interval below two questions.

    Attributes:
        n: number of answers in its denominator.
    """

    n: int = 0

    def record(self) -> dict[str, Any]:
        """Return value, interval and n as JSON."""
        interval = None if self.interval is None else list(self.interval)
        return {"value": self.value, "interval": interval, "n": self.n}


@dataclass(frozen=True)
class CapnavTotals:
    """Counts and rates over a set of answers.

    Attributes:
        answers: number of answers.
        unparsed: number of replies that could not be parsed.
        unknown: number of pairs whose truth depends on an unlabelled passage.
        said_yes: number of yes answers.
        unscored: number of no answers whose reason no judge has graded.
        not_counted: number of answers that the public scorer's rules exclude; 0 by our rules.
        confusion: counts of TP, FP, FN, TN.
        measures: rates by name, as in ``METRICS``.
        over: the parts of the composite.
    """

    answers: int
    unparsed: int
    unknown: int
    said_yes: int
    unscored: int
    not_counted: int
    confusion: dict[str, int]
    measures: dict[str, RateEstimate]
    over: tuple[str, ...]

    def record(self) -> dict[str, Any]:
        """Return all counts and rates as JSON."""
        return {
            "answers": self.answers,
            "unparsed": self.unparsed,
            "unknown_truth": self.unknown,
            "said_yes": self.said_yes,
            "unscored_reasons": self.unscored,
            "not_counted": self.not_counted,
            "confusion": self.confusion,
            **{name: measure.record() for name, measure in self.measures.items()},
            "composite_over": list(self.over),
        }


_Scored = tuple[str, AnswerScore | OfficialScore]
"""(question id, score) by either rules; questions are the clusters of the bootstrap."""


def sum_scores(
    scores: Sequence[AnswerScore], *, judged: bool, resamples: int = RESAMPLES, seed: int = 0
) -> CapnavTotals:
    """Return the totals of scores by Navloom's rules.

    Args:
        scores: scores of answers.
        judged: whether a judge graded reasons; else RV is unscored.
        resamples: number of bootstrap resamples; 0 for no intervals.
        seed: seed of the bootstrap.
    """
    rows = [(score.question_id, score) for score in scores]
    return _totals(rows, 0, judged, resamples, seed)


def official_totals(
    scores: Iterable[tuple[str, OfficialScore]], *, judged: bool, resamples: int = RESAMPLES
) -> CapnavTotals:
    """Return totals by the public scorer's rules, of pairs of a question's id and its score."""
    found = list(scores)
    rows = [(question, score) for question, score in found if score.counted]
    return _totals(rows, len(found) - len(rows), judged, resamples, 0)


def _totals(
    rows: Sequence[_Scored], not_counted: int, judged: bool, resamples: int, seed: int
) -> CapnavTotals:
    per_cluster = _by_cluster(rows)
    over = ("F1", "PV", "RTA", "RV") if judged else ("F1", "PV", "RTA")
    whole = per_cluster.sum(axis=0)
    values, of = _rates(whole[None, :], over)
    drawn = np.empty((0, len(METRICS)))
    if resamples and len(per_cluster) > 1:
        drawn = _rates(resample_sums(per_cluster, resamples, seed), over)[0]
    measures = {
        name: _measure(float(values[0, k]), drawn[:, k], int(of[0, k]))
        for k, name in enumerate(METRICS)
    }
    if not judged:
        measures["RV"] = RateEstimate(None)
    return CapnavTotals(
        answers=len(rows) + not_counted,
        unparsed=sum(score.answer is None for _, score in rows),
        unknown=sum(score.bucket is None for _, score in rows),
        said_yes=sum(score.answer == "yes" for _, score in rows),
        unscored=sum(
            score.answer == "no" and (score.reason_valid is None or not judged) for _, score in rows
        ),
        not_counted=not_counted,
        confusion={name: int(whole[k]) for k, name in enumerate(_COUNTS[:4])},
        measures=measures,
        over=over,
    )


def _by_cluster(rows: Sequence[_Scored]) -> Floats:
    """Return the counts of each question, (C, 10) in the order of ``_COUNTS``."""
    numbers: dict[str, int] = {}
    for question, _ in rows:
        numbers.setdefault(question, len(numbers))
    counts = np.zeros((len(numbers), len(_COUNTS)))
    at = {name: k for k, name in enumerate(_COUNTS)}
    for question, row in rows:
        mine = counts[numbers[question]]
        if row.bucket is not None:
            mine[at[row.bucket]] += 1
        for name, value in (("pv", row.valid), ("rta", row.traversable), ("rv", row.reason_valid)):
            if value is not None:
                mine[at[name]] += value
                mine[at[f"{name}_n"]] += 1
    return counts


def _rates(counts: Floats, over: Sequence[str]) -> tuple[Floats, Floats]:
    """Return the rates of each row of counts, and their denominators; NaN for a rate of none."""
    tp, fp, fn, tn, pv, pv_n, rta, rta_n, rv, rv_n = counts.T
    with np.errstate(invalid="ignore"):
        recall, specificity = tp / (tp + fn), tn / (tn + fp)
        found = {
            "precision": tp / (tp + fp),
            "recall": recall,
            "F1": 2 * tp / (2 * tp + fp + fn),
            "accuracy": (tp + tn) / (tp + fp + fn + tn),
            "balanced": (recall + specificity) / 2,
            "PV": pv / pv_n,
            "RTA": rta / rta_n,
            "RV": rv / rv_n,
        }
    parts = [np.nan_to_num(found[name], nan=0.0) for name in over]
    found["composite"] = np.mean(parts, axis=0)
    every = tp + fp + fn + tn
    of = {"precision": tp + fp, "recall": tp + fn, "PV": pv_n, "RTA": rta_n, "RV": rv_n}
    return (
        np.stack([found[name] for name in METRICS], axis=1),
        np.stack([of.get(name, every) for name in METRICS], axis=1),
    )


def _measure(value: float, drawn: Floats, n: int) -> RateEstimate:
    if np.isnan(value):
        return RateEstimate(None, n=n)
    kept = drawn[~np.isnan(drawn)]
    if not len(kept):
        return RateEstimate(value, n=n)
    return RateEstimate(value, *percentile_interval(kept), n)


_FAR = 5
"""Routes of at least this many passages form one group."""
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
"""Kinds of groups: score -> its groups; an answer may be in several."""


@dataclass
class CapnavScores:
    """All scores of a run, and its usage.

    Attributes:
        model: the answering model.
        judge: the judge model; None without one.
        scores: scores of all finished samples, by our rules.
        official: scores by the public scorer's rules; each with its question's id.
        faults: number of occurrences of each path fault.
        asks: number of calls of the answering model.
        texts_only: number of answers given without images.
    """

    model: str
    judge: str | None
    scores: list[AnswerScore] = field(default_factory=list)
    official: list[tuple[str, OfficialScore]] = field(default_factory=list)
    faults: dict[str, int] = field(default_factory=dict)
    asks: int = 0
    texts_only: int = 0

    def add(self, line: Mapping[str, Any]) -> None:
        """Add a finished sample's line."""
        result = line["result"]
        score = AnswerScore.read(result["score"])
        self.scores.append(score)
        for each in result["official"]:
            read = OfficialScore.read(each) if len(each) > 1 else OfficialScore(each["error"])
            self.official.append((score.question_id, read))
        for fault in score.faults:
            self.faults[fault] = self.faults.get(fault, 0) + 1
        self.asks += result["asks"]
        self.texts_only += result["frames"] == 0

    @property
    def judged(self) -> bool:
        """True if a judge graded the reasons."""
        return self.judge is not None

    def totals(self) -> CapnavTotals:
        """Return the totals of all answers by Navloom's rules."""
        return sum_scores(self.scores, judged=self.judged)

    def official_totals(self) -> CapnavTotals:
        """Return the totals of all answers by the public scorer's rules."""
        return official_totals(self.official, judged=self.judged)

    def by(self, kind: str) -> Iterator[tuple[str, CapnavTotals]]:
        """Yield the totals of each group of a kind in ``GROUPS``, in the order of tables."""
        of: dict[str, list[AnswerScore]] = {}
        for score in self.scores:
            for name in GROUPS[kind](score):
                of.setdefault(name, []).append(score)
        known = {"barrier": (*KINDS, _NO_ROUTE), "body": body_names()}.get(kind, ())
        for name in (*known, *sorted(of.keys() - set(known))):
            if name in of:
                yield name, sum_scores(of[name], judged=self.judged)

    def record(self) -> dict[str, Any]:
        """Return the entry of ``summary.json``."""
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
    """Read the scores of the finished samples of a run.

    Raises:
        RunError: the folder is no CapNav run, or is broken.
    """
    request = read_run_of_kind(run, "capnav")["request"]
    found = CapnavScores(str(request.get("model")), request.get("judge_model"))
    for_each_sample(run, found.add, "an answer")
    with check_format(f"{run}: a sample", "an answer"):
        # The order of lines differs between two runs of one request.
        found.scores.sort(key=lambda score: (score.question_id, score.body))
        found.official.sort(key=lambda pair: (pair[0], repr(pair[1])))
    return found
