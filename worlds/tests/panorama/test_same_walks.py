"""An evaluation with pictures from disk is the one with pictures as they are rendered."""

from __future__ import annotations

from pathlib import Path

import pytest

from navloom.errors import SimulatorError, UsageError
from navloom.evals.navigation.request import EvalRequest
from navloom.evals.runner import run_request
from navloom_worlds.rendering.sensors import RIGS
from worlds.tests.panorama.same_walks import both, seen_at


@pytest.mark.slow
def test_prompts_walks_and_pictures_are_equal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(RIGS, "vln-mme", RIGS["vln-mme"])
    seen_at(32)
    rendered, disk = both("demo:flat", 3, tmp_path, size=32)
    assert len(rendered.walks) == 3
    assert len(rendered.pictures) > 3
    assert len(rendered.prompts) >= len(rendered.walks)
    assert disk == rendered


def test_panoramas_of_other_scenes_are_said_at_once(written: Path, tmp_path: Path) -> None:
    request = EvalRequest(task="scene", options={"spec": "demo:", "n": 3}, panoramas=str(written))
    with pytest.raises(SimulatorError, match="holds no panoramas of demo:house, demo:villa: "):
        run_request(request, tmp_path / "run")


def test_panoramas_are_the_panorama_simulators() -> None:
    assert EvalRequest(task="scene", panoramas="somewhere").backend == "panorama"
    with pytest.raises(UsageError, match="not embedded"):
        EvalRequest(task="scene", panoramas="somewhere", backend="embedded")
