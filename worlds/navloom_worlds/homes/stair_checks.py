"""What must be true of stairs: each step like the last, and floors at both ends."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from navloom_worlds.homes.floorplan import Flight, Floorplan, Outline
from navloom_worlds.homes.rectilinear import covers

_RISERS = (155, 195)
_GOINGS = (250, 300)
_LANDING = 800


def stairs_climb(plan: Floorplan) -> Iterator[str]:
    """Risers and treads are what a foot expects, from one floor to the other."""
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


def stairs_line_up(plan: Floorplan) -> Iterator[str]:
    """Stairs lie in their stairwell, nothing lies over them, and they end at a room's edge."""
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
        if not all(covers(lower.outline, block) for block in blocks):
            yield f"{where} lie outside it"
        for room in (r for r in plan.rooms if r.floor == upper.floor):
            if any(not _apart(room.outline, block) for block in blocks):
                yield f"{where}: {room.id} lies over them"


def _meets(outline: Outline, flight: Flight, end: int) -> bool:
    """Whether an end of the way lies in a shape or on its edge."""
    x, _, z = flight.line[end]
    return any(
        covers(outline, (x - dx, z - dz, x - dx + 2, z - dz + 2))
        for dx in (0, 1, 2)
        for dz in (0, 1, 2)
    )


def _apart(outline: Outline, rect: tuple[int, int, int, int]) -> bool:
    """Whether a rectangle shares no floor with a rectilinear shape."""
    xs = sorted({rect[0], rect[2], *(x for x, _ in outline if rect[0] < x < rect[2])})
    zs = sorted({rect[1], rect[3], *(z for _, z in outline if rect[1] < z < rect[3])})
    return not any(
        covers(outline, (x0, z0, x1, z1))
        for x0, x1 in itertools.pairwise(xs)
        for z0, z1 in itertools.pairwise(zs)
    )
