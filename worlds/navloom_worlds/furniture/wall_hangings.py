"""What hangs on walls, and frames, mirrors and clocks that stand: pictures with their art.

What is printed on things: dials, dartboards, calendars, flags, pages, screens, covers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random

import numpy as np

from navloom.scenes.scene import Item
from navloom_worlds.furniture.artworks import MOTIFS, PAINTINGS, PHOTOS, POSTERS, mountains
from navloom_worlds.furniture.easel import Canvas, Motif, Tones, artwork
from navloom_worlds.furniture.making import STEEL, Builder, shade, size_of
from navloom_worlds.furniture.shaping import (
    BLACK,
    BRASS,
    DARK_WOOD,
    GREEN,
    RED,
    WHITE,
    WOOD,
    face,
    fitted,
    look,
    pick,
    roll,
    round_corners,
)
from navloom_worlds.furniture.turnery import ball, prism, tube
from navloom_worlds.geometry.solids import Part, Surface, box, cylinder, floats


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


def _prints_dartboard(c: Canvas, _t: Tones, _d: Random) -> None:
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


def _prints_calendar(c: Canvas, t: Tones, d: Random) -> None:
    mountains(c, t, d)
    c.block(0, 0.5, c.wide, 1, (0.96, 0.96, 0.94))
    c.block(c.wide * 0.3, 0.53, c.wide * 0.7, 0.56, (0.7, 0.15, 0.15))
    for row in range(5):
        for column in range(7):
            x, y = c.wide * (0.1 + column * 0.12), 0.61 + row * 0.075
            ink = (0.75, 0.2, 0.2) if column == 6 else (0.25, 0.25, 0.28)
            c.block(x, y, x + c.wide * 0.07, y + 0.035, ink)


def _prints_flag(c: Canvas, t: Tones, d: Random) -> None:
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
    "dartboard": _prints_dartboard,
    "calendar": _prints_calendar,
    "flag": _prints_flag,
    "text": _text,
    "newspaper": _columns,
    "music": _staves,
    "world": _world,
    "desktop": _desktop,
    "cover": _cover,
}
"""What is printed on things, by name."""


_FRAMES = (BLACK, DARK_WOOD, WOOD, BRASS, WHITE)
_MIRROR = Surface((0.66, 0.74, 0.79), gloss=0.95)
_WIDTHS = (0.6, 0.75, 1.0, 1.33, 1.6)
"""Width by height: pictures are painted in these alone, so that things share them."""
_VARIANTS = 3


def art_of(item: Item, motifs: Sequence[Motif], w: float, h: float, tone: str = "") -> Surface:
    """A picture for a thing, the same each time, of about this width by height."""
    wide = min(_WIDTHS, key=lambda each: abs(math.log(each * h / max(w, 1e-6))))
    chosen = artwork(
        pick(item, motifs, "motif"), tone or item.colour or "", wide, roll(item, "n", _VARIANTS)
    )
    return Surface((1.0, 1.0, 1.0), chosen)


def print_of(item: Item, name: str, wide: float = 1.0, tone: str = "") -> Surface:
    """What is printed on a thing: one of ``PRINTS``."""
    printed = artwork(PRINTS[name], tone or item.colour or "", wide, roll(item, "n", _VARIANTS))
    return Surface((1.0, 1.0, 1.0), printed)


def framed(
    w: float, h: float, d: float, bar: float, frame: Surface, inner: Surface, mat: float = 0.0
) -> list[Part]:
    """A panel within a frame, its back at d/2, its front along -z."""
    front, back, sunk = -d / 2, d / 2, -d / 2 + d * 0.35
    parts = [
        box((-w / 2, 0, front), (w / 2, bar, back), frame, sides="bufklr"),
        box((-w / 2, h - bar, front), (w / 2, h, back), frame, sides="bufklr"),
        box((-w / 2, bar, front), (-w / 2 + bar, h - bar, back), frame, sides="fklr"),
        box((w / 2 - bar, bar, front), (w / 2, h - bar, back), frame, sides="fklr"),
    ]
    edge = bar + mat
    parts.append(face(w - 2 * edge, edge, h - edge, sunk, inner))
    if mat:
        # Around the art, not behind it: what is covered has no light of its own to be seen by.
        for low, high in ((bar, edge), (h - edge, h - bar)):
            parts.append(face(w - 2 * bar, low, high, sunk, WHITE))
        for side in (-1, 1):
            at = side * (w / 2 - bar - mat / 2)
            parts.append(face(mat, edge, h - edge, sunk, WHITE, x=at))
    parts.append(box((-w / 2 + bar, bar, sunk), (w / 2 - bar, h - bar, back), WHITE, sides="k"))
    return parts


def _picture(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    bar = min(w, h) * 0.05 + 0.004
    mat = min(w, h) * 0.12 if roll(item, "mat", 5) < 2 else 0.0
    art = art_of(item, MOTIFS, w - 2 * (bar + mat), h - 2 * (bar + mat))
    return framed(w, h, d, bar, pick(item, _FRAMES, "frame"), art, mat)


def _painting(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    art = art_of(item, PAINTINGS, w, h)
    if roll(item, "frame", 3) == 0:
        # A bare canvas on its stretcher.
        cloth = Surface((0.90, 0.88, 0.82))
        body = box((-w / 2, 0, -d / 2), (w / 2, h, d / 2), cloth, sides="buklr")
        return [body, face(w, 0, h, -d / 2, art)]
    bar = min(w, h) * 0.08
    frame = pick(item, (BRASS, DARK_WOOD, WOOD, BLACK), "wood")
    return framed(w, h, d, bar, frame, art)


def _sheet(item: Item, art: Surface) -> list[Part]:
    w, h, d = size_of(item)
    body = box((-w / 2, 0, -d / 2), (w / 2, h, d / 2), WHITE, sides="buklr")
    return [body, face(w, 0, h, -d / 2, art)]


def _poster(item: Item) -> list[Part]:
    w, h, _ = size_of(item)
    return _sheet(item, art_of(item, POSTERS, w, h))


def _calendar(item: Item) -> list[Part]:
    return _sheet(item, print_of(item, "calendar", 0.75, "multicoloured"))


def _flag(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    n = 10
    x = np.linspace(w / 2, -w / 2, n)
    z = np.sin(np.linspace(0, 9, n)) * d * 0.45
    rows = [np.stack([x, np.full(n, y), z], axis=1) for y in (h, 0.0)]
    uv = [np.stack([np.linspace(0, 1, n), np.full(n, v)], axis=1) for v in (0.0, 1.0)]
    a = np.arange(n - 1)
    faces = np.concatenate(
        [np.stack([a, a + 1, a + n], axis=1), np.stack([a + 1, a + n + 1, a + n], axis=1)]
    )
    cloth = print_of(item, "flag", 1.6, "multicoloured")
    vertices, where = floats(np.concatenate(rows)), floats(np.concatenate(uv))
    return [Part(vertices, faces.astype(np.int32), cloth, where, smooth=True)]


def _photo_frame(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    metal = look(item, (0.1, 0.1, 0.1), (0.5, 0.35, 0.2), (0.75, 0.76, 0.78))
    tone = pick(item, ("multicoloured", "multicoloured", "black and white"), "tone")
    bar, mat = min(w, h) * 0.1, min(w, h) * 0.06 * roll(item, "mat", 2)
    art = art_of(item, PHOTOS, w - 2 * (bar + mat), h - 2 * (bar + mat), tone)
    thick = min(0.012, d * 0.3)
    panel = [part.tilted(0.15) for part in framed(w, h, thick, bar, metal, art, mat)]
    strut = box((-w * 0.06, 0, 0), (w * 0.06, h * 0.7, thick / 2), BLACK)
    return fitted([*panel, strut.tilted(-0.18).moved(0, 0, h * 0.24)], (w, h, d))


def _mirror(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    frame = look(item, (0.1, 0.1, 0.1), (0.5, 0.35, 0.2), (0.78, 0.6, 0.28))
    if item.material == "glass":
        frame = pick(item, (BLACK, WOOD, STEEL, WHITE), "frame")
    return framed(w, h, d, min(w, h) * 0.05, frame, _MIRROR)


def _hand_mirror(item: Item) -> list[Part]:
    frame = pick(item, (BRASS, BLACK, WHITE), "frame")
    oval = [(math.cos(a), 0.9 * math.sin(a)) for a in np.linspace(0, 2 * math.pi, 18)[:-1]]
    glass = prism([(x * 0.85, z * 0.85) for x, z in oval], 0.25, 0.3, _MIRROR, axis="y")
    handle = box((-0.14, 0, -2.2), (0.14, 0.22, -0.85), frame)
    return fitted([prism(oval, 0, 0.26, frame, axis="y"), glass, handle], size_of(item), long=True)


def disc_face(radius: float, z: float, y: float, surface: Surface, sides: int = 20) -> Part:
    """A round flat panel that looks along -z, its picture laid on whole."""
    around = np.linspace(0, 2 * math.pi, sides, endpoint=False)
    x, up = np.append(np.cos(around), 0), np.append(np.sin(around), 0)
    vertices = np.stack([x * radius, y + up * radius, np.full(sides + 1, z)], axis=1)
    step = np.arange(sides)
    faces = np.stack([step, (step + 1) % sides, np.full(sides, sides)], axis=1)
    uv = np.stack([0.5 - x / 2, 0.5 - up / 2], axis=1)
    return Part(floats(vertices), faces.astype(np.int32), surface, floats(uv))


def _round(item: Item, rim: Surface, dial: Surface, inset: float) -> list[Part]:
    body = cylinder(1, 0, 1, rim, sides=24).tilted(-math.pi / 2)
    dial_part = disc_face(1 - inset, -1.02, 0, dial, 24)
    return fitted([body, dial_part], size_of(item))


def _wall_clock(item: Item) -> list[Part]:
    rim = look(item, (0.1, 0.1, 0.1), (0.5, 0.35, 0.2), (0.9, 0.9, 0.88))
    return _round(item, rim, print_of(item, "dial"), 0.1)


def _dartboard(item: Item) -> list[Part]:
    return _round(item, BLACK, print_of(item, "dartboard"), 0.02)


def _clock(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    wood = look(item, (0.4, 0.24, 0.14), (0.12, 0.12, 0.13))
    dial = print_of(item, "dial")
    if roll(item, "kind", 2):
        arch = [(math.cos(a), 0.9 + 0.7 * math.sin(a)) for a in np.linspace(0, math.pi, 11)]
        body = prism([(1, 0), *arch, (-1, 0)], -0.4, 0.4, wood, axis="z")
        foot = box((-1.1, -0.08, -0.5), (1.1, 0.06, 0.5), shade(wood, 0.7))
        return fitted([body, foot, disc_face(0.68, -0.42, 0.86, dial)], (w, h, d))
    body = box((-1, 0.08, -0.4), (1, 2, 0.4), wood)
    foot = box((-1.1, 0, -0.5), (1.1, 0.12, 0.5), shade(wood, 0.7))
    roof = box((-1.1, 1.95, -0.5), (1.1, 2.05, 0.5), shade(wood, 0.7))
    return fitted([body, foot, roof, disc_face(0.75, -0.42, 1.05, dial)], (w, h, d))


def _alarm_clock(item: Item) -> list[Part]:
    size = size_of(item)
    case = look(item, (0.75, 0.15, 0.14), (0.1, 0.1, 0.1), (0.75, 0.76, 0.78))
    if roll(item, "kind", 3) == 0:
        digits = Surface((0.95, 0.25, 0.15), glow=1.2)
        slab = prism(round_corners(2, 1.2, 0.2), -0.5, 0.5, case, axis="z")
        window = face(1.7, -0.45, 0.45, -0.51, BLACK)
        parts = [slab, window]
        for k, x in enumerate((0.62, 0.3, -0.2, -0.52)):
            for y in (-0.3, 0.0, 0.26) if k % 2 else (0.26,):
                parts.append(face(0.2, y, y + 0.05, -0.53, digits, x=x))
            parts.append(face(0.05, -0.3, 0.3, -0.53, digits, x=x - 0.09))
        return fitted(parts, size)
    body = cylinder(1, -0.45, 0.45, case, sides=18).tilted(-math.pi / 2)
    dial = disc_face(0.86, -0.47, 0, print_of(item, "dial"))
    parts = [body, dial]
    for side in (-1, 1):
        parts.append(ball((side * 0.55, 1.0, 0), (0.36, 0.26, 0.3), STEEL, sides=8, rings=4))
        parts.append(tube([(side * 0.5, -0.8, 0), (side * 0.75, -1.15, 0)], 0.16, STEEL, sides=5))
    handle = tube([(-0.3, 1.15, 0), (0, 1.4, 0), (0.3, 1.15, 0)], 0.08, STEEL, sides=4)
    return fitted([*parts, handle], size)


def _wreath(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    green = look(item, (0.15, 0.34, 0.16))
    angles = np.linspace(0, 2 * math.pi, 19)
    path = [(math.cos(a), math.sin(a), 0.0) for a in angles]
    parts = [tube(path, 0.24, shade(green, 0.7), sides=6)]
    for k, a in enumerate(np.linspace(0, 2 * math.pi, 40, endpoint=False)):
        # Three rows of needles, which point out, ahead and in.
        out = (-0.22, 0.0, 0.22)[k % 3]
        x, y, turn = math.cos(a), math.sin(a), a + 0.5
        tip = (x * (1 + out) - 0.2 * math.sin(turn), y * (1 + out) + 0.2 * math.cos(turn))
        leaf = [(x, y, 0.02), (x * (1.1 + out), y * (1.1 + out), -0.16), (*tip, -0.1)]
        tone = (GREEN, green, shade(green, 1.3))[k % 3]
        parts.append(Part(floats(leaf), np.array([[0, 1, 2]], dtype=np.int32), tone))
    for k in range(7):
        a = k * 2 * math.pi / 7
        parts.append(ball((math.cos(a), math.sin(a), -0.15), 0.07, RED, sides=6, rings=4))
    return fitted(parts, (w, h, d))


BY_NAME: dict[str, Builder] = {
    "picture": _picture,
    "painting": _painting,
    "poster": _poster,
    "calendar": _calendar,
    "flag": _flag,
    "photo_frame": _photo_frame,
    "picture_frame": _photo_frame,
    "photo": _photo_frame,
    "mirror": _mirror,
    "hand_mirror": _hand_mirror,
    "wall_clock": _wall_clock,
    "clock/cylinder": _wall_clock,
    "clock": _clock,
    "alarm_clock": _alarm_clock,
    "dartboard": _dartboard,
    "wreath": _wreath,
}
BY_SHAPE: dict[str, Builder] = {"picture": _picture, "mirror": _mirror}
