"""Two runs of the same episodes, side by side: paired differences, and who did what the other not.

Samples are paired by id, so that what differs between episodes cancels out. Differences are B minus
A; their intervals are bootstrapped over the paths of the pairs
(:mod:`navloom.evals.report.intervals`). A difference is shown where the interval leaves 0 out and
signs flipped at random, whole paths together, do as much in fewer than 5 of 100 draws: from few
pairs that differ an interval alone promises too much. Pairs in which only one of both succeeded are
counted beside (McNemar), with the exact two-sided p-value of a fair coin; it takes pairs as
independent, which the instructions of one path are not.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from navloom.errors import RunError
from navloom.evals.navigation.metrics import METRICS
from navloom.evals.navigation.scores import EFFORT, effort_of, spoken
from navloom.evals.report.document import NOTHING, Table
from navloom.evals.report.intervals import (
    LEVEL,
    RESAMPLES,
    By,
    Row,
    clusters_of,
    columns_of,
    rows_of,
)
from navloom.evals.run_folder import each_sample

Floats = NDArray[np.float64]
_COUNTED = (
    *("SR", "SR_stopped", "SR_end", "OSR", "early_stop", "late_stop"),
    *("SR_visible", "RGS", "collided", "SR_strict", "SR_telhop"),
)
_TOUCHES = ("collision_rate", "contacts", "collided")
_IDENTITY = ("scene", "start", "goals", "instruction")
_LOWER_IS_BETTER = {"NE", "DTS", "early_stop", "late_stop", *_TOUCHES, *EFFORT}
_NEITHER = {"TL"}
_FLIPS = 1_999


@dataclass(frozen=True)
class Paired:
    """One metric over the pairs.

    Attributes:
        metric: its name.
        a: mean of the first run over the pairs where both have it.
        b: of the second.
        difference: B minus A, with its interval.
        p: two-sided, of a difference so large where A and B are alike: signs of the pairs (of the
            paths, where these are drawn whole) are flipped at random.
    """

    metric: str
    a: float
    b: float
    difference: Row
    p: float

    @property
    def shown(self) -> bool:
        """Whether a difference is: the interval leaves 0 out, and chance seldom does as much."""
        low, high = self.difference.low, self.difference.high
        outside = low is not None and high is not None and not low <= 0 <= high
        return outside and self.p < 1 - LEVEL

    @property
    def better(self) -> str | None:
        """``"A"`` or ``"B"`` where a difference is shown and the metric has a good side."""
        low = self.difference.low
        if low is None or not self.shown or self.metric in _NEITHER:
            return None
        return "B" if (low > 0) != (self.metric in _LOWER_IS_BETTER) else "A"

    def record(self) -> dict[str, Any]:
        """As JSON."""
        difference = self.difference
        return {
            "a": self.a,
            "b": self.b,
            "difference": difference.mean,
            "interval": difference.interval,
            "n": difference.n,
            "p": self.p,
            "shown": self.shown,
            "better": self.better,
        }


@dataclass(frozen=True)
class Discordant:
    """Pairs by who succeeded, of a metric that is 0 or 1.

    Attributes:
        metric: its name.
        both: pairs in which both succeeded.
        only_a: pairs in which A alone did.
        only_b: pairs in which B alone did.
        neither: pairs in which none did.
        p: two-sided exact p-value of McNemar's test; 1 where no pair is discordant.
    """

    metric: str
    both: int
    only_a: int
    only_b: int
    neither: int
    p: float


@dataclass(frozen=True)
class Comparison:
    """Two runs, paired.

    Attributes:
        a: the first run.
        b: the second.
        pairs: how many samples both have.
        unpaired_a: finished samples of A that B has not.
        unpaired_b: finished samples of B that A has not.
        metrics: a metric each.
        discordant: for metrics that are 0 or 1.
        by: what the bootstrap drew.
    """

    a: str
    b: str
    pairs: int
    unpaired_a: int
    unpaired_b: int
    metrics: Sequence[Paired]
    discordant: Sequence[Discordant]
    by: By

    def record(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "a": self.a,
            "b": self.b,
            "pairs": self.pairs,
            "unpaired": {"a": self.unpaired_a, "b": self.unpaired_b},
            "metrics": {each.metric: each.record() for each in self.metrics},
            "discordant": {each.metric: asdict(each) for each in self.discordant},
            "bootstrap": {"by": self.by, "resamples": RESAMPLES, "level": LEVEL},
        }

    def tables(self) -> Iterator[Table]:
        """Differences, and pairs in which one succeeded alone."""
        drawn = "whole paths" if self.by == "path" else "pairs one by one"
        note = (
            f"A: {self.a}. B: {self.b}. {self.pairs:,} pairs by sample id; unpaired: "
            f"{self.unpaired_a:,} of A, {self.unpaired_b:,} of B. Brackets: {LEVEL:.0%} bootstrap"
            f" of the paired difference, {RESAMPLES:,} draws of {drawn}; of shares in percentage"
            " points. p: of flipping the signs of the same at random. A difference is shown where"
            f" the interval leaves 0 out and p is below {1 - LEVEL:.2g}."
        )
        head = ("metric", "A", "B", "B - A", "interval", "n", "p", "better")
        yield Table("Paired differences", note, head, tuple(map(_cells, self.metrics)))
        yield Table(
            "Who succeeded where",
            "p: McNemar's exact test, two-sided, pairs taken as independent.",
            ("metric", "both", "only A", "only B", "neither", "p"),
            tuple(
                (
                    each.metric,
                    *(f"{n:,}" for n in (each.both, each.only_a, each.only_b, each.neither)),
                    f"{each.p:.3g}",
                )
                for each in self.discordant
            ),
        )


def compare_runs(a: Path | str, b: Path | str, *, by: By = "path", seed: int = 0) -> Comparison:
    """Pair the finished samples of two runs and say how B differs from A.

    Args:
        a: the folder of an evaluation.
        b: another, of the same dataset.
        by: what the bootstrap draws.
        seed: of the bootstrap.

    Raises:
        RunError: a folder is no run of an evaluation, no sample is in both, or a sample of one name
            is another episode in the other run.
    """
    first, second = _read(a), _read(b)
    ids = sorted(first.keys() & second.keys())
    if not ids:
        raise RunError(
            f"{a} and {b} share no finished sample ({len(first):,} and {len(second):,}): only runs"
            " of the same dataset can be compared"
        )
    for name in ids:
        if first[name]["episode"] != second[name]["episode"]:
            raise RunError(
                f"the sample '{name}' is another episode in {b} than in {a}: only runs of the same"
                " dataset can be compared"
            )
    pairs = [first[name] for name in ids], [second[name] for name in ids]
    names = [n for n in (*METRICS, *EFFORT) if all(any(n in r for r in side) for side in pairs)]
    before, after = (columns_of(side, names) for side in pairs)
    clusters = clusters_of(pairs[0]) if by == "path" else None
    found = [
        _discordant(name, before[:, k], after[:, k])
        for k, name in enumerate(names)
        if name in _COUNTED
    ]
    return Comparison(
        str(a),
        str(b),
        len(ids),
        len(first) - len(ids),
        len(second) - len(ids),
        _differences(names, before, after, clusters, seed),
        [each for each in found if each is not None],
        by,
    )


def _differences(
    names: Sequence[str],
    before: Floats,
    after: Floats,
    clusters: Sequence[Hashable] | None,
    seed: int,
) -> list[Paired]:
    apart = after - before
    found = []
    for k, row in enumerate(rows_of(names, apart, clusters, seed=seed)):
        if row.n:
            kept = ~np.isnan(apart[:, k])
            a, b = float(before[kept, k].mean()), float(after[kept, k].mean())
            drawn = None if clusters is None else list(compress(clusters, kept))
            p = _flipped(apart[kept, k], drawn, seed)
            found.append(Paired(row.metric, a, b, row, p))
    return found


def _flipped(apart: Floats, clusters: Sequence[Hashable] | None, seed: int) -> float:
    """The p-value of the sum of differences under random signs, exact where there are few."""
    from scipy.stats import permutation_test

    if clusters is not None:
        sums: dict[Hashable, float] = {}
        for name, difference in zip(clusters, apart, strict=True):
            sums[name] = sums.get(name, 0.0) + float(difference)
        apart = np.array(list(sums.values()))
    apart = apart[apart != 0]
    if len(apart) == 0:
        return 1.0
    if len(apart) == 1:
        # scipy takes two at least; one may as well have the other sign.
        return 1.0
    tested = permutation_test(
        (apart,),
        lambda signed, axis: signed.sum(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=_FLIPS,
        batch=200,
        rng=np.random.default_rng(seed),
    )
    return float(tested.pvalue)


def _discordant(name: str, a: Floats, b: Floats) -> Discordant | None:
    from scipy.stats import binomtest

    kept = ~(np.isnan(a) | np.isnan(b))
    if not kept.any():
        return None
    yes, too = a[kept] > 0, b[kept] > 0
    only_a, only_b = int((yes & ~too).sum()), int((too & ~yes).sum())
    return Discordant(
        name,
        int((yes & too).sum()),
        only_a,
        only_b,
        int((~yes & ~too).sum()),
        float(binomtest(only_a, only_a + only_b).pvalue) if only_a + only_b else 1.0,
    )


def _read(run: Path | str) -> dict[str, dict[str, Any]]:
    """The scores of a run's finished samples, and which episode each is."""
    found: dict[str, dict[str, Any]] = {}
    for line in each_sample(run):
        try:
            result = line["result"]
            episode = {key: result["episode"][key] for key in _IDENTITY}
            found[line["id"]] = {**result["scores"], **effort_of(line), "episode": episode}
        except (KeyError, TypeError, AttributeError):
            raise RunError(
                f"{run}: the sample '{line['id']}' has no episode and scores: give a run of"
                " `navloom eval`"
            ) from None
    return found


def _cells(each: Paired) -> tuple[str, ...]:
    row = each.difference
    ends = " to ".join(spoken(each.metric, end, "+") for end in row.interval or ())
    return (
        each.metric,
        spoken(each.metric, each.a),
        spoken(each.metric, each.b),
        spoken(each.metric, row.mean, "+"),
        ends or NOTHING,
        f"{row.n:,}",
        f"{each.p:.3g}",
        each.better or (NOTHING if each.shown else "no difference shown"),
    )
