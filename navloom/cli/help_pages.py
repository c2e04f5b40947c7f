"""Pages of help: what is a command's own first, what most commands share last and in few words.

``--help`` is one screen: the first sentence of each option, with its default. ``--help-all`` has
every word, bounds and variables too.
"""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Callable, Iterator
from typing import Annotated, Any, TypeVar

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup

from navloom.errors import UsageError
from navloom.evals.option import CALLS, FINER, LIMITS, PICKS
from navloom.plugins import plugin, plugins
from navloom.terminal import tell

ANYWHERE = "Anywhere"
COMMANDS = "navloom.commands"
F = TypeVar("F", bound=Callable[..., Any])
_SHARED = (FINER, PICKS, CALLS, LIMITS, ANYWHERE)
_LEAST_WIDTH, _MOST_WIDTH, _LEFT = 60, 100, 31
_NAMES = {int: "N", float: "X"}


class Command(TyperCommand):
    """A command whose help is one screen, with ``--help-all`` for the rest."""

    def get_help_option(self, ctx: Any) -> Any:
        """Beside ``--help-all``."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.rich_help_panel = ANYWHERE
        return option

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """The short page."""
        formatter.write(page(self, ctx))


class Group(TyperGroup):
    """Commands under one word, a line each."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """What its commands are, and its own few options."""
        formatter.write(page(self, ctx))


class Commands(typer.Typer):
    """A `typer.Typer` whose pages of help are these."""

    def __init__(self, help: str | None = None, **more: Any) -> None:  # noqa: A002
        more = {"cls": Group, "no_args_is_help": True, "rich_markup_mode": None, **more}
        super().__init__(help=help, pretty_exceptions_enable=False, **more)

    def command(self, name: str | None = None, **more: Any) -> Callable[[F], F]:
        """As typer's."""
        return super().command(name, cls=Command, **more)


def add_plugged(app: Commands, word: str, *names: str) -> None:
    """Add commands that other packages have, as entry points ``WORD.NAME`` of ``navloom.commands``.

    Args:
        app: what they are added to.
        word: what stands before them.
        names: which. One that is not installed says what to install.
    """
    for name in names:
        if f"{word}.{name}" in plugins(COMMANDS):
            app.command(name)(plugin(COMMANDS, f"{word}.{name}", f"`navloom {word} {name}`"))
            continue

        def lacking(context: typer.Context) -> None:
            """Needs the package navloom-worlds."""
            what = f"`{context.command_path}`"
            plugin(COMMANDS, f"{word}.{context.info_name}", what, UsageError)

        taken = {"allow_extra_args": True, "ignore_unknown_options": True}
        app.command(name, context_settings=taken)(lacking)


def page(command: Any, context: typer.Context, *, whole: bool = False) -> str:
    """The help of a command or of a group.

    Args:
        command: of which.
        context: it is called in.
        whole: say all there is to say.
    """
    width = min(max(shutil.get_terminal_size().columns, _LEAST_WIDTH), _MOST_WIDTH)
    lines = [*_wrapped(f"Usage: {context.command_path} {_usage(command)}", width, 0, 7), ""]
    for paragraph in (command.help or "").split("\n\n"):
        lines += _wrapped(" ".join(paragraph.split()), width, 2, 2)
    groups: dict[str, list[Any]] = {"Arguments": [], "Options": []}
    for each in command.get_params(context):
        if not getattr(each, "hidden", False):
            other = "Arguments" if isinstance(each, TyperArgument) else "Options"
            groups.setdefault(each.rich_help_panel or other, []).append(each)
    shared = {name: groups.pop(name) for name in _SHARED if name in groups}
    if whole or isinstance(command, TyperGroup):
        groups, shared = groups | shared, {}
    rows = {name: [(_left(p), _right(p, whole)) for p in listed] for name, listed in groups.items()}
    left = max((len(first) for some in rows.values() for first, _ in some), default=0)
    for name, some in rows.items():
        lines += _section(name, some, min(left, _LEFT) + 4, width)
    lines += _in_few_words(shared, width)
    if isinstance(command, TyperGroup):
        names = command.list_commands(context)
        named = [(name, command.get_command(context, name)) for name in names]
        said = [(name, _first(each.help or "")) for name, each in named if each is not None]
        lines += _section("Commands", said, max(map(len, names)) + 4, width)
    return "\n".join(lines) + "\n"


def _usage(command: Any) -> str:
    named = [each for each in command.params if isinstance(each, TyperArgument)]
    pieces = [_left(each) if each.required else f"[{_left(each).strip('[]')}]" for each in named]
    return " ".join(["[OPTIONS]", *pieces, *(["COMMAND ..."] * isinstance(command, TyperGroup))])


def _section(name: str, rows: list[tuple[str, str]], left: int, width: int) -> Iterator[str]:
    if not rows:
        return
    yield ""
    yield f"{name}:"
    for first, second in rows:
        begin = f"  {first}".ljust(left)
        if not begin.endswith(" "):
            yield begin
            begin = " " * left
        yield from _wrapped(second, width, 0, left, begin) or [begin.rstrip()]


def _in_few_words(shared: dict[str, list[Any]], width: int) -> Iterator[str]:
    """What most commands share, and what few need: flags alone."""
    if not shared:
        return
    yield ""
    yield "In few words (--help-all has more; NAVLOOM_FLAG is a flag's variable, [...] a default):"
    left = max(map(len, shared)) + 4
    for name, listed in shared.items():
        # A flag and what follows it stay on one line.
        said = [f"{_left(each)}{_default(each)}".replace(" ", "\0") for each in listed]
        text = ", ".join(said)
        for line in _wrapped(text, width, 0, left, f"  {name}".ljust(left)):
            yield line.replace("\0", " ")


def _wrapped(text: str, width: int, first: int, rest: int, begin: str = "") -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=begin or " " * first,
        subsequent_indent=" " * rest,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _left(each: Any) -> str:
    """The flag and what follows it."""
    if isinstance(each, TyperArgument):
        return each.metavar or each.name.upper()
    flag = max(each.opts, key=len)
    if each.is_flag:
        return f"--[no-]{flag[2:]}" if each.secondary_opts else flag
    kind = each.type_descriptor
    if each.metavar:
        return f"{flag} {each.metavar}"
    if kind.is_choice:
        return f"{flag} {'|'.join(map(str, kind.choices))}"
    return f"{flag} {'PATH' if kind.is_path else _NAMES.get(kind.annotation, 'TEXT')}"


def _default(each: Any) -> str:
    if isinstance(each.show_default, str):
        return f" [{each.show_default}]"
    if each.required and not isinstance(each, TyperArgument):
        return " [required]"
    if each.default is None or each.default is False or each.default == "":
        return ""
    return f" [{'yes' if each.default is True else each.default}]"


def _right(each: Any, whole: bool) -> str:
    text = each.help or ""
    if not whole:
        return f"{_first(text).removesuffix('.')}.{_default(each)}"
    more = [each.envvar] if each.envvar else []
    more += [bounds] if (bounds := _bounds(each)) else []
    return f"{text}{_default(each)}" + (f" ({', '.join(more)})" if more else "")


def _bounds(each: Any) -> str:
    if each.max is not None:
        return f"{each.min:,} to {each.max:,}"
    return "" if each.min is None else "above 0" if 0 < each.min < 1 else f"{each.min:,} or more"


def _first(text: str) -> str:
    """The first sentence."""
    return re.split(r"(?<=[a-z)`])\. |\n\n", text, maxsplit=1)[0]


def _show_all(context: typer.Context, asked: bool) -> None:
    if asked and not context.resilient_parsing:
        tell(page(context.command, context, whole=True), end="")
        raise typer.Exit


HelpAll = Annotated[
    bool,
    typer.Option(
        "--help-all",
        help="Show this page with every word.",
        is_eager=True,
        callback=_show_all,
        rich_help_panel=ANYWHERE,
    ),
]
