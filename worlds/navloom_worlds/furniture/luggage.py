"""Bags and cases: suitcases, handbags, backpacks, shopping bags."""

from __future__ import annotations

import math

import numpy as np

from navloom.scenes.scene import Item
from navloom_worlds.furniture.making import STEEL, Builder, shade, size_of
from navloom_worlds.furniture.shaping import (
    BLACK,
    BRASS,
    BRIGHT,
    MUTED,
    RUBBER,
    WHITE,
    arc,
    face,
    fitted,
    look,
    open_box,
    pick,
    roll,
    round_corners,
)
from navloom_worlds.furniture.turnery import ball, prism, tube
from navloom_worlds.geometry.solids import Part, Surface, beam, box, cylinder, lathe


def _suitcase(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, *BRIGHT[:2], (0.2, 0.22, 0.26), gloss=0.25)
    low, high = h * 0.07, h * 0.86
    shell = prism(round_corners(w, high - low, w * 0.12), -d / 2, d / 2, own, axis="z")
    parts = [shell.moved(0, (low + high) / 2, 0)]
    for k in range(5):
        x = (k - 2) * w * 0.17
        parts.append(
            box(
                (x - w * 0.015, low + h * 0.06, -d * 0.515),
                (x + w * 0.015, high - h * 0.06, -d * 0.49),
                shade(own, 0.8),
            )
        )
    seam = prism(
        round_corners(w * 1.01, (high - low) * 1.01, w * 0.12), -d * 0.02, d * 0.02, BLACK, axis="z"
    )
    parts.append(seam.moved(0, (low + high) / 2, 0))
    for x in (-0.4, 0.4):
        for z in (-0.36, 0.36):
            wheel = cylinder(h * 0.045, -0.012, 0.012, RUBBER, sides=10).tilted(math.pi / 2, "z")
            parts.append(wheel.moved(x * w, h * 0.045, z * d))
    bar = [
        (-w * 0.2, high, d * 0.2),
        (-w * 0.2, h, d * 0.2),
        (w * 0.2, h, d * 0.2),
        (w * 0.2, high, d * 0.2),
    ]
    parts.append(tube(bar, w * 0.035, STEEL, sides=5))
    grip = [
        (-w * 0.13, high, -d * 0.1),
        (-w * 0.1, high + h * 0.045, -d * 0.1),
        (w * 0.1, high + h * 0.045, -d * 0.1),
        (w * 0.13, high, -d * 0.1),
    ]
    parts.append(tube(grip, w * 0.04, BLACK, sides=5))
    return fitted(parts, (w, h, d))


def _briefcase(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, (0.35, 0.22, 0.13), (0.1, 0.1, 0.1))
    body = prism(round_corners(w, h * 0.86, h * 0.06), -d / 2, d / 2, own, axis="z").moved(
        0, h * 0.43, 0
    )
    parts = [
        body,
        box((-w * 0.502, 0.01, -d * 0.03), (w * 0.502, h * 0.862, d * 0.03), shade(own, 0.5)),
    ]
    for x in (-0.3, 0.3):
        parts.append(face(w * 0.09, h * 0.68, h * 0.78, -d * 0.505, BRASS, x=x * w))
    grip = [
        (-w * 0.14, h * 0.85, 0),
        (-w * 0.11, h * 0.97, 0),
        (w * 0.11, h * 0.97, 0),
        (w * 0.14, h * 0.85, 0),
    ]
    parts.append(tube(grip, h * 0.06, shade(own, 0.7), sides=5))
    return fitted(parts, (w, h, d))


def _bag_body(own: Surface, narrow: float, depth: float) -> Part:
    # A soft body: broad below, drawn together at its top.
    points, rows, n = (
        [],
        [(0, 0.9, 0.9), (0.08, 1, 1), (0.5, 0.98, 0.9), (0.85, 0.86, 0.5), (1, narrow, depth)],
        14,
    )
    for y, w, d in rows:
        for a in np.linspace(0, 2 * math.pi, n, endpoint=False):
            cos, sin = math.cos(a), math.sin(a)
            x, z = (
                abs(cos) ** 0.55 * math.copysign(1, cos),
                abs(sin) ** 0.55 * math.copysign(1, sin),
            )
            points.append((x * w, y, z * d * 0.5))
    r, c = np.meshgrid(np.arange(len(rows) - 1), np.arange(n), indexing="ij")
    low, nxt = (r * n + c).ravel(), (r * n + (c + 1) % n).ravel()
    faces = np.concatenate([np.stack([low, nxt, nxt + n], 1), np.stack([low, nxt + n, low + n], 1)])
    return Part(np.array(points, dtype=np.float32), faces.astype(np.int32), own, smooth=True)


def _handbag(item: Item) -> list[Part]:
    own = look(item, (0.45, 0.22, 0.16), (0.1, 0.1, 0.1), (0.72, 0.55, 0.38))
    dark = shade(own, 0.6)
    body = _bag_body(own, 0.75, 0.25).scaled(1, 0.68, 0.85)
    flap = prism(
        [(-0.8, 0.68), (0.8, 0.68), (0.62, 0.4), (-0.62, 0.4)], -0.46, -0.1, dark, axis="z"
    )
    clasp = box((-0.1, 0.38, -0.49), (0.1, 0.48, -0.44), BRASS)
    handles = [
        tube(arc((0, 0.64, z), (0.5, 0.36), 0, math.pi, n=8), 0.07, dark, sides=5)
        for z in (-0.1, 0.1)
    ]
    return fitted([body, flap, clasp, *handles], size_of(item))


def _bag(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    if h > 0.8:
        return _golf_bag(item)
    own = look(item, *MUTED)
    dark = shade(own, 0.6)
    if roll(item, "kind", 2) or h < 0.8 * w:
        # A holdall with two handles and a zip.
        end = round_corners(0.9, 0.62, 0.26)
        body = prism([(z, y + 0.31) for z, y in end], -1, 1, own, axis="z").turned(math.pi / 2)
        zipper = box((-0.9, 0.615, -0.03), (0.9, 0.635, 0.03), STEEL)
        parts = [body, zipper]
        for s in (-1, 1):
            parts.append(box((s * 0.45 - 0.05, 0, -0.465), (s * 0.45 + 0.05, 0.6, 0.465), dark))
            loop = arc((0, 0.56, s * 0.3), (0.45, 0.44), 0, math.pi, n=8)
            parts.append(tube(loop, 0.08, dark, sides=5))
        pocket = box((-0.3, 0.1, -0.5), (0.3, 0.42, -0.44), shade(own, 0.85))
        return fitted([*parts, pocket], (w, h, d))
    body = _bag_body(own, 0.9, 0.5).scaled(1, 0.66, 1)
    straps = [
        tube(arc((0, 0.62, z), (0.4, 0.38), 0, math.pi), 0.07, dark, sides=4) for z in (-0.2, 0.2)
    ]
    patch = face(0.8, 0.15, 0.42, -0.52, shade(own, 1.3))
    return fitted([body, *straps, patch], (w, h, d))


def _golf_bag(item: Item) -> list[Part]:
    own = look(item, (0.15, 0.3, 0.2), (0.12, 0.12, 0.14))
    tube_body = lathe(
        [(0, 0), (0.8, 0), (0.85, 0.05), (0.75, 0.4), (0.9, 0.68), (0.9, 0.72), (0.7, 0.7)],
        own,
        sides=14,
    )
    pocket = box((-0.5, 0.12, -0.98), (0.5, 0.42, -0.6), shade(own, 1.4))
    strap = tube([(0.8, 0.65, 0), (1.05, 0.5, 0), (0.85, 0.25, 0)], 0.12, BLACK, sides=4)
    parts = [tube_body, pocket, strap]
    for k in range(5):
        a = k * 2.4
        x, z = 0.45 * math.cos(a), 0.45 * math.sin(a)
        top = 0.88 + 0.03 * (k % 4)
        parts.append(beam((x * 0.6, 0.5, z * 0.6), (x, top, z), 0.05, STEEL, sides=5))
        parts.append(
            ball(
                (x * 1.15, top + 0.02, z * 1.15),
                (0.2, 0.03, 0.12),
                BLACK if k % 2 else STEEL,
                sides=7,
                rings=4,
            )
        )
    return fitted(parts, size_of(item))


def _backpack(item: Item) -> list[Part]:
    own = look(item, *BRIGHT[:4], *MUTED[:2])
    dark = shade(own, 0.6)
    body = _bag_body(own, 0.6, 0.45).scaled(1, 1, 0.75)
    pocket = _bag_body(shade(own, 0.85), 0.9, 0.6).scaled(0.72, 0.45, 0.35).moved(0, 0.08, -0.36)
    zip_line = box((-0.62, 0.54, -0.42), (0.62, 0.57, -0.34), BLACK)
    flap = ball((0, 0.9, -0.05), (0.8, 0.13, 0.42), dark, sides=12, rings=5)
    loop = tube(arc((0, 0.98, 0.2), (0.18, 0.1), 0, math.pi), 0.06, BLACK, sides=4)
    straps = [
        tube(
            [(s * 0.45, 0.95, 0.3), (s * 0.6, 0.6, 0.55), (s * 0.55, 0.1, 0.4)], 0.16, dark, sides=4
        )
        for s in (-1, 1)
    ]
    return fitted([body, pocket, zip_line, flap, loop, *straps], size_of(item))


def _shopping_bag(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, (0.75, 0.6, 0.42), (0.93, 0.93, 0.92), *BRIGHT[:2], plain=True)
    low = h * 0.76
    parts = open_box((-w / 2, 0, -d / 2), (w / 2, low, d / 2), 0.003, own)
    logo = Surface(pick(item, BRIGHT, "logo"))
    if logo.rgb == own.rgb:
        logo = WHITE
    parts.append(face(w * 0.5, low * 0.3, low * 0.65, -d / 2 - 5e-4, logo))
    for z in (-0.49, 0.49):
        loop = arc((0, low, z * d), (w * 0.2, h - low), 0, math.pi)
        parts.append(tube(loop, 0.008, shade(own, 0.6), sides=4))
    return fitted(parts, (w, h, d))


BY_NAME: dict[str, Builder] = {
    "suitcase": _suitcase,
    "briefcase": _briefcase,
    "handbag": _handbag,
    "bag": _bag,
    "golf_bag": _golf_bag,
    "backpack": _backpack,
    "shopping_bag": _shopping_bag,
}
BY_SHAPE: dict[str, Builder] = {}
