"""Words as they come and tool calls, as a display of the chat is told of them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from navloom.graphs.chat.chat_driver import ChatDisplay, ChatDriver
from navloom.graphs.chat.state import Context
from navloom.graphs.chat.threads import open_thread
from navloom.models.model_call import call_settings
from navloom.models.model_registry import get_model
from navloom.models.usage import Budget, UsageLimits
from navloom.sim.graph import GraphSimulator
from navloom.testing import Cut, Fault, ModelServer, Stall
from tests.graphs.chat.chat_home import home

GO = AIMessage(
    "Let me go there.", tool_calls=[{"name": "go_to", "args": {"place": "kitchen"}, "id": "c"}]
)
SAID = "I am in the kitchen now. There is a fridge, and a long table by the window."


class Shown(ChatDisplay):
    """All that a display is told, in order."""

    def __init__(self) -> None:
        self.told: list[tuple[str, Any]] = []

    def said(self, who: str, text: str) -> None:
        self.told.append((who, text))

    def moved(self, pose: Mapping[str, Any]) -> None:
        self.told.append(("moved", pose["viewpoint"]))

    def writing(self, text: str) -> None:
        self.told.append(("writing", text))

    def called(self, call: Mapping[str, Any]) -> None:
        self.told.append(("called", dict(call)))

    def of(self, kind: str) -> list[Any]:
        return [told for each, told in self.told if each == kind]


async def talked(
    wire: str, replies: list[Any], *faults: Fault | None, words: str = "go to the kitchen"
) -> tuple[ChatDriver, Shown, int]:
    shown = Shown()
    with ModelServer(replies, faults=faults) as server:
        base = server.url if wire == "anthropic" else server.openai_url
        model = get_model(f"{wire}/gpt-4o", base_url=base, api_key="test")
        async with open_thread(None) as saver:
            context = Context(simulator=GraphSimulator(home()), model=model)
            talk = ChatDriver(context, saver, shown)
            await talk.open(start="c0")
            await talk.hear(words)
            await talk.close()
        return talk, shown, len(server.calls)


@pytest.mark.slow
@pytest.mark.parametrize("wire", ["openai", "anthropic"])
@pytest.mark.parametrize("fault", [None, Cut(), Cut(politely=True), Stall(30)])
async def test_no_half_reply_and_no_word_twice(wire: str, fault: Fault | None) -> None:
    said = [GO, *([SAID] * 2 if fault else [SAID])]
    with call_settings(attempt_timeout=1.0):
        talk, shown, calls = await talked(wire, said, None, fault)
    assert calls == len(said)
    assert shown.of("robot") == [SAID]
    assert [line["text"] for line in talk.transcript] == ["go to the kitchen", SAID]
    writing = shown.of("writing")
    # Of two attempts at the second reply the first is forgotten before the other begins.
    assert writing.count("") == (3 if fault else 2)
    for before, now in pairwise(writing):
        assert not before or not now or now.startswith(before)
    for text in filter(None, writing):
        assert f"{SAID} ".startswith(f"{text} ") or f"{GO.text} ".startswith(f"{text} ")
    # What was written is forgotten in the very moment in which it stands there whole.
    assert shown.told[-2:] == [("writing", ""), ("robot", SAID)]


async def test_calls_are_told_with_their_answers_once_they_are_there() -> None:
    talk, shown, _ = await talked("openai", [GO, SAID])
    asked, answered = shown.of("called")
    call = {"id": 0, "turn": 1, "name": "go_to", "args": {"place": "kitchen"}}
    assert asked == {**call, "answer": None}
    assert answered["answer"]["arrived"] is True
    assert answered == {**call, "answer": answered["answer"]}
    places = [i for i, (kind, _) in enumerate(shown.told) if kind == "called"]
    walked = shown.told[places[0] : places[1]]
    assert [told for kind, told in walked if kind == "moved"][-1] == "k"
    assert talk.calls == [answered]
    assert ("writing", "") in shown.told[: places[0]]


async def test_a_call_that_cannot_be_read_is_told_too() -> None:
    broken = {"name": "go_to", "args": '{"place": "kit', "id": "c", "error": ""}
    _, shown, _ = await talked("openai", [AIMessage("", invalid_tool_calls=[broken]), SAID])
    asked, answered = shown.of("called")
    assert (asked["args"], asked["answer"]) == ('{"place": "kit', None)
    assert "not valid JSON" in answered["answer"]["error"]


async def test_a_key_is_not_shown_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    key = "sk-quince-and-zebra-000111222"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    _, shown, _ = await talked("openai", [f"Your key is {key} and I am in the hall, it is said."])
    writing = shown.of("writing")
    assert any("OPENAI_API_KEY" in text for text in writing)
    assert not any("sk-q" in text for text in writing)


async def test_words_that_were_broken_off_are_forgotten() -> None:
    shown = Shown()
    with ModelServer([SAID], faults=[Stall(30)]) as server:
        model = get_model("openai/gpt-4o", base_url=server.openai_url, api_key="test")
        async with open_thread(None) as saver:
            talk = ChatDriver(Context(simulator=GraphSimulator(home()), model=model), saver, shown)
            await talk.open(start="c0")
            hearing = asyncio.create_task(talk.hear("hello"))
            async with asyncio.timeout(20):
                while not any(shown.of("writing")):
                    await asyncio.sleep(0.01)
            talk.stop_current()
            await hearing
            assert shown.of("writing")[-1] == ""
            assert [line["who"] for line in talk.transcript] == ["person"]
            await talk.close()


async def test_what_is_streamed_counts_against_the_limits() -> None:
    budget = Budget(UsageLimits(token_limit=100_000))
    with call_settings(gate=budget):
        talk, _, _ = await talked("openai", [GO, SAID])
    assert talk.tokens > 1_000
    assert sum(each["output_tokens"] for each in talk.state["usage"]) > 20
    assert all(each["cost_usd"] for each in talk.state["usage"])
