"""Viewpoints and edges on the free floor of true geometry."""

from __future__ import annotations

import math
from itertools import pairwise

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely import LineString, Point, Polygon, box, unary_union

from navloom.scenes.floor_graph import BODY, LONGEST, BlockedError, FreeFloor, fill_floor
from navloom.scenes.scene import Box, Edge, Item, Link, Point2, Region, Stairs, Viewpoint
from navloom_worlds.homes.viewpoint_placement import _RegionEntrance, place_viewpoints

NEAR_ENOUGH = 0.003
"""Metres by which places rounded to millimetres may miss a body's radius."""
Placed = tuple[tuple[Viewpoint, ...], tuple[Edge, ...]]


def room(number: int, x0: float, z0: float, x1: float, z1: float, y: float = 0.0) -> Region:
    return outlined(number, ((x0, z0), (x1, z0), (x1, z1), (x0, z1)), y)


def outlined(number: int, outline: tuple[Point2, ...], y: float = 0.0) -> Region:
    return Region(id=f"Room_{number}", center=(outline[0][0], y, outline[0][1]), polygon=outline)


def thing(
    number: int, x: float, z: float, width: float, depth: float, *,
    room: int = 1, yaw: float = 0.0, bottom: float = 0.0, height: float = 0.8,
) -> Item:  # fmt: skip
    return Item(
        id=str(number),
        name="chest",
        kind="asset",
        region=f"Room_{room}",
        position=(x, bottom + height / 2, z),
        size=(width, height, depth),
        yaw=yaw,
    )


def door(a: int, b: int, first: Point2, second: Point2) -> Link:
    return Link(a=f"Room_{a}", b=f"Room_{b}", kind="door", jambs=(first, second))


def graph_of(placed: Placed) -> nx.Graph:
    graph: nx.Graph = nx.Graph((edge.a, edge.b) for edge in placed[1])
    graph.add_nodes_from(viewpoint.id for viewpoint in placed[0])
    return graph


def ways(placed: Placed) -> list[LineString]:
    at = {v.id: (v.position[0], v.position[2]) for v in placed[0]}
    return [LineString([at[edge.a], at[edge.b]]) for edge in placed[1]]


def footprint(item: Item) -> Polygon:
    assert item.size is not None
    return Polygon(Box(center=item.position, size=item.size, yaw=item.yaw).corners())


# Two rooms, a wall of ten centimetres between them, and a door of eighty.
ROOMS = (room(1, 0, 0, 5, 4), room(2, 5.1, 0, 9, 4))
DOOR = door(1, 2, (5.05, 1.0), (5.05, 1.8))


def test_a_viewpoint_is_on_either_side_of_a_doorway() -> None:
    viewpoints, edges = place_viewpoints(ROOMS, [DOOR], [])
    by_id = {v.id: v for v in viewpoints}
    assert by_id["1_0"].position == (4.55, 0, 1.4)
    assert by_id["2_0"].position == (5.55, 0, 1.4)
    assert edges[0] == Edge(a="1_0", b="2_0")


def test_viewpoints_are_about_two_metres_apart_all_over_the_floor() -> None:
    viewpoints, _ = place_viewpoints([room(1, 0, 0, 8, 8)], [], [])
    assert len(viewpoints) == 16
    at = [Point(v.position[0], v.position[2]) for v in viewpoints]
    assert {round(min(a.distance(b) for b in at if b is not a), 6) for a in at} == {2.0}


@pytest.mark.parametrize("body", [BODY, 0.33])
def test_a_body_keeps_its_radius_from_walls_and_things(body: float) -> None:
    chest = thing(1, 2.5, 1.0, 2.0, 1.3)
    placed = place_viewpoints(ROOMS, [DOOR], [chest], body=body)
    assert nx.is_connected(graph_of(placed))
    doorway = Polygon([(4.6, 1.0), (5.5, 1.0), (5.5, 1.8), (4.6, 1.8)])
    walls = [LineString([*outline, outline[0]]) for r in ROOMS if (outline := r.outline)]
    for way in ways(placed):
        assert way.distance(footprint(chest)) > body - NEAR_ENOUGH
        inside = way.difference(doorway)
        assert all(inside.distance(wall) > body - NEAR_ENOUGH for wall in walls)


def test_it_is_the_same_every_time() -> None:
    items = [thing(1, 2, 2, 1.5, 0.8, yaw=0.3)]
    assert place_viewpoints(ROOMS, [DOOR], items) == place_viewpoints(ROOMS, [DOOR], items)


def test_edges_lead_through_the_doorway_alone_and_no_farther_than_one_sees() -> None:
    wide = door(1, 2, (5.05, 1.0), (5.05, 3.0))
    placed = place_viewpoints(ROOMS, [wide], [])
    low, high = 1.0 + BODY - NEAR_ENOUGH, 3.0 - BODY + NEAR_ENOUGH
    through = [way for way in ways(placed) if way.crosses(LineString([(5.05, 0), (5.05, 4)]))]
    assert len(through) > 1, "others than the two before the door see each other through it"
    for x in (5.0, 5.05, 5.1):
        at = [way.intersection(LineString([(x, 0), (x, 4)])).y for way in through]
        assert low <= min(at) <= max(at) <= high
    assert max(way.length for way in ways(placed)) <= LONGEST
    assert nx.is_connected(graph_of(placed))


def test_furniture_is_walked_round_rugs_over_and_lamps_under() -> None:
    def straight(item: Item) -> bool:
        placed = place_viewpoints([room(1, 0, 0, 4, 2)], [], [item])
        return any(way.intersects(footprint(item)) for way in ways(placed))

    assert not straight(thing(1, 2, 1, 0.5, 0.5))
    assert straight(thing(1, 2, 1, 0.5, 0.5, height=0.02)), "a rug"
    assert straight(thing(1, 2, 1, 0.5, 0.5, bottom=1.9)), "a lamp"
    assert not straight(thing(1, 2, 1, 0.5, 0.5, bottom=1.2)), "a shelf on a chain"


def test_parts_that_furniture_hides_from_each_other_are_joined_round_its_corners() -> None:
    # Two walls of shelves leave a zigzag of 45 cm: straight lines between cells are all cut.
    shelves = [thing(1, 3, 1.75, 0.4, 3.5), thing(2, 3.85, 2.25, 0.4, 3.5)]
    placed = place_viewpoints([room(1, 0, 0, 8, 4)], [], shelves)
    assert nx.is_connected(graph_of(placed))
    assert min(v.position[0] for v in placed[0]) < 2 < 5 < max(v.position[0] for v in placed[0])
    blocks = unary_union([footprint(each) for each in shelves])
    assert min(way.distance(blocks) for way in ways(placed)) >= BODY - NEAR_ENOUGH


def test_a_pocket_behind_furniture_has_no_viewpoint() -> None:
    shelf = thing(1, 6, 2, 0.4, 3.8)
    viewpoints, _ = place_viewpoints(
        [room(1, 0, 0, 8, 4), room(2, -3, 0, -0.1, 4)],
        [door(1, 2, (-0.05, 1), (-0.05, 2))],
        [shelf],
    )
    assert max(v.position[0] for v in viewpoints) < 6


@pytest.mark.parametrize(
    ("items", "words"),
    [
        ([thing(1, 4.5, 1.4, 0.9, 0.9)], r"Room_1: the way in at \(5\.05, 1\.4\) is blocked"),
        ([thing(1, 2.5, 2, 5, 4)], "Room_1: the way in"),
        ([thing(1, 2, 2, 0.3, 3.9)], "Room_1: one cannot walk from each way in to each other"),
    ],
)
def test_a_home_that_cannot_be_walked_is_refused(items: list[Item], words: str) -> None:
    rooms = [*ROOMS, room(3, -4, 0, -0.1, 4)]
    links = [DOOR, door(1, 3, (-0.05, 1.0), (-0.05, 1.8))]
    with pytest.raises(BlockedError, match=words) as caught:
        place_viewpoints(rooms, links, items)
    assert caught.value.region == "Room_1"


def test_a_room_without_floor_is_refused() -> None:
    with pytest.raises(BlockedError, match="Room_1: there is no free floor"):
        place_viewpoints([room(1, 0, 0, 0.3, 4)], [], [])


def test_stairs_are_walked_along_their_line() -> None:
    rooms = [room(1, 0, 0, 4, 6), room(2, 4.1, 0, 8, 2, y=2.7)]
    line = ((1.0, 0.0, 5.0), (1.0, 1.35, 1.0), (4.1, 2.7, 1.0))
    treads = tuple(
        Box(center=(1.0, (i + 1) * 0.085, 4.8 - i * 0.4), size=(0.9, (i + 1) * 0.17, 0.4))
        for i in range(8)
    )
    flight = Stairs(a="Room_1", b="Room_2", treads=treads, line=line)
    placed = place_viewpoints(rooms, [], [], [flight])
    by_id = {v.id: v.position for v in placed[0]}
    assert by_id["1_0"] == (1.0, 0.0, 5.45), "before the first tread"
    assert by_id["2_0"] == (4.55, 2.7, 1.0), "past the last"
    assert by_id["1_1"] == (1.0, 1.35, 1.0), "on the turn"
    pairs = {(edge.a, edge.b) for edge in placed[1]}
    assert {("1_0", "1_1"), ("1_1", "2_0")} <= pairs
    assert nx.is_connected(graph_of(placed))
    others = [
        way for way, e in zip(ways(placed), placed[1], strict=True) if "1_1" not in (e.a, e.b)
    ]
    assert not any(way.intersects(box(0.55, 2, 1.45, 5)) for way in others)


def test_at_stairs_that_begin_at_their_mouth_one_stands_in_it_and_on_no_tread() -> None:
    rooms = [room(1, 0, 0, 4, 2), room(2, 0, 2.1, 1, 6), room(3, 0, 6.1, 4, 8, y=2.8)]
    treads = tuple(
        Box(center=(0.5, (i + 1) * 0.1, 2.225 + i * 0.25), size=(1.0, (i + 1) * 0.2, 0.25))
        for i in range(14)
    )
    line = ((0.5, 0.0, 2.1), (0.5, 0.0, 2.1), (0.5, 2.8, 5.6), (0.5, 2.8, 6.1))
    flight = Stairs(a="Room_2", b="Room_3", treads=treads, line=line)
    placed = place_viewpoints(rooms, [door(1, 2, (0.1, 2.05), (0.9, 2.05))], [], [flight])
    assert [v.position for v in placed[0] if v.region == "Room_2"] == [(0.5, 0.0, 2.1)]
    assert nx.is_connected(graph_of(placed))


L_SHAPE: tuple[Point2, ...] = ((0, 0), (9, 0), (9, 3), (3, 3), (3, 9), (0, 9))
U_SHAPE: tuple[Point2, ...] = (
    (0, 0), (9, 0), (9, 9), (7, 9), (7, 1), (2, 1), (2, 9), (0, 9),
)  # fmt: skip
NECK: tuple[Point2, ...] = (
    (0, 0), (9, 0), (9, 3), (6, 3), (6, 0.5), (3, 0.5), (3, 3), (0, 3),
)  # fmt: skip
# A wall stands in the room from below, to three quarters of its depth.
SLOT: tuple[Point2, ...] = (
    (0, 0), (2.9, 0), (2.9, 4.5), (3.1, 4.5), (3.1, 0), (6, 0), (6, 6), (0, 6),
)  # fmt: skip


@pytest.mark.parametrize("outline", [L_SHAPE, U_SHAPE, NECK, SLOT])
def test_a_crooked_room_is_connected_and_not_left(outline: tuple[Point2, ...]) -> None:
    placed = place_viewpoints([outlined(1, outline, y=0.5)], [], [])
    assert nx.is_connected(graph_of(placed))
    assert {v.position[1] for v in placed[0]} == {0.5}
    inner = Polygon(outline).buffer(NEAR_ENOUGH - BODY, join_style="mitre")
    assert all(inner.covers(way) for way in ways(placed))
    left, right = (f([v.position[0] for v in placed[0]]) for f in (min, max))
    assert left < 1.5
    assert right > 4.5


pieces = st.tuples(
    st.floats(0.5, 6.5), st.floats(0.5, 4.5), st.floats(0.1, 2), st.floats(0.1, 2), st.floats(0, 7)
)  # fmt: skip


@settings(max_examples=settings.default.max_examples // 2)
@given(st.lists(pieces, max_size=9))
def test_whatever_stands_there_every_way_is_free_or_the_home_is_refused(
    drawn: list[tuple[float, float, float, float, float]],
) -> None:
    items = [thing(i, x, z, w, d, yaw=yaw) for i, (x, z, w, d, yaw) in enumerate(drawn)]
    rooms = [room(1, 0, 0, 7, 5), room(2, 7.1, 0, 9, 5), room(3, -2, 0, -0.1, 5)]
    links = [door(1, 2, (7.05, 2), (7.05, 3)), door(3, 1, (-0.05, 4), (-0.05, 4.7))]
    try:
        placed = place_viewpoints(rooms, links, items)
    except BlockedError:
        assert items, "an empty home can be walked"
        return
    assert nx.is_connected(graph_of(placed))
    blocks = unary_union([footprint(item) for item in items])
    for way in ways(placed) if items else ():
        assert way.distance(blocks) >= BODY - NEAR_ENOUGH
    for viewpoint in placed[0]:
        assert all(round(each, 3) == each for each in viewpoint.position)
    assert {v.region for v in placed[0]} == {r.id for r in rooms}
    assert len({frozenset((e.a, e.b)) for e in placed[1]}) == len(placed[1])


def test_the_walk_round_is_the_shortest() -> None:
    shelf = thing(1, 3, 1.75, 0.4, 3.5)
    placed = place_viewpoints([room(1, 0, 0, 6, 4)], [], [shelf])
    at = {v.id: (v.position[0], v.position[2]) for v in placed[0]}
    graph = graph_of(placed)
    for a, b in graph.edges:
        graph.edges[a, b]["metres"] = math.dist(at[a], at[b])
    left, right = (f(at, key=lambda v: (at[v][0], at[v][1])) for f in (min, max))
    way = nx.shortest_path(graph, left, right, weight="metres")
    corners = [at[left], (2.6, 3.7), (3.4, 3.7), at[right]]
    walked = sum(math.dist(at[a], at[b]) for a, b in pairwise(way))
    assert walked <= 1.1 * sum(math.dist(a, b) for a, b in pairwise(corners)) + 0.3


def test_two_viewpoints_in_one_place_are_one_and_ways_round_are_found() -> None:
    # A wall from side to side but for a gap at the far end parts the floor in two.
    outline = box(0, 0, 6, 4).difference(box(2.9, 0, 3.1, 3.5))
    floor = FreeFloor("hall", "1", 0.0, box(0, 0, 6, 4), None, outline)
    first = floor.stand((1.0, 0.5))
    assert floor.stand((1.0004, 0.5)) is first
    floor.stand((5.0, 0.5))
    # On stairs just there, at another height, is another.
    assert floor.stand((1.0, 0.5), 1.2) is not first
    edges = fill_floor(floor)
    level = {viewpoint.id for viewpoint in floor.level}
    graph: nx.Graph = nx.Graph((edge.a, edge.b) for edge in edges)
    assert set(graph) == level
    assert nx.is_connected(graph)
    for way in ways((tuple(floor.stands), tuple(edges))):
        assert outline.buffer(NEAR_ENOUGH).covers(way)


def test_new_viewpoints_keep_off_what_is_somebody_elses() -> None:
    floor = FreeFloor("hall", "1", 0.0, box(0, 0, 4, 4), None, box(0.2, 0.2, 3.8, 3.8))
    alone = FreeFloor("hall", "1", 0.0, box(0, 0, 4, 4), None, box(0.2, 0.2, 3.8, 3.8))
    fill_floor(alone)
    kept = [(v.position[0], v.position[2]) for v in alone.stands]
    fill_floor(floor, kept)
    assert floor.stands
    for viewpoint in floor.stands:
        x, _, z = viewpoint.position
        assert all(math.dist((x, z), each) >= 0.1 for each in kept)


def test_a_way_in_has_places_behind_it_and_a_strip_of_floor() -> None:
    # It leads in 3-4-5 askew; 0.5 m on either side less a body of 0.2 m.
    gate = _RegionEntrance(at=(1.0, 2.0), into=(0.6, 0.8), half=0.5, off=0.1, body=0.2, reach=0.3)
    assert gate.place(0.45) == (1.33, 2.44)
    assert gate.place(0.0) == (1.06, 2.08)
    assert [*gate.strip.exterior.coords] == [
        (1.234, 1.812), (0.754, 2.172), (1.0, 2.5), (1.48, 2.14), (1.234, 1.812),
    ]  # fmt: skip
    narrow = _RegionEntrance(at=(0.0, 0.0), into=(0.0, 1.0), half=0.2, off=0.1, body=0.2, reach=0.3)
    assert narrow.strip.bounds == (-0.01, -0.01, 0.01, 0.4)


@pytest.mark.parametrize(
    ("begins", "stands"), [(None, 0.45), (0.66, 0.45), (0.64, 0.35), (0.56, 0.35), (0.54, 0.25)]
)
def test_before_a_doorway_one_stands_as_far_in_as_is_free(
    begins: float | None, stands: float
) -> None:
    rooms = [room(1, 0, 0, 4, 4), room(2, 0, -4, 4, 0)]
    chest = [] if begins is None else [thing(1, 2.0, begins + 0.3, 1.0, 0.6)]
    viewpoints, _ = place_viewpoints(rooms, [door(1, 2, (1.5, 0.0), (2.5, 0.0))], chest)
    first = next(v for v in viewpoints if v.id == "1_0")
    assert first.position == (2.0, 0.0, pytest.approx(stands))
    other = next(v for v in viewpoints if v.id == "2_0")
    assert other.position == (2.0, 0.0, pytest.approx(-0.45))


@pytest.mark.parametrize(
    ("height", "bottom", "walked"),
    [(0.05, 0.0, True), (0.06, 0.0, False), (0.5, 1.8, True), (0.5, 1.79, False)],
)
def test_what_is_flat_or_high_is_in_nobodys_way(height: float, bottom: float, walked: bool) -> None:
    wide = thing(1, 2.0, 2.0, 3.0, 3.0, height=height, bottom=bottom + 3.0)
    viewpoints, _ = place_viewpoints([room(1, 0, 0, 4, 4, y=3.0)], [], [wide])
    inside = [v for v in viewpoints if max(abs(v.position[0] - 2), abs(v.position[2] - 2)) < 1.5]
    assert bool(inside) == walked


@pytest.mark.parametrize("turned", [False, True])
def test_who_see_each_other_through_a_doorway_are_joined_and_no_others(turned: bool) -> None:
    # The wall is at 4 m, the doorway from 0.5 to 3.5 m: less a body on either side, 0.7 to 3.3 m.
    if turned:
        rooms = [room(1, 0, 0, 4, 4), room(2, 0, 4, 4, 8)]
        way_through = door(1, 2, (0.5, 4.0), (3.5, 4.0))
    else:
        rooms = [room(1, 0, 0, 4, 4), room(2, 4, 0, 8, 4)]
        way_through = door(1, 2, (4.0, 0.5), (4.0, 3.5))
    viewpoints, edges = place_viewpoints(rooms, [way_through], [])
    at = {
        v.id: (v.position[2], v.position[0]) if turned else (v.position[0], v.position[2])
        for v in viewpoints
    }
    found = {frozenset((e.a, e.b)) for e in edges if e.a[0] != e.b[0]}
    expected = set()
    for a, (x, z) in at.items():
        for b, (u, w) in at.items():
            if x < 4 < u and math.dist((x, z), (u, w)) <= 3:
                crossing = z + (w - z) * (4 - x) / (u - x)
                if 0.7 <= crossing <= 3.3:
                    expected.add(frozenset((a, b)))
    assert found == expected
    assert len(found) > 1


def test_an_item_without_size_or_place_takes_no_floor() -> None:
    plain = place_viewpoints([room(1, 0, 0, 4, 4)], [], [])
    wide = thing(1, 2.0, 2.0, 3.0, 3.0)
    for gone in ({"size": None}, {"region": None}):
        lost = wide.model_copy(update=gone)
        assert place_viewpoints([room(1, 0, 0, 4, 4)], [], [lost]) == plain
    assert place_viewpoints([room(1, 0, 0, 4, 4)], [], [wide]) != plain
