"""What lines and marks of a plan mean: one line or two below a plan, or once for many of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from navloom.scenes.plan_lines import Mark, Route
from navloom.scenes.plan_look import MARKS, ROUTES

Rect = tuple[float, float, float, float]
"""(left, bottom, width, height) in inches from the figure's lower left corner."""

_LINE, _ENTRY = 0.19, 1.02
"""Inches of a legend's line, and of one of its entries."""


def legend_handles(routes: Sequence[Route], marks: Sequence[Mark]) -> list[Line2D]:
    """An entry for each robot, line and mark that occurs."""
    handles: list[Line2D] = []
    for robot in ("robot_1", "robot_2"):
        words = next((route.label or robot for route in routes if route.robot == robot), None)
        if words is not None:
            line = ROUTES[robot]
            style = (0.0, line.dash) if line.dash else "-"
            handles.append(Line2D([], [], color=line.colour, ls=style, lw=1.3, label=words))
    if any(route.carried_from is not None for route in routes):
        handles.append(Line2D([], [], color="#555555", lw=3, label="thick: carrying"))
    for kind, look in MARKS.items():
        if any(mark.kind == kind for mark in marks):
            size = min(9.0, 0.8 * look.size)
            handle = Line2D([], [], ls="", marker=look.marker, ms=size, label=look.says)
            handle.set(markerfacecolor=look.colour, markeredgecolor="black", markeredgewidth=0.6)
            handles.append(handle)
    return handles


def legend_height(entries: int, width: float, size: float = 7) -> float:
    """Inches that a legend of so many entries takes, in a place so many inches wide."""
    return size / 7 * _LINE * _rows(entries, width, size) + 0.06


def _rows(entries: int, width: float, size: float) -> int:
    return math.ceil(entries / max(1, int(width / (_ENTRY * size / 7))))


def draw_legend(figure: Figure, rect: Rect, handles: Sequence[Line2D], size: float = 7) -> None:
    """Write a legend at the foot of a part of a figure, in letters of ``size`` points."""
    middle = (rect[0] + rect[2] / 2) / figure.get_figwidth()
    rows = _rows(len(handles), rect[2], size)
    figure.legend(
        handles=handles,
        loc="lower center",
        bbox_to_anchor=(middle, (rect[1] + 0.04) / figure.get_figheight()),
        ncol=math.ceil(len(handles) / rows),
        frameon=False,
        fontsize=size,
        handlelength=2.2,
        columnspacing=1.2,
        borderaxespad=0,
        borderpad=0,
    )


def legend_strip(routes: Sequence[Route], marks: Sequence[Mark]) -> Figure:
    """A legend alone, for plans that stand together without any; a phone is wide enough."""
    handles, width, size = legend_handles(routes, marks), 5.0, 8.5
    high = legend_height(len(handles), width, size)
    figure = Figure(figsize=(width, high), dpi=170)
    draw_legend(figure, (0.0, 0.0, width, high), handles, size)
    return figure
