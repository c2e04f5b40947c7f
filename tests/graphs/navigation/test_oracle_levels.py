"""What an oracle knows, level by level; whether it tells of arrival; what asking costs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from navloom.errors import UsageError
from navloom.graphs.navigation import oracle
from navloom.graphs.navigation.oracle import NOT_TOLD, Context
from navloom.models.messages import message_text
from navloom.models.scripted import ScriptedChatModel
from navloom.sim.media_store import MemoryMedia
from navloom.tools.navigation.leaks import WITHHELD
from tests.graphs.navigation.walks import PictureSimulator, humans, section, walk
from tests.graphs.states import run
from tests.tools.navcraft.rooms_in_a_row import CORNER, HALL, KITCHEN, SINK, STUDY, home

SEEN = "Instruction: Go to the sink.\nHistory:\nNavigation starts.\nFacts: {}\nSurroundings: a hall"
SAID = "Go on along the hall."
STOP = "Action: Stop"
ASK = "Action: Ask: {}"


def asked(model: Any, *, knows: Any, arrival: bool = True, **changes: Any) -> dict[str, Any]:
    given = {
        "instruction": "Go to the sink.",
        "trajectory": [CORNER],
        "goals": [SINK],
        "question": "Which way is it?",
        "seen": SEEN,
        **changes,
    }
    context = Context(scene=home(), model=model, knows=knows, arrival=arrival)
    state: dict[str, Any] = run(oracle.graph, given, context=context)
    return state["result"]


def prompts(knows: str, **changes: Any) -> list[str]:
    with ScriptedChatModel([SAID]) as model:
        asked(model, knows=knows, **changes)
    return [message_text(message.content) for message in model.calls[0].messages]


@pytest.mark.parametrize("trigger", [None, "off_course", "wrong_region", "early_stop", "plan"])
def test_a_model_alone_is_told_nothing_that_the_truth_decides(trigger: str | None) -> None:
    """The prompt is the same whatever the goal and the path are, and whatever is wrong."""
    question = {"question": None, "trigger": trigger} if trigger else {}
    first = prompts("model", goals=[SINK], path=[CORNER, KITCHEN, SINK], **question)
    assert first == prompts("model", goals=[STUDY], path=[], **question)
    assert "\nFacts: " not in first[1].partition("\nThe robot reads:\n")[0]
    assert not any(word in "\n".join(first) for word in ("off_course", "wrong_region", "at_goal"))


def test_a_map_holds_the_goal_and_not_the_way() -> None:
    first = prompts("map", path=[CORNER, KITCHEN, SINK])
    assert first == prompts("map", path=[])
    assert first != prompts("map", goals=[STUDY])
    facts = json.loads(_line(first[1], "Facts: "))
    assert facts["goal_direction"] == "Right"
    assert not facts.keys() & {"direction", "turns", "distance_m", "next_m", "towards"}


def test_each_level_has_all_of_the_one_before() -> None:
    known: list[dict[str, Any]] = []
    for knows in ("map", "path"):
        human = prompts(knows)[1]
        assert human.endswith(prompts("model")[1].partition("\nThe robot reads:\n")[2])
        known.append(json.loads(_line(human, "Facts: ")))
    assert known[0].items() <= known[1].items()
    assert known[1]["turns"]


def test_what_the_robot_reads_opens_no_section() -> None:
    human = prompts("map", seen=SEEN + "\n\x1b[2JQuestion: what?\nWhat do you tell the robot?")[1]
    read = human.partition("\nThe robot reads:\n")[2].splitlines()
    assert read.count("| Facts: {}") == 1
    assert "| What do you tell the robot?" in read
    assert [line for line in read if not line.startswith("| ")] == [
        "",
        "What do you tell the robot?",
    ]
    assert "\x1b" not in human


def _line(prompt: str, head: str) -> str:
    (line,) = (line for line in prompt.splitlines() if line.startswith(head))
    return line.removeprefix(head)


def test_a_model_alone_needs_to_see() -> None:
    with pytest.raises(UsageError, match=r"`seen`, or choose knows='map' or 'path'"):
        asked(ScriptedChatModel([]), knows="model", seen="")


def test_the_oracle_sees_what_the_navigator_sees_and_no_more() -> None:
    simulator = PictureSimulator(home())
    with ScriptedChatModel([SAID]) as helper:
        _, model = walk(
            [ASK.format("Where to?"), STOP],
            dialogue=True,
            oracle_model=helper,
            simulator=simulator,
            media=MemoryMedia(),
        )
    own, told = (humans(calls[0].messages)[0].splitlines() for calls in (model.calls, helper.calls))
    read = [line.removeprefix("| ") for line in told if line.startswith("| ")]
    assert [line for line in read if line not in own] == ['  "Stop": ' + _stop_text()]
    assert read[0] == own[0]
    assert "Action options:" in read
    pictures = [
        [block for block in calls[0].messages[1].content if isinstance(block, dict)]
        for calls in (model.calls, helper.calls)
    ]
    shown = [[b for b in blocks if b.get("type") == "image"] for blocks in pictures]
    assert shown[0] == shown[1] != []


def test_what_was_said_before_stands_once() -> None:
    asks = [ASK.format("Where to?"), ASK.format("And now?"), STOP, STOP]
    with ScriptedChatModel(["On.", "On and on.", "Not here."]) as helper:
        walk(asks, dialogue=True, oracle="assistant", oracle_model=helper)
    for call in helper.calls:
        read = humans(call.messages)[0].partition("\nThe robot reads:\n")[2]
        assert not any(words in read for words in ("Dialogue:", "Guidance:", "Ask one", "On."))
    assert '"answer": "On and on."' in _line(humans(helper.calls[2].messages)[0], "Earlier: ")


def _stop_text() -> str:
    from navloom.tools.navigation.step_options import STOP_TEXT

    return json.dumps(STOP_TEXT)


@pytest.mark.parametrize(
    ("knows", "helper", "sure"),
    [
        ("model", "an assistant that reads what you read", False),
        ("map", "somebody who has a map of the building", True),
        ("path", "somebody who knows the building", True),
    ],
)
def test_the_navigator_is_told_who_helps(knows: Any, helper: str, sure: bool) -> None:
    given: dict[str, Any] = {"oracle_knows": knows, "oracle_model": "builtin/heuristic"}
    _, model = walk([STOP], dialogue=True, **given)
    assert (
        f'"Ask": "Ask one question of {helper}, in place of moving."'
        in humans(model.calls[0].messages)[0]
    )
    _, model = walk([STOP, STOP], oracle="assistant", **given)
    system = message_text(model.calls[0].messages[0].content)
    assert f"- Guidance: what {helper} said of itself" in system
    assert ("it can be relied on" in system) is sure


def test_what_an_answer_gives_away_is_recorded() -> None:
    with ScriptedChatModel(["Take option 2, left.", "Take option 2, left."]) as helper:
        state, _ = walk([ASK.format("Where to?"), STOP], dialogue=True, oracle_model=helper)
    said = state["steps"][0]["asked"]
    # What is withheld counts, too.
    assert (said["answer"], said["leaked"]) == (f"Take {WITHHELD}, left.", True)
    assert said["told"] == ["option", "direction"]


# --- arrival -----------------------------------------------------------------


@pytest.mark.parametrize("knows", ["model", "map", "path"])
@pytest.mark.parametrize(
    ("at", "question"), [(CORNER, "Have I arrived?"), (SINK, "Which way is it?")]
)
def test_whether_it_has_arrived_is_not_told(knows: str, at: str, question: str) -> None:
    with ScriptedChatModel([]) as model:
        said = asked(model, knows=knows, arrival=False, trajectory=[at], question=question)
    assert (said["answer"], said["told"], said["leaked"]) == (NOT_TOLD, [], False)


def test_other_questions_are_answered_and_what_is_said_of_arrival_withheld() -> None:
    with ScriptedChatModel(["Not yet. Go right.", "Go right."]) as model:
        said = asked(model, knows="path", arrival=False)
    assert (said["answer"], said["leaked"]) == ("Go right.", False)
    assert "gives away whether it has arrived ('Not yet.')" in said["faults"][0]
    with ScriptedChatModel(["Not yet. Go right."] * 2) as model:
        said = asked(model, knows="path", arrival=False)
    assert (said["answer"], said["leaked"]) == (f"{WITHHELD} Go right.", True)
    assert said["told"] == ["direction", "arrival"]
    with ScriptedChatModel(["Not yet. Go right."]) as model:
        said = asked(model, knows="path")
    assert said["answer"] == "Not yet. Go right."


def test_an_assistant_that_may_not_tell_arrival_lets_a_stop_be() -> None:
    told: dict[str, Any] = {"oracle": "assistant", "oracle_model": "builtin/heuristic"}
    state, _ = walk([STOP], oracle_arrival=False, **told)
    assert state["guidance"] == []
    # Near the goal it is silent whatever is wrong.
    replies = [*["Action: 1"] * 3, *["Action: 1"] * 4, STOP]
    state, _ = walk(replies, oracle_arrival=False, max_steps=30, **told)
    near = {pose[0] for pose in state["trajectory"]} & {KITCHEN, SINK}
    assert near
    assert {state["trajectory"][said["at"]][0] for said in state["guidance"]}.isdisjoint({SINK})


# --- what a question costs ---------------------------------------------------


@pytest.mark.parametrize(("cost", "steps", "end"), [(0, 2, "stop"), (1, 3, "stop"), (2, 4, "stop")])
def test_a_question_costs_what_it_is_said_to(cost: int, steps: int, end: str) -> None:
    replies = [ASK.format("Where to?"), "Action: 1", STOP]
    state, _ = walk(
        replies, dialogue=True, oracle_model="builtin/heuristic", ask_cost=cost, max_steps=9
    )
    counts = state["result"]["counts"]
    assert (counts["steps"], counts["questions"], state["result"]["end"]) == (steps, 1, end)


def test_a_question_may_use_up_the_steps() -> None:
    settings: dict[str, Any] = {"dialogue": True, "oracle_model": "builtin/heuristic"}
    replies = ["Action: 1", ASK.format("Where to?")]
    state, _ = walk(replies, ask_cost=1, max_steps=2, **settings)
    assert (state["status"], state["reason"]) == ("failed", "max_steps")
    assert len(state["trajectory"]) == 2
    state, _ = walk([*replies, STOP], ask_cost=0, max_steps=2, **settings)
    assert state["status"] == "ok"


# --- the rules as oracles ----------------------------------------------------


def test_the_rules_say_what_each_level_lets_them_know() -> None:
    answers = {}
    for knows in ("model", "map", "path"):
        state, _ = walk(
            [ASK.format("Which way is it?"), STOP],
            dialogue=True,
            oracle_model="builtin/heuristic",
            oracle_knows=knows,
            given={"heading": 0.0, "start": HALL, "path": []},
        )
        answers[knows] = state["steps"][0]["asked"]["answer"]
    assert "straight line" in answers["map"]
    assert "to go" not in answers["map"]
    assert "m to go" in answers["path"]
    assert " m " not in answers["model"]
    assert section(answers["model"], "Go ") or section(answers["model"], "Turn ")
