"""Spatial relations between items, derived from their positions (VLNVerse 3.2's scene graph).

All relations use axis-aligned footprints (for a tilted item: its bounding rectangle) and heights.
"Stands" means: on the floor, higher than a rug, not hung. An item's front is that of its yaw
without the small tilt. Relations hold only between items of one room:

``in``
    a stands in b: ``a.on`` is b, and a's underside is below b's upper side, b being open to it (a
    shelf, a basket; a cushion is *on* a sofa).
``next_to``
    a and b stand, their heights overlap, and their footprints are at most :data:`NEXT` apart; or
    both are on one item, and at most :data:`NEXT_ON_TOP` apart. For each a the nearest two (on an
    item: the nearest one); each pair is listed once.
``in_front_of``
    a stands, and its centre is within :data:`BEFORE` of b's front and no farther to either side
    than b's width; b is furniture that has a front. For each b the nearest two.
``facing``
    a is a seat or a screen, and b is the first item that the middle half of a's front meets within
    :data:`SIGHT`; items lower than :data:`LOW` are ignored.
``above``, ``below``
    a hangs, and b is the highest item under it (their footprints overlap, b's upper side is no
    higher than a's underside, b is on no other item) and at most :data:`OVER` lower.
    Listed in both directions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from navloom.scenes.scene import Relation, RelationKind
from navloom_worlds.homes.placement import PlacedItem
from navloom_worlds.homes.rectilinear import Rect, rects_overlap
from navloom_worlds.homes.room_occupancy import STEP_OVER

NEXT = 300
NEXT_ON_TOP = 150
BEFORE = 1000
SIGHT = 5000
LOW = 600
OVER = 1500
"""All in millimetres."""

FRONTED = frozenset(
    {"bed", "sofa", "cabinet", "desk", "screen", "stove", "sink", "appliance", "shelf", "counter"}
)
"""Shapes with a front that people use."""


def find_relations(things: Sequence[PlacedItem], ids: Sequence[str]) -> list[Relation]:
    """Return the relations between the items of a room.

    Args:
        things: all items of the room.
        ids: their ids, in the same order.
    """
    rects = [thing.rect for thing in things]
    found: list[tuple[int, RelationKind, int]] = []
    place = {id(thing): i for i, thing in enumerate(things)}
    found += [(i, "in", place[id(t.on)]) for i, t in enumerate(things) if t.inside]
    found += _next_to(things, rects)
    standing = [i for i, thing in enumerate(things) if is_standing(thing)]
    for i in standing:
        if things[i].entry.shape in FRONTED and things[i].entry.kind == "asset":
            found += _in_front_of(things, rects, standing, i)
    for i, thing in enumerate(things):
        if thing.entry.seat or thing.entry.shape == "screen":
            found += _facing(things, rects, i)
        if thing.hung:
            found += _above(things, rects, i)
    return [Relation(a=ids[a], kind=kind, b=ids[b]) for a, kind, b in found]


def is_standing(thing: PlacedItem) -> bool:
    """Check whether an item stands on the floor and is no rug."""
    return thing.on is None and not thing.hung and thing.size[1] > STEP_OVER


def _gap(a: Rect, b: Rect) -> int:
    """Return the distance of two rectangles along their most separated axis, mm; 0: they touch."""
    return max(a[0] - b[2], b[0] - a[2], a[1] - b[3], b[1] - a[3], 0)


def _next_to(
    things: Sequence[PlacedItem], rects: Sequence[Rect]
) -> Iterator[tuple[int, RelationKind, int]]:
    groups: dict[int, list[int]] = defaultdict(list)
    for i, thing in enumerate(things):
        if thing.on is not None:
            if not thing.inside:
                groups[id(thing.on)].append(i)
        elif is_standing(thing):
            groups[0].append(i)
    for group, members in groups.items():
        reach, most = (NEXT, 2) if group == 0 else (NEXT_ON_TOP, 1)
        said: set[tuple[int, int]] = set()
        for i in members:
            near = []
            for j in members:
                if i != j:
                    gap = _gap(rects[i], rects[j])
                    if gap <= reach:
                        near.append((gap, j))
            near.sort()
            for _, j in near[:most]:
                pair = (min(i, j), max(i, j))
                if pair not in said:
                    said.add(pair)
                    yield pair[0], "next_to", pair[1]


def _in_front_of(
    things: Sequence[PlacedItem], rects: Sequence[Rect], standing: Sequence[int], b: int
) -> Iterator[tuple[int, RelationKind, int]]:
    x0, z0, x1, z1 = things[b].before(0, BEFORE)
    inside = [
        (_gap(rects[a], rects[b]), a)
        for a in standing
        if a != b and x0 <= things[a].x <= x1 and z0 <= things[a].z <= z1
    ]
    for _, a in sorted(inside)[:2]:
        yield a, "in_front_of", b


def _facing(
    things: Sequence[PlacedItem], rects: Sequence[Rect], a: int
) -> Iterator[tuple[int, RelationKind, int]]:
    thing = things[a]
    quarter = thing.size[0] // 4
    front = -(thing.size[2] // 2)
    upright = PlacedItem(0, thing.entry, thing.size, thing.x, thing.z, 0, thing.quarter)
    sight = upright.zone(-quarter, front - SIGHT, quarter, front)
    met = []
    for b, rect in enumerate(rects):
        if b == a or things[b] is thing.on or things[b].hung or things[b].top < LOW:
            continue
        if things[b].on is not None and things[b].entry.shape != "screen":
            continue
        if rects_overlap(sight, rect):
            met.append((_gap(rects[a], rects[b]), -things[b].top, b))
    if met:
        yield a, "facing", min(met)[2]


def _above(
    things: Sequence[PlacedItem], rects: Sequence[Rect], a: int
) -> Iterator[tuple[int, RelationKind, int]]:
    bottom = things[a].bottom
    under = [
        (-things[b].top, b)
        for b, rect in enumerate(rects)
        if rects_overlap(rect, rects[a]) and b != a and things[b].on is None
        and bottom - OVER <= things[b].top <= bottom and things[b].entry.shape != "rug"
    ]  # fmt: skip
    if under:
        b = min(under)[1]
        yield a, "above", b
        yield b, "below", a
