"""A table of plain text, as reports and commands show it, and how a share stands in a cell."""

from __future__ import annotations

from dataclasses import dataclass

from navloom.evals.report.intervals import Interval, Rate

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
    """

    title: str
    note: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    pale: int = 0
    folded: str = ""

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


def rate_cell(rate: Rate | None) -> str:
    """A share with its counts and its 95 % interval."""
    if rate is None or rate.share is None:
        return NOTHING
    return f"{rate.share:.1%} ({rate.hits}/{rate.of}){within(rate.interval)}"


def within(interval: Interval | None) -> str:
    """An interval of a share in percent, as it stands behind the share."""
    return "" if interval is None else f" [{100 * interval[0]:.1f}, {100 * interval[1]:.1f}]"
