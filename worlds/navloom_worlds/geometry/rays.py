"""What rays meet first: Embree on a triangle mesh, with what it leaves undone put right.

Embree's single precision distances are kept; a ray that met nothing has an infinite distance and
face -1, whatever Embree wrote there. Fastest in batches of about 65,000 rays; rays of pictures
are fastest in packets of neighbours (:mod:`navloom_worlds.geometry.packets`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from navloom.errors import SimulatorError
from navloom_worlds.geometry.packets import Packets, packets_of

BATCH = 65_536
"""Rays that Embree is given at once."""
NOWHERE = np.float32(np.inf)


@dataclass(frozen=True, slots=True)
class Hits:
    """What rays met, one row a ray.

    Attributes:
        distance: (n,) float32, in lengths of the ray's direction (metres where that is of length
            1); infinite where nothing was met.
        face: (n,) int32, the face met, or -1.
        u: (n,) float32, weight of the face's second corner; 0 where nothing was met.
        v: (n,) float32, weight of its third corner.
    """

    distance: NDArray[np.float32]
    face: NDArray[np.int32]
    u: NDArray[np.float32]
    v: NDArray[np.float32]


class RayCaster:
    """Rays on one mesh.

    Args:
        vertices: (n, 3) metres.
        faces: (m, 3) rows of ``vertices``; at least one.

    Raises:
        SimulatorError: embreex is not installed, or there is no face.
    """

    def __init__(self, vertices: NDArray[np.float32], faces: NDArray[np.int32]) -> None:
        try:
            import embreex  # noqa: F401
        except ImportError as error:
            raise SimulatorError(
                "Pictures need embreex, which is not installed: 'pip install embreex' (it has "
                "wheels for Linux on x86-64, macOS and Windows); elsewhere use --backend graph or "
                "panorama."
            ) from error
        if not len(faces):
            raise SimulatorError("There is no triangle to cast rays at: expected at least one.")
        self._vertices = np.ascontiguousarray(vertices, dtype=np.float32)
        self._faces = np.ascontiguousarray(faces, dtype=np.int32)

    @cached_property
    def _scene(self) -> Any:
        """The mesh as embreex has it."""
        from embreex.mesh_construction import TriangleMesh
        from embreex.rtcore_scene import EmbreeScene

        scene = EmbreeScene()
        TriangleMesh(scene, self._vertices, self._faces)
        return scene

    @cached_property
    def _packets(self) -> Packets | None:
        return packets_of(self._vertices, self._faces)

    def cast_picture(
        self, origins: NDArray[np.float32], directions: NDArray[np.float32], wide: int
    ) -> Hits:
        """What the rays of a picture meet first: :meth:`cast`, but faster where neighbours are.

        Where two faces are at one distance, either may be met.

        Args:
            origins: (n, 3), or (3,) for all of them.
            directions: (n, 3), row by row.
            wide: columns; ``n`` where the rays are a mere list.
        """
        if self._packets is None or not len(directions):
            return self.cast(origins, directions)
        distance, face, u, v = self._packets.cast(origins, directions, wide)
        return _missed(Hits(distance, face, u, v))

    def cast(self, origins: NDArray[np.float32], directions: NDArray[np.float32]) -> Hits:
        """What rays meet first, from whichever side.

        Args:
            origins: (n, 3), or (3,) for all of them.
            directions: (n, 3), of any length but 0.
        """
        count = len(directions)
        starts = np.broadcast_to(np.asarray(origins, dtype=np.float32), (count, 3))
        found = [
            self._some(starts[first : first + BATCH], directions[first : first + BATCH])
            for first in range(0, max(count, 1), BATCH)
        ]
        if len(found) == 1:
            return found[0]
        return Hits(
            np.concatenate([each.distance for each in found]),
            np.concatenate([each.face for each in found]),
            np.concatenate([each.u for each in found]),
            np.concatenate([each.v for each in found]),
        )

    def _some(self, starts: NDArray[np.float32], ways: NDArray[np.float32]) -> Hits:
        found = self._scene.run(
            np.ascontiguousarray(starts), np.ascontiguousarray(ways, dtype=np.float32), output=True
        )
        distance, face, u, v = (found[name] for name in ("tfar", "primID", "u", "v"))
        return _missed(Hits(distance, face, u, v))

    def blocked(
        self,
        origins: NDArray[np.float32],
        directions: NDArray[np.float32],
        most: NDArray[np.float32],
    ) -> NDArray[np.bool_]:
        """Whether each ray meets anything within so many lengths of its direction.

        Args:
            origins: (n, 3), or (3,) for all of them.
            directions: (n, 3).
            most: (n,) lengths.
        """
        return self.cast(origins, directions).distance < most


def _missed(hits: Hits) -> Hits:
    """The same, rays that met nothing as :class:`Hits` has them."""
    missed = hits.face < 0
    if missed.any():
        hits.distance[missed], hits.face[missed] = NOWHERE, -1
        hits.u[missed], hits.v[missed] = 0, 0
    return hits
