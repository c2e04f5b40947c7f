"""Placement of furniture on the floor: against a wall, in a corner, beside a bed, around a table.

There is one function for each word of :data:`navloom_worlds.homes.catalogue.Place`. Each takes the
room and an entry, and places one more item of it. If it finds no place, it changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter

from navloom_worlds.homes.catalogue import ItemSpec, Place
from navloom_worlds.homes.placement import TILTS, PlacedItem, RoomState, Size, footprint_rect
from navloom_worlds.homes.rectilinear import expand_rect, rect_centre
from navloom_worlds.homes.room_occupancy import WallSide, rotate_offset

_TRIES = 3
"""Number of wall intervals tried for one item."""
_SPOTS = 10
"""Number of positions in the middle of a room tried for one item."""
_SIGHT = 5000
"""mm from a sofa's wall to the one it faces, beyond which another wall is better."""
_NEAR, _NO_OUTLOOK = 2600, 3.0
_SCREEN = (1000, 450, 500)
"""mm: width and depth of a screen's stand, and the clearance in front of it."""
_ASKANCE = 900
"""mm: maximum lateral offset between a screen's wall and the seat that faces it."""
_Span = tuple[WallSide, int, int]
_NOT_AT_WINDOWS = frozenset({"bed", "cabinet", "shelf"})
_OVER_SILLS = 1500
"""mm: above all window sills except those of bathrooms."""
_ASIDE = 2000
_ASKEW = [tilt for tilt in TILTS if tilt]


# -- against walls --------------------------------------------------------------------------------


def _wall(room: RoomState, entry: ItemSpec, size: Size) -> PlacedItem | None:
    if entry.place == "facing":
        return _askance(room, entry, size)
    sides = room.ground.sides
    if entry.shape in _NOT_AT_WINDOWS and room.windows:
        found = _along(room, entry, size, sides, entry.prefer, over=_OVER_SILLS)
        if found is not None:
            return found
    return _along(room, entry, size, sides, entry.prefer)


def _corner(room: RoomState, entry: ItemSpec, size: Size) -> PlacedItem | None:
    return _along(room, entry, size, room.ground.sides, "end", corner=True)


def _window(room: RoomState, entry: ItemSpec, size: Size) -> PlacedItem | None:
    """Place an item under a high enough window, else against any wall; return it, or None."""
    lit = [side for side in room.ground.sides if side in room.lit]
    found = _along(room, entry, size, lit, "centre") if lit else None
    return found or _wall(room, entry, size)


def _along(
    room: RoomState,
    entry: ItemSpec,
    size: Size,
    sides: Sequence[WallSide],
    prefer: str,
    *,
    corner: bool = False,
    at: int | None = None,
    over: int = 0,
) -> PlacedItem | None:
    """Place an item with its back to one of the given walls; return it, or None.

    ``at``: preferred position along the wall. ``over``: mm of wall above the floor that must be
    free of windows as well.
    """
    wide, high, deep = size
    ground = room.ground
    # A bed needs both sides free, or at least one; other items need none.
    for margins in (2, 1, 0) if entry.sides else (0,):
        need = wide + margins * entry.sides
        spans = [
            (side, low, low_end)
            for side in sides
            if side.high - side.low >= need
            for low, low_end in ground.spans(side, deep, 0, max(high, over), entry.clear)
            if low_end - low >= need
        ]
        if corner:
            spans = [s for s in spans if s[1] == s[0].low or s[2] == s[0].high]
        scored = [(_rank(room, prefer, span, need), i) for i, span in enumerate(spans)]
        looks: dict[int, int | None] = {}
        if entry.shape == "sofa" and prefer == "centre":
            outlooks = [_outlook(room, span, need) for span in spans]
            scored = [(rank + outlooks[i][0], i) for rank, i in scored]
            looks = {i: best for i, (_, best) in enumerate(outlooks)}
        if at is not None:
            aside = ((max(low - at, at - high, 0), i) for i, (_, low, high) in enumerate(spans))
            scored = [(float(off), i) for off, i in aside if off < _ASKANCE]
        scored.sort()
        for _, i in scored[:_TRIES]:
            side, low, _ = spans[i]
            for start in _starts(room, prefer, spans[i], need, looks.get(i, at), corner):
                left = entry.sides if margins == 2 or (margins and start != low) else 0
                thing = _back_to(room, entry, size, side, start + left)
                if thing is not None:
                    for u in (-1, 1) if entry.sides else ():
                        _keep_beside(room, thing, u)
                    return thing
    return None


def _rank(room: RoomState, prefer: str, span: _Span, need: int) -> float:
    """Rank a span; lower is tried first: long ones for centred items, tight ones for the rest."""
    side, low, high = span
    slack = min((high - low - need) / 4000, 1.0)
    noise = room.dice.unit()
    if prefer == "centre":
        return noise - slack
    whole = 0.3 * (low == side.low) + 0.3 * (high == side.high)
    return noise + 0.3 * slack - whole


def _outlook(room: RoomState, span: _Span, wide: int) -> tuple[float, int | None]:
    """Rate a sofa's view: 0 for a wall in sight with space for a screen, more if it is worse.

    Returns:
        The rating, and the best position of the sofa along its wall.
    """
    side, low, high = span
    least, most = low + wide // 2, high - wide // 2
    best: tuple[float, int | None] = (_NO_OUTLOOK, None)
    for other in room.ground.sides:
        far = abs(other.at - side.at)
        if other.quarter != (side.quarter + 2) % 4 or far < _NEAR:
            continue
        across, deep, before = _SCREEN
        for start, end in room.ground.spans(other, deep, 0, before, before):
            if end - start >= across:
                first, last = max(least, start + across // 2), min(most, end - across // 2)
                askance = max(0, first - last)
                at = min(max((first + last) // 2, least), most)
                best = min(best, ((askance + max(0, far - _SIGHT)) / 1000, at), key=itemgetter(0))
    return best


def _starts(
    room: RoomState, prefer: str, span: _Span, wide: int, at: int | None, corner: bool
) -> Iterator[int]:
    side, low, high = span
    last = high - wide
    if at is not None:
        yield min(max(at - wide // 2, low), last)
        if prefer != "centre":
            return
    ends = [end for end, true in ((low, low == side.low), (last, high == side.high)) if true]
    if corner:
        yield from room.dice.shuffled(ends)
        return
    middle = (low + last) // 2
    free = low + int((last - low) * room.dice.unit())
    if prefer == "centre":
        yield from (middle, free)
    elif prefer == "end":
        yield from (*room.dice.shuffled(ends or [low, last]), middle)
    else:
        yield from room.dice.shuffled([low, last, middle, free])[:3]


def _back_to(
    room: RoomState, entry: ItemSpec, size: Size, side: WallSide, start: int
) -> PlacedItem | None:
    spot = rect_centre(side.rect(start, start + size[0], 0, size[2]))
    return room.put(entry, size, spot, 0, side.quarter)


def _keep_beside(room: RoomState, thing: PlacedItem, u: int) -> None:
    half, deep = thing.size[0] // 2, thing.size[2] // 2
    near, far = u * half, u * (half + thing.entry.sides)
    rect = thing.zone(min(near, far), -deep, max(near, far), deep)
    if room.ground.fits(rect, 0, thing.top, (thing.number,)):
        room.ground.keep(rect, thing.number)


# -- on the open floor ----------------------------------------------------------------------------


def _middle(room: RoomState, entry: ItemSpec, size: Size) -> PlacedItem | None:
    """Place an item as near to the middle of the floor as possible; return it, or None."""
    wide, high, deep = size
    x0, z0, x1, z1 = room.ground.bounds
    centre = rect_centre(room.ground.bounds)
    drawn = [(room.dice.whole(x0, x1), room.dice.whole(z0, z1)) for _ in range(_SPOTS)]
    drawn.sort(key=lambda spot: abs(spot[0] - centre[0]) + abs(spot[1] - centre[1]))
    along = 0 if x1 - x0 >= z1 - z0 else 1
    for spot in (centre, *drawn):
        for turn in (along, 1 - along) if wide > deep else (along,):
            quarter = turn + 2 * room.dice.whole(0, 1)
            rect = footprint_rect(*spot, wide, deep, quarter)
            for clear in (entry.clear, entry.clear // 2):
                around = expand_rect(rect, clear)
                # Clearance zones of different items may overlap.
                if room.ground.fits(rect, 0, high) and room.ground.fits(around, 0, high, flat=True):
                    thing = room.put(entry, size, spot, 0, quarter, zone=around)
                    if thing is not None:
                        return thing
    return None


def _floor(room: RoomState, entry: ItemSpec, size: Size) -> PlacedItem | None:
    """Place an item on the floor as if left lying, mostly near a wall; return it, or None."""
    if room.dice.chance(0.6):
        return _wall(room, entry, size)
    x0, z0, x1, z1 = room.ground.bounds
    for _ in range(_SPOTS):
        spot = (room.dice.whole(x0, x1), room.dice.whole(z0, z1))
        quarter = room.dice.whole(0, 3)
        tilt = room.dice.pick(_ASKEW) if room.mess and room.dice.chance(0.5) else 0
        rect = footprint_rect(*spot, size[0], size[2], quarter, tilt)
        if room.ground.fits(rect, 0, size[1]):
            return room.put(entry, size, spot, 0, quarter, tilt=tilt)
    return None


# -- beside an anchor -----------------------------------------------------------------------------


def _beside(room: RoomState, entry: ItemSpec, size: Size) -> PlacedItem | None:
    """Place an item to the left or right of its anchor, backs in line; return it, or None."""
    for anchor in room.items_named(entry.to):
        for u in room.dice.shuffled((-1, 1)):
            gap = entry.gap or 20
            across = u * (anchor.size[0] // 2 + gap + size[0] // 2)
            spot = anchor.place(across, (anchor.size[2] - size[2]) // 2)
            thing = _by(room, entry, size, spot, anchor.quarter, anchor)
            if thing is not None:
                return thing
    return None


def _front(room: RoomState, entry: ItemSpec, size: Size) -> PlacedItem | None:
    """Place an item in front of its anchor, with the same orientation; return it, or None."""
    for anchor in room.items_named(entry.to):
        if any(thing.entry.name == entry.name and thing.anchor is anchor for thing in room.placed):
            continue
        away = anchor.size[2] // 2 + entry.gap + size[2] // 2
        thing = _by(room, entry, size, anchor.place(0, -away), anchor.quarter, anchor)
        if thing is not None:
            return thing
    return None


def _facing(room: RoomState, entry: ItemSpec, size: Size) -> PlacedItem | None:
    """Place an item against the wall that its anchor faces; return it, or None."""
    for anchor in room.items_named(entry.to):
        x, z = anchor.place(0, -anchor.size[2] // 2)
        opposite = []
        for i, side in enumerate(room.ground.sides):
            at, far = (x, abs(side.at - z)) if side.along_x else (z, abs(side.at - x))
            askance = max(side.low - at, at - side.high, 0)
            if side.quarter == (anchor.quarter + 2) % 4 and askance < _ASKANCE:
                opposite.append((askance + max(0, far - _SIGHT), i, at))
        for _, i, at in sorted(opposite):
            thing = _along(room, entry, size, [room.ground.sides[i]], "centre", at=at)
            if thing is not None:
                thing.anchor = anchor
                return thing
    return None


def _askance(room: RoomState, entry: ItemSpec, size: Size) -> PlacedItem | None:
    """Place an item at a wall to the side of its anchor, slightly ahead; return it, or None."""
    for anchor in room.items_named(entry.to):
        x, z = anchor.place(0, -_ASIDE)
        beside = [
            (abs(side.at - z), i, x) if side.along_x else (abs(side.at - x), i, z)
            for i, side in enumerate(room.ground.sides)
            if side.quarter % 2 != anchor.quarter % 2
        ]
        for _, i, at in sorted(beside):
            thing = _along(room, entry, size, [room.ground.sides[i]], "centre", at=at)
            if thing is not None:
                return thing
    return None


def _at(room: RoomState, entry: ItemSpec, size: Size) -> PlacedItem | None:
    """Place a seat in front of a desk, facing it, slightly pulled out; return it, or None."""
    for anchor in room.items_named(entry.to):
        if not any(thing.anchor is anchor and thing.entry.seat for thing in room.placed):
            thing = _drawn_up(room, entry, size, anchor, 0, 0)
            if thing is not None:
                return thing
    return None


def _around(room: RoomState, entry: ItemSpec, size: Size) -> PlacedItem | None:
    """Place a seat at the next free position at a table, long sides first; return it, or None."""
    for anchor in room.items_named(entry.to):
        if anchor.entry.seat:
            continue  # seats go beside a sofa, not around it
        wide, deep = anchor.size[0], anchor.size[2]
        pitch = size[0] + 60
        # At a sofa's table seats go to the ends, not between the sofa and the screen it faces.
        ends = ((1, 3), deep, 1)
        for edges, length, most in (ends,) if anchor.anchor else (((0, 2), wide, 9), ends):
            n = max(min(length // pitch, most), anchor.anchor is not None)
            for i in range(n):
                along = (2 * i + 1 - n) * length // (2 * n)
                for edge in edges:
                    if anchor.anchor:  # a wide seat starts where the sofa ends
                        shift = max(0, size[0] // 2 - deep // 2 - anchor.entry.gap)
                        along = -shift if edge == 1 else shift
                    thing = _drawn_up(room, entry, size, anchor, edge, along)
                    if thing is not None:
                        return thing
    return None


def _drawn_up(
    room: RoomState, entry: ItemSpec, size: Size, anchor: PlacedItem, edge: int, along: int
) -> PlacedItem | None:
    """Place a seat at a table edge (in quarter turns), facing the table; return it, or None."""
    tilt, gap = 0, entry.gap + 20
    if room.mess and room.dice.chance(0.3 * room.mess):
        gap += room.dice.whole(0, 120 * room.mess)
        tilt = room.dice.pick(_ASKEW) * room.dice.pick((-1, 1))
    half = anchor.size[2 * (1 - edge % 2)] // 2
    for pull, askew in ((gap, tilt), (entry.gap + 20, 0)):
        _, z0, _, z1 = footprint_rect(0, 0, size[0], size[2], 0, askew)
        dx, dz = rotate_offset(edge, along, -(half + pull + (z1 - z0) // 2))
        spot = anchor.place(dx, dz)
        thing = _by(room, entry, size, spot, (anchor.quarter + edge + 2) % 4, anchor, askew)
        if thing is not None:
            return thing
    return None


def _by(
    room: RoomState,
    entry: ItemSpec,
    size: Size,
    spot: tuple[int, int],
    quarter: int,
    anchor: PlacedItem,
    tilt: int = 0,
) -> PlacedItem | None:
    """Place an item near its anchor, perhaps in the anchor's zone; return it, or None."""
    near = {anchor.number, anchor.anchor.number if anchor.anchor else anchor.number}
    rect = footprint_rect(*spot, size[0], size[2], quarter, tilt)
    if not room.ground.fits(rect, 0, size[1], near):
        return None
    return room.put(entry, size, spot, 0, quarter, tilt=tilt, anchor=anchor)


PLACES: dict[Place, Callable[[RoomState, ItemSpec, Size], PlacedItem | None]] = {
    "wall": _wall,
    "corner": _corner,
    "window": _window,
    "middle": _middle,
    "floor": _floor,
    "beside": _beside,
    "front": _front,
    "facing": _facing,
    "at": _at,
    "around": _around,
}
