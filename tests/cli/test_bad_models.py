"""What models and their servers get wrong, through the command line: failed, or error, and said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from navloom.cli.main import main
from navloom.evals.run_folder import read_errors, read_samples
from navloom.models import get_model
from navloom.testing import ModelServer, Status, reply_with

KEY = "sk-a-key-of-a-test-0123456789"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def synth(
    server: ModelServer, out: str, monkeypatch: pytest.MonkeyPatch, *more: str, n: int = 1
) -> int:
    monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    words = ["synth", "single", "demo:flat", "--model", "openai/x", "--out", out, *more]
    return main([*words, "--n", str(n), "--display", "none"])


INVENTED = {
    "Single robot start region": {"robot_1": "Moonbase_9"},
    "Single robot target object region": {"robot_1": "Kitchen_3"},
    "Target object": "cup",
    "Single robot end region": {"robot_1": "Bedroom_4"},
    "Single robot travel path": {"robot_1": ["Moonbase_9 -> Kitchen_3"]},
    "Task instruction": "Take the cup from Kitchen_3 to the bed in Bedroom_4.",
}
LOOP = {"start_region": "Moon_1", "target_region": "Moon_2", "end_region": "Moon_3"}


@pytest.mark.parametrize(
    ("name", "reply", "reason"),
    [
        ("prose", "I would love to help you with that!", "not_json"),
        ("silence", "", "not_json"),
        ("wrong", '{"foo": 1}', "wrong_form"),
        ("torn", '{"phase_1": {"Target object"', "not_json"),
        ("moon", json.dumps({"phase_1": INVENTED}), None),
        ("loop", {"name": "check_two_path_and_adjacency", "args": LOOP}, "repeated_call"),
        ("unknown", {"name": "rm_rf", "args": {"path": "/"}}, "repeated_call"),
        ("giant", "A" * 3_000_000, "not_json"),
        ("fat", {"name": "check_path_and_adjacency", "args": {"a": "A" * 900_000}}, None),
    ],
)
def test_a_model_that_does_not_manage_is_counted_as_failed(
    name: str, reply: Any, reason: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer(lambda _: reply) as server:
        assert synth(server, f"model-{name}", monkeypatch) == 0
        assert 3 <= len(server.calls) <= 12
        # What nobody can use is not sent back to the model either.
        assert all(len(json.dumps(call.body)) < 100_000 for call in server.calls)
    (row,) = read_samples(f"model-{name}")
    assert row["status"] == "failed"
    assert row["reason"] == reason or reason is None
    assert row["message"]
    assert row["usage"]["calls"] >= 3
    assert read_errors(f"model-{name}") == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "fault", "said"),
    [
        ("401", Status(401, text=f"bad key {KEY}"), "the key was refused; check OPENAI_API_KEY"),
        ("404", Status(404), "no such model at"),
        ("quota", Status(429, code="insufficient_quota"), "the account has no credit left"),
    ],
)
def test_a_server_that_refuses_ends_the_session_in_one_line(
    name: str,
    fault: Status,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = f"server-{name}"
    with ModelServer(lambda _: "x", faults=lambda _: fault) as server:
        assert synth(server, out, monkeypatch, "--max-connections", "2", n=20) == 1
        assert len(server.calls) <= 2, "a refused key is not tried sample after sample"
    err = capsys.readouterr().err
    assert f"navloom: openai/x: {said}" in err
    assert KEY not in err
    assert read_samples(out) == read_errors(out) == []
    with ModelServer(reply_with(get_model("builtin/heuristic"))) as server:
        assert synth(server, out, monkeypatch, "--max-connections", "2", n=20) == 0
    assert len(read_samples(out)) == 20


def test_who_mends_address_and_key_needs_no_new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer(lambda _: "x", key="another") as server:
        assert synth(server, "mended", monkeypatch) == 1
    with ModelServer(reply_with(get_model("builtin/heuristic"))) as server:
        assert synth(server, "mended", monkeypatch) == 0
    assert len(read_samples("mended")) == 1


def test_a_password_in_an_address_is_written_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://me:hush4567pw@127.0.0.1:9/v1?key=quiet4567")
    words = ["synth", "single", "demo:flat", "--n", "1", "--max-retries", "0", "--out", "r"]
    assert main([*words, "--model", "openai/gpt-4o", "--display", "none"]) == 2
    err = capsys.readouterr().err
    assert "no connection to the server at http://127.0.0.1:9/v1; check OPENAI_BASE_URL" in err
    said = [err.encode(), *(file.read_bytes() for file in Path("r").iterdir() if file.is_file())]
    for secret in (b"hush4567pw", b"quiet4567"):
        assert not any(secret in each for each in said)
    monkeypatch.setenv("OPENAI_BASE_URL", "me:hush4567pw@127.0.0.1")
    assert main([*words[:-1], "r2", "--model", "openai/gpt-4o"]) == 1
    assert "hush" not in capsys.readouterr().err


def test_the_address_of_a_name_is_what_is_to_be_checked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    words = ["synth", "single", "demo:flat", "--n", "1", "--max-retries", "0", "--out", "r"]
    named = "openai/gpt-4o,base_url=http://127.0.0.1:9/v1"
    assert main([*words, "--model", named, "--display", "none"]) == 2
    assert "check base_url behind the model's name" in capsys.readouterr().err


def test_a_prompt_that_does_not_fit_a_server_is_said_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told = "This model's maximum context length is 8192 tokens. However, you gave 9001."
    fault = Status(400, text=told, code="context_length_exceeded")
    with ModelServer(lambda _: "x", faults=lambda _: fault) as server:
        assert synth(server, "long", monkeypatch) == 2
    err = capsys.readouterr().err
    assert "the prompt does not fit the model's context: use a model with a longer one" in err
    assert "8192" in err
