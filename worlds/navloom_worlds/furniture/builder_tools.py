"""Shared tools of builders: their type, the palette, an item's random generator, fitting to size.

A builder is a function that returns an item's parts, in the item's own frame (the origin in the
middle of the footprint at its underside, y up, the front along -z), within ``item.size``.
"""

from __future__ import annotations

import colorsys
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from random import Random
from typing import TypeVar
from zlib import crc32

import numpy as np

from navloom.scenes.scene import Extents, Item
from navloom_worlds.geometry.colours import item_surface
from navloom_worlds.geometry.solids import RGB, Part, Surface, as_f32, parts_bounds

T = TypeVar("T")
Builder = Callable[[Item], Iterable[Part]]
RISE = 0.24
"""Maximum height in metres of a tap above its item."""

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
WATER = Surface((0.45, 0.68, 0.78), gloss=0.7)
DARK_WOOD = Surface((0.23, 0.15, 0.10), gloss=0.1)
PALE_WOOD = Surface((0.78, 0.62, 0.43), gloss=0.1)
LIT = Surface((1.0, 0.96, 0.85), glow=1.0)
RED_LIT = Surface((1.0, 0.25, 0.12), glow=0.9)
GREEN_LIT = Surface((0.3, 1.0, 0.45), glow=0.9)

# Colours by the names that rows of items use.
PALETTE: dict[str, Surface] = {
    **{"white": WHITE, "black": BLACK, "steel": STEEL, "brass": BRASS, "iron": IRON},
    **{"chrome": CHROME, "rubber": RUBBER, "ceramic": CERAMIC, "linen": LINEN, "pool": WATER},
    **{"dark_glass": BLACK_GLASS, "pale_glass": PALE_GLASS, "walnut": DARK_WOOD, "oak": PALE_WOOD},
    **{"light": LIT, "red_light": RED_LIT, "green_light": GREEN_LIT},
    "mirror": Surface((0.66, 0.74, 0.79), gloss=0.95),
    "blue_light": Surface((0.3, 0.75, 1.0), glow=0.9),
    **{
        name: Surface((r / 100, g / 100, b / 100), gloss=gloss / 100)
        for name, (r, g, b, gloss) in {
            **{"cream": (95, 92, 83, 0), "grey": (45, 46, 48, 0), "dark": (12, 12, 13, 10)},
            **{"silver": (75, 76, 78, 40), "stone": (70, 69, 66, 0), "sand": (75, 70, 60, 0)},
            **{"red": (80, 16, 15, 0), "blue": (16, 36, 70, 0), "yellow": (95, 76, 15, 0)},
            **{"green": (18, 55, 28, 0), "orange": (90, 45, 12, 0), "purple": (50, 25, 60, 0)},
            **{"pink": (93, 60, 70, 0), "sky": (60, 75, 90, 0), "slate": (30, 42, 52, 0)},
            **{"rust": (62, 32, 22, 0), "maroon": (45, 20, 18, 0), "navy": (20, 28, 42, 0)},
            **{"taupe": (62, 58, 48, 0), "moss": (28, 36, 28, 0), "ochre": (60, 46, 26, 0)},
            **{"plum": (30, 28, 30, 0), "shell": (93, 92, 89, 0), "ice": (82, 88, 92, 20)},
            **{"rose": (93, 75, 80, 0), "lime": (85, 90, 72, 0), "fresh": (45, 65, 20, 0)},
            **{"paper": (94, 93, 88, 0)},
            **{"card": (70, 54, 36, 0), "wood": (55, 38, 22, 10), "ebony": (32, 20, 12, 10)},
            **{"leather": (40, 24, 14, 10), "straw": (80, 66, 36, 0), "pale": (80, 62, 40, 0)},
            **{"leaf": (22, 45, 18, 0), "earth": (20, 13, 9, 0), "clay": (72, 38, 24, 0)},
            **{"skin": (90, 70, 57, 0), "crust": (70, 45, 22, 0), "tyre": (12, 12, 12, 0)},
            **{"glass": (80, 87, 89, 80), "bottle": (16, 32, 20, 60), "amber": (30, 18, 10, 60)},
            **{"lens": (15, 20, 35, 90), "clear": (75, 85, 90, 90), "screen": (3, 3, 4, 70)},
            **{"wine": (35, 4, 8, 40), "coffee": (20, 11, 6, 30), "water": (62, 78, 88, 70)},
            **{"label": (93, 90, 80, 0), "gold": (85, 68, 25, 70), "soup": (78, 42, 16, 0)},
        }.items()
    },
    "led": Surface((0.25, 0.9, 0.4), glow=1.5),
    "ember": Surface((1.0, 0.4, 0.1), glow=1.0),
    "flame": Surface((1.0, 0.80, 0.35), glow=2.5),
    "bulb": Surface((1.0, 0.95, 0.80), glow=2.5),
    "lit": Surface((1.0, 0.93, 0.76), glow=1.4),
    "fabric": Surface((0.88, 0.87, 0.82), "fabric"),
}
COLOURS: dict[str, tuple[str, ...]] = {
    "bright": ("red", "blue", "yellow", "green", "orange", "purple"),
    "muted": ("maroon", "navy", "taupe", "moss", "ochre", "plum"),
    "fired": ("shell", "slate", "rust"),
    "pastel": ("rose", "sky", "lime", "shell"),
    "cloth": ("maroon", "navy", "taupe", "moss", "ochre", "plum", "cream", "sky"),
}
"""Colour words that stand for several names of the palette."""


def size_of(item: Item) -> Extents:
    """Return an item's size along its own x, up and its own z; the size must be known."""
    if item.size is None:
        raise ValueError(f"{item.id} has no size")
    return item.size


def item_rng(item: Item) -> Random:
    """Return a random generator seeded by the item's id and size, for reproducible builds."""
    return Random(f"{item.id} {item.size}")


def has_state(item: Item, *states: str) -> bool:
    """Check whether an item is in any of the given states."""
    return any(state in item.states for state in states)


def shade(surface: Surface, factor: float) -> Surface:
    """Return a surface darkened (factor below 1) or lightened."""
    r, g, b = (min(1.0, max(0.0, c * factor)) for c in surface.rgb)
    return replace(surface, rgb=(r, g, b))


def lightness(surface: Surface) -> float:
    """Return the lightness of a surface's colour, 0 to 1."""
    r, g, b = surface.rgb
    return 0.3 * r + 0.59 * g + 0.11 * b


def contrasting(surface: Surface, step: float = 0.25) -> Surface:
    """Return a surface made lighter or darker by a step, so that it contrasts with the original."""
    if lightness(surface) < 0.3:
        r, g, b = surface.rgb
        return replace(surface, rgb=(r + step * (1 - r), g + step * (1 - g), b + step * (1 - b)))
    return shade(surface, 1 - step)


def hue_colour(number: float, saturation: float = 0.6, value: float = 0.7) -> RGB:
    """Return the colour of a hue, 0 to 1."""
    return colorsys.hsv_to_rgb(number % 1.0, saturation, value)


def item_roll(item: Item, salt: str = "", sides: int = 1_000_000) -> int:
    """Return a number from 0 to ``sides`` - 1, determined by the item and the salt."""
    return crc32(f"{salt}/{item.id}/{item.name}".encode()) % sides


def pick(item: Item, options: Sequence[T], salt: str = "") -> T:
    """Return one of several options, determined by the item and the salt."""
    return options[item_roll(item, salt, len(options))]


def own_surface(
    item: Item, *otherwise: RGB, plain: bool = False, gloss: float | None = None
) -> Surface:
    """Return the surface of an item's colour and material if known, else of a given colour.

    Args:
        item: the item.
        otherwise: colours, sRGB, one of which is chosen if the item has none.
        plain: its colour alone, without its material's texture.
        gloss: this gloss instead of the material's.
    """
    if item.colour is None and item.material is None and otherwise:
        found = Surface(pick(item, otherwise, "look"))
    else:
        found = item_surface(item)
    if plain:
        found = replace(found, texture="")
    return found if gloss is None else replace(found, gloss=gloss)


def fit_to_size(parts: Iterable[Part], size: Sequence[float], *, long: bool = False) -> list[Part]:
    """Return parts stretched to fill a box of a size, with its bottom at y = 0.

    Args:
        parts: drawn in any unit.
        size: (width, height, depth) in metres.
        long: they were drawn long along z, and are turned if the box is long along x.
    """
    drawn = list(parts)
    if long and size[0] > size[2]:
        drawn = [part.turned(math.pi / 2) for part in drawn]
    low, high = parts_bounds(drawn)
    w, h, d = size
    factor = as_f32([w, h, d]) / np.maximum(high - low, 1e-6)
    at = as_f32([-w / 2, 0, -d / 2])
    return [replace(part, vertices=(part.vertices - low) * factor + at) for part in drawn]


def clip_to_size(parts: Iterable[Part], item: Item) -> list[Part]:
    """Clip parts to the item's sides, and remove triangles without area.

    Rounded and rotated parts may project slightly, and are moved back to the border. Only taps on
    the rims of sinks and tubs may rise above the height.
    """
    w, h, d = size_of(item)
    low, high = np.array([-w / 2, 0, -d / 2]), np.array([w / 2, h + RISE, d / 2])
    parts = list(parts)
    if not parts:
        return []
    # All parts at once: an item has dozens, each with a handful of triangles.
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
