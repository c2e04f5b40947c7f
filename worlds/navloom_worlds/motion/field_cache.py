"""Disk format of body fields, and cache keys of results derived from a scene."""

from __future__ import annotations

from pathlib import Path
from typing import IO

import numpy as np

from navloom import scenes
from navloom.disk_cache import code_key, content_key
from navloom.scenes.distances import scene_cached
from navloom.scenes.scene import Scene
from navloom_worlds import furniture, geometry
from navloom_worlds import motion as space
from navloom_worlds.geometry.arrays import F64, I32
from navloom_worlds.geometry.mesh import CellGrid, is_procedural, scene_mesh
from navloom_worlds.motion.inflation import FreeSpace, HeadroomFloor

_FLOOR = ("cell", "height", "clearance")
_PLACES = (*_FLOOR, "x", "z", "beside", "part")
_ROOM = ("height", "clearance")
_METRES = (*_ROOM, "x", "z")
_HUGE = 1e6
"""Metres that no coordinate of a scene reaches."""


def scene_cache_key(scene: Scene, told: str) -> str:
    """Return a cache key for a result derived from a scene: a hash of its content and the code.

    Args:
        scene: a scene with geometry.
        told: what else the result depends on.

    Raises:
        SceneError: the scene's mesh file is broken.
    """
    whole = scene_cached(scene, "content", lambda: _content(scene))
    return content_key(whole, told)


def _content(scene: Scene) -> str:
    here = [str(each) for room in (space, geometry, furniture) for each in room.__path__]
    files = [str(file) for each in scenes.__path__ for file in sorted(Path(each).glob("*.py"))]
    code = code_key(*here, *files)
    if is_procedural(scene):
        return content_key(code, scene.model_dump_json())
    mesh = scene_mesh(scene)
    return content_key(
        code, scene.model_dump_json(), mesh.vertices, mesh.faces, mesh.owners, mesh.smooth
    )


def save_places(file: IO[bytes], found: FreeSpace, ranked: I32) -> None:
    """Write the places of a field and their ranked parts as NPZ."""
    held = {name: getattr(found, name) for name in _PLACES}
    held |= {f"floor_{name}": getattr(found.floor, name) for name in _FLOOR}
    cells = found.grid
    grid = np.array([cells.x, cells.z, cells.cell, cells.wide, cells.deep])
    np.savez(file, grid=grid, ranked=ranked, **held)


def load_places(file: IO[bytes]) -> tuple[FreeSpace, I32]:
    """Read places written by `save_places`.

    Raises:
        ValueError: the arrays are not valid.
        KeyError: an array is missing.
    """
    with np.load(file, allow_pickle=False) as parts:
        held = {name: parts[name] for name in parts.files}
    x, z, cell, wide, deep = (float(k) for k in held.pop("grid"))
    grid = CellGrid(x, z, cell, int(wide), int(deep))
    n, m, ranked = len(held["cell"]), len(held["floor_cell"]), held.pop("ranked")
    # Compiled code does not check bounds: no index may lead out of its tables.
    sound = cell > 0 and all(_sound(np.array([k])) for k in (x, z, cell, wide, deep))
    sound = sound and min(wide, deep) >= 0 and grid.wide * grid.deep < 2**31
    sound = sound and _within(ranked, (n,), n) and _within(held["part"], (n,), n)
    sound = sound and _within(held["beside"] + 1, (n, 4), n + 1)
    for name, count in (("cell", n), ("floor_cell", m)):
        sound = sound and _within(held[name], (count,), grid.wide * grid.deep)
        sound = sound and bool((np.diff(held[name]) >= 0).all())
    for name, count in (*((k, n) for k in _METRES), *((f"floor_{k}", m) for k in _ROOM)):
        sound = sound and held[name].shape == (count,) and _sound(held[name])
    if not sound:
        raise ValueError("not what was written")
    floor = HeadroomFloor(*(held[f"floor_{name}"] for name in _FLOOR))
    return FreeSpace(grid, floor=floor, **{name: held[name] for name in _PLACES}), ranked


def _within(numbers: I32, shape: tuple[int, ...], end: int) -> bool:
    if numbers.dtype != np.int32 or numbers.shape != shape:
        return False
    return not numbers.size or bool(numbers.min() >= 0 and numbers.max() < end)


def _sound(metres: F64) -> bool:
    # NaN fails this comparison.
    return metres.dtype == np.float64 and bool((np.abs(metres) < _HUGE).all())
