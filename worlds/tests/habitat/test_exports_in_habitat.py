"""Homes that were exported open in habitat-sim, and are seen there for what they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from navloom.scenes.bodies import DEFAULT_BODY
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import load_scene
from navloom.sim import Pose, get_simulator
from navloom_worlds.exporting.habitat_files import save_habitat
from navloom_worlds.exporting.hm3d_files import save_hm3d
from navloom_worlds.habitat.habitat_process import close_habitat
from navloom_worlds.rendering import Sensor

# Habitat makes the light of an environment for each dataset that is not our backend's own.
pytestmark = [pytest.mark.usefixtures("habitat"), pytest.mark.slow]
RIG = tuple(
    Sensor(sensor, heading=k * np.pi / 2, width=128, height=128, follows="compass")
    for sensor in ("depth", "ids")
    for k in range(4)
)


@pytest.fixture(scope="module", autouse=True)
def _ended() -> Iterator[None]:
    yield
    close_habitat()


def as_hm3d(scene: Scene, folder: Path) -> Path:
    save_hm3d(scene, folder)
    return folder / "hm3d_annotated.scene_dataset_config.json"


def as_dataset(scene: Scene, folder: Path) -> Path:
    # One more home, whose name has the other's in it.
    return save_habitat([scene.replace(id=f"{scene.id}0"), scene], folder)


@pytest.mark.parametrize("write", [as_hm3d, as_dataset])
def test_a_home_is_in_habitat_what_it_is_here(
    write: Callable[[Scene, Path], Path], tmp_path: Path
) -> None:
    home = load_scene("home:5?rooms=5&floors=1")
    config = write(home, tmp_path / "homes")
    place = Pose((0.0, 0.0, 0.0), 0.4, viewpoint=home.viewpoints[len(home.viewpoints) // 2].id)
    seen = []
    for name, own in (("habitat", {"dataset": config}), ("embedded", {"light": "flat"})):
        simulator = get_simulator(name, home, rig=RIG, **own)
        images = simulator.reset({"robot": (place, DEFAULT_BODY)})["robot"].images
        seen.append([np.stack([v.image for v in images[each]]) for each in ("depth", "ids")])
    (depth, ids), (own_depth, own_ids) = seen
    assert (ids == own_ids).mean() > 0.995
    assert len(np.unique(ids)) > 5
    met = own_ids != 0
    assert (np.abs(depth - own_depth)[met] < 0.02).mean() > 0.995
