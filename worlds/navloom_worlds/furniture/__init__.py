"""Furniture and things as triangles, by what they are: a bed, a sofa, a sink, a bookshelf."""

from navloom_worlds.furniture.built import item_parts

__all__ = ["item_parts"]
