"""How a run is gone through, as against what it is: none of it may change an outcome."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from navloom.evals.progress import Display, NoDisplay
from navloom.evals.sample import Sample, select
from navloom.evals.summary import Tally
from navloom.models.call import CallSettings, Retry
from navloom.models.registry import model_of
from navloom.models.usage import Budget, Limits

MAX_CONNECTIONS = 8
RETRIES_SAID_S = 5.0
"""Seconds between two lines about retries at least."""


class Stop:
    """A way to end a session early, from a signal, a test or another task of the same loop."""

    def __init__(self) -> None:
        self.requests = 0
        self._listeners: list[Callable[[int], None]] = []

    def request(self) -> None:
        """Ask once to finish the steps under way; ask twice to cut them short."""
        self.requests += 1
        for listener in self._listeners:
            listener(self.requests)

    def listen(self, listener: Callable[[int], None]) -> None:
        """Call ``listener`` with the number of requests at each one."""
        self._listeners.append(listener)

    def forget(self, listener: Callable[[int], None]) -> None:
        """Call ``listener`` no more."""
        self._listeners.remove(listener)


@dataclass(frozen=True, kw_only=True)
class Session:
    """One sitting over a run; another may go on with other values, and the run is the same.

    Attributes:
        display: told of progress; silent unless given.
        max_connections: samples under way at once.
        settings: what stands around each model call, such as a response cache.
        limits: when to end; a later session with higher ones goes on.
        limit: do only the first so many samples; a later session may do the others.
        sample_ids: do only these samples.
        retry: try samples that ended in an error again.
        stop: to end early from another thread or a test; it serves once.
    """

    display: Display = field(default_factory=NoDisplay)
    max_connections: int = MAX_CONNECTIONS
    settings: CallSettings = field(default_factory=CallSettings)
    limits: Limits = field(default_factory=Limits)
    limit: int | None = None
    sample_ids: Sequence[str] | None = None
    retry: bool = False
    stop: Stop | None = None

    @property
    def picks(self) -> bool:
        """Whether it is about some of the samples only."""
        return self.limit is not None or bool(self.sample_ids)

    def picked(self, samples: Sequence[Sample]) -> set[str]:
        """The ids of the samples of a run that this session is about.

        Raises:
            UsageError: a sample is not in the run.
        """
        return select(samples, limit=self.limit, ids=self.sample_ids)

    def check_models(self, *names: str | None) -> None:
        """Say what is wrong with a model before a folder is made for it.

        Raises:
            ModelError: it cannot be named or used, or a limit of cost needs a price nobody knows.
        """
        for name in dict.fromkeys(names):
            if name is not None:
                model_of(name)
                self.limits.check_price(name)


class CallScope:
    """What stands around the calls of one session: settings, limits, and what is told of them."""

    def __init__(self, settings: CallSettings, limits: Limits, display: Display) -> None:
        self.settings = settings
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
