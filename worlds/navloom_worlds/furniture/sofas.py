"""Upholstered seats: sofas, armchairs, recliners, day beds, poufs and bags of beans."""

from __future__ import annotations

import math

import numpy as np

from navloom.scenes.scene import Item
from navloom_worlds.furniture.joinery import cushion, legs
from navloom_worlds.furniture.making import (
    DARK_WOOD,
    LINEN,
    PALE_WOOD,
    Builder,
    dice_of,
    has,
    lightness,
    set_off,
    shade,
    size_of,
)
from navloom_worlds.furniture.turnery import ball, prism, rounded, slab, wheel
from navloom_worlds.geometry.colours import surface_of
from navloom_worlds.geometry.solids import Part, Surface, box, lathe


def _feet(look: Surface) -> Surface:
    return DARK_WOOD if lightness(look) > 0.3 else PALE_WOOD


def _seat(item: Item, arm: float, back: float, seat: float, places: int) -> list[Part]:
    """Base, arms, a back, and as many cushions side by side as people sit there."""
    w, h, d = size_of(item)
    look = surface_of(item)
    dice = dice_of(item)
    foot = 0.08
    arm_top = min(h * 0.74, seat + 0.2)
    x, near, far = w / 2, -d / 2, d / 2
    round_arms = dice.random() < 0.5
    parts = legs(w - 0.06, d - 0.06, foot + 0.02, 0.05, _feet(look))
    parts.append(rounded((-x, foot, near + 0.03), (x, seat - 0.13, far - 0.02), 0.03, look))
    parts.append(
        rounded(
            (-x + arm * 0.5, foot, far - back * 0.8), (x - arm * 0.5, h * 0.96, far), 0.06, look
        )
    )
    for side in (-1, 1):
        lo, hi = sorted((side * x, side * (x - arm)))
        soft = arm * 0.48 if round_arms else 0.04
        parts.append(rounded((lo, foot, near), (hi, arm_top, far - 0.01), soft, shade(look, 0.96)))
    inner = x - arm
    pitch = 2 * inner / places
    for k in range(places):
        left = -inner + pitch * k
        span = (left + 0.004, left + pitch - 0.004)
        parts.append(
            cushion(span, (seat - 0.15, seat), (near + 0.01, far - back), shade(look, 1.06))
        )
        leaning = cushion(span, (0, h - seat + 0.02), (-0.07, 0.09), shade(look, 1.03), soft=0.07)
        parts.append(leaning.tilted(0.14).moved(0, seat - 0.03, far - back - 0.03))
    return parts


def sofa(item: Item) -> list[Part]:
    """For two or three, by how wide it is."""
    w, h, d = size_of(item)
    arm = min(0.18, w * 0.12)
    places = max(1, min(4, round((w - 2 * arm) / 0.68)))
    return _seat(item, arm, min(0.27, d * 0.3), h * 0.5 if item.shape else h * 0.53, places)


def sofa_bed(item: Item) -> list[Part]:
    """A sofa; open, a bed with its mattress, pillows and blanket between its arms."""
    if not has(item, "open"):
        return sofa(item)
    w, h, d = size_of(item)
    look = surface_of(item)
    arm, seat = 0.15, h * 0.5
    x = w / 2
    parts = [rounded((-x, 0.06, d / 2 - 0.2), (x, h, d / 2), 0.06, look)]
    for side in (-1, 1):
        lo, hi = sorted((side * x, side * (x - arm)))
        parts.append(rounded((lo, 0.06, -d / 2), (hi, seat + 0.15, d / 2), 0.05, look))
    parts += [
        box((-x + arm, 0.1, -d / 2), (x - arm, seat - 0.12, d / 2 - 0.2), shade(look, 0.7)),
        cushion((-x + arm, x - arm), (seat - 0.14, seat), (-d / 2, d / 2 - 0.2), LINEN),
        box(
            (-x + arm, seat - 0.1, -d / 2),
            (x - arm, seat + 0.012, d * 0.02),
            Surface((0.5, 0.6, 0.7)),
        ),
    ]
    for k in (-1, 1):
        mid = k * (x - arm) / 2
        parts.append(
            rounded(
                (mid - 0.28, seat - 0.02, d * 0.05),
                (mid + 0.28, seat + 0.07, d / 2 - 0.22),
                0.045,
                LINEN,
            )
        )
    return parts


def armchair(item: Item) -> list[Part]:
    """For one: as a sofa is, with a higher back."""
    _, h, d = size_of(item)
    return _seat(item, 0.15, min(0.24, d * 0.28), h * 0.48 if item.shape else h * 0.5, 1)


def recliner(item: Item) -> list[Part]:
    """A fat armchair that leans back, its foot rest put up a little."""
    w, h, d = size_of(item)
    look = surface_of(item)
    seat, arm = h * 0.45, 0.16
    x, near, far = w / 2, -d / 2, d / 2
    parts = [
        rounded(
            (-x + 0.03, 0.03, near + 0.14),
            (x - 0.03, seat - 0.12, far - 0.1),
            0.04,
            shade(look, 0.9),
        ),
        cushion(
            (-x + arm, x - arm),
            (seat - 0.16, seat),
            (near + 0.1, far - 0.24),
            shade(look, 1.05),
            soft=0.07,
        ),
    ]
    for side in (-1, 1):
        lo, hi = sorted((side * x, side * (x - arm)))
        parts.append(rounded((lo, 0.05, near + 0.12), (hi, seat + 0.17, far - 0.08), 0.075, look))
    inner = (-x + arm * 0.7, x - arm * 0.7)
    tall = h - seat + 0.05
    for k, (y0, y1) in enumerate(((0.0, 0.36), (0.34, 0.7), (0.68, 1.0))):
        piece = cushion(inner, (tall * y0, tall * y1), (-0.09, 0.1 - 0.02 * k), look, soft=0.09)
        parts.append(piece.tilted(0.22).moved(0, seat - 0.05, far - 0.27))
    rest = cushion((-x + arm, x - arm), (0, 0.12), (0, 0.3), look, soft=0.055)
    parts.append(rest.tilted(-1.0).moved(0, max(seat - 0.3, 0.0), near + 0.05))
    return parts


def chaise_longue(item: Item) -> list[Part]:
    """A long seat with a sloping back at its head end, an arm at one side, and turned feet."""
    w, h, d = size_of(item)
    look = surface_of(item)
    seat = h * 0.48
    x, near, far = w / 2, -d / 2, d / 2
    parts = legs(w - 0.04, d - 0.04, 0.14, 0.05, _feet(look), sides=8)
    parts += [
        rounded((-x, 0.13, near), (x, seat - 0.1, far), 0.04, shade(look, 0.92)),
        cushion((-x + 0.01, x - 0.01), (seat - 0.13, seat), (near, far - 0.3), look, soft=0.06),
    ]
    slope = [
        (far - 0.36, seat - 0.12),
        (far - 0.2, h - 0.06),
        (far - 0.13, h),
        (far - 0.04, h),
        (far, h - 0.06),
        (far, seat - 0.2),
    ]
    parts.append(prism(slope, -x, x, look, smooth=True))
    arm = [
        (far - 0.1, seat - 0.1),
        (far - 0.1, h * 0.82),
        (far - 0.3, h * 0.8),
        (far - d * 0.42, seat + 0.1),
        (far - d * 0.48, seat),
        (far - d * 0.48, seat - 0.1),
    ]
    parts.append(prism(arm, x - 0.1, x, shade(look, 0.96)))
    roll = wheel((0, seat + 0.075, far - 0.36), 0.075, w * 0.7, set_off(look), axis="x", sides=12)
    return [*parts, roll]


def pouf(item: Item) -> list[Part]:
    """A round soft seat with seams, wider in its middle."""
    w, h, d = size_of(item)
    look = surface_of(item)
    turn = np.linspace(-math.pi / 2, math.pi / 2, 9)
    profile = [(0.0, 0.0)]
    profile += [(0.72 + 0.28 * math.cos(t), 0.5 + 0.5 * math.sin(t)) for t in turn]
    profile.append((0.0, 1.0))
    count = 12
    parts = []
    body = lathe(profile, look, sides=24).scaled(w / 2, h, d / 2)
    parts.append(body)
    for k in range(count):
        a = 2 * math.pi * k / count
        seam = [(0.72 + 0.285 * math.cos(t), 0.5 + 0.5 * math.sin(t)) for t in turn]
        points = [
            (r * math.cos(a) * w / 2 * 0.995, y * (h - 0.004), r * math.sin(a) * d / 2 * 0.995)
            for r, y in seam
        ]
        parts += _strips(points, a, shade(look, 0.7))
    parts.append(ball((0, h - 0.008, 0), (0.03, 0.008, 0.03), shade(look, 0.7), sides=8))
    return parts


def _strips(points: list[tuple[float, float, float]], a: float, look: Surface) -> list[Part]:
    """A narrow ribbon along points of a round body, at angle a."""
    sx, sz = -math.sin(a) * 0.006, math.cos(a) * 0.006
    grid = np.array([[(x - sx, y, z - sz), (x + sx, y, z + sz)] for x, y, z in points])
    rows = len(points)
    faces = [[2 * k, 2 * k + 1, 2 * k + 3] for k in range(rows - 1)]
    faces += [[2 * k, 2 * k + 3, 2 * k + 2] for k in range(rows - 1)]
    return [Part(grid.reshape(-1, 3).astype(np.float32), np.array(faces, dtype=np.int32), look)]


def ottoman(item: Item) -> list[Part]:
    """A foot stool: a padded block with buttons on short legs."""
    w, h, d = size_of(item)
    look = surface_of(item)
    foot = min(0.12, h * 0.3)
    parts = legs(w - 0.04, d - 0.04, foot + 0.02, 0.04, _feet(look))
    parts.append(
        rounded(
            (-w / 2 + 0.01, foot, -d / 2 + 0.01),
            (w / 2 - 0.01, h - 0.08, d / 2 - 0.01),
            0.02,
            shade(look, 0.92),
        )
    )
    parts.append(cushion((-w / 2, w / 2), (h - 0.12, h), (-d / 2, d / 2), look, soft=0.045))
    across, deep = max(2, round(w / 0.22)), max(2, round(d / 0.22))
    for i in range(across):
        for j in range(deep):
            x, z = (i + 0.5) / across * w - w / 2, (j + 0.5) / deep * d - d / 2
            parts.append(ball((x, h - 0.004, z), (0.012, 0.004, 0.012), shade(look, 0.6), sides=6))
    return parts


def bean_bag(item: Item) -> list[Part]:
    """A soft heap: wide below, a hollow to sit in, a tip at the back."""
    w, h, d = size_of(item)
    look = surface_of(item)
    profile = [
        (0.0, 0.0),
        (0.75, 0.0),
        (0.95, 0.12),
        (1.0, 0.3),
        (0.9, 0.5),
        (0.7, 0.68),
        (0.45, 0.85),
        (0.22, 0.95),
        (0.0, 1.0),
    ]
    body = lathe(profile, look, sides=20)
    v = body.vertices.copy()
    tip = np.clip(v[:, 1] - 0.3, 0, 1)
    # Its top leans to the back, and its front is pressed in.
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
        slab(0.05, 0.03, h * 0.93, h, shade(look, 0.7), z=float(v[v[:, 1].argmax(), 2]) - 0.02),
    ]


BY_NAME: dict[str, Builder] = {
    "sofa": sofa,
    "couch": sofa,
    "loveseat": sofa,
    "sofa_bed": sofa_bed,
    "armchair": armchair,
    "lone_armchair": armchair,
    "recliner": recliner,
    "chaise_longue": chaise_longue,
    "pouf": pouf,
    "pouffe": pouf,
    "ottoman": ottoman,
    "bean_bag": bean_bag,
}
BY_SHAPE: dict[str, Builder] = {"sofa": sofa}
