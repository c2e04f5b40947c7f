"""Several bodies that go about their business in one scene, in each other's way; a relay of two.

Time goes in turns; in each, everybody goes as far as its body is fast. A stop is a thing to stand
by: within ``REACH_M`` of its edge, in its room. Who finds another in its way waits; if that does
not help, one of them goes aside until the other is past: who waits for something or has done
before who goes, who carries nothing before who carries, and of equals the last named. Who is
stopped by anything else plans anew, a few times.

A relay (CoNavBench 4.1) is driven by two bodies that both set out at second 0. Whoever delivers
waits by the transfer asset until the object lies there. What is planned is the relay's own metres
over G+ (CoNavBench 3.1.3); ``way`` is the body's own way as it set out, ``driven`` what it came to.
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
from navloom.scenes.bodies import Embodiment, mover_of, outer
from navloom.scenes.scene import Box, Item, Point2, Point3, Scene
from navloom.sim.graph import nearest_viewpoint, region_of
from navloom.sim.protocol import Contact, Forward, Observation, Pose, Simulator, Waypoint, touches
from navloom.tools.forms import listed
from navloom.tools.navcraft.paths import Anchor
from navloom.tools.navcraft.relay import RelayChoice, RobotName, roles_of
from navloom.tools.navcraft.task import RelayTask
from navloom_worlds.moving.driving import STUCK_M, strides, why_not
from navloom_worlds.moving.surroundings import body_way, drives, standing, thinned

REACH_M = 1.0
"""From a body's middle to the edge of what it takes, or puts something on."""
TURN_S = 0.5
"""Bodies move in turns of so many seconds."""
MOST_S = 1_800.0
"""What takes longer is given up."""
PATIENCE = 6
"""Turns that one waits for another before somebody makes way."""
MOST_TRIES = 5
"""How often a stop is planned anew, and how often somebody makes way on the way to it."""
_NEAR_M = 0.1
"""Who is so near to where it was sent has come there."""
_ASIDE_M, _HELD = 3.0, 20
"""How far one goes back to make way, and for how many turns it then stays there at most."""
_SPARE_M, _BACK_M = 0.02, 0.4
_MOST_ASIDE = 20
_RINGS = (0.25, 0.4, 0.55, 0.7, 0.85, REACH_M)
_ALONG_M = 0.3


@dataclass
class GoalStop:
    """A thing to go to, and how that went.

    Attributes:
        item: the thing.
        carries: whether something is carried there.
        after: asked before one sets out; None: at once.
        way: metres of the body's way as it set out; None where there was none.
        driven: metres from turn to turn.
        contacts: what was touched on the way.
        arrived: whether it stands by the thing.
        reason: why not, where it does not.
        waited: seconds before it set out.
        seconds: when it had come, or gave up.
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
class Goer:
    """A body with its stops, one after another.

    Attributes:
        name: what it is called in the simulator.
        body: its body.
        stops: where it goes.
        begun: how many stops it has come to.
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
        """Where it is going; None where it has done, or has given up."""
        if self.begun >= len(self.stops) or any(each.reason for each in self.stops):
            return None
        return self.stops[self.begun]

    @property
    def waits(self) -> bool:
        """Whether what it goes for next is not there yet."""
        stop = self.stop
        return stop is not None and stop.after is not None and not stop.after()

    @property
    def rank(self) -> tuple[bool, bool]:
        """How little it should be sent aside: whether it goes somewhere, and carries something."""
        going = self.stop is not None and not self.waits
        return going, going and self.stop is not None and self.stop.carries

    def sent_aside(self, points: list[Point3]) -> None:
        """Leave its way; from where it waits for something it has to come back for that."""
        if self.waits and self.begun:
            self.begun -= 1
            self.stops[self.begun].arrived = False
        self.aside, self.ahead = points, []


def go_about(simulator: Simulator, goers: Sequence[Goer]) -> float:
    """Let bodies go to their stops until all have come, or given up.

    Args:
        simulator: one that drives bodies; all are in it. Their stops are written into.
        goers: who; of two in each other's way the last named makes way.

    Returns:
        How many seconds it took, by the bodies' speeds.

    Raises:
        SimulatorError: the backend drives no bodies, or refuses.
    """
    if not drives(simulator):
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


def by_the_thing(scene: Scene, item: Item) -> list[Pose]:
    """Places within reach of a thing, in its room; whether a body can stand there is not asked.

    Args:
        scene: where.
        item: the thing; what stands on another thing is reached from beside that one.
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
    """The bodies and the clock."""

    def __init__(self, simulator: Simulator, goers: Sequence[Goer]) -> None:
        self._simulator, self._goers, self.seconds = simulator, goers, 0.0
        seen = simulator.step({})
        for goer in goers:
            goer.pose = seen[goer.name].pose
            goer.trail = [goer.pose.position]

    def turn(self) -> bool:
        """Let everybody move for a turn; False where nobody has anything left to do."""
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

    def _lost(self, goer: Goer, why: str) -> None:
        """No way leads to where it was sent: it was pushed off its way."""
        goer.ahead, goer.aside = [], []
        if (stop := goer.stop) is not None:
            stop.tries += 1
            if stop.tries > MOST_TRIES:
                stop.reason, stop.seconds = why, self.seconds

    def _target(self, goer: Goer) -> Point3 | None:
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

    def _plan(self, goer: Goer, stop: GoalStop) -> None:
        scene = self._simulator.scene
        free = [
            pose
            for pose in by_the_thing(scene, stop.item)
            if all(
                math.dist(pose.position, other.pose.position) > _apart(goer.body, other.body)
                for other in self._goers
                if other is not goer
            )
        ]
        mover, needed = mover_of(scene, goer.body), outer(goer.body) + _SPARE_M
        # Who comes to where it cannot turn does not get away again.
        roomy = [pose for pose in free if mover.clearance(pose.position) >= needed]
        way = body_way(self._simulator, goer.pose, roomy, goer.body) if roomy else None
        if way is None and free:
            way = body_way(self._simulator, goer.pose, free, goer.body)
        if way is None:
            stop.seconds = self.seconds
            stop.reason = self._no_way(goer, stop)
            return
        if stop.way is None:
            stop.way = float(way.metres)
        goer.ahead = strides(thinned(way.points), goer.body.speed * TURN_S) or [goer.pose.position]

    def _no_way(self, goer: Goer, stop: GoalStop) -> str:
        scene, item = self._simulator.scene, stop.item
        return why_not(self._simulator, goer.pose, item.region or item.position, goer.body).replace(
            "from here", f"from {region_of(scene, goer.pose)}"
        )

    def _moved(self, goer: Goer, target: Point3, seen: Observation) -> None:
        gone = math.dist(goer.pose.position, seen.pose.position)
        goer.pose, stop = seen.pose, goer.stop
        there = math.dist(seen.pose.position, target) <= _NEAR_M
        if goer.aside:
            self._gone_aside(goer, there, gone)
        elif stop is not None:
            stop.contacts += touches(seen.contacts)
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

    def _hindered(self, goer: Goer, stop: GoalStop, seen: Observation, gone: float) -> None:
        names = {other.name: other for other in self._goers}
        met = [names[each.what] for each in seen.contacts if each.what in names]
        if met:
            goer.blocked += 1
            if goer.blocked >= PATIENCE:
                goer.blocked = 0
                self._make_way(goer, met[0], stop)
            return
        goer.ahead = []
        things = list(dict.fromkeys(each.what for each in touches(seen.contacts)))
        against, touched = listed(things), bool(things)
        if gone < STUCK_M:
            # A long body that cannot turn where it is may be able to a little farther back.
            with suppress(SimulatorError):
                seen = self._simulator.step({goer.name: Forward(-_BACK_M)})[goer.name]
                stop.contacts += touches(seen.contacts)
                stop.driven += math.dist(goer.pose.position, seen.pose.position)
                goer.pose = seen.pose
        stop.tries += gone < STUCK_M or touched
        if stop.tries > MOST_TRIES:
            past = f"past {against}" if touched else "any farther"
            stop.reason = f"it did not get {past}"
            stop.seconds = self.seconds

    def _make_way(self, goer: Goer, other: Goer, stop: GoalStop) -> None:
        stop.tries += 1
        if stop.tries > MOST_TRIES:
            stop.reason, stop.seconds = f"{other.name} was in its way", self.seconds
            return
        order = sorted((goer, other), key=lambda each: (each.rank, -self._goers.index(each)))
        for yields, passes in (order, order[::-1]):
            if aside := self._out_of_way(yields, passes) or _back(yields):
                yields.sent_aside(aside)
                return

    def _out_of_way(self, goer: Goer, other: Goer) -> list[Point3]:
        """The way to the nearest viewpoint that the other does not come by."""
        apart = _apart(goer.body, other.body) + _SPARE_M
        comes = [other.pose.position, *other.ahead]
        scene, here = self._simulator.scene, goer.pose.position
        spots = (each.ground for each in scene.viewpoints)
        floors = sorted(spots, key=lambda spot: math.dist(spot, here))
        for spot in floors[:_MOST_ASIDE]:
            if min(math.dist(spot, each) for each in comes) < apart:
                continue
            way = body_way(self._simulator, goer.pose, [Pose(spot)], goer.body)
            if way is not None and way.metres < 2 * _ASIDE_M:
                return strides(thinned(way.points), goer.body.speed * TURN_S)
        return []

    def _gone_aside(self, goer: Goer, there: bool, gone: float) -> None:
        if there:
            goer.aside.pop(0)
        elif gone < STUCK_M:
            goer.aside = []
        if not goer.aside:
            goer.held = _HELD

    def _is_past(self, goer: Goer) -> bool:
        return all(
            math.dist(goer.pose.position, other.pose.position) > _ASIDE_M
            for other in self._goers
            if other is not goer
        )


def _back(goer: Goer) -> list[Point3]:
    """The way it came, as far as one goes back to make way."""
    points, far = [], 0.0
    for a, b in pairwise(reversed(goer.trail)):
        far += math.dist(a, b)
        points.append(b)
        if far >= _ASIDE_M:
            break
    return points


def _apart(one: Embodiment, other: Embodiment) -> float:
    """How far the middles of two bodies are apart at least, however they stand."""
    return sum(math.hypot(each.width, each.depth or 0.0) / 2 for each in (one, other)) + 0.05


def drive_relay(
    simulator: Simulator,
    task: RelayTask,
    relay: RelayChoice,
    bodies: Mapping[RobotName, Embodiment],
) -> dict[str, Any]:
    """Carry out a relay with two bodies.

    Args:
        simulator: of the task's scene, one that drives bodies; who was in it is forgotten.
        task: the single-robot task that the relay replaces.
        relay: a relay that the tool confirmed.
        bodies: robot_1's and robot_2's.

    Returns:
        JSON: ``done``, whether every leg arrived; ``legs``, each with its ``robot``, ``to``,
        ``region``, metres ``planned``, ``way`` and ``driven``, ``arrived``, ``contacts`` (how
        many), ``displaced`` (the most, in metres), ``touched`` (what), ``waited`` and ``reason``;
        of all legs ``planned``, ``driven`` and ``contacts``; ``seconds``; ``alpha``, robot_1's
        driven metres over its body's way alone, None where that or a leg did not get there.

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
        spot = standing(task.scene, region, bodies[name])
        # Where it cannot turn it may be able to stand.
        node = None if anchor is None else anchor.node
        poses[name] = Pose((0.0, 0.0, 0.0), viewpoint=node) if spot is None else Pose(spot)
    try:
        simulator.reset({name: (poses[name], bodies[name]) for name in bodies})
    except SimulatorError as error:
        return {**told, "done": False, "legs": [], "reason": f"A robot cannot start: {error}"}
    seconds = go_about(simulator, goers)
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
) -> list[Goer]:
    fetcher, deliverer = roles_of(relay.collab_type)
    handoff = task.transfers[relay[1:3]].item
    fetched = [GoalStop(task.object_item), GoalStop(handoff, carries=True)]
    delivered = [
        GoalStop(handoff),
        GoalStop(task.end_item, carries=True, after=lambda: fetched[1].arrived),
    ]
    stops = {fetcher: fetched, deliverer: delivered}
    return [Goer(name, bodies[name], stops[name]) for name in ("robot_1", "robot_2")]


def _planned(task: RelayTask, relay: RelayChoice) -> dict[str, tuple[float, float]]:
    """Each robot's two legs in metres over G+."""
    fetcher, deliverer = roles_of(relay.collab_type)
    helper, transfer = task.helpers[relay[0]], task.transfers[relay[1:3]]
    fetch = {"robot_1": task.start_to_object, "robot_2": helper.to_object}
    come = {
        "robot_1": transfer.from_start,
        "robot_2": helper.row[transfer.viewpoint] + transfer.spur,
    }
    return {
        fetcher: (fetch[fetcher], transfer.from_object),
        deliverer: (come[deliverer], transfer.to_end),
    }


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
    """Robot_1's driven metres over its body's way alone: to the object, and on to the end asset."""
    start = standing(task.scene, task.start_region, body)
    things = [by_the_thing(task.scene, item) for item in (task.object_item, task.end_item)]
    if start is None:
        return None
    there = body_way(simulator, Pose(start), things[0], body)
    on = there and body_way(simulator, Pose(there.points[-1]), things[1], body)
    if there is None or on is None or there.metres + on.metres <= 0:
        return None
    gone = sum(leg["driven"] for leg in legs if leg["robot"] == "robot_1")
    return float(gone / (there.metres + on.metres))
