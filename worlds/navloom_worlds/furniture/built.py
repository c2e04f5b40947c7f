"""Which builder makes which item: by its name, else by its shape, else a plain rounded body.

Each file of builders has two tables: ``BY_NAME``, whose keys are names as prompts write them
(``"coffee_table"``) or a name and a shape where one name means two items (``"oven/stove"``), and
``BY_SHAPE``, whose keys are the catalogue's shapes. A file is one word in ``_FILES``.
"""

from __future__ import annotations

from functools import lru_cache

from navloom.scenes.scene import Item
from navloom_worlds.furniture import (
    appliances,
    bathroom,
    beds,
    belongings,
    cases,
    chairs,
    cupboards,
    decor,
    drapes,
    house_parts,
    household,
    kitchen,
    leisure,
    shelving,
    showers,
    sofas,
    tables,
)
from navloom_worlds.furniture.making import Builder, fitted, size_of, within
from navloom_worlds.furniture.turnery import rounded
from navloom_worlds.geometry.colours import surface_of
from navloom_worlds.geometry.solids import Part
from navloom_worlds.homes.catalogue import catalogue

_FILES = (
    *(house_parts, household, belongings, decor, appliances, bathroom, beds, cases, chairs),
    *(cupboards, drapes, kitchen, leisure, shelving, showers, sofas, tables),
)
"""Portable items first: of two builders for one key the last is taken."""
BY_NAME: dict[str, Builder] = {key: make for file in _FILES for key, make in file.BY_NAME.items()}
BY_SHAPE: dict[str, Builder] = {key: make for file in _FILES for key, make in file.BY_SHAPE.items()}


def item_parts(item: Item) -> list[Part]:
    """The parts of a thing in its own frame; none where its size is not known.

    Args:
        item: its ``shape``, ``colour``, ``material`` and ``states`` are shown where they are known;
            what the catalogue has a mesh file for looks as that does.

    Raises:
        SceneError: a mesh file of the catalogue is broken.
    """
    if item.size is None:
        return []
    mesh = catalogue().meshes.get(item.name)
    if mesh is not None:
        # Imported where a file is read: it brings trimesh.
        from navloom_worlds.geometry.mesh_file import model_parts

        return within(fitted(model_parts(mesh), item.size), item)
    builder = builder_of(item.prompt_name, item.shape) or plain
    return within(builder(item), item)


@lru_cache(maxsize=4096)
def builder_of(name: str, shape: str | None = None) -> Builder | None:
    """Who makes a thing: by name and shape, by name, by the name's last words, or by shape.

    Args:
        name: as prompts write it; ``old_wooden_chairs`` is a ``chair``.
        shape: the catalogue's word, where it is known.

    Returns:
        A builder, or None where neither name nor shape is known.
    """
    words = name.split("_")
    for first in range(len(words)):
        tail = "_".join(words[first:])
        for word in (tail, tail.removesuffix("s"), tail.removesuffix("es")):
            found = BY_NAME.get(f"{word}/{shape}") or BY_NAME.get(word)
            if found is not None:
                return found
    return BY_SHAPE.get(shape or "")


def plain(item: Item) -> list[Part]:
    """What stands for a thing that nobody knows how to build: a body of its size and colour."""
    w, h, d = size_of(item)
    low, high = (-w / 2, 0.0, -d / 2), (w / 2, h, d / 2)
    return [rounded(low, high, min(0.02, min(w, h, d) * 0.2), surface_of(item), steps=1)]
