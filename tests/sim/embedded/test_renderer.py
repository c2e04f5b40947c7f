"""Pictures of a small room that is known through and through."""

from __future__ import annotations

import math

import numpy as np
import pytest

from navloom.scenes.geometry.mesh import SceneMesh, assembled
from navloom.scenes.geometry.owners import CEILING, FLOOR, WALL
from navloom.scenes.geometry.solids import Surface, box
from navloom.sim.embedded.camera import Camera
from navloom.sim.embedded.renderer import Renderer

WHITE = Surface((0.85, 0.85, 0.85))


def room(top: float = 2.6) -> SceneMesh:
    """4 x 2.6 x 4 m with walls of 10 cm, no window, a table in the middle."""
    walls = [
        box((-2.1, 0, -2.1), (2.1, top, -2), WHITE),
        box((-2.1, 0, 2), (2.1, top, 2.1), WHITE),
        box((-2.1, 0, -2), (-2, top, 2), WHITE),
        box((2, 0, -2), (2.1, top, 2), WHITE),
    ]
    return assembled(
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
    seen = Renderer(room(), light="unbaked").frame(Camera((-1.5, 1.5, 1.5), 0.8, 0, 64, 64)).rgb
    assert 100 < seen.mean() < 250
