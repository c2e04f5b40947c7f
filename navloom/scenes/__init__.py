"""Scenes: data model, formats, embodiments and floor plans. Layer 0: imports no other layer."""

from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import iter_scenes, list_scenes, load_scene

__all__ = ["Scene", "iter_scenes", "list_scenes", "load_scene"]
