"""A scan as it was read: its triangles in our frame, whose each is, and how it looks.

HM3D's release and Matterport3D's meshes are z up: (x, y, z) there is (x, z, -y) here, as habitat
turns them (up 0 0 1, front 0 1 0). Where the floors of a file lie level with y up it is taken so.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from navloom.errors import SceneError
from navloom.scenes.formats.hm3d_numbers import NumberLine, read_numbers
from navloom.scenes.formats.mp3d_house import read_house
from navloom.scenes.formats.scan_files import ScanFiles, missing
from navloom.scenes.parts import Box
from navloom_worlds.geometry.face_numbers import face_numbers
from navloom_worlds.geometry.glb_triangles import Floats, GlbTriangles, Ints, glb_triangles
from navloom_worlds.geometry.mesh_guard import check_size
from navloom_worlds.geometry.owners import CEILING, FLOOR, WALL
from navloom_worlds.geometry.ply_triangles import ply_triangles
from navloom_worlds.geometry.scan_boxes import Outlined, things_outlined

_BUILT = {"floor": FLOOR, "wall": WALL, "walls": WALL, "ceiling": CEILING}
SURFACES = _BUILT | {f"elevator {name}": owner for name, owner in _BUILT.items()}
"""Categories that are no item: they have the owners that a home's have."""
_LEVEL = ("floor", "flooring", "ceiling")
_MOST_SHOWN = 5


@dataclass(frozen=True, eq=False)
class Scan:
    """A scan's semantic mesh.

    Attributes:
        files: where it was read.
        vertices: (n, 3) float32, metres, y up.
        faces: (m, 3) int32.
        numbers: (m,) int32, the thing each face is of; 0 for nobody's.
        lines: what the things are.
        upright: whether the file was y up already.
        notes: what a reader must know.
        given: boxes of things that the source gives.
    """

    files: ScanFiles
    vertices: Floats
    faces: Ints
    numbers: Ints
    lines: tuple[NumberLine, ...]
    upright: bool
    notes: tuple[str, ...]

    given: dict[int, Box] = field(default_factory=dict)

    @cached_property
    def boxes(self) -> dict[int, Box]:
        """The box of each thing: the one that the source gives, else that of its triangles."""
        return self.given or {n: each.box for n, each in self.outlined.items()}

    @cached_property
    def outlined(self) -> dict[int, Outlined]:
        """Where the triangles of each thing are, but floors, walls and ceilings."""
        surfaces = [line.number for line in self.lines if is_surface(line.name)]
        numbers = np.where(np.isin(self.numbers, surfaces), 0, self.numbers)
        return things_outlined(self.vertices, self.faces, numbers)

    @cached_property
    def rise(self) -> NDArray[np.float32]:
        """(m,) how level each face lies: 1 level, 0 upright."""
        return np.abs(_normals(self.vertices, self.faces)[:, 1]).astype(np.float32)

    @cached_property
    def areas(self) -> NDArray[np.float64]:
        """(m,) square metres of each face."""
        corners = self.vertices[self.faces].astype(np.float64)
        cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        return np.asarray(np.linalg.norm(cross, axis=1) / 2)


def is_surface(name: str) -> bool:
    """Whether what is called so is floor, wall or ceiling, and no item."""
    return name in SURFACES


def read_scan(files: ScanFiles) -> Scan:
    """The semantic mesh of a scan, or its bare mesh where nobody says whose faces are.

    The last two are kept.

    Raises:
        SceneError: a file is missing, broken, too large, not in metres, or does not fit the others.
    """
    return _kept(files, files.stamp)


@lru_cache(maxsize=2)
def _kept(files: ScanFiles, _stamp: object) -> Scan:
    return _house_scan(files) if files.source == "mp3d" else _release_scan(files)


def _house_scan(files: ScanFiles) -> Scan:
    """A scan of Matterport3D: its PLY says whose each face is, its ``.house`` what things are."""
    if files.semantic is None or files.numbers is None:
        return _bare(files)
    house = read_house(files.numbers)
    ply = ply_triangles(files.semantic)
    vertices = turned(ply.vertices, False)
    _check_metres(files.semantic, vertices)
    # 0 is nobody's here, and an object's number there.
    known = np.array([each.number for each in house.objects], dtype=np.int32)
    numbers = np.where(np.isin(ply.objects, known), ply.objects + 1, 0).astype(np.int32)
    if not numbers.any():
        raise SceneError(
            f"{files.semantic}: none of its faces is of an object of {files.numbers.name}: "
            "expected files of one scan."
        )
    lines = tuple(NumberLine(x.number + 1, -1, x.name, x.room) for x in house.objects)
    boxes = {x.number + 1: x.box for x in house.objects}
    lost = int((numbers == 0).sum())
    said = f"{lost:,} of {len(numbers):,} triangles are of no object that has a room and a name."
    notes = (said,) if lost else ()
    return Scan(files, vertices, ply.faces, numbers, lines, False, notes, boxes)


def _release_scan(files: ScanFiles) -> Scan:
    if (files.semantic is None) != (files.numbers is None):
        there, gone = f"{files.stem}.semantic.glb", f"{files.stem}.semantic.txt"
        if files.semantic is None:
            there, gone = gone, there
        raise missing(files, gone, f"it beside {there}, as HM3D's release has both or neither")
    if files.semantic is None or files.numbers is None:
        return _bare(files)
    lines = read_numbers(files.numbers)
    glb = glb_triangles(files.semantic)
    found = face_numbers(glb, [x.number for x in lines], [x.colour for x in lines])
    _check_known(files, found.numbers, found.strange)
    names = {line.number: line.name for line in lines}
    level = [number for number, name in names.items() if name in _LEVEL]
    upright = lies_upright(glb, np.isin(found.numbers, level))
    vertices = turned(glb.vertices, upright)
    # Land around a home says nothing of its size.
    floors = glb.faces[np.isin(found.numbers, level)]
    _check_metres(files.semantic, vertices[np.unique(floors)] if len(floors) else vertices)
    notes = list(_notes(files, found.numbers, found.strange))
    if found.plain:
        notes.append("Colours of corners are sRGB in this file; glTF has linear ones.")
    if upright:
        notes.append("The files are y up, HM3D's release is z up.")
    return Scan(files, vertices, glb.faces, found.numbers, lines, upright, tuple(notes))


def _bare(files: ScanFiles) -> Scan:
    path = files.looks or files.packed
    if path is None:
        ending = "_semantic.ply and .house" if files.source == "mp3d" else ".semantic.glb"
        raise missing(files, "mesh", f"{files.stem}.glb, or {files.stem}{ending}")
    glb = glb_triangles(path)
    vertices = turned(glb.vertices, False)
    _check_metres(path, vertices)
    nobody = np.zeros(len(glb.faces), dtype=np.int32)
    lacking = "SCAN_semantic.ply with SCAN.house" if files.source == "mp3d" else "semantic.glb"
    notes = (f"There is no {lacking}: whose the triangles are is not known.",)
    return Scan(files, vertices, glb.faces, nobody, (), False, notes)


def turned(vertices: Floats, upright: bool) -> Floats:
    """Vertices of a file in our frame."""
    if upright:
        return vertices
    return np.stack([vertices[:, 0], vertices[:, 2], -vertices[:, 1]], axis=1)


def lies_upright(glb: GlbTriangles, level: NDArray[np.bool_]) -> bool:
    """Whether a file's floors and ceilings lie level with y up; False where there are none."""
    normals = np.abs(_normals(glb.vertices, glb.faces[level], scaled=True)).sum(axis=0)
    return bool(normals[1] > normals[2])


def looks_turned(glb: GlbTriangles, upright: bool) -> GlbTriangles:
    """A GLB of looks in our frame."""
    return replace(glb, vertices=turned(glb.vertices, upright))


def _normals(vertices: Floats, faces: Ints, scaled: bool = False) -> NDArray[np.float64]:
    corners = vertices[faces].astype(np.float64)
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    if scaled:
        return normal
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    return np.asarray(normal / np.where(length > 0, length, 1.0))


def _check_metres(path: Path, vertices: Floats) -> None:
    low, high = vertices.min(axis=0).tolist(), vertices.max(axis=0).tolist()
    check_size(path, low, high, "z up")


def _check_known(files: ScanFiles, numbers: Ints, strange: tuple[int, ...]) -> None:
    known = float((numbers > 0).mean())
    if known < 0.5:
        shown = ", ".join(f"{each:06X}" for each in strange[:_MOST_SHOWN])
        raise SceneError(
            f"{files.semantic}: {1 - known:.0%} of its triangles have colours that "
            f"{files.stem}.semantic.txt does not say ({shown}): expected files of one home."
        )


def _notes(files: ScanFiles, numbers: Ints, strange: tuple[int, ...]) -> list[str]:
    lost = int((numbers == 0).sum())
    if not lost:
        return []
    return [
        f"{lost:,} of {len(numbers):,} triangles are nobody's: {files.stem}.semantic.txt does not "
        f"say their colours ({len(strange)} of them)."
    ]
