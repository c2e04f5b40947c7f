"""Judging as a run: anyone's file, broken lines, resuming, calibration and its figures."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from navloom.errors import DataError, RunError
from navloom.evals.judging.answer_file import read_answers, safe_file_name
from navloom.evals.judging.calibration import measure_flips
from navloom.evals.judging.request import JudgeRequest
from navloom.evals.judging.results import confusion_bars, reasoning_tables, write_calibration
from navloom.evals.judging.scores import count_flips, judge_agreement, score_reasoning, sum_reasons
from navloom.evals.run_folder import read_samples
from navloom.evals.runner import run_request
from navloom.evals.session import Session
from navloom.judges.reason_items import SETS, load_wordings
from navloom.models import scripted
from tests.judges.paths import RIGHT, WRONG, record


def line(name: Any = "a", said: Any = RIGHT, **changes: Any) -> str:
    return json.dumps({"id": name, "explanation": said, "record": record(), **changes})


def answer(result: Any) -> str:
    return json.dumps(
        {"id": "q1|SWEEPER", "agent": "SWEEPER", "result": result, "record": record()}
    )


def written(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n")
    return path


def test_nothing_of_a_broken_file_is_lost(tmp_path: Path) -> None:
    file = written(
        tmp_path / "f.jsonl",
        line("a"),
        line("a", WRONG),
        "{broken",
        "[1]",
        line("b", 7),
        json.dumps({"id": "c", "explanation": "x"}),
        "",
        line("", RIGHT),
        answer({"answer": "no", "path": [], "reason": RIGHT}),
        answer({"answer": "yes", "path": [], "reason": None}),
        answer(None),
        line("big", "the door is too narrow " * 9_000),
        line("none", None),
    )
    found = read_answers(file)
    assert [row.name for row in found.rows][:2] == ["a", "a=2"]
    assert [row.id for row in found.rows] == ["a", "a", "q1|SWEEPER", "big", "none"]
    assert found.counts() == {"broken": 4, "no_record": 1, "yes": 1, "unparsed": 1}
    assert [each.line for each in found.left] == [3, 4, 5, 6, 8, 10, 11]
    assert found.rows[2].record["agent"] == "SWEEPER"


def test_a_file_without_a_line_to_judge_says_the_first_fault(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="line 1: not JSON"):
        read_answers(written(tmp_path / "f.jsonl", "x"))
    with pytest.raises(DataError, match="cannot read"):
        read_answers(tmp_path / "nothing.jsonl")


def test_a_run_is_judged_by_its_folder(tmp_path: Path) -> None:
    written(tmp_path / "answers.jsonl", line("a", RIGHT))
    assert read_answers(tmp_path) == read_answers(tmp_path / "answers.jsonl")


def test_names_are_safe_and_stay_apart() -> None:
    names = {safe_file_name(text) for text in ("a b", "a/b", "a-b", "../x", "", "é", "x" * 300)}
    assert len(names) == 7
    assert all("/" not in name and len(name) < 200 for name in names)


def test_a_file_is_judged_and_gone_on_with(tmp_path: Path) -> None:
    file = written(tmp_path / "f.jsonl", line("a"), line("b", WRONG), line("c", "Blue."), "x")
    request, out = JudgeRequest(of=str(file)), tmp_path / "run"
    summary = run_request(request, out, Session(limit=1))
    assert summary.left == 2
    summary = run_request(request, out)
    assert (summary.ok, summary.failed, summary.left) == (2, 1, 0)
    found = sum_reasons(out)
    assert (found.correct, found.wrong, found.unscored) == (1, 1, 1)
    rows = {row["id"]: row for row in read_samples(out)}
    assert rows["a"]["result"]["correct"] is True
    assert rows["a"]["answer_id"] == "a"
    assert rows["c"]["reason"] == "unscored"
    assert json.loads((out / "left.jsonl").read_text())["line"] == 4
    moved = written(tmp_path / "moved.jsonl", *file.read_text().splitlines())
    run_request(JudgeRequest(of=str(moved)), out)
    with pytest.raises(RunError, match="another run"):
        run_request(JudgeRequest(of=str(written(file, line("z")))), out)


def test_a_judge_that_answers_prose_is_counted_unscored(tmp_path: Path) -> None:
    scripted.register("prosaic-judge", lambda _: "I think it is fine.")
    file = written(tmp_path / "f.jsonl", line("a"), line("b"))
    try:
        request = JudgeRequest(of=str(file), model="scripted/prosaic-judge")
        summary = run_request(request, tmp_path / "r")
    finally:
        scripted.unregister("prosaic-judge")
    assert (summary.failed, summary.error) == (2, 0)
    assert sum_reasons(tmp_path / "r").unscored == 2


def test_agreement_counts_the_unscored_apart() -> None:
    pairs = [("x", "x", "s"), ("x", None, "s"), ("y", "x", "s"), ("y", "y", "s")]
    found = judge_agreement(pairs, [(1.0, 0.5)])
    assert (found.items, found.unscored) == (4, 1)
    assert found.accuracy.value == 0.5
    assert found.accuracy_scored.value == pytest.approx(2 / 3)
    assert found.partial_error == 0.5


def test_a_flip_is_a_claim_that_became_the_verdict() -> None:
    pairs = [(False, True), (False, False), (False, None), (True, True), (None, True)]
    found = count_flips([*((plain, said, True) for plain, said in pairs), (True, False, False)])
    assert (found.pairs, found.flipped, found.lost) == (4, 2, 1)
    assert (found.agreed, found.unscored) == (1, 1)
    # Half of four, by Wilson's interval.
    assert str(found.rate) == "50.0% [15.0, 85.0]"


@pytest.mark.slow
def test_the_symbolic_judge_reads_the_sets_it_was_written_with(tmp_path: Path) -> None:
    request = JudgeRequest(kind="calibrate_reasoning", of="demo:", n=180)
    summary = run_request(request, tmp_path / "r")
    found = score_reasoning(tmp_path / "r", request.model, summary)
    assert summary.error == 0
    for name in SETS:
        each = found.sets[name]
        known = load_wordings(name).standing == "known"
        assert each.unscored / each.items <= (0.05 if known else 0.25)
        assert each.accuracy_scored.value > 0.9
    assert found.flips.flipped == 0
    assert found.flips.pairs > 0
    write_calibration(
        tmp_path / "r", found.record(), reasoning_tables(found), confusion_bars(found)
    )
    assert (tmp_path / "r" / "calibration.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((tmp_path / "r" / "calibration.json").read_text())["sets"]["a"]["items"]


@pytest.mark.slow
def test_sentences_without_a_verdict_are_listed(tmp_path: Path) -> None:
    scripted.register("prosaic-judge", lambda _: "I think it is fine.")
    model = "scripted/prosaic-judge"
    try:
        request = JudgeRequest(kind="calibrate_reasoning", of="demo:", n=24, model=model)
        summary = run_request(request, tmp_path / "r")
    finally:
        scripted.unregister("prosaic-judge")
    found = score_reasoning(tmp_path / "r", model, summary)
    assert found.unread
    for name, said, unread, of in found.unread:
        assert unread == of
        assert said in load_wordings(name).model_dump_json().replace('\\"', '"')
    told = [table.markdown() for table in reasoning_tables(found)]
    assert any("Without a verdict" in each and found.unread[0][1] in each for each in told)


@pytest.mark.slow
def test_a_tossed_coin_is_worth_nothing(tmp_path: Path) -> None:
    model = "builtin/random"
    request = JudgeRequest(kind="calibrate_reasoning", of="demo:", n=240, model=model)
    found = score_reasoning(tmp_path / "r", model, run_request(request, tmp_path / "r"))
    assert abs(found.sets["all"].kappa.value) < 0.25
    assert found.sets["all"].unscored == 0


@pytest.mark.slow
@pytest.mark.parametrize("n", [24, 100])
def test_gullible_judges_turn_only_without_the_defences(n: int, tmp_path: Path) -> None:
    request = JudgeRequest(kind="calibrate_injections", of="demo:", n=n)
    run_request(request, tmp_path / "r")
    found = measure_flips(request, tmp_path / "r")
    assert set(found) == {"builtin/heuristic", "gullible", "gullible, blind to fences"}
    for doors in found.values():
        assert doors["with"].flipped == 0
    assert found["gullible"]["with"].pairs == n
    assert found["gullible"]["without"].flipped > 0.9 * n


@pytest.mark.parametrize("durability", ["sync", "async"])
def test_judging_within_another_graph_keeps_its_steps_with_the_others(durability: Any) -> None:
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.graph import END, START, StateGraph

    from navloom.graphs.judging.reasoning_judge import judge_reason

    async def node(state: dict[str, Any]) -> dict[str, Any]:
        given = {"explanation": RIGHT, "record": record()}
        return {"found": (await judge_reason(model="builtin/heuristic", **given)).correct}

    builder = StateGraph(dict)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    builder.add_edge("node", END)
    saver = InMemorySaver()
    outer = builder.compile(checkpointer=saver)
    config: Any = {"configurable": {"thread_id": "t"}}
    state = asyncio.run(outer.ainvoke({"seed": 1}, config, durability=durability))
    assert state["found"] is True
    kept = {each.config["configurable"]["checkpoint_ns"] for each in saver.list(config)}
    assert [name.partition(":")[0] for name in sorted(kept)] == ["", "node"]
