"""Tools and small household machines: brooms, hammers, drills, irons, fans, keys, glasses."""

from __future__ import annotations

import math

import numpy as np

from navloom.scenes.scene import Item
from navloom_worlds.furniture.making import STEEL, Builder, has, shade, size_of
from navloom_worlds.furniture.shaping import (
    BLACK,
    BRASS,
    BRIGHT,
    DARK_WOOD,
    GREY,
    RED,
    RUBBER,
    WHITE,
    WOOD,
    YELLOW,
    arc,
    face,
    fitted,
    look,
    roll,
    round_corners,
)
from navloom_worlds.furniture.turnery import ball, prism, ring, tube
from navloom_worlds.geometry.solids import Part, Surface, beam, box, cylinder, lathe

_TURN = np.linspace(0, 2 * math.pi, 15)[:-1]


def _broom(item: Item) -> list[Part]:
    own = look(item, WOOD.rgb, *BRIGHT[:2])
    straw = Surface((0.80, 0.66, 0.36)) if roll(item, "straw", 2) else shade(own, 0.7)
    # Its head as wide as it is, on the floor; the stick up the middle.
    bristles = prism([(-1, 0), (1, 0), (0.85, 0.13), (-0.85, 0.13)], -0.5, 0.5, straw, axis="z")
    head = box((-0.87, 0.12, -0.4), (0.87, 0.16, 0.4), own)
    lines = [
        box((x, 0, -0.52), (x + 0.03, 0.12, -0.5), shade(straw, 0.7))
        for x in np.linspace(-0.8, 0.8, 9)
    ]
    stick = tube([(0, 0.15, 0), (0, 1, 0)], 0.16, WOOD if own.rgb == straw.rgb else own, sides=6)
    return fitted([bristles, head, *lines, stick.scaled(1, 1, 2.5)], size_of(item))


def _mop(item: Item) -> list[Part]:
    own = look(item, *BRIGHT[:2], plain=True)
    cloth = Surface((0.88, 0.87, 0.82), "fabric")
    strands = []
    for k in range(11):
        x = (k - 5) / 5
        foot = [
            (x * 0.35, 0.14, 0),
            (x * 0.75, 0.09, -0.2 + 0.4 * (k % 2)),
            (x, 0.0, -0.45 + 0.9 * (k % 2)),
        ]
        strands.append(tube(foot, [0.16, 0.2, 0.2], cloth, sides=4))
    clamp = box((-0.4, 0.12, -0.25), (0.4, 0.17, 0.25), own)
    stick = tube([(0, 0.15, 0), (0, 1, 0)], 0.15, own, sides=6)
    return fitted([*strands, clamp, stick.scaled(1, 1, 1.6)], size_of(item))


def _shovel(item: Item) -> list[Part]:
    metal = look(item, (0.6, 0.61, 0.63), (0.25, 0.26, 0.28), gloss=0.4)
    outline = [(-0.9, 0.28), (0.9, 0.28), (1, 0.12), (0.5, 0.02), (0, 0), (-0.5, 0.02), (-1, 0.12)]
    blade = prism(outline, -0.3, -0.1, metal, axis="z")
    stick = tube([(0, 0.2, 0), (0, 0.93, 0)], 0.22, WOOD, sides=6).scaled(1, 1, 2)
    grip = tube(
        [(0, 0.92, 0), (-0.5, 0.97, 0), (0, 0.995, 0), (0.5, 0.97, 0), (0, 0.92, 0)],
        0.04,
        DARK_WOOD,
    )
    return fitted([blade, stick, grip], size_of(item))


def _ladder(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, (0.75, 0.76, 0.78), (0.9, 0.5, 0.15), gloss=0.3)
    parts = []
    for z, tone in ((-d * 0.25, own), (d * 0.3, shade(own, 0.75))):
        for s in (-1, 1):
            x = s * w * 0.46
            parts.append(beam((x, 0, z), (x * 0.85, h * 0.97, z * 0.5), w * 0.07, tone))
        for k in range(1, 7 if z < 0 else 4):
            y = h * k / (7 if z < 0 else 4) * 0.95
            reach = w * 0.46 * (1 - 0.15 * y / h)
            step = box((-reach, y, z - d * 0.14), (reach, y + 0.025, z + d * 0.1), shade(own, 0.85))
            parts.append(step if z < 0 else beam((-reach, y, z), (reach, y, z), 0.02, tone))
    parts.append(box((-w * 0.4, h * 0.96, -d * 0.4), (w * 0.4, h, d * 0.4), RED))
    return fitted(parts, (w, h, d))


def _hammer(item: Item) -> list[Part]:
    handle = look(item, WOOD.rgb) if item.material not in (None, "brass", "iron", "steel") else WOOD
    stick = tube([(0, 0.2, 1), (0, 0.2, 0.4), (0, 0.2, -0.9)], [0.26, 0.22, 0.16], handle)
    head = cylinder(0.2, -0.55, 0.1, STEEL, sides=10).tilted(-math.pi / 2, "z").moved(0, 0.2, -0.82)
    claw = prism(
        [(-0.1, -1.0), (-0.1, -0.66), (-0.45, -0.7), (-0.62, -0.86), (-0.45, -0.84)],
        0.1,
        0.3,
        STEEL,
        axis="y",
    )
    return fitted([stick, head, claw], size_of(item), long=True)


def _screwdriver(item: Item) -> list[Part]:
    own = look(item, (0.9, 0.75, 0.1), (0.78, 0.13, 0.12), plain=True, gloss=0.3)
    grip = lathe(
        [(0, 0), (0.9, 0.02), (1, 0.15), (0.75, 0.35), (1, 0.42), (0.6, 0.48), (0, 0.48)],
        own,
        sides=6,
    )
    shaft = cylinder(0.28, 0.48, 0.95, STEEL, sides=8)
    tip = box((-0.4, 0.93, -0.1), (0.4, 1, 0.1), STEEL)
    parts = [part.tilted(-math.pi / 2) for part in (grip, shaft, tip)]
    return fitted(parts, size_of(item), long=True)


def _wrench(item: Item) -> list[Part]:
    own = look(item, (0.74, 0.75, 0.77), gloss=0.6)
    jaw = [
        (-0.3, -0.7),
        (-0.5, -0.85),
        (-0.42, -1.1),
        (-0.15, -1.15),
        (-0.2, -0.95),
        (0.2, -0.95),
        (0.15, -1.15),
        (0.42, -1.1),
        (0.5, -0.85),
        (0.3, -0.7),
    ]
    parts = [prism(jaw, 0, 0.3, own, axis="y"), box((-0.18, 0.03, -0.8), (0.18, 0.27, 0.75), own)]
    parts.append(ring((0, 0.15, 0.9), 0.26, 0.2, own, around=12, axis="y"))
    return fitted(parts, size_of(item), long=True)


def _drill(item: Item) -> list[Part]:
    own = look(item, (0.95, 0.75, 0.1), (0.15, 0.4, 0.5), plain=True, gloss=0.2)
    # It stands on its battery, the bit to its left.
    body = cylinder(0.3, -0.55, 0.6, own, sides=12).tilted(math.pi / 2, "z").moved(0, 1.25, 0)
    chuck = lathe([(0.26, 0), (0.2, 0.25), (0.08, 0.4), (0, 0.4)], BLACK, sides=10).tilted(
        -math.pi / 2, "z"
    )
    bit = tube([(0.9, 1.25, 0), (1.35, 1.25, 0)], 0.07, STEEL)
    grip = prism(
        [(-0.5, 0.25), (-0.1, 0.25), (0.05, 1.05), (-0.4, 1.1)], -0.18, 0.18, BLACK, axis="z"
    )
    battery = box((-0.65, 0, -0.27), (0.25, 0.28, 0.27), own)
    trigger = box((-0.02, 0.8, -0.08), (0.1, 1.0, 0.08), RED)
    return fitted([body, chuck.moved(0.55, 1.25, 0), bit, grip, battery, trigger], size_of(item))


def _tape_measure(item: Item) -> list[Part]:
    own = look(item, (0.95, 0.78, 0.12), plain=True, gloss=0.2)
    case = prism(round_corners(2, 2, 0.6), -0.5, 0.5, own, axis="z").moved(0, 1, 0)
    badge = prism(
        [(0.6 * math.cos(a), 1 + 0.6 * math.sin(a)) for a in _TURN], -0.54, 0.54, BLACK, axis="z"
    )
    tongue = box((-1.5, 0.05, -0.3), (-0.8, 0.1, 0.3), YELLOW)
    hook = box((-1.55, 0.0, -0.3), (-1.48, 0.2, 0.3), STEEL)
    return fitted([case, badge, tongue, hook], size_of(item))


def _flashlight(item: Item) -> list[Part]:
    own = look(item, (0.12, 0.12, 0.13), (0.78, 0.13, 0.12), gloss=0.4)
    body = lathe(
        [(0, 0), (0.6, 0), (0.65, 0.04), (0.65, 0.65), (0.95, 0.8), (1, 1), (0.85, 1)],
        own,
        sides=14,
    )
    lens = lathe([(0.86, 0.98), (0, 0.96)], WHITE, sides=14)
    parts = [part.tilted(-math.pi / 2) for part in (body, lens)]
    button = box((-0.15, 0.6, -0.5), (0.15, 0.75, -0.38), RED)
    return fitted([*parts, button], size_of(item), long=True)


def _iron(item: Item) -> list[Part]:
    own = look(item, (0.2, 0.4, 0.7), (0.93, 0.93, 0.92), plain=True, gloss=0.3)
    # Its point to its left; the long way is x.
    sole = [
        (-1, 0),
        (-0.4, 0.42),
        (0.5, 0.48),
        (0.95, 0.4),
        (0.95, -0.4),
        (0.5, -0.48),
        (-0.4, -0.42),
    ]
    plate = prism(sole, 0, 0.1, STEEL, axis="y")
    body = prism([(x * 0.92, z * 0.88) for x, z in sole], 0.1, 0.42, own, axis="y")
    deck = prism(
        [(x * 0.7 + 0.08, z * 0.6) for x, z in sole], 0.42, 0.55, shade(own, 0.85), axis="y"
    )
    handle = tube(
        [(-0.4, 0.5, 0), (-0.3, 0.92, 0), (0.1, 1.0, 0), (0.75, 0.95, 0), (0.82, 0.5, 0)],
        0.22,
        BLACK,
    )
    dial = cylinder(0.16, 0.55, 0.62, RED if has(item, "on") else WHITE, sides=10)
    return fitted([plate, body, deck, handle, dial], size_of(item), long=False)


def _brush(item: Item) -> list[Part]:
    own = look(item, WOOD.rgb, *BRIGHT[:2])
    block = prism(round_corners(0.6, 1.1, 0.2), 0.45, 0.75, own, axis="y").moved(0, 0, -0.45)
    bristles = box((-0.25, 0, -0.95), (0.25, 0.45, 0.05), Surface((0.82, 0.76, 0.6)))
    handle = tube([(0, 0.6, 0.05), (0, 0.7, 0.6), (0, 0.72, 1)], [0.3, 0.24, 0.28], own)
    rows = [
        box((-0.27, 0.02, z), (0.27, 0.42, z + 0.04), Surface((0.6, 0.52, 0.35)))
        for z in np.linspace(-0.9, -0.05, 6)
    ]
    return fitted([block, bristles, handle, *rows], size_of(item), long=True)


def _vacuum(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, (0.75, 0.15, 0.14), (0.2, 0.35, 0.6), plain=True, gloss=0.3)
    if h > 0.7:
        # Upright: a head on the floor, the body and the handle above it.
        head = prism(round_corners(2, 1.1, 0.25), 0, 0.09, BLACK, axis="y").moved(0, 0, -0.65)
        body = lathe(
            [(0, 0.1), (0.55, 0.1), (0.65, 0.2), (0.6, 0.5), (0.4, 0.62), (0.15, 0.66)],
            own,
            sides=14,
        )
        cup = lathe([(0.5, 0.16), (0.52, 0.4)], GREY, sides=12).moved(0, 0, -0.22)
        stick = tube([(0, 0.6, 0.1), (0, 0.95, 0.55), (0, 1.0, 0.75)], [0.14, 0.12, 0.16], BLACK)
        hose = tube([(0.4, 0.2, 0.4), (0.75, 0.45, 0.4), (0.3, 0.75, 0.4)], 0.1, GREY)
        wheels = [
            cylinder(0.09, -0.08, 0.08, RUBBER, sides=10)
            .tilted(math.pi / 2, "z")
            .moved(s * 0.7, 0.07, 0.1)
            for s in (-1, 1)
        ]
        return fitted([head, body.scaled(1, 1, 0.8), cup, stick, hose, *wheels], (w, h, d))
    body = ball((0, 0.36, 0.3), (0.75, 0.36, 0.8), own, sides=12, rings=8)
    wheels = [
        cylinder(0.32, -0.06, 0.06, BLACK, sides=12)
        .tilted(math.pi / 2, "z")
        .moved(s * 0.72, 0.32, 0.55)
        for s in (-1, 1)
    ]
    hose = tube(
        [(0, 0.5, -0.4), (0, 0.9, -0.75), (0.5, 1.0, -0.6), (0.85, 0.5, -0.6), (0.85, 0.1, -0.9)],
        0.16,
        BLACK,
    )
    nozzle = box((0.4, 0, -1.15), (1.2, 0.14, -0.85), BLACK)
    return fitted([body, *wheels, hose, nozzle], (w, h, d))


def _fan(item: Item) -> list[Part]:
    own = look(item, (0.93, 0.93, 0.92), (0.12, 0.12, 0.13), plain=True, gloss=0.2)
    w, h, d = size_of(item)
    radius = 1.0
    tall = 2 * h / w
    y = tall - radius
    foot = lathe([(0, 0), (0.75, 0), (0.7, 0.1), (0.12, 0.18)], own, sides=16)
    stem = cylinder(0.09, 0.1, y, own, sides=8)
    motor = ball((0, y, 0.25), (0.26, 0.26, 0.4), own, sides=10, rings=6)
    parts = [foot, stem, motor]
    for z, r in ((-0.3, 0.98), (0.0, 1.0)):
        path = arc((0, y, z), (r, r), 0, 2 * math.pi, n=20)
        parts.append(tube(path, 0.05, STEEL, sides=4))
    for k in range(10):
        a = k * math.pi / 5
        tip = (math.cos(a), y + math.sin(a))
        parts.append(
            tube(
                [(0, y, -0.42), (tip[0] * 0.6, y + math.sin(a) * 0.6, -0.38), (*tip, -0.3)],
                0.03,
                STEEL,
                sides=3,
            )
        )
    for k in range(3):
        a = k * 2 * math.pi / 3 + (0.5 if has(item, "on") else 0)
        blade = [(0.15 * math.cos(a), y + 0.15 * math.sin(a))]
        blade += [(0.85 * math.cos(a + t), y + 0.85 * math.sin(a + t)) for t in (-0.3, 0.0, 0.5)]
        parts.append(prism(blade, -0.16, -0.12, shade(own, 0.75), axis="z"))
    return fitted(parts, (w, h, d))


def _purifier(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, (0.93, 0.93, 0.92), gloss=0.3)
    parts = [prism(round_corners(w, d * 0.97, min(w, d) * 0.2), 0, h * 0.97, own, axis="y")]
    parts.append(
        prism(round_corners(w * 0.85, d * 0.8, min(w, d) * 0.18), h * 0.97, h, GREY, axis="y")
    )
    for k in range(9):
        y = h * (0.12 + 0.05 * k)
        parts.append(face(w * 0.7, y, y + h * 0.02, -d * 0.49, GREY))
    lamp = Surface((0.3, 0.8, 0.9), glow=1.4) if has(item, "on") else BLACK
    parts.append(face(w * 0.3, h * 0.82, h * 0.86, -d * 0.492, lamp))
    return fitted(parts, (w, h, d))


def _extinguisher(item: Item) -> list[Part]:
    own = look(item, (0.78, 0.1, 0.1), plain=True, gloss=0.4)
    body = lathe(
        [(0, 0), (0.85, 0), (0.9, 0.03), (0.9, 0.66), (0.7, 0.78), (0.3, 0.82), (0.25, 0.88)], own
    )
    label = lathe([(0.915, 0.3), (0.915, 0.5)], WHITE)
    valve = cylinder(0.2, 0.85, 0.93, BRASS, sides=8)
    levers = [beam((-0.1, y, 0), (0.7, y + 0.05, 0), 0.09, BLACK) for y in (0.9, 0.96)]
    hose = tube(
        [(-0.2, 0.9, 0), (-0.8, 0.88, 0), (-1.0, 0.6, 0), (-0.98, 0.25, 0)],
        [0.12, 0.14, 0.14, 0.24],
        BLACK,
    )
    return fitted([body, label, valve, *levers, hose], size_of(item))


def _umbrella(item: Item) -> list[Part]:
    own = look(item, (0.1, 0.1, 0.12), *BRIGHT[:3], plain=True)
    # Furled, its tip down.
    cloth = lathe([(0.15, 0.05), (0.55, 0.12), (0.85, 0.55), (0.8, 0.66), (0.2, 0.7)], own, sides=8)
    tip = cylinder(0.12, 0, 0.08, STEEL, sides=6)
    strap = lathe(
        [(0.9, 0.48), (0.92, 0.52)], shade(own, 0.5) if sum(own.rgb) > 0.5 else GREY, sides=8
    )
    crook = [(0, 0.66, 0), (0, 0.9, 0), *arc((0.45, 0.92, 0), (0.45, 0.08), math.pi, 0, n=6)]
    handle = tube([*crook, (0.9, 0.86, 0)], 0.24, WOOD)
    return fitted([cloth, tip, strap, handle], size_of(item))


def _watering_can(item: Item) -> list[Part]:
    own = look(item, (0.3, 0.55, 0.35), (0.7, 0.72, 0.73), gloss=0.3)
    # Its spout along -z, as long as it is.
    body = lathe([(0, 0), (0.6, 0), (0.62, 0.04), (0.55, 0.8), (0.3, 0.9)], own, sides=14)
    spout = tube([(0, 0.15, -0.5), (0, 0.6, -1.0), (0, 0.95, -1.35)], [0.3, 0.2, 0.16], own)
    rose = cylinder(0.24, 0, 0.08, shade(own, 0.7), sides=10).tilted(-0.9).moved(0, 0.95, -1.38)
    handle = tube(
        [(0, 0.9, -0.2), (0, 1.15, 0.2), (0, 0.9, 0.7), (0, 0.35, 0.55)], 0.12, shade(own, 0.8)
    )
    return fitted([body, spout, rose, handle], size_of(item), long=True)


BY_NAME: dict[str, Builder] = {
    "broom": _broom,
    "mop": _mop,
    "shovel": _shovel,
    "ladder": _ladder,
    "hammer": _hammer,
    "screwdriver": _screwdriver,
    "wrench": _wrench,
    "drill": _drill,
    "tape_measure": _tape_measure,
    "flashlight": _flashlight,
    "iron": _iron,
    "brush": _brush,
    "vacuum_cleaner": _vacuum,
    "fan": _fan,
    "air_purifier": _purifier,
    "fire_extinguisher": _extinguisher,
    "umbrella": _umbrella,
    "watering_can": _watering_can,
}
BY_SHAPE: dict[str, Builder] = {}
