"""``hm3d:`` homes: what a file becomes, and how a broken one is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from navloom.errors import SceneError
from navloom.scenes.formats import hm3d
from navloom.scenes.lexicon import scene_prompt
from navloom.scenes.scene import Scene


def room(number: int, label: str | None, low: tuple[float, float, float],
         high: tuple[float, float, float]) -> dict[str, Any]:  # fmt: skip
    """A room by its lowest and highest corner."""
    return {
        "id": number,
        "label": label,
        "centroid": [(a + b) / 2 for a, b in zip(low, high, strict=True)],
        "dims": [b - a for a, b in zip(low, high, strict=True)],
    }


def thing(number: int, name: str, *position: float) -> dict[str, Any]:
    return {"id": number, "name": name, "position": list(position), "hm3dsem_region": 0}


def a_home() -> dict[str, Any]:
    """Two rooms and a landing on two storeys, and a shed that nothing leads to."""
    return {
        "scene": "00000-Invented",
        "rooms": [
            room(1, "kitchen/living room", (0, 0, 0), (4, 2.5, 4)),
            room(2, "hallway", (4.4, 0, 1), (8, 2.5, 3)),
            room(3, "bedroom", (4, 2.8, 0), (8, 5.3, 4)),
            room(5, None, (20, 0, 20), (22, 2, 22)),
        ],
        "connections": [[1, 2], [2, 1], [3, 2], [2, 3]],
        "objects": [
            thing(11, "coffee table", 1, 0.4, 1),
            thing(12, "cup", 1, 0.6, 1),
            thing(13, "door", 4.2, 1, 2),
            thing(14, "clutter", 5, 3, 1),
            thing(15, "towel", 60, 0, 60),
        ],
    }


@pytest.fixture
def load(tmp_path: Path) -> Callable[[dict[str, Any]], Scene]:
    def write_and_load(home: dict[str, Any]) -> Scene:
        (tmp_path / "00000-Invented.json").write_text(json.dumps(home), encoding="utf-8")
        return hm3d.load(tmp_path, "00000-Invented")

    return write_and_load


Load = Callable[[dict[str, Any]], Scene]


def test_rooms_become_regions_at_floor_height(load: Load) -> None:
    scene = load(a_home())
    assert scene.uri == "hm3d:00000-Invented"
    assert [region.id for region in scene.regions] == [
        "Kitchen_living_room_1", "Hallway_2", "Bedroom_3", "Unknown_5",
    ]  # fmt: skip
    assert scene.regions[0].label == "kitchen/living room"
    assert scene.regions[0].center == (2, 0, 2)
    assert scene.regions[2].center == (6, pytest.approx(2.8), 2)
    assert [region.floor for region in scene.regions] == [1, 1, 2, 1]
    assert [(floor.id, floor.height) for floor in scene.floors] == [(1, 0), (2, pytest.approx(2.8))]


def test_connections_become_links_once_with_a_point_between_the_boxes(load: Load) -> None:
    level, stairs = load(a_home()).links
    assert (level.a, level.b, level.kind) == ("Kitchen_living_room_1", "Hallway_2", "opening")
    assert level.point == pytest.approx((4.2, 0, 2))
    assert level.step is None
    assert sum("that is taken for no step" in note for note in load(a_home()).notes) == 1
    assert (stairs.a, stairs.b, stairs.kind) == ("Hallway_2", "Bedroom_3", "stairs")
    assert stairs.step == pytest.approx(2.8)
    # x and z: the middle of the overlap; y: half-way through the ceiling between both.
    assert stairs.point == pytest.approx((6.2, 2.65, 2))


def test_feet_cross_at_the_higher_floor_where_boxes_overlap_in_height(load: Load) -> None:
    home = a_home()
    home["rooms"][1] = room(2, "hallway", (4.4, 0, 1), (8, 5.5, 3))
    point = load(home).links[1].point
    assert point is not None
    assert point[1] == pytest.approx(2.8)


@pytest.mark.parametrize(("rise", "kind"), [(0.99, "opening"), (1.01, "stairs"), (-1.01, "stairs")])
def test_more_than_a_metre_is_stairs(load: Load, rise: float, kind: str) -> None:
    home = a_home()
    home["rooms"][1] = room(2, "hallway", (4.4, rise, 1), (8, rise + 2.5, 3))
    assert load(home).links[0].kind == kind


def test_half_landings_do_not_weld_two_storeys(load: Load) -> None:
    home = a_home()
    bottoms = [0.1, 0.0, 1.0, 2.1, 2.8, 2.9]
    home["connections"], home["objects"] = [], []
    home["rooms"] = [
        room(i, "hallway", (9.0 * i, low, 0), (9.0 * i + 3, low + 2, 3))
        for i, low in enumerate(bottoms, start=1)
    ]
    scene = load(home)
    assert [region.floor for region in scene.regions] == [1, 1, 1, 2, 2, 2]
    assert [floor.height for floor in scene.floors] == pytest.approx([0.1, 2.8])


def test_things_are_in_the_smallest_box_that_holds_them_else_the_nearest(load: Load) -> None:
    home = a_home()
    home["rooms"].append(room(6, "closet", (0.5, 0, 0.5), (1.5, 2, 1.5)))
    items = load(home).item_by_id
    assert {each: items[each].region for each in items} == {
        "11": "Closet_6",
        "12": "Closet_6",
        "13": "Kitchen_living_room_1",
        "14": "Bedroom_3",
        "15": "Unknown_5",
    }


def test_a_thing_on_the_skin_of_a_box_is_in_it_despite_rounding(load: Load) -> None:
    home = a_home()
    home["rooms"].append(room(6, "closet", (0.5, 0, 0.5), (1.5, 2, 1.5)))
    home["objects"] = [thing(1, "cup", 0.4999998, 1, 1), thing(2, "cup", 0.4, 1, 1)]
    assert [item.region for item in load(home).items] == ["Closet_6", "Kitchen_living_room_1"]


def test_kinds_come_from_the_lexicon_and_the_unknown_are_left_out_and_told(load: Load) -> None:
    scene = load(a_home())
    assert {item.name: item.kind for item in scene.items} == {
        "coffee table": "asset",
        "cup": "object",
        "door": "structure",
        "clutter": "structure",
        "towel": "object",
    }
    assert any("1 things" in note and "clutter (1)" in note for note in scene.notes)
    assert "clutter" not in json.dumps(scene_prompt(scene))


def test_notes_say_what_is_made_up_and_what_hangs_apart(load: Load) -> None:
    notes = load(a_home()).notes
    assert any("navigation graph is approximate" in note for note in notes)
    assert any("falls into 2 parts" in note for note in notes)
    home = a_home()
    home["connections"].append([1, 5])
    assert not any("parts" in note for note in load(home).notes)


def test_names_in_notes_are_plain_and_bounded(load: Load) -> None:
    home = a_home()
    home["objects"] = [thing(i, f"zz {i}\n<b>do this</b>", 1, 1, 1) for i in range(50)]
    note = load(home).notes[-1]
    assert "<" not in note
    assert "\n" not in note
    assert "and 30 more names" in note


def _set(home: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    *parents, last = path.split(".")
    spot: Any = home
    for part in parents:
        spot = spot[int(part)] if isinstance(spot, list) else spot[part]
    spot[int(last) if isinstance(spot, list) else last] = value
    return home


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("rooms.3.dims", [1, 2], r"rooms\[3\]\.dims\[2\]"),
        ("rooms.3.dims", [1, 2, 0], r"rooms\[3\]\.dims\[2\].*greater than 0.*found 0"),
        ("rooms.0.centroid.1", float("nan"), r"rooms\[0\]\.centroid\[1\]"),
        ("rooms.0.centroid.1", 1e9, r"rooms\[0\]\.centroid\[1\].*found 1000000000"),
        ("rooms.0.centroid.1", "2", r"rooms\[0\]\.centroid\[1\].*found '2'"),
        ("rooms.0.id", 2, r"rooms\[1\]\.id.*2 stands twice"),
        ("rooms.0.id", 1.5, r"rooms\[0\]\.id"),
        ("rooms.0.colour", "red", r"rooms\[0\]\.colour"),
        ("rooms.0.label", "", r"rooms\[0\]\.label"),
        ("rooms", [], "rooms"),
        ("rooms.0.dims", [900, 2, 900], "at most 10,000 square metres, found 810,"),
        ("connections.1", [1, 9], r"connections\[1\].*no room 9"),
        ("connections.1", [2, 2], r"connections\[1\].*found 2 twice"),
        ("connections.1", [1, 2, 3], r"connections\[1\]"),
        ("objects.4.id", 11, r"objects\[4\]\.id.*11 stands twice"),
        ("objects.2.name", "x" * 500, r"objects\[2\]\.name"),
        ("objects.2.position", None, r"objects\[2\]\.position"),
        ("scene", "other", "scene: expected '00000-Invented'"),
        ("more", 1, "more"),
    ],
)
def test_a_broken_file_is_refused_with_path_and_field(
    load: Load, tmp_path: Path, path: str, value: Any, message: str
) -> None:
    with pytest.raises(SceneError, match=message) as refused:
        load(_set(a_home(), path, value))
    assert str(refused.value).startswith(str(tmp_path / "00000-Invented.json"))
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 500


@pytest.mark.parametrize("missing", ["scene", "rooms", "connections", "objects"])
def test_a_missing_field_is_named(load: Load, missing: str) -> None:
    home = a_home()
    del home[missing]
    with pytest.raises(SceneError, match=f"{missing}: Field required"):
        load(home)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"\xff\xfe", b'{"scene": "a", "scene": "b"}', b"[" * 100_000]
)
def test_what_is_no_such_json_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(SceneError) as refused:
        hm3d.load(tmp_path, "a")
    assert str(tmp_path / "a.json") in str(refused.value)
    assert "\n" not in str(refused.value)


@given(st.text(max_size=12))
def test_no_id_leads_out_of_the_folder(scene_id: str) -> None:
    with pytest.raises(SceneError):
        hm3d.load(Path("/nonexistent/folder"), scene_id)


@pytest.mark.parametrize("scene_id", ["../secret", "a/b", "..", ".", "", "/etc/passwd", "a\0b"])
def test_a_path_is_no_id(tmp_path: Path, scene_id: str) -> None:
    (tmp_path / "secret.json").write_text(json.dumps(a_home()))
    (tmp_path / "in").mkdir()
    with pytest.raises(SceneError):
        hm3d.load(tmp_path / "in", scene_id)


def test_a_file_that_is_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hm3d, "_MOST_BYTES", 10)
    (tmp_path / "a.json").write_text(" " * 11)
    with pytest.raises(SceneError, match="10 bytes"):
        hm3d.load(tmp_path, "a")


def test_ids_are_the_json_files_of_a_folder(tmp_path: Path) -> None:
    for name in ("b.json", "a.json", ".hidden.json", "c.txt"):
        (tmp_path / name).write_text("{}")
    (tmp_path / "d.json").mkdir()
    assert hm3d.list_ids(tmp_path) == ["a", "b"]


@pytest.mark.realdata
def test_the_real_homes(data_dir: Path) -> None:
    folder = data_dir / "hm3d"
    ids = hm3d.list_ids(folder)
    scenes = [hm3d.load(folder, each) for each in ids]
    assert len(scenes) == 35
    # The counts of the files themselves: rooms, undirected connections, objects.
    assert sum(len(scene.regions) for scene in scenes) == 495
    assert sum(len(scene.links) for scene in scenes) == 467
    assert sum(len(scene.items) for scene in scenes) == 11_969
    apart = 0
    for scene in scenes:
        home, walk = scene.region_graph(), scene.navigation_graph()
        assert nx.number_connected_components(home) == nx.number_connected_components(walk)
        apart += not nx.is_connected(home)
        assert any("parts" in note for note in scene.notes) != nx.is_connected(home)
        region = {v.id: v.region for v in scene.viewpoints}
        for edge in scene.edges:
            a, b = region[edge.a], region[edge.b]
            assert a == b or home.has_edge(a, b)
    assert apart == 16  # as the data's own page says


@pytest.mark.slow
@pytest.mark.realdata
def test_nearly_every_real_thing_is_in_a_box(data_dir: Path) -> None:
    folder = data_dir / "hm3d"
    held = total = 0
    for each in hm3d.list_ids(folder):
        scene = hm3d.load(folder, each)
        for item in scene.items:
            box = scene.region_by_id[item.region or ""].box
            assert box is not None
            held += box.distance(item.position) <= 0.01
            total += 1
    assert held / total > 0.98  # 0.988; the data's own page says 98 %
