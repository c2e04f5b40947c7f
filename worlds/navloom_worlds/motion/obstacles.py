"""Obstacle lines in a band of heights seen from above, and floor heights and edges under a body.

A triangle that reaches into a band of heights is cut to it. The rest is a polygon, and its sides
seen from above are lines that a body may not cross. That is exact for every triangle, however it is
tilted. Triangles are indexed by square cells of the ground plane.

Floor is every sufficiently level surface of the structure (never of furniture), in cells of 5 cm. A
body stands at the height of the floor under its middle. Where its footprint covers higher treads,
each no more than it climbs above the last, it is lifted to the highest. A patch smaller than a
tenth of a square metre, or nowhere two cells wide (a skirting board's top), lifts no body. Where
the floor drops more than the body climbs and no wall is between, there is an edge.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from navloom.errors import SceneError
from navloom.scenes.bodies import Embodiment, FloorPose, Footprint, Others, footprint_of
from navloom.scenes.distances import wrap_angle
from navloom_worlds.geometry.arrays import F32, F64, I32, I64, Bools
from navloom_worlds.geometry.mesh import CellGrid, SceneMesh, cast_columns, grid_over
from navloom_worlds.geometry.semantic_ids import CEILING, STAIRS, door_owner

_HASH_CELL = 0.5
_SAME = 1e4
"""Inverse of the metres within which two lines are one."""
_SHORT = 1e-5
_UPRIGHT = 1e-12
"""Twice the least area in square metres, seen from above, of a triangle that is not vertical."""
_MIXED = np.array(
    [0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x27D4EB2F165667C5],
    dtype=np.uint64,
)
_MOST = 4_000
"""Most cells along a side; larger scenes have larger cells."""


@dataclass(frozen=True, eq=False)
class ObstacleLines:
    """Obstacle lines seen from above, with their owners.

    Attributes:
        ends: (n, 4) x0, z0, x1, z1 in metres.
        owners: (n,) owner of each.
    """

    ends: F64
    owners: I32

    @cached_property
    def low(self) -> F64:
        """(2, n) least x and z of each line."""
        return np.minimum(self.ends[:, :2], self.ends[:, 2:]).T.copy()

    @cached_property
    def high(self) -> F64:
        """(2, n) greatest x and z of each line."""
        return np.maximum(self.ends[:, :2], self.ends[:, 2:]).T.copy()


class ObstacleIndex:
    """Triangles of a mesh, indexed by the ground cells that they lie over.

    Args:
        mesh: the triangles.
    """

    def __init__(self, mesh: SceneMesh) -> None:
        self._corners = mesh.vertices[mesh.faces].astype(np.float64)
        self._owners = mesh.owners
        self._low = self._corners.min(axis=1)
        self._high = self._corners.max(axis=1)
        if not len(self._corners):
            self._low = self._high = np.zeros((1, 3))
        self._first = self._low.min(axis=0)[[0, 2]]
        extent = self._high.max(axis=0)[[0, 2]] - self._first
        self._cell = max(_HASH_CELL, float(extent.max()) / _MOST)
        self._wide, self._deep = (int(each / self._cell) + 1 for each in extent)
        self._start: I64
        self._held: I32
        self._start, self._held = self._hashed()

    def _hashed(self) -> tuple[I64, I32]:
        low = ((self._low[:, [0, 2]] - self._first) / self._cell).astype(np.int64)
        high = ((self._high[:, [0, 2]] - self._first) / self._cell).astype(np.int64)
        wide = high - low + 1
        many = wide[:, 0] * wide[:, 1]
        faces = np.repeat(np.arange(len(many), dtype=np.int32), many)
        place = np.arange(len(faces)) - np.repeat(np.cumsum(many) - many, many)
        i = low[faces, 0] + place // wide[faces, 1]
        j = low[faces, 1] + place % wide[faces, 1]
        cell = i * self._deep + j
        order = np.argsort(cell, kind="stable")
        start = np.searchsorted(cell[order], np.arange(self._wide * self._deep + 1))
        return start, faces[order]

    def within(self, x0: float, z0: float, x1: float, z1: float) -> I64:
        """Return the triangles that may lie over a rectangle of the ground plane."""
        first, cell = self._first, self._cell
        i0, i1 = (int((x - first[0]) // cell) for x in (x0, x1))
        j0, j1 = (int((z - first[1]) // cell) for z in (z0, z1))
        i0, j0 = max(i0, 0), max(j0, 0)
        i1, j1 = min(i1, self._wide - 1), min(j1, self._deep - 1)
        if i0 > i1 or j0 > j1:
            return np.zeros(0, dtype=np.int64)
        rows = np.arange(i0, i1 + 1) * self._deep
        held = [self._held[self._start[row + j0] : self._start[row + j1 + 1]] for row in rows]
        # Sorted and without duplicates: np.unique would take four times as long.
        each = np.sort(np.concatenate(held)).astype(np.int64)
        faces = each[np.append(True, each[1:] != each[:-1])[: len(each)]]
        low, high = self._low[faces], self._high[faces]
        over = (low[:, 0] <= x1) & (high[:, 0] >= x0) & (low[:, 2] <= z1) & (high[:, 2] >= z0)
        found: I64 = faces[over]
        return found

    def over(self, x: float, y: float, z: float) -> tuple[int, float]:
        """Return the first triangle above a point, and the triangle's y there; -1 for none."""
        faces = self.within(x, z, x, z)
        corners = self._corners[faces]
        at = corners[..., [0, 2]] - np.array([x, z])
        # Twice the areas that the point makes with each side, seen from above.
        ends = at[:, [1, 2, 0]], at[:, [2, 0, 1]]
        shares = ends[0][..., 0] * ends[1][..., 1] - ends[0][..., 1] * ends[1][..., 0]
        area = shares.sum(axis=1)
        held = np.abs(area) > _UPRIGHT
        held &= ((shares >= 0) | (area < 0)[:, None]).all(axis=1)
        held &= ((shares <= 0) | (area > 0)[:, None]).all(axis=1)
        found = np.flatnonzero(held)
        heights = (shares[found] * corners[found, :, 1]).sum(axis=1) / area[found]
        heights[heights < y] = np.inf
        if not len(found) or heights.min() == np.inf:
            return -1, np.inf
        first = int(heights.argmin())
        return int(faces[found[first]]), float(heights[first])

    def owners(self, faces: I64) -> I32:
        """Return the owners of triangles."""
        return self._owners[faces]

    def top(self, faces: I64) -> F64:
        """Return the greatest y of triangles."""
        top: F64 = self._high[faces, 1]
        return top

    def lines(self, faces: I64, low: F64, high: float, owners: I32) -> ObstacleLines:
        """Return the lines of triangles cut to a band of heights, each line once.

        Args:
            faces: the triangles.
            low: (n,) lower y of the band for each.
            high: upper y of the band.
            owners: (n,) owner to give to each.
        """
        ends, of = self._cut(faces, low, high)
        return _distinct(ends, owners[of])

    def cut(self, faces: I64, low: F64, high: float) -> F64:
        """Return the ends (n, 4) of triangles' lines in a band of heights, with duplicates."""
        return self._cut(faces, low, high)[0]

    def _cut(self, which: I64, low: F64, high: float) -> tuple[F64, I64]:
        """Return the ends of lines, and the index of the face of each."""
        of = np.flatnonzero((self._high[which, 1] > low) & (self._low[which, 1] < high))
        which, low = which[of], low[of]
        corners = self._corners[which]
        top = np.full(len(which), high)
        found: list[F64] = []
        whose: list[I64] = []
        crossings: dict[str, list[tuple[F64, Bools]]] = {"low": [], "high": []}
        for a, b in ((0, 1), (1, 2), (2, 0)):
            p, q = corners[:, a], corners[:, b]
            rise = q[:, 1] - p[:, 1]
            by = np.where(np.abs(rise) < 1e-12, 1.0, rise)
            shares = {"low": (low - p[:, 1]) / by, "high": (top - p[:, 1]) / by}
            first = np.where(rise > 0, shares["low"], shares["high"])
            last = np.where(rise > 0, shares["high"], shares["low"])
            level = np.abs(rise) < 1e-12
            inside = (p[:, 1] >= low) & (p[:, 1] <= top)
            first = np.where(level, np.where(inside, 0.0, 2.0), np.maximum(first, 0.0))
            last = np.where(level, 1.0, np.minimum(last, 1.0))
            keep = first <= last
            step = (q - p)[:, [0, 2]]
            start = p[:, [0, 2]] + first[:, None] * step
            end = p[:, [0, 2]] + last[:, None] * step
            found.append(np.concatenate([start, end], axis=1)[keep])
            whose.append(of[keep])
            for name, share in shares.items():
                crossed = ~level & (share >= 0) & (share <= 1)
                crossings[name].append((p[:, [0, 2]] + share[:, None] * step, crossed))
        for three in crossings.values():
            for (p, one), (q, two) in (
                (three[0], three[1]),
                (three[1], three[2]),
                (three[2], three[0]),
            ):
                both = one & two
                found.append(np.concatenate([p, q], axis=1)[both])
                whose.append(of[both])
        return np.concatenate(found), np.concatenate(whose)


def _distinct(ends: F64, owners: I32) -> ObstacleLines:
    """Return each line once, without lines that are mere points."""
    whole = np.round(ends * _SAME).astype(np.int64)
    x0, z0, x1, z1 = whole.T
    turned = (x0 > x1) | ((x0 == x1) & (z0 > z1))
    whole = np.where(turned[:, None], whole[:, [2, 3, 0, 1]], whole)
    # Four numbers hashed to one, since rows compare slowly; collisions in 2**64 are negligible.
    key = (whole.astype(np.uint64) * _MIXED).sum(axis=1, dtype=np.uint64)
    _, kept = np.unique(key ^ (key >> np.uint64(29)), return_index=True)
    kept.sort()
    ends, owners = ends[kept], owners[kept]
    long = np.hypot(ends[:, 2] - ends[:, 0], ends[:, 3] - ends[:, 1]) > _SHORT
    return ObstacleLines(np.ascontiguousarray(ends[long]), owners[long])


_CORNERS = 96
"""Corners of the polygon around a disc, which exceeds it by a two-thousandth of the radius."""


@dataclass(frozen=True, slots=True)
class BodyPose:
    """Planar pose of a moving body: its middle, its heading, and the floor under its middle."""

    x: float
    z: float
    heading: float
    y: float

    @property
    def at(self) -> tuple[float, float, float, float]:
        """Position of the middle, x and z, and direction ahead, x and z."""
        return self.x, self.z, math.sin(self.heading), -math.cos(self.heading)

    @property
    def stand(self) -> FloorPose:
        """Same pose as a `FloorPose`, with the heading wrapped."""
        return FloorPose((self.x, self.y, self.z), wrap_angle(self.heading))


def rotate_pose(pose: BodyPose, pivot: tuple[float, float], angle: float) -> BodyPose:
    """Return a pose rotated about a point (x, z) by an angle, clockwise seen from above."""
    cos, sin = math.cos(angle), math.sin(angle)
    dx, dz = pose.x - pivot[0], pose.z - pivot[1]
    x, z = pivot[0] + dx * cos - dz * sin, pivot[1] + dx * sin + dz * cos
    return BodyPose(x, z, pose.heading + angle, pose.y)


def body_outline(body: Embodiment, stand: FloorPose) -> F64:
    """Return the sides of another body's footprint; a polygon around it for a disc."""
    shape = footprint_of(body)
    x, _, z = stand.position
    if shape.round:
        turns = np.arange(_CORNERS) * (2 * math.pi / _CORNERS)
        far = shape.ahead / math.cos(math.pi / _CORNERS)
        corners = np.stack([x + far * np.cos(turns), z + far * np.sin(turns)], axis=1)
    else:
        ux, uz = math.sin(stand.heading), -math.cos(stand.heading)
        signs = np.array([(1, 1), (1, -1), (-1, -1), (-1, 1)])
        a, b = signs[:, 0] * shape.ahead, signs[:, 1] * shape.aside
        corners = np.stack([x + a * ux - b * uz, z + a * uz + b * ux], axis=1)
    return np.concatenate([corners, np.roll(corners, -1, axis=0)], axis=1)


def covering_body(pose: BodyPose, height: float, others: Others) -> str | None:
    """Return the name of the other body whose outline holds the body's middle; None for none.

    Args:
        pose: pose of the body.
        height: height of the body.
        others: the other bodies.
    """
    for name, (body, stand) in others.items():
        x, y, z = stand.position
        far = math.hypot(pose.x - x, pose.z - z)
        if far > footprint_of(body).outer or not (y - height < pose.y < y + body.height):
            continue
        a, b, c, d = body_outline(body, stand).T
        side = (c - a) * (pose.z - b) - (d - b) * (pose.x - a)
        if bool((side > 0).all() or (side < 0).all()):
            return name
    return None


def check_finite(**values: float) -> None:
    """Reject values that are not finite.

    Raises:
        SceneError: one is NaN or infinite.
    """
    for name, value in values.items():
        if not math.isfinite(value):
            raise SceneError(f"{name}: expected a number, found {value}.")


_FLOOR_CELL = 0.05
EPS = 1e-3
"""Metres of height within which two heights are the same."""
_LEVEL = 0.7
_FLAT = 0.05
_PATCH = 0.1
_ROOM = 0.3
"""Least height in metres over a floor from which it has edges that a body can reach."""
_RISE = 0.5
_SIDES = ((1, 0), (0, 1), (-1, 0), (0, -1))


@dataclass(frozen=True, eq=False)
class FloorMap:
    """Floor heights, treads and floor edges of a scene for one kind of body.

    Attributes:
        grid: the cells.
        layers: (k, wide, deep) heights of broad floors from top down, NaN for none.
        stairs: (k, wide, deep) whether each is a tread.
        edges: (n, 5) edges of floors: x0, z0, x1, z1, y.
        step: highest rise that the body climbs off stairs.
        stair: highest rise on stairs.
    """

    grid: CellGrid
    layers: F32
    stairs: Bools
    edges: F64
    step: float
    stair: float

    @cached_property
    def extent(self) -> tuple[float, float]:
        """Metres that all floors together extend along x and along z."""
        i, j = np.nonzero(~np.isnan(self.layers).all(axis=0))
        cell = self.grid.cell
        return float(np.ptp(i) + 1) * cell, float(np.ptp(j) + 1) * cell

    def floor(self, x: float, z: float, y: float, reach: float) -> float | None:
        """Return the highest floor at a position within ``reach`` of y; None for none.

        The ground under a tread may be as near as the tread, but a body stands on the tread.

        Args:
            x: x of the position.
            z: z of the position.
            y: height around which floor is searched.
            reach: how far above and below.
        """
        cell = self.grid.at(x, z)
        if cell < 0:
            return None
        column = self.layers[:, cell // self.grid.deep, cell % self.grid.deep]
        heights: list[float] = column.tolist()
        near = [each for each in heights if abs(each - y) <= reach + EPS]
        return round(float(max(near)), 4) if near else None

    def window(self, x0: float, z0: float, x1: float, z1: float) -> tuple[slice, slice]:
        """Return the cells over a rectangle."""
        grid = self.grid
        i0, i1 = (round((x - grid.x) / grid.cell) for x in (x0, x1))
        j0, j1 = (round((z - grid.z) / grid.cell) for z in (z0, z1))
        return slice(max(i0, 0), max(i1 + 1, 0)), slice(max(j0, 0), max(j1 + 1, 0))

    def around(
        self, x0: float, z0: float, x1: float, z1: float, y: float
    ) -> tuple[tuple[int, int], list[list[float | None]], F64 | None]:
        """Return the floor over a rectangle for a body that stands at a height.

        Returns:
            The first cell; by cell the highest floor within a step of y; and (4, n) x, z, height
            and whether a tread, of steps that lift a body at y or are stairs to it; None if all is
            level.
        """
        rows, columns = self.window(x0, z0, x1, z1)
        layers = self.layers[:, rows, columns].astype(np.float64).round(4)
        treads = self.stairs[:, rows, columns]
        off = np.abs(layers - y)
        off[np.isnan(off)] = np.inf
        within = off <= self.stair + EPS
        # Layers are from top down: the ground under a tread may be as near as the tread.
        best = np.argmax(within, axis=0)[None]
        near = within.any(axis=0)
        highest = np.take_along_axis(layers, best, axis=0)[0]
        found = highest.astype(object)
        found[~near] = None
        heights: list[list[float | None]] = found.tolist()
        first = rows.start, columns.start
        other = (off > EPS) | treads
        if not (within & other).any():
            return first, heights, None
        above = layers[other & (layers > y)]
        climb = self.stair if treads.any() else self.step
        held = (within & treads) | (other & (layers > y) & (layers <= self._top(above, y, climb)))
        _, i, j = np.nonzero(held)
        x = self.grid.x + self.grid.cell * (i + first[0])
        z = self.grid.z + self.grid.cell * (j + first[1])
        return first, heights, np.stack([x, z, layers[held], treads[held]])

    def lift_height(self, shape: Footprint, steps: F64, pose: BodyPose) -> tuple[float, bool]:
        """Return the height to which steps lift a body, and whether it is on stairs.

        Args:
            shape: the body's footprint.
            steps: (4, n) steps around it, as :meth:`around` returns them.
            pose: its pose, with the floor under its middle.
        """
        x, z, ux, uz = pose.at
        dx, dz = steps[0] - x, steps[1] - z
        if shape.round:
            under = dx * dx + dz * dz <= shape.ahead**2
        else:
            under = (np.abs(dx * ux + dz * uz) <= shape.ahead) & (
                np.abs(dz * ux - dx * uz) <= shape.aside
            )
        if not under.any():
            return pose.y, False
        heights, treads = steps[2, under], steps[3, under]
        on_stairs = bool((treads * (heights <= pose.y + self.stair + EPS)).any())
        climb, highest = self.stair if on_stairs else self.step, float(heights.max())
        if highest <= pose.y + climb + EPS:
            return max(highest, pose.y), on_stairs
        return self._top(heights[heights > pose.y], pose.y, climb), on_stairs

    @staticmethod
    def _top(heights: F64, y: float, climb: float) -> float:
        """Return the height reached from y by rises of at most ``climb`` each."""
        for height in sorted(set(heights.tolist())):
            if height > y + climb + EPS:
                break
            y = height
        return y


@dataclass(frozen=True, eq=False)
class SurfaceColumns:
    """Surfaces of a building, stacked by cell, without ceilings.

    Attributes:
        mesh: the building.
        grid: the cells.
        found: cell, height, slope, headroom and owner of each surface; cell by cell, top down.
    """

    mesh: SceneMesh
    grid: CellGrid
    found: tuple[NDArray[Any], ...]


def surface_columns(mesh: SceneMesh) -> SurfaceColumns:
    """Return the stacked surfaces of a building without items."""
    grid = grid_over(mesh, _FLOOR_CELL, 1.0)
    # A slab's underside would count as a floor below the next, with an edge at the stairs.
    return SurfaceColumns(mesh, grid, _columns(mesh.without(mesh.owners == CEILING), grid))


def _columns(mesh: SceneMesh, grid: CellGrid, cells: I32 | None = None) -> tuple[NDArray[Any], ...]:
    found = cast_columns(mesh, grid, cells)
    whose = mesh.owners[found.face]
    return found.cell.astype(np.int64), found.height, found.slope, found.room, whose


@dataclass(frozen=True, eq=False)
class FloorLevels:
    """Level surfaces of a building, for bodies that climb stairs or for those that do not.

    Attributes:
        mesh: the building.
        places: the level places.
        broad: (n,) whether each belongs to a patch to stand on.
        roomy: (n,) whether each has enough headroom for a body to come there.
    """

    mesh: SceneMesh
    places: _LevelPlaces
    broad: Bools
    roomy: Bools


def find_floor_levels(columns: SurfaceColumns, *, stairs: bool) -> FloorLevels:
    """Return the level surfaces of a building.

    Args:
        columns: stacked surfaces of the building.
        stairs: whether treads are floor.
    """
    mesh, grid = columns.mesh, columns.grid
    cell, height, slope, room, whose = columns.found
    under = np.unique(cell[whose == STAIRS]).astype(np.int32)
    if len(under) and not stairs:
        # Only where there are stairs do the visible surfaces change.
        bare = mesh.without((mesh.owners == CEILING) | (mesh.owners == STAIRS))
        other, again = ~np.isin(cell, under), _columns(bare, grid, under)
        both = [np.concatenate([a[other], b]) for a, b in zip(columns.found, again, strict=True)]
        order = np.argsort(both[0], kind="stable")
        cell, height, slope, room, whose = (each[order] for each in both)
    # A surface with another close above it (a tread's body under its board, a tread under the next
    # nosing, ground under a floor) is not stood on; floor under a sill is, and it is stepped over.
    sill = np.roll(whose, 1) <= door_owner(0)
    level = (slope >= _LEVEL) & (room > np.where(sill, _FLAT, _ROOM) + EPS)
    places = _LevelPlaces(grid, cell[level], height[level], whose[level] == STAIRS)
    return FloorLevels(mesh, places, places.broad(), room[level] >= _ROOM)


def build_floor_map(ground: FloorLevels, *, step: float, stair: float) -> FloorMap:
    """Return the floors of a building and their edges for a body.

    Args:
        ground: the level surfaces.
        step: highest rise that a body climbs off stairs, in metres.
        stair: highest rise on stairs.
    """
    places, broad = ground.places, ground.broad
    edges = places.edges(broad & ground.roomy, step, stair, ground.mesh)
    # Of two floors no farther apart than the body climbs, the upper one is stood on.
    stood, cell, height = np.flatnonzero(broad), places.cell[broad], places.height[broad]
    under = (np.diff(cell) == 0) & (-np.diff(height) <= max(step, stair) + EPS)
    stood = np.delete(stood, np.flatnonzero(under) + 1)
    layers, treads = _layered(
        places.grid, places.cell[stood], places.height[stood], places.tread[stood]
    )
    return FloorMap(places.grid, layers, treads, edges, step, stair)


class _LevelPlaces:
    """Level surface places, by cell and from top down, with lookup by cell and height."""

    def __init__(self, grid: CellGrid, cell: I64, height: F64, tread: Bools) -> None:
        self.grid, self.cell, self.height, self.tread = grid, cell, height, tread
        self._beside: dict[tuple[int, int], tuple[I64, F64]] = {}

    def beside(self, side: tuple[int, int]) -> I64:
        """Return (n,) the neighbour cell of each place on one side; -1 off the grid."""
        i, j = self.cell // self.grid.deep + side[0], self.cell % self.grid.deep + side[1]
        inside = (i >= 0) & (i < self.grid.wide) & (j >= 0) & (j < self.grid.deep)
        return np.where(inside, i * self.grid.deep + j, -1)

    def next_to(self, side: tuple[int, int]) -> tuple[I64, F64]:
        """Return (n,) the neighbour place nearest in height on one side, and the difference."""
        if side not in self._beside:
            everywhere = self.among(np.ones(len(self.cell), dtype=np.bool_))
            self._beside[side] = self.near(self.beside(side), everywhere)
        return self._beside[side]

    def among(self, of: Bools) -> tuple[I64, I64]:
        """Return some places prepared for :meth:`near`: indices, and the first of each cell."""
        those = np.flatnonzero(of)
        many = np.bincount(self.cell[those], minlength=self.grid.wide * self.grid.deep)
        # Cell -1 means no cell and indexes the last, empty entry.
        return those, np.append(np.append(0, np.cumsum(many)), len(those))

    def near(self, cell: I64, among: tuple[I64, I64]) -> tuple[I64, F64]:
        """Return (n,) the place in a cell nearest in height among some, and the difference.

        The place is -1 if there is none.
        """
        those, first = among
        best, off = np.full(len(cell), -1), np.full(len(cell), np.inf)
        at, past = first[cell], first[cell + 1]
        past[cell < 0] = 0
        left = np.flatnonzero(at < past)
        while len(left):
            k = those[at[left]]
            away = np.abs(self.height[k] - self.height[left])
            nearer = away < off[left]
            best[left[nearer]], off[left[nearer]] = k[nearer], away[nearer]
            at[left] += 1
            left = left[at[left] < past[left]]
        return best, off

    def broad(self) -> Bools:
        """Return whether each place belongs to a patch to stand on, two cells wide somewhere.

        A skirting board's top may be large enough, but it is narrower. The floor in a doorway at
        the edge of a sunk room is narrow, too, but it has floor on both sides and counts.
        """
        count = len(self.cell)
        found = (self.next_to(side) for side in _SIDES[:2])
        ahead, aside = (np.where(off <= _FLAT + EPS, best, -1) for best, off in found)
        pairs = [np.stack([np.flatnonzero(o >= 0), o[o >= 0]]) for o in (ahead, aside)]
        rows, columns = np.concatenate(pairs, axis=1)
        joined = coo_array((np.ones(len(rows), dtype=np.int8), (rows, columns)), (count, count))
        _, label = connected_components(joined, directed=False)
        square = (ahead >= 0) & (aside >= 0) & (aside[ahead] >= 0) & (ahead[aside] >= 0)
        large = np.bincount(label) * self.grid.cell**2 >= _PATCH
        wide = large & (np.bincount(label, square) > 0)
        floor = self.among(wide[label])
        floors = [self.near(self.beside(side), floor)[1] <= _RISE + EPS for side in _SIDES]
        between = (floors[0] & floors[2]) | (floors[1] & floors[3])
        broad: Bools = (wide | (large & (np.bincount(label, between) > 0)))[label]
        return broad

    def edges(self, of: Bools, step: float, stair: float, mesh: SceneMesh) -> F64:
        """Return (n, 5) edges where a body would fall, or leave the grid."""
        treads = self.among(self.tread)
        found = []
        half = self.grid.cell / 2
        for side in _SIDES:
            other, off = self.next_to(side)
            joined = off <= step + EPS
            if stair > step:
                joined |= self.near(self.beside(side), treads)[1] <= stair + EPS
                joined |= self.tread & (off <= stair + EPS)
            # Upwards there is a riser, or this is ground inside a wall: no edge.
            joined |= (off <= _RISE + EPS) & (self.height[other] > self.height)
            here = np.flatnonzero(of & ~joined)
            if not len(here):
                continue
            at = self.grid.centres(self.cell[here].astype(np.int32))
            over = self.height[here] + np.where(self.tread[here], stair, step) + 2 * EPS
            starts = np.stack([at[:, 0], over, at[:, 1]], axis=1).astype(np.float32)
            way = np.array([side[0] * self.grid.cell, 0, side[1] * self.grid.cell])
            ways = np.broadcast_to(way.astype(np.float32), starts.shape)
            free = mesh.caster.cast(starts, ways).distance > 1
            at, y = at[free], self.height[here[free]]
            x, z = at[:, 0] + side[0] * half, at[:, 1] + side[1] * half
            u, w = abs(side[1]) * half, abs(side[0]) * half
            found.append(np.stack([x - u, z - w, x + u, z + w, y], axis=1))
        return np.concatenate(found) if found else np.zeros((0, 5))


def _layered(grid: CellGrid, cell: I64, height: F64, tread: Bools) -> tuple[F32, Bools]:
    first = np.searchsorted(cell, np.arange(grid.wide * grid.deep))
    depth = np.arange(len(cell)) - first[cell] if len(cell) else cell
    many = int(depth.max(initial=-1)) + 1
    layers = np.full((many, grid.wide * grid.deep), np.nan, dtype=np.float32)
    treads = np.zeros(layers.shape, dtype=np.bool_)
    layers[depth, cell], treads[depth, cell] = height, tread
    shape = (many, grid.wide, grid.deep)
    return layers.reshape(shape), treads.reshape(shape)
