"""Workers as processes of this machine: a line of JSON each way over pipes, and no port."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from asyncio import StreamReader, StreamWriter
from asyncio.subprocess import PIPE, Process
from collections import deque
from typing import cast

from navloom.errors import RunError
from navloom.evals.workers.pool import MOST_TEXT, Peer

_LAST_LINES, _MOST_LINE = 20, 500
_END_S = 5.0


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
                *(sys.executable, "-P", "-m", "navloom.evals.workers"),
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
        with contextlib.suppress(ConnectionError, RuntimeError):
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
            with contextlib.suppress(ValueError):
                name = signal.Signals(-code).name
                memory = ": out of memory?" if name == "SIGKILL" else ""
                return f"was ended by {name}{memory}"
        return f"ended with {code}" + (f": {last}" if last else "")

    async def end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), _END_S)

    async def _listen(self) -> None:
        """Keep the last lines of what it says beside."""
        with contextlib.suppress(ValueError):
            while line := await self._stderr.read(4096):
                for part in line.decode(errors="replace").splitlines():
                    self._said.append(part.strip()[:_MOST_LINE])
