"""A seed means a home of one version, and whoever reads an old one is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from navloom.errors import RunError
from navloom.evals.navcraft.dataset_check import check_dataset
from navloom.evals.navcraft.export import export_run
from navloom.evals.navcraft.request import SynthRequest
from navloom.evals.navcraft.results import build_report
from navloom.evals.run_folder import recorded_homes
from navloom.evals.runner import run_request
from navloom.scenes import scene_uri
from navloom_worlds.homes import home_source
from navloom_worlds.homes.home_names import VERSION

REQUEST = SynthRequest(kind="single", spec="home:3-4?rooms=8&floors=1", n=4)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("homes") / "run"
    assert run_request(REQUEST, folder).ok == 4
    return folder


def test_a_run_and_its_dataset_say_the_version_of_the_homes(run: Path, tmp_path: Path) -> None:
    said = json.loads((run / "run.json").read_text())
    assert said["versions"]["homes"] == str(VERSION)
    assert export_run(run, tmp_path / "tasks.jsonl") == 4
    lines = [json.loads(line) for line in (tmp_path / "tasks.jsonl").read_text().splitlines()]
    assert {line["navloom"]["homes"] for line in lines} == {str(VERSION)}
    assert {line["scene"] for line in lines} == {
        "home:3.rooms-8.floors-1",
        "home:4.rooms-8.floors-1",
    }
    assert check_dataset(tmp_path / "tasks.jsonl").findings == ()


def test_a_dataset_of_another_version_is_not_held_against_these_homes(
    run: Path, tmp_path: Path
) -> None:
    export_run(run, tmp_path / "tasks.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "tasks.jsonl").read_text().splitlines()]
    lines[0]["navloom"]["homes"] = "0"
    (tmp_path / "old.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (finding,) = check_dataset(tmp_path / "old.jsonl").findings
    assert (finding.line, finding.where) == (1, "scene")
    assert "is of version 0 of the homes, and this navloom makes version" in finding.problem


def test_a_run_of_another_version_is_not_gone_on_with_nor_drawn(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(home_source, "VERSION", VERSION + 1)
    with pytest.raises(RunError, match=rf"is of version {VERSION} of the homes.*another --out"):
        run_request(REQUEST, run)
    shown = build_report([run]).shown
    assert shown
    assert all(task.scene is None and "another home here" in task.problem for task in shown)


def test_a_scene_that_is_no_home_has_no_version() -> None:
    assert scene_uri.homes_mismatch("hm3d:x", "0") is None
    assert scene_uri.homes_mismatch("home:7", None) is None
    assert scene_uri.homes_mismatch("home:7", str(VERSION)) is None


@pytest.mark.parametrize("versions", [None, "x", 7, [], {}, {"homes": None}])
def test_a_run_json_of_other_hands_says_no_version(versions: object) -> None:
    assert recorded_homes({"versions": versions}) is None
