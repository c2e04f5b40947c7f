"""What is printed on things: dials, dartboards, calendars, flags, pages, screens, covers."""

from __future__ import annotations

import math
from random import Random

import numpy as np

from navloom_worlds.furniture.artworks import mountains
from navloom_worlds.furniture.easel import Canvas, Motif, Tones


def _dial(c: Canvas, _t: Tones, d: Random) -> None:
    dark = d.random() < 0.25
    ink = (0.92, 0.92, 0.9) if dark else (0.08, 0.08, 0.09)
    ground = (0.12, 0.12, 0.14) if dark else (0.95, 0.94, 0.90)
    c.sweep(ground, ground)
    for k in range(12):
        a = k * math.pi / 6
        x, y, reach = math.sin(a), math.cos(a), 0.36 if k % 3 else 0.32
        c.stroke((0.5 + x * reach, 0.5 - y * reach), (0.5 + x * 0.44, 0.5 - y * 0.44), 0.025, ink)
    for turn, long, thick in ((d.random(), 0.22, 0.045), (d.random(), 0.34, 0.03)):
        a = turn * 2 * math.pi
        c.stroke((0.5, 0.5), (0.5 + long * math.sin(a), 0.5 - long * math.cos(a)), thick, ink)


def _dartboard(c: Canvas, _t: Tones, _d: Random) -> None:
    angle = np.arctan2(c.y - 0.5, c.x - 0.5) / (2 * math.pi) * 20
    far = np.hypot(c.x - 0.5, c.y - 0.5) * 2
    odd = (np.floor(angle + 0.5) % 2 == 0).astype(np.float32)
    c.sweep((0.08, 0.08, 0.08), (0.08, 0.08, 0.08))
    for near, wide, dark, light in (
        (0.0, 0.78, (0.10, 0.10, 0.10), (0.90, 0.85, 0.70)),
        (0.72, 0.78, (0.75, 0.12, 0.12), (0.10, 0.45, 0.22)),
        (0.42, 0.48, (0.75, 0.12, 0.12), (0.10, 0.45, 0.22)),
    ):
        band = ((far >= near) & (far < wide)).astype(np.float32)
        c.lay(band * odd, dark)
        c.lay(band * (1 - odd), light)
    c.oval(0.5, 0.5, 0.05, 0.05, (0.10, 0.45, 0.22))
    c.oval(0.5, 0.5, 0.022, 0.022, (0.75, 0.12, 0.12))


def _world(c: Canvas, t: Tones, _d: Random) -> None:
    c.sweep(t.real((0.30, 0.55, 0.80)), t.real((0.22, 0.45, 0.72)))
    land, ice = t.real((0.50, 0.62, 0.32)), (0.95, 0.96, 0.97)
    for x, y, rx, ry in _LANDS:
        c.oval(x * c.wide, y, rx * c.wide, ry, land)
    c.block(0, 0, c.wide, 0.06, ice)
    c.block(0, 0.93, c.wide, 1, ice)
    for k in range(1, 6):
        c.block(0, k / 6, c.wide, k / 6 + 0.004, (0.85, 0.9, 0.92))


_LANDS = (
    *((0.16, 0.26, 0.10, 0.13), (0.22, 0.40, 0.04, 0.08), (0.29, 0.62, 0.05, 0.17)),
    *((0.50, 0.25, 0.06, 0.09), (0.53, 0.50, 0.07, 0.18), (0.66, 0.26, 0.16, 0.12)),
    *((0.72, 0.42, 0.04, 0.08), (0.86, 0.68, 0.06, 0.08), (0.80, 0.30, 0.08, 0.12)),
)


def _calendar(c: Canvas, t: Tones, d: Random) -> None:
    mountains(c, t, d)
    c.block(0, 0.5, c.wide, 1, (0.96, 0.96, 0.94))
    c.block(c.wide * 0.3, 0.53, c.wide * 0.7, 0.56, (0.7, 0.15, 0.15))
    for row in range(5):
        for column in range(7):
            x, y = c.wide * (0.1 + column * 0.12), 0.61 + row * 0.075
            ink = (0.75, 0.2, 0.2) if column == 6 else (0.25, 0.25, 0.28)
            c.block(x, y, x + c.wide * 0.07, y + 0.035, ink)


def _flag(c: Canvas, t: Tones, d: Random) -> None:
    colours = [t(0.75, 0.8), (0.95, 0.95, 0.95), t(0.55, 0.85, far=1)]
    kind = d.randrange(3)
    c.sweep(colours[0], colours[0])
    if kind == 0:
        c.block(0, 0.333, c.wide, 0.667, colours[1])
        c.block(0, 0.667, c.wide, 1, colours[2])
    elif kind == 1:
        c.block(c.wide / 3, 0, c.wide * 2 / 3, 1, colours[1])
        c.block(c.wide * 2 / 3, 0, c.wide, 1, colours[2])
    else:
        c.block(c.wide * 0.28, 0, c.wide * 0.42, 1, colours[1])
        c.block(0, 0.42, c.wide, 0.58, colours[1])


def _text(c: Canvas, _t: Tones, d: Random) -> None:
    c.sweep((0.97, 0.96, 0.93), (0.97, 0.96, 0.93))
    c.block(c.wide * 0.12, 0.07, c.wide * 0.6, 0.11, (0.15, 0.15, 0.18))
    y = 0.16
    while y < 0.92:
        end = d.uniform(0.6, 0.88) if d.random() < 0.25 else 0.88
        c.block(c.wide * 0.12, y, c.wide * end, y + 0.012, (0.45, 0.45, 0.48))
        y += 0.036


def _columns(c: Canvas, _t: Tones, _d: Random) -> None:
    paper = (0.90, 0.89, 0.85)
    c.sweep(paper, paper)
    c.block(c.wide * 0.08, 0.05, c.wide * 0.92, 0.13, (0.12, 0.12, 0.14))
    c.block(c.wide * 0.06, 0.16, c.wide * 0.94, 0.165, (0.2, 0.2, 0.2))
    left = c.wide * 0.07
    c.block(left, 0.2, c.wide * 0.6, 0.5, (0.45, 0.45, 0.46))
    c.block(left, 0.38, c.wide * 0.6, 0.5, (0.3, 0.3, 0.31))
    for column in range(3):
        x = c.wide * (0.07 + 0.3 * column)
        y = 0.2 if column == 2 else 0.54
        while y < 0.95:
            c.block(x, y, x + c.wide * 0.25, y + 0.013, (0.5, 0.5, 0.51))
            y += 0.032


def _staves(c: Canvas, _t: Tones, d: Random) -> None:
    c.sweep((0.97, 0.96, 0.92), (0.97, 0.96, 0.92))
    for stave in range(6):
        y = 0.1 + 0.15 * stave
        for line in range(5):
            at = y + line * 0.014
            c.block(c.wide * 0.08, at, c.wide * 0.92, at + 0.004, (0.3, 0.3, 0.3))
        for _ in range(9):
            x, dot = d.uniform(0.12, 0.9) * c.wide, y + d.uniform(0, 0.056)
            c.oval(x, dot, 0.013, 0.01, (0.05, 0.05, 0.05))
            c.block(x + 0.008, dot - 0.05, x + 0.013, dot, (0.05, 0.05, 0.05))


def _desktop(c: Canvas, t: Tones, d: Random) -> None:
    c.sweep((0.15, 0.30, 0.62), (0.45, 0.66, 0.88))
    c.block(0, 0.93, c.wide, 1, (0.12, 0.14, 0.18))
    c.block(c.wide * 0.2, 0.12, c.wide * 0.85, 0.85, (0.97, 0.97, 0.97))
    c.block(c.wide * 0.2, 0.12, c.wide * 0.85, 0.18, (0.75, 0.78, 0.82))
    for k in range(12):
        end = d.uniform(0.45, 0.8)
        c.block(c.wide * 0.25, 0.23 + k * 0.05, c.wide * end, 0.25 + k * 0.05, (0.5, 0.52, 0.56))
    for k in range(4):
        c.block(c.wide * 0.05, 0.1 + k * 0.17, c.wide * 0.12, 0.2 + k * 0.17, t(0.85, 0.7))


def _cover(c: Canvas, t: Tones, d: Random) -> None:
    ground = t(d.uniform(0.45, 0.85), 0.7)
    c.sweep(ground, ground)
    c.oval(c.wide / 2, 0.58, c.wide * 0.3, 0.22, t(0.9, 0.5, far=1))
    c.block(c.wide * 0.12, 0.1, c.wide * 0.88, 0.2, (0.96, 0.95, 0.9))
    c.block(c.wide * 0.25, 0.25, c.wide * 0.75, 0.29, (0.96, 0.95, 0.9))
    c.block(c.wide * 0.3, 0.88, c.wide * 0.7, 0.91, (0.1, 0.1, 0.1))


PRINTS: dict[str, Motif] = {
    "dial": _dial,
    "dartboard": _dartboard,
    "calendar": _calendar,
    "flag": _flag,
    "text": _text,
    "newspaper": _columns,
    "music": _staves,
    "world": _world,
    "desktop": _desktop,
    "cover": _cover,
}
"""What is printed on things, by name."""
