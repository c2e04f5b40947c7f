"""Workers: two against one process and two runs of half the samples, and what a driver takes.

Reference: the same run by one process without workers, and two such runs of half the samples each,
side by side in the same minute: what two cores of this machine give just then.
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


def started(folder: Path, name: str, spec: str, samples: int, workers: int = 0) -> Any:
    """A run in a process of its own."""
    words = [sys.executable, "-c", _ONE, spec, str(samples), str(folder / name), str(workers)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


def ended(process: Any) -> dict[str, float]:
    """What a run says of itself."""
    out, _ = process.communicate()
    if process.returncode:
        raise RuntimeError(f"a run ended with {process.returncode}")
    said: dict[str, float] = json.loads(out)
    return said


def claims() -> list[Claim]:
    """Make the run three ways, one after the other."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        began = time.monotonic()
        ended(started(folder, "one", SPEC, SAMPLES))
        one_s = time.monotonic() - began
        began = time.monotonic()
        told = ended(started(folder, "two", SPEC, SAMPLES, 2))
        two_s = time.monotonic() - began
        began = time.monotonic()
        halves = [
            started(folder, "first", "home:0-3", SAMPLES // 2),
            started(folder, "second", "home:4-7", SAMPLES // 2),
        ]
        for half in halves:
            ended(half)
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
    """What a run made, without what a clock decides."""
    lines = map(json.loads, (run / "samples.jsonl").read_text().splitlines())
    kept = ("id", "status", "reason", "result", "usage")
    return sorted(({key: line[key] for key in kept} for line in lines), key=lambda line: line["id"])
