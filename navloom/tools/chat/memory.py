"""What a robot remembers of a conversation: where it began, where it has been, what it was told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from navloom.scenes.distances import metre_table
from navloom.tools.chat.places import floor_number, room_name
from navloom.tools.chat.robot import Now
from navloom.tools.chat.ways import way_metres
from navloom.tools.forms import paragraph

_MOST_SAID = 6
_MOST_ROOMS = 40
_MOVES = ("go_to", "go", "go_back", "go_on", "turn")


def remembered(now: Now) -> dict[str, Any]:
    """What was done so far, as a model reads it.

    ``said`` holds the person's words before the latest, the first ones and the last ones; ``did``
    what came of the last words that moved the robot; ``went`` where it arrived; ``last_walk`` the
    rooms from where that walk began; ``not_seen`` the rooms it was never in;
    ``unfinished`` where a walk was going that was stopped.
    """
    said = [paragraph(words, 100) for words in _heard(now)]
    did = [_deed(*call) for call in _last_moves(now)]
    began = _last_index(now.trail, now.begun[-1] if now.begun else None)
    walk = list(now.trail[began:]) if began is not None else []
    told: dict[str, Any] = {
        "room": room_name(now.scene, now.room),
        "started_in": room_name(now.scene, _region(now, now.trail[0])) if now.trail else None,
        "rooms": _rooms(now, now.trail)[-_MOST_ROOMS:],
        "last_walk": {
            "rooms": _rooms(now, walk),
            "metres": way_metres(now.scene, walk),
            "storeys": len({floor_number(now.scene, each) for each in walk} or {0}) - 1,
        },
        "not_seen": _not_seen(now),
        "metres": way_metres(now.scene, now.trail),
        "did": did,
        "went": _went(now),
        "said": said if len(said) <= 2 * _MOST_SAID else [*said[:_MOST_SAID], *said[-_MOST_SAID:]],
    }
    if now.goal:
        told["unfinished"] = paragraph(now.goal["place"]["name"], 60)
        left = metre_table(now.scene, "3d").distance(now.viewpoint, now.goal["viewpoint"])
        told["metres_left"] = round(left)
    return told


def _heard(now: Now) -> list[str]:
    """What the person said before the last words, answers to questions too."""
    heard = [
        words
        for said, calls in now.turns
        for words in (said, *(str(told["answer"]) for _, _, told in calls if "answer" in told))
    ]
    return heard[:-1]


def _went(now: Now) -> list[str]:
    """Where it arrived, each walk's end once."""
    places = [
        paragraph(str(told.get("place") if tool != "go" else told.get("room")), 60)
        for _, calls in now.turns
        for tool, _, told in calls
        if tool in _MOVES and told.get("arrived")
    ]
    return list(dict.fromkeys(places))[-_MOST_ROOMS:]


def _last_moves(now: Now) -> list[tuple[str, Mapping[str, Any], Any]]:
    for _, calls in reversed(now.turns[:-1]):
        moved = [call for call in calls if call[0] in _MOVES and not call[2].get("error")]
        if moved and not all(call[2].get("which") for call in moved):
            return [call for call in moved if not call[2].get("which")]
    return []


def _deed(tool: str, args: Mapping[str, Any], told: Mapping[str, Any]) -> str:
    """What one call came to, to follow "I"."""
    place = paragraph(str(told.get("place", "")), 60)
    room = paragraph(str(told.get("room", "")), 60)
    if tool == "turn":
        side = str(args.get("towards") or args.get("direction") or "")
        return f"turned towards {paragraph(side, 60)}" if args.get("towards") else f"turned {side}"
    if told.get("stopped"):
        return f"set out for the {place} and was stopped in the {room}"
    if told.get("already_there"):
        return f"stayed in the {room}"
    if place.startswith("a place "):
        return f"went {told.get('metres')} m {place.removeprefix('a place ')}, in the {room}"
    back = "back " if tool == "go_back" else ""
    at = f" in the {room}" if place != room else ""
    return f"went {back}to the {place}{at}"


def _not_seen(now: Now) -> list[str]:
    """The rooms it has never been in."""
    seen = {_region(now, each) for each in now.trail}
    left = [region.id for region in now.scene.regions if region.id not in seen]
    return [room_name(now.scene, each) for each in left][:_MOST_ROOMS]


def _last_index(trail: Sequence[str], viewpoint: str | None) -> int | None:
    found = [place for place, each in enumerate(trail) if each == viewpoint]
    return found[-1] if found else None


def _region(now: Now, viewpoint: str) -> str | None:
    return now.scene.viewpoint_by_id[viewpoint].region


def _rooms(now: Now, trail: Sequence[str]) -> list[str]:
    """The rooms along viewpoints, each as often as it was entered."""
    regions = [region for region, _ in groupby(_region(now, each) for each in trail)]
    return [room_name(now.scene, region) for region in regions]
