"""A contact sheet: the plans of many homes on one page, furnished."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from navloom.scenes.plan import draw_into, draw_plan
from navloom.scenes.plan_building import FromAbove
from navloom.scenes.scene import Scene

MOST_PLANS = 24
_CELL = (5.2, 4.4)
"""Inches, width and height."""
_MOST_ACROSS = 4
_ONE = (16.0, 10.0)
_DPI = 100


def draw_sheet(
    scenes: Sequence[Scene],
    *,
    labels: bool = True,
    above: Callable[[Scene], Mapping[int, FromAbove]] | None = None,
) -> Figure:
    """Draw the plans of several homes in rows; a single one as large as a page, floor by floor.

    Args:
        scenes: one home or more, in reading order.
        labels: whether names and colours tell what rooms are for; else rooms are numbers.
        above: gives how a home's floors look from above; they are drawn unless it is given.

    Returns:
        A figure of 100 dots an inch.
    """
    if len(scenes) == 1:
        (scene,) = scenes
        figure = draw_plan(
            scene,
            title=scene.uri,
            items=True,
            labels=labels,
            above=above and above(scene),
            width=_ONE[0],
            height=_ONE[1],
        )
        figure.set_dpi(_DPI)
        return figure
    across = min(_MOST_ACROSS, len(scenes))
    down = -(-len(scenes) // across)
    figure = Figure(figsize=(_CELL[0] * across, _CELL[1] * down), dpi=_DPI)
    FigureCanvasAgg(figure)
    for number, scene in enumerate(scenes):
        row, column = divmod(number, across)
        corner = (column * _CELL[0] + 0.1, (down - 1 - row) * _CELL[1] + 0.1)
        rect = (*corner, _CELL[0] - 0.2, _CELL[1] - 0.2)
        draw_into(
            figure,
            rect,
            scene,
            title=scene.uri,
            items=True,
            legend=False,
            labels=labels,
            above=above and above(scene),
        )
    return figure
