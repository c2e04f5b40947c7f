"""Where a body of any shape fits on a floor, heading by heading, and how it gets about there.

For one heading the places where a box fits are the floor less each of its edges, grown by the box
(the Minkowski sum of an edge and a box is convex). A body turns from one heading to the next where
it fits with both. A disc has one heading.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from shapely import Polygon
from shapely.geometry.base import BaseGeometry

from navloom_worlds.motion.box_places import (
    HAIR,
    KEPT,
    TINY,
    BoxGround,
    Ints,
    Patches,
    Shape,
    edges_of,
    parts_of,
)

_QUARTER = (0, 4, 8, 13, 18, 24, 30, 36, 42, 48, 54, 60, 66, 72, 77, 82, 86)
TURNS = tuple(math.radians(turn + more) for more in (0, 90) for turn in _QUARTER)
"""Headings from that of the doorway, over half a turn: a box is the same from behind. They lie
closer where a body goes straight through a doorway, and must lean past the handle of its leaf."""
EVERY = tuple(range(len(TURNS)))
FEW = (*range(0, 15, 2), *range(17, 32, 2))
"""Enough of them to get about in most rooms, as numbers in ``TURNS``."""
_WIDER = (range(-2, 3), range(-2, len(TURNS) // 2 + 1), range(len(TURNS)))
"""Headings that are looked at one after another: straight on, a quarter to one side, all."""
_WIDEST = math.radians(6)
"""Between two headings, at most."""
_MAIN = 0.25
"""The share of the largest part of a floor that another has to have to count as being there."""
_APART = 0.02
"""Metres between the lines that a body goes along at one heading."""
_NECK = 2e-4
"""Metres that a neck is wide which has a line of its own."""
_SHORT = 0.02
"""Metres of such a line that count."""
_ARC = 32
"""Edges of a quarter of a circle: they lie a tenth of a millimetre off for half a metre."""
_NONE: Patches = np.zeros(0, dtype=object)


@dataclass(frozen=True, eq=False)
class Fits:
    """Where the middle of a body may be.

    Attributes:
        heading: (n,) int, which of the headings each patch is of.
        patch: (n,) polygons of a disc; of a rectangle, which goes ahead and back alone, lines along
            its heading or strips.
        part: (n,) int, patches that one gets about between have one number.
        round: whether it is a disc's, which has one heading.
    """

    heading: NDArray[np.int_]
    patch: NDArray[np.object_]
    part: NDArray[np.integer[Any]]
    round: bool
    _whole: dict[int, BaseGeometry] = field(default_factory=dict, init=False)

    def main(self) -> Fits:
        """The part with the most floor, and any with a quarter as much."""
        if not len(self.part):
            return self
        area = np.bincount(self.part, weights=shapely.area(self.patch))
        keep = np.isin(self.part, np.flatnonzero(area >= _MAIN * area.max()))
        return Fits(self.heading[keep], self.patch[keep], self.part[keep], self.round)

    def turned(self, quarters: int) -> Fits:
        """The same with headings counted from another first one, so many right angles on."""
        if self.round or quarters % 2 == 0:
            return self
        heading = (self.heading - len(TURNS) // 2) % len(TURNS)
        return Fits(heading, self.patch, self.part, False)

    def meets(self, other: Fits) -> set[int]:
        """The parts of this one that a patch of another overlaps, at one heading.

        Args:
            other: of the same shape; or of a disc, which fits at any heading.
        """
        found: set[int] = set()
        for heading in set(self.heading.tolist()):
            theirs = other._floor(-1 if other.round else heading)
            mine = np.flatnonzero(self.heading == heading)
            shared = self.patch[mine]
            # Most are in it whole or not at all, which is known sooner than what they share.
            near = shapely.intersects(theirs, shared)
            mine, shared = mine[near], shared[near]
            part = ~shapely.covers(theirs, shared)
            shared[part] = shapely.intersection(shared[part], theirs)
            over = (shapely.area(shared) > TINY) | (shapely.length(shared) > _SHORT)
            found.update(self.part[mine[over]].tolist())
        return found

    def _floor(self, heading: int) -> BaseGeometry:
        """All patches of a heading as one; of all for a negative one."""
        if heading not in self._whole:
            held = self.patch if heading < 0 else self.patch[self.heading == heading]
            self._whole[heading] = shapely.union_all(held)
            shapely.prepare(self._whole[heading])
        return self._whole[heading]


def fits(
    floor: BaseGeometry,
    shape: Shape,
    axis: float,
    window: Polygon | None = None,
    turns: Sequence[int] = EVERY,
) -> Fits:
    """Where a shape fits.

    Args:
        floor: what is free, (x, z) metres; it may not stick out over an edge.
        shape: of the body.
        axis: the first heading, an angle from +x toward +z.
        window: look at the places within only.
        turns: which of the headings to look at, in order.
    """
    if shape.long is None:
        free: BaseGeometry = floor.buffer(-(shape.wide + KEPT) / 2, quad_segs=_ARC)
        if window is not None:
            free = shapely.intersection(free, window)
        parts = parts_of(free)
        return Fits(np.zeros(len(parts), np.int64), parts, np.arange(len(parts)), True)
    ground = BoxGround(floor, shape, window)
    angles = [axis + TURNS[k] for k in turns]
    patches = [ground.patches(angle) for angle in angles]
    lines, of = zip(*map(_lines, patches, angles), strict=True)
    found = _railed(turns, patches, lines, [_NONE] * len(turns), closed=True)
    count = np.array([len(some) for some in patches])
    return _filled(
        found,
        np.concatenate(patches),
        np.concatenate(of) + np.repeat(np.cumsum(count) - count, [len(some) for some in lines]),
        np.repeat(np.array(turns), count),
    )


def _filled(found: Fits, patches: Patches, of: Ints, heading: Ints) -> Fits:
    """Patches in place of lines that hang together; strips as wide as others lie apart.

    Args:
        found: lines.
        patches: that they lie on.
        of: (lines,) which of them.
        heading: (patches,) theirs.
    """
    low, high = np.full(len(patches), len(of)), np.full(len(patches), -1)
    np.minimum.at(low, of, found.part)
    np.maximum.at(high, of, found.part)
    whole = low == high
    parted = ~whole[of]
    strips = shapely.buffer(found.patch[parted], _APART / 2 + HAIR, cap_style="flat")
    return Fits(
        np.concatenate([heading[whole], found.heading[parted]]),
        np.concatenate([patches[whole], np.asarray(strips)]),
        np.concatenate([low[whole], found.part[parted]]),
        False,
    )


def straight(floor: BaseGeometry, shape: Shape, axis: float, window: Polygon | None) -> Fits:
    """Where a rectangle fits that neither turns nor goes aside; arguments as of :func:`fits`."""
    patches = BoxGround(floor, shape, window).patches(axis)
    return _railed((0,), [patches], [_lines(patches, axis)[0]], [])


def ahead(floor: BaseGeometry, shape: Shape, axis: float, window: Polygon | None) -> Iterator[Fits]:
    """Where a rectangle fits that goes along its heading, and aside where it can turn to the next.

    Args:
        floor: see :func:`fits`, likewise the others.
        shape: a rectangle.
        axis: the first heading.
        window: look at the places within only.

    Yields:
        The same for ever more headings about the first, all of them at last; what hangs together
        by some does by more.
    """
    # Between two headings its corners come out farther than at either.
    more = 2 * shape.outer * (1 - math.cos(_WIDEST / 2))
    ground = BoxGround(floor, shape.grown(more), window)
    known: dict[int, tuple[Patches, Patches, Patches]] = {}
    for some in _WIDER:
        turns = [k % len(TURNS) for k in some]
        angles = [axis + TURNS[k] for k in turns]
        for k, angle in zip(turns, angles, strict=True):
            if k not in known:
                patches = ground.patches(angle)
                swung = ground.swung(angle, axis + (*TURNS, math.pi)[k + 1])
                known[k] = patches, _lines(patches, angle)[0], swung
        patches_, lines, swung_ = zip(*(known[k] for k in turns), strict=True)
        yield _railed(turns, patches_, lines, swung_, closed=len(turns) == len(TURNS))


def _shared(mine: Patches, next_: Patches, swung: Patches) -> Patches:
    """What patches of two headings share, less where a corner swings over something."""
    i, j = shapely.STRtree(next_).query(mine, predicate="intersects")
    both = shapely.intersection(mine[i], next_[j])
    if len(swung):
        tree = shapely.STRtree(swung)
        for k, one in enumerate(both):
            if len(met := tree.query(one, predicate="intersects")):
                both[k] = shapely.difference(one, shapely.union_all(swung[met]))
    shared = shapely.get_parts(both)
    big: Patches = shared[shapely.area(shared) > TINY]
    return big


def _railed(
    turns: Sequence[int],
    patches: Sequence[Patches],
    lines: Sequence[Patches],
    swung: Sequence[Patches],
    *,
    closed: bool = False,
) -> Fits:
    """Lines along each heading, and which hang together: where it can turn from one to the next.

    Args:
        turns: the headings.
        patches: the places of each.
        lines: over the places of each.
        swung: where it may not turn from each to the next, though it fits with both.
        closed: whether the first comes after the last.
    """
    count = [len(each) for each in lines]
    first = np.cumsum([0, *count])
    total, rows, columns = int(first[-1]), [], []
    for k in range(len(turns) if closed else len(turns) - 1):
        other = (k + 1) % len(turns)
        shared = _shared(patches[k], patches[other], swung[k])
        tree = shapely.STRtree(shared)
        for one in (k, other):
            i, j = tree.query(lines[one], predicate="intersects")
            rows.append(i + first[one])
            columns.append(j + total)
        total += len(shared)
    patch, heading = np.concatenate(lines), np.repeat(np.array(turns), count)
    return Fits(heading, patch, _numbered(total, rows, columns)[: len(patch)], False)


def _lines(patches: Patches, angle: float) -> tuple[Patches, Ints]:
    """Lines along an angle over patches, three at least over each, and which each is over."""
    along = np.array([math.cos(angle), math.sin(angle)])
    aside = np.array([-along[1], along[0]])
    out = [np.zeros((0, 2, 2))]
    for patch in patches:
        edges = edges_of(patch)
        off, far = edges @ aside, edges @ along
        low, high = float(off.min()), float(off.max())
        count = max(3, math.ceil((high - low) / _APART))
        rows = low + (high - low) * (np.arange(count) + 0.5) / count
        # Between corners, too, where no line is: else narrow necks would have none.
        met = np.unique(off[:, 0])
        missed = np.searchsorted(rows, met[1:]) == np.searchsorted(rows, met[:-1])
        missed &= np.diff(met) > _NECK
        rows = np.concatenate([rows, (met[1:] + met[:-1])[missed] / 2])
        # Every line comes in over one edge and goes out over another.
        over = (off[:, :1] <= rows) != (off[:, 1:] <= rows)
        edge, row = np.nonzero(over)
        share = (rows[row] - off[edge, 0]) / (off[edge, 1] - off[edge, 0])
        reach = far[edge, 0] + share * (far[edge, 1] - far[edge, 0])
        order = np.lexsort((reach, row))
        at = rows[row[order], None] * aside + reach[order, None] * along
        out.append(at.reshape(-1, 2, 2))
    of = np.repeat(np.arange(len(patches)), [len(lines) for lines in out[1:]])
    return np.asarray(shapely.linestrings(np.concatenate(out))), of


def _numbered(count: int, rows: Sequence[Ints], columns: Sequence[Ints]) -> Ints:
    """(count,) numbers of what hangs together."""
    if not count:
        return np.zeros(0, dtype=np.int64)
    i, j = (np.concatenate([np.zeros(0, np.int64), *each]) for each in (rows, columns))
    graph = coo_array((np.ones(len(i)), (i, j)), shape=(count, count))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)
