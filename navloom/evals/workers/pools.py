"""Pools: where workers are, and text to and from each.

A pool is processes of this machine (:class:`LocalPool`: a line of JSON each way over pipes, and no
port) or actors of Ray, on this machine or a cluster (:class:`RayPool`, extra ``ray``).

Ray listens on every interface, also where it is told to be at 127.0.0.1, and takes work, which is
code, from whoever reaches it. So a cluster that is started here has a token that nobody else knows
(Ray's token authentication), no dashboard and no report of usage; one that takes work without a
token is refused unless it is asked for by name.
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
from navloom.models.secrets import remember

MOST_TEXT = 64 * 1024 * 1024
"""Characters of one text at most."""
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


class Peer(Protocol):
    """One worker, seen from the driver.

    Attributes:
        name: for messages, such as ``worker 2 (process 4711)``.
    """

    name: str

    async def tell(self, text: str) -> None:
        """Send a text; one that is gone gets none, and nothing is raised."""

    async def hear(self) -> str | None:
        """The next text; None once it is gone and all it said is heard."""

    def why(self) -> str:
        """Why it is gone, in a few words."""

    async def end(self) -> None:
        """End it at once, however busy; one that is gone already is fine."""


class Pool(Protocol):
    """Where workers are. Closing it ends all of them.

    Attributes:
        apart: whether workers are to take it that they do not see the run's folder; else they look.
    """

    apart: bool

    async def spawn(self, number: int) -> Peer:
        """Start one more.

        Args:
            number: which of the crew, from 1.

        Raises:
            RunError: it cannot be started; the line says what to do.
        """

    async def close(self) -> None:
        """End all of them, and let go of what they run on."""


async def open_pool(cluster: str | None, *, open_cluster: bool) -> Pool:
    """The pool that a session asks for.

    Args:
        cluster: ``ray`` or ``ray:ADDRESS``; None for processes of this machine.
        open_cluster: whether it may take work from anybody.

    Raises:
        RunError: it cannot be reached, or what it needs is not installed.
    """
    if cluster is None:
        return LocalPool()
    return await open_ray(cluster.partition(":")[2] or None, open_cluster=open_cluster)


class LocalPool:
    """Processes that this Python starts, each with a Python of its own."""

    apart = False

    def __init__(self) -> None:
        self._peers: list[_ProcessPeer] = []

    async def spawn(self, number: int) -> Peer:
        """Start one.

        Raises:
            RunError: no process can be started.
        """
        # What can be imported here can be there; a folder that was only stood in is no part of it.
        path = os.pathsep.join(each for each in sys.path if each)
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "navloom.evals.workers.worker"),
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                limit=MOST_TEXT,
                env={**os.environ, "PYTHONPATH": path},
                # Ctrl-C is for the driver, which says when to stop.
                start_new_session=True,
            )
        except OSError as error:
            raise RunError(f"worker {number} cannot be started: {error.strerror}") from error
        peer = _ProcessPeer(process, number)
        self._peers.append(peer)
        return peer

    async def close(self) -> None:
        """End all, and wait until they have."""
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
            # Longer than any text of ours: what follows cannot be told apart from it.
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
        """Keep the last lines of what it says beside."""
        with suppress(ValueError):
            while line := await self._stderr.read(4096):
                for part in line.decode(errors="replace").splitlines():
                    self._said.append(part.strip()[:_MOST_LINE])


async def open_ray(address: str | None, *, open_cluster: bool) -> RayPool:
    """Workers on a cluster.

    Args:
        address: of its head, ``host:port``; None starts one on this machine alone.
        open_cluster: whether it may take work without a token.

    Raises:
        RunError: Ray is not installed, or the cluster cannot be used; the line says what to do.
    """
    if find_spec("ray") is None:
        raise RunError("--cluster ray needs Ray: pip install 'navloom[ray]'")
    os.environ.update({name: value for name, value in _QUIET.items() if name not in os.environ})
    if address is not None:
        await _check(address, open_cluster=open_cluster)
    elif "RAY_AUTH_TOKEN" not in os.environ:
        # Ray reads it when it is imported, and each process that it starts is given it.
        if "ray" in sys.modules and not sys.modules["ray"].is_initialized():
            raise RunError(
                "ray was imported before it had a token: set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN"
                " first, or connect it to your cluster"
            )
        os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    remember(os.environ.get("RAY_AUTH_TOKEN", ""))
    # Not in the main thread: there Ray would answer the signals that end a session.
    ray = await asyncio.to_thread(import_module, "ray")
    logging.getLogger("ray").setLevel(logging.ERROR)
    if ray.is_initialized():
        # Whoever calls from Python has said which cluster by then.
        return RayPool(ray, ours=False)
    asked: dict[str, Any] = {"log_to_driver": False, "configure_logging": False}
    if address is None:
        path = os.pathsep.join(each for each in sys.path if each)
        asked |= {"include_dashboard": False, "runtime_env": {"env_vars": {"PYTHONPATH": path}}}
        # Its workers are as many as are asked for, whatever cores there are.
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
    """See that a cluster answers, and whether it answers those that have no token.

    Raises:
        RunError: it does not, or it does and nobody said that it may.
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
    """Why a cluster does not answer; None where it does."""
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
    """Actors on the nodes of a cluster.

    Args:
        ray: the module, connected.
        ours: whether the connection ends with this pool.
        apart: take it that no node sees the run's folder, as in tests.
    """

    def __init__(self, ray: Any, *, ours: bool = True, apart: bool = False) -> None:
        self.apart = apart
        self._ray, self._ours = ray, ours
        self._peers: list[_ActorPeer] = []
        # Spread, since each computes; no cores of Ray's count, which may be all taken by others.
        self._kind = ray.remote(_Actor).options(
            num_cpus=0, max_restarts=0, max_concurrency=1000, scheduling_strategy="SPREAD"
        )

    async def spawn(self, number: int) -> Peer:
        """Start one.

        Raises:
            RunError: no node takes it.
        """
        for tried in range(1, _TRIES + 1):
            actor = self._kind.remote()
            try:
                where = await asyncio.wait_for(actor.where.remote(), _START_S)
                break
            except (self._ray.exceptions.RayError, TimeoutError) as error:
                # A node that has just gone is still offered for some seconds.
                if tried == _TRIES:
                    said = " ".join(str(error).split())[:200] or f"nothing for {_START_S:g} s"
                    raise RunError(f"worker {number} cannot be started: {said}") from error
                await asyncio.sleep(tried)
        peer = _ActorPeer(self._ray, actor, f"worker {number} ({where})")
        self._peers.append(peer)
        return peer

    async def close(self) -> None:
        """End all, and the cluster where it is ours."""
        for peer in self._peers:
            await peer.end()
        if self._ours:
            await asyncio.to_thread(self._ray.shutdown)


class _Actor:
    """The worker, as Ray runs it: texts wait on either side until they are fetched."""

    def __init__(self) -> None:
        self._come: asyncio.Queue[str] = asyncio.Queue()
        self._go: asyncio.Queue[str | None] = asyncio.Queue()
        self._serving: asyncio.Task[None] | None = None

    async def where(self) -> str:
        """Which process of which machine this is; from here on it works."""
        self._serving = asyncio.create_task(self._serve())
        return f"process {os.getpid()} on {os.uname().nodename}"

    async def _serve(self) -> None:
        from navloom.evals.workers.worker import serve

        try:
            await serve(self._come.get, self._go.put_nowait)
        finally:
            self._go.put_nowait(None)

    async def tell(self, texts: list[str]) -> None:
        """Take texts."""
        for text in texts:
            self._come.put_nowait(text)

    async def hear(self) -> list[str | None]:
        """All texts that wait, one at least; None is the end."""
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
        """Send what waits; what comes meanwhile goes together."""
        while self._waiting:
            texts, self._waiting = self._waiting, []
            try:
                await self._actor.tell.remote(texts)
            except Exception:
                # Whoever listens hears of it.
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
