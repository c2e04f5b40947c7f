"""Colours, textures and gloss for the colour and material words of items.

Words of procedural homes are in ``colours.yaml``. Other words are looked up in the colour names of
CSS. For an unknown word the caller gives the colour. Items without either word (hand-written homes)
look like the catalogue's items of their name.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from PIL import ImageColor

from navloom.files import package_yaml
from navloom.scenes.scene import Item
from navloom_worlds.geometry.solids import RGB, Surface
from navloom_worlds.geometry.textures import texture_repeat
from navloom_worlds.homes.catalogue import active_catalogue

_NEUTRAL: RGB = (0.70, 0.68, 0.64)
_TABLES: dict[str, Any] = package_yaml("navloom_worlds.geometry", "colours.yaml")


@dataclass(frozen=True)
class _Material:
    """Appearance of a material: default colour, texture and gloss."""

    rgb: RGB
    texture: str = ""
    gloss: float = 0.0


_RGB: dict[str, RGB] = {word: tuple(rgb) for word, rgb in _TABLES["colours"].items()}
_PATTERNS: dict[str, str] = _TABLES["patterns"]
_MATERIALS = {
    **{word: _Material(tuple(rgb), "wood", 0.12) for word, rgb in _TABLES["woods"].items()},
    **{
        word: _Material(tuple(rgb), texture, gloss)
        for word, (rgb, texture, gloss) in _TABLES["materials"].items()
    },
}
_USUAL: dict[str, list[tuple[str | None, str]]] = {
    kind: list(map(tuple, looks)) for kind, looks in _TABLES["usual"].items()
}
_CLASSES: dict[str, str] = _TABLES["classes"]


def rgb_of(word: str | None, otherwise: RGB = _NEUTRAL) -> RGB:
    """Return the sRGB colour of a word (``dark green``, ``lavender``), ``otherwise`` if unknown.

    Args:
        word: a colour's name in any case; ``light``, ``pale``, ``dark`` or ``deep`` before it makes
            it lighter or darker. Other words before it are ignored.
        otherwise: colour of an unknown word.
    """
    plain = " ".join((word or "").casefold().replace("-", " ").replace("_", " ").split())
    if plain in _RGB:
        return _RGB[plain]
    css = ImageColor.colormap.get(plain.replace(" ", "").replace("grey", "gray"))
    if isinstance(css, str):
        r, g, b = ImageColor.getrgb(css)[:3]
        return r / 255, g / 255, b / 255
    first, _, rest = plain.partition(" ")
    if not rest:
        return otherwise
    base = rgb_of(rest, otherwise)
    share = {"light": 0.5, "pale": 0.6, "dark": -0.5, "deep": -0.4}.get(first, 0.0)
    if share < 0:
        base = _between(base, (0.0, 0.0, 0.0), -share)
    return _between(base, (1.0, 1.0, 1.0), share) if share > 0 else base


def _between(a: RGB, b: RGB, share: float) -> RGB:
    red, green, blue = (x + (y - x) * share for x, y in zip(a, b, strict=True))
    return red, green, blue


def shade_colour(surface: RGB, factor: float) -> RGB:
    """Return a colour made darker (factor below 1) or lighter (above 1)."""
    if factor <= 1:
        return _between((0.0, 0.0, 0.0), surface, factor)
    return _between(surface, (1.0, 1.0, 1.0), min(factor - 1, 1.0))


@lru_cache(maxsize=4096)
def material_surface(colour: str | None, material: str | None = None) -> Surface:
    """Return the surface of a material in a colour; ``natural`` or None is the material's own.

    Args:
        colour: a word; ``striped``, ``checked``, ``floral`` ... give a pattern.
        material: a word; an unknown one has neither texture nor gloss.
    """
    made = _MATERIALS.get((material or "").casefold(), _Material(_NEUTRAL))
    word = (colour or "").casefold()
    pattern = _PATTERNS.get(word, "")
    if pattern:
        tint = (0.95, 0.95, 0.95)
        return Surface(tint, pattern, texture_repeat(pattern), made.gloss)
    texture = made.texture
    if texture == "wood" and word in ("white", "black"):
        # Paint hides the grain.
        texture = ""
    return Surface(rgb_of(word, made.rgb), texture, texture_repeat(texture), made.gloss)


def item_surface(item: Item) -> Surface:
    """Return the main surface of an item, from its colour and its material.

    Args:
        item: the item; without colour and material it gets a usual surface for its name. The choice
            depends on its name and its room, so that the chairs of one room match.
    """
    if item.colour is not None or item.material is not None:
        return material_surface(item.colour, item.material)
    usual = _USUAL[_class_of(item.name)]
    return material_surface(*usual[stable_hash(f"{item.name} {item.region}") % len(usual)])


def stable_hash(words: str) -> int:
    """Return a hash of a text that is the same on every machine."""
    return zlib.crc32(words.encode())


@cache
def _classes() -> dict[str, str]:
    """Return the material class of item names, from the catalogue."""
    found: dict[str, str] = {}
    for entry in active_catalogue().entries.values():
        for title in entry.titles:
            found.setdefault(title, entry.made[0])
    return found


@lru_cache(maxsize=1024)
def _class_of(name: str) -> str:
    """Return the material class of a name: by the name, its singular, or its last word."""
    words = name.casefold().strip()
    for each in (words, words.removesuffix("s"), words.rpartition(" ")[2]):
        for table in (_CLASSES, _classes()):
            if each in table:
                return table[each]
    return "wood"
