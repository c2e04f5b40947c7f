"""Toys: cars, trains, blocks, bears, dolls, balls, boards on wheels."""

from __future__ import annotations

import math
from dataclasses import replace
from random import Random

import numpy as np

from navloom.scenes.scene import Item
from navloom_worlds.furniture.making import STEEL, Builder, shade, size_of
from navloom_worlds.furniture.shaping import (
    BLACK,
    BRIGHT,
    CREAM,
    GREY,
    RED,
    RUBBER,
    SKIN,
    WHITE,
    WOOD,
    YELLOW,
    face,
    fitted,
    look,
    pick,
    roll,
)
from navloom_worlds.furniture.turnery import ball, prism, ring, tube
from navloom_worlds.geometry.solids import Part, Surface, beam, box, cylinder, floats, lathe, quad

_GLASS = Surface((0.55, 0.70, 0.80), gloss=0.7)
_FUR = ((0.62, 0.42, 0.24), (0.85, 0.72, 0.52), (0.5, 0.35, 0.25), (0.75, 0.75, 0.78))


def _wheel(x: float, y: float, z: float, radius: float, wide: float) -> list[Part]:
    tyre = cylinder(radius, -wide / 2, wide / 2, RUBBER, sides=9).tilted(math.pi / 2, "z")
    side = wide * 0.55 * (1 if x < 0 else -1)
    hub = lathe([(radius * 0.5, side), (0, side)], GREY, sides=7).tilted(math.pi / 2, "z")
    return [part.moved(x, y, z) for part in (tyre, hub)]


def _car(item: Item) -> list[Part]:
    own = look(item, *BRIGHT, plain=True, gloss=0.4)
    # Its nose along -z.
    # Body and cabin are one outline: what lies under another part would be dark.
    nose, tail = [(-0.45, 0.62), (-0.95, 0.6), (-1, 0.5)], [(1, 0.42), (1, 0.55), (0.75, 0.6)]
    side = [(-1, 0.42), *tail, (0.45, 1.0), (-0.15, 1.0), *nose]
    body = prism(side, -0.5, 0.5, own, axis="x")
    windows = [
        prism(outline, -0.505, 0.505, _GLASS, axis="x")
        for outline in (
            [(-0.36, 0.64), (-0.12, 0.94), (0.1, 0.94), (0.1, 0.64)],
            [(0.18, 0.64), (0.18, 0.94), (0.42, 0.94), (0.64, 0.64)],
        )
    ]
    screens = [
        quad([(s * 0.4, y0, z0), (s * -0.4, y0, z0), (s * -0.4, y1, z1), (s * 0.4, y1, z1)], _GLASS)
        for s, y0, z0, y1, z1 in ((-1, 0.66, -0.43, 0.97, -0.19), (1, 0.64, 0.73, 0.96, 0.5))
    ]
    under = box((-0.4, 0.2, -0.98), (0.4, 0.43, 0.98), shade(own, 0.7))
    lamps = [ball((x, 0.45, -1), (0.1, 0.08, 0.04), YELLOW, sides=6, rings=4) for x in (-0.3, 0.3)]
    wheels = [p for x in (-0.48, 0.48) for z in (-0.6, 0.6) for p in _wheel(x, 0.22, z, 0.22, 0.14)]
    return fitted([body, under, *windows, *screens, *lamps, *wheels], size_of(item), long=True)


def _train(item: Item) -> list[Part]:
    parts: list[Part] = []
    for k in range(3):
        z, tone = k * 1.5, Surface(BRIGHT[(roll(item, "t", 6) + k) % 6])
        parts.append(box((-0.4, 0.2, z - 0.65), (0.4, 0.32, z + 0.6), BLACK))
        if k == 0:
            boiler = cylinder(0.33, -0.6, 0.3, tone, sides=12).tilted(math.pi / 2)
            parts += [
                boiler.moved(0, 0.62, z),
                box((-0.4, 0.3, z + 0.1), (0.4, 1.1, z + 0.6), tone),
            ]
            parts.append(
                lathe([(0.09, 0.9), (0.16, 1.25), (0, 1.25)], BLACK, sides=8).moved(0, 0, z - 0.4)
            )
            parts.append(box((-0.46, 1.08, z + 0.05), (0.46, 1.16, z + 0.65), RED))
        else:
            parts.append(box((-0.4, 0.32, z - 0.6), (0.4, 0.75, z + 0.55), tone))
            parts.append(box((-0.34, 0.7, z - 0.54), (0.34, 0.9, z + 0.49), WOOD))
        for wheel_z in (z - 0.4, z + 0.35):
            for x in (-0.42, 0.42):
                wheel = lathe([(0, -0.05), (0.2, -0.05), (0.2, 0.05), (0, 0.05)], RUBBER, sides=7)
                wheel = wheel.tilted(math.pi / 2, "z")
                parts.append(wheel.moved(x, 0.2, wheel_z))
    return fitted(parts, size_of(item), long=True)


def _blocks(item: Item) -> list[Part]:
    dice = Random(roll(item, "blocks"))
    start = roll(item, "tone", 6)
    parts = []
    spots = ((-0.6, 0, -0.3), (0.5, 0, -0.4), (0.0, 0, 0.5), (-0.1, 1, 0.0), (0.1, 2, 0.1))
    for k, (x, level, z) in enumerate(spots):
        tone = Surface(BRIGHT[(start + k) % 6])
        cube = box((-0.45, 0, -0.45), (0.45, 0.9, 0.45), tone)
        mark = face(0.5, 0.2, 0.7, -0.46, CREAM)
        turn = dice.uniform(-0.5, 0.5)
        parts += [part.turned(turn).moved(x, level * 0.9, z) for part in (cube, mark)]
    own = look(item, *BRIGHT, plain=True)
    parts.append(prism([(-0.45, 2.7), (0.45, 2.7), (0, 3.3)], -0.3, 0.5, own, axis="z"))
    return fitted(parts, size_of(item))


def _stack_rings(item: Item) -> list[Part]:
    start = roll(item, "tone", 6)
    parts: list[Part] = [cylinder(1, 0, 0.15, WOOD, sides=16)]
    for k in range(5):
        tone = Surface(BRIGHT[(start + k) % 6], gloss=0.2)
        parts.append(
            ring((0, 0.33 + 0.32 * k, 0), 0.72 - 0.11 * k, 0.36, tone, around=14, axis="y")
        )
    parts.append(ball((0, 2.0, 0), 0.2, look(item, *BRIGHT, plain=True), sides=8, rings=5))
    return fitted([*parts, cylinder(0.12, 0.1, 1.9, WOOD, sides=6)], size_of(item))


def _robot(item: Item) -> list[Part]:
    own = look(item, (0.6, 0.62, 0.66), *BRIGHT[:3], plain=True, gloss=0.3)
    accent = Surface(pick(item, BRIGHT, "accent"))
    parts = [
        box((-0.5, 0.6, -0.3), (0.5, 1.4, 0.3), own),
        box((-0.35, 1.48, -0.28), (0.35, 2.0, 0.28), shade(own, 1.2)),
        cylinder(0.1, 1.38, 1.5, GREY, sides=8),
        beam((0, 2.0, 0), (0, 2.25, 0), 0.05, GREY),
        ball((0, 2.3, 0), 0.09, RED, sides=6, rings=4),
        face(0.6, 0.8, 1.15, -0.31, accent),
        face(0.4, 1.55, 1.62, -0.29, BLACK),
    ]
    for s in (-1, 1):
        parts.append(ball((s * 0.16, 1.8, -0.28), 0.09, YELLOW, sides=7, rings=4))
        parts.append(
            tube([(s * 0.55, 1.3, 0), (s * 0.72, 0.9, 0), (s * 0.7, 0.6, -0.2)], 0.18, GREY)
        )
        parts.append(box((s * 0.28 - 0.15, 0.15, -0.15), (s * 0.28 + 0.15, 0.6, 0.15), GREY))
        parts.append(box((s * 0.28 - 0.2, 0, -0.35), (s * 0.28 + 0.2, 0.17, 0.25), accent))
    return fitted(parts, size_of(item))


def _toy(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    kinds: list[Builder] = [_blocks, _stack_rings, _robot]
    if h < 0.85 * max(w, d):
        kinds = [_car, _blocks, _train]
    return pick(item, kinds, "kind")(item)


def _bear(item: Item) -> list[Part]:
    own = look(item, *_FUR)
    pale = shade(own, 1.35)
    kind = roll(item, "kind", 3)
    parts = [
        ball((0, 0.6, 0.1), (0.55, 0.6, 0.5), own, sides=9, rings=6),
        ball((0, 0.55, -0.18), (0.36, 0.42, 0.26), pale, sides=8, rings=4),
        ball((0, 1.45, 0), (0.48, 0.44, 0.44), own, sides=9, rings=6),
        ball((0, 1.34, -0.38), (0.2, 0.16, 0.18), pale, sides=6, rings=3),
        ball((0, 1.42, -0.54), (0.08, 0.06, 0.05), BLACK, sides=6, rings=4),
    ]
    for s in (-1, 1):
        parts.append(ball((s * 0.18, 1.55, -0.39), (0.06, 0.07, 0.05), BLACK, sides=5, rings=3))
        if kind == 1:
            # A rabbit's ears are long.
            parts.append(ball((s * 0.2, 2.15, 0.05), (0.13, 0.42, 0.09), own, sides=6, rings=4))
            parts.append(ball((s * 0.2, 2.12, -0.02), (0.07, 0.3, 0.06), pale, sides=6, rings=3))
        else:
            parts.append(ball((s * 0.36, 1.82, 0), (0.17, 0.17, 0.1), own, sides=7, rings=4))
        parts.append(ball((s * 0.55, 0.85, -0.15), (0.18, 0.36, 0.2), own, sides=6, rings=4))
        parts.append(ball((s * 0.36, 0.22, -0.45), (0.22, 0.22, 0.4), own, sides=6, rings=4))
        parts.append(ball((s * 0.36, 0.24, -0.82), (0.16, 0.17, 0.06), pale, sides=6, rings=3))
    if kind == 2:
        bow = Surface(pick(item, BRIGHT, "bow"))
        for s in (-1, 1):
            parts.append(ball((s * 0.16, 1.06, -0.42), (0.15, 0.1, 0.08), bow, sides=6, rings=4))
    return fitted(parts, size_of(item))


def _doll(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    dress = look(item, *BRIGHT, plain=True)
    hair = Surface(pick(item, ((0.25, 0.15, 0.1), (0.85, 0.7, 0.35), (0.55, 0.25, 0.12)), "hair"))
    parts = [
        lathe([(0.5, 0.55), (0.42, 0.8), (0.22, 1.25), (0.24, 1.5), (0.1, 1.58)], dress, sides=12),
        lathe([(0.51, 0.5), (0.51, 0.58)], WHITE, sides=12),
        ball((0, 1.85, 0), (0.3, 0.32, 0.28), SKIN, sides=10, rings=7),
        ball((0, 1.92, 0.06), (0.34, 0.34, 0.3), hair, sides=10, rings=6),
        face(0.1, 1.73, 1.75, -0.285, RED),
    ]
    for s in (-1, 1):
        parts.append(ball((s * 0.1, 1.86, -0.27), (0.035, 0.045, 0.03), BLACK, sides=5, rings=3))
        parts.append(
            tube([(s * 0.22, 1.45, 0), (s * 0.45, 1.15, -0.05), (s * 0.5, 0.9, -0.1)], 0.13, SKIN)
        )
        parts.append(tube([(s * 0.15, 0.6, 0), (s * 0.16, 0.1, 0)], 0.16, SKIN))
        parts.append(ball((s * 0.16, 0.07, -0.06), (0.1, 0.08, 0.16), BLACK, sides=7, rings=4))
        parts.append(ball((s * 0.33, 1.7, 0.1), (0.09, 0.25, 0.09), hair, sides=6, rings=4))
    if h < max(w, d):
        # It lies on its back, its head away from whoever stands before it.
        parts = [part.tilted(math.pi / 2) for part in parts]
        return fitted(parts, (w, h, d), long=True)
    return fitted(parts, (w, h, d))


def _ball(item: Item) -> list[Part]:
    own = look(item, *BRIGHT, plain=True, gloss=0.2)
    other = pick(item, (WHITE, YELLOW, Surface((0.15, 0.2, 0.3))), "other")
    other = WHITE if other.rgb == own.rgb else other
    sides, rings = 16, 10
    whole = ball((0, 1, 0), 1, own, sides=sides, rings=rings).tilted(0.5)
    middles = whole.vertices[whole.faces].mean(axis=1) - floats([0, whole.vertices[:, 1].mean(), 0])
    back = replace(whole, vertices=middles).tilted(-0.5).vertices
    if roll(item, "kind", 2):
        # Gores as of a beach ball.
        turn = np.arctan2(back[:, 2], back[:, 0]) / (2 * math.pi) * 8
        mine = np.floor(turn) % 2 == 0
    else:
        mine = np.abs(back[:, 1] - back[:, 1].mean()) > 0.3
    parts = [replace(whole, faces=whole.faces[mine])]
    parts.append(replace(whole, faces=whole.faces[~mine], surface=other))
    return fitted(parts, size_of(item))


def _exercise_ball(item: Item) -> list[Part]:
    own = look(item, *BRIGHT, (0.5, 0.52, 0.55), plain=True, gloss=0.3)
    small = [
        ring((0, y, 0), math.sqrt(1 - y * y) + 0.005, 0.025, shade(own, 0.8), around=12, axis="y")
        for y in (-0.45, 0.0, 0.45)
    ]
    parts = [ball((0, 0, 0), 1, own, sides=16, rings=10), *small]
    return fitted(parts, size_of(item))


def _skateboard(item: Item) -> list[Part]:
    own = look(item, WOOD.rgb, *BRIGHT[:2])
    deck = [(z, 0.5 + 0.22 * max(0.0, abs(z) - 1.4) ** 1.5) for z in np.linspace(-2, 2, 11)]
    rows, parts = [], []
    for z, y in deck:
        half = 0.5 * min(1.0, math.sqrt(max(0.02, 1 - max(0, abs(z) - 1.55) / 0.46)))
        rows.append([(-half, y, z), (half, y, z)])
    points = np.array(rows, dtype=np.float32).reshape(-1, 3)
    a = np.arange(len(deck) - 1) * 2
    faces = np.concatenate([np.stack([a, a + 1, a + 3], 1), np.stack([a, a + 3, a + 2], 1)])
    grip = Surface((0.12, 0.12, 0.13))
    parts.append(Part(points, faces.astype(np.int32), grip, smooth=True))
    parts.append(Part(points - floats([0, 0.06, 0]), faces.astype(np.int32), own, smooth=True))
    wheel = Surface(pick(item, BRIGHT, "wheel"))
    for z in (-1.2, 1.2):
        parts.append(box((-0.35, 0.2, z - 0.1), (0.35, 0.42, z + 0.1), STEEL))
        for x in (-0.42, 0.42):
            one = cylinder(0.2, -0.1, 0.1, wheel, sides=10).tilted(math.pi / 2, "z")
            parts.append(one.moved(x, 0.2, z))
    return fitted(parts, size_of(item), long=True)


def _sled(item: Item) -> list[Part]:
    own = look(item, WOOD.rgb)
    parts = []
    for x in (-0.8, 0.8):
        runner = [(x, 0.05, 1.8), (x, 0.05, -1.3), (x, 0.35, -1.8), (x, 0.75, -1.7)]
        parts.append(tube(runner, 0.12, STEEL if roll(item, "s", 2) else RED, sides=5))
        for z in (-0.8, 0.3, 1.3):
            parts.append(beam((x, 0.05, z), (x * 0.9, 0.6, z), 0.1, own))
    for x in np.linspace(-0.75, 0.75, 5):
        parts.append(box((x - 0.15, 0.6, -1.3), (x + 0.15, 0.68, 1.8), own))
    rope = tube([(-0.75, 0.7, -1.7), (0, 0.55, -2.0), (0.75, 0.7, -1.7)], 0.05, CREAM, sides=4)
    return fitted([*parts, rope], size_of(item), long=True)


BY_NAME: dict[str, Builder] = {
    "toy": _toy,
    "toy_car": _car,
    "toy_train": _train,
    "blocks": _blocks,
    "stuffed_animal": _bear,
    "plush_toy": _bear,
    "teddy_bear": _bear,
    "doll": _doll,
    "ball": _ball,
    "exercise_ball": _exercise_ball,
    "skateboard": _skateboard,
    "sled": _sled,
}
BY_SHAPE: dict[str, Builder] = {"toy": _toy, "ball": _ball}
