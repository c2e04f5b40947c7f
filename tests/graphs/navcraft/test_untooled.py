"""Whole answers without tools: nothing may be called, and the same rules hold."""

from __future__ import annotations

from typing import Any

import pytest

from navloom.errors import UsageError
from navloom.evals.navcraft.request import SynthRequest
from navloom.graphs.navcraft import collab as navcraft_collab
from navloom.graphs.navcraft import single as navcraft_single
from navloom.models.scripted import ScriptedChatModel
from tests.graphs.navcraft.errands import CHECK_RELAY, phase_1, phase_2
from tests.graphs.states import run
from tests.tools.navcraft.worlds import row_house


def lift(script: list[Any], **context: Any) -> tuple[dict[str, Any], ScriptedChatModel]:
    with ScriptedChatModel(script) as model:
        given = {"scene": row_house(), "tools": "none", **context}
        end = run(
            navcraft_collab.graph,
            {"seed": 7, "phase_1": phase_1()["phase_1"], "wish": {"type": "Type-A2"}},
            context=navcraft_collab.Context(model=model, **given),
        )
    return end, model


def test_an_errand_is_taken_without_a_call() -> None:
    with ScriptedChatModel([phase_1()]) as model:
        context = navcraft_single.Context(scene=row_house(), model=model, tools="none")
        end = run(navcraft_single.graph, {"seed": 7}, context=context)
    assert end["status"] == "ok"
    assert model.calls[0].tools == []
    assert "check_" not in model.calls[0].messages[0].content
    record = end["result"]["navloom"]
    assert (record["tool_confirmed"], record["tool_calls"]) == (False, 0)
    assert record["prompt"]["name"] == "navcraft_single_untooled"


def test_a_relay_is_taken_without_a_call() -> None:
    end, model = lift([phase_2()])
    assert (end["status"], end["result"]["verdict"]) == ("ok", "relay")
    assert model.calls[0].tools == []
    assert "check_" not in model.calls[0].messages[0].content
    assert end["result"]["navloom"]["prompt_collab"]["name"] == "navcraft_collab_untooled"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"Transfer region": "Study_4"}, "not_efficient"),
        ({"Collaborative type": "Type-A1"}, "wrong_instruction"),
        ({"Transfer region": "Hall_2"}, "not_efficient"),
        ({"Subtask instruction": {"robot_1": "Go.", "robot_2": "Go."}}, "wrong_instruction"),
        ({"Subtask list": {"robot_1": [], "robot_2": []}}, "wrong_subtasks"),
        ({"Collaborative type": "Type-B"}, "wrong_form"),
    ],
)
def test_what_the_tool_would_have_refused_is_told_back(changes: dict[str, Any], code: str) -> None:
    end, model = lift([phase_2(**changes), phase_2()])
    assert end["status"] == "ok"
    assert code in end["violations"]
    assert "breaks these rules" in model.calls[1].messages[-1].content


def test_a_call_all_the_same_is_told_that_there_is_none() -> None:
    end, _ = lift([CHECK_RELAY, phase_2()])
    assert end["status"] == "ok"
    assert "not a valid tool" in end["messages"][1].content


def test_a_model_may_find_no_relay_worth_it() -> None:
    end, _ = lift([{"phase_2": None}])
    assert end["result"]["verdict"] == navcraft_collab.NOT_WORTH_IT
    assert end["result"]["navloom"]["decided_by"] == "model"


def test_small_choices_have_no_tools_to_leave_out() -> None:
    with pytest.raises(UsageError, match="--tools none goes without --compact"):
        SynthRequest(kind="collab", spec="demo:", tools="none", compact=True)


def test_a_run_with_tools_is_recorded_as_before_they_could_be_left_out() -> None:
    asked = SynthRequest(kind="collab", spec="demo:").record()
    assert "tools" not in asked
    left_out = SynthRequest(kind="collab", spec="demo:", tools="none").record()
    assert left_out["tools"] == "none"
    assert [each["name"] for each in left_out["prompts"]] == [
        "navcraft_single_untooled",
        "navcraft_collab_untooled",
    ]
