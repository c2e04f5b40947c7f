"""Exact geometry of rectilinear shapes in whole millimetres: outlines, insets, walls between cells.

A cell is a union of rectangles up to the middle lines of the walls; a room's outline is its cell
drawn in by half a wall.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from navloom_worlds.homes.floorplan import Outline, Spot

Rect = tuple[int, int, int, int]
"""(x0, z0, x1, z1), the lesser corner first."""
Axis = Literal["x", "z"]
HALF = 50
"""Half an inner wall: from the cell's edge to the face."""


@dataclass(frozen=True)
class Stretch:
    """A straight stretch of wall with one thing on either side.

    Attributes:
        axis: along which it runs.
        at: the other coordinate.
        lo: where it begins.
        hi: where it ends.
        minus: the cell on the lesser side; None for outdoors.
        plus: the cell on the greater side.
    """

    axis: Axis
    at: int
    lo: int
    hi: int
    minus: int | None
    plus: int | None

    @property
    def length(self) -> int:
        """From end to end, in mm."""
        return self.hi - self.lo

    def other(self, cell: int) -> int | None:
        """What lies across the wall from one of its two cells."""
        return self.plus if self.minus == cell else self.minus

    def inward(self, cell: int) -> int:
        """The sign of the way from the wall into one of its two cells."""
        return 1 if self.plus == cell else -1

    def spot(self, along: int, across: int = 0) -> Spot:
        """A point so far along the axis and so far off the middle line."""
        return (along, self.at + across) if self.axis == "x" else (self.at + across, along)

    def rect(self, lo: int, hi: int, near: int, far: int) -> Rect:
        """A rectangle beside the wall, from ``near`` to ``far`` off its middle line."""
        return rect_of((self.spot(lo, near), self.spot(hi, far)))


def rect_of(spots: Iterable[Spot]) -> Rect:
    """The smallest rectangle around some points."""
    xs, zs = zip(*spots, strict=True)
    return min(xs), min(zs), max(xs), max(zs)


def corners(rect: Rect) -> Outline:
    """A rectangle as an outline."""
    x0, z0, x1, z1 = rect
    return (x0, z0), (x1, z0), (x1, z1), (x0, z1)


def centre_of(rect: Rect) -> Spot:
    """The middle of a rectangle, to the millimetre below."""
    return (rect[0] + rect[2]) // 2, (rect[1] + rect[3]) // 2


def grown(rect: Rect, by: int) -> Rect:
    """A rectangle with a margin around it."""
    x0, z0, x1, z1 = rect
    return x0 - by, z0 - by, x1 + by, z1 + by


def overlap(a: Rect, b: Rect) -> bool:
    """Whether two rectangles share more than an edge."""
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def edges(outline: Outline) -> list[tuple[Spot, Spot]]:
    """The sides of an outline, the one back to its first corner last."""
    return list(zip(outline, outline[1:] + outline[:1], strict=True))


def area(outline: Outline) -> int:
    """Square millimetres."""
    return abs(sum(x0 * z1 - x1 * z0 for (x0, z0), (x1, z1) in edges(outline))) // 2


def union(rects: Sequence[Rect]) -> Outline | None:
    """The outline of some rectangles together, clockwise on the page.

    Returns:
        None where they are no single simple shape: parts apart or touching in a point, a hole.
    """
    if len(rects) == 1:
        return corners(rects[0])
    xs = sorted({x for r in rects for x in (r[0], r[2])})
    zs = sorted({z for r in rects for z in (r[1], r[3])})
    column = {x: i for i, x in enumerate(xs)}
    row = {z: j for j, z in enumerate(zs)}
    filled = {
        (i, j)
        for r in rects
        for i in range(column[r[0]], column[r[2]])
        for j in range(row[r[1]], row[r[3]])
    }
    after: dict[Spot, Spot] = {}
    for i, j in sorted(filled):
        at = corners((xs[i], zs[j], xs[i + 1], zs[j + 1]))
        beside = ((i, j - 1), (i + 1, j), (i, j + 1), (i - 1, j))
        for k, neighbour in enumerate(beside):
            if neighbour not in filled:
                if at[k] in after:
                    return None
                after[at[k]] = at[(k + 1) % 4]
    return _loop(after)


def _loop(after: Mapping[Spot, Spot]) -> Outline | None:
    first = min(after)
    path = [first]
    while (following := after[path[-1]]) != first:
        path.append(following)
    if len(path) != len(after):
        return None
    turns = zip(path[-1:] + path[:-1], path, path[1:] + path[:1], strict=True)
    return tuple(b for a, b, c in turns if (a[0] == b[0]) != (b[0] == c[0]))


def inset(outline: Outline, by: int) -> Outline:
    """An outline (clockwise on the page) drawn in by so much; out, where ``by`` is below 0."""
    ways = [direction(a, b) for a, b in edges(outline)]
    return tuple(
        (x - by * (before[1] + after[1]), z + by * (before[0] + after[0]))
        for (x, z), before, after in zip(outline, ways[-1:] + ways[:-1], ways, strict=True)
    )


def direction(a: Spot, b: Spot) -> Spot:
    """The way from one corner to the next: -1, 0 or 1 along each axis."""
    dx, dz = b[0] - a[0], b[1] - a[1]
    return (dx > 0) - (dx < 0), (dz > 0) - (dz < 0)


def within(outer: Rect, inner: Rect) -> bool:
    """Whether a rectangle lies in another; it may touch its edge."""
    return (
        outer[0] <= inner[0]
        and outer[1] <= inner[1]
        and inner[2] <= outer[2]
        and inner[3] <= outer[3]
    )


def covers(outline: Outline, rect: Rect) -> bool:
    """Whether a rectangle lies in a rectilinear shape; it may touch its edge."""
    x0, z0, x1, z1 = rect
    inside = False
    x, z = x0 + x1, z0 + z1
    for (ax, az), (bx, bz) in edges(outline):
        if overlap((min(ax, bx), min(az, bz), max(ax, bx), max(az, bz)), rect):
            return False
        if ax == bx and 2 * ax > x and min(az, bz) * 2 <= z < max(az, bz) * 2:
            inside = not inside
    return inside


def stretches(outlines: Mapping[int, Outline]) -> list[Stretch]:
    """All walls of some cells that fill a storey without gaps between them.

    Args:
        outlines: of cells by number, clockwise on the page, not overlapping.

    Returns:
        In order of axis, place and beginning; each as long as both sides stay the same.
    """
    lines: dict[tuple[Axis, int], list[tuple[int, int, int, bool]]] = defaultdict(list)
    for cell, outline in outlines.items():
        for (ax, az), (bx, bz) in edges(outline):
            if az == bz:
                lines["x", az].append((min(ax, bx), max(ax, bx), cell, bx > ax))
            else:
                lines["z", ax].append((min(az, bz), max(az, bz), cell, bz < az))
    return [
        stretch
        for (axis, at), pieces in sorted(lines.items())
        for stretch in _along(axis, at, pieces)
    ]


def _along(axis: Axis, at: int, pieces: list[tuple[int, int, int, bool]]) -> list[Stretch]:
    found: list[Stretch] = []
    ends = sorted({end for piece in pieces for end in piece[:2]})
    for lo, hi in itertools.pairwise(ends):
        sides: list[int | None] = [None, None]
        for begin, end, cell, plus in pieces:
            if begin <= lo and hi <= end:
                sides[plus] = cell
        if sides == [None, None]:
            continue
        last = found[-1] if found else None
        if last and last.hi == lo and [last.minus, last.plus] == sides:
            found[-1] = Stretch(axis, at, last.lo, hi, sides[0], sides[1])
        else:
            found.append(Stretch(axis, at, lo, hi, sides[0], sides[1]))
    return found
