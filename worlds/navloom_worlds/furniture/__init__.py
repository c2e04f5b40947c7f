"""Triangle meshes of furniture and small items, built from an item's name, shape, size and look."""

from navloom_worlds.furniture.item_builders import item_parts

__all__ = ["item_parts"]
