"""What people ride: bicycles, cars, a horse that rocks."""

from __future__ import annotations

import math

import numpy as np

from navloom.scenes.scene import Item
from navloom_worlds.furniture.making import (
    BLACK,
    CHROME,
    IRON,
    LIT,
    RUBBER,
    STEEL,
    Builder,
    dice_of,
    lightness,
    shade,
    size_of,
    vivid,
)
from navloom_worlds.furniture.turnery import ball, prism, ring, rounded, sheet, slab, tube, wheel
from navloom_worlds.geometry.colours import surface_of
from navloom_worlds.geometry.solids import Part, Surface, beam, box


def bicycle(item: Item) -> list[Part]:
    """Two spoked wheels, a diamond frame, saddle, handlebars, a chain and pedals; along x."""
    w, h, d = size_of(item)
    look = surface_of(item)
    along = w >= d
    long, wide = (w, d) if along else (d, w)
    r = min(h * 0.32, long * 0.195)
    tyre = 0.035
    back, front = (-long / 2 + r, r), (long / 2 - r, r)
    seat, head = (-long * 0.13, h * 0.78), (long * 0.22, h * 0.8)
    crank = (-long * 0.06, r * 0.85)

    def bar(
        a: tuple[float, float], b: tuple[float, float], thick: float, paint: Surface, z: float = 0.0
    ) -> Part:
        return beam((a[0], a[1], z), (b[0], b[1], z), thick, paint, sides=6)

    saddle = (seat[0] - long * 0.02, h * 0.9)
    parts = [
        bar(seat, crank, 0.032, look),
        bar(seat, head, 0.032, look),
        bar(crank, (head[0] + long * 0.005, head[1] - h * 0.08), 0.036, look),
        bar(seat, saddle, 0.025, CHROME),
        bar((head[0] - 0.012, h * 0.93), (head[0] + 0.005, head[1] - h * 0.1), 0.036, look),
    ]
    for z in (-0.035, 0.035):
        parts += [
            bar(crank, back, 0.018, look, z),
            bar(seat, back, 0.016, look, z),
            bar((head[0] + 0.005, head[1] - h * 0.1), front, 0.022, look, z),
        ]
    for x, y in (back, front):
        parts.append(ring((x, y, 0), r - tyre / 2, tyre, RUBBER, axis="z", around=24, sides=5))
        parts.append(ring((x, y, 0), r - tyre - 0.008, 0.016, STEEL, axis="z", around=22, sides=3))
        parts.append(wheel((x, y, 0), 0.02, 0.08, STEEL, axis="z", sides=8))
        for k in range(7):
            a = math.pi * k / 7
            c, s = math.cos(a) * (r - tyre), math.sin(a) * (r - tyre)
            parts.append(beam((x - c, y - s, 0), (x + c, y + s, 0), 0.004, STEEL))
    outline = [
        (saddle[0] - 0.13, -0.08),
        (saddle[0] - 0.13, 0.08),
        (saddle[0], 0.05),
        (saddle[0] + 0.14, 0.018),
        (saddle[0] + 0.14, -0.018),
        (saddle[0], -0.05),
    ]
    parts.append(prism(outline, saddle[1] - 0.01, saddle[1] + 0.045, BLACK, axis="y"))
    top = h - 0.02
    parts.append(bar((head[0] - 0.012, h * 0.92), (head[0] - 0.01, top), 0.028, CHROME))
    for s in (-1, 1):
        grip = [
            (head[0] - 0.01, top, 0),
            (head[0], top, s * wide * 0.3),
            (head[0] - 0.1, top, s * wide * 0.47),
            (head[0] - 0.17, top, s * wide * 0.48),
        ]
        parts.append(tube(grip, 0.026, BLACK))
        end = (crank[0] + s * 0.1, crank[1] - s * 0.12)
        parts.append(bar(crank, end, 0.02, STEEL, s * 0.06))
        parts.append(slab(0.09, 0.08, end[1] - 0.01, end[1] + 0.01, BLACK, x=end[0], z=s * 0.1))
    parts.append(
        ring((crank[0], crank[1], 0.045), 0.08, 0.012, STEEL, axis="z", around=16, sides=4)
    )
    for s in (-1, 1):
        parts.append(
            bar((crank[0], crank[1] + s * 0.075), (back[0], back[1] + s * 0.03), 0.008, IRON, 0.045)
        )
    parts.append(
        ball(
            (head[0] + 0.05, h * 0.85, 0),
            (0.035, 0.035, 0.035),
            LIT if lightness(look) < 0 else CHROME,
            sides=8,
        )
    )
    return parts if along else [p.turned(math.pi / 2) for p in parts]


def car(item: Item) -> list[Part]:
    """A hatchback: wheels, a cabin with windows, lamps, a bumper, mirrors; its front along -z."""
    w, h, d = size_of(item)
    look = surface_of(item)
    if lightness(look) > 0.85:
        look = Surface(vivid(dice_of(item).random(), 0.7, 0.6), gloss=0.6)
    paint = Surface(look.rgb, gloss=0.6)
    x = w / 2 - 0.1
    r = min(0.33, h * 0.22)
    belt = h * 0.56
    side = [
        (-0.5, 0.16),
        (-0.5, 0.36),
        (-0.47, 0.44),
        (-0.44, 0.48),
        (-0.24, 0.56),
        (-0.2, 0.575),
        (0.42, 0.6),
        (0.48, 0.55),
        (0.5, 0.4),
        (0.5, 0.18),
        (0.44, 0.13),
        (-0.46, 0.13),
    ]
    body = [(a * d, b * h) for a, b in side]
    parts = [prism(body, -x, x, paint)]
    cabin_low = [(-0.245, 0.55), (0.45, 0.58)]
    cabin_high = [(-0.09, 0.965), (0.34, 0.965)]
    inset = w * 0.1
    parts += _cabin(
        [(z * d, y * h) for z, y in cabin_low],
        [(z * d, y * h) for z, y in cabin_high],
        x,
        inset,
        paint,
        h,
    )
    for sx in (-1, 1):
        for z in (-d * 0.32, d * 0.31):
            cx = sx * (x - 0.05)
            parts.append(wheel((cx, r + 0.02, z), r * 1.16, 0.22, BLACK, sides=20))
            parts.append(wheel((cx + sx * 0.06, r, z), r, 0.17, RUBBER, sides=20))
            parts.append(wheel((cx + sx * 0.14, r, z), r * 0.62, 0.03, STEEL, sides=10))
            parts.append(wheel((cx + sx * 0.15, r, z), r * 0.18, 0.03, IRON, sides=8))
        lamp_x = sx * x * 0.68
        parts.append(
            rounded(
                (lamp_x - 0.17, h * 0.38, -d / 2 - 0.0),
                (lamp_x + 0.17, h * 0.46, -d / 2 + 0.14),
                0.03,
                Surface((0.95, 0.96, 0.98), gloss=0.7),
            )
        )
        parts.append(
            box(
                (lamp_x - 0.1, h * 0.42, d / 2 - 0.06),
                (lamp_x + 0.12, h * 0.54, d / 2),
                Surface((0.75, 0.08, 0.08), gloss=0.6),
            )
        )
        parts.append(
            rounded((sx * x, belt, -d * 0.17), (sx * w / 2, belt + 0.13, -d * 0.13), 0.03, paint)
            if sx > 0
            else rounded((-w / 2, belt, -d * 0.17), (-x, belt + 0.13, -d * 0.13), 0.03, paint)
        )
        for z in (-0.02, 0.19):
            y = belt - 0.07
            lo, hi = sorted((sx * x, sx * (x + 0.012)))
            parts.append(box((lo, y, z * d), (hi, y + 0.03, z * d + 0.16), shade(paint, 0.5)))
        for z in (-0.2, 0.1, 0.27):
            lo, hi = sorted((sx * x, sx * (x + 0.003)))
            parts.append(box((lo, h * 0.2, z * d), (hi, belt, z * d + 0.012), shade(paint, 0.4)))
    parts += [
        box((-x * 0.5, h * 0.22, -d / 2 - 0.0), (x * 0.5, h * 0.34, -d / 2 + 0.02), BLACK),
        box((-0.26, h * 0.24, -d / 2), (0.26, h * 0.3, -d / 2 + 0.015), Surface((0.95, 0.95, 0.9))),
        box((-0.26, h * 0.3, d / 2 - 0.012), (0.26, h * 0.37, d / 2), Surface((0.95, 0.9, 0.6))),
        box((-x, h * 0.13, -d / 2 + 0.02), (x, h * 0.17, d / 2 - 0.02), shade(paint, 0.35)),
    ]
    return parts


def _cabin(
    low: list[tuple[float, float]],
    high: list[tuple[float, float]],
    x: float,
    inset: float,
    paint: Surface,
    h: float,
) -> list[Part]:
    """Glass all around between the belt and a painted roof, with posts."""
    glass = Surface((0.12, 0.15, 0.18), gloss=0.8)
    (z0, y0), (z3, y3) = low
    (z1, y1), (z2, y2) = high
    top = x - inset

    def face(points: list[tuple[float, float, float]]) -> Part:
        return sheet([[points[0], points[1]], [points[3], points[2]]], glass, smooth=False)

    parts = [
        face([(-x, y0, z0), (x, y0, z0), (top, y1, z1), (-top, y1, z1)]),
        face([(-x, y3, z3), (x, y3, z3), (top, y2, z2), (-top, y2, z2)]),
    ]
    for s in (-1, 1):
        parts.append(face([(s * x, y0, z0), (s * x, y3, z3), (s * top, y2, z2), (s * top, y1, z1)]))
        corners = [((s * x, y0, z0), (s * top, y1, z1)), ((s * x, y3, z3), (s * top, y2, z2))]
        mid = (z0 + z3) / 2, (z1 + z2) / 2
        corners.append(((s * x, (y0 + y3) / 2, mid[0]), (s * top, y1, mid[1])))
        parts += [beam(a, b, 0.07, paint) for a, b in corners]
    parts.append(
        rounded((-top - 0.03, y1 - 0.03, z1 - 0.03), (top + 0.03, h, z2 + 0.04), 0.03, paint)
    )
    return parts


def rocking_horse(item: Item) -> list[Part]:
    """A horse on two runners: body, legs, neck, head, mane, saddle; its head along -z."""
    w, h, d = size_of(item)
    look = surface_of(item)
    mane, red = Surface((0.25, 0.15, 0.09)), Surface((0.7, 0.15, 0.15))
    turn = np.linspace(-1, 1, 11)
    parts = []
    for s in (-1, 1):
        x = s * (w / 2 - 0.02)
        parts.append(tube([(x, 0.02 + 0.1 * t * t, t * (d / 2 - 0.02)) for t in turn], 0.035, red))
        for z, tilt in ((-d * 0.22, -0.06), (d * 0.24, 0.06)):
            parts.append(
                beam((x * 0.8, 0.06, z + tilt * 1.5), (s * w * 0.2, h * 0.5, z * 0.75), 0.05, look)
            )
    for z in (-d * 0.3, d * 0.32):
        parts.append(box((-w / 2, 0.045, z - 0.03), (w / 2, 0.065, z + 0.03), red))
    body_y = h * 0.55
    parts += [
        ball((0, body_y, 0.02), (w * 0.3, h * 0.13, d * 0.27), look, sides=14),
        beam((0, body_y + 0.02, -d * 0.18), (0, h * 0.86, -d * 0.31), w * 0.3, look, sides=8),
        ball((0, h * 0.84, -d * 0.36), (w * 0.16, h * 0.075, d * 0.12), look, sides=12),
        prism(
            [
                (-d * 0.2, h * 0.62),
                (-d * 0.14, h * 0.66),
                (-d * 0.24, h * 0.94),
                (-d * 0.31, h * 0.95),
            ],
            -0.018,
            0.018,
            mane,
        ),
        rounded(
            (-w * 0.31, body_y + h * 0.03, -d * 0.06),
            (w * 0.31, body_y + h * 0.15, d * 0.14),
            0.03,
            red,
        ),
        tube(
            [(0, body_y + 0.04, d * 0.26), (0, body_y, d * 0.36), (0, body_y - h * 0.2, d * 0.4)],
            0.05,
            mane,
        ),
        beam(
            (-w / 2 + 0.01, h * 0.78, -d * 0.3),
            (w / 2 - 0.01, h * 0.78, -d * 0.3),
            0.025,
            red,
            sides=8,
        ),
    ]
    for s in (-1, 1):
        parts.append(
            prism(
                [(-d * 0.3, h * 0.9), (-d * 0.27, h * 0.9), (-d * 0.285, h)],
                s * w * 0.1 - 0.012,
                s * w * 0.1 + 0.012,
                look,
            )
        )
        parts.append(ball((s * w * 0.14, h * 0.86, -d * 0.39), (0.012,) * 3, BLACK, sides=6))
    return parts


BY_NAME: dict[str, Builder] = {
    "bicycle": bicycle,
    "bike": bicycle,
    "car": car,
    "rocking_horse": rocking_horse,
}
BY_SHAPE: dict[str, Builder] = {"vehicle": bicycle}
