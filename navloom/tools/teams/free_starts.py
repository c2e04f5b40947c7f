"""Where helpers had best start, for one errand: A.11 of CoNavBench has the planner choose.

If several could start in one place, each leg would be begun from the start that is best for it, and
the best plan would be a look-up. So that is solved first: what it comes to is a bound. Where it has
two helpers start in one place, either the one or the other does not, and both are solved in turn,
the lower bound first, until a plan needs no place twice: that one is the best.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from navloom.errors import UsageError
from navloom.scenes.scene import Scene
from navloom.tools.navcraft.paths import Anchor
from navloom.tools.teams.team import Robot, TeamErrand, check_team
from navloom.tools.teams.team_optimum import (
    Array,
    Carried,
    TeamBest,
    TeamMeasure,
    TeamTable,
    alone_metres,
    as_plan,
    places_of,
    solve,
    team_table,
    why_none,
)

MOST_EXACT_STARTS = 3
"""With so many robots the best starts are proven, however long it takes."""
_MOST_TRIED = 200
"""Choices of starts looked at for larger teams."""


@dataclass(frozen=True)
class _Choice:
    """A best plan under some bans, and where its robots start.

    Attributes:
        value: what the plan comes to.
        way: its legs.
        starts: by robot that carries, the index of its start; robot_1's is its own and not here.
        bans: (robot, start) pairs that are not allowed.
    """

    value: float
    way: Carried
    starts: dict[int, int]
    bans: frozenset[tuple[int, int]]

    @property
    def clash(self) -> tuple[int, int, int] | None:
        """Two robots that start in one place, and the place."""
        seen: dict[int, int] = {}
        for robot, start in self.starts.items():
            if start in seen:
                return seen[start], robot, start
            seen[start] = robot
        return None


def best_starts(
    scene: Scene,
    robots: Sequence[Robot],
    starts: Sequence[Anchor],
    errand: TeamErrand,
    places: Sequence[Anchor],
    *,
    by: TeamMeasure = "makespan",
) -> TeamBest:
    """The best plan where all but the first robot may start anywhere of some places.

    No two of them start in one place. With at most ``MOST_EXACT_STARTS`` robots the plan is the
    best there is; of a larger team ``bound`` is a bound, and ``exact`` says whether it is met.

    Args:
        scene: the scene.
        robots: the team; where the others stand does not count.
        starts: where they may.
        errand: what is to be brought where.
        places: where it may be handed over.
        by: what is to be least.

    Raises:
        UsageError: it is no team, there are fewer starts than robots need, or no robot gets there.
    """
    check_team(robots)
    if len(starts) < len(robots) - 1:
        raise UsageError(f"{len(robots) - 1} robots cannot start in {len(starts)} places.")
    table = team_table(scene, robots, places_of(errand, places))
    freed = [robot.graph(scene).distances([*starts], [*table.places]) for robot in robots[1:]]
    found = _search(table, freed, by, exact=len(robots) <= MOST_EXACT_STARTS)
    if found is None:
        raise UsageError(why_none(table, errand, None))
    choice, bound = found
    spare = (i for i in range(len(starts)) if i not in choice.starts.values())
    placed = {i: choice.starts[i] if i in choice.starts else next(spare) for i in _helpers(table)}
    team = (robots[0], *(replace(robots[i], start=starts[placed[i]]) for i in _helpers(table)))
    whole = alone_metres(scene, robots[0], errand) if by == "alpha" else 1.0
    plan = as_plan(replace(table, robots=team), errand, choice.way)
    return TeamBest(plan, choice.value / whole, bound / whole)


def _search(
    table: TeamTable, freed: Sequence[Array], by: TeamMeasure, *, exact: bool
) -> tuple[_Choice, float] | None:
    """The best choice without a clash, and a bound on all of them."""
    number = count()
    first = _chosen(table, freed, by, frozenset())
    queue = [(first.value, next(number), first)] if first else []
    best: _Choice | None = None
    tried = 0
    while queue:
        bound, _, choice = heapq.heappop(queue)
        clash = choice.clash
        if clash is None:
            return choice, bound
        if not exact and tried >= _MOST_TRIED:
            best = _untangled(table, freed, by, choice)
            return None if best is None else (best, bound)
        tried += 1
        one, other, start = clash
        for robot in (one, other):
            made = _chosen(table, freed, by, choice.bans | {(robot, start)})
            if made is not None:
                heapq.heappush(queue, (made.value, next(number), made))
    return None


def _chosen(
    table: TeamTable, freed: Sequence[Array], by: TeamMeasure, bans: frozenset[tuple[int, int]]
) -> _Choice | None:
    """The best plan where each helper starts where it is nearest to what it takes, but for bans."""
    open_to = [each.copy() for each in freed]
    for robot, start in bans:
        open_to[robot - 1][start] = np.inf
    rows = np.stack([table.start[0], *(each.min(axis=0) for each in open_to)])
    found = solve(table, by, start=rows)
    if found is None:
        return None
    value, way = found
    starts = {r: int(open_to[r - 1][:, a].argmin()) for r, a, _ in way if r > 0}
    return _Choice(value, way, starts, bans)


def _untangled(
    table: TeamTable, freed: Sequence[Array], by: TeamMeasure, choice: _Choice
) -> _Choice | None:
    """A choice without clashes: helpers are placed one after the other, in the order they carry."""
    bans = set(choice.bans)
    while (clash := choice.clash) is not None:
        _, other, start = clash
        bans.add((other, start))
        made = _chosen(table, freed, by, frozenset(bans))
        if made is None:
            return None
        choice = made
    return choice


def _helpers(table: TeamTable) -> range:
    return range(1, len(table.robots))
