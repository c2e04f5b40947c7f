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
from shapely.geometry.polygon import orient

from navloom.scenes.bodies import Embodiment

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Patches = NDArray[np.object_]

_QUARTER = (0, 4, 8, 13, 18, 24, 30, 36, 42, 48, 54, 60, 66, 72, 77, 82, 86)
TURNS = tuple(math.radians(turn + more) for more in (0, 90) for turn in _QUARTER)
"""Headings from that of the doorway, over half a turn: a box is the same from behind. They lie
closer where a body goes straight through a doorway, and must lean past the handle of its leaf."""
EVERY = tuple(range(len(TURNS)))
FEW = (*range(0, 15, 2), *range(17, 32, 2))
"""Enough of them to get about in a room, as numbers in ``TURNS``."""
_WIDER = (range(-2, 3), range(-2, len(TURNS) // 2 + 1), range(len(TURNS)))
"""Headings that are looked at one after another: straight on, a quarter to one side, all."""
_KEPT = 0.002
"""Metres that a body is taken wider: it keeps a millimetre from everything."""
_MAIN = 0.25
"""The share of the largest part of a floor that another has to have to count as being there."""
_APART = 0.02
"""Metres between the lines that a body goes along at one heading."""
_SHORT = 0.02
"""Metres of such a line that count."""
_TINY = 1e-4
"""Square metres: a smaller patch is an accident of rounding."""
_NONE: Patches = np.zeros(0, dtype=object)
_HAIR = 1e-6
"""Metres: what reaches no farther into a floor only touches it."""


@dataclass(frozen=True)
class Shape:
    """What of a body counts on a plan: a disc, or a rectangle.

    Attributes:
        wide: across its way, metres; the diameter of a disc.
        long: along its way; None for a disc.
    """

    wide: float
    long: float | None = None

    @property
    def outer(self) -> float:
        """The radius of the circle that it turns in."""
        return self.wide / 2 if self.long is None else math.hypot(self.wide, self.long) / 2

    def grown(self, metres: float) -> Shape:
        """A shape so much wider and longer."""
        return Shape(self.wide + metres, None if self.long is None else self.long + metres)


def shape_of(body: Embodiment) -> Shape:
    """A body's shape on a plan: of a disc that turns on an arc, and cannot go aside, a square."""
    if body.shape == "cylinder":
        return Shape(body.width, body.width if body.turning_radius else None)
    return Shape(body.width, body.width if body.depth is None else body.depth)


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
            over = (shapely.area(shared) > _TINY) | (shapely.length(shared) > _SHORT)
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
        free: BaseGeometry = floor.buffer(-(shape.wide + _KEPT) / 2, quad_segs=6)
        if window is not None:
            free = shapely.intersection(free, window)
        parts = _parts(free)
        return Fits(np.zeros(len(parts), np.int64), parts, np.arange(len(parts)), True)
    ground = _Ground(floor, shape, window)
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
    strips = shapely.buffer(found.patch[parted], _APART / 2 + _HAIR, cap_style="flat")
    return Fits(
        np.concatenate([heading[whole], found.heading[parted]]),
        np.concatenate([patches[whole], np.asarray(strips)]),
        np.concatenate([low[whole], found.part[parted]]),
        False,
    )


def straight(floor: BaseGeometry, shape: Shape, axis: float, window: Polygon | None) -> Fits:
    """Where a rectangle fits that neither turns nor goes aside; arguments as of :func:`fits`."""
    patches = _Ground(floor, shape, window).patches(axis)
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
    ground = _Ground(floor, shape, window)
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


class _Ground:
    """A floor for one rectangle.

    Args:
        floor: what is free.
        shape: the rectangle.
        window: look at the places within only.
    """

    def __init__(self, floor: BaseGeometry, shape: Shape, window: Polygon | None) -> None:
        self._shape = shape
        # A disc as wide fits wherever the rectangle does.
        self._slim: BaseGeometry = floor.buffer(-(shape.wide + _KEPT) / 2, quad_segs=3)
        if window is not None:
            self._slim = shapely.intersection(self._slim, window)
        self._within = self._slim.buffer(-_HAIR)
        shapely.prepare(self._within)
        self._sides = _sides(floor, self._slim, shape.outer + 0.01)
        corners = np.concatenate([np.zeros((0, 2)), *map(_corners, _rings(floor))])
        near = shapely.dwithin(shapely.points(corners), self._slim, shape.outer + 0.01)
        self._corners = corners[near]

    def swung(self, first: float, second: float) -> Patches:
        """Where a corner of the rectangle meets a corner of a thing between two angles.

        It does not meet it at either of them: between the arc of the corner, the side that goes
        before it at the first and the side that comes after it at the second.
        """
        half = np.array([self._long, self._shape.wide + _KEPT]) / 2
        out = []
        for signs in np.array([[1, 1], [1, -1], [-1, -1], [-1, 1]]):
            sides = [
                np.array([[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]]) * signs[:, None]
                for a in (first, second)
            ]
            corners = [half @ each for each in sides]
            before = int(sides[0][1] @ np.array([-corners[0][1], corners[0][0]]) > 0)
            edges = np.stack([sides[0][before], sides[1][1 - before]])
            off = np.array([edges[0] @ corners[0], edges[1] @ corners[1]])
            out.append(self._corners[:, None] - np.stack([*corners, np.linalg.solve(edges, off)]))
        found = np.concatenate(out)
        near = shapely.contains_xy(self._within, *found.mean(axis=1).T)
        return np.asarray(shapely.polygons(found[near]))

    @property
    def _long(self) -> float:
        return (self._shape.wide if self._shape.long is None else self._shape.long) + _KEPT

    def patches(self, angle: float) -> Patches:
        """The places of the rectangle that looks along an angle."""
        u = np.array([math.cos(angle), math.sin(angle)]) * self._long / 2
        w = np.array([-math.sin(angle), math.cos(angle)]) * (self._shape.wide + _KEPT) / 2
        corners = np.stack([u + w, u - w, -u + w, -u - w])
        points, number = self._sides
        grown = (points[:, None] + corners).reshape(-1, 2)
        hulls = hulls_of(grown, np.repeat(number, 4))
        met = hulls[shapely.intersects(self._within, hulls)]
        return _parts(shapely.difference(self._slim, shapely.union_all(met)))


def _edges(floor: BaseGeometry) -> Floats:
    """The edges of a floor: (n, 2, 2)."""
    runs = [
        np.stack([at[:-1], at[1:]], axis=1)
        for part in shapely.get_parts(floor)
        if isinstance(part, Polygon)
        for ring in (part.exterior, *part.interiors)
        for at in [shapely.get_coordinates(ring)]
    ]
    return np.concatenate(runs) if runs else np.zeros((0, 2, 2))


def _sides(floor: BaseGeometry, near: BaseGeometry, within: float) -> tuple[Floats, Ints]:
    """The edges of a floor, those that go round a thing as one: the floor ends at convex hulls.

    Args:
        floor: the floor.
        near: edges near this alone.
        within: metres that they are near.

    Returns:
        (n, 2) points, and (n,) numbers of what each is of.
    """
    runs = [run for ring in _rings(floor) for run in _runs(ring)]
    if not runs:
        return np.zeros((0, 2)), np.zeros(0, dtype=np.int64)
    inner = floor.buffer(-_HAIR)
    shapely.prepare(inner)
    number = np.repeat(np.arange(len(runs)), [len(run) for run in runs])
    hulls = hulls_of(np.concatenate(runs), number)
    close = shapely.dwithin(hulls, near, within)
    # Where floor lies between the ends of such a run, its edges count one by one.
    parted = shapely.intersects(inner, hulls)
    kept = []
    for run, close_, parted_ in zip(runs, close, parted, strict=True):
        if close_:
            kept += [*np.stack([run[:-1], run[1:]], axis=1)] if parted_ else [run]
    number = np.repeat(np.arange(len(kept)), [len(run) for run in kept])
    return np.concatenate([np.zeros((0, 2)), *kept]), number


def _rings(floor: BaseGeometry) -> Iterator[Floats]:
    """The borders of a floor, which lies to their left."""
    for part in shapely.get_parts(floor):
        if isinstance(part, Polygon):
            sided = orient(part)
            for ring in (sided.exterior, *sided.interiors):
                yield shapely.get_coordinates(ring)


def _corners(ring: Floats) -> Floats:
    """Where a border goes round the corner of a thing."""
    after = np.diff(ring, axis=0)
    before = np.roll(after, 1, axis=0)
    return ring[:-1][before[:, 0] * after[:, 1] < before[:, 1] * after[:, 0]]


def _runs(ring: Floats) -> Iterator[Floats]:
    """The edges of a border, those that follow one another round a convex corner together."""
    along = np.diff(ring, axis=0)
    angle = np.arctan2(along[:, 1], along[:, 0])
    turns = (np.diff(angle) + math.pi) % (2 * math.pi) - math.pi
    first, turned = 0, 0.0
    for k, turn in enumerate(turns.tolist(), 1):
        turned -= turn
        if turn > 0 or turned > math.pi:
            yield ring[first : k + 1]
            first, turned = k, 0.0
    yield ring[first:]


def hulls_of(points: Floats, number: Ints) -> Patches:
    """Convex hulls of (n, 2) points; ``number``, in order, says which of them each is of."""
    return np.asarray(shapely.convex_hull(shapely.linestrings(points, indices=number)))


def _parts(free: BaseGeometry) -> Patches:
    """The patches of a heading."""
    parts: Patches = shapely.get_parts(free)
    big: Patches = parts[(shapely.area(parts) > _TINY) & (shapely.get_dimensions(parts) == 2)]
    return big


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
    big: Patches = shared[shapely.area(shared) > _TINY]
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
        edges = _edges(patch)
        off, far = edges @ aside, edges @ along
        low, high = float(off.min()), float(off.max())
        count = max(3, math.ceil((high - low) / _APART))
        rows = low + (high - low) * (np.arange(count) + 0.5) / count
        # Every line comes in over one edge and goes out over another.
        over = (off[:, :1] <= rows) != (off[:, 1:] <= rows)
        edge, row = np.nonzero(over)
        share = (rows[row] - off[edge, 0]) / (off[edge, 1] - off[edge, 0])
        met = far[edge, 0] + share * (far[edge, 1] - far[edge, 0])
        order = np.lexsort((met, row))
        at = rows[row[order], None] * aside + met[order, None] * along
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
