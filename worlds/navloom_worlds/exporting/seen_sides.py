"""Faces turned so that a renderer which draws front sides alone sees what is there.

Navloom sees faces from both sides, and so do the makers of things: sheets (curtains, leaves, lamp
shades) are there once, and some bodies are inside out. Habitat draws front sides alone.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from navloom.errors import SceneError
from navloom.scenes.scene import Scene
from navloom_worlds.geometry.mesh import SceneMesh, scene_mesh
from navloom_worlds.geometry.owners import CEILING, FLOOR, GROUND, SHELL, WALL

_GRID = 20_000
"""Corners that are the same to 1/20 mm are one."""
_BUILT = (FLOOR, CEILING, WALL, GROUND, SHELL)
"""What is seen from one side, as it is wound."""


def mesh_to_export(scene: Scene) -> SceneMesh:
    """The triangles of a scene.

    Raises:
        SceneError: it has none.
    """
    mesh = scene_mesh(scene)
    if not len(mesh.faces):
        raise SceneError(
            f"{scene.uri} has no triangles, it is a graph alone: expected a home with walls or a "
            "mesh. As json it can be written."
        )
    return mesh


def seen_sides(mesh: SceneMesh) -> tuple[SceneMesh, NDArray[np.int64]]:
    """A mesh whose faces all have their front sides where they are seen from.

    Closed bodies that are inside out are turned; faces of what is not closed are there twice, once
    for each side, but for walls, floors, ceilings and whole scans.

    Args:
        mesh: a scene's.

    Returns:
        The mesh: the faces in their order, then the other sides; and (m,) of which face of ``mesh``
        each is.
    """
    body, open_, inside_out = bodies(mesh)
    turned = inside_out[body] & ~open_[body]
    both = np.flatnonzero(open_[body] & ~np.isin(mesh.owners, _BUILT))
    faces = np.where(turned[:, None], mesh.faces[:, ::-1], mesh.faces)
    # Other sides have vertices of their own, so that round ones have normals of their own.
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


def bodies(
    mesh: SceneMesh, *, exact: bool = False
) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.bool_]]:
    """Which body each face is of: what hangs together of one owner, by where its corners are.

    Args:
        mesh: a scene's.
        exact: whether corners must be at the same place to the last digit, not to 1/20 mm.

    Returns:
        (m,) the body of each face; (bodies,) whether it is open: an edge is not gone along as often
        in one way as in the other; (bodies,) whether it is inside out: its volume is below 0.
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
