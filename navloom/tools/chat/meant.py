"""The one place that is meant by a person's words: by name, by what was talked of, nearly so.

Several rooms that fit are a question, and so is a name with a slip in it; of several things that
fit the nearest is taken. What is not there is answered with what is like it.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

from navloom.scenes.distances import metre_table
from navloom.scenes.lexicon import known_words
from navloom.scenes.scene import Scene
from navloom.sim.words import enumerated, with_article
from navloom.tools.chat.alike import alike, respelled, vocabulary
from navloom.tools.chat.barriers import why_barred
from navloom.tools.chat.english import is_english
from navloom.tools.chat.opposite import neighbours
from navloom.tools.chat.picked import last_told, picked
from navloom.tools.chat.places import (
    Place,
    floor_number,
    is_room,
    narrowed,
    place_again,
    place_floor,
    places_named,
    room_name,
)
from navloom.tools.chat.robot import Now
from navloom.tools.chat.wishes import MOST_READ, Wish, canon, read_wish, words_of
from navloom.tools.forms import paragraph

_START = re.compile(
    r"\b(?:start(?:ed|ing)?|beg[aiu]n(?:ning)?|set out|were (?:at )?first|originally)\b"
)
_CAME_FROM = re.compile(r"^the room you (?:came from|just left)$")
_THAT = re.compile(r"^(?:to |in |into )?(?:that|the same|this) (?:room|place)$")
_ONE = re.compile(r"\bones?\b")
_ONE_AT = re.compile(r"^(?:the |that )?(?P<at>[a-z ]+) ones?$")
_BY = r"(next to|near(?:est)?(?: to)?|beside|by|behind|opposite|in|inside|on|from|of|to|with)"
_HERE = re.compile(
    rf"\b{_BY} (?:here|this|this one|this (?:room|place)|(?:the room )?where you are)\b"
)
_THERE = re.compile(r" (?:in|inside) (?:there|it|that (?:room|place)|that one)$")
_IT = re.compile(rf"\b{_BY} (?:that (room|place)|that one|it|that|them|there)\b")


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


def resolve(now: Now, words: str) -> Place | dict[str, Any]:
    """Find the one place that is meant.

    Args:
        now: the robot; "the other" is a place that was not the last one talked of, "there" is.
        words: a description, such as ``the other bedroom``, or a room's id.

    Returns:
        The place; or ``{"which": [...], "question": ...}`` where several rooms fit, or the words
        may hold a slip; or ``{"error": ...}``, one line, where none does.
    """
    if _CAME_FROM.search(words):
        before = [each for each in now.trail if now.scene.viewpoint_by_id[each].region != now.room]
        return _spot(now, before[-1]) if before else {"error": "I have been in this room alone."}
    found = found_by(now, words)
    if isinstance(found, dict):
        return found
    if found[0].kind == "spot":
        return found[0]
    wish = read_wish(words)
    left = others_of(now, found) if wish.other else found
    if not left:
        return {"error": f"There is only one {found[0].name} that I know of here."}
    reached = [place for place in left if place.viewpoint is not None]
    if not reached:
        return {"error": f"No way leads from here to the {left[0].name}.{why_barred(now, left[0])}"}
    if len(reached) == 1 and (thing := _stand_by(now, reached[0], wish)):
        return thing
    one = len(reached) == 1 or wish.nearest or wish.farthest or reached[0].kind != "room"
    if not one:
        return _question(now.scene, now.viewpoint, reached)
    return reached[-1] if wish.farthest else reached[0]


def _stand_by(now: Now, room: Place, wish: Wish) -> Place | None:
    """What "the study, next to the desk" means: the thing, where the room was plain by its name."""
    if room.kind != "room" or wish.any_room or len(wish.beside) != 1 or wish.opposite:
        return None
    if len(places_named(now.scene, now.viewpoint, Wish(wish.head))) != 1:
        return None
    near = places_named(now.scene, now.viewpoint, Wish(wish.beside[0]))
    inside = [place for place in near if place.kind == "thing" and place.region == room.id]
    return inside[0] if inside else None


def _spot(now: Now, viewpoint: str) -> Place:
    region = now.scene.viewpoint_by_id[viewpoint].region
    metres = metre_table(now.scene, "3d").distance(now.viewpoint, viewpoint)
    return Place("spot", viewpoint, room_name(now.scene, region), region, viewpoint, metres)


def found_by(now: Now, words: str) -> list[Place] | dict[str, Any]:
    """Every place that words may mean, the nearest first.

    Returns:
        At least one; or ``which`` or ``error``, as `resolve` gives them.
    """
    scene, here, past = now.scene, now.viewpoint, now.past
    if _START.search(words[:MOST_READ].casefold()) and now.trail:
        return [_spot(now, now.trail[0])]
    if words in scene.item_by_id:
        again = place_again(scene, here, {"kind": "thing", "id": words, "name": words})
        return [again] if again else {"error": "That is gone."}
    if of_several := picked(now, words[:MOST_READ].casefold()):
        return of_several
    without, words = _THERE.sub("", words), _named_again(now, words)
    wish = read_wish(words)
    if past and wish.any_room and _THAT.search(words):
        # "That room": where the thing is that was talked of.
        last = place_again(scene, here, past[-1])
        record = (
            {"kind": "room", "id": last.region, "name": ""} if last and last.region else past[-1]
        )
        again = place_again(scene, here, record)
        return [again] if again else unknown(now, wish, words)
    if wish.said and past and (place := place_again(scene, here, past[-1])):
        return [place] if place.id != now.room else _beside_it(now) or [place]
    if wish.floor and not wish.head:
        # "The second floor" is where one comes to there.
        return places_named(scene, here, replace(wish, head=("room",)))[:1] or {
            "error": _no_floor(scene)
        }
    if not wish.head or _ONE.search(words):
        found = _talked_of(now, wish) or _one_at(now, wish, words)
        # "upstairs" alone is a direction, not a place.
        nothing = "No place was named. Name a room or a thing of this home."
        if found or not wish.head:
            return found or {"error": nothing}
    mended = respelled(scene, words) or words
    return (
        places_named(scene, here, wish)
        or _nearby_of_it(now, words, without)
        or _in_room_of_name(now, wish)
        or _meant(now, words)
        or _named_among(now, wish)
        or unknown(now, read_wish(mended), mended)
    )


def _beside_it(now: Now) -> list[Place]:
    """What "there" means of the room it is in, where rooms next to it were told of: those."""
    turn = now.past[-1].get("turn")
    beside = [e for e in now.past if e.get("turn") == turn and not e.get("main", True)]
    return [p for e in beside if (p := place_again(now.scene, now.viewpoint, e)) is not None]


def asked_about(now: Now, words: str) -> list[Place] | dict[str, Any]:
    """What `found_by` finds; a question is answered where no more than a slip is in the way."""
    found = found_by(now, words)
    if isinstance(found, list) or "which" not in found:
        return found
    records = [
        {"kind": "thing", "id": each["place"], "name": each["name"]} for each in found["which"]
    ]
    places = [place_again(now.scene, now.viewpoint, each) for each in records]
    return [place for place in places if place] or found


def _named_again(now: Now, words: str) -> str:
    """A description in which "next to this room" and "next to it" name what they mean."""
    words = words[:MOST_READ].casefold()
    if now.room is not None:
        words = _HERE.sub(rf"\1 {now.room.casefold()}", words)
    if now.past:
        last = now.past[-1]
        place = place_again(now.scene, now.viewpoint, last)
        room = str(place.region if place else None)
        name = room if last["kind"] == "room" else str(last["name"])
        at = {"in": room, "inside": room}
        words = _IT.sub(
            lambda found: f"{found[1]} {room if found[2] else at.get(found[1], name)}".casefold(),
            words,
        )
    return words


def _no_floor(scene: Scene) -> str:
    floors = len({region.floor for region in scene.regions})
    return "This home has one floor." if floors == 1 else f"This home has {floors} floors."


def _talked_of(now: Now, wish: Wish) -> list[Place]:
    """What "the other one", "the nearest" or "the one in the hall" means: of what was talked of."""
    scene, here, past = now.scene, now.viewpoint, now.past
    if not past:
        return []
    places = last_told(now)
    if len(places) > 1 and not wish.other:
        named = (
            {place.id for place in places_named(scene, here, wish)} if wish.head else set(places)
        )
        fit = [p for p in places.values() if p.id in named and narrowed(scene, here, p, wish)]
        return sorted(fit, key=lambda place: place.metres)
    if wish.head:
        return []
    return places_named(scene, here, replace(wish, head=words_of(str(past[-1]["name"]))))


def _nearby_of_it(now: Now, words: str, without: str) -> list[Place]:
    """What "the fridge in there" means where none is: one in a room that was named beside it."""
    told = last_told(now) if now.past and words != without else {}
    found = places_named(now.scene, now.viewpoint, read_wish(without)) if told else []
    rooms = {place.region for place in told.values()}
    return [place for place in found if place.region in rooms]


def _in_room_of_name(now: Now, wish: Wish) -> list[Place]:
    """What "the kids room bed" and "the bedroom's wardrobe" mean: a thing in a room."""
    for cut in range(1, len(wish.head)):
        room, thing = wish.head[:cut], wish.head[cut:]
        inside = replace(wish, head=thing, inside=room)
        if is_room(now.scene, room) and (found := places_named(now.scene, now.viewpoint, inside)):
            return found
    return []


def _named_among(now: Now, wish: Wish) -> list[Place]:
    """What is named among words of English that name nothing, here or anywhere."""
    here = vocabulary(now.scene) | known_words()
    names = tuple(w for w in wish.head if {w, canon(w)} & here or not is_english(w))
    bare = replace(wish, head=names)
    if not names or names == wish.head or bare.any_room:
        return []
    return places_named(now.scene, now.viewpoint, bare)


def _one_at(now: Now, wish: Wish, words: str) -> list[Place]:
    """What "the kids room one" means of what was talked of last, "the one with a bath" of rooms."""
    scene, here, at = now.scene, now.viewpoint, _ONE_AT.match(words)
    if at and now.past:
        named = read_wish(f"{now.past[-1]['name']} in the {at['at']}")
        if found := places_named(scene, here, named):
            return found
    lies = not wish.head and (wish.beside or wish.inside)
    return places_named(scene, here, replace(wish, head=("room",))) if lies else []


def _meant(now: Now, words: str) -> dict[str, Any] | None:
    """What was meant by a name with a slip in it: asked, before a step is made."""
    mended = respelled(now.scene, words)
    found = resolve(now, mended) if mended else {"error": ""}
    if isinstance(found, dict) and "which" not in found:
        return None
    said = paragraph(" ".join(read_wish(words).head), 60)
    if isinstance(found, Place):
        which = [_option(now.scene, now.viewpoint, found)]
        return {
            "which": which,
            "question": f"There is no {said} here. Did you mean the {found.name}?",
        }
    return {**found, "question": f"There is no {said} here. {found['question']}"}


def _option(scene: Scene, here: str, place: Place) -> dict[str, Any]:
    return {"place": place.id, "name": place.name, "about": about(scene, here, place)}


def others_of(now: Now, found: list[Place]) -> list[Place]:
    """Of places those that were not the last ones talked of in a row, or not the one it is at."""
    ids, refused = {place.id for place in found}, set[str]()
    past = [each for each in now.past if each.get("main", True)]
    for before in reversed(past):
        if before["id"] not in ids:
            break
        refused.add(str(before["id"]))
    if not refused:
        refused = {place.id for place in found if place.region == now.room} or {found[0].id}
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
    named = len(names) > 1
    what = f"{names.pop()}s" if len(names) == 1 else "rooms that fit"
    told = "; ".join(
        f"{number}: {'the ' + each['name'] + ', ' if named else ''}{each['about']}"
        for number, each in enumerate(which, 1)
    )
    return {"which": which, "question": f"There are {len(found)} {what}. Which one? {told}."}


def _with(scene: Scene, place: Place) -> str:
    assets = scene.items_in(place.id, "asset")
    largest = max(assets, key=lambda item: math.prod(item.size or (0, 0, 0)), default=None)
    if largest is None:
        return ""
    return f", with {with_article(largest.prompt_name.replace('_', ' ')[:60])}"


def unknown(now: Now, wish: Wish, words: str) -> dict[str, Any]:
    """Say that nothing of that name is here, and offer what is like it.

    Returns:
        ``{"error": ...}``, with ``alike``, some places, where there are any.
    """
    scene, here = now.scene, now.viewpoint
    shown = paragraph(" ".join(wish.head) or words, 60) or "such place"
    plain = places_named(scene, here, Wish(wish.head)) if wish.head else []
    if plain:
        there = enumerated([about(scene, here, place) for place in plain[:4]])
        return {
            "error": f"There is no such {plain[0].name}; there is one {there}.",
            "alike": [_option(scene, here, place) for place in plain[:4]],
        }
    near = alike(scene, here, wish)
    if not near:
        return {"error": f"There is no {shown} here, nor anything like it."}
    listed = enumerated([f"{with_article(p.name)} {_in(scene, p)}" for p in near])
    return {
        "error": f"There is no {shown} here. What is like it: {listed}.",
        "alike": [_option(scene, here, place) for place in near],
    }


def _in(scene: Scene, place: Place) -> str:
    if place.kind == "room":
        return f"({place.metres:.0f} m away)"
    return f"in the {room_name(scene, place.region)}"
