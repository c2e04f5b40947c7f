"""Layout of the light map: charts of texels for large planes, clusters for small faces.

A chart is a rectangle of the atlas for one owner's faces in one plane, with texels of about 10 cm.
Small faces that are close together and face the same direction share one cluster. A spot is a point
for which the light is computed: a texel of a chart, or a cluster.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from navloom_worlds.geometry.arrays import F32, F64, I32, I64, Bools
from navloom_worlds.geometry.planar_uv import plane_tangents
from navloom_worlds.geometry.semantic_ids import CEILING, FLOOR, GROUND
from navloom_worlds.rendering.facets import Facets

TEXEL_M = 0.1
"""Width of a texel in metres, unless the home is huge."""
_GROUND_M = 0.5
"""Width of the ground's texels in metres."""
MOST_SPOTS = 120_000
_CHART_M = 0.3
"""Minimum length of a plane that has a chart."""
_CLUSTER_M = 0.15


@dataclass(frozen=True, eq=False)
class ChartLayout:
    """Atlas of charts and clusters.

    Attributes:
        wide: texels across.
        high: texels down, charts only.
        place: (m, 6) float32, the atlas position of a point of a charted face, in texels:
            across = p0 + u * p1 + v * p2, down = p3 + u * p4 + v * p5; zeros for small faces.
        cluster: (m,) int32, the cluster of a small face, or -1.
        chart: (high, wide) int32, the chart of a texel, or -1; each includes a ring around it.
        spot: (high, wide) int32, the spot of a texel, or -1 where no face lies.
        where: (spots, 3) float32, positions of the texels first, then of the clusters.
        normal: (spots, 3) float32.
        face: (spots,) int32, the face that a spot lies on.
        group: (spots,) int32, its chart, or one of its own for a cluster.
        texels: number of spots that are texels.
    """

    wide: int
    high: int
    place: F32
    cluster: I32
    chart: I32
    spot: I32
    where: F32
    normal: F32
    face: I32
    group: I32
    texels: int


def lay_out_charts(facets: Facets) -> ChartLayout:
    """Lay out the charts and clusters of a mesh, deterministically."""
    planes = _planes(facets)
    charted, place, chart, wide, high = _packed(facets, *planes)
    spot, where, face = _texel_spots(facets, charted, place, wide, high)
    cluster, middle, chosen = _clusters(facets, ~charted)
    faces = np.concatenate([face, chosen])
    grouped = np.concatenate([chart[spot >= 0], np.arange(len(chosen)) + chart.max(initial=-1) + 1])
    return ChartLayout(
        wide,
        high,
        place,
        cluster,
        chart,
        spot,
        np.concatenate([where, middle]).astype(np.float32),
        facets.normal[faces],
        faces.astype(np.int32),
        grouped.astype(np.int32),
        len(face),
    )


def _numbered(keys: I64) -> tuple[I32, I32]:
    """Return the number of each row of integers (equal rows share one), and each first row."""
    mixed = np.zeros(len(keys), dtype=np.uint64)
    for column in keys.T:
        mixed = (mixed ^ column.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    _, first, number = np.unique(mixed, return_index=True, return_inverse=True)
    return number.astype(np.int32), first.astype(np.int32)


def _planes(facets: Facets) -> tuple[I32, I32, F32]:
    """Return the plane of each face, the first face of each plane, and corners in plane axes."""
    mesh = facets.mesh
    corners = mesh.vertices[mesh.faces].astype(np.float64)
    normal = facets.normal.astype(np.float64)
    # A round part of a few sides gives small faces; a flat one in many pieces is one plane.
    away = np.einsum("ni,ni->n", normal, corners[:, 0])
    keys = np.column_stack(
        [
            np.rint(normal * 200).astype(np.int64),
            np.rint(away * 500).astype(np.int64),
            mesh.owners.astype(np.int64),
        ]
    )
    plane, first = _numbered(keys)
    pieces = _pieces(facets, plane)
    if pieces.any():
        plane, first = _numbered(np.column_stack([plane, pieces]).astype(np.int64))
    across, down = plane_tangents(facets.normal[first])
    flat = np.stack(
        [
            np.einsum("nki,ni->nk", corners, across[plane].astype(np.float64)),
            np.einsum("nki,ni->nk", corners, down[plane].astype(np.float64)),
        ],
        axis=2,
    )
    return plane, first, flat.astype(np.float32)


def _pieces(facets: Facets, plane: I32) -> I32:
    """Return the connected piece of each floor or ceiling face in its plane, from 1; else 0.

    Adjacent rooms have separate pieces, so that no light passes from one to the other through the
    wall between them.
    """
    mesh = facets.mesh
    found = np.zeros(len(plane), dtype=np.int32)
    chosen = np.flatnonzero(np.isin(mesh.owners, (FLOOR, CEILING)))
    if not len(chosen):
        return found
    places = np.rint(mesh.vertices[mesh.faces[chosen]] * 1000).astype(np.int64).reshape(-1, 3)
    corner, _ = _numbered(np.column_stack([np.repeat(plane[chosen], 3), places]))
    corner = corner.reshape(-1, 3)
    ends = corner[:, :2].T.ravel(), corner[:, 1:].T.ravel()
    count = int(corner.max()) + 1
    links = csr_matrix((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(count, count))
    _, piece = connected_components(links, directed=False)
    found[chosen] = piece[corner[:, 0]] + 1
    return found


def _packed(facets: Facets, plane: I32, first: I32, flat: F32) -> tuple[Bools, F32, I32, int, int]:
    """Pack charts on shelves; return charted faces, positions, each texel's chart, and the size."""
    low = np.full((len(first), 2), np.inf, dtype=np.float32)
    great = -low
    np.minimum.at(low, plane, flat.min(axis=1))
    np.maximum.at(great, plane, flat.max(axis=1))
    extent = np.maximum(great - low, 1e-4)
    round_only = np.ones(len(first), dtype=np.bool_)
    np.logical_and.at(round_only, plane, facets.mesh.smooth)
    # Narrow strips of round parts are lit at their corners, so that no strip stands out.
    large = extent.max(axis=1) >= np.where(round_only, 2 * _CHART_M, _CHART_M)
    least = np.where(facets.mesh.owners[first] == GROUND, _GROUND_M, TEXEL_M)[:, None]
    total = float((extent / least)[large].astype(np.float64).prod(axis=1).sum())
    texel = least * max(1.0, float(np.sqrt(total / MOST_SPOTS)))
    size = np.maximum(1, np.ceil(extent / texel - 0.2)).astype(np.int64)
    charts = np.flatnonzero(large)
    wide = int(max(256, 2 + size[charts, 0].max(initial=1)))
    # Each chart has a ring of one texel around it, into which the light at its edge is extended.
    left, top, high = _shelves(size[charts] + 2, wide)
    number = np.full(len(first), -1, dtype=np.int32)
    number[charts] = np.arange(len(charts))
    charted = large[plane]
    of_face = number[plane[charted]]
    scale = (size / extent)[plane[charted]]
    offset = np.stack([left, top], axis=1)[of_face] + 1
    inside = (flat[charted] - low[plane[charted]][:, None]) * scale[:, None] + offset[:, None]
    place = np.zeros((len(plane), 6), dtype=np.float32)
    place[charted, 0::3] = inside[:, 0]
    place[charted, 1::3] = inside[:, 1] - inside[:, 0]
    place[charted, 2::3] = inside[:, 2] - inside[:, 0]
    chart = np.full((high, wide), -1, dtype=np.int32)
    for index, (x, y, (w, h)) in enumerate(zip(left, top, size[charts], strict=True)):
        chart[y : y + h + 2, x : x + w + 2] = index
    return charted, place, chart, wide, high


def _shelves(size: I64, wide: int) -> tuple[I32, I32, int]:
    """Place rectangles on shelves of an atlas of this width; return corners and total height."""
    left = np.zeros(len(size), dtype=np.int32)
    top = np.zeros(len(size), dtype=np.int32)
    x, y, shelf = 0, 0, 0
    for index in np.lexsort((np.arange(len(size)), -size[:, 0], -size[:, 1])):
        w, h = int(size[index, 0]), int(size[index, 1])
        if x + w > wide:
            x, y, shelf = 0, y + shelf, 0
        left[index], top[index] = x, y
        x, shelf = x + w, max(shelf, h)
    return left, top, max(1, y + shelf)


def _texel_spots(
    facets: Facets, charted: Bools, place: F32, wide: int, high: int
) -> tuple[I32, F32, I32]:
    """Return the spots of texels: their numbers in the atlas, positions and faces."""
    faces = np.flatnonzero(charted)
    start = place[faces][:, 0::3].astype(np.float64)
    sides = np.stack([place[faces][:, 1::3], place[faces][:, 2::3]], axis=1).astype(np.float64)
    points = np.stack([start, start + sides[:, 0], start + sides[:, 1]], axis=1)
    low = np.floor(points.min(axis=1) + 1e-3).astype(np.int64)
    size = np.maximum(np.ceil(points.max(axis=1) - 1e-3).astype(np.int64) - low, 1)
    count = size.prod(axis=1)
    of = np.repeat(np.arange(len(faces)), count)
    step = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    x = low[of, 0] + step % size[of, 0]
    y = low[of, 1] + step // size[of, 0]
    weight, away = _nearest(points[of], np.stack([x, y], axis=1) + 0.5)
    near = away < 0.75
    of, x, y, weight, away = of[near], x[near], y[near], weight[near], away[near]
    texel = y * wide + x
    order = np.lexsort((of, away, texel))
    texel, chosen = np.unique(texel[order], return_index=True)
    best = order[chosen]
    mesh = facets.mesh
    face = faces[of[best]]
    # Slightly towards the centre, away from edges that touch other items.
    weight = weight[best] * 0.98 + 0.02 / 3
    where = np.einsum("nk,nki->ni", weight, mesh.vertices[mesh.faces[face]].astype(np.float64))
    spot = np.full(wide * high, -1, dtype=np.int32)
    spot[texel] = np.arange(len(texel))
    return spot.reshape(high, wide), where.astype(np.float32), face.astype(np.int32)


def _nearest(triangle: F64, point: F64) -> tuple[F64, F64]:
    """Return the weights of the nearest point of each triangle, and its distance, in a plane."""
    a, b, c = triangle[:, 0], triangle[:, 1], triangle[:, 2]
    p, q, r = b - a, c - a, point - a
    area = p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]
    safe = np.where(np.abs(area) > 1e-12, area, 1e-12)
    u = (r[:, 0] * q[:, 1] - r[:, 1] * q[:, 0]) / safe
    v = (p[:, 0] * r[:, 1] - p[:, 1] * r[:, 0]) / safe
    weight = np.stack([1 - u - v, u, v], axis=1)
    away = np.full(len(point), np.inf)
    inside = (weight >= 0).all(axis=1) & (np.abs(area) > 1e-12)
    away[inside] = 0
    outside = np.flatnonzero(~inside)
    for first, second in ((0, 1), (1, 2), (2, 0)):
        start = triangle[outside, first]
        along = triangle[outside, second] - start
        length = np.maximum((along**2).sum(axis=1), 1e-18)
        part = ((point[outside] - start) * along).sum(axis=1) / length
        part = np.clip(part, 0, 1)
        gap = np.linalg.norm(start + along * part[:, None] - point[outside], axis=1)
        better = gap < away[outside]
        rows = outside[better]
        away[rows] = gap[better]
        weight[rows] = 0
        weight[rows, first] = 1 - part[better]
        weight[rows, second] = part[better]
    return weight, away


def _clusters(facets: Facets, small: Bools) -> tuple[I32, F32, I32]:
    """Return the cluster of each small face, and each cluster's position and main face."""
    mesh = facets.mesh
    cluster = np.full(len(small), -1, dtype=np.int32)
    faces = np.flatnonzero(small)
    if not len(faces):
        return cluster, np.zeros((0, 3), dtype=np.float32), np.zeros(0, dtype=np.int32)
    middle = mesh.vertices[mesh.faces[faces]].mean(axis=1)
    keys = np.column_stack(
        [
            np.floor(middle / _CLUSTER_M).astype(np.int64),
            np.rint(facets.normal[faces] * 1.4).astype(np.int64),
        ]
    )
    # The largest face of a cluster represents it.
    order = np.lexsort((faces, -facets.area[faces]))
    number, first = _numbered(keys[order])
    cluster[faces[order]] = number
    chosen = faces[order[first]]
    return cluster, mesh.vertices[mesh.faces[chosen]].mean(axis=1), chosen.astype(np.int32)
