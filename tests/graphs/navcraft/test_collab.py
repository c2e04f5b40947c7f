"""NavCraft-C: the survey, the confirmed relay, and what is recorded beside it."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import ToolMessage

from navloom.errors import UsageError
from navloom.graphs.navcraft import collab as navcraft_collab
from navloom.graphs.navcraft.collab import Context
from navloom.models.scripted import ScriptedChatModel
from tests.graphs.navcraft.errands import CHECK, CHECK_RELAY, RELAY, phase_1, phase_2
from tests.graphs.states import run
from tests.tools.navcraft.worlds import row_house


def lift(model: Any, errand: dict[str, Any] | None, **context: Any) -> dict[str, Any]:
    wish = context.pop("wish", {})
    context = {"scene": row_house(), **context}
    given = None if errand is None else errand["phase_1"]
    return run(
        navcraft_collab.graph,
        {"seed": 7, "phase_1": given, "wish": wish},
        context=Context(model=model, **context),
    )


def relay(**changes: str) -> dict[str, Any]:
    return {"name": CHECK_RELAY["name"], "args": {**RELAY, **changes}}


def test_confirmed_relay_is_accepted_and_measured() -> None:
    with ScriptedChatModel([CHECK_RELAY, phase_2()]) as model:
        end = lift(model, phase_1())
    assert end["status"] == "ok"
    result, record = end["result"], end["result"]["navloom"]
    assert result["verdict"] == "relay"
    assert result["phase_2"] == phase_2()["phase_2"]
    # By hand on the ground plane: alone 8 + 1 to the cup, 1 + 8 + 3 to the counter, 21 m. In
    # Type-A2 robot_1 walks 9 to the cup and 1 + 4 + 2 to the table, 16 m; robot_2 is there after
    # 10 m and waits 6 s, then 2 + 4 + 3 m to the counter: 25 s in all.
    assert record["alpha"] == record["r1_rate"] == pytest.approx(16 / 21)
    assert record["g_rate"] == pytest.approx(25 / 21)
    assert record["makespan_s"] == pytest.approx(25)
    assert record["waits"] == {"robot": "robot_2", "seconds": pytest.approx(6)}
    assert record["gain_alpha"] == pytest.approx(1 - 16 / 21)
    assert record["regret_alpha"] == pytest.approx(record["alpha"] - record["best_alpha"])
    assert record["transfer_asset_id"] == "coffee-table"


def test_answer_must_be_the_confirmed_relay() -> None:
    other = phase_2(**{"Transfer region": "Hall_2"})
    with ScriptedChatModel([CHECK_RELAY, other, phase_2()]) as model:
        end = lift(model, phase_1())
    assert end["status"] == "ok"
    assert "other_relay" in end["result"]["navloom"]["relay_violations_mended"]
    told = model.calls[2].messages[-1].content
    assert "'Living_room_3' was confirmed" in told


def test_unconfirmed_answer_is_sent_back() -> None:
    with ScriptedChatModel([phase_2(), CHECK_RELAY, phase_2()]) as model:
        end = lift(model, phase_1())
    assert end["status"] == "ok"
    assert end["violations"] == ["not_confirmed"]


def test_broken_guard_is_said_by_the_tool() -> None:
    beside = relay(robot_2_start_region="Pantry_5")
    with ScriptedChatModel([beside, CHECK_RELAY, phase_2()]) as model:
        end = lift(model, phase_1())
    first = next(m for m in end["messages"] if isinstance(m, ToolMessage))
    assert "next to robot_1's start region" in first.content


def test_a_relay_that_is_not_as_asked_is_sent_back_with_what_would_do() -> None:
    # Of 21 m robot_1 walks 16 in Type-A2; in Type-A1 it would walk 23.
    at_cup = relay(robot_2_start_region="Study_4")
    with ScriptedChatModel([at_cup, CHECK_RELAY, phase_2()]) as model:
        end = lift(model, phase_1(), wish={"type": "Type-A2", "elsewhere": True})
    assert "Asked of this relay: the type is Type-A2; robot_2 does not start in Study_4." in str(
        model.calls[0].messages[1].content
    )
    first = next(m for m in end["messages"] if isinstance(m, ToolMessage))
    assert "robot_2 may not start in Study_4, where the object is." in first.content
    assert "robot_2 could start in: Bedroom_1, Hall_2, Living_room_3." in first.content
    # What is nowhere to be had is not asked: no relay here is of Type-A1.
    with ScriptedChatModel([CHECK_RELAY, phase_2()]) as model:
        end = lift(model, phase_1(), wish={"type": "Type-A1", "faster": True})
    record = end["result"]["navloom"]
    assert record["asked"] == {
        **{"type": "Type-A2", "faster": False, "elsewhere": False, "min_gain": 0.0},
        "given_up": ["type", "faster"],
    }
    assert record["regret_asked"] == pytest.approx(0)


def test_what_the_context_asks_is_never_given_up() -> None:
    with ScriptedChatModel([]) as model:
        for asked in ({"types": "a1"}, {"faster": True}, {"min_gain": 0.5}):
            end = lift(model, phase_1(), **asked)
            assert (end["status"], end["result"]["verdict"]) == ("ok", "not worth it")
            assert end["result"]["navloom"]["decided_by"] == "survey"


def test_repeated_failing_relay_ends_the_attempt() -> None:
    beside = relay(robot_2_start_region="Pantry_5")
    with ScriptedChatModel([beside, beside, beside]) as model:
        end = lift(model, phase_1())
    assert (end["status"], end["reason"]) == ("failed", "repeated_call")
    second = [m.content for m in end["messages"] if isinstance(m, ToolMessage)][1]
    assert "robot_2_start_region tried: Pantry_5; left: " in second
    assert end["result"]["phase_1"] == phase_1()["phase_1"]


def test_no_place_for_a_handoff_is_a_finding_and_asks_no_model() -> None:
    scene = row_house()
    bare = scene.replace(items=tuple(i for i in scene.items if i.id != "coffee-table"))
    with ScriptedChatModel([]) as model:
        end = lift(model, phase_1(), scene=bare)
    assert end["status"] == "ok"
    assert end["result"]["verdict"] == "not worth it"
    assert end["result"]["phase_2"] is None
    assert end["result"]["navloom"]["decided_by"] == "survey"


def test_agent_may_decline_and_the_optimum_it_missed_is_kept() -> None:
    with ScriptedChatModel([{"phase_2": None}]) as model:
        end = lift(model, phase_1())
    assert (end["status"], end["result"]["verdict"]) == ("ok", "not worth it")
    assert end["result"]["navloom"]["decided_by"] == "model"
    assert end["result"]["navloom"]["best_alpha"] < 1


def test_it_crafts_its_own_errand() -> None:
    with ScriptedChatModel([CHECK, phase_1(), CHECK_RELAY, phase_2()]) as model:
        end = lift(model, None)
    assert end["status"] == "ok"
    assert end["result"]["phase_1"] == phase_1()["phase_1"]
    assert end["result"]["navloom"]["legs"] == [2, 2]
    assert end["result"]["navloom"]["turns"] == 4


def test_failed_errand_is_counted_as_such() -> None:
    with ScriptedChatModel(["no"] * 2) as model:
        end = lift(model, None, max_reasks=1)
    assert (end["status"], end["reason"]) == ("failed", "phase_1:not_json")
    assert end.get("result") is None


def test_an_invalid_errand_is_the_callers_mistake() -> None:
    with pytest.raises(UsageError, match="unicorn"):
        lift(ScriptedChatModel([]), phase_1(**{"Target object": "unicorn"}))


def test_strict_helper_forbids_what_the_listing_allows() -> None:
    # From the target region itself the helper is one hop from the transfer region.
    with ScriptedChatModel([CHECK_RELAY, "stop"]) as model:
        end = lift(model, phase_1(), strict_helper=True, max_reasks=0)
    assert end["status"] == "failed" or end["result"]["verdict"] == "not worth it"


@pytest.mark.parametrize("model", ["builtin/heuristic", "builtin/random"])
def test_baselines_go_through_the_same_graph(model: str) -> None:
    end = lift(model, None)
    assert end["status"] == "ok", end.get("message")
    assert end["result"]["verdict"] == "relay"
