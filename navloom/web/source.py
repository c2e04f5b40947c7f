"""What a page looks at: a run, a dataset, a home. All are asked the same few things."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from navloom.evals.report.blocks import Block, Column, Detail, Line
from navloom.scenes.scene import Scene
from navloom.scenes.uri import scene_of
from navloom.web.index import IndexRow

CHUNK = 1000
"""Rows of a document of rows."""
LICENSED = ("hm3d:", "mp3d:", "capnav:", "r2r:")
"""Scenes whose licence keeps their plans, captions and pictures from being given on."""


@dataclass(frozen=True, kw_only=True)
class Header:
    """What a list of sources says of one, as cells; what it has not is None.

    Attributes:
        name: the folder's or file's.
        kind: ``run``, ``dataset``, ``home``, ``study``, ``mends``, ``report``.
        cells: of :data:`LIST_COLUMNS`, by name.
        state: of a run: running, done, stopped, limit, left.
        notes: what is wrong with it, a line each.
        pairs: what it can be held against: sources of one text can; empty: none.
        tabs: which tabs it has, each with its name.
        things: what its rows are called.
    """

    name: str
    kind: str
    cells: dict[str, Any]
    state: str = ""
    notes: Sequence[str] = ()
    pairs: str = ""
    tabs: Sequence[tuple[str, str]] = ()
    things: str = "samples"


def cell(name: str) -> Any:
    """What a line has under a name."""
    return lambda line: line.get(name)


LIST_COLUMNS: tuple[Column, ...] = (
    Column("name", cell("name"), "text"),
    Column("kind", cell("kind"), "text", facet=True),
    Column("task", cell("task"), "text", facet=True),
    Column("agent", cell("agent"), "text", facet=True),
    Column("state", cell("state"), "text", facet=True),
    Column("score", cell("score"), "text", help="Its first score, 95 % interval."),
    Column("ended", cell("ended"), "count"),
    Column("errors", cell("errors"), "count"),
    Column("models", cell("models"), "tags", facet=True),
    Column("split", cell("split"), "text", shown=False),
    Column("samples", cell("samples"), "count"),
    Column("tokens", cell("tokens"), "count", help="In and out."),
    Column("$", cell("usd"), "dollars"),
    Column("seconds", cell("seconds"), "seconds", help="Of all samples together."),
    Column("date", cell("date"), "text"),
)


class Source(ABC):
    """Something that is looked at; whatever is wrong with it is a NavloomError of one line."""

    path: Path

    @abstractmethod
    def header(self) -> Header:
        """What a list says of it, as it is now."""

    @property
    def columns(self) -> Sequence[Column]:
        """What its rows have."""
        return ()

    def rows(self) -> Sequence[IndexRow]:
        """All of its rows as they are now, in their order; some sources have none."""
        return ()

    @abstractmethod
    def tab(self, name: str) -> Sequence[Block]:
        """What one of its tabs shows."""

    def detail(self, name: str) -> Detail:
        """What is seen of one row; KeyError where there is none of the id."""
        raise KeyError(name)

    def line(self, name: str) -> Line:
        """The line behind a finished row; KeyError where there is none."""
        raise KeyError(name)

    def calls(self, name: str) -> Sequence[Block]:
        """The model's calls of one row."""
        del name
        return ()

    def scenes(self) -> Iterable[str]:
        """URIs of the scenes that its maps may ask for."""
        return ()

    def runs(self) -> Mapping[str, Path]:
        """Of a report of several runs, their folders, by the names in its addresses."""
        return {}

    def load(self, uri: str) -> Scene:
        """A scene that its maps stand on; SceneError where it is gone."""
        return scene_of(uri)

    def state(self) -> tuple[Any, ...]:
        """What is another as soon as it has grown: sizes of files."""
        return ()


def size_and_time(path: Path) -> tuple[int, int]:
    """A file's size and when it was written; zeros where there is none."""
    try:
        found = path.stat()
    except OSError:
        return (0, 0)
    return found.st_size, found.st_mtime_ns
