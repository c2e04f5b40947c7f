"""What homes are called, and what is no name of one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from navloom.errors import SceneError
from navloom_worlds.homes.home_names import HomeSpec, home_name, parse_name, read_names


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("7", ["7"]),
        ("007", ["7"]),
        ("8-11", ["8", "9", "10", "11"]),
        ("", [str(seed) for seed in range(10)]),
        ("7?rooms=12&floors=2", ["7.rooms-12.floors-2"]),
        ("7?floors=2&rooms=12", ["7.rooms-12.floors-2"]),
        ("7.rooms-12.floors-2", ["7.rooms-12.floors-2"]),
        ("0-1?clutter=lived-in", ["0.clutter-lived-in", "1.clutter-lived-in"]),
        ("0?area=90", ["0.area-90"]),
    ],
)
def test_a_spec_means_portable_names(words: str, names: list[str]) -> None:
    assert read_names(words) == names


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("x", "home:x: 'x' is no seed; expected a seed as in home:7, a range as in home:0-49"),
        ("-3", "'-3' is no seed"),
        ("7.5", "'5' is nothing one may ask"),
        ("3-0", "a range goes up: did you mean home:0-3"),
        ("0-10000000", "10,000,001 homes, and at most 100,000 were expected.*home:0-99999"),
        ("9" * 30, "a seed is a whole number from 0 to 999,999,999"),
        ("0-" + "9" * 5000, "a seed is a whole number"),
        ("7?room=4", r"'room' is nothing one may ask of a home.*Did you mean 'rooms'\?"),
        ("7?", "'' is nothing one may ask"),
        ("7?rooms=400", "rooms=400: expected a whole number from 4 to 30"),
        ("7?rooms=many", "rooms=many: expected a whole number from 4 to 30"),
        ("7?rooms=5&rooms=6", "rooms is asked for twice"),
        ("7?clutter=messy", "clutter=messy: expected one of tidy, lived-in, cluttered"),
        ("7?style=../etc", "style=../etc: expected a name in small letters"),
        ("0-4.rooms-5", "is many homes, and one was expected"),
        ("7\n8", "is no seed"),
    ],
)
def test_what_is_no_name_is_told_in_one_line(words: str, problem: str) -> None:
    with pytest.raises(SceneError, match=problem) as caught:
        read_names(words)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


specs = st.builds(
    HomeSpec,
    rooms=st.none() | st.integers(4, 30),
    floors=st.none() | st.integers(1, 3),
    area=st.none() | st.integers(35, 350),
    style=st.none() | st.from_regex(r"\A[a-z-]{1,30}\Z"),
    clutter=st.sampled_from([None, "tidy", "lived-in", "cluttered"]),
)


@pytest.mark.slow
@given(st.integers(0, 999_999_999), specs)
def test_a_portable_name_says_the_seed_and_every_wish(seed: int, spec: HomeSpec) -> None:
    name = home_name(seed, spec)
    assert parse_name(name) == (seed, spec)
    assert read_names(name) == [name]
    assert len(name) <= 100
