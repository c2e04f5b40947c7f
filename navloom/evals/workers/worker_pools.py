"""Worker pools: start workers, and exchange messages with each.

A pool consists of processes on this machine (:class:`LocalPool`: JSON lines over pipes, no port) or
of Ray actors, on this machine or a cluster (:class:`RayPool`, extra ``ray``).

Ray listens on every interface, even if told to use 127.0.0.1, and runs code from anyone who reaches
it. So a cluster that is started here gets a secret token (Ray's token authentication), no dashboard
and no usage reports. A cluster that accepts work without a token is refused unless the user allows
it (``--open-cluster``).
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import signal
import sys
from asyncio import StreamReader, StreamWriter
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections import deque
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol, cast

from navloom.errors import RunError
from navloom.models.redaction import register_secret

MOST_TEXT = 64 * 1024 * 1024
"""Limit of one message in characters."""
_LAST_LINES, _MOST_LINE = 20, 500
_END_S = 5.0
_CHECK_S, _START_S, _TRIES = 20.0, 120.0, 5
_ASK = "import sys, ray._raylet as r; r.GcsClient(address=sys.argv[1]); print(sys.argv[1])"
_WANTS = "it wants its token: set RAY_AUTH_TOKEN, or RAY_AUTH_TOKEN_PATH to the file that has it"
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}


class WorkerPeer(Protocol):
    """One worker, as the driver sees it.

    Attributes:
        name: for messages, such as ``worker 2 (process 4711)``.
    """

    name: str

    async def tell(self, text: str) -> None:
        """Send a message; do nothing if the worker is gone."""

    async def hear(self) -> str | None:
        """Return the next message; None once the worker is gone and all messages are read."""

    def why(self) -> str:
        """Return the reason why the worker is gone, in a few words."""

    async def end(self) -> None:
        """Kill the worker at once, even if it is busy; do nothing if it is gone."""


class WorkerPool(Protocol):
    """Starts workers. Closing it ends all of them.

    Attributes:
        apart: whether workers assume that they cannot see the run's folder; else they check.
    """

    apart: bool

    async def spawn(self, number: int) -> WorkerPeer:
        """Start one more worker and return its `WorkerPeer`.

        Args:
            number: the worker's number, from 1.

        Raises:
            RunError: it cannot be started; the message says what to do.
        """

    async def close(self) -> None:
        """End all workers and release their resources."""


async def open_pool(cluster: str | None, *, open_cluster: bool) -> WorkerPool:
    """Open the pool that a session asks for.

    Args:
        cluster: ``ray`` or ``ray:ADDRESS``; None for processes on this machine.
        open_cluster: whether a cluster without a token is allowed.

    Raises:
        RunError: it cannot be reached, or a package it needs is not installed.
    """
    if cluster is None:
        return LocalPool()
    return await open_ray(cluster.partition(":")[2] or None, open_cluster=open_cluster)


class LocalPool:
    """Pool of local processes, each with its own Python interpreter."""

    apart = False

    def __init__(self) -> None:
        self._peers: list[_ProcessPeer] = []

    async def spawn(self, number: int) -> WorkerPeer:
        """Start a process and return its `WorkerPeer`.

        Raises:
            RunError: no process can be started.
        """
        # Workers import from the same paths, but not from the current folder.
        path = os.pathsep.join(each for each in sys.path if each)
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "navloom.evals.workers.worker"),
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                limit=MOST_TEXT,
                env={**os.environ, "PYTHONPATH": path},
                # Ctrl-C goes to the driver, which tells workers when to stop.
                start_new_session=True,
            )
        except OSError as error:
            raise RunError(f"worker {number} cannot be started: {error.strerror}") from error
        peer = _ProcessPeer(process, number)
        self._peers.append(peer)
        return peer

    async def close(self) -> None:
        """End all processes and wait for them."""
        await asyncio.gather(*(peer.end() for peer in self._peers))


class _ProcessPeer:
    def __init__(self, process: Process, number: int) -> None:
        self.name = f"worker {number} (process {process.pid})"
        self._process = process
        self._stdin = cast(StreamWriter, process.stdin)
        self._stdout = cast(StreamReader, process.stdout)
        self._stderr = cast(StreamReader, process.stderr)
        self._said: deque[str] = deque(maxlen=_LAST_LINES)
        self._listening = asyncio.create_task(self._listen())

    async def tell(self, text: str) -> None:
        with suppress(ConnectionError, RuntimeError):
            self._stdin.write(text.encode(errors="backslashreplace") + b"\n")
            await self._stdin.drain()

    async def hear(self) -> str | None:
        try:
            line = await self._stdout.readline()
        except ValueError:
            # The line is longer than any message, and its end cannot be found.
            self._said.append(f"a line of more than {MOST_TEXT} bytes")
            await self.end()
            line = b""
        if not line.endswith(b"\n"):
            await self._process.wait()
            await self._listening
            return None
        return line.decode(errors="replace")

    def why(self) -> str:
        code = self._process.returncode
        last = next((line for line in reversed(self._said) if line), "")
        if code is not None and code < 0:
            with suppress(ValueError):
                name = signal.Signals(-code).name
                memory = ": out of memory?" if name == "SIGKILL" else ""
                return f"was ended by {name}{memory}"
        return f"ended with {code}" + (f": {last}" if last else "")

    async def end(self) -> None:
        with suppress(ProcessLookupError):
            self._process.kill()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), _END_S)

    async def _listen(self) -> None:
        """Store the last lines of the process's stderr."""
        with suppress(ValueError):
            while line := await self._stderr.read(4096):
                for part in line.decode(errors="replace").splitlines():
                    self._said.append(part.strip()[:_MOST_LINE])


async def open_ray(address: str | None, *, open_cluster: bool) -> RayPool:
    """Return a pool on a Ray cluster: the one at ``address``, else one started on this machine.

    Args:
        address: of its head, ``host:port``; None starts a cluster on this machine.
        open_cluster: whether a cluster without a token is allowed.

    Raises:
        RunError: Ray is not installed, or the cluster cannot be used; the message says what to do.
    """
    if find_spec("ray") is None:
        raise RunError("--cluster ray needs Ray: pip install 'navloom[ray]'")
    os.environ.update({name: value for name, value in _QUIET.items() if name not in os.environ})
    if address is not None:
        await _check(address, open_cluster=open_cluster)
    elif "RAY_AUTH_TOKEN" not in os.environ:
        # Ray reads the token at import and passes it to each process that it starts.
        if "ray" in sys.modules and not sys.modules["ray"].is_initialized():
            raise RunError(
                "ray was imported before it had a token: set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN"
                " first, or connect it to your cluster"
            )
        os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    register_secret(os.environ.get("RAY_AUTH_TOKEN", ""))
    # Not in the main thread: there Ray would handle the signals that end a session.
    ray = await asyncio.to_thread(import_module, "ray")
    logging.getLogger("ray").setLevel(logging.ERROR)
    if ray.is_initialized():
        # A Python caller has connected to a cluster already.
        return RayPool(ray, ours=False)
    asked: dict[str, Any] = {"log_to_driver": False, "configure_logging": False}
    if address is None:
        path = os.pathsep.join(each for each in sys.path if each)
        asked |= {"include_dashboard": False, "runtime_env": {"env_vars": {"PYTHONPATH": path}}}
        # The number of workers does not depend on the number of cores.
        asked |= {"num_cpus": 0, "address": "local"}
    else:
        asked["address"] = address
    try:
        await asyncio.to_thread(lambda: ray.init(**asked))
    except Exception as error:
        said = " ".join(str(error).split())[:300]
        if "ersion mismatch" in said:
            said = f"its Ray or Python is of another version: {said}"
        raise RunError(f"--cluster ray{_at(address)} cannot be used: {said}") from error
    return RayPool(ray)


def _at(address: str | None) -> str:
    return "" if address is None else f":{address}"


async def _check(address: str, *, open_cluster: bool) -> None:
    """Check that a cluster answers, and whether it requires a token.

    Raises:
        RunError: it does not answer, or it requires no token and the user has not allowed that.
    """
    said = await _answers(address, {"RAY_AUTH_MODE": "disabled"})
    if said is None:
        if not open_cluster:
            raise RunError(
                f"the cluster at {address} takes work, which is code, from whoever reaches it:"
                " start it with a token (RAY_AUTH_MODE=token, docs/workers.md), or say"
                " --open-cluster where its network is closed"
            )
        os.environ["RAY_AUTH_MODE"] = "disabled"
        return
    if said == _WANTS:
        said = await _answers(address, {"RAY_AUTH_MODE": "token"})
    if said is not None:
        raise RunError(f"--cluster ray:{address} cannot be used: {said}")
    os.environ["RAY_AUTH_MODE"] = "token"


async def _answers(address: str, more: dict[str, str]) -> str | None:
    """Return the reason why a cluster does not answer; None if it does."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", _ASK, address),
        stdin=DEVNULL,
        stdout=DEVNULL,
        stderr=PIPE,
        env={**os.environ, **more},
    )
    try:
        _, err = await asyncio.wait_for(process.communicate(), _CHECK_S)
    except TimeoutError:
        process.kill()
        await process.wait()
        return f"nothing answers there within {_CHECK_S:g} s"
    if process.returncode == 0:
        return None
    text = err.decode(errors="replace")
    if "uthentication" in text:
        return _WANTS
    return (text.strip().splitlines() or ["it does not answer"])[-1][:300]


class RayPool:
    """Pool of Ray actors on the nodes of a cluster.

    Args:
        ray: the module, connected to a cluster.
        ours: whether closing the pool shuts down the connection.
        apart: assume that no node can see the run's folder, as in tests.
    """

    def __init__(self, ray: Any, *, ours: bool = True, apart: bool = False) -> None:
        self.apart = apart
        self._ray, self._ours = ray, ours
        self._peers: list[_ActorPeer] = []
        # Spread over nodes, since workers compute. They claim no cores, as others may hold all.
        self._kind = ray.remote(_Actor).options(
            num_cpus=0, max_restarts=0, max_concurrency=1000, scheduling_strategy="SPREAD"
        )

    async def spawn(self, number: int) -> WorkerPeer:
        """Start an actor and return its `WorkerPeer`.

        Raises:
            RunError: no node takes it.
        """
        for tried in range(1, _TRIES + 1):
            actor = self._kind.remote()
            try:
                where = await asyncio.wait_for(actor.where.remote(), _START_S)
                break
            except (self._ray.exceptions.RayError, TimeoutError) as error:
                # Ray still offers a lost node for some seconds.
                if tried == _TRIES:
                    said = " ".join(str(error).split())[:200] or f"nothing for {_START_S:g} s"
                    raise RunError(f"worker {number} cannot be started: {said}") from error
                await asyncio.sleep(tried)
        peer = _ActorPeer(self._ray, actor, f"worker {number} ({where})")
        self._peers.append(peer)
        return peer

    async def close(self) -> None:
        """End all actors, and the cluster if this pool started it."""
        for peer in self._peers:
            await peer.end()
        if self._ours:
            await asyncio.to_thread(self._ray.shutdown)


class _Actor:
    """The worker as a Ray actor; messages wait in queues until they are fetched."""

    def __init__(self) -> None:
        self._come: asyncio.Queue[str] = asyncio.Queue()
        self._go: asyncio.Queue[str | None] = asyncio.Queue()
        self._serving: asyncio.Task[None] | None = None

    async def where(self) -> str:
        """Start the worker, and return its process and machine."""
        self._serving = asyncio.create_task(self._serve())
        return f"process {os.getpid()} on {os.uname().nodename}"

    async def _serve(self) -> None:
        from navloom.evals.workers.worker import serve_driver

        try:
            await serve_driver(self._come.get, self._go.put_nowait)
        finally:
            self._go.put_nowait(None)

    async def tell(self, texts: list[str]) -> None:
        """Queue messages for the worker."""
        for text in texts:
            self._come.put_nowait(text)

    async def hear(self) -> list[str | None]:
        """Return all waiting messages, at least one; None marks the end."""
        texts = [await self._go.get()]
        while not self._go.empty():
            texts.append(self._go.get_nowait())
        return texts


class _ActorPeer:
    def __init__(self, ray: Any, actor: Any, name: str) -> None:
        self.name = name
        self._ray, self._actor = ray, actor
        self._heard: list[str | None] = []
        self._waiting: list[str] = []
        self._why = "ended"
        self._telling: asyncio.Task[None] | None = None

    async def tell(self, text: str) -> None:
        self._waiting.append(text)
        if self._telling is None or self._telling.done():
            self._telling = asyncio.create_task(self._tell())

    async def _tell(self) -> None:
        """Send the waiting messages; those that come meanwhile go together."""
        while self._waiting:
            texts, self._waiting = self._waiting, []
            try:
                await self._actor.tell.remote(texts)
            except Exception:
                # `hear` gets the error as well.
                return

    async def hear(self) -> str | None:
        if not self._heard:
            try:
                self._heard = list(reversed(await self._actor.hear.remote()))
            except self._ray.exceptions.RayError as error:
                self._why = "is gone: " + " ".join(str(error).split())[:300]
                return None
        return self._heard.pop()

    def why(self) -> str:
        return self._why

    async def end(self) -> None:
        with suppress(Exception):
            self._ray.kill(self._actor, no_restart=True)
