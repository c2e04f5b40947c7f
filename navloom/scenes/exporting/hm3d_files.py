"""A home as HM3D's release has it: ``NNNNN-ID/ID.glb``, ``ID.semantic.glb``, ``ID.semantic.txt``.

HM3D-Semantics v0.2: z up and y ahead in its GLBs, an annotation's colour in vertex colours
(linear), the same as six hex digits in the text (sRGB).
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from navloom.errors import SceneError
from navloom.files import replace_file
from navloom.scenes.exporting.glb_bytes import Glb, Primitive
from navloom.scenes.exporting.semantic_numbers import HEADER, face_numbers, semantic_lines
from navloom.scenes.geometry.mesh import scene_mesh
from navloom.scenes.scene import Scene


def save_hm3d(scene: Scene, folder: Path) -> Path:
    """Write a home as one of HM3D's release.

    Args:
        scene: it must have geometry.
        folder: the release's own; the home's folder is made in it.

    Returns:
        The home's folder, ``NNNNN-ID``.

    Raises:
        SceneError: the scene has no geometry, too many things, or a file cannot be written.
    """
    name = release_name(scene)
    files = {
        f"{name}.semantic.glb": semantic_glb(scene, z_up=True),
        f"{name}.semantic.txt": semantic_text(scene).encode(),
    }
    home = folder / release_folder(scene)
    write_files(home, files)
    return home


def release_name(scene: Scene) -> str:
    """``ID``: the scene's id, without the number that HM3D's own ids begin with."""
    named = re.fullmatch(r"\d{5}-(.+)", scene.id)
    return named[1] if named else f"{scene.source}-{scene.id}".replace(".", "_")


def release_folder(scene: Scene) -> str:
    """``NNNNN-ID``; the number is the one in the scene's id, 0 where it has none."""
    number = re.match(r"\d+", scene.id) or re.search(r"\d+$", scene.id)
    return f"{int(number[0]) % 100_000 if number else 0:05d}-{release_name(scene)}"


def semantic_text(scene: Scene) -> str:
    """The content of ``ID.semantic.txt``."""
    return "\n".join([HEADER, *(line.text for line in semantic_lines(scene))]) + "\n"


def semantic_glb(scene: Scene, *, z_up: bool) -> bytes:
    """The content of ``ID.semantic.glb``: the faces of the scene's mesh in their order, coloured.

    Args:
        scene: it must have geometry.
        z_up: whether z is up and y ahead, as in HM3D; else y is up and -z ahead, as in Navloom.
    """
    mesh, numbers = scene_mesh(scene), face_numbers(scene)
    lines = semantic_lines(scene)
    palette = linear_colours(np.array([(0, 0, 0), *(line.rgb for line in lines)], dtype=np.uint8))
    # Vertices of their own for each number: no face has two colours.
    keys = numbers[:, None].astype(np.int64) * len(mesh.vertices) + mesh.faces
    used, again = np.unique(keys, return_inverse=True)
    vertex = used % len(mesh.vertices)
    positions = mesh.vertices[vertex]
    glb = Glb(scene.uri)
    plain = glb.material(pbrMetallicRoughness={"metallicFactor": 0.0}, doubleSided=True)
    part = Primitive(
        as_released(positions) if z_up else positions,
        again.reshape(-1, 3),
        plain,
        colours=palette[used // len(mesh.vertices)],
    )
    glb.node("semantic", [part])
    return glb.done()


def as_released(points: NDArray[np.float32]) -> NDArray[np.float32]:
    """Points of the scene's frame (y up, -z ahead) in HM3D's (z up, y ahead)."""
    x, y, z = points.T
    return np.stack([x, -z, y], axis=1)


def linear_colours(srgb: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """(n, 4) 16-bit linear colours of (n, 3) sRGB bytes; read back they are the same bytes."""
    value = srgb / 255
    linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    colours = np.full((len(srgb), 4), 65_535, dtype=np.uint16)
    colours[:, :3] = np.rint(linear * 65_535)
    return colours


def write_files(folder: Path, files: dict[str, bytes]) -> None:
    """Write files of a folder that is made where it is missing.

    Raises:
        SceneError: one cannot be written; the message says which, and why.
    """
    for name, raw in files.items():
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, raw)
        except OSError as error:
            raise SceneError(f"{path}: cannot be written: {error.strerror}.") from error
