"""What a place is and where a body fits. Floor 0: knows no other room of the house."""

from navloom.scenes.scene import Scene
from navloom.scenes.uri import iter_scenes, list_scenes, load_scene

__all__ = ["Scene", "iter_scenes", "list_scenes", "load_scene"]
