"""Navigation graph of a level floor: places viewpoints on free floor and joins them by edges.

Viewpoints stand about every two metres on the free floor. An edge is a straight path over it. If
obstacles hide two parts of a floor from each other, viewpoints are added at the corners of the
shortest path between them. The caller supplies the free floor: from a home's true geometry
(:mod:`navloom_worlds.homes.viewpoint_placement`), from boxes (:mod:`navloom.scenes.box_graph`) or
from a mesh (:mod:`navloom_worlds.geometry.walkable_area`).

The module also computes the visibility graph on which shortest paths around furniture are found.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise

import networkx as nx
import numpy as np
import shapely
from shapely import Polygon
from shapely.geometry.base import BaseGeometry

from navloom.errors import SceneError
from navloom.scenes.scene import Edge, Point2, Point3, Viewpoint, distance_2d

_SLACK = 0.002
"""Metres, more than rounding to millimetres may move a corner."""


def visibility_graph(floor: Polygon, points: Sequence[Point2]) -> tuple[Polygon, nx.Graph[Point2]]:
    """Return the visibility graph of points on a floor and the floor's reflex corners.

    Args:
        floor: a polygon. Shortest paths over it bend only at its reflex corners.
        points: positions on it.

    Returns:
        The floor, grown by a slack for corners rounded to millimetres and prepared for coverage
        tests. The graph of the points and corners, each edge with its ``metres``.
    """
    roomy = floor.buffer(_SLACK, join_style="mitre")
    shapely.prepare(roomy)
    nodes = list(dict.fromkeys([*points, *_inner_corners(floor)]))
    places = np.array(nodes)
    first, second = np.triu_indices(len(nodes), 1)
    ways = shapely.linestrings(np.stack([places[first], places[second]], axis=1))
    clear = np.flatnonzero(shapely.covers(roomy, ways))
    sight: nx.Graph[Point2] = nx.Graph()
    sight.add_nodes_from(nodes)
    for i, j in zip(first[clear].tolist(), second[clear].tolist(), strict=True):
        sight.add_edge(nodes[i], nodes[j], metres=math.dist(nodes[i], nodes[j]))
    return roomy, sight


def _inner_corners(floor: Polygon) -> list[Point2]:
    """Return a floor's reflex corners (interior angle over 180 degrees), in whole millimetres."""
    found: set[Point2] = set()
    turned = shapely.orient_polygons(floor)
    for ring in (turned.exterior, *turned.interiors):
        at = shapely.get_coordinates(ring)[:-1]
        before, after = at - np.roll(at, 1, axis=0), np.roll(at, -1, axis=0) - at
        bends = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0] < 0
        found.update((round(x, 3), round(z, 3)) for x, z in at[bends].tolist())
    return sorted(found)


BODY = 0.2
"""Radius in metres of the person for whom the graph is built."""
SPACING = 2.0
"""Approximate distance between viewpoints, in metres."""
LONGEST = 3.0
"""Longest edge in metres, except on stairs."""
APART = 0.1
"""Least distance in metres between viewpoints of overlapping floors."""
_LATTICE = 0.25
"""Grid spacing in metres of candidate positions for a viewpoint."""


class BlockedError(SceneError):
    """Error: a person cannot reach all of a region's floor; ``region`` is its name."""

    def __init__(self, region: str, reason: str) -> None:
        super().__init__(f"{region}: {reason}")
        self.region = region


@dataclass
class FreeFloor:
    """Level floor on which viewpoints are being placed.

    Attributes:
        name: its name in errors.
        number: its viewpoints are called ``<number>_<index>``.
        height: of the floor (y), in metres.
        shape: the area over which viewpoints are spread.
        region: the id of the region that it belongs to, if there is one.
        body: radius in metres of the body for which viewpoints are placed.
        free: where the centre of the body may be, within ``shape``.
        stands: its viewpoints so far; those at another height (on stairs) are not on the floor.
    """

    name: str
    number: str
    height: float
    shape: Polygon
    region: str | None = None
    free: BaseGeometry = field(default_factory=Polygon)
    stands: list[Viewpoint] = field(default_factory=list)
    body: float = BODY

    def stand(self, place: Point2, height: float | None = None) -> Viewpoint:
        """Return the viewpoint at a position: the existing viewpoint, else a new one."""
        y = self.height if height is None else height
        at: Point3 = (round(place[0], 3), y, round(place[1], 3))
        if (known := next((v for v in self.stands if v.position == at), None)) is not None:
            return known
        name = f"{self.number}_{len(self.stands)}"
        self.stands.append(Viewpoint(id=name, position=at, region=self.region))
        return self.stands[-1]

    @property
    def level(self) -> list[Viewpoint]:
        """Viewpoints on the floor itself, without those on stairs."""
        return [v for v in self.stands if v.position[1] == self.height]


def xz_of(viewpoint: Viewpoint) -> Point2:
    """Return a viewpoint's position on the ground plane."""
    return viewpoint.position[0], viewpoint.position[2]


def is_in_reach(a: Viewpoint, b: Viewpoint) -> bool:
    """Check whether two viewpoints are near enough for an edge, and not at the same position."""
    return 0 < distance_2d(a.position, b.position) <= LONGEST


def fill_floor(room: FreeFloor, kept: Sequence[Point2] = ()) -> list[Edge]:
    """Place viewpoints on the part of a floor reachable from its existing ones, and join them.

    Args:
        room: the floor; its ``stands`` grow.
        kept: positions that belong to others: new viewpoints keep 10 cm off them.

    Returns:
        The edges between its level viewpoints; they form one connected graph.

    Raises:
        BlockedError: there is no free floor, or the existing viewpoints stand on separate parts.
    """
    floor = _walked_part(room)
    level = room.level
    for place in _places(room, floor, [xz_of(v) for v in level], kept):
        level.append(room.stand(place))
    if not level:
        spot = shapely.point_on_surface(floor)
        level.append(room.stand((spot.x, spot.y)))
    edges = _straight_ways(level, floor)
    return edges if len(_parts(level, edges)) == 1 else _go_round(room, floor, level)


def _walked_part(room: FreeFloor) -> Polygon:
    """Return the part of a room's free floor that holds its viewpoints, else the largest part."""
    parts: list[Polygon] = [p for p in shapely.get_parts(room.free) if p.area > 0]
    if not parts:
        raise BlockedError(room.name, "there is no free floor.")
    at = [xz_of(v) for v in room.level]
    held = [part for part in parts if at and bool(shapely.intersects_xy(part, *at[0]))]
    part = held[0] if held else max(parts, key=lambda each: each.area)
    shapely.prepare(part)
    if at and not all(shapely.intersects_xy(part, [x for x, _ in at], [z for _, z in at])):
        raise BlockedError(room.name, "one cannot walk from each way in to each other.")
    return part


def _places(
    room: FreeFloor, floor: Polygon, taken: Sequence[Point2], kept: Sequence[Point2]
) -> Iterator[Point2]:
    """Yield for each grid cell the free position nearest its centre, off other viewpoints."""
    left, near, right, far = room.shape.bounds
    body = room.body
    xs = np.round(np.arange(left + body, right - body + 1e-6, _LATTICE), 3)
    zs = np.round(np.arange(near + body, far - body + 1e-6, _LATTICE), 3)
    x, z = (each.ravel() for each in np.meshgrid(xs, zs))
    free = shapely.intersects_xy(floor, x, z)
    x, z = x[free], z[free]
    for point in taken:
        x, z = _away(x, z, point)
    for point in kept:
        x, z = _away(x, z, point, APART)
    across, along = max(1, round((right - left) / SPACING)), max(1, round((far - near) / SPACING))
    wide, deep = (right - left) / across, (far - near) / along
    for i in range(across):
        for j in range(along):
            du, dw = x - (left + (i + 0.5) * wide), z - (near + (j + 0.5) * deep)
            metres = np.where(
                (np.abs(du) <= wide / 2) & (np.abs(dw) <= deep / 2), du * du + dw * dw, np.inf
            )
            if metres.size == 0 or np.isinf(metres.min()):
                continue
            # Rounded, so that of equally near positions the first wins on every machine.
            best = int(np.argmin(np.round(metres, 6)))
            point = float(x[best]), float(z[best])
            x, z = _away(x, z, point)
            yield point


def _away(
    x: np.ndarray, z: np.ndarray, point: Point2, metres: float = 0.6 * SPACING
) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions that are not near a point."""
    keep = (x - point[0]) ** 2 + (z - point[1]) ** 2 >= metres**2
    return x[keep], z[keep]


def _straight_ways(stands: Sequence[Viewpoint], floor: Polygon) -> list[Edge]:
    pairs = [(a, b) for a, b in combinations(stands, 2) if is_in_reach(a, b)]
    if not pairs:
        return []
    ways = shapely.linestrings([(xz_of(a), xz_of(b)) for a, b in pairs])
    clear = shapely.covers(floor, ways)
    return [Edge(a=a.id, b=b.id) for (a, b), each in zip(pairs, clear, strict=True) if each]


def _go_round(room: FreeFloor, floor: Polygon, level: list[Viewpoint]) -> list[Edge]:
    """Join the parts of a room that furniture hides from each other; return all its edges.

    The shortest path between two points of a polygon bends only at its corners.
    """
    roomy, sight = visibility_graph(floor, [xz_of(v) for v in level])
    at = {xz_of(v): v for v in level}
    ways: list[Edge] = []
    while True:
        edges = [*_straight_ways(level, roomy), *ways]
        parts = _parts(level, edges)
        if len(parts) == 1:
            return edges
        beyond = [point for point, v in at.items() if v.id not in parts[0]]
        here = [point for point, v in at.items() if v.id in parts[0]]
        metres = nx.multi_source_dijkstra_path_length(sight, here, weight="metres")
        reached = [point for point in beyond if point in metres]
        if not reached:
            raise BlockedError(room.name, "one cannot walk from each part to each other.")
        nearest = min(reached, key=lambda point: round(metres[point], 6))
        way = nx.multi_source_dijkstra_path(sight, here, weight="metres")[nearest]
        for corner in way:
            if corner not in at:
                at[corner] = room.stand(corner)
                level.append(at[corner])
        ways += [Edge(a=at[a].id, b=at[b].id) for a, b in pairwise(way)]


def _parts(level: Sequence[Viewpoint], edges: Sequence[Edge]) -> list[set[str]]:
    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from(v.id for v in level)
    graph.add_edges_from((edge.a, edge.b) for edge in edges)
    return list(nx.connected_components(graph))
