"""Contents visible in open furniture: clothes, folded linen, jars, china, books."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from navloom.scenes.scene import Item
from navloom_worlds.furniture.builder_tools import CERAMIC, CHROME, IRON, hue_colour, item_rng
from navloom_worlds.furniture.rounded_shapes import prism, rounded_box, slab, wheel
from navloom_worlds.geometry.solids import Part, Surface, beam, box, cylinder, lathe


def clothes_on_rail(
    x0: float, x1: float, rail: float, low: float, z: float, deep: float, item: Item
) -> Iterator[Part]:
    """Build a rail between two x with coats, shirts and dresses, hanging down to ``low``."""
    dice = item_rng(item)
    yield beam((x0, rail, z), (x1, rail, z), 0.022, CHROME, sides=6)
    x = x0 + 0.05
    while x < x1 - 0.04:
        wide = dice.uniform(0.03, 0.055)
        end = max(low, rail - dice.uniform(0.7, 1.2))
        look = Surface(hue_colour(dice.random(), dice.uniform(0.15, 0.6), dice.uniform(0.3, 0.9)))
        reach = deep / 2
        shape = [
            (z - reach, end),
            (z + reach, end),
            (z + reach * 0.92, rail - 0.16),
            (z + 0.04, rail - 0.06),
            (z - 0.04, rail - 0.06),
            (z - reach * 0.92, rail - 0.16),
        ]
        yield prism(shape, x, x + wide, look)
        yield beam((x + wide / 2, rail - 0.07, z), (x + wide / 2, rail + 0.01, z), 0.008, IRON)
        x += wide + dice.uniform(0.008, 0.04)


def folded_cloth(
    x0: float, x1: float, low: float, room: float, z0: float, z1: float, item: Item
) -> Iterator[Part]:
    """Build piles of folded cloth on a board."""
    dice = item_rng(item)
    x = x0 + 0.03
    while x + 0.25 < x1:
        wide = min(0.34, x1 - x - 0.02)
        y = low
        for _ in range(dice.randint(2, 4)):
            if y + 0.06 > low + room * 0.9:
                break
            look = Surface(
                hue_colour(dice.random(), dice.uniform(0.1, 0.5), dice.uniform(0.5, 0.9))
            )
            yield rounded_box((x, y, z0), (x + wide - 0.03, y + 0.055, z1), 0.02, look, steps=1)
            y += 0.055
        x += wide


def shelf_goods(
    x0: float, x1: float, low: float, room: float, z: float, dice: Random
) -> Iterator[Part]:
    """Build boxes, jars and bowls along a board."""
    x = x0
    while x + 0.16 < x1:
        wide, high = dice.uniform(0.08, 0.15), room * dice.uniform(0.4, 0.9)
        look = Surface(hue_colour(dice.random(), dice.uniform(0.1, 0.5), dice.uniform(0.5, 0.9)))
        if dice.random() < 0.5:
            yield cylinder(wide / 2, low, low + high, look, sides=10).moved(x + wide / 2, 0, z)
        else:
            yield slab(wide, 0.12, low, low + high, look, x=x + wide / 2, z=z)
        x += wide + dice.uniform(0.02, 0.1)


_VASE = [(0.0, 0.0), (0.03, 0.0), (0.05, 0.05), (0.03, 0.11), (0.025, 0.12), (0.035, 0.15)]


def china(x0: float, x1: float, y: float, d: float, seed: int) -> Iterator[Part]:
    """Build plates on edge at the back, with cups and vases before them."""
    dice = Random(seed)
    x = x0 + 0.05
    while x < x1 - 0.02:
        tint = dice.choice(
            [CERAMIC, Surface((0.3, 0.42, 0.65), gloss=0.5), Surface((0.75, 0.5, 0.3), gloss=0.4)]
        )
        if dice.random() < 0.5:
            plate = wheel((0, 0.09, 0), 0.09, 0.012, CERAMIC, axis="z", sides=12).tilted(0.15)
            yield plate.moved(x, y, d / 2 - 0.1)
            spot = wheel((0, 0.09, -0.008), 0.05, 0.004, tint, axis="z", sides=10).tilted(0.15)
            yield spot.moved(x, y, d / 2 - 0.1)
        else:
            s = dice.uniform(0.8, 1.3)
            yield lathe([(r * s, t * s) for r, t in _VASE], tint, sides=12).moved(x, y, 0.0)
        x += dice.uniform(0.15, 0.22)


def books(
    x0: float, x1: float, low: float, room: float, z0: float, z1: float, dice: Random, full: float
) -> Iterator[Part]:
    """Build a row of books on a board, their spines to the front.

    Args:
        x0: start of the row.
        x1: end of the board.
        low: the board's upper side.
        room: clear height to the next board.
        z0: front of the books.
        z1: back of the books.
        dice: random generator of their colours and sizes.
        full: share of the board that they fill.
    """
    x, end = x0, x0 + (x1 - x0) * full
    while True:
        wide = dice.uniform(0.018, 0.05)
        if x + wide > end:
            return
        high = room * dice.uniform(0.62, 0.9)
        hue = dice.choice([0.0, 0.02, 0.07, 0.1, 0.3, 0.45, 0.58, 0.62, 0.9])
        look = Surface(hue_colour(hue, dice.uniform(0.2, 0.75), dice.uniform(0.25, 0.85)))
        near = z0 + dice.uniform(0, 0.02)
        yield box((x, low, near), (x + wide - 0.002, low + high, z1), look, sides="uflr")
        x += wide
