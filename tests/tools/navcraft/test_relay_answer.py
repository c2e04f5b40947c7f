"""A relay is told in the exact templates, and only the confirmed one is taken."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from navloom.tools.navcraft.relay import (
    RelayAnswer,
    RelayChoice,
    read_relay,
    relay_answer,
    relay_answer_schema,
)
from navloom.tools.navcraft.task_paths import SoloTask
from tests.graphs.navcraft.errands import RELAY, phase_2
from tests.tools.navcraft.worlds import row_house

ERRAND = SoloTask("Attic_6", "Study_4", "cup", "Hall_2", "kitchen_counter")
CHOICE = RelayChoice(**RELAY)


def test_templates_of_both_types() -> None:
    made = relay_answer(ERRAND, CHOICE)["phase_2"]
    assert made == phase_2()["phase_2"]
    assert RelayAnswer.model_validate(made).choice == CHOICE
    other = relay_answer(ERRAND, CHOICE._replace(collab_type="Type-A1"))["phase_2"]
    # The same two sentences and lists, the robots swapped (A.11.1).
    assert other["Subtask instruction"]["robot_1"] == made["Subtask instruction"]["robot_2"]
    assert other["Subtask list"]["robot_2"] == made["Subtask list"]["robot_1"]


def test_confirmed_relay_is_accepted() -> None:
    plan, wrong = read_relay(phase_2(), row_house(), ERRAND, CHOICE)
    assert plan is not None
    assert wrong == []


STARTS = "Collaborative robot start region"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"Collaborative type": "Type-A1"}, "other_relay"),
        ({"Collaborative type": "Type-B"}, "wrong_form"),
        ({"Transfer region": "Hall_2"}, "other_relay"),
        ({"Transfer region": "Kitchen_9"}, "unknown_region"),
        ({STARTS: {"robot_1": "Bedroom_1", "robot_2": "Bedroom_1"}}, "wrong_start"),
        ({STARTS: {"robot_1": "Attic_6", "robot_2": "Hall_2"}}, "other_relay"),
        ({"Subtask instruction": {"robot_1": "Go.", "robot_2": "Go."}}, "wrong_instruction"),
        ({"Subtask list": {"robot_1": ["Grab('cup')"], "robot_2": []}}, "wrong_subtasks"),
    ],
)
def test_violation(changes: dict[str, Any], code: str) -> None:
    _, wrong = read_relay(phase_2(**changes), row_house(), ERRAND, CHOICE)
    assert code in [violation.code for violation in wrong]


def test_nothing_confirmed() -> None:
    _, wrong = read_relay(phase_2(), row_house(), ERRAND, None)
    assert [violation.code for violation in wrong] == ["not_confirmed"]


def test_schema_takes_a_relay_or_null() -> None:
    schema = relay_answer_schema(row_house(), constrain=True)
    jsonschema.validate(phase_2(), schema)
    jsonschema.validate({"phase_2": None}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(phase_2(**{"Transfer region": "Kitchen_9"}), schema)


@pytest.mark.parametrize(
    ("said", "steps", "is_form"),
    [
        ("G", 50, True),
        ("G" * 1000, 1, True),
        ("", 1, False),
        ("G" * 1001, 1, False),
        ("G", 51, False),
    ],
)
def test_texts_and_lists_have_their_longest(said: str, steps: int, is_form: bool) -> None:
    for robot, other in (("robot_1", "robot_2"), ("robot_2", "robot_1")):
        lists = {"Subtask list": {robot: ["G"] * steps, other: ["G"]}}
        told = {"Subtask instruction": {robot: said, other: "Go."}}
        _, wrong = read_relay(phase_2(**lists, **told), row_house(), ERRAND, CHOICE)
        assert ("wrong_form" not in [violation.code for violation in wrong]) is is_form
