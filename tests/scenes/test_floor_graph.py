"""Viewpoints on one floor: where they are placed, what sees what, and what is in the way."""

from __future__ import annotations

import networkx as nx
import pytest
from shapely import LineString, MultiPolygon, Polygon, box
from shapely.geometry.base import BaseGeometry

from navloom.scenes.floor_graph import (
    BlockedError,
    FreeFloor,
    fill_floor,
    is_in_reach,
    visibility_graph,
    xz_of,
)
from navloom.scenes.scene import Viewpoint


def floor(shape: Polygon, free: BaseGeometry | None = None) -> FreeFloor:
    """A floor on which a body of 0.2 m may stand wherever nothing else is said."""
    return FreeFloor(
        "hall", "7", 0.0, shape, "Hall_7", shape.buffer(-0.2) if free is None else free
    )


def places(room: FreeFloor) -> list[tuple[float, float]]:
    return [xz_of(viewpoint) for viewpoint in room.stands]


def test_the_places_that_are_tried_begin_a_body_from_the_wall() -> None:
    # Every 0.25 m from 0.2 m on: of each cell of 2 x 2 m the place nearest to its middle.
    room = floor(box(0, 0, 2, 2))
    assert fill_floor(room) == []
    assert places(room) == [(0.95, 0.95)]
    assert room.stands[0] == Viewpoint(id="7_0", position=(0.95, 0.0, 0.95), region="Hall_7")
    wide = floor(box(10, 5, 14, 7))
    (edge,) = fill_floor(wide)
    assert places(wide) == [(10.95, 5.95), (12.95, 5.95)]
    assert (edge.a, edge.b) == ("7_0", "7_1")
    deep = floor(box(5, 10, 7, 14))
    assert len(fill_floor(deep)) == 1
    assert places(deep) == [(5.95, 10.95), (5.95, 12.95)]


@pytest.mark.parametrize(("side", "many"), [(2.9, 1), (3.1, 4), (4.9, 4), (5.1, 9)])
def test_cells_are_about_two_metres_wide(side: float, many: int) -> None:
    room = floor(box(0, 0, side, side))
    fill_floor(room)
    assert len(room.stands) == many


@pytest.mark.parametrize("turned", [False, True])
def test_a_cell_without_free_floor_has_no_viewpoint(turned: bool) -> None:
    shape, free = box(0, 0, 4, 2), box(2.3, 0.2, 3.8, 1.8)
    if turned:
        shape, free = box(0, 0, 2, 4), box(0.2, 2.3, 1.8, 3.8)
    room = floor(shape, free)
    fill_floor(room)
    assert places(room) == [(0.95, 2.95) if turned else (2.95, 0.95)]


def test_new_viewpoints_keep_apart_from_the_floors_own_and_from_others() -> None:
    room = floor(box(0, 0, 2, 2))
    room.stand((0.95, 0.2))
    fill_floor(room)
    # 1.2 m from the one that is there.
    assert places(room) == [(0.95, 0.2), (0.95, 1.45)]
    beside = floor(box(0, 0, 2, 2))
    fill_floor(beside, [(0.95, 0.95)])
    assert places(beside) == [(1.2, 0.95)]
    near = floor(box(0, 0, 2, 2))
    fill_floor(near, [(0.95, 0.84)])
    assert places(near) == [(0.95, 0.95)]


def test_where_no_place_of_the_lattice_is_free_there_is_one_viewpoint() -> None:
    room = floor(box(0, 0, 2, 2), box(1.01, 1.01, 1.05, 1.05))
    assert fill_floor(room) == []
    ((x, z),) = places(room)
    assert 1.01 <= x <= 1.05
    assert 1.01 <= z <= 1.05


def test_the_part_that_a_way_in_leads_to_is_filled_else_the_largest() -> None:
    small, large = box(0.2, 0.2, 1.0, 1.8), box(2.2, 0.2, 5.8, 1.8)
    room = floor(box(0, 0, 6, 2), MultiPolygon([small, large]))
    fill_floor(room)
    assert all(x > 2 for x, _ in places(room))
    entered = floor(box(0, 0, 6, 2), MultiPolygon([small, large]))
    entered.stand((0.5, 0.5))
    fill_floor(entered)
    assert all(x < 2 for x, _ in places(entered))
    entered.stand((3.0, 1.0))
    with pytest.raises(BlockedError, match="hall: one cannot walk from each way in") as caught:
        fill_floor(entered)
    assert caught.value.region == "hall"
    with pytest.raises(BlockedError, match="there is no free floor"):
        fill_floor(floor(box(0, 0, 2, 2), Polygon()))


def test_who_is_on_stairs_is_not_on_the_floor() -> None:
    room = floor(box(0, 0, 2, 2))
    room.stand((0.95, 0.95), 1.5)
    fill_floor(room)
    assert [v.position for v in room.level] == [(0.95, 0.0, 0.95)]
    assert len(room.stands) == 2
    # The same place to the millimetre is the same viewpoint.
    assert room.stand((0.9504, 0.9496)) is room.level[0]
    assert room.stand((0.951, 0.95)).id == "7_2"


@pytest.mark.parametrize(
    ("metres", "reached"), [(0.0, False), (0.1, True), (3.0, True), (3.01, False)]
)
def test_an_edge_is_three_metres_long_at_most(metres: float, reached: bool) -> None:
    ends = (Viewpoint(id=f"{x}", position=(x, 0.0, 0.0)) for x in (0.0, metres))
    assert is_in_reach(*ends) == reached


# A corner at (2, 2): the floor has a leg to the right and a leg up from its lower left square.
ANGLE = Polygon([(0, 0), (6, 0), (6, 2), (2, 2), (2, 6), (0, 6)])


def test_a_shortest_way_turns_at_the_inner_corner_alone() -> None:
    roomy, sight = visibility_graph(ANGLE, [(5.0, 1.0), (1.0, 5.0), (1.0, 1.0)])
    assert set(sight.nodes) == {(5.0, 1.0), (1.0, 5.0), (1.0, 1.0), (2.0, 2.0)}
    assert not sight.has_edge((5.0, 1.0), (1.0, 5.0))
    way = nx.dijkstra_path(sight, (5.0, 1.0), (1.0, 5.0), weight="metres")
    assert way == [(5.0, 1.0), (2.0, 2.0), (1.0, 5.0)]
    assert sight.edges[(5.0, 1.0), (1.0, 1.0)]["metres"] == 4.0
    # Two millimetres wider, and no more.
    assert roomy.bounds == (-0.002, -0.002, 6.002, 6.002)


def test_corners_of_holes_are_inner_ones_and_straight_ones_are_none() -> None:
    ring = Polygon([(0, 0), (3, 0), (6, 0), (6, 6), (0, 6)], [[(2, 2), (4, 2), (4, 4), (2, 4)]])
    _, sight = visibility_graph(ring, [(1.0, 1.0)])
    assert set(sight.nodes) == {(1.0, 1.0), (2.0, 2.0), (4.0, 2.0), (4.0, 4.0), (2.0, 4.0)}
    _, sight = visibility_graph(
        Polygon([*ring.exterior.coords], [[(2, 2), (4, 2), (3, 3.33333)]]), []
    )
    assert (3.0, 3.333) in sight.nodes


def test_parts_that_a_corner_hides_are_joined_round_it() -> None:
    # Two legs of 9 m, so narrow that the viewpoints of one do not see those of the other.
    legs = Polygon([(0, 0), (9, 0), (9, 0.6), (0.6, 0.6), (0.6, 9), (0, 9)])
    room = floor(legs, legs.buffer(-0.2, join_style="mitre"))
    edges = fill_floor(room)
    graph: nx.Graph[str] = nx.Graph((edge.a, edge.b) for edge in edges)
    assert nx.is_connected(graph)
    assert set(graph) == {v.id for v in room.stands}
    at = {v.id: v for v in room.stands}
    assert all(room.free.buffer(0.003).covers(_line(at[e.a], at[e.b])) for e in edges)
    apart = MultiPolygon([box(0.2, 0.2, 2, 0.4), box(2.5, 0.2, 8, 0.4)])
    split = floor(box(0, 0, 9, 0.6), apart)
    fill_floor(split)
    assert all(x >= 2.5 for x, _ in places(split))


def _line(a: Viewpoint, b: Viewpoint) -> BaseGeometry:
    return LineString([xz_of(a), xz_of(b)])
