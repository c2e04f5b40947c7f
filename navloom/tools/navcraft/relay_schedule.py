"""Schedule of a relay, or of robot_1 alone: waits, overlaps and the makespan.

An overlap is time that both robots spend in one place. The makespan is the time until the object is
delivered. This is the two-robot case of :mod:`navloom.tools.navcraft.schedule`, with a task's own
names (CoNavBench 3.1.3, A.9).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from navloom.errors import UsageError
from navloom.tools.navcraft.relay import COLLAB_TYPES, RobotName, find_transfer, roles_of
from navloom.tools.navcraft.relay_task import RelayTask, TransferPlace, item_not_found
from navloom.tools.navcraft.schedule import (
    EVEN,
    CarryLeg,
    Overlap,
    RobotStop,
    ScheduledRobot,
    Speeds,
    find_overlaps,
    schedule_legs,
)
from navloom.tools.navcraft.task_paths import Anchor, metric_graph, region_not_found


@dataclass(frozen=True, slots=True)
class HandoffWait:
    """A robot's wait for the object at the transfer asset."""

    robot: RobotName
    region: str
    asset: str
    seconds: float


@dataclass(frozen=True)
class RelaySchedule:
    """Timed schedule of one relay.

    Attributes:
        makespan_s: seconds until the object is on the end asset.
        wait: which robot waits, where and how long; None if none waits.
        object_rests_s: seconds the object lies on the transfer asset before it is taken on.
        routes: each robot's stops, in order.
        overlaps: where the robots are together, by edge, doorway and handoff.
        overlap_s: seconds they are together anywhere (a doorway's edge is not counted twice).
    """

    makespan_s: float
    wait: HandoffWait | None
    object_rests_s: float
    routes: dict[RobotName, tuple[RobotStop, ...]]
    overlaps: tuple[Overlap, ...]
    overlap_s: float

    @property
    def waits(self) -> dict[str, Any]:
        """The wait as tasks record it: ``{"robot": name or None, "seconds": float}``."""
        if self.wait is None:
            return {"robot": None, "seconds": 0.0}
        return {"robot": self.wait.robot, "seconds": self.wait.seconds}


def schedule_solo(task: RelayTask, *, speed: float = 1.0) -> tuple[RobotStop, ...]:
    """Return robot_1's timed route if it does the whole task alone.

    Raises:
        UsageError: the object or the end asset cannot be reached.
    """
    start, *way = _reachable(task, [task.start_anchor, task.object_anchor, task.end_anchor])
    alone = {"robot_1": ScheduledRobot(start, metric_graph(task.scene), Speeds(speed).robot_1)}
    leg = CarryLeg("robot_1", task.object_item.id, *way)
    return schedule_legs(task.scene, alone, [leg]).routes["robot_1"]


def schedule_relay(
    task: RelayTask,
    robot_2_start_region: str,
    transfer_region: str,
    transfer_asset: str,
    collab_type: str,
    *,
    speeds: Speeds = EVEN,
) -> RelaySchedule:
    """Compute the schedule of a relay; guards are not checked, only that it can be walked.

    Args:
        task: the single-robot task the relay replaces.
        robot_2_start_region: where the helper starts.
        transfer_region: where the object is handed over.
        transfer_asset: the asset it is put on.
        collab_type: ``"Type-A1"`` or ``"Type-A2"``.
        speeds: each robot's speed.

    Returns:
        The schedule; with both at 1 m/s, ``makespan_s`` is the listing's parallel cost in metres.

    Raises:
        UsageError: a name is unknown, or a place cannot be reached.
    """
    helper, transfer = _relay_places(task, robot_2_start_region, transfer_region, transfer_asset)
    if collab_type not in COLLAB_TYPES:
        raise UsageError(f"collab_type {collab_type!r} is not known: use 'Type-A1' or 'Type-A2'.")
    fetcher, receiver = roles_of(collab_type)
    starts: dict[RobotName, Anchor | None] = {"robot_1": task.start_anchor, "robot_2": helper}
    _, origin, handoff = _reachable(task, [starts[fetcher], task.object_anchor, transfer.anchor])
    _, _, end = _reachable(task, [starts[receiver], transfer.anchor, task.end_anchor])
    thing, graph = task.object_item.id, metric_graph(task.scene)
    made = schedule_legs(
        task.scene,
        {name: ScheduledRobot(at, graph, speeds.of(name)) for name, at in starts.items() if at},
        [CarryLeg(fetcher, thing, origin, handoff), CarryLeg(receiver, thing, handoff, end)],
    )
    routes, come = made.routes, made.legs[1]
    met, together = find_overlaps(task.scene, routes["robot_1"], routes["robot_2"])
    return RelaySchedule(
        makespan_s=made.makespan_s,
        wait=HandoffWait(receiver, transfer.region, transfer.name, come.waits)
        if come.waits
        else None,
        object_rests_s=come.object_wait_s,
        routes={"robot_1": routes["robot_1"], "robot_2": routes["robot_2"]},
        overlaps=met,
        overlap_s=together,
    )


def _relay_places(
    task: RelayTask, start: str, region: str, asset: str
) -> tuple[Anchor | None, TransferPlace]:
    if start not in task.helpers:
        raise UsageError(region_not_found(task.scene, start, argument="robot_2_start_region"))
    if region not in task.helpers:
        raise UsageError(region_not_found(task.scene, region, argument="transfer_region"))
    transfer = find_transfer(task, region, asset)
    if transfer is None:
        raise UsageError(item_not_found(task.scene, region, asset, "asset"))
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
