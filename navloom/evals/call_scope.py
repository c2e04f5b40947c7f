"""What stands around the calls of one session, and what is told of them."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

from navloom.evals.progress import Display, Tally
from navloom.models.call import CallSettings
from navloom.models.retries import Holds, Retry
from navloom.models.usage import Budget, Limits

RETRIES_SAID_S = 5.0
"""Seconds between two lines about retries at least."""


class CallScope:
    """What stands around the calls of one session: settings, limits, and what is told of them."""

    def __init__(
        self, settings: CallSettings, limits: Limits, display: Display, connections: int
    ) -> None:
        # Of all samples together: one may ask several questions side by side.
        at_once = asyncio.Semaphore(max(1, connections))
        self.settings = replace(settings, connections=at_once, holds=Holds())
        self.limits = limits
        self.display = display
        self.reached: str | None = None
        self.retries = 0
        self.budget: Budget | None = None
        self._said = -RETRIES_SAID_S

    @property
    def counts(self) -> bool:
        """Whether what was used before matters."""
        return self.limits.token_limit is not None or self.limits.cost_limit is not None

    def of_calls(self) -> CallSettings:
        """The settings of the session's calls: they count, and their retries are told."""
        gate = self.budget or self.settings.gate
        return replace(self.settings, gate=gate, on_retry=self._retried)

    def begin(self, before: Tally) -> Budget:
        """Begin to count towards the limits, with what the run has used already."""
        used = before.usage["input_tokens"] + before.usage["output_tokens"]
        self.budget = Budget(self.limits, tokens=used, cost=before.cost_usd or 0.0)
        return self.budget

    def _retried(self, model: str, retry: Retry) -> None:
        self.retries += 1
        if self.settings.on_retry is not None:
            self.settings.on_retry(model, retry)
        now = time.monotonic()
        if now - self._said >= RETRIES_SAID_S:
            # A storm of refusals is one line every few seconds, not one each.
            self._said = now
            why = f"HTTP {retry.failure.status}" if retry.failure.status else retry.failure.kind
            times = "retry" if self.retries == 1 else "retries"
            self.display.note(
                f"{self.retries} {times}; {model}: {why}, again in {retry.wait:.1f} s"
            )
