"""Export of a home in HM3D's layout: ``NNNNN-ID/ID.glb``, ``ID.semantic.glb``, ``ID.semantic.txt``.

As in HM3D-Semantics v0.2, its GLBs have z up and y ahead. The colour of an annotation is stored in
vertex colours (linear), and in the text as six hex digits (sRGB).
"""

from __future__ import annotations

import io
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from navloom.scenes.scene import Scene
from navloom_worlds.exporting.face_orientation import connected_parts, orient_faces
from navloom_worlds.exporting.file_writer import write_files
from navloom_worlds.exporting.glb_export import scene_glb, to_hm3d_frame
from navloom_worlds.exporting.glb_writer import GlbPrimitive, GlbWriter
from navloom_worlds.exporting.semantic_numbers import HEADER, face_numbers, semantic_lines
from navloom_worlds.geometry.arrays import F32, I32, U8
from navloom_worlds.geometry.mesh import SceneMesh, scene_mesh
from navloom_worlds.geometry.semantic_ids import CEILING, FLOOR, GROUND, SHELL, WALL
from navloom_worlds.geometry.solids import as_f32, srgb_to_linear

_CONFIG = "hm3d_annotated.scene_dataset_config.json"
_HOME = re.compile(r"\d{5}-.+")


def save_hm3d(scene: Scene, folder: Path) -> Path:
    """Write a home in HM3D's layout.

    Args:
        scene: it must have geometry.
        folder: folder of the release; the home's folder is created in it.

    Returns:
        The home's folder, ``NNNNN-ID``.

    Raises:
        SceneError: the scene has no geometry, too many items, or a file cannot be written.
    """
    name = release_name(scene)
    files = {
        f"{name}.glb": scene_glb(scene, z_up=True, one_sided=True, colours="painted"),
        f"{name}.semantic.glb": semantic_glb(scene, z_up=True, painted=True),
        f"{name}.semantic.txt": semantic_text(scene).encode(),
    }
    # The number is the one in the scene's id, or 0.
    number = re.match(r"\d+", scene.id) or re.search(r"\d+$", scene.id)
    home = folder / f"{int(number[0]) % 100_000 if number else 0:05d}-{name}"
    write_files(home, files)
    write_files(folder, {_CONFIG: json.dumps(_dataset(folder), indent=1).encode() + b"\n"})
    return home


def _dataset(folder: Path) -> dict[str, Any]:
    """Return the dataset config with which Habitat opens the homes of a folder."""
    glbs = sorted(
        f"{home.name}/{home.name[6:]}.glb"
        for home in folder.iterdir()
        if _HOME.fullmatch(home.name) and (home / f"{home.name[6:]}.semantic.glb").is_file()
    )
    stage = {
        "shader_type": "flat",
        "up": [0, 0, 1],
        "front": [0, 1, 0],
        "origin": [0, 0, 0],
        "semantic_asset": "%%CONFIG_NAME_AS_ASSET_FILENAME%%.semantic.glb",
        "semantic_descriptor_filename": "%%CONFIG_NAME_AS_ASSET_FILENAME%%.semantic.txt",
        "has_semantic_textures": True,
    }
    return {
        "stages": {"default_attributes": stage, "paths": {".glb": glbs}},
        "scene_instances": {"default_attributes": {"default_lighting": "no_lights"}},
    }


def release_name(scene: Scene) -> str:
    """Return ``ID``: the scene's id without HM3D's leading number."""
    named = re.fullmatch(r"\d{5}-(.+)", scene.id)
    return named[1] if named else f"{scene.source}-{scene.id}".replace(".", "_")


def semantic_text(scene: Scene) -> str:
    """Return the content of ``ID.semantic.txt``."""
    return "\n".join([HEADER, *(line.text for line in semantic_lines(scene))]) + "\n"


def semantic_glb(
    scene: Scene, *, z_up: bool = False, painted: bool = False, joined: bool = False
) -> bytes:
    """Return the content of ``ID.semantic.glb``: the scene's faces in order, with label colours.

    They are followed by back sides
    (:func:`navloom_worlds.exporting.face_orientation.orient_faces`).

    Args:
        scene: it must have geometry.
        z_up: whether z is up and y ahead, as in HM3D; else y is up and -z ahead, as in Navloom.
        painted: whether the colours are also stored in an image, for readers of textures.
        joined: whether the parts of an item are joined by degenerate triangles: Habitat's box of
            an item is that of its largest connected part.
    """
    numbers = face_numbers(scene)
    mesh, of_face = orient_faces(scene_mesh(scene))
    numbers = numbers[of_face]
    lines = semantic_lines(scene)
    colours = np.array([(0, 0, 0), *(line.rgb for line in lines)], dtype=np.uint8)
    faces = mesh.faces
    if joined:
        links, of_number = _joints(mesh, numbers)
        faces, numbers = np.concatenate([faces, links]), np.concatenate([numbers, of_number])
    # Each number has its own vertices, so that no face has two colours.
    keys = numbers[:, None].astype(np.int64) * len(mesh.vertices) + faces
    used, again = np.unique(keys, return_inverse=True)
    vertex = used % len(mesh.vertices)
    positions = mesh.vertices[vertex]
    number = used // len(mesh.vertices)
    glb = GlbWriter(scene.uri)
    rough: dict[str, Any] = {"metallicFactor": 0.0, "roughnessFactor": 1.0}
    uv = None
    if painted:
        picture, places = _palette(colours)
        rough["baseColorTexture"] = {"index": glb.image(picture, "image/png", sharp=True)}
        uv = places[number]
    part = GlbPrimitive(
        to_hm3d_frame(positions) if z_up else positions,
        again.reshape(-1, 3),
        glb.material(pbrMetallicRoughness=rough, doubleSided=True),
        uv=uv,
        colours=linear_colours(colours)[number],
    )
    glb.node("semantic", [part])
    return glb.done()


def _joints(mesh: SceneMesh, numbers: I32) -> tuple[I32, I32]:
    """Return degenerate triangles that join each part of an item to the next, and their numbers."""
    things = np.flatnonzero(~np.isin(mesh.owners, (FLOOR, CEILING, WALL, GROUND, SHELL)))
    body = connected_parts(mesh, exact=True)[0][things]
    _, first = np.unique(np.stack([numbers[things], body]), axis=1, return_index=True)
    lead = things[first]
    here, there = lead[:-1], lead[1:]
    same = numbers[here] == numbers[there]
    here, there = mesh.faces[here[same], 0], mesh.faces[there[same], 0]
    return np.stack([here, here, there], axis=1), numbers[lead[:-1][same]]


def _palette(srgb: U8) -> tuple[bytes, F32]:
    """Return a PNG with a texel for each colour, and the colours' texture coordinates, (n, 2)."""
    side = 1 << math.ceil(math.log2(max(2, math.ceil(math.sqrt(len(srgb))))))
    texels = np.zeros((side * side, 3), dtype=np.uint8)
    texels[: len(srgb)] = srgb
    picture = io.BytesIO()
    Image.fromarray(texels.reshape(side, side, 3)).save(picture, "PNG")
    row, column = np.divmod(np.arange(len(srgb)), side)
    return picture.getvalue(), as_f32((np.stack([column, row], axis=1) + 0.5) / side)


def linear_colours(srgb: U8) -> NDArray[np.uint16]:
    """Convert (n, 3) sRGB bytes to (n, 4) 16-bit linear colours, losslessly."""
    colours = np.full((len(srgb), 4), 65_535, dtype=np.uint16)
    colours[:, :3] = np.rint(srgb_to_linear(srgb / 255) * 65_535)
    return colours
