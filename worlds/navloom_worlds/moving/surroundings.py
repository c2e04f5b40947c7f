"""Surroundings of an agent in a simulator, and distances to places, without moving anything.

A place is a viewpoint's id, a region's id, or a point (x, y, z) on the floor, in metres in the
scene's frame. Invalid input raises :class:`~navloom.errors.SimulatorError` with one line that a
model can act on.

A body's field holds the positions of its centre, half its width from obstacles; a long body that
cuts a corner there collides. So its path leads over the viewpoints of its own graph: the edges
(:mod:`navloom_worlds.motion.body_graph`) were swept with its whole shape, and it can turn at the
viewpoints.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

import networkx as nx

from navloom.errors import SceneError, SimulatorError, did_you_mean
from navloom.scenes.bodies import (
    DEFAULT_BODY,
    Embodiment,
    body_graph,
    has_geometry,
    inner_radius,
    is_lift_or_stairs,
    motion_model_of,
    outer_radius,
)
from navloom.scenes.distances import scene_cached, turn_between
from navloom.scenes.scene import Point3, Scene, distance_2d
from navloom.scenes.viewpoint_hints import viewpoint_hint
from navloom.sim.graph import nearest_viewpoint, region_of
from navloom.sim.protocol import Captions, Contact, Observation, Path, Pose, Simulator
from navloom.tools.model_output import quote, sanitize_line

Spot: TypeAlias = str | Sequence[float]
"""A viewpoint's id, a region's id, or a point (x, y, z) in metres."""
MOST_LISTED = 12
_MOST_WORDS = 300
_NEAREST = 8
_TRIED = 40
"""Maximum number of connections to the graph that are swept."""


def can_drive(simulator: Simulator) -> bool:
    """Check whether a backend drives bodies off the graph."""
    return "waypoint" in simulator.capabilities


def observation_of(simulator: Simulator, agent: str) -> Observation:
    """Return the current observation of an agent; nothing moves.

    Args:
        simulator: any backend.
        agent: name of an agent in the scene.

    Raises:
        SimulatorError: no agent is in the scene, or none of that name.
    """
    seen = simulator.step({})
    if agent not in seen:
        raise SimulatorError(
            f"There is no agent {quote(agent)}: the scene holds {', '.join(seen)}."
            + did_you_mean(agent, seen)
        )
    return seen[agent]


def look_around(simulator: Simulator, agent: str = "robot") -> dict[str, Any]:
    """Describe an agent's pose, what it sees in words, and its last contacts.

    Args:
        simulator: any backend.
        agent: name of the agent.

    Returns:
        ``position`` (metres), ``heading`` (degrees clockwise from -z), ``viewpoint``, ``region``,
        ``summary``, ``objects`` (``name``, ``distance``, ``turn`` to it in degrees, to the right
        positive) and ``contacts``.

    Raises:
        SimulatorError: as :func:`observation_of`.
    """
    seen = observation_of(simulator, agent)
    words = seen.captions or Captions()
    return {
        **pose_record(simulator.scene, seen.pose),
        "summary": sanitize_line(words.summary, _MOST_WORDS),
        "objects": [
            {
                "name": sanitize_line(thing.name, 60),
                "distance": round(thing.distance, 2),
                "turn": _degrees(turn_between(seen.pose.heading, thing.heading)),
            }
            for thing in words.objects[:MOST_LISTED]
        ],
        "contacts": contact_records(seen.contacts),
    }


def candidates(simulator: Simulator, agent: str = "robot") -> dict[str, Any]:
    """List the viewpoints one hop away; off the graph none, but the nearest viewpoint.

    Args:
        simulator: any backend.
        agent: name of the agent.

    Returns:
        ``candidates``: ``viewpoint``, ``region``, ``distance`` (metres), ``turn`` (degrees, to the
        right positive) and ``description`` of each; off the graph ``nearest`` as well.

    Raises:
        SimulatorError: as :func:`observation_of`.
    """
    seen = observation_of(simulator, agent)
    ways = [
        {
            "viewpoint": way.viewpoint,
            "region": way.region,
            "distance": round(way.distance, 2),
            "turn": _degrees(turn_between(seen.pose.heading, way.heading)),
            "description": sanitize_line(way.description, _MOST_WORDS),
        }
        for way in seen.candidates
    ]
    if seen.pose.viewpoint is not None or not simulator.scene.viewpoints:
        return {"candidates": ways}
    name, metres = nearest_viewpoint(simulator.scene, seen.pose.position)
    return {"candidates": ways, "nearest": {"viewpoint": name, "distance": round(metres, 2)}}


def geodesic(
    simulator: Simulator, start: Spot | Pose, goal: Spot, body: Embodiment = DEFAULT_BODY
) -> dict[str, Any]:
    """Measure the shortest path of a body: over the floor if the backend drives bodies.

    Args:
        simulator: any backend.
        start: the start.
        goal: the goal; for a region its centre, or any reachable part of it.
        body: the embodiment.

    Returns:
        ``reachable``, and if so ``metres``, ``straight`` (straight-line metres), ``regions``
        passed, and ``viewpoints`` if the path is on the graph.

    Raises:
        SimulatorError: the place is unknown.
    """
    begin = start if isinstance(start, Pose) else goal_places(simulator.scene, start)[0]
    found = path_to(simulator, begin, goal, body)
    if found is None:
        return {"reachable": False, "body": body.name}
    known = simulator.scene.viewpoint_by_id
    named = [known[each].region for each in found.viewpoints if each in known]
    told: dict[str, Any] = {
        "reachable": True,
        "body": body.name,
        "metres": round(found.metres, 2),
        "straight": round(math.dist(found.points[0], found.points[-1]), 2),
    }
    if found.viewpoints:
        told["regions"] = list(dict.fromkeys(each for each in named if each))
        told["viewpoints"] = list(found.viewpoints)
    return told


def path_to(
    simulator: Simulator, start: Pose | str, goal: Spot, body: Embodiment = DEFAULT_BODY
) -> Path | None:
    """Return the shortest path to a place; None if there is none.

    Raises:
        SimulatorError: the place is unknown.
    """
    ends = goal_places(simulator.scene, goal)
    # A room's name means its centre, or any part of it if the centre is unreachable.
    found = body_path(simulator, start, ends[:1], body)
    return found or (body_path(simulator, start, ends[1:], body) if ends[1:] else None)


@runtime_checkable
class FloorPathBackend(Protocol):
    """Protocol of a backend that also plans a body's own paths between viewpoints."""

    def floor_path(
        self, start: Pose | str, goals: Sequence[Pose | str], embodiment: Embodiment
    ) -> Path | None:
        """Return the shortest path of a body over the floor."""
        ...


def body_path(
    simulator: Simulator, start: Pose | str, goals: Sequence[Pose | str], body: Embodiment
) -> Path | None:
    """Return a body's shortest path to the nearest goal, over the floor if the backend can.

    Raises:
        SimulatorError: no goal, or an unknown viewpoint.
    """
    if not (can_drive(simulator) and isinstance(simulator, FloorPathBackend)):
        return simulator.geodesic(start, goals, body)
    # A pose is more exact than its viewpoint.
    begin = start if isinstance(start, str) else Pose(start.position)
    long = outer_radius(body) > inner_radius(body) + 0.01
    if long and has_geometry(simulator.scene):
        scene = simulator.scene
        here, *ends = (_floor(scene, each) for each in (start, *goals))
        if found := graph_path(scene, here, ends, body):
            return found
    return simulator.floor_path(begin, goals, body)


def _floor(scene: Scene, place: Pose | str) -> Point3:
    """Return the floor position of a pose, or of a viewpoint id."""
    if isinstance(place, str):
        return scene.viewpoint_by_id[place].ground
    return place.position


def goal_places(scene: Scene, spot: Spot) -> list[Pose | str]:
    """Return the simulator's goals for a viewpoint, a region or a point.

    Args:
        scene: the scene.
        spot: a viewpoint's id, a region's id, or a point (x, y, z) in metres.

    Returns:
        The viewpoint's id alone, the point as a pose alone, or the ids of all viewpoints of the
        region, the nearest to its centre first.

    Raises:
        SimulatorError: the viewpoint or region is unknown, the point is not finite, or the region
            has no viewpoint.
    """
    if not isinstance(spot, str):
        return [Pose(parse_point(spot))]
    if spot in scene.viewpoint_by_id:
        return [spot]
    region = scene.region_by_id.get(spot)
    if region is None:
        raise SimulatorError(
            f"{scene.uri} has no viewpoint and no region {quote(spot)}: expected one of its"
            f" {len(scene.regions)} regions or {len(scene.viewpoints)} viewpoints, or a point."
            + (did_you_mean(spot[:100], scene.region_by_id) or viewpoint_hint(scene, spot))
        )
    inside = scene.viewpoints_by_region[spot]
    if not inside:
        raise SimulatorError(f"The region {spot} of {scene.uri} has no viewpoint to stand on.")
    ordered = sorted(inside, key=lambda each: distance_2d(each.position, region.center))
    return [each.id for each in ordered]


def parse_point(values: Sequence[float]) -> Point3:
    """Check a point given by a model or a user.

    Raises:
        SimulatorError: not three finite numbers.
    """
    numbers = [each for each in values if isinstance(each, (int, float)) and math.isfinite(each)]
    if len(values) != 3 or len(numbers) != 3:
        raise SimulatorError(
            f"{quote(list(values)[:6])} is no point: expected x, y and z in metres, three finite"
            " numbers."
        )
    x, y, z = (float(each) for each in numbers)
    return x, y, z


def pose_record(scene: Scene, pose: Pose) -> dict[str, Any]:
    """Return a pose as the JSON that all answers use."""
    return {
        "position": [round(value, 3) for value in pose.position],
        "heading": _degrees(pose.heading),
        "viewpoint": pose.viewpoint,
        "region": region_of(scene, pose),
    }


def contact_records(contacts: Sequence[Contact]) -> list[dict[str, Any]]:
    """Return contacts as JSON: ``what``, ``displacement`` (metres) and ``point``."""
    return [
        {
            "what": each.what,
            "displacement": round(each.displacement, 3),
            "point": [round(value, 2) for value in each.point],
        }
        for each in contacts[:MOST_LISTED]
    ]


def _degrees(radians: float) -> int:
    return round(math.degrees(radians))


def graph_path(
    scene: Scene, start: Point3, goals: Sequence[Point3], body: Embodiment
) -> Path | None:
    """Return the shortest path over a body's graph to a goal; None if no goal is reachable.

    Args:
        scene: with geometry.
        start: position of the body's centre, on the floor.
        goals: possible end positions.
        body: the embodiment.
    """
    try:
        key = f"planned {body.model_dump_json()}"
        graph, at = scene_cached(scene, key, lambda: _of(scene, body))
    except SceneError:
        return None
    mover = motion_model_of(scene, body)
    on = [
        name
        for name in _nearest(at, start)
        if math.dist(at[name], start) < 0.01 or mover.passes(start, at[name])
    ]
    if not on:
        return None
    reached: Any = nx.multi_source_dijkstra(graph, set(on), weight="metres")
    metres: dict[str, float] = reached[0]
    ways: dict[str, list[str]] = reached[1]
    pairs = sorted(
        (metres[name] + math.dist(at[name], goal), name, goal)
        for goal in goals
        for name in _nearest(at, goal)
        if name in metres
    )
    for _, name, goal in pairs[:_TRIED]:
        if math.dist(at[name], goal) < 0.01 or mover.passes(at[name], goal):
            kept = thin_points([start, *(at[each] for each in ways[name]), goal])
            return Path(tuple(kept), sum(map(math.dist, kept, kept[1:])))
    return None


def standing_point(scene: Scene, region: str, body: Embodiment) -> Point3 | None:
    """Return the position nearest to a region's centre where a body can stand and turn, or None.

    Raises:
        SimulatorError: a library for its graph is not installed.
    """
    try:
        own = body_graph(scene, body)
    except SceneError:
        return None
    middle = scene.region_by_id[region].center
    inside = own.viewpoints_by_region[region]
    nearest = min(inside, key=lambda each: (math.dist(each.ground, middle), each.id), default=None)
    return None if nearest is None else nearest.ground


def _of(scene: Scene, body: Embodiment) -> tuple[nx.Graph[str], dict[str, Point3]]:
    own = body_graph(scene, body)
    at = {each.id: each.ground for each in own.viewpoints}
    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from(at)
    graph.add_weighted_edges_from(
        (
            (edge.a, edge.b, math.dist(at[edge.a], at[edge.b]))
            for edge in own.edges
            if not is_lift_or_stairs(own, edge.a, edge.b, body)
        ),
        weight="metres",
    )
    return graph, at


def _nearest(at: dict[str, Point3], point: Point3) -> list[str]:
    return sorted(at, key=lambda name: (math.dist(at[name], point), name))[:_NEAREST]


def thin_points(points: Iterable[Point3]) -> list[Point3]:
    """Return a path without nearly coincident points."""
    kept: list[Point3] = []
    for point in points:
        if not kept or math.dist(kept[-1], point) > 0.01:
            kept.append(point)
    return kept
