"""Export of a scene's mesh as a GLB: one node per item, named by the item's id, with its materials.

Each surface becomes a glTF material; images are stored once.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from PIL import Image

from navloom.scenes.scene import Scene
from navloom_worlds.exporting.face_orientation import mesh_to_export, orient_faces
from navloom_worlds.exporting.file_writer import write_files
from navloom_worlds.exporting.glb_writer import GlbPrimitive, GlbWriter
from navloom_worlds.geometry.arrays import F32, F64, I64, U8
from navloom_worlds.geometry.mesh import SceneMesh
from navloom_worlds.geometry.planar_uv import project_uv
from navloom_worlds.geometry.semantic_ids import unique_owner_names
from navloom_worlds.geometry.solids import (
    RGB,
    Surface,
    TextureImage,
    area_normals,
    as_f32,
    linear_to_srgb,
    srgb_to_linear,
)
from navloom_worlds.geometry.textures import texture_pixels

Colours = Literal["linear", "shown", "painted"]
"""Where a surface's own colour is stored: in a linear factor, as glTF requires; in an sRGB factor,
for renderers that ignore the difference; in images only, as in scans."""

_PNG, _JPEG = "image/png", "image/jpeg"
_QUALITY = 92
"""JPEG quality: its artefacts are invisible in wood, brick and cloth."""
_CLEARLY = 0.8
"""Size ratio below which a JPEG is used instead of a lossless PNG."""
_CELL = 4
"""Width in texels of a colour in the palette image."""
_WHITE = (1.0, 1.0, 1.0)


class GlbMaterials:
    """Materials of a GLB, each created on first use.

    Args:
        glb: the file that they are added to.
        surfaces: all surfaces.
        colours: where their colours are stored.
    """

    def __init__(
        self, glb: GlbWriter, surfaces: Sequence[Surface], colours: Colours = "linear"
    ) -> None:
        self._glb = glb
        self._colours = colours
        self._materials: dict[Surface, int] = {}
        self._textures: dict[tuple[str | TextureImage, RGB], int] = {}
        self._alike: dict[str, int] = {}
        self._plain: dict[RGB, int] = {}
        self._side = 1
        if colours == "painted":
            for each in surfaces:
                if not each.texture:
                    self._plain.setdefault(each.rgb, len(self._plain))
            self._side = max(1, int(np.ceil(np.sqrt(len(self._plain)))))

    def of(self, surface: Surface) -> int:
        """Return the number of a surface's material in the GLB."""
        if surface not in self._materials:
            self._materials[surface] = self._made(surface)
        return self._materials[surface]

    def place(self, surface: Surface) -> F32 | None:
        """Return a plain surface's palette coordinates, (2,); None for a textured surface."""
        number = None if surface.texture else self._plain.get(surface.rgb)
        if number is None:
            return None
        row, column = divmod(number, self._side)
        return as_f32([(column + 0.5) / self._side, (row + 0.5) / self._side])

    def _made(self, surface: Surface) -> int:
        rough: dict[str, Any] = {
            "metallicFactor": 0.0,
            "roughnessFactor": round(1.0 - min(max(surface.gloss, 0.0), 1.0), 5),
        }
        if self._colours != "painted":
            rgb = np.array(surface.rgb)
            factor = srgb_to_linear(rgb) if self._colours == "linear" else rgb
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


def _tinted(pixels: U8, rgb: RGB) -> U8:
    """Return an image multiplied by a colour, as linear light."""
    if rgb == _WHITE:
        return pixels
    light = srgb_to_linear(np.arange(256) / 255)[:, None] * srgb_to_linear(np.array(rgb))
    table = np.rint(linear_to_srgb(light) * 255).astype(np.uint8)
    return np.stack([table[pixels[..., k], k] for k in range(3)], axis=-1)


@lru_cache(maxsize=256)
def _named(name: str, rgb: RGB) -> tuple[bytes, str]:
    if rgb == _WHITE:
        return _smallest(texture_pixels(name))
    # The format that is best for a texture is best for its tinted version.
    return _encoded(_tinted(texture_pixels(name), rgb), _named(name, _WHITE)[1])


def _smallest(pixels: U8) -> tuple[bytes, str]:
    """Encode an image as PNG or JPEG, and return the data and the type."""
    exact, near = _encoded(pixels, _PNG), _encoded(pixels, _JPEG)
    return near if len(near[0]) < _CLEARLY * len(exact[0]) else exact


def _encoded(pixels: U8, mime: str) -> tuple[bytes, str]:
    image, picture = Image.fromarray(np.ascontiguousarray(pixels[..., :3])), io.BytesIO()
    if mime == _PNG:
        image.save(picture, "PNG")
    else:
        image.save(picture, "JPEG", quality=_QUALITY, subsampling=0)
    return picture.getvalue(), mime


_FINE = 65_536
"""Texture coordinates are rounded to 1 / this before corners are merged into vertices."""


def save_glb(scene: Scene, path: Path) -> Path:
    """Write a scene as a GLB, atomically.

    Args:
        scene: it must have geometry.
        path: the file; its folder is created if missing.

    Returns:
        ``path``.

    Raises:
        SceneError: the scene has no geometry, is too large, or the file cannot be written.
    """
    write_files(path.parent, {path.name: scene_glb(scene)})
    return path


def scene_glb(
    scene: Scene, *, z_up: bool = False, one_sided: bool = False, colours: Colours = "linear"
) -> bytes:
    """Return a scene as the content of a GLB; the same scene gives the same bytes.

    Items' nodes have their ids; walls, floors and doors the names that
    :func:`navloom_worlds.geometry.semantic_ids.unique_owner_names` gives. Textures are repeating
    images with the same mapping as in the embedded renderer. Smooth faces have normals.

    Args:
        scene: it must have geometry.
        z_up: z up and y ahead, as in HM3D; else y up and -z ahead.
        one_sided: for renderers that draw front sides only
            (:func:`navloom_worlds.exporting.face_orientation.orient_faces`).
        colours: where colours are stored (:data:`navloom_worlds.exporting.glb_export.Colours`);
            ``shown`` is for renderers without light: vertex colours then distinguish the sides of
            an item, and there are no normals.

    Raises:
        SceneError: the scene has no geometry, or is too large.
    """
    mesh = mesh_to_export(scene)
    if one_sided:
        mesh, _ = orient_faces(mesh)
    glb = GlbWriter(scene.uri)
    looks = GlbMaterials(glb, mesh.surfaces, colours)
    corners = _Corners(mesh, shaded=colours == "shown")
    vertices, normals = mesh.vertices, corners.normals
    if z_up:
        vertices, normals = to_hm3d_frame(vertices), to_hm3d_frame(normals)
    names = unique_owner_names(scene)
    owned: dict[int, list[GlbPrimitive]] = {}
    for group in corners.groups():
        surface, vertex = mesh.surfaces[group.look], group.vertex
        part = GlbPrimitive(
            vertices[vertex],
            group.faces,
            looks.of(surface),
            _laid(group, surface, looks.place(surface)),
            normals[vertex] if group.smooth and colours != "shown" else None,
            group.shades if colours == "shown" else None,
        )
        owned.setdefault(group.owner, []).append(part)
    for owner, parts in owned.items():
        glb.node(names.get(owner, f"mesh_{owner}"), parts)
    return glb.done()


def to_hm3d_frame(points: F32) -> F32:
    """Convert points of the scene's frame (y up, -z ahead) to HM3D's (z up, y ahead)."""
    x, y, z = points.T
    return np.stack([x, -z, y], axis=1)


@dataclass(frozen=True, eq=False)
class _Group:
    """Faces of one owner and one surface, smooth or flat.

    Attributes:
        owner: owner id.
        look: index of the surface in the mesh.
        smooth: whether it is shaded smoothly.
        vertex: (n,) row of each vertex in the mesh.
        uv: (n, 2) texture coordinates of each vertex.
        shades: (n, 4) uint8, brightness of each vertex.
        faces: (m, 3) rows of these vertices.
    """

    owner: int
    look: int
    smooth: bool
    vertex: I64
    uv: F32
    shades: U8
    faces: I64


def _laid(group: _Group, surface: Surface, place: F32 | None) -> F32 | None:
    """Return the texture coordinates of a group's vertices, if it has an image."""
    if place is not None:
        return np.broadcast_to(place, group.uv.shape)
    return group.uv if surface.texture else None


class _Corners:
    """Corners of faces merged into vertices: equal positions and attributes become one."""

    def __init__(self, mesh: SceneMesh, *, shaded: bool) -> None:
        self._mesh = mesh
        corners = mesh.vertices[mesh.faces]
        cross = area_normals(corners)
        unit = cross / np.maximum(np.linalg.norm(cross, axis=1, keepdims=True), 1e-12)
        self._uv = _texture_places(mesh, corners, unit)
        self.normals = _round_normals(mesh, cross)
        self._shade = np.full(mesh.faces.shape, 255, dtype=np.int64)
        if shaded:
            turned = np.where(
                mesh.smooth[:, None, None], self.normals[mesh.faces], unit[:, None, :]
            )
            glow = np.array([look.glow > 0 for look in mesh.surfaces])[mesh.surface]
            self._shade[~glow] = _shades(turned[~glow])

    def groups(self) -> list[_Group]:
        """Return all groups, by owner, then by surface."""
        mesh = self._mesh
        by_group = np.lexsort((mesh.smooth, mesh.surface, mesh.owners))
        keys = np.stack([key[by_group] for key in (mesh.smooth, mesh.surface, mesh.owners)])
        last = np.flatnonzero(np.any(np.diff(keys.astype(np.int64), axis=1), axis=0))
        return [self._group(faces) for faces in np.split(by_group, last + 1)]

    def _group(self, faces: I64) -> _Group:
        vertex = self._mesh.faces[faces].reshape(-1).astype(np.int64)
        uv, shade = self._uv[faces].reshape(-1, 2), self._shade[faces].reshape(-1)
        near = np.rint(uv * _FINE).astype(np.int64)
        keys = np.stack([vertex, near[:, 0], near[:, 1], shade])
        order = np.lexsort(keys)
        new = np.any(np.diff(keys[:, order], axis=1) != 0, axis=0)
        row = np.empty(len(vertex), dtype=np.int64)
        row[order] = np.concatenate([[0], np.cumsum(new)])
        kept = order[np.concatenate([[True], new])]
        grey = np.repeat(shade[kept, None], 4, axis=1).astype(np.uint8)
        grey[:, 3] = 255
        lead = faces[0]
        return _Group(
            int(self._mesh.owners[lead]),
            int(self._mesh.surface[lead]),
            bool(self._mesh.smooth[lead]),
            vertex[kept],
            uv[kept].astype(np.float32),
            grey,
            row.reshape(-1, 3),
        )


def _shades(normals: F32) -> I64:
    """Return brightness 0 to 255 by direction: upward faces brighter, sides by their heading."""
    x, y, z = np.moveaxis(normals, -1, 0)
    shade = 0.88 + np.where(y > 0, 0.12, 0.04) * np.abs(y) + 0.045 * x - 0.03 * z
    return np.asarray(np.rint(np.clip(shade, 0, 1) * 255), dtype=np.int64)


def _texture_places(mesh: SceneMesh, corners: F32, normal: F32) -> F64:
    """Return texture coordinates of each corner, (m, 3, 2), in whole textures; 0 without one."""
    repeat = np.array([max(look.repeat, 1e-6) for look in mesh.surfaces])[mesh.surface]
    textured = np.array([bool(look.texture) for look in mesh.surfaces])[mesh.surface]
    uv = mesh.uv[mesh.faces].astype(np.float64)
    bare = np.isnan(uv).any(axis=(1, 2)) & textured
    if bare.any():
        uv[bare] = project_uv(corners[bare], normal[bare])
    uv /= repeat[:, None, None]
    uv[~textured] = 0
    return uv


def _round_normals(mesh: SceneMesh, cross: F32) -> F32:
    """Return unit normals (n, 3) of smooth vertices, weighted by face area; up elsewhere."""
    faces, cross = mesh.faces[mesh.smooth], cross[mesh.smooth].astype(np.float64)
    count = len(mesh.vertices)
    total = np.zeros((count, 3))
    for corner in range(3):
        for axis in range(3):
            total[:, axis] += np.bincount(faces[:, corner], cross[:, axis], count)
    long = np.linalg.norm(total, axis=1)
    total[long < 1e-12] = (0, 1, 0)
    return (total / np.where(long < 1e-12, 1, long)[:, None]).astype(np.float32)
