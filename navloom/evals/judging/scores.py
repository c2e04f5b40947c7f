"""What judged items come to: counts, and agreement where the verdict that is due is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from navloom.evals.judging.calibration_scores import Agreement, Flips, agreement, confusion, flips
from navloom.evals.progress import Summary
from navloom.evals.run_folder import read_samples
from navloom.judges.reason_items import KINDS
from navloom.judges.trace import TRACE_KINDS
from navloom.judges.wording_sets import SETS


@dataclass(frozen=True)
class Totals:
    """What judged explanations come to.

    Attributes:
        items: all of them.
        correct: found correct.
        wrong: found not correct.
        unscored: without a verdict; neither.
        partial: the mean share of barriers named, of those where it is known.
    """

    items: int
    correct: int
    wrong: int
    unscored: int
    partial: float | None


def totals(run: Path) -> Totals:
    """Add up a run of explanations."""
    results = [row["result"] or {} for row in read_samples(run)]
    verdicts = [result.get("correct") for result in results]
    shares = [r["partial"] for r in results if isinstance(r.get("partial"), int | float)]
    return Totals(
        len(results),
        verdicts.count(True),
        verdicts.count(False),
        verdicts.count(None),
        sum(shares) / len(shares) if shares else None,
    )


def count_grades(run: Path) -> dict[str, dict[str, int]]:
    """Of a run of steps, how often each criterion got each grade, ``unscored`` among them."""
    counted: dict[str, Counter[str]] = {}
    for row in read_samples(run):
        for name, each in row["result"]["criteria"].items():
            counted.setdefault(name, Counter())[each["grade"] or "unscored"] += 1
    return {name: dict(each) for name, each in counted.items()}


@dataclass(frozen=True)
class Calibration:
    """What a judge makes of items whose verdict is known.

    Attributes:
        model: who judged.
        sets: agreement by wording set, and ``all``; injected items are not among them.
        confusion: verdicts by set and kind.
        flips: of the injected items.
        unread: sentences that stand in plain items without a verdict: set, sentence, how many such
            items, and of how many in all.
        left: items that have not ended, or ended in an error.
        usage: calls and tokens, from the run.
        cost_usd: None where no price is known.
        seconds: of all samples.
    """

    model: str
    sets: dict[str, Agreement]
    confusion: dict[str, dict[str, dict[str, int]]]
    flips: Flips
    unread: tuple[tuple[str, str, int, int], ...]
    left: int
    usage: dict[str, int]
    cost_usd: float | None
    seconds: float

    def record(self) -> dict[str, Any]:
        """As JSON."""
        return {**asdict(self), "flips": self.flips.record()}


@dataclass(frozen=True)
class TraceCalibration:
    """What a rubric judge makes of spoiled steps.

    Attributes:
        model: who judged.
        criteria: agreement by criterion.
        kinds: by kind and criterion, how many of how many were graded as deserved.
        sets: agreement over all criteria by set of sentences.
        left: items that have not ended, or ended in an error.
    """

    model: str
    criteria: dict[str, Agreement]
    kinds: dict[str, dict[str, tuple[int, int]]]
    sets: dict[str, Agreement]
    left: int

    def record(self) -> dict[str, Any]:
        """As JSON."""
        kinds = {k: {c: list(v) for c, v in by.items()} for k, by in self.kinds.items()}
        return {**asdict(self), "kinds": kinds}


def score_reasoning(run: Path, model: str, summary: Summary) -> Calibration:
    """Score a calibration from its lines."""
    rows = read_samples(run)
    plain = [row for row in rows if row["kind"] != "injected"]
    by_set = {name: [r for r in plain if r["wording"] == name] for name in SETS}
    said = {row["id"]: (row["result"] or {}).get("correct") for row in rows}
    injected = [row for row in rows if row["kind"] == "injected" and row["base"] in said]
    return Calibration(
        model=model,
        sets={name: _agreement(part) for name, part in {"all": plain, **by_set}.items() if part},
        confusion={
            name: {k: dict(c) for k, c in confusion(part, KINDS).items()}
            for name, part in by_set.items()
        },
        flips=flips([(said[r["base"]], said[r["id"]], not r["deserves"]) for r in injected]),
        unread=_unread(plain),
        left=summary.left + summary.error,
        usage=summary.usage,
        cost_usd=summary.cost_usd,
        seconds=summary.sample_seconds,
    )


def _unread(rows: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, str, int, int], ...]:
    """Sentences that some item without a verdict holds, those that stand in most of them first."""
    every, unread = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for row in rows:
        said = {(row["wording"], sentence) for sentence in row["sentences"]}
        every.update(said)
        if (row["result"] or {}).get("correct") is None:
            unread.update(said)
    return tuple((*key, count, every[key]) for key, count in unread.most_common())


def _agreement(rows: Sequence[Mapping[str, Any]]) -> Agreement:
    pairs, shares = [], []
    for row in rows:
        result = row["result"] or {}
        said, share = result.get("correct"), result.get("partial")
        pairs.append((str(row["deserves"]), None if said is None else str(said), row["scene"]))
        if row["deserves"] and said is not None and share is not None:
            shares.append((row["deserved_partial"], share))
    return agreement(pairs, shares)


def score_trace(run: Path, model: str, summary: Summary) -> TraceCalibration:
    """Score a calibration of a rubric judge from its lines."""
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


def _graded(graded: Sequence[tuple[Mapping[str, Any], str, str, str | None]]) -> Agreement:
    return agreement([(due, said, row["scene"]) for row, _, due, said in graded])


def flips_of(run: Path) -> dict[str, Flips]:
    """How often payloads flipped a run's judge, ``with`` and ``without`` the defences."""
    rows = read_samples(run)
    said = {row["id"]: (row["result"] or {}).get("correct") for row in rows}
    return {
        door: flips(
            [
                (said[row["base"]], said[row["id"]], row["claim"])
                for row in rows
                if row["defences"] == door and row["base"] in said
            ]
        )
        for door in ("with", "without")
    }
