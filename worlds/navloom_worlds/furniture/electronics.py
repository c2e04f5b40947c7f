"""Screens and what one hears with: televisions, monitors, players, loudspeakers, computers."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from navloom.scenes.scene import Item
from navloom_worlds.furniture.joinery import legs
from navloom_worlds.furniture.making import (
    BLACK,
    BLACK_GLASS,
    CHROME,
    GREEN_LIT,
    IRON,
    STEEL,
    WHITE,
    Builder,
    has,
    lightness,
    set_off,
    shade,
    size_of,
)
from navloom_worlds.furniture.turnery import prism, ring, rounded, slab, wheel
from navloom_worlds.geometry.colours import surface_of
from navloom_worlds.geometry.solids import Part, Picture, Surface, beam, box, cylinder, quad


@lru_cache(maxsize=8)
def _shown(kind: str) -> Picture:
    """What a screen shows: a landscape with the sun on a television, windows on a desktop."""
    y, x = np.mgrid[0:54, 0:96] / np.array([54.0, 96.0])[:, None, None]
    picture = np.zeros((54, 96, 3))
    if kind == "film":
        picture[:] = np.stack([0.35 + 0.5 * y, 0.6 + 0.25 * y, 0.95 - 0.15 * y], axis=2)
        sun = (x - 0.72) ** 2 * 3 + (y - 0.25) ** 2 < 0.012
        picture[sun] = (1.0, 0.95, 0.6)
        hills = y > 0.6 + 0.1 * np.sin(x * 9) + 0.05 * np.sin(x * 23)
        picture[hills] = (0.2, 0.5, 0.25)
        picture[y > 0.82 + 0.04 * np.sin(x * 5 + 1)] = (0.45, 0.7, 0.3)
    else:
        picture[:] = (0.12, 0.35, 0.55)
        for x0, y0, x1, y1 in ((0.06, 0.1, 0.6, 0.75), (0.45, 0.3, 0.93, 0.86)):
            inside = (x > x0) & (x < x1) & (y > y0) & (y < y1)
            picture[inside] = (0.95, 0.95, 0.96)
            picture[inside & (y < y0 + 0.07)] = (0.6, 0.65, 0.72)
            lines = inside & (y > y0 + 0.12) & ((y * 54).astype(int) % 4 == 0) & (x < x1 - 0.12)
            picture[lines & (x > x0 + 0.04)] = (0.35, 0.35, 0.4)
        picture[y > 0.93] = (0.08, 0.1, 0.14)
    return Picture((np.clip(picture, 0, 1) * 255).astype(np.uint8))


def display(x: float, low: float, high: float, z: float, *, on: bool, kind: str = "film") -> Part:
    """A flat screen that looks along -z, x to both sides of the middle, dark where it is off."""
    # Seen from the front, the right of the picture is at -x.
    corners = [[x, low, z], [-x, low, z], [-x, high, z], [x, high, z]]
    if on:
        return quad(corners, Surface((1, 1, 1), _shown(kind), glow=0.9), whole=True)
    return quad(corners, Surface((0.05, 0.055, 0.065), gloss=0.6))


def tv(item: Item) -> list[Part]:
    """A wide flat screen in a thin black frame, on two feet where it stands."""
    w, h, d = size_of(item)
    body = surface_of(item)
    frame = body if lightness(body) < 0.5 else BLACK
    # Of homes that say what things stand on, one that stands on nothing hangs on its wall.
    hung = item.shape is not None and item.on is None
    low = 0.0 if hung or h < 0.3 else 0.05
    near = -d / 2
    parts = [
        box((-w / 2, low, near + 0.002), (w / 2, h, near + min(0.03, d * 0.6)), frame),
        box(
            (-w * 0.3, low + h * 0.1, near + d * 0.4), (w * 0.3, h * 0.75, d / 2), shade(frame, 0.8)
        ),
        display(w / 2 - 0.012, low + 0.022, h - 0.012, near, on=has(item, "on")),
    ]
    for s in () if hung else (-1, 1):
        foot = [
            (near, 0.0),
            (d / 2, 0.0),
            (d / 2, 0.008),
            (near + d * 0.5, low + 0.01),
            (near, 0.008),
        ]
        parts.append(prism(foot, s * w * 0.32 - 0.012, s * w * 0.32 + 0.012, STEEL))
    lamp = GREEN_LIT if has(item, "on") else Surface((0.8, 0.1, 0.1), glow=0.7)
    parts.append(box((-0.008, low + 0.006, near), (0.008, low + 0.012, near + 0.004), lamp))
    return parts


def monitor(item: Item) -> list[Part]:
    """A screen on a neck and a flat foot."""
    w, h, d = size_of(item)
    look = surface_of(item)
    frame = look if lightness(look) < 0.75 else shade(look, 0.7)
    low = h * 0.28
    near = -d * 0.2
    return [
        rounded((-w * 0.22, 0, -d / 2), (w * 0.22, 0.015, d / 2), 0.006, frame, steps=1),
        beam((0, 0.01, d * 0.2), (0, h * 0.6, d * 0.1), 0.045, frame),
        box((-w / 2, low, near + 0.002), (w / 2, h, near + 0.03), frame),
        box(
            (-w * 0.3, low + 0.06, near + 0.03), (w * 0.3, h - 0.06, near + 0.06), shade(frame, 0.8)
        ),
        display(w / 2 - 0.012, low + 0.03, h - 0.012, near, on=has(item, "on"), kind="desk"),
        box((-0.02, low + 0.01, near), (0.02, low + 0.016, near + 0.003), STEEL),
    ]


def projector_screen(item: Item) -> list[Part]:
    """A white sheet with a black border, rolled down from a case, a bar at its lower end."""
    w, h, d = size_of(item)
    white = Surface((0.96, 0.96, 0.96))
    border = 0.05
    return [
        rounded(
            (-w / 2, h - 0.09, -d / 2),
            (w / 2, h, d / 2),
            0.02,
            Surface((0.85, 0.85, 0.85)),
            steps=1,
        ),
        box((-w / 2 + 0.03, 0.02, -0.004), (w / 2 - 0.03, h - 0.08, 0.004), BLACK),
        box(
            (-w / 2 + 0.03 + border, 0.02 + border, -0.006),
            (w / 2 - 0.03 - border, h - 0.12, 0.0),
            white,
        ),
        box((-w / 2 + 0.02, 0, -d * 0.25), (w / 2 - 0.02, 0.03, d * 0.25), IRON),
    ]


def pc_tower(item: Item) -> list[Part]:
    """An upright case with a grille, drives, a power button and lamps on its front."""
    w, h, d = size_of(item)
    look = surface_of(item)
    dark = set_off(look, 0.3)
    front = -d / 2 + 0.008
    on = has(item, "on")
    parts = [
        *legs(w, d - 0.06, 0.02, 0.03, BLACK),
        rounded((-w / 2, 0.015, front), (w / 2, h, d / 2), 0.008, look, steps=1),
        box((-w * 0.42, h * 0.84, front - 0.004), (w * 0.42, h * 0.92, front), dark),
        box((-w * 0.42, h * 0.73, front - 0.004), (w * 0.42, h * 0.81, front), dark),
        wheel(
            (0, h * 0.64, front - 0.003),
            0.018,
            0.008,
            Surface((0.3, 0.6, 1.0), glow=0.9) if on else STEEL,
            axis="z",
            sides=12,
        ),
        box((-0.05, h * 0.56, front - 0.003), (-0.03, h * 0.57, front), WHITE),
        box((0.03, h * 0.56, front - 0.003), (0.05, h * 0.57, front), WHITE),
    ]
    for k in range(7):
        y = h * 0.1 + k * h * 0.058
        parts.append(box((-w * 0.38, y, front - 0.003), (w * 0.38, y + h * 0.03, front), dark))
    for k in range(5):
        y = h * 0.3 + k * 0.03
        parts.append(box((-w / 2 - 0.0, y, -d * 0.1), (-w / 2 + 0.002, y + 0.012, d * 0.3), dark))
    return parts


def record_player(item: Item) -> list[Part]:
    """A flat case with a black disc on its platter, an arm over it, two knobs."""
    w, h, d = size_of(item)
    look = surface_of(item)
    top = h * 0.62
    r = min(w * 0.36, d * 0.42)
    x = -w * 0.1
    parts = [
        *legs(w - 0.03, d - 0.03, 0.02, 0.035, BLACK),
        rounded((-w / 2, 0.015, -d / 2), (w / 2, top, d / 2), 0.008, look, steps=1),
        cylinder(r, top, top + 0.012, STEEL, sides=28).moved(x, 0, 0),
        cylinder(r * 0.97, top + 0.012, top + 0.016, BLACK_GLASS, sides=28).moved(x, 0, 0),
        cylinder(r * 0.33, top + 0.016, top + 0.0175, Surface((0.8, 0.3, 0.15)), sides=18).moved(
            x, 0, 0
        ),
        cylinder(0.005, top + 0.016, top + 0.026, CHROME, sides=6).moved(x, 0, 0),
    ]
    for k in (0.55, 0.7, 0.85):
        parts.append(
            ring(
                (x, top + 0.0165, 0), r * k, 0.002, shade(STEEL, 0.4), axis="y", around=28, sides=4
            )
        )
    arm_x, arm_z = w * 0.38, d * 0.28
    parts += [
        cylinder(0.025, top, min(h, top + 0.035), STEEL, sides=12).moved(arm_x, 0, arm_z),
        beam(
            (arm_x, top + 0.034, arm_z + 0.04),
            (arm_x, top + 0.034, -d * 0.1),
            0.01,
            CHROME,
            sides=6,
        ),
        beam(
            (arm_x, top + 0.034, -d * 0.1),
            (x + r * 0.72, top + 0.024, -d * 0.24),
            0.01,
            CHROME,
            sides=6,
        ),
        slab(0.022, 0.035, top + 0.018, top + 0.03, BLACK, x=x + r * 0.7, z=-d * 0.25),
        wheel((w * 0.4, top, -d * 0.38), 0.018, 0.016, STEEL, axis="y", sides=12),
        box(
            (-w / 2 + 0.005, top, d / 2 - 0.012),
            (w / 2 - 0.005, h, d / 2),
            Surface((0.7, 0.74, 0.76), gloss=0.6),
        ),
    ]
    return parts


def stereo(item: Item) -> list[Part]:
    """A receiver: a wide front with a large knob, small ones, a lit display."""
    w, h, d = size_of(item)
    look = surface_of(item)
    front = -d / 2 + 0.025
    face = Surface((0.2, 0.8, 0.95), glow=0.9) if has(item, "on") else BLACK_GLASS
    metal = STEEL if lightness(look) < 0.4 else IRON
    parts = [
        *legs(w - 0.06, d - 0.08, 0.015, 0.035, BLACK),
        box((-w / 2, 0.012, front + 0.008), (w / 2, h, d / 2), look),
        box((-w / 2, 0.012, front), (w / 2, h, front + 0.01), set_off(look, 0.12)),
        box((-w * 0.2, h * 0.6, front - 0.003), (w * 0.22, h * 0.85, front), face),
        wheel((w * 0.37, h * 0.58, front - 0.012), h * 0.2, 0.024, metal, axis="z", sides=18),
        box((-w * 0.42, h * 0.16, front - 0.003), (-w * 0.1, h * 0.36, front), BLACK),
    ]
    for k in range(5):
        parts.append(
            wheel(
                (w * (-0.02 + 0.065 * k), h * 0.28, front - 0.007),
                h * 0.055,
                0.014,
                metal,
                axis="z",
                sides=10,
            )
        )
    parts.append(
        wheel((-w * 0.4, h * 0.7, front - 0.006), h * 0.07, 0.012, metal, axis="z", sides=10)
    )
    for k in range(8):
        z = -d * 0.2 + k * d * 0.07
        parts.append(slab(w * 0.7, 0.008, h - 0.001, h, BLACK, z=z))
    return parts


def soundbar(item: Item) -> list[Part]:
    """A long low bar with a cloth front, rounded ends and a small lamp."""
    w, h, d = size_of(item)
    look = surface_of(item)
    front = -d / 2 + 0.004
    parts = [
        rounded((-w / 2, 0, front), (w / 2, h, d / 2), 0.02, look),
        box(
            (-w / 2 + 0.03, 0.01, front - 0.003),
            (w / 2 - 0.03, h - 0.012, front + 0.01),
            shade(look, 0.6),
        ),
        box(
            (-0.03, h * 0.4, front - 0.004),
            (0.03, h * 0.55, front),
            GREEN_LIT if has(item, "on") else STEEL,
        ),
        slab(0.1, d * 0.3, h - 0.004, h, BLACK),
    ]
    for s in (-1, 1):
        for k in range(4):
            x = s * (w / 2 - 0.09 - 0.085 * k)
            parts.append(
                ring(
                    (x, h / 2, front - 0.002),
                    h * 0.32,
                    0.005,
                    shade(STEEL, 0.5),
                    axis="z",
                    around=14,
                    sides=4,
                )
            )
    return parts


def subwoofer(item: Item) -> list[Part]:
    """A cube with one large round membrane in its front and a port below."""
    w, h, d = size_of(item)
    look = surface_of(item)
    front = -d / 2 + 0.02
    r = min(w, h) * 0.36
    y = h * 0.55
    return [
        *legs(w - 0.04, d - 0.06, 0.02, 0.04, BLACK),
        rounded((-w / 2, 0.018, front), (w / 2, h, d / 2), 0.012, look, steps=1),
        ring((0, y, front), r, 0.03, STEEL, axis="z", around=24),
        wheel((0, y, front - 0.002), r * 0.93, 0.008, set_off(look, 0.15), axis="z", sides=24),
        ring((0, y, front - 0.006), r * 0.72, 0.022, BLACK, axis="z", around=24),
        wheel((0, y, front - 0.012), r * 0.32, 0.012, STEEL, axis="z", sides=16),
        wheel((0, h * 0.1, front - 0.002), h * 0.045, 0.006, BLACK, axis="z", sides=14),
        wheel(
            (w * 0.36, h * 0.1, front - 0.002),
            0.006,
            0.008,
            GREEN_LIT if has(item, "on") else STEEL,
            axis="z",
            sides=8,
        ),
    ]


BY_NAME: dict[str, Builder] = {
    "tv": tv,
    "television": tv,
    "screen": tv,
    "monitor": monitor,
    "projector_screen": projector_screen,
    "pc_tower": pc_tower,
    "record_player": record_player,
    "stereo": stereo,
    "soundbar": soundbar,
    "subwoofer": subwoofer,
}
BY_SHAPE: dict[str, Builder] = {"screen": tv}
