"""What pictures are painted on and with, in code: a sheet, its strokes, and colours that agree."""

from __future__ import annotations

import colorsys
from collections.abc import Callable, Sequence
from functools import lru_cache
from random import Random

import numpy as np
from numpy.typing import NDArray

from navloom_worlds.geometry.solids import RGB, Picture

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
        cover: Mask = np.clip(0.5 - distance / self.soft, 0, 1)
        return cover

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


class Tones:
    """Colours that go together: most of one hue where a picture is said to be of one colour."""

    def __init__(self, tone: str, dice: Random) -> None:
        self.tone, self.dice = tone, dice
        self.hue = _HUES.get(tone, dice.random())

    def __call__(self, light: float, strong: float = 0.55, *, far: float = 0.0) -> RGB:
        """A colour of this lightness and strength; ``far`` moves it to another hue."""
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


Motif = Callable[[Canvas, Tones, Random], None]
"""Paints a whole sheet."""


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
    motif(canvas, Tones(tone, dice), dice)
    return canvas.picture(0.012, number)
