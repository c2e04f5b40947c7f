"""Boundary surface of a union of vertical prisms, without seams or double faces.

A building is cut by horizontal planes into bands within which nothing changes. In each band the
solids are one set of polygons. Their edges are the vertical faces. Horizontal faces are where two
bands differ. So overlapping walls have no faces inside each other, and no gap is left between them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import shapely
from shapely import Polygon
from shapely.geometry.base import BaseGeometry

from navloom_worlds.geometry.arrays import F64, I32

GRID = 1e-4
"""Metres to which corners are rounded, so that touching shapes merge."""
_NONE = Polygon()


@dataclass(frozen=True)
class Prism:
    """Solid with vertical sides: (x, z) outline, and the y of its bottom and top."""

    area: BaseGeometry
    low: float
    high: float


@dataclass(frozen=True)
class LevelFace:
    """Horizontal faces: area, height, and whether they face up."""

    area: BaseGeometry
    y: float
    up: bool


@dataclass(frozen=True)
class PrismSurface:
    """Faces of a union of solids.

    Attributes:
        edges: (n, 4) x, z of both ends of vertical faces; the solid lies to the left of the
            direction, on a page where x grows to the right and z upwards.
        heights: (n, 2) y of the bottom and the top of each.
        flats: the horizontal faces, from the lowest.
    """

    edges: F64
    heights: F64
    flats: tuple[LevelFace, ...]


def union_surface(solids: Sequence[Prism], holes: Sequence[Prism] = ()) -> PrismSurface:
    """Return the boundary surface of solids together, with holes cut out."""
    solids, holes = _rounded(solids), _rounded(holes)
    levels = sorted({round(y, 4) for each in (*solids, *holes) for y in (each.low, each.high)})
    upright: dict[tuple[float, ...], list[tuple[float, float]]] = defaultdict(list)
    flats: list[LevelFace] = []
    below: BaseGeometry = _NONE
    for low, high in [*pairwise(levels), (levels[-1], levels[-1])] if levels else []:
        here = _in_band(solids, low, high) if high > low else _NONE
        if high > low:
            here = here.difference(_in_band(holes, low, high))
            here = shapely.simplify(here, GRID / 10)
        for one, other, up in ((below, here, True), (here, below, False)):
            area = one.difference(other)
            if area.area > GRID:
                flats.append(LevelFace(area, low, up))
        for edge in _edges(here):
            upright[edge].append((low, high))
        below = here
    joined = [(edge, span) for edge, spans in upright.items() for span in _joined(spans)]
    return PrismSurface(
        np.array([edge for edge, _ in joined], dtype=np.float64).reshape(-1, 4),
        np.array([span for _, span in joined], dtype=np.float64).reshape(-1, 2),
        tuple(flats),
    )


def _rounded(prisms: Sequence[Prism]) -> list[Prism]:
    """Return prisms with their corners on the grid, those of one height merged.

    Their unions need no further rounding then, and a band has few to merge.
    """
    alike: dict[tuple[float, float], list[BaseGeometry]] = defaultdict(list)
    for each in prisms:
        alike[round(each.low, 4), round(each.high, 4)].append(each.area)
    return [
        Prism(shapely.union_all(shapely.set_precision(areas, GRID)), *span)
        for span, areas in alike.items()
    ]


def _in_band(prisms: Iterable[Prism], low: float, high: float) -> BaseGeometry:
    through = [p.area for p in prisms if p.low <= low + GRID and p.high >= high - GRID]
    return shapely.union_all(through) if through else _NONE


def _edges(area: BaseGeometry) -> list[tuple[float, ...]]:
    """Return the sides of polygons, with the inside to the left."""
    found = []
    for polygon in polygons_in(area):
        turned = shapely.geometry.polygon.orient(polygon)
        for ring in (turned.exterior, *turned.interiors):
            corners = np.round(shapely.get_coordinates(ring), 4)
            found += [tuple(each) for each in np.hstack([corners[:-1], corners[1:]]).tolist()]
    return found


def polygons_in(area: BaseGeometry) -> list[Polygon]:
    """Return the polygons of a shape; lines and points are left out."""
    parts = shapely.get_parts(area)
    return [each for each in parts if each.geom_type == "Polygon" and not each.is_empty] + [
        inner
        for each in parts
        if each.geom_type in ("MultiPolygon", "GeometryCollection")
        for inner in polygons_in(each)
    ]


def _joined(spans: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Merge spans that touch; they are in order."""
    found = [spans[0]]
    for low, high in spans[1:]:
        if low == found[-1][1]:
            found[-1] = found[-1][0], high
        else:
            found.append((low, high))
    return found


def triangulate(area: BaseGeometry) -> tuple[F64, I32]:
    """Triangulate polygons, with or without holes.

    Returns:
        (n, 2) corners and (m, 3) rows of them.
    """
    corners, faces, first = [np.zeros((0, 2))], [np.zeros((0, 3), dtype=np.int32)], 0
    for polygon in polygons_in(area):
        cut = shapely.get_parts(shapely.constrained_delaunay_triangles(polygon))
        at = shapely.get_coordinates(cut).reshape(-1, 4, 2)[:, :3].reshape(-1, 2)
        corners.append(at)
        faces.append(np.arange(first, first + len(at), dtype=np.int32).reshape(-1, 3))
        first += len(at)
    return np.concatenate(corners), np.concatenate(faces)
