"""``mp3d:`` scans with their mesh: our own homes, written as habitat's users have the scans."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from navloom.errors import SceneError
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import list_scenes, load_scene
from navloom_worlds.exporting.hm3d_files import save_hm3d
from navloom_worlds.geometry.mesh import has_geometry, scene_mesh
from navloom_worlds.geometry.semantic_ids import SHELL, WALL
from worlds.tests.geometry.release_files import as_matterport

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def flat() -> Scene:
    return load_scene("demo:flat")


@pytest.fixture(scope="module")
def scans(flat: Scene, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = save_hm3d(flat, tmp_path_factory.mktemp("release"))
    return as_matterport(flat, home, tmp_path_factory.mktemp("mp3d")).parent


@pytest.fixture(scope="module")
def read(scans: Path) -> Scene:
    return load_scene(f"mp3d:{scans}/S1")


def test_rooms_have_the_types_of_the_house_file(flat: Scene, scans: Path, read: Scene) -> None:
    assert list_scenes(f"mp3d:{scans}") == [f"mp3d:{scans}/S1"]
    theirs = {region.number: region for region in read.regions}
    assert list(theirs) == [region.number for region in flat.regions]
    assert theirs["3"].id == "Kitchen_3"
    for region in flat.regions:
        away = np.subtract(region.center, theirs[region.number].center)
        assert np.linalg.norm(away) < 0.3
    ends = {frozenset(e.rpartition("_")[2] for e in (x.a, x.b)) for x in read.links}
    assert ends == {frozenset(e.rpartition("_")[2] for e in (x.a, x.b)) for x in flat.links}


def test_things_are_where_their_faces_are(flat: Scene, read: Scene) -> None:
    assert has_geometry(read)
    mesh = scene_mesh(read)
    names = [item.prompt_name for item in read.items]
    for item in flat.items:
        assert item.prompt_name in names
    for k, item in enumerate(read.items):
        mine = mesh.vertices[mesh.faces[mesh.owners == k + 1]].reshape(-1, 3)
        if not len(mine):
            continue
        middle = (mine.min(axis=0) + mine.max(axis=0)) / 2
        assert np.linalg.norm(middle - np.array(item.position)) < 0.3
    assert (mesh.owners == WALL).any()
    walls = mesh.vertices[mesh.faces[mesh.owners == WALL]].reshape(-1, 3)
    # Up is y: walls reach from the floor to the ceiling.
    assert walls[:, 1].min() < 0.05
    assert 2.5 < walls[:, 1].max() < 3


def test_a_scan_with_connectivity_is_walked_on_its_panoramas(
    flat: Scene, scans: Path, tmp_path: Path
) -> None:
    (tmp_path / "S1").symlink_to(scans / "S1", target_is_directory=True)
    at = [(r.center[0], -r.center[2], r.center[1] + 1.5) for r in flat.regions]
    places = [
        {
            "image_id": f"v{k}",
            "pose": [1, 0, 0, x, 0, 1, 0, y, 0, 0, 1, z, 0, 0, 0, 1],
            "included": True,
            "unobstructed": [j != k for j in range(len(at))],
            "height": 1.5,
        }
        for k, (x, y, z) in enumerate(at)
    ]
    (tmp_path / "S1_connectivity.json").write_text(json.dumps(places), encoding="utf-8")
    house = (scans / "S1" / "S1.house").read_text(encoding="ascii")
    rooms = [f"P v{k} {k} {r.number} 0 0 0 0 0 0 0 0 0" for k, r in enumerate(flat.regions)]
    (tmp_path / "S1.house").write_text(house + "\n".join(rooms), encoding="ascii")
    scene = load_scene(f"mp3d:{tmp_path}/S1")
    assert [v.id for v in scene.viewpoints] == [f"v{k}" for k in range(len(at))]
    assert has_geometry(scene)
    mesh = scene_mesh(scene)
    assert {"o0", "o5"} <= {scene.items[k - 1].id for k in np.unique(mesh.owners) if k > 0}
    # What is of no object is of the mesh, and stays.
    assert (mesh.owners == SHELL).any()


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (lambda raw: raw[: len(raw) // 2], "is cut short"),
        (lambda raw: b"x" + raw, "is no PLY"),
        (lambda raw: raw.replace(b"object_id", b"object_no", 1), "its faces have no object_id"),
        (lambda raw: raw.replace(b"end_header", b"end", 1), "expected a PLY's head"),
        (lambda raw: raw.replace(b"element face ", b"element face 9999", 1), "at most 20,000,000"),
    ],
)
def test_broken_meshes_are_told_in_one_line(
    scans: Path, tmp_path: Path, broken: Callable[[bytes], bytes], said: str
) -> None:
    scan = tmp_path / "S1"
    scan.mkdir()
    for name in ("S1.house", "S1.glb"):
        (scan / name).symlink_to(scans / "S1" / name)
    raw = (scans / "S1" / "S1_semantic.ply").read_bytes()
    (scan / "S1_semantic.ply").write_bytes(broken(raw))
    with pytest.raises(SceneError, match=said) as caught:
        load_scene(f"mp3d:{tmp_path}/S1")
    assert "\n" not in str(caught.value)
