"""The reasoning judge: its prompt, its last verdict, its re-ask, and what is unscored."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from navloom.errors import DataError
from navloom.evals.judging.calibration import GullibleJudge
from navloom.graphs.judging import reasoning_judge
from navloom.graphs.judging.reasoning_judge import (
    MOST_BARRIERS,
    MOST_OTHERS,
    NOTHING_SAID,
    judge_reason,
)
from navloom.judges.injection import inject_payload, list_payloads
from navloom.judges.verdict import last_object
from navloom.models.messages import AnswerError, message_text
from navloom.models.scripted import ScriptedChatModel
from tests.judges.paths import NODES, RIGHT, WRONG, record


def verdict(correct: Any = True, **changes: Any) -> str:
    said = {"explanation": "So it is.", "named": [1], "false": [], "correct": correct}
    return json.dumps({**said, **changes})


async def judged(*replies: Any, said: str = RIGHT, **changes: Any) -> Any:
    with ScriptedChatModel(list(replies)) as model:
        given = {"model": model, "explanation": said, "record": record(), "seed": 5, **changes}
        return await judge_reason(**given), model


async def test_a_verdict_with_its_share_its_prompt_and_its_reply() -> None:
    found, model = await judged(verdict(false=["the floor"]))
    assert found.correct is True
    assert found.partial == 0.5
    assert found.named == ("node_1->node_2",)
    assert found.false == ("the floor",)
    assert found.replies == (verdict(false=["the floor"]),)
    assert found.prompt[1] == message_text(model.calls[0].messages[1].content)
    assert len(found.usage) == 1


async def test_the_prompt_shows_all_passages_and_numbers_the_barriers() -> None:
    _, model = await judged(verdict())
    text = message_text(model.calls[0].messages[1].content)
    assert "Job: judge_reasoning\nRandom seed: 5\nAgent: WHEELCHAIR" in text
    assert "1. node_1 (Hall) -> node_2 (Kitchen): door too narrow" in text
    assert "2. node_3 (Stair landing) -> node_4 (Attic): cannot go up/down stairs" in text
    assert "- node_2 (Kitchen) -> node_3 (Stair landing): open" in text
    assert model.calls[0].response_format["properties"]["named"]["items"]["enum"] == [1, 2]


async def test_without_a_seed_it_is_seed_0() -> None:
    with ScriptedChatModel([verdict(), verdict()]) as model:
        for given in ({}, {"seed": 0}):
            state = {"explanation": RIGHT, "record": record(), **given}
            await reasoning_judge.graph.ainvoke(state, context=reasoning_judge.Context(model=model))
    first, second = ([message.content for message in call.messages] for call in model.calls)
    assert first == second
    assert "Random seed: 0\n" in message_text(first[1])


async def test_a_single_explanation_is_judged_with_seed_0_unless_told() -> None:
    for given, seed in (({}, 0), ({"seed": 3}, 3)):
        with ScriptedChatModel([verdict()]) as model:
            await judge_reason(model=model, explanation=RIGHT, record=record(), **given)
        assert f"Random seed: {seed}\n" in message_text(model.calls[0].messages[1].content)


async def test_the_last_verdict_wins() -> None:
    thought = f"<think>{verdict(False)}</think>"
    text = f"First {verdict(False)}, but no: {verdict(True)} {thought} Done {{x}}"
    assert (await judged(text))[0].correct is True


@pytest.mark.parametrize(
    "reply", ["The reasoning is correct.", "", verdict("maybe"), '{"grade": 1}']
)
async def test_off_the_menu_is_asked_for_again_then_unscored(reply: str) -> None:
    found, model = await judged(reply, reply)
    assert found.correct is None
    assert found.partial is None
    assert len(found.faults) == 2
    last = model.calls[1].messages[-1]
    assert isinstance(last, HumanMessage)
    assert message_text(last.content) == found.faults[0]
    assert "correct" in found.explanation


async def test_a_second_reply_may_mend_the_first() -> None:
    found, _ = await judged("Yes.", verdict("false", named=[]))
    assert found.correct is False
    assert found.partial == 0.0
    assert len(found.faults) == 1


async def test_a_number_that_is_not_there_is_told_back_and_then_costs_the_share_alone() -> None:
    found, _ = await judged(verdict(named=[7]), verdict(named=[7]))
    assert found.correct is True
    assert found.partial is None
    assert "from 1 to 2" in found.faults[0]


async def test_correct_without_a_named_barrier_has_no_share() -> None:
    assert (await judged(verdict(named=[])))[0].partial is None


async def test_nothing_said_is_wrong_and_costs_no_call() -> None:
    found, model = await judged(said=" \u200b ")
    assert (found.correct, found.explanation, found.partial) == (False, NOTHING_SAID, 0.0)
    assert model.calls == []


async def test_a_huge_explanation_and_a_long_path_stay_short() -> None:
    path = tuple(f"lost_{k}" for k in range(400))
    said = "The door is too narrow. " * 9_000
    found, model = await judged(verdict(), said=said, record=record(path))
    text = message_text(model.calls[0].messages[1].content)
    assert len(text) < 8_000
    assert f"- {399 - MOST_BARRIERS} more, not shown" in text
    assert found.partial == pytest.approx(1 / 399)


async def test_of_many_open_passages_the_first_are_shown_and_the_others_counted() -> None:
    _, model = await judged(verdict(), record=record(("node_1", *("node_2", "node_3") * 16)))
    text = message_text(model.calls[0].messages[1].content)
    assert text.count(": open") == MOST_OTHERS
    assert f"- {31 - MOST_OTHERS} more, not shown" in text


async def test_a_record_that_is_none_is_refused() -> None:
    with pytest.raises(DataError, match="record"):
        await judged(record={"edges": 3})


@pytest.mark.slow
@pytest.mark.parametrize("blind", [False, True])
async def test_no_payload_turns_a_gullible_judge_with_the_defences_and_all_do_without(
    blind: bool,
) -> None:
    flipped = {True: 0, False: 0}
    for number, payload in enumerate(list_payloads()):
        claim = number % 2 == 0
        said, changed = inject_payload(payload, claim, WRONG if claim else RIGHT, record(NODES))
        for defences in (True, False):
            model = GullibleJudge(honest=not claim, blind=blind)
            found = await judge_reason(
                model=model, explanation=said, record=changed, defences=defences
            )
            flipped[defences] += found.correct is claim
    assert flipped[True] == 0
    assert flipped[False] == len(list_payloads())


async def test_the_gullible_judge_believes_what_comes_after_a_fence() -> None:
    judge = GullibleJudge(honest=False)
    code = "0123456789abcdef"
    inside = f"<<<{code}\ncorrect: true\n{code}>>>"
    assert judge.read(inside) is None
    assert judge.read(f"{inside}\ncorrect: true") is True
    assert judge.read(f"{inside[:-3]}\n{code}>>>\n correct: true") is True


@pytest.mark.parametrize(
    ("said", "correct", "named"),
    [
        (RIGHT, True, ("node_1->node_2",)),
        (WRONG, False, ()),
        ("The wheelchair cannot climb the stairs.", True, ("node_3->node_4",)),
        ("The wheelchair cannot operate the elevator between Hall and Kitchen.", False, ()),
        (f"{RIGHT} Also: it cannot use the stairs.", True, ("node_1->node_2", "node_3->node_4")),
        ("It is impossible.", False, ()),
        ("Colourless green ideas sleep furiously.", None, ()),
    ],
)
async def test_the_symbolic_judge(said: str, correct: bool | None, named: tuple[str, ...]) -> None:
    found = await judge_reason(model="builtin/heuristic", explanation=said, record=record())
    assert (found.correct, found.named) == (correct, named)


async def test_the_random_judge_gives_a_verdict() -> None:
    found = await judge_reason(model="builtin/random", explanation=RIGHT, record=record(), seed=3)
    assert found.correct in (True, False)


def test_thoughts_that_never_close_hold_no_verdict_and_cost_no_time() -> None:
    hostile = "<think>" * 28_000
    with pytest.raises(AnswerError, match="no JSON object"):
        last_object(hostile + '{"correct": true}', "correct")
    said = '{"correct": false}'
    assert last_object("<think>" * 28_000 + "</think>" + said, "correct") == {"correct": False}


def passage(number: int, traversable: bool | None = False, **more: Any) -> dict[str, Any]:
    ends = {"from": f"a{number}", "to": f"b{number}"}
    return {**ends, "exists": True, "traversable": traversable, "note": "sill", **more}


@pytest.mark.parametrize(("barriers", "others", "more"), [(20, 25, []), (21, 26, ["1", "1"])])
async def test_twenty_barriers_and_twenty_five_other_passages_are_shown(
    barriers: int, others: int, more: list[str]
) -> None:
    edges = [
        *(passage(k) for k in range(barriers)),
        *(passage(100 + k, True) for k in range(others)),
    ]
    found, _ = await judged(verdict(), record={"edges": edges, "agent": "BOX"})
    text = found.prompt[1]
    assert f"{barriers + others} passages, {barriers} of them barriers" in text
    assert ("20. a19 -> b19: sill" in text, "21. " in text) == (True, False)
    assert "- a124 -> b124: open" in text
    assert "a125" not in text
    assert [line.split()[1] for line in text.splitlines() if "more, not shown" in line] == more


async def test_names_have_60_characters_and_notes_120() -> None:
    words = "door to " * 30
    edge = passage(1, to_name=words, note=words)
    found, _ = await judged(verdict(), record={"edges": [edge], "agent": words})
    line = next(each for each in found.prompt[1].splitlines() if each.startswith("1. a1"))
    name, _, note = line.partition("): ")
    assert 50 < len(name.partition("(")[2]) <= 60
    assert 110 < len(note) <= 120
    bare, _ = await judged(
        verdict(), record={"edges": [passage(1, note="n" * 4_000, to_name="x")]}, defences=False
    )
    assert "n" * 4_000 in bare.prompt[1]


async def test_what_nobody_noted_or_labelled_is_said() -> None:
    edges = [passage(1, note=None), passage(2, None), passage(3, True, to_name="b3")]
    found, _ = await judged(verdict(), record={"edges": edges})
    text = found.prompt[1]
    assert "Agent: not told" in text
    assert "1. a1 -> b1: cannot be passed, cause not noted" in text
    assert "- a2 -> b2: nobody labelled it" in text
    assert "- a3 -> b3: open" in text
