"""Exact geometry of rectilinear shapes in whole millimetres: outlines, insets, walls between cells.

A cell is a union of rectangles up to the centre lines of the walls. A room's outline is its cell
inset by half a wall.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from navloom_worlds.homes.floorplan import Outline, Spot

Rect = tuple[int, int, int, int]
"""(x0, z0, x1, z1), the minimum corner first."""
Axis = Literal["x", "z"]
HALF = 50
"""Half the thickness of an inner wall: from the cell's edge to the wall face."""


@dataclass(frozen=True)
class WallStretch:
    """Straight stretch of wall with the same cell along each side.

    Attributes:
        axis: the axis along which it runs.
        at: its coordinate on the other axis.
        lo: its start.
        hi: its end.
        minus: the cell on the side of smaller coordinates; None for outdoors.
        plus: the cell on the other side.
    """

    axis: Axis
    at: int
    lo: int
    hi: int
    minus: int | None
    plus: int | None

    @property
    def length(self) -> int:
        """Length in mm."""
        return self.hi - self.lo

    def other(self, cell: int) -> int | None:
        """Return the cell on the other side of the wall."""
        return self.plus if self.minus == cell else self.minus

    def inward(self, cell: int) -> int:
        """Return the sign of the direction from the wall into one of the cells at its sides."""
        return 1 if self.plus == cell else -1

    def spot(self, along: int, across: int = 0) -> Spot:
        """Return the point at a position along the wall and an offset from its centre line."""
        return (along, self.at + across) if self.axis == "x" else (self.at + across, along)

    def rect(self, lo: int, hi: int, near: int, far: int) -> Rect:
        """Return a rectangle beside the wall, from ``near`` to ``far`` off its centre line."""
        return to_rect((self.spot(lo, near), self.spot(hi, far)))


def to_rect(spots: Iterable[Spot]) -> Rect:
    """Return the bounding rectangle of some points."""
    xs, zs = zip(*spots, strict=True)
    return min(xs), min(zs), max(xs), max(zs)


def rect_outline(rect: Rect) -> Outline:
    """Return a rectangle as an outline."""
    x0, z0, x1, z1 = rect
    return (x0, z0), (x1, z0), (x1, z1), (x0, z1)


def rect_centre(rect: Rect) -> Spot:
    """Return the centre of a rectangle, rounded down to whole mm."""
    return (rect[0] + rect[2]) // 2, (rect[1] + rect[3]) // 2


def expand_rect(rect: Rect, by: int) -> Rect:
    """Return a rectangle expanded by a margin."""
    x0, z0, x1, z1 = rect
    return x0 - by, z0 - by, x1 + by, z1 + by


def rects_overlap(a: Rect, b: Rect) -> bool:
    """Check whether two rectangles share more than an edge."""
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def outline_edges(outline: Outline) -> list[tuple[Spot, Spot]]:
    """Return the edges of an outline, the closing edge last."""
    return list(zip(outline, outline[1:] + outline[:1], strict=True))


def outline_area(outline: Outline) -> int:
    """Return the area of an outline in square millimetres."""
    return abs(sum(x0 * z1 - x1 * z0 for (x0, z0), (x1, z1) in outline_edges(outline))) // 2


def union_outline(rects: Sequence[Rect]) -> Outline | None:
    """Return the outline of the union of rectangles, clockwise on the page.

    Returns:
        None if they form no simple polygon: separate parts, parts touching in a point, or a hole.
    """
    if len(rects) == 1:
        return rect_outline(rects[0])
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
        at = rect_outline((xs[i], zs[j], xs[i + 1], zs[j + 1]))
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


def inset_outline(outline: Outline, by: int) -> Outline:
    """Return an outline (clockwise on the page) moved inwards; outwards if ``by`` is negative."""
    ways = [unit_direction(a, b) for a, b in outline_edges(outline)]
    return tuple(
        (x - by * (before[1] + after[1]), z + by * (before[0] + after[0]))
        for (x, z), before, after in zip(outline, ways[-1:] + ways[:-1], ways, strict=True)
    )


def unit_direction(a: Spot, b: Spot) -> Spot:
    """Return the direction from one corner to the next: -1, 0 or 1 along each axis."""
    dx, dz = b[0] - a[0], b[1] - a[1]
    return (dx > 0) - (dx < 0), (dz > 0) - (dz < 0)


def is_rect_inside(outer: Rect, inner: Rect) -> bool:
    """Check whether a rectangle lies in another; it may touch its edge."""
    return (
        outer[0] <= inner[0]
        and outer[1] <= inner[1]
        and inner[2] <= outer[2]
        and inner[3] <= outer[3]
    )


def covers_rect(outline: Outline, rect: Rect) -> bool:
    """Check whether a rectangle lies in a rectilinear outline; it may touch its edge."""
    x0, z0, x1, z1 = rect
    inside = False
    x, z = x0 + x1, z0 + z1
    for (ax, az), (bx, bz) in outline_edges(outline):
        if rects_overlap((min(ax, bx), min(az, bz), max(ax, bx), max(az, bz)), rect):
            return False
        if ax == bx and 2 * ax > x and min(az, bz) * 2 <= z < max(az, bz) * 2:
            inside = not inside
    return inside


def wall_stretches(outlines: Mapping[int, Outline]) -> list[WallStretch]:
    """Return all walls of cells that fill a storey without gaps.

    Args:
        outlines: cell outlines by number, clockwise on the page, not overlapping.

    Returns:
        Ordered by axis, coordinate and start; each as long as its cells on both sides are the same.
    """
    lines: dict[tuple[Axis, int], list[tuple[int, int, int, bool]]] = defaultdict(list)
    for cell, outline in outlines.items():
        for (ax, az), (bx, bz) in outline_edges(outline):
            if az == bz:
                lines["x", az].append((min(ax, bx), max(ax, bx), cell, bx > ax))
            else:
                lines["z", ax].append((min(az, bz), max(az, bz), cell, bz < az))
    return [
        stretch
        for (axis, at), pieces in sorted(lines.items())
        for stretch in _along(axis, at, pieces)
    ]


def _along(axis: Axis, at: int, pieces: list[tuple[int, int, int, bool]]) -> list[WallStretch]:
    found: list[WallStretch] = []
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
            found[-1] = WallStretch(axis, at, last.lo, hi, sides[0], sides[1])
        else:
            found.append(WallStretch(axis, at, lo, hi, sides[0], sides[1]))
    return found
