"""White goods and machines of the house: fridges, washers, boilers, printers, dispensers."""

from __future__ import annotations

import math

from navloom.scenes.scene import Item
from navloom_worlds.furniture.joinery import bar_handle, carcass, legs
from navloom_worlds.furniture.making import (
    BLACK,
    BLACK_GLASS,
    CHROME,
    GREEN_LIT,
    STEEL,
    WHITE,
    Builder,
    dice_of,
    has,
    lightness,
    set_off,
    shade,
    size_of,
    vivid,
)
from navloom_worlds.furniture.turnery import ball, ring, rounded, slab, wheel
from navloom_worlds.geometry.colours import surface_of
from navloom_worlds.geometry.solids import Part, Surface, beam, box, cylinder

_GAP = Surface((0.15, 0.15, 0.16))


def fridge(item: Item) -> list[Part]:
    """Two doors one over the other, or side by side where it is wide; open, its food is seen."""
    w, h, d = size_of(item)
    look = surface_of(item)
    front = -d / 2 + 0.04
    metal = STEEL if lightness(look) < 0.8 else shade(STEEL, 0.75)
    low = 0.06
    parts = [slab(w - 0.04, d - 0.12, 0, low, BLACK, z=0.03)]
    if has(item, "open"):
        return parts + _open_fridge(item, look, low)
    parts.append(box((-w / 2, low, front + 0.06), (w / 2, h, d / 2), shade(look, 0.9)))
    parts.append(box((-w / 2 + 0.01, low, front + 0.02), (w / 2 - 0.01, h, front + 0.06), _GAP))

    def leaf(x0: float, x1: float, y0: float, y1: float) -> Part:
        return rounded(
            (x0 + 0.003, y0 + 0.003, front),
            (x1 - 0.003, y1 - 0.003, front + 0.05),
            0.012,
            look,
            steps=1,
        )

    if w >= 0.8:
        split = low + (h - low) * 0.38
        parts += [
            leaf(-w / 2, 0, split, h),
            leaf(0, w / 2, split, h),
            leaf(-w / 2, w / 2, low, split),
        ]
        parts += bar_handle(-0.05, split + 0.1, h - 0.3, front, metal) + bar_handle(
            0.05, split + 0.1, h - 0.3, front, metal
        )
        parts.append(
            beam(
                (-w * 0.35, split - 0.08, front - 0.03),
                (w * 0.35, split - 0.08, front - 0.03),
                0.02,
                metal,
                sides=6,
            )
        )
        parts.append(
            box((-w * 0.36, h * 0.6, front - 0.004), (-w * 0.18, h * 0.75, front), BLACK_GLASS)
        )
    else:
        split = low + (h - low) * 0.36
        parts += [leaf(-w / 2, w / 2, low, split), leaf(-w / 2, w / 2, split, h)]
        x = -w / 2 + 0.06
        parts += bar_handle(x, split + 0.05, split + 0.4, front, metal) + bar_handle(
            x, split - 0.32, split - 0.05, front, metal
        )
    parts.append(box((w * 0.2, h - 0.1, front - 0.003), (w * 0.36, h - 0.08, front), metal))
    if dice_of(item).random() < 0.6 and w < 0.8:
        for k in range(3):
            x, y = (-0.05 + 0.09 * k, split + 0.55 + 0.1 * (k % 2))
            colour = Surface(vivid(k * 0.3 + 0.05, 0.7, 0.85))
            parts.append(
                box((x, y, front - 0.004), (x + 0.06, y + 0.07, front), colour if k else WHITE)
            )
    return parts


def _open_fridge(item: Item, look: Surface, low: float) -> list[Part]:
    """The body stands back so that the open door, cut short, stays within the footprint."""
    w, h, d = size_of(item)
    body = -d / 2 + d * 0.42
    inside = Surface((0.95, 0.97, 0.98), glow=0.35)
    parts = carcass(w, h, d, look, low=low, board=0.04, front=body, back=inside)
    dice = dice_of(item)
    for k in range(5):
        y = low + 0.05 + (h - low - 0.1) * k / 5
        parts.append(
            box((-w / 2 + 0.04, y - 0.008, body + 0.02), (w / 2 - 0.04, y, d / 2 - 0.02), inside)
        )
        x = -w / 2 + 0.1
        while x < w / 2 - 0.08:
            size = dice.uniform(0.05, 0.09)
            colour = Surface(vivid(dice.random(), 0.6, 0.8))
            tall = dice.uniform(0.06, (h - low) / 5 * 0.75)
            if dice.random() < 0.5:
                parts.append(
                    cylinder(size / 2, y, y + tall, colour, sides=8).moved(x, 0, body + 0.12)
                )
            else:
                parts.append(slab(size, 0.09, y, y + tall * 0.6, colour, x=x, z=body + 0.12))
            x += dice.uniform(0.1, 0.16)
    reach = d * 0.42 - 0.01
    side = w / 2
    parts += [
        box((side - 0.06, low, body - reach), (side - 0.02, h, body), look),
        box(
            (side - 0.02, h * 0.4, body - reach + 0.03),
            (side, h * 0.65, body - reach + 0.05),
            STEEL,
        ),
    ]
    for y in (h * 0.3, h * 0.5, h * 0.7):
        parts.append(
            box((side - 0.13, y, body - reach + 0.03), (side - 0.06, y + 0.06, body - 0.03), inside)
        )
        parts.append(
            cylinder(0.03, y + 0.02, y + 0.2, Surface(vivid(y, 0.5, 0.7)), sides=8).moved(
                side - 0.095, 0, body - reach * 0.6
            )
        )
    return parts


def mini_fridge(item: Item) -> list[Part]:
    """One door with a handle along its edge, a logo, small feet."""
    w, h, d = size_of(item)
    look = surface_of(item)
    front = -d / 2 + 0.04
    metal = shade(STEEL, 0.7) if lightness(look) > 0.6 else STEEL
    return [
        *legs(w - 0.05, d - 0.12, 0.04, 0.03, BLACK),
        box((-w / 2, 0.03, front + 0.05), (w / 2, h, d / 2), shade(look, 0.88)),
        box((-w / 2 + 0.01, 0.05, front + 0.02), (w / 2 - 0.01, h - 0.02, front + 0.05), _GAP),
        rounded((-w / 2, 0.06, front), (w / 2, h - 0.035, front + 0.045), 0.014, look, steps=1),
        box((-w / 2, h - 0.03, front + 0.01), (w / 2, h, front + 0.06), shade(look, 0.7)),
        *bar_handle(-w / 2 + 0.05, h * 0.45, h * 0.85, front, metal),
        box((w * 0.1, h - 0.1, front - 0.003), (w * 0.32, h - 0.075, front), metal),
    ]


def freezer(item: Item) -> list[Part]:
    """A chest with a lid and a handle where it is wide, else drawers behind a door."""
    w, h, d = size_of(item)
    look = surface_of(item)
    if w < 0.7 and "chest" not in item.name:
        return [
            *mini_fridge(item),
            wheel((w * 0.3, h - 0.016, -d / 2 + 0.045), 0.008, 0.012, GREEN_LIT, axis="z", sides=8),
            *_snowflake(0.0, h * 0.68, -d / 2 + 0.038, min(0.09, w * 0.16)),
        ]
    rim = h - 0.09
    return [
        slab(w - 0.06, d - 0.06, 0, 0.05, BLACK),
        rounded((-w / 2, 0.04, -d / 2 + 0.03), (w / 2, rim, d / 2), 0.02, look, steps=1),
        slab(w - 0.02, d - 0.05, rim - 0.005, rim + 0.012, _GAP, z=0.01),
        rounded((-w / 2, rim + 0.008, -d / 2 + 0.02), (w / 2, h, d / 2), 0.025, shade(look, 1.02)),
        box((-0.12, rim + 0.02, -d / 2), (0.12, rim + 0.05, -d / 2 + 0.025), STEEL),
        *_snowflake(-w * 0.3, h * 0.6, -d / 2 + 0.028, 0.1),
        box((w * 0.25, 0.1, -d / 2 + 0.024), (w * 0.42, 0.24, -d / 2 + 0.03), _GAP),
        wheel((w * 0.3, 0.3, -d / 2 + 0.025), 0.012, 0.012, GREEN_LIT, axis="z", sides=8),
    ]


def _snowflake(x: float, y: float, z: float, r: float) -> list[Part]:
    """What a freezer's maker puts on it."""
    blue = Surface((0.25, 0.55, 0.85))
    parts = []
    for k in range(3):
        a = math.pi * k / 3
        c, s = math.cos(a) * r, math.sin(a) * r
        parts.append(beam((x - c, y - s, z), (x + c, y + s, z), 0.012, blue))
    return parts


def dishwasher(item: Item) -> list[Part]:
    """A flap with a bar and a strip of buttons; open, a rack of plates is drawn out."""
    w, h, d = size_of(item)
    look = surface_of(item)
    front = -d / 2 + 0.035
    if has(item, "open"):
        return _open_dishwasher(item, look)
    parts = [
        slab(w - 0.02, d - 0.1, 0, 0.09, BLACK, z=0.04),
        box((-w / 2, 0.08, front + 0.02), (w / 2, h, d / 2), shade(look, 0.85)),
        slab(w, d - 0.035, h - 0.03, h, shade(look, 1.03), z=0.0175),
        box((-w / 2 + 0.004, 0.1, front), (w / 2 - 0.004, h - 0.15, front + 0.02), look),
        box(
            (-w / 2 + 0.004, h - 0.145, front),
            (w / 2 - 0.004, h - 0.035, front + 0.02),
            shade(look, 0.75),
        ),
        beam(
            (-w * 0.36, h - 0.19, front - 0.024),
            (w * 0.36, h - 0.19, front - 0.024),
            0.02,
            STEEL,
            sides=6,
        ),
        box((-0.06, h - 0.11, front - 0.004), (0.06, h - 0.07, front), BLACK_GLASS),
    ]
    for k in range(4):
        x = w * 0.2 + k * 0.04
        parts.append(wheel((x, h - 0.09, front - 0.004), 0.011, 0.01, CHROME, axis="z", sides=8))
    # What it washes, as a sign on its flap.
    parts += [
        ring((0, h * 0.45, front), w * 0.16, 0.008, shade(look, 0.6), axis="z", around=18, sides=4),
        ring((0, h * 0.45, front), w * 0.09, 0.008, shade(look, 0.6), axis="z", around=14, sides=4),
    ]
    return parts


def _open_dishwasher(item: Item, look: Surface) -> list[Part]:
    w, h, d = size_of(item)
    body = -d / 2 + d * 0.4
    parts = carcass(w, h, d, look, low=0.09, board=0.03, front=body, back=STEEL)
    parts.append(box((-w / 2 + 0.01, 0.1, -d / 2), (w / 2 - 0.01, 0.14, body), look))
    parts.append(box((-w / 2 + 0.03, 0.14, -d / 2 + 0.02), (w / 2 - 0.03, 0.145, body), STEEL))
    for y in (0.2, h * 0.55):
        near = -d / 2 + 0.04 if y < 0.3 else body + 0.02
        for x in (-w / 2 + 0.05, w / 2 - 0.05):
            parts.append(beam((x, y, near), (x, y, d / 2 - 0.05), 0.01, WHITE))
        for k in range(7):
            z = near + (d / 2 - 0.05 - near) * k / 6
            parts.append(beam((-w / 2 + 0.05, y, z), (w / 2 - 0.05, y, z), 0.008, WHITE))
            if y < 0.3 and k < 6:
                plate = wheel(
                    (0, 0.11, 0),
                    0.11,
                    0.012,
                    Surface((0.93, 0.94, 0.96), gloss=0.4),
                    axis="z",
                    sides=14,
                )
                parts.append(plate.tilted(0.2).moved(-w * 0.18, y, z + 0.02))
            elif k % 2 == 0:
                parts.append(
                    cylinder(0.035, y, y + 0.1, WHITE, sides=10).moved(w * 0.2 - k * 0.03, 0, z)
                )
    return parts


def washer(item: Item) -> list[Part]:
    """A round window in its front, a drawer for powder, a knob and a small display."""
    return _drum(item, dryer=False)


def dryer(item: Item) -> list[Part]:
    """As a washer is, its door a full round of the front's colour, a vent below."""
    return _drum(item, dryer=True)


def _drum(item: Item, *, dryer: bool) -> list[Part]:
    w, h, d = size_of(item)
    look = surface_of(item)
    front = -d / 2 + 0.05
    on, open_ = has(item, "on"), has(item, "open")
    r = min(w * 0.31, h * 0.24)
    y = h * 0.47
    parts = [
        *legs(w - 0.05, d - 0.1, 0.03, 0.04, BLACK),
        rounded((-w / 2, 0.025, front), (w / 2, h - 0.02, d / 2), 0.012, look, steps=1),
        slab(w, d - 0.05, h - 0.025, h, shade(look, 1.03), z=0.025),
        box(
            (-w / 2 + 0.01, h - 0.15, front - 0.006),
            (w / 2 - 0.01, h - 0.03, front),
            shade(look, 0.9),
        ),
        box((-w / 2 + 0.02, 0.05, front - 0.004), (w / 2 - 0.02, 0.13, front), shade(look, 0.85)),
        wheel((0, h - 0.09, front - 0.016), 0.03, 0.03, CHROME, axis="z", sides=14),
    ]
    display = Surface((0.3, 0.85, 1.0), glow=0.9) if on else BLACK_GLASS
    parts.append(
        box((w * 0.12, h - 0.115, front - 0.009), (w * 0.32, h - 0.065, front - 0.005), display)
    )
    for k in range(3):
        x = w * 0.36 + 0.024 * k
        parts.append(wheel((x, h - 0.09, front - 0.01), 0.008, 0.01, STEEL, axis="z", sides=8))
    if dryer:
        for k in range(6):
            x = w * 0.05 + k * 0.03
            parts.append(box((x, 0.065, front - 0.007), (x + 0.015, 0.115, front - 0.003), _GAP))
    else:
        parts.append(
            box(
                (-w / 2 + 0.02, h - 0.135, front - 0.01),
                (-w * 0.16, h - 0.045, front - 0.004),
                look,
            )
        )
        parts.append(
            box((-w * 0.4, h - 0.12, front - 0.014), (-w * 0.25, h - 0.108, front - 0.008), _GAP)
        )
    if open_:
        return parts + _open_drum(r, y, w, front, look)
    rim = shade(look, 0.6) if dryer else CHROME
    glass = Surface((0.16, 0.2, 0.24), gloss=0.7)
    parts.append(wheel((0, y, front - 0.012), r * 1.16, 0.024, rim, axis="z", sides=28))
    parts.append(
        ring(
            (0, y, front - 0.024),
            r * 1.02,
            0.03,
            set_off(look, 0.3) if dryer else rim,
            axis="z",
            around=28,
        )
    )
    if dryer:
        parts.append(wheel((0, y, front - 0.022), r, 0.02, look, axis="z", sides=28))
        parts.append(wheel((0, y, front - 0.03), r * 0.5, 0.01, glass, axis="z", sides=20))
    else:
        parts.append(ball((0, y, front - 0.015), (r * 0.92, r * 0.92, 0.03), glass, sides=20))
    parts.append(
        box((-r * 1.12, y - 0.05, front - 0.045), (-r * 0.95, y + 0.05, front - 0.02), _GAP)
    )
    return parts


def _open_drum(r: float, y: float, w: float, front: float, look: Surface) -> list[Part]:
    """The dark drum, and its door swung to the side as far as the footprint goes."""
    parts = [
        wheel((0, y, front - 0.006), r * 1.16, 0.012, shade(look, 0.8), axis="z", sides=28),
        wheel(
            (0, y, front - 0.01), r * 0.95, 0.012, Surface((0.07, 0.07, 0.08)), axis="z", sides=28
        ),
        ring(
            (0, y, front - 0.014), r * 0.98, 0.03, Surface((0.35, 0.36, 0.38)), axis="z", around=28
        ),
    ]
    side = w / 2 - 0.02
    parts.append(
        wheel((0, 0, 0), r, 0.03, CHROME, sides=24)
        .scaled(1, 1, 0.12)
        .moved(side - 0.03, y, front - 0.02)
    )
    laundry = [
        (-0.08, -0.1, (0.3, 0.5, 0.8)),
        (0.05, -0.12, (0.85, 0.85, 0.8)),
        (0.0, -0.04, (0.8, 0.3, 0.35)),
    ]
    for dx, dy, colour in laundry:
        parts.append(
            ball((dx, y + dy, front - 0.012), (0.1, 0.06, 0.02), Surface(colour), sides=10)
        )
    return parts


BY_NAME: dict[str, Builder] = {
    "refrigerator": fridge,
    "fridge": fridge,
    "mini_fridge": mini_fridge,
    "freezer": freezer,
    "dishwasher": dishwasher,
    "washing_machine": washer,
    "washer": washer,
    "dryer": dryer,
    "clothes_dryer": dryer,
}
BY_SHAPE: dict[str, Builder] = {"appliance": mini_fridge}
