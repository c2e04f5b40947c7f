"""Builders of open shelving: bookshelves, shelves with boxes and baskets, bathroom shelves."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from navloom.scenes.scene import Item
from navloom_worlds.furniture.builder_tools import (
    CERAMIC,
    IRON,
    Builder,
    contrasting,
    hue_colour,
    item_rng,
    shade,
    size_of,
)
from navloom_worlds.furniture.cupboard_contents import books
from navloom_worlds.furniture.rounded_shapes import rounded_box, slab
from navloom_worlds.geometry.colours import item_surface
from navloom_worlds.geometry.solids import Part, Surface, beam, box, cylinder, lathe

_BOARD = 0.03
_HEAVY = 30.0
"""Kilograms: a heavier shelf of the catalogue is built as a bookshelf."""


def board_heights(h: float, levels: int) -> list[float]:
    """Return the upper sides of a shelf's boards, on which the catalogue places items."""
    pitch = int((h * 1000 - 30) // levels)
    return [(30 + pitch * k) // 2 * 2 / 1000 for k in range(levels)]


def _frame(item: Item, levels: int, *, open_: bool, back: bool = True) -> Iterator[Part]:
    """Build boards between two sides, or between posts if it is open."""
    w, h, d = size_of(item)
    look = item_surface(item)
    metal = item.material in ("steel", "aluminium", "raw steel", "iron", "wrought iron", "brass")
    thick = 0.025
    heights = board_heights(h, levels)
    for y in (max(y, _BOARD) for y in heights):
        yield box((-w / 2, y - _BOARD, -d / 2), (w / 2, y, d / 2), look)
    yield box((-w / 2, h - _BOARD, -d / 2), (w / 2, h, d / 2), look)
    if open_ or metal:
        post = look if metal else IRON
        for x in (-w / 2 + 0.015, w / 2 - 0.015):
            for z in (-d / 2 + 0.015, d / 2 - 0.015):
                yield beam((x, 0, z), (x, h, z), 0.028, post)
        far = d / 2 - 0.015
        yield beam((-w / 2, 0.1, far), (w / 2, h * 0.6, far), 0.012, post)
        yield beam((w / 2, 0.1, far), (-w / 2, h * 0.6, far), 0.012, post)
        return
    for s in (-1, 1):
        x0, x1 = sorted((s * w / 2, s * (w / 2 - thick)))
        yield box((x0, 0, -d / 2), (x1, h, d / 2), look)
    if back:
        yield box((-w / 2, 0, d / 2 - 0.008), (w / 2, h, d / 2), shade(look, 0.82))


def bookshelf(item: Item) -> Iterator[Part]:
    """Build five boards between two sides, with a row of books on each."""
    w, h, d = size_of(item)
    dice = item_rng(item)
    yield from _frame(item, 5, open_=False)
    heights = board_heights(h, 5)
    room = heights[1] - heights[0] - _BOARD
    # A home's own items stand at the front, so the books stand behind.
    for y in heights:
        full = dice.choice((0.55, 0.75, 0.9, 1.0))
        start = -w / 2 + 0.03
        if dice.random() < 0.3:
            start += w * 0.2
        row = books(start, w / 2 - 0.03, y, room, 0.02, d / 2 - 0.015, dice, full)
        yield from row


def shelf(item: Item) -> Iterator[Part]:
    """Build boards on sides or posts, with boxes and baskets at the back of some."""
    w, h, d = size_of(item)
    if h < 0.12:
        yield from _board_on_wall(item)
        return
    if item.shape and (item.mass or 0.0) > _HEAVY:
        yield from bookshelf(item)
        return
    dice = item_rng(item)
    levels = 5 if item.shape is None else 4
    yield from _frame(item, levels, open_=dice.random() < 0.4, back=dice.random() < 0.5)
    heights = board_heights(h, levels)
    room = heights[1] - heights[0] - _BOARD
    for y in heights:
        yield from _boxes(-w / 2 + 0.05, w / 2 - 0.05, y, min(room * 0.7, 0.26), d, dice)


def _boxes(x0: float, x1: float, y: float, high: float, d: float, dice: Random) -> Iterator[Part]:
    """Build boxes, baskets and books along a board, set back."""
    x = x0 + dice.uniform(0, 0.15)
    while x + 0.2 < x1:
        wide = dice.uniform(0.16, 0.26)
        tall = high * dice.uniform(0.6, 1.0)
        kind = dice.randrange(4)
        if kind == 0:
            own = Surface((0.72, 0.55, 0.36))
            yield box((x, y, 0.0), (x + wide, y + tall, d / 2 - 0.02), own)
            yield box((x + wide * 0.42, y, -0.002), (x + wide * 0.58, y + tall, 0), shade(own, 0.8))
        elif kind == 1:
            own = Surface(hue_colour(dice.random(), 0.3, 0.75))
            yield rounded_box(
                (x, y, 0.0), (x + wide, y + tall * 0.7, d / 2 - 0.02), 0.015, own, steps=1
            )
            lid = (x - 0.004, y + tall * 0.7, -0.004)
            yield box(lid, (x + wide, y + tall * 0.8, d / 2 - 0.02), contrasting(own))
        elif kind == 2:
            yield from books(x, x + wide, y, high * 1.1, 0.0, d / 2 - 0.02, dice, full=1.0)
        x += wide + dice.uniform(0.03, 0.3)


def _board_on_wall(item: Item) -> Iterator[Part]:
    """Build one board on a wall, with two brackets below its edge."""
    w, h, d = size_of(item)
    look = item_surface(item)
    yield box((-w / 2, h * 0.3, -d / 2), (w / 2, h, d / 2), look)
    for s in (-1, 1):
        yield slab(0.025, d * 0.8, 0, h * 0.35, IRON, x=s * w * 0.36, z=d * 0.1)


def bathroom_shelf(item: Item) -> Iterator[Part]:
    """Build narrow boards on posts, with rolled towels, jars and bottles."""
    w, h, d = size_of(item)
    dice = item_rng(item)
    yield from _frame(item, 4, open_=True)
    heights = board_heights(h, 4)
    room = heights[1] - heights[0] - _BOARD
    tints = [(0.5, 0.68, 0.75), (0.92, 0.9, 0.86), (0.75, 0.6, 0.55)]
    for k, y in enumerate(heights):
        if k % 2 == 0:
            for n in range(int((w - 0.08) / 0.12)):
                r = min(0.05, room * 0.3)
                roll = cylinder(r, -d * 0.3, d * 0.12, Surface(tints[n % 3]), sides=12)
                yield roll.tilted(-1.5708).moved(-w / 2 + 0.09 + 0.12 * n, y + r, d * 0.1)
            continue
        for n in range(int((w - 0.08) / 0.1)):
            tall = min(room * 0.75, dice.uniform(0.08, 0.2))
            neck = [(0.012, tall * 0.85), (0.012, tall), (0, tall)]
            bottle = [(0.03, 0.0), (0.03, tall * 0.7), *neck]
            colour = Surface(hue_colour(dice.random(), 0.45, 0.8), gloss=0.4) if n % 2 else CERAMIC
            yield lathe(bottle, colour, sides=10).moved(-w / 2 + 0.08 + 0.1 * n, y, d * 0.22)


BY_NAME: dict[str, Builder] = {
    "bookshelf": bookshelf,
    "bookcase": bookshelf,
    "shelf": shelf,
    "wall_shelf": shelf,
    "shelves": shelf,
    "cabinet/shelf": bookshelf,
    "bathroom_shelf": bathroom_shelf,
}
BY_SHAPE: dict[str, Builder] = {"shelf": shelf}
