"""Tool calls as vLLM 0.32 writes them where it holds nothing: read, whole or streamed, and told."""

from __future__ import annotations

import json

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.messages.tool import invalid_tool_call
from langchain_core.tools import tool

import navloom
from navloom.graphs.navcraft import single as navcraft_single
from navloom.models.model_call import acall, call_settings
from navloom.models.model_registry import get_model
from navloom.models.structured_output import bind_schema
from navloom.testing import ModelServer


@tool
def look(where: str) -> str:
    """Look around in a room."""
    return where


def _called(*arguments: str) -> AIMessage:
    said = AIMessage("")
    said.invalid_tool_calls = [
        invalid_tool_call(name="look", args=text, id=f"chatcmpl-tool-{n}", error=None)
        for n, text in enumerate(arguments)
    ]
    return said


# What SmolLM2-135M on vLLM 0.32's CPU build called a tool with that is not strict.
NO_OBJECTS = ('"looke"', '"lara"', '["-unknown-", "TS_S_L,"]')


@pytest.mark.parametrize("provider", ["vllm", "openai"])
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
async def test_arguments_that_are_no_object_are_a_bad_call(provider: str, streamed: bool) -> None:
    told: list[str] = []
    both = ['{"where": "Hall_0"}', *NO_OBJECTS, '{"where": "Ha']
    with (
        ModelServer([_called(*both)]) as server,
        call_settings(on_words=told.append if streamed else None),
    ):
        model = get_model(f"{provider}/m", base_url=server.openai_url, api_key="test")
        reply = await acall(bind_schema(model, tools=[look], constrain=False), [HumanMessage("x")])
        assert len(server.calls) == 1
        assert bool(server.calls[0].body.get("stream")) is streamed
    assert [call["args"] for call in reply.tool_calls] == [json.loads(both[0])]
    assert sorted(call["args"] or "" for call in reply.invalid_tool_calls) == sorted(both[1:])
    assert {call["name"] for call in reply.invalid_tool_calls} == {"look"}
    assert reply.usage_metadata is not None
    assert len({call["id"] for call in (*reply.tool_calls, *reply.invalid_tool_calls)}) == len(both)


def test_a_run_tells_the_model_and_goes_on() -> None:
    with ModelServer([_called('"lara"'), _called('"lara"')] + ["that is all"] * 20) as server:
        model = get_model("vllm/m", base_url=server.openai_url)
        context = navcraft_single.Context(scene="demo:flat", model=model)
        end = navloom.run(navcraft_single.graph, {"seed": 1}, context=context)
        turns = server.calls[1].body["messages"]
    assert end["status"] == "failed"
    assert [turn["role"] for turn in turns[-2:]] == ["assistant", "tool"]
    assert "Call again with a JSON object" in turns[-1]["content"]
