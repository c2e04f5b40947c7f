"""What is known of a room or a thing without going there."""

from __future__ import annotations

from collections import Counter
from typing import Any

from navloom.scenes.scene import Item, distance_2d
from navloom.tools.chat.meant import asked_about
from navloom.tools.chat.opposite import neighbours
from navloom.tools.chat.places import Place, floor_area, floor_number, place_floor, room_name
from navloom.tools.chat.robot import Now
from navloom.tools.chat.wishes import words_of
from navloom.tools.forms import paragraph

MOST_THINGS = 20
_NEAR_M = 2.5
_HERE = frozenset(["here", "this", "the", "room", "one", "place", "in", "your", "my", "around"])


def description(now: Now, words: str) -> tuple[dict[str, Any], list[str]]:
    """Describe a place.

    Args:
        now: the robot.
        words: a room or a thing; empty, or "here": the room it is in.

    Returns:
        What a model reads, and the ids of the places that it speaks of: the one described first.
        Where several fit, it is the nearest.
    """
    if set(words_of(words)) <= _HERE and now.room is not None:
        return _room(now, now.room)
    found = asked_about(now, words)
    if isinstance(found, dict):
        return found, []
    place = found[0]
    return _room(now, place.id) if place.kind == "room" else _thing(now, place)


def _room(now: Now, region: str) -> tuple[dict[str, Any], list[str]]:
    scene = now.scene
    beside = neighbours(scene, region)
    inside = [item for item in scene.items if item.region == region and item.kind != "structure"]
    told = {
        "room": room_name(scene, region),
        "here": region == now.room,
        "floor": scene.region_by_id[region].floor,
        "things": _named(sorted(inside, key=lambda item: item.kind != "asset")),
        "next_to": [room_name(scene, each) for each in beside],
    }
    size = floor_area(scene.region_by_id[region])
    return {**told, **({"square_metres": round(size)} if size else {})}, [region, *beside]


def _thing(now: Now, place: Place) -> tuple[dict[str, Any], list[str]]:
    scene, item = now.scene, now.scene.item_by_id.get(place.id)
    told: dict[str, Any] = {
        "thing": place.name,
        "room": room_name(scene, place.region),
        "floor": place_floor(scene, place) or floor_number(scene, now.viewpoint),
    }
    if item is None:
        return told, [place.id]
    on = [each for each in scene.items if each.on == item.id]
    near = sorted(
        (distance_2d(each.position, item.position), each.id, each)
        for each in scene.items
        if each.region == item.region and each.kind != "structure" and each not in (item, *on)
    )
    told["on_it"] = _named(on)
    told["near"] = _named([each for metres, _, each in near if metres <= _NEAR_M])
    under = scene.item_by_id.get(item.on or "")
    if under is not None:
        told["stands_on"] = _name(under)
    return told, [place.id]


def _named(items: list[Item]) -> list[str]:
    """Names, each once; what there is several of with its number."""
    counts = Counter(_name(item) for item in items)
    listed = [name if n == 1 else f"{name} ({n})" for name, n in counts.items()]
    return listed[:MOST_THINGS]


def _name(item: Item) -> str:
    return paragraph(item.prompt_name.replace("_", " "), 60)
