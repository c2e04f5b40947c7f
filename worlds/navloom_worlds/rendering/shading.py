"""How what rays met looks: texture, light, gloss and sky, in numpy.

Colours are three rows, one a channel, as numpy is fastest with them.
Every step is one of float32 in a fixed order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from navloom_worlds.geometry.rays import Hits
from navloom_worlds.geometry.solids import Floats
from navloom_worlds.rendering.atlas import UNIT, Light
from navloom_worlds.rendering.facets import Facets
from navloom_worlds.rendering.sky import sky
from navloom_worlds.rendering.texels import LEVELS, LINEAR, Texels, encoded

_STEPS = 8_192
_BRIGHTEST = 4.0
"""Light above is as white as paper can be drawn."""


def _curve() -> NDArray[np.uint8]:
    """Light to sRGB: straight up to a shoulder, which bends so that windows are not burnt out."""
    light = np.linspace(0, 1, _STEPS) ** 2 * _BRIGHTEST
    start = 0.62
    over = np.maximum(light - start, 0) / (1 - start)
    bent = np.where(light < start, light, start + (1 - start) * (1 - np.exp(-over * 0.9)))
    return encoded(bent.astype(np.float32))


CURVE = _curve()
"""(steps,) uint8: what the root of light, in steps up to the root of the brightest, is drawn as."""
TO_STEPS = np.float32((_STEPS - 1) / np.sqrt(_BRIGHTEST))


@dataclass(frozen=True, eq=False)
class Table:
    """All that one face adds to a pixel, in one row of ``rows``.

    Attributes:
        rows: (m, 20) float32: six of the place in the light, six of that on the texture, the colour
            (3), the density, the normal (3), and the glow.
        texture: (m,) int32.
        gloss: (m,) float32.
    """

    rows: Floats
    texture: NDArray[np.int32]
    gloss: Floats


def table_of(facets: Facets, light: Light | None) -> Table:
    """Put together what shading reads of each face."""
    place = np.zeros_like(facets.place)
    place += 0 if light is None else light.place
    rows = np.column_stack(
        [place, facets.place, facets.colour, facets.density, facets.normal, facets.glow]
    )
    rows = np.ascontiguousarray(rows, dtype=np.float32)
    return Table(rows, facets.texture, facets.gloss)


def shaded(
    facets: Facets,
    table: Table,
    light: Light | None,
    hits: Hits,
    ways: Floats,
    pixel: float,
    soft: bool = True,
) -> NDArray[np.uint8]:
    """The colours of what rays met.

    Args:
        facets: the faces.
        table: their rows.
        light: on them; None is the light of a bright day from all around.
        hits: what was met.
        ways: (n, 3) the rays' directions.
        pixel: how wide a pixel is at a distance of 1.
        soft: blend textures between texels, which takes a little longer.

    Returns:
        (n, 3) uint8 sRGB.
    """
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
        colour[:, lost] = sky(up).T
    return np.ascontiguousarray(drawn(colour).T)


def drawn(colour: Floats) -> NDArray[np.uint8]:
    """Light as sRGB bytes, by the curve."""
    steps = np.sqrt(np.maximum(colour, 0)) * TO_STEPS
    found: NDArray[np.uint8] = CURVE.take(np.minimum(steps, _STEPS - 1).astype(np.int32))
    return found


def _albedo(
    facets: Facets,
    table: Table,
    rows: Floats,
    face: NDArray[np.int32],
    hits: Hits,
    pixel: float,
    ways: Floats,
    soft: bool,
) -> Floats:
    texels = facets.texels
    if len(texels.mean) == 1:
        return np.array(rows[:, 12:15].T)
    u, v = hits.u, hits.v
    across = rows[:, 6] + u * rows[:, 7] + v * rows[:, 8]
    down = rows[:, 9] + u * rows[:, 10] + v * rows[:, 11]
    far = np.where(hits.face >= 0, hits.distance, np.float32(0))
    facing = np.abs(_dot(rows[:, 16:19], ways))
    # Seen aslant a texture is pressed together one way only: half way between the two.
    wide = far * rows[:, 15] * np.float32(pixel) / np.sqrt(np.maximum(facing, np.float32(0.05)))
    level = (np.maximum(wide * np.float32(1.4142), 1).view(np.int32) >> 23) - 127
    size = table.texture.take(face) * LEVELS + np.minimum(level, LEVELS - 1)
    return np.asarray(_texture(texels, size, across, down, soft) * rows[:, 12:15].T)


def _texture(
    texels: Texels, size: NDArray[np.int32], across: Floats, down: Floats, soft: bool
) -> Floats:
    """(3, n) linear colours of textures at a size; across and down in whole textures."""
    wide, high = texels.wide.take(size), texels.high.take(size)
    across, down = across * wide.astype(np.float32), down * high.astype(np.float32)
    if soft:
        across, down = across - np.float32(0.5), down - np.float32(0.5)
    left, top = np.floor(across), np.floor(down)
    x, y = left.astype(np.int32), top.astype(np.int32)
    first = texels.first.take(size)

    def texel(right: int, low: int) -> Floats:
        at = ((y + low) & (high - 1)) * wide + ((x + right) & (wide - 1))
        found: Floats = LINEAR.take(texels.pixels.take(first + at, axis=0).T)
        return found

    if not soft:
        return texel(0, 0)
    one, right, low = np.float32(1), across - left, down - top
    upper = texel(0, 0) * (one - right) + texel(1, 0) * right
    lower = texel(0, 1) * (one - right) + texel(1, 1) * right
    return np.asarray(upper * (one - low) + lower * low)


def _baked(light: Light, rows: Floats, hits: Hits) -> Floats:
    across = rows[:, 0] + hits.u * rows[:, 1] + hits.v * rows[:, 2]
    down = rows[:, 3] + hits.u * rows[:, 4] + hits.v * rows[:, 5]
    left, top = across.astype(np.int32), down.astype(np.int32)
    right_part, low_part = (across - left.astype(np.float32)), (down - top.astype(np.float32))
    index = top * np.int32(light.wide) + left
    return _blended(light.texels, index, light.wide, right_part, low_part)


def _blended(
    texels: NDArray[np.uint16], index: NDArray[np.int32], wide: int, x: Floats, y: Floats
) -> Floats:
    """(3, n) what lies between four texels, the first of which is given."""
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
"""Unbaked light: what comes from everywhere, and what more from either side."""


def _soft(rows: Floats, ways: Floats) -> Floats:
    """Light without rays: more from above, a little from one side; faces turned to the viewer."""
    normal = rows[:, 16:19]
    toward = np.where(_dot(normal, ways) > 0, np.float32(-1), np.float32(1))
    tone = FROM_ALL + toward * _dot(normal, SIDES[None])
    return np.stack([tone] * 3)


def _glossy(colour: Floats, tone: Floats, normal: Floats, ways: Floats, gloss: Floats) -> Floats:
    """What shines back of a room that is bright above and dim below."""
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


def _dot(one: Floats, other: Floats) -> Floats:
    """Products of rows, added from left to right, so that no library's order shows."""
    return np.asarray(one[:, 0] * other[:, 0] + one[:, 1] * other[:, 1] + one[:, 2] * other[:, 2])
