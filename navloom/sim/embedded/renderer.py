"""Pictures of a mesh: what each pixel's ray meets, and how that looks.

Colour, depth and ids of one camera share one cast of rays, and each is made when it is first read.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from navloom.scenes.geometry.mesh import SceneMesh
from navloom.scenes.geometry.rays import Hits
from navloom.sim.embedded.atlas import Light, baked
from navloom.sim.embedded.camera import Camera
from navloom.sim.embedded.facets import facets_of
from navloom.sim.embedded.shading import Table, shaded, table_of

Lighting = Literal["baked", "unbaked"]


class Renderer:
    """What cameras see of one mesh.

    Args:
        mesh: what there is to see.
        light: ``baked`` is worked out with rays at the first picture, ``unbaked`` needs no time.

    Raises:
        SimulatorError: embreex is not installed, or the mesh is empty.
    """

    def __init__(self, mesh: SceneMesh, *, light: Lighting = "baked") -> None:
        self.mesh = mesh
        self.caster = mesh.caster
        self.lighting = light
        self._facets = facets_of(mesh)

    @cached_property
    def light(self) -> Light | None:
        """The light on the mesh, None where it is unbaked."""
        return baked(self._facets) if self.lighting == "baked" else None

    @cached_property
    def _table(self) -> Table:
        return table_of(self._facets, self.light)

    def frame(self, camera: Camera) -> Frame:
        """What a camera sees; nothing is rendered before it is read."""
        return Frame(self, camera)

    def frames(self, cameras: Sequence[Camera]) -> list[Frame]:
        """What several cameras see."""
        return [self.frame(camera) for camera in cameras]

    def shade(self, camera: Camera, hits: Hits) -> NDArray[np.uint8]:
        """The colours of what a camera's rays met, (height, width, 3) sRGB."""
        _, ways = camera.rays()
        pixel = 2 * math.tan(camera.fov / 2) / camera.width
        pixels = shaded(self._facets, self._table, self.light, hits, ways, pixel)
        return pixels.reshape(camera.height, camera.width, 3)


@dataclass(frozen=True)
class Frame:
    """What one camera sees, each kind of picture made when it is first read."""

    renderer: Renderer
    camera: Camera

    def read(self, sensor: str) -> NDArray[Any]:
        """One kind of picture.

        Args:
            sensor: ``rgb``, ``depth`` or ``ids``.
        """
        if sensor == "rgb":
            return self.rgb
        return self.depth if sensor == "depth" else self.ids

    @cached_property
    def hits(self) -> Hits:
        """What each pixel's ray met, row by row."""
        return self.renderer.caster.cast(*self.camera.rays())

    @cached_property
    def depth(self) -> NDArray[np.float32]:
        """(height, width) metres along the view's middle; 0 where nothing was hit."""
        metres = np.where(self.hits.face >= 0, self.hits.distance, np.float32(0))
        return metres.reshape(self.camera.height, self.camera.width)

    @cached_property
    def ids(self) -> NDArray[np.int32]:
        """(height, width) whose each pixel is; see :mod:`navloom.scenes.geometry.owners`."""
        owners = self.renderer.mesh.owners
        found = np.where(self.hits.face >= 0, owners[self.hits.face], 0).astype(np.int32)
        return found.reshape(self.camera.height, self.camera.width)

    @cached_property
    def rgb(self) -> NDArray[np.uint8]:
        """(height, width, 3) sRGB."""
        return self.renderer.shade(self.camera, self.hits)
