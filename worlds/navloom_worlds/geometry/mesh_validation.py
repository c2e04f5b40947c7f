"""Validation of mesh files before they are parsed: complete, bounded, and within their folder."""

from __future__ import annotations

import io
import math
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
from PIL import Image

from navloom.errors import SceneError
from navloom.scenes.safe_files import parse_json, repr_of
from navloom_worlds.geometry.solids import TextureImage

MOST_BYTES = 1_000_000_000
"""Most bytes of a file, and of all the files together that it names."""
MOST_VALUES = 120_000_000
"""Most numbers of vertices, faces and colours that a glTF may declare."""
MOST_NODES = 100_000
_WIDEST = 500.0
"""Greatest width of a home in metres."""
_NARROWEST = 0.5
_FARTHEST = 5_000.0
"""Greatest distance from the origin in metres; farther off, single precision is too coarse."""
_UNITS = {"millimetres": 1000.0, "centimetres": 100.0, "inches": 39.37, "kilometres": 0.001}
_USUAL = (2.5, 80.0)
"""Usual widths of homes in metres."""
_GLB = 0x46546C67
_CHUNK_JSON = 0x4E4F534A
_PACKED = ("KHR_draco_mesh_compression", "EXT_meshopt_compression", "KHR_mesh_quantization")
_TYPES = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}


@contextmanager
def one_line_errors(what: str) -> Iterator[None]:
    """Return a context manager that turns any exception into a one-line SceneError.

    Args:
        what: start of the message: the file and the error.
    """
    try:
        yield
    except SceneError:
        raise
    except Exception as error:
        why = " ".join(str(error).split())[:200] or type(error).__name__
        raise SceneError(f"{what}: {why}.") from error


def load_texture(image: Image.Image | bytes, side: int) -> TextureImage:
    """Return an image as a texture, downscaled to at most ``side`` pixels per side."""
    opened = Image.open(io.BytesIO(image)) if isinstance(image, bytes) else image
    opened.draft("RGB", (side, side))
    plain = opened.convert("RGB")
    plain.thumbnail((side, side))
    return TextureImage(np.asarray(plain, dtype=np.uint8).copy())


def resolve_sidecar(path: Path, name: str) -> Path:
    """Return the path of a file that a mesh names, checked to lie in its folder or below.

    Raises:
        SceneError: the name leads out of the folder.
    """
    folder = path.parent.resolve()
    plain = unquote(name.strip()).replace("\\", "/")
    found = (folder / plain).resolve() if "\0" not in plain else folder.parent
    if not plain or "://" in plain or not found.is_relative_to(folder):
        raise SceneError(
            f"{path}: names {repr_of(name)}, which leads out of its folder: expected files beside"
            " it."
        )
    return found


def check_gltf(path: Path, raw: bytes) -> dict[str, Any]:
    """Return the JSON content of a .glb or .gltf, checked for errors that would appear later.

    Args:
        path: its path, for messages.
        raw: its content.

    Raises:
        SceneError: it is cut short, too large or compressed, its nodes are no tree, or it names
            files outside its folder.
    """
    content = parse_json(_json_of(path, raw), path)
    if not isinstance(content, dict):
        raise SceneError(f"{path}: expected a glTF object, found {repr_of(content)}.")
    used = [*_list(content, "extensionsUsed", path), *_list(content, "extensionsRequired", path)]
    for each in _PACKED:
        if each in used:
            raise SceneError(
                f"{path}: its triangles are packed ({each}), which is not read: export it unpacked."
            )
    _check_sizes(path, content)
    _check_tree(path, _list(content, "nodes", path))
    for kind in ("buffers", "images"):
        for each in _list(content, kind, path):
            uri = each.get("uri") if isinstance(each, dict) else None
            if isinstance(uri, str) and not uri.startswith("data:"):
                resolve_sidecar(path, uri)
    return content


def _json_of(path: Path, raw: bytes) -> bytes:
    if path.suffix.casefold() == ".gltf":
        return raw
    if len(raw) < 20:
        raise SceneError(f"{path}: expected a GLB, and the file has {len(raw)} bytes.")
    magic, version, length, first, kind = struct.unpack("<5I", raw[:20])
    if magic != _GLB or kind != _CHUNK_JSON:
        raise SceneError(f"{path}: is no GLB: it begins with {repr_of(raw[:4])}, expected b'glTF'.")
    if version != 2:
        raise SceneError(f"{path}: is glTF {version}: expected glTF 2.")
    if length > len(raw) or 20 + first > len(raw):
        raise SceneError(
            f"{path}: is cut short: it says that it has {max(length, 20 + first):,} bytes and has "
            f"{len(raw):,}."
        )
    return raw[20 : 20 + first]


def _list(content: dict[str, Any], key: str, path: Path) -> list[Any]:
    value = content.get(key, [])
    if not isinstance(value, list):
        raise SceneError(f"{path}: {key}: expected a list, found {repr_of(value)}.")
    return value


def _check_sizes(path: Path, content: dict[str, Any]) -> None:
    values = 0
    for i, each in enumerate(_list(content, "accessors", path)):
        count = each.get("count") if isinstance(each, dict) else None
        width = _TYPES.get(str(each.get("type"))) if isinstance(each, dict) else None
        if not isinstance(count, int) or isinstance(count, bool) or count < 0 or width is None:
            raise SceneError(f"{path}: accessors[{i}]: expected a count and a type.")
        values += count * width
    if values > MOST_VALUES:
        raise SceneError(
            f"{path}: says that it has {values:,} numbers: expected at most {MOST_VALUES:,}. "
            "Make the mesh coarser, or cut it."
        )


def _check_tree(path: Path, nodes: list[Any]) -> None:
    if len(nodes) > MOST_NODES:
        raise SceneError(f"{path}: nodes: expected at most {MOST_NODES:,}, found {len(nodes):,}.")
    above: set[int] = set()
    for i, node in enumerate(nodes):
        children = _list(node, "children", path) if isinstance(node, dict) else []
        for child in children:
            if not isinstance(child, int) or not 0 <= child < len(nodes) or child in above:
                raise SceneError(
                    f"{path}: nodes[{i}]: expected children that are nodes of one parent each, "
                    f"found {repr_of(child)}."
                )
            above.add(child)


def check_extent(path: Path, low: list[float], high: list[float], up: str = "y up") -> None:
    """Reject a mesh that cannot be a home in metres.

    Args:
        path: the file, for the message.
        low: its least corner, supposedly in metres.
        high: its greatest corner.
        up: vertical axis of the file, for the message.

    Raises:
        SceneError: it is too wide, too narrow or too far from the origin.
    """
    wide = max(high[0] - low[0], high[2] - low[2])
    if not _NARROWEST <= wide <= _WIDEST:
        fitting = (u for u, by in _UNITS.items() if _USUAL[0] <= wide / by <= _USUAL[1])
        unit = next(fitting, "")
        asked = f": are its units {unit}? Expected metres" if unit else ": expected metres"
        raise SceneError(f"{path}: this home is {_said(wide)} wide{asked}, {up}.")
    far = max(math.hypot(*low), math.hypot(*high))
    if far > _FARTHEST:
        raise SceneError(
            f"{path}: this home lies {_said(far)} from the origin: expected it near, at most "
            f"{_said(_FARTHEST)}. Move it there."
        )


def _said(metres: float) -> str:
    if metres >= 1000:
        return f"{metres / 1000:,.3g} km"
    if metres >= 1:
        return f"{metres:.3g} m"
    return f"{metres * 100:.2g} cm" if metres >= 0.001 else f"{metres * 1000:.2g} mm"
