"""Chairs, stools and benches."""

from __future__ import annotations

import math

import numpy as np

from navloom.scenes.scene import Item
from navloom_worlds.furniture.joinery import cushion, legs
from navloom_worlds.furniture.making import (
    BLACK,
    CHROME,
    STEEL,
    WHITE,
    Builder,
    dice_of,
    set_off,
    shade,
    size_of,
)
from navloom_worlds.furniture.turnery import rounded, slab, tube, wheel
from navloom_worlds.geometry.colours import surface_of
from navloom_worlds.geometry.solids import Part, Surface, beam, box, cylinder


def _share(item: Item, share: float) -> float:
    """Where the seat is: at the catalogue's share of the height."""
    return size_of(item)[1] * share


def chair(item: Item) -> list[Part]:
    """Four legs, a seat, and a back of slats, rungs or one board."""
    w, h, d = size_of(item)
    look = surface_of(item)
    dice = dice_of(item)
    seat = _share(item, 0.5)
    thick = 0.04
    x, z = w / 2 - thick / 2, d / 2 - thick / 2
    parts = [beam((s * x, 0, -z), (s * x, seat - 0.02, -z), thick, look) for s in (-1, 1)]
    lean = 0.06
    foot = z - lean
    for s in (-1, 1):
        parts.append(beam((s * x, 0, foot), (s * x, seat, foot), thick, look))
        parts.append(beam((s * x, seat, foot), (s * x, h - 0.01, z), thick, look))
    top = rounded((-w / 2, seat - 0.035, -d / 2), (w / 2, seat, foot + 0.02), 0.012, look)
    parts.append(top)
    if dice.random() < 0.5:
        parts.append(
            rounded(
                (-w / 2 + 0.02, seat - 0.03, -d / 2 + 0.015),
                (w / 2 - 0.02, seat + 0.012, foot - 0.02),
                0.018,
                set_off(look, 0.35),
            )
        )
    for s in (-1, 1):
        parts.append(beam((s * x, seat * 0.4, -z), (s * x, seat * 0.4, foot), 0.022, look))

    def at(y: float) -> float:
        return foot + (z - foot) * (y - seat) / (h - 0.01 - seat)

    def board(y0: float, y1: float) -> Part:
        mid = at((y0 + y1) / 2)
        return box((-x, y0, mid - 0.012), (x, y1, mid + 0.012), look)

    kind = dice.randrange(3)
    parts.append(board(h - 0.11, h - 0.01))
    if kind == 0:
        parts += [
            beam((k * w / 6, seat, at(seat)), (k * w / 6, h - 0.06, at(h - 0.06)), 0.024, look)
            for k in (-2, -1, 0, 1, 2)
        ]
    elif kind == 1:
        parts += [board(y, y + 0.06) for y in (seat + 0.12, seat + 0.24) if y + 0.08 < h - 0.11]
    else:
        parts.append(board(seat + 0.14, h - 0.09))
    return parts


def garden_chair(item: Item) -> list[Part]:
    """Slats for a seat and a back, arms at both sides."""
    w, h, d = size_of(item)
    look = surface_of(item)
    seat = _share(item, 0.48)
    arm, thick = seat + 0.2, 0.04
    x, z = w / 2 - thick / 2, d / 2 - thick / 2
    parts = []
    for s in (-1, 1):
        parts += [
            beam((s * x, 0, -z), (s * x, arm, -z), thick, look),
            beam((s * x, 0, z - 0.1), (s * x, h, z), thick, look),
            box(
                (s * x - 0.03 * (s < 0) - 0.02 * (s > 0), arm, -d / 2),
                (s * x + 0.02 * (s < 0) + 0.02 * (s > 0), arm + 0.025, z - 0.04),
                look,
            ),
            beam((s * x, seat - 0.04, -z), (s * x, seat - 0.04, z - 0.06), 0.03, look),
        ]
    count = 6
    for k in range(count):
        mid = -d / 2 + 0.05 + (d - 0.16) * k / (count - 1)
        parts.append(slab(w - thick, (d - 0.16) / count * 0.78, seat - 0.025, seat, look, z=mid))
    for k in range(5):
        y = seat + 0.08 + (h - seat - 0.14) * k / 4
        far = z - 0.1 + 0.1 * y / h
        parts.append(box((-x, y - 0.03, far - 0.012), (x, y + 0.03, far + 0.012), look))
    return parts


def office_chair(item: Item) -> list[Part]:
    """A star of five feet with castors, a gas spring, a padded seat, arms and a high back."""
    w, h, d = size_of(item)
    look = surface_of(item)
    seat = _share(item, 0.45)
    reach = min(w, d) / 2 - 0.03
    parts = []
    for k in range(5):
        a = 2 * math.pi * k / 5 + math.pi / 2
        x, z = reach * math.cos(a), reach * math.sin(a)
        parts.append(beam((0, 0.1, 0), (x, 0.065, z), 0.035, BLACK))
        parts.append(wheel((x, 0.028, z), 0.028, 0.04, BLACK, sides=8))
    parts += [
        cylinder(0.03, 0.08, seat * 0.65, BLACK, sides=10),
        cylinder(0.02, seat * 0.6, seat - 0.08, CHROME, sides=10),
        slab(w * 0.4, d * 0.35, seat - 0.1, seat - 0.07, BLACK),
        cushion(
            (-w * 0.4, w * 0.4), (seat - 0.08, seat), (-d / 2 + 0.02, d * 0.32), look, soft=0.035
        ),
    ]
    back = cushion((-w * 0.37, w * 0.37), (0, h - seat - 0.09), (-0.04, 0.035), look, soft=0.035)
    parts.append(back.tilted(0.1).moved(0, seat + 0.08, d * 0.36))
    spine = [(0, seat - 0.09, 0.1), (0, seat - 0.08, d * 0.4), (0, seat + 0.25, d * 0.43)]
    parts.append(tube(spine, 0.04, BLACK))
    for s in (-1, 1):
        x = s * (w / 2 - 0.035)
        parts += [
            tube(
                [(s * w * 0.3, seat - 0.085, 0.05), (x, seat - 0.07, 0.05), (x, seat + 0.18, 0.05)],
                0.028,
                BLACK,
            ),
            rounded(
                (x - 0.035, seat + 0.17, -d * 0.16), (x + 0.035, seat + 0.2, d * 0.24), 0.012, BLACK
            ),
        ]
    return parts


def rocking_chair(item: Item) -> list[Part]:
    """A chair with arms on two curved runners."""
    w, h, d = size_of(item)
    look = surface_of(item)
    seat = _share(item, 0.42)
    thick = 0.04
    x, near, back = w / 2 - thick / 2, -d * 0.32, d * 0.2
    turn = np.linspace(-1, 1, 11)
    parts = []

    def floor(z: float) -> float:
        return 0.02 + 0.1 * (2 * z / d) ** 2

    for s in (-1, 1):
        parts.append(
            tube(
                [(s * x, floor(t * (d / 2 - 0.02)), t * (d / 2 - 0.02)) for t in turn], thick, look
            )
        )
        parts += [
            beam((s * x, floor(near), near), (s * x, seat + 0.22, near), 0.035, look),
            beam((s * x, floor(back), back), (s * x, seat, back), 0.035, look),
            beam((s * x, seat - 0.04, back), (s * x, h - 0.01, d * 0.4), 0.035, look),
            box(
                (s * x - 0.03 + 0.012 * -s, seat + 0.21, near - 0.04),
                (s * x + 0.03 + 0.012 * -s, seat + 0.235, back + 0.06),
                look,
            ),
        ]
    parts.append(
        slab(w - 0.02, back - near + 0.08, seat - 0.04, seat, look, z=(near + back) / 2 - 0.02)
    )
    parts.append(
        cushion(
            (-w / 2 + 0.05, w / 2 - 0.05),
            (seat - 0.02, seat + 0.012),
            (near - 0.02, back - 0.02),
            set_off(look, 0.45),
            soft=0.012,
        )
    )
    far = d * 0.4
    for k in range(-2, 3):
        parts.append(beam((k * w / 6, seat - 0.02, back), (k * w / 6, h - 0.04, far), 0.025, look))
    parts.append(box((-w / 2, h - 0.12, far - 0.03), (w / 2, h, far + 0.01), look))
    return parts


def high_chair(item: Item) -> list[Part]:
    """A child's: long splayed legs, a small seat with sides and a tray before it."""
    w, h, d = size_of(item)
    look = surface_of(item)
    seat = h * 0.55
    parts = legs(w, d, seat, 0.035, look, splay=w * 0.18)
    x = w * 0.3
    parts += [
        cushion(
            (-x, x), (seat - 0.02, seat + 0.03), (-d * 0.2, d * 0.28), set_off(look, 0.4), soft=0.02
        ),
        box((-x, seat, d * 0.26), (x, h, d * 0.32), look),
        cushion(
            (-x + 0.02, x - 0.02),
            (seat + 0.03, h - 0.03),
            (d * 0.2, d * 0.28),
            set_off(look, 0.4),
            soft=0.025,
        ),
        box((-x - 0.025, seat, -d * 0.18), (-x, seat + 0.2, d * 0.3), look),
        box((x, seat, -d * 0.18), (x + 0.025, seat + 0.2, d * 0.3), look),
        rounded((-w / 2, seat + 0.19, -d / 2), (w / 2, seat + 0.22, -d * 0.05), 0.012, WHITE),
        slab(w * 0.6, 0.1, seat * 0.4, seat * 0.4 + 0.02, look, z=-d * 0.33),
    ]
    for z in (-d * 0.42, d * 0.42):
        parts.append(beam((-w * 0.42, seat * 0.3, z), (w * 0.42, seat * 0.3, z), 0.022, look))
    return parts


def stool(item: Item) -> list[Part]:
    """A round seat on three or four splayed legs with rungs."""
    w, h, d = size_of(item)
    look = surface_of(item)
    count = dice_of(item).choice((3, 4))
    parts = [cylinder(1.0, h - 0.04, h, look, sides=22).scaled(w / 2, 1, d / 2)]
    feet = []
    for k in range(count):
        a = 2 * math.pi * (k + 0.5) / count + math.pi / 2
        feet.append((math.cos(a) * (w / 2 - 0.02), math.sin(a) * (d / 2 - 0.02)))
    for k, (x, z) in enumerate(feet):
        parts.append(beam((x, 0, z), (x * 0.55, h - 0.03, z * 0.55), 0.034, look, sides=8))
        u, v = feet[(k + 1) % count]
        y, r = h * (0.3 + 0.06 * (k % 2)), 0.87
        parts.append(beam((x * r, y, z * r), (u * r, y, v * r), 0.02, look, sides=6))
    return parts


def bar_chair(item: Item) -> list[Part]:
    """A high seat with a low back, long legs and a ring for the feet."""
    w, h, d = size_of(item)
    look = surface_of(item)
    seat = _share(item, 0.65)
    metal = STEEL if dice_of(item).random() < 0.5 else BLACK
    x, z = w / 2 - 0.02, d / 2 - 0.02
    parts = legs(w, d, seat - 0.03, 0.03, metal, splay=0.05, sides=6)
    y, r = seat * 0.4, 0.94
    corners = [(-x * r, y, -z * r), (x * r, y, -z * r), (x * r, y, z * r), (-x * r, y, z * r)]
    parts += [beam(corners[k], corners[(k + 1) % 4], 0.02, metal) for k in range(4)]
    parts.append(
        cushion(
            (-w / 2 + 0.02, w / 2 - 0.02),
            (seat - 0.06, seat),
            (-d / 2 + 0.01, d / 2 - 0.05),
            look,
            soft=0.028,
        )
    )
    for s in (-1, 1):
        parts.append(
            beam(
                (s * w * 0.32, seat - 0.05, z - 0.06),
                (s * w * 0.32, h - 0.05, z - 0.01),
                0.025,
                metal,
            )
        )
    parts.append(
        rounded((-w / 2 + 0.03, h - 0.18, d / 2 - 0.05), (w / 2 - 0.03, h, d / 2), 0.022, look)
    )
    return parts


def bench(item: Item) -> list[Part]:
    """A long seat of boards on two trestles."""
    w, h, d = size_of(item)
    look = surface_of(item)
    parts = []
    boards = 3
    for k in range(boards):
        wide = d / boards
        parts.append(slab(w, wide - 0.008, h - 0.04, h, look, z=-d / 2 + wide * (k + 0.5)))
    for s in (-1, 1):
        x = s * (w / 2 - 0.14)
        parts += [
            beam((x, 0, -d / 2 + 0.03), (x, h - 0.04, -d / 2 + 0.06), 0.05, look),
            beam((x, 0, d / 2 - 0.03), (x, h - 0.04, d / 2 - 0.06), 0.05, look),
            box((x - 0.025, h - 0.1, -d / 2 + 0.03), (x + 0.025, h - 0.04, d / 2 - 0.03), look),
        ]
    parts.append(beam((-w / 2 + 0.14, h * 0.35, 0), (w / 2 - 0.14, h * 0.35, 0), 0.04, look))
    return parts


def piano_bench(item: Item) -> list[Part]:
    """A padded, buttoned seat on four turned legs, with knobs at its sides to screw it higher."""
    w, h, d = size_of(item)
    look = surface_of(item)
    pad = Surface((0.12, 0.10, 0.10))
    parts = legs(w - 0.04, d, h - 0.12, 0.05, look, sides=8)
    parts += [
        slab(w - 0.04, d, h - 0.14, h - 0.07, look),
        cushion((-w / 2 + 0.02, w / 2 - 0.02), (h - 0.08, h), (-d / 2, d / 2), pad, soft=0.03),
    ]
    for s in (-1, 1):
        parts.append(
            wheel((s * (w / 2 - 0.012), h - 0.1, 0), 0.025, 0.024, shade(look, 0.6), sides=10)
        )
    for i in range(4):
        for j in range(2):
            x, z = (i - 1.5) * w / 4.6, (j - 0.5) * d / 2.2
            parts.append(slab(0.02, 0.02, h - 0.004, h, BLACK, x=x, z=z))
    return parts


def weight_bench(item: Item) -> list[Part]:
    """A padded bench to lie on, uprights at its head with a bar and weights in them."""
    w, h, d = size_of(item)
    pad, frame = surface_of(item), STEEL
    z_rack = d / 2 - 0.12
    bar = h - 0.06
    parts = [
        cushion((-w * 0.22, w * 0.22), (h - 0.09, h), (-d / 2, z_rack - 0.12), pad, soft=0.035),
        beam((0, h - 0.1, -d / 2 + 0.1), (0, h - 0.1, z_rack), 0.06, frame),
        beam((0, 0.03, -d / 2 + 0.15), (0, h - 0.1, -d / 2 + 0.2), 0.06, frame),
        beam((-w * 0.3, 0.025, -d / 2 + 0.15), (w * 0.3, 0.025, -d / 2 + 0.15), 0.05, frame),
        beam((-w * 0.35, 0.025, z_rack), (w * 0.35, 0.025, z_rack), 0.05, frame),
        beam((-w / 2, bar, z_rack + 0.03), (w / 2, bar, z_rack + 0.03), 0.028, CHROME, sides=8),
    ]
    for s in (-1, 1):
        parts.append(beam((s * w * 0.3, 0, z_rack), (s * w * 0.3, h, z_rack), 0.05, frame))
        for k, r in enumerate((0.085, 0.07)):
            x = s * (w / 2 - 0.05 - 0.035 * (1 - k) + 0.0)
            parts.append(
                wheel(
                    (x, bar - 0.0, z_rack + 0.03),
                    min(r, h - bar + 0.02, 0.06 + 0.02 * (1 - k)),
                    0.03,
                    BLACK,
                )
            )
    return parts


BY_NAME: dict[str, Builder] = {
    "chair": chair,
    "dining_chair": chair,
    "desk_chair": chair,
    "lone_chair": chair,
    "garden_chair": garden_chair,
    "office_chair": office_chair,
    "rocking_chair": rocking_chair,
    "high_chair": high_chair,
    "stool": stool,
    "bar_chair": bar_chair,
    "bar_stool": bar_chair,
    "bench": bench,
    "piano_bench": piano_bench,
    "weight_bench": weight_bench,
}
BY_SHAPE: dict[str, Builder] = {"chair": chair, "stool": stool, "bench": bench}
