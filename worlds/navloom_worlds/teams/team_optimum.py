"""Optimal team plan for one errand, exact: who carries, in which order, over which handoffs.

Each robot carries at most once. The value of a plan then depends only on the robots used and on the
object's position, so dynamic programming over (robots used, place) is exact: of all plans that
bring it there, the best is never worse to continue from. For N robots and n places it takes
N 2^(N-1) n^2 steps. The recurrence is that of :mod:`navloom.tools.navcraft.schedule`.

Bounds on the gain of a plan (not part of CoNavBench 3.1.3). Distances over G+ keep the triangle
inequality, d(o, x) + d(x, e) >= d(o, e). For robots of one speed v that pass the same links

- no chain ends sooner than the robot that fetches would alone: T_1 = (d(s, o) + d(o, x_1)) / v and
  T_k >= T_(k-1) + d(x_(k-1), x_k) / v, which adds up to (d(s, o) + d(o, e)) / v or more;
- so no relay ends sooner than the best placed robot alone, and no Type-A2 sooner than robot_1, who
  fetches in it;
- no further handoff ends sooner: without it, the robot before it travels both legs and is there at
  P_k + d(x_(k-1), x_(k+1)) / v, no later than at T_(k+1). A further robot gains only by its own
  start.

Gains need an exception to one of these: robots that are faster or pass other links, robot_1's own
metres (alpha), a cap on the metres of a robot, and several errands.

Helpers may also start anywhere (:func:`best_starts`; in A.11 of CoNavBench the planner chooses). If
several could start in one place, each leg would begin from its best start, and the best plan would
be a look-up. That problem is solved first, and its value is a bound. If two helpers start in one
place, either of them is banned from it, and both cases are solved in turn, the lower bound first.
The first plan that uses no start twice is the best.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, count
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from navloom.errors import UsageError
from navloom.scenes.scene import Scene
from navloom.tools.model_output import quote
from navloom.tools.navcraft.relay_task import has_usable_surface
from navloom.tools.navcraft.schedule import CarryLeg
from navloom.tools.navcraft.task_paths import ITEM_NODE, Anchor, metric_graph
from navloom_worlds.geometry.arrays import F64
from navloom_worlds.teams.robots import Robot
from navloom_worlds.teams.team_plan import TeamErrand, TeamPlan, check_team

TeamMeasure = Literal["makespan", "alpha", "metres", "longest"]
"""``makespan``: seconds until all is done. ``alpha``: metres of the first robot, which must carry
something, over its metres alone if it passed every link. ``metres``: metres of all robots.
``longest``: the most metres of one robot."""
LEAST = 1e-9
"""Tolerance in seconds or metres: smaller differences are rounding errors."""
Array = F64
Carried = list[tuple[int, int, int]]
"""Legs of one errand: robot, place, place, as indices into a table."""
_Step = Callable[[Array, int, NDArray[np.intp]], Array]
_Found = tuple[float, Carried] | None
_ORIGIN, _END = 0, 1
"""Indices of an errand's own places in its table."""


@dataclass(frozen=True)
class BestTeamPlan:
    """Best plan, or the best that was found, with a lower bound.

    Attributes:
        plan: the plan.
        value: its value by the requested measure.
        bound: lower bound on the value of any plan.
    """

    plan: TeamPlan
    value: float
    bound: float

    @property
    def exact(self) -> bool:
        """True if the plan is proven to be the best."""
        return self.gap <= LEAST

    @property
    def gap(self) -> float:
        """Greatest possible distance from the best plan, as a share of the found plan's value."""
        return max(0.0, (self.value - self.bound) / self.value) if self.value > 0 else 0.0


@dataclass(frozen=True)
class TravelTable:
    """Travel distances of each robot of a team between some places.

    Attributes:
        robots: R robots.
        places: n places.
        start: (R, n) metres from each robot's start.
        metres: (R, n, n) metres from place to place; ``inf`` if its body cannot get there.
        speed: (R,) metres a second.
        least: (n,) metres from each place to the second of them for a robot that passes everything.
    """

    robots: tuple[Robot, ...]
    places: tuple[Anchor, ...]
    start: Array
    metres: Array
    speed: Array
    least: Array


def travel_table(scene: Scene, robots: Sequence[Robot], places: Sequence[Anchor]) -> TravelTable:
    """Compute the travel distances of a team between places."""
    known = [*places]
    names = np.array([place.node for place in known])
    same = names[:, None] == names
    metres = np.empty((len(robots), len(known), len(known)))
    start = np.empty((len(robots), len(known)))
    made: dict[int, int] = {}
    for i, robot in enumerate(robots):
        graph = robot.graph(scene)
        first = made.setdefault(id(graph), i)
        metres[i] = metres[first] if first < i else graph.distances(known, known)
        metres[i][same] = 0.0
        start[i] = graph.distances([robot.start], known)[0]
        start[i][names == robot.start.node] = 0.0
    speed = np.array([robot.speed for robot in robots])
    least = metric_graph(scene).distances(known, known[1:2])[:, 0]
    least[same[:, 1]] = 0.0
    return TravelTable(tuple(robots), tuple(known), start, metres, speed, least)


def handoff_places(scene: Scene, errand: TeamErrand) -> tuple[Anchor, ...]:
    """Return an errand's handoff places by the papers' guards (CoNavBench 3.1.3).

    These are all assets with a usable surface outside the object's own region, except the
    destination.
    """
    region = scene.item_by_id[errand.object].region if errand.object in scene.item_by_id else None
    anchors = metric_graph(scene).items
    return tuple(
        anchors[item.id]
        for item in scene.items
        if item.kind == "asset"
        and item.id in anchors
        and item.region != region
        and anchors[item.id].node not in (errand.end.node, errand.origin.node)
        and has_usable_surface(scene, item)
    )


def errand_places(errand: TeamErrand, places: Sequence[Anchor]) -> list[Anchor]:
    """Return an errand's origin, its end, and the other given places, without duplicates."""
    return list({each.node: each for each in (errand.origin, errand.end, *places)}.values())


def best_plan(
    scene: Scene,
    robots: Sequence[Robot],
    errand: TeamErrand,
    places: Sequence[Anchor],
    *,
    by: TeamMeasure = "makespan",
    cap: float | None = None,
) -> BestTeamPlan:
    """Return the best plan for one errand, each robot carrying at most once; exact.

    Args:
        scene: the scene.
        robots: the team; its first is robot_1.
        errand: the errand.
        places: its handoff places.
        by: measure to minimize. Of plans of equal alpha the one with the least makespan is
            returned.
        cap: most metres that a robot may travel.

    Raises:
        UsageError: it is no team, no robot gets there, or no plan keeps the cap, with the least
            feasible one.
    """
    check_team(robots)
    table = travel_table(scene, robots, errand_places(errand, places))
    found = solve_errand(table, by, cap)
    if found is None:
        raise UsageError(no_plan_message(table, errand, cap))
    value = found[0] / (solo_metres(scene, robots[0], [errand]) if by == "alpha" else 1.0)
    return BestTeamPlan(legs_to_plan(table, errand, found[1]), value, value)


def solve_errand(
    table: TravelTable, by: TeamMeasure, cap: float | None = None, start: Array | None = None
) -> _Found:
    """Return the best legs from the table's first place to its second over the others.

    Args:
        table: the team; its places are the errand's origin, its end, and handoffs.
        by: measure to minimize; alpha is returned in metres.
        cap: most metres that a robot may travel.
        start: (R, n) metres from other starts than the table's.

    Returns:
        The value and the legs; None if there is no solution.
    """
    start = table.start if start is None else start
    # Total metres of a robot for a leg from row to column; a leg to its own origin is invalid.
    walks = start[:, :, None] + table.metres
    walks[:, range(walks.shape[1]), range(walks.shape[1])] = math.inf
    if cap is not None:
        walks[walks > cap + LEAST] = math.inf
    nothing = np.zeros(walks.shape[1])
    if by == "metres":
        return _search(walks, lambda at, r, rows: at[:, None] + walks[r][rows], table.least)
    if by == "longest":
        return _search(walks, lambda at, r, rows: np.maximum(at[:, None], walks[r][rows]), nothing)
    load = None
    if by == "alpha":
        # The first robot has at most one leg, so its metres bound that leg only.
        most = np.where(np.isfinite(walks), 0.0, math.inf)
        most[0] = walks[0]
        load = _search(
            walks, lambda at, r, rows: np.maximum(at[:, None], most[r][rows]), nothing, must=1
        )
        if load is None:
            return None
        walks[0][walks[0] > load[0] + LEAST] = math.inf
    comes = start / table.speed[:, None]
    takes = np.where(np.isfinite(walks), table.metres, math.inf) / table.speed[:, None, None]
    found = _search(
        walks,
        lambda at, r, rows: np.maximum(at, comes[r][rows])[:, None] + takes[r][rows],
        table.least / table.speed.max(),
        must=0 if load is None else 1,
    )
    return found if found is None or load is None else (load[0], found[1])


def _search(walks: Array, step: _Step, onward: Array, *, must: int = 0) -> _Found:
    """Return the least value and its legs, by dynamic programming over (robots used, place).

    Args:
        walks: (R, n, n), for its shape.
        step: values, a robot and the rows of its origins -> the (rows, n) values after its leg.
        onward: (n,) lower bound of what is added from a place to the end.
        must: bits of the robots that have to carry something.
    """
    many, n, _ = walks.shape
    first = np.full(n, math.inf)
    first[_ORIGIN] = 0.0
    states, best, winners = {0: first}, math.inf, 0
    for size in range(1, many + 1):
        for team in combinations(range(many), size):
            used, values = sum(1 << r for r in team), np.full(n, math.inf)
            for r in team:
                at = states[used ^ 1 << r]
                # Places from which the end is already too far are pruned.
                rows = np.flatnonzero(at + onward < best - LEAST)
                if len(rows):
                    np.minimum(values, step(at[rows], r, rows).min(axis=0), out=values)
            if used & must == must and values[_END] < best - LEAST:
                best, winners = float(values[_END]), used
            values[[_ORIGIN, _END]] = math.inf
            states[used] = values
    if math.isinf(best):
        return None
    return best, [*_backwards(states, step, winners)][::-1]


def _backwards(states: dict[int, Array], step: _Step, used: int) -> Iterator[tuple[int, int, int]]:
    """Yield the legs that led to the end with the given robots, the last first."""
    place, rows = _END, np.arange(len(states[0]))
    while used:
        columns = {
            r: step(states[used ^ 1 << r], r, rows)[:, place]
            for r in range(used.bit_length())
            if used >> r & 1
        }
        r = min(columns, key=lambda each: float(columns[each].min()))
        before = int(columns[r].argmin())
        yield r, before, place
        used, place = used ^ 1 << r, before


def legs_to_plan(table: TravelTable, errand: TeamErrand, way: Carried) -> TeamPlan:
    """Return legs by index as a plan of the table's robots."""
    names, places = [robot.name for robot in table.robots], table.places
    legs = (CarryLeg(names[r], errand.object, places[a], places[b]) for r, a, b in way)
    return TeamPlan(table.robots, tuple(legs))


def solo_metres(scene: Scene, robot: Robot, errands: Sequence[TeamErrand]) -> float:
    """Return ``C_solo``: metres of a robot alone, in the errands' order, passing every link."""
    graph, at, metres = metric_graph(scene), robot.start, 0.0
    for each in errands:
        metres += graph.distance(at, each.origin) + graph.distance(each.origin, each.end)
        at = each.end
    return metres


def no_plan_message(table: TravelTable, errand: TeamErrand, cap: float | None) -> str:
    """Return a one-line message on why no plan brings an errand's object."""
    least = None if cap is None else solve_errand(table, "longest")
    if least is None:
        end = errand.end.node.removeprefix(ITEM_NODE)
        team = ", ".join(
            f"{robot.name} ({robot.body.name})" if robot.body else robot.name
            for robot in table.robots
        )
        return (
            f"No plan of {team} brings {quote(errand.object)} to {quote(end)}: over no handoff "
            "does a body get all the way."
        )
    return cap_message(float(cap or 0.0), least[0])


def cap_message(cap: float, least: float) -> str:
    """Return a one-line message with the least cap on a robot that any plan can keep."""
    return (
        f"No plan keeps each robot within {cap:g} m: the least cap that one keeps is "
        f"{math.ceil(least * 100 - LEAST) / 100:.2f} m."
    )


MOST_EXACT_STARTS = 3
"""Most robots for which the best starts are proven, however long it takes."""
_MOST_TRIED = 200
"""Most choices of starts examined for larger teams."""


@dataclass(frozen=True)
class _Choice:
    """Best plan under some bans, and the starts of its robots.

    Attributes:
        value: the plan's value.
        way: its legs.
        starts: by robot that carries, the index of its start; robot_1's is fixed and not here.
        bans: (robot, start) pairs that are not allowed.
    """

    value: float
    way: Carried
    starts: dict[int, int]
    bans: frozenset[tuple[int, int]]

    @property
    def clash(self) -> tuple[int, int, int] | None:
        """Two robots with the same start, and the start; None if there are none."""
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
) -> BestTeamPlan:
    """Return the best plan if all but the first robot may choose their starts.

    No two of them share a start. With at most ``MOST_EXACT_STARTS`` robots the plan is optimal. For
    a larger team ``bound`` is a lower bound, and ``exact`` says whether it is met.

    Args:
        scene: the scene.
        robots: the team; the starts of all but the first are ignored.
        starts: possible starts.
        errand: the errand.
        places: its handoff places.
        by: measure to minimize.

    Raises:
        UsageError: it is no team, there are fewer starts than robots need, or no robot gets there.
    """
    check_team(robots)
    if len(starts) < len(robots) - 1:
        raise UsageError(f"{len(robots) - 1} robots cannot start in {len(starts)} places.")
    table = travel_table(scene, robots, errand_places(errand, places))
    freed = [robot.graph(scene).distances([*starts], [*table.places]) for robot in robots[1:]]
    found = _search_starts(table, freed, by, exact=len(robots) <= MOST_EXACT_STARTS)
    if found is None:
        raise UsageError(no_plan_message(table, errand, None))
    choice, bound = found
    spare = (i for i in range(len(starts)) if i not in choice.starts.values())
    team = [robots[0]]
    for i, robot in enumerate(robots[1:], 1):
        at = choice.starts[i] if i in choice.starts else next(spare)
        team.append(replace(robot, start=starts[at]))
    whole = solo_metres(scene, robots[0], [errand]) if by == "alpha" else 1.0
    plan = legs_to_plan(replace(table, robots=tuple(team)), errand, choice.way)
    return BestTeamPlan(plan, choice.value / whole, bound / whole)


def _search_starts(
    table: TravelTable, freed: Sequence[Array], by: TeamMeasure, *, exact: bool
) -> tuple[_Choice, float] | None:
    """Return the best choice without a clash, and a bound on all of them."""
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
    table: TravelTable, freed: Sequence[Array], by: TeamMeasure, bans: frozenset[tuple[int, int]]
) -> _Choice | None:
    """Return the best plan with each helper at its nearest start that is not banned."""
    open_to = [each.copy() for each in freed]
    for robot, start in bans:
        open_to[robot - 1][start] = np.inf
    rows = np.stack([table.start[0], *(each.min(axis=0) for each in open_to)])
    found = solve_errand(table, by, start=rows)
    if found is None:
        return None
    value, way = found
    starts = {r: int(open_to[r - 1][:, a].argmin()) for r, a, _ in way if r > 0}
    return _Choice(value, way, starts, bans)


def _untangled(
    table: TravelTable, freed: Sequence[Array], by: TeamMeasure, choice: _Choice
) -> _Choice | None:
    """Return a choice without clashes: ban one robot of each clash in turn."""
    bans = set(choice.bans)
    while (clash := choice.clash) is not None:
        _, other, start = clash
        bans.add((other, start))
        made = _chosen(table, freed, by, frozenset(bans))
        if made is None:
            return None
        choice = made
    return choice
