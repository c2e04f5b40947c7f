"""Diversity by hand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from navloom.evals.profiles import diversity, roles, total_variation


def row(scene: str, thing: str, age: int | None = None, status: str = "ok") -> dict[str, Any]:
    profile = None if age is None else {"Age": age, "Occupation": "Student"}
    task = {"Target object": thing, "Task instruction": f"Take the {thing} away."}
    return {"scene": scene, "status": status, "profile": profile, "result": {"phase_1": task}}


def test_diversity_counts_valid_tasks_alone() -> None:
    rows = [row("a", "cup"), row("a", "cup"), row("a", "hat"), row("b", "cup")]
    found = diversity([*rows, row("c", "toy", status="failed")])
    assert (found.tasks, found.instructions, found.objects) == (4, 2, 2)
    assert found.instructions_a_home == 1.5


def test_roles_that_want_different_things_are_apart() -> None:
    child, teen = roles([row("a", "toy", 9), row("a", "toy", 9), row("a", "book", 15)])
    assert (child.name, child.tasks, child.favourites) == ("9, Student", 2, (("toy", 2),))
    assert child.apart == teen.apart == 1.0


counts = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 9), min_size=1)


@given(counts, counts)
def test_total_variation_is_a_distance(a: dict[str, int], b: dict[str, int]) -> None:
    assert total_variation(a, a) == 0
    assert total_variation(a, b) == pytest.approx(total_variation(b, a))
    assert 0 <= total_variation(a, b) <= 1 + 1e-12
    if not set(a) & set(b):
        assert total_variation(a, b) == pytest.approx(1)
