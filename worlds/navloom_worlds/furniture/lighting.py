"""Lamps, lanterns and candles; those that are on glow."""

from __future__ import annotations

import math

from navloom.scenes.scene import Item
from navloom_worlds.furniture.making import STEEL, Builder, has, size_of
from navloom_worlds.furniture.shaping import (
    BLACK,
    BRASS,
    CREAM,
    WOOD,
    arc,
    fitted,
    look,
    pick,
    roll,
    spun,
)
from navloom_worlds.furniture.turnery import ball, ring, tube
from navloom_worlds.geometry.solids import Part, Surface, beam, box, cylinder, lathe

_SHADES = ((0.93, 0.89, 0.80), (0.90, 0.84, 0.70), (0.85, 0.85, 0.83), (0.70, 0.60, 0.48))
_FLAME = Surface((1.0, 0.80, 0.35), glow=2.5)


def _shade_look(item: Item) -> Surface:
    lit = has(item, "on")
    r, g, b = pick(item, _SHADES, "shade")
    return Surface((1.0, 0.93, 0.76), glow=1.3) if lit else Surface((r, g, b))


def _bulb(item: Item, x: float, y: float, z: float, radius: float | tuple[float, ...]) -> Part:
    lit = Surface((1.0, 0.95, 0.80), glow=2.5) if has(item, "on") else Surface((0.96, 0.95, 0.9))
    return ball((x, y, z), radius, lit, sides=8, rings=5)


def _shade(item: Item, low: float, high: float, wide: float, narrow: float) -> list[Part]:
    surface = _shade_look(item)
    profile = [(wide, low), (narrow, high), (narrow * 0.97, high), (wide * 0.97, low)]
    bulb = _bulb(item, 0, (low + high) / 2, 0, (wide * 0.22, (high - low) * 0.3, wide * 0.22))
    return [lathe(profile, surface, sides=18), bulb]


def _table_lamp(item: Item) -> list[Part]:
    base = look(item, (0.30, 0.42, 0.52), (0.78, 0.6, 0.28), (0.55, 0.38, 0.22), (0.9, 0.88, 0.84))
    kind = roll(item, "kind", 4)
    if kind == 0:
        foot = lathe([(0, 0), (0.4, 0), (0.6, 0.12), (0.62, 0.25), (0.3, 0.42), (0.08, 0.5)], base)
    elif kind == 1:
        foot = lathe([(0, 0), (0.5, 0), (0.5, 0.03), (0.07, 0.05), (0.05, 0.5)], base)
    elif kind == 2:
        foot = lathe([(0, 0), (0.36, 0), (0.3, 0.2), (0.42, 0.34), (0.2, 0.46), (0.06, 0.5)], base)
    else:
        foot = lathe([(0, 0), (0.45, 0), (0.45, 0.05), (0.2, 0.08), (0.28, 0.3), (0.05, 0.5)], base)
    stem = cylinder(0.03, 0.48, 0.62, BRASS, sides=6)
    narrow = pick(item, (0.55, 0.72, 0.95), "narrow")
    return fitted([foot, stem, *_shade(item, 0.52, 1, 1, narrow)], size_of(item))


def _desk_lamp(item: Item) -> list[Part]:
    metal = look(item, (0.12, 0.12, 0.13), (0.75, 0.15, 0.14), (0.75, 0.76, 0.78), gloss=0.4)
    head = [(0.02, 0.2), (0.14, 0.16), (0.3, 0), (0.28, 0)]
    cone = lathe(head, metal, sides=14).tilted(-0.5).moved(0, 0.74, -0.28)
    parts = [
        cylinder(0.32, 0, 0.05, metal),
        beam((0, 0.05, 0.1), (0, 0.52, 0.4), 0.05, STEEL, sides=6),
        beam((0, 0.52, 0.4), (0, 0.92, -0.2), 0.05, STEEL, sides=6),
        ball((0, 0.52, 0.4), 0.05, BLACK, sides=6, rings=4),
        cone,
        _bulb(item, 0, 0.76, -0.29, 0.1),
    ]
    return fitted(parts, size_of(item))


def _floor_lamp(item: Item) -> list[Part]:
    metal = look(item, (0.14, 0.14, 0.15), (0.78, 0.6, 0.28), (0.75, 0.76, 0.78))
    shade = _shade(item, 0.80, 1, 1, pick(item, (0.6, 0.75, 0.95), "narrow"))
    if roll(item, "kind", 3) == 0:
        legs = spun(beam((0.06, 0.72, 0), (0.75, 0, 0), 0.06, WOOD), 3)
        return fitted([*legs, *shade, cylinder(0.06, 0.68, 0.82, metal, sides=8)], size_of(item))
    foot = lathe([(0, 0), (0.7, 0), (0.7, 0.012), (0.1, 0.025)], metal)
    return fitted([foot, cylinder(0.05, 0.02, 0.86, metal, sides=8), *shade], size_of(item))


def _ceiling_lamp(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    metal = look(item, (0.14, 0.14, 0.15), (0.78, 0.6, 0.28))
    if h < 0.4 * w:
        return _flush_lamp(item)
    kind = roll(item, "kind", 3)
    rose = lathe([(0.2, 0.96), (0.2, 1), (0, 1)], metal, sides=12)
    cord = cylinder(0.02, 0.5, 0.97, BLACK, sides=5)
    if kind == 0:
        parts = [rose, cord, *_shade(item, 0, 0.55, 1, 0.45)]
    elif kind == 1:
        globe = ball((0, 0.33, 0), (1, 0.33, 1), _globe_look(item), sides=16, rings=10)
        parts = [rose, cord, globe]
    else:
        arm = tube([(0.06, 0.45, 0), (0.4, 0.2, 0), (0.8, 0.25, 0), (0.82, 0.4, 0)], 0.05, metal)
        cup = lathe([(0.05, 0.38), (0.12, 0.4), (0.18, 0.62), (0.16, 0.62)], _globe_look(item))
        arms = spun(arm, 5) + spun(cup.moved(0.82, 0, 0), 5)
        hub = ball((0, 0.42, 0), (0.12, 0.12, 0.12), metal, sides=8, rings=5)
        parts = [rose, cylinder(0.03, 0.4, 0.97, metal, sides=6), hub, *arms]
    return fitted(parts, (w, h, d))


def _globe_look(item: Item) -> Surface:
    if has(item, "on"):
        return Surface((1.0, 0.94, 0.80), glow=1.6)
    return Surface((0.93, 0.92, 0.88), gloss=0.4)


def _flush_lamp(item: Item) -> list[Part]:
    metal = look(item, (0.75, 0.76, 0.78))
    dome = [(0, 0), (0.45, 0.06), (0.75, 0.25), (0.92, 0.6), (0.94, 0.78)]
    rim = lathe([(0.94, 0.74), (1, 0.76), (1, 1), (0, 1)], metal, sides=20)
    return fitted([lathe(dome, _globe_look(item), sides=20), rim], size_of(item))


def _lantern(item: Item) -> list[Part]:
    metal = look(item, (0.13, 0.13, 0.14))
    parts = [box((-1, 0, -1), (1, 0.08, 1), metal)]
    parts += spun(beam((0.9, 0.08, 0.9), (0.9, 0.66, 0.9), 0.14, metal), 4)
    roof = lathe([(1.5, 0.66), (0.5, 0.84), (0, 0.86)], metal, sides=4)
    parts += [roof.turned(math.pi / 4), *_lit_candle(item, 0.35, 0.08, 0.4)]
    handle = tube(arc((0, 0.86, 0), (0.4, 0.13), 0, math.pi), 0.1, metal, sides=5)
    return fitted([*parts, handle], size_of(item))


def _lit_candle(item: Item, radius: float, low: float, high: float) -> list[Part]:
    tall = high - low
    lit = has(item, "on")
    wick = cylinder(radius * 0.06, high, high + tall * 0.12, BLACK, sides=4)
    flame = ball((0, high + tall * 0.2, 0), (radius * 0.16, tall * 0.16, radius * 0.16), _FLAME)
    return [cylinder(radius, low, high, CREAM), wick, *([flame] if lit else [])]


def _candle(item: Item) -> list[Part]:
    wax = look(
        item, (0.95, 0.92, 0.83), (0.78, 0.13, 0.12), (0.6, 0.7, 0.62), plain=True, gloss=0.2
    )
    parts: list[Part]
    if roll(item, "kind", 2):
        parts = [lathe([(0, 0), (0.96, 0), (0.96, 0.86), (0.8, 0.88), (0, 0.82)], wax)]
    else:
        jar = Surface((0.82, 0.86, 0.86), gloss=0.7)
        parts = [lathe([(0, 0), (1, 0), (1, 0.9), (0.92, 0.9), (0.92, 0.7)], jar)]
        parts.append(lathe([(0.93, 0.7), (0, 0.7)], wax))
        parts.append(lathe([(1.01, 0.15), (1.01, 0.62)], wax))
    wick = cylinder(0.05, 0.7, 0.96, BLACK, sides=5)
    flame = ball((0, 0.97, 0), (0.14, 0.13, 0.14), _FLAME, sides=8)
    return fitted([*parts, wick, *([flame] if has(item, "on") else [])], size_of(item))


def _candlestick(item: Item) -> list[Part]:
    metal = look(item, (0.78, 0.6, 0.28), (0.75, 0.76, 0.78), gloss=0.5)
    profile = [(0, 0), (1, 0), (0.95, 0.04), (0.25, 0.1), (0.18, 0.16), (0.32, 0.22), (0.14, 0.3)]
    profile += [(0.12, 0.44), (0.26, 0.5), (0.45, 0.54), (0.45, 0.56), (0, 0.56)]
    candle = cylinder(0.18, 0.56, 0.95, CREAM, sides=10)
    wick = cylinder(0.03, 0.95, 1, BLACK, sides=4)
    return fitted([lathe(profile, metal), candle, wick], size_of(item))


def _night_light(item: Item) -> list[Part]:
    glow = _globe_look(item)
    base = look(item, (0.5, 0.65, 0.85), (0.95, 0.7, 0.75))
    parts = [lathe([(0, 0), (0.9, 0), (1, 0.12), (0.8, 0.25), (0, 0.25)], base)]
    parts.append(ball((0, 0.6, 0), (0.85, 0.4, 0.85), glow, sides=12, rings=8))
    ears = ball((0.45, 0.95, 0), (0.18, 0.16, 0.12), base, sides=8, rings=5)
    parts += [ears, ears.moved(-0.9, 0, 0)]
    eye = ball((0.25, 0.68, -0.8), (0.08, 0.05, 0.06), BLACK, sides=6, rings=4)
    parts += [eye, eye.moved(-0.5, 0, 0), ring((0, 0.25, 0), 0.85, 0.05, base, axis="y")]
    return fitted(parts, size_of(item))


def _lamp(item: Item) -> list[Part]:
    # A thing called a lamp says by its height whether it stands on the floor.
    return _floor_lamp(item) if size_of(item)[1] > 1 else _table_lamp(item)


BY_NAME: dict[str, Builder] = {
    "lamp": _lamp,
    "table_lamp": _table_lamp,
    "bedside_lamp": _table_lamp,
    "desk_lamp": _desk_lamp,
    "floor_lamp": _floor_lamp,
    "ceiling_lamp": _ceiling_lamp,
    "pendant_lamp": _ceiling_lamp,
    "chandelier": _ceiling_lamp,
    "lantern": _lantern,
    "candle": _candle,
    "candlestick": _candlestick,
    "night_light": _night_light,
}
BY_SHAPE: dict[str, Builder] = {"lamp": _lamp}
