"""Runs that are cut short on the way, in process: what a kill leaves behind without a process.

A kill itself is tried on the engine (``test_runner``) and on a whole command
(`tests.testing.kill`).
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
    """Answers that take a while, so that a stop meets calls under way."""

    def reply(call: Any) -> Any:
        time.sleep(seconds)
        return answer(call)

    return reply


def asked_of(server: ModelServer) -> Counter[str]:
    """How often the server was asked each thing."""
    return Counter(json.dumps(call.body, sort_keys=True) for call in server.calls)


async def cut_short(
    request: Any, out: Path, server: ModelServer, times: int, seed: int = 5
) -> Summary:
    """Go through with a run, cutting the steps under way ``times`` times before."""
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
