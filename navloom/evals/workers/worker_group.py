"""The driver's side of the workers: start them, assign samples, and replace those that are lost.

All lasting state is here, in the process that holds the run's folder: the remaining limits, the
calls, the cache, how long a model asked to wait. A lost worker loses only the steps in progress.
The caller that waits for its sample gets an error and runs the sample again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from langgraph.errors import GraphDrained

from navloom.errors import LimitReachedError, ModelRefusedError, NavloomError, RunError, UsageError
from navloom.evals.call_log_writer import CallEntry
from navloom.evals.run_folder import RunFolder, package_version, read_run
from navloom.evals.sample_runner import CallScope
from navloom.evals.session import Job, Sample, Session
from navloom.evals.workers import worker_protocol
from navloom.evals.workers.worker_pools import WorkerPeer, WorkerPool, open_pool
from navloom.models.call_failure import CallFailure
from navloom.models.local_gguf import free_memory, size_text
from navloom.models.model_call import RateLimitHolds, RetryEvent
from navloom.models.model_registry import resolve_model
from navloom.models.model_spec import origins_in
from navloom.models.response_cache import ResponseCache
from navloom.models.spans import END_S, trace_context

_MOST_FAILED = 3
"""Number of starts in a row that may fail at one place."""
GIVEN = ("*.json", "samples.jsonl")
"""Patterns of the run's files that a worker without access to its folder may ask for."""
_MOST_FILE = 32 * 1024 * 1024
_ENDED: dict[str, Callable[[str], NavloomError]] = {
    "limit": LimitReachedError,
    "refused": ModelRefusedError,
    "run": RunError,
}


Keep = Callable[[CallEntry], None]


class WorkerLostError(RunError):
    """The worker that ran a sample is gone."""


@dataclass(eq=False)
class _Member:
    """A worker that is ready."""

    peer: WorkerPeer
    shares: bool = False
    lines: dict[str, asyncio.Future[dict[str, Any]]] = field(default_factory=dict)
    keep: dict[str, Keep] = field(default_factory=dict)
    heard: worker_protocol.CallDecoder = field(default_factory=worker_protocol.CallDecoder)
    held: dict[int, str] = field(default_factory=dict)

    async def say(self, say: str, **words: Any) -> None:
        await self.peer.tell(worker_protocol.encode_message({"say": say, **words}))


class WorkerGroup:
    """The workers of one session.

    Args:
        pool: starts the workers.
        places: the number of workers.
        folder: the run's folder.
        scope: budget, cache and display of the session's calls.
        session: the session's settings.
        models: the models that the run may call.

    Attributes:
        places: the number of workers.
    """

    def __init__(
        self,
        pool: WorkerPool,
        places: int,
        folder: RunFolder,
        scope: CallScope,
        session: Session,
        models: Sequence[str],
    ) -> None:
        self._pool, self._folder, self._scope, self._session = pool, folder, scope, session
        self._models = models
        self._numbers = count(1)
        self._over = False
        self._said: set[str] = set()
        self._apart = False
        self._holds = RateLimitHolds()
        self.places = places
        self._members: dict[int, _Member] = {}
        self._carriers: dict[str, _Member] = {}
        self._listening: set[asyncio.Task[None]] = set()
        self._filling = {k: asyncio.create_task(self._fill(k)) for k in range(places)}
        self._share = max(1, session.max_connections // places)

    async def run(
        self, place: int, sample: Sample, *, alone: bool, keep: Keep | None, resumed: bool
    ) -> dict[str, Any]:
        """Run a sample on a worker.

        Args:
            place: the place of the worker to use.
            sample: the sample.
            alone: whether to start a worker for this sample alone.
            keep: called with each of its model calls.
            resumed: whether the run has checkpoints of it.

        Returns:
            Its line, unwritten.

        Raises:
            WorkerLostError: its worker is gone.
            RunError: no worker is left; else as
                :func:`navloom.evals.sample_runner.run_sample`.
        """
        own = await self._alone() if alone else None
        member = own or await self._at(place)
        try:
            line = member.lines[sample.id] = asyncio.get_running_loop().create_future()
            if keep is not None:
                member.keep[sample.id] = keep
            # Other workers do not have its checkpoints.
            await member.say("sample", id=sample.id, resumed=resumed and member.shares)
            found: dict[str, Any] = await line
            if own is None and member.shares:
                self._carriers[sample.id] = member
            return found
        finally:
            member.lines.pop(sample.id, None)
            member.keep.pop(sample.id, None)
            member.heard.forget(sample.id)
            if own is not None:
                await own.peer.end()

    async def written(self, sample: str) -> bool:
        """Tell a sample's worker to delete the sample's checkpoints; return False if none does."""
        member = self._carriers.pop(sample, None)
        if member is None or member not in self._members.values():
            return False
        await member.say("written", id=sample)
        return True

    def drain(self) -> None:
        """Stop all samples at their next step."""
        self._over = True
        for member in self._members.values():
            self._soon(member.say("drain"))

    async def close(self) -> None:
        """End all workers."""
        self._over = True
        for task in self._filling.values():
            task.cancel()
        for member in [*self._members.values()]:
            with suppress(TimeoutError):
                await asyncio.wait_for(member.say("end"), 1.0)
        if self._listening:
            # Workers end by themselves once checkpoints are deleted and traces are sent.
            await asyncio.wait([*self._listening], timeout=END_S)
        for task in [*self._listening]:
            task.cancel()
        await asyncio.gather(*self._filling.values(), *self._listening, return_exceptions=True)

    # --- places and their workers ----------------------------------------------------------------

    async def _at(self, place: int) -> _Member:
        """Return the worker at a place, or any ready worker if the place stays empty.

        Raises:
            RunError: no worker is ready, and none will be.
        """
        await asyncio.wait([self._filling[place]])
        if (member := self._members.get(place)) is not None:
            return member
        going = [task for task in self._filling.values() if not task.done()]
        while going and not self._members:
            await asyncio.wait(going, return_when=asyncio.FIRST_COMPLETED)
            going = [task for task in going if not task.done()]
        if not self._members:
            raise self._filling[place].exception() or RunError("no worker is left")
        return min(self._members.values(), key=lambda each: len(each.lines))

    async def _fill(self, place: int) -> None:
        """Start a worker at a place; try again if it is lost before it is ready.

        Raises:
            RunError: no worker can be started.
        """
        for tried in range(1, _MOST_FAILED + 1):
            try:
                await self._started(place)
                return
            except WorkerLostError as error:
                if tried == _MOST_FAILED:
                    self._say_once(f"{error}: its place stays empty")
                    raise
            except RunError as error:
                self._say_once(str(error))
                raise

    async def _alone(self) -> _Member | None:
        """Start a worker without a place; return None if none becomes ready."""
        for _ in range(_MOST_FAILED):
            with suppress(WorkerLostError):
                return await self._started()
        return None

    async def _started(self, place: int | None = None) -> _Member:
        """Start a worker, wait until it is ready, and return it as a member of the group.

        Raises:
            WorkerLostError: it was gone before it was ready.
            RunError: it cannot do this run.
        """
        peer = await self._pool.spawn(next(self._numbers))
        member = _Member(peer)
        try:
            await peer.tell(worker_protocol.encode_message(self._begin()))
            while (text := await peer.hear()) is not None:
                words = worker_protocol.decode_message(text)
                if words["say"] == "ready":
                    break
                if words["say"] == "cannot":
                    raise RunError(f"{peer.name}: {words['said']}")
                await self._heard(member, words)
            else:
                raise WorkerLostError(f"{peer.name} {peer.why()} before it was ready")
        except BaseException:
            await peer.end()
            raise
        member.shares = words["shares"]
        if not member.shares and not self._apart:
            self._apart = True
            self._scope.display.note(self._risk(peer.name))
        if place is not None:
            self._members[place] = member
        task = asyncio.create_task(self._listen(member, place))
        self._listening.add(task)
        task.add_done_callback(self._listening.discard)
        for model, seconds in self._holds.left().items():
            self._soon(member.say("hold", model=model, seconds=seconds))
        if self._over:
            self._soon(member.say("drain"))
        return member

    def _begin(self) -> worker_protocol.Words:
        settings = self._scope.settings
        cache = settings.cache
        return {
            "say": "begin",
            "navloom": package_version("navloom"),
            "machine": worker_protocol.machine_id(),
            "apart": self._pool.apart,
            "path": str(self._folder.path.absolute()),
            "lock": (self._folder.path / ".lock").read_text(errors="replace"),
            "hash": read_run(self._folder.path)["request_hash"],
            "cwd": str(Path.cwd()),
            "origins": origins_in(self._models),
            "trace": trace_context(),
            "settings": {
                # Other kinds of cache have no folder.
                "cache": str(cache.folder) if isinstance(cache, ResponseCache) else None,
                **{name: getattr(settings, name) for name in worker_protocol.SETTINGS},
                "connections": self._share,
                "counts": self._scope.counts,
                "keeps_calls": not self._session.no_calls,
            },
        }

    def _risk(self, name: str) -> str:
        """Return a note on what is lost with a worker that shares no checkpoints."""
        said = f"{name} does not see the run's folder: samples keep no steps on such a machine"
        if self._scope.settings.cache is None:
            return (
                f"{said}, and with --no-cache no reply either: with each worker that is lost up to"
                f" {self._share} samples begin anew, and what they had paid for is paid again"
            )
        return f"{said}; with a worker that is lost they begin anew, by replies from the cache"

    def _say_once(self, line: str) -> None:
        if line not in self._said:
            self._said.add(line)
            self._scope.display.note(line)

    # --- messages from workers -------------------------------------------------------------------

    async def _listen(self, member: _Member, place: int | None) -> None:
        """Handle a worker's messages until it is gone."""
        try:
            while (text := await member.peer.hear()) is not None:
                await self._heard(member, worker_protocol.decode_message(text))
            why = member.peer.why()
        except asyncio.CancelledError:
            raise
        except Exception as error:
            # It sent an invalid message: stop listening to it.
            why = f"said what cannot be read ({type(error).__name__})"
            await member.peer.end()
        self._lost(member, place, why)

    def _lost(self, member: _Member, place: int | None, why: str) -> None:
        budget = self._scope.budget
        for held, model in member.held.items():
            if budget is not None:
                budget.release(held, model, None)
        if place is not None and self._members.get(place) is member:
            del self._members[place]
            if not self._over:
                self._scope.display.note(
                    f"{member.peer.name} {why}: another takes its place, {len(member.lines)}"
                    f" samples {'go on from their last step' if member.shares else 'start over'}"
                )
                self._filling[place] = asyncio.create_task(self._fill(place))
        for line in member.lines.values():
            if not line.done():
                line.set_exception(WorkerLostError(f"{member.peer.name} {why}"))

    async def _heard(self, member: _Member, words: worker_protocol.Words) -> None:
        match words["say"]:
            case "ended":
                self._ended(member, words)
            case "call":
                call, keep = member.heard.call(words), member.keep.get(words["sample"])
                if keep is not None:
                    keep(call)
            case "reserve":
                await self._answer(member, words, **self._reserved(member, words))
            case "settle":
                member.held.pop(words["held"], None)
                if self._scope.budget is not None:
                    self._scope.budget.release(words["held"], words["model"], words["used"])
            case "get":
                entry = self._cache().entry(words["key"])
                text = None if entry is None else entry.decode(errors="replace")
                await self._answer(member, words, entry=text)
            case "put":
                self._cache().put_entry(words["key"], words["entry"].encode())
            case "files":
                await self._answer(member, words, files=self._given(words["pattern"]))
            case "hold":
                self._holds.hold(words["model"], words["seconds"])
                rest = {key: value for key, value in words.items() if key != "say"}
                for other in self._members.values():
                    if other is not member:
                        self._soon(other.say("hold", **rest))
            case "retry":
                told = self._scope.make_settings().on_retry
                if told is not None:
                    failure = CallFailure(**words["failure"])
                    told(words["model"], RetryEvent(words["attempt"], failure, words["wait"]))

    def _ended(self, member: _Member, words: worker_protocol.Words) -> None:
        line = member.lines.get(words["id"])
        if line is None or line.done():
            # A second line of a sample: the first counts.
            self._scope.display.note(f"{member.peer.name} gave a second line of {words['id']}")
        elif words["how"] == "line":
            line.set_result(words["line"])
        elif words["how"] == "drained":
            line.set_exception(GraphDrained("stopped"))
        else:
            line.set_exception(_ENDED[words["how"]](words["said"]))

    def _reserved(self, member: _Member, words: worker_protocol.Words) -> worker_protocol.Words:
        budget = self._scope.budget
        if budget is None:
            return {"held": 0, "limit": None}
        try:
            held = budget.hold(words["model"], words["least"])
        except LimitReachedError as error:
            return {"held": 0, "limit": str(error)}
        member.held[held] = words["model"]
        return {"held": held, "limit": None}

    def _cache(self) -> ResponseCache:
        cache = self._scope.settings.cache
        if not isinstance(cache, ResponseCache):
            raise ValueError("nobody keeps replies here")
        return cache

    def _given(self, pattern: str) -> dict[str, str]:
        """Return the files of the run's folder that match a pattern, by name."""
        if pattern not in GIVEN:
            raise ValueError("no file that is given")
        found = {}
        for path in sorted(self._folder.path.glob(pattern)):
            if path.stat().st_size > _MOST_FILE:
                raise ValueError(f"{path.name} is too large to be given")
            found[path.name] = path.read_text(encoding="utf-8", errors="replace")
        return found

    async def _answer(self, member: _Member, words: worker_protocol.Words, **answer: Any) -> None:
        await member.say("answer", number=words["number"], **answer)

    def _soon(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._listening.add(task)
        task.add_done_callback(self._listening.discard)


def _check_memory(models: Sequence[str], places: int, note: Callable[[str], None]) -> None:
    """Note the memory that local models need in all workers together.

    Raises:
        UsageError: they need more memory than is free.
    """
    for name in dict.fromkeys(models):
        engine = getattr(resolve_model(name), "engine", None)
        if engine is None:
            continue
        each, free = engine.memory, free_memory()
        said = (
            f"{name} runs in each of {places} workers: about {size_text(each)} of memory each,"
            f" {size_text(each * places)} in all"
        )
        if free is not None and each * places > free:
            most = max(1, free // each)
            raise UsageError(f"{said}, and {size_text(free)} are free: --workers {most} fits")
        note(said)


@asynccontextmanager
async def open_workers(
    folder: RunFolder, job: Job, session: Session, scope: CallScope, most: int
) -> AsyncIterator[WorkerGroup | None]:
    """Yield the group of workers that a session asks for; None means this process.

    Args:
        folder: the run's folder.
        job: the run's job.
        session: the session's settings.
        scope: budget, cache and display of the session's calls.
        most: the number of samples, which limits the number of workers.

    Raises:
        RunError: there is no cluster, or it cannot be used.
    """
    places = min(session.places, most)
    if not places:
        yield None
        return
    models = job.plan.request.models
    if session.cluster is None:
        _check_memory(models, places, scope.display.note)
    pool = await open_pool(session.cluster, open_cluster=session.open_cluster)
    try:
        crew = WorkerGroup(pool, places, folder, scope, session, models)
        try:
            yield crew
        finally:
            await crew.close()
    finally:
        await pool.close()
