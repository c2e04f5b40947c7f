"""Runs with an oracle: what is recorded of it, what tables say of it, requests of old versions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from navloom.errors import UsageError
from navloom.evals.dry_run import dry_run
from navloom.evals.navigation.request import EvalRequest
from navloom.evals.navigation.results import write_report
from navloom.evals.navigation.scores import (
    OracleScores,
    RunScores,
    empty_oracle_scores,
    read_scores,
)
from navloom.evals.navigation.studies import ORACLE_ARMS, compare_dialogue, runs_table, study_oracle
from navloom.evals.report.blocks import Grid
from navloom.evals.report.run_comparison import compare_runs
from navloom.evals.run_folder import read_run
from navloom.evals.runner import run_request
from navloom.evals.session import Session
from tests.evals.navigation.test_compare import run_of
from tests.evals.tasks.folder import folder


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return folder(tmp_path / "data")


def walks(data: Path, **changes: Any) -> EvalRequest:
    return EvalRequest(**{"task": "r2r", "data": str(data), **changes})


def line(*said: Any) -> dict[str, Any]:
    steps = [{"asked": None, "oracle": None}, *({"asked": each} for each in said)]
    scores = {"SR": 1.0, "cluster": "a", "invalid": None}
    result = {"scores": scores, "counts": {}, "end": "stop", "tags": {"behaviour": []}}
    return {"result": {**result, "steps": steps}}


def test_shares_of_answers_by_what_they_give_away() -> None:
    run = RunScores(oracle=OracleScores("map"))
    run.add(line({"told": ["text", "direction"]}, {"told": ["direction"]}))
    run.add(line({"told": []}, {"told": ["direction"]}))
    assert run.record()["oracle"] == {
        "knows": "map",
        "arrival": True,
        "ask_cost": 0,
        "answers": 4,
        "told": {
            **dict.fromkeys(("id", "option", "coordinates", "arrival"), 0.0),
            "text": 0.25,
            "direction": 0.75,
        },
    }


def test_nothing_is_said_of_answers_that_nobody_looked_at() -> None:
    run = RunScores(oracle=OracleScores("path"))
    run.add(line({"answer": "Go left.", "leaked": False}))
    oracle = run.record()["oracle"]
    assert (oracle["answers"], oracle["told"]) == (0, {})
    assert RunScores().record()["oracle"] is None


def test_a_run_says_what_its_oracle_knows_and_gave_away(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "r"
    run_request(walks(data, dialogue=True, oracle_knows="path"), out, Session(limit=3))
    request = read_run(out)["request"]
    assert (request["oracle_knows"], request["oracle_arrival"], request["ask_cost"]) == (
        "path",
        True,
        0,
    )
    oracle = read_scores(out).record()["oracle"]
    assert oracle["knows"] == "path"
    assert oracle["answers"] > 0
    # What the rules say of the path names a direction, or that it has arrived.
    assert oracle["told"]["direction"] + oracle["told"]["arrival"] >= 1
    blocks = write_report(out).blocks
    tables = {b.table.title: b.table.markdown() for b in blocks if isinstance(b, Grid)}
    assert "The oracle knows: path." in tables["What the oracle gave away"]
    assert "| oracle_knows | path |" in tables["Request"]


def test_without_an_oracle_nothing_of_it_is_recorded(data: Path, tmp_path: Path) -> None:
    run_request(walks(data, oracle_knows="map"), tmp_path / "r", Session(limit=1))
    request = read_run(tmp_path / "r")["request"]
    assert not {"oracle_knows", "oracle_arrival", "ask_cost"} & request.keys()
    assert read_scores(tmp_path / "r").record()["oracle"] is None


def test_a_request_of_the_old_path_oracle_is_refused_in_a_line(data: Path) -> None:
    said = {**walks(data, oracle="assistant").record(), "oracle": "path"}
    with pytest.raises(UsageError, match=r"'path', which is no more: 'bound' names"):
        EvalRequest.restored(said, {})


def test_an_agent_that_brings_its_oracle_takes_no_other(data: Path) -> None:
    with pytest.raises(UsageError, match=r"shortest-path brings its oracle \(bound\)"):
        walks(data, agent="shortest-path", oracle="assistant")
    assert walks(data, agent="shortest-path").record()["oracle"] == "bound"


def test_a_dry_run_counts_what_an_oracle_makes_a_navigator_say_again(data: Path) -> None:
    alone = walks(data, model="openai/gpt-4o-mini", agent="navgpt", max_steps=10, max_reasks=0)
    assert dry_run(alone).calls == (6, 6 * 10)
    helped = walks(
        data,
        model="openai/gpt-4o-mini",
        agent="navgpt",
        max_steps=10,
        max_reasks=0,
        oracle="assistant",
        oracle_budget=2,
    )
    # A stop that was too early is chosen again; an oracle's answer may be sent back once.
    assert dry_run(helped).calls[1] == 6 * (12 + 4)


def test_a_table_says_success_an_answer_and_where_no_difference_is_shown(tmp_path: Path) -> None:
    names = [f"{k}_0" for k in range(1, 9)]
    none = run_of(tmp_path / "none", dict.fromkeys(names, 0.0))
    runs, differences = {}, {}
    for name, well in (("all", 8), ("one", 1)):
        made = run_of(tmp_path / name, {each: float(k < well) for k, each in enumerate(names)})
        differences[name] = compare_runs(none, made).metrics
        runs[name] = {
            "episodes": 8,
            "metrics": {},
            "an_episode": {"questions": 1.5, "oracle_calls": 0.5},
            "oracle": {"knows": "map", "answers": 16, "told": {"text": 0.5, "id": 0.0}},
        }
    table = runs_table("t", "", runs, differences)
    cells = {row[0]: dict(zip(table.header, row, strict=True)) for row in table.rows}
    assert cells["all"]["SR an answer"] == "+50.0"
    assert cells["one"]["SR an answer"] == "+6.2"
    assert "no difference shown" not in cells["all"]["SR, paired"]
    assert cells["one"]["SR, paired"].endswith(": no difference shown")
    assert (cells["all"]["knows"], cells["all"]["gives away"]) == ("map", "text 50.0%")
    assert table.record["all"]["SR_an_answer"] == pytest.approx(0.5)


@pytest.mark.slow
def test_arms_of_the_study_by_name(data: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no arm 'dialog-map': choose .* mean 'dialogue-map'"):
        study_oracle(walks(data), tmp_path / "o", Session(), ["dialog-map"])
    request = walks(data, agent="random", max_steps=6)
    table = study_oracle(request, tmp_path / "o", Session(limit=3), ["assistant-map", "bound"])
    assert [row[0] for row in table.rows] == ["base, all", "again", "assistant-map", "bound"]
    made = {each.name for each in (tmp_path / "o").iterdir() if each.is_dir()}
    assert made == {"base", "again", "assistant-map", "bound"}
    assert set(ORACLE_ARMS) >= made - {"base"}


def test_the_papers_prompt_has_no_questions_and_no_arms_of_them(data: Path, tmp_path: Path) -> None:
    request = walks(data, agent="random", prompts="paper", max_steps=6)
    arms = ["dialogue-map", "bound"]
    table = study_oracle(request, tmp_path / "o", Session(limit=3), arms)
    assert [row[0] for row in table.rows] == ["base, all", "again", "bound"]
    assert "no questions, and so no dialogue" in table.note
    with pytest.raises(UsageError, match="The paper's prompt has no questions"):
        compare_dialogue(request, tmp_path / "d")
    assert not (tmp_path / "d").exists()


@pytest.mark.slow
@pytest.mark.realdata
def test_the_bound_bounds_on_real_walks(data_dir: Path, tmp_path: Path) -> None:
    request = EvalRequest(task="r2r", data=str(data_dir / "mp3d"), seed=7)
    arms = ["assistant-map", "assistant-path", "dialogue-path", "bound"]
    table = study_oracle(request, tmp_path / "o", Session(limit=8), arms)
    success = {name: run["metrics"]["SR"]["mean"] for name, run in table.record.items()}
    assert success["bound"] == 1 == max(success.values())
    assert table.record["bound"]["metrics"]["SPL"]["mean"] == 1
    assert "Above the bound" not in table.note
    # What the rules say of the path is the option's own words.
    assert table.record["assistant-path"]["oracle"]["told"]["text"] > 0.8
    assert table.record["assistant-map"]["oracle"]["told"]["text"] == 0


def test_a_bound_that_does_not_bound_is_said() -> None:
    from navloom.evals.navigation.studies import _above

    def run(mean: float) -> dict[str, Any]:
        return {"metrics": {"SR": {"mean": mean}}}

    assert _above({"a": run(0.2), "bound": run(0.5)}) == ""
    assert "Above the bound, which is none here: a." in _above({"a": run(0.6), "bound": run(0.5)})


def test_what_an_oracle_knows_by_the_request_of_its_run() -> None:
    def knows(**request: Any) -> str | None:
        found = empty_oracle_scores(request)
        return found and found.knows

    assert knows(oracle="off", dialogue=False) is None
    assert knows(oracle="bound") == "bound"
    assert knows(dialogue=True, oracle_knows="map") == "map"
    assert knows(oracle="assistant", oracle_knows="map", oracle_model="builtin/random") == "nothing"
    # Runs of before there were levels were told the path.
    assert knows(oracle="assistant") == knows(oracle="path") == knows(dialogue=True) == "path"
