from __future__ import annotations

import asyncio
import http.client
import json
import socket
import time
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool

from navloom.models.builtin import BuiltinChatModel, PolicyRequest
from navloom.models.model_call import acall
from navloom.models.model_registry import get_model
from navloom.models.structured_output import bind_schema
from navloom.testing import Delay, Garble, ModelServer, Status, WireCall, reply_with, seeded_plan
from navloom.testing.faults import make_plan

SCHEMA: dict[str, Any] = {
    "title": "job",
    "type": "object",
    "properties": {"rooms": {"type": "array", "items": {"type": "string"}}},
    "required": ["rooms"],
}


@tool
def look(region: str) -> str:
    """Look into a region."""
    return region


def _post(server: ModelServer, path: str, body: Any, **headers: str) -> tuple[int, Any]:
    host = server.url.removeprefix("http://")
    connection = http.client.HTTPConnection(host, timeout=5)
    try:
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection.request("POST", path, sent, headers)
        reply = connection.getresponse()
        return reply.status, json.loads(reply.read())
    finally:
        connection.close()


def _chat(text: str = "x") -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": text}]}


def test_it_listens_on_the_loopback_alone_and_stops() -> None:
    with ModelServer(["a"]) as server:
        assert server.url.startswith("http://127.0.0.1:")
        port = int(server.url.rpartition(":")[2])
        assert _post(server, "/v1/chat/completions", _chat())[0] == 200
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0
    with pytest.raises(RuntimeError, match="not been started"):
        _ = ModelServer([]).url


def test_stopping_does_not_wait_for_connections_that_are_kept_alive() -> None:
    server = ModelServer(["a"]).start()
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=5)
    connection.request("POST", "/v1/chat/completions", json.dumps(_chat()))
    connection.getresponse().read()
    begun = time.monotonic()
    server.stop()
    assert time.monotonic() - begun < 1
    connection.close()


def test_an_openai_reply_has_the_published_form() -> None:
    said = AIMessage("hm", tool_calls=[{"name": "look", "args": {"region": "é"}, "id": "1"}])
    with ModelServer([said, "text"]) as server:
        _, called = _post(server, "/v1/chat/completions", _chat())
        _, text = _post(server, "/chat/completions", _chat())
    choice = called["choices"][0]
    assert (called["object"], choice["finish_reason"]) == ("chat.completion", "tool_calls")
    function = choice["message"]["tool_calls"][0]["function"]
    assert (function["name"], json.loads(function["arguments"])) == ("look", {"region": "é"})
    assert text["choices"][0]["finish_reason"] == "stop"
    assert text["choices"][0]["message"] == {"role": "assistant", "content": "text"}
    usage = text["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"] > 0


def test_an_anthropic_reply_has_the_published_form() -> None:
    said = AIMessage("hm", tool_calls=[{"name": "look", "args": {"region": "A"}, "id": "1"}])
    with ModelServer([said]) as server:
        _, reply = _post(server, "/v1/messages", {**_chat(), "max_tokens": 9})
    assert (reply["type"], reply["role"]) == ("message", "assistant")
    assert reply["stop_reason"] == "tool_use"
    assert [block["type"] for block in reply["content"]] == ["text", "tool_use"]
    assert reply["content"][1]["input"] == {"region": "A"}
    assert set(reply["usage"]) == {"input_tokens", "output_tokens"}


def test_requests_are_remembered_with_their_headers() -> None:
    with ModelServer(["a", "b"]) as server:
        _post(server, "/v1/chat/completions?x=1", _chat("first"), **{"X-Mine": "1"})
        _post(server, "/v1/messages", _chat("second"))
        first, second = server.calls
    assert (first.number, first.wire.name, first.path) == (0, "openai", "/v1/chat/completions")
    assert first.headers["x-mine"] == "1"
    assert (second.number, second.wire.name) == (1, "anthropic")
    assert second.body["messages"][0]["content"] == "second"


def test_a_wrong_key_a_wrong_path_and_no_json_are_refused() -> None:
    with ModelServer(["a", "b"], key="k") as server:
        assert _post(server, "/v1/chat/completions", _chat())[0] == 401
        bearer = {"Authorization": "Bearer k"}
        assert _post(server, "/v1/chat/completions", _chat(), **bearer)[0] == 200
        assert _post(server, "/v1/messages", _chat(), **{"X-Api-Key": "k"})[0] == 200
        assert _post(server, "/v1/elsewhere", _chat(), **bearer)[0] == 404
        assert _post(server, "/v1/chat/completions", b"{", **bearer)[0] == 400
        assert _post(server, "/v1/chat/completions", b"[]", **bearer)[0] == 400


def test_a_call_beyond_the_script_is_an_error_that_the_test_can_see() -> None:
    with ModelServer(["a"]) as server:
        _post(server, "/v1/chat/completions", _chat())
        status, body = _post(server, "/v1/chat/completions", _chat())
    assert status == 500
    assert "no reply is left" in body["error"]["message"]
    assert server.errors == ["ScriptError: call 1 was not expected: no reply is left"]


def test_a_fault_takes_no_reply_from_the_script() -> None:
    with ModelServer(["a", "b"], faults=[Status(418, text="tea"), None, Delay(0.01)]) as server:
        said = [_post(server, "/v1/chat/completions", _chat()) for _ in range(3)]
    assert [status for status, _ in said] == [418, 200, 200]
    assert said[0][1]["error"]["message"] == "tea"
    assert [body["choices"][0]["message"]["content"] for _, body in said[1:]] == ["a", "b"]


def test_each_protocol_gets_errors_in_its_own_form() -> None:
    with ModelServer([], faults=[Status(529, retry_after=3)] * 2) as server:
        _, anthropic = _post(server, "/v1/messages", _chat())
        _, openai = _post(server, "/v1/chat/completions", _chat())
    assert anthropic["type"] == "error"
    assert anthropic["error"]["message"] == openai["error"]["message"] == "planned fault"


def test_a_seeded_plan_repeats_and_keeps_its_share() -> None:
    faults = [Status(500), Garble()]
    plan, same = (seeded_plan(faults, share=0.3, seed=4) for _ in range(2))
    drawn = [plan(i) for i in range(1000)]
    assert drawn == [same(i) for i in range(1000)]
    assert 230 < sum(fault is not None for fault in drawn) < 370
    assert {type(fault) for fault in drawn if fault} == {Status, Garble}
    assert all(seeded_plan(faults, share=0)(i) is None for i in range(50))
    assert make_plan(plan) is plan


def _policy(request: PolicyRequest) -> AIMessage:
    """Look into the room that the prompt names; answer with what was seen."""
    looked = request.tool_results("look")
    if not looked:
        call = request.call("look", region=f"Room_{request.seed}")
        return call.model_copy(update={"content": "I shall look."})
    return request.answer({"rooms": [r.result["seen"] for r in looked]})


@pytest.mark.parametrize("spec", ["openai/m", "anthropic/claude-haiku-4-5", "vllm/m"])
@pytest.mark.parametrize("constrain", [True, False])
async def test_a_brain_answers_over_the_wire_as_it_would_in_process(
    spec: str, constrain: bool
) -> None:
    model = BuiltinChatModel(model_name="test", policies={"job": _policy})

    async def converse(asked: Any) -> list[AIMessage]:
        bound = bind_schema(
            asked, tools=[look], schema=SCHEMA, constrain=constrain, job="job", seed=7
        )
        messages: list[Any] = [HumanMessage("Random seed: 7")]
        called = await acall(bound, messages)
        call = called.tool_calls[0]
        result = json.dumps({"seen": call["args"]["region"]})
        messages += [called, ToolMessage(result, tool_call_id=call["id"])]
        return [called, await acall(bound, messages)]

    # An unconstrained request carries no schema, and so no title to know the job by.
    with ModelServer(reply_with(model, job=None if constrain else "job")) as server:
        url = server.url if spec.startswith("anthropic") else server.openai_url
        over_wire = await converse(get_model(spec, base_url=url, api_key="test"))
    in_process = await converse(model)
    assert server.errors == []
    assert json.loads(str(in_process[1].content)) == {"rooms": ["Room_7"]}
    assert over_wire[1].content == in_process[1].content
    assert over_wire[0].text == in_process[0].text == "I shall look."
    for here, there in zip(in_process, over_wire, strict=True):
        assert [(c["name"], c["args"]) for c in here.tool_calls] == [
            (c["name"], c["args"]) for c in there.tool_calls
        ]


async def test_a_brain_that_fails_is_an_error_of_the_server_with_its_line() -> None:
    model = BuiltinChatModel(model_name="test", policies={})
    with ModelServer(reply_with(model)) as server:
        status, body = await asyncio.to_thread(_post, server, "/v1/chat/completions", _chat())
    assert status == 500
    assert "knows no job" in body["error"]["message"]
    assert len(server.errors) == 1


async def test_many_calls_at_once_are_each_answered_with_their_own() -> None:
    def echo(call: WireCall) -> str:
        time.sleep(0.05)
        return str(call.body["messages"][0]["content"])

    with ModelServer(echo) as server:
        model = get_model("openai/m", base_url=server.openai_url, api_key="test")
        begun = time.monotonic()
        said = await asyncio.gather(*(acall(model, [HumanMessage(f"n{i}")]) for i in range(64)))
        assert [reply.content for reply in said] == [f"n{i}" for i in range(64)]
        assert time.monotonic() - begun < 3  # one after another they would take 3.2 s
        assert len(server.calls) == 64
