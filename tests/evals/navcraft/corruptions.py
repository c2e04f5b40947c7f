"""Corruptions of a valid relay, with one error each.

``CORRUPTIONS`` maps a name to a function that corrupts a copy of ``tiny.relay_a1`` in place.
"""

from collections.abc import Callable

CORRUPTIONS: dict[str, Callable[[dict], object]] = {}


def corruption(spoil: Callable[[dict], object]) -> Callable[[dict], object]:
    CORRUPTIONS[spoil.__name__] = spoil
    return spoil


def _path(row: dict) -> list:
    return row["phase_1"]["Single robot travel path"]["robot_1"]


@corruption
def start_region_invented(row):
    row["phase_1"]["Single robot start region"]["robot_1"] = "Ballroom_99"


@corruption
def start_region_by_a_part_of_its_id(row):
    row["phase_1"]["Single robot start region"]["robot_1"] = "Room_1"


@corruption
def start_next_to_the_object(row):
    row["phase_1"]["Single robot start region"]["robot_1"] = "Dining_room_4"
    del _path(row)[:3]
    row["navloom"]["legs"] = [1, 3]


@corruption
def end_is_the_start(row):
    row["phase_1"]["Single robot end region"]["robot_1"] = "Bedroom_1"


@corruption
def object_is_elsewhere(row):
    row["phase_1"]["Target object"] = "bowl"


@corruption
def object_is_furniture(row):
    row["phase_1"]["Target object"] = "desk"


@corruption
def end_asset_is_elsewhere(row):
    row["phase_1"]["Task instruction"] = "Take the cup from Office_5 to the bed in Living_room_7."


@corruption
def instruction_in_other_words(row):
    row["phase_1"]["Task instruction"] = (
        "Bring the cup from Office_5 to the shelf in Living_room_7."
    )


@corruption
def instruction_without_region_number(row):
    row["phase_1"]["Task instruction"] = "Take the cup from Office_5 to the shelf in Living_room."


@corruption
def path_through_a_wall(row):
    _path(row)[0:2] = ["Bedroom_1 -> Kitchen_3"]


@corruption
def path_with_a_gap(row):
    del _path(row)[2]


@corruption
def path_with_a_detour(row):
    _path(row)[1:1] = ["Hallway_2 -> Bathroom_6", "Bathroom_6 -> Hallway_2"]


@corruption
def path_stops_short(row):
    del _path(row)[-1]


@corruption
def path_misses_the_object(row):
    del _path(row)[3:5]


@corruption
def path_backwards(row):
    _path(row).reverse()


@corruption
def legs_miscounted(row):
    row["navloom"]["legs"] = [3, 4]


@corruption
def legs_shorter_than_tau(row):
    row["navloom"]["tau"] = 4


@corruption
def object_instance_is_not_there(row):
    row["navloom"]["object_id"] = "cup-99"


@corruption
def object_instance_is_the_farther_one(row):
    row["navloom"] |= {"object_id": "cup-2", "solo_metres": 40.0}


@corruption
def end_instance_is_something_else(row):
    row["navloom"]["end_asset_id"] = "sink-1"


@corruption
def solo_metres_wrong(row):
    row["navloom"]["solo_metres"] += 0.01


@corruption
def robot_1_starts_elsewhere_in_phase_2(row):
    row["phase_2"]["Collaborative robot start region"]["robot_1"] = "Garage_8"


@corruption
def helper_starts_with_robot_1(row):
    row["phase_2"]["Collaborative robot start region"]["robot_2"] = "Bedroom_1"


@corruption
def helper_starts_next_to_robot_1(row):
    row["phase_2"]["Collaborative robot start region"]["robot_2"] = "Hallway_2"


@corruption
def handoff_where_the_object_is(row):
    _hand_over(row, "desk", "Office_5")
    row["navloom"]["transfer_asset_id"] = "desk-1"


@corruption
def handoff_on_something_not_there(row):
    _hand_over(row, "sink", "Kitchen_3")


@corruption
def handoff_on_the_end_asset(row):
    _hand_over(row, "shelf", "Living_room_7")
    row["navloom"]["transfer_asset_id"] = "shelf-1"


@corruption
def handoff_on_too_narrow_a_thing(row):
    _hand_over(row, "narrow_rail", "Dining_room_4")
    row["navloom"]["transfer_asset_id"] = "rail-1"


@corruption
def handoff_instance_is_the_farther_one(row):
    row["navloom"]["transfer_asset_id"] = "counter-2"


@corruption
def type_of_the_other_pattern(row):
    row["phase_2"]["Collaborative type"] = "Type-A2"


@corruption
def type_unknown(row):
    row["phase_2"]["Collaborative type"] = "Type-B1"


@corruption
def sentences_swapped(row):
    said = row["phase_2"]["Subtask instruction"]
    said["robot_1"], said["robot_2"] = said["robot_2"], said["robot_1"]


@corruption
def subtasks_in_another_order(row):
    row["phase_2"]["Subtask list"]["robot_1"].reverse()


@corruption
def subtask_moves_to_another_room(row):
    row["phase_2"]["Subtask list"]["robot_2"][2] = "Move_to('counter_7')"


@corruption
def subtask_grabs_something_else(row):
    row["phase_2"]["Subtask list"]["robot_1"][1] = "Grab('bowl')"


@corruption
def subtask_missing(row):
    row["phase_2"]["Subtask list"]["robot_2"].pop()


@corruption
def alpha_flattered(row):
    row["navloom"] |= {"alpha": 0.3, "r1_rate": 0.3, "gain_alpha": 0.7}


@corruption
def g_rate_flattered(row):
    row["navloom"]["g_rate"] -= 2e-6


@corruption
def gain_does_not_fit_alpha(row):
    row["navloom"]["gain_alpha"] += 0.1


@corruption
def key_missing(row):
    del row["phase_1"]["Target object"]


@corruption
def key_of_the_printed_example(row):
    phase = row["phase_1"]
    phase["Single robot start position"] = phase.pop("Single robot start region")


@corruption
def key_too_many(row):
    row["phase_2"]["Reasoning"] = "Because it is near."


def _hand_over(row: dict, asset: str, region: str) -> None:
    """Move the handoff and update every sentence and list accordingly."""
    number = region.rsplit("_", 1)[1]
    phase = row["phase_2"]
    phase["Transfer region"] = region
    row["navloom"]["transfer_asset"] = asset
    for robot in ("robot_1", "robot_2"):
        said = phase["Subtask instruction"][robot]
        phase["Subtask instruction"][robot] = said.replace(
            "the counter in Kitchen_3", f"the {asset} in {region}"
        )
        steps = phase["Subtask list"][robot]
        phase["Subtask list"][robot] = [
            step.replace("'counter_3'", f"'{asset}_{number}'") for step in steps
        ]
