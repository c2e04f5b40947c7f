"""What builders share: their type, the dice of one thing, and its front, top and sides in metres.

A builder is a function ``build(item) -> list[Part]``: parts in the thing's own frame (the origin in
the middle of the footprint at its underside, y up, the front along -z), within ``item.size``.
"""

from __future__ import annotations

import colorsys
from collections.abc import Callable
from dataclasses import replace
from random import Random

from navloom.scenes.geometry.solids import RGB, Part, Surface
from navloom.scenes.parts import Extents
from navloom.scenes.scene import Item

Builder = Callable[[Item], list[Part]]


def size_of(item: Item) -> Extents:
    """Own x, up and own z of a thing that is built; its size is known."""
    if item.size is None:
        raise ValueError(f"{item.id} has no size")
    return item.size


def dice_of(item: Item) -> Random:
    """Chance that is the same whenever this thing is built: of its id and its size alone."""
    return Random(f"{item.id} {item.size}")


def has(item: Item, *states: str) -> bool:
    """Whether a thing is in any of these states."""
    return any(state in item.states for state in states)


def shade(surface: Surface, factor: float) -> Surface:
    """The same look, darker (below 1) or lighter."""
    r, g, b = (min(1.0, max(0.0, c * factor)) for c in surface.rgb)
    return replace(surface, rgb=(r, g, b))


def tinted(surface: Surface, rgb: RGB) -> Surface:
    """The same material in another colour."""
    return replace(surface, rgb=rgb)


def lightness(rgb: RGB) -> float:
    """How light a colour is, 0 to 1."""
    return 0.3 * rgb[0] + 0.59 * rgb[1] + 0.11 * rgb[2]


def vivid(number: float, saturation: float = 0.6, value: float = 0.7) -> RGB:
    """A colour by its place on the wheel, 0 to 1."""
    return colorsys.hsv_to_rgb(number % 1.0, saturation, value)
