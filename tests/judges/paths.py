"""A path of three passages: a blocked door, an open one, stairs."""

from __future__ import annotations

from typing import Any

from navloom.judges.traversability import build_record
from navloom.scenes.traverse_table import Cell, Traversability

NODES = ("node_1", "node_2", "node_3", "node_4")
NAMES = dict(zip(NODES, ("Hall", "Kitchen", "Stair landing", "Attic"), strict=True))
TRUTH = Traversability(
    NODES,
    (("node_1", "node_2"), ("node_3", "node_2"), ("node_3", "node_4")),
    NAMES,
    {
        "WHEELCHAIR": {
            ("node_1", "node_2"): Cell(traversable=False, note="door too narrow"),
            ("node_2", "node_3"): Cell(traversable=True),
            ("node_4", "node_3"): Cell(traversable=False, note="cannot go up/down stairs"),
        },
        "SWEEPER": {("node_1", "node_2"): Cell(traversable=True)},
    },
)


def record(path: tuple[str, ...] = NODES, body: str = "WHEELCHAIR") -> dict[str, Any]:
    return build_record(TRUTH, body, path)


RIGHT = "The door between Hall and Kitchen is too narrow for the wheelchair."
WRONG = "The door between Kitchen and Stair landing is too narrow for the wheelchair."
