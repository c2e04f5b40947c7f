"""Cases with something to show: glass doors, clocks, safes, lockers, chests of toys."""

from __future__ import annotations

import math

from navloom.scenes.scene import Item
from navloom_worlds.furniture.contents import china, clothes_on_rail
from navloom_worlds.furniture.joinery import (
    AJAR,
    THICK,
    carcass,
    door,
    front_of,
    knob,
    legs,
    plinth,
)
from navloom_worlds.furniture.making import (
    BLACK,
    BRASS,
    CHROME,
    PALE_GLASS,
    STEEL,
    Builder,
    dice_of,
    has,
    set_off,
    shade,
    size_of,
)
from navloom_worlds.furniture.turnery import ball, prism, rounded, slab, wheel
from navloom_worlds.geometry.colours import surface_of
from navloom_worlds.geometry.solids import Part, Surface, beam, box, lathe


def display_cabinet(item: Item) -> list[Part]:
    """Glass doors, of which one sees the frames, before boards with plates, cups and vases."""
    w, h, d = size_of(item)
    look = surface_of(item) if item.material != "glass" else Surface((0.25, 0.26, 0.27), gloss=0.3)
    front, base, split = front_of(d), 0.06, min(0.55, h * 0.3)
    parts = carcass(
        w, h, d, look, low=base, front=front + THICK, back=set_off(look, 0.3), board=0.03
    )
    parts.append(plinth(w, d - 0.02, base, shade(look, 0.6)))
    parts.append(box((-w / 2, base, front + THICK), (w / 2, split, d / 2), shade(look, 0.9)))
    for x0, x1, hinge in ((-w / 2, 0.0, "left"), (0.0, w / 2, "right")):
        parts += door((x0, base), (x1, split), front, look, hinge=hinge, framed=True)
        rim = 0.035
        for a, b in (
            ((x0, split), (x0 + rim, h)),
            ((x1 - rim, split), (x1, h)),
            ((x0, split), (x1, split + rim)),
            ((x0, h - rim), (x1, h)),
        ):
            parts.append(box((*a, front), (*b, front + THICK), look))
        x = x1 - 0.018 if hinge == "left" else x0 + 0.018
        parts.append(knob(x, (split + h) / 2, front, BRASS, radius=0.012))
    # Where nothing is said, things stand 61 % up.
    shelf = h * 0.611
    dice = dice_of(item)
    for y in (split + 0.01, shelf, (shelf + h) / 2 + 0.02):
        parts.append(
            box(
                (-w / 2 + 0.03, y - 0.012, front + 0.05),
                (w / 2 - 0.03, y, d / 2 - 0.02),
                PALE_GLASS,
            )
        )
        parts += china(-w / 2 + 0.08, w / 2 - 0.08, y, d, dice.randrange(1000))
    return parts


def locker(item: Item) -> list[Part]:
    """Steel: narrow doors with slots for air and a number plate, on feet."""
    w, h, d = size_of(item)
    look = surface_of(item)
    front = front_of(d)
    foot = 0.1
    open_ = has(item, "open")
    body = front + (d * 0.3 if open_ else 0.0)
    parts = legs(w - 0.02, d - 0.04, foot + 0.02, 0.03, BLACK, back=body - front)
    count = max(1, round(w / 0.32))
    wide = w / count
    if open_:
        parts += carcass(w, h, d, look, low=foot, front=body, board=0.012)
        parts += clothes_on_rail(
            -w / 2 + 0.03,
            w / 2 - 0.03,
            h - 0.3,
            foot + 0.2,
            (body + d / 2) / 2,
            (d / 2 - body) * 0.8,
            item,
        )
        parts.append(box((-w / 2, h - 0.26, body), (w / 2, h - 0.245, d / 2), look))
    else:
        parts.append(box((-w / 2, foot, front + 0.015), (w / 2, h, d / 2), shade(look, 0.9)))
    leaf_look = set_off(look, 0.06)
    for k in range(count):
        x0 = -w / 2 + wide * k
        far = x0 + (min(wide, (body + d / 2) / math.sin(AJAR)) if open_ else wide)
        leaf = door(
            (x0, foot),
            (far, h),
            front if not open_ else body,
            leaf_look,
            angle=AJAR if open_ else 0.0,
        )
        parts += leaf
        if open_:
            continue
        mid = x0 + wide / 2
        for y in (h - 0.22, h - 0.19, h - 0.16, h - 0.13, foot + 0.13, foot + 0.16, foot + 0.19):
            parts.append(
                box(
                    (mid - wide * 0.28, y, front - 0.003),
                    (mid + wide * 0.28, y + 0.012, front),
                    BLACK,
                )
            )
        parts.append(
            box(
                (mid - 0.04, h - 0.34, front - 0.004),
                (mid + 0.04, h - 0.29, front),
                Surface((0.9, 0.88, 0.8)),
            )
        )
    return parts


def file_cabinet(item: Item) -> list[Part]:
    """Steel drawers with a label and a wide handle each, and a lock."""
    w, h, d = size_of(item)
    look = surface_of(item)
    front = front_of(d)
    open_ = has(item, "open")
    back = d * 0.25 if open_ else 0.0
    rows = max(2, round(h / 0.33))
    parts = [slab(w, d, h - 0.02, h, look), slab(w - 0.04, d - 0.06, 0, 0.04, BLACK)]
    parts.append(
        box((-w / 2, 0.03, front + back + 0.015), (w / 2, h - 0.01, d / 2), shade(look, 0.85))
    )
    row = (h - 0.05) / rows
    for k in range(rows):
        y = 0.03 + row * k
        out = back if open_ and k == rows - 1 else 0.0
        z = front + back - out
        parts.append(
            box((-w / 2 + 0.01, y + 0.006, z), (w / 2 - 0.01, y + row - 0.006, z + 0.018), look)
        )
        parts.append(box((-0.08, y + row * 0.42, z - 0.02), (0.08, y + row * 0.5, z), STEEL))
        parts.append(
            box(
                (-0.05, y + row * 0.68, z - 0.004),
                (0.05, y + row * 0.82, z),
                Surface((0.95, 0.94, 0.88)),
            )
        )
        if out:
            parts.append(
                box(
                    (-w / 2 + 0.03, y + 0.03, z),
                    (w / 2 - 0.03, y + row * 0.7, z + out + 0.05),
                    shade(look, 0.7),
                )
            )
            for n in range(5):
                zz = z + 0.03 + n * (out - 0.03) / 5
                parts.append(
                    box(
                        (-w / 2 + 0.05, y + 0.04, zz),
                        (w / 2 - 0.05, y + row * 0.9, zz + 0.008),
                        Surface((0.85, 0.72, 0.45)),
                    )
                )
    parts.append(
        wheel(
            (w / 2 - 0.05, h - 0.035, front + back - 0.004), 0.01, 0.008, CHROME, axis="z", sides=8
        )
    )
    return parts


def grandfather_clock(item: Item) -> list[Part]:
    """A tall case: a plinth, a slim waist with a pendulum behind glass, a hood with the dial."""
    w, h, d = size_of(item)
    look = surface_of(item)
    dark = shade(look, 0.75)
    waist, hood = h * 0.24, h * 0.72
    parts = [
        slab(w, d, 0, 0.08, dark),
        slab(w * 0.92, d * 0.92, 0.08, waist, look),
        slab(w, d, waist, waist + 0.04, dark),
        slab(w * 0.7, d * 0.75, waist, hood, look, z=d * 0.08),
        slab(w, d, hood - 0.03, hood + 0.02, dark),
        slab(w * 0.9, d * 0.9, hood, h * 0.93, look),
    ]
    arch = [(-w / 2, h * 0.92)]
    arch += [
        (w / 2 * math.cos(t), h * 0.93 + h * 0.07 * math.sin(t))
        for t in (math.pi * (1 - k / 10) for k in range(11))
    ]
    arch.append((w / 2, h * 0.92))
    parts.append(prism(arch, -d / 2, d / 2, dark, axis="z"))
    dial = h * 0.825
    r = min(w * 0.36, h * 0.09)
    z = -d * 0.45
    parts += [
        wheel((0, dial, z - 0.004), r, 0.012, Surface((0.95, 0.93, 0.85)), axis="z", sides=24),
        wheel((0, dial, z - 0.002), r * 1.1, 0.008, BRASS, axis="z", sides=24),
        beam((0, dial, z - 0.014), (r * 0.1, dial + r * 0.75, z - 0.014), 0.01, BLACK),
        beam((0, dial, z - 0.014), (-r * 0.5, dial + r * 0.15, z - 0.014), 0.014, BLACK),
    ]
    for k in range(12):
        a = math.pi * k / 6
        x, y = math.sin(a) * r * 0.86, dial + math.cos(a) * r * 0.86
        parts.append(
            box((x - 0.006, y - 0.009, z - 0.013), (x + 0.006, y + 0.009, z - 0.008), BLACK)
        )
    near = d * 0.08 - d * 0.375
    glass_low, glass_high = waist + 0.12, hood - 0.1
    parts += [
        box(
            (-w * 0.22, glass_low, near - 0.006),
            (w * 0.22, glass_high, near - 0.003),
            Surface((0.10, 0.08, 0.07)),
        ),
        beam(
            (0.02, glass_high, near - 0.012), (0.05, glass_low + 0.14, near - 0.012), 0.012, BRASS
        ),
        wheel(
            (0.05, glass_low + 0.12, near - 0.014),
            min(0.07, w * 0.15),
            0.012,
            BRASS,
            axis="z",
            sides=20,
        ),
        beam(
            (-0.06, glass_high, near - 0.012), (-0.06, glass_low + 0.35, near - 0.012), 0.008, BRASS
        ),
        wheel((-0.06, glass_low + 0.33, near - 0.014), 0.02, 0.09, BRASS, axis="y", sides=8),
    ]
    for s in (-1, 1):
        parts.append(
            box(
                (s * w * 0.22 - 0.012, glass_low, near - 0.014),
                (s * w * 0.22 + 0.012, glass_high, near),
                dark,
            )
        )
    return parts


def bar_cabinet(item: Item) -> list[Part]:
    """A top with a bottle rack under it: bottles and glasses between its doors."""
    w, h, d = size_of(item)
    look = surface_of(item)
    front, foot, split = front_of(d), 0.1, h * 0.5
    parts = legs(w - 0.02, d - 0.04, foot + 0.02, 0.045, shade(look, 0.6))
    parts += carcass(w, h, d, look, low=foot, front=front + THICK, back=shade(look, 0.6))
    parts.append(box((-w / 2, foot, front + THICK), (w / 2, split, d / 2), shade(look, 0.9)))
    for x0, x1, hinge in ((-w / 2, 0.0, "left"), (0.0, w / 2, "right")):
        parts += door((x0, foot), (x1, split), front, look, hinge=hinge, framed=True)
    dice = dice_of(item)
    count = int((w - 0.12) / 0.1)
    room = h - 0.03 - split
    for k in range(count):
        x = -w / 2 + 0.1 + k * (w - 0.2) / max(1, count - 1)
        look_b = Surface(
            dice.choice(
                [(0.1, 0.25, 0.12), (0.35, 0.18, 0.06), (0.6, 0.65, 0.62), (0.3, 0.05, 0.08)]
            ),
            gloss=0.6,
        )
        s = room * 0.85
        bottle = [
            (0.0, 0.0),
            (0.036, 0.0),
            (0.036, s * 0.6),
            (0.013, s * 0.75),
            (0.013, s),
            (0.0, s),
        ]
        parts.append(
            lathe(bottle, look_b, sides=10).moved(x, split + 0.0, d * 0.1 + (k % 2) * 0.06)
        )
        if k % 2 == 0:
            glass = [(0.025, 0.0), (0.004, 0.01), (0.004, 0.07), (0.03, 0.1), (0.033, 0.15)]
            parts.append(lathe(glass, PALE_GLASS, sides=10).moved(x + 0.03, split, -d * 0.22))
    return parts


def safe(item: Item) -> list[Part]:
    """A steel box with a thick door, a dial, a wheel to turn and two hinges."""
    w, h, d = size_of(item)
    look = surface_of(item)
    front = -d / 2 + 0.05
    parts = [
        rounded((-w / 2, 0.02, front), (w / 2, h, d / 2), 0.015, look, steps=1),
        slab(w - 0.06, d - 0.12, 0, 0.03, BLACK),
        rounded(
            (-w / 2 + 0.035, 0.055, front - 0.014),
            (w / 2 - 0.035, h - 0.035, front + 0.01),
            0.01,
            set_off(look, 0.2),
            steps=1,
        ),
        wheel((w * 0.02, h * 0.66, front - 0.022), 0.045, 0.025, BLACK, axis="z"),
        wheel((w * 0.02, h * 0.66, front - 0.03), 0.03, 0.02, CHROME, axis="z"),
    ]
    y = h * 0.38
    for k in range(3):
        a = math.pi * k / 3 + 0.3
        x, v = 0.085 * math.cos(a), 0.085 * math.sin(a)
        parts.append(
            beam(
                (w * 0.02 - x, y - v, front - 0.035),
                (w * 0.02 + x, y + v, front - 0.035),
                0.014,
                CHROME,
                sides=6,
            )
        )
    parts.append(wheel((w * 0.02, y, front - 0.03), 0.025, 0.035, CHROME, axis="z", sides=10))
    for s in (0.25, 0.75):
        parts.append(
            wheel((-w / 2 + 0.03, h * s, front - 0.008), 0.014, 0.08, CHROME, axis="y", sides=8)
        )
    return parts


def toy_chest(item: Item) -> list[Part]:
    """A box with a lid; open, toys look out of it."""
    w, h, d = size_of(item)
    look = surface_of(item)
    open_ = has(item, "open")
    rim = h - 0.03
    parts = carcass(w, rim, d, look, low=0.0, board=0.02)[:3]
    parts += [
        box((-w / 2, 0, -d / 2 + 0.004), (w / 2, rim, -d / 2 + 0.02), look),
        box((-w / 2, 0, d / 2 - 0.02), (w / 2, rim, d / 2), look),
    ]
    dice = dice_of(item)
    colours = [(0.85, 0.2, 0.2), (0.2, 0.45, 0.85), (0.95, 0.75, 0.15), (0.3, 0.7, 0.35)]
    for k in range(3):
        x = (k - 1) * w * 0.28
        star = Surface(colours[(k + dice.randrange(4)) % 4])
        parts.append(
            wheel(
                (x, h * 0.5, -d / 2 + 0.002),
                min(0.07, h * 0.16),
                0.004,
                star,
                axis="z",
                sides=(4, 5, 16)[k],
            )
        )
    if not open_:
        parts.append(
            rounded((-w / 2, rim, -d / 2), (w / 2, h, d / 2), 0.012, set_off(look, 0.2), steps=1)
        )
        return parts
    parts.append(
        box((-w / 2, h * 0.3, d / 2 - 0.045), (w / 2, h, d / 2 - 0.02), set_off(look, 0.2))
    )
    parts.append(slab(w - 0.04, d - 0.06, h - 0.05, h - 0.012, Surface((0.55, 0.5, 0.5))))
    for k in range(7):
        r = dice.uniform(0.05, 0.09)
        x, z = dice.uniform(-w / 2 + 0.12, w / 2 - 0.12), dice.uniform(-d / 2 + 0.12, d / 2 - 0.16)
        toy = Surface(colours[k % 4])
        y = h - r
        parts.append(
            ball((x, y, z), (r, r, r), toy, sides=10)
            if k % 2
            else slab(r * 1.6, r * 1.6, y - r, y + r * 0.6, toy, x=x, z=z)
        )
    return parts


BY_NAME: dict[str, Builder] = {
    "display_cabinet": display_cabinet,
    "bar_cabinet": bar_cabinet,
    "locker": locker,
    "file_cabinet": file_cabinet,
    "filing_cabinet": file_cabinet,
    "grandfather_clock": grandfather_clock,
    "safe": safe,
    "toy_chest": toy_chest,
}
BY_SHAPE: dict[str, Builder] = {}
