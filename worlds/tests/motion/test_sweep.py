"""First contacts against dense sampling: shapes, lines and motions at random."""

from __future__ import annotations

import math

import numpy as np
import pytest

from navloom.scenes.bodies import Footprint
from navloom_worlds.motion import sweep
from navloom_worlds.motion.obstacles import ObstacleLines

pytestmark = pytest.mark.slow

ROOM = 0.0005
SHAPES = (Footprint(True, 0.3, 0.3), Footprint(False, 0.55, 0.25), Footprint(False, 0.45, 0.45))
At = tuple[float, float, float, float]


def swung(at: At, pivot: tuple[float, float], angle: float) -> At:
    cos, sin = math.cos(angle), math.sin(angle)
    x, z = at[0] - pivot[0], at[1] - pivot[1]
    ux, uz = at[2], at[3]
    return (
        pivot[0] + x * cos - z * sin,
        pivot[1] + x * sin + z * cos,
        ux * cos - uz * sin,
        ux * sin + uz * cos,
    )


def least(shape: Footprint, lines: np.ndarray, at: At) -> float:
    return float(sweep.clearances(shape, lines, *at).min())


def scattered(rng: np.random.Generator, shape: Footprint, at: At) -> np.ndarray:
    """Lines around, none nearer than a body keeps; some short as posts, some long as walls."""
    a = rng.uniform(-1.5, 1.5, (12, 2)) + at[:2]
    long = rng.choice([0.01, 0.3, 2.0], (12, 1))
    lines = np.concatenate([a, a + rng.normal(0, 1, (12, 2)) * long], axis=1)
    return lines[sweep.clearances(shape, lines, *at) > ROOM]


def found(lines: np.ndarray) -> ObstacleLines:
    return ObstacleLines(lines, np.zeros(len(lines), dtype=np.int32))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("motion", ["straight", "on the spot", "arc"])
def test_the_first_contact_is_where_dense_samples_say(shape: Footprint, motion: str) -> None:
    rng = np.random.default_rng(18)
    met = 0
    for _ in range(250):
        turn = rng.uniform(0, 2 * math.pi)
        at = (*rng.uniform(-30, 30, 2).tolist(), math.sin(turn), -math.cos(turn))
        lines = scattered(rng, shape, at)
        if not len(lines):
            continue
        move = tuple((rng.normal(0, 0.4, 2)).tolist())
        angle = float(rng.uniform(-3, 3))
        pivot = (at[0], at[1])
        if motion == "arc":
            pivot = (at[0] + rng.normal(0, 0.7), at[1] + rng.normal(0, 0.7))
        if motion == "straight":
            share, k, _ = sweep.limit_motion(shape, found(lines), at, move, None)
        else:
            share, k, _ = sweep.limit_motion(shape, found(lines), at, pivot, angle)

        def place(
            t: float,
            motion: str = motion,
            at: At = at,
            move: tuple[float, ...] = move,
            pivot: tuple[float, float] = pivot,
            angle: float = angle,
        ) -> At:
            if motion == "straight":
                return (at[0] + move[0] * t, at[1] + move[1] * t, at[2], at[3])
            return swung(at, pivot, angle * t)

        for t in np.linspace(0, min(share, 1.0), 150):
            assert least(shape, lines, place(float(t))) > ROOM - 1e-6
        if k >= 0:
            met += 1
            assert least(shape, lines[k : k + 1], place(share)) == pytest.approx(ROOM, abs=1e-6)
            nx, nz, px, pz = sweep.touch_point(shape, lines[k], place(share))
            assert math.hypot(nx, nz) == pytest.approx(1)
            # The point is on the line, and hardly off the body; away from it the body gets free.
            assert least(shape, np.array([[px, pz, px, pz]]), place(share)) < 2 * ROOM + 1e-6
            x, z, ux, uz = place(share)
            freed = (x + nx * 0.01, z + nz * 0.01, ux, uz)
            assert least(shape, lines[k : k + 1], freed) > 0.005
    assert met > 50 or (motion == "on the spot" and shape.round)


@pytest.mark.parametrize("shape", SHAPES)
def test_compiled_code_meets_the_same(shape: Footprint, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    swept = sweep.compiled_sweep()
    rng = np.random.default_rng(5)
    hows = set()
    for number in range(600):
        turn = rng.uniform(0, 2 * math.pi)
        at = (*rng.uniform(-30, 30, 2).tolist(), math.sin(turn), -math.cos(turn))
        lines = scattered(rng, shape, at)
        if number % 3 == 0:
            # One that it touches, or is in.
            away = shape.ahead + float(rng.choice([sweep.SKIN, -0.02]))
            ux, uz = at[2], at[3]
            x, z = at[0] + ux * away, at[1] + uz * away
            ends = [x - uz, z + ux, x + uz, z - ux]
            lines = np.concatenate([lines, np.array([ends])])
        way, angle = tuple(rng.normal(0, 0.4, 2).tolist()), None
        if number % 2:
            way, angle = (at[0] + way[0], at[1] + way[1]), float(rng.uniform(-3, 3))
        both = []
        for fast in (False, True):
            chosen = swept if fast else None
            monkeypatch.setattr(sweep, "compiled_sweep", lambda chosen=chosen: chosen)
            both.append(sweep.limit_motion(shape, found(lines), at, way, angle))
        assert both[0][0] == pytest.approx(both[1][0], abs=1e-6)
        assert both[0][1:] == both[1][1:]
        hows.add(both[0][2])
    assert hows == {sweep.FREE, sweep.MET, sweep.TOUCHED, sweep.INSIDE}
