"""Reader of a scan's semantic mesh: triangles in the scene's frame, with the object of each face.

HM3D's release and Matterport3D's meshes are z up. Their (x, y, z) is (x, z, -y) here, as in Habitat
(up 0 0 1, front 0 1 0). If the floors of a file are level with y up, it is taken as y up.

``SCAN_semantic.ply`` of Matterport3D, as in Habitat's download, has an ``object_id`` for each face:
the number of an ``O`` line of the scan's ``.house``; below 0 for no object.

A semantic GLB gives the object of each triangle by its texture, or by its corners' colours. A
triangle has one owner here: the object that most of seven sample points of its texture show.
Corner colours are linear in glTF, those in the text file are sRGB.

``ID.semantic.txt`` of the HM3D-Semantics release gives the colour and region of each object:

    HM3D Semantic Annotations
    1,87E719,"floor",0
    2,00A1FF,"door, sliding",3

Each line has a number, a colour (sRGB, in hex, any case), a category in quotes, which may contain
commas, and the number of a region, -1 for none. A category does not tell its region's type.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from scipy.spatial import KDTree

from navloom.errors import SceneError
from navloom.scenes.formats.mp3d_house import read_house
from navloom.scenes.formats.scan_files import ScanFiles, missing_file
from navloom.scenes.safe_files import read_bytes, repr_of
from navloom.scenes.scene import Box
from navloom_worlds.geometry.arrays import F32, F64, I32, I64, Bools
from navloom_worlds.geometry.glb_triangles import MOST_FACES, GlbTriangles, read_glb
from navloom_worlds.geometry.mesh_validation import MOST_BYTES, check_extent, one_line_errors
from navloom_worlds.geometry.scan_boxes import ItemOutline, outline_items
from navloom_worlds.geometry.semantic_ids import CEILING, FLOOR, WALL
from navloom_worlds.geometry.solids import area_normals, linear_to_srgb

HEAD = "HM3D Semantic Annotations"
MOST_LINES = 100_000
MOST_NUMBER = 10_000_000
MOST_REGION = 100_000
_MOST_NAME = 200
_MOST_BYTES = 20_000_000
_LINE = re.compile(r'\s*(-?\d+)\s*,\s*#?([0-9A-Fa-f]+)\s*,\s*"(.*)"\s*,\s*(-?\d+)\s*')
MOST_PIXELS = 300_000_000
"""Most pixels of one image of a semantic GLB."""
_NEAR = 2.1
"""Distance in levels of 256 within which a colour matches, as files round them."""
_PLACES = np.array(
    [
        [1 / 3, 1 / 3, 1 / 3],
        [0.6, 0.2, 0.2],
        [0.2, 0.6, 0.2],
        [0.2, 0.2, 0.6],
        [0.45, 0.45, 0.1],
        [0.1, 0.45, 0.45],
        [0.45, 0.1, 0.45],
    ]
)
"""Barycentric weights of the texture samples of a triangle, its middle first."""
_BATCH = 200_000


@dataclass(frozen=True, slots=True)
class SemanticEntry:
    """Annotated object of a scan: number, colour, category and region.

    Attributes:
        number: its number, 1 and up.
        colour: 0xRRGGBB, sRGB; -1 in sources without colours.
        category: its category, in the source's words.
        region: number of its region; -1 for none.
    """

    number: int
    colour: int
    category: str
    region: int

    @property
    def name(self) -> str:
        """Category in plain words."""
        words = " ".join(self.category.replace("_", " ").split()).casefold()
        return words[:_MOST_NAME] or "unknown"


def read_semantic_txt(path: Path) -> tuple[SemanticEntry, ...]:
    """Read a home's ``ID.semantic.txt``.

    Args:
        path: the file.

    Returns:
        Its lines, in the file's order; each number and each colour once.

    Raises:
        SceneError: path, line and what was expected, where the file is missing or broken.
    """
    text = read_bytes(path, most=_MOST_BYTES).decode("utf-8-sig", errors="replace")
    lines = text.splitlines()
    if not lines or HEAD not in lines[0]:
        found = repr_of(lines[0]) if lines else "nothing"
        raise SceneError(f"{path}: line 1: expected '{HEAD}', found {found}.")
    found_lines: list[SemanticEntry] = []
    numbers: dict[int, int] = {}
    colours: dict[int, int] = {}
    for at, line in enumerate(lines[1:], start=2):
        if not line.strip():
            continue
        one = _line(path, at, line)
        for what, key, seen in (("number", one.number, numbers), ("colour", one.colour, colours)):
            if key in seen:
                shown = f"{key:06X}" if what == "colour" else key
                raise SceneError(
                    f"{path}: line {at}: expected each {what} once, and {shown} is line "
                    f"{seen[key]}'s."
                )
            seen[key] = at
        found_lines.append(one)
        if len(found_lines) > MOST_LINES:
            raise SceneError(f"{path}: expected at most {MOST_LINES:,} things.")
    if not found_lines:
        raise SceneError(f"{path}: there is no thing in it: expected lines below '{HEAD}'.")
    return tuple(found_lines)


def _line(path: Path, at: int, line: str) -> SemanticEntry:
    match = _LINE.fullmatch(line)
    if match is None:
        raise SceneError(
            f'{path}: line {at}: expected number,RRGGBB,"category",region, found {repr_of(line)}.'
        )
    number, hexed, category, region = match.groups()
    if len(hexed) != 6:
        raise SceneError(
            f"{path}: line {at}: expected a colour of six hex digits, found {repr_of(hexed)}."
        )
    if len(number) > 8 or not 0 < int(number) <= MOST_NUMBER:
        raise SceneError(
            f"{path}: line {at}: expected a number from 1 to {MOST_NUMBER:,}, found {number[:20]}."
        )
    if len(region) > 8 or not -1 <= int(region) <= MOST_REGION:
        raise SceneError(
            f"{path}: line {at}: expected a region from 0 to {MOST_REGION:,}, or -1 for none, "
            f"found {region[:20]}."
        )
    return SemanticEntry(int(number), int(hexed, 16), category, int(region))


@dataclass(frozen=True, eq=False)
class FaceLabels:
    """Object number of each face of a mesh.

    Attributes:
        numbers: (m,) int32; 0 for no object.
        strange: unknown colours, 0xRRGGBB, the most frequent first.
        plain: whether corner colours turned out to be sRGB instead of linear.
    """

    numbers: I32
    strange: tuple[int, ...]
    plain: bool


def label_faces(glb: GlbTriangles, numbers: Sequence[int], colours: Sequence[int]) -> FaceLabels:
    """Find the object of each face by colour.

    Args:
        glb: a semantic GLB.
        numbers: numbers of the objects, above 0.
        colours: colour of each, 0xRRGGBB in sRGB.

    Raises:
        SceneError: it has no colours, or an image in it is broken.
    """
    known = _Known(numbers, colours)
    textured = glb.textured
    coloured = ~textured & np.isfinite(glb.colours[glb.faces[:, 0], 0])
    if not (textured.any() or coloured.any()):
        raise SceneError(
            f"{glb.path}: has neither colours of corners nor textures that can be read: expected "
            "the colours of things, as a semantic GLB has them."
        )
    out = np.zeros(len(glb.faces), dtype=np.int32)
    codes: list[I64] = []
    if textured.any():
        out[textured] = _by_texture(glb, textured, known, codes)
    plain = False
    if coloured.any():
        corners = glb.faces[coloured]
        linear = _levels(linear_to_srgb(glb.colours[corners]))
        out[coloured] = known.most(linear)
        if not (out[coloured] > 0).mean() > 0.5:
            as_is = _levels(glb.colours[corners])
            other = known.most(as_is)
            if (other > 0).sum() > (out[coloured] > 0).sum():
                out[coloured], linear, plain = other, as_is, True
        codes.append(linear[:, 0][out[coloured] == 0])
    lost = np.concatenate(codes) if codes else np.zeros(0, dtype=np.int64)
    strange, many = np.unique(lost, return_counts=True)
    order = np.argsort(-many, kind="stable")
    return FaceLabels(out, tuple(strange[order].tolist()), plain)


class _Known:
    """Lookup of object numbers by colour."""

    def __init__(self, numbers: Sequence[int], colours: Sequence[int]) -> None:
        order = np.argsort(np.asarray(colours, dtype=np.int64), kind="stable")
        self._colours = np.asarray(colours, dtype=np.int64)[order]
        self._numbers = np.asarray(numbers, dtype=np.int32)[order]
        self._tree = KDTree(_bytes(self._colours))

    def of(self, codes: I64) -> I32:
        """Return the number of each colour, 0 for unknown ones."""
        kinds, again = np.unique(codes, return_inverse=True)
        at = np.minimum(np.searchsorted(self._colours, kinds), len(self._colours) - 1)
        found = np.where(self._colours[at] == kinds, self._numbers[at], 0)
        lost = np.flatnonzero(found == 0)
        if len(lost):
            near_by = self._tree.query(_bytes(kinds[lost]), distance_upper_bound=_NEAR)
            far, near = (np.asarray(each) for each in near_by)
            held = np.isfinite(far)
            found[lost[held]] = self._numbers[near[held]]
        out: I32 = found[again.reshape(codes.shape)].astype(np.int32)
        return out

    def most(self, codes: I64) -> I32:
        """Return the number that most of the colours (m, k) sampled on each face have."""
        found = self.of(codes)
        votes = (found[:, :, None] == found[:, None, :]).sum(axis=2) * (found > 0)
        best: I32 = found[np.arange(len(found)), votes.argmax(axis=1)]
        return best


def _by_texture(glb: GlbTriangles, textured: Bools, known: _Known, codes: list[I64]) -> I32:
    faces = np.flatnonzero(textured)
    images = np.array([-1 if image is None else image for _, image in glb.materials])
    which = images[glb.material[faces]]
    out = np.zeros(len(faces), dtype=np.int32)
    for image in np.unique(which).tolist():
        pixels = _pixels(glb, image)
        mine = np.flatnonzero(which == image)
        for first in range(0, len(mine), _BATCH):
            some = mine[first : first + _BATCH]
            corners = glb.uv[glb.faces[faces[some]]].astype(np.float64)
            at = np.einsum("pk,mkc->mpc", _PLACES, corners)
            at -= np.floor(at)
            high, wide = pixels.shape
            x = np.minimum((at[..., 0] * wide).astype(np.int64), wide - 1)
            y = np.minimum((at[..., 1] * high).astype(np.int64), high - 1)
            seen = pixels[y, x].astype(np.int64)
            out[some] = known.most(seen)
            codes.append(seen[:, 0][out[some] == 0])
    return out


def _pixels(glb: GlbTriangles, image: int) -> I32:
    """Return an image's colours as 0xRRGGBB."""
    raw = glb.images[image] if 0 <= image < len(glb.images) else None
    if raw is None:
        return np.full((1, 1), -1, dtype=np.int32)
    broken = f"{glb.path}: images[{image}] is broken"
    with one_line_errors(broken), Image.open(io.BytesIO(raw)) as opened:
        if opened.size[0] * opened.size[1] > MOST_PIXELS:
            raise SceneError(
                f"{glb.path}: images[{image}] is {opened.size[0]} x {opened.size[1]}: expected "
                f"at most {MOST_PIXELS:,} pixels."
            )
        rgb = np.asarray(opened.convert("RGB"), dtype=np.uint8)
    out = rgb[..., 0].astype(np.int32) << 16
    out |= rgb[..., 1].astype(np.int32) << 8
    out |= rgb[..., 2]
    return out


def _bytes(codes: I64) -> F64:
    return np.stack([codes >> 16 & 255, codes >> 8 & 255, codes & 255], axis=1).astype(np.float64)


def _levels(colours: F32) -> I64:
    """Return (..., 3) colours from 0 to 1 as 0xRRGGBB."""
    level = np.round(np.clip(np.nan_to_num(colours), 0, 1) * 255).astype(np.int64)
    return level[..., 0] << 16 | level[..., 1] << 8 | level[..., 2]


_HEAD = 10_000
_LEAST = {"vertex": 12, "face": 10}
"""Least bytes of one element in a binary file."""


@dataclass(frozen=True, eq=False)
class PlyTriangles:
    """Content of a semantic PLY in its own frame.

    Attributes:
        vertices: (n, 3) float32.
        faces: (m, 3) int32.
        objects: (m,) int32, object of each face; -1 for none.
    """

    vertices: F32
    faces: I32
    objects: I32


def read_semantic_ply(path: Path) -> PlyTriangles:
    """Read a semantic PLY, binary or ASCII.

    Raises:
        SceneError: it is missing, cut short, too large, has no triangle, or no ``object_id``.
    """
    from trimesh.exchange.ply import load_ply

    raw = read_bytes(path, most=MOST_BYTES)
    if not raw.startswith(b"ply"):
        raise SceneError(f"{path}: is no PLY: it begins with {repr_of(raw[:4])}, expected b'ply'.")
    _check_head(path, raw)
    with one_line_errors(f"{path}: cannot be read as PLY"):
        loaded: dict[str, Any] = load_ply(io.BytesIO(raw), skip_materials=True)
        vertices = np.asarray(loaded["vertices"], dtype=np.float32)
        faces = np.asarray(loaded["faces"], dtype=np.int64)
        data = loaded["metadata"]["_ply_raw"]["face"]["data"]
        named = data.dtype.names if isinstance(data, np.ndarray) else data.keys()
        objects = data["object_id"] if "object_id" in (named or ()) else None
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


_BUILT = {"floor": FLOOR, "wall": WALL, "walls": WALL, "ceiling": CEILING}
SURFACES = _BUILT | {f"elevator {name}": owner for name, owner in _BUILT.items()}
"""Categories that are no items, with the owner ids that they have in homes."""
_LEVEL = ("floor", "flooring", "ceiling")
_MOST_SHOWN = 5


@dataclass(frozen=True, eq=False)
class Scan:
    """Semantic mesh of a scan, with its objects.

    Attributes:
        files: files of the scan.
        vertices: (n, 3) float32, metres, y up.
        faces: (m, 3) int32.
        numbers: (m,) int32, object of each face; 0 for none.
        lines: the objects.
        upright: whether the file was y up already.
        notes: notes for the user of the scene.
        given: boxes of objects given by the source.
    """

    files: ScanFiles
    vertices: F32
    faces: I32
    numbers: I32
    lines: tuple[SemanticEntry, ...]
    upright: bool
    notes: tuple[str, ...]

    given: dict[int, Box] = field(default_factory=dict)

    @cached_property
    def boxes(self) -> dict[int, Box]:
        """Box of each object: as given by the source, else around the object's triangles."""
        return self.given or {n: each.box for n, each in self.item_outlines.items()}

    @cached_property
    def item_outlines(self) -> dict[int, ItemOutline]:
        """Box and footprint of each object except floors, walls and ceilings."""
        surfaces = [line.number for line in self.lines if is_structure(line.name)]
        numbers = np.where(np.isin(self.numbers, surfaces), 0, self.numbers)
        return outline_items(self.vertices, self.faces, numbers)

    @cached_property
    def rise(self) -> F32:
        """Vertical part of each face's unit normal, (m,): 1 level, 0 upright."""
        cross = area_normals(self.vertices[self.faces].astype(np.float64))
        long = np.linalg.norm(cross, axis=1)
        return np.abs(cross[:, 1] / np.where(long > 0, long, 1.0)).astype(np.float32)

    @cached_property
    def areas(self) -> F64:
        """Area of each face in square metres, (m,)."""
        cross = area_normals(self.vertices[self.faces].astype(np.float64))
        return np.asarray(np.linalg.norm(cross, axis=1) / 2)


def is_structure(name: str) -> bool:
    """Check whether a category is floor, wall or ceiling, and so no item."""
    return name in SURFACES


def read_scan(files: ScanFiles) -> Scan:
    """Read the semantic mesh of a scan, or its plain mesh if it has no annotations.

    The last two are cached.

    Raises:
        SceneError: a file is missing, broken, too large, not in metres, or does not fit the others.
    """
    return _kept(files, files.stamp)


@lru_cache(maxsize=2)
def _kept(files: ScanFiles, _stamp: object) -> Scan:
    return _house_scan(files) if files.source == "mp3d" else _release_scan(files)


def _house_scan(files: ScanFiles) -> Scan:
    """Read a Matterport3D scan: face owners from its PLY, objects from its ``.house``."""
    if files.semantic is None or files.numbers is None:
        return _bare(files)
    house = read_house(files.numbers)
    ply = read_semantic_ply(files.semantic)
    vertices = to_scene_frame(ply.vertices, False)
    _check_metres(files.semantic, vertices)
    # 0 means no object here, but is an object's number in the PLY.
    known = np.array([each.number for each in house.objects], dtype=np.int32)
    numbers = np.where(np.isin(ply.objects, known), ply.objects + 1, 0).astype(np.int32)
    if not numbers.any():
        raise SceneError(
            f"{files.semantic}: none of its faces is of an object of {files.numbers.name}: "
            "expected files of one scan."
        )
    lines = tuple(SemanticEntry(x.number + 1, -1, x.name, x.room) for x in house.objects)
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
        raise missing_file(files, gone, f"it beside {there}, as HM3D's release has both or neither")
    if files.semantic is None or files.numbers is None:
        return _bare(files)
    lines = read_semantic_txt(files.numbers)
    glb = read_glb(files.semantic)
    found = label_faces(glb, [x.number for x in lines], [x.colour for x in lines])
    _check_known(files, found.numbers, found.strange)
    names = {line.number: line.name for line in lines}
    level = [number for number, name in names.items() if name in _LEVEL]
    lying = glb.faces[np.isin(found.numbers, level)]
    normals = np.abs(area_normals(glb.vertices[lying].astype(np.float64))).sum(axis=0)
    upright = bool(normals[1] > normals[2])
    vertices = to_scene_frame(glb.vertices, upright)
    # Land around a home does not count for its size.
    _check_metres(files.semantic, vertices[np.unique(lying)] if len(lying) else vertices)
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
        raise missing_file(files, "mesh", f"{files.stem}.glb, or {files.stem}{ending}")
    glb = read_glb(path)
    vertices = to_scene_frame(glb.vertices, False)
    _check_metres(path, vertices)
    nobody = np.zeros(len(glb.faces), dtype=np.int32)
    lacking = "SCAN_semantic.ply with SCAN.house" if files.source == "mp3d" else "semantic.glb"
    notes = (f"There is no {lacking}: whose the triangles are is not known.",)
    return Scan(files, vertices, glb.faces, nobody, (), False, notes)


def to_scene_frame(vertices: F32, upright: bool) -> F32:
    """Return a file's vertices in the scene's frame."""
    if upright:
        return vertices
    return np.stack([vertices[:, 0], vertices[:, 2], -vertices[:, 1]], axis=1)


def glb_to_scene_frame(glb: GlbTriangles, upright: bool) -> GlbTriangles:
    """Return a textured GLB in the scene's frame."""
    return replace(glb, vertices=to_scene_frame(glb.vertices, upright))


def _check_metres(path: Path, vertices: F32) -> None:
    low, high = vertices.min(axis=0).tolist(), vertices.max(axis=0).tolist()
    check_extent(path, low, high, "z up")


def _check_known(files: ScanFiles, numbers: I32, strange: tuple[int, ...]) -> None:
    known = float((numbers > 0).mean())
    if known < 0.5:
        shown = ", ".join(f"{each:06X}" for each in strange[:_MOST_SHOWN])
        raise SceneError(
            f"{files.semantic}: {1 - known:.0%} of its triangles have colours that "
            f"{files.stem}.semantic.txt does not say ({shown}): expected files of one home."
        )


def _notes(files: ScanFiles, numbers: I32, strange: tuple[int, ...]) -> list[str]:
    lost = int((numbers == 0).sum())
    if not lost:
        return []
    return [
        f"{lost:,} of {len(numbers):,} triangles are nobody's: {files.stem}.semantic.txt does not "
        f"say their colours ({len(strange)} of them)."
    ]
