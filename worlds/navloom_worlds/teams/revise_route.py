"""Route replanning among moving robots: A* in time windows on G+ (after CoNavBench 3.1 and A.9).

Links may be closed. Viewpoints, edges or doorways may be reserved for time intervals. A robot may
wait at its position as long as that is free. The route found has the earliest possible arrival.

Times are seconds, lengths metres on the ground plane. A reservation from second a to b is exclusive
between them: another robot may leave at a, and arrive at b. Adjoining reservations of one place are
merged. A robot that has arrived is ignored, as everywhere in schedules.

The search is safe-interval path planning (Phillips and Likhachev 2011) over the rows of a graph. A
state is a row and one of the intervals in which it is free. Of two arrivals in one interval only
the earlier counts, since a robot may wait there.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from navloom.errors import UsageError, did_you_mean
from navloom.scenes.distances import scene_cached
from navloom.scenes.scene import Item, Scene, distance_2d
from navloom.tools.model_output import list_names, quote
from navloom.tools.navcraft.schedule import RobotStop, Spell
from navloom.tools.navcraft.task_paths import (
    ITEM_NODE,
    POINT_NODE,
    Anchor,
    MetricGraph,
    metric_graph,
    resolve_node,
)
from navloom_worlds.teams.robots import Robot, closed_links, edges_over_links, first_barrier

Edge = tuple[int, int]
"""Rows of an edge's two ends, the lower first."""
_ALWAYS: tuple[Spell, ...] = ((-math.inf, math.inf),)


class TimeWindowSearch:
    """Search over one graph.

    Attributes:
        neighbours: by row: the rows one edge away, and the metres.
        left: by row: metres to the goal without other robots; ``inf`` if it is unreachable.
        speed: metres a second.
    """

    def __init__(
        self, neighbours: list[list[tuple[int, float]]], left: list[float], speed: float
    ) -> None:
        self.neighbours, self.left, self.speed = neighbours, left, speed

    def run(
        self,
        start: int,
        goal: int,
        depart: float,
        shut: set[int | Edge],
        taken: Mapping[int | Edge, tuple[Spell, ...]],
    ) -> list[tuple[int, float, float]] | None:
        """Return the route with the earliest arrival.

        Args:
            start: row of the start; free at ``depart``.
            goal: row of the goal.
            depart: earliest second of departure.
            shut: rows and edges that are closed.
            taken: when rows and edges are reserved by others, in the form of :func:`merge_spells`.

        Returns:
            Rows with the seconds of arrival and departure; None if there is no route.
        """
        speed, left, neighbours = self.speed, self.left, self.neighbours
        if start in shut or goal in shut or math.isinf(left[start]):
            return None
        free = {row: _gaps(spells) for row, spells in taken.items() if isinstance(row, int)}
        first = next(k for k, (a, b) in enumerate(free.get(start, _ALWAYS)) if a <= depart <= b)
        # Of equal arrivals the shorter path: the heap compares metres after seconds.
        queue = [(depart + left[start] / speed, 0.0, depart, start, first, depart, (-1, -1))]
        came: dict[tuple[int, int], tuple[float, float, tuple[int, int]]] = {}
        while queue:
            _, metres, now, here, spell, left_at, before = heapq.heappop(queue)
            state = here, spell
            if state in came:
                continue
            came[state] = now, left_at, before
            if here == goal:
                return _traced(came, state)
            until = free.get(here, _ALWAYS)[spell][1]
            for there, length in neighbours[here]:
                edge = (here, there) if here < there else (there, here)
                if math.isinf(left[there]) or there in shut or edge in shut:
                    continue
                lasts = length / speed
                for k, (opens, closes) in enumerate(free.get(there, _ALWAYS)):
                    if (there, k) in came:
                        continue
                    go = opens - lasts if opens - lasts > now else now
                    if edge in taken:
                        go = _clear(taken[edge], go, lasts)
                    if go > until or go + lasts > closes or go == math.inf:
                        continue
                    arrive = max(go + lasts, opens)
                    rank = arrive + left[there] / speed, metres + length
                    heapq.heappush(queue, (*rank, arrive, there, k, go, state))
        return None


def _traced(
    came: Mapping[tuple[int, int], tuple[float, float, tuple[int, int]]], state: tuple[int, int]
) -> list[tuple[int, float, float]]:
    """Return the states of the route, first to last: row, arrival and departure."""
    back: list[tuple[int, float, float]] = []
    goes = came[state][0]
    while state in came:
        arrive, left_at, before = came[state]
        back.append((state[0], arrive, goes))
        state, goes = before, left_at
    return back[::-1]


def _clear(taken: Sequence[Spell], go: float, lasts: float) -> float:
    """Return the first second from ``go`` on at which an edge is free for ``lasts`` seconds."""
    for begin, end in taken:
        if begin < go + lasts and go < end:
            go = end
    return go


def _gaps(taken: Sequence[Spell]) -> tuple[Spell, ...]:
    """Return the intervals in which a row or edge is free, bounds included."""
    ends = [-math.inf, *(end for _, end in taken)]
    gaps = zip(ends, [*(begin for begin, _ in taken), math.inf], strict=True)
    return tuple(gap for gap in gaps if gap[0] < math.inf)


def merge_spells(spells: Sequence[Spell]) -> tuple[Spell, ...]:
    """Return time intervals in order, merged where they touch."""
    found: list[Spell] = []
    for begin, end in sorted(spells):
        if found and begin <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((begin, end))
    return tuple(found)


BETWEEN = " <-> "
"""Separator between the two ends of a link or an edge."""
IN = " in "
"""Separator between an item and its region: ``desk in Study_4``."""
MOST_CLOSED, MOST_RESERVED = 500, 5_000


class Reservation(NamedTuple):
    """Exclusive use of a place by another robot for some time.

    Attributes:
        where: a viewpoint or another node of G+, an edge (``"a <-> b"`` of two nodes), or a link
            (``"a <-> b"`` of two regions): every edge that crosses it.
        from_s: first second.
        to_s: last second; ``inf`` for ever.
    """

    where: str
    from_s: float
    to_s: float


@dataclass(frozen=True)
class RevisedRoute:
    """Timed route without encounters.

    Attributes:
        robot: the robot's name.
        stops: the nodes of G+ on it, with the seconds of arrival and departure.
        metres: its length.
    """

    robot: str
    stops: tuple[RobotStop, ...]
    metres: float

    @property
    def waits(self) -> tuple[RobotStop, ...]:
        """Stops at which the robot waits."""
        return tuple(stop for stop in self.stops[:-1] if stop.leave > stop.arrive)

    def record(self) -> dict[str, Any]:
        """Return the route as JSON: metres, departure, arrival, waits, and region transitions."""
        begin, end = self.stops[0], self.stops[-1]
        return {
            "robot": self.robot,
            "metres": self.metres,
            "depart_s": begin.arrive,
            "arrive_s": end.arrive,
            "seconds": end.arrive - begin.arrive,
            "waits": [
                {"at": stop.node, "region": stop.region, "from_s": stop.arrive, "to_s": stop.leave}
                for stop in self.waits
            ],
            "path": region_transitions(stop.region for stop in self.stops),
        }


def region_transitions(regions: Iterable[str | None]) -> list[str]:
    """Return a route's region transitions in the papers' form: ``"Kitchen_4 -> Hallway_6"``."""
    known = [region for region in regions if region]
    return [f"{a} -> {b}" for a, b in pairwise(known) if a != b]


def route_reservations(route: Sequence[RobotStop]) -> list[Reservation]:
    """Return a timed route's reservations: edges while travelled, nodes while waited on."""
    taken = [
        Reservation(f"{here.node}{BETWEEN}{there.node}", here.leave, there.arrive)
        for here, there in pairwise(route)
        if there.arrive > here.leave
    ]
    stood = [Reservation(s.node, s.arrive, s.leave) for s in route if s.leave > s.arrive]
    return [*taken, *stood]


def revise_route(
    scene: Scene,
    robot: Robot,
    start: Anchor,
    goal: Anchor,
    *,
    closed: Iterable[str] = (),
    reserved: Iterable[Reservation] = (),
    depart_s: float = 0.0,
) -> RevisedRoute:
    """Return the fastest route around closed places and others' reservations.

    Args:
        scene: the scene.
        robot: its body decides which links it can pass, its speed the time of edges.
        start: its position.
        goal: its destination.
        closed: closed viewpoints, edges and links, written as in :class:`Reservation`.
        reserved: reservations of other robots.
        depart_s: earliest second of departure.

    Returns:
        The route with the earliest possible arrival.

    Raises:
        UsageError: a name does not exist, a second is no number or runs backwards, the start is
            reserved, or there is no route; the message names the barrier.
    """
    closed, reserved = list(closed), list(reserved)
    _check_times(closed, reserved, depart_s)
    things = _Things(scene, robot.graph(scene), start, goal)
    shut = {thing for name in closed for thing in things.of(name)}
    taken = things.spells(reserved)
    search = TimeWindowSearch(things.neighbours(robot), things.left_to(goal), robot.speed)
    ends = things.row(start), things.row(goal)
    until = next((b for a, b in taken.get(ends[0], ()) if a < depart_s < b), None)
    if until is not None:
        raise UsageError(
            f"{robot.name} stands in {place_name(scene, start)}, which is reserved until second"
            f" {until:g}: give a later depart_s, or another start."
        )
    found = search.run(*ends, depart_s, shut, taken)
    if found is not None:
        stops = []
        for row, arrive, leave in found:
            place = resolve_node(scene, things.node(row))
            stops.append(RobotStop(things.node(row), place.position, place.region, arrive, leave))
        steps = pairwise(row for row, _, _ in found)
        metres = sum(next(m for there, m in search.neighbours[a] if there == b) for a, b in steps)
        return RevisedRoute(robot.name, tuple(stops), metres)
    said = f"{robot.name} cannot get from {place_name(scene, start)} to {place_name(scene, goal)}"
    if math.isinf(search.left[ends[0]]):
        raise UsageError(unreachable_message(scene, robot, start, goal))
    if search.run(*ends, depart_s, shut, {}) is None:
        raise UsageError(f"{said} with {list_names(closed)} closed: open one of them.")
    raise UsageError(f"{said}: what is reserved leaves no way. Let a reservation end sooner.")


def _check_times(closed: Sequence[str], reserved: Sequence[Reservation], depart_s: float) -> None:
    if len(closed) > MOST_CLOSED or len(reserved) > MOST_RESERVED:
        raise UsageError(
            f"At most {MOST_CLOSED} things may be closed and {MOST_RESERVED} reservations given."
        )
    if not (math.isfinite(depart_s) and depart_s >= 0):
        raise UsageError(f"depart_s must be a second from 0 on, not {depart_s}.")
    for each in reserved:
        if not (math.isfinite(each.from_s) and each.from_s < each.to_s):
            raise UsageError(
                f"{quote(each.where)} is reserved from second {each.from_s} to {each.to_s}:"
                " expected two numbers, the later second."
            )


class _Things:
    """Mapping of names to rows of nodes and edges, with two anchors besides the viewpoints."""

    def __init__(self, scene: Scene, graph: MetricGraph, start: Anchor, goal: Anchor) -> None:
        self.scene, self.graph = scene, graph
        self.index, self.nodes = graph.table.index, graph.table.nodes
        anchors = (each for each in (start, goal) if each.node not in self.index)
        self.spurs = {each.node: each for each in anchors}
        self.rows = {node: len(self.nodes) + i for i, node in enumerate(self.spurs)}
        self.edges = scene_cached(scene, "edge_rows", self._edges)
        self.known: dict[str, set[int | Edge]] = scene_cached(scene, "route_names", dict)

    def _edges(self) -> set[Edge]:
        rows = ((self.index[edge.a], self.index[edge.b]) for edge in self.scene.edges)
        return {(min(ends), max(ends)) for ends in rows}

    def row(self, anchor: Anchor) -> int:
        """Return the row of an anchor's node."""
        return self.rows.get(anchor.node, anchor.viewpoint)

    def node(self, row: int) -> str:
        """Return the node of a row."""
        return self.nodes[row] if row < len(self.nodes) else [*self.rows][row - len(self.nodes)]

    def neighbours(self, robot: Robot) -> list[list[tuple[int, float]]]:
        """Return by row: the rows one edge away, and the metres."""
        known = _edges_for(self.scene, robot)
        if not self.spurs:
            return known
        joined = [*known, *([] for _ in self.spurs)]
        for node, anchor in self.spurs.items():
            here, there = self.rows[node], anchor.viewpoint
            joined[there] = [*joined[there], (here, anchor.spur)]
            joined[here] = [(there, anchor.spur)]
        return joined

    def left_to(self, goal: Anchor) -> list[float]:
        """Return by row: metres to the goal without other robots."""
        left = [metres + goal.spur for metres in self.graph.row(goal)]
        if goal.node in self.index:
            left[goal.viewpoint] = 0.0
        for anchor in self.spurs.values():
            same = anchor.node == goal.node
            left.append(0.0 if same else anchor.spur + left[anchor.viewpoint])
        return left

    def spells(self, reserved: Iterable[Reservation]) -> dict[int | Edge, tuple[Spell, ...]]:
        """Return the merged time intervals in which each row or edge is reserved."""
        taken: dict[int | Edge, list[Spell]] = {}
        for where, begin, end in reserved:
            for thing in self.of(where):
                taken.setdefault(thing, []).append((begin, end))
        return {thing: merge_spells(spells) for thing, spells in taken.items()}

    def of(self, name: str) -> set[int | Edge]:
        """Return the rows and edges that a name refers to; empty if it is off every route here.

        Raises:
            UsageError: it refers to nothing in this scene.
        """
        found = self.known.get(name)
        if found is None:
            found = self._meant(name)
            # Names of neither items nor points mean the same for every route.
            if all(row < len(self.nodes) for thing in found for row in _rows(thing)) and found:
                self.known[name] = found
        return found

    def _meant(self, name: str) -> set[int | Edge]:
        scene = self.scene
        a, between, b = name.partition(BETWEEN)
        ends = [self._row_of(each) for each in ((a, b) if between else (a,))]
        if None not in ends:
            rows = [row for row in ends if row is not None and row >= 0]
            if len(rows) < len(ends):
                return set()
            if not between:
                return {rows[0]}
            edge = min(rows), max(rows)
            if edge not in self.edges and edge[1] < len(self.nodes):
                raise UsageError(f"{quote(name)} is no edge: {a[:80]} is not joined to {b[:80]}.")
            return {edge}
        if a in scene.region_by_id and b in scene.region_by_id:
            links = {i for i, link in enumerate(scene.links) if {link.a, link.b} == {a, b}}
            if not links:
                near = sorted({x for k in scene.links if a in (k.a, k.b) for x in (k.a, k.b)} - {a})
                raise UsageError(
                    f"No link joins {a} and {b}; {a} is joined to: {list_names(near)}."
                )
            return set(_edges_of(scene, self.index, links))
        known = (*scene.viewpoint_by_id, *scene.region_by_id)
        wrong = next((each for each in (a, b) if each and each not in known), name)
        raise UsageError(
            f"{quote(name)} is no viewpoint, edge or link here: write a viewpoint's id, or two"
            f" regions or viewpoints as 'A{BETWEEN}B'.{did_you_mean(wrong[:80], known)}"
        )

    def _row_of(self, node: str) -> int | None:
        """Return a node's row; -1 for one that is off this route, None if it is no node."""
        if node in self.index:
            return self.index[node]
        if node in self.rows:
            return self.rows[node]
        if node.startswith(POINT_NODE) or node.removeprefix(ITEM_NODE) in self.scene.item_by_id:
            return -1
        return None


def _rows(thing: int | Edge) -> Edge:
    return (thing, thing) if isinstance(thing, int) else thing


def _edges_for(scene: Scene, robot: Robot) -> list[list[tuple[int, float]]]:
    """Return by row: the rows one edge away that a body can reach, and the metres."""
    shut = closed_links(scene, robot.body) if robot.body else {}

    def make() -> list[list[tuple[int, float]]]:
        at = scene.viewpoint_by_id
        index = metric_graph(scene).table.index
        barred = {frozenset(edge) for edge, link in edges_over_links(scene) if link in shut}
        joined: list[dict[int, float]] = [{} for _ in index]
        for edge in scene.edges:
            if frozenset((edge.a, edge.b)) not in barred and edge.a != edge.b:
                metres = distance_2d(at[edge.a].position, at[edge.b].position)
                joined[index[edge.a]][index[edge.b]] = metres
                joined[index[edge.b]][index[edge.a]] = metres
        return [[*each.items()] for each in joined]

    return scene_cached(scene, f"edges_for {sorted(shut)}", make)


def _edges_of(scene: Scene, index: Mapping[str, int], links: set[int]) -> Iterable[Edge]:
    for (a, b), link in edges_over_links(scene):
        if link in links:
            yield min(index[a], index[b]), max(index[a], index[b])


def place_name(scene: Scene, place: Anchor) -> str:
    """Return a place's name for agents: its region, ``desk in Study_4``, or a viewpoint."""
    what = resolve_node(scene, place.node)
    if isinstance(what, Item):
        return f"{what.prompt_name}{IN}{what.region}"
    # A region's start is named by the region, as agents write it.
    start = metric_graph(scene).starts.get(what.region or "")
    return str(what.region) if start is not None and start.node == what.id else what.id


def unreachable_message(scene: Scene, robot: Robot, start: Anchor, goal: Anchor) -> str:
    """Return a message on why a robot cannot reach a place: the first impassable link."""
    found = first_barrier(scene, robot.body, start, goal)
    why = "the navigation graph does not join them"
    if found is not None and robot.body is not None:
        link = scene.links[found[0]]
        why = f"a {robot.body.name} cannot pass {link.a}{BETWEEN}{link.b} ({found[1]})"
    way = f"from {place_name(scene, start)} to {place_name(scene, goal)}"
    return f"{robot.name} cannot get {way}: {why}."
