"""What holds liquids and food: bottles, glasses, cups, plates, bowls, pots, pans, vases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from navloom.scenes.scene import Item
from navloom_worlds.furniture.making import STEEL, Builder, has, shade, size_of
from navloom_worlds.furniture.shaping import (
    BLACK,
    BRIGHT,
    CLAY,
    CREAM,
    DARK_WOOD,
    EARTH,
    GLASS,
    RED,
    WHITE,
    arc,
    fitted,
    look,
    pick,
    roll,
)
from navloom_worlds.furniture.turnery import ball, ring, tube
from navloom_worlds.geometry.solids import Part, Surface, box, cylinder, lathe

Profile = Sequence[tuple[float, float]]

_WINE = Surface((0.35, 0.04, 0.08), gloss=0.4)
_COFFEE = Surface((0.20, 0.11, 0.06), gloss=0.3)
_WATER = Surface((0.70, 0.84, 0.92), gloss=0.7)
_LABEL = Surface((0.93, 0.90, 0.80))


def _sharp(profile: Profile) -> list[tuple[float, float]]:
    # Points twice, so that what is shaded round keeps the edges of its profile.
    return [point for point in profile for _ in (0, 1)]


def hollow(outside: Profile, surface: Surface, *, wall: float = 0.06, sides: int = 14) -> Part:
    """A vessel open at its top: the outside profile, and the same again within.

    Args:
        outside: (radius, y) from the foot to the rim.
        surface: its look.
        wall: how thick it is.
        sides: how many flat sides stand for the round.
    """
    inside = [(max(r - wall, 0.01), max(y, wall)) for r, y in reversed(outside)]
    return lathe([(0, 0), *outside, *inside, (0, wall)], surface, sides=sides)


def _contents(radius: float, y: float, surface: Surface) -> Part:
    return lathe([(radius, y), (0, y + 1e-3)], surface, sides=12)


def _bottle(item: Item) -> list[Part]:
    kind = roll(item, "kind", 3)
    body = look(item, (0.16, 0.32, 0.20), (0.30, 0.18, 0.10), (0.75, 0.82, 0.84), gloss=0.6)
    shoulder, neck = [(0.62, 0.40), (0.66, 0.32), (0.56, 0.26)][kind]
    profile = [(0, 0), (0.94, 0), (1, 0.03), (1, shoulder), (0.85, shoulder + 0.08)]
    profile += [(neck, shoulder + 0.18), (neck * 0.92, 0.9), (neck * 0.92, 0.91)]
    cap = lathe(_sharp([(0, 0.91), (neck, 0.91), (neck, 1), (0, 1)]), pick(item, _CAPS, "cap"))
    label = lathe([(1.015, 0.16), (1.015, shoulder * 0.85)], pick(item, _LABELS, "label"))
    return fitted([lathe(profile, body), cap, label], size_of(item))


_CAPS = (BLACK, WHITE, RED, STEEL)
_LABELS = (_LABEL, WHITE, Surface((0.75, 0.22, 0.18)), Surface((0.22, 0.40, 0.62)))


def _wine_bottle(item: Item) -> list[Part]:
    glass = look(item, (0.10, 0.20, 0.10), (0.22, 0.10, 0.06), gloss=0.6)
    profile = [(0, 0), (0.95, 0), (1, 0.02), (1, 0.60), (0.9, 0.66), (0.5, 0.75), (0.36, 0.80)]
    body = lathe([*profile, (0.34, 0.88)], glass)
    foil = lathe(_sharp([(0.37, 0.86), (0.37, 1), (0, 1)]), pick(item, (_WINE, BLACK), "foil"))
    label = lathe([(1.015, 0.18), (1.015, 0.46)], _LABEL)
    band = lathe([(1.02, 0.40), (1.02, 0.44)], _WINE)
    return fitted([body, foil, label, band], size_of(item))


def _water_bottle(item: Item) -> list[Part]:
    body = look(item, *BRIGHT, gloss=0.5)
    profile = [(0, 0), (0.95, 0), (1, 0.03), (1, 0.72), (0.8, 0.80), (0.8, 0.82)]
    cap = lathe(_sharp([(0.7, 0.82), (0.72, 0.92), (0.3, 0.92)]), BLACK)
    return fitted([lathe(profile, body), cap, *_loop(0.96, 0.3)], size_of(item))


def _loop(y: float, reach: float) -> list[Part]:
    path = [(-reach, y - 0.06, 0), (-reach, y, 0), (reach, y, 0), (reach, y - 0.06, 0)]
    return [tube(path, 0.08, BLACK, sides=4)]


def _wine_glass(item: Item) -> list[Part]:
    glass = replace(GLASS, rgb=(0.82, 0.88, 0.90))
    stem = [(0, 0), (0.85, 0.005), (0.8, 0.02), (0.1, 0.04), (0.08, 0.46)]
    bowl = [(0.5, 0.52), (0.92, 0.64), (1, 0.74), (0.86, 1.0)]
    inner = [(0.80, 0.99), (0.93, 0.74), (0.85, 0.66), (0.4, 0.56), (0, 0.53)]
    parts = [lathe([*stem, *bowl, *inner], glass, sides=14)]
    if has(item, "full"):
        parts.append(_contents(0.93, 0.76, _WINE))
    return fitted(parts, size_of(item))


def _glass(item: Item) -> list[Part]:
    glass = replace(GLASS, rgb=(0.80, 0.88, 0.90))
    parts = [hollow([(0.80, 0), (0.84, 0.05), (1, 1)], glass)]
    if has(item, "full"):
        parts.append(_contents(0.9, 0.78, _WATER))
    return fitted(parts, size_of(item))


def _cup(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    clay = look(item, *BRIGHT, *CLAY, gloss=0.35)
    round_cup = roll(item, "kind", 2)
    straight = [(0.92, 0), (0.98, 0.04), (1, 1)]
    outside = [(0.55, 0), (0.75, 0.08), (0.95, 0.45), (1, 1)] if round_cup else straight
    cup = hollow(outside, clay, wall=0.08)
    drink = _contents(0.9, 0.82, _COFFEE)
    parts = [cup, drink] if has(item, "full") else [cup]
    handle = tube(arc((0.92, 0.52, 0), (0.42, 0.3), -1.35, 1.35), 0.14, clay, sides=5)
    return fitted([*parts, handle], (w, h, d))


def _plate(item: Item) -> list[Part]:
    clay = look(item, (0.93, 0.92, 0.88), (0.82, 0.86, 0.88), gloss=0.4)
    profile = [(0, 0), (0.55, 0), (0.62, 0.2), (1, 0.9), (1, 1), (0.64, 0.42), (0.6, 0.3), (0, 0.3)]
    parts = [lathe(profile, clay, sides=20)]
    parts.append(ring((0, 0.93, 0), 0.93, 0.03, shade(clay, 0.72), around=20, axis="y"))
    if has(item, "full"):
        parts += [ball((0.2, 0.5, 0.1), (0.28, 0.5, 0.25), Surface((0.55, 0.32, 0.16)))]
        parts += [ball((-0.22, 0.4, 0.15), (0.25, 0.45, 0.2), Surface((0.3, 0.52, 0.2)))]
        parts += [ball((-0.05, 0.4, -0.25), (0.3, 0.5, 0.18), Surface((0.92, 0.82, 0.5)))]
    return fitted(parts, size_of(item))


def _bowl(item: Item) -> list[Part]:
    clay = look(item, *CLAY, gloss=0.35)
    outside = [(0.42, 0), (0.42, 0.08), (0.7, 0.25), (0.92, 0.6), (1, 1)]
    parts = [hollow(outside, clay, wall=0.05, sides=18)]
    # Fruit that lies in a bowl is in homes a thing of its own.
    if has(item, "full"):
        parts.append(_contents(0.85, 0.6, Surface((0.80, 0.45, 0.20), gloss=0.1)))
    return fitted(parts, size_of(item))


def _tray(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    wood = look(item, (0.48, 0.32, 0.18))
    thin = h * 0.25
    edge = min(w, d) * 0.03
    parts = [box((-w / 2, 0, -d / 2), (w / 2, thin, d / 2), shade(wood, 0.85))]
    for s in (-1, 1):
        at = s * (w / 2 - edge / 2)
        parts.append(box((at - edge / 2, 0, -d / 2), (at + edge / 2, h, d / 2), wood))
        at = s * (d / 2 - edge / 2)
        parts.append(box((-w / 2, 0, at - edge / 2), (w / 2, h * 0.8, at + edge / 2), wood))
    return parts


def _pan(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    steel = look(item, (0.12, 0.12, 0.13), gloss=0.5)
    outside = [(0.82, 0), (0.86, 0.1), (1, 1)]
    bowl = hollow(outside, steel, wall=0.04, sides=18)
    inner = _contents(0.9, 0.3, Surface((0.75, 0.5, 0.2)) if has(item, "full") else BLACK)
    # Its handle is a third of it, to the front; of a square one it is short.
    handle = 2 * max(d, w) / max(min(w, d), 1e-6) - 2 or 0.0
    handle = max(handle, 0.7)
    parts = [bowl, inner, tube([(0, 0.7, -0.95), (0, 0.95, -1 - handle)], 0.16, BLACK)]
    return fitted(parts, (w, h, d), long=True)


def _pot(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    steel = look(item, (0.70, 0.71, 0.73), (0.72, 0.16, 0.14), (0.18, 0.20, 0.24), gloss=0.5)
    parts = [hollow([(0.96, 0), (1, 0.05), (1, 0.8), (1.04, 0.82)], steel, wall=0.05, sides=18)]
    if has(item, "full") or has(item, "empty"):
        soup = Surface((0.78, 0.42, 0.16)) if has(item, "full") else shade(steel, 0.6)
        parts.append(_contents(0.96, 0.6 if has(item, "full") else 0.08, soup))
    else:
        parts.append(lathe([(1.02, 0.81), (0.95, 0.86), (0.4, 0.92), (0, 0.93)], steel, sides=18))
        parts.append(ball((0, 0.96, 0), (0.14, 0.06, 0.14), BLACK, sides=8, rings=4))
    grip = tube(arc((1.02, 0.66, 0), (0.2, 0.25), -1.57, 1.57, "xz", 5), 0.09, BLACK, sides=4)
    parts += [grip, grip.turned(math.pi)]
    return fitted(parts, (w, h, d))


def _kettle(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    steel = look(item, (0.75, 0.76, 0.78), (0.75, 0.15, 0.14), gloss=0.6)
    profile = [(0, 0.06), (0.9, 0.06), (0.95, 0.12), (0.82, 0.55), (0.55, 0.74), (0.5, 0.75)]
    body = lathe([*profile, (0.3, 0.79), (0, 0.8)], steel, sides=16)
    foot = cylinder(0.9, 0, 0.06, BLACK, sides=16)
    knob = ball((0, 0.82, 0), (0.12, 0.05, 0.12), BLACK, sides=8, rings=4)
    spout = tube([(-0.7, 0.4, 0), (-0.95, 0.6, 0), (-1.15, 0.74, 0)], [0.4, 0.3, 0.2], steel)
    grip = [(0.65, 0.7, 0), (0.85, 0.92, 0), (0.4, 1, 0), (-0.3, 0.98, 0), (-0.45, 0.75, 0)]
    handle = tube(grip, 0.14, BLACK)
    parts = [body, foot, knob, spout, handle]
    if has(item, "on"):
        parts.append(box((0.7, 0.12, -0.1), (0.98, 0.2, 0.1), Surface((1, 0.4, 0.1), glow=1)))
    return fitted(parts, (w, h, d))


def _teapot(item: Item) -> list[Part]:
    clay = look(item, *CLAY, gloss=0.5)
    belly = [(0, 0), (0.5, 0), (0.5, 0.05), (0.85, 0.2), (1, 0.42), (0.85, 0.66), (0.5, 0.78)]
    body = lathe([*belly, (0.5, 0.8), (0.3, 0.87), (0, 0.88)], clay, sides=16)
    knob = ball((0, 0.94, 0), (0.14, 0.07, 0.14), clay, sides=8, rings=4)
    spout = tube(
        [(-0.8, 0.35, 0), (-1.15, 0.5, 0), (-1.35, 0.72, 0), (-1.5, 0.8, 0)],
        [0.45, 0.3, 0.2, 0.18],
        clay,
    )
    handle = tube(arc((0.85, 0.45, 0), (0.55, 0.27), -1.4, 1.4), 0.13, clay)
    return fitted([body, knob, spout, handle], size_of(item))


def _jug(item: Item) -> list[Part]:
    clay = look(item, *CLAY, (0.78, 0.86, 0.88), gloss=0.45)
    outside = [(0.6, 0), (0.85, 0.12), (0.95, 0.35), (0.75, 0.7), (0.62, 0.82), (0.75, 1)]
    parts = [hollow(outside, clay, wall=0.07)]
    parts.append(tube([(-0.5, 0.9, 0), (-0.85, 0.98, 0)], [0.4, 0.2], clay))
    handle = tube(arc((0.7, 0.6, 0), (0.55, 0.28), -1.3, 1.4), 0.14, clay)
    if has(item, "full"):
        parts.append(_contents(0.6, 0.85, _WATER))
    return fitted([*parts, handle], size_of(item))


_VASES: tuple[Profile, ...] = (
    [(0.5, 0), (0.9, 0.2), (1, 0.4), (0.75, 0.65), (0.4, 0.82), (0.38, 0.9), (0.55, 1)],
    [(0.6, 0), (0.62, 0.05), (0.8, 0.5), (1, 1)],
    [(0.45, 0), (0.95, 0.18), (1, 0.32), (0.6, 0.5), (0.3, 0.65), (0.28, 0.92), (0.4, 1)],
    [(0.9, 0), (1, 0.05), (1, 0.9), (0.8, 0.97), (0.8, 1)],
    [(0.7, 0), (0.4, 0.12), (0.7, 0.4), (1, 0.68), (0.9, 0.85), (0.6, 0.93), (0.7, 1)],
)


def vase_profile(item: Item) -> Profile:
    """The outline of a vase, (radius, y) both from 0 to 1; the same for the same thing."""
    return pick(item, _VASES, "vase")


def _vase(item: Item) -> list[Part]:
    clay = look(item, *CLAY, *BRIGHT[1:4], gloss=0.5)
    parts = [hollow(vase_profile(item), clay, wall=0.08, sides=16)]
    if roll(item, "band", 3) == 0:
        parts.append(ring((0, 0.42, 0), 0.92, 0.06, shade(clay, 0.6), axis="y"))
    return fitted(parts, size_of(item))


def _jar(item: Item) -> list[Part]:
    glass = replace(GLASS, rgb=(0.80, 0.86, 0.85))
    inside = pick(item, (EARTH, RED, Surface((0.92, 0.72, 0.3)), CREAM, DARK_WOOD), "in")
    body = [(0, 0), (0.95, 0), (1, 0.04), (1, 0.72), (0.86, 0.8), (0.86, 0.84)]
    cap = lathe(_sharp([(0.9, 0.82), (0.9, 1), (0, 1)]), pick(item, (STEEL, RED, BLACK), "cap"))
    parts = [lathe(body, glass), cap]
    if not has(item, "empty"):
        parts.append(lathe([(0.96, 0.0), (1.012, 0.05), (1.012, 0.62), (0.97, 0.64)], inside))
    parts.append(lathe([(1.02, 0.22), (1.02, 0.5)], _LABEL))
    return fitted(parts, size_of(item))


def _cookie_jar(item: Item) -> list[Part]:
    clay = look(item, *CLAY, gloss=0.4)
    body = lathe([(0, 0), (0.75, 0), (1, 0.25), (1, 0.5), (0.8, 0.74)], clay)
    lid = lathe([(0.86, 0.74), (0.86, 0.78), (0.5, 0.9), (0, 0.92)], shade(clay, 0.8))
    knob = ball((0, 0.95, 0), (0.14, 0.06, 0.14), shade(clay, 0.8), sides=8, rings=4)
    biscuit = cylinder(0.3, 0, 0.05, Surface((0.72, 0.48, 0.25)), sides=12)
    front = biscuit.tilted(math.pi / 2).scaled(1, 0.4, 1).moved(0, 0.4, -1)
    return fitted([body, lid, knob, front], size_of(item))


BY_NAME: dict[str, Builder] = {
    "bottle": _bottle,
    "wine_bottle": _wine_bottle,
    "water_bottle": _water_bottle,
    "wine_glass": _wine_glass,
    "glass": _glass,
    "cup": _cup,
    "mug": _cup,
    "plate": _plate,
    "bowl": _bowl,
    "tray": _tray,
    "pan": _pan,
    "frying_pan": _pan,
    "pot": _pot,
    "kettle": _kettle,
    "teapot": _teapot,
    "jug": _jug,
    "pitcher": _jug,
    "vase": _vase,
    "jar": _jar,
    "cookie_jar": _cookie_jar,
}
BY_SHAPE: dict[str, Builder] = {"bottle": _bottle, "bowl": _bowl}
