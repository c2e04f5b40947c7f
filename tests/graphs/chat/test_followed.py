"""The share of the open written dialogues that the rules follow, with a floor."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.graphs.chat.dialogue_file import read_dialogues
from tests.graphs.chat.dialogues import follow, shares

OPEN = Path(__file__).with_name("dialogues_open.yaml")
SECOND = Path(__file__).with_name("dialogues_second.yaml")
THIRD = Path(__file__).with_name("dialogues_third.yaml")
FOURTH = Path(__file__).with_name("dialogues_fourth.yaml")
FIFTH = Path(__file__).with_name("dialogues_fifth.yaml")
SIXTH = Path(__file__).with_name("dialogues_sixth.yaml")
FLOOR = 0.95
"""Measured: at least 57 of 60, by rules mended while they could be seen (docs/chat.md)."""
UNSEEN = 0.85
"""Measured: 54 of 60, by rules that were written without them."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "floor"),
    [
        (OPEN, FLOOR),
        (SECOND, FLOOR),
        (THIRD, FLOOR),
        (FOURTH, FLOOR),
        (FIFTH, FLOOR),
        (SIXTH, UNSEEN),
    ],
    ids=["open", "second", "third", "fourth", "fifth", "sixth"],
)
async def test_the_rules_follow_as_many_dialogues_as_they_did(path: Path, floor: float) -> None:
    verdicts = [await follow(each) for each in read_dialogues(path)]
    followed, of = shares(verdicts)["total"]
    lost = [f"{v.dialogue.id}, turn {v.turn}: {v.why}" for v in verdicts if not v.followed]
    assert followed >= floor * of, lost


async def test_a_model_that_takes_no_notice_follows_few() -> None:
    dialogues = read_dialogues(OPEN)[::4]
    verdicts = [await follow(each, "builtin/random") for each in dialogues]
    followed, of = shares(verdicts)["total"]
    assert followed < FLOOR * of / 2
