"""What a run adds up to: the content of ``summary.json``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from navloom.evals.run_folder import RunFolder
from navloom.evals.sample import Job
from navloom.evals.tally import Tally

__all__ = ["Summary", "summarise"]


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

    @property
    def exit_code(self) -> int:
        """0 done, 2 some samples ended in error or a limit was reached, 130 interrupted."""
        return 130 if self.interrupted else 2 if self.error or self.limit else 0


def summarise(
    folder: RunFolder,
    tally: Tally,
    ids: set[str],
    job: Job,
    stopped: bool,
    seconds: float,
    limit: str | None,
) -> Summary:
    """Add a run up after a session.

    Args:
        folder: the run's folder.
        tally: of its lines, and of what samples have used that are not finished.
        ids: of all its samples.
        job: what was done; names the model where no line does.
        stopped: whether someone asked the session to stop.
        seconds: of the session.
        limit: which limit was reached, if one was.
    """
    left = len(ids - folder.finished - folder.errored)
    unknown = sorted({part.model for part in tally.models if part.cost_usd is None})
    named = ", ".join(unknown) or job.model
    note = f"no price is known for {named}" if tally.cost_usd is None else None
    return Summary(
        samples=len(ids),
        ok=tally.counts.get("ok", 0),
        failed=tally.counts.get("failed", 0),
        error=tally.counts.get("error", 0),
        left=left,
        interrupted=stopped and left > 0,
        usage=tally.usage,
        cost_usd=tally.cost_usd,
        cost_note=note,
        sample_seconds=round(tally.seconds, 3),
        session_seconds=round(seconds, 3),
        models=[part.record() for part in tally.models],
        limit=limit if left else None,
    )
