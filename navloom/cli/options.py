"""Options of commands, made from their parameters and the fields of requests, and help pages.

    @app.command()
    @takes(kind="single")
    def single(request: SynthRequest, out: Out, session: Session) -> None: ...

The fields of ``request`` and ``session`` are options (`navloom.evals.option.Opt`). The command is
called with both, filled from typed options, ``NAVLOOM_`` variables and the file of
``--run-config``. Typer reads a signature that is generated here; no heavy module is imported.

A help page lists a command's own options first. ``--help`` is one screen: the first sentence of
each option, with its default. ``--help-all`` has the full texts, bounds and variables.
"""

from __future__ import annotations

import inspect
import re
import shutil
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup

from navloom.errors import UsageError, did_you_mean
from navloom.evals.option import (
    CALLS,
    FINER,
    LIMITS,
    PICKS,
    Opt,
    OptionField,
    options_of,
    read_annotation,
)
from navloom.evals.progress import make_display
from navloom.evals.session import Session
from navloom.models.redaction import print_out
from navloom.plugins import find_plugins, load_plugin

ANYWHERE = "Anywhere"
COMMANDS = "navloom.commands"
F = TypeVar("F", bound=Callable[..., Any])
_SHARED = (FINER, PICKS, CALLS, LIMITS, ANYWHERE)
_LEAST_WIDTH, _MOST_WIDTH, _LEFT = 60, 100, 31
_NAMES = {int: "N", float: "X"}


class Command(TyperCommand):
    """A command whose help is one screen, with ``--help-all`` for the rest."""

    def get_help_option(self, ctx: Any) -> Any:
        """Return ``--help``, listed beside ``--help-all``."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.rich_help_panel = ANYWHERE
        return option

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the short help page."""
        formatter.write(help_page(self, ctx))


class Group(TyperGroup):
    """A command group; its help has one line for each command."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the group's help page with its commands and options."""
        formatter.write(help_page(self, ctx))


class CommandApp(typer.Typer):
    """A `typer.Typer` app whose help pages are those of `Command` and `Group`."""

    def __init__(self, help: str | None = None, **more: Any) -> None:  # noqa: A002
        more = {"cls": Group, "no_args_is_help": True, "rich_markup_mode": None, **more}
        super().__init__(help=help, pretty_exceptions_enable=False, **more)

    def command(self, name: str | None = None, **more: Any) -> Callable[[F], F]:
        """Return a decorator that registers a command, as typer does, with our command class."""
        return super().command(name, cls=Command, **more)


def add_plugins(app: CommandApp, word: str, *names: str) -> None:
    """Add commands that other packages have, as entry points ``WORD.NAME`` of ``navloom.commands``.

    Args:
        app: the app to add them to.
        word: the command group before them.
        names: their names. A command that is not installed says what to install.
    """
    for name in names:
        if f"{word}.{name}" in find_plugins(COMMANDS):
            app.command(name)(load_plugin(COMMANDS, f"{word}.{name}", f"`navloom {word} {name}`"))
            continue

        def lacking(context: typer.Context) -> None:
            """Needs the package navloom-worlds."""
            what = f"`{context.command_path}`"
            load_plugin(COMMANDS, f"{word}.{context.info_name}", what, UsageError)

        taken = {"allow_extra_args": True, "ignore_unknown_options": True}
        app.command(name, context_settings=taken)(lacking)


def help_page(command: Any, context: typer.Context, *, whole: bool = False) -> str:
    """Return the help page of a command or a group.

    Args:
        command: the command or group.
        context: its context.
        whole: show the full page of ``--help-all``.
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
    """Yield the section of shared and rarely used options: flags alone."""
    if not shared:
        return
    yield ""
    yield "In few words (--help-all has more; NAVLOOM_FLAG is a flag's variable, [...] a default):"
    left = max(map(len, shared)) + 4
    for name, listed in shared.items():
        # Keep a flag and its value on one line.
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
    """Return the flag and its value's placeholder."""
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
    """Return the first sentence."""
    return re.split(r"(?<=[a-z)`])\. |\n\n", text, maxsplit=1)[0]


def _show_all(context: typer.Context, asked: bool) -> None:
    if asked and not context.resilient_parsing:
        print_out(help_page(context.command, context, whole=True), end="")
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


_MOST_CONFIG = 64 * 1024
_NO_KEYS = (
    *("help", "help-all", "run-config", "show-completion", "install-completion"),
    # A file may name an address, but only the user may allow it.
    "allow-address",
    *("cluster", "open-cluster"),
)


def make_session(typed: Mapping[str, Any], *, calls: bool = True) -> Session:
    """Make the session from typed options; by default it shows progress and caches replies.

    Args:
        typed: its fields; the display by name.
        calls: whether models will be called; else no cache is used.

    Raises:
        ModelError: the named folder cannot be used as a cache.
    """
    display = make_display(typed.get("display"))
    fields = {**typed, "display": display, "no_cache": bool(typed.get("no_cache")) or not calls}
    if not fields["no_cache"] and "cache" not in typed:
        fields["cache"] = _users_cache(display.note)
    return Session(**fields)


def _users_cache(note: Callable[[str], None]) -> Path | None:
    from navloom.disk_cache import cache_folder
    from navloom.errors import ModelError
    from navloom.models.response_cache import ResponseCache

    try:
        return ResponseCache(cache_folder()).folder
    except ModelError as error:
        # The default cache folder is optional: a read-only home must not stop a run.
        note(f"no replies are kept: {error}")
        return None


def _read_config(context: typer.Context, path: Path | None) -> Path | None:
    """Use a file's values as this command's defaults, and return its path; typed options win."""
    if path is not None:
        context.default_map = {**(context.default_map or {}), **_config_values(context, path)}
    return path


def _config_values(context: typer.Context, path: Path) -> dict[str, Any]:
    from pydantic import TypeAdapter

    from navloom.models.model_spec import distrust_address
    from navloom.scenes.safe_files import read_yaml

    kind = dict[str, bool | int | float | str | list[int | float | str]]
    given = read_yaml(path, TypeAdapter(kind), most=_MOST_CONFIG)
    known: dict[str, Any] = {}
    for each in context.command.params:
        flags = [flag.lstrip("-") for flag in each.opts]
        known[max(flags, key=len, default=each.name or "")] = each
    for name in _NO_KEYS:
        known.pop(name, None)
    taken: dict[str, Any] = {}
    for key, value in given.items():
        for text in value if isinstance(value, list) else [value]:
            distrust_address(text, f"{path}: '{key}'")
        name = key.replace("_", "-")
        parameter = known.get(name)
        if parameter is None:
            hint = did_you_mean(name, known)
            raise UsageError(
                f"{path}: '{key}' is no flag of `{context.command_path}`.{hint}"
                f" There are: {', '.join(sorted(known))}."
            )
        several = getattr(parameter, "multiple", False)
        if isinstance(value, list) and not several:
            raise UsageError(f"{path}: '{key}' takes one value, got a list of {len(value)}")
        taken[str(parameter.name)] = [value] if several and not isinstance(value, list) else value
    return taken


RunConfig = Annotated[
    Path | None,
    typer.Option(
        "--run-config",
        help="Take flags from this YAML file (`n: 200`, `model: openai/gpt-4o-mini`); what is typed"
        " goes before it, and so do NAVLOOM_ variables.",
        envvar="NAVLOOM_RUN_CONFIG",
        metavar="FILE",
        is_eager=True,
        callback=_read_config,
        rich_help_panel=ANYWHERE,
    ),
]


RunFolder = Annotated[
    Path, Opt("The folder of a run, as --out made it.", metavar="RUN", argument=True)
]
_OUT = "The run's folder. The same command on the same folder goes on where it stopped."
Out = Annotated[Path, Opt(_OUT, metavar="DIR")]
OutOrMade = Annotated[
    Path | None, Opt(_OUT, metavar="DIR", shown="runs/NAME-HASH of what is asked")
]
Study = Annotated[
    Path,
    Opt("The study's folder, which holds its runs. The same command on it goes on.", metavar="DIR"),
]
SceneUri = Annotated[
    str,
    Opt("One home: home:7, demo:flat, hm3d:DIR/ID, a scene.json.", metavar="URI", argument=True),
]
Port = Annotated[
    int, Opt("Where to listen; the next free one where it is taken.", min=0, max=65535)
]
Host = Annotated[
    str, Opt("On which address; any but this machine's own needs --token and --allow-host.")
]
NoOpen = Annotated[bool, Opt("Do not open a browser.")]
Token = Annotated[
    str | None,
    Opt(
        "What the page must know to be answered, at least 16 letters, digits, - and _.",
        shown="one of this user's, kept",
        env="NAVLOOM_VIEW_TOKEN",
    ),
]
AllowHost = Annotated[
    tuple[str, ...], Opt("A name by which the server may be asked; several times.")
]
WithLicensed = Annotated[
    bool,
    Opt("Keep plans, captions, prompts and pictures of HM3D, MP3D and CapNav homes in the pages."),
]
Json = Annotated[bool, Opt("Print the result as JSON on stdout, for programs.", flag="--json")]
Handler = Callable[..., None]
_CONTEXT = "typer_context"


@dataclass(frozen=True, kw_only=True)
class RunMode:
    """Options of every command that makes a run: dry run and output format."""

    dry_run: Annotated[
        bool,
        Opt("Show prompts, count the calls and bound the cost. Nobody is called, no file written."),
    ] = False
    as_json: Json = False


def with_options(
    *without: str, usual: Mapping[str, Any] | None = None, **settled: Any
) -> Callable[[Handler], Handler]:
    """Return a decorator that shows typer a command's options, in the order of its parameters.

    Args:
        without: fields of its dataclasses that are not options here.
        usual: defaults that differ from the fields' own.
        settled: fields that this command sets itself, and their values.
    """

    def give(command: Handler) -> Handler:
        own = inspect.signature(command, eval_str=True).parameters.values()
        parts = [_part(each, {*without, *settled}, usual or {}) for each in own]
        known = {name for part in parts for name in part.fields} | {"run_config"}
        if strange := {*without, *settled, *(usual or {})} - known:
            raise TypeError(f"{command.__name__} has no {', '.join(sorted(strange))}")
        signature = [each for part in parts for each in part.signature()]
        if any(part.kind is Session for part in parts) and "run_config" not in without:
            signature.append(_parameter("run_config", RunConfig, None))
        signature.append(_parameter("help_all", HelpAll, False))
        # Typer allows one context parameter; a command may have its own.
        context = next((part.name for part in parts if part.kind is typer.Context), _CONTEXT)
        if context is _CONTEXT:
            signature.append(_parameter(_CONTEXT, typer.Context, MISSING))

        @wraps(command)
        def made(**given: Any) -> None:
            _trust(given[context], [each for part in parts for each in part.options], given)
            values = {part.name: part.value(given, settled) for part in parts}
            made.__wrapped__(**values)

        # Typer reads a command's options from its signature.
        made.__signature__ = inspect.Signature(signature)  # type: ignore[attr-defined]
        made.__annotations__ = {}
        return made

    return give


def _trust(context: typer.Context, options: list[OptionField], given: Mapping[str, Any]) -> None:
    """Trust addresses in models' names that the user typed, but not those of a file."""
    from navloom.models.model_spec import trust_address

    for name in [*(each.name for each in options if each.is_model), "model_role"]:
        source, value = context.get_parameter_source(name), given.get(name)
        if source is not None and source.name in ("COMMANDLINE", "ENVIRONMENT"):
            for each in value if isinstance(value, list) else [value]:
                trust_address(each)


@dataclass(frozen=True)
class _CommandParam:
    """One parameter of a command.

    Attributes:
        name: its name.
        kind: its type; a dataclass if its fields are options.
        options: those fields, or the parameter itself if it is one option.
    """

    name: str
    kind: Any
    options: tuple[OptionField, ...]

    @property
    def fields(self) -> set[str]:
        """All fields of its dataclass, whether they are options or not."""
        return {each.name for each in fields(self.kind)} if is_dataclass(self.kind) else set()

    @property
    def roles(self) -> dict[str, str]:
        """The model field of each role."""
        return {each.opt.role: each.name for each in self.options if each.opt.role}

    def signature(self) -> Iterator[inspect.Parameter]:
        """Yield the parameters that typer reads."""
        if self.kind is typer.Context:
            yield _parameter(self.name, typer.Context, MISSING)
        for option in self.options:
            if option.opt.help:
                yield _asked(option)
            if option.name == "model" and self.roles:
                yield _asked(_model_role(list(self.roles)))

    def value(self, given: Mapping[str, Any], settled: Mapping[str, Any]) -> Any:
        """Return the argument to call the command with."""
        if not is_dataclass(self.kind):
            value = given.get(self.name)
            if not self.options:
                return value
            (option,) = self.options
            unsaid = value in (None, []) and option.default is not MISSING
            return option.default if unsaid else _as_field(option, value)
        typed = {
            option.name: _as_field(option, value)
            for option in self.options
            if (value := given.get(option.name)) not in (None, [])
        }
        if self.roles:
            typed |= _models(given.get("model_role") or (), self.roles)
        typed |= {name: value for name, value in settled.items() if name in self.fields}
        if self.kind is Session:
            return make_session(typed, calls=not given.get("dry_run"))
        kind: Any = self.kind
        return kind(**typed)


def _part(given: inspect.Parameter, left_out: set[str], usual: Mapping[str, Any]) -> _CommandParam:
    opt, kind = read_annotation(given.annotation, {})
    if opt is not None:
        default = MISSING if given.default is inspect.Parameter.empty else given.default
        return _CommandParam(given.name, kind, (OptionField(given.name, kind, default, opt),))
    if not is_dataclass(kind):
        return _CommandParam(given.name, kind, ())
    options = [each for each in options_of(kind) if each.name not in left_out]  # type: ignore[arg-type]
    options = [
        replace(each, default=usual[each.name], opt=replace(each.opt, shown=None))
        if each.name in usual
        else each
        for each in options
    ]
    return _CommandParam(given.name, kind, tuple(options))


def _parameter(name: str, kind: Any, default: Any) -> inspect.Parameter:
    default = inspect.Parameter.empty if default is MISSING else default
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, keyword, default=default, annotation=kind)


def _asked(option: OptionField) -> inspect.Parameter:
    """Return an option as a typer parameter; a default shown in words is not passed on."""
    opt, default = option.opt, option.default
    if option.many or opt.shown is not None or default is None:
        default = MISSING if default is MISSING else None
    kind = opt.kind or option.bare
    if option.many:
        # Typer has no lists of choices; the request validates them.
        kind = list[str] if option.choices else list[get_args(kind)[0]]  # type: ignore[misc]
    metavar = opt.metavar or ("|".join(option.choices) if option.many else None)
    more: dict[str, Any] = {"help": opt.help, "metavar": metavar, "rich_help_panel": opt.panel}
    more |= {"min": opt.min, "max": opt.max, "show_default": opt.shown or True}
    if opt.argument:
        info: Any = typer.Argument(**more)
    else:
        either = default is True or (option.bare is bool and default is None)
        flag = f"--{option.key}/--no-{option.key}" if either else f"--{option.key}"
        info = typer.Option(flag, envvar=option.variable or None, **more)
    kind = kind if default is not None else kind | None
    return _parameter(option.name, Annotated[kind, info], default)


def _as_field(option: OptionField, value: Any) -> Any:
    """Convert typer's value to the field's type: paths to text, lists to tuples."""
    if isinstance(value, list):
        return tuple(value)
    return str(value) if isinstance(value, Path) and option.bare is str else value


def _model_role(roles: list[str]) -> OptionField:
    words = f"The model of one role ({', '.join(roles)}). May be given several times."
    opt = Opt(words, metavar="ROLE=PROVIDER/NAME")
    return OptionField("model_role", tuple[str, ...], None, opt)


def _models(said: list[str] | tuple[()], roles: Mapping[str, str]) -> dict[str, str]:
    """Return the model fields that ``ROLE=PROVIDER/NAME`` values set.

    Raises:
        UsageError: unknown role, or no model given.
    """
    found = {}
    for text in said:
        role, equals, name = (part.strip() for part in text.partition("="))
        if not equals or not name:
            first = next(iter(roles))
            raise UsageError(f"--model-role {text}: write ROLE=PROVIDER/NAME, such as {first}=…")
        if role not in roles:
            hint = did_you_mean(role, roles)
            raise UsageError(f"no role '{role}' here.{hint} Roles: {', '.join(roles)}.")
        found[roles[role]] = name
    return found
