"""Small things of desks and pockets: pens, scissors, keys, glasses, and a telescope."""

from __future__ import annotations

import math

import numpy as np

from navloom.scenes.scene import Item
from navloom_worlds.furniture.making import STEEL, Builder, size_of
from navloom_worlds.furniture.shaping import (
    BLACK,
    BRASS,
    BRIGHT,
    GREY,
    RED,
    arc,
    fitted,
    look,
    pick,
    spun,
)
from navloom_worlds.furniture.turnery import ball, prism, ring, tube
from navloom_worlds.geometry.solids import Part, Surface, beam, box, cylinder, lathe

_TURN = np.linspace(0, 2 * math.pi, 15)[:-1]
_LENS = Surface((0.75, 0.85, 0.9), gloss=0.9)


def _scissors(item: Item) -> list[Part]:
    own = look(item, *BRIGHT[:2], (0.1, 0.1, 0.1), plain=True)
    parts: list[Part] = []
    for s in (-1, 1):
        blade = [(0.0, 0.05), (s * 0.12, 0.0), (s * 0.2, -1.0)]
        parts.append(
            prism(
                [(x, z) for x, z in blade],
                0.02 if s > 0 else 0.06,
                0.06 if s > 0 else 0.1,
                STEEL,
                axis="y",
            )
        )
        parts.append(beam((0, 0.06, 0.0), (-s * 0.2, 0.06, 0.4), 0.08, own))
        loop = [
            (-s * 0.3 + 0.17 * math.cos(a), 0.06, 0.62 + 0.27 * math.sin(a))
            for a in np.linspace(0, 2 * math.pi, 12)
        ]
        parts.append(tube(loop, 0.09, own, sides=5))
    parts.append(cylinder(0.06, 0, 0.12, GREY, sides=8))
    return fitted(parts, size_of(item), long=True)


def _pen(item: Item) -> list[Part]:
    own = look(item, *BRIGHT[:2], (0.1, 0.1, 0.1), plain=True, gloss=0.4)
    profile = [(0, 0), (0.2, 0.0), (0.9, 0.12), (1, 0.2), (1, 0.95), (0.7, 1), (0, 1)]
    barrel = lathe(profile, own, sides=8)
    clip = box((-0.2, 0.65, -1.25), (0.2, 0.97, -1.0), STEEL)
    tip = lathe([(0.95, 0.13), (0.25, 0.0)], STEEL, sides=8).scaled(1.03, 1, 1.03)
    return fitted(
        [part.tilted(-math.pi / 2) for part in (barrel, clip, tip)], size_of(item), long=True
    )


def _stapler(item: Item) -> list[Part]:
    own = look(item, (0.12, 0.12, 0.13), (0.75, 0.15, 0.14), plain=True, gloss=0.3)
    base = box((-0.5, 0, -1), (0.5, 0.2, 1), BLACK)
    arm = prism(
        [(-1, 0.62), (-0.95, 1.0), (0.85, 0.9), (1, 0.3), (0.6, 0.25)], -0.45, 0.45, own, axis="z"
    )
    rail = box((-0.3, 0.45, -0.98), (0.3, 0.6, 0.6), STEEL)
    return fitted([base, arm.turned(math.pi / 2), rail], size_of(item), long=True)


def _key(item: Item) -> list[Part]:
    own = look(item, (0.75, 0.76, 0.78), (0.78, 0.6, 0.28), gloss=0.6)
    parts: list[Part] = [ring((0, 0.12, 0.5), 0.34, 0.07, STEEL, around=12, axis="y")]
    for k, (turn, tone) in enumerate(((0.5, own), (-0.15, BRASS), (-0.75, STEEL))):
        bow = prism(
            [(0.26 * math.cos(a), -0.1 + 0.24 * math.sin(a)) for a in _TURN[::2]],
            0,
            0.07,
            tone,
            axis="y",
        )
        blade = box((-0.07, 0, -1.0), (0.07, 0.07, -0.3), tone)
        teeth = [box((0.06, 0, z), (0.15, 0.07, z + 0.08), tone) for z in (-0.95, -0.78, -0.6)]
        for part in (bow, blade, *teeth):
            parts.append(part.turned(turn).moved(0.0, 0.08 * k, 0.3))
    parts.append(
        box((-0.75, 0, 0.4), (-0.3, 0.2, 0.95), pick(item, (RED, Surface(BRIGHT[1]), BLACK), "tag"))
    )
    return fitted(parts, size_of(item))


def _glasses(item: Item, lens: Surface) -> list[Part]:
    own = look(item, (0.1, 0.1, 0.1), (0.35, 0.2, 0.12), plain=True)
    # They stand on their temples, the lenses along -z.
    parts: list[Part] = []
    for s in (-1, 1):
        path = arc((s * 0.5, 0.5, -1), (0.42, 0.45), 0, 2 * math.pi, n=12)
        parts.append(tube(path, 0.1, own, sides=4))
        disc = [(s * 0.5 + 0.4 * math.cos(a), 0.5 + 0.43 * math.sin(a)) for a in _TURN]
        parts.append(prism(disc, -1.02, -0.98, lens, axis="z"))
        parts.append(
            tube(
                [(s * 0.95, 0.65, -1), (s * 0.95, 0.62, 0.4), (s * 0.92, 0.1, 0.95)],
                0.1,
                own,
                sides=4,
            )
        )
    parts.append(tube(arc((0, 0.55, -1), (0.13, 0.12), 0, math.pi, n=4), 0.09, own, sides=4))
    return fitted(parts, size_of(item))


def _reading_glasses(item: Item) -> list[Part]:
    return _glasses(item, _LENS)


def _sunglasses(item: Item) -> list[Part]:
    return _glasses(item, Surface((0.05, 0.05, 0.06), gloss=0.8))


def _telescope(item: Item) -> list[Part]:
    own = look(item, (0.93, 0.93, 0.92), (0.2, 0.25, 0.4), gloss=0.3)
    legs = spun(beam((0, 0.62, 0), (0.9, 0, 0), 0.06, BLACK), 3, start=0.5)
    barrel = lathe(
        [
            (0, -0.9),
            (0.09, -0.9),
            (0.09, -0.55),
            (0.17, -0.5),
            (0.17, 0.7),
            (0.22, 0.72),
            (0.22, 1.0),
            (0.18, 1.0),
        ],
        own,
        sides=14,
    )
    lens = lathe([(0.2, 0.98), (0, 0.97)], _LENS, sides=14)
    finder = tube([(0.2, -0.3, 0.0), (0.2, 0.2, 0.0)], 0.08, BLACK)
    aimed = [
        part.tilted(-math.pi / 2 + 0.5).scaled(1, 0.55, 1).moved(0, 0.72, 0)
        for part in (barrel, lens, finder)
    ]
    head = ball((0, 0.64, 0), 0.1, BLACK, sides=8, rings=5)
    return fitted([*legs, *aimed, head], size_of(item))


BY_NAME: dict[str, Builder] = {
    "scissors": _scissors,
    "pen": _pen,
    "stapler": _stapler,
    "key": _key,
    "glasses": _reading_glasses,
    "sunglasses": _sunglasses,
    "telescope": _telescope,
}
BY_SHAPE: dict[str, Builder] = {}
