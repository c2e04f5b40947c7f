"""``navloom judge`` from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from navloom.cli.main import main
from tests.evals.judging import test_labelling
from tests.evals.judging.test_run import line, written
from tests.graphs.judging.test_rubric_judge import row
from tests.judges.paths import WRONG


def test_a_file_is_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path / "f.jsonl", line("a"), line("b", WRONG), "{")
    words = ["judge", "reasoning", str(file), "--out", str(tmp_path / "r"), "--display", "none"]
    assert main(words) == 0
    said = capsys.readouterr()
    assert "2 explanations: 1 correct, 1 not, 0 unscored" in said.out
    assert "line 3: not JSON" in said.err
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["not_judged"] == {"broken": 1}


@pytest.mark.slow
def test_without_out_each_judging_has_a_folder_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NAVLOOM_DATA", raising=False)
    file = str(written(tmp_path / "f.jsonl", line("a")))
    for words in (["reasoning", file], ["calibrate", "reasoning", "--n", "16"]):
        for _ in range(2):
            assert main(["judge", *words, "--display", "none"]) == 0
    names = sorted(folder.name.partition("-")[0] for folder in Path("runs").iterdir())
    assert names == ["calibration", "judged"]


def test_a_missing_file_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "nothing.jsonl")
    assert main(["judge", "reasoning", file, "--out", str(tmp_path / "r")]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_traces_are_graded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path / "t.jsonl", json.dumps(row()), json.dumps({"id": "x"}), "?")
    words = ["judge", "trace", str(file), "--out", str(tmp_path / "r"), "--display", "none"]
    assert main(words) == 0
    said = capsys.readouterr()
    assert "action_follows: 3 yes, 0 no, 0 na, 0 unscored" in said.out
    assert said.err.count("not read") == 2


def test_failed_walks_of_a_run_are_labelled_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    walk = ["eval", "scene", "demo:flat", "--n", "3", "--agent", "random", "--out", "walks"]
    main([*walk, "--display", "none"])
    capsys.readouterr()
    words = ["judge", "failures", "walks", "--display", "none"]
    assert main([*words, "--out", "r"]) == 0
    said = capsys.readouterr()
    assert "failed walks: " in said.out
    count = int(said.out.split(" ", 1)[0])
    assert said.out.endswith(f"; as the rules {count}\n")
    assert len(Path("r/labels.jsonl").read_text().splitlines()) == count
    assert main([*words, "--out", "r", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (sum(found["causes"].values()), found["as_the_rules"]) == (count, count)
    assert main(["retry", "r", "--display", "none"]) == 0
    assert main(words) == 0
    assert [folder.name.partition("-")[0] for folder in Path("runs").iterdir()] == ["labels"]


def test_what_holds_no_failed_walk_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(written(tmp_path / "t.jsonl", json.dumps(row())))
    assert main(["judge", "failures", file, "--out", str(tmp_path / "r")]) == 1
    said = capsys.readouterr().err
    assert "no failed walk to label. The first fault: e1: no navigated episode: " in said
    assert said.count("\n") == 1
    assert not (tmp_path / "r").exists()


@pytest.mark.slow
def test_calibrations_print_their_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NAVLOOM_DATA", raising=False)
    begin = ["judge", "calibrate", "reasoning", "--display", "none"]
    assert main([*begin, "--n", "48", "--out", str(tmp_path / "a")]) == 0
    assert "| a (known) |" in capsys.readouterr().out
    assert main([*begin, "--injections", "--n", "12", "--out", str(tmp_path / "b")]) == 0
    assert "| gullible | 0/12" in capsys.readouterr().out
    assert (tmp_path / "a" / "calibration.png").is_file()


def test_calibration_of_the_rubric_judge_takes_a_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path / "t.jsonl", *(json.dumps(row(f"e{k}")) for k in range(8)))
    out = str(tmp_path / "r")
    words = ["judge", "calibrate", "trace", str(file), "--n", "40", "--out", out]
    assert main([*words, "--display", "none"]) == 0
    said = capsys.readouterr().out
    assert "| denies_history: history | 2/4 |" in said
    assert "| empty: history | 2/2 |" in said


@pytest.mark.slow
def test_a_dry_run_shows_what_a_judge_would_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    file = str(written(tmp_path / "f.jsonl", line("a"), line("b", WRONG)))
    trace = str(written(tmp_path / "t.jsonl", json.dumps(row())))
    walks = str(written(tmp_path / "w.jsonl", test_labelling.line("w", "1_0", "2_0")))
    for words, told in (
        (["reasoning", file], "2 items in 1 scene"),
        (["trace", trace], "3 items in 1 scene"),
        (["failures", walks], "1 walk in 1 scene"),
        (["calibrate", "reasoning", "demo:flat", "--n", "16"], " items in 1 scene"),
        (["calibrate", "reasoning", "demo:flat", "--n", "9", "--injections"], " items in 1 scene"),
    ):
        given = [*words, "--dry-run", "--model", "openai/gpt-4o-mini", "--display", "none"]
        assert main(["judge", *given]) == 0
        out, err = capsys.readouterr()
        assert out.startswith("=== ")
        assert f"{told}, nobody was called" in err
        assert "cost: $0." in err
    Path("f.jsonl").write_text(Path("f.jsonl").read_text() + "{\n")
    assert main(["judge", "reasoning", file, "--dry-run"]) == 0
    assert "line 3: not JSON" in capsys.readouterr().err
    assert not Path("runs").exists()
