"""NavCraft-S: what the agent is told, when it is sent back, and when it is given up."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from navloom.graphs.navcraft import single as navcraft_single
from navloom.graphs.navcraft.single import Context
from navloom.models.scripted import ScriptedChatModel
from navloom.prompts.navcraft.profiles import user_profile_names
from tests.graphs.navcraft.errands import CHECK, PATH, TOO_NEAR, phase_1
from tests.graphs.states import run
from tests.tools.navcraft.worlds import item, row_house


def craft(model: Any, **context: Any) -> dict[str, Any]:
    context = {"scene": row_house(), **context}
    return run(navcraft_single.graph, {"seed": 7}, context=Context(model=model, **context))


def test_checked_errand_is_accepted() -> None:
    with ScriptedChatModel([CHECK, phase_1()]) as model:
        end = craft(model)
    assert end["status"] == "ok"
    assert end["result"]["phase_1"] == phase_1()["phase_1"]
    record = end["result"]["navloom"]
    assert record["object_id"] == "cup"
    assert record["end_asset_id"] == "kitchen-counter"
    assert record["legs"] == [2, 2]
    assert record["tool_confirmed"] is True
    # Attic x=22 to Study x=14 (8 m), cup 1 m off it, there and back to Hall x=6 (8 m), counter 3 m.
    assert record["solo_metres"] == pytest.approx(8 + 1 + 1 + 8 + 3)


def test_prompt_holds_scene_profile_seed_and_tool_names() -> None:
    with ScriptedChatModel([CHECK, phase_1()]) as model:
        craft(model, profile="lawyer", tau=2)
    system, human = (message.content for message in model.calls[0].messages[:2])
    assert "at least 2 links apart" in system
    assert '"Study_4"' in human
    assert '"Occupation": "Lawyer"' in human
    assert "Random seed: 7" in human
    names = [tool["function"]["name"] for tool in model.calls[0].tools]
    assert "check_two_path_and_adjacency" in names
    regions = model.calls[0].tools[0]["function"]["parameters"]["properties"]["start_region"]
    assert regions["enum"][0] == "Bedroom_1"


def test_no_constrain_leaves_names_free() -> None:
    with ScriptedChatModel([CHECK, phase_1()]) as model:
        craft(model, constrain=False)
    properties = model.calls[0].tools[0]["function"]["parameters"]["properties"]
    assert "enum" not in properties["start_region"]


def test_repeated_failing_call_hears_what_is_left_and_the_third_ends_it() -> None:
    with ScriptedChatModel([TOO_NEAR, TOO_NEAR, TOO_NEAR]) as model:
        end = craft(model)
    assert (end["status"], end["reason"]) == ("failed", "repeated_call")
    first, second, third = (m.content for m in end["messages"] if isinstance(m, ToolMessage))
    assert json.loads(first)["t2e_valid"] is True
    assert "Keep target_region Study_4 and end_region Hall_2" in second
    assert "Tried: Pantry_5." in second
    assert "Attic_6" in second.partition("Left:")[2]
    assert "ends here" in third


def test_a_good_call_may_be_repeated() -> None:
    with ScriptedChatModel([CHECK, CHECK, CHECK, CHECK, phase_1()]) as model:
        assert craft(model)["status"] == "ok"


def test_the_path_tool_may_be_asked_again_too() -> None:
    args = {"region_a": "Attic_6", "region_b": "Hall_2"}
    path = {"name": "check_path_and_adjacency", "args": args}
    with ScriptedChatModel([path, path, path, CHECK, phase_1()]) as model:
        assert craft(model)["status"] == "ok"


def test_calls_that_were_told_to_wait_did_not_fail() -> None:
    flood = [*([CHECK] * 8), {**CHECK, "args": {**CHECK["args"], "end_region": "Bedroom_1"}}]
    with ScriptedChatModel([flood, flood[-1], flood[-1], flood[-1], phase_1()]) as model:
        end = craft(model)
    assert end["status"] == "ok"
    answers = [m.content for m in end["messages"] if isinstance(m, ToolMessage)]
    told = [m.content for m in end["messages"] if isinstance(m, HumanMessage)]
    assert "Only 8 calls are answered at a time: 1 more" in told[0]
    assert [json.loads(answer)["valid"] for answer in answers[8:]] == [True, True, True]


def test_call_ids_that_start_over_each_turn_are_told_apart() -> None:
    def call(which: dict[str, Any]) -> AIMessage:
        return AIMessage("", tool_calls=[{**which, "id": "0"}])

    with ScriptedChatModel([call(TOO_NEAR), call(CHECK), phase_1()]) as model:
        record = craft(model)["result"]["navloom"]
    assert record["repairs"] == {"end": 0, "start": 1, "all": 0}
    assert record["tool_confirmed"] is True


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("I would rather not.", "not_json"),
        ('{"phase_1": ', "not_json"),
        ({"phase_1": {"Target object": "cup"}}, "wrong_form"),
        (phase_1(**{"Single robot end region": {"robot_1": "Ballroom_9"}}), "unknown_region"),
        (phase_1(**{"Target object": "unicorn"}), "object_not_there"),
    ],
)
def test_wrong_answers_are_sent_back_and_then_given_up(answer: Any, code: str) -> None:
    with ScriptedChatModel([answer, answer, answer]) as model:
        end = craft(model, max_reasks=2)
    assert (end["status"], end["reason"]) == ("failed", code)
    assert code in end["violations"]
    told = model.calls[1].messages[-1].content
    assert told.startswith("Your answer breaks these rules:\n- ")


def test_mended_answer_is_accepted_and_what_was_mended_is_kept() -> None:
    wrong = phase_1(**{"Target object": "unicorn"})
    with ScriptedChatModel([CHECK, wrong, "```json\n" + json.dumps(phase_1()) + "\n```"]) as model:
        end = craft(model)
    assert end["status"] == "ok"
    assert end["result"]["navloom"]["violations_mended"] == [
        "object_not_there",
        "wrong_instruction",
    ]


def test_unknown_tool_and_broken_arguments_are_answered() -> None:
    broken = AIMessage(
        "",
        invalid_tool_calls=[
            {
                "name": CHECK["name"],
                "args": "{",
                "id": "b",
                "error": None,
                "type": "invalid_tool_call",
            }
        ],
    )
    half = {"name": CHECK["name"], "args": {"start_region": "Attic_6"}}
    script = [{"name": "teleport", "args": {}}, broken, half, CHECK, phase_1()]
    with ScriptedChatModel(script) as model:
        end = craft(model)
    assert end["status"] == "ok"
    answers = [m.content for m in end["messages"] if isinstance(m, ToolMessage)]
    assert "teleport" in answers[0]
    assert "not valid JSON" in answers[1]
    assert "end_region" in answers[2]


def test_huge_arguments_and_floods_of_calls_are_bounded() -> None:
    huge = {"name": CHECK["name"], "args": {"start_region": "x" * 3000}}
    with ScriptedChatModel([huge, [CHECK] * 9, phase_1()]) as model:
        end = craft(model)
    answers = [m.content for m in end["messages"] if isinstance(m, ToolMessage)]
    assert "over 2000 characters" in answers[0]
    assert len(answers) == 1 + 8


def test_twins_of_a_failing_call_in_one_reply_are_one_try() -> None:
    with ScriptedChatModel([[TOO_NEAR] * 3, TOO_NEAR, phase_1()]) as model:
        end = craft(model)
    answers = [m.content for m in end["messages"] if isinstance(m, ToolMessage)]
    assert answers[0] == answers[1] == answers[2]
    assert "failed before" in answers[3]
    assert end["status"] == "ok"
    with ScriptedChatModel([[TOO_NEAR] * 3, TOO_NEAR, [TOO_NEAR] * 2]) as model:
        end = craft(model)
    assert end["reason"] == "repeated_call"


def test_turns_are_bounded() -> None:
    with ScriptedChatModel([CHECK, CHECK, CHECK]) as model:
        end = craft(model, max_turns=3)
    assert (end["status"], end["reason"]) == ("failed", "out_of_turns")


async def test_no_checkpoint_holds_a_scene() -> None:
    saver = InMemorySaver()
    graph = navcraft_single.build_graph(saver)
    context = Context(scene=row_house(), model=ScriptedChatModel([CHECK, phase_1()]))
    await graph.ainvoke({"seed": 1}, {"configurable": {"thread_id": "a"}}, context=context)
    kept = repr([checkpoint async for checkpoint in saver.alist(None)])
    assert "Attic_6 -> Pantry_5" in kept
    assert "Bedroom_1 <-> Hall_2" not in kept


@pytest.mark.parametrize("model", ["builtin/heuristic", "builtin/random"])
def test_baselines_go_through_the_same_graph(model: str) -> None:
    end = craft(model)
    assert end["status"] == "ok", end.get("message")
    assert end["result"]["phase_1"]["Target object"] == "cup"


@pytest.mark.slow
def test_profiles_change_what_the_heuristic_picks() -> None:
    names = ("book", "toy car", "soap", "flower", "folder", "newspaper", "shoe", "laptop")
    scene = row_house(*(item(name, "object", "Study_4", 14, 1) for name in names))

    def picks(profile: str | None) -> list[str]:
        return [
            run(
                navcraft_single.graph, {"seed": seed}, context=Context(scene=scene, profile=profile)
            )["result"]["phase_1"]["Target object"]
            for seed in range(15)
        ]

    chosen = {profile: tuple(picks(profile)) for profile in (*user_profile_names(), None)}
    assert len(set(chosen.values())) == len(chosen)
    assert chosen["child"].count("toy_car") > chosen["lawyer"].count("toy_car")


def test_objects_that_cannot_be_walked_to_are_no_errand() -> None:
    scene = row_house()
    cut = scene.replace(edges=tuple(e for e in scene.edges if "vStudy_4" not in (e.a, e.b)))
    with ScriptedChatModel([phase_1()]) as model:
        end = craft(model, scene=cut, max_reasks=0)
    assert (end["status"], end["reason"]) == ("failed", "not_walkable")
    assert PATH[0] in str(end["messages"][-1].content)
