"""What colour and material words look like.

A word of a home's styles is in ``colours.yaml``; another one is looked for in the colour names of
CSS; an unknown one gives what the caller says. Things without either (hand-written homes) look as
the catalogue's things of their name do.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from PIL import ImageColor

from navloom.files import packaged
from navloom.scenes.scene import Item
from navloom_worlds.geometry.solids import RGB, Surface
from navloom_worlds.geometry.textures import natural_repeat
from navloom_worlds.homes.catalogue import catalogue

_NEUTRAL: RGB = (0.70, 0.68, 0.64)
_TABLES: dict[str, Any] = packaged("navloom_worlds.geometry", "colours.yaml")


@dataclass(frozen=True)
class _Material:
    """What a thing is made of: its own colour where none is said, and how it takes light."""

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
    """The sRGB colour of a word: ``dark green``, ``lavender``; ``otherwise`` where none is known.

    Args:
        word: a colour's name in any case; of several words the last that is known counts, made
            lighter or darker by ``light``, ``pale``, ``dark`` or ``deep`` before it.
        otherwise: what an unknown word is.
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
    return (
        a[0] + (b[0] - a[0]) * share,
        a[1] + (b[1] - a[1]) * share,
        a[2] + (b[2] - a[2]) * share,
    )


def shaded(surface: RGB, factor: float) -> RGB:
    """A colour made darker (below 1) or lighter (above 1)."""
    if factor <= 1:
        return _between((0.0, 0.0, 0.0), surface, factor)
    return _between(surface, (1.0, 1.0, 1.0), min(factor - 1, 1.0))


@lru_cache(maxsize=4096)
def look(colour: str | None, material: str | None = None) -> Surface:
    """The look of a material in a colour; ``natural`` or None is the material's own colour.

    Args:
        colour: a word; ``striped``, ``checked``, ``floral`` ... give a pattern.
        material: a word; an unknown one has no texture and no gloss.
    """
    made = _MATERIALS.get((material or "").casefold(), _Material(_NEUTRAL))
    word = (colour or "").casefold()
    pattern = _PATTERNS.get(word, "")
    if pattern:
        tint = (0.95, 0.95, 0.95)
        return Surface(tint, pattern, natural_repeat(pattern), made.gloss)
    texture = made.texture
    if texture == "wood" and word in ("white", "black"):
        # Paint hides the grain.
        texture = ""
    return Surface(rgb_of(word, made.rgb), texture, natural_repeat(texture), made.gloss)


def surface_of(item: Item) -> Surface:
    """The main look of a thing: its colour and its material's texture and gloss.

    Args:
        item: without colour and material it looks as things of its name usually do; which of the
            usual looks it has hangs on its name and its room, so that chairs of one room agree.
    """
    if item.colour is not None or item.material is not None:
        return look(item.colour, item.material)
    usual = _USUAL[_class_of(item.name)]
    return look(*usual[stable(f"{item.name} {item.region}") % len(usual)])


def stable(words: str) -> int:
    """A number that these words give on every machine."""
    return zlib.crc32(words.encode())


@cache
def _classes() -> dict[str, str]:
    """What things of each name are made of, as the catalogue says."""
    found: dict[str, str] = {}
    for entry in catalogue().entries.values():
        for title in entry.titles:
            found.setdefault(title, entry.made[0])
    return found


@lru_cache(maxsize=1024)
def _class_of(name: str) -> str:
    """The class of a name's material: of the name, of its singular, of its last word."""
    words = name.casefold().strip()
    for each in (words, words.removesuffix("s"), words.rpartition(" ")[2]):
        for table in (_CLASSES, _classes()):
            if each in table:
                return table[each]
    return "wood"
