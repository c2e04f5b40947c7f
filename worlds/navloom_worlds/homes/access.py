"""Which rooms of a storey open onto which: as people live, then here and there a round way.

The ways grow as a cheapest tree from where one comes in; what a way costs says how people feel
about walking through a room of one kind to get to another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from navloom_worlds.homes.dice import Dice
from navloom_worlds.homes.rectilinear import Stretch

NEVER = 1000.0
_MOST_ROUNDS = 4
_HALLS = ("hallway", "entryway")
_BEDS = ("bedroom", "nursery", "kids room")

_THROUGH: Mapping[str, Mapping[str, float]] = {
    "hallway": {"closet": 2.5, "pantry": 4, "dressing room": 6, "kitchen": 2, "dining room": 2},
    "entryway": {"bedroom": 5, "bathroom": 4, "pantry": 8, "garage": 1.5, "closet": 1.5},
    "living room": {
        "dining room": 0.6, "kitchen": 1.5, "family room": 1.2, "library": 1.2,
        "office": 2.5, "media room": 1.5, "hallway": 0.8, "entryway": 0.7, "bedroom": 5,
        "nursery": 6, "kids room": 6, "bathroom": 6, "toilet": 5, "closet": 4, "laundry": 7,
        "storage": 6, "gym": 4, "garage": 9, "pantry": 8, "stairwell": 2, "elevator": 4,
    },
    "family room": {
        "kitchen": 1.5, "dining room": 1, "living room": 1, "library": 1.5, "media room": 1,
        "office": 3, "bedroom": 7, "bathroom": 7, "closet": 4, "hallway": 1,
        "toilet": 6, "laundry": 6, "gym": 4, "storage": 6, "garage": 9,
    },
    "dining room": {
        "kitchen": 0.5, "living room": 0.7, "pantry": 2.5, "family room": 1.2,
        "hallway": 1, "office": 6, "library": 3, "toilet": 9, "laundry": 8, "closet": 7,
        "storage": 8, "bedroom": 14, "bathroom": 14,
    },
    "kitchen": {
        "dining room": 0.5, "living room": 1.2, "pantry": 0.4, "laundry": 2,
        "family room": 1.2, "garage": 4, "storage": 3, "hallway": 1.5, "toilet": 12,
        "closet": 7, "office": 9, "bedroom": 25, "bathroom": 40,
    },
    "bedroom": { "office": 25, "nursery": 14, "storage": 30},
    "dressing room": {"bathroom": 3, "closet": 2},
    "bathroom": {"toilet": 3, "closet": 14, "laundry": 12},
    "office": {"closet": 3, "library": 3, "storage": 5},
    "library": {"office": 3, "closet": 6},
    "media room": {"closet": 5, "storage": 4},
    "laundry": {"garage": 2, "closet": 3, "storage": 3, "toilet": 4, "pantry": 8},
    "garage": {"storage": 2, "laundry": 4, "closet": 4, "gym": 8},
    "gym": {"bathroom": 8, "closet": 4, "storage": 4},
    "closet": {},
    "stairwell": {"closet": 12, "storage": 12},
}  # fmt: skip
_LOOPS: Mapping[frozenset[str], float] = {
    frozenset(pair): chance
    for pair, chance in {
        ("kitchen", "dining room"): 0.95,
        ("living room", "dining room"): 0.9,
        ("kitchen", "living room"): 0.6,
        ("kitchen", "hallway"): 0.6,
        ("dining room", "hallway"): 0.55,
        ("living room", "hallway"): 0.7,
        ("family room", "hallway"): 0.6,
        ("kitchen", "laundry"): 0.4,
        ("garage", "laundry"): 0.4,
        ("garage", "entryway"): 0.3,
        ("bathroom", "bedroom"): 0.14,
        ("bedroom", "bedroom"): 0.02,
        ("nursery", "bedroom"): 0.3,
        ("office", "bedroom"): 0.08,
        ("living room", "office"): 0.35,
        ("library", "living room"): 0.6,
        ("living room", "entryway"): 0.6,
        ("kitchen", "entryway"): 0.3,
        ("living room", "family room"): 0.6,
        ("kitchen", "family room"): 0.6,
        ("hallway", "entryway"): 0.9,
    }.items()
}


@dataclass(frozen=True)
class CellOpening:
    """Two cells that open onto each other; in a tree the first is nearer to where one comes in."""

    a: int
    b: int


def cost(through: str, to: str, own: bool) -> float:
    """What it costs people to come to a room through another, by their kinds.

    Args:
        through: the room that is walked through.
        to: the room that is come to.
        own: whether that one is a bedroom's or a kitchen's alone.
    """
    if to in ("bathroom", "closet", "dressing room") and own:
        if through in _BEDS:
            return 0.3 if through == "bedroom" else 1.0
        return 2.0 if through == "dressing room" else 7.0
    if through in _BEDS:
        if to in ("closet", "dressing room"):
            return 2.0
        return _THROUGH["bedroom"].get(to, NEVER)
    if through in _HALLS:
        return _THROUGH[through].get(to, 1.0)
    return _THROUGH.get(through, {}).get(to, NEVER)


def tree(
    kinds: Mapping[int, str],
    own: Mapping[int, bool],
    beside: Mapping[int, Sequence[int]],
    root: int,
) -> list[CellOpening] | None:
    """The cheapest ways that reach every cell from one of them (Prim's tree, costs one-way).

    Returns:
        None where somebody would have to walk through what one does not walk through.
    """
    reached = {root}
    ways: list[CellOpening] = []
    while len(reached) < len(kinds):
        found = [
            (cost(kinds[a], kinds[b], own[b]), a, b)
            for a in sorted(reached)
            for b in beside[a]
            if b not in reached
        ]
        if not found:
            return None
        price, a, b = min(found)
        if price >= NEVER:
            return None
        reached.add(b)
        ways.append(CellOpening(a, b))
    return ways


def rounds(
    dice: Dice,
    kinds: Mapping[int, str],
    own: Mapping[int, bool],
    beside: Mapping[int, Sequence[int]],
    ways: Sequence[CellOpening],
) -> list[CellOpening]:
    """Further ways that close loops, each as often as homes have it."""
    have = {frozenset((way.a, way.b)) for way in ways}
    found = []
    for a in sorted(beside):
        for b in beside[a]:
            if a > b or frozenset((a, b)) in have or own[a] or own[b]:
                continue
            if dice.chance(_LOOPS.get(frozenset((kinds[a], kinds[b])), 0.0)):
                found.append(CellOpening(a, b))
    return dice.shuffled(found)[:_MOST_ROUNDS]


def neighbours(walls: Sequence[Stretch], cells: Sequence[int], least: int) -> dict[int, list[int]]:
    """Which cells share a wall that is long enough for a way through it."""
    beside: dict[int, list[int]] = {cell: [] for cell in cells}
    for wall in walls:
        a, b = wall.minus, wall.plus
        if a is None or b is None or a not in beside or b not in beside or wall.length < least:
            continue
        if b not in beside[a]:
            beside[a].append(b)
            beside[b].append(a)
    return {cell: sorted(others) for cell, others in beside.items()}
