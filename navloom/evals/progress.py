"""How a batch shows where it is: ``rich`` (a live bar), ``plain`` (a line at times) or ``none``.

Everything goes to stderr; stdout is for results.
"""

from __future__ import annotations

import sys
import time
from typing import Any, Literal, Protocol, TextIO

from navloom.errors import UsageError, did_you_mean
from navloom.evals.summary import Tally

__all__ = ["Display", "DisplayName", "NoDisplay", "PlainDisplay", "make_display"]

DisplayName = Literal["rich", "plain", "none"]
_NAMES = ("rich", "plain", "none")
_PLAIN_SECONDS = 5.0


class Display(Protocol):
    """What a batch tells as it goes."""

    def start(self, total: int, done: int) -> None:
        """Say that a session begins: ``total`` samples in the run, ``done`` of them already."""

    def step(self, tally: Tally) -> None:
        """Say that one more sample ended; the tally is of the whole run."""

    def note(self, text: str) -> None:
        """Say one line that a person should read now."""

    def close(self) -> None:
        """Say that the session is over."""


class NoDisplay:
    """Says nothing: for tests and for calls from Python."""

    def start(self, total: int, done: int) -> None:
        """Say nothing."""

    def step(self, tally: Tally) -> None:
        """Say nothing."""

    def note(self, text: str) -> None:
        """Say nothing."""

    def close(self) -> None:
        """Say nothing."""


def _counts(tally: Tally) -> str:
    named = {"ok": "ok", "failed": "failed", "error": "errors"}
    said = [f"{tally.counts.get(key, 0)} {word}" for key, word in named.items()]
    more = {"retries": "retries", "cached_calls": "cached calls"}
    said += [f"{count} {word}" for key, word in more.items() if (count := tally.usage.get(key))]
    return ", ".join(said)


class PlainDisplay:
    """A line every few seconds, fit for a log file.

    Args:
        out: where to; stderr unless told.
        every: seconds between two lines at least.
    """

    def __init__(self, out: TextIO | None = None, *, every: float = _PLAIN_SECONDS) -> None:
        self._out = out
        self._every = every
        self._total = 0
        self._before = 0
        self._ended = 0
        self._tally = Tally()
        self._begun = self._said = time.monotonic()

    def start(self, total: int, done: int) -> None:
        """Begin to count; says so where there is something to go on with."""
        self._total, self._before, self._ended = total, done, 0
        self._begun = self._said = time.monotonic()
        if done:
            self.note(f"going on: {done} of {total} samples are done")

    def step(self, tally: Tally) -> None:
        """Count a sample, and write a line where the last one is old enough."""
        self._ended += 1
        self._tally = tally
        if time.monotonic() - self._said >= self._every:
            self._line()

    def note(self, text: str) -> None:
        """Write one line."""
        print(text, file=self._out or sys.stderr, flush=True)

    def close(self) -> None:
        """Write a last line where samples ended."""
        if self._ended:
            self._line()

    def _line(self) -> None:
        self._said = now = time.monotonic()
        rate = self._ended / max(now - self._begun, 1e-9)
        left = self._total - self._before - self._ended
        eta = f", {_clock(left / rate)} left" if left > 0 else ""
        self.note(
            f"{self._before + self._ended}/{self._total} samples"
            f" ({_counts(self._tally)}), {rate:.1f}/s{eta}"
        )


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


class RichDisplay:
    """A live bar with rate, counts and the time that is left."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        self._progress = Progress(
            TextColumn("samples"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[counts]}"),
            TextColumn("{task.fields[rate]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
        )
        self._task: Any = None
        self._begun = 0.0
        self._ended = 0

    def start(self, total: int, done: int) -> None:
        """Draw the bar."""
        self._begun, self._ended = time.monotonic(), 0
        self._task = self._progress.add_task(
            "", total=total, completed=done, counts=_counts(Tally()), rate=""
        )
        self._progress.start()

    def step(self, tally: Tally) -> None:
        """Move the bar on by one."""
        self._ended += 1
        rate = self._ended / max(time.monotonic() - self._begun, 1e-9)
        self._progress.update(self._task, advance=1, counts=_counts(tally), rate=f"{rate:.1f}/s")

    def note(self, text: str) -> None:
        """Write a line above the bar."""
        self._progress.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def close(self) -> None:
        """Leave the bar as it stands."""
        self._progress.stop()


def make_display(name: str | None = None) -> Display:
    """The display of a name; without one, ``rich`` on a terminal and ``plain`` elsewhere.

    Raises:
        UsageError: no such display.
    """
    if name is None:
        name = "rich" if sys.stderr.isatty() else "plain"
    if name == "rich":
        return RichDisplay()
    if name == "plain":
        return PlainDisplay()
    if name == "none":
        return NoDisplay()
    raise UsageError(
        f"no display '{name}': choose {', '.join(_NAMES)}.{did_you_mean(name, _NAMES)}"
    )
