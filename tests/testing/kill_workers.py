"""``python -m tests.testing.kill --workers``: kill workers and drivers of one run many times.

The run is NavCraft-S over the loopback, by 1, 2 or 4 workers, a random number in each session. A
kill hits a worker, and one time in three the driver, at a random moment after a random number of
further calls. The counts are those of :mod:`tests.testing.kill`.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from multiprocessing.process import BaseProcess
from pathlib import Path

from navloom.models import get_model
from navloom.testing.mock_server import ModelServer
from navloom.testing.wire_protocols import reply_with
from tests.testing import kill
from tests.testing.kill import AT_ONCE, Outcome

_NUMBERS = (1, 2, 4)
_DRIVERS = 1 / 3
_MOST_CALLS_A_KILL = 24
_SAMPLES_A_KILL = 16
_SESSION_S = 600.0


def kill_workers(folder: Path, kills: int, *, seed: int = 0) -> Outcome:
    """Make a run, killing workers and drivers, and compare it with an uninterrupted one.

    Args:
        folder: an empty folder for both runs.
        kills: number of kills.
        seed: seed of the moments and of the killed processes.

    Raises:
        RuntimeError: the run was over before all kills.
    """
    began, samples, dice = time.monotonic(), kills * _SAMPLES_A_KILL, random.Random(seed)
    thinker = reply_with(get_model("builtin/heuristic"))
    with ModelServer(thinker) as server:
        kill.finish(server, folder / "whole", samples, "single")
        needed = kill.asked(server)
    finished: Counter[str] = Counter()
    lost: set[str] = set()
    in_flight = left = 0
    with ModelServer(kill.slow(thinker)) as server:
        left = kills
        while left:
            number = dice.choice(_NUMBERS)
            more = ["--workers", str(number)]
            driver = kill.start(server, folder / "killed", samples, "single", more)
            while left:
                _wait(server, driver, dice)
                left -= 1
                if dice.random() < _DRIVERS:
                    driver.kill()
                    driver.join()
                    in_flight += AT_ONCE
                    break
                workers = list(_workers_of(driver))
                with suppress(ProcessLookupError):
                    os.kill(dice.choice(workers), signal.SIGKILL)
                in_flight += -(-AT_ONCE // min(number, AT_ONCE))
            if driver.is_alive():
                # What was killed last goes on in this session.
                time.sleep(dice.uniform(0, 1))
                driver.kill()
                driver.join()
                in_flight += AT_ONCE
            now = kill.finished(folder / "killed")
            lost |= set(finished) - set(now)
            finished = now
        kill.finish(server, folder / "killed", samples, "single", ["--workers", "2"])
        asked = kill.asked(server)
    return replace(
        kill.told(folder, needed, asked, lost),
        kills=kills,
        in_flight=in_flight,
        seconds=time.monotonic() - began,
    )


def _wait(server: ModelServer, driver: BaseProcess, dice: random.Random) -> None:
    """Wait for a random number of further calls, and until there is a worker to kill."""
    wanted = len(server.calls) + dice.randint(1, _MOST_CALLS_A_KILL)
    until = time.monotonic() + _SESSION_S
    while time.monotonic() < until and driver.is_alive():
        if len(server.calls) >= wanted and next(_workers_of(driver), None) is not None:
            time.sleep(dice.uniform(0, 0.06))
            return
        time.sleep(0.005)
    raise RuntimeError(f"the run was over ({driver.exitcode}) before it could be killed")


def _workers_of(driver: BaseProcess) -> Iterator[int]:
    """Yield the process ids of a driver's workers."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, parent = stat.read_text().rsplit(")", 1)[1].split()[:2]
            words = (stat.parent / "cmdline").read_bytes()
            if int(parent) == driver.pid and state != "Z" and b"navloom.evals.workers" in words:
                yield int(stat.parent.name)
