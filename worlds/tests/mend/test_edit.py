"""Changed copies of scenes stay true."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest
from shapely import LineString, Point, Polygon

from navloom.cli.main import main
from navloom.errors import SceneError
from navloom.scenes.formats.hm3d import Home, SourceObject, SourceRoom
from navloom.scenes.scene import Box, Item, Relation, Scene
from navloom.scenes.uri import load_scene
from navloom_worlds.mend.edit import doors, edit
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
    assert doors(home) == ["1: Living_room_1<->Kitchen_2, open"]
    closed = edit(home, "night", close=["Kitchen_2<->Living_room_1"])
    assert closed.uri == "scene:night"
    assert closed.links[0].door == "closed"
    assert closed.notes[-1] == "A changed copy of home:7: closed Living_room_1<->Kitchen_2."
    assert (closed.viewpoints, closed.edges) == (home.viewpoints, home.edges)
    assert edit(home, "night", close=["1"]).links == closed.links
    assert edit(closed, "day", open_=["1"]).links == home.links
    ajar = edit(closed, "dusk", ajar=["1"])
    assert ajar.links[0].door == "ajar"
    assert ajar.notes[-1].endswith("left ajar Living_room_1<->Kitchen_2.")


def test_what_stands_on_a_moved_thing_goes_with_it(home: Scene) -> None:
    moved = edit(home, "x", move=["table@Bedroom_3"])
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
    moved = edit(home, "x", move=["1.3@table"])
    box = moved.item_by_id["1.3"]
    assert (box.on, box.region) == ("1.1", "Living_room_1")
    assert box.position[1] == pytest.approx(0.75 + 0.15)
    assert footprint(moved.item_by_id["1.1"]).buffer(0.003).covers(footprint(box))
    assert not footprint(box).intersects(footprint(moved.item_by_id["1.2"]))
    assert [r.kind for r in moved.relations] == ["above"]


def test_on_a_seat_a_thing_lies_lower_than_the_back(home: Scene) -> None:
    sofa = item("1.6", "sofa", 1.2, 3.6, (1.8, 0.8, 0.9), shape="sofa")
    moved = edit(home.replace(items=(*home.items, sofa)), "x", move=["1.3@sofa"])
    assert box_of(moved.item_by_id["1.3"]).bottom == pytest.approx(0.4)


def test_what_is_removed_takes_what_stands_on_it_along(home: Scene) -> None:
    less = edit(home, "x", remove=["table"])
    assert sorted(less.item_by_id) == ["1.3", "1.4"]
    assert [r.kind for r in less.relations] == ["facing"]
    is_true(less, "1.4")
    assert less.viewpoints != home.viewpoints


@pytest.mark.parametrize("uri", ["demo:flat", "demo:villa"])
def test_a_scene_without_jambs_keeps_its_ways_where_nothing_stands_in_them(uri: str) -> None:
    scene = load_scene(uri)
    chair = next(i for i in scene.items if i.name in ("armchair", "office chair"))
    place = next(r.id for r in scene.regions if r.label.lower() == "bedroom")
    moved = edit(scene, "x", move=[f"{chair.id}@{place}"])
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
    content = Home(scene="x", rooms=rooms, connections=((0, 1),), objects=things)
    scene = hm3d._scene(content, Path("x.json"))
    moved = edit(scene, "y", move=["mug@bed"]).item_by_id["0"]
    assert (moved.region, moved.on, moved.position) == ("Bedroom_1", "1", (4.0, 0.5, 0.0))
    assert edit(scene, "y", move=["mug@Bedroom_1"]).item_by_id["0"].on is None


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
        edit(home, "x", **change)
    assert "\n" not in str(caught.value)


def test_a_thing_that_would_block_the_only_way_is_not_put_there(home: Scene) -> None:
    wide = item("1.5", "wall of boxes", 2.5, 1.2, (4.9, 0.5, 0.2))
    full = home.replace(items=(*home.items, wide.model_copy(update={"yaw": 1.5708})))
    with pytest.raises(SceneError, match="no place for it on the floor of Kitchen_2"):
        edit(full, "x", move=["1.5@Kitchen_2"])


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
