"""Placement of viewpoints and edges on the free floor, from the scene's true geometry.

The free floor of a region is its outline inset by a body's radius, with every doorway added and
obstacles (furniture, the treads of stairs) removed, grown by the same radius. A viewpoint is placed
on either side of every doorway, at both ends and on every turn of stairs, and about every two
metres on the remaining floor. An edge is a straight path over free floor, through doorways too, or
along stairs. Where furniture hides two parts of a room from each other, viewpoints are added at the
corners of the shortest path between them. So every viewpoint of a region can be reached from every
other. A region in which that is impossible is refused.

For scenes that know rooms only as boxes, see :mod:`navloom.scenes.box_graph`;
the common code is in :mod:`navloom.scenes.floor_graph`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
import shapely
from shapely import LineString, Polygon
from shapely.geometry.base import BaseGeometry

from navloom.scenes.floor_graph import BODY, BlockedError, FreeFloor, fill_floor, is_in_reach, xz_of
from navloom.scenes.scene import Box, Edge, Item, Link, Point2, Point3, Region, Stairs, Viewpoint

PERSON = 0.33
"""Body radius in metres for generated homes: CapNav's HUMAN plus parts that protrude from walls."""
HEAD = 1.8
"""Metres: items that hang higher above the floor are passed underneath."""
FLAT = 0.05
"""Metres: items no higher than this (a rug) are walked over."""
_BEFORE = (0.45, 0.35, 0.25, 0.6, 0.8, 0.15, 0.0)
"""Distances from a doorway to try for its viewpoint, in metres: the first free one is used."""


@dataclass(frozen=True)
class _RegionEntrance:
    """Entrance of a region: its midpoint, inward direction, and half of its free width."""

    at: Point2
    into: Point2
    half: float
    off: float
    """Distance of the region's outline from the midpoint: half a wall."""
    body: float
    """Radius of the body that enters."""
    reach: float
    """Distance from the outline to the region's own free floor."""

    def place(self, far: float) -> Point2:
        (x, z), (u, w), far = self.at, self.into, self.off + far
        return round(x + u * far, 3), round(z + w * far, 3)

    @property
    def strip(self) -> Polygon:
        """Floor from just behind the midpoint to the start of the region's own free floor."""
        (x, z), (u, w) = self.at, self.into
        near, far, half = -0.01, self.off + self.reach, max(self.half - self.body, 0.01)
        return Polygon(
            [
                (round(x + u * along - w * side, 3), round(z + w * along + u * side, 3))
                for along, side in ((near, -half), (near, half), (far, half), (far, -half))
            ]
        )


@dataclass
class _FreeRegion(FreeFloor):
    """Free floor of a region, with its entrances."""

    gates: list[_RegionEntrance] = field(default_factory=list)


def place_viewpoints(
    regions: Sequence[Region],
    links: Sequence[Link],
    items: Sequence[Item],
    stairs: Sequence[Stairs] = (),
    body: float = BODY,
) -> tuple[tuple[Viewpoint, ...], tuple[Edge, ...]]:
    """Place viewpoints on the free floor and connect them.

    Args:
        regions: with an outline each, in metres, y up, at the height of their floor.
        links: those with ``jambs`` are doorways. A closed door is passed like an open one, since
            the link records that it is closed. Other links have no position.
        items: obstacles in the regions.
        stairs: stairs and ramps; paths follow their ``line``.
        body: radius in metres of the body that stands and walks there.

    Returns:
        Viewpoints named ``<region number>_<index>``, at least one per region, and edges. Positions
        are whole millimetres; the same input gives the same ids, positions and edges.

    Raises:
        BlockedError: a region has no free floor, a blocked doorway, or doorways that are not all
            connected.
    """
    rooms, doors, ends = _cleared(regions, links, items, stairs, body)
    edges = [Edge(a=_stand_before(*a).id, b=_stand_before(*b).id) for a, b in doors]
    for flight, (foot, head) in zip(stairs, ends, strict=True):
        edges += _climb(flight, foot, head)
    inner = [edge for room in rooms.values() for edge in fill_floor(room)]
    through = [edge for (a, first), (b, _) in doors for edge in _see_through(a, b, first)]
    walked = {frozenset((edge.a, edge.b)): edge for edge in [*edges, *inner, *through]}
    return tuple(v for room in rooms.values() for v in room.stands), tuple(walked.values())


_Side = tuple[_FreeRegion, _RegionEntrance]
_Sides = list[tuple[_Side, _Side]]


def _cleared(
    regions: Sequence[Region],
    links: Sequence[Link],
    items: Sequence[Item],
    stairs: Sequence[Stairs],
    body: float = BODY,
) -> tuple[dict[str, _FreeRegion], _Sides, _Sides]:
    """Return the regions with their free floor, and both sides of all doorways and stairs."""
    rooms = {
        r.id: _FreeRegion(
            name=r.id,
            number=r.number,
            height=r.center[1],
            shape=Polygon(r.outline or ((r.center[0], r.center[2]),) * 3),
            region=r.id,
            body=body,
        )
        for r in regions
    }
    # A doorway with a ramp is entered along the ramp's line, as stairs are.
    holes = ((link, link.jambs) for link in links if link.kind != "ramp")
    doors = [_door(link, jambs, rooms) for link, jambs in holes if jambs is not None]
    ends = [_ends(flight, rooms) for flight in stairs]
    treads = [(flight.a, box) for flight in stairs for box in flight.treads]
    found = {item.id: (item, box) for item in items if (box := _in_way(item, rooms)) is not None}
    # An item on top of an obstacle takes no floor of its own.
    in_way = [(str(item.region), box) for item, box in found.values() if item.on not in found]
    inner = shapely.buffer([r.shape for r in rooms.values()], -body, join_style="mitre")
    # The path reaches the first tread, but keeps its distance from the sides of the others.
    steps, beside = _by_room(rooms, treads, 0.0), _by_room(rooms, treads, body)
    ways = [shapely.union_all([gate.strip for gate in r.gates]) for r in rooms.values()]
    floors = shapely.union(shapely.difference(inner, beside), shapely.difference(ways, steps))
    floors = shapely.difference(floors, _by_room(rooms, in_way, body))
    for room, floor in zip(rooms.values(), floors, strict=True):
        room.free = floor
    return rooms, doors, ends


def _door(
    link: Link, jambs: tuple[Point2, Point2], rooms: dict[str, _FreeRegion]
) -> tuple[_Side, _Side]:
    """Add a doorway's entrance to both of its regions, and return the two sides."""
    (x0, z0), (x1, z1) = jambs
    width = math.hypot(x1 - x0, z1 - z0)
    at = ((x0 + x1) / 2, (z0 + z1) / 2)
    across = ((z1 - z0) / width, (x0 - x1) / width)
    sides = []
    for room in (rooms[link.a], rooms[link.b]):
        room.gates.append(_gate(room, at, across, width / 2))
        sides.append((room, room.gates[-1]))
    return sides[0], sides[1]


def _ends(flight: Stairs, rooms: dict[str, _FreeRegion]) -> tuple[_Side, _Side]:
    """Add the foot and the head of stairs as entrances of the regions that they connect.

    Returns:
        The lower region with its new entrance, and the upper region with its new one.
    """
    sides = []
    way = list(dict.fromkeys(flight.line))
    for name, line in ((flight.a, way), (flight.b, way[::-1])):
        room = rooms[name]
        (x, _, z), (u, _, w) = line[0], line[1]
        long = math.hypot(x - u, z - w)
        away = ((x - u) / long, (z - w) / long) if long > 0 else (0.0, 0.0)
        gate = _gate(room, (x, z), away, room.body + 0.1)
        if gate.into == away:
            # Where stairs begin at the wall, the viewpoint is at the foot, not on the treads.
            gate = replace(gate, reach=max(gate.reach, _BEFORE[0]))
        room.gates.append(gate)
        sides.append((room, gate))
    return sides[0], sides[1]


def _gate(room: _FreeRegion, at: Point2, way: Point2, half: float) -> _RegionEntrance:
    """Return the entrance of a region at a point, oriented into the region."""
    off = round(float(shapely.Point(at).distance(room.shape)), 3)
    x, z = at[0] + way[0] * (off + 0.05), at[1] + way[1] * (off + 0.05)
    if not shapely.intersects_xy(room.shape, x, z):
        way = (-way[0], -way[1])
    return _RegionEntrance(at, way, half, off, room.body, room.body + 0.01)


def _in_way(item: Item, rooms: dict[str, _FreeRegion]) -> Box | None:
    if item.size is None or item.region is None:
        return None
    floor = rooms[item.region].height
    box = Box.model_construct(center=item.position, size=item.size, yaw=item.yaw)
    return box if box.top > floor + FLAT and box.bottom < floor + HEAD else None


def _by_room(
    rooms: dict[str, _FreeRegion], boxes: Sequence[tuple[str, Box]], body: float
) -> list[BaseGeometry]:
    """Return the floor that boxes take from the centre of a body of this radius, by region."""
    corners: dict[str, dict[tuple[Point2, ...], None]] = {name: {} for name in rooms}
    for name, box in boxes:
        wide = (box.size[0] + 2 * body, box.size[1], box.size[2] + 2 * body)
        grown = Box.model_construct(center=box.center, size=wide, yaw=box.yaw)
        corners[name][tuple((round(x, 3), round(z, 3)) for x, z in grown.corners())] = None
    return [
        shapely.union_all(shapely.polygons(np.array(list(each)))) if each else Polygon()
        for each in corners.values()
    ]


def _stand_before(room: _FreeRegion, gate: _RegionEntrance) -> Viewpoint:
    """Return the viewpoint in front of an entrance, created on first use."""
    places = [gate.place(far) for far in _BEFORE]
    behind = gate.at[0] - gate.into[0] * 0.005, gate.at[1] - gate.into[1] * 0.005
    ways = shapely.linestrings(
        [
            (gate.at if gate.off + far > 0 else behind, p)
            for far, p in zip(_BEFORE, places, strict=True)
        ]
    )
    shapely.prepare(room.free)
    free = shapely.covers(room.free, ways[0])
    if not free:
        clear = shapely.covers(room.free, ways)
        places = [place for place, each in zip(places, clear, strict=True) if each]
    for place in places:
        known = next((v for v in room.stands if xz_of(v) == place), None)
        return known or room.stand(place)
    raise BlockedError(room.name, f"the way in at {gate.at} is blocked.")


def _climb(flight: Stairs, foot: _Side, head: _Side) -> Iterator[Edge]:
    """Yield the edges along stairs, with a viewpoint at each turn of their line."""
    low, high = (_stand_before(*side) for side in (foot, head))
    turns = [
        foot[0].stand((here[0], here[2]), round(here[1], 3))
        for before, here, after in zip(flight.line, flight.line[1:], flight.line[2:], strict=False)
        if not _straight_on(before, here, after)
    ]
    for a, b in pairwise([low, *turns, high]):
        if a.id != b.id:
            yield Edge(a=a.id, b=b.id)


def _straight_on(a: Point3, b: Point3, c: Point3) -> bool:
    """Check whether a path seen from above does not turn at ``b``."""
    return abs((b[0] - a[0]) * (c[2] - b[2]) - (b[2] - a[2]) * (c[0] - b[0])) < 1e-6


def _see_through(a: _FreeRegion, b: _FreeRegion, gate: _RegionEntrance) -> list[Edge]:
    """Return the edges between viewpoints that see each other through a doorway."""
    (x, z), (u, w) = gate.at, gate.into
    half = max(gate.half - gate.body, 0.01)
    gap = LineString([(x - w * half, z + u * half), (x + w * half, z - u * half)])
    pairs = [(v, o) for v in a.level for o in b.level if is_in_reach(v, o)]
    ways = [LineString((xz_of(v), xz_of(o))) for v, o in pairs]
    on = shapely.intersects(gap, ways)
    through = [(p, w) for p, w, each in zip(pairs, ways, on, strict=True) if each]
    if not through:
        return []
    both = shapely.union(a.free, b.free)
    shapely.prepare(both)
    clear = shapely.covers(both, [way for _, way in through])
    return [Edge(a=v.id, b=o.id) for ((v, o), _), each in zip(through, clear, strict=True) if each]
