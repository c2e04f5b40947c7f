"""Procedural images: wall art, prints on items, and the patterns of rugs."""

from __future__ import annotations

import colorsys
import itertools
import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from random import Random

import numpy as np

from navloom.scenes.scene import Item
from navloom_worlds.furniture.builder_tools import item_roll, pick
from navloom_worlds.geometry.arrays import F32
from navloom_worlds.geometry.solids import RGB, Surface, TextureImage
from navloom_worlds.geometry.textures import texture_pixels

Mask = F32
_HUES = {"blue": 0.58, "green": 0.34, "red": 0.99, "brown": 0.07, "beige": 0.11}
_PIXELS = 88


class ImageCanvas:
    """Image to be painted; x runs from 0 to ``wide``, y from 0 (top) to 1.

    Args:
        wide: width over height.
        ground: the background colour.
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

    def blend_in(self, mask: Mask, colour: RGB) -> None:
        """Blend in a colour with ``mask`` as its opacity."""
        self.rgb += mask[:, :, None] * (np.asarray(colour, dtype=np.float32) - self.rgb)

    def inside(self, distance: Mask) -> Mask:
        """Return a mask that is 1 at negative distances, with a soft edge of about a pixel."""
        cover: Mask = np.clip(0.5 - distance / self.soft, 0, 1)
        return cover

    def oval(self, x: float, y: float, rx: float, ry: float, colour: RGB) -> None:
        """Paint an ellipse around a point."""
        far = np.hypot((self.x - x) / rx, (self.y - y) / ry)
        self.blend_in(self.inside((far - 1) * min(rx, ry)), colour)

    def block(self, x0: float, y0: float, x1: float, y1: float, colour: RGB) -> None:
        """Paint an axis-aligned rectangle between two corners."""
        far = np.maximum(np.maximum(x0 - self.x, self.x - x1), np.maximum(y0 - self.y, self.y - y1))
        self.blend_in(self.inside(far), colour)

    def stroke(self, a: Sequence[float], b: Sequence[float], thick: float, colour: RGB) -> None:
        """Paint a straight stroke with round ends."""
        (ax, ay), (bx, by) = a, b
        dx, dy = bx - ax, by - ay
        t = np.clip(((self.x - ax) * dx + (self.y - ay) * dy) / max(dx * dx + dy * dy, 1e-9), 0, 1)
        far = np.hypot(self.x - ax - t * dx, self.y - ay - t * dy)
        self.blend_in(self.inside(far - thick / 2), colour)

    def below(self, line: Mask, colour: RGB) -> None:
        """Paint everything under a line y(x)."""
        self.blend_in(self.inside(line - self.y), colour)

    def sweep(self, top: RGB, foot: RGB, y0: float = 0.0, y1: float = 1.0) -> None:
        """Paint a vertical gradient between two heights."""
        t = np.clip((self.y - y0) / (y1 - y0), 0, 1)[:, :, None]
        shade = (1 - t) * np.asarray(top, dtype=np.float32) + t * np.asarray(foot)
        within = ((self.y >= y0) & (self.y <= y1))[:, :, None]
        self.rgb = np.where(within, shade, self.rgb).astype(np.float32)

    def picture(self, grain: float = 0.0, seed: int = 0) -> TextureImage:
        """Return the painted image, with some grain."""
        if grain:
            rough = np.random.default_rng(seed).normal(0, grain, self.rgb.shape[:2])
            self.rgb += rough[:, :, None].astype(np.float32)
        return TextureImage((np.clip(self.rgb, 0, 1) * 255).astype(np.uint8))


class ColourScheme:
    """Harmonious colours for one image: mostly of one hue if the image has a colour word."""

    def __init__(self, tone: str, dice: Random) -> None:
        self.tone, self.dice = tone, dice
        self.hue = _HUES.get(tone, dice.random())

    def __call__(self, light: float, strong: float = 0.55, *, far: float = 0.0) -> RGB:
        """Return a colour of this lightness and saturation; ``far`` shifts its hue."""
        if self.tone == "black and white":
            return (light, light, light)
        spread = 0.5 if self.tone in ("multicoloured", "") else 0.09
        hue = self.hue + (self.dice.random() - 0.5) * spread * 2 + far * spread
        weak = 0.45 if self.tone == "beige" else 0.8 if self.tone == "brown" else 1.0
        return colorsys.hsv_to_rgb(hue % 1, min(1.0, strong * weak), light)

    def real(self, rgb: RGB) -> RGB:
        """Return a natural colour, blended towards the image's own hue."""
        grey = sum(rgb) / 3
        if self.tone == "black and white":
            return (grey, grey, grey)
        if self.tone not in _HUES:
            return rgb
        strong = {"beige": 0.25, "brown": 0.45}.get(self.tone, 0.5)
        own = colorsys.hsv_to_rgb(self.hue, strong, min(1.0, grey * 1.25 + 0.05))
        r, g, b = (0.45 * a + 0.55 * o for a, o in zip(rgb, own, strict=True))
        return (r, g, b)


Motif = Callable[[ImageCanvas, ColourScheme, Random], None]
"""A motif: a function that paints a whole canvas."""


@lru_cache(maxsize=256)
def artwork(motif: Motif, tone: str, wide: float, number: int) -> TextureImage:
    """Return one procedural image (cached).

    Args:
        motif: one of ``MOTIFS``.
        tone: the item's colour word (``blue``, ``multicoloured``, ...); others count as
            ``multicoloured``.
        wide: width over height, in few steps, so that images are shared.
        number: the variant of the motif.
    """
    dice = Random(f"{motif.__name__} {tone} {number}")
    canvas = ImageCanvas(wide, (1, 1, 1))
    motif(canvas, ColourScheme(tone, dice), dice)
    return canvas.picture(0.012, number)


def _rows(c: ImageCanvas, t: ColourScheme, text: str, x: float = 0.0) -> None:
    """Paint rows of text: kind, numbers, and colours as six hex digits.

    ``g`` a gradient (``y0 y1 top foot``), ``b`` a block (``x0 y0 x1 y1``), ``o`` an oval (``x y rx
    ry``), ``s`` a stroke (``x0 y0 x1 y1 thick``). The x of a row is a share of the width; with an
    argument ``x`` it is an offset from there in units of the height.
    """
    for each in text.split("|"):
        kind, *words = each.split()
        n = [float(word) for word in words if len(word) != 6]
        tones = [t.real(_hex(word)) for word in words if len(word) == 6]
        wide = 1.0 if x else c.wide
        if kind == "g":
            c.sweep(tones[0], tones[-1], *n)
        elif kind == "b":
            c.block(x + n[0] * wide, n[1], x + n[2] * wide, n[3], tones[0])
        elif kind == "o":
            c.oval(x + n[0] * wide, n[1], n[2] * wide, n[3], tones[0])
        else:
            c.stroke((x + n[0] * wide, n[1]), (x + n[2] * wide, n[3]), n[4], tones[0])


def _hex(word: str) -> RGB:
    r, g, b = (int(word[k : k + 2], 16) / 255 for k in (0, 2, 4))
    return (r, g, b)


def _ridge(c: ImageCanvas, dice: Random, level: float, rough: float) -> Mask:
    line: Mask = np.full_like(c.x, level)
    for k in range(1, 5):
        line += rough / k * np.sin(c.x * k * (2.3 + dice.random() * 3) + dice.random() * 7)
    return line


def _mountains(c: ImageCanvas, t: ColourScheme, d: Random) -> None:
    c.sweep(t.real((0.55, 0.72, 0.90)), t.real((0.95, 0.88, 0.80)), 0, 0.6)
    c.oval(c.wide * d.uniform(0.2, 0.8), 0.22, 0.07, 0.07, t.real((1, 0.95, 0.75)))
    for k, level in enumerate((0.42, 0.55, 0.68, 0.84)):
        dark = 0.75 - 0.16 * k
        jag = np.abs(np.sin(c.x * (5 + k) + d.random() * 7)) * (0.16 - 0.03 * k)
        c.below(_ridge(c, d, level, 0.04) - jag, t.real((dark * 0.75, dark * 0.9, dark * 0.95)))


def _sea(c: ImageCanvas, t: ColourScheme, d: Random) -> None:
    _rows(c, t, "g 0 .52 73adeb e6edf2|g .5 1 1f669e 4d9eb3")
    for _ in range(14):
        y, x = d.uniform(0.54, 0.85), d.uniform(0, c.wide)
        c.stroke((x, y), (x + 0.12, y), 0.008, t.real((0.85, 0.92, 0.95)))
    c.below(0.9 + 0.05 * np.sin(c.x * 3 + d.random() * 6), t.real((0.88, 0.78, 0.58)))
    x = c.wide * d.uniform(0.25, 0.75)
    for k in range(10):
        c.block(x, 0.25 + 0.028 * k, x + 0.013 * k, 0.28 + 0.028 * k, (0.97, 0.96, 0.92))
    c.block(x - 0.1, 0.54, x + 0.14, 0.58, t.real((0.5, 0.2, 0.15)))


def _sunset(c: ImageCanvas, t: ColourScheme, d: Random) -> None:
    _rows(c, t, "g 0 .8 593373 fa9e40")
    c.oval(c.wide / 2, 0.58, 0.14, 0.14, t.real((1, 0.86, 0.5)))
    c.below(_ridge(c, d, 0.66, 0.03), t.real((0.45, 0.22, 0.25)))
    c.below(_ridge(c, d, 0.80, 0.04), t.real((0.2, 0.12, 0.16)))


def _city(c: ImageCanvas, t: ColourScheme, d: Random) -> None:
    night = d.random() < 0.4
    c.sweep(t(0.2 if night else 0.95, 0.4), t(0.35 if night else 0.8, 0.5))
    x = 0.0
    while x < c.wide:
        w, high, dark = d.uniform(0.08, 0.17), d.uniform(0.2, 0.65), d.uniform(0.1, 0.4)
        c.block(x, high, x + w, 1, t(dark, 0.4))
        for k in range(2 * int((1 - high) / 0.08)):
            if d.random() < 0.6:
                at, y = x + w * (0.2 + 0.4 * (k % 2)), high + 0.04 + k // 2 * 0.08
                c.block(at, y, at + w * 0.2, y + 0.035, t.real((1, 0.9, 0.55)))
        x += w + 0.01


def _house(c: ImageCanvas, t: ColourScheme, d: Random) -> None:
    _rows(c, t, "g 0 .7 99ccf2 e6f2fa")
    c.below(_ridge(c, d, 0.62, 0.05), t.real((0.45, 0.65, 0.3)))
    x, roof = c.wide * d.uniform(0.3, 0.55), t.real((0.66, 0.26, 0.2))
    _rows(c, t, "b 0 .45 .3 .72 ede6d6|b .12 .57 .19 .72 664026|b .22 .52 .27 .58 5980a6", x)
    for k in range(10):
        inset = 0.018 * k
        c.block(x - 0.04 + inset, 0.45 - 0.016 * k, x + 0.34 - inset, 0.47 - 0.016 * k, roof)
    for _ in range(5):
        _rows(c, t, "b -.01 .66 .01 .78 594026|o 0 .6 .06 .1 336b2e", d.uniform(0.01, c.wide))


def _head(c: ImageCanvas, t: ColourScheme, d: Random, x: float, size: float, low: float) -> None:
    face = t.real(d.choice([(0.94, 0.78, 0.66), (0.80, 0.58, 0.44), (0.48, 0.32, 0.24)]))
    hair = t.real(d.choice([(0.15, 0.10, 0.08), (0.45, 0.28, 0.14), (0.8, 0.65, 0.35), (0.6,) * 3]))
    if d.random() < 0.5:
        c.oval(x, low - size * 0.1, size * 0.95, size * 1.35, hair)
    c.oval(x, low + size * 2.2, size * 1.6, size * 1.5, t(d.uniform(0.25, 0.8), 0.6))
    c.block(x - size * 0.25, low + size * 0.5, x + size * 0.25, low + size * 1.1, face)
    c.oval(x, low - size * 0.15, size * 0.78, size * 1.05, hair)
    c.oval(x, low + size * 0.08, size * 0.66, size * 0.88, face)
    for side in (-1, 1):
        c.oval(x + side * size * 0.26, low, size * 0.09, size * 0.06, (0.12, 0.1, 0.1))
    y = low + size * 0.52
    c.stroke((x - size * 0.2, y), (x + size * 0.2, y), 0.02, t.real((0.75, 0.3, 0.28)))


def _portrait(c: ImageCanvas, t: ColourScheme, d: Random) -> None:
    c.sweep(t(0.55, 0.35), t(0.35, 0.4))
    _head(c, t, d, c.wide / 2, min(0.26, c.wide * 0.3), 0.38)


def _family(c: ImageCanvas, t: ColourScheme, d: Random) -> None:
    _rows(c, t, "g 0 1 bfd9e6 739959")
    count = 3 if c.wide > 1 else 2
    for k in range(count):
        _head(c, t, d, c.wide * (k + 0.5) / count, min(0.17, c.wide * 0.16), d.uniform(0.38, 0.55))


def _flowers(c: ImageCanvas, t: ColourScheme, d: Random) -> None:
    c.sweep(t(0.88, 0.18), t(0.7, 0.3))
    c.block(0, 0.8, c.wide, 1, t(0.45, 0.4))
    x = c.wide / 2
    for _ in range(9):
        at = (x + d.uniform(-0.28, 0.28) * c.wide, d.uniform(0.14, 0.48))
        c.stroke((x, 0.65), at, 0.012, t.real((0.2, 0.4, 0.18)))
        colour = t(d.uniform(0.75, 0.98), 0.7)
        for a in np.linspace(0, 2 * math.pi, 6)[:5] + d.random():
            c.oval(at[0] + 0.045 * math.cos(a), at[1] + 0.045 * math.sin(a), 0.04, 0.04, colour)
        c.oval(*at, 0.025, 0.025, t.real((0.95, 0.8, 0.25)))
    c.oval(x, 0.74, 0.13, 0.15, t(0.4, 0.6))
    c.block(x - 0.06, 0.58, x + 0.06, 0.7, t(0.4, 0.6))


def _fruit(c: ImageCanvas, t: ColourScheme, d: Random) -> None:
    c.sweep(t(0.3, 0.4), t(0.5, 0.4))
    c.block(0, 0.68, c.wide, 1, t.real((0.5, 0.36, 0.22)))
    for _ in range(6):
        x, r = c.wide / 2 + d.uniform(-0.3, 0.3) * c.wide, d.uniform(0.08, 0.12)
        colour = t.real(d.choice([(0.8, 0.2, 0.15), (0.92, 0.6, 0.15), (0.5, 0.65, 0.2)]))
        y = 0.68 + d.uniform(-0.12, 0.06)
        c.oval(x, y, r, r, colour)
        c.oval(x - r * 0.3, y - r * 0.35, r * 0.25, r * 0.2, t.real((1, 0.95, 0.85)))


def _fields(c: ImageCanvas, t: ColourScheme, d: Random) -> None:
    c.sweep(t(0.6, 0.6), t(0.45, 0.6))
    half = d.uniform(0.35, 0.6)
    c.block(0.08, 0.08, c.wide - 0.08, half, t(d.uniform(0.6, 0.95), 0.75, far=0.5))
    c.block(0.08, half + 0.04, c.wide - 0.08, 0.92, t(d.uniform(0.2, 0.5), 0.7, far=-0.5))


def _grid(c: ImageCanvas, t: ColourScheme, d: Random) -> None:
    c.sweep((0.95, 0.94, 0.9), (0.95, 0.94, 0.9))
    xs, ys = (sorted([0.0, e, *(d.uniform(0.1, 0.9) * e for _ in "abc")]) for e in (c.wide, 1.0))
    for (a, b), (e, f) in itertools.product(itertools.pairwise(xs), itertools.pairwise(ys)):
        if d.random() < 0.45:
            c.block(a, e, b, f, t(d.uniform(0.5, 0.95), 0.85))
    for x, y in zip(xs, ys, strict=True):
        c.block(x - 0.014, 0, x + 0.014, 1, (0.06, 0.06, 0.06))
        c.block(0, y - 0.014, c.wide, y + 0.014, (0.06, 0.06, 0.06))


def _circles(c: ImageCanvas, t: ColourScheme, d: Random) -> None:
    c.sweep(t(0.93, 0.12), t(0.9, 0.18))
    for _ in range(11):
        x, y, r = d.uniform(0, c.wide), d.uniform(0, 1), d.uniform(0.05, 0.24)
        c.oval(x, y, r, r, t(d.uniform(0.3, 0.95), 0.7))
        c.oval(x, y, r * 0.55, r * 0.55, t(d.uniform(0.3, 0.95), 0.7))


def _waves(c: ImageCanvas, t: ColourScheme, d: Random) -> None:
    c.sweep(t(0.9, 0.3), t(0.9, 0.3))
    bend, phase = d.uniform(3, 7), d.random() * 6
    for k in range(9):
        line = k / 9 + 0.07 * np.sin(c.x * bend + phase + k * 0.5)
        c.below(line, t(0.35 + 0.6 * ((k * 5) % 9) / 9, 0.65))


def _arches(c: ImageCanvas, t: ColourScheme, d: Random) -> None:
    ground = t(0.95, 0.1)
    c.sweep(ground, ground)
    x, y = c.wide * d.uniform(0.35, 0.65), d.uniform(0.75, 1)
    for k in range(5):
        r = min(0.42, c.wide * 0.42) * (1 - k * 0.19) * 1.2
        c.oval(x, y, r, r, ground if k == 4 else t(0.9 - 0.15 * k, 0.6))
    c.oval(c.wide * d.uniform(0.2, 0.8), 0.2, 0.09, 0.09, t(0.75, 0.75))


def _cat(c: ImageCanvas, t: ColourScheme, d: Random) -> None:
    c.sweep(t(0.92, 0.3), t(0.8, 0.4))
    f = d.choice(["262426", "bf8040", "99999e"])
    ears = f"s -.1 .38 -.13 .24 .08 {f}|s .1 .38 .13 .24 .08 {f}|o 0 .42 .17 .15 {f}"
    eyes = "|".join(f"o {x} .4 .03 .035 d9d94d|o {x} .4 .01 .03 0d0d0d" for x in (-0.07, 0.07))
    body = f"o 0 .78 .2 .3 {f}|s .15 .9 .3 .6 .06 {f}"
    _rows(c, t, f"{body}|{ears}|{eyes}|o 0 .47 .02 .015 d98080", c.wide / 2)


def _poster(c: ImageCanvas, t: ColourScheme, d: Random) -> None:
    c.sweep(t(0.9, 0.5), t(0.55, 0.65))
    radius, ink = d.uniform(0.2, 0.3) * min(1, c.wide), t(0.12, 0.4)
    c.oval(c.wide / 2, 0.42, radius, radius, t(0.95, 0.6, far=1))
    c.block(c.wide * 0.1, 0.75, c.wide * 0.9, 0.84, ink)
    c.block(c.wide * 0.2, 0.88, c.wide * 0.8, 0.91, ink)
    c.stroke((c.wide * 0.3, 0.6), (c.wide * 0.7, 0.25), 0.05, ink)


def _map(c: ImageCanvas, t: ColourScheme, d: Random) -> None:
    _rows(c, t, "g 0 1 b3d1e0 a8cce0")
    rise = np.zeros_like(c.x)
    for k in range(1, 6):
        a, b = d.uniform(2, 4) * k, d.uniform(2, 4) * k
        rise += np.sin(c.x * a + d.random() * 7) * np.cos(c.y * b + d.random() * 7) / k
    c.blend_in(c.inside((0.25 - rise) * 0.1), t.real((0.82, 0.78, 0.58)))
    c.blend_in(c.inside((0.8 - rise) * 0.1), t.real((0.55, 0.65, 0.38)))


PHOTOS: tuple[Motif, ...] = (_portrait, _family, _family, _sea, _mountains, _cat, _house, _sunset)
POSTERS: tuple[Motif, ...] = (_poster, _city, _map, _arches, _portrait, _waves, _cat)
PAINTINGS: tuple[Motif, ...] = (
    *(_mountains, _sea, _sunset, _city, _house, _portrait, _flowers, _fruit),
    *(_fields, _grid, _circles, _waves, _arches),
)
MOTIFS: tuple[Motif, ...] = (*PAINTINGS, _cat, _family, _poster, _map)


def _dial(c: ImageCanvas, _t: ColourScheme, d: Random) -> None:
    dark = d.random() < 0.25
    ink = (0.92, 0.92, 0.9) if dark else (0.08, 0.08, 0.09)
    ground = (0.12, 0.12, 0.14) if dark else (0.95, 0.94, 0.90)
    c.sweep(ground, ground)
    hours = [(k / 12, 0.36 if k % 3 else 0.32, 0.44, 0.025) for k in range(12)]
    for turn, near, far, thick in (
        *hours,
        (d.random(), 0, 0.22, 0.045),
        (d.random(), 0, 0.34, 0.03),
    ):
        x, y = math.sin(turn * 2 * math.pi), math.cos(turn * 2 * math.pi)
        c.stroke((0.5 + x * near, 0.5 - y * near), (0.5 + x * far, 0.5 - y * far), thick, ink)


def _dartboard(c: ImageCanvas, _t: ColourScheme, _d: Random) -> None:
    angle = np.arctan2(c.y - 0.5, c.x - 0.5) / (2 * math.pi) * 20
    far = np.hypot(c.x - 0.5, c.y - 0.5) * 2
    odd = (np.floor(angle + 0.5) % 2 == 0).astype(np.float32)
    red, green, black = (0.75, 0.12, 0.12), (0.10, 0.45, 0.22), (0.08, 0.08, 0.08)
    c.sweep(black, black)
    for near, wide, dark, light in (
        (0.0, 0.78, black, (0.90, 0.85, 0.70)),
        *((near, near + 0.06, red, green) for near in (0.72, 0.42)),
    ):
        band = ((far >= near) & (far < wide)).astype(np.float32)
        c.blend_in(band * odd, dark)
        c.blend_in(band * (1 - odd), light)
    c.oval(0.5, 0.5, 0.05, 0.05, green)
    c.oval(0.5, 0.5, 0.022, 0.022, red)


def _world(c: ImageCanvas, t: ColourScheme, _d: Random) -> None:
    lands = (
        ".16 .26 .10 .13|.22 .40 .04 .08|.29 .62 .05 .17|.50 .25 .06 .09|.53 .50 .07 .18|"
        ".66 .26 .16 .12|.72 .42 .04 .08|.86 .68 .06 .08|.80 .30 .08 .12"
    )
    ground = "|".join(f"o {land} 809e52" for land in lands.split("|"))
    _rows(c, t, f"g 0 1 4d8ccc 3873b8|{ground}|b 0 0 1 .06 f2f5f7|b 0 .93 1 1 f2f5f7")


def _calendar(c: ImageCanvas, t: ColourScheme, d: Random) -> None:
    _mountains(c, t, d)
    _rows(c, t, "b 0 .5 1 1 f5f5f0|b .3 .53 .7 .56 b32626")
    for row, column in itertools.product(range(5), range(7)):
        x, y = c.wide * (0.1 + column * 0.12), 0.61 + row * 0.075
        ink = (0.75, 0.2, 0.2) if column == 6 else (0.25, 0.25, 0.28)
        c.block(x, y, x + c.wide * 0.07, y + 0.035, ink)


def _flag(c: ImageCanvas, t: ColourScheme, d: Random) -> None:
    first, last, white = t(0.75, 0.8), t(0.55, 0.85, far=1), (0.95, 0.95, 0.95)
    c.sweep(first, first)
    for x0, y0, x1, y1, colour in d.choice(
        (
            ((0, 1 / 3, 1, 2 / 3, white), (0, 2 / 3, 1, 1, last)),
            ((1 / 3, 0, 2 / 3, 1, white), (2 / 3, 0, 1, 1, last)),
            ((0.28, 0, 0.42, 1, white), (0, 0.42, 1, 0.58, white)),
        )
    ):
        c.block(x0 * c.wide, y0, x1 * c.wide, y1, colour)


def _text(c: ImageCanvas, t: ColourScheme, d: Random) -> None:
    _rows(c, t, "g 0 1 f7f5ed f7f5ed|b .12 .07 .6 .11 26262e")
    for k in range(21):
        end = d.uniform(0.6, 0.88) if d.random() < 0.25 else 0.88
        y = 0.16 + 0.036 * k
        c.block(c.wide * 0.12, y, c.wide * end, y + 0.012, (0.45, 0.45, 0.48))


def _newspaper(c: ImageCanvas, t: ColourScheme, _d: Random) -> None:
    _rows(c, t, "g 0 1 e6e3d9 e6e3d9|b .08 .05 .92 .13 1f1f24|b .06 .16 .94 .165 333333")
    _rows(c, t, "b .07 .2 .6 .5 737375|b .07 .38 .6 .5 4d4d4f")
    for column, low in ((0, 0.54), (1, 0.54), (2, 0.2)):
        for y in np.arange(low, 0.95, 0.032).tolist():
            x = c.wide * (0.07 + 0.3 * column)
            c.block(x, y, x + c.wide * 0.25, y + 0.013, (0.5, 0.5, 0.51))


def _music(c: ImageCanvas, t: ColourScheme, d: Random) -> None:
    _rows(c, t, "g 0 1 f7f5eb f7f5eb")
    for stave in range(6):
        y = 0.1 + 0.15 * stave
        for line in range(5):
            at = y + line * 0.014
            c.block(c.wide * 0.08, at, c.wide * 0.92, at + 0.004, (0.3, 0.3, 0.3))
        for _ in range(9):
            x, dot = d.uniform(0.12, 0.9) * c.wide, y + d.uniform(0, 0.056)
            c.oval(x, dot, 0.013, 0.01, (0.05, 0.05, 0.05))
            c.block(x + 0.008, dot - 0.05, x + 0.013, dot, (0.05, 0.05, 0.05))


def _desktop(c: ImageCanvas, t: ColourScheme, d: Random) -> None:
    _rows(c, t, "g 0 1 264d9e 73a8e0|b 0 .93 1 1 1f242e|b .2 .12 .85 .85 f7f7f7")
    _rows(c, t, "b .2 .12 .85 .18 bfc7d1")
    for k in range(12):
        end = d.uniform(0.45, 0.8)
        c.block(c.wide * 0.25, 0.23 + k * 0.05, c.wide * end, 0.25 + k * 0.05, (0.5, 0.52, 0.56))
    for k in range(4):
        c.block(c.wide * 0.05, 0.1 + k * 0.17, c.wide * 0.12, 0.2 + k * 0.17, t(0.85, 0.7))


def _film(c: ImageCanvas, t: ColourScheme, _d: Random) -> None:
    _rows(c, t, "g 0 1 5999f2 d9d9cc")
    c.oval(c.wide * 0.72, 0.25, 0.11, 0.11, (1.0, 0.95, 0.6))
    c.below(0.6 + 0.1 * np.sin(c.x * 5) + 0.05 * np.sin(c.x * 13), (0.2, 0.5, 0.25))
    c.below(0.82 + 0.04 * np.sin(c.x * 3 + 1), (0.45, 0.7, 0.3))


def _cover(c: ImageCanvas, t: ColourScheme, d: Random) -> None:
    ground, ink = t(d.uniform(0.45, 0.85), 0.7), (0.96, 0.95, 0.9)
    c.sweep(ground, ground)
    c.oval(c.wide / 2, 0.58, c.wide * 0.3, 0.22, t(0.9, 0.5, far=1))
    c.block(c.wide * 0.12, 0.1, c.wide * 0.88, 0.2, ink)
    c.block(c.wide * 0.25, 0.25, c.wide * 0.75, 0.29, ink)
    c.block(c.wide * 0.3, 0.88, c.wide * 0.7, 0.91, (0.1, 0.1, 0.1))


PRINTS: dict[str, Motif] = {
    motif.__name__.removeprefix("_"): motif
    for motif in (
        *(_dial, _dartboard, _calendar, _flag, _text, _newspaper, _music, _world, _desktop),
        *(_cover, _film),
    )
}
"""Motifs of the prints on items, by name."""
_WIDTHS = (0.6, 0.75, 1.0, 1.33, 1.6)
"""Width over height: images are painted only in these, so that items share them."""
_VARIANTS = 3


def item_artwork(item: Item, made: Sequence[Motif], w: float, h: float, tone: str = "") -> Surface:
    """Return an item's artwork as a surface, of about the given width over height."""
    wide = min(_WIDTHS, key=lambda each: abs(math.log(each * h / max(w, 1e-6))))
    tone, number = tone or item.colour or "", item_roll(item, "n", _VARIANTS)
    return Surface((1.0, 1.0, 1.0), artwork(pick(item, made, "motif"), tone, wide, number))


def item_print(item: Item, name: str, wide: float = 1.0) -> Surface:
    """Return an item's print as a surface: one of ``PRINTS``, a cover in the item's colour."""
    tone = item.colour or pick(item, ("blue", "red", "green", "brown", ""), "tone")
    tone = tone if name == "cover" else "multicoloured"
    printed = artwork(PRINTS[name], tone, wide, item_roll(item, "n", _VARIANTS))
    return Surface((1.0, 1.0, 1.0), printed, glow=0.9 if name in ("desktop", "film") else 0.0)


_RUGS = 4


def rug_weave(rgb: RGB, pattern: str, wide: float, number: int) -> TextureImage:
    """Return the image of a rug's upper side.

    Args:
        rgb: its main colour.
        pattern: a texture that replaces the woven pattern (stripes, checks), or none.
        wide: width over depth.
        number: the variant of the pattern; equal numbers return the same object.
    """
    patterned = pattern if pattern in ("stripes", "checks", "floral") else ""
    return _woven(rgb, patterned, wide, number % (4 * _RUGS))


@lru_cache(maxsize=128)
def _woven(rgb: RGB, pattern: str, wide: float, number: int) -> TextureImage:
    dice = Random(f"{rgb} {number}")
    c = ImageCanvas(wide, rgb, 96)
    hue, strong, light = colorsys.rgb_to_hsv(*rgb)
    dark = colorsys.hsv_to_rgb(hue, min(1, strong + 0.1), light * 0.55)
    pale = colorsys.hsv_to_rgb(hue, strong * 0.45, min(1.0, light * 0.6 + 0.42))
    other = colorsys.hsv_to_rgb((hue + dice.uniform(0.3, 0.6)) % 1, max(0.3, strong), 0.6)
    rows, columns, _ = c.rgb.shape
    if pattern:
        tile = texture_pixels(pattern).astype(np.float32) / 255
        v, u = np.arange(rows) * 3 % tile.shape[0], np.arange(columns) * 3 % tile.shape[1]
        c.rgb = (tile[v][:, u] * np.asarray(rgb, dtype=np.float32)).astype(np.float32)
    else:
        (_persian, _bands, _border, _diamonds)[number % _RUGS](c, dice, (rgb, dark, pale, other))
    ribs = 0.04 * (np.arange(rows) % 2)[:, None, None]
    c.rgb = (c.rgb * (0.97 + ribs)).astype(np.float32)
    return c.picture(0.02, number)


def _insets(c: ImageCanvas, *rims: tuple[float, RGB]) -> None:
    for by, colour in rims:
        c.block(by, by, c.wide - by, 1 - by, colour)


def _diamond(c: ImageCanvas, x: float, y: float, w: float, h: float, colour: RGB) -> None:
    far = (np.abs(c.x - x) / w + np.abs(c.y - y) / h - 1) * min(w, h)
    c.blend_in(c.inside(far.astype(np.float32)), colour)


def _persian(c: ImageCanvas, d: Random, tones: Sequence[RGB]) -> None:
    rgb, dark, pale, other = tones
    _insets(c, (0, dark), (0.03, pale), (0.05, other), (0.14, dark), (0.16, rgb))
    dots = [(float(x), y) for x in np.arange(0.1, c.wide, 0.11) for y in (0.095, 0.905)]
    dots += [(x, float(y)) for y in np.arange(0.2, 0.9, 0.1) for x in (0.095, c.wide - 0.095)]
    for _ in range(26):
        x, y = d.uniform(0.2, c.wide - 0.2), d.uniform(0.2, 0.8)
        dots += [(x, y), (c.wide - x, y)]
    for x, y in dots:
        c.oval(x, y, 0.018, 0.018, pale)
    for k, colour in enumerate((dark, pale, other, dark)):
        size = 0.26 - 0.065 * k
        _diamond(c, c.wide / 2, 0.5, size * c.wide * 0.8, size, colour)


def _bands(c: ImageCanvas, d: Random, tones: Sequence[RGB]) -> None:
    x = 0.0
    while x < c.wide:
        w = d.uniform(0.04, 0.14)
        c.block(x, 0, x + w, 1, d.choice((tones[0], *tones)))
        x += w


def _border(c: ImageCanvas, d: Random, tones: Sequence[RGB]) -> None:
    rgb, dark, pale, other = tones
    rims = (d.choice((dark, pale, other)), rgb, d.choice((dark, pale)), rgb)
    _insets(c, *zip((0, 0.08, 0.11, 0.125), rims, strict=True))


def _diamonds(c: ImageCanvas, _d: Random, tones: Sequence[RGB]) -> None:
    rgb, dark, pale, other = tones
    _insets(c, (0, dark), (0.06, rgb))
    for row, x in itertools.product(range(3), np.linspace(0.2, c.wide - 0.2, round(4 * c.wide))):
        _diamond(c, float(x), 0.22 + 0.28 * row, 0.11, 0.13, other if row % 2 else pale)
        _diamond(c, float(x), 0.22 + 0.28 * row, 0.05, 0.06, dark)
