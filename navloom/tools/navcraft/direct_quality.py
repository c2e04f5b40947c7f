"""Quality of directly generated two-robot tasks: validity, and how much both robots work (A.13).

A plan is valid if the two stages would have accepted it: its single-robot task by the rules of
CoNavBench 3.1.2 and A.10, its relay by the guards of A.11 and as efficient by its tool. The wording
is not compared with those stages' templates, since neither prompt of A.13 shows them.

Idleness is measured over G+ (3.1.3) with both robots at 1 m/s, so seconds equal metres. Metres
walked to fetch or bring the object count. A robot that carries nothing is idle, even if it moves.
Since d(o, x) + d(x, e) >= d(o, e), no relay ends sooner than the better placed robot alone. That
share is therefore 1 wherever it can be measured, and is reported because A.13 complains of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from navloom.errors import UsageError
from navloom.scenes.scene import Scene
from navloom.tools.model_output import Violation
from navloom.tools.navcraft import direct_rules, relay_task, task_paths
from navloom.tools.navcraft.direct_plan import DirectPlan
from navloom.tools.navcraft.relay import (
    RelayChoice,
    RobotName,
    check_collab_path_efficient,
    guard_violations,
)
from navloom.tools.navcraft.relay_schedule import schedule_relay
from navloom.tools.navcraft.schedule import RobotStop, Spell

NOT_EFFICIENT = "not_efficient"
NO_TASK = "no_task"


@dataclass(frozen=True)
class Workload:
    """Workload of the robots in a plan, and when the plan ends.

    Attributes:
        metres: metres each robot walks to fetch or bring the object.
        makespan_s: seconds until the object is at its final place.
        both_move_s: seconds during which both walk.
        solo_s: seconds that robot_1 alone would take.
        best_alone_s: seconds that the better placed robot alone would take.
    """

    metres: Mapping[RobotName, float]
    makespan_s: float
    both_move_s: float
    solo_s: float
    best_alone_s: float

    @property
    def lesser_share(self) -> float:
        """Smaller share of all metres: 0 if one robot does everything, 0.5 at most."""
        in_all = sum(self.metres.values())
        return min(self.metres.values()) / in_all if in_all else 0.0

    @property
    def both_share(self) -> float:
        """Share of the makespan during which both walk."""
        return self.both_move_s / self.makespan_s if self.makespan_s else 0.0

    @property
    def no_sooner_than_robot_1(self) -> bool:
        """True if robot_1 alone would be as fast."""
        return self.makespan_s >= self.solo_s - relay_task.LEAST_GAIN

    @property
    def no_sooner_than_best(self) -> bool:
        """True if the better placed robot alone would be as fast."""
        return self.makespan_s >= self.best_alone_s - relay_task.LEAST_GAIN

    def record(self) -> dict[str, Any]:
        """Return the workload as JSON."""
        return {
            "metres": dict(self.metres),
            "makespan_s": self.makespan_s,
            "both_move_s": self.both_move_s,
            "solo_s": self.solo_s,
            "best_alone_s": self.best_alone_s,
            "lesser_share": self.lesser_share,
            "both_share": self.both_share,
            "no_sooner_than_robot_1": self.no_sooner_than_robot_1,
            "no_sooner_than_best": self.no_sooner_than_best,
        }


def workload_of(plan: DirectPlan, scene: Scene) -> Workload | None:
    """Measure each robot's workload; None if the steps give no task, or it cannot be walked.

    Args:
        plan: the parsed answer.
        scene: the scene.
    """
    task = _task(plan, scene)
    if task is None or task.solo_metres is None:
        return None
    helper = task.helpers.get(plan.starts["robot_2"])
    carried = task.solo_metres - task.start_to_object
    by_2 = float("inf") if helper is None else helper.to_object + carried
    alone = {"solo_s": task.solo_metres, "best_alone_s": min(task.solo_metres, by_2)}
    if plan.relay is None:
        (carry,) = plan.carries
        walked = task.solo_metres if carry.robot == "robot_1" else by_2
        metres: dict[RobotName, float] = {"robot_1": 0.0, "robot_2": 0.0, carry.robot: walked}
        return None if walked == float("inf") else Workload(metres, walked, 0.0, **alone)
    try:
        planned = schedule_relay(task, *plan.relay)
    except UsageError:
        return None
    spells = {robot: _walking(route) for robot, route in planned.routes.items()}
    metres = {robot: sum(b - a for a, b in spells[robot]) for robot in planned.routes}
    both = _together(spells["robot_1"], spells["robot_2"])
    return Workload(metres, planned.makespan_s, both, **alone)


def _task(plan: DirectPlan, scene: Scene) -> relay_task.RelayTask | None:
    if plan.errand is None:
        return None
    try:
        return relay_task.RelayTask(scene, *plan.errand)
    except UsageError:
        return None


def _walking(route: tuple[RobotStop, ...]) -> list[Spell]:
    return [(here.leave, there.arrive) for here, there in pairwise(route)]


def _together(one: list[Spell], two: list[Spell]) -> float:
    """Return the seconds that spells of both robots share."""
    return sum(max(0.0, min(a[1], b[1]) - max(a[0], b[0])) for a in one for b in two)


def stage_violations(plan: DirectPlan, scene: Scene, *, tau: int = 2) -> list[Violation]:
    """List every rule of A.10 and A.11 that a plan breaks; empty if the two stages would accept it.

    Args:
        plan: the parsed answer.
        scene: the ground truth.
        tau: the hop threshold of 3.1.2.
    """
    errand, relay = plan.errand, plan.relay
    if errand is None or relay is None:
        said = "no errand of a relay follows from the steps"
        return [Violation(NO_TASK, said)]
    told = task_paths.solo_task_answer(errand, task_paths.shortest_path(scene, errand))
    _, wrong = task_paths.read_solo_task(told, scene, tau=tau)
    task = _task(plan, scene)
    if task is None:
        return wrong or [Violation(NO_TASK, "a thing of the errand is not there")]
    if not relay_task.can_hold(errand.end_asset, errand.object):
        said = relay_task.cannot_place_text(errand.end_asset, errand.end, errand.object)
        wrong.append(Violation(relay_task.HOLDS_NOTHING, said))
    wrong += guard_violations(task, *relay[:3])
    if wrong:
        return wrong
    found = check_collab_path_efficient(task, *relay)
    if found["efficient"]:
        return []
    said = f"robot_1 walks {found['r1_rate']:.2f} of its way alone"
    return [Violation(NOT_EFFICIENT, said)]


def direct_record(plan: DirectPlan, scene: Scene, *, tau: int = 2) -> dict[str, Any]:
    """Return all measurements of a plan as JSON.

    Returns:
        ``valid`` and ``invalid_because`` (codes); ``work`` (:class:`Workload`) or None; each
        coordination failure by its code; and ``many_regions`` and ``steps_in_bounds``, on which the
        prompts contradict themselves.
    """
    wrong = stage_violations(plan, scene, tau=tau)
    codes = {fault.code for fault in direct_rules.coordination_faults(plan, scene)}
    work = workload_of(plan, scene)
    written = any(plan.paths.values())
    return {
        "valid": not wrong,
        "invalid_because": [*dict.fromkeys(each.code for each in wrong)],
        "work": None if work is None else work.record(),
        **{code: code in codes for code in direct_rules.COORDINATION},
        "path_written": written,
        "many_regions": direct_rules.has_many_regions(plan),
        "regions": sorted(plan.regions),
        "steps": plan.written,
        "steps_in_bounds": direct_rules.steps_in_bounds(plan),
    }


def check_direct_relay(scene: Scene, asked: Mapping[str, str]) -> dict[str, Any]:
    """Run ``check_collab_path_efficient`` on a relay that is given with its single-robot task.

    Args:
        scene: the scene.
        asked: ``start_region``, ``target_region``, ``object``, ``end_region``, ``end_asset``, and
            the four choices of a relay.

    Returns:
        The result of :func:`navloom.tools.navcraft.relay.check_collab_path_efficient`; for a task
        whose names do not exist, ``{"efficient": False, "error": ...}``.
    """
    start, target, end = (asked[f"{part}_region"] for part in ("start", "target", "end"))
    errand = task_paths.SoloTask(start, target, asked["object"], end, asked["end_asset"])
    relay = RelayChoice(*(asked[name] for name in RelayChoice._fields))
    try:
        task = relay_task.RelayTask(scene, *errand)
    except UsageError as error:
        return {"efficient": False, "error": str(error)}
    return check_collab_path_efficient(task, *relay)
