"""When a relay happens: travel times, makespan, who waits where, and where two robots meet.

Robots walk the shortest way over G+ at a constant speed (1 m/s unless told otherwise) from their
start viewpoints, both setting out at second 0. The receiver waits at the transfer asset when it is
there before the object; when the object is there first it lies on the asset and nobody waits,
since the robot that brought it is done. A robot that is done is no longer looked at.

Overlap is how long both robots are on the same edge of G+, or in the same doorway (the link that an
edge between two regions crosses), either way round. While one waits, it stands on the spur of the
transfer asset, so the other's last steps to it count as overlap of kind ``handoff``.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any, Literal

from navloom.errors import UsageError
from navloom.scenes.scene import Point3, Scene, distance_2d
from navloom.tools.navcraft.paths import (
    Anchor,
    link_crossed,
    metric_graph,
    unknown_region,
    whereabouts,
)
from navloom.tools.navcraft.relay import COLLAB_TYPES, RobotName, find_transfer, roles_of
from navloom.tools.navcraft.task import RelayTask, Transfer, no_such_item

PlaceKind = Literal["edge", "doorway", "handoff"]
Place = tuple[PlaceKind, str, str, str]
"""(kind, its two ends in order, and for a doorway which link it is)."""
Spell = tuple[float, float]
"""(from, to) in seconds."""


@dataclass(frozen=True, slots=True)
class Speeds:
    """How fast the robots walk, in metres a second.

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
        """One robot's speed."""
        return self.robot_1 if robot == "robot_1" else self.robot_2


EVEN = Speeds()
"""Both at 1 m/s, so that seconds are metres."""


@dataclass(frozen=True, slots=True)
class Leg:
    """One robot carries one object from one place to another.

    Attributes:
        robot: its name.
        object: the id of what it carries.
        origin: where it takes it.
        to: where it puts it down; a handoff where another leg of the object starts there.
    """

    robot: str
    object: str
    origin: Anchor
    to: Anchor


@dataclass(frozen=True, slots=True)
class Stop:
    """A robot at one node of G+.

    Attributes:
        node: a viewpoint id, or the anchor of an item (``"item ID"``).
        position: where that is, in metres.
        region: the region it lies in, where it lies in one.
        arrive: second it gets there.
        leave: second it goes on; later than ``arrive`` only where it waits.
    """

    node: str
    position: Point3
    region: str | None
    arrive: float
    leave: float


@dataclass(frozen=True, slots=True)
class Wait:
    """A robot waiting for the object at the transfer asset."""

    robot: RobotName
    region: str
    asset: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Overlap:
    """Both robots in one place.

    Attributes:
        kind: ``edge`` (of G), ``doorway``, or ``handoff`` (the spur of the transfer asset).
        where: the two viewpoints, regions, or the viewpoint and the asset's anchor.
        seconds: for how long.
    """

    kind: PlaceKind
    where: tuple[str, str]
    seconds: float


@dataclass(frozen=True)
class Schedule:
    """A relay in time.

    Attributes:
        makespan_s: seconds until the object lies on the end asset.
        wait: who waits, where and how long; None where nobody does.
        object_rests_s: seconds the object lies on the transfer asset before it is taken on.
        routes: each robot's stops, in order.
        overlaps: where the robots are together, by edge, doorway and handoff.
        overlap_s: seconds they are together anywhere (a doorway's edge is not counted twice).
    """

    makespan_s: float
    wait: Wait | None
    object_rests_s: float
    routes: dict[RobotName, tuple[Stop, ...]]
    overlaps: tuple[Overlap, ...]
    overlap_s: float

    @property
    def waits(self) -> dict[str, Any]:
        """``{"robot": name or None, "seconds": float}``, as tasks record it."""
        if self.wait is None:
            return {"robot": None, "seconds": 0.0}
        return {"robot": self.wait.robot, "seconds": self.wait.seconds}


def travel_time(metres: float, speed: float = 1.0) -> float:
    """Seconds to walk that far.

    Raises:
        UsageError: the speed is not above 0.
    """
    return metres / Speeds(speed).robot_1


def schedule_solo(task: RelayTask, *, speed: float = 1.0) -> tuple[Stop, ...]:
    """Robot_1's timed route when it does the whole task alone.

    Raises:
        UsageError: the object or the end asset cannot be reached.
    """
    places = _reachable(task, [task.start_anchor, task.object_anchor, task.end_anchor])
    return tuple(_route(task.scene, places, Speeds(speed).robot_1))


def schedule_relay(
    task: RelayTask,
    robot_2_start_region: str,
    transfer_region: str,
    transfer_asset: str,
    collab_type: str,
    *,
    speeds: Speeds = EVEN,
) -> Schedule:
    """A relay in time; guards are not asked after, only that it can be walked.

    Args:
        task: the single-robot task the relay replaces.
        robot_2_start_region: where the helper starts.
        transfer_region: where the object is handed over.
        transfer_asset: what it is put on.
        collab_type: ``"Type-A1"`` or ``"Type-A2"``.
        speeds: how fast each robot walks.

    Returns:
        The schedule; with both at 1 m/s, ``makespan_s`` is the listing's parallel cost in metres.

    Raises:
        UsageError: a name is not there, or a place cannot be reached.
    """
    helper, transfer = _relay_places(task, robot_2_start_region, transfer_region, transfer_asset)
    if collab_type not in COLLAB_TYPES:
        raise UsageError(f"collab_type {collab_type!r} is not known: use 'Type-A1' or 'Type-A2'.")
    fetcher, receiver = roles_of(collab_type)
    starts = {"robot_1": task.start_anchor, "robot_2": helper}
    fetch = _route(
        task.scene,
        _reachable(task, [starts[fetcher], task.object_anchor, transfer.anchor]),
        speeds.of(fetcher),
    )
    come = _reachable(task, [starts[receiver], transfer.anchor, task.end_anchor])
    brought = fetch[-1].arrive
    deliver = _route(task.scene, come, speeds.of(receiver), ready=brought)
    arrived = next(stop for stop in deliver if stop.node == come[1].node).arrive
    waited = max(0.0, brought - arrived)
    routes: dict[RobotName, tuple[Stop, ...]] = {fetcher: tuple(fetch), receiver: tuple(deliver)}
    met, together = overlaps(task.scene, routes["robot_1"], routes["robot_2"])
    return Schedule(
        makespan_s=deliver[-1].leave,
        wait=Wait(receiver, transfer.region, transfer.name, waited) if waited > 0 else None,
        object_rests_s=max(0.0, arrived - brought),
        routes=dict(sorted(routes.items())),
        overlaps=met,
        overlap_s=together,
    )


def overlaps(
    scene: Scene, first: tuple[Stop, ...], second: tuple[Stop, ...]
) -> tuple[tuple[Overlap, ...], float]:
    """Where and how long two timed routes are together.

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


def _relay_places(
    task: RelayTask, start: str, region: str, asset: str
) -> tuple[Anchor | None, Transfer]:
    if start not in task.helpers:
        raise UsageError(unknown_region(task.scene, start, argument="robot_2_start_region"))
    if region not in task.helpers:
        raise UsageError(unknown_region(task.scene, region, argument="transfer_region"))
    transfer = find_transfer(task, region, asset)
    if transfer is None:
        raise UsageError(no_such_item(task.scene, region, asset, "asset"))
    return task.helpers[start].anchor, transfer


def _reachable(task: RelayTask, places: list[Anchor | None]) -> list[Anchor]:
    known = [place for place in places if place is not None]
    if len(known) < len(places) or any(
        math.isinf(task.graph.distance(a, b)) for a, b in pairwise(known)
    ):
        raise UsageError(
            "This task cannot be walked: a robot's start, the object, the transfer asset or the "
            "end asset cannot be reached over the navigation graph. Check it with "
            "check_collab_path_efficient first."
        )
    return known


def _route(scene: Scene, places: list[Anchor], speed: float, *, ready: float = 0.0) -> list[Stop]:
    """Walk from place to place; at the second place, wait for ``ready``."""
    graph = metric_graph(scene)
    now = 0.0
    first = whereabouts(scene, places[0].node)
    stops = [Stop(places[0].node, first.position, first.region, now, now)]
    for leg, (a, b) in enumerate(pairwise(places)):
        nodes = graph.walk(a, b) or []
        for node in nodes[1:]:
            place = whereabouts(scene, node)
            now += distance_2d(stops[-1].position, place.position) / speed
            leave = max(now, ready) if leg == 0 and node == b.node else now
            stops.append(Stop(node, place.position, place.region, now, leave))
            now = leave
    return stops


def _spells(scene: Scene, route: tuple[Stop, ...]) -> dict[Place, list[Spell]]:
    """When a robot is in each place."""
    spells: dict[Place, list[Spell]] = defaultdict(list)
    for here, there in pairwise(route):
        for place in _places(scene, here, there):
            spells[place].append((here.leave, there.arrive))
            if there.leave > there.arrive:
                spells[place].append((there.arrive, there.leave))
    return spells


def _places(scene: Scene, here: Stop, there: Stop) -> list[Place]:
    a, b = sorted((here.node, there.node))
    if here.node not in scene.viewpoint_by_id or there.node not in scene.viewpoint_by_id:
        return [("handoff", a, b, "")]
    places: list[Place] = [("edge", a, b, "")]
    if here.region and there.region and here.region != there.region:
        ends = scene.viewpoint_by_id[here.node], scene.viewpoint_by_id[there.node]
        door = link_crossed(scene, *ends)
        if door is not None:
            near, far = sorted((here.region, there.region))
            places.append(("doorway", near, far, str(door)))
    return places


def _covered(spells: list[Spell]) -> float:
    """Seconds that at least one of the spells covers."""
    total, upto = 0.0, -math.inf
    for begin, end in sorted(spells):
        total += max(0.0, end - max(begin, upto))
        upto = max(upto, end)
    return total
