"""Generate the page of the command line's help: ``python -m tests.cli.help_page > docs/cli.md``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any
from unittest import mock

import typer
from typer.main import get_command

from navloom.cli.main import app
from navloom.cli.options import help_page as help_of

__all__ = ["commands", "page"]

HEAD = """# cli: the door

Made by `python -m tests.cli.help_page > docs/cli.md`; a test compares. Exit codes: 0 done, 1 a
user's mistake, 2 some samples ended in error or a limit was reached, 130 interrupted, 70 a defect
of Navloom.

An option is defined once, as a field of the request that it belongs to, of `Session`, or as a
parameter of its command. A flag, its keyword in Python, its key in a file of `--run-config` and its
environment variable share one name: `--max-steps`, `max_steps=`, `max_steps:`,
`NAVLOOM_MAX_STEPS`; `--from` is `source=`, since Python keeps `from` for itself. `--help` is one
screen, `--help-all` is what stands here. Progress goes to stderr, results to stdout.
"""
SHARED = """
## What most commands share

A session's options are no part of what a run is: they may differ between two sessions of one run.
"""
_FIRST_SHARED = ("\nWhich samples:\n", "\nCalling models:\n", "\nAnywhere:\n")


def commands() -> Iterator[tuple[Any, typer.Context]]:
    """Return an iterator over all commands and groups, with their contexts."""

    def below(command: Any, context: typer.Context) -> Iterator[tuple[Any, typer.Context]]:
        yield command, context
        for name in command.list_commands(context) if hasattr(command, "list_commands") else ():
            each = command.get_command(context, name)
            yield from below(each, typer.Context(each, info_name=name, parent=context))

    root = get_command(app)
    return below(root, typer.Context(root, info_name="navloom"))


def page() -> str:
    """Return the whole page: each command's own options, and once those that most share."""
    parts, shared = [HEAD], ""
    with mock.patch.dict(os.environ, {"COLUMNS": "100"}):
        for command, context in commands():
            text = help_of(command, context, whole=True)
            cuts = [at for words in _FIRST_SHARED if (at := text.find(words)) >= 0]
            if cuts:
                text, rest = text[: min(cuts)], text[min(cuts) :]
                shared = max(shared, rest, key=len)
            parts.append(f"\n## {context.command_path}\n\n```text\n{text.strip()}\n```\n")
    return "".join([*parts, SHARED, f"\n```text\n{shared.strip()}\n```\n"])


if __name__ == "__main__":
    print(page(), end="")
