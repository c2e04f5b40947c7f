"""Registry of item builders: by name, else by shape, else a plain rounded box.

Each file of builders has two tables. The keys of ``BY_NAME`` are names as prompts write them
(``"coffee_table"``), or a name and a shape if one name means two items (``"oven/stove"``). The keys
of ``BY_SHAPE`` are the catalogue's shapes. The files are listed in ``_FILES``.
"""

from __future__ import annotations

from functools import lru_cache

from navloom.scenes.scene import Item
from navloom_worlds.furniture import (
    appliances,
    bathroom,
    beds,
    belongings,
    chairs,
    cupboards,
    curtains,
    decor,
    display_cases,
    house_parts,
    household_items,
    kitchen,
    leisure,
    shelving,
    sofas,
    tables,
    tubs_and_showers,
)
from navloom_worlds.furniture.builder_tools import Builder, clip_to_size, fit_to_size, size_of
from navloom_worlds.furniture.rounded_shapes import rounded_box
from navloom_worlds.geometry.colours import item_surface
from navloom_worlds.geometry.solids import Part
from navloom_worlds.homes.catalogue import active_catalogue

_FILES = (
    *(
        house_parts,
        household_items,
        belongings,
        decor,
        appliances,
        bathroom,
        beds,
        display_cases,
        chairs,
    ),
    *(cupboards, curtains, kitchen, leisure, shelving, tubs_and_showers, sofas, tables),
)
"""Modules of builders, portable items first: for equal keys the last one counts."""
BY_NAME: dict[str, Builder] = {key: make for file in _FILES for key, make in file.BY_NAME.items()}
BY_SHAPE: dict[str, Builder] = {key: make for file in _FILES for key, make in file.BY_SHAPE.items()}


def item_parts(item: Item) -> list[Part]:
    """Return an item's mesh parts in its own frame; none if its size is unknown.

    Args:
        item: its ``shape``, ``colour``, ``material`` and ``states`` are used if known; an item with
            a mesh file in the catalogue uses that mesh.

    Raises:
        SceneError: a mesh file of the catalogue is broken.
    """
    if item.size is None:
        return []
    mesh = active_catalogue().meshes.get(item.name)
    if mesh is not None:
        # Imported late, since it loads trimesh.
        from navloom_worlds.geometry.mesh_file import model_parts

        return clip_to_size(fit_to_size(model_parts(mesh), item.size), item)
    builder = find_builder(item.prompt_name, item.shape) or placeholder_parts
    return clip_to_size(builder(item), item)


@lru_cache(maxsize=4096)
def find_builder(name: str, shape: str | None = None) -> Builder | None:
    """Return an item's builder by name and shape, name, the name's last words, or shape.

    Args:
        name: as prompts write it; ``old_wooden_chairs`` is a ``chair``.
        shape: the catalogue's shape, if known.

    Returns:
        A builder, or None if neither name nor shape is known.
    """
    words = name.split("_")
    for first in range(len(words)):
        tail = "_".join(words[first:])
        for word in (tail, tail.removesuffix("s"), tail.removesuffix("es")):
            found = BY_NAME.get(f"{word}/{shape}") or BY_NAME.get(word)
            if found is not None:
                return found
    return BY_SHAPE.get(shape or "")


def placeholder_parts(item: Item) -> list[Part]:
    """Build the placeholder of an unknown item: a rounded box of its size and colour."""
    w, h, d = size_of(item)
    low, high = (-w / 2, 0.0, -d / 2), (w / 2, h, d / 2)
    return [rounded_box(low, high, min(0.02, min(w, h, d) * 0.2), item_surface(item), steps=1)]
