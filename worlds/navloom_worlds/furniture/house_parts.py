"""Builders of house parts that hand-written homes have as items: stairs, railing, front door."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from navloom.scenes.scene import Item
from navloom_worlds.furniture.builder_tools import Builder, size_of
from navloom_worlds.geometry.colours import item_surface
from navloom_worlds.geometry.door_leaves import THICK, panelled_leaf
from navloom_worlds.geometry.finishes import TRIM
from navloom_worlds.geometry.solids import Part, beam, box

_RISER = 0.18
_BOARD = 0.035
_BARS = 0.13


def stairs(item: Item) -> Iterator[Part]:
    """Build a straight flight that ascends from its back to its front."""
    w, h, d = size_of(item)
    count = max(2, round(h / _RISER))
    going, rise = d / (count - 1), h / count
    wood = item_surface(item)
    for k in range(count - 1):
        back, top = d / 2 - k * going, (k + 1) * rise
        yield box((-w / 2, 0, back - going), (w / 2, top - _BOARD, back), TRIM, sides="fklr")
        edge = min(d / 2, back + 0.02)
        yield box((-w / 2, top - _BOARD, back - going), (w / 2, top, edge), wood)


def railing(item: Item) -> Iterator[Part]:
    """Build handrails on bars around a stairwell, open at its front."""
    w, h, d = size_of(item)
    x, z, top = w / 2 - 0.025, d / 2 - 0.025, h - 0.025
    corners = ((-x, -z), (-x, z), (x, z), (x, -z))
    yield from (beam((u, 0, v), (u, h, v), 0.05, TRIM) for u, v in corners)
    for (ax, az), (bx, bz) in pairwise(corners):
        yield beam((ax, top, az), (bx, top, bz), 0.05, item_surface(item))
        count = max(1, round((abs(bx - ax) + abs(bz - az)) / _BARS))
        for k in range(1, count):
            u, v = ax + (bx - ax) * k / count, az + (bz - az) * k / count
            yield beam((u, 0, v), (u, top, v), 0.02, TRIM)


def front_door(item: Item) -> Iterator[Part]:
    """Build a closed door in its frame."""
    w, h, d = size_of(item)
    edge = min(0.06, w / 8)
    deep = min(d / 2, THICK / 2 + 0.012)
    yield box((-w / 2, 0, -deep), (edge - w / 2, h, deep), TRIM)
    yield box((w / 2 - edge, 0, -deep), (w / 2, h, deep), TRIM)
    yield box((edge - w / 2, h - edge, -deep), (w / 2 - edge, h, deep), TRIM)
    leaf = panelled_leaf(w - 2 * edge, h - edge, item_surface(item))
    yield from (part.moved(edge - w / 2, 0, 0) for part in leaf)


BY_NAME: dict[str, Builder] = {
    "stairs": stairs,
    "staircase": stairs,
    "railing": railing,
    "front_door": front_door,
    "door": front_door,
}
BY_SHAPE: dict[str, Builder] = {}
