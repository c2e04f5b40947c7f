"""The lexicon: what names mean, what it must not guess, and how much of real homes it knows."""

from __future__ import annotations

import json
from collections import Counter
from importlib.resources import files
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from navloom.errors import SceneError
from navloom.scenes.lexicon import (
    ROOM_TYPES,
    classify,
    count_unlisted,
    is_surface,
    load_lexicon,
    room_types,
)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("kitchen cabinet", "asset"),
        ("cabinet door", "structure"),
        ("towel", "object"),
        ("towel bar", "structure"),
        ("stack of towels", "object"),
        ("set of armchairs", "asset"),
        ("set of valves", "structure"),
        ("box of tissues", "object"),
        ("rack of weights", "asset"),
        ("chest of drawers", "asset"),
        ("wall of doors", "structure"),
        ("lamp", "object"),
        ("ceiling lamp", "structure"),
        ("ceiling pipes _2", "structure"),
        ("picture", "object"),
        ("rug", "object"),
        ("chair _12", "asset"),
        ("door knob", "structure"),
        ("light switch", "structure"),
        ("kitchen shelves", "asset"),
        ("knives", "object"),
        ("TV", "asset"),
        ("shelf /w clutter", "asset"),
        ("window /w pictures", "structure"),
        ("desk and chairs", "asset"),
        ("floor / other room ", "structure"),
        ("old oak dining table", "asset"),
        ("coffee#table", "asset"),
    ],
)
def test_what_a_name_means(name: str, kind: str) -> None:
    assert classify(name) == kind


@pytest.mark.parametrize(
    "name",
    ["clutter", "device", "deck of cards", "wooden box", "fishing rod", "traffic light", "", "of",
     "table / cup", "window frame and shelves", "бокал", "x" * 5000],
)  # fmt: skip
def test_it_says_nothing_rather_than_guess(name: str) -> None:
    assert classify(name) is None


@pytest.mark.parametrize(
    ("name", "box"), [("fuse box", "structure"), ("tissue box", "object"), ("shoe case", "asset")]
)
def test_a_vague_ending_counts_by_its_whole_name(name: str, box: str) -> None:
    assert classify(name) == box


def test_surfaces_are_assets_one_can_put_things_on() -> None:
    yes = ["table", "desk", "kitchen counter", "shelf", "cabinet", "dresser", "nightstand", "bed",
           "couch", "bench", "stool", "washing machine", "end table", "old desk"]  # fmt: skip
    no = ["toilet", "sink", "bathtub", "mirror", "wardrobe", "tv", "cup", "door", "clutter"]
    assert [name for name in yes if not is_surface(name)] == []
    assert [name for name in no if is_surface(name)] == []
    assert all(classify(name) == "asset" for name in yes)


def test_a_surface_and_a_plain_asset_make_an_asset() -> None:
    assert classify("table and sink") == "asset"
    assert not is_surface("table and sink")


def test_unlisted_counts_what_it_cannot_tell() -> None:
    assert count_unlisted(["cup", "clutter", "device", "clutter"]) == Counter(clutter=2, device=1)


@given(st.text(max_size=200))
def test_any_text_has_an_answer(name: str) -> None:
    assert classify(name) in ("asset", "object", "structure", None)
    assert not is_surface(name) or classify(name) == "asset"
    assert room_types(name) <= set(ROOM_TYPES)


@given(st.sampled_from(["cup", "table", "door", "sink"]), st.integers(1, 99))
def test_a_number_at_the_end_changes_nothing(name: str, number: int) -> None:
    assert classify(f"{name}_{number}") == classify(f"{name} _{number}") == classify(name)


def test_twenty_room_types_each_known_by_its_own_name() -> None:
    assert len(set(ROOM_TYPES)) == 20
    for room_type in ROOM_TYPES:
        assert room_types(room_type) == {room_type}
        for part in room_type.lower().split(" / "):
            assert room_types(part) == {room_type}


@pytest.mark.parametrize(
    ("label", "types"),
    [
        ("kitchen/living room", {"Kitchen", "Living Room"}),
        ("toilet/utility room", {"Bathroom", "Laundry Room"}),
        ("outdoor area", {"Balcony / Terrace"}),
        ("entryway/foyer/lobby", {"Entryway / Foyer"}),
        ("rec/game", {"Living Room", "Media Room / Home Theater"}),
        ("laundryroom/mudroom", {"Laundry Room", "Entryway / Foyer"}),
        ("workout/gym", {"Gym / Fitness Room"}),
        ("stairs", {"Hallway / Corridor"}),
        ("kitchen/nonsense", {"Kitchen"}),
        ("other", set()),
        ("other room", set()),
        ("Unknown", set()),
        ("", set()),
    ],
)
def test_room_types_of_a_label(label: str, types: set[str]) -> None:
    assert room_types(label) == types


def _broken(tmp_path: Path, change: dict[str, object], **more: object) -> Path:
    content = yaml.safe_load(files("navloom.scenes").joinpath("lexicon.yaml").read_text("utf-8"))
    path = tmp_path / "lexicon.yaml"
    path.write_text(yaml.safe_dump({**content, **change, **more}), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"colour": ["red"]}, "colour"),
        ({"object": ["cup", "cup"]}, "'cup' stands twice"),
        ({"object": ["table"]}, "'table' stands twice"),
        ({"object": ["Cup"]}, "'Cup' is not in plain lower case"),
        ({"object": "cup"}, "object: .*found 'cup'"),
        ({"whole_only": ["zebra"]}, "whole_only: 'zebra' is in no group"),
        ({"room_types": {"Kitchn": []}}, "'Kitchn' is not a room type.*Did you mean 'Kitchen'"),
        ({"version": 2}, "version"),
    ],
)
def test_a_wrong_lexicon_is_refused(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    path = _broken(tmp_path, change)
    with pytest.raises(SceneError, match=message) as refused:
        load_lexicon(path)
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("object: [a]\nobject: [b]\n", "line 2.*'object' stands twice"),
        ("a: &x [1]\nb: *x\n", "line 2.*alias"),
        ("a: !!python/object/apply:os.getcwd []\n", "line 1"),
        ("a: [", "line"),
        ("[" * 5000, "."),
    ],
)
def test_only_plain_yaml_is_read(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "lexicon.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SceneError, match=message) as refused:
        load_lexicon(path)
    assert "\n" not in str(refused.value)


def _share_known(names: Counter[str]) -> float:
    return 1 - count_unlisted(names.elements()).total() / names.total()


@pytest.mark.realdata
def test_it_knows_the_objects_of_real_homes(data_dir: Path) -> None:
    homes = [json.loads(path.read_text()) for path in sorted((data_dir / "hm3d").glob("*.json"))]
    names = Counter(thing["name"] for home in homes for thing in home["objects"])
    assert names.total() == 11_969
    assert _share_known(names) > 0.98  # 0.986; at least 0.95 was asked
    labels = {room["label"] for home in homes for room in home["rooms"]}
    assert {label for label in labels if not room_types(label)} == {"other"}


@pytest.mark.realdata
def test_it_knows_the_objects_of_mp3d_viewpoints(data_dir: Path) -> None:
    scans = sorted((data_dir / "mp3d" / "observations" / "objects_list").glob("*.json"))
    names = Counter(
        name
        for path in scans
        for sectors in json.loads(path.read_text()).values()
        for sector in sectors
        for name in sector
    )
    assert _share_known(names) > 0.98  # 0.984
