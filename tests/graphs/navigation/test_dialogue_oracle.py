"""The dialogue oracle: one question a call, a budget, and nothing given away."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from navloom.errors import UsageError
from navloom.graphs.invoke import run
from navloom.graphs.navigation import dialogue_oracle
from navloom.graphs.navigation.dialogue_oracle import Context, build_graph
from navloom.models.answer import message_text
from navloom.models.scripted import ScriptedChatModel
from navloom.tools.navigation.leaks import WITHHELD
from tests.tools.navcraft.rooms_in_a_row import CORNER, SINK, home

QUESTION = "Where is the sink?"
ANSWER = "To your right, in the kitchen."
GIVEN = {"seed": 2, "question": QUESTION, "viewpoint": CORNER, "goals": [SINK]}


def answered(model: Any, **changes: Any) -> dict[str, Any]:
    state: dict[str, Any] = run(
        dialogue_oracle.graph, {**GIVEN, **changes}, context=Context(scene=home(), model=model)
    )
    return state


def test_a_question_is_answered_from_the_facts() -> None:
    with ScriptedChatModel([ANSWER]) as model:
        state = answered(model)
    text = message_text(model.calls[0].messages[1].content)
    assert f"Question: {json.dumps(QUESTION)}" in text
    assert "Asked because: question - it asks" in text
    assert '"direction": "Right"' in text
    result = state["result"]
    assert state["status"] == "ok"
    assert (result["question"], result["answer"]) == (QUESTION, ANSWER)
    assert (result["turns"], result["leaks"]) == (1, 0)
    assert result["prompt"]["name"] == "dialogue_oracle"


def test_without_a_goal_the_place_alone_is_known() -> None:
    with ScriptedChatModel(["You are in the hallway."]) as model:
        state = answered(model, goals=[])
    facts = state["result"]["facts"]
    assert (facts["here"], facts["direction"], facts["reachable"]) == ("hallway", None, False)


@pytest.mark.parametrize("question", ["", " \n\u200b "])
def test_a_question_without_words_costs_no_call(question: str) -> None:
    with ScriptedChatModel([]) as model:
        state = answered(model, question=question)
    assert (state["status"], state["reason"], state["result"]["turns"]) == (
        "failed",
        "no_question",
        0,
    )


def test_a_leaked_answer_is_recorded() -> None:
    with ScriptedChatModel(["node_3", "node_3 it is"]) as model:
        state = answered(model)
    assert state["result"]["answer"] == f"{WITHHELD} it is"
    assert (state["result"]["leaked"], state["result"]["leaks"]) == (True, 1)
    assert state["dialogue"][0]["leaked"] is True


def test_a_thread_remembers_what_was_said_and_how_often() -> None:
    graph = build_graph(InMemorySaver())
    config = {"configurable": {"thread_id": "one"}}
    with ScriptedChatModel([ANSWER, "Still right.", ""]) as model:
        context = Context(scene=home(), model=model, max_questions=2)
        for number in (1, 2):
            state = run(graph, GIVEN, context=context, config=config)
            assert (state["status"], state["result"]["turns"]) == ("ok", number)
        # Nobody is asked any more.
        state = run(graph, GIVEN, context=context, config=config)
        assert (state["status"], state["reason"]) == ("failed", "no_turns_left")
        assert (state["result"]["turns"], state["result"]["answer"]) == (2, None)
        text = message_text(model.calls[1].messages[1].content)
        assert f'Earlier: [{{"question": "{QUESTION}", "answer": "{ANSWER}"}}]' in text
        model._replies.pop()


def test_the_viewpoint_is_needed() -> None:
    with pytest.raises(UsageError, match="needs the viewpoint"):
        answered(ScriptedChatModel([]), viewpoint="")


def test_plain_json_and_the_baseline() -> None:
    state = run(
        dialogue_oracle.graph,
        {"question": "Which way is the bathroom?", "viewpoint": "1_0", "goals": ["5_0"]},
        context={"scene": "demo:flat", "model": "builtin/heuristic"},
    )
    assert state["status"] == "ok"
    assert state["result"]["answer"]
    assert state["result"]["faults"] == []
    json.dumps(state["result"])
