"""Mipmaps: textures and images as texels in one array, each at all mip levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from navloom_worlds.geometry.arrays import F32, I32, U8
from navloom_worlds.geometry.solids import (
    Surface,
    TextureImage,
    as_f32,
    linear_to_srgb,
    srgb_to_linear,
)
from navloom_worlds.geometry.textures import texture_pixels

LEVELS = 10
"""Maximum number of mip levels of a texture: each has half the width and height of the last."""
_MOST = 1 << (LEVELS - 1)

LINEAR = as_f32(srgb_to_linear(np.arange(256) / 255))
"""Linear light of each of the 256 sRGB values, 0 to 1."""


def encode_srgb(light: NDArray[np.floating]) -> U8:
    """Convert linear light, clipped to 0 to 1, to sRGB bytes."""
    return np.asarray(linear_to_srgb(light) * 255 + 0.5, dtype=np.uint8)


@dataclass(frozen=True, eq=False)
class Mipmaps:
    """Mipmaps of all textures of a mesh.

    Attributes:
        pixels: (n, 3) uint8 sRGB: each texture, each of its levels, row by row.
        first: (textures * LEVELS,) int32, the first row of ``pixels`` of each level of a texture;
            levels smaller than one texel repeat the last.
        wide: (textures * LEVELS,) int32, texels across, a power of two.
        high: (textures * LEVELS,) int32, texels down, a power of two.
        mean: (textures, 3) float32, the mean linear light of each.
        of_surface: (surfaces,) int32, the texture of each surface.
    """

    pixels: U8
    first: I32
    wide: I32
    high: I32
    mean: F32
    of_surface: I32


def build_mipmaps(surfaces: Sequence[Surface]) -> Mipmaps:
    """Build the mipmaps of the textures and images of some surfaces."""
    known: dict[str | TextureImage, int] = {"": 0}
    of_surface = np.array(
        [known.setdefault(each.texture, len(known)) for each in surfaces], dtype=np.int32
    )
    pixels: list[U8] = []
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
    return Mipmaps(
        np.concatenate(pixels),
        np.array(first, dtype=np.int32),
        np.array(wide, dtype=np.int32),
        np.array(high, dtype=np.int32),
        np.array(mean, dtype=np.float32),
        of_surface,
    )


@lru_cache(maxsize=128)
def _named(name: str) -> tuple[U8, ...]:
    if not name:
        return (np.full((1, 1, 3), 255, dtype=np.uint8),)
    return _sizes(texture_pixels(name))


def _sizes(pixels: U8) -> tuple[U8, ...]:
    """Return the mip levels of an image, averaged as linear light to keep the brightness."""
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
        sizes.append(encode_srgb(light))
    return tuple(sizes)


def _power(side: int) -> int:
    return int(min(_MOST, 1 << max(0, round(float(np.log2(max(side, 1)))))))
