"""Errand and relay in one answer: what the agent is told, what is sent back, what is kept."""

from __future__ import annotations

import json
from typing import Any

import pytest

from navloom.errors import UsageError
from navloom.graphs.navcraft import direct as navcraft_direct
from navloom.graphs.navcraft.direct import Context
from navloom.models.scripted import ScriptedChatModel
from tests.graphs.navcraft.errands import RELAY
from tests.graphs.states import run
from tests.tools.navcraft.direct_answers import ALONE, lists, long_house, v1, v2

ASKED = {
    **{"start_region": "Attic_6", "target_region": "Study_4", "object": "cup"},
    **{"end_region": "Hall_2", "end_asset": "kitchen_counter", **RELAY},
}
CHECK = {"name": "check_collab_path_efficient", "args": ASKED}


def craft(
    script: list[Any], variant: str = "v1", **context: Any
) -> tuple[dict[str, Any], ScriptedChatModel]:
    with ScriptedChatModel(script) as model:
        given = {"scene": long_house(), "variant": variant, **context}
        end = run(navcraft_direct.graph, {"seed": 7}, context=Context(model=model, **given))
    return end, model


def test_one_call_of_version_1_is_a_task_of_two_robots() -> None:
    end, model = craft([v1()])
    assert (end["status"], end["reason"]) == ("ok", None)
    assert len(model.calls) == len(end["usage"]) == 1
    assert model.calls[0].tools == []
    system, human = (message.content for message in model.calls[0].messages[:2])
    assert '"Robots position"' in system
    assert "1 to 2 different regions" in system
    assert "4 to 6 subtasks" in system
    assert '"Study_4"' in human
    assert "Random seed: 7" in human
    kept = end["result"]["navloom"]
    assert end["result"]["answer"] == v1()
    assert (kept["valid"], kept["variant"], kept["broken"]) == (True, "v1", [])
    assert (kept["turns"], kept["tool_calls"]) == (1, 0)
    assert kept["prompt"]["name"] == "navcraft_direct_v1"


def test_version_2_keeps_its_rules_and_need_not_be_valid() -> None:
    end, model = craft([v2()], "v2")
    assert end["status"] == "ok"
    system = model.calls[0].messages[0].content
    assert '"Robot travel path"' in system
    assert "check_" not in system
    # robot_1 starts next to the book, as version 2 wants it and A.10 does not.
    kept = end["result"]["navloom"]
    assert (kept["valid"], kept["invalid_because"]) == (False, ["leg_too_short"])


def test_version_2_with_tools_may_ask_before_it_answers() -> None:
    paths = {
        "name": "check_two_path_and_adjacency",
        "args": {"start_region": "Attic_6", "target_region": "Study_4", "end_region": "Hall_2"},
    }
    end, model = craft([paths, CHECK, v2()], "v2", tools="check")
    assert end["status"] == "ok"
    assert "check_collab_path_efficient" in model.calls[0].messages[0].content
    names = [tool["function"]["name"] for tool in model.calls[0].tools]
    assert names == ["check_two_path_and_adjacency", "check_collab_path_efficient"]
    fields = model.calls[0].tools[1]["function"]["parameters"]["properties"]
    assert set(fields) == set(ASKED)
    assert "Attic_6" in fields["start_region"]["enum"]
    answers = [json.loads(m.content) for m in end["messages"] if m.type == "tool"]
    assert answers[0]["valid"] is True
    assert answers[1]["efficient"] is True
    assert end["result"]["navloom"]["tool_calls"] == 2


def test_names_are_free_where_nothing_constrains_them() -> None:
    _, model = craft([v2()], "v2", tools="check", constrain=False)
    fields = model.calls[0].tools[1]["function"]["parameters"]["properties"]
    assert "enum" not in fields["start_region"]


def test_a_failing_call_that_comes_again_hears_what_is_left() -> None:
    near = {**CHECK, "args": {**ASKED, "robot_2_start_region": "Pantry_5"}}
    end, _ = craft([near, near, near], "v2", tools="check")
    assert (end["status"], end["reason"]) == ("failed", "repeated_call")
    first, second, _ = (m.content for m in end["messages"] if m.type == "tool")
    assert json.loads(first)["efficient"] is False
    assert "robot_2_start_region not tried" in second


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("I would rather not.", "not_json"),
        ({"phase_1": {}}, "wrong_form"),
        (v2(), "wrong_form"),
        (v1(**{"Robots position": {"robot_1": "Cave_9", "robot_2": "Hall_2"}}), "unknown_region"),
        (v1(**lists(ALONE, [])), "no_handover"),
    ],
)
def test_what_breaks_the_prompt_is_told_and_then_given_up(answer: Any, code: str) -> None:
    end, model = craft([answer, answer], max_reasks=1)
    assert (end["status"], end["reason"]) == ("failed", code)
    assert model.calls[1].messages[-1].content.startswith("Your answer breaks these rules:\n- ")


def test_an_answer_is_mended() -> None:
    end, _ = craft([v1(**{"Transfer position": ["Pantry_5"]}), v1()])
    assert end["status"] == "ok"
    assert end["result"]["navloom"]["violations_mended"] == ["transfer_unlike"]


def test_the_last_answer_that_was_read_is_kept_where_it_failed() -> None:
    end, _ = craft([v1(**lists(ALONE, [])), "No."], max_reasks=1)
    assert (end["status"], end["reason"]) == ("failed", "not_json")
    kept = end["result"]["navloom"]
    assert kept["no_handover"] is True
    assert kept["work"]["lesser_share"] == 0
    assert kept["broken"] == ["no_handover"]


def test_more_regions_than_asked_for_and_no_gain_are_not_sent_back() -> None:
    # robot_2 walks to the cup and back for a handoff that spares robot_1 nothing.
    odd = v1(
        **lists(
            ["Move_to('coffee_table_3')", "Grab('cup')", "Move_to('kitchen_counter_2')",
             "Release('cup')"],
            ["Move_to('cup_4')", "Grab('cup')", "Move_to('coffee_table_3')", "Release('cup')"],
        )
    )  # fmt: skip
    end, model = craft([odd])
    assert end["status"] == "ok"
    assert len(model.calls) == 1
    kept = end["result"]["navloom"]
    assert kept["invalid_because"] == ["not_efficient"]
    assert (kept["many_regions"], kept["steps_in_bounds"]) == (True, False)


def test_version_1_has_no_tools() -> None:
    with pytest.raises(UsageError, match="version 1 has no tools"):
        Context(scene="demo:flat", variant="v1", tools="check")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["heuristic", "random"])
@pytest.mark.parametrize(("variant", "tools"), [("v1", "none"), ("v2", "none"), ("v2", "check")])
def test_the_baselines_answer_through_messages(name: str, variant: Any, tools: Any) -> None:
    context = Context(
        scene="demo:house", model=f"builtin/{name}", variant=variant, tools=tools, max_turns=30
    )
    kept = [run(navcraft_direct.graph, {"seed": seed}, context=context) for seed in range(4)]
    found = [end["result"]["navloom"] for end in kept]
    assert len({json.dumps(end["result"]["answer"]) for end in kept}) > 1
    if name == "heuristic":
        assert [end["status"] for end in kept] == ["ok"] * 4
        assert sum(each["valid"] for each in found) >= 3
    asked = sum(each["tool_calls"] for each in found)
    assert (asked > 0) == (tools == "check")
