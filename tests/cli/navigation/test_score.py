"""``navloom score`` and ``navloom compare``: the commands, whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from navloom.cli.main import main
from navloom.scenes.formats.scene_json import save
from tests.evals.navigation.test_compare import run_of
from tests.evals.navigation.test_metrics import REFERENCE, ROW, episode
from tests.evals.navigation.test_rescore import line, run_with


@pytest.mark.realdata
def test_reference_values_of_a_submission(
    data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = data_dir / "mp3d"
    file = str(data / "trajectories" / "prevalent_val_unseen.json")
    words = ["score", file, "--format", "r2r", "--data", str(data), "--split", "val_unseen"]
    assert main([*words, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    names = ("TL", "NE", "SR", "OSR", "SPL", "nDTW", "SDTW", "CLS")
    assert tuple(round(said[name], 4) for name in names) == REFERENCE["prevalent"]
    assert (said["n"], said["invalid"]) == (2349, [])
    low, high = said["intervals"]["SR"]
    assert low < said["SR"] < high


@pytest.mark.slow
@pytest.mark.realdata
def test_a_damaged_submission_is_scored_and_said(
    data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = data_dir / "mp3d"
    entries = json.loads((data / "trajectories" / "prevalent_val_unseen.json").read_text())
    hop = entries[0]["trajectory"]
    entries[0]["trajectory"] = [hop[0], hop[-1]]
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(entries[:-1]))
    assert main(["score", str(file), "--data", str(data), "--json"]) == 0
    out, err = capsys.readouterr()
    said = json.loads(out)
    assert said["n"] == 2349
    assert sorted(each["reason"] for each in said["invalid"]) == ["missing", "no_edge"]
    assert "2 invalid, 1 of them missing (--partial" in err


def test_score_and_compare_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = episode(scene=str(save(ROW, tmp_path / "row.json")))
    run = run_with(tmp_path / "run", [line("a", "abcd", home), line("b", "abc", home)])
    assert main(["score", str(run)]) == 0
    out = capsys.readouterr().out
    assert "2 episodes of made" in out
    assert "| SR | 100.0% |" in out
    a, b = (
        run_of(tmp_path / "a", {"1_0": 0, "2_0": 0}),
        run_of(tmp_path / "b", {"1_0": 1, "2_0": 1}),
    )
    assert main(["compare", str(a), str(b), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["metrics"]["SR"]["difference"] == 1
    assert said["discordant"]["SR"]["only_b"] == 2
    assert main(["compare", str(a), str(b)]) == 0
    assert "## Who succeeded where" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["score", "nowhere.json"], "nowhere.json: cannot be read: No such file"),
        (["score", "."], ". is not a run: it has no run.json"),
        (["score", ".", "--split", "val_seen"], "--format, --split and --partial go with a FILE"),
        (["score", "x.json", "--format", "rxr"], "there is no format 'rxr': expected one of r2r"),
        (["score", "x.json", "--by", "room"], "--by"),
        (["compare", ".", "x"], ". is not a run"),
        (["compare", "x", "./x"], "x and x are one run: give two to compare"),
        (["compare", "."], "RUN_B"),
    ],
)
def test_mistakes_are_one_line(
    words: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words) == 1
    out, err = capsys.readouterr()
    assert said in err
    assert out == ""
    assert err.count("\n") == 1
