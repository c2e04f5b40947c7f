"""Where a body of any shape fits on a floor, heading by heading, and how it gets about there.

For one heading the places where a box fits are the floor less each of its edges, grown by the box
(the Minkowski sum of an edge and a box is convex). A body turns from one heading to the next where
it fits with both. A disc has one heading.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from shapely import Polygon
from shapely.geometry.base import BaseGeometry

from navloom.scenes.bodies import Embodiment

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Patches = NDArray[np.object_]

_QUARTER = (0, 4, 8, 13, 18, 24, 30, 36, 42, 48, 54, 60, 66, 72, 77, 82, 86)
TURNS = tuple(math.radians(turn + more) for more in (0, 90) for turn in _QUARTER)
"""Headings from that of the doorway, over half a turn: a box is the same from behind. They lie
closer where a body goes straight through a doorway, and must lean past the handle of its leaf."""
EVERY = tuple(range(len(TURNS)))
STRAIGHT = (0,)
FEW = (0, 5, 8, 12, 17, 22, 25, 29)
"""Enough of them to get about in a room, as numbers in ``TURNS``."""
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
    """A body's shape on a plan."""
    if body.shape == "cylinder":
        return Shape(body.width)
    return Shape(body.width, body.width if body.depth is None else body.depth)


@dataclass(frozen=True, eq=False)
class Fits:
    """Where the middle of a body may be.

    Attributes:
        heading: (n,) int, which of the headings each patch is of.
        patch: (n,) polygons; or lines along the heading, for a body that goes ahead and back alone.
        part: (n,) int, patches that one gets about between have one number.
        round: whether it is a disc's, which has one heading.
    """

    heading: NDArray[np.int_]
    patch: NDArray[np.object_]
    part: NDArray[np.integer[Any]]
    round: bool

    def main(self) -> Fits:
        """The part with the most floor, and any with a quarter as much."""
        if not len(self.part):
            return self
        area = np.bincount(self.part, weights=shapely.area(self.patch))
        keep = np.isin(self.part, np.flatnonzero(area >= _MAIN * area.max()))
        return Fits(self.heading[keep], self.patch[keep], self.part[keep], self.round)

    def meets(self, other: Fits) -> set[int]:
        """The parts of this one that a patch of another overlaps, at one heading.

        Args:
            other: of the same shape; or of a disc, which fits at any heading.
        """
        found: set[int] = set()
        for heading in set(self.heading.tolist()):
            held = other.patch if other.round else other.patch[other.heading == heading]
            theirs = shapely.union_all(held)
            mine = np.flatnonzero(self.heading == heading)
            shared = shapely.intersection(self.patch[mine], theirs)
            over = (shapely.area(shared) > _TINY) | (shapely.length(shared) > _SHORT)
            found.update(self.part[mine[over]].tolist())
        return found


def fits(
    floor: BaseGeometry,
    shape: Shape,
    axis: float,
    window: Polygon | None = None,
    turns: Sequence[int] = EVERY,
    *,
    ahead: bool = False,
) -> Fits:
    """Where a shape fits.

    Args:
        floor: what is free, (x, z) metres; it may not stick out over an edge.
        shape: of the body.
        axis: the first heading, an angle from +x toward +z.
        window: look at the places within only.
        turns: which of the headings to look at, in order.
        ahead: it goes along its heading, and aside only where it can turn to the next one, too.
    """
    if shape.long is None:
        free: BaseGeometry = floor.buffer(-(shape.wide + _KEPT) / 2, quad_segs=6)
        if window is not None:
            free = shapely.intersection(free, window)
        return _patched([_parts(free)], STRAIGHT, disc=True)
    edges = _edges(floor)
    if window is not None:
        reach = window.buffer(shape.outer + 0.01)
        near = shapely.intersects(shapely.linestrings(edges), reach)
        edges, floor = edges[near], shapely.intersection(floor, window)
    angles = [axis + TURNS[k] for k in turns]
    patches = [_parts(_boxed(floor, edges, shape, angle)) for angle in angles]
    return _railed(patches, turns, angles) if ahead else _patched(patches, turns)


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


def _boxed(floor: BaseGeometry, edges: Floats, shape: Shape, angle: float) -> BaseGeometry:
    """The places of a rectangle that looks along an angle."""
    long = shape.wide if shape.long is None else shape.long
    u = np.array([math.cos(angle), math.sin(angle)]) * (long + _KEPT) / 2
    w = np.array([-math.sin(angle), math.cos(angle)]) * (shape.wide + _KEPT) / 2
    corners = np.stack([u + w, u - w, -u + w, -u - w])
    grown = (edges[:, :, None] + corners).reshape(len(edges), -1, 2)
    if not len(edges):
        return floor
    hulls = shapely.convex_hull(shapely.multipoints(grown))
    return shapely.difference(floor, shapely.union_all(hulls))


def _parts(free: BaseGeometry) -> Patches:
    """The patches of a heading."""
    parts: Patches = shapely.get_parts(free)
    big: Patches = parts[(shapely.area(parts) > _TINY) & (shapely.get_dimensions(parts) == 2)]
    return big


def _shared(mine: Patches, next_: Patches) -> tuple[Patches, Ints, Ints]:
    """What patches of two headings share, and which two each is of."""
    i, j = shapely.STRtree(next_).query(mine, predicate="intersects")
    shared = shapely.intersection(mine[i], next_[j])
    over = shapely.area(shared) > _TINY
    return shared[over], i[over], j[over]


def _patched(patches: Sequence[Patches], turns: Sequence[int], *, disc: bool = False) -> Fits:
    """Patches of all headings, and which hang together."""
    count = [len(each) for each in patches]
    first = np.cumsum([0, *count])
    rows, columns = [], []
    for k in range(len(turns) if len(turns) > 1 else 0):
        other = (k + 1) % len(turns)
        _, i, j = _shared(patches[k], patches[other])
        rows.append(i + first[k])
        columns.append(j + first[other])
    patch, heading = np.concatenate(patches), np.repeat(np.array(turns), count)
    return Fits(heading, patch, _numbered(len(patch), rows, columns), disc)


def _railed(patches: Sequence[Patches], turns: Sequence[int], angles: Sequence[float]) -> Fits:
    """Lines along each heading, and which hang together: where it can turn between two headings."""
    lines = [_lines(each, angle) for each, angle in zip(patches, angles, strict=True)]
    count = [len(each) for each in lines]
    first = np.cumsum([0, *count])
    total, rows, columns = int(first[-1]), [], []
    for k in range(len(turns) if len(turns) > 1 else 0):
        other = (k + 1) % len(turns)
        shared = shapely.get_parts(_shared(patches[k], patches[other])[0])
        tree = shapely.STRtree(shared)
        for one in (k, other):
            i, j = tree.query(lines[one], predicate="intersects")
            rows.append(i + first[one])
            columns.append(j + total)
        total += len(shared)
    patch, heading = np.concatenate(lines), np.repeat(np.array(turns), count)
    return Fits(heading, patch, _numbered(total, rows, columns)[: len(patch)], False)


def _lines(patches: Patches, angle: float) -> Patches:
    """Lines along an angle over patches, three at least over each."""
    along = np.array([math.cos(angle), math.sin(angle)])
    aside = np.array([-along[1], along[0]])
    out = []
    for patch in patches:
        at = shapely.get_coordinates(patch)
        off, far = at @ aside, at @ along
        low, high = float(off.min()), float(off.max())
        count = max(3, math.ceil((high - low) / _APART))
        rows = low + (high - low) * (np.arange(count) + 0.5) / count
        ends = np.array([far.min() - 1, far.max() + 1])[None, :, None] * along
        whole = shapely.linestrings(rows[:, None, None] * aside + ends)
        out.append(shapely.get_parts(shapely.intersection(whole, patch)))
    return np.concatenate(out) if out else np.zeros(0, dtype=object)


def _numbered(count: int, rows: Sequence[Ints], columns: Sequence[Ints]) -> Ints:
    """(count,) numbers of what hangs together."""
    if not count:
        return np.zeros(0, dtype=np.int64)
    i, j = (np.concatenate([np.zeros(0, np.int64), *each]) for each in (rows, columns))
    graph = coo_array((np.ones(len(i)), (i, j)), shape=(count, count))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)
