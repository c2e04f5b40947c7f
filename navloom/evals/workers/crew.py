"""The crew: the driver's side of its workers, each at a place that is filled again when it is lost.

Everything that must be kept is kept here, in the one process that holds the run's folder: what is
left of the limits, the calls, the cache, how long a model asked not to be called. A worker that is
gone takes nothing with it but the steps under way; whoever asked for a sample is told, and asks
again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from langgraph.errors import GraphDrained

from navloom.errors import LimitReachedError, ModelRefusedError, NavloomError, RunError, UsageError
from navloom.evals.keep_calls import PlainCall
from navloom.evals.one_sample import CallScope
from navloom.evals.run_folder import RunFolder, package_version, read_run
from navloom.evals.session import Job, Sample, Session
from navloom.evals.workers.pools import Peer, Pool, open_pool
from navloom.evals.workers.spoken import SETTINGS, CallsHeard, Words, decode, encode, this_machine
from navloom.models.cache import ResponseCache
from navloom.models.call import Holds, Retry
from navloom.models.failure import Failure
from navloom.models.local_gguf import free_memory, size_text
from navloom.models.registry import model_of
from navloom.models.spans import END_S, carried
from navloom.models.spec import origins_in

_MOST_FAILED = 3
"""Workers in a row of one place that may be gone before they are ready."""
GIVEN = ("*.json", "samples.jsonl")
"""Patterns of the files of a run's folder that a worker which does not see it may ask for."""
_MOST_FILE = 32 * 1024 * 1024
_ENDED: dict[str, Callable[[str], NavloomError]] = {
    "limit": LimitReachedError,
    "refused": ModelRefusedError,
    "run": RunError,
}


Keep = Callable[[PlainCall], None]


class WorkerLostError(RunError):
    """The worker that carried a sample out is gone."""


@dataclass(eq=False)
class _Member:
    """A worker that is ready."""

    peer: Peer
    shares: bool = False
    lines: dict[str, asyncio.Future[dict[str, Any]]] = field(default_factory=dict)
    keep: dict[str, Keep] = field(default_factory=dict)
    heard: CallsHeard = field(default_factory=CallsHeard)
    held: dict[int, str] = field(default_factory=dict)

    async def say(self, say: str, **words: Any) -> None:
        await self.peer.tell(encode({"say": say, **words}))


class Crew:
    """The workers of one session.

    Args:
        pool: where they are.
        places: how many.
        folder: the run's.
        scope: what stands around the session's calls.
        session: as it was asked for.
        models: whom the run may call.

    Attributes:
        places: how many there are.
    """

    def __init__(
        self,
        pool: Pool,
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
        self._holds = Holds()
        self.places = places
        self._members: dict[int, _Member] = {}
        self._carriers: dict[str, _Member] = {}
        self._listening: set[asyncio.Task[None]] = set()
        self._filling = {k: asyncio.create_task(self._fill(k)) for k in range(places)}
        self._share = max(1, session.max_connections // places)

    async def run(
        self, place: int, sample: Sample, *, alone: bool, keep: Keep | None, resumed: bool
    ) -> dict[str, Any]:
        """Have a sample carried out.

        Args:
            place: whose turn it is.
            sample: which.
            alone: whether a worker is started for this one.
            keep: is told of each of its calls.
            resumed: whether the run's checkpoints hold it.

        Returns:
            Its line, unwritten.

        Raises:
            WorkerLostError: its worker is gone.
            RunError: there are no workers any more; else as
                :func:`navloom.evals.one_sample.run_sample`.
        """
        own = await self._alone() if alone else None
        member = own or await self._at(place)
        try:
            line = member.lines[sample.id] = asyncio.get_running_loop().create_future()
            if keep is not None:
                member.keep[sample.id] = keep
            # Elsewhere nobody has its steps.
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
        """Have whoever carried a sample out let go of its steps; False where nobody will."""
        member = self._carriers.pop(sample, None)
        if member is None or member not in self._members.values():
            return False
        await member.say("written", id=sample)
        return True

    def drain(self) -> None:
        """Have all samples stop at their next step."""
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
            # They end by themselves when what is written is forgotten, and a collector told.
            await asyncio.wait([*self._listening], timeout=END_S)
        for task in [*self._listening]:
            task.cancel()
        await asyncio.gather(*self._filling.values(), *self._listening, return_exceptions=True)

    # --- places and who is there -----------------------------------------------------------------

    async def _at(self, place: int) -> _Member:
        """Who is at a place; where nobody will be any more, whoever is ready.

        Raises:
            RunError: nobody is, and nobody will be.
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
        """Have somebody ready at a place.

        Raises:
            RunError: nobody can be.
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
        """A worker of no place; None where none becomes ready, which is no sample's fault."""
        for _ in range(_MOST_FAILED):
            with suppress(WorkerLostError):
                return await self._started()
        return None

    async def _started(self, place: int | None = None) -> _Member:
        """A worker that is ready.

        Raises:
            WorkerLostError: it was gone before.
            RunError: it cannot do this run.
        """
        peer = await self._pool.spawn(next(self._numbers))
        member = _Member(peer)
        try:
            await peer.tell(encode(self._begin()))
            while (text := await peer.hear()) is not None:
                words = decode(text)
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

    def _begin(self) -> Words:
        settings = self._scope.settings
        cache = settings.cache
        return {
            "say": "begin",
            "navloom": package_version("navloom"),
            "machine": this_machine(),
            "apart": self._pool.apart,
            "path": str(self._folder.path.absolute()),
            "lock": (self._folder.path / ".lock").read_text(errors="replace"),
            "hash": read_run(self._folder.path)["request_hash"],
            "cwd": str(Path.cwd()),
            "origins": origins_in(self._models),
            "trace": carried(),
            "settings": {
                # Whatever else keeps replies is asked, and need not be a folder.
                "cache": str(cache.folder) if isinstance(cache, ResponseCache) else None,
                **{name: getattr(settings, name) for name in SETTINGS},
                "connections": self._share,
                "counts": self._scope.counts,
                "keeps_calls": not self._session.no_calls,
            },
        }

    def _risk(self, name: str) -> str:
        """What a loss of a worker costs that keeps no steps."""
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

    # --- what they say ---------------------------------------------------------------------------

    async def _listen(self, member: _Member, place: int | None) -> None:
        """Do what a worker asks until it is gone."""
        try:
            while (text := await member.peer.hear()) is not None:
                await self._heard(member, decode(text))
            why = member.peer.why()
        except asyncio.CancelledError:
            raise
        except Exception as error:
            # It speaks otherwise than ours do: no more is heard from it.
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

    async def _heard(self, member: _Member, words: Words) -> None:
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
                for other in self._members.values():
                    if other is not member:
                        self._soon(other.say("hold", **_without(words, "say")))
            case "retry":
                told = self._scope.of_calls().on_retry
                if told is not None:
                    failure = Failure(**words["failure"])
                    told(words["model"], Retry(words["attempt"], failure, words["wait"]))

    def _ended(self, member: _Member, words: Words) -> None:
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

    def _reserved(self, member: _Member, words: Words) -> Words:
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
        """The files of the run's folder that a plan is made from."""
        if pattern not in GIVEN:
            raise ValueError("no file that is given")
        found = {}
        for path in sorted(self._folder.path.glob(pattern)):
            if path.stat().st_size > _MOST_FILE:
                raise ValueError(f"{path.name} is too large to be given")
            found[path.name] = path.read_text(encoding="utf-8", errors="replace")
        return found

    async def _answer(self, member: _Member, words: Words, **answer: Any) -> None:
        await member.say("answer", number=words["number"], **answer)

    def _soon(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._listening.add(task)
        task.add_done_callback(self._listening.discard)


def _without(words: Mapping[str, Any], name: str) -> Words:
    return {key: value for key, value in words.items() if key != name}


def _check_memory(models: Sequence[str], places: int, note: Callable[[str], None]) -> None:
    """Say what models that run in each worker take together.

    Raises:
        UsageError: it is more than there is.
    """
    for name in dict.fromkeys(models):
        engine = getattr(model_of(name), "engine", None)
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
async def hired(
    folder: RunFolder, job: Job, session: Session, scope: CallScope, most: int
) -> AsyncIterator[Crew | None]:
    """The workers that a session asks for, for as long as the block lasts; None: this process.

    Args:
        folder: the run's.
        job: the run's.
        session: what is asked for.
        scope: what stands around the session's calls.
        most: how many samples there are: more workers have nothing to do.

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
        crew = Crew(pool, places, folder, scope, session, models)
        try:
            yield crew
        finally:
            await crew.close()
    finally:
        await pool.close()
