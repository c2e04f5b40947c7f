"""Tests of the mutation testing tool: seeded draws, and one mistake per mutant."""

from __future__ import annotations

import textwrap
from collections import Counter

import pytest

from tests.behaviour.mutants import (
    MOST_A_FILE,
    ROOT,
    Mutant,
    draw,
    failures_in,
    importers,
    mutants_of,
    seen_by,
)

MODULE = textwrap.dedent("""
    # Küche: bytes are counted, not letters.
    MOST, SHARE = 40, 0.25
    TIMEOUT_S = 30

    def decide(a: "int | None", b: float = 1.0) -> bool:
        '''Not 7 rules.'''
        if a is None or not b:
            raise ValueError(f"no {a + 1} of 'ü'")
        print(a - 1)
        return min(a, b) < MOST
    """).encode()


@pytest.fixture(scope="module")
def drawn() -> list[Mutant]:
    return draw(7, 60)


def test_a_mutant_is_one_mistake_and_never_in_words_or_types() -> None:
    assert [mutant.what for mutant in mutants_of("m.py", MODULE)] == [
        "40  ->  41",
        "40  ->  39",
        "0.25  ->  0.5",
        "1.0  ->  2.0",
        "1.0  ->  0.0",
        "a is None or not b  ->  a is None and (not b)",
        "a is None  ->  a is not None",
        "not b  ->  b",
        "min(a, b) < MOST  ->  min(a, b) <= MOST",
        "min(a, b)  ->  max(a, b)",
    ]


def test_a_mutant_differs_in_its_line_alone() -> None:
    was = MODULE.splitlines()
    for mutant in mutants_of("m.py", MODULE):
        now = mutant.of(MODULE).splitlines()
        differ = [n for n, (a, b) in enumerate(zip(was, now, strict=True), 1) if a != b]
        assert differ == [mutant.line]
        compile(mutant.of(MODULE), "m.py", "exec")


def test_the_same_seed_draws_the_same_wherever_the_lines_are(drawn: list[Mutant]) -> None:
    assert len(drawn) == 60
    assert drawn == draw(7, 60)
    assert max(Counter(mutant.file for mutant in drawn).values()) <= MOST_A_FILE
    keys = [mutant.key for mutant in mutants_of("m.py", MODULE)]
    assert keys == [mutant.key for mutant in mutants_of("elsewhere.py", b"\n\n" + MODULE)]


@pytest.mark.slow
def test_every_mutant_drawn_has_tests_that_reach_it(drawn: list[Mutant]) -> None:
    back = importers()
    for file in {mutant.file for mutant in drawn}:
        tests = seen_by(file, back)
        assert tests, f"no test imports {file}, directly or over others"
        assert all((ROOT / test).is_file() for test in tests)


def test_a_killer_is_read_from_the_end_of_what_pytest_says() -> None:
    said = "F\nFAILED tests/a/test_b.py::test_c[1 - x] - assert 1 == 2\nERROR tests/d.py\n1 failed"
    assert failures_in(said) == ["tests/a/test_b.py::test_c", "tests/d.py"]
