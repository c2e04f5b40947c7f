"""Which room or thing of a home a person means, and where a robot stands to be there.

A room means the viewpoint nearest to its centre, a thing the viewpoint nearest to it in its own
room. Room names go through the lexicon's types, so that "office" finds the study. Several rooms
that fit are a question; of several things that fit the nearest is taken, with a note.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal, TypeAlias

from navloom.scenes.distances import metre_table, per_scene
from navloom.scenes.lexicon import room_types
from navloom.scenes.plan_shapes import floor_of
from navloom.scenes.scene import Item, Region, Scene, Viewpoint, distance_2d
from navloom.sim.bearing import heading_to
from navloom.sim.composed import label_words
from navloom.sim.words import enumerated, with_article
from navloom.tools.chat.place_words import Wish, canon, read_wish, words_of
from navloom.tools.untrusted import paragraph

__all__ = [
    "Past",
    "Place",
    "about",
    "floor_number",
    "places_named",
    "resolve",
    "room_name",
    "room_names",
    "stand_in",
    "unknown",
]

Past: TypeAlias = Sequence[Mapping[str, Any]]
"""Where the robot was sent before, the latest last: ``kind``, ``id`` and ``name``."""
MOST_NAMED = 24
"""Names in a list that a person or a model reads."""
_KIN = {
    "Lounge / Waiting Room": "Living Room",
    "Media Room / Home Theater": "Living Room",
    "Entryway / Foyer": "Hallway / Corridor",
    "Hallway / Corridor": "Entryway / Foyer",
    "Library": "Study / Office",
    "Dressing Room": "Closet / Storage Room",
}
"""What people call a room that the scene calls something else."""
_STAIRS = frozenset({"stair", "staircase", "stairway", "steps"})


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


def room_names(scene: Scene) -> list[str]:
    """The different names of all rooms, in the scene's order."""
    return list(dict.fromkeys(room_name(scene, region.id) for region in scene.regions))


def floor_number(scene: Scene, viewpoint: str) -> int:
    """The floor that a viewpoint is on."""
    return floor_of(scene, scene.viewpoint_by_id[viewpoint])


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


def _kin(scene: Scene, head: tuple[str, ...]) -> list[Region]:
    wanted = {_KIN.get(each) for each in room_types(" ".join(head))}
    return [region for region in scene.regions if wanted & room_types(region.label)]


def _names(scene: Scene) -> list[tuple[Item, tuple[str, ...]]]:
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
    for item, name in _names(scene):
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
        found = [_room_place(scene, here, r) for r in _kin(scene, wish.head)]
    kept = [place for place in found if _narrowed(scene, here, place, wish)]
    return sorted(kept, key=lambda place: (place.metres, place.id))


def _narrowed(scene: Scene, here: str, place: Place, wish: Wish) -> bool:
    if wish.inside:
        rooms = {region.id for region in _rooms(scene, wish.inside)}
        if place.region not in rooms:
            return False
    if wish.beside and not _is_beside(scene, place, wish.beside):
        return False
    floor = _place_floor(scene, place)
    if floor is None:
        return not (wish.storey or wish.floor)
    now = floor_number(scene, here)
    ordered = {"up": floor > now, "down": floor < now, "": True}[wish.storey]
    return ordered and wish.floor in (None, floor)


def _place_floor(scene: Scene, place: Place) -> int | None:
    if place.region is not None:
        return scene.region_by_id[place.region].floor
    return floor_number(scene, place.viewpoint) if place.viewpoint else None


def _is_beside(scene: Scene, place: Place, words: tuple[str, ...]) -> bool:
    rooms = {region.id for region in _rooms(scene, words)}
    if place.kind == "room":
        if rooms & set(_neighbours(scene, place.id)):
            return True
        return any(item.region == place.id for item in _things(scene, words))
    item = scene.item_by_id.get(place.id)
    others = _things(scene, words)
    return item is not None and any(
        other.region == item.region and distance_2d(other.position, item.position) <= 2.5
        for other in others
        if other.id != item.id
    )


def _neighbours(scene: Scene, region: str) -> list[str]:
    graph = per_scene(scene, "chat_region_graph", scene.region_graph)
    return sorted(graph[region]) if region in graph else []


def about(scene: Scene, here: str, place: Place) -> str:
    """What tells a place from others of its name: storey, neighbours, how far it is."""
    parts = []
    floor = _place_floor(scene, place)
    if floor is not None and floor != floor_number(scene, here):
        parts.append("upstairs" if floor > floor_number(scene, here) else "downstairs")
    if place.kind == "thing" and place.region is not None:
        parts.append(f"in the {room_name(scene, place.region)}")
    beside = [room_name(scene, each) for each in _neighbours(scene, place.region or "")]
    if place.kind == "room" and beside:
        parts.append(f"next to the {enumerated(list(dict.fromkeys(beside))[:3])}")
    way = f"{place.metres:.0f} m away" if math.isfinite(place.metres) else "no way leads there"
    return ", ".join([*parts, "where I am" if place.metres == 0 else way])


def resolve(scene: Scene, here: str, words: str, past: Past = ()) -> Place | dict[str, Any]:
    """Find the one place that is meant.

    Args:
        scene: the home.
        here: the viewpoint the robot stands on.
        words: a description, such as ``the other bedroom``, or a room's id.
        past: where it was sent before; "the other" is one it was not sent to last.

    Returns:
        The place; or ``{"which": [...], "question": ...}`` where several rooms fit; or
        ``{"error": ...}``, one line, where none does.
    """
    wish = read_wish(words)
    if not wish.head and not wish.other:
        # "upstairs" alone is a direction, not a place.
        return {"error": "No place was named. Name a room or a thing of this home."}
    found = places_named(scene, here, wish) if wish.head else _alike(scene, here, past)
    if not found:
        return unknown(scene, here, wish, words)
    left = _others(scene, here, found, past) if wish.other else found
    if not left:
        return {"error": f"There is only one {found[0].name} that I know of here."}
    reached = [place for place in left if place.viewpoint is not None]
    if not reached:
        return {"error": f"No way leads from here to the {left[0].name}."}
    if len(reached) > 1 and not wish.nearest and not wish.farthest and reached[0].kind == "room":
        return _question(scene, here, reached)
    return reached[-1] if wish.farthest else reached[0]


def _alike(scene: Scene, here: str, past: Past) -> list[Place]:
    """Places of the name of the one it was sent to last."""
    return places_named(scene, here, Wish(words_of(str(past[-1]["name"])))) if past else []


def _others(scene: Scene, here: str, found: list[Place], past: Past) -> list[Place]:
    """Those it was not sent to in a row just now; or not the one it is at."""
    ids, refused = {place.id for place in found}, set[str]()
    for before in reversed(past):
        if before["id"] not in ids:
            break
        refused.add(str(before["id"]))
    if not refused:
        now = scene.viewpoint_by_id[here].region
        refused = {place.id for place in found if place.region == now} or {found[0].id}
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
    what = f"{names.pop()}s" if len(names) == 1 else "rooms that fit"
    told = "; ".join(f"{number}: {each['about']}" for number, each in enumerate(which, 1))
    return {"which": which, "question": f"There are {len(found)} {what}. Which one? {told}."}


def _with(scene: Scene, place: Place) -> str:
    assets = scene.items_in(place.id, "asset")
    largest = max(assets, key=lambda item: math.prod(item.size or (0, 0, 0)), default=None)
    if largest is None:
        return ""
    return f", with {with_article(largest.prompt_name.replace('_', ' ')[:60])}"


def unknown(scene: Scene, here: str, wish: Wish, words: str) -> dict[str, Any]:
    """Say that nothing of that name is here, and what there is."""
    head = " ".join(wish.head)
    shown = paragraph(head or words, 60) or "such place"
    plain = places_named(scene, here, Wish(wish.head))
    if plain:
        there = enumerated([about(scene, here, place) for place in plain[:4]])
        return {"error": f"There is no such {plain[0].name}; there is one {there}."}
    rooms = room_names(scene)
    more = ", ..." if len(rooms) > MOST_NAMED else ""
    listed = f"There are: {', '.join(rooms[:MOST_NAMED])}{more}."
    things = {" ".join(name) for _, name in _names(scene)}
    near = get_close_matches(head, [*rooms, *sorted(things)], n=1, cutoff=0.75) if head else []
    hint = f" Did you mean the {near[0]}?" if near else ""
    return {"error": f"There is no {shown} here.{hint} {listed}"}
