"""Pairs of tasks of known order: what is there, what spoils it, and the sentence they share."""

from __future__ import annotations

import pytest

from navloom.judges.preference_items import (
    ErrandRequest,
    make_preference_pairs,
    match_room_types,
    parse_request,
    plausible_errands,
)
from navloom.scenes.scene_uri import load_scene


@pytest.fixture(scope="module")
def errands() -> list[ErrandRequest]:
    return [
        each for name in ("flat", "house") for each in plausible_errands(load_scene(f"demo:{name}"))
    ]


def test_a_true_errand_takes_a_thing_to_where_it_is(errands: list[ErrandRequest]) -> None:
    assert len(errands) > 40
    scene = load_scene("demo:flat")
    by_id = {f"{scene.id}-{item.id}": item for item in scene.items}
    for each in errands:
        if each.scene == scene.uri:
            item = by_id[each.id]
            assert each.thing == item.name
            rooms = {i.name for i in scene.items_in(str(item.region), "asset")}
            assert each.asset in rooms
            assert each.source != each.room


def test_a_pair_differs_in_the_thing_alone_and_the_other_does_not_belong(
    errands: list[ErrandRequest],
) -> None:
    pairs = make_preference_pairs(errands, n=40, seed=2)
    assert len(pairs) == 40
    assert {pair.better for pair in pairs} == {"a", "b"}
    by_id = {each.id: each for each in errands}
    for pair in pairs:
        good, bad = (pair.a, pair.b) if pair.better == "a" else (pair.b, pair.a)
        assert good in errands
        assert bad.said == good.said.replace(f"the {good.thing} ", f"the {bad.thing} ", 1)
        other = by_id[pair.spoiled_by]
        assert other.thing == bad.thing
        assert not match_room_types(other.room) & match_room_types(good.room)
        assert not any(
            each.thing == bad.thing and match_room_types(each.room) & match_room_types(good.room)
            for each in errands
        )
        assert pair.columns["spoiled"] == {"thing": good.thing, "by": bad.thing, "of": other.id}
    assert make_preference_pairs(errands, n=40, seed=2) == pairs
    assert make_preference_pairs(errands, n=40, seed=3) != pairs


def test_homes_take_turns(errands: list[ErrandRequest]) -> None:
    scenes = [pair.a.scene for pair in make_preference_pairs(errands, n=10)]
    assert scenes.count("demo:flat") == scenes.count("demo:house") == 5


def test_a_sentence_is_read_back(errands: list[ErrandRequest]) -> None:
    for each in errands:
        found = parse_request(each.said)
        assert found == {
            "thing": each.thing,
            "source": each.source,
            "asset": each.asset,
            "room": each.room,
        }
    assert parse_request("Walk the dog.") == {}


@pytest.mark.parametrize(
    ("said", "kinds"),
    [
        ("bathroom", {"Bathroom"}),
        ("kitchen living room", {"Kitchen", "Living Room"}),
        ("other", set()),
        ("", set()),
    ],
)
def test_a_plain_name_of_a_room_fits_its_types(said: str, kinds: set[str]) -> None:
    assert match_room_types(said) == kinds
