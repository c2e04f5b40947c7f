"""Bars and points as a picture: the blocks that a page draws, for whoever opens a file."""

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
from navloom.evals.report.document import number

_COLOURS = (
    *("#0b62a8", "#e2a10c", "#35a46b", "#c25b9a", "#8c3b2f", "#14787d"),
    *("#7a5ba6", "#d98a6c", "#6b6f1d", "#9aa5b1"),
)
_DPI = 130
_WIDE, _HIGH, _BAR = 5.2, 2.4, 0.24
"""Inches of a panel, without a legend, and of a bar."""
_LEAST_LABEL = 0.05
"""A part narrower than this share of the longest bar gets no number."""
_MOST_NAMES = 12
"""Points of so few names are lines, one a name; of more each is named for itself."""


def chart(blocks: Sequence[Bars | Scatter], title: str = "", *, across: int = 1) -> Figure:
    """Draw each block as a panel; parts and points of one name have one colour in all.

    Args:
        blocks: what is drawn, row by row.
        title: above all panels.
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


def png(blocks: Sequence[Bars | Scatter], title: str = "") -> bytes:
    """The chart as a PNG file, equal for equal blocks."""
    held = BytesIO()
    # Software and date in the file would make equal reports differ.
    chart(blocks, title).savefig(held, format="png", metadata={"Software": None})
    return held.getvalue()


def spread(
    title: str, x: str, y: str, values: Mapping[str, Sequence[float]], most: float = math.inf
) -> Scatter:
    """How numbers are spread: of each that is no larger than ``most`` the share up to it.

    Args:
        title: above it.
        x: what the numbers are.
        y: whose share.
        values: numbers by the name of their set.
        most: beyond it nothing is drawn.
    """
    dots = (
        Dot(value, rank / len(held), name)
        for name, held in values.items()
        for rank, value in enumerate(sorted(held), 1)
        if value <= most
    )
    return Scatter(title=title, x=x, y=y, dots=tuple(dots))


def pairs(title: str, rows: Iterable[tuple[str, float, float]], names: tuple[str, str]) -> Bars:
    """Two numbers of each row as two bars, one under the other.

    Args:
        title: above them.
        rows: a name, and both numbers.
        names: whose the first number is, and whose the second.
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
                said = number(part.count)
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
