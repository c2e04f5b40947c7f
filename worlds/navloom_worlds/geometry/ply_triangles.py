"""``SCAN_semantic.ply`` of Matterport3D as habitat's users have it: triangles, and whose each is.

Faces have an ``object_id``: the number of an ``O`` line of the scan's ``.house``; below 0 nobody's.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from navloom.errors import SceneError
from navloom.scenes.checked_files import read_bytes, short
from navloom_worlds.geometry.glb_triangles import MOST_FACES, Floats, Ints
from navloom_worlds.geometry.mesh_guard import MOST_BYTES

_HEAD = 10_000
_LEAST = {"vertex": 12, "face": 10}
"""Bytes that one of each has at least, in binary."""


@dataclass(frozen=True, eq=False)
class PlyTriangles:
    """What a PLY holds, in its own frame.

    Attributes:
        vertices: (n, 3) float32.
        faces: (m, 3) int32.
        objects: (m,) int32, whose each face is; -1 for nobody's.
    """

    vertices: Floats
    faces: Ints
    objects: Ints


def ply_triangles(path: Path) -> PlyTriangles:
    """Read a semantic PLY, binary or not.

    Raises:
        SceneError: it is missing, cut short, too large, has no triangle, or no ``object_id``.
    """
    from trimesh.exchange.ply import load_ply

    raw = read_bytes(path, most=MOST_BYTES)
    if not raw.startswith(b"ply"):
        raise SceneError(f"{path}: is no PLY: it begins with {short(raw[:4])}, expected b'ply'.")
    _check_head(path, raw)
    try:
        loaded: dict[str, Any] = load_ply(io.BytesIO(raw), skip_materials=True)
        vertices = np.asarray(loaded["vertices"], dtype=np.float32)
        faces = np.asarray(loaded["faces"], dtype=np.int64)
        data = loaded["metadata"]["_ply_raw"]["face"]["data"]
        named = data.dtype.names if isinstance(data, np.ndarray) else data.keys()
        objects = data["object_id"] if "object_id" in (named or ()) else None
    except Exception as error:
        # trimesh meets broken files with errors of every kind.
        why = " ".join(str(error).split())[:120] or type(error).__name__
        raise SceneError(f"{path}: cannot be read as PLY: {why}.") from error
    if objects is None:
        raise SceneError(
            f"{path}: its faces have no object_id: expected SCAN_semantic.ply of the scans that "
            "habitat's users have."
        )
    if faces.ndim != 2 or faces.shape[1:] != (3,) or len(faces) != len(objects) or not len(faces):
        raise SceneError(f"{path}: expected triangles with an object_id each.")
    if faces.min() < 0 or faces.max() >= len(vertices) or not np.isfinite(vertices).all():
        raise SceneError(f"{path}: a face names a vertex that is not there, or one is no number.")
    return PlyTriangles(
        vertices, faces.astype(np.int32), np.asarray(objects).astype(np.int32).reshape(-1)
    )


def _check_head(path: Path, raw: bytes) -> None:
    head, end, _ = raw[:_HEAD].partition(b"end_header")
    if not end:
        raise SceneError(f"{path}: expected a PLY's head that ends with 'end_header'.")
    counts = dict(re.findall(rb"element (vertex|face) (\d{1,12})", head))
    need = len(head)
    for what, least in _LEAST.items():
        many = int(counts.get(what.encode(), 0))
        if many > 3 * MOST_FACES:
            raise SceneError(f"{path}: expected at most {MOST_FACES:,} triangles, found {many:,}.")
        need += many * least
    if b"format ascii" not in head and need > len(raw):
        raise SceneError(
            f"{path}: is cut short: it says that it has {need:,} bytes or more, and has "
            f"{len(raw):,}."
        )
