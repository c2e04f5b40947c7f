"""Which region each face of a home's building belongs to: the one that it is seen from."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Polygon

from navloom.scenes.scene import Scene
from navloom_worlds.geometry.mesh import SceneMesh
from navloom_worlds.geometry.owners import CEILING, FLOOR, STAIRS, WALL, door_owner, opening_owner
from navloom_worlds.geometry.solids import Floats

NOWHERE = -1
_BEFORE = 0.03
"""Metres before a face where it is looked which region it is seen from."""
_NEAR = 0.6
"""Metres: the floor of a doorway is this near to the room it is counted to."""
_HEIGHTS = {FLOOR: (-0.45, 0.45), CEILING: (1.5, math.inf), WALL: (-0.1, math.inf)}
"""From where to where above a region's height its faces are, in metres."""


def face_regions(scene: Scene, mesh: SceneMesh) -> NDArray[np.int32]:
    """(m,) the index of each face's region in ``scene.regions``; -1 for none, and for items.

    Floors, the floor of doorways too, belong to the region that they are in or next to; so do
    ceilings. Walls belong to the region that they are seen from: facades and roofs to none. Doors
    and windows belong to the first region that they are of, stairs to the one they begin in.

    Args:
        scene: whose faces they are.
        mesh: its triangles.
    """
    found = np.full(len(mesh.faces), NOWHERE, dtype=np.int32)
    index = {region.id: k for k, region in enumerate(scene.regions)}
    for k, link in enumerate(scene.links):
        found[mesh.owners == door_owner(k)] = index[link.a]
    for k, opening in enumerate(scene.openings):
        found[mesh.owners == opening_owner(k)] = index[opening.region]
    rooms = _Rooms(scene)
    if not rooms.of:
        return found
    corners = mesh.vertices[mesh.faces].astype(np.float64)
    middle = corners.mean(axis=1)
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal = cross / np.maximum(np.linalg.norm(cross, axis=1, keepdims=True), 1e-12)
    for owner in (FLOOR, CEILING, WALL, STAIRS):
        mine = np.flatnonzero(mesh.owners == owner)
        at = middle[mine] + normal[mine] * _BEFORE
        if owner == STAIRS:
            found[mine] = _flights(scene, index, middle[mine])
        else:
            found[mine] = rooms.at(at, 0.0 if owner == WALL else _NEAR, _HEIGHTS[owner])
    return found


class _Rooms:
    """Regions with an outline, and from where to where each is high."""

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
        # Where stairs come up, the region that they come from is as high as where they arrive.
        for link in scene.links:
            if link.kind in ("stairs", "elevator", "ramp"):
                above[link.a] = max(above[link.a], above[link.b])
        self.low = np.array([each.center[1] for _, each in named])
        self.high = np.array([above[each.id] for _, each in named])

    def at(
        self, points: NDArray[np.float64], near: float, heights: tuple[float, float]
    ) -> NDArray[np.int32]:
        """The index of the region at each point: the nearest, and of several there the highest.

        Args:
            points: (n, 3) metres.
            near: how far off a region may be.
            heights: from where to where above a region's height.
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
        # By point; of its regions the nearest, and of those the highest.
        order = np.lexsort((j, -self.low[j], away, i))
        first = np.unique(i[order], return_index=True)[1]
        chosen = order[first]
        found[i[chosen]] = np.array(self.of, dtype=np.int32)[j[chosen]]
        return found


def _flights(scene: Scene, index: dict[str, int], points: NDArray[np.float64]) -> NDArray[np.int32]:
    """The region that the nearest flight begins in."""
    if not scene.stairs or not len(points):
        return np.full(len(points), NOWHERE, dtype=np.int32)
    away = [_distance(points, np.array(flight.line)) for flight in scene.stairs]
    nearest = np.argmin(np.stack(away, axis=1), axis=1)
    starts = np.array([index[flight.a] for flight in scene.stairs], dtype=np.int32)
    return np.asarray(starts[nearest])


def _distance(points: NDArray[np.float64], line: NDArray[np.float64]) -> Floats:
    """Metres from points to the nearest place of a way."""
    best = np.full(len(points), np.inf)
    for a, b in pairwise(line):
        way = b - a
        share = np.clip((points - a) @ way / max(float(way @ way), 1e-12), 0, 1)
        best = np.minimum(best, np.linalg.norm(points - a - share[:, None] * way, axis=1))
    return best.astype(np.float32)
