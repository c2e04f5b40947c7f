"""Plants in pots, flowers in vases: leaves on stems, each plant of a kind of its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random

import numpy as np

from navloom.scenes.scene import Item
from navloom_worlds.furniture.making import Builder, shade, size_of
from navloom_worlds.furniture.shaping import (
    BRIGHT,
    EARTH,
    TERRACOTTA,
    WHITE,
    fitted,
    look,
    pick,
    roll,
)
from navloom_worlds.furniture.turnery import ball, tube
from navloom_worlds.furniture.vessels import hollow, vase_profile
from navloom_worlds.geometry.solids import Part, Surface, floats, lathe

_POTS = (
    TERRACOTTA,
    WHITE,
    Surface((0.32, 0.34, 0.36)),
    Surface((0.75, 0.70, 0.60)),
    Surface((0.26, 0.38, 0.48)),
)
_BARK = Surface((0.38, 0.28, 0.19))
Spot = Sequence[float]


def leaf(foot: Spot, turn: float, long: float, wide: float, rise: float, look_of: Surface) -> Part:
    """A leaf that grows out from a point and bends down at its tip.

    Args:
        foot: where it begins.
        turn: which way it points, in radians about y.
        long: its length.
        wide: its width.
        rise: how steep it begins, in radians; it ends flatter or hanging.
        look_of: its look.
    """
    across = np.array([-math.sin(turn), 0.0, math.cos(turn)])
    out = np.array([math.cos(turn), 0.0, math.sin(turn)])
    spine = [np.array(foot, dtype=np.float64)]
    for k, bend in enumerate((0.0, 0.45, 1.0)):
        angle = rise - bend
        share = (0.35, 0.35, 0.3)[k]
        spine.append(spine[-1] + long * share * (out * math.cos(angle) + [0, math.sin(angle), 0]))
    rows = [spine[0]]
    for at, half in ((spine[1], 0.5), (spine[2], 0.42)):
        rows += [at - across * wide * half, at + across * wide * half]
    rows.append(spine[3])
    faces = [[0, 1, 2], [1, 3, 2], [2, 3, 4], [3, 5, 4]]
    return Part(floats(rows), np.array(faces, dtype=np.int32), look_of)


def _pot(item: Item, radius: float, high: float) -> list[Part]:
    clay = pick(item, _POTS, "pot")
    pot = hollow([(radius * 0.7, 0), (radius, high * 0.92), (radius * 1.06, high)], clay, sides=12)
    return [pot, lathe([(radius * 0.98, high * 0.88), (0, high * 0.9)], EARTH, sides=10)]


def _blades(d: Random, y: float, green: Surface) -> list[Part]:
    # Upright stiff leaves: a snake plant.
    parts = []
    for k in range(13):
        turn, reach = k * 2.4, d.uniform(0.05, 0.3)
        foot = (reach * math.cos(turn), y, reach * math.sin(turn))
        tone = shade(green, d.uniform(0.8, 1.25))
        parts.append(leaf(foot, turn, d.uniform(1.1, 1.9), 0.24, d.uniform(1.5, 1.9), tone))
    return parts


def _fronds(d: Random, y: float, green: Surface) -> list[Part]:
    # Arching stems with leaflets on both sides: a palm.
    parts = [tube([(0, y, 0), (0.05, y + 0.4, 0)], [0.2, 0.12], _BARK, sides=6)]
    top = y + 0.4
    for k in range(8):
        turn, rise = k * 2.4 + d.uniform(-0.2, 0.2), d.uniform(0.9, 1.35)
        points = []
        for t in (0.0, 0.35, 0.7, 1.0):
            out, up = t * math.cos(rise) * 1.4, top + t * 1.4 * math.sin(rise) - 0.55 * t * t
            points.append((out * math.cos(turn), up, out * math.sin(turn)))
        parts.append(tube(points, 0.025, shade(green, 0.7), sides=3))
        for at in points[1:]:
            for side in (-1, 1):
                tone = shade(green, d.uniform(0.85, 1.2))
                parts.append(leaf(at, turn + side * 0.8, 0.55, 0.13, 0.4, tone))
    return parts


def _broad(d: Random, y: float, green: Surface) -> list[Part]:
    # Long stalks, each with one large leaf.
    parts = []
    for k in range(12):
        turn, reach, up = k * 2.4, d.uniform(0.2, 0.75), y + d.uniform(0.35, 1.5)
        end = (reach * math.cos(turn), up, reach * math.sin(turn))
        stalk = [(0, y, 0), (end[0] * 0.4, (y + up) / 2 + 0.15, end[2] * 0.4), end]
        parts.append(tube(stalk, 0.035, shade(green, 0.75), sides=3))
        tone = shade(green, d.uniform(0.8, 1.2))
        parts.append(leaf(end, turn, d.uniform(0.5, 0.75), 0.5, d.uniform(0.2, 0.7), tone))
    return parts


def _tree(d: Random, y: float, green: Surface) -> list[Part]:
    # A trunk under a crown of many small leaves.
    parts = [tube([(0, y, 0), (0.06, y + 0.6, 0.02), (0, y + 1.1, 0)], 0.09, _BARK, sides=5)]
    middle = y + 1.35
    for _ in range(52):
        turn, lift = d.uniform(0, 2 * math.pi), d.uniform(-1, 1)
        flat = math.sqrt(1 - lift * lift) * 0.62
        foot = (flat * math.cos(turn), middle + lift * 0.6, flat * math.sin(turn))
        tone = shade(green, d.uniform(0.75, 1.25))
        parts.append(leaf(foot, turn, 0.38, 0.22, d.uniform(-0.3, 0.7), tone))
    inner = ball((0, middle, 0), (0.6, 0.58, 0.6), shade(green, 0.6), sides=8, rings=5)
    return [*parts, inner]


def _succulent(_d: Random, y: float, green: Surface) -> list[Part]:
    # Rings of short fat leaves.
    parts = []
    for row, (count, rise, long) in enumerate(((9, 0.5, 0.8), (7, 0.95, 0.7), (4, 1.35, 0.6))):
        for k in range(count):
            turn = k * 2 * math.pi / count + row * 0.4
            tone = shade(green, 0.85 + 0.2 * row)
            parts.append(leaf((0, y + 0.05, 0), turn, long, 0.32, rise + 0.3, tone))
    return parts


def _cactus(_d: Random, y: float, green: Surface) -> list[Part]:
    body = [(0, y), (0.3, y), (0.38, y + 0.5), (0.34, y + 1.1), (0.18, y + 1.35), (0, y + 1.4)]
    parts = [lathe(body, green, sides=9)]
    for side in (-1, 1):
        up = y + 0.55 + 0.2 * side
        arm = [(side * 0.3, up, 0), (side * 0.62, up + 0.05, 0), (side * 0.65, up + 0.5, 0)]
        parts.append(tube(arm, [0.26, 0.26, 0.16], green))
    parts.append(ball((0, y + 1.42, 0), 0.1, Surface((0.9, 0.35, 0.55)), sides=6, rings=4))
    return parts


_LARGE = (_blades, _fronds, _broad, _tree)
_SMALL = (_blades, _broad, _succulent, _cactus, _tree)


def _plant(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    dice = Random(roll(item, "leaves"))
    green = look(item, (0.22, 0.45, 0.18), (0.18, 0.36, 0.16), plain=True)
    kind = pick(item, _LARGE if h > 0.55 else _SMALL, "kind")
    high = 0.75 if h < 1.6 * w else 0.6
    pot = _pot(item, 0.62 if kind is not _tree else 0.5, high)
    return fitted([*pot, *kind(dice, high * 0.88, green)], (w, h, d))


def _bloom(at: Spot, radius: float, petal: Surface, dice: Random) -> list[Part]:
    x, y, z = at
    parts = []
    for k in range(5):
        turn = k * 2 * math.pi / 5 + dice.random()
        parts.append(leaf((x, y, z), turn, radius * 1.3, radius, 0.55, petal))
    middle = lathe([(radius * 0.35, 0.02), (0, radius * 0.3)], _POLLEN, sides=5).moved(x, y, z)
    return [*parts, middle]


_POLLEN = Surface((0.95, 0.78, 0.2))


def _flowers(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    dice = Random(roll(item, "stems"))
    green = look(item, (0.22, 0.45, 0.18), plain=True)
    clay = pick(item, (*_POTS, Surface((0.76, 0.86, 0.88), gloss=0.8)), "vase")
    vase = [(r * 0.42, y * 0.95) for r, y in vase_profile(item)]
    petals = [Surface(pick(item, (*BRIGHT, (0.96, 0.95, 0.92), (0.93, 0.6, 0.7)), s)) for s in "ab"]
    parts = [hollow(vase, clay, wall=0.04, sides=12)]
    for k in range(9):
        turn, reach = k * 2.4, 0.2 + 0.5 * (k % 3) / 2
        top = (reach * math.cos(turn), dice.uniform(1.55, 2.1), reach * math.sin(turn))
        root = (top[0] * 0.15, 0.6, top[2] * 0.15)
        parts.append(tube([root, top], 0.03, shade(green, 0.8), sides=3))
        parts.append(leaf((top[0] * 0.6, 1.25, top[2] * 0.6), turn + 1, 0.4, 0.16, 0.5, green))
        parts += _bloom(top, dice.uniform(0.18, 0.24), petals[k % 2], dice)
    return fitted(parts, (w, h, d))


def _flowerpot(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    dice = Random(roll(item, "pot"))
    green = look(item, (0.22, 0.45, 0.18), plain=True)
    petal = Surface(pick(item, (*BRIGHT, (0.96, 0.95, 0.92), (0.93, 0.6, 0.7)), "petal"))
    parts = _pot(item, 0.7, 0.95)
    for k in range(26):
        turn, reach = k * 2.4, 0.15 + 0.6 * (k % 5) / 4
        foot = (reach * math.cos(turn), 0.95, reach * math.sin(turn))
        tone = shade(green, dice.uniform(0.75, 1.25))
        parts.append(leaf(foot, turn, dice.uniform(0.5, 0.8), 0.26, dice.uniform(0.7, 1.4), tone))
    for k in range(7):
        turn, reach = k * 2.4 + 1, 0.3 * (k % 3)
        at = (reach * math.cos(turn), dice.uniform(1.35, 1.6), reach * math.sin(turn))
        parts += _bloom(at, 0.2, petal, dice)
    return fitted(parts, (w, h, d))


def _planter(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    dice = Random(roll(item, "planter"))
    green = Surface((0.24, 0.46, 0.2))
    trough = fitted(
        [
            hollow([(0.65, 0), (0.7, 1)], look(item, (0.55, 0.38, 0.24)), sides=4).turned(
                math.pi / 4
            )
        ],
        (w, h * 0.5, d),
    )
    parts = [*trough, lathe([(0.6, 0.46), (0, 0.46)], EARTH, sides=4).turned(math.pi / 4)]
    parts[-1] = fitted([parts[-1]], (w * 0.9, 0.001, d * 0.9))[0].moved(0, h * 0.45, 0)
    bush: list[Part] = []
    for k in range(30):
        foot = (dice.uniform(-0.85, 0.85) * w / 2, h * 0.44, dice.uniform(-0.7, 0.7) * d / 2)
        tone = shade(green, dice.uniform(0.75, 1.25))
        reach = min(h * 0.5, d * 0.5)
        bush.append(leaf(foot, k * 2.4, reach, reach * 0.35, dice.uniform(1.1, 1.7), tone))
    return fitted([*parts, *bush], (w, h, d))


BY_NAME: dict[str, Builder] = {
    "plant": _plant,
    "decorative_plant": _plant,
    "potted_plant": _plant,
    "flowerpot": _flowerpot,
    "flower_pot": _flowerpot,
    "flower_vase": _flowers,
    "flower": _flowers,
    "planter": _planter,
}
BY_SHAPE: dict[str, Builder] = {"plant": _plant}
