"""``navloom calls``: what a run asked its models, for a person and for a program."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from navloom.cli.main import main
from navloom.evals.call_log import NAME
from navloom.evals.run_folder import read_samples
from tests.evals.test_call_log import call, write

SYNTH = "synth single demo: --n 4 --display none --out"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("calls") / "r"
    assert main([*SYNTH.split(), str(made)]) == 0
    return made


def shown(capsys: Any, *words: str) -> str:
    assert main(["calls", *words]) == 0
    said: str = capsys.readouterr().out
    return said


def test_a_table_of_samples_has_the_runs_own_sums(run: Path, capsys: Any) -> None:
    capsys.readouterr()
    lines = read_samples(run)
    usage = [line["usage"] for line in lines]
    table = shown(capsys, str(run))
    assert all(line["id"] in table for line in lines)
    (last,) = [line for line in table.splitlines() if "4 samples" in line]
    sums = [sum(each[key] for each in usage) for key in ("calls", "input_tokens", "output_tokens")]
    cells = re.split(r"\s{2,}", last.strip())
    assert [cells[1], *cells[5:7]] == [f"{each:,}" for each in sums]
    said = json.loads(shown(capsys, str(run), "--json"))
    assert {name: each["calls"] for name, each in said.items()} == {
        line["id"]: line["usage"]["calls"] for line in lines
    }


def test_a_samples_calls_are_folded_and_one_is_whole(run: Path, capsys: Any) -> None:
    name = read_samples(run)[0]["id"]
    told = json.loads(shown(capsys, str(run), name, "--json"))
    every = shown(capsys, str(run), name)
    assert every.count("=== call ") == len(told) > 1
    assert "--- tools: check_two_path_and_adjacency, check_path_and_adjacency\n" in every
    assert "--- schema: phase_1\n" in every
    system = told[0]["messages"][0]["content"]
    assert f"--- system: {len(system):,} characters, as in call 1\n" in every
    assert system not in every
    assert system[:1000] in every
    assert f"[… {len(system) - 1600:,} characters; --call 1 shows all …]" in every
    one = shown(capsys, str(run), name, "--call", "2")
    for message in told[1]["messages"]:
        assert message["content"] in one
    assert json.dumps(told[1]["tools"], ensure_ascii=False) in one
    assert json.loads(shown(capsys, str(run), name, "--call", "2", "--json")) == told[1]


def test_texts_cannot_steer_the_terminal(run: Path, tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "run.json").write_bytes((run / "run.json").read_bytes())
    steering = "\x1b[2J\x1b]0;title\x07 \x9b31m ‮"
    messages = [SystemMessage(steering), HumanMessage([{"type": "text", "text": steering}])]
    reply = AIMessage(steering, tool_calls=[{"name": steering, "args": {}, "id": steering}])
    bound = {"tools": [{"name": steering}], "response_format": {"title": steering}}
    write(tmp_path, [call(messages=messages, reply=reply, bound=bound, model=steering)])
    for words in ([], ["s"], ["s", "--call", "1"], ["s", "--json"], ["--json"]):
        said = shown(capsys, str(tmp_path), *words)
        assert not set(said) & set("\x1b\x07\x9b‮"), words


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("demo-flat-0000", "keeps no calls of 'demo-flat-0000'. Did you mean 'demo-flat-0000"),
        ("demo-flat-00000 --call 99", "--call 99: 'demo-flat-00000' has 2 calls"),
        ("--call 1", "--call needs the ID of a sample"),
    ],
)
def test_mistakes_are_one_line(run: Path, words: str, said: str, capsys: Any) -> None:
    assert main(["calls", str(run), *words.split()]) == 1
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_a_run_without_calls_says_so(tmp_path: Path, capsys: Any) -> None:
    assert main([*SYNTH.split(), str(tmp_path / "r"), "--no-calls"]) == 0
    assert not (tmp_path / "r" / NAME).exists()
    capsys.readouterr()
    assert main(["calls", str(tmp_path / "r")]) == 1
    assert "keeps no calls: it was made with --no-calls" in capsys.readouterr().err
    assert main(["calls", str(tmp_path)]) == 1
    assert "is not a run" in capsys.readouterr().err
