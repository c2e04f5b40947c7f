"""What a run is worth does not depend on the order in which its samples ended."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from navloom.cli.main import main

WALKS = ["eval", "scene", "demo:flat", "--agent", "random", "--epochs", "2", "--n"]
RELAYS = ["synth", "collab", "demo:", "--model", "builtin/random", "--n"]
RUNS = [
    pytest.param([*WALKS, "3"], id="walks", marks=pytest.mark.slow),
    pytest.param(["synth", "capnav", "demo:", "--model", "builtin/random"], id="questions"),
    pytest.param([*WALKS, "9"], id="more walks", marks=pytest.mark.slow),
    pytest.param([*RELAYS, "6"], id="relays", marks=pytest.mark.slow),
]


@pytest.mark.slow
@pytest.mark.parametrize("words", RUNS)
def test_a_report_is_the_same_for_any_order_of_lines(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said: list[Any] = []
    for number, connections in enumerate((1, 8)):
        run = tmp_path / str(number) / "run"
        command = [*words, "--out", str(run), "--display", "none"]
        assert main([*command, "--max-connections", str(connections)]) == 0
        said.append(_report(run, capsys))
    file = run / "samples.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    random.Random(5).shuffle(lines)
    file.write_text("".join(lines))
    said.append(_report(run, capsys))
    assert said[0] == said[1] == said[2]


def _report(run: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    capsys.readouterr()
    assert main(["report", str(run), "--json"]) == 0
    text = capsys.readouterr().out.replace(str(run), "RUN")
    return _timeless(json.loads(text))


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _timeless(each) for key, each in value.items() if "second" not in key}
    return [_timeless(each) for each in value] if isinstance(value, list) else value
