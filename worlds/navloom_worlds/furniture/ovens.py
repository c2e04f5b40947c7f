"""Stoves, ovens and the hoods over them; and a kitchen for play."""

from __future__ import annotations

from navloom.scenes.scene import Item
from navloom_worlds.furniture.joinery import basin, door, drawer, plinth, tap
from navloom_worlds.furniture.kitchen import FRONTS, PLINTH
from navloom_worlds.furniture.making import (
    BLACK,
    BLACK_GLASS,
    IRON,
    LIT,
    RED_LIT,
    STEEL,
    WHITE,
    Builder,
    has,
    lightness,
    set_off,
    shade,
    size_of,
    vivid,
)
from navloom_worlds.furniture.turnery import ring, slab, tube, wheel
from navloom_worlds.geometry.colours import surface_of
from navloom_worlds.geometry.solids import Part, Surface, beam, box, cylinder, lathe


def stove(item: Item) -> list[Part]:
    """Hobs on top, knobs in a row, an oven's door with its window below; on, a hob glows."""
    w, h, d = size_of(item)
    look = surface_of(item)
    front = -d / 2 + 0.035
    on = has(item, "on")
    parts = [
        slab(w, d - 0.03, 0.0, 0.06, BLACK, z=0.03),
        box((-w / 2, 0.06, front + 0.012), (w / 2, h - 0.02, d / 2), look),
        slab(w, d - 0.01, h - 0.02, h, BLACK_GLASS, z=0.005),
    ]
    spots = [(-0.24, -0.2, 0.15), (0.24, -0.2, 0.12), (-0.24, 0.22, 0.12), (0.24, 0.22, 0.15)]
    for n, (sx, sz, r) in enumerate(spots):
        hot = on and n == 0
        where = (sx * w, h + 0.002, sz * d)
        radius = r * w
        parts.append(
            wheel(where, radius, 0.006, RED_LIT if hot else shade(STEEL, 0.45), axis="y", sides=20)
        )
        parts.append(ring(where, radius, 0.01, STEEL, axis="y", around=20, sides=4))
        parts.append(
            wheel((where[0], h + 0.004, where[2]), radius * 0.35, 0.006, BLACK, axis="y", sides=10)
        )
    parts.append(box((-w / 2, h - 0.15, front), (w / 2, h - 0.02, front + 0.02), shade(look, 0.92)))
    for k in range(5):
        x = (k - 2) * w * 0.17
        parts.append(
            wheel(
                (x, h - 0.085, front - 0.014),
                0.022,
                0.028,
                IRON if lightness(look) > 0.4 else STEEL,
                axis="z",
                sides=12,
            )
        )
        parts.append(
            box((x - 0.003, h - 0.085, front - 0.03), (x + 0.003, h - 0.065, front - 0.027), WHITE)
        )
    parts += _oven_front(w, 0.22, h - 0.16, front, look, on=on)
    parts.append(box((-w / 2 + 0.004, 0.07, front), (w / 2 - 0.004, 0.21, front + 0.016), look))
    return parts


def _oven_front(
    w: float, low: float, high: float, front: float, look: Surface, *, on: bool
) -> list[Part]:
    """A door with a dark window and a bar across it."""
    window = Surface((0.95, 0.55, 0.2), glow=0.5) if on else BLACK_GLASS
    x = w / 2
    return [
        box((-x + 0.004, low, front), (x - 0.004, high, front + 0.016), look),
        box((-x + 0.07, low + 0.05, front - 0.004), (x - 0.07, high - 0.11, front), window),
        box((-x + 0.07, low + 0.16, front - 0.005), (x - 0.07, low + 0.165, front - 0.002), STEEL),
        beam(
            (-x + 0.05, high - 0.05, front - 0.024),
            (x - 0.05, high - 0.05, front - 0.024),
            0.018,
            STEEL,
            sides=8,
        ),
        box((-x + 0.06, high - 0.056, front - 0.02), (-x + 0.075, high - 0.044, front), STEEL),
        box((x - 0.075, high - 0.056, front - 0.02), (x - 0.06, high - 0.044, front), STEEL),
    ]


def oven(item: Item) -> list[Part]:
    """An oven at eye height in a tall unit, a drawer below it, a cupboard above."""
    w, h, d = size_of(item)
    if h < 0.75:
        return built_in_oven(item)
    look = surface_of(item)
    front = -d / 2 + 0.035
    on = has(item, "on")
    low = min(0.65, h * 0.42)
    high = low + 0.6
    parts = [
        plinth(w, d, PLINTH, BLACK, back=0.1),
        box((-w / 2, PLINTH, front + 0.016), (w / 2, h, d / 2), FRONTS),
        *drawer((-w / 2, PLINTH), (w / 2, (low + PLINTH) / 2), front, FRONTS),
        *drawer((-w / 2, (low + PLINTH) / 2), (w / 2, low), front, FRONTS),
    ]
    parts += _oven_front(w, low + 0.01, high - 0.11, front, look, on=on)
    parts += _oven_panel(w, high - 0.1, high, front, look, on=on)
    if h > high + 0.15:
        parts += door((-w / 2, high), (w / 2, h), front, FRONTS)
    return parts


def built_in_oven(item: Item) -> list[Part]:
    """An oven alone."""
    w, h, d = size_of(item)
    look = surface_of(item)
    front = -d / 2 + 0.035
    parts = [box((-w / 2, 0, front + 0.016), (w / 2, h, d / 2), look)]
    parts += _oven_front(w, 0.02, h - 0.11, front, look, on=has(item, "on"))
    return parts + _oven_panel(w, h - 0.1, h, front, look, on=has(item, "on"))


def _oven_panel(
    w: float, low: float, high: float, front: float, look: Surface, *, on: bool
) -> list[Part]:
    """Two knobs and a clock."""
    mid = (low + high) / 2
    face = Surface((0.3, 0.9, 1.0), glow=0.9) if on else BLACK_GLASS
    knobs = [
        wheel((s * w * 0.32, mid, front - 0.014), 0.024, 0.028, STEEL, axis="z", sides=12)
        for s in (-1, 1)
    ]
    return [
        box((-w / 2 + 0.004, low, front), (w / 2 - 0.004, high, front + 0.016), shade(look, 0.85)),
        box((-0.07, mid - 0.022, front - 0.003), (0.07, mid + 0.022, front), face),
        *knobs,
    ]


def hood(item: Item) -> list[Part]:
    """A sloping shade over the stove, a shaft up from it, lamps and a filter below."""
    w, h, d = size_of(item)
    look = surface_of(item)
    low = min(0.06, h * 0.15)
    slope = low + (h - low) * 0.4
    shaft = w * 0.22
    wide, deep = w / 2, d / 2
    corners_low = [(-wide, low, -deep), (wide, low, -deep), (wide, low, deep), (-wide, low, deep)]
    corners_high = [
        (-shaft, slope, deep - d * 0.5),
        (shaft, slope, deep - d * 0.5),
        (shaft, slope, deep),
        (-shaft, slope, deep),
    ]
    parts = [
        slab(w, d, 0.0, low, look),
        slab(w * 0.8, d * 0.7, -0.0, 0.004, shade(look, 0.4)),
        box((-shaft, slope, deep - d * 0.5), (shaft, h, deep), look),
    ]
    from navloom_worlds.geometry.solids import quad

    for k in range(4):
        n = (k + 1) % 4
        parts.append(
            quad(
                [corners_low[k], corners_low[n], corners_high[n], corners_high[k]],
                shade(look, 0.95),
            )
        )
    lamp = LIT if has(item, "on") else WHITE
    for s in (-1, 1):
        parts.append(wheel((s * w * 0.3, 0.006, -d * 0.3), 0.03, 0.012, lamp, axis="y", sides=10))
    for k in range(4):
        x = (k - 1.5) * 0.04
        parts.append(
            box((x - 0.01, low * 0.3, -deep - 0.0), (x + 0.01, low * 0.7, -deep + 0.006), BLACK)
        )
    return parts


def play_kitchen(item: Item) -> list[Part]:
    """A child's kitchen: small hobs, a basin with a tap, an oven's door, a shelf with pans."""
    w, h, d = size_of(item)
    look = surface_of(item)
    top = h * 0.56
    wood, white = Surface((0.83, 0.66, 0.45)), WHITE
    front = -d / 2 + 0.02
    parts = [
        box((-w / 2, 0, front + 0.015), (w / 2, top - 0.03, d / 2), white),
        slab(w, d, top - 0.03, top, wood),
        box((-w / 2, top, d / 2 - 0.03), (w / 2, h, d / 2), look),
        box((-w / 2, h * 0.8, d / 2 - 0.16), (w / 2, h * 0.82, d / 2), wood),
    ]
    for s in (-1, 1):
        parts.append(
            box(
                (s * (w / 2 - 0.01) - 0.01, top, d / 2 - 0.16),
                (s * (w / 2 - 0.01) + 0.01, h * 0.9, d / 2),
                look,
            )
        )
    parts += basin(w * 0.32, d * 0.5, 0.06, top + 0.002, STEEL, x=w * 0.24)
    parts.append(ring((w * 0.24, top, 0), min(w * 0.16, d * 0.25), 0.02, STEEL, axis="y"))
    parts += [p.scaled(0.7, 0.7, 0.7).moved(w * 0.24, top, d * 0.3) for p in tap(0, 0, 0)]
    for k, s in enumerate((-1, 1)):
        spot = (-w * 0.24, top + 0.004, s * d * 0.18)
        parts.append(wheel(spot, d * 0.14, 0.008, BLACK, axis="y"))
        parts.append(
            ring(
                (spot[0], top + 0.008, spot[2]),
                d * 0.09,
                0.008,
                Surface(vivid(k * 0.03, 0.9, 0.9)),
                axis="y",
            )
        )
    pan = lathe([(0.0, 0.0), (0.065, 0.0), (0.075, 0.05)], Surface((0.8, 0.2, 0.2)), sides=14)
    parts.append(pan.moved(-w * 0.24, top + 0.01, d * 0.18))
    parts.append(box((-w * 0.08, top + 0.045, d * 0.17), (-w * 0.16, top + 0.055, d * 0.19), BLACK))
    parts += _oven_front(w * 0.5, 0.06, top - 0.12, front, look, on=False)
    for p in range(len(parts) - 6, len(parts)):
        parts[p] = parts[p].moved(-w * 0.24, 0, 0)
    for k in range(3):
        parts.append(
            wheel(
                (-w * 0.36 + k * w * 0.12, top - 0.075, front - 0.006),
                0.018,
                0.02,
                Surface(vivid(k / 3, 0.8, 0.9)),
                axis="z",
                sides=10,
            )
        )
    parts += door(
        (0.02, 0.05),
        (w / 2 - 0.01, top - 0.05),
        front,
        set_off(look, 0.3),
        hinge="right",
        knobs=True,
    )
    for k in range(3):
        x = -w * 0.3 + k * w * 0.26
        parts.append(
            cylinder(
                0.035,
                h * 0.82,
                h * 0.82 + 0.08,
                Surface(vivid(k * 0.31 + 0.1, 0.7, 0.85)),
                sides=10,
            ).moved(x, 0, d / 2 - 0.09)
        )
        parts.append(tube([(x, h * 0.78, d / 2 - 0.05), (x, h * 0.68, d / 2 - 0.05)], 0.012, STEEL))
        parts.append(wheel((x, h * 0.66, d / 2 - 0.05), 0.03, 0.01, STEEL, axis="z", sides=10))
    return parts


BY_NAME: dict[str, Builder] = {
    "stove": stove,
    "stovetop": stove,
    "oven/stove": stove,
    "oven": oven,
    "range_hood": hood,
    "ventilation_hood": hood,
    "play_kitchen": play_kitchen,
}
BY_SHAPE: dict[str, Builder] = {"stove": stove, "hood": hood}
