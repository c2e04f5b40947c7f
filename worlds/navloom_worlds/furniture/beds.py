"""Builders of beds: single and double beds, bunk beds, cribs and sun loungers."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from navloom.scenes.scene import Item
from navloom_worlds.furniture.builder_tools import (
    LINEN,
    Builder,
    contrasting,
    has_state,
    hue_colour,
    item_rng,
    shade,
    size_of,
)
from navloom_worlds.furniture.furniture_parts import legs
from navloom_worlds.furniture.rounded_shapes import prism, rounded_box, sheet
from navloom_worlds.furniture.stroke_sketches import *
from navloom_worlds.geometry.colours import item_surface
from navloom_worlds.geometry.solids import Part, Surface, box

_PILLOW, _LIFT = 0.07, 0.012
"""Heights in metres of a pillow and of a duvet above the mattress."""
_BLANKETS = (
    *((0.55, 0.65, 0.75), (0.75, 0.72, 0.66), (0.42, 0.5, 0.58)),
    *((0.78, 0.62, 0.58), (0.62, 0.68, 0.6), (0.86, 0.85, 0.82)),
)


def bed(item: Item) -> Iterator[Part]:
    """Build a bed: frame, head board at the back, mattress, bedclothes and flat pillows."""
    w, h, d = size_of(item)
    frame = item_surface(item)
    # Without a catalogue shape, items on a bed are placed at its full height.
    top = h - 0.03 if item.shape is None else h * 0.5
    board = 0.05
    back = d / 2 - board
    yield from legs(w - 0.04, d - 0.04, top * 0.35, 0.06, shade(frame, 0.7))
    yield box((-w / 2, top * 0.3, -d / 2), (w / 2, top * 0.55, back), frame)
    yield _head_board(item, w, h, back, d / 2, frame)
    yield rounded_box(
        (-w / 2 + 0.02, top * 0.5, -d / 2 + 0.02), (w / 2 - 0.02, top, back), 0.05, LINEN
    )
    yield from _bedclothes(item, w, top, d, back)


def _head_board(item: Item, w: float, h: float, near: float, far: float, look: Surface) -> Part:
    if item_rng(item).random() < 0.5:
        return rounded_box((-w / 2, 0, near), (w / 2, h, far), 0.025, look)
    arch = [(-w / 2, 0.0), (-w / 2, h * 0.86)]
    arch += [
        (w / 2 * math.sin(t), h * (0.86 + 0.14 * math.cos(t)))
        for t in np.linspace(-math.pi / 2, math.pi / 2, 9)[1:-1]
    ]
    arch += [(w / 2, h * 0.86), (w / 2, 0.0)]
    return prism(arch, near, far, look, axis="z")


def _bedclothes(item: Item, w: float, top: float, d: float, back: float) -> Iterator[Part]:
    dice, unmade = item_rng(item), has_state(item, "unmade")
    look = Surface(dice.choice([*_BLANKETS, hue_colour(dice.random(), 0.35, 0.6)]))
    fold = back - (0.75 if unmade else 0.5)
    ruffled = (dice.randrange(99), 0.12 if item.shape else 0.02)
    yield _duvet(w, top, -d / 2, fold, look, ruffled if unmade else None)
    if not unmade:
        low, high = (-w / 2, top - 0.02, fold - 0.22), (w / 2, top + _LIFT + 0.012, fold)
        yield box(low, high, contrasting(look, 0.3))
    pillow = _PILLOW if item.shape else 0.03
    wide = min(0.62, w * 0.45 if w > 1.2 else w * 0.72)
    for x in [-w / 4, w / 4] if w > 1.2 else [0.0]:
        shift = dice.uniform(-0.08, 0.08) if unmade else 0.0
        low = (x - wide / 2 + shift * 0.5, top - 0.03, back - 0.45)
        high = (x + wide / 2 + shift * 0.5, top + pillow, back - 0.03)
        yield rounded_box(low, high, 0.05, LINEN)


def _duvet(
    w: float, top: float, near: float, fold: float, look: Surface, ruffled: tuple[int, float] | None
) -> Part:
    """Build a duvet over the mattress that hangs down at its sides and foot.

    Args:
        w: width of the bed.
        top: height of the mattress.
        near: z of the foot of the bed.
        fold: z where the duvet ends.
        look: its surface.
        ruffled: seed and maximum wave height of an unmade bed, or None.
    """
    drop, half = top * 0.38, w / 2
    inner = np.linspace(0.15 - half, half - 0.15, 6)
    across = np.array([-half, -half, 0.02 - half, *inner, half - 0.02, half, half])
    down = np.array([-drop, -0.03, *[_LIFT] * 8, -0.03, -drop])
    along = np.array([near, near, near + 0.03, *np.linspace(near + 0.2, fold, 8)])
    fall = np.array([-drop, -0.03, *[np.inf] * 9])
    x, z = np.meshgrid(across, along)
    y = top + np.minimum(down[None], fall[:, None])
    if ruffled is not None:
        seed, room = ruffled
        wave = 1 + np.sin(x * 9 + z * 7 + seed)
        wave *= 0.25 * min(0.12, room) * (np.sin(z * 11 - x * 5) + 1.2)
        y = y + np.where((y > top) & (np.abs(x) < half - 0.1), wave, 0)
        z = z + np.where(z > fold - 0.3, 0.12 * np.sin(x * 4 + seed) - 0.05, 0)
    return sheet(np.stack([x, y, z], axis=2), look)


def _ladder(pen: SketchPen) -> list[Part]:
    """Return the parts of a ladder flat against the left side: two uprights with rungs."""
    high = min(pen.size[1], pen.size[1] * 0.72 + 0.28)
    count = max(3, int(high / 0.28))
    rungs = [(k + 0.7) * high / count for k in range(count)]
    x, a, b = "-1+.02", "-1+.12", "-1+.5"
    sides = [rod(f"{x},0,{z} {x},0+{high},{z}", 0.036) for z in (a, b)]
    return draw_parts(pen, (sides, [rod(f"{x},0+{y},{a} {x},0+{y},{b}", 0.03) for y in rungs]))


def _berth(top: float, cover: str) -> Strokes:
    """Return functions that draw one berth: boards, mattress, blanket, pillow and rails."""
    t = f"{top}"
    return (
        mirror(block(f"1-.03,{t}-.2,-1+.06 1,{t}-.05,1-.06")),
        soft(f"-1+.03,{t}-.16,-1+.04 1-.03,{t},1-.04", 0.04, "linen"),
        block(f"-1+.03,{t}-.1,-1+.04 1-.03,{t}+.012,.4", cover),
        soft(f"-.72,{t}-.02,1-.45 .72,{t}+.07,1-.07", 0.05, "linen"),
        [
            block(f"-1+.06,{t}+{y - 0.04},{z}-.015 1-.06,{t}+{y + 0.04},{z}+.015")
            for z in ("-1+.02", "1-.02")
            for y in (-0.12, 0.1, 0.25)
        ],
    )


def _posts(thick: float) -> Stroke:
    return lambda pen: legs(pen.size[0], pen.size[2], pen.size[1], thick, pen.own)


def _fence(pen: SketchPen) -> list[Part]:
    """Return the parts of bars between rails around a cot."""
    low, strokes = ".4-.16", []
    for k in range(int(pen.size[2] / 0.09)):
        z = -1 + 2 * (k + 1) / (int(pen.size[2] / 0.09) + 1)
        strokes.append(mirror(rod(f"1-.02,{low},{z} 1-.02,1,{z}", 0.018)))
    for k in range(int(pen.size[0] / 0.09)):
        x = -1 + 2 * (k + 1) / (int(pen.size[0] / 0.09) + 1)
        strokes += [rod(f"{x},{low},{z} {x},1,{z}", 0.018) for z in ("-1+.02", "1-.02")]
    for y in (low, "1-.025"):
        strokes.append(mirror(block(f"1-.038,{y}-.025,-1 1-.002,{y}+.025,1")))
        ends = (("-1+.002", "-1+.038"), ("1-.038", "1-.002"))
        strokes += [block(f"-1,{y}-.025,{a} 1,{y}+.025,{b}") for a, b in ends]
    return draw_parts(pen, strokes)


def _lounger(pen: SketchPen) -> list[Part]:
    """Return parts of a lounger: slats on low legs, and a pad with a slightly raised head end."""
    w, h, d = pen.size
    top = h * (0.9 if pen.item.shape else 1.0) - 0.05
    rise, y = min(0.04, h * 0.1) if pen.item.shape else 0.0, f"0+{top}"
    pads = [
        soft(
            f"-1+.03,{y},{a}+.005 1-.03,{y}+{0.05 + rise * (a > 0.4)},{a + 0.5}-.005", 0.02, "cream"
        )
        for a in (-1.0, -0.5, 0.0, 0.5)
    ]
    slats = row(12, "0,0,.172", block(f"-1,{y}-.03,-.986 1,{y},-.986+.08"))
    side = mirror(block(f"1-.04,{y}-.09,-1 1,{y}-.02,1"))
    return [*legs(w, d, top - 0.05, 0.05, pen.own), *draw_parts(pen, (side, slats, pads))]


# fmt: off
BY_NAME: dict[str, Builder] = {**dict.fromkeys(("bed", "single_bed"), bed),
    "sun_lounger": fixture(_lounger),
    "bunk_bed": fixture(_posts(0.06), _berth(0.3, "blue|red|green"),
        _berth(0.72, "orange|slate|purple"),
        [mirror(block(f"1-.032,.72+{y - 0.03},{z} 1-.008,.72+{y + 0.03},1-.06")) for y,
        z in ((0.12, "-1+.55"), (0.25, "-1+.55"))], _ladder),
        **dict.fromkeys(("crib", "cot"),
        fixture(_posts(0.05), block("-1+.02,.4-.14,-1+.02 1-.02,.4-.08,1-.02"),
        soft("-1+.04,.4-.1,-1+.04 1-.04,.4,1-.04", 0.03, "linen"),
        block("-1+.05,.4-.02,-.9 1-.05,.4+.012,.1", "sky|rose|lime"), _fence))
}
# fmt: on
BY_SHAPE: dict[str, Builder] = {"bed": bed}
