"""Two sets of homes side by side: how far apart each figure is, and whether that is far.

Two halves of one set of real homes differ, too, so a distance is held against what such halves
have: the second set is split at random again and again, three sevenths against the rest (15 of 35
homes against 20), and the bound is the 95th percentile of those splits' distances, or `CLOSE` where
that is larger. Values are pooled over homes, as rooms, pairs of rooms or tasks: a large home counts
for more.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from navloom.evals.likeness.home_figures import SPREADS, HomeFigures
from navloom.scenes.bodies import builtin_bodies

Floats = NDArray[np.float64]
Measure = Literal["KS", "total variation", "rank correlation", "share"]

CLOSE = 0.15
"""A Kolmogorov-Smirnov distance that is small whatever halves of the real homes have."""
MOST_VARIATION = 0.2
"""Of the mix of room types, in total variation."""
LEAST_CORRELATION = 0.5
"""Of the log odds of things in rooms, where halves of the second set have more."""
SPLIT_BODIES = ("WHEELCHAIR", "HUMANOID", "SWEEPER")
BODIES_BETWEEN = (0.15, 0.95)
"""The share of pairs of rooms which bodies that homes are to tell apart can travel between."""
NEAR_BODY = 0.05
"""Metres between a door's clear width and some body's, for which a question is not cheap."""
LEAST_NEAR = 0.1
"""The share of doors that are to be so near."""
SPLITS = 1_000
_FEWER_SPLITS = 200
"""Of measures that are slow."""
FEWEST_TO_SPLIT = 10
_PART = 3 / 7
_LEAST_ROOMS = 5
"""In how many rooms of either set a thing must be, and how many rooms of a type there must be."""


@dataclass(frozen=True)
class Line:
    """One figure of both sets.

    Attributes:
        figure: in words.
        first: what the first set has: a median, or a share.
        second: the same; None where it cannot be known or is not compared.
        measure: how they are compared; ``share`` looks at the first set alone.
        value: the distance, correlation or share; None where either set has no such figure.
        least: the least that holds; None where there is no such bound.
        most: the most that holds.
    """

    figure: str
    first: float | None
    second: float | None
    measure: Measure
    value: float | None
    least: float | None = None
    most: float | None = None

    @property
    def holds(self) -> bool | None:
        """Whether it lies within its bounds; None where it has no value."""
        if self.value is None:
            return None
        low = -math.inf if self.least is None else self.least
        high = math.inf if self.most is None else self.most
        return low <= self.value <= high


def compare(
    first: Sequence[HomeFigures], second: Sequence[HomeFigures], *, seed: int = 0
) -> list[Line]:
    """Every figure of two sets of homes.

    Args:
        first: the homes that are judged.
        second: the homes that they should be like.
        seed: of the splits.
    """
    draws = _splits(len(second), SPLITS, seed)
    lines = [_spread(key, first, second, draws) for key in SPREADS]
    lines.append(_type_line(first, second))
    lines.append(_holding_line(first, second, draws[:_FEWER_SPLITS]))
    return lines + _body_lines(first, second) + [_width_line(first, second)]


def _splits(homes: int, count: int, seed: int) -> NDArray[np.bool_]:
    """(count, homes) whether a home is in the smaller part; no rows where there are too few."""
    if homes < FEWEST_TO_SPLIT:
        return np.zeros((0, homes), dtype=np.bool_)
    order = np.random.default_rng(seed).random((count, homes)).argsort(axis=1)
    return order < round(_PART * homes)


def _spread(
    key: str, first: Sequence[HomeFigures], second: Sequence[HomeFigures], draws: NDArray[np.bool_]
) -> Line:
    ours, theirs = ([v for home in part for v in home.spreads[key]] for part in (first, second))
    if not ours or not theirs:
        middle, other = (statistics.median(each) if each else None for each in (ours, theirs))
        return Line(SPREADS[key], middle, other, "KS", None)
    values = np.unique(np.round([*ours, *theirs], 9))
    counts = np.array([_counted(home, key, values) for home in second])
    most = CLOSE
    if len(draws):
        parts = draws.astype(np.float64)
        halves = _distances(parts @ counts, (1 - parts) @ counts)
        most = max(most, float(np.percentile(halves, 95)))
    mine = sum(_counted(home, key, values) for home in first)
    value = float(_distances(np.atleast_2d(mine), counts.sum(axis=0, keepdims=True))[0])
    return Line(
        SPREADS[key], statistics.median(ours), statistics.median(theirs), "KS", value, None, most
    )


def _counted(home: HomeFigures, key: str, values: Floats) -> Floats:
    """How often each value stands in a home."""
    found = np.searchsorted(values, np.round(home.spreads[key], 9))
    return np.bincount(found, minlength=len(values)).astype(np.float64)


def _distances(a: Floats, b: Floats) -> Floats:
    """Kolmogorov-Smirnov distances between rows of counts over the same sorted values."""
    shares = [
        each.cumsum(axis=1) / np.maximum(each.sum(axis=1, keepdims=True), 1) for each in (a, b)
    ]
    result: Floats = np.abs(shares[0] - shares[1]).max(axis=1)
    return result


def type_mix(homes: Sequence[HomeFigures]) -> dict[str, float]:
    """Room type -> its share of all rooms whose type is known."""
    found: dict[str, float] = {}
    for home in homes:
        for kind, count in home.types.items():
            found[kind] = found.get(kind, 0.0) + count
    total = sum(found.values())
    return {kind: count / total for kind, count in found.items()} if total else {}


def _type_line(first: Sequence[HomeFigures], second: Sequence[HomeFigures]) -> Line:
    mixes = type_mix(first), type_mix(second)
    value = None
    if all(mixes):
        kinds = sorted({*mixes[0], *mixes[1]})
        value = sum(abs(mixes[0].get(kind, 0.0) - mixes[1].get(kind, 0.0)) for kind in kinds) / 2
    return Line("mix of room types", None, None, "total variation", value, None, MOST_VARIATION)


def log_odds(homes: Sequence[HomeFigures]) -> dict[tuple[str, str], float]:
    """(thing, room type) -> how much likelier rooms of the type hold it than other rooms.

    The log of the odds ratio, half a room added to each of the four counts; of things and types
    that are seldom, none.
    """
    rooms: dict[str, float] = {}
    holding: dict[tuple[str, str], float] = {}
    for home in homes:
        for kind, count in home.types.items():
            rooms[kind] = rooms.get(kind, 0.0) + count
        for pair, count in home.holding.items():
            holding[pair] = holding.get(pair, 0.0) + count
    names: dict[str, float] = {}
    for (name, _), count in holding.items():
        names[name] = names.get(name, 0.0) + count
    total = sum(rooms.values())
    odds = {}
    for name, everywhere in sorted(names.items()):
        for kind, many in sorted(rooms.items()):
            if everywhere < _LEAST_ROOMS or many < _LEAST_ROOMS:
                continue
            here = holding.get((name, kind), 0.0)
            there = everywhere - here
            ours = (here + 0.5) / (many - here + 0.5)
            others = (there + 0.5) / (total - many - there + 0.5)
            odds[name, kind] = math.log(ours / others)
    return odds


def _correlation(
    a: Mapping[tuple[str, str], float], b: Mapping[tuple[str, str], float]
) -> float | None:
    """Spearman's rank correlation over the pairs that both sets know."""
    from scipy.stats import spearmanr

    pairs = sorted(set(a) & set(b))
    ours, theirs = ([each[pair] for pair in pairs] for each in (a, b))
    if len(pairs) < 3 or len(set(ours)) < 2 or len(set(theirs)) < 2:
        return None
    return float(spearmanr(ours, theirs).statistic)


def _holding_line(
    first: Sequence[HomeFigures], second: Sequence[HomeFigures], draws: NDArray[np.bool_]
) -> Line:
    halves = []
    for row in draws:
        parts = [[h for h, inside in zip(second, row, strict=True) if inside is side]
                 for side in (np.True_, np.False_)]  # fmt: skip
        if (value := _correlation(*map(log_odds, parts))) is not None:
            halves.append(value)
    least = min([LEAST_CORRELATION, *([float(np.percentile(halves, 5))] if halves else [])])
    value = _correlation(log_odds(first), log_odds(second))
    words = "which thing is in which room (log odds)"
    return Line(words, None, None, "rank correlation", value, least)


def _body_lines(first: Sequence[HomeFigures], second: Sequence[HomeFigures]) -> list[Line]:
    lines = []
    for body in builtin_bodies():
        mean, theirs = (
            statistics.fmean(found) if found else None
            for found in (
                [h.bodies[body.name] for h in part if h.bodies] for part in (first, second)
            )
        )
        least, most = BODIES_BETWEEN if body.name in SPLIT_BODIES else (None, None)
        words = f"pairs of rooms that {body.name} can travel"
        lines.append(Line(words, mean, theirs, "share", mean, least, most))
    return lines


def _width_line(first: Sequence[HomeFigures], second: Sequence[HomeFigures]) -> Line:
    bodies = [body.width for body in builtin_bodies()]

    def near(homes: Sequence[HomeFigures]) -> float | None:
        widths = [width for home in homes for width in home.door_widths]
        close = [min(abs(w - body) for body in bodies) <= NEAR_BODY + 1e-9 for w in widths]
        return statistics.fmean(close) if close else None

    words = f"doors within {100 * NEAR_BODY:.0f} cm of a body's width"
    return Line(words, near(first), near(second), "share", near(first), LEAST_NEAR)
