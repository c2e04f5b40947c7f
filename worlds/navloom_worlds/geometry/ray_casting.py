"""Ray casting on a triangle mesh with Embree, with a fallback and uniform results for misses.

Embree's single-precision distances are kept. A ray that hits nothing has an infinite distance and
face -1, whatever Embree wrote there. Batches of about 65,000 rays are fastest. Rays of images are
fastest in packets of neighbours (:mod:`navloom_worlds.geometry.ray_packets`).

Where embreex has no wheel, rays are cast by shapely's box tree and numpy. The few rays that find
floors and edges for bodies take seconds then; an image would take hours.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from navloom.errors import SimulatorError
from navloom_worlds.geometry.arrays import F32, F64, I32, Bools
from navloom_worlds.geometry.ray_packets import PacketCaster, make_packets

BATCH = 65_536
"""Rays passed to Embree at once."""
NOWHERE = np.float32(np.inf)


@dataclass(frozen=True, slots=True)
class RayHits:
    """First hits of rays, one row per ray.

    Attributes:
        distance: (n,) float32, in lengths of the ray's direction (metres for length 1); infinite
            for a miss.
        face: (n,) int32, index of the face hit, or -1.
        u: (n,) float32, weight of the face's second corner; 0 for a miss.
        v: (n,) float32, weight of its third corner.
    """

    distance: F32
    face: I32
    u: F32
    v: F32


class RayCaster:
    """Ray caster on one mesh.

    Args:
        vertices: (n, 3) metres.
        faces: (m, 3) rows of ``vertices``; at least one.

    Raises:
        SimulatorError: the mesh has no face.
    """

    def __init__(self, vertices: F32, faces: I32) -> None:
        if not len(faces):
            raise SimulatorError("There is no triangle to cast rays at: expected at least one.")
        self._vertices = np.ascontiguousarray(vertices, dtype=np.float32)
        self._faces = np.ascontiguousarray(faces, dtype=np.int32)

    @cached_property
    def _scene(self) -> Any:
        """Mesh as an embreex scene, or the fallback."""
        try:
            from embreex.mesh_construction import TriangleMesh
            from embreex.rtcore_scene import EmbreeScene
        except ImportError:
            return _Boxes(self._vertices[self._faces].astype(np.float64))
        scene = EmbreeScene()
        TriangleMesh(scene, self._vertices, self._faces)
        return scene

    @cached_property
    def _packets(self) -> PacketCaster | None:
        return make_packets(self._vertices, self._faces)

    def cast_picture(self, origins: F32, directions: F32, wide: int) -> RayHits:
        """Return the first hits of an image's rays, like :meth:`cast` but faster for neighbours.

        Where two faces are at one distance, either may be returned.

        Args:
            origins: (n, 3), or (3,) for all of them.
            directions: (n, 3), row by row.
            wide: columns; ``n`` if the rays are a mere list.
        """
        if self._packets is None or not len(directions):
            return self.cast(origins, directions)
        distance, face, u, v = self._packets.cast(origins, directions, wide)
        return _missed(RayHits(distance, face, u, v))

    def cast(self, origins: F32, directions: F32) -> RayHits:
        """Return the first hits of rays, from either side of a face.

        Args:
            origins: (n, 3), or (3,) for all of them.
            directions: (n, 3), of any length above 0.
        """
        count = len(directions)
        starts = np.broadcast_to(np.asarray(origins, dtype=np.float32), (count, 3))
        found = [
            self._some(starts[first : first + BATCH], directions[first : first + BATCH])
            for first in range(0, max(count, 1), BATCH)
        ]
        if len(found) == 1:
            return found[0]
        return RayHits(
            np.concatenate([each.distance for each in found]),
            np.concatenate([each.face for each in found]),
            np.concatenate([each.u for each in found]),
            np.concatenate([each.v for each in found]),
        )

    def _some(self, starts: F32, ways: F32) -> RayHits:
        found = self._scene.run(
            np.ascontiguousarray(starts), np.ascontiguousarray(ways, dtype=np.float32), output=True
        )
        distance, face, u, v = (found[name] for name in ("tfar", "primID", "u", "v"))
        return _missed(RayHits(distance, face, u, v))

    def blocked(self, origins: F32, directions: F32, most: F32) -> Bools:
        """Check whether each ray hits anything within a multiple of its direction's length.

        Args:
            origins: (n, 3), or (3,) for all of them.
            directions: (n, 3).
            most: (n,) multiples of the direction's length.
        """
        return self.cast(origins, directions).distance < most


class _Boxes:
    """Fallback for Embree on a few triangles (n, 3, 3), with embreex's interface."""

    def __init__(self, corners: F64) -> None:
        low, high = corners.min(axis=1), corners.max(axis=1)
        self._corners = corners
        self._low, self._high = low.min(axis=0), high.max(axis=0)
        self._tree = shapely.STRtree(shapely.box(low[:, 0], low[:, 2], high[:, 0], high[:, 2]))

    def run(self, starts: F32, ways: F32, output: bool) -> dict[str, NDArray[Any]]:
        """Return the first triangle that each ray hits (Moeller and Trumbore 1997)."""
        del output
        start, way = starts.astype(np.float64), ways.astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            leaves = np.maximum((self._low - start) / way, (self._high - start) / way)
        # Seen from above, a ray is a line up to where it leaves the box around all triangles.
        far = np.clip(np.where(way != 0, leaves, np.inf).min(axis=1), 0, 1e9)
        ends = start + far[:, None] * way
        lines = shapely.linestrings(np.stack([start[:, [0, 2]], ends[:, [0, 2]]], axis=1))
        ray, face = self._tree.query(lines, predicate="intersects")
        a, b, c = (self._corners[face, k] for k in range(3))
        s, d = start[ray], way[ray]
        across = np.cross(d, c - a)
        over = np.einsum("ij,ij->i", b - a, across)
        turned = np.cross(s - a, b - a)
        with np.errstate(divide="ignore", invalid="ignore"):
            u = np.einsum("ij,ij->i", s - a, across) / over
            v = np.einsum("ij,ij->i", d, turned) / over
            t = np.einsum("ij,ij->i", c - a, turned) / over
            met = (u >= 0) & (v >= 0) & (u + v <= 1) & (t > 0) & np.isfinite(t)
        ray, face, u, v, t = (each[met] for each in (ray, face, u, v, t))
        order = np.lexsort((face, t, ray))
        first = order[np.unique(ray[order], return_index=True)[1]]
        found = {
            "tfar": np.full(len(start), np.inf, np.float32),
            "primID": np.full(len(start), -1, np.int32),
            "u": np.zeros(len(start), np.float32),
            "v": np.zeros(len(start), np.float32),
        }
        for name, values in (("tfar", t), ("primID", face), ("u", u), ("v", v)):
            found[name][ray[first]] = values[first]
        return found


def _missed(hits: RayHits) -> RayHits:
    """Set rays without a hit to the values that :class:`RayHits` names; return the hits."""
    missed = hits.face < 0
    if missed.any():
        hits.distance[missed], hits.face[missed] = NOWHERE, -1
        hits.u[missed], hits.v[missed] = 0, 0
    return hits
