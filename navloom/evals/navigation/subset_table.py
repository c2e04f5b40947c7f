"""How near a subset is to the whole: an axis a table, with shares in both and how far they differ.

The distance is the total variation between the two distributions: half the sum of the absolute
differences of shares, 0 where they agree and 1 where nothing is shared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from navloom.evals.navigation.subset import BINS, bin_edges, length_of
from navloom.evals.tasks.episode import Episode

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["QUANTILES", "Axis", "Spread", "axes_of", "shares_table", "spread_table", "spreads_of"]

QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)
_WORD_BINS = (10, 20, 30, 40)


@dataclass(frozen=True)
class Axis:
    """One way to tell episodes apart.

    Attributes:
        name: of the axis.
        rows: a value, its count in the whole and its count in the subset.
    """

    name: str
    rows: tuple[tuple[str, int, int], ...]

    @property
    def shares(self) -> list[tuple[str, float, float]]:
        """A value, its share of the whole and its share of the subset."""
        whole = sum(count for _, count, _ in self.rows) or 1
        part = sum(count for _, _, count in self.rows) or 1
        return [(name, a / whole, b / part) for name, a, b in self.rows]

    @property
    def distance(self) -> float:
        """The total variation distance between the two."""
        return sum(abs(a - b) for _, a, b in self.shares) / 2

    def to_json(self) -> dict[str, Any]:
        """The axis as JSON."""
        rows = [{"value": name, "full": a, "subset": b} for name, a, b in self.rows]
        return {"axis": self.name, "total_variation": round(self.distance, 4), "rows": rows}


@dataclass(frozen=True)
class Spread:
    """How a number is spread in the whole and in the subset: mean, then ``QUANTILES``."""

    name: str
    full: tuple[float, ...]
    subset: tuple[float, ...]

    def to_json(self) -> dict[str, Any]:
        """The spread as JSON."""
        keys = ("mean", "min", "q25", "median", "q75", "max")
        sides = {"full": self.full, "subset": self.subset}
        return {"of": self.name, **{k: dict(zip(keys, v, strict=True)) for k, v in sides.items()}}


def axes_of(full: Sequence[Episode], part: Sequence[Episode], *, bins: int = BINS) -> list[Axis]:
    """The axes on which a subset is compared with the whole.

    Args:
        full: the whole split.
        part: the subset.
        bins: how many bins of path length.

    Returns:
        Scan, path length, which instruction, words, and category; only axes that have two values
        or more.
    """
    edges = bin_edges(full, bins)
    found = [
        _axis("scene", full, part, lambda episode: episode.scene),
        _axis("path length", full, part, lambda episode: _range(edges, length_of(episode), " m")),
        _axis("instruction", full, part, _which),
        _axis("words", full, part, lambda episode: _range(_WORD_BINS, _words(episode), "")),
        _axis("category", full, part, lambda episode: episode.category or ""),
    ]
    return [axis for axis in found if len(axis.rows) > 1]


def spreads_of(full: Sequence[Episode], part: Sequence[Episode]) -> list[Spread]:
    """Path length in metres and instruction length in words, in the whole and in the subset."""
    numbers: list[tuple[str, Callable[[Episode], float]]] = [
        ("path length (m)", length_of),
        ("instruction (words)", _words),
    ]
    return [
        Spread(name, _numbers([of(e) for e in full]), _numbers([of(e) for e in part]))
        for name, of in numbers
    ]


def shares_table(axes: Sequence[Axis]) -> Table:
    """One table of all axes: a value, counts and shares, and each axis' distance."""
    from rich.table import Table

    table = Table(box=None, header_style="bold")
    table.add_column("axis")
    table.add_column("value", overflow="fold")
    for name in ("full", "subset", "full %", "subset %", "total variation"):
        table.add_column(name, justify="right")
    for axis in axes:
        for i, ((name, a, b), (_, x, y)) in enumerate(zip(axis.rows, axis.shares, strict=True)):
            head, distance = (axis.name, f"{axis.distance:.4f}") if i == 0 else ("", "")
            table.add_row(head, name, str(a), str(b), f"{x:.2%}"[:-1], f"{y:.2%}"[:-1], distance)
    return table


def spread_table(spreads: Sequence[Spread]) -> Table:
    """Means and quantiles of path length and words, the whole above the subset."""
    from rich.table import Table

    table = Table("", "", box=None, header_style="bold")
    for name in ("mean", "min", "25 %", "median", "75 %", "max"):
        table.add_column(name, justify="right")
    for spread in spreads:
        for side, values in (("full", spread.full), ("subset", spread.subset)):
            table.add_row(spread.name, side, *(f"{value:.2f}" for value in values))
    return table


def _axis(
    name: str,
    full: Sequence[Episode],
    part: Sequence[Episode],
    value: Callable[[Episode], str],
) -> Axis:
    whole, some = Counter(map(value, full)), Counter(map(value, part))
    return Axis(name, tuple((each, whole[each], some[each]) for each in sorted(whole, key=_key)))


def _key(value: str) -> tuple[float, str]:
    """Ranges in the order of their numbers, names by name."""
    head = value.lstrip("< ").split()[0] if value.strip() else ""
    try:
        return (-1.0 if value.startswith("<") else float(head)), value
    except ValueError:
        return 0.0, value


def _range(edges: Sequence[float], number: float, unit: str) -> str:
    place = int(np.searchsorted(edges, number, side="right"))
    if not edges:
        return "all"
    if place == 0:
        return f"< {edges[0]:.4g}{unit}"
    if place == len(edges):
        return f"{edges[-1]:.4g}{unit} and more"
    return f"{edges[place - 1]:.4g} to {edges[place]:.4g}{unit}"


def _which(episode: Episode) -> str:
    return f"number {episode.columns.get('instruction_index', 0)}"


def _words(episode: Episode) -> float:
    return float(len(episode.instruction.split()))


def _numbers(values: Sequence[float]) -> tuple[float, ...]:
    cuts = np.quantile(values, QUANTILES)
    return tuple(round(float(each), 4) for each in (np.mean(values), *cuts))
