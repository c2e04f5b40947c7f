"""Saved conversations (threads): one SQLite file each, in a folder of the user's.

A running chat locks its file. Listings are read from a copy, so that they neither lock out a
running chat nor touch its files.

``/save`` writes the transcript and every pose as JSON, and the trajectory as an image:

    {"format": "navloom.chat/1", "scene": "demo:house", "model": "builtin/heuristic",
     "transcript": [{"who", "text", "turn", "at"}, ...], "trajectory": [[viewpoint, heading,
     elevation], ...]}

Of a body that drives, ``positions`` also holds x, y and z of every pose, and its viewpoint is the
one it stands on or by. ``at`` is the number of poses when a line was said.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import repeat
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from navloom.errors import NavloomError, UsageError, did_you_mean
from navloom.files import replace_file
from navloom.graphs import agent_graph
from navloom.graphs.chat.chat import build_graph
from navloom.models.redaction import redact
from navloom.scenes.safe_files import parse_json, read_json, scene_errors
from navloom.scenes.scene import Scene
from navloom.tools.model_output import sanitize_line

MOST_LISTED = 200
"""Most threads that are listed: those changed last."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_ENDING = ".sqlite"
_BESIDE = ("", "-wal", "-shm")
_MOST_LAST = 200
_TRIES = 3
_listed: dict[Path, tuple[list[tuple[int, int]], ChatThread]] = {}
"""Cache of listed threads, with the stamps of their files when they were read."""
_held: dict[Path, Any] = {}
"""Savers of the threads that this process has open. Their files must be read through SQLite only:
if one process opens a file twice, closing it gives up the lock."""


class BrokenThreadError(UsageError):
    """The stored state of a conversation is damaged, so that it cannot go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatThread:
    """Summary of a saved conversation.

    Attributes:
        name: as ``--thread`` takes it.
        scene: the home's portable name.
        body: the body's name.
        model: the model that answered last; None where none has.
        when: time of the last step, as ISO 8601 in UTC.
        lines: number of lines in the transcript.
        last: the last line, at most 200 characters; empty where there is none.
        held: whether some process (including this one) has it open.
    """

    name: str
    scene: str
    body: str
    model: str | None
    when: str
    lines: int
    last: str
    held: bool


def threads_folder(given: Path | None = None) -> Path:
    """Return the folder of saved threads: ``given``, else one in the user's data folder."""
    if given is not None:
        return given.expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "navloom" / "threads"
    base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "navloom" / "threads"


def thread_file(name: str, folder: Path) -> Path:
    """Return the file of a thread.

    Raises:
        UsageError: the name is no plain file name.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"--thread {name[:80]!r}: expected a plain name of letters, digits, '.', '_' and '-',"
            " at most 64 of them, such as 'tuesday'."
        )
    return folder / f"{name}{_ENDING}"


@asynccontextmanager
async def open_thread(path: Path | None) -> AsyncIterator[Any]:
    """Open a checkpointer for one conversation, as long as the block lasts.

    Args:
        path: its file, created if missing; None keeps it in memory.

    Raises:
        UsageError: the file is broken, in use by another chat, or cannot be written.
        RunError: it is broken and cannot be put aside.
    """
    if path is None:
        from langgraph.checkpoint.memory import InMemorySaver

        yield InMemorySaver(serde=agent_graph.CheckedSerializer())
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{path.parent}: {error.strerror}: choose another --threads.") from error
    try:
        if wrong := agent_graph.find_damage(path):
            raise BrokenThreadError(f"{path} is broken: {wrong}.")
        # Locked until the end: two chats in one thread would mix their messages.
        async with agent_graph.open_saver(path, alone=True) as saver:
            _held[path.resolve()] = saver
            try:
                yield saver
            finally:
                del _held[path.resolve()]
    except BrokenThreadError as error:
        raise _kept_aside(path, str(error)) from error
    except sqlite3.Error as error:
        if agent_graph.is_damage(error):
            raise _kept_aside(path, f"{path} is broken: {error}.") from error
        said = f"{path} cannot be used: {error}. Choose another --threads folder."
        if "locked" in str(error):
            said = f"{path} is in use: leave the other chat, or give another --thread."
        raise UsageError(said) from error


def _kept_aside(path: Path, said: str) -> UsageError:
    """Put a damaged thread's file aside, and return the error that says where it is now."""
    return UsageError(
        f"{said} It is kept as {agent_graph.quarantine_file(path)}, and nothing was begun in its"
        " place: the same command once more begins a new conversation."
    )


async def list_threads(folder: Path) -> tuple[list[ChatThread], list[str]]:
    """Return the saved conversations in a folder, the latest first.

    Args:
        folder: may be missing.

    Returns:
        The conversations, and a line for each one that cannot be read.

    Raises:
        UsageError: the folder cannot be read.
    """
    try:
        files = [
            (path.stat().st_mtime, path)
            for path in folder.glob(f"*{_ENDING}")
            if _NAME.fullmatch(path.stem) and path.is_file()
        ]
    except OSError as error:
        raise UsageError(f"{folder}: {error.strerror}: choose another --threads.") from error
    listed = [path for _, path in sorted(files, reverse=True)]
    found, notes = list[ChatThread](), list[str]()
    for path in listed[:MOST_LISTED]:
        try:
            thread = await _read(path)
            found += [thread] if thread else []
        except FileNotFoundError:
            # It was deleted in the meantime.
            continue
        except Exception as error:
            # A damaged file can make its readers raise any exception.
            why = str(error) if isinstance(error, NavloomError) else repr(error)
            notes.append(f"{path.name} cannot be read: {sanitize_line(why, 160)}")
    if len(listed) > MOST_LISTED:
        notes.append(f"{len(listed) - MOST_LISTED} older conversations are not listed.")
    return sorted(found, key=lambda each: each.when, reverse=True), notes


async def _read(path: Path) -> ChatThread | None:
    """Return the summary of a thread; None where it has not quite begun."""
    mine = _held.get(path.resolve())
    if mine is not None:
        return await _told(path.stem, mine, held=True)
    held, stamps = await asyncio.to_thread(_is_held, path), _stamps(path)
    before = _listed.get(path.resolve())
    if before is not None and before[0] == stamps:
        return replace(before[1], held=held)
    for tries in reversed(range(_TRIES)):
        with tempfile.TemporaryDirectory(prefix="navloom-") as folder:
            copy = Path(folder) / "copy.sqlite"
            try:
                await asyncio.to_thread(_copied, path, copy)
                async with agent_graph.open_saver(copy) as saver:
                    told = await _told(path.stem, saver, held=held)
            except Exception:
                # The copy of a file that is being written may be inconsistent.
                if not held or not tries:
                    raise
                continue
        if told is not None:
            while len(_listed) >= MOST_LISTED:
                del _listed[next(iter(_listed))]
            _listed[path.resolve()] = stamps, told
        return told
    return None


def _copied(path: Path, copy: Path) -> None:
    """Copy a thread's file and its write-ahead log.

    The log has checksums, so that a part of it is a valid earlier state. The file itself changes
    only now and then.

    Raises:
        BrokenThreadError: it changed during the copy, or the copy is broken.
    """
    before = _stamps(path)[0]
    shutil.copyfile(path, copy)
    with suppress(FileNotFoundError):
        shutil.copyfile(f"{path}-wal", f"{copy}-wal")
    if _stamps(path)[0] != before:
        raise BrokenThreadError("it is being written")
    if wrong := agent_graph.find_damage(copy):
        raise BrokenThreadError(wrong)


def _stamps(path: Path) -> list[tuple[int, int]]:
    """Return modification time and size of a thread's file and of its write-ahead log."""
    there = [each for each in (path, Path(f"{path}-wal")) if each.exists()]
    return [(each.stat().st_mtime_ns, each.stat().st_size) for each in there]


async def _told(name: str, saver: Any, *, held: bool) -> ChatThread | None:
    config: Any = {"configurable": {"thread_id": name}}
    kept = await build_graph(saver).aget_state(config)
    if not kept.values.get("home"):
        others = [each async for each in saver.alist(None, limit=1)] if not kept.created_at else []
        if others:
            raise BrokenThreadError("it holds no conversation of this name")
        return None
    said = [line["text"] for line in kept.values.get("transcript", [])]
    paid = kept.values.get("usage", [])
    return ChatThread(
        name=name,
        scene=str(kept.values["home"])[:300],
        body=str(kept.values.get("body", ""))[:100],
        model=redact(str(paid[-1]["model"]))[:300] if paid else None,
        when=str(kept.created_at)[:40],
        lines=len(said),
        last=sanitize_line(redact(said[-1]), _MOST_LAST) if said else "",
        held=held,
    )


def _is_held(path: Path) -> bool:
    """Check whether another process has it open, which then lets nobody read."""
    try:
        # Opened for writing: read-only, SQLite would leave its own files beside it.
        uri = f"{path.resolve().as_uri()}?mode=rw"
        with closing(sqlite3.connect(uri, timeout=0, uri=True)) as file:
            file.execute("SELECT 1 FROM sqlite_master").fetchall()
    except sqlite3.Error as error:
        return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
    return False


@contextmanager
def _alone(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a thread's file with an exclusive lock, as long as the block lasts.

    Raises:
        UsageError: there is none of this name, or some process has it open.
        BrokenThreadError: the file is damaged.
    """
    name = path.name.removesuffix(_ENDING)
    if not path.is_file():
        raise UsageError(f"There is no conversation '{name}' in {path.parent}.")
    try:
        with closing(sqlite3.connect(path, timeout=0.2, isolation_level=None)) as file:
            file.execute("PRAGMA locking_mode=EXCLUSIVE")
            file.execute("BEGIN EXCLUSIVE")
            yield file
    except sqlite3.Error as error:
        if agent_graph.is_damage(error):
            raise BrokenThreadError(
                f"{path} is broken: {sanitize_line(str(error), 160)}."
            ) from error
        said = f"{path} cannot be used: {sanitize_line(str(error), 160)}."
        if "locked" in str(error):
            said = f"The conversation '{name}' is open in a chat: leave that first."
        raise UsageError(said) from error


def rename_thread(folder: Path, old: str, new: str) -> None:
    """Rename a conversation: its file, and the name inside it.

    Args:
        folder: the folder of threads.
        old: its name.
        new: its new name.

    Raises:
        UsageError: a name is invalid or taken, or the conversation is open in some process.
    """
    path, to = thread_file(old, folder), thread_file(new, folder)
    taken = f"There is a conversation '{new}' already: choose another name."
    if to.exists():
        raise UsageError(taken)
    half = to.with_name(f".{to.name}.{os.getpid()}")
    try:
        with _alone(path) as file:
            file.execute("COMMIT")
            with closing(sqlite3.connect(half, isolation_level=None)) as copy:
                file.backup(copy)
                for table in ("checkpoints", "writes"):
                    copy.execute(
                        f"UPDATE {table} SET thread_id = ? WHERE thread_id = ?",  # noqa: S608
                        (new, old),
                    )
            # A link never overwrites another thread, and a kill leaves both files whole.
            os.link(half, to)
            path.unlink()
        for ending in _BESIDE:
            Path(f"{path}{ending}").unlink(missing_ok=True)
    except FileExistsError as error:
        raise UsageError(taken) from error
    except OSError as error:
        raise UsageError(f"{path} cannot be renamed: {error.strerror}.") from error
    finally:
        for ending in _BESIDE:
            Path(f"{half}{ending}").unlink(missing_ok=True)


def delete_thread(folder: Path, name: str) -> None:
    """Delete a conversation, and the files that SQLite keeps beside it.

    Raises:
        UsageError: there is none, some process has it open, or it cannot be deleted.
    """
    path = thread_file(name, folder)
    try:
        try:
            with _alone(path):
                path.unlink()
        except BrokenThreadError:
            path.unlink()
        for ending in _BESIDE:
            Path(f"{path}{ending}").unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"{path} cannot be deleted: {error.strerror}.") from error


FORMAT: Literal["navloom.chat/1"] = "navloom.chat/1"
_MOST_BYTES = 20_000_000
Angle = Annotated[float, Field(allow_inf_nan=False)]


class _TranscriptLine(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    who: Literal["person", "robot", "note"]
    text: str = Field(max_length=10_000)
    turn: int = Field(ge=0)
    at: int = Field(ge=0)


class SavedChat(BaseModel):
    """A saved conversation file, as `save_chat` writes it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["navloom.chat/1"]
    scene: str = Field(max_length=300)
    model: str = Field(max_length=300)
    transcript: list[_TranscriptLine] = Field(max_length=100_000)
    trajectory: list[tuple[str, Angle, Angle]] = Field(min_length=1, max_length=1_000_000)
    positions: list[tuple[Angle, Angle, Angle]] = Field(default=[], max_length=1_000_000)

    @property
    def trail(self) -> list[list[Any]]:
        """Every pose of the conversation, with the position for a body that drives."""
        at = self.positions if len(self.positions) == len(self.trajectory) else repeat(())
        return [[*pose, *where] for pose, where in zip(self.trajectory, at, strict=False)]


def save_chat(
    path: Path,
    scene: Scene,
    transcript: Sequence[Mapping[str, Any]],
    trajectory: Sequence[Sequence[Any]],
    model: str,
) -> None:
    """Write a conversation as JSON, replacing an existing file.

    Args:
        path: the file.
        scene: the home.
        transcript: the lines.
        trajectory: the poses.
        model: the model's name.

    Raises:
        UsageError: it cannot be written.
    """
    saved = chat_record(scene, transcript, trajectory, model)
    write_file(path, json.dumps(saved, ensure_ascii=False, indent=1).encode())


def chat_record(
    scene: Scene,
    transcript: Sequence[Mapping[str, Any]],
    trajectory: Sequence[Sequence[Any]],
    model: str,
) -> dict[str, Any]:
    """Return a conversation as JSON-ready data."""
    return {
        "format": FORMAT,
        "scene": scene.uri,
        "model": model,
        "transcript": list(transcript),
        "trajectory": [list(pose[:3]) for pose in trajectory],
        **({"positions": [list(pose[3:]) for pose in trajectory]} if trajectory[0][3:] else {}),
    }


def write_file(path: Path, data: bytes) -> None:
    """Write a file, replacing an existing one.

    Raises:
        UsageError: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, data)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"{str(path)[:200]} cannot be written: {reason}.") from error


def save_map(path: Path, scene: Scene, trajectory: Sequence[Sequence[Any]]) -> None:
    """Save a floor plan with the whole trajectory as a PNG file, replacing an existing one.

    Raises:
        UsageError: it cannot be written.
    """
    write_file(path, render_map(scene, trajectory))


def render_map(scene: Scene, trajectory: Sequence[Sequence[Any]]) -> bytes:
    """Return a floor plan with the whole trajectory, as PNG bytes."""
    from navloom.scenes.plan_sheet import PlanMark, PlanRoute, draw_plan

    places = [(scene.viewpoint_by_id[pose[0]], pose[3:]) for pose in trajectory]
    points = tuple(
        (scene.floor_of(p), at[0] if at else p.position[0], at[2] if at else p.position[2])
        for p, at in places
    )
    marks = [PlanMark("start", *points[0]), PlanMark("stop", *points[-1], label="now")]
    walked = [PlanRoute(points, "robot_1")] if len(set(points)) > 1 else []
    title = f"{scene.uri}: the walk so far"
    return draw_plan(scene, routes=walked, marks=marks, title=title).png()


def read_chat(path: Path, scene: Scene) -> SavedChat:
    """Read a saved conversation of this home.

    Raises:
        SceneError: it cannot be read, or was not written by /save.
        UsageError: it is of another home.
    """
    return _of_home(read_json(path, TypeAdapter(SavedChat), most=_MOST_BYTES), path, scene)


def parse_chat(data: bytes, name: str, scene: Scene) -> SavedChat:
    """Parse the bytes of a saved conversation of this home.

    Args:
        data: the file's content, as it was uploaded.
        name: the file's name, for errors.
        scene: the home.

    Raises:
        SceneError: it cannot be read, or was not written by /save.
        UsageError: it is of another home.
    """
    path = Path(name or "the file")
    parse_json(data, path)
    with scene_errors(path):
        return _of_home(SavedChat.model_validate_json(data), path, scene)


def _of_home(saved: SavedChat, path: Path, scene: Scene) -> SavedChat:
    if saved.scene != scene.uri:
        raise UsageError(f"{path} is a conversation in {saved.scene}, and this is {scene.uri}.")
    for viewpoint, *_ in saved.trajectory:
        if viewpoint not in scene.viewpoint_by_id:
            hint = did_you_mean(viewpoint[:80], scene.viewpoint_by_id)
            raise UsageError(f"{path}: {scene.uri} has no viewpoint '{viewpoint[:80]}'.{hint}")
    return saved
