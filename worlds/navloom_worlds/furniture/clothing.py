"""What people wear: shirts, jackets, hats, shoes, bags of cloth on hooks, folded or hung."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from navloom.scenes.scene import Item
from navloom_worlds.furniture.making import STEEL, Builder, has, shade, size_of
from navloom_worlds.furniture.shaping import (
    BLACK,
    BRIGHT,
    CREAM,
    MUTED,
    RUBBER,
    WHITE,
    WOOD,
    arc,
    fitted,
    look,
    pick,
    roll,
    round_corners,
    top_face,
)
from navloom_worlds.furniture.soft_goods import crumpled, folded
from navloom_worlds.furniture.turnery import ball, prism, ring, tube
from navloom_worlds.geometry.solids import Part, Surface, beam, box, lathe

_INKS = (*MUTED, *BRIGHT[:4], (0.85, 0.84, 0.80))


def _cloth(item: Item) -> Surface:
    # Whatever a garment is said to be made of, it looks like cloth of its colour.
    own = look(item, *_INKS)
    fibres = {"cotton", "wool", "linen", "velvet", "canvas", "silk", "damask"}
    if item.material in fibres:
        return own
    return replace(own, texture="fabric" if own.texture in ("", "wood") else own.texture, gloss=0)


def _garment(item: Item, sleeves: str, open_front: bool) -> list[Part]:
    # Front view, 1 high and about 1 wide: shoulders, sleeves, hem; the front along -z.
    own = _cloth(item)
    dark = shade(own, 0.6 if sum(own.rgb) > 0.6 else 1.8)
    body = [(0.12, 0.98), (0.3, 0.95), (0.32, 0.7), (0.33, 0.0)]
    torso = [*body, *[(-x, y) for x, y in reversed(body)]]
    parts = [prism(torso, -0.5, 0.5, own, axis="z")]
    for side in (-1, 1):
        reach, low = (0.5, 0.25) if sleeves == "long" else (0.52, 0.68)
        sleeve = [(0.28, 0.95), (reach, low + 0.05), (reach - 0.13, low), (0.3, 0.72)]
        outline = [(side * x, y) for x, y in sleeve]
        parts.append(prism(outline, -0.42, 0.42, shade(own, 0.9), axis="z"))
        if sleeves == "long":
            cuff = [(reach, low + 0.05), (reach - 0.13, low), (reach - 0.12, low - 0.03)]
            parts.append(prism([(side * x, y) for x, y in cuff], -0.44, 0.44, dark, axis="z"))
        collar = [(side * 0.02, 0.86), (side * 0.1, 1.0), (side * 0.17, 0.97), (side * 0.13, 0.85)]
        parts.append(prism(collar, -0.56, 0.5, dark, axis="z"))
    if open_front:
        parts.append(box((-0.012, 0.0, -0.53), (0.012, 0.88, -0.49), dark))
        for side in (-1, 1):
            pocket = ((side * 0.2 - 0.08, 0.2, -0.54), (side * 0.2 + 0.08, 0.24, -0.5))
            parts.append(box(*pocket, dark))
    for k in range(4):
        y = 0.12 + 0.2 * k
        parts.append(box((0.015, y, -0.55), (0.04, y + 0.025, -0.5), dark if open_front else STEEL))
    return parts


def _hook(top: float) -> list[Part]:
    path = [(0, top, 0), (0, top + 0.05, 0), *arc((0, top + 0.07, 0), (0.03, 0.03), -1.5, 2.5, n=5)]
    return [tube(path, 0.012, STEEL, sides=4)]


def _hung(item: Item, sleeves: str) -> list[Part]:
    parts = [part.scaled(1, 1, 0.5) for part in _garment(item, sleeves, True)]
    return fitted([*parts, *_hook(0.98)], size_of(item))


def _jacket(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    if h > 1.5 * d and d < 0.1:
        return _hung(item, "long")
    if h > 0.2:
        return fitted(_garment(item, "long", True), (w, h, d))
    return _laid_garment(item, "long", True)


def _laid_garment(item: Item, sleeves: str, open_front: bool) -> list[Part]:
    # Lies on its back, the collar away from whoever stands before it.
    flat = [part.tilted(math.pi / 2) for part in _garment(item, sleeves, open_front)]
    return fitted(flat, size_of(item))


def _shirt(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = _cloth(item)
    if not has(item, "folded") and item.shape:
        return _laid_garment(item, "short", False)
    parts = folded(w, h * 0.85, d, own, 2)
    # A shirt is folded about its collar, which lies on top.
    dark = shade(own, 0.7 if sum(own.rgb) > 0.6 else 1.7)
    for side in (-1, 1):
        wing = [(side * 0.01, 0.2), (side * 0.1, 0.02), (side * 0.22, 0.3), (side * 0.14, 0.46)]
        outline = [(x * w, z * d) for x, z in wing]
        parts.append(prism(outline, h * 0.84, h, dark, axis="y"))
    parts.append(box((-w * 0.02, h * 0.84, -d * 0.44), (w * 0.02, h * 0.9, d * 0.04), dark))
    for k in range(3):
        z = -d * (0.35 - 0.13 * k)
        parts.append(box((-w * 0.01, h * 0.88, z), (w * 0.01, h * 0.94, z + d * 0.02), WHITE))
    return fitted(parts, (w, h, d))


def _sweater(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = replace(_cloth(item), texture="knit")
    parts = folded(w, h * 0.9, d, own, 3)
    collar = ring((0, h * 0.92, d * 0.3), w * 0.16, h * 0.2, shade(own, 0.8), axis="y")
    return fitted([*parts, collar], (w, h, d))


def _clothes(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    if h > 2 * d and h > 0.4:
        return _hung_row(item, w, h, d)
    own = _cloth(item)
    if not has(item, "folded") and item.shape:
        parts = [crumpled(item, w, h, d, own)]
        second = crumpled(item, w * 0.6, h * 0.5, d * 0.6, Surface(pick(item, _INKS, "second")))
        return fitted([*parts, second.turned(1.0).moved(w * 0.08, h * 0.52, -d * 0.05)], (w, h, d))
    # A pile of folded garments, each of another colour.
    count = max(2, round(h / 0.045))
    parts = []
    for k in range(count):
        ink = own if k % 2 == 0 else Surface(pick(item, _INKS, f"ink{k}"), "fabric")
        wide = w * (0.92 + 0.08 * (roll(item, f"w{k}", 100) / 100))
        pile = folded(wide, h / count, d * 0.97, ink, 2)
        parts += [part.moved(0, h * k / count, 0) for part in pile]
    return fitted(parts, (w, h, d))


def _hung_row(item: Item, w: float, h: float, d: float) -> list[Part]:
    # Garments on hangers on one rail, seen from their fronts, one half over the next.
    count = 3 if w > 0.6 else 2
    parts: list[Part] = []
    for k in range(count):
        each = item.model_copy(update={"id": f"{item.id}/{k}", "colour": None, "material": None})
        each = item if k == 0 else each
        made = _garment(each, "long" if roll(each, "sleeve", 2) else "short", bool(k % 2))
        tall = 0.8 + 0.2 * (roll(each, "tall", 100) / 100)
        for part in [*made, *_hook(0.98)]:
            stretched = part.scaled(1, tall, 0.4 / count)
            parts.append(stretched.moved(k * 0.55, 1 - tall, (k - 1) * 0.3))
    return fitted(parts, (w, h, d))


def _bathrobe(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = _cloth(item)
    parts = _garment(item, "long", True)
    belt = shade(own, 0.7 if sum(own.rgb) > 0.6 else 1.7)
    parts.append(box((-0.34, 0.48, -0.53), (0.34, 0.54, 0.5), belt))
    parts.append(box((-0.05, 0.2, -0.58), (-0.01, 0.5, -0.52), belt))
    parts.append(box((0.02, 0.24, -0.58), (0.06, 0.5, -0.52), belt))
    if h < 1.5 * max(d, 0.2):
        return fitted(folded(w, h, d, own), (w, h, d))
    return fitted([*parts, *_hook(0.98)], (w, h, d))


def _scarf(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = _cloth(item)
    band = shade(own, 0.55 if sum(own.rgb) > 0.9 else 1.8)
    fringe = d * 0.12
    # Folded in three, its ends with their fringe to the front.
    parts = [part.moved(0, 0, fringe / 2) for part in folded(w, h, d - fringe, own, 3)]
    for z in (-0.32, -0.24, -0.16, 0.2, 0.28):
        parts.append(top_face(w * 0.97, d * 0.035, h + 0.0006, band, z=z * d))
    for k in range(11):
        x = (k / 10 - 0.5) * w * 0.9
        end = (x + w * 0.01 * (k % 3 - 1), h * 0.05, -d / 2)
        parts.append(beam((x, h * 0.7, -d / 2 + fringe), end, w * 0.025, own))
    return fitted(parts, (w, h, d))


def _hat(item: Item) -> list[Part]:
    own = _cloth(item)
    band = shade(own, 0.45) if sum(own.rgb) > 0.8 else Surface((0.75, 0.68, 0.5))
    brim = lathe([(0.5, 0.1), (1, 0), (1, 0.05), (0.55, 0.18)], own, sides=20)
    crown = [(0.56, 0.12), (0.53, 0.75), (0.42, 0.95), (0.2, 0.88), (0, 0.86)]
    strip = lathe([(0.575, 0.16), (0.56, 0.36)], band, sides=20)
    return fitted([brim, lathe(crown, own, sides=20), strip], size_of(item))


def _cap(item: Item) -> list[Part]:
    own = _cloth(item)
    dome = lathe([(0.98, 0), (1, 0.25), (0.8, 0.7), (0.45, 0.95), (0, 1)], own, sides=14)
    angles = np.linspace(math.pi + 0.5, 2 * math.pi - 0.5, 9)
    peak = [(1.0 * math.cos(a), 1.0 * math.sin(a) - 0.45) for a in angles]
    peak = [(0.85, -0.4), *reversed([(x, z - 0.25) for x, z in peak]), (-0.85, -0.4)]
    bill = prism(peak, 0.0, 0.08, shade(own, 0.7), axis="y")
    button = ball((0, 1, 0), 0.07, shade(own, 0.7), sides=6, rings=4)
    return fitted([dome, bill, button], size_of(item))


def _sole(x: float, long: float = 1.0, wide: float = 0.36) -> list[tuple[float, float]]:
    half = [(-0.5, 0.0), (-0.47, 0.55), (-0.3, 0.95), (-0.1, 0.95), (0.25, 0.72), (0.46, 0.6)]
    side = [(z * long, w * wide / 2) for z, w in half]
    right = [(x + w, z) for z, w in side]
    return [*right, (x, 0.5 * long), *[(x - w, z) for z, w in reversed(side)][:-1]]


def _shoe_at(x: float, own: Surface, kind: int) -> list[Part]:
    # One shoe, its toe along -z; 1 long, about 0.36 wide and 0.36 high.
    sole = prism(_sole(x), 0, 0.07, WHITE if kind == 0 else RUBBER, axis="y")
    upper = _loft(x, own)
    parts = [sole, *upper]
    hole = prism(
        [(x + 0.09 * math.cos(a), 0.28 + 0.15 * math.sin(a)) for a in _TURN],
        0.3,
        0.362,
        BLACK,
        axis="y",
    )
    parts.append(hole)
    if kind == 0:
        for k in range(3):
            z = -0.16 + 0.08 * k
            y = 0.22 + 0.035 * k
            parts.append(box((x - 0.08, y, z), (x + 0.08, y + 0.03, z + 0.03), WHITE))
    else:
        parts.append(box((x - 0.15, 0, 0.28), (x + 0.15, 0.07, 0.47), BLACK))
    return parts


_TURN = np.linspace(0, 2 * math.pi, 11)[:-1]


def _loft(x: float, own: Surface) -> list[Part]:
    # Sections along z: (z, half width, height).
    rows = [
        (-0.49, 0.06, 0.10),
        (-0.42, 0.14, 0.17),
        (-0.25, 0.175, 0.21),
        (0.0, 0.155, 0.30),
        (0.12, 0.14, 0.36),
        (0.45, 0.13, 0.36),
        (0.49, 0.10, 0.33),
    ]
    points, n = [], 7
    for z, half, high in rows:
        for a in np.linspace(0, math.pi, n):
            points.append((x + half * math.cos(a), 0.05 + (high - 0.05) * math.sin(a) ** 0.55, z))
    r, c = np.meshgrid(np.arange(len(rows) - 1), np.arange(n - 1), indexing="ij")
    a = (r * n + c).ravel()
    faces = np.concatenate([np.stack([a, a + 1, a + n + 1], 1), np.stack([a, a + n + 1, a + n], 1)])
    last = (len(rows) - 1) * n
    heel = np.array([[last, last + k, last + k + 1] for k in range(1, n - 1)])
    faces = np.concatenate([faces, heel]).astype(np.int32)
    return [Part(np.array(points, dtype=np.float32), faces, own, smooth=True)]


def _shoe(item: Item) -> list[Part]:
    own = replace(look(item, *_INKS, plain=True), gloss=0.15)
    kind = roll(item, "kind", 2)
    return fitted([*_shoe_at(-0.25, own, kind), *_shoe_at(0.25, own, kind)], size_of(item))


def _boot(item: Item) -> list[Part]:
    own = look(item, (0.35, 0.22, 0.13), (0.1, 0.1, 0.1), (0.2, 0.35, 0.2), plain=True, gloss=0.3)
    parts: list[Part] = []
    for x in (-0.22, 0.22):
        parts += [prism(_sole(x), 0, 0.08, RUBBER, axis="y"), *_loft(x, own)]
        shaft = lathe(
            [(0.14, 0.2), (0.15, 0.5), (0.18, 1.2), (0.16, 1.2), (0.13, 0.6)], own, sides=10
        )
        parts.append(shaft.scaled(1, 1, 1.15).moved(x, 0, 0.27))
        parts.append(ring((x, 1.2, 0.27), 0.17, 0.05, shade(own, 0.6), around=10, axis="y"))
    return fitted(parts, size_of(item))


def _slipper(item: Item) -> list[Part]:
    own = replace(_cloth(item), texture="")
    parts: list[Part] = []
    for x in (-0.24, 0.24):
        parts.append(prism(_sole(x, 1.0, 0.42), 0, 0.07, shade(own, 0.55), axis="y"))
        parts.append(prism(_sole(x, 0.94, 0.38), 0.07, 0.1, CREAM, axis="y"))
        rows = [(z, 0.2 * math.cos(z * 1.2), 0.1 + 0.22 * t) for t, z in _UPPER]
        points = []
        for z, half, high in rows:
            for a in np.linspace(0, math.pi, 7):
                points.append((x + half * math.cos(a), 0.06 + high * math.sin(a) ** 0.7, z))
        r, c = np.meshgrid(np.arange(len(rows) - 1), np.arange(6), indexing="ij")
        a = (r * 7 + c).ravel()
        faces = np.concatenate([np.stack([a, a + 1, a + 8], 1), np.stack([a, a + 8, a + 7], 1)])
        vertices = np.array(points, dtype=np.float32)
        parts.append(Part(vertices, faces.astype(np.int32), own, smooth=True))
    return fitted(parts, size_of(item))


_UPPER = ((0.0, -0.5), (0.5, -0.42), (0.85, -0.22), (1.0, -0.04))


def _hanger(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, WOOD.rgb, (0.1, 0.1, 0.1), plain=item.material == "plastic")
    # It lies flat: its hook to the back.
    parts = [
        tube([(-1, 0, -0.5), (0, 0, 0.1), (1, 0, -0.5)], 0.09, own, sides=5),
        tube([(-1, 0, -0.5), (1, 0, -0.5)], 0.06, own, sides=5),
        tube(
            [(0, 0, 0.1), (0, 0, 0.3), *arc((0.0, 0, 0.45), (0.13, 0.15), -1.57, 2.6, "xz", 7)],
            0.05,
            STEEL,
        ),
    ]
    return fitted(parts, (w, h, d))


def _gloves(item: Item) -> list[Part]:
    own = look(item, (0.12, 0.12, 0.13), (0.4, 0.25, 0.15), plain=True)
    parts: list[Part] = []
    for x, flip in ((-0.5, 1), (0.5, -1)):
        hand = [(px + x, pz + 0.12) for px, pz in round_corners(0.58, 0.75, 0.2)]
        palm = prism(hand, 0, 0.26, own, axis="y")
        hem = [(x - 0.24, 0.4), (x + 0.24, 0.4), (x + 0.3, 0.85), (x - 0.3, 0.85)]
        cuff = prism(hem, 0.02, 0.24, shade(own, 1.5), axis="y")
        parts += [palm, cuff]
        for k in range(4):
            at = x - 0.21 + 0.14 * k
            long = (0.75, 0.88, 0.84, 0.66)[k if flip > 0 else 3 - k]
            parts.append(
                tube(
                    [(at, 0.15, -0.1), (at, 0.14, -long), (at, 0.14, -long - 0.06)],
                    [0.15, 0.13, 0.02],
                    own,
                )
            )
        thumb = [
            (x + flip * 0.2, 0.15, 0.2),
            (x + flip * 0.45, 0.14, -0.2),
            (x + flip * 0.47, 0.14, -0.26),
        ]
        parts.append(tube(thumb, [0.18, 0.14, 0.02], own))
    return fitted(parts, size_of(item))


BY_NAME: dict[str, Builder] = {
    "shirt": _shirt,
    "sweater": _sweater,
    "jacket": _jacket,
    "coat": _jacket,
    "clothes": _clothes,
    "bathrobe": _bathrobe,
    "scarf": _scarf,
    "hat": _hat,
    "cap": _cap,
    "shoe": _shoe,
    "boot": _boot,
    "slipper": _slipper,
    "hanger": _hanger,
    "gloves": _gloves,
}
BY_SHAPE: dict[str, Builder] = {"shoe": _shoe}
