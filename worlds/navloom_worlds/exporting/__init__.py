"""Export of homes for other programs: a GLB, HM3D's release, a Habitat scene dataset.

``semantic_lines(scene)`` gives the number of each item, floor, wall and door in the last two.
"""

from navloom_worlds.exporting.semantic_numbers import SemanticLine, face_numbers, semantic_lines

__all__ = ["SemanticLine", "face_numbers", "semantic_lines"]
