"""Drives a body from one region to another: planned on its field, gone by its exact shape.

A body starts where it has most room in the largest part of the region that it can be in, and is to
come to such a place of the other. The field knows how wide a body is straight ahead; where it must
turn, its corners count too, so ways with room to turn are tried first, then the shortest, and the
first that the body itself can follow counts. Lifts carry whoever can operate them. Widths, steps
and rules are not read.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import networkx as nx
import numpy as np
import shapely
from shapely import Polygon

from navloom.errors import SceneError
from navloom.scenes.bodies import Embodiment
from navloom.scenes.mend.roomy import roomy
from navloom.scenes.parts import Point3
from navloom.scenes.scene import Scene
from navloom.scenes.space.body_field import BodyField, body_field
from navloom.scenes.space.mover import Mover, Stand, mover_of

_LEVEL = 0.3
"""Metres that the floor of a place may be off its region's."""
_ARRIVED = 0.15
_LIFT_REACH = 0.5
_AGAIN = 3
"""Ways that are planned anew from where a body stopped, before it is said that it stopped."""


@dataclass(frozen=True)
class Drive:
    """What came of driving.

    Attributes:
        arrived: whether the body is where it was to come.
        path: where its middle was, from the start on; of each leg between lifts one.
        touched: what it met, each once, in order.
        why: why it did not arrive; empty where it did.
    """

    arrived: bool
    path: tuple[tuple[Point3, ...], ...] = ()
    touched: tuple[str, ...] = ()
    why: str = ""

    @property
    def metres(self) -> float:
        """How far it went, lifts not counted."""
        return sum(math.dist(a, b) for leg in self.path for a, b in pairwise(leg))


def drive(scene: Scene, body: Embodiment, start: str, goal: str) -> Drive:
    """Drive a body from one region to another.

    Args:
        scene: with geometry.
        body: whose.
        start: a region's id.
        goal: a region's id.

    Raises:
        SceneError: the scene has no geometry, or a region is not there.
    """
    field = body_field(scene, body)
    spots = [spot(scene, field, region) for region in (start, goal)]
    for region, found in zip((start, goal), spots, strict=True):
        if found is None:
            return Drive(False, why=f"it fits nowhere in {region}")
    (first, last) = (each for each in spots if each is not None)
    legs = legs_of(scene, body, field, first, last)
    if legs is None:
        return Drive(False, why="no way for half its width")
    return _driven(scene, body, legs)


def _driven(scene: Scene, body: Embodiment, legs: Sequence[tuple[Point3, Point3]]) -> Drive:
    """Follow ways for one disc after the other; what was met on the slimmest is told."""
    paths: list[tuple[Point3, ...]] = []
    touched, mover = dict[str, None](), mover_of(scene, body)
    field = body_field(scene, body)
    for begin, end in legs:
        tried: Drive | None = None
        for points in _ways(scene, field, begin, end):
            tried = _persisted(mover, field, points)
            if tried.arrived:
                break
        if tried is None:
            return Drive(False, tuple(paths), tuple(touched), "no way for half its width")
        touched.update(dict.fromkeys(tried.touched))
        paths += tried.path
        if not tried.arrived:
            return Drive(False, tuple(paths), tuple(touched), tried.why)
    return Drive(True, tuple(paths), tuple(touched))


def _ways(
    scene: Scene, field: BodyField, begin: Point3, end: Point3
) -> Iterator[tuple[Point3, ...]]:
    """Ways to try: with room to turn where the body must, then the shortest."""
    yield from roomy(scene, field).ways(begin, end)
    shortest = field.way(begin, [end])
    if shortest is not None:
        yield shortest.points


def _persisted(mover: Mover, field: BodyField, points: Sequence[Point3]) -> Drive:
    """Follow a way; where the body stops, follow a new one from there, a few times."""
    tried = _followed(mover, points)
    path = list(tried.path[0]) if tried.path else []
    for _ in range(_AGAIN):
        if tried.arrived or not path:
            break
        way = field.way(path[-1], [points[-1]])
        if way is None:
            break
        tried = _followed(mover, way.points)
        path += tried.path[0] if tried.path else ()
    return Drive(tried.arrived, (tuple(path),) if path else (), tried.touched, tried.why)


def _followed(mover: Mover, points: Sequence[Point3]) -> Drive:
    (x, _, z), (u, _, w) = points[0], points[min(1, len(points) - 1)]
    ahead = math.atan2(u - x, -(w - z)) if (x, z) != (u, w) else 0.0
    stand = mover.settled(Stand(points[0], ahead))
    if stand is None:
        return Drive(False, why="it does not fit where it starts")
    moved = mover.follow(stand, points)
    at = moved.stand.position
    path = tuple(each.position for each in moved.path) or (stand.position, at)
    touched = tuple(dict.fromkeys(bump.what for bump in moved.bumps))
    if math.hypot(at[0] - points[-1][0], at[2] - points[-1][2]) <= _ARRIVED:
        return Drive(True, (path,), touched)
    why = f"it stops at ({at[0]:.2f}, {at[2]:.2f}), at {touched[-1] if touched else 'an edge'}"
    return Drive(False, (path,), touched, why)


def spot(scene: Scene, field: BodyField, region: str) -> Point3 | None:
    """Where a body has most room in the largest part of a region that it can be in."""
    where = scene.region_by_id.get(region)
    if where is None or where.outline is None:
        raise SceneError(f"{scene.uri}: nobody says where {region} is.")
    found = field.found
    inside = shapely.contains_xy(Polygon(where.outline), found.x, found.z)
    inside &= np.abs(found.height - where.center[1]) < _LEVEL
    there = np.flatnonzero(inside)
    if not len(there):
        return None
    parts, counts = np.unique(field.part[there], return_counts=True)
    there = there[field.part[there] == parts[np.argmax(counts)]]
    return field.position(int(there[np.argmax(field.clear[there])]))


def legs_of(
    scene: Scene, body: Embodiment, field: BodyField, first: Point3, last: Point3
) -> list[tuple[Point3, Point3]] | None:
    """From where to where it drives, lifts between; None where no way is known."""
    graph: nx.Graph[int] = nx.Graph()
    begin, end = (int(field.part[field.at(each)]) for each in (first, last))
    graph.add_nodes_from((begin, end))
    for low, high in _lifts(scene, body, field):
        a, b = (int(field.part[field.at(each)]) for each in (low, high))
        if a != b and not graph.has_edge(a, b):
            graph.add_edge(a, b, at={a: low, b: high})
    if not nx.has_path(graph, begin, end):
        return None
    legs, here = [], first
    for a, b in pairwise(nx.shortest_path(graph, begin, end)):
        at = graph.edges[a, b]["at"]
        legs.append((here, at[a]))
        here = at[b]
    return [*legs, (here, last)]


def _lifts(scene: Scene, body: Embodiment, field: BodyField) -> Iterator[tuple[Point3, Point3]]:
    """Where a body stands in lifts, below and above."""
    if not body.elevator:
        return
    for link in scene.links:
        if link.kind != "elevator":
            continue
        ends = [_cabin(scene, field, region, link.point) for region in (link.a, link.b)]
        low, high = ends
        if low is not None and high is not None:
            yield low, high


def _cabin(scene: Scene, field: BodyField, region: str, point: Point3 | None) -> Point3 | None:
    where = scene.region_by_id[region]
    if "elevator" in where.label.casefold() or point is None:
        return spot(scene, field, region)
    near = field.nearest((point[0], where.center[1], point[2]))
    if near is None or abs(near[1] - where.center[1]) > _LEVEL:
        return None
    return near if math.hypot(near[0] - point[0], near[2] - point[2]) <= _LIFT_REACH else None
