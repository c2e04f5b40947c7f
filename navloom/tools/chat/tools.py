"""LangChain tools of the chat agent: look, find, walk, turn and ask.

The tools are thin and are rebuilt before each call, since the robot moves. A tool changes nothing
itself. Its answer is the message's JSON. The action that the robot then has to take is in the
message's artifact, which the graph reads and no model sees:

    {"walk": {"way": [viewpoint, ...], "place": {...}, "face": radians | None, "note": str, ...}}
    {"drive": {"metres": metres, back below 0, "heading": radians | None, "place": str}}
    {"turn": radians}
    {"question": str}
    {"give_up": True}
    {"talked": [{"kind", "id", "name", "main"}, ...]}    with any of them: places mentioned


Wrong arguments are answered with ``{"error": ...}``, worded so that a model can correct them.
Captions and names are untrusted text: one bounded line each, which cannot open a section of a
prompt. Sides are quarters relative to the robot's heading.
"""

# ruff: noqa: D205  a model reads the docstrings of the tools

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import groupby
from typing import Any, TypeAlias

from langchain_core.tools import BaseTool, StructuredTool

from navloom.scenes.distances import heading_to, metre_table, path_metres
from navloom.scenes.scene import Item, distance_2d
from navloom.sim.protocol import Captions
from navloom.tools.chat import direction_resolver
from navloom.tools.chat.direction_resolver import path_to
from navloom.tools.chat.place_query import parse_query, split_words
from navloom.tools.chat.place_resolver import lookup_places, other_places, resolve_place
from navloom.tools.chat.places import (
    SIDES,
    Place,
    RobotContext,
    adjacent_rooms,
    floor_area,
    floor_number,
    match_places,
    place_floor,
    relative_side,
    restore_place,
    room_name,
    room_viewpoint,
)
from navloom.tools.model_output import sanitize_line

MOVING = frozenset({"go_to", "go", "go_back", "go_on", "turn"})
"""Tools that change the pose: if one fails, later ones of the same message are not carried out."""
MOST_QUESTION = 600
MOST_CAPTION = 240
MOST_SUMMARY = 400
_MOST_NEAR = 8
_MOST_FOUND, _MOST_FOUND_IN = 5, 9
_MOST_ROOMS = 100
_NEAR_M = 5.0
_NOTHING = "nothing of note"
Done: TypeAlias = tuple[str, dict[str, Any]]


def chat_tools(now: RobotContext | None) -> list[BaseTool]:
    """Return the chat tools for one robot in its present state.

    Args:
        now: the robot; None returns tools for the model's schema that cannot be called.
    """
    if now is None:
        return [*_described()]
    made = _Tools(now)
    # Schemas are slow to build and the same for every robot.
    return [tool.model_copy(update={"func": getattr(made, tool.name)}) for tool in _described()]


@cache
def _described() -> tuple[StructuredTool, ...]:
    tools = _Tools(None)
    functions: list[Callable[..., Done]] = [
        *(tools.look, tools.where, tools.find, tools.rooms, tools.describe, tools.recall),
        *(tools.go_to, tools.go, tools.go_back, tools.go_on, tools.turn),
        *(tools.ask_person, tools.stop),
    ]
    return tuple(
        StructuredTool.from_function(
            function,
            name=function.__name__,
            description=" ".join((function.__doc__ or "").split()),
            response_format="content_and_artifact",
        )
        for function in functions
    )


def _told(answer: dict[str, Any], **artifact: Any) -> Done:
    return json.dumps(answer, ensure_ascii=False), artifact


class _Tools:
    """Tool functions of one robot; a model reads their docstrings."""

    def __init__(self, now: RobotContext | None) -> None:
        self._robot = now

    @property
    def _now(self) -> RobotContext:
        assert self._robot is not None  # noqa: S101  tools without a robot are only described
        return self._robot

    def look(self) -> Done:
        """Say what is around the robot: the room, a summary, what is ahead, left, right and behind,
        things within 3 m, and the ways on.
        """
        now = self._now
        captions = now.observation.captions or Captions()
        near = [
            {
                "name": sanitize_line(thing.name, 60),
                "metres": round(thing.distance, 1),
                "side": relative_side(now, thing.heading),
            }
            for thing in captions.objects[:_MOST_NEAR]
        ]
        ways_on = dict.fromkeys(
            f"{relative_side(now, way.heading)}, {way.distance:.1f} m: "
            f"{sanitize_line(way.description, 120) or 'a way on'}"
            for way in sorted(now.observation.candidates, key=lambda each: each.heading)
        )
        return _told(
            {
                "room": room_name(now.scene, now.room),
                "summary": sanitize_line(captions.summary, MOST_SUMMARY),
                "sides": _sides(now, captions),
                "near": near,
                "ways": list(ways_on)[:12],
            }
        )

    def where(self) -> Done:
        """Say where the robot is: room, floor, the rooms next to it and on which side they lie."""
        now, scene = self._now, self._now.scene
        at = scene.viewpoint_by_id[now.viewpoint].position
        beside: dict[str, str] = {}
        for link in scene.links:
            if now.room in (link.a, link.b):
                other = link.b if link.a == now.room else link.a
                point = link.point or scene.region_by_id[other].center
                beside[room_name(scene, other)] = relative_side(now, heading_to(at, point))
        return _told(
            {
                "room": room_name(scene, now.room),
                "id": now.room,
                "floor": floor_number(scene, now.viewpoint),
                "floors": len({region.floor for region in scene.regions}),
                "next_to": beside,
                "heading_degrees": round(math.degrees(now.heading)),
            }
        )

    def find(self, thing: str) -> Done:
        """Say where a room or a thing is ("fridge", "bathroom", "the lamp in the bedroom"): the
        nearest few, their room, how far, and on which side. It answers questions and moves nothing.
        """
        now = self._now
        places = lookup_places(now, thing)
        if isinstance(places, dict):
            near = places.get("alike", [])
            return _told({"found": [], **places}, talked=_talked(now, [e["place"] for e in near]))
        wish = parse_query(thing)
        if wish.farthest:
            places = places[::-1]
        if wish.other:
            others = other_places(now, places)
            places = [*others, *(place for place in places if place not in others)]
        named = places[:_MOST_FOUND]
        found = [_found(now, place) for place in named]
        rooms = dict.fromkeys(room_name(now.scene, place.region) for place in places)
        told = {"count": len(places), "found": found, "rooms": [*rooms][:_MOST_FOUND_IN]}
        return _told(told, talked=_talked(now, [place.id for place in named]))

    def rooms(self) -> Done:
        """List every room of the home: id, name, floor, metres of way from here."""
        now, listed = self._now, []
        for region in now.scene.regions[:_MOST_ROOMS]:
            viewpoint, metres = room_viewpoint(now.scene, now.viewpoint, region)
            listed.append(
                {
                    "id": region.id,
                    "name": room_name(now.scene, region.id),
                    "floor": region.floor,
                    "metres": round(metres) if viewpoint is not None else None,
                    "here": region.id == now.room,
                    **({"square_metres": round(size)} if (size := floor_area(region)) else {}),
                }
            )
        return _told({"rooms": listed})

    def describe(self, place: str = "") -> Done:
        """Say what is known of a room (what stands in it, the rooms next to it) or of a thing (what
        stands on it and near it), from anywhere. Leave `place` empty for the room it is in.
        """
        told, named = place_description(self._now, place)
        return _told(told, talked=_talked(self._now, named))

    def recall(self) -> Done:
        """Say what was done in this conversation: where it began, the rooms passed, the way the
        last walk took, what was asked for, and where it was going when it was stopped.
        """
        return _told(recall_summary(self._now))

    def go_to(self, place: str) -> Done:
        """Walk to a room or a thing. `place` is what the person calls it ("the kitchen", "the
        other bedroom", "the table next to the window", "bathroom upstairs", "there", "where we
        started") or a room's id ("Bedroom_8"). Where several rooms fit, or none is called quite
        so, nothing moves and `which` lists what may be meant: ask the person, then call again with
        an id. Returns once the robot has arrived, or was stopped on the way.
        """
        found = resolve_place(self._now, place)
        return self._walk(found, _note(self._now, place, found))

    def go(self, direction: str = "", through_door: bool = False, metres: float = 0.0) -> Done:
        """Walk in a direction: ahead, left, right, behind, upstairs or downstairs. One step, or
        `metres` straight on (behind: backwards, where the robot's body drives); with `through_door`
        into the room behind the door on that side (direction may be empty where there is one door).
        """
        drive = (
            None if through_door else direction_resolver.plan_drive(self._now, direction, metres)
        )
        if drive is not None:
            return _told({}, drive=drive)
        found = direction_resolver.resolve_direction(
            self._now, direction, through_door=through_door, metres=metres
        )
        return self._walk(found)

    def go_back(self, walks: int = 1) -> Done:
        """Walk back to where the last walk began; with `walks`, to where the one so many walks ago
        began.
        """
        now = self._now
        if not now.begun:
            return _told({"error": "The robot has not walked yet: there is nowhere to go back to."})
        place = now.begun[-min(max(walks, 1), len(now.begun))]
        room = now.scene.viewpoint_by_id[place].region
        return self._walk(Place("spot", place, room_name(now.scene, room), room, place, 0))

    def go_on(self) -> Done:
        """Walk on to where a walk was going when it was stopped. Where none was stopped, go one
        step ahead.
        """
        now, goal = self._now, self._now.goal
        if goal is None:
            return self._walk(direction_resolver.resolve_direction(now, "ahead"))
        at = now.scene.viewpoint_by_id[goal["viewpoint"]]
        place = Place(
            **goal["place"], region=at.region, viewpoint=at.id, metres=0.0, face=goal["face"]
        )
        return self._walk(place, goal["note"], more={"resumed": True, "left": goal["left"]})

    def turn(self, direction: str = "", degrees: float = 90.0, towards: str = "") -> Done:
        """Turn on the spot: left or right by `degrees`, around, or `towards` a named room or
        thing.
        """
        now = self._now
        found = (
            direction_resolver.heading_towards(now, towards)
            if towards
            else direction_resolver.turn_heading(now, direction, degrees)
        )
        if isinstance(found, dict):
            return _told(found)
        return _told({"turned": towards or direction}, turn=found)

    def ask_person(self, question: str) -> Done:
        """Ask the person one short question and wait for the answer, which is returned."""
        text = sanitize_line(question, MOST_QUESTION)
        return _told({}, question=text) if text else _told({"error": "The question is empty."})

    def stop(self, give_up: bool = False) -> Done:
        """Stay here. Call it when the person says to stop; with `give_up` when they no longer want
        to go where the robot was going.
        """
        told = {"stopped": True, "room": room_name(self._now.scene, self._now.room)}
        return _told(told, give_up=True) if give_up else _told(told)

    def _walk(
        self, found: Place | dict[str, Any], note: str = "", more: dict[str, Any] | None = None
    ) -> Done:
        now = self._now
        if isinstance(found, dict):
            near = [each["place"] for each in found.get("alike") or found.get("which") or []]
            return _told(found, talked=_talked(now, near))
        way = [*([now.viewpoint] if now.beside else []), *path_to(now, found)]
        at = {"place": found.name, "room": room_name(now.scene, found.region or None)}
        talked = [found.record] if found.kind != "spot" else []
        if not way and found.face in (None, now.heading):
            return _told(
                {"arrived": True, "already_there": True, **at, **(more or {})}, talked=talked
            )
        walk = {"way": way, "place": found.record, "face": found.face, "note": note}
        walk |= {"more": more} if more else {}
        told = {**at, "metres": path_metres(now.scene, [now.viewpoint, *way])}
        return _told(told, walk=walk, talked=talked)


def _talked(now: RobotContext, ids: Sequence[str]) -> list[dict[str, Any]]:
    """Return records of places by id, reversed, so that the main one (the first) comes last."""
    places = [
        restore_place(now.scene, now.viewpoint, {"kind": "thing", "id": each, "name": each})
        for each in ids
    ]
    records = [{**place.record, "main": not n} for n, place in enumerate(places) if place]
    return records[::-1]


def _note(now: RobotContext, words: str, found: Place | dict[str, Any]) -> str:
    """Return a note that other places fit the words too, where the nearest was taken."""
    wish = parse_query(words)
    if isinstance(found, dict) or found.kind == "spot":
        return ""
    if found.kind == "room":
        name = split_words(found.name)
        # "The guest bedroom" is more than any label says.
        more = set(name) < set(wish.head) and not re.search(r"\d", " ".join(wish.head))
        return f"the only one; no {' '.join(wish.head)} is known" if more else ""
    alike = match_places(now.scene, now.viewpoint, wish) if wish.head else []
    others = [place for place in alike if place.id != found.id]
    if not others or wish.nearest or wish.other:
        return ""
    where = list(dict.fromkeys(room_name(now.scene, place.region) for place in others))[:3]
    return f"the nearest of {len(alike)}; others are in the {', the '.join(where)}"


def _sides(now: RobotContext, captions: Captions) -> dict[str, str]:
    found: dict[str, list[str]] = {side: [] for side in SIDES.values()}
    for number, caption in enumerate(captions.sectors):
        text = sanitize_line(caption, MOST_CAPTION)
        if text and text != _NOTHING:
            heading = number * 2 * math.pi / len(captions.sectors)
            found[relative_side(now, heading)].append(text.rstrip("."))
    return {side: "; ".join(dict.fromkeys(texts)) or _NOTHING for side, texts in found.items()}


def _found(now: RobotContext, place: Place) -> dict[str, Any]:
    """Return a place as ``find`` reports it, with its side or the side on which the path begins."""
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
    at = now.scene.viewpoint_by_id[now.viewpoint].position
    if item is not None and told["here"]:
        told["side"] = relative_side(now, heading_to(at, item.position))
        told["metres"] = round(math.dist((at[0], at[2]), (item.position[0], item.position[2])), 1)
    elif reached and place.metres > 0:
        way = [now.scene.viewpoint_by_id[each] for each in path_to(now, place)]
        told["way"] = relative_side(now, heading_to(at, way[0].position))
        passed = dict.fromkeys(v.region for v in way if v.region not in (now.room, place.region))
        told["through"] = [room_name(now.scene, region) for region in passed]
        told["floor"] = floor_number(now.scene, way[-1].id)
    return told


_MOST_SAID = 6
_MOST_RECALLED = 40
_MOVES = ("go_to", "go", "go_back", "go_on", "turn")


def recall_summary(now: RobotContext) -> dict[str, Any]:
    """Summarize the conversation so far, as a model reads it.

    ``said`` holds the person's words before the latest (the first and the last ones), ``did`` the
    results of the last words that moved the robot, ``went`` the places it arrived at, ``last_walk``
    the rooms of the last walk, ``not_seen`` the rooms it was never in, and ``unfinished`` the
    destination of a walk that was stopped.
    """
    said = [sanitize_line(words, 100) for words in _heard(now)]
    did = [_deed(*call) for call in _last_moves(now)]
    began = _last_index(now.trail, now.begun[-1] if now.begun else None)
    walk = list(now.trail[began:]) if began is not None else []
    told: dict[str, Any] = {
        "room": room_name(now.scene, now.room),
        "started_in": room_name(now.scene, _region(now, now.trail[0])) if now.trail else None,
        "rooms": _rooms(now, now.trail)[-_MOST_RECALLED:],
        "last_walk": {
            "rooms": _rooms(now, walk),
            "metres": path_metres(now.scene, walk),
            "storeys": len({floor_number(now.scene, each) for each in walk} or {0}) - 1,
        },
        "not_seen": _not_seen(now),
        "metres": path_metres(now.scene, now.trail),
        "did": did,
        "went": _went(now),
        "said": said if len(said) <= 2 * _MOST_SAID else [*said[:_MOST_SAID], *said[-_MOST_SAID:]],
    }
    if now.goal:
        told["unfinished"] = sanitize_line(now.goal["place"]["name"], 60)
        left = metre_table(now.scene, "3d").distance(now.viewpoint, now.goal["viewpoint"])
        told["metres_left"] = round(left)
    return told


def _heard(now: RobotContext) -> list[str]:
    """Return all that the person said before the last words, answers to questions included."""
    heard = [
        words
        for said, calls in now.turns
        for words in (said, *(str(told["answer"]) for _, _, told in calls if "answer" in told))
    ]
    return heard[:-1]


def _went(now: RobotContext) -> list[str]:
    """Return the places that it arrived at, each once."""
    places = [
        sanitize_line(str(told.get("place") if tool != "go" else told.get("room")), 60)
        for _, calls in now.turns
        for tool, _, told in calls
        if tool in _MOVES and told.get("arrived")
    ]
    return list(dict.fromkeys(places))[-_MOST_RECALLED:]


def _last_moves(now: RobotContext) -> list[tuple[str, Mapping[str, Any], Any]]:
    for _, calls in reversed(now.turns[:-1]):
        moved = [call for call in calls if call[0] in _MOVES and not call[2].get("error")]
        if moved and not all(call[2].get("which") for call in moved):
            return [call for call in moved if not call[2].get("which")]
    return []


def _deed(tool: str, args: Mapping[str, Any], told: Mapping[str, Any]) -> str:
    """Return the result of one call as words that follow "I"."""
    place = sanitize_line(str(told.get("place", "")), 60)
    room = sanitize_line(str(told.get("room", "")), 60)
    if tool == "turn":
        side = str(args.get("towards") or args.get("direction") or "")
        return (
            f"turned towards {sanitize_line(side, 60)}" if args.get("towards") else f"turned {side}"
        )
    if told.get("stopped"):
        return f"set out for the {place} and was stopped in the {room}"
    if told.get("already_there"):
        return f"stayed in the {room}"
    if place.startswith("a place "):
        return f"went {told.get('metres')} m {place.removeprefix('a place ')}, in the {room}"
    back = "back " if tool == "go_back" else ""
    at = f" in the {room}" if place != room else ""
    return f"went {back}to the {place}{at}"


def _not_seen(now: RobotContext) -> list[str]:
    """Return the names of the rooms that the robot has never been in."""
    seen = {_region(now, each) for each in now.trail}
    left = [region.id for region in now.scene.regions if region.id not in seen]
    return [room_name(now.scene, each) for each in left][:_MOST_RECALLED]


def _last_index(trail: Sequence[str], viewpoint: str | None) -> int | None:
    found = [place for place, each in enumerate(trail) if each == viewpoint]
    return found[-1] if found else None


def _region(now: RobotContext, viewpoint: str) -> str | None:
    return now.scene.viewpoint_by_id[viewpoint].region


def _rooms(now: RobotContext, trail: Sequence[str]) -> list[str]:
    """Return the rooms along viewpoints, each as often as it was entered."""
    regions = [region for region, _ in groupby(_region(now, each) for each in trail)]
    return [room_name(now.scene, region) for region in regions]


MOST_THINGS = 20
_BESIDE_M = 2.5
_HERE = frozenset(["here", "this", "the", "room", "one", "place", "in", "your", "my", "around"])


def place_description(now: RobotContext, words: str) -> tuple[dict[str, Any], list[str]]:
    """Describe a room or an item.

    Args:
        now: the robot.
        words: a room or an item; empty or "here" means the current room.

    Returns:
        The description that a model reads, and the ids of its places, the described one first.
        Where several fit, it is the nearest.
    """
    if set(split_words(words)) <= _HERE and now.room is not None:
        return _room(now, now.room)
    found = lookup_places(now, words)
    if isinstance(found, dict):
        return found, []
    place = found[0]
    return _room(now, place.id) if place.kind == "room" else _thing(now, place)


def _room(now: RobotContext, region: str) -> tuple[dict[str, Any], list[str]]:
    scene = now.scene
    beside = adjacent_rooms(scene, region)
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


def _thing(now: RobotContext, place: Place) -> tuple[dict[str, Any], list[str]]:
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
    told["near"] = _named([each for metres, _, each in near if metres <= _BESIDE_M])
    under = scene.item_by_id.get(item.on or "")
    if under is not None:
        told["stands_on"] = _name(under)
    return told, [place.id]


def _named(items: list[Item]) -> list[str]:
    """Return item names, each once, with the count where there are several."""
    counts = Counter(_name(item) for item in items)
    listed = [name if n == 1 else f"{name} ({n})" for name, n in counts.items()]
    return listed[:MOST_THINGS]


def _name(item: Item) -> str:
    return sanitize_line(item.prompt_name.replace("_", " "), 60)
