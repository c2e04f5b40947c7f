"""Geodesic distances from goals to every place of a field, and the turns of shortest paths.

scipy's Dijkstra runs over the places with 32 neighbours each. Lengths are divided by the average
excess of such paths over straight ones, and paths are pulled straight afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from navloom_worlds.geometry.arrays import F64, I32

_STAR = ((1, 0), (1, 1), (2, 1), (3, 1), (3, 2))
"""One of each kind of offset to 32 neighbours, in cells."""
_SAME = 1e-9
_NEAR = 6
"""Cells around a goal that are joined to it in a straight line."""


Spot = tuple[int, float, float]
"""A place, and a position on it in cells from the first cell's middle."""


@dataclass(frozen=True, eq=False)
class FieldPlaces:
    """Places of a field for path search, in cell units from the first cell's middle.

    Attributes:
        along: (n,) int32, the column of each place.
        across: (n,) int32, its row.
        x: (n,) float64, x of its middle.
        z: (n,) float64, z of its middle.
        lift: (n,) float64, its height in cells, with steps smoothed to slopes.
        beside: (n, 4) int32, the neighbour place in +x, +z, -x, -z; -1 for none.
    """

    along: I32
    across: I32
    x: F64
    z: F64
    lift: F64
    beside: I32

    def line_length(self, p: int, a: tuple[float, float], q: int, b: tuple[float, float]) -> float:
        """Return the length of the straight line over connected places, in cells; -1 if blocked.

        Args:
            p: the place that it begins on.
            a: where on it, in cells from the first cell's middle.
            q: the place that it ends on.
            b: where on it.

        Returns:
            Its length in cells, slopes included, through every cell that it crosses; -1 if a place
            is missing between.
        """
        (x, z), (u, w), ways, lift = a, b, self.ways, self.lift
        dx, dz = u - x, w - z
        flat = math.sqrt(dx * dx + dz * dz)
        i, j = self.along[p], self.across[p]
        right, down = dx > 0, dz > 0
        left_x, left_z = abs(self.along[q] - i), abs(self.across[q] - j)
        # Shares of the line at which it reaches the next column, and the next row.
        next_x = ((i + 0.5 if right else i - 0.5) - x) / dx if left_x else 2.0
        next_z = ((j + 0.5 if down else j - 0.5) - z) / dz if left_z else 2.0
        step_x = 1.0 / abs(dx) if left_x else 0.0
        step_z = 1.0 / abs(dz) if left_z else 0.0
        side_x, side_z = 0 if right else 2, 1 if down else 3
        at, entered, middle, more = p, 0.0, 0.0, 0.0
        none, low = len(ways) - 1, lift[p]
        while left_x + left_z > 0:
            if left_x and left_z and abs(next_x - next_z) < _SAME:
                there = ways[ways[at, side_x], side_z]
                if there == none:
                    there = ways[ways[at, side_z], side_x]
                entered = next_x
                next_x, next_z = next_x + step_x, next_z + step_z
                left_x, left_z = left_x - 1, left_z - 1
            elif left_x and (next_x < next_z or not left_z):
                there = ways[at, side_x]
                entered, next_x, left_x = next_x, next_x + step_x, left_x - 1
            else:
                there = ways[at, side_z]
                entered, next_z, left_z = next_z, next_z + step_z, left_z - 1
            if there == none:
                return -1.0
            leaves = min(next_x if left_x else 1.0, next_z if left_z else 1.0)
            here, high = (entered + leaves) / 2, lift[there]
            if high != low:
                run, rise = (here - middle) * flat, high - low
                more += math.sqrt(run * run + rise * rise) - run
                low = high
            middle, at = here, there
        return flat + more if at == q else -1.0

    @cached_property
    def ways(self) -> I32:
        """Neighbours, (n + 1, 4) int32, as ``beside`` but with n for none; n has no neighbours."""
        n = len(self.beside)
        out = np.full((n + 1, 4), n, dtype=np.int32)
        out[:n][self.beside >= 0] = self.beside[self.beside >= 0]
        return out

    def under(
        self, start: int, a: tuple[float, float], b: tuple[float, float]
    ) -> list[tuple[int, float]]:
        """Return the places under a straight line for which :meth:`sees` holds.

        Returns:
            Each place, and the share of the line that is nearest to its middle.
        """
        dx, dz = b[0] - a[0], b[1] - a[1]
        far = dx * dx + dz * dz
        here, found = start, [(start, 0.0)]
        count = int(4 * np.hypot(dx, dz)) + 1
        for k in range(1, count + 1):
            i, j = round(a[0] + dx * k / count), round(a[1] + dz * k / count)
            at = int(self.along[here]), int(self.across[here])
            for side, (u, w) in enumerate(((1, 0), (0, 1), (-1, 0), (0, -1))):
                if (i - at[0]) * u > 0 or (j - at[1]) * w > 0:
                    there = int(self.beside[here, side])
                    here = there if there >= 0 else here
            if here != found[-1][0]:
                i, j = int(self.along[here]), int(self.across[here])
                share = ((i - a[0]) * dx + (j - a[1]) * dz) / far
                found.append((here, min(max(share, 0.0), 1.0)))
        return found

    @cached_property
    def star_graph(self) -> csr_array:
        """Graph of edges to 32 neighbours, lengths in cells."""
        return _star(self)


@dataclass(frozen=True, eq=False)
class GeodesicField:
    """Geodesic field: distances from goals; n places first, one for none, then the m goals.

    Attributes:
        cells: (n + 1 + m,) float64, distance to the nearest goal in cells; infinite if unreachable.
        via: (n + 1 + m,) int32, next turn of the path from each; -1 for goals and unreachable ones.
        x: (n + 1 + m,) float64, its position in cells.
        z: (n + 1 + m,) float64.
        base: (n + 1 + m,) int32, the place that each is on.
    """

    cells: F64
    via: I32
    x: F64
    z: F64
    base: I32


def compute_geodesics(places: FieldPlaces, goals: Sequence[Spot]) -> GeodesicField:
    """Compute geodesic distances from some goals over all places.

    Args:
        places: places of the field.
        goals: place and position in cells of each goal.
    """
    n = len(places.along)
    base = np.arange(n + 1 + len(goals), dtype=np.int32)
    base[n + 1 :] = [place for place, _, _ in goals]
    x = np.concatenate([places.x, [0.0], [u for _, u, _ in goals]])
    z = np.concatenate([places.z, [0.0], [w for _, _, w in goals]])
    if not goals or not n:
        cells = np.full(len(base), np.inf)
        cells[n + 1 :] = 0.0
        return GeodesicField(cells, np.full(len(base), -1, dtype=np.int32), x, z, base)
    far, before, _ = dijkstra(
        _joined(places, x, z, base),
        indices=np.arange(n + 1, len(base)),
        min_only=True,
        return_predecessors=True,
    )
    return GeodesicField(far, np.maximum(before, -1).astype(np.int32), x, z, base)


def string_pull(places: FieldPlaces, turns: Sequence[Spot]) -> list[Spot]:
    """Return the turns of a path that remain when each straight piece goes as far as it can."""
    kept, i = [turns[0]], 0
    while i < len(turns) - 1:
        here = turns[i]
        farther = range(len(turns) - 1, i + 1, -1)
        i = next(
            (
                j
                for j in farther
                if places.line_length(here[0], here[1:], turns[j][0], turns[j][1:]) >= 0
            ),
            i + 1,
        )
        kept.append(turns[i])
    return kept


def _joined(places: FieldPlaces, x: F64, z: F64, base: I32) -> csr_array:
    """Return the graph of places with the goals joined to the places around that they see."""
    n, count = len(places.along), len(base)
    rows, cols, cells = [], [], []
    for goal in range(n + 1, count):
        at = float(x[goal]), float(z[goal])
        close = np.flatnonzero(np.hypot(places.x - at[0], places.z - at[1]) <= _NEAR).tolist()
        for place in close:
            end = float(places.x[place]), float(places.z[place])
            long = places.line_length(int(base[goal]), at, place, end)
            if long >= 0:
                rows.append(goal - n)
                cols.append(place)
                # csgraph reads a stored zero as no edge.
                cells.append(max(long, 1e-9))
    star, order = places.star_graph, np.argsort(rows, kind="stable")
    first = np.searchsorted(np.array(rows)[order], np.arange(count - n + 1))
    return csr_array(
        (
            np.concatenate([star.data, np.array(cells)[order]]),
            np.concatenate([star.indices, np.array(cols, dtype=star.indices.dtype)[order]]),
            np.concatenate([star.indptr, (star.indptr[-1] + first[1:]).astype(np.int32)]),
        ),
        shape=(count, count),
    )


def _star(places: FieldPlaces) -> csr_array:
    n = len(places.along)
    rows, cols, cells = [], [], []
    for dx, dz in _star_ways():
        there = offset_places(places.beside, dx, dz)
        held = np.flatnonzero(there >= 0)
        rise = places.lift[there[held]] - places.lift[held]
        rows.append(held)
        cols.append(there[held])
        cells.append(np.sqrt(dx * dx + dz * dz + rise * rise) / _too_much())
    ends = (np.concatenate(rows), np.concatenate(cols).astype(np.int32))
    star = csr_array((np.concatenate(cells), ends), shape=(n, n))
    # csgraph's own index type, so that it copies nothing.
    star.indices, star.indptr = star.indices.astype(np.int32), star.indptr.astype(np.int32)
    return star


def _star_ways() -> list[tuple[int, int]]:
    return sorted(
        {(u, w) for a, b in _STAR for x, z in ((a, b), (b, a)) for u in (x, -x) for w in (z, -z)}
    )


@lru_cache(maxsize=1)
def _too_much() -> float:
    """Return the average ratio of 32-neighbour path length to straight distance."""
    ways = sorted(_star_ways(), key=lambda way: np.arctan2(way[1], way[0]))
    total, turns = 0.0, np.linspace(0, 2 * np.pi, 3601)[:-1]
    for turn in turns:
        at = np.array([np.cos(turn), np.sin(turn)])
        best = np.inf
        for a, b in pairwise([*ways, ways[0]]):
            share = np.linalg.solve(np.array([a, b], dtype=np.float64).T, at)
            if (share >= -1e-9).all():
                best = min(best, float(share[0] * np.hypot(*a) + share[1] * np.hypot(*b)))
        total += best
    return total / len(turns)


def offset_places(beside: I32, dx: int, dz: int) -> I32:
    """Return the place at a straight offset from each place, -1 if a cell between is missing."""
    right, down = (0 if dx > 0 else 2), (1 if dz > 0 else 3)
    wide, deep = abs(dx), abs(dz)
    here = np.arange(len(beside), dtype=np.int32)
    i = j = 0
    while (i, j) != (wide, deep):
        next_x = (2 * i + 1) * deep if i < wide else 1_000
        next_z = (2 * j + 1) * wide if j < deep else 1_000
        if next_x == next_z:
            one = _onward(beside, _onward(beside, here, right), down)
            other = _onward(beside, _onward(beside, here, down), right)
            here, i, j = np.where(one >= 0, one, other), i + 1, j + 1
        elif next_x < next_z:
            here, i = _onward(beside, here, right), i + 1
        else:
            here, j = _onward(beside, here, down), j + 1
    return here


def _onward(beside: I32, here: I32, side: int) -> I32:
    return np.where(here >= 0, beside[here, side], -1).astype(np.int32)
