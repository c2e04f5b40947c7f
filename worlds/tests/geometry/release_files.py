"""Homes in HM3D's and Matterport3D's formats, in variants that our own export does not write."""

from __future__ import annotations

import io
import math
import shutil
from pathlib import Path

import numpy as np
import shapely
import trimesh
from numpy.typing import NDArray
from PIL import Image
from scipy.spatial import KDTree

from navloom.scenes.formats.mp3d_house import ROOM_LABELS
from navloom.scenes.scene import Box, Scene
from navloom_worlds.exporting.glb_writer import GlbPrimitive, GlbWriter
from navloom_worlds.exporting.hm3d_files import linear_colours, to_hm3d_frame
from navloom_worlds.exporting.semantic_numbers import SemanticLine, face_numbers, semantic_lines
from navloom_worlds.geometry.mesh import SceneMesh, scene_mesh
from navloom_worlds.geometry.scan_boxes import outline_items
from navloom_worlds.geometry.semantic_ids import GROUND


def copied(home: Path, folder: Path) -> Path:
    """Copy a home of the release to another folder, for tests that damage it."""
    return Path(shutil.copytree(home, folder / home.name))


def files_of(home: Path) -> tuple[Path, Path]:
    """Return the paths of a home's semantic GLB and its text."""
    stem = home.name.partition("-")[2]
    return home / f"{stem}.semantic.glb", home / f"{stem}.semantic.txt"


def painted(
    scene: Scene, *, blurred: bool = False, scale: float = 1.0, y_up: bool = False
) -> bytes:
    """Build a semantic GLB as HM3D's: instance colours in a texture, no vertex colours.

    Args:
        scene: the scene.
        blurred: add noise of one level to the texels of each colour.
        scale: units of the coordinates per metre.
        y_up: keep our frame, with y up.
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
    glb = GlbWriter(scene.uri)
    image = glb.image(raw.getvalue(), "image/png", sharp=True)
    look = glb.material(pbrMetallicRoughness={"baseColorTexture": {"index": image}})
    row, column = np.divmod(numbers, side)
    offsets = np.array([[0.2, 0.2], [0.8, 0.3], [0.4, 0.8]])
    uv = (np.stack([column, row], axis=1)[:, None] + offsets) / side
    points = mesh.vertices[mesh.faces].reshape(-1, 3) * np.float32(scale)
    faces = np.arange(len(points)).reshape(-1, 3)
    at = points if y_up else to_hm3d_frame(points)
    glb.node("chunk000", [GlbPrimitive(at, faces, look, uv.reshape(-1, 2).astype(np.float32))])
    return glb.done()


def roughened(scene: Scene, seed: int = 0) -> bytes:
    """Build a semantic GLB as a scanner gives it: noise of 5 mm, no floor under furniture.

    One triangle in a hundred has the label of another one about 25 cm away, and one in a hundred an
    unknown colour. Triangles are no longer than 12 cm.
    """
    mesh, numbers, lines = scene_mesh(scene), face_numbers(scene), semantic_lines(scene)
    dice = np.random.default_rng(seed)
    keep = mesh.owners != GROUND
    made = trimesh.remesh.subdivide_to_size(
        mesh.vertices.astype(np.float64), mesh.faces[keep], 0.12, max_iter=12, return_index=True
    )
    points, faces, index = made
    labels = numbers[keep][index]
    # Corners that are one stay one.
    _, first, again = np.unique(
        np.round(points * 500).astype(np.int64), axis=0, return_index=True, return_inverse=True
    )
    points, faces = points[first], again.reshape(-1)[faces]
    points = points + dice.normal(0, 0.005, points.shape)
    middles = points[faces].mean(axis=1)
    is_floor = np.isin(labels, [line.number for line in lines if line.category == "floor"])
    hidden = np.zeros(len(faces), dtype=np.bool_)
    for item in scene.items:
        if item.size is not None and min(item.size[0], item.size[2]) > 0.3:
            foot = item.position[1] - item.size[1] / 2
            under = np.flatnonzero(is_floor & (np.abs(middles[:, 1] - foot) < 0.15))
            box = Box(center=item.position, size=item.size, yaw=item.yaw)
            area = shapely.Polygon(box.corners())
            hidden[under[shapely.contains_xy(area, middles[under, 0], middles[under, 2])]] = True
    spilt = np.flatnonzero(dice.random(len(faces)) < 0.01)
    aside = middles[spilt] + dice.normal(0, 0.25, (len(spilt), 3))
    labels[spilt] = labels[KDTree(middles).query(aside)[1]]
    colours = np.array([(0, 0, 0), *(line.rgb for line in lines)], dtype=np.uint8)[labels]
    strange = dice.random(len(faces)) < 0.01
    colours[strange] = dice.integers(0, 255, (int(strange.sum()), 3))
    faces, colours = faces[~hidden], colours[~hidden]
    glb = GlbWriter(scene.uri)
    look = glb.material(pbrMetallicRoughness={})
    corners = to_hm3d_frame(points[faces].reshape(-1, 3).astype(np.float32))
    each = np.arange(len(corners)).reshape(-1, 3)
    linear = linear_colours(colours.repeat(3, axis=0))
    glb.node("scan", [GlbPrimitive(corners, each, look, colours=linear)])
    return glb.done()


def as_matterport(scene: Scene, home: Path, folder: Path) -> Path:
    """Write a home as a Matterport3D scan: SCAN.glb, SCAN_semantic.ply, SCAN.house.

    Args:
        scene: the scene.
        home: the same in HM3D's format, whose textured GLB is copied.
        folder: parent of the scan's folder.
    """
    mesh, numbers = scene_mesh(scene), face_numbers(scene)
    lines = [line for line in semantic_lines(scene) if line.region >= 0]
    scan = folder / "S1"
    scan.mkdir(parents=True)
    shutil.copy(home / f"{home.name.partition('-')[2]}.glb", scan / "S1.glb")
    objects = {line.number: k for k, line in enumerate(lines)}
    table = np.full(int(numbers.max()) + 1, -1, dtype=np.int32)
    for number, k in objects.items():
        table[number] = k
    faces = np.zeros(len(mesh.faces), dtype=[("n", "u1"), ("v", "<i4", 3), ("o", "<i4")])
    faces["n"], faces["v"], faces["o"] = 3, mesh.faces, table[numbers]
    head = (
        f"ply\nformat binary_little_endian 1.0\nelement vertex {len(mesh.vertices)}\n"
        "property float x\nproperty float y\nproperty float z\n"
        f"element face {len(faces)}\nproperty list uchar int vertex_indices\n"
        "property int object_id\nend_header\n"
    )
    points = to_hm3d_frame(mesh.vertices).astype("<f4")
    (scan / "S1_semantic.ply").write_bytes(head.encode() + points.tobytes() + faces.tobytes())
    (scan / "S1.house").write_text(_house(scene, lines, mesh, numbers), encoding="ascii")
    return scan


def _house(
    scene: Scene, lines: list[SemanticLine], mesh: SceneMesh, numbers: NDArray[np.int32]
) -> str:
    letters = {label: letter for letter, label in ROOM_LABELS.items()}
    found = outline_items(mesh.vertices, mesh.faces, numbers)
    boxes = {number: each.box for number, each in found.items()}
    names = sorted({line.category for line in lines})
    out = ["ASCII 1.1"]
    zeros = " 0" * 5
    for floor in scene.floors:
        out.append(f"L {floor.id - 1} 1 - 0 0 {floor.height} 0 0 0 9 9 9{zeros}")
    for region in scene.regions:
        assert region.box is not None
        (x, y, z), (a, b, c) = region.box.center, region.box.size
        low, high = (x - a / 2, -z - c / 2, y - b / 2), (x + a / 2, -z + c / 2, y + b / 2)
        at = " ".join(str(each) for each in (x, -z, region.center[1], *low, *high, b))
        letter = letters.get(region.label, "z")
        out.append(f"R {region.number} {region.floor - 1} 0 0 {letter} {at} 0 0 0 0")
    for k, name in enumerate(names):
        out.append(f"C {k} {k} {name.replace(' ', '#')} 1 misc{zeros}")
    for k, line in enumerate(lines):
        if line.number not in boxes:
            continue
        box = boxes[line.number]
        (x, y, z), (a, b, c) = box.center, box.size
        cos, sin = math.cos(box.yaw), math.sin(box.yaw)
        numbers_ = (x, -z, y, cos, -sin, 0, 0, 0, 1, a / 2, b / 2, c / 2)
        at = " ".join(str(each) for each in numbers_)
        out.append(f"O {k} {line.region} {names.index(line.category)} {at} 0 0 0 0 0 0 0 0")
    return "\n".join(out) + "\n"
