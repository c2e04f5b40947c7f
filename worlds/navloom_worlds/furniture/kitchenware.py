"""What kitchens are full of besides vessels: small machines, knives and boards, racks, food."""

from __future__ import annotations

import math
from random import Random

import numpy as np

from navloom.scenes.scene import Item
from navloom_worlds.furniture.making import STEEL, Builder, shade, size_of
from navloom_worlds.furniture.shaping import (
    BLACK,
    BRIGHT,
    CREAM,
    GREEN,
    GREY,
    PAPER,
    RED,
    WHITE,
    WOOD,
    YELLOW,
    arc,
    face,
    fitted,
    look,
    pick,
    roll,
    round_corners,
    spun,
    top_face,
)
from navloom_worlds.furniture.turnery import ball, prism, ring, tube
from navloom_worlds.furniture.wall_hangings import print_of
from navloom_worlds.geometry.solids import Part, Surface, beam, box, cylinder, lathe

_CRUST = Surface((0.70, 0.45, 0.22))


def _toaster(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, (0.74, 0.75, 0.77), (0.75, 0.15, 0.14), gloss=0.5)
    body = prism(round_corners(1.8, 0.86, 0.24), -0.5, 0.5, own, axis="z").moved(0, 0.5, 0)
    parts = [body, box((-0.92, 0, -0.48), (0.92, 0.14, 0.48), BLACK)]
    for z in (-0.2, 0.2):
        parts.append(box((-0.68, 0.925, z - 0.07), (0.68, 0.94, z + 0.07), BLACK, sides="u"))
    if roll(item, "toast", 2):
        slice_ = prism(round_corners(1.1, 0.5, 0.12), -0.05, 0.05, _CRUST, axis="z")
        parts.append(slice_.moved(0, 0.85, -0.2))
    parts.append(box((0.9, 0.55, -0.12), (1.04, 0.63, 0.12), BLACK))
    knob = cylinder(0.1, 0, 0.08, BLACK, sides=10).tilted(-math.pi / 2).moved(0.55, 0.35, -0.48)
    return fitted([*parts, knob], (w, h, d))


def _mixer(item: Item) -> list[Part]:
    own = look(item, (0.75, 0.15, 0.14), (0.85, 0.88, 0.84), gloss=0.4)
    # Drawn from the side: the bowl to the front (-z), the column behind.
    foot = prism(round_corners(0.7, 1.5, 0.25), 0, 0.1, own, axis="y")
    column = prism(round_corners(0.45, 0.4, 0.15), 0.1, 0.95, own, axis="y").moved(0, 0, 0.5)
    head = ball((0, 1.12, -0.02), (0.3, 0.22, 0.75), own, sides=10, rings=6)
    bowl = lathe([(0, 0.1), (0.2, 0.1), (0.22, 0.16), (0.4, 0.45), (0.42, 0.7)], STEEL, sides=16)
    whisk = lathe([(0.02, 0.9), (0.02, 0.66), (0.15, 0.5), (0, 0.3)], GREY, sides=6)
    parts = [foot, column, head]
    parts += [bowl.moved(0, 0, -0.32), whisk.moved(0, 0, -0.35)]
    knob = cylinder(0.07, 0, 0.06, BLACK, sides=10).tilted(math.pi / 2, "z").moved(-0.28, 1.1, 0.1)
    return fitted([*parts, knob, ring((0, 0.7, -0.32), 0.42, 0.04, STEEL, axis="y")], size_of(item))


def _blade(own: Surface, long: float) -> list[Part]:
    outline = [(-0.1, 0.0), (0.1, 0.0), (0.1, -long * 0.75), (-0.02, -long), (-0.1, -long)]
    blade = prism(outline, 0.02, 0.05, STEEL, axis="y")
    return [blade, box((-0.1, 0, 0), (0.1, 0.09, long * 0.65), own)]


def _knife(item: Item) -> list[Part]:
    handle = pick(item, (BLACK, WOOD), "handle")
    return fitted(_blade(handle, 1.6), size_of(item), long=True)


def _knife_holder(item: Item) -> list[Part]:
    own = look(item, WOOD.rgb, (0.12, 0.12, 0.13))
    profile = [(-0.5, 0.0), (0.6, 0.0), (0.6, 0.9), (-0.1, 1.15), (-0.5, 0.45)]
    block = prism(profile, -0.4, 0.4, own, axis="z").turned(math.pi / 2)
    parts = [block]
    for row, (y, z) in enumerate(((0.72, -0.32), (0.98, -0.12))):
        for x in (-0.22, 0.0, 0.22):
            end = (x, y + 0.32 + 0.06 * row, z - 0.5)
            parts.append(beam((x, y - 0.1, z + 0.12), end, 0.11, BLACK))
            parts.append(beam(end, (x, end[1] + 0.01, end[2] - 0.015), 0.12, STEEL))
    return fitted(parts, size_of(item))


def _cutting_board(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, (0.72, 0.54, 0.34))
    if h > 0.1:
        board = prism(round_corners(w, h, min(w, h) * 0.1), -d / 2, d / 2, own, axis="z")
        return fitted([board], (w, h, d))
    body = prism(round_corners(w, d, min(w, d) * 0.1), 0, h, own, axis="y")
    x = -w * 0.42
    hole = [(x + w * 0.025 * math.cos(a), d * 0.12 * math.sin(a)) for a in _TURN]
    groove = shade(own, 0.7)
    parts = [body, prism(hole, h, h + 4e-4, BLACK, axis="y")]
    for s in (-1, 1):
        parts.append(top_face(w * 0.72, d * 0.02, h + 4e-4, groove, x=w * 0.05, z=s * d * 0.42))
    return fitted(parts, (w, h, d))


_TURN = np.linspace(0, 2 * math.pi, 11)[:-1]


def _utensils(item: Item) -> list[Part]:
    own = look(item, (0.88, 0.86, 0.8), (0.3, 0.42, 0.52))
    pot = lathe([(0, 0), (0.42, 0), (0.5, 0.06), (0.5, 1), (0.44, 1), (0.42, 0.1)], own, sides=14)
    parts = [pot]
    for k in range(5):
        turn, out = k * 2.5, 0.3 + 0.1 * (k % 2)
        x, z = out * math.cos(turn), out * math.sin(turn)
        top = 1.75 + 0.15 * (k % 3)
        tone = (WOOD, STEEL, BLACK)[k % 3]
        parts.append(beam((-x * 0.6, 0.1, -z * 0.6), (x, top, z), 0.06, tone, sides=5))
        if k % 2:
            parts.append(ball((x * 1.1, top + 0.15, z * 1.1), (0.14, 0.2, 0.06), tone, sides=8))
        else:
            head = box((-0.11, 0, -0.02), (0.11, 0.32, 0.02), tone)
            parts.append(head.turned(turn).moved(x, top - 0.02, z))
    return fitted(parts, size_of(item))


def _spice_rack(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, WOOD.rgb)
    parts = []
    thin = min(0.012, w * 0.04)
    for x in (-w / 2, w / 2 - thin):
        parts.append(box((x, 0, -d / 2), (x + thin, h, d / 2), own))
    rows = 2 if h > 0.18 else 1
    for row in range(rows):
        y = h * row / rows
        parts.append(box((-w / 2, y, -d / 2), (w / 2, y + thin, d / 2), own))
        rail = y + h / rows * 0.3
        parts.append(
            box((-w / 2, rail, -d / 2), (w / 2, rail + thin * 0.7, -d / 2 + thin / 2), own)
        )
        count = max(3, round(w / 0.07))
        for k in range(count):
            x = ((k + 0.5) / count - 0.5) * (w - 2 * thin)
            high = h / rows * 0.72
            r = min((w - 2 * thin) / count * 0.42, d * 0.36)
            spice = pick(item, _SPICES, f"{row}{k}")
            jar = lathe([(r, 0), (r, high * 0.75), (r * 0.8, high * 0.8)], spice, sides=7)
            cap = lathe([(r * 0.9, high * 0.8), (r * 0.9, high), (0, high)], BLACK, sides=7)
            parts += [part.moved(x, y + thin, d * 0.04) for part in (jar, cap)]
    return parts


_SPICES = tuple(
    Surface(rgb, gloss=0.3)
    for rgb in ((0.7, 0.25, 0.1), (0.85, 0.65, 0.2), (0.35, 0.45, 0.2), (0.45, 0.28, 0.15))
)


def _dish_rack(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, (0.74, 0.75, 0.77), gloss=0.5)
    thin = 0.006
    x, z, low = w / 2 - thin, d / 2 - thin, h * 0.12
    corners = [(-x, -z), (x, -z), (x, z), (-x, z), (-x, -z)]
    high = min(h - thin, max(h * 0.55, 0.08))
    parts = [tube([(a, y, b) for a, b in corners], thin * 1.4, own, sides=4) for y in (low, high)]
    parts += [beam((a, 0, b), (a, high, b), thin * 1.4, own) for a, b in corners[:4]]
    for k in range(9):
        at = (k / 8 - 0.5) * 2 * x
        parts.append(beam((at, low, -z), (at, low, z), thin, own))
        parts.append(beam((at, low, z * 0.1), (at, high, z * 0.1), thin, own))
    # Some plates that dry in it.
    r = min(h - low, d * 0.8) / 2
    plate = lathe([(0, 0), (0.6, 0.0), (1, 0.08), (0.6, 0.04), (0, 0.04)], WHITE, sides=16)
    upright = plate.scaled(r, r, r).tilted(math.pi / 2 - 0.15, "z")
    for k in range(roll(item, "plates", 3) + 1):
        parts.append(upright.moved((0.15 + 0.11 * k) * w, low + r, 0))
    return fitted(parts, (w, h, d))


def _paper_roll(item: Item) -> list[Part]:
    own = PAPER
    core = lathe([(0.3, 0.07), (1, 0.07), (1, 0.92), (0.3, 0.92)], own, sides=18)
    post = cylinder(0.1, 0, 1, pick(item, (WOOD, STEEL, BLACK), "post"), sides=8)
    foot = cylinder(0.95, 0, 0.05, pick(item, (WOOD, STEEL, BLACK), "post"), sides=18)
    flap = box((0.3, 0.07, -1.02), (1.0, 0.92, -0.99), shade(own, 0.95))
    return fitted([core, post, foot, flap], size_of(item))


def _bread(item: Item) -> list[Part]:
    size = size_of(item)
    profile = [*arc((0, 0.55, 0), (0.55, 0.45), 0, math.pi), (-0.45, 0.0, 0), (0.45, 0.0, 0)]
    outline = [(x, y) for x, y, _ in profile]
    loaf = prism(outline, -1.0, 1.0, _CRUST, axis="z", smooth=True)
    parts = [loaf]
    cut = prism([(x * 0.86, 0.04 + y * 0.9) for x, y in outline], -1.01, -1.005, CREAM, axis="z")
    parts.append(cut)
    for z in (-0.5, 0.0, 0.5):
        parts.append(beam((-0.25, 0.99, z - 0.1), (0.25, 0.99, z + 0.1), 0.07, CREAM))
    return fitted(parts, size, long=True)


def _apple(item: Item) -> list[Part]:
    own = look(item, (0.75, 0.14, 0.12), (0.45, 0.65, 0.2), plain=True, gloss=0.25)
    return fitted(_apple_parts(own), size_of(item))


def _apple_parts(own: Surface) -> list[Part]:
    profile = [(0, 0.08), (0.35, 0), (0.8, 0.3), (1, 0.85), (0.85, 1.4), (0.45, 1.6), (0, 1.4)]
    stalk = tube([(0, 1.4, 0), (0.06, 1.65, 0), (0.15, 1.8, 0)], 0.09, WOOD, sides=4)
    return [lathe(profile, own, sides=12), stalk]


def _fruit(item: Item) -> list[Part]:
    kind = pick(item, ("round", "apple", "pear"), "kind")
    own = look(item, (0.95, 0.55, 0.12), (0.75, 0.14, 0.12), plain=True, gloss=0.2)
    if kind == "apple":
        return fitted(_apple_parts(own), size_of(item))
    if kind == "pear":
        profile = [(0, 0), (0.6, 0.05), (1, 0.6), (0.8, 1.2), (0.45, 1.8), (0.2, 2.1), (0, 2.15)]
        stalk = tube([(0, 2.1, 0), (0.1, 2.4, 0)], 0.1, WOOD, sides=4)
        return fitted([lathe(profile, own, sides=12), stalk], size_of(item))
    button = ball((0, 1.98, 0), (0.12, 0.05, 0.12), GREEN, sides=6, rings=4)
    return fitted([ball((0, 1, 0), 1, own, sides=12, rings=8), button], size_of(item))


def _carton(item: Item, tone: Surface, cover: str) -> list[Part]:
    w, h, d = size_of(item)
    parts = [box((-w / 2, 0, -d / 2), (w / 2, h, d / 2), tone)]
    art = print_of(item, "cover", 0.75, cover)
    if w >= d:
        parts.append(face(w * 0.96, h * 0.02, h * 0.98, -d / 2 - 4e-4, art))
    else:
        # Its broad side is turned to its own left and right.
        front = face(d * 0.96, h * 0.02, h * 0.98, -w / 2 - 4e-4, art)
        parts += [front.turned(math.pi / 2), front.turned(-math.pi / 2)]
    return fitted(parts, (w, h, d))


def _cereal(item: Item) -> list[Part]:
    own = look(item, (0.9, 0.75, 0.2), (0.75, 0.2, 0.15), (0.2, 0.4, 0.7), plain=True)
    return _carton(item, own, pick(item, ("", "red", "blue", "green"), "cover"))


def _food(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, *BRIGHT, plain=True)
    kind = roll(item, "kind", 3)
    if kind == 0 and h > 0.8 * min(w, d):
        return _carton(item, own, pick(item, ("", "red", "green"), "cover"))
    if kind == 1:
        can = lathe(
            [(0, 0), (1, 0), (1, 0.05), (0.96, 0.07), (0.96, 0.93), (1, 0.95), (1, 1), (0, 1)],
            STEEL,
        )
        label = lathe([(0.98, 0.09), (0.98, 0.91)], own)
        badge = lathe([(0.99, 0.35), (0.99, 0.65)], CREAM)
        return fitted([can, label, badge], (w, h, d))
    # A packet, crimped at its top.
    body = prism(round_corners(1, 0.6, 0.2), 0, 0.86, own, axis="y")
    crimp = box((-0.45, 0.86, -0.05), (0.45, 1, 0.05), shade(own, 0.75))
    shoulder = prism(
        [(-0.5, 0.8), (0.5, 0.8), (0.45, 0.92), (-0.45, 0.92)], -0.18, 0.18, own, axis="z"
    )
    label = face(0.8, 0.25, 0.6, -0.31, CREAM)
    stripe = face(0.8, 0.3, 0.38, -0.315, shade(own, 0.6))
    return fitted([body, crimp, shoulder, label, stripe], (w, h, d))


def _milk(item: Item) -> list[Part]:
    own = look(item, (0.93, 0.93, 0.92), plain=True)
    tint = pick(item, (Surface((0.2, 0.4, 0.75)), Surface((0.25, 0.55, 0.3)), RED), "tint")
    body = box((-0.5, 0, -0.5), (0.5, 1.35, 0.5), own)
    roof = prism([(-0.5, 1.35), (0.5, 1.35), (0.03, 1.72), (-0.03, 1.72)], -0.5, 0.5, own, axis="z")
    fin = box((-0.03, 1.7, -0.5), (0.03, 1.9, 0.5), tint)
    band = [face(1, 0.3, 0.8, -0.505, tint), face(1, 0.3, 0.8, -0.505, tint).turned(math.pi / 2)]
    cap = cylinder(0.13, 0, 0.08, tint, sides=8).tilted(-0.9).moved(0, 1.55, -0.28)
    return fitted([body, roof, fin, *band, cap], size_of(item))


def _pizza_box(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    card = look(item, (0.75, 0.6, 0.4), (0.92, 0.92, 0.9), plain=True)
    parts = [box((-w / 2, 0, -d / 2), (w / 2, h * 0.96, d / 2), card)]
    parts.append(box((-w / 2, h * 0.45, -d * 0.502), (w / 2, h * 0.5, -d * 0.5), shade(card, 0.6)))
    for radius, high, tone in ((0.38, 0.97, _CRUST), (0.33, 0.985, YELLOW)):
        disc = [
            (radius * w * math.cos(a), radius * d * math.sin(a))
            for a in np.linspace(0, 6.28, 19)[:-1]
        ]
        parts.append(prism(disc, h * 0.96, h * high, tone, axis="y"))
    dice = Random(roll(item, "pizza"))
    for k in range(7):
        r, a = 0.24 * dice.random() ** 0.5, k * 2.4
        spot = [
            (w * (r * math.cos(a) + 0.05 * math.cos(t)), d * (r * math.sin(a) + 0.05 * math.sin(t)))
            for t in _TURN
        ]
        parts.append(prism(spot, h * 0.985, h, RED, axis="y"))
    return fitted(parts, (w, h, d))


def _sponge(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, (0.95, 0.8, 0.25), (0.3, 0.6, 0.8), plain=True)
    body = prism(round_corners(w, d, min(w, d) * 0.12), 0, h * 0.7, own, axis="y")
    scour = prism(
        round_corners(w, d, min(w, d) * 0.12), h * 0.7, h, Surface((0.15, 0.42, 0.25)), axis="y"
    )
    return [body, scour]


def _shaker(item: Item) -> list[Part]:
    own = look(item, (0.93, 0.92, 0.9), (0.35, 0.22, 0.13))
    body = lathe([(0, 0), (1, 0), (0.85, 0.35), (0.72, 0.72)], own, sides=12)
    cap = lathe([(0.74, 0.72), (0.74, 0.85), (0.5, 0.97), (0, 1)], STEEL, sides=12)
    holes = spun(ball((0.3, 0.985, 0), (0.07, 0.02, 0.07), BLACK, sides=5, rings=3), 4)
    return fitted([body, cap, *holes], size_of(item))


def _can(item: Item) -> list[Part]:
    metal = look(item, (0.74, 0.75, 0.77), gloss=0.5)
    label = Surface(pick(item, BRIGHT, "label"))
    rim = [
        (0, 0),
        (0.98, 0),
        (1, 0.03),
        (0.95, 0.06),
        (0.95, 0.94),
        (1, 0.97),
        (0.94, 1),
        (0.9, 0.96),
    ]
    parts = [lathe([*rim, (0, 0.96)], metal), lathe([(0.965, 0.12), (0.965, 0.88)], label)]
    parts.append(lathe([(0.975, 0.4), (0.975, 0.62)], CREAM))
    return fitted(parts, size_of(item))


def _container(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, (0.85, 0.9, 0.92), *BRIGHT[1:4], plain=True)
    lid = pick(item, (WHITE, Surface((0.2, 0.45, 0.7)), Surface((0.6, 0.62, 0.65))), "lid")
    parts = [prism(round_corners(w * 0.94, d * 0.94, min(w, d) * 0.1), 0, h * 0.84, own, axis="y")]
    parts.append(prism(round_corners(w, d, min(w, d) * 0.1), h * 0.82, h, lid, axis="y"))
    for s in (-1, 1):
        clip = (s * w * 0.48, h * 0.62, -d * 0.12), (s * w * 0.5, h * 0.84, d * 0.12)
        a, b = clip
        parts.append(box((min(a[0], b[0]), a[1], a[2]), (max(a[0], b[0]), b[1], b[2]), lid))
    parts.append(face(w * 0.35, h * 0.3, h * 0.55, -d * 0.472, WHITE))
    return fitted(parts, (w, h, d))


BY_NAME: dict[str, Builder] = {
    "toaster": _toaster,
    "mixer": _mixer,
    "knife": _knife,
    "knife_holder": _knife_holder,
    "cutting_board": _cutting_board,
    "kitchen_utensil": _utensils,
    "spice_rack": _spice_rack,
    "dish_rack": _dish_rack,
    "paper_towel": _paper_roll,
    "bread": _bread,
    "apple": _apple,
    "fruit": _fruit,
    "cereal_box": _cereal,
    "food": _food,
    "milk_carton": _milk,
    "pizza_box": _pizza_box,
    "sponge": _sponge,
    "salt_shaker": _shaker,
    "can": _can,
    "container": _container,
}
BY_SHAPE: dict[str, Builder] = {"rack": _dish_rack}
