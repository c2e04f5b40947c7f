"""What lies over one another in a mesh: every surface that vertical rays meet, cell by cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from navloom.errors import SceneError
from navloom_worlds.geometry.mesh import SceneMesh

_BELOW = 0.0005
"""Metres under a surface where the next ray begins: what lies closer under it is one with it."""
_OFF = 0.137
"""Of a cell, by which rays miss the lines on which people draw."""
_MOST_CELLS = 2_500_000
"""Of a field: 6,250 square metres of 5 cm."""
_COARSE = 0.25
"""Metres between the rays that look for what is roofed."""
_MOST_COARSE = 1_000
"""Such rays along a side."""
_AROUND = 4.0
"""Metres around what is roofed that are looked at too: balconies, terraces, steps."""
_MOST_SURFACES = 400
"""Over one another in one column; more is no building."""


@dataclass(frozen=True, eq=False)
class Grid:
    """Square cells over a mesh, seen from above.

    Attributes:
        x: of the middle of the first cell, in metres.
        z: of the middle of the first cell.
        cell: how wide one is, in metres.
        wide: how many there are along x.
        deep: how many along z.
    """

    x: float
    z: float
    cell: float
    wide: int
    deep: int

    def middles(self, cells: NDArray[np.int32]) -> NDArray[np.float64]:
        """(n, 2) x and z of the middles of numbered cells."""
        i, j = np.divmod(cells, self.deep)
        return np.stack([self.x + i * self.cell, self.z + j * self.cell], axis=1)

    def at(self, x: float, z: float) -> int:
        """The number of the cell at a place; -1 off the grid."""
        i, j = round((x - self.x) / self.cell), round((z - self.z) / self.cell)
        return i * self.deep + j if 0 <= i < self.wide and 0 <= j < self.deep else -1


@dataclass(frozen=True, eq=False)
class Surfaces:
    """Surfaces on the cells' middle columns, cell by cell and from above down in each.

    Attributes:
        cell: (n,) int32, which cell.
        height: (n,) float64, y in metres.
        slope: (n,) float32, how much it is turned upwards or downwards: 1 level, 0 upright.
        room: (n,) float64, metres to the next surface above; infinite under the sky.
        face: (n,) int32, which triangle it is of.
    """

    cell: NDArray[np.int32]
    height: NDArray[np.float64]
    slope: NDArray[np.float32]
    room: NDArray[np.float64]
    face: NDArray[np.int32]


def grid_over(mesh: SceneMesh, cell: float, head: float) -> Grid:
    """Cells over all of a mesh that is roofed and a little around it; over all where nothing is.

    Args:
        mesh: the triangles.
        cell: the width of a cell, in metres.
        head: metres under a roof from which on it counts as one.

    Raises:
        SceneError: that is more ground than a field may have.
    """
    low, high = (np.array([each[0], each[2]], dtype=np.float64) for each in mesh.bounds)
    coarse = max(_COARSE, float(max(high - low)) / _MOST_COARSE)
    grid = _grid(low, high, coarse)
    found = surfaces_of(mesh, grid)
    roofed = np.isfinite(found.room) & (found.room >= head)
    if roofed.any():
        at = grid.middles(found.cell[roofed])
        low = np.maximum(low, at.min(axis=0) - _AROUND)
        high = np.minimum(high, at.max(axis=0) + _AROUND)
    fine = _grid(low, high, cell)
    if fine.wide * fine.deep > _MOST_CELLS:
        raise SceneError(
            f"The mesh covers {high[0] - low[0]:.0f} x {high[1] - low[1]:.0f} m: expected at most "
            f"{_MOST_CELLS * cell * cell:,.0f} square metres. Cut off what lies around the home."
        )
    return fine


def _grid(low: NDArray[np.float64], high: NDArray[np.float64], cell: float) -> Grid:
    wide, deep = (max(1, int(np.ceil(each / cell))) for each in high - low)
    first = (0.5 + _OFF) * cell
    return Grid(float(low[0]) + first, float(low[1]) + first, cell, wide, deep)


def surfaces_of(mesh: SceneMesh, grid: Grid, cells: NDArray[np.int32] | None = None) -> Surfaces:
    """Every surface on the middle column of every cell.

    A ray goes down, and where it meets something it is begun anew just below.

    Args:
        mesh: the triangles.
        grid: the cells.
        cells: look at these alone, by number and in order.

    Raises:
        SceneError: there is no end of surfaces over one another.
    """
    top = float(mesh.bounds[1][1]) + 1.0
    if cells is None:
        cells = np.arange(grid.wide * grid.deep, dtype=np.int32)
    places = grid.middles(np.arange(grid.wide * grid.deep, dtype=np.int32))
    height = np.full(len(cells), top)
    above = np.full(len(cells), np.inf)
    down = np.array([0.0, -1.0, 0.0], dtype=np.float32)
    found: list[
        tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int32], NDArray[np.float64]]
    ] = []
    for _ in range(_MOST_SURFACES):
        starts = np.stack([places[cells, 0], height, places[cells, 1]], axis=1).astype(np.float32)
        hits = mesh.caster.cast(starts, np.broadcast_to(down, starts.shape))
        met = hits.face >= 0
        if not met.any():
            break
        cells, above = cells[met], above[met]
        height = starts[met, 1].astype(np.float64) - hits.distance[met]
        found.append((cells, height, hits.face[met], above - height))
        above, height = height, height - _BELOW
    else:
        raise SceneError(f"The mesh has over {_MOST_SURFACES} surfaces over one another.")
    if not found:
        nothing = np.zeros(0)
        none = nothing.astype(np.int32)
        return Surfaces(none, nothing, nothing.astype(np.float32), nothing, none)
    cell, heights, face, room = (np.concatenate(each) for each in zip(*found, strict=True))
    order = np.argsort(cell, kind="stable")
    slopes = _slopes(mesh, face)
    return Surfaces(cell[order], heights[order], slopes[order], room[order], face[order])


def _slopes(mesh: SceneMesh, face: NDArray[np.int32]) -> NDArray[np.float32]:
    # Few triangles are met by most columns: each is looked at once.
    used = np.flatnonzero(np.bincount(face, minlength=len(mesh.faces)))
    corners = mesh.vertices[mesh.faces[used]].astype(np.float64)
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normal, axis=1)
    up = np.zeros(len(mesh.faces), dtype=np.float32)
    up[used] = np.abs(normal[:, 1]) / np.where(length > 0, length, 1.0)
    slopes: NDArray[np.float32] = up[face]
    return slopes
