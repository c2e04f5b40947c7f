"""Inter-rater agreement: pairwise shares, Krippendorff's alpha, Fleiss' and Cohen's kappa.

Answers are a mapping of (rater, item) to a value; missing answers are absent from it. A single
rater, item or value is no error: an undefined coefficient is None, with a reason. Intervals are
95 %, by a seeded bootstrap that draws items together with all their answers.

Sources: K. Krippendorff, Computing Krippendorff's Alpha-Reliability (2011); J. L. Fleiss, Measuring
nominal scale agreement among many raters (1971); J. Cohen, A coefficient of agreement for nominal
scales (1960). The package ``krippendorff`` computes alpha.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from navloom.errors import UsageError
from navloom.evals.report.formatting import percent, with_interval
from navloom.evals.report.intervals import Floats, percentile_interval, resample_sums

Level = Literal["nominal", "ordinal", "interval"]
Value = str | int | float
Said = Mapping[tuple[str, str], Value]
"""(rater, item): the rater's answer."""
DRAWS = 1_000
_NO_PAIR = "no item has two answers"
_NO_CHANCE = "all answers are the same, so there is nothing that they could differ by"


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval.

    Attributes:
        value: None without data.
        low: the lower end of the interval; None without one.
        high: the upper end.
    """

    value: float | None
    low: float | None = None
    high: float | None = None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both ends of the interval; None for a number without an interval."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    def __str__(self) -> str:
        """Format the value and interval as percentages."""
        return percent(self.value, self.interval)

    @property
    def coefficient(self) -> str:
        """The value and interval as decimal text, for coefficients such as kappa."""
        return with_interval(self.value, self.interval, 3, 2)


def make_estimate(value: float, drawn: Floats, clusters: int) -> Estimate:
    """Make an estimate from a value and its bootstrap draws.

    Args:
        value: NaN where it is not defined.
        drawn: (n,) the value of each resample, NaN where it is not defined.
        clusters: number of units that were resampled; fewer than 2 give no interval.
    """
    if not np.isfinite(value):
        return Estimate(None)
    spread = drawn[np.isfinite(drawn)]
    if clusters < 2 or len(spread) < len(drawn) // 2:
        return Estimate(float(value))
    return Estimate(float(value), *percentile_interval(spread))


def estimate_ratio(clusters: Floats, seed: int = 0) -> Estimate:
    """Estimate a share or mean: the first column's sum over the second's, bootstrapped.

    Args:
        clusters: (N, 2) numerator and denominator of each item.
        seed: of the bootstrap.
    """

    def share(sums: Floats) -> Floats:
        with np.errstate(invalid="ignore"):  # 0 / 0: nothing was counted
            return sums[:, 0] / sums[:, 1]

    held = clusters[clusters[:, 1] > 0]
    whole = share(held.sum(axis=0, keepdims=True))[0]
    return make_estimate(whole, share(resample_sums(held, DRAWS, seed)), len(held))


def cohen_kappa(tables: Floats) -> Floats:
    """Compute Cohen's kappa of each (k, k) table of counts; NaN where chance agreement is 1."""
    total = tables.sum(axis=(1, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        agreed = np.trace(tables, axis1=1, axis2=2) / total
        chance = (tables.sum(axis=1) * tables.sum(axis=2)).sum(axis=1) / total**2
        result: Floats = np.where(chance < 1, (agreed - chance) / (1 - chance), np.nan)
    return result


def fleiss_kappa(counts: NDArray[Any]) -> float:
    """Compute Fleiss' kappa; NaN where it is not defined.

    Fleiss assumes the same number of answers for every item. Where the numbers differ, an item's
    agreement is over its own pairs and each item has weight 1. With equal numbers this is Fleiss'
    formula. Items with fewer than two answers are left out.

    Args:
        counts: (N, V) how many raters gave an item a value.
    """
    return float(_fleiss(_fleiss_parts(counts).sum(axis=0, keepdims=True))[0])


def _fleiss_parts(counts: NDArray[Any]) -> Floats:
    """Return agreement and value shares of each item with two or more answers."""
    held = counts[counts.sum(axis=1) > 1].astype(np.float64)
    many = held.sum(axis=1, keepdims=True)
    alike = (held * (held - 1)).sum(axis=1, keepdims=True) / (many * (many - 1))
    return np.hstack([alike, held / many])


def _fleiss(sums: Floats) -> Floats:
    items = sums[:, 1:].sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        agreed, chance = sums[:, 0] / items, ((sums[:, 1:] / items[:, None]) ** 2).sum(axis=1)
        apart = chance < 1 - 1e-12
        result: Floats = np.where(apart, (agreed - chance) / (1 - chance), np.nan)
    return result


def krippendorff_alpha(counts: NDArray[Any], values: Sequence[float], level: Level) -> float:
    """Compute Krippendorff's alpha; NaN where it is not defined.

    It is undefined without an item that has two answers, and where all paired answers are equal.

    Args:
        counts: (N, V) how many raters gave an item a value.
        values: the values in their order; arbitrary numbers for nominal values.
        level: level of measurement, which defines the distance of two values.
    """
    import krippendorff

    held = counts[counts.sum(axis=1) > 1]
    if (held.sum(axis=0) > 0).sum() < 2:
        return float("nan")
    return float(
        krippendorff.alpha(value_counts=held, value_domain=values, level_of_measurement=level)
    )


class RaterAnswers:
    """Answers of all raters to one question, as a table.

    Args:
        said: the answers; finite numbers where ``level`` is interval.
        level: level of measurement of the values.
        order: the order of ordinal values that are words; numbers have their own.

    Raises:
        UsageError: values are words where numbers are meant, or are not in ``order``.
    """

    def __init__(self, said: Said, level: Level = "nominal", order: Sequence[Value] = ()) -> None:
        self.said, self.level = said, level
        self.raters = sorted({rater for rater, _ in said})
        self.items = sorted({item for _, item in said})
        self.values = list(order) or sorted(set(said.values()), key=_place)
        if strange := next((each for each in said.values() if each not in self.values), None):
            raise UsageError(f"'{strange}' is none of the values: {', '.join(map(str, order))}")
        numbers = [each for each in self.values if isinstance(each, int | float)]
        if level == "interval" and not (
            len(numbers) == len(self.values) and np.isfinite(np.array(numbers)).all()
        ):
            raise UsageError("answers at the level interval are finite numbers, and these are not")
        self.places: list[float] = list(map(float, range(len(self.values))))
        if level == "interval":
            self.places = list(map(float, numbers))
        of = {value: number for number, value in enumerate(self.values)}
        rows = {rater: number for number, rater in enumerate(self.raters)}
        self.columns = {item: number for number, item in enumerate(self.items)}
        self.codes = np.full((len(self.raters), len(self.items)), -1, np.int64)
        for (rater, item), value in said.items():
            self.codes[rows[rater], self.columns[item]] = of[value]

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """(N, V): number of raters who gave each item each value."""
        held: NDArray[np.int64] = (self.codes[..., None] == np.arange(len(self.values))).sum(axis=0)
        return held

    @cached_property
    def paired(self) -> NDArray[np.int64]:
        """(n, V): rows of `counts` for items with two or more answers."""
        found: NDArray[np.int64] = self.counts[self.counts.sum(axis=1) > 1]
        return found

    @cached_property
    def pairs(self) -> Floats:
        """(N, 2): number of agreeing pairs of raters, and of all pairs, for each item."""
        many = self.counts.sum(axis=1)
        alike = (self.counts * (self.counts - 1)).sum(axis=1)
        return np.stack([alike / 2, many * (many - 1) / 2], axis=1).astype(np.float64)

    def majority(self, item: str) -> tuple[Value, ...]:
        """Return the most frequent values of an item: several in a tie, () without answers."""
        counts = self.counts[self.columns[item]]
        most = counts.max(initial=0)
        return tuple(v for v, n in zip(self.values, counts, strict=True) if n == most > 0)


def _place(value: Value) -> tuple[bool, Value]:
    return isinstance(value, str), value


@dataclass(frozen=True)
class RaterAgreement:
    """Agreement of the raters of one question.

    Attributes:
        level: of its values.
        raters: who answered.
        items: number of items with an answer.
        paired: number of items with two or more answers; all measures below use these.
        answers: number of answers.
        share: pairs of raters who agree, over all pairs.
        alpha: Krippendorff's alpha at the level.
        fleiss: Fleiss' kappa, which treats values as nominal.
        cohen: Cohen's kappa of each two raters who share an item; values as nominal.
        shared: number of items that each two raters share.
        why: why alpha and kappa have no value; empty where they have one.
    """

    level: Level
    raters: tuple[str, ...]
    items: int
    paired: int
    answers: int
    share: Estimate
    alpha: Estimate
    fleiss: Estimate
    cohen: Mapping[tuple[str, str], Estimate]
    shared: Mapping[tuple[str, str], int]
    why: str = ""

    def record(self) -> dict[str, Any]:
        """Return all values as JSON."""
        told = {name: getattr(self, name) for name in ("level", "items", "paired", "answers")}
        told |= {"raters": len(self.raters), "why": self.why}
        told |= {name: asdict(getattr(self, name)) for name in ("share", "alpha", "fleiss")}
        told["cohen"] = [
            {"raters": list(two), "items": self.shared[two], **asdict(found)}
            for two, found in self.cohen.items()
        ]
        return told


def measure_agreement(answers: RaterAnswers, *, seed: int = 0) -> RaterAgreement:
    """Compute all agreement measures of one question.

    Args:
        answers: of one question.
        seed: of the bootstrap.
    """
    paired = answers.paired
    parts = _fleiss_parts(paired)
    one_value = (paired.sum(axis=0) > 0).sum() < 2
    cohen, shared = {}, {}
    for one, two in combinations(range(len(answers.raters)), 2):
        both = answers.codes[[one, two]]
        both = both[:, (both >= 0).all(axis=0)]
        if both.shape[1]:
            names = (answers.raters[one], answers.raters[two])
            cohen[names], shared[names] = _cohen(both, seed), both.shape[1]
    return RaterAgreement(
        level=answers.level,
        raters=tuple(answers.raters),
        items=len(answers.items),
        paired=len(paired),
        answers=len(answers.said),
        share=estimate_ratio(answers.pairs, seed),
        alpha=_alpha(answers, seed),
        fleiss=make_estimate(
            fleiss_kappa(paired), _fleiss(resample_sums(parts, DRAWS, seed)), len(parts)
        ),
        cohen=cohen,
        shared=shared,
        why=_NO_PAIR if not len(paired) else _NO_CHANCE if one_value else "",
    )


def _alpha(answers: RaterAnswers, seed: int) -> Estimate:
    """Estimate Krippendorff's alpha; its interval resamples whole items."""
    counts, many = answers.paired, len(answers.paired)
    value = krippendorff_alpha(counts, answers.places, answers.level)
    if not np.isfinite(value):
        return Estimate(None)
    draws = np.random.default_rng(seed).multinomial(many, np.full(many, 1 / many), DRAWS)
    drawn = (np.repeat(counts, times, axis=0) for times in draws)
    spread = [krippendorff_alpha(each, answers.places, answers.level) for each in drawn]
    return make_estimate(value, np.array(spread), many)


def _cohen(both: NDArray[np.int64], seed: int) -> Estimate:
    """Estimate Cohen's kappa from the codes (2, n) of two raters, without gaps."""
    used, codes = np.unique(both, return_inverse=True)
    codes = codes.reshape(both.shape)
    tables = np.zeros((both.shape[1], len(used), len(used)))
    tables[np.arange(both.shape[1]), codes[0], codes[1]] = 1
    whole = cohen_kappa(tables.sum(axis=0, keepdims=True))[0]
    return make_estimate(whole, cohen_kappa(resample_sums(tables, DRAWS, seed)), len(tables))
