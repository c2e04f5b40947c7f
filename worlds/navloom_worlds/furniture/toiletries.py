"""What stands in bathrooms and on dressing tables: bottles, brushes, soap, paper, small boxes."""

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
    GLASS,
    GREY,
    PAPER,
    RED,
    WHITE,
    WOOD,
    face,
    fitted,
    look,
    pick,
    roll,
    round_corners,
    top_face,
)
from navloom_worlds.furniture.turnery import ball, prism, tube
from navloom_worlds.furniture.vessels import hollow
from navloom_worlds.geometry.solids import Part, Surface, beam, box, cylinder, lathe

_TURN = np.linspace(0, 2 * math.pi, 13)[:-1]
_PASTEL = ((0.95, 0.75, 0.8), (0.7, 0.85, 0.9), (0.85, 0.9, 0.72), (0.93, 0.92, 0.88))


def _toothbrush(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, *BRIGHT, plain=True)
    if h > 1.4 * max(w, d):
        # Brushes in a cup.
        cup = hollow([(0.85, 0), (1, 0.55)], pick(item, (WHITE, GLASS, GREY), "cup"), wall=0.08)
        parts = [cup]
        for k, tone in enumerate((own, Surface(pick(item, BRIGHT, "second")))):
            s = -1 if k else 1
            top = (s * 0.55, 0.88, 0.2 * s)
            parts.append(beam((-s * 0.5, 0.08, 0), top, 0.14, tone, sides=5))
            head = (s * 0.66, 1.0, 0.24 * s)
            parts.append(beam(top, head, 0.18, tone, sides=4))
            parts.append(
                box((top[0] - 0.1, 0.89, top[2] - 0.34), (top[0] + 0.14, 1, top[2]), WHITE)
            )
        return fitted(parts, (w, h, d))
    return fitted(_brush_lying(own), (w, h, d), long=True)


def _brush_lying(own: Surface) -> list[Part]:
    stem = tube([(0, 0.1, 1), (0, 0.14, 0.2), (0, 0.08, -0.6)], [0.2, 0.16, 0.1], own)
    head = box((-0.09, 0.02, -1), (0.09, 0.12, -0.6), own)
    return [stem, head, box((-0.08, 0.12, -0.97), (0.08, 0.36, -0.64), WHITE)]


def _toothpaste(item: Item) -> list[Part]:
    own = look(item, (0.93, 0.93, 0.92), plain=True)
    stripe = Surface(pick(item, BRIGHT, "stripe"))
    # A tube that lies: flat at its far end, its cap to the front.
    rows = [(0.95, 0.5, 0.03), (0.4, 0.5, 0.3), (-0.5, 0.45, 0.45), (-0.65, 0.2, 0.25)]
    points, n = [], 10
    for z, half, high in rows:
        for a in np.linspace(0, 2 * math.pi, n, endpoint=False):
            points.append((half * math.cos(a), high + high * math.sin(a), z))
    r, c = np.meshgrid(np.arange(len(rows) - 1), np.arange(n), indexing="ij")
    a, b = (r * n + c).ravel(), (r * n + (c + 1) % n).ravel()
    faces = np.concatenate([np.stack([a, b, b + n], 1), np.stack([a, b + n, a + n], 1)])
    tube_part = Part(np.array(points, dtype=np.float32), faces.astype(np.int32), own, smooth=True)
    cap = cylinder(0.24, 0, 0.35, stripe, sides=10).tilted(-math.pi / 2).moved(0, 0.27, -0.62)
    band = replace(tube_part.scaled(1.02, 1.02, 0.3), surface=stripe).moved(0, -0.005, -0.1)
    return fitted([tube_part, cap, band], size_of(item), long=True)


def _soap(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, *_PASTEL, plain=True, gloss=0.3)
    dish = prism(
        round_corners(w, d, min(w, d) * 0.35),
        0,
        h * 0.25,
        pick(item, (WHITE, WOOD, GREY), "dish"),
        axis="y",
    )
    bar = ball((0, h * 0.58, 0), (w * 0.42, h * 0.42, d * 0.4), own, sides=14, rings=8)
    return fitted([dish, bar], (w, h, d))


def _pump(item: Item) -> list[Part]:
    own = look(item, (0.93, 0.92, 0.9), (0.3, 0.42, 0.52), *_PASTEL, gloss=0.35)
    body = [(0, 0), (0.95, 0), (1, 0.03), (1, 0.55), (0.8, 0.64), (0.35, 0.68), (0.35, 0.72)]
    metal = pick(item, (STEEL, WHITE, BLACK), "pump")
    stem = cylinder(0.12, 0.7, 0.92, metal, sides=8)
    collar = cylinder(0.38, 0.69, 0.76, metal, sides=12)
    nozzle = tube([(-0.3, 0.95, 0), (0.5, 0.97, 0), (0.8, 0.94, 0), (0.85, 0.88, 0)], 0.2, metal)
    nozzle = nozzle.scaled(1, 0.4, 1).moved(0, 0.57, 0)
    paper = WHITE if sum(own.rgb) < 2 else Surface((0.55, 0.7, 0.62))
    label = lathe([(1.012, 0.18), (1.012, 0.42)], paper)
    return fitted([lathe(body, own), stem, collar, nozzle, label], size_of(item))


def _flask(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, *_PASTEL, *BRIGHT[:4], plain=True, gloss=0.3)
    tall = 0.82 + 0.06 * roll(item, "tall", 2)
    body = prism(round_corners(2, 1.3, 0.45), 0, tall, own, axis="y")
    shoulder = prism(round_corners(1.2, 0.8, 0.3), tall, tall + 0.04, own, axis="y")
    cap = pick(item, (WHITE, BLACK, Surface((0.8, 0.6, 0.3))), "cap")
    top = prism(round_corners(1.05, 0.7, 0.3), tall + 0.03, 1, cap, axis="y")
    label = face(1.4, 0.15, 0.6, -0.652, pick(item, _LABELS, "label"))
    stripe = face(1.4, 0.4, 0.46, -0.655, shade(own, 0.6))
    return fitted([body, shoulder, top, label, stripe], (w, h, d))


_LABELS = (WHITE, Surface((0.9, 0.85, 0.6)), Surface((0.3, 0.5, 0.55)))


def _detergent(item: Item) -> list[Part]:
    own = look(item, (0.15, 0.35, 0.7), (0.9, 0.45, 0.1), (0.93, 0.93, 0.92), plain=True, gloss=0.2)
    outline = [(-1, 0), (1, 0), (1, 1.1), (0.5, 1.5), (-0.2, 1.6), (-0.5, 1.6), (-1, 1.2)]
    body = prism(outline, -0.45, 0.45, own, axis="z")
    hole = prism([(0.45, 0.8), (0.75, 0.8), (0.75, 1.1), (0.45, 1.2)], -0.46, 0.46, BLACK, axis="z")
    cap = cylinder(0.32, 1.55, 1.95, pick(item, (RED, WHITE, Surface((0.2, 0.5, 0.8))), "cap"))
    label = face(1.2, 0.2, 0.95, -0.455, WHITE, x=-0.25)
    badge = face(0.8, 0.4, 0.7, -0.46, Surface(pick(item, BRIGHT, "badge")), x=-0.25)
    return fitted([body, hole, cap.moved(-0.35, 0, 0), label, badge], size_of(item))


def _perfume(item: Item) -> list[Part]:
    own = look(item, (0.92, 0.80, 0.65), (0.80, 0.70, 0.85), (0.7, 0.85, 0.88), gloss=0.8)
    body = (
        prism(round_corners(1, 0.7, 0.12), 0, 0.7, own, axis="y") if roll(item, "kind", 2) else None
    )
    round_body = lathe([(0, 0), (0.3, 0), (0.5, 0.3), (0.42, 0.55), (0.15, 0.68)], own)
    neck = cylinder(0.12, 0.68, 0.78, BRASS, sides=8)
    cap = pick(item, (BRASS, BLACK, STEEL), "cap")
    label = face(0.5, 0.2, 0.45, -0.355, WHITE)
    top = cylinder(0.2, 0.76, 1, cap, sides=10)
    return fitted([body or round_body, neck, top, *([label] if body else [])], size_of(item))


def _cosmetics(item: Item) -> list[Part]:
    # Several small things side by side: a jar, a lipstick, a bottle.
    own = look(item, *_PASTEL, *BRIGHT[:1], plain=True, gloss=0.3)
    gold = pick(item, (BRASS, BLACK, STEEL), "gold")
    jar = [cylinder(0.42, 0, 0.34, own), cylinder(0.44, 0.34, 0.52, gold)]
    stick = [cylinder(0.14, 0, 0.5, gold, sides=8), cylinder(0.1, 0.5, 0.68, RED, sides=8)]
    bottle = [
        lathe([(0, 0), (0.2, 0), (0.2, 0.6), (0.08, 0.68), (0.08, 1), (0, 1)], shade(own, 0.75))
    ]
    parts = [part.moved(-0.3, 0, -0.1) for part in jar]
    parts += [part.moved(0.35, 0, -0.35) for part in stick]
    return fitted([*parts, *(part.moved(0.45, 0, 0.2) for part in bottle)], size_of(item))


def _razor(item: Item) -> list[Part]:
    own = look(item, *BRIGHT[:2], (0.2, 0.2, 0.22), plain=True)
    stem = tube([(0, 0.2, 1), (0, 0.3, 0.2), (0, 0.5, -0.7)], [0.24, 0.3, 0.18], own)
    head = box((-0.5, 0.3, -1), (0.5, 0.62, -0.7), own)
    blades = box((-0.45, 0.25, -1.04), (0.45, 0.58, -0.98), STEEL)
    return fitted([stem, head, blades], size_of(item), long=True)


def _cup_of_things(item: Item) -> list[Part]:
    # A bathroom utensil: a beaker with brushes and combs.
    own = look(item, (0.93, 0.92, 0.9), *_PASTEL, gloss=0.3)
    parts = [hollow([(0.8, 0), (0.95, 0.03), (1, 0.62)], own, wall=0.1)]
    for k in range(3):
        x, tone = -0.4 + 0.4 * k, Surface(pick(item, BRIGHT, f"b{k}"))
        top = 0.85 + 0.07 * k
        parts.append(beam((x * 0.6, 0.05, 0), (x * 1.4, top, 0.1 * k), 0.16, tone, sides=5))
        if k != 1:
            parts.append(ball((x * 1.45, top, 0.1 * k), (0.16, 0.1, 0.16), WHITE, sides=7, rings=5))
    return fitted(parts, size_of(item))


def _toilet_paper(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    # The roll stands, so that its core is seen; a loose sheet sticks out to its side.
    paper = PAPER
    profile = [(1, 0), (1, 0), (1, 2), (1, 2), (0.36, 2), (0.36, 2), (0.36, 1.2)]
    card, dark = Surface((0.62, 0.5, 0.36)), Surface((0.3, 0.23, 0.17))
    parts = [lathe(profile, paper, sides=20), lathe([(0.36, 2.005), (0.31, 2.005)], card)]
    parts += [lathe([(0.31, 2.0), (0.31, 1.2), (0, 1.2)], dark), _layers(paper)]
    sheet = box((0, 0.02, -1.03), (1.25, 1.98, -0.99), shade(paper, 0.94))
    return fitted([*parts, sheet], (w, h, d))


def _layers(paper: Surface) -> Part:
    # A line around the top, as paper is wound.
    return lathe([(0.72, 2.006), (0.66, 2.006)], shade(paper, 0.85), sides=20)


def _toilet_brush(item: Item) -> list[Part]:
    own = look(item, (0.93, 0.93, 0.92), (0.74, 0.75, 0.77))
    pot = lathe([(0, 0), (1, 0), (0.9, 0.32), (0.75, 0.35), (0.3, 0.36)], own)
    stem = cylinder(0.12, 0.34, 0.92, STEEL if sum(own.rgb) < 2 else own, sides=8)
    grip = lathe([(0.14, 0.84), (0.22, 0.88), (0.22, 0.97), (0.1, 1), (0, 1)], own, sides=10)
    return fitted([pot, stem, grip], size_of(item))


def _scale(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, (0.85, 0.9, 0.92), (0.12, 0.12, 0.13), gloss=0.7)
    parts = [prism(round_corners(w, d, w * 0.1), h * 0.4, h * 0.96, own, axis="y")]
    parts += [
        cylinder(w * 0.07, 0, h * 0.4, BLACK, sides=6).moved(x * w, 0, z * d) for x, z in _FEET
    ]
    parts.append(
        top_face(w * 0.3, d * 0.14, h * 0.98, Surface((0.1, 0.12, 0.1), gloss=0.3), z=d * 0.32)
    )
    digits = Surface((0.75, 0.85, 0.75), glow=0.5)
    for x in (-0.06, 0.0, 0.06):
        parts.append(top_face(w * 0.04, d * 0.09, h, digits, x=x * w, z=d * 0.32))
    for x in (-0.27, 0.27):
        parts.append(top_face(w * 0.18, d * 0.5, h * 0.98, STEEL, x=x * w, z=-d * 0.08))
    return fitted(parts, (w, h, d))


_FEET = ((-0.35, -0.35), (0.35, -0.35), (0.35, 0.35), (-0.35, 0.35))


def _hairdryer(item: Item) -> list[Part]:
    own = look(item, *BRIGHT[:1], (0.12, 0.12, 0.13), (0.93, 0.93, 0.92), plain=True, gloss=0.3)
    # It lies on its side: the barrel along x, the handle to the front.
    barrel = lathe(
        [(0.3, -1), (0.34, -0.2), (0.55, 0.1), (0.55, 0.6), (0.35, 0.75), (0, 0.76)], own
    )
    body = barrel.tilted(math.pi / 2, "z").moved(0, 0.55, 0)
    nozzle = lathe([(0.36, -1.25), (0.32, -0.98), (0.2, -0.98)], BLACK).tilted(math.pi / 2, "z")
    handle = tube(
        [(-0.25, 0.5, -0.3), (-0.3, 0.45, -1.0), (-0.35, 0.4, -1.5)], [0.5, 0.42, 0.36], own
    )
    switch = box((-0.4, 0.6, -0.9), (-0.2, 0.72, -0.65), BLACK)
    parts = [body, nozzle.moved(0, 0.55, 0), handle, switch]
    _, h, d = size_of(item)
    if h > 1.5 * d:
        # It stands on its handle.
        parts = [part.tilted(math.pi / 2) for part in parts]
    return fitted(parts, size_of(item))


def _hair_brush(item: Item) -> list[Part]:
    own = look(item, WOOD.rgb, (0.12, 0.12, 0.13), *BRIGHT[:1], plain=item.material == "plastic")
    outline = [(0.5 * math.cos(a), 0.85 * math.sin(a) - 0.7) for a in _TURN]
    head = prism(outline, 0.38, 0.6, own, axis="y")
    bristles = prism(
        [(x * 0.8, -0.7 + (z + 0.7) * 0.8) for x, z in outline], 0.0, 0.38, BLACK, axis="y"
    )
    handle = tube([(0, 0.5, 0), (0, 0.5, 1.3), (0, 0.5, 1.6)], [0.2, 0.26, 0.16], own)
    # Its bristles point up, so that they are seen.
    parts = [part.scaled(1, -1, 1).moved(0, 0.7, 0) for part in (head, bristles, handle)]
    pins = [
        box((x - 0.02, 0.7, z - 0.02), (x + 0.02, 0.82, z + 0.02), GREY)
        for x in (-0.2, 0.0, 0.2)
        for z in (-1.1, -0.85, -0.6, -0.35)
    ]
    return fitted([*parts, *pins], size_of(item), long=True)


def _comb(item: Item) -> list[Part]:
    own = look(item, (0.1, 0.1, 0.1), (0.45, 0.28, 0.15), plain=True)
    spine = box((0.1, 0, -1), (0.5, 1, 1), own)
    teeth = [box((-0.5, 0.2, z), (0.12, 0.8, z + 0.05), own) for z in np.linspace(-0.98, 0.92, 22)]
    return fitted([spine, *teeth], size_of(item), long=True)


def _tissue_box(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, *_PASTEL, (0.3, 0.42, 0.52), plain=True)
    low = h * 0.78
    parts = [box((-w / 2, 0, -d / 2), (w / 2, low, d / 2), own)]
    for y in (0.3, 0.5):
        parts.append(face(w, low * y, low * (y + 0.08), -d / 2 - 4e-4, shade(own, 0.75)))
    slot = [(w * 0.3 * math.cos(a), d * 0.18 * math.sin(a)) for a in _TURN]
    parts.append(prism(slot, low, low + 4e-4, BLACK, axis="y"))
    tip = [(-0.24, 0.0), (0.24, 0.0), (0.12, 0.6), (0.16, 1.0), (-0.02, 0.75), (-0.14, 0.95)]
    sheet = prism(
        [(x * w, low + y * (h - low)) for x, y in tip], -d * 0.02, d * 0.02, WHITE, axis="z"
    )
    return fitted([*parts, sheet, sheet.turned(0.7).scaled(0.7, 1, 0.4)], (w, h, d))


def _first_aid(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, (0.93, 0.93, 0.92), (0.78, 0.13, 0.12), plain=True, gloss=0.2)
    cross = RED if sum(own.rgb) > 2 else WHITE
    z = -d * 0.5
    body = prism(round_corners(w, h * 0.88, h * 0.1), -d * 0.47, d / 2, own, axis="z").moved(
        0, h * 0.44, 0
    )
    parts = [
        body,
        face(w * 0.42, h * 0.36, h * 0.52, z, cross),
        face(h * 0.16, h * 0.2, h * 0.68, z, cross),
    ]
    grip = [
        (-w * 0.15, h * 0.86, 0),
        (-w * 0.12, h * 0.97, 0),
        (w * 0.12, h * 0.97, 0),
        (w * 0.15, h * 0.86, 0),
    ]
    parts.append(tube(grip, h * 0.05, GREY, sides=5))
    return fitted(parts, (w, h, d))


def _jewelry_box(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, (0.4, 0.24, 0.14), (0.92, 0.9, 0.86))
    velvet = Surface((0.5, 0.1, 0.16))
    low = h * (0.45 if has(item, "open") else 0.62)
    parts = [box((-w / 2, 0, -d * 0.47), (w / 2, low, d / 2), own)]
    if has(item, "open"):
        parts.append(
            box((-w * 0.45, low - h * 0.02, -d * 0.42), (w * 0.45, low + 1e-3, d * 0.42), velvet)
        )
        lid = box((-w / 2, 0, 0), (w / 2, h * 0.56, h * 0.1), own)
        parts.append(lid.moved(0, low, d / 2 - h * 0.1))
        parts.append(face(w * 0.85, low + h * 0.06, h * 0.94, d / 2 - h * 0.1 - 5e-4, GLASS))
        for k in range(3):
            gem = ball(
                (w * (0.2 * k - 0.2), low + h * 0.04, -d * 0.1), h * 0.05, BRASS, sides=6, rings=4
            )
            parts.append(gem)
    else:
        parts.append(box((-w / 2, low + h * 0.02, -d * 0.47), (w / 2, h * 0.97, d / 2), own))
        parts.append(box((-w * 0.48, low, -d * 0.45), (w * 0.48, low + h * 0.02, d * 0.48), BLACK))
        parts.append(top_face(w * 0.75, d * 0.7, h * 0.975, shade(own, 0.6)))
    clasp = box((-w * 0.05, low - h * 0.16, -d / 2), (w * 0.05, low + h * 0.04, -d * 0.46), BRASS)
    return fitted([*parts, clasp], (w, h, d))


BY_NAME: dict[str, Builder] = {
    "toothbrush": _toothbrush,
    "toothpaste": _toothpaste,
    "soap": _soap,
    "soap_dispenser": _pump,
    "liquid_soap": _pump,
    "dish_soap": _pump,
    "shampoo": _flask,
    "lotion": _flask,
    "detergent": _detergent,
    "bottle_of_detergent": _detergent,
    "perfume": _perfume,
    "cosmetics": _cosmetics,
    "razor": _razor,
    "bathroom_utensil": _cup_of_things,
    "toilet_paper": _toilet_paper,
    "toilet_brush": _toilet_brush,
    "scale": _scale,
    "hairdryer": _hairdryer,
    "hair_dryer": _hairdryer,
    "hair_brush": _hair_brush,
    "comb": _comb,
    "tissue_box": _tissue_box,
    "first_aid_kit": _first_aid,
    "jewelry_box": _jewelry_box,
}
BY_SHAPE: dict[str, Builder] = {}
