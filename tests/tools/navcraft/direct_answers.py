"""Answers of A.13 in the row house of tests.tools.navcraft.worlds, with optional changes."""

from __future__ import annotations

from typing import Any

from navloom.scenes.scene import Scene
from tests.graphs.navcraft.errands import phase_2
from tests.tools.navcraft.worlds import item, row_house

TOLD = phase_2()["phase_2"]
ALONE = ["Move_to('cup_4')", "Grab('cup')", "Move_to('kitchen_counter_2')", "Release('cup')"]


def v1(**changes: Any) -> dict[str, Any]:
    """Return a valid answer of version 1 with some keys changed."""
    return {
        "Robots position": {"robot_1": "Attic_6", "robot_2": "Bedroom_1"},
        "Task instruction": "Could you two bring the cup from Study_4 to the counter in Hall_2?",
        "Transfer position": ["Living_room_3"],
        "Subtask instruction": TOLD["Subtask instruction"],
        "Subtask list": TOLD["Subtask list"],
        **changes,
    }


def long_house() -> Scene:
    """Return the row house with a book at one end and a desk at the other, as version 2 needs."""
    book = item("book", "object", "Attic_6", 22, 1)
    return row_house(book, item("desk", "asset", "Bedroom_1", 2, 1))


def v2(**changes: Any) -> dict[str, Any]:
    """Return a valid answer of version 2 for that house with some keys changed."""
    return {
        "Robots start position": {"robot_1": "Pantry_5", "robot_2": "Hall_2"},
        "Transfer position": "Living_room_3",
        "Robot travel path": {
            "robot_1": [
                "Pantry_5 -> Attic_6",
                "Attic_6 -> Pantry_5",
                "Pantry_5 -> Study_4",
                "Study_4 -> Living_room_3",
            ],
            "robot_2": [
                "Hall_2 -> Living_room_3",
                "Living_room_3 -> Hall_2",
                "Hall_2 -> Bedroom_1",
            ],
        },
        "Task instruction": "Take the book from Attic_6 to the desk in Bedroom_1.",
        "Subtask instruction": {
            "robot_1": "Take the book from Attic_6 to the coffee_table in Living_room_3.",
            "robot_2": "Take the book from the coffee_table in Living_room_3 to the desk in"
            " Bedroom_1.",
        },
        "Subtask list": {
            "robot_1": [
                "Move_to('book_6')",
                "Grab('book')",
                "Move_to('coffee_table_3')",
                "Release('book')",
            ],
            "robot_2": [
                "Move_to('coffee_table_3')",
                "Grab('book')",
                "Move_to('desk_1')",
                "Release('book')",
            ],
        },
        **changes,
    }


def lists(one: list[str], two: list[str]) -> dict[str, Any]:
    """Return the key of the subtask lists."""
    return {"Subtask list": {"robot_1": one, "robot_2": two}}
