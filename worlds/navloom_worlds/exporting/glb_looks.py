"""Surfaces as glTF has them: a material each, their pictures once."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from navloom_worlds.exporting.glb_bytes import Glb
from navloom_worlds.geometry.solids import RGB, Floats, Picture, Surface, floats
from navloom_worlds.geometry.textures import texture

Colours = Literal["linear", "shown", "painted"]
"""Where a surface's own colour goes: into a factor, as light, which is glTF; into a factor as it is
shown, for renderers that do not ask which; into pictures alone, as scans have it."""

_PNG, _JPEG = "image/png", "image/jpeg"
_QUALITY = 92
"""Of JPEG: nobody sees its steps in wood, brick and cloth."""
_CLEARLY = 0.8
"""A PNG, which loses nothing, is taken unless a JPEG is this much smaller."""
_CELL = 4
"""Texels that a colour is wide on a picture of colours."""
_WHITE = (1.0, 1.0, 1.0)


class Looks:
    """The materials of a GLB, each made when it is first asked for.

    Args:
        glb: what they are added to.
        surfaces: those that there are.
        colours: where their colours go.
    """

    def __init__(self, glb: Glb, surfaces: Sequence[Surface], colours: Colours = "linear") -> None:
        self._glb = glb
        self._colours = colours
        self._materials: dict[Surface, int] = {}
        self._textures: dict[tuple[str | Picture, RGB], int] = {}
        self._alike: dict[str, int] = {}
        self._plain: dict[RGB, int] = {}
        self._side = 1
        if colours == "painted":
            for each in surfaces:
                if not each.texture:
                    self._plain.setdefault(each.rgb, len(self._plain))
            self._side = max(1, int(np.ceil(np.sqrt(len(self._plain)))))

    def of(self, surface: Surface) -> int:
        """The number of a surface's material."""
        if surface not in self._materials:
            self._materials[surface] = self._made(surface)
        return self._materials[surface]

    def place(self, surface: Surface) -> Floats | None:
        """(2,) where on its picture all of a surface lies; None where its vertices say."""
        number = None if surface.texture else self._plain.get(surface.rgb)
        if number is None:
            return None
        row, column = divmod(number, self._side)
        return floats([(column + 0.5) / self._side, (row + 0.5) / self._side])

    def _made(self, surface: Surface) -> int:
        rough: dict[str, Any] = {
            "metallicFactor": 0.0,
            "roughnessFactor": round(1.0 - min(max(surface.gloss, 0.0), 1.0), 5),
        }
        if self._colours != "painted":
            rgb = np.array(surface.rgb)
            factor = linear(rgb) if self._colours == "linear" else rgb
            rough["baseColorFactor"] = [*(round(float(each), 5) for each in factor), 1.0]
        fields: dict[str, Any] = {"pbrMetallicRoughness": rough, "doubleSided": True}
        shown = self._texture(surface)
        if shown is not None:
            rough["baseColorTexture"] = {"index": shown}
        if surface.glow > 0:
            fields["emissiveFactor"] = [round(min(1.0, surface.glow), 5)] * 3
            if shown is not None:
                fields["emissiveTexture"] = {"index": shown}
        key = repr(fields)
        if key not in self._alike:
            self._alike[key] = self._glb.material(**fields)
        return self._alike[key]

    def _texture(self, surface: Surface) -> int | None:
        if not surface.texture and not self._plain:
            return None
        painted = self._colours == "painted" and surface.texture
        key = (surface.texture, surface.rgb if painted else _WHITE)
        if key not in self._textures:
            if not surface.texture:
                colours = np.zeros((self._side**2, 3))
                colours[: len(self._plain)] = list(self._plain)
                cells = np.rint(colours * 255).astype(np.uint8).reshape(self._side, self._side, 3)
                data = _encoded(cells.repeat(_CELL, axis=0).repeat(_CELL, axis=1), _PNG)
            elif isinstance(surface.texture, str):
                data = _named(surface.texture, key[1])
            else:
                data = _smallest(_tinted(surface.texture.pixels[..., :3], key[1]))
            self._textures[key] = self._glb.image(*data, sharp=not surface.texture)
        return self._textures[key]


def linear(srgb: NDArray[np.floating]) -> NDArray[np.float64]:
    """Values of sRGB, 0 to 1, as light."""
    value = np.clip(np.asarray(srgb, dtype=np.float64), 0, 1)
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def _tinted(pixels: NDArray[np.uint8], rgb: RGB) -> NDArray[np.uint8]:
    """A picture in a colour, as light is multiplied."""
    if rgb == _WHITE:
        return pixels
    light = linear(np.arange(256) / 255)[:, None] * linear(np.array(rgb))
    bent = np.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055)
    table = np.rint(bent * 255).astype(np.uint8)
    return np.stack([table[pixels[..., k], k] for k in range(3)], axis=-1)


@lru_cache(maxsize=256)
def _named(name: str, rgb: RGB) -> tuple[bytes, str]:
    if rgb == _WHITE:
        return _smallest(texture(name))
    # What is best for a texture is best for it in colour.
    return _encoded(_tinted(texture(name), rgb), _named(name, _WHITE)[1])


def _smallest(pixels: NDArray[np.uint8]) -> tuple[bytes, str]:
    """A picture as a PNG or a JPEG, and which."""
    exact, near = _encoded(pixels, _PNG), _encoded(pixels, _JPEG)
    return near if len(near[0]) < _CLEARLY * len(exact[0]) else exact


def _encoded(pixels: NDArray[np.uint8], mime: str) -> tuple[bytes, str]:
    image, picture = Image.fromarray(np.ascontiguousarray(pixels[..., :3])), io.BytesIO()
    if mime == _PNG:
        image.save(picture, "PNG")
    else:
        image.save(picture, "JPEG", quality=_QUALITY, subsampling=0)
    return picture.getvalue(), mime
