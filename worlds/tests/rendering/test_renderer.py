"""Pictures of a small room that is known through and through."""

from __future__ import annotations

import math
import sys
from dataclasses import replace

import numpy as np
import pytest

from navloom_worlds.geometry import packet_jit
from navloom_worlds.geometry.mesh import SceneMesh, merge_parts
from navloom_worlds.geometry.semantic_ids import CEILING, FLOOR, WALL
from navloom_worlds.geometry.solids import Surface, TextureImage, box
from navloom_worlds.rendering.camera import Camera
from navloom_worlds.rendering.renderer import Renderer

WHITE = Surface((0.85, 0.85, 0.85))


def room(top: float = 2.6) -> SceneMesh:
    """4 x 2.6 x 4 m with walls of 10 cm, no window, a table in the middle."""
    walls = [
        box((-2.1, 0, -2.1), (2.1, top, -2), WHITE),
        box((-2.1, 0, 2), (2.1, top, 2.1), WHITE),
        box((-2.1, 0, -2), (-2, top, 2), WHITE),
        box((2, 0, -2), (2.1, top, 2), WHITE),
    ]
    return merge_parts(
        [
            (FLOOR, box((-2.1, -0.1, -2.1), (2.1, 0, 2.1), WHITE)),
            (CEILING, box((-2.1, top, -2.1), (2.1, top + 0.1, 2.1), WHITE)),
            *((WALL, wall) for wall in walls),
            (1, box((-0.6, 0.7, -0.5), (0.6, 0.75, 0.5), Surface((0.5, 0.3, 0.2)))),
        ]
    )


@pytest.fixture(scope="module")
def lit() -> Renderer:
    return Renderer(room())


def floor(renderer: Renderer, x: float, z: float) -> float:
    """How bright the floor is drawn at a place, seen from a hand above it."""
    camera = Camera((x, 0.2, z), 0, -math.pi / 2, 8, 8, 0.5)
    return float(renderer.frame(camera).rgb.mean())


def test_a_closed_room_is_lit_and_darker_under_its_table(lit: Renderer) -> None:
    assert 120 < floor(lit, 1.2, 1.2) < 250
    assert 25 < floor(lit, 0, 0) < 0.85 * floor(lit, 1.2, 1.2)


def test_a_ceiling_has_no_blotches(lit: Renderer) -> None:
    seen = lit.frame(Camera((0, 1.6, 0), 0, math.pi / 2, 64, 64, 1.2)).rgb.astype(int)
    assert np.abs(np.diff(seen, axis=0)).max() <= 2
    assert seen.min() > 100


def test_no_light_of_the_outside_leaks_in() -> None:
    # The same room where walls end at the ceiling's very edge: no sun under the skirting.
    seen = Renderer(room()).frame(Camera((0, 1.5, 0), 0.4, -0.3, 96, 96)).rgb.astype(int)
    assert seen.max() < 250


def test_the_same_mesh_has_the_same_picture(lit: Renderer) -> None:
    camera = Camera((-1.5, 1.5, 1.5), 0.8, -0.2, 96, 96)
    assert np.array_equal(lit.frame(camera).rgb, Renderer(room()).frame(camera).rgb)


def test_what_is_not_baked_is_bright_at_once() -> None:
    seen = Renderer(room(), light="flat").frame(Camera((-1.5, 1.5, 1.5), 0.8, 0, 64, 64)).rgb
    assert 100 < seen.mean() < 250


def test_compiled_pictures_are_the_same(lit: Renderer, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    camera = Camera((-1.5, 1.5, 1.5), 0.8, -0.2, 96, 96)
    compiled = Renderer(room()).frame(camera).rgb
    monkeypatch.setattr("navloom_worlds.rendering.shading.compiled_kernel", lambda: None)
    monkeypatch.setattr("navloom_worlds.geometry.ray_packets.compiled_loop", lambda: None)
    assert np.array_equal(Renderer(room()).frame(camera).rgb, compiled)


def test_compiled_code_is_loaded_for_many_pictures_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    monkeypatch.setattr(packet_jit, "_drawn", [0])
    assert not packet_jit.should_compile(packet_jit.ENOUGH - 10)
    assert packet_jit.should_compile(11)


def test_small_pictures_cast_together_are_what_they_are_alone(lit: Renderer) -> None:
    cameras = [Camera((0, 1.4, 0), k, 0, 24, 18) for k in range(5)]
    together = lit.frames(cameras)
    for camera, frame in zip(cameras, together, strict=True):
        alone = Renderer(room()).frame(camera)
        assert np.array_equal(alone.depth, frame.depth)
        assert np.array_equal(alone.rgb, frame.rgb)


def test_soft_edges_leave_depth_and_ids_alone(lit: Renderer) -> None:
    hard, soft = (lit.frame(Camera((0, 1.5, 1.5), samples=n)) for n in (1, 2))
    assert np.array_equal(hard.depth, soft.depth)
    assert np.array_equal(hard.ids, soft.ids)
    changed = (hard.rgb != soft.rgb).any(axis=2)
    assert 0 < changed.mean() < 0.2


def test_stripes_far_away_are_their_mean(lit: Renderer) -> None:
    stripes = np.zeros((256, 256, 3), dtype=np.uint8)
    stripes[::2] = 255
    ground = box((-200, -0.1, -200), (200, 0, 200), Surface((1, 1, 1), TextureImage(stripes), 0.5))
    far = Renderer(merge_parts([(FLOOR, ground)]), light="flat")
    seen = far.frame(Camera((0, 9, 0), 0, -0.9, 64, 64, samples=1)).rgb.astype(int)
    assert seen.std(axis=(0, 1)).max() < 3


def test_a_mirror_shows_what_is_before_it() -> None:
    red = box((-1, 0, 3), (1, 2, 3.1), Surface((0.9, 0.05, 0.05)))
    glass = box((-1, 0, -1.1), (1, 2, -1), Surface((0.9, 0.9, 0.9), gloss=1.0))
    both = Renderer(merge_parts([(1, red), (2, glass)]), light="flat")
    frame = both.frame(Camera((0, 1, 0), 0, 0, 16, 16, 0.3))
    assert (frame.ids == 2).all()
    assert (frame.rgb[..., 0] > 3 * frame.rgb[..., 1]).all()


def test_a_room_that_names_no_part_is_as_bright() -> None:
    named = room()
    nameless = replace(named, owners=np.ones_like(named.owners))
    assert 90 < floor(Renderer(nameless), 1.2, 1.2) < 250
