"""Meshes and sights on disk: what is read is what was made, and nothing else is believed."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from navloom import disk_cache
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import load_scene
from navloom_worlds.geometry import SceneMesh, mesh, scene_mesh
from navloom_worlds.geometry.solids import Surface
from navloom_worlds.rendering import visible_captions as sight

SMALL = load_scene("home:3?rooms=4&floors=1")


def fresh() -> Scene:
    """The home, with nothing kept in memory of it."""
    return Scene.model_validate_json(SMALL.model_dump_json())


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NAVLOOM_CACHE", str(tmp_path))
    monkeypatch.setattr(disk_cache, "_warned", set())
    return tmp_path


@pytest.fixture(scope="module")
def drawn() -> SceneMesh:
    return mesh._drawn(SMALL)


def told(look: Surface) -> Any:
    texture = look.texture
    shown = texture if isinstance(texture, str) else texture.pixels.tolist()
    return repr(look.rgb), shown, look.repeat, look.gloss, look.glow


def same(a: SceneMesh, b: SceneMesh) -> bool:
    arrays = all(getattr(a, k).tobytes() == getattr(b, k).tobytes() for k in mesh._ARRAYS)
    return arrays and [*map(told, a.surfaces)] == [*map(told, b.surfaces)]


def test_a_mesh_that_is_read_is_the_one_that_was_made(
    drawn: SceneMesh, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mesh, "_drawn", lambda _: drawn)
    assert same(scene_mesh(fresh()), drawn)
    monkeypatch.setattr(mesh, "_drawn", lambda _: pytest.fail("made again"))
    read = scene_mesh(fresh())
    assert same(read, drawn)
    pictures = {id(each.texture) for each in drawn.surfaces if not isinstance(each.texture, str)}
    again = {id(each.texture) for each in read.surfaces if not isinstance(each.texture, str)}
    assert len(again) == len(pictures) > 0


def _with(**changes: Callable[[Any], Any]) -> Callable[[bytes], bytes]:
    def changed(data: bytes) -> bytes:
        with np.load(io.BytesIO(data)) as parts:
            held = {name: parts[name] for name in parts.files}
        for name, change in changes.items():
            held[name] = change(held[name])
        out = io.BytesIO()
        np.savez(out, **held)
        return out.getvalue()

    return changed


def _look(**changes: Any) -> Callable[[Any], Any]:
    def changed(raw: Any) -> Any:
        looks = json.loads(raw.tobytes())
        looks[0] = changes.get("whole", [looks[0][0], changes.get("texture", ""), 1.0, 0.0, 0.0])
        return np.frombuffer(json.dumps(looks).encode(), dtype=np.uint8)

    return changed


@pytest.mark.parametrize(
    "harm",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: data[:2000] + bytes([data[2000] ^ 1]) + data[2001:],
        _with(faces=lambda a: a + 1),
        _with(faces=lambda a: a.astype(np.int64)),
        _with(owners=lambda a: a + 1000),
        _with(owners=lambda a: a[:-1]),
        _with(surface=lambda a: a - 1),
        _with(vertices=lambda a: a * np.float32(np.nan)),
        _with(uv=lambda a: np.full_like(a, np.inf)),
        _with(picture_0=lambda a: a[:, :, :2]),
        _with(picture_0=lambda a: a.astype(np.float32)),
        _with(looks=_look(texture="../../x")),
        _with(looks=_look(texture=-1)),
        _with(looks=_look(texture=10_000)),
        _with(looks=_look(whole=[[1, 1, float("nan")], "", 1.0, 0.0, 0.0])),
        _with(looks=_look(whole="red")),
    ],
)
def test_a_broken_mesh_is_made_anew(
    harm: Callable[[bytes], bytes],
    drawn: SceneMesh,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(mesh, "_drawn", lambda _: drawn)
    scene_mesh(fresh())
    (file,) = (folder / "meshes").iterdir()
    good = file.read_bytes()
    file.write_bytes(harm(good))
    with caplog.at_level(logging.WARNING, logger="navloom"):
        assert same(scene_mesh(fresh()), drawn)
    assert len([each for each in caplog.messages if "worked out anew" in each]) == 1
    assert file.read_bytes() == good


def test_another_scene_has_another_mesh() -> None:
    moved = SMALL.items[0].model_copy(update={"yaw": SMALL.items[0].yaw + 0.1})
    other = SMALL.replace(items=(moved, *SMALL.items[1:]))
    assert mesh.mesh_cache_key(fresh()) == mesh.mesh_cache_key(SMALL) != mesh.mesh_cache_key(other)
    few = SMALL.replace(items=(), relations=(), walls=SMALL.walls[:10])
    assert mesh.mesh_cache_key(few) is None, "what is drawn as fast as it is read is not kept"


def test_what_is_in_sight_is_read_as_it_was_seen(
    drawn: SceneMesh, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    pytest.importorskip("embreex")
    monkeypatch.setattr(mesh, "_drawn", lambda _: drawn)
    places = [each.id for each in SMALL.viewpoints][:3]
    scene = fresh()
    seen = [sight.viewpoint_sight(scene, each) for each in places]
    assert seen == [sight._look(scene, each) for each in places]
    looked = sight._look
    monkeypatch.setattr(sight, "_look", lambda *_: pytest.fail("looked again"))
    scene = fresh()
    read = [sight.viewpoint_sight(scene, each) for each in places]
    assert repr([each.seen for each in read]) == repr([each.seen for each in seen])
    assert read == seen
    assert len(set(read)) == len(places)

    monkeypatch.setattr(sight, "_look", looked)
    owner = seen[0].seen[0].owner
    (file,) = [
        each
        for each in (folder / "sights").iterdir()
        if sight._load(io.BytesIO(each.read_bytes()), scene) == seen[0]
    ]
    rows, links = json.loads(file.read_bytes())
    for harm in (
        b"",
        b"[" * 50_000,
        json.dumps([rows]).encode(),
        json.dumps([[[10_000, *rows[0][1:]]], links]).encode(),
        json.dumps([[[owner, "1", *rows[0][2:]]], links]).encode(),
        json.dumps([[[owner, float("nan"), *rows[0][2:]]], links]).encode(),
        json.dumps([[[*rows[0][:-1], [1.0, 2.0]]], links]).encode(),
        json.dumps([rows, [-1]]).encode(),
        json.dumps([rows, [len(SMALL.links)]]).encode(),
    ):
        file.write_bytes(harm)
        assert sight.viewpoint_sight(fresh(), places[0]) == seen[0], harm[:80]
