"""Who does not look walks on habitat as on embedded: whole runs of episodes, and a talk."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

import pytest

from navloom.cli.main import main
from navloom.evals.navigation.request import EvalRequest
from navloom.evals.run_folder import read_samples
from navloom.evals.runner import run_request
from worlds.tests.habitat.check_walks import walks

pytestmark = pytest.mark.usefixtures("habitat")


def results(folder: Path, backend: str) -> dict[str, Any]:
    options = {"spec": "home:0-2", "n": 9}
    run_request(EvalRequest(task="scene", options=options, backend=backend), folder / backend)
    return {row["id"]: row["result"] for row in read_samples(folder / backend)}


def test_the_heuristic_walks_the_same_ways(tmp_path: Path) -> None:
    found = results(tmp_path, "habitat")
    assert len(found) == 9
    assert found == results(tmp_path, "embedded")


def test_a_talk_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = tmp_path / "said.txt"
    said.write_text("go to the kitchen\nwhat do you see?\nturn left\nwhere are you?\n")
    heard = []
    for backend in ("habitat", "embedded"):
        with said.open() as lines:
            monkeypatch.setattr("sys.stdin", lines)
            assert main(["chat", "demo:flat", "--backend", backend, "--display", "plain"]) == 0
        heard.append(capsys.readouterr().out)
    assert "kitchen" in heard[0]
    assert heard[0] == heard[1]


@pytest.mark.slow
def test_strings_of_actions_end_where_they_do_on_embedded() -> None:
    apart = [each.apart for each in walks("home:5", 10)]
    assert len(apart) == 10
    assert median(apart) < 0.1
