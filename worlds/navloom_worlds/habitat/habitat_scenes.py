"""Which files of a scene habitat opens: an export of ours in the cache, or a dataset's own.

A scene with geometry is exported once for what it holds (``habitat`` in the user's cache folder);
navmeshes made of it lie beside it.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from navloom.disk_cache import HABITAT, code_key, content_key
from navloom.errors import SceneError, SimulatorError
from navloom.scenes.distances import per_scene
from navloom.scenes.formats.scan_files import scan_of
from navloom.scenes.scene import Scene
from navloom_worlds import exporting
from navloom_worlds.exporting.habitat_files import save_habitat, scene_handle
from navloom_worlds.exporting.hm3d_files import release_name
from navloom_worlds.exporting.semantic_numbers import semantic_lines
from navloom_worlds.geometry import has_geometry, scene_mesh
from navloom_worlds.geometry.owners import NOTHING, SHELL
from navloom_worlds.geometry.scan import read_scan
from navloom_worlds.geometry.scan_mesh import number_owners
from navloom_worlds.geometry.solids import Picture
from navloom_worlds.habitat.scene_dataset import find_in_dataset

_FORMAT = 1


@dataclass(frozen=True, eq=False)
class SceneFiles:
    """What habitat opens of a scene.

    Attributes:
        config: the scene dataset's config.
        handle: what the scene is called in it.
        navmeshes: the folder that navmeshes made of it lie in.
        owners: (n,) int32, the owner that each number of its semantic frames stands for; None
            where nobody knows.
    """

    config: Path
    handle: str
    navmeshes: Path
    owners: NDArray[np.int32] | None

    def owned(self, numbers: NDArray[np.int32]) -> NDArray[np.int32]:
        """A semantic frame as a frame of ids: whose each pixel is.

        Raises:
            SimulatorError: nobody knows what the numbers mean.
        """
        if self.owners is None:
            raise SimulatorError(
                f"{self.config}: what its numbers mean in this scene is not known: load the scene"
                " from the release itself (hm3d:DIR/ID), or take a rig without ids."
            )
        known = np.minimum(numbers.view(np.uint32), len(self.owners) - 1)
        found: NDArray[np.int32] = self.owners[known]
        return found


def scene_files(scene: Scene, dataset: Path | None = None) -> SceneFiles:
    """The files of a scene; exported where they are not there.

    Args:
        scene: the scene.
        dataset: a scene dataset's config of the user's own; None is an export of ours.

    Raises:
        SimulatorError: the scene cannot be exported, or the dataset has no such scene or lacks a
            file.
    """
    if dataset is not None:
        return per_scene(scene, f"habitat {dataset}", lambda: _of_dataset(scene, dataset))
    try:
        return per_scene(scene, "habitat files", lambda: _exported(scene))
    except SceneError as error:
        raise SimulatorError(f"{scene.uri} cannot be exported for habitat: {error}") from error


def export_key(scene: Scene) -> str:
    """A hash of all that an export depends on, and of what makes it."""
    mesh = scene_mesh(scene)
    told = [f"navloom habitat {_FORMAT}", code_key(*exporting.__path__), scene.model_dump_json()]
    parts = [mesh.vertices, mesh.faces, mesh.owners, mesh.surface, mesh.uv, mesh.smooth]
    for look in mesh.surfaces:
        picture = isinstance(look.texture, Picture)
        named = "picture" if picture else look.texture
        told.append(repr((look.rgb, named, look.repeat, look.gloss, look.glow)))
        if isinstance(look.texture, Picture):
            parts.append(look.texture.pixels)
    return content_key(*told, *parts)[:40]


def _exported(scene: Scene) -> SceneFiles:
    begun, log = time.monotonic(), logging.getLogger("navloom")

    def fill(folder: Path) -> None:
        save_habitat([scene], folder)
        log.info("%s exported for habitat in %.1f s", scene.uri, time.monotonic() - begun)

    try:
        folder = HABITAT.folder(export_key(scene), fill, lambda path: _config(path) is not None)
    except OSError as error:
        raise SimulatorError(
            f"{scene.uri} cannot be exported for habitat: {HABITAT.root()}:"
            f" {error.strerror or error}."
        ) from error
    config = _config(folder)
    if config is None:
        raise SimulatorError(f"{folder}: what was just written is gone: is the disk full?")
    navmeshes = folder / "navmeshes"
    return SceneFiles(config, scene_handle(scene), navmeshes, _own_numbers(scene))


def _of_dataset(scene: Scene, config: Path) -> SceneFiles:
    found = find_in_dataset(config, [scene.id, release_name(scene)])
    state = found.file.stat()
    told = f"{found.file.resolve()} {state.st_size} {state.st_mtime_ns}"
    navmeshes = HABITAT.root() / f"of-{sha256(told.encode()).hexdigest()[:40]}" / "navmeshes"
    return SceneFiles(config, found.handle, navmeshes, _dataset_numbers(scene))


def _dataset_numbers(scene: Scene) -> NDArray[np.int32] | None:
    """What a release's numbers mean in a scene that was read from it, or was exported as it."""
    files = scan_of(scene)
    try:
        if files is not None:
            return _closed(number_owners(scene, read_scan(files)))
        return _own_numbers(scene) if has_geometry(scene) else None
    except SceneError as error:
        raise SimulatorError(str(error)) from error


def _own_numbers(scene: Scene) -> NDArray[np.int32]:
    lines = semantic_lines(scene)
    owners = np.zeros(max((each.number for each in lines), default=0) + 1, dtype=np.int32)
    for line in lines:
        owners[line.number] = line.owner
    return _closed(owners)


def _closed(owners: NDArray[np.int32]) -> NDArray[np.int32]:
    """With nothing for 0, and a last entry for every number beyond: a mesh's, nobody's."""
    owners = np.append(owners, np.int32(SHELL))
    owners[0] = NOTHING
    return owners


def _config(folder: Path) -> Path | None:
    found = sorted(folder.glob("*.scene_dataset_config.json"))
    return found[0] if found else None
