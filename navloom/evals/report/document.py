"""Tables of plain text, and numbers and pictures as every report has them.

Whatever a model, a person or a dataset said is a cell, escaped, never markup.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # `navloom --help` reads this file: nothing heavy is imported
    import numpy as np
    from numpy.typing import NDArray
    from PIL.Image import Image as Picture

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
        title = f"## {self.title}" if self.title else ""
        return "\n\n".join(filter(None, [title, body, self.note]))


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


def with_ends(
    value: float | None, interval: Interval | None, digits: int, ends: int | None = None
) -> str:
    """A number that is no share, and its interval behind it.

    Args:
        value: None where there is none.
        interval: None where there is none.
        digits: behind the point.
        ends: the same of the interval; as many unless given.
    """
    if value is None or interval is None:
        return NOTHING if value is None else f"{value:.{digits}f}"
    low, high = (f"{end:.{digits if ends is None else ends}f}" for end in interval)
    return f"{value:.{digits}f} [{low}, {high}]"


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
