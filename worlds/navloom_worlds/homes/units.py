"""Groups of rooms built together: a bedroom with its own bath and closet, or a single room.

A group takes a stretch of a bay. The position of its small rooms gives rooms of many shapes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum, sqrt

from navloom_worlds.homes.dice import Dice
from navloom_worlds.homes.frame import snap
from navloom_worlds.homes.programme import KINDS, SMALL, Wanted
from navloom_worlds.homes.rectilinear import Rect

WALL = 100
"""Thickness of inner walls; cells reach to the centre lines, so they are larger by this."""
PASSAGE = 1100
"""Width left of a room beside a small room cut from its corner, in mm."""
Piece = tuple[Wanted, Rect]
"""A room and a rectangle of it, as (along the bay, away from the spine) both ways."""


@dataclass
class Unit:
    """Group of rooms that are built together.

    Attributes:
        host: the main room; None if a small room is alone.
        front: a small room that opens onto the spine.
        back: a small room of the host's own.
    """

    host: Wanted | None
    front: Wanted | None = None
    back: Wanted | None = None

    # These are read often, and computed once, when all rooms are known.
    @cached_property
    def rooms(self) -> tuple[Wanted, ...]:
        """All its rooms."""
        return tuple(room for room in (self.host, self.front, self.back) if room is not None)

    @cached_property
    def kind(self) -> str:
        """Kind of its main room."""
        return self.rooms[0].kind

    @cached_property
    def area(self) -> float:
        """Cell area in square millimetres."""
        return fsum(gross(room) for room in self.rooms)

    @cached_property
    def most(self) -> float:
        """Maximum area in square millimetres before its rooms become halls."""
        return fsum(KINDS[room.kind].most for room in self.rooms) * 1.2e6

    @cached_property
    def _sides(self) -> tuple[int, int]:
        """Minimum sides of its host and of the larger of its small rooms."""
        small = max((side(room) for room in (self.front, self.back) if room), default=0)
        return (side(self.host) if self.host else 0), small

    def least(self, depth: int) -> int:
        """Return the approximate minimum length that it takes in a bay of this depth."""
        host, small = self._sides
        if not host or not small:
            return host or small
        if (self.front and self.back) or depth - host < small:
            return host + small
        return max(host, small + PASSAGE)

    def built(self, dice: Dice, wide: int, deep: int) -> list[Piece] | None:
        """Divide a stretch ``wide`` by ``deep`` into its rooms; None if they do not fit."""
        host, small = self.host, self.front or self.back
        pieces: list[Piece] | None
        if host is None or small is None:
            pieces = [(room, (0, 0, wide, deep)) for room in self.rooms]
        elif self.front and self.back:
            pieces = _column(host, self.front, self.back, wide, deep)
        elif dice.chance(0.7):
            near = self.front is not None or dice.chance(0.4)
            pieces = _cut(dice, host, small, wide, deep, near) or _beside(host, small, wide, deep)
        else:
            near = self.front is not None
            pieces = _beside(host, small, wide, deep) or _cut(dice, host, small, wide, deep, near)
        if pieces is None or dice.chance(0.5):
            return pieces
        return [(room, (wide - r[2], r[1], wide - r[0], r[3])) for room, r in pieces]


def _column(host: Wanted, front: Wanted, back: Wanted, wide: int, deep: int) -> list[Piece] | None:
    """Place both small rooms one behind the other, beside the host."""
    a, b = gross(front), gross(back)
    narrowest = max(side(front), side(back))
    column = max(min(snap((a + b) / deep), wide - side(host)), narrowest)
    split = min(max(snap(deep * a / (a + b)), side(front)), deep - side(back))
    if wide - column < side(host) or split < side(front):
        return None
    return [
        (front, (0, 0, column, split)),
        (back, (0, split, column, deep)),
        (host, (column, 0, wide, deep)),
    ]


def _cut(
    dice: Dice, host: Wanted, small: Wanted, wide: int, deep: int, near: bool
) -> list[Piece] | None:
    """Place the small room in a corner of the host, ``near`` the spine or away from it."""
    least, longest, widest = side(small), deep - side(host), wide - PASSAGE
    if wide - least >= side(host):
        longest, widest = max(longest, deep - PASSAGE), wide - side(host)
    if longest < least or widest < least:
        return None
    long = min(max(snap(sqrt(gross(small)) * dice.between(0.85, 1.2)), least), longest)
    across = min(max(snap(gross(small) / long), least), widest)
    if gross(small) > across * long * 1.9:
        return None
    lo, hi = (0, long) if near else (deep - long, deep)
    rest = (0, long, across, deep) if near else (0, 0, across, lo)
    return [(small, (0, lo, across, hi)), (host, (across, 0, wide, deep)), (host, rest)]


def _beside(host: Wanted, small: Wanted, wide: int, deep: int) -> list[Piece] | None:
    """Place the small room beside the host, with the same depth."""
    across = max(snap(gross(small) / deep), side(small))
    if wide - across < side(host) or across * deep > 2.1 * gross(small) or deep > 2.8 * across:
        return None
    return [(small, (0, 0, across, deep)), (host, (across, 0, wide, deep))]


def side(room: Wanted) -> int:
    """Return the minimum side of a room's cell."""
    return KINDS[room.kind].side + WALL


def gross(room: Wanted) -> float:
    """Return the area of a room's cell in square millimetres, half of its walls included."""
    return room.area * 1.06e6


def draw_units(dice: Dice, rooms: Sequence[Wanted], hub: bool) -> list[Unit]:
    """Group a storey's rooms; the living room is left out if it is the spine."""
    hosts = [r for r in rooms if r.kind not in SMALL and not (hub and r.kind == "living room")]
    units = [Unit(host) for host in hosts]
    beds = sorted((u for u in units if _sleeps(u)), key=lambda u: -_host_area(u))
    fronts = _give_own(dice, rooms, units, beds)
    alone = []
    for small in dice.shuffled(fronts):
        takers = [u for u in units if u.front is None and _takes(u, small)]
        paired = [u for u in takers if u.back is not None]
        if paired and dice.chance(0.75):
            dice.pick(paired).front = small
        elif takers and (small.area < 5 or dice.chance(0.4)):
            empty = [u for u in takers if u.back is None]
            (dice.pick(empty) if empty else dice.pick(takers)).front = small
        else:
            alone.append(Unit(None, small))
    return units + alone


def _sleeps(unit: Unit) -> bool:
    return unit.host is not None and unit.host.kind in ("bedroom", "nursery", "kids room")


def _host_area(unit: Unit) -> float:
    return unit.host.area if unit.host else 0.0


def _takes(unit: Unit, small: Wanted) -> bool:
    """Check whether a small room off the hall may be cut from this group's host."""
    host = unit.host
    if host is None or host.kind in ("entryway", "toilet"):
        return False
    return host.area >= small.area * 1.9 and host.area >= 8.5


def _give_own(
    dice: Dice, rooms: Sequence[Wanted], units: list[Unit], beds: list[Unit]
) -> list[Wanted]:
    """Give bedrooms their own baths and closets, the kitchen its pantry; return the rest."""
    left = []
    baths = 0
    for small in (r for r in rooms if r.kind in SMALL):
        free = [u for u in beds if u.back is None and _host_area(u) > 9.5]
        if small.kind == "bathroom":
            baths += 1
            own = baths > 1 and free and dice.chance(0.72)
        else:
            free = free or [u for u in beds if u.back is None and small.kind == "dressing room"]
            own = free and (small.kind == "dressing room" or dice.chance(0.75))
            own = own and small.kind in ("closet", "dressing room")
        if own:
            (free[0] if dice.chance(0.7) else dice.pick(free)).back = small
            continue
        if small.kind == "pantry":
            cooks = [u for u in units if u.host and u.host.kind == "kitchen" and u.back is None]
            if cooks:
                cooks[0].back = small
                continue
        left.append(small)
    return left
