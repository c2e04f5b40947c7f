"""Usage of model calls in tokens, seconds and dollars, and the limits of a session.

Every reply of `navloom.models.model_call.acall` has a stamp in its ``response_metadata``: the
model, its role, the duration, the number of retries, and whether it came from the cache. The stamp
is stored with the message, in a checkpoint, so that an interrupted run loses no count.

Prices come from genai-prices' built-in table; nothing is fetched. An unknown price is ``None``,
never 0, and so is a sum that includes one. A reply from the cache costs nothing.

Before a call, its share of the session's `Limits` is reserved in a `Budget`: the usage so far, and
the minimum usage of the calls under way, must be below the limit. So a limit may be exceeded by at
most one call for each sample in progress. At a limit `LimitReachedError` is raised. A batch then
finishes its open samples, and the same command with a higher limit continues.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from navloom.errors import LimitReachedError, UsageError
from navloom.models.messages import message_text
from navloom.models.model_spec import read_spec

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, BaseMessage

FREE_PROVIDERS = frozenset({"builtin", "local", "scripted"})
"""Providers that run in this process and cost nothing."""
DEFAULT_ROLE = "generator"
STAMP = "navloom"
"""Key of a reply's ``response_metadata`` with its stamp."""
_CHARACTERS_A_TOKEN = 6
"""More characters than a token has on average, so that a reservation is a lower bound."""


@dataclass(slots=True)
class ModelUsage:
    """Total usage of one model in one role.

    Attributes:
        model: ``provider/name``.
        role: the model's role.
        calls: paid calls.
        cached_calls: replies that came from the cache instead.
        retries: failed attempts that were repeated.
        input_tokens: of the paid calls; those of cached replies do not count.
        output_tokens: likewise.
        seconds: total duration of the calls, waits between attempts included.
        cost_usd: None if no price is known for the model.
    """

    model: str
    role: str
    calls: int = 0
    cached_calls: int = 0
    retries: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    cost_usd: float | None = 0.0

    def add(self, other: ModelUsage) -> None:
        """Add the usage of further calls of the same model and role."""
        self.calls += other.calls
        self.cached_calls += other.cached_calls
        self.retries += other.retries
        self.input_tokens += other.input_tokens
        self.output_tokens += other.output_tokens
        self.seconds = round(self.seconds + other.seconds, 4)
        known = self.cost_usd is not None and other.cost_usd is not None
        self.cost_usd = (self.cost_usd or 0.0) + (other.cost_usd or 0.0) if known else None

    def record(self) -> dict[str, Any]:
        """Return the usage as a JSON record of a run."""
        # Called once per call: `asdict` would deep-copy each number.
        return {each: getattr(self, each) for each in self.__dataclass_fields__}

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> ModelUsage:
        """Read the usage from a record of a run; missing values count as 0."""
        cost = record.get("cost_usd", 0.0)
        return cls(
            model=str(record.get("model")),
            role=str(record.get("role")),
            **{
                name: int(record.get(name) or 0)
                for name in ("calls", "cached_calls", "retries", "input_tokens", "output_tokens")
            },
            seconds=float(record.get("seconds") or 0.0),
            cost_usd=None if cost is None else float(cost),
        )


def stamp_reply(
    reply: AIMessage, *, model: str, role: str, seconds: float, retries: int, cached: bool
) -> AIMessage:
    """Return the reply with its stamp; a cached reply loses its id, which may not be unique."""
    stamp = {
        "model": model,
        "role": role,
        "seconds": round(seconds, 4),
        "retries": retries,
        "cached": cached,
    }
    update: dict[str, Any] = {"response_metadata": {**reply.response_metadata, STAMP: stamp}}
    if cached:
        update["id"] = None
    return reply.model_copy(update=update)


def reply_usage(reply: AIMessage) -> dict[str, Any]:
    """Return the usage record of one reply, paid or cached.

    A call without ``usage_metadata`` counts with no tokens. A reply without a stamp, which did not
    come from ``acall``, has no known price.
    """
    stamp = _stamp_of(reply)
    counted: Mapping[str, Any] = reply.usage_metadata or {}
    name, cached = str(stamp.get("model") or "unknown"), bool(stamp.get("cached"))
    used = ModelUsage(name, str(stamp.get("role") or DEFAULT_ROLE))
    used.seconds = float(stamp.get("seconds") or 0.0)
    if cached:
        used.cached_calls = 1
        return used.record()
    used.calls, used.retries = 1, int(stamp.get("retries") or 0)
    used.input_tokens = int(counted.get("input_tokens") or 0)
    used.output_tokens = int(counted.get("output_tokens") or 0)
    used.cost_usd = price_of(name, used.record()) if stamp else None
    return used.record()


def sum_usage(parts: Iterable[ModelUsage]) -> dict[str, int]:
    """Sum the calls and tokens of several usages.

    Returns:
        ``calls``, ``input_tokens`` and ``output_tokens``, and if not 0, ``cached_calls`` and
        ``retries``.
    """
    total = {"calls": 0, "input_tokens": 0, "output_tokens": 0}
    names = (*total, "cached_calls", "retries")
    for part in parts:
        for name in names:
            if name in total or getattr(part, name):
                total[name] = total.get(name, 0) + getattr(part, name)
    return total


def merge_usage(parts: Iterable[ModelUsage]) -> list[ModelUsage]:
    """Return usages merged to one for each model and role, sorted by model and role."""
    sums: dict[tuple[str, str], ModelUsage] = {}
    for part in parts:
        there = sums.setdefault((part.model, part.role), ModelUsage(part.model, part.role))
        there.add(part)
    return [sums[key] for key in sorted(sums)]


def total_cost(parts: Iterable[ModelUsage]) -> float | None:
    """Return the total cost; None if the price of any usage is unknown."""
    costs = [part.cost_usd for part in parts]
    known = [cost for cost in costs if cost is not None]
    return sum(known, 0.0) if len(known) == len(costs) else None


def price_of(model: str, usage: Mapping[str, int]) -> float | None:
    """Return the price of a model's tokens, in US dollars.

    Args:
        model: ``provider/name``, with or without options.
        usage: a result of `sum_usage`.

    Returns:
        The price; 0.0 for models in this process and without calls; None if no price is known.
    """
    named = read_spec(model)
    if named.provider in FREE_PROVIDERS or usage.get("calls") == 0:
        return 0.0
    from genai_prices import Usage, calc_price

    try:
        priced = calc_price(
            Usage(input_tokens=usage["input_tokens"], output_tokens=usage["output_tokens"]),
            named.name,
            provider_id=named.provider,
        )
    except LookupError:
        return None
    return float(priced.total_price)


def _stamp_of(message: Any) -> Mapping[str, Any]:
    stamp = (getattr(message, "response_metadata", None) or {}).get(STAMP)
    return stamp if isinstance(stamp, Mapping) else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageLimits:
    """Usage limits of a run or session; None is no limit.

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
        """Refuse a cost limit for a model without a known price.

        Raises:
            UsageError: no price is known for the model.
        """
        nothing = {"calls": 1, "input_tokens": 0, "output_tokens": 0}
        if self.cost_limit is not None and price_of(model, nothing) is None:
            raise UsageError(
                f"no price is known for {model}, so --cost-limit cannot be kept: use --token-limit"
            )


def min_token_count(messages: Sequence[BaseMessage]) -> int:
    """Return a lower bound on the tokens of a conversation."""
    characters = sum(len(message_text(message.content)) for message in messages)
    return characters // _CHARACTERS_A_TOKEN


class Budget:
    """Remaining part of the limits during calls; one for all samples of a session.

    Args:
        limits: the limits.
        tokens: tokens that the run used before.
        cost: dollars that the run used before.
    """

    def __init__(self, limits: UsageLimits, *, tokens: int = 0, cost: float = 0.0) -> None:
        self.limits = limits
        self.tokens = tokens
        self.cost = cost
        self._held: dict[int, tuple[int, float]] = {}
        self._next = 0

    async def reserve(
        self,
        model: str,
        messages: Sequence[BaseMessage],
        bound: Mapping[str, Any] | None = None,  # noqa: ARG002  other gates look at it
    ) -> int:
        """Reserve a call's minimum usage until it is settled.

        Returns:
            The reservation, for `settle`.

        Raises:
            LimitReachedError: a limit is reached; the line names the flag.
        """
        return self.hold(model, min_token_count(messages))

    def hold(self, model: str, least: int) -> int:
        """Reserve a call of at least ``least`` input tokens; return the reservation's number."""
        tokens = self.tokens + sum(held for held, _ in self._held.values())
        cost = self.cost + sum(held for _, held in self._held.values())
        most = self.limits
        if most.token_limit is not None and tokens >= most.token_limit:
            raise LimitReachedError(f"--token-limit {most.token_limit} is reached")
        if most.cost_limit is not None and cost >= most.cost_limit:
            raise LimitReachedError(f"--cost-limit ${most.cost_limit:g} is reached")
        price = price_of(model, {"input_tokens": least, "output_tokens": 0}) or 0.0
        self._next += 1
        self._held[self._next] = (least, price)
        return self._next

    def settle(self, reservation: int, model: str, reply: AIMessage | None) -> None:
        """Release a reservation and count the call's real usage; no ``reply``: the call failed."""
        self.release(reservation, model, None if reply is None else reply_usage(reply))

    def release(self, reservation: int, model: str, used: dict[str, Any] | None) -> None:
        """Release a reservation and count the given usage record, as :meth:`settle` does."""
        self._held.pop(reservation, None)
        if used is not None:
            self.count(model, used)

    def count(self, model: str, usage: dict[str, Any]) -> None:
        """Add the usage of a model's calls."""
        self.tokens += usage["input_tokens"] + usage["output_tokens"]
        self.cost += price_of(model, usage) or 0.0
