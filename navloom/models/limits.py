"""How much a session may use: tokens, dollars, seconds, and the end of it in one line.

Before a call is made its share is reserved: what was spent, and what the calls under way will take
at least, has to lie below the limit. So a limit is overshot by one call for each sample in flight
at most. Whoever meets a limit raises `LimitReachedError`; a batch then drains, and the same command
with a higher limit goes on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from navloom.errors import LimitReachedError, UsageError
from navloom.models.answer import message_text
from navloom.models.usage import price_of, usage_of

__all__ = ["Budget", "LimitReachedError", "Limits"]

_CHARACTERS_A_TOKEN = 6
"""More than any tokeniser fits into one on average: a reservation must not be too large."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a run or session may use; None is no limit.

    Attributes:
        token_limit: tokens of the whole run, in and out, cached replies not counted.
        cost_limit: US dollars of the whole run.
        time_limit: seconds of this session, by the clock.

    Raises:
        UsageError: a limit is no positive number.
    """

    token_limit: int | None = None
    cost_limit: float | None = None
    time_limit: float | None = None

    def __post_init__(self) -> None:
        for name in ("token_limit", "cost_limit", "time_limit"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > 0):
                flag = f"--{name.replace('_', '-')}"
                raise UsageError(f"{flag} is {value}: expected a number above 0")

    def check_price(self, model: str) -> None:
        """Refuse a cost limit that cannot be kept.

        Raises:
            UsageError: no price is known for the model.
        """
        nothing = {"calls": 1, "input_tokens": 0, "output_tokens": 0}
        if self.cost_limit is not None and price_of(model, nothing) is None:
            raise UsageError(
                f"no price is known for {model}, so --cost-limit cannot be kept: use --token-limit"
            )


class Budget:
    """What is left of the limits while calls are made; one for all samples of a session.

    Args:
        limits: what may be used.
        tokens: used by the run before.
        cost: its dollars.
    """

    def __init__(self, limits: Limits, *, tokens: int = 0, cost: float = 0.0) -> None:
        self.limits = limits
        self.tokens = tokens
        self.cost = cost
        self._held: dict[int, tuple[int, float]] = {}
        self._next = 0

    def reserve(
        self,
        model: str,
        messages: Sequence[BaseMessage],
        bound: Mapping[str, Any] | None = None,  # noqa: ARG002  other gates look at it
    ) -> int:
        """Hold a call's least share until it is settled.

        Returns:
            The reservation, for `settle`.

        Raises:
            LimitReachedError: nothing is left; the line names the flag.
        """
        tokens = self.tokens + sum(held for held, _ in self._held.values())
        cost = self.cost + sum(held for _, held in self._held.values())
        most = self.limits
        if most.token_limit is not None and tokens >= most.token_limit:
            raise LimitReachedError(f"--token-limit {most.token_limit} is reached")
        if most.cost_limit is not None and cost >= most.cost_limit:
            raise LimitReachedError(f"--cost-limit ${most.cost_limit:g} is reached")
        characters = sum(len(message_text(message.content)) for message in messages)
        least = characters // _CHARACTERS_A_TOKEN
        price = price_of(model, {"input_tokens": least, "output_tokens": 0}) or 0.0
        self._next += 1
        self._held[self._next] = (least, price)
        return self._next

    def settle(self, reservation: int, model: str, reply: AIMessage | None) -> None:
        """Let go of a reservation and count what the call really used; None: it failed."""
        self._held.pop(reservation, None)
        if reply is not None:
            self.count(model, usage_of([reply]))

    def count(self, model: str, usage: dict[str, Any]) -> None:
        """Add what calls of a model used."""
        self.tokens += usage["input_tokens"] + usage["output_tokens"]
        self.cost += price_of(model, usage) or 0.0
