"""Viewpoints on a level floor: the one maker of navigation graphs.

A viewpoint stands about every two metres on the free floor, and an edge is a straight way over it.
Where something hides two parts of a floor from each other, viewpoints are added at the corners that
the shortest way between them goes round. What is free floor, whoever asks has found out: from a
home's true geometry (:mod:`navloom_worlds.homes.freespace`), from boxes alone
(:mod:`navloom.scenes.box_graph`) or from a mesh (:mod:`navloom_worlds.geometry.walkable`).

Which places on a floor see each other: what shortest ways round furniture are found on.
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
"""Metres that rounding to millimetres may move a corner, and more."""


def see_each_other(floor: Polygon, points: Sequence[Point2]) -> tuple[Polygon, nx.Graph[Point2]]:
    """What sees what, of places on a floor and the corners round which a shortest way may turn.

    Args:
        floor: a polygon; the shortest way between two of its places turns at corners of it alone,
            those at which it has more than half a turn.
        points: places on it.

    Returns:
        The floor, a little wider, prepared for tests of what it covers: corners are rounded to
        millimetres. And the graph of the points and such corners, each edge with its ``metres``.
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
    """The corners at which a floor has more than half a turn, to the millimetre."""
    found: set[Point2] = set()
    turned = shapely.orient_polygons(floor)
    for ring in (turned.exterior, *turned.interiors):
        at = shapely.get_coordinates(ring)[:-1]
        before, after = at - np.roll(at, 1, axis=0), np.roll(at, -1, axis=0) - at
        bends = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0] < 0
        found.update((round(x, 3), round(z, 3)) for x, z in at[bends].tolist())
    return sorted(found)


BODY = 0.2
"""Radius in metres of the person whose ways these are."""
SPACING = 2.0
"""About how far viewpoints stand apart, in metres."""
LONGEST = 3.0
"""The longest edge in metres, but for stairs."""
APART = 0.1
"""Metres between viewpoints of floors that share their place."""
_LATTICE = 0.25
"""Metres between the places that are tried for a viewpoint."""


class BlockedError(SceneError):
    """A region that a person cannot walk all of: ``region`` says which."""

    def __init__(self, region: str, reason: str) -> None:
        super().__init__(f"{region}: {reason}")
        self.region = region


@dataclass
class FreeFloor:
    """A level floor while viewpoints are placed on it.

    Attributes:
        name: what it is called in errors.
        number: its viewpoints are called ``<number>_<index>``.
        height: of the floor (y), in metres.
        shape: what viewpoints are spread over.
        region: the id of the region that it belongs to, if there is one.
        body: radius in metres of the body whose viewpoints they are.
        free: where the middle of a body may be, within ``shape``.
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
        """The viewpoint at a place: the one that is there already, else a new one."""
        y = self.height if height is None else height
        at: Point3 = (round(place[0], 3), y, round(place[1], 3))
        if (known := next((v for v in self.stands if v.position == at), None)) is not None:
            return known
        name = f"{self.number}_{len(self.stands)}"
        self.stands.append(Viewpoint(id=name, position=at, region=self.region))
        return self.stands[-1]

    @property
    def level(self) -> list[Viewpoint]:
        """Its viewpoints, without those on stairs."""
        return [v for v in self.stands if v.position[1] == self.height]


def flat(viewpoint: Viewpoint) -> Point2:
    """Where a viewpoint is, seen from above."""
    return viewpoint.position[0], viewpoint.position[2]


def in_reach(a: Viewpoint, b: Viewpoint) -> bool:
    """Whether two viewpoints are near enough for an edge, and not in the same place."""
    return 0 < distance_2d(a.position, b.position) <= LONGEST


def fill(room: FreeFloor, kept: Sequence[Point2] = ()) -> list[Edge]:
    """Place viewpoints all over a floor, as far as one can walk from those it has, and join them.

    Args:
        room: its ``stands`` grow.
        kept: places that are somebody else's: none of the new ones is within 10 cm of them.

    Returns:
        The edges between its level viewpoints; one can walk from each to each other.

    Raises:
        BlockedError: there is no free floor, or the viewpoints it has stand on parts of it that
            are apart.
    """
    floor = _walked_part(room)
    level = room.level
    for place in _places(room, floor, [flat(v) for v in level], kept):
        level.append(room.stand(place))
    if not level:
        spot = shapely.point_on_surface(floor)
        level.append(room.stand((spot.x, spot.y)))
    edges = _straight_ways(level, floor)
    return edges if len(_parts(level, edges)) == 1 else _go_round(room, floor, level)


def _walked_part(room: FreeFloor) -> Polygon:
    """The part of a room's free floor that its gates lead to; the largest where it has none."""
    parts: list[Polygon] = [p for p in shapely.get_parts(room.free) if p.area > 0]
    if not parts:
        raise BlockedError(room.name, "there is no free floor.")
    at = [flat(v) for v in room.level]
    held = [part for part in parts if at and bool(shapely.intersects_xy(part, *at[0]))]
    part = held[0] if held else max(parts, key=lambda each: each.area)
    shapely.prepare(part)
    if at and not all(shapely.intersects_xy(part, [x for x, _ in at], [z for _, z in at])):
        raise BlockedError(room.name, "one cannot walk from each way in to each other.")
    return part


def _places(
    room: FreeFloor, floor: Polygon, taken: Sequence[Point2], kept: Sequence[Point2]
) -> Iterator[Point2]:
    """Of each cell, the free place nearest to its middle that is not near another viewpoint."""
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
            # The first of those that are as near, whatever the last bits say.
            best = int(np.argmin(np.round(metres, 6)))
            point = float(x[best]), float(z[best])
            x, z = _away(x, z, point)
            yield point


def _away(
    x: np.ndarray, z: np.ndarray, point: Point2, metres: float = 0.6 * SPACING
) -> tuple[np.ndarray, np.ndarray]:
    """The places that are not near a point."""
    keep = (x - point[0]) ** 2 + (z - point[1]) ** 2 >= metres**2
    return x[keep], z[keep]


def _straight_ways(stands: Sequence[Viewpoint], floor: Polygon) -> list[Edge]:
    pairs = [(a, b) for a, b in combinations(stands, 2) if in_reach(a, b)]
    if not pairs:
        return []
    ways = shapely.linestrings([(flat(a), flat(b)) for a, b in pairs])
    clear = shapely.covers(floor, ways)
    return [Edge(a=a.id, b=b.id) for (a, b), each in zip(pairs, clear, strict=True) if each]


def _go_round(room: FreeFloor, floor: Polygon, level: list[Viewpoint]) -> list[Edge]:
    """Join the parts of a room that furniture hides from each other; all its edges then.

    The shortest way between two places of a polygon turns at corners of it alone.
    """
    roomy, sight = see_each_other(floor, [flat(v) for v in level])
    at = {flat(v): v for v in level}
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
