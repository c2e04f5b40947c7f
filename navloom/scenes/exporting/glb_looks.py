"""Surfaces as glTF has them: a material each, their pictures once, colours linear."""

from __future__ import annotations

import io
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from navloom.scenes.exporting.glb_bytes import Glb
from navloom.scenes.geometry.solids import Picture, Surface
from navloom.scenes.geometry.textures import texture

_QUALITY = 92
"""Of JPEG: nobody sees its steps in wood, brick and cloth."""
_CLEARLY = 0.8
"""A PNG, which loses nothing, is taken unless a JPEG is this much smaller."""


class Looks:
    """The materials of a GLB, each made when it is first asked for.

    Args:
        glb: what they are added to.
        linear_factors: whether colours are written as light, as glTF has them, or as they are
            shown, for renderers that do not ask which.
    """

    def __init__(self, glb: Glb, *, linear_factors: bool = True) -> None:
        self._glb = glb
        self._linear = linear_factors
        self._materials: dict[Surface, int] = {}
        self._textures: dict[str | Picture, int] = {}

    def of(self, surface: Surface) -> int:
        """The number of a surface's material."""
        if surface not in self._materials:
            self._materials[surface] = self._made(surface)
        return self._materials[surface]

    def _made(self, surface: Surface) -> int:
        colour = linear(np.array(surface.rgb)) if self._linear else np.array(surface.rgb)
        factor = [round(float(each), 5) for each in colour]
        rough: dict[str, Any] = {
            "baseColorFactor": [*factor, 1.0],
            "metallicFactor": 0.0,
            "roughnessFactor": round(1.0 - min(max(surface.gloss, 0.0), 1.0), 5),
        }
        fields: dict[str, Any] = {"pbrMetallicRoughness": rough, "doubleSided": True}
        if surface.texture:
            shown = {"index": self._texture(surface.texture)}
            rough["baseColorTexture"] = shown
        if surface.glow > 0:
            fields["emissiveFactor"] = [round(min(1.0, surface.glow), 5)] * 3
            if surface.texture:
                fields["emissiveTexture"] = shown
        return self._glb.material(**fields)

    def _texture(self, source: str | Picture) -> int:
        if source not in self._textures:
            data, mime = _named(source) if isinstance(source, str) else _smallest(source.pixels)
            self._textures[source] = self._glb.image(data, mime)
        return self._textures[source]


def linear(srgb: NDArray[np.floating]) -> NDArray[np.float64]:
    """Values of sRGB, 0 to 1, as light."""
    value = np.clip(np.asarray(srgb, dtype=np.float64), 0, 1)
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


@lru_cache(maxsize=64)
def _named(name: str) -> tuple[bytes, str]:
    return _smallest(texture(name))


def _smallest(pixels: NDArray[np.uint8]) -> tuple[bytes, str]:
    """A picture as a PNG or a JPEG, and which."""
    image = Image.fromarray(np.ascontiguousarray(pixels[..., :3]))
    exact, near = io.BytesIO(), io.BytesIO()
    image.save(exact, "PNG")
    image.save(near, "JPEG", quality=_QUALITY, subsampling=0)
    if len(near.getvalue()) < _CLEARLY * len(exact.getvalue()):
        return near.getvalue(), "image/jpeg"
    return exact.getvalue(), "image/png"
