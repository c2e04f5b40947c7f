"""Stretches of rails: what is put together covers the same, to the last bit."""

from __future__ import annotations

import math

import numpy as np
import pytest
import shapely

from navloom.scenes.bodies import Shape
from navloom_worlds.motion import lattice, rails
from navloom_worlds.motion.box_places import edges_of
from navloom_worlds.motion.lattice import GridFrame, Plane, Stretches, box_sums, stretches
from navloom_worlds.motion.rails import (
    Grain,
    Rails,
    _ahead,
    _between,
    _fewer,
    _union,
    compiled_rails,
    in_numpy,
    stretches_of,
)

pytestmark = pytest.mark.slow

ROWS = 12


def _some(seed: int, count: int, longest: float) -> Stretches:
    chance = np.random.default_rng(seed)
    low = chance.uniform(-3.0, 3.0, count)
    return chance.integers(0, ROWS, count), low, low + chance.uniform(0.0, longest, count)


def _ends() -> Stretches:
    rows, far = np.arange(ROWS), np.full(ROWS, 100.0)
    return np.tile(rows, 2), np.append(-far, 3.5 + 0 * far), np.append(-3.0 + 0 * far, far)


@pytest.mark.parametrize("longest", [0.02, 0.3, 1.5])
def test_fewer_stretches_leave_the_same_free(longest: float) -> None:
    for seed in range(20):
        some = _some(seed, 150, longest)
        fewer = _fewer(some)
        plain, ours = (_between(_union([each, _ends()])) for each in (some, fewer))
        assert all(np.array_equal(a, b) for a, b in zip(plain, ours, strict=True))
        assert len(plain[0])
    assert len(_fewer(_some(0, 150, 1.5))[0]) < 120
    none = some[0][:0], some[1][:0], some[2][:0]
    assert not len(_fewer(none)[0])


@pytest.mark.parametrize("step", [(0, 1), (1, 0), (1, 2)])
def test_what_lines_take_is_their_sum_with_the_box(step: tuple[int, int]) -> None:
    frame, shape = GridFrame((0.0, 0.0), (1.0, 0.0), 200, 1, 0.02), Shape(False, 0.5, 0.3)
    chance = np.random.default_rng(1)
    start = chance.uniform(1.0, 3.0, (40, 2))
    lines = np.concatenate([start, start + chance.uniform(-0.6, 0.6, (40, 2))], axis=1)
    ahead = np.array(step) / np.hypot(*step)
    aside = np.array([-ahead[1], ahead[0]])
    corners = [i * 0.5015 * ahead + j * 0.3015 * aside for i in (-1, 1) for j in (-1, 1)]
    for line in lines:
        row, low, high = stretches(box_sums(line[None], shape, step), frame)
        hull = shapely.convex_hull(
            shapely.multipoints([end + each for end in (line[:2], line[2:]) for each in corners])
        )
        for k in range(len(row)):
            x = row[k] * frame.cell
            cut = shapely.intersection(hull, shapely.linestrings([[x, -9.0], [x, 9.0]]))
            if not cut.is_empty and x - 1e-6 > hull.bounds[0] and x + 1e-6 < hull.bounds[2]:
                assert low[k] == pytest.approx(cut.bounds[1], abs=1e-5)
                assert high[k] == pytest.approx(cut.bounds[3], abs=1e-5)


def test_what_lines_take_from_a_box_that_looks_along_is_the_same_sum() -> None:
    frame, shape = GridFrame((0.0, 0.0), (1.0, 0.0), 200, 1, 0.02), Shape(False, 0.5, 0.3)
    lines = _lines(np.random.default_rng(2), 40)
    plain = stretches(box_sums(lines, shape, (0, 1)), frame)
    ahead = _ahead(lines, shape, frame, np.ones(200, dtype=np.bool_))
    far = np.full(200, 100.0)
    ends = np.tile(np.arange(200), 2), np.append(-far, 9 + 0 * far), np.append(-9 + 0 * far, far)
    ours, theirs = (_between(_union([each, ends])) for each in (ahead, plain))
    assert np.array_equal(ours[0], theirs[0])
    assert np.allclose(ours[1:], theirs[1:], atol=1e-6)


@pytest.mark.parametrize("cell", [0.02, 0.005])
def test_compiled_code_leaves_the_same_free_to_the_last_bit(cell: float) -> None:
    pytest.importorskip("numba")
    assert compiled_rails() is not None
    chance, left = np.random.default_rng(7), [0, 0]
    floor = shapely.box(0, 0, 4, 4).difference(shapely.Point(1, 1).buffer(0.3))
    edges = edges_of(floor).reshape(-1, 4)
    half = round(3 / cell)
    for number in range(12):
        angle = number * math.pi / 36 + 0.1 * (number % 2)
        right = math.sin(angle), -math.cos(angle)
        at = 2 - half * cell * right[0], 2 - half * cell * right[1]
        frame = GridFrame(at, right, 2 * half + 1, 1, cell)
        lines = np.concatenate([_lines(chance, 1 + 12 * number), [[0, 0, 0, 4], [0, 4, 4, 4]]])
        shape = Shape(False, 0.3 if number % 3 else 0.1, 0.2)
        told = [
            each(frame, lines, edges, shape, math.pi / 36, turns=number % 4 != 3)
            for each in (in_numpy, stretches_of)
        ]
        for k, (plain, ours) in enumerate(zip(*told, strict=True)):
            assert all(np.array_equal(a, b) for a, b in zip(plain, ours, strict=True))
            left[k] += len(ours[0])
    assert min(left) > 1_000


def test_compiled_code_joins_the_same_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    chance = np.random.default_rng(3)
    floor, joined = shapely.box(0, 0, 3, 3), 0
    for number in range(6):
        lines, loosely = _lines(chance, 6), number % 2 == 1
        told = []
        for fast in (True, False):
            if not fast:
                monkeypatch.setattr(rails, "compiled_joints", lambda: None)
            found = Rails(
                lines, Shape(False, 0.3, 0.2), floor, (1.0, 0.0), Grain(0.02, 36), loosely=loosely
            )
            told.append(found._joints)
            monkeypatch.undo()
        assert all(np.array_equal(a, b) for a, b in zip(*told, strict=True))
        joined += len(told[0][0])
    assert joined > 10_000


def test_compiled_code_finds_the_same_places_free_and_the_same_lines_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("numba")
    chance = np.random.default_rng(4)
    free = fewer = 0
    for number in range(12):
        angle = 0.5 * number
        frame = GridFrame((0.0, 1.0), (math.cos(angle), math.sin(angle)), 90, 80, 0.05)
        lines = _lines(chance, 1 + 20 * number)
        if number % 3 == 0:
            lines = np.round(lines / 0.05) * 0.05
        told = []
        for fast in (True, False):
            if not fast:
                monkeypatch.setattr(lattice, "compiled_lattice", lambda: None)
            plane = Plane(frame, lines)
            told.append((plane.disc(0.3), plane.seen_from(plane.disc(0.1)).lines))
            monkeypatch.undo()
        assert all(np.array_equal(a, b) for a, b in zip(*told, strict=True))
        free += int(told[0][0].sum())
        fewer += len(told[0][1]) < len(lines)
    assert free > 1_000
    assert fewer


def _lines(chance: np.random.Generator, count: int) -> np.ndarray:
    """Some that are short, some along the axes, a few long ones."""
    start = chance.uniform(0.0, 4.0, (count, 2))
    lines = np.concatenate([start, start + chance.normal(0.0, 0.1, start.shape)], axis=1)
    lines[::3, 2:] = lines[::3, :2] + [0.0, 0.3]
    lines[1::7, 2:] = lines[1::7, :2] + [0.3, 0.0]
    lines[2::17, 2:] = lines[2::17, :2] + [1.5, 0.9]
    return lines
