"""Interrupt runs in the same process; leaves what a killed process leaves.

Real kills are tested on the engine (``test_runner``) and on a whole command (`tests.testing.kill`).
"""

import asyncio
import json
import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

from navloom.evals.progress import Summary
from navloom.evals.runner import arun_request
from navloom.evals.session import Session, StopSignal
from navloom.testing import ModelServer

AT_ONCE = 4


def slow(answer: Any, seconds: float = 0.02) -> Any:
    """Delay the answers, so that a stop happens while calls are in progress."""

    def reply(call: Any) -> Any:
        time.sleep(seconds)
        return answer(call)

    return reply


def asked_of(server: ModelServer) -> Counter[str]:
    """Count the requests of a server by their content."""
    return Counter(json.dumps(call.body, sort_keys=True) for call in server.calls)


async def cut_short(
    request: Any, out: Path, server: ModelServer, times: int, seed: int = 5
) -> Summary:
    """Make a run, but interrupt it ``times`` times before it may finish."""
    dice = random.Random(seed)
    for _ in range(times):
        stop, wanted = StopSignal(), len(server.calls) + dice.randint(3, 12)
        session = Session(max_connections=AT_ONCE, stop=stop)
        run = asyncio.create_task(arun_request(request, out, session))
        while len(server.calls) < wanted and not run.done():
            await asyncio.sleep(0.002)
        await asyncio.sleep(dice.uniform(0, 0.03))
        stop.request()
        stop.request()
        assert (await run).interrupted, "it ended before its last cut"
    return await arun_request(request, out, Session(max_connections=AT_ONCE))
