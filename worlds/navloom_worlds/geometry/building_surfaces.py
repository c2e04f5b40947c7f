"""Surfaces of a building as parts: each face with the finish of the room that it faces."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from navloom_worlds.geometry.arrays import F32, F64
from navloom_worlds.geometry.building import Building, BuildingRoom, BuildingStorey
from navloom_worlds.geometry.finishes import CEILING, ROOF, STONE, TRIM, Finishes, WallFinish
from navloom_worlds.geometry.prism_union import (
    GRID,
    LevelFace,
    polygons_in,
    triangulate,
    union_surface,
)
from navloom_worlds.geometry.semantic_ids import CEILING as CEILINGS
from navloom_worlds.geometry.semantic_ids import FLOOR, WALL
from navloom_worlds.geometry.solids import Owned, Part, Surface, as_f32, quad_faces

_BEFORE = 0.02
"""Metres in front of a face where the room that it faces is looked up."""
_SLIVER = 0.03
_INSIDE, _OUTSIDE = -1, -2
"""Room indices of faces inside a wall (a doorway, a window), and of outdoor faces."""


@dataclass(frozen=True)
class WallPanel:
    """Vertical wall face with one finish.

    Attributes:
        a: (x, z) of one end; the solid lies to the left of the direction to b.
        b: (x, z) of the other end.
        low: y of its lower edge.
        high: y of its upper edge.
        room: the room that it faces; None outdoors and in doorways.
        inside: whether it faces the inside of the home.
    """

    a: tuple[float, float]
    b: tuple[float, float]
    low: float
    high: float
    room: BuildingRoom | None
    inside: bool


def shell_parts(building: Building, finishes: Finishes) -> tuple[list[Owned], list[WallPanel]]:
    """Return the parts of walls, floors, ceilings and roof, and the panels of the walls."""
    solids, holes = building.solids
    bare = union_surface(solids, holes)
    panels = list(_panels(building, bare.edges, bare.heights))
    return [*_walls(panels, finishes), *_levels(building, bare.flats, finishes)], panels


def _zones(
    building: Building,
) -> Iterator[tuple[float, float, BuildingStorey | None, list[BuildingRoom]]]:
    """Yield height ranges with their storey and rooms: storeys, and the slabs between them."""
    low = -np.inf
    for storey in building.storeys:
        wells = [BuildingRoom(room.region, area, room.level, False) for area, room in storey.wells]
        lowest = min([storey.floor, *(r.level for r in storey.rooms if not r.outdoors)])
        yield low, lowest, None, wells
        yield lowest, storey.ceiling, storey, [*storey.rooms, *wells]
        low = storey.ceiling
    yield low, np.inf, None, []


def _panels(building: Building, edges: F64, heights: F64) -> Iterator[WallPanel]:
    for low, high, storey, rooms in _zones(building):
        here = (heights[:, 0] < high - GRID) & (heights[:, 1] > low + GRID)
        if not here.any():
            continue
        spans = np.clip(heights[here], low, high)
        ways, which = np.unique(edges[here], axis=0, return_inverse=True)
        pieces = _pieces(ways, storey, rooms)
        for span, number in zip(spans.tolist(), which.ravel().tolist(), strict=True):
            a, b = ways[number, :2], ways[number, 2:]
            for first, last, seen in pieces[number]:
                ends = a + (b - a) * first, a + (b - a) * last
                yield WallPanel(
                    (float(ends[0][0]), float(ends[0][1])),
                    (float(ends[1][0]), float(ends[1][1])),
                    span[0],
                    span[1],
                    rooms[seen] if seen >= 0 else None,
                    seen != _OUTSIDE,
                )


def _pieces(
    ways: F64, storey: BuildingStorey | None, rooms: Sequence[BuildingRoom]
) -> list[list[tuple[float, float, int]]]:
    """Return the parts of each edge, 0 to 1, with the index of the room that each faces."""
    a, b = ways[:, :2], ways[:, 2:]
    long = np.maximum(np.linalg.norm(b - a, axis=1, keepdims=True), 1e-9)
    along = (b - a) / long
    out = np.stack([along[:, 1], -along[:, 0]], axis=1) * _BEFORE
    lines = np.asarray(shapely.linestrings(np.stack([a + out, b + out], axis=1)))
    found: list[list[tuple[float, float, int]]] = [[] for _ in ways]
    if rooms:
        areas = np.array([room.area for room in rooms], dtype=object)
        i, j = shapely.STRtree(areas).query(lines, predicate="intersects")
        met = np.asarray(shapely.intersection(lines[i], areas[j]))
        for way, room, part in zip(i.tolist(), j.tolist(), met.tolist(), strict=True):
            for piece in shapely.get_parts(part):
                at = (shapely.get_coordinates(piece) - a[way]) @ along[way] / long[way, 0]
                if len(at) > 1 and (at.max() - at.min()) * long[way, 0] > _SLIVER / 3:
                    found[way].append((float(at.min()), float(at.max()), room))
    if storey is not None:
        shapely.prepare(storey.footprint)
    return [
        list(_filled(sorted(seen), float(long[n, 0]), a[n] + out[n], b[n] + out[n], storey))
        for n, seen in enumerate(found)
    ]


def _filled(
    seen: list[tuple[float, float, int]], long: float, a: F64, b: F64, storey: BuildingStorey | None
) -> Iterator[tuple[float, float, int]]:
    """Yield parts from 0 to 1 without gaps: parts that face no room face a doorway or outdoors."""
    at = 0.0
    last: tuple[float, float, int] | None = None
    least = _SLIVER / long
    for first, end, room in [*seen, (1.0, 1.0, _OUTSIDE)]:
        if first - at > least:
            if last is not None:
                yield last
            middle = a + (b - a) * (at + first) / 2
            within = storey is not None and shapely.intersects_xy(storey.footprint, *middle)
            last = (at, first, _INSIDE if within else _OUTSIDE)
            at = first
        if room == _OUTSIDE:
            break
        if end - at > least:
            if last is not None:
                yield last
            last = (at, end, room)
            at = end
    if last is None:
        middle = (a + b) / 2
        within = storey is not None and shapely.intersects_xy(storey.footprint, *middle)
        last = (0.0, 1.0, seen[0][2] if seen else _INSIDE if within else _OUTSIDE)
    yield last[0], 1.0, last[2]


def _walls(panels: Iterable[WallPanel], finishes: Finishes) -> Iterator[Owned]:
    """Yield all vertical faces, those of one surface as one part."""
    corners: dict[Surface, list[list[float]]] = defaultdict(list)
    looks: dict[str, WallFinish] = {}

    def put(panel: WallPanel, low: float, high: float, surface: Surface) -> None:
        (x0, z0), (x1, z1) = panel.a, panel.b
        corners[surface] += [[x1, low, z1], [x0, low, z0], [x0, high, z0], [x1, high, z1]]

    for panel in panels:
        if panel.room is None:
            put(panel, panel.low, panel.high, TRIM if panel.inside else finishes.facade)
            continue
        if panel.room.outdoors:
            put(panel, panel.low, panel.high, finishes.facade)
            continue
        region = panel.room.region
        look = looks.setdefault(region.id, finishes.wall(region))
        border = panel.room.level + look.tiled if look.tiles else -np.inf
        if look.tiles is not None and panel.low < border:
            put(panel, panel.low, min(border, panel.high), look.tiles)
        if panel.high > border:
            put(panel, max(border, panel.low), panel.high, look.paint)
    for surface, quads in corners.items():
        vertices = as_f32(quads)
        yield WALL, Part(vertices, quad_faces(len(quads) // 4), surface, _along(vertices))


def _along(quads: F32) -> F32:
    """Return texture coordinates of vertical faces: metres along them, and down."""
    each = quads.reshape(-1, 4, 3)
    way = each[:, 0, ::2] - each[:, 1, ::2]
    way /= np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-9)
    u = (each[:, :, ::2] * way[:, None]).sum(axis=2)
    return np.stack([u, -each[:, :, 1]], axis=2).reshape(-1, 2)


def _levels(building: Building, flats: Sequence[LevelFace], finishes: Finishes) -> Iterator[Owned]:
    for flat in flats:
        if flat.up:
            yield from _upper(building, flat, finishes)
        else:
            yield from _lower(building, flat)


def _upper(building: Building, flat: LevelFace, finishes: Finishes) -> Iterator[Owned]:
    """Yield faces that look up: floors, floor in doorways, sills, roofs."""
    rest = flat.area
    for storey in building.storeys:
        for room in storey.rooms:
            if abs(room.level - flat.y) < GRID * 10:
                surface = finishes.floor(room.region)
                yield from _flat(rest.intersection(room.area), flat.y, surface, FLOOR)
                rest = rest.difference(room.area)
        if abs(storey.floor - flat.y) < GRID * 10:
            yield from _flat(rest.intersection(storey.footprint), flat.y, finishes.threshold, FLOOR)
            rest = rest.difference(storey.footprint)
    for way in building.ways:
        if abs(way.low - flat.y) < GRID * 10 and way.kind != "window":
            strip = way.strip()
            yield from _flat(rest.intersection(strip), flat.y, finishes.threshold, FLOOR)
            rest = rest.difference(strip)
    if any(abs(flat.y - roof) < GRID * 10 for roof in building.roofs):
        yield from _flat(rest, flat.y, ROOF, WALL)
        return
    for storey in building.storeys:
        if storey.floor < flat.y < storey.ceiling:
            yield from _flat(rest.intersection(storey.footprint), flat.y, TRIM, WALL)
            rest = rest.difference(storey.footprint)
    yield from _flat(rest, flat.y, STONE, WALL)


def _lower(building: Building, flat: LevelFace) -> Iterator[Owned]:
    """Yield faces that look down: ceilings, lintels, overhangs."""
    rest = flat.area
    for storey in building.storeys:
        if abs(storey.ceiling - flat.y) < GRID * 10:
            under = rest.intersection(storey.footprint)
            yield from _flat(under, flat.y, CEILING, CEILINGS, up=False)
            rest = rest.difference(storey.footprint)
    yield from _flat(rest, flat.y, TRIM, WALL, up=False)


def _flat(
    area: BaseGeometry, y: float, surface: Surface, owner: int, *, up: bool = True
) -> Iterator[Owned]:
    if area.area < GRID:
        return
    corners, faces = triangulate(area)
    x, z = corners.T
    (ax, az), (bx, bz), (cx, cz) = (corners[faces[:, k]].T for k in range(3))
    # Seen from above, z points down the page: counter-clockwise triangles look down.
    wrong = ((bx - ax) * (cz - az) - (bz - az) * (cx - ax) > 0) == up
    faces = np.where(wrong[:, None], faces[:, ::-1], faces)
    vertices = as_f32(np.stack([x, np.full_like(x, y), z], axis=1))
    # Floorboards run along a room's longest side.
    u, w = _longest(area)
    yield owner, Part(vertices, faces, surface, as_f32(np.stack([z * u - x * w, x * u + z * w], 1)))


def _longest(area: BaseGeometry) -> tuple[float, float]:
    """Return the direction of the longest side, (x, z)."""
    best, way = 0.0, (1.0, 0.0)
    for polygon in polygons_in(area):
        corners = shapely.get_coordinates(polygon.exterior)
        sides = np.diff(corners, axis=0)
        long = np.linalg.norm(sides, axis=1)
        side = int(long.argmax())
        if long[side] > best:
            best = float(long[side])
            way = float(sides[side, 0] / best), float(sides[side, 1] / best)
    return way
