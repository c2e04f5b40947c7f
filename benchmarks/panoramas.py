"""Panoramas on disk: time to an observation, memory of an evaluation, and parallel rendering.

VLN-MME (Table 1) reports 16 ms to get an observation and 1.7 GB for an evaluation. Here the
panoramas are four JPEG views of 512 pixels of a home rendered for the benchmark. The time covers
everything from the step to an image that can be sent: reading four files, checking their hashes,
decoding, turning to the agent's heading, labels, and markers of candidates. The files are in the
operating system's cache, but not in the process.
"""

from __future__ import annotations

import json
import multiprocessing
import resource
import statistics
import tempfile
import time
from pathlib import Path

from benchmarks import Claim
from navloom.evals.navigation.request import EvalRequest
from navloom.evals.runner import run_request
from navloom.models.builtin import BuiltinChatModel
from navloom.scenes.bodies import DEFAULT_BODY
from navloom.scenes.scene_uri import list_scenes, load_scene
from navloom.sim.panorama.manifest import RenderRequest
from navloom.sim.panorama.panorama_cache import LAST
from navloom.sim.protocol import Pose
from navloom.sim.registry import get_simulator
from navloom.sim.views import view_images, view_pngs
from navloom_worlds.rendering.panorama_export import render_scenes

HOME = "home:0"
PROMISED_MS, PAPER_MS = 4.0, 16.0
EPISODES, PROMISED_MB, PAPER_MB = 200, 300.0, 1_700.0
HOMES, SIZE, ROUNDS = 20, 128, 3
PROMISED_GAIN = 1.6


def claims() -> list[Claim]:
    """Time the panoramas of one home, evaluate in it, and render twenty homes."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        jpg, png = root / "jpg", root / "png"
        render_scenes([HOME], jpg, RenderRequest(format="jpg"))
        render_scenes([HOME], png, RenderRequest())
        return [*_access(jpg, png), _memory(root, jpg), _processes(root)]


def _access(jpg: Path, png: Path) -> list[Claim]:
    seen, sent = _times(jpg)
    exact, _ = _times(png)
    return [
        Claim(
            "a strip of four views from disk",
            f"{PROMISED_MS:.0f} ms, the time promised; the paper's is {PAPER_MS:.0f}; {HOME}",
            PROMISED_MS / seen,
            1.0,
            note=f"{seen:.1f} ms of JPEG, {exact:.1f} ms of PNG; as a PNG file to send {sent:.1f}",
        )
    ]


def _times(folder: Path) -> tuple[float, float]:
    """Return the median milliseconds to draw a strip of views, and to get it as a PNG file."""
    home = load_scene(HOME)
    simulator = get_simulator("panorama", home, folder=folder)
    body = DEFAULT_BODY
    shown, sent = [], []
    for number, place in enumerate([*home.viewpoints, *home.viewpoints]):
        pose = Pose((0, 0, 0), heading=number * 0.7, viewpoint=place.id)
        for made, times in ((view_images, shown), (view_pngs, sent)):
            LAST.forget()
            began = time.perf_counter()
            seen = simulator.reset({"robot": (pose, body)})["robot"]
            assert made(seen, seen.pose.heading, 4, markers=True)
            times.append(1000 * (time.perf_counter() - began))
    # The first round over the viewpoints brings the files into the operating system's cache.
    half = len(shown) // 2
    return statistics.median(shown[half:]), statistics.median(sent[half:])


def _memory(root: Path, panoramas: Path) -> Claim:
    out = root / "memory.json"
    process = multiprocessing.get_context("spawn").Process(
        target=_walk, args=(str(root / "run"), str(panoramas), str(out))
    )
    process.start()
    process.join()
    if process.exitcode != 0:
        raise RuntimeError(f"the evaluation ended with {process.exitcode}")
    found = json.loads(out.read_text())
    return Claim(
        f"memory of {EPISODES} episodes from disk",
        f"{PROMISED_MB:.0f} MB, the memory promised; the paper's is {PAPER_MB:,.0f}; {HOME}",
        PROMISED_MB / found["peak_mb"],
        1.0,
        note=f"peak {found['peak_mb']:.0f} MB, {found['before_mb']:.0f} before the first episode; "
        f"{found['seconds']:.0f} s",
    )


def _walk(run: str, panoramas: str, out: str) -> None:
    # The rule-based agent uses no images; it gets those that a model would get.
    BuiltinChatModel.takes_images = True
    before = _peak_mb()
    began = time.monotonic()
    options = {"spec": HOME, "n": EPISODES}
    summary = run_request(
        EvalRequest(task="scene", options=options, panoramas=panoramas), Path(run)
    )
    assert summary.ok + summary.failed == EPISODES, summary
    seconds = time.monotonic() - began
    found = {"before_mb": before, "peak_mb": _peak_mb(), "seconds": seconds}
    Path(out).write_text(json.dumps(found))


def _peak_mb() -> float:
    # ru_maxrss includes the parent's memory from before this process started its own program.
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    peak = next(x for x in status.read_text().splitlines() if x.startswith("VmHWM:"))
    return int(peak.split()[1]) * 1024 / 1e6


def _processes(root: Path) -> Claim:
    uris = list_scenes(f"home:0-{HOMES - 1}")
    asked = RenderRequest(size=SIZE, format="jpg")
    # Light is baked once per home and cached, so that it counts for neither side.
    render_scenes(uris, root / "warm", asked.model_copy(update={"size": 16}), processes=2)
    seconds: dict[int, list[float]] = {1: [], 2: []}
    for number in range(ROUNDS):
        for processes, times in seconds.items():
            began = time.monotonic()
            render_scenes(uris, root / f"of-{processes}-{number}", asked, processes=processes)
            times.append(time.monotonic() - began)
    one, two = (statistics.median(times) for times in seconds.values())
    same = _digest(root / "of-1-0") == _digest(root / "of-2-0")
    return Claim(
        f"panoramas of {HOMES} homes, two processes",
        f"one process; four views of {SIZE} pixels, median of {ROUNDS}",
        one / two,
        PROMISED_GAIN,
        equal=same,
        note=f"{one:.0f} s by one, {two:.0f} s by two",
    )


def _digest(root: Path) -> dict[str, str]:
    return {file.parent.name: file.read_text() for file in root.glob("*/manifest.json")}
