"""One answer or two stages: five arms, resumed after any stop, and scores by hand."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from navloom.cli.main import main
from navloom.errors import RunError, UnfinishedError, UsageError
from navloom.evals.navcraft.direct_request import DirectRequest
from navloom.evals.navcraft.direct_results import direct_tables, score_direct
from navloom.evals.navcraft.direct_study import ARMS, DirectStudy, published_table, study_direct
from navloom.evals.navcraft.request import SynthRequest
from navloom.evals.report.intervals import wilson_interval
from navloom.evals.report.report_files import read_report
from navloom.evals.run_folder import read_run, read_samples
from navloom.evals.runner import run_request
from navloom.evals.session import Session, StopSignal
from tests.evals.lines import records, rewrite

HEURISTIC = "builtin/heuristic"
WORK = {
    "metres": {"robot_1": 16.0, "robot_2": 19.0},
    **{"makespan_s": 25.0, "both_move_s": 10.0, "solo_s": 21.0, "best_alone_s": 21.0},
    **{"lesser_share": 0.4, "both_share": 0.2},
    **{"no_sooner_than_robot_1": True, "no_sooner_than_best": True},
}


def asked(**changes: Any) -> DirectStudy:
    return DirectStudy(**{"spec": "demo:house", "model": HEURISTIC, "n": 1, **changes})


def folders(out: Path) -> list[str]:
    return sorted(each.name for each in out.iterdir() if (each / "run.json").exists())


@pytest.mark.slow
def test_five_arms_and_the_random_baseline_beside_each(tmp_path: Path) -> None:
    tables = study_direct(asked(), tmp_path)
    named = [*ARMS, *(f"{arm}, random" for arm in ARMS)]
    assert [row[:2] for row in tables[0].rows] == [(name, "1") for name in named]
    assert len(folders(tmp_path)) == 10
    kept = read_report(tmp_path)
    assert kept.title == f"Direct generation, {HEURISTIC}"
    assert [each.table.title for each in kept.blocks[1:]] == [  # type: ignore[union-attr]
        "I: idleness",
        "II: coordination",
        "What the prompts contradict",
        "As published",
    ]
    assert kept.blocks[0].to[2] == "run/V1/scores"  # type: ignore[union-attr]
    # All arms make the same attempts, so that they can be held against each other.
    ids = {name: [row["id"] for row in read_samples(tmp_path / name)] for name in folders(tmp_path)}
    assert len({json.dumps(sorted(each)) for each in ids.values()}) == 1
    models = {read_run(tmp_path / name)["request"]["model"] for name in ids if "random" in name}
    assert models == {"builtin/random"}


def test_arms_ask_for_what_they_say() -> None:
    requests = asked().requests()
    assert [each.kind for each in requests.values()][:5] == ["collab"] * 2 + ["direct"] * 3
    made = {name: each.record() for name, each in requests.items()}
    assert "tools" not in made["two stages"]
    assert made["two stages, no tools"]["tools"] == "none"
    assert (made["V1"]["variant"], made["V1"]["tools"]) == ("v1", "none")
    assert (made["V2"]["variant"], made["V2"]["tools"]) == ("v2", "none")
    assert (made["V2 with tools"]["variant"], made["V2 with tools"]["tools"]) == ("v2", "check")
    assert list(asked(model="builtin/random").requests()) == list(ARMS)


@pytest.mark.slow
def test_a_study_that_was_stopped_goes_on_with_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, ran = asked(n=3, arms=["V1", "V2"]), []
    whole = study_direct(study, tmp_path / "whole")

    def stopped(request: Any, folder: Path, session: Session) -> Any:
        ran.append(folder.name)
        if folder.name == "V2":
            session = Session(stop=StopSignal(), limit=None)
            assert session.stop is not None
            session.stop.request()
        return run_request(request, folder, session)

    with monkeypatch.context() as patch:
        patch.setattr("navloom.evals.study.run_request", stopped)
        with pytest.raises(UnfinishedError, match="the same command on the same folder goes on"):
            study_direct(study, tmp_path / "cut")
    assert ran == ["V1", "V2"]
    before = (tmp_path / "cut/V1/samples.jsonl").read_bytes()
    assert not (tmp_path / "cut/report.json").exists()
    again = study_direct(study, tmp_path / "cut")
    assert (tmp_path / "cut/V1/samples.jsonl").read_bytes() == before
    # What is told is the same, but for seconds, the last of the first table.
    assert [table.rows for table in again[1:]] == [table.rows for table in whole[1:]]
    assert [row[:-1] for row in again[0].rows] == [row[:-1] for row in whole[0].rows]


def test_another_study_in_the_folder_is_refused(tmp_path: Path) -> None:
    study_direct(asked(arms=["V1"]), tmp_path)
    with pytest.raises(RunError):
        study_direct(asked(arms=["V1"], seed=5), tmp_path)
    with pytest.raises(RunError, match="holds a run"):
        study_direct(asked(), tmp_path / "V1")


@pytest.mark.parametrize(
    ("arms", "said"),
    [(["V3"], "no arm 'V3': choose two stages"), (["V1", "V1"], "'V1' is given twice")],
)
def test_bad_arms_are_one_line(tmp_path: Path, arms: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said) as refused:
        study_direct(asked(arms=arms), tmp_path / "s")
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "s").exists()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"tools": "check"}, "--variant v2"),
        ({"variant": "v3"}, "variant"),
        ({"model": "builtin/first"}, "a whole answer has none"),
        ({"n": 0}, "n"),
    ],
)
def test_bad_requests_are_one_line(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said) as refused:
        DirectRequest(**{"spec": "demo:", **changes})
    assert "\n" not in str(refused.value)


def test_scores_of_a_hand_made_run(tmp_path: Path) -> None:
    run_request(DirectRequest(spec="demo:flat", n=4), tmp_path / "r")
    base = records(tmp_path / "r")[0]["result"]["navloom"]
    flags = {"transfer_unlike": False, "no_handover": False, "off_links": False}
    plans: list[Any] = [
        {**flags, "valid": True, "work": WORK, "path_written": True, "many_regions": True},
        {**flags, "valid": False, "work": {**WORK, "lesser_share": 0.0, "both_share": 0.0,
         "no_sooner_than_robot_1": False}, "path_written": True, "off_links": True,
         "many_regions": False, "steps_in_bounds": True},
        {**flags, "valid": False, "work": None, "path_written": False, "off_links": False,
         "no_handover": True, "transfer_unlike": True, "many_regions": True},
        None,
    ]  # fmt: skip

    def by_hand(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        kept = [plan and {**rows[0]["result"], "navloom": {**base, **plan}} for plan in plans]
        return [{**row, "result": each} for row, each in zip(rows, kept, strict=True)]

    rewrite(tmp_path / "r", by_hand)
    score = score_direct(tmp_path / "r")
    assert (score.read.hits, score.read.of) == (3, 4)
    assert score.read.interval == wilson_interval(3, 4)
    assert (score.valid.hits, score.valid.of) == (1, 4)
    assert (score.plans, score.lesser_share.values) == (3, (0.4, 0.0))
    assert score.both_share.mean == pytest.approx(0.1)
    sooner = score.no_sooner
    assert (sooner["no_sooner_than_robot_1"].hits, sooner["no_sooner_than_robot_1"].of) == (1, 2)
    assert (sooner["no_sooner_than_best"].hits, sooner["no_sooner_than_best"].of) == (2, 2)
    found = {code: (rate.hits, rate.of) for code, rate in score.coordination.items()}
    # Paths are counted where some are written.
    assert found == {"transfer_unlike": (1, 3), "no_handover": (1, 3), "off_links": (1, 2)}
    assert (score.many_regions.hits, score.steps_in_bounds.hits) == (2, 1)
    cells = direct_tables({"V2": score})[0].rows[0]
    assert cells[:4] == ("V2", "4", "75.0% (3/4) [30.1, 95.4]", "25.0% (1/4) [4.6, 69.9]")


def test_two_stages_are_read_by_why_they_failed(tmp_path: Path) -> None:
    run = tmp_path / "r"
    run_request(SynthRequest(kind="collab", spec="demo:house", n=4), run)
    rows = records(run)
    ends: list[dict[str, Any]] = [
        {},
        {"status": "failed", "reason": "phase_1:not_json", "result": None},
        {"status": "failed", "reason": "wrong_instruction"},
        {"result": {**rows[3]["result"], "phase_2": None, "verdict": "not worth it"}},
    ]
    rewrite(run, lambda rows: [{**row, **end} for row, end in zip(rows, ends, strict=True)])
    score = score_direct(run)
    assert (score.read.hits, score.valid.hits, score.none_worth_it, score.plans) == (3, 1, 1, 1)


def test_what_is_published_is_told_with_its_source() -> None:
    table = published_table()
    assert [row[0] for row in table.rows][:2] == ["V1 (A.13.1)", "V2 (A.13.1)"]
    assert "A.13.1" in table.note
    assert [row[1:3] for row in table.rows][2:] == [("77.0%", "46.8%"), ("64.0%", "26.6%")]


def test_the_command_writes_a_page_and_a_dry_run_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        "study",
        "direct",
        "demo:flat",
        "--model",
        HEURISTIC,
        "--arm",
        "V1",
        "--display",
        "none",
    ]
    assert main([*words, "--out", str(tmp_path / "s"), "--dry-run"]) == 0
    assert not (tmp_path / "s").exists()
    told = capsys.readouterr()
    assert "== V1, random" in told.err
    assert '"Robots position"' in told.out
    assert main([*words, "--out", str(tmp_path / "s"), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["V1"]["read"]["of"] == 1
    assert (tmp_path / "s/report.html").exists()
    shutil.rmtree(tmp_path / "s")
    assert main([*words, "--out", str(tmp_path / "s"), "--arm", "V9"]) == 1
    assert "no arm 'V9'" in capsys.readouterr().err
