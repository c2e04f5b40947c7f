"""Pictures of a home against the tests' own caster; the whole check is ``check_poses``."""

from __future__ import annotations

import numpy as np
import pytest

from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import load_scene
from navloom_worlds.geometry.mesh import scene_mesh
from navloom_worlds.rendering.camera import Camera
from navloom_worlds.rendering.renderer import Renderer
from worlds.tests.rendering.check_poses import SHARE, compared, poses_of, wrong_ways
from worlds.tests.rendering.independent_caster import Pose


@pytest.fixture(scope="module")
def home() -> Scene:
    return load_scene("home:3")


@pytest.fixture(scope="module")
def renderer(home: Scene) -> Renderer:
    return Renderer(scene_mesh(home), light="flat")


def poses(home: Scene) -> list[Pose]:
    return poses_of(home, 6, np.random.default_rng(5))


@pytest.mark.slow
def test_depth_and_ids_are_those_of_an_independent_caster(home: Scene, renderer: Renderer) -> None:
    found = [compared("home:3", renderer, pose) for pose in poses(home)]
    assert min(each.both for each in found) >= SHARE
    assert max(each.worst for each in found if each.both == 1) < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("shift", [(0.5, 0.0), (0.0, -0.5)])
def test_half_a_pixel_is_found(shift: tuple[float, float], home: Scene, renderer: Renderer) -> None:
    found = [compared("home:3", renderer, pose, shift) for pose in poses(home)]
    assert np.mean([each.both for each in found]) < SHARE


def test_candidates_are_where_their_positions_say(home: Scene) -> None:
    assert wrong_ways(home) == 0


def test_an_equirect_picture_agrees_with_four_views(home: Scene, renderer: Renderer) -> None:
    x, y, z = home.viewpoints[0].position
    around = Camera((x, y + 1.5, z), 0.7, width=720, height=360, projection="equirect")
    whole = renderer.frame(around)
    for turn in range(4):
        view = Camera((x, y + 1.5, z), 0.7 + turn * np.pi / 2, width=64, height=64)
        frame = renderer.frame(view)
        _, ways = view.rays()
        way = ways.astype(np.float64)
        length = np.linalg.norm(way, axis=1)
        heading = np.arctan2(way[:, 0], -way[:, 2]) - 0.7
        column = ((heading / (2 * np.pi) + 0.5) % 1 * 720).astype(int)
        row = ((0.5 - np.arcsin(way[:, 1] / length) / np.pi) * 360).astype(int)
        ranges = whole.depth[row, column]
        near = np.abs(ranges - frame.depth.ravel() * length) <= 0.05 * ranges
        assert near.mean() > 0.9
        assert (whole.ids[row, column] == frame.ids.ravel()).mean() > 0.9


def test_an_orthographic_picture_from_above_has_heights(home: Scene, renderer: Renderer) -> None:
    low, high = renderer.mesh.bounds
    top = float(high[1]) + 1
    middle = (float(low[0] + high[0]) / 2, top, float(low[2] + high[2]) / 2)
    camera = Camera(middle, 0, -np.pi / 2, 50, 50, projection="orthographic", span=8)
    depth = renderer.frame(camera).depth
    assert depth.max() <= top - float(low[1]) + 1e-3
    assert depth[depth > 0].min() >= 1 - 1e-3
