"""Movement to a place and through a link, in any simulator, with the contacts on the way.

A graph-only backend hops along the shortest path. A backend that drives bodies (its capabilities
include ``waypoint``) is sent along it, half a metre at a time. The planned length is that of
``Simulator.geodesic`` for the body, the driven length is measured from pose to pose.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import shapely

from navloom.errors import SimulatorError, did_you_mean
from navloom.scenes.bodies import DEFAULT_BODY, Embodiment, has_geometry
from navloom.scenes.scene import Link, Point3, Scene, distance_2d
from navloom.sim.graph import nearest_viewpoint
from navloom.sim.protocol import (
    Action,
    Contact,
    Hop,
    Observation,
    Path,
    Pose,
    Simulator,
    Waypoint,
    displacing_contacts,
)
from navloom.tools.chat.obstructions import first_barrier, first_obstacle
from navloom.tools.model_output import list_names, quote
from navloom_worlds.moving.surroundings import (
    Spot,
    can_drive,
    contact_records,
    goal_places,
    observation_of,
    path_to,
    pose_record,
)

STRIDE_M = 0.5
"""Length of a stride: a body is sent one stride at a time, and measured after each."""
STUCK_M = 0.01
"""A body that touches something and moves less than this in a stride is stuck."""
ARRIVED_M = 0.3
"""Distance from the goal at which a body has arrived."""
NEAR_LINK_M = 1.0
"""Distance from a link's centre, at least half its width, within which a body passes it."""


@dataclass(frozen=True)
class DriveAttempt:
    """Attempted drive along a path.

    Attributes:
        arrived: whether it ended within ``ARRIVED_M`` of its goal.
        planned: length of the backend's path in metres; None if there is none.
        driven: metres from pose to pose.
        contacts: the contacts, in order.
        trail: the poses, from the first one on.
        reason: why it did not arrive; empty if it did.
    """

    arrived: bool
    planned: float | None
    driven: float
    trail: tuple[Pose, ...]
    contacts: tuple[Contact, ...] = ()
    reason: str = ""

    def record(self, scene: Scene) -> dict[str, Any]:
        """Return the attempt as JSON: ``arrived``, ``planned``, ``driven``, pose, ``contacts``."""
        told: dict[str, Any] = {
            "arrived": self.arrived,
            "planned": None if self.planned is None else round(self.planned, 2),
            "driven": round(self.driven, 2),
            **pose_record(scene, self.trail[-1]),
            "contact_count": len(self.contacts),
            "contacts": contact_records(self.contacts),
        }
        return {**told, "reason": self.reason} if self.reason else told


def move_to(
    simulator: Simulator, place: Spot, agent: str = "robot", body: Embodiment = DEFAULT_BODY
) -> DriveAttempt:
    """Move to a viewpoint, a region or a point by the shortest path for a body.

    Args:
        simulator: any backend; the agent is in it.
        place: a viewpoint's id, a region's, or a point (x, y, z) on the floor.
        agent: name of the agent.
        body: its body, as in ``reset``.

    Returns:
        The drive; without a path the agent does not move.

    Raises:
        SimulatorError: no such agent or place, or the backend refuses.
    """
    start = observation_of(simulator, agent).pose
    way = path_to(simulator, start, place, body)
    if way is None:
        why = no_path_reason(simulator, start, place, body)
        return DriveAttempt(False, None, 0.0, (start,), reason=why)
    return follow_path(simulator, way, agent)


def no_path_reason(simulator: Simulator, start: Pose, place: Spot, body: Embodiment) -> str:
    """Return one line on why no path leads to a place for a body."""
    scene = simulator.scene
    here = start.viewpoint or nearest_viewpoint(scene, start.position)[0]
    end = goal_places(scene, place)[0]
    there = end if isinstance(end, str) else nearest_viewpoint(scene, end.position)[0]
    barrier = first_barrier(scene, here, there, body)
    named = quote(place) if isinstance(place, str) else "that point"
    why = f": {barrier.words(scene)}: {barrier.note}" if barrier else ""
    if barrier is None and has_geometry(scene):
        obstacle = first_obstacle(scene, here, there, body)
        why = f": {obstacle.what} leaves it too little room" if obstacle else ""
    return f"No way leads from here to {named} for {body.name}{why}."


def follow_path(simulator: Simulator, way: Path, agent: str = "robot") -> DriveAttempt:
    """Move along a path from the agent's pose; return the attempt.

    Args:
        simulator: any backend; the agent is in it, at the path's start.
        way: a path from ``Simulator.geodesic``.
        agent: name of the agent.

    Raises:
        SimulatorError: no such agent, or the backend refuses.
    """
    seen = observation_of(simulator, agent)
    trip = _Trip([seen.pose])
    if len(way.points) > 1:
        for action in _actions(simulator, way):
            seen = simulator.step({agent: action})[agent]
            trip.add(seen)
            if trip.stuck:
                break
    off = math.dist(seen.pose.position, way.points[-1])
    arrived = off <= ARRIVED_M
    against = list(dict.fromkeys(each.what for each in trip.contacts))[-3:]
    by = f" after it touched {list_names(against)}" if against else ""
    why = "" if arrived else f"It stopped {off:.2f} m short of it{by}."
    return DriveAttempt(
        arrived, float(way.metres), trip.metres, tuple(trip.poses), tuple(trip.contacts), why
    )


@dataclass
class _Trip:
    """State of a drive so far."""

    poses: list[Pose]
    contacts: list[Contact] = field(default_factory=list)
    metres: float = 0.0
    stuck: bool = False

    def add(self, seen: Observation) -> None:
        gone = math.dist(self.poses[-1].position, seen.pose.position)
        self.metres += gone
        met = displacing_contacts(seen.contacts)
        self.stuck = seen.collision or (bool(met) and gone < STUCK_M)
        self.poses.append(seen.pose)
        self.contacts += met


def _actions(simulator: Simulator, way: Path) -> list[Action]:
    if can_drive(simulator):
        return [Waypoint(each) for each in split_polyline(way.points)]
    if not way.viewpoints:
        raise SimulatorError(
            "The way leads off the graph, and this backend hops along it: name a viewpoint or a"
            " region, or use a backend with physics (embedded, habitat)."
        )
    return [Hop(each) for each in way.viewpoints[1:]]


def split_polyline(points: Sequence[Point3], metres: float = STRIDE_M) -> list[Point3]:
    """Return points along a polyline at limited spacing, with all corners but not the first.

    Args:
        points: the polyline, in metres.
        metres: maximum spacing.
    """
    found: list[Point3] = []
    for a, b in pairwise(points):
        many = max(1, math.ceil(math.dist(a, b) / metres))
        for k in range(1, many + 1):
            x, y, z = (u + (w - u) * k / many for u, w in zip(a, b, strict=True))
            found.append((x, y, z))
    return found


def drive_link(
    simulator: Simulator, a: str, b: str, agent: str = "robot", body: Embodiment = DEFAULT_BODY
) -> dict[str, Any]:
    """Drive a body through the link between two regions, and report whether it gets through.

    It is placed at the viewpoint on ``a``'s side of the link, and drives to the one on ``b``'s
    side. It stays where it ends.

    Args:
        simulator: any backend; the agent is in it.
        a: the region to start in.
        b: the region to drive to.
        agent: name of the agent.
        body: its body, as in ``reset``.

    Returns:
        ``through``, and the drive: ``planned`` and ``driven`` metres, ``contacts`` and, if it did
        not get through, ``reason``.

    Raises:
        SimulatorError: no such agent or regions, or no link between them.
    """
    scene = simulator.scene
    links = links_between(scene, a, b)
    observation_of(simulator, agent)
    tries = [_through(simulator, a, b, link, agent, body) for link in links]
    return next((each for each in tries if each["through"]), tries[0])


def links_between(scene: Scene, a: str, b: str) -> list[Link]:
    """Return the links between two regions.

    Raises:
        SimulatorError: no such regions, or none between them.
    """
    for each in (a, b):
        if each not in scene.region_by_id:
            raise SimulatorError(
                f"{scene.uri} has no region {quote(each)} (of {len(scene.regions)})."
                + did_you_mean(each[:100], scene.region_by_id)
            )
    found = [link for link in scene.links if {link.a, link.b} == {a, b}]
    if not found:
        pairs = [(link.a, link.b) for link in scene.links if a in (link.a, link.b)]
        beside = sorted({each for pair in pairs for each in pair} - {a})
        raise SimulatorError(
            f"No link leads from {quote(a)} to {quote(b)}: {a} has links to {list_names(beside)}."
        )
    return found


def _through(
    simulator: Simulator, a: str, b: str, link: Link, agent: str, body: Embodiment
) -> dict[str, Any]:
    scene = simulator.scene
    ends = _sides(scene, a, b, link)
    row: dict[str, Any] = {"from": a, "to": b, "kind": link.kind, "body": body.name}
    if ends is None:
        return {**row, "through": False, "reason": f"{a} or {b} has no viewpoint to drive between."}
    try:
        simulator.place(agent, Pose(scene.viewpoint_by_id[ends[0]].position, viewpoint=ends[0]))
    except SimulatorError as error:
        return {**row, "through": False, "reason": f"It cannot stand before the link: {error}"}
    drive = move_to(simulator, ends[1], agent, body)
    crossed = drive.arrived and _crosses(drive.trail, link)
    record = drive.record(scene)
    if drive.arrived and not crossed:
        record["reason"] = "It came there by another way: its way does not lead through this link."
    return {**row, "through": crossed, **record}


def _sides(scene: Scene, a: str, b: str, link: Link) -> tuple[str, str] | None:
    """Return a viewpoint of ``a`` and one of ``b`` between which a link can be driven.

    They are the ends of the edge from ``a`` to ``b`` whose midpoint is nearest to the link's
    centre. Without such an edge they are each region's viewpoint nearest to the link. None if a
    region has no viewpoint.
    """
    at = scene.viewpoint_by_id
    middle = link.point
    pairs = [
        (one, other)
        for edge in scene.edges
        for one, other in ((edge.a, edge.b), (edge.b, edge.a))
        if (at[one].region, at[other].region) == (a, b)
    ]
    if pairs:
        return min(pairs, key=lambda pair: (_beside(scene, pair, link), pair))
    inside = [scene.viewpoints_by_region[each] for each in (a, b)]
    if not all(inside):
        return None
    point = middle or scene.region_by_id[b].center
    one, other = (min(each, key=lambda v: distance_2d(v.position, point)).id for each in inside)
    return one, other


def _beside(scene: Scene, pair: Sequence[str], link: Link) -> float:
    """Return the distance from a link's centre to an edge's midpoint, in metres."""
    if link.point is None:
        return 0.0
    (ax, _, az), (bx, _, bz) = (scene.viewpoint_by_id[each].position for each in pair)
    return math.dist(((ax + bx) / 2, (az + bz) / 2), (link.point[0], link.point[2]))


def _crosses(trail: Sequence[Pose], link: Link) -> bool:
    if link.point is None:
        return True
    near = max(NEAR_LINK_M, (link.width or 0) / 2)
    x, _, z = link.point
    line = [(pose.position[0], pose.position[2]) for pose in trail]
    return len(line) > 1 and shapely.LineString(line).distance(shapely.Point(x, z)) <= near
