"""What happens to a run when habitat is not there, cannot draw, crashes, hangs or is killed."""

from __future__ import annotations

import ast
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from navloom.errors import SimulatorError
from navloom.evals.navigation.request import EvalRequest
from navloom.evals.run_folder import read_samples
from navloom.evals.runner import run_request
from navloom.scenes import load_scene
from navloom.scenes.bodies import DEFAULT_BODY
from navloom.sim import Hop, Observation, Pose, Simulator, get_simulator
from navloom.testing import ModelServer
from navloom_worlds.habitat import habitat_process, habitat_worker
from navloom_worlds.habitat.habitat_process import PYTHON, SECONDS, check_rendering
from navloom_worlds.rendering import Sensor

SMALL = tuple(Sensor(each, width=8, height=8) for each in ("rgb", "depth", "ids"))  # type: ignore[arg-type]
StandIn = Callable[[str], None]


def made(scene: Any = "demo:flat", **options: Any) -> Simulator:
    return get_simulator("habitat", scene, rig=SMALL, **options)


def stood(simulator: Simulator, viewpoint: str = "1_0") -> Observation:
    pose = Pose((0.0, 0.0, 0.0), viewpoint=viewpoint)
    return simulator.reset({"robot": (pose, DEFAULT_BODY)})["robot"]


def image(seen: Observation, sensor: str) -> Any:
    return seen.images[sensor][0].image


def refusal(call: Callable[[], object]) -> str:
    with pytest.raises(SimulatorError) as caught:
        call()
    line = str(caught.value)
    assert "\n" not in line
    return line


def test_without_habitat_one_line_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PYTHON, raising=False)
    monkeypatch.setattr(habitat_process, "find_spec", lambda name: None)
    line = refusal(made)
    assert "habitat_sim is not installed" in line
    assert "conda install habitat-sim" in line
    assert "docs/habitat.md" in line
    monkeypatch.setenv(PYTHON, "/no/such/python")
    assert "NAVLOOM_HABITAT_PYTHON=/no/such/python is no program" in refusal(made)


@pytest.mark.slow
def test_a_library_that_is_missing_is_named(stand_in: StandIn) -> None:
    stand_in("no library")
    seen = stood(made())
    assert "cannot be imported (ImportError: libEGL.so.1" in refusal(lambda: image(seen, "rgb"))


@pytest.mark.slow
def test_without_a_device_to_draw_on_one_line_says_what_to_do(stand_in: StandIn) -> None:
    stand_in("no EGL")
    seen = stood(made())
    line = refusal(lambda: image(seen, "rgb"))
    assert refusal(lambda: check_rendering(-1)) == line
    assert "habitat cannot draw" in line
    assert "CUDA device 0 among 1 EGL devices" in line
    assert "gpu_device_id -1" in line


def test_pictures_come_when_they_are_read_and_of_where_they_were_taken(stand_in: StandIn) -> None:
    stand_in("fine")
    simulator = made()
    before = stood(simulator)
    after = simulator.step({"robot": Hop(before.candidates[0].viewpoint)})["robot"]
    # The stand-in's depth says where its camera was.
    for seen in (after, before):
        x, _, z = seen.images["depth"][0].position or (0.0, 0.0, 0.0)
        assert image(seen, "depth").max() == pytest.approx(abs(x) + abs(z), abs=1e-5)
    assert image(after, "rgb").shape == (8, 8, 3)
    assert (image(after, "ids") == 1).all()
    simulator.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("crash", "was ended by signal 11 (Segmentation fault) (look, "),
        ("no memory", "was ended by signal 9 (Killed), perhaps for want of memory (look, "),
        ("hang", "gave no answer in 2 s (look, "),
        ("broken scene", "habitat cannot open scenes/"),
    ],
)
def test_a_crash_is_an_error_of_who_asked_and_the_next_one_is_served(
    mode: str, said: str, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SECONDS, "2" if mode == "hang" else "60")
    stand_in("fine")
    first, second = stood(made()), stood(made())
    stand_in(mode)
    line = refusal(lambda: image(first, "rgb"))
    assert said in line
    if mode == "crash":
        assert "It said: reading the scene" in line
    stand_in("fine")
    assert image(second, "rgb").shape == (8, 8, 3)


@pytest.mark.slow
def test_a_run_goes_on_after_a_crash(
    stand_in: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in("fine")
    with ModelServer(["Action: Stop. I have arrived."] * 2) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-a-key-of-a-test-0123456789")
        options = {"spec": "demo:flat", "n": 2}
        request = EvalRequest(
            task="scene", options=options, agent="navgpt", backend="habitat", model="openai/any"
        )
        check_rendering(-1)
        stand_in("crash once")
        run_request(request, tmp_path / "r")
    (row,) = read_samples(tmp_path / "r")
    assert row["status"] in ("ok", "failed")
    (line,) = (tmp_path / "r" / "errors.jsonl").read_text().splitlines()
    assert "habitat's process was ended by signal 11" in line


def test_ids_that_would_be_all_zero_are_refused(stand_in: StandIn) -> None:
    stand_in("no semantics")
    seen = stood(made())
    assert image(seen, "rgb").shape == (8, 8, 3)
    assert "has no ids: habitat finds no semantic annotations" in refusal(
        lambda: image(seen, "ids")
    )


@pytest.mark.slow
def test_processes_are_shared_and_few(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in("fine")
    monkeypatch.setenv(habitat_process.PROCESSES, "2")
    for uri in ("demo:flat", "demo:house", "demo:flat", "demo:villa", "demo:flat"):
        scene = load_scene(uri)
        image(stood(made(scene), scene.viewpoints[0].id), "rgb")
        kept = habitat_process._pool._kept
        assert 1 <= len(kept) <= 2
        assert all(process is not None and process.open for process in kept.values())


def test_what_makes_no_sense_is_refused(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in("fine")
    assert "habitat has no lidar" in refusal(
        lambda: get_simulator("habitat", "demo:flat", rig="lidar")
    )
    assert "gpu_device_id is -2" in refusal(lambda: made(gpu_device_id=-2))
    monkeypatch.setenv("NAVLOOM_GPU_DEVICE", "first")
    assert "NAVLOOM_GPU_DEVICE=first: expected a device's number" in refusal(made)


def test_the_worker_runs_on_the_python_that_habitat_comes_with() -> None:
    source = Path(habitat_worker.__file__).read_text()
    tree = ast.parse(source, feature_version=(3, 9))
    imports = {each.module for each in ast.walk(tree) if isinstance(each, ast.ImportFrom)}
    assert not any((name or "").startswith("navloom") for name in imports)


@pytest.mark.slow
def test_threads_take_turns_and_nobody_waits_for_ever(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in("fine")
    monkeypatch.setenv(habitat_process.PROCESSES, "1")
    scenes = [load_scene(uri) for uri in ("demo:flat", "demo:villa")]
    seen = [stood(made(each), each.viewpoints[0].id) for each in scenes for _ in range(4)]
    with ThreadPoolExecutor(8) as threads:
        shapes = list(threads.map(lambda each: image(each, "rgb").shape, seen, timeout=120))
    assert shapes == [(8, 8, 3)] * 8
    assert len(habitat_process._pool._kept) == 1
