"""The key `team` of a line: there only where phase_2 cannot say it, and checked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from navloom.evals.navcraft.dataset_check import check_dataset
from navloom.evals.navcraft.export import task_line
from navloom.scenes.scene_uri import load_scene
from navloom.tools.navcraft.relay_task import RelayTask
from navloom.tools.navcraft.schedule import CarryLeg
from navloom.tools.navcraft.task_paths import (
    SoloTask,
    admissible_triples,
    shortest_path,
    solo_task_answer,
)
from navloom_worlds.teams.team_plan import TeamPlan, make_robot, team_record

HOME = load_scene("demo:house")


def line() -> dict[str, Any]:
    start, target, end = next(admissible_triples(HOME))
    thing, asset = HOME.items_in(target, "object")[0], HOME.items_in(end, "asset")[0]
    errand = SoloTask(start, target, thing.prompt_name, end, asset.prompt_name)
    task = RelayTask(HOME, *errand)
    assert task.object_anchor
    assert task.end_anchor
    robots = tuple(make_robot(HOME, f"robot_{i}", start) for i in (1, 2, 3))
    leg = CarryLeg("robot_3", task.object_item.id, task.object_anchor, task.end_anchor)
    sample = {"id": "one", "scene": HOME.uri, "profile": None}
    result = {
        **solo_task_answer(errand, shortest_path(HOME, errand)),
        "team": team_record(HOME, TeamPlan(robots, (leg,))),
        "navloom": {},
    }
    # What else is recorded is no matter here, and may be left out.
    return {**task_line({"request": {}}, {**sample, "result": result}), "navloom": None}


def problems(tmp_path: Path, told: dict[str, Any]) -> list[str]:
    file = tmp_path / "tasks.jsonl"
    file.write_text(json.dumps(told) + "\n")
    return [each.problem for each in check_dataset(file).findings]


def test_a_line_with_a_team_is_valid(tmp_path: Path) -> None:
    told = line()
    assert list(told) == ["scene", "profile", "phase_1", "phase_2", "team", "navloom"]
    assert problems(tmp_path, told) == []


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("legs", 0, "robot"), "robot_4", "who is not in the team"),
        (("robots", 1, "name"), "robot_1", "Two robots are called 'robot_1'"),
        (("robots", 0, "body"), "FETHC", "no body 'FETHC'"),
        (("legs", 0, "to"), {"item": "nowhere"}, "is not the id of an item"),
        (("robots", 0, "start"), {}, "should be non-empty"),
        (("robots",), [], "holds 0, expected at least 1"),
        (("robots",), [{}] * 40, "holds 40, expected at most 12"),
    ],
)
def test_a_line_with_a_wrong_team_is_not(tmp_path: Path, path, value, said: str) -> None:
    told = line()
    part = told["team"]
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    assert any(said in each for each in problems(tmp_path, told)), problems(tmp_path, told)


def test_one_errand_is_that_of_phase_1(tmp_path: Path) -> None:
    told = line()
    end = told["team"]["legs"][0]["to"]["item"]
    other = next(x.id for x in HOME.items if x.kind == "asset" and x.id != end)
    told["team"]["legs"][0]["to"] = {"item": other}
    (found,) = problems(tmp_path, told)
    assert "no errand's asset is the" in found
