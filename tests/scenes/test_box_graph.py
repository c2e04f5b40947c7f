"""The navigation graph that is built for homes without one."""

from __future__ import annotations

import math

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navloom.scenes.box_graph import build_box_graph
from navloom.scenes.distances import metre_table
from navloom.scenes.floor_graph import BODY
from navloom.scenes.scene import Box, Edge, Floor, Link, Region, Scene, Viewpoint, distance_2d


def room(number: int, x: float, z: float, width: float, depth: float, y: float = 0.0) -> Region:
    box = Box(center=(x, y + 1.25, z), size=(width, 2.5, depth))
    return Region(id=f"Room_{number}", center=(x, y, z), box=box)


def graph_of(viewpoints: tuple[Viewpoint, ...], edges: tuple[Edge, ...]) -> nx.Graph:
    graph: nx.Graph = nx.Graph((edge.a, edge.b) for edge in edges)
    graph.add_nodes_from(viewpoint.id for viewpoint in viewpoints)
    return graph


def test_a_room_is_filled_inside_its_walls() -> None:
    viewpoints, edges = build_box_graph([room(7, 10, 20, 6, 3, y=2.0)], [])
    assert [v.id for v in viewpoints] == [f"7_{i}" for i in range(6)]
    assert {v.region for v in viewpoints} == {"Room_7"}
    assert {v.position[1] for v in viewpoints} == {2.0}
    for x, _, z in (v.position for v in viewpoints):
        assert abs(x - 10) <= 3 - BODY
        assert abs(z - 20) <= 1.5 - BODY
    assert nx.is_connected(graph_of(viewpoints, edges))


def test_before_a_crossing_stands_a_viewpoint_on_either_side() -> None:
    rooms = [room(1, 0, 0, 6, 4), room(2, 6.2, 0, 6, 4)]
    viewpoints, edges = build_box_graph(rooms, [Link(a="Room_1", b="Room_2", point=(3.1, 0, 1))])
    at = {v.id: v.position for v in viewpoints}
    across = [(at[e.a], at[e.b]) for e in edges if e.a[0] != e.b[0]]
    # The wall is 0.2 m thick, and both keep a body's radius from it.
    assert across == [(pytest.approx((2.8, 0, 1), abs=0.01), pytest.approx((3.4, 0, 1), abs=0.01))]


def test_a_cupboard_has_one_viewpoint_in_its_middle() -> None:
    viewpoints, edges = build_box_graph([room(1, 0, 0, 0.6, 0.4)], [])
    assert [v.position for v in viewpoints] == [(0, 0, 0)]
    assert edges == ()


def test_a_region_without_shape_has_one_viewpoint() -> None:
    viewpoints, _ = build_box_graph([Region(id="Hall_3", center=(1, 2, 3))], [])
    assert viewpoints == (Viewpoint(id="3_0", position=(1, 2, 3), region="Hall_3"),)


def test_linked_rooms_are_joined_and_others_are_not() -> None:
    rooms = [room(1, 0, 0, 4, 4), room(2, 4, 0, 4, 4), room(3, 8, 0, 4, 4)]
    link = Link(a="Room_1", b="Room_2", point=(2, 0, 0))
    viewpoints, edges = build_box_graph(rooms, [link])
    graph = graph_of(viewpoints, edges)
    assert nx.number_connected_components(graph) == 2
    region = {v.id: v.region for v in viewpoints}
    across = {frozenset((region[e.a], region[e.b])) for e in edges if region[e.a] != region[e.b]}
    assert across == {frozenset(("Room_1", "Room_2"))}


def test_ways_are_near_to_straight_lines_through_the_crossing() -> None:
    rooms = [room(1, 0, 0, 6, 4), room(2, 6, 0, 6, 4)]
    link = Link(a="Room_1", b="Room_2", point=(3, 0, 0))
    viewpoints, edges = build_box_graph(rooms, [link])
    scene = Scene(
        id="x",
        floors=(Floor(id=1, height=0),),
        regions=tuple(rooms),
        links=(link,),
        viewpoints=viewpoints,
        edges=edges,
    )
    table = metre_table(scene)
    for a in scene.viewpoints_by_region["Room_1"]:
        for b in scene.viewpoints_by_region["Room_2"]:
            straight = distance_2d(a.position, (3, 0, 0)) + distance_2d((3, 0, 0), b.position)
            assert straight - 1.0 <= table.distance(a.id, b.id) <= 1.1 * straight + 1.0


def test_a_link_without_a_point_joins_the_nearest() -> None:
    rooms = [room(1, 0, 0, 6, 1), room(2, 6, 0, 6, 1)]
    _, edges = build_box_graph(rooms, [Link(a="Room_1", b="Room_2")])
    assert [(e.a, e.b) for e in edges if e.a[0] != e.b[0]] == [("1_2", "2_0")]


def test_rooms_over_each_other_share_no_place() -> None:
    rooms = [room(1, 0, 0, 6, 6), room(2, 0, 0, 6, 6), room(3, 0, 0, 6, 6)]
    viewpoints, _ = build_box_graph(rooms, [])
    assert len({v.position for v in viewpoints}) == len(viewpoints) == 27
    for viewpoint in viewpoints:
        assert max(abs(viewpoint.position[0]), abs(viewpoint.position[2])) < 3


def test_a_turned_box_is_filled_along_its_own_sides() -> None:
    box = Box(center=(5, 1, 5), size=(6, 2, 1), yaw=math.pi / 2)
    viewpoints, _ = build_box_graph([Region(id="Hall_1", center=(5, 0, 5), box=box)], [])
    assert len(viewpoints) == 3
    assert all(abs(v.position[0] - 5) <= 0.5 - BODY for v in viewpoints)
    assert max(abs(v.position[2] - 5) for v in viewpoints) > 1.5


boxes = st.tuples(
    st.floats(-20, 20), st.floats(-20, 20), st.floats(0.01, 15), st.floats(0.01, 15)
)  # fmt: skip


@settings(max_examples=settings.default.max_examples // 2)
@given(st.lists(boxes, min_size=1, max_size=6), st.data())
def test_its_parts_are_the_parts_of_the_home(
    shapes: list[tuple[float, float, float, float]], data: st.DataObject
) -> None:
    rooms = [room(i, *shape) for i, shape in enumerate(shapes)]
    pairs = [(a.id, b.id) for a in rooms for b in rooms if a.id < b.id]
    chosen = data.draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    point = data.draw(st.sampled_from([(0.0, 0.0, 0.0), None]))
    links = [Link(a=a, b=b, point=point) for a, b in chosen]
    viewpoints, edges = build_box_graph(rooms, links)
    assert (viewpoints, edges) == build_box_graph(rooms, links)
    home: nx.Graph = nx.Graph(chosen)
    home.add_nodes_from(each.id for each in rooms)
    graph = graph_of(viewpoints, edges)
    assert nx.number_connected_components(graph) == nx.number_connected_components(home)
    assert {v.region for v in viewpoints} == {each.id for each in rooms}
    for viewpoint in viewpoints:
        box = rooms[int(viewpoint.id.split("_")[0])].box
        assert box is not None
        assert box.distance(viewpoint.position) < 0.03


def stands(viewpoints: tuple[Viewpoint, ...], number: int) -> list[tuple[float, float]]:
    return [(v.position[0], v.position[2]) for v in viewpoints if v.id.startswith(f"{number}_")]


@pytest.mark.parametrize(
    ("width", "depth", "middle"),
    [(0.99, 0.99, True), (0.99, 0.4, True), (1.0, 0.99, False), (0.6, 1.2, False)],
)
def test_a_room_with_a_side_of_a_metre_is_no_cupboard(
    width: float, depth: float, middle: bool
) -> None:
    # A crossing beside the middle shows whether the viewpoint may stand anywhere else.
    rooms = [room(1, 0, 0, width, depth), room(2, 0, 3, 4, 4)]
    link = Link(a="Room_1", b="Room_2", point=(0.3, 0, 1.0))
    viewpoints, _ = build_box_graph(rooms, [link])
    near = min(math.dist(at, (0, 0)) for at in stands(viewpoints, 1))
    assert (near <= 0.03) == middle


@pytest.mark.parametrize(
    ("depth", "furthest"),
    [
        # Less than a body wide: a strip of 0.04 m is kept, however narrow the room is.
        (0.01, 0.015),
        (0.3, 0.015),
        (0.43, 0.015),
        # Wider ones keep a body's radius from their walls.
        (0.5, 0.045),
        (0.9, 0.245),
    ],
)
def test_a_narrow_room_keeps_a_strip_in_its_middle(depth: float, furthest: float) -> None:
    link = Link(a="Room_1", b="Room_2", point=(0, 0, 1))
    for rooms in ((room(1, 0, 0, 6, depth),), (room(1, 0, 0, depth, 6),)):
        viewpoints, _ = build_box_graph(rooms, [])
        assert all(min(abs(v.position[0]), abs(v.position[2])) <= 0.25 for v in viewpoints)
    viewpoints, _ = build_box_graph([room(1, 0, 0, 6, depth), room(2, 0, 9, 1, 1)], [link])
    assert max(z for _, z in stands(viewpoints, 1)) == pytest.approx(furthest, abs=0.002)


def crossings(*points: tuple[float, float]) -> list[tuple[float, float]]:
    """The viewpoints of a room of 4 x 4 m that the crossings of its right wall made."""
    rooms = [room(1, 0, 0, 4, 4), room(2, 4.2, 0, 4, 4)]
    links = [Link(a="Room_1", b="Room_2", point=(x, 0, z)) for x, z in points]
    viewpoints, edges = build_box_graph(rooms, links)
    across = {edge.a if edge.a[0] == "1" else edge.b for edge in edges if edge.a[0] != edge.b[0]}
    at = {v.id: (v.position[0], v.position[2]) for v in viewpoints}
    return [at[name] for name in sorted(across)]


def test_crossings_within_30_cm_share_a_viewpoint() -> None:
    assert crossings((2.1, 0), (2.1, 0.29)) == [pytest.approx((1.795, 0), abs=0.01)]
    assert crossings((2.1, 0), (2.1, 0.31)) == [
        pytest.approx((1.795, 0), abs=0.01),
        pytest.approx((1.795, 0.31), abs=0.01),
    ]


def test_before_a_crossing_one_stands_five_millimetres_off_the_edge_of_the_free_floor() -> None:
    # The room is 2 m from its middle to its wall, and a body keeps 0.2 m from it.
    assert crossings((2.1, 0)) == [(1.795, 0)]


def test_a_crossing_in_the_middle_of_a_room_is_its_viewpoint() -> None:
    rooms = [room(1, 0, 0, 4, 4), room(2, 4.2, 0, 4, 4), room(3, 0, 9, 0.6, 0.4)]
    links = [Link(a="Room_2", b="Room_1", point=(0, 0, 0))]
    links.append(Link(a="Room_2", b="Room_3", point=(0, 0, 9)))
    viewpoints, _ = build_box_graph(rooms, links)
    assert stands(viewpoints, 1)[0] == (0, 0)
    assert stands(viewpoints, 3) == [(0, 9)]


def test_a_crossing_takes_the_nearest_of_several_viewpoints() -> None:
    found = crossings((2.1, -1.0), (2.1, 1.0), (2.1, 0.9))
    assert found == [pytest.approx((1.795, -1.0), abs=0.01), pytest.approx((1.795, 1.0), abs=0.01)]


@pytest.mark.parametrize(("height", "inwards"), [(0.0, 0.3), (0.99, 0.3), (1.0, 0.0), (1.5, 0.0)])
def test_rooms_in_one_place_stand_30_cm_further_in_unless_a_storey_is_between(
    height: float, inwards: float
) -> None:
    # Both rooms are in one place; the first one's viewpoint is where the second one's would be.
    rooms = [room(1, 0, 0, 4, 4, y=5), room(2, 0, 0, 4, 4, y=5 + height)]
    viewpoints, edges = build_box_graph(rooms, [Link(a="Room_1", b="Room_2", point=(2, 0, 0))])
    at = {v.id: v.position for v in viewpoints}
    first, second = at[edges[0].a], at[edges[0].b]
    assert first[0] - second[0] == pytest.approx(inwards, abs=0.002)
    assert (first[2], second[2]) == (0, 0)


def test_three_rooms_in_one_place_stand_60_cm_apart() -> None:
    rooms = [room(number, 0, 0, 4, 4) for number in (1, 2, 3)]
    links = [Link(a="Room_1", b=f"Room_{k}", point=(0, 0, 2)) for k in (2, 3)]
    viewpoints, _ = build_box_graph(rooms, links)
    first, second, third = (stands(viewpoints, number)[0] for number in (1, 2, 3))
    assert [round(first[1] - each[1], 2) for each in (first, second, third)] == [0, 0.3, 0.6]


@pytest.mark.parametrize(
    ("depth", "first_z", "second_z"),
    # The middle is taken where it is 10 cm away: else both stand where they are nearest.
    [(0.7, 0.145, 0), (0.6, 0.095, 0.095)],
)
def test_further_in_is_the_middle_of_a_small_room_at_most(
    depth: float, first_z: float, second_z: float
) -> None:
    rooms = [room(1, 0, 0, 1.2, depth), room(2, 0, 0, 1.2, depth)]
    viewpoints, _ = build_box_graph(rooms, [Link(a="Room_1", b="Room_2", point=(0, 0, 1))])
    first, second = stands(viewpoints, 1)[0], stands(viewpoints, 2)[0]
    assert first == (0, pytest.approx(first_z, abs=0.002))
    assert second == (0, pytest.approx(second_z, abs=0.002))
