"""The one place that is meant and the way there: by name, or ahead, upstairs, through a door.

Several rooms that fit are a question; of several things that fit the nearest is taken.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import pairwise
from typing import Any

from navloom.errors import did_you_mean
from navloom.scenes.distances import heading_to, metre_table, turn_between
from navloom.scenes.scene import Scene, distance_3d
from navloom.sim.protocol import Observation
from navloom.sim.words import enumerated, with_article
from navloom.tools.chat.places import (
    Past,
    Place,
    Wish,
    floor_number,
    item_names,
    neighbours,
    place_floor,
    places_named,
    read_wish,
    room_name,
    words_of,
)
from navloom.tools.forms import paragraph
from navloom.tools.navigation.options import direction_of

MOST_NAMED = 24
"""Names in a list that a person or a model reads."""
SIDES = {"Front": "ahead", "Left": "left", "Right": "right", "Back": "behind"}
DIRECTIONS = ("ahead", "left", "right", "behind", "upstairs", "downstairs")
MOST_METRES = 50.0
_TURNS = {"ahead": 0.0, "right": math.pi / 2, "behind": math.pi, "left": -math.pi / 2}
_SAME = {
    "forward": "ahead", "forwards": "ahead", "straight": "ahead", "front": "ahead", "on": "ahead",
    "back": "behind", "backwards": "behind", "backward": "behind", "around": "behind",
    "up": "upstairs", "down": "downstairs",
}  # fmt: skip
_WIDE = math.radians(50)
"""How far from a direction a way may lie to count as that direction."""
_STRAIGHT = math.radians(40)


@dataclass(frozen=True)
class Now:
    """What tools are told of a robot before each call.

    Attributes:
        scene: the home.
        observation: what it perceives; its pose stands on a viewpoint.
        past: where it was sent before, the latest last.
        came_from: the viewpoint its last walk began on, if it has walked.
    """

    scene: Scene
    observation: Observation
    past: Past = ()
    came_from: str | None = None
    room: str | None = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "room", self.scene.viewpoint_by_id[self.viewpoint].region)

    @property
    def viewpoint(self) -> str:
        """Where it stands."""
        return self.observation.pose.viewpoint or ""

    @property
    def heading(self) -> float:
        """Where it looks, radians."""
        return self.observation.pose.heading


def side_of(now: Now, heading: float) -> str:
    """Which way a heading lies as the robot looks: ahead, left, right or behind."""
    return SIDES[direction_of(turn_between(now.heading, heading))]


def about(scene: Scene, here: str, place: Place) -> str:
    """What tells a place from others of its name: storey, neighbours, how far it is."""
    parts = []
    floor = place_floor(scene, place)
    if floor is not None and floor != floor_number(scene, here):
        parts.append("upstairs" if floor > floor_number(scene, here) else "downstairs")
    if place.kind == "thing" and place.region is not None:
        parts.append(f"in the {room_name(scene, place.region)}")
    beside = [room_name(scene, each) for each in neighbours(scene, place.region or "")]
    if place.kind == "room" and beside:
        parts.append(f"next to the {enumerated(list(dict.fromkeys(beside))[:3])}")
    way = f"{place.metres:.0f} m away" if math.isfinite(place.metres) else "no way leads there"
    return ", ".join([*parts, "where I am" if place.metres == 0 else way])


def resolve(scene: Scene, here: str, words: str, past: Past = ()) -> Place | dict[str, Any]:
    """Find the one place that is meant.

    Args:
        scene: the home.
        here: the viewpoint the robot stands on.
        words: a description, such as ``the other bedroom``, or a room's id.
        past: where it was sent before; "the other" is one it was not sent to last.

    Returns:
        The place; or ``{"which": [...], "question": ...}`` where several rooms fit; or
        ``{"error": ...}``, one line, where none does.
    """
    wish = read_wish(words)
    if not wish.head and not wish.other:
        # "upstairs" alone is a direction, not a place.
        return {"error": "No place was named. Name a room or a thing of this home."}
    found = places_named(scene, here, wish) if wish.head else _alike(scene, here, past)
    if not found:
        return unknown(scene, here, wish, words)
    left = _others(scene, here, found, past) if wish.other else found
    if not left:
        return {"error": f"There is only one {found[0].name} that I know of here."}
    reached = [place for place in left if place.viewpoint is not None]
    if not reached:
        return {"error": f"No way leads from here to the {left[0].name}."}
    if len(reached) > 1 and not wish.nearest and not wish.farthest and reached[0].kind == "room":
        return _question(scene, here, reached)
    return reached[-1] if wish.farthest else reached[0]


def _alike(scene: Scene, here: str, past: Past) -> list[Place]:
    """Places of the name of the one it was sent to last."""
    return places_named(scene, here, Wish(words_of(str(past[-1]["name"])))) if past else []


def _others(scene: Scene, here: str, found: list[Place], past: Past) -> list[Place]:
    """Those it was not sent to in a row just now; or not the one it is at."""
    ids, refused = {place.id for place in found}, set[str]()
    for before in reversed(past):
        if before["id"] not in ids:
            break
        refused.add(str(before["id"]))
    if not refused:
        now = scene.viewpoint_by_id[here].region
        refused = {place.id for place in found if place.region == now} or {found[0].id}
    left = [place for place in found if place.id not in refused]
    return left or [place for place in found if past and place.id != past[-1]["id"]]


def _question(scene: Scene, here: str, found: list[Place]) -> dict[str, Any]:
    beside = [about(scene, here, place).rpartition(", ")[0] for place in found]
    which = [
        {
            "place": place.id,
            "name": place.name,
            # Where neighbours tell nothing apart, what stands in a room may.
            "about": about(scene, here, place)
            + (_with(scene, place) if beside.count(said) > 1 else ""),
        }
        for place, said in list(zip(found, beside, strict=True))[:9]
    ]
    names = {place.name for place in found}
    what = f"{names.pop()}s" if len(names) == 1 else "rooms that fit"
    told = "; ".join(f"{number}: {each['about']}" for number, each in enumerate(which, 1))
    return {"which": which, "question": f"There are {len(found)} {what}. Which one? {told}."}


def _with(scene: Scene, place: Place) -> str:
    assets = scene.items_in(place.id, "asset")
    largest = max(assets, key=lambda item: math.prod(item.size or (0, 0, 0)), default=None)
    if largest is None:
        return ""
    return f", with {with_article(largest.prompt_name.replace('_', ' ')[:60])}"


def unknown(scene: Scene, here: str, wish: Wish, words: str) -> dict[str, Any]:
    """Say that nothing of that name is here, and what there is."""
    head = " ".join(wish.head)
    shown = paragraph(head or words, 60) or "such place"
    plain = places_named(scene, here, Wish(wish.head))
    if plain:
        there = enumerated([about(scene, here, place) for place in plain[:4]])
        return {"error": f"There is no such {plain[0].name}; there is one {there}."}
    rooms = list(dict.fromkeys(room_name(scene, region.id) for region in scene.regions))
    more = ", ..." if len(rooms) > MOST_NAMED else ""
    listed = f"There are: {', '.join(rooms[:MOST_NAMED])}{more}."
    things = {" ".join(name) for _, name in item_names(scene)}
    near = get_close_matches(head, [*rooms, *sorted(things)], n=1, cutoff=0.75) if head else []
    hint = f" Did you mean the {near[0]}?" if near else ""
    return {"error": f"There is no {shown} here.{hint} {listed}"}


def way_metres(scene: Scene, way: Sequence[str]) -> float:
    """The length of a way along viewpoints, in metres."""
    at = scene.viewpoint_by_id
    return round(sum(distance_3d(at[a].position, at[b].position) for a, b in pairwise(way)), 1)


def way_to(now: Now, place: Place) -> list[str]:
    """The viewpoints to a place after the one it stands on; empty where it is there."""
    assert place.viewpoint is not None  # noqa: S101  resolve() gives only places with a way
    return (metre_table(now.scene, "3d").path(now.viewpoint, place.viewpoint) or [])[1:]


def way_on(
    now: Now, direction: str, *, through_door: bool = False, metres: float = 0.0
) -> Place | dict[str, Any]:
    """Where a direction leads.

    Args:
        now: the robot.
        direction: one of ``DIRECTIONS``; empty with ``through_door`` for any door.
        through_door: into the next room on that side, not one step.
        metres: how far to go on straight; one step where it is 0.

    Returns:
        A place with a way to it, or ``{"error": ...}`` (``{"which": ...}`` for doors).
    """
    side = _SAME.get(direction.casefold().strip(), direction.casefold().strip())
    if through_door and side in ("", *_TURNS):
        return _through_door(now, side)
    if side not in DIRECTIONS:
        hint = did_you_mean(side[:40], DIRECTIONS)
        return {"error": f"That is no direction: expected {', '.join(DIRECTIONS)}.{hint}"}
    if side in ("upstairs", "downstairs"):
        return _storey(now, up=side == "upstairs")
    # Not a number compares as neither more nor less: it counts as one step.
    return _straight(now, side, min(metres, MOST_METRES) if metres > 0 else 0.0)


def _straight(now: Now, side: str, metres: float) -> Place | dict[str, Any]:
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
        sides = dict.fromkeys(side_of(now, each.heading) for each in around)
        ways = f"There are ways on: {', '.join(sides)}." if sides else "There is no way on at all."
        return {"error": f"There is no way on {_to(side)} from here. {ways}"}
    region = now.scene.viewpoint_by_id[way[-1]].region
    return Place("spot", way[-1], f"a place {_to(side)}", region, way[-1], walked)


def _step(scene: Scene, here: str, heading: float, wide: float) -> str | None:
    """The neighbour that lies nearest to a direction."""
    from navloom.sim.graph import candidates_of

    ways = [
        (abs(turn_between(heading, way.heading)), way.distance, way.viewpoint)
        for way in candidates_of(scene)[here]
    ]
    off, _, found = min(ways, default=(math.inf, 0.0, None))
    return found if off <= wide else None


def _to(side: str) -> str:
    return {"left": "to the left", "right": "to the right"}.get(side, side)


def _storey(now: Now, *, up: bool) -> Place | dict[str, Any]:
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


def _through_door(now: Now, side: str) -> Place | dict[str, Any]:
    doors = _doors(now)
    if not doors:
        return {"error": f"I know of no door of the {room_name(now.scene, now.room)}."}
    listed = ", ".join(f"to the {door.name} ({at})" for at, door in doors)
    chosen = [door for at, door in doors if side in ("", at)]
    if not chosen:
        return {"error": f"There is no door {_to(side)}. There are doors: {listed}."}
    if len(chosen) > 1 and not side:
        which = [
            {"place": door.id, "name": door.name, "about": f"to the {door.name}, {at}"}
            for at, door in doors
        ]
        return {"which": which, "question": f"Which door? There are doors {listed}."}
    return chosen[0]


def _doors(now: Now) -> list[tuple[str, Place]]:
    """The ways out of its room: on which side each lies, and the room behind; nearest first."""
    found = []
    at = now.scene.viewpoint_by_id[now.viewpoint].position
    for link in now.scene.links:
        if now.room not in (link.a, link.b):
            continue
        beyond = link.b if link.a == now.room else link.a
        place = resolve(now.scene, now.viewpoint, beyond)
        if isinstance(place, Place):
            point = link.point or now.scene.region_by_id[beyond].center
            found.append((distance_3d(at, point), side_of(now, heading_to(at, point)), place))
    ordered = sorted(found, key=lambda each: (each[0], each[2].id))
    return [(side, _just_inside(now, place)) for _, side, place in ordered]


def _just_inside(now: Now, place: Place) -> Place:
    """A door leads just into the room behind it, not to its middle."""
    way = [now.viewpoint, *way_to(now, place)]
    for number, viewpoint in enumerate(way):
        if now.scene.viewpoint_by_id[viewpoint].region == place.region:
            metres = way_metres(now.scene, way[: number + 1])
            return Place("room", place.id, place.name, place.region, viewpoint, metres)
    return place


def turned(now: Now, direction: str, degrees: float) -> float | dict[str, Any]:
    """The heading after a turn in radians, or ``{"error": ...}``.

    Args:
        now: the robot.
        direction: ``left``, ``right`` or ``around``.
        degrees: how far, for left and right.
    """
    side = direction.casefold().strip()
    if side in ("around", "back", "behind"):
        return now.heading + math.pi
    if side not in ("left", "right"):
        return {"error": "Turn left, right or around, or towards a thing that is named."}
    if not 0 < degrees <= 360:
        return {"error": "A turn has over 0 and at most 360 degrees."}
    return now.heading + math.radians(degrees if side == "right" else -degrees)


def towards(now: Now, thing: str) -> float | dict[str, Any]:
    """The heading that looks at a room or thing, or ``{"error": ...}``."""
    place = resolve(now.scene, now.viewpoint, thing, now.past)
    if not isinstance(place, Place):
        return place
    at = now.scene.viewpoint_by_id[now.viewpoint].position
    item = now.scene.item_by_id.get(place.id)
    goal = item.position if item else now.scene.region_by_id[place.region or ""].center
    return heading_to(at, goal)
