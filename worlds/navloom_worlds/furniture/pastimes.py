"""Games, instruments and sports things."""

from __future__ import annotations

import math

import numpy as np

from navloom.scenes.scene import Item
from navloom_worlds.furniture.making import STEEL, Builder, shade, size_of
from navloom_worlds.furniture.shaping import (
    BLACK,
    BRIGHT,
    CREAM,
    DARK_WOOD,
    RED,
    WHITE,
    WOOD,
    face,
    fitted,
    look,
    pick,
    top_face,
)
from navloom_worlds.furniture.turnery import ball, prism, ring, tube
from navloom_worlds.furniture.wall_hangings import print_of
from navloom_worlds.geometry.solids import Part, Surface, beam, box, cylinder, lathe

_TURN = np.linspace(0, 2 * math.pi, 17)[:-1]


def _game_box(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, *BRIGHT, plain=True)
    own = Surface(pick(item, BRIGHT, "tone")) if own.rgb[0] > 0.9 and own.rgb[2] > 0.85 else own
    parts = [box((-w / 2, 0, -d / 2), (w / 2, h * 0.55, d / 2), shade(own, 0.75))]
    lid = box((-w / 2, h * 0.3, -d / 2), (w / 2, h * 0.995, d / 2), own)
    parts = [fitted(parts, (w * 0.985, h * 0.4, d * 0.985))[0], lid]
    art = print_of(item, "cover", 1.33, item.colour or "")
    parts.append(top_face(w * 0.96, d * 0.96, h, art))
    parts.append(face(w * 0.5, h * 0.45, h * 0.85, -d / 2 - 4e-4, CREAM))
    return fitted(parts, (w, h, d))


def _puzzle(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    parts = _game_box(item)
    # Pieces: a grid of seams over the picture.
    line = Surface((0.95, 0.95, 0.92))
    for k in range(1, 5):
        parts.append(top_face(w * 0.008, d * 0.9, h - 1e-4, line, x=w * (k / 5 - 0.5)))
    for k in range(1, 4):
        parts.append(top_face(w * 0.9, d * 0.01, h - 1e-4, line, z=d * (k / 4 - 0.5)))
    return fitted(parts, (w, h, d))


def _chess(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, (0.4, 0.24, 0.14))
    board = h * 0.25
    parts = [box((-w / 2, 0, -d / 2), (w / 2, board, d / 2), own)]
    cell = min(w, d) * 0.88 / 8
    parts.append(top_face(cell * 8, cell * 8, board + 3e-4, CREAM))
    dark = Surface((0.28, 0.17, 0.1))
    for k in range(64):
        row, column = divmod(k, 8)
        if (row + column) % 2:
            x, z = (column - 3.5) * cell, (row - 3.5) * cell
            parts.append(top_face(cell, cell, board + 6e-4, dark, x=x, z=z))
    for row, tone in ((0, WHITE), (1, WHITE), (6, BLACK), (7, BLACK)):
        for column in range(0, 8, 1 if row in (0, 7) else 2):
            tall = (h - board) * (1.0 if column in (3, 4) and row in (0, 7) else 0.62)
            piece = lathe([(0.36, 0), (0.14, 0.6), (0.24, 0.8), (0, 1)], tone, sides=4)
            x, z = (column - 3.5) * cell, (row - 3.5) * cell
            parts.append(piece.scaled(cell, tall, cell).moved(x, board, z))
    return fitted(parts, (w, h, d))


def _crayons(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    tones = [Surface(rgb) for rgb in (*BRIGHT, (0.1, 0.1, 0.1), (0.95, 0.6, 0.7))]
    count = len(tones)
    parts = [box((-1, 0, -0.1), (1, 0.5, 1), Surface((0.95, 0.75, 0.15)))]
    for k, tone in enumerate(tones):
        x = (k + 0.5) / count * 1.9 - 0.95
        stick = lathe([(0, 0), (0.03, 0), (0.11, 0.12), (0.11, 0.9), (0, 0.9)], tone, sides=6)
        parts.append(
            stick.tilted(-math.pi / 2).scaled(1, 1, 1 + 0.1 * (k % 2)).moved(x, 0.34, -0.05)
        )
    parts.append(face(1.2, 0.1, 0.4, -0.11, RED))
    return fitted(parts, (w, h, d))


def _guitar(item: Item) -> list[Part]:
    own = look(item, (0.78, 0.52, 0.26), (0.5, 0.25, 0.12))
    upper = [(0.62, 0.9), (0.55, 1.15), (0.25, 1.28)]
    half = [(0.0, 0.0), (0.55, 0.05), (0.92, 0.3), (0.85, 0.6), (0.58, 0.78), *upper]
    outline = [*half, *[(-x, y) for x, y in reversed(half[1:])]]
    side = shade(own, 0.6)
    parts = [prism(outline, -0.32, 0.32, side, axis="z")]
    parts.append(
        prism([(x * 0.99, y * 0.985 + 0.01) for x, y in outline], -0.335, -0.32, own, axis="z")
    )
    hole = [(0.22 * math.cos(a), 0.78 + 0.2 * math.sin(a)) for a in _TURN]
    parts.append(prism(hole, -0.345, -0.335, BLACK, axis="z"))
    parts.append(box((-0.28, 0.34, -0.38), (0.28, 0.4, -0.33), DARK_WOOD))
    parts.append(box((-0.1, 0.95, -0.42), (0.1, 2.35, -0.3), DARK_WOOD))
    parts.append(
        prism([(-0.1, 2.33), (0.1, 2.33), (0.16, 2.7), (-0.16, 2.7)], -0.4, -0.28, own, axis="z")
    )
    for k in range(3):
        for s in (-1, 1):
            parts.append(
                box(
                    (s * 0.2 - 0.05, 2.42 + 0.09 * k, -0.37),
                    (s * 0.2 + 0.05, 2.46 + 0.09 * k, -0.31),
                    STEEL,
                )
            )
    for x in (-0.06, -0.02, 0.02, 0.06):
        parts.append(box((x - 0.005, 0.38, -0.44), (x + 0.005, 2.5, -0.425), STEEL))
    # It leans back a little.
    return fitted([part.tilted(0.08) for part in parts], size_of(item))


def _violin(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, (0.6, 0.28, 0.12), gloss=0.4)
    half = [
        (0.0, 1.3),
        (0.42, 1.22),
        (0.5, 0.85),
        (0.3, 0.62),
        (0.3, 0.45),
        (0.42, 0.3),
        (0.36, 0.0),
        (0.0, -0.08),
    ]
    outline = [*half, *[(-x, z) for x, z in reversed(half[1:-1])]]
    parts = [
        prism(outline, 0.0, 0.3, shade(own, 0.7), axis="y"),
        prism(outline, 0.3, 0.33, own, axis="y"),
    ]
    parts.append(box((-0.06, 0.3, -0.95), (0.06, 0.42, 0.35), BLACK))
    parts.append(ball((0, 0.35, -1.0), (0.09, 0.1, 0.14), own, sides=7, rings=5))
    parts.append(box((-0.15, 0.33, 0.6), (0.15, 0.5, 0.63), WOOD))
    parts.append(
        prism([(-0.09, 0.75), (0.09, 0.75), (0.06, 1.2), (-0.06, 1.2)], 0.4, 0.46, BLACK, axis="y")
    )
    parts.append(beam((0.55, 0.1, -1.0), (0.6, 0.1, 1.3), 0.05, WOOD))
    return fitted(parts, (w, h, d), long=True)


def _racket(item: Item) -> list[Part]:
    own = look(item, *BRIGHT[:2], (0.12, 0.12, 0.13), plain=True)
    # It lies flat, its handle to the front.
    hoop = [
        (0.48 * math.cos(a), 0.1, 0.62 * math.sin(a) + 0.6) for a in np.linspace(0, 2 * math.pi, 21)
    ]
    parts = [tube(hoop, 0.1, own, sides=5)]
    for k in range(-3, 4):
        x = k * 0.12
        reach = 0.6 * math.sqrt(1 - (x / 0.48) ** 2)
        parts.append(beam((x, 0.1, 0.6 - reach), (x, 0.1, 0.6 + reach), 0.015, WHITE))
    for k in range(-4, 5):
        z = k * 0.125
        reach = 0.47 * math.sqrt(1 - (z / 0.61) ** 2)
        parts.append(beam((-reach, 0.1, 0.6 + z), (reach, 0.1, 0.6 + z), 0.015, WHITE))
    for s in (-1, 1):
        parts.append(beam((s * 0.3, 0.1, 0.1), (0, 0.1, -0.3), 0.08, own))
    grip = tube([(0, 0.1, -0.25), (0, 0.1, -0.9), (0, 0.1, -0.95)], [0.15, 0.15, 0.19], BLACK)
    return fitted([*parts, grip], size_of(item), long=True)


def _helmet(item: Item) -> list[Part]:
    own = look(item, *BRIGHT, plain=True, gloss=0.4)
    shell = lathe([(1, 0), (1.02, 0.2), (0.9, 0.6), (0.6, 0.9), (0, 1)], own, sides=16)
    shell = shell.scaled(0.78, 1, 1)
    rim = ring((0, 0.05, 0), 1.0, 0.12, BLACK, around=16, axis="y").scaled(0.78, 1, 1)
    vents = []
    for x in (-0.35, 0.0, 0.35):
        for z, y in ((-0.55, 0.78), (0.0, 0.98), (0.55, 0.78)):
            drop = y - 0.12 * abs(x) / 0.35
            vents.append(ball((x * 0.85, drop, z), (0.09, 0.06, 0.2), BLACK, sides=5, rings=4))
    strap = tube(
        [(-0.7, 0.1, -0.1), (-0.3, -0.25, -0.2), (0.3, -0.25, -0.2), (0.7, 0.1, -0.1)],
        0.08,
        BLACK,
        sides=4,
    )
    return fitted([shell, rim, *vents, strap], size_of(item))


def _dumbbell(item: Item) -> list[Part]:
    own = look(item, (0.2, 0.2, 0.22), (0.6, 0.62, 0.65), gloss=0.4)
    bar = cylinder(0.25, -1, 1, STEEL, sides=8)
    parts = [bar]
    for s in (-1, 1):
        for k, radius in enumerate((1.0, 0.8)):
            at = s * (1.1 + 0.42 * k)
            parts.append(
                cylinder(radius, at - 0.2, at + 0.2, own if k == 0 else shade(own, 0.7), sides=12)
            )
    return fitted([part.tilted(math.pi / 2) for part in parts], size_of(item), long=True)


BY_NAME: dict[str, Builder] = {
    "board_game": _game_box,
    "puzzle": _puzzle,
    "chess_set": _chess,
    "crayon": _crayons,
    "guitar": _guitar,
    "violin": _violin,
    "tennis_racket": _racket,
    "bicycle_helmet": _helmet,
    "helmet": _helmet,
    "dumbbell": _dumbbell,
}
BY_SHAPE: dict[str, Builder] = {"instrument": _guitar}
