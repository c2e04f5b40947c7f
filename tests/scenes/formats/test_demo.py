"""The demo homes are true: a person who looks at the plan believes it."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import networkx as nx
import pytest
import yaml
from shapely import LineString, Point, Polygon, unary_union

from navloom.errors import SceneError
from navloom.scenes.distances import hop_table
from navloom.scenes.lexicon import classify
from navloom.scenes.scene import Box, Item, Region, Scene
from navloom.scenes.scene_uri import list_scenes, load_scene
from tests.scenes.demo import home_builder
from tests.scenes.demo.home_layout import CLEAR, Opening, lay_out

NAMES = ("flat", "house", "villa")
FURNITURE_GAP = 0.01


@pytest.fixture(scope="module", params=NAMES)
def home(request: pytest.FixtureRequest) -> Scene:
    return load_scene(f"demo:{request.param}")


def footprint(item: Item) -> Polygon:
    assert item.size is not None
    return Polygon(Box(center=item.position, size=item.size, yaw=item.yaw).corners())


def shape(region: Region) -> Polygon:
    assert region.outline is not None
    return Polygon(region.outline)


def stands_on_floor(scene: Scene, item: Item) -> bool:
    assert item.size is not None
    floor = scene.region_by_id[item.region or ""].center[1]
    return (
        item.on is None
        and item.size[1] > 0.05
        and item.position[1] - item.size[1] / 2 < floor + 0.5
    )


def bottom(item: Item) -> float:
    assert item.size is not None
    return item.position[1] - item.size[1] / 2


def test_three_homes_of_six_ten_and_sixteen_regions() -> None:
    assert list_scenes("demo:") == [f"demo:{name}" for name in NAMES]
    counts = [len(load_scene(f"demo:{name}").regions) for name in NAMES]
    assert counts == [6, 10, 16]
    assert [len(load_scene(f"demo:{name}").floors) for name in NAMES] == [1, 1, 2]


def test_the_same_home_twice_is_equal(home: Scene) -> None:
    assert load_scene(f"demo:{home.id}") == home
    assert home.uri == f"demo:{home.id}"


def test_what_ships_is_what_was_written(home: Scene) -> None:
    built = home_builder.build(home.id)
    counted = [len(each) for each in (built.viewpoints, built.edges, built.walls)]
    assert counted == [len(each) for each in (home.viewpoints, home.edges, home.walls)]
    assert built == home


def test_an_unknown_home_names_a_near_one() -> None:
    with pytest.raises(SceneError, match=r"no demo scene 'vila'.*Did you mean 'villa'"):
        load_scene("demo:vila")


def test_rooms_of_a_storey_do_not_overlap(home: Scene) -> None:
    for a, b in combinations(home.regions, 2):
        if a.floor == b.floor:
            assert shape(a).intersection(shape(b)).area < 1e-9, (a.id, b.id)


def test_items_are_in_their_rooms(home: Scene) -> None:
    for item in home.items:
        room = home.region_by_id[item.region or ""]
        assert shape(room).buffer(0.001).covers(footprint(item)), (item.id, item.name, room.id)
        assert room.box is not None
        assert room.box.bottom - 1e-6 <= bottom(item), (item.id, item.name)


def test_furniture_does_not_overlap(home: Scene) -> None:
    standing = [item for item in home.items if stands_on_floor(home, item)]
    for a, b in combinations(standing, 2):
        if a.region == b.region:
            overlap = footprint(a).buffer(-FURNITURE_GAP).intersection(footprint(b)).area
            assert overlap < 1e-6, (a.region, a.name, b.name, a.position, b.position)


def test_what_stands_on_something_stands_on_its_surface(home: Scene) -> None:
    for item in home.items:
        if item.on is None:
            continue
        below = home.item_by_id[item.on]
        assert below.region == item.region
        assert below.kind == "asset"
        assert below.size is not None
        assert footprint(below).buffer(0.03).covers(footprint(item)), (
            below.id,
            below.name,
            item.name,
        )
        assert bottom(below) < bottom(item) <= bottom(below) + below.size[1] + 1e-6
    for a, b in combinations([i for i in home.items if i.on is not None], 2):
        if a.on == b.on:
            assert footprint(a).intersection(footprint(b)).area < 2e-3, (a.id, a.name, b.name)


def test_doors_are_in_shared_walls_and_clear(home: Scene) -> None:
    standing = [footprint(item) for item in home.items if stands_on_floor(home, item)]
    for link in home.links:
        if link.kind == "stairs":
            continue
        a, b = shape(home.region_by_id[link.a]), shape(home.region_by_id[link.b])
        assert link.point is not None
        assert link.width is not None
        at = Point(link.point[0], link.point[2])
        assert a.boundary.distance(at) < 1e-6, (link.a, link.b)
        assert b.boundary.distance(at) < 1e-6, (link.a, link.b)
        floor = home.region_by_id[link.a].floor
        before = at.buffer(link.width / 2 * 0.95)
        for item, foot in zip(
            [i for i in home.items if stands_on_floor(home, i)], standing, strict=True
        ):
            if home.region_by_id[item.region or ""].floor == floor:
                assert foot.intersection(before).area < 1e-6, (link.a, link.b, item.name)


def test_walls_leave_the_doors_open(home: Scene) -> None:
    assert home.walls
    for link in home.links:
        if link.kind == "stairs":
            continue
        assert link.point is not None
        at = Point(link.point[0], link.point[2])
        height = home.region_by_id[link.a].center[1]
        nearest = min(
            LineString([wall.a, wall.b]).distance(at)
            for wall in home.walls
            if abs(wall.bottom - height) < 0.5
        )
        assert nearest == pytest.approx((link.width or 0) / 2, abs=0.02), (link.a, link.b)


def test_viewpoints_stand_on_free_floor(home: Scene) -> None:
    for region in home.regions:
        furniture = unary_union(
            [footprint(i) for i in home.items_in(region.id) if stands_on_floor(home, i)]
        )
        assert home.viewpoints_by_region[region.id], region.id
        for viewpoint in home.viewpoints_by_region[region.id]:
            at = Point(viewpoint.position[0], viewpoint.position[2])
            assert shape(region).contains(at), viewpoint.id
            assert furniture.distance(at) >= CLEAR - 0.02, (region.id, viewpoint.id)


def test_edges_go_through_rooms_and_never_through_furniture(home: Scene) -> None:
    at = {v.id: v for v in home.viewpoints}
    standing = {
        region.id: unary_union(
            [footprint(i) for i in home.items_in(region.id) if stands_on_floor(home, i)]
        )
        for region in home.regions
    }
    linked = {frozenset((link.a, link.b)) for link in home.links}
    for edge in home.edges:
        a, b = at[edge.a], at[edge.b]
        assert a.region is not None
        assert b.region is not None
        line = LineString([(v.position[0], v.position[2]) for v in (a, b)])
        if a.region == b.region:
            assert not line.intersects(standing[a.region]), (edge.a, edge.b)
        else:
            assert frozenset((a.region, b.region)) in linked


def test_every_viewpoint_can_be_reached(home: Scene) -> None:
    graph = home.navigation_graph()
    parts = sorted(nx.connected_components(graph), key=len)
    assert len(parts) == 1, parts[:-1]
    assert nx.is_connected(home.region_graph())


def test_there_are_long_tasks(home: Scene) -> None:
    hops = hop_table(home).hops
    farthest = int(hops.max())
    assert farthest >= {"flat": 4, "house": 4, "villa": 6}[home.id]
    # Start to target and target to end, each at least tau = 2 hops, start and end apart.
    n = len(home.regions)
    triples = sum(
        1
        for s in range(n)
        for t in range(n)
        for e in range(n)
        if s != e and hops[s, t] >= 2 and hops[t, e] >= 2
    )
    assert triples >= {"flat": 20, "house": 200, "villa": 1000}[home.id]
    degrees = dict(home.region_graph().degree())
    assert max(degrees.values()) <= n / 2, "a star of rooms around one makes short tasks"


def test_rooms_are_furnished(home: Scene) -> None:
    for region in home.regions:
        offered = home.items_in(region.id, "asset") + home.items_in(region.id, "object")
        assert 5 <= len(offered) <= 24, (region.id, len(offered))
        assert home.items_in(region.id, "asset"), region.id
        assert home.items_in(region.id, "object"), region.id


def test_the_lexicon_does_not_contradict_the_catalogue() -> None:
    catalogue = yaml.safe_load(
        Path(home_builder.__file__).with_name("catalogue.yaml").read_text(encoding="utf-8")
    )
    # A picture on a wall could be carried; in these homes it is part of the wall.
    exceptions = {"picture", "floor lamp"}
    for kind, names in catalogue.items():
        for name in set(names) - exceptions:
            assert classify(name) in (kind, None), (name, kind, classify(name))


def test_an_opening_in_no_shared_wall_is_refused() -> None:
    rooms = tuple(
        Region(
            id=f"Room_{i}",
            center=(2.0 * i, 0, 1),
            polygon=((2.0 * i, 0), (2.0 * i + 2, 0), (2.0 * i + 2, 2), (2.0 * i, 2)),
        )
        for i in range(2)
    )
    fits = lay_out(rooms, (), [Opening("Room_0", "Room_1", (2.0, 1.0), 0.9)], (), ceiling=2.5)
    assert len(fits.edges) >= 1
    with pytest.raises(SceneError, match="in the wall they share"):
        lay_out(rooms, (), [Opening("Room_0", "Room_1", (1.0, 1.0), 0.9)], (), ceiling=2.5)
