"""A scene's triangles as a GLB: one node a thing, called as the thing is, in its looks.

Surfaces as glTF has them: a material each, their pictures once.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from navloom.scenes.scene import Scene
from navloom_worlds.exporting.glb_bytes import Glb, Primitive
from navloom_worlds.exporting.seen_sides import mesh_to_export, seen_sides
from navloom_worlds.exporting.written import write_files
from navloom_worlds.geometry.laid_flat import laid_flat
from navloom_worlds.geometry.mesh import SceneMesh
from navloom_worlds.geometry.owners import distinct_names
from navloom_worlds.geometry.solids import (
    RGB,
    Floats,
    Picture,
    Surface,
    crossed,
    floats,
    linear,
    srgb_of,
)
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


def _tinted(pixels: NDArray[np.uint8], rgb: RGB) -> NDArray[np.uint8]:
    """A picture in a colour, as light is multiplied."""
    if rgb == _WHITE:
        return pixels
    light = linear(np.arange(256) / 255)[:, None] * linear(np.array(rgb))
    table = np.rint(srgb_of(light) * 255).astype(np.uint8)
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


_FINE = 65_536
"""Corners that lie this much of a texture apart, or less, are one vertex."""


def save_glb(scene: Scene, path: Path) -> Path:
    """Write a scene as a GLB; the file is whole at every instant.

    Args:
        scene: it must have geometry.
        path: the file; its folder is made where it is missing.

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
    """A scene as the content of a GLB; the same scene gives the same bytes.

    Items' nodes have their ids; walls, floors and doors the names that
    :func:`navloom_worlds.geometry.owners.distinct_names` gives. Textures are pictures that repeat,
    laid on as the embedded renderer lays them; what is shaded round has normals.

    Args:
        scene: it must have geometry.
        z_up: z up and y ahead, as HM3D has it; else y up and -z ahead.
        one_sided: for renderers that draw front sides alone
            (:func:`navloom_worlds.exporting.seen_sides.seen_sides`).
        colours: where surfaces' colours go (:data:`navloom_worlds.exporting.glb_file.Colours`);
            ``shown`` is for renderers without light: colours of vertices tell sides of a thing
            apart then, and there are no normals.

    Raises:
        SceneError: the scene has no geometry, or is too large.
    """
    mesh = mesh_to_export(scene)
    if one_sided:
        mesh, _ = seen_sides(mesh)
    glb = Glb(scene.uri)
    looks = Looks(glb, mesh.surfaces, colours)
    corners = _Corners(mesh, shaded=colours == "shown")
    vertices, normals = mesh.vertices, corners.normals
    if z_up:
        vertices, normals = as_released(vertices), as_released(normals)
    names = distinct_names(scene)
    owned: dict[int, list[Primitive]] = {}
    for group in corners.groups():
        surface, vertex = mesh.surfaces[group.look], group.vertex
        part = Primitive(
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


def as_released(points: Floats) -> Floats:
    """Points of the scene's frame (y up, -z ahead) in HM3D's (z up, y ahead)."""
    x, y, z = points.T
    return np.stack([x, -z, y], axis=1)


@dataclass(frozen=True, eq=False)
class _Group:
    """What is one owner's, of one look, and round or not.

    Attributes:
        owner: its number.
        look: the surface's row in the mesh.
        smooth: whether it is shaded round.
        vertex: (n,) of each vertex its row in the mesh.
        uv: (n, 2) its place on the texture.
        shades: (n, 4) uint8, how bright it is.
        faces: (m, 3) rows of these.
    """

    owner: int
    look: int
    smooth: bool
    vertex: NDArray[np.int64]
    uv: Floats
    shades: NDArray[np.uint8]
    faces: NDArray[np.int64]


def _laid(group: _Group, surface: Surface, place: Floats | None) -> Floats | None:
    """Where a group's vertices lie on its picture, if there is one."""
    if place is not None:
        return np.broadcast_to(place, group.uv.shape)
    return group.uv if surface.texture else None


class _Corners:
    """Faces' corners as vertices: those that lie and look alike are one."""

    def __init__(self, mesh: SceneMesh, *, shaded: bool) -> None:
        self._mesh = mesh
        corners = mesh.vertices[mesh.faces]
        cross = crossed(corners)
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
        """All there are, by owner, then by look."""
        mesh = self._mesh
        by_group = np.lexsort((mesh.smooth, mesh.surface, mesh.owners))
        keys = np.stack([key[by_group] for key in (mesh.smooth, mesh.surface, mesh.owners)])
        last = np.flatnonzero(np.any(np.diff(keys.astype(np.int64), axis=1), axis=0))
        return [self._group(faces) for faces in np.split(by_group, last + 1)]

    def _group(self, faces: NDArray[np.int64]) -> _Group:
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


def _shades(normals: Floats) -> NDArray[np.int64]:
    """(...) 0 to 255: brighter what looks up, sides by the way that they face."""
    x, y, z = np.moveaxis(normals, -1, 0)
    shade = 0.88 + np.where(y > 0, 0.12, 0.04) * np.abs(y) + 0.045 * x - 0.03 * z
    return np.asarray(np.rint(np.clip(shade, 0, 1) * 255), dtype=np.int64)


def _texture_places(mesh: SceneMesh, corners: Floats, normal: Floats) -> NDArray[np.float64]:
    """(m, 3, 2) where each corner lies, in whole textures; 0 where there is no texture."""
    repeat = np.array([max(look.repeat, 1e-6) for look in mesh.surfaces])[mesh.surface]
    textured = np.array([bool(look.texture) for look in mesh.surfaces])[mesh.surface]
    uv = mesh.uv[mesh.faces].astype(np.float64)
    bare = np.isnan(uv).any(axis=(1, 2)) & textured
    if bare.any():
        uv[bare] = laid_flat(corners[bare], normal[bare])
    uv /= repeat[:, None, None]
    uv[~textured] = 0
    return uv


def _round_normals(mesh: SceneMesh, cross: Floats) -> Floats:
    """(n, 3) unit: of vertices of round faces, the faces' mean by area; up elsewhere."""
    faces, cross = mesh.faces[mesh.smooth], cross[mesh.smooth].astype(np.float64)
    count = len(mesh.vertices)
    total = np.zeros((count, 3))
    for corner in range(3):
        for axis in range(3):
            total[:, axis] += np.bincount(faces[:, corner], cross[:, axis], count)
    long = np.linalg.norm(total, axis=1)
    total[long < 1e-12] = (0, 1, 0)
    return (total / np.where(long < 1e-12, 1, long)[:, None]).astype(np.float32)
