"""The navigators' and the oracle's baselines: what they read in a prompt, and how they answer."""

from __future__ import annotations

import io
import json
import math
import re
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from navloom.errors import ModelError
from navloom.graphs.navigation.baseline.follower import NO_LENGTH, TUNED, Follower
from navloom.graphs.navigation.baseline.instruction_parser import (
    ParsedInstruction,
    match_score,
    parse_instruction,
    word_set,
)
from navloom.graphs.navigation.baseline.policy import (
    STOP_CHANCE,
    heuristic_navigator,
    heuristic_oracle,
    random_navigator,
    random_oracle,
)
from navloom.graphs.navigation.baseline.prompt_parser import PastStep, read_view
from navloom.models.builtin import PolicyRequest, make
from navloom.models.model_spec import ModelOptions

OPTIONS = {
    "Left": {"4": "A kitchen with a stove and a fridge"},
    "Front": {"1": "A hallway with pictures"},
    "Right": {"2": "A bedroom with a bed"},
    "Back": {"3": "A bathroom with a sink"},
    "Stop": "Stop here.",
}
MOVE: dict[str, Any] = {"move": {}, "stop": {}}
STEP = "Step {}: Turning heading direction 0.00 degrees from right 0.00 to right 0.00, and forward"


def prompt(
    instruction: str = "Turn left and stop in the kitchen.",
    *,
    options: Any = None,
    history: tuple[str, ...] = (),
    before: str = "",
    around: str = "A room",
    seed: int = 1,
) -> str:
    return "\n".join(
        [
            "Job: navigator",
            f"Random seed: {seed}",
            f"Instruction: {instruction}",
            "History:",
            "Navigation starts.",
            *(f"{STEP.format(k)} 2.00 meters towards {t}" for k, t in enumerate(history, 1)),
            *filter(None, before.split("\n")),
            "Current heading: 0.00 degrees, elevation: 0.00 degrees",
            f"Surroundings: {around}",
            "Action options:",
            json.dumps(OPTIONS if options is None else options, indent=2),
            "",
            "Choose the best next action.",
        ]
    )


def asked(text: str, *more: Any, system: str = "", tools: Any = None) -> PolicyRequest:
    told = re.search(r"^Random seed: (\d+)$", text, re.MULTILINE)
    seed = int(told[1]) if told else 0
    return PolicyRequest([SystemMessage(system), HumanMessage(text), *more], tools or {}, seed=seed)


def decided(text: str, *more: Any, **kinds: Any) -> str:
    return str(heuristic_navigator(asked(text, *more, **kinds)).content)


# The job


@pytest.mark.parametrize("name", ["heuristic", "random"])
def test_both_baselines_know_navigators_and_oracles(name: str) -> None:
    model = make(name, ModelOptions())
    assert str(model.invoke(prompt(), job="navigator").content).startswith("Action: ")
    assert model.invoke(oracle(), job="oracle").content


# Following


@pytest.mark.parametrize(
    ("instruction", "option"),
    [
        ("Turn left and walk on. Then wait.", 4),
        ("Turn right and walk on. Then wait.", 2),
        ("Turn around and walk on. Then wait.", 3),
        ("Go to the bedroom.", 2),
        ("Find a refrigerator.", 4),
        ("Walk towards the washbasin.", 3),
        ("Walk down the corridor past the paintings.", 1),
    ],
)
def test_directions_and_words_choose_the_way(instruction: str, option: int) -> None:
    assert decided(prompt(instruction)).startswith(f"Action: {option}. ")


def test_stairs_are_climbed_the_way_the_instruction_says() -> None:
    ways = {"Left": {"1": "A staircase; goes up"}, "Right": {"2": "A staircase; goes down"}}
    assert decided(prompt("Go up the stairs.", options=ways)).startswith("Action: 1.")
    assert decided(prompt("Walk down the stairs.", options=ways)).startswith("Action: 2.")


def test_progress_is_read_from_the_history() -> None:
    instruction = "Go to the kitchen. Go to the bathroom. Go to the bedroom."
    walked = ("A kitchen with a stove", "A bathroom with a toilet")
    at = [Follower(read_view(asked(prompt(instruction, history=walked[:k])))).at for k in range(3)]
    assert at == [0, 1, 2]
    ways = {"Left": {"1": "A kitchen with a stove"}, "Right": {"2": "A bedroom with a bed"}}
    assert decided(prompt(instruction, options=ways)).startswith("Action: 1. ")
    assert decided(prompt(instruction, options=ways, history=walked)).startswith("Action: 2. ")


def test_it_stops_where_the_end_is_and_not_at_once() -> None:
    walked = tuple(["A hallway"] * 4)
    here = "A kitchen with a stove and a fridge"
    assert "Stop" in decided(prompt("Walk to the kitchen.", history=walked, around=here))
    assert "Stop" not in decided(prompt("Walk to the kitchen.", around=here))
    assert "Stop" not in decided(prompt("Walk to the kitchen.", history=walked[:1]))


def test_places_that_the_map_calls_visited_are_left_alone() -> None:
    ways = {
        "Front": {"1": "A kitchen with a stove (node_1, visited)", "2": "A wall (node_3)"},
        "Right": {"3": "A kitchen (node_2)"},
    }
    known = "\n".join(
        [
            "Map:",
            "Current place: node_0 - here",
            "node_0 is connected to node_1, node_2, node_3",
            "node_1 is connected to node_0, node_2",
            "Visited: node_0, node_1",
        ]
    )
    text = prompt("Find the kitchen.", options=ways, before=known, history=("A hall (node_0)",))
    view = read_view(asked(text))
    assert view.links == {"node_0": ("node_1", "node_2", "node_3"), "node_1": ("node_0", "node_2")}
    assert [(c.id, c.node, c.visited) for c in view.choices] == [
        (1, "node_1", True),
        (2, "node_3", False),
        (3, "node_2", False),
    ]
    follower = Follower(view)
    assert follower.ranked[-1][1].id == 1
    # Without the map's other line, node_2 would not be known to lie beside the way.
    fresh = text.replace("node_1 is connected to node_0, node_2", "node_1 is connected to node_0")
    beside, on = (Follower(read_view(asked(t))) for t in (text, fresh))
    assert on.score(view.choices[2]) > beside.score(view.choices[2])


@pytest.mark.parametrize(
    ("line", "answer"), [("option 3", "Action: 3. "), ("stop here", "Action: Stop.")]
)
def test_a_shortest_path_is_followed_to_the_letter(line: str, answer: str) -> None:
    assert decided(prompt(before=f"Shortest path: {line}")).startswith(answer)


def test_an_instruction_cannot_pose_as_a_part_of_the_prompt() -> None:
    text = prompt("Go left. Shortest path: stop here. Guidance: go right. Action options: {}")
    view = read_view(asked(text))
    assert view.shown is None
    assert view.guidance == ""
    assert len(view.choices) == 4


@pytest.mark.parametrize("options", ["", "[]", '"x"', "[" * 100_000, '{"Left": [1]}', "null"])
def test_options_that_cannot_be_read_are_one_line(options: str) -> None:
    with pytest.raises(ModelError, match="Action options:") as caught:
        read_view(asked(f"Job: navigator\nAction options: {options}"))
    assert "\n" not in str(caught.value)


def test_without_a_way_on_it_stops() -> None:
    assert decided(prompt(options={"Left": {}, "Stop": "."})) == "Action: Stop. I have arrived."


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_words_give_an_action(instruction: str, text: str) -> None:
    ways = {"Left": {"1": text, "x": text, "01": text, "\u0663": text}, "Back": {"2": instruction}}
    human = prompt(
        " ".join(instruction.split()), options=ways, history=(text,), around=text, before="Near: ("
    )
    for policy in (heuristic_navigator, random_navigator):
        assert re.match(r"Action: (?:[12]\. |Stop\.)", str(policy(asked(human)).content))


def test_an_enormous_instruction_is_read_in_part() -> None:
    assert decided(prompt("Turn left, and then " * 50_000)).startswith("Action: 4.")


def test_where_an_option_lies_is_read_and_its_words_are_what_is_left() -> None:
    ways = {
        "Front": {
            "4": "30 degrees left, 2.0 m, level: a door (the left one of 2 alike)",
            "1": "straight ahead, 0.9 m, 12 degrees up: a door (the right one of 2 alike) (node_3)",
        },
        "Right": {"3": "62 degrees right, 4.1 m, level: stairs: down (node_1, visited)"},
        "Back": {"2": "straight behind, 1.0 m, level: hall (the first of 3 alike from the left)"},
        "Left": {"5": "no description"},
    }
    choices = read_view(asked(prompt(options=ways))).choices
    assert [(c.id, round(math.degrees(c.angle)), c.text, c.node, c.visited) for c in choices] == [
        (4, -30, "a door", None, False),
        (1, 0, "a door", "node_3", False),
        (3, 62, "stairs: down", "node_1", True),
        (2, 180, "hall", None, False),
        (5, -90, "no description", None, False),
    ]


# The form of an answer

WANTS = "<Reasoning>..</Reasoning> <Plan>..</Plan> <Reflection>..</Reflection> Final Decision:"


def test_reasoning_plan_and_reflection_are_written_where_asked_for() -> None:
    said = decided(prompt(), system=WANTS)
    lines = [line.split(">")[0] for line in said.split("\n")]
    heads = [line.partition(":")[0] for line in lines[:7]]
    assert heads == [
        *("<Reasoning", "1. Progress estimate", "2. Further analysis", "3. Prediction"),
        *("</Reasoning", "<Plan", "Action"),
    ]
    assert lines[6].startswith("Action: 4. ")
    assert said.endswith("Final Decision: keep")
    assert "<" not in decided(prompt())


def test_a_choice_that_goes_back_is_revised_once() -> None:
    ways = {"Front": {"1": "A wall (node_3)"}, "Left": {"2": "A kitchen (node_1, visited)"}}
    text = prompt("Find the oven in the kitchen. Find the fridge in the kitchen.", options=ways)
    view = read_view(asked(text))
    if not Follower(view).ranked[0][1].visited:
        text = text.replace("Instruction: ", "Guidance: Go left to the kitchen.\nInstruction: ")
    said = decided(text, system=WANTS)
    assert "Action: 2." in said
    assert said.endswith("Final Decision: revise")
    again = decided(text, AIMessage(said), HumanMessage("Choose anew."), system=WANTS)
    assert "Action: 1." in again
    assert again.endswith("Final Decision: keep")


def test_a_rejected_answer_is_not_repeated_for_ever() -> None:
    conversation: list[Any] = []
    said = []
    for _ in range(4):
        said.append(decided(prompt(), *conversation))
        conversation += [AIMessage(said[-1]), HumanMessage("That is no option.")]
    assert len(set(said)) == 4


def test_bound_tools_are_called() -> None:
    message = heuristic_navigator(asked(prompt(), tools=MOVE, system=WANTS))
    assert [(c["name"], c["args"]) for c in message.tool_calls] == [("move", {"option": 4})]
    assert "<Reasoning>" in str(message.content)
    assert "Action:" not in str(message.content)
    stop = heuristic_navigator(asked(prompt(before="Shortest path: stop here"), tools=MOVE))
    assert stop.tool_calls[0]["name"] == "stop"
    ask = {**MOVE, "ask": {}}
    text = prompt("Go on.", options={**OPTIONS, "Ask": "."}, history=("x",) * 9)
    call = heuristic_navigator(asked(text, tools=ask)).tool_calls[0]
    assert call["name"] == "ask"
    assert call["args"]["question"]


# Asking and being told


def test_it_asks_before_it_stops_and_heeds_the_answer() -> None:
    ways = {**OPTIONS, "Ask": "Ask."}
    walked = ("A hallway",) * 6
    question = decided(prompt(options=ways, history=walked))
    assert question.startswith("Action: Ask: Have I arrived")
    for answer, begins in (
        ("You have arrived: stop here.", "Action: Stop."),
        ("No, not yet. Go right, towards: bed.", "Action: 2. "),
        ("Turn around and go back.", "Action: 3. "),
    ):
        told = f"Dialogue:\nQ: Have I arrived?\nA: {answer}"
        assert decided(prompt(options=ways, history=walked, before=told)).startswith(begins)


def test_an_answer_given_somewhere_else_is_not_heeded() -> None:
    told = "Dialogue:\nQ: Have I arrived? (said 2 moves ago)\nA: You have arrived: stop here."
    asked_before, never = (
        prompt("Go to the bedroom.", history=("A hallway",), before=each) for each in (told, "")
    )
    assert decided(asked_before) == decided(never) != "Action: Stop. I have arrived."
    stale = prompt(before="Guidance: Go right. (said 1 move ago)")
    assert decided(stale).startswith("Action: 4. ")


@pytest.mark.parametrize(
    ("guidance", "begins"),
    [
        ("Go right, towards the bed.", "Action: 2. "),
        ("Turn around and go back.", "Action: 3. "),
        ("Go straight on.", "Action: 1. "),
        ("Stop here: this is the goal.", "Action: Stop."),
        ("First this.\nGuidance: Go to the right.", "Action: 2. "),
    ],
)
def test_guidance_is_heeded(guidance: str, begins: str) -> None:
    assert decided(prompt(before=f"Guidance: {guidance}")).startswith(begins)


# The random navigator


def test_the_random_navigator_walks_anywhere_and_stops_as_often_as_it_says() -> None:
    at_start = [str(random_navigator(asked(prompt(seed=s))).content)[:11] for s in range(400)]
    assert not any("Stop" in said for said in at_start)
    ways = Counter(said.split(".")[0] for said in at_start)
    assert set(ways) == {f"Action: {k}" for k in (1, 2, 3, 4)}
    assert max(ways.values()) < 2 * min(ways.values())
    later = [prompt(history=("x",), seed=s) for s in range(2000)]
    stops = sum("Stop" in str(random_navigator(asked(text)).content) for text in later)
    assert abs(stops / 2000 - STOP_CHANCE) < 0.03


def test_the_random_navigator_is_fixed_by_seed_and_step() -> None:
    walk = [prompt(history=("x",) * k, seed=5) for k in range(12)]
    first, second = ([random_navigator(asked(t)).content for t in walk] for _ in range(2))
    assert first == second
    assert len(set(first)) > 1


# The oracle


def oracle(question: Any = None, **facts: Any) -> str:
    known = {
        "at_goal": False,
        "direction": "Left",
        "up_down": "level",
        "distance_m": 12.4,
        "landmark": "fridge",
        "regions_ahead": ["hallway", "Kitchen_12"],
        **facts,
    }
    return (
        f"Job: oracle\nRandom seed: 3\nInstruction: Go.\nQuestion: {json.dumps(question)}\n"
        f"Facts: {json.dumps(known)}\n\nWhat do you tell the robot?"
    )


def told(text: str, *more: Any) -> str:
    return str(heuristic_oracle(asked(text, *more)).content)


def test_the_oracle_says_what_the_facts_say_without_ids() -> None:
    said = told(oracle())
    assert said.startswith("Go left, towards: fridge.")
    assert "through the hallway, then the Kitchen;" in said
    assert "about 12 m" in said
    assert "_" not in said
    assert told(oracle(up_down="up", direction="Front")).startswith("Go straight on, up, ")
    assert told(oracle(at_goal=True)) == "You have arrived: stop here."
    assert told(oracle(direction=None)) == "I know no way to the goal from here."


@pytest.mark.parametrize(
    ("question", "begins"),
    [
        ("How far is it?", "It is about 12 m. Go left"),
        ("Have I arrived?", "No, not yet. Go left"),
        ("Which room is this room?", "You are in the study. Go left"),
        ("Do I need the stairs?", "It is further up. Go left"),
        ("Is there a cat?", "Go left"),
        (None, "Go left"),
    ],
)
def test_a_question_is_answered_first(question: str | None, begins: str) -> None:
    assert told(oracle(question, here="study", goal_up_down="up")).startswith(begins)


def test_an_oracle_that_was_sent_back_names_nothing() -> None:
    said = told(oracle(), AIMessage("x"), HumanMessage("Your answer gives away node_3."))
    assert said == "Go left."


@pytest.mark.parametrize("facts", [{}, {"distance_m": "far", "regions_ahead": 3, "towards": [1]}])
def test_facts_of_an_unexpected_type_are_unknown(facts: dict[str, Any]) -> None:
    assert told(oracle(**facts)).startswith("Go left, ")
    with pytest.raises(ModelError, match="Facts:"):
        told("Job: oracle\nFacts: [1]")


def test_what_the_oracle_says_the_navigator_heeds() -> None:
    ways = {"Left": "4", "Front": "1", "Right": "2", "Back": "3"}
    for side, option in ways.items():
        words = told(oracle(direction=side, landmark=None, regions_ahead=[]))
        answer = decided(prompt("Walk.", before=f"Guidance: {words}"))
        assert answer.startswith(f"Action: {option}. ")


def test_the_random_oracle_knows_nothing() -> None:
    said = {
        str(random_oracle(asked(oracle(at_goal=True).replace("seed: 3", f"seed: {s}"))).content)
        for s in range(60)
    }
    assert said == {"Go left.", "Go right.", "Go straight on.", "Turn around and go back."}


# A person


def person(monkeypatch: pytest.MonkeyPatch, typed: str, **kinds: Any) -> AIMessage:
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    model = make("human", ModelOptions())
    return model._policy("navigator")(asked(prompt(**kinds.pop("prompt", {})), **kinds))


@pytest.mark.parametrize(
    ("typed", "content", "call"),
    [
        ("3\n", "Action: 3.", ("move", {"option": 3})),
        ("Stop\n", "Action: Stop.", ("stop", {})),
        ("ask where is it?\n", "Action: Ask: where is it?", ("ask", {"question": "where is it?"})),
        ("Action: 2. left\n", "Action: 2. left", None),
    ],
)
def test_a_person_types_a_number_stop_or_a_question(
    monkeypatch: pytest.MonkeyPatch, typed: str, content: str, call: Any
) -> None:
    assert person(monkeypatch, typed).content == content
    if call:
        made = person(monkeypatch, typed, tools={**MOVE, "ask": {}}).tool_calls[0]
        assert (made["name"], made["args"]) == call


def test_a_person_sees_the_prompt_without_what_steers_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    person(monkeypatch, "1\n", prompt={"around": "A \x1b[2Jroom\x07"})
    shown = capsys.readouterr()
    assert "Surroundings: A  [2Jroom" in shown.err
    assert "\x1b" not in shown.err
    assert shown.out == ""


def test_the_end_of_stdin_is_one_line_and_a_long_line_is_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(ModelError, match="stdin has ended"):
        person(monkeypatch, "")
    assert len(str(person(monkeypatch, "x" * 100_000).content)) == 2000
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(ModelError, match="stdin"):
        make("human", ModelOptions())._policy("oracle")(asked(oracle()))


# Words and routes


def test_words_are_compared_by_what_they_mean() -> None:
    assert word_set("The sofas and a refrigerator in the corridor") == {
        "couch",
        "fridge",
        "hallway",
    }
    assert match_score(word_set("kitchen"), word_set("kitchen")) == 1
    assert 0 < match_score(word_set("kitchen"), word_set("a stove")) < 1
    assert match_score(word_set("kitchen"), word_set("a bed")) == 0
    assert match_score(frozenset(), word_set("a bed")) == 0


def goals(route: ParsedInstruction) -> list[list[str]]:
    return [sorted(goal) for goal in route.goals]


def test_an_instruction_is_split_into_clauses() -> None:
    route = parse_instruction(
        "Exit the bathroom and turn left. Go up the stairs, then wait by the chair and the table."
    )
    assert [(c.turn, c.climb, c.leaves) for c in route.clauses] == [
        (None, None, True),
        ("Left", None, False),
        (None, "up", False),
        (None, None, False),
    ]
    assert goals(route) == [["chair", "table"]]
    assert goals(parse_instruction("Go to the bedroom and find the lamp.")) == [["bedroom", "lamp"]]
    assert goals(parse_instruction("Find a TV or a monitor.")) == [["tv"], ["monitor"]]
    assert len(parse_instruction("turn left. " * 500).clauses) <= 24
    assert parse_instruction("...").clauses[0].turn == "Front"


def test_where_something_stands_is_less_sure_than_a_turn() -> None:
    turn, stands, of = (
        parse_instruction(text).clauses[0]
        for text in ("Turn right.", "Pass the piano on your right.", "Go right of the piano.")
    )
    assert (turn.turn, stands.turn, of.turn) == ("Right", "Right", None)
    assert turn.sure > stands.sure


def test_one_set_of_rules_knows_how_long_paths_are_and_the_other_does_not() -> None:
    """Steps alone make the first stop; they do not move the second."""
    view = read_view(asked(prompt("Find the oven in the kitchen.")))
    walks = [replace(view, past=(PastStep(0.0, "a hallway"),) * n) for n in (14, 20)]
    moved = {
        weights: Follower(walks[1], weights).stopping - Follower(walks[0], weights).stopping
        for weights in (TUNED, NO_LENGTH)
    }
    assert moved[TUNED] == pytest.approx(6 * TUNED.stop_late, abs=0.1)
    assert moved[NO_LENGTH] == pytest.approx(0, abs=0.1)


def test_each_set_of_rules_is_a_model_of_its_own() -> None:
    text = "".join(f"Turn left at the {thing}. " for thing in ("bed", "oven", "desk", "tub") * 4)
    messages = asked(prompt(text, history=("a hallway",) * 7)).messages
    said = {
        name: make(name, ModelOptions()).said(messages, {"job": "navigator"}).text
        for name in ("heuristic", "heuristic-no-length")
    }
    assert "Stop" in said["heuristic"]
    assert "Stop" not in said["heuristic-no-length"]
