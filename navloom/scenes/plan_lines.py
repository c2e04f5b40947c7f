"""Routes and marks on the plan: whose line it is, which way it runs, where it is carried."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray
from shapely.geometry import LineString

from navloom.scenes.plan_look import (
    ARROW,
    ARROW_CARRYING,
    ARROWS_APART,
    LANE,
    MARKS,
    ROUTES,
    MarkKind,
    RouteLook,
)
from navloom.scenes.plan_names import Disc

Spot = tuple[int, float, float]
"""(floor, x, z): a point of the ground plane in metres, on a floor."""
_OTHER = RouteLook("#444444")


@dataclass(frozen=True)
class Route:
    """One robot's way through a scene.

    Attributes:
        points: (floor, x, z) in metres, in order.
        robot: ``robot_1`` or ``robot_2``.
        carried_from: index of the point from which it carries the object; None: never.
        label: what to call it in words, where that is not its robot.
        numbered: whether the number of each step stands where it led.
    """

    points: tuple[Spot, ...]
    robot: str
    carried_from: int | None = None
    label: str | None = None
    numbered: bool = False


@dataclass(frozen=True)
class Mark:
    """A point that matters: a start, the object, the destination or the handoff.

    Attributes:
        kind: which.
        floor: where it is; ``x`` and ``z`` in metres.
        label: what it is called, which is written beside it.
    """

    kind: MarkKind
    floor: int
    x: float
    z: float
    label: str | None = None


def draw_routes(
    axes: Axes, floor: int, routes: Sequence[Route], spots: Sequence[Disc] = ()
) -> tuple[list[LineString], list[Disc]]:
    """Draw the parts of routes that are on one floor, side by side where they share an edge.

    Args:
        axes: the floor's panel, in paper metres (x right, -z up).
        floor: the floor it shows.
        routes: the whole routes.
        spots: what the words at stairs keep off.

    Returns:
        The lines as drawn, and discs over the words beside them, in paper metres.
    """
    lanes = _lanes(routes)
    metres_a_point = _metres_a_point(axes)
    drawn: list[LineString] = []
    for number, route in enumerate(routes):
        split = len(route.points) if route.carried_from is None else route.carried_from
        for first, last, carried in ((0, split, False), (split, len(route.points) - 1, True)):
            for run in _runs_on(route, first, min(last, len(route.points) - 1), floor):
                shifts = [lanes.get((number, i), 0.0) * metres_a_point for i in run.steps]
                line = _shifted(run.points, shifts)
                if line is not None:
                    _stroke(axes, line, route.robot, carried)
                    drawn.append(LineString(line))
    return drawn, _say_stairs(axes, floor, routes, spots)


class _Run(NamedTuple):
    points: list[tuple[float, float]]
    steps: list[int]


def _runs_on(route: Route, first: int, last: int, floor: int) -> Iterator[_Run]:
    """The stretches of points[first..last] on a floor; a step between floors shows its half."""
    points: list[tuple[float, float]] = []
    steps: list[int] = []
    for i in range(first, last):
        (fa, xa, za), (fb, xb, zb) = route.points[i], route.points[i + 1]
        if floor not in (fa, fb):
            continue
        middle = ((xa + xb) / 2, -(za + zb) / 2)
        a = (xa, -za) if fa == floor else middle
        b = (xb, -zb) if fb == floor else middle
        if points and points[-1] != a:
            yield _Run(points, steps)
            points, steps = [], []
        points = points or [a]
        points.append(b)
        steps.append(i)
        if fb != floor:
            yield _Run(points, steps)
            points, steps = [], []
    if points:
        yield _Run(points, steps)


def _lanes(routes: Sequence[Route]) -> dict[tuple[int, int], float]:
    """How far each step (route, index) lies from its edge's middle, in points.

    The side is counted from the edge's own direction, not the walker's, so that going and coming
    back are told apart as well as two robots are.
    """
    on_edge: dict[tuple[Spot, Spot], list[tuple[int, int]]] = defaultdict(list)
    for number, route in enumerate(routes):
        for i in range(len(route.points) - 1):
            a, b = route.points[i], route.points[i + 1]
            on_edge[min(a, b), max(a, b)].append((number, i))
    lanes: dict[tuple[int, int], float] = {}
    for (a, _), steps in on_edge.items():
        for rank, (number, i) in enumerate(steps):
            side = 1.0 if routes[number].points[i] == a else -1.0
            lanes[number, i] = side * (rank - (len(steps) - 1) / 2) * LANE
    return lanes


def _shifted(
    points: Sequence[tuple[float, float]], shifts: Sequence[float]
) -> list[tuple[float, float]] | None:
    """The polyline with each step moved to its left by its shift (metres), joints in between."""
    kept: list[tuple[float, float]] = [points[0]]
    moves: list[NDArray[np.float64]] = []
    for b, shift in zip(points[1:], shifts, strict=True):
        step = np.subtract(b, kept[-1])
        length = math.hypot(*step)
        if length > 1e-9:
            moves.append(np.array([-step[1], step[0]]) / length * shift)
            kept.append(b)
    if not moves:
        return None
    ends = [moves[0], *((u + v) / 2 for u, v in pairwise(moves)), moves[-1]]
    return [(float(p[0] + m[0]), float(p[1] + m[1])) for p, m in zip(kept, ends, strict=True)]


def _stroke(axes: Axes, line: list[tuple[float, float]], robot: str, carried: bool) -> None:
    look = ROUTES.get(robot, _OTHER)
    width = look.carrying if carried else look.width
    xs, ys = [x for x, _ in line], [y for _, y in line]
    axes.plot(
        xs,
        ys,
        color=look.colour,
        linestyle=(0.0, look.dash) if look.dash else "-",
        linewidth=width,
        solid_joinstyle="round",
        path_effects=[withStroke(linewidth=width + 1.2, foreground="white", alpha=0.7)],
        zorder=3,
    )
    for x, y, angle in _arrows(line, ARROWS_APART * _metres_a_point(axes)):
        axes.plot(
            x,
            y,
            marker=(3, 0, angle - 90),
            ms=ARROW_CARRYING if carried else ARROW,
            mfc=look.colour,
            mec="white",
            mew=0.5,
            ls="",
            zorder=3.5,
        )


def _arrows(
    line: Sequence[tuple[float, float]], every: float
) -> Iterator[tuple[float, float, float]]:
    """(x, y, degrees) along a line, evenly spread, never at a joint's corner."""
    path = LineString(line)
    count = max(1, round(path.length / every))
    for k in range(count):
        along = (k + 0.5) * path.length / count
        behind, ahead = path.interpolate(max(0, along - 0.05)), path.interpolate(along + 0.05)
        spot = path.interpolate(along)
        yield spot.x, spot.y, math.degrees(math.atan2(ahead.y - behind.y, ahead.x - behind.x))


def _say_stairs(
    axes: Axes, floor: int, routes: Sequence[Route], spots: Sequence[Disc]
) -> list[Disc]:
    """Write where routes leave and reach this floor; returns the ground the words take."""
    notes: dict[tuple[float, float, str, str], None] = {}
    for route in routes:
        colour = ROUTES.get(route.robot, _OTHER).colour
        for (fa, xa, za), (fb, xb, zb) in pairwise(route.points):
            if fa != fb and floor in (fa, fb):
                words = f"to floor {fb}" if fa == floor else f"from floor {fa}"
                notes[(xa + xb) / 2, -(za + zb) / 2, words, colour] = None
    metres = _metres_a_point(axes)
    taken: list[Disc] = []
    for x, y, words, colour in notes:
        low = y
        while any(
            -40 * metres - r < x - qx < 40 * metres + r and abs(low - qy) < 7 * metres + r
            for qx, qy, r in [*taken, *spots]
        ):
            low -= 3 * metres
        taken.append((x, low, 0.0))
        axes.annotate(
            words,
            (x, low),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=6,
            color=colour,
            style="italic",
            path_effects=[withStroke(linewidth=2, foreground="white")],
            zorder=6,
        )
    return [(x + k * metres, y, 4 * metres) for x, y, _ in taken for k in (8, 16, 24, 32)]


def draw_marks(axes: Axes, marks: Sequence[Mark]) -> list[Disc]:
    """Draw marks, nudged apart where they would hide one another.

    Returns:
        (x, y, radius) of each as drawn, in paper metres.
    """
    metres_a_point = _metres_a_point(axes)
    placed: list[Disc] = []
    for mark in marks:
        look = MARKS[mark.kind]
        radius = look.size / 2 * metres_a_point
        x, y = _free_spot(mark.x, -mark.z, radius, placed)
        placed.append((x, y, radius))
        axes.plot(
            x, y, look.marker, ms=look.size, mfc=look.colour, mec="black", mew=0.8, zorder=5
        )  # fmt: skip
        if mark.kind in ("start_1", "start_2"):
            axes.annotate(
                mark.kind[-1], (x, y), ha="center", va="center_baseline", fontsize=6.5,
                color="white", weight="bold", zorder=5.5,
            )  # fmt: skip
    return placed


def _free_spot(x: float, y: float, radius: float, placed: Sequence[Disc]) -> tuple[float, float]:
    for ring in range(4):
        for turn in range(8 if ring else 1):
            angle = math.pi / 4 * turn
            px = x + ring * radius * 1.1 * math.cos(angle)
            py = y + ring * radius * 1.1 * math.sin(angle)
            if all(math.hypot(px - qx, py - qy) >= 0.9 * (radius + r) for qx, qy, r in placed):
                return px, py
    return x, y


def _metres_a_point(axes: Axes) -> float:
    """Paper metres that 1/72 inch of the panel stands for."""
    low, high = axes.get_xlim()
    inches = axes.get_position().width * axes.figure.get_figwidth()  # type: ignore[union-attr]
    return float((high - low) / (inches * 72))
