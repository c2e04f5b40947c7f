from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.tools import tool

from navloom.errors import ModelError, ScriptError
from navloom.models.model_call import acall
from navloom.models.scripted import ScriptedChatModel, as_message
from navloom.models.structured_output import bind_schema


@tool
def look(region: str) -> str:
    """Look into a region."""
    return region


def test_replies_come_in_order_in_every_form() -> None:
    def echo(messages: list[BaseMessage]) -> str:
        return f"you said {messages[-1].content}"

    with ScriptedChatModel(
        [
            "text",
            {"name": "look", "args": {"region": "Bedroom_1"}},
            [{"name": "look", "args": {}}, {"name": "look", "args": {}, "id": "mine"}],
            {"phase_1": {"name": "x"}},
            AIMessage("as it is"),
            echo,
        ]
    ) as model:
        said = [model.invoke([HumanMessage(f"m{i}")]) for i in range(6)]
    assert said[0].content == "text"
    assert [c["args"] for c in said[1].tool_calls] == [{"region": "Bedroom_1"}]
    assert [c["id"] for c in said[2].tool_calls] == ["call_1", "mine"]
    assert said[3].content == '{"phase_1": {"name": "x"}}'
    assert said[4].content == "as it is"
    assert said[5].content == "you said m5"
    assert said[0].usage_metadata is not None
    assert said[0].response_metadata["usage_estimated"] is True


def test_an_exception_is_raised_as_it_is() -> None:
    with ScriptedChatModel([ValueError("broken")]) as model, pytest.raises(ValueError, match=r"^b"):
        model.invoke("hi")


async def test_acall_lets_a_scripts_errors_through_and_tries_nothing_again() -> None:
    model = ScriptedChatModel([KeyError("a defect"), "unused"])
    with pytest.raises(KeyError, match="a defect"):
        await acall(model, [HumanMessage("hi")])
    assert len(model.calls) == 1


def test_an_unexpected_call_fails_and_says_which() -> None:
    model = ScriptedChatModel(["one"], name="night")
    model.invoke("hi")
    with pytest.raises(ScriptError, match=r"scripted/night: call 2 was not expected.*'again'"):
        model.invoke("again")


def test_an_unused_reply_fails_on_leaving_but_hides_no_other_error() -> None:
    with (
        pytest.raises(ScriptError, match="1 of 2 replies were not asked for; the next was 'two'"),
        ScriptedChatModel(["one", "two"]) as model,
    ):
        model.invoke("hi")
    with pytest.raises(ZeroDivisionError), ScriptedChatModel(["one"]):
        _ = 1 / 0


async def test_what_was_bound_is_in_the_record() -> None:
    model = ScriptedChatModel(["a"])
    schema = {"title": "job", "type": "object", "properties": {}}
    await acall(bind_schema(model, tools=[look], schema=schema), [HumanMessage("hi")])
    (call,) = model.calls
    assert call.messages == [HumanMessage("hi")]
    assert call.tools[0]["function"]["name"] == "look"
    assert call.response_format == schema


async def test_each_concurrent_call_gets_a_reply_of_its_own() -> None:
    with ScriptedChatModel([str(i) for i in range(200)]) as model:
        said = await asyncio.gather(*(model.ainvoke("x") for _ in range(100)))
        with ThreadPoolExecutor(8) as pool:
            more = list(pool.map(lambda _: model.invoke("x"), range(100)))
    assert sorted(int(str(m.content)) for m in [*said, *more]) == list(range(200))


def test_a_function_in_place_of_the_script_answers_every_call() -> None:
    with ScriptedChatModel(lambda messages: {"n": len(messages)}) as model:
        assert [model.invoke("x").content for _ in range(3)] == ['{"n": 1}'] * 3


def test_the_script_is_not_part_of_what_is_shown_or_dumped() -> None:
    model = ScriptedChatModel(["a secret reply"])
    assert "secret" not in repr(model)
    assert "secret" not in str(model.model_dump())


def test_a_reply_of_no_known_form_is_refused() -> None:
    with pytest.raises(ModelError, match="A reply is a text"):
        as_message([{"no": "call"}])
