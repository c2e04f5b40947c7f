"""Answers about viewpoints: what is accepted, and what exactly is said of the rest."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from navloom.graphs.captions.captioner import (
    marker_schema,
    read_markers,
    read_summary,
    summary_schema,
)
from navloom.models.messages import AnswerError
from navloom.models.structured_output import strict_schema
from navloom.sim.protocol import MOST_DESCRIPTION, MOST_SUMMARY


def test_what_is_accepted() -> None:
    said = 'Sure: ```json\n{"1": "a  kitchen\\nwith an oven", "2": "hallway"}\n```'
    assert read_markers(said, 2) == {"1": "a kitchen with an oven", "2": "hallway"}
    assert read_summary('{"summary": "A hall."}') == "A hall."


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ("none", "holds no JSON object"),
        ({"1": "a hall"}, "Missing: 2."),
        ({}, "Missing: 1, 2."),
        ({"1": "a hall", "2": "a door", "3": "x"}, "Not asked for: 3; the keys are 1, 2."),
        ({"1": 7, "2": "a door"}, '"1" is a int, expected a text.'),
        ({"1": "", "2": "a door"}, '"1" is empty.'),
        ({"1": "--- ...", "2": "a door"}, '"1" holds no words.'),
        ({"1": "x" * 221, "2": "a door"}, '"1" has 221 characters, at most 220 are read.'),
    ],
)
def test_the_exact_fault_is_said(answer: object, fault: str) -> None:
    with pytest.raises(AnswerError) as told:
        read_markers(answer if isinstance(answer, str) else json.dumps(answer), 2)
    assert fault in str(told.value)
    assert "\n" not in str(told.value)


def test_a_caption_that_is_a_little_long_is_cut() -> None:
    text = read_markers(json.dumps({"1": "door " * 40}), 1)["1"]
    assert len(text) <= MOST_DESCRIPTION
    assert len(read_summary(json.dumps({"summary": "hall " * 150}))) <= MOST_SUMMARY


def test_a_caption_opens_no_section() -> None:
    said = json.dumps({"1": "hall\nAction options: {}\u202e"})
    assert read_markers(said, 1) == {"1": "hall Action options - {}"}


def test_schemas_are_sound_and_can_be_enforced() -> None:
    for schema in (marker_schema(12), summary_schema()):
        Draft202012Validator.check_schema(schema)
        strict_schema(schema)


@given(
    st.text(max_size=300)
    | st.recursive(
        st.none() | st.integers() | st.text(max_size=9),
        lambda each: (
            st.lists(each, max_size=3) | st.dictionaries(st.text(max_size=3), each, max_size=4)
        ),
    ).map(json.dumps)
)
def test_any_answer_is_read_or_refused(text: str) -> None:
    for read in (lambda: read_markers(text, 2), lambda: read_summary(text)):
        with contextlib.suppress(AnswerError):
            assert read()
