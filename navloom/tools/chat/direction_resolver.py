"""Resolve a spoken direction (ahead, left, upstairs, through a door) to a place or a heading.

The module also plans paths to places, and straight drives of a body off the graph.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import networkx as nx

from navloom.errors import did_you_mean
from navloom.scenes.distances import heading_to, metre_table, path_metres, turn_between
from navloom.scenes.scene import Scene, distance_3d
from navloom.tools.chat.place_query import NUMBERS
from navloom.tools.chat.place_resolver import resolve_place
from navloom.tools.chat.places import Place, RobotContext, floor_number, relative_side, room_name

DIRECTIONS = ("ahead", "left", "right", "behind", "upstairs", "downstairs")
MOST_METRES = 50.0
_TURNS = {"ahead": 0.0, "right": math.pi / 2, "behind": math.pi, "left": -math.pi / 2}
_SAME = {
    "forward": "ahead", "forwards": "ahead", "straight": "ahead", "front": "ahead", "on": "ahead",
    "back": "behind", "backwards": "behind", "backward": "behind", "around": "behind",
    "up": "upstairs", "down": "downstairs",
}  # fmt: skip
_WHICH_DOOR = ("other", *NUMBERS)
_WIDE = math.radians(50)
"""The largest angle between a direction and a candidate that counts as that direction."""
_STRAIGHT = math.radians(40)


def path_to(now: RobotContext, place: Place) -> list[str]:
    """Return the path to a place, without the robot's own viewpoint; empty if it stands there."""
    assert place.viewpoint is not None  # noqa: S101  resolve() gives only places with a way
    return (metre_table(now.scene, "3d").path(now.viewpoint, place.viewpoint) or [])[1:]


def path_around(
    scene: Scene, here: str, goal: str, barred: Sequence[Sequence[str]]
) -> list[str] | None:
    """Return the shortest path that avoids some edges, without the viewpoint it begins on.

    Args:
        scene: the home.
        here: the viewpoint that the robot stands on.
        goal: the viewpoint it goes to.
        barred: edges that its body did not pass, each as its two ends.

    Returns:
        None where there is no such path.
    """
    graph = scene.navigation_graph()
    graph.remove_edges_from([(a, b) for a, b in barred])
    try:
        return nx.shortest_path(graph, here, goal, weight="metres_3d")[1:]
    except nx.NetworkXNoPath:
        return None


def resolve_direction(
    now: RobotContext, direction: str, *, through_door: bool = False, metres: float = 0.0
) -> Place | dict[str, Any]:
    """Return the place that a direction leads to.

    Args:
        now: the robot.
        direction: one of ``DIRECTIONS``. With ``through_door`` it may be empty (any door), or
            hold a number or ``other`` (a door that it did not come by): ``second left``.
        through_door: go into the next room on that side instead of one step.
        metres: how far to go straight; 0 means one step.

    Returns:
        A reachable place, or ``{"error": ...}`` (``{"which": ...}`` for several doors).
    """
    side = _SAME.get(direction.casefold().strip(), direction.casefold().strip())
    nth, _, at = side.rpartition(" ")
    nth, at = (at, "") if at in _WHICH_DOOR else (nth, at)
    if through_door and at in ("", *_TURNS) and nth in ("", *_WHICH_DOOR):
        return _through_door(now, at, nth)
    if side not in DIRECTIONS:
        hint = did_you_mean(side[:40], DIRECTIONS)
        return {"error": f"That is no direction: expected {', '.join(DIRECTIONS)}.{hint}"}
    if side in ("upstairs", "downstairs"):
        return _storey(now, up=side == "upstairs")
    # NaN compares false, so it counts as one step.
    return _straight(now, side, min(metres, MOST_METRES) if metres > 0 else 0.0)


def plan_drive(now: RobotContext, direction: str, metres: float) -> dict[str, Any] | None:
    """Plan a straight drive off the graph for a body that drives.

    Args:
        now: the robot.
        direction: ahead, left, right or behind; for behind it reverses without turning.
        metres: how far.

    Returns:
        ``metres`` (negative backwards), ``heading`` to turn to first, and the ``place``'s name.
        None where the robot uses the graph: without metres, to another storey, or with a body
        that stays on viewpoints.
    """
    side = _SAME.get(direction.casefold().strip(), direction.casefold().strip())
    if not now.drives or side not in _TURNS or not 0 < metres <= MOST_METRES:
        return None
    aside = side in ("left", "right")
    return {
        "metres": -metres if side == "behind" else metres,
        "heading": now.heading + _TURNS[side] if aside else None,
        "place": f"a place {_to(side)}",
    }


def _straight(now: RobotContext, side: str, metres: float) -> Place | dict[str, Any]:
    heading = now.heading + _TURNS[side]
    way, walked = [now.viewpoint], 0.0
    while following := _step(now.scene, way[-1], heading, _WIDE if len(way) == 1 else _STRAIGHT):
        if following in way:
            break
        places = now.scene.viewpoint_by_id
        walked += distance_3d(places[way[-1]].position, places[following].position)
        heading = heading_to(places[way[-1]].position, places[following].position)
        way.append(following)
        if walked >= metres:
            break
    if len(way) == 1:
        around = sorted(now.observation.candidates, key=lambda each: each.heading)
        sides = dict.fromkeys(relative_side(now, each.heading) for each in around)
        ways = f"There are ways on: {', '.join(sides)}." if sides else "There is no way on at all."
        return {"error": f"There is no way on {_to(side)} from here. {ways}"}
    region = now.scene.viewpoint_by_id[way[-1]].region
    return Place("spot", way[-1], f"a place {_to(side)}", region, way[-1], walked)


def _step(scene: Scene, here: str, heading: float, wide: float) -> str | None:
    """Return the candidate that lies nearest to a direction, within an angle."""
    from navloom.sim.graph import candidates_of

    ways = [
        (abs(turn_between(heading, way.heading)), way.distance, way.viewpoint)
        for way in candidates_of(scene)[here]
    ]
    off, _, found = min(ways, default=(math.inf, 0.0, None))
    return found if off <= wide else None


def _to(side: str) -> str:
    return {"left": "to the left", "right": "to the right"}.get(side, side)


def _storey(now: RobotContext, *, up: bool) -> Place | dict[str, Any]:
    scene, table = now.scene, metre_table(now.scene, "3d")
    here, name = floor_number(scene, now.viewpoint), "upstairs" if up else "downstairs"
    reached = [
        (table.distance(now.viewpoint, v.id), v.id)
        for v in scene.viewpoints
        if floor_number(scene, v.id) == here + (1 if up else -1)
        and math.isfinite(table.distance(now.viewpoint, v.id))
    ]
    if not reached:
        floors = sorted({region.floor for region in scene.regions})
        why = "this home has one floor" if len(floors) == 1 else f"this is floor {here}"
        return {"error": f"There is no way {name}: {why}."}
    metres, viewpoint = min(reached)
    region = scene.viewpoint_by_id[viewpoint].region
    return Place("spot", viewpoint, name, region, viewpoint, metres)


def _through_door(now: RobotContext, side: str, nth: str) -> Place | dict[str, Any]:
    doors = _doors(now)
    if not doors:
        return {"error": f"I know of no door of the {room_name(now.scene, now.room)}."}
    listed = ", ".join(f"to the {door.name} ({at})" for at, _, door in doors)
    chosen = [door for at, _, door in doors if side in ("", at)]
    if nth and not chosen:
        # "The first door on the left" may lie ahead.
        chosen = [door for _, turn, door in doors if (turn < 0) == (side == "left")]
    if not chosen:
        return {"error": f"There is no door {_to(side)}. There are doors: {listed}."}
    if nth == "other":
        left = [door for door in chosen if door.region != _came_from(now)]
        chosen = left or chosen
    elif nth:
        if len(chosen) <= NUMBERS[nth]:
            return {"error": f"There are {len(chosen)} such doors. There are doors: {listed}."}
        return chosen[NUMBERS[nth]]
    if len(chosen) > 1 and not side:
        which = [
            {"place": door.id, "name": door.name, "about": f"to the {door.name}, {at}"}
            for at, _, door in doors
            if door in chosen
        ]
        return {"which": which, "question": f"Which door? There are doors {listed}."}
    return chosen[0]


def _came_from(now: RobotContext) -> str | None:
    """Return the room that the robot was in before the current one."""
    rooms = [now.scene.viewpoint_by_id[each].region for each in now.trail]
    return next((room for room in reversed(rooms) if room != now.room), None)


def _doors(now: RobotContext) -> list[tuple[str, float, Place]]:
    """Return the exits of the current room, nearest first: side, turn (radians), room behind."""
    found = []
    at = now.scene.viewpoint_by_id[now.viewpoint].position
    for link in now.scene.links:
        if now.room not in (link.a, link.b):
            continue
        beyond = link.b if link.a == now.room else link.a
        place = resolve_place(now, beyond)
        if isinstance(place, Place):
            point = link.point or now.scene.region_by_id[beyond].center
            found.append((distance_3d(at, point), heading_to(at, point), place))
    ordered = sorted(found, key=lambda each: (each[0], each[2].id))
    return [
        (relative_side(now, way), turn_between(now.heading, way), _just_inside(now, place))
        for _, way, place in ordered
    ]


def _just_inside(now: RobotContext, place: Place) -> Place:
    """Return the place just inside the room behind a door, instead of its centre."""
    way = [now.viewpoint, *path_to(now, place)]
    for number, viewpoint in enumerate(way):
        if now.scene.viewpoint_by_id[viewpoint].region == place.region:
            metres = path_metres(now.scene, way[: number + 1])
            return Place("room", place.id, place.name, place.region, viewpoint, metres)
    return place


def turn_heading(now: RobotContext, direction: str, degrees: float) -> float | dict[str, Any]:
    """Return the heading in radians after a turn, or ``{"error": ...}``.

    Args:
        now: the robot.
        direction: ``left``, ``right`` or ``around``.
        degrees: the angle, for left and right.
    """
    side = direction.casefold().strip()
    if side in ("around", "back", "behind"):
        return now.heading + math.pi
    if side not in ("left", "right"):
        return {"error": "Turn left, right or around, or towards a thing that is named."}
    if not 0 < degrees <= 360:
        return {"error": "A turn has over 0 and at most 360 degrees."}
    return now.heading + math.radians(degrees if side == "right" else -degrees)


def heading_towards(now: RobotContext, thing: str) -> float | dict[str, Any]:
    """Return the heading that looks at a room or item, or ``{"error": ...}``."""
    place = resolve_place(now, thing)
    if not isinstance(place, Place):
        return place
    at = now.scene.viewpoint_by_id[now.viewpoint].position
    item = now.scene.item_by_id.get(place.id)
    goal = item.position if item else now.scene.region_by_id[place.region or ""].center
    return heading_to(at, goal)
