"""Pictures for walls and frames: landscapes, portraits, still lifes, abstracts, posters."""

from __future__ import annotations

import itertools
import math
from random import Random

import numpy as np

from navloom_worlds.furniture.easel import Canvas, Mask, Motif, Tones


def _ridge(c: Canvas, dice: Random, level: float, rough: float, waves: int = 4) -> Mask:
    line: Mask = np.full_like(c.x, level)
    for k in range(1, waves + 1):
        line += rough / k * np.sin(c.x * k * (2.3 + dice.random() * 3) + dice.random() * 7)
    return line


def mountains(c: Canvas, t: Tones, d: Random) -> None:
    """Ridges behind ridges, paler far off."""
    c.sweep(t.real((0.55, 0.72, 0.90)), t.real((0.95, 0.88, 0.80)), 0, 0.6)
    c.oval(c.wide * d.uniform(0.2, 0.8), 0.22, 0.07, 0.07, t.real((1, 0.95, 0.75)))
    for k, level in enumerate((0.42, 0.55, 0.68, 0.84)):
        dark = 0.75 - 0.16 * k
        jag = np.abs(np.sin(c.x * (5 + k) + d.random() * 7)) * (0.16 - 0.03 * k)
        c.below(_ridge(c, d, level, 0.04) - jag, t.real((dark * 0.75, dark * 0.9, dark * 0.95)))


def _sea(c: Canvas, t: Tones, d: Random) -> None:
    c.sweep(t.real((0.45, 0.68, 0.92)), t.real((0.90, 0.93, 0.95)), 0, 0.52)
    c.sweep(t.real((0.12, 0.40, 0.62)), t.real((0.30, 0.62, 0.70)), 0.5, 1)
    for _ in range(14):
        y, x = d.uniform(0.54, 0.85), d.uniform(0, c.wide)
        c.stroke((x, y), (x + 0.12, y), 0.008, t.real((0.85, 0.92, 0.95)))
    c.below(0.9 + 0.05 * np.sin(c.x * 3 + d.random() * 6), t.real((0.88, 0.78, 0.58)))
    x = c.wide * d.uniform(0.25, 0.75)
    for k in range(10):
        y = 0.25 + 0.028 * k
        c.block(x, y, x + 0.013 * k, y + 0.03, t.real((0.97, 0.96, 0.92)))
    c.block(x - 0.1, 0.54, x + 0.14, 0.58, t.real((0.5, 0.2, 0.15)))


def _sunset(c: Canvas, t: Tones, d: Random) -> None:
    c.sweep(t.real((0.35, 0.20, 0.45)), t.real((0.98, 0.62, 0.25)), 0, 0.8)
    c.oval(c.wide / 2, 0.58, 0.14, 0.14, t.real((1, 0.86, 0.5)))
    c.below(_ridge(c, d, 0.66, 0.03), t.real((0.45, 0.22, 0.25)))
    c.below(_ridge(c, d, 0.80, 0.04), t.real((0.2, 0.12, 0.16)))


def _wood(c: Canvas, t: Tones, d: Random) -> None:
    c.sweep(t.real((0.75, 0.85, 0.70)), t.real((0.35, 0.50, 0.28)))
    for depth in (0.6, 0.4, 0.18):
        for _ in range(7):
            x, thick = d.uniform(0, c.wide), 0.09 * (1 - depth)
            c.block(x, 0, x + thick, 0.95 - depth * 0.3, t.real((depth, depth * 0.85, depth * 0.6)))
    c.below(_ridge(c, d, 0.85, 0.03), t.real((0.22, 0.33, 0.16)))


def _night(c: Canvas, t: Tones, d: Random) -> None:
    c.sweep(t.real((0.05, 0.08, 0.22)), t.real((0.20, 0.28, 0.50)))
    for _ in range(35):
        c.oval(d.uniform(0, c.wide), d.uniform(0, 0.6), 0.008, 0.008, t.real((1, 1, 0.85)))
    x = c.wide * d.uniform(0.25, 0.75)
    c.oval(x, 0.25, 0.12, 0.12, t.real((0.98, 0.96, 0.82)))
    c.oval(x + 0.05, 0.22, 0.1, 0.1, t.real((0.10, 0.14, 0.30)))
    c.below(_ridge(c, d, 0.78, 0.05), t.real((0.04, 0.06, 0.10)))


def _city(c: Canvas, t: Tones, d: Random) -> None:
    c.sweep(t(0.95, 0.25), t(0.8, 0.5))
    x = 0.0
    while x < c.wide:
        w, top, dark = d.uniform(0.08, 0.17), d.uniform(0.2, 0.65), d.uniform(0.15, 0.4)
        c.block(x, top, x + w, 1, t(dark, 0.4))
        for row in range(int((1 - top) / 0.08)):
            for column in range(2):
                if d.random() < 0.6:
                    at, y = x + w * (0.2 + 0.4 * column), top + 0.04 + row * 0.08
                    c.block(at, y, at + w * 0.2, y + 0.035, t.real((1, 0.9, 0.55)))
        x += w + 0.01


def _house(c: Canvas, t: Tones, d: Random) -> None:
    c.sweep(t.real((0.6, 0.8, 0.95)), t.real((0.9, 0.95, 0.98)), 0, 0.7)
    c.below(_ridge(c, d, 0.62, 0.05), t.real((0.45, 0.65, 0.3)))
    x, roof = c.wide * d.uniform(0.3, 0.55), t.real((0.66, 0.26, 0.2))
    c.block(x, 0.45, x + 0.3, 0.72, t.real((0.93, 0.9, 0.84)))
    for k in range(10):
        inset = 0.018 * k
        c.block(x - 0.04 + inset, 0.45 - 0.016 * k, x + 0.34 - inset, 0.47 - 0.016 * k, roof)
    c.block(x + 0.12, 0.57, x + 0.19, 0.72, t.real((0.4, 0.25, 0.15)))
    c.block(x + 0.22, 0.52, x + 0.27, 0.58, t.real((0.35, 0.5, 0.65)))
    for _ in range(5):
        at = d.uniform(0, c.wide)
        c.block(at - 0.01, 0.66, at + 0.01, 0.78, t.real((0.35, 0.25, 0.15)))
        c.oval(at, 0.6, 0.06, 0.1, t.real((0.2, 0.42, 0.18)))


def _head(c: Canvas, t: Tones, d: Random, x: float, size: float, low: float) -> None:
    skin = d.choice([(0.94, 0.78, 0.66), (0.80, 0.58, 0.44), (0.48, 0.32, 0.24)])
    hair = d.choice([(0.15, 0.10, 0.08), (0.45, 0.28, 0.14), (0.80, 0.65, 0.35), (0.6, 0.6, 0.6)])
    long = d.random() < 0.5
    face, body = t.real(skin), t(d.uniform(0.25, 0.8), 0.6)
    if long:
        c.oval(x, low - size * 0.1, size * 0.95, size * 1.35, t.real(hair))
    c.oval(x, low + size * 2.2, size * 1.6, size * 1.5, body)
    c.block(x - size * 0.25, low + size * 0.5, x + size * 0.25, low + size * 1.1, face)
    c.oval(x, low - size * 0.15, size * 0.78, size * 1.05, t.real(hair))
    c.oval(x, low + size * 0.08, size * 0.66, size * 0.88, face)
    dark = t.real((0.12, 0.1, 0.1))
    for side in (-1, 1):
        c.oval(x + side * size * 0.26, low, size * 0.09, size * 0.06, dark)
    c.stroke((x, low + size * 0.1), (x, low + size * 0.3), size * 0.05, t.real((0.7, 0.5, 0.4)))
    lip = t.real((0.75, 0.3, 0.28))
    c.stroke((x - size * 0.2, low + size * 0.52), (x + size * 0.2, low + size * 0.52), 0.02, lip)


def _portrait(c: Canvas, t: Tones, d: Random) -> None:
    c.sweep(t(0.55, 0.35), t(0.35, 0.4))
    _head(c, t, d, c.wide / 2, min(0.26, c.wide * 0.3), 0.38)


def _family(c: Canvas, t: Tones, d: Random) -> None:
    c.sweep(t.real((0.75, 0.85, 0.9)), t.real((0.45, 0.6, 0.35)))
    for k in range(3 if c.wide > 1 else 2):
        count = 3 if c.wide > 1 else 2
        _head(c, t, d, c.wide * (k + 0.5) / count, min(0.17, c.wide * 0.16), d.uniform(0.38, 0.55))


def _flowers(c: Canvas, t: Tones, d: Random) -> None:
    c.sweep(t(0.88, 0.18), t(0.7, 0.3))
    c.block(0, 0.8, c.wide, 1, t(0.45, 0.4))
    x = c.wide / 2
    for _ in range(9):
        at = (x + d.uniform(-0.28, 0.28) * c.wide, d.uniform(0.14, 0.48))
        c.stroke((x, 0.65), at, 0.012, t.real((0.2, 0.4, 0.18)))
        colour = t(d.uniform(0.75, 0.98), 0.7)
        for k in range(5):
            a = k * 2 * math.pi / 5 + d.random()
            c.oval(at[0] + 0.045 * math.cos(a), at[1] + 0.045 * math.sin(a), 0.04, 0.04, colour)
        c.oval(*at, 0.025, 0.025, t.real((0.95, 0.8, 0.25)))
    c.oval(x, 0.74, 0.13, 0.15, t(0.4, 0.6))
    c.block(x - 0.06, 0.58, x + 0.06, 0.7, t(0.4, 0.6))


def _fruit(c: Canvas, t: Tones, d: Random) -> None:
    c.sweep(t(0.3, 0.4), t(0.5, 0.4))
    c.block(0, 0.68, c.wide, 1, t.real((0.5, 0.36, 0.22)))
    for _ in range(6):
        x, r = c.wide / 2 + d.uniform(-0.3, 0.3) * c.wide, d.uniform(0.08, 0.12)
        colour = t.real(d.choice([(0.8, 0.2, 0.15), (0.92, 0.6, 0.15), (0.5, 0.65, 0.2)]))
        y = 0.68 + d.uniform(-0.12, 0.06)
        c.oval(x, y, r, r, colour)
        c.oval(x - r * 0.3, y - r * 0.35, r * 0.25, r * 0.2, t.real((1, 0.95, 0.85)))


def _leaf(c: Canvas, t: Tones, d: Random) -> None:
    c.sweep(t.real((0.96, 0.94, 0.88)), t.real((0.93, 0.91, 0.84)))
    x, green = c.wide / 2, t.real((0.22, 0.42, 0.25))
    c.stroke((x, 0.9), (x, 0.15), 0.014, green)
    for k in range(d.choice((5, 7))):
        y, reach = 0.82 - k * 0.095, 0.30 * c.wide * math.sin((k + 1.5) / 8.5 * math.pi)
        for side in (-1, 1):
            c.stroke((x, y), (x + side * reach, y - 0.12), 0.05, green)


def _fields(c: Canvas, t: Tones, d: Random) -> None:
    c.sweep(t(0.6, 0.6), t(0.45, 0.6))
    edge = 0.08
    cut = d.uniform(0.35, 0.6)
    c.block(edge, edge, c.wide - edge, cut, t(d.uniform(0.6, 0.95), 0.75, far=0.5))
    c.block(edge, cut + 0.04, c.wide - edge, 1 - edge, t(d.uniform(0.2, 0.5), 0.7, far=-0.5))


def _grid(c: Canvas, t: Tones, d: Random) -> None:
    c.sweep((0.95, 0.94, 0.9), (0.95, 0.94, 0.9))
    xs = sorted([0.0, c.wide, *(d.uniform(0.1, 0.9) * c.wide for _ in range(3))])
    ys = sorted([0.0, 1.0, *(d.uniform(0.1, 0.9) for _ in range(3))])
    for a, b in itertools.pairwise(xs):
        for e, f in itertools.pairwise(ys):
            if d.random() < 0.45:
                c.block(a, e, b, f, t(d.uniform(0.5, 0.95), 0.85))
    for x in xs:
        c.block(x - 0.014, 0, x + 0.014, 1, (0.06, 0.06, 0.06))
    for y in ys:
        c.block(0, y - 0.014, c.wide, y + 0.014, (0.06, 0.06, 0.06))


def _circles(c: Canvas, t: Tones, d: Random) -> None:
    c.sweep(t(0.93, 0.12), t(0.9, 0.18))
    for _ in range(11):
        x, y, r = d.uniform(0, c.wide), d.uniform(0, 1), d.uniform(0.05, 0.24)
        c.oval(x, y, r, r, t(d.uniform(0.3, 0.95), 0.7))
        c.oval(x, y, r * 0.55, r * 0.55, t(d.uniform(0.3, 0.95), 0.7))


def _waves(c: Canvas, t: Tones, d: Random) -> None:
    c.sweep(t(0.9, 0.3), t(0.9, 0.3))
    bend, phase = d.uniform(3, 7), d.random() * 6
    for k in range(9):
        line = k / 9 + 0.07 * np.sin(c.x * bend + phase + k * 0.5)
        c.below(line, t(0.35 + 0.6 * ((k * 5) % 9) / 9, 0.65))


def _strokes(c: Canvas, t: Tones, d: Random) -> None:
    c.sweep(t(0.92, 0.1), t(0.86, 0.15))
    for _ in range(16):
        x, y = d.uniform(0, c.wide), d.uniform(0, 1)
        a, long = d.uniform(0, math.pi), d.uniform(0.2, 0.6)
        end = (x + long * math.cos(a), y + long * math.sin(a))
        c.stroke((x, y), end, d.uniform(0.02, 0.1), t(d.uniform(0.15, 0.95), 0.75))


def _facets(c: Canvas, t: Tones, d: Random) -> None:
    points = [(d.uniform(0, c.wide), d.uniform(0, 1)) for _ in range(16)]
    far = np.stack([np.hypot(c.x - x, c.y - y) for x, y in points])
    nearest = far.argmin(axis=0)
    colours = np.array([t(d.uniform(0.35, 0.95), 0.55) for _ in points], dtype=np.float32)
    c.rgb = colours[nearest]


def _arches(c: Canvas, t: Tones, d: Random) -> None:
    ground = t(0.95, 0.1)
    c.sweep(ground, ground)
    x, y = c.wide * d.uniform(0.35, 0.65), d.uniform(0.75, 1)
    for k in range(5):
        r = min(0.42, c.wide * 0.42) * (1 - k * 0.19) * 1.2
        c.oval(x, y, r, r, ground if k == 4 else t(0.9 - 0.15 * k, 0.6))
    c.oval(c.wide * d.uniform(0.2, 0.8), 0.2, 0.09, 0.09, t(0.75, 0.75))


def _dunes(c: Canvas, t: Tones, d: Random) -> None:
    c.sweep(t.real((0.75, 0.86, 0.95)), t.real((0.98, 0.92, 0.82)), 0, 0.6)
    for k, level in enumerate((0.5, 0.62, 0.78)):
        c.below(_ridge(c, d, level, 0.07, 2), t.real((0.95 - 0.12 * k, 0.78 - 0.13 * k, 0.5)))


def _lighthouse(c: Canvas, t: Tones, d: Random) -> None:
    _sea(c, t, d)
    x = c.wide * 0.75
    c.oval(x, 0.72, 0.2, 0.14, t.real((0.35, 0.33, 0.30)))
    for k in range(6):
        colour = (0.8, 0.15, 0.13) if k % 2 else (0.95, 0.95, 0.93)
        half = 0.065 - 0.005 * k
        c.block(x - half, 0.58 - 0.075 * k, x + half, 0.66 - 0.075 * k, t.real(colour))
    c.oval(x, 0.17, 0.035, 0.045, t.real((1, 0.9, 0.5)))


def _cat(c: Canvas, t: Tones, d: Random) -> None:
    c.sweep(t(0.92, 0.3), t(0.8, 0.4))
    x, fur = c.wide / 2, t.real(d.choice([(0.15, 0.14, 0.15), (0.75, 0.5, 0.25), (0.6, 0.6, 0.62)]))
    c.oval(x, 0.78, 0.2, 0.3, fur)
    c.stroke((x + 0.15, 0.9), (x + 0.3, 0.6), 0.06, fur)
    for side in (-1, 1):
        c.stroke((x + side * 0.1, 0.38), (x + side * 0.13, 0.24), 0.08, fur)
    c.oval(x, 0.42, 0.17, 0.15, fur)
    for side in (-1, 1):
        c.oval(x + side * 0.07, 0.4, 0.03, 0.035, t.real((0.85, 0.85, 0.3)))
        c.oval(x + side * 0.07, 0.4, 0.01, 0.03, (0.05, 0.05, 0.05))
    c.oval(x, 0.47, 0.02, 0.015, t.real((0.85, 0.5, 0.5)))


def _poster(c: Canvas, t: Tones, d: Random) -> None:
    c.sweep(t(0.9, 0.5), t(0.55, 0.65))
    radius = d.uniform(0.2, 0.3) * min(1, c.wide)
    c.oval(c.wide / 2, 0.42, radius, radius, t(0.95, 0.6, far=1))
    ink = t(0.12, 0.4)
    c.block(c.wide * 0.1, 0.75, c.wide * 0.9, 0.84, ink)
    c.block(c.wide * 0.2, 0.88, c.wide * 0.8, 0.91, ink)
    c.stroke((c.wide * 0.3, 0.6), (c.wide * 0.7, 0.25), 0.05, ink)


def _map(c: Canvas, t: Tones, d: Random) -> None:
    c.sweep(t.real((0.70, 0.82, 0.88)), t.real((0.66, 0.80, 0.88)))
    rise = np.zeros_like(c.x)
    for k in range(1, 6):
        a, b = d.uniform(2, 4) * k, d.uniform(2, 4) * k
        rise += np.sin(c.x * a + d.random() * 7) * np.cos(c.y * b + d.random() * 7) / k
    c.lay(c.inside((0.25 - rise) * 0.1), t.real((0.82, 0.78, 0.58)))
    c.lay(c.inside((0.8 - rise) * 0.1), t.real((0.55, 0.65, 0.38)))
    for k in range(1, 6):
        c.block(0, k / 6, c.wide, k / 6 + 0.006, t.real((0.5, 0.55, 0.6)))


MOTIFS: tuple[Motif, ...] = (
    *(mountains, _sea, _sunset, _wood, _night, _city, _house, _portrait, _flowers, _fruit, _leaf),
    *(_fields, _grid, _circles, _waves, _strokes, _facets, _arches, _dunes, _lighthouse, _cat),
    *(_family, _poster, _map),
)
PHOTOS: tuple[Motif, ...] = (_portrait, _family, _family, _sea, mountains, _cat, _house, _sunset)
POSTERS: tuple[Motif, ...] = (_poster, _city, _map, _arches, _portrait, _waves, _night, _cat)
PAINTINGS: tuple[Motif, ...] = MOTIFS[:19]
