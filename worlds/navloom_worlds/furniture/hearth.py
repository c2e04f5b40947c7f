"""What gathers people in a room: a fireplace, a piano, an aquarium; and outside a grill."""

from __future__ import annotations

import math

import numpy as np

from navloom.scenes.scene import Item
from navloom_worlds.furniture.making import (
    BLACK,
    BRASS,
    IRON,
    LIT,
    STEEL,
    WATER,
    WHITE,
    Builder,
    dice_of,
    has,
    lightness,
    set_off,
    shade,
    size_of,
)
from navloom_worlds.furniture.turnery import ball, prism, slab, tube, wheel
from navloom_worlds.geometry.colours import surface_of
from navloom_worlds.geometry.solids import Part, Surface, beam, box, lathe


def fireplace(item: Item) -> list[Part]:
    """A mantelpiece on two pillars about a dark opening with logs; on, they burn."""
    w, h, d = size_of(item)
    look = surface_of(item)
    near, far = -d / 2, d / 2
    body = near + 0.06
    side, top = w * 0.2, h * 0.68
    x = w / 2 - 0.06
    soot = Surface((0.09, 0.08, 0.075))
    parts = [
        box((-w / 2, h - 0.07, near), (w / 2, h, far), look),
        box((-x - 0.03, h - 0.12, near + 0.03), (x + 0.03, h - 0.07, far), shade(look, 0.92)),
        box((-x, top, body), (x, h - 0.1, far), look),
        slab(w, d, 0.0, 0.05, shade(look, 0.8)),
        box((-x + side, 0.05, far - 0.04), (x - side, top, far), soot),
        box((-x + side - 0.01, 0.05, body + 0.05), (-x + side, top, far), soot),
        box((x - side, 0.05, body + 0.05), (x - side + 0.01, top, far), soot),
    ]
    for s in (-1, 1):
        x0, x1 = sorted((s * x, s * (x - side)))
        parts += [
            box((x0, 0.05, body), (x1, top, far), look),
            box((x0 + 0.03, 0.2, body - 0.02), (x1 - 0.03, top - 0.05, body), shade(look, 1.04)),
            box((x0 - 0.01, 0.05, body - 0.03), (x1 + 0.01, 0.16, body), shade(look, 0.9)),
        ]
    bark, cut = Surface((0.3, 0.2, 0.14)), Surface((0.7, 0.52, 0.34))
    reach = x - side - 0.08
    for k, (y, z) in enumerate(((0.12, -0.05), (0.12, 0.06), (0.21, 0.0))):
        tilt = 0.04 * (k - 1)
        parts.append(beam((-reach, y + tilt, z), (reach, y - tilt, z), 0.1, bark, sides=8))
        for s in (-1, 1):
            parts.append(wheel((s * reach, y - s * tilt, z), 0.04, 0.006, cut, sides=8))
    for s in (-1, 1):
        parts.append(
            beam(
                (s * reach * 0.6, 0.05, body + 0.03),
                (s * reach * 0.6, 0.26, body + 0.03),
                0.03,
                IRON,
            )
        )
        parts.append(ball((s * reach * 0.6, 0.28, body + 0.03), (0.025,) * 3, BRASS, sides=8))
    if has(item, "on"):
        parts += _flames(reach, item)
    return parts


def _flames(reach: float, item: Item) -> list[Part]:
    dice = dice_of(item)
    parts = [
        box((-reach, 0.052, -0.08), (reach, 0.075, 0.08), Surface((1.0, 0.35, 0.08), glow=1.0))
    ]
    looks = [Surface((1.0, 0.45, 0.08), glow=1.2), Surface((1.0, 0.75, 0.2), glow=1.4)]
    for k in range(9):
        x = -reach * 0.8 + reach * 1.6 * k / 8
        high = dice.uniform(0.16, 0.34) * (1.2 - abs(x) / (reach * 1.6))
        r = dice.uniform(0.03, 0.055)
        flame = [(0.0, 0.0), (r, high * 0.25), (r * 0.7, high * 0.55), (0.0, high)]
        parts.append(lathe(flame, looks[k % 2], sides=8).moved(x, 0.2, dice.uniform(-0.05, 0.05)))
    return parts


def piano(item: Item) -> list[Part]:
    """An upright piano: a tall case, black and white keys on a shelf, pedals, a music stand."""
    w, h, d = size_of(item)
    look = surface_of(item)
    near, far = -d / 2, d / 2
    bed = min(0.74, h * 0.62)
    body = near + d * 0.42
    x = w / 2
    closed = has(item, "closed") and not has(item, "open")
    parts = [
        box((-x, 0.03, body), (x, h - 0.03, far), look),
        box((-x, h - 0.03, body - 0.02), (x, h, far), shade(look, 0.85)),
        box((-x, bed - 0.1, near), (x, bed - 0.03, body), look),
        box((-x + 0.06, 0.12, body - 0.008), (x - 0.06, bed - 0.14, body), set_off(look, 0.12)),
        box((-x + 0.06, bed + 0.14, body - 0.008), (x - 0.06, h - 0.06, body), set_off(look, 0.12)),
        slab(w, d * 0.58, 0, 0.08, shade(look, 0.8), z=far - d * 0.29),
    ]
    for s in (-1, 1):
        x0, x1 = sorted((s * x, s * (x - 0.05)))
        parts += [
            box((x0, bed - 0.1, near), (x1, bed + 0.06, body), look),
            box((x0, 0, near + 0.02), (x1, 0.06, body), look),
            beam(
                (s * (x - 0.025), 0.05, near + 0.05),
                (s * (x - 0.025), bed - 0.1, near + 0.05),
                0.05,
                look,
                sides=8,
            ),
        ]
    # Even closed ones show their keys' ends: the lid is folded back in most homes.
    parts += _keys(x - 0.06, bed - 0.03, near + 0.03, body - 0.03, lidded=closed, look=look)
    parts += [
        box((-0.3, bed + 0.2, body - 0.03), (0.3, bed + 0.215, body), shade(look, 0.8)),
        box(
            (-0.22, bed + 0.215, body - 0.02),
            (-0.01, bed + 0.215 + min(0.26, h - bed - 0.25), body - 0.012),
            WHITE,
        ),
        box(
            (0.01, bed + 0.215, body - 0.02),
            (0.22, bed + 0.215 + min(0.26, h - bed - 0.25), body - 0.012),
            WHITE,
        ),
    ]
    for k in range(6):
        y = bed + 0.24 + k * min(0.035, (h - bed - 0.28) / 6)
        for s in (-1, 1):
            parts.append(
                box(
                    (s * 0.115 - 0.085, y, body - 0.022),
                    (s * 0.115 + 0.085, y + 0.004, body - 0.02),
                    BLACK,
                )
            )
    for k in range(3):
        parts.append(
            box((-0.07 + 0.06 * k, 0.03, body - 0.1), (-0.04 + 0.06 * k, 0.045, body), BRASS)
        )
    return parts


def _keys(
    x: float, y: float, near: float, far: float, *, lidded: bool, look: Surface
) -> list[Part]:
    """White keys in a row, black ones between most of them; under a lid only their ends."""
    count = 28
    wide = 2 * x / count
    parts = [box((-x, y, near), (x, y + 0.018, far), Surface((0.96, 0.95, 0.92), gloss=0.4))]
    line = Surface((0.45, 0.44, 0.42))
    for k in range(1, count):
        at = -x + wide * k
        parts.append(
            box((at - 0.0015, y + 0.0175, near), (at + 0.0015, y + 0.0188, far), line, sides="uf")
        )
    for k in range(count - 1):
        if k % 7 in (2, 6):
            continue
        at = -x + wide * (k + 1)
        reach = near + (far - near) * 0.36
        parts.append(
            box(
                (at - wide * 0.3, y + 0.018, reach),
                (at + wide * 0.3, y + 0.033, far),
                BLACK,
                sides="uflr",
            )
        )
    if lidded:
        parts.append(box((-x, y + 0.034, near + (far - near) * 0.62), (x, y + 0.05, far), look))
        parts.append(box((-x, y + 0.018, far - 0.01), (x, y + 0.14, far), Surface((0.5, 0.1, 0.1))))
    return parts


def aquarium(item: Item) -> list[Part]:
    """A tank on a cupboard: water behind glass, gravel, plants, fish, a lit lid."""
    w, h, d = size_of(item)
    wood = Surface((0.30, 0.2, 0.14), gloss=0.1)
    tank = h * 0.58
    x, near, far = w / 2, -d / 2, d / 2
    frame = BLACK
    parts = [
        box((-x + 0.01, 0.05, near + 0.02), (x - 0.01, tank - 0.03, far), wood),
        slab(w - 0.06, d - 0.06, 0, 0.05, BLACK),
        slab(w, d, tank - 0.03, tank, shade(wood, 0.8)),
        box((-x, h - 0.06, near), (x, h, far), frame),
        box((-x + 0.03, h - 0.066, near + 0.05), (x - 0.03, h - 0.06, far - 0.05), LIT),
        box(
            (-x + 0.01, tank, far - 0.012),
            (x - 0.01, h - 0.06, far),
            Surface((0.16, 0.45, 0.68), glow=0.35),
        ),
        box(
            (-x + 0.01, tank, near + 0.02),
            (x - 0.01, tank + 0.05, far - 0.01),
            Surface((0.75, 0.66, 0.5)),
        ),
        slab(w - 0.03, d - 0.04, h - 0.1, h - 0.098, shade(WATER, 1.2)),
    ]
    for s in (-1, 1):
        x0, x1 = sorted((s * 0.004, s * (x - 0.015)))
        parts.append(
            box((x0, 0.07, near + 0.006), (x1, tank - 0.05, near + 0.02), set_off(wood, 0.1))
        )
        parts.append(
            box(
                (s * 0.03 - 0.006, tank * 0.5, near),
                (s * 0.03 + 0.006, tank * 0.66, near + 0.008),
                STEEL,
            )
        )
        for z in (near + 0.008, far - 0.008):
            parts.append(
                beam((s * (x - 0.008), tank, z), (s * (x - 0.008), h - 0.05, z), 0.016, frame)
            )
        side = sorted((s * (x - 0.012), s * (x - 0.006)))
        parts.append(
            box(
                (side[0], tank, near + 0.05),
                (side[1], h - 0.1, far),
                Surface((0.3, 0.58, 0.75), glow=0.25),
            )
        )
    parts.append(
        beam((-x, tank + 0.008, near + 0.008), (x, tank + 0.008, near + 0.008), 0.016, frame)
    )
    dice = dice_of(item)
    for k in range(9):
        px, pz = dice.uniform(-x + 0.08, x - 0.08), dice.uniform(-0.02, far - 0.06)
        tall = dice.uniform(0.12, (h - tank) * 0.62)
        green = Surface((0.12 + 0.1 * (k % 3), 0.5, 0.2), glow=0.15)
        sway = dice.uniform(-0.05, 0.05)
        parts.append(
            tube(
                [
                    (px, tank + 0.04, pz),
                    (px + sway, tank + tall * 0.6, pz),
                    (px - sway, tank + tall, pz),
                ],
                0.025,
                green,
                sides=4,
            )
        )
    colours = [
        (1.0, 0.5, 0.1),
        (1.0, 0.85, 0.2),
        (0.9, 0.2, 0.2),
        (0.95, 0.95, 0.95),
        (0.3, 0.4, 0.95),
    ]
    for k in range(7):
        fx = -x + 0.12 + (w - 0.24) * k / 6
        fy = tank + 0.1 + dice.random() * (h - tank - 0.28)
        parts += _fish(
            fx,
            fy,
            near + 0.06 + 0.03 * (k % 3),
            dice.choice((-1, 1)),
            Surface(colours[k % 5], glow=0.3),
        )
    parts.append(
        ball((-x * 0.5, tank + 0.07, 0.0), (0.08, 0.05, 0.06), Surface((0.45, 0.44, 0.43)), sides=8)
    )
    return parts


def _fish(x: float, y: float, z: float, way: int, look: Surface) -> list[Part]:
    tail = [(-0.03, 0.0), (-0.06, 0.025), (-0.06, -0.025)]
    return [
        ball((x, y, z), (0.04, 0.022, 0.01), look, sides=10),
        prism([(way * a, b) for a, b in tail], z - 0.003, z + 0.003, look, axis="z").moved(x, y, 0),
    ]


def grill(item: Item) -> list[Part]:
    """A lidded drum on a trolley: side tables, knobs, a thermometer, wheels, a cupboard."""
    w, h, d = size_of(item)
    look = surface_of(item)
    body = look if lightness(look) < 0.5 else BLACK
    half = w * 0.32 if w > 0.8 else w * 0.42
    top = h * 0.74
    near, far = -d / 2, d / 2
    parts = [
        box((-half, 0.08, near + 0.08), (half, h * 0.5, far - 0.03), shade(body, 0.8)),
        box((-half, h * 0.5, near + 0.05), (half, top, far), body),
        box((-half + 0.01, h * 0.54, near + 0.03), (half - 0.01, h * 0.64, near + 0.05), STEEL),
    ]
    turn = np.linspace(0, math.pi, 9)
    mid, reach = (near + 0.05 + far) / 2, (far - near - 0.05) / 2
    lid = [(mid - math.cos(t) * reach, top + 0.01 + math.sin(t) * (h - top - 0.01)) for t in turn]
    parts.append(prism(lid, -half, half, body))
    parts += [
        beam(
            (-half * 0.7, top + 0.1, near + 0.02),
            (half * 0.7, top + 0.1, near + 0.02),
            0.028,
            STEEL,
            sides=8,
        ),
        wheel((0, top + 0.16, near + 0.05), 0.035, 0.03, WHITE, axis="z", sides=14),
    ]
    for s in (-1, 1):
        parts.append(
            beam(
                (s * half * 0.65, top + 0.1, near + 0.02),
                (s * half * 0.65, top + 0.1, near + 0.09),
                0.02,
                STEEL,
            )
        )
        parts.append(wheel((s * (half - 0.02), 0.08, far - 0.1), 0.08, 0.04, BLACK, sides=16))
        parts.append(
            beam(
                (s * (half - 0.03), 0, near + 0.11),
                (s * (half - 0.03), h * 0.5, near + 0.11),
                0.04,
                IRON,
            )
        )
        if w > 0.8:
            x0, x1 = sorted((s * half, s * w / 2))
            parts.append(box((x0, top - 0.04, near + 0.08), (x1, top, far - 0.05), STEEL))
    for k in range(4):
        x = (k - 1.5) * half * 0.45
        parts.append(wheel((x, h * 0.59, near + 0.018), 0.025, 0.035, BLACK, axis="z", sides=12))
    for s in (-1, 1):
        x0, x1 = sorted((s * 0.006, s * (half - 0.02)))
        parts.append(box((x0, 0.12, near + 0.07), (x1, h * 0.48, near + 0.08), body))
        parts.append(
            box(
                (s * 0.03 - 0.008, h * 0.28, near + 0.05),
                (s * 0.03 + 0.008, h * 0.42, near + 0.07),
                STEEL,
            )
        )
    return parts


BY_NAME: dict[str, Builder] = {
    "fireplace": fireplace,
    "piano": piano,
    "upright_piano": piano,
    "aquarium": aquarium,
    "grill": grill,
    "barbecue": grill,
}
BY_SHAPE: dict[str, Builder] = {}
