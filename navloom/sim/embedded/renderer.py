"""Pictures of a mesh: what each pixel's ray meets, and how that looks.

Colour, depth and ids of one camera share one cast of rays, and each is made when it is first read.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from navloom.scenes.geometry.mesh import SceneMesh
from navloom.scenes.geometry.rays import Hits
from navloom.sim.embedded.camera import Camera

_SKY = (0.72, 0.83, 0.95)


class Renderer:
    """What cameras see of one mesh.

    Args:
        mesh: what there is to see.

    Raises:
        SimulatorError: embreex is not installed, or the mesh is empty.
    """

    def __init__(self, mesh: SceneMesh) -> None:
        self.mesh = mesh
        self.caster = mesh.caster

    def frame(self, camera: Camera) -> Frame:
        """What a camera sees; nothing is rendered before it is read."""
        return Frame(self, camera)

    def shade(self, camera: Camera, hits: Hits) -> NDArray[np.uint8]:
        """The colours of what a camera's rays met, (height, width, 3) sRGB."""
        mesh = self.mesh
        corners = mesh.vertices[mesh.faces]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
        colours = np.array([each.rgb for each in mesh.surfaces], dtype=np.float32)
        hit = hits.face >= 0
        face = hits.face[hit]
        tone = 0.6 + 0.4 * np.abs(normals[face] @ np.array([0.3, 0.9, 0.4], dtype=np.float32))
        picture = np.empty((len(hit), 3), dtype=np.float32)
        picture[:] = _SKY
        picture[hit] = colours[mesh.surface[face]] * tone[:, None]
        pixels = np.clip(picture * 255, 0, 255).astype(np.uint8)
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
