"""Machines of a house besides the kitchen's: boilers, printers, dispensers, coffee machines."""

from __future__ import annotations

from navloom.scenes.scene import Item
from navloom_worlds.furniture.joinery import bar_handle, legs
from navloom_worlds.furniture.making import (
    BLACK,
    BLACK_GLASS,
    CHROME,
    GREEN_LIT,
    IRON,
    RED_LIT,
    STEEL,
    WHITE,
    Builder,
    has,
    lightness,
    set_off,
    shade,
    size_of,
)
from navloom_worlds.furniture.turnery import ring, rounded, slab, tube, wheel
from navloom_worlds.geometry.colours import surface_of
from navloom_worlds.geometry.solids import Part, Surface, beam, box, cylinder, lathe


def microwave(item: Item) -> list[Part]:
    """A dark window with a handle at its left, keys and a clock at its right; on, light inside."""
    w, h, d = size_of(item)
    look = surface_of(item)
    front = -d / 2 + 0.025
    on = has(item, "on")
    split = w * 0.24
    window = Surface((0.9, 0.75, 0.4), glow=0.45) if on else BLACK_GLASS
    clock = GREEN_LIT if on else Surface((0.15, 0.35, 0.2), glow=0.2)
    parts = [
        *legs(w - 0.06, d - 0.08, 0.02, 0.03, BLACK),
        rounded((-w / 2, 0.012, front), (w / 2, h, d / 2), 0.01, look, steps=1),
        box(
            (-w / 2 + 0.02, 0.03, front - 0.008), (split - 0.005, h - 0.02, front), shade(look, 0.8)
        ),
        box((-w / 2 + 0.05, 0.06, front - 0.011), (split - 0.06, h - 0.05, front - 0.007), window),
        *[
            p.scaled(1, 1, 0.7).moved(0, 0, front)
            for p in bar_handle(split - 0.03, 0.05, h - 0.04, 0, STEEL)
        ],
        box((split + 0.005, 0.03, front - 0.008), (w / 2 - 0.015, h - 0.02, front), BLACK),
        box(
            (split + 0.02, h - 0.075, front - 0.011), (w / 2 - 0.03, h - 0.04, front - 0.007), clock
        ),
    ]
    for row in range(4):
        for column in range(3):
            x = split + 0.03 + column * (w / 2 - split - 0.075) / 2
            y = 0.05 + row * (h - 0.16) / 4
            parts.append(
                box((x, y, front - 0.011), (x + 0.014, y + 0.018, front - 0.007), shade(WHITE, 0.8))
            )
    return parts


def boiler(item: Item) -> list[Part]:
    """An upright tank with a dial, pipes with taps at its top, a lamp."""
    w, h, d = size_of(item)
    look = surface_of(item)
    low, top = 0.08, h - 0.14
    body = lathe(
        [(0.0, low), (0.8, low), (1.0, low + 0.06), (1.0, top - 0.06), (0.8, top), (0.0, top)],
        look,
        sides=24,
    ).scaled(w / 2, 1, d / 2 - 0.015)
    parts = [body.moved(0, 0, 0.015), *legs(w * 0.62, d * 0.62, low + 0.03, 0.04, BLACK)]
    red, blue = Surface((0.75, 0.2, 0.12)), Surface((0.15, 0.35, 0.7))
    for s, tint in ((-1, red), (1, blue)):
        x = s * w * 0.22
        parts.append(
            tube(
                [(x, top - 0.03, 0.02), (x, h, 0.02)],
                0.035,
                Surface((0.72, 0.42, 0.24), gloss=0.5),
                sides=8,
            )
        )
        parts.append(wheel((x, h - 0.06, 0.02), 0.03, 0.03, tint, axis="z", sides=8))
    z = -d / 2 + 0.012
    parts += [
        box((-w * 0.2, h * 0.22, z - 0.002), (w * 0.2, h * 0.36, z + 0.03), shade(look, 0.55)),
        wheel((0, h * 0.58, z + 0.005), 0.055, 0.03, CHROME, axis="z", sides=18),
        wheel((0, h * 0.58, z - 0.008), 0.045, 0.012, WHITE, axis="z", sides=18),
        beam((0, h * 0.58, z - 0.012), (0.025, h * 0.58 + 0.025, z - 0.012), 0.007, RED_LIT),
        wheel((w * 0.1, h * 0.29, z - 0.004), 0.022, 0.012, BLACK, axis="z", sides=10),
        wheel(
            (-w * 0.1, h * 0.29, z - 0.004),
            0.012,
            0.012,
            RED_LIT if has(item, "on") else IRON,
            axis="z",
            sides=8,
        ),
    ]
    return parts


def water_dispenser(item: Item) -> list[Part]:
    """A white cabinet with two taps over a tray, and a blue bottle upside down on it."""
    w, h, d = size_of(item)
    look = surface_of(item)
    body = h * 0.66
    blue = Surface((0.45, 0.68, 0.9), gloss=0.6)
    front = -d / 2 + 0.04
    full = not has(item, "empty")
    bottle = [
        (0.3, body - 0.02),
        (0.35, body + 0.03),
        (0.92, body + 0.09),
        (0.92, h - 0.06),
        (0.8, h),
        (0.0, h),
    ]
    parts = [
        rounded((-w / 2, 0, front), (w / 2, body, d / 2), 0.02, look, steps=1),
        lathe(bottle, blue if full else Surface((0.85, 0.9, 0.93), gloss=0.6), sides=20).scaled(
            w / 2 * 0.95, 1, d / 2 * 0.9
        ),
        box(
            (-w * 0.36, body * 0.5, front - 0.003),
            (w * 0.36, body * 0.86, front),
            shade(look, 0.45),
        ),
        box((-w * 0.3, body * 0.5, front - 0.035), (w * 0.3, body * 0.53, front), BLACK),
    ]
    for k in range(3):
        y = body + 0.14 + k * (h - body - 0.2) / 3
        parts.append(
            ring(
                (0, y, 0),
                min(w, d) / 2 * 0.86,
                0.012,
                shade(blue, 0.8),
                axis="y",
                around=20,
                sides=4,
            )
        )
    for s, tint in ((-1, (0.85, 0.15, 0.1)), (1, (0.15, 0.35, 0.85))):
        x = s * w * 0.18
        parts.append(
            box((x - 0.015, body * 0.72, front - 0.035), (x + 0.015, body * 0.78, front), WHITE)
        )
        parts.append(
            box(
                (x - 0.02, body * 0.78, front - 0.038),
                (x + 0.02, body * 0.82, front),
                Surface(tint),
            )
        )
    parts.append(
        box((-w * 0.4, 0.05, front - 0.004), (w * 0.4, body * 0.42, front), set_off(look, 0.08))
    )
    return parts


def printer(item: Item) -> list[Part]:
    """A flat body with a slot, paper in its tray and coming out, a small panel."""
    w, h, d = size_of(item)
    look = surface_of(item)
    dark = set_off(look, 0.5)
    front = -d / 2 + d * 0.2
    paper = Surface((0.97, 0.97, 0.96))
    return [
        rounded((-w / 2, 0, front), (w / 2, h * 0.42, d / 2), 0.015, look, steps=1),
        box((-w / 2 + 0.02, h * 0.4, front + 0.03), (w / 2 - 0.02, h * 0.5, d / 2 - 0.02), dark),
        rounded((-w / 2, h * 0.5, front), (w / 2, h * 0.78, d / 2), 0.015, look, steps=1),
        box((-w / 2 + 0.01, h * 0.42, front), (-w / 2 + 0.04, h * 0.52, d / 2), look),
        box((w / 2 - 0.04, h * 0.42, front), (w / 2 - 0.01, h * 0.52, d / 2), look),
        box((-w * 0.34, h * 0.41, -d / 2), (w * 0.34, h * 0.43, front + 0.1), dark),
        box((-w * 0.26, h * 0.43, -d / 2 + 0.01), (w * 0.26, h * 0.45, front + 0.08), paper),
        box((-w * 0.3, h * 0.06, front - 0.006), (w * 0.3, h * 0.28, front), shade(look, 0.85)),
        slab(w * 0.56, 0.012, h * 0.76, h, paper, z=d / 2 - 0.05),
        slab(w * 0.6, 0.015, h * 0.74, h * 0.95, dark, z=d / 2 - 0.03),
        box((w * 0.2, h * 0.58, front - 0.004), (w * 0.44, h * 0.72, front), BLACK_GLASS),
        box(
            (w * 0.24, h * 0.61, front - 0.006),
            (w * 0.36, h * 0.69, front - 0.003),
            Surface((0.3, 0.7, 1.0), glow=0.9) if has(item, "on") else dark,
        ),
        wheel((w * 0.4, h * 0.65, front - 0.005), 0.008, 0.008, GREEN_LIT, axis="z", sides=8),
    ]


def coffee_machine(item: Item) -> list[Part]:
    """A column with a head over a tray, a cup under its spouts, a tank behind."""
    w, h, d = size_of(item)
    look = surface_of(item)
    dark = BLACK if lightness(look) > 0.25 else shade(STEEL, 0.8)
    near = -d / 2
    parts = [
        box((-w / 2, 0, near), (w / 2, h * 0.12, d / 2), dark),
        slab(w * 0.8, d * 0.36, h * 0.12, h * 0.135, STEEL, z=near + d * 0.22),
        rounded((-w / 2, h * 0.1, near + d * 0.45), (w / 2, h, d / 2), 0.02, look, steps=1),
        rounded(
            (-w / 2, h * 0.66, near + d * 0.06), (w / 2, h, near + d * 0.6), 0.02, look, steps=1
        ),
        box(
            (-w * 0.32, h * 0.74, near + d * 0.06 - 0.004),
            (w * 0.32, h * 0.9, near + d * 0.06 + 0.002),
            BLACK_GLASS,
        ),
        cylinder(w * 0.16, h * 0.55, h * 0.67, dark, sides=12).moved(0, 0, near + d * 0.26),
        cylinder(0.03, h * 0.135, h * 0.135 + min(0.07, h * 0.2), WHITE, sides=12).moved(
            0, 0, near + d * 0.24
        ),
    ]
    for s in (-1, 1):
        parts.append(
            cylinder(0.008, h * 0.47, h * 0.56, CHROME, sides=6).moved(
                s * 0.018, 0, near + d * 0.26
            )
        )
        lamp = GREEN_LIT if has(item, "on") else STEEL
        parts.append(
            wheel(
                (s * w * 0.2, h * 0.82, near + d * 0.06 - 0.005),
                0.012,
                0.008,
                lamp,
                axis="z",
                sides=8,
            )
        )
    parts.append(
        beam((0, h * 0.6, near + d * 0.2), (0, h * 0.58, near + 0.01), 0.025, BLACK, sides=6)
    )
    return parts


BY_NAME: dict[str, Builder] = {
    "microwave": microwave,
    "boiler": boiler,
    "water_heater": boiler,
    "water_dispenser": water_dispenser,
    "printer": printer,
    "coffee_machine": coffee_machine,
    "coffee_maker": coffee_machine,
}
BY_SHAPE: dict[str, Builder] = {}
