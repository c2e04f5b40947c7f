"""``navloom validate`` names what is wrong: of every corruption the parts and the first reason."""

import math

import pytest

from navloom.evals.navcraft.dataset_check import _cut, _Scenes, check_dataset
from navloom.evals.navcraft.task_rules import _differs, _wrong_rates, find_violations
from navloom.scenes.scene import Item
from tests.evals import tiny
from tests.evals.navcraft.corruptions import CORRUPTIONS

START, END = 'phase_1 "Single robot start region"', 'phase_1 "Single robot end region"'
TARGET = 'phase_1 "Single robot target object region"'
THING, SAID = 'phase_1 "Target object"', 'phase_1 "Task instruction"'
PATH = 'phase_1 "Single robot travel path"'
STARTS = 'phase_2 "Collaborative robot start region"'
HANDOFF, SENTENCE = 'phase_2 "Transfer region"', 'phase_2 "Subtask instruction"'
ONE = ['phase_2 "Subtask instruction" robot_1', 'phase_2 "Subtask list" robot_1']
TWO = ['phase_2 "Subtask instruction" robot_2', 'phase_2 "Subtask list" robot_2']


def kept(*keys: str) -> list[str]:
    return [f'navloom "{key}"' for key in keys]


NUMBERS = kept(
    *("alpha", "r1_rate", "alpha_other", "g_rate", "gain_alpha", "gain_g", "best_alone"),
    *("regret_alpha", "regret_g"),
)
FINDINGS = {
    "start_region_invented": ([START], "'Ballroom_99' is not a region of tiny:home"),
    "start_region_by_a_part_of_its_id": ([START], "'Room_1' is not a region of tiny:home"),
    "start_next_to_the_object": (
        [TARGET, STARTS, STARTS],
        "Office_5 is 1 links from Dining_room_4: at least 2 are needed",
    ),
    "end_is_the_start": (
        [END, *kept("legs"), PATH, SAID, *kept("end_asset_id"), *ONE],
        "Bedroom_1 is the start region too",
    ),
    "object_is_elsewhere": (
        [THING, SAID, *kept("object_id"), *ONE, *TWO],
        "'bowl' is not an object of Office_5",
    ),
    "object_is_furniture": (
        [THING, SAID, *kept("object_id"), *ONE, *TWO],
        "'desk' is not an object of Office_5",
    ),
    "end_asset_is_elsewhere": (
        [SAID, *kept("end_asset_id", "end_asset"), *ONE],
        "'bed' is not an asset of Living_room_7",
    ),
    "instruction_in_other_words": (
        [SAID],
        "'Bring the cup from Office_5 to the shelf in Living_room_7.' is not 'Take the [object]"
        " from [region] to the [asset] in [region].'",
    ),
    "instruction_without_region_number": (
        [SAID],
        "'Take the cup from Office_5 to the shelf in Living_room.' is said and the template gives"
        " 'Take the cup from Office_5 to the shelf in Living_room_7.'",
    ),
    "path_through_a_wall": ([PATH], "'Bedroom_1 -> Kitchen_3' is not a link of tiny:home"),
    "path_with_a_gap": ([PATH], "'Dining_room_4 -> Office_5' does not go on from Kitchen_3"),
    "path_with_a_detour": (
        [PATH],
        "it has 9 steps and the shortest has 7 (4 to Office_5, 3 on to Living_room_7)",
    ),
    "path_stops_short": ([PATH], "it ends in Kitchen_3 and not in the end region Living_room_7"),
    "path_misses_the_object": (
        [PATH],
        "it has 5 steps and the shortest has 7 (4 to Office_5, 3 on to Living_room_7)",
    ),
    "path_backwards": ([PATH], "'Kitchen_3 -> Living_room_7' does not go on from Bedroom_1"),
    "legs_miscounted": (kept("legs"), "[3, 4] is said and [4, 3] is right"),
    "legs_shorter_than_tau": (
        [END],
        "Living_room_7 is 3 links from Office_5: at least 4 are needed",
    ),
    "object_instance_is_not_there": (
        kept("object_id"),
        "'cup-99' is not the id of an item of tiny:home",
    ),
    "object_instance_is_the_farther_one": (
        kept("object_id", "best_alpha", "best_g_rate") + NUMBERS,
        "'cup-2' and 'shelf-1' make a route of 40.000 m, others of those names one of 38.000 m",
    ),
    "end_instance_is_something_else": (
        kept("end_asset_id"),
        "'sink-1' is asset sink in Bathroom_6, not asset shelf in Living_room_7",
    ),
    "solo_metres_wrong": (kept("solo_metres"), "38.01 is said and 38.000000 is right"),
    "robot_1_starts_elsewhere_in_phase_2": (
        [STARTS],
        "robot_1 starts in Garage_8 here and in Bedroom_1 in phase_1",
    ),
    "helper_starts_with_robot_1": ([STARTS], "robot_2 starts in robot_1's own region Bedroom_1"),
    "helper_starts_next_to_robot_1": (
        [STARTS],
        "robot_2's Hallway_2 is next to robot_1's Bedroom_1",
    ),
    "handoff_where_the_object_is": ([HANDOFF], "Office_5 is the target object's region"),
    "handoff_on_something_not_there": (
        [SENTENCE, *kept("transfer_asset_id")],
        "'sink' is not an asset of Kitchen_3",
    ),
    "handoff_on_the_end_asset": (
        [HANDOFF],
        "the shelf in Living_room_7 is the end asset: nothing is handed over",
    ),
    "handoff_on_too_narrow_a_thing": (
        [SENTENCE],
        "the narrow_rail in Dining_room_4 has no usable surface (0.30 m wide, 0.25 to 1.40 m up)",
    ),
    "handoff_instance_is_the_farther_one": (
        # What one robot does alone has no handoff.
        [each for each in kept("transfer_asset_id") + NUMBERS if each != 'navloom "best_alone"'],
        "by 'counter-2' the object is carried 21.000 m, by another of that name 19.000 m",
    ),
    "type_unknown": (
        ['phase_2 "Collaborative type"'],
        "'Type-B1' is not one of ['Type-A1', 'Type-A2']",
    ),
    "subtasks_in_another_order": (
        [f"{ONE[1]} {place}" for place in range(4)],
        "\"Release('cup')\" does not match"
        " \"^Move_to\\\\('[0-9a-z]+(_[0-9a-z]+)*_[0-9A-Za-z]+'\\\\)$\"",
    ),
    "key_missing": (["phase_1"], "'Target object' is a required property"),
    "alpha_flattered": (
        kept("alpha", "r1_rate", "gain_alpha"),
        "0.3 is said and 0.473684 is right",
    ),
    "gain_does_not_fit_alpha": (
        kept("gain_alpha"),
        "0.6263157894736842 is said and 0.526316 is right",
    ),
}
"""Metres and rates: by hand, from the home of ``tests.evals.tiny``."""


@pytest.mark.parametrize("name", FINDINGS)
def test_a_corruption_is_found_in_its_parts_and_for_its_reason(name, tmp_path):
    row = tiny.relay_a1()
    CORRUPTIONS[name](row)
    wheres, first = FINDINGS[name]
    found = check(tmp_path, row)
    assert [finding.where for finding in found] == wheres
    assert found[0].problem == first


def check(tmp_path, row, scene=None):
    path = tmp_path / "home.json"
    path.write_text((scene or tiny.home()).model_dump_json())
    return check_dataset(tiny.write_rows(tmp_path / "tasks.jsonl", [row]), str(path)).findings


def test_a_path_may_be_short_enough_and_still_pass_the_object_by(tmp_path):
    home = tiny.home()
    row = tiny.single()
    row["phase_1"]["Single robot travel path"]["robot_1"][3:5] = [
        "Dining_room_4 -> Kitchen_3",
        "Kitchen_3 -> Dining_room_4",
    ]
    (finding,) = check(tmp_path, row, home)
    assert finding.where == PATH
    said = "it is in Kitchen_3 after 4 steps and should be in the target region Office_5"
    assert finding.problem == said


def test_the_recorded_transfer_asset_is_that_of_the_sentence(tmp_path):
    row = tiny.relay_a1()
    row["navloom"]["transfer_asset"] = "shelf"
    (finding,) = check(tmp_path, row)
    assert finding.where == 'navloom "transfer_asset"'
    assert finding.problem == "'shelf' is not the instruction's 'counter'"


def test_an_instance_one_cannot_use_is_wrong_even_where_it_is_nearer(tmp_path):
    home = tiny.home()
    high = [
        Item(**{**item.model_dump(), "position": (10, 1.5, -1)}) if item.id == "counter-1" else item
        for item in home.items
    ]
    found = check(tmp_path, tiny.relay_a1(), home.replace(items=tuple(high)))
    assert found[0].where == 'navloom "transfer_asset_id"'
    said = "by 'counter-1' the object is carried 19.000 m, by another of that name 21.000 m"
    assert found[0].problem == said


def test_where_no_way_leads_the_robot_that_cannot_come_is_named(tmp_path):
    home = tiny.home()
    # Without the door between hallway and kitchen, the bedroom and bathroom are cut off.
    cut = {"Hallway_2", "Kitchen_3"}
    links = tuple(link for link in home.links if {link.a, link.b} != cut)
    found = check(tmp_path, tiny.relay_a1(), home.replace(links=links))
    assert [(finding.where, finding.problem) for finding in found] == [
        (TARGET, "there is no way from Bedroom_1 to Office_5 in tiny:home"),
        ('navloom "legs"', "[4, 3] is said and [None, 3] is right"),
        (HANDOFF, "robot_1 cannot reach Kitchen_3 from Bedroom_1"),
    ]
    row = tiny.relay_a1()
    row["phase_2"]["Collaborative robot start region"]["robot_2"] = "Garage_8"
    cut = {"Living_room_7", "Garage_8"}
    links = tuple(link for link in home.links if {link.a, link.b} != cut)
    found = check(tmp_path, row, home.replace(links=links))
    assert [(finding.where, finding.problem) for finding in found] == [
        (STARTS, "robot_2 cannot reach the target region Office_5 from Garage_8")
    ]


def test_a_value_of_another_type_is_called_that_and_no_breach_of_the_template(tmp_path):
    row = tiny.single()
    row["phase_1"]["Task instruction"] = 7
    (finding,) = check(tmp_path, row)
    assert (finding.where, finding.problem) == (SAID, "7 is not of type 'string'")


def test_a_long_value_of_another_type_is_cut_and_a_long_key_is_told_as_it_is(tmp_path):
    row = tiny.single()
    row["phase_1"]["Task instruction"] = ["x"] * 400
    (finding,) = check(tmp_path, row)
    assert finding.problem.startswith("['x', 'x', ")
    assert finding.problem.endswith("… is not of type string")
    row = tiny.single()
    row["phase_1"]["x" * 400] = 1
    (finding,) = check(tmp_path, row)
    assert finding.problem.startswith("Additional properties are not allowed ('xxx")


@pytest.mark.parametrize(("letters", "end"), [(118, "'"), (119, "…")])
def test_what_is_longer_than_its_bound_is_cut_and_nothing_else_is(letters, end, tmp_path):
    row = tiny.single()
    row["phase_1"]["Task instruction"] = "x" * letters
    (finding,) = check(tmp_path, row)
    cited = finding.problem.partition(" is not ")[0]
    assert cited == "'" + "x" * 118 + end
    assert len(cited) == 120


def test_a_finding_is_300_characters_long_at_most():
    assert _cut("x" * 300) == "x" * 300
    assert _cut("x" * 301) == "x" * 299 + "…"


def test_64_scenes_are_kept_and_the_one_not_asked_for_the_longest_goes(monkeypatch):
    asked, scenes = [], _Scenes(None)
    monkeypatch.setattr(scenes._scenes, "load", lambda name: asked.append(name) or tiny.home())
    for name in [*range(64), 0, 64, 0, 1]:
        scenes.scene(str(name))
    assert asked == [str(name) for name in [*range(65), 1]]


@pytest.mark.parametrize(
    ("said", "right", "wrong"),
    [
        (2.0, 2.0, False),
        (2.25, 2.0, False),
        (1.75, 2.0, False),
        (2.26, 2.0, True),
        (1.74, 2.0, True),
        (None, math.inf, False),
        (None, 2.0, True),
        (2.0, math.inf, True),
    ],
)
def test_a_recorded_number_may_be_off_by_a_tolerance(said, right, wrong):
    assert bool(list(_differs("alpha", {"alpha": said}, right, 0.25))) == wrong
    assert list(_differs("alpha", {}, right)) == []


def test_a_recorded_number_may_be_off_by_a_millionth():
    assert list(_differs("alpha", {"alpha": 2.0000009}, 2.0)) == []
    assert list(_differs("alpha", {"alpha": 2.0000011}, 2.0)) != []


RATES = ("alpha", "r1_rate", "alpha_other", "g_rate", "gain_alpha", "gain_g", "best_alone")


@pytest.mark.parametrize(
    ("alpha", "rest", "wheres"),
    [
        (0.99, {}, []),
        (1.0, {}, ["phase_2"]),
        (0.9, {"best_alpha": 0.5, "regret_alpha": 0.4}, []),
        (0.9, {"best_alpha": 0.5, "regret_alpha": 0.3}, ['navloom "regret_alpha"']),
        (0.9, {"best_alpha": 0.5, "regret_alpha": None}, []),
        (0.9, {"best_alpha": None, "regret_alpha": 0.4}, []),
        (0.9, {"best_g_rate": 0.5, "regret_g": 0.2}, []),
        # A best that is rounded by half a millionth puts the quotient off by more.
        (0.9, {"best_g_rate": 0.5, "regret_g": 0.200004}, []),
        (0.9, {"best_g_rate": 0.5, "regret_g": 0.200006}, ['navloom "regret_g"']),
        (0.9, {"best_g_rate": 0.1, "regret_g": 5.00002}, []),
        (0.9, {"best_g_rate": 0.1, "regret_g": 5.0000215}, ['navloom "regret_g"']),
        (0.9, {"best_g_rate": 0.5, "regret_g": None}, []),
        (0.9, {"best_g_rate": 0.0, "regret_g": 0.3}, []),
    ],
)
def test_rates_that_a_relay_records(alpha, rest, wheres):
    right = dict.fromkeys(RATES, 0.6) | {"alpha": alpha}
    assert [finding.where for finding in _wrong_rates(right, rest)] == wheres


def test_what_an_errand_is_worth_is_held_against_the_scene():
    row, home = tiny.single(), tiny.home()
    row["navloom"]["worth"] = {"doors": 7, "storeys": 1, "namesakes": 0, "belongs": None}
    assert find_violations(home, row) == []
    row["navloom"]["worth"]["doors"] = None
    (finding,) = find_violations(home, row)
    assert finding.finding == "doors None is said and 7 is right"
    # Grades of another version of the table are its own.
    row["navloom"]["worth"] = {"doors": 7, "carry": -1.0, "belongs": None}
    assert find_violations(home, row) == []


def test_the_name_of_an_end_asset_is_that_of_the_instruction(tmp_path):
    row = tiny.relay_a1()
    row["navloom"]["end_asset"] = "bed"
    (finding,) = check(tmp_path, row)
    assert (finding.where, finding.problem) == (
        'navloom "end_asset"',
        "'bed' is not the instruction's 'shelf'",
    )


def test_a_broken_second_phase_alone_is_told_alone():
    row = tiny.relay_a1()
    row["phase_2"]["Collaborative type"] = "Type-B"
    found = find_violations(tiny.home(), row)
    assert [(each.code, '"phase_2"' in each.finding) for each in found] == [("wrong_form", True)]


def test_legs_of_two_hops_are_long_enough_where_no_line_says_otherwise():
    row = tiny.relay_a2()  # legs of 2 and 2 hops
    del row["navloom"]["tau"]
    assert find_violations(tiny.home(), row) == []
    row["navloom"]["tau"] = 3
    assert {each.code for each in find_violations(tiny.home(), row)} == {"leg_too_short"}
