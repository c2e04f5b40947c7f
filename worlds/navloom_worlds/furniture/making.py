"""What builders share: their type, the dice of one thing, and the looks of what goes with it.

A builder is a function ``build(item) -> list[Part]``: parts in the thing's own frame (the origin in
the middle of the footprint at its underside, y up, the front along -z), within ``item.size``.
"""

from __future__ import annotations

import colorsys
from collections.abc import Callable
from dataclasses import replace
from random import Random

import numpy as np

from navloom.scenes.parts import Extents
from navloom.scenes.scene import Item
from navloom_worlds.geometry.solids import RGB, Part, Surface

Builder = Callable[[Item], list[Part]]
RISE = 0.24
"""Metres that a tap rises above what it stands on."""

STEEL = Surface((0.70, 0.71, 0.73), gloss=0.5)
CHROME = Surface((0.80, 0.81, 0.83), gloss=0.8)
IRON = Surface((0.13, 0.13, 0.14), gloss=0.2)
BLACK = Surface((0.07, 0.07, 0.08), gloss=0.2)
BLACK_GLASS = Surface((0.04, 0.045, 0.05), gloss=0.7)
RUBBER = Surface((0.10, 0.10, 0.11))
BRASS = Surface((0.78, 0.60, 0.28), gloss=0.6)
WHITE = Surface((0.93, 0.93, 0.92), gloss=0.15)
CERAMIC = Surface((0.95, 0.95, 0.94), gloss=0.5)
LINEN = Surface((0.93, 0.92, 0.89))
PALE_GLASS = Surface((0.78, 0.86, 0.86), gloss=0.7)
MIRROR = Surface((0.86, 0.89, 0.91), gloss=1.0)
WATER = Surface((0.45, 0.68, 0.78), gloss=0.7)
DARK_WOOD = Surface((0.23, 0.15, 0.10), gloss=0.1)
PALE_WOOD = Surface((0.78, 0.62, 0.43), gloss=0.1)
LIT = Surface((1.0, 0.96, 0.85), glow=1.0)
RED_LIT = Surface((1.0, 0.25, 0.12), glow=0.9)
GREEN_LIT = Surface((0.3, 1.0, 0.45), glow=0.9)


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


def lightness(surface: Surface) -> float:
    """How light a look is, 0 to 1."""
    r, g, b = surface.rgb
    return 0.3 * r + 0.59 * g + 0.11 * b


def set_off(surface: Surface, step: float = 0.25) -> Surface:
    """The same look, as much lighter or darker as is seen beside it."""
    if lightness(surface) < 0.3:
        r, g, b = surface.rgb
        return replace(surface, rgb=(r + step * (1 - r), g + step * (1 - g), b + step * (1 - b)))
    return shade(surface, 1 - step)


def vivid(number: float, saturation: float = 0.6, value: float = 0.7) -> RGB:
    """A colour by its place on the wheel, 0 to 1."""
    return colorsys.hsv_to_rgb(number % 1.0, saturation, value)


def within(parts: list[Part], item: Item) -> list[Part]:
    """Parts without triangles that have no area, and with nothing beyond the thing's sides.

    Round bodies and turned ones stick out by a hair, which is brought back to the border. Only taps
    rise above the height, from the rims of sinks and tubs, where that ends.
    """
    w, h, d = size_of(item)
    low, high = np.array([-w / 2, 0, -d / 2]), np.array([w / 2, h + RISE, d / 2])
    if not parts:
        return []
    # All parts at once: a thing has dozens, and each of them a handful of triangles.
    first = np.cumsum([0, *(len(part.vertices) for part in parts)])
    vertices = np.concatenate([part.vertices for part in parts])
    vertices = np.clip(vertices, low, high).astype(np.float32)
    faces = np.concatenate([part.faces + n for part, n in zip(parts, first, strict=False)])
    a, b, c = (vertices[faces[:, k]].astype(np.float64) for k in range(3))
    all_real = (np.cross(b - a, c - a) ** 2).sum(axis=1) > 1e-16
    done, seen = [], 0
    for part, n, after in zip(parts, first, first[1:], strict=False):
        real = all_real[seen : seen + len(part.faces)]
        seen += len(part.faces)
        if real.any():
            done.append(replace(part, vertices=vertices[n:after], faces=part.faces[real]))
    return done
