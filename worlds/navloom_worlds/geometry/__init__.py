"""Geometry of scenes: triangles of buildings, items and scans, and ray casting on them.

``scene_mesh(scene)`` returns the triangles, each with its owner and its surface. ``RayCaster``
finds the first hit of a ray. Renderers, captions and walkable areas are built on these two.
"""

from navloom_worlds.geometry.mesh import SceneMesh, has_geometry, scene_mesh
from navloom_worlds.geometry.ray_casting import RayCaster, RayHits

__all__ = ["RayCaster", "RayHits", "SceneMesh", "has_geometry", "scene_mesh"]
