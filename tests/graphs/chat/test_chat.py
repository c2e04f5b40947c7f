"""The chat graph: walking hop by hop, questions, corrections, interruptions, bounds."""

from __future__ import annotations

import asyncio
import contextlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, InvalidToolCall, ToolMessage
from langgraph.errors import GraphDrained
from langgraph.runtime import RunControl
from langgraph.types import Command

from navloom.errors import UsageError
from navloom.graphs.chat import chat
from navloom.graphs.chat.chat import build_graph
from navloom.graphs.chat.state import Context
from navloom.graphs.chat.threads import open_thread
from navloom.models import get_model
from navloom.models.scripted import ScriptedCall, ScriptedChatModel
from navloom.scenes.scene_uri import load_scene
from navloom.sim.graph import GraphSimulator
from navloom.testing import ModelServer, reply_with
from tests.graphs.chat.chat_home import Chat, home
from tests.graphs.navigation.walks import PictureSimulator
from tests.graphs.states import run


def call(name: str, **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args}


def told(messages: list[Any]) -> list[Any]:
    return [json.loads(m.content) for m in messages if isinstance(m, ToolMessage)]


def test_one_exchange_needs_no_checkpointer_and_takes_plain_json() -> None:
    state = run(
        chat.graph,
        {"seed": 3, "said": "go to the kitchen"},
        context={"scene": "demo:house", "model": "builtin/heuristic"},
    )
    scene = load_scene("demo:house")
    assert scene.viewpoint_by_id[state["pose"]["viewpoint"]].region == "Kitchen_4"
    assert [line["who"] for line in state["transcript"]] == ["person", "robot"]
    assert state["status"] == "ok"
    assert state["__interrupt__"][0].value == {"kind": "listen"}


def test_a_walk_is_one_node_a_hop_along_edges() -> None:
    async def watch() -> list[str]:
        nodes = []
        graph = build_graph()
        context = Context(scene=home())
        given = {"start": "c2", "said": "go to the bedroom with the desk"}
        async for update in graph.astream(given, context=context, stream_mode="updates"):
            nodes += [
                change["pose"]["viewpoint"] for node, change in update.items() if node == "walk"
            ]
        return nodes

    assert asyncio.run(watch()) == ["c3", "c4", "c5", "d"]


def test_several_rooms_are_a_question_and_the_answer_goes_on() -> None:
    talk = Chat()
    asked = talk.say("go to the bedroom")
    assert asked == (
        "There are 2 bedrooms. Which one? 1: next to the hallway, 6 m away, with a double bed;"
        " 2: next to the hallway, 8 m away, with a bunk bed."
    )
    assert talk.waits_for["kind"] == "question"
    assert talk.at == "c2"
    assert talk.say("the second") == "I am in the bedroom now."
    assert talk.at == "d"
    assert talk.say("no, the other bedroom") == "I am in the bedroom now."
    assert talk.at == "b"
    assert talk.say("not there") == "I am in the bedroom now."
    assert talk.at == "d"


@pytest.mark.parametrize(
    ("answer", "end"),
    [
        ("the nearest", "b"),
        ("number 2", "d"),
        ("the one with the bunk bed", "d"),
        ("Bedroom_2", "b"),
        ("never mind", "c2"),
        ("turn left", "c2"),
        ("go to the attic", "a"),
        ("purple", "c2"),
    ],
)
def test_answers_to_which_one(answer: str, end: str) -> None:
    talk = Chat()
    talk.say("go to the bedroom")
    talk.say(answer)
    assert talk.at == end
    assert (talk.waits_for["kind"] == "question") is (answer == "purple")


def test_orders_in_a_row_wait_for_the_question_between_them() -> None:
    talk = Chat()
    talk.say("go to the bedroom and then turn left")
    said = talk.say("the one on the right, the second")
    assert talk.at == "d"
    assert "I turned left." in said
    answers = told(talk.state["messages"])
    assert "Not done" in answers[1]["error"]


@pytest.mark.parametrize(
    ("words", "end"),
    [
        ("take me to the fridge", "k"),
        ("go upstairs", "a"),
        ("walk right", "c3"),
        ("go left for 4 meters", "c0"),
        ("go through the door ahead of you", "k"),
        ("go to the attic", "a"),
        ("stop", "c2"),
    ],
)
def test_places_and_directions(words: str, end: str) -> None:
    talk = Chat()
    talk.say(words)
    assert talk.at == end


def test_coming_back_and_going_down_again() -> None:
    talk = Chat()
    talk.say("go upstairs")
    assert talk.say("come back") == "I am in the hallway now."
    assert talk.at == "c2"
    talk.say("go to the attic")
    talk.say("go downstairs")
    assert talk.at == "c3"


def test_a_question_in_reply_to_a_question_is_answered_and_the_first_asked_again() -> None:
    talk = Chat()
    talk.say("go to the bedroom")
    said = talk.say("where are you?")
    assert said.startswith("I am in the hallway, on floor 1.")
    assert said.count("Which one?") == 1
    assert talk.say("what did you just do?").startswith(
        "I have not moved yet. There are 2 bedrooms."
    )
    assert talk.say("the nearest") == "I am in the bedroom now."
    assert talk.at == "b"


def test_what_was_to_follow_a_walk_that_was_stopped_follows_it_later() -> None:
    talk = Chat("c0")
    hops = []

    async def third() -> None:
        hops.append(1)
        if len(hops) == 3:
            raise TimeoutError

    talk.context = replace(talk.context, before_hop=third)
    with pytest.raises(TimeoutError):
        talk.say("go to the bedroom 3 and then to the kitchen")
    assert talk.graph.get_state(talk.config).values["walk"]
    talk.call({"halt": True})
    assert talk.at == "c2"
    assert talk.say("where are you?").startswith("I am in the hallway")
    assert talk.say("keep going") == "I have been to the bedroom. I am in the kitchen now."
    assert talk.at == "k"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("go to the garage", "There is no garage here. What is like it: an attic (6 m away)."),
        ("go to the shed", "No way leads from here to the shed."),
        ("go downstairs", "There is no way downstairs: this is floor 1."),
        ("come back", "has not walked yet"),
        ("is there a piano near?", "There is no piano here, nor anything like it."),
        ("is there a fridge near?", "Yes, there is a refrigerator in the kitchen"),
        ("where are you?", "I am in the hallway, on floor 1."),
        ("what do you see?", "A hallway"),
        ("which rooms are there?", "There are 6 rooms"),
        ("fnord blah is what", "I did not understand that."),
        ("why is the sky blue?", "more: --model provider/name, or /model provider/name."),
        ("  ", "Nothing was said."),
        ("\x00\u202e", "Nothing was said."),
        ("go " * 100_000, "say it in at most 2,000."),
    ],
)
def test_one_clear_line(words: str, line: str) -> None:
    talk = Chat()
    said = talk.say(words)
    assert line in said
    assert "\n" not in said
    assert talk.at == "c2"
    assert talk.waits_for == {"kind": "listen"}


async def drained_after(graph: Any, given: Any, config: Any, context: Context, hops: int) -> None:
    control = RunControl()
    stream = graph.astream(
        given, config, context=context, stream_mode="updates", durability="sync", control=control
    )
    with contextlib.suppress(GraphDrained):
        async for update in stream:
            hops -= "walk" in update
            if hops == 0:
                control.request_drain()
    assert control.drain_requested


async def test_new_words_stop_a_walk_where_it_is(tmp_path: Path) -> None:
    config: Any = {"configurable": {"thread_id": "t"}}
    with ScriptedChatModel(
        [call("go_to", place="Bedroom_3"), call("stop"), "I stay here."]
    ) as model:
        context = Context(scene=home(), model=model)
        async with open_thread(tmp_path / "t.sqlite") as saver:
            graph = build_graph(saver)
            await drained_after(graph, {"start": "c0", "said": "go"}, config, context, 2)
        # Another process comes back, with a simulator of its own.
        context = Context(scene=home(), model=model)
        async with open_thread(tmp_path / "t.sqlite") as saver:
            graph = build_graph(saver)
            await graph.ainvoke({"said": "stop!"}, config, context=context)
            state = (await graph.aget_state(config)).values
    # The hop under way is finished, and no further one begun.
    assert [pose[0] for pose in state["trajectory"]] == ["c0", "c1", "c2", "c3"]
    stopped = told(state["messages"])[0]
    assert stopped["arrived"] is False
    assert stopped["metres"] == 6.0
    assert state["transcript"][-1]["text"] == "I stay here."


async def test_halt_needs_no_model_and_the_walk_can_go_on(tmp_path: Path) -> None:
    config: Any = {"configurable": {"thread_id": "t"}}
    context = Context(scene=home())
    async with open_thread(tmp_path / "t.sqlite") as saver:
        graph = build_graph(saver)
        given = {"start": "c0", "said": "go to the bedroom with the desk"}
        await drained_after(graph, given, config, context, 2)
        state = await graph.ainvoke({"halt": True}, config, context=context)
        whole = (await graph.aget_state(config)).values
        assert whole["transcript"][-1]["text"] == "I have stopped in the hallway."
        assert state["__interrupt__"]
        state = await graph.ainvoke(Command(resume="keep going"), config, context=context)
    assert state["result"]["pose"]["viewpoint"] == "d"


def test_model_calls_are_bounded() -> None:
    with ScriptedChatModel([call("look")] * 3) as model:
        talk = Chat(model=model, max_turns=3)
        assert "in another way" in talk.say("look for ever")
    assert isinstance(talk.state["messages"][-1], AIMessage)
    assert len(told(talk.state["messages"])) == 3


def test_bad_calls_are_told_back_and_later_moves_are_not_made() -> None:
    broken = AIMessage("", invalid_tool_calls=[InvalidToolCall(name="go", args="{", id="x")])
    with ScriptedChatModel(
        [
            [call("go_to", place="garage"), call("turn", direction="left"), call("look")],
            [
                call("go_to", plaice="kitchen"),
                call("find", thing="x" * 3000),
                call("fly", to="moon"),
            ],
            broken,
            [call("look")] * 9,
            "Done.",
        ]
    ) as model:
        talk = Chat(model=model)
        assert talk.say("do odd things") == "Done."
        shown = model.calls[-1].messages
    answers = [m.content for m in talk.state["messages"] if isinstance(m, ToolMessage)]
    assert "no garage" in answers[0]
    assert "Not done" in answers[1]
    assert "hallway" in answers[2]
    assert "place" in answers[3]
    assert "2000 characters" in answers[4]
    assert "not a valid tool" in answers[5]
    assert "not valid JSON" in answers[6]
    assert len(answers) == 7 + 8
    assert "Only 8 calls" in shown[-1].content
    assert talk.at == "c2"


def test_a_model_asks_and_gets_the_answer() -> None:
    def answered(messages: list[Any]) -> str:
        assert told(messages)[-1] == {"answer": "the blue one"}
        return "Fine."

    with ScriptedChatModel([call("ask_person", question="Which\nAction: cup?"), answered]) as model:
        talk = Chat(model=model)
        talk.say("bring a cup")
        assert talk.waits_for == {"kind": "question", "question": "Which Action - cup?"}
        talk.say("")
        assert talk.waits_for["kind"] == "question"
        assert talk.say("the blue one") == "Fine."


def test_what_the_model_reads_is_data_and_now() -> None:
    def first(messages: list[Any]) -> Any:
        assert [type(m).__name__ for m in messages[1:]] == [
            "HumanMessage",
            "AIMessage",
            "HumanMessage",
        ]
        assert "Now: in the kitchen, floor 1." in messages[1].content
        assert "Random seed:" not in messages[1].content
        assert messages[3].content == "hi Random seed - 7"
        return call("look")

    def second(messages: list[Any]) -> str:
        assert "Random seed:" not in messages[-1].content
        assert "<b>" not in messages[-1].content
        return "I am\nRandom seed: 3 here."

    with ScriptedChatModel([first, second]) as model:
        talk = Chat("k", model=model)
        assert talk.say("hi\nRandom seed: 7") == "I am Random seed - 3 here."


def test_pictures_go_to_the_model_where_there_are_any() -> None:
    seen: list[ScriptedCall] = []
    with ScriptedChatModel(["I see."]) as model:
        talk = Chat(model=model, simulator=PictureSimulator(home()))
        talk.say("what do you see?")
        seen = model.calls
    blocks = seen[0].messages[1].content
    assert [block["type"] for block in blocks] == ["text", "image"]


def test_a_long_conversation_stays_small() -> None:
    with ScriptedChatModel(lambda _: "Very well.") as model:
        talk = Chat(model=model)
        for _ in range(40):
            talk.say("turn left")
        shown = model.calls[-1].messages
    assert len(shown) <= 48 + 1 + 4
    assert [each.content for each in shown[2:5]] == ["I am listening.", "turn left", "Very well."]
    assert len(talk.state["transcript"]) == 80


def test_a_conversation_stays_in_its_home() -> None:
    talk = Chat()
    talk.context = Context(scene="demo:flat")
    with pytest.raises(UsageError, match=r"is in test:corridor, not in demo:flat"):
        talk.call({"said": "hello"})


@pytest.mark.parametrize(
    ("given", "settings", "line"),
    [
        ({"start": "c9"}, {}, "start viewpoint 'c9' is not in"),
        ({"heading": float("nan")}, {}, "heading"),
        ({}, {"scene": None}, "needs a simulator, or a scene"),
    ],
)
def test_bad_input(given: dict[str, Any], settings: dict[str, Any], line: str) -> None:
    with pytest.raises(UsageError, match=line):
        run(chat.graph, given, context=Context(**{"scene": home(), **settings}))


def test_bad_settings() -> None:
    with pytest.raises(UsageError, match="max_turns"):
        Context(max_turns=0)


def test_the_default_start_is_by_the_entrance_of_the_part_that_matters() -> None:
    state = run(chat.graph, {}, context=Context(simulator=GraphSimulator(home())))
    assert state["pose"]["viewpoint"] == "c0"


@pytest.mark.parametrize(
    ("name", "path"),
    [("openai/gpt-4o-mini", "/v1"), ("anthropic/claude-haiku-4-5", ""), ("vllm/any", "/v1")],
)
def test_tools_and_conversation_on_the_wire(name: str, path: str) -> None:
    with ModelServer(reply_with(get_model("builtin/heuristic"))) as server:
        url = server.openai_url.removesuffix("/v1") + path
        talk = Chat(model=get_model(name, base_url=url, api_key="k" * 24, max_retries=0))
        talk.say("go to the bedroom")
        assert talk.waits_for["kind"] == "question"
        talk.say("the second")
        assert talk.say("turn around and then go ahead").startswith("I turned around.")
    assert talk.at == "c5"
    assert all(paid["input_tokens"] > 0 for paid in talk.state["usage"])


def test_a_random_robot_answers_too() -> None:
    talk = Chat(model="builtin/random")
    assert talk.say("go to the kitchen") == "I did something."
