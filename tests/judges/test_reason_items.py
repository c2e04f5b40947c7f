"""The calibration sets: every kind, both wordings, labels that the record bears out."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
from pydantic import ValidationError

from navloom.evals.judging.calibration import load_truths
from navloom.judges.reason_items import KINDS, SETS, Wordings, load_wordings, make_items
from navloom.judges.traversability import read_record


@pytest.fixture(scope="module")
def items():
    return make_items(load_truths("demo:"), n=300, seed=1)


@pytest.mark.slow
def test_every_kind_comes_in_every_set_of_wordings(items) -> None:
    counted = Counter((item.kind, item.wording) for item in items)
    assert set(counted) == {(kind, words) for kind in KINDS for words in SETS}
    assert 250 <= len(items) <= 330
    assert len({item.id for item in items}) == len(items)


def test_the_sets_share_situations_and_differ_in_words(items) -> None:
    by = {words: [i for i in items if i.wording == words and i.kind == "right"] for words in SETS}
    for one, other in combinations(by.values(), 2):
        assert [i.record for i in one] == [i.record for i in other]
        assert not {i.explanation for i in one} & {i.explanation for i in other}


def test_an_item_says_which_sentences_it_is_made_of(items) -> None:
    for item in items:
        words = load_wordings(item.wording)
        every = {s for by in (words.placed, words.bare) for said in by.values() for s in said}
        assert item.sentences
        assert set(item.sentences) <= every | {*words.empty, *words.flattering}


def test_a_set_words_every_cause() -> None:
    given = load_wordings("a").model_dump()
    del given["placed"]["rise"]
    with pytest.raises(ValidationError, match="placed has no sentence for rise"):
        Wordings.model_validate(given)


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


@pytest.mark.slow
def test_the_same_seed_makes_the_same_items(items) -> None:
    assert make_items(load_truths("demo:"), n=300, seed=1) == items
    assert make_items(load_truths("demo:"), n=300, seed=2) != items


@pytest.mark.slow
@pytest.mark.realdata
def test_the_benchmark_gives_four_hundred_items_from_all_scenes(data_dir: Path) -> None:
    made = make_items(load_truths(f"capnav:{data_dir / 'capnav'}"))
    assert len(made) >= 400
    assert len({item.scene for item in made}) == 30
