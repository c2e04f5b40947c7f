"""Tables and desks, and what is played and worked on."""

from __future__ import annotations

import itertools
import math

from navloom.scenes.scene import Item
from navloom_worlds.furniture.joinery import drawer, legs
from navloom_worlds.furniture.making import MIRROR, STEEL, Builder, dice_of, set_off, shade, size_of
from navloom_worlds.furniture.turnery import prism, ring, slab, tube, wheel
from navloom_worlds.geometry.colours import surface_of
from navloom_worlds.geometry.solids import Part, Surface, beam, box, cylinder, lathe


def table(item: Item) -> list[Part]:
    """A top on four legs with an apron under it."""
    w, h, d = size_of(item)
    look = surface_of(item)
    glass = item.material == "glass"
    under = STEEL if glass else look
    thick = min(0.07, max(0.04, w * 0.045))
    round_legs = dice_of(item).random() < 0.4
    parts = [slab(w, d, h - (0.015 if glass else 0.035), h, look)]
    parts += legs(
        w - 0.04,
        d - 0.04,
        h - 0.015,
        thick,
        under,
        sides=10 if round_legs else 4,
        splay=0.03 if round_legs else 0.0,
    )
    if not glass:
        x, z = w / 2 - 0.06, d / 2 - 0.06
        low, dark = h - 0.11, shade(look, 0.85)
        parts += [
            box((-x, low, -z), (x, h - 0.03, -z + 0.02), dark),
            box((-x, low, z - 0.02), (x, h - 0.03, z), dark),
            box((-x, low, -z), (-x + 0.02, h - 0.03, z), dark),
            box((x - 0.02, low, -z), (x, h - 0.03, z), dark),
        ]
    return parts


def coffee_table(item: Item) -> list[Part]:
    """A low table with a shelf under its top, books lying on it."""
    w, h, d = size_of(item)
    look = surface_of(item)
    glass = item.material == "glass"
    under = STEEL if glass else look
    parts = [slab(w, d, h - (0.015 if glass else 0.04), h, look)]
    parts += legs(w - 0.04, d - 0.04, h - 0.015, 0.05, under)
    parts.append(slab(w - 0.08, d - 0.08, h * 0.28, h * 0.28 + 0.02, shade(under, 0.95)))
    dice = dice_of(item)
    y = h * 0.28 + 0.02
    for _ in range(3):
        if y + 0.03 < h - 0.06:
            colour = Surface(
                (dice.uniform(0.3, 0.9), dice.uniform(0.3, 0.8), dice.uniform(0.3, 0.8))
            )
            parts.append(slab(0.28, 0.2, y, y + 0.025, colour, x=-w * 0.2))
            y += 0.025
    return parts


def side_table(item: Item) -> list[Part]:
    """A round top on one column with three feet, or a square one on four legs."""
    w, h, d = size_of(item)
    look = surface_of(item)
    if dice_of(item).random() < 0.5:
        return [*table(item), slab(w - 0.06, d - 0.06, h * 0.3, h * 0.3 + 0.02, look)]
    parts = [
        cylinder(1.0, h - 0.025, h, look, sides=24).scaled(w / 2, 1, d / 2),
        lathe(
            [(0.03, 0.08), (0.022, h * 0.3), (0.035, h * 0.5), (0.02, h * 0.8), (0.05, h - 0.02)],
            look,
            sides=12,
        ),
    ]
    for k in range(3):
        a = 2 * math.pi * k / 3 + math.pi / 2
        x, z = math.cos(a) * w * 0.44, math.sin(a) * d * 0.44
        parts.append(tube([(0, 0.12, 0), (x * 0.6, 0.06, z * 0.6), (x, 0.015, z)], 0.03, look))
    return parts


def console_table(item: Item) -> list[Part]:
    """A narrow table with drawers under its top and a shelf near the floor."""
    w, h, d = size_of(item)
    look = surface_of(item)
    if item.material == "glass":
        return coffee_table(item)
    parts = [slab(w, d, h - 0.03, h, look), *legs(w - 0.03, d - 0.03, h - 0.03, 0.04, look)]
    parts.append(slab(w - 0.05, d - 0.05, h - 0.16, h - 0.03, shade(look, 0.9)))
    parts.append(slab(w - 0.06, d - 0.06, 0.14, 0.16, look))
    front = -d / 2 + 0.012
    half = w / 2 - 0.06
    for x0, x1 in ((-half, 0.0), (0.0, half)):
        parts += drawer((x0, h - 0.15), (x1, h - 0.035), front, set_off(look, 0.12), knobs=True)
    return parts


def desk(item: Item) -> list[Part]:
    """A top, a pedestal of drawers at one side, a side board at the other."""
    w, h, d = size_of(item)
    look = surface_of(item)
    side = dice_of(item).choice((-1, 1))
    wide = min(0.42, w * 0.32)
    x0, x1 = sorted((side * w / 2 - side * 0.02, side * (w / 2 - wide)))
    front = -d / 2 + 0.03
    fronts = set_off(look, 0.14)
    parts = [
        slab(w, d, h - 0.03, h, look),
        box((x0, 0.05, front + 0.02), (x1, h - 0.03, d / 2 - 0.02), shade(look, 0.92)),
        box((x0 + 0.03, 0, front + 0.05), (x1 - 0.03, 0.05, d / 2 - 0.05), shade(look, 0.6)),
    ]
    bounds = [0.05, h * 0.42, h * 0.66, h - 0.035]
    for low, high in itertools.pairwise(bounds):
        parts += drawer((x0, low), (x1, high), front, fronts)
    far = -side * (w / 2 - 0.035)
    if dice_of(item).random() < 0.5:
        parts.append(
            box((far - 0.015, 0, -d / 2 + 0.04), (far + 0.015, h - 0.03, d / 2 - 0.04), look)
        )
    else:
        parts += [
            beam((far, 0, z), (far, h - 0.03, z), 0.05, look) for z in (-d / 2 + 0.06, d / 2 - 0.06)
        ]
    back = sorted((far, x0 if side > 0 else x1))
    parts.append(
        box((back[0], h * 0.45, d / 2 - 0.05), (back[1], h - 0.03, d / 2 - 0.03), shade(look, 0.9))
    )
    return parts


def dressing_table(item: Item) -> list[Part]:
    """Curved legs, small drawers and, where it is high enough, a mirror on top."""
    w, h, d = size_of(item)
    look = surface_of(item)
    top = h if h < 1.0 else 0.76
    parts = [slab(w, d, top - 0.025, top, look)]
    parts += legs(w - 0.03, d - 0.03, top - 0.14, 0.045, look, splay=0.0, sides=8)
    parts.append(slab(w - 0.03, d - 0.05, top - 0.17, top - 0.025, shade(look, 0.92)))
    front = -d / 2 + 0.02
    third = (w - 0.06) / 3
    for k in range(3):
        x0 = -w / 2 + 0.03 + third * k
        parts += drawer(
            (x0, top - 0.165), (x0 + third, top - 0.03), front, set_off(look, 0.18), knobs=True
        )
    if h >= 1.0:
        parts.append(
            wheel(
                (0, (top + h) / 2, d / 2 - 0.03),
                min((h - top) / 2, w * 0.35),
                0.02,
                MIRROR,
                axis="z",
                sides=24,
            )
        )
        parts.append(
            ring(
                (0, (top + h) / 2, d / 2 - 0.03),
                min((h - top) / 2, w * 0.35) - 0.012,
                0.024,
                look,
                axis="z",
                around=24,
            )
        )
    return parts


def easel(item: Item) -> list[Part]:
    """Three legs, a ledge, and a canvas begun on it."""
    w, h, d = size_of(item)
    look = surface_of(item)
    near, far = -d / 2 + 0.03, d / 2 - 0.03
    top = (0.0, h - 0.02, 0.02)
    parts = [
        beam((-w / 2 + 0.02, 0, near), (-0.06, h * 0.97, 0.0), 0.035, look),
        beam((w / 2 - 0.02, 0, near), (0.06, h * 0.97, 0.0), 0.035, look),
        beam((0, 0, far), top, 0.035, look),
        beam((0, h * 0.2, near * 0.75), (0, h, 0.0), 0.03, look),
        box(
            (-w * 0.46, h * 0.4, near * 0.62 - 0.05), (w * 0.46, h * 0.42, near * 0.62 + 0.03), look
        ),
        beam((-w * 0.36, h * 0.25, near * 0.75), (w * 0.36, h * 0.25, near * 0.75), 0.03, look),
    ]
    lean = math.atan2(-near * 0.62 - 0.02, h * 0.56)
    high, wide = h * 0.42, w * 0.8
    canvas = [
        box((-wide / 2, 0, -0.01), (wide / 2, high, 0.012), Surface((0.96, 0.95, 0.91))),
        box(
            (-wide * 0.42, high * 0.1, -0.013),
            (wide * 0.42, high * 0.42, -0.01),
            Surface((0.35, 0.55, 0.3)),
        ),
        box(
            (-wide * 0.42, high * 0.42, -0.013),
            (wide * 0.42, high * 0.88, -0.01),
            Surface((0.5, 0.7, 0.88)),
        ),
        wheel(
            (wide * 0.2, high * 0.7, -0.014),
            high * 0.09,
            0.004,
            Surface((0.95, 0.75, 0.2)),
            axis="z",
        ),
        prism(
            [(-wide * 0.42, high * 0.42), (-wide * 0.05, high * 0.42), (-wide * 0.2, high * 0.66)],
            -0.014,
            -0.0125,
            Surface((0.45, 0.42, 0.5)),
            axis="z",
        ),
    ]
    return parts + [p.tilted(lean).moved(0, h * 0.42, near * 0.62 - 0.015) for p in canvas]


BY_NAME: dict[str, Builder] = {
    "table": table,
    "dining_table": table,
    "kitchen_table": table,
    "garden_table": table,
    "patio_table": table,
    "coffee_table": coffee_table,
    "side_table": side_table,
    "end_table": side_table,
    "console_table": console_table,
    "desk": desk,
    "dressing_table": dressing_table,
    "vanity": dressing_table,
    "easel": easel,
}
BY_SHAPE: dict[str, Builder] = {"table": table, "desk": desk}
