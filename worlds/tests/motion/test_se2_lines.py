"""Stretches of rails: what is put together, and what is left out, leaves the same free."""

from __future__ import annotations

import math

import numpy as np
import pytest
import shapely

from navloom.scenes.bodies import Footprint
from navloom_worlds.motion.planar_obstacles import (
    GridFrame,
    PlanarObstacles,
    minkowski_box,
    row_intervals,
)
from navloom_worlds.motion.se2_lines import (
    _ahead,
    _between,
    _near,
    _outside,
    _turned,
    _union,
    floor_edges,
    free_intervals,
)

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("step", [(0, 1), (1, 0), (1, 2)])
def test_what_lines_take_is_their_sum_with_the_box(step: tuple[int, int]) -> None:
    frame, shape = GridFrame((0.0, 0.0), (1.0, 0.0), 200, 1, 0.02), Footprint(False, 0.5, 0.3)
    chance = np.random.default_rng(1)
    start = chance.uniform(1.0, 3.0, (40, 2))
    lines = np.concatenate([start, start + chance.uniform(-0.6, 0.6, (40, 2))], axis=1)
    ahead = np.array(step) / np.hypot(*step)
    aside = np.array([-ahead[1], ahead[0]])
    corners = [i * 0.5015 * ahead + j * 0.3015 * aside for i in (-1, 1) for j in (-1, 1)]
    for line in lines:
        row, low, high = row_intervals(minkowski_box(line[None], shape, step), frame)
        hull = shapely.convex_hull(
            shapely.multipoints([end + each for end in (line[:2], line[2:]) for each in corners])
        )
        for k in range(len(row)):
            x = row[k] * frame.cell
            cut = shapely.intersection(hull, shapely.linestrings([[x, -9.0], [x, 9.0]]))
            if not cut.is_empty and x - 1e-6 > hull.bounds[0] and x + 1e-6 < hull.bounds[2]:
                assert low[k] == pytest.approx(cut.bounds[1], abs=1e-5)
                assert high[k] == pytest.approx(cut.bounds[3], abs=1e-5)


@pytest.mark.parametrize(("cell", "long"), [(0.02, 0.5), (0.02, 0.05), (0.005, 0.1)])
def test_what_lines_take_from_a_box_that_looks_along_is_the_same_sum(
    cell: float, long: float
) -> None:
    count = round(4 / cell)
    frame, shape = GridFrame((0.0, 0.0), (1.0, 0.0), count, 1, cell), Footprint(False, long, 0.3)
    chance = np.random.default_rng(2)
    far = np.full(count, 100.0)
    ends = np.tile(np.arange(count), 2), np.append(-far, 9 + 0 * far), np.append(-9 + 0 * far, far)
    for lines in (_lines(chance, 40), _lines(chance, 400), np.round(_lines(chance, 40), 1)):
        plain = row_intervals(minkowski_box(lines, shape, (0, 1)), frame)
        told = []
        for each in (_ahead(lines, shape, frame), plain):
            row, low, high = _between(_union([each, ends]))
            long_ = high - low > 1e-3
            told.append((row[long_], low[long_], high[long_]))
        assert np.array_equal(told[0][0], told[1][0])
        assert np.allclose(told[0][1:], told[1][1:], atol=1e-6)
        assert len(told[0][0]) > 10


@pytest.mark.parametrize("cell", [0.02, 0.005])
def test_what_comes_near_to_what_is_free_is_enough(cell: float) -> None:
    chance, left, spared = np.random.default_rng(7), 0, 0
    floor = shapely.box(0, 0, 4, 4).difference(shapely.Point(1, 1).buffer(0.3))
    edges = floor_edges(floor)
    half, turn = round(3 / cell), math.pi / 36
    for number in range(0, 12, 2):
        angle = number * turn + 0.1 * (number % 4)
        right = math.sin(angle), -math.cos(angle)
        at = 2 - half * cell * right[0], 2 - half * cell * right[1]
        frame = GridFrame(at, right, 2 * half + 1, 1, cell)
        lines = np.concatenate([_lines(chance, 1 + 12 * number), [[0, 0, 0, 4], [0, 4, 4, 4]]])
        shape = Footprint(False, 0.3 if number % 3 else 0.1, 0.2)
        free, turning = free_intervals(frame, lines, edges, shape, turn, turns=True)
        own = frame.inside(lines)
        sums = _turned(own, shape, turn)
        taken = _ahead(own, shape, frame), _outside(edges, frame)
        every = _between(_union([*taken, *(row_intervals(each, frame) for each in sums)]))
        assert all(np.array_equal(a, b) for a, b in zip(turning, every, strict=True))
        left += len(turning[0])
        for each in sums:
            spared += len(row_intervals(each, frame)[0]) - len(_near(each, frame, free)[0])
        straight = free_intervals(frame, lines, edges, shape, turn, turns=False)
        assert all(np.array_equal(a, b) for a, b in zip(straight[0], free, strict=True))
        assert not len(straight[1][0])
    assert left > 1_000
    assert spared > 10_000


def test_a_disc_is_free_where_no_line_is_nearer_and_lines_within_a_box_are_not_seen() -> None:
    chance, free = np.random.default_rng(4), 0
    for number in range(6):
        angle = 0.5 * number
        frame = GridFrame((0.0, 1.0), (math.cos(angle), math.sin(angle)), 90, 80, 0.05)
        lines = _lines(chance, 1 + 20 * number)
        ours = PlanarObstacles(frame, lines).disc(0.3)
        things = shapely.multilinestrings([shapely.linestrings(lines.reshape(-1, 2, 2))])
        far = shapely.distance(things, shapely.points(frame.places))
        sure = np.abs(far - 0.3015) > 1e-6
        assert np.array_equal(ours[sure], (far > 0.3015)[sure])
        free += int(ours.sum())
    assert free > 1_000
    around = [[1, 1, 2, 1], [2, 1, 2, 2], [2, 2, 1, 2], [1, 2, 1, 1]]
    lines = np.array([*around, [1.4, 1.4, 1.6, 1.6], [0.3, 0.3, 0.5, 0.5]], dtype=np.float64)
    plane = PlanarObstacles(GridFrame((0.0, 0.0), (1.0, 0.0), 60, 60, 0.05), lines)
    assert np.array_equal(plane.seen_from(plane.disc(0.1)).lines, lines[[0, 1, 2, 3, 4, 5]])
    outside = plane.disc(0.1)
    outside[20:41, 20:41] = False
    assert np.array_equal(plane.seen_from(outside).lines, lines[[0, 1, 2, 3, 5]])


def _lines(chance: np.random.Generator, count: int) -> np.ndarray:
    """Some that are short, some along the axes, a few long ones."""
    start = chance.uniform(0.0, 4.0, (count, 2))
    lines = np.concatenate([start, start + chance.normal(0.0, 0.1, start.shape)], axis=1)
    lines[::3, 2:] = lines[::3, :2] + [0.0, 0.3]
    lines[1::7, 2:] = lines[1::7, :2] + [0.3, 0.0]
    lines[2::17, 2:] = lines[2::17, :2] + [1.5, 0.9]
    return lines
