"""Base classes of all agent graphs: input, outcome, context, worker thread and checkpoints.

An agent is an :class:`AgentGraph`: LangGraph's ``StateGraph`` with three conventions.

- It takes its ``Input`` and returns only an :class:`Outcome`, so that it can be a node of another
  graph. Errors in input or context are reported in one line before any node runs.
- A node that is a plain function runs on the worker thread, never on the event loop. Scenes are
  loaded, prompts rendered and simulators moved there. There is one such thread, so that no scene or
  simulator is used by two threads at once. A node that asks a model is ``async`` and prepares the
  call by :func:`run_off_loop`.
- Growing values are stored by their increments (:data:`Growing`, :data:`Merging`): a checkpoint
  holds one step, not all steps before it. LangGraph rebuilds the values from earlier checkpoints,
  which therefore must not be pruned.

Checkpoints are stored in a SQLite file, and only plain data is read from it. A file from another
source cannot make this process import or call anything (strict msgpack). Each stored value has a
checksum behind its kind, ``msgpack:5f…``, so that a value with changed bytes is rejected. SQLite
itself checks the integrity of its pages.
"""

from __future__ import annotations

import asyncio
import contextvars
import sqlite3
import threading
from base64 import b64decode
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property, lru_cache, partial
from hashlib import blake2b
from inspect import iscoroutinefunction, signature
from itertools import chain, count
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeVar, get_type_hints

import aiosqlite
from langchain_core.language_models import BaseChatModel
from langgraph.channels import DeltaChannel
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Checkpointer
from langgraph.typing import ContextT, InputT, StateT
from pydantic import (
    BeforeValidator,
    ConfigDict,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
    with_config,
)
from pydantic_core import core_schema
from typing_extensions import TypedDict

from navloom.errors import UsageError
from navloom.files import write_error
from navloom.scenes.safe_files import first_problem
from navloom.scenes.scene import Scene
from navloom.sim.agent_handle import SimulatorLeases
from navloom.sim.protocol import Simulator

_MOST_STEPS = 1_000_000
"""Recursion limit. LangGraph's default is too low for a home's questions; contexts bound them."""
_DOCUMENTED = ConfigDict(use_attribute_docstrings=True)
T = TypeVar("T")
K = TypeVar("K")


def _extended(old: list[Any], new: Sequence[list[Any]]) -> list[Any]:
    return [*old, *chain.from_iterable(new)]


def _merged(old: dict[Any, Any], new: Sequence[dict[Any, Any]]) -> dict[Any, Any]:
    merged = dict(old)
    for each in new:
        merged |= each
    return merged


Growing = Annotated[list[T], DeltaChannel(_extended)]
"""List in a state, to which nodes return the elements to append."""
Merging = Annotated[dict[str, T], DeltaChannel(_merged)]
"""Mapping in a state, to which nodes return the entries to add or replace."""


class PythonField:
    """Schema annotation of a field that takes an object, or from JSON its name or null.

    Args:
        named: example of its name; None if only Python code can set it.
    """

    def __init__(self, named: str | None = None) -> None:
        self.named = named

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> core_schema.CoreSchema:
        """Return a schema that accepts any Python object, and a string or null from JSON."""
        del source, handler
        text, nothing = core_schema.str_schema(), core_schema.none_schema()
        return core_schema.json_or_python_schema(
            json_schema=nothing if self.named is None else text,
            python_schema=core_schema.any_schema(),
            metadata={"pydantic_js_updates": {"examples": [self.named]} if self.named else {}},
        )


SceneLike = Annotated[Scene | str, PythonField("home:7")]
"""A scene, or its URI."""
ModelLike = Annotated[BaseChatModel | str, PythonField("builtin/heuristic")]
"""A chat model, or its ``provider/name``."""
SimulatorLike = Annotated[Simulator | Callable[[], Simulator] | str, PythonField("graph")]
"""A simulator, a function that makes one for each run, or the name of a backend."""
Picture = Annotated[
    bytes,
    BeforeValidator(lambda given: b64decode(given) if isinstance(given, str) else given),
    WithJsonSchema({"type": "string", "contentEncoding": "base64"}),
]
"""A PNG or JPEG file; from JSON in base64."""


@with_config(_DOCUMENTED)
class Outcome(TypedDict, total=False):
    """Outcome of a graph."""

    result: dict[str, Any]
    """The result; each graph documents its keys."""
    status: Literal["ok", "failed"]
    """``failed``: the agent did not succeed. A program error raises an exception instead."""
    reason: str | None
    """Code of the failure, for counting."""
    message: str | None
    """Failure message in one line."""
    usage: Growing[dict[str, Any]]
    """Usage of each model call (:class:`navloom.models.usage.ModelUsage`), including those of
    subgraphs."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AgentContext:
    """Settings of a graph that stay fixed during a run. Contexts are compared by identity.

    Values are validated on construction, and values from JSON are converted to the field's type.

    Raises:
        UsageError: a field cannot take its value.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _DOCUMENTED

    def __post_init__(self) -> None:
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        where = f"{type(self).__module__}.{type(self).__qualname__}"
        kind: Any = type(self)
        for name, value in validate_values(_fields(kind), given, where).items():
            object.__setattr__(self, name, value)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> Any:
        """Return the schema for servers and clients, with descriptions of inherited fields."""
        made = handler(schema)
        properties = handler.resolve_ref_schema(made)["properties"]
        for base in cls.__mro__[1:]:
            if is_dataclass(base):
                inherited = TypeAdapter(base).json_schema().get("properties", {})
                for name, each in inherited.items():
                    properties[name].setdefault("description", each.get("description"))
        return made

    @cached_property
    def leases(self) -> SimulatorLeases:
        """Simulators created for this context, one for each run and thread."""
        return SimulatorLeases()


@lru_cache(maxsize=64)
def _fields(kind: Any) -> TypeAdapter[Any]:
    hints = get_type_hints(kind, include_extras=True)
    named = {each.name: hints[each.name] for each in fields(kind)}
    made = TypedDict(kind.__name__, named)  # type: ignore[misc]
    return TypeAdapter(made)


def validate_values(
    kind: TypeAdapter[Any], given: Mapping[str, Any], where: str, *, strict: bool = False
) -> dict[str, Any]:
    """Validate the values of a mapping and return them converted to its schema.

    Args:
        kind: type adapter of a TypedDict.
        given: name -> value. Names that are not in the schema are dropped.
        where: owner of the values, for the error message.
        strict: do not convert between types, such as '5' to a number.

    Raises:
        UsageError: the first invalid value, with its location and the expected type.
    """
    try:
        found: dict[str, Any] = kind.validate_python(dict(given), strict=strict)
    except ValidationError as error:
        raise UsageError(f"{where}: {first_problem(error)}") from None
    return found


class AgentGraph(StateGraph[StateT, ContextT, InputT, Any]):
    """LangGraph's ``StateGraph`` with the conventions of this module.

    Args:
        state: type of its state, which holds an `Outcome`.
        context: type of its context, an `AgentContext`.
        input: type of its input.
        name: name of the graph.
        output: type of its output; by default an `Outcome`.
    """

    def __init__(
        self,
        state: type[StateT],
        context: type[ContextT],
        input: Any,  # noqa: A002  LangGraph's own word
        name: str,
        *,
        output: Any = Outcome,
    ) -> None:
        input.__pydantic_config__ = _DOCUMENTED
        super().__init__(state, context_schema=context, input_schema=input, output_schema=output)
        self.name = name
        self._first: frozenset[str] = frozenset()

    def add_node(self, node: Any, action: Any = None, **settings: Any) -> Any:
        """Add a node. A plain function runs off the event loop, an ``async`` one on it."""
        if not callable(action):
            return super().add_node(node, action, **settings)
        return super().add_node(node, self._guarded(node, action), **settings)

    def _guarded(self, node: str, action: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
        both, waits = len(signature(action).parameters) > 1, iscoroutinefunction(action)
        inner = getattr(action, "runs_graph", None)

        async def guarded(state: Any, runtime: Runtime[Any]) -> Any:
            self.check_context(runtime.context)
            if node in self._first:
                await run_off_loop(self._check_input, state)
            if inner is not None:  # LangGraph finds the graph by this name, as in `as_node`.
                return await action(state, runtime)
            given = (state, runtime) if both else (state,)
            return await (action(*given) if waits else run_off_loop(action, *given))

        return guarded

    def check_context(self, context: Any) -> None:
        """Check that a context is of this graph's type.

        Raises:
            UsageError: the context is missing or another graph's; the message names the right one.
        """
        kind: Any = self.context_schema
        if not isinstance(context, kind):
            given = type(context)
            found = "no context" if context is None else f"a {given.__module__}.{given.__name__}"
            needs = ", ".join(each.name for each in fields(kind))
            raise UsageError(
                f"{self.name} was given {found}: give context={kind.__module__}.Context(...), of"
                f" {needs}; within a graph of yours put it by as_node({self.name}, context=...)."
            )

    def _check_input(self, state: Mapping[str, Any]) -> None:
        kind: Any = self.input_schema
        known = {key: state[key] for key in kind.__annotations__ if state.get(key) is not None}
        validate_values(_adapter(kind), known, f"{self.name}'s input", strict=True)

    def compile(self, checkpointer: Checkpointer = None, **settings: Any) -> Any:
        """Return the compiled graph.

        Args:
            checkpointer: store of its steps; by default none.
            settings: other settings of LangGraph.
        """
        branches = self.branches.get(START, {}).values()
        ends = chain.from_iterable((branch.ends or {}).values() for branch in branches)
        self._first = frozenset({*ends, *(end for start, end in self.edges if start == START)})
        made = super().compile(checkpointer=checkpointer, name=self.name, **settings)
        return made.with_config(recursion_limit=_MOST_STEPS)


@lru_cache(maxsize=64)
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


_HOUSE = ThreadPoolExecutor(1, thread_name_prefix="navloom.house")


def is_off_loop() -> bool:
    """Check whether the current thread is the worker thread."""
    return threading.current_thread().name.startswith("navloom.house")


async def run_off_loop(work: Callable[..., T], *given: Any) -> T:
    """Run blocking work on the worker thread and return its result.

    Args:
        work: function to run. It must not wait for another graph.
        given: its arguments.
    """
    if is_off_loop():
        return work(*given)
    call = partial(contextvars.copy_context().run, work, *given)
    return await asyncio.get_running_loop().run_in_executor(_HOUSE, call)


_TABLES = {
    "checkpoints": (
        "thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type",
        "checkpoint, metadata",
    ),
    "writes": ("thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type", "value"),
}
"""Table -> columns that are read as text, and columns that hold bytes."""
_LOST = """
    SELECT (SELECT count(*) FROM checkpoints AS one WHERE parent_checkpoint_id IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM checkpoints AS before
                WHERE before.thread_id = one.thread_id AND before.checkpoint_ns = one.checkpoint_ns
                AND before.checkpoint_id = one.parent_checkpoint_id))
        + (SELECT count(*) FROM (SELECT 1 FROM checkpoints WHERE parent_checkpoint_id IS NULL
            GROUP BY thread_id, checkpoint_ns HAVING count(*) > 1))"""
"""Counts steps with a missing parent, and threads that begin more than once. Growing values need
the unbroken chain of steps."""
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
"""Primary result codes of https://sqlite.org/rescode.html for permissions, disk or other processes.
All other codes mean that the content of the file is the cause."""


class CheckedSerializer(JsonPlusSerializer):
    """Serializer of plain data and LangChain messages with checksums; old values have none."""

    def __init__(self) -> None:
        super().__init__(allowed_msgpack_modules=None)

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """Return a value's kind with its checksum, and its bytes."""
        kind, data = super().dumps_typed(obj)
        return f"{kind}:{_check(data)}", data

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """Return the value of serialized bytes.

        Raises:
            ValueError: the bytes differ from those that were written.
        """
        kind, _, check = data[0].partition(":")
        if check and check != _check(data[1]):
            raise ValueError("a value was changed since it was written")
        return super().loads_typed((kind, data[1]))


def _check(data: bytes) -> str:
    return blake2b(data, digest_size=8).hexdigest()


@asynccontextmanager
async def open_saver(path: Path, *, alone: bool = False) -> AsyncIterator[AsyncSqliteSaver]:
    """Open a checkpoint file for the duration of the block.

    Args:
        path: the file; created if missing.
        alone: lock the file against other processes for the duration.

    Raises:
        sqlite3.Error: the file is broken, in use, or cannot be written.
    """
    # Opened here first, since aiosqlite's thread outlives a file that cannot be opened.
    sqlite3.connect(path).close()
    # Workers of one machine write to one file, so each waits for the others' steps.
    async with aiosqlite.connect(path, timeout=2 if alone else 30) as connection:
        if alone:
            await connection.execute("PRAGMA locking_mode=EXCLUSIVE")
        saver = AsyncSqliteSaver(connection, serde=CheckedSerializer())
        await saver.setup()
        await _rename_usage(saver)
        await connection.execute("PRAGMA synchronous=NORMAL")
        if alone:
            await connection.execute("BEGIN EXCLUSIVE")
            await connection.commit()
        yield saver


async def _rename_usage(saver: AsyncSqliteSaver) -> None:
    """Rename the channel ``paid`` of files of earlier versions to ``usage``."""
    connection, old, new = saver.conn, "paid", "usage"
    old_writes = "SELECT 1 FROM writes WHERE channel = ? LIMIT 1"
    if await (await connection.execute(old_writes, (old,))).fetchone() is None:
        return
    await connection.execute("BEGIN IMMEDIATE")
    await connection.execute("UPDATE writes SET channel = ? WHERE channel = ?", (new, old))
    query = "SELECT rowid, type, checkpoint FROM checkpoints"
    for row, kind, data in await (await connection.execute(query)).fetchall():
        # A damaged value is left unchanged. Reading it reports the damage.
        with suppress(Exception):
            kept = saver.serde.loads_typed((kind, data))
            versions = kept["versions_seen"].values()
            for each in (kept["channel_values"], kept["channel_versions"], *versions):
                if old in each:
                    each[new] = each.pop(old)
            if changed := kept.get("updated_channels"):
                kept["updated_channels"] = [new if each == old else each for each in changed]
            await connection.execute(
                "UPDATE checkpoints SET type = ?, checkpoint = ? WHERE rowid = ?",
                (*saver.serde.dumps_typed(kept), row),
            )
    await connection.commit()


@asynccontextmanager
async def open_checkpoints(
    path: Path, note: Callable[[str], None] = lambda _: None
) -> AsyncIterator[AsyncSqliteSaver]:
    """Open the checkpoints of a run's samples for the duration of the block.

    Args:
        path: the file. A broken file is renamed and a new one created.
        note: receives a message about a broken file.

    Raises:
        RunError: the file cannot be written, or breaks while it is open.
    """
    try:
        if wrong := find_damage(path):
            aside = quarantine_file(path)
            note(
                f"{path} is broken: {wrong}. It is kept as {aside.name}; what is finished is not in"
                " it, samples that were under way start over, and what they had used is not counted"
            )
        async with open_saver(path) as saver:
            yield saver
    except sqlite3.Error as error:
        raise write_error(path, error) from error


def find_damage(path: Path) -> str | None:
    """Return the damage found in a checkpoint file, or None.

    Raises:
        sqlite3.Error: the file is in use, or cannot be read at all.
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
        # SQLite's message may contain bytes of the broken file.
        return _in_a_line(str(error))


def is_damage(error: Exception) -> bool:
    """Check whether an error means wrong bytes in a file, not permissions, disk or a lock.

    Python's own errors, such as for invalid UTF-8, have no SQLite code and count as damage.
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


def quarantine_file(path: Path) -> Path:
    """Rename a checkpoint file and SQLite's side files to ``NAME.broken-N`` with the first free N.

    Returns:
        The new path.

    Raises:
        RunError: the file cannot be renamed.
    """
    free = (Path(f"{path}.broken-{number}") for number in count(1))
    to = next(each for each in free if not each.exists())
    for ending in _BESIDE:
        try:
            Path(f"{path}{ending}").rename(f"{to}{ending}")
        except FileNotFoundError:
            continue
        except OSError as error:
            raise write_error(to, error) from error
    return to


async def drop_last_reply(saver: AsyncSqliteSaver, thread: str) -> None:
    """Rewind a thread to the point before its model's last reply.

    Later checkpoints are deleted, also those of subgraphs, and so are results of the steps that are
    open again. Earlier checkpoints stay, since growing channels are rebuilt from them.
    """
    connection, name = saver.conn, (thread,)
    async with connection.execute(
        "SELECT max(checkpoint_id) FROM writes WHERE thread_id = ? AND channel = 'usage'", name
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


async def started_threads(saver: AsyncSqliteSaver) -> set[str]:
    """Return the names of the threads that have a checkpoint."""
    async with saver.conn.execute("SELECT DISTINCT thread_id FROM checkpoints") as rows:
        return {str(row[0]) async for row in rows}


async def last_checkpoint(saver: AsyncSqliteSaver, thread: str) -> str:
    """Return the id of a thread's last checkpoint, including subgraphs; empty for none."""
    asked = "SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = ?"
    async with saver.conn.execute(asked, (thread,)) as rows:
        found = await rows.fetchone()
    return str(found[0] or "") if found else ""
