"""Shading of ray hits: texture, light, gloss and sky.

The steps are written twice: in numpy, with colours as three rows, one per channel, as numpy is
fastest with them; and as a kernel that numba compiles, where it is installed (extra ``fast``).
Every number is float32 and every sum has the same order in both, so that images are equal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from navloom_worlds.geometry.arrays import F32, I32, U8
from navloom_worlds.geometry.packet_jit import should_compile
from navloom_worlds.geometry.ray_casting import RayHits
from navloom_worlds.rendering.facets import Facets
from navloom_worlds.rendering.light_baking import EARTH, HORIZON, UNIT, ZENITH, LightMap, sky_colour
from navloom_worlds.rendering.mipmaps import LEVELS, LINEAR, Mipmaps, encode_srgb

_F = np.float32
_LEVELS = 10
_TO_STEPS = np.float32(8191 / 2.0)
_UNIT = np.float32(1 / 16_384)
_FROM_ALL = np.float32(0.9)


@lru_cache(maxsize=1)
def compiled_kernel() -> Callable[..., None] | None:
    """Return the kernel, compiled once and cached on disk by numba; None without numba."""
    if find_spec("numba") is None:
        return None
    from numba import njit

    found: Callable[..., None] = njit(cache=True, nogil=True, error_model="numpy")(_kernel)
    return found


def _kernel(
    hits: Any, table: Any, texels: Any, light: Any, curve: Any, pixel: Any, soft: Any, out: Any
) -> None:  # pragma: no cover - compiled
    face, u, v, distance, ways = hits
    rows, texture, gloss = table
    pixels, first, wide, high, linear = texels
    lit, light_wide = light
    bent, sides, zenith, horizon, earth = curve
    zero, one, half = _F(0), _F(1), _F(0.5)
    colour = np.zeros(3, dtype=np.float32)
    tone = np.zeros(3, dtype=np.float32)
    last = len(bent) - 1
    for i in range(len(face)):
        wx, wy, wz = ways[i, 0], ways[i, 1], ways[i, 2]
        f = face[i]
        if f < 0:
            rise = wy / np.sqrt(wx * wx + wy * wy + wz * wz)
            up = np.sqrt(min(max(rise, zero), one))
            down = min(max(-rise * _F(6), zero), one)
            haze = down * down * (_F(3) - _F(2) * down)
            for c in range(3):
                clear = horizon[c] + (zenith[c] - horizon[c]) * up
                colour[c] = clear + (earth[c] - clear) * haze
        else:
            row = rows[f]
            a, b = u[i], v[i]
            nx, ny, nz = row[16], row[17], row[18]
            facing = nx * wx + ny * wy + nz * wz
            across = row[6] + a * row[7] + b * row[8]
            below = row[9] + a * row[10] + b * row[11]
            aslant = np.sqrt(max(abs(facing), _F(0.05)))
            width = max(distance[i] * row[15] * pixel / aslant * _F(1.4142), one)
            level = 0
            while width >= _F(2) and level < _LEVELS - 1:
                width *= half
                level += 1
            size = texture[f] * _LEVELS + level
            across, below = across * _F(wide[size]), below * _F(high[size])
            if soft:
                across, below = across - half, below - half
            left, top = np.floor(across), np.floor(below)
            x, y = np.int32(left) & (wide[size] - 1), np.int32(top) & (high[size] - 1)
            texel = first[size] + y * wide[size] + x
            for c in range(3):
                colour[c] = linear[pixels[texel, c]]
            if soft:
                right, low = across - left, below - top
                next_x = (x + 1) & (wide[size] - 1)
                under = first[size] + ((y + 1) & (high[size] - 1)) * wide[size]
                beside = first[size] + y * wide[size] + next_x
                for c in range(3):
                    upper = colour[c] * (one - right) + linear[pixels[beside, c]] * right
                    lower = (
                        linear[pixels[under + x, c]] * (one - right)
                        + linear[pixels[under + next_x, c]] * right
                    )
                    colour[c] = upper * (one - low) + lower * low
            if light_wide:
                across = row[0] + a * row[1] + b * row[2]
                below = row[3] + a * row[4] + b * row[5]
                column, line = np.int32(across), np.int32(below)
                right, low = across - _F(column), below - _F(line)
                index = line * light_wide + column
                index = min(max(index, 0), len(lit) - light_wide - 2)
                for c in range(3):
                    upper = _F(lit[index, c]) * (one - right) + _F(lit[index + 1, c]) * right
                    lower = (
                        _F(lit[index + light_wide, c]) * (one - right)
                        + _F(lit[index + light_wide + 1, c]) * right
                    )
                    tone[c] = (upper * (one - low) + lower * low) * _UNIT
            else:
                toward = -one if facing > zero else one
                side = nx * sides[0] + ny * sides[1] + nz * sides[2]
                for c in range(3):
                    tone[c] = _FROM_ALL + toward * side
            for c in range(3):
                colour[c] = colour[c] * row[12 + c] * (tone[c] + row[19])
            if gloss[f] > _F(0.02):
                length = np.sqrt(wx * wx + wy * wy + wz * wz)
                facing = facing / length
                rise = wy / length - (facing + facing) * ny
                edge = max(one - abs(facing), zero)
                twice = edge * edge
                part = gloss[f] * (_F(0.05) + _F(0.6) * (twice * twice * edge))
                above = min(max(rise * _F(0.7) + half, _F(0.15)), one)
                around = above * ((tone[0] + tone[1] + tone[2]) * _F(1 / 3))
                for c in range(3):
                    colour[c] = colour[c] + (around - colour[c] * half) * part
        for c in range(3):
            step = np.sqrt(max(colour[c], zero)) * _TO_STEPS
            out[i, c] = bent[min(np.int32(min(step, _F(last))), last)]


_STEPS = 8_192
_BRIGHTEST = 4.0
"""Light above this is drawn white."""


def _curve() -> U8:
    """Compute the tone curve: linear up to a shoulder, so that windows are not overexposed."""
    light = np.linspace(0, 1, _STEPS) ** 2 * _BRIGHTEST
    start = 0.62
    over = np.maximum(light - start, 0) / (1 - start)
    bent = np.where(light < start, light, start + (1 - start) * (1 - np.exp(-over * 0.9)))
    return encode_srgb(bent.astype(np.float32))


CURVE = _curve()
"""(steps,) uint8: sRGB value by the square root of light, in steps up to the brightest."""
TO_STEPS = np.float32((_STEPS - 1) / np.sqrt(_BRIGHTEST))
_NO_LIGHT = np.zeros((1, 3), dtype=np.uint16)


@dataclass(frozen=True, eq=False)
class FaceTable:
    """Shading data of each face, packed into one row of ``rows``.

    Attributes:
        rows: (m, 20) float32: light map coordinates (6), texture coordinates (6), colour (3),
            density, normal (3), and glow.
        texture: (m,) int32.
        gloss: (m,) float32.
    """

    rows: F32
    texture: I32
    gloss: F32


def face_table(facets: Facets, light: LightMap | None) -> FaceTable:
    """Return the shading data of each face, packed in rows."""
    place = np.zeros_like(facets.place)
    place += 0 if light is None else light.place
    rows = np.column_stack(
        [place, facets.place, facets.colour, facets.density, facets.normal, facets.glow]
    )
    rows = np.ascontiguousarray(rows, dtype=np.float32)
    return FaceTable(rows, facets.texture, facets.gloss)


def shade_hits(
    facets: Facets,
    table: FaceTable,
    light: LightMap | None,
    hits: RayHits,
    ways: F32,
    pixel: float,
    soft: bool = True,
) -> U8:
    """Return the colours of ray hits.

    Args:
        facets: the faces.
        table: their rows.
        light: their light map; None for daylight from all around.
        hits: the hits.
        ways: (n, 3) directions of the rays.
        pixel: width of a pixel at a distance of 1.
        soft: interpolate textures between texels, which takes slightly longer.

    Returns:
        (n, 3) uint8 sRGB.
    """
    compiled = compiled_kernel() if should_compile(len(ways)) else None
    if compiled is not None:
        return _by(compiled, facets, table, light, hits, ways, pixel, soft)
    colour = np.empty((3, len(ways)), dtype=np.float32)
    lost = np.flatnonzero(hits.face < 0)
    if len(lost) < len(ways):
        face = np.maximum(hits.face, 0)
        rows = table.rows.take(face, axis=0)
        tone = _soft(rows, ways) if light is None else _baked(light, rows, hits)
        colour = _albedo(facets, table, rows, face, hits, pixel, ways, soft)
        colour *= tone + rows[:, 19]
        gloss = table.gloss.take(face)
        if (gloss > np.float32(0.02)).any():
            colour = _glossy(colour, tone, rows[:, 16:19], ways, gloss)
    if len(lost):
        up = ways[lost, 1] / np.sqrt(_dot(ways[lost], ways[lost]))
        colour[:, lost] = sky_colour(up).T
    return np.ascontiguousarray(tone_map(colour).T)


def _by(
    kernel: Callable[..., None],
    facets: Facets,
    table: FaceTable,
    light: LightMap | None,
    hits: RayHits,
    ways: F32,
    pixel: float,
    soft: bool,
) -> U8:
    """Return the pixels of rays, shaded with the compiled kernel."""
    texels, out = facets.texels, np.empty((len(ways), 3), dtype=np.uint8)
    kernel(
        (hits.face, hits.u, hits.v, hits.distance, np.ascontiguousarray(ways)),
        (table.rows, table.texture, table.gloss),
        (texels.pixels, texels.first, texels.wide, texels.high, LINEAR),
        (_NO_LIGHT if light is None else light.texels, 0 if light is None else light.wide),
        (CURVE, SIDES, ZENITH, HORIZON, EARTH),
        np.float32(pixel),
        soft,
        out,
    )
    return out


def tone_map(colour: F32) -> U8:
    """Convert light to sRGB bytes by the tone curve."""
    steps = np.sqrt(np.maximum(colour, 0)) * TO_STEPS
    found: U8 = CURVE.take(np.minimum(steps, _STEPS - 1).astype(np.int32))
    return found


def _albedo(
    facets: Facets,
    table: FaceTable,
    rows: F32,
    face: I32,
    hits: RayHits,
    pixel: float,
    ways: F32,
    soft: bool,
) -> F32:
    texels = facets.texels
    if len(texels.mean) == 1:
        return np.array(rows[:, 12:15].T)
    u, v = hits.u, hits.v
    across = rows[:, 6] + u * rows[:, 7] + v * rows[:, 8]
    down = rows[:, 9] + u * rows[:, 10] + v * rows[:, 11]
    far = np.where(hits.face >= 0, hits.distance, np.float32(0))
    facing = np.abs(_dot(rows[:, 16:19], ways))
    # An oblique view compresses a texture in one direction only: the mean of both is used.
    wide = far * rows[:, 15] * np.float32(pixel) / np.sqrt(np.maximum(facing, np.float32(0.05)))
    level = (np.maximum(wide * np.float32(1.4142), 1).view(np.int32) >> 23) - 127
    size = table.texture.take(face) * LEVELS + np.minimum(level, LEVELS - 1)
    return np.asarray(_texture(texels, size, across, down, soft) * rows[:, 12:15].T)


def _texture(texels: Mipmaps, size: I32, u: F32, v: F32, soft: bool) -> F32:
    """Return (3, n) linear colours of textures at a mip level; coordinates in whole textures."""
    wide, high = texels.wide.take(size), texels.high.take(size)
    u, v = u * wide.astype(np.float32), v * high.astype(np.float32)
    if soft:
        u, v = u - np.float32(0.5), v - np.float32(0.5)
    left, top = np.floor(u), np.floor(v)
    x, y = left.astype(np.int32), top.astype(np.int32)
    first = texels.first.take(size)

    def texel(right: int, low: int) -> F32:
        at = ((y + low) & (high - 1)) * wide + ((x + right) & (wide - 1))
        found: F32 = LINEAR.take(texels.pixels.take(first + at, axis=0).T)
        return found

    if not soft:
        return texel(0, 0)
    one, right, low = np.float32(1), u - left, v - top
    upper = texel(0, 0) * (one - right) + texel(1, 0) * right
    lower = texel(0, 1) * (one - right) + texel(1, 1) * right
    return np.asarray(upper * (one - low) + lower * low)


def _baked(light: LightMap, rows: F32, hits: RayHits) -> F32:
    across = rows[:, 0] + hits.u * rows[:, 1] + hits.v * rows[:, 2]
    down = rows[:, 3] + hits.u * rows[:, 4] + hits.v * rows[:, 5]
    left, top = across.astype(np.int32), down.astype(np.int32)
    right_part, low_part = (across - left.astype(np.float32)), (down - top.astype(np.float32))
    index = top * np.int32(light.wide) + left
    return _blended(light.texels, index, light.wide, right_part, low_part)


def _blended(texels: NDArray[np.uint16], index: I32, wide: int, x: F32, y: F32) -> F32:
    """Interpolate (3, n) between four texels, the first of which is given."""
    one = np.float32(1)
    a, b, c, d = (
        texels.take(index + np.int32(step), axis=0, mode="clip").T.astype(np.float32, order="C")
        for step in (0, 1, wide, wide + 1)
    )
    upper = a * (one - x) + b * x
    lower = c * (one - x) + d * x
    return np.asarray((upper * (one - y) + lower * y) * np.float32(1 / UNIT))


SIDES = np.array([0.11, 0.17, -0.07], dtype=np.float32)
FROM_ALL = np.float32(0.9)
"""Flat light: the part from everywhere, and the additional part from the sides."""


def _soft(rows: F32, ways: F32) -> F32:
    """Return flat light: more from above, a little from one side; faces turn to the viewer."""
    normal = rows[:, 16:19]
    toward = np.where(_dot(normal, ways) > 0, np.float32(-1), np.float32(1))
    tone = FROM_ALL + toward * _dot(normal, SIDES[None])
    return np.stack([tone] * 3)


def _glossy(colour: F32, tone: F32, normal: F32, ways: F32, gloss: F32) -> F32:
    """Add the reflection of a room that is bright above and dim below."""
    one, half = np.float32(1), np.float32(0.5)
    length = np.sqrt(_dot(ways, ways))
    facing = _dot(normal, ways) / length
    rise = ways[:, 1] / length - (facing + facing) * normal[:, 1]
    aslant = np.maximum(one - np.abs(facing), 0)
    twice = aslant * aslant
    part = gloss * (np.float32(0.05) + np.float32(0.6) * (twice * twice * aslant))
    part[gloss <= np.float32(0.02)] = 0
    above = np.minimum(np.maximum(rise * np.float32(0.7) + half, np.float32(0.15)), one)
    around = above * ((tone[0] + tone[1] + tone[2]) * np.float32(1 / 3))
    return np.asarray(colour + (around - colour * half) * part)


def _dot(one: F32, other: F32) -> F32:
    """Return the dot products of rows, added from left to right, so that the order is fixed."""
    return np.asarray(one[:, 0] * other[:, 0] + one[:, 1] * other[:, 1] + one[:, 2] * other[:, 2])
