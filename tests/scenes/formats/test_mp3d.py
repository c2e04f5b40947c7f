"""Matterport3D scans: small invented ones, and the 60 real ones where they are at hand."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from navloom.errors import SceneError
from navloom.scenes.formats import mp3d
from navloom.scenes.formats import scene_json as archive
from navloom.scenes.formats.mp3d import assign_rooms
from navloom.scenes.formats.mp3d_observations import (
    MERGE,
    ObjectSighting,
    merge_sightings,
    read_sightings,
)
from navloom.scenes.scene import Scene

EYE = 1.5


def panorama(name: str, x: float, y: float, z: float, *, included: bool = True) -> dict[str, Any]:
    """A record of a connectivity file; x, y, z is the floor under it, z up."""
    pose = [1, 0, 0, x, 0, 1, 0, y, 0, 0, 1, z + EYE, 0, 0, 0, 1]
    return {"image_id": name, "pose": pose, "included": included, "height": EYE}


def join(panoramas: list[dict[str, Any]], *edges: tuple[int, int]) -> list[dict[str, Any]]:
    """Add edges, one direction each."""
    for i, record in enumerate(panoramas):
        record["unobstructed"] = [(i, j) in edges for j in range(len(panoramas))]
        record["visible"] = record["unobstructed"]
    return panoramas


def write(folder: Path, name: str, content: Any) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


@pytest.fixture
def two_storeys(tmp_path: Path) -> Path:
    """a - b - (stairs) - c - d, and e alone; x is not included; a landing halfway up."""
    places = join(
        [
            panorama("a", 0, 0, 0),
            panorama("b", 2, 0, 0),
            panorama("c", 4, 1, 1.45),
            panorama("d", 6, 1, 2.9),
            panorama("x", 7, 1, 2.9, included=False),
            panorama("e", 9, 5, 2.9),
            panorama("f", 6, 3, 2.9),
        ],
        (0, 1),
        (2, 1),
        (2, 3),
        (3, 4),
        (4, 5),
        (3, 6),
    )
    write(tmp_path, "connectivity/S_connectivity.json", places)
    regions = {"S": {"5": ["a"], "7": ["b", "x"], "10": ["c"], "2": ["d"], "30": ["x"]}}
    # f has no room and an edge to d; e has neither room nor edge.
    regions["S"]["7"] = ["b"]
    write(tmp_path, "regions/house_region_to_panorama.json", regions)
    return tmp_path


def test_the_frame_is_turned_y_up(two_storeys: Path) -> None:
    scene = mp3d.load(two_storeys, "S")
    viewpoint = scene.viewpoint_by_id["d"]
    assert viewpoint.position == pytest.approx((6, 2.9 + EYE, -1))
    assert viewpoint.eye_height == EYE
    assert scene.uri == "mp3d:S"


def test_edges_join_included_viewpoints_in_either_direction(two_storeys: Path) -> None:
    scene = mp3d.load(two_storeys, "S")
    assert {frozenset((e.a, e.b)) for e in scene.edges} == {
        frozenset(pair) for pair in ("ab", "bc", "cd", "df")
    }
    assert "x" not in scene.viewpoint_by_id


def test_regions_without_types_are_unknown_and_sorted(two_storeys: Path) -> None:
    scene = mp3d.load(two_storeys, "S")
    assert [r.id for r in scene.regions] == ["Unknown_2", "Unknown_5", "Unknown_7", "Unknown_10"]
    assert all(r.label == "Unknown" and r.box is None for r in scene.regions)
    assert any("Unknown_30" in note for note in scene.notes)
    assert scene.region_by_id["Unknown_5"].center == pytest.approx((0, 0, 0))


def test_viewpoints_without_a_room_take_the_nearest_labelled_neighbours(two_storeys: Path) -> None:
    scene = mp3d.load(two_storeys, "S")
    rooms = {v.id: (v.region, v.inferred) for v in scene.viewpoints}
    assert rooms["a"] == ("Unknown_5", False)
    assert rooms["f"] == ("Unknown_2", True)
    assert rooms["e"] == ("Unknown_2", True), "nearest in space where no edge leads to a label"
    assert any("2 of 6 viewpoints" in note for note in scene.notes)
    assert any("2 parts" in note for note in scene.notes)


def test_a_neighbour_at_fewer_hops_wins_over_one_nearer_in_space() -> None:
    graph = nx.Graph([("v", "w"), ("w", "near"), ("v", "far"), ("v", "farther")])
    position = {
        "v": (0.0, 0.0, 0.0),
        "w": (0.1, 0.0, 0.0),
        "near": (0.2, 0.0, 0.0),
        "far": (5.0, 0.0, 0.0),
        "farther": (6.0, 0.0, 0.0),
    }
    given_rooms = {"near": "A_1", "far": "B_2", "farther": "C_3"}
    rooms = assign_rooms(graph, position, given_rooms)
    assert rooms["v"] == "B_2"
    assert rooms["w"] == "A_1"


def test_a_landing_does_not_chain_two_storeys(two_storeys: Path) -> None:
    scene = mp3d.load(two_storeys, "S")
    assert len(scene.floors) == 2
    assert [floor.id for floor in scene.floors] == [1, 2]
    assert scene.floors[0].height < scene.floors[1].height
    assert scene.region_by_id["Unknown_5"].floor == 1
    assert scene.region_by_id["Unknown_2"].floor == 2


def test_links_cross_at_the_middle_of_the_shortest_edge(two_storeys: Path) -> None:
    scene = mp3d.load(two_storeys, "S")
    links = {(link.a, link.b): link for link in scene.links}
    assert set(links) == {
        ("Unknown_2", "Unknown_10"),
        ("Unknown_5", "Unknown_7"),
        ("Unknown_7", "Unknown_10"),
    }
    assert links["Unknown_5", "Unknown_7"].kind == "opening"
    assert links["Unknown_5", "Unknown_7"].point == pytest.approx((1, 0, 0))
    assert links["Unknown_7", "Unknown_10"].kind == "stairs"
    assert links["Unknown_7", "Unknown_10"].point == pytest.approx((3, 1.45 / 2, -0.5))


def test_without_observations_there_are_no_items_and_a_note(two_storeys: Path) -> None:
    scene = mp3d.load(two_storeys, "S")
    assert scene.items == ()
    assert any("No objects" in note for note in scene.notes)


def test_objects_lie_along_their_heading_and_their_height_is_unknown(two_storeys: Path) -> None:
    empty: list[dict[str, Any]] = [{} for _ in range(8)]
    seen = [
        {"table_1": {"heading": 80, "distance": 1.0}},
        {"table_1": {"heading": 100, "distance": 1.0}, "table_2": {"heading": 0, "distance": 3.0}},
        *empty[2:],
    ]
    write(two_storeys, "observations/objects_list/S.json", {"a": seen, "gone": empty})
    scene = mp3d.load(two_storeys, "S")
    assert [item.name for item in scene.items] == ["table", "table"]
    east, ahead = scene.items
    assert east.position == pytest.approx((1, 0, 0)), "heading 90 is east, on the floor"
    assert ahead.position == pytest.approx((0, 0, -3)), "heading 0 is -z"
    assert not east.height_known
    assert east.size is None
    assert east.region == "Unknown_5"
    assert east.kind == "asset"
    assert any("height is unknown" in note for note in scene.notes)


def test_names_the_lexicon_does_not_know_are_structure_and_noted(two_storeys: Path) -> None:
    seen: list[dict[str, Any]] = [{} for _ in range(8)]
    seen[0] = {"qwzx": {"heading": 0, "distance": 1.0}}
    write(two_storeys, "observations/objects_list/S.json", {"a": seen})
    scene = mp3d.load(two_storeys, "S")
    assert [(i.name, i.kind) for i in scene.items] == [("qwzx", "structure")]
    assert any("qwzx" in note for note in scene.notes)


def test_headings_are_averaged_around_north(tmp_path: Path) -> None:
    sectors: list[dict[str, Any]] = [{} for _ in range(8)]
    sectors[7] = {"lamp": {"heading": 350, "distance": 2.0}}
    sectors[0] = {"lamp ": {"heading": 10, "distance": 2.0}}
    path = write(tmp_path, "o.json", {"v": sectors})
    (one,) = read_sightings(path, {"v": (1.0, 0.5, 0.0)})
    assert one.position == pytest.approx((1, 0.5, -2))


def seen(
    name: str, viewpoint: str, x: float, y: float = 0.0, metres: float = 1.0
) -> ObjectSighting:
    return ObjectSighting(name, viewpoint, metres, (x, y, 0.0))


def test_merging_by_name_and_nearness() -> None:
    found = merge_sightings(
        [
            seen("chair", "a", 0.0),
            seen("chair", "b", MERGE * 0.9, metres=2.0),
            seen("lamp", "b", 0.1),
            seen("chair", "c", 9.0),
        ]
    )
    assert [(o.name, o.viewpoint) for o in found] == [("chair", "a"), ("chair", "c"), ("lamp", "b")]
    assert 0 < found[0].position[0] < MERGE / 2, "the nearer sighting counts more"


def test_one_viewpoint_never_sees_one_object_twice() -> None:
    assert len(merge_sightings([seen("chair", "a", 0.0), seen("chair", "a", 0.1)])) == 2


def test_objects_above_one_another_are_two() -> None:
    assert len(merge_sightings([seen("bed", "a", 0.0), seen("bed", "b", 0.0, y=2.8)])) == 2


HOUSE = """ASCII 1.1
H - - 0 3 0 2 0 3 3 2 0 1 0 0 0 0 0 0 0 0 9 9 6 0 0 0 0 0
L 0 1 - 0 0 0 0 0 0 9 9 3 0 0 0 0 0
L 1 1 - 0 0 3.0 0 0 3 9 9 6 0 0 0 0 0
R 0 0 0 0 k 2 1 0.0 0 0 0 4 2 2.5 2.5 0 0 0 0
R 3 1 0 0 - 2 1 3.0 0 0 3.0 4 2 5.5 2.5 0 0 0 0
P a 0 0 0 1 1 1.5 0 0 0 0 0
P b 1 3 0 1 1 4.5 0 0 0 0 0
P c 2 -1 0 3 1 1.5 0 0 0 0 0
C 0 1 coffee#table 5 table 0 0 0 0 0
C 1 2 wall 1 wall 0 0 0 0 0
C 2 3 remove 0 void 0 0 0 0 0
O 0 0 0 1 1 0.25 0 1 0 -1 0 0 0.6 0.3 0.25 0 0 0 0 0 0 0 0
O 1 0 1 2 2 1.25 1 0 0 0 0 1 2.0 1.25 0.05 0 0 0 0 0 0 0 0
O 2 0 2 2 2 1 1 0 0 0 1 0 1 1 1 0 0 0 0 0 0 0 0
O 3 -1 0 2 2 1 1 0 0 0 1 0 1 1 1 0 0 0 0 0 0 0 0
O 4 3 0 1 1 3.5 0.7071068 0 0.7071068 0 1 0 0.5 0.1 0.5 0 0 0 0 0 0 0 0
"""


@pytest.fixture
def with_house(tmp_path: Path) -> Path:
    places = join(
        [panorama("a", 1, 1, 0), panorama("b", 1, 1, 3), panorama("c", 3, 1, 0)], (0, 1), (0, 2)
    )
    write(tmp_path, "connectivity/S_connectivity.json", places)
    write(tmp_path, "house/S.house", HOUSE)
    return tmp_path


def test_a_house_file_gives_types_boxes_and_storeys(with_house: Path) -> None:
    scene = mp3d.load(with_house, "S")
    assert [(r.id, r.label, r.floor) for r in scene.regions] == [
        ("Kitchen_0", "kitchen", 1),
        ("Unknown_3", "Unknown", 2),
    ]
    assert [f.height for f in scene.floors] == [0.0, 3.0]
    box = scene.regions[0].box
    assert box is not None
    assert box.center == pytest.approx((2, 1.25, -1))
    assert box.size == pytest.approx((4, 2.5, 2))
    assert scene.viewpoint_by_id["c"].region == "Kitchen_0"
    assert scene.viewpoint_by_id["c"].inferred
    assert [link.kind for link in scene.links] == ["stairs"]


def test_a_house_files_objects_are_turned_y_up(with_house: Path) -> None:
    scene = mp3d.load(with_house, "S")
    items = {item.id: item for item in scene.items}
    assert set(items) == {"o0", "o1", "o4"}, "no name and no room: left out"
    table = items["o0"]
    assert (table.name, table.kind, table.region) == ("coffee table", "asset", "Kitchen_0")
    assert table.position == pytest.approx((1, 0.25, -1))
    assert table.size == pytest.approx((1.2, 0.5, 0.6))
    # The long side lies along the file's y, which is our -z: a quarter turn anticlockwise.
    assert table.yaw == pytest.approx(-math.pi / 2)
    assert table.height_known
    assert items["o1"].kind == "structure"
    assert items["o1"].size == pytest.approx((4.0, 2.5, 0.1)), "up is the second axis"
    assert any("2 objects of no room or no name" in note for note in scene.notes)


def test_a_tilted_box_becomes_the_upright_box_around_it(with_house: Path) -> None:
    tilted = mp3d.load(with_house, "S").item_by_id["o4"]
    assert tilted.yaw == 0
    # Half extents 0.5, 0.5 along two axes at 45 degrees: 2 * (0.5 + 0.5) / sqrt 2 across.
    assert tilted.size == pytest.approx((math.sqrt(2), math.sqrt(2), 0.2), abs=1e-6)


def test_files_may_lie_in_the_folder_itself(with_house: Path) -> None:
    flat = with_house / "flat"
    flat.mkdir()
    for name in ("connectivity/S_connectivity.json", "house/S.house"):
        (flat / Path(name).name).write_text((with_house / name).read_text())
    assert mp3d.list_ids(flat) == ["S"]
    assert mp3d.load(flat, "S") == mp3d.load(with_house, "S")


CONNECTIVITY = "connectivity/S_connectivity.json"
REGIONS = "regions/house_region_to_panorama.json"


def edited(folder: Path, name: str, change: Any) -> None:
    path = folder / name
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        (CONNECTIVITY, lambda c: c[1]["pose"].pop(), r"\[1\]\.pose.*16 items"),
        (
            CONNECTIVITY,
            lambda c: c[1]["pose"].__setitem__(3, math.nan),
            r"\[1\]\.pose\[3\].*finite",
        ),
        (CONNECTIVITY, lambda c: c[1]["pose"].__setitem__(3, "1.0"), r"\[1\]\.pose\[3\].*number"),
        (CONNECTIVITY, lambda c: c[2].pop("included"), r"\[2\]\.included.*required"),
        (CONNECTIVITY, lambda c: c[2].__setitem__("included", 1), r"\[2\]\.included.*boolean"),
        (CONNECTIVITY, lambda c: c[0].__setitem__("height", -1), r"\[0\]\.height.*greater"),
        (
            CONNECTIVITY,
            lambda c: c[0]["unobstructed"].pop(),
            r"\[0\]\.unobstructed.*expected 7 values",
        ),
        (CONNECTIVITY, lambda c: c[1].__setitem__("image_id", "a"), "image_id.*stands twice"),
        (CONNECTIVITY, lambda c: [p.__setitem__("included", False) for p in c], "at least one"),
        (CONNECTIVITY, lambda c: c.clear(), "at least 1 item"),
        (REGIONS, lambda r: r["S"].__setitem__("../9", ["a"]), "S.*pattern"),
        (REGIONS, lambda r: r["S"]["7"].append("a"), r"S\.7.*'a' is in Unknown_5 too"),
        (REGIONS, lambda r: r.__setitem__("S", {"1": ["nobody"]}), "holds an included viewpoint"),
        (REGIONS, lambda r: r["S"].__setitem__("7", "b"), r"S\.7.*array"),
    ],
)
def test_broken_files_are_refused_in_one_line(
    two_storeys: Path, name: str, change: Any, words: str
) -> None:
    edited(two_storeys, name, change)
    with pytest.raises(SceneError, match=words) as caught:
        mp3d.load(two_storeys, "S")
    assert str(two_storeys) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("ASCII 1.1", "PLY", "line 1: expected 'ASCII"),
        ("R 0 0 0 0 k", "R 0 0 0 0 ?", r"line 5 \(R\), word 6: expected a room's letter.*'\?'"),
        ("R 0 0 0 0 k 2 1", "R 0 0 0 0 k nan 1", r"line 5 \(R\), word 7: expected a finite"),
        ("R 3 1", "R 0 1", r"line 6 \(R\), word 2: expected a room number that is new"),
        ("P a 0 0 0 1 1 1.5 0 0 0 0 0", "P a", r"line 7 \(P\), word 4: expected more words"),
        ("0 1 0 -1 0 0 0.6", "0 1 0 -1 0 0 -0.6", r"line 13 \(O\), word 14: expected half"),
        ("2 1 0.0 0 0 0 4 2 2.5", "2 1 0.0 0 0 9 4 2 2.5", "high corner above the low"),
        (
            "\nC 2 3 remove 0 void 0 0 0 0 0",
            "",
            "expected 3 lines that begin 'C', as line H says, and found 2",
        ),
    ],
)
def test_broken_house_files_are_refused_with_their_line(
    with_house: Path, old: str, new: str, words: str
) -> None:
    assert old in HOUSE
    path = write(with_house, "house/S.house", HOUSE.replace(old, new, 1))
    with pytest.raises(SceneError, match=words) as caught:
        mp3d.load(with_house, "S")
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("sectors", "words"),
    [
        ([{}] * 7, "at least 8 items"),
        ([{"a": {"heading": 0}}] + [{}] * 7, "distance.*required"),
        ([{"a": {"heading": 0, "distance": -1}}] + [{}] * 7, "distance.*greater"),
    ],
)
def test_broken_observations_are_refused(two_storeys: Path, sectors: Any, words: str) -> None:
    path = write(two_storeys, "observations/objects_list/S.json", {"a": sectors})
    with pytest.raises(SceneError, match=words) as caught:
        mp3d.load(two_storeys, "S")
    assert str(path) in str(caught.value)


def test_observations_of_another_scan_are_refused(two_storeys: Path) -> None:
    write(two_storeys, "observations/objects_list/S.json", {"other": [{}] * 8})
    with pytest.raises(SceneError, match="none of the 1 there is one"):
        mp3d.load(two_storeys, "S")


@pytest.mark.parametrize("scan", ["../S", "a/b", "..", "", "S\0", "/etc/passwd"])
def test_no_path_leaves_the_folder(two_storeys: Path, scan: str) -> None:
    with pytest.raises(SceneError, match="not an id"):
        mp3d.load(two_storeys, scan)


def test_what_is_missing_is_named(two_storeys: Path) -> None:
    with pytest.raises(SceneError, match=r"T_connectivity\.json"):
        mp3d.load(two_storeys, "T")


def _without_the_file(data: Path) -> None:
    (data / REGIONS).unlink()


def _without_the_scan(data: Path) -> None:
    edited(data, REGIONS, lambda regions: regions.pop("S"))


@pytest.mark.parametrize("lose", [_without_the_file, _without_the_scan])
def test_rooms_that_nobody_knows_are_missing_and_that_is_said(
    two_storeys: Path, tmp_path: Path, lose: Any
) -> None:
    known = mp3d.load(two_storeys, "S")
    lose(two_storeys)
    scene = mp3d.load(two_storeys, "S")
    assert (scene.regions, scene.links) == ((), ())
    assert {(v.region, v.inferred) for v in scene.viewpoints} == {(None, False)}
    assert scene.notes[0].startswith("Rooms are not known")
    # Viewpoints, edges and storeys are as they were: they hang on the connectivity alone.
    assert [v.position for v in scene.viewpoints] == [v.position for v in known.viewpoints]
    assert (scene.edges, len(scene.floors)) == (known.edges, len(known.floors))
    assert len({scene.floor_of(v) for v in scene.viewpoints}) == len(scene.floors)
    assert archive.load(tmp_path, archive.save(scene, tmp_path / "one.json").stem) == scene


@settings(
    max_examples=settings.default.max_examples // 2,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data(), n=st.integers(1, 9))
def test_any_graph_loads_with_a_room_for_every_viewpoint(
    tmp_path: Path, data: st.DataObject, n: int
) -> None:
    coordinate = st.floats(-50, 50, allow_nan=False)
    index = st.integers(0, n - 1)
    places = [
        panorama(f"v{i}", *data.draw(st.tuples(coordinate, coordinate, coordinate)))
        for i in range(n)
    ]
    edges = data.draw(st.lists(st.tuples(index, index), max_size=20))
    write(tmp_path, CONNECTIVITY, join(places, *edges))
    rooms = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    regions: dict[str, list[str]] = {"0": ["v0"]}
    for i, room in enumerate(rooms[1:], start=1):
        if room < 3:
            regions.setdefault(str(room), []).append(f"v{i}")
    write(tmp_path, REGIONS, {"S": regions})
    scene = mp3d.load(tmp_path, "S")
    assert len(scene.viewpoints) == n
    given_a_room = sum(len(members) for members in regions.values())
    assert sum(not v.inferred for v in scene.viewpoints) == given_a_room
    room_of = {v.id: v.region for v in scene.viewpoints}
    crossing = {
        frozenset((room_of[e.a], room_of[e.b])) for e in scene.edges if room_of[e.a] != room_of[e.b]
    }
    assert {frozenset((link.a, link.b)) for link in scene.links} == crossing
    assert mp3d.load(tmp_path, "S") == scene


# --- real scans ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def scans(data_dir: Path) -> dict[str, Scene]:
    folder = data_dir / "mp3d"
    return {scan: mp3d.load(folder, scan) for scan in mp3d.list_ids(folder)}


@pytest.mark.slow
@pytest.mark.realdata
def test_all_sixty_scans_load(scans: dict[str, Scene]) -> None:
    # Counted in the files themselves: 6,704 viewpoints are included, in 60 scans.
    assert len(scans) == 60
    assert sum(len(s.viewpoints) for s in scans.values()) == 6704
    assert all(v.region is not None for s in scans.values() for v in s.viewpoints)
    # The README of the data: 43 scans have included viewpoints without a region, 25 have objects.
    assert sum(any(v.inferred for v in s.viewpoints) for s in scans.values()) == 43
    assert sum(bool(s.items) for s in scans.values()) == 25
    disconnected = {n for n, s in scans.items() if not nx.is_connected(s.navigation_graph())}
    assert disconnected == {"B6ByNegPMKs", "PuKPg4mmafe", "q9vSo1VnCiC"}


@pytest.mark.slow
@pytest.mark.realdata
def test_storeys_of_known_scans(scans: dict[str, Scene]) -> None:
    # Floor heights read from the files: about -3.6, 0; -2.7, 0, 3.4 with landings between.
    assert len(scans["2n8kARJN3HM"].floors) == 2
    assert len(scans["TbHJrupSAjP"].floors) == 3
    assert len(scans["zsNo4HB9uLZ"].floors) == 1


@pytest.mark.slow
@pytest.mark.realdata
def test_headings_and_edges_are_those_of_the_observations(
    scans: dict[str, Scene], data_dir: Path
) -> None:
    """R2R's heading is ours after the turn to y up: measured, 3.2e-5 rad at most."""
    worst, pairs = 0.0, 0
    for path in sorted((data_dir / "mp3d/observations/navigable").glob("*.json")):
        scene = scans[path.stem]
        graph = scene.navigation_graph()
        for here, neighbours in json.loads(path.read_text()).items():
            assert set(graph[here]) == set(neighbours), (path.stem, here)
            x, _, z = scene.viewpoint_by_id[here].position
            for there, said in neighbours.items():
                x2, _, z2 = scene.viewpoint_by_id[there].position
                off = said["heading"] - math.atan2(x2 - x, z - z2)
                worst = max(worst, abs(math.remainder(off, 2 * math.pi)))
                metres = graph.edges[here, there]["metres_3d"]
                assert metres == pytest.approx(said["distance"], abs=1e-4)
                pairs += 1
    assert pairs == 10274
    assert worst < 1e-4


@pytest.mark.slow
@pytest.mark.realdata
def test_the_largest_scan_loads(data_dir: Path) -> None:
    scene = mp3d.load(data_dir / "mp3d", "B6ByNegPMKs")
    assert len(scene.viewpoints) == 348


@pytest.mark.slow
@pytest.mark.realdata
def test_the_golden_scan_and_a_house_file(scans: dict[str, Scene], data_dir: Path) -> None:
    golden = mp3d.load(data_dir / "mp3d/golden", "gZ6f7yhEvPG")
    assert [r.id for r in golden.regions] == ["Other_room_0"]
    assert (len(golden.viewpoints), len(golden.edges)) == (8, 14)
    assert golden == scans["gZ6f7yhEvPG"]
    house = scans["GdvgFV5R1Z5"]
    assert [r.id for r in house.regions] == [
        "Kitchen_0",
        "Entryway_1",
        "Bedroom_2",
        "Dining_room_3",
        "Living_room_4",
        "Bathroom_5",
    ]
    assert house.items_in("Kitchen_0", "asset")
    for region in house.regions:
        assert region.box is not None
        for viewpoint in house.viewpoints_by_region[region.id]:
            assert region.box.distance(viewpoint.position) < 1.0
