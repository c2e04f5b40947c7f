"""Directions in the frame of all scenes."""

from __future__ import annotations

import math

import pytest

from navloom.scenes.distances import elevation_to, heading_to, sector_of, up_or_down


@pytest.mark.parametrize(
    ("degrees", "sector"),
    [(0, 0), (22, 0), (23, 1), (45, 1), (67, 1), (68, 2), (180, 4), (337, 7), (338, 0), (-10, 0)],
)
def test_a_sector_reaches_half_of_45_degrees_to_either_side(degrees: int, sector: int) -> None:
    assert sector_of(math.radians(degrees)) == sector


@pytest.mark.parametrize(
    ("end", "degrees"),
    [((0, 0, -1), 0), ((1, 0, -1), 45), ((1, 0, 0), 90), ((0, 0, 1), 180), ((-1, 0, 0), 270)],
)
def test_headings_grow_clockwise_from_minus_z(
    end: tuple[float, float, float], degrees: int
) -> None:
    assert math.degrees(heading_to((0, 0, 0), end)) == pytest.approx(degrees)
    shifted = (end[0] + 5, end[1] + 2, end[2] - 7)
    assert math.degrees(heading_to((5, 0, -7), shifted)) == pytest.approx(degrees)


def test_straight_up_has_heading_0_and_elevation_90() -> None:
    assert heading_to((1, 0, 1), (1, 5, 1)) == 0.0
    assert elevation_to((1, 0, 1), (1, 5, 1)) == math.pi / 2
    assert elevation_to((0, 0, 0), (3, -3, 0)) == pytest.approx(-math.pi / 4)
    assert elevation_to((1, 2, 3), (4, 7, 7)) == pytest.approx(math.pi / 4)


def test_a_nanometre_is_a_direction_and_less_is_none() -> None:
    least = 1e-9
    assert heading_to((0, 0, 0), (0, 0, least)) == math.pi
    assert heading_to((0, 0, 0), (least, 0, 0)) == math.pi / 2
    assert heading_to((0, 0, 0), (0.9 * least, 0, 0.9 * least)) == 0.0


@pytest.mark.parametrize(("degrees", "word"), [(11, ""), (13, "up"), (-11, ""), (-13, "down")])
def test_steep_ways_go_up_or_down(degrees: int, word: str) -> None:
    assert up_or_down(math.radians(degrees)) == word
