"""``navloom eval``, ``navloom study oracle``: options, output, what people get wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from navloom.cli.main import main
from navloom.evals.run_folder import read_run, read_samples
from tests.evals.lines import records, rewrite
from tests.evals.tasks.folder import folder


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NAVLOOM_DATA", raising=False)
    folder(tmp_path / "data")


def run(command: str) -> int:
    return main([*command.split(), "--display", "none"])


@pytest.mark.parametrize(
    ("task", "episodes"),
    [("r2r --data data", 6), ("reverie --data data", 4), ("scene demo: --n 6", 6)],
)
def test_a_task_is_a_command(task: str, episodes: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(f"eval {task} --out r") == 0
    out, err = capsys.readouterr()
    assert f"{episodes} episodes" in out
    assert "| SR |" in out
    assert "a baseline and no language model (R2R-tuned rules: " in out
    assert "navloom report r" in err
    assert "navloom export" not in err
    assert len(read_samples("r")) == episodes


def test_without_out_a_request_has_a_folder_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("eval r2r --data data --limit 1") == 0
    assert run("eval r2r --data data --limit 1") == 0
    assert run("eval r2r --data data --limit 1 --seed 1") == 0
    made = sorted(Path("runs").iterdir())
    assert [folder.name.partition("-")[0] for folder in made] == ["r2r", "r2r"]
    assert all(len(read_samples(folder)) == 1 for folder in made)
    said = capsys.readouterr().err
    assert all(str(folder) in said for folder in made)


def test_every_option_reaches_the_request() -> None:
    assert run(
        "eval r2r --data data --out r --agent mapgpt --model builtin/heuristic"
        " --model-role oracle=builtin/random --cot --reflect --plan --act tool --dialogue"
        " --oracle assistant --oracle-budget 2 --max-questions 1 --max-steps 7 --max-reasks 1"
        " --views 0 --epochs 2 --seed 5 --limit 1"
    ) == 0  # fmt: skip
    asked = read_run("r")["request"]
    told = {
        "agent": "mapgpt", "model": "builtin/heuristic", "oracle_model": "builtin/random",
        "cot": True, "reflect": True, "plan": True, "act": "tool", "dialogue": True,
        "oracle": "assistant", "oracle_budget": 2, "max_questions": 1, "max_steps": 7,
        "max_reasks": 1, "views": 0, "epochs": 2, "seed": 5, "backend": "auto",
        "light": "baked",
        "task": "r2r", "split": "val_unseen",
    }  # fmt: skip
    assert told.items() <= asked.items()
    assert read_run("r")["where"] == {"data": "data"}
    assert [prompt["name"] for prompt in asked["prompt_files"]] == [
        "navigator",
        "oracle",
        "dialogue_oracle",
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("eval r2r --out r", "--data DIR"),
        ("eval r2r --data nowhere --out r", "nowhere"),
        ("eval r2r --data data/r2r/R2R_val_unseen.json --out r", "it is a file"),
        ("eval r2r --data data --split tset --out r", "no split 'tset'"),
        ("eval r3r --data data --out r", "r3r"),
        ("eval r2r --data data --agent navgtp --out r", "Did you mean 'navgpt'"),
        ("eval r2r --data data --agent random --model openai/x --out r", "takes no --model"),
        ("eval r2r --data data --model opneai/x --agent navgpt --out r", "openai"),
        ("eval r2r --data data --model-role judge=builtin/random --out r", "no role 'judge'"),
        ("eval r2r --data data --few-shot-failures 2 --out r", "go together"),
        ("eval r2r --data data --few-shot-failures 1 --failures-from data --out r", "is not a run"),
        ("eval r2r --data data --backend grahp --out r", "Did you mean 'graph'"),
        ("eval r2r --data data --captions none.json --out r", "none.json"),
        ("eval r2r --data data --subset none.json --out r", "none.json"),
        ("eval r2r --data data --sample-id 9_9 --out r", "no sample '9_9'"),
        ("eval r2r --data data --max-steps 0 --out r", "--max-steps"),
        (
            "eval r2r --data data --oracle-budget 2 --out r",
            "does nothing without --oracle assistant",
        ),
        ("eval r2r --data data --max-questions 2 --out r", "does nothing without --dialogue"),
        (
            "eval r2r --data data --model-role oracle=builtin/random --out r",
            "--model-role oracle does nothing without --dialogue or --oracle assistant",
        ),
        ("eval r2r --data data --views 5 --out r", "views is 5"),
        ("eval r2r --data data --out data", "holds other files"),
        ("eval scene demo:vila --out r", "Did you mean 'villa'"),
        ("eval scene demo: --kind coarse --out r", "--kind"),
        ("eval objectnav --data data --n 0 --out r", "--n"),
    ],
)
def test_what_people_get_wrong_is_one_line(
    words: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(words) == 1
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1
    assert not Path("r").exists()


def test_a_missing_scan_names_itself(capsys: pytest.CaptureFixture[str]) -> None:
    Path("data/connectivity/scanA_connectivity.json").unlink()
    assert run("eval r2r --data data --out r") == 1
    assert "scanA" in capsys.readouterr().err


def test_the_model_of_the_environment_is_for_agents_that_take_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NAVLOOM_MODEL", "builtin/random")
    assert run("eval r2r --data data --agent shortest-path --out r --limit 1") == 0
    assert read_run("r")["request"]["model"] == "builtin/heuristic"
    assert run("eval r2r --data data --agent navgpt --out r2 --limit 1") == 0
    assert read_run("r2")["request"]["model"] == "builtin/random"


def test_a_dry_run_writes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        run("eval r2r --data data --agent navgpt --model openai/gpt-4o-mini --out r --dry-run") == 0
    )
    out, err = capsys.readouterr()
    assert out.count("=== ") == 1
    assert "You steer a robot" in out
    assert "6 episodes in 1 scene, nobody was called" in err
    assert "cost: $" in err
    assert not Path("r").exists()


def test_json_is_the_summary(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("eval r2r --data data --agent shortest-path --out r --json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["scores"]["metrics"]["SR"] == {"mean": 1.0, "interval": [1.0, 1.0], "n": 6}
    assert said["ok"] == 6


def test_flags_come_from_a_file() -> None:
    Path("c.yaml").write_text("data: data\nagent: mapgpt\ncot: true\nmax-steps: 4\nlimit: 1\n")
    assert run("eval r2r --run-config c.yaml --out r") == 0
    asked = read_run("r")["request"]
    assert (asked["agent"], asked["cot"], asked["max_steps"]) == ("mapgpt", True, 4)


def test_retry_and_report_know_an_evaluation(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("eval r2r --data data --out r --limit 2") == 0
    assert run("retry r") == 0
    assert "no errors to try again" in capsys.readouterr().err
    _, broken = records(Path("r"))
    rewrite(Path("r"), lambda rows: rows[:1])
    rewrite(Path("r"), lambda _: [broken | {"status": "error"}], "errors.jsonl")
    assert run("retry r") == 0
    # What ended in an error, and nothing that was left: a retry must not run up a bill.
    assert "2 episodes" in capsys.readouterr().out
    assert run("eval r2r --data data --out r") == 0
    capsys.readouterr()
    assert main(["report", "r"]) == 0
    assert Path("r/report.html").exists()
    out, err = capsys.readouterr()
    assert "\nSR " in out
    assert len((out + err).splitlines()) <= 32
    assert "wrote r/report.html" in err
    assert main(["report", "r", "--out", "page", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["files"] == ["page/report.md", "page/report.html", "page/errors.png"]
    assert said["runs"][0]["episodes"] == 6


def test_runs_of_two_kinds_have_no_report_in_common(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("synth single demo:flat --n 1 --out s") == 0
    assert run("eval r2r --data data --out r --limit 1") == 0
    capsys.readouterr()
    assert main(["report", "r", "s"]) == 1
    assert "no report in common" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        "report r",
        "export r --out t",
        "eval r2r --data data --few-shot-failures 1 --failures-from r --out e",
    ],
)
def test_a_run_of_captions_is_refused_by_its_kind(
    words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("caption demo:flat --limit 1 --out r") == 0
    capsys.readouterr()
    assert main(words.split()) == 1
    err = capsys.readouterr().err
    assert "caption" in err
    assert err.count("\n") == 1
    assert not Path("e").exists()


@pytest.mark.slow
def test_dialogue_is_four_runs_and_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("eval dialogue --data data --out d --limit 3") == 0
    out = capsys.readouterr().out
    for arm in ("no-ask", "ask", "ask-no-arrival", "bound"):
        assert f"| {arm} | 3 |" in out
        assert len(read_samples(f"d/{arm}")) == 3
    assert read_run("d/ask")["request"]["dialogue"] is True
    assert run("eval dialogue --data data --out d --limit 3") == 0
    assert capsys.readouterr().out == out
    assert run("eval dialogue --data data --out d --limit 3 --json") == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert list(runs) == ["no-ask", "ask", "ask-no-arrival", "bound"]
    assert all(0 <= runs[arm]["metrics"]["SR"]["mean"] <= 1 for arm in runs)
    assert runs["ask"]["paired"]["SR"]["n"] == 3
    assert run("eval dialogue --data data --out d/ask") == 1


def test_a_role_of_the_environment_is_for_commands_that_have_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NAVLOOM_MODEL_ROLE", "oracle=builtin/random")
    assert run("eval r2r --data data --agent random --out r --limit 1") == 0


@pytest.mark.slow
def test_the_oracle_study_looks_for_failures_in_a_part(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("study oracle r2r --data data --agent random --limit 1 --arm bound --out o") == 0
    assert len(read_samples("o/base")) == 1
    assert "| again | 1 |" in capsys.readouterr().out


@pytest.mark.slow
def test_the_oracle_study_helps_with_what_failed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("study oracle r2r --data data --agent random --out o") == 0
    out = capsys.readouterr().out
    hard = set(json.loads(Path("o/hard.json").read_text())["ids"])
    failed = {row["id"] for row in read_samples("o/base") if row["status"] == "failed"}
    assert hard == failed
    for arm in ("again", "assistant-map", "failures-3", "dialogue-path", "random", "bound"):
        assert f"| {arm} | {len(hard)} |" in out
        assert {row["id"] for row in read_samples(f"o/{arm}")} == hard
    assert run("study oracle r2r --data data --agent shortest-path --out p") == 1
    assert "nothing failed" in capsys.readouterr().err
