"""What the answers of a run add up to: rates with intervals, and the composite.

Intervals are percentiles of a seeded bootstrap that draws questions, with all their bodies: the
five answers about one question hang together. The composite is (F1 + PV + RTA + RV) / 4. A part
that the answerer gave no occasion for (a "yes" with a valid path, a "no") is 0 in it, as in the
public scorer; RV without a judge is unscored, and the mean is of the other three: ``over`` says of
which. ``balanced`` is the mean of the shares of feasible and of infeasible pairs answered rightly:
0.5 for whoever always says the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from navloom.evals.capnav.official import OfficialScore
from navloom.evals.capnav.rules import AnswerScore
from navloom.evals.report.intervals import RESAMPLES, Floats, percentiles, resampled

METRICS = (
    "precision",
    "recall",
    "F1",
    "accuracy",
    "balanced",
    "PV",
    "RTA",
    "RV",
    "composite",
)

_COUNTS = ("TP", "FP", "FN", "TN", "pv", "pv_n", "rta", "rta_n", "rv", "rv_n")


@dataclass(frozen=True, slots=True)
class Measure:
    """One rate.

    Attributes:
        value: None where nothing is there to take it of.
        low: lower end of its 95 % interval; None below two questions.
        high: upper end.
        n: of how many answers it is.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int

    def record(self) -> dict[str, Any]:
        """As JSON."""
        interval = None if self.low is None or self.high is None else [self.low, self.high]
        return {"value": self.value, "interval": interval, "n": self.n}


@dataclass(frozen=True)
class Totals:
    """What answers add up to.

    Attributes:
        answers: how many were asked for.
        unparsed: could not be read.
        unknown: pairs whose truth hangs on an unlabelled passage.
        said_yes: answers that say yes.
        unscored: a "no" whose reason no judge has graded.
        not_counted: left out by the rules themselves; of the public scorer's alone.
        confusion: TP, FP, FN, TN.
        measures: by ``METRICS``.
        over: the parts the composite is the mean of.
    """

    answers: int
    unparsed: int
    unknown: int
    said_yes: int
    unscored: int
    not_counted: int
    confusion: dict[str, int]
    measures: dict[str, Measure]
    over: tuple[str, ...]

    def record(self) -> dict[str, Any]:
        """As JSON."""
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


@dataclass(frozen=True, slots=True)
class _Row:
    """One answer, whatever rules it was scored by."""

    cluster: str
    bucket: str | None
    parsed: bool
    yes: bool
    valid: bool | None
    traversable: float | None
    reason_wanted: bool
    reason_valid: float | None


def totals(
    scores: Sequence[AnswerScore], *, judged: bool, resamples: int = RESAMPLES, seed: int = 0
) -> Totals:
    """Add up scores.

    Args:
        scores: of answers.
        judged: whether a judge graded reasons; else RV is unscored.
        resamples: of the bootstrap; 0 leaves intervals out.
        seed: of the bootstrap.
    """
    rows = [
        _Row(
            score.question_id,
            score.bucket,
            score.answer is not None,
            score.answer == "yes",
            score.valid,
            score.traversable,
            score.answer == "no",
            score.reason_valid,
        )
        for score in scores
    ]
    return _totals(rows, 0, judged, resamples, seed)


def official_totals(
    scores: Iterable[tuple[str, OfficialScore]],
    *,
    judged: bool,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Totals:
    """The same of what the public scorer's rules say; each with its question's id."""
    rows, not_counted = [], 0
    for cluster, score in scores:
        if not score.counted:
            not_counted += 1
            continue
        rows.append(
            _Row(
                cluster,
                score.bucket,
                score.format_error is None,
                score.answer == "yes",
                score.valid,
                score.traversable,
                score.answer == "no",
                score.reason_valid,
            )
        )
    return _totals(rows, not_counted, judged, resamples, seed)


def _totals(
    rows: Sequence[_Row], not_counted: int, judged: bool, resamples: int, seed: int
) -> Totals:
    per_cluster = _by_cluster(rows)
    over = ("F1", "PV", "RTA", "RV") if judged else ("F1", "PV", "RTA")
    whole = per_cluster.sum(axis=0)
    values, of = _rates(whole[None, :], over)
    drawn = np.empty((0, len(METRICS)))
    if resamples and len(per_cluster) > 1:
        drawn = _rates(resampled(per_cluster, resamples, seed), over)[0]
    measures = {
        name: _measure(float(values[0, k]), drawn[:, k], int(of[0, k]))
        for k, name in enumerate(METRICS)
    }
    if not judged:
        measures["RV"] = Measure(None, None, None, 0)
    return Totals(
        answers=len(rows) + not_counted,
        unparsed=sum(not row.parsed for row in rows),
        unknown=sum(row.bucket is None for row in rows),
        said_yes=sum(row.yes for row in rows),
        unscored=sum(
            row.reason_wanted and (row.reason_valid is None or not judged) for row in rows
        ),
        not_counted=not_counted,
        confusion={name: int(whole[k]) for k, name in enumerate(_COUNTS[:4])},
        measures=measures,
        over=over,
    )


def _by_cluster(rows: Sequence[_Row]) -> Floats:
    """The counts of each question, (C, 10) in the order of ``_COUNTS``."""
    numbers: dict[str, int] = {}
    for row in rows:
        numbers.setdefault(row.cluster, len(numbers))
    counts = np.zeros((len(numbers), len(_COUNTS)))
    at = {name: k for k, name in enumerate(_COUNTS)}
    for row in rows:
        mine = counts[numbers[row.cluster]]
        if row.bucket is not None:
            mine[at[row.bucket]] += 1
        for name, value in (
            ("pv", row.valid),
            ("rta", row.traversable),
            ("rv", row.reason_valid),
        ):
            if value is not None:
                mine[at[name]] += value
                mine[at[f"{name}_n"]] += 1
    return counts


def _rates(counts: Floats, over: Sequence[str]) -> tuple[Floats, Floats]:
    """Rates of rows of counts, and of how many answers each is; NaN where of none."""
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


def _measure(value: float, drawn: Floats, n: int) -> Measure:
    if np.isnan(value):
        return Measure(None, None, None, n)
    kept = drawn[~np.isnan(drawn)]
    if not len(kept):
        return Measure(value, None, None, n)
    return Measure(value, *percentiles(kept), n)
