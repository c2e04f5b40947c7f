"""A report in words: tables of plain text, as markdown and in a terminal.

What a page shows of the same are blocks (:mod:`navloom.evals.report.blocks`). Whatever a model, a
person or a dataset said is a cell, escaped, never markup.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from navloom.evals.report.intervals import Interval, Rate
from navloom.files import make_folder, write_whole
from navloom.terminal import harmless

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.figure import Figure
    from numpy.typing import NDArray
    from PIL.Image import Image as Picture

_WIDTH, _ROWS = 80, 18
"""Columns and rows of what is told in a terminal."""
NOTHING = "–"
"""A cell without a number."""


@dataclass(frozen=True)
class Table:
    """A table of plain text.

    Attributes:
        title: what it shows.
        note: how to read it.
        header: the columns.
        rows: the cells; the first of a row is its name.
        pale: how many rows at the end are not ours.
        folded: on a page, what stands on the lid that hides it; empty where it is open.
        record: the same for programs, shares as fractions; empty where they read it elsewhere.
    """

    title: str
    note: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    pale: int = 0
    folded: str = ""
    record: Mapping[str, Any] = field(default_factory=dict)

    def markdown(self) -> str:
        """The table as markdown; cells are escaped."""
        lines = [self.header, tuple("---" if i == 0 else "---:" for i in range(len(self.header)))]
        body = "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in [*lines, *self.rows])
        return f"## {self.title}\n\n{body}\n\n{self.note}"


def _cell(text: str) -> str:
    flat = " ".join(text.split())
    return flat.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "\\`")


def escaped(text: str) -> str:
    """Words of others in a line of markdown."""
    return text.replace("<", "&lt;").replace("|", "\\|").replace("`", "\\`")


def percent(share: float | None, interval: Interval | None = None) -> str:
    """A share as people read it, in every table: per cent, and its interval behind it."""
    if share is None:
        return NOTHING
    ends = "" if interval is None else f" [{100 * interval[0]:.1f}, {100 * interval[1]:.1f}]"
    return f"{share:.1%}{ends}"


def first_score(name: str, said: Mapping[str, Any], key: str) -> str:
    """A run's first score as a list of runs shows it, from what ``summary.json`` says of it.

    Args:
        name: of the score, a share.
        said: its value under ``key``, and its ``interval``.
        key: where the value stands.
    """
    ends = said.get("interval")
    interval = (float(ends[0]), float(ends[1])) if ends else None
    return f"{name} {percent(float(said[key]), interval)}"


def rate_cell(rate: Rate | None) -> str:
    """A share with its counts and its 95 % interval."""
    if rate is None or rate.share is None:
        return NOTHING
    share, _, ends = percent(rate.share, rate.interval).partition(" ")
    return f"{share} ({rate.hits}/{rate.of}) {ends}".rstrip()


def number(value: float, sign: str = "") -> str:
    """What is no share, as people read it: a count whole, less with two decimals."""
    if abs(value) >= 100 or value == int(value):
        return f"{value:{sign},.0f}"
    if abs(value) < 0.01:
        return f"{value:{sign}.6f}".rstrip("0")
    return f"{value:{sign}.2f}"


@dataclass(frozen=True)
class Document:
    """What a report says, however it is shown.

    Attributes:
        title: its first heading.
        headline: what happened, in a sentence or two; may be empty.
        tables: the tables, in their order.
        cases_title: the heading above what is looked at one by one.
        cases: a name and a sentence each.
    """

    title: str
    headline: str
    tables: tuple[Table, ...]
    cases_title: str = ""
    cases: tuple[tuple[str, str], ...] = ()

    def markdown(self) -> str:
        """As markdown, without pictures."""
        parts = [f"# {escaped(self.title)}", self.headline]
        parts += [table.markdown() for table in self.tables]
        if self.cases:
            parts.append(f"## {self.cases_title}")
            parts += [f"{n}. {escaped(a)}: {escaped(b)}" for n, (a, b) in enumerate(self.cases, 1)]
        return "\n\n".join(filter(None, parts)) + "\n"

    def screen(self) -> list[Any]:
        """What is told of it in a terminal, on one screen: what it is and its first open table.

        Rows of others stay in the file. Where there are more columns than rows, these stand up.
        """
        from rich.markup import escape as rich_escaped
        from rich.table import Table as RichTable

        paragraphs = [fill(part, _WIDTH) for part in (self.title, self.headline) if part]
        said: list[Any] = ["".join(f"{each}\n\n" for each in paragraphs)]
        first = next((table for table in self.tables if not table.folded and table.rows), None)
        if first is None:
            return said
        lines = [first.header, *first.rows[: len(first.rows) - first.pale]]
        if len(lines) < len(first.header):
            columns = zip(*lines, strict=True)
            lines = [each for each in columns if set(each[1:]) != {NOTHING}]

        def plain(text: str) -> str:
            return rich_escaped(harmless(text))

        shown = RichTable(*map(plain, lines[0]), title=plain(first.title), title_justify="left")
        shown.box, shown.pad_edge, shown.title_style = None, False, "bold"
        for column in shown.columns[1:]:
            column.justify = "right"
        for line in lines[1 : 1 + _ROWS]:
            shown.add_row(*map(plain, line))
        if len(lines) > 1 + _ROWS:
            shown.add_row(f"{len(lines) - 1 - _ROWS} rows more in the file")
        return [*said, shown]

    def write(self, folder: Path) -> Path:
        """Write ``report.md``; the folder is made where there is none.

        Raises:
            RunError: it cannot be written.
        """
        make_folder(folder)
        return write_whole(folder / "report.md", self.markdown().encode(errors="replace"))


def png(figure: Figure, dpi: int = 110) -> bytes:
    """A figure as a PNG file, equal for equal figures."""
    held = BytesIO()
    # Software and date in the file would make equal reports differ.
    figure.savefig(held, format="png", dpi=dpi, metadata={"Software": None})
    return held.getvalue()


def photo(picture: NDArray[np.uint8] | Picture | bytes, most: int = 1024) -> bytes:
    """A rendered picture as a page carries it: a JPEG file, small, not exact.

    Args:
        picture: (height, width, 3) uint8, a picture of Pillow's, or an image file of our own.
        most: pixels of its longer side.
    """
    from PIL import Image

    if isinstance(picture, bytes):
        picture = Image.open(BytesIO(picture))
    made = picture if isinstance(picture, Image.Image) else Image.fromarray(picture)
    made = made.convert("RGB")
    made.thumbnail((most, most))
    held = BytesIO()
    made.save(held, "JPEG", quality=80)
    return held.getvalue()


def named_apart(runs: Sequence[Path | str]) -> Iterator[str]:
    """Runs go by their folders' names; where two are the same, by the paths as they were given."""
    names = [Path(run).resolve().name for run in runs]
    for run, name in zip(runs, names, strict=True):
        yield str(run) if names.count(name) > 1 else name
