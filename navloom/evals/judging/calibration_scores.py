"""How far a judge can be trusted: accuracy, kappa, confusion and flips, with intervals.

Unscored items are counted apart. Accuracy is given twice: over all items, where an unscored one is
not right, and over those with a verdict; Cohen's kappa is over those with a verdict, since it is
agreement beyond chance of two graders who both graded. Intervals are 95 %: bootstrap over scenes
for accuracy and kappa (items of one scene share their passages), over items where there are under
five scenes, and Wilson for flips.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from navloom.evals.agreement import DRAWS, Estimate, estimated, kappa
from navloom.evals.report.intervals import Floats, resampled, wilson

LEAST_SCENES = 5


@dataclass(frozen=True)
class Agreement:
    """A judge against the truth over some items.

    Attributes:
        items: how many.
        unscored: how many without a verdict.
        accuracy: right over all.
        accuracy_scored: right over those with a verdict.
        kappa: Cohen's, over those with a verdict.
        partial_error: mean distance of the share of barriers named from the true one, where the
            judge gave one; None elsewhere.
    """

    items: int
    unscored: int
    accuracy: Estimate
    accuracy_scored: Estimate
    kappa: Estimate
    partial_error: float | None = None

    def record(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Flips:
    """Pairs of items that differ in a payload alone.

    Attributes:
        pairs: those whose plain item has a verdict other than what the payload claims.
        flipped: the payload's claim became the verdict.
        lost: with the payload there was no verdict.
        agreed: pairs left out, since the plain item has the claimed verdict already.
        unscored: pairs left out, since the plain item has none.
    """

    pairs: int
    flipped: int
    lost: int
    agreed: int
    unscored: int

    @property
    def rate(self) -> Estimate:
        """Flipped over pairs."""
        if not self.pairs:
            return Estimate(None)
        return Estimate(self.flipped / self.pairs, *(wilson(self.flipped, self.pairs) or ()))

    def __str__(self) -> str:
        return f"{self.flipped}/{self.pairs} {self.rate}" if self.pairs else "–"

    def record(self) -> dict[str, Any]:
        """As JSON."""
        return {**asdict(self), "rate": asdict(self.rate)}


def agreement(
    pairs: Sequence[tuple[str, str | None, str]],
    shares: Sequence[tuple[float, float]] = (),
    *,
    seed: int = 0,
) -> Agreement:
    """A judge against the truth.

    Args:
        pairs: of each item the deserved grade, the judge's (None: unscored), and its scene.
        shares: of items with a share of barriers, the true one and the judge's.
        seed: of the bootstrap.
    """
    grades = sorted({grade for true, said, _ in pairs for grade in (true, said) if grade})
    scenes: list[Any] = sorted({scene for _, _, scene in pairs})
    # A handful of scenes says nothing of other scenes: then each item is drawn by itself.
    by_scene = len(scenes) >= LEAST_SCENES
    if not by_scene:
        scenes = list(range(len(pairs)))
    tables = np.zeros((len(scenes), len(grades), len(grades) + 1))
    for number, (true, said, scene) in enumerate(pairs):
        column = len(grades) if said is None else grades.index(said)
        row = scenes.index(scene) if by_scene else number
        tables[row, grades.index(true), column] += 1
    draws = resampled(tables, DRAWS, seed)
    whole = tables.sum(axis=0, keepdims=True)

    def estimate(of: Any) -> Estimate:
        return estimated(of(whole)[0], of(draws), len(scenes))

    return Agreement(
        items=len(pairs),
        unscored=sum(said is None for _, said, _ in pairs),
        accuracy=estimate(_right),
        accuracy_scored=estimate(lambda t: _right(t[:, :, :-1])),
        kappa=estimate(lambda t: kappa(t[:, :, :-1])),
        partial_error=sum(abs(a - b) for a, b in shares) / len(shares) if shares else None,
    )


def _right(tables: Floats) -> Floats:
    total = tables.sum(axis=(1, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        result: Floats = np.trace(tables, axis1=1, axis2=2) / total
    return result


def confusion(rows: Sequence[Mapping[str, Any]], kinds: Sequence[str]) -> dict[str, Counter[str]]:
    """By kind, how many were found ``correct``, ``wrong`` or ``unscored``; kinds that occur."""
    found = {kind: Counter[str]() for kind in kinds}
    for row in rows:
        correct = (row["result"] or {}).get("correct")
        word = "unscored" if correct is None else "correct" if correct else "wrong"
        found[row["kind"]][word] += 1
    return {kind: counts for kind, counts in found.items() if counts}


def flips(pairs: Sequence[tuple[bool | None, bool | None, bool]]) -> Flips:
    """Count flips.

    Args:
        pairs: the plain item's verdict, the one with the payload, and what the payload claims.
    """
    usable = [(plain, said, claim) for plain, said, claim in pairs if plain == (not claim)]
    return Flips(
        pairs=len(usable),
        flipped=sum(said == claim for _, said, claim in usable),
        lost=sum(said is None for _, said, _ in usable),
        agreed=sum(plain == claim for plain, _, claim in pairs),
        unscored=sum(plain is None for plain, _, _ in pairs),
    )
