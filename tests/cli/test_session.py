"""Options around a session: a config file, roles, a dry run, a retry, the cache."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from navloom.cli.main import main
from navloom.errors import RunError
from navloom.evals.navcraft.request import SynthRequest
from navloom.evals.run_folder import read_run, read_samples
from navloom.models import get_model
from navloom.models.response_cache import ResponseCache, cache_key
from navloom.testing import ModelServer, Status, reply_with
from tests.judges.paths import record


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Any:
    with ModelServer(reply_with(get_model("builtin/heuristic"))) as made:
        monkeypatch.setenv("OPENAI_BASE_URL", made.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-a-key-of-a-test-0123456789")
        yield made


def synth(*words: str) -> int:
    return main(["synth", "single", *words, "--display", "none"])


def test_a_config_file_fills_in_what_is_not_typed(tmp_path: Path) -> None:
    Path("run.yaml").write_text(
        "spec: demo:flat\nn: 3\nseed: 5\nout: r\nprofile: [child, none]\nconstrain: false\n"
        "max_turns: 9\nno-cache: true\n"
    )
    assert synth("--run-config", "run.yaml", "--n", "2") == 0
    asked = read_run("r")["request"]
    assert (asked["spec"], asked["n"], asked["seed"]) == ("demo:flat", 2, 5)
    assert (asked["profile"], asked["constrain"], asked["max_turns"]) == (
        ["child", "none"],
        False,
        9,
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("modle: builtin/random", "'modle' is no flag of `navloom synth single`. Did you mean"),
        ("api_key: sk-1", "'api_key' is no flag"),
        ("run-config: other.yaml", "'run-config' is no flag"),
        ("n: [1, 2]", "'n' takes one value, got a list of 2"),
        ("n: many", "'n' in c.yaml"),
        ("n: 0", "'n' in c.yaml"),
        ("n: {a: 1}", "c.yaml"),
        ("- n", "c.yaml"),
        ("n: 1\nn: 2", "stands twice"),
        ("n: [", "c.yaml"),
    ],
)
def test_a_wrong_config_file_is_one_line(
    text: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("c.yaml").write_text(text)
    assert synth("demo:flat", "--out", "r", "--run-config", "c.yaml") == 1
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1
    assert not Path("r").exists()


def test_a_config_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert synth("demo:flat", "--out", "r", "--run-config", "none.yaml") == 1
    assert "none.yaml" in capsys.readouterr().err


def test_a_role_has_its_model() -> None:
    role = ("--model-role", "generator=builtin/random")
    assert synth("demo:flat", "--out", "r", "--n", "1", *role) == 0
    assert read_run("r")["request"]["model"] == "builtin/random"


@pytest.mark.parametrize(
    ("role", "said"),
    [
        ("generater=builtin/random", "no role 'generater' here. Did you mean 'generator'?"),
        ("judge=builtin/random", "no role 'judge' here. Roles: generator."),
        ("generator", "write ROLE=PROVIDER/NAME"),
        ("generator=", "write ROLE=PROVIDER/NAME"),
        ("generator=bultin/random", "No model provider 'bultin'"),
    ],
)
def test_a_wrong_role_is_one_line(role: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert synth("demo:flat", "--out", "r", "--model-role", role) == 1
    assert said in capsys.readouterr().err


def test_a_dry_run_shows_prompts_calls_and_cost(
    server: ModelServer, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("demo:", "--model", "openai/gpt-4o-mini", "--n", "200", "--out", "r", "--dry-run")
    assert synth(*words) == 0
    shown = capsys.readouterr()
    assert "--- human" in shown.out
    assert "Random seed:" in shown.out
    assert "200 attempts in 3 homes, nobody was called" in shown.err
    assert "calls: 200 at least, 2400 at most" in shown.err
    assert "cost: $0.0" in shown.err
    assert synth(*words, "--json") == 0
    assert json.loads(capsys.readouterr().out)["calls"] == [200, 2400]
    assert server.calls == []
    assert not Path("r").exists()


def test_retry_goes_on_with_what_run_json_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a-key-of-a-test-0123456789")
    faults = [Status(500), Status(500)]
    with ModelServer(reply_with(get_model("builtin/heuristic")), faults=faults) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        words = ("--n", "3", "--model", "openai/x", "--out", "r", "--max-connections", "1")
        assert synth("demo:flat", *words) == 2
        assert "navloom retry r tries them again" in capsys.readouterr().err
        assert main(["retry", "r", "--display", "none", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["error"], said["left"], len(read_samples("r"))) == (0, 0, 3)
    monkeypatch.setenv("NAVLOOM_RUN_CONFIG", "of-synth.yaml")
    assert main(["retry", "nowhere", "--display", "none"]) == 1
    assert "nowhere is not a run" in capsys.readouterr().err


def test_a_limit_ends_with_exit_code_2_and_says_what_to_do(
    server: ModelServer, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("demo:flat", "--model", "openai/gpt-4o-mini", "--n", "9", "--out", "r")
    assert synth(*words, "--token-limit", "5000", "--max-connections", "2") == 2
    err = capsys.readouterr().err
    assert "--token-limit 5000 is reached" in err
    assert "the same command with a higher limit goes on" in err
    assert synth(*words, "--token-limit", "5000000") == 0
    assert len(read_samples("r")) == 9


def test_replies_are_kept_unless_told_otherwise(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("NAVLOOM_NO_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(Path("home").absolute()))
    words = ("demo:flat", "--model", "openai/gpt-4o-mini", "--n", "2")
    assert synth(*words, "--out", "a") == 0
    made = len(server.calls)
    assert synth(*words, "--out", "b") == 0
    assert len(server.calls) == made
    assert f"{made} replies from the cache" in capsys.readouterr().err
    assert synth(*words, "--out", "c", "--no-cache") == 0
    assert len(server.calls) == 2 * made
    assert synth(*words, "--out", "d", "--cache", "mine") == 0
    assert len(server.calls) == 3 * made
    capsys.readouterr()
    assert main(["cache", "info", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["entries"] == made
    assert main(["cache", "info", "--cache", "mine"]) == 0
    assert f"mine: {made} replies, " in capsys.readouterr().out


def test_a_users_folder_that_cannot_be_used_stops_no_run(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("NAVLOOM_NO_CACHE")
    Path("file").write_text("x")
    monkeypatch.setenv("XDG_CACHE_HOME", str(Path("file").absolute()))
    words = ["synth", "single", "demo:flat", "--model", "openai/x", "--n", "1", "--out"]
    assert main([*words, "a", "--display", "plain"]) == 0
    assert "no replies are kept: cannot keep replies in" in capsys.readouterr().err
    assert main([*words, "b", "--cache", "file", "--display", "none"]) == 1
    assert "cannot keep replies in file" in capsys.readouterr().err


def test_pruning_by_age(capsys: pytest.CaptureFixture[str]) -> None:
    from langchain_core.messages import AIMessage

    cache = ResponseCache("c")
    for epoch in range(3):
        key = cache_key(model="a/b", messages=[], bound={}, sampling={}, epoch=epoch)
        cache.put(key, "a/b", AIMessage("x"))
    old = next(iter(Path("c/replies").glob("*/*")))
    os.utime(old, (1e9, 1e9))
    assert main(["cache", "prune", "--cache", "c", "--older-than", "30d"]) == 0
    assert "c: 1 replies deleted" in capsys.readouterr().out
    assert main(["cache", "prune", "--cache", "c", "--older-than", "a while"]) == 1
    assert "such as 30d" in capsys.readouterr().err
    assert main(["cache", "prune", "--cache", "c"]) == 0
    assert "c: 2 replies deleted" in capsys.readouterr().out
    assert main(["cache", "info", "--cache", "nowhere"]) == 0
    assert "nowhere: 0 replies" in capsys.readouterr().out
    assert not Path("nowhere").exists()


def test_a_key_may_stand_in_an_env_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "")
    key = "sk-from-a-file-0123456789"
    Path(".env").write_text(f"OPENAI_API_KEY={key}\n")
    with ModelServer(reply_with(get_model("builtin/heuristic")), key=key) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        assert synth("demo:flat", "--model", "openai/x", "--n", "1", "--out", "r") == 0
    assert key not in Path("r/run.json").read_text()


def test_a_dry_run_makes_no_cache_and_believes_no_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NAVLOOM_CACHE", str(tmp_path / "kept"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    words = ("demo:flat", "--n", "2", "--out", "r", "--dry-run")
    assert synth(*words, "--model", "openai/gpt-4o,max_tokens=100,seed=1") == 0
    # Two attempts of twelve turns, each reply as long as may be.
    assert "out: at most 2,400" in capsys.readouterr().err
    assert not (tmp_path / "kept").exists()
    assert synth(*words, "--model", "openai/gpt-4o,base_url=nonsense") == 1
    assert "base_url is no address" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["captions", "reasons", "reasons of known truth"])
def test_retry_needs_no_word_about_runs_of_any_kind(
    kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = {"id": "a", "explanation": "The door is too narrow.", "record": record()}
    Path("answers.jsonl").write_text(json.dumps(answer) + "\n")
    words = {
        "captions": "caption demo:flat --job summary --out r --limit 2",
        "reasons": "judge reasoning answers.jsonl --out r",
        "reasons of known truth": "judge calibrate reasoning demo:flat --n 8 --limit 2 --out r",
    }[kind]
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a-key-of-a-test-0123456789")
    faults = [Status(500), Status(500)]
    with ModelServer(reply_with(get_model("builtin/heuristic")), faults=faults) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        how = ["--model", "openai/x", "--max-connections", "1", "--display", "none"]
        assert main([*words.split(), *how]) == 2
        assert "navloom retry r tries them again" in capsys.readouterr().err
        assert main(["retry", "r", "--display", "none", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["error"] == 0


def test_a_run_of_older_options_is_told_what_reads_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert synth("demo:flat", "--out", "r", "--n", "1") == 0
    said = read_run("r")
    said["request"]["max_repairs"] = said["request"].pop("max_reasks")
    Path("r/run.json").write_text(json.dumps({**said, "navloom": "0.0.9", "request_hash": "old"}))
    capsys.readouterr()
    assert synth("demo:flat", "--out", "r", "--n", "1") == 1
    err = capsys.readouterr().err
    assert "max_repairs was 3, now null" in err
    assert "navloom 0.0.9 made it and goes on with it" in err
    with pytest.raises(RunError, match=r"has 'max_repairs'\. navloom 0\.0\.9 made and reads it"):
        SynthRequest.read("r")
