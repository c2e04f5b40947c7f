"""What samples add up to: how they ended, tokens, seconds, and what it cost, by model and role."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from navloom.models.usage import FREE_PROVIDERS, ModelUsage, merged, price_of, usage_of

__all__ = ["FREE_PROVIDERS", "Tally", "price_of", "usage_of"]


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
