"""What others wrote steers no terminal: scenes, servers, runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import navloom.cli
from navloom.cli.main import main
from navloom.models.model_registry import get_model
from navloom.scenes import load_scene
from navloom.testing.faults import Status
from navloom.testing.mock_server import ModelServer
from navloom.testing.wire_protocols import reply_with
from tests.evals.lines import records

STEERS = "\x1b]0;owned\x07\x1b[2J\x9b31m"


def _written(capsys: pytest.CaptureFixture[str]) -> str:
    said = capsys.readouterr()
    text = said.out + said.err
    assert "owned" in text
    assert not any(mark in text for mark in ("\x1b", "\x07", "\x9b"))
    return text


def test_notes_and_names_of_a_scene(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home: dict[str, Any] = json.loads(load_scene("demo:flat").model_dump_json())
    home["notes"] = [f"a note {STEERS}"]
    (tmp_path / "home.json").write_text(json.dumps({"version": "navloom.scene/1", **home}))
    main(["scenes", "show", str(tmp_path / "home.json")])
    _written(capsys)


def test_words_of_a_server_and_what_a_run_keeps_of_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer(
        reply_with(get_model("builtin/heuristic")),
        faults=lambda _: Status(500, text=f"oh {STEERS}"),
    ) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", "not-a-real-key-000")
        asked = ["synth", "single", "demo:flat", "--n", "1", "--model", "openai/gpt-4o-mini"]
        assert main([*asked, "--max-retries", "0", "--out", str(tmp_path / "r")]) == 2
    _written(capsys)


def test_lines_of_a_run_in_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "r"
    assert main(["synth", "single", "demo:flat", "--n", "1", "--out", str(run)]) == 0
    said = json.loads((run / "run.json").read_text())
    del said["line_check"]
    for name, rows in (("run.json", [said]), ("samples.jsonl", records(run))):
        steers = json.dumps(f"builtin/{STEERS}owned")[1:-1]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (run / name).write_text(text.replace("builtin/heuristic", steers))
    capsys.readouterr()
    main(["report", str(run), "--out", str(tmp_path / "page")])
    _written(capsys)


def test_no_command_writes_another_way() -> None:
    room = Path(navloom.cli.__file__ or "").parent
    others = [
        path.name
        for path in room.rglob("*.py")
        if any(word in path.read_text() for word in (" print(", "sys.stdout.write("))
    ]
    assert others == []
