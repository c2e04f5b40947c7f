"""Replies of models, read tolerantly: every form, and nothing guessed."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from navloom.models.messages import AnswerError
from navloom.tools.capnav.answer_parser import MOST_PATH, CapnavAnswer, parse_answer, split_thoughts

YES = {"answer": "yes", "path": ["node_1", "node_2"], "reason": "clear"}
NO = {"answer": "no", "path": ["node_1", "node_3"], "reason": "stairs"}


def item(result: Any, question: str = "Q?", agent: str = "HUMAN") -> dict[str, Any]:
    return {"question": question, "agent": agent, "result": result}


ARRAY = json.dumps([item(YES)])


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (ARRAY, "array"),
        (json.dumps(item(YES)), "object"),
        (json.dumps(YES), "object"),
        (f"```json\n{ARRAY}\n```", "array"),
        (f"<think>perhaps {json.dumps([item(NO)])}</think>{ARRAY}", "array"),
        (f"<THINKING>\nno</THINKING>\n{ARRAY} Hope that helps!", "array"),
        (f"a thought from before the reply</think> {ARRAY}", "array"),
        (f"{ARRAY}<think>and then", "array"),
        (f"<think>so it is, therefore {ARRAY}", "array"),
        (f"An example: {json.dumps([item(NO)])}. My answer: {ARRAY}", "array"),
        (json.dumps({"answers": [item(YES)]}), "object"),
        (json.dumps({"output": item(YES)}), "object"),
        (json.dumps([item([YES])]), "array"),
        (json.dumps([item({**YES, "answer": True})]), "array"),
        (json.dumps([item({**YES, "answer": "Yes."})]), "array"),
        (json.dumps([item({**YES, "answer": "(A) True"})]), "array"),
        (json.dumps([item({**YES, "path": "node_1 -> node_2"})]), "array"),
        (json.dumps([item({**YES, "path": [{"id": "node_1"}, {"node": "node_2"}]})]), "array"),
        ("Answer: (A) True | Path: node_1 -> node_2 | Reason: clear", "line"),
        ("**Answer:** A. Yes | Path: node_1 → node_2 | Fail: clear", "line"),
        ("answer: true | path: node_1, node_2 | reason: clear\nThat is all.", "line"),
        ("Answer: (B) False | Path: x -> y\nAnswer: (A) True | Path: node_1->node_2|Reason: clear",
         "line"),
    ],
)  # fmt: skip
def test_every_form_of_an_answer(text: str, form: str) -> None:
    assert parse_answer(text) == CapnavAnswer("yes", ("node_1", "node_2"), "clear", form)  # type: ignore[arg-type]


def test_of_several_answers_the_one_that_was_asked_for() -> None:
    rows = [item(YES, "Another?", "HUMAN"), item(NO, "Q?", "SWEEPER"), item(YES, "Q?", "HUMAN")]
    text = json.dumps(rows)
    assert parse_answer(text, question="q", agent="sweeper").answer == "no"
    assert parse_answer(text, question="Q?", agent="HUMAN").answer == "yes"
    assert parse_answer(text, question="unheard of").answer == "yes"
    assert parse_answer(json.dumps(rows[1:]), question="unheard of").answer == "no"
    assert parse_answer(text, agent="SWEEPER").answer == "no"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no JSON"),
        ("It cannot get there because of the stairs.", "holds no JSON"),
        ("Answer: (A) True", "holds no JSON"),
        (json.dumps([1, 2]), "holds no JSON"),
        (json.dumps([item({**YES, "answer": "maybe"})]), 'expected "yes" or "no"'),
        (json.dumps([item({**YES, "answer": None})]), 'expected "yes" or "no"'),
        (json.dumps([item({**YES, "path": []})]), '"yes" without a path'),
        (json.dumps([item({"answer": "yes"})]), '"yes" without a path'),
        (json.dumps([item({**NO, "path": 7})]), '"path" is no list'),
        (json.dumps([item({**NO, "path": ["n"] * 201})]), f"at most {MOST_PATH}"),
        ("x" * 200_001, "200001 characters long"),
    ],
)
def test_what_is_no_answer_is_told_in_one_line(text: str, said: str) -> None:
    with pytest.raises(AnswerError, match=said) as caught:
        parse_answer(text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_path_keeps_what_is_no_text() -> None:
    # Dropped, the number could make a wrong path right.
    found = parse_answer(json.dumps([item({**YES, "path": ["node_1", 7, "node_2"]})]))
    assert found.path == ("node_1", "7", "node_2")
    assert parse_answer(json.dumps([item({"answer": "no"})])) == CapnavAnswer("no")


def test_thoughts() -> None:
    assert split_thoughts("a<think>b</think>c") == ("ac", "")
    assert split_thoughts("a<think>b") == ("a", "b")
    assert split_thoughts("b</think>c") == ("c", "")


@pytest.mark.parametrize(
    "text",
    [
        "<think>" * 28_000,
        "</think>" * 24_000,
        "[" * 199_000,
        '{"' * 99_000,
        '{"answer": ' * 18_000,
        "Answer: " * 24_000,
        "Answer:" + " " * 199_000,
        "[{}," * 49_000,
        json.dumps([item({**YES, "path": ["n" * 900] * 200})]),
    ],
)
def test_200_kb_of_anything_ends(text: str) -> None:
    # What is not linear runs into the suite's time limit here.
    with contextlib.suppress(AnswerError):
        parse_answer(text)


@given(st.text(max_size=300) | st.text(alphabet='[]{}"answer:pthyeno, ->|()<>\n', max_size=300))
def test_anything_is_an_answer_or_one_line(text: str) -> None:
    fault, found = None, None
    try:
        found = parse_answer(text)
    except AnswerError as error:
        fault = str(error)
    assert (found is None) == (fault is not None)
    assert "\n" not in (fault or "")
    assert found is None or found.answer in ("yes", "no")


def test_an_answer_is_read_up_to_200_000_characters() -> None:
    assert parse_answer(ARRAY.ljust(200_000)).answer == "yes"
    with pytest.raises(AnswerError, match="200001 characters long; at most 200000 are read"):
        parse_answer(ARRAY.ljust(200_001))


@pytest.mark.parametrize(("depth", "found"), [(0, True), (3, True), (4, False)])
def test_an_answer_is_looked_for_three_levels_deep(depth: int, found: bool) -> None:
    value: Any = item(YES)
    for _ in range(depth):
        value = {"in": value}
    with contextlib.nullcontext() if found else pytest.raises(AnswerError, match="holds no JSON"):
        assert parse_answer(json.dumps(value)).answer == "yes"


@pytest.mark.parametrize(("others", "found"), [(19, True), (20, False)])
def test_twenty_keys_of_an_object_are_looked_at(others: int, found: bool) -> None:
    value = {**{f"k{n}": 0 for n in range(others)}, "last": item(YES)}
    with contextlib.nullcontext() if found else pytest.raises(AnswerError, match="holds no JSON"):
        assert parse_answer(json.dumps(value)).answer == "yes"


@pytest.mark.parametrize(("others", "found"), [(199, True), (200, False)])
def test_two_hundred_entries_of_a_list_are_looked_at(others: int, found: bool) -> None:
    value = [*([0] * others), item(YES)]
    with contextlib.nullcontext() if found else pytest.raises(AnswerError, match="holds no JSON"):
        assert parse_answer(json.dumps(value)).answer == "yes"


def test_the_question_weighs_more_than_the_body() -> None:
    rows = [item(YES, "Other?", "HUMAN"), item(NO, "Q?", "SWEEPER")]
    assert parse_answer(json.dumps(rows), question="Q?", agent="HUMAN").answer == "no"
    assert parse_answer(json.dumps(rows), question="", agent="SWEEPER").answer == "no"
    assert parse_answer(json.dumps(rows), question="", agent="HUMAN").answer == "yes"
    # Where nothing is asked for, an item without a question is no better than others.
    assert (
        parse_answer(json.dumps([item(YES, "Q?"), item(NO, "")]), question="", agent="").answer
        == "yes"
    )
    assert (
        parse_answer(
            json.dumps([item(YES, "Q?"), item(NO, "Q?", "")]), question="Q?", agent=""
        ).answer
        == "yes"
    )


def test_what_is_over_its_bound_is_cut() -> None:
    long = item({"answer": "yes", "path": ["n" * 301, "m"], "reason": "r" * 4_001})
    found = parse_answer(json.dumps([long]))
    assert found.path == ("n" * 300, "m")
    assert found.reason == "r" * 4_000
    # 2,000 characters of a question are compared.
    rows = [item(NO, "q" * 1_999 + "y"), item(YES, "q" * 2_000 + "z")]
    assert parse_answer(json.dumps(rows), question="q" * 2_000, agent="").answer == "yes"


@pytest.mark.parametrize(("nodes", "read"), [(200, True), (201, False)])
def test_a_path_has_two_hundred_nodes_at_most(nodes: int, read: bool) -> None:
    text = json.dumps(item({**YES, "path": [f"n{k}" for k in range(nodes)]}))
    with contextlib.nullcontext() if read else pytest.raises(AnswerError, match="201 nodes"):
        assert len(parse_answer(text).path) == 200


def test_yes_needs_two_nodes_and_no_needs_none() -> None:
    with pytest.raises(AnswerError, match="without a path"):
        parse_answer(json.dumps(item({**YES, "path": ["a"]})))
    assert parse_answer(json.dumps(item({"answer": "no", "path": None}))).path == ()


@pytest.mark.parametrize(("spaces", "read"), [(97, True), (98, False)])
def test_the_word_of_an_answer_is_in_its_first_hundred_characters(spaces: int, read: bool) -> None:
    text = json.dumps(item({**YES, "answer": " " * spaces + "yes"}))
    with contextlib.nullcontext() if read else pytest.raises(AnswerError, match="expected"):
        assert parse_answer(text).answer == "yes"
