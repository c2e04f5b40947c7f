"""Rooms laid out along a storey's spine: every bay cut across, as squarely as areas allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from navloom_worlds.homes.dice import Dice
from navloom_worlds.homes.frame import SLIMMEST, SpineFrame
from navloom_worlds.homes.rectilinear import Rect
from navloom_worlds.homes.slots import NO_TAKER, Slot, deals, measure_far, takes_behind, widths
from navloom_worlds.homes.units import Unit

_DEALS, _BUILDS = 3, 4


@dataclass(frozen=True)
class Fixed:
    """What stands at a place on a bay before the rooms do: stairs, or the void over them.

    Attributes:
        kind: the room's; None for a void.
        bay: the key of its bay.
        lo: where it begins along the spine.
        hi: where it ends.
        depth: away from the spine.
        alone: whether nothing of the bay lies behind it.
    """

    kind: str | None
    bay: int
    lo: int
    hi: int
    depth: int
    alone: bool = False


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


def lay_out(
    dice: Dice, frame: SpineFrame, fixed: Sequence[Fixed], units: Sequence[Unit], front: float
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
    measure_far(frame, slots, front)
    standing = _standing(frame, fixed, slots)
    if standing is None:
        return None
    for n, dealt in enumerate(deals(dice, slots, units, front)):
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


def _slots(frame: SpineFrame, fixed: Sequence[Fixed]) -> list[Slot] | None:
    """The stretches of bays between fixed things; None where one is too short for a room."""
    slots = []
    for bay in frame.bays:
        at = bay.lo
        things = sorted((f.lo, f.hi) for f in fixed if f.bay == bay.key)
        for lo, hi in [*things, (bay.hi, bay.hi)]:
            if lo > at:
                if lo - at < SLIMMEST - 1000:
                    return None
                slots.append(Slot(bay, at, lo))
            at = hi
    return slots


def _standing(
    frame: SpineFrame, fixed: Sequence[Fixed], slots: Sequence[Slot]
) -> list[Cell] | None:
    """Cells of fixed things; floor behind them goes to the longer slot beside."""
    cells = []
    bays = {bay.key: bay for bay in frame.bays}
    for thing in fixed:
        bay = bays[thing.bay]
        cells.append(Cell(thing.kind, [bay.rect(thing.lo, 0, thing.hi, thing.depth)]))
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


def _cut(dice: Dice, slot: Slot, units: Sequence[Unit]) -> list[Cell] | None:
    cells: list[Cell] = []
    at = slot.lo
    units = _ends_taken(slot, units)
    for i, (unit, wide) in enumerate(zip(units, widths(slot, units), strict=True)):
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


def _ends_taken(slot: Slot, units: Sequence[Unit]) -> list[Unit]:
    """The units so that at ends with floor to be taken there is one to take it."""
    order = list(units)
    for end, rest in ((0, slot.before), (len(order) - 1, slot.beyond)):
        able = [i for i, unit in enumerate(order) if takes_behind(unit)]
        if rest and able and end not in able:
            i = able[0] if end else able[-1]
            order[end], order[i] = order[i], order[end]
    return order


def _built(dice: Dice, slot: Slot, unit: Unit, at: int, wide: int) -> list[Cell] | None:
    pieces = unit.built(dice, wide, slot.depth)
    if pieces is None:
        return None
    rooms: dict[int, Cell] = {}
    for room, (lo, near, hi, far) in pieces:
        cell = rooms.setdefault(id(room), Cell(room.kind, [], room is unit.back))
        cell.rects.append(slot.bay.rect(at + lo, near, at + hi, far))
    return list(rooms.values())


def _beside(slot: Slot, rest: Rect, rooms: Sequence[Cell]) -> Cell | None:
    """The room that takes the floor behind a fixed thing: one that touches all of its side."""
    along = 0 if slot.bay.side in "NS" else 1
    for cell in rooms:
        for r in cell.rects:
            meets = r[along] == rest[along + 2] or r[along + 2] == rest[along]
            spans = r[1 - along] <= rest[1 - along] and r[3 - along] >= rest[3 - along]
            if meets and spans and cell.kind not in NO_TAKER:
                return cell
    return None
