"""What is wrong with an errand is found, named, and said so that a model can mend it."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from navloom.tools.navcraft.task_paths import read_solo_task, solo_task_schema
from tests.graphs.navcraft.errands import PATH, phase_1
from tests.tools.navcraft.worlds import row_house

START, END = "Single robot start region", "Single robot end region"
WALK, SAY = "Single robot travel path", "Task instruction"


def test_valid_errand_has_no_violations() -> None:
    task, wrong = read_solo_task(phase_1(), row_house())
    assert wrong == []
    assert task is not None
    assert task.errand == ("Attic_6", "Study_4", "cup", "Hall_2", "kitchen_counter")
    assert task.model_dump(mode="json", by_alias=True) == phase_1()["phase_1"]


@pytest.mark.parametrize(
    ("changes", "code", "said"),
    [
        ({START: {"robot_1": "Attic_7"}}, "unknown_region", "Did you mean 'Attic_6'"),
        ({START: {"robot_1": "Pantry_5"}}, "leg_too_short", "are adjacent"),
        ({START: {"robot_1": "Hall_2"}}, "same_start_end", "must differ"),
        ({"Target object": "mug"}, "object_not_there", "Objects there: cup"),
        ({SAY: "Take the cup from Study_4 to the sofa in Hall_2."}, "end_asset_not_there", "sofa"),
        ({SAY: "Bring the cup, please."}, "wrong_instruction", "must read exactly: Take the cup"),
        ({WALK: {"robot_1": PATH[:2]}}, "path_not_shortest", "2 steps"),
        ({WALK: {"robot_1": ["Attic_6 -> Hall_2"]}}, "broken_path", "does not follow a link"),
        ({WALK: {"robot_1": [*PATH, "Hall_2 -> Bedroom_1"]}}, "path_not_shortest", "5 steps"),
        ({WALK: {"robot_1": ["Attic_6"]}}, "broken_path", "Attic_6"),
        ({START: "Attic_6"}, "wrong_form", START),
        ({"Extra": 1}, "wrong_form", "does not belong"),
        ({WALK: {"robot_1": ["x"] * 401}}, "wrong_form", WALK),
    ],
)
def test_violation(changes: dict[str, Any], code: str, said: str) -> None:
    _, wrong = read_solo_task(phase_1(**changes), row_house())
    assert code in [violation.code for violation in wrong]
    assert said in " ".join(violation.message for violation in wrong)
    assert all("\n" not in violation.message for violation in wrong)


def test_missing_key_is_named() -> None:
    answer = phase_1()
    del answer["phase_1"]["Target object"]
    _, wrong = read_solo_task(answer, row_house())
    assert [violation.message for violation in wrong] == ['"phase_1" > "Target object" is missing.']


@pytest.mark.parametrize("answer", [{}, {"phase_1": None}, {"phase_1": [1]}])
def test_no_phase_1(answer: dict[str, Any]) -> None:
    task, wrong = read_solo_task(answer, row_house())
    assert task is None
    assert wrong[0].code == "wrong_form"


def test_tau_lengthens_legs() -> None:
    _, wrong = read_solo_task(phase_1(), row_house(), tau=3)
    assert [violation.code for violation in wrong] == ["leg_too_short", "leg_too_short"]


def test_schema_holds_names_to_the_scene() -> None:
    schema = solo_task_schema(row_house(), constrain=True)
    fields = schema["properties"]["phase_1"]["properties"]
    path = fields["Single robot travel path"]["properties"]["robot_1"]
    # Two shortest paths over the six rooms of the house.
    assert path["maxItems"] == 12
    assert schema["title"] == "phase_1"
    jsonschema.validate(phase_1(), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(phase_1(**{START: {"robot_1": "Attic_7"}}), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(phase_1(**{"Target object": "mug"}), schema)
    free = solo_task_schema(row_house(), constrain=False)
    jsonschema.validate(phase_1(**{"Target object": "mug"}), free)


@pytest.mark.parametrize(
    ("path", "finding"),
    [
        (PATH[:2], "it ends in Study_4 and not in the end region Hall_2"),
        (
            [*PATH[:3], "Living_room_3 -> Study_4", "Study_4 -> Living_room_3", *PATH[3:]],
            "it has 6 steps and the shortest has 4 (2 to Study_4, 2 on to Hall_2)",
        ),
        ([PATH[0], "Pantry_5 -> Hall_2"], "'Pantry_5 -> Hall_2' is not a link of test:row"),
        ([PATH[0], PATH[2]], "{step} does not go on from Pantry_5"),
        (["Attic_6 -> Cellar_9"], "'Attic_6 -> Cellar_9' is not a link of test:row"),
    ],
)
def test_a_path_that_is_off_says_where(path: list[str], finding: str) -> None:
    _, wrong = read_solo_task(phase_1(**{WALK: {"robot_1": path}}), row_house())
    assert [each.finding for each in wrong] == [finding.format(step=repr(PATH[2]))]


def test_a_path_has_400_steps_at_most_and_a_name_200_letters() -> None:
    def codes(**changes: Any) -> set[str]:
        return {each.code for each in read_solo_task(phase_1(**changes), row_house())[1]}

    assert codes(**{WALK: {"robot_1": ["x"] * 400}}) == {"broken_path"}
    assert codes(**{WALK: {"robot_1": ["x"] * 401}}) == {"wrong_form"}
    assert codes(**{START: {"robot_1": "x" * 200}}) == {"unknown_region"}
    assert codes(**{START: {"robot_1": "x" * 201}}) == codes(**{START: {"robot_1": ""}})
    assert codes(**{START: {"robot_1": ""}}) == {"wrong_form"}


def test_legs_have_two_links_where_nothing_is_said() -> None:
    answer = phase_1(**{START: {"robot_1": "Pantry_5"}})
    assert "leg_too_short" in {each.code for each in read_solo_task(answer, row_house())[1]}


def test_a_leg_without_a_way_has_no_path_to_compare() -> None:
    home = row_house()
    for links, end in ((home.links[:-1], "Hall_2"), (home.links[1:], "Bedroom_1")):
        answer = phase_1(**{END: {"robot_1": end}})
        codes = {each.code for each in read_solo_task(answer, home.replace(links=links))[1]}
        assert "not_connected" in codes
        assert not codes & {"broken_path", "path_not_shortest"}
