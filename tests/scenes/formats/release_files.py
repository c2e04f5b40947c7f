"""Homes in the form of HM3D's release, in ways that Navloom's own export does not write."""

from __future__ import annotations

import io
import shutil
from pathlib import Path

import numpy as np
from PIL import Image

from navloom.scenes.exporting.glb_bytes import Glb, Primitive
from navloom.scenes.exporting.hm3d_files import as_released
from navloom.scenes.exporting.semantic_numbers import face_numbers, semantic_lines
from navloom.scenes.geometry.mesh import scene_mesh
from navloom.scenes.scene import Scene


def copied(home: Path, folder: Path) -> Path:
    """A home of the release in another folder, to be broken there."""
    return Path(shutil.copytree(home, folder / home.name))


def files_of(home: Path) -> tuple[Path, Path]:
    """Its semantic GLB and its text."""
    stem = home.name.partition("-")[2]
    return home / f"{stem}.semantic.glb", home / f"{stem}.semantic.txt"


def painted(
    scene: Scene, *, blurred: bool = False, scale: float = 1.0, y_up: bool = False
) -> bytes:
    """A semantic GLB as HM3D's is: instance colours in a texture, no colours of corners.

    Args:
        scene: of which.
        blurred: draw each colour over four texels that are some levels off.
        scale: what the frame's unit is in metres, upside down.
        y_up: leave the frame as it is here.
    """
    mesh, numbers, lines = scene_mesh(scene), face_numbers(scene), semantic_lines(scene)
    side = int(np.ceil(np.sqrt(len(lines) + 1)))
    texels = np.zeros((side * side, 3), dtype=np.uint8)
    texels[1 : len(lines) + 1] = [line.rgb for line in lines]
    picture = texels.reshape(side, side, 3).repeat(8, axis=0).repeat(8, axis=1)
    if blurred:
        noise = np.random.default_rng(7).integers(-1, 2, picture.shape)
        picture = np.clip(picture.astype(np.int64) + noise, 0, 255).astype(np.uint8)
    raw = io.BytesIO()
    Image.fromarray(picture).save(raw, "PNG")
    glb = Glb(scene.uri)
    image = glb.image(raw.getvalue(), "image/png", sharp=True)
    look = glb.material(pbrMetallicRoughness={"baseColorTexture": {"index": image}})
    row, column = np.divmod(numbers, side)
    offsets = np.array([[0.2, 0.2], [0.8, 0.3], [0.4, 0.8]])
    uv = (np.stack([column, row], axis=1)[:, None] + offsets) / side
    points = mesh.vertices[mesh.faces].reshape(-1, 3) * np.float32(scale)
    faces = np.arange(len(points)).reshape(-1, 3)
    at = points if y_up else as_released(points)
    glb.node("chunk000", [Primitive(at, faces, look, uv.reshape(-1, 2).astype(np.float32))])
    return glb.done()
