"""The memory of a long run: 5,000 heuristic tasks in a process of its own, watched from outside.

Flat means that the last fifth of the run needs no more than the second one (the first still loads
scenes). Only the run's own process is looked at, through ``/proc``.
"""

from __future__ import annotations

import multiprocessing
import os
import statistics
import tempfile
import time
from pathlib import Path

from benchmarks import Claim
from navloom.evals.synth import SynthRequest, synthesise

TASKS, PROMISED_MB = 5_000, 500.0
GROWTH = 1.1
"""The last fifth may need so many times what the second did, and count as flat."""
EVERY_S = 0.2


def claims() -> list[Claim]:
    """Run the tasks, and look at the memory they take meanwhile."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        seen = _watch(folder)
        seconds = time.monotonic() - began
    peak, fifth = max(seen), len(seen) // 5
    early = statistics.median(seen[fifth : 2 * fifth])
    late = statistics.median(seen[-fifth:])
    name = f"memory of {TASKS:,} heuristic tasks"
    where = "one process, demo scenes, eight tasks at once"
    return [
        Claim(
            name,
            f"{PROMISED_MB:.0f} MB, the memory promised; {where}",
            PROMISED_MB / peak,
            1.0,
            note=f"peak {peak:.0f} MB in {seconds:.0f} s",
        ),
        Claim(
            f"{name}, last fifth",
            f"{GROWTH} times the memory of the second fifth",
            GROWTH * early / late,
            1.0,
            note=f"median {early:.0f} MB in the second fifth, {late:.0f} MB in the last",
        ),
    ]


def _watch(folder: str) -> list[float]:
    """Megabytes in use, a few times a second, while the run goes on."""
    process = multiprocessing.get_context("spawn").Process(target=_work, args=(folder,))
    process.start()
    page = os.sysconf("SC_PAGE_SIZE")
    statm = Path(f"/proc/{process.pid}/statm")
    seen = []
    while process.is_alive():
        resident = statm.read_text().split()[1:2]  # none once the process has ended
        if resident and int(resident[0]):
            seen.append(int(resident[0]) * page / 1e6)
        time.sleep(EVERY_S)
    process.join()
    if process.exitcode != 0:
        raise RuntimeError(f"the run ended with {process.exitcode}")
    return seen


def _work(folder: str) -> None:
    summary = synthesise(SynthRequest(kind="single", spec="demo:", n=TASKS), Path(folder) / "run")
    assert summary.ok + summary.failed == TASKS, summary
