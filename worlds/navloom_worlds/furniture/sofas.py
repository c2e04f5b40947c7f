"""Builders of upholstered seats: sofas, armchairs, recliners, day beds, poufs, bean bags."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np

from navloom.scenes.scene import Item
from navloom_worlds.furniture import rounded_shapes
from navloom_worlds.furniture.builder_tools import (
    DARK_WOOD,
    LINEN,
    PALE_WOOD,
    Builder,
    has_state,
    item_rng,
    lightness,
    shade,
    size_of,
)
from navloom_worlds.furniture.furniture_parts import cushion, legs
from navloom_worlds.furniture.rounded_shapes import rounded_box
from navloom_worlds.furniture.stroke_sketches import *
from navloom_worlds.geometry.colours import item_surface
from navloom_worlds.geometry.solids import Part, Surface, box, lathe


def _feet(look: Surface) -> Surface:
    return DARK_WOOD if lightness(look) > 0.3 else PALE_WOOD


def _seat(item: Item, arm: float, back: float, seat: float, places: int) -> Iterator[Part]:
    """Build base, arms, back, and as many cushions side by side as there are seats."""
    w, h, d = size_of(item)
    look = item_surface(item)
    dice = item_rng(item)
    foot = 0.08
    arm_top = min(h * 0.74, seat + 0.2)
    x, near, far = w / 2, -d / 2, d / 2
    round_arms = dice.random() < 0.5
    yield from legs(w - 0.06, d - 0.06, foot + 0.02, 0.05, _feet(look))
    yield rounded_box((-x, foot, near + 0.03), (x, seat - 0.13, far - 0.02), 0.03, look)
    yield rounded_box(
        (-x + arm * 0.5, foot, far - back * 0.8), (x - arm * 0.5, h * 0.96, far), 0.06, look
    )
    for side in (-1, 1):
        lo, hi = sorted((side * x, side * (x - arm)))
        soft = arm * 0.48 if round_arms else 0.04
        yield rounded_box((lo, foot, near), (hi, arm_top, far - 0.01), soft, shade(look, 0.96))
    inner = x - arm
    pitch = 2 * inner / places
    for k in range(places):
        left = -inner + pitch * k
        span = (left + 0.004, left + pitch - 0.004)
        yield cushion(span, (seat - 0.15, seat), (near + 0.01, far - back), shade(look, 1.06))
        leaning = cushion(span, (0, h - seat + 0.02), (-0.07, 0.09), shade(look, 1.03), soft=0.07)
        yield leaning.tilted(0.14).moved(0, seat - 0.03, far - back - 0.03)


def sofa(item: Item) -> Iterable[Part]:
    """Build a sofa with one to four seats, by its width."""
    w, h, d = size_of(item)
    arm = min(0.18, w * 0.12)
    places = max(1, min(4, round((w - 2 * arm) / 0.68)))
    return _seat(item, arm, min(0.27, d * 0.3), h * 0.5 if item.shape else h * 0.53, places)


def sofa_bed(item: Item) -> Iterator[Part]:
    """Build a sofa; if open, a bed with mattress, pillows and blanket between its arms."""
    if not has_state(item, "open"):
        yield from sofa(item)
        return
    w, h, d = size_of(item)
    look = item_surface(item)
    arm, seat = 0.15, h * 0.5
    x = w / 2
    yield rounded_box((-x, 0.06, d / 2 - 0.2), (x, h, d / 2), 0.06, look)
    for side in (-1, 1):
        lo, hi = sorted((side * x, side * (x - arm)))
        yield rounded_box((lo, 0.06, -d / 2), (hi, seat + 0.15, d / 2), 0.05, look)
    yield box((-x + arm, 0.1, -d / 2), (x - arm, seat - 0.12, d / 2 - 0.2), shade(look, 0.7))
    yield cushion((-x + arm, x - arm), (seat - 0.14, seat), (-d / 2, d / 2 - 0.2), LINEN)
    yield box(
        (-x + arm, seat - 0.1, -d / 2), (x - arm, seat + 0.012, d * 0.02), Surface((0.5, 0.6, 0.7))
    )
    for k in (-1, 1):
        cx = k * (x - arm) / 2
        yield rounded_box(
            (cx - 0.28, seat - 0.02, d * 0.05), (cx + 0.28, seat + 0.07, d / 2 - 0.22), 0.045, LINEN
        )


def armchair(item: Item) -> Iterable[Part]:
    """Build an armchair: one seat, like a sofa's."""
    _, h, d = size_of(item)
    return _seat(item, 0.15, min(0.24, d * 0.28), h * 0.48 if item.shape else h * 0.5, 1)


def bean_bag(item: Item) -> list[Part]:
    """Build a bean bag: wide below, with a hollow to sit in and a tip at the back."""
    w, h, d = size_of(item)
    look = item_surface(item)
    low_half = [(0.0, 0.0), (0.75, 0.0), (0.95, 0.12), (1.0, 0.3), (0.9, 0.5)]
    body = lathe([*low_half, (0.7, 0.68), (0.45, 0.85), (0.22, 0.95), (0.0, 1.0)], look, sides=20)
    v = body.vertices.copy()
    tip = np.clip(v[:, 1] - 0.3, 0, 1)
    # The top leans back, and the front is pressed in.
    v[:, 2] = v[:, 2] * (1 - 0.1 * tip) + 0.42 * tip
    crease = 1 + 0.03 * np.sin(6 * np.arctan2(v[:, 2], v[:, 0]))
    v[:, 0] *= crease
    front = np.clip(-v[:, 2] + 0.2, 0, 1)
    v[:, 1] -= 0.18 * front * tip * 2
    low, high = v.min(axis=0), v.max(axis=0)
    v = (v - (low + high) / 2) / (high - low) * np.array([w, h, d], dtype=np.float32)
    v[:, 1] += h / 2
    return [
        Part(v.astype(np.float32), body.faces, look, smooth=True),
        rounded_shapes.slab(
            0.05, 0.03, h * 0.93, h, shade(look, 0.7), z=float(v[v[:, 1].argmax(), 2]) - 0.02
        ),
    ]


def _pouf(pen: SketchPen) -> list[Part]:
    """Return the parts of a round soft seat with seams, wider in its middle."""
    turn = np.linspace(-math.pi / 2, math.pi / 2, 9)
    round_ = [(0.72 + 0.28 * math.cos(t), 0.5 + 0.5 * math.sin(t)) for t in turn]
    body = lathe([(0, 0), *round_, (0, 1)], pen.own, sides=24)
    seam = bar([(r, 0.994 * y, 0.0) for r, y in round_], 0.012, "own*.7", 3)
    w, h, d = pen.size
    flat = SketchPen(pen.item, pen.own, pen.size)
    return [p.scaled(w / 2, h, d / 2) for p in (body, *draw_parts(flat, spin(12, seam)))]


def _buttons(pen: SketchPen) -> list[Part]:
    across, deep = (max(2, round(side / 0.22)) for side in (pen.size[0], pen.size[2]))
    x, z = 2 / across, 2 / deep
    one = orb(f"{x / 2 - 1},1-.004,{z / 2 - 1}", "0+.012,0+.004,0+.012", "own*.6", 6, 4)
    return draw_parts(pen, row(across, f"{x},0,0", row(deep, f"0,0,{z}", one)))


def _feet_of(high: float, sides: int = 4) -> Stroke:
    return lambda pen: legs(
        pen.size[0] - 0.04, pen.size[2] - 0.04, high, 0.05, _feet(pen.own), sides=sides
    )


# fmt: off
BY_NAME: dict[str, Builder] = {**dict.fromkeys(("sofa", "couch", "loveseat"), sofa),
    "sofa_bed": sofa_bed,
    "bean_bag": bean_bag, **dict.fromkeys(("armchair", "lone_armchair"), armchair),
        **dict.fromkeys(("pouf", "pouffe"), fixture(_pouf)),
    "recliner": fixture(soft("-1+.03,0+.03,-1+.14 1-.03,.45-.12,1-.1", 0.04, "own*.9"),
        soft("-1+.16,.45-.16,-1+.1 1-.16,.45,1-.24", 0.07, "own*1.05"),
        mirror(soft("1-.16,0+.05,-1+.12 1,.45+.17,1-.08", 0.075)),
        at("0,.45-.05,1-.27", lean(0.22, [soft(f"-1+.112,{a},0-.09 1-.112,{b},0+{0.1 - 0.02 * k}",
        0.09) for k, (a, b) in enumerate(((0, 0.22), (0.21, 0.42), (0.41, 0.6)))])),
        at("0,.12,-1+.05", lean(-1.0, soft("-1+.16,0,0 1-.16,0+.12,0+.3", 0.055)))),
    "chaise_longue": fixture(_feet_of(0.14, 8), soft("-1,0+.13,-1 1,.48-.1,1", 0.04, "own*.92"),
        soft("-1+.01,.48-.13,-1 1-.01,.48,1-.3", 0.06),
        cut("1-.36,.48-.12 1-.2,1-.06 1-.13,1 1-.04,1 1,1-.06 1,.48-.2", "-1", "1", axis="x",
        smooth=True), cut("1-.1,.48-.1 1-.1,.82 1-.3,.8 .16,.48+.1 .04,.48 .04,.48-.1", "1-.1", "1",
        "own*.96", axis="x"), wheel("0,.48+.075,1-.36", 0.075, "1.4", "own~.25", "x", 12)),
    "ottoman": fixture(_feet_of(0.12), soft("-1+.01,.27,-1+.01 1-.01,1-.08,1-.01", 0.02, "own*.92"),
        soft("-1,1-.12,-1 1,1,1", 0.045), _buttons)
}
# fmt: on
BY_SHAPE: dict[str, Builder] = {"sofa": sofa}
