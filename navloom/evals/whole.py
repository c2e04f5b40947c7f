"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from navloom.evals.lines import cannot_write

__all__ = ["write_whole"]


def write_whole(target: Path, data: bytes) -> Path:
    """Write a file so that at every instant it holds the old bytes or all of the new.

    Args:
        target: the file; its folder must be there.
        data: what it shall hold.

    Returns:
        ``target``.

    Raises:
        RunError: it cannot be written; what was there stays.
    """
    half = target.with_name(f".{target.name}.{os.getpid()}.half")
    try:
        with half.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        half.replace(target)
    except OSError as error:
        with contextlib.suppress(OSError):
            half.unlink()
        raise cannot_write(target, error) from error
    return target
