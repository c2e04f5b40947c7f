"""The page of the command line's help: ``python -m tests.cli.help_page > docs/cli.md``."""

from __future__ import annotations

from navloom.cli.main import app

__all__ = ["page"]

HEAD = """# cli: the door

Made by `python -m tests.cli.help_page > docs/cli.md`; a test compares. Exit codes: 0 done, 1 a
user's mistake, 2 some samples ended in error or a limit was reached, 130 interrupted, 70 a defect
of Navloom.

A flag, its keyword in Python and its environment variable share one name. Progress goes to stderr,
results to stdout.

"""


def page() -> str:
    """The whole page, from typer's own description of the commands."""
    import typer
    from typer.cli import get_docs_for_click
    from typer.main import get_command

    command = get_command(app)
    with typer.Context(command, info_name="navloom") as context:
        text = get_docs_for_click(obj=command, ctx=context, name="navloom")
    return HEAD + text.strip() + "\n"


if __name__ == "__main__":
    print(page(), end="")
