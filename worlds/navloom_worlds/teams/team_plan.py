"""Team plan: robots with bodies, and the legs on which they carry objects (CoNavBench 3.1.3).

A robot alone is one leg, Type-A1 and Type-A2 are two, a chain over K handoffs is K + 1. A place is
an anchor on G+ or any point of a region, so that a plan can be revised on the way. A robot does its
legs in the order listed. The legs of one object form one path from its origin to its destination,
in whatever order they are listed, and each waits for the leg that brings the object.

As JSON a plan is the key ``team`` of a dataset's line, for what phase_2 cannot express: bodies,
three robots or more, several errands and places that are no assets. A line of two robots without
bodies has no such key. JSON is untrusted: its form is validated first, then every name is looked
up.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any

from pydantic import Field

from navloom.errors import SceneError, UsageError, did_you_mean
from navloom.scenes.bodies import Embodiment, get_body
from navloom.scenes.scene import Point3, Scene
from navloom.sim.graph import region_of
from navloom.sim.protocol import Pose
from navloom.tools.model_output import AnswerPart, Violation, list_names, quote, read_part
from navloom.tools.navcraft.relay import RelayChoice, roles_of
from navloom.tools.navcraft.relay_task import RelayTask
from navloom.tools.navcraft.schedule import EVEN, CarryLeg, Speeds, Timetable, schedule_legs
from navloom.tools.navcraft.task_paths import (
    ITEM_NODE,
    POINT_NODE,
    Anchor,
    anchor_at,
    metric_graph,
    region_not_found,
    resolve_node,
)
from navloom_worlds.teams.robots import Robot, first_barrier

MOST_ROBOTS = 12
MOST_ERRANDS = 12
MOST_LEGS = 100


@dataclass(frozen=True, slots=True)
class TeamErrand:
    """Errand: one object to be brought from its position to its destination.

    Attributes:
        object: the id of the object.
        origin: its position.
        end: its destination.
    """

    object: str
    origin: Anchor
    end: Anchor


@dataclass(frozen=True)
class TeamPlan:
    """Plan of a team: legs that say which robot carries what, from where and to where.

    Passability for bodies is not checked here.

    Attributes:
        robots: the team; a robot without a leg stays at its start.
        legs: in an order in which each robot does its own.

    Raises:
        UsageError: no robot or over ``MOST_ROBOTS``, no leg or over ``MOST_LEGS``, two robots of
            one name, a leg of an unknown robot, legs of an object that form no single path, or
            robots that wait for each other.
    """

    robots: tuple[Robot, ...]
    legs: tuple[CarryLeg, ...]

    def __post_init__(self) -> None:
        check_team(self.robots)
        if not 1 <= len(self.legs) <= MOST_LEGS:
            raise UsageError(f"A plan has 1 to {MOST_LEGS} legs, not {len(self.legs)}.")
        names = [robot.name for robot in self.robots]
        for number, leg in enumerate(self.legs, 1):
            if leg.robot not in names:
                raise UsageError(
                    f"Leg {number} is of {quote(leg.robot)}, who is not in the team: "
                    f"{list_names(names)}.{did_you_mean(leg.robot, names)}"
                )
            if leg.origin.node == leg.to.node:
                raise UsageError(f"Leg {number} takes {quote(leg.object)} nowhere.")
        for thing, legs in self._legs_by_object.items():
            _check_way(thing, legs)
        check_errands(self.errands, [leg.to for leg in self.legs])
        _ = self.order

    @cached_property
    def robot_by_name(self) -> dict[str, Robot]:
        """Robots by name."""
        return {robot.name: robot for robot in self.robots}

    @cached_property
    def ways(self) -> dict[str, tuple[CarryLeg, ...]]:
        """Legs of each object in the order of travel; objects in order of first appearance."""
        return {thing: tuple(_in_order(legs)) for thing, legs in self._legs_by_object.items()}

    @cached_property
    def errands(self) -> tuple[TeamErrand, ...]:
        """Errands that the plan does, one for each object."""
        return tuple(
            TeamErrand(thing, way[0].origin, way[-1].to) for thing, way in self.ways.items()
        )

    @cached_property
    def handoffs(self) -> tuple[tuple[CarryLeg, CarryLeg], ...]:
        """Pairs of successive legs of one object."""
        return tuple(pair for way in self.ways.values() for pair in pairwise(way))

    @cached_property
    def order(self) -> tuple[CarryLeg, ...]:
        """Legs sorted so that each follows the legs it waits for, of its robot and its object."""
        brings = {after: before for before, after in self.handoffs}
        done: list[CarryLeg] = []
        left = list(self.legs)
        while left:
            busy = set[str]()
            for leg in left:
                if leg.robot not in busy and brings.get(leg) not in left:
                    break
                busy.add(leg.robot)
            else:
                raise UsageError(_waiting_in_a_circle(left, brings))
            done.append(leg)
            left.remove(leg)
        return tuple(done)

    def schedule(self, scene: Scene) -> Timetable:
        """Return the plan's timetable; its legs are in ``order``.

        Raises:
            UsageError: a body cannot get to a place of its legs.
        """
        carriers = {robot.name: robot.carrier(scene) for robot in self.robots}
        return schedule_legs(scene, carriers, self.order)

    @property
    def _legs_by_object(self) -> dict[str, list[CarryLeg]]:
        found = defaultdict[str, list[CarryLeg]](list)
        for leg in self.legs:
            found[leg.object].append(leg)
        return dict(found)


def check_team(robots: Sequence[Robot]) -> None:
    """Raise an error for an invalid team.

    Raises:
        UsageError: no robot, over ``MOST_ROBOTS``, or two of one name.
    """
    if not 1 <= len(robots) <= MOST_ROBOTS:
        raise UsageError(f"A team has 1 to {MOST_ROBOTS} robots, not {len(robots)}.")
    names = [robot.name for robot in robots]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise UsageError(f"Two robots are called {quote(twice[0])}: give each a name of its own.")


def check_errands(errands: Sequence[TeamErrand], places: Sequence[Anchor] = ()) -> None:
    """Raise an error for errands that conflict with each other.

    Args:
        errands: the errands.
        places: other places where objects are put down.

    Raises:
        UsageError: none or over ``MOST_ERRANDS``, two of one object, or an object on which another
            is put.
    """
    if not 1 <= len(errands) <= MOST_ERRANDS:
        raise UsageError(f"A team has 1 to {MOST_ERRANDS} errands, not {len(errands)}.")
    things = [each.object for each in errands]
    for thing in things:
        if things.count(thing) > 1:
            raise UsageError(f"Two errands are about {quote(thing)}: give each its own object.")
        ends = (*places, *(each.end for each in errands))
        if any(each.node == f"{ITEM_NODE}{thing}" for each in ends):
            raise UsageError(f"{quote(thing)} is carried away, so nothing can be put on it.")


def make_robot(
    scene: Scene, name: str, start: Anchor | Point3 | str, body: Embodiment | str | None = None
) -> Robot:
    """Create a robot from names.

    Args:
        scene: its scene.
        name: its name.
        start: a region, an anchor, or a point (x, y, z) in metres.
        body: its body or that body's name, which sets its speed; None passes everywhere at 1 m/s.

    Raises:
        UsageError: an unknown region, one without viewpoints, or a body that does not drive.
        SceneError: an unknown body.
    """
    known = get_body(body) if isinstance(body, str) else body
    if known is not None and known.speed <= 0:
        raise UsageError(f"{name} cannot be a {known.name}: that body does not drive by itself.")
    return Robot(name, resolve_place(scene, start), known, 1.0 if known is None else known.speed)


def make_team(
    scene: Scene, starts: Iterable[Anchor], bodies: Sequence[Embodiment | str]
) -> tuple[Robot, ...]:
    """Create ``robot_1``, ... with bodies in turn; without bodies they pass everything at 1 m/s."""
    return tuple(
        make_robot(scene, f"robot_{i + 1}", at, bodies[i % len(bodies)] if bodies else None)
        for i, at in enumerate(starts)
    )


def resolve_place(scene: Scene, place: Anchor | Point3 | str) -> Anchor:
    """Return the anchor of a region's start, an item's id, a point, or an anchor itself.

    Raises:
        UsageError: there is no such region or item, or it cannot be joined to G+.
    """
    if isinstance(place, Anchor):
        return place
    graph = metric_graph(scene)
    if isinstance(place, str):
        found = graph.starts.get(place) or graph.items.get(place)
        if found is not None:
            return found
        if place in scene.region_by_id:
            raise UsageError(f"No robot can start in {place}: it has no viewpoint.")
        if place in scene.item_by_id:
            raise UsageError(f"{quote(place)} is no place for a robot: it has no viewpoint near.")
        raise UsageError(region_not_found(scene, place, argument="place"))
    region = region_of(scene, Pose(place))
    found = None if region is None else anchor_at(scene, place, region)
    if found is None:
        raise UsageError(f"The point {place} is in no region that has a viewpoint.")
    return found


def relay_plan(
    task: RelayTask,
    choice: RelayChoice | None,
    *,
    speeds: Speeds = EVEN,
    bodies: Sequence[Embodiment | None] = (None, None),
) -> TeamPlan:
    """Return a relay of two robots, or robot_1 alone, as a plan.

    Args:
        task: the single-robot task.
        choice: the relay; None is robot_1 alone.
        speeds: the robots' speeds.
        bodies: robot_1's and robot_2's.

    Raises:
        UsageError: a name does not exist, or has no place on G+.
    """
    thing = task.object_item.id
    start, origin, end = task.start_anchor, task.object_anchor, task.end_anchor
    if start is None or origin is None or end is None:
        raise UsageError("This task cannot be walked: a start, the object or the end has no place.")
    one = Robot("robot_1", start, bodies[0], speeds.robot_1)
    if choice is None:
        return TeamPlan((one,), (CarryLeg("robot_1", thing, origin, end),))
    helper = task.helpers.get(choice.robot_2_start_region)
    transfer = task.transfers.get((choice.transfer_region, choice.transfer_asset))
    if helper is None or helper.anchor is None or transfer is None or transfer.anchor is None:
        raise UsageError(f"{', '.join(choice)} is no relay of this task: a name has no place.")
    two = Robot("robot_2", helper.anchor, bodies[1], speeds.robot_2)
    fetcher, deliverer = roles_of(choice.collab_type)
    at = transfer.anchor
    legs = CarryLeg(fetcher, thing, origin, at), CarryLeg(deliverer, thing, at, end)
    return TeamPlan((one, two), legs)


def relay_choice(plan: TeamPlan, task: RelayTask) -> RelayChoice | None:
    """Return a plan as a relay; None if the papers' keys cannot express it.

    They express two robots without bodies, one errand, one handoff at an asset, starts in regions.
    """
    if len(plan.robots) != 2 or len(plan.legs) != 2 or len(plan.handoffs) != 1:
        return None
    if any(robot.body is not None for robot in plan.robots):
        return None
    first, _ = plan.handoffs[0]
    kind = {"robot_2": "Type-A1", "robot_1": "Type-A2"}.get(first.robot)
    start = plan.robot_by_name.get("robot_2")
    helpers = [h.region for h in task.helpers.values() if start and h.anchor == start.start]
    places = [key for key, x in task.transfers.items() if x.anchor == first.to]
    if kind is None or not helpers or not places:
        return None
    choice = RelayChoice(helpers[0], *places[0], kind)
    return choice if set(relay_plan(task, choice).legs) == set(plan.legs) else None


def _follow_on(legs: Sequence[CarryLeg]) -> bool:
    return all(one.to.node == other.origin.node for one, other in pairwise(legs))


def _in_order(legs: Sequence[CarryLeg]) -> Iterable[CarryLeg]:
    if _follow_on(legs):
        yield from legs
        return
    after = {leg.origin.node: leg for leg in legs}
    ends = {leg.to.node for leg in legs}
    leg = next((each for each in legs if each.origin.node not in ends), None)
    while leg is not None:
        yield leg
        leg = after.get(leg.to.node)


def _check_way(thing: str, legs: Sequence[CarryLeg]) -> None:
    origins, ends = ([getattr(leg, end).node for leg in legs] for end in ("origin", "to"))
    for nodes, what in ((origins, "taken from"), (ends, "brought to")):
        twice = [node for node in nodes if nodes.count(node) > 1]
        # It may visit a place twice if the order of its legs makes the path unambiguous.
        if twice and not _follow_on(legs):
            raise UsageError(f"{quote(thing)} is {what} {quote(twice[0])} twice.")
    if not set(origins) - set(ends):
        raise UsageError(
            f"{quote(thing)} goes in a circle: each of its legs waits for another, so none begins."
        )
    walked = list(_in_order(legs))
    if len(walked) < len(legs):
        lost = next(leg for leg in legs if leg not in walked)
        raise UsageError(f"{quote(thing)} is never brought to {quote(lost.origin.node)}.")


def _waiting_in_a_circle(left: Sequence[CarryLeg], brings: dict[CarryLeg, CarryLeg]) -> str:
    waits = [(leg, brings[leg]) for leg in left if brings.get(leg) in left]
    said = " and ".join(
        f"{leg.robot} for the {quote(leg.object)} from {before.robot}" for leg, before in waits[:2]
    )
    return f"The plan waits for itself: {said}. Give a robot's legs in an order that can be done."


_Name = Annotated[str, Field(min_length=1, max_length=200)]
_Number = Annotated[float, Field(ge=-1e5, le=1e5, allow_inf_nan=False)]


class _PlaceForm(AnswerPart):
    region: _Name | None = None
    item: _Name | None = None
    viewpoint: _Name | None = None
    point: tuple[_Number, _Number, _Number] | None = None


class _RobotForm(AnswerPart):
    name: _Name
    start: _PlaceForm
    body: _Name | Embodiment | None = None
    speed: Annotated[float, Field(gt=0, le=100, allow_inf_nan=False)] = 1.0


class _LegForm(AnswerPart):
    robot: _Name
    object: _Name
    origin: _PlaceForm = Field(alias="from")
    to: _PlaceForm


class _TeamForm(AnswerPart):
    robots: tuple[_RobotForm, ...] = Field(max_length=MOST_ROBOTS * 10)
    legs: tuple[_LegForm, ...] = Field(max_length=MOST_LEGS * 10)


def team_record(scene: Scene, plan: TeamPlan) -> dict[str, Any]:
    """Return a plan as JSON, with robots and legs in the plan's order; built-in bodies by name."""
    return {
        "robots": [
            {
                "name": robot.name,
                "start": _written(scene, robot.start, starts=True),
                "body": _body(robot.body),
                "speed": robot.speed,
            }
            for robot in plan.robots
        ],
        "legs": [
            {
                "robot": leg.robot,
                "object": leg.object,
                "from": _written(scene, leg.origin),
                "to": _written(scene, leg.to),
            }
            for leg in plan.legs
        ],
    }


def read_team(scene: Scene, record: Any) -> TeamPlan:
    """Return a plan from untrusted JSON.

    Raises:
        UsageError: in one line, an error of its form, an unknown name, or an invalid plan.
        SceneError: an unknown body.
    """
    form, faults = read_part({"team": record}, "team", _TeamForm)
    if form is None:
        raise UsageError(faults[0].message)
    robots = tuple(
        Robot(
            each.name,
            _read(scene, each.start),
            get_body(each.body) if isinstance(each.body, str) else each.body,
            each.speed,
        )
        for each in form.robots
    )
    legs = tuple(
        CarryLeg(each.robot, each.object, _read(scene, each.origin), _read(scene, each.to))
        for each in form.legs
    )
    return TeamPlan(robots, legs)


def plan_violations(scene: Scene, plan: TeamPlan) -> list[Violation]:
    """Return a plan's violations in a scene: unreachable places first, then unknown objects."""
    return [*_out_of_reach(scene, plan), *_no_objects(scene, plan)]


def unreachable_legs(scene: Scene, plan: TeamPlan) -> Iterator[tuple[CarryLeg, Anchor, Anchor]]:
    """Yield each leg whose robot cannot reach a place, with the place before and that place."""
    at = {robot.name: robot.start for robot in plan.robots}
    for leg in plan.order:
        graph = plan.robot_by_name[leg.robot].graph(scene)
        for a, b in ((at[leg.robot], leg.origin), (leg.origin, leg.to)):
            if math.isinf(graph.distance(a, b)):
                yield leg, a, b
                break
        at[leg.robot] = leg.to


def _out_of_reach(scene: Scene, plan: TeamPlan) -> Iterator[Violation]:
    for leg, a, b in unreachable_legs(scene, plan):
        robot = plan.robot_by_name[leg.robot]
        who = f"{robot.name} ({robot.body.name})" if robot.body else robot.name
        why = ""
        if (barrier := first_barrier(scene, robot.body, a, b)) is not None:
            link = scene.links[barrier[0]]
            why = f": between {link.a} and {link.b}, {barrier[1]}"
        said = (
            f"{who} does not get from {_told(scene, a)} to {_told(scene, b)}, which it has "
            f"to for {quote(leg.object)}{why}."
        )
        yield Violation("out_of_reach", said, f"team, legs of {robot.name}", said)


def _no_objects(scene: Scene, plan: TeamPlan) -> Iterator[Violation]:
    for thing in plan.ways:
        item = scene.item_by_id.get(thing)
        if item is None or item.kind != "object":
            said = f"{quote(thing)} is not the id of an object of {scene.uri}."
            yield Violation("object_not_there", said, "team, legs", said)


def _written(scene: Scene, anchor: Anchor, *, starts: bool = False) -> dict[str, Any]:
    place = resolve_node(scene, anchor.node)
    if anchor.node.startswith(ITEM_NODE):
        return {"item": place.id}
    if anchor.node.startswith(POINT_NODE):
        return {"point": list(place.position)}
    if starts and place.region and metric_graph(scene).starts.get(place.region) == anchor:
        return {"region": place.region}
    return {"viewpoint": place.id}


def _read(scene: Scene, place: _PlaceForm) -> Anchor:
    said = [each for each in (place.region, place.item, place.viewpoint, place.point) if each]
    if len(said) != 1:
        raise UsageError("A place has one of region, item, viewpoint and point, and nothing else.")
    if place.viewpoint is not None:
        row = metric_graph(scene).table.index.get(place.viewpoint)
        if row is None:
            raise UsageError(f"{quote(place.viewpoint)} is not a viewpoint of {scene.uri}.")
        return Anchor(place.viewpoint, row, 0.0)
    if place.item is not None and place.item not in scene.item_by_id:
        raise UsageError(f"{quote(place.item)} is not the id of an item of {scene.uri}.")
    known: Point3 | str = place.point or place.item or place.region or ""
    return resolve_place(scene, known)


def _body(body: Embodiment | None) -> str | dict[str, Any] | None:
    if body is None:
        return None
    try:
        known = get_body(body.name)
    except SceneError:
        known = None
    return body.name if known == body else body.model_dump(mode="json")


def _told(scene: Scene, anchor: Anchor) -> str:
    place = resolve_node(scene, anchor.node)
    return f"{quote(place.id)} in {place.region}"
