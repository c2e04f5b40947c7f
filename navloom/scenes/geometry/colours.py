"""What colour and material words look like."""

from __future__ import annotations

from navloom.scenes.geometry.solids import RGB, Surface
from navloom.scenes.scene import Item

_RGB: dict[str, RGB] = {
    "white": (0.92, 0.92, 0.90),
    "black": (0.08, 0.08, 0.08),
    "brown": (0.45, 0.30, 0.18),
    "grey": (0.5, 0.5, 0.5),
}


def rgb_of(word: str | None, otherwise: RGB = (0.7, 0.68, 0.64)) -> RGB:
    """The sRGB colour of a word; ``otherwise`` where it is not known."""
    return _RGB.get((word or "").casefold(), otherwise)


def surface_of(item: Item) -> Surface:
    """The main look of a thing: its colour and its material's texture and gloss."""
    return Surface(rgb_of(item.colour))
