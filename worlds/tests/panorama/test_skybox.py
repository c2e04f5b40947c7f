"""Skyboxes rendered in Matterport's very layout are seen as they were rendered."""

from __future__ import annotations

import math
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from navloom.errors import SimulatorError
from navloom.scenes import load_scene
from navloom.scenes.bodies import DEFAULT_BODY
from navloom.scenes.formats.mp3d import read_camera_poses
from navloom.scenes.scene import Scene
from navloom.sim import Pose, View, get_simulator
from navloom.sim.conformance import run_suite
from navloom.sim.panorama.skybox import FACES, pose_rotation, resample_view, view_rays
from navloom_worlds.geometry import scene_mesh
from navloom_worlds.rendering.camera import Camera
from navloom_worlds.rendering.renderer import Renderer
from worlds.tests.panorama.skybox_export import drawn, export

SIZE, FACE = 64, 128
Walk = tuple[Path, Scene, Renderer]


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Walk:
    """A walk of four viewpoints of home:0 as a scan, and a renderer of the home."""
    home = load_scene("home:0")
    here = home.viewpoints[7].id
    near = [e.b if e.a == here else e.a for e in home.edges if here in (e.a, e.b)]
    root = tmp_path_factory.mktemp("scans")
    export(home, [here, *near[:3]], root, FACE)
    scan = load_scene(f"mp3d:{root}/scan0")
    return root, scan, Renderer(scene_mesh(home), light="flat")


def views(root: Path, scan: Scene, viewpoint: str, n: int = 4) -> dict[str, tuple[View, ...]]:
    simulator = get_simulator("panorama", scan, folder=root, views=n, size=SIZE)
    pose = Pose((0, 0, 0), viewpoint=viewpoint)
    return dict(simulator.reset({"robot": (pose, DEFAULT_BODY)})["robot"].images)


def directly(walk: Walk, viewpoint: str, view: View) -> Camera:
    position = walk[1].viewpoint_by_id[viewpoint].position
    return Camera(position, view.heading, view.elevation, SIZE, SIZE, view.fov)


def apart(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> float:
    return float(np.abs(one.astype(float) - other.astype(float)).mean())


@pytest.mark.parametrize("n", [4, 24])
def test_views_are_what_a_camera_sees(walk: Walk, n: int) -> None:
    root, scan, renderer = walk
    off, away = [], []
    for place in scan.viewpoints[:2]:
        for view in views(root, scan, place.id, n)["rgb"]:
            camera = directly(walk, place.id, view)
            turned = replace(camera, heading=camera.heading + math.pi / 2)
            off.append(apart(view.image, renderer.frame(camera).rgb))
            away.append(apart(view.image, renderer.frame(turned).rgb))
    assert max(off) < 5.0
    # Two walls of one closet look alike; all views together do not.
    assert sum(off) < sum(away) / 5


def test_depth_is_planar(walk: Walk) -> None:
    root, scan, renderer = walk
    for view in views(root, scan, scan.viewpoints[0].id)["depth"]:
        seen = renderer.frame(directly(walk, scan.viewpoints[0].id, view)).depth
        assert np.median(np.abs(view.image - seen)) < 0.01
        assert (np.abs(view.image - seen) < 0.1).mean() > 0.95


@pytest.mark.parametrize("heading", [0.0, 1.0, 4.0])
@pytest.mark.parametrize("elevation", [-0.9, 0.0, 0.9])
def test_views_are_what_matterport3dsimulator_draws(
    walk: Walk, heading: float, elevation: float
) -> None:
    root, scan, _ = walk
    viewpoint = scan.viewpoints[0].id
    images = root / "scan0" / "matterport_skybox_images"
    faces = [
        np.array(Image.open(images / f"{viewpoint}_skybox{k}_sami.jpg").convert("RGB"))
        for k in range(6)
    ]
    pose = read_camera_poses(root, "scan0")[viewpoint]
    theirs = drawn(faces, np.array(pose).reshape(4, 4)[:3, :3], heading, elevation, SIZE)
    rays = view_rays(heading, elevation, math.pi / 2, SIZE, SIZE)
    assert apart(resample_view(np.stack(faces), rays, pose_rotation(pose)), theirs) < 4.0


def test_faces_are_turned_and_never_mirrored() -> None:
    for right, down, ahead in FACES:
        assert np.array_equal(np.cross(right, down), ahead)


def test_seams_are_right() -> None:
    """A colour that goes by direction alone shows no seam anywhere."""
    turn = pose_rotation(np.eye(4).ravel().tolist())
    n = 256
    across = (np.arange(n) + 0.5) / n * 2 - 1
    x, y = np.meshgrid(across, across)
    local = [x[..., None] * r + y[..., None] * d + a for r, d, a in FACES]
    unit = [each / np.linalg.norm(each, axis=-1, keepdims=True) for each in local]
    faces = np.stack([np.rint((each + 1) * 127).astype(np.uint8) for each in unit])
    for heading, elevation in ((0.7, 0.0), (0.8, 0.6), (2.0, -1.3), (5.0, 1.5)):
        rays = view_rays(heading, elevation, math.pi / 2, 200, 200)
        true = (rays @ turn) / np.linalg.norm(rays, axis=-1, keepdims=True)
        seen = resample_view(faces, rays, turn).astype(float) / 127 - 1
        assert np.abs(seen - true).max() < 0.02


def test_small_skyboxes_and_zip_files(walk: Walk, tmp_path: Path) -> None:
    root, scan, _ = walk
    first = scan.viewpoints[0].id
    before = [view.image for view in views(root, scan, first)["rgb"]]
    images = root / "scan0" / "matterport_skybox_images"
    small = tmp_path / "small" / "v1" / "scans" / "scan0" / "matterport_skybox_images"
    small.mkdir(parents=True)
    for place in scan.viewpoints:
        faces = [Image.open(images / f"{place.id}_skybox{k}_sami.jpg") for k in range(6)]
        row = np.concatenate([np.array(each.convert("RGB")) for each in faces], axis=1)
        Image.fromarray(row).save(small / f"{place.id}_skybox_small.jpg", quality=98)
    packed = tmp_path / "packed" / "scan0"
    packed.mkdir(parents=True)
    with zipfile.ZipFile(packed / "matterport_skybox_images.zip", "w") as into:
        for file in images.glob("*_sami.jpg"):
            into.write(file, f"scan0/matterport_skybox_images/{file.name}")
    whole = packed / "matterport_skybox_images.zip"
    for place, most in ((tmp_path / "small", 4.0), (packed.parent, 0.0), (whole, 0.0)):
        again = views(place, load_scene(f"mp3d:{root}/scan0"), first)
        assert set(again) == {"rgb"}
        for one, other in zip(before, again["rgb"], strict=True):
            assert apart(one, other.image) <= most


@pytest.mark.slow
def test_the_suite_passes(walk: Walk) -> None:
    root, scan, _ = walk
    make = lambda scene: get_simulator("panorama", scene, folder=root, size=32)  # noqa: E731
    results = run_suite(make, scan)
    assert not [str(each) for each in results if each.status == "failed"]


def test_a_missing_face_names_its_viewpoint(walk: Walk, tmp_path: Path) -> None:
    root, scan, _ = walk
    copy = Path(shutil.copytree(root, tmp_path / "copy"))
    last = scan.viewpoints[-1].id
    (copy / "scan0" / "matterport_skybox_images" / f"{last}_skybox4_sami.jpg").unlink()
    with pytest.raises(SimulatorError, match=f"viewpoint {last} has no {last}_skybox4_sami.jpg"):
        views(copy, scan, last)


def test_no_skyboxes_of_this_scan(walk: Walk, tmp_path: Path) -> None:
    with pytest.raises(SimulatorError, match="expected scan0/matterport_skybox_images"):
        views(tmp_path, walk[1], walk[1].viewpoints[0].id)


def test_a_face_of_another_form(walk: Walk, tmp_path: Path) -> None:
    root, scan, _ = walk
    copy = Path(shutil.copytree(root, tmp_path / "copy"))
    first = scan.viewpoints[0].id
    file = copy / "scan0" / "matterport_skybox_images" / f"{first}_skybox2_sami.jpg"
    Image.new("RGB", (40, 30)).save(file)
    with pytest.raises(SimulatorError, match="expected 1 square face of at most"):
        _ = views(copy, scan, first)["rgb"][0].image
    file.write_bytes(file.read_bytes()[:300])
    with pytest.raises(SimulatorError, match=f"{first}_skybox2_sami.jpg .viewpoint {first}"):
        _ = views(copy, scan, first)["rgb"][0].image
