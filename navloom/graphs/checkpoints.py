"""Checkpoints in a SQLite file: only plain data comes out of it, and what was touched is said.

A file that somebody else wrote cannot make this process import or call anything (strict msgpack).
Each value that is kept carries a check of its bytes behind its kind, ``msgpack:5f…``, so that one
with flipped bytes is never read as another; SQLite itself says whether its pages hang together.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from hashlib import blake2b
from itertools import count
from pathlib import Path
from typing import Any

import aiosqlite
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from navloom.files import cannot_write

_TABLES = {
    "checkpoints": (
        "thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type",
        "checkpoint, metadata",
    ),
    "writes": ("thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type", "value"),
}
"""Columns that are read as text, and those that hold bytes."""
_LOST = """
    SELECT (SELECT count(*) FROM checkpoints AS one WHERE parent_checkpoint_id IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM checkpoints AS before
                WHERE before.thread_id = one.thread_id AND before.checkpoint_ns = one.checkpoint_ns
                AND before.checkpoint_id = one.parent_checkpoint_id))
        + (SELECT count(*) FROM (SELECT 1 FROM checkpoints WHERE parent_checkpoint_id IS NULL
            GROUP BY thread_id, checkpoint_ns HAVING count(*) > 1))"""
"""How many steps name one before them that is not there, and threads begin more than once: what
grows is read along the steps."""
_BESIDE = ("", "-wal", "-shm")
_NOT_THE_FILE = {
    sqlite3.SQLITE_AUTH,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOLFS,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_READONLY,
}
"""Primary result codes of https://sqlite.org/rescode.html that blame a right, a disk or another
process; of all others what stands in the file is the cause."""


class Plain(JsonPlusSerializer):
    """Plain data and LangChain messages, each value with a check; values of before have none."""

    def __init__(self) -> None:
        super().__init__(allowed_msgpack_modules=None)

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """A value's kind, with its check, and its bytes."""
        kind, data = super().dumps_typed(obj)
        return f"{kind}:{_check(data)}", data

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """The value again.

        Raises:
            ValueError: its bytes are not those that were written.
        """
        kind, _, check = data[0].partition(":")
        if check and check != _check(data[1]):
            raise ValueError("a value was changed since it was written")
        return super().loads_typed((kind, data[1]))


def _check(data: bytes) -> str:
    return blake2b(data, digest_size=8).hexdigest()


@asynccontextmanager
async def open_saver(path: Path, *, alone: bool = False) -> AsyncIterator[AsyncSqliteSaver]:
    """Open a file of checkpoints for as long as the block lasts.

    Args:
        path: made where there is none.
        alone: keep everyone else out until the end.

    Raises:
        sqlite3.Error: it is broken, in use, or cannot be written.
    """
    # First from here: aiosqlite's thread outlives a file that cannot be opened, and complains.
    sqlite3.connect(path).close()
    # Workers of one machine write into one file: each waits for the others' steps.
    async with aiosqlite.connect(path, timeout=2 if alone else 30) as connection:
        if alone:
            await connection.execute("PRAGMA locking_mode=EXCLUSIVE")
        saver = AsyncSqliteSaver(connection, serde=Plain())
        await saver.setup()
        await connection.execute("PRAGMA synchronous=NORMAL")
        if alone:
            await connection.execute("BEGIN EXCLUSIVE")
            await connection.commit()
        yield saver


@asynccontextmanager
async def open_checkpoints(
    path: Path, note: Callable[[str], None] = lambda _: None
) -> AsyncIterator[AsyncSqliteSaver]:
    """Open the checkpoints of a run's samples for as long as the block lasts.

    Args:
        path: the file; one that is broken is set aside, and a new one begun.
        note: is told of it.

    Raises:
        RunError: the file cannot be written, or breaks while it is open.
    """
    try:
        if wrong := what_is_wrong(path):
            aside = set_aside(path)
            note(
                f"{path} is broken: {wrong}. It is kept as {aside.name}; what is finished is not in"
                " it, samples that were under way start over, and what they had used is not counted"
            )
        async with open_saver(path) as saver:
            yield saver
    except sqlite3.Error as error:
        raise cannot_write(path, error) from error


def what_is_wrong(path: Path) -> str | None:
    """What shows that a file of checkpoints was touched; None where nothing does.

    Raises:
        sqlite3.Error: it is in use, or cannot be read at all.
    """
    if not path.is_file() or not path.stat().st_size:
        return None
    log = Path(f"{path}-wal")
    logged = log.exists() and log.stat().st_size > 0
    try:
        with closing(sqlite3.connect(path, timeout=2)) as file:
            file.text_factory = bytes
            return _wrong_within(file, logged) or _wrong_ahead(path)
    except (sqlite3.Error, UnicodeDecodeError) as error:
        if not is_damage(error):
            raise
        # What SQLite says of a broken file may cite bytes of it.
        return _in_a_line(str(error))


def is_damage(error: Exception) -> bool:
    """Whether an error says that a file's bytes are wrong: no right, disk or other process is.

    Python's own errors, as of text that is no UTF-8, have no code of SQLite's.
    """
    code = getattr(error, "sqlite_errorcode", None)
    return code is None or code & 0xFF not in _NOT_THE_FILE


def _wrong_ahead(path: Path) -> str | None:
    # Byte 18 of https://sqlite.org/fileformat.html: beyond 2 SQLite may not write the file.
    with path.open("rb") as file:
        return "its header forbids to write it" if file.read(19)[18:] > b"\x02" else None


def _in_a_line(said: str) -> str:
    return " ".join(said.split())[:200]


def _wrong_within(file: sqlite3.Connection, logged: bool) -> str | None:
    listed = file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    names = {name.decode(errors="replace") for (name,) in listed}
    if strange := sorted(names - _TABLES.keys()):
        return f"it holds a table {strange[0][:40]!r}"
    if logged and not names:
        return "nothing of what was written last can be read"
    for name in names:
        text, data = _TABLES[name]
        file.execute(f"SELECT {data} FROM {name} LIMIT 0")  # noqa: S608  our own words
        try:
            for row in file.execute(f"SELECT {text} FROM {name}"):  # noqa: S608
                b" ".join(each for each in row if isinstance(each, bytes)).decode()
        except UnicodeDecodeError:
            return f"a text in its table '{name}' is no UTF-8"
    if "checkpoints" in names and file.execute(_LOST).fetchone() != (0,):
        return "a step that others follow is gone"
    (said,) = file.execute("PRAGMA integrity_check(1)").fetchone()
    return None if said == b"ok" else _in_a_line(said.decode(errors="replace"))


def set_aside(path: Path) -> Path:
    """Rename a file of checkpoints, and what SQLite keeps beside it, to ``NAME.broken-1`` or so.

    Returns:
        Its new path.

    Raises:
        RunError: it cannot be renamed.
    """
    free = (Path(f"{path}.broken-{number}") for number in count(1))
    to = next(each for each in free if not each.exists())
    for ending in _BESIDE:
        try:
            Path(f"{path}{ending}").rename(f"{to}{ending}")
        except FileNotFoundError:
            continue
        except OSError as error:
            raise cannot_write(to, error) from error
    return to


async def forget_last_reply(saver: AsyncSqliteSaver, thread: str) -> None:
    """Take a thread back to where its model had not given its last reply.

    What came after goes, in graphs within its graph too, and so do results of the steps that are
    open again. What it leads from stays: channels that grow are read from all of it.
    """
    connection, name = saver.conn, (thread,)
    async with connection.execute(
        "SELECT max(checkpoint_id) FROM writes WHERE thread_id = ? AND channel = 'paid'", name
    ) as rows:
        found = await rows.fetchone()
    if found is None or found[0] is None:
        return
    for table in ("checkpoints", "writes"):
        await connection.execute(
            f"DELETE FROM {table} WHERE thread_id = ? AND checkpoint_id > ?",  # noqa: S608
            (thread, found[0]),
        )
    await connection.execute(
        "DELETE FROM writes WHERE thread_id = ?1 AND checkpoint_id IN (SELECT max(checkpoint_id)"
        " FROM checkpoints WHERE thread_id = ?1 GROUP BY checkpoint_ns)",
        name,
    )
    await connection.commit()


async def begun(saver: AsyncSqliteSaver) -> set[str]:
    """Names of the threads that have a checkpoint."""
    async with saver.conn.execute("SELECT DISTINCT thread_id FROM checkpoints") as rows:
        return {str(row[0]) async for row in rows}


async def last_step(saver: AsyncSqliteSaver, thread: str) -> str:
    """The id of a thread's last checkpoint, of graphs within its graph too; empty for none."""
    asked = "SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = ?"
    async with saver.conn.execute(asked, (thread,)) as rows:
        found = await rows.fetchone()
    return str(found[0] or "") if found else ""
