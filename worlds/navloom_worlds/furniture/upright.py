"""What stands upright on a foot: bags to punch, trees for cats, ladders, umbrella stands."""

from __future__ import annotations

import math

from navloom.scenes.scene import Item
from navloom_worlds.furniture.making import (
    BLACK,
    IRON,
    STEEL,
    Builder,
    set_off,
    shade,
    size_of,
    vivid,
)
from navloom_worlds.furniture.turnery import ball, ring, slab, tube, wheel
from navloom_worlds.geometry.colours import surface_of
from navloom_worlds.geometry.solids import Part, Surface, beam, box, cylinder, lathe


def umbrella_stand(item: Item) -> list[Part]:
    """A pierced cylinder with the handles of umbrellas in it."""
    w, h, d = size_of(item)
    look = surface_of(item)
    r = min(w, d) / 2
    rim = h * 0.75
    parts = [
        cylinder(r * 0.95, 0, 0.03, look, sides=18),
        ring((0, rim, 0), r * 0.97, 0.02, look, axis="y"),
        ring((0, rim * 0.5, 0), r * 0.97, 0.015, look, axis="y"),
    ]
    for k in range(14):
        a = 2 * math.pi * k / 14
        x, z = math.cos(a) * r * 0.95, math.sin(a) * r * 0.95
        parts.append(beam((x, 0.02, z), (x, rim, z), 0.012, look))
    for n, tint in enumerate(((0.7, 0.12, 0.14), (0.1, 0.2, 0.45), (0.12, 0.12, 0.13))):
        a = 2.1 * n
        x, z = math.cos(a) * r * 0.4, math.sin(a) * r * 0.4
        top = h - 0.09
        parts.append(
            lathe(
                [(0.012, 0.03), (0.035, top * 0.6), (0.03, top - 0.1), (0.01, top - 0.06)],
                Surface(tint),
                sides=8,
            ).moved(x, 0, z)
        )
        crook = [
            (x, top - 0.08, z),
            (x, h - 0.03, z),
            (x + 0.02, h - 0.01, z),
            (x + 0.045, h - 0.015, z),
            (x + 0.055, h - 0.05, z),
        ]
        parts.append(tube(crook, 0.016, Surface((0.35, 0.2, 0.1))))
    return parts


def ladder(item: Item) -> list[Part]:
    """Two legs with steps, two without, hinged at the top."""
    w, h, d = size_of(item)
    look = surface_of(item)
    top = h - 0.03
    parts = []
    for s in (-1, 1):
        parts += [
            beam((s * (w / 2 - 0.02), 0, -d / 2 + 0.03), (s * w * 0.3, top, -0.02), 0.04, look),
            beam((s * (w / 2 - 0.02), 0, d / 2 - 0.03), (s * w * 0.3, top, 0.02), 0.035, look),
        ]
    count = max(3, int(h / 0.27))
    for k in range(1, count):
        t = k / count
        z = (-d / 2 + 0.03) * (1 - t) - 0.02 * t
        reach = (w / 2 - 0.03) * (1 - t) + w * 0.29 * t
        parts.append(box((-reach, h * t - 0.012, z - 0.04), (reach, h * t + 0.012, z + 0.04), look))
    parts.append(slab(w * 0.66, min(0.2, d * 0.3), top - 0.02, h, set_off(look)))
    parts.append(beam((-w * 0.4, h * 0.35, d * 0.32), (w * 0.4, h * 0.35, d * 0.32), 0.02, look))
    return parts


def punching_bag(item: Item) -> list[Part]:
    """A long bag on a spring over a heavy foot, with bands around it."""
    w, h, d = size_of(item)
    look = surface_of(item)
    r = min(w, d) / 2
    low = h * 0.3
    bag = [
        (0.0, low),
        (r * 0.75, low),
        (r * 0.9, low + 0.05),
        (r * 0.9, h - 0.06),
        (r * 0.7, h),
        (0.0, h),
    ]
    parts = [
        lathe([(0.0, 0.0), (r, 0.0), (r, 0.06), (r * 0.8, 0.14), (0.0, 0.15)], BLACK, sides=20),
        cylinder(0.05, 0.12, low, STEEL, sides=10),
        lathe(bag, look, sides=20),
    ]
    for k in range(5):
        parts.append(
            ring((0, 0.16 + (low - 0.18) * k / 4, 0), 0.06, 0.02, IRON, axis="y", around=12)
        )
    band = set_off(look, 0.5)
    for y in (low + 0.12, h - 0.14):
        parts.append(cylinder(r * 0.905, y, y + 0.05, band, sides=20))
    for k in range(3):
        y = (low + h) / 2 - 0.1 + 0.1 * k
        parts.append(
            box((-0.08 + 0.02 * k, y, -r * 0.92), (0.08 - 0.02 * k, y + 0.03, -r * 0.86), band)
        )
    return parts


def scratching_post(item: Item) -> list[Part]:
    """A cat's tree: posts wound with rope, a box with a round hole, plates, a ball on a string."""
    w, h, d = size_of(item)
    look = surface_of(item)
    rope = Surface((0.80, 0.68, 0.48))
    parts = [
        slab(w, d, 0, 0.04, look),
        slab(w * 0.7, d * 0.75, h * 0.62, h * 0.65, look, x=-w * 0.15),
    ]
    parts.append(slab(w * 0.6, d * 0.6, h - 0.03, h, look, x=w * 0.2, z=d * 0.15))
    for x, z, top in ((w * 0.28, d * 0.25, h - 0.03), (-w * 0.3, d * 0.2, h * 0.62)):
        parts.append(cylinder(0.045, 0.04, top, rope, sides=12).moved(x, 0, z))
        for k in range(int(top / 0.08)):
            parts.append(
                ring(
                    (x, 0.06 + 0.05 * k, z),
                    0.045,
                    0.01,
                    shade(rope, 0.8),
                    axis="y",
                    around=8,
                    sides=4,
                )
            )
    house = h * 0.3
    parts.append(box((-w * 0.45, 0.04, -d * 0.45), (w * 0.12, house, d * 0.1), look))
    hole = (-w * 0.165, house * 0.55, -d * 0.452)
    parts.append(wheel(hole, min(0.085, house * 0.3), 0.006, BLACK, axis="z", sides=18))
    parts.append(beam((-w * 0.3, h * 0.62, -d * 0.3), (-w * 0.3, h * 0.45, -d * 0.3), 0.006, IRON))
    parts.append(
        ball((-w * 0.3, h * 0.43, -d * 0.3), (0.03,) * 3, Surface(vivid(0.0, 0.7, 0.8)), sides=8)
    )
    return parts


BY_NAME: dict[str, Builder] = {
    "umbrella_stand": umbrella_stand,
    "ladder": ladder,
    "punching_bag": punching_bag,
    "scratching_post": scratching_post,
}
BY_SHAPE: dict[str, Builder] = {}
