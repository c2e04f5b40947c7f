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
from pathlib import Path
from typing import TYPE_CHECKING

from navloom.errors import UsageError
from navloom.evals.report.document import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
        _axis(
            "instruction",
            full,
            part,
            lambda episode: f"number {episode.columns.get('instruction_index', 0)}",
        ),
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
    for name in ("full", "subset", "full share", "subset share", "total variation"):
        table.add_column(name, justify="right")
    for axis in axes:
        for i, ((name, a, b), (_, x, y)) in enumerate(zip(axis.rows, axis.shares, strict=True)):
            head, distance = (axis.name, f"{axis.distance:.4f}") if i == 0 else ("", "")
            table.add_row(head, name, str(a), str(b), percent(x), percent(y), distance)
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
    name: str, full: Sequence[Episode], part: Sequence[Episode], value: Callable[[Episode], str]
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


def _words(episode: Episode) -> float:
    return float(len(episode.instruction.split()))


def _numbers(values: Sequence[float]) -> tuple[float, ...]:
    cuts = np.quantile(values, QUANTILES)
    return tuple(round(float(each), 4) for each in (np.mean(values), *cuts))


_WHOLE, _PART = "#9aa5b1", "#1f6f8b"
_COLUMNS = 2
_MOST_VALUES = 40


def draw_subset(
    axes: Sequence[Axis],
    full: Sequence[Episode],
    part: Sequence[Episode],
    path: Path,
    *,
    title: str = "",
) -> Path:
    """Draw the comparison to a file.

    Args:
        axes: as :func:`navloom.evals.navigation.subset_table.axes_of` gives them.
        full: the whole split.
        part: the subset.
        path: the picture (.png, .svg, .pdf).
        title: above it.

    Raises:
        UsageError: it cannot be written, or its ending is no picture's.
    """
    from matplotlib.figure import Figure

    rows = -(-(len(axes) + 1) // _COLUMNS)
    figure = Figure(figsize=(11, 3.2 * rows), layout="constrained")
    places = figure.subplots(rows, _COLUMNS, squeeze=False).ravel()
    _curve(places[0], full, part)
    for place, axis in zip(places[1:], axes, strict=False):
        _bars(place, axis)
    for place in places[len(axes) + 1 :]:
        place.set_visible(False)
    figure.suptitle(title)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=120)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot draw to {path}: {error}") from error
    return path


def _curve(place: Axes, full: Sequence[Episode], part: Sequence[Episode]) -> None:
    for episodes, colour, name in ((full, _WHOLE, "full"), (part, _PART, "subset")):
        place.ecdf(
            [length_of(episode) for episode in episodes],
            color=colour,
            label=f"{name} ({len(episodes)})",
        )
    place.set_xlabel("path length (m)")
    place.set_ylabel("share of episodes")
    place.legend(frameon=False)


def _bars(place: Axes, axis: Axis) -> None:
    shares = axis.shares[:_MOST_VALUES]
    at = range(len(shares))
    place.bar([x - 0.2 for x in at], [a for _, a, _ in shares], 0.4, color=_WHOLE)
    place.bar([x + 0.2 for x in at], [b for _, _, b in shares], 0.4, color=_PART)
    names = [name.removeprefix("mp3d:")[:20].replace("$", "") for name, _, _ in shares]
    place.set_xticks(list(at), names, rotation=45 if len(shares) > 4 else 0, ha="right" if
                     len(shares) > 4 else "center", fontsize=7)  # fmt: skip
    place.set_title(f"{axis.name}: total variation {axis.distance:.4f}", fontsize=9)
