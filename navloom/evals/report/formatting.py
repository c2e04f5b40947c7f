"""Plain-text tables, number formatting and JPEG encoding for all reports.

Text from a model, a person or a dataset is escaped in cells, never markup.
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
        title: its title.
        note: how to read it.
        header: names of the columns.
        rows: the cells; the first of a row is its name.
        pale: number of rows at the end that come from other publications.
        folded: on a page, label of the control that unfolds it; empty: always open.
        record: the content as JSON, shares as fractions; empty if it is available elsewhere.
    """

    title: str
    note: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    pale: int = 0
    folded: str = ""
    record: Mapping[str, Any] = field(default_factory=dict)

    def markdown(self) -> str:
        """Return the table as markdown, with escaped cells."""
        lines = [self.header, tuple("---" if i == 0 else "---:" for i in range(len(self.header)))]
        body = "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in [*lines, *self.rows])
        title = f"## {self.title}" if self.title else ""
        return "\n\n".join(filter(None, [title, body, self.note]))


def _cell(text: str) -> str:
    flat = " ".join(text.split())
    return flat.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "\\`")


def escape_markdown(text: str) -> str:
    """Return a foreign text escaped for a line of markdown."""
    return text.replace("<", "&lt;").replace("|", "\\|").replace("`", "\\`")


def percent(share: float | None, interval: Interval | None = None) -> str:
    """Format a share as a percentage, followed by its interval."""
    if share is None:
        return NOTHING
    ends = "" if interval is None else f" [{100 * interval[0]:.1f}, {100 * interval[1]:.1f}]"
    return f"{share:.1%}{ends}"


def with_interval(
    value: float | None, interval: Interval | None, digits: int, ends: int | None = None
) -> str:
    """Format a number that is no share, followed by its interval.

    Args:
        value: None for no value.
        interval: None for no interval.
        digits: decimals of the value.
        ends: decimals of the interval; default: ``digits``.
    """
    if value is None or interval is None:
        return NOTHING if value is None else f"{value:.{digits}f}"
    low, high = (f"{end:.{digits if ends is None else ends}f}" for end in interval)
    return f"{value:.{digits}f} [{low}, {high}]"


def headline_score(name: str, said: Mapping[str, Any], key: str) -> str:
    """Format the main score of a run for a list of runs, from its ``summary.json``.

    Args:
        name: name of the score, a share.
        said: mapping with its value under ``key``, and its ``interval``.
        key: key of the value.
    """
    ends = said.get("interval")
    interval = (float(ends[0]), float(ends[1])) if ends else None
    return f"{name} {percent(float(said[key]), interval)}"


def rate_cell(rate: Rate | None) -> str:
    """Format a rate as percentage, counts and 95 % interval."""
    if rate is None or rate.share is None:
        return NOTHING
    share, _, ends = percent(rate.share, rate.interval).partition(" ")
    return f"{share} ({rate.hits}/{rate.of}) {ends}".rstrip()


def format_number(value: float, sign: str = "") -> str:
    """Format a number that is no share: counts as integers, others with two decimals."""
    if abs(value) >= 100 or value == int(value):
        return f"{value:{sign},.0f}"
    if abs(value) < 0.01:
        return f"{value:{sign}.6f}".rstrip("0")
    return f"{value:{sign}.2f}"


def encode_jpeg(picture: NDArray[np.uint8] | Picture | bytes, most: int = 1024) -> bytes:
    """Encode an image as a small JPEG file for a page.

    Args:
        picture: (height, width, 3) uint8, a Pillow image, or an image file made by Navloom.
        most: maximum longer side in pixels.
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


def run_labels(runs: Sequence[Path | str]) -> Iterator[str]:
    """Yield a label for each run: its folder's name, or its path where names repeat."""
    names = [Path(run).resolve().name for run in runs]
    for run, name in zip(runs, names, strict=True):
        yield str(run) if names.count(name) > 1 else name
