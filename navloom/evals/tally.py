"""What samples add up to: how they ended, tokens, seconds, and what it cost.

Prices come from genai-prices' built-in table; nothing is fetched. A price nobody knows is ``None``,
never 0, and a sum over it is ``None`` too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

__all__ = ["FREE_PROVIDERS", "Tally", "price_of", "usage_of"]

FREE_PROVIDERS = frozenset({"builtin", "local", "scripted"})
"""Providers that run in this process and cost nothing."""


def usage_of(messages: Iterable[Any]) -> dict[str, int]:
    """Count the model calls and tokens behind some messages.

    Args:
        messages: LangChain messages; those that a model did not write count for nothing.

    Returns:
        ``calls``, ``input_tokens`` and ``output_tokens``; a call without ``usage_metadata`` counts
        as a call with no tokens.
    """
    total = {"calls": 0, "input_tokens": 0, "output_tokens": 0}
    for message in messages:
        if getattr(message, "type", None) != "ai":
            continue
        usage = getattr(message, "usage_metadata", None) or {}
        total["calls"] += 1
        total["input_tokens"] += int(usage.get("input_tokens") or 0)
        total["output_tokens"] += int(usage.get("output_tokens") or 0)
    return total


def price_of(model: str, usage: dict[str, int]) -> float | None:
    """What tokens of a model cost, in US dollars.

    Args:
        model: ``provider/name``.
        usage: as ``usage_of`` gives it.

    Returns:
        The price; 0.0 for models that run in this process; None where no price is known.
    """
    provider, _, name = model.partition("/")
    if provider in FREE_PROVIDERS:
        return 0.0
    from genai_prices import Usage, calc_price

    try:
        priced = calc_price(
            Usage(input_tokens=usage["input_tokens"], output_tokens=usage["output_tokens"]),
            name,
            provider_id=provider,
        )
    except LookupError:
        return None
    return float(priced.total_price)


@dataclass
class Tally:
    """A running sum over the lines of a run.

    Attributes:
        counts: how many lines ended in each status.
        usage: calls and tokens of all of them.
        cost_usd: their cost; None once one of them has no known price.
        seconds: their seconds, added up (samples run side by side, so more than the clock's).
    """

    counts: dict[str, int] = field(default_factory=dict)
    usage: dict[str, int] = field(
        default_factory=lambda: {"calls": 0, "input_tokens": 0, "output_tokens": 0}
    )
    cost_usd: float | None = 0.0
    seconds: float = 0.0

    def add(self, record: dict[str, Any]) -> None:
        """Add one line of ``samples.jsonl`` or ``errors.jsonl``."""
        status = str(record.get("status"))
        self.counts[status] = self.counts.get(status, 0) + 1
        for key, value in (record.get("usage") or {}).items():
            self.usage[key] = self.usage.get(key, 0) + value
        cost = record.get("cost_usd")
        self.cost_usd = None if cost is None or self.cost_usd is None else self.cost_usd + cost
        self.seconds += record.get("seconds") or 0.0

    def __add__(self, other: Tally) -> Tally:
        keys = [*self.counts, *(key for key in other.counts if key not in self.counts)]
        known = self.cost_usd is not None and other.cost_usd is not None
        return Tally(
            counts={key: self.counts.get(key, 0) + other.counts.get(key, 0) for key in keys},
            usage={key: self.usage[key] + other.usage.get(key, 0) for key in self.usage},
            cost_usd=(self.cost_usd or 0.0) + (other.cost_usd or 0.0) if known else None,
            seconds=self.seconds + other.seconds,
        )
