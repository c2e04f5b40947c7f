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
from navloom.scenes.plan_look import (
    ARC,
    DOOR_GAP,
    EDGE,
    LEAF,
    LINK,
    LINK_SIZE,
    LOCKED_LEAF,
    LOW_WALL,
    OPENING,
    ROOM,
    RUNG_GAP,
    RUNG_SIZE,
    RUNGS,
    STAIRS,
    STAIRS_BELOW,
    STAIRS_LINE,
    STROKE_WIDTH,
    THING_DOT,
    THING_DOT_SIZE,
    TIE,
    VIEWPOINT,
    VIEWPOINT_SIZE,
    WALL,
    WINDOW,
    WINDOW_GAP,
    Ink,
    thing_ink,
)
from navloom.scenes.plan_symbols import Stroke


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
        look = {"facecolor": room.tint, "edgecolor": ROOM.line, "linewidth": ROOM.width}
        # As an artist: a patch has its bounds worked out, and the panel has its limits.
        axes.add_artist(PathPatch(path, zorder=1, **look))


def _draw_walls(axes: Axes, floor: PlanFloor) -> None:
    for cut, ink, zorder in ((False, LOW_WALL, 1.9), (True, WALL, 1.95)):
        walls = [wall.corners for wall in floor.walls if wall.cut is cut]
        if walls:
            _areas(axes, walls, ink, zorder)
    _lines(axes, floor.windows, WINDOW_GAP, 1.96)  # of one above the cut no gap tells
    _lines(axes, floor.windows, WINDOW, 1.97)


def _draw_door(axes: Axes, door: PlanDoor) -> None:
    _lines(axes, [door.jambs], DOOR_GAP, 1.96)
    _lines(axes, [door.arc] if door.arc else [], ARC, 1.97)
    if door.leaf is None:
        _lines(axes, [door.jambs], OPENING, 1.97)
    _lines(axes, door.leaves, LOCKED_LEAF if door.state == "locked" else LEAF, 1.98)


def _draw_stairs(axes: Axes, flight: PlanStairs) -> None:
    _areas(axes, [*flight.landings, *flight.treads], STAIRS_BELOW if flight.below else STAIRS, 1.5)
    if not flight.below and len(flight.line) > 1:
        *way, tip = flight.line
        _lines(axes, [flight.line], STAIRS_LINE, 1.55)
        look: dict[str, Any] = {
            "arrowstyle": "->",
            "color": STAIRS_LINE.line,
            "lw": STAIRS_LINE.width,
        }
        axes.annotate("", tip, xytext=way[-1], arrowprops=look, zorder=1.55)


def _draw_link(axes: Axes, link: PlanLink) -> None:
    if link.tie is not None:
        (ax, ay), (bx, by) = link.tie
        axes.plot([ax, bx], [ay, by], ":", color=TIE.line, lw=TIE.width, zorder=1.5)
    if link.kind in ("stairs", "elevator"):
        for rung in (-1, 0, 1):
            axes.annotate(RUNGS, link.at, xytext=(0, RUNG_GAP * rung), textcoords="offset points",
                          ha="center", va="center", fontsize=RUNG_SIZE, zorder=2)  # fmt: skip
    else:
        axes.plot(*link.at, "s", ms=LINK_SIZE, mfc=LINK.fill, mec=LINK.line, mew=LINK.width,
                  zorder=2)  # fmt: skip


def _draw_item(axes: Axes, item: PlanItem) -> None:
    if not item.outline:
        axes.plot(*item.at, ".", ms=2 * THING_DOT_SIZE, color=THING_DOT, zorder=1.8)
        return
    xs, ys = zip(*item.outline, item.outline[0], strict=True)
    ink = thing_ink(item.kind, item.shape)
    look: dict[str, Any] = {
        "facecolor": ink.fill,
        "edgecolor": ink.line,
        "lw": ink.width,
        "alpha": ink.opacity,
    }
    axes.fill(xs, ys, zorder=1.8, **look)
    _lines(axes, item.strokes, ink._replace(width=STROKE_WIDTH), 1.8)


def _draw_graph(axes: Axes, floor: PlanFloor) -> None:
    at = floor.viewpoints
    _lines(axes, [(at[a], at[b]) for a, b in floor.edges], EDGE, 1.4)
    axes.plot([x for x, _ in at.values()], [y for _, y in at.values()], ".", ms=2 * VIEWPOINT_SIZE,
              color=VIEWPOINT, zorder=1.6)  # fmt: skip


def _areas(axes: Axes, corners: Sequence[Stroke], ink: Ink, zorder: float) -> None:
    shapes = [list(each) for each in corners]
    look: dict[str, Any] = {"facecolors": ink.fill, "edgecolors": ink.line, "linewidths": ink.width}
    axes.add_collection(PolyCollection(shapes, zorder=zorder, **look), autolim=False)


def _lines(axes: Axes, lines: Iterable[Stroke], ink: Ink, zorder: float) -> None:
    drawn = [list(line) for line in lines]
    if drawn:
        look = {"colors": ink.line, "linewidths": ink.width, "linestyles": ":" if ink.dash else "-"}
        axes.add_collection(LineCollection(drawn, zorder=zorder, **look), autolim=False)
