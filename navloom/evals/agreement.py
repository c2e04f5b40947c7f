"""How far raters agree: shares of pairs, Krippendorff's alpha, Fleiss' and Cohen's kappa.

What raters said is a mapping of (rater, item) to a value; who did not answer an item is not in it.
Nothing here stumbles over one rater, one item or one value: a coefficient that is not defined has
no value, and says why. Intervals are 95 %, by a seeded bootstrap that draws items with all that was
said of them.

Sources: K. Krippendorff, Computing Krippendorff's Alpha-Reliability (2011); J. L. Fleiss, Measuring
nominal scale agreement among many raters (1971); J. Cohen, A coefficient of agreement for nominal
scales (1960). Alpha is the package ``krippendorff``'s.
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
from navloom.evals.report.document import percent, with_ends
from navloom.evals.report.intervals import Floats, percentiles, resampled

Level = Literal["nominal", "ordinal", "interval"]
Value = str | int | float
Said = Mapping[tuple[str, str], Value]
"""(rater, item): what the rater said of it."""
DRAWS = 1_000
_NO_PAIR = "no item has two answers"
_NO_CHANCE = "all answers are the same, so there is nothing that they could differ by"


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval.

    Attributes:
        value: None where there is nothing to estimate from.
        low: the lower end of the interval; None where there is none.
        high: the upper end.
    """

    value: float | None
    low: float | None = None
    high: float | None = None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both ends, where there are any."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    def __str__(self) -> str:
        """Of a share."""
        return percent(self.value, self.interval)

    @property
    def coefficient(self) -> str:
        """Of a number that is no share, such as kappa."""
        return with_ends(self.value, self.interval, 3, 2)


def estimated(value: float, drawn: Floats, clusters: int) -> Estimate:
    """A value and the interval in which 95 % of its draws lie.

    Args:
        value: NaN where it is not defined.
        drawn: (n,) the same of resamples, NaN where it is not defined.
        clusters: how many things the draws were of; one thing leaves no interval.
    """
    if not np.isfinite(value):
        return Estimate(None)
    spread = drawn[np.isfinite(drawn)]
    if clusters < 2 or len(spread) < len(drawn) // 2:
        return Estimate(float(value))
    return Estimate(float(value), *percentiles(spread))


def ratio(clusters: Floats, seed: int = 0) -> Estimate:
    """A share or mean with its interval: the first column's sum over the second's.

    Args:
        clusters: (N, 2) of each item, what was counted and of how much.
        seed: of the bootstrap.
    """

    def share(sums: Floats) -> Floats:
        with np.errstate(invalid="ignore"):  # 0 / 0: nothing was counted
            return sums[:, 0] / sums[:, 1]

    held = clusters[clusters[:, 1] > 0]
    whole = share(held.sum(axis=0, keepdims=True))[0]
    return estimated(whole, share(resampled(held, DRAWS, seed)), len(held))


def kappa(tables: Floats) -> Floats:
    """Cohen's kappa of each table (n, k, k) of counts; NaN where chance alone agrees wholly."""
    total = tables.sum(axis=(1, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        agreed = np.trace(tables, axis1=1, axis2=2) / total
        chance = (tables.sum(axis=1) * tables.sum(axis=2)).sum(axis=1) / total**2
        result: Floats = np.where(chance < 1, (agreed - chance) / (1 - chance), np.nan)
    return result


def fleiss(counts: NDArray[Any]) -> float:
    """Fleiss' kappa; NaN where it is not defined.

    Fleiss has as many answers of each item as of any other. Where some have fewer, an item's
    agreement is over its own pairs and its answers weigh one together, so with equal numbers this
    is his; items with fewer than two answers are left out.

    Args:
        counts: (N, V) how many raters gave an item a value.
    """
    return float(_fleiss(_fleiss_parts(counts).sum(axis=0, keepdims=True))[0])


def _fleiss_parts(counts: NDArray[Any]) -> Floats:
    """Of each item with two answers or more: its agreement, the shares of its values."""
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


def alpha(counts: NDArray[Any], values: Sequence[float], level: Level) -> float:
    """Krippendorff's alpha; NaN where it is not defined.

    It is not where no item has two answers, and where all answers that can be paired are the same:
    then there is nothing that chance could have got wrong.

    Args:
        counts: (N, V) how many raters gave an item a value.
        values: what the values are, in their order; nominal ones are any numbers.
        level: how far apart two values are.
    """
    import krippendorff

    held = counts[counts.sum(axis=1) > 1]
    if (held.sum(axis=0) > 0).sum() < 2:
        return float("nan")
    return float(
        krippendorff.alpha(value_counts=held, value_domain=values, level_of_measurement=level)
    )


class Answers:
    """What raters said of items, as a table.

    Args:
        said: what they said; at least finite numbers where ``level`` is interval.
        level: of the values.
        order: values in their order, of ordinal ones that are words; numbers have their own.

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
        """(N, V): how many raters gave an item a value."""
        found: NDArray[np.int64] = (self.codes[..., None] == np.arange(len(self.values))).sum(
            axis=0
        )
        return found

    @cached_property
    def paired(self) -> NDArray[np.int64]:
        """(n, V): the same of the items with two answers or more."""
        found: NDArray[np.int64] = self.counts[self.counts.sum(axis=1) > 1]
        return found

    @cached_property
    def pairs(self) -> Floats:
        """(N, 2): how many pairs of raters said the same of an item, and how many pairs are."""
        many = self.counts.sum(axis=1)
        alike = (self.counts * (self.counts - 1)).sum(axis=1)
        return np.stack([alike / 2, many * (many - 1) / 2], axis=1).astype(np.float64)

    def majority(self, item: str) -> tuple[Value, ...]:
        """The values that most raters gave an item: several are a tie; none that nobody said."""
        counts = self.counts[self.columns[item]]
        most = counts.max(initial=0)
        return tuple(v for v, n in zip(self.values, counts, strict=True) if n == most > 0)


def _place(value: Value) -> tuple[bool, Value]:
    return isinstance(value, str), value


@dataclass(frozen=True)
class Agreed:
    """How far the raters of one question agree.

    Attributes:
        level: of its values.
        raters: who answered.
        items: how many have an answer.
        paired: how many of them have two or more; all below is of these.
        answers: how many.
        share: pairs of raters who said the same, over all pairs.
        alpha: Krippendorff's, of the level.
        fleiss: Fleiss' kappa, which knows names alone.
        cohen: Cohen's kappa of each two raters who share an item, which knows names alone.
        shared: how many items each two share.
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
        """As JSON."""
        told = {name: getattr(self, name) for name in ("level", "items", "paired", "answers")}
        told |= {"raters": len(self.raters), "why": self.why}
        told |= {name: asdict(getattr(self, name)) for name in ("share", "alpha", "fleiss")}
        told["cohen"] = [
            {"raters": list(two), "items": self.shared[two], **asdict(found)}
            for two, found in self.cohen.items()
        ]
        return told


def agreed(answers: Answers, *, seed: int = 0) -> Agreed:
    """How far raters agree.

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
    return Agreed(
        level=answers.level,
        raters=tuple(answers.raters),
        items=len(answers.items),
        paired=len(paired),
        answers=len(answers.said),
        share=ratio(answers.pairs, seed),
        alpha=_alpha(answers, seed),
        fleiss=estimated(fleiss(paired), _fleiss(resampled(parts, DRAWS, seed)), len(parts)),
        cohen=cohen,
        shared=shared,
        why=_NO_PAIR if not len(paired) else _NO_CHANCE if one_value else "",
    )


def _alpha(answers: Answers, seed: int) -> Estimate:
    """Alpha and its interval: it cannot be added up item by item, but the draws are the same."""
    counts, many = answers.paired, len(answers.paired)
    value = alpha(counts, answers.places, answers.level)
    if not np.isfinite(value):
        return Estimate(None)
    draws = np.random.default_rng(seed).multinomial(many, np.full(many, 1 / many), DRAWS)
    drawn = (np.repeat(counts, times, axis=0) for times in draws)
    spread = [alpha(each, answers.places, answers.level) for each in drawn]
    return estimated(value, np.array(spread), many)


def _cohen(both: NDArray[np.int64], seed: int) -> Estimate:
    """Of two raters' codes (2, n), all of them there."""
    used, codes = np.unique(both, return_inverse=True)
    codes = codes.reshape(both.shape)
    tables = np.zeros((both.shape[1], len(used), len(used)))
    tables[np.arange(both.shape[1]), codes[0], codes[1]] = 1
    whole = kappa(tables.sum(axis=0, keepdims=True))[0]
    return estimated(whole, kappa(resampled(tables, DRAWS, seed)), len(tables))
