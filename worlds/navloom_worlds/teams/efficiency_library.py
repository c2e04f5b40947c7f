"""Efficiency library: queries for a planner before it decides (CoNavBench 3.1, A.9).

The queries are pure functions over G+ restricted to each body, with small JSON answers:
:func:`reachable_regions`, :func:`travel_time`, :func:`rendezvous`, :func:`recommend_handoffs`,
:func:`find_interference`. A sixth is :func:`navloom_worlds.teams.revise_route.revise_route`.
Seconds and metres are unrounded.

Interference is a conflict of two timed routes (CoNavBench Figure 5c). Two robots share an edge of
G+ if both travel it, a doorway if both travel edges that cross its link, the spur of an item
(``handoff``) if both travel or stand on it, and a viewpoint if one stands there while the other
passes. An edge that crosses a doorway is reported as the doorway. Robots are head-on if they come
from opposite ends, following if from the same end, standing if one of them waits. Both fit if the
doorway is as wide as both bodies side by side. This is unknown if the scene gives no width, as for
HM3D's links, or a robot has no body.

:func:`library_tools` offers all six to agents: thin LangChain tools over one relay's task. The task
defines robot_1's start, the object and its destination; the agent names the rest. Errors are
answered as ``{"error": ...}``, one line. The papers' robots have no bodies: they pass every link at
1 m/s, so that the answers agree with ``check_collab_path_efficient``. In driven relays the robots
have bodies, with their speeds and the links they cannot pass.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any, Literal

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, Field, create_model

from navloom.errors import NavloomError, UsageError, did_you_mean
from navloom.scenes.bodies import FETCH, SPOT, VLNVERSE, Embodiment, body_names, get_body
from navloom.scenes.scene import Scene, Viewpoint, prompt_name
from navloom.tools.model_output import MOST_LISTED, list_names, name_field, quote
from navloom.tools.navcraft import relay_optimum
from navloom.tools.navcraft.relay import (
    COLLAB_TYPES,
    RelayChoice,
    RobotName,
    find_transfer,
    roles_of,
)
from navloom.tools.navcraft.relay_optimum import Measure, RelayTable, all_relays
from navloom.tools.navcraft.relay_spec import RelaySpec
from navloom.tools.navcraft.relay_task import RelayTask, item_not_found
from navloom.tools.navcraft.schedule import CarryLeg, RobotStop, Spell, schedule_legs
from navloom.tools.navcraft.task_paths import (
    MAX_QUOTED,
    Anchor,
    crossed_link,
    metric_graph,
    region_not_found,
    resolve_node,
)
from navloom_worlds.geometry.arrays import Bools
from navloom_worlds.teams.revise_route import (
    BETWEEN,
    IN,
    MOST_CLOSED,
    MOST_RESERVED,
    Reservation,
    place_name,
    region_transitions,
    revise_route,
    unreachable_message,
)
from navloom_worlds.teams.robots import Robot, closed_links, first_barrier, passable_graph

MOST_RECOMMENDED = 10
_NO_WAY = "the navigation graph does not join them"


def find_place(scene: Scene, name: str, meant: Sequence[str] = ()) -> Anchor:
    """Return the anchor of a named place: a region, a viewpoint, or an item as ``desk in Study_4``.

    Args:
        scene: the scene.
        name: the name that an agent wrote.
        meant: ids of preferred instances of a shared name, best first; else the lowest id.

    Returns:
        Its anchor on G+; for a region, a robot's start position in it.

    Raises:
        UsageError: there is no such place, or it cannot be joined to G+.
    """
    graph, asked = metric_graph(scene), name[: 2 * MAX_QUOTED]
    if (viewpoint := scene.viewpoint_by_id.get(asked)) is not None:
        return Anchor(viewpoint.id, graph.table.index[viewpoint.id], 0.0)
    thing, found, region = asked.rpartition(IN)
    if not found:
        if (start := graph.starts.get(asked)) is not None:
            return start
        if asked in scene.region_by_id:
            raise UsageError(f"No robot can stand in {asked}: it has no viewpoint.")
    if region not in scene.region_by_id:
        raise UsageError(
            f"There is no place {quote(asked)}: name a region, or a thing as 'desk{IN}Study_4'."
            f"{did_you_mean(region, scene.region_by_id)}"
        )
    items = [item for item in scene.items_in(region) if item.prompt_name == prompt_name(thing)]
    if not items:
        raise UsageError(item_not_found(scene, region, thing, "asset"))
    order = {each: i for i, each in enumerate(meant)}
    item = min(items, key=lambda each: (order.get(each.id, len(order)), each.id))
    if (anchor := graph.items.get(item.id)) is None:
        raise UsageError(f"No robot gets to {quote(asked)}: it has no viewpoint near.")
    return anchor


def reachable_regions(scene: Scene, body: Embodiment | None, place: Anchor) -> dict[str, Any]:
    """Return the regions that a body can reach from a place, and the barriers to the others.

    Args:
        scene: the scene.
        body: the body; None, the papers' robots, passes every link.
        place: its position.

    Returns:
        ``body``, ``from``, ``reached`` and ``regions`` (numbers of regions reached and in all),
        ``cut_off`` (each unreachable region, with the first impassable ``link`` on the shortest
        path and the ``barrier`` in words) and ``closed_links`` (every impassable link, likewise).
        Lists hold a dozen; ``more`` counts those left out.
    """
    graph = passable_graph(scene, body)
    row = graph.row(place)
    cut_off = []
    for region in scene.regions:
        inside = [graph.table.index[v.id] for v in scene.viewpoints_by_region[region.id]]
        if any(math.isfinite(row[column]) for column in inside):
            continue
        start = graph.starts.get(region.id)
        found = None if start is None else first_barrier(scene, body, place, start)
        link = None if found is None else _link_name(scene, found[0])
        why = "it has no viewpoint" if start is None else _NO_WAY
        cut_off.append({"region": region.id, "link": link, "barrier": found[1] if found else why})
    shut = closed_links(scene, body) if body else {}
    closed = [{"link": _link_name(scene, i), "barrier": why} for i, why in shut.items()]
    return {
        "body": body.name if body else None,
        "from": place_name(scene, place),
        "reached": len(scene.regions) - len(cut_off),
        "regions": len(scene.regions),
        "cut_off": cut_off[:MOST_LISTED],
        "closed_links": closed[:MOST_LISTED],
        "more": max(0, len(cut_off) - MOST_LISTED) + max(0, len(closed) - MOST_LISTED),
    }


def travel_time(scene: Scene, robot: Robot, start: Anchor, goal: Anchor) -> dict[str, Any]:
    """Return distance, travel time and route of one robot.

    Args:
        scene: the scene.
        robot: its body decides which links it can pass, its speed the time.
        start: the start.
        goal: the destination.

    Returns:
        ``robot``, ``metres``, ``seconds`` and ``path``, the regions' transitions.

    Raises:
        UsageError: its body cannot get there; the message names the first barrier.
    """
    graph = robot.graph(scene)
    metres = graph.distance(start, goal)
    if not math.isfinite(metres):
        raise UsageError(unreachable_message(scene, robot, start, goal))
    walked = graph.walk(start, goal) or []
    return {
        "robot": robot.name,
        "metres": metres,
        "seconds": metres / robot.speed,
        "path": region_transitions(resolve_node(scene, node).region for node in walked),
    }


def rendezvous(
    scene: Scene, fetcher: Robot, receiver: Robot, origin: Anchor, handoff: Anchor, end: Anchor
) -> dict[str, Any]:
    """Return waiting times at a handoff, and each robot's latest departure without a delay.

    Both could depart at second 0. The robot that would be early may stay where it is useful, as
    robot_1 does beside its guest in CoNavBench A.9, and depart so that it arrives just in time.

    Args:
        scene: the scene.
        fetcher: the robot that brings the object to the handoff.
        receiver: the robot that carries it on.
        origin: position of the object.
        handoff: place of the handoff.
        end: destination of the object.

    Returns:
        ``arrive_s`` of each, ``handoff_s`` (both are there), ``waits`` (robot and seconds, as tasks
        record it), ``object_rests_s``, ``latest_departure_s`` of each if the other departs at 0,
        ``makespan_s``.

    Raises:
        UsageError: both are one robot, or a body cannot get there.
    """
    if fetcher.name == receiver.name:
        raise UsageError(f"{fetcher.name} cannot hand over to itself: name two robots.")
    brings = _seconds(scene, fetcher, fetcher.start, origin, handoff)
    comes = _seconds(scene, receiver, receiver.start, handoff)
    on = _seconds(scene, receiver, handoff, end)
    handed, spare = max(brings, comes), comes - brings
    return {
        "arrive_s": {fetcher.name: brings, receiver.name: comes},
        "handoff_s": handed,
        "waits": {"robot": receiver.name if spare < 0 else None, "seconds": max(0.0, -spare)},
        "object_rests_s": max(0.0, spare),
        "latest_departure_s": {fetcher.name: max(0.0, spare), receiver.name: max(0.0, -spare)},
        "makespan_s": handed + on,
    }


def recommend_handoffs(
    relays: RelayTable, *, kept: Bools | None = None, by: Measure = "alpha", k: int = 3
) -> dict[str, Any]:
    """Return the k best handoff places, each with its best relay, gains, and reasons.

    Args:
        relays: every guarded relay of a task.
        kept: (n,) mask of relays that may be recommended; None: all.
        by: the measure to choose by.
        k: number of handoffs, 1 to ``MOST_RECOMMENDED``.

    Returns:
        ``recommended``: the four choices of each, ``alpha``, ``g_rate``, ``gain_alpha``,
        ``gain_g``, ``makespan_s`` and ``why``; best first, empty if no relay qualifies. ``of`` is
        the number of relays to choose from.

    Raises:
        UsageError: ``k`` is out of bounds, or the measure is not known.
    """
    if not 1 <= k <= MOST_RECOMMENDED:
        raise UsageError(f"k must be 1 to {MOST_RECOMMENDED}, not {k}.")
    if by not in relay_optimum.MEASURES:
        raise UsageError(
            f"by must be one of {list_names(relay_optimum.MEASURES)}, not {quote(by)}."
        )
    found = relay_optimum.recommend(relays, "transfer_asset", by=by, k=k, kept=kept)
    return {
        "recommended": [
            {
                "robot_2_start_region": relay.robot_2_start_region,
                "transfer_region": relay.transfer_region,
                "transfer_asset": relay.transfer_asset,
                "collab_type": relay.collab_type,
                "alpha": relay.alpha,
                "g_rate": relay.g_rate,
                "gain_alpha": 1 - relay.alpha,
                "gain_g": 1 - relay.g_rate,
                "makespan_s": relay.makespan_s,
                "why": " ".join(each.reasons),
            }
            for each in found
            for relay in (each.relay,)
        ],
        "of": len(relays) if kept is None else int(kept.sum()),
    }


def _seconds(scene: Scene, robot: Robot, *places: Anchor) -> float:
    graph, metres = robot.graph(scene), 0.0
    for start, goal in pairwise(places):
        leg = graph.distance(start, goal)
        if not math.isfinite(leg):
            raise UsageError(unreachable_message(scene, robot, start, goal))
        metres += leg
    return metres / robot.speed


def _link_name(scene: Scene, link: int) -> str:
    return f"{scene.links[link].a}{BETWEEN}{scene.links[link].b}"


Kind = Literal["doorway", "edge", "handoff", "viewpoint"]
Manner = Literal["head-on", "following", "standing"]
_EPS = 1e-9


@dataclass(frozen=True, slots=True)
class Encounter:
    """Encounter of two robots in one place at one time.

    Attributes:
        kind: ``doorway``, ``edge`` (of G), ``handoff`` (the spur of an item), ``viewpoint``.
        where: its two ends, regions for a doorway and nodes of G+ else; a viewpoint alone.
        from_s: second from which both are there.
        to_s: second until which; equal to ``from_s`` if one passes while the other stands.
        how: ``head-on``, ``following``, or ``standing`` if one of them stands.
        width: clear width of the doorway in metres; None if unknown.
        fits: whether both bodies fit side by side; None if unknown.
    """

    kind: Kind
    where: tuple[str, ...]
    from_s: float
    to_s: float
    how: Manner
    width: float | None
    fits: bool | None

    def record(self) -> dict[str, Any]:
        """Return the encounter as JSON."""
        return {**asdict(self), "where": list(self.where), "seconds": self.to_s - self.from_s}


@dataclass(frozen=True, slots=True)
class _Presence:
    """Stay of a robot in one place; ``toward`` is the end it travels to, None if it stands."""

    spell: Spell
    toward: str | None


_Place = tuple[Kind, tuple[str, ...], int]
"""(kind, where, index of the link, or -1)."""


def find_interference(
    scene: Scene,
    first: Sequence[RobotStop],
    second: Sequence[RobotStop],
    bodies: tuple[Embodiment | None, Embodiment | None] = (None, None),
) -> list[Encounter]:
    """Return the places that two timed routes use at the same time.

    Args:
        scene: the scene of both.
        first: one robot's stops, from a schedule or a revised route.
        second: the other's.
        bodies: both bodies, whose widths are added.

    Returns:
        The encounters, soonest first. Before its first and after its last stop a robot is nowhere.
    """
    sides = None if None in bodies else sum(body.width for body in bodies if body)
    here, there = _presences(scene, first), _presences(scene, second)
    found = [
        _meeting(scene, place, a, b, sides)
        for place in here.keys() & there.keys()
        for a in here[place]
        for b in there[place]
        if _together(place[0], a, b)
    ]
    return sorted(found, key=lambda each: (each.from_s, each.to_s, each.kind, each.where))


def _together(kind: Kind, a: _Presence, b: _Presence) -> bool:
    shared = min(a.spell[1], b.spell[1]) - max(a.spell[0], b.spell[0])
    if kind == "viewpoint":
        # Passing a standing robot takes no time.
        return shared >= 0 and (a.toward is None or b.toward is None)
    return shared > _EPS


def _meeting(
    scene: Scene, place: _Place, a: _Presence, b: _Presence, gap: float | None
) -> Encounter:
    kind, where, link = place
    width = scene.links[link].width if link >= 0 else None
    how: Manner = "following" if a.toward == b.toward else "head-on"
    if a.toward is None or b.toward is None:
        how = "standing"
    return Encounter(
        kind=kind,
        where=where,
        from_s=max(a.spell[0], b.spell[0]),
        to_s=min(a.spell[1], b.spell[1]),
        how=how,
        width=width,
        fits=None if width is None or gap is None else width + _EPS >= gap,
    )


def _presences(scene: Scene, route: Sequence[RobotStop]) -> dict[_Place, list[_Presence]]:
    """Return a robot's stays in each place, with the direction of travel."""
    found: dict[_Place, list[_Presence]] = {}
    for place, presence in _steps(scene, route):
        found.setdefault(place, []).append(presence)
    return found


def _steps(scene: Scene, route: Sequence[RobotStop]) -> Iterator[tuple[_Place, _Presence]]:
    before: _Place | None = None
    for here, there in pairwise(route):
        place, toward = _between(scene, here, there)
        if here.node not in scene.viewpoint_by_id and here.leave > here.arrive:
            # A robot that waits at an item stands on its spur.
            yield before or place, _Presence((here.arrive, here.leave), None)
        yield place, _Presence((here.leave, there.arrive), toward)
        before = place
    for stop in route:
        if stop.node in scene.viewpoint_by_id:
            onward = None if stop.leave > stop.arrive else stop.node
            yield ("viewpoint", (stop.node,), -1), _Presence((stop.arrive, stop.leave), onward)


def _between(scene: Scene, here: RobotStop, there: RobotStop) -> tuple[_Place, str]:
    """Return the place that a step crosses, and the end of it that the step leads to."""
    a, b = sorted((here.node, there.node))
    ends = resolve_node(scene, here.node), resolve_node(scene, there.node)
    if not all(isinstance(end, Viewpoint) and end.id in scene.viewpoint_by_id for end in ends):
        return ("handoff", (a, b), -1), there.node
    if here.region and there.region and here.region != there.region:
        link = crossed_link(scene, *(scene.viewpoint_by_id[end.id] for end in ends))
        if link is not None:
            near, far = sorted((here.region, there.region))
            return ("doorway", (near, far), link), there.region
    return ("edge", (a, b), -1), there.node


ROBOTS: tuple[RobotName, RobotName] = ("robot_1", "robot_2")
Bodies = tuple[Embodiment | None, Embodiment | None]
BODIES = (*body_names(), VLNVERSE.name, FETCH.name, SPOT.name)
_MOST_MEETINGS, _MOST_HANDOFFS, _DIGITS = 8, 5, 3

_RECOMMEND = """Name the best handoffs for this errand that are as asked, each with the best relay.

Returns recommended (robot_2_start_region, transfer_region, transfer_asset, collab_type, alpha,
g_rate, gains, makespan_s, why), best first. alpha is robot_1's share of its own route."""
_REACH = """Say which regions a body gets to from a place.

Returns reached, cut_off (each region it does not get to, with the link and the barrier) and
closed_links (every link it cannot pass, with the barrier)."""
_TRAVEL = """Say how long one robot takes from a place to another.

Returns metres, seconds and path (transitions "A_1 -> B_2")."""
_RENDEZVOUS = """Say who waits for whom at a relay's handoff.

Returns arrive_s, handoff_s, waits, object_rests_s, latest_departure_s (how late each robot may set
out without delaying anybody) and makespan_s."""
_INTERFERENCE = """Say where the two robots of a relay are in each other's way.

Returns meetings: doorways and edges that both use at one time, from_s, to_s, how (head-on,
following, standing), the doorway's width, and whether both bodies fit side by side."""
_REVISE = """Find the way that gets there first around what is closed or reserved; it may wait.

A thing is a link "A_1 <-> B_2", or a viewpoint's id. Returns metres, arrive_s, waits and path."""


class Reserved(BaseModel):
    """Something that the other robot has to itself for a while."""

    where: str = Field(description="A link 'A_1 <-> B_2', or a viewpoint's id.", max_length=500)
    from_s: float = Field(description="Second from which.")
    to_s: float = Field(description="Second until which.")


@dataclass(frozen=True, eq=False)
class RelayToolAnswers:
    """Answers of the tools for one task; every method raises ``NavloomError`` for a wrong name.

    Attributes:
        task: the single-robot task.
        strict: also forbid robot_2 to start next to the target region or the transfer region.
        wish: properties that a recommended relay should have.
        bodies: robot_1's and robot_2's; None passes everywhere at 1 m/s.
    """

    task: RelayTask
    strict: bool = False
    wish: RelaySpec = field(default_factory=RelaySpec)
    bodies: Bodies = (None, None)

    @property
    def scene(self) -> Scene:
        """Scene of the task."""
        return self.task.scene

    @cached_property
    def meant(self) -> list[str]:
        """Ids of the instances that shared names refer to."""
        transfers = (transfer.item.id for transfer in self.task.transfers.values())
        return [self.task.object_item.id, self.task.end_item.id, *transfers]

    def recommend(self, k: int = 3) -> dict[str, Any]:
        """Return the k best handoffs that match the wish."""
        if not 1 <= k <= _MOST_HANDOFFS:
            raise UsageError(f"k must be 1 to {_MOST_HANDOFFS}, not {k}.")
        relays = all_relays(self.task, strict=self.strict)
        return recommend_handoffs(relays, kept=self.wish.satisfied_by(relays), k=k)

    def reach(self, body: str, place: str) -> dict[str, Any]:
        """Return the regions that a body, or one of the robots, can reach from a place."""
        known = self._body(body) if body in ROBOTS else get_body(body[:MAX_QUOTED])
        return reachable_regions(self.scene, known, self._place(place))

    def travel_time(self, robot: str, start: str, goal: str) -> dict[str, Any]:
        """Return one robot's travel time between two places."""
        begin, end = self._place(start), self._place(goal)
        return travel_time(self.scene, self._robot_at(robot, begin), begin, end)

    def rendezvous(self, **asked: str) -> dict[str, Any]:
        """Return the waiting times at a relay's handoff."""
        fetcher, receiver, handoff = self._relay(RelayChoice(**asked))
        origin, end = self._ends()
        return rendezvous(self.scene, fetcher, receiver, origin, handoff, end)

    def interference(self, **asked: str) -> dict[str, Any]:
        """Return the encounters of a relay's two robots."""
        choice = RelayChoice(**asked)
        fetcher, receiver, at = self._relay(choice)
        origin, end = self._ends()
        rendezvous(self.scene, fetcher, receiver, origin, at, end)
        thing = self.task.object_item.id
        fetched = CarryLeg(fetcher.name, thing, origin, at)
        legs = fetched, CarryLeg(receiver.name, thing, at, end)
        carriers = {robot.name: robot.carrier(self.scene) for robot in (fetcher, receiver)}
        routes = schedule_legs(self.scene, carriers, legs).routes
        one, two = (routes[name] for name in ROBOTS)
        found = find_interference(self.scene, one, two, self.bodies)
        return {
            "meetings": [each.record() for each in found[:_MOST_MEETINGS]],
            "more": max(0, len(found) - _MOST_MEETINGS),
        }

    def revise_route(
        self,
        robot: str,
        start: str,
        goal: str,
        closed: list[str],
        reserved: list[Reserved],
        depart_s: float,
    ) -> dict[str, Any]:
        """Return the fastest route around closed or reserved places."""
        begin, end = self._place(start), self._place(goal)
        spells = [Reservation(each.where, each.from_s, each.to_s) for each in reserved]
        mover = self._robot_at(robot, begin)
        route = revise_route(
            self.scene, mover, begin, end, closed=closed, reserved=spells, depart_s=depart_s
        )
        return route.record()

    def _body(self, name: str) -> Embodiment | None:
        if name not in ROBOTS:
            asked = quote(name[:MAX_QUOTED])
            raise UsageError(f"There is no robot {asked}: use {' or '.join(ROBOTS)}.")
        return self.bodies[name == ROBOTS[1]]

    def _place(self, name: str) -> Anchor:
        return find_place(self.scene, name, self.meant)

    def _robot_at(self, name: str, start: Anchor) -> Robot:
        body = self._body(name)
        return Robot(name, start, body, body.speed if body else 1.0)

    def _ends(self) -> tuple[Anchor, Anchor]:
        origin, end = self.task.object_anchor, self.task.end_anchor
        if origin is None or end is None:
            raise UsageError("The object or the end asset has no place on the navigation graph.")
        return origin, end

    def _relay(self, choice: RelayChoice) -> tuple[Robot, Robot, Anchor]:
        """Return the fetcher, the receiver, and the handoff's anchor."""
        if choice.collab_type not in COLLAB_TYPES:
            raise UsageError(
                f"collab_type {quote(choice.collab_type)} is not known: use Type-A1 or Type-A2."
            )
        for argument in ("robot_2_start_region", "transfer_region"):
            if (name := getattr(choice, argument)) not in self.scene.region_by_id:
                raise UsageError(region_not_found(self.scene, name, argument=argument))
        transfer = find_transfer(self.task, choice.transfer_region, choice.transfer_asset)
        if transfer is None:
            asked = choice.transfer_region, choice.transfer_asset
            raise UsageError(item_not_found(self.scene, *asked, "asset"))
        start = self._place(self.task.start_region), self._place(choice.robot_2_start_region)
        robots = {name: self._robot_at(name, at) for name, at in zip(ROBOTS, start, strict=True)}
        fetcher, receiver = (robots[name] for name in roles_of(choice.collab_type))
        if transfer.anchor is None:
            raise UsageError(f"No robot gets to the {transfer.name} in {transfer.region}.")
        return fetcher, receiver, transfer.anchor


def library_tools(
    task: RelayTask,
    *,
    strict: bool = False,
    wish: RelaySpec | None = None,
    bodies: Bodies = (None, None),
    constrain: bool = True,
) -> list[BaseTool]:
    """Return the library's six tools for one single-robot task.

    Args:
        task: the task a relay would replace.
        strict: apply the stricter rule to the helper.
        wish: properties that a recommended relay should have; None: any efficient relay.
        bodies: robot_1's and robot_2's; None passes everywhere at 1 m/s.
        constrain: enumerate region ids, asset names, robots and bodies in the argument schemas.
    """
    kept = RelayToolAnswers(task, strict, wish or RelaySpec(), bodies)
    regions = [region.id for region in task.scene.regions] if constrain else None
    assets = [*dict.fromkeys(name for _, name in task.transfers)] if constrain else None
    place = name_field("A region, or a thing as 'desk in Study_4'.", None)
    robot = name_field("Which robot.", ROBOTS if constrain else None)
    relay = {
        "robot_2_start_region": name_field("Region robot_2 starts in.", regions),
        "transfer_region": name_field("Region where the object is handed over.", regions),
        "transfer_asset": name_field("Asset of that region to put it on.", assets),
        "collab_type": name_field(
            "Type-A1: robot_2 fetches, robot_1 delivers. Type-A2: the other way round.",
            list(COLLAB_TYPES),
        ),
    }
    body = name_field("A body's name.", [*ROBOTS, *BODIES] if constrain else None)
    ways = {
        "closed": (
            Annotated[list[str], Field(description="What is shut.", max_length=MOST_CLOSED)],
            [],
        ),
        "reserved": (
            Annotated[
                list[Reserved],
                Field(description="What the other has to itself.", max_length=MOST_RESERVED),
            ],
            [],
        ),
        "depart_s": (Annotated[float, Field(description="Second of setting out.")], 0.0),
    }
    k = Annotated[int, Field(description=f"How many, at most {_MOST_HANDOFFS}.")]
    return [
        error_safe_tool("recommend", _RECOMMEND, kept.recommend, k=(k, 3)),
        error_safe_tool("reach", _REACH, kept.reach, body=body, place=place),
        error_safe_tool(
            "travel_time", _TRAVEL, kept.travel_time, robot=robot, start=place, goal=place
        ),
        error_safe_tool("rendezvous", _RENDEZVOUS, kept.rendezvous, **relay),
        error_safe_tool("interference", _INTERFERENCE, kept.interference, **relay),
        error_safe_tool(
            "revise_route", _REVISE, kept.revise_route, robot=robot, start=place, goal=place, **ways
        ),
    ]


def error_safe_tool(
    name: str, description: str, function: Callable[..., dict[str, Any]], **arguments: Any
) -> BaseTool:
    """Return a tool over a function whose errors are answered as ``{"error": ...}``.

    Args:
        name: its name.
        description: its description for the agent.
        function: computes the answer; raises ``NavloomError`` for invalid arguments.
        arguments: type and field of each.
    """

    def answered(**asked: Any) -> dict[str, Any]:
        try:
            answer: dict[str, Any] = _short(function(**asked))
            return answer
        except NavloomError as error:
            return {"error": " ".join(str(error).split())}

    schema: type[BaseModel] = create_model(name, **arguments)
    return StructuredTool.from_function(
        answered,
        name=name,
        description=description,
        args_schema=schema,
        handle_validation_error=_misread,
    )


def _short(value: Any) -> Any:
    """Round the numbers of an answer for a model, to millimetres and milliseconds."""
    if isinstance(value, float):
        return round(value, _DIGITS)
    if isinstance(value, dict):
        return {key: _short(each) for key, each in value.items()}
    return [_short(each) for each in value] if isinstance(value, list) else value


def _misread(error: Any) -> str:
    """Return a call's schema error as one line of JSON that the model can act on."""
    wrong = error.errors(include_url=False, include_context=False)[0]
    where = ".".join(str(part) for part in wrong["loc"])
    return json.dumps({"error": f"{where}: {wrong['msg']}; found {quote(wrong['input'])}."})
