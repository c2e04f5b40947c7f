"""Rays of pictures in packets against single rays: the same distances, and the same faces but at
edges that two faces share."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from navloom.errors import SimulatorError
from navloom.scenes.scene_uri import load_scene
from navloom_worlds.geometry import ray_casting
from navloom_worlds.geometry.mesh import SceneMesh, scene_mesh
from navloom_worlds.geometry.ray_casting import RayCaster, RayHits
from navloom_worlds.rendering.camera import Camera

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def mesh() -> SceneMesh:
    return scene_mesh(load_scene("demo:flat"))


@pytest.fixture(scope="module")
def caster(mesh: SceneMesh) -> RayCaster:
    found = RayCaster(mesh.vertices, mesh.faces)
    if found._packets is None:
        pytest.skip("no Embree 4 beside embreex here: pictures are cast ray by ray")
    return found


def picture(wide: int, high: int, **more: float) -> Camera:
    return Camera((1.0, 1.5, 1.0), 0.7, -0.2, wide, high, **more)


CAMERAS = (picture(64, 48), picture(37, 23), picture(5, 1), picture(1, 5), picture(1, 1))


def same(one: RayHits, other: RayHits) -> float:
    """The share of the same faces; distances are the same wherever a face is."""
    alike = one.face == other.face
    assert np.array_equal(one.distance[alike], other.distance[alike])
    np.testing.assert_allclose(one.distance, other.distance, atol=1e-5)
    return float(alike.mean())


@pytest.mark.parametrize("camera", CAMERAS, ids=lambda each: f"{each.width}x{each.height}")
def test_a_picture_in_packets_is_one_of_single_rays(caster: RayCaster, camera: Camera) -> None:
    starts, ways = camera.rays()
    assert same(caster.cast_picture(starts, ways, camera.width), caster.cast(starts, ways)) > 0.995


def test_rays_of_many_places_and_a_long_list(caster: RayCaster) -> None:
    aside = Camera((4, 3, 30), 0, 0.1, 90, 50, projection="orthographic", span=20)
    starts, ways = aside.rays()
    ways = np.array(ways)
    single = caster.cast(starts, ways)
    assert (single.face < 0).any()
    assert (single.face >= 0).any()
    assert np.isinf(caster.cast_picture(starts, ways, aside.width).distance).any()
    assert same(caster.cast_picture(starts, ways, aside.width), single) > 0.995
    assert same(caster.cast_picture(starts, ways, len(ways)), single) > 0.995
    assert not len(caster.cast_picture(starts[:0], ways[:0], 1).face)


def test_compiled_packets_are_those_of_numpy(
    caster: RayCaster, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numba")
    for camera in CAMERAS:
        starts, ways = camera.rays()
        for wide in (camera.width, len(ways)):
            compiled = caster.cast_picture(starts, ways, wide)
            with monkeypatch.context() as patched:
                patched.setattr("navloom_worlds.geometry.ray_packets.compiled_loop", lambda: None)
                looped = caster.cast_picture(starts, ways, wide)
            for name in ("face", "distance", "u", "v"):
                assert np.array_equal(getattr(compiled, name), getattr(looped, name)), name


def test_without_the_library_rays_are_single(
    mesh: SceneMesh, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_casting, "make_packets", lambda *_: None)
    alone = RayCaster(mesh.vertices, mesh.faces)
    starts, ways = CAMERAS[0].rays()
    seen, single = alone.cast_picture(starts, ways, 64), alone.cast(starts, ways)
    assert np.array_equal(seen.face, single.face)
    with pytest.raises(SimulatorError, match="no triangle"):
        RayCaster(mesh.vertices, mesh.faces[:0])


def test_rays_are_the_same_where_embreex_has_no_wheel(
    mesh: SceneMesh, monkeypatch: pytest.MonkeyPatch
) -> None:
    dice = np.random.default_rng(0)
    low, high = mesh.bounds
    starts = dice.uniform(low - 0.5, high + 0.5, (300, 3)).astype(np.float32)
    ways = dice.normal(size=(300, 3)).astype(np.float32)
    # Straight down, level along an axis, and away from everything: what tells floors and edges.
    ways[:60], ways[60:120], ways[120:140] = (0, -1, 0), (0.05, 0, 0), (0, 9, 0)
    cast = RayCaster(mesh.vertices, mesh.faces).cast(starts, ways)
    for name in ("mesh_construction", "rtcore_scene"):
        monkeypatch.setitem(sys.modules, f"embreex.{name}", None)
    without = RayCaster(mesh.vertices, mesh.faces).cast(starts, ways)
    assert (cast.face < 0).any()
    np.testing.assert_array_equal(np.isinf(cast.distance), np.isinf(without.distance))
    np.testing.assert_allclose(cast.distance, without.distance, rtol=1e-4, atol=1e-4)
