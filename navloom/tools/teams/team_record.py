"""A team's plan as JSON: the key ``team`` of a dataset's line, for what phase_2 cannot say.

Bodies, three robots or more, several errands and places that are no assets stand there. A line of
two robots without bodies has no such key. What is read is untrusted: its form is held first, then
every name is looked up.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import Field

from navloom.errors import SceneError, UsageError
from navloom.scenes.bodies import Embodiment, get_body
from navloom.scenes.scene import Point3, Scene
from navloom.tools.forms import Form, Violation, quoted, read_form
from navloom.tools.navcraft.paths import ITEM_NODE, POINT_NODE, Anchor, metric_graph, whereabouts
from navloom.tools.navcraft.schedule import Leg
from navloom.tools.teams.passable import first_closed
from navloom.tools.teams.team import MOST_LEGS, MOST_ROBOTS, Robot, TeamPlan, place_on

_Name = Annotated[str, Field(min_length=1, max_length=200)]
_Number = Annotated[float, Field(ge=-1e5, le=1e5, allow_inf_nan=False)]


class _Place(Form):
    region: _Name | None = None
    item: _Name | None = None
    viewpoint: _Name | None = None
    point: tuple[_Number, _Number, _Number] | None = None


class _Robot(Form):
    name: _Name
    start: _Place
    body: _Name | Embodiment | None = None
    speed: Annotated[float, Field(gt=0, le=100, allow_inf_nan=False)] = 1.0


class _Leg(Form):
    robot: _Name
    object: _Name
    origin: _Place = Field(alias="from")
    to: _Place


class _Team(Form):
    robots: tuple[_Robot, ...] = Field(max_length=MOST_ROBOTS * 10)
    legs: tuple[_Leg, ...] = Field(max_length=MOST_LEGS * 10)


def team_record(scene: Scene, plan: TeamPlan) -> dict[str, Any]:
    """A plan as JSON, in the order of its robots and legs; bodies of the package by their names."""
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
    """A plan from JSON that anybody may have written.

    Raises:
        UsageError: in one line, what is wrong with its form, a name that is not there, or what
            makes it no plan.
        SceneError: an unknown body.
    """
    form, faults = read_form({"team": record}, "team", _Team)
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
        Leg(each.robot, each.object, _read(scene, each.origin), _read(scene, each.to))
        for each in form.legs
    )
    return TeamPlan(robots, legs)


def plan_faults(scene: Scene, plan: TeamPlan) -> list[Violation]:
    """What is wrong with a plan in a scene: who does not get where first, then what is carried."""
    return [*_out_of_reach(scene, plan), *_no_objects(scene, plan)]


def _out_of_reach(scene: Scene, plan: TeamPlan) -> Iterator[Violation]:
    at = {robot.name: robot.start for robot in plan.robots}
    for leg in plan.order:
        robot = plan.robot_by_name[leg.robot]
        graph = robot.graph(scene)
        for a, b in ((at[leg.robot], leg.origin), (leg.origin, leg.to)):
            if math.isinf(graph.distance(a, b)):
                who = f"{robot.name} ({robot.body.name})" if robot.body else robot.name
                said = (
                    f"{who} does not get from {_told(scene, a)} to {_told(scene, b)}, which it has "
                    f"to for {quoted(leg.object)}{_why(scene, robot, a, b)}."
                )
                yield Violation("out_of_reach", said, f"team, legs of {robot.name}", said)
                break
        at[leg.robot] = leg.to


def _why(scene: Scene, robot: Robot, a: Anchor, b: Anchor) -> str:
    nodes = metric_graph(scene).walk(a, b)
    found = first_closed(scene, robot.body, nodes) if nodes and robot.body else None
    if found is None:
        return ""
    link = scene.links[found[0]]
    return f": between {link.a} and {link.b}, {found[1]}"


def _no_objects(scene: Scene, plan: TeamPlan) -> Iterator[Violation]:
    for thing in plan.ways:
        item = scene.item_by_id.get(thing)
        if item is None or item.kind != "object":
            said = f"{quoted(thing)} is not the id of an object of {scene.uri}."
            yield Violation("object_not_there", said, "team, legs", said)


def _written(scene: Scene, anchor: Anchor, *, starts: bool = False) -> dict[str, Any]:
    place = whereabouts(scene, anchor.node)
    if anchor.node.startswith(ITEM_NODE):
        return {"item": place.id}
    if anchor.node.startswith(POINT_NODE):
        return {"point": list(place.position)}
    if starts and place.region and metric_graph(scene).starts.get(place.region) == anchor:
        return {"region": place.region}
    return {"viewpoint": place.id}


def _read(scene: Scene, place: _Place) -> Anchor:
    said = [each for each in (place.region, place.item, place.viewpoint, place.point) if each]
    if len(said) != 1:
        raise UsageError("A place has one of region, item, viewpoint and point, and nothing else.")
    if place.viewpoint is not None:
        row = metric_graph(scene).table.index.get(place.viewpoint)
        if row is None:
            raise UsageError(f"{quoted(place.viewpoint)} is not a viewpoint of {scene.uri}.")
        return Anchor(place.viewpoint, row, 0.0)
    if place.item is not None and place.item not in scene.item_by_id:
        raise UsageError(f"{quoted(place.item)} is not the id of an item of {scene.uri}.")
    known: Point3 | str = place.point or place.item or place.region or ""
    return place_on(scene, known)


def _body(body: Embodiment | None) -> str | dict[str, Any] | None:
    if body is None:
        return None
    try:
        known = get_body(body.name)
    except SceneError:
        known = None
    return body.name if known == body else body.model_dump(mode="json")


def _told(scene: Scene, anchor: Anchor) -> str:
    place = whereabouts(scene, anchor.node)
    return f"{quoted(place.id)} in {place.region}"
