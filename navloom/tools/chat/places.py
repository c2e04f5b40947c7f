"""Which rooms and things of a home a person's words name, and where a robot stands to be there.

    the other bedroom               head "bedroom", other
    the table next to the window    head "table", beside "window"
    the bathroom upstairs           head "bathroom", storey "up"

Words are a stranger's: they are cut, brought to plain letters and digits, and only ever compared.
A room means the viewpoint nearest to its centre, a thing the viewpoint nearest to it in its own
room. Room names go through the lexicon's types, so that "office" finds the study.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from navloom.scenes.distances import heading_to, metre_table, per_scene
from navloom.scenes.lexicon import canons, room_types, word_table
from navloom.scenes.scene import Item, Region, Scene, Viewpoint, distance_2d
from navloom.sim.words import label_words

MOST_READ = 200
"""Characters of a description that are read."""
_WORD = re.compile(r"[0-9a-z]+")
_EMPTY = frozenset(word_table("idle")["chat"].split())
_CANON = canons("chat_synonyms")
_OTHER = frozenset(["other", "another", "different", "else"])
_NEAREST = frozenset(["nearest", "closest", "nearer", "closer"])
_FARTHEST = frozenset(["farthest", "furthest", "farther", "further"])
_STOREYS: dict[str, Literal["up", "down"]] = {
    "upstairs": "up", "upper": "up", "above": "up",
    "downstairs": "down", "lower": "down", "below": "down",
}  # fmt: skip
_BESIDE = frozenset(["beside", "by", "near", "with", "opposite", "behind"])
_INSIDE = frozenset(["in", "inside", "of"])
_SIDES = frozenset(["left", "right", "ahead"])
_ORDINALS = {"ground": 1, "first": 1, "second": 2, "third": 3, "fourth": 4}
_STAIRS = frozenset({"stair", "staircase", "stairway", "steps"})
_KIN = {
    "Lounge / Waiting Room": "Living Room",
    "Media Room / Home Theater": "Living Room",
    "Entryway / Foyer": "Hallway / Corridor",
    "Hallway / Corridor": "Entryway / Foyer",
    "Library": "Study / Office",
    "Dressing Room": "Closet / Storage Room",
}
"""What people call a room that the scene calls something else."""
Past: TypeAlias = Sequence[Mapping[str, Any]]
"""Where the robot was sent before, the latest last: ``kind``, ``id`` and ``name``."""


@dataclass(frozen=True, slots=True)
class Wish:
    """A description of a place, read.

    Attributes:
        head: what it is, in plain words without articles; empty for "the other one".
        beside: what it is next to, or has in it; empty where nothing was said.
        inside: the room a thing is in.
        other: not the last one.
        nearest: any will do, the nearest at best.
        farthest: the one furthest away.
        storey: on a floor above or below.
        floor: on this floor.
    """

    head: tuple[str, ...]
    beside: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()
    other: bool = False
    nearest: bool = False
    farthest: bool = False
    storey: Literal["up", "down", ""] = ""
    floor: int | None = None


def words_of(text: str) -> tuple[str, ...]:
    """The plain words of a text, cut at ``MOST_READ`` characters.

    >>> words_of("Kids_room_10, please!")
    ('kids', 'room', '10', 'please')
    """
    return tuple(_WORD.findall(text[:MOST_READ].casefold()))


@lru_cache(maxsize=4096)
def canon(word: str) -> str:
    """A word without its plural, and the name we use for what it means.

    >>> canon("sofas"), canon("glass"), canon("shelves")
    ('couch', 'glass', 'shelf')
    """
    if word in _CANON:
        return _CANON[word]
    if word.endswith("ves") and len(word) > 4:
        word = f"{word[:-3]}f"
    elif word.endswith(("ches", "shes", "xes", "sses")):
        word = word[:-2]
    elif len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    return _CANON.get(word, word)


def read_wish(text: str) -> Wish:
    """Read a description of a place.

    >>> read_wish("the other bedroom")
    Wish(head=('bedroom',), beside=(), inside=(), other=True, nearest=False, farthest=False, \
storey='', floor=None)
    """
    words, floor = _floor(words_of(text))
    parts: dict[str, list[str]] = {"head": [], "beside": [], "inside": []}
    part = "head"
    for place, word in enumerate(words):
        following = words[place + 1] if place + 1 < len(words) else ""
        if word in _BESIDE or (word in ("next", "close", "adjacent") and following == "to"):
            part = "beside"
        elif word in _INSIDE:
            part = "inside"
        elif word == "on" and _SIDES & set(words[place + 1 : place + 4]):
            break
        elif word not in _EMPTY:
            parts[part].append(word)
    said = set(parts["head"]) | set(parts["inside"])
    told = _OTHER | _NEAREST | _FARTHEST | set(_STOREYS)
    storey = next((_STOREYS[word] for word in words if word in _STOREYS), "")
    return Wish(
        head=tuple(word for word in parts["head"] if word not in told),
        beside=tuple(word for word in parts["beside"] if word not in told),
        inside=tuple(word for word in parts["inside"] if word not in told),
        other=bool(said & _OTHER),
        nearest=bool(said & _NEAREST),
        farthest=bool(said & _FARTHEST),
        storey=storey,  # type: ignore[arg-type]
        floor=floor,
    )


def _floor(words: tuple[str, ...]) -> tuple[tuple[str, ...], int | None]:
    """The words without "on floor 2" or "on the second floor", and that floor."""
    for place, word in enumerate(words):
        if word != "floor":
            continue
        before = words[place - 1] if place else ""
        after = words[place + 1] if place + 1 < len(words) else ""
        if before in _ORDINALS:
            return _without_on(words[: place - 1]) + words[place + 1 :], _ORDINALS[before]
        if after.isdigit() and len(after) < 3:
            return _without_on(words[:place]) + words[place + 2 :], int(after)
    return words, None


def _without_on(words: tuple[str, ...]) -> tuple[str, ...]:
    while words and words[-1] in ("on", "the", "of", "in"):
        words = words[:-1]
    return words


@dataclass(frozen=True, slots=True)
class Place:
    """Somewhere to go.

    Attributes:
        kind: a room, a thing, or a mere spot that nobody named.
        id: the region's or the item's id.
        name: what to call it.
        region: the room it is in, where that is known.
        viewpoint: where to stand; None where no way leads there.
        metres: the way there; infinite where there is none.
        face: where to look there, radians; None: as one arrives.
    """

    kind: Literal["room", "thing", "spot"]
    id: str
    name: str
    region: str | None
    viewpoint: str | None
    metres: float
    face: float | None = None

    @property
    def record(self) -> dict[str, Any]:
        """What the state keeps of it."""
        return {"kind": self.kind, "id": self.id, "name": self.name}


def room_name(scene: Scene, region: str | None) -> str:
    """A room's name as people say it: ``kitchen``; ``room 5`` where nobody knows its type."""
    if region is None:
        return "a place of no known room"
    words = label_words(scene.region_by_id[region])
    return f"room {scene.region_by_id[region].number}" if words == "room" else words


def floor_number(scene: Scene, viewpoint: str) -> int:
    """The floor that a viewpoint is on."""
    return scene.floor_of(scene.viewpoint_by_id[viewpoint])


def _clean(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(canon(word) for word in words)


def _rooms(scene: Scene, head: tuple[str, ...]) -> list[Region]:
    """The regions a head noun names, by id, by label, by type, by part of the label."""
    if not head:
        return []
    by_id = [region for region in scene.regions if words_of(region.id) == head]
    if by_id:
        return by_id
    said, whole = _clean(head), " ".join(head)
    labels = {region.id: _clean(words_of(label_words(region))) for region in scene.regions}
    same = [region for region in scene.regions if labels[region.id] == said]
    if same or set(said) & _STAIRS:
        return same
    wanted = room_types(whole) or room_types(" ".join([*head[:-1], canon(head[-1])]))
    typed = [region for region in scene.regions if wanted & room_types(region.label)]
    if typed:
        return typed
    telling = set(said) - {"room"}
    return [r for r in scene.regions if telling and telling <= set(labels[r.id])]


def item_names(scene: Scene) -> list[tuple[Item, tuple[str, ...]]]:
    """Every item and the words of its name, structures last."""
    return per_scene(
        scene,
        "chat_item_names",
        lambda: [
            (item, _clean(words_of(item.prompt_name)))
            for item in sorted(scene.items, key=lambda item: item.kind == "structure")
        ],
    )


def _things(scene: Scene, head: tuple[str, ...]) -> list[Item]:
    """The items a head noun names: by the whole name, else by its end, else by a part of it."""
    said = _clean(head)
    if not said:
        return []
    fits: dict[int, list[Item]] = {0: [], 1: [], 2: []}
    for item, name in item_names(scene):
        if name == said:
            fits[0].append(item)
        elif name[-len(said) :] == said:
            fits[1].append(item)
        elif set(said) <= set(name):
            fits[2].append(item)
    return fits[0] or fits[1] or fits[2]


def stand_in(scene: Scene, here: str, region: Region) -> tuple[str | None, float]:
    """Where to stand to be in a room, and the way there in metres; None where no way leads."""
    stands = scene.viewpoints_by_region.get(region.id, ())
    return _nearest_reached(scene, here, stands, region.center)


def _nearest_reached(
    scene: Scene, here: str, stands: Sequence[Viewpoint], point: tuple[float, float, float]
) -> tuple[str | None, float]:
    table = metre_table(scene, "3d")
    reached = [v for v in stands if math.isfinite(table.distance(here, v.id))]
    if not reached:
        return None, math.inf
    chosen = min(reached, key=lambda v: (distance_2d(v.position, point), v.id))
    return chosen.id, table.distance(here, chosen.id)


def _room_place(scene: Scene, here: str, region: Region) -> Place:
    inside = scene.viewpoint_by_id[here].region == region.id
    viewpoint, metres = (here, 0.0) if inside else stand_in(scene, here, region)
    return Place("room", region.id, room_name(scene, region.id), region.id, viewpoint, metres)


def _thing_place(scene: Scene, here: str, item: Item) -> Place:
    stands = scene.viewpoints_by_region.get(item.region or "", ())
    if not stands:
        near = [v for v in scene.viewpoints if distance_2d(v.position, item.position) <= 4.0]
        stands = tuple(v for v in near if abs(v.position[1] - item.position[1]) < 2.5)
    viewpoint, metres = _nearest_reached(scene, here, stands, item.position)
    face = None
    if viewpoint is not None:
        face = heading_to(scene.viewpoint_by_id[viewpoint].position, item.position)
    name = item.prompt_name.replace("_", " ")[:60]
    return Place("thing", item.id, name, item.region, viewpoint, metres, face)


def _stairs(scene: Scene, here: str, head: tuple[str, ...]) -> list[Place]:
    """The feet of stairs, where the scene knows them as links."""
    if not set(_clean(head)) & _STAIRS:
        return []
    found = []
    for link in scene.links:
        if link.kind == "stairs" and link.point is not None:
            stands = [v for v in scene.viewpoints if v.region in (link.a, link.b)]
            viewpoint, metres = _nearest_reached(scene, here, stands, link.point)
            region = scene.viewpoint_by_id[viewpoint].region if viewpoint else link.a
            id_ = f"{link.a}-{link.b}"
            found.append(Place("thing", id_, "stairs", region, viewpoint, metres))
    return found


def places_named(scene: Scene, here: str, wish: Wish) -> list[Place]:
    """Every room, else every thing, that a wish names; the nearest first.

    Args:
        scene: the home.
        here: the viewpoint the robot stands on.
        wish: what was said; ``other`` is not looked at.
    """
    found = _stairs(scene, here, wish.head)
    if not found and not wish.inside:
        found = [_room_place(scene, here, r) for r in _rooms(scene, wish.head)]
    if not found:
        found = [_thing_place(scene, here, item) for item in _things(scene, wish.head)]
    if not found and not wish.inside:
        kin = {_KIN.get(each) for each in room_types(" ".join(wish.head))}
        akin = [region for region in scene.regions if kin & room_types(region.label)]
        found = [_room_place(scene, here, region) for region in akin]
    kept = [place for place in found if _narrowed(scene, here, place, wish)]
    return sorted(kept, key=lambda place: (place.metres, place.id))


def _narrowed(scene: Scene, here: str, place: Place, wish: Wish) -> bool:
    if wish.inside:
        rooms = {region.id for region in _rooms(scene, wish.inside)}
        if place.region not in rooms:
            return False
    if wish.beside and not _is_beside(scene, place, wish.beside):
        return False
    floor = place_floor(scene, place)
    if floor is None:
        return not (wish.storey or wish.floor)
    now = floor_number(scene, here)
    ordered = {"up": floor > now, "down": floor < now, "": True}[wish.storey]
    return ordered and wish.floor in (None, floor)


def place_floor(scene: Scene, place: Place) -> int | None:
    """The floor that a place is on; None where nobody knows."""
    if place.region is not None:
        return scene.region_by_id[place.region].floor
    return floor_number(scene, place.viewpoint) if place.viewpoint else None


def _is_beside(scene: Scene, place: Place, words: tuple[str, ...]) -> bool:
    rooms = {region.id for region in _rooms(scene, words)}
    if place.kind == "room":
        if rooms & set(neighbours(scene, place.id)):
            return True
        return any(item.region == place.id for item in _things(scene, words))
    item = scene.item_by_id.get(place.id)
    others = _things(scene, words)
    return item is not None and any(
        other.region == item.region and distance_2d(other.position, item.position) <= 2.5
        for other in others
        if other.id != item.id
    )


def neighbours(scene: Scene, region: str) -> list[str]:
    """The rooms that a room leads to."""
    graph = per_scene(scene, "chat_region_graph", scene.region_graph)
    return sorted(graph[region]) if region in graph else []
