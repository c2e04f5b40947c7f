"""Distances over both graphs of a scene, and headings, elevations and sectors, by hand."""

from __future__ import annotations

import math

import pytest

from navloom.scenes.distances import (
    drop_cached,
    elevation_to,
    heading_to,
    hop_table,
    metre_table,
    metre_table_without,
    scene_cached,
    scene_hash,
    sector_of,
    turn_between,
    up_or_down,
    wrap_angle,
)
from navloom.scenes.scene import Edge, Floor, Link, Point3, Region, Scene, Viewpoint


def scene() -> Scene:
    """Viewpoints a, b (3 m on and 4 m up), c right above b, and d by itself; rooms likewise."""
    at: dict[str, Point3] = {"a": (0, 0, 0), "b": (3, 4, 0), "c": (3, 9, 0), "d": (50, 0, 0)}
    return Scene(
        id="s",
        source="test",
        floors=(Floor(id=1, height=0.0),),
        regions=tuple(
            Region(id=f"{n.upper()}_{k}", center=p) for k, (n, p) in enumerate(at.items())
        ),
        links=(Link(a="A_0", b="B_1"), Link(a="B_1", b="C_2")),
        viewpoints=tuple(Viewpoint(id=name, position=p) for name, p in at.items()),
        edges=(Edge(a="a", b="b"), Edge(a="b", b="c"), Edge(a="a", b="c")),
    )


def test_metres_are_on_the_ground_plane_or_in_space() -> None:
    flat, space = metre_table(scene()), metre_table(scene(), "3d")
    assert (flat.distance("a", "b"), space.distance("a", "b")) == (3, 5)
    assert flat.distance("b", "c") == pytest.approx(0, abs=1e-9)
    assert space.distance("a", "c") == pytest.approx(math.hypot(3, 9))
    assert flat.distance("a", "d") == math.inf
    assert (flat.path("a", "d"), flat.path("a", "a")) == (None, ["a"])
    assert space.path("c", "a") == ["c", "a"]
    # The way that is closed is gone either way round, and nothing else.
    other = metre_table_without(scene(), [("c", "a"), ("b", "a")])
    assert (other.distance("a", "b"), other.nodes) == (math.inf, flat.nodes)
    assert other.path("b", "c") == ["b", "c"]
    only = metre_table_without(scene(), [("c", "a")])
    assert only.path("a", "c") == ["a", "b", "c"]


def test_hops_count_links_whatever_their_metres() -> None:
    table = hop_table(scene())
    assert [table.distance("A_0", each) for each in ("A_0", "B_1", "C_2", "D_3")] == [0, 1, 2, None]
    assert table.path("A_0", "C_2") == ["A_0", "B_1", "C_2"]
    assert (table.path("A_0", "D_3"), table.path("D_3", "D_3")) == (None, ["D_3"])
    empty = metre_table(scene().replace(viewpoints=(), edges=()))
    assert (empty.nodes, empty.metres.shape, empty.before.shape) == ((), (0, 0), (0, 0))


def test_what_is_worked_out_of_a_scene_is_kept_until_it_is_forgotten() -> None:
    given, made = scene(), list[int]()

    def make() -> int:
        made.append(1)
        return len(made)

    assert (scene_cached(given, "k", make), scene_cached(given, "k", make)) == (1, 1)
    assert scene_cached(given, "other", lambda: 7) == 7
    drop_cached(given, "k")
    drop_cached(given, "never")
    drop_cached(scene(), "k")
    assert scene_cached(given, "k", make) == 2
    assert scene_hash(given) == scene_hash(scene()) != scene_hash(scene().replace(links=()))


@pytest.mark.parametrize(
    ("degrees", "within"), [(0, 0), (370, 10), (-10, 350), (720, 0), (360, 0), (359, 359)]
)
def test_an_angle_is_brought_into_one_turn(degrees: float, within: float) -> None:
    assert math.degrees(wrap_angle(math.radians(degrees))) == pytest.approx(within)


def test_what_rounds_to_a_whole_turn_is_none() -> None:
    assert wrap_angle(-1e-20) == 0
    assert wrap_angle(0.0) == 0


@pytest.mark.parametrize(
    ("start", "end", "turn"),
    [(0, 90, 90), (90, 0, -90), (0, 180, 180), (180, 0, 180), (350, 20, 30), (20, 350, -30),
     (0, 181, -179), (0, 179, 179), (5, 5, 0)],
)  # fmt: skip
def test_the_shorter_turn_is_clockwise_where_both_are_half_a_turn(
    start: float, end: float, turn: float
) -> None:
    found = turn_between(math.radians(start), math.radians(end))
    assert math.degrees(found) == pytest.approx(turn)


@pytest.mark.parametrize(
    ("end", "degrees"),
    [
        ((0, 0, -1), 0), ((1, 0, -1), 45), ((1, 0, 0), 90), ((0, 0, 1), 180), ((-1, 0, 0), 270),
        ((-1, 9, -1), 315), ((0, 5, 0), 0), ((1e-10, 5, 1e-10), 0), ((1e-8, 5, 0), 90),
        ((0, 5, 1e-8), 180),
    ],
)  # fmt: skip
def test_a_heading_is_clockwise_from_north(end: Point3, degrees: float) -> None:
    start = (7.0, 2.0, -3.0)
    there = (start[0] + end[0], start[1] + end[1], start[2] + end[2])
    assert math.degrees(heading_to((0, 0, 0), end)) == pytest.approx(degrees)
    if all(abs(each) > 1e-3 or each == 0 for each in end):
        assert math.degrees(heading_to(start, there)) == pytest.approx(degrees)


@pytest.mark.parametrize(
    ("end", "degrees"),
    [((3, 0, 4), 0), ((3, 5, 4), 45), ((3, -5, 4), -45), ((0, 2, 0), 90), ((0, -2, 0), -90),
     ((-5, 5, 0), 45), ((0, 5, -5), 45)],
)  # fmt: skip
def test_an_elevation_is_positive_upwards(end: Point3, degrees: float) -> None:
    start = (7.0, 2.0, -3.0)
    there = (start[0] + end[0], start[1] + end[1], start[2] + end[2])
    assert math.degrees(elevation_to(start, there)) == pytest.approx(degrees)


@pytest.mark.parametrize(
    ("degrees", "sector"),
    [(0, 0), (22, 0), (23, 1), (45, 1), (67, 1), (68, 2), (180, 4), (337, 7), (338, 0), (-10, 0),
     (-30, 7), (405, 1)],
)  # fmt: skip
def test_sectors_are_centred_on_every_45_degrees(degrees: float, sector: int) -> None:
    assert sector_of(math.radians(degrees)) == sector


@pytest.mark.parametrize(
    ("degrees", "word"),
    [(0, ""), (11.9, ""), (-11.9, ""), (12, "up"), (-12, "down"), (60, "up"), (-60, "down")],
)
def test_a_way_goes_up_or_down_from_12_degrees_on(degrees: float, word: str) -> None:
    assert up_or_down(math.radians(degrees)) == word
