"""Episodes whose places are points: read, brought onto the graph, walked and scored."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pydantic import ValidationError

from navloom.errors import DataError
from navloom.evals.navigation.request import EvalRequest
from navloom.evals.run_folder import read_samples
from navloom.evals.runner import run_request
from navloom.evals.tasks import registry
from navloom.evals.tasks.episode import Episode, PlacedEpisode, TaskData, snap_to_graph
from navloom.scenes.scene_uri import load_scene

FLAT = load_scene("demo:flat")
PATH = ("1_0", "2_0", "2_6")


def point(viewpoint: str, east: float = 0.0) -> tuple[float, float, float]:
    x, y, z = FLAT.viewpoint_by_id[viewpoint].ground
    return x + east, y, z


def placed(**other: Any) -> PlacedEpisode:
    given = {
        "id": "p1",
        "task": "points",
        "scene": "demo:flat",
        "start": point("1_0", 0.2),
        "instruction": "Go into the living room.",
        "goals": (point("2_6", 0.1), point("2_6", -0.1)),
        "path": (point("1_0"), point("1_0", 0.1), point("2_0"), "2_6"),
    }
    return PlacedEpisode(**{**given, **other})


def test_points_become_the_nearest_viewpoints() -> None:
    read = PlacedEpisode.model_validate(json.loads(placed().model_dump_json()))
    assert read == placed()
    found = snap_to_graph(read, FLAT)
    assert isinstance(found, Episode)
    assert (found.start, found.goals, found.path) == ("1_0", ("2_6",), PATH)
    assert found.columns["points"]["start"] == point("1_0", 0.2)
    assert snap_to_graph(found, FLAT) is found


def test_an_episode_of_viewpoints_stays_what_it_is() -> None:
    plain = {"start": "1_0", "goals": ("2_6",), "path": PATH}
    found = snap_to_graph(placed(**plain), FLAT)
    assert found.model_dump_json() == Episode(**placed(**plain).model_dump()).model_dump_json()
    assert json.loads(found.model_dump_json())["columns"] == {}


def test_a_point_that_is_nowhere_is_refused_in_a_line() -> None:
    with pytest.raises(DataError, match="m from the nearest viewpoint of demo:flat") as refused:
        snap_to_graph(placed(start=(500.0, 0.0, 0.0)), FLAT)
    assert "\n" not in str(refused.value)
    with pytest.raises(ValidationError):
        Episode.model_validate(placed().model_dump())


def test_a_dataset_of_points_is_walked_and_scored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(data: Path, split: str) -> TaskData:
        episodes = (snap_to_graph(placed(), FLAT),)
        return TaskData("points", split, episodes, {"demo:flat": "demo:flat"})

    module = ModuleType("points_for_a_test")
    vars(module).update(SPLITS=("all",), DEFAULT_SPLIT="all", SOURCE="made here", load=load)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    task = registry.Task(module.__name__, "points", None)
    monkeypatch.setitem(registry.TASKS, "points", task)
    summary = run_request(EvalRequest(task="points", agent="shortest-path"), tmp_path / "run")
    (line,) = read_samples(tmp_path / "run")
    assert (summary.ok, line["status"]) == (1, "ok")
    assert [pose[0] for pose in line["result"]["trajectory"]] == list(PATH)
    assert line["result"]["episode"]["columns"]["points"]["start"] == list(point("1_0", 0.2))
