"""Do profiles make tasks more varied, and each role's different (CoNavBench A.8, figures 14, 15)?

The same homes, seed and number of attempts, once without a profile and once with the five roles in
turn. Counted: unique instructions, unique objects, unique instructions a home; and, role by role,
what is asked for, with the total variation distance of its objects from the other roles'.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Diversity", "Role", "diversity", "roles"]

_MOST_NAMED = 5
_KEYS = ("Age", "Occupation")


@dataclass(frozen=True)
class Diversity:
    """How varied a run's valid tasks are.

    Attributes:
        tasks: valid tasks.
        instructions: different instructions.
        objects: different target objects.
        instructions_a_home: different instructions, mean over homes.
    """

    tasks: int
    instructions: int
    objects: int
    instructions_a_home: float


@dataclass(frozen=True)
class Role:
    """What one role asks for.

    Attributes:
        name: age and occupation.
        tasks: valid tasks made for it.
        objects: different target objects.
        favourites: the objects asked for most, and how often.
        apart: total variation distance of its objects from those of all other roles, 0 (the same)
            to 1 (nothing in common).
    """

    name: str
    tasks: int
    objects: int
    favourites: tuple[tuple[str, int], ...]
    apart: float


def diversity(rows: Sequence[Mapping[str, Any]]) -> Diversity:
    """Count what is different among the valid tasks of a run's rows."""
    valid = [row for row in rows if row["status"] == "ok"]
    homes: dict[str, set[str]] = {}
    for row in valid:
        homes.setdefault(row["scene"], set()).add(_task(row)["Task instruction"])
    return Diversity(
        tasks=len(valid),
        instructions=len({_task(row)["Task instruction"] for row in valid}),
        objects=len({_task(row)["Target object"] for row in valid}),
        instructions_a_home=sum(map(len, homes.values())) / max(1, len(homes)),
    )


def roles(rows: Sequence[Mapping[str, Any]]) -> list[Role]:
    """What each role among the valid tasks asks for, in order of first appearance."""
    asked: dict[str, Counter[str]] = {}
    for row in rows:
        if row["status"] == "ok" and row["profile"]:
            name = ", ".join(str(row["profile"][key]) for key in _KEYS)
            asked.setdefault(name, Counter())[_task(row)["Target object"]] += 1
    whole = sum(asked.values(), Counter())
    return [
        Role(
            name=name,
            tasks=count.total(),
            objects=len(count),
            favourites=tuple(count.most_common(_MOST_NAMED)),
            apart=total_variation(count, whole - count),
        )
        for name, count in asked.items()
    ]


def total_variation(a: Mapping[str, int], b: Mapping[str, int]) -> float:
    """Half the L1 distance between two frequency tables; 0 where one is empty."""
    all_a, all_b = sum(a.values()), sum(b.values())
    if not all_a or not all_b:
        return 0.0
    keys = set(a) | set(b)
    return sum(abs(a.get(k, 0) / all_a - b.get(k, 0) / all_b) for k in keys) / 2


def _task(row: Mapping[str, Any]) -> dict[str, Any]:
    task: dict[str, Any] = row["result"]["phase_1"]
    return task
