"""Homes as files for other programs: a GLB, HM3D's release, a Habitat scene dataset.

``semantic_lines(scene)`` says which number each thing, floor, wall and door has in the last two.
"""

from navloom_worlds.exporting.semantic_numbers import SemanticLine, face_numbers, semantic_lines

__all__ = ["SemanticLine", "face_numbers", "semantic_lines"]
