"""``navloom synth capnav`` as one types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from navloom.cli.main import main


def test_a_run_from_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    typed = ["synth", "capnav", "demo:flat", "--questions", "6", "--balance", "--display", "none"]
    assert main(typed) == 0
    shown = capsys.readouterr()
    assert "WHEELCHAIR" in shown.out
    assert "passages of the shortest route" in shown.out
    assert "6 of 6 questions" in shown.err
    assert "12 verified, 0 unverifiable" in shown.err
    (folder,) = (tmp_path / "runs").iterdir()
    assert len(json.loads((folder / "qa/flat_QA.json").read_text())) == 6
    # The same command finds the same folder.
    assert main([*typed, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["run"], told["questions"]["accepted"]) == (f"runs/{folder.name}", 6)
    assert len(list((tmp_path / "runs").iterdir())) == 1
    assert main(["report", str(folder)]) == 0
    assert "6 of 6 questions" in capsys.readouterr().out
    assert main(["retry", str(folder)]) == 0


@pytest.mark.slow
def test_qa_goes_where_it_is_told_to(tmp_path: Path) -> None:
    out, qa = str(tmp_path / "run"), tmp_path / "qa"
    typed = [
        "synth",
        "capnav",
        "demo:",
        "--questions",
        "3",
        "--compact",
        "--out",
        out,
        "--qa",
        str(qa),
    ]
    assert main(typed) == 0
    assert sorted(path.name for path in qa.iterdir()) == [
        "flat_QA.json",
        "house_QA.json",
        "villa_QA.json",
    ]


@pytest.mark.slow
def test_what_is_missing_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    typed = ["synth", "capnav", "demo:villa", "--questions", "8", "--model", "builtin/random"]
    assert main([*typed, "--max-rounds", "1", "--out", str(tmp_path / "run")]) == 0
    said = capsys.readouterr().err
    assert " are missing: demo:villa " in said
    assert "detail_not_there" in said


@pytest.mark.slow
def test_a_dry_run_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    typed = [
        "synth",
        "capnav",
        "demo:",
        "--questions",
        "12",
        "--model",
        "openai/gpt-4o-mini",
        "--dry-run",
    ]
    assert main(typed) == 0
    shown = capsys.readouterr()
    assert "Kitchen_3" in shown.out
    assert "3 conversations in 3 scenes, nobody was called" in shown.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["capnav:nowhere/X"], "there is no folder"),
        (["demo:flat", "--video", "nowhere"], "there is no such folder"),
        (["demo:flat", "--model-role", "judge=builtin/random"], "no role 'judge'"),
        (["demo:flat", "--questions", "0"], "--questions"),
        (["demo:flat", "--sample-id", "nothing"], "no sample 'nothing'"),
    ],
)
def test_a_mistake_is_said_in_one_line(
    words: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["synth", "capnav", *words]) == 1
    error = capsys.readouterr().err
    assert said in error
    assert "Traceback" not in error
