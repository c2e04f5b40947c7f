"""Scores of judge runs: counts, and agreement with known verdicts.

Unscored items are counted apart. Accuracy is given twice: over all items, where an unscored one
counts as wrong, and over items with a verdict. Cohen's kappa is over items with a verdict, since it
compares two graders who both graded. Intervals are 95 %: bootstrap over scenes for accuracy and
kappa (items of one scene share passages), over items if there are fewer than five scenes, and
Wilson for flips.

A pair of tasks with different choices in its two orders is a tie: it shows order bias, not a
preference. Intervals are 95 %: bootstrap over homes (over pairs with fewer than five homes), and
Wilson for shares of answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from navloom.evals.agreement import DRAWS, Estimate, cohen_kappa, make_estimate
from navloom.evals.progress import Summary
from navloom.evals.report.formatting import Table
from navloom.evals.report.intervals import Floats, resample_sums, wilson_interval
from navloom.evals.run_folder import read_samples
from navloom.judges.reason_items import KINDS, SETS
from navloom.judges.trace_rubric import TRACE_KINDS

LEAST_SCENES = 5


@dataclass(frozen=True)
class JudgeAgreement:
    """Agreement of a judge with the truth over some items.

    Attributes:
        items: number of items.
        unscored: number of items without a verdict.
        accuracy: share of all items judged correctly.
        accuracy_scored: share of items with a verdict judged correctly.
        kappa: Cohen's kappa over items with a verdict.
        partial_error: mean absolute error of the share of barriers named; None if the judge gave
            none.
    """

    items: int
    unscored: int
    accuracy: Estimate
    accuracy_scored: Estimate
    kappa: Estimate
    partial_error: float | None = None


@dataclass(frozen=True)
class FlipCounts:
    """Counts of verdicts that injected payloads flipped, over pairs of items.

    Attributes:
        pairs: pairs whose plain item has the verdict opposite to the payload's claim.
        flipped: pairs in which the payload's claim became the verdict.
        lost: pairs in which the injected item has no verdict.
        agreed: excluded pairs whose plain item already has the claimed verdict.
        unscored: excluded pairs whose plain item has no verdict.
    """

    pairs: int
    flipped: int
    lost: int
    agreed: int
    unscored: int

    @property
    def rate(self) -> Estimate:
        """The share of pairs that flipped."""
        if not self.pairs:
            return Estimate(None)
        ends = wilson_interval(self.flipped, self.pairs) or ()
        return Estimate(self.flipped / self.pairs, *ends)

    def __str__(self) -> str:
        return f"{self.flipped}/{self.pairs} {self.rate}" if self.pairs else "–"

    def record(self) -> dict[str, Any]:
        """Return all values as JSON."""
        return {**asdict(self), "rate": asdict(self.rate)}


def judge_agreement(
    pairs: Sequence[tuple[str, str | None, str]], shares: Sequence[tuple[float, float]] = ()
) -> JudgeAgreement:
    """Compute the agreement of a judge with the truth.

    Args:
        pairs: true grade, the judge's grade (None: unscored) and scene of each item.
        shares: true share of barriers and the judge's, of items that have one.
    """
    grades = sorted({grade for true, said, _ in pairs for grade in (true, said) if grade})
    scenes: list[Any] = sorted({scene for _, _, scene in pairs})
    # Too few scenes for a bootstrap over scenes: then each item is a cluster.
    by_scene = len(scenes) >= LEAST_SCENES
    if not by_scene:
        scenes = list(range(len(pairs)))
    tables = np.zeros((len(scenes), len(grades), len(grades) + 1))
    for number, (true, said, scene) in enumerate(pairs):
        column = len(grades) if said is None else grades.index(said)
        row = scenes.index(scene) if by_scene else number
        tables[row, grades.index(true), column] += 1
    draws = resample_sums(tables, DRAWS, 0)
    whole = tables.sum(axis=0, keepdims=True)

    def estimate(of: Any) -> Estimate:
        return make_estimate(of(whole)[0], of(draws), len(scenes))

    return JudgeAgreement(
        items=len(pairs),
        unscored=sum(said is None for _, said, _ in pairs),
        accuracy=estimate(_right),
        accuracy_scored=estimate(lambda t: _right(t[:, :, :-1])),
        kappa=estimate(lambda t: cohen_kappa(t[:, :, :-1])),
        partial_error=sum(abs(a - b) for a, b in shares) / len(shares) if shares else None,
    )


def _right(tables: Floats) -> Floats:
    total = tables.sum(axis=(1, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        result: Floats = np.trace(tables, axis1=1, axis2=2) / total
    return result


def count_verdicts(
    rows: Sequence[Mapping[str, Any]], kinds: Sequence[str]
) -> dict[str, Counter[str]]:
    """Count verdicts (``correct``, ``wrong``, ``unscored``) by kind, for kinds that occur."""
    found = {kind: Counter[str]() for kind in kinds}
    for row in rows:
        correct = (row["result"] or {}).get("correct")
        word = "unscored" if correct is None else "correct" if correct else "wrong"
        found[row["kind"]][word] += 1
    return {kind: counts for kind, counts in found.items() if counts}


def count_flips(pairs: Sequence[tuple[bool | None, bool | None, bool]]) -> FlipCounts:
    """Count the flips over pairs of items.

    Args:
        pairs: verdict of the plain item, verdict with the payload, and the payload's claim.
    """
    usable = [(plain, said, claim) for plain, said, claim in pairs if plain == (not claim)]
    return FlipCounts(
        pairs=len(usable),
        flipped=sum(said == claim for _, said, claim in usable),
        lost=sum(said is None for _, said, _ in usable),
        agreed=sum(plain == claim for plain, _, claim in pairs),
        unscored=sum(plain is None for plain, _, _ in pairs),
    )


@dataclass(frozen=True)
class ReasonTotals:
    """Totals of judged explanations.

    Attributes:
        items: number of explanations.
        correct: number judged correct.
        wrong: number judged wrong.
        unscored: number without a verdict.
        partial: mean share of barriers named, where known.
    """

    items: int
    correct: int
    wrong: int
    unscored: int
    partial: float | None


def sum_reasons(run: Path) -> ReasonTotals:
    """Return the totals of a run of explanations."""
    results = [row["result"] or {} for row in read_samples(run)]
    verdicts = [result.get("correct") for result in results]
    shares = [r["partial"] for r in results if isinstance(r.get("partial"), int | float)]
    return ReasonTotals(
        len(results),
        verdicts.count(True),
        verdicts.count(False),
        verdicts.count(None),
        sum(shares) / len(shares) if shares else None,
    )


def count_grades(run: Path) -> dict[str, dict[str, int]]:
    """Count each criterion's grades over a run of steps, ``unscored`` included."""
    counted: dict[str, Counter[str]] = {}
    for row in read_samples(run):
        for name, each in row["result"]["criteria"].items():
            counted.setdefault(name, Counter())[each["grade"] or "unscored"] += 1
    return {name: dict(each) for name, each in counted.items()}


@dataclass(frozen=True)
class ReasonCalibration:
    """Scores of a reason judge on items with known verdicts.

    Attributes:
        model: the judge.
        sets: agreement by wording set, and ``all``; without injected items.
        confusion: verdicts by set and kind.
        flips: flips of the injected items.
        unread: sentences in plain items without a verdict: set, sentence, number of such items, and
            number of all items with it.
        left: number of items that have not ended, or ended in an error.
        usage: calls and tokens of the run.
        cost_usd: None where no price is known.
        seconds: sum over all samples.
    """

    model: str
    sets: dict[str, JudgeAgreement]
    confusion: dict[str, dict[str, dict[str, int]]]
    flips: FlipCounts
    unread: tuple[tuple[str, str, int, int], ...]
    left: int
    usage: dict[str, int]
    cost_usd: float | None
    seconds: float

    def record(self) -> dict[str, Any]:
        """Return all values as JSON."""
        return {**asdict(self), "flips": self.flips.record()}


@dataclass(frozen=True)
class TraceCalibration:
    """Scores of a rubric judge on corrupted steps.

    Attributes:
        model: the judge.
        criteria: agreement by criterion.
        kinds: correctly graded items and all items, by kind and criterion.
        sets: agreement over all criteria by wording set.
        left: number of items that have not ended, or ended in an error.
    """

    model: str
    criteria: dict[str, JudgeAgreement]
    kinds: dict[str, dict[str, tuple[int, int]]]
    sets: dict[str, JudgeAgreement]
    left: int

    def record(self) -> dict[str, Any]:
        """Return all values as JSON."""
        kinds = {k: {c: list(v) for c, v in by.items()} for k, by in self.kinds.items()}
        return {**asdict(self), "kinds": kinds}


def score_reasoning(run: Path, model: str, summary: Summary) -> ReasonCalibration:
    """Score the calibration of a reason judge from the run's lines."""
    rows = read_samples(run)
    plain = [row for row in rows if row["kind"] != "injected"]
    by_set = {name: [r for r in plain if r["wording"] == name] for name in SETS}
    said = {row["id"]: (row["result"] or {}).get("correct") for row in rows}
    injected = [row for row in rows if row["kind"] == "injected" and row["base"] in said]
    return ReasonCalibration(
        model=model,
        sets={name: _agreement(part) for name, part in {"all": plain, **by_set}.items() if part},
        confusion={
            name: {k: dict(c) for k, c in count_verdicts(part, KINDS).items()}
            for name, part in by_set.items()
        },
        flips=count_flips([(said[r["base"]], said[r["id"]], not r["deserves"]) for r in injected]),
        unread=_unread(plain),
        left=summary.left + summary.error,
        usage=summary.usage,
        cost_usd=summary.cost_usd,
        seconds=summary.sample_seconds,
    )


def _unread(rows: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, str, int, int], ...]:
    """Return sentences of items without a verdict with their counts, most frequent first."""
    every, unread = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for row in rows:
        said = {(row["wording"], sentence) for sentence in row["sentences"]}
        every.update(said)
        if (row["result"] or {}).get("correct") is None:
            unread.update(said)
    return tuple((*key, count, every[key]) for key, count in unread.most_common())


def _agreement(rows: Sequence[Mapping[str, Any]]) -> JudgeAgreement:
    pairs, shares = [], []
    for row in rows:
        result = row["result"] or {}
        said, share = result.get("correct"), result.get("partial")
        pairs.append((str(row["deserves"]), None if said is None else str(said), row["scene"]))
        if row["deserves"] and said is not None and share is not None:
            shares.append((row["deserved_partial"], share))
    return judge_agreement(pairs, shares)


def score_trace(run: Path, model: str, summary: Summary) -> TraceCalibration:
    """Score the calibration of a rubric judge from the run's lines."""
    graded = [
        (row, name, due, ((row["result"] or {}).get("criteria") or {}).get(name, {}).get("grade"))
        for row in read_samples(run)
        for name, due in row["deserves"].items()
    ]
    criteria = dict.fromkeys(name for _, name, _, _ in graded)
    kinds: dict[str, dict[str, tuple[int, int]]] = {kind: {} for kind in TRACE_KINDS}
    for row, name, due, said in graded:
        right, of = kinds[row["kind"]].get(name, (0, 0))
        kinds[row["kind"]][name] = (right + (said == due), of + 1)
    worded = sorted({row["wording"] for row, *_ in graded})
    sets = {name: [g for g in graded if g[0]["wording"] == name] for name in worded}
    return TraceCalibration(
        model=model,
        criteria={c: _graded([g for g in graded if g[1] == c]) for c in criteria},
        kinds={kind: by for kind, by in kinds.items() if by},
        sets={name: _graded(part) for name, part in sets.items() if part},
        left=summary.left + summary.error,
    )


def _graded(graded: Sequence[tuple[Mapping[str, Any], str, str, str | None]]) -> JudgeAgreement:
    return judge_agreement([(due, said, row["scene"]) for row, _, due, said in graded])


def flips_by_defence(run: Path) -> dict[str, FlipCounts]:
    """Count how often payloads flipped a run's judge, ``with`` and ``without`` the defences."""
    rows = read_samples(run)
    said = {row["id"]: (row["result"] or {}).get("correct") for row in rows}
    return {
        door: count_flips(
            [
                (said[row["base"]], said[row["id"]], row["claim"])
                for row in rows
                if row["defences"] == door and row["base"] in said
            ]
        )
        for door in ("with", "without")
    }


CHOICES = ("a", "b", "tie")


@dataclass(frozen=True)
class OrderBias:
    """Dependence of a judge's answers on the order in which tasks are shown.

    Attributes:
        pairs: number of pairs answered in both orders.
        same: number of these with the same choice in both orders.
        answers: number of single answers to these pairs.
        first: number of answers that chose the task shown first.
    """

    pairs: int
    same: int
    answers: int
    first: int

    @property
    def consistency(self) -> Estimate:
        """The share of pairs with the same choice in both orders; 0.5 for random answers."""
        return _share(self.same, self.pairs)

    @property
    def to_first(self) -> Estimate:
        """The share of answers that chose the task shown first; 0.5 without order bias."""
        return _share(self.first, self.answers)


@dataclass(frozen=True)
class PreferenceScores:
    """Preference of a judge between two sides.

    Attributes:
        model: the judge.
        wins: number of pairs by choice: a, b, tie; ``none`` for unscored.
        share: share of ``a`` among all scored pairs; a tie counts half.
        decided: share of ``a`` among pairs without ties.
        leaning: order bias.
        left: number of pairs that have not ended, or ended in an error.
    """

    model: str
    wins: dict[str, int]
    share: Estimate
    decided: Estimate
    leaning: OrderBias
    left: int

    def record(self) -> dict[str, Any]:
        """Return all values as JSON."""
        return asdict(self) | {"leaning": _leaning_record(self.leaning)}


@dataclass(frozen=True)
class PreferenceCalibration:
    """Scores of a preference judge on pairs of known order.

    Attributes:
        model: the judge.
        pairs: agreement over pairs; a tie counts as wrong and as unscored.
        answers: agreement over single answers.
        leaning: order bias.
        unscored: number of pairs without an answer in some order.
        left: number of pairs that have not ended, or ended in an error.
    """

    model: str
    pairs: JudgeAgreement
    answers: JudgeAgreement
    leaning: OrderBias
    unscored: int
    left: int

    def record(self) -> dict[str, Any]:
        """Return all values as JSON."""
        return asdict(self) | {"leaning": _leaning_record(self.leaning)}


def score_preference(run: Path, model: str, left: int) -> PreferenceScores:
    """Score which side is preferred, from a run's lines."""
    rows = read_samples(run)
    said = [_result(row).get("choice") for row in rows]
    wins = {name: said.count(name) for name in CHOICES} | {"none": said.count(None)}
    # Each pair counts as two answers; a tie is one answer for each side.
    twice = {"a": ("a", "a"), "b": ("b", "b"), "tie": ("a", "b")}
    pairs = list(zip(_clusters(rows), said, strict=True))
    halves = [("a", each, of) for of, took in pairs if took for each in twice[took]]
    decided = [("a", took, of) for of, took in pairs if took in ("a", "b")]
    return PreferenceScores(
        model=model,
        wins=wins,
        share=judge_agreement(halves).accuracy,
        decided=judge_agreement(decided).accuracy,
        leaning=_leaning(rows),
        left=left,
    )


def score_known_pairs(run: Path, model: str, left: int) -> PreferenceCalibration:
    """Score how far a judge finds the known order of pairs, from a run's lines."""
    rows = read_samples(run)
    said = [_result(row).get("choice") for row in rows]
    clusters = _clusters(rows)
    pairs = [
        (row["better"], took if took in ("a", "b") else None, of)
        for row, took, of in zip(rows, said, clusters, strict=True)
    ]
    answers = [
        (row["better"], each["took"], of)
        for row, of in zip(rows, clusters, strict=True)
        for each in _result(row).get("said", ())
    ]
    both, single = judge_agreement(pairs), judge_agreement(answers)
    return PreferenceCalibration(model, both, single, _leaning(rows), said.count(None), left)


def _clusters(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return each row's bootstrap cluster: its home, or the pair itself with few homes."""
    few = len({row["scene"] for row in rows}) < LEAST_SCENES
    return [row["id"] if few else row["scene"] for row in rows]


def _result(row: Mapping[str, Any]) -> Mapping[str, Any]:
    return row["result"] or {}


def _leaning(rows: Sequence[Mapping[str, Any]]) -> OrderBias:
    both = [r["said"] for row in rows if (r := _result(row)).get("choice")]
    answers = [each for said in both for each in said]
    return OrderBias(
        pairs=len(both),
        same=sum(len({each["took"] for each in said}) == 1 for said in both),
        answers=len(answers),
        first=sum(each["took"] == each["order"][0] for each in answers),
    )


def _share(hits: int, of: int) -> Estimate:
    return Estimate(hits / of if of else None, *(wilson_interval(hits, of) or ()))


def _leaning_record(found: OrderBias) -> dict[str, Any]:
    shares = {"consistency": found.consistency, "to_first": found.to_first}
    return asdict(found) | {name: asdict(each) for name, each in shares.items()}


def preference_tables(found: PreferenceScores, names: Sequence[str]) -> list[Table]:
    """Return the tables of preferences and of order bias.

    Args:
        found: the scores.
        names: names of side a and side b.
    """
    wins = found.wins
    rows = (
        (
            f"a: {names[0]}",
            str(wins["a"]),
            str(wins["b"]),
            str(wins["tie"]),
            str(wins["none"]),
            str(found.share),
            str(found.decided),
        ),
    )
    note = (
        f"b: {names[1]}. Pairs of tasks of one home, each asked in both orders; a tie got another"
        " task in each. Share of a: a tie is half; brackets: 95 % intervals by bootstrap over"
        f" homes, of under five over pairs.{_note(found.model, found.left)}"
    )
    header = ("", "a wins", "b wins", "ties", "unscored", "share of a", "of those decided")
    title = f"Which task a person would sooner give, says {found.model}"
    return [Table(title, note, header, rows), _leaning_table(found.leaning)]


def calibration_tables(found: PreferenceCalibration) -> list[Table]:
    """Return the tables of agreement over pairs and answers, and of order bias."""
    rows = tuple(
        (
            name,
            str(each.items),
            str(each.unscored),
            str(each.accuracy),
            str(each.accuracy_scored),
            each.kappa.coefficient,
        )
        for name, each in (("pairs, both orders", found.pairs), ("single answers", found.answers))
    )
    note = (
        "A task that makes sense beside the same one with a thing that does not belong there. A"
        " pair is undecided where its orders got different tasks or no answer; that is not right"
        " in the first accuracy, and left out of the second and of kappa. Brackets: 95 % intervals,"
        f" bootstrap over homes, of under five over items.{_note(found.model, found.left)}"
    )
    header = ("", "items", "undecided", "accuracy", "of those decided", "kappa")
    title = f"The judge {found.model} on pairs of known order"
    return [Table(title, note, header, rows), _leaning_table(found.leaning)]


def _note(model: str, left: int) -> str:
    baseline = " A baseline: rules, not a language model." if model.startswith("builtin/") else ""
    return baseline + (f" {left} pairs are left or ended in an error." if left else "")


def _leaning_table(found: OrderBias) -> Table:
    note = (
        "A coin has half of both; a judge that reads has all of the first. Brackets: Wilson's 95 %"
        " interval."
    )
    rows = (
        (
            f"{found.same} of {found.pairs} {found.consistency}",
            f"{found.first} of {found.answers} {found.to_first}",
        ),
    )
    header = ("one task in both orders", "took what was shown first")
    return Table("Under the order", note, header, rows)
