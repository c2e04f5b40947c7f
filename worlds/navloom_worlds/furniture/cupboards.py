"""Builders of wardrobes, chests of drawers, nightstands, cabinets and sideboards."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from navloom.scenes.scene import Item
from navloom_worlds.furniture import rounded_shapes
from navloom_worlds.furniture.appliances import drawers, feet, shell, shut
from navloom_worlds.furniture.builder_tools import (
    Builder,
    contrasting,
    has_state,
    hue_colour,
    item_rng,
    shade,
    size_of,
)
from navloom_worlds.furniture.cupboard_contents import clothes_on_rail, folded_cloth, shelf_goods
from navloom_worlds.furniture.furniture_parts import (
    AJAR,
    HANDLE,
    THICK,
    carcass,
    door,
    drawer,
    front_face_z,
    legs,
    plinth,
    split_doors,
)
from navloom_worlds.furniture.stroke_sketches import *
from navloom_worlds.geometry.colours import item_surface
from navloom_worlds.geometry.solids import Part, Surface, box


def wardrobe(item: Item) -> Iterator[Part]:
    """Build a wardrobe with two or more doors; if open, clothes on a rail and folded cloth."""
    w, h, d = size_of(item)
    look = item_surface(item)
    base = 0.07
    front = front_face_z(d)
    dice = item_rng(item)
    framed, drawers = dice.random() < 0.4, dice.random() < 0.4
    yield rounded_shapes.slab(w, d - HANDLE, 0, base, shade(look, 0.7), z=HANDLE / 2)
    yield rounded_shapes.slab(w, d - HANDLE, h - 0.03, h, shade(look, 0.95), z=HANDLE / 2)
    low = 0.38 if drawers else base
    if has_state(item, "open"):
        # The body is set back, so that its open doors stay within the footprint.
        set_back = d * 0.28
        body = front + set_back
        yield from carcass(w, h, d, look, low=base, front=body)
        yield box((-0.01, base, body), (0.01, h - 0.03, d / 2), shade(look, 0.9))
        z, deep = (body + d / 2) / 2, (d / 2 - body) * 0.8
        yield from clothes_on_rail(-w / 2 + 0.03, -0.02, h - 0.16, base + 0.15, z, deep, item)
        for y in (h * 0.25, h * 0.48, h * 0.7):
            yield box((0.01, y - 0.02, body), (w / 2 - 0.02, y, d / 2), look)
            yield from folded_cloth(0.02, w / 2 - 0.02, y, h * 0.2, body + 0.03, d / 2 - 0.05, item)
        leaf = set_back / math.sin(AJAR)
        yield from door((-w / 2, base), (-w / 2 + leaf, h - 0.03), body, look, angle=AJAR)
        yield from door(
            (w / 2 - leaf, base), (w / 2, h - 0.03), body, look, hinge="right", angle=AJAR
        )
        return
    yield box((-w / 2, base, front + THICK), (w / 2, h - 0.03, d / 2), look)
    shown = contrasting(look, 0.08)
    for x0, x1, hinge in split_doors(w, 0.5, 2):
        yield from door((x0, low), (x1, h - 0.03), front, shown, hinge=hinge, framed=framed)
        if drawers:
            yield from drawer((x0, base), (x1, low), front, shown)


def chest_of_drawers(item: Item) -> Iterable[Part]:
    """Build rows of drawers on short feet; if open, one is pulled out."""
    w, h, _d = size_of(item)
    look = item_surface(item)
    rows = max(2, min(6, round((h - 0.12) / 0.21)))
    columns = 2 if w > 1.15 else 1
    return _chest(item, rows, columns, 0.08, item_rng(item).random() < 0.5, look)


def _chest(
    item: Item, rows: int, columns: int, foot: float, knobs: bool, look: Surface
) -> Iterator[Part]:
    w, h, d = size_of(item)
    front = front_face_z(d)
    open_ = has_state(item, "open")
    back = min(0.14, d * 0.3) if open_ else 0.0
    if foot > 0.03:
        yield from legs(w - 0.02, d - 0.06, foot + 0.02, 0.05, shade(look, 0.65), back=back)
    else:
        yield plinth(w, d - HANDLE, 0.05, shade(look, 0.6))
    low = max(foot, 0.05)
    yield rounded_shapes.slab(w, d, h - 0.025, h, look)
    corner = (-w / 2 + 0.005, low, front + back + THICK)
    yield box(corner, (w / 2 - 0.005, h - 0.025, d / 2), shade(look, 0.9))
    row = (h - 0.03 - low) / rows
    wide = (w - 0.01) / columns
    lucky = rows - 1 if rows < 3 else rows - 2
    for k in range(rows):
        for c in range(columns):
            x0, y0 = -w / 2 + 0.005 + wide * c, low + row * k
            out = back if open_ and k == lucky and c == 0 else 0.0
            yield from drawer(
                (x0, y0),
                (x0 + wide, y0 + row),
                front + back,
                contrasting(look, 0.1),
                knobs=knobs,
                pulled=out,
                deep=back + 0.05,
            )


def dresser(item: Item) -> Iterable[Part]:
    """Build a chest of three rows of drawers with knobs, in two columns if it is wide."""
    return _chest(item, 3, 2 if size_of(item)[0] > 0.8 else 1, 0.1, True, item_surface(item))


def nightstand(item: Item) -> Iterator[Part]:
    """Build a nightstand: two drawers, or a drawer over an open compartment with books."""
    w, h, d = size_of(item)
    look = item_surface(item)
    dice = item_rng(item)
    if dice.random() < 0.5 or has_state(item, "open"):
        yield from _chest(item, 2, 1, 0.1, True, look)
        return
    front = front_face_z(d)
    foot, mid = 0.1, h * 0.58
    yield from legs(w - 0.02, d - 0.06, foot + 0.02, 0.04, shade(look, 0.65))
    yield from carcass(w, h, d, look, low=foot, front=front + THICK)
    yield from drawer((-w / 2, mid), (w / 2, h - 0.02), front, contrasting(look, 0.1), knobs=True)
    yield box(
        (-w / 2 + 0.02, mid, front + 0.02), (w / 2 - 0.02, h - 0.02, d / 2 - 0.02), shade(look, 0.8)
    )
    cover = Surface(hue_colour(dice.random(), 0.5, 0.6))
    yield rounded_shapes.slab(w * 0.5, d * 0.5, foot + 0.02, foot + 0.06, cover)
    yield rounded_shapes.slab(w * 0.45, d * 0.45, foot + 0.06, foot + 0.09, contrasting(cover))


def cabinet(item: Item) -> Iterable[Part]:
    """Build a cabinet: doors below, some with drawers above; if open, boards with goods."""
    _w, h, _d = size_of(item)
    look = item_surface(item)
    dice = item_rng(item)
    foot = dice.choice((0.0, 0.1)) if h < 1.3 else 0.0
    return _cupboard(
        item, look, foot=foot, drawers=dice.random() < 0.5 and h > 0.7, framed=dice.random() < 0.5
    )


def _cupboard(
    item: Item, look: Surface, *, foot: float = 0.0, drawers: bool = False, framed: bool = False
) -> Iterator[Part]:
    w, h, d = size_of(item)
    front = front_face_z(d)
    open_ = has_state(item, "open")
    base = foot or 0.06
    fronts, shown = split_doors(w, 0.48), contrasting(look, 0.08)
    body = front + (d * 0.35 if open_ else 0.0)
    split = h - 0.2 if drawers else h - 0.025
    yield rounded_shapes.slab(w, d, h - 0.025, h, look)
    if foot:
        yield from legs(w - 0.02, d - 0.06, foot + 0.02, 0.04, shade(look, 0.6), back=body - front)
    else:
        yield plinth(w - 0.02, d - 0.02, base, shade(look, 0.6))
    if drawers:
        yield box((-w / 2, split, front + THICK), (w / 2, h - 0.02, d / 2), shade(look, 0.9))
        for x0, x1, _ in fronts:
            yield from drawer((x0, split), (x1, h - 0.025), front, shown)
    if not open_:
        yield box((-w / 2, base, front + THICK), (w / 2, h - 0.02, d / 2), shade(look, 0.9))
        for x0, x1, hinge in fronts:
            yield from door((x0, base), (x1, split), front, shown, hinge=hinge, framed=framed)
        return
    yield from carcass(w, split, d, look, low=base, front=body)
    levels = max(1, round((split - base) / 0.36))
    for k in range(1, levels):
        y = base + (split - base) * k / levels
        yield box((-w / 2 + 0.02, y - 0.018, body), (w / 2 - 0.02, y, d / 2), look)
    dice = item_rng(item)
    for k in range(levels):
        y = base + (split - base) * k / levels + (0.02 if k == 0 else 0.0)
        yield from shelf_goods(-w / 2 + 0.05, w / 2 - 0.05, y, 0.22, body + 0.1, dice)
    leaf = min(w / len(fronts), (body + d / 2) / math.sin(AJAR))
    yield from door((-w / 2, base), (-w / 2 + leaf, split), body, look, angle=AJAR)
    if len(fronts) > 1:
        yield from door((w / 2 - leaf, base), (w / 2, split), body, look, hinge="right", angle=AJAR)


def _sideboard(pen: SketchPen) -> list[Part]:
    """Return parts of a long low sideboard on slim legs: doors at both ends, drawers in between."""
    z = "-.4" if has_state(pen.item, "open") else "-1"
    w, _, d = pen.size
    slim = legs(w - 0.1, d - 0.08, 0.17, 0.04, pen.tone("own*.6"), splay=-0.03, sides=8)
    strokes = (
        block("-1,1-.03,-1 1,1,1"),
        block("-1,0+.15,-1+.022 1,0+.175,1"),
        block(f"-1,0+.15,{z}+.04 1,1-.02,1", "own*.88"),
        shut("-1,0+.15 -.333,1-.03", f"{z}+.022", framed=True),
        shut(".333,0+.15 1,1-.03", f"{z}+.022", hinge="right", framed=True),
        drawers("-.333 .333", "0+.15 .333+.09 .667+.03 1-.03", f"{z}+.022", pulled=0.3),
    )
    return [*slim, *draw_parts(pen, strokes)]


def bathroom_cabinet(item: Item) -> Iterable[Part]:
    """Build a bathroom cabinet: framed doors, in tall ones under a drawer."""
    _w, h, _d = size_of(item)
    look = item_surface(item)
    return _cupboard(item, look, drawers=h > 0.7, framed=True)


# fmt: off
_PLAYERS = (block("0-.21,.54+.01,-.6 0+.21,.54+.07,.6", "black"),
    block("0-.1,.54+.03,-.6-.002 0+.02,.54+.045,-.6", "blue_light"),
    block("-.25,0+.1,-.55 .15,0+.145,.55", "steel"))
_TV_STAND = (feet(0.06, 0.06, 0.1, 0.05, "own*.6"), shell(0.08, "own*.5", 0.02, 0.01),
    mirror(block(".44-.01,0+.08,-1+.01 .44+.01,1-.02,1"),
    block(".44,0+.1,-1+.04 1,1-.02,1-.02", "own*.8")),
    drawers("-1 -.44", "0+.08 .54 1-.02", "-1+.022", "own~.12"),
    when("open", (drawers(".44 1", "0+.08 .54", "-1+.072", "own~.12"),
    drawers(".44 1", ".54 1-.02", "-1+.022", "own~.12")),
    drawers(".44 1", "0+.08 .54 1-.02", "-1+.022", "own~.12")),
    block("-.44,.54-.01,-1+.02 .44,.54+.01,1"), _PLAYERS)
# fmt: on
BY_NAME: dict[str, Builder] = {
    "wardrobe": wardrobe,
    "closet": wardrobe,
    "dresser": dresser,
    "chest_of_drawers": chest_of_drawers,
    "drawer": chest_of_drawers,
    "nightstand": nightstand,
    "bed_table": nightstand,
    "bedside_cabinet": nightstand,
    "cabinet": cabinet,
    "storage_cabinet": cabinet,
    "sideboard": fixture(_sideboard),
    **dict.fromkeys(("tv_stand", "tv_cabinet"), fixture(_TV_STAND)),
    "bathroom_cabinet": bathroom_cabinet,
}
BY_SHAPE: dict[str, Builder] = {"cabinet": cabinet}
