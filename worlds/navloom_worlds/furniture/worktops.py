"""What is worked and played on: benches, boards to iron on, changing tables, pool tables."""

from __future__ import annotations

import math

from navloom.scenes.scene import Item
from navloom_worlds.furniture.joinery import castors, cushion, drawer, framed_hole, legs
from navloom_worlds.furniture.making import (
    BLACK,
    CHROME,
    IRON,
    PALE_WOOD,
    STEEL,
    WHITE,
    Builder,
    lightness,
    set_off,
    shade,
    size_of,
)
from navloom_worlds.furniture.turnery import ball, prism, rounded, slab, tube, wheel
from navloom_worlds.geometry.colours import surface_of
from navloom_worlds.geometry.solids import Part, Surface, beam, box, cylinder


def workbench(item: Item) -> list[Part]:
    """A thick top with a vice, drawers under one end, a shelf with tools' boxes below."""
    w, h, d = size_of(item)
    look = surface_of(item)
    parts = [
        slab(w, d, h - 0.07, h, look),
        *legs(w - 0.04, d - 0.04, h - 0.07, 0.09, shade(look, 0.85)),
    ]
    parts.append(slab(w - 0.08, d - 0.08, 0.18, 0.21, shade(look, 0.9)))
    front = -d / 2 + 0.04
    x0, x1 = w / 2 - 0.6, w / 2 - 0.1
    parts.append(box((x0, h - 0.4, front + 0.02), (x1, h - 0.07, d / 2 - 0.1), shade(look, 0.8)))
    for low in (h - 0.4, h - 0.235):
        parts += drawer((x0, low), (x1, low + 0.16), front, set_off(look, 0.18))
    vice = -w / 2 + 0.28
    parts += [
        box((vice - 0.12, h - 0.16, -d / 2 + 0.001), (vice + 0.12, h - 0.01, -d / 2 + 0.04), IRON),
        wheel((vice, h - 0.1, -d / 2 + 0.02), 0.025, 0.04, STEEL, axis="z", sides=10),
        beam(
            (vice - 0.1, h - 0.1, -d / 2 + 0.008),
            (vice + 0.1, h - 0.1, -d / 2 + 0.008),
            0.014,
            STEEL,
        ),
    ]
    red = Surface((0.7, 0.12, 0.1), gloss=0.3)
    parts += [
        slab(0.42, min(0.25, d * 0.5), 0.21, 0.38, red, x=-w * 0.18),
        slab(0.2, 0.02, 0.4, 0.42, BLACK, x=-w * 0.18),
        box((-w * 0.18 - 0.1, 0.38, -0.01), (-w * 0.18 - 0.085, 0.42, 0.01), BLACK),
        box((-w * 0.18 + 0.085, 0.38, -0.01), (-w * 0.18 + 0.1, 0.42, 0.01), BLACK),
    ]
    return parts


def changing_table(item: Item) -> list[Part]:
    """For babies: a padded mat between low rims, shelves with folded linen and boxes below."""
    w, h, d = size_of(item)
    look = surface_of(item)
    top = h - 0.06
    parts = legs(w, d, h, 0.045, look)
    for y in (0.12, h * 0.45):
        parts.append(slab(w - 0.02, d - 0.02, y, y + 0.02, look))
    parts.append(slab(w - 0.02, d - 0.02, top - 0.03, top, look))
    parts += [
        box((-w / 2, top - 0.05, -d / 2), (-w / 2 + 0.02, h, d / 2), look),
        box((w / 2 - 0.02, top - 0.05, -d / 2), (w / 2, h, d / 2), look),
        box((-w / 2, top - 0.05, d / 2 - 0.02), (w / 2, h, d / 2), look),
        box((-w / 2, top - 0.05, -d / 2), (w / 2, top, -d / 2 + 0.02), look),
    ]
    mat = Surface((0.62, 0.80, 0.86))
    parts.append(
        cushion(
            (-w / 2 + 0.03, w / 2 - 0.03),
            (top - 0.01, h - 0.004),
            (-d / 2 + 0.03, d / 2 - 0.03),
            mat,
            soft=0.03,
        )
    )
    for s in (-1, 1):
        x = s * (w / 2 - 0.09)
        parts.append(
            cushion(
                (x - 0.05, x + 0.05), (h - 0.05, h), (-d / 2 + 0.04, d / 2 - 0.04), mat, soft=0.03
            )
        )
    for k, colour in enumerate(((0.9, 0.85, 0.6), (0.95, 0.94, 0.92), (0.85, 0.65, 0.7))):
        x = (k - 1) * w / 3.4
        for j in range(3):
            parts.append(
                rounded(
                    (x - w * 0.12, h * 0.45 + 0.02 + 0.06 * j, -d * 0.35),
                    (x + w * 0.12, h * 0.45 + 0.078 + 0.06 * j, d * 0.3),
                    0.02,
                    Surface(colour),
                )
            )
    for s in (-1, 1):
        parts.append(
            slab(
                w * 0.36,
                d * 0.7,
                0.14,
                0.14 + min(0.22, h * 0.2),
                Surface((0.72, 0.58, 0.4)),
                x=s * w * 0.22,
            )
        )
    return parts


def trolley(item: Item) -> list[Part]:
    """Trays one over the other between thin posts, on castors."""
    w, h, d = size_of(item)
    look = surface_of(item)
    metal = STEEL if lightness(look) < 0.5 else IRON
    parts = castors(w, d, BLACK, radius=0.03)
    parts += legs(w - 0.02, d - 0.02, h, 0.022, metal, low=0.06, sides=6)
    for y in (0.12, h * 0.52, h - 0.03):
        parts.append(slab(w - 0.01, d - 0.01, y, y + 0.03, look))
        if y < h - 0.1:
            parts += [
                box(
                    (-w / 2 + 0.01, y + 0.07, s * (d / 2 - 0.012) - 0.005),
                    (w / 2 - 0.01, y + 0.08, s * (d / 2 - 0.012) + 0.005),
                    metal,
                )
                for s in (-1, 1)
            ]
    return [
        *parts,
        beam(
            (-w / 2 + 0.01, h * 0.85, -d / 2 + 0.02),
            (-w / 2 + 0.01, h * 0.85, d / 2 - 0.02),
            0.02,
            metal,
        ),
    ]


def ironing_board(item: Item) -> list[Part]:
    """A pointed, padded board on crossed legs, with the rest for the iron at its blunt end."""
    w, h, d = size_of(item)
    cloth = surface_of(item)
    x, z = w / 2, d / 2
    flip = -1 if w >= d else 1
    if w < d:
        x, z = d / 2, w / 2
    outline = [
        (-x + 0.22, -z),
        (x * 0.2, -z),
        (x * 0.75, -z * 0.62),
        (x, 0.0),
        (x * 0.75, z * 0.62),
        (x * 0.2, z),
        (-x + 0.22, z),
    ]
    parts = [
        prism(outline, h - 0.03, h - 0.006, STEEL, axis="y"),
        prism([(a * 0.995, b) for a, b in outline], h - 0.02, h, cloth, axis="y"),
        box((-x, h - 0.035, -z * 0.7), (-x + 0.22, h - 0.025, z * 0.7), IRON),
    ]
    for k in range(4):
        zz = (k - 1.5) * z * 0.38
        parts.append(beam((-x, h - 0.022, zz), (-x + 0.22, h - 0.022, zz), 0.01, STEEL))
    for s in (-1, 1):
        a, b = (-x * 0.72, 0.012, s * z * 0.7), (x * 0.6, h - 0.03, s * z * 0.3)
        c, e = (x * 0.72, 0.012, s * z * 0.7), (-x * 0.55, h - 0.03, s * z * 0.3)
        parts += [beam(a, b, 0.024, STEEL, sides=6), beam(c, e, 0.024, STEEL, sides=6)]
    for xx in (-x * 0.72, x * 0.72):
        parts.append(beam((xx, 0.012, -z * 0.9), (xx, 0.012, z * 0.9), 0.024, WHITE, sides=6))
    return parts if flip < 0 else [p.turned(math.pi / 2) for p in parts]


def pool_table(item: Item) -> list[Part]:
    """Green cloth within wooden rails with six pockets, balls and a cue on it."""
    w, h, d = size_of(item)
    look = surface_of(item)
    cloth = Surface((0.08, 0.42, 0.22))
    rail = 0.11
    bed = h - 0.04
    parts = [
        slab(w - 0.06, d - 0.06, h - 0.24, bed - 0.02, shade(look, 0.9)),
        slab(w - 0.1, d - 0.1, bed - 0.02, bed, cloth),
    ]
    parts += framed_hole(w, d, w - 2 * rail, d - 2 * rail, bed - 0.06, h, look)
    parts += framed_hole(
        w - 2 * rail + 0.02,
        d - 2 * rail + 0.02,
        w - 2 * rail - 0.06,
        d - 2 * rail - 0.06,
        bed - 0.01,
        h - 0.005,
        cloth,
    )
    parts += legs(w - 0.16, d - 0.16, h - 0.2, 0.14, shade(look, 0.8), sides=8)
    for sx in (-1, 0, 1):
        for sz in (-1, 1):
            x, z = sx * (w / 2 - rail * 0.9), sz * (d / 2 - rail * 0.85)
            parts.append(cylinder(0.055, h - 0.05, h - 0.001, BLACK, sides=12).moved(x, 0, z))
    colours = [
        (0.9, 0.8, 0.1),
        (0.1, 0.2, 0.7),
        (0.8, 0.1, 0.1),
        (0.4, 0.1, 0.5),
        (0.9, 0.45, 0.1),
        (0.1, 0.1, 0.1),
    ]
    n = 0
    for row in range(3):
        for k in range(row + 1):
            spot = (w * 0.18 + row * 0.055, bed + 0.027, (k - row / 2) * 0.06)
            parts.append(ball(spot, (0.028,) * 3, Surface(colours[n], gloss=0.5), sides=8))
            n += 1
    parts.append(
        ball((-w * 0.25, bed + 0.027, 0.05), (0.028,) * 3, Surface((0.95, 0.95, 0.92)), sides=8)
    )
    parts.append(
        beam(
            (-w * 0.42, h - 0.015, d * 0.2),
            (w * 0.1, h - 0.015, d * 0.28),
            0.022,
            PALE_WOOD,
            sides=6,
        )
    )
    return parts


def foosball_table(item: Item) -> list[Part]:
    """A box with a green field, rods across it with red and blue men, handles at both sides."""
    w, h, d = size_of(item)
    look = surface_of(item)
    reach = 0.14
    inner_d = d - 2 * reach
    low, field = h - 0.28, h - 0.13
    parts = legs(w - 0.02, inner_d - 0.02, low + 0.04, 0.09, shade(look, 0.8))
    parts += framed_hole(w, inner_d, w - 0.08, inner_d - 0.06, low, h - 0.02, look)
    parts += [
        slab(w - 0.06, inner_d - 0.05, low + 0.05, field, Surface((0.16, 0.5, 0.2))),
        slab(0.012, inner_d - 0.06, field, field + 0.002, WHITE),
        ball((w * 0.07, field + 0.018, 0.03), (0.018,) * 3, WHITE, sides=8),
    ]
    rods = 8
    sides_of = [1, 1, -1, 1, -1, 1, -1, -1]
    men = [1, 2, 3, 5, 5, 3, 2, 1]
    red, blue = Surface((0.75, 0.1, 0.1)), Surface((0.1, 0.2, 0.7))
    for k in range(rods):
        x, s = (k - 3.5) * (w - 0.2) / rods, sides_of[k]
        y = h - 0.055
        parts.append(beam((x, y, -d / 2 + 0.02), (x, y, d / 2 - 0.02), 0.018, CHROME, sides=6))
        parts.append(wheel((x, y, s * (d / 2 - 0.05)), 0.02, 0.1, BLACK, axis="z", sides=8))
        for m in range(men[k]):
            z = (m - (men[k] - 1) / 2) * (inner_d - 0.14) / max(1, men[k] if men[k] > 1 else 1)
            parts.append(
                slab(0.028, 0.03, field + 0.008, y + 0.04, red if s > 0 else blue, x=x, z=z)
            )
    return parts


def plant_stand(item: Item) -> list[Part]:
    """A small high table: a round plate on three thin curved legs."""
    w, h, d = size_of(item)
    look = surface_of(item)
    parts = [cylinder(1.0, h - 0.02, h, look, sides=20).scaled(w / 2, 1, d / 2)]
    for k in range(4):
        a = math.pi / 4 + math.pi / 2 * k
        x, z = math.cos(a) * w * 0.48, math.sin(a) * d * 0.48
        parts.append(
            tube(
                [
                    (x, 0.01, z),
                    (x * 0.7, h * 0.25, z * 0.7),
                    (x * 0.62, h * 0.6, z * 0.62),
                    (x * 0.85, h - 0.015, z * 0.85),
                ],
                0.02,
                look,
            )
        )
    return [
        *parts,
        cylinder(1.0, h * 0.3, h * 0.3 + 0.015, look, sides=16).scaled(w * 0.34, 1, d * 0.34),
    ]


BY_NAME: dict[str, Builder] = {
    "workbench": workbench,
    "changing_table": changing_table,
    "trolley": trolley,
    "ironing_board": ironing_board,
    "pool_table": pool_table,
    "foosball_table": foosball_table,
    "plant_stand": plant_stand,
}
BY_SHAPE: dict[str, Builder] = {}
