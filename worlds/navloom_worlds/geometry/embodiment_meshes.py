"""Triangle models of bodies: a sweeper, a wheelchair, a robot or a person of a given size.

The model depends on the body's name; an unknown one is a rounded column, or a box, with a dark
visor in front. Each is scaled to the body's width, depth and height, so that the drawn size is the
size used for collisions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from navloom.scenes.bodies import Embodiment
from navloom_worlds.geometry.solids import (
    RGB,
    Part,
    Surface,
    beam,
    box,
    cylinder,
    lathe,
    parts_bounds,
)

_DARK = Surface((0.09, 0.09, 0.1), gloss=0.2)
_STEEL = Surface((0.62, 0.64, 0.66), gloss=0.4)
_SKIN = Surface((0.8, 0.58, 0.45))
_WHITE = Surface((0.92, 0.92, 0.9), gloss=0.15)
_ROUND = 8
_LEFT_RIGHT = (-1.0, 1.0)

Spot3 = tuple[float, float, float]
_Maker = Callable[[Surface], Iterator[Part]]


def body_parts(body: Embodiment, colour: RGB | None = None) -> tuple[Part, ...]:
    """Return a body as parts: the origin under its middle, its front along -z, in metres.

    Args:
        body: the body whose width, depth and height they fill; the diameter for a cylinder.
        colour: colour of the coloured parts; None takes the model's own.
    """
    make, own = _kind(body)
    parts = list(make(Surface(colour or own, gloss=0.15)))
    low, high = parts_bounds(parts)
    deep = body.width if body.depth is None or body.shape == "cylinder" else body.depth
    x, y, z = (
        want / max(float(have), 1e-6)
        for want, have in zip((body.width, body.height, deep), high - low, strict=True)
    )
    middle = (low + high) / 2
    shift = (-float(middle[0]), -float(low[1]), -float(middle[2]))
    return tuple(part.moved(*shift).scaled(x, y, z) for part in parts)


def _kind(body: Embodiment) -> tuple[_Maker, RGB]:
    name = body.name.casefold()
    for words, make, colour in _KINDS:
        if any(word in name for word in words):
            return make, colour
    if body.shape == "box":
        return _crate, (0.2, 0.45, 0.75)
    return _column, (0.2, 0.55, 0.75)


def _sweeper(colour: Surface) -> Iterator[Part]:
    yield lathe([(0, 0.01), (0.19, 0.01), (0.2, 0.03), (0.2, 0.1), (0.19, 0.12)], _DARK, sides=32)
    yield lathe([(0.19, 0.12), (0.17, 0.13), (0, 0.13)], colour, sides=32)
    yield cylinder(0.05, 0.13, 0.15, _DARK).moved(0, 0, 0.03)
    # The bumper shows its direction.
    for k in range(9):
        angle = math.radians(-60 + 15 * k)
        x, z = 0.192 * math.sin(angle), -0.192 * math.cos(angle)
        yield box((-0.026, 0.04, -0.008), (0.026, 0.09, 0.008), _WHITE).turned(angle).moved(x, 0, z)


def _head(at: Spot3, hair: Surface) -> Iterator[Part]:
    ring = [(0.1 * math.cos(a), 0.12 * math.sin(a)) for a in np.linspace(-1.57, 1.57, 9)]
    skull = [(max(r, 0.0) if abs(r) > 1e-3 else 0.0, y) for r, y in ring]
    yield lathe(skull, _SKIN, sides=12).moved(*at)
    cap = [(r * 1.1, y * 1.1) for r, y in skull if y > 0.02]
    yield lathe(cap, hair, sides=12).moved(at[0], at[1], at[2] + 0.012)


def _torso(low: float, high: float, colour: Surface, wide: float = 0.2) -> Part:
    profile = [(0, low), (0.8 * wide, low), (0.85 * wide, low + 0.15), (wide, high - 0.1)]
    profile += [(0.75 * wide, high - 0.01), (0.28 * wide, high + 0.03), (0, high + 0.04)]
    return lathe(profile, colour, sides=14).scaled(1, 1, 0.6)


def _limb(points: Sequence[Spot3], thick: float, surface: Surface) -> Iterator[Part]:
    for a, b in pairwise(points):
        yield beam(a, b, thick, surface, sides=_ROUND)


def _human(colour: Surface) -> Iterator[Part]:
    trousers, hair = Surface((0.12, 0.15, 0.28)), Surface((0.2, 0.12, 0.07))
    yield _torso(0.85, 1.42, colour, 0.21)
    yield from _head((0, 1.58, 0), hair)
    for side in _LEFT_RIGHT:
        # In mid-stride: a leg ahead, the other behind, arms against them.
        swing = 0.22 * side
        hip, foot = (side * 0.09, 0.88, 0.0), (side * 0.1, 0.06, swing)
        knee = (side * 0.1, 0.48, swing * 0.5 - 0.03)
        yield from _limb((hip, knee, foot), 0.14, trousers)
        yield box((-0.045, 0, -0.17), (0.045, 0.09, 0.08), _DARK).moved(side * 0.1, 0, swing)
        elbow, hand = (side * 0.27, 1.1, -swing * 0.4), (side * 0.26, 0.88, -swing * 0.9 - 0.06)
        yield from _limb(((side * 0.22, 1.36, 0), elbow), 0.1, colour)
        yield from _limb((elbow, hand), 0.08, _SKIN)


def _wheel(radius: float, wide: float, x: float, z: float, spokes: int) -> Iterator[Part]:
    thick, half = 0.09 * radius + 0.012, wide / 2
    inside = radius - thick
    rim = [(inside, -half), (radius, -half), (radius, half), (inside, half), (inside, -half)]
    at = (x, radius, z)
    yield lathe(rim, _DARK, sides=24).tilted(math.pi / 2, "z").moved(*at)
    yield cylinder(0.04, -half, half, _STEEL, sides=8).tilted(math.pi / 2, "z").moved(*at)
    for k in range(spokes):
        turn = 2 * math.pi * k / spokes
        end = (x, radius + inside * math.sin(turn), z + inside * math.cos(turn))
        yield beam(at, end, 0.012, _STEEL)


def _wheelchair(colour: Surface) -> Iterator[Part]:
    trousers, hair = Surface((0.15, 0.17, 0.25)), Surface((0.45, 0.3, 0.15))
    seat = Surface((0.1, 0.25, 0.6))
    for side in _LEFT_RIGHT:
        x = side * 0.31
        yield from _wheel(0.31, 0.05, x, 0.14, 10)
        yield from _wheel(0.09, 0.04, side * 0.24, -0.36, 0)
        yield from _limb(((side * 0.24, 0.16, -0.36), (side * 0.24, 0.5, -0.3)), 0.03, _STEEL)
        yield from _limb(((side * 0.24, 0.5, -0.3), (side * 0.24, 0.5, 0.25)), 0.03, _STEEL)
        yield beam((side * 0.22, 0.3, 0.26), (side * 0.22, 0.95, 0.3), 0.03, _STEEL, sides=_ROUND)
        yield beam((side * 0.22, 0.95, 0.28), (side * 0.22, 0.95, 0.45), 0.04, _DARK, sides=_ROUND)
        yield beam((side * 0.26, 0.72, -0.2), (side * 0.26, 0.72, 0.24), 0.05, _DARK)
        # The person who sits in it.
        knee, foot = (side * 0.11, 0.6, -0.36), (side * 0.11, 0.16, -0.44)
        yield from _limb(((side * 0.1, 0.6, 0.12), knee, foot), 0.14, trousers)
        yield box((-0.045, 0.1, -0.12), (0.045, 0.19, 0.08), _DARK).moved(side * 0.11, 0, -0.44)
        elbow = (side * 0.26, 0.78, 0.2)
        yield from _limb(((side * 0.19, 1.0, 0.14), elbow), 0.09, colour)
        yield from _limb((elbow, (side * 0.26, 0.77, -0.1)), 0.075, _SKIN)
    yield box((-0.23, 0.46, -0.28), (0.23, 0.53, 0.26), seat)
    yield box((-0.23, 0.53, 0.25), (0.23, 0.93, 0.3), seat)
    yield box((-0.2, 0.07, -0.55), (0.2, 0.1, -0.34), _DARK)
    yield _torso(0.54, 1.06, colour, 0.2).moved(0, 0, 0.14)
    yield from _head((0, 1.2, 0.13), hair)


def _humanoid(colour: Surface) -> Iterator[Part]:
    glow = Surface((0.3, 0.8, 1.0), glow=1.0)
    yield box((-0.24, 0.74, -0.16), (0.24, 1.22, 0.16), _WHITE)
    yield box((-0.16, 0.86, -0.175), (0.16, 1.12, -0.16), colour)
    yield box((-0.17, 0.8, 0.16), (0.17, 1.18, 0.34), colour)
    yield box((-0.18, 0.64, -0.13), (0.18, 0.74, 0.13), _DARK)
    yield cylinder(0.06, 1.22, 1.27, _DARK)
    yield box((-0.14, 1.27, -0.13), (0.14, 1.5, 0.13), _WHITE)
    yield box((-0.12, 1.33, -0.15), (0.12, 1.45, -0.13), _DARK)
    for side in _LEFT_RIGHT:
        yield box((-0.025, 1.37, -0.157), (0.025, 1.41, -0.15), glow).moved(side * 0.06, 0, 0)
        hip, knee = (side * 0.12, 0.66, 0.0), (side * 0.14, 0.37, -0.05)
        yield from _limb((hip, knee, (side * 0.14, 0.07, 0.02)), 0.15, _WHITE)
        yield box((-0.08, 0, -0.2), (0.08, 0.08, 0.14), _DARK).moved(side * 0.14, 0, 0)
        shoulder, elbow = (side * 0.31, 1.14, 0.0), (side * 0.38, 0.86, 0.03)
        yield box((-0.08, 1.06, -0.09), (0.08, 1.22, 0.09), colour).moved(side * 0.32, 0, 0)
        yield from _limb((shoulder, elbow), 0.12, _WHITE)
        yield from _limb((elbow, (side * 0.36, 0.88, -0.34)), 0.11, _WHITE)
        yield box((-0.06, 0.83, -0.46), (0.06, 0.93, -0.34), _DARK).moved(side * 0.36, 0, 0)


def _quadruped(colour: Surface) -> Iterator[Part]:
    yield box((-0.14, 0.5, -0.42), (0.14, 0.7, 0.42), colour)
    yield box((-0.11, 0.7, -0.3), (0.11, 0.74, 0.3), _DARK)
    yield box((-0.12, 0.52, -0.53), (0.12, 0.67, -0.42), _DARK)
    yield box((-0.12, 0.53, 0.42), (0.12, 0.66, 0.5), _DARK)
    for side in _LEFT_RIGHT:
        yield cylinder(0.025, 0, 0.01, _WHITE).tilted(-math.pi / 2).moved(side * 0.06, 0.6, -0.53)
        for z in (-0.36, 0.36):
            x = side * 0.19
            yield box((-0.06, 0.5, -0.09), (0.06, 0.66, 0.09), _DARK).moved(x, 0, z)
            hip, knee, foot = (x, 0.56, z), (x, 0.3, z + 0.15), (x, 0.03, z)
            yield beam(hip, knee, 0.1, colour, sides=_ROUND)
            yield from _limb((knee, foot), 0.055, _DARK)


def _fetch(colour: Surface) -> Iterator[Part]:
    yield cylinder(0.28, 0.05, 0.3, _WHITE, sides=24)
    yield cylinder(0.26, 0.0, 0.05, _DARK, sides=24)
    yield lathe([(0.281, 0.2), (0.281, 0.26)], colour, sides=24)
    yield lathe([(0.28, 0.3), (0.2, 0.36), (0, 0.36)], colour, sides=24)
    yield box((-0.12, 0.34, -0.02), (0.12, 0.9, 0.2), _WHITE)
    yield box((-0.1, 0.36, -0.03), (0.1, 0.86, -0.02), colour)
    yield cylinder(0.05, 0.9, 0.97, _DARK).moved(0, 0, 0.08)
    yield box((-0.17, 0.95, -0.06), (0.17, 1.1, 0.14), _WHITE)
    yield box((-0.14, 0.98, -0.075), (0.14, 1.06, -0.06), _DARK)
    elbow = (0.2, 0.62, -0.12)
    yield from _limb(((0.0, 0.72, -0.04), (0.12, 0.72, -0.1), elbow), 0.1, _STEEL)
    yield from _limb((elbow, (-0.08, 0.55, -0.2)), 0.09, colour)
    yield box((-0.16, 0.51, -0.26), (-0.08, 0.59, -0.16), _DARK)


def _column(colour: Surface) -> Iterator[Part]:
    yield lathe([(0, 0), (0.2, 0), (0.2, 0.08), (0.18, 0.1), (0.13, 0.2)], _DARK, sides=24)
    yield lathe([(0.13, 0.2), (0.16, 0.7), (0.16, 1.1), (0.1, 1.2)], colour, sides=24)
    dome = [(0.1, 1.2), (0.15, 1.25), (0.16, 1.38), (0.12, 1.47), (0.06, 1.5), (0, 1.5)]
    yield lathe(dome, _WHITE, sides=24)
    yield box((-0.11, 1.28, -0.165), (0.11, 1.39, -0.05), _DARK)


def _crate(colour: Surface) -> Iterator[Part]:
    yield box((-0.5, 0.0, -0.5), (0.5, 0.15, 0.5), _DARK)
    yield box((-0.47, 0.15, -0.47), (0.47, 0.95, 0.47), colour)
    yield box((-0.4, 0.95, -0.4), (0.4, 1.0, 0.4), _WHITE)
    yield box((-0.35, 0.7, -0.49), (0.35, 0.88, -0.47), _DARK)


_KINDS: tuple[tuple[tuple[str, ...], _Maker, RGB], ...] = (
    (("wheelchair",), _wheelchair, (0.85, 0.35, 0.1)),
    (("sweeper", "vacuum"), _sweeper, (0.85, 0.2, 0.15)),
    (("humanoid",), _humanoid, (0.15, 0.45, 0.8)),
    (("human", "person"), _human, (0.1, 0.55, 0.45)),
    (("quadruped", "spot", "dog"), _quadruped, (0.95, 0.72, 0.05)),
    (("fetch",), _fetch, (0.1, 0.4, 0.8)),
)
