"""Atomic writing of the files of an export."""

from __future__ import annotations

from pathlib import Path

from navloom.errors import SceneError
from navloom.files import replace_file


def write_files(folder: Path, files: dict[str, bytes]) -> None:
    """Write the files of a folder, and create missing folders.

    Args:
        folder: the output folder.
        files: content by path in the folder.

    Raises:
        SceneError: a file cannot be written; the message says which, and why.
    """
    for name, raw in files.items():
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, raw)
        except (FileExistsError, NotADirectoryError) as error:
            where = f"{path.parent} is a file, or lies in one"
            raise SceneError(f"{where}: give another folder.") from error
        except OSError as error:
            why = error.strerror or str(error)
            raise SceneError(f"{path}: cannot be written: {why}.") from error
