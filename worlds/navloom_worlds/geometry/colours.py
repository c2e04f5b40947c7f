"""What colour and material words look like.

A word of a home's styles is in the tables here; another one is looked for in the colour names of
CSS; an unknown one gives what the caller says. Things without either (hand-written homes) look as
the catalogue's things of their name do.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cache, lru_cache

from PIL import ImageColor

from navloom.scenes.parts import Item
from navloom_worlds.geometry.solids import RGB, Surface
from navloom_worlds.geometry.textures import natural_repeat
from navloom_worlds.homes.catalogue import catalogue

_NEUTRAL: RGB = (0.70, 0.68, 0.64)
_WHITE: RGB = (0.93, 0.92, 0.90)
_RGB: dict[str, RGB] = {
    "white": _WHITE,
    "off white": (0.92, 0.90, 0.85),
    "cream": (0.93, 0.88, 0.76),
    "ivory": (0.93, 0.90, 0.82),
    "beige": (0.83, 0.76, 0.63),
    "sand": (0.82, 0.73, 0.57),
    "tan": (0.73, 0.57, 0.40),
    "honey": (0.80, 0.57, 0.30),
    "mustard": (0.80, 0.62, 0.18),
    "yellow": (0.92, 0.78, 0.22),
    "gold": (0.80, 0.63, 0.28),
    "brass": (0.75, 0.61, 0.33),
    "bronze": (0.55, 0.40, 0.23),
    "dark bronze": (0.34, 0.26, 0.17),
    "copper": (0.74, 0.44, 0.29),
    "rust": (0.58, 0.30, 0.17),
    "orange": (0.88, 0.50, 0.17),
    "red": (0.74, 0.15, 0.14),
    "burgundy": (0.42, 0.09, 0.14),
    "pink": (0.90, 0.62, 0.68),
    "purple": (0.45, 0.27, 0.53),
    "blue": (0.20, 0.38, 0.66),
    "pale blue": (0.68, 0.79, 0.87),
    "light blue": (0.60, 0.74, 0.86),
    "sky blue": (0.50, 0.71, 0.88),
    "dark blue": (0.13, 0.20, 0.38),
    "navy": (0.11, 0.15, 0.30),
    "teal": (0.12, 0.44, 0.45),
    "turquoise": (0.24, 0.67, 0.66),
    "green": (0.27, 0.50, 0.28),
    "light green": (0.58, 0.74, 0.46),
    "dark green": (0.13, 0.30, 0.19),
    "olive": (0.42, 0.42, 0.22),
    "grey": (0.54, 0.54, 0.54),
    "gray": (0.54, 0.54, 0.54),
    "light grey": (0.76, 0.76, 0.75),
    "dark grey": (0.29, 0.29, 0.30),
    "weathered grey": (0.62, 0.60, 0.56),
    "charcoal": (0.22, 0.23, 0.25),
    "black": (0.09, 0.09, 0.10),
    "silver": (0.75, 0.76, 0.78),
    "chrome": (0.83, 0.84, 0.86),
    "brown": (0.45, 0.30, 0.19),
    "light brown": (0.66, 0.49, 0.33),
    "dark brown": (0.28, 0.18, 0.12),
    "reddish brown": (0.47, 0.23, 0.15),
    "light wood": (0.84, 0.71, 0.53),
    "dark wood": (0.33, 0.21, 0.14),
    "wood": (0.64, 0.46, 0.29),
    "clear": (0.83, 0.90, 0.91),
    "frosted": (0.88, 0.92, 0.92),
    "smoky": (0.40, 0.40, 0.42),
}
_PATTERNS = {
    "striped": "stripes",
    "checked": "checks",
    "floral": "floral",
    "patterned": "patterned",
    "multicoloured": "multicoloured",
    "black and white": "stripes",
}
"""Colours that are a pattern, and the texture that has it."""


@dataclass(frozen=True)
class _Material:
    """What a thing is made of: its own colour where none is said, and how it takes light."""

    rgb: RGB
    texture: str = ""
    gloss: float = 0.0


_WOODS: dict[str, RGB] = {
    "wood": (0.64, 0.46, 0.29),
    "oak": (0.70, 0.53, 0.34),
    "walnut": (0.36, 0.24, 0.16),
    "pine": (0.84, 0.66, 0.42),
    "birch": (0.87, 0.76, 0.58),
    "beech": (0.82, 0.65, 0.46),
    "ash": (0.83, 0.73, 0.57),
    "cherry": (0.58, 0.30, 0.18),
    "mahogany": (0.40, 0.17, 0.11),
    "mango wood": (0.58, 0.40, 0.24),
    "reclaimed wood": (0.50, 0.38, 0.27),
    "driftwood": (0.66, 0.61, 0.54),
    "veneer": (0.62, 0.43, 0.26),
    "laminate": (0.76, 0.62, 0.45),
}
_MATERIALS: dict[str, _Material] = {
    **{word: _Material(rgb, "wood", 0.12) for word, rgb in _WOODS.items()},
    "lacquered wood": _Material((0.90, 0.89, 0.86), "", 0.35),
    "painted wood": _Material((0.88, 0.87, 0.83), "", 0.12),
    "bamboo": _Material((0.80, 0.66, 0.40), "wood", 0.15),
    "rattan": _Material((0.74, 0.57, 0.37), "wicker", 0.08),
    "wicker": _Material((0.72, 0.55, 0.36), "wicker", 0.05),
    "aluminium": _Material((0.78, 0.79, 0.80), "metal", 0.45),
    "steel": _Material((0.66, 0.67, 0.69), "metal", 0.45),
    "stainless steel": _Material((0.74, 0.75, 0.76), "metal", 0.55),
    "raw steel": _Material((0.45, 0.45, 0.46), "rust", 0.25),
    "galvanised steel": _Material((0.70, 0.72, 0.73), "hammered", 0.35),
    "enamelled steel": _Material((0.92, 0.92, 0.91), "", 0.40),
    "metal": _Material((0.62, 0.63, 0.65), "metal", 0.40),
    "hammered metal": _Material((0.66, 0.56, 0.40), "hammered", 0.45),
    "iron": _Material((0.20, 0.20, 0.21), "metal", 0.20),
    "wrought iron": _Material((0.12, 0.12, 0.13), "hammered", 0.15),
    "brass": _Material((0.75, 0.61, 0.33), "metal", 0.50),
    "bronze": _Material((0.50, 0.37, 0.22), "metal", 0.40),
    "copper": _Material((0.74, 0.44, 0.29), "metal", 0.50),
    "linen": _Material((0.84, 0.80, 0.72), "fabric"),
    "cotton": _Material((0.86, 0.85, 0.82), "fabric"),
    "polyester": _Material((0.62, 0.63, 0.65), "fabric"),
    "canvas": _Material((0.80, 0.76, 0.68), "fabric"),
    "fabric": _Material((0.66, 0.64, 0.60), "fabric"),
    "jute": _Material((0.68, 0.56, 0.38), "wicker"),
    "coir": _Material((0.50, 0.37, 0.23), "carpet"),
    "wool": _Material((0.80, 0.76, 0.70), "knit"),
    "velvet": _Material((0.40, 0.16, 0.22), "carpet", 0.05),
    "damask": _Material((0.60, 0.48, 0.34), "fabric", 0.10),
    "silk": _Material((0.84, 0.78, 0.68), "", 0.30),
    "leather": _Material((0.40, 0.26, 0.17), "leather", 0.25),
    "ceramic": _Material((0.93, 0.92, 0.90), "", 0.45),
    "porcelain": _Material((0.95, 0.94, 0.93), "", 0.50),
    "glass": _Material((0.83, 0.90, 0.91), "", 0.80),
    "plastic": _Material((0.80, 0.80, 0.80), "", 0.22),
    "rubber": _Material((0.14, 0.14, 0.15), "", 0.05),
    "paper": _Material((0.93, 0.92, 0.88)),
    "cardboard": _Material((0.68, 0.53, 0.36)),
    "marble": _Material((0.93, 0.92, 0.90), "marble", 0.45),
    "granite": _Material((0.58, 0.57, 0.56), "granite", 0.35),
    "slate": _Material((0.34, 0.36, 0.39), "slate", 0.15),
    "stone": _Material((0.64, 0.62, 0.58), "concrete", 0.05),
    "fieldstone": _Material((0.62, 0.58, 0.52), "fieldstone"),
    "concrete": _Material((0.62, 0.61, 0.59), "concrete"),
    "brick": _Material(_WHITE, "brick"),
    "leaves": _Material((0.29, 0.50, 0.25), "leaves", 0.05),
    "fruit": _Material((0.78, 0.40, 0.20), "", 0.25),
    "wax": _Material((0.93, 0.90, 0.82), "", 0.15),
}
# Classes of material as the catalogue has them -> looks that things without any may have.
_USUAL: dict[str, tuple[tuple[str | None, str], ...]] = {
    "wood": ((None, "oak"), (None, "walnut"), (None, "pine"), ("white", "painted wood")),
    "metal": (("silver", "steel"), ("black", "iron"), ("dark grey", "steel")),
    "fabric": (("grey", "linen"), ("beige", "cotton"), ("dark blue", "wool"), ("teal", "cotton")),
    "leather": (("brown", "leather"), ("black", "leather")),
    "ceramic": (("white", "ceramic"),),
    "glass": (("clear", "glass"),),
    "plastic": (("white", "plastic"), ("grey", "plastic"), ("blue", "plastic")),
    "stone": (("grey", "granite"), ("white", "marble")),
    "paper": (("white", "paper"), ("beige", "paper"), ("blue", "paper")),
    "green": (("green", "leaves"),),
    "white goods": (("white", "enamelled steel"),),
    "wicker": (("natural", "wicker"),),
    "rubber": (("black", "rubber"),),
    "steel": (("silver", "stainless steel"),),
    "food": (("red", "fruit"), ("orange", "fruit"), ("yellow", "fruit")),
    "many": (("red", "plastic"), ("blue", "cotton"), ("green", "plastic"), ("yellow", "cotton")),
    "screen": (("black", "plastic"),),
    "art": (("multicoloured", "canvas"), ("blue", "canvas"), ("beige", "paper")),
}
# Names that hand-written homes use and the catalogue does not -> what they are made of.
_CLASSES = {
    "garden table": "wood",
    "kitchen table": "wood",
    "kitchen sink": "steel",
    "sink": "ceramic",
    "frying pan": "metal",
    "floor lamp": "metal",
    "front door": "wood",
    "chest freezer": "white goods",
    "filing cabinet": "metal",
    "reading glasses": "plastic",
    "mug": "ceramic",
    "pitcher": "glass",
    "letter": "paper",
    "crayons": "many",
    "gloves": "leather",
    "stairs": "wood",
    "railing": "metal",
    "violin": "wood",
    "teddy bear": "fabric",
    "flowers": "green",
    "scissors": "steel",
    "comb": "plastic",
    "briefcase": "leather",
    "toolbox": "metal",
    "planter": "ceramic",
    "bed": "wood",
    "cabinet": "wood",
}


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
