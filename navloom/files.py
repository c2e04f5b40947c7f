"""Atomic file writes and append-only JSON lines files that survive a killed process.

`JsonlFile` writes a line with one ``write`` and syncs it before ``append`` returns. A process
killed in the middle of a write leaves at most one torn line, at the end. The next ``JsonlFile``
moves its bytes to ``torn.txt`` beside the file and cuts it off. A torn line is never parsed, even
if it reads as JSON: its sample is run again from its checkpoint.

A line may end with a checksum of its other bytes (`LineFormat`). Lines that were edited, or
copied from another file, are then detected and refused.

The module also has helpers that shorten lists and texts for messages.
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


def write_error(path: Path, error: Exception) -> RunError:
    """Return the error of a failed write, which says why, and that earlier results are kept."""
    why = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return RunError(
        f"cannot write to {path}: {why}. What was finished before is kept: free space or give a"
        " folder that can be written, and run the same command again."
    )


_STUMBLES = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


@contextlib.contextmanager
def check_format(where: str, what: str) -> Iterator[None]:
    """Turn errors of a block that reads malformed data into a RunError.

    Args:
        where: the file or record that is read; the message begins with it.
        what: the expected form, such as "an episode".

    Raises:
        RunError: a value in the block has a wrong form.
    """
    try:
        yield
    except _STUMBLES as error:
        raise RunError(
            f"{where} has not the form of {what} ({repr(error)[:200]}): the run was made by another"
            " version or changed by other hands"
        ) from error


def check_writable(path: Path, *, folder: bool) -> None:
    """Refuse an output path that cannot be written, before any work is done for it.

    Args:
        path: the output path; it need not exist, and nothing is made now.
        folder: whether it is to be a folder.

    Raises:
        RunError: it cannot be written; the message says why.
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
    """Make a folder and its parents if they do not exist.

    Raises:
        RunError: it cannot be made; the message says why.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise RunError(f"{path} is a file, or lies in one: give --out another folder") from None
    except OSError as error:
        raise RunError(f"cannot make the folder {path}: {error.strerror}") from error


def write_run_file(target: Path, data: bytes) -> Path:
    """Write a file of a run with :func:`replace_file`.

    Args:
        target: the file; its folder must exist.
        data: the new content.

    Returns:
        ``target``.

    Raises:
        RunError: it cannot be written; the old content stays.
    """
    try:
        replace_file(target, data)
    except OSError as error:
        raise write_error(target, error) from error
    return target


def replace_file(path: Path, data: bytes) -> None:
    """Write a file atomically: even after a power cut it is the old or the new version.

    Args:
        path: the file; its folder must exist.
        data: the new content.

    Raises:
        OSError: it cannot be written; the old content stays, and no temporary file is left.
    """
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        # mkstemp makes a file that only its owner can read; use the umask's permissions instead.
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
def package_yaml(package: str, name: str) -> Any:
    """Return the parsed content of a YAML file in one of our packages; cached, do not modify.

    Args:
        package: the package that holds the file.
        name: the file's name.
    """
    import yaml

    return yaml.safe_load(files(package).joinpath(name).read_text("utf-8"))


def open_file(path: Path) -> BinaryIO:
    """Open a file for reading; refuse a device, since it may have no end.

    Raises:
        OSError: it cannot be opened, or is a device.
    """
    mode = path.stat().st_mode
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise OSError(errno.EINVAL, "it is a device, and a file was expected", str(path))
    return open(path, "rb", opener=_at_once)


def _at_once(path: str, flags: int) -> int:
    """Open without waiting for a writer of a pipe; reads still block."""
    opened = os.open(path, flags | os.O_NONBLOCK)
    os.set_blocking(opened, True)
    return opened


MAX_LINE = 64 * 1024 * 1024
"""Limit of a line in bytes; a longer line is not read into memory."""
_MOST_DEEP = 150
"""Limit of nested objects and lists; recursive code fails far beyond it."""
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
"""Types of known columns; a record may have other columns, and may lack some of these."""


def encode_line(record: dict[str, Any]) -> bytes:
    """Return a record as one line of UTF-8 JSON, newline included.

    Raises:
        TypeError: it holds something that is not JSON.
        ValueError: it holds a NaN or an infinity, which JSON lacks, or is nested too deeply.
    """
    text = json.dumps(record, ensure_ascii=False, allow_nan=False)
    try:
        line = text.encode() + b"\n"
    except UnicodeEncodeError:
        # A lone surrogate, as a model may write it, has no UTF-8 form: escape the line.
        line = json.dumps(record, allow_nan=False).encode() + b"\n"
    if _is_deep(line, record):
        raise ValueError("it is nested beyond reason")
    return line


def _is_deep(line: bytes, record: dict[str, Any]) -> bool:
    """Check whether a record is nested too deeply; few brackets settle it at once."""
    if line.count(b"[") + line.count(b"{") <= _MOST_DEEP:
        return False
    level: list[Any] = [record]
    for _ in range(_MOST_DEEP):
        level = [
            value
            for each in level
            for value in (each.values() if isinstance(each, dict) else each)
            # Checked first, since most values are leaves.
            if value.__class__ not in _LEAVES and isinstance(value, (dict, list))
        ]
        if not level:
            return False
    return True


_ID = re.compile(rb'\{"id": "([ !#-\[\]-~]*)", ')
_CHECK, _CHECKED, _END = b', "check": "', 16, b'"}\n'


@dataclass(frozen=True)
class LineFormat:
    """Format of the lines of a file: checksum key and statuses.

    Attributes:
        key: key of the file's checksums. The last key of each line, ``check``, is a keyed hash of
            the text before it. It is no secret, and readers do not get it as a column. Without a
            key lines have no checksum.
        statuses: the statuses that a line may have; any if empty.
    """

    key: bytes = b""
    statuses: tuple[str, ...] = ()

    def closed(self, line: bytes) -> bytes:
        """Return an encoded line with its checksum added."""
        if not self.key:
            return line
        body = line.removesuffix(b"}\n")
        return body + _CHECK + self._hash(body) + _END

    def opened(self, line: bytes) -> bytes | None:
        """Return a line without its checksum; None if the checksum is missing or wrong."""
        if not self.key:
            return line
        at = len(line) - len(_CHECK) - _CHECKED - len(_END)
        body = line[: max(at, 0)]
        return body + b"}" if line[len(body) :] == _CHECK + self._hash(body) + _END else None

    def _hash(self, body: bytes) -> bytes:
        return blake2b(body, digest_size=_CHECKED // 2, key=self.key).hexdigest().encode()


ANY = LineFormat()


def read_lines(path: Path, form: LineFormat = ANY) -> Iterator[dict[str, Any]]:
    """Read the records of a JSON lines file, in order; a torn last line is left out.

    Another process may append meanwhile. A missing file has no records.

    Raises:
        RunError: the file cannot be read, or a complete line is not a JSON object with an ``id``
            or does not match the form; the message names the file and the line.
    """
    for place, line in _lines(path):
        yield parse_line(line, path, place.number, form)


@dataclass(frozen=True, slots=True)
class LinePosition:
    """Position of a line in its file: first byte, size in bytes, and line number from 1."""

    begin: int
    bytes: int
    number: int

    @property
    def end(self) -> int:
        """The offset of the byte after the line."""
        return self.begin + self.bytes


def complete_lines(
    path: Path, after: LinePosition | None = None, most: int = MAX_LINE
) -> Iterator[tuple[LinePosition, bytes | None]]:
    """Read the complete lines of a file as bytes, with their positions, without a torn one.

    Args:
        path: the file; a missing one has no lines.
        after: the last known line; None starts at the first.
        most: limit of a line in bytes; a longer line is given as its position and None.

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
                    # Skip the rest of a line that is too long.
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


def read_line_at(path: Path, place: LinePosition, form: LineFormat = ANY) -> dict[str, Any]:
    """Return the record of the line at a position.

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


def read_by_id(path: Path, form: LineFormat = ANY) -> Iterator[dict[str, Any]]:
    """Read the records of a JSON lines file sorted by id, one at a time in memory.

    Statistics and random draws use this order, since the order in which samples ended depends on
    the machine's load.

    Raises:
        RunError: as `read_lines`.
    """
    places = []
    for place, line in _lines(path):
        # Our lines begin with their id, so most are parsed only once.
        told = _ID.match(line)
        name = told[1].decode() if told else parse_line(line, path, place.number, form)["id"]
        places.append((name, place.begin, place.number))
    if places:
        with path.open("rb") as file:
            for _, at, number in sorted(places):
                file.seek(at)
                yield parse_line(file.readline(), path, number, form)


def _lines(path: Path) -> Iterator[tuple[LinePosition, bytes]]:
    for place, line in complete_lines(path):
        if line is None:
            raise RunError(f"{path} line {place.number}: longer than {MAX_LINE} bytes")
        yield place, line


def parse_line(
    line: bytes, path: Path, number: int, form: LineFormat = ANY, *, walked: bool = True
) -> dict[str, Any]:
    """Parse a line into its record and validate it.

    Args:
        line: its bytes.
        path: of the file, for the message.
        number: of the line, from 1, for the message.
        form: the expected format.
        walked: whether callers traverse the whole record, so that its depth must be checked.

    Raises:
        RunError: it is not a JSON object with an ``id``, or does not match the form.
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


def _misfit(record: dict[str, Any], form: LineFormat) -> str:
    """Return what is wrong with a record's columns; empty if nothing is."""
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


class JsonlFile:
    """An append-only file of records with unique ids, open in the one process that writes it.

    Args:
        path: the file; created if it is missing.
        seen: called with each record already in it.
        form: the format of its lines.

    Attributes:
        ids: the ids of all records in it.

    Raises:
        RunError: it cannot be opened for writing, holds a broken line, or an id twice.
    """

    def __init__(
        self,
        path: Path,
        seen: Callable[[dict[str, Any]], None] = lambda _: None,
        form: LineFormat = ANY,
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
            raise write_error(path, error) from error
        try:
            self._cut(end)
        except OSError as error:
            self.close()
            raise write_error(path, error) from error

    def _cut(self, end: int) -> None:
        """Move the bytes after the last complete line to ``torn.txt`` and cut them off."""
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
        """Write one record and sync it to disk.

        Raises:
            RunError: its id exists already, or it cannot be written (no part of it stays).
            TypeError: it holds something that is not JSON.
            ValueError: it holds a NaN or an infinity.
        """
        data = self.form.closed(encode_line(record))
        self._claim(record["id"])
        before = os.fstat(self._fd).st_size
        try:
            written = os.write(self._fd, data)
            while written < len(data):  # a full disk takes a part, then fails
                written += os.write(self._fd, data[written:])
            os.fsync(self._fd)
        except OSError as error:
            self.ids.discard(record["id"])
            with contextlib.suppress(OSError):
                os.ftruncate(self._fd, before)
            raise write_error(self.path, error) from error

    def close(self) -> None:
        """Close the file; do nothing if it is closed."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> JsonlFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def join_some(names: Sequence[str], most: int) -> str:
    """Join the first ``most`` names, and say how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def truncate(text: str, most: int) -> str:
    """Return a text of at most ``most`` characters; a cut text ends in ``…``."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
