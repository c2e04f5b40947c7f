"""The checkpoints of a run: LangGraph's own SQLite saver, set up once and strictly.

Write-ahead logging with ``synchronous=NORMAL`` keeps every step that was committed when the process
is killed, at any moment. A power cut may lose the last steps (they are done again) and never breaks
the file; finished samples are apart, in ``samples.jsonl``, and synced.

Only plain data and LangChain messages come back out of a checkpoint (strict msgpack): a file that
someone else wrote cannot make this process import or call anything.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiosqlite
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from navloom.errors import RunError

__all__ = ["begun", "checkpoint_trouble", "open_checkpoints"]


def checkpoint_trouble(path: Path, error: sqlite3.Error) -> RunError:
    """Say what is wrong with a checkpoint file and what to do about it."""
    if isinstance(error, sqlite3.OperationalError):
        return RunError(
            f"cannot write to {path}: {error}. What was finished before is kept: free space or give"
            " a folder that can be written, and run the same command again."
        )
    return RunError(
        f"{path} is broken: {error}. Delete it and run the same command again: finished samples are"
        " kept, those under way start over."
    )


@asynccontextmanager
async def open_checkpoints(path: Path) -> AsyncIterator[AsyncSqliteSaver]:
    """Open the checkpoints of a run for as long as the block lasts.

    Raises:
        RunError: the file is broken or cannot be written.
    """
    try:
        async with aiosqlite.connect(path) as connection:
            saver = AsyncSqliteSaver(
                connection, serde=JsonPlusSerializer(allowed_msgpack_modules=None)
            )
            await saver.setup()
            await connection.execute("PRAGMA synchronous=NORMAL")
            yield saver
    except sqlite3.Error as error:
        raise checkpoint_trouble(path, error) from error


async def begun(saver: AsyncSqliteSaver) -> set[str]:
    """Ids of the samples that have a checkpoint."""
    async with saver.conn.execute("SELECT DISTINCT thread_id FROM checkpoints") as rows:
        return {str(row[0]) async for row in rows}
