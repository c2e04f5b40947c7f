"""The cache of homes: what is read is what was generated, and nothing else is believed."""

from __future__ import annotations

import ast
import logging
import multiprocessing
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from navloom import disk_cache
from navloom.disk_cache import HOMES
from navloom.errors import SceneError
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import load_scene
from navloom_worlds.homes import home_generator, home_source

SMALL = "home:3?rooms=4&floors=1"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NAVLOOM_CACHE", str(tmp_path))
    monkeypatch.setattr(disk_cache, "_warned", set())
    return tmp_path / "homes"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The seeds of the homes that are generated."""
    seeds: list[int] = []
    real = home_generator.make_home

    def counted(seed: int, spec: Any) -> Scene:
        seeds.append(seed)
        return real(seed, spec)

    monkeypatch.setattr(home_generator, "make_home", counted)
    return seeds


@pytest.mark.parametrize(
    "uri",
    ["home:0", "home:7", "home:12", SMALL, "home:5?clutter=cluttered&style=rustic",
     "home:2?rooms=9&floors=2&area=120"],
)  # fmt: skip
def test_a_home_that_is_read_is_the_one_that_was_generated(uri: str, made: list[int]) -> None:
    first, second = load_scene(uri), load_scene(uri)
    assert len(made) == 1
    assert second == first
    # What == takes for the same: 0 and 0.0, 0.0 and -0.0.
    assert repr(second) == repr(first)
    assert second.model_dump_json() == first.model_dump_json()
    assert second.origin == first.origin


def test_the_file_holds_the_scene_itself(folder: Path) -> None:
    written = load_scene(SMALL)
    (file,) = folder.iterdir()
    assert file.read_bytes().endswith(b',"scene":' + written.model_dump_json().encode() + b"}")


def test_a_file_of_another_home_version_or_generator_is_not_taken(
    made: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    load_scene(SMALL)
    load_scene("home:3?rooms=5&floors=1")
    load_scene("home:4?rooms=4&floors=1")
    assert made == [3, 3, 4]
    monkeypatch.setattr(home_source, "VERSION", 99)
    load_scene(SMALL)
    monkeypatch.setattr(home_source, "code_key", lambda *_, **__: "another")
    load_scene(SMALL)
    load_scene(SMALL)
    assert made == [3, 3, 4, 3, 3]
    assert len(list(HOMES.entries())) == 5


def _sealed(scene: bytes) -> bytes:
    return b'{"sum":"' + sha256(scene).hexdigest().encode() + b'","scene":' + scene + b"}"


@pytest.mark.parametrize(
    "harm",
    [
        lambda data: b"",
        lambda data: data[:-1],
        lambda data: data[: len(data) // 2],
        lambda data: data[:100] + bytes([data[100] ^ 1]) + data[101:],
        lambda data: data.replace(b'"floor":1', b'"floor":2', 1),
        lambda data: data[83:-1],
        lambda data: b"[" * 100_000,
        lambda data: b"\0" * 500,
        # Whoever knows how to seal a file is still held to the model, and to the home's name.
        lambda data: _sealed(b"[" * 100_000),
        lambda data: _sealed(b'{"id":"3.rooms-4.floors-1","source":"home"}'),
        lambda data: _sealed(data[83:-1].replace(b'"3.rooms-4', b'"4.rooms-4', 1)),
        lambda data: _sealed(data[83:-1].replace(b'"source":"home"', b'"source":"hm3d"', 1)),
    ],
)
def test_a_broken_or_foreign_file_is_reported_and_made_anew(
    harm: Any, folder: Path, made: list[int], caplog: pytest.LogCaptureFixture
) -> None:
    whole = load_scene(SMALL)
    (file,) = folder.iterdir()
    good = file.read_bytes()
    assert harm(good) != good
    file.write_bytes(harm(good))
    with caplog.at_level(logging.WARNING, logger="navloom"):
        assert load_scene(SMALL) == whole
    assert len([each for each in caplog.messages if "worked out anew" in each]) == 1
    assert (made, file.read_bytes()) == ([3, 3], good)


def test_a_folder_that_takes_nothing_is_no_reason_to_stop(folder: Path) -> None:
    folder.write_text("")
    assert load_scene(SMALL).id == "3.rooms-4.floors-1"


def test_a_home_that_cannot_be_is_not_kept(folder: Path) -> None:
    for _ in range(2):
        with pytest.raises(SceneError):
            load_scene("home:3?rooms=30&area=35")
    assert not folder.exists()


def _load(_: int) -> str:
    return repr(load_scene(SMALL))


def test_several_processes_may_make_one_home_at_once(folder: Path) -> None:
    with multiprocessing.get_context("fork").Pool(3) as pool:
        found = set(pool.map(_load, range(6), chunksize=1))
    assert found == {_load(0)}
    assert [each.suffix for each in folder.iterdir()] == [".json"]


def test_the_key_holds_all_code_that_generates() -> None:
    roots = {"navloom": Path(disk_cache.__file__).parents[1]}
    roots["navloom_worlds"] = Path(home_source.__file__).parents[2]
    left, seen = {"navloom_worlds.homes.home_generator"}, set[str]()
    while left:
        name = left.pop()
        seen.add(name)
        root = roots[name.partition(".")[0]]
        text = (root / f"{name.replace('.', '/')}.py").read_text()
        for each in ast.walk(ast.parse(text)):
            if isinstance(each, ast.ImportFrom) and (each.module or "").startswith("navloom"):
                left |= {str(each.module)} - seen
    files = {Path(name.removeprefix("navloom.scenes.").replace(".", "/")) for name in seen}
    held = {Path(each).with_suffix("") for each in (*home_source._CODE, "navloom_worlds/homes")}
    unheld = {str(file) for file in files if not {file, *file.parents} & held}
    # Errors and bytes of files decide nothing about a home.
    assert unheld <= {"navloom/errors", "navloom/files"}
