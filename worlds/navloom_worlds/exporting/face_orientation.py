"""Orientation of faces for renderers that draw front sides only.

Navloom draws faces from both sides, and item builders rely on that: sheets (curtains, leaves, lamp
shades) have one side, and some closed parts are inside out. Habitat draws front sides only.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from navloom.errors import SceneError
from navloom.scenes.scene import Scene
from navloom_worlds.geometry.arrays import I64, Bools
from navloom_worlds.geometry.mesh import SceneMesh, scene_mesh
from navloom_worlds.geometry.semantic_ids import CEILING, FLOOR, GROUND, SHELL, WALL

_GRID = 20_000
"""Corners that agree to 1/20 mm are merged."""
_BUILT = (FLOOR, CEILING, WALL, GROUND, SHELL)
"""Owners whose faces are visible from one side, by their winding."""


def mesh_to_export(scene: Scene) -> SceneMesh:
    """Return the mesh of a scene.

    Raises:
        SceneError: it has no triangles.
    """
    mesh = scene_mesh(scene)
    if not len(mesh.faces):
        raise SceneError(
            f"{scene.uri} has no triangles, it is a graph alone: expected a home with walls or a "
            "mesh. As json it can be written."
        )
    return mesh


def orient_faces(mesh: SceneMesh) -> tuple[SceneMesh, I64]:
    """Return a mesh whose faces all have their front sides where they are visible.

    Closed parts that are inside out are flipped. Faces of open parts are doubled, one for each
    side, except walls, floors, ceilings and whole scans.

    Args:
        mesh: a scene's mesh.

    Returns:
        The mesh: the faces in their order, then the back sides; and (m,) the face of ``mesh`` that
        each comes from.
    """
    body, open_, inside_out = connected_parts(mesh)
    turned = inside_out[body] & ~open_[body]
    both = np.flatnonzero(open_[body] & ~np.isin(mesh.owners, _BUILT))
    faces = np.where(turned[:, None], mesh.faces[:, ::-1], mesh.faces)
    # Back sides have their own vertices, so that smooth ones have their own normals.
    used, again = np.unique(mesh.faces[both], return_inverse=True)
    backs = again.reshape(-1, 3)[:, ::-1] + len(mesh.vertices)
    of_face = np.concatenate([np.arange(len(faces)), both])
    seen = replace(
        mesh,
        vertices=np.concatenate([mesh.vertices, mesh.vertices[used]]),
        faces=np.concatenate([faces, backs]).astype(np.int32),
        owners=mesh.owners[of_face],
        surface=mesh.surface[of_face],
        uv=np.concatenate([mesh.uv, mesh.uv[used]]),
        smooth=mesh.smooth[of_face],
    )
    return seen, of_face


def connected_parts(mesh: SceneMesh, *, exact: bool = False) -> tuple[I64, Bools, Bools]:
    """Split each owner's faces into connected parts.

    Args:
        mesh: a scene's mesh.
        exact: whether corners must be equal to the last digit, not to 1/20 mm.

    Returns:
        (m,) the part of each face; (parts,) whether it is open: an edge is not used equally often
        in both directions; (parts,) whether it is inside out: its volume is negative.
    """
    places = mesh.vertices if exact else np.rint(mesh.vertices.astype(np.float64) * _GRID)
    place = np.unique(places, axis=0, return_inverse=True)[1].reshape(-1)
    owner = np.unique(mesh.owners, return_inverse=True)[1]
    keys = owner[:, None] * (int(place.max()) + 1) + place[mesh.faces]
    corners = np.unique(keys, return_inverse=True)[1].reshape(-1, 3)
    count = int(corners.max()) + 1
    ends = np.concatenate([corners[:, :2], corners[:, 1:]])
    ones = np.ones(len(ends), dtype=np.int8)
    graph = coo_array((ones, (ends[:, 0], ends[:, 1])), shape=(count, count))
    bodies, of_corner = connected_components(graph, directed=False)
    body = of_corner[corners[:, 0]].astype(np.int64)
    ways = np.concatenate([corners[:, [k, (k + 1) % 3]] for k in range(3)])
    edge = np.unique(ways.min(axis=1) * count + ways.max(axis=1), return_inverse=True)[1]
    balance = np.bincount(edge, np.sign(ways[:, 1] - ways[:, 0]))
    open_ = np.zeros(bodies, dtype=np.bool_)
    open_[np.tile(body, 3)[balance[edge] != 0]] = True
    a, b, c = mesh.vertices[mesh.faces].astype(np.float64).transpose(1, 0, 2)
    volume = np.bincount(body, np.einsum("ij,ij->i", a, np.cross(b, c)), bodies)
    return body, open_, volume < 0
