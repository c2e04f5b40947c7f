"""Triangles cut to a band, what is over a point, what is beside a place: the same in every way."""

from __future__ import annotations

import numpy as np
import pytest

from navloom.scenes.bodies import Shape
from navloom_worlds.geometry.columns import Grid
from navloom_worlds.geometry.mesh import SceneMesh, assembled
from navloom_worlds.geometry.solids import Part
from navloom_worlds.motion import obstacles, underfoot
from navloom_worlds.motion.obstacles import Obstacles
from navloom_worlds.motion.stands import Pose

pytestmark = pytest.mark.slow


def _scattered(count: int) -> SceneMesh:
    """Triangles of all kinds: tilted, upright, level, some of them twice."""
    chance = np.random.default_rng(count)
    corners = chance.uniform(0, 4, (count, 1, 3)) + chance.normal(0, 0.3, (count, 3, 3))
    corners[::4, :, 1] = corners[::4, :1, 1]
    corners[1::4, 2, [0, 2]] = corners[1::4, 1, [0, 2]]
    corners[2::8] = corners[3::8]
    faces = np.arange(3 * count, dtype=np.int32).reshape(-1, 3)
    return assembled([(7, Part(corners.reshape(-1, 3).astype(np.float32), faces))])


def test_compiled_code_cuts_the_same_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    held = Obstacles(_scattered(800))
    faces = held.within(0.5, 0.5, 3.0, 3.5)
    owners = np.arange(len(faces), dtype=np.int32)
    for low, high in ((0.3, 1.7), (0.0, 4.0), (1.0, 1.2)):
        begins = low + 0.01 * (owners % 3)
        fast = held.lines(faces, begins, high, owners)
        monkeypatch.setattr(obstacles, "compiled_cuts", lambda: None)
        plain = held.lines(faces, begins, high, owners)
        monkeypatch.undo()
        assert np.array_equal(fast.ends, plain.ends)
        assert np.array_equal(fast.owners, plain.owners)
        assert len(fast.ends) > 50


def test_what_is_over_a_point_is_what_a_ray_meets_that_goes_up() -> None:
    mesh = _scattered(400)
    held, chance = Obstacles(mesh), np.random.default_rng(2)
    starts = chance.uniform(-0.5, 4.5, (500, 3)).astype(np.float32)
    ups = np.broadcast_to(np.array([0, 1, 0], dtype=np.float32), starts.shape)
    hits, met = mesh.caster.cast(starts, ups), 0
    for start, face, far in zip(starts.tolist(), hits.face, hits.distance, strict=True):
        found, height = held.over(*start)
        assert (found >= 0) == (face >= 0)
        if found >= 0:
            assert height == pytest.approx(start[1] + far, abs=1e-5)
            met += 1
    assert met > 100


def test_compiled_code_finds_the_same_places_near(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    floor = [[0, 0, 0], [6, 0, 0], [6, 0, 6], [0, 0, 6]]
    tread = [[2, 0.2, 2], [4, 0.2, 2], [4, 0.2, 4], [2, 0.2, 4]]
    corners = np.array([*floor, *tread], dtype=np.float32)
    faces = np.array([[0, 2, 1], [0, 3, 2], [4, 6, 5], [4, 7, 6]], dtype=np.int32)
    columns = underfoot.columns_of(assembled([(0, Part(corners, faces))]))
    told = []
    for fast in (True, False):
        if not fast:
            monkeypatch.setattr(underfoot, "compiled_underfoot", lambda: None)
        told.append(
            underfoot.underfoot(underfoot.ground_of(columns, stairs=True), step=0.1, stair=0.1)
        )
    assert np.array_equal(told[0].edges, told[1].edges)
    assert np.array_equal(told[0].layers, told[1].layers, equal_nan=True)
    assert len(told[0].edges) > 300


def test_compiled_code_lifts_bodies_as_high(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    floor = underfoot.Underfoot(
        Grid(0, 0, 0.05, 1, 1), np.zeros((1, 1, 1)), np.zeros((1, 1, 1)), np.zeros((0, 5)), 0.1, 0.2
    )
    chance, seen = np.random.default_rng(6), set()
    for number in range(400):
        steps = chance.uniform(0, 1, (4, 12))
        steps[2] = np.round(steps[2] * 0.6, 2)
        steps[3] = steps[3] < 0.2 * (number % 2)
        shape = Shape(number % 3 == 0, 0.4, 0.4 if number % 3 == 0 else 0.2)
        pose = Pose(0.5, 0.5, float(chance.uniform(0, 6)), 0.1 * (number % 3))
        fast = floor.lifted(shape, steps, pose)
        monkeypatch.setattr(underfoot, "compiled_underfoot", lambda: None)
        assert floor.lifted(shape, steps, pose) == fast
        monkeypatch.undo()
        seen.add((fast[0] > pose.y, fast[1]))
    assert len(seen) == 4
