"""Occupied and reserved floor of one room while it is being furnished.

Whole millimetres, heights above the room's own floor. A footprint is an axis-aligned rectangle (for
a tilted item: its bounding rectangle).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import pairwise
from typing import Literal, NamedTuple

from navloom_worlds.homes.floorplan import Outline, PlannedRoom
from navloom_worlds.homes.rectilinear import (
    Rect,
    is_rect_inside,
    outline_area,
    outline_edges,
    rects_overlap,
    to_rect,
)
from navloom_worlds.homes.walk_grid import WalkGrid

Quarter = Literal[0, 1, 2, 3]
"""Quarter turns: 0 faces -z, 1 faces +x, 2 faces +z, 3 faces -x."""

STEP_OVER = 50
"""mm: items no higher than this are walked over."""
HEAD = 1900
"""mm: items that hang higher are passed underneath."""
_TALL = 10_000


class OccupiedBox(NamedTuple):
    """Occupied volume: a footprint between two heights."""

    x0: int
    z0: int
    x1: int
    z1: int
    bottom: int
    top: int


class KeepFreeZone(NamedTuple):
    """Zone to keep free: of everything (a door's), or of items except a few (a bed's)."""

    x0: int
    z0: int
    x1: int
    z1: int
    bottom: int
    top: int
    owner: int
    """Number of the item that owns the zone; 0 for a door or a window, whose zone is strict."""


class WallSide(NamedTuple):
    """Straight piece of wall, seen from inside."""

    along_x: bool
    low: int
    high: int
    at: int
    """Its z if it runs along x, else its x."""
    quarter: Quarter
    """Orientation of items with their back to it."""

    def rect(self, low: int, high: int, near: int, far: int) -> Rect:
        """Return the rectangle of an interval along the wall and a range of distances from it."""
        if self.along_x:
            if self.quarter == 2:
                return low, self.at + near, high, self.at + far
            return low, self.at - far, high, self.at - near
        if self.quarter == 1:
            return self.at + near, low, self.at + far, high
        return self.at - far, low, self.at - near, high


def rotate_offset(quarter: int, u: int, w: int) -> tuple[int, int]:
    """Convert an offset in an item's frame (u across, w towards its back) to (x, z)."""
    return ((u, w), (-w, u), (-u, -w), (w, -u))[quarter]


class RoomOccupancy:
    """Occupied and reserved space of a room.

    Args:
        room: its plan.
        ceiling: its clear height.
    """

    def __init__(self, room: PlannedRoom, ceiling: int) -> None:
        self.bounds: Rect = to_rect(room.outline)
        self.ceiling = ceiling
        self.area = outline_area(room.outline)
        """mm²."""
        self.sides = list(_sides(room.outline))
        self.solids: list[OccupiedBox] = [
            OccupiedBox(*rect, 0, _TALL) for rect in _notches(room.outline, self.bounds)
        ]
        self.zones: list[KeepFreeZone] = []
        self.swings: list[Rect] = []
        """Floor that door leaves sweep, and stairs: not even a rug may lie there."""
        self.covered = 0
        """mm² of floor under items."""
        self.walk = WalkGrid(self.bounds, [solid[:4] for solid in self.solids])

    # -- what is free -------------------------------------------------------------------------

    def fits(
        self, rect: Rect, bottom: int, top: int, ignore: Collection[int] = (), flat: bool = False
    ) -> bool:
        """Check whether an item can be placed at a position.

        Args:
            rect: its footprint.
            bottom: its underside.
            top: its upper side.
            ignore: owners of zones that may contain it.
            flat: it hangs on a wall or lies on the floor: only zones of doors and windows count.
        """
        if not is_rect_inside(self.bounds, rect):
            return False
        x0, z0, x1, z1 = rect
        for a0, b0, a1, b1, low, high in self.solids:
            if x0 < a1 and a0 < x1 and z0 < b1 and b0 < z1 and bottom < high and low < top:
                return False
        for a0, b0, a1, b1, low, high, owner in self.zones:
            if (owner == 0 or not (flat or owner in ignore)) and (
                x0 < a1 and a0 < x1 and z0 < b1 and b0 < z1 and bottom < high and low < top
            ):
                return False
        return True

    def is_occupied(self, rect: Rect, bottom: int, top: int, but: Rect | None = None) -> bool:
        """Check whether a volume is occupied, one footprint excepted; zones are ignored."""
        x0, z0, x1, z1 = rect
        return any(
            x0 < a1 and a0 < x1 and z0 < b1 and b0 < z1 and bottom < high and low < top
            for a0, b0, a1, b1, low, high in self.solids
            if (a0, b0, a1, b1) != but
        )

    def rug_fits(self, rect: Rect) -> bool:
        """Check whether a rug fits: inside the room, and clear of door swings and stairs."""
        walls = (solid[:4] for solid in self.solids if solid.top == _TALL)
        return is_rect_inside(self.bounds, rect) and not any(
            rects_overlap(rect, each) for each in (*walls, *self.swings)
        )

    def spans(
        self,
        side: WallSide,
        deep: int,
        bottom: int,
        top: int,
        clear: int,
        ignore: Collection[int] = (),
        flat: bool = False,
    ) -> list[tuple[int, int]]:
        """Return the intervals of a wall where an item fits, given its depth and front gap."""
        if not is_rect_inside(self.bounds, side.rect(side.low, side.high, 0, deep + clear)):
            return []
        x0, z0, x1, z1 = side.rect(side.low, side.high, 0, deep)
        blocked: list[tuple[int, int]] = []
        cut = 0 if side.along_x else 1
        for solid in self.solids:
            a0, b0, a1, b1, low, high = solid
            if x0 < a1 and a0 < x1 and z0 < b1 and b0 < z1 and bottom < high and low < top:
                blocked.append((solid[cut], solid[cut + 2]))
        for zone in self.zones:
            a0, b0, a1, b1, low, high, owner = zone
            if (owner == 0 or not (flat or owner in ignore)) and (
                x0 < a1 and a0 < x1 and z0 < b1 and b0 < z1 and bottom < high and low < top
            ):
                blocked.append((zone[cut], zone[cut + 2]))
        if clear:
            x0, z0, x1, z1 = side.rect(side.low, side.high, deep, deep + clear)
            for solid in self.solids:
                a0, b0, a1, b1, low, high = solid
                if x0 < a1 and a0 < x1 and z0 < b1 and b0 < z1 and low < HEAD:
                    blocked.append((solid[cut], solid[cut + 2]))
        blocked.sort()
        found = []
        at = side.low
        for low, high in blocked:
            if low > at:
                found.append((at, low))
            at = max(at, high)
        if at < side.high:
            found.append((at, side.high))
        return found

    # -- taking it ----------------------------------------------------------------------------

    def take(self, rect: Rect, bottom: int, top: int, front: Rect | None = None) -> bool:
        """Place an item unless it would disconnect the entrances of the room.

        Args:
            rect: its footprint.
            bottom: its underside.
            top: its upper side.
            front: area where a person must be able to stand, now and later; None: none.

        Returns:
            False, with nothing changed, if it would disconnect the entrances, or make it or
            another item unreachable.
        """
        if top <= STEP_OVER:
            if front is not None and not self.walk.keep(front):
                return False
        elif bottom < HEAD and not self.walk.close(rect, front):
            return False
        self.solids.append(OccupiedBox(*rect, bottom, top))
        if bottom < STEP_OVER < top:
            self.covered += (rect[2] - rect[0]) * (rect[3] - rect[1])
        return True

    def block(self, rect: Rect, bottom: int, top: int) -> None:
        """Record an item that blocks nobody's path, so that its space is taken."""
        self.solids.append(OccupiedBox(*rect, bottom, top))

    def keep(self, rect: Rect, owner: int, bottom: int = 0, top: int = HEAD) -> None:
        """Reserve a zone that later items have to leave free."""
        self.zones.append(KeepFreeZone(*rect, bottom, top, owner))


def _sides(outline: Outline) -> Iterator[WallSide]:
    """Yield each edge of an outline, with the orientation that faces inwards."""
    pairs = outline_edges(outline)
    # Positive where the corners run clockwise as seen from above (z grows towards the reader).
    clockwise = sum(x0 * z1 - x1 * z0 for (x0, z0), (x1, z1) in pairs) > 0
    for (x0, z0), (x1, z1) in pairs:
        if z0 == z1:
            quarter: Quarter = 2 if (x1 > x0) == clockwise else 0
            yield WallSide(True, min(x0, x1), max(x0, x1), z0, quarter)
        else:
            yield WallSide(False, min(z0, z1), max(z0, z1), x0, 3 if (z1 > z0) == clockwise else 1)


def _notches(outline: Outline, bounds: Rect) -> Iterator[Rect]:
    """Yield rectangles that cover the bounds outside the outline."""
    xs = sorted({x for x, _ in outline})
    for x0, x1 in pairwise(xs):
        # The horizontal edges over this strip, from above: inside between each two.
        levels = sorted(
            z
            for (a, z), (b, _) in outline_edges(outline)
            if min(a, b) <= x0 and max(a, b) >= x1 and a != b
        )
        ends = [bounds[1], *levels, bounds[3]]
        for top, bottom in zip(ends[::2], ends[1::2], strict=True):
            if bottom > top:
                yield (x0, top, x1, bottom)
