"""Run what a request asks for: its plan, its rounds, and each batch of samples through one graph.

A run is safe against a kill at any moment. What survives, step by step:

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
from navloom.evals.keep_calls import CallKeeper, keeping_calls
from navloom.evals.kinds import Kind, Plan, get_kind
from navloom.evals.one_sample import DRAINED, CallScope, line_of, paid_by, run_sample, thread_of
from navloom.evals.progress import Summary, Tally
from navloom.evals.request import Request
from navloom.evals.run_folder import RunFolder, holds_run, package_version
from navloom.evals.session import Job, Sample, Session, Stop
from navloom.evals.workers.crew import Crew, WorkerLostError, hired
from navloom.files import cannot_write, formed, write_whole
from navloom.graphs.agent import begun, forget_last_reply, last_step, open_checkpoints
from navloom.models.call import CallSettings
from navloom.models.secrets import one_line
from navloom.models.spans import run_span
from navloom.models.spec import read_spec
from navloom.models.usage import merged, total_cost, usage_in

MOST_DEATHS = 3
"""Workers that a sample may take with it at one step; but for the first they have no other sample,
for it is not known whose fault that one was."""
GRACE_S = 30.0
"""How long samples under way may take to finish their step when the session ends for a fault."""


def run_kind(request: Request, out: Path | str, session: Session | None = None) -> Summary:
    """:func:`arun_kind` for callers without an event loop: the same arguments and errors."""
    return asyncio.run(arun_kind(request, out, session))


async def arun_kind(request: Request, out: Path | str, session: Session | None = None) -> Summary:
    """Make a run, of whatever kind, or go on with one that was stopped.

    Args:
        request: what it is to be; its ``kind`` says by which entry.
        out: the run's folder.
        session: how to go through it; one of its own unless given.

    Raises:
        RunError: the folder cannot be used.
        UsageError: a sample is not in the run, or the request makes no sense.
        ModelError: a model cannot be named or used.
        DataError: a file that the request names is missing or broken; SceneError, of a scene.
    """
    kind, session, path = get_kind(request.kind), session or Session(), Path(out)
    holds_run(path)
    # Whatever is wrong with the request is said before a folder is made or claimed for it.
    session.check_models(*request.models)
    if read_spec(request.models[0]).bare == "builtin/human":
        # A person answers one question at a time, and sits here.
        session = replace(
            session, max_connections=1, workers=None, cluster=None, open_cluster=False
        )
    plan = kind.plan(request, path, session.display.note)
    session.picked(plan.samples)
    asked, where = {**plan.request.record(), **plan.record}, plan.request.where()
    with RunFolder(path, kind=kind.name, request=asked, seed=request.seed, where=where) as folder:
        for name, data in plan.files.items():
            write_whole(path / name, data)
        for line in plan.notes:
            session.display.note(line)
        if session.limit is not None and plan.limited:
            session.display.note(f"--limit {session.limit}: {plan.limited}")
        summary = await _rounds(kind, plan, folder, session)
        with formed(f"{path}: a sample", f"one of `navloom {kind.command}`"):
            found = kind.finish(plan, path)
            found = await found if inspect.isawaitable(found) else found
        if found:
            summary = replace(summary, found=found)
            folder.write_summary(summary.record())
    return summary


async def _rounds(kind: Kind, plan: Plan, folder: RunFolder, session: Session) -> Summary:
    """Run the samples there are, until no round has more."""
    seconds = 0.0
    if kind.more is None:
        folder.holds_only({sample.id for sample in plan.samples})
    while True:
        summary = await run_batch(folder, plan.samples, kind.job(plan), session)
        seconds += summary.session_seconds
        summary = replace(summary, session_seconds=round(seconds, 3))
        # The next plan needs all of this one: an error may become a result when retried.
        if summary.left or summary.error or session.picks or kind.more is None:
            return summary
        with formed(f"{folder.path}: a sample", f"one of `navloom {kind.command}`"):
            again = kind.more(plan, folder.path)
        if not again:
            return summary
        session = replace(session, retry=False)


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
            with stop.at_signals(), run_span(folder.kind, folder.path.name, display.note):
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
                async with hired(folder, job, session, scope, len(todo)) as engine.crew:
                    await engine.run(todo, max(1, session.max_connections))
                return await engine.under_way(todo)
            finally:
                stop.forget(engine.stopped)


async def _broken(graph: Any, under_way: list[Sample], scope: CallScope) -> set[str]:
    """Ids of the samples of which what is kept cannot be read; it is said."""
    broken = set()
    for sample in under_way:
        try:
            await graph.aget_state(thread_of(sample), subgraphs=True)
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


class Waiting:
    """Hands out samples so that each place has few scenes in memory.

    A place keeps to its scene while that has samples, then takes one that nobody has begun; where
    all have been begun, it helps with the one that has most left.

    Args:
        samples: all that wait; those of a scene are handed out in this order.
        places: how many take them.
    """

    def __init__(self, samples: Sequence[Sample], places: int = 1) -> None:
        self._left: dict[str, deque[Sample]] = {}
        for sample in samples:
            self._left.setdefault(sample.scene, deque()).append(sample)
        self._fresh = deque(self._left)
        self._scene: list[str | None] = [None] * places

    def take(self, place: int) -> Sample | None:
        """The next sample for a place; None where none is left."""
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
    """One session over one folder: so many tasks that each take a sample in turn."""

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
        self.tasks: list[asyncio.Task[None]] = []
        self.over = stop.requests > 0
        self.crew: Crew | None = None
        self.deaths: Counter[tuple[str, str]] = Counter()

    async def count_before(self, todo: list[Sample]) -> None:
        """Begin the budget with what the run has used: also of samples that are not finished."""
        budget = self.scope.begin(self.folder.tally)
        for sample in todo:
            if sample.id in self.begun:
                for part in await paid_by(self.graph, sample):
                    budget.count(part.model, part.record())

    async def under_way(self, todo: list[Sample]) -> Tally:
        """What was used by samples that have begun and not ended: it was paid for all the same."""
        used = Tally()
        ended = self.folder.finished | self.folder.errored
        begun_ids = await begun(self.saver) - ended
        for sample in todo:
            if sample.id in begun_ids:
                models = merged(await paid_by(self.graph, sample))
                used += Tally(usage=usage_in(models), cost_usd=total_cost(models), models=models)
        return used

    async def run(self, todo: list[Sample], most: int) -> None:
        """Take every sample to its end, at most so many at once."""
        places = 1 if self.crew is None else self.crew.places
        waiting = Waiting(todo, places)
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
                # One has failed for good. Cut short, the others would leave half a transaction.
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
        """Finish the steps under way at the first request, cut them short at the second."""
        if requests == 1:
            self.display.note(
                f"stopping: {len(self.controls)} samples finish the step they are at"
                " (Ctrl-C again stops at once; nothing that is finished is lost)"
            )
            self._drain()
        else:
            for task in self.tasks:
                task.cancel()

    async def _work(self, waiting: Waiting, place: int) -> None:
        while not self.over and (sample := waiting.take(place)) is not None:
            await self._sample(sample, place)

    def _around(self, sample: Sample) -> CallSettings:
        """What stands around the calls of a sample."""
        around = self.scope.of_calls()
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
        except DRAINED:
            return
        except LimitReachedError as error:
            self._limited(str(error))
        except OSError as error:
            raise cannot_write(self.folder.path, error) from error
        else:
            self.display.step(self.folder.tally)
            if line["status"] != "error" and not (
                self.crew is not None and await self.crew.written(sample.id)
            ):
                await self.saver.adelete_thread(sample.id)
        finally:
            self.controls.discard(control)

    async def _carried(self, sample: Sample, place: int, control: RunControl) -> dict[str, Any]:
        """A sample's line, unwritten; where its worker is lost it is asked for again.

        Raises:
            RunError: no worker is left; else as :func:`navloom.evals.one_sample.run_sample`.
        """
        resumed = sample.id in self.begun
        if self.crew is None:
            around = self._around(sample)
            return await run_sample(
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
                at = sample.id, await last_step(self.saver, sample.id)
                self.deaths[at] += 1
                deaths, resumed = self.deaths[at], resumed or at[1] != ""
                if deaths >= MOST_DEATHS:
                    paid = await paid_by(self.graph, sample) if resumed else []
                    said = f"{MOST_DEATHS} workers were lost at one step of it: {error}"
                    line = line_of(sample, paid, began)
                    return line | {"reason": type(error).__name__, "message": said}
