"""Files that are there whole or not at all, whatever kills the process or the power."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from navloom.errors import RunError


def cannot_write(path: Path, error: OSError) -> RunError:
    """Say that something could not be written, why, and that what was written before is safe."""
    why = error.strerror or type(error).__name__
    return RunError(
        f"cannot write to {path}: {why}. What was finished before is kept: free space or give a"
        " folder that can be written, and run the same command again."
    )


def make_folder(path: Path) -> None:
    """Make a folder, parents too, where there is none.

    Raises:
        RunError: it cannot be made; the message says why.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise RunError(f"{path} is a file, or lies in one: give --out another folder") from None
    except OSError as error:
        raise RunError(f"cannot make the folder {path}: {error.strerror}") from error


def write_whole(target: Path, data: bytes) -> Path:
    """:func:`replace_file` for what a run writes.

    Args:
        target: the file; its folder must be there.
        data: what it shall hold.

    Returns:
        ``target``.

    Raises:
        RunError: it cannot be written; what was there stays.
    """
    try:
        replace_file(target, data)
    except OSError as error:
        raise cannot_write(target, error) from error
    return target


def replace_file(path: Path, data: bytes) -> None:
    """Write a file so that at every instant, and after a power cut, it is the old or the new one.

    Args:
        path: the file; its folder must be there.
        data: what it shall hold.

    Raises:
        OSError: it cannot be written; what was there stays, and nothing else is left behind.
    """
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        # mkstemp's file is its owner's alone; a file that was just written is everyone's.
        mask = os.umask(0)
        os.umask(mask)
        Path(part).chmod(0o666 & ~mask)
        Path(part).replace(path)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
