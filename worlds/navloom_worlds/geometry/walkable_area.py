"""Walkable area of any mesh: places where a person can stand, connected where one can walk.

A place is a cell of 5 cm on a surface that is nearly level and has headroom. Neighbouring places
are connected if their height differs by at most a step and nothing stands between them. Obstacles
between them are found with horizontal rays, since vertical ones miss thin walls. The middle of a
body may be where nothing is nearer than the body's radius. Places that cannot be reached from the
main part on foot (tops of tables and beds, insides of cabinets and walls) do not count as floor.

Layers are stacked: storeys, and the floor under stairs.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree

from navloom.scenes.scene import Point3
from navloom_worlds.geometry.arrays import F32, F64, I32, Bools
from navloom_worlds.geometry.mesh import (
    CellGrid,
    SceneMesh,
    VerticalHits,
    cast_columns,
    grid_over,
    merge_parts,
)
from navloom_worlds.geometry.solids import Surface, box

_CELL, _STEP = 0.05, 0.25
"""Width of a cell and height of the highest step, in metres."""
_LEVEL = 0.7
"""Least vertical part of a floor's unit normal: steeper than 45 degrees is no floor."""
_FLAT = 0.05
"""Height difference in metres within which neighbouring places are of one patch."""
_MENDED = 2
"""Passes in a scan that count steep spots with two level neighbours as level."""
_TREAD = 0.1
"""Square metres below which an isolated patch is an item that nobody steps on."""
_ROOF = 12.0
"""Metres: places with a surface this near overhead may be indoors."""
_LOOKS, _WALLED = 8, 6
"""Slanted rays per place, and how many of them hit something indoors."""
_ASLANT = 1.2
"""Rise of a slanted ray per metre sideways."""
_CHEST = 1.0
_KNEE = 0.05
"""Metres above the highest step at which the lowest horizontal ray runs."""
_RAYS = 6
"""Horizontal rays at different heights."""
_PANE = 0.6
"""Greatest thickness of a window in metres."""
_SIDES = ((1, 0), (0, 1), (-1, 0), (0, -1))


@dataclass(frozen=True, eq=False)
class WalkableField:
    """Grid places where the middle of a body may be, with their connections.

    Attributes:
        grid: the cells.
        cell: (n,) int32, the cell of each place, in order.
        height: (n,) float64, y of the floor there.
        beside: (n, 4) int32, the neighbour place in +x, +z, -x, -z; -1 for none.
        part: (n,) int32, 0 for places of the main part, 1 and up for other parts, the largest
            first; -1 where the body does not fit, on items, and on the land around a home.
        indoors: (n,) bool, whether surfaces are overhead and to most sides.
    """

    grid: CellGrid
    cell: I32
    height: F64
    beside: I32
    part: I32
    indoors: Bools

    @cached_property
    def layers(self) -> F64:
        """Heights of the main part, (layers, wide, deep), the lowest first; NaN for none."""
        found = stack_layers(self.cell[self.main], self.grid.wide * self.grid.deep)
        out = np.full((len(found), self.grid.wide * self.grid.deep), np.nan)
        for layer, places in enumerate(found):
            held = places >= 0
            out[layer, held] = self.height[self.main][places[held]]
        return out.reshape(len(found), self.grid.wide, self.grid.deep)

    @cached_property
    def main(self) -> I32:
        """Places of the main part."""
        return np.flatnonzero(self.part == 0).astype(np.int32)

    @property
    def area(self) -> float:
        """Area of the main part in square metres."""
        return len(self.main) * self.grid.cell**2

    @cached_property
    def other_area(self) -> float:
        """Area in square metres of indoor places not connected to the main part."""
        return float(np.count_nonzero((self.part > 0) & self.indoors)) * self.grid.cell**2

    def place_at(self, x: float, y: float, z: float, reach: float | None = None) -> int:
        """Return the main place in the cell of a point at about its height; -1 for none."""
        cell = self.grid.at(x, z)
        if cell < 0:
            return -1
        first, last = np.searchsorted(self.cell, [cell, cell + 1])
        reach = _STEP if reach is None else reach
        near = [
            (abs(self.height[k] - y), int(k))
            for k in range(first, last)
            if self.part[k] == 0 and abs(self.height[k] - y) <= reach
        ]
        return min(near)[1] if near else -1

    def stands(self, position: Point3) -> bool:
        """Check whether the body can stand at a position (x, y of the floor, z), main part only."""
        return self.place_at(*position) >= 0

    def nearest(self, position: Point3) -> Point3 | None:
        """Return the main place nearest to a position; None if there is none."""
        if not len(self.main):
            return None
        k = int(self._tree.query(position)[1])
        return self.position(int(self.main[k]))

    def position(self, place: int) -> Point3:
        """Return the position of a place in metres."""
        x, z = self.grid.centres(self.cell[place : place + 1])[0]
        return round(float(x), 3), round(float(self.height[place]), 3), round(float(z), 3)

    @cached_property
    def _tree(self) -> KDTree:
        at = self.grid.centres(self.cell[self.main])
        return KDTree(np.stack([at[:, 0], self.height[self.main], at[:, 1]], axis=1))

    def clear(self, a: Point3, b: Point3) -> bool:
        """Check whether a straight line over the main part leads from a to b."""
        place = self.place_at(*a)
        flat = np.array([b[0] - a[0], b[2] - a[2]])
        count = max(1, int(np.ceil(np.linalg.norm(flat) / (self.grid.cell / 3))))
        for k in range(1, count + 1):
            if place < 0:
                return False
            x, z = a[0] + flat[0] * k / count, a[2] + flat[1] * k / count
            place = self._along(place, self.grid.at(x, z))
        return place >= 0 and abs(self.height[place] - b[1]) <= _STEP

    def _along(self, place: int, cell: int) -> int:
        """Return the place in a cell that is this one or its neighbour; -1 if not connected."""
        if cell < 0:
            return -1
        here = int(self.cell[place])
        if cell == here:
            return place
        di, dj = cell // self.grid.deep - here // self.grid.deep, cell % self.grid.deep
        dj -= here % self.grid.deep
        ways = [[(di, 0), (0, dj)], [(0, dj), (di, 0)]] if di and dj else [[(di, dj)]]
        for way in ways:
            at = place
            for side in way:
                at = int(self.beside[at, _SIDES.index(side)]) if at >= 0 else -1
            if at >= 0 and self.part[at] == 0:
                return at
        return -1


def build_walkable_field(
    mesh: SceneMesh, *, body: float = 0.2, head: float = 1.8, rough: bool = False
) -> WalkableField:
    """Find the places of a mesh where a person can stand and walk.

    Args:
        mesh: the triangles; it need not be closed, and the winding of faces is ignored.
        body: the body's radius, in metres.
        head: headroom that it needs, in metres.
        rough: whether the mesh is a scan, where steep spots between level ones count as floor.

    Returns:
        The field. Its main part is the connected part with most indoor places, so that neither the
        roof nor the ground around a home is chosen; without indoor places it is the largest part.

    Raises:
        SceneError: the mesh covers a larger area than a field may.
    """
    grid = grid_over(mesh, _CELL, head)
    found = cast_columns(mesh, grid)
    cells, height, room = _stood_on(found, head, grid if rough else None)
    beside = find_neighbours(grid, cells, height, _STEP)
    reach = _between(mesh, grid, cells, height, beside, head)
    beside = np.where(reach < 1.0, -1, beside).astype(np.int32)
    keep = ~_things(beside, height)
    beside = np.where(keep[:, None] & keep[beside], beside, -1).astype(np.int32)
    free = keep & _roomy(grid, cells, height, beside, reach, body)
    indoors = _indoors(mesh, grid, cells, height, free & (room < _ROOF))
    part = _parts(beside, free, indoors)
    return WalkableField(grid, cells, height, beside, part, indoors)


def walkable_mesh(mesh: SceneMesh, doors: Collection[int], windows: Collection[int]) -> SceneMesh:
    """Return a mesh as it is walked in: without doors, and with closed windows.

    Args:
        mesh: the triangles.
        doors: owners whose triangles are left out.
        windows: owners whose boxes are filled, since a transparent pane may be missing; only boxes
            as thin as windows are.
    """
    panes = []
    for owner in windows:
        corners = mesh.vertices[mesh.faces[mesh.owners == owner]].reshape(-1, 3)
        if not len(corners):
            continue
        low, high = corners.min(axis=0), corners.max(axis=0)
        if min(high[0] - low[0], high[2] - low[2]) <= _PANE:
            panes.append(box(low.tolist(), high.tolist(), Surface()))
    open_ = mesh.without(np.isin(mesh.owners, list(doors)))
    if not panes:
        return open_
    more = merge_parts((0, pane) for pane in panes)
    return SceneMesh(
        np.concatenate([open_.vertices, more.vertices]),
        np.concatenate([open_.faces, more.faces + len(open_.vertices)]).astype(np.int32),
        np.concatenate([open_.owners, more.owners]),
        (*open_.surfaces, *more.surfaces),
        np.concatenate([open_.surface, more.surface + len(open_.surfaces)]).astype(np.int32),
        np.concatenate([open_.uv, more.uv]),
        np.concatenate([open_.smooth, more.smooth]),
    )


def _indoors(mesh: SceneMesh, grid: CellGrid, cells: I32, height: F64, roofed: Bools) -> Bools:
    """Return which roofed places are indoors: few slanted rays reach the sky."""
    here = np.flatnonzero(roofed)
    at = grid.centres(cells[here])
    start = np.stack([at[:, 0], height[here] + _CHEST, at[:, 1]], axis=1).astype(np.float32)
    walled = np.zeros(len(here), dtype=np.int32)
    for turn in np.arange(_LOOKS) * (2 * np.pi / _LOOKS):
        way = np.array([np.cos(turn), _ASLANT, np.sin(turn)], dtype=np.float32)
        walled += mesh.caster.cast(start, np.broadcast_to(way, start.shape)).face >= 0
    indoors = np.zeros(len(cells), dtype=np.bool_)
    indoors[here[walled >= _WALLED]] = True
    return indoors


def _stood_on(hits: VerticalHits, head: float, rough: CellGrid | None) -> tuple[I32, F64, F64]:
    roomy = hits.room >= head
    cell, height, room = hits.cell[roomy], hits.height[roomy], hits.room[roomy]
    level = hits.slope[roomy] >= _LEVEL
    if rough is not None:
        beside = find_neighbours(rough, cell, height, _FLAT)
        for _ in range(_MENDED):
            level = level | (((beside >= 0) & level[beside]).sum(axis=1) >= 2)
    return cell[level], height[level], room[level]


def stack_layers(cells: I32, count: int) -> list[I32]:
    """Return for each layer the place in each cell, -1 for none; the lowest place last."""
    first = np.searchsorted(cells, np.arange(count))
    many = np.diff([*first, len(cells)])
    layers = []
    for layer in range(int(many.max(initial=0))):
        held = many > layer
        # Within a cell the highest place comes first, so the first layer takes the last of them.
        places = np.full(count, -1, dtype=np.int32)
        places[held] = (first + many - 1 - layer)[held]
        layers.append(places)
    return layers


def find_neighbours(grid: CellGrid, cells: I32, height: F64, step: float) -> I32:
    """Return the neighbour places on four sides whose height differs by at most a step."""
    beside = np.full((len(cells), 4), -1, dtype=np.int32)
    layers = [
        each.reshape(grid.wide, grid.deep) for each in stack_layers(cells, grid.wide * grid.deep)
    ]
    for a in layers:
        for b in layers:
            for side, (first, second) in enumerate(((a[:-1], b[1:]), (a[:, :-1], b[:, 1:]))):
                held = (first >= 0) & (second >= 0)
                here, there = first[held], second[held]
                near = np.abs(height[here] - height[there]) <= step
                beside[here[near], side] = there[near]
                beside[there[near], side + 2] = here[near]
    return beside


def _between(
    mesh: SceneMesh, grid: CellGrid, cells: I32, height: F64, beside: I32, head: float
) -> F64:
    """Return how far horizontal rays get from each place towards its neighbours.

    Returns:
        (n, 4) in cells: 1 if nothing is between; less if something is; 0.5 if there is no neighbour
        place.
    """
    reach = np.where(beside < 0, 0.5, 1.0)
    at = grid.centres(cells)
    for side, (di, dj) in enumerate(_SIDES[:2]):
        here = np.flatnonzero(beside[:, side] >= 0)
        there = beside[here, side]
        foot = np.maximum(height[here], height[there])
        way = np.array([di * grid.cell, 0.0, dj * grid.cell], dtype=np.float32)
        rises = np.linspace(_STEP + _KNEE, head - _KNEE, _RAYS)
        near = _nearest_met(mesh, at[here], foot, rises, way)
        blocked = near < 1
        here, there, foot = here[blocked], there[blocked], foot[blocked]
        back = _nearest_met(mesh, at[there], foot, rises, -way)
        reach[here, side] = near[blocked]
        reach[there, side + 2] = np.minimum(back, 1 - near[blocked])
    return reach


def _nearest_met(mesh: SceneMesh, at: F64, foot: F64, rises: F64, way: F32) -> F64:
    """Return the least share of a direction at which rays at several heights hit something."""
    least = np.ones(len(at))
    for rise in rises:
        start = np.stack([at[:, 0], foot + rise, at[:, 1]], axis=1).astype(np.float32)
        hits = mesh.caster.cast(start, np.broadcast_to(way, start.shape))
        least = np.minimum(least, hits.distance)
    return least


def _things(beside: I32, height: F64) -> Bools:
    """Return which places lie on small isolated surfaces, such as items."""
    level = place_adjacency(beside, np.abs(height[beside] - height[:, None]) <= _FLAT)
    count = connected_components(level, directed=False)
    return np.bincount(count[1], minlength=count[0])[count[1]] * _CELL**2 < _TREAD


def place_adjacency(beside: I32, allowed: Bools) -> coo_array:
    """Return the adjacency matrix of places, over those of their four sides that are allowed."""
    rows, sides = np.nonzero((beside >= 0) & allowed)
    ones = np.ones(len(rows), dtype=np.int8)
    return coo_array((ones, (rows, beside[rows, sides])), shape=(len(beside), len(beside)))


def _roomy(grid: CellGrid, cells: I32, height: F64, near: I32, reach: F64, body: float) -> Bools:
    """Check which places have no obstacle within the body's radius."""
    at = grid.centres(cells)
    # Height is scaled so that steps within the radius count, and other storeys do not.
    lift = body / 1.5
    ends = []
    for side, (di, dj) in enumerate(_SIDES):
        edge = near[:, side] < 0
        off = np.minimum(reach[edge, side], 0.999) * grid.cell
        off = np.where(reach[edge, side] >= 1, 0.5 * grid.cell, off)
        x, z = at[edge, 0] + di * off, at[edge, 1] + dj * off
        ends.append(np.stack([x, height[edge] * lift, z], axis=1))
    walls = np.concatenate(ends)
    if not len(walls):
        return np.ones(len(cells), dtype=np.bool_)
    places = np.stack([at[:, 0], height * lift, at[:, 1]], axis=1)
    metres, _ = KDTree(walls).query(places, distance_upper_bound=body)
    return ~np.isfinite(metres)


def _parts(beside: I32, free: Bools, indoors: Bools) -> I32:
    """Return the connected component of each place; 0 is the main part."""
    count, label = _labels(beside, free)
    sizes = np.bincount(label[free & indoors], minlength=count)
    if sizes.any():
        # A terrace belongs to the home, the land around it does not.
        many, lot = _labels(beside, free & ~indoors)
        wide = np.bincount(lot[free & ~indoors], minlength=many)
        free = free & (indoors | (wide[lot] <= sizes.max()))
        count, label = _labels(beside, free)
        sizes = np.bincount(label[free & indoors], minlength=count)
    else:
        sizes = np.bincount(label[free], minlength=count)
    rank = np.empty(count, dtype=np.int32)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(count, dtype=np.int32)
    return np.where(free, rank[label], -1).astype(np.int32)


def _labels(beside: I32, held: Bools) -> tuple[int, I32]:
    pairs = place_adjacency(beside, held[:, None] & held[beside])
    count, label = connected_components(pairs, directed=False)
    return count, label
