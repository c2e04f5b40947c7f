"""Light kept on disk by what it was worked out from: one npz file a mesh."""

from __future__ import annotations

from collections.abc import Callable
from typing import IO

import numpy as np

from navloom.disk_cache import LIGHT, content_key
from navloom_worlds.rendering.atlas import Light
from navloom_worlds.rendering.facets import Facets

FORMAT = 7
"""Raised when light is worked out in another way."""


def light_key(facets: Facets) -> str:
    """The name of a mesh's light: a hash of all that it depends on."""
    mesh = facets.mesh
    parts = (mesh.vertices, mesh.faces, mesh.owners, mesh.smooth, facets.albedo, facets.glow)
    return content_key(f"navloom light {FORMAT}", *parts)


def kept(facets: Facets, make: Callable[[], Light]) -> Light:
    """The light of a mesh from disk, or made and put there.

    Args:
        facets: the mesh.
        make: works the light out.
    """
    faces = len(facets.area)
    return LIGHT.kept(f"{light_key(facets)}.npz", make, _save, lambda file: _load(file, faces))


def _load(file: IO[bytes], faces: int) -> Light:
    with np.load(file, allow_pickle=False) as parts:
        light = Light(parts["texels"], int(parts["wide"]), parts["place"])
    sound = (
        light.texels.dtype == np.uint16
        and light.texels.ndim == 2
        and light.texels.shape[1] == 3
        and light.place.dtype == np.float32
        and light.place.shape == (faces, 6)
        and light.wide > 0
        and len(light.texels) % light.wide == 0
    )
    if not sound:
        raise ValueError("not what was written")
    return light


def _save(file: IO[bytes], light: Light) -> None:
    np.savez(file, texels=light.texels, wide=np.int64(light.wide), place=light.place)
