"""Tour through a home: a camera that walks to every region and looks around in each.

The tour is timed: it walks, turns and looks around at speeds that people can follow. Frames can be
taken at any rate: models are shown one per second, a film for people has 10.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import networkx as nx
import numpy as np

from navloom.errors import SimulatorError
from navloom.scenes.distances import heading_to, metre_table, turn_between, wrap_angle
from navloom.scenes.scene import Scene, Viewpoint
from navloom.sim.protocol import Pose
from navloom_worlds.geometry import scene_mesh
from navloom_worlds.rendering.embedded import can_render
from navloom_worlds.rendering.visible_captions import eye_position

WALK = 1.0
"""Metres per second."""
TURN = math.radians(90)
"""Radians per second while walking."""
LOOK = math.radians(60)
"""Radians per second while looking around: a full turn takes 6 s."""


_OPEN_M = 1.0
"""Clear distance all around that a place to look around should have, in metres."""


@dataclass(frozen=True, slots=True)
class TourMoment:
    """Moment of a tour.

    Attributes:
        second: seconds since its start.
        pose: pose of the body; ``viewpoint`` is the one reached last.
        region: region of that viewpoint, if it has one.
    """

    second: float
    pose: Pose
    region: str | None


@dataclass(frozen=True, slots=True)
class _TourLeg:
    seconds: float
    before: Pose
    after: Pose
    turn: float
    """Rotation between the headings, radians, clockwise positive; a full turn is 2 pi."""


@dataclass(frozen=True)
class Tour:
    """Timed path through a scene.

    Attributes:
        scene: the scene.
        left_out: regions that are unreachable from its start.
    """

    scene: Scene
    left_out: tuple[str, ...]
    _legs: tuple[_TourLeg, ...]

    @property
    def seconds(self) -> float:
        """Duration in seconds."""
        return sum(leg.seconds for leg in self._legs)

    def moments(self, rate: float) -> Iterator[TourMoment]:
        """Yield the tour's moments at a rate per second, the first at 0 s.

        Args:
            rate: moments per second, above 0.
        """
        begin, count = 0.0, 0
        for leg in self._legs:
            while count / rate < begin + leg.seconds:
                yield self._at(leg, count / rate - begin, count / rate)
                count += 1
            begin += leg.seconds

    def _at(self, leg: _TourLeg, since: float, second: float) -> TourMoment:
        part = since / leg.seconds
        a, b = leg.before, leg.after
        x, y, z = (p + (q - p) * part for p, q in zip(a.position, b.position, strict=True))
        pose = Pose((x, y, z), wrap_angle(a.heading + leg.turn * part), 0.0, a.viewpoint)
        return TourMoment(second, pose, self.scene.viewpoint_by_id[a.viewpoint or ""].region)


def plan_tour(scene: Scene) -> Tour:
    """Return a tour of every region that is reachable in the largest part of the graph.

    The regions are visited in the order of a short path through one viewpoint of each. The tour
    follows the graph's edges, and turns around once in each region.

    Raises:
        SimulatorError: the scene has no navigation graph.
    """
    if not scene.viewpoints:
        raise SimulatorError(f"{scene.uri} has no navigation graph: no viewpoint to tour.")
    graph = scene.navigation_graph()
    part = max(nx.connected_components(graph), key=lambda each: (len(each), min(each)))
    stops = _stops(scene, part)
    order = _order(scene, stops)
    seen = {scene.viewpoint_by_id[stop].region for stop in stops}
    left_out = tuple(r.id for r in scene.regions if r.id not in seen)
    return Tour(scene, left_out, tuple(_legs(scene, order, set(stops))))


def _stops(scene: Scene, part: set[str]) -> list[str]:
    """Choose a viewpoint of each region; all viewpoints if none has a region.

    The choice has the smallest total distance to the region's others, among those with a view of
    the room rather than of a nearby wall.
    """
    groups: dict[str, list[str]] = {}
    for each in scene.viewpoints:
        if each.id in part and each.region is not None:
            groups.setdefault(each.region, []).append(each.id)
    if not groups:
        return sorted(part)
    table, looks = metre_table(scene, "3d"), can_render(scene)

    def close(one: str) -> float:
        """Return the clear distance that is missing, in metres, rounded to a decimetre."""
        near = _clear(scene, scene.viewpoint_by_id[one]) if looks else _OPEN_M
        return round(max(0.0, _OPEN_M - near), 1)

    return [
        min(group, key=lambda one: (close(one), sum(table.distance(one, o) for o in group), one))
        for group in groups.values()
    ]


def _clear(scene: Scene, viewpoint: Viewpoint) -> float:
    """Return the distance at eye height that is free in four of five directions, in metres."""
    turn = np.linspace(0, 2 * math.pi, 60, endpoint=False)
    ways = np.stack([np.sin(turn), np.zeros_like(turn), -np.cos(turn)], axis=1)
    eye = np.asarray(eye_position(viewpoint), dtype=np.float32)
    hits = scene_mesh(scene).caster.cast(eye, ways.astype(np.float32))
    return float(np.quantile(hits.distance, 0.2))


def _order(scene: Scene, stops: Sequence[str]) -> list[str]:
    """Order the stops into a short path: nearest neighbour first, then 2-opt."""
    table = metre_table(scene, "3d")
    left, order = list(stops[1:]), [stops[0]]
    while left:
        nearest = min(left, key=lambda each: (table.distance(order[-1], each), each))
        left.remove(nearest)
        order.append(nearest)
    better = True
    while better:
        better = False
        for i in range(1, len(order) - 1):
            for j in range(i + 1, len(order)):
                turned = [*order[:i], *reversed(order[i : j + 1]), *order[j + 1 :]]
                if _metres(scene, turned) < _metres(scene, order) - 1e-6:
                    order, better = turned, True
    return order


def _metres(scene: Scene, order: Sequence[str]) -> float:
    table = metre_table(scene, "3d")
    return sum(table.distance(a, b) for a, b in pairwise(order))


def _legs(scene: Scene, order: Sequence[str], stops: set[str]) -> Iterator[_TourLeg]:
    table, places = metre_table(scene, "3d"), scene.viewpoint_by_id
    way = [order[0]]
    for a, b in pairwise(order):
        way += (table.path(a, b) or [b])[1:]
    heading = 0.0
    if len(way) > 1:
        heading = heading_to(places[way[0]].position, places[way[1]].position)
    for here, there in pairwise([*way, ""]):
        at = places[here].ground
        pose = Pose(at, heading, 0.0, here)
        if here in stops:
            stops.discard(here)
            yield _TourLeg(2 * math.pi / LOOK, pose, pose, 2 * math.pi)
        if not there:
            return
        onward = heading_to(places[here].position, places[there].position)
        turn = turn_between(heading, onward)
        if abs(turn) > 1e-3:
            yield _TourLeg(abs(turn) / TURN, pose, Pose(at, onward, 0.0, here), turn)
        goal = places[there].ground
        walked = Pose(at, onward, 0.0, here)
        yield _TourLeg(math.dist(at, goal) / WALK, walked, Pose(goal, onward, 0.0, there), 0.0)
        heading = onward
