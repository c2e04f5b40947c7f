"""Writer of GLB files: every byte follows from the input, and each image is stored once.

It writes glTF 2.0 without extensions, so that every reader can read it.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from navloom.errors import SceneError
from navloom_worlds.geometry.arrays import F32, U8
from navloom_worlds.geometry.mesh_file import GENERATOR
from navloom_worlds.geometry.mesh_validation import MOST_BYTES

_FLOAT, _UBYTE, _USHORT, _UINT = 5126, 5121, 5123, 5125
_VERTICES, _FACES = 34962, 34963
_KINDS = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4"}


@dataclass(frozen=True, eq=False)
class GlbPrimitive:
    """Triangles of one material.

    Attributes:
        positions: (n, 3) float32.
        faces: (m, 3) rows of ``positions``.
        material: number returned by :meth:`GlbWriter.material`.
        uv: (n, 2) float32; v goes downwards.
        normals: (n, 3) float32, unit.
        colours: (n, 4) uint16 or uint8: linear, the type's maximum stands for 1.
    """

    positions: F32
    faces: NDArray[np.integer]
    material: int
    uv: F32 | None = None
    normals: F32 | None = None
    colours: NDArray[np.uint16] | U8 | None = None


@dataclass
class GlbWriter:
    """Builder of a GLB file.

    Args:
        where: name of the source, for messages.
    """

    where: str
    _content: dict[str, list[Any]] = field(
        default_factory=lambda: {
            name: []
            for name in (
                "nodes", "meshes", "materials", "textures", "images", "samplers", "accessors",
                "bufferViews",
            )
        }
    )  # fmt: skip
    _chunks: list[bytes] = field(default_factory=list)
    _long: int = 0

    def image(self, data: bytes, mime: str, *, sharp: bool = False) -> int:
        """Add an image, and return the texture's number.

        Args:
            data: a PNG or JPEG file.
            mime: ``image/png`` or ``image/jpeg``.
            sharp: whether texels are not interpolated.
        """
        # Without mip levels only the nearest texel is ever sampled.
        filters = {"magFilter": 9728, "minFilter": 9728} if sharp else {
            "magFilter": 9729, "minFilter": 9987,
        }  # fmt: skip
        sampler = {**filters, "wrapS": 10497, "wrapT": 10497}
        samplers = self._content["samplers"]
        if sampler not in samplers:
            samplers.append(sampler)
        source = self._add("images", {"bufferView": self._view(data, None), "mimeType": mime})
        return self._add("textures", {"sampler": samplers.index(sampler), "source": source})

    def material(self, **fields: Any) -> int:
        """Add a material to the file; return the material's number."""
        return self._add("materials", fields)

    def node(self, name: str, primitives: list[GlbPrimitive]) -> None:
        """Add a node to the scene, with the node's triangles."""
        made = [self._primitive(each) for each in primitives]
        mesh = self._add("meshes", {"name": name, "primitives": made})
        self._add("nodes", {"name": name, "mesh": mesh})

    def done(self) -> bytes:
        """Return the content of the file.

        Raises:
            SceneError: it would be too large.
        """
        if self._long > MOST_BYTES:
            raise SceneError(
                f"{self.where} as a GLB has {self._long:,} bytes: expected at most {MOST_BYTES:,}."
            )
        content = {
            "asset": {"version": "2.0", "generator": GENERATOR},
            "scene": 0,
            "scenes": [{"nodes": list(range(len(self._content["nodes"])))}],
            "buffers": [{"byteLength": self._long}],
            **{name: each for name, each in self._content.items() if each},
        }
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 4)
        whole = 12 + 8 + len(text) + 8 + self._long
        head = struct.pack("<4sIIII", b"glTF", 2, whole, len(text), 0x4E4F534A)
        return b"".join([head, text, struct.pack("<II", self._long, 0x004E4942), *self._chunks])

    def _add(self, kind: str, value: Any) -> int:
        self._content[kind].append(value)
        return len(self._content[kind]) - 1

    def _view(self, data: bytes, target: int | None) -> int:
        view = {"buffer": 0, "byteOffset": self._long, "byteLength": len(data)}
        padded = data + b"\0" * (-len(data) % 4)
        self._chunks.append(padded)
        self._long += len(padded)
        return self._add("bufferViews", view if target is None else {**view, "target": target})

    def _accessor(self, values: NDArray[Any], kind: int, target: int, **more: Any) -> int:
        count, width = values.shape
        view = self._view(np.ascontiguousarray(values).tobytes(), target)
        fields = {"bufferView": view, "componentType": kind, "count": count, "type": _KINDS[width]}
        return self._add("accessors", {**fields, **more})

    def _primitive(self, part: GlbPrimitive) -> dict[str, Any]:
        # Bounds in single precision, otherwise readers find vertices out of bounds.
        at = np.asarray(part.positions, dtype="<f4")
        bounds = {"min": at.min(axis=0).tolist(), "max": at.max(axis=0).tolist()}
        attributes = {"POSITION": self._accessor(at, _FLOAT, _VERTICES, **bounds)}
        if part.normals is not None:
            normals = np.asarray(part.normals, dtype="<f4")
            attributes["NORMAL"] = self._accessor(normals, _FLOAT, _VERTICES)
        if part.uv is not None:
            uv = np.asarray(part.uv, dtype="<f4")
            attributes["TEXCOORD_0"] = self._accessor(uv, _FLOAT, _VERTICES)
        if part.colours is not None:
            wide = part.colours.dtype != np.uint8
            colours = np.asarray(part.colours, dtype="<u2" if wide else "u1")
            kind = _USHORT if wide else _UBYTE
            attributes["COLOR_0"] = self._accessor(colours, kind, _VERTICES, normalized=True)
        small = len(at) < 65_536
        faces = np.asarray(part.faces, dtype="<u2" if small else "<u4").reshape(-1, 1)
        indices = self._accessor(faces, _USHORT if small else _UINT, _FACES)
        return {"attributes": attributes, "indices": indices, "material": part.material}
