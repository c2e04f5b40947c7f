"""CapNav as a run: what it writes, that it goes on, videos, judges, the commands and bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from navloom.cli.main import main
from navloom.errors import RunError, UsageError
from navloom.evals.capnav.answer_scoring import AnswerScore
from navloom.evals.capnav.benchmark_data import load_benchmark
from navloom.evals.capnav.request import CapnavRequest
from navloom.evals.capnav.results import group_tables, report, run_table
from navloom.evals.capnav.run import ANSWERS, CapnavJob, content_digest, plan
from navloom.evals.capnav.scores import CapnavScores, RateEstimate, read_capnav
from navloom.evals.progress import Summary
from navloom.evals.run_folder import read_errors, read_run, read_samples
from navloom.evals.runner import run_request
from navloom.evals.session import Session
from navloom.models.messages import message_text
from navloom.models.scripted import ScriptedChatModel, register, unregister
from tests.evals.capnav.world import write_world
from tests.evals.test_video import film
from tests.graphs.states import run
from tests.web.one_file import said_in


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_world(tmp_path_factory.mktemp("capnav"))


def request(world: Path, **more: Any) -> CapnavRequest:
    return CapnavRequest(**{"data": str(world), "seed": 5, **more})


@pytest.fixture(scope="module")
def made(world: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Summary]]:
    """Whole runs by the names of their answerers, and what their ends told."""
    folders = {
        name: tmp_path_factory.mktemp("runs") / name
        for name in ("heuristic", "always-yes", "always-no")
    }
    return {
        name: (folder, run_request(request(world, model=f"builtin/{name}"), folder))
        for name, folder in folders.items()
    }


class Notes:
    """A display that keeps what it is told."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def start(self, total: int, done: int) -> None: ...
    def step(self, tally: Any) -> None: ...
    def close(self) -> None: ...

    def note(self, text: str) -> None:
        self.said.append(text)


def test_a_run_that_was_stopped_goes_on_to_the_same_numbers(
    world: Path, made: dict[str, tuple[Path, Summary]], tmp_path: Path
) -> None:
    folder, whole = made["heuristic"]
    first = run_request(request(world), tmp_path / "parts", Session(limit=20))
    rest = run_request(request(world), tmp_path / "parts")
    assert (whole.samples, first.left, rest.left) == (60, 40, 0)
    assert whole.ok + whole.failed == 60
    assert rest.scores == whole.scores
    files = [(run / ANSWERS).read_bytes() for run in (folder, tmp_path / "parts")]
    assert files[0] == files[1]
    assert json.loads((folder / "summary.json").read_text())["scores"] == whole.scores
    assert read_run(folder)["kind"] == "capnav"
    assert CapnavRequest.read(folder) == request(world, model="builtin/heuristic")
    assert request(world, model="builtin/heuristic") == request(world)


def test_the_answers_file_has_the_rows_that_judges_read(
    made: dict[str, tuple[Path, Summary]],
) -> None:
    folder, _ = made["always-no"]
    rows = [json.loads(line) for line in (folder / ANSWERS).read_text().splitlines()]
    assert [row["id"] for row in rows] == sorted(row["id"] for row in rows)
    assert len(rows) == 60
    names = ["id", "scene", "question_id", "question", "agent", "result", "raw", "record"]
    assert list(rows[0]) == names
    assert rows[0]["id"] == "HOUSE01_q01_HUMAN"
    assert rows[0]["record"]["total_edges"] >= 1
    assert {row["result"]["answer"] for row in rows} == {"no"}


def test_what_each_answerer_deserves(made: dict[str, tuple[Path, Summary]]) -> None:
    found = {name: summary for name, (_, summary) in made.items()}
    yes, no = (found[name].scores["ours"] for name in ("always-yes", "always-no"))
    assert (yes["recall"]["value"], no["recall"]["value"]) == (1.0, 0.0)
    assert yes["balanced"]["value"] == no["balanced"]["value"] == 0.5
    assert yes["PV"]["value"] == no["PV"]["value"]
    assert (no["F1"]["value"], no["RTA"]["value"], no["RV"]["value"]) == (0.0, None, None)
    assert yes["accuracy"]["value"] + no["accuracy"]["value"] == pytest.approx(1)
    assert found["always-no"].scores["official"]["composite_over"] == ["F1", "PV", "RTA"]
    bodies = found["always-yes"].scores["by_body"]
    assert list(bodies) == ["HUMAN", "WHEELCHAIR", "HUMANOID", "QUADRUPEDAL", "SWEEPER"]


def test_replies_that_are_no_answer_are_counted_and_kept(world: Path, tmp_path: Path) -> None:
    replies = [
        "Stairs.",
        "Answer: (B) False | Path: Kitchen -> Bathroom | Reason: x",
        "y" * 250_000,
    ]
    register("prose", replies)
    try:
        summary = run_request(
            request(world, model="scripted/prose", max_reasks=0),
            tmp_path,
            Session(limit=3, max_connections=1),
        )
    finally:
        unregister("prose")
    assert (summary.error, summary.ok + summary.failed) == (0, 3)
    assert summary.scores["ours"]["unparsed"] == 2
    reasons = [row["reason"] for row in read_samples(tmp_path)]
    assert reasons.count("unparsed") == 2
    rows = [json.loads(line) for line in (tmp_path / ANSWERS).read_text().splitlines()]
    assert [row["result"] is None for row in rows].count(True) == 2
    assert summary.scores["official"]["unparsed"] == 2


def test_reasons_are_graded_where_a_judge_is_named(world: Path, tmp_path: Path) -> None:
    def graded(_: Any) -> str:
        return json.dumps({"correct": True, "explanation": "so it is", "named": [], "false": []})

    register("kind", [graded] * 200)
    try:
        summary = run_request(
            request(world, model="builtin/always-no", judge_model="scripted/kind"),
            tmp_path,
            Session(limit=6),
        )
    finally:
        unregister("kind")
    ours = summary.scores["ours"]
    assert summary.error == 0
    assert ours["RV"]["n"] == 6
    assert ours["RV"]["value"] is not None
    assert ours["composite_over"] == ["F1", "PV", "RTA", "RV"]
    # JSON answers lose their reason on the way into the public scorer.
    assert summary.scores["official"]["RV"]["value"] == 0.0
    roles = {part["role"] for part in summary.models}
    assert roles == {"navigator", "judge"}


def test_frames_of_a_video_reach_the_model(world: Path, tmp_path: Path) -> None:
    videos = tmp_path / "videos"
    videos.mkdir()
    film(videos / "HOUSE01.mp4", 12)
    notes = Notes()
    answer = json.dumps([{"result": {"answer": "no", "path": [], "reason": ""}}])
    with ScriptedChatModel([answer, answer]) as model:
        made = plan(request(world, videos=str(videos), frames=4), tmp_path, print)
        job = CapnavJob(made)
        for name, shown in (("HOUSE01_q01_HUMAN", 4), ("HOUSE02_q01_HUMAN", 0)):
            sample = next(each for each in made.samples if each.id == name)
            state = run(job.build(None), job.input(sample), context=job.context(sample, model))
            assert state["result"]["frames"] == shown
    blocks = [
        sum(block["type"] == "image" for block in call.messages[1].content)
        if isinstance(call.messages[1].content, list)
        else 0
        for call in model.calls
    ]
    assert blocks == [4, 0]
    assert "The 4 pictures" in message_text(model.calls[0].messages[1].content)
    summary = run_request(
        request(world, videos=str(videos), frames=2),
        tmp_path / "run",
        Session(display=notes, limit=2),
    )
    assert any("holds no HOUSE02.mp4" in line for line in notes.said)
    assert summary.scores["text_only"] == 0
    assert "video_files" in read_run(tmp_path / "run")["request"]


def test_a_broken_video_is_one_line_a_pair_and_the_others_go_on(
    world: Path, tmp_path: Path
) -> None:
    videos = tmp_path / "videos"
    videos.mkdir()
    (videos / "HOUSE01.mp4").write_bytes(b"nothing of the kind" * 50)
    summary = run_request(request(world, videos=str(videos)), tmp_path / "run")
    assert (summary.error, summary.ok + summary.failed) == (40, 20)
    said = {row["message"] for row in read_errors(tmp_path / "run")}
    assert len(said) == 1
    assert "HOUSE01.mp4: no video that can be read" in said.pop()


def test_what_is_refused(world: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="frames is 0: expected 1 to 512"):
        request(world, frames=0)
    with pytest.raises(UsageError, match="partial credit is the judge's"):
        request(world, partial=True)
    with pytest.raises(UsageError, match="expected a folder with"):
        plan(request(world, videos=str(tmp_path / "none")), None, print)
    run_request(request(world), tmp_path / "run", Session(limit=1))
    with pytest.raises(RunError, match="thinking was false, now true"):
        run_request(request(world, thinking=True), tmp_path / "run", Session(limit=1))
    with pytest.raises(RunError, match="is no 'capnav' run: it is a 'single'"):
        _of_another_kind(tmp_path / "other")


def _of_another_kind(folder: Path) -> None:
    folder.mkdir()
    (folder / "run.json").write_text(json.dumps({"kind": "single", "request": {}}))
    CapnavRequest.read(folder)


@pytest.mark.slow
def test_tables(world: Path, tmp_path: Path) -> None:
    for name in ("heuristic", "always-yes"):
        run_request(request(world, model=f"builtin/{name}"), tmp_path / name)
    runs = {name: read_capnav(tmp_path / name) for name in ("heuristic", "always-yes")}
    text = run_table(runs).markdown()
    assert "always-yes: builtin/always-yes" in text
    assert "unscored" in text
    assert "the mean of F1 + PV + RTA" in text
    assert "no language models" in text
    told = report([tmp_path / name for name in runs], tmp_path / "out")
    said = told.blocks[0]
    assert said.title.startswith("CapNav · builtin/heuristic, builtin/always-yes · n = ")
    page = told.files[0].read_text()
    for title in ("By the public scorer's rules", "heuristic: By body", "By what is in the way"):
        assert title in page
    assert "stairs" in page
    folders = [str(tmp_path / name) for name in runs]
    assert main(["report", *folders, "--out", str(tmp_path / "out")]) == 0
    shown = said_in(tmp_path / "out" / "report.html", "source/0/tab/report")
    for title in ("By the public scorer's rules", "heuristic: By body", "By what is in the way"):
        assert title in shown
    assert said.title in shown
    assert "stairs" in shown


def test_every_group_has_its_rates_with_intervals(made: dict[str, tuple[Path, Summary]]) -> None:
    scores = read_capnav(made["heuristic"][0])
    tables = {table.header[0]: table for table in group_tables(scores)}
    for kind in ("body", "barrier", "passages"):
        table, groups = tables[kind], dict(scores.by(kind))
        wanted = ["F1", "PV", "RTA", "RV", "composite"][kind == "barrier" :]
        assert list(table.header[-len(wanted) :]) == wanted
        assert len(table.rows) == len(groups)
        for row in table.rows:
            shown = dict(zip(table.header, row, strict=True))
            assert shown["RV"] in ("unscored", "–")
            for name in {"F1", "RTA", "composite"} & shown.keys():
                measure = groups[row[0]].measures[name]
                assert shown[name] == written(measure), (kind, row[0], name)
        assert "composite: the mean of F1 + PV + RTA;" in table.note
    assert any("[" in row[tables["body"].header.index("F1")] for row in tables["body"].rows)


def test_reasons_of_groups_have_intervals_where_they_are_graded() -> None:
    answers = [
        AnswerScore(
            question_id=f"q{k}",
            scene="HOUSE01",
            body="SWEEPER",
            answer="no",
            truth=False,
            reason_valid=float(k % 2),
        )
        for k in range(8)
    ]
    scores = CapnavScores("scripted/x", "scripted/judge", scores=answers)
    (row,) = next(group_tables(scores)).rows
    assert row[-2].startswith("50.0% [")
    assert row[-1].startswith("12.5% [")


def written(measure: RateEstimate) -> str:
    if measure.value is None:
        return "–"
    if measure.low is None:
        return f"{measure.value:.1%}"
    return f"{measure.value:.1%} [{100 * measure.low:.1f}, {100 * measure.high:.1f}]"


# --- the commands


def navloom(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main([*words])
    out, err = capsys.readouterr()
    return code, out, err


def test_eval_capnav(world: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    words = ["eval", "capnav", "--data", str(world), "--out", str(out), "--display", "none"]
    code, said, err = navloom(capsys, *words, "--scene", "HOUSE02")
    assert code == 0
    assert "| builtin/heuristic | 20 |" in said
    assert "20 samples" in err
    code, said, _ = navloom(capsys, *words, "--scene", "HOUSE02", "--official-compat")
    assert code == 0
    assert "By the public scorer's rules" in said
    code, said, _ = navloom(capsys, "report", str(out), "--json")
    assert code == 0
    assert json.loads(said)["runs"][0]["answers"] == 20
    code, _, err = navloom(capsys, "retry", str(out), "--display", "none")
    assert code == 0
    code, _, err = navloom(capsys, *words)
    assert code == 1
    assert err.count("\n") == 1
    code, said, err = navloom(capsys, *words, "--dry-run", "--limit", "2")
    assert code == 0
    assert "Job: capnav_answer" in said
    assert "2 pairs in 1 scene, nobody was called" in err


def test_capnav_truth(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["eval", "capnav-truth", "--data", str(world)]
    code, said, _ = navloom(capsys, *words, "--why")
    assert code == 0
    assert "| HOUSE01 | 10 | 10 | 9 | 0 | 2 | 8 / 1 / 0 |" in said
    # One of the two flights; either is a cut.
    assert "HOUSE01_q03 WHEELCHAIR: node_1" in said
    assert "(cannot go up/down stairs)" in said
    assert "HOUSE01_q06 HUMAN: no route leads there" in said
    code, said, _ = navloom(capsys, *words, "--json", "--compat-edges", "--why")
    record = json.loads(said)
    assert record["bodies"]["WHEELCHAIR"]["unknown"] == 0
    assert {"question_id", "body", "blocking"} == set(record["why_not"][0])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--scene", "HOUSE9"], "no scene 'HOUSE9'"),
        (["--model", "builtin/always-maybe"], "Did you mean 'always-yes'"),
        (["--model-role", "grader=builtin/heuristic"], "no role 'grader' here"),
        (["--videos", "/nowhere"], "expected a folder with ID.mp4"),
        (["--bodies", "/nowhere.json"], "there is no such file"),
    ],
)
def test_a_mistake_is_one_line(
    world: Path, tmp_path: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    code, _, err = navloom(
        capsys, "eval", "capnav", "--data", str(world), "--out", str(out), *words
    )
    assert code == 1
    assert said in err
    assert err.count("\n") == 1
    assert not out.exists()


def test_without_data_one_line_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("NAVLOOM_DATA", raising=False)
    code, _, err = navloom(capsys, "eval", "capnav-truth")
    assert code == 1
    assert "--data DIR: give CapNav's folder, or set NAVLOOM_DATA" in err
    code, _, err = navloom(capsys, "eval", "capnav-truth", "--data", str(tmp_path))
    assert code == 1
    assert "expected graphs/ID-graph.json" in err


def test_the_hash_of_a_benchmark_is_that_of_runs_made_before(world: Path) -> None:
    """Golden, of the version in which a question's class had another name."""
    digest = content_digest(load_benchmark(world), {})["questions"]
    assert digest["sha256"][:16] == "ba3c939bc9a619f7"
