"""Captions of whole scenes by the batch."""
