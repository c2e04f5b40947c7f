"""Textures and pictures as texels in one array, each at every size that distance asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from navloom_worlds.geometry.solids import Floats, Ints, Picture, Surface, floats, linear, srgb_of
from navloom_worlds.geometry.textures import texture

LEVELS = 10
"""Sizes that a texture has at most: each half as wide and as high as the one before."""
_MOST = 1 << (LEVELS - 1)

LINEAR = floats(linear(np.arange(256) / 255))
"""How much light each of the 256 values of sRGB stands for, 0 to 1."""


def encoded(light: NDArray[np.floating]) -> NDArray[np.uint8]:
    """Linear light, clipped to 0 to 1, as sRGB bytes."""
    return np.asarray(srgb_of(light) * 255 + 0.5, dtype=np.uint8)


@dataclass(frozen=True, eq=False)
class Texels:
    """All textures of a mesh.

    Attributes:
        pixels: (n, 3) uint8 sRGB: of each texture, of each of its sizes, row by row.
        first: (textures * LEVELS,) int32, the first row of ``pixels`` of each size of a texture;
            sizes smaller than one texel repeat the last.
        wide: (textures * LEVELS,) int32, texels across, a power of two.
        high: (textures * LEVELS,) int32, texels down, a power of two.
        mean: (textures, 3) float32, the mean linear light of each.
        of_surface: (surfaces,) int32, which texture a surface has.
    """

    pixels: NDArray[np.uint8]
    first: Ints
    wide: Ints
    high: Ints
    mean: Floats
    of_surface: Ints


def texels_of(surfaces: Sequence[Surface]) -> Texels:
    """The textures that surfaces name, and the pictures on them."""
    known: dict[str | Picture, int] = {"": 0}
    of_surface = np.array(
        [known.setdefault(each.texture, len(known)) for each in surfaces], dtype=np.int32
    )
    pixels: list[NDArray[np.uint8]] = []
    first, wide, high, mean = [], [], [], []
    rows = 0
    for source in known:
        sizes = _named(source) if isinstance(source, str) else _sizes(source.pixels)
        for level in range(LEVELS):
            size = sizes[min(level, len(sizes) - 1)]
            if level < len(sizes):
                pixels.append(size.reshape(-1, 3))
                rows += len(pixels[-1])
            first.append(rows - size.shape[0] * size.shape[1])
            wide.append(size.shape[1])
            high.append(size.shape[0])
        mean.append(LINEAR[sizes[-1]].reshape(-1, 3).mean(axis=0))
    return Texels(
        np.concatenate(pixels),
        np.array(first, dtype=np.int32),
        np.array(wide, dtype=np.int32),
        np.array(high, dtype=np.int32),
        np.array(mean, dtype=np.float32),
        of_surface,
    )


@lru_cache(maxsize=128)
def _named(name: str) -> tuple[NDArray[np.uint8], ...]:
    if not name:
        return (np.full((1, 1, 3), 255, dtype=np.uint8),)
    return _sizes(texture(name))


def _sizes(pixels: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], ...]:
    """A picture and its halves down to one texel; averaged as light, so that none goes dark."""
    high, wide = (_power(side) for side in pixels.shape[:2])
    if pixels.shape[:2] != (high, wide):
        image = Image.fromarray(np.ascontiguousarray(pixels[..., :3]))
        pixels = np.asarray(image.resize((wide, high), Image.Resampling.BOX))
    light: NDArray[np.floating] = LINEAR[pixels]
    sizes = [np.ascontiguousarray(pixels)]
    while light.shape[0] > 1 or light.shape[1] > 1:
        if light.shape[0] > 1:
            light = (light[0::2] + light[1::2]) / 2
        if light.shape[1] > 1:
            light = (light[:, 0::2] + light[:, 1::2]) / 2
        sizes.append(encoded(light))
    return tuple(sizes)


def _power(side: int) -> int:
    return int(min(_MOST, 1 << max(0, round(float(np.log2(max(side, 1)))))))
