"""What two runs score on the same samples: paired differences, and who did what the other not.

Differences are B minus A; their intervals are bootstrapped over what belongs together, such as the
paths of episodes (:mod:`navloom.evals.report.intervals`). A difference is shown where the interval
leaves 0 out and signs flipped at random, such wholes together, do as much in fewer than 5 of 100
draws: from few pairs that differ an interval alone promises too much. Pairs in which only one of
both succeeded are counted beside (McNemar), with the exact two-sided p-value of a fair coin; it
takes pairs as independent, which the instructions of one path are not.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from navloom.evals.report.intervals import LEVEL, Row, rows_of

Floats = NDArray[np.float64]
Good = Literal["more", "less"] | None
"""Which way is better; None where neither is."""
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
            wholes, where these are drawn) are flipped at random.
        good: which way is better; None where neither is.
    """

    metric: str
    a: float
    b: float
    difference: Row
    p: float
    good: Good

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
        if low is None or not self.shown or self.good is None:
            return None
        return "B" if (low > 0) == (self.good == "more") else "A"

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


def differences_of(
    names: Sequence[str],
    before: Floats,
    after: Floats,
    clusters: Sequence[Hashable] | None,
    seed: int,
    good: Sequence[Good],
) -> list[Paired]:
    """How scores differ, a row for each that any pair has.

    Args:
        names: of the M scores.
        before: (N, M) those of A, NaN where a pair lacks one.
        after: (N, M) those of B.
        clusters: (N,) what is drawn whole; None draws pairs one by one.
        seed: of the draws.
        good: (M,) which way is better.
    """
    apart = after - before
    found = []
    for k, row in enumerate(rows_of(names, apart, clusters, seed=seed)):
        if row.n:
            kept = ~np.isnan(apart[:, k])
            a, b = float(before[kept, k].mean()), float(after[kept, k].mean())
            drawn = None if clusters is None else list(compress(clusters, kept))
            p = _flipped(apart[kept, k], drawn, seed)
            found.append(Paired(row.metric, a, b, row, p, good[k]))
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


def discordant_of(name: str, a: Floats, b: Floats) -> Discordant | None:
    """Who succeeded where, of one score; None where no pair has it.

    Args:
        name: of the score.
        a: (N,) that of A, success above 0, NaN where a pair lacks it.
        b: (N,) that of B.
    """
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
