"""Navigation graph for a home whose rooms are known only as boxes.

The free floor of a room is its box, shrunk by a body's radius where the room allows it. A link with
a point gets a viewpoint on either side, and the two are joined. A link without a point joins the
two rooms' nearest viewpoints. Every room is connected in itself, linked rooms are connected, and
rooms without a link are never joined.

The graph is approximate: it ignores the rooms' shape, furniture and stairs. Where those are known,
:mod:`navloom_worlds.homes.viewpoint_placement` is used. On 35 real homes its shortest paths are 17
% longer (median over homes) than the shortest chains of straight lines from room centre to crossing
to crossing to room centre.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import product

import shapely
from shapely import Point

from navloom.scenes.floor_graph import APART, BODY, FreeFloor, fill_floor, xz_of
from navloom.scenes.scene import Edge, Link, Point2, Region, Viewpoint, distance_2d

_LEAST = 0.02
"""Half the least width in metres of a room's free floor, however narrow the room is."""
_INWARDS = (0.0, 0.3, 0.6)
"""Metres from the point nearest to a crossing towards the room's centre. The first position that is
clear of the viewpoints of other rooms is used."""
_SAME = 0.3
"""Distance in metres within which an existing viewpoint is reused for a crossing."""
_CUPBOARD = 1.0
"""If both sides of a room are shorter, in metres, its one viewpoint stands in its centre."""
_STOREY = 1.0
"""Height difference in metres below which viewpoints of two floors must keep apart."""


def build_box_graph(
    regions: Sequence[Region], links: Sequence[Link]
) -> tuple[tuple[Viewpoint, ...], tuple[Edge, ...]]:
    """Place viewpoints in rooms known only as boxes, and join them by edges.

    Args:
        regions: in metres, y up. One without a box gets one viewpoint at its centre.
        links: pairs of regions that are connected.

    Returns:
        Viewpoints named ``<region number>_<index>`` at the box's bottom, at least one a region,
        and edges. The same input gives the same ids, positions and edges.
    """
    floors = {region.id: _floor(region) for region in regions}
    points = [(link, (link.point[0], link.point[2])) for link in links if link.point is not None]
    across = [_cross(link, at, floors) for link, at in points]
    inner = [edge for f in floors.values() for edge in fill_floor(f, _others(f, floors.values()))]
    nearest = [_nearest(floors[link.a], floors[link.b]) for link in links if link.point is None]
    walked = {frozenset((edge.a, edge.b)): edge for edge in [*across, *inner, *nearest]}
    return tuple(v for floor in floors.values() for v in floor.stands), tuple(walked.values())


def _floor(region: Region) -> FreeFloor:
    x, y, z = region.center
    box = region.box
    corners = ((x, z),) if box is None else box.corners()
    wide, deep = (0.0, 0.0) if box is None else (box.size[0], box.size[2])
    hull = shapely.MultiPoint(corners).convex_hull
    more = max(0.0, 2 * _LEAST - min(wide, deep)) / 2
    if more:
        hull = hull.buffer(more, cap_style="square", join_style="mitre")
    body = min(BODY, min(wide, deep) / 2 + more - _LEAST)
    free = hull.buffer(-body, join_style="mitre")
    # Viewpoints are spread over the box, or over the free floor grown by the body's radius.
    shape = free.buffer(BODY, join_style="mitre")
    if max(wide, deep) < _CUPBOARD:
        free, shape = (free.centroid.buffer(r, cap_style="square") for r in (_LEAST, BODY))
    height = y if box is None else box.bottom
    return FreeFloor(region.id, region.number, height, shape, region.id, free)


def _cross(link: Link, at: Point2, floors: Mapping[str, FreeFloor]) -> Edge:
    a, b = (_stand_by(at, floors[name], floors.values()) for name in (link.a, link.b))
    return Edge(a=a.id, b=b.id)


def _stand_by(at: Point2, floor: FreeFloor, floors: Iterable[FreeFloor]) -> Viewpoint:
    """Return a room's viewpoint nearest to a point; reuse one that is already near it."""
    # Slightly inside, so that rounding to millimetres keeps it on the floor.
    inner = floor.free.buffer(-_LEAST / 4, join_style="mitre")
    edge, middle = shapely.shortest_line(inner, Point(at)).coords[0], inner.centroid
    own = min(floor.level, key=lambda v: math.dist(xz_of(v), edge), default=None)
    if own is not None and math.dist(xz_of(own), edge) <= _SAME:
        return own
    far = math.dist(edge, (middle.x, middle.y))
    places = []
    for inwards in _INWARDS:
        part = min(1.0, inwards / far) if far > 0 else 0.0
        places.append(
            (edge[0] + (middle.x - edge[0]) * part, edge[1] + (middle.y - edge[1]) * part)
        )
    kept = _others(floor, floors)
    apart = (place for place in places if all(math.dist(place, each) >= APART for each in kept))
    return floor.stand(next(apart, places[0]))


def _others(floor: FreeFloor, floors: Iterable[FreeFloor]) -> list[Point2]:
    """Return positions of viewpoints in other rooms at about the same height."""
    near = (each for each in floors if each is not floor)
    beside = (each for each in near if abs(each.height - floor.height) < _STOREY)
    return [xz_of(viewpoint) for each in beside for viewpoint in each.stands]


def _nearest(a: FreeFloor, b: FreeFloor) -> Edge:
    first, second = min(
        product(a.stands, b.stands),
        key=lambda pair: distance_2d(pair[0].position, pair[1].position),
    )
    return Edge(a=first.id, b=second.id)
