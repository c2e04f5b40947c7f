"""The room-typing baselines: they read the question's words and answer in its JSON."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from navloom.graphs.annotation.room_typing import heuristic_room, random_room
from navloom.models.builtin import PolicyRequest

KEY = "Unknown room type"


def request(objects: str, rooms: str = "1 in all: 1 x hallway", **changes: Any) -> PolicyRequest:
    seed, region = changes.pop("seed", 1), changes.pop("region", "Unknown_5")
    text = f"Random seed: {seed}\nRegion: {region}\nAdjacent rooms: {rooms}\nObjects: {objects}"
    messages = [SystemMessage("You name rooms."), HumanMessage(text), *changes.pop("after", [])]
    return PolicyRequest(messages=messages, schema=changes.pop("schema", None), seed=seed)


def named(answer: AIMessage) -> str:
    data = json.loads(str(answer.content))
    assert list(data) == [KEY]
    return str(data[KEY])


@pytest.mark.parametrize(
    ("objects", "rooms", "kind"),
    [
        ("31 in all, 4 kinds: 20 x picture, 5 x lamp, 1 x bed", "1 in all: 1 x hallway", "Bedroom"),
        ("4 in all, 3 kinds: 2 x toilet paper, 1 x sink", "1 in all: 1 x hallway", "Bathroom"),
        ("9 in all, 2 kinds: 5 x kitchen cabinet, 1 x oven", "2 in all: 2 x bedroom", "Kitchen"),
        ("2 in all, 1 kinds: 2 x desk", "1 in all: 1 x bedroom", "Study / Office"),
        ("1 in all, 1 kinds: 1 x washing machine", "1 in all: 1 x kitchen", "Laundry Room"),
        ("0 in all, 0 kinds", "5 in all: 3 x bedroom, 2 x bathroom", "Hallway / Corridor"),
        ("0 in all, 0 kinds", "1 in all: 1 x bedroom", "Bathroom"),
        ("0 in all, 0 kinds", "0 in all", "Bedroom"),
    ],
)
def test_the_heuristic_goes_by_telling_objects_then_by_neighbours(
    objects: str, rooms: str, kind: str
) -> None:
    assert named(heuristic_room(request(objects, rooms))) == kind


def test_the_longest_clue_in_a_name_counts_alone() -> None:
    assert named(heuristic_room(request("2 in all, 1 kinds: 2 x hair dryer"))) != "Laundry Room"
    assert named(heuristic_room(request("2 in all, 1 kinds: 2 x dryer"))) == "Laundry Room"


def test_both_keep_to_the_schemas_types() -> None:
    schema = {"title": "room_type", "properties": {KEY: {"enum": ["Garage", "Library"]}}}
    bed = "1 in all, 1 kinds: 1 x bed"
    assert named(heuristic_room(request(bed, schema=schema))) in {"Garage", "Library"}
    drawn = {named(random_room(request(bed, schema=schema, seed=s))) for s in range(20)}
    assert drawn == {"Garage", "Library"}


def test_the_random_draw_is_fixed_by_seed_and_region_and_even() -> None:
    again = request("", after=[AIMessage("x"), HumanMessage("Random seed: 9")])
    assert named(random_room(request(""))) == named(random_room(again))
    by_region = {named(random_room(request("", region=f"Unknown_{i}"))) for i in range(200)}
    assert len(by_region) == 20
    counts = Counter(named(random_room(request("", seed=s))) for s in range(2000))
    assert 50 < min(counts.values()) <= max(counts.values()) < 160
