"""Semantic labels of a home in HM3D-Semantics' format: numbers, colours, categories, regions.

A file ``ID.semantic.txt`` has a header and a line for each object: its number, colour, category and
region (HM3D-Semantics v0.2). The first lines are the scene's items in their order. After them come
floors, ceilings, walls, doors, windows and stairs, by region. Regions have numbers but no types.

Each face of the building belongs to the region from which it is visible.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import shapely
from shapely import Polygon

from navloom.errors import SceneError
from navloom.scenes.distances import scene_cached
from navloom.scenes.scene import Scene
from navloom_worlds.exporting.face_orientation import mesh_to_export
from navloom_worlds.geometry.arrays import F32, F64, I32
from navloom_worlds.geometry.mesh import SceneMesh
from navloom_worlds.geometry.semantic_ids import (
    CEILING,
    FLOOR,
    GROUND,
    SHELL,
    STAIRS,
    WALL,
    door_owner,
    item_owner,
    opening_owner,
)
from navloom_worlds.geometry.solids import area_normals

NOWHERE = -1
_BEFORE = 0.03
"""Metres in front of a face at which its region is determined."""
_NEAR = 0.6
"""Metres: maximum distance of a doorway's floor from the room it is assigned to."""
_HEIGHTS = {FLOOR: (-0.45, 0.45), CEILING: (1.5, math.inf), WALL: (-0.1, math.inf)}
"""Range of heights of a region's faces above its floor, in metres."""


def face_regions(scene: Scene, mesh: SceneMesh) -> I32:
    """Return the index of each face's region in ``scene.regions``, (m,); -1 for none and for items.

    Floors, including those of doorways, belong to the region that they are in or next to; so do
    ceilings. Walls belong to the region from which they are visible, facades and roofs to none.
    Doors and windows belong to their first region, stairs to the one they begin in.

    Args:
        scene: the scene.
        mesh: its mesh.
    """
    found = np.full(len(mesh.faces), NOWHERE, dtype=np.int32)
    index = {region.id: k for k, region in enumerate(scene.regions)}
    for k, link in enumerate(scene.links):
        found[mesh.owners == door_owner(k)] = index[link.a]
    for k, opening in enumerate(scene.openings):
        found[mesh.owners == opening_owner(k)] = index[opening.region]
    rooms = _RegionLocator(scene)
    if not rooms.of:
        return found
    corners = mesh.vertices[mesh.faces].astype(np.float64)
    middle = corners.mean(axis=1)
    cross = area_normals(corners)
    normal = cross / np.maximum(np.linalg.norm(cross, axis=1, keepdims=True), 1e-12)
    for owner in (FLOOR, CEILING, WALL, STAIRS):
        mine = np.flatnonzero(mesh.owners == owner)
        at = middle[mine] + normal[mine] * _BEFORE
        if owner == STAIRS:
            found[mine] = _flights(scene, index, middle[mine])
        else:
            found[mine] = rooms.at(at, 0.0 if owner == WALL else _NEAR, _HEIGHTS[owner])
    return found


class _RegionLocator:
    """Regions with an outline, and their height ranges, for point queries."""

    def __init__(self, scene: Scene) -> None:
        named = [(k, each) for k, each in enumerate(scene.regions) if each.outline is not None]
        self.of = [k for k, _ in named]
        self.tree = shapely.STRtree([Polygon(each.outline).buffer(0) for _, each in named])
        floors = sorted({floor.height for floor in scene.floors})
        tops = [wall.bottom + wall.height for wall in scene.walls]
        roof = max(tops, default=math.inf) + 0.05
        above = {}
        for region in scene.regions:
            higher = [y for y in floors if y > region.center[1] + 1.0]
            above[region.id] = higher[0] if higher else roof
        # A region from which stairs lead up is as high as the region where they arrive.
        for link in scene.links:
            if link.kind in ("stairs", "elevator", "ramp"):
                above[link.a] = max(above[link.a], above[link.b])
        self.low = np.array([each.center[1] for _, each in named])
        self.high = np.array([above[each.id] for _, each in named])

    def at(self, points: F64, near: float, heights: tuple[float, float]) -> I32:
        """Return the index of the region at each point: the nearest, and of several the highest.

        Args:
            points: (n, 3) metres.
            near: maximum distance of a region.
            heights: range of heights above a region's floor.
        """
        found = np.full(len(points), NOWHERE, dtype=np.int32)
        spots = np.asarray(shapely.points(points[:, ::2]))
        if near:
            i, j = self.tree.query(spots, predicate="dwithin", distance=near)
        else:
            i, j = self.tree.query(spots, predicate="intersects")
        y = points[i, 1]
        fits = (y > self.low[j] + heights[0]) & (y < self.high[j] + 0.02)
        fits &= y < self.low[j] + heights[1]
        i, j = i[fits], j[fits]
        away = shapely.distance(spots[i], self.tree.geometries[j])
        # Sorted by point, then by distance, then by height.
        order = np.lexsort((j, -self.low[j], away, i))
        first = np.unique(i[order], return_index=True)[1]
        chosen = order[first]
        found[i[chosen]] = np.array(self.of, dtype=np.int32)[j[chosen]]
        return found


def _flights(scene: Scene, index: dict[str, int], points: F64) -> I32:
    """Return the region in which the nearest flight begins."""
    if not scene.stairs or not len(points):
        return np.full(len(points), NOWHERE, dtype=np.int32)
    away = [_distance(points, np.array(flight.line)) for flight in scene.stairs]
    nearest = np.argmin(np.stack(away, axis=1), axis=1)
    starts = np.array([index[flight.a] for flight in scene.stairs], dtype=np.int32)
    return np.asarray(starts[nearest])


def _distance(points: F64, line: F64) -> F32:
    """Return the distance in metres from points to a polyline."""
    best = np.full(len(points), np.inf)
    for a, b in pairwise(line):
        way = b - a
        share = np.clip((points - a) @ way / max(float(way @ way), 1e-12), 0, 1)
        best = np.minimum(best, np.linalg.norm(points - a - share[:, None] * way, axis=1))
    return best.astype(np.float32)


HEADER = "HM3D Semantic Annotations"
"""First line of such a file."""
MOST_NUMBERS = 65_535
"""Maximum number of labels: Habitat stores them in 16 bits."""
_SURFACES = {FLOOR: "floor", CEILING: "ceiling", WALL: "wall"}
_REST = {STAIRS: "stairs", GROUND: "ground", SHELL: "unknown"}
_SPREAD = 0x9E3779
"""Odd, so that its product with each number, modulo 2**24, is a distinct colour."""


@dataclass(frozen=True)
class SemanticLine:
    """Line of a ``ID.semantic.txt``.

    Attributes:
        number: 1, 2, ...: the value in semantic images.
        colour: six hex digits, sRGB; no two lines have the same, none is black.
        category: its category, in plain words, without quotation marks.
        region: number of its region; -1 if it has none.
        owner: its id in id frames (:mod:`navloom_worlds.geometry.semantic_ids`). All floors have
            one owner, and so have all ceilings, walls and stairs.
    """

    number: int
    colour: str
    category: str
    region: int
    owner: int

    @property
    def rgb(self) -> tuple[int, int, int]:
        """Colour as three bytes, sRGB."""
        r, g, b = bytes.fromhex(self.colour)
        return r, g, b

    @property
    def text(self) -> str:
        """Text of the line in the file."""
        return f'{self.number},{self.colour},"{self.category}",{self.region}'


def semantic_lines(scene: Scene) -> tuple[SemanticLine, ...]:
    """Return all lines of a scene's semantic files, in order, cached per scene.

    Line k - 1 has number k. The first numbers k are ``scene.items[k - 1]``, even if an item has no
    triangles. The rest have triangles: floors of each region in the scene's order (without a region
    last), then ceilings, walls, doors, windows, stairs and others.

    Args:
        scene: it must have geometry.

    Raises:
        SceneError: it has no geometry, or more objects than the format has numbers for.
    """
    return _numbered(scene)[0]


def face_numbers(scene: Scene) -> I32:
    """Return the number of each face of :func:`navloom_worlds.geometry.mesh.scene_mesh`, (m,).

    Raises:
        SceneError: as :func:`semantic_lines`.
    """
    return _numbered(scene)[1]


def region_numbers(scene: Scene) -> dict[str, int]:
    """Return each region's number: the number in its id if valid, else an unused number."""
    numbers: dict[str, int] = {}
    rest = []
    for region in scene.regions:
        text = region.number
        if text.isascii() and text.isdigit() and len(text) < 7 and str(int(text)) == text:
            numbers[region.id] = int(text)
        else:
            rest.append(region.id)
    first = max(numbers.values(), default=-1) + 1
    return {**numbers, **{each: first + k for k, each in enumerate(rest)}}


def _numbered(scene: Scene) -> tuple[tuple[SemanticLine, ...], I32]:
    return scene_cached(scene, "semantic_numbers", lambda: _made(scene))


def _made(scene: Scene) -> tuple[tuple[SemanticLine, ...], I32]:
    mesh = mesh_to_export(scene)
    numbers = mesh.owners.copy()
    regions = region_numbers(scene)
    lines = [_line(k + 1, each.name, regions.get(each.region or "", NOWHERE), item_owner(k))
             for k, each in enumerate(scene.items)]  # fmt: skip
    of_region = face_regions(scene, mesh)
    there = np.unique(np.stack([mesh.owners, of_region], axis=1), axis=0).tolist()
    places = [regions[each.id] for each in scene.regions]
    for owner, index, category in _structure(scene, {(o, i) for o, i in there if o < 0}):
        number = len(lines) + 1
        built = owner in _SURFACES and index >= 0
        if built and "elevator" in scene.regions[index].label.casefold():
            # Rooms have no types in the format, so the category names the elevator.
            category = f"elevator {category}"
        lines.append(_line(number, category, NOWHERE if index < 0 else places[index], owner))
        numbers[(mesh.owners == owner) & (of_region == index)] = number
    if len(lines) > MOST_NUMBERS:
        raise SceneError(
            f"{scene.uri} has {len(lines):,} things and surfaces: expected at most "
            f"{MOST_NUMBERS:,}, which is what Habitat has numbers for."
        )
    return tuple(lines), numbers


def _structure(scene: Scene, there: set[tuple[int, int]]) -> Iterator[tuple[int, int, str]]:
    """Yield (owner, region index, category) of parts of the building, in the order of the lines."""
    categories = {
        **_SURFACES,
        **{door_owner(k): "door" for k in range(len(scene.links))},
        **{opening_owner(k): each.kind for k, each in enumerate(scene.openings)},
        **_REST,
    }
    rank = {owner: k for k, owner in enumerate(categories)}
    last = len(scene.regions)
    for owner, index in sorted(there, key=lambda each: (rank[each[0]], each[1] % (last + 1))):
        yield owner, index, categories[owner]


def _line(number: int, name: str, region: int, owner: int) -> SemanticLine:
    # Categories are quoted, and the format cannot escape quotation marks.
    category = " ".join(name.replace('"', "'").split()) or "thing"
    colour = number * _SPREAD & 0xFFFFFF
    return SemanticLine(number, f"{colour:06X}", category, region, owner)
