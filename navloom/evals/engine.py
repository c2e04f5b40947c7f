"""The engine of every batch: many samples through one graph, safe against a kill at any moment.

What survives, step by step:

- a step that a model was paid for is in ``checkpoints.sqlite`` before the next begins
  (``durability="sync"``, one thread a sample, the sample's id its name);
- a finished sample is in ``samples.jsonl``, synced, before its thread is deleted; a kill in between
  leaves a thread without next steps, which is recorded without running anything, or one whose line
  is there already, which is swept away;
- a finished sample's calls are in ``calls.sqlite`` before its line is written, those of samples
  under way half a second after they ended (:mod:`navloom.evals.keep_calls`);
- an exception from a graph is a line in ``errors.jsonl``; its thread stays, so that a retry goes on
  from the last good step. The other samples are not disturbed;
- a folder that cannot be written ends the session with one ``RunError``, a model that refuses
  every call with one ``ModelRefusedError``; the same command goes on once that is mended;
- a limit that is reached drains the session; the same command with a higher one goes on.

The first Ctrl-C or SIGTERM drains: each sample under way finishes its step and stops at a
checkpoint. The second cancels.

Checkpoints are LangGraph's own SQLite saver: write-ahead logging with ``synchronous=NORMAL`` keeps
every committed step of a killed process; a power cut may lose the last ones, which are done again.
A file that other hands changed is set aside, which is said; what was under way starts over.
"""

from __future__ import annotations

import asyncio
import errno
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import Any

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.errors import GraphDrained
from langgraph.runtime import RunControl

from navloom.errors import LimitReachedError, ModelRefusedError, RunError, StoppedError
from navloom.evals.keep_calls import CallKeeper, keeping_calls
from navloom.evals.made_with import package_version
from navloom.evals.progress import Summary, Tally
from navloom.evals.run_folder import RunFolder
from navloom.evals.session import CallScope, Job, Sample, Session, Stop
from navloom.files import cannot_write
from navloom.graphs.calling import paid_so_far
from navloom.graphs.checkpoints import begun, forget_last_reply, open_checkpoints
from navloom.line_file import encode_line
from navloom.models.call import CallSettings, call_settings
from navloom.models.secrets import one_line
from navloom.models.usage import ModelUsage, merged, total_cost, usage_in

_FOLDER_TROUBLE = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG}
_DRAINED = (GraphDrained, StoppedError)
_NOT_ITS_OWN = (*_DRAINED, LimitReachedError, RunError, ModelRefusedError, sqlite3.Error)
"""What ends a session, and not the one sample in which it came up."""
GRACE_S = 30.0
"""How long samples under way may take to finish their step when the session ends for a fault."""


async def run_batch(
    folder: RunFolder, samples: Sequence[Sample], job: Job, session: Session | None = None
) -> Summary:
    """Run what is left of a run: call it again after anything at all, and it goes on.

    Args:
        folder: the run's folder, open.
        samples: all samples of the run, also those that are finished. They run scene after scene,
            so that few scenes are in memory at once.
        job: what to do with each.
        session: how, and which samples; the rest stays for another one.

    Returns:
        The run's totals, as written to ``summary.json``.

    Raises:
        RunError: the folder cannot be written, or two samples have one id.
        UsageError: a sample that the session names is not in the run.
        ModelRefusedError: the key, the model's name or the account is refused.
    """
    started = time.monotonic()
    session = session or Session()
    stop, display = session.stop or Stop(), session.display
    ids = {sample.id for sample in samples}
    if len(ids) != len(samples):
        raise RunError("two samples of one run have the same id: ids are unique")
    chosen = session.picked(samples)
    again = chosen & folder.errored
    if session.retry:
        folder.retry_errors()
    ended = chosen & (folder.finished | folder.errored)
    todo = [sample for sample in samples if sample.id in chosen - ended]
    todo.sort(key=lambda sample: (sample.scene, sample.id))
    scope = CallScope(session.settings, session.limits, display, session.max_connections)
    scope.limits.check_price(job.model)
    display.start(len(chosen), len(ended))
    under_way = Tally()

    def summed() -> Summary:
        return Summary.of(
            folder.tally + under_way,
            samples=len(ids),
            left=len(ids - folder.finished - folder.errored),
            model=job.model,
            stopped=stop.requests > 0,
            seconds=time.monotonic() - started,
            limit=scope.reached,
        )

    try:
        if todo:
            with stop.at_signals():
                under_way = await _run(folder, todo, job, session, stop, scope, again)
    except BaseException:
        # What was done is said all the same; what ends the session goes before a full disk.
        with suppress(RunError, OSError):
            folder.write_summary(summed().record())
        raise
    finally:
        display.close()
    summary = summed()
    folder.write_summary(summary.record())
    return summary


async def _run(
    folder: RunFolder,
    todo: list[Sample],
    job: Job,
    session: Session,
    stop: Stop,
    scope: CallScope,
    again: set[str],
) -> Tally:
    """Run them; what samples have used that were begun and did not end is returned."""
    note, retried = scope.display.note, again if session.retry else set()
    keeping = nullcontext() if session.no_calls else keeping_calls(folder.path, note, retried)
    async with open_checkpoints(folder.checkpoints, note) as saver:
        graph, threads = job.build(saver), await begun(saver)
        stale = threads & folder.finished
        if session.go_back == "start":
            stale |= threads & again
        elif session.go_back == "reply":
            for name in sorted(threads & again):
                await forget_last_reply(saver, name)
        if threads - stale and folder.made_by != package_version("navloom"):
            # Another version's graphs have other nodes: nothing can go on from between them.
            scope.display.note(
                f"{len(threads - stale)} samples were under way with navloom {folder.made_by}:"
                " they start over, and replies that are in the cache are not paid for again"
            )
            stale = threads
        stale |= await _broken(graph, [each for each in todo if each.id in threads - stale], scope)
        for name in sorted(stale):
            await saver.adelete_thread(name)
        threads -= stale
        with keeping as calls:
            engine = _Engine(folder, job, graph, saver, threads, stop, scope, calls)
            stop.listen(engine.stopped)
            try:
                if scope.counts:
                    await engine.count_before(todo)
                await engine.run(todo, max(1, session.max_connections))
                return await engine.under_way(todo)
            finally:
                stop.forget(engine.stopped)


async def _broken(graph: Any, under_way: list[Sample], scope: CallScope) -> set[str]:
    """Ids of the samples of which what is kept cannot be read; it is said."""
    broken = set()
    for sample in under_way:
        try:
            await graph.aget_state(_thread(sample), subgraphs=True)
        except sqlite3.Error:
            raise
        except Exception as error:
            # Anything may stand in a file; what reads it raises whatever it stumbles over.
            broken.add(sample.id)
            scope.display.note(
                f"{sample.id} was under way and cannot be gone on with ({one_line(error)}): it"
                " starts over, and what it had used is not counted"
            )
    return broken


class _Engine:
    """One session over one folder: workers that take samples in turn."""

    def __init__(
        self,
        folder: RunFolder,
        job: Job,
        graph: Any,
        saver: AsyncSqliteSaver,
        begun: set[str],
        stop: Stop,
        scope: CallScope,
        calls: CallKeeper | None,
    ) -> None:
        self.folder = folder
        self.job = job
        self.graph = graph
        self.saver = saver
        self.begun = begun
        self.scope = scope
        self.calls = calls
        self.display = scope.display
        self.controls: set[RunControl] = set()
        self.workers: list[asyncio.Task[None]] = []
        self.over = stop.requests > 0

    async def count_before(self, todo: list[Sample]) -> None:
        """Begin the budget with what the run has used: also of samples that are not finished."""
        budget = self.scope.begin(self.folder.tally)
        for sample in todo:
            if sample.id in self.begun:
                for part in await _paid(self.graph, sample):
                    budget.count(part.model, part.record())

    async def under_way(self, todo: list[Sample]) -> Tally:
        """What was used by samples that have begun and not ended: it was paid for all the same."""
        used = Tally()
        ended = self.folder.finished | self.folder.errored
        begun_ids = await begun(self.saver) - ended
        for sample in todo:
            if sample.id in begun_ids:
                models = merged(await _paid(self.graph, sample))
                used += Tally(usage=usage_in(models), cost_usd=total_cost(models), models=models)
        return used

    async def run(self, todo: list[Sample], most: int) -> None:
        """Take every sample to its end, at most so many at once."""
        waiting = iter(todo)
        seconds = self.scope.limits.time_limit
        clock = seconds and asyncio.get_running_loop().call_later(
            seconds, self._limited, f"--time-limit {seconds:g} s is reached"
        )
        self.workers = [
            asyncio.create_task(self._work(waiting)) for _ in range(min(most, len(todo)))
        ]
        try:
            done, going = await asyncio.wait(self.workers, return_when=asyncio.FIRST_EXCEPTION)
            if going:
                # One has failed for good. Cut short, the others would leave half a transaction.
                self._drain()
                await asyncio.wait(going, timeout=GRACE_S)
        finally:
            if clock:
                clock.cancel()
            for worker in self.workers:
                worker.cancel()
            await asyncio.gather(*self.workers, return_exceptions=True)
        for worker in done:
            if not worker.cancelled() and (error := worker.exception()) is not None:
                raise error

    def _drain(self) -> None:
        self.over = True
        for control in self.controls:
            control.request_drain("stopped")

    def _limited(self, said: str) -> None:
        if self.scope.reached is None:
            self.scope.reached = said
            self.display.note(f"{said}: {len(self.controls)} samples finish the step they are at")
            self._drain()

    def stopped(self, requests: int) -> None:
        """Finish the steps under way at the first request, cut them short at the second."""
        if requests == 1:
            self.display.note(
                f"stopping: {len(self.controls)} samples finish the step they are at"
                " (Ctrl-C again stops at once; nothing that is finished is lost)"
            )
            self._drain()
        else:
            for worker in self.workers:
                worker.cancel()

    async def _work(self, waiting: Iterator[Sample]) -> None:
        for sample in waiting:
            if self.over:
                return
            await self._sample(sample)

    def _around(self, sample: Sample) -> CallSettings:
        """What stands around the calls of a sample."""
        around = self.scope.of_calls()
        around = replace(around, epoch=sample.epoch or around.epoch)
        kept = self.calls and self.calls.listener(sample.id, around)
        return replace(around, on_call=kept or around.on_call, stopping=lambda: self.over)

    async def _sample(self, sample: Sample) -> None:
        control = RunControl()
        self.controls.add(control)
        try:
            line = await run_sample(
                self.job,
                sample,
                self.graph,
                settings=self._around(sample),
                control=control,
                resumed=sample.id in self.begun,
            )
            if self.calls is not None:
                await self.calls.settle(sample.id)
            if line["status"] == "error":
                self.folder.add_error(line)
            else:
                self.folder.add_sample(line)
        except _DRAINED:
            return
        except LimitReachedError as error:
            self._limited(str(error))
        except OSError as error:
            raise cannot_write(self.folder.path, error) from error
        else:
            self.display.step(self.folder.tally)
            if line["status"] != "error":
                await self.saver.adelete_thread(sample.id)
        finally:
            self.controls.discard(control)


async def run_sample(
    job: Job,
    sample: Sample,
    graph: Any,
    *,
    settings: CallSettings | None = None,
    control: RunControl | None = None,
    resumed: bool = False,
) -> dict[str, Any]:
    """One sample through its graph: the line of ``samples.jsonl`` or ``errors.jsonl``, unwritten.

    Args:
        job: what is done with it.
        sample: which one.
        graph: what ``job.build`` gave, with a checkpointer or without.
        settings: what stands around its calls.
        control: drains it from outside, at its next step.
        resumed: whether the checkpointer holds it already; then it goes on from there.

    Returns:
        Its columns; ``status`` is ``ok``, ``failed``, or ``error`` where the machinery broke.

    Raises:
        GraphDrained: it was drained; its checkpoint holds what is done. Likewise StoppedError,
            where a call failed while the session ends.
        LimitReachedError: a limit of the session is reached.
        ModelRefusedError: the key, the model's name or the account is refused: it would be for
            every sample that is left, at a call each.
        RunError: what is beside the sample cannot be written; likewise ``sqlite3.Error``, and
            ``OSError`` where there is no room.
    """
    settings, began = settings or CallSettings(), time.monotonic()
    lost: list[ModelUsage] = []
    try:
        with call_settings(settings, lost=lost, epoch=sample.epoch or settings.epoch):
            state = await _final_state(job, sample, graph, control, resumed=resumed)
        paid = [ModelUsage.read(each) for each in state.get("paid", ())]
        line = _line(sample, [*paid, *lost], began) | job.record(sample, state)
        if line["status"] not in ("ok", "failed"):
            raise ValueError(f"the graph ended without a status, got {line['status']!r}")
        encode_line(line)
    except _NOT_ITS_OWN:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _FOLDER_TROUBLE:
            raise
        said, paid = one_line(error), []
        if graph.checkpointer:
            try:
                paid = await _paid(graph, sample)
            except _NOT_ITS_OWN:
                raise
            except Exception as broken:
                said += f" What it had used cannot be read: {one_line(broken)}"
        line = _line(sample, [*paid, *lost], began)
        line |= {"reason": type(error).__name__, "message": said}
    return line


def _thread(sample: Sample) -> dict[str, Any]:
    return {"configurable": {"thread_id": sample.id}}


async def _final_state(
    job: Job, sample: Sample, graph: Any, control: RunControl | None, *, resumed: bool
) -> Mapping[str, Any]:
    """The final state of a sample's graph, run from where it stands."""
    entry: dict[str, Any] | None = None
    if resumed:
        there = await graph.aget_state(_thread(sample))
        # Not `next`: it leaves out tasks that ended and whose step is not closed yet.
        if not there.tasks:
            values: Mapping[str, Any] = there.values
            return values
    else:
        entry = job.input(sample)
    state: Mapping[str, Any] = await graph.ainvoke(
        entry,
        _thread(sample),
        context=job.context(sample),
        durability="sync" if graph.checkpointer else None,
        control=control,
        # All channels, as a state read back from its checkpoint has them.
        output_keys=graph.stream_channels_list,
    )
    return state


async def _paid(graph: Any, sample: Sample) -> list[ModelUsage]:
    """What a sample that has begun has used, graphs within its graph included."""
    there = await graph.aget_state(_thread(sample), subgraphs=True)
    return [ModelUsage.read(each) for each in paid_so_far(there)]


def _line(sample: Sample, paid: list[ModelUsage], began: float) -> dict[str, Any]:
    """The columns that every line has, whatever became of the sample."""
    models = merged(paid)
    return {
        "id": sample.id,
        "scene": sample.scene,
        "attempt": sample.attempt,
        "seed": sample.seed,
        "status": "error",
        "reason": None,
        "message": None,
        "profile": None,
        "result": None,
        **sample.columns,
        "usage": usage_in(models),
        "cost_usd": total_cost(models),
        "seconds": round(time.monotonic() - began, 4),
        "models": [part.record() for part in models],
    }
