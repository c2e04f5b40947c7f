"""Pictures for walls and frames, painted in code: landscapes, portraits, abstracts, posters.

A picture is known by its motif, its tone and a number; the same three give the same object.
"""

from __future__ import annotations

import colorsys
import itertools
import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from random import Random

import numpy as np
from numpy.typing import NDArray

from navloom.scenes.geometry.solids import RGB, Picture

Mask = NDArray[np.float32]
_HUES = {"blue": 0.58, "green": 0.34, "red": 0.99, "brown": 0.07, "beige": 0.11}
_PIXELS = 88


class Canvas:
    """A sheet that colours are laid on; x runs from 0 to ``wide``, y from 0 (top) to 1.

    Args:
        wide: width by height.
        ground: the first colour.
        pixels: its height.
    """

    def __init__(self, wide: float, ground: RGB, pixels: int = _PIXELS) -> None:
        rows, columns = pixels, max(8, round(pixels * wide))
        self.wide = wide
        y, x = np.mgrid[0:rows, 0:columns].astype(np.float32)
        self.x, self.y = (x + 0.5) / rows, (y + 0.5) / rows
        self.soft = 1.2 / rows
        self.rgb = np.empty((rows, columns, 3), dtype=np.float32)
        self.rgb[:] = ground

    def lay(self, mask: Mask, colour: RGB) -> None:
        """Cover where ``mask`` is 1 with a colour."""
        self.rgb += mask[:, :, None] * (np.asarray(colour, dtype=np.float32) - self.rgb)

    def inside(self, distance: Mask) -> Mask:
        """1 where a distance is below 0, with a soft edge of a pixel."""
        return np.clip(0.5 - distance / self.soft, 0, 1)

    def oval(self, x: float, y: float, rx: float, ry: float, colour: RGB) -> None:
        """An oval around a point."""
        far = np.hypot((self.x - x) / rx, (self.y - y) / ry)
        self.lay(self.inside((far - 1) * min(rx, ry)), colour)

    def block(self, x0: float, y0: float, x1: float, y1: float, colour: RGB) -> None:
        """An upright oblong between two corners."""
        far = np.maximum(np.maximum(x0 - self.x, self.x - x1), np.maximum(y0 - self.y, self.y - y1))
        self.lay(self.inside(far), colour)

    def stroke(self, a: Sequence[float], b: Sequence[float], thick: float, colour: RGB) -> None:
        """A straight stroke with round ends."""
        (ax, ay), (bx, by) = a, b
        dx, dy = bx - ax, by - ay
        along = np.clip(
            ((self.x - ax) * dx + (self.y - ay) * dy) / max(dx * dx + dy * dy, 1e-9), 0, 1
        )
        far = np.hypot(self.x - ax - along * dx, self.y - ay - along * dy)
        self.lay(self.inside(far - thick / 2), colour)

    def below(self, line: Mask, colour: RGB) -> None:
        """All under a line y(x)."""
        self.lay(self.inside(line - self.y), colour)

    def sweep(self, top: RGB, foot: RGB, y0: float = 0.0, y1: float = 1.0) -> None:
        """A gradient between two heights."""
        t = np.clip((self.y - y0) / (y1 - y0), 0, 1)[:, :, None]
        shade = (1 - t) * np.asarray(top, dtype=np.float32) + t * np.asarray(foot)
        within = ((self.y >= y0) & (self.y <= y1))[:, :, None]
        self.rgb = np.where(within, shade, self.rgb).astype(np.float32)

    def picture(self, grain: float = 0.0, seed: int = 0) -> Picture:
        """What was painted, with so much grain."""
        if grain:
            rough = np.random.default_rng(seed).normal(0, grain, self.rgb.shape[:2])
            self.rgb += rough[:, :, None].astype(np.float32)
        return Picture((np.clip(self.rgb, 0, 1) * 255).astype(np.uint8))


class _Tones:
    """Colours that go together: most of one hue where a picture is said to be of one colour."""

    def __init__(self, tone: str, dice: Random) -> None:
        self.tone, self.dice = tone, dice
        self.hue = _HUES.get(tone, dice.random())

    def __call__(self, light: float, strong: float = 0.55, *, far: float = 0.0) -> RGB:
        if self.tone == "black and white":
            return (light, light, light)
        spread = 0.5 if self.tone in ("multicoloured", "") else 0.09
        hue = self.hue + (self.dice.random() - 0.5) * spread * 2 + far * spread
        weak = 0.45 if self.tone == "beige" else 0.8 if self.tone == "brown" else 1.0
        return colorsys.hsv_to_rgb(hue % 1, min(1.0, strong * weak), light)

    def real(self, rgb: RGB) -> RGB:
        """A colour as nature has it, drawn towards the picture's own."""
        grey = sum(rgb) / 3
        if self.tone == "black and white":
            return (grey, grey, grey)
        if self.tone not in _HUES:
            return rgb
        strong = {"beige": 0.25, "brown": 0.45}.get(self.tone, 0.5)
        own = colorsys.hsv_to_rgb(self.hue, strong, min(1.0, grey * 1.25 + 0.05))
        r, g, b = (0.45 * a + 0.55 * o for a, o in zip(rgb, own, strict=True))
        return (r, g, b)


def _ridge(c: Canvas, dice: Random, level: float, rough: float, waves: int = 4) -> Mask:
    line = np.full_like(c.x, level)
    for k in range(1, waves + 1):
        line += rough / k * np.sin(c.x * k * (2.3 + dice.random() * 3) + dice.random() * 7)
    return line


def _mountains(c: Canvas, t: _Tones, d: Random) -> None:
    c.sweep(t.real((0.55, 0.72, 0.90)), t.real((0.95, 0.88, 0.80)), 0, 0.6)
    c.oval(c.wide * d.uniform(0.2, 0.8), 0.22, 0.07, 0.07, t.real((1, 0.95, 0.75)))
    for k, level in enumerate((0.42, 0.55, 0.68, 0.84)):
        dark = 0.75 - 0.16 * k
        jag = np.abs(np.sin(c.x * (5 + k) + d.random() * 7)) * (0.16 - 0.03 * k)
        c.below(_ridge(c, d, level, 0.04) - jag, t.real((dark * 0.75, dark * 0.9, dark * 0.95)))


def _sea(c: Canvas, t: _Tones, d: Random) -> None:
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


def _sunset(c: Canvas, t: _Tones, d: Random) -> None:
    c.sweep(t.real((0.35, 0.20, 0.45)), t.real((0.98, 0.62, 0.25)), 0, 0.65)
    c.oval(c.wide / 2, 0.58, 0.14, 0.14, t.real((1, 0.86, 0.5)))
    c.below(_ridge(c, d, 0.66, 0.03), t.real((0.45, 0.22, 0.25)))
    c.below(_ridge(c, d, 0.80, 0.04), t.real((0.2, 0.12, 0.16)))


def _wood(c: Canvas, t: _Tones, d: Random) -> None:
    c.sweep(t.real((0.75, 0.85, 0.70)), t.real((0.35, 0.50, 0.28)))
    for depth in (0.6, 0.4, 0.18):
        for _ in range(7):
            x, thick = d.uniform(0, c.wide), 0.09 * (1 - depth)
            c.block(x, 0, x + thick, 0.95 - depth * 0.3, t.real((depth, depth * 0.85, depth * 0.6)))
    c.below(_ridge(c, d, 0.85, 0.03), t.real((0.22, 0.33, 0.16)))


def _night(c: Canvas, t: _Tones, d: Random) -> None:
    c.sweep(t.real((0.05, 0.08, 0.22)), t.real((0.20, 0.28, 0.50)))
    for _ in range(35):
        c.oval(d.uniform(0, c.wide), d.uniform(0, 0.6), 0.008, 0.008, t.real((1, 1, 0.85)))
    x = c.wide * d.uniform(0.25, 0.75)
    c.oval(x, 0.25, 0.12, 0.12, t.real((0.98, 0.96, 0.82)))
    c.oval(x + 0.05, 0.22, 0.1, 0.1, t.real((0.10, 0.14, 0.30)))
    c.below(_ridge(c, d, 0.78, 0.05), t.real((0.04, 0.06, 0.10)))


def _city(c: Canvas, t: _Tones, d: Random) -> None:
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


def _house(c: Canvas, t: _Tones, d: Random) -> None:
    c.sweep(t.real((0.6, 0.8, 0.95)), t.real((0.9, 0.95, 0.98)), 0, 0.7)
    c.below(_ridge(c, d, 0.62, 0.05), t.real((0.45, 0.65, 0.3)))
    x = c.wide * d.uniform(0.3, 0.55)
    c.block(x, 0.45, x + 0.3, 0.72, t.real((0.93, 0.9, 0.84)))
    for k in range(10):
        inset = 0.018 * k
        c.block(x - 0.04 + inset, 0.45 - 0.016 * k, x + 0.34 - inset, 0.47 - 0.016 * k, _BRICK)
    c.block(x + 0.12, 0.57, x + 0.19, 0.72, t.real((0.4, 0.25, 0.15)))
    c.block(x + 0.22, 0.52, x + 0.27, 0.58, t.real((0.35, 0.5, 0.65)))
    for _ in range(5):
        at = d.uniform(0, c.wide)
        c.block(at - 0.01, 0.66, at + 0.01, 0.78, t.real((0.35, 0.25, 0.15)))
        c.oval(at, 0.6, 0.06, 0.1, t.real((0.2, 0.42, 0.18)))


_BRICK = (0.66, 0.26, 0.2)


def _head(c: Canvas, t: _Tones, d: Random, x: float, size: float, low: float) -> None:
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


def _portrait(c: Canvas, t: _Tones, d: Random) -> None:
    c.sweep(t(0.55, 0.35), t(0.35, 0.4))
    _head(c, t, d, c.wide / 2, min(0.26, c.wide * 0.3), 0.38)


def _family(c: Canvas, t: _Tones, d: Random) -> None:
    c.sweep(t.real((0.75, 0.85, 0.9)), t.real((0.45, 0.6, 0.35)))
    for k in range(3 if c.wide > 1 else 2):
        count = 3 if c.wide > 1 else 2
        _head(c, t, d, c.wide * (k + 0.5) / count, min(0.17, c.wide * 0.16), d.uniform(0.38, 0.55))


def _flowers(c: Canvas, t: _Tones, d: Random) -> None:
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


def _fruit(c: Canvas, t: _Tones, d: Random) -> None:
    c.sweep(t(0.3, 0.4), t(0.5, 0.4))
    c.block(0, 0.68, c.wide, 1, t.real((0.5, 0.36, 0.22)))
    for _ in range(6):
        x, r = c.wide / 2 + d.uniform(-0.3, 0.3) * c.wide, d.uniform(0.08, 0.12)
        colour = t.real(d.choice([(0.8, 0.2, 0.15), (0.92, 0.6, 0.15), (0.5, 0.65, 0.2)]))
        y = 0.68 + d.uniform(-0.12, 0.06)
        c.oval(x, y, r, r, colour)
        c.oval(x - r * 0.3, y - r * 0.35, r * 0.25, r * 0.2, t.real((1, 0.95, 0.85)))


def _leaf(c: Canvas, t: _Tones, d: Random) -> None:
    c.sweep(t.real((0.96, 0.94, 0.88)), t.real((0.93, 0.91, 0.84)))
    x, green = c.wide / 2, t.real((0.22, 0.42, 0.25))
    c.stroke((x, 0.9), (x, 0.15), 0.014, green)
    for k in range(d.choice((5, 7))):
        y, reach = 0.82 - k * 0.095, 0.30 * c.wide * math.sin((k + 1.5) / 8.5 * math.pi)
        for side in (-1, 1):
            c.stroke((x, y), (x + side * reach, y - 0.12), 0.05, green)


def _fields(c: Canvas, t: _Tones, d: Random) -> None:
    c.sweep(t(0.6, 0.6), t(0.45, 0.6))
    edge = 0.08
    cut = d.uniform(0.35, 0.6)
    c.block(edge, edge, c.wide - edge, cut, t(d.uniform(0.6, 0.95), 0.75, far=0.5))
    c.block(edge, cut + 0.04, c.wide - edge, 1 - edge, t(d.uniform(0.2, 0.5), 0.7, far=-0.5))


def _grid(c: Canvas, t: _Tones, d: Random) -> None:
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


def _circles(c: Canvas, t: _Tones, d: Random) -> None:
    c.sweep(t(0.93, 0.12), t(0.9, 0.18))
    for _ in range(11):
        x, y, r = d.uniform(0, c.wide), d.uniform(0, 1), d.uniform(0.05, 0.24)
        c.oval(x, y, r, r, t(d.uniform(0.3, 0.95), 0.7))
        c.oval(x, y, r * 0.55, r * 0.55, t(d.uniform(0.3, 0.95), 0.7))


def _waves(c: Canvas, t: _Tones, d: Random) -> None:
    c.sweep(t(0.9, 0.3), t(0.9, 0.3))
    bend, phase = d.uniform(3, 7), d.random() * 6
    for k in range(9):
        line = k / 9 + 0.07 * np.sin(c.x * bend + phase + k * 0.5)
        c.below(line, t(0.35 + 0.6 * ((k * 5) % 9) / 9, 0.65))


def _strokes(c: Canvas, t: _Tones, d: Random) -> None:
    c.sweep(t(0.92, 0.1), t(0.86, 0.15))
    for _ in range(16):
        x, y = d.uniform(0, c.wide), d.uniform(0, 1)
        a, long = d.uniform(0, math.pi), d.uniform(0.2, 0.6)
        end = (x + long * math.cos(a), y + long * math.sin(a))
        c.stroke((x, y), end, d.uniform(0.02, 0.1), t(d.uniform(0.15, 0.95), 0.75))


def _facets(c: Canvas, t: _Tones, d: Random) -> None:
    points = [(d.uniform(0, c.wide), d.uniform(0, 1)) for _ in range(16)]
    far = np.stack([np.hypot(c.x - x, c.y - y) for x, y in points])
    nearest = far.argmin(axis=0)
    colours = np.array([t(d.uniform(0.35, 0.95), 0.55) for _ in points], dtype=np.float32)
    c.rgb = colours[nearest]


def _arches(c: Canvas, t: _Tones, d: Random) -> None:
    ground = t(0.95, 0.1)
    c.sweep(ground, ground)
    x, y = c.wide * d.uniform(0.35, 0.65), d.uniform(0.75, 1)
    for k in range(5):
        r = min(0.42, c.wide * 0.42) * (1 - k * 0.19) * 1.2
        c.oval(x, y, r, r, ground if k == 4 else t(0.9 - 0.15 * k, 0.6))
    c.oval(c.wide * d.uniform(0.2, 0.8), 0.2, 0.09, 0.09, t(0.75, 0.75))


def _dunes(c: Canvas, t: _Tones, d: Random) -> None:
    c.sweep(t.real((0.75, 0.86, 0.95)), t.real((0.98, 0.92, 0.82)), 0, 0.6)
    for k, level in enumerate((0.5, 0.62, 0.78)):
        c.below(_ridge(c, d, level, 0.07, 2), t.real((0.95 - 0.12 * k, 0.78 - 0.13 * k, 0.5)))


def _lighthouse(c: Canvas, t: _Tones, d: Random) -> None:
    _sea(c, t, d)
    x = c.wide * 0.75
    c.oval(x, 0.72, 0.2, 0.14, t.real((0.35, 0.33, 0.30)))
    for k in range(6):
        colour = (0.8, 0.15, 0.13) if k % 2 else (0.95, 0.95, 0.93)
        half = 0.065 - 0.005 * k
        c.block(x - half, 0.58 - 0.075 * k, x + half, 0.66 - 0.075 * k, t.real(colour))
    c.oval(x, 0.17, 0.035, 0.045, t.real((1, 0.9, 0.5)))


def _cat(c: Canvas, t: _Tones, d: Random) -> None:
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


def _poster(c: Canvas, t: _Tones, d: Random) -> None:
    c.sweep(t(0.9, 0.5), t(0.55, 0.65))
    radius = d.uniform(0.2, 0.3) * min(1, c.wide)
    c.oval(c.wide / 2, 0.42, radius, radius, t(0.95, 0.6, far=1))
    ink = t(0.12, 0.4)
    c.block(c.wide * 0.1, 0.75, c.wide * 0.9, 0.84, ink)
    c.block(c.wide * 0.2, 0.88, c.wide * 0.8, 0.91, ink)
    c.stroke((c.wide * 0.3, 0.6), (c.wide * 0.7, 0.25), 0.05, ink)


def _map(c: Canvas, t: _Tones, d: Random) -> None:
    c.sweep(t.real((0.70, 0.82, 0.88)), t.real((0.66, 0.80, 0.88)))
    rise = np.zeros_like(c.x)
    for k in range(1, 6):
        a, b = d.uniform(2, 4) * k, d.uniform(2, 4) * k
        rise += np.sin(c.x * a + d.random() * 7) * np.cos(c.y * b + d.random() * 7) / k
    c.lay(c.inside((0.25 - rise) * 0.1), t.real((0.82, 0.78, 0.58)))
    c.lay(c.inside((0.8 - rise) * 0.1), t.real((0.55, 0.65, 0.38)))
    for k in range(1, 6):
        c.block(0, k / 6, c.wide, k / 6 + 0.006, t.real((0.5, 0.55, 0.6)))


Motif = Callable[[Canvas, _Tones, Random], None]
MOTIFS: tuple[Motif, ...] = (
    *(_mountains, _sea, _sunset, _wood, _night, _city, _house, _portrait, _flowers, _fruit, _leaf),
    *(_fields, _grid, _circles, _waves, _strokes, _facets, _arches, _dunes, _lighthouse, _cat),
    *(_family, _poster, _map),
)
PHOTOS: tuple[Motif, ...] = (_portrait, _family, _family, _sea, _mountains, _cat, _house, _sunset)
POSTERS: tuple[Motif, ...] = (_poster, _city, _map, _arches, _portrait, _waves, _night, _cat)
PAINTINGS: tuple[Motif, ...] = MOTIFS[:19]


@lru_cache(maxsize=256)
def artwork(motif: Motif, tone: str, wide: float, number: int) -> Picture:
    """One picture.

    Args:
        motif: one of ``MOTIFS``.
        tone: the colour word that the thing has (``blue``, ``multicoloured``, ...); others are
            taken as ``multicoloured``.
        wide: width by height, in few steps, so that pictures are shared.
        number: which of the motif's variants.
    """
    dice = Random(f"{motif.__name__} {tone} {number}")
    canvas = Canvas(wide, (1, 1, 1))
    motif(canvas, _Tones(tone, dice), dice)
    return canvas.picture(0.012, number)
