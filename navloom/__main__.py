"""Entry point of ``navloom`` and ``python -m navloom``: it turns a signal into one line on stderr.

Importing the commands takes part of a second. A signal in that time ends the process at once, since
no work has begun.

Reading the commands takes a part of a second, in which nothing is begun that could be left half.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
from types import FrameType


def main() -> int:
    """Run this process's command line and return its exit code."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _at_once)
    from navloom.cli.main import INTERRUPTED
    from navloom.cli.main import main as door

    code = door()
    if code == INTERRUPTED:
        # After an interrupt has passed through generated code (dataclasses), Python ends by the
        # signal, as if nobody had caught it, and loses this exit code. So its exit steps run here.
        atexit._run_exitfuncs()
        sys.stdout.flush()
        os._exit(code)
    return code


def _at_once(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    os.write(2, b"navloom: stopped before anything was begun.\n")
    os._exit(130)


if __name__ == "__main__":
    sys.exit(main())
