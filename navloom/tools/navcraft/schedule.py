"""Schedule of a multi-robot plan: travel times, makespan, waits, and where two robots meet.

A plan is a list of legs. For one object, T_0 = 0. Over its k-th leg a robot r picks it up at
P_k = max(T_(k-1), arrival of r) and puts it down at T_k = P_k + d_r(x_(k-1), x_k) / v_r. The last T
of all objects is the makespan. A robot with several legs starts each where and when the one before
ended. A relay is the case of two robots (:mod:`navloom.tools.navcraft.relay_schedule`).

Robots walk the shortest path over G+ at a constant speed (1 m/s by default) from their start
viewpoints, and both leave at second 0. If the receiver reaches the transfer asset before the
object, it waits there. If the object is there first, it lies on the asset and nobody waits, since
the robot that brought it is done. A robot that is done is no longer considered.

Overlap is the time both robots are on the same edge of G+, or in the same doorway (the link that an
edge between two regions crosses), in either direction. A waiting robot stands on the spur of the
transfer asset, so the other's last metres to it count as overlap of kind ``handoff``.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import Literal

from navloom.errors import UsageError
from navloom.scenes.scene import Point3, Scene, distance_2d
from navloom.tools.model_output import quote
from navloom.tools.navcraft.relay import RobotName
from navloom.tools.navcraft.task_paths import Anchor, MetricGraph, crossed_link, resolve_node

PlaceKind = Literal["edge", "doorway", "handoff"]
Place = tuple[PlaceKind, str, str, str]
"""(kind, its two ends in sorted order, and for a doorway the link's index)."""
Spell = tuple[float, float]
"""(from, to) in seconds."""


@dataclass(frozen=True, slots=True)
class Speeds:
    """Speeds of the robots, in metres a second.

    Raises:
        UsageError: a speed is not a positive number.
    """

    robot_1: float = 1.0
    robot_2: float = 1.0

    def __post_init__(self) -> None:
        for speed in (self.robot_1, self.robot_2):
            if not (math.isfinite(speed) and speed > 0):
                raise UsageError(f"A robot's speed must be above 0 metres a second, not {speed}.")

    def of(self, robot: RobotName) -> float:
        """Return one robot's speed."""
        return self.robot_1 if robot == "robot_1" else self.robot_2


EVEN = Speeds()
"""Both at 1 m/s, so that seconds equal metres."""


@dataclass(frozen=True, slots=True)
class ScheduledRobot:
    """A robot as the input of a schedule: where it starts, on which graph, and how fast it is.

    Attributes:
        start: its position at second 0.
        graph: the G+ it walks on.
        speed: metres a second.
    """

    start: Anchor
    graph: MetricGraph
    speed: float


@dataclass(frozen=True, slots=True)
class CarryLeg:
    """One robot carries one object from one place to another.

    Attributes:
        robot: its name.
        object: the id of the object.
        origin: where it picks the object up.
        to: where it puts it down; a handoff if another leg of the object starts there.
    """

    robot: str
    object: str
    origin: Anchor
    to: Anchor


@dataclass(frozen=True, slots=True)
class RobotStop:
    """A robot at one node of G+.

    Attributes:
        node: a viewpoint id, or the anchor of an item (``"item ID"``).
        position: the node's position, in metres.
        region: the region it lies in, if any.
        arrive: second of arrival.
        leave: second of departure; later than ``arrive`` only if it waits.
    """

    node: str
    position: Point3
    region: str | None
    arrive: float
    leave: float


@dataclass(frozen=True, slots=True)
class TimedLeg:
    """A leg with its times.

    Attributes:
        leg: the leg.
        sets_out: second its robot leaves for the object: the end of its previous leg.
        arrives: second the robot reaches the place of the object.
        takes: second it picks the object up, not before the object is there.
        ends: second it puts the object down.
        brought: second the object arrived there.
    """

    leg: CarryLeg
    sets_out: float
    arrives: float
    takes: float
    ends: float
    brought: float

    @property
    def waits(self) -> float:
        """Seconds the robot waits for the object."""
        return max(0.0, self.brought - self.arrives)

    @property
    def object_wait_s(self) -> float:
        """Seconds the object waits for the robot."""
        return max(0.0, self.arrives - self.brought)


@dataclass(frozen=True)
class Timetable:
    """All legs with their times.

    Attributes:
        legs: the timed legs, in the given order.
        routes: each robot's stops, in order; one stop if it does nothing.
    """

    legs: tuple[TimedLeg, ...]
    routes: dict[str, tuple[RobotStop, ...]]

    @property
    def makespan_s(self) -> float:
        """Seconds until the last object is at its final place."""
        return max((leg.ends for leg in self.legs), default=0.0)


@dataclass(frozen=True, slots=True)
class Overlap:
    """Time that both robots spend in one place.

    Attributes:
        kind: ``edge`` (of G), ``doorway``, or ``handoff`` (the spur of the transfer asset).
        where: the two viewpoints, regions, or the viewpoint and the asset's anchor.
        seconds: for how long.
    """

    kind: PlaceKind
    where: tuple[str, str]
    seconds: float


def travel_time(metres: float, speed: float = 1.0) -> float:
    """Return the seconds to walk a distance.

    Raises:
        UsageError: the speed is not above 0.
    """
    return metres / Speeds(speed).robot_1


def schedule_legs(
    scene: Scene, carriers: Mapping[str, ScheduledRobot], legs: Sequence[CarryLeg]
) -> Timetable:
    """Compute the times of all legs and the robots' routes.

    Args:
        scene: the scene.
        carriers: the robots by name.
        legs: ordered so that no leg precedes one that it waits for; each robot keeps this order.

    Raises:
        UsageError: a robot cannot reach a place of its legs.
    """
    routes = {name: [_standing(scene, carrier.start)] for name, carrier in carriers.items()}
    at = {name: carrier.start for name, carrier in carriers.items()}
    lies: dict[tuple[str, str], float] = {}
    timed = []
    for leg in legs:
        carrier, stops = carriers[leg.robot], routes[leg.robot]
        sets_out = stops[-1].leave
        _walk(scene, carrier, stops, at[leg.robot], leg.origin, leg)
        arrives, brought = stops[-1].leave, lies.get((leg.object, leg.origin.node), 0.0)
        takes = max(arrives, brought)
        stops[-1] = replace(stops[-1], leave=takes)
        _walk(scene, carrier, stops, leg.origin, leg.to, leg)
        ends = lies[leg.object, leg.to.node] = stops[-1].leave
        at[leg.robot] = leg.to
        timed.append(TimedLeg(leg, sets_out, arrives, takes, ends, brought))
    return Timetable(tuple(timed), {name: tuple(stops) for name, stops in routes.items()})


def find_overlaps(
    scene: Scene, first: tuple[RobotStop, ...], second: tuple[RobotStop, ...]
) -> tuple[tuple[Overlap, ...], float]:
    """Return where and how long two timed routes are together.

    Args:
        scene: the scene both walk in.
        first: one robot's stops.
        second: the other's.

    Returns:
        The overlaps, longest first, and the seconds they are together anywhere.
    """
    spells_1, spells_2 = _spells(scene, first), _spells(scene, second)
    met: list[Overlap] = []
    together: list[Spell] = []
    for place in sorted(spells_1.keys() & spells_2.keys()):
        both = product(spells_1[place], spells_2[place])
        spells = [(max(a[0], b[0]), min(a[1], b[1])) for a, b in both]
        shared = [(begin, end) for begin, end in spells if end > begin]
        seconds = sum(end - begin for begin, end in shared)
        if seconds > 0:
            kind, a, b, _ = place
            met.append(Overlap(kind, (a, b), seconds))
            together += shared
    met.sort(key=lambda overlap: -round(overlap.seconds, 9))
    return tuple(met), _covered(together)


def _standing(scene: Scene, anchor: Anchor) -> RobotStop:
    place = resolve_node(scene, anchor.node)
    return RobotStop(anchor.node, place.position, place.region, 0.0, 0.0)


def _walk(
    scene: Scene,
    carrier: ScheduledRobot,
    stops: list[RobotStop],
    a: Anchor,
    b: Anchor,
    leg: CarryLeg,
) -> None:
    """Append the stops of a walk from ``a``, the last stop, to ``b``."""
    nodes = carrier.graph.walk(a, b)
    if nodes is None:
        raise UsageError(
            f"{leg.robot} cannot get from {quote(a.node)} to {quote(b.node)}, which it would "
            f"have to for {quote(leg.object)}."
        )
    for node in nodes[1:]:
        place = resolve_node(scene, node)
        now = stops[-1].leave + distance_2d(stops[-1].position, place.position) / carrier.speed
        stops.append(RobotStop(node, place.position, place.region, now, now))


def _spells(scene: Scene, route: tuple[RobotStop, ...]) -> dict[Place, list[Spell]]:
    """Return the time spells a robot spends in each place."""
    spells: dict[Place, list[Spell]] = defaultdict(list)
    for here, there in pairwise(route):
        for place in _places(scene, here, there):
            spells[place].append((here.leave, there.arrive))
            if there.leave > there.arrive:
                spells[place].append((there.arrive, there.leave))
    return spells


def _places(scene: Scene, here: RobotStop, there: RobotStop) -> list[Place]:
    a, b = sorted((here.node, there.node))
    if here.node not in scene.viewpoint_by_id or there.node not in scene.viewpoint_by_id:
        return [("handoff", a, b, "")]
    places: list[Place] = [("edge", a, b, "")]
    if here.region and there.region and here.region != there.region:
        ends = scene.viewpoint_by_id[here.node], scene.viewpoint_by_id[there.node]
        door = crossed_link(scene, *ends)
        if door is not None:
            near, far = sorted((here.region, there.region))
            places.append(("doorway", near, far, str(door)))
    return places


def _covered(spells: list[Spell]) -> float:
    """Return the seconds that at least one of the spells covers."""
    total, upto = 0.0, -math.inf
    for begin, end in sorted(spells):
        total += max(0.0, end - max(begin, upto))
        upto = max(upto, end)
    return total
