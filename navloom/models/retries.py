"""Trying again: what the table of :mod:`navloom.models.failure` says, done by tenacity."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from tenacity import AsyncRetrying, RetryCallState, stop_after_attempt, wait_random_exponential

from navloom.errors import StoppedError
from navloom.models.failure import Failure, RetryPolicy, read_failure

T = TypeVar("T")

_LOOKS_UP_S = 0.5
"""Seconds after which a wait for another attempt asks whether the session ends."""


@dataclass(frozen=True, slots=True)
class Retry:
    """One decision to try again, for a progress line: the call that failed, why, the wait (s)."""

    attempt: int
    failure: Failure
    wait: float


class Holds:
    """How long models have asked not to be called: whoever calls one waits, not the refused alone.

    Args:
        told: hears of each, as a model and seconds.
    """

    def __init__(self, told: Callable[[str, float], None] | None = None) -> None:
        self._until: dict[str, float] = {}
        self._told = told

    def hold(self, model: str, seconds: float, *, tell: bool = True) -> None:
        """Let nobody call a model for so many seconds."""
        until = time.monotonic() + seconds
        if seconds > 0 and until > self._until.get(model, 0.0):
            self._until[model] = until
            if tell and self._told is not None:
                self._told(model, seconds)

    def left(self) -> dict[str, float]:
        """The seconds that are left, by model."""
        now = time.monotonic()
        return {model: until - now for model, until in self._until.items() if until > now}

    async def over(self, model: str, stopping: Callable[[], bool] | None = None) -> None:
        """Wait until a model may be called.

        Raises:
            StoppedError: the session ends before.
        """
        while (left := self._until.get(model, 0.0) - time.monotonic()) > 0:
            await asyncio.sleep(min(left, _LOOKS_UP_S))
            _go_on(stopping)


def _go_on(stopping: Callable[[], bool] | None) -> None:
    if stopping is not None and stopping():
        raise StoppedError("the session ends: what failed is asked again in the next one.")


async def with_retries(
    call: Callable[[], Awaitable[T]],
    policy: RetryPolicy,
    *,
    remote: bool = True,
    on_retry: Callable[[Retry], None] | None = None,
    stopping: Callable[[], bool] | None = None,
) -> T:
    """Make a call, and make it again as the table of `navloom.models.failure` says.

    Args:
        call: makes one attempt.
        policy: how often and how long.
        remote: see `read_failure`.
        on_retry: told of each retry before its wait.
        stopping: whether the session ends: then nothing is tried again.

    Raises:
        Exception: what the last attempt raised, as it was raised.
        StoppedError: before or while waiting for another attempt.
    """
    decide = _Decide(policy, remote)

    def tell(state: RetryCallState) -> None:
        _go_on(stopping)
        if on_retry is not None and decide.failure is not None:
            on_retry(Retry(state.attempt_number, decide.failure, state.upcoming_sleep))

    async def wait(seconds: float) -> None:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            await asyncio.sleep(min(left, _LOOKS_UP_S))
            _go_on(stopping)

    retrying = AsyncRetrying(
        stop=stop_after_attempt(max(1, policy.attempts)),
        wait=decide.wait,
        retry=decide,
        before_sleep=tell,
        sleep=wait,
        reraise=True,
    )
    return await retrying(call)


class _Decide:
    """tenacity's questions, answered from the failure before: again? after how long?"""

    def __init__(self, policy: RetryPolicy, remote: bool) -> None:
        self.policy, self.remote = policy, remote
        self.failure: Failure | None = None
        self._backoff = wait_random_exponential(
            multiplier=policy.first_wait, max=policy.longest_wait, min=policy.first_wait / 2
        )

    def __call__(self, state: RetryCallState) -> bool:
        error = state.outcome.exception() if state.outcome else None
        if error is None:
            return False
        before, self.failure = self.failure, read_failure(error, remote=self.remote)
        now = self.failure
        if now is None or now.kind in ("final", "quota"):
            return False
        if now.retry_after is not None and now.retry_after > self.policy.longest_asked:
            return False
        repeats = before is not None and before.mark == now.mark
        return not (repeats and now.kind in ("server", "garbled"))

    def wait(self, state: RetryCallState) -> float:
        if self.failure is not None and self.failure.retry_after is not None:
            return self.failure.retry_after
        return self._backoff(state)
