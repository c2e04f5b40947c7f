"""The calibration sets: every kind, both wordings, labels that the record bears out."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from navloom.evals.judging.calibration import truths
from navloom.judges.reason_items import KINDS, SETS, make_items
from navloom.judges.traversability import read_record


@pytest.fixture(scope="module")
def items():
    return make_items(truths("demo:"), n=240, seed=1)


def test_every_kind_comes_in_both_sets_of_wordings(items) -> None:
    counted = Counter((item.kind, item.wording) for item in items)
    assert set(counted) == {(kind, words) for kind in KINDS for words in SETS}
    assert 200 <= len(items) <= 260
    assert len({item.id for item in items}) == len(items)


def test_the_sets_share_situations_and_differ_in_words(items) -> None:
    by = {words: [i for i in items if i.wording == words and i.kind == "right"] for words in SETS}
    assert [i.record for i in by["a"]] == [i.record for i in by["b"]]
    assert not {i.explanation for i in by["a"]} & {i.explanation for i in by["b"]}


def test_labels_hold(items) -> None:
    for item in items:
        barriers = read_record(item.record).barriers
        assert barriers
        assert item.deserves == (item.partial > 0)
        if item.kind in ("right", "partly"):
            assert item.deserves
        elif item.kind != "injected":
            assert not item.deserves
        if item.kind == "partly":
            assert 0 < item.partial < 1


def test_an_injected_item_is_its_base_and_a_payload(items) -> None:
    by_id = {item.id: item for item in items}
    injected = [item for item in items if item.kind == "injected"]
    assert {item.deserves for item in injected} == {True, False}
    for item in injected:
        base = by_id[str(item.base)]
        assert item.deserves == base.deserves
        assert item.explanation.startswith(base.explanation)
        assert (item.explanation, item.record) != (base.explanation, base.record)


def test_the_same_seed_makes_the_same_items(items) -> None:
    assert make_items(truths("demo:"), n=240, seed=1) == items
    assert make_items(truths("demo:"), n=240, seed=2) != items


@pytest.mark.realdata
def test_the_benchmark_gives_four_hundred_items_from_all_scenes(data_dir: Path) -> None:
    made = make_items(truths(f"capnav:{data_dir / 'capnav'}"))
    assert len(made) >= 400
    assert len({item.scene for item in made}) == 30
