"""Stretches of rails: what is put together covers the same, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
import shapely

from navloom.scenes.space.shapes import Shape
from navloom.scenes.traverse import rails
from navloom.scenes.traverse.lattice import Frame, Stretches, box_sums, corner_sums, stretches
from navloom.scenes.traverse.rails import _between, _covered, _fewer, _union

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
    frame, shape = Frame((0.0, 0.0), (1.0, 0.0), 200, 1, 0.02), Shape(False, 0.5, 0.3)
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


@pytest.mark.parametrize("cells", [4.0, 40.0])
def test_compiled_code_leaves_the_same_free_to_the_last_bit(
    cells: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numba")
    compiled = rails.compiled_rails()
    assert compiled is not None
    frame, shape = Frame((0.0, 0.0), (1.0, 0.0), 150, 1, 0.02), Shape(False, 0.5, 0.3)
    chance, left = np.random.default_rng(7), 0
    for number in range(20):
        start = chance.uniform(0.0, 3.0, (1 + 20 * number, 2))
        lines = np.concatenate([start, start + chance.normal(0.0, 0.1, start.shape)], axis=1)
        lines[::3, 2:] = lines[::3, :2] + [0.0, 0.3]
        only = chance.random(150) < 0.8
        rows, far = np.flatnonzero(only), np.full(int(only.sum()), 100.0)
        ends = np.tile(rows, 2), np.append(-far, 4 + 0 * far), np.append(-1 + 0 * far, far)
        for sums in (box_sums(lines, shape, (0, 1)), corner_sums(lines, shape, 1.5, 1.6)):
            told = []
            for fast in (None, compiled):
                monkeypatch.setattr(rails, "compiled_rails", lambda fast=fast: fast)
                told.append(_between(_union([_covered(sums, frame, only, cells), ends])))
            assert all(np.array_equal(a, b) for a, b in zip(*told, strict=True))
            left += len(told[0][0])
    assert left > 1_000
