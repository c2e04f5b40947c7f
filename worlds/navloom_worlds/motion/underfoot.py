"""How high the floor is under a body, what it steps up on, and where the floor ends.

Floor is what is level enough of the structure (never of furniture), in cells of 5 cm. A body stands
at the height of the floor under its middle; where its footprint lies over higher treads, each no
more than it climbs above the last, it is lifted to the highest. A patch smaller than a tenth of a
square metre, or nowhere two cells wide (a skirting board's upper side), lifts nobody. Where the
floor drops farther than the body climbs and no wall is between, there is an edge.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from navloom.scenes.bodies import Shape
from navloom_worlds.geometry.columns import Grid, grid_over, surfaces_of
from navloom_worlds.geometry.mesh import SceneMesh
from navloom_worlds.geometry.owners import CEILING, STAIRS, door_owner
from navloom_worlds.motion.stands import Pose

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
CELL = 0.05
EPS = 1e-3
"""Metres of height within which two are the same."""
_LEVEL = 0.7
_FLAT = 0.05
_PATCH = 0.1
_ROOM = 0.3
"""Metres over a floor without which it has no edge that anybody comes to."""
_RISE = 0.5
_SIDES = ((1, 0), (0, 1), (-1, 0), (0, -1))


@dataclass(frozen=True, eq=False)
class Underfoot:
    """The floors of a scene as a body treads them.

    Attributes:
        grid: the cells.
        layers: (k, wide, deep) heights of broad floors, NaN for none.
        stairs: (k, wide, deep) whether each is a tread.
        edges: (n, 5) where floors end: x0, z0, x1, z1, y.
        step: the highest rise that the body takes off stairs.
        stair: on stairs.
    """

    grid: Grid
    layers: NDArray[np.float32]
    stairs: Bools
    edges: Floats
    step: float
    stair: float

    @cached_property
    def extent(self) -> tuple[float, float]:
        """Metres that all floors together reach along x and along z."""
        i, j = np.nonzero(~np.isnan(self.layers).all(axis=0))
        cell = self.grid.cell
        return float(np.ptp(i) + 1) * cell, float(np.ptp(j) + 1) * cell

    def floor(self, x: float, z: float, y: float, reach: float) -> float | None:
        """The height of the floor at a place, of those no more than ``reach`` from y the highest.

        The ground under a tread may be as near as the tread, and nobody stands on it.

        Args:
            x: the place; z likewise.
            z: see x.
            y: where floor is looked for.
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
        """The cells over a rectangle."""
        grid = self.grid
        i0, i1 = (round((x - grid.x) / grid.cell) for x in (x0, x1))
        j0, j1 = (round((z - grid.z) / grid.cell) for z in (z0, z1))
        return slice(max(i0, 0), max(i1 + 1, 0)), slice(max(j0, 0), max(j1 + 1, 0))

    def around(
        self, x0: float, z0: float, x1: float, z1: float, y: float
    ) -> tuple[tuple[int, int], list[list[float | None]], Floats | None]:
        """The floor over a rectangle as one finds it who stands at a height.

        Returns:
            The first cell; by cell the highest floor that is no farther from y than a step; and
            (4, n) x, z, height and whether a tread, of what lifts a body at y or is stairs to it;
            None where all is level.
        """
        rows, columns = self.window(x0, z0, x1, z1)
        layers = self.layers[:, rows, columns].astype(np.float64).round(4)
        treads = self.stairs[:, rows, columns]
        off = np.abs(layers - y)
        off[np.isnan(off)] = np.inf
        within = off <= self.stair + EPS
        # Layers are from above down: the ground under a tread may be as near as the tread.
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
        x, z = (
            self.grid.x + self.grid.cell * (i + first[0]),
            self.grid.z + self.grid.cell * (j + first[1]),
        )
        return first, heights, np.stack([x, z, layers[held], treads[held]])

    def lifted(self, shape: Shape, steps: Floats, pose: Pose) -> tuple[float, bool]:
        """How high a body stands among steps, and whether on stairs.

        Args:
            shape: its footprint.
            steps: (4, n) as :meth:`around` has them, around it.
            pose: where it is, and the floor under its middle.
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
    def _top(heights: Floats, y: float, climb: float) -> float:
        """How high one gets from y by rises, none of them more than it climbs."""
        for height in sorted(set(heights.tolist())):
            if height > y + climb + EPS:
                break
            y = height
        return y


@dataclass(frozen=True, eq=False)
class Columns:
    """The surfaces of a building over one another, less ceilings.

    Attributes:
        mesh: the building.
        grid: the cells.
        found: of each surface its cell, height, slope, the room over it, and whose it is; cell by
            cell and from above down.
    """

    mesh: SceneMesh
    grid: Grid
    found: tuple[NDArray[Any], ...]


def columns_of(mesh: SceneMesh) -> Columns:
    """Look down on a building without things, as a body meets it."""
    grid = grid_over(mesh, CELL, 1.0)
    # The underside of a storey's slab would be a floor under the next, with an edge at the stairs.
    return Columns(mesh, grid, _columns(mesh.without(mesh.owners == CEILING), grid))


def _columns(
    mesh: SceneMesh, grid: Grid, cells: NDArray[np.int32] | None = None
) -> tuple[NDArray[Any], ...]:
    found = surfaces_of(mesh, grid, cells)
    whose = mesh.owners[found.face]
    return found.cell.astype(np.int64), found.height, found.slope, found.room, whose


@dataclass(frozen=True, eq=False)
class FloorLevels:
    """What of a building is level, as bodies see it that climb stairs, or that do not.

    Attributes:
        mesh: the building.
        places: the level places.
        broad: (n,) which of them are of a patch that one can stand on.
        roomy: (n,) which have room over them that somebody comes to.
    """

    mesh: SceneMesh
    places: _Places
    broad: Bools
    roomy: Bools


def ground_of(columns: Columns, *, stairs: bool) -> FloorLevels:
    """Find what is level.

    Args:
        columns: of the building.
        stairs: whether treads are floor.
    """
    mesh, grid = columns.mesh, columns.grid
    cell, height, slope, room, whose = columns.found
    under = np.unique(cell[whose == STAIRS]).astype(np.int32)
    if len(under) and not stairs:
        # What is seen is another where there are stairs, and there alone.
        bare = mesh.without((mesh.owners == CEILING) | (mesh.owners == STAIRS))
        other, again = ~np.isin(cell, under), _columns(bare, grid, under)
        both = [np.concatenate([a[other], b]) for a, b in zip(columns.found, again, strict=True)]
        order = np.argsort(both[0], kind="stable")
        cell, height, slope, room, whose = (each[order] for each in both)
    # What has something close over it (a tread's body under its board, a tread under the next one's
    # nosing, the ground under a floor) is not stood on; floor under a sill is, and stepped through.
    sill = np.roll(whose, 1) <= door_owner(0)
    level = (slope >= _LEVEL) & (room > np.where(sill, _FLAT, _ROOM) + EPS)
    places = _Places(grid, cell[level], height[level], whose[level] == STAIRS)
    return FloorLevels(mesh, places, places.broad(), room[level] >= _ROOM)


def underfoot(ground: FloorLevels, *, step: float, stair: float) -> Underfoot:
    """Find the floors of a building and where they end.

    Args:
        ground: what is level.
        step: the highest rise that a body takes off stairs, in metres.
        stair: on stairs.
    """
    places, broad = ground.places, ground.broad
    edges = places.edges(broad & ground.roomy, step, stair, ground.mesh)
    # Of two that are no farther apart than the body climbs, the upper one is stood on.
    stood, cell, height = np.flatnonzero(broad), places.cell[broad], places.height[broad]
    under = (np.diff(cell) == 0) & (-np.diff(height) <= max(step, stair) + EPS)
    stood = np.delete(stood, np.flatnonzero(under) + 1)
    layers, treads = _layered(
        places.grid, places.cell[stood], places.height[stood], places.tread[stood]
    )
    return Underfoot(places.grid, layers, treads, edges, step, stair)


class _Places:
    """Level places, by cell and from above down, found by cell and height."""

    def __init__(self, grid: Grid, cell: Ints, height: Floats, tread: Bools) -> None:
        self.grid, self.cell, self.height, self.tread = grid, cell, height, tread
        self._beside: dict[tuple[int, int], tuple[Ints, Floats]] = {}

    def beside(self, side: tuple[int, int]) -> Ints:
        """(n,) the cell on one side of each place; -1 off the grid."""
        i, j = self.cell // self.grid.deep + side[0], self.cell % self.grid.deep + side[1]
        inside = (i >= 0) & (i < self.grid.wide) & (j >= 0) & (j < self.grid.deep)
        return np.where(inside, i * self.grid.deep + j, -1)

    def next_to(self, side: tuple[int, int]) -> tuple[Ints, Floats]:
        """(n,) the place beside each that is nearest to it in height, and how far that is."""
        if side not in self._beside:
            everywhere = self.among(np.ones(len(self.cell), dtype=np.bool_))
            self._beside[side] = self.near(self.beside(side), everywhere)
        return self._beside[side]

    def among(self, of: Bools) -> tuple[Ints, Ints]:
        """Some places as :meth:`near` looks for them: which they are, the first of each cell."""
        those = np.flatnonzero(of)
        many = np.bincount(self.cell[those], minlength=self.grid.wide * self.grid.deep)
        # The last cell's number, -1, is that of no cell.
        return those, np.append(np.append(0, np.cumsum(many)), len(those))

    def near(self, cell: Ints, among: tuple[Ints, Ints]) -> tuple[Ints, Floats]:
        """(n,) the place of some in a cell that is nearest to each in height, and how far that is.

        It is -1 where there is none.
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
        """Which places are of a patch that one can stand on, two cells wide somewhere.

        A skirting board's upper side may be long enough, and is narrower. So is the floor in a
        doorway at the edge of a sunk room: that one has floor on both of its sides.
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

    def edges(self, of: Bools, step: float, stair: float, mesh: SceneMesh) -> Floats:
        """(n, 5) where one would fall, or come off the grid."""
        treads = self.among(self.tread)
        found = []
        half = self.grid.cell / 2
        for side in _SIDES:
            other, off = self.next_to(side)
            joined = off <= step + EPS
            if stair > step:
                joined |= self.near(self.beside(side), treads)[1] <= stair + EPS
                joined |= self.tread & (off <= stair + EPS)
            # Where it goes up there is a riser, or this is the ground in a wall.
            joined |= (off <= _RISE + EPS) & (self.height[other] > self.height)
            here = np.flatnonzero(of & ~joined)
            if not len(here):
                continue
            at = self.grid.middles(self.cell[here].astype(np.int32))
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


def _layered(
    grid: Grid, cell: Ints, height: Floats, tread: Bools
) -> tuple[NDArray[np.float32], Bools]:
    first = np.searchsorted(cell, np.arange(grid.wide * grid.deep))
    depth = np.arange(len(cell)) - first[cell] if len(cell) else cell
    many = int(depth.max(initial=-1)) + 1
    layers = np.full((many, grid.wide * grid.deep), np.nan, dtype=np.float32)
    treads = np.zeros(layers.shape, dtype=np.bool_)
    layers[depth, cell], treads[depth, cell] = height, tread
    shape = (many, grid.wide, grid.deep)
    return layers.reshape(shape), treads.reshape(shape)
