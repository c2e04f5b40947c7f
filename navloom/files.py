"""Files that survive whatever kills the process: whole or not at all, or grown by whole lines.

A line of JSON is written whole by one ``write`` and is on disk when ``append`` returns. A process
killed in the middle of a write leaves at most one torn line, at the end; the next ``LineFile``
moves its bytes aside to ``torn.txt`` beside the file and cuts it off. A torn line is never parsed,
even where it happens to read as JSON: what it reports is done again from its checkpoint.

A line may end with a check of what stands before it (`LineForm`), so that one which other hands
changed is seen, and one of another file: neither is parsed.

Lists and texts that messages and files hold are cut to a length here, too.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import stat
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
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


MAX_LINE = 64 * 1024 * 1024
"""Bytes a line may have: more is no file of ours, and is not read into memory."""
_MOST_DEEP = 150
"""Levels of objects and lists within each other: beyond that, whatever walks them gives up."""
_MOST = 1 << 63
_LEAVES = frozenset((str, int, float, bool, type(None)))

_NUMBER, _OBJECT = (int, float), (dict, type(None))
_COLUMNS: dict[str, tuple[type, ...]] = {
    "scene": (str,),
    "attempt": (int,),
    "seed": (int,),
    "status": (str,),
    "profile": _OBJECT,
    "result": _OBJECT,
    "usage": (dict,),
    "cost_usd": (*_NUMBER, type(None)),
    "seconds": _NUMBER,
}
"""What a column is where a record has it; a record may have others, and may lack some."""


def encode_line(record: dict[str, Any]) -> bytes:
    """A record as one line of UTF-8 JSON, newline included.

    Raises:
        TypeError: it holds something that is not JSON.
        ValueError: it holds a NaN or an infinity, which JSON does not have, or is nested beyond
            reason.
    """
    text = json.dumps(record, ensure_ascii=False, allow_nan=False)
    try:
        line = text.encode() + b"\n"
    except UnicodeEncodeError:
        # Half of a surrogate pair, as a model may well write it, has no UTF-8: escape the line.
        line = json.dumps(record, allow_nan=False).encode() + b"\n"
    if _is_deep(line, record):
        raise ValueError("it is nested beyond reason")
    return line


def _is_deep(line: bytes, record: dict[str, Any]) -> bool:
    """Whether a record is nested beyond reason; most have too few brackets to be looked at."""
    if line.count(b"[") + line.count(b"{") <= _MOST_DEEP:
        return False
    level: list[Any] = [record]
    for _ in range(_MOST_DEEP):
        level = [
            value
            for each in level
            for value in (each.values() if isinstance(each, dict) else each)
            # Asked first of all, since most values are leaves.
            if value.__class__ not in _LEAVES and isinstance(value, (dict, list))
        ]
        if not level:
            return False
    return True


_ID = re.compile(rb'\{"id": "([ !#-\[\]-~]*)", ')
_CHECK, _CHECKED, _END = b', "check": "', 16, b'"}\n'


@dataclass(frozen=True)
class LineForm:
    """What the lines of a file keep to.

    Attributes:
        key: of the file's own; the last key of each line, ``check``, is a hash of this and of all
            that stands before it. It is no secret, and no column: readers are given the rest. Lines
            of a file without a key have none.
        statuses: those that a line may have; any unless given.
    """

    key: bytes = b""
    statuses: tuple[str, ...] = ()

    def closed(self, line: bytes) -> bytes:
        """A line of an object with its check."""
        if not self.key:
            return line
        body = line.removesuffix(b"}\n")
        return body + _CHECK + self._hash(body) + _END

    def opened(self, line: bytes) -> bytes | None:
        """A line without its check; None where that is not there, or of other bytes."""
        if not self.key:
            return line
        at = len(line) - len(_CHECK) - _CHECKED - len(_END)
        body = line[: max(at, 0)]
        return body + b"}" if line[len(body) :] == _CHECK + self._hash(body) + _END else None

    def _hash(self, body: bytes) -> bytes:
        return blake2b(body, digest_size=_CHECKED // 2, key=self.key).hexdigest().encode()


ANY = LineForm()


def read_lines(path: Path, form: LineForm = ANY) -> Iterator[dict[str, Any]]:
    """The records of a file of JSON lines, in order; a torn last line is left out.

    Safe while another process appends. A missing file has no records.

    Raises:
        RunError: the file cannot be read, or a whole line is not a JSON object with an ``id``, or
            not of the form; the message names the file and the line.
    """
    for place, line in _lines(path):
        yield parse_line(line, path, place.number, form)


@dataclass(frozen=True, slots=True)
class LinePosition:
    """Where a line stands in its file: bytes from ``begin`` on, the ``number``-th line from 1."""

    begin: int
    bytes: int
    number: int

    @property
    def end(self) -> int:
        """The offset of the byte after it."""
        return self.begin + self.bytes


def whole_lines(
    path: Path, after: LinePosition | None = None, most: int = MAX_LINE
) -> Iterator[tuple[LinePosition, bytes | None]]:
    """The whole lines of a file as they are, each with its place; what is torn is left out.

    Args:
        path: the file; one that is missing has none.
        after: the last one that is known; from the first unless given.
        most: bytes that a line may have; of a longer one no more than its place is given.

    Raises:
        RunError: the file cannot be read.
    """
    begin, number = (after.end, after.number) if after else (0, 0)
    try:
        with open_file(path) as file:
            file.seek(begin)
            while True:
                line = file.readline(most)
                size, number = len(line), number + 1
                while line and not line.endswith(b"\n") and len(line) == most:
                    # Read to its end, and kept nowhere.
                    line = file.readline(most)
                    size += len(line)
                place = LinePosition(begin, size, number)
                if not line.endswith(b"\n"):
                    if size >= most:
                        yield place, None
                    return
                yield place, line if size <= most else None
                begin = place.end
    except FileNotFoundError:
        return
    except OSError as error:
        raise RunError(f"cannot read {path}: {error.strerror}") from error


def line_at(path: Path, place: LinePosition, form: LineForm = ANY) -> dict[str, Any]:
    """The record of the line at a place.

    Raises:
        RunError: as `read_lines`.
    """
    try:
        with open_file(path) as file:
            file.seek(place.begin)
            line = file.read(place.bytes)
    except OSError as error:
        raise RunError(f"cannot read {path}: {error.strerror}") from error
    return parse_line(line, path, place.number, form)


def read_by_id(path: Path, form: LineForm = ANY) -> Iterator[dict[str, Any]]:
    """The records of a file of JSON lines, sorted by id, one at a time in memory.

    What counts or draws goes by this order: that in which samples ended says how busy a machine
    was.

    Raises:
        RunError: as `read_lines`.
    """
    places = []
    for place, line in _lines(path):
        # Most lines are parsed once: ours begin with their id.
        told = _ID.match(line)
        name = told[1].decode() if told else parse_line(line, path, place.number, form)["id"]
        places.append((name, place.begin, place.number))
    if places:
        with path.open("rb") as file:
            for _, at, number in sorted(places):
                file.seek(at)
                yield parse_line(file.readline(), path, number, form)


def _lines(path: Path) -> Iterator[tuple[LinePosition, bytes]]:
    for place, line in whole_lines(path):
        if line is None:
            raise RunError(f"{path} line {place.number}: longer than {MAX_LINE} bytes")
        yield place, line


def parse_line(
    line: bytes, path: Path, number: int, form: LineForm = ANY, *, walked: bool = True
) -> dict[str, Any]:
    """The record of a line.

    Args:
        line: as it stands in the file.
        path: of the file, for the message.
        number: of the line, from 1, for the message.
        form: what it keeps to.
        walked: whether all of it may be walked through; how deep it is nested matters then alone.

    Raises:
        RunError: it is not a JSON object with an ``id``, or not of the form.
    """
    body, record = form.opened(line), None
    with contextlib.suppress(ValueError, RecursionError):
        record = None if body is None else json.loads(body)
    whole = record if isinstance(record, dict) else {}
    if body is None:
        wrong = "it was changed since it was written, or is of another run"
    elif not isinstance(whole.get("id"), str):
        wrong = "it is not a JSON object with an id"
    elif walked and _is_deep(body, whole):
        wrong = "it is nested beyond reason"
    else:
        wrong = _misfit(whole, form)
    if wrong:
        raise RunError(
            f"{path} line {number}: {wrong}: the file was changed by other hands, and nothing of it"
            " is counted. Remove that line, and run the same command again to make it anew."
        )
    return whole


def _misfit(record: dict[str, Any], form: LineForm) -> str:
    """What is wrong with a record's columns; empty where nothing is."""
    for key, kinds in _COLUMNS.items():
        if key in record and not isinstance(record[key], kinds):
            return f"its {key} is a {type(record[key]).__name__}"
        if isinstance(record.get(key), _NUMBER) and not abs(record[key]) < _MOST:
            return f"its {key} is no number that it can be"
    if form.statuses and record.get("status", form.statuses[0]) not in form.statuses:
        return f"its status is {record['status'][:40]!r}, expected {' or '.join(form.statuses)}"
    counts = record.get("usage", {}).values()
    fits = all(isinstance(n, int) and 0 <= n < _MOST for n in counts)
    return "" if fits else "its usage holds no counts"


class LineFile:
    """An append-only file of records with unique ids, held open by the one process that writes it.

    Args:
        path: the file; made where there is none.
        seen: called with each record already in it.
        form: what its lines keep to.

    Attributes:
        ids: the ids of all records in it.

    Raises:
        RunError: it cannot be opened for writing, holds a broken line, or an id twice.
    """

    def __init__(
        self,
        path: Path,
        seen: Callable[[dict[str, Any]], None] = lambda _: None,
        form: LineForm = ANY,
    ) -> None:
        self.path, self.form = path, form
        self.ids: set[str] = set()
        end = 0
        for place, line in _lines(path):
            record = parse_line(line, path, place.number, form)
            self._claim(record["id"])
            seen(record)
            end = place.end
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise cannot_write(path, error) from error
        try:
            self._cut(end)
        except OSError as error:
            self.close()
            raise cannot_write(path, error) from error

    def _cut(self, end: int) -> None:
        """Move what follows the last whole line to ``torn.txt`` and cut it off."""
        torn = os.fstat(self._fd).st_size - end
        if torn <= 0:
            return
        with (self.path.parent / "torn.txt").open("ab") as aside:
            aside.write(os.pread(self._fd, torn, end) + b"\n")
            aside.flush()
            os.fsync(aside.fileno())
        os.ftruncate(self._fd, end)
        os.fsync(self._fd)

    def _claim(self, name: str) -> None:
        if name in self.ids:
            raise RunError(f"{self.path} holds the id '{name}' twice: remove one of the two lines")
        self.ids.add(name)

    def append(self, record: dict[str, Any]) -> None:
        """Write one record; it is on disk when this returns.

        Raises:
            RunError: its id is there already, or it cannot be written (nothing of it stays).
            TypeError: it holds something that is not JSON.
            ValueError: it holds a NaN or an infinity.
        """
        data = self.form.closed(encode_line(record))
        self._claim(record["id"])
        before = os.fstat(self._fd).st_size
        try:
            written = os.write(self._fd, data)
            while written < len(data):  # a full disk takes a part, then says so
                written += os.write(self._fd, data[written:])
            os.fsync(self._fd)
        except OSError as error:
            self.ids.discard(record["id"])
            with contextlib.suppress(OSError):
                os.ftruncate(self._fd, before)
            raise cannot_write(self.path, error) from error

    def close(self) -> None:
        """Close the file; closing twice is fine."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> LineFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def and_more(names: Sequence[str], most: int) -> str:
    """List at most so many names, and say how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def shortened(text: str, most: int) -> str:
    """Return a text of at most so many characters; one that was cut ends in ``…``."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
