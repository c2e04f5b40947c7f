"""Files that are there whole or not at all."""

from __future__ import annotations

from pathlib import Path

from navloom.errors import RunError
from navloom.evals.jsonl import cannot_write
from navloom.scenes.files import replace_file

__all__ = ["make_folder", "write_whole"]


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
    """Write a file so that at every instant it holds the old bytes or all of the new.

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
