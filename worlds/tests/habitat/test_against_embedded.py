"""A few poses of a home on habitat and on embedded; the whole is ``check_against_embedded``."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import load_scene
from navloom_worlds.habitat.habitat_process import close_habitat
from worlds.tests.habitat.check_against_embedded import (
    SHARE,
    all_compared,
    cameras_of,
    side_by_side,
)

pytestmark = pytest.mark.usefixtures("habitat")


@pytest.fixture(scope="module")
def home() -> Iterator[Scene]:
    yield load_scene("demo:flat")
    close_habitat()


def test_depth_and_ids_are_those_of_habitat(home: Scene) -> None:
    found = all_compared(home, 8)
    assert np.mean([each.both for each in found]) >= SHARE
    assert min(each.both for each in found) >= 0.98


def test_half_a_pixel_is_found(home: Scene) -> None:
    shifted = all_compared(home, 8, shift=0.5)
    assert np.mean([each.depth for each in shifted]) < SHARE
    assert np.mean([each.ids for each in shifted]) < SHARE


def test_a_pose_is_drawn_side_by_side(home: Scene) -> None:
    sheet = np.asarray(side_by_side(home, cameras_of(home, 1)[0]))
    assert len(np.unique(sheet.reshape(-1, 3), axis=0)) > 100
