"""Paired statistics of two runs over the same samples: differences and discordant pairs.

Differences are B minus A. Their intervals are bootstrapped over clusters, such as the paths of
episodes (:mod:`navloom.evals.report.intervals`). A difference counts as shown if its interval
excludes 0 and a sign-flip test over clusters has p < 0.05: with few differing pairs, an interval
alone is too optimistic. Pairs in which only one run succeeded are counted too (McNemar), with an
exact two-sided p-value. It takes pairs as independent, which instructions of one path are not.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import compress
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from navloom.errors import RunError
from navloom.evals.report import intervals
from navloom.evals.report.blocks import Line, Pairing
from navloom.evals.report.formatting import NOTHING, Table
from navloom.evals.run_folder import line_form
from navloom.evals.run_kinds import kind_of
from navloom.files import read_lines

Floats = NDArray[np.float64]
Good = Literal["more", "less"] | None
"""Better direction of a metric; None for none."""
_FLIPS = 1_999


@dataclass(frozen=True)
class PairedMetric:
    """One metric compared over all pairs.

    Attributes:
        metric: its name.
        a: mean of the first run over the pairs where both have it.
        b: mean of the second run.
        difference: B minus A, with its interval.
        p: two-sided p-value of a sign-flip test over pairs (or over clusters).
        good: better direction; None for none.
    """

    metric: str
    a: float
    b: float
    difference: intervals.MetricEstimate
    p: float
    good: Good

    @property
    def shown(self) -> bool:
        """True if a difference is shown: the interval excludes 0 and ``p`` is small."""
        low, high = self.difference.low, self.difference.high
        outside = low is not None and high is not None and not low <= 0 <= high
        return outside and self.p < 1 - intervals.LEVEL

    @property
    def better(self) -> str | None:
        """``"A"`` or ``"B"`` if a difference is shown and the metric has a better direction."""
        low = self.difference.low
        if low is None or not self.shown or self.good is None:
            return None
        return "B" if (low > 0) == (self.good == "more") else "A"

    def record(self) -> dict[str, Any]:
        """Return all values as JSON."""
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
class DiscordantPairs:
    """Numbers of pairs by which run succeeded, for a metric that is 0 or 1.

    Attributes:
        metric: its name.
        both: pairs in which both succeeded.
        only_a: pairs in which only A succeeded.
        only_b: pairs in which only B succeeded.
        neither: pairs in which neither succeeded.
        p: two-sided exact p-value of McNemar's test; 1 without discordant pairs.
    """

    metric: str
    both: int
    only_a: int
    only_b: int
    neither: int
    p: float


def paired_differences(
    names: Sequence[str],
    before: Floats,
    after: Floats,
    clusters: Sequence[Hashable] | None,
    seed: int,
    good: Sequence[Good],
) -> list[PairedMetric]:
    """Return the paired differences of all scores that any pair has.

    Args:
        names: names of the M scores.
        before: (N, M) scores of A, NaN where missing.
        after: (N, M) scores of B.
        clusters: (N,) cluster of each pair; None: each pair is a cluster.
        seed: seed of the draws.
        good: (M,) better direction of each score.
    """
    apart = after - before
    found = []
    for k, row in enumerate(intervals.estimate_metrics(names, apart, clusters, seed=seed)):
        if row.n:
            kept = ~np.isnan(apart[:, k])
            a, b = float(before[kept, k].mean()), float(after[kept, k].mean())
            drawn = None if clusters is None else list(compress(clusters, kept))
            p = _flipped(apart[kept, k], drawn, seed)
            found.append(PairedMetric(row.metric, a, b, row, p, good[k]))
    return found


def _flipped(apart: Floats, clusters: Sequence[Hashable] | None, seed: int) -> float:
    """Return the p-value of the sum of differences under random sign flips; exact for few."""
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
        # scipy needs at least two; the p-value of one is 1, as either sign is equally likely.
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


def count_discordant(name: str, a: Floats, b: Floats) -> DiscordantPairs | None:
    """Count pairs by which run succeeded in one score; None if no pair has it.

    Args:
        name: name of the score.
        a: (N,) score of A, success above 0, NaN where missing.
        b: (N,) score of B.
    """
    from scipy.stats import binomtest

    kept = ~(np.isnan(a) | np.isnan(b))
    if not kept.any():
        return None
    yes, too = a[kept] > 0, b[kept] > 0
    only_a, only_b = int((yes & ~too).sum()), int((too & ~yes).sum())
    return DiscordantPairs(
        name,
        int((yes & too).sum()),
        only_a,
        only_b,
        int((~yes & ~too).sum()),
        float(binomtest(only_a, only_a + only_b).pvalue) if only_a + only_b else 1.0,
    )


_STUMBLES = (KeyError, TypeError, AttributeError, IndexError, ValueError)
GROUPS = ("both", "only A", "only B", "neither")
"""Groups of pairs by which run succeeded."""


@dataclass(frozen=True)
class Comparison:
    """Paired comparison of two runs.

    Attributes:
        a: the first run.
        b: the second.
        ids: ids of the samples in both runs, in order.
        unpaired_a: number of finished samples of A that B lacks.
        unpaired_b: number of finished samples of B that A lacks.
        metrics: one entry for each score.
        discordant: one entry for each score that is 0 or 1.
        by: unit of the bootstrap: ``path`` means the clusters of the kind.
        pairing: rules of the comparison.
        names: names of the M scores that both runs have.
        before: (N, M) scores of A, NaN where missing.
        after: (N, M) scores of B.
    """

    a: str
    b: str
    ids: Sequence[str]
    unpaired_a: int
    unpaired_b: int
    metrics: Sequence[PairedMetric]
    discordant: Sequence[DiscordantPairs]
    by: intervals.By
    pairing: Pairing
    names: Sequence[str]
    before: Floats = field(repr=False, compare=False)
    after: Floats = field(repr=False, compare=False)

    @property
    def pairs(self) -> int:
        """The number of samples in both runs."""
        return len(self.ids)

    @property
    def whole(self) -> bool:
        """True if the bootstrap drew whole clusters."""
        return self.by == "path" and self.pairing.cluster is not None

    def record(self) -> dict[str, Any]:
        """Return all values as JSON."""
        drawn = self.pairing.cluster_name if self.whole else self.pairing.noun
        return {
            "a": self.a,
            "b": self.b,
            "pairs": self.pairs,
            "unpaired": {"a": self.unpaired_a, "b": self.unpaired_b},
            "metrics": {each.metric: each.record() for each in self.metrics},
            "discordant": {each.metric: asdict(each) for each in self.discordant},
            "bootstrap": {"by": drawn, "resamples": intervals.RESAMPLES, "level": intervals.LEVEL},
        }

    def tables(self) -> Iterator[Table]:
        """Yield the tables of differences and of discordant pairs."""
        drawn = f"whole {self.pairing.cluster_name}s" if self.whole else "pairs one by one"
        note = (
            f"A: {self.a}. B: {self.b}. {self.pairs:,} pairs by sample id; unpaired: "
            f"{self.unpaired_a:,} of A, {self.unpaired_b:,} of B. Brackets: {intervals.LEVEL:.0%}"
            f" bootstrap of the paired difference, {intervals.RESAMPLES:,} draws of {drawn}; of"
            " shares in percentage points. p: of flipping the signs of the same at random. A"
            " difference is shown where the interval leaves 0 out and p is below"
            f" {1 - intervals.LEVEL:.2g}."
        )
        head = ("metric", "A", "B", "B - A", "interval", "n", "p", "better")
        yield Table("Paired differences", note, head, tuple(map(self._cells, self.metrics)))
        yield Table(
            "Who succeeded where",
            "p: McNemar's exact test, two-sided, pairs taken as independent.",
            ("metric", *GROUPS, "p"),
            tuple(
                (
                    each.metric,
                    *(f"{n:,}" for n in (each.both, each.only_a, each.only_b, each.neither)),
                    f"{each.p:.3g}",
                )
                for each in self.discordant
            ),
        )

    def _cells(self, each: PairedMetric) -> tuple[str, ...]:
        row, said = each.difference, self.pairing.spoken
        ends = " to ".join(said(each.metric, end, "+") for end in row.interval or ())
        return (
            each.metric,
            said(each.metric, each.a, ""),
            said(each.metric, each.b, ""),
            said(each.metric, row.mean, "+"),
            ends or NOTHING,
            f"{row.n:,}",
            f"{each.p:.3g}",
            each.better or (NOTHING if each.shown else "no difference shown"),
        )


def compare_runs(
    a: Path | str, b: Path | str, *, by: intervals.By = "path", seed: int = 0
) -> Comparison:
    """Pair the finished samples of two runs and estimate how B differs from A.

    Args:
        a: the folder of a run.
        b: the folder of another run on the same dataset.
        by: unit of the bootstrap: ``path`` draws whole clusters.
        seed: seed of the bootstrap.

    Raises:
        RunError: a folder is no run, the kinds cannot be compared, no sample is in both, or two
            samples of one id differ.
    """
    pairing = pairing_of(a, b)
    first, second = _read(a, pairing), _read(b, pairing)
    ids = sorted(first.keys() & second.keys())
    if not ids:
        raise RunError(
            f"{a} and {b} share no finished sample ({len(first):,} and {len(second):,}): only runs"
            " of the same dataset can be compared"
        )
    for name in ids:
        check_same_sample(name, first[name].identity, second[name].identity, (a, b), pairing)
    pairs = [first[name].scores for name in ids], [second[name].scores for name in ids]
    names = shared_scores(pairs, pairing)
    before, after = (intervals.record_matrix(side, names) for side in pairs)
    wholes = [first[name].cluster for name in ids]
    clusters = None
    if by == "path" and pairing.cluster is not None:
        clusters = [str(each) if each is not None else k for k, each in enumerate(wholes)]
    found = [
        count_discordant(name, before[:, k], after[:, k])
        for k, name in enumerate(names)
        if name in pairing.counted
    ]
    return Comparison(
        str(a),
        str(b),
        ids,
        len(first) - len(ids),
        len(second) - len(ids),
        paired_differences(names, before, after, clusters, seed, _good(names, pairing)),
        [each for each in found if each is not None],
        by,
        pairing,
        names,
        before,
        after,
    )


def pairing_of(a: Path | str, b: Path | str) -> Pairing:
    """Return the rules for comparing the samples of two runs.

    Raises:
        RunError: a folder is no run, or the kinds cannot be compared.
    """
    kinds = kind_of(a), kind_of(b)
    first, second = (kind.pairing() if kind.pairing else None for kind in kinds)
    for run, kind, found in ((a, kinds[0], first), (b, kinds[1], second)):
        if found is None:
            raise RunError(
                f"{run} is a run of `navloom {kind.command}`, and samples of such runs are not"
                " compared"
            )
    # A kind may return a new pairing at each call, so compare kinds first.
    if first is None or (kinds[0] is not kinds[1] and first != second):
        commands = [f"`navloom {kind.command}`" for kind in kinds]
        raise RunError(
            f"{a} is a run of {commands[0]} and {b} one of {commands[1]}: only runs of one kind"
            " can be compared"
        )
    return first


@dataclass(frozen=True)
class ComparedSample:
    """One run's half of a pair: identity, scores and cluster of a line."""

    identity: Any
    scores: Mapping[str, float | None]
    cluster: Any


def compare_line(run: Path | str, line: Line, pairing: Pairing) -> ComparedSample:
    """Return the identity, scores and cluster of a line.

    Raises:
        RunError: the line lacks what lines of its kind have.
    """
    try:
        cluster = None if pairing.cluster is None else pairing.cluster(line)
        return ComparedSample(pairing.identity(line), pairing.scores(line), cluster)
    except _STUMBLES:
        raise RunError(
            f"{run}: the sample '{line['id']}' has no {pairing.holds}: give a run of"
            f" `navloom {kind_of(run).command}`"
        ) from None


def _read(run: Path | str, pairing: Pairing) -> dict[str, ComparedSample]:
    """Return the compared values of a run's finished samples, by id."""
    # In the order of the file: sorting by id would read each line twice.
    lines = read_lines(Path(run) / "samples.jsonl", line_form(Path(run), "samples.jsonl"))
    return {line["id"]: compare_line(run, line, pairing) for line in lines}


def check_same_sample(
    name: str, first: Any, second: Any, runs: tuple[Path | str, Path | str], pairing: Pairing
) -> None:
    """Check that two lines of one id are the same sample.

    Raises:
        RunError: they differ.
    """
    if first != second:
        raise RunError(
            f"the sample '{name}' is another {pairing.noun} in {runs[1]} than in {runs[0]}: only"
            " runs of the same dataset can be compared"
        )


def shared_scores(
    pairs: tuple[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]], pairing: Pairing
) -> list[str]:
    """Return the names of the scores that both runs have, in the order of tables."""
    sides = [dict.fromkeys(name for scores in side for name in scores) for side in pairs]
    known = dict.fromkeys((*pairing.order, *sides[0]))
    return [name for name in known if all(name in side for side in sides)]


def _good(names: Sequence[str], pairing: Pairing) -> list[Good]:
    """Return the better direction of each score."""
    return [
        None if name in pairing.neither else "less" if name in pairing.less else "more"
        for name in names
    ]
