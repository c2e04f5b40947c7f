"""Where a room's name can stand so that it is read: inside its room, off the lines and marks.

Rooms in real homes overlap, are a metre wide, and have routes through them. Each name is tried in
ever smaller settings over the spots of its room; a name that fits nowhere gives way to its room's
number, and the numbers are explained below the floor.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import numpy as np
import shapely
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.patheffects import withStroke
from matplotlib.text import Text
from numpy.typing import NDArray
from shapely.geometry import LineString, MultiPolygon, Point, Polygon, box
from shapely.geometry.base import BaseGeometry
from shapely.ops import unary_union

from navloom.scenes.plan_lines import COLOURS, Disc
from navloom.scenes.plan_shapes import readable
from navloom.scenes.scene import UNKNOWN

_SIZES = (7.5, 6.5, 5.6)
"""Points; smaller than the last nobody reads."""
_MOST_NAMED = 80
"""Rooms of one floor that are named; where there are more, numbers stand alone."""
_INK, _STEP_INK = "#7a1f4b", COLOURS["robot_1"][0]
"""Of the names of things, and of the numbers of steps."""
_GOOD, _BAD = 0.12, 0.55
"""Penalties below which a spot is taken at once, and above which it is not taken at all."""


class _Setting(NamedTuple):
    text: str
    size: float
    full: bool


@dataclass
class _Ground:
    """What a floor's names must keep off."""

    lines: BaseGeometry
    taken: list[Polygon]

    @classmethod
    def of(cls, lines: Sequence[LineString], spots: Sequence[Disc]) -> Self:
        boxes = [box(x - r, y - r, x + r, y + r) for x, y, r in spots]
        return cls(unary_union(list(lines)), boxes)

    def penalties(self, spots: Any, room: BaseGeometry) -> NDArray[np.float64]:
        """One number a spot (an array of boxes): 0 is perfect, 1 and more unreadable."""
        outside = 1 - shapely.area(shapely.intersection(spots, room)) / shapely.area(spots)
        low, high = shapely.bounds(spots)[:, 1], shapely.bounds(spots)[:, 3]
        crossed = shapely.length(shapely.intersection(spots, self.lines)) / (high - low)
        hidden = np.zeros(len(spots), dtype=bool)
        # Of hundreds of names few are near: the others are told by their bounds.
        around = box(*shapely.total_bounds(spots))
        for other in np.array(self.taken)[shapely.intersects(self.taken, around)]:
            hidden |= shapely.intersects(spots, other)
        cost = outside * 1.2 + np.minimum(0.5, 0.12 * crossed)
        return np.asarray(np.where(hidden, 2.0 + cost, cost))


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
    ground = _Ground.of(lines, spots)
    ground.taken += taken
    if len(shapes) > _MOST_NAMED:
        _number(axes, shapes)
        return
    seen = _visible(shapes)
    numbered: list[str] = []
    # The tightest rooms choose first.
    for region in sorted(shapes, key=lambda r: (seen[r].area, r)):
        setting, at = _choose(axes, region, seen[region], ground, notes.get(region))
        if not setting.full and not region.startswith(f"{UNKNOWN}_"):
            numbered.append(region)
        _write(axes, at, setting)
    if numbered:
        _explain(axes, numbered)


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
    ground, panel = _Ground.of(lines, spots), box(*_corners(axes))
    written = []
    for word in sorted(words, key=lambda word: word.step):
        setting = _Setting(_wrap(word.text, 16), 5.8 if word.step else 7.0, True)
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
        _write(axes, (float(x), float(y)), setting, _STEP_INK if word.step else _INK)
        ground.taken.append(boxes[best])
        written.append(boxes[best])
    return written


def _corners(axes: Axes) -> tuple[float, float, float, float]:
    (low_x, high_x), (low_y, high_y) = axes.get_xlim(), axes.get_ylim()
    return low_x, low_y, high_x, high_y


def _number(axes: Axes, shapes: Mapping[str, BaseGeometry]) -> None:
    """Numbers alone, each in its room: so many names nobody could read."""
    for region, room in shapes.items():
        at = room.representative_point()
        _write(axes, (at.x, at.y), _Setting(region.rsplit("_", 1)[-1], _SIZES[-1], False))
    _note(axes, f"{len(shapes):,} rooms by their numbers")


def _write(axes: Axes, at: tuple[float, float], setting: _Setting, ink: str | None = None) -> None:
    axes.text(
        *at,
        setting.text,
        fontsize=setting.size,
        ha="center",
        va="center",
        linespacing=1.0,
        color=ink or "#1d1d1d",
        weight="normal" if setting.full and not ink else "bold",
        path_effects=[withStroke(linewidth=1.8, foreground="white", alpha=0.85)],
        parse_math=False,
        zorder=7 if ink else 4,
    )


def _visible(shapes: Mapping[str, BaseGeometry]) -> dict[str, BaseGeometry]:
    """Each room without the smaller rooms that are drawn over it; whole where nothing is left."""
    order = sorted(shapes, key=lambda r: shapes[r].area)
    seen: dict[str, BaseGeometry] = {}
    near = shapely.STRtree([shapes[r] for r in order])
    for i, region in enumerate(order):
        over = sorted(k for k in near.query(shapes[region], predicate="intersects") if k < i)
        left = shapes[region].difference(unary_union([shapes[order[k]] for k in over]))
        seen[region] = left if left.area > 0.2 * shapes[region].area else shapes[region]
    return seen


def _choose(
    axes: Axes, region: str, room: BaseGeometry, ground: _Ground, note: str | None
) -> tuple[_Setting, tuple[float, float]]:
    best: tuple[float, _Setting, tuple[float, float], Polygon] | None = None
    inside = _spots(room)
    for setting in _settings(region, note):
        # Better a small name than a number, but not a name across other rooms.
        if best is not None and best[1].full and not setting.full and best[0] <= _BAD:
            break
        wide, high = _extent(axes, setting)
        # A number that marks would hide may stand beside its room.
        spots = inside if setting.full else np.vstack([inside, _beside(room, wide, high)])
        x, y = spots[:, 0], spots[:, 1]
        boxes = shapely.box(x - wide / 2, y - high / 2, x + wide / 2, y + high / 2)
        costs = ground.penalties(boxes, room)
        i = int(np.argmin(costs))
        if best is None or costs[i] < best[0] - 1e-9:
            best = (float(costs[i]), setting, (float(x[i]), float(y[i])), boxes[i])
        if best[0] <= _GOOD:
            break
    assert best is not None  # noqa: S101 - there is always a setting and a spot
    _, setting, at, spot = best
    ground.taken.append(spot)
    return setting, at


def _settings(region: str, note: str | None) -> Iterator[_Setting]:
    if region.startswith(f"{UNKNOWN}_"):
        for width in (16, 10) if note else ():
            words = "\n".join([region.rsplit("_", 1)[-1], _wrap(note or "", width)])
            yield _Setting(words, 5.6, True)
        yield _Setting(region.rsplit("_", 1)[-1], 7.5, False)
        return
    words = readable(region if len(region) <= 40 else f"{region[:30]}… {region[-8:]}")
    head, _, number = words.rpartition(" ")
    # The number stays with the last word, but for the narrowest layout.
    kept = f"{head}\u00a0{number}" if head else words
    layouts = dict.fromkeys([_wrap(kept, 14), _wrap(kept, 9), words, _wrap(words, 4)])
    for size in _SIZES:
        for layout in layouts:
            yield _Setting(layout, size, True)
    yield _Setting(region.rsplit("_", 1)[-1], 6.5, False)


def _wrap(words: str, width: int) -> str:
    return "\n".join(textwrap.wrap(words, width, break_long_words=False))


def _spots(room: BaseGeometry) -> NDArray[np.float64]:
    """(n, 2) points inside a room, the roomiest first."""
    parts = list(room.geoms) if isinstance(room, MultiPolygon) else [room]
    largest = max((part for part in parts if isinstance(part, Polygon)), key=lambda p: p.area)
    circle = shapely.maximum_inscribed_circle(largest, max(0.05, largest.length / 200))
    low_x, low_y, high_x, high_y = room.bounds
    xs, ys = np.linspace(low_x, high_x, 13)[1:-1], np.linspace(low_y, high_y, 13)[1:-1]
    grid = np.array([(x, y) for x in xs for y in ys])
    grid = grid[shapely.contains_xy(room, grid[:, 0], grid[:, 1])]
    depth = np.asarray(shapely.distance(shapely.points(grid), room.boundary))
    return np.vstack([circle.coords[0], largest.centroid.coords[0], grid[np.argsort(-depth)]])


def _beside(room: BaseGeometry, wide: float, high: float) -> NDArray[np.float64]:
    low_x, low_y, high_x, high_y = room.bounds
    middle_x, middle_y = (low_x + high_x) / 2, (low_y + high_y) / 2
    right, up = (high_x - low_x + wide) / 2, (high_y - low_y + high) / 2
    sides = ((1, 0), (-1, 0), (0, 1), (0, -1))
    return np.array([(middle_x + a * right, middle_y + b * up) for a, b in sides])


def _extent(axes: Axes, setting: _Setting) -> tuple[float, float]:
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


def _explain(axes: Axes, regions: Sequence[str]) -> None:
    entries = [f"{region.rsplit('_', 1)[-1]} {readable(region)}" for region in sorted(regions)]
    inches = axes.get_position().width * axes.get_figure(root=True).get_figwidth()  # type: ignore[union-attr]
    _note(axes, "\n".join(textwrap.wrap("  ·  ".join(entries), max(20, int(inches * 17)))))


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
        color="#444444",
        parse_math=False,
    )
