"""Triangles cut to a band, what is over a point, what is beside and under a place."""

from __future__ import annotations

import numpy as np
import pytest
import shapely

from navloom.scenes.bodies import Footprint
from navloom_worlds.geometry.mesh import CellGrid, SceneMesh, merge_parts
from navloom_worlds.geometry.solids import Part
from navloom_worlds.motion import obstacles
from navloom_worlds.motion.obstacles import BodyPose, ObstacleIndex

pytestmark = pytest.mark.slow


def _scattered(count: int) -> SceneMesh:
    """Triangles of all kinds: tilted, upright, level, some of them twice."""
    chance = np.random.default_rng(count)
    corners = chance.uniform(0, 4, (count, 1, 3)) + chance.normal(0, 0.3, (count, 3, 3))
    corners[::4, :, 1] = corners[::4, :1, 1]
    corners[1::4, 2, [0, 2]] = corners[1::4, 1, [0, 2]]
    corners[2::8] = corners[3::8]
    faces = np.arange(3 * count, dtype=np.int32).reshape(-1, 3)
    return merge_parts([(7, Part(corners.reshape(-1, 3).astype(np.float32), faces))])


def _clipped(corners: np.ndarray, low: float, high: float) -> np.ndarray:
    """What of a triangle lies between two heights, seen from above (Sutherland and Hodgman)."""
    for level, sign in ((low, 1.0), (high, -1.0)):
        out = []
        for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
            over, under = sign * (a[1] - level), sign * (b[1] - level)
            out += [a] if over >= 0 else []
            out += [a + (b - a) * over / (over - under)] if over * under < 0 else []
        corners = np.array(out).reshape(-1, 3)
    return corners[:, [0, 2]]


def test_triangles_are_cut_to_a_band() -> None:
    held, met = ObstacleIndex(_scattered(400)), 0
    for low, high in ((0.3, 1.7), (0.0, 4.0), (1.0, 1.2)):
        for face in range(400):
            faces, owner = np.array([face]), np.array([3], dtype=np.int32)
            lines = held.lines(faces, np.array([low]), high, owner)
            left = _clipped(held._corners[face], low, high)
            theirs = shapely.convex_hull(shapely.multipoints(left))
            ours = shapely.convex_hull(shapely.multipoints(lines.ends.reshape(-1, 2)))
            if theirs.length < 1e-3 or np.ptp(held._corners[face][:, 1]) < 1e-6:
                continue
            assert shapely.hausdorff_distance(ours, theirs) < 1e-6
            # Its sides, and nothing across it.
            sides = shapely.linestrings(lines.ends.reshape(-1, 2, 2))
            if theirs.area > 1e-6:
                assert shapely.distance(theirs.boundary, shapely.centroid(sides)).max() < 1e-6
            met += len(lines.owners)
    assert met > 1_000


def test_lines_are_there_once_and_are_no_points() -> None:
    held = ObstacleIndex(_scattered(400))
    faces = np.concatenate([np.arange(400)] * 2)
    owners = np.arange(800, dtype=np.int32)
    once, twice = (held.lines(faces[:n], np.full(n, 0.3), 1.7, owners[:n]) for n in (400, 800))
    assert np.array_equal(once.ends, twice.ends)
    assert np.array_equal(once.owners, twice.owners)
    whole = np.sort(np.round(once.ends * 1e4).reshape(-1, 2, 2).view("f8,f8")[..., 0], axis=1)
    assert len(np.unique(whole.view(np.uint8).reshape(len(whole), -1), axis=0)) == len(whole)
    assert np.hypot(*(once.ends[:, 2:] - once.ends[:, :2]).T).min() > 1e-5


def test_what_is_over_a_point_is_what_a_ray_meets_that_goes_up() -> None:
    mesh = _scattered(400)
    held, chance = ObstacleIndex(mesh), np.random.default_rng(2)
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


def test_the_place_near_is_the_nearest_in_height() -> None:
    chance = np.random.default_rng(3)
    grid = CellGrid(0, 0, 0.05, 20, 10)
    cell = np.sort(chance.integers(0, 200, 500))
    height, tread = chance.uniform(0, 3, 500), chance.uniform(0, 1, 500) < 0.4
    places = obstacles._LevelPlaces(grid, cell, height, tread)
    asked = places.beside((1, 0))
    found, off = places.near(asked, places.among(tread))
    for k in range(500):
        those = np.flatnonzero((cell == asked[k]) & tread)
        away = np.abs(height[those] - height[k])
        assert found[k] == (those[away.argmin()] if len(those) else -1)
        assert off[k] == min(away, default=np.inf)
    assert (asked < 0).any()


def test_a_body_is_lifted_from_step_to_step() -> None:
    floor = obstacles.FloorMap(
        CellGrid(0, 0, 0.05, 1, 1),
        np.zeros((1, 1, 1)),
        np.zeros((1, 1, 1)),
        np.zeros((0, 5)),
        0.1,
        0.2,
    )
    chance, seen = np.random.default_rng(6), set()
    for number in range(400):
        steps = chance.uniform(0, 1, (4, 12))
        steps[2] = np.round(steps[2] * 0.6, 2)
        steps[3] = steps[3] < 0.2 * (number % 2)
        shape = Footprint(number % 3 == 0, 0.4, 0.4 if number % 3 == 0 else 0.2)
        pose = BodyPose(0.5, 0.5, float(chance.uniform(0, 6)), 0.1 * (number % 3))
        _, _, ux, uz = pose.at
        dx, dz = steps[0] - pose.x, steps[1] - pose.z
        own = np.stack([dx * ux + dz * uz, dz * ux - dx * uz])
        under = np.hypot(dx, dz) <= 0.4
        if not shape.round:
            under = (np.abs(own[0]) <= 0.4) & (np.abs(own[1]) <= 0.2)
        low = steps[2] <= pose.y + 0.2 + obstacles.EPS
        stairs = bool((under & low & (steps[3] > 0)).any())
        y, climb = pose.y, (0.2 if stairs else 0.1) + obstacles.EPS
        while (next_ := steps[2, under & (steps[2] > y) & (steps[2] <= y + climb)]).size:
            y = float(next_.min())
        assert floor.lift_height(shape, steps, pose) == (y, stairs)
        seen.add((y > pose.y, stairs))
    assert len(seen) == 4
