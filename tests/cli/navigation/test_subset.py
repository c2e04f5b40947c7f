"""``navloom subset`` as one types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from navloom.cli.main import main
from navloom.cli.navigation.subset import app
from navloom.errors import NavloomError, UsageError
from navloom.evals.navigation.subset import load_subset
from navloom.evals.run_folder import read_samples
from navloom.evals.tasks.registry import load_task
from tests.evals.navigation.test_subset import run_of
from tests.evals.tasks.folder import folder


def typed(*words: object) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=True)
    if isinstance(result.exception, NavloomError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.slow
def test_a_subset_is_written_and_shown(tmp_path: Path) -> None:
    out, picture = tmp_path / "s.json", tmp_path / "s.png"
    said = typed("scene", "--n", 6, "--kind", "object", "--out", out, "--picture", picture)
    assert "total variation" in said
    assert "wrote" in said
    assert picture.read_bytes().startswith(b"\x89PNG")
    subset = load_subset(out)
    assert len(subset.ids) == 6
    assert dict(subset.options) == {"kind": "object"}
    again = load_task(subset.task, None, subset.split, **subset.options)
    assert len(subset.pick(again).episodes) == 6


def test_json_is_for_programs(tmp_path: Path) -> None:
    data = folder(tmp_path)
    said = typed("r2r", "--data", data, "--n", 2, "--json")
    told = json.loads(said[said.index("{") : said.rindex("}") + 1])
    assert (told["task"], told["episodes"], told["of"], told["file"]) == ("r2r", 2, 6, None)
    assert {axis["axis"] for axis in told["axes"]} >= {"instruction"}


def test_hard_negatives_of_one_run_and_of_two(tmp_path: Path) -> None:
    data, out = folder(tmp_path / "data"), tmp_path / "hard.json"
    asked = {"task": "r2r", "split": "val_unseen"}
    a = run_of(tmp_path / "a", {"1_0": "failed", "1_1": "failed", "2_0": "failed"}, **asked)
    b = run_of(tmp_path / "b", {"1_0": "failed", "1_1": "ok", "2_0": "failed"}, **asked)
    typed("r2r", "--data", data, "--failed-by", a, "--out", out)
    assert load_subset(out).ids == ("1_0", "1_1", "2_0")
    for words in (["--failed-by", a, b], ["--failed-by", a, "--failed-by", b]):
        said = typed("r2r", "--data", data, *words, "--out", out)
        assert "2 of 3 episodes failed in each of 2 runs" in said
        assert load_subset(out).ids == ("1_0", "2_0")
        assert load_subset(out).method == "failed-by"
    typed("r2r", "--data", data, "--failed-by", a, "--n", 1, "--out", out)
    assert len(load_subset(out).ids) == 1
    with pytest.raises(UsageError, match="runs are over r2r val_unseen, and reverie was asked"):
        typed("reverie", "--data", data, "--failed-by", a)
    with pytest.raises(UsageError, match="runs are over r2r val_unseen"):
        typed("r2r", "--data", data, "--split", "train", "--failed-by", a)


@pytest.mark.parametrize("files", ["scene demo:flat --n 2", "r2r --data data --limit 2"])
def test_failures_are_looked_up_where_their_run_had_its_files(
    files: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NAVLOOM_DATA", raising=False)
    folder(tmp_path / "data")
    assert main(["eval", *files.split(), "--agent", "random", "--out", "run"]) == 0
    failed = [line["id"] for line in read_samples("run") if line["status"] == "failed"]
    assert failed
    # Neither --scenes nor --data: the run knows.
    typed(files.split()[0], "--failed-by", "run", "--out", "hard.json")
    assert list(load_subset(tmp_path / "hard.json").ids) == failed


def test_nothing_failed_is_said(tmp_path: Path) -> None:
    asked = {"task": "r2r", "split": "val_unseen"}
    run = run_of(tmp_path / "a", {"1_0": "ok"}, **asked)
    with pytest.raises(UsageError, match="no episode that every run failed on"):
        typed("r2r", "--data", folder(tmp_path / "data"), "--failed-by", run)


@pytest.mark.slow
def test_words_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--n, or which runs"):
        typed("r2r")
    with pytest.raises(UsageError, match="one word too many"):
        typed("r2r", "runs/a", "--n", "3")
    with pytest.raises(UsageError, match="Did you mean 'r2r'"):
        typed("r2", "--n", 3)
    with pytest.raises(UsageError, match="cannot draw"):
        typed("scene", "--n", 3, "--picture", tmp_path / "x.odd")
