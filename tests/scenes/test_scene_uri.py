"""Scenes by name."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from navloom.errors import SceneError
from navloom.scenes import scene_uri
from navloom.scenes.formats import mp3d
from navloom.scenes.formats import scene_json as archive
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import SceneLookup, iter_scenes, list_scenes, load_scene
from navloom_worlds.homes import home_generator


@pytest.fixture
def scans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of two scans, as $NAVLOOM_DATA/mp3d has it; loading is counted, not done."""
    folder = tmp_path / "data" / "mp3d"
    (folder / "connectivity").mkdir(parents=True)
    for scan in ("beta", "alpha"):
        (folder / "connectivity" / f"{scan}_connectivity.json").write_text("[]")
    flat = load_scene("demo:flat")

    def load(where: Path, scene_id: str) -> Scene:
        assert where.is_dir()
        return flat.replace(id=scene_id, source="mp3d")

    monkeypatch.setattr(mp3d, "load", load)
    monkeypatch.setenv("NAVLOOM_DATA", str(tmp_path / "data"))
    return folder


def test_demo_homes() -> None:
    assert list_scenes("demo:") == ["demo:flat", "demo:house", "demo:villa"]
    assert list_scenes("demo:flat") == ["demo:flat"]
    assert load_scene("demo:villa").id == "villa"
    assert [scene.id for scene in iter_scenes("demo:")] == ["flat", "house", "villa"]


def test_homes_are_made_by_name_and_keep_it() -> None:
    assert list_scenes("home:8-11") == ["home:8", "home:9", "home:10", "home:11"]
    assert list_scenes("home:3?rooms=6&floors=1") == ["home:3.rooms-6.floors-1"]
    home = load_scene("home:3?rooms=6&floors=1")
    assert (home.uri, len(home.regions), len(home.floors)) == ("home:3.rooms-6.floors-1", 6, 1)
    assert load_scene(home.uri) == home
    assert SceneLookup().load(home.uri) == home
    assert SceneLookup("demo:").load(home.uri) == home
    assert SceneLookup("home:3-4").load("home:3") == load_scene("home:3")
    assert home != load_scene("home:4?rooms=6&floors=1").replace(id=home.id)


def test_homes_are_listed_without_being_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(seed: int, spec: object) -> Scene:
        raise AssertionError("made")

    monkeypatch.setenv("NAVLOOM_CACHE", str(tmp_path))
    monkeypatch.setattr(home_generator, "make_home", never)
    assert len(list_scenes("home:0-49")) == 50
    homes = iter_scenes("home:0-49")
    with pytest.raises(AssertionError, match="made"):
        next(homes)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("home:7?rooms=6", "is not a scene's portable name"),
        ("home:0-3", "names 4 scenes"),
        ("home:007", "'home:007' was asked for and the scene there is 'home:7'"),
        ("home:x", "'x' is no seed"),
    ],
)
def test_a_dataset_names_homes_by_their_portable_names_alone(name: str, words: str) -> None:
    with pytest.raises(SceneError, match=words):
        SceneLookup().load(name)


def test_a_folder_and_a_scene_of_it(scans: Path) -> None:
    assert list_scenes(f"mp3d:{scans}") == [f"mp3d:{scans}/alpha", f"mp3d:{scans}/beta"]
    assert list_scenes(f"mp3d:{scans}/") == list_scenes(f"mp3d:{scans}")
    assert load_scene(f"mp3d:{scans}/beta").uri == "mp3d:beta"
    for each in list_scenes(f"mp3d:{scans}"):
        assert each.endswith(load_scene(each).id)


def test_without_a_folder_the_data_variable_counts(scans: Path) -> None:
    assert list_scenes("mp3d:") == ["mp3d:alpha", "mp3d:beta"]
    assert load_scene("mp3d:alpha").id == "alpha"
    assert [scene.id for scene in iter_scenes("mp3d:")] == ["alpha", "beta"]


def test_a_folder_relative_to_here(scans: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(scans.parent)
    assert list_scenes("mp3d:./mp3d/alpha") == ["mp3d:./mp3d/alpha"]
    assert load_scene("mp3d:mp3d/alpha").id == "alpha"
    assert list_scenes("mp3d:mp3d") == ["mp3d:mp3d/alpha", "mp3d:mp3d/beta"]


def test_a_scene_is_listed_without_being_loaded(
    scans: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(where: Path, scene_id: str) -> Scene:
        raise AssertionError("loaded")

    monkeypatch.setattr(mp3d, "load", never)
    assert len(list_scenes("mp3d:")) == 2
    scenes = iter_scenes("mp3d:")
    with pytest.raises(AssertionError, match="loaded"):
        next(scenes)


def test_our_own_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("villa", "flat"):
        archive.save(load_scene(f"demo:{name}"), tmp_path / f"my {name}.json")
    one = f"{tmp_path}/my flat.json"
    assert list_scenes(one) == [one]
    assert load_scene(one).uri == "demo:flat"
    assert list_scenes(str(tmp_path)) == [one, f"{tmp_path}/my villa.json"]
    assert [scene.id for scene in iter_scenes(f"{tmp_path}/")] == ["flat", "villa"]
    monkeypatch.chdir(tmp_path)
    assert list_scenes("my flat.json") == ["my flat.json"]
    assert load_scene("my flat.json").id == "flat"


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("", "empty scene name"),
        ("home:", "names 10 scenes and one was expected: for example 'home:0'"),
        ("home:7?rooms=4&floors=3", "rooms=4 with floors=3: a home of 3 floors has at least"),
        ("home:7?style=gothic", "style 'gothic': there is none. Expected one of"),
        ("hom:7", "'hom' is not a scene format.*Did you mean 'home'"),
        ("dmeo:flat", r"'dmeo' is not a scene format, expected one of home, demo, hm3d.*'demo'"),
        ("demo:vila", r"no demo scene 'vila' \(known: \w+, \w+, \w+\)\. Did you mean 'villa'"),
        ("demo:", "names 3 scenes and one was expected: for example 'demo:flat'"),
        ("demo:../flat", "not an id"),
        ("flat", r"no file or folder 'flat'.*Did you mean 'demo:flat'"),
        ("nowhere/scene.json", "no file or folder 'nowhere/scene.json'"),
        ("mp3d:", "names 2 scenes"),
        ("mp3d:alhpa", r"holds no mp3d scene 'alhpa' \(known: \w+, \w+\)\. Did you mean 'alpha'\?"),
        ("mp3d:/nowhere/alpha", "no folder /nowhere"),
        ("mp3d:..", "not an id|no mp3d scene"),
        ("mp3d:.hidden", "not an id"),
        ("mp3d:a\nb", "not an id"),
        ("a\0b", "empty|NUL|character"),
    ],
)
def test_what_is_not_there_is_told_in_one_line(scans: Path, spec: str, words: str) -> None:
    with pytest.raises(SceneError, match=words) as caught:
        load_scene(spec)
    assert "\n" not in str(caught.value)


def test_an_id_never_leaves_its_folder(scans: Path) -> None:
    outside = scans.parent / "secret_connectivity.json"
    outside.write_text("[]")
    for spec in (f"mp3d:{scans}/%2e%2e", f"mp3d:{scans}/..secret", f"mp3d:{scans}/a\\b"):
        with pytest.raises(SceneError):
            load_scene(spec)


def test_a_missing_data_variable_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NAVLOOM_DATA", raising=False)
    with pytest.raises(SceneError, match=r"NAVLOOM_DATA is not set: set it, or write 'hm3d:FOL"):
        load_scene("hm3d:00006-x")


def test_a_data_folder_that_is_not_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NAVLOOM_DATA", str(tmp_path))
    with pytest.raises(SceneError, match=rf"{tmp_path}/mp3d .*no such folder"):
        list_scenes("mp3d:")


def test_empty_folders_and_other_files(tmp_path: Path) -> None:
    with pytest.raises(SceneError, match=r"holds no scene: expected \*\.json"):
        list_scenes(str(tmp_path))
    with pytest.raises(SceneError, match="holds no mp3d scene"):
        list_scenes(f"mp3d:{tmp_path}")
    (tmp_path / "scene.txt").write_text("{}")
    with pytest.raises(SceneError, match=r"ends in \.json"):
        load_scene(f"{tmp_path}/scene.txt")


def test_iterating_a_wrong_spec_fails_at_once() -> None:
    with pytest.raises(SceneError):
        iter_scenes("demo:nothing")


def test_a_format_is_one_line_in_the_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("a_format_of_ours")
    monkeypatch.setattr(module, "list_ids", lambda folder: ["one"], raising=False)
    monkeypatch.setattr(module, "load", lambda folder, name: load_scene("demo:flat"), raising=False)
    monkeypatch.setitem(sys.modules, "a_format_of_ours", module)
    monkeypatch.setitem(scene_uri.FORMATS, "ours", scene_uri.SceneFormat("a_format_of_ours", None))
    assert list_scenes("ours:") == ["ours:one"]
    assert load_scene("ours:one").id == "flat"


def test_formats_are_imported_when_named(tmp_path: Path) -> None:
    import subprocess

    code = (
        "import sys; from navloom.scenes.scene_uri import list_scenes; list_scenes('demo:');"
        "print(sorted(m for m in sys.modules if m in"
        " ('navloom.scenes.formats.mp3d', 'navloom.scenes.formats.hm3d')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
