"""Worker processes: a run by two workers, by one process, and as two runs of half the samples.

The references are the same run by one process without workers, and two runs of half the samples
each, side by side. The latter shows what two cores of this machine give at the moment. The driver's
share of the processor time is measured too.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import Claim

SPEC, SAMPLES = "home:0-7", 96
_ONE = """
import json, resource, sys, time
from navloom.evals.runner import run_request
from navloom.evals.navcraft.request import SynthRequest
from navloom.evals.session import Session
spec, n, out, workers = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4]) or None
asked = SynthRequest(kind="collab", spec=spec, n=n, verify_sim=True)
run_request(asked, out, Session(workers=workers))
print(json.dumps({"cpu": time.process_time(),
    "children": sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])}))
"""


def start_run(folder: Path, name: str, spec: str, samples: int, workers: int = 0) -> Any:
    """Start a run in its own process."""
    words = [sys.executable, "-c", _ONE, spec, str(samples), str(folder / name), str(workers)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


def wait_for_run(process: Any) -> dict[str, float]:
    """Wait for a run to end and return its resource usage."""
    out, _ = process.communicate()
    if process.returncode:
        raise RuntimeError(f"a run ended with {process.returncode}")
    said: dict[str, float] = json.loads(out)
    return said


def claims() -> list[Claim]:
    """Make the run by one process, by two workers and in halves, one after the other."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        began = time.monotonic()
        wait_for_run(start_run(folder, "one", SPEC, SAMPLES))
        one_s = time.monotonic() - began
        began = time.monotonic()
        told = wait_for_run(start_run(folder, "two", SPEC, SAMPLES, 2))
        two_s = time.monotonic() - began
        began = time.monotonic()
        halves = [
            start_run(folder, "first", "home:0-3", SAMPLES // 2),
            start_run(folder, "second", "home:4-7", SAMPLES // 2),
        ]
        for half in halves:
            wait_for_run(half)
        apart_s = time.monotonic() - began
        same = _lines(folder / "one") == _lines(folder / "two")
    ran = f"{SAMPLES} relays of {SPEC} by rules, each driven"
    share = told["cpu"] / (told["cpu"] + told["children"])
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    times = f"{one_s:.1f} s by one process, {two_s:.1f} s by two workers, {apart_s:.1f} s by halves"
    return [
        Claim(
            "two workers on two idle cores", f"one process; {ran}", one_s / two_s, 1.8, same, times
        ),
        Claim(
            "two workers on any machine",
            f"two runs of half the samples side by side; {ran}",
            apart_s / two_s,
            0.9,
        ),
        Claim(
            "the driver's share of the CPU",
            f"the promise, 5 %; {ran}",
            0.05 / share,
            1.0,
            note=f"{share:.1%}; the largest process had {memory:.0f} MB",
        ),
    ]


def _lines(run: Path) -> list[dict[str, Any]]:
    """Read a run's samples without the fields that depend on a clock."""
    lines = map(json.loads, (run / "samples.jsonl").read_text().splitlines())
    kept = ("id", "status", "reason", "result", "usage")
    return sorted(({key: line[key] for key in kept} for line in lines), key=lambda line: line["id"])
