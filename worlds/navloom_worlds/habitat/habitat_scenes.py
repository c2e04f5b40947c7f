"""Scene files that habitat opens: an export in the cache, or the user's dataset.

A scene with geometry is exported once per content (``habitat`` in the user's cache folder);
navmeshes made from it lie beside it.

A scene is looked up in a Habitat scene dataset, and missing files are reported. Habitat itself
writes such errors to a long log, and opens an empty scene instead. The config's stages and scene
instances are read; the format is habitat-sim's own (docs/pages/attributesJSON.rst there).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from navloom.disk_cache import HABITAT, code_key, content_key
from navloom.errors import SceneError, SimulatorError, did_you_mean
from navloom.scenes.distances import scene_cached
from navloom.scenes.formats.scan_files import scan_files_of
from navloom.scenes.safe_files import read_json, repr_of
from navloom.scenes.scene import Scene
from navloom_worlds import exporting
from navloom_worlds.exporting.habitat_files import save_habitat, scene_handle
from navloom_worlds.exporting.hm3d_files import release_name
from navloom_worlds.exporting.semantic_numbers import semantic_lines
from navloom_worlds.geometry import has_geometry, scene_mesh
from navloom_worlds.geometry.arrays import I32
from navloom_worlds.geometry.scan_mesh import owners_by_number
from navloom_worlds.geometry.scan_reader import read_scan
from navloom_worlds.geometry.semantic_ids import NOTHING, SHELL
from navloom_worlds.geometry.solids import TextureImage

T = TypeVar("T")

_MOST_BYTES = 50_000_000
_MOST_FILES = 200_000
_STAGE, _INSTANCE = ".stage_config.json", ".scene_instance.json"
_ASSETS = ("render_asset", "collision_asset", "semantic_asset", "semantic_descriptor_filename")
_Paths = Annotated[dict[str, list[str]], Field(max_length=100)]


class _ConfigPart(BaseModel):
    """Part of a config that lists the stages or the scene instances."""

    model_config = ConfigDict(extra="ignore")

    paths: _Paths = Field(default_factory=dict)


class _Config(BaseModel):
    model_config = ConfigDict(extra="ignore")

    stages: _ConfigPart = _ConfigPart()
    scene_instances: _ConfigPart = _ConfigPart()


_CONFIG = TypeAdapter(_Config)
_OBJECT = TypeAdapter(dict[str, Any])


@dataclass(frozen=True)
class DatasetScene:
    """Scene of a dataset.

    Attributes:
        handle: its handle in habitat.
        file: its scene instance, else its stage.
    """

    handle: str
    file: Path


def find_in_dataset(config: Path, names: Sequence[str]) -> DatasetScene:
    """Find a scene in a dataset, and check that its files exist.

    Args:
        config: ``NAME.scene_dataset_config.json``.
        names: its possible names; ``00800-TEEsavR23oF`` also matches ``TEEsavR23oF``.

    Raises:
        SimulatorError: the config is missing or broken, has no such scene, or a file of the scene
            is missing.
    """
    read = _read(config, _CONFIG)
    parts = (read.scene_instances, read.stages)
    instances, stages = ({name: file for file in _files(config, part.paths)
                          for name in _names(file)} for part in parts)  # fmt: skip
    known = {**stages, **instances}
    if not known:
        patterns = [each for part in parts for named in part.paths.values() for each in named]
        named = ", ".join(map(repr_of, patterns[:3])) or "no stages at all"
        raise SimulatorError(
            f"{config}: no scene is there: it names {named}, and no such file is in"
            f" {config.parent}. Put the dataset's scenes there."
        )
    wanted = [*names, *(each.partition("-")[2] for each in names if "-" in each)]
    file = next((known[name] for name in wanted if name in known), None)
    if file is None:
        raise SimulatorError(
            f"{config}: it has no scene {repr_of(names[0])} among its {len(set(known.values()))}."
            + did_you_mean(names[0], known)
        )
    if file.name.endswith(_INSTANCE):
        _check_instance(file, stages, config)
    elif file.name.endswith(_STAGE):
        _check_assets(file, config)
    # Habitat matches handles by substrings, so the whole name in the dataset is used.
    return DatasetScene(file.relative_to(config.parent).as_posix(), file)


def _read(path: Path, adapter: TypeAdapter[T]) -> T:
    try:
        return read_json(path, adapter, most=_MOST_BYTES)
    except SceneError as error:
        raise SimulatorError(str(error)) from error


def _files(config: Path, paths: dict[str, list[str]]) -> Iterator[Path]:
    """Yield every file that a part of a config names by patterns, or by folders and endings."""
    left = _MOST_FILES
    for ending, patterns in paths.items():
        for pattern in patterns:
            for place in _matches(config, pattern):
                found = sorted(place.glob(f"*{ending}")) if place.is_dir() else [place]
                for file in found:
                    if (left := left - 1) < 0:
                        raise SimulatorError(
                            f"{config}: it names over {_MOST_FILES:,} files: expected a dataset."
                        )
                    yield file


def _matches(config: Path, pattern: str) -> list[Path]:
    try:
        return sorted(config.parent.glob(pattern))
    except (NotImplementedError, ValueError, OSError) as error:
        raise SimulatorError(
            f"{config}: {repr_of(pattern)} is no path below the config's folder ({error})."
        ) from error


def _names(file: Path) -> Iterator[str]:
    """Yield the names of a scene's file: its own, and its folder's if that ends in it."""
    stem = file.name.partition(".")[0]
    yield stem
    folder = file.parent.name
    if folder.endswith(f"-{stem}"):
        yield folder


def _check_instance(file: Path, stages: Mapping[str, Path], config: Path) -> None:
    """Reject a scene whose stage is missing or incomplete."""
    said = _read(file, _OBJECT)
    instance = said.get("stage_instance")
    template = instance.get("template_name") if isinstance(instance, dict) else None
    if not isinstance(template, str):
        raise SimulatorError(f"{file}: stage_instance.template_name: expected a stage's name.")
    stage = stages.get(Path(template).name.partition(".")[0])
    if stage is None:
        raise SimulatorError(
            f"{file}: its stage is {repr_of(template)}, and {config.name} finds no such stage."
            + did_you_mean(template, stages)
        )
    _check_assets(stage, config)
    semantic = said.get("semantic_scene_instance")
    if isinstance(semantic, str) and (described := config.parent / semantic).is_file():
        _check_assets(described, config)


def _check_assets(file: Path, config: Path) -> None:
    """Reject a config of a stage that names a missing file."""
    if not file.name.endswith(".json"):
        return
    said = _read(file, _OBJECT)
    for name in _ASSETS:
        asset = said.get(name)
        # Some names are derived from the stage's own name.
        if not isinstance(asset, str) or not asset or "%%" in asset:
            continue
        if not (file.parent / asset).exists() and not (config.parent / asset).exists():
            raise SimulatorError(
                f"{file}: {name} is {repr_of(asset)}, and no such file is there: put it there, or"
                " mend the config."
            )


_FORMAT = 1


@dataclass(frozen=True, eq=False)
class SceneFiles:
    """Files of a scene for habitat.

    Attributes:
        config: the scene dataset's config.
        handle: the scene's handle in it.
        navmeshes: the folder of its navmeshes.
        owners: (n,) int32, the owner of each number in its semantic frames; None if unknown.
    """

    config: Path
    handle: str
    navmeshes: Path
    owners: I32 | None

    def owner_ids(self, numbers: I32) -> I32:
        """Convert a semantic frame to a frame of owner ids.

        Raises:
            SimulatorError: the meaning of the numbers is unknown.
        """
        if self.owners is None:
            raise SimulatorError(
                f"{self.config}: what its numbers mean in this scene is not known: load the scene"
                " from the release itself (hm3d:DIR/ID), or take a rig without ids."
            )
        known = np.minimum(numbers.view(np.uint32), len(self.owners) - 1)
        found: I32 = self.owners[known]
        return found


def scene_files(scene: Scene, dataset: Path | None = None) -> SceneFiles:
    """Return the files of a scene; it is exported if needed.

    Args:
        scene: the scene.
        dataset: config of the user's scene dataset; None for an export.

    Raises:
        SimulatorError: the scene cannot be exported, or the dataset has no such scene or lacks a
            file.
    """
    if dataset is not None:
        return scene_cached(scene, f"habitat {dataset}", lambda: _of_dataset(scene, dataset))
    try:
        return scene_cached(scene, "habitat files", lambda: _exported(scene))
    except SceneError as error:
        raise SimulatorError(f"{scene.uri} cannot be exported for habitat: {error}") from error


def export_key(scene: Scene) -> str:
    """Return the cache key of an export: a hash of its inputs and of the exporter's code."""
    mesh = scene_mesh(scene)
    told = [f"navloom habitat {_FORMAT}", code_key(*exporting.__path__), scene.model_dump_json()]
    parts = [mesh.vertices, mesh.faces, mesh.owners, mesh.surface, mesh.uv, mesh.smooth]
    for look in mesh.surfaces:
        picture = isinstance(look.texture, TextureImage)
        named = "picture" if picture else look.texture
        told.append(repr((look.rgb, named, look.repeat, look.gloss, look.glow)))
        if isinstance(look.texture, TextureImage):
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


def _dataset_numbers(scene: Scene) -> I32 | None:
    """Return the owners of a release's numbers, for a scene read from it or exported as it."""
    files = scan_files_of(scene)
    try:
        if files is not None:
            return _closed(owners_by_number(scene, read_scan(files)))
        return _own_numbers(scene) if has_geometry(scene) else None
    except SceneError as error:
        raise SimulatorError(str(error)) from error


def _own_numbers(scene: Scene) -> I32:
    lines = semantic_lines(scene)
    owners = np.zeros(max((each.number for each in lines), default=0) + 1, dtype=np.int32)
    for line in lines:
        owners[line.number] = line.owner
    return _closed(owners)


def _closed(owners: I32) -> I32:
    """Add an entry for 0 (nothing) and a last one for all larger numbers (unowned mesh)."""
    owners = np.append(owners, np.int32(SHELL))
    owners[0] = NOTHING
    return owners


def _config(folder: Path) -> Path | None:
    found = sorted(folder.glob("*.scene_dataset_config.json"))
    return found[0] if found else None
