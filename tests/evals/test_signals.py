"""Stopping by signals: once ends the step, twice ends all, and at once where the loop is deaf."""

from __future__ import annotations

import asyncio
import os
import signal
import time

import pytest

from navloom.evals.session import StopSignal


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_each_signal_is_a_request(number: signal.Signals) -> None:
    before, stop = signal.getsignal(number), StopSignal()

    async def pressed() -> None:
        with stop.on_signals():
            for wanted in (1, 2):
                os.kill(os.getpid(), number)
                async with asyncio.timeout(5):
                    while stop.requests < wanted:
                        await asyncio.sleep(0.001)

    asyncio.run(pressed())
    assert signal.getsignal(number) is before


def test_a_loop_that_is_blocked_is_left_at_the_second() -> None:
    stop, reached = StopSignal(), []

    async def blocked() -> None:
        with stop.on_signals():
            os.kill(os.getpid(), signal.SIGINT)
            reached.append("first")
            os.kill(os.getpid(), signal.SIGINT)
            until = time.monotonic() + 5
            while time.monotonic() < until:
                pass
            reached.append("the end")

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(blocked())
    assert reached == ["first"]
