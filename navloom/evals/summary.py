"""What samples add up to: while a run goes on, and as ``summary.json`` keeps it at the end."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from navloom.models.usage import ModelUsage, merged


@dataclass
class Tally:
    """A running sum over the lines of a run.

    Attributes:
        counts: how many lines ended in each status.
        usage: calls and tokens of all of them.
        cost_usd: their cost; None once one of them has no known price.
        seconds: their seconds, added up (samples run side by side, so more than the clock's).
        models: their calls, by model and role.
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
            self.models = merged([*self.models, *map(ModelUsage.read, parts)])

    def __add__(self, other: Tally) -> Tally:
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
            models=merged([*self.models, *other.models]),
        )


@dataclass(frozen=True)
class Summary:
    """What a run adds up to after a session; ``summary.json`` has the same keys.

    Attributes:
        samples: how many the run is to have.
        ok: ended well.
        failed: the agent did not manage.
        error: the machinery broke; tried again only when asked.
        left: neither finished nor in error.
        interrupted: whether this session was stopped.
        usage: ``calls``, ``input_tokens``, ``output_tokens``.
        cost_usd: None where the model's price is unknown.
        cost_note: says so.
        sample_seconds: the samples' seconds, added up.
        session_seconds: this session's, by the clock.
        models: calls, cached calls, retries, tokens, seconds and cost by model and role, as
            `navloom.models.usage.ModelUsage` has them.
        limit: which limit ended this session, if one did.
        found: what the kind of run adds: ``scores``, ``questions``; keys of their own in the file.
    """

    samples: int
    ok: int
    failed: int
    error: int
    left: int
    interrupted: bool
    usage: dict[str, int]
    cost_usd: float | None
    cost_note: str | None
    sample_seconds: float
    session_seconds: float
    models: list[dict[str, Any]] = field(default_factory=list)
    limit: str | None = None
    found: dict[str, Any] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        """0 done, 2 some samples ended in error or a limit was reached, 130 interrupted."""
        return 130 if self.interrupted else 2 if self.error or self.limit else 0

    @property
    def scores(self) -> dict[str, Any]:
        """What the run scores, where its kind has scores."""
        return dict(self.found["scores"])

    def record(self) -> dict[str, Any]:
        """As ``summary.json`` has it."""
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
        """Add a run up after a session.

        Args:
            tally: of its lines, and of what samples have used that are not finished.
            samples: how many the run has.
            left: how many of them have no line.
            model: named where no line names one.
            stopped: whether someone asked the session to stop.
            seconds: of the session.
            limit: which limit was reached, if one was.
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
