"""Is a relay of two robots worth it: CoNavBench 3.1.3 and A.11.2, with the guards.

In ``Type-A1`` robot_2 fetches the object and robot_1 delivers it from the transfer asset on; in
``Type-A2`` robot_1 fetches and robot_2 delivers. Distances are on G+ in metres
(:mod:`navloom.tools.navcraft.metric_graph`); ``r1_rate`` is robot_1's share of its solo route,
``g_rate`` the time of both at one speed over the solo time. A relay is accepted when the
``r1_rate`` of its chosen type, which is alpha, is below 1.
"""

from __future__ import annotations

import math
from typing import Any, Literal

from navloom.scenes.scene import prompt_name
from navloom.tools.navcraft.paths import MAX_QUOTED, unknown_region
from navloom.tools.navcraft.task import Helper, RelayTask, Transfer, no_such_item

__all__ = [
    "COLLAB_TYPES",
    "CollabType",
    "RelayTask",
    "check_collab_path_efficient",
    "find_transfer",
    "guard_violations",
]

CollabType = Literal["Type-A1", "Type-A2"]
COLLAB_TYPES: tuple[CollabType, CollabType] = ("Type-A1", "Type-A2")
"""``Type-A1``: robot_2 fetches, robot_1 delivers. ``Type-A2``: the other way round."""


def check_collab_path_efficient(
    task: RelayTask,
    robot_2_start_region: str,
    transfer_region: str,
    transfer_asset: str,
    collab_type: str,
    *,
    strict: bool = False,
) -> dict[str, Any]:
    """Whether a relay spares robot_1, or both robots, some of the way (CoNavBench A.11.2).

    Args:
        task: the single-robot task the relay replaces.
        robot_2_start_region: whole id of the region the helper starts in.
        transfer_region: whole id of the region where the object is handed over.
        transfer_asset: the asset of that region it is put on.
        collab_type: ``"Type-A1"`` or ``"Type-A2"``.
        strict: hold the helper to the text's stricter rule; see :func:`guard_violations`.

    Returns:
        ``g_efficient``, ``r1_efficient``, ``efficient`` (either of them), ``g_rate``, ``r1_rate``
        and ``path_info`` (metres, as the listing names them, and the ``type``). Where a name is
        not there, a way does not exist or a guard is broken: ``{"efficient": False, "error": ...}``
        and nothing else. All of it can be written as JSON.
    """
    helper = task.fit_helpers.get(robot_2_start_region)
    transfer = task.fit_transfers.get((transfer_region, transfer_asset))
    if helper is None or transfer is None or strict:
        asked = (robot_2_start_region, transfer_region, transfer_asset)
        reasons = guard_violations(task, *asked, strict=strict)
        helper, transfer = task.helpers.get(asked[0]), find_transfer(task, *asked[1:])
        if reasons or helper is None or transfer is None:
            return _refusal(" ".join(reasons))
    if collab_type == "Type-A1":
        return _type_a1(task, helper, transfer)
    if collab_type == "Type-A2":
        return _type_a2(task, helper, transfer)
    return _refusal(
        f"collab_type {collab_type[:MAX_QUOTED]!r} is not known: use 'Type-A1' or 'Type-A2'."
    )


def guard_violations(
    task: RelayTask,
    robot_2_start_region: str,
    transfer_region: str,
    transfer_asset: str,
    *,
    strict: bool = False,
) -> list[str]:
    """Every guard a relay breaks, as plain sentences an agent can act on.

    The guards: start and end regions of the task differ; the transfer region is not the target
    region; the transfer asset is an asset of it, is not the end asset, and has a usable surface
    where sizes are known; both robots reach it and the helper also the object; the helper starts
    neither in robot_1's region nor next to it.

    Args:
        task: the single-robot task.
        robot_2_start_region: where the helper starts.
        transfer_region: where the object is handed over.
        transfer_asset: what it is put on.
        strict: also require that the helper does not start next to (one link from) the target
            region or the transfer region, as the text of CoNavBench 3.1.3 has it. To start in one
            of them is not to start next to it.

    Returns:
        The sentences; empty where the relay keeps every guard.
    """
    reasons = list(task.broken)
    helper = task.helpers.get(robot_2_start_region)
    if helper is None:
        reasons.append(
            unknown_region(task.scene, robot_2_start_region, argument="robot_2_start_region")
        )
    transfer = find_transfer(task, transfer_region, transfer_asset)
    if transfer_region not in task.scene.region_by_id:
        reasons.append(unknown_region(task.scene, transfer_region, argument="transfer_region"))
    elif transfer is None:
        reasons.append(no_such_item(task.scene, transfer_region, transfer_asset, "asset"))
    # That the helper reaches the transfer asset needs no test of its own: ways run both ways, and
    # robot_1 must reach both the asset and the object, and the helper the object.
    reasons += helper.broken if helper else ()
    reasons += transfer.broken if transfer else ()
    if strict and helper and transfer:
        reasons += _next_door(task, helper, transfer)
    return reasons


def find_transfer(task: RelayTask, region: str, asset: str) -> Transfer | None:
    """The transfer place a model means, or None where the region has no such asset."""
    found = task.transfers.get((region, asset))
    if found is None:
        found = task.transfers.get((region, prompt_name(asset[:200])))
    return found


def _next_door(task: RelayTask, helper: Helper, transfer: Transfer) -> list[str]:
    return [
        f"robot_2_start_region {helper.region} is next to the {what} region {region}. "
        "Choose another robot_2_start_region."
        for what, region in (("target", task.target_region), ("transfer", transfer.region))
        if region in helper.neighbours
    ]


def _type_a1(task: RelayTask, helper: Helper, transfer: Transfer) -> dict[str, Any]:
    solo, shorter = task.solo_metres or math.inf, task.shorter
    first_leg = helper.to_object + transfer.from_object
    come = transfer.from_start
    parallel = first_leg if first_leg > come else come  # max() costs a tenth of the call
    g_cost = parallel + transfer.to_end
    r1_cost = come + transfer.to_end
    return {
        "g_efficient": g_cost < shorter,
        "r1_efficient": r1_cost < shorter,
        "efficient": g_cost < shorter or r1_cost < shorter,
        "g_rate": g_cost / solo,
        "r1_rate": r1_cost / solo,
        "path_info": {
            "r2_to_target": helper.to_object,
            "target_to_transfer": transfer.from_object,
            "robot2_first_leg": first_leg,
            "r1_to_transfer": come,
            "parallel_leg": parallel,
            "transfer_to_end": transfer.to_end,
            "type": "Type-A1",
        },
    }


def _type_a2(task: RelayTask, helper: Helper, transfer: Transfer) -> dict[str, Any]:
    solo, shorter = task.solo_metres or math.inf, task.shorter
    first_leg = task.start_to_object + transfer.from_object
    come = helper.row[transfer.viewpoint] + transfer.spur
    parallel = first_leg if first_leg > come else come
    g_cost = parallel + transfer.to_end
    return {
        "g_efficient": g_cost < shorter,
        "r1_efficient": first_leg < shorter,
        "efficient": g_cost < shorter or first_leg < shorter,
        "g_rate": g_cost / solo,
        "r1_rate": first_leg / solo,
        "path_info": {
            "r1_to_target": task.start_to_object,
            "target_to_transfer": transfer.from_object,
            "robot1_first_leg": first_leg,
            "r2_to_transfer": come,
            "parallel_leg": parallel,
            "transfer_to_end": transfer.to_end,
            "type": "Type-A2",
        },
    }


def _refusal(why: str) -> dict[str, Any]:
    return {"efficient": False, "error": why}
