"""Tubs and showers, and what towels hang on."""

from __future__ import annotations

import math

from navloom.scenes.scene import Item
from navloom_worlds.furniture.joinery import framed_hole
from navloom_worlds.furniture.making import (
    BLACK,
    CERAMIC,
    CHROME,
    WATER,
    WHITE,
    Builder,
    has,
    shade,
    size_of,
)
from navloom_worlds.furniture.turnery import Oval, ball, loft, prism, ring_plate, slab, tube, wheel
from navloom_worlds.geometry.colours import surface_of
from navloom_worlds.geometry.solids import Part, Surface, beam, box, cylinder


def bathtub(item: Item) -> list[Part]:
    """A white tub one sees into, along its longer side; its tap at one end; full, water in it."""
    w, h, d = size_of(item)
    look = surface_of(item)
    along = w >= d
    long, wide = (w, d) if along else (d, w)
    steps = 28
    turn = [2 * math.pi * k / steps for k in range(steps)]

    def oval(a: float, b: float, power: float) -> Oval:
        out = []
        for t in turn:
            c, s = math.cos(t), math.sin(t)
            out.append(
                (math.copysign(abs(c) ** power, c) * a, math.copysign(abs(s) ** power, s) * b)
            )
        return out

    rim = oval(long / 2, wide / 2, 0.25)
    inner = oval(long / 2 - 0.07, wide / 2 - 0.07, 0.5)
    floor = oval(long / 2 - 0.2, wide / 2 - 0.16, 0.55)
    parts = [
        loft(oval(long / 2 - 0.01, wide / 2 - 0.01, 0.25), 0, rim, h - 0.04, shade(look, 0.97)),
        loft(rim, h - 0.04, rim, h, look),
        ring_plate(rim, inner, h, look),
        loft(floor, 0.1, inner, h, shade(look, 0.95)),
        prism(floor, 0.098, 0.1, shade(look, 0.95), axis="y"),
        wheel((long / 2 - 0.3, 0.103, 0), 0.025, 0.006, CHROME, axis="y", sides=10),
        wheel((long / 2 - 0.098, h - 0.14, 0), 0.03, 0.02, CHROME, sides=10),
    ]
    if has(item, "full"):
        t = 0.72
        water = [
            (a + (c - a) * t, b + (e - b) * t) for (a, b), (c, e) in zip(floor, inner, strict=True)
        ]
        parts.append(prism(water, h * t, h * t + 0.002, WATER, axis="y"))
    for s in (-1, 1):
        parts.append(
            cylinder(0.018, h, h + 0.05, CHROME, sides=8).moved(long / 2 - 0.035, 0, s * 0.09)
        )
        parts.append(
            ball((long / 2 - 0.035, h + 0.06, s * 0.09), (0.024, 0.012, 0.024), CHROME, sides=8)
        )
    spout = [
        (long / 2 - 0.035, h, 0),
        (long / 2 - 0.035, h + 0.1, 0),
        (long / 2 - 0.09, h + 0.12, 0),
        (long / 2 - 0.15, h + 0.08, 0),
    ]
    parts.append(tube(spout, 0.028, CHROME))
    return parts if along else [p.turned(math.pi / 2) for p in parts]


def shower(item: Item) -> list[Part]:
    """A tray with a drain, a wall with a rail, head and mixer, glass sides in thin frames."""
    return _shower(item, closed=False)


def shower_cabin(item: Item) -> list[Part]:
    """A shower with a roof, a back wall and framed doors."""
    return _shower(item, closed=True)


def _shower(item: Item, *, closed: bool) -> list[Part]:
    w, h, d = size_of(item)
    x, near, far = w / 2, -d / 2, d / 2
    tray = 0.1
    bar = 0.03
    frame = CHROME
    tiles = Surface((0.80, 0.87, 0.89), gloss=0.4)
    parts = [
        *framed_hole(w, d, w - 0.12, d - 0.12, 0.0, tray, WHITE),
        slab(w - 0.1, d - 0.1, 0.0, tray - 0.04, shade(CERAMIC, 0.93)),
        wheel((0, tray - 0.035, 0), 0.05, 0.01, CHROME, axis="y", sides=14),
        box((-x, tray, far - 0.02), (x, h, far), tiles),
    ]
    for sx in (-1, 1):
        parts.append(
            beam(
                (sx * (x - bar / 2), tray, near + bar / 2),
                (sx * (x - bar / 2), h, near + bar / 2),
                bar,
                frame,
            )
        )
    for y in (tray + bar / 2, h - bar / 2):
        parts.append(beam((-x, y, near + bar / 2), (x, y, near + bar / 2), bar, frame))
        for sx in (-1, 1):
            parts.append(
                beam((sx * (x - bar / 2), y, near), (sx * (x - bar / 2), y, far), bar, frame)
            )
    # Glass is shown by its frames, and by frosted bands that one sees past.
    band = Surface((0.86, 0.92, 0.93), gloss=0.5)
    gap = has(item, "open")
    for k, y in enumerate((0.62, 0.74, 0.86, 0.98, 1.10)):
        if y + 0.05 < h:
            right = x * 0.05 if gap else x - bar
            parts.append(
                box((-x + bar, y, near + 0.012), (right, y + 0.05 - 0.004 * k, near + 0.018), band)
            )
            parts.append(
                box((x - 0.018, y, near + bar), (x - 0.012, y + 0.05 - 0.004 * k, far - 0.02), band)
            )
    mid = x * 0.05
    parts.append(beam((mid, tray, near + 0.015), (mid, h, near + 0.015), 0.02, frame))
    parts.append(
        beam(
            (mid + 0.08, h * 0.45, near + 0.012),
            (mid + 0.08, h * 0.58, near + 0.012),
            0.022,
            frame,
            sides=6,
        )
    )
    if gap:
        # One leaf is slid behind the other.
        parts.append(beam((mid - 0.1, tray, near + 0.04), (mid - 0.1, h, near + 0.04), 0.02, frame))
    if closed:
        parts.append(slab(w, d, h - 0.06, h, WHITE))
        parts.append(box((-x, tray, near + 0.1), (-x + 0.02, h - 0.06, far), tiles))
        parts.append(
            box(
                (-0.12, h * 0.2, far - 0.06),
                (0.12, h * 0.85, far - 0.02),
                Surface((0.35, 0.38, 0.4), gloss=0.4),
            )
        )
    return parts + _shower_head(h, far - (0.06 if closed else 0.02))


def _shower_head(h: float, wall: float) -> list[Part]:
    """A rail with a hand shower, its hose, a broad head over it, and a mixer."""
    head = h * 0.93
    pipe = [
        (0, h * 0.5, wall - 0.04),
        (0, head - 0.05, wall - 0.04),
        (0, head, wall - 0.1),
        (0, head, wall - 0.34),
    ]
    hose = [
        (0.02, h * 0.5, wall - 0.05),
        (0.14, h * 0.34, wall - 0.07),
        (0.2, h * 0.45, wall - 0.07),
        (0.09, h * 0.66, wall - 0.09),
    ]
    return [
        tube(pipe, 0.024, CHROME),
        wheel((0, head - 0.025, wall - 0.34), 0.11, 0.015, CHROME, axis="y", sides=18),
        wheel((0, head - 0.034, wall - 0.34), 0.1, 0.006, BLACK, axis="y", sides=18),
        wheel((0, h * 0.5, wall - 0.045), 0.035, 0.24, CHROME, sides=10),
        tube(hose, 0.016, CHROME),
        wheel((0.09, h * 0.69, wall - 0.12), 0.045, 0.03, CHROME, axis="z", sides=12).tilted(0.0),
        beam((0, h * 0.67, wall - 0.04), (0.09, h * 0.67, wall - 0.1), 0.025, CHROME, sides=6),
    ]


def towel_rack(item: Item) -> list[Part]:
    """Two ladders' sides with bars between them, towels hung over some."""
    w, h, d = size_of(item)
    look = surface_of(item)
    x, thick = w / 2 - 0.015, 0.026
    parts = []
    for s in (-1, 1):
        for z in (-d / 2 + 0.015, d / 2 - 0.015):
            parts.append(beam((s * x, 0, z), (s * x, h - 0.015, z), thick, look, sides=6))
        parts.append(
            beam((s * x, h - 0.015, -d / 2), (s * x, h - 0.015, d / 2), thick, look, sides=6)
        )
    pitch = (h - 0.03) / 3
    for k in range(3):
        y = 0.03 + pitch * k
        for j in range(5):
            z = -d / 2 + 0.02 + (d - 0.04) * j / 4
            parts.append(beam((-x, y - 0.01, z), (x, y - 0.01, z), 0.018, look, sides=6))
    for z in (-d / 2 + 0.015, d / 2 - 0.015):
        parts.append(beam((-x, h - 0.015, z), (x, h - 0.015, z), 0.022, look, sides=6))
    towel = Surface((0.55, 0.72, 0.78))
    z = -d / 2 + 0.015
    for y0, z1 in ((h * 0.45, z - 0.012), (h * 0.6, z + 0.025)):
        parts.append(box((-w * 0.3, y0, min(z, z1)), (w * 0.12, h, max(z, z1)), towel))
    return parts


BY_NAME: dict[str, Builder] = {
    "bathtub": bathtub,
    "shower": shower,
    "shower_cabin": shower_cabin,
    "towel_rack": towel_rack,
}
BY_SHAPE: dict[str, Builder] = {"bathtub": bathtub, "shower": shower}
