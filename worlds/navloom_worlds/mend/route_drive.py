"""Drive of a body from one region to another: planned on its field, executed with its exact shape.

A body starts at the point of most clearance in the largest part of the region that it fits in, and
heads for such a point of the other region, by :mod:`navloom_worlds.motion.body_planner`. Lifts
carry the bodies that can operate them. Widths and steps of links are not read.
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
from navloom.scenes.scene import Point3, Scene
from navloom_worlds.motion.body_field import BodyField, body_field
from navloom_worlds.motion.body_planner import drive_to_goal

_LEVEL = 0.3
"""Tolerance in metres between a position's floor and its region's."""
_LIFT_REACH = 0.5


@dataclass(frozen=True)
class RouteDrive:
    """Result of a drive.

    Attributes:
        arrived: whether the body reached its goal.
        path: positions of its centre from the start on; one path per leg between lifts.
        touched: names of what it touched, each once, in order.
        why: why it did not arrive; empty if it did.
    """

    arrived: bool
    path: tuple[tuple[Point3, ...], ...] = ()
    touched: tuple[str, ...] = ()
    why: str = ""

    @property
    def metres(self) -> float:
        """Path length in metres, lifts not included."""
        return sum(math.dist(a, b) for leg in self.path for a, b in pairwise(leg))


def drive_route(scene: Scene, body: Embodiment, start: str, goal: str) -> RouteDrive:
    """Drive a body from one region to another; return the drive.

    Args:
        scene: with geometry.
        body: the embodiment.
        start: a region's id.
        goal: a region's id.

    Raises:
        SceneError: the scene has no geometry, or a region is unknown.
    """
    field = body_field(scene, body)
    spots = [roomiest_point(scene, field, region) for region in (start, goal)]
    for region, found in zip((start, goal), spots, strict=True):
        if found is None:
            return RouteDrive(False, why=f"it fits nowhere in {region}")
    (first, last) = (each for each in spots if each is not None)
    legs = plan_legs(scene, body, field, first, last)
    if legs is None:
        return RouteDrive(False, why="no way for half its width")
    return _driven(scene, body, legs)


def _driven(scene: Scene, body: Embodiment, legs: Sequence[tuple[Point3, Point3]]) -> RouteDrive:
    """Drive one leg after another; return the drive with the contacts of all legs."""
    paths: list[tuple[Point3, ...]] = []
    touched = dict[str, None]()
    for begin, end in legs:
        found = drive_to_goal(scene, body, begin, end)
        if found is None:
            return RouteDrive(False, tuple(paths), tuple(touched), "no way for half its width")
        touched.update(dict.fromkeys(found.touched))
        if found.path:
            paths.append(tuple(stand.position for stand in found.path))
        if not found.arrived:
            return RouteDrive(False, tuple(paths), tuple(touched), found.why)
    return RouteDrive(True, tuple(paths), tuple(touched))


def roomiest_point(scene: Scene, field: BodyField, region: str) -> Point3 | None:
    """Return the point of most clearance in the largest part of a region that a body fits in."""
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


def plan_legs(
    scene: Scene, body: Embodiment, field: BodyField, first: Point3, last: Point3
) -> list[tuple[Point3, Point3]] | None:
    """Return the legs (start, end) of a drive between lifts; None if there is no path."""
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
    """Yield the positions of a body in lifts, below and above."""
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
        return roomiest_point(scene, field, region)
    near = field.nearest((point[0], where.center[1], point[2]))
    if near is None or abs(near[1] - where.center[1]) > _LEVEL:
        return None
    return near if math.hypot(near[0] - point[0], near[2] - point[2]) <= _LIFT_REACH else None
