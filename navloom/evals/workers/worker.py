"""The worker: rebuilds the job from ``run.json``, runs samples and sends their lines to the driver.

Of the run it writes only the checkpoints of its samples, and only on the driver's own machine,
since SQLite's locks hold on one machine alone. Elsewhere it keeps checkpoints in memory, and if
such a worker is lost, its samples start over.

As a process (``python -m navloom.evals.workers.worker``) it reads messages from stdin and writes
them to stdout, one per line. When stdin ends, it exits at once, however busy.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import asdict, replace
from itertools import count
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphDrained
from langgraph.runtime import RunControl

from navloom.errors import (
    LimitReachedError,
    ModelRefusedError,
    NavloomError,
    RunError,
    StoppedError,
)
from navloom.evals.run_folder import package_version, read_run, request_hash
from navloom.evals.run_kinds import RunKind, RunPlan, get_kind
from navloom.evals.sample_runner import run_sample
from navloom.evals.session import Sample
from navloom.evals.workers import worker_protocol
from navloom.files import write_error
from navloom.graphs.agent_graph import CheckedSerializer, open_saver
from navloom.models.messages import CallRecord
from navloom.models.model_call import CallSettings, RateLimitHolds, RetryEvent
from navloom.models.model_registry import resolve_model
from navloom.models.model_spec import allow_in_process
from navloom.models.redaction import error_line, redact_value
from navloom.models.response_cache import ReplyStore, ResponseCache, decode_entry, encode_entry
from navloom.models.spans import tracing
from navloom.models.usage import min_token_count, reply_usage

_TOLD = {ModelRefusedError: "refused", LimitReachedError: "limit", RunError: "run"}


async def serve_driver(hear: Callable[[], Awaitable[str]], tell: Callable[[str], None]) -> None:
    """Run a worker until its driver ends it.

    Args:
        hear: waits for the driver's next message.
        tell: sends a message to the driver.
    """
    driver = _Driver(tell)
    try:
        async with AsyncExitStack() as opened:
            begin = worker_protocol.decode_message(await hear())
            if begin["trace"]:
                # The driver reports it if traces cannot be sent. The wait is short, since the
                # driver waits for its own traces afterwards.
                opened.enter_context(tracing(lambda _: None, joining=begin["trace"], within=0.5))
            listening = asyncio.create_task(driver.listen(hear))
            opened.callback(listening.cancel)
            try:
                worker = await opened.enter_async_context(_made(begin, driver))
            except NavloomError as error:
                driver.tell("cannot", said=error_line(error))
                return
            except (sqlite3.Error, OSError) as error:
                driver.tell("cannot", said=str(write_error(Path(begin["path"]), error)))
                return
            driver.tell("ready", shares=worker.shares)
            await worker.work()
    except BrokenPipeError:
        return


class _Driver:
    """The driver, as the worker sees it."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._asked: dict[int, asyncio.Future[worker_protocol.Words]] = {}
        self._numbers = count()
        self.said: asyncio.Queue[worker_protocol.Words] = asyncio.Queue()

    def tell(self, say: str, **words: Any) -> None:
        self._tell(worker_protocol.encode_message({"say": say, **words}))

    async def ask(self, say: str, **words: Any) -> worker_protocol.Words:
        """Send a message and return its answer."""
        number = next(self._numbers)
        self._asked[number] = asyncio.get_running_loop().create_future()
        try:
            self.tell(say, number=number, **words)
            return await self._asked[number]
        finally:
            del self._asked[number]

    async def listen(self, hear: Callable[[], Awaitable[str]]) -> None:
        while True:
            words = worker_protocol.decode_message(await hear())
            if words["say"] != "answer":
                self.said.put_nowait(words)
            elif (asked := self._asked.get(words["number"])) is not None and not asked.done():
                asked.set_result(words)


@asynccontextmanager
async def _made(begin: worker_protocol.Words, driver: _Driver) -> AsyncIterator[_Worker]:
    """Build the worker that the driver's first message describes.

    Raises:
        NavloomError: it cannot do this run; the message says why.
    """
    ours = package_version("navloom")
    if begin["navloom"] != ours:
        raise RunError(
            f"it has navloom {ours}, and the driver {begin['navloom']}: install one version on all"
            " machines"
        )
    with suppress(OSError):
        os.chdir(begin["cwd"])
    allow_in_process(begin["origins"])
    path, lock = Path(begin["path"]), begin["lock"]
    same = begin["machine"] == worker_protocol.machine_id() and not begin["apart"]
    shares = same and _text(path / ".lock") == lock
    async with AsyncExitStack() as opened:
        if not shares:
            path = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="navloom-")))
            await _fetch(driver, path, "*.json")
        kind = get_kind(str(read_run(path)["kind"]))
        if not shares and kind.more is not None:
            await _fetch(driver, path, "samples.jsonl")
        request = kind.request.read(path)
        for name in dict.fromkeys(request.models):
            # A missing key or file would fail every sample.
            resolve_model(name)
        plan = kind.plan(request, path, lambda _: None)
        there = request_hash(kind.name, {**plan.request.record(), **plan.record}, request.seed)
        if there != begin["hash"]:
            raise RunError(
                "what the run is asked to be is another here: its scenes or files are not those of"
                " the driver"
            )
        if not shares and getattr(plan, "media", None) is not None:
            raise RunError(
                f"it does not see {begin['path']}, where the pictures of this run are kept: run it"
                " on the driver's machine alone"
            )
        if shares:
            saver: Any = await opened.enter_async_context(open_saver(path / "checkpoints.sqlite"))
        else:
            saver = InMemorySaver(serde=CheckedSerializer())
        yield _Worker(kind, plan, path, saver, driver, begin["settings"], shares=shares)


async def _fetch(driver: _Driver, folder: Path, pattern: str) -> None:
    """Copy files of the run's folder from the driver."""
    for name, text in (await driver.ask("files", pattern=pattern))["files"].items():
        (folder / Path(name).name).write_text(text, encoding="utf-8")


def _text(path: Path) -> str | None:
    with suppress(OSError):
        return path.read_text(errors="replace")
    return None


class _Worker:
    """A worker that runs samples as the driver asks.

    Attributes:
        shares: whether its checkpoints are in the run's own folder.
    """

    def __init__(
        self,
        kind: RunKind,
        plan: RunPlan,
        path: Path,
        saver: Any,
        driver: _Driver,
        told: Mapping[str, Any],
        *,
        shares: bool,
    ) -> None:
        self.shares = shares
        self._kind, self._plan, self._path = kind, plan, path
        self._saver, self._driver, self._over = saver, driver, False
        self._job = kind.job(plan)
        self._graph = self._job.build(saver)
        self._samples = {sample.id: sample for sample in plan.samples}
        self._controls: set[RunControl] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._calls = worker_protocol.CallEncoder() if told["keeps_calls"] else None
        self._holds = RateLimitHolds(lambda model, s: driver.tell("hold", model=model, seconds=s))
        self._settings = CallSettings(
            cache=self._cache(told["cache"]),
            **{name: told[name] for name in worker_protocol.SETTINGS},
            gate=_BudgetGate(driver) if told["counts"] else None,
            on_retry=self._retried,
            connections=asyncio.Semaphore(max(1, told["connections"])),
            holds=self._holds,
            stopping=lambda: self._over,
        )

    def _cache(self, folder: str | None) -> ReplyStore | None:
        if folder is None:
            return None
        return ResponseCache(folder) if self.shares else _DriversCache(self._driver)

    async def work(self) -> None:
        """Process the driver's messages until it sends the end."""
        while (words := await self._driver.said.get())["say"] != "end":
            match words["say"]:
                case "sample":
                    self._start(self._carry(words["id"], resumed=words["resumed"]))
                case "written":
                    await self._forget(words["id"])
                case "hold":
                    self._holds.hold(words["model"], words["seconds"], tell=False)
                case "drain":
                    self._over = True
                    for control in self._controls:
                        control.request_drain("stopped")
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _start(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _carry(self, name: str, *, resumed: bool) -> None:
        """Run a sample, and report how it ended."""
        control = RunControl()
        self._controls.add(control)
        if self._over:
            control.request_drain("stopped")
        try:
            words = await self._line(self._sample(name), control, resumed=resumed)
        except Exception as error:
            words = {"how": "run", "said": error_line(error)}
        finally:
            self._controls.discard(control)
        if self._calls is not None:
            self._calls.forget(name)
        self._driver.tell("ended", id=name, **words)

    async def _line(
        self, sample: Sample, control: RunControl, *, resumed: bool
    ) -> worker_protocol.Words:
        around = replace(self._settings, epoch=sample.epoch or self._settings.epoch)
        if self._calls is not None:
            around = replace(around, on_call=lambda call: self._told(sample, call))
        try:
            line = await run_sample(
                self._job, sample, self._graph, settings=around, control=control, resumed=resumed
            )
        except (GraphDrained, StoppedError):
            return {"how": "drained", "said": ""}
        except (LimitReachedError, ModelRefusedError, RunError) as error:
            how = next(how for kind, how in _TOLD.items() if isinstance(error, kind))
            return {"how": how, "said": str(error)}
        except (sqlite3.Error, OSError) as error:
            return {"how": "run", "said": str(write_error(self._path, error))}
        return {"how": "line", "line": redact_value(line)}

    def _sample(self, name: str) -> Sample:
        """Return a sample of the plan; plan later rounds from the run's folder if needed.

        Raises:
            RunError: the run has no sample of that name.
        """
        while name not in self._samples:
            more = self._kind.more
            if more is None or not more(self._plan, self._path):
                raise RunError(f"this run has no sample '{name}' as the worker plans it")
            self._samples = {sample.id: sample for sample in self._plan.samples}
        return self._samples[name]

    async def _forget(self, name: str) -> None:
        """Delete the checkpoints of a sample whose line is written."""
        # A later session removes leftovers.
        with suppress(sqlite3.Error):
            await self._saver.adelete_thread(name)

    def _told(self, sample: Sample, call: CallRecord) -> None:
        if self._calls is not None:
            self._driver.tell(**self._calls.words(sample.id, call))

    def _retried(self, model: str, retry: RetryEvent) -> None:
        failure = asdict(retry.failure)
        failure["text"] = redact_value(failure["text"])
        self._driver.tell(
            "retry", model=model, attempt=retry.attempt, wait=retry.wait, failure=failure
        )


class _BudgetGate:
    """Budget gate that asks the driver before each model call."""

    def __init__(self, driver: _Driver) -> None:
        self._driver = driver

    async def reserve(
        self,
        model: str,
        messages: Sequence[BaseMessage],
        bound: Mapping[str, Any],  # noqa: ARG002
    ) -> int:
        said = await self._driver.ask("reserve", model=model, least=min_token_count(messages))
        if said["limit"] is not None:
            raise LimitReachedError(said["limit"])
        return int(said["held"])

    def settle(self, reservation: int, model: str, reply: AIMessage | None) -> None:
        used = None if reply is None else reply_usage(reply)
        self._driver.tell("settle", held=reservation, model=model, used=used)


class _DriversCache:
    """Client of the reply cache on the driver's machine, for a worker without the run's folder.

    The driver is the process that hands out the samples of a run.
    """

    def __init__(self, driver: _Driver) -> None:
        self._driver = driver

    async def aget(self, key: str) -> AIMessage | None:
        entry = (await self._driver.ask("get", key=key))["entry"]
        with contextlib.suppress(ValueError, TypeError, LookupError, RecursionError):
            return None if entry is None else decode_entry(entry.encode(), key)
        return None

    async def aput(self, key: str, model: str, reply: AIMessage) -> None:
        self._driver.tell("put", key=key, entry=encode_entry(key, model, reply).decode())


def main() -> None:
    """Serve the driver that started this process."""
    # Output of other code in this process must not mix with the messages.
    come, go = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    sys.stdin, sys.stdout = open(os.devnull), sys.stderr  # noqa: PTH123, SIM115

    async def served() -> None:
        loop, queue = asyncio.get_running_loop(), asyncio.Queue[str]()

        def listen() -> None:
            for line in come:
                loop.call_soon_threadsafe(queue.put_nowait, line.decode(errors="replace"))
            # The driver is gone: no further result could be written.
            os._exit(0)

        def tell(text: str) -> None:
            go.write(text.encode(errors="backslashreplace") + b"\n")
            go.flush()

        threading.Thread(target=listen, name="navloom-driver", daemon=True).start()
        await serve_driver(queue.get, tell)

    asyncio.run(served())


if __name__ == "__main__":
    main()
