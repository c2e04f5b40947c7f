"""What the papers' switches show a navigator: thoughts, jumps, the paper's own prompt, no words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from navloom.errors import UsageError
from navloom.evals.navigation.request import EvalRequest
from navloom.graphs.navigation.context import Context
from navloom.prompts.prompt_loader import load_prompt
from navloom.tools.navigation.step_records import Trajectory
from tests.graphs.navigation.walks import GIVEN, humans, section, walk
from tests.tools.navcraft.rooms_in_a_row import CORNER, HALL, KITCHEN, SINK

THOUGHT = "<Reasoning>\n1. Progress estimate: {}.\n3. Prediction: go.\n</Reasoning>\n"
THERE = [f"{THOUGHT.format(word)}Action: 1" for word in ("one", "two", "three")] + ["Action: Stop"]
FAR = ["Action: 1", "Action: 1", "Action: 1"]


def _options(prompt: str) -> dict[str, dict[str, str]]:
    text = prompt.split("Action options:")[1]
    found: dict[str, dict[str, str]] = json.JSONDecoder().raw_decode(text.lstrip())[0]
    return found


def test_thoughts_stand_before_the_moves_that_they_led_to() -> None:
    _, model = walk(THERE, cot=True)
    lines = humans(model.calls[3].messages)[0].splitlines()
    said = [line for line in lines if line.startswith(("Thought:", "Step "))]
    assert [line.partition(":")[0] for line in said] == [
        *("Thought", "Step 1", "Thought", "Step 2", "Thought", "Step 3")
    ]
    assert said[2] == "Thought: 1. Progress estimate: two. 3. Prediction: go."
    for off in ({"scratchpad": False}, {"prompts": "paper"}):
        _, model = walk(THERE, cot=True, **off)
        assert "Thought" not in humans(model.calls[3].messages)[0]


def test_thoughts_are_bounded_in_length_and_number() -> None:
    long = f"<Reasoning>{'word ' * 300}</Reasoning>\nAction: 1"
    to_and_fro = [long] * 14 + ["Action: Stop"]
    _, model = walk(to_and_fro, cot=True)
    thoughts = section(humans(model.calls[14].messages)[0], "Thought: ")
    assert len(thoughts) == 10
    assert all(len(line) <= 510 for line in thoughts)


def test_a_jump_walks_back_over_every_place_between() -> None:
    state, model = walk([*FAR, "Action: 3", "Action: Stop"], jump=True)
    offered = _options(humans(model.calls[3].messages)[0])["Visited"]
    assert offered == {
        "2": "back to where step 1 led, 2 moves and 6.0 m from here",
        "3": "back to where you started, 3 moves and 10.0 m from here",
    }
    stood = [viewpoint for viewpoint, *_ in state["result"]["trajectory"]]
    assert stood == [HALL, CORNER, KITCHEN, SINK, KITCHEN, CORNER, HALL]
    assert state["result"]["counts"]["steps"] == 5
    assert state["history"][3] == f"Step 4: Going {offered['3']}"
    assert "Visited" not in _options(humans(model.calls[1].messages)[0])
    assert Trajectory.read(state["result"]).hop_steps == (0, 1, 2, 3, 3, 3)


def test_a_jump_is_one_step_of_the_limit_and_can_be_called_as_a_tool() -> None:
    calls: list[Any] = [{"name": "move", "args": {"option": 1}}] * 3
    calls += [{"name": "move", "args": {"option": 2}}]
    state, model = walk(calls, jump=True, act="tool", max_steps=4)
    assert (state["result"]["end"], state["result"]["trajectory"][-1][0]) == ("max_steps", CORNER)
    move = next(t for t in model.calls[3].tools if t["function"]["name"] == "move")
    assert move["function"]["parameters"]["properties"]["option"]["enum"] == [1, 2, 3]


def test_without_jumps_nothing_is_offered_but_what_is_next_to_it() -> None:
    _, model = walk([*FAR, "Action: Stop"])
    assert "Visited" not in humans(model.calls[3].messages)[0]


def test_the_papers_prompt_has_what_the_paper_prints_and_nothing_else() -> None:
    state, model = walk(["Action: 1", "Action: Stop. Have reached it."], prompts="paper")
    system, human = (str(m.content) for m in model.calls[1].messages)
    heads = [line.split(":")[0] for line in human.splitlines() if not line.startswith((" ", "{"))]
    assert heads[:5] == [
        *("Instruction", "History", "Navigation starts.", "Step 1", "Current heading")
    ]
    assert "Current heading: 0.00°, elevation: 0.00°" in human
    assert _options(human)["Stop"] == "Have reach the destination and stop here."
    ours = _options(humans(walk(["Action: 1", "Action: Stop"])[1].calls[1].messages)[0])
    bare = {n: text.partition(": ")[2] for n, text in ours["Right"].items()}
    assert _options(human)["Right"] == bare
    assert "degrees" not in system
    assert state["result"]["prompt"] == load_prompt("navigator_paper").record


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"plan": True}, "plan"),
        ({"scratchpad": True}, "scratchpad"),
        ({"jump": True}, "jumps"),
        ({"dialogue": True}, "questions"),
        ({"act": "tool"}, "actions as tool calls"),
    ],
)
def test_the_papers_prompt_refuses_what_it_does_not_speak_of(
    given: dict[str, Any], named: str
) -> None:
    with pytest.raises(UsageError, match=f"The paper's prompt has no {named}"):
        Context(scene="demo:flat", prompts="paper", **given)
    with pytest.raises(UsageError, match=f"The paper's prompt has no {named}"):
        EvalRequest(task="r2r", prompts="paper", **given)


def test_blanked_options_have_numbers_and_no_words() -> None:
    _, model = walk([*FAR, "Action: Stop"], blank_options=True)
    human = humans(model.calls[2].messages)[0]
    groups = [group for group in _options(human).values() if isinstance(group, dict)]
    said = [text.rpartition(": ")[2] for group in groups for text in group.values()]
    assert said == ["no description"] * 2
    assert section(human, "Step 2")[0].endswith("towards a place without description")
    assert "Surroundings: " in human
    assert GIVEN["instruction"] in human
