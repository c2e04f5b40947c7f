"""Referring expressions for items of a room: "the desk", "the black armchair".

Each expression fits one item only. Names of similar kinds count as the same: a couch is a sofa, an
armchair a chair, a washing machine a washer. A colour is used if the other items have clearly
different colours; shades ("natural", "honey", "brown") do not count as different. All items of
the room are compared, whatever their kind: a small table among books is still a second table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from navloom.scenes.scene import Item, Scene

_SMALL_M = 0.4
"""Size in metres below which, on all sides, an item is no landmark."""
_ALIKE: tuple[frozenset[str], ...] = tuple(
    frozenset(line.split(", "))
    for line in (
        "sofa, couch, sofa bed, daybed, loveseat, settee",
        "armchair, chair, recliner, rocking chair, stool, bench, pouf, pouffe, ottoman, bean bag",
        "bed, bunk bed, crib, sofa bed, daybed",
        "refrigerator, fridge, freezer",
        "oven, stove, stovetop, range, hob, cooker",
        "washer, washing machine, dryer, tumble dryer, dishwasher",
        "sink, washbasin, basin, wash cabinet, sink cabinet",
        "nightstand, cabinet, wardrobe, drawer, chest of drawers, dresser, sideboard, tv stand,"
        " locker, safe, cupboard, chest, console table, side table, bed table, shoe case, counter,"
        " countertop, armoire, closet",
        "shelf, bookshelf, rack, bookcase, shelving",
        "table, desk, workbench, trolley, tray, kitchen island",
        "tv, monitor, screen, television",
        "toilet, bidet",
        "shower, shower cabin, bathtub",
        "painting, picture, poster, print, photo, photograph, drawing, tapestry, artwork",
        "lamp, lantern, light, candle",
        "plant, planter, flower pot, plant stand, tree, flower, vase",
        "rug, carpet, mat",
        "range hood, ventilation hood",
        "umbrella stand, coat rack, clothes rack",
        "curtain, blind, drapes",
        "toy chest, chest, box, basket, bin, storage box, crate, trunk",
        "radiator, heater",
        "treadmill, exercise bike, bicycle",
    )
)
_FAMILIES: dict[str, frozenset[str]] = {
    colour: frozenset(families.split())
    for colours, families in (
        ("white, cream, ivory", "white"),
        ("beige, sand, tan", "white brown"),
        ("black, charcoal", "black"),
        ("dark grey, smoky, dark bronze", "black grey"),
        ("grey, silver, light grey, weathered grey", "grey white"),
        ("brown, reddish brown, dark brown", "brown black"),
        ("natural, honey, light wood, light brown", "brown white gold"),
        ("rust, copper, orange", "orange red brown"),
        ("gold, brass, yellow, mustard", "gold brown"),
        ("red, burgundy, pink", "red"),
        ("purple", "red blue"),
        ("blue, pale blue, sky blue, navy, turquoise", "blue green"),
        ("green, dark green, light green, olive", "green"),
    )
    for colour in colours.split(", ")
}
_UNSAID = frozenset(("natural", "honey", "smoky"))
"""Colours that are too vague for a phrase."""


def landmark_phrases(scene: Scene, region: str) -> tuple[tuple[str, Item], ...]:
    """Return unambiguous phrases for the items of a region; furniture first, then by size.

    Args:
        scene: any scene.
        region: a region's id.

    Returns:
        Phrases without an article ("black armchair") and their items. Items that are ambiguous,
        small, or stand on another item are left out.
    """
    things = scene.items_in(region)
    found = []
    for item in things:
        if item.on is not None or item.kind == "structure" or max(item.size or (0.0,)) < _SMALL_M:
            continue
        if (words := _words(item, things)) is not None:
            found.append((words, item))
    return tuple(sorted(found, key=_rank))


def _rank(found: tuple[str, Item]) -> tuple[bool, float, str]:
    size = found[1].size or (0.0, 0.0, 0.0)
    return found[1].kind != "asset", -round(size[0] * size[1] * size[2], 6), found[1].id


def match_phrase(words: str, things: Sequence[Item]) -> tuple[Item, ...]:
    """Return the items that a phrase may refer to, similar kinds included.

    >>> lone = Item(id="a", name="desk", kind="asset", position=(0, 0, 0), colour="white")
    >>> [each.id for each in match_phrase("white desk", [lone])]
    ['a']

    Args:
        words: an item's name, perhaps with its colour before it.
        things: the items to search.
    """
    said = " ".join(words.casefold().split())
    colour = next(
        (c for c in sorted(_FAMILIES, key=len, reverse=True) if said.startswith(f"{c} ")), ""
    )
    alike = [each for each in things if _alike(said, plain_name(each))]
    if colour:
        name = said.removeprefix(f"{colour} ")
        alike += [each for each in things if _alike(name, plain_name(each)) and each not in alike]
        alike = [each for each in alike if _may_be(each.colour, colour)]
    return tuple(alike)


def plain_name(item: Item) -> str:
    """Return an item's name as words of a sentence."""
    return " ".join(item.name.replace("_", " ").casefold().split())


def _words(item: Item, things: Sequence[Item]) -> str | None:
    name = plain_name(item)
    if not name.replace(" ", "").replace("-", "").isalpha():
        return None
    tried: Iterator[str] = iter((name,))
    if item.colour in _FAMILIES and item.colour not in _UNSAID:
        tried = iter((name, f"{item.colour} {name}"))
    return next((words for words in tried if match_phrase(words, things) == (item,)), None)


def _may_be(colour: str | None, said: str) -> bool:
    """Check whether an item's colour may be taken for the colour in a phrase."""
    known = _FAMILIES.get(colour or "")
    return known is None or bool(known & _FAMILIES[said])


@lru_cache(maxsize=65_536)
def _alike(said: str, name: str) -> bool:
    """Check whether an item's name may be meant by, or confused with, a phrase."""
    if said == name or said.endswith(name) or name.endswith(said):
        return True
    return any(_in(said, group) and _in(name, group) for group in _ALIKE)


def _in(name: str, group: frozenset[str]) -> bool:
    return name in group or any(name.endswith(f" {each}") for each in group)
