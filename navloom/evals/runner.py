"""Runner: executes a request in rounds, each a batch of samples through one graph.

A run may be killed at any moment:

- a paid step is in ``checkpoints.sqlite`` before the next begins (``durability="sync"``; one
  LangGraph thread for each sample, named by the sample's id);
- a finished sample is in ``samples.jsonl``, synced, before its thread is deleted. A kill in between
  leaves a thread without next steps, which is recorded without running anything, or a thread whose
  line exists, which is deleted;
- a finished sample's calls are in ``calls.sqlite`` before its line is written, those of unfinished
  samples within half a second (:mod:`navloom.evals.call_log_writer`);
- an exception from a graph becomes a line in ``errors.jsonl``. Its thread stays, so that a retry
  resumes from the last good step. Other samples are not affected;
- a folder that cannot be written ends the session with a ``RunError``, a model that refuses every
  call with a ``ModelRefusedError``. The same command resumes after the fix;
- a limit that is reached drains the session; the same command with a higher limit resumes it.

The first Ctrl-C or SIGTERM drains: each running sample finishes its step and stops at a checkpoint.
The second cancels.

Checkpoints use LangGraph's SQLite saver. Write-ahead logging with ``synchronous=NORMAL`` keeps all
committed steps of a killed process. A power cut may lose the last steps, which are repeated. A
damaged file is set aside with a note, and unfinished samples start over.
"""

from __future__ import annotations

import asyncio
import inspect
import sqlite3
import time
from collections import Counter, deque
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.runtime import RunControl

from navloom.errors import LimitReachedError, RunError, StoppedError
from navloom.evals import sample_runner
from navloom.evals.call_log_writer import CallLogWriter, open_call_log
from navloom.evals.progress import Summary, Tally
from navloom.evals.request import RunRequest
from navloom.evals.run_folder import RunFolder, holds_run, package_version
from navloom.evals.run_kinds import RunKind, RunPlan, get_kind
from navloom.evals.session import Job, Sample, Session, StopSignal
from navloom.evals.workers.worker_group import WorkerGroup, WorkerLostError, open_workers
from navloom.files import check_format, write_error, write_run_file
from navloom.graphs import agent_graph
from navloom.models.model_call import CallSettings
from navloom.models.model_spec import read_spec
from navloom.models.redaction import error_line
from navloom.models.spans import run_span
from navloom.models.usage import merge_usage, sum_usage, total_cost

MOST_DEATHS = 3
"""Workers that may be lost at one step of a sample. After the first loss the sample runs alone on
its worker, since several samples may have caused that loss."""
GRACE_S = 30.0
"""Seconds for running samples to finish their step when the session ends with an error."""


def run_request(request: RunRequest, out: Path | str, session: Session | None = None) -> Summary:
    """Run :func:`arun_request` without an event loop; same arguments, return value and errors."""
    return asyncio.run(arun_request(request, out, session))


async def arun_request(
    request: RunRequest, out: Path | str, session: Session | None = None
) -> Summary:
    """Execute a request of any kind, or resume its run; return the totals.

    Args:
        request: the request; its ``kind`` selects the registry entry.
        out: the run's folder.
        session: execution settings; defaults unless given.

    Raises:
        RunError: the folder cannot be used.
        UsageError: a sample is not in the run, or the request makes no sense.
        ModelError: a model cannot be named or used.
        DataError: a file that the request names is missing or broken; SceneError, of a scene.
    """
    kind, session, path = get_kind(request.kind), session or Session(), Path(out)
    holds_run(path)
    # Errors in the request are reported before a folder is created or locked.
    session.check_models(*request.models)
    if read_spec(request.models[0]).bare == "builtin/human":
        # A person at this terminal answers one question at a time.
        session = replace(
            session, max_connections=1, workers=None, cluster=None, open_cluster=False
        )
    plan = kind.plan(request, path, session.display.note)
    session.picked(plan.samples)
    asked, where = {**plan.request.record(), **plan.record}, plan.request.where()
    with RunFolder(path, kind=kind.name, request=asked, seed=request.seed, where=where) as folder:
        for name, data in plan.files.items():
            write_run_file(path / name, data)
        for line in plan.notes:
            session.display.note(line)
        if session.limit is not None and plan.limited:
            session.display.note(f"--limit {session.limit}: {plan.limited}")
        summary = await _rounds(kind, plan, folder, session)
        with check_format(f"{path}: a sample", f"one of `navloom {kind.command}`"):
            found = kind.finish(plan, path)
            found = await found if inspect.isawaitable(found) else found
        if found:
            summary = replace(summary, found=found)
            folder.write_summary(summary.record())
    return summary


async def _rounds(kind: RunKind, plan: RunPlan, folder: RunFolder, session: Session) -> Summary:
    """Run the samples of the plan until no round adds more, and return the run's summary."""
    seconds = 0.0
    if kind.more is None:
        folder.check_planned({sample.id for sample in plan.samples})
    while True:
        summary = await run_batch(folder, plan.samples, kind.job(plan), session)
        seconds += summary.session_seconds
        summary = replace(summary, session_seconds=round(seconds, 3))
        # The next round needs all results of this one: an error may become one when retried.
        if summary.left or summary.error or session.is_partial or kind.more is None:
            return summary
        with check_format(f"{folder.path}: a sample", f"one of `navloom {kind.command}`"):
            again = kind.more(plan, folder.path)
        if not again:
            return summary
        session = replace(session, retry=False)


async def run_batch(
    folder: RunFolder, samples: Sequence[Sample], job: Job, session: Session | None = None
) -> Summary:
    """Run the remaining samples of a run; call it again after any interruption.

    Args:
        folder: the run's folder, open.
        samples: all samples of the run, finished ones included. They run scene by scene, so that
            few scenes are in memory at once.
        job: handles each sample.
        session: execution settings, and the selection of samples.

    Returns:
        The run's totals, as written to ``summary.json``.

    Raises:
        RunError: the folder cannot be written, or two samples have one id.
        UsageError: a sample that the session names is not in the run.
        ModelRefusedError: the key, the model's name or the account is refused.
    """
    started = time.monotonic()
    session = session or Session()
    stop, display = session.stop or StopSignal(), session.display
    ids = {sample.id for sample in samples}
    if len(ids) != len(samples):
        raise RunError("two samples of one run have the same id: ids are unique")
    chosen = session.picked(samples)
    again = chosen & folder.error_ids
    if session.retry:
        folder.retry_errors()
    ended = chosen & (folder.finished | folder.error_ids)
    todo = [sample for sample in samples if sample.id in chosen - ended]
    todo.sort(key=lambda sample: (sample.scene, sample.id))
    most = session.max_connections
    scope = sample_runner.CallScope(session.settings, session.limits, display, most)
    scope.limits.check_price(job.model)
    display.start(len(chosen), len(ended))
    under_way = Tally()

    def summed() -> Summary:
        return Summary.of(
            folder.tally + under_way,
            samples=len(ids),
            left=len(ids - folder.finished - folder.error_ids),
            model=job.model,
            stopped=stop.requests > 0,
            seconds=time.monotonic() - started,
            limit=scope.reached,
        )

    try:
        if todo:
            with stop.on_signals(), run_span(folder.kind, folder.path.name, display.note):
                under_way = await _run(folder, todo, job, session, stop, scope, again)
    except BaseException:
        # Write the summary anyway; the original exception takes precedence over a full disk.
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
    stop: StopSignal,
    scope: sample_runner.CallScope,
    again: set[str],
) -> Tally:
    """Run the samples; return the usage of those that started and did not end."""
    note, retried = scope.display.note, again if session.retry else set()
    keeping = nullcontext() if session.no_calls else open_call_log(folder.path, note, retried)
    async with agent_graph.open_checkpoints(folder.checkpoints, note) as saver:
        graph, threads = job.build(saver), await agent_graph.started_threads(saver)
        stale = threads & folder.finished
        if session.go_back == "start":
            stale |= threads & again
        elif session.go_back == "reply":
            for name in sorted(threads & again):
                await agent_graph.drop_last_reply(saver, name)
        if threads - stale and folder.made_by != package_version("navloom"):
            # Another version's graphs may have other nodes, so no thread can be resumed.
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
                async with open_workers(folder, job, session, scope, len(todo)) as engine.crew:
                    await engine.run(todo, max(1, session.max_connections))
                return await engine.under_way(todo)
            finally:
                stop.forget(engine.stopped)


async def _broken(graph: Any, under_way: list[Sample], scope: sample_runner.CallScope) -> set[str]:
    """Return ids of the samples whose checkpoints cannot be read, with a note for each."""
    broken = set()
    for sample in under_way:
        try:
            await graph.aget_state(sample_runner.thread_config(sample), subgraphs=True)
        except sqlite3.Error:
            raise
        except Exception as error:
            # The file is untrusted: reading it may raise anything.
            broken.add(sample.id)
            scope.display.note(
                f"{sample.id} was under way and cannot be gone on with ({error_line(error)}): it"
                " starts over, and what it had used is not counted"
            )
    return broken


class SampleQueue:
    """Queue that hands out samples so that each worker has few scenes in memory.

    A worker stays with its scene while that has samples, then takes a scene that no worker has. If
    all scenes are taken, it joins the one with most samples left.

    Args:
        samples: all samples; those of a scene are handed out in this order.
        places: number of workers.
    """

    def __init__(self, samples: Sequence[Sample], places: int = 1) -> None:
        self._left: dict[str, deque[Sample]] = {}
        for sample in samples:
            self._left.setdefault(sample.scene, deque()).append(sample)
        self._fresh = deque(self._left)
        self._scene: list[str | None] = [None] * places

    def take(self, place: int) -> Sample | None:
        """Return the next sample for a worker; None if none is left."""
        scene = self._scene[place]
        if scene not in self._left:
            while self._fresh and self._fresh[0] not in self._left:
                self._fresh.popleft()
            if not self._left:
                return None
            most = max(self._left, key=lambda each: len(self._left[each]))
            scene = self._scene[place] = self._fresh.popleft() if self._fresh else most
        sample = self._left[scene].popleft()
        if not self._left[scene]:
            del self._left[scene]
        return sample


class _Engine:
    """One session over one folder: concurrent tasks that each take the next sample."""

    def __init__(
        self,
        folder: RunFolder,
        job: Job,
        graph: Any,
        saver: AsyncSqliteSaver,
        begun: set[str],
        stop: StopSignal,
        scope: sample_runner.CallScope,
        calls: CallLogWriter | None,
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
        self.tasks: list[asyncio.Task[None]] = []
        self.over = stop.requests > 0
        self.crew: WorkerGroup | None = None
        self.deaths: Counter[tuple[str, str]] = Counter()

    async def count_before(self, todo: list[Sample]) -> None:
        """Start the budget from earlier usage, that of unfinished samples included."""
        budget = self.scope.begin(self.folder.tally)
        for sample in todo:
            if sample.id in self.begun:
                for part in await sample_runner.usage_of_sample(self.graph, sample):
                    budget.count(part.model, part.record())

    async def under_way(self, todo: list[Sample]) -> Tally:
        """Return the usage of samples that have started and not ended, as it was paid for."""
        used = Tally()
        ended = self.folder.finished | self.folder.error_ids
        begun_ids = await agent_graph.started_threads(self.saver) - ended
        for sample in todo:
            if sample.id in begun_ids:
                models = merge_usage(await sample_runner.usage_of_sample(self.graph, sample))
                used += Tally(usage=sum_usage(models), cost_usd=total_cost(models), models=models)
        return used

    async def run(self, todo: list[Sample], most: int) -> None:
        """Run every sample to its end, at most ``most`` at once."""
        places = 1 if self.crew is None else self.crew.places
        waiting = SampleQueue(todo, places)
        seconds = self.scope.limits.time_limit
        clock = seconds and asyncio.get_running_loop().call_later(
            seconds, self._limited, f"--time-limit {seconds:g} s is reached"
        )
        self.tasks = [
            asyncio.create_task(self._work(waiting, k % places))
            for k in range(min(most, len(todo)))
        ]
        try:
            done, going = await asyncio.wait(self.tasks, return_when=asyncio.FIRST_EXCEPTION)
            if going:
                # A task failed. Cancelled at once, the others could leave half a transaction.
                self._drain()
                await asyncio.wait(going, timeout=GRACE_S)
        finally:
            if clock:
                clock.cancel()
            for task in self.tasks:
                task.cancel()
            await asyncio.gather(*self.tasks, return_exceptions=True)
        for task in done:
            if not task.cancelled() and (error := task.exception()) is not None:
                raise error

    def _drain(self) -> None:
        self.over = True
        for control in self.controls:
            control.request_drain("stopped")
        if self.crew is not None:
            self.crew.drain()

    def _limited(self, said: str) -> None:
        if self.scope.reached is None:
            self.scope.reached = said
            self.display.note(f"{said}: {len(self.controls)} samples finish the step they are at")
            self._drain()

    def stopped(self, requests: int) -> None:
        """Stop on Ctrl-C: the first lets current steps finish, the second cancels them."""
        if requests == 1:
            self.display.note(
                f"stopping: {len(self.controls)} samples finish the step they are at"
                " (Ctrl-C again stops at once; nothing that is finished is lost)"
            )
            self._drain()
        else:
            for task in self.tasks:
                task.cancel()

    async def _work(self, waiting: SampleQueue, place: int) -> None:
        while not self.over and (sample := waiting.take(place)) is not None:
            await self._sample(sample, place)

    def _around(self, sample: Sample) -> CallSettings:
        """Return a sample's settings for model calls: epoch, call listener, stop check."""
        around = self.scope.make_settings()
        around = replace(around, epoch=sample.epoch or around.epoch)
        kept = self.calls and self.calls.listener(sample.id, around)
        return replace(around, on_call=kept or around.on_call, stopping=lambda: self.over)

    async def _sample(self, sample: Sample, place: int) -> None:
        control = RunControl()
        self.controls.add(control)
        try:
            line = await self._carried(sample, place, control)
            if self.calls is not None:
                await self.calls.settle(sample.id)
            if line["status"] == "error":
                self.folder.add_error(line)
            else:
                self.folder.add_sample(line)
        except sample_runner.DRAINED:
            return
        except LimitReachedError as error:
            self._limited(str(error))
        except OSError as error:
            raise write_error(self.folder.path, error) from error
        else:
            self.display.step(self.folder.tally)
            if line["status"] != "error" and not (
                self.crew is not None and await self.crew.written(sample.id)
            ):
                await self.saver.adelete_thread(sample.id)
        finally:
            self.controls.discard(control)

    async def _carried(self, sample: Sample, place: int, control: RunControl) -> dict[str, Any]:
        """Return a sample's line, unwritten; if its worker is lost, run it again.

        Raises:
            RunError: no worker is left; others as :func:`navloom.evals.sample_runner.run_sample`.
        """
        resumed = sample.id in self.begun
        if self.crew is None:
            around = self._around(sample)
            return await sample_runner.run_sample(
                self.job, sample, self.graph, settings=around, control=control, resumed=resumed
            )
        epoch = sample.epoch or self.scope.settings.epoch
        keep = None if self.calls is None else partial(self.calls.keep, sample.id, epoch)
        began, deaths = time.monotonic(), 0
        while True:
            try:
                return await self.crew.run(
                    place, sample, alone=deaths > 0, keep=keep, resumed=resumed
                )
            except WorkerLostError as error:
                if self.over:
                    raise StoppedError(str(error)) from error
                at = sample.id, await agent_graph.last_checkpoint(self.saver, sample.id)
                self.deaths[at] += 1
                deaths, resumed = self.deaths[at], resumed or at[1] != ""
                if deaths >= MOST_DEATHS:
                    paid = (
                        await sample_runner.usage_of_sample(self.graph, sample) if resumed else []
                    )
                    said = f"{MOST_DEATHS} workers were lost at one step of it: {error}"
                    line = sample_runner.common_columns(sample, paid, began)
                    return line | {"reason": type(error).__name__, "message": said}
