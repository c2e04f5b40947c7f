"""The three clients, driven for real over loopback; what is asserted is what was on the wire."""

from __future__ import annotations

import asyncio
import base64
import gc
import json
import warnings
from typing import Any, Literal

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.messages.tool import invalid_tool_call
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool

from navloom.errors import ModelError, ModelRefusedError
from navloom.models.call_failure import refusal_advice
from navloom.models.messages import image_block
from navloom.models.model_call import acall, unwrap_model
from navloom.models.model_registry import get_model
from navloom.models.structured_output import ANSWER_TOOL, backend_of, bind_schema, takes_schema
from navloom.testing import ModelServer
from tests.models.wire_rules import ARRAY_BOUNDS, complaints

KEY = "test-key-0123456789"
NAMES = {
    "openai": "openai/gpt-4o-mini",
    "anthropic": "anthropic/claude-haiku-4-5",
    "vllm": "vllm/Qwen/Qwen2.5-VL-7B-Instruct",
}
SCHEMA: dict[str, Any] = {
    "title": "phase_1",
    "type": "object",
    "properties": {
        "end": {"type": "string", "enum": ["Bedroom_1", "Kitchen_2"]},
        "path": {"type": "array", "items": {"type": "string"}, "minItems": 2},
    },
    "required": ["end", "path"],
}
ANSWER = {"end": "Kitchen_2", "path": ["Bedroom_1", "Kitchen_2"]}
CALL = {"name": "check", "args": {"region": "Bedroom_1", "tau": 2}, "id": "call_a"}


@tool
def check(region: str, tau: int = 2, kind: Literal["a", "b"] = "a") -> str:
    """Check a region."""
    return region


@pytest.fixture(params=list(NAMES))
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def _model(provider: str, server: ModelServer, **options: Any) -> BaseChatModel:
    url = server.url if provider == "anthropic" else server.openai_url
    return get_model(NAMES[provider], base_url=url, api_key=KEY, **options)


def _final(provider: str) -> Any:
    """How a model gives its final answer where both tools and a schema are bound."""
    is_tool = provider == "vllm"
    return {"name": f"{ANSWER_TOOL}phase_1", "args": ANSWER} if is_tool else ANSWER


def _tools(provider: str, body: dict[str, Any]) -> dict[str, dict[str, Any]]:
    if provider == "anthropic":
        return {t["name"]: {**t, "parameters": t["input_schema"]} for t in body["tools"]}
    assert all(t["type"] == "function" for t in body["tools"])
    return {t["function"]["name"]: t["function"] for t in body["tools"]}


async def test_a_conversation_with_tools_and_a_schema(provider: str) -> None:
    with ModelServer([CALL, _final(provider)]) as server:
        bound = bind_schema(_model(provider, server), tools=[check], schema=SCHEMA)
        messages: list[BaseMessage] = [SystemMessage("You plan."), HumanMessage("Plan.")]
        asked = await acall(bound, messages)
        assert [(c["name"], c["args"], c["id"]) for c in asked.tool_calls] == [
            ("check", CALL["args"], "call_a")
        ]
        messages += [asked, ToolMessage('{"valid": true}', tool_call_id="call_a")]
        answer = await acall(bound, messages)
        assert json.loads(str(answer.content)) == ANSWER
        assert answer.tool_calls == []
        for reply, call in zip((asked, answer), server.calls, strict=True):
            assert reply.usage_metadata is not None
            read, _ = call.wire.usage(call.body, AIMessage(""))
            assert reply.usage_metadata["input_tokens"] == read
            assert reply.usage_metadata["output_tokens"] > 0
        body = server.calls[1].body
    assert server.errors == []
    if provider == "anthropic":
        assert body["system"] == "You plan."
        assert body["max_tokens"] >= 4096
        kinds = [(t["role"], t["content"]) for t in body["messages"]]
        assert kinds[0] == ("user", "Plan.")
        assert kinds[1][1][0] == {
            "type": "tool_use",
            "id": "call_a",
            "name": "check",
            "input": CALL["args"],
        }
        result = kinds[2][1][0]
        assert (result["type"], result["tool_use_id"]) == ("tool_result", "call_a")
        assert result["content"] == '{"valid": true}'
    else:
        assert [m["role"] for m in body["messages"]] == ["system", "user", "assistant", "tool"]
        assert body["messages"][0]["content"] == "You plan."
        function = body["messages"][2]["tool_calls"][0]["function"]
        assert (function["name"], json.loads(function["arguments"])) == ("check", CALL["args"])
        assert body["messages"][3]["tool_call_id"] == "call_a"
        assert body["messages"][3]["content"] == '{"valid": true}'


async def test_constrained_tools_and_schema_on_the_wire(provider: str) -> None:
    with ModelServer([_final(provider)]) as server:
        await acall(
            bind_schema(_model(provider, server), tools=[check], schema=SCHEMA), [HumanMessage("x")]
        )
        body = server.calls[0].body
    tools = _tools(provider, body)
    assert tools["check"]["strict"] is True
    assert tools["check"]["description"] == "Check a region."
    beside = ARRAY_BOUNDS if provider == "vllm" else frozenset()
    for function in tools.values():
        assert complaints(function["parameters"], beside=beside) == []
    # A grammar without a bound lets a small model write items for ever.
    assert ('"minItems": 2' in json.dumps(body)) == (provider == "vllm")
    assert tools["check"]["parameters"]["properties"]["kind"]["enum"] == ["a", "b"]
    assert "guided_json" not in json.dumps(body)
    if provider == "openai":
        shape = body["response_format"]
        assert shape["type"] == "json_schema"
        assert (shape["json_schema"]["name"], shape["json_schema"]["strict"]) == ("phase_1", True)
        schema = shape["json_schema"]["schema"]
    elif provider == "anthropic":
        shape = body["output_config"]["format"]
        assert shape["type"] == "json_schema"
        schema = shape["schema"]
    else:
        # A response format beside tools would keep vLLM from ever calling one.
        assert "response_format" not in body
        assert body["tool_choice"] == "required"
        assert tools["answer_phase_1"]["strict"] is True
        schema = tools["answer_phase_1"]["parameters"]
    assert complaints(schema, beside=beside) == []
    assert schema["title"] == "phase_1"
    assert schema["properties"]["end"]["enum"] == ["Bedroom_1", "Kitchen_2"]


async def test_a_schema_alone(provider: str) -> None:
    with ModelServer([ANSWER]) as server:
        reply = await acall(
            bind_schema(_model(provider, server), schema=SCHEMA), [HumanMessage("x")]
        )
        body = server.calls[0].body
    assert json.loads(str(reply.content)) == ANSWER
    assert "tools" not in body
    if provider == "anthropic":
        assert body["output_config"]["format"]["type"] == "json_schema"
    else:
        assert body["response_format"]["json_schema"]["strict"] is True


async def test_unconstrained_means_plain_tools_and_no_schema(provider: str) -> None:
    with ModelServer(["prose"]) as server:
        bound = bind_schema(_model(provider, server), tools=[check], schema=SCHEMA, constrain=False)
        await acall(bound, [HumanMessage("x")])
        body = server.calls[0].body
    assert "strict" not in json.dumps(body)
    assert not {"response_format", "output_config", "tool_choice", "structured_outputs"} & set(body)
    assert _tools(provider, body)["check"]["parameters"]["required"] == ["region"]


async def test_nothing_bound_is_a_plain_call(provider: str) -> None:
    with ModelServer(["hello"]) as server:
        model = _model(provider, server)
        assert bind_schema(model) is model
        assert (await acall(model, [HumanMessage("x")])).content == "hello"
        assert not {"tools", "response_format", "output_config"} & set(server.calls[0].body)


async def test_key_name_and_options_are_sent(provider: str) -> None:
    options = {"temperature": 0.5, "max_tokens": 77, "headers": {"X-Trace": "t"}}
    with ModelServer(["x"], key=KEY) as server:
        await acall(_model(provider, server, **options), [HumanMessage("x")])
        (call,) = server.calls
    body = call.body
    assert call.headers["authorization"] == f"Bearer {KEY}"
    assert call.headers["x-trace"] == "t"
    assert call.path == ("/v1/messages" if provider == "anthropic" else "/v1/chat/completions")
    assert body["model"] == NAMES[provider].partition("/")[2]
    assert body["temperature"] == 0.5
    assert body.get("max_tokens", body.get("max_completion_tokens")) == 77
    with ModelServer(["x"]) as server:
        await acall(_model(provider, server), [HumanMessage("x")])
        assert "temperature" not in server.calls[0].body


async def test_the_address_may_come_from_the_environment(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer(["from there"]) as server:
        url = server.url if provider == "anthropic" else server.openai_url
        monkeypatch.setenv(f"{provider.upper()}_BASE_URL", url)
        monkeypatch.setenv(f"{provider.upper()}_API_KEY", KEY)
        model = get_model(NAMES[provider])
        assert (await acall(model, [HumanMessage("x")])).content == "from there"
        assert server.calls[0].headers["authorization"] == f"Bearer {KEY}"


async def test_vllm_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VLLM_API_KEY", raising=False)
    with ModelServer(["x"]) as server:
        model = get_model(NAMES["vllm"], base_url=server.openai_url)
        await acall(model, [HumanMessage("x")])
        assert server.calls[0].headers["authorization"] == "Bearer EMPTY"


async def test_a_streamed_call_keeps_its_text_calls_and_usage(provider: str) -> None:
    said = AIMessage("thinking aloud, at length", tool_calls=[CALL])
    said.usage_metadata = {"input_tokens": 11, "output_tokens": 5, "total_tokens": 16}
    with ModelServer([said]) as server:
        model = _model(provider, server).bind_tools([check])
        whole: Any = None
        pieces = 0
        async for piece in model.astream([HumanMessage("x")]):
            whole = piece if whole is None else whole + piece
            pieces += 1
        assert server.calls[0].body["stream"] is True
    assert pieces > 4
    assert whole.text == "thinking aloud, at length"
    assert [(c["name"], c["args"]) for c in whole.tool_calls] == [("check", CALL["args"])]
    usage = whole.usage_metadata
    assert (usage["input_tokens"], usage["output_tokens"]) == (11, 5)


def test_a_model_may_be_used_in_one_event_loop_after_another(provider: str) -> None:
    with warnings.catch_warnings(), ModelServer(["one", "two", "three"]) as server:
        warnings.simplefilter("error", ResourceWarning)
        model = _model(provider, server)
        said = [asyncio.run(acall(model, [HumanMessage("x")])).content for _ in range(3)]
        gc.collect()
    assert said == ["one", "two", "three"]


async def test_truncated_and_malformed_replies_reach_the_agent() -> None:
    broken = AIMessage("", response_metadata={"finish_reason": "length"})
    broken.invalid_tool_calls = [invalid_tool_call(name="check", args='{"region": "Bed', id="c")]
    cut = AIMessage('{"end": "Kit', response_metadata={"finish_reason": "length"})
    with ModelServer([broken, cut]) as server:
        bound = bind_schema(_model("openai", server), tools=[check], schema=SCHEMA)
        first = await acall(bound, [HumanMessage("x")])
        assert first.tool_calls == []
        assert first.invalid_tool_calls[0]["args"] == '{"region": "Bed'
        second = await acall(bound, [HumanMessage("x")])
        assert second.content == '{"end": "Kit'
        assert second.response_metadata["finish_reason"] == "length"
        assert len(server.calls) == 2


async def test_broken_arguments_go_back_as_json() -> None:
    broken = AIMessage("")
    broken.invalid_tool_calls = [invalid_tool_call(name="check", args='{"region": "Bed', id="c")]
    told = [HumanMessage("x"), broken, ToolMessage("not valid JSON", tool_call_id="c")]
    with ModelServer(["fine"]) as server:
        await acall(bind_schema(_model("openai", server), tools=[check]), told)
        sent = server.calls[0].body["messages"][1]["tool_calls"][0]["function"]
    assert sent == {"name": "check", "arguments": "{}"}
    assert broken.invalid_tool_calls[0]["args"] == '{"region": "Bed'


async def test_vllm_prefers_a_tool_call_to_an_answer_given_with_it() -> None:
    both = [CALL, {"name": "answer_phase_1", "args": ANSWER, "id": "call_b"}]
    with ModelServer([both, "prose after all"]) as server:
        bound = bind_schema(_model("vllm", server), tools=[check], schema=SCHEMA)
        reply = await acall(bound, [HumanMessage("x")])
        assert [c["name"] for c in reply.tool_calls] == ["check"]
        assert reply.content == ""
        assert (await acall(bound, [HumanMessage("x")])).content == "prose after all"


async def test_vllm_sends_no_trace_of_an_answer_that_was_dropped() -> None:
    both = [CALL, {"name": "answer_phase_1", "args": ANSWER, "id": "call_b"}]
    with ModelServer([both, ANSWER]) as server:
        bound = bind_schema(_model("vllm", server), tools=[check], schema=SCHEMA)
        reply = await acall(bound, [HumanMessage("x")])
        result = ToolMessage("{}", tool_call_id="call_a")
        await acall(bound, [HumanMessage("x"), reply, result])
        sent = server.calls[1].body["messages"][1]
    assert [c["id"] for c in sent["tool_calls"]] == ["call_a"]


async def test_a_broken_answer_of_vllm_is_content_that_the_agent_can_mend() -> None:
    broken = AIMessage("")
    broken.invalid_tool_calls = [invalid_tool_call(name="answer_phase_1", args='{"end": "Kit')]
    with ModelServer([broken]) as server:
        bound = bind_schema(_model("vllm", server), tools=[check], schema=SCHEMA)
        reply = await acall(bound, [HumanMessage("x")])
    assert reply.content == '{"end": "Kit'
    assert reply.invalid_tool_calls == []
    assert unwrap_model(bound).metadata["navloom_provider"] == "vllm"


async def test_a_tool_with_an_open_argument_is_sent_unstrict() -> None:
    @tool
    def note(anything: dict[str, Any]) -> str:
        """Note."""
        return ""

    with ModelServer(["x"]) as server:
        await acall(bind_schema(_model("openai", server), tools=[note, check]), [HumanMessage("x")])
        tools = _tools("openai", server.calls[0].body)
    assert "strict" not in tools["note"]
    assert tools["check"]["strict"] is True


async def test_a_claude_that_takes_no_schema_gets_plain_tools() -> None:
    with ModelServer([CALL]) as server:
        model = _model("anthropic", server)
        model.profile = {"structured_output": False}
        await acall(bind_schema(model, tools=[check], schema=SCHEMA), [HumanMessage("x")])
        body = server.calls[0].body
    assert "output_config" not in body
    assert "strict" not in body["tools"][0]


def test_a_dated_claude_takes_what_the_plain_name_takes() -> None:
    model = get_model("anthropic/claude-haiku-4-5-20251001", api_key=KEY)
    bound: Any = bind_schema(model, schema=SCHEMA)
    assert bound.kwargs["output_config"]["format"]["type"] == "json_schema"


def test_a_model_that_langchain_sends_to_the_responses_api_keeps_its_schema() -> None:
    model: Any = get_model("openai/gpt-5-pro", api_key=KEY)
    bound: Any = bind_schema(model, tools=[check], schema=SCHEMA)
    payload = model._get_request_payload([HumanMessage("x")], **bound.kwargs)
    assert payload["text"]["format"]["name"] == "phase_1"
    assert payload["text"]["format"]["strict"] is True
    assert payload["tools"][0]["strict"] is True


def test_a_client_that_navloom_did_not_make_is_known_by_its_class() -> None:
    from langchain_core.language_models import FakeListChatModel
    from langchain_openai import ChatOpenAI

    assert backend_of(ChatOpenAI(model="gpt-4o", api_key="sk-x")) == "openai"  # type: ignore[arg-type]
    assert backend_of(get_model("builtin/random")) == "in_process"
    assert takes_schema("builtin/random")
    # Of a client that nobody knows it is not known that it is told the names there are.
    assert not takes_schema(FakeListChatModel(responses=["x"]))


def test_a_tools_form_is_made_once_and_forgotten_with_the_tool() -> None:
    from langchain_core.tools import StructuredTool

    from navloom.models.structured_output import _FORMS

    def fresh() -> StructuredTool:
        return StructuredTool.from_function(check.func, name="check")  # type: ignore[attr-defined]

    model = get_model("builtin/random")
    own, other = fresh(), fresh()
    first: Any = bind_schema(model, tools=[own])
    again: Any = bind_schema(model, tools=[own])
    assert first.kwargs["tools"][0] is again.kwargs["tools"][0]
    bind_schema(model, tools=[other])
    kept = id(own)
    assert kept in _FORMS
    del own
    gc.collect()
    assert kept not in _FORMS
    assert id(other) in _FORMS


# A PNG of one pixel, and the least that is a JPEG, a GIF and a WebP to whoever looks at its head.
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
JPEG = b"\xff\xd8\xff\xe0" + bytes(range(256))


@pytest.mark.parametrize(
    ("data", "kind"), [(PNG, "image/png"), (JPEG, "image/jpeg")], ids=["png", "jpeg"]
)
async def test_images_travel_as_data(provider: str, data: bytes, kind: str) -> None:
    show: list[Any] = [{"type": "text", "text": "What is it?"}, image_block(data), image_block(PNG)]
    with ModelServer(["a pixel"]) as server:
        bound = bind_schema(_model(provider, server), tools=[check], images=True)
        assert (await acall(bound, [HumanMessage(show)])).content == "a pixel"
        (message,) = server.calls[0].body["messages"]
    text, first, second = message["content"]
    assert text == {"type": "text", "text": "What is it?"}
    assert [_image(provider, part) for part in (first, second)] == [
        (kind, data),
        ("image/png", PNG),
    ]


def _image(provider: str, part: dict[str, Any]) -> tuple[str, bytes]:
    """What a server gets of an image: its media type and its bytes."""
    if provider == "anthropic":
        assert part["type"] == "image"
        source = part["source"]
        assert source["type"] == "base64"
        return source["media_type"], base64.b64decode(source["data"], validate=True)
    assert part["type"] == "image_url"
    head, _, data = part["image_url"]["url"].partition(";base64,")
    return head.removeprefix("data:"), base64.b64decode(data, validate=True)


def test_what_is_no_image_is_refused_before_any_call() -> None:
    with pytest.raises(ModelError, match="expected PNG, JPEG, GIF or WebP"):
        image_block(b"<svg/>")
    with pytest.raises(ModelError, match="5,000,001 bytes"):
        image_block(PNG + bytes(5_000_001 - len(PNG)))
    assert image_block(b"GIF89a...")["mime_type"] == "image/gif"
    assert image_block(b"RIFF\0\0\0\0WEBPVP8 ")["mime_type"] == "image/webp"


async def test_a_streamed_answer_of_what_was_bound_keeps_its_usage(provider: str) -> None:
    with ModelServer([_final(provider)]) as server:
        bound = bind_schema(_model(provider, server), tools=[check], schema=SCHEMA)
        whole: Any = None
        async for piece in bound.astream([HumanMessage("x")]):
            whole = piece if whole is None else whole + piece
        assert server.calls[0].body["stream"] is True
    assert json.loads(whole.text) == ANSWER
    assert whole.tool_calls == whole.tool_call_chunks == []
    assert whole.usage_metadata["output_tokens"] > 0


async def test_a_streamed_call_of_a_tool_is_kept_beside_vllms_answer_tool() -> None:
    both = [CALL, {"name": "answer_phase_1", "args": ANSWER, "id": "call_b"}]
    with ModelServer([both]) as server:
        bound = bind_schema(_model("vllm", server), tools=[check], schema=SCHEMA)
        pieces = [piece async for piece in bound.astream([HumanMessage("x")])]
    (whole,) = pieces
    assert [c["name"] for c in whole.tool_calls] == ["check"]
    assert [c["name"] for c in whole.tool_call_chunks] == ["check"]  # type: ignore[attr-defined]


class Own(BaseChatModel):
    """A model that knows best how it is bound."""

    seen: dict[str, Any] = {}  # noqa: RUF012 (a pydantic field)

    @property
    def _llm_type(self) -> str:
        return "own"

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=AIMessage(kwargs["said"]))])

    def bind_agent(self, **given: Any) -> Any:
        self.seen.update(given)
        return self.bind(said="mine")


async def test_a_model_that_binds_itself_is_let_to() -> None:
    model = Own()
    assert backend_of(model) == "own"
    bound = bind_schema(model, tools=[check], schema=SCHEMA, constrain=False)
    assert (await acall(bound, [HumanMessage("x")])).content == "mine"
    assert unwrap_model(bound) is model
    (form,) = model.seen["tools"]
    assert (form["type"], form["function"]["name"]) == ("function", "check")
    assert form["function"]["parameters"]["required"] == ["region"]
    assert model.seen["schema"] == SCHEMA
    assert model.seen["constrain"] is False
    bind_schema(model)
    assert model.seen == {"tools": [], "schema": None, "constrain": True}


def test_a_model_known_to_take_no_tools_or_images_is_refused_before_any_call() -> None:
    blind = get_model("openai/o3-mini", api_key=KEY)
    bind_schema(blind, tools=[check])
    with pytest.raises(ModelRefusedError, match=r"^openai/o3-mini takes no images") as caught:
        bind_schema(blind, tools=[check], images=True)
    assert "\n" not in str(caught.value)
    mute = get_model("openai/gpt-4o", api_key=KEY, extra={"profile": {"tool_calling": False}})
    bind_schema(mute, schema=SCHEMA)
    with pytest.raises(ModelRefusedError, match=r"^openai/gpt-4o takes no tool calls"):
        bind_schema(mute, tools=[check])
    # The list that LangChain's profiles come from is wrong about this one.
    bind_schema(get_model("openai/gpt-3.5-turbo", api_key=KEY), tools=[check])
    bind_schema(get_model("vllm/any", base_url="http://127.0.0.1:9/v1"), tools=[check], images=True)


@pytest.mark.parametrize(
    ("status", "text", "said"),
    [
        (400, '"auto" tool choice requires --enable-auto-tool-choice and', "tool calls"),
        (400, 'tool_choice="required" requires --tool-call-parser to be set', "tool calls"),
        (400, "registry.ollama.ai/library/gemma3 does not support tools", "tool calls"),
        (400, "'tools' is not supported with this model.", "tool calls"),
        (404, "No endpoints found that support tool use.", "tool calls"),
        (400, "Qwen2.5-7B-Instruct is not a multimodal model", "no images"),
        (400, "At most 0 image(s) may be provided in one prompt.", "no images"),
        (500, "image input is not supported - hint: provide the mmproj", "no images"),
        (404, "No endpoints found that support image input", "no images"),
        (400, "Invalid schema for function 'check'", None),
        (400, "At most 8 image(s) may be provided in one prompt.", None),
        (429, "the server does not support tools", None),
        (None, "does not support tools", None),
    ],
)
def test_a_servers_refusal_of_tools_or_images_is_read(
    status: int | None, text: str, said: str | None
) -> None:
    fix = refusal_advice(status, text)
    assert fix is None if said is None else said in str(fix)
