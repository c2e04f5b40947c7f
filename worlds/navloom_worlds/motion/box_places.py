"""Where the middle of a rectangle may be, heading by heading: a floor less its grown edges.

The Minkowski sum of a convex thing and a rectangle is convex, so that edges that go round a thing
are taken together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Polygon
from shapely.geometry.base import BaseGeometry
from shapely.geometry.polygon import orient

from navloom.scenes.bodies import Embodiment

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Patches = NDArray[np.object_]

KEPT = 0.002
"""Metres that a body is taken wider: it keeps a millimetre from everything."""
TINY = 1e-4
"""Square metres: a smaller patch is an accident of rounding."""
HAIR = 1e-6
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


class BoxGround:
    """A floor for one rectangle.

    Args:
        floor: what is free.
        shape: the rectangle.
        window: look at the places within only.
    """

    def __init__(self, floor: BaseGeometry, shape: Shape, window: Polygon | None) -> None:
        self._shape = shape
        # A disc as wide fits wherever the rectangle does.
        self._slim: BaseGeometry = floor.buffer(-(shape.wide + KEPT) / 2, quad_segs=3)
        if window is not None:
            self._slim = shapely.intersection(self._slim, window)
        self._within = self._slim.buffer(-HAIR)
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
        half = np.array([self._long, self._shape.wide + KEPT]) / 2
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
        return (self._shape.wide if self._shape.long is None else self._shape.long) + KEPT

    def patches(self, angle: float) -> Patches:
        """The places of the rectangle that looks along an angle."""
        u = np.array([math.cos(angle), math.sin(angle)]) * self._long / 2
        w = np.array([-math.sin(angle), math.cos(angle)]) * (self._shape.wide + KEPT) / 2
        corners = np.stack([u + w, u - w, -u + w, -u - w])
        points, number = self._sides
        grown = (points[:, None] + corners).reshape(-1, 2)
        hulls = hulls_of(grown, np.repeat(number, 4))
        met = hulls[shapely.intersects(self._within, hulls)]
        return parts_of(shapely.difference(self._slim, shapely.union_all(met)))


def edges_of(floor: BaseGeometry) -> Floats:
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
    inner = floor.buffer(-HAIR)
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


def parts_of(free: BaseGeometry) -> Patches:
    """The patches of a heading."""
    parts: Patches = shapely.get_parts(free)
    big: Patches = parts[(shapely.area(parts) > TINY) & (shapely.get_dimensions(parts) == 2)]
    return big
