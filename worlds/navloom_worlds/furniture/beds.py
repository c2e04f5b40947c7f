"""Beds: for one or two, bunks, cribs, and loungers for the sun."""

from __future__ import annotations

import math

import numpy as np

from navloom.scenes.scene import Item
from navloom_worlds.furniture.joinery import legs
from navloom_worlds.furniture.making import (
    LINEN,
    Builder,
    dice_of,
    has,
    set_off,
    shade,
    size_of,
    vivid,
)
from navloom_worlds.furniture.turnery import prism, rounded, sheet, slab
from navloom_worlds.geometry.colours import surface_of
from navloom_worlds.geometry.solids import Part, Surface, beam, box

_PILLOW = 0.07


def bed(item: Item) -> list[Part]:
    """A frame, a head board at the back, a mattress, bedclothes and flat pillows."""
    w, h, d = size_of(item)
    frame = surface_of(item)
    # Where no catalogue says so, what lies on a bed lies at its full height.
    top = h - 0.03 if item.shape is None else h * 0.5
    board = 0.05
    back = d / 2 - board
    parts = legs(w - 0.04, d - 0.04, top * 0.35, 0.06, shade(frame, 0.7))
    parts.append(box((-w / 2, top * 0.3, -d / 2), (w / 2, top * 0.55, back), frame))
    parts.append(_head_board(item, w, h, back, d / 2, frame))
    parts.append(
        rounded((-w / 2 + 0.02, top * 0.5, -d / 2 + 0.02), (w / 2 - 0.02, top, back), 0.05, LINEN)
    )
    parts += _bedclothes(item, w, top, d, back)
    return parts


def _head_board(item: Item, w: float, h: float, near: float, far: float, look: Surface) -> Part:
    if dice_of(item).random() < 0.5:
        return rounded((-w / 2, 0, near), (w / 2, h, far), 0.025, look)
    arch = [(-w / 2, 0.0), (-w / 2, h * 0.86)]
    arch += [
        (w / 2 * math.sin(t), h * (0.86 + 0.14 * math.cos(t)))
        for t in np.linspace(-math.pi / 2, math.pi / 2, 9)[1:-1]
    ]
    arch += [(w / 2, h * 0.86), (w / 2, 0.0)]
    return prism(arch, near, far, look, axis="z")


def _bedclothes(item: Item, w: float, top: float, d: float, back: float) -> list[Part]:
    dice = dice_of(item)
    colour = dice.choice(
        [
            (0.55, 0.65, 0.75),
            (0.75, 0.72, 0.66),
            (0.42, 0.5, 0.58),
            (0.78, 0.62, 0.58),
            (0.62, 0.68, 0.6),
            (0.86, 0.85, 0.82),
            vivid(dice.random(), 0.35, 0.6),
        ]
    )
    look = Surface(colour)
    unmade = has(item, "unmade")
    fold = back - 0.5 if not unmade else back - 0.75
    near = -d / 2
    lift = 0.012
    parts = [
        _duvet(
            w,
            top,
            near,
            fold,
            look,
            ruffled=unmade,
            lift=lift,
            seed=dice.randrange(99),
            room=0.12 if item.shape else 0.02,
        )
    ]
    if not unmade:
        turned = box(
            (-w / 2, top - 0.02, fold - 0.22), (w / 2, top + lift + 0.012, fold), set_off(look, 0.3)
        )
        parts.append(turned)
    pillow = _PILLOW if item.shape else 0.03
    wide = min(0.62, w * 0.45 if w > 1.2 else w * 0.72)
    spots = [-w / 4, w / 4] if w > 1.2 else [0.0]
    for x in spots:
        shift = dice.uniform(-0.08, 0.08) if unmade else 0.0
        low = (x - wide / 2 + shift * 0.5, top - 0.03, back - 0.45)
        high = (x + wide / 2 + shift * 0.5, top + pillow, back - 0.03)
        parts.append(rounded(low, high, 0.05, LINEN))
    return parts


def _duvet(
    w: float,
    top: float,
    near: float,
    fold: float,
    look: Surface,
    *,
    ruffled: bool,
    lift: float,
    seed: int,
    room: float,
) -> Part:
    """Cloth over the mattress that hangs down at its sides and its foot."""
    drop = top * 0.38
    across = np.array(
        [
            -w / 2,
            -w / 2,
            -w / 2 + 0.02,
            *np.linspace(-w / 2 + 0.15, w / 2 - 0.15, 6),
            w / 2 - 0.02,
            w / 2,
            w / 2,
        ]
    )
    down = np.array([-drop, -0.03, lift, *[lift] * 6, lift, -0.03, -drop])
    along = np.array([near, near, near + 0.03, *np.linspace(near + 0.2, fold, 8)])
    fall = np.array([-drop, -0.03, 0, *[0] * 8])
    x, z = np.meshgrid(across, along)
    y = top + np.minimum(down[None], np.where(fall[:, None] < 0, fall[:, None], np.inf))
    if ruffled:
        wave = (
            0.25
            * min(0.12, room)
            * (1 + np.sin(x * 9 + z * 7 + seed))
            * (np.sin(z * 11 - x * 5) + 1.2)
        )
        inner = (y > top) & (np.abs(x) < w / 2 - 0.1)
        y = y + np.where(inner, wave, 0)
        z = z + np.where(z > fold - 0.3, 0.12 * np.sin(x * 4 + seed) - 0.05, 0)
    return sheet(np.stack([x, y, z], axis=2), look)


def bunk_bed(item: Item) -> list[Part]:
    """Two beds one over the other, with rails and a ladder."""
    w, h, d = size_of(item)
    look = surface_of(item)
    post = 0.06
    low, high = h * 0.3, h * 0.72
    parts = legs(w, d, h, post, look)
    dice = dice_of(item)
    clothes = [Surface(vivid(dice.random(), 0.5, 0.65)) for _ in range(2)]
    for top, cover in zip((low, high), clothes, strict=True):
        parts += [
            box(
                (-w / 2, top - 0.2, -d / 2 + post), (-w / 2 + 0.03, top - 0.05, d / 2 - post), look
            ),
            box((w / 2 - 0.03, top - 0.2, -d / 2 + post), (w / 2, top - 0.05, d / 2 - post), look),
            rounded(
                (-w / 2 + 0.03, top - 0.16, -d / 2 + 0.04),
                (w / 2 - 0.03, top, d / 2 - 0.04),
                0.04,
                LINEN,
            ),
            box(
                (-w / 2 + 0.03, top - 0.1, -d / 2 + 0.04),
                (w / 2 - 0.03, top + 0.012, d * 0.2),
                cover,
            ),
            rounded(
                (-w * 0.36, top - 0.02, d / 2 - 0.45),
                (w * 0.36, top + 0.07, d / 2 - 0.07),
                0.05,
                LINEN,
            ),
        ]
        for z in (-d / 2 + 0.02, d / 2 - 0.02):
            for y in (top - 0.12, top + 0.1, top + 0.25):
                if y < h:
                    parts.append(
                        box(
                            (-w / 2 + post, y - 0.04, z - 0.015),
                            (w / 2 - post, y + 0.04, z + 0.015),
                            look,
                        )
                    )
    for y in (high + 0.12, high + 0.25):
        for x in (-w / 2 + 0.02, w / 2 - 0.02):
            start = -d / 2 + 0.55 if x < 0 else -d / 2 + post
            if y + 0.03 < h:
                parts.append(
                    box((x - 0.012, y - 0.03, start), (x + 0.012, y + 0.03, d / 2 - post), look)
                )
    return parts + _ladder(-w / 2 + 0.02, -d / 2 + 0.12, -d / 2 + 0.5, min(h, high + 0.28), look)


def _ladder(x: float, z0: float, z1: float, high: float, look: Surface) -> list[Part]:
    """Two uprights and rungs between them, flat against the side at x."""
    parts = [beam((x, 0, z), (x, high, z), 0.036, look) for z in (z0, z1)]
    count = max(3, int(high / 0.28))
    for i in range(count):
        y = (i + 0.7) * high / count
        parts.append(beam((x, y, z0), (x, y, z1), 0.03, look))
    return parts


def crib(item: Item) -> list[Part]:
    """A small mattress within a fence of bars."""
    w, h, d = size_of(item)
    look = surface_of(item)
    top = h * 0.4
    parts = legs(w, d, h, 0.05, look)
    parts.append(slab(w - 0.04, d - 0.04, top - 0.14, top - 0.08, look))
    parts.append(
        rounded(
            (-w / 2 + 0.04, top - 0.1, -d / 2 + 0.04),
            (w / 2 - 0.04, top, d / 2 - 0.04),
            0.03,
            LINEN,
        )
    )
    dice = dice_of(item)
    cover = Surface(vivid(dice.random(), 0.35, 0.8))
    parts.append(slab(w - 0.1, d * 0.5, top - 0.02, top + 0.012, cover, z=-d * 0.2))
    low, bar = top - 0.16, 0.018
    for x in (-w / 2 + 0.02, w / 2 - 0.02):
        parts += [
            box((x - 0.018, y - 0.025, -d / 2), (x + 0.018, y + 0.025, d / 2), look)
            for y in (low, h - 0.025)
        ]
        count = int(d / 0.09)
        parts += [
            beam((x, low, z), (x, h, z), bar, look)
            for z in np.linspace(-d / 2, d / 2, count + 2)[1:-1]
        ]
    for z in (-d / 2 + 0.02, d / 2 - 0.02):
        parts += [
            box((-w / 2, y - 0.025, z - 0.018), (w / 2, y + 0.025, z + 0.018), look)
            for y in (low, h - 0.025)
        ]
        count = int(w / 0.09)
        parts += [
            beam((x, low, z), (x, h, z), bar, look)
            for x in np.linspace(-w / 2, w / 2, count + 2)[1:-1]
        ]
    return parts


def sun_lounger(item: Item) -> list[Part]:
    """Slats on low legs, a pad on them, its head end raised a little."""
    w, h, d = size_of(item)
    look = surface_of(item)
    top = h * (0.9 if item.shape else 1.0) - 0.05
    rise = min(0.04, h * 0.1) if item.shape else 0.0
    parts = legs(w, d, top - 0.05, 0.05, look)
    parts += [
        box(
            (sx * w / 2 - 0.02 + 0.02 * -sx, top - 0.09, -d / 2),
            (sx * w / 2 + 0.02 + 0.02 * -sx, top - 0.02, d / 2),
            look,
        )
        for sx in (-1, 1)
    ]
    for z in np.linspace(-d / 2 + 0.05, d / 2 - 0.05, 12):
        parts.append(slab(w, 0.08, top - 0.03, top, look, z=float(z)))
    pad = Surface((0.9, 0.88, 0.8))
    for k, (z0, z1) in enumerate(
        zip(np.linspace(-d / 2, d / 2, 5)[:-1], np.linspace(-d / 2, d / 2, 5)[1:], strict=True)
    ):
        lift = rise if k == 3 else 0.0
        parts.append(
            rounded(
                (-w / 2 + 0.03, top, z0 + 0.005),
                (w / 2 - 0.03, top + 0.05 + lift, z1 - 0.005),
                0.02,
                pad,
            )
        )
    return parts


BY_NAME: dict[str, Builder] = {
    "bed": bed,
    "single_bed": bed,
    "bunk_bed": bunk_bed,
    "crib": crib,
    "cot": crib,
    "sun_lounger": sun_lounger,
}
BY_SHAPE: dict[str, Builder] = {"bed": bed}
