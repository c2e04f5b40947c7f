"""Rooms laid out along a storey's spine: every bay cut across, as squarely as areas allow.

Of many ways to give the bays their units the best is kept: rooms near the size they should have,
neither slivers nor halls, public ones towards the front door.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from navloom.scenes.homes.dice import Dice
from navloom.scenes.homes.frame import Bay, Frame, snap
from navloom.scenes.homes.programme import KINDS
from navloom.scenes.homes.rectilinear import Rect
from navloom.scenes.homes.units import Unit

_TRIES = 24
_NOT = 100.0
_REACH = 1300
"""So much of a unit lies along the spine at least, in mm: a door and its jambs."""
_RANKS = {
    "garage": 0.0, "entryway": 0.05, "living room": 0.2, "dining room": 0.3, "kitchen": 0.35,
    "pantry": 0.4, "toilet": 0.3, "laundry": 0.5, "storage": 0.5, "office": 0.5, "library": 0.45,
    "family room": 0.4, "media room": 0.5, "gym": 0.6,
}  # fmt: skip
_PUBLIC = ("living room", "dining room", "kitchen", "family room")


@dataclass(frozen=True)
class Fixed:
    """What stands at a place on a bay before the rooms do: stairs, a lift, a way in.

    Attributes:
        kind: the room's; None for a void over stairs.
        bay: the key of its bay.
        lo: where it begins along the spine.
        hi: where it ends.
        depth: away from the spine.
    """

    kind: str | None
    bay: int
    lo: int
    hi: int
    depth: int


@dataclass
class Cell:
    """A part of a storey: a room to be, or a void.

    Attributes:
        kind: None for a void.
        rects: up to the middle of walls.
        own: whether it is its neighbour's alone, as a bath of a bedroom.
    """

    kind: str | None
    rects: list[Rect]
    own: bool = False


@dataclass
class _Slot:
    bay: Bay
    lo: int
    hi: int
    behind: list[Rect] = field(default_factory=list)
    """Floor behind a fixed thing, at its lower end or its upper one."""
    behind_hi: bool = False

    @property
    def length(self) -> int:
        return self.hi - self.lo

    @property
    def narrow(self) -> bool:
        return self.touch < self.length - 1000

    @property
    def touch(self) -> int:
        return min(self.hi, self.bay.touch[1]) - max(self.lo, self.bay.touch[0])


def lay_out(
    dice: Dice, frame: Frame, fixed: Sequence[Fixed], units: Sequence[Unit], front: float
) -> list[Cell] | None:
    """Cut a storey's bays into rooms.

    Args:
        dice: its own.
        frame: what is to be cut.
        fixed: what stands already.
        units: what is to be built.
        front: towards which end of the spine people come in, 0 for its beginning, 1 for its end.

    Returns:
        The cells of bays, without the spine; None where nothing fits.
    """
    slots = _slots(frame, fixed)
    if slots is None:
        return None
    cells = _fixed_cells(frame, fixed, slots)
    best: tuple[float, list[list[Unit]]] | None = None
    for _ in range(_TRIES):
        dealt = _deal(dice, frame, slots, units, front)
        cost = sum(_cost(slot, given) for slot, given in zip(slots, dealt, strict=True))
        if cost < 60 and (best is None or cost < best[0]):
            best = (cost, dealt)
    if best is None:
        return None
    for slot, given in zip(slots, best[1], strict=True):
        built = _cut(dice, slot, given)
        if built is None:
            return None
        cells += built
    return cells


def _slots(frame: Frame, fixed: Sequence[Fixed]) -> list[_Slot] | None:
    """The stretches of bays between fixed things."""
    slots = []
    for bay in frame.bays:
        things = sorted((f for f in fixed if f.bay == bay.key), key=lambda f: f.lo)
        at = bay.lo
        for lo, hi in [*((f.lo, f.hi) for f in things), (bay.hi, bay.hi)]:
            if lo > at:
                if lo - at < 1100:
                    return None
                slots.append(_Slot(bay, at, lo))
            at = hi
    return slots


def _fixed_cells(frame: Frame, fixed: Sequence[Fixed], slots: list[_Slot]) -> list[Cell]:
    cells = []
    bays = {bay.key: bay for bay in frame.bays}
    for thing in fixed:
        bay = bays[thing.bay]
        cells.append(Cell(thing.kind, [bay.rect(thing.lo, 0, thing.hi, thing.depth)]))
        if thing.depth == bay.depth:
            continue
        rest = bay.rect(thing.lo, thing.depth, thing.hi, bay.depth)
        beside = [s for s in slots if s.bay.key == bay.key and thing.lo in (s.hi, s.lo)]
        beside += [s for s in slots if s.bay.key == bay.key and thing.hi in (s.lo, s.hi)]
        beside = [s for s in beside if not s.behind]
        if beside:
            taker = max(beside, key=lambda s: s.length)
            taker.behind.append(rest)
            taker.behind_hi = taker.hi == thing.lo
        else:
            cells.append(Cell(None, [rest]))
    return cells


def _deal(
    dice: Dice, frame: Frame, slots: list[_Slot], units: Sequence[Unit], front: float
) -> list[list[Unit]]:
    """One way to give the units to the slots, in order of how private both are."""
    noise = dice.between(0.05, 0.6)
    order = sorted(range(len(slots)), key=lambda i: _far(frame, slots[i], front, dice, noise))
    ranked = sorted(units, key=lambda u: _rank(u) + noise * dice.unit())
    room = sum(slot.length * slot.bay.depth for slot in slots)
    scale = room / max(1.0, sum(unit.area for unit in units))
    dealt: list[list[Unit]] = [[] for _ in slots]
    filled, i = 0.0, 0
    for unit in ranked:
        size = unit.area * scale
        while i < len(order) - 1 and filled + size / 2 > _room(slots[order[i]]):
            filled -= _room(slots[order[i]])
            i += 1
        dealt[order[i]].append(unit)
        filled += size
    for given in dealt:
        if dice.chance(0.3):
            given.reverse()
    return dealt


def _room(slot: _Slot) -> float:
    return float(slot.length * slot.bay.depth)


def _far(frame: Frame, slot: _Slot, front: float, dice: Dice, noise: float) -> float:
    rects = frame.spine
    x0, z0 = min(r[0] for r in rects), min(r[1] for r in rects)
    x1, z1 = max(r[2] for r in rects), max(r[3] for r in rects)
    a = slot.bay.rect(slot.lo, 0, slot.hi, slot.bay.depth)
    along = ((a[0] + a[2]) / 2 - x0 + (a[1] + a[3]) / 2 - z0) / (x1 - x0 + z1 - z0)
    return abs(along - front) + 0.6 * noise * dice.unit()


def _rank(unit: Unit) -> float:
    return _RANKS.get(unit.kind, 0.8)


def _cost(slot: _Slot, units: list[Unit]) -> float:
    """How ill these units sit in a slot; 100 where they cannot be there at all."""
    depth = slot.bay.depth
    if not units or sum(unit.least(depth) for unit in units) > slot.length:
        return _NOT
    several = slot.narrow and len(units) > 1
    if several and (len(units) > 3 or any(unit.kind not in _PUBLIC for unit in units)):
        return _NOT
    wants = sum(unit.area for unit in units) / depth
    cost = (max(wants / slot.length, slot.length / wants) - 1.0) * 10 * len(units)
    at = slot.lo
    for unit, wide in zip(units, _widths(slot, units), strict=True):
        reach = min(at + wide, slot.bay.touch[1]) - max(at, slot.bay.touch[0])
        if not several and reach < min(1000 if slot.narrow else _REACH, wide):
            return _NOT
        cost += _ill_shaped(unit, wide, depth)
        at += wide
    kinds = [unit.kind for unit in units]
    together = "dining room" in kinds and "kitchen" in kinds
    if together and abs(kinds.index("dining room") - kinds.index("kitchen")) == 1:
        cost -= 3
    return cost


def _ill_shaped(unit: Unit, wide: int, depth: int) -> float:
    """What a stretch of this shape costs a unit: slivers and halls are no rooms."""
    limit = sum(KINDS[room.kind].most for room in unit.rooms) * 1.15e6
    cost = 20.0 if wide * depth > limit else 0.0
    if unit.host is None:
        return cost + (25.0 if depth > 2.6 * wide else 0.0)
    worst = 2.0 if unit.back or unit.front else 1.7
    return cost + max(0.0, max(wide / depth, depth / wide) - worst) * 8


def _widths(slot: _Slot, units: list[Unit]) -> list[int]:
    """How long a stretch of the slot each unit takes; they add up to all of it."""
    depth = slot.bay.depth
    least = [unit.least(depth) for unit in units]
    wish = [max(unit.area / depth, low) for unit, low in zip(units, least, strict=True)]
    spare = slot.length - sum(least)
    over = sum(w - low for w, low in zip(wish, least, strict=True))
    widths = []
    for w, low in zip(wish, least, strict=True):
        part = (w - low) / over if over > 1 else 1 / len(units)
        widths.append(snap(low + spare * part))
    widths[widths.index(max(widths))] += slot.length - sum(widths)
    return widths


def _cut(dice: Dice, slot: _Slot, units: list[Unit]) -> list[Cell] | None:
    cells: list[Cell] = []
    at = slot.lo
    for i, (unit, wide) in enumerate(zip(units, _widths(slot, units), strict=True)):
        pieces = unit.built(dice, wide, slot.bay.depth)
        if pieces is None:
            return None
        rooms: dict[int, Cell] = {}
        for room, (lo, near, hi, far) in pieces:
            cell = rooms.setdefault(id(room), Cell(room.kind, [], room is unit.back))
            cell.rects.append(slot.bay.rect(at + lo, near, at + hi, far))
        edge = len(units) - 1 if slot.behind_hi else 0
        if slot.behind and i == edge:
            taker = _at_edge(slot, rooms)
            if taker is None:
                return None
            taker.rects += slot.behind
        cells += rooms.values()
        at += wide
    return cells


def _at_edge(slot: _Slot, rooms: dict[int, Cell]) -> Cell | None:
    """The room that takes the floor behind a fixed thing: one that touches all of its side."""
    rest = slot.behind[0]
    for cell in rooms.values():
        for r in cell.rects:
            if slot.bay.side in "NS":
                meets = r[0] in (rest[2],) or r[2] == rest[0]
                spans = r[1] <= rest[1] and r[3] >= rest[3]
            else:
                meets = r[1] == rest[3] or r[3] == rest[1]
                spans = r[0] <= rest[0] and r[2] >= rest[2]
            if meets and spans:
                return cell
    return None
