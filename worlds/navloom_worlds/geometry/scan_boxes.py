"""Bounding boxes of a scan's objects: the smallest upright box around the triangles of each.

A scan's labels bleed: a few triangles far from an object have its colour. Small pieces that lie
apart from the main part of an object are left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import ConvexHull, KDTree, QhullError

from navloom.scenes.scene import Box
from navloom_worlds.geometry.arrays import F32, F64, I32, I64, Bools
from navloom_worlds.geometry.solids import area_normals

_APART = 0.06
"""Cell size in metres; faces in neighbouring cells are of one piece."""
_SMALL = 0.1
"""Share of the largest piece's area from which a piece belongs to the object, wherever it is."""
_TINY = 0.02
"""Share from which a piece that touches the box of the others enlarges it."""
_TOUCH = 0.05
"""Metres within which a piece touches a box."""
_TURNED = 0.93
"""A rotated box is used if its footprint is below this share of the axis-aligned one."""
_SIDE = 1 << 20
_CELL = np.array([_SIDE * _SIDE, _SIDE, 1], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class ItemOutline:
    """Bounding box and footprint of an object.

    Attributes:
        box: box around it.
        hull: its footprint, (x, z); None if it is upright and flat.
    """

    box: Box
    hull: shapely.Polygon | None


def outline_items(vertices: F32, faces: I32, numbers: I32) -> dict[int, ItemOutline]:
    """Return the box and the footprint of every object.

    Args:
        vertices: (n, 3) metres, y up.
        faces: (m, 3).
        numbers: (m,) object of each face; 0 for none.

    Returns:
        Outlines by number. A box's yaw is within 45 degrees to either side, and 0 if a box along
        the axes fits as well. The front of an object is unknown.
    """
    return {number: _outlined(vertices, mine) for number, mine in faces_by_number(faces, numbers)}


def faces_by_number(faces: I32, numbers: I32) -> Iterator[tuple[int, I32]]:
    """Yield each object number with its faces, in ascending order."""
    order = np.argsort(numbers, kind="stable")
    sorted_numbers = numbers[order]
    kinds, first = np.unique(sorted_numbers, return_index=True)
    for number, some in zip(kinds.tolist(), np.split(order, first[1:]), strict=True):
        if number > 0:
            yield number, faces[some]


def _outlined(vertices: F32, faces: I32) -> ItemOutline:
    corners = vertices[faces].astype(np.float64)
    if len(faces) > 1:
        corners = corners[_kept(corners)]
    flat = corners.reshape(-1, 3)
    low, high = flat[:, 1].min(), flat[:, 1].max()
    hull = convex_hull(flat[:, [0, 2]])
    x, z, wide, deep, yaw = _footprint(flat[:, [0, 2]], hull)
    box = Box(
        center=(round(x, 4), round(float(low + high) / 2, 4), round(z, 4)),
        size=(round(wide, 4), round(float(high - low), 4), round(deep, 4)),
        yaw=round(yaw, 5),
    )
    return ItemOutline(box, hull)


def _kept(corners: F64) -> Bools:
    """Check which faces belong to the object itself and not to label bleeding.

    The largest piece and pieces that touch its box do. Small pieces do if they are within it.
    """
    middle, count, label = _pieces(corners)
    if count == 1:
        return np.ones(len(corners), dtype=np.bool_)
    of_face = label[middle]
    areas = np.linalg.norm(area_normals(corners), axis=1) + 1e-12
    size = np.bincount(of_face, areas, minlength=count)
    low, high = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
    np.minimum.at(low, of_face, corners.min(axis=1))
    np.maximum.at(high, of_face, corners.max(axis=1))
    large = size >= _SMALL * size.max()
    parts = large | (size >= _TINY * size.max())
    held = large.copy()
    while True:
        least, most = low[held].min(axis=0), high[held].max(axis=0)
        near = ((low <= most + _TOUCH) & (high >= least - _TOUCH)).all(axis=1)
        grown = held | (near & parts)
        if (grown == held).all():
            break
        held = grown
    within = ((low >= least - _TOUCH) & (high <= most + _TOUCH)).all(axis=1)
    return np.asarray((held | within)[of_face], dtype=np.bool_)


def _pieces(corners: F64) -> tuple[I64, int, I32]:
    """Return the cell of each face's middle, the number of pieces, and the piece of each cell."""
    points = np.concatenate([corners.mean(axis=1), corners.reshape(-1, 3)])
    places = np.floor((points - points.min(axis=0)) / _APART).astype(np.int64)
    # One number per cell, as rows are slow to sort.
    keys, which = np.unique(places @ _CELL, return_inverse=True)
    cells = np.stack([keys // _CELL[0], keys // _CELL[1] % _SIDE, keys % _SIDE], axis=1)
    many = len(corners)
    middle, ends = which[:many], which[many:].reshape(many, 3)
    pairs = KDTree(cells).query_pairs(1.8, output_type="ndarray")
    rows = np.concatenate([pairs[:, 0], np.repeat(middle, 3)])
    cols = np.concatenate([pairs[:, 1], ends.reshape(-1)])
    joined = coo_array((np.ones(len(rows), dtype=np.int8), (rows, cols)), shape=(len(cells),) * 2)
    count, label = connected_components(joined, directed=False)
    return middle, int(count), label


def convex_hull(at: NDArray[np.floating]) -> shapely.Polygon | None:
    """Return the convex hull of points of a plane; None if they are on one line."""
    if len(at) < 3 or float(np.ptp(at, axis=0).min()) <= 1e-6:
        return None
    try:
        ring = at[ConvexHull(at).vertices]
    except QhullError:
        return None
    return shapely.Polygon(ring)


def _footprint(at: F64, hull: shapely.Polygon | None) -> tuple[float, float, float, float, float]:
    """Return middle x and z, width, depth and yaw of the smallest rectangle around points."""
    low, high = at.min(axis=0), at.max(axis=0)
    wide, deep = (float(max(each, 0.0)) for each in high - low)
    x, z = (float(each) for each in (low + high) / 2)
    if hull is None:
        return x, z, wide, deep, 0.0
    turned = shapely.minimum_rotated_rectangle(hull)
    if not isinstance(turned, shapely.Polygon) or turned.area >= _TURNED * wide * deep:
        return x, z, wide, deep, 0.0
    (a, b), (c, d), (e, f) = turned.exterior.coords[:3]
    first, second = math.hypot(c - a, d - b), math.hypot(e - c, f - d)
    yaw = math.atan2(d - b, c - a)
    quarter = round(yaw / (math.pi / 2))
    if quarter % 2:
        first, second = second, first
    middle = turned.centroid
    return middle.x, middle.y, first, second, yaw - quarter * math.pi / 2
