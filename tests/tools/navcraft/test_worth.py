"""Whether a task is worth giving: what belongs where, what holds what, how hard it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from navloom.scenes.scene_uri import load_scene
from navloom.tools.navcraft.relay_task import (
    SENSIBLE,
    _Belongs,
    can_hold,
    carry_grade,
    grade_plausibility,
    room_grade,
    room_purpose,
    solo_task_quality,
)
from navloom.tools.navcraft.task_paths import SoloTask
from tests.evals import tiny
from tests.tools.navcraft.worth_pairs import areas, halves


@pytest.mark.parametrize(
    ("thing", "asset", "room"),
    [
        ("book", "bookshelf", "library"),
        ("stack_of_towels", "bathroom cabinet", "bathroom"),
        ("towel", "cabinet", "bathroom"),
        ("cup", "table", "kitchen/living room"),
        ("milk", "refrigerator", "kitchen"),
        ("plush toy", "bed", "kids room"),
        ("flower_vase", "dining_table", "dining room"),
    ],
)
def test_what_a_person_asks_for(thing: str, asset: str, room: str) -> None:
    assert grade_plausibility(thing, asset, room).score >= SENSIBLE


@pytest.mark.parametrize(
    ("thing", "asset", "room"),
    [
        ("speaker", "toilet", "bathroom"),
        ("painting", "worktop", "kitchen"),
        ("book", "refrigerator", "kitchen"),
        ("toilet brush", "dining table", "dining room"),
        ("frying pan", "bed", "bedroom"),
        ("shampoo", "desk", "office"),
        ("towel", "mirror", "bathroom"),
    ],
)
def test_what_nobody_asks_for(thing: str, asset: str, room: str) -> None:
    assert grade_plausibility(thing, asset, room).score < SENSIBLE


def test_what_holds_a_thing() -> None:
    holds = ["coffee_table", "tables", "kitchen cabinet lower", "bed", "shelf with art"]
    assert all(can_hold(each) for each in holds)
    for each in (
        "toilet",
        "mirror",
        "sink",
        "lamp stand",
        "painting",
        "curtain",
        "refrigerator",
        "",
    ):
        assert not can_hold(each), each
    assert can_hold("wine_rack", "bottle of wine")
    assert not can_hold("wine_rack", "book")


def test_a_particular_piece_is_only_for_what_is_named_for_it() -> None:
    assert grade_plausibility("milk", "fridge", "kitchen").on == 1 - 3 * 0.03
    assert grade_plausibility("book", "fridge", "kitchen") == (0.0, 1.0, 0.1, 0.0)


def test_what_is_unknown_is_neither_praised_nor_blamed() -> None:
    assert grade_plausibility("gizmo", "table", "kitchen")[1:] == (0.5, 0.5, 0.5)
    assert room_grade("book", "other") == 0.5


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"home": ("Attic",)}, "'Attic' is not a room type"),
        ({"put_on": ("sky",)}, "'sky' is not a kind of holder"),
        ({"names": ("cup", "cup")}, "'cup' stands twice"),
    ],
)
def test_a_file_that_does_not_hold_together(change: dict[str, tuple[str, ...]], said: str) -> None:
    thing = {
        "names": ("cup",),
        "carry": "often",
        "home": ("Kitchen",),
        "also": ("any",),
        "put_on": ("table",),
        "or_on": (),
    }
    base = {"version": 1, "rooms": {}, "holders": {"table": {"names": ("table",)}}}
    _Belongs.model_validate({**base, "things": {"cups": thing}})
    with pytest.raises(ValueError, match=said):
        _Belongs.model_validate({**base, "things": {"cups": thing | change}})


def test_the_worth_of_an_errand_of_a_demo_home() -> None:
    scene = load_scene("demo:house")
    target = next(r for r in scene.regions if scene.items_in(r.id, "object"))
    thing = scene.items_in(target.id, "object")[0]
    far = [r for r in scene.regions if r.id != target.id and scene.items_in(r.id, "asset")]
    end = far[-1]
    asset = scene.items_in(end.id, "asset")[0]
    errand = SoloTask(far[0].id, target.id, thing.prompt_name, end.id, asset.prompt_name)
    worth = solo_task_quality(scene, errand)
    same = [i for i in scene.items if i.prompt_name == thing.prompt_name and i.kind == "object"]
    assert worth["objects"] == sum(each.region == target.id for each in same)
    assert worth["unambiguous"] is (worth["objects"] == worth["assets"] == 1)
    assert worth["plausible"] == grade_plausibility(thing.name, asset.name, end.label).score
    assert worth["storeys"] >= 1
    assert worth["doors"] is None or worth["doors"] >= 1


@pytest.mark.slow
@pytest.mark.realdata
def test_the_grades_are_true_of_homes_they_were_not_written_on(data_dir: Path) -> None:
    """Measured .83 and .78 on 15 homes (docs/dataset.md); a floor below, for other shuffles."""
    written, reported = halves(data_dir / "hm3d")
    assert (len(written), len(reported)) == (20, 15)
    found = areas(reported)
    assert found.room > 0.80
    assert found.surface > 0.74
    assert min(found.rooms, found.surfaces) > 900


def test_what_a_room_is_for() -> None:
    assert room_purpose("bathroom").startswith("washing: towels")
    assert "cooking" in room_purpose("kitchen/living room")
    assert "sitting together" in room_purpose("kitchen/living room")
    assert room_purpose("other") == ""


@pytest.mark.parametrize(
    ("room", "grade"),
    [
        # The file's order for a book, 3 hundredths a place down to the fifth.
        ("office", 1.0), ("library", 0.97), ("living room", 0.94), ("bedroom", 0.91),
        ("lounge", 0.5), ("kids room", 0.47), ("balcony", 0.38), ("dining room", 0.38),
        ("kitchen", 0.1), ("kitchen/bedroom", 0.91), ("bedroom/kitchen", 0.91), ("thing", 0.5),
    ],
)  # fmt: skip
def test_what_is_listed_first_belongs_better(room: str, grade: float) -> None:
    assert room_grade("book", room) == pytest.approx(grade)


def test_what_may_be_anywhere_gets_the_last_place_of_a_list() -> None:
    assert room_grade("box", "gym") == pytest.approx(0.38)


@pytest.mark.parametrize(
    ("thing", "grade"), [("cup", 1.0), ("toilet brush", 0.4), ("painting", 0.05), ("gizmo", 0.5)]
)
def test_how_readily_a_thing_is_asked_for(thing: str, grade: float) -> None:
    assert carry_grade(thing) == grade


def test_a_score_is_the_geometric_mean_of_three_grades() -> None:
    found = grade_plausibility("book", "couch", "bedroom")
    assert (found.carry, found.room, found.on) == (1.0, 0.91, 0.47)
    assert found.score == pytest.approx((1.0 * 0.91 * 0.47) ** (1 / 3))
    # In a library a cabinet holds books as a bookshelf does, and in a hall as a cabinet.
    assert grade_plausibility("book", "cabinet", "library").on == 1.0
    assert grade_plausibility("book", "cabinet", "hallway").on == 0.5
    assert grade_plausibility("gizmo", "cabinet", "hallway").on == 0.5


def test_worth_counts_doors_and_namesakes_by_hand() -> None:
    home = tiny.home()
    cup = home.item_by_id["cup-1"]
    shelf = home.item_by_id["shelf-1"]
    more = [
        cup.model_copy(update={"id": "cup-3", "region": "Bedroom_1"}),
        shelf.model_copy(update={"id": "shelf-2", "region": "Bathroom_6"}),
        shelf.model_copy(update={"id": "shelf-3", "region": "Bedroom_1"}),
    ]
    errand = SoloTask("Bedroom_1", "Office_5", "cup", "Living_room_7", "shelf")
    found = solo_task_quality(home.replace(items=(*home.items, *more)), errand)
    assert (found["objects"], found["assets"], found["namesakes"]) == (2, 1, 3)
    assert (found["unambiguous"], found["doors"], found["storeys"]) == (False, 7, 1)
    alone = home.replace(items=tuple(each for each in home.items if each.id != "cup-2"))
    found = solo_task_quality(alone, errand)
    assert (found["unambiguous"], found["objects"], found["namesakes"]) == (True, 1, 0)
    two = home.item_by_id["shelf-1"].model_copy(update={"id": "shelf-2"})
    twice = alone.replace(items=(*alone.items, two))
    assert not solo_task_quality(twice, errand)["unambiguous"]
    both = twice.replace(items=(*twice.items, home.item_by_id["cup-2"]))
    assert not solo_task_quality(both, errand)["unambiguous"]
    opened = tuple(
        link.model_copy(update={"kind": "opening"}) if k else link
        for k, link in enumerate(home.links)
    )
    assert solo_task_quality(alone.replace(links=opened), errand)["doors"] == 1
    bare = alone.replace(
        links=tuple(each.model_copy(update={"kind": "opening"}) for each in home.links)
    )
    assert solo_task_quality(bare, errand)["doors"] is None
