"""The protocol of pools: whoever has workers somewhere, and text to and from each."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Protocol

MOST_TEXT = 64 * 1024 * 1024
"""Characters of one text at most."""
_BOOT = Path("/proc/sys/kernel/random/boot_id")


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


def this_machine() -> str:
    """A name of this machine that no other has while it is up."""
    try:
        return _BOOT.read_text().strip()
    except OSError:
        return socket.gethostname()
