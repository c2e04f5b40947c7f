"""Reader of GLB files as plain arrays in file order: triangles, exact colours, images.

:mod:`navloom_worlds.geometry.mesh_file` reads any mesh for display, with 8-bit colours and
downscaled images. In a semantic scan, colours are object numbers: one level off is another object.
And two files of one scan must keep the same order of triangles. So they are read here, bit by bit.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from navloom.errors import SceneError
from navloom.scenes.safe_files import read_bytes, repr_of
from navloom_worlds.geometry.arrays import F32, F64, I32, I64, Bools
from navloom_worlds.geometry.mesh_validation import MOST_BYTES, check_gltf, one_line_errors

MOST_FACES = 20_000_000
_TYPES: dict[int, type[np.generic]] = {
    5120: np.int8,
    5121: np.uint8,
    5122: np.int16,
    5123: np.uint16,
    5125: np.uint32,
    5126: np.float32,
}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}
_TRIANGLES = 4
_PACKED_IMAGES = ("KHR_texture_basisu",)


@dataclass(frozen=True, eq=False)
class GlbTriangles:
    """Content of a GLB in its own frame, in file order.

    Attributes:
        path: path of the file.
        vertices: (n, 3) float32.
        faces: (m, 3) int32.
        uv: (n, 2) float32 in glTF's convention (v down); NaN where there are none.
        colours: (n, 3) float32, linear, 0 to 1; NaN where there are none.
        material: (m,) int32, index in ``materials`` of each face.
        materials: factor (linear RGB) and image index of each, None for no image.
        images: bytes of each image; None for images outside the file.
        packed: whether its images are GPU-compressed (basis), which is not supported.
    """

    path: Path
    vertices: F32
    faces: I32
    uv: F32
    colours: F32
    material: I32
    materials: tuple[tuple[tuple[float, float, float], int | None], ...]
    images: tuple[bytes | None, ...]
    packed: bool

    @cached_property
    def textured(self) -> Bools:
        """Mask of faces with an image and texture coordinates, (m,) bool."""
        there = [raw is not None for raw in self.images]
        named = [-1 if image is None else image for _, image in self.materials]
        held = np.array([0 <= each < len(there) and there[each] for each in named], dtype=np.bool_)
        on: Bools = np.isfinite(self.uv[self.faces[:, 0], 0])
        return on & held[self.material]


def read_glb(path: Path) -> GlbTriangles:
    """Read a GLB file.

    Args:
        path: a GLB whose only buffer is its own.

    Raises:
        SceneError: it is missing, cut short, packed, too large, or holds no triangle.
    """
    raw = read_bytes(path, most=MOST_BYTES)
    content = check_gltf(path, raw)
    return _GlbReader(path, content, _buffer(path, raw)).read()


def _buffer(path: Path, raw: bytes) -> memoryview:
    """Return the binary chunk."""
    at = 20 + struct.unpack("<I", raw[12:16])[0]
    if at + 8 > len(raw):
        return memoryview(b"")
    size = struct.unpack("<I", raw[at : at + 4])[0]
    if at + 8 + size > len(raw):
        raise SceneError(
            f"{path}: is cut short: its data should have {size:,} bytes, and {len(raw) - at - 8:,} "
            "are there."
        )
    return memoryview(raw)[at + 8 : at + 8 + size]


class _GlbReader:
    """Reader of one file that walks its nodes and names the place in error messages."""

    def __init__(self, path: Path, content: dict[str, Any], data: memoryview) -> None:
        self.path = path
        self.content = content
        self.data = data
        self.count = 0
        self.faces = 0
        self.chunks: list[tuple[F32, I32, F32, F32, int]] = []

    def read(self) -> GlbTriangles:
        """Read the whole file."""
        with one_line_errors(f"{self.path}: is no whole glTF"):
            for node, transform in self._nodes():
                self._mesh(node, transform)
            materials, packed = self._materials()
            images = tuple(self._image(each) for each in self.content.get("images", []))
        if not self.chunks:
            raise SceneError(f"{self.path}: there is no triangle in it: expected a mesh.")
        vertices, faces, uv, colours, material = zip(*self.chunks, strict=True)
        many = [np.full(len(f), m, dtype=np.int32) for f, m in zip(faces, material, strict=True)]
        return GlbTriangles(
            self.path,
            np.concatenate(vertices),
            np.concatenate(faces),
            np.concatenate(uv),
            np.concatenate(colours),
            np.concatenate(many),
            (*materials, ((0.8, 0.8, 0.8), None)),
            images,
            packed,
        )

    def _nodes(self) -> Iterator[tuple[dict[str, Any], F64]]:
        nodes = self.content.get("nodes", [])
        scenes = self.content.get("scenes", [])
        above = {child for node in nodes for child in node.get("children", [])}
        first = [i for i in range(len(nodes)) if i not in above]
        if scenes:
            first = scenes[self.content.get("scene", 0)].get("nodes", first)
        waiting = [(int(i), np.eye(4)) for i in reversed(first)]
        while waiting:
            index, outer = waiting.pop()
            node = nodes[index]
            transform = outer @ _own(node)
            if "mesh" in node:
                yield node, transform
            waiting += [(int(i), transform) for i in reversed(node.get("children", []))]

    def _mesh(self, node: dict[str, Any], transform: F64) -> None:
        for each in self.content["meshes"][node["mesh"]]["primitives"]:
            attributes = each["attributes"]
            if each.get("mode", _TRIANGLES) != _TRIANGLES or "POSITION" not in attributes:
                continue
            points = self._values(attributes["POSITION"], 3).astype(np.float64)
            points = points @ transform[:3, :3].T + transform[:3, 3]
            if not np.isfinite(points).all():
                raise SceneError(f"{self.path}: a vertex is no number: expected finite metres.")
            many = len(points)
            corners: I64 = np.arange(many - many % 3, dtype=np.int64)
            if "indices" in each:
                corners = self._values(each["indices"], 1).astype(np.int64).reshape(-1)
            corners = corners[: len(corners) - len(corners) % 3].reshape(-1, 3)
            if not len(corners):
                continue
            if corners.min() < 0 or corners.max() >= many:
                raise SceneError(f"{self.path}: a face names a vertex that is not there.")
            self.faces += len(corners)
            if self.faces > MOST_FACES:
                raise SceneError(f"{self.path}: expected at most {MOST_FACES:,} triangles.")
            uv = self._optional(attributes, "TEXCOORD_0", many, 2)
            colours = self._optional(attributes, "COLOR_0", many, 3)
            faces = (corners + self.count).astype(np.int32)
            if np.linalg.det(transform[:3, :3]) < 0:
                faces = faces[:, ::-1]
            material = each.get("material", len(self.content.get("materials", [])))
            if not 0 <= material <= len(self.content.get("materials", [])):
                raise SceneError(f"{self.path}: a mesh names material {material}, not there.")
            self.chunks.append((points.astype(np.float32), faces, uv, colours, material))
            self.count += many

    def _optional(self, attributes: dict[str, Any], name: str, many: int, width: int) -> F32:
        if name in attributes:
            found = self._values(attributes[name], width)
            if len(found) == many:
                scale = np.iinfo(found.dtype).max if found.dtype.kind in "iu" else 1
                plain: F32 = np.clip(found, -1e6, 1e6).astype(np.float32)
                return plain / np.float32(scale)
        return np.full((many, width), np.nan, dtype=np.float32)

    def _values(self, index: int, width: int) -> NDArray[Any]:
        """Return the first ``width`` columns of an accessor."""
        accessor = self.content["accessors"][index]
        kind = np.dtype(_TYPES[accessor["componentType"]]).newbyteorder("<")
        columns, count = _WIDTHS[accessor["type"]], accessor["count"]
        if columns < width or "sparse" in accessor:
            raise SceneError(f"{self.path}: accessors[{index}]: expected {width} values each.")
        if "bufferView" not in accessor:
            return np.zeros((count, width), dtype=kind)
        view = self.content["bufferViews"][accessor["bufferView"]]
        start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        step = view.get("byteStride", kind.itemsize * columns)
        last = start + step * (count - 1) + kind.itemsize * columns
        if view.get("buffer", 0) != 0 or start < 0 or step < 1 or (count and last > len(self.data)):
            raise SceneError(
                f"{self.path}: accessors[{index}]: expected {max(last, 0):,} bytes of data in the "
                f"file, found {len(self.data):,}: it is cut short, or its data lie elsewhere."
            )
        if not count:
            return np.zeros((0, width), dtype=kind)
        rows = np.ndarray((count, columns), kind, self.data, start, (step, kind.itemsize))
        return rows[:, :width]

    def _materials(self) -> tuple[list[tuple[tuple[float, float, float], int | None]], bool]:
        found: list[tuple[tuple[float, float, float], int | None]] = []
        used = self.content.get("extensionsUsed", [])
        packed = any(each in used for each in _PACKED_IMAGES)
        for each in self.content.get("materials", []):
            look = each.get("pbrMetallicRoughness", {})
            r, g, b = (float(x) for x in look.get("baseColorFactor", [1, 1, 1])[:3])
            named = look.get("baseColorTexture", {}).get("index")
            image = None if named is None else self.content["textures"][named].get("source")
            found.append(((r, g, b), image))
        return found, packed

    def _image(self, image: dict[str, Any]) -> bytes | None:
        if "bufferView" not in image or image.get("mimeType") == "image/ktx2":
            return None
        view = self.content["bufferViews"][image["bufferView"]]
        start, size = view.get("byteOffset", 0), view["byteLength"]
        if start < 0 or size < 0 or start + size > len(self.data):
            raise SceneError(f"{self.path}: an image lies outside of the file: it is cut short.")
        return bytes(self.data[start : start + size])


def _own(node: dict[str, Any]) -> F64:
    """Return a node's own transform."""
    if "matrix" in node:
        matrix = np.array(node["matrix"], dtype=np.float64).reshape(4, 4).T
    else:
        matrix = np.eye(4)
        if "rotation" in node:
            from trimesh.transformations import quaternion_matrix

            x, y, z, w = map(float, node["rotation"])
            turned: Any = quaternion_matrix([w, x, y, z])  # type: ignore[no-untyped-call]
            matrix = np.asarray(turned, dtype=np.float64)
        matrix[:3, :3] *= np.array(node.get("scale", (1, 1, 1)), dtype=np.float64)
        matrix[:3, 3] = np.array(node.get("translation", (0, 0, 0)), dtype=np.float64)
    if not np.isfinite(matrix).all():
        raise ValueError(f"a node's transform is no number: {repr_of(json.dumps(node))}")
    return matrix
