"""Free space of a body: grid places of 5 cm where obstacles are at least half its width away.

Obstacles are those that the mover meets (:mod:`navloom_worlds.motion.obstacles`): lines of the mesh
between the body's step height and its top, and the edges of floors. Distances to them are exact to
a millimetre. A place is at the middle of its cell, or as near to it as the body fits, so a doorway
exactly as wide as the body is passable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from scipy.ndimage import maximum_filter
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree
from shapely.geometry.base import BaseGeometry

from navloom.scenes.bodies import LARGE, Embodiment, max_rise, outer_radius
from navloom.scenes.scene import Point3
from navloom_worlds.geometry.arrays import F64, I32, Bools
from navloom_worlds.geometry.mesh import CellGrid, SceneMesh
from navloom_worlds.geometry.semantic_ids import STAIRS
from navloom_worlds.geometry.walkable_area import find_neighbours, place_adjacency, stack_layers
from navloom_worlds.motion.collision_mesh import LOW
from navloom_worlds.motion.obstacles import EPS, FloorMap, ObstacleIndex

FAR = 1.0
"""Metres up to which clearance is measured."""
_SAMPLE = 0.02
"""Metres between the sample points of a line: a third of a millimetre too far at 0.3 m."""
_SLOPE = 0.01
"""Metres that a ramp may rise per cell, whatever the body's step height."""
_SEED = 0.6
"""Metres within which the place of a seed is searched."""
_ROOF = 12.0
"""Metres: places with a surface this near overhead are indoors."""
_LOT = 50.0
"""Square metres that a terrace may have, however small the home."""
_SAME = 0.0005
"""Metres within which two sample points are one."""
_CHUNK = 1_000_000
"""Places times footprint cells that are processed at once."""
_BROAD = 400
"""Number of places above which a band is a floor and no tread."""
_ALIKE = 0.01
"""Height difference in metres within which places share a band of obstacles."""


@dataclass(frozen=True, eq=False)
class FreeSpace:
    """Free space: grid places where the middle of a body may be.

    Attributes:
        grid: the cells.
        cell: (n,) int32, the cell of each place, in order.
        x: (n,) float64, where in the scene its middle is, in metres.
        z: (n,) float64.
        height: (n,) float64, y of the floor under it.
        beside: (n, 4) int32, the neighbour place in +x, +z, -x, -z; -1 for none.
        clearance: (n,) float64, metres to the nearest obstacle, at most :data:`FAR`.
        part: (n,) int32, connected component of each place, numbered by its first place.
        floor: all floor with head room, even where the body is too wide for it.
    """

    grid: CellGrid
    cell: I32
    x: F64
    z: F64
    height: F64
    beside: I32
    clearance: F64
    part: I32
    floor: HeadroomFloor


@dataclass(frozen=True, eq=False)
class HeadroomFloor:
    """Floor cells with enough head room for a body.

    Attributes:
        cell: (m,) int32, in order.
        height: (m,) float64, y in metres.
        clearance: (m,) float64, metres to the nearest obstacle.
    """

    cell: I32
    height: F64
    clearance: F64


@dataclass(frozen=True, eq=False)
class _Band:
    """Places at one height that are lifted alike by what is under the body's rim."""

    places: I32
    y: float
    high: float
    on_stairs: bool


def inflate_obstacles(
    mesh: SceneMesh,
    obstacles: ObstacleIndex,
    floors: FloorMap,
    body: Embodiment,
    seeds: Sequence[Point3] = (),
    lot: BaseGeometry | None = None,
) -> FreeSpace:
    """Return the free space of the middle of a body.

    Args:
        mesh: the body's collision mesh.
        obstacles: obstacles of the mesh.
        floors: floors of the mesh for the body.
        body: the body.
        seeds: only floors connected to one of these are kept, so neither roofs nor the land
            around a home; without seeds all are kept.
        lot: outdoor area of the home, (x, z), where that is known.
    """
    grid, radius = floors.grid, body.width / 2
    cell, height, tread, roofed = _with_room(mesh, floors, body)
    if seeds:
        climb = max(floors.stair, floors.step)
        if lot is not None:
            roofed = roofed | shapely.contains_xy(lot, *grid.centres(cell).T)
        wanted = _with_seeds(grid, cell, height, roofed, climb, seeds)
        cell, height, tread = cell[wanted], height[wanted], tread[wanted]
    least = radius - EPS / 2
    if radius > LARGE:
        # The lift of so large a body is slow to compute: first see where walls leave room.
        left = _left_by_walls(obstacles, grid.centres(cell), height, body)
        if not len(left):
            return _nowhere(grid)
        some, _ = _clearances(obstacles, floors, (cell, height, tread), body, left)
        if some[left].max() < least:
            return _nowhere(grid)
    everywhere = np.arange(len(cell), dtype=np.int32)
    clearance, (x, z) = _clearances(obstacles, floors, (cell, height, tread), body, everywhere)
    free = clearance >= least
    beside = find_neighbours(grid, cell, height, max(floors.stair, floors.step, _SLOPE))
    rise = np.abs(height[beside] - height[:, None])
    allowed = np.where(tread[:, None] | tread[beside], floors.stair, max(floors.step, _SLOPE))
    held = (beside >= 0) & free[:, None] & free[beside] & (rise <= allowed + EPS)
    floor = HeadroomFloor(cell, height, clearance.copy())
    whole = FreeSpace(grid, cell, x, z, height, np.where(held, beside, -1), clearance, cell, floor)
    return _kept(whole, free)


def _clearances(
    index: ObstacleIndex, floors: FloorMap, floor: tuple[I32, F64, Bools], body: Embodiment, of: I32
) -> tuple[F64, F64]:
    """Return the clearance of places, and their middles (x, z) moved to where the body fits.

    Args:
        index: obstacles of the mesh.
        floors: floors of the mesh for the body.
        floor: cell, height, and whether a tread, of all places.
        body: the body.
        of: the places to measure; others get 0.
    """
    grid, radius = floors.grid, body.width / 2
    cell = floor[0]
    middles = grid.centres(cell)
    at, clearance = middles.T.copy(), np.zeros(len(cell))
    for band in _bands(floors, *floor, body, of):
        here = band.places
        tree = _points(index, floors, band, middles[here], body)
        if tree is None:
            clearance[here] = _far(band, body)
            continue
        clearance[here], shifted = _cleared(
            tree, middles[here], radius, max(FAR, 2 * outer_radius(body)), grid.cell
        )
        at[:, here] = shifted.T
    return clearance, at


def _nowhere(grid: CellGrid) -> FreeSpace:
    none, at = np.zeros(0, dtype=np.int32), np.zeros(0)
    floor = HeadroomFloor(none, at, at)
    return FreeSpace(grid, none, at, at, at, np.zeros((0, 4), np.int32), at, none, floor)


def _kept(found: FreeSpace, free: Bools) -> FreeSpace:
    """Return the free places alone, with their connected components."""
    here = np.flatnonzero(free)
    back = np.full(len(free) + 1, -1, dtype=np.int32)
    back[here] = np.arange(len(here), dtype=np.int32)
    beside = back[found.beside[here]]
    _, part = connected_components(place_adjacency(beside, beside >= 0), directed=False)
    return FreeSpace(
        found.grid,
        found.cell[here],
        found.x[here],
        found.z[here],
        found.height[here],
        beside,
        found.clearance[here],
        part.astype(np.int32),
        found.floor,
    )


def _with_room(mesh: SceneMesh, map_: FloorMap, body: Embodiment) -> tuple[I32, F64, Bools, Bools]:
    """Return floor with head room for the body, cell by cell, top down within each.

    Returns:
        For each its cell, its height, whether it is a tread, and whether a roof is over it.
    """
    grid = map_.grid
    count = len(map_.layers)
    layers = map_.layers.reshape(count, grid.wide * grid.deep).T
    treads = map_.stairs.reshape(count, grid.wide * grid.deep).T
    over = max(body.max_step, LOW) + EPS
    # Of floors stacked as close as a slab is thick, the uppermost is stood on.
    above = np.concatenate([np.full((len(layers), 1), np.inf), layers[:, :-1]], axis=1)
    cell, layer = np.nonzero(above - layers > over)
    height = layers[cell, layer].astype(np.float64)
    at = grid.centres(cell.astype(np.int32))
    # Rays start at the body's underside: lower obstacles are stepped over, or lines in its way.
    start = height + over
    starts = np.stack([at[:, 0], start, at[:, 1]], axis=1).astype(np.float32)
    up = np.array([0, 1, 0], dtype=np.float32)
    hits = mesh.caster.cast(starts, np.broadcast_to(up, starts.shape))
    roomy = start + hits.distance >= height + body.height
    # Inside an item the first hit overhead is the inner side of its top. So it is under a
    # lampshade too, but that does not reach down to the floor.
    met = np.flatnonzero(hits.face >= 0)
    corners = mesh.vertices[mesh.faces[hits.face[met]]].astype(np.float64)
    leaves = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, 1] > 0
    owners = mesh.owners[hits.face[met]]
    inside = leaves & (owners > 0)
    foot = np.full(int(mesh.owners.max(initial=0)) + 1, np.inf)
    things = mesh.owners > 0
    lowest = mesh.vertices[mesh.faces[things], 1].min(axis=1)
    np.minimum.at(foot, mesh.owners[things], lowest)
    inside[inside] = foot[owners[inside]] < start[met[inside]]
    roomy[met[inside]] = False
    tread, roofed = treads[cell[roomy], layer[roomy]], hits.distance[roomy] <= _ROOF
    return cell[roomy].astype(np.int32), height[roomy], tread, roofed


def _with_seeds(
    grid: CellGrid, cell: I32, height: F64, roofed: Bools, climb: float, seeds: Sequence[Point3]
) -> Bools:
    """Check which places connect to those nearest to the seeds, walls ignored."""
    beside = find_neighbours(grid, cell, height, climb)
    at = grid.centres(cell)
    tree = KDTree(np.stack([at[:, 0], height, at[:, 1]], axis=1))
    metres, nearest = query_nearest(tree, np.array(seeds), _SEED)
    nearest = nearest[np.isfinite(metres)]
    if not len(nearest):
        return np.ones(len(cell), dtype=np.bool_)
    # A terrace belongs to the home, the land around it does not.
    open_ = ~roofed
    pairs = place_adjacency(beside, (beside >= 0) & open_[:, None] & open_[beside])
    _, lot = connected_components(pairs, directed=False)
    most = max(float(np.count_nonzero(roofed)), _LOT / grid.cell**2)
    wide = np.bincount(lot)[lot] <= most
    of_home = roofed | (wide & np.isin(lot, lot[nearest]))
    pairs = place_adjacency(beside, (beside >= 0) & of_home[:, None] & of_home[beside])
    _, part = connected_components(pairs, directed=False)
    return np.asarray(of_home & np.isin(part, part[nearest]))


def _left_by_walls(obstacles: ObstacleIndex, at: F64, height: F64, body: Embodiment) -> I32:
    """Return the places that walls up to the body's head leave free, however it is lifted."""
    step = body.height / 2
    storey = np.round(height / step)
    left = np.ones(len(at), dtype=np.bool_)
    for each in np.unique(storey):
        here = storey == each
        faces = obstacles.within(*(at[here].min(axis=0) - FAR), *(at[here].max(axis=0) + FAR))
        low, top = height[here].max() + step - EPS, height[here].min() + body.height
        lines = obstacles.cut(faces, np.full(len(faces), low), top)
        points = _sampled(lines)
        if len(points):
            metres, _ = query_nearest(KDTree(points), at[here], body.width / 2)
            left[here] = np.isinf(metres)
    return np.flatnonzero(left).astype(np.int32)


def _bands(
    floors: FloorMap, cell: I32, height: F64, tread: Bools, body: Embodiment, of: I32
) -> list[_Band]:
    """Group some places into bands of equal height and lift."""
    high, on_stairs = _lifted(floors, cell, height, tread, body.width / 2, of)
    keys = np.stack([np.round(height / _ALIKE), np.round(high / _ALIKE), on_stairs], axis=1)
    _, which = np.unique(keys[of].astype(np.int64), axis=0, return_inverse=True)
    order = np.argsort(which, kind="stable")
    found = []
    for alike in np.split(order, np.flatnonzero(np.diff(which[order])) + 1):
        places = of[alike]
        if len(places):
            y, top = float(np.median(height[places])), float(np.median(high[places]))
            found.append(_Band(places.astype(np.int32), y, top, bool(on_stairs[places[0]])))
    return found


def _lifted(
    floors: FloorMap, cell: I32, height: F64, tread: Bools, radius: float, of: I32
) -> tuple[F64, Bools]:
    """Return the height to which steps lift a disc at some places, and whether treads do.

    It computes :meth:`navloom_worlds.motion.obstacles.FloorMap.lift_height` for a disc.
    """
    grid = floors.grid
    count = int(radius / grid.cell)
    axis = np.arange(-count, count + 1)
    du, dw = (each.ravel() for each in np.meshgrid(axis, axis, indexing="ij"))
    disc = du**2 + dw**2 <= (radius / grid.cell) ** 2
    du, dw = du[disc], dw[disc]
    high, on_stairs = height.copy(), np.zeros(len(cell), dtype=np.bool_)
    uneven = np.intersect1d(_uneven(floors, cell, height, count), of, assume_unique=True)
    layers = stack_layers(cell, grid.wide * grid.deep)
    for here in np.array_split(uneven, len(uneven) * len(du) // _CHUNK + 1):
        rows = np.clip(cell[here][:, None] // grid.deep + du, 0, grid.wide - 1)
        columns = np.clip(cell[here][:, None] % grid.deep + dw, 0, grid.deep - 1)
        there = np.stack([layer[rows * grid.deep + columns] for layer in layers])
        y = height[here][:, None]
        heights = np.where(there >= 0, height[there], np.inf)
        near = (heights > y - floors.stair) & (heights <= y + 3 * radius + floors.stair)
        heights = np.where(near, heights, np.inf).min(axis=0)
        steps = (tread[there] & near).any(axis=0)
        order = np.argsort(heights, axis=1)[
            :, : int(np.isfinite(heights).sum(axis=1).max(initial=0))
        ]
        heights = np.take_along_axis(heights, order, axis=1)
        steps = np.take_along_axis(steps, order, axis=1)
        top, on, going = height[here], np.zeros(len(here), np.bool_), np.ones(len(here), np.bool_)
        for k in range(heights.shape[1]):
            allowed = np.where(steps[:, k] | on, floors.stair, floors.step)
            going &= heights[:, k] <= top + allowed + EPS
            if not going.any():
                break
            top = np.where(going, np.maximum(top, heights[:, k]), top)
            on |= going & steps[:, k]
        high[here], on_stairs[here] = top, on
    return high, on_stairs


def _uneven(floors: FloorMap, cell: I32, height: F64, count: int) -> I32:
    """Return the places with a step within ``count`` cells."""
    grid = floors.grid
    beside = find_neighbours(grid, cell, height, max(floors.stair, floors.step))
    step = np.any((beside >= 0) & (np.abs(height[beside] - height[:, None]) > EPS), axis=1)
    near = np.zeros(grid.wide * grid.deep, dtype=np.bool_)
    near[cell[step]] = True
    near = maximum_filter(near.reshape(grid.wide, grid.deep), 2 * count + 3).ravel()
    return np.flatnonzero(near[cell]).astype(np.int32)


def _far(band: _Band, body: Embodiment) -> float:
    """Return the distance up to which a band's clearance is measured; shorter for single treads."""
    need = outer_radius(body) + 0.1
    return max(FAR, need) if len(band.places) > _BROAD else need


def _points(
    obstacles: ObstacleIndex, floors: FloorMap, band: _Band, at: F64, body: Embodiment
) -> KDTree | None:
    """Return sample points on all obstacles of a band's places, as a tree; None if it is empty."""
    far = _far(band, body)
    (x0, z0), (x1, z1) = at.min(axis=0) - far, at.max(axis=0) + far
    faces = obstacles.within(x0, z0, x1, z1)
    owners = obstacles.owners(faces)
    step = floors.stair if band.on_stairs else floors.step
    low = np.where(owners > 0, band.y + body.max_step, band.high + step)
    stairs = band.high + floors.stair if body.stairs else band.y + 5 * EPS
    low = np.where(owners == STAIRS, stairs, low) + EPS
    lines = obstacles.cut(faces, low, band.y + body.height)
    edges = floors.edges
    near = (edges[:, 4] >= band.y - max_rise(body) - EPS) & (edges[:, 4] <= band.high + EPS)
    ends = np.concatenate([lines, edges[near, :4]])
    if not len(ends):
        return None
    points = _sampled(ends)
    # Furniture has many small triangles that share corners.
    whole = np.round(points / _SAME).astype(np.int64)
    _, once = np.unique(whole[:, 0] * 2**32 + whole[:, 1], return_index=True)
    return KDTree(points[once], compact_nodes=False, balanced_tree=False)


def _sampled(ends: F64) -> F64:
    """Return (n, 2) points along lines."""
    start, way = ends[:, :2], ends[:, 2:] - ends[:, :2]
    many = np.ceil(np.hypot(way[:, 0], way[:, 1]) / _SAMPLE).astype(np.int64) + 1
    line = np.repeat(np.arange(len(ends)), many)
    step = np.arange(len(line)) - np.repeat(np.cumsum(many) - many, many)
    share = step / np.maximum(many - 1, 1)[line]
    out: F64 = start[line] + share[:, None] * way[line]
    return out


def query_nearest(tree: KDTree, at: F64, most: float) -> tuple[F64, I32]:
    """Return distance and index of the nearest tree point; infinite if none is within reach."""
    metres, which = tree.query(at, distance_upper_bound=most)
    return np.atleast_1d(np.asarray(metres)), np.atleast_1d(np.asarray(which, dtype=np.int32))


def _cleared(tree: KDTree, at: F64, most: float, far: float, cell: float) -> tuple[F64, F64]:
    """Return each place's clearance, and its middle moved within its cell so that the body fits."""
    metres, nearest = query_nearest(tree, at, far)
    metres = np.minimum(metres, far)
    close = np.flatnonzero((metres < most) & (metres > most - 0.75 * cell))
    away = at[close] - tree.data[nearest[close]]
    away *= ((most - metres[close] + EPS / 2) / np.maximum(metres[close], EPS))[:, None]
    moved = at[close] + np.clip(away, -0.49 * cell, 0.49 * cell)
    there, _ = query_nearest(tree, moved, far)
    better = there >= most
    out = at.copy()
    out[close[better]], metres[close[better]] = moved[better], there[better]
    return metres, out
