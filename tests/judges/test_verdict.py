"""A verdict read from a reply: the menu, the share, and how much of a reply is read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from navloom.judges.verdict import (
    Verdict,
    judge_replies,
    last_object,
    read_verdict,
    reasoning_schema,
)
from navloom.models.messages import AnswerError

SHOWN = ["a->b", "b->c", "c->d"]


def said(correct: Any = True, **more: Any) -> str:
    return json.dumps({"explanation": "So.", "named": [2], "false": [], "correct": correct, **more})


@pytest.mark.parametrize(
    ("named", "names", "share"),
    [
        ([1], ("a->b",), 1 / 3),
        ([3, 1, 3], ("a->b", "c->d"), 2 / 3),
        (["2", 2], ("b->c",), 1 / 3),
        ([1, 2, 3], tuple(SHOWN), 1.0),
        ([], (), None),
        (None, (), None),
    ],
)
def test_the_share_is_of_the_barriers_named_once_each(
    named: Any, names: tuple[str, ...], share: float | None
) -> None:
    found = read_verdict(said(named=named), SHOWN)
    assert (found.correct, found.named) == (True, names)
    assert found.partial == (None if share is None else pytest.approx(share))


def test_a_wrong_explanation_that_names_none_has_share_0() -> None:
    assert read_verdict(said(False, named=[]), SHOWN).partial == 0.0
    assert read_verdict(said(False, named=[1]), SHOWN).partial == pytest.approx(1 / 3)
    assert read_verdict(said(named=[]), []).partial is None


@pytest.mark.parametrize("named", [[0], [4], [-1], [1.0], [True], ["one"], ["12345"], 2, {"1": 1}])
def test_what_is_not_on_the_menu_is_told_or_costs_the_share(named: Any) -> None:
    with pytest.raises(AnswerError, match="named"):
        read_verdict(said(named=named), SHOWN)
    lenient = read_verdict(said(named=named), SHOWN, strict=False)
    assert (lenient.correct, lenient.partial, lenient.named) == (True, None, ())


@pytest.mark.parametrize(
    ("word", "correct"),
    [
        (True, True),
        (False, False),
        ("true", True),
        (" False ", False),
        ("YES", True),
        ("no", False),
    ],
)
def test_a_flag_is_json_or_a_word(word: Any, correct: bool) -> None:
    assert read_verdict(said(word), SHOWN).correct is correct


@pytest.mark.parametrize("word", [1, 0, None, "perhaps", [], "truee"])
def test_what_is_no_flag_is_told(word: Any) -> None:
    with pytest.raises(AnswerError, match="must be true or false"):
        read_verdict(said(word), SHOWN)


def test_words_are_one_line_of_600_characters_and_claims_are_eight() -> None:
    found = read_verdict(said(explanation="x" * 700, false=["a\n b", "", *"cdefghij"]), SHOWN)
    assert found.explanation == "x" * 600
    assert found.false == ("a b", *"cdefghi")
    assert read_verdict(said(explanation="x" * 600), SHOWN).explanation == "x" * 600
    # Of a text four times that is read, its white space included.
    assert read_verdict(said(explanation=" " * 2_399 + "xy"), SHOWN).explanation == "x"
    assert read_verdict(said(explanation=["no", "text"]), SHOWN).explanation == '["no", "text"]'
    assert read_verdict(said(explanation=None, false="no list"), SHOWN).false == ()


def test_the_last_60_000_characters_and_500_braces_are_read() -> None:
    verdict = said()
    with pytest.raises(AnswerError, match="no JSON object"):
        last_object(verdict + " " * 60_000, "correct")
    assert last_object(verdict + " " * (60_000 - len(verdict)), "correct")["named"] == [2]
    assert last_object("{" * 499 + verdict, "correct")["named"] == [2]
    with pytest.raises(AnswerError):
        last_object("{" * 500 + verdict, "correct")
    assert last_object(said(True) + said(False) + '{"other": 1}', "correct")["correct"] is False


@pytest.mark.parametrize(
    ("barriers", "numbers", "most"), [(0, None, 1), (1, [1], 1), (2, [1, 2], 2)]
)
def test_a_judge_is_held_to_the_barriers_it_was_shown(
    barriers: int, numbers: list[int] | None, most: int
) -> None:
    named = reasoning_schema(barriers)["properties"]["named"]
    assert (named["items"].get("enum"), named["maxItems"]) == (numbers, most)


def test_a_schema_bounds_what_a_judge_says() -> None:
    fields = reasoning_schema(3)["properties"]
    assert fields["explanation"]["maxLength"] == 300
    assert (fields["false"]["maxItems"], fields["false"]["items"]["maxLength"]) == (3, 80)
    assert (fields["named"]["maxItems"], fields["named"]["items"]["enum"]) == (3, [1, 2, 3])
    assert (reasoning_schema(0)["properties"]["named"]["maxItems"]) == 1


def test_a_reply_is_kept_up_to_4000_characters() -> None:
    replies = [AIMessage("x" * 4_001), HumanMessage("no"), AIMessage("y")]
    assert judge_replies(replies) == ("x" * 4_000, "y")


def test_a_verdict_is_read_back_from_what_is_kept() -> None:
    found = read_verdict(said(named=[1, 2], false=["x"]), SHOWN)
    record = found.record()
    assert Verdict.of(record) == found
    assert "usage" not in record
    assert Verdict.of({"correct": None, "strange": 1}, [{"calls": 1}]) == Verdict(
        None, usage=({"calls": 1},)
    )
