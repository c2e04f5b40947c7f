"""Calls that go wrong: what is tried again, how often, and the one line that is left."""

from __future__ import annotations

import asyncio
import time
from email.utils import formatdate
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, InvalidToolCall
from langchain_core.runnables import RunnableLambda

from navloom.errors import ModelError, StoppedError
from navloom.models import model_call as calls
from navloom.models.call_failure import CallFailure, RetryPolicy, classify_failure, model_error
from navloom.models.model_call import (
    RetryEvent,
    acall,
    call_settings,
    retry_policy_of,
    unwrap_model,
    with_retries,
)
from navloom.models.model_registry import get_model
from navloom.models.scripted import ScriptedChatModel
from navloom.models.usage import STAMP
from navloom.testing import Delay, Drop, Fault, Garble, ModelServer, Status
from tests.models.test_retry_table import StatusError

KEY = "canary-key-0123456789"
QUICK = RetryPolicy(first_wait=0.01, attempt_timeout=20)
ASK = [HumanMessage("x")]


@pytest.fixture(params=["openai/gpt-4o-mini", "anthropic/claude-haiku-4-5", "vllm/q/m"])
def spec(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def _model(spec: str, server: ModelServer) -> BaseChatModel:
    url = server.url if spec.startswith("anthropic") else server.openai_url
    return get_model(spec, base_url=url, api_key=KEY)


async def _ask(
    spec: str, faults: list[Fault | None], policy: RetryPolicy = QUICK
) -> tuple[str, int, list[RetryEvent]]:
    """The answer, or the line of the error; how many calls the server got; the retries told."""
    retries: list[RetryEvent] = []
    with ModelServer(lambda call: "ok", faults=faults) as server:
        try:
            reply = await acall(_model(spec, server), ASK, policy=policy, on_retry=retries.append)
            said = str(reply.content)
        except ModelError as error:
            said = str(error)
        return said, len(server.calls), retries


def _different(status: int) -> list[Fault | None]:
    return [Status(status, text=f"error number {i}") for i in "abcdef"]


@pytest.mark.parametrize(
    ("faults", "calls", "said"),
    [
        ([Status(408)], 2, "ok"),
        ([Status(409)], 2, "ok"),
        ([Status(429)] * 3, 4, "ok"),
        ([Status(429)] * 4, 4, "too much to do"),
        ([Status(429, retry_after=0.02)] * 3, 4, "ok"),
        ([Status(429, retry_after=301)], 1, "asks to wait 301 s, longer than 300 s"),
        ([Status(529)] * 3, 4, "ok"),
        ([Status(529)] * 4, 4, "HTTP 529"),
        ([Status(500)], 2, "ok"),
        ([Status(500)] * 4, 2, "HTTP 500, 2 attempts: planned fault"),
        ([Status(502)] * 4, 2, "HTTP 502"),
        ([Status(503)] * 4, 2, "HTTP 503"),
        ([Status(503, retry_after=0.02)] * 3, 4, "ok"),
        ([Status(500), Status(502), Status(500)], 4, "ok"),
        (_different(500), 4, "HTTP 500, 4 attempts: error number d"),
        ([Status(400)], 1, "--no-constrain"),
        ([Status(401)], 1, "the key was refused; check"),
        ([Status(403)], 1, "the key was refused; check"),
        ([Status(404)], 1, "no such model at http://127.0.0.1"),
        ([Status(413)], 1, "HTTP 413"),
        ([Status(422)], 1, "HTTP 422"),
        ([Drop()] * 3, 4, "ok"),
        ([Drop()] * 4, 4, "no connection to the server at http://127.0.0.1"),
        ([Garble()], 2, "ok"),
        ([Garble()] * 4, 2, "gave no usable reply"),
        ([Garble(b"<html>", "text/html")] * 4, 2, "gave no usable reply"),
        ([Garble(b"\xff\xfe\x00")] * 4, 2, "gave no usable reply"),
        ([Garble(b"{}")] * 4, 2, "gave no usable reply"),
        ([Garble(b"null")] * 4, 2, "gave no usable reply"),
    ],
)
async def test_each_row_of_the_table(
    spec: str, faults: list[Fault | None], calls: int, said: str
) -> None:
    answer, got, retries = await _ask(spec, faults)
    assert (got, len(retries)) == (calls, calls - 1)
    assert said in answer
    if said != "ok":
        assert answer.startswith(f"{spec}: ")
        assert "\n" not in answer


async def test_empty_choices_are_no_reply() -> None:
    said, calls, _ = await _ask("openai/gpt-4o", [Garble(b'{"choices": []}')] * 4)
    assert calls == 2
    assert "gave no usable reply" in said


async def test_an_account_without_credit_is_not_tried_again() -> None:
    said, calls, _ = await _ask("openai/gpt-4o", [Status(429, code="insufficient_quota")])
    assert calls == 1
    assert "no credit left" in said


async def test_a_request_id_does_not_make_a_failure_new() -> None:
    faults: list[Fault | None] = [
        Status(500, text=f"Sorry. Mention request req_{i}f00dbeef0123456789abcdef0123.")
        for i in range(4)
    ]
    _, calls, _ = await _ask("openai/gpt-4o", faults)
    assert calls == 2


async def test_retry_after_is_waited_for(spec: str) -> None:
    begun = time.monotonic()
    said, calls, retries = await _ask(spec, [Status(429, retry_after=0.3)])
    assert (said, calls) == ("ok", 2)
    assert time.monotonic() - begun >= 0.3
    assert (retries[0].attempt, retries[0].wait, retries[0].failure.status) == (1, 0.3, 429)


async def test_retry_after_may_be_a_date_or_milliseconds() -> None:
    date = formatdate(time.time() + 100, usegmt=True)
    policy = RetryPolicy(first_wait=0.01, longest_asked=50)
    said, calls, _ = await _ask("openai/gpt-4o", [Status(429, retry_after=date)], policy)
    assert calls == 1
    assert "asks to wait" in said
    faults: list[Fault | None] = [Status(429, headers={"retry-after-ms": "150"})]
    assert (await _ask("openai/gpt-4o", faults))[2][0].wait == pytest.approx(0.15)
    for nonsense in ("soon", "-3", "inf", "nan"):
        said, calls, _ = await _ask("openai/gpt-4o", [Status(429, retry_after=nonsense)])
        assert (said, calls) == ("ok", 2)


async def test_no_answer_in_time_is_said_with_the_time(spec: str) -> None:
    policy = RetryPolicy(attempts=2, first_wait=0.01, attempt_timeout=0.3)
    said, _, retries = await _ask(spec, [Delay(1)] * 2, policy)
    assert [retry.failure.kind for retry in retries] == ["timeout"]
    assert "no answer within 0.3 s; raise the attempt timeout (timeout, 2 attempts" in said


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("vllm/m", ",max_tokens=1024 behind the model's name, or give it longer, by"),
        ("vllm/m,max_tokens=512", ",max_tokens=256 behind the model's name"),
        ("vllm/m,attempt_timeout=599.5", "no answer within 599.5 s; raise the attempt timeout"),
        ("vllm/m,attempt_timeout=900", "no answer within 900 s"),
        ("vllm/m,attempt_timeout=900", ",attempt_timeout=1800 ("),
    ],
)
def test_no_answer_in_the_usual_time_says_which_limit_to_change(name: str, said: str) -> None:
    model = get_model(name, base_url="http://127.0.0.1:9/v1")
    error = model_error(model, name, CallFailure("timeout", "late"), retry_policy_of(model), 1)
    assert said in str(error)


async def test_a_refused_connection_names_the_address_and_the_variable(spec: str) -> None:
    with ModelServer(["x"]) as server:
        model = _model(spec, server)
    with pytest.raises(ModelError) as caught:
        await acall(model, ASK, policy=QUICK)
    line = str(caught.value)
    assert "no connection to the server at http://127.0.0.1" in line
    assert f"check {spec.partition('/')[0].upper()}_BASE_URL" in line
    assert "4 attempts" in line
    assert "\n" not in line


async def test_a_base_url_of_something_else(spec: str) -> None:
    with ModelServer(["x"]) as server:
        model = get_model(spec, base_url=f"{server.url}/elsewhere", api_key=KEY)
        with pytest.raises(ModelError, match=r"_BASE_URL \(.*HTTP 404"):
            await acall(model, ASK, policy=QUICK)


async def test_the_key_never_stands_in_the_line(spec: str) -> None:
    for fault in (Status(401, text=f"bad key {KEY}"), Status(400, text=f"{KEY} {'x' * 900}")):
        said, _, _ = await _ask(spec, [fault])
        assert KEY not in said
        assert "[key]" in said
        assert len(said) < 600


async def test_the_models_own_policy_is_used() -> None:
    with ModelServer(lambda call: "ok", faults=_different(500)) as server:
        model = get_model("openai/m", base_url=server.openai_url, api_key=KEY, max_retries=0)
        with pytest.raises(ModelError):
            await acall(model, ASK)
        assert len(server.calls) == 1
    with ModelServer(lambda call: "ok", faults=[Delay(1)]) as server:
        model = get_model(
            "openai/m", base_url=server.openai_url, api_key=KEY, max_retries=0, attempt_timeout=0.1
        )
        with pytest.raises(ModelError, match=r"no answer within 0\.1 s"):
            await acall(model, ASK)


async def test_a_call_counts_under_its_own_role_or_that_of_the_settings() -> None:
    async def role_of(**given: Any) -> str:
        reply = await acall(ScriptedChatModel(["x"]), ASK, **given)
        return str(reply.response_metadata[STAMP]["role"])

    assert await role_of() == "generator"
    assert await role_of(role="judge") == "judge"
    with call_settings(role="oracle"):
        assert await role_of() == "oracle"
        assert await role_of(role="judge") == "judge"


async def test_cancelling_a_call_is_not_a_failure() -> None:
    with ModelServer(lambda call: "ok", faults=[Delay(1)] * 4) as server:
        task = asyncio.create_task(acall(_model("openai/m", server), ASK))
        while not server.calls:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(server.calls) == 1


def test_a_defect_in_process_is_not_a_failure_of_a_model() -> None:
    assert classify_failure(KeyError("x"), remote=False) is None
    assert classify_failure(RuntimeError("x")) is None
    assert classify_failure(KeyError("x")) == CallFailure("garbled", "KeyError: 'x'")


async def test_the_waits_double_up_to_the_longest_and_are_jittered() -> None:
    waits: list[float] = []
    policy = RetryPolicy(attempts=6, first_wait=0.004, longest_wait=0.016)

    async def fail() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        await with_retries(fail, policy, on_retry=lambda retry: waits.append(retry.wait))
    assert len(waits) == 5
    for wait, most in zip(waits, (0.004, 0.008, 0.016, 0.016, 0.016), strict=True):
        assert 0.002 <= wait <= most


@pytest.mark.parametrize(
    ("end", "expected"), [(0, [0.002, 0.002, 0.002, 0.002]), (1, [0.004, 0.008, 0.016, 0.016])]
)
async def test_a_wait_is_drawn_from_half_the_first_to_the_doubled_one(
    end: int, expected: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("random.uniform", lambda *ends: ends[end])
    waits: list[float] = []
    policy = RetryPolicy(attempts=5, first_wait=0.004, longest_wait=0.016)

    async def fail() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        await with_retries(fail, policy, on_retry=lambda retry: waits.append(retry.wait))
    assert waits == pytest.approx(expected)


async def test_what_is_no_message_is_refused() -> None:
    with pytest.raises(ModelError, match="gave a str, not a message"):
        await acall(ScriptedChatModel(["x"]) | RunnableLambda(lambda m: str(m.content)), ASK)


def test_the_model_is_found_inside_its_wrappers() -> None:
    model = ScriptedChatModel(["x"])
    wrapped: Any = model.bind(stop=["y"]).with_config(tags=["t"]) | (lambda message: message)
    assert unwrap_model(wrapped) is model
    assert unwrap_model("no model") == "no model"


class Clock:
    """A clock that only sleeping moves, in place of the module's time and asyncio."""

    def __init__(self) -> None:
        self.now, self.slept = 100.0, list[float]()

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 6))
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(calls.time, "monotonic", made.monotonic)
    monkeypatch.setattr(calls.asyncio, "sleep", made.sleep)
    return made


def test_the_longest_hold_of_a_model_counts_and_is_told(clock: Clock) -> None:
    told: list[tuple[str, float]] = []
    holds = calls.RateLimitHolds(lambda model, seconds: told.append((model, seconds)))
    holds.hold("a", 0.0)
    holds.hold("a", -1.0)
    assert holds.left() == {}
    holds.hold("a", 3.0)
    holds.hold("a", 3.0)
    holds.hold("a", 2.0)
    holds.hold("b", 1.0, tell=False)
    assert told == [("a", 3.0)]
    assert holds.left() == {"a": 3.0, "b": 1.0}
    clock.now += 1.0
    assert holds.left() == {"a": 2.0}
    holds.hold("a", 2.5)
    assert holds.left() == {"a": 2.5}
    silent = calls.RateLimitHolds()
    silent.hold("a", 1.0)
    assert silent.left() == {"a": 1.0}


async def test_a_hold_is_waited_for_half_a_second_at_a_time(clock: Clock) -> None:
    holds = calls.RateLimitHolds()
    await holds.over("a")
    holds.hold("a", 1.2)
    await holds.over("b")
    assert clock.slept == []
    await holds.over("a", lambda: False)
    assert clock.slept == [0.5, 0.5, 0.2]
    holds.hold("a", 1.2)
    with pytest.raises(StoppedError, match="the session ends"):
        await holds.over("a", lambda: True)
    assert clock.slept == [0.5, 0.5, 0.2, 0.5]


async def test_another_attempt_waits_half_a_second_at_a_time(clock: Clock) -> None:
    failures: list[Exception] = [
        StatusError(429, retry_after=seconds) for seconds in ("1.25", "0.75")
    ]

    async def call() -> str:
        if failures:
            raise failures.pop(0)
        return "so"

    assert await with_retries(call, RetryPolicy(attempts=3)) == "so"
    assert clock.slept == [0.5, 0.5, 0.25, 0.5, 0.25]


def piece(text: str = "", **call: Any) -> Any:
    calls_ = [{"type": "tool_call_chunk", "name": None, "id": None, "index": None, **call}]
    message = SimpleNamespace(text=text, tool_call_chunks=calls_ if call else ())
    return SimpleNamespace(message=message)


@pytest.mark.parametrize(
    ("told", "came", "streaming", "cut"),
    [
        ({"model_provider": "openai"}, True, False, True),
        ({"model_provider": "openai"}, False, False, False),
        ({"model_provider": "openai"}, False, True, True),
        ({"model_provider": "anthropic"}, True, False, True),
        ({"model_provider": "strange"}, True, False, False),
        ({"model_provider": "strange"}, True, True, True),
        ({"model_provider": "openai", "finish_reason": "stop"}, True, True, False),
        ({"model_provider": "openai", "stop_reason": None, "status": "done"}, True, True, False),
        (None, True, True, True),
    ],
)
def test_a_streamed_reply_without_an_end_is_cut(
    told: Any, came: bool, streaming: bool, cut: bool
) -> None:
    pieces = calls.ChunkListener()
    if came:
        pieces.on_llm_new_token("x")
    reply = SimpleNamespace(response_metadata=told)
    assert pieces.is_truncated(reply, streaming=streaming) == cut


def test_calls_that_came_in_pieces_are_read_strictly() -> None:
    pieces = calls.ChunkListener()
    for part in (
        piece(index=0, args='{"a"'), piece(index=1, args='{"b": 2}'), piece(index=0, args=": 1}"),
        piece(index=2, args='{"c": '), piece(index=3, args=None),
    ):  # fmt: skip
        pieces.on_llm_new_token("", chunk=part)
    made = [
        {"name": name, "args": {}, "id": name, "type": "tool_call"} for name in ("x", "y", "z", "w")
    ]
    found = pieces.whole(AIMessage("", tool_calls=made))  # type: ignore[arg-type]
    assert [call["name"] for call in found.tool_calls] == ["x", "y", "w"]
    assert [(call["name"], call["args"]) for call in found.invalid_tool_calls] == [("z", '{"c": ')]
    # Without as many calls the reply stays as it is.
    few = AIMessage("", tool_calls=made[:1])  # type: ignore[arg-type]
    assert pieces.whole(few) is few
    # A call whose pieces are no object at all was none.
    listed = calls.ChunkListener()
    listed.on_llm_new_token("", chunk=piece(index=0, args="[1]"))
    one = listed.whole(AIMessage("", tool_calls=made[:1]))  # type: ignore[arg-type]
    assert [call["name"] for call in one.tool_calls] == ["x"]


def test_pieces_without_a_number_are_calls_of_their_own() -> None:
    pieces = calls.ChunkListener()
    for text in ('{"a": 1}', '{"b": '):
        pieces.on_llm_new_token("", chunk=piece(args=text))
    made = [{"name": name, "args": {}, "id": name, "type": "tool_call"} for name in "xy"]
    found = pieces.whole(AIMessage("", tool_calls=made))  # type: ignore[arg-type]
    assert [call["name"] for call in found.tool_calls] == ["x"]
    assert [call["name"] for call in found.invalid_tool_calls] == ["y"]


def test_twenty_thousand_characters_are_told_while_a_reply_comes() -> None:
    told: list[str] = []
    words = calls.TextListener(told.append)
    for text in ("a", "", "b", "x" * 20_000, "more"):
        words.on_llm_new_token("", chunk=piece(text))
    assert told[:2] == ["a", "ab"]
    assert told[2:] == ["ab" + "x" * 19_998]
    assert words.came

    def broken(_: str) -> None:
        raise ValueError

    calls.TextListener(broken).on_llm_new_token("", chunk=piece("a"))


def test_the_policy_is_the_settings_else_the_models_else_the_usual() -> None:
    made = SimpleNamespace(metadata={"navloom_attempts": 7, "navloom_attempt_timeout": 5.0})
    assert (retry_policy_of(made).attempts, retry_policy_of(made).attempt_timeout) == (7, 5.0)
    assert retry_policy_of(object()) == RetryPolicy()
    with call_settings(max_retries=0, attempt_timeout=2.0):
        settings = calls._settings.get()
        own = retry_policy_of(made, settings)
    assert (own.attempts, own.attempt_timeout) == (1, 2.0)
    assert calls.model_name(SimpleNamespace(metadata={"navloom_model": "a/b"})) == "a/b"
    assert calls.model_name(SimpleNamespace(_llm_type="c")) == "c"
    assert calls.model_name(object()) == "object"


def asked_of(policy: RetryPolicy, **settings: Any) -> Any:
    """One request to a model that only has a name."""
    model = SimpleNamespace(metadata={"navloom_model": "openai/m"}, profile=None)
    with call_settings(**settings):
        return calls._Ask(model, "judge", policy, calls.current_settings())


def failing(*errors: Exception) -> Any:
    left = iter(errors)

    def fail(_: Any) -> AIMessage:
        raise next(left)

    return RunnableLambda(fail)


async def test_a_call_that_is_lost_is_told_with_its_retries() -> None:
    lost: list[Any] = []
    ask = asked_of(RetryPolicy(attempts=3, first_wait=0.001), lost=lost)
    with pytest.raises(ModelError):
        await ask.reply(failing(*(StatusError(500, text) for text in "abc")), ASK, None)
    (one,) = lost
    assert (one.model, one.role, one.retries) == ("openai/m", "judge", 2)
    assert 0 < one.seconds < 30
    once = asked_of(RetryPolicy(attempts=1), lost=lost)
    with pytest.raises(ModelError):
        await once.reply(failing(StatusError(500)), ASK, None)
    assert len(lost) == 1


@pytest.mark.parametrize(
    ("text", "profile"), [("image input is not supported", {"image_inputs": False}), ("no", None)]
)
async def test_a_model_that_refused_an_image_is_known_to_take_none(text: str, profile: Any) -> None:
    ask = asked_of(RetryPolicy(attempts=1))
    with pytest.raises(ModelError):
        await ask.reply(failing(StatusError(400, text)), ASK, None)
    assert ask.model.profile == profile


@pytest.mark.parametrize(("asked", "longest", "held"), [("7", 9, 7), ("9", 7, 7), (None, 9, 0)])
async def test_a_model_is_held_as_long_as_it_asks_and_the_policy_lets_it(
    asked: str | None, longest: float, held: float
) -> None:
    holds = calls.RateLimitHolds()
    ask = asked_of(RetryPolicy(attempts=1, longest_asked=longest), holds=holds)
    error = StatusError(429, **({} if asked is None else {"retry_after": asked}))
    with pytest.raises(ModelError):
        await ask.reply(failing(error), ASK, None)
    assert holds.left().get("openai/m", 0) == pytest.approx(held, abs=0.5)


async def test_a_whole_reply_stays_as_it_is_and_needed_no_retry() -> None:
    ask = asked_of(RetryPolicy(attempts=1))
    reply = await ask.reply(RunnableLambda(lambda _: AIMessage("hi")), ASK, None)
    assert reply.content == "hi"
    assert ask.model.metadata == {"navloom_model": "openai/m"}
    said = await acall(ScriptedChatModel(["x"]), ASK)
    assert said.response_metadata[STAMP]["retries"] == 0


@pytest.mark.parametrize("in_process", [True, False])
async def test_a_model_in_process_is_kept_in_the_cache_only_where_that_is_asked(
    in_process: bool,
) -> None:
    names: list[str] = []

    async def get(key: str) -> None:
        names.append(key)

    async def put(key: str, *_: Any) -> None:
        names.append(key)

    cache: Any = SimpleNamespace(aget=get, aput=put)
    with call_settings(cache=cache, cache_in_process=in_process):
        await acall(ScriptedChatModel(["x"]), ASK)
    assert len(names) == 2 * in_process
    assert len(set(names)) == in_process


def test_broken_arguments_go_back_to_a_server_as_an_empty_object() -> None:
    broken = InvalidToolCall(name="x", args="{", id="1", error=None, type="invalid_tool_call")
    message = AIMessage("", invalid_tool_calls=[broken])
    (sent,) = calls._replayable(message).invalid_tool_calls  # type: ignore[attr-defined]
    assert (sent["name"], sent["args"], sent["id"]) == ("x", "{}", "1")
    assert message.invalid_tool_calls == [broken]
    assert calls._replayable(ASK[0]) is ASK[0]
