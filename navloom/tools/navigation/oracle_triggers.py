"""Triggers of a proactive oracle: the navigator struggles, or is about to stop too early.

Source: VLN-MME 4.4: "e.g., looping, moving in a critically wrong direction, or entering the wrong
region". Its error analysis (E) adds stops in the wrong place, and its failure-aware setting tells a
navigator of such failures. The paper gives no thresholds. Ours are the defaults of
:func:`detect_struggle` and :func:`is_early_stop`, documented there. The triggers read ground truth:
the goals and the reference path. They are a diagnostic aid for experiments. The navigator sees only
the oracle's words, and that it speaks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, TypeAlias

from navloom.errors import UsageError
from navloom.scenes.distances import DistanceTable, metre_table
from navloom.scenes.scene import Scene, distance_3d
from navloom.tools.navigation.oracle_facts import check_viewpoints

Trigger: TypeAlias = Literal["loop", "off_course", "wrong_region"]
"""Faults of a trajectory, in the order they are checked."""
THERE_M = 3.0
"""Success radius in metres, the field's usual value."""
_LONGEST_CYCLE = 4


def detect_struggle(
    scene: Scene,
    trajectory: Sequence[str],
    goals: Sequence[str],
    path: Sequence[str] = (),
    *,
    since: int = 0,
    visits: int = 3,
    worse_m: float = 3.0,
    away_m: float = 5.0,
) -> Trigger | None:
    """Check whether a navigator struggles at the end of its trajectory, and how.

    - ``loop``: it is at a viewpoint for the ``visits``-th time, or its last hops are a cycle of
      two to four viewpoints, made twice (A-B-A-B).
    - ``off_course``: its last hop did not bring it nearer to the goal, and its path to the goal is
      ``worse_m`` metres longer than it has been, or it is over ``away_m`` metres from the route.
    - ``wrong_region``: its last hop did not bring it nearer to the goal, and led into a region that
      contains no viewpoint of the rest of the route.

    The route is ``path``; without one, the shortest path from the start to the nearest goal. Its
    rest begins at the last of its viewpoints that was visited. Turning on the spot is no visit.

    Args:
        scene: the scene; distances are on its navigation graph, in 3D.
        trajectory: the visited viewpoints, first to last.
        goals: the viewpoints that count as the goal (ground truth).
        path: the reference path (ground truth); may be empty.
        since: how many viewpoints of the trajectory to skip: those before the last advice, so that
            one fault is reported once. The last viewpoint always counts.
        visits: see ``loop``; 3 lets it turn back once.
        worse_m: see ``off_course``; 3 m is the radius of success in R2R.
        away_m: see ``off_course``; R2R's hops are about 2 m long.

    Returns:
        The first trigger of ``Trigger`` that holds, or None.

    Raises:
        UsageError: a viewpoint that the scene does not have, or no goal.
    """
    table = metre_table(scene, "3d")
    _check(scene, (*trajectory, *goals, *path), goals)
    walked = _without_repeats(trajectory)
    recent = _without_repeats(trajectory[min(max(since, 0), max(len(trajectory) - 1, 0)) :])
    if _loops(recent, visits):
        return "loop"
    if len(recent) < 2:
        return None
    left = [min(table.distance(place, goal) for goal in goals) for place in recent]
    if left[-1] < left[-2] or not math.isfinite(left[-1]):
        return None
    route = list(path) or _route(table, walked[0], goals)
    if left[-1] > min(left) + worse_m or _off(scene, recent[-1], route) > away_m:
        return "off_course"
    return "wrong_region" if _wrong_region(scene, walked, route) else None


def _check(scene: Scene, named: Sequence[str], goals: Sequence[str]) -> None:
    if not goals:
        raise UsageError("a trigger needs at least one goal viewpoint, got none")
    check_viewpoints(scene, named)


def _without_repeats(places: Sequence[str]) -> list[str]:
    return [place for i, place in enumerate(places) if i == 0 or place != places[i - 1]]


def _loops(places: Sequence[str], visits: int) -> bool:
    if not places:
        return False
    cycles = range(2, min(_LONGEST_CYCLE, len(places) // 2) + 1)
    turned = any(places[-n:] == places[-2 * n : -n] for n in cycles)
    return turned or places.count(places[-1]) >= max(visits, 2)


def _route(table: DistanceTable, start: str, goals: Sequence[str]) -> list[str]:
    nearest = min(goals, key=lambda goal: table.distance(start, goal))
    return table.path(start, nearest) or []


def _off(scene: Scene, place: str, route: Sequence[str]) -> float:
    at = scene.viewpoint_by_id
    here = at[place].position
    return min((distance_3d(here, at[other].position) for other in route), default=0.0)


def _wrong_region(scene: Scene, walked: Sequence[str], route: Sequence[str]) -> bool:
    at = scene.viewpoint_by_id
    before, here = (at[place].region for place in walked[-2:])
    if here is None or here == before or not route:
        return False
    seen = set(walked)
    reached = max((i for i, place in enumerate(route) if place in seen), default=0)
    return here not in {at[place].region for place in route[reached:]}


def is_early_stop(
    scene: Scene, place: str, goals: Sequence[str], *, radius_m: float = THERE_M
) -> bool:
    """Check whether a stop here is premature: no goal within ``radius_m`` metres of path.

    Args:
        scene: the scene.
        place: the viewpoint of the stop.
        goals: the viewpoints that count as the goal (ground truth).
        radius_m: the success radius; R2R's 3 m, exclusive.

    Raises:
        UsageError: a viewpoint that the scene does not have, or no goal.
    """
    table = metre_table(scene, "3d")
    _check(scene, (place, *goals), goals)
    return not min(table.distance(place, goal) for goal in goals) < radius_m
