"""Walls and a navigation graph from exact geometry: rooms, furniture and doors.

:mod:`navloom.scenes.box_graph` knows boxes only. Here a viewpoint stands on free floor, and an edge
is a straight line over free floor. Viewpoints are on both sides of every door, at the foot and the
head of stairs, and on a grid on the remaining floor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import combinations, pairwise, product

import networkx as nx
from shapely import (
    LineString,
    MultiLineString,
    Point,
    Polygon,
    box,
    difference,
    line_merge,
    unary_union,
)
from shapely.geometry.base import BaseGeometry

from navloom.errors import SceneError
from navloom.scenes.scene import Box, Edge, Item, Point2, Point3, Region, Viewpoint, Wall

CLEAR = 0.2
"""Clearance of viewpoints and edges from walls and furniture, in metres."""
_FLAT = 0.05
"""Items up to this height (a rug) can be walked over, in metres."""
_BEFORE_DOOR = 0.45
"""Distance of a viewpoint from its door, in metres."""
_SPACINGS = (1.2, 0.8, 0.5, 0.3)
"""Grid spacings in metres; the next is tried if a room's doors are not connected."""
_LONGEST = 2.8
"""The longest edge in a room, in metres."""


@dataclass(frozen=True)
class Opening:
    """An opening in the wall between two regions: its centre as (x, z), and its width in metres."""

    a: str
    b: str
    at: Point2
    width: float


@dataclass(frozen=True)
class StairFlight:
    """Stairs from region a, at ``foot``, up to region b, at ``head``, both (x, z)."""

    a: str
    b: str
    foot: Point2
    head: Point2


@dataclass(frozen=True)
class Plan:
    """Result of the layout."""

    walls: tuple[Wall, ...]
    viewpoints: tuple[Viewpoint, ...]
    edges: tuple[Edge, ...]


def lay_out(
    regions: Sequence[Region],
    items: Sequence[Item],
    openings: Sequence[Opening],
    flights: Sequence[StairFlight],
    *,
    ceiling: float,
    outdoor: AbstractSet[str] = frozenset(),
) -> Plan:
    """Lay out walls, viewpoints and edges.

    Args:
        regions: rooms with an outline, in metres, at the height of their floor.
        items: what stands in them; what hangs higher than a person's knee is walked under.
        openings: holes in walls; each must lie in a wall that its two regions share.
        flights: stairs.
        ceiling: height of the walls in metres.
        outdoor: ids of regions that have no walls of their own.

    Raises:
        SceneError: where an opening is in no shared wall, or a room has no free floor.
    """
    shape = {region.id: Polygon(region.outline or ()) for region in regions}
    holes = {opening: _hole(opening, shape) for opening in openings}
    stands: dict[str, list[Viewpoint]] = {region.id: [] for region in regions}
    edges: list[Edge] = []
    floor = {region.id: _free(region, shape[region.id], items, holes) for region in regions}
    by_id = {region.id: region for region in regions}
    for opening, hole in holes.items():
        sides = [_beside(hole, shape[side]) for side in (opening.a, opening.b)]
        pair = [
            _stand(stands, by_id[region], place)
            for region, place in zip((opening.a, opening.b), sides, strict=True)
        ]
        edges.append(Edge(a=pair[0], b=pair[1]))
    for flight in flights:
        foot = _stand(stands, by_id[flight.a], flight.foot)
        edges.append(Edge(a=foot, b=_stand(stands, by_id[flight.b], flight.head)))
    for region in regions:
        edges += _fill(stands, region, shape[region.id], floor[region.id])
    return Plan(
        walls=tuple(_walls(regions, shape, holes, ceiling, outdoor)),
        viewpoints=tuple(v for group in stands.values() for v in group),
        edges=tuple(edges),
    )


def _hole(opening: Opening, shape: dict[str, Polygon]) -> LineString:
    """Return the opening as a line in the wall that its two regions share."""
    wall = shape[opening.a].boundary.intersection(shape[opening.b].boundary)
    hole = line_merge(_lines(wall.intersection(Point(opening.at).buffer(opening.width / 2, 32))))
    if not isinstance(hole, LineString) or abs(hole.length - opening.width) > 0.02:
        raise SceneError(
            f"{opening.a} <-> {opening.b}: expected an opening of {opening.width} m at "
            f"{opening.at} in the wall they share, and {hole.length:.2f} m of it are."
        )
    return hole


def _lines(shape: BaseGeometry) -> MultiLineString:
    parts = getattr(shape, "geoms", [shape])
    return MultiLineString([p for p in parts if isinstance(p, LineString) and p.length > 0])


def _free(
    region: Region, shape: Polygon, items: Sequence[Item], holes: dict[Opening, LineString]
) -> BaseGeometry:
    """Return the free space of a body's centre: clear of walls and furniture, up to the doors."""
    doors = [
        hole.buffer(_BEFORE_DOOR + CLEAR, cap_style="flat").intersection(shape)
        for opening, hole in holes.items()
        if region.id in (opening.a, opening.b)
    ]
    blocks = [
        Polygon(Box(center=i.position, size=i.size, yaw=i.yaw).corners()).buffer(CLEAR, 4)
        for i in items
        if i.region == region.id and i.size is not None and _blocks(i, region.center[1])
    ]
    return difference(unary_union([shape.buffer(-CLEAR), *doors]), unary_union(blocks))


def _blocks(item: Item, floor: float) -> bool:
    if item.size is None or item.on is not None:
        return False
    return item.size[1] > _FLAT and item.position[1] - item.size[1] / 2 < floor + 0.5


def _beside(hole: LineString, side: Polygon) -> Point2:
    """Return the point in front of the centre of an opening, on one side of it."""
    middle = hole.interpolate(0.5, normalized=True)
    (x0, z0), (x1, z1) = hole.coords[0], hole.coords[-1]
    across = (z1 - z0) / hole.length, (x0 - x1) / hole.length
    for sign in (1, -1):
        place = (
            middle.x + sign * _BEFORE_DOOR * across[0],
            middle.y + sign * _BEFORE_DOOR * across[1],
        )
        if side.contains(Point(place)):
            return place
    raise SceneError(f"the opening at ({middle.x}, {middle.y}) has no room beside it.")


def _stand(stands: dict[str, list[Viewpoint]], region: Region, place: Point2) -> str:
    """Add a viewpoint to a region and return its id."""
    group = stands[region.id]
    at: Point3 = (round(place[0], 3), region.center[1], round(place[1], 3))
    group.append(Viewpoint(id=f"{region.number}_{len(group)}", position=at, region=region.id))
    return group[-1].id


def _fill(
    stands: dict[str, list[Viewpoint]], region: Region, shape: Polygon, free: BaseGeometry
) -> list[Edge]:
    """Add a grid of viewpoints to a region and return its edges.

    Viewpoints that are not reachable from the region's doors are removed.
    """
    doors = list(stands[region.id])
    for spacing in _SPACINGS:
        stands[region.id] = list(doors)
        for place in _grid(shape, free, doors, spacing):
            _stand(stands, region, place)
        group = stands[region.id]
        ways = list(_straight_ways(group, free))
        graph: nx.Graph[str] = nx.Graph([(way.a, way.b) for way in ways])
        graph.add_nodes_from(v.id for v in group)
        # Of a room without a door nobody can say which part is the way in, so the first is.
        reached = nx.node_connected_component(graph, group[0].id) if group else set()
        if group and all(door.id in reached for door in doors):
            stands[region.id] = [v for v in group if v.id in reached]
            return [way for way in ways if way.a in reached]
    raise SceneError(f"{region.id}: expected free floor from door to door, and there is none.")


def _grid(
    shape: Polygon, free: BaseGeometry, taken: Sequence[Viewpoint], spacing: float
) -> list[Point2]:
    """Return points on free floor, one per cell: its centre, or the centre of its free part."""
    left, near, right, far = shape.bounds
    across = max(1, round((right - left) / spacing))
    along = max(1, round((far - near) / spacing))
    width, depth = (right - left) / across, (far - near) / along
    found = [(v.position[0], v.position[2]) for v in taken]
    new: list[Point2] = []
    for i, j in product(range(across), range(along)):
        x, z = left + i * width, near + j * depth
        part = free.intersection(box(x, z, x + width, z + depth))
        if part.area < 0.04 * spacing**2:
            continue
        middle = Point(x + width / 2, z + depth / 2)
        spot = middle if free.contains(middle) else part.representative_point()
        if all(spot.distance(Point(other)) >= 0.6 * spacing for other in found):
            found.append((spot.x, spot.y))
            new.append((spot.x, spot.y))
    return new


def _straight_ways(stands: Sequence[Viewpoint], free: BaseGeometry) -> Iterator[Edge]:
    roomy = free.buffer(0.01)
    for a, b in combinations(stands, 2):
        line = LineString([(v.position[0], v.position[2]) for v in (a, b)])
        if line.length <= _LONGEST and roomy.covers(line):
            yield Edge(a=a.id, b=b.id)


def _walls(
    regions: Sequence[Region],
    shape: dict[str, Polygon],
    holes: dict[Opening, LineString],
    ceiling: float,
    outdoor: AbstractSet[str],
) -> Iterator[Wall]:
    """Yield the outlines of each storey's rooms, once each, with the openings cut out."""
    gaps = {
        storey: [
            hole.buffer(0.001, cap_style="flat")
            for opening, hole in holes.items()
            if any(r.id == opening.a and r.floor == storey for r in regions)
        ]
        for storey in {region.floor for region in regions}
    }
    for storey in sorted(gaps):
        inside = [r for r in regions if r.floor == storey and r.id not in outdoor]
        if not inside:
            continue
        outlines = unary_union([shape[region.id].boundary for region in inside])
        standing = line_merge(_lines(difference(outlines, unary_union(gaps[storey])))).simplify(0)
        for line in _lines(standing).geoms:
            for (x0, z0), (x1, z1) in pairwise(line.coords):
                yield Wall(
                    a=(round(x0, 3), round(z0, 3)),
                    b=(round(x1, 3), round(z1, 3)),
                    bottom=inside[0].center[1],
                    height=ceiling,
                )
