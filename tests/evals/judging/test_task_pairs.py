"""Tasks compared and calibrated as runs: pairs, ties, leanings, and what is no task."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from navloom.cli.main import main
from navloom.errors import DataError, RunError, UsageError
from navloom.evals.judging.request import JudgeRequest
from navloom.evals.judging.scores import score_known_pairs, score_preference
from navloom.evals.judging.task_pairs import read_tasks
from navloom.evals.navcraft.export import export_run
from navloom.evals.navcraft.request import SynthRequest
from navloom.evals.run_folder import read_samples
from navloom.evals.runner import run_request
from navloom.evals.session import Session
from navloom.models import scripted

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A run of relays, and the dataset of a run of single errands."""
    folder = tmp_path_factory.mktemp("tasks")
    for kind, seed in (("collab", 1), ("single", 2)):
        asked = SynthRequest(kind=kind, spec="demo:", n=36, seed=seed)
        run_request(asked, folder / kind)
    export_run(folder / "single", folder / "single.jsonl")
    return folder / "collab", folder / "single.jsonl"


def calibrated(of: str, model: str, out: Path, n: int = 40):
    request = JudgeRequest(kind="calibrate_prefer", of=of, n=n, model=model)
    summary = run_request(request, out)
    assert summary.error == 0
    return score_known_pairs(out, model, summary.left)


def test_runs_and_datasets_are_read_alike(runs: tuple[Path, Path]) -> None:
    relays, errands = (read_tasks(where) for where in runs)
    assert any("hand it over at the" in each.said for each in relays.asked)
    assert not any(each.relay for each in errands.asked)
    assert all(each.said.startswith("Take the ") and "_" not in each.said for each in errands.asked)
    assert errands.sensible < {each.id for each in errands.asked}


def test_two_sets_of_tasks_are_compared_home_by_home(
    runs: tuple[Path, Path], tmp_path: Path
) -> None:
    request = JudgeRequest(kind="judge_prefer", of=str(runs[0]), against=str(runs[1]))
    assert run_request(request, tmp_path / "r", Session(limit=3)).left > 0
    summary = run_request(request, tmp_path / "r")
    rows = read_samples(tmp_path / "r")
    homes = {name: [each.scene for each in read_tasks(name).asked] for name in runs}
    pairs = sum(min(homes[runs[0]].count(h), homes[runs[1]].count(h)) for h in set(homes[runs[0]]))
    assert summary.samples == len(rows) == pairs
    found = score_preference(tmp_path / "r", request.model, 0)
    assert sum(found.wins.values()) == pairs
    wins = found.wins
    assert found.share.value == pytest.approx((wins["a"] + wins["tie"] / 2) / pairs)
    assert found.share.low <= found.share.value <= found.share.high
    moved = JudgeRequest(kind="judge_prefer", of=str(runs[1]), against=str(runs[0]))
    with pytest.raises(RunError, match="another run"):
        run_request(moved, tmp_path / "r")


def test_the_rules_find_most_spoiled_tasks_and_a_coin_half(tmp_path: Path) -> None:
    rules = calibrated("demo:", "builtin/heuristic", tmp_path / "h", 100)
    assert rules.pairs.accuracy.value > 0.75
    assert rules.pairs.kappa.low > 0.3
    assert rules.leaning.consistency.value > 0.85
    coin = calibrated("demo:", "builtin/random", tmp_path / "r", 100)
    assert coin.answers.accuracy.low < 0.5 < coin.answers.accuracy.high
    assert coin.answers.kappa.low < 0 < coin.answers.kappa.high
    assert coin.leaning.consistency.low < 0.5 < coin.leaning.consistency.high


def test_who_always_takes_the_first_is_found_out(tmp_path: Path) -> None:
    scripted.register("first-judge", lambda _: json.dumps({"why": "", "choice": "first"}))
    try:
        found = calibrated("demo:flat", "scripted/first-judge", tmp_path / "r", 12)
    finally:
        scripted.unregister("first-judge")
    assert (found.pairs.unscored, found.pairs.accuracy.value) == (12, 0)
    assert found.answers.accuracy.value == 0.5
    assert (found.leaning.to_first.value, found.leaning.consistency.value) == (1, 0)


def test_a_runs_sensible_tasks_are_spoiled_without_their_relays(
    runs: tuple[Path, Path], tmp_path: Path
) -> None:
    found = calibrated(str(runs[0]), "builtin/heuristic", tmp_path / "r")
    sensible = read_tasks(runs[0]).sensible
    rows = read_samples(tmp_path / "r")
    assert found.pairs.items == len(rows) > 0
    for row in rows:
        assert row["task"] in sensible
        assert "Two robots" not in row["a"] + row["b"]
        assert row["spoiled"]["by"] in row["b" if row["better"] == "a" else "a"]


def test_what_holds_no_task_is_one_line(runs: tuple[Path, Path], tmp_path: Path) -> None:
    file = tmp_path / "f.jsonl"
    file.write_text('{"id": "x", "scene": "demo:flat"}\n')
    with pytest.raises(DataError, match=r"no task; .* The first fault: x: no task: it has no pha"):
        read_tasks(file)
    line = json.loads(runs[1].read_text().splitlines()[0])
    file.write_text(json.dumps({**line, "scene": "demo:elsewhere"}) + "\n")
    with pytest.raises(DataError, match="share no home"):
        run_request(
            JudgeRequest(kind="judge_prefer", of=str(runs[1]), against=str(file)), tmp_path / "r"
        )
    with pytest.raises(UsageError, match="none can be spoiled"):
        calibrated(str(file), "builtin/heuristic", tmp_path / "c")


def test_from_the_command_line(
    runs: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["judge", "prefer", *map(str, runs), "--out", str(tmp_path / "p"), "--display", "none"]
    assert main(words) == 0
    assert "| share of a | of those decided |" in capsys.readouterr().out
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["model"] == "builtin/heuristic"
    assert (tmp_path / "p/preferred.md").is_file()
    assert main([*words, "--dry-run", "--model", "openai/gpt-4o-mini"]) == 0
    said = capsys.readouterr()
    assert "First task: Take the " in said.out
    begin = ["judge", "calibrate", "prefer", "demo:flat", "--n", "10", "--display", "none"]
    assert main([*begin, "--out", str(tmp_path / "c")]) == 0
    assert "| pairs, both orders | 10 |" in capsys.readouterr().out
    assert json.loads((tmp_path / "c/calibration.json").read_text())["answers"]["items"] == 20
