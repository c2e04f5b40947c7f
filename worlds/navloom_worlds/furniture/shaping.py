"""Forms that small things are made of, looks that many share, and dice that fall alike every time.

Builders of small things draw them in any unit that suits, and ``fitted`` stretches what they drew
to the size that the thing has.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike

from navloom.scenes.scene import Item
from navloom_worlds.furniture.making import shade
from navloom_worlds.furniture.turnery import sheet
from navloom_worlds.geometry.colours import surface_of
from navloom_worlds.geometry.solids import RGB, Floats, Part, Surface, bounds, box, floats

Point = Sequence[float]
T = TypeVar("T")

WHITE = Surface((0.93, 0.93, 0.91))
CREAM = Surface((0.95, 0.92, 0.83))
BLACK = Surface((0.06, 0.06, 0.07), gloss=0.2)
GREY = Surface((0.45, 0.46, 0.48))
BRASS = Surface((0.78, 0.60, 0.28), gloss=0.5)
WOOD = Surface((0.55, 0.38, 0.22), gloss=0.1)
DARK_WOOD = Surface((0.32, 0.20, 0.12), gloss=0.1)
GREEN = Surface((0.22, 0.45, 0.18))
EARTH = Surface((0.20, 0.13, 0.09))
TERRACOTTA = Surface((0.72, 0.38, 0.24))
SKIN = Surface((0.90, 0.70, 0.57))
RED = Surface((0.78, 0.13, 0.12))
YELLOW = Surface((0.94, 0.77, 0.16))
PAPER = Surface((0.94, 0.93, 0.88))
RUBBER = Surface((0.12, 0.12, 0.12))
GLASS = Surface((0.74, 0.84, 0.86), gloss=0.8)
SCREEN = Surface((0.03, 0.03, 0.04), gloss=0.7)
CARD = Surface((0.70, 0.54, 0.36))

BRIGHT: tuple[RGB, ...] = (
    (0.80, 0.16, 0.15),
    (0.16, 0.36, 0.70),
    (0.95, 0.76, 0.15),
    (0.18, 0.55, 0.28),
    (0.90, 0.45, 0.12),
    (0.50, 0.25, 0.60),
)
MUTED: tuple[RGB, ...] = (
    (0.45, 0.20, 0.18),
    (0.20, 0.28, 0.42),
    (0.62, 0.58, 0.48),
    (0.28, 0.36, 0.28),
    (0.60, 0.46, 0.26),
    (0.30, 0.28, 0.30),
)
CLAY: tuple[RGB, ...] = ((0.90, 0.88, 0.84), (0.30, 0.42, 0.52), (0.62, 0.32, 0.22))


def roll(item: Item, salt: str = "", sides: int = 1_000_000) -> int:
    """A die of so many sides, from 0; the same for the same thing and salt."""
    return crc32(f"{salt}/{item.id}/{item.name}".encode()) % sides


def pick(item: Item, options: Sequence[T], salt: str = "") -> T:
    """One of several, the same each time."""
    return options[roll(item, salt, len(options))]


def look(item: Item, *otherwise: RGB, plain: bool = False, gloss: float | None = None) -> Surface:
    """Its own colour and material where they are known, else one of the colours given.

    Args:
        item: the thing.
        otherwise: colours, sRGB, of which one is picked where it says none.
        plain: its colour alone, without its material's texture.
        gloss: this gloss instead of the material's.
    """
    if item.colour is None and item.material is None and otherwise:
        found = Surface(pick(item, otherwise, "look"))
    else:
        found = surface_of(item)
    if plain:
        found = replace(found, texture="")
    return found if gloss is None else replace(found, gloss=gloss)


def fitted(parts: Iterable[Part], size: Sequence[float], *, long: bool = False) -> list[Part]:
    """Parts stretched to fill a box of this size, standing on 0.

    Args:
        parts: drawn in any unit.
        size: (width, height, depth) in metres.
        long: they were drawn long along z, and are turned where the box is long along x.
    """
    drawn = list(parts)
    if long and size[0] > size[2]:
        drawn = [part.turned(math.pi / 2) for part in drawn]
    low, high = bounds(drawn)
    w, h, d = size
    factor = floats([w, h, d]) / np.maximum(high - low, 1e-6)
    at = floats([-w / 2, 0, -d / 2])
    return [replace(part, vertices=(part.vertices - low) * factor + at) for part in drawn]


def globe(at: Point, radius: float, surface: Surface, *, sides: int = 16) -> Part:
    """A ball with a picture wrapped around it, its left edge at +x."""
    turn, rise = np.meshgrid(
        np.linspace(0, 2 * math.pi, sides + 1), np.linspace(0, math.pi, sides // 2 + 1)
    )
    flat = np.sin(rise)
    unit = np.stack([np.cos(turn) * flat, np.cos(rise), np.sin(turn) * flat], axis=2)
    uv = np.stack([turn / (2 * math.pi), rise / math.pi], axis=2).reshape(-1, 2)
    return replace(sheet(unit * radius + np.asarray(at), surface), uv=floats(uv))


def arc(
    middle: Point,
    radii: tuple[float, float],
    start: float,
    end: float,
    axes: str = "xy",
    n: int = 8,
) -> list[tuple[float, float, float]]:
    """Points on an arc: angles in radians from the first axis towards the second."""
    points = []
    for a in np.linspace(start, end, n + 1):
        point = [float(each) for each in middle]
        point["xyz".index(axes[0])] += radii[0] * math.cos(a)
        point["xyz".index(axes[1])] += radii[1] * math.sin(a)
        points.append((point[0], point[1], point[2]))
    return points


def round_corners(w: float, d: float, radius: float, n: int = 3) -> list[tuple[float, float]]:
    """The outline of a rectangle around 0 with round corners."""
    outline = []
    for turn, (sx, sz) in enumerate([(1, 1), (-1, 1), (-1, -1), (1, -1)]):
        for a in np.linspace(turn * math.pi / 2, (turn + 1) * math.pi / 2, n + 1):
            x = sx * (w / 2 - radius) + radius * math.cos(a)
            outline.append((float(x), float(sz * (d / 2 - radius) + radius * math.sin(a))))
    return outline


def pad(w: float, h: float, d: float, surface: Surface, *, puff: float = 0.5) -> Part:
    """A pillow: thick in the middle, thin at its seams; lies on 0, its middle over 0.

    Args:
        w: its width.
        h: its thickness.
        d: its depth.
        surface: its look.
        puff: below 1 fuller, above 1 flatter.
    """
    steps = np.sin(np.linspace(-math.pi / 2, math.pi / 2, 8))
    u, v = np.meshgrid(steps, steps, indexing="ij")
    rise = np.clip((1 - u**4) * (1 - v**4), 0, 1) ** puff
    # The sides draw in a little between the corners, as stuffed cloth does.
    x, z = u * (1 - 0.06 * (1 - v**2)), v * (1 - 0.06 * (1 - u**2))
    up = np.stack([x * w / 2, h / 2 + rise * h / 2, z * d / 2], axis=2)
    down = up[::-1] * [1, -1, 1] + [0, h, 0]
    return sheet(np.concatenate([up, down]), surface)


def relief(w: float, d: float, heights: ArrayLike, surface: Surface) -> Part:
    """A thick sheet on 0 whose upper side rises and falls: folded, crumpled or heaped cloth.

    Args:
        w: its width.
        d: its depth.
        heights: (n, m) how high it is, over a grid of its width and depth.
        surface: its look.
    """
    top = np.asarray(heights, dtype=np.float64)
    n, m = top.shape
    level = np.zeros((n + 2, m + 2))
    level[1:-1, 1:-1] = top
    xs = np.concatenate([[-w / 2], np.linspace(-w / 2, w / 2, n), [w / 2]])
    zs = np.concatenate([[-d / 2], np.linspace(-d / 2, d / 2, m), [d / 2]])
    x, z = np.meshgrid(xs, zs, indexing="ij")
    return sheet(np.stack([x, level, z], axis=2), surface)


def open_box(low: Point, high: Point, wall: float, surface: Surface) -> list[Part]:
    """A box without a lid, with thick walls."""
    (a, b, c), (d, e, f) = low, high
    inner = shade(surface, 0.7)
    rim = [
        box((a, e - 1e-4, c), (d, e, c + wall), surface, sides="u"),
        box((a, e - 1e-4, f - wall), (d, e, f), surface, sides="u"),
        box((a, e - 1e-4, c), (a + wall, e, f), surface, sides="u"),
        box((d - wall, e - 1e-4, c), (d, e, f), surface, sides="u"),
    ]
    return [
        box(low, high, surface, sides="bfklr"),
        box((a + wall, b + wall, c + wall), (d - wall, e, f - wall), inner, sides="bfklr"),
        *rim,
    ]


def face(w: float, low: float, high: float, z: float, surface: Surface, *, x: float = 0.0) -> Part:
    """A flat upright panel that looks along -z, its picture laid on whole."""
    corners = [[x + w / 2, low, z], [x - w / 2, low, z], [x - w / 2, high, z], [x + w / 2, high, z]]
    uv = floats([[0, 1], [1, 1], [1, 0], [0, 0]])
    return Part(floats(corners), np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int32), surface, uv)


def top_face(
    w: float, d: float, y: float, surface: Surface, *, x: float = 0.0, z: float = 0.0
) -> Part:
    """A flat panel that looks up, its picture upright for who looks at it from the front (-z)."""
    corners = [
        [x + w / 2, y, z - d / 2],
        [x - w / 2, y, z - d / 2],
        [x - w / 2, y, z + d / 2],
        [x + w / 2, y, z + d / 2],
    ]
    uv = floats([[0, 1], [1, 1], [1, 0], [0, 0]])
    return Part(floats(corners), np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int32), surface, uv)


def spun(part: Part, count: int, *, start: float = 0.0) -> list[Part]:
    """Copies of a part around the y axis."""
    return [part.turned(start + 2 * math.pi * k / count) for k in range(count)]


def noise(item: Item, n: int, m: int, salt: str = "") -> Floats:
    """(n, m) numbers from 0 to 1, the same each time."""
    return np.random.default_rng(roll(item, salt)).random((n, m)).astype(np.float32)
