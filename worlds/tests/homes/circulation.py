"""Classify the circulation of a floor plan: the shape of the hall of its lowest storey."""

from __future__ import annotations

import itertools
from typing import Literal

import shapely
from shapely import Polygon

from navloom_worlds.homes.floorplan import Floorplan, Outline
from navloom_worlds.homes.rectilinear import inset_outline, rect_outline, to_rect

Circulation = Literal[
    "straight corridor", "one-sided corridor", "bent", "U", "central", "open", "other"
]
_LONG = 2.5
"""Minimum ratio of length to width of a corridor."""
_WALL = 100
_NARROW = 1700
"""Maximum width of a corridor within a living room, in mm."""


def circulation(plan: Floorplan) -> Circulation:
    """Return the circulation type of the storey with the front door.

    - ``straight corridor``: the hall floor is one rectangle at least 2.5 times as long as wide,
      with doors on both long sides. ``one-sided corridor``: with doors on one of them.
    - ``bent``: a hall with one inner corner. ``U``: with two, at both ends of one wall.
    - ``central``: a squarish hall with doors on three or four sides.
    - ``open``: no hall, doors open onto the living room. A living room with a corridor as above
      counts as that corridor.
    """
    halls = [room.outline for room in plan.rooms if room.floor == 1 and room.kind == "hallway"]
    if not halls:
        living = next(room.outline for room in plan.rooms if room.kind == "living room")
        kinds = {_of_rectangle(plan, part) for part in _narrow_parts(living)}
        return "straight corridor" if "straight corridor" in kinds else "open"
    hall = _joined(halls)
    turns = _inner_corners(hall)
    if sum(turns) == 1:
        return "bent"
    if sum(turns) == 2 and any(a and b for a, b in itertools.pairwise([*turns, turns[0]])):
        return "U"
    return "other" if any(turns) else _of_rectangle(plan, hall)


def has_open_kitchen(plan: Floorplan) -> bool:
    """Check for an opening of at least 1.8 m between the kitchen and a living or dining room."""
    kinds = {room.number: room.kind for room in plan.rooms}
    sitting = {"living room", "dining room", "family room"}
    wide = [way for way in plan.doorways if way.leaf is None and way.width >= 1800]
    ends = [{kinds[way.a], kinds[way.b]} for way in wide if way.b is not None]
    return any("kitchen" in pair and pair & sitting for pair in ends)


def _of_rectangle(plan: Floorplan, hall: Outline) -> Circulation:
    """Return the circulation of a rectangular hall."""
    x0, z0, x1, z1 = to_rect(hall)
    sides = _sides_with_doors(plan, hall)
    short, long = sorted((x1 - x0, z1 - z0))
    if long < _LONG * short:
        return "central" if len(sides) > 2 else "other"
    both = {"N", "S"} if x1 - x0 == long else {"W", "E"}
    return "straight corridor" if both <= sides else "one-sided corridor"


def _sides_with_doors(plan: Floorplan, hall: Outline) -> set[str]:
    """Return the sides of a rectangle that have a doorway of the lowest storey."""
    ground = {room.number for room in plan.rooms if room.floor == 1}
    x0, z0, x1, z1 = to_rect(hall)
    found = set()
    for way in plan.doorways:
        left, near, right, far = to_rect(way.jambs)
        half = way.thickness // 2
        if way.a not in ground:
            continue
        if near == far and x0 <= left and right <= x1:
            found |= {side for side, z in (("N", z0), ("S", z1)) if abs(z - near) == half}
        elif left == right and z0 <= near and far <= z1:
            found |= {side for side, x in (("W", x0), ("E", x1)) if abs(x - left) == half}
    return found


def _joined(halls: list[Outline]) -> Outline:
    """Return several halls as one outline, without the walls between them."""
    whole = shapely.union_all([Polygon(inset_outline(hall, -_WALL // 2)) for hall in halls])
    return inset_outline(_outline(whole), _WALL // 2)


def _narrow_parts(outline: Outline) -> list[Outline]:
    """Return the rectangles around the parts of a room that are corridors."""
    room, half = Polygon(outline), _NARROW / 2
    wide = room.buffer(-half, join_style="mitre").buffer(half, join_style="mitre")
    parts = shapely.get_parts(room.difference(wide.buffer(1, join_style="mitre")))
    return [rect_outline(to_rect(_outline(part))) for part in parts if part.area > 1e6]


def _outline(shape: Polygon) -> Outline:
    """Return a shape as an outline, clockwise on the page."""
    ring = shapely.orient_polygons(shapely.simplify(shape, 0)).exterior.coords[:-1]
    return tuple((round(x), round(z)) for x, z in ring)


def _inner_corners(outline: Outline) -> list[bool]:
    """Return for each corner of a shape if it is an inner corner."""
    before, after = outline[-1:] + outline[:-1], outline[1:] + outline[:1]
    return [
        (x - ax) * (bz - z) - (z - az) * (bx - x) < 0
        for (ax, az), (x, z), (bx, bz) in zip(before, outline, after, strict=True)
    ]
