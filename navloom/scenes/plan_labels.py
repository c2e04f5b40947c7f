"""Words on a floor's panel: rooms' names, the names of things, the numbers of steps."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import shapely
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.patheffects import withStroke
from matplotlib.text import Text
from shapely.geometry import LineString, Point, Polygon, box
from shapely.geometry.base import BaseGeometry

from navloom.scenes.plan_look import HALO, HALO_OPACITY, KEY, NAME, ROUTES, THING_NAME
from navloom.scenes.plan_names import Disc, Ground, Setting, choose_names, explained, wrapped

_STEP_INK = ROUTES["robot_1"].colour
"""Of the names of things, and of the numbers of steps."""
_GOOD, _BAD = 0.12, 0.55
"""Penalties below which a spot is taken at once, and above which it is not taken at all."""


def place_labels(
    axes: Axes,
    shapes: Mapping[str, BaseGeometry],
    *,
    lines: Sequence[LineString] = (),
    spots: Sequence[Disc] = (),
    taken: Sequence[Polygon] = (),
    notes: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Write the rooms' names into a floor's panel.

    Args:
        axes: the panel, its limits set, in paper metres.
        shapes: region id to what it covers.
        lines: routes, which names avoid where they can.
        spots: (x, y, radius) of marks, which names never cover.
        taken: other ground that names never cover.
        notes: what helps to know a room of unknown type by, by its id.
    """
    names, numbered = choose_names(
        shapes, partial(_extent, axes), lines=lines, spots=spots, taken=taken, notes=notes
    )
    for name in names:
        _write(axes, name.at, name.setting)
    entries = explained(len(shapes), numbered)
    if entries:
        inches = axes.get_position().width * axes.get_figure(root=True).get_figwidth()  # type: ignore[union-attr]
        _note(axes, "\n".join(textwrap.wrap("  ·  ".join(entries), max(20, int(inches * 17)))))


class Word(NamedTuple):
    """What is written beside a point of the plan: the name of what is there, or a step's number."""

    text: str
    x: float
    y: float
    radius: float
    step: bool = False


def place_words(
    axes: Axes,
    shapes: Mapping[str, BaseGeometry],
    words: Sequence[Word],
    *,
    lines: Sequence[LineString],
    spots: Sequence[Disc],
) -> list[Polygon]:
    """Write words beside their points, names before numbers.

    Args:
        axes: the panel, its limits set, in paper metres.
        shapes: region id to what it covers: words stay in the room of their point where they can.
        words: what to write.
        lines: routes, which words avoid where they can.
        spots: (x, y, radius) of marks, which words never cover.

    Returns:
        The ground they take.
    """
    ground, panel = Ground.of(lines, spots), box(*_corners(axes))
    written = []
    for word in sorted(words, key=lambda word: word.step):
        setting = Setting(wrapped(word.text, 16), 5.8 if word.step else 7.0, True)
        wide, high = _extent(axes, setting)
        gap = 0.15 * high
        ways = np.array(
            [(1, 0), (-1, 0), (0, 1), (0, -1), (0.8, 1), (-0.8, 1), (0.8, -1), (-0.8, -1)]
        )
        reach = [word.radius + gap + wide / 2, word.radius + gap + high / 2]
        rings = np.repeat([1.0, 1.35, 1.8, 2.4], len(ways))
        at = np.array([word.x, word.y]) + np.tile(ways, (4, 1)) * reach * rings[:, None]
        half = np.array([wide, high]) / 2
        boxes = shapely.box(*(at - half).T, *(at + half).T)
        here = Point(word.x, word.y)
        room = next((each for each in shapes.values() if each.intersects(here)), panel)
        abroad = 1 - shapely.area(shapely.intersection(boxes, room)) / shapely.area(boxes)
        cost = ground.penalties(boxes, panel) + 0.2 * abroad + 0.25 * (rings - 1)
        best = int(np.argmin(cost))
        x, y = at[best]
        _write(axes, (float(x), float(y)), setting, _STEP_INK if word.step else THING_NAME)
        ground.taken.append(boxes[best])
        written.append(boxes[best])
    return written


def _corners(axes: Axes) -> tuple[float, float, float, float]:
    (low_x, high_x), (low_y, high_y) = axes.get_xlim(), axes.get_ylim()
    return low_x, low_y, high_x, high_y


def _write(axes: Axes, at: tuple[float, float], setting: Setting, ink: str | None = None) -> None:
    axes.text(
        *at,
        setting.text,
        fontsize=setting.size,
        ha="center",
        va="center",
        linespacing=1.0,
        color=ink or NAME,
        weight="normal" if setting.full and not ink else "bold",
        path_effects=[withStroke(linewidth=HALO, foreground="white", alpha=HALO_OPACITY)],
        parse_math=False,
        zorder=7 if ink else 4,
    )


def _extent(axes: Axes, setting: Setting) -> tuple[float, float]:
    """Width and height of a text in paper metres."""
    figure = axes.get_figure(root=True)
    assert figure is not None  # noqa: S101 - axes of a plan are always on a figure
    canvas = figure.canvas
    assert isinstance(canvas, FigureCanvasAgg)  # noqa: S101 - draw_into sees to it
    text = Text(0, 0, setting.text, fontsize=setting.size, figure=figure, parse_math=False)
    text.set_linespacing(1.0)
    renderer = canvas.get_renderer()  # type: ignore[no-untyped-call]
    pixels = text.get_window_extent(renderer, dpi=figure.dpi)
    low, high = axes.get_xlim()
    metres = (high - low) / (axes.get_position().width * figure.get_figwidth() * figure.dpi)
    pad = 1.5 * figure.dpi / 72
    return (pixels.width + 2 * pad) * metres, (pixels.height + pad) * metres


def _note(axes: Axes, words: str) -> None:
    axes.annotate(
        words,
        (0.5, 0),
        xycoords="axes fraction",
        xytext=(0, -3),
        textcoords="offset points",
        ha="center",
        va="top",
        fontsize=5.6,
        color=KEY,
        parse_math=False,
    )
