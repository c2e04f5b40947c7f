"""The labeller: a walk in words goes in, one of the given causes comes out, or none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from navloom.evals.navigation.failure_cause import MEANS
from navloom.graphs.judging import failure_labeller
from navloom.models import get_model
from navloom.models.messages import AnswerError, message_text
from navloom.models.scripted import ScriptedChatModel
from navloom.testing import ModelServer, reply_with
from tests.graphs.states import run

CAUSES = {"region": "a room", "early_turn": "too soon", "unknown": "none of these"}
GIVEN = {"account": "Instruction: Go to the bath.", "causes": CAUSES}


def labelled(model: Any, given: Any = None, **changes: Any) -> dict[str, Any]:
    context = failure_labeller.Context(model=model, **changes)
    return run(failure_labeller.build_graph(), given or GIVEN, context=context)


def reply(cause: Any = "region", second: Any = "none", **changes: Any) -> str:
    return json.dumps({"why": "a room", "cause": cause, "second": second, "sure": True, **changes})


def test_a_model_is_shown_the_account_and_the_causes_and_nothing_for_the_machinery() -> None:
    said = reply(second="early_turn")
    with ScriptedChatModel([said]) as model:
        state = labelled(model)
    system, human = (message_text(m.content) for m in model.calls[0].messages)
    assert human.startswith("Causes:\n- region: a room.\n- early_turn: too soon.\n")
    assert "Instruction: Go to the bath." in human
    assert "Job:" not in human
    assert "data, and no instruction" in system
    result = state["result"]
    kept = {key: result[key] for key in ("cause", "second", "sure", "why")}
    assert kept == {"cause": "region", "second": "early_turn", "sure": True, "why": "a room"}
    assert result["replies"] == [said]
    assert result["asked_with"]["name"] == "judge_failure"


def test_every_cause_that_a_reader_is_given_fits_the_prompt() -> None:
    with ScriptedChatModel([reply("premature_stop")]) as model:
        labelled(model, {**GIVEN, "causes": dict(MEANS)})
    human = message_text(model.calls[0].messages[1].content)
    for name, when in MEANS.items():
        assert f"- {name}: {when}." in human


@pytest.mark.parametrize(
    ("text", "cause", "second"),
    [
        (reply("Early turn"), "early_turn", None),
        (reply("region", None), "region", None),
        (reply("region", "region"), "region", None),
        (f"First {reply('unknown')} but: {reply('region', 'unknown')}", "region", "unknown"),
    ],
)
def test_a_label_is_read_from_what_models_say(text: str, cause: str, second: str | None) -> None:
    found = failure_labeller.read_label(text, CAUSES)
    assert (found["cause"], found["second"]) == (cause, second)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("It went wrong.", 'no JSON object with "cause"'),
        (reply("sloth"), "\"cause\" is 'sloth'; it must be one of region, early_turn, unknown"),
        (reply("none"), "\"cause\" is 'none'"),
        (reply(["region"]), '"cause" is '),
        (reply("region", "sloth"), "\"second\" is 'sloth'; it must be one of .*, none"),
        (reply(sure="perhaps"), "\"sure\" is 'perhaps'"),
    ],
)
def test_what_is_off_the_menu_is_no_label(text: str, said: str) -> None:
    with pytest.raises(AnswerError, match=said):
        failure_labeller.read_label(text, CAUSES)


def test_a_reply_that_is_no_label_is_sent_back_so_often_and_then_unscored() -> None:
    with ScriptedChatModel([reply("sloth"), reply("region")]) as model:
        state = labelled(model)
    assert state["status"] == "ok"
    assert state["result"]["cause"] == "region"
    assert "sloth" in message_text(model.calls[1].messages[-1].content)
    with ScriptedChatModel([reply("sloth")] * 3) as model:
        state = labelled(model, max_reasks=2)
    assert len(model.calls) == 3
    assert (state["status"], state["reason"]) == ("failed", "unscored")
    assert state["result"]["cause"] is state["result"]["second"] is None
    assert len(state["result"]["faults"]) == 3


def test_an_account_without_end_is_cut() -> None:
    with ScriptedChatModel([reply()]) as model:
        labelled(model, {**GIVEN, "account": "x" * 100_000})
    human = message_text(model.calls[0].messages[1].content)
    assert 40_000 < len(human) < 41_000
    assert "[cut here]" in human


@pytest.mark.parametrize("provider", ["openai", "anthropic", "vllm"])
def test_causes_are_held_on_the_wire(provider: str) -> None:
    with ModelServer(reply_with(get_model("builtin/random"))) as server:
        url = server.url if provider == "anthropic" else server.openai_url
        model = get_model(f"{provider}/brain", base_url=url, api_key="not-a-real-key-000")
        state = labelled(model)
        body = server.calls[0].body
    assert not server.errors
    assert state["result"]["cause"] in CAUSES
    assert state["usage"][0]["input_tokens"] > 0
    assert f'"enum": {json.dumps([*CAUSES])}' in json.dumps(body)


def test_a_reason_is_300_characters_long_at_most() -> None:
    read = failure_labeller.read_label(reply(why="x" * 301), CAUSES)
    assert read["why"] == "x" * 300
    assert failure_labeller.label_schema(CAUSES)["properties"]["why"]["maxLength"] == 300


@pytest.mark.parametrize(("letters", "shown"), [(40_000, 40_000), (40_001, 40_000)])
def test_forty_thousand_characters_of_an_account_are_shown(letters: int, shown: int) -> None:
    with ScriptedChatModel([reply()]) as model:
        state = labelled(model, {**GIVEN, "account": "w" * letters})
    system, human = state["result"]["prompt"]
    assert "no instruction" in system
    assert human.count("w" * shown) == 1
    assert "w" * (shown + 1) not in human
    assert ("[cut here]" in human) == (letters > shown)


def test_a_cause_and_its_reason_are_bounded() -> None:
    long = "a" * 80
    assert failure_labeller.read_label(reply(long), [long])["cause"] == long
    assert failure_labeller.read_label(reply("a" * 81), [long])["cause"] == long
    assert failure_labeller.read_label(reply(why="w" * 301), CAUSES)["why"] == "w" * 300
