"""The table of a run's lines: what each is by its columns, and where it stands in its file.

A run is read line by line once and carried on from the last whole line, so that one that grows is
followed as it grows; a sample is read again at its place when it is looked at. What was read is
kept in the user's cache folder, never in the run. A line that cannot be read is a row all the
same, which says so.
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

from navloom.disk_cache import VIEWS, content_key
from navloom.errors import RunError
from navloom.evals.report.blocks import Cell, Column
from navloom.files import ANY, LineForm, LinePosition, line_at, parse_line, shortened, whole_lines

MOST_BYTES = 16 * 1024 * 1024
"""Bytes of a line that a page shows."""
_MOST_TEXT = 300
_KEPT_FROM = 400
"""Lines read from which on it is worth keeping what was read."""
_FORM = 2
_PLAIN = frozenset({int, bool, type(None)})
_STUMBLES = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


class IndexRow:
    """A line of a file: its id, its cells, its place.

    Cells are kept packed, in a quarter of the memory that so many small values take.
    """

    __slots__ = ("_packed", "id", "place")

    def __init__(self, name: str, cells: list[Any], place: LinePosition) -> None:
        self.id, self.place = name, place
        self.cells = cells

    @property
    def cells(self) -> list[Any]:
        """Its value in each column; another list each time."""
        found: list[Any] = marshal.loads(self._packed)  # noqa: S302 - packed below, never read
        return found

    @cells.setter
    def cells(self, cells: list[Any]) -> None:
        self._packed = marshal.dumps(cells)


@dataclass
class LineIndex:
    """The lines of one file, by columns.

    Attributes:
        path: the file.
        columns: what of a line is kept.
        form: what lines keep to.
        key: what else the rows depend on, such as the version that made the columns.
        kept: whether what was read is kept in the user's cache folder.
    """

    path: Path
    columns: Sequence[Column]
    form: LineForm = ANY
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
        """Read what was written since; how many rows there are now."""
        if self.rows and self._size() < self.rows[-1].place.end:
            # Cut off by other hands: what was read is no more.
            self._clear()
        last = self.rows[-1].place if self.rows else None
        with _without_collector():
            for place, line in whole_lines(self.path, last, MOST_BYTES):
                self._add(self._row(place, line))
        new = len(self.rows) - self._saved
        if self.kept and new and (new >= _KEPT_FROM or new * 10 >= self._saved >= _KEPT_FROM):
            self._save()
        return len(self.rows)

    def __contains__(self, name: str) -> bool:
        return name in self._by_id

    def line(self, name: str) -> dict[str, Any]:
        """The line of an id, read at its place.

        Raises:
            RunError: it cannot be read, or was changed since it was written.
            KeyError: there is none.
        """
        row = self.rows[self._by_id[name]]
        if row.place.bytes > MOST_BYTES:
            raise RunError(self._long(row.place))
        found = line_at(self.path, row.place, self.form)
        if found["id"] != name:
            raise RunError(f"{self.path} was changed while it was looked at: load the page again")
        return found

    def _row(self, place: LinePosition, line: bytes | None) -> IndexRow:
        try:
            if line is None:
                raise RunError(self._long(place))
            record = parse_line(line, self.path, place.number, self.form, walked=False)
        except RunError as error:
            self.broken.append(str(error))
            return self._unread(place, str(error))
        if record["id"] in self._by_id:
            self.broken.append(f"{self.path} holds the id '{record['id']}' twice")
            return self._unread(place, self.broken[-1])
        return IndexRow(record["id"], cells_of(self.columns, record), place)

    def _unread(self, place: LinePosition, why: str) -> IndexRow:
        said: dict[str, Cell] = {"status": "unread", "reason": why}
        return IndexRow(f"line-{place.number}", [said.get(c.name) for c in self.columns], place)

    def _long(self, place: LinePosition) -> str:
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
        """Take what is kept, where it is of this very file."""
        try:
            with VIEWS.path(self._name).open("rb") as file:
                for line in file:
                    name, begin, size, number, cells = json.loads(line)
                    if len(cells) != len(self.columns):
                        raise ValueError("another table")
                    self._add(
                        IndexRow(str(name), cells, LinePosition(int(begin), int(size), int(number)))
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
            # What is wrong is said each time anew.
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
    """Lines hold no circles: looking for some is a tenth of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def cells_of(columns: Sequence[Column], line: Mapping[str, Any]) -> list[Any]:
    """What a line is by its columns; None where it has nothing that a column could be."""
    cells: list[Any] = []
    for column in columns:
        try:
            value = column.of(line)
        except _STUMBLES:
            value = None
        # Whole numbers and None, most of all cells, are as they are.
        cells.append(value if value.__class__ in _PLAIN else _sound(value))
    return cells


def _sound(value: Any) -> Cell:
    if isinstance(value, str):
        return shortened(value, _MOST_TEXT)
    if isinstance(value, float):
        # Six digits behind the point are more than a table shows, and half of the bytes.
        return round(value, 6) if abs(value) < 1e300 else None
    if isinstance(value, (list, tuple)):
        return [str(each)[:_MOST_TEXT] for each in value[:20]]
    return str(value)[:_MOST_TEXT]
