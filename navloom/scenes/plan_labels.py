"""Where a room's name can stand so that it is read: inside its room, off the lines and marks.

Rooms in real homes overlap, are a metre wide, and have routes through them. Each name is tried in
ever smaller settings over the spots of its room; a name that fits nowhere gives way to its room's
number, and the numbers are explained below the floor.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import shapely
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.patheffects import withStroke
from matplotlib.text import Text
from numpy.typing import NDArray
from shapely.geometry import LineString, MultiPolygon, Polygon, box
from shapely.geometry.base import BaseGeometry
from shapely.ops import unary_union

from navloom.scenes.plan_shapes import readable
from navloom.scenes.scene import UNKNOWN

_SIZES = (7.5, 6.5, 5.6)
"""Points; smaller than the last nobody reads."""
_MOST_NAMED = 80
"""Rooms of one floor that are named; where there are more, numbers stand alone."""
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
    spots: Sequence[tuple[float, float, float]] = (),
) -> None:
    """Write the rooms' names into a floor's panel.

    Args:
        axes: the panel, its limits set, in paper metres.
        shapes: region id to what it covers.
        lines: routes, which names avoid where they can.
        spots: (x, y, radius) of marks, which names never cover.
    """
    ground = _Ground(
        unary_union(list(lines)), [box(x - r, y - r, x + r, y + r) for x, y, r in spots]
    )
    if len(shapes) > _MOST_NAMED:
        _number(axes, shapes)
        return
    seen = _visible(shapes)
    numbered: list[str] = []
    # The tightest rooms choose first.
    for region in sorted(shapes, key=lambda r: (seen[r].area, r)):
        setting, at = _choose(axes, region, seen[region], ground)
        if not setting.full and not region.startswith(f"{UNKNOWN}_"):
            numbered.append(region)
        _write(axes, at, setting)
    if numbered:
        _explain(axes, numbered)


def _number(axes: Axes, shapes: Mapping[str, BaseGeometry]) -> None:
    """Numbers alone, each in its room: so many names nobody could read."""
    for region, room in shapes.items():
        at = room.representative_point()
        _write(axes, (at.x, at.y), _Setting(region.rsplit("_", 1)[-1], _SIZES[-1], False))
    _note(axes, f"{len(shapes):,} rooms by their numbers")


def _write(axes: Axes, at: tuple[float, float], setting: _Setting) -> None:
    axes.text(
        *at,
        setting.text,
        fontsize=setting.size,
        ha="center",
        va="center",
        linespacing=1.0,
        color="#1d1d1d",
        weight="normal" if setting.full else "bold",
        path_effects=[withStroke(linewidth=1.8, foreground="white", alpha=0.85)],
        parse_math=False,
        zorder=4,
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
    axes: Axes, region: str, room: BaseGeometry, ground: _Ground
) -> tuple[_Setting, tuple[float, float]]:
    best: tuple[float, _Setting, tuple[float, float], Polygon] | None = None
    inside = _spots(room)
    for setting in _settings(region):
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


def _settings(region: str) -> Iterator[_Setting]:
    if region.startswith(f"{UNKNOWN}_"):
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
