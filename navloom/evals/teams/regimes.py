"""What a team of one to four robots comes to, where gains are possible at all.

A *regime* says who carries what under which limits. Every attempt draws robots' starts and errands
once, and a team of N is the first N of these robots, so that teams of different sizes are held
against each other on the same errands. Every plan is the best there is
(:mod:`navloom.tools.teams.team_optimum`, :mod:`navloom.tools.teams.several_errands`), or says how
far it may be from it; no agent is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from navloom.errors import UsageError
from navloom.scenes.scene import Scene
from navloom.tools.navcraft.paths import Anchor
from navloom.tools.teams.several_errands import best_team_plan
from navloom.tools.teams.team import Robot, TeamErrand, TeamPlan, make_robot
from navloom.tools.teams.team_draw import Drawn
from navloom.tools.teams.team_optimum import LEAST, TeamBest, TeamMeasure, handoff_places
from navloom.tools.teams.team_task import walked

ROBOT_1 = "robot_1"


@dataclass(frozen=True, slots=True)
class Regime:
    """Who carries what, under which limits.

    Attributes:
        name: what it is called.
        words: what is so in it.
        errands: how many things are carried.
        bodies: of the robots in turn; none: the papers' robots, which pass everything at 1 m/s.
        cap: the most that a robot may walk, as a share of what robot_1 would walk alone.
    """

    name: str
    words: str
    errands: int = 1
    bodies: tuple[str, ...] = ()
    cap: float | None = None

    def fits(self, scene: Scene) -> bool:
        """Whether the scene can tell: of bodies only where some link says how wide it is."""
        return not self.bodies or any(link.width is not None for link in scene.links)


def measured(scene: Scene, drawn: Drawn, regime: Regime, *, seconds: float) -> list[dict[str, Any]]:
    """What teams of one robot, of two, ... come to in a regime.

    Args:
        scene: the scene.
        drawn: the attempt; of its errands the regime's first so many are carried.
        regime: who and what.
        seconds: how long three errands or more are searched.

    Returns:
        A record a team size, in ``robots``. ``done``: whether a plan does it. Of the quickest plan:
        ``makespan_s``, ``handoffs``, ``used`` (robots that carry). ``best_alone_s``: the quickest
        that one robot of this team does it alone. ``alone_s``: what robot_1 would take alone if it
        passed everything, in the best order. ``load``: robot_1's least metres, in a plan in which
        it carries something, over its metres alone; ``absence``: in that plan, the seconds from
        when it has to leave to when it is done, over ``alone_s``. ``longest``: the least that the
        robot that walks most can walk, with no cap, over robot_1's metres alone. ``gap``: how far
        any of these may be from the best. None: there is no such plan.
    """
    errands = drawn.errands[: regime.errands]
    places = [handoff_places(scene, each) for each in errands]
    robots = [_robot(scene, i, at, regime) for i, at in enumerate(drawn.starts)]
    whole = _alone(scene, robots[0], errands)
    cap = None if regime.cap is None else regime.cap * whole
    alone: float | None = None
    records = []
    for many in range(1, len(robots) + 1):
        team = robots[:many]

        def best(
            by: TeamMeasure, cap: float | None, team: Sequence[Robot] = team
        ) -> TeamBest | None:
            try:
                return best_team_plan(scene, team, errands, places, by=by, cap=cap, seconds=seconds)
            except UsageError:
                return None

        quick, spared, even = best("makespan", cap), best("alpha", cap), best("longest", None)
        single = best("makespan", cap, team[-1:])
        if single is not None:
            alone = single.value if alone is None else min(alone, single.value)
        found = [each for each in (quick, spared, even) if each is not None]
        records.append(
            {
                "robots": many,
                "done": quick is not None,
                "makespan_s": quick and quick.value,
                "handoffs": quick and len(quick.plan.handoffs),
                "used": quick and len({leg.robot for leg in quick.plan.legs}),
                "best_alone_s": alone,
                "alone_s": whole / robots[0].speed,
                "load": spared
                and walked(spared.plan, spared.plan.schedule(scene))[ROBOT_1] / whole,
                "absence": spared and _absence(scene, spared.plan) * robots[0].speed / whole,
                "longest": even and even.value / whole,
                "gap": max((each.gap for each in found), default=None),
            }
        )
    return records


def sooner(record: dict[str, Any]) -> bool | None:
    """Whether a team is done before the best placed of its robots would be alone.

    Of robots of one speed that pass the same links, with one errand, none is (the proof stands in
    :mod:`navloom.tools.teams.team_optimum`). None where it is not done, or nobody could alone.
    """
    if record["makespan_s"] is None or record["best_alone_s"] is None:
        return None
    return bool(record["makespan_s"] < record["best_alone_s"] - LEAST)


def _robot(scene: Scene, i: int, at: Anchor, regime: Regime) -> Robot:
    body = regime.bodies[i % len(regime.bodies)] if regime.bodies else None
    return make_robot(scene, f"robot_{i + 1}", at, body)


def _alone(scene: Scene, robot: Robot, errands: Sequence[TeamErrand]) -> float:
    """What robot_1 walks for all errands alone, in the best order, if it passed everything."""
    free = Robot(robot.name, robot.start)
    return best_team_plan(scene, [free], errands, [()] * len(errands), by="metres").value


def _absence(scene: Scene, plan: TeamPlan) -> float:
    """Seconds from when robot_1 has to leave to when it is done; leaving then delays nobody."""
    legs = [each for each in plan.schedule(scene).legs if each.leg.robot == plan.robots[0].name]
    return legs[-1].ends - legs[0].waits
