"""Changed copies of scenes stay true."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from shapely import LineString, Point, Polygon

from navloom.cli.main import main
from navloom.errors import SceneError
from navloom.scenes.formats.hm3d import HM3DHome, SourceObject, SourceRoom
from navloom.scenes.scene import Box, Edge, Floor, Item, Link, Region, Relation, Scene, Viewpoint
from navloom.scenes.scene_uri import load_scene
from navloom_worlds.mend.scene_edits import _places, _way, door_labels, edit_scene, rebuild_graph
from worlds.tests.homes.test_assembly import made


def item(
    number: str, name: str, x: float, z: float, size: tuple[float, float, float], **more
) -> Item:
    more = {"position": (x, size[1] / 2, z), "kind": "asset", "region": "Living_room_1"} | more
    return Item(id=number, name=name, size=size, **more)


@pytest.fixture
def home() -> Scene:
    table = item("1.1", "table", 2.5, 2.5, (1.2, 0.75, 0.8))
    lamp = item(
        "1.2", "lamp", 2.8, 2.5, (0.2, 0.4, 0.2), on="1.1", position=(2.8, 0.95, 2.5), kind="object"
    )
    box = item("1.3", "box", 0.4, 0.4, (0.5, 0.3, 0.5), kind="object")
    shelf = item("1.4", "shelf", 7.5, 5.7, (0.8, 1.8, 0.4))
    relations = (
        Relation(a="1.2", kind="next_to", b="1.3"),
        Relation(a="1.2", kind="above", b="1.1"),
        Relation(a="1.3", kind="facing", b="1.4"),
    )
    return made(table, lamp, box, shelf, relations=relations)


def box_of(thing: Item) -> Box:
    assert thing.size is not None
    return Box(center=thing.position, size=thing.size, yaw=thing.yaw)


def footprint(thing: Item) -> Polygon:
    return Polygon(box_of(thing).corners())


def is_true(scene: Scene, moved: str) -> None:
    """The thing overlaps none, nobody walks through it, and one may walk everywhere."""
    thing = scene.item_by_id[moved]
    box, foot = box_of(thing), footprint(thing)
    for other in scene.items:
        if other is not thing and other.on != moved and other.size is not None:
            apart = box_of(other).bottom >= box.top - 0.01 or box_of(other).top <= box.bottom + 0.06
            assert apart or not foot.buffer(-0.01).intersects(footprint(other)), other.name
    at = {v.id: v for v in scene.viewpoints}
    for edge in scene.edges:
        ends = at[edge.a], at[edge.b]
        line = LineString([(v.position[0], v.position[2]) for v in ends])
        assert {v.region for v in ends} != {thing.region} or not line.intersects(foot), edge
    assert nx.is_connected(scene.navigation_graph())
    assert {v.region for v in scene.viewpoints} == set(scene.region_by_id)


def test_a_door_is_closed_by_its_regions_or_its_number_and_opened_again(home: Scene) -> None:
    assert door_labels(home) == ["1: Living_room_1<->Kitchen_2, open"]
    closed = edit_scene(home, "night", close=["Kitchen_2<->Living_room_1"])
    assert closed.uri == "scene:night"
    assert closed.links[0].door == "closed"
    assert closed.notes[-1] == "A changed copy of home:7: closed Living_room_1<->Kitchen_2."
    assert (closed.viewpoints, closed.edges) == (home.viewpoints, home.edges)
    assert edit_scene(home, "night", close=["1"]).links == closed.links
    assert edit_scene(closed, "day", open_=["1"]).links == home.links
    ajar = edit_scene(closed, "dusk", ajar=["1"])
    assert ajar.links[0].door == "ajar"
    assert ajar.notes[-1].endswith("left ajar Living_room_1<->Kitchen_2.")


def test_what_stands_on_a_moved_thing_goes_with_it(home: Scene) -> None:
    moved = edit_scene(home, "x", move=["table@Bedroom_3"])
    table, lamp = moved.item_by_id["1.1"], moved.item_by_id["1.2"]
    assert (table.region, lamp.region, lamp.on) == ("Bedroom_3", "Bedroom_3", "1.1")
    assert table.position[1] == pytest.approx(2.9 + 0.375)
    for axis in range(3):
        before = home.item_by_id["1.2"].position[axis] - home.item_by_id["1.1"].position[axis]
        assert lamp.position[axis] - table.position[axis] == pytest.approx(before)
    kept = {(r.a, r.kind, r.b) for r in moved.relations}
    assert kept == {("1.2", "above", "1.1"), ("1.3", "facing", "1.4")}
    is_true(moved, "1.1")
    assert moved.viewpoints != home.viewpoints


def test_a_thing_is_moved_onto_another_beside_what_stands_there(home: Scene) -> None:
    moved = edit_scene(home, "x", move=["1.3@table"])
    box = moved.item_by_id["1.3"]
    assert (box.on, box.region) == ("1.1", "Living_room_1")
    assert box.position[1] == pytest.approx(0.75 + 0.15)
    assert footprint(moved.item_by_id["1.1"]).buffer(0.003).covers(footprint(box))
    assert not footprint(box).intersects(footprint(moved.item_by_id["1.2"]))
    assert [r.kind for r in moved.relations] == ["above"]


def test_on_a_seat_a_thing_lies_lower_than_the_back(home: Scene) -> None:
    sofa = item("1.6", "sofa", 1.2, 3.6, (1.8, 0.8, 0.9), shape="sofa")
    moved = edit_scene(home.replace(items=(*home.items, sofa)), "x", move=["1.3@sofa"])
    assert box_of(moved.item_by_id["1.3"]).bottom == pytest.approx(0.4)


def test_what_is_removed_takes_what_stands_on_it_along(home: Scene) -> None:
    less = edit_scene(home, "x", remove=["table"])
    assert sorted(less.item_by_id) == ["1.3", "1.4"]
    assert [r.kind for r in less.relations] == ["facing"]
    is_true(less, "1.4")
    assert less.viewpoints != home.viewpoints


@pytest.mark.parametrize("uri", ["demo:flat", "demo:villa"])
def test_a_scene_without_jambs_keeps_its_ways_where_nothing_stands_in_them(uri: str) -> None:
    scene = load_scene(uri)
    chair = next(i for i in scene.items if i.name in ("armchair", "office chair"))
    place = next(r.id for r in scene.regions if r.label.lower() == "bedroom")
    moved = edit_scene(scene, "x", move=[f"{chair.id}@{place}"])
    assert moved.item_by_id[chair.id].region == place
    is_true(moved, chair.id)
    foot = footprint(moved.item_by_id[chair.id])
    gone = {v.id for v in scene.viewpoints} - {v.id for v in moved.viewpoints}
    there = scene.viewpoints_by_region[place]
    under = {v.id for v in there if foot.distance(Point(v.position[::2])) == 0}
    assert gone == under


def test_where_sizes_are_not_known_a_thing_is_where_its_place_is() -> None:
    from navloom.scenes.formats import hm3d

    rooms = tuple(
        SourceRoom(id=i, label=label, centroid=(x, 1.2, 0.0), dims=(4.0, 2.4, 4.0))
        for i, (label, x) in enumerate((("kitchen", 0.0), ("bedroom", 4.0)))
    )
    things = tuple(
        SourceObject(id=i, name=name, position=(x, 0.5, 0.0))
        for i, (name, x) in enumerate((("mug", 0.5), ("bed", 4.0)))
    )
    content = HM3DHome(scene="x", rooms=rooms, connections=((0, 1),), objects=things)
    scene = hm3d._scene(content, Path("x.json"))
    moved = edit_scene(scene, "y", move=["mug@bed"]).item_by_id["0"]
    assert (moved.region, moved.on, moved.position) == ("Bedroom_1", "1", (4.0, 0.5, 0.0))
    assert edit_scene(scene, "y", move=["mug@Bedroom_1"]).item_by_id["0"].on is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"close": ["Living_room_1<->Kichen_2"]},
            r"no region 'Kichen_2'\. Did you mean 'Kitchen_2'",
        ),
        (
            {"close": ["Kitchen_2<->Bedroom_3"]},
            "are not linked. There are 1: Living_room_1<->Kitch",
        ),
        ({"close": ["Living_room_1<->Bedroom_3"]}, "is no door: the way is of kind stairs"),
        ({"close": ["2"]}, "door 2: home:7 has 1 doors"),
        ({"open_": ["the door"]}, "'the door' is no door: write 'A<->B'"),
        ({"remove": ["tabel"]}, r"no thing 'tabel'\. Did you mean 'table'"),
        ({"move": ["table"]}, "is no move: write THING@REGION"),
        ({"widen": ["Living_room_1<->Kitchen_2@0"]}, "is no widening: write A<->B@METRES"),
        ({"move": ["table@Attic_9"]}, "no region or thing 'Attic_9'"),
        ({"move": ["table@lamp"]}, "table 1.1 cannot stand on itself, nor on what it carries"),
        ({"move": ["table@shelf"]}, "table 1.1: there is no place for it on shelf 1.4"),
        ({"move": ["shelf@box"]}, "shelf 1.4: there is no place for it on box 1.3"),
    ],
)
def test_a_change_that_cannot_be_is_told_in_one_line(
    home: Scene, change: dict[str, list[str]], words: str
) -> None:
    with pytest.raises(SceneError, match=words) as caught:
        edit_scene(home, "x", **change)
    assert "\n" not in str(caught.value)


def test_a_thing_that_would_block_the_only_way_is_not_put_there(home: Scene) -> None:
    wide = item("1.5", "wall of boxes", 2.5, 1.2, (4.9, 0.5, 0.2))
    full = home.replace(items=(*home.items, wide.model_copy(update={"yaw": 1.5708})))
    with pytest.raises(SceneError, match="no place for it on the floor of Kitchen_2"):
        edit_scene(full, "x", move=["1.5@Kitchen_2"])


def test_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "tidy.json"
    code = main(
        ["scenes", "edit", "demo:flat", "--remove", "guitar", "--move", "fridge@Study_6",
         "--out", str(out)]
    )  # fmt: skip
    assert code == 0, capsys.readouterr().err
    copy = load_scene(str(out))
    assert copy.uri == "scene:tidy"
    assert "removed guitar" in copy.notes[-1]
    assert next(i for i in copy.items if i.name == "fridge").region == "Study_6"
    assert main(["scenes", "edit", "demo:flat", "--remove", "piano", "--out", str(out)]) == 1
    assert "no thing 'piano'" in capsys.readouterr().err


def rooms(*links: Link, items: tuple[Item, ...] = (), y: float = 0.0) -> Scene:
    """Three rooms of 2 x 2 m beside one another, of which no walls are known."""
    names = ("Hall_1", "Bath_2", "Den_3")
    return Scene(
        id="rooms",
        source="test",
        floors=(Floor(id=1, height=y),),
        regions=tuple(
            Region(
                id=name,
                center=(10.0 * k, y, 4.0),
                box=Box(center=(10.0 * k, y + 1.25, 4.0), size=(2.0, 2.5, 2.0)),
            )
            for k, name in enumerate(names)
        ),
        links=links,
        items=items,
    )


def link(a: str, b: str, kind: Any = "door", **more: Any) -> Link:
    return Link(a=a, b=b, kind=kind, **more)


def test_of_several_doors_between_two_rooms_one_says_the_number() -> None:
    scene = rooms(
        link("Hall_1", "Den_3"),
        link("Hall_1", "Bath_2"),
        link("Bath_2", "Hall_1"),
        link("Bath_2", "Den_3", "opening"),
    )
    with pytest.raises(SceneError) as caught:
        edit_scene(scene, "x", close=["Hall_1<->Bath_2"])
    assert str(caught.value) == (
        "between Hall_1 and Bath_2 are 2 doors: give a number. There are 2: Hall_1<->Bath_2, state"
        " not known."
    )
    for words, closed in (("2", 1), ("00003", 2), ("1", 0), ("Den_3 <-> Hall_1", 0)):
        found = edit_scene(scene, "x", close=[words]).links
        assert [each.door for each in found] == [
            "closed" if k == closed else None for k in range(4)
        ]
    for words, said in (
        ("0", "has 3 doors"),
        ("4", "has 3 doors"),
        ("000001", "is no door: write"),
        ("Bath_2<->Den_3", "is no door: the way is of kind opening"),
        ("Hall_1", "is no door: write"),
    ):
        with pytest.raises(SceneError, match=said):
            edit_scene(scene, "x", close=[words])


def test_a_list_of_doors_is_cut_after_eight() -> None:
    for many, more in ((8, ""), (9, " and 1 more")):
        scene = rooms(*[link("Hall_1", "Bath_2")] * many)
        with pytest.raises(SceneError) as caught:
            edit_scene(scene, "x", close=["99"])
        assert str(caught.value).endswith(f"8: Hall_1<->Bath_2, state not known{more}.")


@pytest.mark.parametrize("metres", ["0", "-1", "20", "21", "nan", "x", ""])
def test_a_widening_is_between_nothing_and_twenty_metres(metres: str) -> None:
    with pytest.raises(SceneError, match="is no widening"):
        edit_scene(rooms(link("Hall_1", "Bath_2")), "x", widen=[f"Hall_1<->Bath_2@{metres}"])


def test_a_widening_needs_an_at_sign_and_less_than_twenty_metres() -> None:
    with pytest.raises(SceneError, match="is no widening"):
        edit_scene(rooms(link("Hall_1", "Bath_2")), "x", widen=["0.9"])
    with pytest.raises(SceneError) as caught:
        edit_scene(rooms(link("Hall_1", "Bath_2")), "x", widen=["Hall_1<->Bath_2@19.9"])
    assert "is no widening" not in str(caught.value)


def test_an_opening_is_a_way_and_a_sill_has_to_be_there() -> None:
    one = rooms(link("Hall_1", "Bath_2", "opening"))
    with pytest.raises(SceneError, match="Hall_1<->Bath_2 has no sill"):
        edit_scene(one, "x", level=["Bath_2<->Hall_1"])
    both = rooms(link("Hall_1", "Bath_2", "opening"), link("Hall_1", "Bath_2"))
    assert _way(both, "Hall_1<->Bath_2").kind == "door"
    assert _way(one, "Hall_1<->Bath_2").kind == "opening"
    assert _way(rooms(link("Hall_1", "Bath_2")), "1").kind == "door"
    two = rooms(*[link("Hall_1", "Bath_2", "opening")] * 2)
    with pytest.raises(SceneError, match="is no door: the way is of kind opening"):
        edit_scene(two, "x", level=["Hall_1<->Bath_2"])


def cube(name: str, x: float, z: float = 4.0, side: float = 0.6, **more: Any) -> Item:
    return item(name, name, x, z, (side, side, side), region="Hall_1", **more)


def places_of(thing: Item, *others: Item, support: Item | None = None, y: float = 0.0) -> Any:
    scene = rooms(items=(thing, *others), y=y)
    return list(_places(scene, thing, others, scene.regions[0], support))


@pytest.mark.parametrize("y", [0.0, 3.0])
def test_a_thing_stands_in_the_middle_of_an_empty_floor(y: float) -> None:
    found = places_of(cube("box", 0.0), y=y)
    assert found[0] == (0.0, y + 0.3, 4.0)
    assert len(found) == 20
    off = [round(abs(x) + abs(z - 4.0), 3) for x, _, z in found]
    assert off == sorted(off)
    # Every third place is tried: the second is one of the four or eight around the middle.
    assert 0.04 < off[1] < 0.11


def test_a_thing_stays_within_its_room_and_clear_of_others() -> None:
    # A cube of 1.9 m leaves 0.05 m on either side: nine places, of which every third is tried.
    found = places_of(cube("box", 0.0, side=1.9))
    assert len(found) == 3
    assert all(abs(x) <= 0.05 and abs(z - 4) <= 0.05 for x, _, z in found)
    assert places_of(cube("box", 0.0, side=2.1)) == []
    # A cube in the middle: half a side of each apart, and on the next place of the lattice.
    first, *_ = places_of(cube("box", 0.9), cube("stool", 0.0, side=0.64))
    assert max(abs(first[0]), abs(first[2] - 4)) == pytest.approx(0.65)


@pytest.mark.parametrize(
    ("other", "blocks"),
    [
        # Lower than 0.06 m it is a rug; what hangs above is in nobody's way.
        ({"size": (2.0, 0.02, 2.0), "position": (0.0, 0.01, 4.0)}, False),
        ({"size": (2.0, 0.5, 2.0), "position": (0.0, 0.25, 4.0)}, True),
        ({"size": (2.0, 0.2, 2.0), "position": (0.0, 0.71, 4.0)}, False),
        ({"size": (2.0, 0.2, 2.0), "position": (0.0, 0.69, 4.0)}, True),
        ({"size": (2.0, 0.5, 2.0), "position": (0.0, 0.25, 4.0), "region": "Bath_2"}, False),
        ({"size": None}, False),
    ],
)
def test_what_is_in_the_way_of_a_thing(other: dict[str, Any], blocks: bool) -> None:
    wide = cube("wide", 0.0).model_copy(update=other)
    assert (places_of(cube("box", 0.0), wide) == []) == blocks


@pytest.mark.parametrize(("height", "fits"), [(2.5, True), (2.51, False)])
def test_a_thing_stands_below_the_ceiling(height: float, fits: bool) -> None:
    tall = item("tall", "tall", 0.0, 4.0, (0.5, height, 0.5), region="Hall_1")
    assert bool(places_of(tall)) == fits


def test_a_thing_stands_on_another_beside_what_is_there() -> None:
    table = item("table", "table", 0.5, 4.5, (1.0, 0.75, 1.0), region="Hall_1")
    vase = item("vase", "vase", 0.5, 4.5, (0.22, 0.4, 0.22), region="Hall_1", on="table",
                position=(0.5, 0.95, 4.5))  # fmt: skip
    cup = item("cup", "cup", 0.0, 4.0, (0.1, 0.1, 0.1), region="Hall_1")
    first, *_ = places_of(cup, table, support=table)
    assert first == (0.5, 0.8, 4.5)
    first, *_ = places_of(cup, table, vase, support=table)
    assert first[1] == 0.8
    assert max(abs(first[0] - 0.5), abs(first[2] - 4.5)) == pytest.approx(0.2)
    # A lid on it shows where its surface is.
    low = vase.model_copy(update={"position": (0.5, 0.7, 4.5)})
    assert places_of(cup, table, low, support=table)[0][1] == 0.55


def test_without_sizes_a_thing_is_put_in_the_middle() -> None:
    thing = cube("box", 0.9).model_copy(update={"size": None})
    assert places_of(thing) == [(0.0, 0.0, 4.0)]
    bare = cube("stool", 0.3, 4.2, position=(0.3, 0.7, 4.2)).model_copy(update={"size": None})
    assert places_of(cube("box", 0.9), bare, support=bare) == [(0.3, 1.0, 4.2)]


@pytest.mark.parametrize(
    ("x", "left"),
    # A cube of 0.6 m on the edge from (-0.8, 4) to (0.8, 4), on its end, and beside it.
    [(1.2, ["v0", "v1"]), (1.0, ["v0"]), (0.0, None)],
)
def test_a_thing_that_cuts_the_only_way_is_refused(x: float, left: list[str] | None) -> None:
    stands = tuple(
        Viewpoint(id=f"v{k}", position=(at, 0.0, 4.0), region="Hall_1")
        for k, at in enumerate((-0.8, 0.8))
    )
    before = rooms().replace(viewpoints=stands, edges=(Edge(a="v0", b="v1"),))
    changed = before.replace(items=(cube("box", x),))
    if left is None:
        with pytest.raises(SceneError, match="walk through all of the home"):
            rebuild_graph(before, changed)
    else:
        found = rebuild_graph(before, changed)
        assert [v.id for v in found.viewpoints] == left
        assert len(found.edges) == len(left) - 1
    # Above the head, flat on the floor, or in another room it is in nobody's way.
    for update in (
        {"position": (x, 2.4, 4.0)},
        {"size": (0.6, 0.04, 0.6), "position": (x, 0.02, 4.0)},
        {"region": "Bath_2"},
    ):
        other = before.replace(items=(cube("box", x).model_copy(update=update),))
        assert rebuild_graph(before, other).edges == before.edges


def test_a_viewpoint_that_is_covered_is_dropped_where_another_way_is_left() -> None:
    at = {"a": (-0.8, 3.2), "b": (0.8, 3.2), "c": (0.0, 4.8), "d": (0.0, 3.2)}
    stands = tuple(
        Viewpoint(id=name, position=(x, 0.0, z), region="Hall_1") for name, (x, z) in at.items()
    )
    edges = tuple(Edge(a=pair[0], b=pair[1]) for pair in ("ad", "db", "bc", "ca"))
    before = rooms().replace(viewpoints=stands, edges=edges)
    changed = rebuild_graph(before, before.replace(items=(cube("box", 0.0, 3.2, 0.4),)))
    assert [v.id for v in changed.viewpoints] == ["a", "b", "c"]
    assert [(e.a, e.b) for e in changed.edges] == [("b", "c"), ("c", "a")]


def first_in(scene: Scene, thing: Item) -> tuple[float, float]:
    """Where a thing is put first, from the middle of the hall: along x and along z."""
    x, _, z = next(_places(scene, thing, [], scene.regions[0], None))
    return round(abs(x), 3), round(abs(z - 4.0), 3)


@pytest.mark.parametrize("along", ["x", "z"])
def test_a_thing_is_put_clear_of_where_people_walk(along: str) -> None:
    ends = ((-0.8, 4.0), (0.8, 4.0)) if along == "x" else ((0.0, 3.2), (0.0, 4.8))
    stands = tuple(
        Viewpoint(id=f"v{k}", position=(x, 0.0, z), region="Hall_1")
        for k, (x, z) in enumerate(ends)
    )
    scene = rooms().replace(viewpoints=stands, edges=(Edge(a="v0", b="v1"),))
    # Half a thing and a body of 0.2 m: 0.5 m from the line.
    x, z = first_in(scene, cube("box", 0.0))
    off, on = (z, x) if along == "x" else (x, z)
    assert on == 0
    assert 0.5 <= off <= 0.55
    # On a table nobody walks.
    table = item("table", "table", 0.0, 4.0, (1.6, 0.75, 1.6), region="Hall_1")
    cup = cube("cup", 0.0, side=0.1)
    first = next(_places(scene, cup, [table], scene.regions[0], table))
    assert first == (0.0, 0.8, 4.0)


def test_a_thing_stands_90_cm_from_a_doorway_and_out_of_a_doors_swing() -> None:
    jambs = ((-1.0, 3.5), (-1.0, 4.5))
    x, z = first_in(rooms(link("Hall_1", "Bath_2", jambs=jambs)), cube("box", 0.0))
    assert z == 0
    assert 0.2 <= x <= 0.25
    assert first_in(rooms(link("Den_3", "Bath_2", jambs=jambs)), cube("box", 0.0)) == (0, 0)
    swing = ((-0.4, 3.6), (0.4, 3.6), (0.4, 4.4), (-0.4, 4.4))
    x, z = first_in(rooms(link("Hall_1", "Bath_2", swing=swing)), cube("box", 0.0))
    assert 0.7 <= max(x, z) <= 0.75


def test_the_lowest_thing_on_another_shows_its_surface() -> None:
    table = item("table", "table", 0.5, 4.5, (1.0, 0.75, 1.0), region="Hall_1")
    lids = [
        item(f"lid{k}", "lid", 0.2, 4.2, (0.1, 0.2, 0.1), region="Hall_1", on="table",
             position=(0.2, bottom + 0.1, 4.2))
        for k, bottom in enumerate((0.65, 0.55, 0.7))
    ]  # fmt: skip
    cup = cube("cup", 0.0, side=0.1)
    assert places_of(cup, table, *lids, support=table)[0][1] == pytest.approx(0.6)
