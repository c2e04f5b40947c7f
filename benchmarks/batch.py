"""Wall time of a batch of NavCraft samples by the rule-based baseline.

The run includes loading scenes, a checkpoint after every step, and a synced line for every finished
sample. It uses HM3D scenes if ``NAVLOOM_DATA`` has them, else the demo homes. A second row compares
it with the same graph calls without a run folder, one after another.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from pathlib import Path

from benchmarks import Claim
from navloom.evals.navcraft.request import SynthRequest
from navloom.evals.run_folder import read_samples
from navloom.evals.runner import run_request
from navloom.evals.session import attempt_id, sample_seed
from navloom.graphs.navcraft import single as navcraft_single
from navloom.scenes.scene_uri import iter_scenes

ATTEMPTS, PROMISED_S = 300, 20.0


def claims() -> list[Claim]:
    """Time one run of 300 samples, and its graph calls alone."""
    spec = _spec()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        began = time.perf_counter()
        summary = run_request(SynthRequest(kind="single", spec=spec, n=ATTEMPTS), out)
        seconds = time.perf_counter() - began
        done = {row["id"]: row["result"] for row in read_samples(out)}
    began = time.perf_counter()
    bare = asyncio.run(_bare(spec))
    alone = time.perf_counter() - began
    name = f"{ATTEMPTS} heuristic single tasks"
    ended = f"{summary.ok} ok, {summary.failed} failed, {summary.error} errors"
    where = spec.partition(":")[0]
    return [
        Claim(
            name,
            f"{PROMISED_S:.0f} s, the time promised; {where} scenes, reading them included",
            PROMISED_S / seconds,
            1.0,
            note=f"{seconds:.1f} s, {ended}",
        ),
        Claim(
            f"{name}, kept on disk",
            "the same attempts by the bare graph, nothing kept",
            alone / seconds,
            0.0,
            equal=done == bare,
            note=f"{alone:.1f} s bare: what checkpoints and synced lines cost, eight at once",
        ),
    ]


def _spec() -> str:
    data = os.environ.get("NAVLOOM_DATA")
    real = Path(data) / "hm3d" if data else None
    return f"hm3d:{real}" if real is not None and real.is_dir() else "demo:"


async def _bare(spec: str) -> dict[str, object]:
    scenes = {scene.uri: scene for scene in iter_scenes(spec)}
    names, results = sorted(scenes), {}
    for k in range(ATTEMPTS):
        uri, attempt = names[k % len(names)], k // len(names)
        sample = attempt_id(uri, attempt)
        state = await navcraft_single.graph.ainvoke(
            {"seed": sample_seed(0, sample)},
            context=navcraft_single.Context(scene=scenes[uri], model="builtin/heuristic"),
        )
        results[sample] = state.get("result")
    return results
