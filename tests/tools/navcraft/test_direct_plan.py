"""Tasks made in one answer: what is read of one, which rules it breaks, and what it is worth."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from navloom.prompts.prompt_loader import load_prompt
from navloom.scenes.scene_uri import load_scene
from navloom.tools.navcraft.direct_plan import (
    FORMS,
    MoveTarget,
    Variant,
    direct_answer,
    direct_schema,
    parse_place,
    read_direct_plan,
    two_stage_plan,
)
from navloom.tools.navcraft.direct_quality import (
    check_direct_relay,
    direct_record,
    stage_violations,
    workload_of,
)
from navloom.tools.navcraft.direct_rules import direct_violations, has_many_regions, steps_in_bounds
from navloom.tools.navcraft.relay import RelayAnswer, RelayChoice, check_collab_path_efficient
from navloom.tools.navcraft.relay_task import RelayTask
from navloom.tools.navcraft.task_paths import SoloTask, SoloTaskAnswer
from tests.graphs.navcraft.errands import RELAY, phase_1, phase_2
from tests.tools.navcraft.direct_answers import ALONE, TOLD, lists, long_house, v1, v2
from tests.tools.navcraft.worlds import item, near, row_house

ERRAND = SoloTask("Attic_6", "Study_4", "cup", "Hall_2", "kitchen_counter")
FETCH, DELIVER = TOLD["Subtask list"]["robot_1"], TOLD["Subtask list"]["robot_2"]


def plan_of(answer: dict[str, Any], variant: Variant = "v1", scene: Any = None) -> Any:
    plan, faults = read_direct_plan(answer, scene or row_house(), variant)
    assert faults == []
    return plan


def codes(answer: dict[str, Any], variant: Variant = "v1", scene: Any = None) -> list[str]:
    scene = scene or row_house()
    return [
        each.code for each in direct_violations(plan_of(answer, variant, scene), scene, variant)
    ]


# --- reading ---------------------------------------------------------------------------------


def test_errand_and_relay_are_read_from_the_steps() -> None:
    plan = plan_of(v1())
    assert plan.errand == ERRAND
    assert plan.relay == RelayChoice(**RELAY)
    assert plan.transfers == ("Living_room_3",)
    assert plan.paths == {}
    assert (plan.written, len(plan.regions)) == (8, 5)


def test_who_fetches_says_the_type() -> None:
    swapped = v1(
        **{"Robots position": {"robot_1": "Bedroom_1", "robot_2": "Attic_6"}},
        **lists(DELIVER, FETCH),
    )
    plan = plan_of(swapped)
    assert plan.errand == ERRAND._replace(start="Bedroom_1")
    assert plan.relay == RelayChoice("Attic_6", "Living_room_3", "coffee_table", "Type-A1")


def test_version_2_takes_a_region_or_a_list_of_them() -> None:
    scene = long_house()
    for transfer in ("Living_room_3", ["Living_room_3"]):
        plan = plan_of(v2(**{"Transfer position": transfer}), "v2", scene)
        assert plan.transfers == ("Living_room_3",)
        assert len(plan.paths["robot_1"]) == 4


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("cup_4", MoveTarget("Study_4", "cup")),
        ("cup_Study_4", MoveTarget("Study_4", "cup")),
        ("coffee_table_3", MoveTarget("Living_room_3", "coffee_table")),
        ("coffee table_3", MoveTarget("Living_room_3", "coffee_table")),
        ("Study_4", MoveTarget("Study_4", None)),
        ("cup_3", None),
        ("cup", None),
        ("_4", None),
        ("", None),
    ],
)
def test_a_place_is_a_thing_and_the_number_of_its_region(
    text: str, place: MoveTarget | None
) -> None:
    assert parse_place(text, row_house()) == place


@pytest.mark.parametrize("quote", ["'", '"', ""])
def test_steps_are_read_however_they_are_quoted(quote: str) -> None:
    steps = [step.replace("'", quote) for step in FETCH]
    assert plan_of(v1(**lists(steps, DELIVER))).relay == RelayChoice(**RELAY)


@pytest.mark.parametrize("variant", ["v1", "v2"])
def test_keys_are_those_of_the_paper_and_the_prompt_says_them(variant: Variant) -> None:
    answer = v1() if variant == "v1" else v2()
    assert set(FORMS[variant].key_names()) == set(answer)
    system = load_prompt(f"navcraft_direct_{variant}").system
    assert all(f'"{key}"' in system for key in answer)
    for key in answer:
        plan, faults = read_direct_plan(
            {k: a for k, a in answer.items() if k != key}, row_house(), variant
        )
        assert plan is None
        assert [f'"{key}" is missing' in each.message for each in faults] == [True]
    plan, faults = read_direct_plan({**answer, "Plan": 1}, row_house(), variant)
    assert plan is None
    assert "does not belong there" in faults[0].message


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
    ),
    max_leaves=8,
)
pieces = st.sampled_from(
    ["Move_to('", "Grab('", "Release('", "')", "cup", "_4", "Study_4", "coffee_table_3", " ", "("]
)
scrawl = st.lists(pieces, max_size=5).map("".join)
scrawled = st.fixed_dictionaries(
    {
        "Robots position": st.fixed_dictionaries(
            {robot: st.sampled_from(["Attic_6", "Hall_2", "x"]) for robot in ("robot_1", "robot_2")}
        ),
        "Transfer position": st.lists(st.sampled_from(["Hall_2", "x"]), min_size=1, max_size=2),
        "Subtask list": st.fixed_dictionaries(
            {
                robot: st.lists(st.sampled_from([*FETCH, *DELIVER]) | scrawl, max_size=6)
                for robot in ("robot_1", "robot_2")
            }
        ),
    }
)


@given(st.dictionaries(st.sampled_from([*v1(), *v2(), "other"]), json_values, max_size=6))
def test_whatever_is_answered_is_read_or_refused_in_lines(answer: dict[str, Any]) -> None:
    for variant in ("v1", "v2"):
        plan, faults = read_direct_plan(answer, row_house(), variant)  # type: ignore[arg-type]
        assert (plan is None) == bool(faults)
        assert len(faults) <= 12


@given(scrawled)
def test_whatever_stands_in_the_steps_is_measured(changes: dict[str, Any]) -> None:
    scene = row_house()
    plan, faults = read_direct_plan(v1(**changes), scene, "v1")
    if plan is None:
        assert faults
        return
    assert all("\n" not in each.message for each in direct_violations(plan, scene, "v1"))
    record = direct_record(plan, scene)
    assert json.loads(json.dumps(record)) == record
    assert record["no_handover"] == (plan.relay is None)
    if record["work"] is not None:
        assert 0 <= record["work"]["lesser_share"] <= 0.5
        assert 0 <= record["work"]["both_share"] <= 1
        # d(o, x) + d(x, e) >= d(o, e): no relay ends before the better placed robot alone.
        assert record["work"]["no_sooner_than_best"]
    if record["valid"]:
        task = RelayTask(scene, *plan.errand)
        assert check_collab_path_efficient(task, *plan.relay)["efficient"]


# --- rules -----------------------------------------------------------------------------------


def test_answers_that_keep_the_rules_break_none() -> None:
    assert codes(v1()) == []
    assert codes(v2(), "v2", long_house()) == []


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"Robots position": {"robot_1": "Attic_6", "robot_2": "Attic_6"}}, "same_start"),
        ({"Robots position": {"robot_1": "Attic_6", "robot_2": "Pantry_5"}}, "adjacent_starts"),
        ({"Robots position": {"robot_1": "Study_4", "robot_2": "Bedroom_1"}}, "starts_at_work"),
        ({"Robots position": {"robot_1": "Attic_6", "robot_2": "Hall_2"}}, "starts_at_work"),
        ({"Robots position": {"robot_1": "Cave_9", "robot_2": "Hall_2"}}, "unknown_region"),
        ({"Transfer position": ["Cave_9"]}, "unknown_region"),
        ({"Task instruction": "Grab the cup."}, "low_level_words"),
        (lists(["Fly('cup')"], DELIVER), "unknown_step"),
        (lists(["Move_to('cup_9')", *FETCH[1:]], DELIVER), "place_not_there"),
        (lists(FETCH[1:], DELIVER), "wrong_order"),
        (lists([*FETCH, "Release('cup')"], DELIVER), "wrong_order"),
        (lists([FETCH[0], *FETCH[2:]], DELIVER), "wrong_order"),
        (lists(["Move_to('coffee_table_3')", "Grab('coffee_table')"], []), "object_not_there"),
        (lists(ALONE, []), "no_handover"),
        ({"Transfer position": ["Pantry_5"]}, "transfer_unlike"),
        (
            {"Subtask instruction": {"robot_1": "Bring it to Pantry_5.", "robot_2": "Fetch it."}},
            "transfer_unlike",
        ),
    ],
)
def test_a_broken_rule_of_version_1(changes: dict[str, Any], code: str) -> None:
    assert code in codes(v1(**changes))


def test_words_that_name_no_region_leave_open_where_they_mean() -> None:
    told = {"robot_1": "Bring the cup to the small table.", "robot_2": "Take it to the counter."}
    assert codes(v1(**{"Subtask instruction": told})) == []


PATH = v2()["Robot travel path"]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"Robot travel path": {**PATH, "robot_1": ["Pantry_5 -> Bedroom_1"]}}, "off_links"),
        ({"Robot travel path": {**PATH, "robot_1": PATH["robot_1"][::2]}}, "off_links"),
        ({"Robot travel path": {**PATH, "robot_1": ["go up"]}}, "off_links"),
        ({"Robot travel path": {**PATH, "robot_1": ["Pantry_5 -> Moon_1"]}}, "off_links"),
        (
            {"Robots start position": {"robot_1": "Study_4", "robot_2": "Hall_2"}},
            "not_nearest",  # the handoff is one link from there and the book two
        ),
        ({"Robots start position": {"robot_1": "Pantry_5", "robot_2": "Study_4"}}, "not_nearest"),
    ],
)
def test_a_broken_rule_of_version_2(changes: dict[str, Any], code: str) -> None:
    assert code in codes(v2(**changes), "v2", long_house())


def test_a_handoff_next_door_breaks_version_2_alone() -> None:
    answer = direct_answer("v2", ERRAND, RelayChoice(**RELAY))
    assert "transfer_adjacent" in codes(answer, "v2")


def test_version_2_has_robot_1_fetch() -> None:
    errand = SoloTask("Hall_2", "Attic_6", "book", "Bedroom_1", "desk")
    relay = RelayChoice("Pantry_5", "Living_room_3", "coffee_table", "Type-A1")
    assert "wrong_roles" in codes(direct_answer("v2", errand, relay), "v2", long_house())


# --- worth -----------------------------------------------------------------------------------


def test_idleness_of_a_relay_by_hand() -> None:
    # Rooms are 4 m apart in a row. robot_1: 8 + 1 to the cup, 1 + 4 + 2 to the table. robot_2:
    # 8 + 2 to the table, where it waits from second 10 to 16, then 2 + 4 + 3 to the counter.
    work = workload_of(plan_of(v1()), row_house())
    assert work is not None
    assert work.metres == {"robot_1": near(16), "robot_2": near(19)}
    assert (work.makespan_s, work.both_move_s) == (near(25), near(10))
    # Alone, robot_1 walks 9 + (1 + 8 + 3), and robot_2 12 + 1 + 12.
    assert (work.solo_s, work.best_alone_s) == (near(21), near(21))
    assert work.lesser_share == near(16 / 35)
    assert work.both_share == near(0.4)
    assert work.no_sooner_than_robot_1
    assert work.no_sooner_than_best


def test_a_relay_may_end_before_robot_1_alone_and_not_before_the_best() -> None:
    # The helper starts nearer to the cup: robot_1 alone walks 13 + 12 from Bedroom_1, the helper
    # 5 + 12 from Pantry_5. Its relay: 5 + 7 to the table, where robot_1 is at 10, and 9 on.
    errand = ERRAND._replace(start="Bedroom_1")
    relay = RelayChoice("Pantry_5", "Living_room_3", "coffee_table", "Type-A1")
    work = workload_of(plan_of(direct_answer("v1", errand, relay)), row_house())
    assert work is not None
    assert (work.makespan_s, work.solo_s, work.best_alone_s) == (near(21), near(25), near(17))
    assert not work.no_sooner_than_robot_1
    assert work.no_sooner_than_best


@pytest.mark.parametrize(("one", "two", "metres"), [(ALONE, [], 21), ([], ALONE, 25)])
def test_a_robot_that_carries_nothing_is_idle(one: Any, two: Any, metres: float) -> None:
    plan, scene = plan_of(v1(**lists(one, two))), row_house()
    work = workload_of(plan, scene)
    assert work is not None
    assert sorted(work.metres.values()) == [0, near(metres)]
    assert (work.lesser_share, work.both_share, work.makespan_s) == (0, 0, near(metres))
    assert work.no_sooner_than_robot_1
    assert [each.code for each in stage_violations(plan, scene)] == ["no_task"]


def test_steps_that_carry_nothing_are_not_measured() -> None:
    record = direct_record(plan_of(v1(**lists(["Move_to('cup_4')"], []))), row_house())
    assert record["work"] is None
    assert record["invalid_because"] == ["no_task"]
    assert record["no_handover"] is True


@pytest.mark.parametrize(
    ("errand", "relay", "code"),
    [
        (ERRAND._replace(start="Pantry_5"), {}, "leg_too_short"),
        (ERRAND, {"robot_2_start_region": "Pantry_5"}, "helper_next_to_robot_1"),
        (
            ERRAND,
            {"transfer_region": "Hall_2", "transfer_asset": "kitchen_counter"},
            "transfer_is_end",
        ),
        (ERRAND, {}, None),
        # robot_1 walks 12 + 2 to the table and 9 on, and alone 9 + 12.
        (ERRAND, {"collab_type": "Type-A1"}, "not_efficient"),
        (ERRAND._replace(end_asset="toilet"), {}, "holds_nothing"),
    ],
)
def test_valid_is_what_the_two_stages_let_pass(
    errand: SoloTask, relay: dict[str, str], code: str | None
) -> None:
    scene = row_house(item("toilet", "asset", "Hall_2", 6, 1))
    answer = direct_answer("v1", errand, RelayChoice(**{**RELAY, **relay}))
    found = [each.code for each in stage_violations(plan_of(answer, scene=scene), scene)]
    assert found == ([] if code is None else [code])


def test_what_the_prompts_contradict_is_counted_apart() -> None:
    plan = plan_of(v1())
    assert (has_many_regions(plan), steps_in_bounds(plan)) == (True, False)
    short = plan_of(v1(**lists(ALONE, ["Move_to('coffee_table_3')"])))
    assert steps_in_bounds(short)
    here = {"robot_1": "Study_4", "robot_2": "Hall_2"}
    few = v1(**{"Robots position": here, "Transfer position": ["Hall_2"]}, **lists(ALONE, []))
    assert not has_many_regions(plan_of(few))
    assert direct_record(plan, row_house())["valid"] is True


def test_a_relay_of_two_stages_is_measured_alike() -> None:
    errand = SoloTaskAnswer.model_validate(phase_1()["phase_1"])
    relay = RelayAnswer.model_validate(phase_2()["phase_2"])
    scene = row_house()
    plan, direct = two_stage_plan(errand, relay, scene), plan_of(v1())
    assert (plan.errand, plan.relay) == (direct.errand, direct.relay)
    one, other = direct_record(plan, scene), direct_record(direct, scene)
    assert one == {**other, "path_written": True}


@pytest.mark.parametrize("variant", ["v1", "v2"])
def test_the_schema_takes_what_is_read(variant: Variant) -> None:
    scene = long_house()
    answer = v1() if variant == "v1" else v2()
    held = direct_schema(scene, variant, constrain=True)
    jsonschema.validate(answer, held)
    assert held["title"] == f"direct_{variant}"
    flies = {**answer, **lists(["Move_to('cup_6')"], [])}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(flies, held)
    jsonschema.validate(flies, direct_schema(scene, variant, constrain=False))
    elsewhere = {**answer, "Transfer position": ["Cave_9"] if variant == "v1" else "Cave_9"}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(elsewhere, held)
    jsonschema.validate(elsewhere, direct_schema(scene, variant, constrain=False))


def test_the_tool_takes_errand_and_relay_together() -> None:
    scene = row_house()
    start, target, thing, end, asset = ERRAND
    asked = {
        **{"start_region": start, "target_region": target, "object": thing},
        **{"end_region": end, "end_asset": asset, **RELAY},
    }
    alone = check_collab_path_efficient(RelayTask(scene, *ERRAND), *RelayChoice(**RELAY))
    assert check_direct_relay(scene, asked) == alone
    odd = check_direct_relay(scene, {**asked, "object": "unicorn"})
    assert odd["efficient"] is False
    assert "unicorn" in odd["error"]


def test_the_scenes_that_ship_number_their_regions() -> None:
    scene = load_scene("demo:house")
    for each in scene.items:
        if each.region and each.kind in ("object", "asset"):
            number = each.region.rsplit("_", 1)[-1]
            assert parse_place(f"{each.prompt_name}_{number}", scene) == MoveTarget(
                each.region, each.prompt_name
            )
