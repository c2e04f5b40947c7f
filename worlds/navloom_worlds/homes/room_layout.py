"""Division of a storey's bays into rooms, as square as their areas allow.

Room groups are first assigned to the free stretches of the bays. Of many assignments the best are
tried: rooms near their target size, neither slivers nor halls, public ones towards the front door.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import fsum

from navloom_worlds.homes.rectilinear import Rect, to_rect
from navloom_worlds.homes.rng import Rng
from navloom_worlds.homes.room_groups import RoomGroup
from navloom_worlds.homes.storey_footprint import SLIMMEST, Bay, SpineFrame, snap_to_grid

_TRIES, _GOOD, _POOR = 7, 0.7, 60.0
_NOT = 100.0
_REACH = 1300
"""Minimum length of a group along the spine, in mm: a door and its jambs."""
_PUBLIC = ("living room", "dining room", "kitchen", "family room")
NO_TAKER = ("entryway", "toilet", "closet", "pantry", "bathroom")
"""Room kinds that never take floor behind stairs."""
_RANKS = {
    "garage": 0.0, "entryway": 0.05, "living room": 0.2, "dining room": 0.3, "kitchen": 0.35,
    "pantry": 0.4, "toilet": 0.3, "laundry": 0.5, "storage": 0.5, "office": 0.5, "library": 0.45,
    "family room": 0.4, "media room": 0.5, "gym": 0.6,
}  # fmt: skip
_PRIVATE = 0.8


@dataclass
class BaySlot:
    """Stretch of a bay between fixed cells.

    Attributes:
        bay: its bay.
        lo: its start along the spine.
        hi: its end along the spine.
        far: relative distance from the entrance, 0 to about 1.
        before: floor behind a fixed cell before ``lo``, which a room of the slot takes.
        beyond: the same, after ``hi``.
    """

    bay: Bay
    lo: int
    hi: int
    far: float = 0.0
    before: Rect | None = None
    beyond: Rect | None = None

    def __post_init__(self) -> None:
        self.length = self.hi - self.lo
        self.depth = self.bay.depth
        self.area = float(self.length * self.depth)
        self.touch = max(self.lo, self.bay.touch[0]), min(self.hi, self.bay.touch[1])
        self.narrow = self.touch[1] - self.touch[0] < self.length - 1000
        """Whether the spine lies along only a small part of it."""

    @property
    def whole(self) -> Rect:
        """Rectangle of the whole slot."""
        return self.bay.rect(self.lo, 0, self.hi, self.depth)


def set_front_distance(frame: SpineFrame, slots: Sequence[BaySlot], front: float) -> None:
    """Set each slot's distance from the front, which is an end of the spine, 0 or 1."""
    x0, z0, x1, z1 = to_rect(spot for r in frame.spine for spot in ((r[0], r[1]), (r[2], r[3])))
    for slot in slots:
        a = slot.whole
        along = ((a[0] + a[2]) / 2 - x0 + (a[1] + a[3]) / 2 - z0) / (x1 - x0 + z1 - z0)
        slot.far = abs(along - front)


def assign_room_groups(
    dice: Rng, slots: Sequence[BaySlot], units: Sequence[RoomGroup], front: float
) -> Iterator[list[list[RoomGroup]]]:
    """Yield assignments of the groups to the slots, the best first."""
    if len(units) < len(slots):
        return
    found: list[tuple[float, int, list[list[RoomGroup]]]] = []
    for i in range(_TRIES):
        dealt = _deal(dice, slots, units, front)
        cost = fsum(_cost(slot, given) for slot, given in zip(slots, dealt, strict=True))
        if cost < _POOR:
            found.append((cost, i, dealt))
            if cost < _GOOD * len(units):
                break
    yield from (dealt for _, _, dealt in sorted(found, key=lambda each: each[:2]))


def _deal(
    dice: Rng, slots: Sequence[BaySlot], units: Sequence[RoomGroup], front: float
) -> list[list[RoomGroup]]:
    """Draw at random one assignment of room groups to slots, large groups first.

    Returns:
        The groups of each slot, in the slots' order.
    """
    noise = dice.between(0.05, 0.6)
    scale = fsum(slot.area for slot in slots) / max(1.0, fsum(unit.area for unit in units))
    left = [slot.area for slot in slots]
    dealt: list[list[RoomGroup]] = [[] for _ in slots]
    for unit in sorted(units, key=lambda u: -u.area * dice.between(0.8, 1.2)):
        size, rank = unit.area * scale, _RANKS.get(unit.kind, _PRIVATE)
        best, least = 0, 1e9
        for i, slot in enumerate(slots):
            misfit = abs(slot.far - rank) + noise * dice.unit()
            if size > left[i]:
                misfit += 6 * (size - left[i]) / size
            elif slot.narrow:
                misfit += 2 * (left[i] - size) / slot.area
            if slot.narrow and dealt[i] and not _public([*dealt[i], unit]):
                short = slot.touch[1] - slot.touch[0] < _REACH * (len(dealt[i]) + 1)
                misfit += 20 if short else 0.1
            if misfit < least and unit.least(slot.depth) <= slot.length:
                best, least = i, misfit
        dealt[best].append(unit)
        left[best] -= size
    _fill_empty(slots, dealt, scale)
    away = 1 if front < 0.5 else -1
    for given in dealt:
        given.sort(key=lambda u: away * _RANKS.get(u.kind, _PRIVATE) + noise * dice.unit())
    for slot, given in zip(slots, dealt, strict=True):
        if slot.narrow and 1 < len(given) < 4:
            # Each must reach the spine, which matters more than the order from the front.
            orders = [list(order) for order in itertools.permutations(given)]
            reaching = min(orders, key=lambda order: _cost(slot, order))
            given[:] = reaching
    return dealt


def _public(units: Sequence[RoomGroup]) -> bool:
    """Check whether people may pass through each of these groups to reach another."""
    return all(unit.kind in _PUBLIC for unit in units)


def _fill_empty(slots: Sequence[BaySlot], dealt: list[list[RoomGroup]], scale: float) -> None:
    """Give each empty slot the best-fitting group of a slot that has several."""
    for i, given in enumerate(dealt):
        if given:
            continue
        offers = [
            (abs(unit.area * scale - slots[i].area), j, k)
            for j, others in enumerate(dealt)
            if len(others) > 1
            for k, unit in enumerate(others)
            if unit.least(slots[i].depth) <= slots[i].length
        ]
        if offers:
            _, j, k = min(offers)
            given.append(dealt[j].pop(k))


def _cost(slot: BaySlot, units: Sequence[RoomGroup]) -> float:
    """Return the misfit of these groups in a slot; 100 if they cannot be there at all."""
    depth = slot.depth
    if not units or sum(unit.least(depth) for unit in units) > slot.length:
        return _NOT
    takers = sum(fits_behind_stairs(unit) for unit in units)
    if takers < min(len(units), (slot.before is not None) + (slot.beyond is not None)):
        return _NOT
    # In a narrow slot a public room may be reached through another one.
    several = slot.narrow and 1 < len(units) < 4 and _public(units)
    wants = fsum(unit.area for unit in units) / depth
    cost = (max(wants / slot.length, slot.length / wants) - 1.0) * 10 * len(units)
    at = slot.lo
    for unit, wide in zip(units, split_widths(slot, units), strict=True):
        reach = min(at + wide, slot.touch[1]) - max(at, slot.touch[0])
        if not several and reach < min(1000 if slot.narrow else _REACH, wide):
            return _NOT
        cost += _ill_shaped(unit, wide, depth)
        at += wide
    kinds = [unit.kind for unit in units]
    if "dining room" in kinds and "kitchen" in kinds:
        cost -= 6 if abs(kinds.index("dining room") - kinds.index("kitchen")) == 1 else 2
    return cost


def fits_behind_stairs(unit: RoomGroup) -> bool:
    """Check whether a group's main room may take floor behind stairs."""
    return unit.host is not None and unit.host.kind not in NO_TAKER


def _ill_shaped(unit: RoomGroup, wide: int, depth: int) -> float:
    """Return the cost of this shape for a group: slivers and halls are penalised."""
    if wide * depth > unit.most:
        return _NOT
    if unit.host is None:
        return 25.0 if depth > 2.6 * wide else 0.0
    over = max(wide / depth, depth / wide) - (1.9 if unit.back or unit.front else 1.6)
    return _NOT if over > 1.0 else max(0.0, over) * 12


def split_widths(slot: BaySlot, units: Sequence[RoomGroup]) -> list[int]:
    """Return the length in mm of each group's part of a slot; they sum to the slot's length."""
    depth = slot.depth
    least = [unit.least(depth) for unit in units]
    more = [max(unit.area / depth - low, 0.0) for unit, low in zip(units, least, strict=True)]
    spare, over = slot.length - sum(least), fsum(more)
    found = [
        snap_to_grid(low + spare * (each / over if over > 1 else 1 / len(units)))
        for low, each in zip(least, more, strict=True)
    ]
    found[found.index(max(found))] += slot.length - sum(found)
    return found


_DEALS, _BUILDS = 3, 4


@dataclass(frozen=True)
class FixedCell:
    """Cell with a fixed position in a bay: stairs, a lift, or the void over stairs.

    Attributes:
        kind: room kind; None for a void.
        bay: key of its bay.
        lo: its start along the spine.
        hi: its end along the spine.
        depth: its extent away from the spine.
        alone: whether nothing of the bay lies behind it.
    """

    kind: str | None
    bay: int
    lo: int
    hi: int
    depth: int
    alone: bool = False


@dataclass
class StoreyCell:
    """Part of a storey that becomes a room or a void.

    Attributes:
        kind: room kind; None for a void.
        rects: up to the centre lines of the walls.
        own: whether it belongs to its neighbour alone, as a bedroom's bath.
    """

    kind: str | None
    rects: list[Rect]
    own: bool = False


def lay_out(
    dice: Rng,
    frame: SpineFrame,
    fixed: Sequence[FixedCell],
    units: Sequence[RoomGroup],
    front: float,
) -> list[StoreyCell] | None:
    """Divide a storey's bays into rooms.

    Args:
        dice: its own random stream.
        frame: the storey's footprint.
        fixed: cells that are placed already.
        units: room groups to place.
        front: end of the spine near the entrance, 0 for its start, 1 for its end.

    Returns:
        The cells of the bays, without the spine; None if nothing fits.
    """
    slots = _slots(frame, fixed)
    if slots is None:
        return None
    set_front_distance(frame, slots, front)
    standing = _standing(frame, fixed, slots)
    if standing is None:
        return None
    for n, dealt in enumerate(assign_room_groups(dice, slots, units, front)):
        if n == _DEALS:
            break
        cells = list(standing)
        for slot, given in zip(slots, dealt, strict=True):
            built = _cut(dice, slot, given)
            if built is None:
                break
            cells += built
        else:
            return cells
    return None


def _slots(frame: SpineFrame, fixed: Sequence[FixedCell]) -> list[BaySlot] | None:
    """Return the stretches of bays between fixed cells; None if one is too short for a room."""
    slots = []
    for bay in frame.bays:
        at = bay.lo
        things = sorted((f.lo, f.hi) for f in fixed if f.bay == bay.key)
        for lo, hi in [*things, (bay.hi, bay.hi)]:
            if lo > at:
                if lo - at < SLIMMEST - 1000:
                    return None
                slots.append(BaySlot(bay, at, lo))
            at = hi
    return slots


def _standing(
    frame: SpineFrame, fixed: Sequence[FixedCell], slots: Sequence[BaySlot]
) -> list[StoreyCell] | None:
    """Return the fixed cells; the floor behind each goes to the longer adjacent slot."""
    cells = []
    bays = {bay.key: bay for bay in frame.bays}
    for thing in fixed:
        bay = bays[thing.bay]
        cells.append(StoreyCell(thing.kind, [bay.rect(thing.lo, 0, thing.hi, thing.depth)]))
        if thing.alone or thing.depth == bay.depth:
            continue
        rest = bay.rect(thing.lo, thing.depth, thing.hi, bay.depth)
        beside = [s for s in slots if s.bay is bay and thing.lo == s.hi]
        beside += [s for s in slots if s.bay is bay and thing.hi == s.lo]
        if not beside:
            return None
        taker = max(beside, key=lambda slot: slot.length)
        if taker.hi == thing.lo:
            taker.beyond = rest
        else:
            taker.before = rest
    return cells


def _cut(dice: Rng, slot: BaySlot, units: Sequence[RoomGroup]) -> list[StoreyCell] | None:
    cells: list[StoreyCell] = []
    at = slot.lo
    units = _ends_taken(slot, units)
    for i, (unit, wide) in enumerate(zip(units, split_widths(slot, units), strict=True)):
        behind = [slot.before] if slot.before and i == 0 else []
        behind += [slot.beyond] if slot.beyond and i == len(units) - 1 else []
        for _ in range(_BUILDS):
            rooms = _built(dice, slot, unit, at, wide)
            takers = [_beside(slot, rest, rooms or ()) for rest in behind]
            if rooms is not None and None not in takers:
                break
        else:
            return None
        for taker, rest in zip(takers, behind, strict=True):
            if taker is not None:
                taker.rects.append(rest)
        cells += rooms
        at += wide
    return cells


def _ends_taken(slot: BaySlot, units: Sequence[RoomGroup]) -> list[RoomGroup]:
    """Return the groups reordered, so that one that can use floor behind stairs is at that end."""
    order = list(units)
    for end, rest in ((0, slot.before), (len(order) - 1, slot.beyond)):
        able = [i for i, unit in enumerate(order) if fits_behind_stairs(unit)]
        if rest and able and end not in able:
            i = able[0] if end else able[-1]
            order[end], order[i] = order[i], order[end]
    return order


def _built(dice: Rng, slot: BaySlot, unit: RoomGroup, at: int, w: int) -> list[StoreyCell] | None:
    pieces = unit.built(dice, w, slot.depth)
    if pieces is None:
        return None
    rooms: dict[int, StoreyCell] = {}
    for room, (lo, near, hi, far) in pieces:
        cell = rooms.setdefault(id(room), StoreyCell(room.kind, [], room is unit.back))
        cell.rects.append(slot.bay.rect(at + lo, near, at + hi, far))
    return list(rooms.values())


def _beside(slot: BaySlot, rest: Rect, rooms: Sequence[StoreyCell]) -> StoreyCell | None:
    """Return the room that takes the floor behind a fixed cell: one that touches its whole side."""
    along = 0 if slot.bay.side in "NS" else 1
    for cell in rooms:
        for r in cell.rects:
            meets = r[along] == rest[along + 2] or r[along + 2] == rest[along]
            spans = r[1 - along] <= rest[1 - along] and r[3 - along] >= rest[3 - along]
            if meets and spans and cell.kind not in NO_TAKER:
                return cell
    return None
