"""Memory of long runs, each in its own process and measured from outside.

The runs are 5,000 samples of the rule-based generator, and the 2,349 episodes of R2R's val_unseen
(as many episodes in demo homes if the data is missing). Memory is flat if the median of the last
fifth of a run is at most 1.1 times that of the second fifth; the first fifth still loads scenes.
Only the run's own process is measured, through ``/proc``.
"""

from __future__ import annotations

import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks import Claim
from navloom.evals.navcraft.request import SynthRequest
from navloom.evals.navigation.request import EvalRequest
from navloom.evals.runner import run_request

TASKS, EPISODES, PROMISED_MB = 5_000, 2_349, 500.0
GROWTH = 1.1
"""Memory is flat if the last fifth needs at most so many times what the second fifth did."""
EVERY_S = 0.2


def claims() -> list[Claim]:
    """Measure the memory of both runs."""
    real = _real()
    where = "R2R val_unseen" if real else "demo homes, no real data here"
    return [
        *check_flat_memory(f"{TASKS:,} heuristic tasks", "demo scenes", _tasks, PROMISED_MB),
        *check_flat_memory(f"{EPISODES:,} navigated episodes", where, _episodes),
    ]


def check_flat_memory(
    what: str, where: str, work: Callable[[str], None], promised: float | None = None
) -> Iterator[Claim]:
    """Run a long job in its own process and check that its memory stays flat.

    Args:
        what: name of the job.
        where: the scenes that it uses.
        work: the job; it is called with an empty folder.
        promised: limit of the peak in megabytes; None checks only that memory stays flat.
    """
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        seen = _watch(work, folder)
        seconds = time.monotonic() - began
    peak, fifth = max(seen), len(seen) // 5
    early = statistics.median(seen[fifth : 2 * fifth])
    late = statistics.median(seen[-fifth:])
    said = f"peak {peak:.0f} MB in {seconds:.0f} s"
    if promised is not None:
        yield Claim(
            f"memory of {what}",
            f"{promised:.0f} MB, the memory promised; one process, {where}, eight at once",
            promised / peak,
            1.0,
            note=said,
        )
    yield Claim(
        f"memory of {what}, last fifth",
        f"{GROWTH} times the memory of the second fifth; {where}",
        GROWTH * early / late,
        1.0,
        note=f"median {early:.0f} MB in the second fifth, {late:.0f} MB in the last; {said}",
    )


def _watch(work: Callable[[str], None], folder: str) -> list[float]:
    """Run a job in a new process and return its resident memory in megabytes, sampled over time."""
    process = multiprocessing.get_context("spawn").Process(target=work, args=(folder,))
    process.start()
    page = os.sysconf("SC_PAGE_SIZE")
    statm = Path(f"/proc/{process.pid}/statm")
    seen = []
    while process.is_alive():
        resident = statm.read_text().split()[1:2]  # empty once the process has ended
        if resident and int(resident[0]):
            seen.append(int(resident[0]) * page / 1e6)
        time.sleep(EVERY_S)
    process.join()
    if process.exitcode != 0:
        raise RuntimeError(f"the run ended with {process.exitcode}")
    return seen


def _real() -> bool:
    folder = os.environ.get("NAVLOOM_DATA")
    return bool(folder) and (Path(folder or "") / "mp3d" / "r2r").is_dir()


def _tasks(folder: str) -> None:
    summary = run_request(SynthRequest(kind="single", spec="demo:", n=TASKS), Path(folder) / "run")
    assert summary.ok + summary.failed == TASKS, summary


def _episodes(folder: str) -> None:
    made_up = {"spec": "demo:", "n": EPISODES}
    request = EvalRequest(task="r2r") if _real() else EvalRequest(task="scene", options=made_up)
    summary = run_request(request, Path(folder) / "run")
    assert summary.ok + summary.failed == EPISODES, summary
