"""Matplotlib charts of the bar and scatter blocks that pages draw."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from itertools import cycle

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from navloom.evals.report.blocks import Bars, Dot, Scatter, Segment
from navloom.evals.report.formatting import format_number

_COLOURS = (
    *("#0b62a8", "#e2a10c", "#35a46b", "#c25b9a", "#8c3b2f", "#14787d"),
    *("#7a5ba6", "#d98a6c", "#6b6f1d", "#9aa5b1"),
)
_DPI = 130
_WIDE, _HIGH, _BAR = 5.2, 2.4, 0.24
"""Inches: panel width and height without legend, and height of a bar."""
_LEAST_LABEL = 0.05
"""Segments narrower than this share of the longest bar get no number."""
_MOST_NAMES = 12
"""Up to this many names of points are drawn as one line each; more are drawn as dots."""


def draw_chart(blocks: Sequence[Bars | Scatter], title: str = "", *, across: int = 1) -> Figure:
    """Return a figure with a panel for each block; a name has the same colour in all panels.

    Args:
        blocks: the blocks, row by row.
        title: title above all panels.
        across: panels in a row.
    """
    lines = [blocks[at : at + across] for at in range(0, len(blocks), across)]
    heights = [max(map(_height, line)) for line in lines]
    size = (max(2, across) * _WIDE, sum(heights) + 0.8)
    figure = Figure(figsize=size, layout="constrained", dpi=_DPI)
    FigureCanvasAgg(figure)
    panels = figure.subplots(len(lines), across, squeeze=False, height_ratios=heights).ravel()
    names = dict.fromkeys(name for block in blocks for name in _names(block))
    colours = dict(zip(names, cycle(_COLOURS), strict=False))
    for axes, block in zip(panels, blocks, strict=False):
        axes.set_title(block.title, fontsize=8.5, loc="left")
        axes.tick_params(labelsize=7)
        if isinstance(block, Bars):
            _bars(axes, block, colours)
        else:
            _dots(axes, block, colours)
    for axes in panels[len(blocks) :]:
        axes.set_axis_off()
    handles = [Patch(facecolor=colour, label=name) for name, colour in colours.items()]
    figure.legend(handles=handles, loc="outside lower center", ncol=6, frameon=False, fontsize=8)
    figure.suptitle(title, fontsize=10)
    return figure


def chart_png(blocks: Sequence[Bars | Scatter], title: str = "") -> bytes:
    """Return the chart as a PNG file, identical for equal blocks."""
    held = BytesIO()
    # Software and date in the file would make equal reports differ.
    draw_chart(blocks, title).savefig(held, format="png", metadata={"Software": None})
    return held.getvalue()


def cumulative_scatter(
    title: str, x: str, y: str, values: Mapping[str, Sequence[float]], most: float = math.inf
) -> Scatter:
    """Make a scatter block of the cumulative distributions of numbers up to ``most``.

    Args:
        title: title of the block.
        x: label of the numbers.
        y: label of the shares.
        values: numbers by the name of their set.
        most: upper end of the plot.
    """
    dots = (
        Dot(value, rank / len(held), name)
        for name, held in values.items()
        for rank, value in enumerate(sorted(held), 1)
        if value <= most
    )
    return Scatter(title=title, x=x, y=y, dots=tuple(dots))


def paired_bars(
    title: str, rows: Iterable[tuple[str, float, float]], names: tuple[str, str]
) -> Bars:
    """Make bars of two numbers for each row, one under the other.

    Args:
        title: title of the block.
        rows: a name and two numbers each.
        names: names of the first and the second number.
    """
    bars = (
        (row if not at else "", (Segment(names[at], count),))
        for row, *counts in rows
        for at, count in enumerate(counts)
    )
    return Bars(title=title, bars=tuple(bars), unit="share")


def _height(block: Bars | Scatter) -> float:
    return max(_HIGH, 0.7 + _BAR * len(block.bars)) if isinstance(block, Bars) else _HIGH


def _names(block: Bars | Scatter) -> Sequence[str]:
    if isinstance(block, Bars):
        return [part.name for _, parts in block.bars for part in parts]
    names = list(dict.fromkeys(dot.name for dot in block.dots))
    return names if len(names) <= _MOST_NAMES else ()


def _bars(axes: Axes, block: Bars, colours: dict[str, str]) -> None:
    longest = max((sum(part.count for part in parts) for _, parts in block.bars), default=0) or 1
    for row, (_, parts) in enumerate(block.bars):
        left = 0.0
        for part in parts:
            colour = colours[part.name]
            axes.barh(row, part.count, left=left, height=0.7, color=colour, ec="white", lw=0.6)
            if part.count / longest >= _LEAST_LABEL:
                said = format_number(part.count)
                middle = (left + part.count / 2, row)
                axes.text(*middle, said, ha="center", va="center", fontsize=7, color="white")
            left += part.count
    axes.set_yticks(range(len(block.bars)), [name for name, _ in block.bars], fontsize=7)
    axes.set_ylim(len(block.bars) - 0.4, -0.6)
    axes.set_xlabel(block.unit, fontsize=7)


def _dots(axes: Axes, block: Scatter, colours: dict[str, str]) -> None:
    names = _names(block)
    for name in names:
        held = [dot for dot in block.dots if dot.name == name]
        axes.step([d.x for d in held], [d.y for d in held], colours[name], where="post")
    if not names:
        at = [dot.x for dot in block.dots], [dot.y for dot in block.dots]
        axes.plot(*at, ".", ms=3, color=_COLOURS[0])
    if block.diagonal:
        axes.axline((0, 0), slope=1, color="#b9c0c7", lw=0.6)
    axes.set_xlabel(block.x, fontsize=7)
    axes.set_ylabel(block.y, fontsize=7)
