"""A scene knows the URI it was loaded by, and neither files nor comparisons know of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from navloom.errors import SceneError
from navloom.scenes import Scene, iter_scenes, list_scenes, load_scene
from navloom.scenes.formats.scene_json import load_file, save


def test_a_scene_knows_the_uri_it_was_loaded_by(tmp_path: Path) -> None:
    file = save(load_scene("demo:flat"), tmp_path / "mine.json")
    assert load_scene("demo:flat").origin == "demo:flat"
    assert load_scene(str(file)).origin == str(file)
    assert load_scene(str(tmp_path)).origin == str(file)
    assert [scene.origin for scene in iter_scenes("demo:")] == list_scenes("demo:")
    assert load_file(file).origin == load_file(file).uri == "demo:flat"


def test_a_changed_scene_keeps_its_origin(tmp_path: Path) -> None:
    file = save(load_scene("demo:flat"), tmp_path / "mine.json")
    changed = load_scene(str(file)).replace(id="other")
    assert (changed.uri, changed.origin) == ("demo:other", str(file))
    assert load_file(file).replace(id="other").origin == "demo:other"


def test_origin_is_neither_compared_nor_written_nor_read(tmp_path: Path) -> None:
    scene = load_scene("demo:flat")
    assert scene == Scene.model_validate(scene.model_dump())
    assert "origin" not in scene.model_dump_json()
    file = tmp_path / "mine.json"
    file.write_text(scene.model_dump_json()[:-1] + ', "origin": "mp3d:/elsewhere/x"}')
    with pytest.raises(SceneError, match="origin"):
        load_scene(str(file))
