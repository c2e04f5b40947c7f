"""Files that survive whatever kills the process: whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, BinaryIO

from navloom.errors import RunError


def cannot_write(path: Path, error: Exception) -> RunError:
    """Say that something could not be written, why, and that what was written before is safe."""
    why = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return RunError(
        f"cannot write to {path}: {why}. What was finished before is kept: free space or give a"
        " folder that can be written, and run the same command again."
    )


_STUMBLES = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


@contextlib.contextmanager
def formed(where: str, what: str) -> Iterator[None]:
    """Say of what this block cannot use that it has not the form: other hands may write anything.

    Args:
        where: what is read, as the message begins.
        what: what it should be, such as "an episode".

    Raises:
        RunError: the block stumbled over a value.
    """
    try:
        yield
    except _STUMBLES as error:
        raise RunError(
            f"{where} has not the form of {what} ({repr(error)[:200]}): the run was made by another"
            " version or changed by other hands"
        ) from error


def check_place(path: Path, *, folder: bool) -> None:
    """Refuse a file or a folder that cannot be written, before any work is done for it.

    Args:
        path: what will be written, and made where it is missing; nothing is made now.
        folder: whether it is to be a folder.

    Raises:
        RunError: it cannot be; the message says why.
    """
    kind = "folder" if folder else "file"
    there = next(each for each in (path, *path.absolute().parents) if each.exists())
    if there == path and path.is_dir() and not folder:
        raise RunError(f"{path} is a folder: give a file in it")
    if not there.is_dir() and (folder or there != path):
        raise RunError(f"{path} is a file, or lies in one: give another {kind}")
    if not os.access(there, os.W_OK):
        raise RunError(f"{path} cannot be written: give another {kind}")


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


@cache
def packaged(package: str, name: str) -> Any:
    """What a YAML file of a package of ours says; it is read once, and nobody changes it.

    Args:
        package: the package that holds it.
        name: the file's.
    """
    import yaml

    return yaml.safe_load(files(package).joinpath(name).read_text("utf-8"))


def open_file(path: Path) -> BinaryIO:
    """Open a file for reading; a device, which may have no end, is none.

    Raises:
        OSError: it cannot be opened, or is a device.
    """
    mode = path.stat().st_mode
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise OSError(errno.EINVAL, "it is a device, and a file was expected", str(path))
    return open(path, "rb", opener=_at_once)


def _at_once(path: str, flags: int) -> int:
    """Open without waiting for somebody who writes into a pipe; what is read is waited for."""
    opened = os.open(path, flags | os.O_NONBLOCK)
    os.set_blocking(opened, True)
    return opened
