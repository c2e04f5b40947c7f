"""Obstacle lines on a plane: exact intervals that they block on grid rows, for a disc or a box.

A line blocks an interval of each row. The positions of a box that hits the line are the Minkowski
sum of three segments; those of a disc are a bar with round ends. Paths of a disc are searched on a
square grid, those of boxes on lines of constant heading (:mod:`navloom_worlds.motion.se2_lines`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import shapely
from scipy import ndimage
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, dijkstra

from navloom.scenes.bodies import Footprint
from navloom_worlds.geometry.arrays import F64, I64, Bools

Stretches = tuple[I64, F64, F64]
"""Rows of a grid, with the start and the end of an interval on each, in metres."""
Sums = tuple[F64, tuple[F64, ...]]
"""Minkowski sums of segments: their centres (n, 2), and half of each segment (n, 2)."""

CELL, CELL_ROUND = 0.05, 0.025
"""Metres between places for a box, and for a disc, which has only one heading."""
_KEPT = 0.0015
"""Safety margin to lines in metres: a millimetre, and what a turn by five degrees needs."""


_SIDES = ((1, 0), (0, 1), (1, 1), (1, -1))
_FARTHEST = 300.0
"""Longest path in grid places."""
THIN = 1e-9
_JOINED, _FAR_ON = 1e-4, 1 << 32
"""Metres within which two line ends are one, and the stride between rows of the quantised ends."""
_ALIKE = 1e-2
"""Radians within which lines may lie on one side of a hull."""
_PAD = 0.7
"""Metres beyond the grid that are included."""


@dataclass(frozen=True)
class GridFrame:
    """Square grid on a plane, with a position and a direction.

    Attributes:
        at: (x, z) of place (0, 0), metres.
        along: unit vector of the first axis, (x, z).
        wide: places along the first axis.
        deep: places along the second, which lies to the right of the first seen from above.
        cell: metres between places.
    """

    at: tuple[float, float]
    along: tuple[float, float]
    wide: int
    deep: int
    cell: float = CELL

    @property
    def aside(self) -> tuple[float, float]:
        """Unit vector of the second axis."""
        return -self.along[1], self.along[0]

    def inside(self, lines: F64) -> F64:
        """Return lines (n, 4) in metres along the grid's axes."""
        return np.concatenate([self.own(lines[:, :2]), self.own(lines[:, 2:])], axis=1)

    def own(self, places: F64) -> F64:
        """Return positions (n, 2) in metres along the grid's axes."""
        x, z = places[:, 0] - self.at[0], places[:, 1] - self.at[1]
        (u, w), (p, q) = self.along, self.aside
        return np.stack([x * u + z * w, x * p + z * q], axis=1)

    @cached_property
    def places(self) -> F64:
        """Positions of the grid places, (wide, deep, 2) as (x, z)."""
        i, j = np.meshgrid(np.arange(self.wide), np.arange(self.deep), indexing="ij")
        along, aside = np.array(self.along), np.array(self.aside)
        out: F64 = np.array(self.at) + self.cell * (i[..., None] * along + j[..., None] * aside)
        return out

    def place(self, x: float, z: float) -> tuple[int, int]:
        """Return the grid place nearest to a point; the place may be outside the grid."""
        dx, dz = x - self.at[0], z - self.at[1]
        first = dx * self.along[0] + dz * self.along[1]
        second = dx * self.aside[0] + dz * self.aside[1]
        return round(first / self.cell), round(second / self.cell)


class PlanarObstacles:
    """Obstacle lines on a grid.

    Args:
        frame: the grid.
        lines: (n, 4) in the scene's (x, z).

    Attributes:
        frame: as given; so is ``lines``.
    """

    def __init__(self, frame: GridFrame, lines: F64) -> None:
        self.frame = frame
        self.lines = lines
        self._lines = frame.inside(lines)

    def seen_from(self, places: Bools) -> PlanarObstacles:
        """Return the plane with only those lines that are visible from some places.

        Args:
            places: (wide, deep) places to look from. Lines inside items are not visible.
        """
        fine = self.frame.cell / 2
        pad = round(_PAD / fine)
        clear = np.ones((2 * self.frame.wide + 2 * pad, 2 * self.frame.deep + 2 * pad), np.bool_)
        i, j, which = _drawn(self._lines / fine + pad, clear.shape)
        clear[i, j] = False
        label, _ = ndimage.label(clear)
        inner = slice(pad, -pad, 2)
        from_ = np.zeros(label.max() + 1, dtype=np.bool_)
        from_[label[inner, inner][places]] = True
        from_[0] = False
        near = ndimage.binary_dilation(from_[label], structure=np.ones((3, 3), dtype=np.bool_))
        seen = np.zeros(len(self.lines), dtype=np.bool_)
        seen[which[near[i, j]]] = True
        return PlanarObstacles(self.frame, self.lines[seen])

    def disc(self, radius: float) -> Bools:
        """Return (wide, deep) whether a disc is free at each place."""
        radius += _KEPT
        frame = self.frame
        taken = np.zeros((frame.wide, frame.deep + 1), dtype=np.int64)
        a, b = self._lines[:, :2], self._lines[:, 2:]
        along = (b - a) / 2
        far = np.maximum(np.hypot(*along.T), THIN)
        aside = np.stack([-along[:, 1], along[:, 0]], axis=1) / far[:, None] * radius
        for each in (_rounds(np.concatenate([a, b]), radius, frame),
                     row_intervals(((a + b) / 2, (along, aside)), frame)):  # fmt: skip
            _mark(taken, *each, frame)
        return _clear(taken)


def simplify_lines(lines: F64) -> F64:
    """Return the fewest lines (n, 4) that leave the same space free outside the items.

    Connected lines that cover their whole convex hull are of one item. The sides of the hull take
    their place, and lines inside it are dropped.
    """
    if not len(lines):
        return lines
    ends = np.rint(lines.reshape(-1, 2) / _JOINED).astype(np.int64)
    names, number = np.unique(ends[:, 0] * _FAR_ON + ends[:, 1], return_inverse=True)
    pairs = number.reshape(-1, 2).T
    joined = coo_array((np.ones(len(lines)), (pairs[0], pairs[1])), shape=(len(names),) * 2)
    of = connected_components(joined, directed=False)[1][pairs[0]]
    order = np.argsort(of, kind="stable")
    lines, of = lines[order], of[order]
    strings = shapely.linestrings(lines.reshape(-1, 2), indices=np.repeat(of, 2))
    hulls = np.asarray(shapely.convex_hull(strings))
    places, whose = shapely.get_coordinates(shapely.boundary(hulls), return_index=True)
    sides = np.hstack([places[:-1], places[1:]])[whose[:-1] == whose[1:]]
    whose = whose[:-1][whose[:-1] == whose[1:]]
    on, along = _on_sides(lines, of, sides, whose), np.hypot(*(lines[:, 2:] - lines[:, :2]).T)
    covered = np.bincount(on[on >= 0], weights=along[on >= 0], minlength=len(sides))
    open_ = covered < np.hypot(*(sides[:, 2:] - sides[:, :2]).T) - _JOINED
    solid = (shapely.get_dimensions(hulls) == 2) & (np.bincount(whose, open_, len(hulls)) == 0)
    left = lines[~solid[of]]
    tree = shapely.STRtree(hulls[solid])
    within = tree.query(shapely.linestrings(left.reshape(-1, 2, 2)), predicate="covered_by")[0]
    found: F64 = np.concatenate([np.delete(left, within, axis=0), sides[solid[whose]]])
    return found


def _on_sides(lines: F64, of: I64, sides: F64, whose: I64) -> I64:
    """Return the hull side (m, 4) that each line (n, 4) lies on; -1 for none."""

    def key(number: I64, way: F64) -> F64:
        """Return a sort key of hull number and direction over half a turn."""
        angle = np.arctan2(way[:, 1], way[:, 0]) % math.pi
        return np.asarray(4.0 * number + np.where(angle > math.pi - _ALIKE / 2, 0.0, angle))

    keys = key(whose, sides[:, 2:] - sides[:, :2])
    order = np.argsort(keys, kind="stable")
    sides, keys, own = sides[order], keys[order], key(of, lines[:, 2:] - lines[:, :2])
    first = np.searchsorted(keys, own - _ALIKE)
    out = np.full(len(lines), -1)
    for k in (first, first + 1):
        near = np.minimum(k, len(keys) - 1)
        side = sides[near]
        way = side[:, 2:] - side[:, :2]
        ends = lines.reshape(-1, 2, 2) - side[:, None, :2]
        off = np.abs(ends[..., 0] * way[:, None, 1] - ends[..., 1] * way[:, None, 0]).max(axis=1)
        alike = (k < len(keys)) & (np.abs(keys[near] - own) <= _ALIKE)
        on = alike & (off <= _JOINED * np.hypot(*way.T))
        out[on] = order[near[on]]
    return out


def _drawn(lines: F64, shape: tuple[int, ...]) -> tuple[I64, I64, I64]:
    """Rasterise lines (n, 4): return the grid places that they cross, and the line of each."""
    a, b = lines[:, :2], lines[:, 2:]
    count = np.ceil(np.abs(b - a).max(axis=1) * 1.5).astype(np.int64) + 1
    which = np.repeat(np.arange(len(count)), count)
    share = np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count)
    share = share / np.maximum(count - 1, 1)[which]
    i, j = np.rint(a[which] + share[:, None] * (b - a)[which]).astype(np.int64).T
    held = (i >= 0) & (j >= 0) & (i < shape[0]) & (j < shape[1])
    return i[held], j[held], which[held]


def padded_half_sizes(shape: Footprint) -> tuple[float, float]:
    """Return half the length and half the width of an oblong body in metres, each with a margin."""
    return shape.ahead + _KEPT, shape.aside + _KEPT


def minkowski_box(lines: F64, shape: Footprint, step: tuple[float, float]) -> Sums:
    """Return the Minkowski sums of lines (n, 4) along a grid's axes and a box at a heading.

    Args:
        lines: the lines.
        shape: the box.
        step: vector along its heading.
    """
    a, b = lines[:, :2], lines[:, 2:]
    long, wide = padded_half_sizes(shape)
    ahead = np.array(step) / math.hypot(*step) * long
    aside = np.array([-step[1], step[0]]) / math.hypot(*step) * wide
    sides = (np.broadcast_to(ahead, a.shape), np.broadcast_to(aside, a.shape))
    return (a + b) / 2, ((b - a) / 2, *sides)


def minkowski_corners(lines: F64, shape: Footprint, angle: float, turned: float) -> Sums:
    """Return the sums of lines and the corners of a box that turns between two angles.

    Corners may sweep over corners of items that are clear of the box before and after.
    """
    a, b = lines[:, :2], lines[:, 2:]
    first, second = padded_half_sizes(shape)
    # Chords tangent to the arcs from outside.
    far = math.hypot(first, second) / math.cos((turned - angle) / 2)
    lean = math.atan2(second, first)
    corners = np.array([lean, math.pi - lean, math.pi + lean, -lean])
    ends = [
        far * np.stack([np.cos(each + corners), np.sin(each + corners)], axis=1)
        for each in (angle, turned)
    ]
    middles = (a + b - (ends[0] + ends[1])[:, None]) / 2
    chords = np.repeat((ends[1] - ends[0]) / 2, len(lines), axis=0)
    return middles.reshape(-1, 2), (np.tile((b - a) / 2, (4, 1)), chords)


def _rows_of(middle: F64, half: F64, frame: GridFrame) -> tuple[I64, I64]:
    """Return which sums reach which rows of the grid: sum indices, and rows."""
    first = np.clip(np.ceil((middle - half) / frame.cell), 0, frame.wide).astype(np.int64)
    last = np.clip(np.floor((middle + half) / frame.cell), -1, frame.wide - 1).astype(np.int64)
    return expand_ranges(first, last + 1)


def expand_ranges(first: I64, last: I64) -> tuple[I64, I64]:
    """Return all integers of ranges ``first`` to ``last``, each with the index of its range."""
    count = np.maximum(last - first, 0)
    which = np.repeat(np.arange(len(count)), count)
    return which, np.arange(len(which)) - np.repeat(np.cumsum(count) - count - first, count)


def _rounds(middles: F64, radius: float, frame: GridFrame) -> Stretches:
    """Return discs around points as rows of the grid with the interval on each."""
    which, row = _rows_of(middles[:, 0], np.full(len(middles), radius), frame)
    half = np.sqrt(np.maximum(radius * radius - (row * frame.cell - middles[which, 0]) ** 2, 0))
    return row, middles[which, 1] - half, middles[which, 1] + half


def row_intervals(sums: Sums, grid: GridFrame, pairs: tuple[I64, I64] | None = None) -> Stretches:
    """Return rows of a grid, with the interval that each Minkowski sum covers on each.

    Args:
        sums: the Minkowski sums.
        grid: the grid.
        pairs: (n,) indices of sums and (n,) rows to compute; all that they reach by default.

    A sum is convex. The upper end on a row is the lowest of the lines along its upper sides, each
    as steep as one of the segments; the lower end is the highest along its lower sides.
    """
    middles, halves = sums
    half = np.stack(halves)
    half = np.where(half[..., :1] < 0, -half, half)
    over, up = np.maximum(half[..., 0], THIN), half[..., 1]
    rises, most = up / over, 2 * over
    wide = over.sum(axis=0)
    which, row = _rows_of(middles[:, 0], wide, grid) if pairs is None else pairs
    spent = row * grid.cell - (middles[:, 0] - wide)[which]
    base = middles[:, 1] - up.sum(axis=0)
    low, high = np.full(len(row), -np.inf), np.full(len(row), np.inf)
    for rise, across in zip(rises, over, strict=True):
        same = len(rise) > 0 and bool((rise == rise[0]).all())
        if same and bool((across == THIN).all()) and _clear_of_ends(spent, wide[which], rise, up):
            continue
        steeper = (rises - rise) * most
        along = (rise[0] if same else rise[which]) * spent
        np.minimum(high, along + (base + np.maximum(steeper, 0).sum(axis=0))[which], out=high)
        np.maximum(low, along + (base + np.minimum(steeper, 0).sum(axis=0))[which], out=low)
    return row, low, high


def _clear_of_ends(spent: F64, wide: F64, rise: F64, up: F64) -> bool:
    """Check whether a segment across the rows bounds nothing: all rows are off its ends."""
    if not len(spent):
        return True
    off = min(float(spent.min()), float((2 * wide - spent).min()))
    return bool(off * abs(float(rise[0])) > 8 * float(np.abs(up).sum(axis=0).max()) + 1)


def _mark(taken: I64, row: I64, low: F64, high: F64, frame: GridFrame) -> None:
    """Count intervals of rows."""
    first = np.maximum(np.ceil(low / frame.cell), 0).astype(np.int64)
    last = np.minimum(np.floor(high / frame.cell), frame.deep - 1).astype(np.int64) + 1
    held = first < last
    row, first, last = row[held] * (frame.deep + 1), first[held], last[held]
    flat = taken.reshape(-1)
    flat += np.bincount(row + first, minlength=flat.size)
    flat -= np.bincount(row + last, minlength=flat.size)


def _clear(taken: I64) -> Bools:
    """Return where nothing was counted."""
    free: Bools = np.cumsum(taken, axis=1)[:, :-1] == 0
    return free


def grid_distances(free: Bools, goals: Bools) -> tuple[F64, I64]:
    """Return the distance of every free grid place to the nearest goal, and its predecessor.

    Args:
        free: (wide, deep).
        goals: (wide, deep).

    Returns:
        (wide * deep,) distances in places, infinite if unreachable, and indices of predecessors,
        -9999 for none.
    """
    number = np.arange(free.size).reshape(free.shape)
    pairs, weights = [], []
    for di, dj in _SIDES:
        here = slice(0, len(free) - di), slice(max(0, -dj), free.shape[1] - max(0, dj))
        there = slice(di, len(free)), slice(max(0, dj), free.shape[1] - max(0, -dj))
        both = free[here] & free[there]
        pairs.append(np.stack([number[here][both], number[there][both]]))
        weights.append(np.full(int(both.sum()), math.hypot(di, dj)))
    at = np.flatnonzero(goals & free)
    if not len(at):
        return np.full(free.size, np.inf), np.full(free.size, -9999)
    graph = coo_array((np.concatenate(weights), np.hstack(pairs)), shape=(free.size,) * 2).tocsr()
    metres, before, _ = dijkstra(
        graph, directed=False, indices=at, min_only=True, return_predecessors=True, limit=_FARTHEST
    )
    return metres, before.astype(np.int64)
