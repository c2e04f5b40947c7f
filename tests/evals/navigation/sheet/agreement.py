"""Agreement of labels of the same walks: readers with each other, and rules with readers.

A label file has one JSON object per line: ``id``, ``cause``, ``second`` (another cause that also
holds, or null) and ``sure``. A model's cause may be null: unscored, which agrees with none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from navloom.evals.agreement import cohen_kappa
from navloom.evals.navigation.failure_analysis import analyse
from navloom.evals.navigation.failure_cause import CAUSES
from navloom.evals.report.formatting import Table
from navloom.evals.report.intervals import RESAMPLES
from tests.evals.navigation.sheet.walks import HALVES, Kept, episodes, result_of, scene

UNSCORED = "unscored"
LABELS = (*(cause for cause in CAUSES if cause != "none"), UNSCORED)


@dataclass(frozen=True)
class Label:
    """Label of one walk; only readers give ``sure``."""

    cause: str
    second: str | None = None
    sure: bool = True


Reading = Mapping[str, Label]


def read_labels(path: Path, ids: Sequence[str]) -> Reading:
    """Read a file of labels of exactly these walks.

    Raises:
        ValueError: a walk is missing, unknown or duplicate, or a cause is unknown.
    """
    found: dict[str, Label] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        said = json.loads(line)
        name = said["id"]
        cause = UNSCORED if said["cause"] is None else said["cause"]
        label = Label(cause, said.get("second"), said.get("sure") is True)
        if name not in ids or name in found:
            raise ValueError(
                f"{path}: line {number}: {name} is not on the sheet, or is there twice"
            )
        if label.cause not in LABELS or label.second not in (None, *LABELS):
            raise ValueError(f"{path}: line {number}: expected causes of {', '.join(LABELS)}")
        found[name] = label
    missing = [name for name in ids if name not in found]
    if missing:
        raise ValueError(f"{path}: no label of {', '.join(missing)}")
    return found


def rules(kept: Sequence[Kept]) -> Reading:
    """Label the walks by the rules."""
    found = {}
    for each in kept:
        episode = episodes()[each.episode]
        seen = analyse(result_of(each, episode), episode, scene(episode.scene), success=False)
        first, *others = [seen.cause, *(c for c in seen.evidence["causes"] if c != seen.cause)]
        found[each.id] = Label(first, others[0] if others else None)
    return found


def counted(a: Sequence[str], b: Sequence[str], labels: Sequence[str] = LABELS) -> np.ndarray:
    """Return the contingency table of two labellings, (labels, labels)."""
    table = np.zeros((len(labels), len(labels)))
    for one, other in zip(a, b, strict=True):
        table[labels.index(one), labels.index(other)] += 1
    return table


def interval(a: Sequence[str], b: Sequence[str]) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of kappa, over walks."""
    rng = np.random.default_rng(0)
    draws = rng.integers(0, len(a), (RESAMPLES, len(a)))
    tables = np.zeros((RESAMPLES, len(LABELS), len(LABELS)))
    ours, theirs = (np.array([LABELS.index(each) for each in said])[draws] for said in (a, b))
    rows = np.broadcast_to(np.arange(RESAMPLES)[:, None], draws.shape)
    np.add.at(tables, (rows, ours, theirs), 1)
    low, high = np.nanpercentile(cohen_kappa(tables), [2.5, 97.5])
    return float(low), float(high)


def one_cause(a: Sequence[str], b: Sequence[str], cause: str) -> float:
    """Return kappa of one cause against all others."""
    sides = ([each if each == cause else "" for each in said] for said in (a, b))
    return float(cohen_kappa(counted(*sides, labels=("", cause))[None])[0])


def compared(readings: Mapping[str, Reading], kept: Sequence[Kept]) -> Iterator[Table]:
    """Yield tables of every pair of readings: kappa on all and on each half, then by cause."""
    halves = {"all": kept, **{h: [k for k in kept if k.half == h] for h in HALVES}}
    pairs = [*combinations(readings, 2)]
    yield _overall(readings, halves, pairs)
    for half, walks in halves.items():
        yield _by_cause(readings, half, walks, pairs)


def _overall(
    readings: Mapping[str, Reading],
    halves: Mapping[str, Sequence[Kept]],
    pairs: Sequence[tuple[str, str]],
) -> Table:
    rows = []
    for half, walks in halves.items():
        for one, other in pairs:
            a, b = ([readings[name][k.id] for k in walks] for name in (one, other))
            first = [each.cause for each in a], [each.cause for each in b]
            low, high = interval(*first)
            same = sum(x == y for x, y in zip(*first, strict=True))
            loose = sum(
                x.cause in (y.cause, y.second) or y.cause in (x.cause, x.second)
                for x, y in zip(a, b, strict=True)
            )
            value = float(cohen_kappa(counted(*first)[None])[0])
            rows.append(
                (half, f"{one} with {other}", str(len(walks)), str(same), f"{value:.2f}",
                 f"{low:.2f} to {high:.2f}", str(loose))
            )  # fmt: skip
    header = ("half", "who", "walks", "same", "kappa", "95 %", "same, with second causes")
    return Table("Agreement", "Cohen's kappa over all causes.", header, tuple(rows))


def _by_cause(
    readings: Mapping[str, Reading],
    half: str,
    walks: Sequence[Kept],
    pairs: Sequence[tuple[str, str]],
) -> Table:
    said = {name: [reading[k.id].cause for k in walks] for name, reading in readings.items()}
    rows = []
    for cause in LABELS:
        counts = [str(each.count(cause)) for each in said.values()]
        if cause == UNSCORED and not any(map(int, counts)):
            continue
        kappas = [f"{one_cause(said[a], said[b], cause):.2f}" for a, b in pairs]
        rows.append((cause.replace("_", " "), *counts, *kappas))
    header = ("cause", *said, *(f"{a}/{b}" for a, b in pairs))
    note = "How often each cause was given, and kappa of each against all others."
    return Table(f"By cause: {half}", note, header, tuple(rows))
