"""Which of several is meant by its place in a row: of what was named, of rooms listed, of ways."""

from __future__ import annotations

import re
from typing import Any

from navloom.scenes.scene import Region
from navloom.tools.chat.places import (
    Place,
    floor_area,
    floor_number,
    place_again,
    places_named,
    room_name,
    stairs_end,
)
from navloom.tools.chat.robot import Now
from navloom.tools.chat.wishes import MOST_READ, NUMBERS, read_wish

_COUNT = rf"(?P<nth>{'|'.join(NUMBERS)})"
_NTH = re.compile(
    rf"^(?:the )?{_COUNT}(?: (?:one|ones|thing|place|room|of (?:them|these|those)))?$"
)
_NTH_ROOM = re.compile(rf"^(?:the )?{_COUNT} room(?P<at> .+)?$")
_NTH_NEAREST = re.compile(rf"^(?:the )?{_COUNT} (?:nearest|closest) (?P<of>.+)$")
_NTH_SAID = re.compile(
    rf"^(?:the )?{_COUNT} (?P<kind>[a-z]+) of (?:the (?P<orders>orders)|those mentioned)$"
)
_STAIRS_END = re.compile(
    r"^(?:to |at |the |very )*(?P<end>top|head|upper end|bottom|foot|base|lower end) of "
    r"(?:the |my )?(?:stairs|staircase|stairway|stairwell|steps)$"
)
_TOP = ("top", "head", "upper end")
_THAT_ONE = re.compile(
    r"^(?:to |the )?(?:that|this|that one|this one|it|there|that (?:room|place))$"
)
_COMPARES = re.compile(r"\b(?:(?:near|clos)(?:er|est)|(?P<far>(?:farth|furth)(?:er|est)))\b")
_SIZED = re.compile(
    r"^(?:the )?(?P<how>bigger|larger|smaller)(?: one| room)?(?: of (?:them|the two))?$"
)
_UNSEEN = re.compile(r"^(?:a |the |any )?(?:nearest )?room not seen$")
_ELSEWHERE = re.compile(r"^elsewhere than (?P<of>.+)$")
_CLOSER = re.compile(r"^(?P<a>.*?) ?\b(?:the )?closer of them\b ?(?P<b>.*)$")
_HERE = re.compile(r"^(?:in )?(?:here|there|this (?:room|place)|this)$")


def picked(now: Now, words: str) -> list[Place] | dict[str, Any]:
    """The places that "the second one", "a room not seen" or "the study or the hall" mean.

    Returns:
        The nearest first, or ``{"error": ...}``; an empty list where the words are none of these.
    """
    if _UNSEEN.match(words):
        seen = {now.scene.viewpoint_by_id[each].region for each in now.trail}
        return _rooms_but(now, seen) or {"error": "I have been in every room that I can reach."}
    if elsewhere := _ELSEWHERE.match(words):
        return _rooms_but(now, {place.region for place in _all_of(now, elsewhere["of"])})
    if nth := _NTH_SAID.match(words):
        rooms = nth["kind"] == "room"
        said = _ordered(now) if nth["orders"] else _mentioned(now, rooms=rooms)
        return _at(said, NUMBERS[nth["nth"]]) or {"error": "You have named no place yet."}
    if end := _STAIRS_END.match(words):
        return stairs_end(now.scene, now.viewpoint, top=end["end"] in _TOP)
    if _THAT_ONE.match(words) and (named := _compared(now)):
        return named
    if (sized := _SIZED.match(words)) and now.past:
        told = [place for place in named_in_a_row(now) if place.kind == "room"]
        chosen = min if sized["how"] == "smaller" else max
        rooms_of = now.scene.region_by_id
        return [chosen(told, key=lambda p: floor_area(rooms_of[p.id]))] if len(told) > 1 else []
    return _closer(now, words) or _counted(now, words) or _nth_of_all(now, words)


def _mentioned(now: Now, *, rooms: bool = False) -> list[Place]:
    """What the conversation was about, one place each, the earliest first."""
    told = [each for each in now.past if each.get("main", True)]
    places = [place_again(now.scene, now.viewpoint, each) for each in told]
    named = {p.id: p for p in places if p and (p.kind == "room" or not rooms)}
    return [*named.values()]


def _ordered(now: Now) -> list[Place]:
    """Where it was sent and came to, the earliest first."""
    places = {(p.name, room_name(now.scene, p.region)): p for p in reversed(_mentioned(now))}
    arrived = [
        places.get((str(told.get("place")), str(told.get("room"))))
        for _, calls in now.turns
        for tool, _, told in calls
        if tool in ("go_to", "go_on") and told.get("arrived")
    ]
    return [*{place.id: place for place in arrived if place}.values()]


def _compared(now: Now) -> list[Place]:
    """The one that was said to be nearer, or farther, where the last question compared two."""
    said, calls = next((turn for turn in reversed(now.turns[:-1]) if turn[1]), ("", ()))
    by = _COMPARES.search(said[:MOST_READ].casefold())
    told = [*last_told(now).values()] if by and now.past else []
    if len(told) < 2 or [tool for tool, _, _ in calls].count("find") < 2:
        return []
    found = sorted(told, key=lambda place: place.metres)
    return found[-1:] if by and by["far"] else found[:1]


def last_told(now: Now) -> dict[str, Place]:
    """By their ids the places that the last turn about any was about, as they were told."""
    last = now.past[-1].get("turn")
    told = [each for each in now.past if each.get("turn") == last]
    group = [place_again(now.scene, now.viewpoint, each) for each in told]
    return {place.id: place for place in group if place}


def named_in_a_row(now: Now) -> list[Place]:
    """What the latest turns were about, one place each, the earliest first."""
    found: list[Any] = []
    turn = None
    for each in reversed(now.past):
        at = each.get("turn")
        if turn is not None and at is not None and turn - at > 1:
            break
        turn = at if at is not None else turn
        if each.get("main", True):
            found.append(each)
    places = [place_again(now.scene, now.viewpoint, each) for each in reversed(found)]
    return [*{place.id: place for place in places if place}.values()]


def _all_of(now: Now, words: str) -> list[Place]:
    return [] if _HERE.match(words) else places_named(now.scene, now.viewpoint, read_wish(words))


def _rooms_but(now: Now, but: set[str | None]) -> list[Place]:
    """The room nearest by, of those that it is not in and that are none of these."""
    left = [r for r in now.scene.regions if r.id not in but and r.id != now.room]
    places = [_place_of(now, region) for region in left]
    reached = [place for place in places if place and place.viewpoint is not None]
    return sorted(reached, key=lambda place: place.metres)[:1]


def _place_of(now: Now, region: Region) -> Place | None:
    return place_again(now.scene, now.viewpoint, {"kind": "room", "id": region.id, "name": ""})


def _closer(now: Now, words: str) -> list[Place]:
    """The nearest of two that are named, or were named before; both where none is to be chosen."""
    closer = _CLOSER.match(words)
    named = f"{closer['a']}{closer['b']}" if closer else words
    if " or " not in named:
        told = named_in_a_row(now) if closer and now.past else []
        return sorted(told, key=lambda place: place.metres)[:1] if len(told) > 1 else []
    each = [_all_of(now, name.strip(" ,")) for name in named.split(" or ")]
    if not all(each):
        return []
    both = sorted((places[0] for places in each), key=lambda place: place.metres)
    return both[:1] if closer else both


def _counted(now: Now, words: str) -> list[Place]:
    """What "the second one" means: of rooms just listed, of what was named last, or in a row."""
    nth = _NTH.match(words)
    if nth is None:
        return []
    listed = _listed(now)
    if not listed and now.past:
        last = now.past[-1].get("turn")
        told = [each for each in now.past if each.get("turn") == last]
        again = [place_again(now.scene, now.viewpoint, each) for each in told]
        mains = sum(bool(each.get("main", True)) for each in told)
        # Of one answer the main place comes last; of several each one's.
        group = {place.id: place for place in (again if mains > 1 else again[::-1]) if place}
        main = {str(each["id"]) for each in told if each.get("main", True)}
        listed = [p for p in group.values() if mains < 2 or p.id in main]
        listed = listed if len(listed) > 1 else named_in_a_row(now)
    return _at(listed, NUMBERS[nth["nth"]])


def _listed(now: Now) -> list[Place]:
    """The rooms that the last answer listed, in that order."""
    said, calls = now.turns[-2] if len(now.turns) > 1 else ("", ())
    if not any(tool == "rooms" for tool, _, _ in calls):
        return []
    return _rooms_at(now, said)


def _rooms_at(now: Now, said: str) -> list[Place]:
    """Every room, or those of the storey that words name."""
    wish, here = read_wish(said), floor_number(now.scene, now.viewpoint)
    kept = []
    for region in now.scene.regions:
        above = {"up": region.floor > here, "down": region.floor < here, "": True}
        fits = above[wish.storey] and wish.floor in (None, region.floor)
        place = _place_of(now, region) if fits else None
        kept += [place] if place else []
    return kept or (_rooms_at(now, "") if said else [])


def _nth_of_all(now: Now, words: str) -> list[Place]:
    """What "the second closest bookshelf" and "the third room upstairs" mean."""
    if nth := _NTH_NEAREST.match(words):
        found = places_named(now.scene, now.viewpoint, read_wish(nth["of"]))
        return _at(found, NUMBERS[nth["nth"]])
    if nth := _NTH_ROOM.match(words):
        wish = read_wish(nth["at"] or "")
        if not nth["at"] or wish.storey or wish.floor:
            return _at(_rooms_at(now, nth["at"] or ""), NUMBERS[nth["nth"]])
    return []


def _at(places: list[Place], number: int) -> list[Place]:
    return [places[number]] if len(places) > max(number, 0) else []
