"""Per-face shading data, computed once: normal, texture coordinates, colour."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from navloom_worlds.geometry.arrays import F32, I32
from navloom_worlds.geometry.mesh import SceneMesh
from navloom_worlds.geometry.planar_uv import project_uv
from navloom_worlds.geometry.solids import Surface, as_f32, srgb_to_linear
from navloom_worlds.rendering.mipmaps import LEVELS, Mipmaps, build_mipmaps

_LEAST = 1e-12


@dataclass(frozen=True, eq=False)
class Facets:
    """Faces of a mesh as shading reads them; (m, ...) float32.

    Attributes:
        mesh: the mesh.
        texels: its textures.
        normal: (m, 3) unit, by the winding; 0 where a face has no area.
        area: (m,) square metres.
        texture: (m,) int32, index of the texture.
        place: (m, 6) texture coordinates of a point, in whole textures:
            across = p0 + u * p1 + v * p2, down = p3 + u * p4 + v * p5, u and v as in hits.
        density: (m,) texels per metre at the texture's full size.
        colour: (m, 3) linear factor on the texture.
        gloss: (m,) 0 to 1.
        glow: (m,) emitted light.
    """

    mesh: SceneMesh
    texels: Mipmaps
    normal: F32
    area: F32
    texture: I32
    place: F32
    density: F32
    colour: F32
    gloss: F32
    glow: F32

    @property
    def albedo(self) -> F32:
        """Share of the light that a face reflects, (m, 3), with the mean of its texture."""
        return self.colour * self.texels.mean[self.texture]


def build_facets(mesh: SceneMesh) -> Facets:
    """Compute the shading data of a mesh."""
    corners = mesh.vertices[mesh.faces]
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    double = np.linalg.norm(cross, axis=1)
    normal = cross / np.maximum(double, _LEAST)[:, None]
    texels = build_mipmaps(mesh.surfaces)
    texture = texels.of_surface[mesh.surface]
    place = _places(mesh, corners, normal)
    sizes = texels.wide[::LEVELS][texture] * texels.high[::LEVELS][texture]
    laid = np.abs(place[:, 1] * place[:, 5] - place[:, 2] * place[:, 4])
    density = np.sqrt(laid * sizes / np.maximum(double, _LEAST))
    return Facets(
        mesh,
        texels,
        normal.astype(np.float32),
        (double / 2).astype(np.float32),
        texture,
        place,
        density.astype(np.float32),
        _each(mesh, lambda look: as_f32(srgb_to_linear(look.rgb))),
        _each(mesh, lambda look: look.gloss),
        _each(mesh, lambda look: look.glow),
    )


def _each(mesh: SceneMesh, value: Callable[[Surface], F32 | float]) -> F32:
    found = np.array([value(look) for look in mesh.surfaces], dtype=np.float32)
    return np.asarray(found[mesh.surface])


def _places(mesh: SceneMesh, corners: F32, normal: F32) -> F32:
    """Return the texture coordinates of each face, (m, 6); see :class:`Facets`."""
    repeat = np.array([max(look.repeat, 1e-6) for look in mesh.surfaces])[mesh.surface]
    uv = mesh.uv[mesh.faces].astype(np.float64)
    bare = np.isnan(uv).any(axis=(1, 2))
    if bare.any():
        uv[bare] = project_uv(corners[bare], normal[bare])
    uv /= repeat[:, None, None]
    # Whole repeats are subtracted, so that no precision is lost far from the origin.
    uv -= np.floor(uv.min(axis=1, keepdims=True))
    first, second, third = uv[:, 0], uv[:, 1] - uv[:, 0], uv[:, 2] - uv[:, 0]
    return np.stack(
        [first[:, 0], second[:, 0], third[:, 0], first[:, 1], second[:, 1], third[:, 1]], axis=1
    ).astype(np.float32)
