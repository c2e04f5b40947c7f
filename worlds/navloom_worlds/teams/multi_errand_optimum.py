"""Optimal team plans for several errands, each with at most one handoff.

An *errand* brings one object to its destination. A *shape* says which robots carry what, and in
which order each robot does its legs. It leaves the handoff places open. The value of a shape at all
places is a few sums over arrays with an axis a handoff, so the best of a shape is exact. Removing
an errand from a shape delays no robot and lengthens no path (triangle inequality over G+). A shape
is thus never better than any of its parts alone: this is the bound of the search.

Two errands are solved exactly. Three and four are solved by branch and bound if time allows; else
the best plan found is returned with a bound. More are solved by a heuristic (insert each where it
costs least, remove some and insert them again), with the same bound: the longest errand alone, or
all carried metres over the sum of speeds, whichever is more. It holds for any number of handoffs.
"""

from __future__ import annotations

import heapq
import math
import random
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import combinations, count, permutations, product

import numpy as np
from numpy.typing import NDArray

from navloom.errors import UsageError
from navloom.scenes.scene import Scene
from navloom.tools.navcraft.schedule import CarryLeg
from navloom.tools.navcraft.task_paths import Anchor, metric_graph
from navloom_worlds.teams.robots import Robot
from navloom_worlds.teams.team_optimum import (
    LEAST,
    Array,
    BestTeamPlan,
    TeamMeasure,
    TravelTable,
    best_plan,
    cap_message,
    errand_places,
    handoff_places,
    solo_metres,
    travel_table,
)
from navloom_worlds.teams.team_plan import TeamErrand, TeamPlan, check_errands, check_team

Hands = tuple[int, ...]
"""Carriers of an errand's object: one robot, or two in turn."""
Step = tuple[int, int, int]
"""(robot, errand, 0 for its first leg or 1 for its second)."""
Order = tuple[Step, ...]
"""Shape: its legs, none before one that it waits for."""


def carriers_by_errand(order: Order) -> dict[int, Hands]:
    """Return the carriers of each errand in a shape."""
    carried: dict[int, Hands] = {}
    for robot, errand, _ in sorted(order, key=lambda step: step[2]):
        carried[errand] = (*carried.get(errand, ()), robot)
    return carried


def leg_orders(hands: Mapping[int, Hands]) -> Iterator[Order]:
    """Yield every shape with the given carriers: all executable leg orders of each robot."""
    steps = [(r, e, part) for e, each in hands.items() for part, r in enumerate(each)]
    robots = sorted({step[0] for step in steps})
    lists = ([*permutations([step for step in steps if step[0] == r])] for r in robots)
    for chosen in product(*lists):
        order = executable_order(step for each in chosen for step in each)
        if len(order) == len(steps):
            yield order


def orders_with_errand(order: Order, errand: int, hands: Hands) -> Iterator[Order]:
    """Yield every order of legs that adds an errand to an order, at any position."""
    mine = {r: [step for step in order if step[0] == r] for r in hands}
    others = [step for step in order if step[0] not in hands]
    for places in product(*(range(len(mine[r]) + 1) for r in hands)):
        steps = [*others]
        for part, (r, place) in enumerate(zip(hands, places, strict=True)):
            steps += [*mine[r][:place], (r, errand, part), *mine[r][place:]]
        made = executable_order(steps)
        if len(made) == len(steps):
            yield made


def executable_order(steps: Iterable[Step]) -> Order:
    """Return legs sorted so that each follows the legs it waits for, in each robot's own order.

    Legs that wait for each other in a circle are left out.
    """
    lists = defaultdict[int, list[Step]](list)
    for step in steps:
        lists[step[0]].append(step)
    done: dict[Step, None] = {}
    brought: set[int] = set()
    grown = True
    while grown:
        grown = False
        for robot in sorted(lists):
            while lists[robot] and (lists[robot][0][2] == 0 or lists[robot][0][1] in brought):
                step = lists[robot].pop(0)
                done[step] = None
                brought.add(step[1])
                grown = True
    return tuple(done)


EXACT_ERRANDS, BOUNDED_ERRANDS = 2, 4
"""Most errands solved exactly, and most solved by branch and bound."""
_ROUNDS = 30
"""Rounds in which the heuristic removes and reinserts errands."""
_MOST_AT_ONCE = 1_000_000
"""Most numbers in an array."""


@dataclass(frozen=True)
class _Found:
    """Shape, its handoff places (by errand, an index into the places), and its value."""

    value: float
    order: Order = ()
    sites: dict[int, int] = field(default_factory=dict)


def best_team_plan(
    scene: Scene,
    robots: Sequence[Robot],
    errands: Sequence[TeamErrand],
    places: Sequence[Sequence[Anchor]] | None = None,
    *,
    by: TeamMeasure = "makespan",
    cap: float | None = None,
    seconds: float = 10.0,
) -> BestTeamPlan:
    """Return the best plan of a team for its errands; for one errand that of :func:`best_plan`.

    Args:
        scene: the scene.
        robots: the team; its first is robot_1.
        errands: the errands.
        places: handoff places of each errand; those of the papers' guards unless given.
        by: measure to minimize; alpha is robot_1's share of ``C_solo`` of all errands.
        cap: most metres that a robot may travel.
        seconds: time limit of the search for three errands or more.

    Raises:
        UsageError: no team, no or too many errands, an errand that no robots can do, or a cap that
            no plan keeps, with the least feasible one.
    """
    check_team(robots)
    check_errands(errands)
    places = [handoff_places(scene, each) for each in errands] if places is None else places
    places = [errand_places(*each)[2:] for each in zip(errands, places, strict=True)]
    if len(errands) == 1:
        return best_plan(scene, robots, errands[0], places[0], by=by, cap=cap)
    ends = time.monotonic() + seconds
    graph = metric_graph(scene)
    alone = [best_plan(scene, robots, *each).value for each in zip(errands, places, strict=True)]
    carried = sum(graph.distance(each.origin, each.end) for each in errands)
    # Lower bounds for any number of handoffs.
    floors: dict[TeamMeasure, float] = {
        "alpha": 0.0,
        "makespan": max(*alone, carried / sum(robot.speed for robot in robots)),
        "metres": carried,
        "longest": carried / len(robots),
    }
    search = _Search.laid_out(scene, robots, errands, places, by, cap)
    found, bound = search.best(ends)
    if math.isinf(found.value):
        raise UsageError(_none(search, cap, ends + seconds))
    bound = min(found.value, max(bound, floors[by]))
    whole = search.whole if by == "alpha" else 1.0
    return BestTeamPlan(search.plan(found), found.value / whole, bound / whole)


def _none(search: _Search, cap: float | None, ends: float) -> str:
    said = "No plan of one handoff each does all errands: give the team other bodies or starts."
    if cap is None:
        return said
    free = _Search(search.table, search.errands, search.sites, "longest", None, search.whole)
    least, bound = free.best(ends)
    if math.isinf(least.value):
        return said
    if least.value - bound <= LEAST:
        return cap_message(cap, least.value)
    return (
        f"No plan was found that keeps each robot within {cap:g} m: one was that keeps "
        f"{math.ceil(least.value * 100) / 100:.2f} m, and none keeps {bound:.2f} m."
    )


@dataclass(frozen=True, eq=False)
class _Search:
    """Search for a team and its errands, with cached values of parts of shapes.

    Attributes:
        table: the team; places are the E origins, the E ends, then all handoffs.
        errands: E errands.
        sites: by errand, the indices of its handoff places.
        by: measure to minimize.
        cap: most metres that a robot may travel.
        whole: ``C_solo`` of all errands, in metres.
    """

    table: TravelTable
    errands: tuple[TeamErrand, ...]
    sites: tuple[NDArray[np.intp], ...]
    by: TeamMeasure
    cap: float | None
    whole: float
    _alone: dict[tuple[int, Hands], Array] = field(default_factory=dict)
    _parts: dict[Order, float] = field(default_factory=dict)
    _pairs: dict[tuple[tuple[int, Hands], ...], float] = field(default_factory=dict)

    @classmethod
    def laid_out(
        cls,
        scene: Scene,
        robots: Sequence[Robot],
        errands: Sequence[TeamErrand],
        places: Sequence[Sequence[Anchor]],
        by: TeamMeasure,
        cap: float | None,
    ) -> _Search:
        """Build the search with all places in one table."""
        ends = [*(each.origin for each in errands), *(each.end for each in errands)]
        sites = {place.node: place for each in places for place in each}
        number = {node: len(ends) + i for i, node in enumerate(sites)}
        return cls(
            travel_table(scene, robots, [*ends, *sites.values()]),
            tuple(errands),
            tuple(np.array([number[x.node] for x in each], dtype=np.intp) for each in places),
            by,
            cap,
            solo_metres(scene, robots[0], errands),
        )

    def best(self, ends: float) -> tuple[_Found, float]:
        """Return the best plan and a bound; stop at the clock's ``ends`` if it takes long."""
        many = len(self.errands)
        found = self.heuristic(math.inf if many <= EXACT_ERRANDS else ends)
        if many > BOUNDED_ERRANDS:
            return found, 0.0
        return self.branch_and_bound(found, math.inf if many <= EXACT_ERRANDS else ends)

    def plan(self, found: _Found) -> TeamPlan:
        """Return the plan of a shape (each robot's legs, in order) with its handoff places."""
        places, legs = self.table.places, []
        for robot, errand, part in found.order:
            each = self.errands[errand]
            site = found.sites.get(errand)
            origin = each.origin if part == 0 or site is None else places[site]
            to = each.end if part == 1 or site is None else places[site]
            legs.append(CarryLeg(self.table.robots[robot].name, each.object, origin, to))
        return TeamPlan(self.table.robots, tuple(legs))

    # --- value of a shape ---

    def values(self, order: Order, sites: dict[int, Array | NDArray[np.intp] | int]) -> Array:
        """Return the values of a shape, or a part of one, at handoffs that may be arrays."""
        table, many = self.table, len(self.errands)
        free: list[Array | float] = [0.0] * len(table.robots)
        gone: list[Array | float] = [0.0] * len(table.robots)
        at: list[object] = [None] * len(table.robots)
        lies: dict[int, Array | float] = {}
        for r, e, part in order:
            origin = e if part == 0 else sites[e]
            to = sites[e] if part == 0 and e in sites else many + e
            metres = table.metres[r]
            come = table.start[r][origin] if at[r] is None else metres[at[r], origin]
            on = metres[origin, to]
            takes = np.maximum(free[r] + come / table.speed[r], lies.get(e, 0.0))
            free[r] = lies[e] = takes + on / table.speed[r]
            gone[r] = gone[r] + come + on
            at[r] = to
        worth = self._worth(list(lies.values()), gone)
        if self.cap is not None:
            over = reduce(np.logical_or, (np.asarray(each) > self.cap + LEAST for each in gone))
            worth = np.where(over, math.inf, worth)
        return np.asarray(worth, dtype=np.float64)

    def _worth(self, ends: list[Array | float], gone: list[Array | float]) -> Array:
        last = np.asarray(reduce(np.maximum, ends))
        if self.by == "makespan":
            return last
        if self.by == "alpha":
            made = np.asarray(gone[0])
        else:
            made = np.asarray(reduce(np.add if self.by == "metres" else np.maximum, gone))
        return np.where(np.isfinite(last), made, math.inf)

    def alone(self, errand: int, hands: Hands) -> Array:
        """Return one errand's values alone: at each handoff, or () for one carrier."""
        key = errand, hands
        if key not in self._alone:
            order = tuple((r, errand, part) for part, r in enumerate(hands))
            sites = {errand: self.sites[errand]} if len(hands) == 2 else {}
            self._alone[key] = self.values(order, dict(sites))
        return self._alone[key]

    def best_of(self, order: Order, worst: float) -> _Found:
        """Return a shape's best handoffs; the result is exact only if below ``worst``."""
        hands = carriers_by_errand(order)
        axes = {e: each for e, each in hands.items() if len(each) == 2}
        sites = {e: self.sites[e][self.alone(e, each) < worst] for e, each in axes.items()}
        best = _Found(math.inf, order)
        shape = [len(each) for each in sites.values()]
        if 0 in shape:
            return best
        rows = max(1, _MOST_AT_ONCE // max(1, math.prod(shape[1:]))) if shape else 1
        for begin in range(0, shape[0] if shape else 1, rows):
            part = [
                each[begin : begin + rows] if i == 0 else each
                for i, each in enumerate(sites.values())
            ]
            grid = dict(zip(sites, np.ix_(*part), strict=True)) if part else {}
            far = np.broadcast_to(self.values(order, dict(grid)), tuple(len(each) for each in part))
            where = np.unravel_index(int(far.argmin()), far.shape)
            if far[where] < best.value:
                at = {e: int(each[i]) for e, each, i in zip(sites, part, where, strict=True)}
                best = _Found(float(far[where]), order, at)
        return best

    # --- searching ---

    def branch_and_bound(self, found: _Found, ends: float) -> tuple[_Found, float]:
        """Return the best of all shapes and a bound, starting from a known plan.

        Shapes wait in a queue by the best value of their parts of ``level`` errands. The most
        promising one is refined first.
        """
        number, many = count(), len(self.errands)
        queue: list[tuple[float, int, int, Order]] = []
        for bound, order in self._shapes(found.value, ends):
            heapq.heappush(queue, (bound, next(number), 1, order))
            if time.monotonic() > ends:
                return found, 0.0
        while queue and queue[0][0] < found.value - LEAST:
            bound, _, level, order = heapq.heappop(queue)
            if time.monotonic() > ends:
                return found, bound
            if level + 1 < many:
                parts = (
                    self._part(order, each, found.value)
                    for each in combinations(range(many), level + 1)
                )
                heapq.heappush(queue, (max(bound, *parts), next(number), level + 1, order))
                continue
            made = self.best_of(order, found.value)
            if made.value < found.value - LEAST:
                found = made
        return found, found.value

    def _shapes(self, worst: float, ends: float) -> Iterator[tuple[float, Order]]:
        """Yield every shape whose errands, alone and in pairs, are better than ``worst``.

        Args:
            worst: value to beat.
            ends: clock time from which pairs are no longer tested.

        Yields:
            The worst value of those parts, and the shape.
        """
        fit = [self._fit(errand, worst) for errand in range(len(self.errands))]
        pairs = len(fit) > EXACT_ERRANDS

        def grow(bound: float, hands: dict[int, Hands]) -> Iterator[tuple[float, Order]]:
            errand = len(hands)
            if errand == len(fit):
                if self.by != "alpha" or any(0 in each for each in hands.values()):
                    yield from ((bound, order) for order in leg_orders(hands))
                return
            for value, mine in fit[errand]:
                least = max(bound, value)
                for other, theirs in hands.items() if pairs and time.monotonic() < ends else ():
                    least = max(least, self._pair({other: theirs, errand: mine}, worst))
                if least < worst - LEAST:
                    yield from grow(least, {**hands, errand: mine})

        yield from grow(0.0, {})

    def _pair(self, held: dict[int, Hands], worst: float) -> float:
        """Return the best value of two errands with these carriers, in any order."""
        key = tuple(sorted(held.items()))
        if key not in self._pairs:
            self._pairs[key] = min(self._part(order, [*held], worst) for order in leg_orders(held))
        return self._pairs[key]

    def _fit(self, errand: int, worst: float) -> list[tuple[float, Hands]]:
        """Return the possible carriers of an errand, and their value for it alone."""
        robots = range(len(self.table.robots))
        found = []
        for hands in (*((r,) for r in robots), *permutations(robots, 2)):
            values = self.alone(errand, hands)
            if values.size and (value := float(values.min())) < worst:
                found.append((value, hands))
        return found

    def _part(self, order: Order, errands: Sequence[int], worst: float) -> float:
        part = executable_order(step for step in order if step[1] in errands)
        if part not in self._parts:
            self._parts[part] = self.best_of(part, worst).value
        return self._parts[part]

    def heuristic(self, ends: float) -> _Found:
        """Return a good plan: insert errands at least cost, then remove and reinsert some."""
        many, dice = len(self.errands), random.Random(0)
        least = [
            min((value for value, _ in self._fit(e, math.inf)), default=math.inf)
            for e in range(many)
        ]
        found = _Found(0.0)
        for errand in sorted(range(many), key=lambda e: -least[e]):
            found = self._put_in(found, errand, math.inf)
            if math.isinf(found.value):
                return found
        for number in range(_ROUNDS):
            if time.monotonic() > ends:
                break
            # First each errand in turn, then two at a time.
            out = [number] if number < many else dice.sample(range(many), min(2, many))
            order = tuple(step for step in found.order if step[1] not in out)
            tried = _Found(0.0, order, {e: at for e, at in found.sites.items() if e not in out})
            for errand in out:
                tried = self._put_in(tried, errand, math.inf if errand != out[-1] else found.value)
                if math.isinf(tried.value):
                    break
            if tried.value < found.value - LEAST:
                found = tried
        return found

    def _put_in(self, found: _Found, errand: int, worst: float) -> _Found:
        """Return a plan with one more errand, with the carriers and order of least cost."""
        best = _Found(math.inf)
        for bound, hands in sorted(self._fit(errand, worst)):
            if bound >= min(best.value, worst):
                break
            for order in orders_with_errand(found.order, errand, hands):
                if self.by == "alpha" and not any(step[0] == 0 for step in order):
                    continue
                sites = self.sites[errand] if len(hands) == 2 else None
                known: dict[int, Array | NDArray[np.intp] | int] = dict(found.sites)
                values = self.values(order, known if sites is None else {**known, errand: sites})
                i = int(values.argmin())
                if values.flat[i] < best.value - LEAST:
                    at = {} if sites is None else {errand: int(sites[i])}
                    best = _Found(float(values.flat[i]), order, {**found.sites, **at})
        return best
