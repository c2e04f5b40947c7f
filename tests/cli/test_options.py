"""One definition of an option: a flag, a variable, a key of a file and a keyword say the same."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from navloom.cli.main import main
from navloom.cli.options import CommandApp, with_options
from navloom.errors import UsageError
from navloom.evals.option import Opt, OptionField, options_of
from navloom.evals.progress import PlainDisplay
from navloom.evals.run_kinds import KINDS, get_kind
from navloom.evals.session import Session
from tests.cli.help_page import commands

REQUESTS = sorted({get_kind(name).request for name in KINDS}, key=lambda kind: kind.__name__)
TOGETHER = {
    # What an option needs beside it.
    "few_shot_failures": {"failures_from": "run"},
    "failures_from": {"few_shot_failures": 1},
    "choices": {"compact": True},
    "DirectRequest-tools": {"variant": "v2"},
    "drop_undriven": {"verify_sim": True},
    "partial": {"judge_model": "builtin/random"},
}
CLUSTERS = {"cluster": {"WORKERS": "2"}, "open_cluster": {"WORKERS": "2", "CLUSTER": "ray"}}
"""What no file may say, for it is an address, and the variables that each needs beside it."""
NEEDED = {"spec": "demo:", "task": "r2r"}
"""What a request cannot be without."""


def value_of(option: OptionField) -> Any:
    """Another value than the default."""
    if option.name == "profile":
        return ("child",)
    if option.name == "agent":
        return "mapgpt"
    if option.choices:
        other = [each for each in option.choices if each != option.default]
        return (other[0],) if option.many else other[0]
    if option.bare is bool:
        return option.default is not True
    if option.bare in (int, float):
        usual = 2 if option.name == "few_shot_failures" else max(option.opt.min or 0, 9)
        return option.bare(usual if option.opt.max is None else min(usual, option.opt.max))
    return ("a", "b") if option.many else "builtin/random" if "model" in option.name else "there"


def words_of(option: OptionField, value: Any) -> list[str]:
    """As it is typed."""
    if option.opt.argument:
        return [str(value)]
    if option.opt.role and not option.opt.help:
        return ["--model-role", f"{option.opt.role}={value}"]
    if option.bare is bool:
        return [f"--{option.key}" if value else f"--no-{option.key}"]
    return [word for each in several(value) for word in (f"--{option.key}", str(each))]


def several(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def cases() -> Iterator[Any]:
    for kind in REQUESTS:
        for option in options_of(kind):
            if option.name != "source":  # a run has to be there: tests/cli/test_bad_input.py
                yield pytest.param(kind, option, id=f"{kind.__name__}-{option.name}")


def asked_by(kind: Any, *words: str) -> Any:
    """The request that a command line asks for."""
    found: list[Any] = []

    def command(request: Any, session: Session) -> None:
        found.append(request)

    command.__annotations__ = {"request": kind, "session": Session}
    app, names = CommandApp(), {each.name for each in fields(kind)}
    settled = {n: v for n, v in NEEDED.items() if n in names and n != "spec"}
    app.command("it")(with_options(**settled)(command))
    app.command("other")(with_options()(lambda: None))
    app(["it", *words], standalone_mode=False)
    return found[0]


@pytest.mark.some(40)
@pytest.mark.parametrize(("kind", "option"), list(cases()))
def test_flag_variable_file_and_keyword_ask_for_the_same(
    kind: Any, option: OptionField, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NAVLOOM_DATA", str(tmp_path))
    named = {each.name: each for each in options_of(kind)}
    names = {each.name for each in fields(kind)}
    own = TOGETHER.get(f"{kind.__name__}-{option.name}")
    value, beside = value_of(option), own or TOGETHER.get(option.name, {})
    needed = {n: v for n, v in NEEDED.items() if n in names and n != option.name}
    wanted = kind(**{**needed, **beside, option.name: value})
    assert getattr(wanted, option.name) == value
    spec = ["demo:"] if "spec" in needed else []
    more = [word for n, v in beside.items() for word in words_of(named[n], v)]

    assert asked_by(kind, *spec, *more, *words_of(option, value)) == wanted
    if option.opt.argument:
        return
    said = [f"{option.opt.role}={value}"] if option.opt.role and not option.opt.help else value
    key = "model_role" if option.opt.role and not option.opt.help else option.key
    config = tmp_path / "run.yaml"
    listed = list(said) if isinstance(said, tuple) else said
    config.write_text(f"{key}: {str(listed).lower() if isinstance(said, bool) else listed!r}\n")
    assert asked_by(kind, *spec, *more, "--run-config", str(config)) == wanted
    variable = "NAVLOOM_MODEL_ROLE" if key == "model_role" else option.variable
    monkeypatch.setenv(
        variable, " ".join(map(str, several(said if key != "model_role" else said[0])))
    )
    assert asked_by(kind, *spec, *more) == wanted


@pytest.mark.parametrize("option", options_of(Session), ids=lambda option: option.name)
def test_a_session_is_asked_for_in_the_same_ways(
    option: OptionField, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[Session] = []

    def command(session: Session) -> None:
        found.append(session)

    app = CommandApp()
    app.command("it")(with_options()(command))
    app.command("other")(with_options()(lambda: None))
    value = {
        "display": "plain",
        "cache": tmp_path / "kept",
        "allow_address": ("http://gpu1:8000", "https://gpu2"),
        "cluster": "ray:10.0.0.5:6379",
    }.get(option.name, value_of(option))
    if option.name == "cache":
        monkeypatch.delenv("NAVLOOM_NO_CACHE")
    for name in CLUSTERS.get(option.name, {}):
        monkeypatch.setenv(f"NAVLOOM_{name}", CLUSTERS[option.name][name])
    app(["it", *words_of(option, value)], standalone_mode=False)
    config = tmp_path / "run.yaml"
    listed = list(value) if isinstance(value, tuple) else value
    config.write_text(f"{option.key}: {str(listed).lower() if option.bare is bool else listed}\n")
    if option.name in ("allow_address", *CLUSTERS):
        with pytest.raises(UsageError, match="is no flag"):
            app(["it", "--run-config", str(config)], standalone_mode=False)
    else:
        app(["it", "--run-config", str(config)], standalone_mode=False)
    monkeypatch.setenv(option.variable, " ".join(map(str, several(value))))
    app(["it"], standalone_mode=False)
    for session in found:
        said = getattr(session, option.name)
        assert isinstance(said, PlainDisplay) if option.name == "display" else said == value
    assert len(found) == (2 if option.name in ("allow_address", *CLUSTERS) else 3)


def test_every_option_of_a_request_is_one_of_some_command() -> None:
    reached: dict[Any, set[str]] = {kind: set() for kind in [*REQUESTS, Session]}
    for command, _ in commands():
        if command.callback is None:
            continue
        names = {param.name for param in command.params}
        own = inspect.signature(inspect.unwrap(command.callback), eval_str=True)
        for parameter in own.parameters.values():
            if parameter.annotation in reached:
                reached[parameter.annotation] |= names
    for kind, names in reached.items():
        flags = {o.name if o.opt.help else "model_role" for o in options_of(kind)}
        assert flags - names == set(), kind


def test_every_field_of_a_command_is_an_option_or_settled() -> None:
    """A name in `takes` that is no field would silently do nothing."""
    with pytest.raises(TypeError, match="nobody"):
        with_options("nobody")(lambda: None)

    def command(session: Session) -> None:
        del session

    with pytest.raises(TypeError, match="sample_ids"):
        with_options("sample_ids")(command)


@pytest.mark.parametrize(
    ("value", "said"),
    [(0, "expected 1 to 9"), (10, "expected 1 to 9"), (float("nan"), "expected 1 to 9")],
)
def test_a_value_out_of_bounds_is_refused(value: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        OptionField("n", int, 1, Opt("How many.", min=1, max=9)).check(value)


# --- help ----------------------------------------------------------------------------------------


def test_every_page_of_help_is_one_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    long, wide, count = {}, [], 0
    for command, context in commands():
        lines = command.get_help(context).splitlines()
        count += 1
        if len(lines) > 60:
            long[context.command_path] = len(lines)
        wide += [line for line in lines if len(line) > 100]
    assert long == {}
    assert wide == []
    assert count > 40


def test_the_own_options_of_a_command_stand_before_the_shared(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert main(["eval", "r2r", "--help"]) == 0
    said = capsys.readouterr().out
    assert said.index("--subset FILE") < said.index("--cot") < said.index("--token-limit N")
    assert "--max-steps N                    Steps an episode at most. [15]" in said
    assert "US dollars" not in said
    assert main(["eval", "r2r", "--help-all"]) == 0
    said = capsys.readouterr().out
    assert "US dollars that the whole run may cost" in said
    assert "NAVLOOM_MAX_STEPS, 1 to 1,000" in said


# --- completion ----------------------------------------------------------------------------------


def completed(shell: str, words: str) -> str:
    """What the shell is told when a tab is pressed behind these words."""
    variables = {"_NAVLOOM_COMPLETE": f"complete_{shell}", "COMP_WORDS": words}
    variables |= {"COMP_CWORD": str(words.count(" ")), "_TYPER_COMPLETE_ARGS": words}
    script = "from navloom.cli.main import main; raise SystemExit(main())"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout


@pytest.mark.slow
@pytest.mark.some(1)
@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion(shell: str) -> None:
    assert "eval" in completed(shell, "navloom ev")
    assert "objectnav" in completed(shell, "navloom eval obj")
    flags = completed(shell, "navloom eval r2r --max-")
    assert all(flag in flags for flag in ("--max-steps", "--max-reasks", "--max-connections"))
    assert "assistant" in completed(shell, "navloom eval r2r --oracle ")


@pytest.mark.parametrize(("shell", "said"), [("bash", "complete -o"), ("zsh", "compdef")])
def test_the_script_of_a_shell_is_shown(shell: str, said: str) -> None:
    env = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    command = [sys.executable, "-m", "navloom.cli.main", "--show-completion", shell]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert said in done.stdout
