"""Storeys as maps: what they show, and the files that ROS reads."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import yaml
from PIL import Image

from navloom.cli.main import main
from navloom.errors import SceneError
from navloom.scenes import load_scene
from navloom.scenes.bodies import get_body
from navloom_worlds.motion.body_field import body_field
from navloom_worlds.motion.occupancy_map import OCCUPIED, map_storey

pytestmark = pytest.mark.slow


def test_maps_are_true_to_the_field_and_read_by_map_server(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scene = load_scene("demo:flat")
    field = body_field(scene, get_body("WHEELCHAIR"))
    shown = map_storey(scene, field, scene.floors[0].id)
    assert shown.reached == pytest.approx(np.count_nonzero(field.part == 0) * 0.05**2, rel=0.02)
    assert (shown.cells == OCCUPIED).any()
    assert main(["scenes", "map", "demo:flat", "--out", str(tmp_path), "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)
    assert told["body"] == "HUMAN"
    keys = yaml.safe_load(Path(told["yaml"]).read_text())
    assert set(keys) == {
        *("image", "resolution", "origin", "negate", "occupied_thresh", "free_thresh")
    }
    pixels = np.asarray(Image.open(tmp_path / keys["image"]))
    assert set(np.unique(pixels)) <= {0, 205, 254}
    # Where a viewpoint is, the map is free: x right, -z up, from the lower left corner.
    human = body_field(scene, get_body("HUMAN"))
    for viewpoint in scene.viewpoints:
        x, _, z = viewpoint.position
        if human.stands((x, scene.floors[0].height, z)):
            column = int((x - keys["origin"][0]) / keys["resolution"])
            row = len(pixels) - 1 - int((-z - keys["origin"][1]) / keys["resolution"])
            assert pixels[row, column] == 254
    with Image.open(told["picture"]) as picture:
        assert picture.size[0] > 300


def test_a_floor_that_is_not_there_is_said_in_a_line() -> None:
    scene = load_scene("demo:flat")
    field = body_field(scene, get_body("HUMAN"))
    with pytest.raises(SceneError, match="has no floor 9: expected one of 1"):
        map_storey(scene, field, 9)
