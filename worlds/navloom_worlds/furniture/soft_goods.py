"""Cloth that is no clothing: rugs and mats, pillows, blankets, towels, table linen.

Patterns of rugs, woven in code around the colour that a rug has.
"""

from __future__ import annotations

import colorsys
import math
from functools import lru_cache
from random import Random

import numpy as np

from navloom.scenes.scene import Item
from navloom_worlds.furniture.easel import Canvas
from navloom_worlds.furniture.making import Builder, has, shade, size_of
from navloom_worlds.furniture.shaping import (
    BRIGHT,
    MUTED,
    WHITE,
    fitted,
    look,
    noise,
    pad,
    pick,
    relief,
    roll,
    top_face,
)
from navloom_worlds.furniture.turnery import ball, prism, sheet, tube
from navloom_worlds.geometry.solids import RGB, Part, Picture, Surface, box, cylinder, lathe
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


_CLOTH: tuple[RGB, ...] = (*MUTED, (0.88, 0.85, 0.78), (0.55, 0.66, 0.72))


def _flat(w: float, h: float, d: float, surface: Surface) -> Part:
    return box((-w / 2, 0, -d / 2), (w / 2, h, d / 2), surface)


def _rug(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, *_CLOTH)
    long_x = w >= d
    fringe = 0.0 if roll(item, "fringe", 5) < 2 or max(w, d) < 1 else max(w, d) * 0.025
    bw, bd = (w - 2 * fringe, d) if long_x else (w, d - 2 * fringe)
    parts = [_flat(bw, h * 0.9, bd, shade(own, 0.8))]
    wide = 1.5 if long_x else 0.67
    art = weave(own.rgb, own.texture if isinstance(own.texture, str) else "", wide, roll(item, "w"))
    parts.append(top_face(bw, bd, h, Surface((1, 1, 1), art)))
    if fringe:
        cream = Surface((0.88, 0.84, 0.74))
        n = 14
        for k in range(n):
            for side in (-1, 1):
                across = ((k + 0.5) / n - 0.5) * (bd if long_x else bw)
                out, half = side * ((bw if long_x else bd) / 2), (bd if long_x else bw) / n * 0.3
                a, b = sorted((out, out + side * fringe))
                low = (a, 0, across - half) if long_x else (across - half, 0, a)
                high = (b, h * 0.5, across + half) if long_x else (across + half, h * 0.5, b)
                parts.append(box(low, high, cream, sides="u"))
    return parts


def _mat(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, *_CLOTH)
    edge = min(w, d) * 0.06
    parts = [_flat(w, h * 0.85, d, shade(own, 0.75))]
    inner = fitted([_flat(1, 1, 1, own)], (w - 2 * edge, h, d - 2 * edge))
    return [*parts, *inner]


def _doormat(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, (0.5, 0.37, 0.23))
    parts = [_flat(w, h * 0.9, d, shade(own, 0.6))]
    parts.append(fitted([_flat(1, 1, 1, own)], (w * 0.94, h * 0.96, d * 0.9))[0])
    dark = shade(own, 0.4)
    for k, x in enumerate(np.linspace(-w * 0.28, w * 0.28, 7)):
        tall = d * (0.3 if k % 2 else 0.22)
        parts.append(top_face(w * 0.05, tall, h, dark, x=float(x)))
    return parts


def _yoga_mat(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, (0.45, 0.27, 0.53), (0.24, 0.6, 0.55), plain=True)
    if h > 0.05:
        # Rolled up: a tube with its spiral end.
        mat = cylinder(1, -3, 3, own, sides=16).tilted(math.pi / 2, "z")
        path = [
            (3.02, 0.9 * (1 - t * 0.8) * math.sin(t * 14), 0.9 * (1 - t * 0.8) * math.cos(t * 14))
            for t in np.linspace(0, 1, 20)
        ]
        spiral = tube(path, 0.08, shade(own, 0.6), sides=3)
        band = cylinder(1.02, -0.2, 0.2, shade(own, 0.5), sides=16).tilted(math.pi / 2, "z")
        parts = [mat, spiral, spiral.scaled(-1, 1, 1), band]
        return fitted(parts if w > d else [p.turned(math.pi / 2) for p in parts], (w, h, d))
    line = shade(own, 1.3)
    parts = [_flat(w, h * 0.9, d, own)]
    parts.append(top_face(w * 0.02, d * 0.9, h, line))
    parts.append(top_face(w * 0.7, d * 0.015, h, line))
    return parts


def _pillow(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, (0.93, 0.92, 0.89), (0.75, 0.80, 0.85), (0.80, 0.74, 0.64))
    return [pad(w, h, d, own, puff=0.55)]


def _cushion(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, *_CLOTH, *BRIGHT[:3])
    parts = [pad(w, h, d, own, puff=0.45)]
    if roll(item, "button", 2):
        parts.append(ball((0, h * 0.98, 0), (w * 0.03, h * 0.02, w * 0.03), shade(own, 0.6)))
    around = [(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)]
    seam = [(x * w * 0.475, h / 2, z * d * 0.475) for x, z in around]
    parts.append(tube(seam, 0.008, shade(own, 0.7), sides=3))
    return fitted(parts, (w, h, d))


def folded(w: float, h: float, d: float, surface: Surface, layers: int = 0) -> list[Part]:
    """Cloth folded into a pile, its folds to the front.

    Args:
        w: its width.
        h: its height.
        d: its depth.
        surface: its look.
        layers: how many; 0 is by its height.
    """
    count = layers or max(2, min(5, round(h / 0.03)))
    parts = []
    for k in range(count):
        low, high = h * k / count, h * (k + 1) / count
        mid, half = (low + high) / 2, (high - low) / 2
        outline = [(half * math.sin(a), mid + half * math.cos(a)) for a in _HALF]
        # The fold is round at the front; behind, the layers' edges lie on each other.
        profile = [(-d / 2 + half - z, y) for z, y in outline]
        tone = surface if k % 2 == 0 else shade(surface, 0.9)
        outline = [*profile, (d / 2, low), (d / 2, high)]
        half_w = w / 2 * (1 - 0.03 * (k % 2))
        parts.append(prism(outline, -half_w, half_w, tone, axis="x"))
    return parts


_HALF = np.linspace(0, math.pi, 6)


def crumpled(item: Item, w: float, h: float, d: float, surface: Surface) -> Part:
    """Cloth as it was dropped: ridges and hollows."""
    rough = noise(item, 9, 9, "crumple")
    soft = (rough + np.roll(rough, 1, 0) + np.roll(rough, 1, 1) + np.roll(rough, -1, 0)) / 4
    u = np.linspace(-1, 1, 9)
    rim = 1 - 0.75 * np.maximum(np.abs(u)[:, None], np.abs(u)[None]) ** 2.5
    heights = h * np.clip((0.35 + 1.0 * soft) * rim, 0.06, None)
    return fitted([relief(w, d, heights, surface)], (w, h, d))[0]


def _throw(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, *_CLOTH)
    if has(item, "folded") or not item.shape:
        parts = folded(w, h, d, own)
        stripe = shade(own, 0.65 if sum(own.rgb) > 1 else 1.6)
        for z in (-0.28, -0.2):
            parts.append(top_face(w * 0.97, d * 0.04, h + 0.0006, stripe, z=d * z))
        return fitted(parts, (w, h, d))
    return [crumpled(item, w, h, d, own)]


def _duvet(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, (0.92, 0.91, 0.88), *_CLOTH)
    n = 13
    u = np.linspace(0, 1, n)
    quilted = np.abs(np.sin(u * 4 * math.pi))[:, None] * np.abs(np.sin(u * 4 * math.pi))[None]
    heights = h * (0.55 + 0.45 * quilted**0.5)
    return [relief(w, d, heights, own)]


def _towel(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, (0.92, 0.91, 0.88), *_CLOTH)
    if h > 2.5 * d:
        return _hung_towel(w, h, d, own)
    if has(item, "folded") or not item.shape:
        parts = folded(w, h, d, own)
        band = shade(own, 0.7 if sum(own.rgb) > 1 else 1.7)
        parts.append(top_face(w * 0.97, d * 0.06, h + 0.0006, band, z=-d * 0.25))
        return fitted(parts, (w, h, d))
    return [crumpled(item, w, h, d, own)]


def _hung_towel(w: float, h: float, d: float, own: Surface) -> list[Part]:
    # Over a bar: two layers with soft waves, the front one longer.
    n = 11
    u = np.linspace(-1, 1, n)
    wave = np.cos(u * 9) * 0.22
    front = np.stack([u * w / 2, np.full(n, 0.0), -d * 0.28 + wave * d], axis=1)
    parts = []
    for low, z, tone in ((0.0, -0.28, own), (0.12, 0.2, shade(own, 0.85))):
        rows = []
        for t in (low, 0.5, 0.9, 1.0):
            narrow = 1 - 0.06 * t
            reach = (1 - t**6) * z + 0.05 * t
            soft = wave * (1 - t * 0.7)
            rows.append(np.stack([u * w / 2 * narrow, np.full(n, t * h), (reach + soft) * d], 1))
        parts.append(sheet(np.stack(rows), tone))
    bar_z = d * 0.05
    rail = tube([(-w * 0.5, h * 0.975, bar_z), (w * 0.5, h * 0.975, bar_z)], d * 0.3, _RAIL)
    band = shade(own, 0.7 if sum(own.rgb) > 1 else 1.7)
    strip = [front * [1, 0, 1] + [0, h * y, -d * 0.015] for y in (0.08, 0.13)]
    return fitted([*parts, rail, sheet(np.stack(strip), band)], (w, h, d))


_RAIL = Surface((0.74, 0.75, 0.77), gloss=0.6)


def _rag(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, *_CLOTH, *BRIGHT[:4])
    if has(item, "folded") or h < 0.012:
        return folded(w, h, d, own, 2)
    return [crumpled(item, w, h, d, own)]


def _tablecloth(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, (0.93, 0.92, 0.88), *_CLOTH)
    edge = shade(own, 0.7)
    parts = [_flat(w, h * 0.8, d, own)]
    for s in (-1, 1):
        parts.append(top_face(w * 0.96, d * 0.03, h, edge, z=s * d * 0.42))
        parts.append(top_face(w * 0.02, d * 0.84, h, edge, x=s * w * 0.47))
    return parts


def _dog_bed(item: Item) -> list[Part]:
    w, h, d = size_of(item)
    own = look(item, *_CLOTH)
    rim = tube(
        [(0.8 * math.cos(a), 0.5, 0.8 * math.sin(a)) for a in np.linspace(0, 2 * math.pi, 21)],
        [0.4] * 21,
        own,
        sides=7,
    )
    tone = pick(item, (WHITE, shade(own, 1.4), shade(own, 0.6)), "in")
    inner = lathe([(0.9, 0.2), (0.7, 0.62), (0.35, 0.68), (0, 0.66)], tone, sides=18)
    base = cylinder(0.98, 0.1, 0.75, shade(own, 0.8), sides=20)
    return fitted([rim.scaled(1, 1.6, 1), base, inner.moved(0, 0.2, 0)], (w, h, d))


BY_NAME: dict[str, Builder] = {
    "rug": _rug,
    "carpet": _rug,
    "bath_mat": _mat,
    "bathroom_rug": _mat,
    "doormat": _doormat,
    "mat": _mat,
    "yoga_mat": _yoga_mat,
    "pillow": _pillow,
    "cushion": _cushion,
    "blanket": _throw,
    "duvet": _duvet,
    "towel": _towel,
    "tea_towel": _towel,
    "napkin": _rag,
    "cloth": _rag,
    "dishrag": _rag,
    "tablecloth": _tablecloth,
    "dog_bed": _dog_bed,
}
BY_SHAPE: dict[str, Builder] = {"rug": _rug, "cushion": _cushion, "cloth": _throw}
