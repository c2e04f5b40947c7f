"""Plans for teams by the batch: exported, validated, shown, held against another run's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from navloom.cli.main import main
from navloom.evals.report.blocks import SceneMap
from navloom.evals.run_folder import read_run, read_samples
from navloom_worlds.teams.team_results import detail, pairing, score_teams

WORDS = ["synth", "team", "demo:house", "--n", "6", "--display", "none"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("teams") / "capped"
    assert main([*WORDS, "--max-metres", "20", "--out", str(out)]) == 0
    return out


@pytest.mark.slow
def test_a_run_says_what_is_possible_valid_and_worth(made: Path) -> None:
    score = score_teams(made)
    assert score.attempts == 6
    assert 0 < score.possible < 6
    assert score.valid.of == score.possible
    assert score.regret.mean is not None
    assert json.loads((made / "summary.json").read_bytes())["team"]["possible"] == score.possible


def test_its_lines_are_valid_and_what_is_changed_in_them_is_not(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "team.jsonl"
    assert main(["export", str(made), "--out", str(out)]) == 0
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(lines) == score_teams(made).valid.hits
    assert all(line["team"] and line["phase_2"] is None for line in lines)
    assert main(["validate", str(out)]) == 0
    changes: list[tuple[str, Any, str]] = [
        ("makespan_s", 1.0, "makespan_s 1.0 is said"),
        ("value", 1.0, "value 1.0 is said"),
        ("best", 1.0, "best 1.0 is said"),
        ("cap", 2.0, "over the 2 m"),
        ("by", "luck", "'luck' is no measure"),
        ("metres", {"robot_1": -1.0}, "robot_1 walks"),
    ]
    for key, value, said in changes:
        line = json.loads(json.dumps(lines[0]))
        line["navloom"][key] = value
        out.write_text(json.dumps(line) + "\n")
        capsys.readouterr()
        assert main(["validate", str(out)]) == 1
        assert said in capsys.readouterr().out


def test_each_plan_is_shown_on_its_map_and_in_time(made: Path) -> None:
    lines = read_samples(made)
    planned = [line for line in lines if line["status"] == "ok" and line["result"].get("team")]
    for line in planned:
        shown = detail(made, line)
        (drawn,) = (each for each in shown.blocks if isinstance(each, SceneMap))
        legs = line["result"]["team"]["legs"]
        assert len(drawn.routes) == len(legs)
        assert [lane.name for lane in drawn.lanes][:3] == ["robot_1", "robot_2", "robot_3"]
        end = max(span.end for lane in drawn.lanes for span in lane.spans)
        assert end == pytest.approx(line["result"]["navloom"]["makespan_s"])
        for lane in drawn.lanes:
            for before, after in zip(lane.spans, lane.spans[1:], strict=False):
                assert after.start == pytest.approx(before.end)
    other = next(line for line in lines if (line["result"] or {}).get("verdict") == "no plan")
    words = [getattr(each, "text", "") for each in detail(made, other).blocks]
    assert any("the least cap that one keeps is" in text for text in words)


def test_two_runs_pair_by_attempt(made: Path, tmp_path: Path) -> None:
    blind = tmp_path / "blind"
    words = [*WORDS, "--max-metres", "20", "--model", "builtin/random", "--out", str(blind)]
    assert main(words) == 0
    ours, theirs = (
        {json.dumps(pairing().identity(line)): line for line in read_samples(run)}
        for run in (made, blind)
    )
    assert ours.keys() == theirs.keys()
    told = [pairing().scores(line) for line in ours.values()]
    assert {each["valid"] for each in told} <= {0.0, 1.0, None}
    assert main(["compare", str(made), str(blind)]) == 0
    assert main(["report", str(made), str(blind), "--out", str(tmp_path / "both")]) == 0


def test_the_same_command_goes_on_and_a_dry_run_calls_nobody(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (made / "samples.jsonl").read_bytes()
    assert main([*WORDS, "--max-metres", "20", "--out", str(made)]) == 0
    assert (made / "samples.jsonl").read_bytes() == before
    assert read_run(made)["request"]["max_metres"] == 20
    out = tmp_path / "none"
    assert main([*WORDS, "--out", str(out), "--dry-run"]) == 0
    assert not out.exists()
    assert "check_team_plan" in capsys.readouterr().out


def test_a_run_of_small_choices_is_valid_and_says_how_it_was_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, out = tmp_path / "small", tmp_path / "team.jsonl"
    words = [*WORDS, "--compact", "--choices", "blind", "--model", "builtin/random"]
    assert main([*words, "--out", str(run), "--dry-run"]) == 0
    assert "Ways to do it" in capsys.readouterr().out
    assert main([*words, "--out", str(run)]) == 0
    score = score_teams(run)
    assert (score.valid.hits, score.calls.mean) == (6, 2)
    asked = read_run(run)["request"]
    assert (asked["compact"], asked["prompts"][0]["name"]) == (True, "navcraft_team_choices")
    assert main(["export", str(run), "--out", str(out)]) == 0
    assert main(["validate", str(out)]) == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--robots", "0"], "--robots"),
        (["--robots", "40"], "--robots"),
        (["--errands", "13"], "--errands"),
        (["--bodies", "FETCH,TANK"], "no body 'TANK'"),
        (["--max-metres", "-1"], "--max-metres"),
        (["--model", "builtin/first"], "give --compact, which has lists"),
        (["--choices", "blind"], "goes with --compact"),
        (["--compact", "--tools", "none"], "goes without --compact"),
        (["--compact", "--tools", "library"], "goes without --compact"),
    ],
)
def test_what_cannot_be_is_one_line(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*WORDS, *words, "--out", str(tmp_path / "x")]) == 1
    told = capsys.readouterr().err.strip()
    assert said in told
    assert "Traceback" not in told
    assert not (tmp_path / "x").exists()
