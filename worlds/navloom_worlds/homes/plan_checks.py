"""Validity checks of a floor plan, independent of the code that generated it.

Each check reads only the finished plan, and states in one line the fault and its place. Everything
is exact: whole millimetres, rectilinear outlines. Stairs must have equal steps, and floors at both
ends.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations

import networkx
from shapely.geometry import Point, Polygon

from navloom_worlds.homes.floorplan import (
    Doorway,
    Floorplan,
    Outline,
    PlannedRoom,
    Spot,
    StairFlight,
)
from navloom_worlds.homes.home_names import FEWEST_ROOMS, MOST_ROOMS
from navloom_worlds.homes.rectilinear import (
    Rect,
    covers_rect,
    expand_rect,
    outline_area,
    outline_edges,
    rect_outline,
    rects_overlap,
    to_rect,
)
from navloom_worlds.homes.room_programme import KINDS

_RISERS = (155, 195)
_GOINGS = (250, 300)
_LANDING = 800


def stair_step_faults(plan: Floorplan) -> Iterator[str]:
    """Yield faults of risers, treads and landings, and of the heights at both ends."""
    rooms = {room.number: room for room in plan.rooms}
    for flight in (f for f in plan.flights if f.kind == "stairs"):
        where = f"the stairs up from {rooms[flight.lower].id}"
        bottom, top = rooms[flight.lower].level, rooms[flight.upper].level
        blocks = sorted([*flight.treads, *flight.landings], key=lambda block: block[4])
        heights = [bottom, *(block[4] for block in blocks), top]
        rises = [b - a for a, b in itertools.pairwise(heights) if b != a]
        if not all(_RISERS[0] <= rise <= _RISERS[1] for rise in rises):
            yield f"{where} have a riser of {min(rises)} to {max(rises)} mm"
        for x0, z0, x1, z1, _ in flight.treads:
            going, wide = sorted((x1 - x0, z1 - z0))
            if not _GOINGS[0] <= going <= _GOINGS[1] or wide < flight.width:
                yield f"{where} have a tread of {going} by {wide} mm"
                break
        if any(min(x1 - x0, z1 - z0) < _LANDING for x0, z0, x1, z1, _ in flight.landings):
            yield f"{where} have a landing of less than {_LANDING} mm"
        ends = flight.line[0][1], flight.line[-1][1]
        if ends != (bottom, top):
            yield f"{where} go from {ends[0]} to {ends[1]} mm; expected {bottom} to {top}"


def stairwell_faults(plan: Floorplan) -> Iterator[str]:
    """Yield faults in the position of stairs: stairwell, space above them, and both ends."""
    rooms = {room.number: room for room in plan.rooms}
    for flight in plan.flights:
        lower, upper = rooms[flight.lower], rooms[flight.upper]
        where = f"the {flight.kind} up from {lower.id}"
        if flight.kind != "ramp" and upper.floor != lower.floor + 1:
            yield f"{where} lead to {upper.id}, not to the next storey"
            continue
        if not _meets(lower.outline, flight, 0) or not _meets(upper.outline, flight, -1):
            yield f"{where} do not begin in {lower.id} and end in {upper.id}"
        if flight.kind != "stairs":
            continue
        blocks = [block[:4] for block in (*flight.treads, *flight.landings)]
        if not all(covers_rect(lower.outline, block) for block in blocks):
            yield f"{where} lie outside it"
        for room in (r for r in plan.rooms if r.floor == upper.floor):
            if any(_shared(room.outline, rect_outline(block)) for block in blocks):
                yield f"{where}: {room.id} lies over them"


def _meets(outline: Outline, flight: StairFlight, end: int) -> bool:
    """Check whether an end of a flight lies inside an outline or on its edge."""
    x, _, z = flight.line[end]
    return Polygon(outline).covers(Point(x, z))


def _shared(one: Outline, other: Outline) -> bool:
    """Check whether two outlines overlap."""
    return Polygon(one).intersection(Polygon(other)).area > 0


_CORNER = 50
"""Minimum distance of a jamb from a corner of the room, in mm."""
_DOORS = (680, 1200)
"""Widths of doors: HUMAN, 600 mm wide, passes the narrowest between the strips of its frame."""
_OPENINGS = (800, 3600)
_MUST_HAVE = ("living room", "kitchen", "bedroom", "bathroom")
_LIT = ("living room", "bedroom", "nursery", "kids room")
_SILL = 50
_OUT = -1
"""Room number that stands for outdoors."""
_STEP = 180


def plan_faults(plan: Floorplan) -> list[str]:
    """Return all faults of a plan, one line each; empty for a valid plan."""
    # The other checks need a consistent plan.
    return list(_sound(plan)) or [fault for check in CHECKS for fault in check(plan)]


def _sound(plan: Floorplan) -> Iterator[str]:
    numbers = Counter(room.number for room in plan.rooms)
    yield from (f"room number {number} stands twice" for number, n in numbers.items() if n > 1)
    floors = [storey.floor for storey in plan.storeys]
    if floors != list(range(1, len(floors) + 1)) or not 1 <= len(floors) <= 3:
        yield f"storeys {floors}: expected 1 to 3 of them, from 1 on"
    yield from (f"{r.id} is on floor {r.floor}" for r in plan.rooms if r.floor not in floors)
    outlines = [(room.id, room.outline) for room in plan.rooms]
    outlines += [(f"storey {storey.floor}", storey.footprint) for storey in plan.storeys]
    for name, outline in outlines:
        if len(outline) < 4 or not Polygon(outline).is_valid:
            yield f"{name} has no simple outline"
    known = {None, *numbers}
    for doorway in plan.doorways:
        if not {doorway.a, doorway.b, doorway.swings_into} <= known:
            yield f"a doorway names rooms {doorway.a} and {doorway.b}"
    yield from (f"a window names room {w.room}" for w in plan.windows if w.room not in known)
    for flight in plan.flights:
        if not {flight.lower, flight.upper} <= known:
            yield f"{flight.kind} name rooms {flight.lower} and {flight.upper}"


def _programme(plan: Floorplan) -> Iterator[str]:
    if not FEWEST_ROOMS <= len(plan.rooms) <= MOST_ROOMS:
        yield f"{len(plan.rooms)} rooms: expected {FEWEST_ROOMS} to {MOST_ROOMS}"
    kinds = Counter(room.kind for room in plan.rooms)
    yield from (f"no {kind}" for kind in _MUST_HAVE if not kinds[kind])


def _sizes(plan: Floorplan) -> Iterator[str]:
    for room in plan.rooms:
        kind = KINDS.get(room.kind)
        if kind is None:
            yield f"{room.id}: no known kind of room"
        elif not _holds(room.outline, kind.side, kind.side):
            yield f"{room.id} is narrower than {kind.side} mm"
        elif room.kind == "bedroom" and not (
            _holds(room.outline, 2600, 3000) or _holds(room.outline, 3000, 2600)
        ):
            yield f"{room.id} holds no rectangle of 2600 by 3000 mm"
        elif outline_area(room.outline) < kind.least * 0.9e6:
            yield f"{room.id} has less than {kind.least} square metres"


def _holds(outline: Outline, wide: int, deep: int) -> bool:
    """Check whether a rectangle fits into a rectilinear outline (then it fits at a corner)."""
    xs = {x for x, _ in outline} | {x - wide for x, _ in outline}
    zs = {z for _, z in outline} | {z - deep for _, z in outline}
    return any(covers_rect(outline, (x, z, x + wide, z + deep)) for x in xs for z in zs)


def _no_overlap(plan: Floorplan) -> Iterator[str]:
    for a, b in combinations(plan.rooms, 2):
        near = a.floor == b.floor and rects_overlap(to_rect(a.outline), to_rect(b.outline))
        if near and _shared(a.outline, b.outline):
            yield f"{a.id} and {b.id} overlap"


def _inside(plan: Floorplan) -> Iterator[str]:
    storeys = {storey.floor: Polygon(storey.footprint) for storey in plan.storeys}
    for room in plan.rooms:
        shape, whole = Polygon(room.outline), storeys[room.floor]
        if room.zone == "outdoor":
            if shape.intersection(whole).area > 0:
                yield f"{room.id} is outdoors and lies in the house"
        elif not whole.covers(shape):
            yield f"{room.id} lies outside the house"
    for below, above in zip(plan.storeys, plan.storeys[1:], strict=False):
        if not storeys[below.floor].covers(storeys[above.floor]):
            yield f"storey {above.floor} stands on nothing"


def _reachable(plan: Floorplan) -> Iterator[str]:
    ways = networkx.Graph([(flight.lower, flight.upper) for flight in plan.flights])
    ways.add_node(_OUT)
    ways.add_edges_from(
        (d.a, _OUT if d.b is None else d.b) for d in plan.doorways if d.state != "locked"
    )
    reached = networkx.node_connected_component(ways, _OUT)
    if len(reached) == 1:
        yield "no door leads out"
    yield from (f"{room.id} has no way in" for room in plan.rooms if room.number not in reached)


def _doors_in_walls(plan: Floorplan) -> Iterator[str]:
    rooms = {room.number: room for room in plan.rooms}
    for doorway in plan.doorways:
        where = f"the doorway of {_said(doorway, rooms)}"
        low, high = _OPENINGS if doorway.leaf is None else _DOORS
        if not low <= doorway.width <= high:
            yield f"{where} is {doorway.width} mm wide; expected {low} to {high}"
        if not 0 <= doorway.threshold <= _SILL:
            yield f"{where} has a sill of {doorway.threshold} mm; expected 0 to {_SILL}"
        if doorway.state == "locked" or (doorway.leaf is None) != (doorway.state is None):
            yield f"{where} has the state {doorway.state}"
        sides = [rooms[doorway.a]] + ([rooms[doorway.b]] if doorway.b is not None else [])
        faces = {_face(room.outline, doorway.jambs, doorway.thickness) for room in sides}
        if 0 in faces:
            yield f"{where} is not in a wall of theirs, clear of its corners"
        elif len(sides) == 2 and len(faces) == 1:
            yield f"{where} has both on one side"
        elif doorway.b is None and _face(
            plan.storeys[sides[0].floor - 1].footprint, doorway.jambs, doorway.thickness, 0
        ) != -next(iter(faces)):
            yield f"{where} does not lead out"
        if len(sides) == 2 and abs(sides[0].level - sides[1].level) > _STEP:
            yield f"{where} has a step of more than {_STEP} mm"


def _said(doorway: Doorway, rooms: dict[int, PlannedRoom]) -> str:
    other = "outdoors" if doorway.b is None else rooms[doorway.b].id
    return f"{rooms[doorway.a].id} and {other}"


def _face(outline: Outline, jambs: tuple[Spot, Spot], thick: int, corner: int = _CORNER) -> int:
    """Return the side (-1, 1) of a wall's centre line on which an outline's face lies; 0: none."""
    x0, z0, x1, z1 = to_rect(jambs)
    along = 0 if z0 == z1 else 1
    lo, hi = (x0, x1) if along == 0 else (z0, z1)
    at = z0 if along == 0 else x0
    for a, b in outline_edges(outline):
        if a[1 - along] != b[1 - along] or abs(a[1 - along] - at) * 2 != thick:
            continue
        if min(a[along], b[along]) + corner <= lo and hi <= max(a[along], b[along]) - corner:
            return 1 if a[1 - along] > at else -1
    return 0


def _doors_apart(plan: Floorplan) -> Iterator[str]:
    rooms = {room.number: room for room in plan.rooms}
    places: list[tuple[int, Rect, Doorway]] = []
    for doorway in plan.doorways:
        place = expand_rect(to_rect(doorway.jambs), 1)
        places.append((rooms[doorway.a].floor, place, doorway))
    for (floor, a, one), (other, b, two) in combinations(places, 2):
        if floor == other and rects_overlap(a, b):
            yield f"the doorways of {_said(one, rooms)} and {_said(two, rooms)} overlap"


def _swings(plan: Floorplan) -> Iterator[str]:
    rooms = {room.number: room for room in plan.rooms}
    swept: list[tuple[int, Rect, str]] = []
    for doorway in plan.doorways:
        where = _said(doorway, rooms)
        if (doorway.leaf == "hinged") != (doorway.swing is not None):
            yield f"the door of {where}: expected a swing where it is hinged, and only there"
        if doorway.swing is None:
            continue
        room = rooms.get(doorway.swings_into or 0)
        rect = to_rect(doorway.swing)
        if room is None or not covers_rect(room.outline, rect):
            yield f"the door of {where} swings into a wall"
        elif rect[2] - rect[0] != doorway.width or rect[3] - rect[1] != doorway.width:
            yield f"the door of {where} sweeps another square than its own"
        else:
            swept.append((room.number, rect, where))
    for (a, one, first), (b, two, second) in combinations(swept, 2):
        if a == b and rects_overlap(one, two):
            yield f"the doors of {first} and of {second} hit each other"


def _windows(plan: Floorplan) -> Iterator[str]:
    rooms = {room.number: room for room in plan.rooms}
    for window in plan.windows:
        room = rooms[window.room]
        face = _face(room.outline, window.jambs, window.thickness)
        footprint = plan.storeys[room.floor - 1].footprint
        out = _face(footprint, window.jambs, window.thickness, 0)
        if not face or out != -face:
            yield f"a window of {room.id} is not in an outer wall of it"
    lit = {window.room for window in plan.windows}
    for room in plan.rooms:
        if room.kind in _LIT and room.number not in lit:
            yield f"{room.id} has no window"


CHECKS: tuple[Callable[[Floorplan], Iterator[str]], ...] = (
    _programme,
    _sizes,
    _no_overlap,
    _inside,
    _reachable,
    _doors_in_walls,
    _doors_apart,
    _swings,
    _windows,
    stair_step_faults,
    stairwell_faults,
)
