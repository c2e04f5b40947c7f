"""The light on every face as one picture, without steps where one texel meets the next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from navloom_worlds.geometry.solids import Floats
from navloom_worlds.rendering.charts import Layout, layout_of
from navloom_worlds.rendering.facets import Facets
from navloom_worlds.rendering.lightmap import spot_light

FINE = 2
"""Texels of the picture across one of the layout: 5 cm."""
UNIT = 16_384
"""What stands for a light of 1."""
_FEW = 50
"""Spots of floors that say nothing about how bright a place is."""
_CORNER = 2
"""Texels along the sides of a small round face: one for each corner."""


@dataclass(frozen=True, eq=False)
class Light:
    """Light as shading reads it.

    Attributes:
        texels: (rows * wide, 3) uint16, linear; ``UNIT`` is a light of 1.
        wide: texels in a row.
        place: (m, 6) float32: across = p0 + u * p1 + v * p2, down = p3 + u * p4 + v * p5, from the
            middle of the first texel; what lies between four texels is blended of them.
    """

    texels: NDArray[np.uint16]
    wide: int
    place: Floats


DARK = Light(np.zeros((16, 3), dtype=np.uint16), 4, np.zeros((1, 6), dtype=np.float32))
"""No light at all, for what glows as bright as it is seen."""


def baked(facets: Facets) -> Light:
    """The light of a mesh, worked out; seconds."""
    layout = layout_of(facets)
    light, open_, floor = spot_light(facets, layout)
    light = _exposed(light, floor if floor.sum() >= _FEW else open_)
    fine = _finer(_filled(layout, light, open_))
    wide = layout.wide * FINE
    blocks, place = _small(facets, layout, light, len(fine), wide)
    # The last rows are there to be read beside those above, and never seen.
    spare = np.zeros((2, wide, 3), dtype=np.float32)
    texels = np.concatenate([fine, blocks, spare]).reshape(-1, 3)
    # From here on places are counted from the middles of texels.
    place[:, 0::3] -= np.float32(0.5)
    return Light(np.clip(texels * UNIT, 0, 65_535).astype(np.uint16), wide, place)


def _exposed(light: Floats, inside: NDArray[np.bool_]) -> Floats:
    """Light as a photograph would take it: rooms bright, what is far brighter held back."""
    tone = light @ np.array([0.3, 0.55, 0.15], dtype=np.float32)
    usual = float(np.median(tone[inside])) if inside.any() else 1.0
    scaled = tone * np.float32(0.78 / max(usual, 1e-3))
    # Eyes and cameras go with the room they are in: what is dim is lifted, what is bright held.
    bent = np.where(scaled > 1, 1 + 0.4 * np.log(np.maximum(scaled, 1)), scaled**0.7)
    return np.asarray(light * (bent / np.maximum(tone, 1e-4))[:, None], dtype=np.float32)


def _filled(layout: Layout, light: Floats, open_: NDArray[np.bool_]) -> Floats:
    """The texels' light as a picture; what lies within walls takes that of its neighbours."""
    image = np.zeros((layout.high, layout.wide, 3), dtype=np.float32)
    known = np.zeros((layout.high, layout.wide), dtype=np.bool_)
    texel = layout.spot >= 0
    image[texel] = light[: layout.texels]
    known[texel] = open_[: layout.texels]
    chart = layout.chart
    for _ in range(12):
        total = np.zeros_like(image)
        count = np.zeros(known.shape, dtype=np.float32)
        for axis in (0, 1):
            for step in (1, -1):
                take = np.roll(known, step, axis) & (np.roll(chart, step, axis) == chart)
                take &= ~known & (chart >= 0)
                total[take] += np.roll(image, step, axis)[take]
                count[take] += 1
        found = count > 0
        if not found.any():
            break
        image[found] = total[found] / count[found][:, None]
        known |= found
    # Nobody sees much of a plane that lies on another: what light it has will do.
    dark = np.zeros_like(image)
    dark[texel] = light[: layout.texels]
    image[~known] = dark[~known]
    return image


def _finer(image: Floats) -> Floats:
    """A picture ``FINE`` times as wide and high, without steps: twice averaged over a texel."""
    fine = image
    for axis in (0, 1):
        fine = np.repeat(fine, FINE, axis=axis)
        for _ in range(2):
            fine = _averaged(fine, axis)
    return fine


def _averaged(image: Floats, axis: int) -> Floats:
    """Over three texels along one axis, the middle one counting twice."""
    total = (np.roll(image, 1, axis) + np.roll(image, -1, axis)) * np.float32(0.25)
    return np.asarray(total + image * np.float32(0.5))


def _small(
    facets: Facets, layout: Layout, light: Floats, top: int, wide: int
) -> tuple[Floats, Floats]:
    """Small faces' light: a texel for each cluster, blocks of four for round faces.

    Returns:
        Rows to be put below ``top`` rows, and all faces' places.
    """
    place = layout.place * np.float32(FINE)
    of_cluster = light[layout.texels :]
    lone = np.flatnonzero((layout.cluster >= 0) & ~facets.mesh.smooth)
    rows = -(-max(1, len(of_cluster)) // wide)
    flat = np.zeros((rows * wide, 3), dtype=np.float32)
    flat[: len(of_cluster)] = of_cluster
    cluster = layout.cluster[lone]
    place[lone, 0] = cluster % wide + np.float32(0.5)
    place[lone, 3] = top + cluster // wide + np.float32(0.5)
    round_ = np.flatnonzero((layout.cluster >= 0) & facets.mesh.smooth)
    blocks = _round_blocks(facets, of_cluster, layout, round_)
    across = wide // _CORNER
    down = -(-len(round_) // across)
    image = np.zeros((down * across, _CORNER, _CORNER, 3), dtype=np.float32)
    image[: len(round_)] = blocks
    image = image.reshape(down, across, _CORNER, _CORNER, 3).transpose(0, 2, 1, 3, 4)
    lower = np.zeros((down * _CORNER, wide, 3), dtype=np.float32)
    lower[:, : across * _CORNER] = image.reshape(down * _CORNER, across * _CORNER, 3)
    order = np.arange(len(round_))
    # The corners lie in the middles of the block's own corners.
    place[round_, 0] = order % across * _CORNER + np.float32(0.5)
    place[round_, 1] = _CORNER - 1
    place[round_, 3] = top + rows + order // across * _CORNER + np.float32(0.5)
    place[round_, 5] = _CORNER - 1
    return np.concatenate([flat.reshape(rows, wide, 3), lower]), place


def _round_blocks(
    facets: Facets, of_cluster: Floats, layout: Layout, faces: NDArray[np.int64]
) -> Floats:
    """(n, 2 down, 2 across, 3): the light at a round face's corners."""
    corners = facets.mesh.faces[faces]
    own = of_cluster[layout.cluster[faces]]
    size = facets.area[faces] + 1e-9
    count = len(facets.mesh.vertices)
    weight = sum(np.bincount(corners[:, k], size, count) for k in range(3))
    at = np.zeros((count, 3), dtype=np.float32)
    for channel in range(3):
        total = sum(np.bincount(corners[:, k], size * own[:, channel], count) for k in range(3))
        at[:, channel] = total / np.maximum(weight, 1e-12)
    a, b, c = (at[corners[:, k]] for k in range(3))
    # The fourth is where it makes the light between the other three even.
    fourth = np.maximum(b + c - a, 0)
    return np.stack([np.stack([a, b], axis=1), np.stack([c, fourth], axis=1)], axis=1)
