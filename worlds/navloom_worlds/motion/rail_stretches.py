"""The free stretches of the rails of one heading, exactly.

A rail is a row of a grid: lines along a heading, one beside another. What lines take from it is
taken from what of it lies over a floor.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from navloom.scenes.bodies import Shape
from navloom_worlds.motion.lattice import (
    THIN,
    GridFrame,
    Stretches,
    Sums,
    box_sums,
    corner_sums,
    kept_off,
    rows_of,
    stretches,
)

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_SHORT = 1e-4
"""Metres of a shorter stretch are an accident of rounding."""
FAR = 4096.0
"""Metres by which rows lie apart where all their stretches are put in one order."""
_CELLS = 4.0
"""Of a metre of rail: in each those stretches are put together that begin there and go beyond."""


def stretches_of(
    frame: GridFrame, lines: Floats, edges: Floats, shape: Shape, turn: float, *, turns: bool
) -> tuple[Stretches, Stretches]:
    """Where a box is free that looks along the rows of a grid, and where it may turn.

    Args:
        frame: the grid; rails are its rows.
        lines: (n, 4) that the box may not meet, (x, z) metres.
        edges: (m, 4) of the floor where its middle may be.
        shape: the box.
        turn: radians to the next heading.
        turns: whether it turns at all; else it may nowhere.
    """
    compiled = compiled_rails()
    if compiled is None:
        return in_numpy(frame, lines, edges, shape, turn, turns=turns)
    at = np.array([*frame.at, *frame.along])
    half = np.array(kept_off(shape))
    found = compiled(lines, edges, at, frame.wide, frame.cell, half, *_segments(shape, turn), turns)
    return found[:3], found[3:]


@lru_cache
def _segments(shape: Shape, turn: float) -> tuple[Floats, Floats, Floats]:
    """What a point takes from a box that turns, as the compiled code is given it."""
    (_, (_, *turned)), (middles, (_, chords)) = _turned(np.zeros((1, 4)), shape, turn)
    return np.stack(turned, axis=1), chords[:, None], -2 * middles


@lru_cache(maxsize=1)
def compiled_rails() -> Callable[..., Any] | None:
    """What finds stretches in compiled code; None without numba."""
    if find_spec("numba") is None:
        return None
    from navloom_worlds.motion.rails_numba import compiled

    return compiled


def in_numpy(
    frame: GridFrame, lines: Floats, edges: Floats, shape: Shape, turn: float, *, turns: bool
) -> tuple[Stretches, Stretches]:
    """The same without numba, to the last bit."""
    own = frame.inside(lines)
    outside = _outside(edges, frame)
    only = _held(_between(outside), frame)
    taken = _union([_fewer(_ahead(own, shape, frame, only)), outside])
    free = _between(taken)
    if not turns or not len(free[0]):
        return free, (free[0][:0], free[1][:0], free[2][:0])
    only = _held(free, frame)
    more = [_fewer(stretches(each, frame, only)) for each in _turned(own, shape, turn)]
    return free, _between(_union([taken, *more]))


def _turned(own: Floats, shape: Shape, turn: float) -> tuple[Sums, Sums]:
    """What lines take from a box that looks along the next heading, and from corners till then."""
    quarter = math.pi / 2
    ahead = -math.sin(turn), math.cos(turn)
    return box_sums(own, shape, ahead), corner_sums(own, shape, quarter, quarter + turn)


def _ahead(own: Floats, shape: Shape, frame: GridFrame, only: Bools) -> Stretches:
    """What lines take from the rows of a grid of a box that looks along them.

    That is what of each line is to the sides of the row, and as much again before and behind it as
    the box is long.
    """
    ahead, aside = kept_off(shape)
    x0, y0, x1, y1 = np.where(own[:, :1] > own[:, 2:3], own[:, [2, 3, 0, 1]], own).T
    rise = (y1 - y0) / np.maximum(x1 - x0, THIN)
    which, row = rows_of((x0 + x1) / 2, (x1 - x0) / 2 + aside + frame.cell, frame, only)
    left, right = row * frame.cell - aside, row * frame.cell + aside
    met = (x0[which] <= right) & (x1[which] >= left)
    which, row, left, right = which[met], row[met], left[met], right[met]
    low, high = np.minimum(y0, y1)[which], np.maximum(y0, y1)[which]
    x0, y0, x1, y1, rise = (each[which] for each in (x0, y0, x1, y1, rise))
    first = np.where(x0 >= left, y0, np.clip(y0 + (left - x0) * rise, low, high))
    last = np.where(x1 <= right, y1, np.clip(y0 + (right - x0) * rise, low, high))
    return row, np.minimum(first, last) - ahead, np.maximum(first, last) + ahead


def _fewer(taken: Stretches) -> Stretches:
    """Fewer stretches that cover the same: those that begin in one cell and end beyond it overlap.

    They are put together without being sorted, which takes most of the time otherwise.
    """
    row, low, high = taken
    if not len(row):
        return taken
    base = float(low.min())
    first = ((low - base) * _CELLS).astype(np.int64)
    beyond = (high - base) * _CELLS >= first + 1
    many = int(first.max()) + 1
    size = (int(row.max()) + 1) * many
    cell = np.where(beyond, row * many + first, size)
    lowest, highest = np.full(size + 1, np.inf), np.full(size + 1, -np.inf)
    np.minimum.at(lowest, cell, low)
    np.maximum.at(highest, cell, high)
    held, short = np.flatnonzero(lowest[:-1] < np.inf), np.flatnonzero(~beyond)
    return (
        np.concatenate([held // many, row[short]]),
        np.concatenate([lowest[held], low[short]]),
        np.concatenate([highest[held], high[short]]),
    )


def _union(taken: Sequence[Stretches]) -> Stretches:
    """Stretches as few as cover the same, in order.

    Between one that is covered and the next as many have ended as have begun, so that it is enough
    to sort where they begin and where they end, each by itself.
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
    """What is left between some in order, the first and last of which go beyond every row."""
    row, low, high = taken
    free = (row[1:] == row[:-1]) & (low[1:] - high[:-1] > _SHORT)
    return row[1:][free], high[:-1][free], low[1:][free]


def _held(free: Stretches, frame: GridFrame) -> Bools:
    """(wide,) which rows have any."""
    out = np.zeros(frame.wide, dtype=np.bool_)
    out[free[0]] = True
    return out


def _outside(edges: Floats, frame: GridFrame) -> Stretches:
    """What of each row is not within a floor of some edges (n, 4)."""
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
