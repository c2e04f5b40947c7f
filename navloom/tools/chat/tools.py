"""What the chat agent may call: looking, finding, walking, turning, asking.

Thin LangChain tools over :mod:`navloom.tools.chat.surroundings`, ``chat_places`` and ``chat_ways``,
made anew for each call since the robot moves. A tool changes nothing itself. What it answers is the
message's JSON; what the robot then has to do stands in the message's artifact, which the graph
reads and no model sees:

    {"walk": {"way": [viewpoint, ...], "place": {...}, "face": radians | None, "note": str}}
    {"turn": radians}
    {"question": str}

A mistake in the arguments is answered with ``{"error": ...}`` in words that a model can mend.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeAlias

from langchain_core.tools import BaseTool, StructuredTool

from navloom.tools.chat.place_words import read_wish
from navloom.tools.chat.places import Place, places_named, resolve, room_name
from navloom.tools.chat.surroundings import Now, find, here, look, rooms
from navloom.tools.chat.ways import towards, turned, way_metres, way_on, way_to
from navloom.tools.untrusted import paragraph

__all__ = ["MOST_QUESTION", "MOVING", "chat_tools"]

MOVING = frozenset({"go_to", "go", "go_back", "turn"})
"""Tools that change the pose: after one that failed, later ones of its message are not done."""
MOST_QUESTION = 600
Done: TypeAlias = tuple[str, dict[str, Any]]

_LOOK = """Say what is around the robot: the room, a summary, what is ahead, left, right and behind,
things within 3 m, and the ways on."""
_WHERE = "Say where the robot is: room, floor, the rooms next to it and on which side they lie."
_FIND = """Say where a room or a thing is ("fridge", "bathroom", "the lamp in the bedroom"): the
nearest few, their room, how far, and on which side. It answers questions and moves nothing."""
_ROOMS = "List every room of the home: id, name, floor, metres of way from here."
_GO_TO = """Walk to a room or a thing. `place` is what the person calls it ("the kitchen", "the
other bedroom", "the table next to the window", "bathroom upstairs") or a room's id ("Bedroom_8").
Where several rooms fit, nothing moves and `which` lists them: ask the person, then call again with
an id. Returns once the robot has arrived, or was stopped on the way."""
_GO = """Walk in a direction: ahead, left, right, behind, upstairs or downstairs. One step, or
`metres` straight on; with `through_door` into the room behind the door on that side (direction may
be empty where there is one door)."""
_GO_BACK = "Walk back to where the last walk began."
_TURN = "Turn on the spot: left or right by `degrees`, around, or `towards` a named room or thing."
_ASK = "Ask the person one short question and wait for the answer, which is returned."
_STOP = "Stay here. Call it when the person says to stop."


def chat_tools(now: Now | None) -> list[BaseTool]:
    """The tools, for one robot as it stands now.

    Args:
        now: the robot; None makes tools that a model is told of and that cannot be called.
    """
    made = _Tools(now)
    described: list[tuple[Callable[..., Done], str]] = [
        (made.look, _LOOK),
        (made.where, _WHERE),
        (made.find, _FIND),
        (made.rooms, _ROOMS),
        (made.go_to, _GO_TO),
        (made.go, _GO),
        (made.go_back, _GO_BACK),
        (made.turn, _TURN),
        (made.ask_person, _ASK),
        (made.stop, _STOP),
    ]
    return [
        StructuredTool.from_function(
            function,
            name=function.__name__,
            description=" ".join(text.split()),
            response_format="content_and_artifact",
        )
        for function, text in described
    ]


def _told(answer: dict[str, Any], **artifact: Any) -> Done:
    return json.dumps(answer, ensure_ascii=False), artifact


class _Tools:
    def __init__(self, now: Now | None) -> None:
        self._robot = now

    @property
    def _now(self) -> Now:
        assert self._robot is not None  # noqa: S101  tools without a robot are only described
        return self._robot

    def look(self) -> Done:
        return _told(look(self._now))

    def where(self) -> Done:
        return _told(here(self._now))

    def find(self, thing: str) -> Done:
        return _told(find(self._now, thing))

    def rooms(self) -> Done:
        return _told(rooms(self._now))

    def go_to(self, place: str) -> Done:
        found = resolve(self._now.scene, self._now.viewpoint, place, self._now.past)
        return self._walk(found, _note(self._now, place, found))

    def go(self, direction: str = "", through_door: bool = False, metres: float = 0.0) -> Done:
        found = way_on(self._now, direction, through_door=through_door, metres=metres)
        return self._walk(found)

    def go_back(self) -> Done:
        now = self._now
        if now.came_from is None:
            return _told({"error": "The robot has not walked yet: there is nowhere to go back to."})
        region = now.scene.viewpoint_by_id[now.came_from].region
        name = room_name(now.scene, region)
        place = Place("spot", now.came_from, name, region, now.came_from, 0.0)
        return self._walk(place)

    def turn(self, direction: str = "", degrees: float = 90.0, towards: str = "") -> Done:
        found = _towards(self._now, towards) if towards else turned(self._now, direction, degrees)
        if isinstance(found, dict):
            return _told(found)
        return _told({"turned": towards or direction}, turn=found)

    def ask_person(self, question: str) -> Done:
        text = paragraph(question, MOST_QUESTION)
        if not text:
            return _told({"error": "The question is empty."})
        return _told({}, question=text)

    def stop(self) -> Done:
        return _told({"stopped": True, "room": room_name(self._now.scene, self._now.room)})

    def _walk(self, found: Place | dict[str, Any], note: str = "") -> Done:
        if isinstance(found, dict):
            return _told(found)
        way = way_to(self._now, found)
        turned = found.face is None or found.face == self._now.heading
        if not way and turned:
            return _told({"arrived": True, "already_there": True, **self._at(found)})
        walk = {"way": way, "place": found.record, "face": found.face, "note": note}
        metres = way_metres(self._now.scene, [self._now.viewpoint, *way])
        return _told({**self._at(found), "metres": metres}, walk=walk)

    def _at(self, place: Place) -> dict[str, Any]:
        return {"place": place.name, "room": room_name(self._now.scene, place.region or None)}


_towards = towards


def _note(now: Now, words: str, found: Place | dict[str, Any]) -> str:
    """That there are more things of that name, where the nearest was taken."""
    if isinstance(found, dict) or found.kind != "thing":
        return ""
    wish = read_wish(words)
    alike = places_named(now.scene, now.viewpoint, wish) if wish.head else []
    others = [place for place in alike if place.id != found.id]
    if not others or wish.nearest or wish.other:
        return ""
    where = list(dict.fromkeys(room_name(now.scene, place.region) for place in others))[:3]
    return f"the nearest of {len(alike)}; others are in the {', the '.join(where)}"
