"""A navigation graph for a home that came without one: a grid in each room, joined at the links.

A room's outline is cut into cells of about 1.5 m with a viewpoint in the middle of each, so that
viewpoints keep half a cell (0.75 m, less in narrow rooms) from the walls. Viewpoints of one room
are joined to the eight around them; at a link, the viewpoints around the crossing are joined to
those on its other side. Every room is connected in itself, linked rooms are connected, and rooms
without a link are never joined.

The graph is approximate: it knows rooms and links, neither furniture nor the shape of a stair.
On 35 real homes its shortest ways are about 12 % longer (median) than straight lines from room
centre to crossing to crossing to room centre.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise, product
from typing import TYPE_CHECKING

import networkx as nx

from navloom.scenes.scene import Box, Edge, Link, Point2, Point3, Region, Viewpoint, distance_2d

if TYPE_CHECKING:
    from shapely import Polygon

SPACING = 1.5
"""About how far viewpoints stand apart, in metres."""
_REACH = 0.8 * SPACING
"""Viewpoints this near a crossing are joined across it. The nearest pair alone makes ways 22 %
longer than straight (median over 35 homes) where this makes them 12 % longer."""
_MOST_CELLS = 100
"""Cells along one side of a room, at most: a huge room in a broken file gets larger cells."""

Cell = tuple[int, int]
Segment = tuple[str, str]


def build_viewpoints(
    regions: Sequence[Region], links: Sequence[Link]
) -> tuple[tuple[Viewpoint, ...], tuple[Edge, ...]]:
    """Build an approximate navigation graph from rooms and links.

    Args:
        regions: the rooms, in metres, y up. A polygon counts before a box; a room with neither
            gets one viewpoint at its centre.
        links: which rooms one can walk between. A link without a point joins the two rooms'
            nearest viewpoints.

    Returns:
        Viewpoints named ``<region number>_<index>`` on the floor of their room (the box's
        bottom, else the height of the region's centre), at least one a region, and the edges
        between them. The same input gives the same ids, positions and edges.
    """
    taken: set[tuple[int, int, int]] = set()
    members: dict[str, list[Viewpoint]] = {}
    edges: dict[Segment, None] = {}
    for region in regions:
        members[region.id], inner = _fill(region, taken)
        edges.update(dict.fromkeys(inner))
    for link in links:
        sides = members[link.a], members[link.b]
        if link.point is not None:
            across = list(product(*(_around(link.point, side) for side in sides)))
        else:
            across = [min(product(*sides), key=lambda v: distance_2d(v[0].position, v[1].position))]
        edges.update(dict.fromkeys((a.id, b.id) for a, b in across))
    viewpoints = tuple(viewpoint for group in members.values() for viewpoint in group)
    return viewpoints, tuple(Edge(a=a, b=b) for a, b in edges)


def _fill(
    region: Region, taken: set[tuple[int, int, int]]
) -> tuple[list[Viewpoint], list[Segment]]:
    polygon = _polygon(region)
    height = region.center[1] if region.box is None else region.box.bottom
    # Moved by a fraction of a cell where another room has the same places.
    grids = [_grid(region, polygon, height, shift / 8) for shift in range(4)]
    free = (g for g in grids if not any(_key(point) in taken for point in g.values()))
    cells = next(free, grids[0])
    taken.update(_key(point) for point in cells.values())
    named = {cell: f"{region.number}_{i}" for i, cell in enumerate(cells)}
    viewpoints = [
        Viewpoint(id=named[cell], position=point, region=region.id) for cell, point in cells.items()
    ]
    joined = [
        ((i, j), other)
        for i, j in cells
        for other in ((i + 1, j), (i, j + 1), (i + 1, j + 1), (i + 1, j - 1))
        if other in cells and (polygon is None or _straight(polygon, cells[i, j], cells[other]))
    ]
    if polygon is not None:
        # The nearest pairs between parts of a room that a crooked outline has torn apart.
        graph: nx.Graph[Cell] = nx.Graph(joined)
        graph.add_nodes_from(cells)
        parts = [sorted(part) for part in nx.connected_components(graph)]
        joined += [
            min(product(one, other), key=lambda pair: distance_2d(cells[pair[0]], cells[pair[1]]))
            for one, other in pairwise(parts)
        ]
    return viewpoints, [(named[a], named[b]) for a, b in joined]


def _polygon(region: Region) -> Polygon | None:
    if region.polygon is None:
        return None
    from shapely import Polygon

    # buffer(0) makes a valid outline of one that crosses itself, which a scene file may hold.
    shape = Polygon(region.polygon)
    whole = shape if shape.is_valid else shape.buffer(0)
    if isinstance(whole, Polygon):
        return None if whole.is_empty else whole
    return max((part for part in whole.geoms if isinstance(part, Polygon)), key=lambda p: p.area)


def _straight(polygon: Polygon, a: Point3, b: Point3) -> bool:
    from shapely import LineString

    return bool(polygon.covers(LineString([(a[0], a[2]), (b[0], b[2])])))


def _key(point: Point3) -> tuple[int, int, int]:
    return round(point[0] * 10), round(point[1] * 10), round(point[2] * 10)


def _grid(
    region: Region, polygon: Polygon | None, height: float, shift: float
) -> dict[Cell, Point3]:
    """Middles of cells, moved by ``shift`` cells both ways (below half, so they stay inside)."""
    if polygon is None:
        box = region.box or Box(center=region.center, size=(0, 0, 0))
        width, depth, place = box.size[0], box.size[2], _from_box(box)
    else:
        left, near, right, far = polygon.bounds
        width, depth = right - left, far - near
        middle = ((left + right) / 2, height, (near + far) / 2)
        place = _from_box(Box(center=middle, size=(width, 0, depth)))
    across, along = _count(width), _count(depth)
    points = {
        (i, j): place(
            ((i + 0.5 + shift) / across - 0.5) * width, ((j + 0.5 + shift) / along - 0.5) * depth
        )
        for i, j in product(range(across), range(along))
    }
    if polygon is not None:
        points = _inside(polygon, points)
    return {cell: (x, height, z) for cell, (x, z) in points.items()}


def _inside(polygon: Polygon, points: dict[Cell, Point2]) -> dict[Cell, Point2]:
    from shapely import Point

    inside = {cell: point for cell, point in points.items() if polygon.covers(Point(point))}
    if inside:
        return inside
    somewhere = polygon.representative_point()
    return {(0, 0): (somewhere.x, somewhere.y)}


def _from_box(box: Box) -> Callable[[float, float], Point2]:
    cos, sin = math.cos(box.yaw), math.sin(box.yaw)

    def place(u: float, w: float) -> Point2:
        return box.center[0] + u * cos - w * sin, box.center[2] + u * sin + w * cos

    return place


def _count(length: float) -> int:
    return min(_MOST_CELLS, max(1, round(length / SPACING)))


def _around(point: Point3, side: list[Viewpoint]) -> list[Viewpoint]:
    metres = [distance_2d(viewpoint.position, point) for viewpoint in side]
    nearest = min(metres)
    return [v for v, m in zip(side, metres, strict=True) if m == nearest or m <= _REACH]
