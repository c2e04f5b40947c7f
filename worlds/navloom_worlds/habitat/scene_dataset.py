"""Finding a scene in a Habitat scene dataset, and saying which file of it is missing.

Habitat itself writes such things to a log among much else, and opens an empty place instead. Read
is what the config says of its stages and scene instances; the form is habitat-sim's own
(docs/pages/attributesJSON.rst there).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from navloom.errors import SceneError, SimulatorError, did_you_mean
from navloom.scenes.checked_files import read_json, short

T = TypeVar("T")

_MOST_BYTES = 50_000_000
_MOST_FILES = 200_000
_STAGE, _INSTANCE = ".stage_config.json", ".scene_instance.json"
_ASSETS = ("render_asset", "collision_asset", "semantic_asset", "semantic_descriptor_filename")
_Paths = Annotated[dict[str, list[str]], Field(max_length=100)]


class _ConfigPart(BaseModel):
    """Where a config says that its stages, or its scene instances, are."""

    model_config = ConfigDict(extra="ignore")

    paths: _Paths = Field(default_factory=dict)


class _Config(BaseModel):
    model_config = ConfigDict(extra="ignore")

    stages: _ConfigPart = _ConfigPart()
    scene_instances: _ConfigPart = _ConfigPart()


_CONFIG = TypeAdapter(_Config)
_OBJECT = TypeAdapter(dict[str, Any])


@dataclass(frozen=True)
class Found:
    """A scene of a dataset.

    Attributes:
        handle: what habitat finds it by.
        file: its scene instance, else its stage.
    """

    handle: str
    file: Path


def find_in_dataset(config: Path, names: Sequence[str]) -> Found:
    """A scene of a dataset, and whether the files that it names are there.

    Args:
        config: ``NAME.scene_dataset_config.json``.
        names: what it may be called; of ``00800-TEEsavR23oF`` is ``TEEsavR23oF`` one, too.

    Raises:
        SimulatorError: the config is missing or broken, has no such scene, or the scene lacks a
            file that it names.
    """
    read = _read(config, _CONFIG)
    parts = (read.scene_instances, read.stages)
    instances, stages = ({name: file for file in _files(config, part.paths)
                          for name in _names(file)} for part in parts)  # fmt: skip
    known = {**stages, **instances}
    if not known:
        patterns = [each for part in parts for named in part.paths.values() for each in named]
        named = ", ".join(map(short, patterns[:3])) or "no stages at all"
        raise SimulatorError(
            f"{config}: no scene is there: it names {named}, and no such file is in"
            f" {config.parent}. Put the dataset's scenes there."
        )
    wanted = [*names, *(each.partition("-")[2] for each in names if "-" in each)]
    file = next((known[name] for name in wanted if name in known), None)
    if file is None:
        raise SimulatorError(
            f"{config}: it has no scene {short(names[0])} among its {len(set(known.values()))}."
            + did_you_mean(names[0], known)
        )
    if file.name.endswith(_INSTANCE):
        _check_instance(file, stages, config)
    elif file.name.endswith(_STAGE):
        _check_assets(file, config)
    # A handle is taken by any part of it: the whole name in the dataset is one's own.
    return Found(file.relative_to(config.parent).as_posix(), file)


def _read(path: Path, adapter: TypeAdapter[T]) -> T:
    try:
        return read_json(path, adapter, most=_MOST_BYTES)
    except SceneError as error:
        raise SimulatorError(str(error)) from error


def _files(config: Path, paths: dict[str, list[str]]) -> Iterator[Path]:
    """Every file that a part of a config names by patterns, or by folders and endings."""
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
            f"{config}: {short(pattern)} is no path below the config's folder ({error})."
        ) from error


def _names(file: Path) -> Iterator[str]:
    """What a scene's file may be asked for by: its own name, and its folder's where that is it."""
    stem = file.name.partition(".")[0]
    yield stem
    folder = file.parent.name
    if folder.endswith(f"-{stem}"):
        yield folder


def _check_instance(file: Path, stages: Mapping[str, Path], config: Path) -> None:
    """Refuse a scene whose stage is not there, or lacks something."""
    said = _read(file, _OBJECT)
    instance = said.get("stage_instance")
    template = instance.get("template_name") if isinstance(instance, dict) else None
    if not isinstance(template, str):
        raise SimulatorError(f"{file}: stage_instance.template_name: expected a stage's name.")
    stage = stages.get(Path(template).name.partition(".")[0])
    if stage is None:
        raise SimulatorError(
            f"{file}: its stage is {short(template)}, and {config.name} finds no such stage."
            + did_you_mean(template, stages)
        )
    _check_assets(stage, config)
    semantic = said.get("semantic_scene_instance")
    if isinstance(semantic, str) and (described := config.parent / semantic).is_file():
        _check_assets(described, config)


def _check_assets(file: Path, config: Path) -> None:
    """Refuse a config of a stage that names a file that is not there."""
    if not file.name.endswith(".json"):
        return
    said = _read(file, _OBJECT)
    for name in _ASSETS:
        asset = said.get(name)
        # Some are put together of the stage's own name.
        if not isinstance(asset, str) or not asset or "%%" in asset:
            continue
        if not (file.parent / asset).exists() and not (config.parent / asset).exists():
            raise SimulatorError(
                f"{file}: {name} is {short(asset)}, and no such file is there: put it there, or"
                " mend the config."
            )
