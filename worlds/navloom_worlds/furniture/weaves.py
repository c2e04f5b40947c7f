"""Patterns of rugs, woven in code around the colour that a rug has."""

from __future__ import annotations

import colorsys
from functools import lru_cache
from random import Random

import numpy as np

from navloom_worlds.furniture.easel import Canvas
from navloom_worlds.geometry.solids import RGB, Picture
from navloom_worlds.geometry.textures import texture

_KINDS = 6
_VARIANTS = 4


def weave(rgb: RGB, pattern: str, wide: float, number: int) -> Picture:
    """The upper side of a rug.

    Args:
        rgb: its main colour.
        pattern: a texture that shows instead of a woven pattern (stripes, checks), or none.
        wide: width by depth.
        number: which of the patterns; the same gives the same object.
    """
    patterned = pattern if pattern in ("stripes", "checks", "floral", "striped", "checked") else ""
    return _woven(rgb, patterned, wide, number % (_KINDS * _VARIANTS))


@lru_cache(maxsize=128)
def _woven(rgb: RGB, pattern: str, wide: float, number: int) -> Picture:
    dice = Random(f"{rgb} {number}")
    c = Canvas(wide, rgb, 96)
    hue, strong, light = colorsys.rgb_to_hsv(*rgb)
    dark = colorsys.hsv_to_rgb(hue, min(1, strong + 0.1), light * 0.55)
    pale = colorsys.hsv_to_rgb(hue, strong * 0.45, min(1.0, light * 0.6 + 0.42))
    other = colorsys.hsv_to_rgb((hue + dice.uniform(0.3, 0.6)) % 1, max(0.3, strong), 0.6)
    if pattern:
        _tiled(c, rgb, pattern)
    else:
        kind = number % _KINDS
        (_persian, _bands, _lattice, _plain_border, _diamonds, _rings)[kind](
            c, dice, rgb, dark, pale, other
        )
    ribs = 0.04 * (np.arange(c.rgb.shape[0]) % 2)[:, None, None]
    c.rgb = (c.rgb * (0.97 + ribs)).astype(np.float32)
    return c.picture(0.02, number)


def _tiled(c: Canvas, rgb: RGB, pattern: str) -> None:
    tile = texture(pattern).astype(np.float32) / 255
    rows, columns, _ = c.rgb.shape
    v = np.arange(rows) * 3 % tile.shape[0]
    u = np.arange(columns) * 3 % tile.shape[1]
    c.rgb = (tile[v][:, u] * np.asarray(rgb, dtype=np.float32)).astype(np.float32)


def _edge(c: Canvas, width: float, colour: RGB, inner: RGB) -> None:
    c.block(0, 0, c.wide, 1, colour)
    c.block(width, width, c.wide - width, 1 - width, inner)


def _persian(c: Canvas, d: Random, rgb: RGB, dark: RGB, pale: RGB, other: RGB) -> None:
    _edge(c, 0.03, dark, pale)
    _inset(c, 0.05, other)
    _inset(c, 0.14, dark)
    _inset(c, 0.16, rgb)
    for x in np.linspace(0.095, c.wide - 0.095, round(9 * c.wide)):
        for y in (0.095, 0.905):
            c.oval(float(x), y, 0.02, 0.03, pale)
    for y in np.linspace(0.095, 0.905, 9):
        for x in (0.095, c.wide - 0.095):
            c.oval(float(x), float(y), 0.03, 0.02, pale)
    for k, colour in enumerate((dark, pale, other, dark)):
        size = 0.26 - 0.065 * k
        _diamond(c, c.wide / 2, 0.5, size * c.wide * 0.8, size, colour)
    for _ in range(26):
        x, y = d.uniform(0.2, c.wide - 0.2), d.uniform(0.2, 0.8)
        for at in (x, c.wide - x):
            c.oval(at, y, 0.012, 0.012, pale)


def _inset(c: Canvas, by: float, colour: RGB) -> None:
    c.block(by, by, c.wide - by, 1 - by, colour)


def _diamond(c: Canvas, x: float, y: float, w: float, h: float, colour: RGB) -> None:
    far = (np.abs(c.x - x) / w + np.abs(c.y - y) / h - 1) * min(w, h)
    c.lay(c.inside(far.astype(np.float32)), colour)


def _bands(c: Canvas, d: Random, rgb: RGB, dark: RGB, pale: RGB, other: RGB) -> None:
    x = 0.0
    while x < c.wide:
        w = d.uniform(0.04, 0.14)
        c.block(x, 0, x + w, 1, d.choice((rgb, rgb, dark, pale, other)))
        x += w


def _lattice(c: Canvas, d: Random, rgb: RGB, dark: RGB, pale: RGB, other: RGB) -> None:
    line = pale if d.random() < 0.6 else dark
    step = 0.2
    for k in range(-6, int(c.wide / step) + 8):
        c.stroke((k * step, 0), (k * step + 1, 1), 0.018, line)
        c.stroke((k * step, 1), (k * step + 1, 0), 0.018, line)
    del other, rgb


def _plain_border(c: Canvas, d: Random, rgb: RGB, dark: RGB, pale: RGB, other: RGB) -> None:
    _edge(c, 0.08, d.choice((dark, pale, other)), rgb)
    _inset(c, 0.11, d.choice((dark, pale)))
    _inset(c, 0.125, rgb)


def _diamonds(c: Canvas, d: Random, rgb: RGB, dark: RGB, pale: RGB, other: RGB) -> None:
    _edge(c, 0.06, dark, rgb)
    for row in range(3):
        for x in np.linspace(0.2, c.wide - 0.2, round(4 * c.wide)):
            y = 0.22 + 0.28 * row
            _diamond(c, float(x), y, 0.11, 0.13, other if row % 2 else pale)
            _diamond(c, float(x), y, 0.05, 0.06, dark)
    del d


def _rings(c: Canvas, d: Random, rgb: RGB, dark: RGB, pale: RGB, other: RGB) -> None:
    for _ in range(7):
        x, y, r = d.uniform(0, c.wide), d.uniform(0, 1), d.uniform(0.12, 0.3)
        c.oval(x, y, r, r, d.choice((dark, pale, other)))
        c.oval(x, y, r * 0.6, r * 0.6, rgb)
