"""What a judge of tasks says of pairs: who wins, how far it is right, and which place it leans to.

A pair whose two orders get different tasks is a tie: no preference is shown, only a leaning to a
place. Intervals are 95 %: bootstrap over homes (over pairs where there are under five), Wilson's
for shares of answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from navloom.evals.agreement import Estimate
from navloom.evals.judging.scores import LEAST_SCENES, Agreement, agreement
from navloom.evals.report.document import Table
from navloom.evals.report.intervals import wilson
from navloom.evals.run_folder import read_samples

CHOICES = ("a", "b", "tie")


@dataclass(frozen=True)
class Leaning:
    """How a judge's answers hang on the order in which tasks are shown.

    Attributes:
        pairs: those answered in both orders.
        same: those of them in which one task was taken in both.
        answers: of them, single ones.
        first: answers that took the task shown first.
    """

    pairs: int
    same: int
    answers: int
    first: int

    @property
    def consistency(self) -> Estimate:
        """The share of pairs that got one task in both orders; half of them by coins."""
        return _share(self.same, self.pairs)

    @property
    def to_first(self) -> Estimate:
        """The share of answers that took what was shown first; half of them without a leaning."""
        return _share(self.first, self.answers)


@dataclass(frozen=True)
class Preferred:
    """What a judge prefers of two sides.

    Attributes:
        model: who judged.
        wins: pairs by who was taken: a, b, tie; unscored ones are ``none``.
        share: of ``a`` among all scored pairs, a tie half.
        decided: of ``a`` among pairs without a tie.
        leaning: on places.
        left: pairs that have not ended, or ended in an error.
    """

    model: str
    wins: dict[str, int]
    share: Estimate
    decided: Estimate
    leaning: Leaning
    left: int

    def record(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self) | {"leaning": _leaning_record(self.leaning)}


@dataclass(frozen=True)
class PreferenceCalibration:
    """A judge of tasks against pairs of known order.

    Attributes:
        model: who judged.
        pairs: agreement over pairs; a tie is not right, and has no verdict.
        answers: agreement over single answers.
        leaning: on places.
        unscored: pairs without an answer in some order.
        left: pairs that have not ended, or ended in an error.
    """

    model: str
    pairs: Agreement
    answers: Agreement
    leaning: Leaning
    unscored: int
    left: int

    def record(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self) | {"leaning": _leaning_record(self.leaning)}


def score_preferred(run: Path, model: str, left: int) -> Preferred:
    """Who is preferred, from a run's lines."""
    rows = read_samples(run)
    said = [_result(row).get("choice") for row in rows]
    wins = {name: said.count(name) for name in CHOICES} | {"none": said.count(None)}
    # Every pair is as good as two answers "a is better": a tie is right in one of them.
    twice = {"a": ("a", "a"), "b": ("b", "b"), "tie": ("a", "b")}
    pairs = list(zip(_clusters(rows), said, strict=True))
    halves = [("a", each, of) for of, took in pairs if took for each in twice[took]]
    decided = [("a", took, of) for of, took in pairs if took in ("a", "b")]
    return Preferred(
        model=model,
        wins=wins,
        share=agreement(halves).accuracy,
        decided=agreement(decided).accuracy,
        leaning=_leaning(rows),
        left=left,
    )


def score_calibration(run: Path, model: str, left: int) -> PreferenceCalibration:
    """How far a judge finds pairs in their known order, from a run's lines."""
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
    return PreferenceCalibration(
        model, agreement(pairs), agreement(answers), _leaning(rows), said.count(None), left
    )


def _clusters(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """What hangs together: the pairs of a home, or where there are few homes a pair's answers."""
    few = len({row["scene"] for row in rows}) < LEAST_SCENES
    return [row["id"] if few else row["scene"] for row in rows]


def _result(row: Mapping[str, Any]) -> Mapping[str, Any]:
    return row["result"] or {}


def _leaning(rows: Sequence[Mapping[str, Any]]) -> Leaning:
    both = [r["said"] for row in rows if (r := _result(row)).get("choice")]
    answers = [each for said in both for each in said]
    return Leaning(
        pairs=len(both),
        same=sum(len({each["took"] for each in said}) == 1 for said in both),
        answers=len(answers),
        first=sum(each["took"] == each["order"][0] for each in answers),
    )


def _share(hits: int, of: int) -> Estimate:
    return Estimate(hits / of if of else None, *(wilson(hits, of) or ()))


def _leaning_record(found: Leaning) -> dict[str, Any]:
    shares = {"consistency": found.consistency, "to_first": found.to_first}
    return asdict(found) | {name: asdict(each) for name, each in shares.items()}


def preferred_tables(found: Preferred, names: Sequence[str]) -> list[Table]:
    """Who wins, and the leaning.

    Args:
        found: the scores.
        names: of side a and side b.
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
    """Agreement over pairs and over answers, and the leaning."""
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


def _leaning_table(found: Leaning) -> Table:
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
