"""What of a place can be named: what is there once, in the words there are, and by its passages."""

from __future__ import annotations

from pathlib import Path

import pytest

from navloom.scenes.uri import list_scenes, scene_of
from navloom.tools.capnav.grounding import check_detail
from navloom.tools.capnav.landmarks import ENTRANCE, landmarks, passages
from navloom.tools.capnav.named_places import Places, truth_of
from tests.tools.capnav.test_grounding import bench, demo  # noqa: F401


@pytest.mark.slow
def test_furniture_that_stands_alone_comes_before_passages() -> None:
    villa = demo()
    found = landmarks(villa, "Kitchen_5")
    assert "stove" in found
    assert "kettle" not in found  # it is carried about
    assert f"{ENTRANCE}Dining_room_4" in found
    ways = [each.startswith(ENTRANCE) for each in found]
    assert ways == sorted(ways)


def test_of_several_alike_none_is_a_landmark_and_none_is_accepted_alone() -> None:
    villa = demo()
    chairs = [i.region for i in villa.scene.items if i.name == "dining chair"]
    room = next(region for region in chairs if region and chairs.count(region) > 1)
    assert "dining chair" not in landmarks(villa, room)
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
    places = Places(scene_of(bench), truth_of(bench))
    assert landmarks(places, "node_1") == (
        "tiled stove",
        "entrance from the Hallway with green carpet",
    )
    assert landmarks(places, "node_2") == (
        "green carpet",
        "entrance from the Kitchen",
        "entrance from the Bedroom",
    )
    assert landmarks(places, "node_4") == ()
    for place in places.ids:
        for each in landmarks(places, place):
            detail, faults = check_detail(each, place, places, key="start_detail")
            assert (detail.status, detail.fits, faults) == ("verified", 1, [])


def test_a_passage_leads_where_the_scene_says(bench: str) -> None:  # noqa: F811
    places = Places(scene_of(bench), truth_of(bench))
    assert passages("the doorway to the Bedroom", "node_2", places) == ["node_3"]
    assert passages("entrance from the Shed", "node_2", places) == []
    assert passages("by the entrance", "node_2", places) is None
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
        every = [Places(scene_of(uri), truth_of(uri)) for uri in list_scenes(spec)]
        bare = [p for places in every for p in places.ids if not landmarks(places, p)]
        assert sum(len(places.ids) for places in every) == count
        assert len(bare) <= 1
        for places in every[:5]:
            for place in places.ids:
                for each in landmarks(places, place):
                    detail, faults = check_detail(each, place, places, key="start_detail")
                    assert (detail.status, detail.fits, faults) == ("verified", 1, []), each
