"""Mesh of a scan as it is displayed: the surfaces of its GLB, with the owner of each triangle.

The release's two GLBs are one mesh with two paintings, in one order of triangles. If they are not,
each textured triangle takes the owner of the nearest triangle of the semantic mesh.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from PIL import Image
from scipy.spatial import KDTree

from navloom.errors import SceneError
from navloom.scenes.formats.scan_files import ScanFiles
from navloom.scenes.scene import Point3, Scene
from navloom_worlds.geometry.arrays import F32, I32, Bools
from navloom_worlds.geometry.glb_triangles import GlbTriangles, read_glb
from navloom_worlds.geometry.mesh_validation import load_texture, one_line_errors
from navloom_worlds.geometry.ray_casting import RayCaster
from navloom_worlds.geometry.scan_reader import SURFACES, Scan, glb_to_scene_frame, read_scan
from navloom_worlds.geometry.semantic_ids import NOTHING, SHELL, item_owner
from navloom_worlds.geometry.solids import (
    Surface,
    TextureImage,
    area_normals,
    as_f32,
    linear_to_srgb,
    rotate_yaw,
)

GREY = Surface((0.72, 0.72, 0.72))
_MOST_SIDE = 2_048
_MOST_PIXELS = 200_000_000
"""Most pixels of all textures together (600 MB); beyond that they are downscaled."""
_SAME = 0.001
_NEAR = 0.1
"""Metres within which a textured triangle belongs to a semantic triangle."""
_FITTING = 0.5
_PHOTOGRAPHED = 0.95


@dataclass(frozen=True, eq=False)
class ScanAppearance:
    """Textured mesh of a scan, with the object of each face.

    Attributes:
        vertices: (n, 3) float32, in the scene's frame.
        faces: (m, 3) int32.
        numbers: (m,) int32, object of each face; 0 for none.
        uv: (n, 2) float32; NaN where there is no texture.
        surfaces: the surfaces.
        surface: (m,) int32, index of each face's surface.
        photographed: whether nearly all of it has photographic textures, which contain lighting.
    """

    vertices: F32
    faces: I32
    numbers: I32
    uv: F32
    surfaces: tuple[Surface, ...]
    surface: I32
    photographed: bool


def item_id_of(files: ScanFiles, number: int) -> str:
    """Return the item id of an object number."""
    return str(number) if files.source == "hm3d" else f"o{number - 1}"


def owners_by_number(scene: Scene, scan: Scan) -> I32:
    """Return the owner id, in a scene, of each object number of a scan.

    Returns:
        (greatest number + 1,) int32: owner ids of items and structure; ``NOTHING`` for an item
        that was removed from the scene; ``SHELL`` for no object.
    """
    places = {item.id: k for k, item in enumerate(scene.items)}
    out = np.full(max((x.number for x in scan.lines), default=0) + 1, SHELL, dtype=np.int32)
    for line in scan.lines:
        index = places.get(item_id_of(scan.files, line.number))
        gone = SURFACES.get(line.name, NOTHING)
        out[line.number] = gone if index is None else item_owner(index)
    return out


def scan_appearance(files: ScanFiles) -> ScanAppearance:
    """Return the textured mesh of a scan; the last one is cached.

    Raises:
        SceneError: a file of it is broken.
    """
    return _kept(files, files.stamp)


@lru_cache(maxsize=1)
def _kept(files: ScanFiles, _stamp: object) -> ScanAppearance:
    scan = read_scan(files)
    if files.looks is None:
        return _grey(scan)
    glb = glb_to_scene_frame(read_glb(files.looks), scan.upright)
    numbers, fitting = match_faces(scan, glb.vertices, glb.faces)
    if fitting < _FITTING:
        raise SceneError(
            f"{files.looks}: {1 - fitting:.0%} of its triangles lie off those of the semantic "
            "mesh beside it: expected two meshes of one home, in one frame."
        )
    surfaces, uv = _surfaces(glb)
    pictured = _photographed(glb, surfaces)
    if pictured:
        # A photograph keeps the brightness with which it was taken.
        surfaces = tuple(replace(each, glow=1.0) for each in surfaces)
    return ScanAppearance(glb.vertices, glb.faces, numbers, uv, surfaces, glb.material, pictured)


def _grey(scan: Scan) -> ScanAppearance:
    uv = np.full((len(scan.vertices), 2), np.nan, dtype=np.float32)
    nothing = np.zeros(len(scan.faces), dtype=np.int32)
    return ScanAppearance(scan.vertices, scan.faces, scan.numbers, uv, (GREY,), nothing, False)


def match_faces(scan: Scan, vertices: F32, faces: I32) -> tuple[I32, float]:
    """Return the object number of each triangle of another mesh of the same home.

    Returns:
        (m,) numbers, and the share of triangles that coincide with a semantic one.
    """
    if not scan.lines:
        return np.zeros(len(faces), dtype=np.int32), 1.0
    middles = vertices[faces].mean(axis=1)
    theirs = scan.vertices[scan.faces].mean(axis=1)
    if len(middles) == len(theirs) and float(np.abs(middles - theirs).max()) < _SAME:
        return scan.numbers, 1.0
    found = KDTree(theirs).query(middles, distance_upper_bound=_SAME)
    far, near = (np.asarray(each) for each in found)
    numbers = np.zeros(len(faces), dtype=np.int32)
    same = np.isfinite(far)
    numbers[same] = scan.numbers[near[same]]
    left = np.flatnonzero(~same)
    if not len(left):
        return numbers, 1.0
    numbers[left], lies = _by_rays(scan, vertices, faces[left], middles[left])
    return numbers, float((same.sum() + lies.sum()) / len(faces))


def _by_rays(scan: Scan, points: F32, faces: I32, middles: F32) -> tuple[I32, Bools]:
    """Return the object of the nearest semantic triangle along each triangle's normal line."""
    caster = RayCaster(scan.vertices, scan.faces)
    corners = points[faces]
    normal = area_normals(corners)
    long = np.linalg.norm(normal, axis=1, keepdims=True)
    up = np.array([0, 1, 0], dtype=np.float32)
    normal = np.where(long > 1e-12, normal / np.maximum(long, 1e-12), up).astype(np.float32)
    best = np.full(len(faces), np.inf, dtype=np.float32)
    face = np.full(len(faces), -1, dtype=np.int32)
    for way in (normal, -normal):
        # The ray starts a little before the triangle, so that coincident triangles are hit.
        hits = caster.cast((middles - way * np.float32(0.002)).astype(np.float32), way)
        nearer = hits.distance < best
        best[nearer], face[nearer] = hits.distance[nearer], hits.face[nearer]
    lies = best <= _NEAR
    numbers = np.zeros(len(faces), dtype=np.int32)
    numbers[lies] = scan.numbers[face[lies]]
    return numbers, lies


def _surfaces(glb: GlbTriangles) -> tuple[tuple[Surface, ...], F32]:
    used = set(np.unique(glb.material).tolist())
    sizes = {k: _size(glb, image) for k, (_, image) in enumerate(glb.materials) if k in used}
    total = sum(wide * high for wide, high in sizes.values())
    shrink = min(1.0, (_MOST_PIXELS / total) ** 0.5) if total else 1.0
    pictures: dict[int, TextureImage] = {}
    surfaces = []
    for k, (rgb, image) in enumerate(glb.materials):
        if k not in sizes or image is None or not sizes[k][0]:
            painted = image is None and not glb.packed
            surfaces.append(Surface(_srgb(rgb)) if painted else GREY)
            continue
        if image not in pictures:
            with _broken(glb, image):
                side = max(16, int(_MOST_SIDE * shrink))
                pictures[image] = load_texture(glb.images[image] or b"", side)
        surfaces.append(Surface(_srgb(rgb), pictures[image], 1.0))
    plain = [k for k, each in enumerate(surfaces) if not isinstance(each.texture, TextureImage)]
    uv = glb.uv.copy()
    uv[glb.faces[np.isin(glb.material, plain)]] = np.nan
    lacking = np.flatnonzero(~np.isfinite(uv[glb.faces]).all(axis=(1, 2)))
    if len(lacking):
        uv[glb.faces[lacking]] = np.nan
    return tuple(surfaces), uv


def _photographed(glb: GlbTriangles, surfaces: Sequence[Surface]) -> bool:
    held = np.array([isinstance(each.texture, TextureImage) for each in surfaces], dtype=np.bool_)
    corners = glb.vertices[glb.faces]
    area = np.linalg.norm(area_normals(corners), axis=1)
    return bool(area[held[glb.material]].sum() >= _PHOTOGRAPHED * area.sum())


def _size(glb: GlbTriangles, image: int | None) -> tuple[int, int]:
    raw = None if image is None or image >= len(glb.images) else glb.images[image]
    if raw is None:
        return 0, 0
    with _broken(glb, image), Image.open(io.BytesIO(raw)) as found:
        return min(found.size[0], _MOST_SIDE), min(found.size[1], _MOST_SIDE)


def _broken(glb: GlbTriangles, image: int | None) -> AbstractContextManager[None]:
    return one_line_errors(f"{glb.path}: images[{image}] is broken")


def _srgb(linear: tuple[float, float, float]) -> tuple[float, float, float]:
    r, g, b = (round(float(each), 4) for each in linear_to_srgb(np.nan_to_num(np.array(linear))))
    return r, g, b


def scan_mesh_arrays(scene: Scene, files: ScanFiles) -> dict[str, Any]:
    """Return the triangle mesh of a scan as the scene now is, as arrays and surfaces by field.

    Triangles of a moved item are moved with it, and those of a removed item are left out.

    Returns:
        The fields of a :class:`~navloom_worlds.geometry.mesh.SceneMesh`.

    Raises:
        SceneError: a file of the scan is broken.
    """
    scan, looks = read_scan(files), scan_appearance(files)
    owners = owners_by_number(scene, scan)[looks.numbers]
    vertices, uv, faces = looks.vertices, looks.uv, looks.faces
    for k, item in enumerate(scene.items):
        box = _first_box(scan, item.id)
        if box is None or (item.position == box[0] and item.yaw == box[1]):
            continue
        mine = np.flatnonzero(owners == item_owner(k))
        if not len(mine):
            continue
        used, again = np.unique(faces[mine], return_inverse=True)
        moved = _moved(vertices[used], box, (item.position, item.yaw))
        faces = faces.copy() if faces is looks.faces else faces
        faces[mine] = (again.reshape(-1, 3) + len(vertices)).astype(np.int32)
        vertices = np.concatenate([vertices, moved])
        uv = np.concatenate([uv, uv[used]])
    here = owners != NOTHING
    return {
        "vertices": vertices, "faces": faces[here], "owners": owners[here],
        "surfaces": looks.surfaces, "surface": looks.surface[here], "uv": uv,
        "smooth": np.zeros(int(here.sum()), dtype=np.bool_), "photographed": looks.photographed,
    }  # fmt: skip


def _first_box(scan: Scan, name: str) -> tuple[Point3, float] | None:
    """Return the position and yaw of an item in the original scan; None if unknown."""
    plain = name.removeprefix("o")
    known = plain.isascii() and plain.isdigit() and len(plain) < 9
    box = scan.boxes.get(int(plain) + (plain != name)) if known else None
    return None if box is None else (box.center, box.yaw)


def _moved(points: F32, first: tuple[Point3, float], now: tuple[Point3, float]) -> F32:
    at = rotate_yaw(points - as_f32(first[0]), now[1] - first[1])
    return at + as_f32(now[0])
