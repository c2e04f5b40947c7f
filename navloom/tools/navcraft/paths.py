"""Can one walk from region to region, and over how many links: CoNavBench 3.1.2 and A.10.2.

Everything here is on the region graph H: hops, ties broken by metres. Regions are matched by
whole id, so ``Kitchen_4`` is never ``Bedroom_4``. A name that is not there gives an answer with an
``error`` that names near matches, because the caller may be a model that can mend its call.

All-pairs paths are kept once per scene; every answer is a fresh dict with fresh lists, so a caller
may change what it was given.
"""

from __future__ import annotations

from typing import NotRequired, TypedDict

import numpy as np

from navloom.errors import did_you_mean
from navloom.scenes.distances import hop_table, per_scene
from navloom.scenes.scene import Scene

__all__ = [
    "PathAnswer",
    "TwoPathAnswer",
    "check_path_and_adjacency",
    "check_two_path_and_adjacency",
    "least_hops",
    "region_ways",
    "unknown_region",
]

Ways = dict[tuple[str, str], tuple[str, ...]]
"""The transitions from region to region; () to itself, missing where there is no way."""
MAX_QUOTED = 80
"""How much of an unknown name is repeated back, in characters."""


class PathAnswer(TypedDict):
    """What :func:`check_path_and_adjacency` says; ``error`` is there only where a name is wrong."""

    connect: bool
    adjacency: bool
    path_length: int
    path: list[str]
    error: NotRequired[str]


class TwoPathAnswer(TypedDict):
    """What :func:`check_two_path_and_adjacency` says; ``error`` only where there is one."""

    start_2_target: PathAnswer
    target_2_end: PathAnswer
    s2t_valid: bool
    t2e_valid: bool
    valid: bool
    error: NotRequired[str]


def check_path_and_adjacency(scene: Scene, region_a: str, region_b: str) -> PathAnswer:
    """The shortest way from one region to another (CoNavBench A.10.2).

    Args:
        scene: the scene.
        region_a: whole region id to start from.
        region_b: whole region id to reach.

    Returns:
        ``connect`` (is there a way), ``adjacency`` (does one link join them), ``path_length``
        (links crossed; 0 where there is no way, and from a region to itself) and ``path`` (the
        transitions, ``"Kitchen_4 -> Hallway_6"``). A region that is not there gives
        ``connect: False`` and an ``error``.
    """
    way = region_ways(scene).get((region_a, region_b))
    if way is not None:
        return {
            "connect": True,
            "adjacency": len(way) == 1,
            "path_length": len(way),
            "path": [*way],
        }
    answer: PathAnswer = {"connect": False, "adjacency": False, "path_length": 0, "path": []}
    unknown = _unknown_regions(scene, (region_a, region_b))
    if unknown:
        answer["error"] = unknown
    return answer


def check_two_path_and_adjacency(
    scene: Scene, start_region: str, target_region: str, end_region: str, *, tau: int = 2
) -> TwoPathAnswer:
    """Whether a single-robot task may go start, target, end (CoNavBench 3.1.2 and A.10.2).

    A leg is valid where it is connected and at least ``max(2, tau)`` hops long. The task is valid
    where both legs are, and start and end differ.

    Args:
        scene: the scene.
        start_region: where the robot starts.
        target_region: where the object is.
        end_region: where the object goes.
        tau: fewest hops of a leg; below 2 it changes nothing.

    Returns:
        ``start_2_target`` and ``target_2_end`` (see :func:`check_path_and_adjacency`),
        ``s2t_valid``, ``t2e_valid`` and ``valid``. An ``error`` is added where a region is not
        there or start and end are one.
    """
    needed = least_hops(tau)
    s2t = check_path_and_adjacency(scene, start_region, target_region)
    t2e = check_path_and_adjacency(scene, target_region, end_region)
    s2t_valid = s2t["path_length"] >= needed
    t2e_valid = t2e["path_length"] >= needed
    answer: TwoPathAnswer = {
        "start_2_target": s2t,
        "target_2_end": t2e,
        "s2t_valid": s2t_valid,
        "t2e_valid": t2e_valid,
        "valid": s2t_valid and t2e_valid and start_region != end_region,
    }
    if "error" in s2t or "error" in t2e:
        answer["error"] = _unknown_regions(scene, (start_region, target_region, end_region))
    elif start_region == end_region:
        answer["error"] = (
            f"start_region and end_region are both {start_region}: a task must end in another "
            "region than it starts in. Choose another start or another end region."
        )
    return answer


def region_ways(scene: Scene) -> Ways:
    """Every pair of connected regions and the transitions of the way, made on first use."""
    return per_scene(scene, "region_ways", lambda: _find_ways(scene))


def least_hops(tau: int) -> int:
    """The fewest hops of an admissible leg: ``max(2, tau)`` (CoNavBench 3.1.2)."""
    return max(2, tau)


def unknown_region(scene: Scene, name: str, *, argument: str = "region") -> str:
    """Say that a region is not there, and which near ones are.

    Args:
        scene: the scene.
        name: what was asked for.
        argument: what to call it in the message.
    """
    asked = name[:MAX_QUOTED]
    return (
        f"{argument} {asked!r} is not a region of this scene; use a whole region id."
        f"{did_you_mean(asked, scene.region_by_id)}"
    )


def _unknown_regions(scene: Scene, names: tuple[str, ...]) -> str:
    missing = dict.fromkeys(name for name in names if name not in scene.region_by_id)
    return " ".join(unknown_region(scene, name) for name in missing)


def _find_ways(scene: Scene) -> Ways:
    table = hop_table(scene)
    ways: Ways = {}
    # Nearest first, so that the way to the region before is always there to be drawn out by one.
    order = np.argsort(table.hops, axis=1, kind="stable").tolist()
    for a, (columns, before, hops) in enumerate(
        zip(order, table.before.tolist(), table.hops.tolist(), strict=True)
    ):
        start = table.nodes[a]
        for b in columns:
            end = table.nodes[b]
            if a == b:
                ways[start, end] = ()
            elif hops[b] > 0:
                last = table.nodes[before[b]]
                ways[start, end] = (*ways[start, last], f"{last} -> {end}")
    return ways
