"""Progress displays of a batch, running totals, and the content of ``summary.json``.

A display is ``rich`` (a live bar), ``plain`` (a line every few seconds) or ``none``. It writes to
stderr; stdout is for results.
"""

from __future__ import annotations

import sys
import time
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TextIO

from navloom.errors import UsageError, did_you_mean
from navloom.models.redaction import printable_text

if TYPE_CHECKING:
    from navloom.models.usage import ModelUsage

DisplayName = Literal["rich", "plain", "none"]
_NAMES = ("rich", "plain", "none")
_PLAIN_SECONDS = 5.0


class ProgressDisplay(Protocol):
    """Protocol of a progress display."""

    def start(self, total: int, done: int) -> None:
        """Begin a session: ``total`` samples in the run, ``done`` of them finished."""

    def step(self, tally: Tally) -> None:
        """Count one more ended sample; the tally is of the whole run."""

    def note(self, text: str) -> None:
        """Show one line to the user at once."""

    def close(self) -> None:
        """End the session."""


class SilentDisplay:
    """A silent display, for tests and calls from Python."""

    def start(self, total: int, done: int) -> None:
        """Do nothing."""

    def step(self, tally: Tally) -> None:
        """Do nothing."""

    def note(self, text: str) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


def _counts(tally: Tally) -> str:
    named = {"ok": "ok", "failed": "failed", "error": "errors"}
    said = [f"{tally.counts.get(key, 0)} {word}" for key, word in named.items()]
    more = {"retries": "retries", "cached_calls": "cached calls"}
    said += [f"{count} {word}" for key, word in more.items() if (count := tally.usage.get(key))]
    return ", ".join(said)


class PlainDisplay:
    """A display that writes a line every few seconds, suitable for log files.

    Args:
        out: output stream; default: stderr.
        every: minimum seconds between two lines.
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
        """Begin to count; writes a line if the run is resumed."""
        self._total, self._before, self._ended = total, done, 0
        self._begun = self._said = time.monotonic()
        if done:
            self.note(f"going on: {done} of {total} samples are done")

    def step(self, tally: Tally) -> None:
        """Count a sample, and write a line if the last line is old enough."""
        self._ended += 1
        self._tally = tally
        if time.monotonic() - self._said >= self._every:
            self._line()

    def note(self, text: str) -> None:
        """Write one line."""
        print(printable_text(text), file=self._out or sys.stderr, flush=True)

    def close(self) -> None:
        """Write a last line, unless no sample ended in this session."""
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
    """A live progress bar with rate, counts and remaining time."""

    def __init__(self) -> None:
        from rich import progress
        from rich.console import Console

        self._progress = progress.Progress(
            progress.TextColumn("samples"),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TextColumn("{task.fields[counts]}"),
            progress.TextColumn("{task.fields[rate]}"),
            progress.TimeElapsedColumn(),
            progress.TextColumn("left"),
            progress.TimeRemainingColumn(),
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
        """Advance the bar by one sample."""
        self._ended += 1
        rate = self._ended / max(time.monotonic() - self._begun, 1e-9)
        self._progress.update(self._task, advance=1, counts=_counts(tally), rate=f"{rate:.1f}/s")

    def note(self, text: str) -> None:
        """Write a line above the bar."""
        self._progress.console.print(
            printable_text(text), markup=False, highlight=False, soft_wrap=True
        )

    def close(self) -> None:
        """Stop the bar and leave it in its present state."""
        self._progress.stop()


def make_display(name: str | None = None) -> ProgressDisplay:
    """Make a display by name; None: ``rich`` on a terminal, ``plain`` elsewhere.

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
        return SilentDisplay()
    raise UsageError(
        f"no display '{name}': choose {', '.join(_NAMES)}.{did_you_mean(name, _NAMES)}"
    )


@dataclass
class Tally:
    """Running totals over the lines of a run.

    Attributes:
        counts: number of lines by status.
        usage: calls and tokens of all lines.
        cost_usd: cost of all lines; None if one has no known price.
        seconds: sum of the samples' durations; exceeds wall-clock time, as samples run in parallel.
        models: usage by model and role.
    """

    counts: dict[str, int] = field(default_factory=dict)
    usage: dict[str, int] = field(
        default_factory=lambda: {"calls": 0, "input_tokens": 0, "output_tokens": 0}
    )
    cost_usd: float | None = 0.0
    seconds: float = 0.0
    models: list[ModelUsage] = field(default_factory=list)

    def add(self, record: dict[str, Any]) -> None:
        """Add one line of ``samples.jsonl`` or ``errors.jsonl``."""
        status = str(record.get("status"))
        self.counts[status] = self.counts.get(status, 0) + 1
        for key, value in (record.get("usage") or {}).items():
            self.usage[key] = self.usage.get(key, 0) + value
        cost = record.get("cost_usd")
        self.cost_usd = None if cost is None or self.cost_usd is None else self.cost_usd + cost
        self.seconds += record.get("seconds") or 0.0
        if parts := record.get("models"):
            from navloom.models.usage import ModelUsage, merge_usage

            self.models = merge_usage([*self.models, *map(ModelUsage.read, parts)])

    def __add__(self, other: Tally) -> Tally:
        from navloom.models.usage import merge_usage

        keys = [*self.counts, *(key for key in other.counts if key not in self.counts)]
        known = self.cost_usd is not None and other.cost_usd is not None
        return Tally(
            counts={key: self.counts.get(key, 0) + other.counts.get(key, 0) for key in keys},
            usage={
                key: self.usage.get(key, 0) + other.usage.get(key, 0)
                for key in {**self.usage, **other.usage}
            },
            cost_usd=(self.cost_usd or 0.0) + (other.cost_usd or 0.0) if known else None,
            seconds=self.seconds + other.seconds,
            models=merge_usage([*self.models, *other.models]),
        )


@dataclass(frozen=True)
class Summary:
    """Totals of a run after a session; ``summary.json`` has the same keys.

    Attributes:
        samples: number of samples in the run.
        ok: samples that succeeded.
        failed: samples in which the agent failed.
        error: samples that ended in an exception; retried only on request.
        left: samples without a line.
        interrupted: whether this session was stopped.
        usage: ``calls``, ``input_tokens``, ``output_tokens``.
        cost_usd: None where the model's price is unknown.
        cost_note: names the models without a price.
        sample_seconds: sum of the samples' durations.
        session_seconds: wall-clock time of this session.
        models: calls, cached calls, retries, tokens, seconds and cost by model and role, as
            `navloom.models.usage.ModelUsage` has them.
        limit: the limit that ended this session, if any.
        found: entries of the kind of run, such as ``scores``; top-level keys in the file.
    """

    samples: int = 0
    ok: int = 0
    failed: int = 0
    error: int = 0
    left: int = 0
    interrupted: bool = False
    usage: dict[str, int] = field(default_factory=dict)
    cost_usd: float | None = None
    cost_note: str | None = None
    sample_seconds: float = 0.0
    session_seconds: float = 0.0
    models: list[dict[str, Any]] = field(default_factory=list)
    limit: str | None = None
    found: dict[str, Any] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        """0 done, 2 some samples ended in error or a limit was reached, 130 interrupted."""
        return 130 if self.interrupted else 2 if self.error or self.limit else 0

    @property
    def scores(self) -> dict[str, Any]:
        """The scores of the run, if its kind of run has scores."""
        return dict(self.found["scores"])

    def record(self) -> dict[str, Any]:
        """Return the content of ``summary.json``."""
        own = asdict(self)
        found: dict[str, Any] = own.pop("found")
        return own | found

    @classmethod
    def of(
        cls,
        tally: Tally,
        *,
        samples: int,
        left: int,
        model: str,
        stopped: bool,
        seconds: float,
        limit: str | None,
    ) -> Summary:
        """Make the summary of a run after a session.

        Args:
            tally: totals of its lines and of the usage of unfinished samples.
            samples: number of samples in the run.
            left: number of samples without a line.
            model: named in the cost note where no line names one.
            stopped: whether the session was asked to stop.
            seconds: duration of the session.
            limit: the limit that was reached, if any.
        """
        unknown = sorted({part.model for part in tally.models if part.cost_usd is None})
        note = f"no price is known for {', '.join(unknown) or model}"
        return cls(
            samples=samples,
            ok=tally.counts.get("ok", 0),
            failed=tally.counts.get("failed", 0),
            error=tally.counts.get("error", 0),
            left=left,
            interrupted=stopped and left > 0,
            usage=tally.usage,
            cost_usd=tally.cost_usd,
            cost_note=note if tally.cost_usd is None else None,
            sample_seconds=round(tally.seconds, 3),
            session_seconds=round(seconds, 3),
            models=[part.record() for part in tally.models],
            limit=limit if left else None,
        )
