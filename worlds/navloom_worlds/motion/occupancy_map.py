"""Occupancy map of a storey for a body: as an image, and as a ROS map.

The files are those of ROS's ``map_server``: a PGM, 254 for free, 0 for occupied and 205 for
unknown, and a YAML with ``image``, ``resolution``, ``origin``, ``negate``, ``occupied_thresh`` and
``free_thresh``. Its x is the scene's x and its y is -z; the origin is the lower left corner.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml
from scipy.ndimage import binary_dilation, binary_fill_holes

from navloom.errors import SceneError
from navloom.scenes.plan_sheet import PlanSheet, draw_plan
from navloom.scenes.plan_svg import TopDownImage
from navloom.scenes.scene import Scene
from navloom_worlds.geometry.arrays import U8
from navloom_worlds.motion.body_field import BodyField

UNKNOWN, OCCUPIED, NARROW, APART, REACHED = range(5)
"""States of a map cell: unknown; item or wall; floor with too little clearance for the body;
standable but not reachable; reachable."""
_WALL = 0.3
"""Metres around free floor that count as occupied instead of unknown."""
_BELOW = 0.3
"""Metres below a storey's height from which floor belongs to it."""
_COLOURS = np.array(
    [(255, 255, 255), (74, 74, 74), (222, 222, 222), (244, 180, 104), (118, 196, 168)],
    dtype=np.uint8,
)
_PGM = np.array([205, 0, 254, 254, 254], dtype=np.uint8)
_Cells = U8


@dataclass(frozen=True, eq=False)
class OccupancyMap:
    """Occupancy map of one storey, seen from above.

    Attributes:
        floor: the storey's id.
        height: y of its floor, in metres.
        cells: (deep, wide) uint8, north (-z) first and west first; one of :data:`UNKNOWN`,
            :data:`OCCUPIED`, :data:`NARROW`, :data:`APART`, :data:`REACHED`.
        resolution: metres per cell.
        origin: x and y = -z of the lower left corner, in metres.
    """

    floor: int
    height: float
    cells: _Cells
    resolution: float
    origin: tuple[float, float]

    @property
    def reached(self) -> float:
        """Square metres that the middle of the body can reach."""
        return float(np.count_nonzero(self.cells == REACHED)) * self.resolution**2

    @property
    def apart(self) -> float:
        """Square metres where the body could stand but that the body cannot reach."""
        return float(np.count_nonzero(self.cells == APART)) * self.resolution**2

    @property
    def open_floor(self) -> float:
        """Square metres of floor with nothing on it, whether or not the body fits there."""
        return float(np.count_nonzero(self.cells >= NARROW)) * self.resolution**2

    @property
    def pixels(self) -> _Cells:
        """Colours of the cells, (deep, wide, 3) uint8."""
        return np.asarray(_COLOURS[self.cells])

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """Least x, least y = -z, greatest x and greatest y, in metres."""
        (x, y), (deep, wide) = self.origin, self.cells.shape
        return x, y, x + wide * self.resolution, y + deep * self.resolution

    def save_ros(self, folder: Path, name: str) -> tuple[Path, Path]:
        """Write the map as a PGM and a YAML for ROS's map_server.

        Args:
            folder: an existing folder.
            name: base name of both files, without extension.

        Returns:
            The PGM and the YAML.
        """
        image, told = folder / f"{name}.pgm", folder / f"{name}.yaml"
        deep, wide = self.cells.shape
        image.write_bytes(f"P5\n{wide} {deep}\n255\n".encode() + _PGM[self.cells].tobytes())
        x, y = self.origin
        told.write_text(
            yaml.safe_dump(
                {
                    "image": image.name,
                    "resolution": self.resolution,
                    "origin": [round(x, 4), round(y, 4), 0.0],
                    "negate": 0,
                    "occupied_thresh": 0.65,
                    "free_thresh": 0.196,
                },
                sort_keys=False,
            ),
            encoding="utf-8",
        )
        return image, told

    def picture(self, scene: Scene, *, title: str | None = None, width: float = 8.0) -> PlanSheet:
        """Return the map drawn on the plan of its storey, with the names of its rooms.

        Args:
            scene: the scene of the storey.
            title: one line above the plan.
            width: inches.
        """
        above = {self.floor: TopDownImage(self.pixels, self.bounds)}
        return draw_plan(
            scene, floors=[self.floor], above=above, title=title, width=width, legend=False
        )


def map_storey(scene: Scene, field: BodyField, floor: int) -> OccupancyMap:
    """Return the occupancy map of a storey.

    Args:
        scene: the scene of the field.
        field: field of a body.
        floor: the storey's id.

    Raises:
        SceneError: there is no such storey.
    """
    heights = {each.id: each.height for each in scene.floors}
    if floor not in heights:
        there = ", ".join(map(str, sorted(heights)))
        raise SceneError(f"{scene.id} has no floor {floor}: expected one of {there}.")
    low = heights[floor] - _BELOW
    high = min((h - _BELOW for h in heights.values() if h > heights[floor]), default=np.inf)
    if heights[floor] == min(heights.values()):
        low = -np.inf
    grid = field.grid
    flat = np.full(grid.wide * grid.deep, UNKNOWN, dtype=np.uint8)
    wide = field.found.floor
    held = (wide.height >= low) & (wide.height < high) & (wide.clearance > grid.cell / 2)
    flat[wide.cell[held]] = NARROW
    held = (field.found.height >= low) & (field.found.height < high)
    for part, what in ((field.part > 0, APART), (field.part == 0, REACHED)):
        flat[field.found.cell[held & part]] = what
    cells = flat.reshape(grid.wide, grid.deep)
    free = cells != UNKNOWN
    around = binary_dilation(free, iterations=round(_WALL / grid.cell))
    cells[~free & binary_fill_holes(around)] = OCCUPIED
    shown = np.argwhere(cells != UNKNOWN)
    (i0, j0), (i1, j1) = (shown.min(axis=0), shown.max(axis=0)) if len(shown) else ((0, 0), (0, 0))
    x, z = grid.x + (i0 - 0.5) * grid.cell, grid.z + (j1 + 0.5) * grid.cell
    # Rows go south: the first z is the northernmost.
    picture = np.ascontiguousarray(cells[i0 : i1 + 1, j0 : j1 + 1].T)
    return OccupancyMap(floor, heights[floor], picture, grid.cell, (float(x), -float(z)))


def map_storeys(scene: Scene, field: BodyField) -> Iterator[OccupancyMap]:
    """Yield the occupancy map of every storey, the lowest first."""
    for floor in sorted(scene.floors, key=lambda each: each.height):
        yield map_storey(scene, field, floor.id)
