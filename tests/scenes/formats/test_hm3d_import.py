"""Merging DomestiGraph's rooms and LH-VLN's objects into our own file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from navloom.errors import SceneError
from navloom.scenes.formats import hm3d
from navloom.scenes.formats.hm3d_import import import_folder, import_home

ROOMS = """\
rooms:
  room_1:
    label: kitchen
    centroid: {x: 1.5, y: 1.25, z: -2.0}
    dims: {x: 3.0, y: 2.5, z: 4.0}
  room_4:
    label: dining room/office
    centroid: {x: 4.5, y: 1.25, z: -2}
    dims: {x: 3.0, y: 2.5, z: 4.0}
connections:
- - 1
  - 4
- - 4
  - 1
"""
OBJECTS = """\
Region id:_-1, position:[0. 0. 0.]
Region id:_3, position:[0. 0. 0.]
Id:7, name:kitchen table, position:[1.0, 0.4, -2.5]
Id:8, name:box, with a lid, position:[1e-05, 0.9, -2.5]

Region id:_4, position:[0. 0. 0.]
Id:9, name:cup, position:[4.0, 0.9, -1.5]
"""


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path, Path]:
    rooms, objects = tmp_path / "rooms", tmp_path / "objects"
    rooms.mkdir()
    objects.mkdir()
    (rooms / "home-a.yaml").write_text(ROOMS, encoding="utf-8")
    (objects / "home-a.txt").write_text(OBJECTS, encoding="utf-8")
    return rooms, objects, tmp_path / "out"


Folders = tuple[Path, Path, Path]


def test_both_files_become_one(folders: Folders) -> None:
    rooms, objects, _ = folders
    home = import_home(rooms / "home-a.yaml", objects / "home-a.txt")
    assert home == {
        "scene": "home-a",
        "rooms": [
            {"id": 1, "label": "kitchen", "centroid": [1.5, 1.25, -2.0], "dims": [3.0, 2.5, 4.0]},
            {
                "id": 4,
                "label": "dining room/office",
                "centroid": [4.5, 1.25, -2.0],
                "dims": [3.0, 2.5, 4.0],
            },
        ],
        "connections": [[1, 4], [4, 1]],
        "objects": [
            {"id": 7, "name": "kitchen table", "position": [1.0, 0.4, -2.5], "hm3dsem_region": 3},
            {
                "id": 8,
                "name": "box, with a lid",
                "position": [1e-05, 0.9, -2.5],
                "hm3dsem_region": 3,
            },
            {"id": 9, "name": "cup", "position": [4.0, 0.9, -1.5], "hm3dsem_region": 4},
        ],
    }


def test_a_room_nobody_labelled_is_unknown(folders: Folders) -> None:
    rooms, objects, out = folders
    (rooms / "home-a.yaml").write_text(ROOMS.replace("label: kitchen", "label: null"))
    import_folder(rooms, objects, out)
    assert hm3d.load(out, "home-a").regions[0].id == "Unknown_1"


def test_a_folder_is_paired_and_what_does_not_pair_is_told(folders: Folders) -> None:
    rooms, objects, out = folders
    (rooms / "only-rooms.yaml").write_text(ROOMS)
    (objects / "only-objects.txt").write_text(OBJECTS)
    (rooms / "broken.yaml").write_text(ROOMS.replace("room_4", "hall"))
    (objects / "broken.txt").write_text(OBJECTS)
    report = import_folder(rooms, objects, out)
    assert report.written == (out / "home-a.json",)
    assert report.without_objects == ("only-rooms",)
    assert report.without_rooms == ("only-objects",)
    assert list(report.refused) == ["broken"]
    assert "hall" in report.refused["broken"]
    assert hm3d.list_ids(out) == ["home-a"]
    scene = hm3d.load(out, "home-a")
    assert [item.region for item in scene.items] == [
        "Kitchen_1", "Kitchen_1", "Dining_room_office_4",
    ]  # fmt: skip


def test_a_file_that_is_there_is_kept_unless_asked(folders: Folders) -> None:
    rooms, objects, out = folders
    out.mkdir()
    target = out / "home-a.json"
    target.write_text("mine")
    assert import_folder(rooms, objects, out).kept == (target,)
    assert target.read_text() == "mine"
    assert import_folder(rooms, objects, out, overwrite=True).written == (target,)
    assert json.loads(target.read_text())["scene"] == "home-a"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("x: 1.5", "x: wide", r"rooms\.room_1\.centroid\.x.*found 'wide'"),
        ("    dims: {x: 3.0, y: 2.5, z: 4.0}\n", "", r"rooms\.room_1\.dims: Field required"),
        ("y: 2.5", "y: -2.5", r"rooms\[0\]\.dims\[1\].*found -2.5"),
        ("room_4", "room_1", "line 6.*'room_1' stands twice"),
        ("room_4", "room_01", r"rooms\[1\]\.id.*stands twice"),
        ("  - 4\n", "  - 5\n", r"connections\[0\].*no room 5"),
        ("connections:", "links:", "connections: Field required"),
        ("x: 1.5", "x: .inf", r"rooms\[0\]\.centroid\[0\]"),
        ("label: kitchen", "label: [kitchen]", r"rooms\.room_1\.label"),
        ("label: kitchen", "label: !!python/name:os.system", "line 3"),
        ("rooms:", "rooms: {", "line"),
    ],
)
def test_broken_rooms_are_refused(folders: Folders, old: str, new: str, message: str) -> None:
    rooms, objects, _ = folders
    assert old in ROOMS
    (rooms / "home-a.yaml").write_text(ROOMS.replace(old, new, 1))
    with pytest.raises(SceneError, match=message) as refused:
        import_home(rooms / "home-a.yaml", objects / "home-a.txt")
    assert str(refused.value).startswith(str(rooms / "home-a.yaml"))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[4.0, 0.9, -1.5]", "[4.0, 0.9]", "line 7: position.*three numbers.*4.0, 0.9"),
        ("[4.0, 0.9, -1.5]", "[4.0, 0.9, low]", "line 7: position"),
        ("Id:9, name:cup", "cup", "line 7: expected 'Id:14, name:vent"),
        ("Id:9", "Id:8", r"objects\[2\]\.id.*8 stands twice"),
        ("[4.0, 0.9, -1.5]", "[4.0, 0.9, nan]", r"objects\[2\]\.position\[2\]"),
    ],
)
def test_broken_objects_are_refused(folders: Folders, old: str, new: str, message: str) -> None:
    rooms, objects, _ = folders
    (objects / "home-a.txt").write_text(OBJECTS.replace(old, new, 1))
    with pytest.raises(SceneError, match=message) as refused:
        import_home(rooms / "home-a.yaml", objects / "home-a.txt")
    assert "home-a.txt" in str(refused.value)
    assert "\n" not in str(refused.value)


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder = tmp_path_factory.mktemp("any")
    (folder / "a.yaml").write_text(ROOMS, encoding="utf-8")
    (folder / "b.yaml").write_text(text, encoding="utf-8", errors="surrogatepass")
    (folder / "a.txt").write_text(text, encoding="utf-8", errors="surrogatepass")
    for rooms in ("a.yaml", "b.yaml"):
        assert "\n" not in _refusal(folder / rooms, folder / "a.txt")


def _refusal(rooms: Path, objects: Path) -> str:
    try:
        import_home(rooms, objects)
    except SceneError as error:
        return str(error)
    return ""


def test_folders_that_hold_nothing_to_pair_are_refused(folders: Folders) -> None:
    rooms, objects, out = folders
    with pytest.raises(SceneError, match=r"\(0 .yaml files\).*files of the same name"):
        import_folder(objects, objects, out)
    with pytest.raises(SceneError, match="expected a folder"):
        import_folder(rooms / "nowhere", objects, out)
    assert not out.exists()


def test_an_output_that_cannot_be_written_is_told(folders: Folders) -> None:
    rooms, objects, out = folders
    out.write_text("a file, no folder")
    with pytest.raises(SceneError, match=str(out)):
        import_folder(rooms, objects, out)
