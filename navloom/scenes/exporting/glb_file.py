"""A scene's triangles as a GLB: one node a thing, called as the thing is, in its looks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from navloom.errors import SceneError
from navloom.scenes.exporting.glb_bytes import Glb, Primitive
from navloom.scenes.exporting.glb_looks import Looks
from navloom.scenes.exporting.seen_sides import seen_sides
from navloom.scenes.exporting.written import write_files
from navloom.scenes.geometry.laid_flat import laid_flat
from navloom.scenes.geometry.mesh import SceneMesh, scene_mesh
from navloom.scenes.geometry.owners import distinct_names
from navloom.scenes.geometry.solids import Floats
from navloom.scenes.scene import Scene

_FINE = 65_536
"""Corners that lie this much of a texture apart, or less, are one vertex."""


def save_glb(scene: Scene, path: Path) -> Path:
    """Write a scene as a GLB; the file is whole at every instant.

    Args:
        scene: it must have geometry.
        path: the file; its folder is made where it is missing.

    Returns:
        ``path``.

    Raises:
        SceneError: the scene has no geometry, is too large, or the file cannot be written.
    """
    write_files(path.parent, {path.name: scene_glb(scene)})
    return path


def scene_glb(scene: Scene, *, z_up: bool = False, one_sided: bool = False) -> bytes:
    """A scene as the content of a GLB; the same scene gives the same bytes.

    Items' nodes have their ids; walls, floors and doors the names that
    :func:`navloom.scenes.geometry.owners.distinct_names` gives. Textures are pictures that repeat,
    laid on as the embedded renderer lays them; what is shaded round has normals.

    Args:
        scene: it must have geometry.
        z_up: z up and y ahead, as HM3D has it; else y up and -z ahead.
        one_sided: for renderers that draw front sides alone
            (:func:`navloom.scenes.exporting.seen_sides.seen_sides`).

    Raises:
        SceneError: the scene has no geometry, or is too large.
    """
    mesh = scene_mesh(scene)
    if not len(mesh.faces):
        raise SceneError(f"{scene.uri} has no triangles: expected walls, things or a mesh.")
    if one_sided:
        mesh, _ = seen_sides(mesh)
    glb = Glb(scene.uri)
    looks = Looks(glb)
    corners = _Corners(mesh)
    vertices, normals = mesh.vertices, corners.normals
    if z_up:
        vertices, normals = as_released(vertices), as_released(normals)
    names = distinct_names(scene)
    owned: dict[int, list[Primitive]] = {}
    for owner, look, smooth, vertex, uv, faces in corners.groups():
        surface = mesh.surfaces[look]
        part = Primitive(
            vertices[vertex],
            faces,
            looks.of(surface),
            uv if surface.texture else None,
            normals[vertex] if smooth else None,
        )
        owned.setdefault(owner, []).append(part)
    for owner, parts in owned.items():
        glb.node(names.get(owner, f"mesh_{owner}"), parts)
    return glb.done()


def as_released(points: Floats) -> Floats:
    """Points of the scene's frame (y up, -z ahead) in HM3D's (z up, y ahead)."""
    x, y, z = points.T
    return np.stack([x, -z, y], axis=1)


class _Corners:
    """Faces' corners as vertices: those at one place, of one look and texture place, are one."""

    def __init__(self, mesh: SceneMesh) -> None:
        self._mesh = mesh
        corners = mesh.vertices[mesh.faces]
        cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        unit = cross / np.maximum(np.linalg.norm(cross, axis=1, keepdims=True), 1e-12)
        self._uv = _texture_places(mesh, corners, unit)
        self.normals = _round_normals(mesh, cross)

    def groups(self) -> list[tuple[int, int, bool, NDArray[np.int64], Floats, NDArray[np.int64]]]:
        """What is one owner's, of one look and round or not.

        Returns:
            Owner, look, whether it is shaded round; of each vertex its row in the mesh and its
            place on the texture (n, 2); faces as rows of these (m, 3). By owner, then look.
        """
        mesh = self._mesh
        keys = (mesh.smooth, mesh.surface, mesh.owners)
        by_group = np.lexsort(keys)
        sorted_keys = np.stack([key[by_group] for key in keys])
        first = np.flatnonzero(np.any(np.diff(sorted_keys, axis=1, prepend=-(10**9)), axis=0))
        groups = []
        for faces in np.split(by_group, first[1:]):
            lead = faces[0]
            vertex, uv, own = self._merged(faces)
            groups.append(
                (
                    int(mesh.owners[lead]),
                    int(mesh.surface[lead]),
                    bool(mesh.smooth[lead]),
                    vertex,
                    uv,
                    own,
                )
            )
        return groups

    def _merged(
        self, faces: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], Floats, NDArray[np.int64]]:
        vertex = self._mesh.faces[faces].reshape(-1).astype(np.int64)
        uv = self._uv[faces].reshape(-1, 2)
        near = np.rint(uv * _FINE).astype(np.int64)
        order = np.lexsort((near[:, 1], near[:, 0], vertex))
        steps = np.diff(vertex[order]) | np.diff(near[order, 0]) | np.diff(near[order, 1])
        new = np.concatenate([[True], steps != 0])
        row = np.empty(len(vertex), dtype=np.int64)
        row[order] = np.cumsum(new) - 1
        kept = order[new]
        return vertex[kept], uv[kept].astype(np.float32), row.reshape(-1, 3)


def _texture_places(mesh: SceneMesh, corners: Floats, normal: Floats) -> NDArray[np.float64]:
    """(m, 3, 2) where each corner lies, in whole textures; 0 where there is no texture."""
    repeat = np.array([max(look.repeat, 1e-6) for look in mesh.surfaces])[mesh.surface]
    textured = np.array([bool(look.texture) for look in mesh.surfaces])[mesh.surface]
    uv = mesh.uv[mesh.faces].astype(np.float64)
    bare = np.isnan(uv).any(axis=(1, 2)) & textured
    if bare.any():
        uv[bare] = laid_flat(corners[bare], normal[bare])
    uv /= repeat[:, None, None]
    uv[~textured] = 0
    return uv


def _round_normals(mesh: SceneMesh, cross: Floats) -> Floats:
    """(n, 3) unit: of vertices of round faces, the faces' mean by area; up elsewhere."""
    faces, cross = mesh.faces[mesh.smooth], cross[mesh.smooth].astype(np.float64)
    count = len(mesh.vertices)
    total = np.zeros((count, 3))
    for corner in range(3):
        for axis in range(3):
            total[:, axis] += np.bincount(faces[:, corner], cross[:, axis], count)
    long = np.linalg.norm(total, axis=1)
    total[long < 1e-12] = (0, 1, 0)
    return (total / np.where(long < 1e-12, 1, long)[:, None]).astype(np.float32)
