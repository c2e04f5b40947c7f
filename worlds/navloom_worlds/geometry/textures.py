"""Procedural textures by name: wood, tiles, brick, grass; all repeat seamlessly.

Rows go down (v), columns to the right (u). The grain of wood and the length of planks run along v.
White is a surface's own colour; some textures (brick, floral, multicoloured) add their own colours.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy.spatial import cKDTree

from navloom.errors import SceneError, did_you_mean
from navloom.files import package_yaml
from navloom_worlds.geometry.arrays import F64, U8, Bools

_SIZE = 256
Grey = F64
"""Array (size, size), or with a last axis of 3: 0 black to 1 white."""


@lru_cache(maxsize=64)
def texture_pixels(name: str) -> U8:
    """Return a seamless texture; the same on every machine.

    Args:
        name: one of :data:`TEXTURES`; "" is plain white.

    Returns:
        (256, 256, 3) uint8, sRGB; white is the surface's own colour.

    Raises:
        SceneError: there is no such texture.
    """
    if not name:
        return np.full((_SIZE, _SIZE, 3), 255, dtype=np.uint8)
    if name not in _MAKERS:
        raise SceneError(
            f"texture {name!r}: there is none.{did_you_mean(name, _MAKERS)} "
            f"Expected one of: {', '.join(_MAKERS)}."
        )
    made = _MAKERS[name]()
    if made.ndim == 2:
        made = made[:, :, None].repeat(3, axis=2)
    return np.rint(np.clip(made, 0, 1) * 255).astype(np.uint8)


def texture_repeat(name: str) -> float:
    """Return the default repeat length of a texture in a home, in metres."""
    return _REPEATS.get(name, 1.0)


def _noise(seed: str, across: float, along: float | None = None) -> Grey:
    """Return soft periodic noise of mean 0 and standard deviation 1.

    Args:
        seed: a word; another word gives other noise.
        across: size of its blots along u, as a share of the image.
        along: size along v; None for the same as along u.
    """
    dice = np.random.default_rng(zlib.crc32(seed.encode()))
    wave = np.fft.rfft2(dice.standard_normal((_SIZE, _SIZE)))
    fv = np.fft.fftfreq(_SIZE, 1 / _SIZE)[:, None] * (across if along is None else along)
    fu = np.fft.rfftfreq(_SIZE, 1 / _SIZE)[None] * across
    wave *= np.exp(-4 * (fu * fu + fv * fv))
    wave[0, 0] = 0
    soft = np.fft.irfft2(wave, s=(_SIZE, _SIZE))
    soft /= soft.std()
    return soft


def _at() -> tuple[Grey, Grey]:
    """Return the position of each pixel, (u, v), 0 to 1."""
    line, shape = (np.arange(_SIZE) + 0.5) / _SIZE, (_SIZE, _SIZE)
    return np.broadcast_to(line[None], shape), np.broadcast_to(line[:, None], shape)


def _rgb(tone: Grey, light: tuple[float, ...], dark: tuple[float, ...]) -> Grey:
    """Return a tone of 0 to 1 as a colour between two."""
    share = np.clip(tone, 0, 1)[:, :, None]
    colour: Grey = share * np.array(light) + (1 - share) * np.array(dark)
    return colour


def _cells(
    columns: int, rows: int, joint: float, *, shift: float = 0.0, seed: str = "cells"
) -> tuple[Grey, Bools]:
    """Return each pixel's random number for its brick, 0 to 1, and whether it lies in a joint.

    Args:
        columns: bricks along u.
        rows: bricks along v.
        joint: width of a joint, as a share of the image.
        shift: offset of every other row, in bricks.
        seed: a word.
    """
    u, v = _at()
    row = np.floor(v * rows).astype(int)
    across = u * columns + shift * (row % 2)
    column = np.floor(across).astype(int) % columns
    of_brick = np.random.default_rng(zlib.crc32(seed.encode())).random((rows, columns))
    in_u = np.abs(across - np.rint(across)) < joint * columns / 2
    in_v = np.abs(v * rows - np.rint(v * rows)) < joint * rows / 2
    return of_brick[row, column], in_u | in_v


def _grain(seed: str, count: float = 1.0) -> Grey:
    """Return wood grain without joints: 0 dark to 1 light."""
    fibre = _noise(seed + "f", 0.012 / count, 0.5)
    rings = _noise(seed + "r", 0.12 / count, 1.2)
    lines = np.sin(rings * 7)
    return 0.72 + 0.10 * fibre + 0.10 * lines + 0.06 * _noise(seed + "s", 0.4)


_LIGHT, _DARK = (1.0, 1.0, 1.0), (0.66, 0.56, 0.46)


def _planks() -> Grey:
    """Return boards, eight across, with staggered ends."""
    u, v = _at()
    board = np.floor(u * 8).astype(int)
    ends = np.random.default_rng(11).random(8)
    along = v + ends[board]
    which = board * 2 + np.floor(along * 2).astype(int) % 2
    tone = np.random.default_rng(5).random(16)[which]
    joint = np.abs(u * 8 - np.rint(u * 8)) < 0.06
    joint |= np.abs(along * 2 - np.rint(along * 2)) < 0.006
    wood = _grain("planks", 2.0) - 0.06 + 0.34 * (tone - 0.5)
    return _rgb(np.where(joint, 0.0, wood), _LIGHT, _DARK)


def _parquet() -> Grey:
    """Return blocks of four staves, each turned against the next."""
    u, v = _at()
    turned = (np.floor(u * 4) + np.floor(v * 4)) % 2 == 1
    grain = _grain("parquet", 2.0)
    across, along = np.where(turned, v, u) * 16, np.where(turned, u, v) * 4
    block = np.floor(along).astype(int) * 16 + np.floor(across).astype(int)
    tone = np.random.default_rng(6).random(64)[block]
    joint = (np.abs(across - np.rint(across)) < 0.07) | (np.abs(along - np.rint(along)) < 0.018)
    wood = np.where(turned, grain.T, grain) + 0.36 * (tone - 0.5)
    return _rgb(np.where(joint, 0.05, wood), _LIGHT, _DARK)


def _tiles(columns: int, rows: int, joint: float, shift: float = 0.0, grout: float = 0.66) -> Grey:
    of_tile, joints = _cells(columns, rows, joint, shift=shift, seed=f"tile{columns}{rows}")
    tone = 0.95 + 0.05 * (of_tile - 0.5) + 0.012 * _noise("tile", 0.08)
    return np.where(joints, grout, tone)


def _brick() -> Grey:
    of_brick, joints = _cells(4, 12, 0.012, shift=0.5, seed="brick")
    tone = 0.55 + 0.5 * (of_brick - 0.5) + 0.10 * _noise("brick", 0.02)
    bricks = _rgb(tone, (0.80, 0.50, 0.40), (0.56, 0.30, 0.24))
    mortar = (0.74 + 0.04 * _noise("mortar", 0.015))[:, :, None] * np.array([1.0, 0.97, 0.92])
    return np.where(joints[:, :, None], mortar, bricks)


def _fieldstone() -> Grey:
    """Return stones of all sizes, as a Voronoi diagram of random points."""
    dice = np.random.default_rng(23)
    points = dice.random((36, 2))
    u, v = _at()
    at = np.stack([u + 0.02 * _noise("su", 0.1), v + 0.02 * _noise("sv", 0.1)], axis=2) % 1
    # The same points in all neighbouring tiles, so that it repeats.
    around = [points + np.array([i, j]) for i in (-1, 0, 1) for j in (-1, 0, 1)]
    near, which = (np.asarray(each) for each in cKDTree(np.concatenate(around)).query(at, k=2))
    tone = 0.85 + 0.3 * (dice.random(36)[which[:, :, 0] % 36] - 0.5) + 0.04 * _noise("st", 0.03)
    return np.where(near[:, :, 1] - near[:, :, 0] < 0.016, 0.42, tone)


def _fabric() -> Grey:
    u, v = _at()
    weave = np.sin(u * 2 * np.pi * 64) * np.sin(v * 2 * np.pi * 64)
    return 0.90 + 0.05 * weave + 0.03 * _noise("fabric", 0.05) + 0.02 * _noise("thread", 0.004)


def _knit() -> Grey:
    u, v = _at()
    rows = v * 24 + 0.3 * np.abs((u * 24) % 1 - 0.5) * 2
    return 0.80 + 0.16 * np.abs(np.sin(rows * np.pi)) + 0.03 * _noise("knit", 0.01)


def _leather() -> Grey:
    folds = np.abs(_noise("leather", 0.03)) + 0.5 * np.abs(_noise("hide", 0.015))
    return 0.84 + 0.10 * np.clip(folds, 0, 1.4) / 1.4 + 0.02 * _noise("l", 0.2)


def _marble() -> Grey:
    veins = np.abs(_noise("marble", 0.22) + 0.25 * _noise("marble2", 0.05))
    fine = np.abs(_noise("vein", 0.13) + 0.3 * _noise("vein2", 0.03))
    tone: Grey = 0.97 - 0.26 * np.exp(-14 * veins) - 0.13 * np.exp(-16 * fine)
    tone += 0.015 * _noise("cloud", 0.3)
    return tone


def _granite() -> Grey:
    grains = _noise("granite", 0.014)
    tone = 0.84 + 0.10 * grains
    return np.where(grains < -1.3, 0.42, tone) + 0.03 * _noise("granite2", 0.006)


def _concrete() -> Grey:
    pores = _noise("pores", 0.012)
    tone = 0.92 + 0.015 * _noise("concrete", 0.3) + 0.015 * _noise("c2", 0.06) + 0.012 * pores
    return np.where(pores < -3.2, 0.76, tone)


def _grass() -> Grey:
    blades = _noise("blades", 0.006, 0.02) + 0.7 * _noise("grass", 0.015)
    tone = 0.55 + 0.18 * blades + 0.04 * _noise("lawn", 0.3)
    return _rgb(tone, (1.0, 1.0, 0.80), (0.42, 0.55, 0.34))


def _wicker() -> Grey:
    u, v = _at()
    over = (np.floor(u * 12) + np.floor(v * 12)) % 2 == 0
    strand = np.where(over, np.sin(v % (1 / 12) * 12 * np.pi), np.sin(u % (1 / 12) * 12 * np.pi))
    return _rgb(0.4 + 0.6 * strand + 0.05 * _noise("wicker", 0.02), _LIGHT, (0.62, 0.54, 0.45))


def _rust() -> Grey:
    tone = 0.6 + 0.25 * _noise("rust", 0.06) + 0.1 * _noise("rust2", 0.012)
    return _rgb(tone, (1.0, 0.97, 0.94), (0.68, 0.60, 0.55))


def _leaves() -> Grey:
    tone = 0.65 + 0.25 * np.tanh(_noise("leaves", 0.03, 0.05)) + 0.08 * _noise("leaf", 0.01)
    return _rgb(tone, (1.0, 1.0, 0.86), (0.42, 0.50, 0.36))


def _stripes() -> Grey:
    u, _ = _at()
    blue = (u * 8) % 1 < 0.45
    return np.where(blue[:, :, None], (0.25, 0.36, 0.55), (0.97, 0.96, 0.92)) * _soft()


def _checks() -> Grey:
    u, v = _at()
    a, b = (u * 6) % 1 < 0.5, (v * 6) % 1 < 0.5
    red, pale, cream = (0.62, 0.14, 0.14), (0.82, 0.52, 0.48), (0.97, 0.94, 0.88)
    both, none = (a & b)[:, :, None], (~a & ~b)[:, :, None]
    return np.where(both, red, np.where(none, cream, pale)) * _soft()


def _soft() -> Grey:
    return (0.96 + 0.025 * _noise("thread", 0.006))[:, :, None]


def _flowers(colours: tuple[tuple[float, ...], ...], count: int, size: int) -> Grey:
    """Return five-petalled flowers on cream, each within ``size`` pixels of its middle."""
    dice = np.random.default_rng(4)
    picture = np.broadcast_to(np.array([0.95, 0.92, 0.84]), (_SIZE, _SIZE, 3)).copy()
    line = np.arange(-size, size + 1)
    away, angle = np.hypot(line[None], line[:, None]), np.arctan2(line[:, None], line[None])
    for number in range(count):
        x, y, turn, wide = dice.random(4)
        petals = size * (0.55 + 0.4 * wide) * (0.75 + 0.25 * np.cos(5 * angle + turn * 6.3))
        rows, columns = ((int(each * _SIZE) + line) % _SIZE for each in (y, x))
        for colour, within in ((colours[number % len(colours)], 1.0), ((0.93, 0.80, 0.35), 0.25)):
            i, j = np.nonzero(away < petals * within)
            picture[rows[i], columns[j]] = colour
    return picture


def _floral() -> Grey:
    colours = ((0.70, 0.28, 0.34), (0.42, 0.52, 0.34), (0.82, 0.55, 0.55), (0.48, 0.50, 0.66))
    return _flowers(colours, 24, 24) * _soft()


def _patterned() -> Grey:
    """Return bands of diamonds, as on woven rugs."""
    u, v = _at()
    lozenge = np.abs((u * 4) % 1 - 0.5) + np.abs((v * 4) % 1 - 0.5)
    ring = np.floor(lozenge * 5).astype(int) % 4
    colours = np.array(
        [[0.72, 0.26, 0.20], [0.93, 0.84, 0.66], [0.20, 0.36, 0.42], [0.85, 0.60, 0.22]]
    )
    picture: Grey = colours[ring] * _soft()
    return picture


def _multicoloured() -> Grey:
    """Return wide soft fields of many colours."""
    field = np.floor((_noise("many", 0.22) * 0.75 + 3) * 1.6).astype(int) % 6
    colours = np.array(
        [
            [0.80, 0.30, 0.26],
            [0.94, 0.76, 0.34],
            [0.30, 0.52, 0.68],
            [0.92, 0.88, 0.80],
            [0.36, 0.58, 0.42],
            [0.52, 0.36, 0.56],
        ]
    )
    picture: Grey = colours[field] * _soft()
    return picture


def _roof() -> Grey:
    _, v = _at()
    of_tile, joints = _cells(8, 8, 0.008, shift=0.5, seed="roof")
    shade = 0.75 + 0.25 * ((v * 8) % 1) + 0.12 * (of_tile - 0.5)
    return np.where(joints, 0.5, shade)


_MAKERS: dict[str, Callable[[], Grey]] = {
    "wood": lambda: _rgb(_grain("wood"), _LIGHT, _DARK),
    "planks": _planks,
    "parquet": _parquet,
    "tiles": lambda: _tiles(2, 2, 0.012),
    "bathroom tiles": lambda: _tiles(4, 4, 0.014, grout=0.72),
    "wall tiles": lambda: _tiles(4, 8, 0.012, shift=0.5, grout=0.74),
    "mosaic": lambda: _tiles(12, 12, 0.012, grout=0.70),
    "carpet": lambda: 0.86 + 0.06 * _noise("carpet", 0.008) + 0.03 * _noise("pile", 0.1),
    "fabric": _fabric,
    "knit": _knit,
    "leather": _leather,
    "brick": _brick,
    "fieldstone": _fieldstone,
    "plaster": lambda: 0.975 + 0.004 * _noise("plaster", 0.25) + 0.006 * _noise("grit", 0.012),
    "marble": _marble,
    "granite": _granite,
    "slate": lambda: 0.86 + 0.05 * _noise("slate", 0.12, 0.03) + 0.04 * _noise("slate2", 0.02),
    "concrete": _concrete,
    "grass": _grass,
    "leaves": _leaves,
    "wicker": _wicker,
    "metal": lambda: 0.92 + 0.035 * _noise("metal", 0.004, 0.6) + 0.012 * _noise("sheen", 0.4),
    "hammered": lambda: 0.90 + 0.07 * np.tanh(_noise("hammer", 0.035)),
    "rust": _rust,
    "roof": _roof,
    "stripes": _stripes,
    "checks": _checks,
    "floral": _floral,
    "patterned": _patterned,
    "multicoloured": _multicoloured,
}
TEXTURES = tuple(_MAKERS)
"""Names of all textures."""
_REPEATS: dict[str, float] = package_yaml("navloom_worlds.geometry", "colours.yaml")["repeats"]
