"""What of a place can be named: what is there once, in the words there are, and by its passages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from navloom.scenes.scene_uri import get_scene, list_scenes
from navloom.tools.capnav.landmarks import ENTRANCE, list_landmarks, matching_names, named_passages
from navloom.tools.capnav.named_places import NamedPlaces, traversability_of
from navloom.tools.capnav.question_grounding import check_detail
from tests.evals import tiny
from tests.tools.capnav.test_question_grounding import bench, demo  # noqa: F401


@pytest.mark.slow
def test_furniture_that_stands_alone_comes_before_passages() -> None:
    villa = demo()
    found = list_landmarks(villa, "Kitchen_5")
    assert "stove" in found
    assert "kettle" not in found  # it is carried about
    assert f"{ENTRANCE}Dining_room_4" in found
    ways = [each.startswith(ENTRANCE) for each in found]
    assert ways == sorted(ways)


def test_of_several_alike_none_is_a_landmark_and_none_is_accepted_alone() -> None:
    villa = demo()
    chairs = [i.region for i in villa.scene.items if i.name == "dining chair"]
    room = next(region for region in chairs if region and chairs.count(region) > 1)
    assert "dining chair" not in list_landmarks(villa, room)
    detail, faults = check_detail("dining chair", room, villa, key="start_detail")
    assert (detail.status, detail.fits) == ("refused", chairs.count(room))
    assert [fault.code for fault in faults] == ["detail_alike"]
    assert "say which, or one of" in faults[0].message
    said = "dining chair next to the dining table"
    assert not check_detail(said, room, villa, key="start_detail")[1]


def test_a_short_name_means_every_thing_that_ends_with_it() -> None:
    villa = demo()
    detail, _ = check_detail("table", "Dining_room_4", villa, key="end_detail")
    names = [item.name for item in villa.scene.items_in("Dining_room_4")]
    assert detail.fits == sum(name.endswith("table") for name in names)


def test_a_benchmarks_place_is_told_by_its_words_and_its_ways(bench: str) -> None:  # noqa: F811
    places = NamedPlaces(get_scene(bench), traversability_of(bench))
    assert list_landmarks(places, "node_1") == (
        "tiled stove",
        "entrance from the Hallway with green carpet",
    )
    assert list_landmarks(places, "node_2") == (
        "green carpet",
        "entrance from the Kitchen",
        "entrance from the Bedroom",
    )
    assert list_landmarks(places, "node_4") == ()
    for place in places.ids:
        for each in list_landmarks(places, place):
            detail, faults = check_detail(each, place, places, key="start_detail")
            assert (detail.status, detail.fits, faults) == ("verified", 1, [])


def test_a_passage_leads_where_the_scene_says(bench: str) -> None:  # noqa: F811
    places = NamedPlaces(get_scene(bench), traversability_of(bench))
    assert named_passages("the doorway to the Bedroom", "node_2", places) == ["node_3"]
    assert named_passages("entrance from the Shed", "node_2", places) == []
    assert named_passages("by the entrance", "node_2", places) is None
    detail, faults = check_detail("entrance from the Shed", "node_2", places, key="end_detail")
    assert (detail.status, [fault.code for fault in faults]) == ("refused", ["detail_not_there"])
    assert "joined to" in faults[0].message
    # That a door stands there nobody said.
    assert check_detail("door to the Bedroom", "node_2", places, key="end_detail")[0].status == (
        "unverifiable"
    )


@pytest.mark.slow
@pytest.mark.realdata
def test_nearly_every_place_of_the_benchmark_and_of_hm3d_has_landmarks(data_dir: Path) -> None:
    """Those without are joined to nothing that has a name, and hold nothing that stands alone."""
    for spec, count in ((f"capnav:{data_dir}/capnav", 418), (f"hm3d:{data_dir}/hm3d", 495)):
        every = [NamedPlaces(get_scene(uri), traversability_of(uri)) for uri in list_scenes(spec)]
        bare = [p for places in every for p in places.ids if not list_landmarks(places, p)]
        assert sum(len(places.ids) for places in every) == count
        assert len(bare) <= 1
        for places in every[:5]:
            for place in places.ids:
                for each in list_landmarks(places, place):
                    detail, faults = check_detail(each, place, places, key="start_detail")
                    assert (detail.status, detail.fits, faults) == ("verified", 1, []), each


def small(**changes: Any) -> NamedPlaces:
    """The home of eight rooms, with another kitchen."""
    home = tiny.home()
    kitchen = home.region_by_id["Kitchen_3"].model_copy(update=changes)
    regions = tuple(kitchen if each.id == "Kitchen_3" else each for each in home.regions)
    scene = home.replace(regions=regions)
    return NamedPlaces(scene, traversability_of(scene))


DOORS = tuple(f"{ENTRANCE}{name}" for name in ("Hallway_2", "Dining_room_4", "Living_room_7"))


@pytest.mark.parametrize(
    ("description", "named"),
    [
        ("With a tiled oven.", ("tiled oven",)),
        ("The tea set, and an old brown icebox in the corner", ("tea set", "old brown icebox")),
        # A colour, a part of the building, a word of two letters and a room are no things.
        ("brown, the brown door, an ox; a bedroom", ()),
        ("no oven, without oven", ()),
        ("one two three four five oven", ("one two three four five oven",)),
        ("one two three four five six oven", ()),
    ],
)
def test_things_are_read_from_what_is_said_of_a_place(
    description: str, named: tuple[str, ...]
) -> None:
    assert list_landmarks(small(description=description), "Kitchen_3") == (*named, *DOORS)


def test_furniture_that_is_rare_in_the_home_comes_first() -> None:
    home = tiny.home()
    bed = home.item_by_id["bed-1"]
    more = [("a", "desk", "Kitchen_3"), ("b", "vase", "Kitchen_3"), ("c", "vase", "Kitchen_3"),
            ("d", "oven", "Kitchen_3")]  # fmt: skip
    items = [bed.model_copy(update={"id": i, "name": n, "region": r}) for i, n, r in more]
    kept = [item for item in home.items if item.region != "Kitchen_3"]
    scene = home.replace(items=(*kept, *items))
    # The desk is in the office, too; of two vases none is meant alone.
    assert list_landmarks(NamedPlaces(scene, traversability_of(scene)), "Kitchen_3") == (
        "oven",
        "desk",
        *DOORS,
    )


def test_a_thing_that_only_some_bodies_have_a_use_for_is_no_landmark() -> None:
    found = list_landmarks(small(description="a wheelchair ramp; an oven"), "Kitchen_3")
    assert found == ("oven", *DOORS)


@pytest.mark.parametrize(
    ("said", "names", "meant"),
    [
        ("table", ["dining table", "table", "tablecloth", "notable"], ["dining table", "table"]),
        ("dining table", ["dining table", "table"], ["dining table"]),
    ],
)
def test_a_name_means_what_ends_with_its_words(
    said: str, names: list[str], meant: list[str]
) -> None:
    assert matching_names(said, names) == meant
