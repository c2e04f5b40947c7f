"""Rooms and items that a description names, and the viewpoints from which a robot reaches them.

The place of a room is the viewpoint nearest to its centre, that of an item the nearest viewpoint in
the same room. Room names go through the lexicon's types, so that "office" finds the study.
`RobotContext` is the robot's state as the tools receive it. `unique_name` returns a name that means
one place only.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import shapely

from navloom.errors import UsageError
from navloom.scenes import distances
from navloom.scenes.bodies import DEFAULT_BODY, Embodiment
from navloom.scenes.lexicon import canonical_words, room_types, word_table
from navloom.scenes.scene import Item, Region, Scene, Viewpoint, distance_2d
from navloom.sim.caption_composer import label_phrase
from navloom.sim.protocol import Observation
from navloom.tools.chat.place_query import PlaceQuery, lemma_of, lemmas_of, parse_query, split_words
from navloom.tools.navigation.step_options import direction_of

_LABELS = canonical_words("chat_rooms")
_STAIRS = frozenset({"stair", "staircase", "stairway", "steps"})
_KIN = {
    "Lounge / Waiting Room": "Living Room",
    "Entryway / Foyer": "Hallway / Corridor",
    "Hallway / Corridor": "Entryway / Foyer",
}
"""Room types that people use for a room that the scene labels otherwise."""
Past: TypeAlias = Sequence[Mapping[str, Any]]
"""Places talked of, the latest last: ``kind``, ``id``, ``name``, ``turn`` (which mentioned it) and
``main`` (False for places mentioned only beside the one that a turn was about)."""


@dataclass(frozen=True, slots=True)
class Place:
    """A destination for the robot.

    Attributes:
        kind: a room, an item ("thing"), or an unnamed viewpoint ("spot").
        id: the region's, item's or viewpoint's id.
        name: the name to say.
        region: the room it is in, where that is known.
        viewpoint: the viewpoint to stand on; None where it cannot be reached.
        metres: length of the path; infinite where there is none.
        face: heading to turn to there, radians; None keeps the heading on arrival.
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
        """The part of a place that the graph's state keeps."""
        return {"kind": self.kind, "id": self.id, "name": self.name}


def room_name(scene: Scene, region: str | None) -> str:
    """Return a room's plain name: ``kitchen``; ``room 5`` where its type is unknown."""
    if region is None:
        return "a place of no known room"
    words = label_phrase(scene.region_by_id[region])
    return f"room {scene.region_by_id[region].number}" if words == "room" else words


def floor_area(region: Region) -> float:
    """Return the area of a room's outline in square metres; 0 where it is unknown."""
    return float(shapely.Polygon(region.outline).area) if region.outline else 0.0


def floor_number(scene: Scene, viewpoint: str) -> int:
    """Return the number of the floor that a viewpoint is on."""
    return scene.floor_of(scene.viewpoint_by_id[viewpoint])


def _rooms(scene: Scene, head: tuple[str, ...]) -> list[Region]:
    """Return the regions that a head noun names, by id, label, type or part of the label."""
    if not head:
        return []
    by_id = [r for r in scene.regions if "".join(split_words(r.id)) == "".join(head)]
    if by_id:
        return by_id
    said, whole = lemmas_of(head), " ".join(head)
    labels = {region.id: lemmas_of(split_words(label_phrase(region))) for region in scene.regions}
    # A "livingroom" is a living room, a "bath room" a bathroom.
    same = [
        region
        for region in scene.regions
        if "".join(labels[region.id]) == "".join(said)
        or "".join(split_words(label_phrase(region))) == "".join(head)
    ]
    if same or set(said) & _STAIRS:
        return same
    whole = _LABELS.get("_".join(head), whole)
    wanted = room_types(whole) or room_types(" ".join([*head[:-1], lemma_of(head[-1])]))
    typed = [region for region in scene.regions if wanted & room_types(region.label)]
    if typed:
        return typed
    telling = set(said) - {"room"}
    return [r for r in scene.regions if telling and telling <= set(labels[r.id])]


def is_room(scene: Scene, head: tuple[str, ...]) -> bool:
    """Check whether words name a room of the home."""
    return bool(_rooms(scene, head))


@distances.cached_on_scene
def item_names(scene: Scene) -> list[tuple[Item, tuple[str, ...]]]:
    """Return every item with the words of its name, structures last."""
    items = sorted(scene.items, key=lambda item: item.kind == "structure")
    return [(item, lemmas_of(split_words(item.prompt_name))) for item in items]


def _things(scene: Scene, head: tuple[str, ...]) -> list[Item]:
    """Return the items that a head noun names: by the whole name or its end, else by a part."""
    said = lemmas_of(head)
    if not said:
        return []
    if said[-1].isdigit() and (numbered := _numbered(scene).get("".join(head))):
        return [numbered]
    fits: dict[int, list[Item]] = {0: [], 1: [], 2: []}
    for item, name in item_names(scene):
        if name == said:
            fits[0].append(item)
        elif name[-len(said) :] == said:
            fits[1].append(item)
        elif set(said) <= set(name):
            fits[2].append(item)
    return [*fits[0], *fits[1]] or fits[2]


@distances.cached_on_scene
def _numbered(scene: Scene) -> Mapping[str, Item]:
    """Return items by their ids as plain words run together: ``shoe2``."""
    return {"".join(split_words(item.id)): item for item in scene.items}


def _called(scene: Scene, head: tuple[str, ...]) -> list[Item]:
    """Return the items with exactly this name, unless a room's label is the same."""
    said = lemmas_of(head)
    labels = {lemmas_of(split_words(label_phrase(region))) for region in scene.regions}
    return [] if said in labels else [i for i, name in item_names(scene) if name == said]


def room_viewpoint(scene: Scene, here: str, region: Region) -> tuple[str | None, float]:
    """Return the viewpoint to stand on in a room and the metres to it; None if unreachable."""
    stands = scene.viewpoints_by_region.get(region.id, ())
    return _nearest_reached(scene, here, stands, region.center)


def _nearest_reached(
    scene: Scene, here: str, stands: Sequence[Viewpoint], point: tuple[float, float, float]
) -> tuple[str | None, float]:
    table = distances.metre_table(scene, "3d")
    reached = [v for v in stands if math.isfinite(table.distance(here, v.id))]
    if not reached:
        return None, math.inf
    chosen = min(reached, key=lambda v: (distance_2d(v.position, point), v.id))
    return chosen.id, table.distance(here, chosen.id)


def _room_place(scene: Scene, here: str, region: Region) -> Place:
    inside = scene.viewpoint_by_id[here].region == region.id
    viewpoint, metres = (here, 0.0) if inside else room_viewpoint(scene, here, region)
    return Place("room", region.id, room_name(scene, region.id), region.id, viewpoint, metres)


def _thing_place(scene: Scene, here: str, item: Item) -> Place:
    stands = scene.viewpoints_by_region.get(item.region or "", ())
    if not stands:
        near = [v for v in scene.viewpoints if distance_2d(v.position, item.position) <= 4.0]
        stands = tuple(v for v in near if abs(v.position[1] - item.position[1]) < 2.5)
    viewpoint, metres = _nearest_reached(scene, here, stands, item.position)
    face = None
    if viewpoint is not None:
        face = distances.heading_to(scene.viewpoint_by_id[viewpoint].position, item.position)
    name = item.prompt_name.replace("_", " ")[:60]
    return Place("thing", item.id, name, item.region, viewpoint, metres, face)


def _stairs(scene: Scene, here: str, head: tuple[str, ...]) -> list[Place]:
    """Return the ends of stairs as places, where the scene has them as links."""
    if not set(lemmas_of(head)) & _STAIRS:
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


def stairs_end(scene: Scene, here: str, *, top: bool) -> list[Place]:
    """Return the upper or lower ends of all stairs as places, the nearest first."""
    found = []
    for link in scene.links:
        if link.kind == "stairs" and link.point is not None:
            ends = sorted((link.a, link.b), key=lambda each: scene.region_by_id[each].floor)
            region = ends[-1 if top else 0]
            stands = scene.viewpoints_by_region.get(region, ())
            viewpoint, metres = _nearest_reached(scene, here, stands, link.point)
            found.append(Place("thing", f"{link.a}-{link.b}", "stairs", region, viewpoint, metres))
    return sorted(found, key=lambda place: (place.metres, place.id))


def match_places(scene: Scene, here: str, wish: PlaceQuery) -> list[Place]:
    """Return every room, else every item, that a query matches, the nearest first.

    Args:
        scene: the home.
        here: the viewpoint the robot stands on.
        wish: the query; its ``other`` and ``said`` are ignored.
    """
    if wish.opposite and (across := _across(scene, here, wish)):
        return across
    if wish.any_room:
        wish = replace(wish, beside=(*wish.beside, wish.inside) if wish.inside else wish.beside)
        wish = replace(wish, inside=())
        told = (wish.beside, wish.storey, wish.floor, wish.nearest, wish.farthest, wish.size)
        found = [_room_place(scene, here, region) for region in scene.regions] if any(told) else []
        if not wish.beside and not wish.size:
            found = [place for place in found if place.viewpoint != here]
    else:
        found = _named(scene, here, wish)
    kept = [place for place in found if fits_query(scene, here, place, wish)]
    if wish.near and wish.beside and not kept:
        alone = replace(wish, beside=())
        kept = _by(scene, [p for p in found if fits_query(scene, here, p, alone)], wish)
    if wish.beyond and len(kept) > 1:
        table = distances.metre_table(scene, "3d")
        rooms = {r.id for each in wish.beside for r in _rooms(scene, each)}
        at = scene.viewpoint_by_id
        kept = [
            place
            for place in kept
            if rooms & {at[v].region for v in table.path(here, place.viewpoint or here) or ()}
        ] or kept
    if wish.size and (sized := [place for place in kept if _area(scene, place)]):
        chosen = max if wish.size == "large" else min
        kept = [chosen(sized, key=lambda place: (_area(scene, place), place.id))]
    return sorted(kept, key=lambda place: (place.metres, place.id))


def _across(scene: Scene, here: str, wish: PlaceQuery) -> list[Place]:
    """Return the rooms that lie opposite the room that a query names."""
    named = _rooms(scene, wish.beside[0])
    ids = [each for region in named for each in rooms_opposite(scene, region.id)]
    of_kind = {region.id for region in _rooms(scene, wish.head)}
    kept = [each for each in ids if wish.any_room or each in of_kind]
    return [_room_place(scene, here, scene.region_by_id[each]) for each in dict.fromkeys(kept)]


def _area(scene: Scene, place: Place) -> float:
    return floor_area(scene.region_by_id[place.id]) if place.kind == "room" else 0.0


def _named(scene: Scene, here: str, wish: PlaceQuery) -> list[Place]:
    found = _stairs(scene, here, wish.head)
    if not found and _rooms(scene, wish.head):
        # A "toilet" means the item if there is one, else a bathroom.
        found = [_thing_place(scene, here, item) for item in _called(scene, wish.head)]
    if not found and not wish.inside:
        found = [_room_place(scene, here, r) for r in _rooms(scene, wish.head)]
    if not found:
        found = [_thing_place(scene, here, item) for item in _things(scene, wish.head)]
    if not found and not wish.inside:
        kin = {_KIN.get(each) for each in room_types(" ".join(wish.head))}
        akin = [region for region in scene.regions if kin & room_types(region.label)]
        found = [_room_place(scene, here, region) for region in akin]
    if not found and len(wish.head) == 1 and (row := word_table("chat_alike").get(wish.head[0])):
        # "Outside" is the terrace, the balcony or the garden.
        kinds = [tuple(name.split("_")) for name in row.split()]
        found = [_room_place(scene, here, r) for kind in kinds for r in _rooms(scene, kind)]
    return found


def _by(scene: Scene, found: list[Place], wish: PlaceQuery) -> list[Place]:
    """Return the place with the shortest path to the query's landmark, if none lies next to it."""
    table = distances.metre_table(scene, "3d")
    ends = [
        p.viewpoint for p in match_places(scene, scene.viewpoints[0].id, PlaceQuery(wish.beside[0]))
    ]
    ways = [
        (table.distance(place.viewpoint, end), place.id, place)
        for place in found
        for end in ends
        if place.viewpoint and end and place.viewpoint != end
    ]
    return [min(ways)[2]] if ways else []


def restore_place(scene: Scene, here: str, record: Mapping[str, Any]) -> Place | None:
    """Return the place of a record, with its path from here; None if the place is gone."""
    if record["kind"] == "spot":
        region = scene.viewpoint_by_id[record["id"]].region
        metres = distances.metre_table(scene, "3d").distance(here, record["id"])
        return Place("spot", record["id"], record["name"], region, record["id"], metres)
    if record["id"] in scene.region_by_id:
        return _room_place(scene, here, scene.region_by_id[record["id"]])
    if record["id"] in scene.item_by_id:
        return _thing_place(scene, here, scene.item_by_id[record["id"]])
    return next((p for p in _stairs(scene, here, ("stairs",)) if p.id == record["id"]), None)


def fits_query(scene: Scene, here: str, place: Place, wish: PlaceQuery) -> bool:
    """Check whether a place fits the location in a query: beside, inside, storey and floor."""
    if wish.inside and not _is_inside(scene, place, wish.inside):
        return False
    if not all(_is_beside(scene, place, words) for words in wish.beside):
        return False
    floor = place_floor(scene, place)
    if floor is None:
        return not (wish.storey or wish.floor)
    now = floor_number(scene, here)
    # A person on the lowest floor says "the phone downstairs" of one on the same floor.
    floors = [region.floor for region in scene.regions]
    up, down = floor > now or floor == max(floors), floor < now or floor == min(floors)
    ordered = {"up": up, "down": down, "": True}[wish.storey]
    return ordered and wish.floor in (None, floor)


def _is_inside(scene: Scene, place: Place, words: tuple[str, ...]) -> bool:
    if place.region in {region.id for region in _rooms(scene, words)}:
        return True
    item = scene.item_by_id.get(place.id)
    return item is not None and item.on in {each.id for each in _things(scene, words)}


def place_floor(scene: Scene, place: Place) -> int | None:
    """Return the floor that a place is on; None where it is unknown."""
    if place.region is not None:
        return scene.region_by_id[place.region].floor
    return floor_number(scene, place.viewpoint) if place.viewpoint else None


def _is_beside(scene: Scene, place: Place, words: tuple[str, ...]) -> bool:
    rooms = {region.id for region in _rooms(scene, words)}
    if place.kind == "room":
        if rooms:
            return place.id not in rooms and bool(rooms & set(adjacent_rooms(scene, place.id)))
        return any(item.region == place.id for item in _things(scene, words))
    item = scene.item_by_id.get(place.id)
    others = _things(scene, words)
    return item is not None and any(
        other.region == item.region and distance_2d(other.position, item.position) <= 2.5
        for other in others
        if other.id != item.id
    )


_PASSAGE = "Hallway / Corridor"
_ASKEW = 0.95
"""The most that a room may lie sideways, as a share of how far it lies across."""
_AS_GOOD = 0.1


def rooms_opposite(scene: Scene, region: str) -> list[str]:
    """Return the rooms across from a room: the straightest one and those about as straight.

    Candidates are rooms of its storey that it does not open to. Their centres are compared with the
    line through its door: across a passage where it opens to one, else across any room.

    Returns:
        Their ids, the straightest first; empty where no room lies so.
    """
    beside = adjacent_rooms(scene, region)
    passages = [n for n in beside if _PASSAGE in room_types(scene.region_by_id[n].label)] or beside
    found = dict[str, float]()
    for passage in passages:
        for name in adjacent_rooms(scene, passage):
            if name == region or name in beside:
                continue
            askew = _askew(scene, region, passage, name)
            if askew is not None:
                found[name] = min(askew, found.get(name, askew))
    best = min(found.values(), default=0.0)
    return sorted((n for n in found if found[n] <= best + _AS_GOOD), key=lambda n: (found[n], n))


def adjacent_rooms(scene: Scene, region: str) -> list[str]:
    """Return the ids of the rooms that a room is linked to."""
    graph = distances.scene_cached(scene, "chat_region_graph", scene.region_graph)
    return sorted(graph[region]) if region in graph else []


def _askew(scene: Scene, region: str, passage: str, name: str) -> float | None:
    """Return how far sideways a room lies beyond a passage; None where it is not beyond it."""
    here, between, there = (scene.region_by_id[each] for each in (region, passage, name))
    if not here.floor == between.floor == there.floor:
        return None
    doors = [link.point for link in scene.links if {link.a, link.b} == {region, passage}]
    door = next((point for point in doors if point is not None), between.center)
    aside, across = sorted((0, 2), key=lambda axis: abs(door[axis] - here.center[axis]))
    far = there.center[across] - here.center[across]
    if not far or not 0 < (door[across] - here.center[across]) / far < 1:
        return None
    askew = abs((there.center[aside] - here.center[aside]) / far)
    return askew if askew <= _ASKEW else None


SIDES = {"Front": "ahead", "Left": "left", "Right": "right", "Back": "behind"}
Turn: TypeAlias = tuple[str, Sequence[tuple[str, Mapping[str, Any], Any]]]
"""The person's words and the calls they led to: tool, arguments, answer."""


@dataclass(frozen=True)
class RobotContext:
    """The robot's state and history as the tools receive them before each call.

    Attributes:
        scene: the home.
        observation: what it perceives; its pose is on a viewpoint.
        past: places talked of, the latest last.
        begun: viewpoints at which its walks began, the latest last.
        goal: the walk that was stopped and not resumed: ``place``, ``viewpoint``, ``face``,
            ``note``, and ``left``, the calls that were to follow.
        trail: the viewpoints it has stood on, the first one first.
        turns: the person's words, each with the calls they led to: tool, arguments, answer.
        body: its embodiment.
        drives: whether that body drives, so that it can leave the graph.
        beside: whether it stands off its viewpoint now.
        whole: the home with a slim body's graph, where its own graph has fewer edges.
    """

    scene: Scene
    observation: Observation
    past: Past = ()
    begun: Sequence[str] = ()
    goal: Mapping[str, Any] | None = None
    trail: Sequence[str] = ()
    turns: Sequence[Turn] = ()
    body: Embodiment = DEFAULT_BODY
    drives: bool = False
    beside: bool = False
    whole: Scene | None = None
    room: str | None = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "room", self.scene.viewpoint_by_id[self.viewpoint].region)

    @property
    def viewpoint(self) -> str:
        """The viewpoint that the robot stands on."""
        return self.observation.pose.viewpoint or ""

    @property
    def heading(self) -> float:
        """Heading of the robot, in radians."""
        return self.observation.pose.heading


def relative_side(now: RobotContext, heading: float) -> str:
    """Return the side on which a heading lies for the robot: ahead, left, right or behind."""
    return SIDES[direction_of(distances.turn_between(now.heading, heading))]


def unique_name(scene: Scene, place: str) -> str:
    """Return the plainest words that mean this room or item only, as in ``go to the kitchen``.

    Args:
        scene: the home.
        place: the id of a region or of an item.

    Returns:
        Words such as ``the fridge``, ``the lamp in Bedroom 9``, ``chair 3``.

    Raises:
        UsageError: the scene has no such room or item.
    """
    if place not in scene.region_by_id and place not in scene.item_by_id:
        raise UsageError(f"{scene.uri} has no room or thing '{place[:80]}'.")
    return _plainest_name(scene, place)


@distances.cached_on_scene
def _plainest_name(scene: Scene, place: str) -> str:
    names = [*_names_of(scene, place)]
    return next((name for name in names if _means(scene, name, place)), names[-1])


def _names_of(scene: Scene, place: str) -> Iterator[str]:
    """Yield names for a place, from the plainest one to the id in words."""
    item = scene.item_by_id.get(place)
    if item is None:
        yield f"the {room_name(scene, place)}"
    else:
        name = f"the {item.prompt_name.replace('_', ' ')[:60]}"
        # Most items have a namesake: skip names that cannot be unique.
        if _alike(scene)[item.prompt_name, None] == 1:
            yield name
        if item.region is not None and _alike(scene)[item.prompt_name, item.region] == 1:
            yield f"{name} in the {room_name(scene, item.region)}"
            yield f"{name} in {_in_words(item.region)}"
    yield _in_words(place)
    yield place


@distances.cached_on_scene
def _alike(scene: Scene) -> Counter[tuple[str, str | None]]:
    """Count the items of each name, in the whole scene (None) and by room."""
    return Counter(
        (item.prompt_name, region)
        for item in scene.items
        for region in dict.fromkeys((None, item.region))
    )


def _in_words(place: str) -> str:
    return place.replace("_", " ")


def _means(scene: Scene, name: str, place: str) -> bool:
    wish = parse_query(name)
    if not wish.head or wish.other or wish.nearest or wish.farthest or wish.storey or wish.size:
        return False
    here = scene.viewpoints[0].id
    return {each.id for each in match_places(scene, here, wish)} == {place}
