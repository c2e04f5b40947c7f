"""VLN-MME's Table 1, measured on Habitat, embedded, and images from disk.

The paper reports about 10 GB on Habitat and about 1.7 GB from disk, 0.14 s and 0.016 s to an
observation, and on Habitat 1.5 s more per step and 25 s more per episode.

Here every backend has the same ten homes, the same episodes and the same rule-based agent. The
agent gets what a model with vision gets: four views of 512 pixels, with labels and markers of
candidates. One episode runs at a time, in its own process. Habitat's process counts too, with one
scene open at once. Exporting to Habitat, baking light and rendering panoramas happen before the
measurement and do not count.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import Claim
from navloom.evals.navigation.request import EvalRequest
from navloom.evals.runner import run_request
from navloom.evals.session import Session
from navloom.models.builtin import BuiltinChatModel
from navloom.scenes.bodies import DEFAULT_BODY
from navloom.scenes.scene_uri import list_scenes, load_scene
from navloom.sim.panorama.manifest import RenderRequest
from navloom.sim.panorama.panorama_cache import LAST
from navloom.sim.protocol import Pose
from navloom.sim.registry import get_simulator
from navloom.sim.views import view_images
from navloom_worlds.habitat.habitat_process import PROCESSES, missing_reason
from navloom_worlds.habitat.habitat_scenes import scene_files
from navloom_worlds.rendering.panorama_export import render_scenes

HOMES, EPISODES, LOOKS = "home:0-9", 10, 6
PAPER = {
    "memory": "the paper's: ~10 GB to ~1.7",
    "an observation": "the paper's: 0.14 s to 0.016",
    "a step": "the paper's: 1.5 s more",
    "a step's work": "seconds of all processors",
    "an episode": "the paper's: 25 s more",
}
_EVERY_S = 0.05


@dataclass(frozen=True)
class BackendResult:
    """Results of one backend: memory in MB, observation in ms, other times in s, and its walks."""

    memory: float
    observation: float
    step: float
    work: float
    episode: float
    steps: int
    walks: Any


def claims() -> list[Claim]:
    """Return a claim for each row of the table and each backend compared with Habitat."""
    os.environ[PROCESSES] = "1"
    with tempfile.TemporaryDirectory() as folder:
        rows = measure_backends(Path(folder))
    habitat = rows.pop("habitat", None)
    found = []
    for name, row in rows.items():
        for what, value, theirs, unit in (
            ("memory", row.memory, habitat and habitat.memory, "MB"),
            ("an observation", row.observation, habitat and habitat.observation, "ms"),
            ("a step", row.step, habitat and habitat.step, "s"),
            ("a step's work", row.work, habitat and habitat.work, "s"),
            ("an episode", row.episode, habitat and habitat.episode, "s"),
        ):
            said = f"{theirs:,.{_digits(unit)}f} {unit}" if theirs else "NOT MEASURED"
            found.append(
                Claim(
                    f"{what}, {name}: {value:,.{_digits(unit)}f} {unit}",
                    f"habitat: {said}; {PAPER[what]}",
                    theirs / value if theirs else 0.0,
                    0.0,
                    row.walks == habitat.walks if habitat else None,
                )
            )
    note = f"{EPISODES} episodes, {next(iter(rows.values())).steps} steps; the last load was "
    note += f"{os.getloadavg()[1]:.1f} on {os.cpu_count()} cores; answers are the walks"
    found.append(Claim("VLN-MME's Table 1", f"{HOMES}, one episode at a time", 0.0, 0.0, note=note))
    return found


def _digits(unit: str) -> int:
    return {"MB": 0, "ms": 0, "s": 2}[unit]


def measure_backends(root: Path) -> dict[str, BackendResult]:
    """Measure each backend; without Habitat if it is not installed."""
    homes = list_scenes(HOMES)
    panoramas = root / "panoramas"
    render_scenes(homes, panoramas, RenderRequest(format="jpg"))
    backends: dict[str, dict[str, Any]] = {
        "panorama": {"panoramas": str(panoramas)},
        "embedded, baked": {"backend": "embedded"},
        "embedded, flat": {"backend": "embedded", "light": "flat"},
    }
    if not missing_reason():
        for home in homes:
            scene_files(load_scene(home))
        backends["habitat"] = {"backend": "habitat"}
    return {
        name: _row(root / name.replace(", ", "-"), options) for name, options in backends.items()
    }


def _row(out: Path, options: dict[str, Any]) -> BackendResult:
    process = multiprocessing.get_context("spawn").Process(target=_work, args=(str(out), options))
    process.start()
    assert process.pid is not None
    memory = 0.0
    while process.is_alive():
        if (out / "run" / "summary.json").exists():
            process.join()  # the time after the evaluation does not count
            break
        memory = max(memory, sum(_peak_mb(each) for each in _family(process.pid)))
        time.sleep(_EVERY_S)
    process.join()
    if process.exitcode != 0:
        raise RuntimeError(f"{out.name}: the evaluation ended with {process.exitcode}")
    told = json.loads((out / "told.json").read_text())
    samples = [json.loads(line) for line in (out / "run/samples.jsonl").read_text().splitlines()]
    results = [each["result"] for each in sorted(samples, key=lambda each: each["id"])]
    steps = sum(len(each["steps"]) for each in results)
    return BackendResult(
        memory,
        told["observation"],
        told["seconds"] / steps,
        told["busy"] / steps,
        told["seconds"] / len(results),
        steps,
        [each["trajectory"] for each in results],
    )


def _family(pid: int) -> Iterator[int]:
    """Yield the ids of a process and all its descendants."""
    yield pid
    # Linux lists a child under the thread that started it.
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in thread.read_text().split():
                yield from _family(int(child))


def _peak_mb(pid: int) -> float:
    """Return the peak memory of a process in MB, without that of its parent."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    lines = [line.split() for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(lines[0][1]) * 1024 / 1e6 if lines else 0.0


def _busy() -> float:
    """Return the processor seconds of this process and all its descendants, ended ones included."""
    ticks = 0
    for pid in _family(os.getpid()):
        with suppress(OSError):
            after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, after_name[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _work(out: str, options: dict[str, Any]) -> None:
    """Run the evaluation, then time observations in each home; runs in its own process."""
    # The rule-based agent uses no images; it gets those that a model would get.
    BuiltinChatModel.takes_images = True
    request = EvalRequest(task="scene", options={"spec": HOMES, "n": EPISODES}, **options)
    began, worked = time.monotonic(), _busy()
    summary = run_request(request, Path(out) / "run", Session(max_connections=1))
    seconds = time.monotonic() - began
    assert summary.ok + summary.failed == EPISODES, summary
    told = {"seconds": seconds, "busy": _busy() - worked, "observation": _observation(options)}
    (Path(out) / "told.json").write_text(json.dumps(told))


def _observation(options: dict[str, Any]) -> float:
    """Return the median milliseconds to an observation as a model gets it, in an open scene."""
    backend = "panorama" if "panoramas" in options else options["backend"]
    more = {"folder": Path(options["panoramas"])} if backend == "panorama" else {}
    more |= {"light": options["light"]} if "light" in options else {}
    times = []
    for home in list_scenes(HOMES):
        scene = load_scene(home)
        simulator = get_simulator(backend, scene, **more)
        places = [each.id for each in scene.viewpoints][: LOOKS + 1]
        for number, place in enumerate(places):
            LAST.forget()
            began = time.perf_counter()
            pose = Pose((0, 0, 0), heading=number * 0.7, viewpoint=place)
            seen = simulator.reset({"robot": (pose, DEFAULT_BODY)})["robot"]
            assert view_images(seen, seen.pose.heading, 4, markers=True)
            if number:  # the first observation opens the scene
                times.append(1000 * (time.perf_counter() - began))
    return statistics.median(times)
