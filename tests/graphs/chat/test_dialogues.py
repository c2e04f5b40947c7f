"""The written dialogues are true of their homes, and their scorer can say no."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from navloom.errors import SceneError
from tests.graphs.chat.dialogue_file import read_dialogues
from tests.graphs.chat.dialogues import follow, shares

WRITTEN = Path(__file__).with_name("dialogues.yaml")
GO: dict[str, Any] = {"say": "go to the kitchen", "in": "Kitchen_4"}
STAY: dict[str, Any] = {"say": "where are you?", "moved": False}


def written(path: Path, *turns: dict[str, Any], **fields: Any) -> Path:
    given = {"id": "a-1", "home": "demo:house", "kind": "a", "turns": list(turns), **fields}
    path.write_text(json.dumps([given]))
    return path


def test_every_kind_has_as_many_and_every_home_some() -> None:
    dialogues = read_dialogues(WRITTEN)
    assert len(set(Counter(each.kind for each in dialogues).values())) == 1
    assert {each.home for each in dialogues} == {"demo:flat", "demo:house", "demo:villa"}


async def test_the_rules_follow_every_dialogue() -> None:
    verdicts = [await follow(each) for each in read_dialogues(WRITTEN)]
    lost = [f"{v.dialogue.id}, turn {v.turn}: {v.why}" for v in verdicts if not v.followed]
    assert lost == []


async def test_a_model_that_takes_no_notice_follows_few() -> None:
    verdicts = [await follow(each, "builtin/random") for each in read_dialogues(WRITTEN)[::4]]
    followed, of = shares(verdicts)["total"]
    assert followed < of / 2


@pytest.mark.parametrize(
    ("turns", "fields", "line"),
    [
        ([{"say": "go", "in": "Garage_9"}], {}, "demo:house has no 'Garage_9'"),
        ([{"say": "go", "any_of": [{"near": "yacht"}]}], {}, "demo:house has no 'yacht'"),
        ([{"say": "go", "in_type": "attic"}], {}, "demo:house has no 'attic'"),
        ([GO], {"start": "9_9_9"}, "demo:house has no '9_9_9'"),
        ([{"say": "go"}], {}, "nothing is expected of 'go'"),
        ([{"say": "go", "stands": "Kitchen_4"}], {}, "stands"),
        ([{**GO, "cuts_in_after_hops": 1}], {}, "cuts in on a turn that expects nothing"),
        ([GO] * 7, {}, "turns"),
        ([GO], {"home": "demo:tent"}, "tent"),
    ],
)
def test_a_file_says_what_is_wrong_with_it(
    turns: list[Any], fields: dict[str, Any], line: str, tmp_path: Path
) -> None:
    with pytest.raises(SceneError, match=line):
        read_dialogues(written(tmp_path / "d.yaml", GO, STAY, *turns, **fields))


@pytest.mark.some(3)
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ({"in": "Kitchen_4"}, {"in": ["Study_6", "Bedroom_8"]}),
        ({"not_in": "Study_6"}, {"not_in": "Kitchen_4"}),
        ({"in_type": "kitchen"}, {"in_type": "study"}),
        ({"visits": ["Dining_room_3", "Kitchen_4"]}, {"visits": ["Kitchen_4", "Dining_room_3"]}),
        ({"avoids": "Study_6"}, {"avoids": "Dining_room_3"}),
        ({"moved": True}, {"moved": False}),
        ({"asks": False}, {"asks": True}),
        ({"says": [["scullery", "KITCHEN"]]}, {"says": ["kitchen", "garden"]}),
        ({"says_not": ["garden", "kit"]}, {"says_not": ["garden", "kitchen"]}),
        ({"rooms_at_most": 1}, {"rooms_at_most": 0}),
        ({"ends": False}, {"ends": True}),
        ({"undone": False}, {"undone": True}),
        (
            {"any_of": [{"in": "Study_6"}, {"in": "Kitchen_4"}]},
            {"any_of": [{"in": "Study_6"}, {"asks": True}]},
        ),
    ],
)
async def test_what_does_not_hold_is_not_followed(
    right: dict[str, Any], wrong: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "d.yaml"
    cases: list[tuple[dict[str, Any], int | None]] = [(right, None), (wrong, 2)]
    for expected, turn in cases:
        asked: dict[str, Any] = {"say": "go to the kitchen", **expected}
        (dialogue,) = read_dialogues(written(path, STAY, asked, STAY))
        verdict = await follow(dialogue)
        assert verdict.turn == turn, verdict.why
        assert verdict.followed is (turn is None)


@pytest.mark.slow
async def test_things_turns_numbers_and_the_end(tmp_path: Path) -> None:
    turns: list[dict[str, Any]] = [
        {"say": "turn left", "turned": "left", "moved": False},
        {"say": "go to the fridge", "near": "fridge"},
        {"say": "is there a stove near?", "metres": [0.5, 6]},
        {"say": "/quit", "ends": True},
    ]
    path = tmp_path / "d.yaml"
    (dialogue,) = read_dialogues(written(path, *turns))
    assert (await follow(dialogue)).followed
    wrong: list[dict[str, Any]] = [
        {"turned": "right"},
        {"near": "toaster"},
        {"metres": [20, 30]},
        {"ends": False},
    ]
    for at, expected in enumerate(wrong):
        changed = [{**turn, **expected} if k == at else turn for k, turn in enumerate(turns)]
        (dialogue,) = read_dialogues(written(path, *changed))
        assert (await follow(dialogue)).turn == at + 1


async def test_a_walk_is_stopped_by_a_key_or_by_words_and_taken_back(tmp_path: Path) -> None:
    path = tmp_path / "d.yaml"
    stopped = {**GO, "in": "Living_room_2", "interrupt_after_hops": 2}
    undo = {"say": "/undo", "undone": True, "in": "Entryway_1"}
    cut = {"say": "go to the study", "cuts_in_after_hops": 2, "in": "Study_6"}
    (dialogue,) = read_dialogues(written(path, stopped, undo, {"say": "go to the kitchen"}, cut))
    verdict = await follow(dialogue)
    assert verdict.followed, verdict.why
    late = {**stopped, "interrupt_after_hops": 60}
    (dialogue,) = read_dialogues(written(path, late, STAY, STAY))
    assert "before it could be stopped" in (await follow(dialogue)).why
    (dialogue,) = read_dialogues(written(path, {**GO, "say": "/quit", "in": []}, STAY, STAY))
    assert "ended before the last" in (await follow(dialogue)).why


@pytest.mark.slow
async def test_being_lost_and_reeling_off_every_room_is_no_answer(tmp_path: Path) -> None:
    path, lost = tmp_path / "d.yaml", {"say": "fnord blah is what", "moved": False}
    (dialogue,) = read_dialogues(written(path, STAY, STAY, lost))
    assert (await follow(dialogue)).why == "it is lost"
    rooms = {"say": "which rooms are there?", "moved": False}
    (dialogue,) = read_dialogues(written(path, STAY, {**lost, "lost": True}, rooms))
    assert (await follow(dialogue)).why == "it names 10 kinds of room"
    (dialogue,) = read_dialogues(written(path, STAY, STAY, {**rooms, "rooms_at_most": 10}))
    assert (await follow(dialogue)).followed


async def test_shares_are_by_kind_and_in_total(tmp_path: Path) -> None:
    verdicts = []
    for kind, moved in (("a", False), ("b", True)):
        last = {**STAY, "moved": moved}
        path = written(tmp_path / "d.yaml", STAY, STAY, last, kind=kind)
        verdicts += [await follow(each) for each in read_dialogues(path)]
    assert shares(verdicts) == {"a": (1, 1), "b": (0, 1), "total": (1, 2)}
