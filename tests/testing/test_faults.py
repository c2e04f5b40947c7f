"""Each fault does on the wire what it says, and the plan of faults is the same for one seed."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from random import Random
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from navloom.errors import ModelError, UsageError
from navloom.models.call_failure import RetryPolicy
from navloom.models.model_call import acall
from navloom.models.model_registry import get_model
from navloom.testing import (
    BadArguments,
    ContentFiltered,
    Cut,
    Empty,
    Fault,
    ModelServer,
    Outage,
    Silence,
    Stall,
    Status,
    UnknownTool,
    WireCall,
)
from navloom.testing.wire_protocols import OpenAIWire
from tests.testing.catalogue import KINDS, kind_of
from tests.testing.fault_plan import ConversationPlan

SAID = "a reply that is long enough to be sent in some pieces"
CALLED = AIMessage("", tool_calls=[{"name": "look", "args": {"region": "Hall_2"}, "id": "1"}])
HASTY = RetryPolicy(first_wait=0.15, longest_wait=0.3, attempt_timeout=5.0)
ONCE = RetryPolicy(attempts=1, attempt_timeout=0.3)


@pytest.fixture(params=["openai", "anthropic"])
def wire(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def client(wire: str, server: ModelServer, *, streaming: bool = False) -> Any:
    base = server.url if wire == "anthropic" else server.openai_url
    name = {"openai": "gpt-4o", "anthropic": "claude-haiku-4-5"}[wire]
    extra = {"streaming": True} if streaming else None
    return get_model(f"{wire}/{name}", base_url=base, api_key="test", extra=extra)


async def ask(
    wire: str, fault: Fault | None, said: Any = SAID, *, streaming: bool = False
) -> AIMessage:
    """One call that meets the fault at its first attempt, and none at its second."""
    with ModelServer([said] * 2, faults=[fault]) as server:
        model = client(wire, server, streaming=streaming)
        return await acall(model, [HumanMessage("x")], policy=HASTY)


@pytest.mark.parametrize("streaming", [True, False])
@pytest.mark.parametrize("fault", [Cut(), Stall(30)], ids=["cut", "stall"])
async def test_a_reply_that_stops_in_the_middle_is_no_reply(
    wire: str, streaming: bool, fault: Fault
) -> None:
    with ModelServer([SAID] * 2, faults=[fault]) as server:
        model = client(wire, server, streaming=streaming)
        with pytest.raises(ModelError):
            await acall(model, [HumanMessage("x")], policy=ONCE)
        reply = await acall(model, [HumanMessage("x")], policy=HASTY)
    assert reply.content == SAID


async def test_silence_lasts_until_the_client_or_the_server_gives_up(wire: str) -> None:
    began = time.monotonic()
    with (
        ModelServer([SAID], faults=[Silence(60)]) as server,
        pytest.raises(ModelError, match="no answer within"),
    ):
        await acall(client(wire, server), [HumanMessage("x")], policy=ONCE)
    assert time.monotonic() - began < 5


async def test_an_outage_refuses_connections_and_ends(wire: str) -> None:
    with ModelServer(lambda _: SAID, faults=[Outage(0.4)]) as server:
        host, port = "127.0.0.1", int(server.url.rpartition(":")[2])
        call = asyncio.create_task(
            acall(client(wire, server), [HumanMessage("x")], policy=RetryPolicy(first_wait=1.0))
        )
        while not server.calls:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.2)
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection(host, port)
        assert (await call).content == SAID
        assert len(server.calls) == 2


async def test_outages_do_not_add_up() -> None:
    with ModelServer(lambda _: SAID, faults=[Outage(0.1), Outage(30.0)]) as server:
        model = client("openai", server)
        reply = await asyncio.wait_for(acall(model, [HumanMessage("x")], policy=HASTY), 10)
    assert reply.content == SAID


async def test_no_choices_is_no_reply_and_no_content_is_one() -> None:
    assert (await ask("openai", Empty())).content == SAID
    assert (await ask("anthropic", Empty())).content in ("", [])


async def test_a_filtered_reply_says_why(wire: str) -> None:
    reply = await ask(wire, ContentFiltered())
    told = reply.response_metadata
    assert not reply.content
    assert (told.get("finish_reason") or told.get("stop_reason")) == {
        "openai": "content_filter",
        "anthropic": "refusal",
    }[wire]


async def test_a_tool_that_is_not_there(wire: str) -> None:
    reply = await ask(wire, UnknownTool("teleport"), CALLED)
    assert [call["name"] for call in reply.tool_calls] == ["teleport"]


async def test_arguments_that_mean_nothing(wire: str) -> None:
    wrong = await ask(wire, BadArguments("wrong"), CALLED)
    assert wrong.tool_calls[0]["args"] == {"regoin": [None, -1]}
    huge = await ask(wire, BadArguments("huge"), CALLED)
    assert huge.tool_calls[0]["args"]["characters_cut"] > 300_000
    spoiled = await ask(wire, BadArguments("broken"), SAID)
    assert spoiled.content == SAID[: len(SAID) // 2]


async def test_broken_arguments_go_back_as_an_empty_object() -> None:
    first = await ask("openai", BadArguments("broken"), CALLED)
    assert not first.tool_calls
    assert first.invalid_tool_calls[0]["args"] == '{"region": '
    with ModelServer(["well"]) as server:
        model = client("openai", server)
        await acall(model, [HumanMessage("x"), first, HumanMessage("again")])
        asked = server.calls[0].wire.asked(server.calls[0].body)
    assert isinstance(asked.messages[1], AIMessage)
    # Our side sends no broken JSON back: some servers refuse every later turn over it.
    assert asked.messages[1].tool_calls[0]["args"] == {}


def _body(seed: int, turn: int) -> dict[str, Any]:
    told = [{"role": "assistant", "content": "?"}, {"role": "user", "content": "go on"}] * turn
    opening = {"role": "user", "content": f"Scene.\nRandom seed: {seed}"}
    return {"messages": [{"role": "system", "content": "s"}, opening, *told]}


def _drawn(plan: ConversationPlan, seeds: list[int]) -> dict[tuple[int, int, int], bool]:
    return {
        (seed, turn, again): plan.meet(WireCall(0, OpenAIWire(), _body(seed, turn), {}, ""))
        is not None
        for seed in seeds
        for turn in range(3)
        for again in range(4)
    }


def test_a_plan_gives_the_same_conversations_their_faults_in_any_order() -> None:
    def plan(seed: int = 3) -> ConversationPlan:
        make = kind_of("429").make
        return ConversationPlan(make, share=0.5, for_good=0.3, times=2, seed=seed)

    seeds = list(range(200))
    met = _drawn(plan(), seeds)
    assert met == _drawn(plan(), seeds[::-1])
    assert met != _drawn(plan(4), seeds)
    often = Counter(seed for (seed, _, _), hit in met.items() if hit)
    assert 70 < len(often) < 130
    # Twice at one turn, or every time from the first turn or the second one on.
    assert set(often.values()) == {2, 8, 12}


def test_the_sixteen_are_there_by_number_and_by_name() -> None:
    assert [kind.number for kind in KINDS] == list(range(1, 17))
    assert len({kind.name for kind in KINDS}) == 16
    assert kind_of("3") is kind_of("429-burst") is KINDS[2]
    for kind in KINDS:
        assert isinstance(kind.make(Random(0), "openai"), Fault)
    with pytest.raises(UsageError, match="Did you mean 'stall'"):
        kind_of("stal")
    statuses = {kind_of("5").make(Random(i), "openai").status for i in range(9)}  # type: ignore[attr-defined]
    assert statuses == {502, 503}
    assert isinstance(kind_of("1").make(Random(0), "openai"), Status)


def test_the_right_place_of_a_fault_that_stays() -> None:
    places = {kind.number: kind.for_good("openai") for kind in KINDS}
    assert [number for number, place in places.items() if place == "failed"] == [14, 15, 16]
    assert kind_of("empty").for_good("anthropic") == "failed"
