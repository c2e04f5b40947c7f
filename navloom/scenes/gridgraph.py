"""A navigation graph for a home of boxes: a grid in each room, joined at the links.

A room's box is cut into cells of about 1.5 m with a viewpoint in the middle of each, so that
viewpoints keep half a cell (0.75 m, less in narrow rooms) from the walls. Viewpoints of one room
are joined to the eight around them; at a link, the viewpoints around the crossing are joined to
those on its other side. Every room is connected in itself, linked rooms are connected, and rooms
without a link are never joined.

The graph is approximate: it knows rooms and links, neither their shape nor furniture nor stairs;
where those are known, there is :mod:`navloom.scenes.freespace`. On 35 real homes its shortest ways
are about 12 % longer (median) than straight lines from room centre to crossing to crossing to room
centre.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

from navloom.scenes.scene import Box, Edge, Link, Point3, Region, Viewpoint, distance_2d

SPACING = 1.5
"""About how far viewpoints stand apart, in metres."""
_REACH = 0.8 * SPACING
"""Viewpoints this near a crossing are joined across it. The nearest pair alone makes ways 22 %
longer than straight (median over 35 homes) where this makes them 12 % longer."""
_MOST_CELLS = 100
"""Cells along one side of a room, at most: a huge room in a broken file gets larger cells."""

_Cell = tuple[int, int]


def build_viewpoints(
    regions: Sequence[Region], links: Sequence[Link]
) -> tuple[tuple[Viewpoint, ...], tuple[Edge, ...]]:
    """Build an approximate navigation graph from rooms and links.

    Args:
        regions: in metres, y up. One without a box gets one viewpoint at its centre.
        links: which regions one can walk between. A link without a point joins the two regions'
            nearest viewpoints.

    Returns:
        Viewpoints named ``<region number>_<index>`` at the box's bottom, at least one a region,
        and the edges between them. The same input gives the same ids, positions and edges.
    """
    taken: set[tuple[int, ...]] = set()
    members: dict[str, list[Viewpoint]] = {}
    edges: dict[tuple[str, str], None] = {}
    for region in regions:
        cells = _cells(region, taken)
        members[region.id] = list(cells.values())
        for (i, j), viewpoint in cells.items():
            around = ((i + 1, j), (i, j + 1), (i + 1, j + 1), (i + 1, j - 1))
            edges.update(((viewpoint.id, cells[n].id), None) for n in around if n in cells)
    for link in links:
        sides = members[link.a], members[link.b]
        if link.point is not None:
            across = list(product(*(_around(link.point, side) for side in sides)))
        else:
            across = [min(product(*sides), key=lambda v: distance_2d(v[0].position, v[1].position))]
        edges.update(((a.id, b.id), None) for a, b in across)
    viewpoints = tuple(viewpoint for group in members.values() for viewpoint in group)
    return viewpoints, tuple(Edge(a=a, b=b) for a, b in edges)


def _cells(region: Region, taken: set[tuple[int, ...]]) -> dict[_Cell, Viewpoint]:
    """A viewpoint for each cell; moved by a fraction of one where another room has the places."""
    box = region.box or Box(center=region.center, size=(0, 0, 0))
    counts = [min(_MOST_CELLS, max(1, round(box.size[axis] / SPACING))) for axis in (0, 2)]
    height = region.center[1] if region.box is None else box.bottom
    grids = [_middles(box, counts, shift / 8, height) for shift in range(4)]
    free = (grid for grid in grids if taken.isdisjoint(_key(point) for point in grid.values()))
    cells = next(free, grids[0])
    taken.update(_key(point) for point in cells.values())
    return {
        cell: Viewpoint(id=f"{region.number}_{i}", position=point, region=region.id)
        for i, (cell, point) in enumerate(cells.items())
    }


def _middles(box: Box, counts: Sequence[int], shift: float, height: float) -> dict[_Cell, Point3]:
    cos, sin = math.cos(box.yaw), math.sin(box.yaw)
    found: dict[_Cell, Point3] = {}
    for i, j in product(*(range(count) for count in counts)):
        u = ((i + 0.5 + shift) / counts[0] - 0.5) * box.size[0]
        w = ((j + 0.5 + shift) / counts[1] - 0.5) * box.size[2]
        found[i, j] = (box.center[0] + u * cos - w * sin, height, box.center[2] + u * sin + w * cos)
    return found


def _key(point: Point3) -> tuple[int, ...]:
    return tuple(round(each * 10) for each in point)


def _around(point: Point3, side: list[Viewpoint]) -> list[Viewpoint]:
    metres = [distance_2d(viewpoint.position, point) for viewpoint in side]
    nearest = min(metres)
    return [v for v, m in zip(side, metres, strict=True) if m == nearest or m <= _REACH]
