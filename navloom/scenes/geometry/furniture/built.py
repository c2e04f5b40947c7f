"""Which builder makes which thing: by its name, else by its shape, else a plain box.

A builder is a function ``build(item) -> list[Part]``: parts in the thing's own frame (the origin in
the middle of the footprint at its underside, the front along -z), within ``item.size``.
"""

from __future__ import annotations

from navloom.scenes.geometry.colours import surface_of
from navloom.scenes.geometry.solids import Part, box
from navloom.scenes.scene import Item


def item_parts(item: Item) -> list[Part]:
    """The parts of a thing in its own frame; none where its size is not known.

    Args:
        item: its ``shape``, ``colour``, ``material`` and ``states`` are shown where they are known.
    """
    if item.size is None:
        return []
    w, h, d = item.size
    return [box((-w / 2, 0, -d / 2), (w / 2, h, d / 2), surface_of(item))]
