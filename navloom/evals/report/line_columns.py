"""What a line of a run is in a table of samples, and what makes two runs' lines a pair.

What every line has (id, scene, status, reason, tokens, $, seconds) is added by whoever shows the
table; a kind of run says what is its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from navloom.evals.report.blocks import Detail, Grid
from navloom.evals.report.document import NOTHING, Table, number, percent

Line = Mapping[str, Any]
"""A line of ``samples.jsonl`` or ``errors.jsonl``: anyone may have written it."""
Cell = str | float | int | bool | None | list[str]
"""A value of a column; None where a line has none; a list of words where it has several tags."""


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column of the table of samples.

    Attributes:
        name: its heading, one word as one types it in a filter: ``SPL``, ``cause``.
        of: what a line has there; whatever it raises of the kind that a line of another form
            makes code raise counts as nothing.
        form: how it is read: ``share`` is 0 to 1, ``metres``, ``seconds``, ``dollars``, ``count``,
            ``number``, ``text``, ``tags``.
        facet: whether its values are counted beside the table, to filter by.
        shown: whether it is seen before anybody chooses columns.
        help: what it is.
        better: which way is better, for the numbers that have one.
    """

    name: str
    of: Callable[[Line], Cell]
    form: Literal["text", "tags", "count", "number", "share", "metres", "seconds", "dollars"]
    facet: bool = False
    shown: bool = True
    help: str = ""
    better: Literal["more", "less"] | None = None


_UNITS = {"share": "%", "metres": "m", "seconds": "s", "dollars": "$", "count": "how many"}


def meaning_of(column: Column) -> tuple[str, str, str]:
    """A score's name, its unit, and what it is."""
    better = f" {column.better.capitalize()} is better." if column.better else ""
    return column.name, _UNITS.get(column.form, ""), f"{column.help.rstrip('.')}.{better}"


def meanings(rows: Iterable[tuple[str, str, str]]) -> Grid:
    """What scores mean, folded: (name, unit, what it is) each."""
    words = "What these scores mean"
    return Grid(table=Table("", "", ("score", "unit", "what it is"), tuple(rows), folded=words))


@dataclass(frozen=True, kw_only=True)
class Pairing:
    """How the samples of two runs are held against each other.

    Attributes:
        identity: what must be equal in two lines of one id, for them to be one thing: JSON.
        scores: the numbers of a line, by name; a line lacks some.
        what: what a sample is, such as "an episode".
        less: names of which less is better.
        neither: names that have no good side.
        effort: names of what it took; less of it is no merit of a run that succeeds less.
        counted: names that are 0 or 1, for McNemar's test.
        cluster: what the bootstrap draws whole, such as an episode's path; None: lines one by one.
        cluster_name: what such a whole is called, such as "path".
        order: names of scores as tables have them; others come after.
        drawn: names of scores that are drawn as a dot a pair.
        said: a score's name, its value and the sign of a difference (``+`` or nothing) -> as text;
            None: what is counted as shares, other numbers as they are.
        holds: what a line needs for all this, such as "episode and scores".
        beside: two runs' folders and their lines of one id -> what is looked at of the pair; None:
            both details side by side.
    """

    identity: Callable[[Line], Any]
    scores: Callable[[Line], Mapping[str, float | None]]
    what: str = "a sample"
    less: frozenset[str] = field(default_factory=frozenset)
    neither: frozenset[str] = field(default_factory=frozenset)
    effort: frozenset[str] = field(default_factory=frozenset)
    counted: frozenset[str] = field(default_factory=frozenset)
    cluster: Callable[[Line], Any] | None = None
    cluster_name: str = "sample"
    order: tuple[str, ...] = ()
    drawn: tuple[str, ...] = ()
    said: Callable[[str, float | None, str], str] | None = None
    holds: str = "scores"
    beside: Callable[[Path, Line, Path, Line], Detail] | None = None

    @property
    def noun(self) -> str:
        """What a sample is, without its article."""
        return self.what.partition(" ")[2] or self.what

    def spoken(self, name: str, value: float | None, sign: str = "") -> str:
        """A score as every table has it.

        Args:
            name: of the score.
            value: None where there is none.
            sign: ``+`` for a difference, which of shares is in percentage points.
        """
        if self.said is not None:
            return self.said(name, value, sign)
        if value is None:
            return NOTHING
        if name in self.counted:
            return f"{100 * value:+.1f}" if sign else percent(value)
        return number(value, sign)
