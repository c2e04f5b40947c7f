"""What calls cost, by model and role; and what a budget lets through."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage

from navloom.errors import LimitReachedError, UsageError
from navloom.models.usage import (
    Budget,
    ModelUsage,
    UsageLimits,
    merge_usage,
    min_token_count,
    price_of,
    reply_usage,
    stamp_reply,
    sum_usage,
    total_cost,
)


def reply(tokens: tuple[int, int] = (1000, 100), **stamp: object) -> AIMessage:
    usage = {"input_tokens": tokens[0], "output_tokens": tokens[1], "total_tokens": sum(tokens)}
    given = {"model": "openai/gpt-4o-mini", "role": "generator", "seconds": 1.5, "retries": 0}
    made = AIMessage("x", id="m1", usage_metadata=usage)
    return stamp_reply(made, **{**given, "cached": False, **stamp})  # type: ignore[arg-type]


def parts_of(*replies: AIMessage) -> list[ModelUsage]:
    return merge_usage([ModelUsage.read(reply_usage(each)) for each in replies])


def test_calls_are_counted_by_model_and_role_and_cached_ones_apart() -> None:
    parts = parts_of(
        reply(),
        reply(retries=2),
        reply(cached=True),
        reply(role="judge"),
        reply(model="builtin/heuristic"),
    )
    heuristic, generator, judge = parts
    assert heuristic.cost_usd == 0
    assert (generator.calls, generator.cached_calls, generator.retries) == (2, 1, 2)
    assert (generator.input_tokens, generator.output_tokens) == (2000, 200)
    # $0.15 and $0.60 a million tokens: https://openai.com/api/pricing, gpt-4o-mini.
    assert generator.cost_usd == pytest.approx(2 * (1000 * 0.15e-6 + 100 * 0.6e-6))
    assert judge.role == "judge"
    assert sum_usage(parts) == {
        "calls": 4,
        "input_tokens": 4000,
        "output_tokens": 400,
        "cached_calls": 1,
        "retries": 2,
    }


def test_a_price_nobody_knows_is_none_and_a_cached_reply_is_free_all_the_same() -> None:
    (known,) = parts_of(reply(model="vllm/q/m", cached=True))
    assert known.cost_usd == 0
    parts = parts_of(reply(model="vllm/q/m"), reply())
    assert total_cost(parts) is None
    assert total_cost([]) == 0


def test_a_cached_reply_bears_no_id_of_another() -> None:
    assert reply().id == "m1"
    assert reply(cached=True).id is None


@given(st.lists(st.sampled_from(["a/x", "b/y"]), max_size=12))
def test_merging_loses_nothing_and_reads_back(names: list[str]) -> None:
    parts = [ModelUsage(name, "judge", calls=1, retries=i) for i, name in enumerate(names)]
    whole = merge_usage(parts)
    assert sum(part.calls for part in whole) == len(names)
    assert len(whole) == len(set(names))
    assert [ModelUsage.read(part.record()) for part in whole] == whole


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf")])
def test_a_limit_is_a_positive_number(value: float) -> None:
    with pytest.raises(UsageError, match=r"--cost-limit is .*above 0"):
        UsageLimits(cost_limit=value)


def test_a_cost_limit_needs_a_price() -> None:
    UsageLimits(cost_limit=1).check_price("openai/gpt-4o-mini")
    UsageLimits(cost_limit=1).check_price("builtin/heuristic")
    UsageLimits(token_limit=1).check_price("vllm/q/m")
    with pytest.raises(UsageError, match="no price is known for vllm/q/m"):
        UsageLimits(cost_limit=1).check_price("vllm/q/m")


@given(
    limit=st.integers(1, 5000),
    flight=st.integers(1, 6),
    sizes=st.lists(st.tuples(st.integers(0, 900), st.integers(0, 300)), min_size=1, max_size=40),
)
def test_a_limit_is_overshot_by_one_call_in_flight_at_most(
    limit: int, flight: int, sizes: list[tuple[int, int]]
) -> None:
    budget = Budget(UsageLimits(token_limit=limit))
    held: list[tuple[int, AIMessage]] = []
    for size in sizes:
        if len(held) == flight:
            reservation, said = held.pop(0)
            budget.settle(reservation, "openai/gpt-4o-mini", said)
        prompt = [HumanMessage("x" * (6 * size[0]))]
        try:
            reservation = budget.hold("openai/gpt-4o-mini", min_token_count(prompt))
        except LimitReachedError:
            break
        held.append((reservation, reply(size)))
    for reservation, said in held:
        budget.settle(reservation, "openai/gpt-4o-mini", said)
    largest = sorted((sum(size) for size in sizes), reverse=True)[:flight]
    assert budget.tokens < limit + sum(largest) + 1


async def test_calls_under_way_count_before_they_end() -> None:
    budget = Budget(UsageLimits(token_limit=100))
    first = await budget.reserve("openai/gpt-4o-mini", [HumanMessage("x" * 600)])
    with pytest.raises(LimitReachedError, match="--token-limit 100 is reached"):
        await budget.reserve("openai/gpt-4o-mini", [HumanMessage("x")])
    budget.settle(first, "openai/gpt-4o-mini", None)
    await budget.reserve("openai/gpt-4o-mini", [HumanMessage("x")])
    spent = Budget(UsageLimits(cost_limit=0.5), cost=0.6)
    with pytest.raises(LimitReachedError, match=r"--cost-limit \$0.5 is reached"):
        await spent.reserve("openai/gpt-4o-mini", [])


def test_what_several_calls_came_to_is_added_up() -> None:
    first = ModelUsage("m", "r", 1, 2, 3, 4, 5, 0.50004, 0.25)
    first.add(ModelUsage("m", "r", 10, 20, 30, 40, 50, 1.25, 0.5))
    assert first == ModelUsage("m", "r", 11, 22, 33, 44, 55, 1.75, 0.75)
    for known, other in ((None, 0.5), (0.5, None), (None, None)):
        part = ModelUsage("m", "r", cost_usd=known)
        part.add(ModelUsage("m", "r", cost_usd=other))
        assert part.cost_usd is None
    assert ModelUsage("m", "r") == ModelUsage("m", "r", 0, 0, 0, 0, 0, 0.0, 0.0)


def test_what_a_line_does_not_say_counts_as_nothing() -> None:
    assert ModelUsage.read({"model": "m", "role": "r"}) == ModelUsage("m", "r")
    told = {"model": "m", "role": "r", "calls": None, "seconds": None, "cost_usd": None}
    assert ModelUsage.read(told) == ModelUsage("m", "r", cost_usd=None)
    whole = ModelUsage("m", "r", 1, 2, 3, 4, 5, 6.5, 7.5)
    assert ModelUsage.read(whole.record()) == whole


def test_usage_has_retries_and_cached_calls_where_there_are_any() -> None:
    assert sum_usage([]) == {"calls": 0, "input_tokens": 0, "output_tokens": 0}
    parts = [ModelUsage("m", "r", 1, 0, 2, 3, 4), ModelUsage("n", "r", 1, 0, 1, 5, 6)]
    assert sum_usage(parts) == {"calls": 2, "input_tokens": 8, "output_tokens": 10, "retries": 3}
    assert total_cost(parts) == 0
    assert total_cost([*parts, ModelUsage("m", "r", cost_usd=0.5)]) == 0.5
    assert total_cost([*parts, ModelUsage("m", "r", cost_usd=None)]) is None
    assert total_cost([]) == 0


def answered(cached: bool = False, retries: int = 0, **counted: int) -> AIMessage:
    usage: Any = {"total_tokens": 0, "input_tokens": 0, "output_tokens": 0, **counted}
    made = AIMessage("x", usage_metadata=usage if counted else None)
    return stamp_reply(
        made, model="openai/gpt-4o-mini", role="judge", seconds=0.123456, retries=retries,
        cached=cached,
    )  # fmt: skip


def test_what_one_reply_came_to() -> None:
    paid = ModelUsage.read(reply_usage(answered(retries=2, input_tokens=7, output_tokens=3)))
    assert (paid.calls, paid.cached_calls, paid.retries) == (1, 0, 2)
    assert (paid.input_tokens, paid.output_tokens, paid.seconds) == (7, 3, 0.1235)
    assert paid.cost_usd is not None
    assert paid.cost_usd > 0
    kept = ModelUsage.read(reply_usage(answered(cached=True, retries=2, input_tokens=7)))
    assert (kept.calls, kept.cached_calls, kept.retries, kept.input_tokens) == (0, 1, 0, 0)
    assert (kept.role, kept.seconds, kept.cost_usd) == ("judge", 0.1235, 0)
    bare = ModelUsage.read(reply_usage(answered()))
    assert (bare.calls, bare.input_tokens, bare.output_tokens) == (1, 0, 0)
    unknown = ModelUsage.read(reply_usage(AIMessage("x")))
    assert (unknown.model, unknown.calls, unknown.cost_usd) == ("unknown", 1, None)


def test_no_call_costs_nothing() -> None:
    nothing = {"calls": 0, "input_tokens": 5, "output_tokens": 5}
    assert price_of("strange/m", nothing) == 0
    assert price_of("strange/m", {**nothing, "calls": 1}) is None
    assert price_of("builtin/heuristic", {**nothing, "calls": 1}) == 0


@pytest.mark.parametrize("flag", ["token_limit", "cost_limit", "time_limit"])
def test_what_is_held_counts_towards_a_limit_until_it_is_let_go(flag: str) -> None:
    model = "openai/gpt-4o-mini"
    share = price_of(model, {"calls": 1, "input_tokens": 10, "output_tokens": 0})
    assert share is not None
    most: Any = {"token_limit": 20, "cost_limit": 2 * share, "time_limit": 1.0}[flag]
    budget = Budget(UsageLimits(**{flag: most}))
    first, second = budget.hold(model, 10), budget.hold(model, 10)
    assert first != second
    if flag == "time_limit":
        budget.hold(model, 10)
        return
    with pytest.raises(LimitReachedError, match=flag.replace("_", "-")):
        budget.hold(model, 1)
    budget.release(first, model, None)
    third = budget.hold(model, 10)
    budget.release(second, model, {"calls": 1, "input_tokens": 6, "output_tokens": 4})
    budget.release(third, model, {"calls": 1, "input_tokens": 9, "output_tokens": 0})
    assert budget.tokens == 19
    assert budget.cost == pytest.approx(
        sum(
            price_of(model, {"input_tokens": i, "output_tokens": o}) or 0
            for i, o in ((6, 4), (9, 0))
        )
    )
    budget.release(99, model, None)


def test_what_a_run_used_before_counts() -> None:
    with pytest.raises(LimitReachedError, match="--token-limit 5 is reached"):
        Budget(UsageLimits(token_limit=5), tokens=5).hold("m/m", 0)
    Budget(UsageLimits(token_limit=6), tokens=5).hold("m/m", 0)
    with pytest.raises(LimitReachedError, match=r"--cost-limit \$0.5 is reached"):
        Budget(UsageLimits(cost_limit=0.5), cost=0.5).hold("m/m", 0)
    assert Budget(UsageLimits()).hold("m/m", 10**9) == 1
