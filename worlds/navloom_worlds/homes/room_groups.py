"""Groups of rooms built together: a bedroom with its own bath and closet, or a single room.

A group takes a stretch of a bay. The position of its small rooms gives rooms of many shapes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum, sqrt

from navloom_worlds.homes.rectilinear import Rect
from navloom_worlds.homes.rng import Rng
from navloom_worlds.homes.room_programme import KINDS, SMALL, RoomRequest
from navloom_worlds.homes.storey_footprint import snap_to_grid

WALL = 100
"""Thickness of inner walls; cells reach to the centre lines, so they are larger by this."""
PASSAGE = 1100
"""Width left of a room beside a small room cut from its corner, in mm."""
Piece = tuple[RoomRequest, Rect]
"""A room and a rectangle of it, as (along the bay, away from the spine) both ways."""


@dataclass
class RoomGroup:
    """Group of rooms that are built together.

    Attributes:
        host: the main room; None if a small room is alone.
        front: a small room that opens onto the spine.
        back: a small room of the host's own.
    """

    host: RoomRequest | None
    front: RoomRequest | None = None
    back: RoomRequest | None = None

    # These are read often, and computed once, when all rooms are known.
    @cached_property
    def rooms(self) -> tuple[RoomRequest, ...]:
        """All rooms of the group."""
        return tuple(room for room in (self.host, self.front, self.back) if room is not None)

    @cached_property
    def kind(self) -> str:
        """Kind of the group's main room."""
        return self.rooms[0].kind

    @cached_property
    def area(self) -> float:
        """Cell area in square millimetres."""
        return fsum(gross_area(room) for room in self.rooms)

    @cached_property
    def most(self) -> float:
        """Maximum area in square millimetres; with more, the group's rooms become halls."""
        return fsum(KINDS[room.kind].most for room in self.rooms) * 1.2e6

    @cached_property
    def _sides(self) -> tuple[int, int]:
        """Minimum sides of its host and of the larger of its small rooms."""
        small = max((min_cell_side(room) for room in (self.front, self.back) if room), default=0)
        return (min_cell_side(self.host) if self.host else 0), small

    def least(self, depth: int) -> int:
        """Return about the least length that the group takes in a bay of the given depth."""
        host, small = self._sides
        if not host or not small:
            return host or small
        if (self.front and self.back) or depth - host < small:
            return host + small
        return max(host, small + PASSAGE)

    def built(self, dice: Rng, wide: int, deep: int) -> list[Piece] | None:
        """Return the rooms and rectangles of a ``wide`` by ``deep`` stretch; None if too small."""
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


def _column(
    host: RoomRequest, front: RoomRequest, back: RoomRequest, wide: int, deep: int
) -> list[Piece] | None:
    """Return rectangles of two small rooms in line beside their host; None if they do not fit."""
    a, b = gross_area(front), gross_area(back)
    narrowest = max(min_cell_side(front), min_cell_side(back))
    column = max(min(snap_to_grid((a + b) / deep), wide - min_cell_side(host)), narrowest)
    split = max(snap_to_grid(deep * a / (a + b)), min_cell_side(front))
    split = min(split, deep - min_cell_side(back))
    if wide - column < min_cell_side(host) or split < min_cell_side(front):
        return None
    return [
        (front, (0, 0, column, split)),
        (back, (0, split, column, deep)),
        (host, (column, 0, wide, deep)),
    ]


def _cut(
    dice: Rng, host: RoomRequest, small: RoomRequest, wide: int, deep: int, near: bool
) -> list[Piece] | None:
    """Return rectangles with a small room in its host's corner; None if it does not fit."""
    least, longest, widest = min_cell_side(small), deep - min_cell_side(host), wide - PASSAGE
    if wide - least >= min_cell_side(host):
        longest, widest = max(longest, deep - PASSAGE), wide - min_cell_side(host)
    if longest < least or widest < least:
        return None
    long = min(max(snap_to_grid(sqrt(gross_area(small)) * dice.between(0.85, 1.2)), least), longest)
    across = min(max(snap_to_grid(gross_area(small) / long), least), widest)
    if gross_area(small) > across * long * 1.9:
        return None
    lo, hi = (0, long) if near else (deep - long, deep)
    rest = (0, long, across, deep) if near else (0, 0, across, lo)
    return [(small, (0, lo, across, hi)), (host, (across, 0, wide, deep)), (host, rest)]


def _beside(host: RoomRequest, small: RoomRequest, wide: int, deep: int) -> list[Piece] | None:
    """Return rectangles with a small room beside its host, equally deep; None if too small."""
    across = max(snap_to_grid(gross_area(small) / deep), min_cell_side(small))
    if (
        wide - across < min_cell_side(host)
        or across * deep > 2.1 * gross_area(small)
        or deep > 2.8 * across
    ):
        return None
    return [(small, (0, 0, across, deep)), (host, (across, 0, wide, deep))]


def min_cell_side(room: RoomRequest) -> int:
    """Return the minimum side of a room's cell."""
    return KINDS[room.kind].side + WALL


def gross_area(room: RoomRequest) -> float:
    """Return the area of a room's cell in square millimetres, with half of the walls around it."""
    return room.area * 1.06e6


def draw_groups(dice: Rng, rooms: Sequence[RoomRequest], hub: bool) -> list[RoomGroup]:
    """Return a storey's rooms, grouped at random; a living room that is the spine is left out."""
    hosts = [r for r in rooms if r.kind not in SMALL and not (hub and r.kind == "living room")]
    units = [RoomGroup(host) for host in hosts]
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
            alone.append(RoomGroup(None, small))
    return units + alone


def _sleeps(unit: RoomGroup) -> bool:
    return unit.host is not None and unit.host.kind in ("bedroom", "nursery", "kids room")


def _host_area(unit: RoomGroup) -> float:
    return unit.host.area if unit.host else 0.0


def _takes(unit: RoomGroup, small: RoomRequest) -> bool:
    """Check whether a small room off the hall may be cut from this group's host."""
    host = unit.host
    if host is None or host.kind in ("entryway", "toilet"):
        return False
    return host.area >= small.area * 1.9 and host.area >= 8.5


def _give_own(
    dice: Rng, rooms: Sequence[RoomRequest], units: list[RoomGroup], beds: list[RoomGroup]
) -> list[RoomRequest]:
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
