"""Incremental index of a JSON lines file: the columns of each line and its position.

The file is read once and later only from the last complete line on, so a growing run can be
followed. A sample's full line is read again by its position when a page shows it. The index is
cached in the user's cache folder, never in the run. A line that cannot be read becomes a row that
says so.
"""

from __future__ import annotations

import contextlib
import gc
import json
import marshal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from navloom import files
from navloom.disk_cache import VIEWS, content_key
from navloom.errors import RunError
from navloom.evals.report.blocks import Cell, Column

MOST_BYTES = 16 * 1024 * 1024
"""Limit of a line in bytes; a page shows no longer ones."""
_MOST_TEXT = 300
_KEPT_FROM = 400
"""Number of lines from which an index is worth caching."""
_FORM = 2
_PLAIN = frozenset({int, bool, type(None)})
_STUMBLES = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


class IndexRow:
    """A line of a file: its id, cells and position.

    Cells are stored packed, in a quarter of the memory that many small values take.
    """

    __slots__ = ("_packed", "id", "place")

    def __init__(self, name: str, cells: list[Any], place: files.LinePosition) -> None:
        self.id, self.place = name, place
        self.cells = cells

    @property
    def cells(self) -> list[Any]:
        """The line's value in each column; a new list at each access."""
        found: list[Any] = marshal.loads(self._packed)  # noqa: S302 - packed below, never read
        return found

    @cells.setter
    def cells(self, cells: list[Any]) -> None:
        self._packed = marshal.dumps(cells)


@dataclass
class LineIndex:
    """Index of the lines of one file, by columns.

    Attributes:
        path: the file.
        columns: the columns to index.
        form: the format of the lines.
        key: further cache key of the rows, such as the version that made the columns.
        kept: whether to cache the index in the user's cache folder.
    """

    path: Path
    columns: Sequence[Column]
    form: files.LineFormat = files.ANY
    key: str = ""
    kept: bool = True
    rows: list[IndexRow] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    _by_id: dict[str, int] = field(default_factory=dict)
    _saved: int = 0

    def __post_init__(self) -> None:
        if self.kept:
            self._load()

    def update(self) -> int:
        """Read new lines; return the number of rows."""
        if self.rows and self._size() < self.rows[-1].place.end:
            # The file was truncated from outside.
            self._clear()
        last = self.rows[-1].place if self.rows else None
        with _without_collector():
            for place, line in files.complete_lines(self.path, last, MOST_BYTES):
                self._add(self._row(place, line))
        new = len(self.rows) - self._saved
        if self.kept and new and (new >= _KEPT_FROM or new * 10 >= self._saved >= _KEPT_FROM):
            self._save()
        return len(self.rows)

    def __contains__(self, name: str) -> bool:
        return name in self._by_id

    def line(self, name: str) -> dict[str, Any]:
        """Return the full line of an id, read from the file.

        Raises:
            RunError: it cannot be read, or was changed since it was indexed.
            KeyError: there is no such id.
        """
        row = self.rows[self._by_id[name]]
        if row.place.bytes > MOST_BYTES:
            raise RunError(self._long(row.place))
        found = files.read_line_at(self.path, row.place, self.form)
        if found["id"] != name:
            raise RunError(f"{self.path} was changed while it was looked at: load the page again")
        return found

    def _row(self, place: files.LinePosition, line: bytes | None) -> IndexRow:
        try:
            if line is None:
                raise RunError(self._long(place))
            record = files.parse_line(line, self.path, place.number, self.form, walked=False)
        except RunError as error:
            self.broken.append(str(error))
            return self._unread(place, str(error))
        if record["id"] in self._by_id:
            self.broken.append(f"{self.path} holds the id '{record['id']}' twice")
            return self._unread(place, self.broken[-1])
        return IndexRow(record["id"], row_cells(self.columns, record), place)

    def _unread(self, place: files.LinePosition, why: str) -> IndexRow:
        said: dict[str, Cell] = {"status": "unread", "reason": why}
        return IndexRow(f"line-{place.number}", [said.get(c.name) for c in self.columns], place)

    def _long(self, place: files.LinePosition) -> str:
        megabytes = place.bytes / 1e6
        return (
            f"{self.path} line {place.number}: it has {megabytes:.0f} MB, and a page shows lines of"
            f" up to {MOST_BYTES // 1024 // 1024} MB"
        )

    def _add(self, row: IndexRow) -> None:
        self._by_id[row.id] = len(self.rows)
        self.rows.append(row)

    def _size(self) -> int:
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    def _clear(self) -> None:
        self.rows.clear()
        self.broken.clear()
        self._by_id.clear()
        self._saved = 0

    @property
    def _name(self) -> str:
        columns = [(column.name, column.form) for column in self.columns]
        told = json.dumps([_FORM, str(self.path.resolve()), columns, self.key])
        return content_key(told, self.form.key) + ".json"

    def _load(self) -> None:
        """Load the cached index if it belongs to this file."""
        try:
            with VIEWS.path(self._name).open("rb") as file:
                for line in file:
                    name, begin, size, number, cells = json.loads(line)
                    if len(cells) != len(self.columns):
                        raise ValueError("another table")
                    self._add(
                        IndexRow(
                            str(name), cells, files.LinePosition(int(begin), int(size), int(number))
                        )
                    )
            if self.rows and self.rows[-1].place.end <= self._size():
                self.line(self.rows[-1].id)
                self._saved = len(self.rows)
                return
        except (OSError, RunError, *_STUMBLES):
            pass
        self._clear()

    def _save(self) -> None:
        if self.broken:
            # Faults are reported at each start, so they are not cached.
            return

        def write(file: Any) -> None:
            for row in self.rows:
                place = row.place
                told = [row.id, place.begin, place.bytes, place.number, row.cells]
                file.write(json.dumps(told, separators=(",", ":")).encode() + b"\n")

        VIEWS.put(self._name, write)
        self._saved = len(self.rows)


@contextlib.contextmanager
def _without_collector() -> Iterator[None]:
    """Pause garbage collection, which finds no cycles in lines and takes a tenth of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def row_cells(columns: Sequence[Column], line: Mapping[str, Any]) -> list[Any]:
    """Return a line's value in each column; None if a value is missing or malformed."""
    cells: list[Any] = []
    for column in columns:
        try:
            value = column.of(line)
        except _STUMBLES:
            value = None
        # Most cells are whole numbers or None, which need no conversion.
        cells.append(value if value.__class__ in _PLAIN else _sound(value))
    return cells


def _sound(value: Any) -> Cell:
    if isinstance(value, str):
        return files.truncate(value, _MOST_TEXT)
    if isinstance(value, float):
        # Six decimals are more than a table shows, and halve the bytes.
        return round(value, 6) if abs(value) < 1e300 else None
    if isinstance(value, (list, tuple)):
        return [str(each)[:_MOST_TEXT] for each in value[:20]]
    return str(value)[:_MOST_TEXT]
