"""Placement of wall and ceiling items: pictures, mirrors, cabinets, lamps, curtains; also rugs.

Like :mod:`navloom_worlds.homes.place_floor`, it has one function for each placement rule.
"""

from __future__ import annotations

from collections.abc import Callable

from navloom_worlds.homes.catalogue import ItemSpec, Place
from navloom_worlds.homes.floorplan import Spot
from navloom_worlds.homes.placement import PlacedItem, RoomState, Size
from navloom_worlds.homes.rectilinear import rect_centre, rects_overlap
from navloom_worlds.homes.room_occupancy import WallSide

FLAT = 60
"""mm: items no deeper than this do not obstruct anybody."""
_OVER = 100
"""mm between an item and the item that hangs above it."""
_NOT_ON_RUGS = frozenset(
    {"appliance", "bathtub", "cabinet", "counter", "shelf", "shower", "toilet"}
)
"""Shapes that stand beside a rug, never partly on it."""


def _hung(room: RoomState, entry: ItemSpec, size: Size) -> PlacedItem | None:
    """Hang an item above its anchor, or anywhere if ``otherwise`` is set; return it, or None."""
    for anchor in room.items_named(entry.to):
        if not any(thing.anchor is anchor and thing.hung for thing in room.placed):
            wide = anchor.size[0] if entry.match else size[0]
            thing = _above(room, entry, (wide, *size[1:]), anchor)
            if thing is not None:
                return thing
    if entry.to and entry.otherwise is None:
        return None
    return _on_wall(room, entry, size)


def _on_wall(room: RoomState, entry: ItemSpec, size: Size) -> PlacedItem | None:
    wide, high, deep = size
    bottom = room.dice.whole(*entry.high)
    bottom = min(bottom, room.ground.ceiling - high - 50)
    bottom -= bottom % 2
    seats = [t for t in room.placed if t.entry.seat or t.entry.shape == "bed"]
    watched = seats[0] if entry.shape == "screen" and seats else None
    sides = [
        side
        for side in room.ground.sides
        if side.high - side.low >= wide
        and (watched is None or side.quarter == (watched.quarter + 2) % 4)
    ]
    # A long wall is more likely to be tried first.
    order = sorted((-room.dice.unit() * (s.high - s.low), i) for i, s in enumerate(sides))
    for _, i in order:
        side = sides[i]
        # The span is free up to the ceiling: no picture hangs under a hood.
        found = room.ground.spans(side, deep, bottom, room.ground.ceiling, 0, (), deep <= FLAT)
        spans = [(low, end - wide) for low, end in found if end - low >= wide]
        if not spans:
            continue
        if watched is not None:
            middle = watched.x if side.along_x else watched.z
            spans.sort(key=lambda span: max(span[0] - middle, middle - span[1] - wide, 0))
        low, last = room.dice.pick(spans if watched is None else spans[:1])
        start = (low + last) // 2 if room.dice.chance(0.4) else room.dice.whole(low, last)
        if watched is not None:
            start = min(max(middle - wide // 2, low), last)
        thing = _hang(room, entry, size, side, start, bottom, None)
        if thing is not None:
            return thing
    return None


def _above(room: RoomState, entry: ItemSpec, size: Size, anchor: PlacedItem) -> PlacedItem | None:
    """Hang an item on the wall behind an anchor, centred over it; return it, or None."""
    x, z = anchor.place(0, anchor.size[2] // 2)
    for side in room.ground.sides:
        at, across = (x, z) if side.along_x else (z, x)
        if side.quarter != anchor.quarter or side.at != across or anchor.tilt:
            continue
        bottom = max(room.dice.whole(*entry.high), anchor.top + _OVER)
        bottom -= bottom % 2
        start = at - size[0] // 2
        if bottom + size[1] > room.ground.ceiling - 20 or start < side.low:
            continue
        if start + size[0] > side.high:
            continue
        rect = side.rect(start, start + size[0], 0, size[2])
        near = {anchor.number}
        if room.ground.fits(rect, bottom, room.ground.ceiling, near, size[2] <= FLAT):
            return _hang(room, entry, size, side, start, bottom, anchor)
    return None


def _hang(
    room: RoomState,
    entry: ItemSpec,
    size: Size,
    side: WallSide,
    start: int,
    bottom: int,
    host: PlacedItem | None,
) -> PlacedItem | None:
    spot = rect_centre(side.rect(start, start + size[0], 0, size[2]))
    walked = size[2] > FLAT
    return room.put(entry, size, spot, bottom, side.quarter, hung=True, anchor=host, walked=walked)


def _ceiling(room: RoomState, entry: ItemSpec, size: Size) -> PlacedItem | None:
    """Hang an item over a table, else over the middle of the floor; return it, or None."""
    x0, z0, x1, z1 = room.ground.bounds
    bottom = room.ground.ceiling - size[1]
    spots = [(thing.x, thing.z) for thing in room.items_named(entry.to)]
    spots.append(rect_centre(room.ground.bounds))
    spots += [(room.dice.whole(x0, x1), room.dice.whole(z0, z1)) for _ in range(4)]
    half, deep = size[0] // 2, size[2] // 2
    for x, z in spots:
        rect = (x - half, z - deep, x + half, z + deep)
        if room.ground.fits(rect, bottom, room.ground.ceiling, flat=True):
            return room.put(entry, size, (x, z), bottom, 0, hung=True, walked=False)
    return None


def _curtain(room: RoomState, entry: ItemSpec, size: Size) -> PlacedItem | None:
    """Hang a curtain, wider than the window, at a window without one; return it, or None."""
    taken = {(thing.x, thing.z) for thing in room.by_name.get(entry.name, ())}
    for side, low, high, sill, head in room.windows:
        low, high = max(low - 100, side.low), min(high + 100, side.high)
        wide = (high - low) // 2 * 2
        tall = (head - sill + 200) // 2 * 2
        top = min(head + 150, room.ground.ceiling - 10)
        rect = side.rect(low, low + wide, 0, size[2])
        spot = rect_centre(rect)
        bottom = max(top - tall, 20)
        if spot in taken or room.ground.is_occupied(rect, bottom, top):
            continue
        fitted = (wide, (top - bottom) // 2 * 2, size[2])
        thing = room.put(entry, fitted, spot, bottom, side.quarter, hung=True)
        if thing is not None:
            return thing
    return None


def _under(room: RoomState, entry: ItemSpec, size: Size) -> PlacedItem | None:
    """Lay a rug under its anchor, else in the middle of the room if ``otherwise`` allows it."""
    for anchor in room.items_named(entry.to):
        if any(thing.anchor is anchor and thing.entry.shape == "rug" for thing in room.placed):
            continue
        # It shows on the side where people sit or step out of bed.
        thing = _lay(room, entry, size, anchor.place(0, -entry.gap), anchor.quarter, anchor)
        if thing is not None:
            return thing
    if entry.to and entry.otherwise is None:
        return None
    x0, z0, x1, z1 = room.ground.bounds
    turn = 0 if x1 - x0 >= z1 - z0 else 1
    return _lay(room, entry, size, rect_centre(room.ground.bounds), turn, None)


def _door(room: RoomState, entry: ItemSpec, size: Size) -> PlacedItem | None:
    """Lay a mat inside a door, first at one that leads outside."""
    for side, low, high, _ in sorted(room.doors, key=lambda door: not door.outside):
        at = (low + high) // 2
        spot = rect_centre(side.rect(at, at, 60, 60 + size[2]))
        thing = _lay(room, entry, size, spot, side.quarter, None)
        if thing is not None:
            return thing
    return None


def _lay(
    room: RoomState, entry: ItemSpec, size: Size, spot: Spot, quarter: int, host: PlacedItem | None
) -> PlacedItem | None:
    rugs = [thing.rect for thing in room.placed if thing.entry.shape == "rug"]
    stood = [
        thing.rect
        for thing in room.placed
        if thing.entry.shape in _NOT_ON_RUGS and not thing.hung
        and thing.on is None and (host is None or thing.anchor is not host)
    ]  # fmt: skip
    for share in (10, 8, 6):
        fitted = (size[0] * share // 20 * 2, size[1], size[2] * share // 20 * 2)
        thing = PlacedItem(0, entry, fitted, *spot, 0, quarter)
        apart = not any(rects_overlap(thing.rect, other) for other in (*rugs, *stood))
        if fitted[0] >= entry.size[0][0] * 6 // 10 and apart and room.ground.rug_fits(thing.rect):
            return room.put(entry, fitted, spot, 0, quarter, anchor=host)
    return None


PLACES: dict[Place, Callable[[RoomState, ItemSpec, Size], PlacedItem | None]] = {
    "hung": _hung,
    "ceiling": _ceiling,
    "curtain": _curtain,
    "under": _under,
    "door": _door,
}
