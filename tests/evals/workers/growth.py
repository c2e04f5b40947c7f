"""``python -m tests.evals.workers.growth``: cost of a run as samples and workers grow.

One row per number of samples and of workers: wall time, processor time of the driver and of the
workers, memory of the largest driver, and bytes over the pipes. The runs make rule-based errands in
the three demo homes, with call logs and without a cache.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from navloom.evals.navcraft.request import SynthRequest
from navloom.evals.runner import run_request
from navloom.evals.session import Session
from navloom.evals.workers import worker_pools

_COLUMNS = ("samples", "workers", "seconds", "driver, s", "ms a sample", "workers, s")
_HEAD = f"| {' | '.join((*_COLUMNS, 'driver, MB', 'kB a sample'))} |"


def _measured(samples: int, workers: int) -> dict[str, float]:
    """Measure one run in this process."""
    carried = [0]
    peer = worker_pools._ProcessPeer
    tell, hear = peer.tell, peer.hear

    async def told(self: worker_pools._ProcessPeer, text: str) -> None:
        carried[0] += len(text) + 1
        await tell(self, text)

    async def heard(self: worker_pools._ProcessPeer) -> str | None:
        text = await hear(self)
        carried[0] += len(text or "")
        return text

    peer.tell, peer.hear = told, heard  # type: ignore[method-assign]
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        request = SynthRequest(kind="single", spec="demo:", n=samples)
        run_request(request, Path(folder) / "r", Session(workers=workers))
    own, others = (resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return {
        "seconds": time.monotonic() - began,
        "driver": own.ru_utime + own.ru_stime,
        "workers": others.ru_utime + others.ru_stime,
        "memory": own.ru_maxrss / 1024,
        "bytes": carried[0] / samples,
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, nargs="+", default=[100, 1000, 10_000])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--one", type=int, nargs=2)
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(_measured(*asked.one)))
        return
    print(_HEAD)
    print("| ---: " * _HEAD.count(" | ") + "| ---: |")
    for samples in asked.samples:
        for workers in asked.workers:
            one = [sys.executable, "-m", "tests.evals.workers.growth", "--one"]
            done = subprocess.run(
                [*one, str(samples), str(workers)], capture_output=True, text=True, check=True
            )
            said = json.loads(done.stdout)
            print(
                f"| {samples:,} | {workers} | {said['seconds']:.1f} | {said['driver']:.1f} |"
                f" {1000 * said['driver'] / samples:.1f} | {said['workers']:.1f} |"
                f" {said['memory']:.0f} | {said['bytes'] / 1000:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
