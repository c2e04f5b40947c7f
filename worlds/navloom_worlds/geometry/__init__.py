"""What a scene looks like in space: its rooms, doors and things as triangles, and rays on them.

``scene_mesh(scene)`` gives the triangles, each with whose it is and how it looks; ``RayCaster``
finds what a ray meets. Renderers, words about what is seen and the floor one can stand on are made
of these two.
"""

from navloom_worlds.geometry.mesh import SceneMesh, has_geometry, scene_mesh
from navloom_worlds.geometry.rays import Hits, RayCaster

__all__ = ["Hits", "RayCaster", "SceneMesh", "has_geometry", "scene_mesh"]
