"""Replies that come in pieces: words as they come, no half reply, no word twice, all counted."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tracers._streaming import _StreamingCallbackHandler

from navloom.errors import ModelError
from navloom.models.call_failure import RetryPolicy
from navloom.models.model_call import acall, call_settings
from navloom.models.model_registry import get_model
from navloom.models.usage import reply_usage
from navloom.testing import Cut, Fault, Garble, ModelServer, Stall, Status
from navloom.testing.wire_protocols import OpenAIWire

SAID = "I am in the kitchen now, and a window is open."
CALLS = AIMessage("Wait.", tool_calls=[{"name": "go_to", "args": {"place": "attic"}, "id": "1"}])
HASTY = RetryPolicy(first_wait=0.01, longest_wait=0.02, attempt_timeout=5.0)
ASKED = [HumanMessage("where are you?")]


@pytest.fixture(params=["openai", "anthropic"])
def wire(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def client(wire: str, server: ModelServer) -> Any:
    base = server.url if wire == "anthropic" else server.openai_url
    name = {"openai": "gpt-4o", "anthropic": "claude-haiku-4-5"}[wire]
    return get_model(f"{wire}/{name}", base_url=base, api_key="test")


async def heard(
    wire: str, *faults: Fault | None, said: Any = SAID, policy: RetryPolicy = HASTY
) -> tuple[AIMessage, list[str], list[bool]]:
    """The reply, what was told of it while it came, and which requests were for a stream."""
    told: list[str] = []
    with ModelServer(lambda _: said, faults=faults) as server, call_settings(on_words=told.append):
        reply = await acall(client(wire, server), ASKED, policy=policy)
        return reply, told, [bool(each.body.get("stream")) for each in server.calls]


def attempts(told: list[str]) -> list[list[str]]:
    """What was told, by attempts; within one each has the one before at its beginning."""
    found: list[list[str]] = [[]]
    for text in told:
        if text:
            assert not found[-1] or (text.startswith(found[-1][-1]) and text != found[-1][-1])
            found[-1].append(text)
        else:
            found.append([])
    return found


async def test_words_are_told_as_they_come_and_cost_what_they_did(wire: str) -> None:
    reply, told, streamed = await heard(wire)
    assert reply.text == SAID
    assert [each[-1] for each in attempts(told)] == [SAID]
    assert len(told) > 2
    assert streamed == [True]
    with ModelServer([SAID]) as server:
        whole = await acall(client(wire, server), ASKED, policy=HASTY)
        assert not server.calls[0].body.get("stream")
    paid, before = reply_usage(reply), reply_usage(whole)
    assert {**paid, "seconds": 0} == {**before, "seconds": 0}
    assert paid["output_tokens"] > 0
    assert paid["cost_usd"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("said", [SAID, CALLS], ids=["words", "a call"])
@pytest.mark.parametrize("politely", [True, False])
async def test_wherever_a_stream_is_cut_the_reply_is_whole_or_tried_again(
    wire: str, politely: bool, said: Any
) -> None:
    whole = await heard(wire, said=said)
    for after in range(1, 20):
        reply, told, streamed = await heard(wire, Cut(politely, after), said=said)
        assert (reply.text, reply.tool_calls) == (whole[0].text, whole[0].tool_calls), after
        # An attempt is told of until it is cut, and forgotten before the next.
        ways = [each for each in attempts(told) if each]
        assert ways[-1] == whole[1], after
        assert len(streamed) == len(attempts(told)) or not told[0], after
        if len(streamed) == 1:
            break
    assert after > 3


class Short(Fault):
    """The reply has come to its bound in the middle of a call's arguments, and says so."""

    def pieces(self, exchange: Any, pieces: Any) -> Any:
        parts = [
            p
            for p in pieces
            if b"partial_json" in p or (b'"arguments": "' in p and b'"name"' not in p)
        ]
        for piece in pieces:
            if piece not in parts[1:]:
                yield piece.replace(b'"tool_calls"}]', b'"length"}]').replace(
                    b'"stop_reason": "tool_use"', b'"stop_reason": "max_tokens"'
                )


async def test_half_of_a_call_is_none(wire: str) -> None:
    reply, _, streamed = await heard(wire, Short(), said=CALLS)
    assert len(streamed) == 1
    assert reply.tool_calls == []
    (broken,) = reply.invalid_tool_calls
    assert (broken["name"], broken["args"], broken["id"]) == ("go_to", '{"place": "a', "1")
    again = [*ASKED, reply, ToolMessage("no JSON", tool_call_id="1"), HumanMessage("well?")]
    with ModelServer([SAID]) as server:
        assert (await acall(client(wire, server), again, policy=HASTY)).text == SAID


async def test_calls_of_several_kinds_stay_what_they_are(wire: str) -> None:
    calls = [
        {"name": "look", "args": {}, "id": "1"},
        {"name": "go_to", "args": {"place": 'the "red" room, the long way'}, "id": "2"},
        {"name": "stop", "args": {}, "id": "3"},
    ]
    reply, _, _ = await heard(wire, said=AIMessage("", tool_calls=calls))
    assert [(c["name"], c["args"], c["id"]) for c in reply.tool_calls] == [
        (c["name"], c["args"], c["id"]) for c in calls
    ]


async def test_a_stall_is_forgotten_and_tried_again(wire: str) -> None:
    hasty = RetryPolicy(first_wait=0.01, longest_wait=0.02, attempt_timeout=0.5)
    reply, told, _ = await heard(wire, Stall(30), policy=hasty)
    assert reply.text == SAID
    first, second = attempts(told)
    assert 0 < len(first) < len(second)
    assert second[-1] == SAID


async def test_what_fails_for_good_leaves_no_words(wire: str) -> None:
    told: list[str] = []
    faults = [Cut(politely=True)] * 3
    once = RetryPolicy(attempts=3, first_wait=0.01, longest_wait=0.02)
    with ModelServer(lambda _: SAID, faults=faults) as server, call_settings(on_words=told.append):
        with pytest.raises(ModelError, match="the stream ended before"):
            await acall(client(wire, server), ASKED, policy=once)
        assert len(server.calls) == 3
    assert told[-1] == ""


class Streams(BaseCallbackHandler, _StreamingCallbackHandler[Any]):
    """Wants pieces, as LangGraph's mode ``messages`` does, and is none of ours."""

    def tap_output_aiter(self, run_id: Any, output: Any) -> Any:
        return output

    tap_output_iter = tap_output_aiter


async def test_who_else_has_it_streamed_gets_no_half_reply_either(wire: str) -> None:
    with ModelServer([SAID] * 2, faults=[Cut(politely=True)]) as server:
        model = client(wire, server).with_config(callbacks=[Streams()])
        reply = await acall(model, ASKED, policy=HASTY)
        assert [bool(each.body.get("stream")) for each in server.calls] == [True, True]
    assert reply.text == SAID


async def test_a_server_that_cannot_stream_is_asked_for_the_whole() -> None:
    body = OpenAIWire().reply({"model": "m", "messages": []}, AIMessage(SAID), 0)
    reply, told, streamed = await heard("openai", Garble(json.dumps(body).encode()))
    assert (reply.text, told, streamed) == (SAID, [], [True, False])


class Uncounted(Fault):
    """Some servers count no tokens of what they stream."""

    def pieces(self, exchange: Any, pieces: Any) -> Any:
        yield from (piece for piece in pieces if b'"usage"' not in piece)


async def test_a_server_that_does_not_count_its_streams_is_asked_for_the_whole() -> None:
    told: list[str] = []
    with ModelServer([SAID] * 3, faults=[Uncounted()]) as server:
        model = client("openai", server)
        with call_settings(on_words=told.append):
            replies = [await acall(model, ASKED, policy=HASTY) for _ in range(3)]
        assert [bool(each.body.get("stream")) for each in server.calls] == [True, False, False]
    assert [each.text for each in replies] == [SAID] * 3
    assert [reply_usage(each)["output_tokens"] > 0 for each in replies] == [False, True, True]
    assert told[-1] == SAID


class Endless(Fault):
    """Some servers do not say why a reply ended."""

    def reply(self, reply: dict[str, Any]) -> dict[str, Any]:
        choices = [{**each, "finish_reason": None} for each in reply.get("choices", [])]
        return {**reply, "choices": choices} if choices else {**reply, "stop_reason": None}


async def test_a_whole_reply_needs_no_reason_for_its_end(wire: str) -> None:
    with ModelServer([SAID], faults=[Endless()]) as server:
        reply = await acall(client(wire, server), ASKED, policy=HASTY)
        assert len(server.calls) == 1
    assert reply.text == SAID


async def test_a_listener_that_fails_does_not_matter(wire: str) -> None:
    def fail(_: str) -> None:
        raise RuntimeError("no display")

    faults = [Status(500), Cut(politely=True)]
    with ModelServer([SAID] * 2, faults=faults) as server, call_settings(on_words=fail):
        reply = await acall(client(wire, server), ASKED, policy=HASTY)
    assert reply.text == SAID
