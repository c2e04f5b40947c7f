"""What other things are put into: boxes, crates, suitcases, bags, baskets, bins, buckets."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from navloom.scenes.scene import Item
from navloom_worlds.furniture.making import STEEL, Builder, has, shade, size_of
from navloom_worlds.furniture.shaping import (
    BLACK,
    BRASS,
    BRIGHT,
    CARD,
    CREAM,
    GREY,
    MUTED,
    PAPER,
    WHITE,
    WOOD,
    arc,
    face,
    fitted,
    look,
    open_box,
    pick,
    roll,
    round_corners,
    top_face,
)
from navloom_worlds.furniture.turnery import ball, prism, ring, tube
from navloom_worlds.furniture.vessels import hollow
from navloom_worlds.geometry.solids import Part, Surface, beam, box, cylinder, lathe

_TAPE = Surface((0.80, 0.70, 0.48), gloss=0.3)


def _cardboard(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    card = look(item, CARD.rgb, plain=True)
    if not has(item, "open"):
        parts = [box((-w / 2, 0, -d / 2), (w / 2, h * 0.995, d / 2), card)]
        parts.append(top_face(w, min(w, d) * 0.14, h, _TAPE))
        wide = min(w, d) * 0.14
        front = face(wide, h * 0.78, h, 0, _TAPE).turned(math.pi / 2)
        parts += [front.moved(s * (w / 2 + 3e-4), 0, 0) for s in (-1, 1)]
        parts.append(top_face(w, 0.003, h + 3e-4, shade(card, 0.6)))
        parts.append(face(w * 0.3, h * 0.25, h * 0.5, -d / 2 - 4e-4, WHITE, x=w * 0.2))
        return fitted(parts, (w, h, d))
    low, wall = h * 0.74, min(w, d) * 0.02
    flap = h - low
    parts = open_box((-w * 0.4, 0, -d * 0.4), (w * 0.4, low, d * 0.4), wall, card)
    for s in (-1, 1):
        x, z = s * w * 0.4, s * d * 0.4
        for corners in (
            [
                (x, low, -d * 0.39),
                (x, low, d * 0.39),
                (s * w / 2, h, d * 0.37),
                (s * w / 2, h, -d * 0.37),
            ],
            [
                (-w * 0.39, low, z),
                (w * 0.39, low, z),
                (w * 0.37, low + flap * 0.7, s * d / 2),
                (-w * 0.37, low + flap * 0.7, s * d / 2),
            ],
        ):
            parts.append(_sheet(corners, shade(card, 0.9)))
    return fitted(parts, (w, h, d))


def _sheet(corners: list[tuple[float, float, float]], surface: Surface) -> Part:
    faces = np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int32)
    return Part(np.array(corners, dtype=np.float32), faces, surface)


def _storage_box(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, (0.82, 0.88, 0.92), *BRIGHT[:4], plain=True)
    lid = pick(item, (GREY, WHITE, Surface((0.2, 0.4, 0.65)), Surface((0.25, 0.27, 0.3))), "lid")
    body = prism(round_corners(w * 0.92, d * 0.92, min(w, d) * 0.08), 0, h * 0.86, own, axis="y")
    if has(item, "open"):
        parts = open_box((-w * 0.46, 0, -d * 0.46), (w * 0.46, h * 0.9, d * 0.46), 0.008, own)
    else:
        parts = [
            body,
            prism(round_corners(w, d, min(w, d) * 0.08), h * 0.84, h * 0.95, lid, axis="y"),
        ]
        parts.append(
            prism(
                round_corners(w * 0.8, d * 0.8, min(w, d) * 0.06),
                h * 0.95,
                h,
                shade(lid, 0.85),
                axis="y",
            )
        )
    for s in (-1, 1):
        clip = sorted((s * w * 0.455, s * w * 0.495))
        parts.append(box((clip[0], h * 0.6, -d * 0.1), (clip[1], h * 0.9, d * 0.1), lid))
    for k in range(5):
        x = (k - 2) * w * 0.17
        parts.append(
            box(
                (x - w * 0.012, h * 0.06, -d * 0.475),
                (x + w * 0.012, h * 0.8, -d * 0.46),
                shade(own, 0.85),
            )
        )
    return fitted(parts, (w, h, d))


def _crate(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, WOOD.rgb)
    t = min(w, d) * 0.035
    rows = 3
    parts = [box((-w / 2, 0, -d / 2), (w / 2, t, d / 2), shade(own, 0.7))]
    for row in range(rows):
        low, high = h * (row + 0.08) / rows, h * (row + 0.88) / rows
        for s in (-1, 1):
            a, b = sorted((s * (d / 2 - t), s * d / 2))
            parts.append(box((-w / 2, low, a), (w / 2, high, b), own))
            a, b = sorted((s * (w / 2 - t), s * w / 2))
            parts.append(box((a, low, -d / 2 + t), (b, high, d / 2 - t), shade(own, 0.9)))
    for x in (-1, 1):
        for z in (-1, 1):
            a, b = sorted((x * (w / 2 - t), x * (w / 2 - 2.5 * t)))
            e, f = sorted((z * (d / 2 - t), z * (d / 2 - 2.5 * t)))
            parts.append(box((a, 0, e), (b, h, f), shade(own, 0.8)))
    return fitted(parts, (w, h, d))


def _basket(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, (0.72, 0.55, 0.36))
    woven = own if item.material == "plastic" else replace(own, texture=own.texture or "wicker")
    sides = 18
    top = h * 0.86 if w < 0.5 and roll(item, "handles", 2) else h
    body = hollow([(0.84, 0), (0.88, 0.04), (1, 0.95)], woven, wall=0.06, sides=sides)
    square = [_squared(body)]
    rim = _squared(ring((0, 0.95, 0), 0.97, 0.1, shade(own, 0.85), around=sides, axis="y"))
    square.append(rim)
    if has(item, "full"):
        for k in range(4):
            a = k * 1.7
            cloth = Surface(pick(item, (*MUTED, *BRIGHT[:3], (0.92, 0.9, 0.86)), f"c{k}"), "fabric")
            at = (0.38 * math.cos(a), 0.8 + 0.05 * k, 0.38 * math.sin(a))
            square.append(ball(at, (0.5, 0.16, 0.42), cloth, sides=9, rings=5))
    else:
        square.append(lathe([(0.9, 0.12), (0, 0.12)], shade(own, 0.5), sides=8))
    parts = fitted(square, (w * 0.96, top, d))
    for s in (-1, 1):
        if top < h:
            grip = arc(
                (s * w * 0.46, top * 0.95, 0), (d * 0.18, h - top * 0.95), 0, math.pi, "zy", 6
            )
            parts.append(tube(grip, 0.02, shade(own, 0.8), sides=5))
        else:
            hole = _sheet(
                [(s * w * 0.482, h * 0.72, z * d) for z in (-0.12, 0.12)]
                + [(s * w * 0.49, h * 0.84, z * d) for z in (0.12, -0.12)],
                BLACK,
            )
            parts.append(hole)
    return fitted(parts, (w, h, d))


def _squared(part: Part) -> Part:
    # What was round becomes a square with round corners.
    x, y, z = part.vertices.T
    far = np.hypot(x, z)
    widest = np.maximum(np.abs(x), np.abs(z))
    factor = np.where(widest > 1e-6, 1 + 0.75 * (far / np.maximum(widest, 1e-6) - 1), 1)
    moved = np.stack([x * factor, y, z * factor], axis=1).astype(np.float32)
    return replace(part, vertices=moved)


def _bin(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, (0.74, 0.75, 0.77), (0.12, 0.12, 0.13), (0.3, 0.32, 0.35))
    tall = h > 0.42
    if tall:
        # With a lid and a pedal.
        body = lathe([(0.96, 0.05), (1, 0.08), (1, 0.82)], own, sides=18)
        foot = cylinder(0.98, 0, 0.06, BLACK, sides=18)
        if has(item, "full"):
            bag = lathe([(1.01, 0.78), (1.03, 0.84), (0.8, 0.9), (0, 0.88)], BLACK, sides=14)
            waste = [
                ball(
                    (0.3 * math.cos(a), 0.93, 0.3 * math.sin(a)),
                    (0.35, 0.07, 0.3),
                    t,
                    sides=8,
                    rings=5,
                )
                for a, t in ((0, WHITE), (2, CARD), (4, Surface((0.5, 0.6, 0.3))))
            ]
            parts = [body, foot, bag, *waste]
        else:
            lid = lathe(
                [(1.02, 0.82), (1.02, 0.86), (0.9, 0.93), (0.5, 0.98), (0, 1)],
                shade(own, 0.85),
                sides=18,
            )
            parts = [body, foot, lid]
        parts.append(box((-0.2, 0.015, -1.15), (0.2, 0.045, -0.9), STEEL))
        return fitted(parts, (w, h, d))
    body = hollow([(0.78, 0), (0.82, 0.03), (1, 1)], own, wall=0.04, sides=18)
    rim = ring((0, 0.99, 0), 0.99, 0.05, shade(own, 0.8), around=18, axis="y")
    liner = lathe([(0.9, 0.4), (0, 0.38)], BLACK, sides=10)
    parts = [body, rim, liner]
    if has(item, "full"):
        for k, tone in enumerate((WHITE, PAPER, CREAM, CARD)):
            a = k * 1.7
            parts.append(
                ball(
                    (0.45 * math.cos(a), 0.82 + 0.04 * k, 0.45 * math.sin(a)),
                    0.3,
                    tone,
                    sides=6,
                    rings=4,
                )
            )
    return fitted(parts, (w, h, d))


def _bucket(item: Item) -> list[Part]:
    own = look(item, *BRIGHT[:2], (0.5, 0.52, 0.55), plain=True, gloss=0.2)
    body = hollow(
        [(0.72, 0), (0.74, 0.03), (0.96, 0.74), (1, 0.75), (1, 0.78)], own, wall=0.05, sides=16
    )
    bail = tube(arc((0, 0.7, 0), (1.0, 0.3), 0, math.pi, n=10), 0.05, STEEL, sides=4)
    grip = tube([(-0.2, 0.985, 0), (0.2, 0.985, 0)], 0.1, BLACK)
    parts = [body, bail, grip]
    if has(item, "full"):
        parts.append(
            lathe([(0.9, 0.62), (0, 0.62)], Surface((0.45, 0.62, 0.72), gloss=0.7), sides=12)
        )
    return fitted(parts, size_of(item))


def _paint_can(item: Item) -> list[Part]:
    metal = look(item, (0.74, 0.75, 0.77), gloss=0.5)
    paint = Surface(pick(item, (*BRIGHT, (0.93, 0.93, 0.9)), "paint"), gloss=0.4)
    body = lathe(
        [(0, 0), (1, 0), (1, 0.03), (0.97, 0.05), (0.97, 0.86), (1, 0.88), (1, 0.9), (0, 0.89)],
        metal,
    )
    label = lathe([(0.985, 0.18), (0.985, 0.75)], paint)
    drip = [box((x, 0.62, -1.0), (x + 0.12, 0.86, -0.95), paint) for x in (-0.3, 0.1)]
    bail = tube(arc((0, 0.6, 0), (1.02, 0.4), 0.2, math.pi - 0.2), 0.04, STEEL, sides=4)
    return fitted([body, label, *drip, bail], size_of(item))


def _tool_box(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, (0.78, 0.13, 0.12), (0.16, 0.33, 0.68), plain=True, gloss=0.3)
    low = h * 0.55
    if has(item, "open"):
        parts = open_box((-w / 2, 0, -d * 0.4), (w / 2, low, d * 0.45), 0.01, own)
        parts.append(box((-w / 2, low, d * 0.4), (w / 2, h * 0.98, d / 2), shade(own, 0.85)))
        for k, tone in enumerate((STEEL, BLACK, WOOD)):
            z = -d * 0.2 + k * d * 0.15
            parts.append(
                beam(
                    (-w * 0.35, low * 0.8, z), (w * 0.3, low * 0.95, z + 0.02), 0.025, tone, sides=5
                )
            )
        return fitted(parts, (w, h, d))
    lid = prism(
        [(-d / 2, low), (d / 2, low), (d * 0.3, h * 0.85), (-d * 0.3, h * 0.85)],
        -w / 2,
        w / 2,
        shade(own, 0.85),
        axis="z",
    )
    parts = [box((-w / 2, 0, -d / 2), (w / 2, low, d / 2), own), lid.turned(math.pi / 2)]
    parts.append(
        box((-w * 0.5, low - h * 0.02, -d * 0.505), (w * 0.5, low + h * 0.015, d * 0.505), BLACK)
    )
    for x in (-0.3, 0.3):
        parts.append(face(w * 0.08, low - h * 0.12, low + h * 0.06, -d * 0.51, STEEL, x=x * w))
    grip = [
        (-w * 0.2, h * 0.84, 0),
        (-w * 0.17, h * 0.97, 0),
        (w * 0.17, h * 0.97, 0),
        (w * 0.2, h * 0.84, 0),
    ]
    parts.append(tube(grip, h * 0.07, BLACK, sides=5))
    return fitted(parts, (w, h, d))


def _litter_box(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, (0.85, 0.85, 0.83), (0.3, 0.45, 0.6), plain=True)
    parts = open_box((-w / 2, 0, -d / 2), (w / 2, h * 0.6, d / 2), w * 0.04, own)
    sand = Surface((0.72, 0.66, 0.56), "carpet")
    parts.append(top_face(w * 0.92, d * 0.92, h * 0.3, sand))
    for s in (-1, 1):
        a, b = sorted((s * w * 0.46, s * w / 2))
        parts.append(box((a, h * 0.6, -d * 0.1), (b, h, d / 2), own))
    parts.append(box((-w / 2, h * 0.6, d * 0.46), (w / 2, h, d / 2), own))
    return fitted(parts, (w, h, d))


def _pencil_case(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, *BRIGHT[:4])
    body = cylinder(1, -2.2, 2.2, own, sides=14).tilted(math.pi / 2, "z")
    zipper = box((-2.0, 0.97, -0.1), (2.0, 1.02, 0.1), STEEL)
    tab = box((1.7, 1.0, -0.05), (1.95, 1.08, 0.3), BRASS)
    ends = [
        cylinder(0.8, -0.02, 0.02, shade(own, 0.6), sides=12)
        .tilted(math.pi / 2, "z")
        .moved(s * 2.21, 0, 0)
        for s in (-1, 1)
    ]
    return fitted([body, zipper, tab, *ends], (w, h, d))


BY_NAME: dict[str, Builder] = {
    "box": _cardboard,
    "cardboard_box": _cardboard,
    "storage_box": _storage_box,
    "crate": _crate,
    "basket": _basket,
    "laundry_basket": _basket,
    "bin": _bin,
    "trash_can": _bin,
    "trashcan": _bin,
    "bucket": _bucket,
    "paint_can": _paint_can,
    "tool_box": _tool_box,
    "toolbox": _tool_box,
    "litter_box": _litter_box,
    "pencil_case": _pencil_case,
}
BY_SHAPE: dict[str, Builder] = {"basket": _basket}
