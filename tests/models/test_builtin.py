from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool

from navloom import plugins
from navloom.errors import ModelError
from navloom.models.builtin import GROUP, BuiltinChatModel, PolicyRequest, estimate_tokens
from navloom.models.model_call import acall, model_name
from navloom.models.model_registry import get_model
from navloom.models.scripted import ScriptedChatModel
from navloom.models.structured_output import bind_schema

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda parts: st.lists(parts) | st.dictionaries(st.text(), parts),
    max_leaves=10,
)
SCHEMA = {"title": "job", "type": "object", "properties": {"a": {"type": "integer"}}}


@tool
def look(region: str) -> str:
    """Look into a region."""
    return region


def _request(*texts: str) -> PolicyRequest:
    return PolicyRequest([SystemMessage("Scene"), *map(HumanMessage, texts)])


@given(JSON, st.sampled_from(["{}", "\n{}", "\n\n```json\n{}\n```", " {} and words", "\n```\n{}"]))
def test_the_json_after_a_heading_is_found_however_it_is_set(value: Any, around: str) -> None:
    text = f"Before: {{}}\nScene graph:{around.replace('{}', json.dumps(value))}\nAfter: [1]"
    if value is None or isinstance(value, bool | int):
        text = text.replace("\nAfter: [1]", " After")
    assert _request("no heading", text).json_block("Scene graph:") == value


@pytest.mark.parametrize(
    "text", ["nothing", "Scene graph: then {}", "Scene graph:", "Scene graph: " + "[" * 100_000]
)
def test_a_heading_without_json_is_one_line(text: str) -> None:
    with pytest.raises(ModelError, match="Scene graph:") as caught:
        _request(text).json_block("Scene graph:")
    assert "\n" not in str(caught.value)


def test_tool_results_are_paired_with_their_calls_in_order() -> None:
    request = PolicyRequest(
        [
            HumanMessage("go"),
            AIMessage(
                "",
                tool_calls=[
                    {"name": "look", "args": {"region": "A"}, "id": "1"},
                    {"name": "walk", "args": {}, "id": "2"},
                ],
            ),
            ToolMessage("not json", tool_call_id="2"),
            ToolMessage('{"valid": true}', tool_call_id="1"),
            ToolMessage("{}", tool_call_id="unknown"),
        ]
    )
    assert [(r.name, r.args, r.result) for r in request.tool_results()] == [
        ("walk", {}, "not json"),
        ("look", {"region": "A"}, {"valid": True}),
    ]
    assert [r.result for r in request.tool_results("look")] == [{"valid": True}]
    assert request.call("look", region="B").tool_calls[0]["id"] == "call_3"


def test_an_answer_is_rejected_when_a_human_speaks_after_it() -> None:
    asked = [HumanMessage("go")]
    assert not PolicyRequest(asked).rejected
    assert PolicyRequest([*asked, AIMessage("{}"), HumanMessage("no: try again")]).rejected
    called = AIMessage("", tool_calls=[{"name": "look", "args": {}, "id": "1"}])
    assert not PolicyRequest([*asked, called, ToolMessage("{}", tool_call_id="1")]).rejected


async def test_a_policy_is_chosen_by_the_job_that_is_bound_and_sees_seed_and_tools() -> None:
    seen: list[PolicyRequest] = []

    def policy(request: PolicyRequest) -> AIMessage:
        seen.append(request)
        done = request.tool_results()
        return request.answer({"a": request.seed}) if done else request.call("look", region="A")

    model = BuiltinChatModel(model_name="mine", policies={"job": policy})
    messages: list[Any] = [HumanMessage("Random seed: 1\nJob: other")]
    for constrain in (True, False):
        bound = bind_schema(
            model, tools=[look], schema=SCHEMA, constrain=constrain, job="job", seed=7
        )
        reply = await acall(bound, messages)
        assert reply.tool_calls[0]["name"] == "look"
    assert (seen[0].job, seen[0].seed) == ("job", 7)
    assert seen[0].schema == SCHEMA
    assert seen[0].tools["look"]["properties"] == {"region": {"type": "string"}}
    messages += [reply, ToolMessage("{}", tool_call_id=reply.tool_calls[0]["id"])]
    assert (await acall(bound, messages)).content == '{"a": 7}'


async def test_an_unknown_job_is_one_line_with_the_jobs_there_are() -> None:
    model = get_model("builtin/heuristic")
    for job, said in (("phase_3", "Did you mean 'phase_"), (None, "phase_1, phase_2")):
        with pytest.raises(ModelError, match=said) as caught:
            await acall(
                bind_schema(model, schema=SCHEMA, job=job), [HumanMessage("Job: navigator")]
            )
        assert str(caught.value).startswith("builtin/heuristic knows no job")
        assert "room_type" in str(caught.value)


async def test_token_counts_are_estimates_and_say_so() -> None:
    model = BuiltinChatModel(model_name="mine", policies={"job": lambda r: r.answer({"a": 1})})
    reply = await acall(bind_schema(model, schema=SCHEMA, job="job"), [HumanMessage("x" * 400)])
    assert reply.usage_metadata == {"input_tokens": 100, "output_tokens": 2, "total_tokens": 102}
    assert reply.response_metadata["usage_estimated"] is True
    call = AIMessage("", tool_calls=[{"name": "look", "args": {"r": "A"}, "id": "1"}])
    assert estimate_tokens([call]) == 4  # look + {"r": "A"} is 14 characters


async def test_a_job_is_told_to_no_other_model() -> None:
    with ScriptedChatModel(["yes"]) as model:
        await acall(bind_schema(model, schema=SCHEMA, job="job", seed=7), [HumanMessage("hi")])
    assert (model.calls[0].response_format, model.calls[0].kwargs) == (SCHEMA, {})


async def test_a_package_adds_a_policy_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lent.py").write_text("def policy(request):\n    return request.answer({'a': 5})\n")
    info = tmp_path / "lent-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lent\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\nheuristic.lent_job = lent:policy\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    plugins.find_plugins.cache_clear()
    model = get_model("builtin/heuristic")
    reply = await acall(bind_schema(model, job="lent_job"), [HumanMessage("hi")])
    assert reply.content == '{"a": 5}'
    with pytest.raises(ModelError, match="knows no job"):
        await acall(bind_schema(get_model("builtin/random"), job="lent_job"), [HumanMessage("hi")])


@pytest.mark.parametrize("name", ["heuristic", "random"])
def test_both_baselines_are_there_and_named_as_builtin(name: str) -> None:
    model = get_model(f"builtin/{name}")
    assert model_name(model) == f"builtin/{name}"
    assert model._llm_type == f"builtin-{name}"
