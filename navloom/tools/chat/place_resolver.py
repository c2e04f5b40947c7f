"""Resolve a person's words to one place: by name, by what was talked of, or despite a misspelling.

Where several rooms fit, or a name may be misspelled, the result is a question. Of several items
that fit, the nearest is taken. For a place that does not exist, similar ones are offered.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

from navloom.scenes import lexicon
from navloom.scenes.distances import cached_on_scene, metre_table
from navloom.scenes.scene import Region, Scene
from navloom.sim.caption_composer import join_words, label_phrase, with_article
from navloom.tools.chat.obstructions import explain_barrier
from navloom.tools.chat.place_query import (
    MOST_READ,
    NUMBERS,
    PlaceQuery,
    correct_word,
    is_english,
    is_stop_word,
    lemma_of,
    parse_query,
    split_words,
)
from navloom.tools.chat.places import (
    Place,
    RobotContext,
    adjacent_rooms,
    fits_query,
    floor_area,
    floor_number,
    is_room,
    item_names,
    match_places,
    place_floor,
    restore_place,
    room_name,
    stairs_end,
)
from navloom.tools.model_output import sanitize_line

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


def describe_place(scene: Scene, here: str, place: Place) -> str:
    """Return what tells a place from others of its name: storey, neighbouring rooms, distance."""
    parts = []
    floor = place_floor(scene, place)
    if floor is not None and floor != floor_number(scene, here):
        parts.append("upstairs" if floor > floor_number(scene, here) else "downstairs")
    if place.kind == "thing" and place.region is not None:
        parts.append(f"in the {room_name(scene, place.region)}")
    beside = [room_name(scene, each) for each in adjacent_rooms(scene, place.region or "")]
    if place.kind == "room" and beside:
        parts.append(f"next to the {join_words(list(dict.fromkeys(beside))[:3])}")
    way = f"{place.metres:.0f} m away" if math.isfinite(place.metres) else "no way leads there"
    return ", ".join([*parts, "where I am" if place.metres == 0 else way])


def resolve_place(now: RobotContext, words: str) -> Place | dict[str, Any]:
    """Find the one place that a description means.

    Args:
        now: the robot; "there" means the place talked of last, "the other" means another one.
        words: a description, such as ``the other bedroom``, or a room's id.

    Returns:
        The place; or ``{"which": [...], "question": ...}`` where several rooms fit, or the words
        may hold a slip; or ``{"error": ...}``, one line, where none does.
    """
    if _CAME_FROM.search(words):
        before = [each for each in now.trail if now.scene.viewpoint_by_id[each].region != now.room]
        return _spot(now, before[-1]) if before else {"error": "I have been in this room alone."}
    found = find_places(now, words)
    if isinstance(found, dict):
        return found
    if found[0].kind == "spot":
        return found[0]
    wish = parse_query(words)
    left = other_places(now, found) if wish.other else found
    if not left:
        return {"error": f"There is only one {found[0].name} that I know of here."}
    reached = [place for place in left if place.viewpoint is not None]
    if not reached:
        return {
            "error": f"No way leads from here to the {left[0].name}.{explain_barrier(now, left[0])}"
        }
    if len(reached) == 1 and (thing := _stand_by(now, reached[0], wish)):
        return thing
    one = len(reached) == 1 or wish.nearest or wish.farthest or reached[0].kind != "room"
    if not one:
        return _question(now.scene, now.viewpoint, reached)
    return reached[-1] if wish.farthest else reached[0]


def _stand_by(now: RobotContext, room: Place, wish: PlaceQuery) -> Place | None:
    """Return the item meant by "the study, next to the desk", if the room is unambiguous."""
    if room.kind != "room" or wish.any_room or len(wish.beside) != 1 or wish.opposite:
        return None
    if len(match_places(now.scene, now.viewpoint, PlaceQuery(wish.head))) != 1:
        return None
    near = match_places(now.scene, now.viewpoint, PlaceQuery(wish.beside[0]))
    inside = [place for place in near if place.kind == "thing" and place.region == room.id]
    return inside[0] if inside else None


def _spot(now: RobotContext, viewpoint: str) -> Place:
    region = now.scene.viewpoint_by_id[viewpoint].region
    metres = metre_table(now.scene, "3d").distance(now.viewpoint, viewpoint)
    return Place("spot", viewpoint, room_name(now.scene, region), region, viewpoint, metres)


def find_places(now: RobotContext, words: str) -> list[Place] | dict[str, Any]:
    """Return every place that the words may mean, the nearest first.

    Returns:
        At least one place; or ``which`` or ``error``, as `resolve_place` returns them.
    """
    scene, here, past = now.scene, now.viewpoint, now.past
    if _START.search(words[:MOST_READ].casefold()) and now.trail:
        return [_spot(now, now.trail[0])]
    if words in scene.item_by_id:
        again = restore_place(scene, here, {"kind": "thing", "id": words, "name": words})
        return [again] if again else {"error": "That is gone."}
    if of_several := select_places(now, words[:MOST_READ].casefold()):
        return of_several
    without, words = _THERE.sub("", words), _named_again(now, words)
    wish = parse_query(words)
    if past and wish.any_room and _THAT.search(words):
        # "That room" is the room of the item talked of.
        last = restore_place(scene, here, past[-1])
        record = (
            {"kind": "room", "id": last.region, "name": ""} if last and last.region else past[-1]
        )
        again = restore_place(scene, here, record)
        return [again] if again else report_unknown(now, wish, words)
    if wish.said and past and (place := restore_place(scene, here, past[-1])):
        return [place] if place.id != now.room else _beside_it(now) or [place]
    if wish.floor and not wish.head:
        # "The second floor" means the nearest room on it.
        return match_places(scene, here, replace(wish, head=("room",)))[:1] or {
            "error": _no_floor(scene)
        }
    if not wish.head or _ONE.search(words):
        found = _talked_of(now, wish) or _one_at(now, wish, words)
        # "upstairs" alone is a direction, not a place.
        nothing = "No place was named. Name a room or a thing of this home."
        if found or not wish.head:
            return found or {"error": nothing}
    mended = correct_spelling(scene, words) or words
    return (
        match_places(scene, here, wish)
        or _nearby_of_it(now, words, without)
        or _in_room_of_name(now, wish)
        or _meant(now, words)
        or _named_among(now, wish)
        or report_unknown(now, parse_query(mended), mended)
    )


def _beside_it(now: RobotContext) -> list[Place]:
    """Return the rooms mentioned with the current room, which "there" then means."""
    turn = now.past[-1].get("turn")
    beside = [e for e in now.past if e.get("turn") == turn and not e.get("main", True)]
    return [p for e in beside if (p := restore_place(now.scene, now.viewpoint, e)) is not None]


def lookup_places(now: RobotContext, words: str) -> list[Place] | dict[str, Any]:
    """Return the places of `find_places`, or the candidates if it returns a question."""
    found = find_places(now, words)
    if isinstance(found, list) or "which" not in found:
        return found
    records = [{"kind": "thing", "id": e["place"], "name": e["name"]} for e in found["which"]]
    places = [restore_place(now.scene, now.viewpoint, each) for each in records]
    return [place for place in places if place] or found


def _named_again(now: RobotContext, words: str) -> str:
    """Replace "next to this room" and "next to it" in a description by the names that they mean."""
    words = words[:MOST_READ].casefold()
    if now.room is not None:
        words = _HERE.sub(rf"\1 {now.room.casefold()}", words)
    if now.past:
        last = now.past[-1]
        place = restore_place(now.scene, now.viewpoint, last)
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


def _talked_of(now: RobotContext, wish: PlaceQuery) -> list[Place]:
    """Return the places meant by "the other one", "the nearest" or "the one in the hall"."""
    scene, here, past = now.scene, now.viewpoint, now.past
    if not past:
        return []
    places = last_mentioned(now)
    if len(places) > 1 and not wish.other:
        named = {p.id for p in match_places(scene, here, wish)} if wish.head else set(places)
        fit = [p for p in places.values() if p.id in named and fits_query(scene, here, p, wish)]
        return sorted(fit, key=lambda place: place.metres)
    if wish.head:
        return []
    return match_places(scene, here, replace(wish, head=split_words(str(past[-1]["name"]))))


def _nearby_of_it(now: RobotContext, words: str, without: str) -> list[Place]:
    """Return the items meant by "the fridge in there": those in rooms that were mentioned last."""
    told = last_mentioned(now) if now.past and words != without else {}
    found = match_places(now.scene, now.viewpoint, parse_query(without)) if told else []
    rooms = {place.region for place in told.values()}
    return [place for place in found if place.region in rooms]


def _in_room_of_name(now: RobotContext, wish: PlaceQuery) -> list[Place]:
    """Return the items meant by "the kids room bed" or "the bedroom's wardrobe"."""
    for cut in range(1, len(wish.head)):
        room, thing = wish.head[:cut], wish.head[cut:]
        inside = replace(wish, head=thing, inside=room)
        if is_room(now.scene, room) and (found := match_places(now.scene, now.viewpoint, inside)):
            return found
    return []


def _named_among(now: RobotContext, wish: PlaceQuery) -> list[Place]:
    """Return the places named by the words that are left without common English words."""
    here = scene_vocabulary(now.scene) | lexicon.lexicon_words()
    names = tuple(w for w in wish.head if {w, lemma_of(w)} & here or not is_english(w))
    bare = replace(wish, head=names)
    if not names or names == wish.head or bare.any_room:
        return []
    return match_places(now.scene, now.viewpoint, bare)


def _one_at(now: RobotContext, wish: PlaceQuery, words: str) -> list[Place]:
    """Return the places meant by "the kids room one" or by "the one with a bath"."""
    scene, here, at = now.scene, now.viewpoint, _ONE_AT.match(words)
    if at and now.past:
        named = parse_query(f"{now.past[-1]['name']} in the {at['at']}")
        if found := match_places(scene, here, named):
            return found
    lies = not wish.head and (wish.beside or wish.inside)
    return match_places(scene, here, replace(wish, head=("room",))) if lies else []


def _meant(now: RobotContext, words: str) -> dict[str, Any] | None:
    """Return a question about the places that a misspelled name may mean, or None."""
    mended = correct_spelling(now.scene, words)
    found = resolve_place(now, mended) if mended else {"error": ""}
    if isinstance(found, dict) and "which" not in found:
        return None
    said = sanitize_line(" ".join(parse_query(words).head), 60)
    if isinstance(found, Place):
        which = [_option(now.scene, now.viewpoint, found)]
        return {
            "which": which,
            "question": f"There is no {said} here. Did you mean the {found.name}?",
        }
    return {**found, "question": f"There is no {said} here. {found['question']}"}


def _option(scene: Scene, here: str, place: Place) -> dict[str, Any]:
    return {"place": place.id, "name": place.name, "about": describe_place(scene, here, place)}


def other_places(now: RobotContext, found: list[Place]) -> list[Place]:
    """Return the places other than those just talked of, or than those in the current room.

    Args:
        now: the robot.
        found: the places to filter, the nearest first.
    """
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
    beside = [describe_place(scene, here, place).rpartition(", ")[0] for place in found]
    which = [
        {
            "place": place.id,
            "name": place.name,
            # If neighbouring rooms do not tell the places apart, their furniture may.
            "about": describe_place(scene, here, place)
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


def report_unknown(now: RobotContext, wish: PlaceQuery, words: str) -> dict[str, Any]:
    """Return the error for a name that nothing here has, and offer similar places.

    Returns:
        ``{"error": ...}``, with ``alike``, some places, where there are any.
    """
    scene, here = now.scene, now.viewpoint
    shown = sanitize_line(" ".join(wish.head) or words, 60) or "such place"
    plain = match_places(scene, here, PlaceQuery(wish.head)) if wish.head else []
    if plain:
        there = join_words([describe_place(scene, here, place) for place in plain[:4]])
        return {
            "error": f"There is no such {plain[0].name}; there is one {there}.",
            "alike": [_option(scene, here, place) for place in plain[:4]],
        }
    near = similar_places(scene, here, wish)
    if not near:
        return {"error": f"There is no {shown} here, nor anything like it."}
    listed = join_words([f"{with_article(p.name)} {_in(scene, p)}" for p in near])
    return {
        "error": f"There is no {shown} here. What is like it: {listed}.",
        "alike": [_option(scene, here, place) for place in near],
    }


def _in(scene: Scene, place: Place) -> str:
    if place.kind == "room":
        return f"({place.metres:.0f} m away)"
    return f"in the {room_name(scene, place.region)}"


MOST_ALIKE = 3
_SHORTEST = 3
_SYNONYMS = lexicon.canonical_words("chat_synonyms")


def correct_spelling(scene: Scene, words: str) -> str | None:
    """Correct the words of a description that are unknown here, by the nearest known ones.

    A common English word is not taken for a misspelling, even if nothing here has that name.

    Returns:
        None where there is nothing to correct.

    >>> from navloom.scenes.scene_uri import load_scene
    >>> correct_spelling(load_scene("demo:house"), "the room next to the ktichen")
    'the room next to the kitchen'
    """
    said = list(split_words(words))
    mended = [_mended(scene, word) for word in said]
    return " ".join(mended) if mended != said else None


def _mended(scene: Scene, word: str) -> str:
    here = scene_vocabulary(scene)
    rows = lexicon.word_table("chat_alike").values()
    known = {word, lemma_of(word)} & (here | lexicon.lexicon_words()) or any(
        word in r.split() for r in rows
    )
    if known or is_stop_word(word) or is_english(word) or len(word) < _SHORTEST or word.isdigit():
        return word
    return correct_word(word, here | lexicon.lexicon_words(), preferred=here) or word


@cached_on_scene
def scene_vocabulary(scene: Scene) -> frozenset[str]:
    """Return every word in the names of this scene's rooms and items, synonyms included."""
    here = {word for _, name in item_names(scene) for word in name}
    typed = {each for region in scene.regions for each in lexicon.room_types(region.label)}
    for name in [*lexicon.room_names(typed), *(label_phrase(region) for region in scene.regions)]:
        here.update(split_words(name))
    here.update(word for word, head in _SYNONYMS.items() if head in here)
    return frozenset(word for word in here if len(word) >= _SHORTEST)


def similar_places(scene: Scene, here: str, wish: PlaceQuery) -> list[Place]:
    """Return reachable places similar to a room or item that does not exist, the nearest first.

    Args:
        scene: the home.
        here: the viewpoint the robot stands on.
        wish: what was asked for; its location is ignored where nothing similar lies there.

    Returns:
        At most ``MOST_ALIKE``, the nearest one of each name.
    """
    names = _same_row(wish.head)
    if len(wish.head) > 1:
        # A "garden chair" that is not there is like another chair.
        names.append((wish.head[-1],))
    found: dict[str, Place] = {}
    for name in names:
        for place in match_places(scene, here, replace(wish, head=name)) or match_places(
            scene, here, PlaceQuery(name)
        ):
            if place.viewpoint is not None:
                found.setdefault(place.name, place)
                break
    return sorted(found.values(), key=lambda place: place.metres)[:MOST_ALIKE]


def _same_row(head: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the other names in the rows of a name, or in those of its last word."""
    for said in ("_".join(head), "_".join(lemma_of(w) for w in head), *map(lemma_of, head[-1:])):
        rows = [row.split() for row in lexicon.word_table("chat_alike").values()]
        fit = [row for row in rows if said in row]
        if fit:
            return [tuple(name.split("_")) for row in fit for name in row if name != said]
    return []


_COUNT = rf"(?P<nth>{'|'.join(NUMBERS)})"
_NTH = re.compile(
    rf"^(?:the )?{_COUNT}(?: (?:one|ones|thing|place|room|of (?:them|these|those)))?$"
)
_NTH_ROOM = re.compile(rf"^(?:the )?{_COUNT} room(?P<at> .+)?$")
_NTH_NEAREST = re.compile(rf"^(?:the )?{_COUNT} (?:nearest|closest) (?P<of>.+)$")
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
_HERE_ALONE = re.compile(r"^(?:in )?(?:here|there|this (?:room|place)|this)$")


def select_places(now: RobotContext, words: str) -> list[Place] | dict[str, Any]:
    """Return the places meant by "the second one", "a room not seen" or "the study or the hall".

    Returns:
        The nearest first, or ``{"error": ...}``; an empty list where the words have another form.
    """
    if _UNSEEN.match(words):
        seen = {now.scene.viewpoint_by_id[each].region for each in now.trail}
        return _rooms_but(now, seen) or {"error": "I have been in every room that I can reach."}
    if end := _STAIRS_END.match(words):
        return stairs_end(now.scene, now.viewpoint, top=end["end"] in _TOP)
    if _THAT_ONE.match(words) and (named := _compared(now)):
        return named
    if (sized := _SIZED.match(words)) and now.past:
        told = [place for place in recent_mentions(now) if place.kind == "room"]
        chosen = min if sized["how"] == "smaller" else max
        rooms_of = now.scene.region_by_id
        return [chosen(told, key=lambda p: floor_area(rooms_of[p.id]))] if len(told) > 1 else []
    return _either(now, words) or _counted(now, words) or _nth_of_all(now, words)


def _compared(now: RobotContext) -> list[Place]:
    """Return the place that the last question found to be nearer, or farther, of two."""
    said, calls = next((turn for turn in reversed(now.turns[:-1]) if turn[1]), ("", ()))
    by = _COMPARES.search(said[:MOST_READ].casefold())
    told = [*last_mentioned(now).values()] if by and now.past else []
    if len(told) < 2 or [tool for tool, _, _ in calls].count("find") < 2:
        return []
    found = sorted(told, key=lambda place: place.metres)
    return found[-1:] if by and by["far"] else found[:1]


def last_mentioned(now: RobotContext) -> dict[str, Place]:
    """Return the places mentioned in the latest turn that mentioned any, by id, in order."""
    last = now.past[-1].get("turn")
    told = [each for each in now.past if each.get("turn") == last]
    group = [restore_place(now.scene, now.viewpoint, each) for each in told]
    return {place.id: place for place in group if place}


def recent_mentions(now: RobotContext) -> list[Place]:
    """Return the main place of each of the latest consecutive turns, the earliest first."""
    found: list[Any] = []
    turn = None
    for each in reversed(now.past):
        at = each.get("turn")
        if turn is not None and at is not None and turn - at > 1:
            break
        turn = at if at is not None else turn
        if each.get("main", True):
            found.append(each)
    places = [restore_place(now.scene, now.viewpoint, each) for each in reversed(found)]
    return [*{place.id: place for place in places if place}.values()]


def _all_of(now: RobotContext, words: str) -> list[Place]:
    if _HERE_ALONE.match(words):
        return []
    return match_places(now.scene, now.viewpoint, parse_query(words))


def _rooms_but(now: RobotContext, but: set[str | None]) -> list[Place]:
    """Return the nearest reachable room that is neither the current one nor in ``but``."""
    left = [r for r in now.scene.regions if r.id not in but and r.id != now.room]
    places = [_place_of(now, region) for region in left]
    reached = [place for place in places if place and place.viewpoint is not None]
    return sorted(reached, key=lambda place: place.metres)[:1]


def _place_of(now: RobotContext, region: Region) -> Place | None:
    return restore_place(now.scene, now.viewpoint, {"kind": "room", "id": region.id, "name": ""})


def _either(now: RobotContext, words: str) -> list[Place]:
    """Return the places of "the study or the hall", one for each name, the nearer one first."""
    each = [_all_of(now, name.strip(" ,")) for name in words.split(" or ")]
    if len(each) < 2 or not all(each):
        return []
    return sorted((places[0] for places in each), key=lambda place: place.metres)


def _counted(now: RobotContext, words: str) -> list[Place]:
    """Return the place that "the second one" means, of the places listed or mentioned last."""
    nth = _NTH.match(words)
    if nth is None:
        return []
    listed = _listed(now)
    if not listed and now.past:
        last = now.past[-1].get("turn")
        told = [each for each in now.past if each.get("turn") == last]
        again = [restore_place(now.scene, now.viewpoint, each) for each in told]
        mains = sum(bool(each.get("main", True)) for each in told)
        # The main place of one answer comes last. Several answers have one main place each.
        group = {place.id: place for place in (again if mains > 1 else again[::-1]) if place}
        main = {str(each["id"]) for each in told if each.get("main", True)}
        listed = [p for p in group.values() if mains < 2 or p.id in main]
        listed = listed if len(listed) > 1 else recent_mentions(now)
    return _at(listed, NUMBERS[nth["nth"]])


def _listed(now: RobotContext) -> list[Place]:
    """Return the rooms that the last answer listed, in that order."""
    said, calls = now.turns[-2] if len(now.turns) > 1 else ("", ())
    if not any(tool == "rooms" for tool, _, _ in calls):
        return []
    return _rooms_at(now, said)


def _rooms_at(now: RobotContext, said: str) -> list[Place]:
    """Return every room, or those on the storey that the words name."""
    wish, here = parse_query(said), floor_number(now.scene, now.viewpoint)
    kept = []
    for region in now.scene.regions:
        above = {"up": region.floor > here, "down": region.floor < here, "": True}
        fits = above[wish.storey] and wish.floor in (None, region.floor)
        place = _place_of(now, region) if fits else None
        kept += [place] if place else []
    return kept or (_rooms_at(now, "") if said else [])


def _nth_of_all(now: RobotContext, words: str) -> list[Place]:
    """Return the places that "the second closest bookshelf" and "the third room upstairs" mean."""
    if nth := _NTH_NEAREST.match(words):
        found = match_places(now.scene, now.viewpoint, parse_query(nth["of"]))
        return _at(found, NUMBERS[nth["nth"]])
    if nth := _NTH_ROOM.match(words):
        wish = parse_query(nth["at"] or "")
        if not nth["at"] or wish.storey or wish.floor:
            return _at(_rooms_at(now, nth["at"] or ""), NUMBERS[nth["nth"]])
    return []


def _at(places: list[Place], number: int) -> list[Place]:
    return [places[number]] if len(places) > max(number, 0) else []
