"""One action out of free text: what is read, what is refused, and with which words (D.8)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from navloom.tools.navigation.action_parser import (
    FAULTS,
    MOST_REPLY,
    ActionError,
    ParsedAction,
    parse_action,
    parse_call,
)
from navloom.tools.navigation.step_options import MoveOption, read_remarks, strip_thoughts
from tests.tools.navigation.fuzz_actions import fuzz, table

OPTIONS = [
    MoveOption(1, "a", "Front", "Hallway with a brown wall; leads toward a corridor"),
    MoveOption(2, "b", "Back", "Stairs down"),
    MoveOption(3, "c", "Left", "Gym with machines"),
    MoveOption(4, "d", "Left", "2 chairs near a lamp"),
]


def read(text: str, *, ask: bool = False) -> Any:
    """What an action is, as a number, "stop", a question or (fault kind, message)."""
    try:
        found = parse_action(text, OPTIONS, ask=ask)
    except ActionError as error:
        return error.kind, str(error)
    return found.option or found.question or found.kind


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Action: 3. Gym with machines", 3),
        ("**Action:** 3", 3),
        ("**Action**: **3**", 3),
        ("### Action\n3. Gym", 3),
        ("<Action>3</Action>", 3),
        ("<Action>Stop</Action>", "stop"),
        ('{"reason": "the door", "action": "3"}', 3),
        ('{"Action": {"Left": {"3": "Gym"}}}', 3),
        ("Action：３", 3),
        ("action - 3", 3),
        ("Action 3. Gym", 3),
        ("Action ID: 3", 3),
        ("Action: Left, option 3", 3),
        ("Action: move to 3", 3),
        ("Action: Option 3 or so", 3),
        # Numbers come before directions, and directions where one option lies there.
        ("Action: Left 3", 3),
        ("Action: Front", 1),
        ("Action: turn around", 2),
        ("Action: go straight ahead", 1),
        ("Action: go back to the stairs", 2),
        # A whole description names its option, whatever numbers are in it.
        ("Action: Gym with machines", 3),
        ("Action: 2 chairs near a lamp", 4),
        ("Action: 3. 2 chairs", 3),
        ("Action: Stop.", "stop"),
        ("ACTION: STOP", "stop"),
        ("Action: Stop. I am at the 2nd door.", "stop"),
        ("Action: I will stop here.", "stop"),
        ("Action: stop at the door", "stop"),
        # The last field counts, and those that lead a line before those within one.
        ("Action: 1? No.\nAction: 3", 3),
        ("Action: 3\nReflection: the action: 4 is worse\nFinal Decision: keep", 3),
        ("The best action: 3", 3),
        # Thoughts hold no field.
        ("<Reasoning>Action: 2</Reasoning>\nAction: 3", 3),
        ("Hm. Action: 2</think>\nAction: 3", 3),
        ("<think>stop? Action: Stop</think>Action: 3", 3),
        ("Action: 3\n<Reflection>Action: 1 was better</Reflection>", 3),
        # A tag that is never closed hides nothing but a thought.
        ("<Reasoning>The hall. Action: 3", 3),
    ],
)
def test_what_is_read(text: str, said: object) -> None:
    assert read(text) == said


@pytest.mark.parametrize(
    ("text", "kind", "fault"),
    [
        ("", "unparsed", 'no "Action:" field'),
        ("I think we should stop here.", "unparsed", 'no "Action:" field'),
        ("Option 3", "unparsed", 'no "Action:" field'),
        ("停止", "unparsed", 'no "Action:" field'),
        ("Acción: 3", "unparsed", 'no "Action:" field'),
        ("Reaction: 3", "unparsed", 'no "Action:" field'),
        ("My last action: 3 was wrong.", "unparsed", 'no "Action:" field'),
        ("<think>I take Action: 3", "unparsed", 'no "Action:" field'),
        ("<think>First <Reasoning> Action: 3", "unparsed", 'no "Action:" field'),
        ("Action:", "unparsed", "field is empty"),
        ("x" * (MOST_REPLY + 1), "unparsed", "200001 characters"),
        ("Action: 9", "invalid_option", "Option 9 is not there. The options are 1, 2, 3, 4, Stop."),
        ("Action: 0", "invalid_option", "Option 0 is not there"),
        ("Action: 999999", "invalid_option", "Option 999999 is not there"),
        ("Action: 1000000", "invalid_option", '"1000000" names no option'),
        ("Action: -3", "invalid_option", '"-3" names no option'),
        ("Action: 3.5", "invalid_option", '"3.5" names no option'),
        ("Action: 3m ahead", "invalid_option", "names no option"),
        ("Action: 3 steps", "invalid_option", "names no option"),
        ("Action: node_3", "invalid_option", "names no option"),
        ("Action: 3, 4", "invalid_option", "names several"),
        ("Action: 3 or 4", "invalid_option", "names several"),
        ("Action: 1" + "0" * 50, "invalid_option", "names no option"),
        ("Action: Left", "invalid_option", "Left has several options (3, 4)"),
        ("Action: Right", "invalid_option", "There is no option to the Right"),
        ("Action: left or back", "invalid_option", "Left and Back are several directions"),
        ("Action: Hallway with 2 chairs", "invalid_option", "names no option"),
        ("Action: <Option_ID>. <description>", "invalid_option", "names no option"),
        # "Stop" is an action where it is said, and nowhere else.
        ("Action: don't stop", "invalid_option", "names no option"),
        ("Action: stop sign", "invalid_option", "names no option"),
        ("Action: Stop going left", "invalid_option", "names no option"),
        ("Action: Stop, then take option 3", "invalid_option", "names Stop and option 3"),
        ("Action: go left and stop", "invalid_option", "Left has several"),
        ("Action: Ask: where?", "invalid_option", "Ask is not an option now"),
        ("I'm sorry, but I can't help with that.", "refusal", "declined"),
        ("Action: I cannot assist with this.", "refusal", "declined"),
        ("As an AI, I cannot walk.", "refusal", "declined"),
    ],
)
def test_what_is_refused_and_why(text: str, kind: str, fault: str) -> None:
    said = read(text)
    assert said[0] == kind
    assert fault in said[1]


def test_a_description_of_three_words_names_its_option_unless_it_begins_as_an_action() -> None:
    signs = [
        MoveOption(1, "a", "Front", "Stop sign by a wall"),
        MoveOption(2, "b", "Back", "A stop sign by a door"),
        MoveOption(3, "c", "Left", "Ask at the desk"),
        MoveOption(4, "d", "Right", "The lift"),
        MoveOption(5, "e", "Right", "The old lift"),
    ]

    def taken(text: str) -> object:
        try:
            found = parse_action(text, signs, ask=True)
        except ActionError as error:
            return error.kind
        return found.option or found.question or found.kind

    assert taken("Action: A stop sign by a door.") == 2
    assert taken("Action: the OLD lift") == 5
    assert taken("Action: Stop sign by a wall") == "invalid_option"
    assert taken("Action: Ask at the desk") == "at the desk"
    assert taken("Action: The lift") == "invalid_option"
    signs.append(MoveOption(6, "f", "Left", "the old lift!"))
    assert taken("Action: the old lift") == "invalid_option"


def test_a_valid_action_is_no_refusal() -> None:
    assert read("I'm sorry, I cannot see the kitchen.\nAction: 3") == 3


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Action: Ask: Where is the kitchen?", "Where is the kitchen?"),
        ('**Action:** Ask: "Is it option 3 or 4?"', "Is it option 3 or 4?"),
        ("Action: Ask\nWhere do I stop?", "Where do I stop?"),
        ("Action: ask whether 3 is right", "whether 3 is right"),
    ],
)
def test_a_question_is_read_where_asking_is_offered(text: str, question: str) -> None:
    assert read(text, ask=True) == question


@pytest.mark.parametrize("text", ["Action: Ask", "Action: Ask: ", "Action: Ask: ???"])
def test_a_question_without_words_is_none(text: str) -> None:
    assert read(text, ask=True)[0] == "invalid_option"


def test_a_question_is_one_bounded_line() -> None:
    question = read("Action: Ask: " + "why " * 1_000 + "\nmore", ask=True)
    assert len(question) <= 400
    assert "\n" not in question


def call(name: str, **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args, "id": "1"}


@pytest.mark.parametrize("number", [3, "3", 3.0])
def test_a_call_moves(number: object) -> None:
    assert parse_call([call("move", option=number)], OPTIONS) == ParsedAction(
        "move", option=3, viewpoint="c"
    )


def test_a_call_stops_or_asks() -> None:
    assert parse_call([call("stop")], OPTIONS).kind == "stop"
    asked = parse_call([call("ask", question="Where?")], OPTIONS, ask=True)
    assert asked == ParsedAction("ask", question="Where?")


@pytest.mark.parametrize(
    ("calls", "kind", "fault"),
    [
        ([], "unparsed", "no tool call: make exactly one, move or stop"),
        ([call("stop"), call("stop")], "unparsed", "2 tool calls"),
        ([call("move")], "invalid_option", "move needs a number"),
        ([call("move", option=True)], "invalid_option", "move needs a number"),
        ([call("move", option=float("nan"))], "invalid_option", "move needs a number"),
        ([call("move", option=9)], "invalid_option", "Option 9 is not there"),
        ([call("move", option=999_999)], "invalid_option", "Option 999999 is not there"),
        ([call("move", option=-999_999)], "invalid_option", "Option -999999 is not there"),
        ([call("move", option=10**6)], "invalid_option", "Option that number is not there"),
        ([call("move", option=10**400)], "invalid_option", "Option that number is not there"),
        ([call("move", option="1234567")], "invalid_option", "move needs a number"),
        ([call("ask", question="Where?")], "invalid_option", "no tool 'ask'"),
        ([call("rm -rf", x="y" * 999)], "invalid_option", "no tool 'rm -rf'"),
        ([{"name": "move", "args": None}], "invalid_option", "move needs a number"),
    ],
)
def test_a_call_that_is_no_action(calls: Any, kind: str, fault: str) -> None:
    with pytest.raises(ActionError) as caught:
        parse_call(calls, OPTIONS)
    assert (caught.value.kind, fault in str(caught.value)) == (kind, True)


def test_remarks_are_kept_beside_the_action() -> None:
    said = read_remarks(
        "<Reasoning>The hall\nleads on.</Reasoning>\n<Plan>hall, then kitchen</Plan>\nAction: 3\n"
        "<Reflection>It fits.</Reflection>\n**Final Decision:** keep"
    )
    assert (said.reasoning, said.reflection) == ("The hall leads on.", "It fits.")
    assert (said.plan, said.decision) == ("hall, then kitchen", "keep")


def test_a_tag_is_closed_by_its_own_name_alone() -> None:
    slip = "<Plan>hall</Reflection> Action: 1"
    assert (read_remarks(slip).plan, read_remarks(slip).reflection) == (None, None)
    assert strip_thoughts(slip) == slip
    assert read_remarks("<Plan>hall</Reflection> kitchen</Plan>").plan == "hall kitchen"
    assert read("<think>Not Action: 1</Plan> nor Action: 2</think> Action: 3") == 3


@pytest.mark.parametrize(
    ("text", "decision"),
    [
        ("Final Decision: revise", "revise"),
        ("<Final Decision>: Revise the action", "revise"),
        ("<Final Decision>keep</Final Decision>", "keep"),
        ("Decision: I would not revise it", "keep"),
        ("Final decision: replan", "revise"),
        ("Final Decision: keep\nFinal Decision: revise", "revise"),
        ("My decision was right", None),
        ("Final Decision: perhaps", None),
    ],
)
def test_the_final_decision(text: str, decision: str | None) -> None:
    assert read_remarks(text).decision == decision


def test_labels_do_where_tags_are_missing() -> None:
    said = read_remarks("Thought: the hall\nAction: 3\nReflection: it fits\nFinal Decision: keep")
    assert (said.reasoning, said.reflection, said.decision) == ("the hall", "it fits", "keep")


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    for said in (text, f"Action: {text}"):
        found = read(said, ask=True)
        assert found in (1, 2, 3, 4) or isinstance(found, str) or found[0] in FAULTS
        remarks = read_remarks(said)
        assert len(remarks.reasoning or "") <= 2_000
        assert len(strip_thoughts(said)) <= len(said) + said.count("<") + 1


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "piece",
    ["Action: ", "<think>", "</think>", "<Reasoning>", "action\n", "Final Decision:", " *_", "9",
     "Action: Stop\n", "<", "\n"],
)  # fmt: skip
def test_the_longest_replies_are_read_in_one_pass(piece: str) -> None:
    """Milliseconds each; anything quadratic would take minutes here."""
    text = piece * (MOST_REPLY // len(piece))
    read(text)
    read(f"Action: {text}"[:MOST_REPLY])
    read_remarks(text)


def test_generated_replies_break_nothing() -> None:
    rows = fuzz(20_000, seed=11)
    bad = sum(row.crashes + row.not_offered + row.misread for row in rows.values())
    assert bad == 0, table(rows)
    assert sum(row.replies for row in rows.values()) == 20_000
    # What is well-formed is read, and what a model may plausibly get wrong is refused.
    assert rows["well-formed"].faults.total() == 0
    assert rows["not an option"].move == rows["not an option"].stop == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Action: 3".ljust(200_000), 3),
        ("Action: 3".ljust(200_001), "unparsed"),
        # Forty signs may stand before a field that leads its line.
        ("*" * 40 + "Action 3. Gym", 3),
        ("*" * 41 + "Action 3. Gym", "unparsed"),
        ("Well\n" + "*" * 40 + "Action 3. Gym", 3),
        ("Well\n" + "*" * 41 + "Action 3. Gym", "unparsed"),
        ("W\nAction 3. Gym", 3),
        # What was done before is looked for in the twelve characters before the field.
        ("wrong" + " " * 7 + "action: 3", "unparsed"),
        ("wrong" + " " * 8 + "action: 3", 3),
        # Twelve words of a field are read.
        ("Action: " + "the " * 11 + "3", 3),
        ("Action: " + "the " * 12 + "3", "invalid_option"),
        ("Action: option -3", "invalid_option"),
        ("Action: room-3", "invalid_option"),
        # After a letter the sign belongs to the word.
        ("Action: option-3", 3),
        ("Action: no.3", 3),
        # A number of up to four digits after Stop may be an option.
        ("Action: Stop. 3", "invalid_option"),
        ("Action: Stop. 0003", "invalid_option"),
        ("Action: Stop. 00003", "stop"),
        ("Action: Stop. 9", "stop"),
        ("Action: 000003", 3),
        ("Action: 0000003", "invalid_option"),
    ],
)
def test_how_far_a_reply_is_read(text: str, said: object) -> None:
    found = read(text)
    assert (found[0] if isinstance(found, tuple) else found) == said


def test_a_refusal_stands_in_the_first_400_characters() -> None:
    said = " I cannot help"
    assert read("x" * (400 - len(said)) + said)[0] == "refusal"
    assert read("x" * (401 - len(said)) + said)[0] == "unparsed"


@pytest.mark.parametrize(
    ("spaces", "question"), [(711, "a bcd"), (712, "a bc"), (0, "abcd"), (20, "a bcd")]
)
def test_720_characters_of_a_field_are_read(spaces: int, question: str) -> None:
    assert read("Action: Ask: a" + " " * spaces + "bcd", ask=True) == question


def test_a_question_ends_with_its_line() -> None:
    assert read("Action: Ask: Where?\nThank you.", ask=True) == "Where?"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Action: gym with machines", 3),
        ("Action: stairs down", "invalid_option"),
        ("Action: 2 chairs near a lamp", 4),
    ],
)
def test_a_description_of_three_words_names_an_option(text: str, said: object) -> None:
    found = read(text)
    assert (found[0] if isinstance(found, tuple) else found) == said
