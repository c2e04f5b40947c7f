"""Builders of kitchen units: counters, islands, sinks, wall cabinets; and a play kitchen."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import islice, pairwise

from navloom.scenes.scene import Item
from navloom_worlds.furniture.builder_tools import (
    STEEL,
    Builder,
    contrasting,
    has_state,
    item_rng,
    lightness,
    shade,
    size_of,
)
from navloom_worlds.furniture.cupboard_contents import shelf_goods
from navloom_worlds.furniture.furniture_parts import (
    basin,
    carcass,
    door,
    drawer,
    framed_hole,
    handle,
    handle_metal,
    plinth,
    split_doors,
    tap,
)
from navloom_worlds.furniture.rounded_shapes import rounded_box, slab
from navloom_worlds.geometry.colours import item_surface
from navloom_worlds.geometry.solids import Part, Surface, box

_TOP = 0.04
PLINTH = 0.1
_FACE = 0.022
"""Distance in metres by which handles project from a front."""
STONE_TOP = Surface((0.32, 0.31, 0.30), gloss=0.35)
WOODEN_TOP = Surface((0.66, 0.47, 0.29), gloss=0.15)
FRONTS = Surface((0.88, 0.87, 0.84), gloss=0.15)


def _worktop(item: Item) -> tuple[Surface, Surface]:
    """Return the surfaces of a unit's top and of its fronts, by its material."""
    look = item_surface(item)
    stone = look.texture in ("marble", "granite", "slate", "fieldstone")
    if stone or item.shape is None:
        return look if stone else STONE_TOP, FRONTS
    return STONE_TOP if lightness(look) > 0.5 else WOODEN_TOP, look


def _unit(item: Item, top: float, fronts: Surface, *, drawers: int = 0) -> Iterator[Part]:
    """Build plinth, body and fronts under a top; if open, with an open door and goods."""
    w, _h, d = size_of(item)
    front = -d / 2 + _FACE
    open_ = has_state(item, "open")
    back = d * 0.3 if open_ else 0.0
    body = front + back
    yield plinth(w, d, PLINTH, shade(fronts, 0.35), back=0.09)
    units = split_doors(w, 0.55)
    wide = w / len(units)
    first = item_rng(item).randrange(len(units))
    if open_:
        yield from carcass(w, top, d, shade(fronts, 0.9), low=PLINTH, front=body)
        mid = (PLINTH + top) / 2
        yield box((-w / 2, mid - 0.01, body), (w / 2, mid + 0.01, d / 2), fronts)
        dice = item_rng(item)
        for y in (PLINTH + 0.02, mid + 0.01):
            yield from shelf_goods(-w / 2 + 0.05, w / 2 - 0.05, y, 0.28, body + 0.12, dice)
        leaf = min(wide, back / math.sin(1.25))
        yield from door((-w / 2, PLINTH), (-w / 2 + leaf, top), body, fronts, angle=1.25)
        return
    yield box((-w / 2, PLINTH, front + 0.018), (w / 2, top, d / 2), shade(fronts, 0.85))
    for k, (x0, x1, hinge) in enumerate(units):
        if k == first and (drawers or wide < 0.42):
            rows = [PLINTH, PLINTH + 0.3, PLINTH + 0.55, top]
            for low, high in pairwise(rows):
                yield from drawer((x0, low), (x1, high), front, fronts)
        else:
            split = top - 0.17
            yield from door((x0, PLINTH), (x1, split), front, fronts, hinge=hinge)
            yield from drawer((x0, split), (x1, top), front, fronts)


def counter(item: Item) -> Iterator[Part]:
    """Build a worktop over doors and drawers."""
    w, h, d = size_of(item)
    top, fronts = _worktop(item)
    yield slab(w, d, h - _TOP, h, top)
    yield from _unit(item, h - _TOP, fronts, drawers=item_rng(item).randrange(2))


def island(item: Item) -> Iterator[Part]:
    """Build a free-standing worktop: fronts at the front, a panelled back under an overhang."""
    w, h, d = size_of(item)
    top, fronts = _worktop(item)
    yield rounded_box((-w / 2, h - 0.05, -d / 2), (w / 2, h, d / 2), 0.012, top, steps=1)
    body = item.model_copy(update={"size": (w - 0.1, h, d - 0.22)})
    unit = _unit(body, h - 0.05, fronts, drawers=1)
    yield from (p.moved(0, 0, -0.08) for p in unit)
    far = d / 2 - 0.19
    for k in range(3):
        x = (k - 1) * (w - 0.16) / 3
        wide = (w - 0.24) / 6
        yield box(
            (x - wide, 0.16, far), (x + wide, h - 0.12, far + 0.012), contrasting(fronts, 0.1)
        )


def kitchen_sink(item: Item) -> Iterator[Part]:
    """Yield parts of a kitchen sink: worktop, steel bowl, draining board, tap, and doors below."""
    w, h, d = size_of(item)
    look = item_surface(item)
    steel = STEEL if item.material in (None, "stainless steel") else look
    fronts = FRONTS
    bowl_w, bowl_d = w * 0.5, d * 0.6
    x, z = -w * 0.2, -0.02
    yield from framed_hole(w, d, bowl_w, bowl_d, h - _TOP, h - 0.003, STONE_TOP, x=x, z=z)
    yield from framed_hole(w * 0.94, d * 0.76, bowl_w, bowl_d, h - 0.004, h, steel, x=x, z=z)
    yield from basin(bowl_w, bowl_d, 0.17, h, shade(steel, 0.85), x=x, z=z, sides=4)
    for k in range(6):
        at = w * 0.12 + k * w * 0.055
        yield box((at, h - 0.001, -d * 0.28), (at + 0.008, h + 0.0, d * 0.2), shade(steel, 0.7))
    # The item's height ends at the worktop; the tap rises above it.
    yield from tap(x, h, z + bowl_d / 2 + 0.03, high=0.22, reach=0.16)
    yield from _unit(item, h - _TOP, fronts)


def wall_cabinet(item: Item) -> Iterator[Part]:
    """Build wall cupboards whose doors have low handles; if open, boards with goods."""
    w, h, d = size_of(item)
    look = item_surface(item)
    front = -d / 2 + _FACE
    fronts = split_doors(w, 0.4)
    if has_state(item, "open"):
        body = front + d * 0.35
        yield from carcass(w, h, d, look, front=body)
        yield box((-w / 2, h / 2 - 0.01, body), (w / 2, h / 2 + 0.01, d / 2), look)
        dice = item_rng(item)
        for y in (0.02, h / 2 + 0.01):
            yield from shelf_goods(-w / 2 + 0.04, w / 2 - 0.04, y, h * 0.4, body + 0.1, dice)
        wide = min(w / len(fronts), d * 0.35 / math.sin(1.25))
        yield from door((-w / 2, 0), (-w / 2 + wide, h), body, look, angle=1.25)
        return
    yield box((-w / 2, 0, front + 0.018), (w / 2, h, d / 2), shade(look, 0.9))
    framed = item_rng(item).random() < 0.4
    for x0, x1, hinge in fronts:
        leaf = door((x0, 0), (x1, h), front, contrasting(look, 0.05), framed=framed)
        yield from islice(leaf, 5 if framed else 1)
        side = x1 - 0.04 if hinge == "left" else x0 + 0.04
        yield handle(side, 0.1, front, 0.12, handle_metal(look), up=True)


def kitchen_cabinet(item: Item) -> Iterable[Part]:
    """Build a wall cabinet if the item is low, else a unit under a worktop."""
    return wall_cabinet(item) if size_of(item)[1] < 0.8 else counter(item)


BY_NAME: dict[str, Builder] = {
    "kitchen_counter": counter,
    "countertop": counter,
    "counter": counter,
    "kitchen_lower_cabinet": counter,
    "kitchen_cabinet": kitchen_cabinet,
    "wall_cabinet": wall_cabinet,
    "kitchen_sink": kitchen_sink,
    "kitchen_island": island,
    "cabinet/counter": counter,
    "drawer/counter": counter,
}
BY_SHAPE: dict[str, Builder] = {"counter": counter}
