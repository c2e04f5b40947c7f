"""What a robot can tell of where it stands: what it sees, where it is, where things are.

Every answer is small JSON. Captions and names are a source's own words: one bounded line each,
which opens no section of a prompt. Sides are quarters as the robot looks now.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from navloom.scenes.distances import metre_table
from navloom.scenes.scene import Scene
from navloom.sim.bearing import heading_to
from navloom.sim.protocol import Captions, Observation, turn_between
from navloom.tools.chat.place_words import read_wish
from navloom.tools.chat.places import (
    Past,
    Place,
    floor_number,
    places_named,
    room_name,
    stand_in,
    unknown,
)
from navloom.tools.navigation.options import direction_of, shown

__all__ = ["SIDES", "Now", "find", "here", "look", "rooms", "side_of"]

SIDES = {"Front": "ahead", "Left": "left", "Right": "right", "Back": "behind"}
MOST_CAPTION = 240
MOST_SUMMARY = 400
_MOST_NEAR = 8
_MOST_FOUND = 5
_MOST_ROOMS = 100
_NEAR_M = 5.0
_NOTHING = "nothing of note"


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


def look(now: Now) -> dict[str, Any]:
    """What there is around: the room, a summary, each side, things near, ways on."""
    captions = now.observation.captions or Captions()
    near = [
        {
            "name": shown(thing.name, 60),
            "metres": round(thing.distance, 1),
            "side": side_of(now, thing.heading),
        }
        for thing in captions.objects[:_MOST_NEAR]
    ]
    ways = dict.fromkeys(
        f"{side_of(now, way.heading)}: {shown(way.description, 120) or 'a way on'}"
        for way in now.observation.candidates
    )
    return {
        "room": room_name(now.scene, now.room),
        "summary": shown(captions.summary, MOST_SUMMARY),
        "sides": _sides(now, captions),
        "near": near,
        "ways": list(ways)[:12],
    }


def _sides(now: Now, captions: Captions) -> dict[str, str]:
    found: dict[str, list[str]] = {side: [] for side in SIDES.values()}
    for number, caption in enumerate(captions.sectors):
        text = shown(caption, MOST_CAPTION)
        if text and text != _NOTHING:
            heading = number * 2 * math.pi / len(captions.sectors)
            found[side_of(now, heading)].append(text.rstrip("."))
    return {side: "; ".join(dict.fromkeys(texts)) or _NOTHING for side, texts in found.items()}


def here(now: Now) -> dict[str, Any]:
    """Where it is: the room, its floor, the rooms next to it and where the ways to them begin."""
    scene = now.scene
    beside: dict[str, str] = {}
    for link in scene.links:
        if now.room in (link.a, link.b):
            other = link.b if link.a == now.room else link.a
            point = link.point or scene.region_by_id[other].center
            at = scene.viewpoint_by_id[now.viewpoint].position
            beside[room_name(scene, other)] = side_of(now, heading_to(at, point))
    return {
        "room": room_name(scene, now.room),
        "id": now.room,
        "floor": floor_number(scene, now.viewpoint),
        "floors": len({region.floor for region in scene.regions}),
        "next_to": beside,
        "heading_degrees": round(math.degrees(now.heading)),
    }


def find(now: Now, thing: str) -> dict[str, Any]:
    """Where a room or a thing is: the nearest few of that name, by the home's map."""
    wish = read_wish(thing)
    places = places_named(now.scene, now.viewpoint, wish) if wish.head else []
    if not places:
        return {"found": [], **unknown(now.scene, now.viewpoint, wish, thing)}
    return {
        "count": len(places),
        "found": [_found(now, place) for place in places[:_MOST_FOUND]],
    }


def _found(now: Now, place: Place) -> dict[str, Any]:
    reached = place.viewpoint is not None
    told: dict[str, Any] = {
        "name": place.name,
        "kind": place.kind,
        "room": room_name(now.scene, place.region),
        "here": place.region is not None and place.region == now.room,
        "near": reached and place.metres <= _NEAR_M,
        "metres": round(place.metres, 1) if reached else None,
    }
    item = now.scene.item_by_id.get(place.id)
    if item is not None and told["here"]:
        at = now.scene.viewpoint_by_id[now.viewpoint].position
        told["side"] = side_of(now, heading_to(at, item.position))
        told["metres"] = round(math.dist((at[0], at[2]), (item.position[0], item.position[2])), 1)
    elif reached and place.metres > 0:
        told["way"] = _first_step(now, str(place.viewpoint))
    return told


def _first_step(now: Now, goal: str) -> str:
    """The side on which the way to somewhere begins."""
    way = metre_table(now.scene, "3d").path(now.viewpoint, goal) or []
    places = now.scene.viewpoint_by_id
    if len(way) < 2:
        return "ahead"
    return side_of(now, heading_to(places[way[0]].position, places[way[1]].position))


def rooms(now: Now) -> dict[str, Any]:
    """Every room, how far it is, and where one is."""
    return {"rooms": [_room(now, region.id) for region in _in_order(now)]}


def _room(now: Now, region: str) -> dict[str, Any]:
    viewpoint, metres = stand_in(now.scene, now.viewpoint, now.scene.region_by_id[region])
    return {
        "id": region,
        "name": room_name(now.scene, region),
        "floor": now.scene.region_by_id[region].floor,
        "metres": round(metres) if viewpoint is not None else None,
        "here": region == now.room,
    }


def _in_order(now: Now) -> Sequence[Any]:
    return now.scene.regions[:_MOST_ROOMS]
