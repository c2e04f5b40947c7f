"""The rubric judge: rubric files, grades by criterion, spoiled traces."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from navloom.errors import DataError, UsageError
from navloom.graphs.judging import rubric_judge
from navloom.judges.trace_rubric import TRACE_KINDS, load_rubric, make_trace_items, trace_steps
from navloom.models.messages import message_text
from navloom.models.scripted import ScriptedChatModel
from tests.graphs.states import run

PLACES = (
    ("leads to the kitchen; stove, fridge", "further in the hall; coat rack"),
    ("leads to the bathroom; bathtub, toilet", "back to the hall; coat rack"),
    ("leads to the attic; trunk, ladder", "back to the bathroom; bathtub"),
)


def row(name: str = "e1") -> dict[str, Any]:
    steps = []
    for places in PLACES:
        named = places[0].split("; ")[1]
        steps.append(
            {
                "options": [
                    {"id": k, "direction": "Front", "description": words, "viewpoint": "v"}
                    for k, words in enumerate(places, 1)
                ],
                "action": {"kind": "move", "option": 1, "viewpoint": "v", "question": None},
                "reasoning": f"Option 1 lies to the Front; it speaks of {named}.",
            }
        )
    result = {"steps": steps, "episode": {"instruction": "Go up."}}
    return {"id": name, "scene": "demo:flat", "result": result}


STEPS = [step for name in ("e1", "e2") for step in trace_steps(row(name))]


def graded(model: Any, step: Any = STEPS[1], **changes: Any) -> dict[str, Any]:
    given = {"seed": 1, "step": step.model_dump(mode="json")}
    return run(rubric_judge.graph, given, context=rubric_judge.Context(model=model, **changes))


def reply(**grades: str) -> str:
    return json.dumps({k: {"evidence": "seen", "grade": g} for k, g in grades.items()})


def test_each_criterion_gets_its_grade_and_evidence() -> None:
    said = reply(grounded="yes", history="N/A", action_follows="No")
    with ScriptedChatModel([said]) as model:
        result = graded(model)["result"]
    grades = {name: each["grade"] for name, each in result["criteria"].items()}
    assert grades == {"grounded": "yes", "history": "na", "action_follows": "no"}
    text = message_text(model.calls[0].messages[1].content)
    assert "Step 1 - go to option 1 - leads to the kitchen" in text.replace(
        "option 1:", "option 1 -"
    )
    assert "1. (Front) leads to the bathroom; bathtub, toilet" in text
    assert result["replies"] == [said]


def test_without_a_seed_it_is_seed_0() -> None:
    said = reply(grounded="yes", history="na", action_follows="no")
    with ScriptedChatModel([said, said]) as model:
        for given in ({}, {"seed": 0}):
            state = {"step": STEPS[1].model_dump(mode="json"), **given}
            run(rubric_judge.graph, state, context=rubric_judge.Context(model=model))
    first, second = ([message.content for message in call.messages] for call in model.calls)
    assert first == second
    assert "Random seed: 0\n" in message_text(model.calls[0].messages[1].content)


def test_a_grade_off_the_menu_is_unscored_by_itself_after_one_more_ask() -> None:
    with ScriptedChatModel([reply(grounded="yes"), reply(grounded="yes", history="5")]) as model:
        state = graded(model)
    criteria = state["result"]["criteria"]
    assert criteria["grounded"]["grade"] == "yes"
    assert criteria["history"]["grade"] is criteria["action_follows"]["grade"] is None
    assert state["status"] == "ok"
    assert "history, action_follows" in state["result"]["faults"][0]


def test_prose_is_unscored() -> None:
    with ScriptedChatModel(["Fine.", "Fine."]) as model:
        state = graded(model)
    assert (state["status"], state["reason"]) == ("failed", "unscored")


def test_a_step_tells_what_was_done_before_and_not_the_goal() -> None:
    assert [len(step.history) for step in STEPS[:3]] == [0, 1, 2]
    assert STEPS[1].history == ("Step 1: go to option 1: leads to the kitchen; stove, fridge",)


@pytest.mark.parametrize("broken", [{"id": "x"}, {"id": "x", "result": {"steps": [3]}}])
def test_a_line_that_is_no_trace_is_named(broken: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="x: "):
        list(trace_steps(broken))


def test_spoiled_steps_have_every_kind() -> None:
    items = make_trace_items(STEPS * 8, n=160)
    assert {item.kind for item in items} == set(TRACE_KINDS)
    for item in items:
        if item.kind == "other_action":
            assert item.step.action.option != 1


@pytest.mark.slow
def test_the_symbolic_rubric_judge_grades_what_it_was_written_for() -> None:
    for item in make_trace_items(STEPS * 8, n=160):
        if item.wording == "a":
            criteria = graded("builtin/heuristic", item.step)["result"]["criteria"]
            assert {n: criteria[n]["grade"] for n in item.deserves} == dict(item.deserves), item


def test_a_rubric_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text("name: own\ncriteria:\n- {id: tone, question: q, if_yes: y, if_no: n}\n")
    with ScriptedChatModel([reply(tone="no")]) as model:
        found = graded(model, rubric=load_rubric(file))["result"]["criteria"]
    assert found["tone"]["grade"] == "no"
    assert graded("builtin/heuristic", rubric=load_rubric(file))["status"] == "failed"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name: own\ncriteria: []\n", "criteria"),
        ("name: own\ncriteria:\n- {id: A b, question: q, if_yes: y, if_no: n}\n", "id"),
        ("name: own\ncriteria:\n- {id: a, question: q, yes: y, if_no: n}\n", "if_yes"),
    ],
)
def test_a_broken_rubric_names_the_field(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(text)
    with pytest.raises(DataError) as error:
        load_rubric(file)
    assert said in str(error.value)


def test_an_unknown_rubric_is_refused() -> None:
    with pytest.raises(UsageError, match="Did you mean 'trace'"):
        load_rubric("trase")


def test_a_prompt_is_bounded_and_kept_whole() -> None:
    long = STEPS[1].model_copy(
        update={
            "instruction": "w" * 5_000,
            "history": ("h" * 500,),
            "options": tuple(
                STEPS[1]
                .options[0]
                .model_copy(update={"id": k, "direction": "d" * 30, "description": "o " * 200})
                for k in range(1, 20)
            ),
            "reasoning": "r" * 5_000,
        }
    )

    def shown(**changes: Any) -> dict[str, str]:
        with ScriptedChatModel([reply(grounded="yes", history="yes", action_follows="yes")]) as m:
            system, human = graded(m, long, **changes)["result"]["prompt"]
        assert "one JSON object" in system
        parts = human.split("Instruction: ")[1].partition("\nHistory:\n")
        history, _, rest = parts[2].partition("\nOptions:\n")
        options, _, _ = rest.partition("\nAction:")
        return {"instruction": parts[0], "history": history, "options": options}

    fenced, bare = shown(), shown(defences=False)
    # A word without spaces is a code and is hidden; lines of words are cut.
    assert fenced["options"].count("\n") + 1 == bare["options"].count("\n") + 1 == 16
    (line, *_) = fenced["options"].splitlines()
    assert len(line.partition(") ")[2]) <= 160 < 320
    assert bare["instruction"] == "w" * 4_000
    assert bare["history"] == "h" * 500


def test_words_of_an_instruction_are_cut_at_400_and_of_evidence_at_300() -> None:
    words = STEPS[1].model_copy(update={"instruction": "go on " * 200})
    said = {"grade": "yes", "evidence": "e" * 301}
    text = json.dumps({"grounded": said, "history": said, "action_follows": said})
    with ScriptedChatModel([text]) as model:
        result = graded(model, words)["result"]
    told = result["prompt"][1].split("Instruction: ")[1].partition("\nHistory:")[0]
    assert len(told) == 400
    assert {each["evidence"] for each in result["criteria"].values()} == {"e" * 300}


def test_two_thousand_characters_of_evidence_are_read() -> None:
    said = {"grade": "yes", "evidence": "x" + " " * 1_998 + "yz"}
    with ScriptedChatModel([json.dumps(dict.fromkeys(("grounded", "history"), said))]) as model:
        result = graded(model, max_reasks=0)["result"]
    assert result["criteria"]["grounded"]["evidence"] == "x y"


def test_a_step_without_instruction_says_so() -> None:
    bare = STEPS[1].model_copy(update={"instruction": ""})
    with ScriptedChatModel([reply(grounded="yes", history="yes", action_follows="yes")]) as model:
        result = graded(model, bare)["result"]
    assert "Instruction: not told\n" in result["prompt"][1]
    assert "Instruction: Go up.\n" not in result["prompt"][1]


@pytest.mark.parametrize("letters", [159, 160, 161])
def test_lines_of_options_and_of_history_have_160_characters(letters: int) -> None:
    line = ("go on " * 30)[: letters - 1] + "."
    option = STEPS[1].options[0].model_copy(update={"description": line})
    step = STEPS[1].model_copy(update={"history": (line,), "options": (option,)})
    with ScriptedChatModel([reply(grounded="yes", history="yes", action_follows="yes")]) as model:
        told = graded(model, step)["result"]["prompt"][1]
    for head in ("\nHistory:\n", f"{option.id}. ({option.direction}) "):
        shown = told.split(head)[1].partition("\n")[0]
        assert shown == line if letters <= 160 else (len(shown) == 160 and " … " in shown)
