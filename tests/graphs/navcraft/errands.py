"""An errand in the row house of tests.tools.navcraft.worlds, with valid and changed answers."""

from __future__ import annotations

from typing import Any

PATH = [
    "Attic_6 -> Pantry_5",
    "Pantry_5 -> Study_4",
    "Study_4 -> Living_room_3",
    "Living_room_3 -> Hall_2",
]
REGIONS = {"start_region": "Attic_6", "target_region": "Study_4", "end_region": "Hall_2"}
CHECK = {"name": "check_two_path_and_adjacency", "args": REGIONS}
TOO_NEAR = {"name": CHECK["name"], "args": {**REGIONS, "start_region": "Pantry_5"}}
RELAY = {
    "robot_2_start_region": "Bedroom_1",
    "transfer_region": "Living_room_3",
    "transfer_asset": "coffee_table",
    "collab_type": "Type-A2",
}
CHECK_RELAY = {"name": "check_collab_path_efficient", "args": RELAY}


def phase_1(**changes: Any) -> dict[str, Any]:
    """Return a valid answer of NavCraft-S with some keys changed."""
    return {
        "phase_1": {
            "Single robot start region": {"robot_1": "Attic_6"},
            "Single robot target object region": {"robot_1": "Study_4"},
            "Target object": "cup",
            "Single robot end region": {"robot_1": "Hall_2"},
            "Single robot travel path": {"robot_1": PATH},
            "Task instruction": "Take the cup from Study_4 to the kitchen_counter in Hall_2.",
            **changes,
        }
    }


def phase_2(**changes: Any) -> dict[str, Any]:
    """Return a valid answer of NavCraft-C for that errand with some keys changed."""
    return {
        "phase_2": {
            "Collaborative robot start region": {"robot_1": "Attic_6", "robot_2": "Bedroom_1"},
            "Collaborative type": "Type-A2",
            "Transfer region": "Living_room_3",
            "Subtask instruction": {
                "robot_1": "Take the cup from Study_4 to the coffee_table in Living_room_3.",
                "robot_2": "Take the cup from the coffee_table in Living_room_3 "
                "to the kitchen_counter in Hall_2.",
            },
            "Subtask list": {
                "robot_1": [
                    "Move_to('cup_4')",
                    "Grab('cup')",
                    "Move_to('coffee_table_3')",
                    "Release('cup')",
                ],
                "robot_2": [
                    "Move_to('coffee_table_3')",
                    "Grab('cup')",
                    "Move_to('kitchen_counter_2')",
                    "Release('cup')",
                ],
            },
            **changes,
        }
    }
