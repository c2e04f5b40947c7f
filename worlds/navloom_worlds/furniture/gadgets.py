"""Electric and electronic things that stand about: screens, keyboards, phones, speakers."""

from __future__ import annotations

import math

import numpy as np

from navloom.scenes.scene import Item
from navloom_worlds.furniture.making import STEEL, Builder, has, shade, size_of
from navloom_worlds.furniture.shaping import (
    BLACK,
    BRIGHT,
    GREY,
    RED,
    SCREEN,
    WHITE,
    arc,
    face,
    fitted,
    look,
    round_corners,
    top_face,
)
from navloom_worlds.furniture.turnery import ball, prism, tube
from navloom_worlds.furniture.wall_hangings import disc_face, print_of
from navloom_worlds.geometry.solids import Part, Surface, beam, box, cylinder, lathe

_KEYS = Surface((0.16, 0.16, 0.17))
_LED = Surface((0.25, 0.9, 0.4), glow=1.5)


def _lit(item: Item) -> Surface:
    shown = print_of(item, "desktop", 1.6, "blue")
    return Surface((1, 1, 1), shown.texture, gloss=0.3, glow=0.9)


def _keys(
    w: float, d: float, y: float, rows: int, columns: int, surface: Surface, z: float = 0.0
) -> list[Part]:
    parts = []
    for row in range(rows):
        for column in range(columns):
            x = ((column + 0.5) / columns - 0.5) * w
            at = ((row + 0.5) / rows - 0.5) * d + z
            kw, kd = w / columns * 0.8, d / rows * 0.78
            parts.append(top_face(kw, kd, y, surface, x=x, z=at))
    return parts


def _laptop(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    case = look(item, (0.72, 0.73, 0.75), (0.16, 0.16, 0.17), plain=True, gloss=0.4)
    if not (has(item, "open") or has(item, "on")):
        slab = prism(round_corners(w, d, 0.06 * d), h * 0.12, h, case, axis="y")
        seam = box((-w * 0.485, h * 0.45, -d * 0.502), (w * 0.485, h * 0.55, d * 0.49), BLACK)
        feet = box((-w * 0.45, 0, -d * 0.45), (w * 0.45, h * 0.12, d * 0.45), BLACK)
        logo = prism(
            [(0.03 * w * math.cos(a), 0.03 * w * math.sin(a)) for a in _TURN],
            h,
            h + 4e-4,
            STEEL,
            axis="y",
        )
        return fitted([slab, seam, feet, logo], (w, h, d))
    # Opened, its lid stands above the box of the closed one, as an open door leaves its wall.
    base = prism(round_corners(w, d, 0.05 * d), 0, h * 0.65, case, axis="y")
    parts = [base, *_keys(w * 0.88, d * 0.48, h * 0.66, 5, 13, _KEYS, z=d * 0.14)]
    parts.append(top_face(w * 0.32, d * 0.26, h * 0.66, shade(case, 0.8), z=-d * 0.3))
    tall = d * 0.92
    lid = [
        box((-w / 2, 0, 0), (w / 2, tall, h * 0.3), case),
        face(w * 0.97, tall * 0.03, tall * 0.98, -0.0006, BLACK),
        face(w * 0.93, tall * 0.07, tall * 0.94, -0.0012, _lit(item)),
    ]
    lean = 0.28
    back = d / 2 - tall * math.sin(lean) - h * 0.3
    parts += [part.tilted(lean).moved(0, h * 0.6, back) for part in lid]
    return parts


_TURN = np.linspace(0, 2 * math.pi, 11)[:-1]


def _tablet(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    case = look(item, (0.2, 0.2, 0.22), plain=True, gloss=0.4)
    parts = [prism(round_corners(w, d, 0.08 * min(w, d)), 0, h * 0.94, case, axis="y")]
    lit = has(item, "on") or not item.shape
    screen = _lit(item) if lit else SCREEN
    parts.append(top_face(w * 0.9, d * 0.9, h, screen))
    return fitted(parts, (w, h, d))


def _phone(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    case = look(item, (0.2, 0.2, 0.22), (0.72, 0.73, 0.75), plain=True, gloss=0.4)
    parts = [prism(round_corners(w, d, 0.14 * min(w, d)), 0, h * 0.9, case, axis="y")]
    parts.append(
        prism(round_corners(w * 0.93, d * 0.96, 0.1 * min(w, d)), h * 0.9, h, SCREEN, axis="y")
    )
    parts.append(top_face(w * 0.25, d * 0.02, h + 3e-4, GREY, z=d * 0.42))
    return fitted(parts, (w, h, d), long=False)


def _keyboard(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    case = look(item, (0.12, 0.12, 0.13), (0.9, 0.9, 0.89), plain=True)
    caps = shade(case, 0.75) if sum(case.rgb) > 1 else Surface((0.35, 0.35, 0.37))
    wedge = [(-d / 2, h * 0.4), (d / 2, h * 0.9), (d / 2, 0), (-d / 2, 0)]
    flat = prism(wedge, -w / 2, w / 2, case, axis="z").turned(math.pi / 2)
    parts = [flat]
    rise = math.atan2(h * 0.5, d)
    keys = _keys(w * 0.95, d * 0.82, 0, 5, 15, caps)
    parts += [key.tilted(-rise).moved(0, h * 0.72, 0) for key in keys]
    return fitted(parts, (w, h, d), long=False)


def _mouse(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    case = look(item, (0.12, 0.12, 0.13), (0.9, 0.9, 0.89), plain=True, gloss=0.3)
    half = lathe([(1, 0), (0.98, 0.3), (0.75, 0.75), (0.4, 0.96), (0, 1)], case, sides=14)
    body = half.scaled(0.62, 1, 1)
    wheel = ball((0, 0.72, -0.55), (0.06, 0.16, 0.14), RED if sum(case.rgb) > 1 else GREY, sides=8)
    line = box((-0.01, 0.6, -0.97), (0.01, 0.97, -0.1), GREY)
    return fitted([body, wheel, line.scaled(1, 0.98, 1)], (w, h, d), long=True)


def _headphones(item: Item) -> list[Part]:
    own = look(item, (0.12, 0.12, 0.13), (0.9, 0.9, 0.88), *BRIGHT[:2], plain=True)
    # They lie flat: the band to the back, the cups in front.
    band = tube(arc((0, 0.45, 0), (1, 1), 0, math.pi, "xz", 10), [0.24] * 11, own)
    parts = [band]
    for side in (-1, 1):
        cup = cylinder(0.5, -0.18, 0.18, BLACK, sides=14).tilted(math.pi / 2, "z")
        cap = cylinder(0.42, 0.18, 0.3, own, sides=14).tilted(-side * math.pi / 2, "z")
        parts += [cup.moved(side * 0.82, 0.45, -0.35), cap.moved(side * 0.82, 0.45, -0.35)]
        parts.append(beam((side, 0.45, 0.1), (side * 0.98, 0.45, -0.3), 0.14, STEEL))
    return fitted(parts, size_of(item))


def _camera(item: Item) -> list[Part]:
    own = look(item, (0.12, 0.12, 0.13), plain=True)
    body = box((-1, 0, -0.35), (1, 1.15, 0.35), own)
    grip = box((0.62, 0, -0.55), (1.02, 1.1, -0.3), BLACK)
    hump = prism([(-0.4, 1.15), (0.4, 1.15), (0.28, 1.5), (-0.28, 1.5)], -0.3, 0.3, own, axis="z")
    lens = [(0.55, 0.3), (0.55, 0.75), (0.5, 0.75), (0.5, 1.2), (0.44, 1.2), (0.3, 1.05), (0, 1.0)]
    barrel = lathe(lens, BLACK, sides=16).tilted(-math.pi / 2).moved(-0.1, 0.58, 0)
    glass = disc_face(0.42, -1.12, 0.58, Surface((0.15, 0.2, 0.35), gloss=0.9)).moved(-0.1, 0, 0)
    dial = cylinder(0.16, 1.15, 1.3, STEEL, sides=10).moved(0.7, 0, 0)
    return fitted([body, grip, hump, barrel, glass, dial], size_of(item))


def _telephone(item: Item) -> list[Part]:
    own = look(item, (0.12, 0.12, 0.13), (0.9, 0.88, 0.8), (0.7, 0.15, 0.15), plain=True, gloss=0.3)
    profile = [(-1, 0), (1, 0), (1, 0.75), (0.4, 0.7), (-1, 0.25)]
    wedge = prism(profile, -0.9, 0.9, own, axis="z").turned(math.pi / 2)
    parts = [wedge]
    rise = math.atan2(0.45, 1.4)
    keys = [key.tilted(-rise) for key in _keys(0.7, 0.8, 0, 4, 3, WHITE)]
    parts += [key.moved(0.2, 0.47, -0.35) for key in keys]
    handset = tube(
        [(-0.62, 0.85, -0.75), (-0.62, 0.98, 0), (-0.62, 1.0, 0.75)],
        [0.3, 0.26, 0.3],
        shade(own, 0.8),
    )
    parts.append(handset)
    for z, y in ((-0.7, 0.62), (0.72, 0.85)):
        parts.append(ball((-0.62, y, z), (0.24, 0.2, 0.26), shade(own, 0.8), sides=8, rings=5))
    return fitted(parts, size_of(item))


def _remote(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, (0.12, 0.12, 0.13), plain=True)
    long, wide = max(w, d), min(w, d)
    body = prism(round_corners(wide, long, wide * 0.3), 0, h * 0.85, own, axis="y")
    parts = [body, *_keys(wide * 0.7, long * 0.5, h * 0.9, 5, 3, Surface((0.6, 0.6, 0.62)))]
    parts.append(top_face(wide * 0.22, wide * 0.22, h, RED, z=long * 0.38, x=wide * 0.2))
    disc = [(wide * 0.28 * math.cos(a), long * 0.32 + wide * 0.28 * math.sin(a)) for a in _TURN]
    parts.append(prism(disc, h * 0.85, h * 0.95, GREY, axis="y"))
    return fitted(parts, (w, h, d), long=True)


def _calculator(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, (0.2, 0.2, 0.22), plain=True)
    parts = [prism(round_corners(w, d, w * 0.08), 0, h * 0.9, own, axis="y")]
    parts += _keys(w * 0.85, d * 0.58, h, 5, 4, WHITE, z=-d * 0.14)
    parts.append(top_face(w * 0.82, d * 0.18, h, Surface((0.62, 0.70, 0.60)), z=d * 0.32))
    return fitted(parts, (w, h, d))


def _charger(item: Item) -> list[Part]:
    own = look(item, (0.93, 0.93, 0.92), (0.1, 0.1, 0.1), plain=True)
    plug = box((-0.35, 0, 0.2), (0.35, 0.7, 0.9), own)
    pins = [beam((x, 0.35, 0.9), (x, 0.35, 1.15), 0.09, STEEL) for x in (-0.16, 0.16)]
    coil = [
        (0.75 * math.cos(a) * (1 - a / 60), 0.1 + a / 30, -0.35 + 0.55 * math.sin(a) * (1 - a / 60))
        for a in np.linspace(0.6, 4 * math.pi, 26)
    ]
    cable = tube([(0, 0.3, 0.2), *coil], 0.1, own, sides=4)
    return fitted([plug, *pins, cable], size_of(item))


def _speaker(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, (0.12, 0.12, 0.13), (0.45, 0.3, 0.18))
    parts = [box((-w / 2, 0, -d * 0.47), (w / 2, h, d / 2), own)]
    parts.append(face(w * 0.92, h * 0.03, h * 0.97, -d * 0.475, Surface((0.09, 0.09, 0.1))))
    for y, r in ((0.32, 0.36), (0.76, 0.2)):
        radius = min(r * w, 0.2 * h)
        rim = lathe(
            [(1, 0), (1, 0.5), (0.88, 0.55), (0.5, 0.05), (0.28, 0.05), (0.2, 0.3), (0, 0.35)],
            GREY,
            sides=16,
        )
        cone = rim.scaled(radius, d * 0.05, radius).tilted(-math.pi / 2).moved(0, h * y, -d * 0.475)
        parts.append(cone)
    if has(item, "on"):
        parts.append(face(w * 0.05, h * 0.04, h * 0.06, -d * 0.48, _LED, x=w * 0.35))
    return fitted(parts, (w, h, d))


def _radio(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, (0.45, 0.3, 0.18), (0.7, 0.15, 0.15), (0.85, 0.82, 0.72))
    high = h * 0.86
    body = prism(round_corners(w, high, high * 0.12), -d * 0.45, d / 2, own, axis="z").moved(
        0, high / 2, 0
    )
    parts = [body, face(w * 0.5, high * 0.15, high * 0.85, -d * 0.46, _GRILLE, x=w * 0.2)]
    for k in range(5):
        y = high * (0.2 + 0.13 * k)
        parts.append(face(w * 0.48, y, y + high * 0.03, -d * 0.465, BLACK, x=w * 0.2))
    tuner = Surface((1, 0.85, 0.5), glow=0.8) if has(item, "on") else Surface((0.9, 0.88, 0.75))
    parts.append(face(w * 0.34, high * 0.6, high * 0.82, -d * 0.46, tuner, x=-w * 0.27))
    for x in (-0.37, -0.18):
        knob = cylinder(high * 0.12, 0, d * 0.06, STEEL, sides=12).tilted(-math.pi / 2)
        parts.append(knob.moved(w * x, high * 0.32, -d * 0.44))
    parts.append(beam((w * 0.4, high, d * 0.3), (w * 0.15, h, d * 0.3), h * 0.02, STEEL, sides=4))
    grip = [(-w * 0.35, high * 0.95, 0), (-w * 0.3, h * 0.98, 0), (w * 0.3, h * 0.98, 0)]
    parts.append(tube([*grip, (w * 0.35, high * 0.95, 0)], h * 0.04, BLACK, sides=4))
    return fitted(parts, (w, h, d))


_GRILLE = Surface((0.72, 0.68, 0.58))


def _console(item: Item) -> list[Part]:
    # A video game: the box, and a controller on it.
    w, h, d = size_of(item)
    own = look(item, (0.12, 0.12, 0.13), (0.92, 0.92, 0.92), plain=True, gloss=0.3)
    low = h * 0.55
    parts = [box((-w / 2, 0, -d / 2), (w / 2, low * 0.45, d / 2), own)]
    parts.append(box((-w * 0.48, low * 0.45, -d * 0.48), (w * 0.48, low * 0.55, d * 0.48), BLACK))
    parts.append(box((-w / 2, low * 0.55, -d / 2), (w / 2, low, d / 2), own))
    lamp = _LED if has(item, "on") else GREY
    parts.append(face(w * 0.2, low * 0.47, low * 0.53, -d * 0.502, lamp, x=w * 0.2))
    pad_look = WHITE if sum(own.rgb) < 1 else BLACK
    for side in (-1, 1):
        grip = [(side * w * 0.1, h * 0.75, 0), (side * w * 0.22, h * 0.75, -d * 0.05)]
        grip.append((side * w * 0.25, h * 0.7, -d * 0.25))
        parts.append(tube(grip, [h * 0.36, h * 0.42, h * 0.25], pad_look))
        parts.append(cylinder(h * 0.1, h * 0.8, h, GREY, sides=8).moved(side * w * 0.13, 0, 0))
    parts.append(box((-w * 0.14, h * 0.6, -d * 0.08), (w * 0.14, h * 0.9, d * 0.08), pad_look))
    return fitted(parts, (w, h, d))


def _baby_monitor(item: Item) -> list[Part]:
    own = look(item, (0.93, 0.93, 0.92), (0.6, 0.75, 0.9), plain=True)
    body = prism(
        [
            (0.8, 0),
            (1, 0.5),
            (0.9, 1.3),
            (0.5, 1.7),
            (-0.5, 1.7),
            (-0.9, 1.3),
            (-1, 0.5),
            (-0.8, 0),
        ],
        -0.5,
        0.5,
        own,
        axis="z",
    )
    eye = cylinder(0.4, 0, 0.16, BLACK, sides=14).tilted(-math.pi / 2).moved(0, 1.1, -0.5)
    lens = disc_face(0.18, -0.68, 1.1, Surface((0.2, 0.3, 0.6), gloss=0.9))
    parts = [body, eye, lens, beam((0.6, 1.5, 0), (0.65, 2.4, 0), 0.16, GREY, sides=6)]
    for k in range(3):
        parts.append(face(1, 0.25 + 0.13 * k, 0.3 + 0.13 * k, -0.52, GREY))
    if has(item, "on"):
        parts.append(face(0.12, 0.62, 0.72, -0.53, _LED, x=0.5))
    return fitted(parts, size_of(item))


def _monitor(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, (0.12, 0.12, 0.13), plain=True)
    screen = _lit(item) if has(item, "on") else SCREEN
    thick = min(d * 0.25, 0.04)
    foot = h * 0.22
    parts = [box((-w / 2, foot, -thick / 2), (w / 2, h, thick / 2), own)]
    parts.append(face(w * 0.96, foot + h * 0.03, h * 0.98, -thick / 2 - 5e-4, screen))
    parts.append(box((-w * 0.05, 0.01, 0), (w * 0.05, h * 0.5, thick), own))
    parts.append(prism(round_corners(w * 0.4, d, d * 0.2), 0, 0.012, own, axis="y"))
    return fitted(parts, (w, h, d))


BY_NAME: dict[str, Builder] = {
    "laptop": _laptop,
    "tablet": _tablet,
    "phone": _phone,
    "keyboard": _keyboard,
    "mouse": _mouse,
    "headphones": _headphones,
    "camera": _camera,
    "telephone": _telephone,
    "remote_control": _remote,
    "remote": _remote,
    "calculator": _calculator,
    "charger": _charger,
    "speaker": _speaker,
    "radio": _radio,
    "video_game": _console,
    "baby_monitor": _baby_monitor,
    "monitor": _monitor,
}
BY_SHAPE: dict[str, Builder] = {"screen": _tablet}
