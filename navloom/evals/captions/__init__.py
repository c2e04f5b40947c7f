"""Batch captioning of whole scenes."""
