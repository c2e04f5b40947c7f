"""Questions as models write them: how many are read, how far, and what the schema says of one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from navloom.models.messages import AnswerError
from navloom.tools.capnav.answer_parser import (
    compact_schema,
    normalize_question,
    read_questions,
    response_schema,
    schema_violations,
)
from tests.tools.capnav.test_question_grounding import question

MOST_CHARACTERS, MOST_QUESTIONS = 200_000, 50


def test_an_answer_is_read_up_to_200_000_characters() -> None:
    text = json.dumps({"questions": [question()]})
    assert read_questions(text.ljust(MOST_CHARACTERS)) == [question()]
    with pytest.raises(AnswerError, match="200001 characters long; at most 200000 are read"):
        read_questions(text.ljust(MOST_CHARACTERS + 1))


@pytest.mark.parametrize(("written", "read"), [(49, 49), (50, 50), (51, 50)])
def test_fifty_questions_of_an_answer_are_read(written: int, read: int) -> None:
    asked = [question(reason=str(number)) for number in range(written)]
    found = read_questions(json.dumps(asked))
    assert [one["reason"] for one in found] == [str(number) for number in range(read)]
    lines = "\n".join(json.dumps(one) for one in asked)
    assert len(read_questions(lines)) == read


def test_two_thousand_beginnings_are_tried() -> None:
    one = json.dumps(question())
    assert read_questions("{" * 1_999 + one) == [question()]
    with pytest.raises(AnswerError, match="holds no JSON with questions"):
        read_questions("{" * 2_000 + one)


def test_of_several_lists_the_last_counts_and_a_list_before_single_ones() -> None:
    first, last = question(reason="first"), question(reason="last")
    said = json.dumps([first]) + json.dumps({"questions": [last]}) + json.dumps(first)
    assert read_questions(said) == [last]
    assert read_questions(json.dumps(first) + json.dumps(last)) == [first, last]
    assert read_questions(json.dumps([first, 3, "x"])) == [first]
    # What is no question is none, and an empty list is no answer.
    assert read_questions('{"note": 1} [] ' + json.dumps(first)) == [first]
    # A thought that was never closed is read where nothing else holds questions.
    thought = f"<think>{json.dumps([first])}"
    assert read_questions(thought) == [first]
    assert read_questions(json.dumps([last]) + thought) == [last]


@pytest.mark.parametrize(("least", "most"), [(0, 1), (1, 2), (5, 10), (25, 50), (26, 50)])
def test_a_model_may_write_twice_what_is_asked_for(least: int, most: int) -> None:
    asked = response_schema(["a"], constrain=False, least=least)["properties"]["questions"]
    assert asked["maxItems"] == most


def test_places_and_listed_things_are_enumerated_where_that_is_asked_for() -> None:
    route, things = ("Hall_1", "Kitchen_2"), ((), ("stove", "sink"))
    held = compact_schema(route, things, constrain=True)["properties"]
    enums = {key: part.get("enum") for key, part in held.items() if key != "scene_type"}
    assert enums == {
        "start": ["Hall_1"], "start_detail": None, "end": ["Kitchen_2"],
        "end_detail": ["stove", "sink"],
    }  # fmt: skip
    free = compact_schema(route, things, constrain=False)["properties"]
    assert [key for key, part in free.items() if "enum" in part and key != "scene_type"] == []


def said_of(**changes: Any) -> list[str]:
    return [fault.message for fault in schema_violations(question(**changes))]


def test_a_breach_of_the_schema_is_said_in_words() -> None:
    assert said_of() == []
    lacking = {key: part for key, part in question().items() if key != "reason"}
    assert [fault.message for fault in schema_violations(lacking)] == ["the question lacks reason"]
    assert said_of(end=3) == ["nodes_involved.end is '3': expected string"]


def test_four_breaches_are_told() -> None:
    many = {"scene_type": 1, "question": 2, "reason": 3, "nodes_involved": 4}
    assert len(schema_violations(many)) == 4
    worse = question(start=1, start_detail=2, end=3, end_detail=4, intermediate=5)
    assert len(schema_violations(worse)) == 4


def test_a_question_is_trimmed_to_the_benchmarks_keys_and_single_spaces() -> None:
    made = question(end_detail="  by \n the sofa ", intermediate=[" Dining_room_4 "])
    given = {**made, "nodes_involved": {**made["nodes_involved"], "more": 1}, "more": 2}
    assert normalize_question(given) == question()
