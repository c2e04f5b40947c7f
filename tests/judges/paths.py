"""Test path with three passages: a blocked door, an open door, and stairs."""

from __future__ import annotations

from typing import Any

from navloom.judges.traversability import build_record
from navloom.scenes.traversability_table import PassageCell, Traversability

NODES = ("node_1", "node_2", "node_3", "node_4")
NAMES = dict(zip(NODES, ("Hall", "Kitchen", "Stair landing", "Attic"), strict=True))
TRUTH = Traversability(
    NODES,
    (("node_1", "node_2"), ("node_3", "node_2"), ("node_3", "node_4")),
    NAMES,
    {
        "WHEELCHAIR": {
            ("node_1", "node_2"): PassageCell(traversable=False, note="door too narrow"),
            ("node_2", "node_3"): PassageCell(traversable=True),
            ("node_4", "node_3"): PassageCell(traversable=False, note="cannot go up/down stairs"),
        },
        "SWEEPER": {("node_1", "node_2"): PassageCell(traversable=True)},
    },
)


def record(path: tuple[str, ...] = NODES, body: str = "WHEELCHAIR") -> dict[str, Any]:
    return build_record(TRUTH, body, path)


RIGHT = "The door between Hall and Kitchen is too narrow for the wheelchair."
WRONG = "The door between Kitchen and Stair landing is too narrow for the wheelchair."
