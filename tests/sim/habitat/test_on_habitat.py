"""The real habitat_sim behind the protocol, wherever it can be imported."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import pytest

from navloom.scenes import load_scene
from navloom.scenes.scene import Scene
from navloom.sim import Pose, Simulator, get_simulator
from navloom.sim.conformance import CHECKS, made_scene, run_check
from navloom.sim.embedded import Sensor
from navloom.sim.habitat.habitat_process import close_habitat

pytestmark = pytest.mark.usefixtures("habitat")
FLAT = load_scene("demo:flat")
AROUND = tuple(
    Sensor(sensor, heading=k * math.pi / 2, width=96, height=72, follows="compass")  # type: ignore[arg-type]
    for sensor in ("rgb", "depth", "ids")
    for k in range(4)
)
SQUARE = tuple(replace(each, height=each.width) for each in AROUND)


@pytest.fixture(scope="module", autouse=True)
def _ended() -> Iterator[None]:
    yield
    close_habitat()


def small(scene: Scene) -> Simulator:
    return get_simulator("habitat", scene, rig=AROUND)


def at(viewpoint: str, heading: float = 0.0) -> Pose:
    return Pose((0.0, 0.0, 0.0), heading, viewpoint=viewpoint)


@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize("uri", ["demo:flat", "compass"])
def test_the_habitat_backend_passes(name: str, uri: str) -> None:
    result = run_check(name, small, made_scene() if uri == "compass" else FLAT)
    if result.status == "skipped":
        pytest.skip(result.detail)
    assert result.status == "passed", result.detail
