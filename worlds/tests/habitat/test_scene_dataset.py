"""What is said of a scene dataset that lacks something; and which home of several is meant."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from navloom.disk_cache import HABITAT
from navloom.errors import SimulatorError
from navloom.scenes import load_scene
from navloom_worlds.exporting.habitat_files import save_habitat
from navloom_worlds.habitat.habitat_scenes import export_key, find_in_dataset, scene_files

FLAT = load_scene("demo:flat")


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    return save_habitat([FLAT], tmp_path / "homes")


def write(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_an_export_is_found_by_the_scenes_name(exported: Path) -> None:
    found = find_in_dataset(exported, ["flat", "demo-flat"])
    assert found.handle == "scenes/demo-flat.scene_instance.json"
    files = scene_files(FLAT.replace(), exported)
    assert files.handle == found.handle
    assert files.owners is not None


@pytest.mark.parametrize(
    ("gone", "said"),
    [
        ("stages/demo-flat.glb", "render_asset is 'demo-flat.glb', and no such file is there"),
        ("stages/demo-flat.semantic.txt", "semantic_descriptor_filename is"),
        ("stages/demo-flat.stage_config.json", "its stage is 'stages/demo-flat.stage_config.json'"),
        ("scenes/demo-flat.scene_instance.json", None),
        ("homes.scene_dataset_config.json", "homes.scene_dataset_config.json"),
    ],
)
def test_a_file_that_is_missing_is_named(exported: Path, gone: str, said: str | None) -> None:
    (exported.parent / gone).unlink()
    if said is None:
        # A stage alone is a scene, too.
        assert find_in_dataset(exported, ["demo-flat"]).handle.endswith(".stage_config.json")
        return
    with pytest.raises(SimulatorError) as caught:
        find_in_dataset(exported, ["demo-flat"])
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_release_is_found_by_its_folders_and_an_unknown_home_is_said(tmp_path: Path) -> None:
    for name in ("00800-TEEsavR23oF", "00801-HaxA7YrQdEC"):
        short = name.partition("-")[2]
        write(tmp_path / "val" / name / f"{short}.basis.glb", "")
    stages = {"stages": {"paths": {".glb": ["val/*/*.basis.glb"]}}}
    config = write(tmp_path / "hm3d.scene_dataset_config.json", stages)
    for name in ("00800-TEEsavR23oF", "TEEsavR23oF", "00017-TEEsavR23oF"):
        found = find_in_dataset(config, [name])
        assert found.handle == "val/00800-TEEsavR23oF/TEEsavR23oF.basis.glb"
    with pytest.raises(SimulatorError, match=r"no scene 'HaxA7YrQdE' among its 2\. Did you mean"):
        find_in_dataset(config, ["HaxA7YrQdE"])


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"stages": {"paths": {".glb": ["none/*.glb"]}}}, "it names 'none/*.glb', and no such"),
        ({}, "it names no stages at all"),
        ({"stages": {"paths": {".glb": "all"}}}, "stages.paths"),
        ({"stages": {"paths": {".glb": ["/etc/*"]}}}, "is no path below the config's folder"),
        ("not json", "c.scene_dataset_config.json"),
    ],
)
def test_a_config_that_cannot_be_used_is_one_line(tmp_path: Path, config: Any, said: str) -> None:
    with pytest.raises(SimulatorError) as caught:
        find_in_dataset(write(tmp_path / "c.scene_dataset_config.json", config), ["x"])
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_a_scene_is_exported_once_for_what_it_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NAVLOOM_CACHE", str(tmp_path))
    first = scene_files(FLAT.replace())
    written = {path: path.stat().st_mtime_ns for path in first.config.parent.rglob("*.glb")}
    assert written
    again = scene_files(load_scene("demo:flat").replace())
    assert again.config == first.config
    assert {path: path.stat().st_mtime_ns for path in written} == written
    emptied = FLAT.replace(items=(), relations=())
    assert export_key(emptied) != export_key(FLAT)
    only, *others = HABITAT.entries()
    assert only.path == first.config.parent
    assert only.bytes > 100_000
    assert others == []
    assert HABITAT.prune(3600.0) == (0, 0)
    assert HABITAT.prune() == (1, only.bytes)
    assert list(HABITAT.entries()) == []
