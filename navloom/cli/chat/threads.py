"""Where conversations are kept: one SQLite file a thread, in a folder of the user's.

LangGraph's own saver, with strict msgpack: only plain data and LangChain messages come back out of
a file, so one that somebody else wrote cannot make this process import or call anything. Without a
thread's name a conversation is kept in memory and ends with the process.
"""

from __future__ import annotations

import os
import re
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from navloom.errors import UsageError

__all__ = ["open_thread", "thread_file", "threads_folder"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def threads_folder(given: Path | None = None) -> Path:
    """Where threads are kept: ``given``, else the user's folder for data of programs."""
    if given is not None:
        return given.expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "navloom" / "threads"
    base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "navloom" / "threads"


def thread_file(name: str, folder: Path) -> Path:
    """The file of a thread.

    Raises:
        UsageError: a name that is no plain file name.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"--thread {name[:80]!r}: expected a plain name of letters, digits, '.', '_' and '-',"
            " at most 64 of them, such as 'tuesday'."
        )
    return folder / f"{name}.sqlite"


@asynccontextmanager
async def open_thread(path: Path | None) -> AsyncIterator[Any]:
    """A checkpointer for one conversation, as long as the block lasts.

    Args:
        path: its file, made where it is not there; None keeps it in memory.

    Raises:
        UsageError: the file is broken, in use by another chat, or cannot be written.
    """
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    strict = JsonPlusSerializer(allowed_msgpack_modules=None)
    if path is None:
        from langgraph.checkpoint.memory import InMemorySaver

        yield InMemorySaver(serde=strict)
        return
    import aiosqlite
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{path.parent}: {error.strerror}: choose another --threads.") from error
    try:
        # First from here: aiosqlite's thread outlives a file that cannot be opened, and complains.
        sqlite3.connect(path).close()
        async with aiosqlite.connect(path, timeout=2) as connection:
            # The lock is kept until the end: two chats in one thread would mix their words.
            await connection.execute("PRAGMA locking_mode=EXCLUSIVE")
            saver = AsyncSqliteSaver(connection, serde=strict)
            await saver.setup()
            await connection.execute("PRAGMA synchronous=NORMAL")
            await connection.execute("BEGIN EXCLUSIVE")
            await connection.commit()
            yield saver
    except sqlite3.Error as error:
        raise _trouble(path, error) from error


def _trouble(path: Path, error: sqlite3.Error) -> UsageError:
    if "locked" in str(error):
        return UsageError(f"{path} is in use: leave the other chat, or give another --thread.")
    if isinstance(error, sqlite3.OperationalError):
        return UsageError(f"{path} cannot be used: {error}. Choose another --threads folder.")
    return UsageError(f"{path} is broken: {error}. Delete it, or give another --thread.")
