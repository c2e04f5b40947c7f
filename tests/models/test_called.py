"""What a listener is told of calls: each kind of ending, and which node asked."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.tools import tool

from navloom.errors import LimitReachedError, ModelError
from navloom.graphs.navcraft import collab
from navloom.graphs.navigation import navigator
from navloom.models.call_failure import RetryPolicy
from navloom.models.messages import CallRecord
from navloom.models.model_call import acall, call_settings
from navloom.models.model_registry import get_model
from navloom.models.response_cache import ResponseCache
from navloom.models.scripted import ScriptedChatModel
from navloom.models.structured_output import bind_schema
from navloom.models.usage import Budget, UsageLimits
from navloom.testing import Delay, ModelServer, Status

ASK = [SystemMessage("s"), HumanMessage("x")]
SCHEMA = {"title": "thing", "type": "object", "properties": {"a": {"type": "integer"}}}
QUICK = RetryPolicy(first_wait=0.01)
KEY = "canary-key-0123456789"


@tool
def look(where: str) -> str:
    """Look."""
    return where


def client(server: ModelServer, spec: str = "openai/gpt-4o-mini") -> Any:
    url = server.url if spec.startswith("anthropic") else server.openai_url
    return get_model(spec, base_url=url, api_key=KEY)


async def test_a_call_that_went_well_and_one_from_the_cache(tmp_path: Path) -> None:
    told: list[CallRecord] = []
    before = time.time()
    with (
        ModelServer(lambda _: "hello", faults=[Status(429, retry_after=0.01)]) as server,
        call_settings(cache=ResponseCache(tmp_path), on_call=told.append),
    ):
        bound = bind_schema(client(server), tools=[look], schema=SCHEMA)
        replies = [await acall(bound, ASK, role="judge") for _ in range(2)]
    assert [each.reply for each in told] == replies
    first, second = told
    assert (first.model, first.role, first.retries) == ("openai/gpt-4o-mini", "judge", 1)
    assert (first.cached, second.cached, second.retries) == (False, True, 0)
    assert before <= first.began <= second.began <= time.time()
    assert first.seconds > second.seconds >= 0
    assert list(first.messages) == ASK
    assert first.error is None
    assert (first.node, first.step) == ("", None)


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["openai/gpt-4o-mini", "anthropic/claude-haiku-4-5", "vllm/q/m"])
async def test_tools_and_schema_are_those_that_were_sent(spec: str) -> None:
    told: list[CallRecord] = []
    with ModelServer(lambda _: '{"a": 1}') as server, call_settings(on_call=told.append):
        await acall(bind_schema(client(server, spec), schema=SCHEMA), ASK)
        await acall(bind_schema(client(server, spec), tools=[look]), ASK)
        await acall(client(server, spec), ASK)
        bodies = [call.body for call in server.calls]
    assert [bool(each.schema) for each in told] == [True, False, False]
    assert told[0].schema in (
        bodies[0].get("response_format"),
        bodies[0].get("output_config", {}).get("format"),
    )
    assert [each.tools for each in told] == [None, bodies[1]["tools"], None]


async def test_a_call_that_fails_is_told_without_the_key() -> None:
    told: list[CallRecord] = []
    faults: list[Any] = [Status(503, text=KEY), Status(503, text=KEY)]
    with (
        ModelServer(lambda _: "ok", faults=faults) as server,
        call_settings(on_call=told.append),
        pytest.raises(ModelError) as raised,
    ):
        await acall(client(server), ASK, policy=QUICK)
    (call,) = told
    assert call.error is raised.value
    assert call.reply is None
    assert call.retries == 1
    assert KEY not in str(call.error)


async def test_a_call_that_is_cut_is_told() -> None:
    told: list[CallRecord] = []
    with (
        ModelServer(lambda _: "ok", faults=[Delay(5.0)]) as server,
        call_settings(on_call=told.append),
    ):
        task = asyncio.create_task(acall(client(server), ASK))
        while not server.calls:
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert [type(call.error) for call in told] == [asyncio.CancelledError]


async def test_a_call_that_no_limit_lets_through_is_none() -> None:
    told: list[CallRecord] = []
    gate = Budget(UsageLimits(token_limit=1), tokens=1)
    with call_settings(on_call=told.append, gate=gate), pytest.raises(LimitReachedError):
        await acall(ScriptedChatModel(["x"]), ASK)
    assert told == []


async def test_a_listener_that_breaks_breaks_no_call() -> None:
    def broken(_: CallRecord) -> None:
        raise RuntimeError("deaf")

    with call_settings(on_call=broken):
        assert (await acall(ScriptedChatModel(["x"]), ASK)).content == "x"
        with pytest.raises(ValueError, match="of its own"):
            await acall(ScriptedChatModel([ValueError("of its own")]), ASK)


async def test_a_navigators_node_and_step_are_told() -> None:
    told: list[CallRecord] = []
    context = navigator.Context(scene="demo:flat", model="builtin/heuristic", max_steps=6)
    given: Any = {"seed": 3, "instruction": "Go to the kitchen.", "start": "1_0"}
    graph = navigator.build_graph()
    with call_settings(on_call=told.append):
        steps = [
            (each["step"], each["payload"]["name"])
            async for each in graph.astream(given, context=context, stream_mode="debug")
            if each["type"] == "task"
        ]
    assert len(told) > 1
    assert [(each.step, each.node) for each in told] == [each for each in steps if "think" in each]


async def test_a_node_of_a_graph_within_a_graph_is_told_with_the_one_around_it() -> None:
    told: list[CallRecord] = []
    context = collab.Context(scene="demo:villa", model="builtin/heuristic")
    with call_settings(on_call=told.append):
        await collab.graph.ainvoke({"seed": 1}, context=context)
    nodes = [each.node for each in told]
    assert {"errand/propose", "propose"} == set(nodes)
    assert nodes == sorted(nodes), "the errand comes first"
    within = [each.step for each in told if each.node == "errand/propose"]
    assert within == [1 + 2 * n for n in range(len(within))], "it asks, consults, and asks again"
