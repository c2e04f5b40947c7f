"""Occupancy grid of the floor on which a person can walk, while a room is being furnished.

A cell is open if its centre is more than :data:`BODY` from walls and items, so that a person of
that radius can walk from an open cell to an open neighbour. The whole grid is one integer: a bit
per cell, row by row, with a closed cell at both ends of a row, so that a shift never wraps into
another row.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from navloom_worlds.homes.rectilinear import Rect, expand_rect

BODY = 330
"""Radius in mm, as for viewpoints (:data:`~navloom_worlds.homes.viewpoint_placement.PERSON`)."""
CELL = 100
"""mm."""
_NEAR = 4
"""Cells around an entrance in which a person may stand after entering."""


class WalkGrid:
    """Occupancy grid of a room's walkable floor.

    Args:
        bounds: bounding rectangle of the room.
        walled: rectangles inside the bounds but outside the room.
    """

    def __init__(self, bounds: Rect, walled: Sequence[Rect]) -> None:
        x0, z0, x1, z1 = self._bounds = bounds
        self.width, self.height = (x1 - x0) // CELL + 2, (z1 - z0) // CELL + 2
        inner = self._mask(expand_rect(bounds, -BODY))
        for rect in walled:
            inner &= ~self._mask(expand_rect(rect, BODY), edge=True)
        self.open = inner
        """Reachable cells; all cells while there is no entrance."""
        self._ways = 0
        self._fronts: list[int] = []

    def add_entrance(self, x: int, z: int) -> bool:
        """Add an entrance near a point.

        Returns:
            False if there is no free floor near it, or none connected to the other entrances.
        """
        x0, z0, *_ = self._bounds
        column, row = (x - x0) // CELL + 1, (z - z0) // CELL + 1
        near = [
            (abs(i) + abs(j), (row + j) * self.width + column + i)
            for i in range(-_NEAR, _NEAR + 1)
            for j in range(-_NEAR, _NEAR + 1)
            if 0 <= row + j < self.height and 0 <= column + i < self.width
        ]
        way = next((1 << bit for _, bit in sorted(near) if self.open >> bit & 1), 0)
        if way and not self._ways:
            self.open = self._spread(way, self.open)
        self._ways |= way
        return bool(way)

    def close(self, rect: Rect, front: Rect | None = None) -> bool:
        """Mark the cells around an item as not walkable.

        Args:
            rect: its footprint.
            front: area where a person must be able to stand, now and later; None: none.

        Returns:
            False, with nothing changed, if that would disconnect the entrances, or make ``front``
            or that of another item unreachable.
        """
        around = expand_rect(rect, BODY)
        columns, rows = self._cells(around, edge=True)
        left = self.open & ~self._mask(around, edge=True)
        if self._ways & ~left:
            return False
        if left != self.open and self._ways and not self._one_arc(columns, rows):
            left = self._spread(self._ways & -self._ways, left)
            if self._ways & ~left:
                return False
        if not left:
            return False
        foot = self._mask(front) if front is not None else 0
        if front is not None and not foot & left:
            return False
        if any(not each & left for each in self._fronts):
            return False
        if foot:
            self._fronts.append(foot)
        self.open = left
        return True

    def keep(self, front: Rect) -> bool:
        """Reserve an area to stand in; return False if no cell of the area is reachable."""
        foot = self._mask(front) & self.open
        if foot:
            self._fronts.append(foot)
        return bool(foot)

    def _one_arc(self, columns: range, rows: range) -> bool:
        """Check whether the open cells around a rectangle of cells are connected along its edge.

        Then a path through the rectangle can go around it, and nothing is disconnected.
        """
        first, last = columns.start - 1, columns.stop
        ring = [(rows.start - 1, i) for i in range(first, last + 1)]
        ring += [(j, last) for j in rows]
        ring += [(rows.stop, i) for i in range(last, first - 1, -1)]
        ring += [(j, first) for j in reversed(rows)]
        # Never outside the grid: the outermost cells are closed, and in no rectangle's cells.
        bits = [self.open >> (j * self.width + i) & 1 for j, i in ring]
        begins = (now and not before for before, now in pairwise((bits[-1], *bits)))
        return sum(begins) < 2

    def _spread(self, seen: int, floor: int) -> int:
        """Return the cells of a floor that are connected to some of them."""
        width = self.width
        while True:
            more = (seen | seen << 1 | seen >> 1 | seen << width | seen >> width) & floor
            if more == seen:
                return more
            seen = more

    def _cells(self, rect: Rect, *, edge: bool) -> tuple[range, range]:
        """Return the columns and rows with centres in a rectangle (``edge``: or on its edge)."""
        lean = 0 if edge else 1
        x0, z0, *_ = self._bounds
        half = CELL // 2
        # Cell i of a row has its middle at x0 + (i - 1) * CELL + half.
        i0 = max(1, -((x0 + half - rect[0] - lean) // CELL) + 1)
        i1 = min(self.width - 2, (rect[2] - lean - x0 - half) // CELL + 1)
        j0 = max(1, -((z0 + half - rect[1] - lean) // CELL) + 1)
        j1 = min(self.height - 2, (rect[3] - lean - z0 - half) // CELL + 1)
        return range(i0, i1 + 1), range(j0, j1 + 1)

    def _mask(self, rect: Rect, *, edge: bool = False) -> int:
        """Return the same cells as a bit mask."""
        columns, rows = self._cells(rect, edge=edge)
        if not columns or not rows:
            return 0
        row = ((1 << len(columns)) - 1) << columns.start
        return row * _comb(self.width, len(rows)) << (rows.start * self.width)


@cache
def _comb(width: int, rows: int) -> int:
    """Return a mask with one bit at the start of each of so many rows."""
    return sum(1 << (width * i) for i in range(rows))
