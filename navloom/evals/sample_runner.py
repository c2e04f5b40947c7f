"""Execution of one sample through its graph, in any process, and its result line."""

from __future__ import annotations

import asyncio
import errno
import sqlite3
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from langgraph.errors import GraphDrained
from langgraph.runtime import RunControl

from navloom.errors import LimitReachedError, ModelRefusedError, RunError, StoppedError
from navloom.evals.progress import ProgressDisplay, Tally
from navloom.evals.session import Job, Sample
from navloom.files import encode_line
from navloom.graphs.invocation import usage_so_far
from navloom.models.model_call import CallSettings, RateLimitHolds, RetryEvent, call_settings
from navloom.models.redaction import error_line
from navloom.models.spans import agent_span, sample_span
from navloom.models.usage import Budget, ModelUsage, UsageLimits, merge_usage, sum_usage, total_cost

_FOLDER_TROUBLE = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG}
DRAINED = (GraphDrained, StoppedError)
_NOT_ITS_OWN = (*DRAINED, LimitReachedError, RunError, ModelRefusedError, sqlite3.Error)
"""Errors that end the session, not only the sample in which they occur."""
RETRIES_SAID_S = 5.0
"""Minimum seconds between two lines about retries."""


async def run_sample(
    job: Job,
    sample: Sample,
    graph: Any,
    *,
    settings: CallSettings | None = None,
    control: RunControl | None = None,
    resumed: bool = False,
) -> dict[str, Any]:
    """Run one sample through its graph; return its line for ``samples.jsonl`` or ``errors.jsonl``.

    Args:
        job: handles the sample.
        sample: the sample.
        graph: the graph that ``job.build`` returned, with a checkpointer or without.
        settings: settings of its calls.
        control: drains it from outside, at its next step.
        resumed: whether to continue from the thread in the checkpointer.

    Returns:
        Its columns, unwritten; ``status`` is ``ok``, ``failed``, or ``error`` after an exception.

    Raises:
        GraphDrained: it was drained; its checkpoint holds the finished steps. Likewise
            StoppedError, where a call failed while the session ends.
        LimitReachedError: a limit of the session is reached.
        ModelRefusedError: the key, the model's name or the account is refused, as it would be for
            every remaining sample.
        RunError: a file beside the sample cannot be written; likewise ``sqlite3.Error``, and
            ``OSError`` on a full disk.
    """
    with sample_span(sample.id, sample.scene, resumed) as ended:
        line = await _carried_out(job, sample, graph, settings or CallSettings(), control, resumed)
        ended(line["status"], line["reason"])
    return line


async def _carried_out(
    job: Job, sample: Sample, graph: Any, settings: CallSettings, control: Any, resumed: bool
) -> dict[str, Any]:
    began, lost = time.monotonic(), list[ModelUsage]()
    try:
        with call_settings(settings, lost=lost, epoch=sample.epoch or settings.epoch):
            state = await _final_state(job, sample, graph, control, resumed=resumed)
        paid = [ModelUsage.read(each) for each in state.get("usage", ())]
        line = common_columns(sample, [*paid, *lost], began) | job.record(sample, state)
        if line["status"] not in ("ok", "failed"):
            raise ValueError(f"the graph ended without a status, got {line['status']!r}")
        encode_line(line)
    except _NOT_ITS_OWN:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _FOLDER_TROUBLE:
            raise
        said, paid = error_line(error), []
        if graph.checkpointer:
            try:
                paid = await usage_of_sample(graph, sample)
            except _NOT_ITS_OWN:
                raise
            except Exception as broken:
                said += f" What it had used cannot be read: {error_line(broken)}"
        line = common_columns(sample, [*paid, *lost], began)
        line |= {"reason": type(error).__name__, "message": said}
    return line


def thread_config(sample: Sample) -> dict[str, Any]:
    """Return the LangGraph config of a sample's thread."""
    return {"configurable": {"thread_id": sample.id}}


async def _final_state(
    job: Job, sample: Sample, graph: Any, control: RunControl | None, *, resumed: bool
) -> Mapping[str, Any]:
    """Run a sample's graph, or resume it from its checkpoint; return the final state."""
    entry: dict[str, Any] | None = None
    if resumed:
        there = await graph.aget_state(thread_config(sample))
        # Not `next`: it omits tasks that have ended in a step that is still open.
        if not there.tasks:
            values: Mapping[str, Any] = there.values
            return values
    else:
        entry = job.input(sample)
    with agent_span(graph):
        state: Mapping[str, Any] = await graph.ainvoke(
            entry,
            thread_config(sample),
            context=job.context(sample),
            durability="sync" if graph.checkpointer else None,
            control=control,
            # All channels, as in a state read from a checkpoint.
            output_keys=graph.stream_channels_list,
        )
    return state


async def usage_of_sample(graph: Any, sample: Sample) -> list[ModelUsage]:
    """Return the model usage of a started sample, from its checkpoint, subgraphs included."""
    there = await graph.aget_state(thread_config(sample), subgraphs=True)
    return [ModelUsage.read(each) for each in usage_so_far(there)]


def common_columns(sample: Sample, paid: list[ModelUsage], began: float) -> dict[str, Any]:
    """Return the columns that every line has, whatever its status."""
    models = merge_usage(paid)
    return {
        "id": sample.id,
        "scene": sample.scene,
        "attempt": sample.attempt,
        "seed": sample.seed,
        "status": "error",
        **dict.fromkeys(("reason", "message", "profile", "result")),
        **sample.columns,
        "usage": sum_usage(models),
        "cost_usd": total_cost(models),
        "seconds": round(time.monotonic() - began, 4),
        "models": [part.record() for part in models],
    }


class CallScope:
    """Settings, limits and retry messages of all model calls of one session."""

    def __init__(
        self,
        settings: CallSettings,
        limits: UsageLimits,
        display: ProgressDisplay,
        connections: int,
    ) -> None:
        # Shared by all samples: one may send several calls at once.
        at_once = asyncio.Semaphore(max(1, connections))
        self.settings = replace(settings, connections=at_once, holds=RateLimitHolds())
        self.limits = limits
        self.display = display
        self.reached: str | None = None
        self.retries = 0
        self.budget: Budget | None = None
        self._said = -RETRIES_SAID_S

    @property
    def counts(self) -> bool:
        """True if earlier usage of the run counts towards a limit."""
        return self.limits.token_limit is not None or self.limits.cost_limit is not None

    def make_settings(self) -> CallSettings:
        """Return the session's call settings, with budget gate and retry listener."""
        gate = self.budget or self.settings.gate
        return replace(self.settings, gate=gate, on_retry=self._retried)

    def begin(self, before: Tally) -> Budget:
        """Start the budget at what the run has used already, and return the budget."""
        used = before.usage["input_tokens"] + before.usage["output_tokens"]
        self.budget = Budget(self.limits, tokens=used, cost=before.cost_usd or 0.0)
        return self.budget

    def _retried(self, model: str, retry: RetryEvent) -> None:
        self.retries += 1
        if self.settings.on_retry is not None:
            self.settings.on_retry(model, retry)
        now = time.monotonic()
        if now - self._said >= RETRIES_SAID_S:
            # Many refusals at once give one line every few seconds.
            self._said = now
            why = f"HTTP {retry.failure.status}" if retry.failure.status else retry.failure.kind
            times = "retry" if self.retries == 1 else "retries"
            self.display.note(
                f"{self.retries} {times}; {model}: {why}, again in {retry.wait:.1f} s"
            )
