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

_QUARTER = (0, 5, 12, 22, 33, 45, 57, 68, 78, 85)
TURNS = tuple(math.radians(turn + more) for more in (0, 90) for turn in _QUARTER)
"""Headings from that of the doorway, over half a turn: a box is the same from behind. They lie
closer where a body goes straight through a doorway, and must lean past the handle of its leaf."""
EVERY = tuple(range(len(TURNS)))
STRAIGHT = (0,)
FEW = (0, 3, 5, 7, 10, 13, 15, 17)
"""Enough of them to get about in a room, as numbers in ``TURNS``."""
_KEPT = 0.002
"""Metres that a body is taken wider: it keeps a millimetre from everything."""
_MAIN = 0.25
"""The share of the largest part of a floor that another has to have to count as being there."""
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
        patch: (n,) polygons.
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
            over = shapely.area(shapely.intersection(self.patch[mine], theirs)) > _TINY
            found.update(self.part[mine[over]].tolist())
        return found


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
        return _patched([free], STRAIGHT, disc=True)
    edges = _edges(floor)
    if window is not None:
        reach = window.buffer(shape.outer + 0.01)
        near = shapely.intersects(shapely.linestrings(edges), reach)
        edges, floor = edges[near], shapely.intersection(floor, window)
    return _patched([_boxed(floor, edges, shape, axis + TURNS[k]) for k in turns], turns)


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


def _patched(free: Sequence[BaseGeometry], turns: Sequence[int], *, disc: bool = False) -> Fits:
    """Patches of all headings, and which hang together."""
    patches, headings = [], []
    for number, each in zip(turns, free, strict=True):
        parts = shapely.get_parts(each)
        parts = parts[(shapely.area(parts) > _TINY) & (shapely.get_dimensions(parts) == 2)]
        patches.append(parts)
        headings.append(np.full(len(parts), number))
    patch, heading = np.concatenate(patches), np.concatenate(headings)
    rows, columns = [], []
    for here, there in zip(turns, (*turns[1:], turns[0]), strict=True):
        mine, next_ = np.flatnonzero(heading == here), np.flatnonzero(heading == there)
        if not len(mine) or not len(next_):
            continue
        a, b = np.meshgrid(mine, next_, indexing="ij")
        over = shapely.intersects(patch[a], patch[b])
        rows.append(a[over])
        columns.append(b[over])
    i = np.concatenate(rows) if rows else np.zeros(0, dtype=int)
    j = np.concatenate(columns) if columns else np.zeros(0, dtype=int)
    graph = coo_array((np.ones(len(i)), (i, j)), shape=(len(patch), len(patch)))
    part = connected_components(graph, directed=False)[1] if len(patch) else np.zeros(0, dtype=int)
    return Fits(heading, patch, part, disc)
