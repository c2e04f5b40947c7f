"""``python -m tests.evals.workers.pool_suite local``: conformance suite of worker pools.

It is a separate program, because Ray changes the process that imports it.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from navloom.evals.runner import run_request
from navloom.evals.session import Session
from navloom.evals.workers.worker_pools import LocalPool, WorkerPeer, WorkerPool
from tests.evals.workers.strange import StrangeRequest, install

ODD = "line\nbreak \u2028 \ud83d\ude80 é \x00 " + "x" * 2_000_000


def begin(said: str) -> str:
    """Return a start message that a worker refuses, with a text that it quotes."""
    return json.dumps({"say": "begin", "trace": None, "navloom": said})


async def words_of(peer: WorkerPeer) -> dict[str, str]:
    text = await asyncio.wait_for(peer.hear(), 60)
    assert text is not None, peer.why()
    found: dict[str, str] = json.loads(text)
    return found


async def texts_go_both_ways_whatever_is_in_them(pool: WorkerPool) -> None:
    peer = await pool.spawn(1)
    assert peer.name.startswith("worker 1 (process ")
    await peer.tell(begin(ODD))
    words = await words_of(peer)
    assert words["say"] == "cannot"
    # Cut where lines of errors are, and one line.
    assert words["said"].startswith("it has navloom "), words["said"][:100]
    assert "and the driver line break" in words["said"]
    assert await peer.hear() is None


async def one_that_is_ended_says_nothing_more(pool: WorkerPool) -> None:
    peer = await pool.spawn(2)
    await peer.end()
    await peer.end()
    await peer.tell(begin("0"))
    assert await asyncio.wait_for(peer.hear(), 60) is None
    assert peer.why()


async def one_that_is_killed_says_why(pool: WorkerPool) -> None:
    peer = await pool.spawn(3)
    found = re.search(r"process (\d+)", peer.name)
    assert found is not None
    listening = asyncio.create_task(peer.hear())
    os.kill(int(found[1]), signal.SIGKILL)
    assert await asyncio.wait_for(listening, 60) is None
    assert re.search("SIGKILL|is gone", peer.why()), peer.why()


async def nonsense_ends_the_worker_and_nobody_else(pool: WorkerPool) -> None:
    one, other = await pool.spawn(4), await pool.spawn(5)
    await one.tell("no JSON")
    await other.tell(begin("0"))
    assert (await words_of(other))["say"] == "cannot"
    assert await asyncio.wait_for(one.hear(), 60) is None


SUITE: tuple[Callable[[WorkerPool], Awaitable[None]], ...] = (
    texts_go_both_ways_whatever_is_in_them,
    one_that_is_ended_says_nothing_more,
    one_that_is_killed_says_why,
    nonsense_ends_the_worker_and_nobody_else,
)


async def passes(kind: str) -> None:
    """Run the suite on a pool."""
    if kind == "ray":
        from navloom.evals.workers.worker_pools import open_ray

        pool: WorkerPool = await open_ray(None, open_cluster=False)
    else:
        pool = LocalPool()
    try:
        for check in SUITE:
            await check(pool)
            print(f"passed {check.__name__}", flush=True)
    finally:
        await pool.close()


def main() -> None:
    kind = sys.argv[1]
    asyncio.run(passes(kind))
    with TemporaryDirectory() as site, TemporaryDirectory() as folder:
        install(Path(site))
        sys.path.insert(0, site)
        where = "ray" if kind == "ray" else None
        request, out = StrangeRequest(once=str(Path(folder) / "once")), Path(folder) / "r"
        summary = run_request(request, out, Session(workers=2, cluster=where))
        assert (summary.ok, summary.error, summary.left) == (6, 0, 0)
        print("passed a_run_in_which_a_worker_dies", flush=True)


if __name__ == "__main__":
    main()
