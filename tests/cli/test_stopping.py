"""SIGINT and SIGTERM before a run's own handlers stand: one line, exit code 130, nothing broken."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from navloom.cli.main import main

ROOT = Path(__file__).parents[2]
MOMENTS = [
    # A module whose import begins.
    "typer",
    "navloom.cli.main",
    "navloom.graphs.agent_graph",
    "langchain_core.messages",
    "langgraph.pregel",
    "navloom.evals.runner",
]


_AT_IMPORT = """
import os, runpy, signal, sys
# Who runs the tests in the background has it ignored, and so would this.
signal.signal(signal.SIGINT, signal.default_int_handler)
_, moment, number, *words = sys.argv
def stop(event, args):
    global moment
    if event == "import" and args[0] == moment:
        moment = None
        os.kill(os.getpid(), int(number))
sys.addaudithook(stop)
sys.argv = ["navloom", *words]
runpy.run_module("navloom", run_name="__main__", alter_sys=True)
"""


def stopped(words: list[str], moment: str, number: int) -> tuple[int, list[str]]:
    """A process that gets a signal at a moment; its exit code and what it said besides.

    At the import of a module it sends the signal to itself, so that no other moment is met.
    """
    command = [sys.executable, "-c", _AT_IMPORT, moment, str(int(number)), *words]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    assert process.stderr is not None
    said = []
    for raw in process.stderr:
        said.append(raw.decode().rstrip("\n"))
        if moment in said[-1]:
            process.send_signal(number)
    return process.wait(30), said


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["term", "int"])
@pytest.mark.parametrize(
    "moment",
    [m if m in ("typer", "langgraph.pregel") else pytest.param(m, marks=pytest.mark.slow)
     for m in [*MOMENTS, "looking for possible errands"]],
)  # fmt: skip
def test_a_stop_before_a_run_is_under_way_is_one_line(
    tmp_path: Path, moment: str, number: int
) -> None:
    run = str(tmp_path / "run")
    words = ["synth", "single", "demo:", "--n", "3", "--display", "plain", "--out", run]
    code, said = stopped(words, moment, number)
    assert code == 130, said
    said = [line for line in said if not line.startswith("looking")]
    assert len(said) == 1, said
    assert said[0].startswith("navloom: stopped")
    assert main(words) == 0
    assert not [path for path in tmp_path.iterdir() if path.name != "run"]


def test_a_stop_within_code_that_is_made_from_text_has_our_exit_code(tmp_path: Path) -> None:
    """Dataclasses are: Python then ends as if nobody had caught the interrupt."""
    (tmp_path / "halfway.py").write_text("""
import sys
import navloom.__main__ as first, navloom.cli.main as door
door.main(["models", "--nope"])
def half(*_):
    exec("import os, signal; os.kill(os.getpid(), signal.SIGTERM); sum(range(10**6))")
door.redaction.load_keys = half
sys.argv = ["navloom", "models"]
sys.exit(first.main())
""")
    there = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"}
    command = [sys.executable, "-m", "halfway"]
    ended = subprocess.run(command, capture_output=True, text=True, env=there, check=False)
    assert ended.returncode == 130, ended.stderr
    assert ended.stderr.splitlines()[-1].startswith("navloom: stopped")


def test_signals_that_are_ignored_stay_so_and_others_come_back() -> None:
    mine = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        assert main(["models"]) == 0
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, mine)
    assert main(["models"]) == 0
    assert signal.getsignal(signal.SIGTERM) == mine


def test_a_stop_in_the_middle_of_anything_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def half(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr("navloom.models.redaction.load_keys", half)
    assert main(["models"]) == 130
    assert capsys.readouterr().err == (
        "navloom: stopped: the same command goes on from what is finished.\n"
    )
