"""Paths over a navmesh by pynavmesh, a Python port of Recast that shares no code with ours.

It is baked from all triangles of a scene, doors included, which takes minutes for a small home.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from pathfinder import PathFinder
from pathfinder.navmesh_baker import NavmeshBaker

from navloom.scenes.bodies import Embodiment
from navloom.scenes.scene import Point3, Scene
from navloom_worlds.geometry.mesh import scene_mesh
from navloom_worlds.motion.collision_mesh import LOW

CELL = 0.05


def of_pynavmesh(scene: Scene, body: Embodiment) -> Callable[[Point3, Point3], list[Point3]]:
    """Return a function for paths over a scene's navmesh; roofs are left out to bake faster."""
    mesh = scene_mesh(scene)
    top = max(each.height for each in scene.floors) + body.height + CELL
    kept = mesh.faces[mesh.vertices[mesh.faces, 1].min(axis=1) < top]
    used, faces = np.unique(kept, return_inverse=True)
    baker = NavmeshBaker()
    baker.add_geometry(
        [tuple(each) for each in mesh.vertices[used].tolist()], faces.reshape(-1, 3).tolist()
    )
    made = baker.bake(
        cell_size=CELL,
        cell_height=CELL / 2,
        agent_height=body.height,
        agent_radius=body.width / 2,
        agent_max_climb=max(LOW, body.max_step, 0.2 if body.stairs else 0.0),
        edge_max_error=1.0,
        edge_max_len=100.0,
    )
    assert made, scene.uri
    finder = PathFinder(*baker.get_polygonization())

    def way(a: Point3, b: Point3) -> list[Point3]:
        return [(x, y, z) for x, y, z in finder.search_path(a, b)]

    return way
