"""Ways for a body of any shape among lines on a plane: places, headings, and motions between them.

A body goes ahead and back along its heading, and turns on the spot. Headings are those of whole
steps of a square grid, so that a straight motion ends on the grid; a box is the same from behind,
so that half a turn is all. Where a box fits is found for all places of one heading at once: its
outline slid over a picture of the lines, by Fourier transform. The picture is off by a cell at
most, so a place may be free, taken, or doubtful; doubtful ones are tried against the lines.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import fft, ndimage
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import dijkstra

from navloom.scenes.space.shapes import Shape

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

CELL, CELL_ROUND = 0.05, 0.025
"""Metres between places, of a box and of a disc, which has one heading."""
_HALF = 0.5
"""A cell of the picture, in places."""
_OFF = 0.375
"""Places that a line may be from where the picture has it, and a little."""
_PAD = 0.6
_BLOCK = 0.4
_KEPT = 0.001
"""Metres that a body keeps from lines."""
_QUARTER = ((1, 0), (6, 1), (3, 1), (2, 1), (3, 2), (1, 1), (2, 3), (1, 2), (1, 3), (1, 6))
STEPS: tuple[tuple[int, int], ...] = (*_QUARTER, *((-z, x) for x, z in _QUARTER))
"""The motion ahead of each heading, in places."""
ANGLES = tuple(math.atan2(z, x) for x, z in STEPS)
"""Each heading, from the first axis toward the second."""
_TURNING = 2.5
"""Places that a turn to the next heading counts as much as."""
_SIDES = ((1, 0), (0, 1), (1, 1), (1, -1))


@dataclass(frozen=True)
class Frame:
    """A square grid laid on a plane.

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
    def off(self) -> float:
        """Metres that a line may be from where a picture has it."""
        return _OFF * self.cell

    @property
    def aside(self) -> tuple[float, float]:
        """The second axis."""
        return -self.along[1], self.along[0]

    def inside(self, lines: Floats) -> Floats:
        """Lines (n, 4) in metres along the grid's axes."""
        turned = []
        for k in (0, 2):
            x, z = lines[:, k] - self.at[0], lines[:, k + 1] - self.at[1]
            turned += [x * self.along[0] + z * self.along[1], x * self.aside[0] + z * self.aside[1]]
        return np.stack(turned, axis=1)

    @cached_property
    def places(self) -> Floats:
        """(wide, deep, 2) where each place is, (x, z)."""
        i, j = np.meshgrid(np.arange(self.wide), np.arange(self.deep), indexing="ij")
        along, aside = np.array(self.along), np.array(self.aside)
        out: Floats = np.array(self.at) + self.cell * (i[..., None] * along + j[..., None] * aside)
        return out

    def place(self, x: float, z: float) -> tuple[int, int]:
        """The place nearest to a point; it may be off the grid."""
        dx, dz = x - self.at[0], z - self.at[1]
        first = dx * self.along[0] + dz * self.along[1]
        second = dx * self.aside[0] + dz * self.aside[1]
        return round(first / self.cell), round(second / self.cell)

    def heading(self, number: int) -> float:
        """A heading as bodies have it: 0 along -z, clockwise seen from above."""
        u, w = math.cos(ANGLES[number]), math.sin(ANGLES[number])
        x = u * self.along[0] + w * self.aside[0]
        z = u * self.along[1] + w * self.aside[1]
        return math.atan2(x, -z)


class Plane:
    """Lines on a grid.

    Args:
        frame: the grid.
        lines: (n, 4) in the scene's (x, z).
    """

    def __init__(self, frame: Frame, lines: Floats) -> None:
        self.frame = frame
        self._lines = frame.inside(lines)
        self.fine = _HALF * frame.cell
        self._pad = 2 * math.ceil(_PAD / frame.cell)
        shape = (2 * frame.wide + 2 * self._pad, 2 * frame.deep + 2 * self._pad)
        self.seen = np.zeros(shape, dtype=np.bool_)
        self._mark()

    def _mark(self) -> None:
        a, b = self._lines[:, :2], self._lines[:, 2:]
        count = np.maximum(np.ceil(np.hypot(*(b - a).T) / (self.fine / 2)).astype(np.int64), 1) + 1
        which = np.repeat(np.arange(len(count)), count)
        share = (np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count)) / (
            count[which] - 1
        )
        at = a[which] + share[:, None] * (b - a)[which]
        i, j = (np.rint(at / self.fine).astype(np.int64) + self._pad).T
        held = (i >= 0) & (j >= 0) & (i < self.seen.shape[0]) & (j < self.seen.shape[1])
        self.seen[i[held], j[held]] = True

    @cached_property
    def away(self) -> Floats:
        """(wide, deep) metres from each place to the nearest line, off by a cell at most."""
        if not self.seen.any():
            return np.full((self.frame.wide, self.frame.deep), 100.0)
        far = ndimage.distance_transform_edt(~self.seen) * self.fine
        away: Floats = far[self._inner]
        return away

    @property
    def _inner(self) -> tuple[slice, slice]:
        """The places of the grid among the cells of the picture."""
        inner = slice(self._pad, -self._pad, 2)
        return inner, inner

    @cached_property
    def _turned(self) -> tuple[NDArray[np.complex64], tuple[int, int]]:
        wide, deep = (fft.next_fast_len(n + 2 * self._pad, real=True) for n in self.seen.shape)
        return _transformed(self.seen, (wide, deep)), (wide, deep)

    def taken(self, shape: Shape, number: int, more: float) -> Bools:
        """(wide, deep) where a box with this heading reaches a line as the picture has it."""
        picture, room = self._turned
        outline = _outline(shape, number, more, room, self.fine)
        wide, deep = self.seen.shape
        met = fft.irfft2(picture * outline, s=room)[:wide, :deep] > 0.5
        taken: Bools = met[self._inner]
        return taken

    def exactly(self, shape: Shape, angle: float, i: Ints, j: Ints) -> Bools:
        """Whether a body at an angle is free at each of some places, tried on the lines."""
        free = np.zeros(len(i), dtype=np.bool_)
        cos, sin = math.cos(angle), math.sin(angle)
        # Places of one block at a time: few lines are near all of them.
        block_ = max(1, round(_BLOCK / self.frame.cell))
        block = (i // block_) * self.frame.deep + j // block_
        order = np.argsort(block, kind="stable")
        for part in np.split(order, np.flatnonzero(np.diff(block[order])) + 1):
            x, z = (each[part].astype(np.float64) * self.frame.cell for each in (i, j))
            reach = shape.outer + 0.01
            lines = self._lines
            near = (
                (np.minimum(lines[:, 0], lines[:, 2]) <= x.max() + reach)
                & (np.maximum(lines[:, 0], lines[:, 2]) >= x.min() - reach)
                & (np.minimum(lines[:, 1], lines[:, 3]) <= z.max() + reach)
                & (np.maximum(lines[:, 1], lines[:, 3]) >= z.min() - reach)
            )
            free[part] = _apart(shape, lines[near], x, z, cos, sin)
        return free


@lru_cache(maxsize=256)
def _outline(
    shape: Shape, number: int, more: float, room: tuple[int, int], fine: float
) -> NDArray[np.complex64]:
    """A box's outline with a heading, filled, ready to be slid over a picture."""
    reach = math.ceil((shape.outer + abs(more)) / fine)
    i, j = np.meshgrid(np.arange(-reach, reach + 1), np.arange(-reach, reach + 1), indexing="ij")
    cos, sin = math.cos(ANGLES[number]), math.sin(ANGLES[number])
    along, aside = (i * cos + j * sin) * fine, (j * cos - i * sin) * fine
    filled = (np.abs(along) <= shape.ahead + more) & (np.abs(aside) <= shape.aside + more)
    picture = np.zeros(room, dtype=np.float32)
    picture[i[filled], j[filled]] = 1
    return _transformed(picture, room)


def _transformed(
    picture: NDArray[np.float32] | Bools, room: tuple[int, int]
) -> NDArray[np.complex64]:
    out: NDArray[np.complex64] = fft.rfft2(picture.astype(np.float32), s=room).astype(np.complex64)
    return out


def _apart(shape: Shape, lines: Floats, x: Floats, z: Floats, cos: float, sin: float) -> Bools:
    """Whether a shape keeps from all lines, at many places with one heading."""
    ax, az, bx, bz = (lines[None, :, k] for k in range(4))
    px, pz = x[:, None], z[:, None]
    if shape.round:
        ex, ez = bx - ax, bz - az
        t = ((px - ax) * ex + (pz - az) * ez) / np.maximum(ex * ex + ez * ez, 1e-12)
        t = np.clip(t, 0, 1)
        far = (ax + t * ex - px) ** 2 + (az + t * ez - pz) ** 2
        return np.asarray((far >= (shape.ahead + _KEPT) ** 2).all(axis=1))
    au, aw = (ax - px) * cos + (az - pz) * sin, (az - pz) * cos - (ax - px) * sin
    bu, bw = (bx - px) * cos + (bz - pz) * sin, (bz - pz) * cos - (bx - px) * sin
    ahead, aside = shape.ahead + _KEPT, shape.aside + _KEPT
    out = (np.minimum(au, bu) >= ahead) | (np.maximum(au, bu) <= -ahead)
    out |= (np.minimum(aw, bw) >= aside) | (np.maximum(aw, bw) <= -aside)
    nu, nw = aw - bw, bu - au
    out |= np.abs(au * nu + aw * nw) >= ahead * np.abs(nu) + aside * np.abs(nw)
    return np.asarray(out.all(axis=1))


@dataclass(frozen=True, eq=False)
class States:
    """Where a body may be, by heading and place, and how it gets about.

    Attributes:
        free: (headings, wide, deep); a disc has one heading.
        round: whether it is a disc's.
        turns: (headings, wide, deep) where it may turn to the next heading; None: wherever both are
            free.
    """

    free: Bools
    round: bool
    turns: Bools | None = None

    @cached_property
    def graph(self) -> csr_array:
        """(n, n) places that each motion is long; states are numbered in the order of ``free``."""
        number = np.arange(self.free.size).reshape(self.free.shape)
        rows: list[Ints] = []
        columns: list[Ints] = []
        weights: list[Floats] = []

        def add(a: Ints, b: Ints, metres: float) -> None:
            rows.append(a)
            columns.append(b)
            weights.append(np.full(len(a), metres))

        for k in range(len(self.free)):
            for di, dj in _SIDES if self.round else (STEPS[k],):
                add(*self._moves(number[k], self.free[k], di, dj), math.hypot(di, dj))
        if not self.round:
            for k in range(len(self.free)):
                both = self.free[k] & self.free[(k + 1) % len(self.free)]
                if self.turns is not None:
                    both &= self.turns[k]
                add(number[k][both], number[(k + 1) % len(self.free)][both], _TURNING)
        i, j, w = (np.concatenate(each) for each in (rows, columns, weights))
        n = self.free.size
        return coo_array((w, (i, j)), shape=(n, n)).tocsr()

    @staticmethod
    def _moves(number: Ints, free: Bools, di: int, dj: int) -> tuple[Ints, Ints]:
        """Pairs of states that one step joins, with all between them free."""
        wide, deep = free.shape
        count = max(abs(di), abs(dj))
        rows = slice(max(0, -di), wide - max(0, di))
        columns = slice(max(0, -dj), deep - max(0, dj))
        good = free[rows, columns].copy()
        for k in range(1, count + 1):
            oi, oj = round(di * k / count), round(dj * k / count)
            good &= free[rows.start + oi : rows.stop + oi, columns.start + oj : columns.stop + oj]
        there = number[rows.start + di : rows.stop + di, columns.start + dj : columns.stop + dj]
        return number[rows, columns][good], there[good]

    def ways(self, sources: Bools) -> tuple[Floats, Ints]:
        """How far every state is from the nearest of some, in places, and the state before it."""
        start = np.flatnonzero(sources & self.free)
        if not len(start):
            return np.full(self.free.size, np.inf), np.full(self.free.size, -9999)
        metres, before, _ = dijkstra(
            self.graph, directed=False, indices=start, min_only=True, return_predecessors=True
        )
        return metres, before.astype(np.int64)
