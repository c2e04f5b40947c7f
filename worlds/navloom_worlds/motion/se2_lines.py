"""Path search for a box among obstacle lines in SE(2), on rails: lines of constant heading.

A box drives ahead and back along its heading, and turns on the spot. A rail is a row of a grid
along one heading; its free intervals inside a floor are kept, exactly, however short. The box gets
from an interval to one of the next heading where they cross. Where it may turn back and forth on
two neighbouring intervals it shifts sideways, by small turns with moves ahead or back between them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import shapely
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components, dijkstra
from shapely import Polygon
from shapely.geometry.base import BaseGeometry

from navloom.scenes.bodies import FloorPose, Footprint, MotionResult
from navloom.scenes.distances import turn_between
from navloom_worlds.geometry.arrays import F64, I64
from navloom_worlds.motion.collision_motion import Mover
from navloom_worlds.motion.planar_obstacles import (
    THIN,
    GridFrame,
    Stretches,
    Sums,
    expand_ranges,
    minkowski_box,
    minkowski_corners,
    padded_half_sizes,
    row_intervals,
)

_ARRIVED = 0.002
"""Metres by which a drive may miss the planned pose."""


@dataclass(frozen=True, slots=True)
class PlannedMotion:
    """Next pose of a planned path: straight ahead or back of the current one, or turned.

    Attributes:
        x: x of the body's middle.
        z: z of the body's middle.
        heading: its heading there; ignored for a disc, which need not turn.
    """

    x: float
    z: float
    heading: float

    def drive(self, mover: Mover, stand: FloorPose) -> MotionResult | None:
        """Drive to the pose; return the result, or None if it is not reached without contact."""
        x, y, z = stand.position
        far, round_ = math.hypot(self.x - x, self.z - z), _round(mover)
        if far < 1e-6:
            if round_:
                return mover.turn(stand, 0.0)
            moved = mover.turn(stand, turn_between(stand.heading, self.heading))
            x, _, z = moved.stand.position
            arrived = math.hypot(self.x - x, self.z - z) <= _ARRIVED
            return moved if arrived and not moved.bumps else None
        if round_:
            moved = mover.follow(stand, [(self.x, y, self.z)], slide=False)
        else:
            ahead = math.sin(stand.heading) * (self.x - x) - math.cos(stand.heading) * (self.z - z)
            moved = mover.forward(stand, math.copysign(far, ahead), slide=False)
        u, _, w = moved.stand.position
        arrived = math.hypot(self.x - u, self.z - w) <= _ARRIVED
        return moved if arrived and not moved.bumps else None


def _round(mover: Mover) -> bool:
    """Check whether the body may move sideways: a disc that does not turn on an arc."""
    return mover.shape.round and not mover.body.turning_radius


_SHORT = 1e-4
"""Length in metres below which an interval is a rounding error."""
FAR = 4096.0
"""Offset in metres between rows where the intervals of all rows are sorted together."""
_BLOCK, _CELLS = 8, 20.0
"""Rails per block, and cells per metre, of the coarse table of free space."""
_HAIR = 1e-6


def free_intervals(
    grid: GridFrame, lines: F64, edges: F64, box: Footprint, turn: float, *, turns: bool
) -> tuple[Stretches, Stretches]:
    """Return the intervals where a box along the rows is free, and those where it may turn.

    Args:
        grid: the grid; rails are its rows.
        lines: (n, 4) obstacle lines, (x, z) metres.
        edges: (m, 4) edges of the floor where its middle may be.
        box: the box.
        turn: radians to the next heading.
        turns: whether it can turn at all.
    """
    own = grid.inside(lines)
    outside = _outside(edges, grid)
    taken = _union([_ahead(own, box, grid), outside])
    free = _between(taken)
    if not turns or not len(free[0]):
        return free, (free[0][:0], free[1][:0], free[2][:0])
    more = (row_intervals(each, grid, _near(each, grid, free)) for each in _turned(own, box, turn))
    return free, _between(_union([taken, *more]))


def _turned(own: F64, shape: Footprint, turn: float) -> tuple[Sums, Sums]:
    """Return what lines block at the next heading, and for the corners during the turn to it."""
    quarter = math.pi / 2
    ahead = -math.sin(turn), math.cos(turn)
    return minkowski_box(own, shape, ahead), minkowski_corners(own, shape, quarter, quarter + turn)


def _ahead(own: F64, shape: Footprint, frame: GridFrame) -> Stretches:
    """Return the intervals that lines block on the rows for a box that faces along them.

    That is the part of each line within the box's width of the row, extended by half the box's
    length at both ends. Intervals that begin in one cell of that size overlap, so each cell of a
    row keeps one interval, from the least to the greatest.
    """
    ahead, aside = padded_half_sizes(shape)
    cell, rows = frame.cell, frame.wide
    if not len(own):
        return np.zeros(0, np.int64), np.zeros(0), np.zeros(0)
    x0, y0, x1, y1 = np.where(own[:, :1] > own[:, 2:3], own[:, [2, 3, 0, 1]], own).T
    least, most = np.minimum(y0, y1), np.maximum(y0, y1)
    low, high, base = least - ahead, most + ahead, float(least.min()) - ahead
    begin = np.clip(np.ceil((x0 - aside) / cell - _HAIR), 0, rows).astype(np.int64)
    end = np.clip(np.floor((x1 + aside) / cell + _HAIR) + 1, begin, rows).astype(np.int64)
    # Between the rows near its ends, a line spans the whole width of the box.
    whole = np.clip(np.ceil((x1 - aside) / cell + _HAIR), begin, end).astype(np.int64)
    past = np.clip(np.floor((x0 + aside) / cell - _HAIR) + 1, whole, end).astype(np.int64)
    cells = int((float(most.max()) - ahead - base) / ahead) + 2
    spans = _Spans(cells, rows, int(np.max(past - whole, initial=1)))
    spans.add(((low - base) / ahead).astype(np.int64), whole, past, low, high)
    on, row = (
        np.concatenate(each)
        for each in zip(expand_ranges(begin, whole), expand_ranges(past, end), strict=True)
    )
    left, right = row * cell - aside, row * cell + aside
    met = (x0[on] <= right) & (x1[on] >= left)
    on, row, left, right = on[met], row[met], left[met], right[met]
    rise = (y1 - y0) / np.maximum(x1 - x0, THIN)
    x0, y0, x1, y1, rise, least, most = (each[on] for each in (x0, y0, x1, y1, rise, least, most))
    one, other = y0 + (left - x0) * rise, y0 + (right - x0) * rise
    first = np.where(x0 >= left, y0, np.minimum(np.maximum(one, least), most))
    last = np.where(x1 <= right, y1, np.minimum(np.maximum(other, least), most))
    low, high = np.minimum(first, last) - ahead, np.maximum(first, last) + ahead
    spans.add(((low - base) / ahead).astype(np.int64), row, row + 1, low, high)
    return spans.joined()


class _Spans:
    """Minima and maxima over runs of grid rows, by cell and row.

    A run is stored as two overlapping runs whose length is a power of two (a sparse table).
    """

    def __init__(self, cells: int, rows: int, longest: int) -> None:
        levels = longest.bit_length()
        self._low = np.full((levels, cells, rows), np.inf)
        self._high = np.full((levels, cells, rows), -np.inf)

    def add(self, cell: I64, first: I64, past: I64, low: F64, high: F64) -> None:
        """Add (n,) spans over the rows from ``first`` up to ``past``; empty runs are ignored."""
        many = past - first
        level = np.frexp(np.maximum(many, 1).astype(np.float64))[1] - 1
        _, cells, rows = self._low.shape
        for row, some in ((first, many > 0), (past - (1 << level), many > 1)):
            at = ((level * cells + cell) * rows + row)[some]
            np.minimum.at(self._low.reshape(-1), at, low[some])
            np.maximum.at(self._high.reshape(-1), at, high[some])

    def joined(self) -> Stretches:
        """Return the interval of every cell and row that has any."""
        for table, less in ((self._low, np.minimum), (self._high, np.maximum)):
            for level in range(len(table) - 1, 0, -1):
                half = 1 << (level - 1)
                upper, lower = table[level], table[level - 1]
                less(lower, upper, out=lower)
                less(lower[:, half:], upper[:, :-half], out=lower[:, half:])
        cell, row = np.nonzero(self._low[0] < np.inf)
        return row, self._low[0][cell, row], self._high[0][cell, row]


def _near(sums: Sums, frame: GridFrame, free: Stretches) -> tuple[I64, I64]:
    """Return which sums may touch free intervals on which rows: sum indices, and rows.

    The test is coarse: by blocks of rows, and by cells along them.
    """
    middles, halves = sums
    half = np.abs(np.stack(halves)).sum(axis=0)
    row, low, high = free
    base = float(low.min())
    many = int((float(high.max()) - base) * _CELLS) + 2
    held = np.zeros((frame.wide // _BLOCK + 1, many + 1), np.int64)
    np.add.at(held, (row // _BLOCK, ((low - base) * _CELLS).astype(np.int64)), 1)
    np.add.at(held, (row // _BLOCK, ((high - base) * _CELLS).astype(np.int64) + 1), -1)
    before = np.zeros_like(held)
    before[:, 1:] = np.cumsum(np.cumsum(held, axis=1) > 0, axis=1)[:, :-1]
    tall, wide = half[:, 1] + _HAIR, half[:, 0] + _HAIR
    i = np.clip((middles[:, 1] - tall - base) * _CELLS, 0, many).astype(np.int64)
    j = np.clip((middles[:, 1] + tall - base) * _CELLS + 1, 0, many).astype(np.int64)
    begin = np.clip(np.ceil((middles[:, 0] - wide) / frame.cell), 0, frame.wide).astype(np.int64)
    end = np.clip(np.floor((middles[:, 0] + wide) / frame.cell) + 1, 0, frame.wide)
    end = end.astype(np.int64)
    which, block = expand_ranges(begin // _BLOCK, (end + _BLOCK - 1) // _BLOCK)
    flat = before.reshape(-1)
    near = flat[block * (many + 1) + j[which]] > flat[block * (many + 1) + i[which]]
    which, block = which[near], block[near]
    some, row = expand_ranges(
        np.maximum(begin[which], block * _BLOCK), np.minimum(end[which], (block + 1) * _BLOCK)
    )
    return which[some], row


def _union(taken: Sequence[Stretches]) -> Stretches:
    """Return the union of intervals, in order.

    At a gap as many intervals have ended as have begun, so it is enough to sort starts and ends
    separately.
    """
    begun = np.concatenate([row * FAR + low for row, low, _ in taken])
    ended = np.concatenate([row * FAR + high for row, _, high in taken])
    begun.sort()
    ended.sort()
    apart = begun[1:] > ended[:-1]
    low, high = begun[np.append(True, apart)], ended[np.append(apart, True)]
    row = np.rint(low / FAR).astype(np.int64)
    return row, low - row * FAR, high - row * FAR


def _between(taken: Stretches) -> Stretches:
    """Return the gaps between ordered intervals; the first and last reach beyond every row."""
    row, low, high = taken
    free = (row[1:] == row[:-1]) & (low[1:] - high[:-1] > _SHORT)
    return row[1:][free], high[:-1][free], low[1:][free]


def floor_edges(floor: BaseGeometry) -> F64:
    """Return (n, 4) the boundary segments of a floor, including those of holes."""
    parts = [each for each in shapely.get_parts(floor) if isinstance(each, Polygon)]
    rings = shapely.get_rings(parts)
    runs = [shapely.get_coordinates(ring) for ring in rings]
    return np.concatenate([np.zeros((0, 4)), *(np.hstack([at[:-1], at[1:]]) for at in runs)])


def _outside(edges: F64, frame: GridFrame) -> Stretches:
    """Return the intervals of each row that lie outside a floor with edges (n, 4)."""
    own = frame.inside(edges)
    rows = np.arange(frame.wide)
    at = rows * frame.cell
    edge, row = np.nonzero((own[:, :1] <= at) != (own[:, 2:3] <= at))
    share = (at[row] - own[edge, 0]) / (own[edge, 2] - own[edge, 0])
    met = own[edge, 1] + share * (own[edge, 3] - own[edge, 1])
    far = np.full(frame.wide, FAR / 4)
    row = np.concatenate([rows, row, rows])
    met = np.concatenate([-far, met, far])
    order = np.lexsort((met, row))
    row, met = row[order], met[order]
    return row[::2], met[::2], met[1::2]


_STAIR = 0.01
"""Least length in metres of a move back and forth that shifts the box sideways."""


@dataclass(frozen=True)
class LineSpacing:
    """Spacing of rails: metres between them and number of headings.

    Attributes:
        apart: metres between the rails of a heading.
        headings: number over half a turn, as a box is symmetric front to back.
    """

    apart: float
    headings: int

    @property
    def turn(self) -> float:
        """Radians between headings."""
        return math.pi / self.headings


class SE2Lines:
    """Free intervals of the rails of all headings, and the connections between them.

    Args:
        lines: (n, 4) obstacle lines, (x, z) metres.
        shape: a box.
        within: area where its middle may be.
        axis: unit vector of the first heading, (x, z).
        grain: spacing of the rails.
        turns: whether it turns on the spot; else it only drives straight.
        loosely: also connect intervals that cross up to a rail beside where it may turn. What is
            not connected then never is.
    """

    def __init__(
        self,
        lines: F64,
        shape: Footprint,
        within: BaseGeometry,
        axis: tuple[float, float],
        grain: LineSpacing,
        *,
        turns: bool = True,
        loosely: bool = False,
    ) -> None:
        self._loosely = loosely
        self._shape, self._grain = shape, grain
        x0, z0, x1, z1 = within.bounds
        self._at = ((x0 + x1) / 2, (z0 + z1) / 2)
        self._angle = math.atan2(axis[1], axis[0])
        self._half = math.ceil(math.hypot(x1 - x0, z1 - z0) / 2 / grain.apart)
        edges = floor_edges(within)
        reach = shape.outer + 0.01
        first, last = np.minimum(lines[:, :2], lines[:, 2:]), np.maximum(lines[:, :2], lines[:, 2:])
        near = (last > np.array([x0, z0]) - reach) & (first < np.array([x1, z1]) + reach)
        close = lines[near.all(axis=1)]
        self._turns = turns
        found = [
            free_intervals(self.frame(k), close, edges, shape, grain.turn, turns=turns)
            for k in range(grain.headings)
        ]
        self._turning = [turning for _, turning in found]
        self._first = np.cumsum([0, *(len(free[0]) for free, _ in found)])
        self.heading = np.repeat(np.arange(grain.headings), np.diff(self._first))
        self.row, self.low, self.high = (
            np.concatenate(each) for each in zip(*(free for free, _ in found), strict=True)
        )

    def frame(self, k: int) -> GridFrame:
        """Return the grid whose rows are the rails of a heading, to its right."""
        angle = self._angle + k * self._grain.turn
        right = (math.sin(angle), -math.cos(angle))
        off = self._half * self._grain.apart
        at = (self._at[0] - off * right[0], self._at[1] - off * right[1])
        return GridFrame(at, right, 2 * self._half + 1, 1, self._grain.apart)

    def angle(self, k: int) -> float:
        """Return a heading as bodies use it: 0 along -z, clockwise seen from above."""
        return self._angle + k * self._grain.turn + math.pi / 2

    @cached_property
    def _joints(self) -> tuple[I64, I64, F64, F64]:
        """Connected pairs of intervals by index, with the connecting interval on the first.

        Pairs are sorted, each there once.
        """
        if not self._turns:
            none = np.zeros(0, np.int64)
            return none, none, np.zeros(0), np.zeros(0)
        headings = range(self._grain.headings)
        found = [each for k in headings for each in (self._crossed(k), self._beside(k))]
        one, other, low, high = (np.concatenate(each) for each in zip(*found, strict=True))
        _, first = np.unique(one * len(self.row) + other, return_index=True)
        return one[first], other[first], low[first], high[first]

    def _beside(self, k: int) -> tuple[I64, I64, F64, F64]:
        """Return neighbouring interval pairs of a heading where the box may turn to the next."""
        row, low, high = self._turning[k]
        next_ = (row + 1) * FAR
        first = np.searchsorted(row * FAR + high, next_ + low, side="right")
        last = np.searchsorted(row * FAR + low, next_ + high, side="left")
        which, other = expand_ranges(first, last)
        from_, to = np.maximum(low[which], low[other]), np.minimum(high[which], high[other])
        wide = to - from_ > _STAIR
        which, other, from_, to = which[wide], other[wide], from_[wide], to[wide]
        middle = (from_ + to) / 2
        one, two = self._holding(k, row[which], middle), self._holding(k, row[other], middle)
        held = (one >= 0) & (two >= 0)
        return one[held], two[held], from_[held], to[held]

    def _crossed(self, k: int) -> tuple[I64, I64, F64, F64]:
        """Return intervals of a heading that cross some of the next where the box may turn."""
        grain = self._grain
        row, low, high = self._turning[k]
        aside = (row - self._half) * grain.apart
        cos, sin = math.cos(grain.turn), math.sin(grain.turn)
        ends = [(aside * cos + along * sin) / grain.apart for along in (low, high)]
        down, up = (np.floor, np.ceil) if self._loosely else (np.ceil, np.floor)
        first, last = down(ends[0]).astype(np.int64), up(ends[1]).astype(np.int64)
        which, other = expand_ranges(first, last + 1)
        along = (other * grain.apart - aside[which] * cos) / sin
        along = np.clip(along, low[which], high[which])
        there = along * cos - aside[which] * sin
        next_ = (k + 1) % grain.headings
        if not next_:
            other, there = -other, -there
        one = self._holding(k, row[which], along)
        two = self._holding(next_, other + self._half, there)
        held = (one >= 0) & (two >= 0)
        return one[held], two[held], along[held], along[held]

    def _holding(self, k: int, row: I64, along: F64) -> I64:
        """Return the index of the interval of a heading at each rail position; -1 for none."""
        mine = slice(self._first[k], self._first[k + 1])
        if mine.start == mine.stop:
            return np.full(len(row), -1)
        key = self.row[mine] * FAR + self.low[mine]
        at = np.searchsorted(key, row * FAR + along, side="right") - 1
        found = np.maximum(at, 0)
        good = (at >= 0) & (self.row[mine][found] == row) & (along <= self.high[mine][found])
        return np.where(good, found + mine.start, -1)

    @cached_property
    def _graph(self) -> csr_array:
        """Connections of intervals, (n, n), with the approximate number of motions as cost."""
        one, other, low, high = self._joints
        n, long = len(self.row), self._grain.apart / math.sin(self._grain.turn)
        stairs = np.ceil(long / np.maximum(high - low, _STAIR))
        cost = np.where(low == high, 2.0, 4 * stairs + 1)
        return coo_array((cost, (one, other)), shape=(n, n)).tocsr()

    @cached_property
    def part(self) -> I64:
        """Connected component of each interval, (n,)."""
        if not len(self.row):
            return np.zeros(0, np.int64)
        return np.asarray(connected_components(self._graph, directed=False)[1], dtype=np.int64)

    def sizes(self) -> F64:
        """Return the total length of the intervals of each component, in metres."""
        out: F64 = np.bincount(self.part, weights=self.high - self.low).astype(np.float64)
        return out

    def held(self, k: int, places: F64) -> tuple[I64, F64]:
        """Return the interval of a heading at each position (n, 2), -1 for none, and the offset."""
        frame = self.frame(k)
        own = frame.own(places)
        along = own[:, 1]
        return self._holding(k, np.rint(own[:, 0] / frame.cell).astype(np.int64), along), along

    def place(self, number: int, along: float) -> tuple[float, float]:
        """Return the position (x, z) of a point on an interval."""
        frame = self.frame(int(self.heading[number]))
        at = np.array(frame.at) + self.row[number] * frame.cell * np.array(frame.along)
        x, z = at + along * np.array(frame.aside)
        return float(x), float(z)

    def sample_places(self, numbers: I64, apart: float) -> tuple[F64, I64, F64]:
        """Return (n, 2) positions spaced along intervals, with the interval and offset of each."""
        length = self.high[numbers] - self.low[numbers]
        count = np.floor(length / apart).astype(np.int64) + 1
        which = np.repeat(numbers, count)
        step = np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count)
        spare = np.repeat(length - (count - 1) * apart, count) / 2
        along = self.low[which] + spare + step * apart
        places, heading = np.empty((len(which), 2)), self.heading[which]
        first = np.searchsorted(heading, np.arange(self._grain.headings + 1))
        aside = self.row[which] * self._grain.apart
        for k in range(self._grain.headings):
            mine, frame = slice(first[k], first[k + 1]), self.frame(k)
            for axis in (0, 1):
                off = frame.at[axis] + aside[mine] * frame.along[axis]
                places[mine, axis] = off + along[mine] * frame.aside[axis]
        return places, which, along

    def way(self, starts: I64, goals: I64) -> list[int]:
        """Return the intervals of a path of few motions from starts to goals; empty for no path."""
        if not np.isin(self.part[starts], self.part[goals]).any():
            return []
        far, before, _ = dijkstra(
            self._graph, directed=False, indices=np.unique(goals), min_only=True,
            return_predecessors=True,
        )  # fmt: skip
        out = [int(starts[np.argmin(far[starts])])]
        while before[out[-1]] >= 0:
            out.append(int(before[out[-1]]))
        return out

    def motions(self, way: Sequence[int], first: float, last: F64) -> list[PlannedMotion]:
        """Return the motions of a path of intervals.

        Args:
            way: interval indices.
            first: offset of the start on the first of them.
            last: possible offsets of the end on the last; the nearest one is taken.
        """
        heading = self.angle(int(self.heading[way[0]]))
        out = [PlannedMotion(*self.place(way[0], first), heading)]
        at = first
        for one, other in pairwise(way):
            if self.heading[one] == self.heading[other]:
                at = self._aside(out, one, other)
                continue
            here, at = self._met(one, other)
            x, z = self.place(one, here)
            next_ = (self.heading[one] + 1) % self._grain.headings == self.heading[other]
            heading = out[-1].heading
            out.append(PlannedMotion(x, z, heading))
            out.append(PlannedMotion(x, z, heading + (1 if next_ else -1) * self._grain.turn))
        end = float(last[np.abs(last - at).argmin()])
        out.append(PlannedMotion(*self.place(way[-1], end), out[-1].heading))
        return out

    def _joint(self, one: int, other: int) -> tuple[int, float, float]:
        """Return which of two intervals comes first, and where on it they are connected."""
        n = len(self.row)
        first, second, low, high = self._joints
        keys = first * n + second
        for a, b in ((one, other), (other, one)):
            at = int(np.searchsorted(keys, a * n + b))
            if at < len(keys) and keys[at] == a * n + b:
                return a, float(low[at]), float(high[at])
        raise AssertionError("stretches of a way are joined")

    def _met(self, one: int, other: int) -> tuple[float, float]:
        """Return where two intervals cross, on each of them."""
        first, along, _ = self._joint(one, other)
        turn = self._grain.turn
        aside = (self.row[first] - self._half) * self._grain.apart
        there = float(along * math.cos(turn) - aside * math.sin(turn))
        if not (self.heading[first] + 1) % self._grain.headings:
            there = -there
        return (along, there) if first == one else (there, along)

    def _aside(self, out: list[PlannedMotion], one: int, other: int) -> float:
        """Append motions from an interval to its neighbour; return the offset reached on it."""
        _, low, high = self._joint(one, other)
        turn, apart = self._grain.turn, self._grain.apart
        heading = out[-1].heading
        long = apart / math.tan(turn)
        count = math.ceil(long / (high - low))
        # To the right it backs up along the next heading, to the left it drives ahead along it.
        right = self.row[other] > self.row[one]
        at, away = (high, -long / count) if right else (low, long / count)
        frame = self.frame(int(self.heading[one]))
        out.append(PlannedMotion(*self.place(one, at), heading))
        for k in range(count):
            for along, share, more in (
                (at, k, turn),
                (at + away, k + 1, turn),
                (at + away, k + 1, 0.0),
                (at, k + 1, 0.0),
            ):
                x, z = self.place(one, along)
                off = (apart if right else -apart) * share / count
                out.append(
                    PlannedMotion(
                        x + off * frame.along[0], z + off * frame.along[1], heading + more
                    )
                )
        return at
