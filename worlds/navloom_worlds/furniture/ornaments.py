"""What only stands there to be looked at: figures, statues, sculptures, globes, trophies, logs."""

from __future__ import annotations

import math

import numpy as np

from navloom.scenes.scene import Item
from navloom_worlds.furniture.making import Builder, shade, size_of
from navloom_worlds.furniture.shaping import (
    BLACK,
    BRASS,
    BRIGHT,
    DARK_WOOD,
    GREY,
    fitted,
    globe,
    look,
    pick,
    roll,
)
from navloom_worlds.furniture.turnery import ball, prism, ring, tube
from navloom_worlds.furniture.wall_hangings import print_of
from navloom_worlds.geometry.solids import Part, Surface, beam, box, cylinder, lathe

_FIRED = ((0.92, 0.9, 0.86), (0.35, 0.45, 0.52), (0.62, 0.36, 0.24), (0.2, 0.2, 0.22))


def _person(item: Item) -> list[Part]:
    own = look(item, *_FIRED, gloss=0.35)
    parts = [
        lathe([(0, 0), (0.5, 0), (0.5, 0.1), (0, 0.1)], shade(own, 0.6), sides=12),
        lathe(
            [(0.38, 0.1), (0.3, 0.6), (0.2, 1.0), (0.26, 1.35), (0.1, 1.5), (0, 1.52)],
            own,
            sides=12,
        ),
        ball((0, 1.7, 0), (0.17, 0.2, 0.17), own, sides=9, rings=6),
    ]
    for s in (-1, 1):
        lift = 0.35 if s > 0 and roll(item, "arm", 2) else -0.45
        elbow = (s * 0.4, 1.15 + lift * 0.3, -0.1)
        arm = [(s * 0.24, 1.35, 0), elbow, (s * 0.3, 1.2 + lift, -0.22)]
        parts.append(tube(arm, [0.13, 0.12, 0.09], own))
    return fitted(parts, size_of(item))


def _animal(item: Item) -> list[Part]:
    own = look(item, *_FIRED, gloss=0.4)
    kind = roll(item, "animal", 3)
    base = box((-0.55, 0, -0.9), (0.55, 0.1, 0.9), shade(own, 0.6))
    if kind == 0:
        # A bird.
        parts = [ball((0, 0.75, 0.1), (0.35, 0.4, 0.6), own, sides=10, rings=7)]
        parts.append(ball((0, 1.25, -0.4), (0.24, 0.26, 0.26), own, sides=9, rings=6))
        parts.append(
            lathe([(0.09, 0), (0, 0.3)], BRASS, sides=5).tilted(-math.pi / 2).moved(0, 1.22, -0.62)
        )
        parts.append(ball((0, 0.8, 0.85), (0.16, 0.08, 0.4), shade(own, 0.8), sides=6, rings=4))
        legs = [beam((x, 0.1, 0), (x, 0.5, 0), 0.07, BRASS) for x in (-0.13, 0.13)]
        return fitted([base, *parts, *legs], size_of(item))
    neck = 1.15 if kind == 1 else 0.85
    parts = [ball((0, 0.85, 0.05), (0.28, 0.3, 0.7), own, sides=10, rings=7)]
    for x in (-0.17, 0.17):
        for z in (-0.45, 0.5):
            parts.append(tube([(x, 0.8, z), (x, 0.1, z)], [0.2, 0.12], own))
    parts.append(tube([(0, 0.95, -0.5), (0, neck + 0.2, -0.75)], [0.34, 0.24], own))
    parts.append(ball((0, neck + 0.25, -0.88), (0.16, 0.18, 0.32), own, sides=8, rings=6))
    tail = [(0, 0.95, 0.7), (0, 0.9, 0.95), (0, 0.5, 1.0)]
    parts.append(tube(tail, 0.12, shade(own, 0.8)))
    for x in (-0.1, 0.1):
        parts.append(ball((x, neck + 0.45, -0.78), (0.06, 0.14, 0.05), own, sides=5, rings=4))
    return fitted([base, *parts], size_of(item))


def _abstract(item: Item) -> list[Part]:
    own = look(item, *_FIRED, (0.75, 0.6, 0.3), gloss=0.4)
    kind = roll(item, "form", 4)
    base = box((-0.5, 0, -0.4), (0.5, 0.18, 0.4), BLACK if sum(own.rgb) > 0.7 else GREY)
    parts: list[Part]
    if kind == 0:
        # A twisted ribbon.
        t = np.linspace(0, 1, 15)
        path = [(0.45 * math.sin(6 * a), 0.2 + 1.6 * a, 0.35 * math.cos(6 * a)) for a in t]
        parts = [tube(path, [0.1 + 0.22 * math.sin(math.pi * a) for a in t], own, sides=8)]
    elif kind == 1:
        angles = np.linspace(0, 2 * math.pi, 19)
        hoop = [(0.6 * math.cos(a), 0.9 + 0.7 * math.sin(a), 0.0) for a in angles]
        parts = [
            tube(hoop, 0.26, own, sides=8),
            ball((0.1, 0.5, 0), 0.24, shade(own, 0.7), sides=10),
        ]
    elif kind == 2:
        parts = [ball((0, 0.5, 0), (0.5, 0.34, 0.4), own, sides=12, rings=8)]
        parts.append(ball((0.08, 1.0, 0), (0.36, 0.26, 0.3), shade(own, 1.2), sides=12, rings=8))
        parts.append(ball((-0.02, 1.4, 0), (0.24, 0.2, 0.22), own, sides=10, rings=7))
    else:
        parts = [box((-0.3, 0.18, -0.25), (0.3, 0.8, 0.25), own).turned(0.3)]
        parts.append(box((-0.24, 0.8, -0.22), (0.24, 1.35, 0.22), shade(own, 0.8)).turned(0.9))
        parts.append(box((-0.16, 1.35, -0.16), (0.16, 1.8, 0.16), own).turned(1.5))
    return fitted([base, *parts], size_of(item))


def _sphere(item: Item) -> list[Part]:
    own = look(item, *_FIRED, *BRIGHT[:3], gloss=0.6)
    stand = lathe([(0, 0), (0.5, 0), (0.45, 0.08), (0.2, 0.16), (0.3, 0.25)], DARK_WOOD, sides=12)
    orb = ball((0, 0.85, 0), 0.66, own, sides=14, rings=10)
    swirl = ring((0, 0.85, 0), 0.665, 0.05, shade(own, 0.7), around=14, axis="y")
    return fitted([stand, orb, swirl], size_of(item))


def _shell_dish(item: Item) -> list[Part]:
    own = look(item, *_FIRED, *BRIGHT[:3], gloss=0.6)
    foot = lathe([(0, 0), (0.3, 0), (0.12, 0.2), (0.14, 0.4)], own, sides=12)
    rim = []
    for k, a in enumerate(np.linspace(0, 2 * math.pi, 15)[:-1]):
        r = 1.0 if k % 2 else 0.86
        rim.append((r * math.cos(a), r * math.sin(a)))
    points = [(0.12 * x, 0.4, 0.12 * z) for x, z in rim] + [(x, 0.75, z) for x, z in rim]
    n = len(rim)
    here = np.arange(n)
    after = (here + 1) % n
    faces = np.concatenate(
        [np.stack([here, after, after + n], 1), np.stack([here, after + n, here + n], 1)]
    )
    dish = Part(np.array(points, dtype=np.float32), faces.astype(np.int32), own, smooth=True)
    return fitted([foot, dish], size_of(item))


def _ornament(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    kinds: list[Builder] = [_animal, _abstract, _sphere, _person]
    if h < 0.8 * max(w, d):
        kinds = [_animal, _shell_dish, _abstract]
    elif h > 1.6 * max(w, d):
        kinds = [_person, _abstract]
    return pick(item, kinds, "kind")(item)


def _figurine(item: Item) -> list[Part]:
    return pick(item, (_person, _animal, _person), "kind")(item)


def _statue(item: Item) -> list[Part]:
    own = look(item, (0.7, 0.69, 0.66), (0.92, 0.9, 0.86))
    if roll(item, "bust", 2):
        return _person(item)
    # A bust on a plinth.
    plinth = [
        box((-0.5, 0, -0.5), (0.5, 0.12, 0.5), shade(own, 0.8)),
        box((-0.35, 0.12, -0.35), (0.35, 0.6, 0.35), own),
        box((-0.42, 0.6, -0.42), (0.42, 0.68, 0.42), shade(own, 0.85)),
    ]
    chest = lathe(
        [(0.18, 0.68), (0.3, 0.8), (0.62, 1.05), (0.55, 1.25), (0.2, 1.38), (0.17, 1.5)], own
    )
    head = ball((0, 1.75, -0.02), (0.24, 0.32, 0.28), own, sides=12, rings=9)
    hair = ball((0, 1.86, 0.06), (0.27, 0.26, 0.28), shade(own, 0.85), sides=10, rings=7)
    nose = box((-0.04, 1.68, -0.36), (0.04, 1.8, -0.24), own)
    return fitted([*plinth, chest.scaled(1, 1, 0.6), head, hair, nose], size_of(item))


def _globe(item: Item) -> list[Part]:
    wood = look(item, DARK_WOOD.rgb)
    foot = lathe([(0, 0), (0.6, 0), (0.55, 0.08), (0.12, 0.14), (0.1, 0.3)], wood, sides=14)
    world = print_of(item, "world", 1.6, "multicoloured")
    sea = globe((0, 1.25, 0), 0.85, Surface((1, 1, 1), world.texture, gloss=0.3), sides=18)
    angles = np.linspace(-math.pi / 2 - 0.3, math.pi / 2 - 0.3, 11)
    meridian = [(0.95 * math.cos(a), 1.25 + 0.95 * math.sin(a), 0.0) for a in angles]
    return fitted([foot, sea, tube(meridian, 0.06, BRASS, sides=5)], size_of(item))


def _trophy(item: Item) -> list[Part]:
    own = look(item, (0.85, 0.68, 0.25), (0.78, 0.79, 0.81), gloss=0.7)
    base = [box((-0.45, 0, -0.45), (0.45, 0.28, 0.45), BLACK)]
    base.append(box((-0.3, 0.1, -0.46), (0.3, 0.2, -0.45), BRASS))
    cup = [
        (0.3, 0.28),
        (0.1, 0.42),
        (0.1, 0.6),
        (0.35, 0.75),
        (0.55, 1.1),
        (0.6, 1.5),
        (0.54, 1.5),
        (0.3, 0.85),
        (0, 0.8),
    ]
    parts = [lathe(cup, own, sides=16)]
    for s in (-1, 1):
        ear = [(s * 0.55, 1.4, 0), (s * 0.9, 1.35, 0), (s * 0.85, 1.0, 0), (s * 0.42, 0.85, 0)]
        parts.append(tube(ear, 0.09, own))
    return fitted([*base, *parts], size_of(item))


def _firewood(item: Item) -> list[Part]:
    own = look(item, (0.42, 0.29, 0.18))
    parts: list[Part] = []
    split = prism(
        [(1, 0), (0.5, 0.87), (-0.5, 0.87), (-1, 0), (-0.5, -0.87), (0.5, -0.87)],
        -2,
        2,
        shade(own, 0.6),
        axis="z",
    )
    pale = Surface((0.80, 0.62, 0.40))
    parts.append(split)
    for z in (-2.01, 2.0):
        parts.append(
            prism(
                [(0.86 * math.cos(a), 0.78 * math.sin(a)) for a in _SIX],
                z,
                z + 0.01,
                pale,
                axis="z",
            )
        )
        parts.append(
            prism(
                [(0.4 * math.cos(a), 0.36 * math.sin(a)) for a in _SIX],
                z - 0.005,
                z + 0.015,
                shade(pale, 0.75),
                axis="z",
            )
        )
    parts.append(cylinder(0.2, 0, 0.35, shade(own, 0.6), sides=6).moved(0.1, 0.7, 0.8))
    return fitted(parts, size_of(item), long=True)


_SIX = np.linspace(0, 2 * math.pi, 9)[:-1]
BY_NAME: dict[str, Builder] = {
    "ornament": _ornament,
    "figurine": _figurine,
    "figure": _figurine,
    "sculpture": _abstract,
    "statue": _statue,
    "globe": _globe,
    "trophy": _trophy,
    "firewood": _firewood,
}
BY_SHAPE: dict[str, Builder] = {}
