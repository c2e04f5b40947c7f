"""A round trip with a server that is really there: tools, schema, streams, usage.

    navloom serve Qwen/Qwen2.5-1.5B-Instruct
    NAVLOOM_TEST_SERVER=http://127.0.0.1:8000/v1 NAVLOOM_TEST_MODEL=Qwen/Qwen2.5-1.5B-Instruct \
        .venv/bin/python -m pytest tests/models/test_served.py
"""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool

from navloom.models.model_call import acall
from navloom.models.model_registry import get_model
from navloom.models.structured_output import bind_schema

SCHEMA: dict[str, Any] = {
    "title": "route",
    "type": "object",
    "properties": {
        "end": {"type": "string", "enum": ["Bedroom_1", "Kitchen_2"]},
        "doors": {"type": "integer"},
    },
    "required": ["end", "doors"],
}
ASK = HumanMessage(
    "How many doors are between Hall_0 and Kitchen_2? Call count_doors once to find out, then give"
    " the final answer with the end Kitchen_2 and that number of doors."
)


@tool
def count_doors(start: str, end: str) -> str:
    """Count the doors on the way from one room to another."""
    return json.dumps({"start": start, "end": end, "doors": 3})


@pytest.fixture
def model() -> BaseChatModel:
    url = os.environ.get("NAVLOOM_TEST_SERVER")
    if not url:
        pytest.skip("NAVLOOM_TEST_SERVER is not set: no model server at hand (needs a GPU)")
    name = os.environ.get("NAVLOOM_TEST_MODEL", "Qwen/Qwen2.5-1.5B-Instruct")
    return get_model(f"vllm/{name}", base_url=url, temperature=0.0, max_tokens=512)


def check_answer(message: AIMessage) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(message.text)
    assert set(answer) == {"end", "doors"}
    assert answer["end"] in SCHEMA["properties"]["end"]["enum"]
    assert isinstance(answer["doors"], int)
    assert message.usage_metadata is not None
    assert message.usage_metadata["input_tokens"] > 10
    assert message.usage_metadata["output_tokens"] > 2
    return answer


async def test_tools_and_schema(model: BaseChatModel) -> None:
    bound = bind_schema(model, tools=[count_doors], schema=SCHEMA)
    messages: list[BaseMessage] = [ASK]
    called = 0
    for _ in range(6):
        reply = await acall(bound, messages)
        if not reply.tool_calls:
            break
        messages.append(reply)
        for call in reply.tool_calls:
            called += 1
            assert set(call["args"]) == {"start", "end"}
            messages.append(ToolMessage(count_doors.invoke(call["args"]), tool_call_id=call["id"]))
    assert called >= 1
    assert check_answer(reply)["doors"] == 3


async def test_a_schema_alone_and_streamed(model: BaseChatModel) -> None:
    ask = [HumanMessage("Choose where to go. The way to Kitchen_2 has 3 doors.")]
    bound = bind_schema(model, schema=SCHEMA)
    check_answer(await acall(bound, ask))
    whole: Any = None
    pieces = 0
    async for piece in bound.astream(ask):
        whole, pieces = (piece if whole is None else whole + piece), pieces + 1
    assert pieces > 3
    check_answer(whole)


async def test_a_tool_alone_and_free(model: BaseChatModel) -> None:
    reply = await acall(bind_schema(model, tools=[count_doors]), [ASK])
    assert [call["name"] for call in reply.tool_calls] == ["count_doors"]
    free = await acall(bind_schema(model, tools=[count_doors], constrain=False), [ASK])
    assert free.tool_calls or free.text
