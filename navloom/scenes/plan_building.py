"""The building in a floor's panel: rooms, walls, doors, windows, stairs, things, the graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from numpy.typing import NDArray

from navloom.scenes.plan_data import PlanDoor, PlanFloor, PlanItem, PlanLink, PlanRoom, PlanStairs
from navloom.scenes.plan_symbols import Stroke

_WALL, _LEAF, _LOCKED = "#4a4a4a", "#5b5b5b", "#b3261e"


@dataclass(frozen=True, eq=False)
class FromAbove:
    """A picture of a floor from straight above, to be laid under its routes and names.

    Attributes:
        pixels: (height, width, 3) uint8, -z up.
        bounds: the least x, the least y = -z, the greatest x and the greatest y it shows, metres.
    """

    pixels: NDArray[np.uint8]
    bounds: tuple[float, float, float, float]


def draw_building(
    axes: Axes, floor: PlanFloor, *, items: bool, graph: bool, above: FromAbove | None = None
) -> None:
    """Draw a floor without its words.

    Args:
        axes: its panel, in paper metres.
        floor: what to draw.
        items: things, too.
        graph: viewpoints and edges, too.
        above: how it looks from above, in the place of rooms, walls, doors and things.
    """
    if above is not None:
        left, low, right, high = above.bounds
        limits = axes.get_xlim(), axes.get_ylim()
        # Paler than it is: what is drawn upon it is what one looks for.
        axes.imshow(above.pixels, extent=(left, right, low, high), alpha=0.85)
        axes.set(xlim=limits[0], ylim=limits[1])
        if graph:
            _draw_graph(axes, floor)
        return
    # Small rooms lie on top of large ones: boxes overlap in real homes.
    for room in sorted(floor.rooms, key=lambda r: -floor.shapes[r.id].area):
        _draw_room(axes, room)
    for flight in floor.stairs:
        _draw_stairs(axes, flight)
    _draw_walls(axes, floor)
    for door in floor.doors:
        _draw_door(axes, door)
    for link in floor.links:
        _draw_link(axes, link)
    if items:
        for item in floor.items:
            _draw_item(axes, item)
    if graph:
        _draw_graph(axes, floor)


def _draw_room(axes: Axes, room: PlanRoom) -> None:
    for rings in room.parts:
        path = Path.make_compound_path(*(Path(ring, closed=True) for ring in rings))
        # As an artist: a patch has its bounds worked out, and the panel has its limits.
        axes.add_artist(
            PathPatch(path, facecolor=room.tint, edgecolor="#8a8a8a", linewidth=0.8, zorder=1)
        )


def _draw_walls(axes: Axes, floor: PlanFloor) -> None:
    for cut, fill, zorder in ((False, "#ffffff", 1.9), (True, _WALL, 1.95)):
        walls = [wall.corners for wall in floor.walls if wall.cut is cut]
        if walls:
            _areas(axes, walls, fill, _WALL, 0.4, zorder)
    _lines(axes, floor.windows, "#ffffff", 2.4, 1.96)  # of one above the cut no gap tells
    _lines(axes, floor.windows, "#4f8fc0", 1.0, 1.97)


def _draw_door(axes: Axes, door: PlanDoor) -> None:
    _lines(axes, [door.jambs], "#ffffff", 1.6, 1.96)
    _lines(axes, [door.arc] if door.arc else [], "#9a9a9a", 0.4, 1.97)
    if door.leaf is None:
        _lines(axes, [door.jambs], "#9a9a9a", 0.5, 1.97, ":")
    _lines(axes, door.leaves, _LOCKED if door.state == "locked" else _LEAF, 1.0, 1.98)


def _draw_stairs(axes: Axes, flight: PlanStairs) -> None:
    ink = "#b5b5b5" if flight.below else "#777777"
    fill = "none" if flight.below else "#f7f7f7"
    _areas(axes, [*flight.landings, *flight.treads], fill, ink, 0.5, 1.5)
    if not flight.below and len(flight.line) > 1:
        *way, tip = flight.line
        _lines(axes, [flight.line], ink, 0.6, 1.55)
        look: dict[str, Any] = {"arrowstyle": "->", "color": ink, "lw": 0.6}
        axes.annotate("", tip, xytext=way[-1], arrowprops=look, zorder=1.55)


def _draw_link(axes: Axes, link: PlanLink) -> None:
    if link.tie is not None:
        (ax, ay), (bx, by) = link.tie
        axes.plot([ax, bx], [ay, by], ":", color="#777777", lw=0.9, zorder=1.5)
    if link.kind in ("stairs", "elevator"):
        for rung in (-1, 0, 1):
            axes.annotate("–", link.at, xytext=(0, 2.2 * rung), textcoords="offset points",
                          ha="center", va="center", fontsize=8, zorder=2)  # fmt: skip
    else:
        axes.plot(*link.at, "s", ms=3.2, mfc="white", mec="#666666", mew=0.7, zorder=2)


def _draw_item(axes: Axes, item: PlanItem) -> None:
    if not item.outline:
        axes.plot(*item.at, ".", ms=2, color="#777777", zorder=1.8)
        return
    xs, ys = zip(*item.outline, item.outline[0], strict=True)
    told = item.shape is not None
    thin, alpha = 0.35 if item.kind == "object" else 0.5, 1.0 if told else 0.7
    fill = "none" if item.shape == "rug" else "#ffffff"
    ink = "#8a8a8a" if told else "#999999"
    axes.fill(xs, ys, facecolor=fill, edgecolor=ink, lw=thin, alpha=alpha, zorder=1.8)
    _lines(axes, item.strokes, ink, 0.35, 1.8)


def _draw_graph(axes: Axes, floor: PlanFloor) -> None:
    at = floor.viewpoints
    _lines(axes, [(at[a], at[b]) for a, b in floor.edges], "#9aa3ad", 0.5, 1.4)
    axes.plot([x for x, _ in at.values()], [y for _, y in at.values()], ".", ms=2.5,
              color="#7c858f", zorder=1.6)  # fmt: skip


def _areas(
    axes: Axes, corners: Sequence[Stroke], fill: str, ink: str, width: float, zorder: float
) -> None:
    shapes = [list(each) for each in corners]
    drawn = PolyCollection(shapes, facecolors=fill, edgecolors=ink, linewidths=width, zorder=zorder)
    axes.add_collection(drawn, autolim=False)


def _lines(
    axes: Axes, lines: Iterable[Stroke], ink: str, width: float, zorder: float, style: str = "-"
) -> None:
    drawn = [list(line) for line in lines]
    if drawn:
        look = {"colors": ink, "linewidths": width, "linestyles": style}
        axes.add_collection(LineCollection(drawn, zorder=zorder, **look), autolim=False)
