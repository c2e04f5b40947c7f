"""Simultaneous driving of several bodies in one scene, and of a relay of two.

Time advances in turns; in each, every body moves as far as its speed allows. A stop is an item to
stand next to: within ``REACH_M`` of its edge, in its room. A body blocked by another waits. If that
does not help, one of them steps aside until the other is past: a body that waits or is done before
one that moves, one without a load before one that carries, and of equals the last named. A body
that is stopped by anything else replans, a few times.

A relay (CoNavBench 4.1) is driven by two bodies that both start at second 0. The deliverer waits by
the transfer asset until the object is there. ``planned`` is the relay's own length over G+
(CoNavBench 3.1.3), ``way`` the length of the body's own path at its start, ``driven`` the driven
length.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import shapely

from navloom.errors import SimulatorError
from navloom.scenes.bodies import Embodiment, motion_model_of, outer_radius
from navloom.scenes.scene import Box, Item, Point2, Point3, Scene
from navloom.sim.graph import nearest_viewpoint, region_of
from navloom.sim.protocol import (
    Contact,
    Forward,
    Observation,
    Pose,
    Simulator,
    Waypoint,
    displacing_contacts,
)
from navloom.tools.model_output import list_names
from navloom.tools.navcraft.relay import RelayChoice, RobotName, roles_of
from navloom.tools.navcraft.relay_task import RelayTask
from navloom.tools.navcraft.task_paths import Anchor
from navloom_worlds.moving.driving import STUCK_M, no_path_reason, split_polyline
from navloom_worlds.moving.surroundings import body_path, can_drive, standing_point, thin_points

REACH_M = 1.0
"""Maximum distance from a body's centre to the edge of an item that it takes or uses."""
TURN_S = 0.5
"""Duration of a turn in seconds."""
MOST_S = 1_800.0
"""Time limit in seconds."""
PATIENCE = 6
"""Turns that a body waits for another before one of them steps aside."""
MOST_TRIES = 5
"""Maximum number of replans and of steps aside on the way to a stop."""
_NEAR_M = 0.1
"""Distance from a target at which it is reached."""
_ASIDE_M, _HELD = 3.0, 20
"""Distance of a step aside, and the maximum number of turns spent there."""
_SPARE_M, _BACK_M = 0.02, 0.4
_MOST_ASIDE = 20
_RINGS = (0.25, 0.4, 0.55, 0.7, 0.85, REACH_M)
_ALONG_M = 0.3


@dataclass
class GoalStop:
    """Item to go to, and the result.

    Attributes:
        item: the item.
        carries: whether the body carries an object there.
        after: condition for the start; None: at once.
        way: length of the body's path at the start in metres; None if there was none.
        driven: metres from turn to turn.
        contacts: contacts on the way.
        arrived: whether it reached the item.
        reason: why it did not, if so.
        waited: seconds before its start.
        seconds: time of its arrival or failure.
    """

    item: Item
    carries: bool = False
    after: Callable[[], bool] | None = None
    way: float | None = None
    driven: float = 0.0
    contacts: list[Contact] = field(default_factory=list)
    arrived: bool = False
    reason: str = ""
    waited: float = 0.0
    seconds: float = 0.0
    tries: int = 0


@dataclass
class MovingBody:
    """Body with a sequence of stops.

    Attributes:
        name: its name in the simulator.
        body: its body.
        stops: its stops.
        begun: number of stops reached.
    """

    name: str
    body: Embodiment
    stops: list[GoalStop]
    begun: int = 0
    pose: Pose = field(default_factory=lambda: Pose((0.0, 0.0, 0.0)))
    trail: list[Point3] = field(default_factory=list)
    ahead: list[Point3] = field(default_factory=list)
    blocked: int = 0
    aside: list[Point3] = field(default_factory=list)
    held: int = 0

    @property
    def stop(self) -> GoalStop | None:
        """Current stop of the body; None if the body has finished its stops or failed."""
        if self.begun >= len(self.stops) or any(each.reason for each in self.stops):
            return None
        return self.stops[self.begun]

    @property
    def waits(self) -> bool:
        """Return whether the body waits: its next stop's start condition is not met yet."""
        stop = self.stop
        return stop is not None and stop.after is not None and not stop.after()

    @property
    def rank(self) -> tuple[bool, bool]:
        """Priority where bodies meet: whether this body moves, and whether it carries an object."""
        going = self.stop is not None and not self.waits
        return going, going and self.stop is not None and self.stop.carries

    def step_aside(self, points: list[Point3]) -> None:
        """Leave the path; a waiting body has to drive to its waiting place again."""
        if self.waits and self.begun:
            self.begun -= 1
            self.stops[self.begun].arrived = False
        self.aside, self.ahead = points, []


def drive_all(simulator: Simulator, goers: Sequence[MovingBody]) -> float:
    """Move bodies to their stops until all have arrived or failed.

    Args:
        simulator: a backend that drives bodies; all are in it. Their stops are modified.
        goers: the bodies; of two that block each other the last named steps aside.

    Returns:
        Duration in seconds, by the bodies' speeds.

    Raises:
        SimulatorError: the backend drives no bodies, or refuses.
    """
    if not can_drive(simulator):
        raise SimulatorError(
            "This simulator drives no bodies: use embedded or habitat with physics='slide'."
        )
    party = _Party(simulator, goers)
    while party.seconds < MOST_S and party.turn():
        pass
    for goer in goers:
        if goer.stop is not None:
            goer.stop.reason = f"it was not there after {party.seconds:.0f} s"
    return party.seconds


def poses_near_item(scene: Scene, item: Item) -> list[Pose]:
    """Return poses within reach of an item, in its room, without checking that a body fits.

    Args:
        scene: the scene.
        item: the item; an object on a holder is reached from beside the holder.
    """
    held = scene.item_by_id.get(item.on or "", item)
    x, _, z = held.position
    corners: Sequence[Point2] = ((x, z),)
    if held.size is not None:
        corners = Box(center=held.position, size=held.size, yaw=held.yaw).corners()
    outline = shapely.MultiPoint(corners).convex_hull
    inside = scene.viewpoints_by_region.get(item.region or "", ())
    near = inside[0].id if inside else nearest_viewpoint(scene, item.position)[0]
    floor = scene.viewpoint_by_id[near].ground[1]
    found = []
    for ring in _RINGS:
        around = outline.buffer(ring).exterior
        for k in range(max(8, math.ceil(around.length / _ALONG_M))):
            spot = around.interpolate(k * _ALONG_M)
            pose = Pose((spot.x, floor, spot.y))
            if item.region is None or region_of(scene, pose) == item.region:
                found.append(pose)
    return found


class _Party:
    """Bodies and the clock."""

    def __init__(self, simulator: Simulator, goers: Sequence[MovingBody]) -> None:
        self._simulator, self._goers, self.seconds = simulator, goers, 0.0
        seen = simulator.step({})
        for goer in goers:
            goer.pose = seen[goer.name].pose
            goer.trail = [goer.pose.position]

    def turn(self) -> bool:
        """Move all bodies for a turn; return False if none has anything left to do."""
        if all(goer.stop is None and not goer.aside for goer in self._goers):
            return False
        self.seconds += TURN_S
        for goer in self._goers:
            target = self._target(goer)
            if target is None:
                continue
            try:
                seen = self._simulator.step({goer.name: Waypoint(target)})[goer.name]
            except SimulatorError as error:
                self._lost(goer, str(error))
            else:
                self._moved(goer, target, seen)
        return True

    def _lost(self, goer: MovingBody, why: str) -> None:
        """Replan for a body that was pushed off its path and has none to its target."""
        goer.ahead, goer.aside = [], []
        if (stop := goer.stop) is not None:
            stop.tries += 1
            if stop.tries > MOST_TRIES:
                stop.reason, stop.seconds = why, self.seconds

    def _target(self, goer: MovingBody) -> Point3 | None:
        if goer.aside:
            return goer.aside[0]
        if goer.held:
            goer.held -= 1
            if goer.held and not self._is_past(goer):
                return None
            goer.held, goer.ahead = 0, []
        stop = goer.stop
        if stop is None:
            return None
        if goer.waits:
            if any(each.reason for other in self._goers for each in other.stops):
                stop.reason = "what it waits for does not come"
            stop.waited += TURN_S
            return None
        if not goer.ahead:
            self._plan(goer, stop)
        return goer.ahead[0] if goer.ahead else None

    def _plan(self, goer: MovingBody, stop: GoalStop) -> None:
        scene = self._simulator.scene
        free = [
            pose
            for pose in poses_near_item(scene, stop.item)
            if all(
                math.dist(pose.position, other.pose.position) > _apart(goer.body, other.body)
                for other in self._goers
                if other is not goer
            )
        ]
        mover, needed = motion_model_of(scene, goer.body), outer_radius(goer.body) + _SPARE_M
        # A body that stops where it cannot turn would not get away again.
        roomy = [pose for pose in free if mover.clearance(pose.position) >= needed]
        way = body_path(self._simulator, goer.pose, roomy, goer.body) if roomy else None
        if way is None and free:
            way = body_path(self._simulator, goer.pose, free, goer.body)
        if way is None:
            stop.seconds = self.seconds
            stop.reason = self._no_way(goer, stop)
            return
        if stop.way is None:
            stop.way = float(way.metres)
        goer.ahead = split_polyline(thin_points(way.points), goer.body.speed * TURN_S) or [
            goer.pose.position
        ]

    def _no_way(self, goer: MovingBody, stop: GoalStop) -> str:
        scene, item = self._simulator.scene, stop.item
        return no_path_reason(
            self._simulator, goer.pose, item.region or item.position, goer.body
        ).replace("from here", f"from {region_of(scene, goer.pose)}")

    def _moved(self, goer: MovingBody, target: Point3, seen: Observation) -> None:
        gone = math.dist(goer.pose.position, seen.pose.position)
        goer.pose, stop = seen.pose, goer.stop
        there = math.dist(seen.pose.position, target) <= _NEAR_M
        if goer.aside:
            self._gone_aside(goer, there, gone)
        elif stop is not None:
            stop.contacts += displacing_contacts(seen.contacts)
            if there:
                goer.ahead.pop(0)
                goer.blocked = 0
                if not goer.ahead:
                    stop.arrived, stop.seconds = True, self.seconds
                    goer.begun += 1
            else:
                self._hindered(goer, stop, seen, gone)
        if stop is not None:
            stop.driven += gone
        if gone > 0:
            goer.trail.append(seen.pose.position)

    def _hindered(self, goer: MovingBody, stop: GoalStop, seen: Observation, gone: float) -> None:
        names = {other.name: other for other in self._goers}
        met = [names[each.what] for each in seen.contacts if each.what in names]
        if met:
            goer.blocked += 1
            if goer.blocked >= PATIENCE:
                goer.blocked = 0
                self._make_way(goer, met[0], stop)
            return
        goer.ahead = []
        things = list(dict.fromkeys(each.what for each in displacing_contacts(seen.contacts)))
        against, touched = list_names(things), bool(things)
        if gone < STUCK_M:
            # A long body that cannot turn here may be able to slightly farther back.
            with suppress(SimulatorError):
                seen = self._simulator.step({goer.name: Forward(-_BACK_M)})[goer.name]
                stop.contacts += displacing_contacts(seen.contacts)
                stop.driven += math.dist(goer.pose.position, seen.pose.position)
                goer.pose = seen.pose
        stop.tries += gone < STUCK_M or touched
        if stop.tries > MOST_TRIES:
            past = f"past {against}" if touched else "any farther"
            stop.reason = f"it did not get {past}"
            stop.seconds = self.seconds

    def _make_way(self, goer: MovingBody, other: MovingBody, stop: GoalStop) -> None:
        stop.tries += 1
        if stop.tries > MOST_TRIES:
            stop.reason, stop.seconds = f"{other.name} was in its way", self.seconds
            return
        order = sorted((goer, other), key=lambda each: (each.rank, -self._goers.index(each)))
        for yields, passes in (order, order[::-1]):
            if aside := self._out_of_way(yields, passes) or _back(yields):
                yields.step_aside(aside)
                return

    def _out_of_way(self, goer: MovingBody, other: MovingBody) -> list[Point3]:
        """Return the path to the nearest viewpoint off the other body's path."""
        apart = _apart(goer.body, other.body) + _SPARE_M
        comes = [other.pose.position, *other.ahead]
        scene, here = self._simulator.scene, goer.pose.position
        spots = (each.ground for each in scene.viewpoints)
        floors = sorted(spots, key=lambda spot: math.dist(spot, here))
        for spot in floors[:_MOST_ASIDE]:
            if min(math.dist(spot, each) for each in comes) < apart:
                continue
            way = body_path(self._simulator, goer.pose, [Pose(spot)], goer.body)
            if way is not None and way.metres < 2 * _ASIDE_M:
                return split_polyline(thin_points(way.points), goer.body.speed * TURN_S)
        return []

    def _gone_aside(self, goer: MovingBody, there: bool, gone: float) -> None:
        if there:
            goer.aside.pop(0)
        elif gone < STUCK_M:
            goer.aside = []
        if not goer.aside:
            goer.held = _HELD

    def _is_past(self, goer: MovingBody) -> bool:
        return all(
            math.dist(goer.pose.position, other.pose.position) > _ASIDE_M
            for other in self._goers
            if other is not goer
        )


def _back(goer: MovingBody) -> list[Point3]:
    """Return its own trail backwards, as far as a step aside goes."""
    points, far = [], 0.0
    for a, b in pairwise(reversed(goer.trail)):
        far += math.dist(a, b)
        points.append(b)
        if far >= _ASIDE_M:
            break
    return points


def _apart(one: Embodiment, other: Embodiment) -> float:
    """Return the distance of two bodies' centres above which they cannot touch."""
    return sum(math.hypot(each.width, each.depth or 0.0) / 2 for each in (one, other)) + 0.05


def drive_relay(
    simulator: Simulator,
    task: RelayTask,
    relay: RelayChoice,
    bodies: Mapping[RobotName, Embodiment],
) -> dict[str, Any]:
    """Drive a relay with two bodies.

    Args:
        simulator: a backend with the task's scene that drives bodies; it is reset.
        task: the single-robot task that the relay replaces.
        relay: a relay that the tool confirmed.
        bodies: bodies of robot_1 and robot_2.

    Returns:
        JSON: ``done``, whether every leg arrived; ``legs``, each with its ``robot``, ``to``,
        ``region``, metres ``planned``, ``way`` and ``driven``, ``arrived``, ``contacts`` (their
        number), ``displaced`` (maximum, in metres), ``touched`` (names), ``waited`` and
        ``reason``; totals ``planned``, ``driven`` and ``contacts``; ``seconds``; ``alpha``,
        robot_1's driven metres over its body's path alone, None if that or a leg failed.

    Raises:
        SimulatorError: the backend drives no bodies.
    """
    planned = _planned(task, relay)
    starts: dict[RobotName, tuple[str, Anchor | None]] = {
        "robot_1": (task.start_region, task.start_anchor),
        "robot_2": (relay[0], task.helpers[relay[0]].anchor),
    }
    goers = _goers(task, relay, bodies)
    told: dict[str, Any] = {"bodies": {name: body.name for name, body in bodies.items()}}
    poses = {}
    for name, (region, anchor) in starts.items():
        spot = standing_point(task.scene, region, bodies[name])
        # A body that cannot turn there may still be able to stand.
        node = None if anchor is None else anchor.node
        poses[name] = Pose((0.0, 0.0, 0.0), viewpoint=node) if spot is None else Pose(spot)
    try:
        simulator.reset({name: (poses[name], bodies[name]) for name in bodies})
    except SimulatorError as error:
        return {**told, "done": False, "legs": [], "reason": f"A robot cannot start: {error}"}
    seconds = drive_all(simulator, goers)
    legs = [
        {"robot": goer.name, "planned": metres, **_leg(stop)}
        for goer in goers
        for stop, metres in zip(goer.stops, planned[goer.name], strict=True)
    ]
    done = all(leg["arrived"] for leg in legs)
    reasons = [f"{leg['robot']}: {leg['reason']}" for leg in legs if leg["reason"]]
    return {
        **told,
        "done": done,
        "planned": sum(leg["planned"] for leg in legs),
        "driven": sum(leg["driven"] for leg in legs),
        "contacts": sum(leg["contacts"] for leg in legs),
        "seconds": seconds,
        "alpha": _alpha(simulator, task, legs, bodies["robot_1"]) if done else None,
        "reason": reasons[0] if reasons else None,
        "legs": legs,
    }


def _goers(
    task: RelayTask, relay: RelayChoice, bodies: Mapping[RobotName, Embodiment]
) -> list[MovingBody]:
    fetcher, deliverer = roles_of(relay.collab_type)
    handoff = task.transfers[relay[1:3]].item
    fetched = [GoalStop(task.object_item), GoalStop(handoff, carries=True)]
    delivered = [
        GoalStop(handoff),
        GoalStop(task.end_item, carries=True, after=lambda: fetched[1].arrived),
    ]
    stops = {fetcher: fetched, deliverer: delivered}
    return [MovingBody(name, bodies[name], stops[name]) for name in ("robot_1", "robot_2")]


def _planned(task: RelayTask, relay: RelayChoice) -> dict[str, tuple[float, float]]:
    """Return each robot's two legs in metres over G+."""
    fetcher, deliverer = roles_of(relay.collab_type)
    other, given = task.helpers[relay[0]], task.transfers[relay[1:3]]
    fetch = {"robot_1": task.start_to_object, "robot_2": other.to_object}
    come = {"robot_1": given.from_start, "robot_2": other.row[given.viewpoint] + given.spur}
    fetched, delivered = (fetch[fetcher], given.from_object), (come[deliverer], given.to_end)
    return {fetcher: fetched, deliverer: delivered}


def _leg(stop: GoalStop) -> dict[str, Any]:
    return {
        "to": stop.item.prompt_name,
        "to_id": stop.item.id,
        "region": stop.item.region,
        "way": stop.way,
        "driven": stop.driven,
        "arrived": stop.arrived,
        "contacts": len(stop.contacts),
        "displaced": max((each.displacement for each in stop.contacts), default=0.0),
        "touched": list(dict.fromkeys(each.what for each in stop.contacts)),
        "waited": stop.waited,
        "seconds": stop.seconds,
        "reason": stop.reason or None,
    }


def _alpha(
    simulator: Simulator, task: RelayTask, legs: list[dict[str, Any]], body: Embodiment
) -> float | None:
    """Return the ratio of robot_1's driven metres to its path alone: to object and end asset."""
    start = standing_point(task.scene, task.start_region, body)
    things = [poses_near_item(task.scene, item) for item in (task.object_item, task.end_item)]
    if start is None:
        return None
    there = body_path(simulator, Pose(start), things[0], body)
    on = there and body_path(simulator, Pose(there.points[-1]), things[1], body)
    if there is None or on is None or there.metres + on.metres <= 0:
        return None
    gone = sum(leg["driven"] for leg in legs if leg["robot"] == "robot_1")
    return float(gone / (there.metres + on.metres))
