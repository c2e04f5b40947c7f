"""The first that runs, of ``navloom`` as of ``python -m navloom``: from here on a stop is one line.

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
        # Where an interrupt passed through code made from text (dataclasses are), Python ends as if
        # nobody had caught it, by the signal and without this code: so what it does at its end is
        # done here.
        atexit._run_exitfuncs()
        sys.stdout.flush()
        os._exit(code)
    return code


def _at_once(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    os.write(2, b"navloom: stopped before anything was begun.\n")
    os._exit(130)


if __name__ == "__main__":
    sys.exit(main())
