"""What the rule-based robot says of what was done: where it has been, and how it came."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from navloom.scenes.lexicon import room_types
from navloom.sim.words import enumerated
from navloom.tools.chat.wishes import NUMBERS


def recalled(told: Mapping[str, Any], asked: str) -> str:
    """What was done, in words.

    Args:
        told: what the tool ``recall`` returned.
        asked: what of it: ``did``, ``been``, ``after the kitchen``, ``nth second``.
    """
    room, started = told.get("room"), told.get("started_in")
    did, said = told.get("did") or [], told.get("said") or []
    if asked.startswith("passed "):
        return _passed_by(told, asked.removeprefix("passed "))
    if asked.startswith(("after ", "before ", "nth ")):
        return _in_order(told, *asked.split(" ", 1))
    match asked:
        case "not_seen":
            left = told.get("not_seen") or []
            return f"I have not been in the {enumerated(left)}." if left else "I saw every room."
        case "did":
            return f"I {enumerated(did)}." if did else "I have not moved yet."
        case "came":
            return _way(told)
        case "been":
            went = told.get("went") or []
            if not went:
                return f"I have been nowhere else: I began here, in the {started}."
            passed = [name for name in dict.fromkeys(told["rooms"]) if name not in went]
            by = f", and came by the {enumerated(passed)}" if passed else ""
            return f"I began in the {started}, went to the {enumerated(went)}{by}."
        case "first":
            went = told.get("went") or []
            first = f"; the first place I went to was the {went[0]}" if went else ""
            return f"I began in the {started}{first}."
        case "started":
            return f"I began in the {started}."
        case "going":
            return _goal(told)
        case "left":
            goal, left = told.get("unfinished"), told.get("metres_left")
            return f"It is {left} m more to the {goal}." if goal else "I am not on my way anywhere."
        case "walked":
            walk = told.get("last_walk") or {}
            return f"That was {walk.get('metres', 0)} m; {told.get('metres')} m in all."
        case "said_first":
            return (
                f'The first thing you said was: "{said[0]}".' if said else "You had said nothing."
            )
        case "said":
            return f'You said: "{said[-1]}".' if said else "You had said nothing yet."
    return f"I am in the {room}."


def _passed_by(told: Mapping[str, Any], place: str) -> str:
    """Whether it has been somewhere, on its last walk or ever, or took the stairs."""
    walk = told.get("last_walk") or {}
    if "stair" in place:
        return f"{'Yes, I took the stairs.' if walk.get('storeys') else 'No.'} {_way(told)}"
    ever = [str(room) for room in told.get("rooms") or []]
    if place in ("here", "this room"):
        again = ever.count(str(told.get("room"))) > 1
        return f"{'Yes, I have been here before' if again else 'No, this is the first time'}."
    if _is_among(place, walk.get("rooms") or []):
        return f"Yes, I did. {_way(told)}"
    if _is_among(place, [*ever, *(told.get("went") or [])]):
        return f"Yes, I have been there, at {place}."
    way = _way(told) if len(walk.get("rooms") or []) > 1 else ""
    return f"No, I have not been there. {way}".strip()


def _in_order(told: Mapping[str, Any], when: str, which: str) -> str:
    """Which place it went to as the second one, or after another."""
    went = [str(place) for place in told.get("went") or []]
    if when == "nth":
        number = NUMBERS[which]
        if len(went) <= max(number, 0):
            return (
                f"I have been to {len(went)} places: the {enumerated(went) or 'first is to come'}."
            )
        return f"The {which} place I went to was the {went[number]}."
    places = [str(told.get("started_in")), *went]
    at = [n for n, place in enumerate(places) if _is_among(which, [place])]
    number = (at[-1] + 1 if when == "after" else at[-1] - 1) if at else -1
    if not 0 <= number < len(places):
        return f"I went to no place {when} {which}. {_way(told)}"
    return f"{when.capitalize()} {which} I was in the {places[number]}."


def _is_among(place: str, names: Sequence[str]) -> bool:
    """Whether a room or a thing is one of these, by its name or by what kind of room it is."""
    bare = re.sub(r"^(?:the|my|your|a|an) ", "", place)
    types = room_types(bare)
    return any(bare == name or name in place or types & room_types(name) for name in names)


def _way(told: Mapping[str, Any]) -> str:
    rooms = (told.get("last_walk") or {}).get("rooms") or []
    if len(rooms) < 2:
        began = told.get("started_in")
        return f"I came through no other room: I was in the {rooms[0] if rooms else began} before."
    through = f" through the {enumerated(rooms[1:-1])}" if rooms[1:-1] else ""
    return f"I came from the {rooms[0]}{through} to the {rooms[-1]}: {len(rooms)} rooms."


def _goal(told: Mapping[str, Any]) -> str:
    goal, room, did = told.get("unfinished"), told.get("room"), told.get("did") or []
    if goal:
        return f'I was going to the {goal}, and stopped in the {room}. Say "keep going" to go on.'
    last = f" Last I {did[-1]}." if did else ""
    return f"I am not on my way anywhere; I stand in the {room}.{last}"
