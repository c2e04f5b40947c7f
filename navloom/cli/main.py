"""Entry point of the command line: load the command asked for, and report errors.

Exit codes: 0 done, 1 a user's mistake (one line on stderr), 2 some samples ended in error or a
limit was reached, 130 interrupted, 70 a defect of Navloom (one line, and a file with the
traceback). All these lines are redacted.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import signal
import sys
import tempfile
import threading
import traceback
from collections import UserDict
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.exceptions import TyperException

from navloom.cli.options import CommandApp, Group
from navloom.errors import NavloomError
from navloom.models import redaction
from navloom.models.model_spec import AddressError, allow_origins
from navloom.plugins import find_plugins

MISTAKE, INTERRUPTED, DEFECT = 1, 130, 70
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG}
_NO_FILE = {errno.ENAMETOOLONG, errno.ELOOP}
"""Errors of an invalid file name, which only a user can have typed."""


_COMMANDS = {
    "scenes": "scenes",
    "demo": "demo",
    "synth": "navcraft.synth",
    "eval": "navigation.eval",
    "subset": "navigation.subset",
    "score": "navigation.score",
    "compare": "navigation.score",
    "caption": "captions.caption",
    "chat": "chat.chat",
    "judge": "judging.judge",
    "retry": "retry",
    "study": "study",
    "export": "report",
    "validate": "report",
    "report": "report",
    "view": "view",
    "calls": "calls",
    "models": "models",
    "serve": "serve",
    "cache": "cache",
    "doctor": "doctor",
}
"""Each command or command group, and its module."""


class _Late(UserDict[str, Any]):
    """Commands by name, each imported on first use."""

    def __getitem__(self, name: str) -> Any:
        if isinstance(self.data[name], str):
            file = self.data[name]
            app = import_module(f"navloom.cli.{file}").app
            made = typer.main.get_group(app)
            if name in made.commands:
                self.data[name] = made.commands[name]
            else:
                made.name = name
                self.data[name] = made
        return self.data[name]


class _Door(Group):
    """The commands of Navloom, and one for each kind of run of other packages."""

    def __init__(self, **more: Any) -> None:
        super().__init__(**more)
        self.commands = _Late(_COMMANDS)

    def list_commands(self, ctx: Any) -> list[str]:
        """List all command names for the help; skip kinds that cannot be imported."""
        others = []
        for name in find_plugins("navloom.kinds"):
            with contextlib.suppress(NavloomError):
                others += [name] if self.get_command(ctx, name) else []
        return [*self.commands, *others]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command; build that of another package's kind of run."""
        return super().get_command(ctx, cmd_name) or _made(cmd_name)


def _made(name: str) -> Any:
    """Build the command of another package's kind of run from its request's fields."""
    from navloom.cli.plugin_command import make_command
    from navloom.evals.run_kinds import OURS, get_kind, known_kinds

    if name in OURS or name not in known_kinds():
        return None
    single = CommandApp()
    single.command(name)(make_command(get_kind(name)))
    return typer.main.get_group(single).commands[name]


app = CommandApp(
    "Language-model agents woven with indoor scenes: generate, drive and grade navigation.",
    name="navloom",
    cls=_Door,
    add_completion=True,
)


def _show_version(asked: bool) -> None:
    if asked:
        redaction.print_out(f"navloom {version('navloom')}")
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    pass


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code.

    Args:
        arguments: the words after ``navloom``; those of this process unless given.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # An encoding without "·" gets an escape, not a traceback.
            stream.reconfigure(errors="backslashreplace")
    redaction.redact_logs()
    redaction.redact_warnings()
    try:
        with _stoppable() as told:
            redaction.load_keys(Path(".env"))
            redaction.redact_traces()
            words = list(sys.argv[1:] if arguments is None else arguments)
            typed = redaction.COMMAND.set(tuple(words))
            try:
                code = _carried_out(words)
            finally:
                redaction.COMMAND.reset(typed)
            sys.stdout.flush()
    except NavloomError as error:
        return _fail(str(error), error.exit_code)
    except TyperException as error:
        return _usage(error)
    except KeyboardInterrupt:
        return _stopped()
    except typer.Abort:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has closed the pipe.
        return _hang_up()
    except OSError as error:
        if error.errno in _NO_FILE:
            return _fail(f"'{str(error.filename)[:80]}' can be no file: {error.strerror}.")
        if error.errno not in _NO_ROOM:
            return _defect(error)
        where = error.filename or "what is to be written"
        _fail(f"{where}: {error.strerror}. Free space, or write to another place.")
        return _hang_up()
    except Exception as error:
        if str(error) == "Could not determine home directory.":
            # Only Path.expanduser raises this: `~nobody/runs`.
            return _fail("there is no user of the name after '~': write the whole path.")
        # An interrupted import may raise an error of its own.
        return _stopped() if isinstance(error.__context__, KeyboardInterrupt) else _defect(error)
    if told and code == INTERRUPTED:
        return _stopped()
    return code if isinstance(code, int) else 0


@contextlib.contextmanager
def _stoppable() -> Iterator[list[int]]:
    """Let SIGTERM interrupt like Ctrl-C; a run installs its own handler once it starts.

    Yields a list that collects the signals received meanwhile.
    """
    before: dict[int, Any] = {}
    told: list[int] = []

    def stop(number: int, frame: Any) -> None:
        del frame
        told.append(number)
        raise KeyboardInterrupt

    if threading.current_thread() is threading.main_thread():
        for each in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(each) not in (signal.SIG_IGN, None):
                before[each] = signal.signal(each, stop)
    try:
        yield told
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _stopped() -> int:
    return _fail("stopped: the same command goes on from what is finished.", INTERRUPTED)


def _carried_out(words: list[str]) -> Any:
    """Run a command and return its result; at a terminal, ask to allow addresses in files."""
    while True:
        try:
            return app(words, prog_name="navloom", standalone_mode=False)
        except AddressError as error:
            if not (sys.stdin.isatty() and sys.stderr.isatty()):
                raise
            redaction.print_err(f"navloom: {redaction.redact(str(error))}")
            redaction.print_err(f"Send to {error.origin}, now and later? [y/N]", end=" ")
            if sys.stdin.readline().strip().casefold() not in ("y", "yes"):
                raise
            # Run it again: addresses are refused before anything is written.
            allow_origins([error.origin])


def _hang_up() -> int:
    """Redirect stdout to nowhere, so that Python does not complain; return the exit code."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return MISTAKE


def _fail(message: str, code: int = MISTAKE) -> int:
    redaction.print_err(f"navloom: {' '.join(redaction.redact(message).split())}")
    return code


def _usage(error: TyperException) -> int:
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        redaction.print_out(error.format_message())
        return MISTAKE
    where = context.command_path if context is not None else "navloom"
    said = _named_by_its_source(error, context).replace("Value error, ", "").removesuffix(".")
    return _fail(f"{said}{'' if said.endswith('?') else '.'} See `{where} --help`.")


def _named_by_its_source(error: TyperException, context: Any) -> str:
    """Return an invalid value's error with its source: flag, variable or file."""
    parameter = getattr(error, "param", None)
    if type(error).__name__ != "BadParameter" or parameter is None or context is None:
        return error.format_message()
    source = getattr(context.get_parameter_source(parameter.name), "name", "")
    flag = max(parameter.opts, key=len)
    if source == "DEFAULT_MAP":
        where = f"'{flag.lstrip('-')}' in {context.params.get('run_config')}"
    elif source == "ENVIRONMENT":
        where = str(parameter.envvar)
    elif parameter.param_type_name == "argument":
        where = parameter.get_error_hint()
    else:
        where = f"'{flag}'"
    return f"Invalid value for {where}: {error.message}"


def _defect(error: Exception) -> int:
    said = redaction.redact("".join(traceback.format_exception(error)))
    if os.environ.get("NAVLOOM_DEBUG"):
        redaction.print_err(said)
        where = "above"
    else:
        with tempfile.NamedTemporaryFile(
            "w", prefix="navloom-", suffix=".txt", delete=False, encoding="utf-8"
        ) as file:
            file.write(said)
        where = f"in {file.name} (NAVLOOM_DEBUG=1 prints it)"
    what = " ".join(redaction.redact(f"{type(error).__name__}: {error}").split())[:300]
    redaction.print_err(
        f"navloom: a defect in Navloom, not in what you typed: {what}. The traceback is {where};"
        " please report it."
    )
    return DEFECT


if __name__ == "__main__":
    sys.exit(main())
