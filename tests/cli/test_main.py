"""The door: light at start-up, one line for a mistake, the right exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from navloom.cli.main import main
from navloom.errors import SceneError
from tests.cli.small import small_file

HEAVY = ["langgraph", "langchain_core", "numpy", "networkx", "pydantic", "matplotlib", "openai"]
HEAVY += ["PIL", "yaml", "rich"]


def navloom(*words: str, **more: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "navloom.cli.main", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, **more)  # type: ignore[call-overload,no-any-return]


def test_no_command_imports_anything_heavy_before_it_is_called() -> None:
    script = "import sys; from importlib import import_module; import navloom.cli.main as door\n"
    script += "for file in door._COMMANDS.values(): import_module('navloom.cli.' + file)\n"
    script += f"print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("words", [["--help"], ["scenes", "--help"], ["scenes", "list", "--help"]])
def test_help_is_a_result(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert "Usage: " in out
    assert err == ""


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("navloom 0.")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["docter"], "Did you mean 'doctor'? See `navloom --help`."),
        (["scenes", "list", "--jsn"], "--json"),
        (["scenes", "show"], "Missing argument 'URI'. See `navloom scenes show --help`."),
        (["scenes", "annotate", "demo:", "--seed", "x"], "--seed"),
        (["scenes", "show", "hm4d:x/y"], "hm3d"),
    ],
)
def test_a_mistake_is_one_line_and_exit_1(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("navloom: ")
    assert err.count("\n") == 1
    assert said in err


@pytest.mark.parametrize("words", [[], ["scenes"]])
def test_no_command_shows_the_help(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 1
    assert "Usage: " in capsys.readouterr().out


def breaking(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def fail(_: object) -> None:
        raise error

    monkeypatch.setattr("navloom.evals.run_scenes.scene_counts", fail)


def test_a_navloom_error_is_its_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    breaking(monkeypatch, SceneError("two\nlines"))
    assert main(["scenes", "show", small_file(tmp_path)]) == 1
    assert capsys.readouterr().err == "navloom: two lines\n"


def test_ctrl_c_is_130(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    breaking(monkeypatch, KeyboardInterrupt())
    assert main(["scenes", "show", small_file(tmp_path)]) == 130
    assert "Traceback" not in capsys.readouterr().err


def test_a_defect_is_one_line_and_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv("NAVLOOM_DEBUG", raising=False)
    breaking(monkeypatch, KeyError("x"))
    assert main(["scenes", "show", small_file(tmp_path)]) == 70
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "a defect in Navloom, not in what you typed: KeyError: 'x'" in err
    (file,) = tmp_path.glob("navloom-*.txt")
    assert str(file) in err
    assert "Traceback" in file.read_text()

    monkeypatch.setenv("NAVLOOM_DEBUG", "1")
    assert main(["scenes", "show", small_file(tmp_path)]) == 70
    assert "Traceback" in capsys.readouterr().err


def test_a_closed_pipe_is_quiet(tmp_path: Path) -> None:
    uri = small_file(tmp_path)
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "navloom.cli.main", "scenes", "show", uri],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(write)
    assert done.stderr == ""
    assert done.returncode == 1
