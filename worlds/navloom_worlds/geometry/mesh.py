"""Mesh of a scene: its triangles with owners and surfaces, and the surfaces above each grid cell.

``scene_mesh`` joins the structure (walls, floors, doors, stairs:
:mod:`navloom_worlds.geometry.building_mesh`) and the items (:mod:`navloom_worlds.furniture`), or
reads the mesh file or scan that the scene came with. A joined mesh is cached on disk.

``cast_columns`` returns every surface that vertical rays hit, cell by cell.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from navloom import scenes
from navloom.disk_cache import MESHES, code_key, content_key
from navloom.errors import SceneError
from navloom.scenes.distances import drop_cached, scene_cached
from navloom.scenes.formats.scan_files import ScanFiles, scan_files_of
from navloom.scenes.memory_policy import SPARING
from navloom.scenes.safe_files import MESH_ENDINGS
from navloom.scenes.scene import Item, Point3, Scene
from navloom_worlds.geometry.arrays import F32, F64, I32, Bools
from navloom_worlds.geometry.ray_casting import RayCaster
from navloom_worlds.geometry.semantic_ids import SHELL, item_owner, opening_owner, structure_owners
from navloom_worlds.geometry.solids import (
    Owned,
    Part,
    Surface,
    TextureImage,
    area_normals,
    rotate_yaw,
)
from navloom_worlds.homes.home_source import catalogue_digest

if TYPE_CHECKING:
    from navloom_worlds.geometry.mesh_file import MeshFile

_ARRAYS = {
    "vertices": np.float32,
    "faces": np.int32,
    "owners": np.int32,
    "surface": np.int32,
    "uv": np.float32,
    "smooth": np.bool_,
}
_FEW = 50
"""Walls and items below which drawing a scene is as fast as reading it from the cache."""
_HUGE = 1e6
"""Metres that no coordinate of a scene reaches."""


@dataclass(frozen=True, eq=False)
class SceneMesh:
    """Triangles of a scene in its frame, metres, y up.

    Attributes:
        vertices: (n, 3) float32.
        faces: (m, 3) int32, counter-clockwise seen from outside.
        owners: (m,) int32, owner of each face.
        surfaces: the surfaces.
        surface: (m,) int32, index of each face's surface.
        uv: (n, 2) float32, as in :class:`navloom_worlds.geometry.solids.Part`; NaN where the
            texture is projected flat.
        smooth: (m,) bool, faces with smooth shading.
        photographed: whether its textures are photographs, which already contain lighting.
    """

    vertices: F32
    faces: I32
    owners: I32
    surfaces: tuple[Surface, ...]
    surface: I32
    uv: F32
    smooth: Bools
    photographed: bool = False

    @cached_property
    def caster(self) -> RayCaster:
        """Ray caster on the whole mesh; made once.

        Raises:
            SimulatorError: the mesh has no face.
        """
        return RayCaster(self.vertices, self.faces)

    @cached_property
    def bounds(self) -> tuple[F32, F32]:
        """Least and greatest corner."""
        return self.vertices.min(axis=0), self.vertices.max(axis=0)

    def without(self, hidden: Bools) -> SceneMesh:
        """Return the mesh without some faces; vertices stay.

        Args:
            hidden: (m,) faces to remove.
        """
        keep = ~hidden
        return replace(
            self,
            faces=self.faces[keep],
            owners=self.owners[keep],
            surface=self.surface[keep],
            smooth=self.smooth[keep],
        )


def merge_parts(parts: Iterable[Owned]) -> SceneMesh:
    """Join parts into one mesh, in their order."""
    vertices, uv = [np.zeros((0, 3), dtype=np.float32)], [np.zeros((0, 2), dtype=np.float32)]
    faces = [np.zeros((0, 3), dtype=np.int32)]
    owners, looks = [np.zeros(0, dtype=np.int32)], [np.zeros(0, dtype=np.int32)]
    smooth = [np.zeros(0, dtype=np.bool_)]
    surfaces: dict[Surface, int] = {}
    first = 0
    for owner, part in parts:
        count = len(part.faces)
        vertices.append(part.vertices)
        faces.append(part.faces + first)
        owners.append(np.full(count, owner, dtype=np.int32))
        look = surfaces.setdefault(part.surface, len(surfaces))
        looks.append(np.full(count, look, dtype=np.int32))
        smooth.append(np.full(count, part.smooth, dtype=np.bool_))
        flat = np.full((len(part.vertices), 2), np.nan, dtype=np.float32)
        uv.append(flat if part.uv is None else part.uv)
        first += len(part.vertices)
    return SceneMesh(
        np.concatenate(vertices).astype(np.float32, copy=False),
        np.concatenate(faces).astype(np.int32, copy=False),
        np.concatenate(owners),
        tuple(surfaces),
        np.concatenate(looks),
        np.concatenate(uv).astype(np.float32, copy=False),
        np.concatenate(smooth),
    )


def has_geometry(scene: Scene) -> bool:
    """Check whether a scene has more than its graph: walls, a mesh file, or a scan."""
    return bool(scene.walls) or _file_of(scene) is not None or _scan_of(scene) is not None


def is_procedural(scene: Scene) -> bool:
    """Check whether a scene's mesh is generated from the scene alone, not read from a file."""
    return _file_of(scene) is None and _scan_of(scene) is None


def scene_mesh(scene: Scene) -> SceneMesh:
    """Return the triangles of a scene's current state; made once, unless memory is spared.

    Raises:
        SceneError: it has no geometry, or its mesh file is broken.
    """
    if SPARING.meshes is not None and not (_meshed and _meshed[-1] is scene):
        _meshed[:] = [*(each for each in _meshed if each is not scene), scene]
        while len(_meshed) > SPARING.meshes:
            drop_cached(_meshed.pop(0), "mesh")
    return scene_cached(scene, "mesh", lambda: _made(scene))


_meshed: list[Scene] = []


def is_visible(scene: Scene, eye: Point3, point: Point3) -> bool:
    """Check whether nothing in a scene with geometry blocks the line from an eye to a point."""
    start = np.array(eye, np.float32)
    way = np.array([point], np.float32) - start
    return not scene_mesh(scene).caster.blocked(start, way, np.ones(1, np.float32))[0]


def _made(scene: Scene) -> SceneMesh:
    path = _file_of(scene)
    if path is not None:
        # trimesh is imported only for scenes with a mesh file.
        from navloom_worlds.geometry.mesh_file import load_mesh_file

        return merge_parts(file_parts(scene, load_mesh_file(path)))
    if (files := _scan_of(scene)) is not None:
        from navloom_worlds.geometry.scan_mesh import scan_mesh_arrays

        return SceneMesh(**scan_mesh_arrays(scene, files))
    key = mesh_cache_key(scene)
    if key is None:
        return _drawn(scene)
    return MESHES.kept(f"{key}.npz", lambda: _drawn(scene), _save, lambda file: _load(file, scene))


def mesh_cache_key(scene: Scene) -> str | None:
    """Return the cache key of a scene's mesh: a hash of the scene and of the code that draws it.

    None if the mesh is not cached: it comes from a file, or has few walls and items.
    """
    if not is_procedural(scene) or len(scene.walls) + len(scene.items) < _FEW:
        return None
    return scene_cached(scene, "mesh key", lambda: _key(scene))


def _key(scene: Scene) -> str:
    here, beside = Path(__file__).parents[1], Path(scenes.__file__).parent
    folders = (str(here / each) for each in ("furniture", "geometry", "homes"))
    paths = (*folders, *map(str, sorted(beside.glob("*.py"))))
    code = code_key(*paths, libraries=("numpy", "shapely"))
    return content_key("navloom mesh", code, scene.model_dump_json(), catalogue_digest())


def _drawn(scene: Scene) -> SceneMesh:
    # Imported only where a mesh is made: reading one needs no furniture code.
    from navloom_worlds.geometry.building_mesh import structure_parts

    return merge_parts([*structure_parts(scene), *_things(scene)])


def _save(file: IO[bytes], mesh: SceneMesh) -> None:
    pictures: list[TextureImage] = []
    looks = []
    for look in mesh.surfaces:
        told: str | int
        if isinstance(look.texture, str):
            told = look.texture
        else:
            told = next((k for k, each in enumerate(pictures) if each is look.texture), -1)
            if told < 0:
                told = len(pictures)
                pictures.append(look.texture)
        looks.append([look.rgb, told, look.repeat, look.gloss, look.glow])
    held: dict[str, Any] = {name: getattr(mesh, name) for name in _ARRAYS}
    held |= {f"picture_{k}": each.pixels for k, each in enumerate(pictures)}
    held["looks"] = np.frombuffer(json.dumps(looks).encode(), dtype=np.uint8)
    np.savez(file, **held)


def _load(file: IO[bytes], scene: Scene) -> SceneMesh:
    from navloom_worlds.geometry.textures import TEXTURES

    with np.load(file, allow_pickle=False) as parts:
        held = {name: parts[name] for name in parts.files}
    looks = json.loads(held.pop("looks").tobytes())
    arrays = {name: held.pop(name) for name in _ARRAYS}
    n, m = len(arrays["vertices"]), len(arrays["faces"])
    sizes = {"vertices": (n, 3), "faces": (m, 3), "uv": (n, 2)}
    sound = all(
        each.shape == sizes.get(name, (m,)) and each.dtype == _ARRAYS[name]
        for name, each in arrays.items()
    )
    # Compiled code does not check bounds: no index may lead out of its tables.
    lowest = opening_owner(len(scene.openings))
    for name, low, end in (
        ("faces", 0, n),
        ("surface", 0, len(looks)),
        ("owners", lowest, len(scene.items) + 1),
    ):
        sound = sound and (not m or bool(low <= arrays[name].min() and arrays[name].max() < end))
    sound = sound and bool((np.abs(arrays["vertices"]) < _HUGE).all())
    sound = sound and not np.isinf(arrays["uv"]).any()
    pictures = [TextureImage(held.pop(f"picture_{k}")) for k in range(len(held))]
    for each in pictures:
        sound = sound and each.pixels.dtype == np.uint8 and each.pixels.shape[2:] == (3,)
    surfaces = []
    for (r, g, b), told, repeat, gloss, glow in looks:
        sound = sound and all(map(math.isfinite, (r, g, b, repeat, gloss, glow)))
        sound = sound and (told in TEXTURES or told == "" or told in range(len(pictures)))
        texture = told if isinstance(told, str) else pictures[told]
        surfaces.append(Surface((r, g, b), texture, repeat, gloss, glow))
    if not sound:
        raise ValueError("not what was written")
    return SceneMesh(surfaces=tuple(surfaces), **arrays)


def file_parts(scene: Scene, file: MeshFile) -> Iterator[Owned]:
    """Yield the parts of a mesh file in a scene, moved with their items and removed with them."""
    places = {item.id: index for index, item in enumerate(scene.items)}
    known = structure_owners(scene)
    for node in file.nodes:
        if (index := places.get(node.name)) is not None:
            item = scene.items[index]
            position, yaw = file.placed.get(node.name, (item.position, item.yaw))
            for part in node.parts:
                yield item_owner(index), _carried(part, position, yaw, item)
        elif node.name not in file.placed:
            owner = known.get(node.name, SHELL)
            yield from ((owner, part) for part in node.parts)


def _carried(part: Part, position: Point3, yaw: float, item: Item) -> Part:
    """Return a part of an item, moved from its first pose to its current one."""
    if position == item.position and yaw == item.yaw:
        return part
    x, y, z = position
    return part.moved(-x, -y, -z).turned(item.yaw - yaw).moved(*item.position)


def _things(scene: Scene) -> Iterator[Owned]:
    from navloom_worlds.furniture import item_parts
    from navloom_worlds.geometry.item_pose import drawn_pose

    for index, item in enumerate(scene.items):
        if item.size is None:
            continue
        x, z, yaw = drawn_pose(scene, item)
        foot = item.position[1] - item.size[1] / 2
        parts, first = item_parts(item), 0
        at = np.concatenate([np.zeros((0, 3), np.float32), *(part.vertices for part in parts)])
        at = rotate_yaw(at, yaw) + np.array([x, foot, z], dtype=np.float32)
        for part in parts:
            last = first + len(part.vertices)
            yield item_owner(index), part.having(at[first:last])
            first = last


def _scan_of(scene: Scene) -> ScanFiles | None:
    files = scene_cached(scene, "scan_of", lambda: scan_files_of(scene))
    return files if files is not None and files.seen else None


def _file_of(scene: Scene) -> Path | None:
    """Return the mesh file that a scene was loaded from; None for other scenes.

    The scene's origin is ``house.glb``, ``mesh:DIR/house.glb``, or ``mesh:house.glb``, which is in
    ``$NAVLOOM_DATA/mesh``.
    """
    name = scene.origin.removeprefix("mesh:")
    if Path(name).suffix.casefold() not in MESH_ENDINGS:
        return None
    if name != scene.origin and "/" not in name:
        return Path(os.environ.get("NAVLOOM_DATA", "")).expanduser() / "mesh" / name
    return Path(name).expanduser()


_BELOW = 0.0005
"""Metres below a surface where the next ray begins; surfaces closer together count as one."""
_OFF = 0.137
"""Share of a cell by which rays are offset, to miss the round coordinates that designers use."""
_MOST_CELLS = 2_500_000
"""Most cells of a grid: 6,250 square metres in cells of 5 cm."""
_COARSE = 0.25
"""Metres between the rays that find roofed areas."""
_MOST_COARSE = 1_000
"""Most such rays along a side."""
_AROUND = 4.0
"""Metres around roofed areas that are included: balconies, terraces, steps."""
_MOST_SURFACES = 400
"""Most surfaces stacked in one column; more is no building."""


@dataclass(frozen=True, eq=False)
class CellGrid:
    """Regular grid of square cells over a mesh, seen from above.

    Attributes:
        x: x of the middle of the first cell, in metres.
        z: z of the middle of the first cell.
        cell: width of a cell, in metres.
        wide: number of cells along x.
        deep: number of cells along z.
    """

    x: float
    z: float
    cell: float
    wide: int
    deep: int

    def centres(self, cells: I32) -> F64:
        """Return (n, 2) x and z of the middles of numbered cells."""
        i, j = np.divmod(cells, self.deep)
        return np.stack([self.x + i * self.cell, self.z + j * self.cell], axis=1)

    def at(self, x: float, z: float) -> int:
        """Return the number of the cell at a position; -1 off the grid."""
        i, j = round((x - self.x) / self.cell), round((z - self.z) / self.cell)
        return i * self.deep + j if 0 <= i < self.wide and 0 <= j < self.deep else -1


@dataclass(frozen=True, eq=False)
class VerticalHits:
    """Surfaces on the vertical line through each cell's middle, cell by cell, top down in each.

    Attributes:
        cell: (n,) int32, number of the cell.
        height: (n,) float64, y in metres.
        slope: (n,) float32, vertical part of the unit normal: 1 level, 0 upright.
        room: (n,) float64, metres to the next surface above; infinite under the sky.
        face: (n,) int32, index of the triangle.
    """

    cell: I32
    height: F64
    slope: F32
    room: F64
    face: I32


def grid_over(mesh: SceneMesh, cell: float, head: float) -> CellGrid:
    """Return a grid over the roofed part of a mesh and around it; over all if none is roofed.

    Args:
        mesh: the triangles.
        cell: the width of a cell, in metres.
        head: headroom in metres from which a surface above counts as a roof.

    Raises:
        SceneError: the area is larger than a grid may be.
    """
    low, high = (np.array([each[0], each[2]], dtype=np.float64) for each in mesh.bounds)
    coarse = max(_COARSE, float(max(high - low)) / _MOST_COARSE)
    grid = _grid(low, high, coarse)
    found = cast_columns(mesh, grid)
    roofed = np.isfinite(found.room) & (found.room >= head)
    if roofed.any():
        at = grid.centres(found.cell[roofed])
        low = np.maximum(low, at.min(axis=0) - _AROUND)
        high = np.minimum(high, at.max(axis=0) + _AROUND)
    fine = _grid(low, high, cell)
    if fine.wide * fine.deep > _MOST_CELLS:
        raise SceneError(
            f"The mesh covers {high[0] - low[0]:.0f} x {high[1] - low[1]:.0f} m: expected at most "
            f"{_MOST_CELLS * cell * cell:,.0f} square metres. Cut off what lies around the home."
        )
    return fine


def _grid(low: F64, high: F64, cell: float) -> CellGrid:
    wide, deep = (max(1, int(np.ceil(each / cell))) for each in high - low)
    first = (0.5 + _OFF) * cell
    return CellGrid(float(low[0]) + first, float(low[1]) + first, cell, wide, deep)


def cast_columns(mesh: SceneMesh, grid: CellGrid, cells: I32 | None = None) -> VerticalHits:
    """Return every surface on the vertical line through the middle of each cell.

    A ray goes down, and after each hit it starts again just below.

    Args:
        mesh: the triangles.
        grid: the cells.
        cells: numbers of the cells to use, in order; all by default.

    Raises:
        SceneError: too many surfaces are stacked in one column.
    """
    top = float(mesh.bounds[1][1]) + 1.0
    if cells is None:
        cells = np.arange(grid.wide * grid.deep, dtype=np.int32)
    places = grid.centres(np.arange(grid.wide * grid.deep, dtype=np.int32))
    height = np.full(len(cells), top)
    above = np.full(len(cells), np.inf)
    down = np.array([0.0, -1.0, 0.0], dtype=np.float32)
    found = [(cells[:0], height[:0], cells[:0], above[:0])]
    for _ in range(_MOST_SURFACES):
        starts = np.stack([places[cells, 0], height, places[cells, 1]], axis=1).astype(np.float32)
        hits = mesh.caster.cast(starts, np.broadcast_to(down, starts.shape))
        met = hits.face >= 0
        if not met.any():
            break
        cells, above = cells[met], above[met]
        height = starts[met, 1].astype(np.float64) - hits.distance[met]
        found.append((cells, height, hits.face[met], above - height))
        above, height = height, height - _BELOW
    else:
        raise SceneError(f"The mesh has over {_MOST_SURFACES} surfaces over one another.")
    cell, heights, face, room = (np.concatenate(each) for each in zip(*found, strict=True))
    order = np.argsort(cell, kind="stable")
    slopes = _slopes(mesh, face)
    return VerticalHits(cell[order], heights[order], slopes[order], room[order], face[order])


def _slopes(mesh: SceneMesh, face: I32) -> F32:
    # Most columns hit the same few triangles, so each slope is computed once.
    used = np.flatnonzero(np.bincount(face, minlength=len(mesh.faces)))
    corners = mesh.vertices[mesh.faces[used]].astype(np.float64)
    normal = area_normals(corners)
    length = np.linalg.norm(normal, axis=1)
    up = np.zeros(len(mesh.faces), dtype=np.float32)
    up[used] = np.abs(normal[:, 1]) / np.where(length > 0, length, 1.0)
    slopes: F32 = up[face]
    return slopes
