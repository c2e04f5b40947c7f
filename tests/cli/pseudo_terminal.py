"""Run a command in a pseudo-terminal, as a person at a keyboard does."""

from __future__ import annotations

import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Self

__all__ = ["Terminal"]

_STEERING = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|P[^\x1b]*\x1b\\|[@-OQ-Z\\^_=>])"
)
_MOST_SHOWN = 3_000


class Terminal:
    """``python -m navloom.cli.main`` in its own pseudo-terminal.

    Args:
        arguments: the words after ``navloom``.
        environment: variables added to those of this process.
        size: columns and rows.
    """

    def __init__(
        self, *arguments: str, environment: Mapping[str, str], size: tuple[int, int] = (120, 40)
    ) -> None:
        self.seen = ""
        self._rest = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "navloom.cli.main", *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            # pytest-xdist tells its workers COLUMNS, which goes before the terminal's own size.
            env={
                **os.environ,
                "TERM": "xterm-256color",
                "COLUMNS": str(size[0]),
                "LINES": str(size[1]),
                **environment,
            },
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(slave)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._master)

    def type(self, text: str, *, enter: str = "\n") -> None:
        """Type a line; ``\\x03`` is Ctrl-C."""
        os.write(self._master, f"{text}{enter}".encode())

    def wait_for(self, *texts: str, seconds: float = 60.0) -> str:
        """Wait for some texts in this order, and return the output up to the last of them."""
        shown = ""
        until = time.monotonic() + seconds
        for text in texts:
            while text not in self.seen:
                going_on = time.monotonic() < until and self._read()
                assert going_on, f"no {text!r} in {self.seen[-_MOST_SHOWN:]!r}"
            head, _, self.seen = self.seen.partition(text)
            shown += head + text
        return shown

    def end(self, seconds: float = 60.0) -> int:
        """Wait for the end of the process and return its exit code."""
        until = time.monotonic() + seconds
        while self._read():
            assert time.monotonic() < until, f"no end; shown: {self.seen[-_MOST_SHOWN:]!r}"
        return self._process.wait(seconds)

    def kill(self) -> None:
        """Kill the process, as a power failure would."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _read(self) -> bool:
        """Read the output of up to one second; return False at the end."""
        ready, _, _ = select.select([self._master], [], [], 1.0)
        if not ready:
            return self._process.poll() is None
        try:
            data = os.read(self._master, 65_536)
        except OSError:
            return False
        text = _STEERING.sub("", self._rest + self._decoder.decode(data))
        # What begins with an escape and has not ended goes on in the next piece.
        head, escape, tail = text.rpartition("\x1b")
        self.seen += (head if escape else tail).replace("\r\n", "\n")
        self._rest = escape + tail if escape else ""
        return bool(data)
